/* Dropout on the basis outputs with a mask for each projected row, as the published code has it.
 *
 * A projection computes s_i = (1 / (1 - p)) sum over the bases j that its own mask keeps for
 * output i of c_j (V_j m + a_j)_i. The sum over all bases is that of W_r, which serves every row
 * of a relation; what the mask leaves out, a share p of the outputs, is taken off again here, one
 * product of a row of V_j with m for each. That costs p times what the bases would one by one. */
#ifndef WFRE_SRC_MODEL_ROW_MASKS_H
#define WFRE_SRC_MODEL_ROW_MASKS_H

#include "model/weights.h"

/* What the masks of one batch leave out, and what it would have been; kept from the way forward for
 * the way back. Zero-initialise, free when done. */
typedef struct wfre_row_masks {
    struct wfre_mask_block *blocks; /* of projections, level by level */
    size_t count, capacity;
} wfre_row_masks;

void wfre_row_masks_free(wfre_row_masks *masks);

/* Whether the job's noise has masks of this kind. */
bool wfre_row_masks_used(const wfre_weights_job *job);

/* All rows are of the projections of one layer, [P, d] in the order of the program. */

/* Takes what is masked off `linear`, for the projections of a level. */
WFRE_NODISCARD wfre_status wfre_row_masks_forward(wfre_row_masks *masks,
                                                  const wfre_weights_job *job,
                                                  const wfre_program_level *level,
                                                  const float *input, float *linear,
                                                  wfre_error *error);
/* The same for `slope_in`, the gradient of the input, given that of the output. */
WFRE_NODISCARD wfre_status wfre_row_masks_backward(wfre_row_masks *masks,
                                                   const wfre_weights_job *job,
                                                   const wfre_program_level *level,
                                                   const float *slope, float *slope_in,
                                                   wfre_error *error);
/* And for the gradients of coefficients, bases and biases, over all levels. */
WFRE_NODISCARD wfre_status wfre_row_masks_gradients(wfre_row_masks *masks,
                                                    const wfre_weights_job *job, const float *slope,
                                                    const float *input, wfre_layer *out,
                                                    wfre_error *error);

#endif
