/* Samples of blocks, and what the score says about each pair of them: what estimates of the score
 * are fitted to. */
#ifndef WFRE_SRC_SEARCH_BLOCKS_H
#define WFRE_SRC_SEARCH_BLOCKS_H

#include "base/error.h"
#include "wfre/score.h"

/* Rows of d elements to draw blocks from. */
typedef struct wfre_block_source {
    const float *rows;
    size_t count;
} wfre_block_source;

/* Zero-initialise, set the counts, draw; free in any case. */
typedef struct wfre_block_sample {
    size_t left_count, right_count;
    float *left;    /* [left_count, block]: stand on the left of the score, as entities do */
    float *right;   /* [right_count, block] */
    double *values; /* [left_count, right_count] */
} wfre_block_sample;

/* The same sources give the same bits. */
WFRE_NODISCARD wfre_status wfre_block_sample_draw(wfre_block_sample *sample,
                                                  const wfre_score *score, wfre_pool *pool,
                                                  wfre_block_source left, wfre_block_source right,
                                                  wfre_error *error);
void wfre_block_sample_free(wfre_block_sample *sample);

#endif
