/* The matrices of a batch's relations, mixed from the shared bases, and the way back. */
#ifndef WFRE_SRC_MODEL_WEIGHTS_H
#define WFRE_SRC_MODEL_WEIGHTS_H

#include "model/run.h"

/* Of one layer. With free matrices `matrix` points into the model and its gradients. */
typedef struct wfre_weights {
    float *built;         /* [U, d, d], U distinct relations */
    float *built_bias;    /* [U, d] */
    float *gradient;      /* [U, d, d] */
    float *gradient_bias; /* [U, d] */
    float *mixing;        /* [slices, U, K]: coefficients, masked when a basis is dropped out */
    float *partial;       /* [slices, U, K] scratch of the way back */
    size_t slices;        /* 1, or d when outputs are masked one by one */
    size_t capacity;      /* relations there is room for, and room for gradients of */
    size_t gradient_capacity;
    size_t mixing_capacity;
    size_t partial_capacity;
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
/* Room for the gradients of all W_r and b_r of the program; their contents are undefined. */
WFRE_NODISCARD wfre_status wfre_weights_make_gradients(wfre_weights *weights,
                                                       const wfre_weights_job *job,
                                                       wfre_error *error);
/* From the gradients of all W_r and b_r to those of coefficients, bases and biases in `out`. */
WFRE_NODISCARD wfre_status wfre_weights_backward(wfre_weights *weights, const wfre_weights_job *job,
                                                 wfre_layer *out, wfre_error *error);
const float *wfre_weights_matrix(const wfre_weights *weights, const wfre_weights_job *job,
                                 uint32_t relation);
const float *wfre_weights_bias(const wfre_weights *weights, const wfre_weights_job *job,
                               uint32_t relation);
void wfre_weights_free(wfre_weights *weights);

#endif
