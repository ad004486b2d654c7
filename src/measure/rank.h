/* Where a model ranks the hard answers of queries, by embedding them or edge by edge.
 *
 * Exhaustive ranking scores every entity. Filtered ranking first estimates every distance by a
 * matrix product (search/filter.h), then scores exactly only the entities whose estimate lies so
 * close to a hard answer that the filter cannot tell which is nearer. */
#ifndef WFRE_SRC_MEASURE_RANK_H
#define WFRE_SRC_MEASURE_RANK_H

#include "infer/edges.h"
#include "measure/metrics.h"
#include "model/model.h"

/* A query, and room for the standings of its hard answers. */
typedef struct wfre_rank_query {
    const wfre_node *tree;
    wfre_list easy, hard; /* ascending and disjoint */
    wfre_standing *standings;
} wfre_rank_query;

/* What ranking cost so far. */
typedef struct wfre_rank_cost {
    uint64_t pairs; /* of a query and an entity */
    uint64_t exact; /* of which so many were scored exactly; a union counts once */
} wfre_rank_cost;

typedef struct wfre_ranker wfre_ranker;

/* Borrows the model, of which nothing but the lifts and the ways of answering may change, and the
 * pool until freed. */
WFRE_NODISCARD wfre_status wfre_ranker_create(const wfre_model *model, bool exhaustive,
                                              wfre_pool *pool, wfre_ranker **ranker,
                                              wfre_error *error);
void wfre_ranker_free(wfre_ranker *ranker);

/* Lends it the graph, of which a split's edges are known: from now on it answers edge by edge where
 * the model says so and the query allows it, by estimates unless it is exhaustive. */
WFRE_NODISCARD wfre_status wfre_ranker_know(wfre_ranker *ranker, const wfre_graph *graph,
                                            wfre_split split, wfre_error *error);

/* Ranks a batch. The result does not depend on how queries are cut into batches ... */
WFRE_NODISCARD wfre_status wfre_ranker_run(wfre_ranker *ranker, const wfre_rank_query *queries,
                                           size_t count, wfre_union unions, wfre_error *error);
/* ... but this many at a time are fastest. */
enum { WFRE_RANK_BATCH = 256 };

/* How a ranker that knows a graph ranks, in a few words: "filtered", "exhaustive" (it was asked
 * for, or the score leaves nothing to gain), "edge by edge", or "edge by edge, exhaustively". */
const char *wfre_rank_method(const wfre_model *model, bool exhaustive);
wfre_rank_cost wfre_ranker_cost(const wfre_ranker *ranker);

#endif
