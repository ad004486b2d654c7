/* A graph with a few awkward names, made once, for fuzz targets that look names up. */
#ifndef WFRE_TESTS_FUZZ_SMALL_GRAPH_H
#define WFRE_TESTS_FUZZ_SMALL_GRAPH_H

#include <stdlib.h>
#include <string.h>

#include "graph/graph.h"

/* What must hold whatever the input is. */
static inline void must(bool holds)
{
    if (!holds)
        abort();
}

static inline const wfre_graph *small_graph(void)
{
    static const char *const NAMES[] = {"a", "New York", "Z\xC3\xBCrich", "q\"uote", "and", "#1"};
    static wfre_graph *graph;
    wfre_graph_builder *builder;
    if (graph)
        return graph;
    must(wfre_graph_builder_create(&builder, NULL) == WFRE_OK);
    for (size_t i = 0; i < sizeof NAMES / sizeof NAMES[0]; i++) {
        wfre_entity entity;
        wfre_relation relation;
        size_t length = strlen(NAMES[i]);
        must(wfre_graph_builder_entity(builder, NAMES[i], length, &entity, NULL) == WFRE_OK);
        must(wfre_graph_builder_relation(builder, NAMES[i], length, &relation, NULL) == WFRE_OK);
        must(wfre_graph_builder_triple(builder, WFRE_TRAIN, entity, relation, 0, NULL) == WFRE_OK);
    }
    must(wfre_graph_builder_finish(builder, &graph, NULL) == WFRE_OK);
    wfre_graph_builder_free(builder);
    return graph;
}

#endif
