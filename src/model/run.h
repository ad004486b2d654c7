/* Running a program: forward for embeddings, backward for gradients.
 *
 * A run owns the activations of one batch at a time. Weights are built once for each distinct
 * relation of the batch, W_r = sum_j c_rj V_j, so that a projected row costs one matrix-vector
 * product instead of K. With dropout on the basis outputs, output i of basis j is left out for all
 * rows of the batch that go through the same relation: the mask then belongs to W_r, and nothing
 * becomes slower. Masks of each row's own are in model/row_masks.h. */
#ifndef WFRE_SRC_MODEL_RUN_H
#define WFRE_SRC_MODEL_RUN_H

#include "linalg/linalg.h"
#include "model/model.h"
#include "model/program.h"

/* The noise of one training step; all rates 0 for none. */
typedef struct wfre_noise {
    float drop_input;    /* an input element of a projection becomes 0, the others grow */
    float drop_basis;    /* an output of a basis is left out, the others grow */
    float drop_negation; /* an element becomes 1/2 before it is complemented */
    bool mask_rows;      /* drop_basis draws for each row, not for each relation */
    uint64_t seed, step;
} wfre_noise;

typedef struct wfre_run wfre_run;

/* Borrows the model, the pool and the context until freed. */
WFRE_NODISCARD wfre_status wfre_run_create(const wfre_model *model, wfre_pool *pool,
                                           wfre_linalg *linalg, wfre_precision precision,
                                           wfre_run **run, wfre_error *error);
void wfre_run_free(wfre_run *run);

/* Computes all rows of the program. noise may be NULL. The program must live until backward. */
WFRE_NODISCARD wfre_status wfre_run_forward(wfre_run *run, const wfre_program *program,
                                            const wfre_noise *noise, wfre_error *error);

/* The histogram of a row, and the place for the loss's gradient with respect to it: forward leaves
 * the gradients zero; add to those of the roots, then call backward. */
const float *wfre_run_row(const wfre_run *run, uint32_t row);
float *wfre_run_gradient(wfre_run *run, uint32_t row);

/* Carries the gradients down to the entity rows, and writes those of the layers into `layers`
 * (shapes of the model). `layers` is overwritten, not added to. */
WFRE_NODISCARD wfre_status wfre_run_backward(wfre_run *run, wfre_layer *layers, wfre_error *error);

#endif
