/* A cheap estimate of the WFR distance between a query and every entity, as one matrix product.
 *
 * The value of a block is a smooth function of two short histograms, D(x, y), and nearly a sum of
 * few products g_k(x) h_k(y). The functions are learned from D itself. As raw features of x serve
 * its comparisons with a few chosen blocks ("landmarks"); a linear map reduces them to the rank
 * that reproduces D best over blocks of the model's entities and queries; likewise for y. Summed
 * over blocks, the estimate of all distances is the product of the two feature matrices:
 *
 *     entity e  --landmarks, map-->  [blocks * rank]  \
 *                                                      +-- product / blocks --> estimate
 *     query q   --landmarks, map-->  [blocks * rank]  /
 *
 * It is an estimate, not a bound: whoever uses it measures its error where it matters. */
#ifndef WFRE_SRC_SEARCH_FILTER_H
#define WFRE_SRC_SEARCH_FILTER_H

#include "base/error.h"
#include "linalg/linalg.h"
#include "wfre/score.h"

typedef struct wfre_filter wfre_filter;

/* Whether a filter is worth having: the score is an iterated one,
 * on blocks that are not too long. */
bool wfre_filter_suits(const wfre_score_settings *settings);

/* What a filter is made from: the entities as the score reads them, and some queries like those to
 * come. */
typedef struct wfre_filter_input {
    const wfre_score *score; /* borrowed until the filter is freed */
    const float *entities;   /* [entity_count, d] */
    size_t entity_count;
    const float *queries; /* [query_count, d] */
    size_t query_count;
} wfre_filter_input;

/* The same input gives the same bits. */
WFRE_NODISCARD wfre_status wfre_filter_create(const wfre_filter_input *input, wfre_pool *pool,
                                              wfre_filter **filter, wfre_error *error);
void wfre_filter_free(wfre_filter *filter);

/* scores[q * entities + e] for `count` query rows: the estimated distances, negated. Any number of
 * threads may ask one filter, each with a linalg context of its own. */
WFRE_NODISCARD wfre_status wfre_filter_estimate(const wfre_filter *filter, wfre_linalg *linalg,
                                                wfre_pool *pool, const float *queries, size_t count,
                                                float *scores, wfre_error *error);

#endif
