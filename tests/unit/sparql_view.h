/* The graph that a test of SPARQL asks, and the view that queries see it by. */
#ifndef WFRE_TESTS_UNIT_SPARQL_VIEW_H
#define WFRE_TESTS_UNIT_SPARQL_VIEW_H

#include "check.h"
#include "sparql_graph.h"
#include "wfre/sparql.h"

static wfre_graph *graph;
static wfre_rdf_view *view;

/* Of a graph that was made already, or else of the small one. */
static inline int set_up_view(void **state)
{
    (void)state;
    graph = graph ? graph : sparql_graph();
    assert_non_null(graph);
    assert_ok(wfre_rdf_view_open(graph, WFRE_TEST, &view, error));
    return 0;
}

static inline int tear_down_view(void **state)
{
    (void)state;
    wfre_rdf_view_close(view);
    wfre_graph_close(graph);
    return 0;
}

#endif
