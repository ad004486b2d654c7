/* The exact engine: all answers that a split's graph proves.
 *
 * Operator trees are answered here, bottom up by set operations; formulas that are no trees by the
 * join (exact/join.h), on the same sets. An engine holds the memory of one thread and is reused
 * from question to question; in the long run it does not allocate. */
#ifndef WFRE_SRC_EXACT_EXACT_H
#define WFRE_SRC_EXACT_EXACT_H

#include "exact/set.h"
#include "query/tree.h"
#include "wfre/query.h"

struct wfre_exact {
    const wfre_graph *graph;
    wfre_sets sets;
    wfre_entity *answers; /* those of the last question, if they had to be written out */
    size_t answers_capacity;
    const wfre_monitor *monitor; /* asked now and then whether to stop */
};

/* The graph must stay open as long as the engine. */
WFRE_NODISCARD wfre_status wfre_exact_open(wfre_exact *exact, const wfre_graph *graph,
                                           wfre_error *error);
void wfre_exact_close(wfre_exact *exact);
/* One engine for each thread of the pool (one if it is NULL), in an array of `count`. */
WFRE_NODISCARD wfre_status wfre_exact_open_all(const wfre_graph *graph, const wfre_pool *pool,
                                               wfre_exact **engines, size_t *count,
                                               wfre_error *error);
void wfre_exact_close_all(wfre_exact *engines, size_t count);

/* The answers of a tree, ascending; they live until the engine's next question, and no longer than
 * the tree and the graph. Here and below, the tree has all its ids and they are within the graph
 * (wfre_tree_fits). */
WFRE_NODISCARD wfre_status wfre_exact_tree(wfre_exact *exact, wfre_split split,
                                           const wfre_node *tree, wfre_list *answers,
                                           wfre_error *error);

/* The same as a set, which is the caller's to release in any case. */
WFRE_NODISCARD wfre_status wfre_exact_set(wfre_exact *exact, wfre_split split,
                                          const wfre_node *tree, wfre_set *set, wfre_error *error);

/* The entities that cannot be answers, whatever triples the graph may lack: it has an edge that the
 * tree denies. The set is the caller's to release in any case.
 */
WFRE_NODISCARD wfre_status wfre_exact_refuted(wfre_exact *exact, wfre_split split,
                                              const wfre_node *tree, wfre_set *set,
                                              wfre_error *error);

/* What a model need not be asked about: the tree's known answers, ascending, and the entities that
 * are refuted. In the arena, or `known` itself. */
WFRE_NODISCARD wfre_status wfre_exact_settled(wfre_exact *exact, wfre_split split,
                                              const wfre_node *tree, wfre_list known,
                                              wfre_arena *arena, wfre_list *settled,
                                              wfre_error *error);

/* Whether the tree has another number of answers than `count`, those it has, if the child `branch`
 * of an intersection or union is left out. A branch only ever adds answers or only ever takes some
 * away, so if their number does not change, neither do they. */
WFRE_NODISCARD wfre_status wfre_exact_matters(wfre_exact *exact, wfre_split split,
                                              const wfre_node *tree, const wfre_node *branch,
                                              size_t count, bool *matters, wfre_error *error);

/* WFRE_ERR_TIMEOUT or WFRE_ERR_INTERRUPTED if the scope (base/scope.h) or the monitor says stop. */
wfre_status wfre_exact_check(const wfre_exact *exact, wfre_error *error);
/* The set's members as a list in the engine's memory. */
wfre_status wfre_exact_write(wfre_exact *exact, const wfre_set *set, wfre_list *answers,
                             wfre_error *error);

#endif
