/* The matrices of a batch's relations, mixed from the shared bases, and the way back. */
#ifndef WFRE_SRC_MODEL_WEIGHTS_H
#define WFRE_SRC_MODEL_WEIGHTS_H

#include "model/family.h"

/* Of one layer, in the shapes of model/model.h. Free matrices are not copied here: they are those
 * of the model. */
typedef struct wfre_weights {
    float *built;      /* [M, U, w, w], U distinct relations */
    float *built_bias; /* [M, U, w] */
    float *mixing;     /* [U, M * K], or [w, U, M * K] when each output masks its coefficients */

    /* The way back. */
    float *slope, *input; /* [P, d] of all projections, ordered by relation */
    float *gradient;      /* [U, rows, w] of a band of output rows of one member */
    float *gradient_bias; /* [M, U, w] */
    float *partial;       /* [slices, K, U] of the band */

    size_t built_capacity, built_bias_capacity, mixing_capacity, slope_capacity, input_capacity;
    size_t gradient_capacity, gradient_bias_capacity, partial_capacity;
} wfre_weights;

typedef struct wfre_weights_job {
    const wfre_model *model;
    uint32_t layer;
    const wfre_program *program;
    const wfre_noise *noise; /* NULL for none */
    wfre_linalg *linalg;
    wfre_pool *pool;
    wfre_precision precision;
} wfre_weights_job;

/* Makes W_r and b_r of every relation of the program. */
WFRE_NODISCARD wfre_status wfre_weights_build(wfre_weights *weights, const wfre_weights_job *job,
                                              wfre_error *error);
/* From the gradient of W_r x + b_r (`slope`) and from x (`input`) of every projection of the
 * program to the gradients of coefficients, bases and biases, in `out`. Both are [P, d]. */
WFRE_NODISCARD wfre_status wfre_weights_backward(wfre_weights *weights, const wfre_weights_job *job,
                                                 const float *slope, const float *input,
                                                 wfre_layer *out, wfre_error *error);
/* [w, w] and [w] of one member. */
const float *wfre_weights_matrix(const wfre_weights *weights, const wfre_weights_job *job,
                                 uint32_t relation, uint32_t member);
const float *wfre_weights_bias(const wfre_weights *weights, const wfre_weights_job *job,
                               uint32_t relation, uint32_t member);
void wfre_weights_free(wfre_weights *weights);

#endif
