/* Grounding a query type: entities and relations for it, found by walking backwards from an answer.
 *
 * The walk is that of the BetaE benchmark. A projection takes a relation that leads to the answer,
 * all equally likely, and then one of its heads; it does not turn back along the relation just
 * taken. All branches of an intersection or union, negated ones too, start from the same entity, so
 * that a negation always touches the answers of its neighbours. */
#ifndef WFRE_SRC_QUERY_GROUND_H
#define WFRE_SRC_QUERY_GROUND_H

#include "base/rng.h"
#include "query/exact.h"

/* One attempt from a random entity. *tree is NULL if it came to a dead end, or if two branches of
 * one node are the same. The nodes lie in the arena either way. */
WFRE_NODISCARD wfre_status wfre_ground(const wfre_graph *graph, wfre_split split,
                                       const wfre_node *type, wfre_rng *rng, wfre_arena *arena,
                                       const wfre_node **tree, wfre_error *error);

/* Whether every branch of every intersection and union matters: without it there would be more or
 * fewer than the `count` answers there are. */
WFRE_NODISCARD wfre_status wfre_branches_matter(wfre_exact *exact, wfre_split split,
                                                const wfre_node *tree, size_t count, bool *matter,
                                                wfre_error *error);

#endif
