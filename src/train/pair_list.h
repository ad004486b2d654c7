/* Chosen (candidate, branch) pairs by the model's own score, with gradients: what both losses do
 * with pairs. Gradients of candidates are added in the order of the pairs. */
#ifndef WFRE_SRC_TRAIN_PAIR_LIST_H
#define WFRE_SRC_TRAIN_PAIR_LIST_H

#include "linalg/linalg.h"
#include "train/loss.h"
#include "wfre/score.h"

enum { WFRE_GROUP_PAIRS = 4096 }; /* so few that their gradients stay in the cache */

typedef struct wfre_pair_list {
    size_t count;
    uint32_t *entity;       /* [count] candidate */
    uint32_t *branch;       /* [count] */
    float *distance;        /* [count]; then the loss's derivative by it */
    float *entity_side;     /* [count, width] dDist/dentity */
    float *query_side;      /* [count, width] dDist/dquery */
    uint32_t *by_entity;    /* [count] pair numbers sorted by candidate */
    uint32_t *entity_begin; /* [candidates + 1] */
    size_t capacity, width, capacity_candidates;
} wfre_pair_list;

/* The bins that are compared: all of a row, or a member's. */
typedef struct wfre_pair_view {
    const wfre_loss_batch *batch;
    size_t column, width;
} wfre_pair_view;

/* Room for so many pairs; false when out of memory. */
bool wfre_pair_list_reserve(wfre_pair_list *list, const wfre_pair_view *view, size_t pairs);
void wfre_pair_list_free(wfre_pair_list *list);

/* Fills distances and gradients of the `count` pairs that entity and branch name. */
WFRE_NODISCARD wfre_status wfre_pair_list_score(wfre_pair_list *list, const wfre_score *score,
                                                wfre_pool *pool, const wfre_pair_view *view,
                                                wfre_error *error);
/* Adds distance times entity_side to the batch's candidates. */
WFRE_NODISCARD wfre_status wfre_pair_list_add(const wfre_pair_list *list,
                                              const wfre_vector_table *vectors, wfre_pool *pool,
                                              const wfre_pair_view *view, wfre_error *error);

#endif
