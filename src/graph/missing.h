/* How many edges an entity lacks, judged by how many it has.
 *
 * If edges are missing at random, then of the entities that show n edges of a relation the number
 * that have one more which is missing is proportional to (n + 1) c(n+1), where c(n) entities show
 * n; so one of them lacks, on average and up to a common factor, (n + 1) c(n+1) / c(n). (Good and
 * Turing estimate unseen species so.) Where nearly all have one edge and hardly any two, an entity
 * with none lacks one, and an entity with one does not.
 *
 * Most relations do not apply to most entities, and those count as c(0), too. So c(0) is taken for
 * a small share of c(1) at the most: whether a relation applies is left to others to say.
 *
 * And where k of n edges lead from an entity to itself, and k is small, hardly any that is missing
 * does: it loses log((n + 1) / (k + 1)). */
#ifndef WFRE_SRC_GRAPH_MISSING_H
#define WFRE_SRC_GRAPH_MISSING_H

#include "graph/graph.h"

typedef struct wfre_missing_counts {
    size_t *begin; /* by directed relation, + 1 */
    float *logs;   /* from begin[r] on: of degrees 0, 1, ... */
    float *loops;  /* by directed relation: what the logit of an edge to itself gains; 0 or less */
} wfre_missing_counts;

/* Of one split's edges. To be freed in any case. */
WFRE_NODISCARD wfre_status wfre_missing_counts_measure(const wfre_graph *graph, wfre_split split,
                                                       wfre_missing_counts *missing,
                                                       wfre_error *error);
void wfre_missing_counts_free(wfre_missing_counts *missing);

/* The logarithm of what an entity lacks that has `degree` edges of a directed relation. No entity
 * may have more than it was measured with. */
static inline float wfre_missing_counts_log(const wfre_missing_counts *missing,
                                            wfre_relation relation, size_t degree)
{
    return missing->logs[missing->begin[relation] + degree];
}

#endif
