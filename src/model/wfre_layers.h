/* Projections of the WFRE family: what a layer computes stands at the top of model/model.h.
 *
 * Weights are built once for each distinct relation of the batch, W_r = sum_j c_rj V_j, so that a
 * projected row costs one matrix-vector product instead of K. With dropout on the basis outputs,
 * output i of basis j is left out for all rows of the batch that go through the same relation: the
 * mask then belongs to W_r, and nothing becomes slower. Masks of each row's own are in
 * model/row_masks.h. */
#ifndef WFRE_SRC_MODEL_WFRE_LAYERS_H
#define WFRE_SRC_MODEL_WFRE_LAYERS_H

#include "model/family.h"

/* The functions of the same names in a wfre_family. */
WFRE_NODISCARD wfre_status wfre_layers_begin(wfre_pass *pass, wfre_error *error);
WFRE_NODISCARD wfre_status wfre_layers_forward(wfre_pass *pass, const wfre_program_level *level,
                                               wfre_error *error);
WFRE_NODISCARD wfre_status wfre_layers_backward(wfre_pass *pass, const wfre_program_level *level,
                                                const wfre_tensor *gradients, wfre_error *error);
WFRE_NODISCARD wfre_status wfre_layers_finish(wfre_pass *pass, const wfre_tensor *gradients,
                                              wfre_error *error);
void wfre_layers_end(wfre_pass *pass);

#endif
