/* A small estimate of the WFR distance between queries and all entities, for finding candidates: a
 * candidate index of bytes (int8).
 *
 * Like the filter (search/filter.h) it takes the value of a block for a sum of few products, but of
 * features in closed form:
 *
 *     1, x, sqrt x, sqrt(H x), sqrt(sum x)   --map-->   block + 1 numbers
 *
 * It is less accurate; but an entity costs no scores to prepare, and takes hardly more than a byte
 * for each bin of its histogram. On a half-trained WN18RR model (d = 320, preset exact) the nearest
 * 20 of 40,559 entities were among its first 60 for all of 96 queries, for half of them among the
 * first 32. */
#ifndef WFRE_SRC_SEARCH_SKETCH_H
#define WFRE_SRC_SEARCH_SKETCH_H

#include "model/embed.h"
#include "model/sketch_tables.h"

typedef struct wfre_sketch wfre_sketch;

/* Whether the score is one that a sketch can estimate: WFR on blocks that are not too long. */
bool wfre_sketch_suits(const wfre_score_settings *settings);

/* Sketches all entities. The maps are fitted on blocks of entities and of `examples` of queries.
 * Borrows the model until freed. The same input gives the same bits. */
WFRE_NODISCARD wfre_status wfre_sketch_create(const wfre_model *model, const wfre_score *score,
                                              const wfre_embedding *examples, wfre_pool *pool,
                                              wfre_sketch **sketch, wfre_error *error);
/* The one whose tables the model has; *sketch is NULL if it has none, or none that belong to its
 * entities as they are. */
WFRE_NODISCARD wfre_status wfre_sketch_open(const wfre_model *model, const wfre_score *score,
                                            wfre_sketch **sketch, wfre_error *error);
void wfre_sketch_free(wfre_sketch *sketch);

/* The tables that it was created with become the caller's;
 * nothing else can be done with it then. */
wfre_sketch_tables *wfre_sketch_take(wfre_sketch *sketch);

/* scores[q * entities + e] for `count` query rows: the estimated distances, negated. Any number of
 * threads may ask one sketch. */
WFRE_NODISCARD wfre_status wfre_sketch_estimate(const wfre_sketch *sketch, wfre_pool *pool,
                                                const float *queries, size_t count, float *scores,
                                                wfre_error *error);

#endif
