/* What an endpoint says of itself: the SPARQL 1.1 service description. */
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "sparql/plan.h"

#define SD "http://www.w3.org/ns/sparql-service-description#"
#define FORMATS "http://www.w3.org/ns/formats/"
#define VOID "http://rdfs.org/ns/void#"
#define RDF_TYPE "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
#define INTEGER "http://www.w3.org/2001/XMLSchema#integer"

/* Every triple has its subject written out: N-Triples, which is Turtle, too. */
static void say(wfre_text *text, const char *subject, const char *predicate, const char *object)
{
    wfre_text_format(text, "%s <%s> <%s> .\n", subject, predicate, object);
}

static void say_link(wfre_text *text, const char *subject, const char *predicate,
                     const char *object)
{
    wfre_text_format(text, "%s <%s> %s .\n", subject, predicate, object);
}

static void say_count(wfre_text *text, const char *subject, uint64_t triples)
{
    wfre_text_format(text, "%s <" VOID "triples> \"%llu\"^^<" INTEGER "> .\n", subject,
                     (unsigned long long)triples);
}

static void say_dataset(wfre_text *text, const wfre_rdf_view *view)
{
    wfre_name iri;
    uint64_t triples;
    say_link(text, "_:service", SD "defaultDataset", "_:dataset");
    say(text, "_:dataset", RDF_TYPE, SD "Dataset");
    say_link(text, "_:dataset", SD "defaultGraph", "_:default");
    say(text, "_:default", RDF_TYPE, SD "Graph");
    say_count(text, "_:default", wfre_rdf_view_triples(view));
    for (size_t i = 0; wfre_rdf_view_named_graph(view, i, &iri, &triples); i++) {
        char named[32], graph[32];
        (void)snprintf(named, sizeof named, "_:named%zu", i);
        (void)snprintf(graph, sizeof graph, "_:graph%zu", i);
        say_link(text, "_:dataset", SD "namedGraph", named);
        say(text, named, RDF_TYPE, SD "NamedGraph");
        wfre_text_format(text, "%s <" SD "name> ", named);
        wfre_sq_put_iri(text, iri);
        wfre_text_add(text, " .\n");
        say_link(text, named, SD "graph", graph);
        say(text, graph, RDF_TYPE, SD "Graph");
        say_count(text, graph, triples);
    }
}

wfre_status wfre_sparql_service(const wfre_rdf_view *view, const char *endpoint, bool predicts,
                                wfre_sparql_format format, char **text, wfre_error *error)
{
    static const char *const RESULTS[] = {"SPARQL_Results_JSON", "SPARQL_Results_XML",
                                          "SPARQL_Results_CSV",  "SPARQL_Results_TSV",
                                          "N-Triples",           "Turtle"};
    wfre_text made = {0};
    if (format != WFRE_SPARQL_NT && format != WFRE_SPARQL_TTL)
        return wfre_fail(error, WFRE_ERR_ARGUMENT, WFRE_NO_OFFSET,
                         "a service description is a graph: nt or ttl");
    say(&made, "_:service", RDF_TYPE, SD "Service");
    wfre_text_add(&made, "_:service <" SD "endpoint> ");
    wfre_sq_put_iri(&made, (wfre_name){endpoint, strlen(endpoint)});
    wfre_text_add(&made, " .\n");
    say(&made, "_:service", SD "supportedLanguage", SD "SPARQL11Query");
    for (size_t i = 0; i < sizeof RESULTS / sizeof *RESULTS; i++)
        wfre_text_format(&made, "_:service <" SD "resultFormat> <" FORMATS "%s> .\n", RESULTS[i]);
    if (predicts)
        say(&made, "_:service", SD "feature", WFRE_SQ_PREDICT);
    say_dataset(&made, view);
    return wfre_sq_take_text(&made, text, error);
}
