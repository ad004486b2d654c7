/* Where a model ranks the hard answers of queries, in any way of answering.
 *
 * Queries are scored as when they are asked (infer/reasoner.h). Where scores are estimates, only
 * the entities whose estimate lies so close to a hard answer that it cannot be told which is better
 * are scored exactly. */
#ifndef WFRE_SRC_MEASURE_RANK_H
#define WFRE_SRC_MEASURE_RANK_H

#include "infer/reasoner.h"
#include "measure/metrics.h"

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

/* Ranks queries, of which the edges of `known` are certain if they are answered by edges; those
 * without hard answers are left alone. The result does not depend on how queries are cut into
 * batches. *cost grows; it may be NULL. */
WFRE_NODISCARD wfre_status wfre_rank(wfre_session *session, const wfre_way *way, wfre_split known,
                                     const wfre_rank_query *queries, size_t count,
                                     wfre_rank_cost *cost, wfre_error *error);
/* So many at a time are fastest. */
enum { WFRE_RANK_BATCH = 256 };
/* To prepare estimates of all distances takes about as long as to rank so many queries, by
 * embedding, without. Where time is short, few queries are ranked exhaustively. */
enum { WFRE_RANK_PREPARATION = 70 };

/* A number that changes whenever standings may: kept ones of another version are not taken. */
enum { WFRE_RANKING_VERSION = 1 };

/* How it ranks, in a few words: "filtered", "exhaustive" (it was asked for, or the score leaves
 * nothing to gain), "edge by edge", or "edge by edge, exhaustively". */
const char *wfre_rank_method(const wfre_model *model, const wfre_way *way);

#endif
