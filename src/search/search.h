/* Scores of entities for histograms: the workspace of one thread. */
#ifndef WFRE_SRC_SEARCH_SEARCH_H
#define WFRE_SRC_SEARCH_SEARCH_H

#include "search/index.h"

typedef struct wfre_searcher wfre_searcher;

/* Borrows all of them until freed. */
WFRE_NODISCARD wfre_status wfre_searcher_create(wfre_index *index, wfre_pool *pool,
                                                wfre_searcher **searcher, wfre_error *error);
void wfre_searcher_free(wfre_searcher *searcher);

/* Makes the index ready to find the best few: before anything else here. */
WFRE_NODISCARD wfre_status wfre_search_prepare(wfre_searcher *searcher, wfre_error *error);
/* Whether there are estimates. */
bool wfre_search_estimates(const wfre_searcher *searcher);

/* scores[r * entities + e] of `count` histograms: estimates by the sketch, if there is one and the
 * exact ones are not asked for. The exact bits depend neither on the threads nor on what other
 * histograms there are. */
WFRE_NODISCARD wfre_status wfre_search_scores(wfre_searcher *searcher, const float *rows,
                                              size_t count, bool exact, float *scores,
                                              wfre_error *error);

/* Pairs of a histogram and an entity. */
typedef struct wfre_search_pairs {
    const float *rows;           /* [.., d] */
    const uint32_t *row;         /* of each pair */
    const wfre_entity *entities; /* [entity_count] */
    size_t entity_count;
    const uint32_t *entity; /* of each pair: which of them; NULL: pair i has entity i */
    size_t count;
} wfre_search_pairs;

/* scores[i] of pair i, exactly. */
WFRE_NODISCARD wfre_status wfre_search_score_pairs(wfre_searcher *searcher,
                                                   const wfre_search_pairs *pairs, float *scores,
                                                   wfre_error *error);

#endif
