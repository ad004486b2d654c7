/* Small graphs for tests, through the real builder. A test that cannot build one stops. */
#ifndef WFRE_TESTS_TOY_H
#define WFRE_TESTS_TOY_H

#include "brute.h"
#include "graph/graph.h"
#include "model/model.h"

/* Entities e0, e1, ..., relations r0, r1, ...; every tenth triple is valid's, every tenth test's.
 * Later relations have fewer triples. */
wfre_graph *toy_random_graph(uint64_t seed, uint32_t entities, uint32_t relations,
                             uint32_t triples);
/* e0 -> e1, e2 -> e3, ..., `pairs` of them, and one edge more that ends at e1, all in train. */
wfre_graph *toy_pairs_graph(uint32_t pairs);
/* The same edges as the matrices, all in train. */
wfre_graph *toy_graph_of(const brute_graph *brute);

/* One triple of names more, in train. */
void toy_add(wfre_graph_builder *builder, const char *head, const char *relation, const char *tail);

/* A random model of the default kind in this size. */
wfre_model *toy_model(const wfre_graph *graph, uint32_t dim, uint32_t bases, uint64_t seed);

#endif
