/* A graph in which only the number of entities matters: n of them,
 * each with an edge to the first. */
#ifndef WFRE_TESTS_STAR_H
#define WFRE_TESTS_STAR_H

#include "check.h"
#include "graph/graph.h"

static inline wfre_graph *star_graph(int entities)
{
    wfre_graph_builder *builder;
    wfre_graph *graph;
    wfre_relation relation;
    assert_ok(wfre_graph_builder_create(&builder, error));
    assert_ok(wfre_graph_builder_relation(builder, "r", 1, &relation, error));
    for (int i = 0; i < entities; i++) {
        char name[16];
        int length = snprintf(name, sizeof name, "e%d", i);
        wfre_entity entity;
        assert_ok(wfre_graph_builder_entity(builder, name, (size_t)length, &entity, error));
        assert_ok(wfre_graph_builder_triple(builder, WFRE_TRAIN, entity, relation, 0, error));
    }
    assert_ok(wfre_graph_builder_finish(builder, &graph, error));
    wfre_graph_builder_free(builder);
    return graph;
}

#endif
