/* Running a program through the model's family (model/family.h): forward for embeddings, backward
 * for gradients. A run owns the activations of one batch at a time. */
#ifndef WFRE_SRC_MODEL_RUN_H
#define WFRE_SRC_MODEL_RUN_H

#include "model/family.h"

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

/* Carries the gradients down to the entity rows, and writes those of the parameters:
 * gradients[i] is of model->tensors[i + 1] (wfre_parameters_allocate). They are overwritten, not
 * added to. */
WFRE_NODISCARD wfre_status wfre_run_backward(wfre_run *run, const wfre_tensor *gradients,
                                             wfre_error *error);

#endif
