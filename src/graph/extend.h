/* A graph with more triples, which keeps the ids of the old one. */
#ifndef WFRE_SRC_GRAPH_EXTEND_H
#define WFRE_SRC_GRAPH_EXTEND_H

#include "graph/graph.h"

/* `graph` with the triples of `extra`, all of them known from now on, in memory. Entities of
 * `extra` that the graph has go by their names or, as in questions, by labels. Fails with
 * WFRE_ERR_NOT_FOUND for a relation that the graph does not have. */
WFRE_NODISCARD wfre_status wfre_graph_extend(const wfre_graph *graph, const wfre_graph *extra,
                                             wfre_graph **larger, wfre_error *error);

#endif
