/* A small graph with edges, literals, blank nodes and named graphs, for tests of SPARQL. */
#ifndef WFRE_TESTS_SPARQL_GRAPH_H
#define WFRE_TESTS_SPARQL_GRAPH_H

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "wfre/graph.h"

static const char SPARQL_DATA[] =
    "@prefix : <http://x/> . @prefix xsd: <http://www.w3.org/2001/XMLSchema#> .\n"
    ":a :p :b, :c ; :q :b ; :name \"Alice\", \"Alicia\"@es ; :age 30 .\n"
    ":b :p :c ; :q :a ; :name \"Bob\"@en ; :age 25 ; :born \"1999-12-31\"^^xsd:date .\n"
    ":c :p :a ; :r :c ; :age 2.5 ; :size 1e2 ; :knows [ :name \"Z\\u00FCrich\" ] .\n"
    ":d :r :a ; :age \"old\" ; :flag true ; :at \"2020-02-29T12:00:00+01:00\"^^xsd:dateTime .\n"
    "_:x :p _:y . _:y :q \"x\"^^:t ; :p 7 .\n"
    ":g { :a :p :b, :c . :b :age 25 . _:y :p 7 }\n:h { :b :p :c }\n";

/* NULL if it cannot be made. */
static inline wfre_graph *sparql_graph(void)
{
    char path[] = "/tmp/wfre-sparql-XXXXXX.trig";
    int file = mkstemps(path, 5);
    wfre_graph *graph = NULL;
    if (file < 0)
        return NULL;
    const char *sources[] = {path};
    const wfre_import_options options = {.format = "trig"};
    bool wrote = write(file, SPARQL_DATA, sizeof SPARQL_DATA - 1) == sizeof SPARQL_DATA - 1;
    (void)close(file);
    if (wrote && wfre_import_graph(sources, 1, &options, NULL, &graph, NULL, NULL) != WFRE_OK)
        graph = NULL;
    (void)unlink(path);
    return graph;
}

#endif
