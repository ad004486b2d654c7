/* The surrogate score of whole rows: what the matrix way multiplies, and the way back. */
#ifndef WFRE_SRC_TRAIN_SURROGATE_ROWS_H
#define WFRE_SRC_TRAIN_SURROGATE_ROWS_H

#include "linalg/linalg.h"
#include "wfr/surrogate.h"

/* Floats of scratch that a row of `blocks` blocks takes. */
size_t wfre_surrogate_scratch(const wfre_surrogate *surrogate, size_t blocks);

/* out [rank, blocks]: the product of both sides' is the sum of the blocks' values. */
void wfre_surrogate_embed(const wfre_surrogate *surrogate, const wfre_vector_table *vectors,
                          wfre_side side, size_t blocks, const float *row, float *out,
                          float *scratch);

/* From the gradient of out to that of the row, of `blocks` blocks of a bins, as the surrogate has
 * it (wfr/surrogate.h). */
void wfre_surrogate_carry_back(const wfre_surrogate *surrogate, const wfre_vector_table *vectors,
                               wfre_slope kind, wfre_side side, size_t blocks, const float *row,
                               const float *slope, float *gradient, float *scratch);

#endif
