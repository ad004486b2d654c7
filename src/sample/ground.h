/* Grounding a query type: entities and relations for it, found by walking backwards from an answer,
 * or for paths also forwards.
 *
 * The backward walk is that of the BetaE benchmark. A projection takes a relation that leads to the
 * answer, all equally likely, and then one of its heads; it does not turn back along the relation
 * just taken. All branches of an intersection or union, negated ones too, start from the same
 * entity, so that a negation always touches the answers of its neighbours. */
#ifndef WFRE_SRC_SAMPLE_GROUND_H
#define WFRE_SRC_SAMPLE_GROUND_H

#include "base/rng.h"
#include "exact/exact.h"

/* One attempt from a random entity. *tree is NULL if it came to a dead end, or if two branches of
 * one node are the same. The nodes lie in the arena either way. */
WFRE_NODISCARD wfre_status wfre_ground(const wfre_graph *graph, wfre_split split,
                                       const wfre_node *type, wfre_rng *rng, wfre_arena *arena,
                                       const wfre_node **tree, wfre_error *error);

/* A path of `length` projections, walked forwards: the first is any pair of a relation and an
 * entity that has it, all equally likely, as among the 1p training queries of the BetaE benchmark;
 * then a target, and a relation of it that does not turn back. Walks from random answers hardly
 * ever ask what only entities with many edges answer. *tree is NULL at a dead end. */
WFRE_NODISCARD wfre_status wfre_ground_path(const wfre_graph *graph, wfre_split split,
                                            unsigned length, wfre_rng *rng, wfre_arena *arena,
                                            const wfre_node **tree, wfre_error *error);

/* The edge of any fact that the split adds, all equally likely, asked from either end. *tree is
 * NULL if the attempt met a fact that was known before. */
WFRE_NODISCARD wfre_status wfre_ground_fact(const wfre_graph *graph, wfre_split split,
                                            wfre_rng *rng, wfre_arena *arena,
                                            const wfre_node **tree, wfre_error *error);

/* Which branches of intersections and unions must matter. */
typedef enum wfre_branch_rule {
    WFRE_BRANCHES_ALL,    /* each of them */
    WFRE_BRANCHES_NEGATED /* the negated ones: BetaE's rule for the queries it measures by; its
                             training queries need not keep it, which a quarter of inp does not */
} wfre_branch_rule;

/* Whether they do: without such a branch there would be more or fewer than the `count` answers
 * there are. */
WFRE_NODISCARD wfre_status wfre_branches_matter(wfre_exact *exact, wfre_split split,
                                                wfre_branch_rule rule, const wfre_node *tree,
                                                size_t count, bool *matter, wfre_error *error);

#endif
