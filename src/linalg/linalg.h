/* The dense kernels under the model and the trainer: matrix products, elementwise and row
 * operations, layer norm, AdamW.
 *
 * Everything is float32, row-major, with explicit leading dimensions: element (i, j) of a matrix is
 * at [i * ld + j]. Any alignment works; 64-byte aligned tensors are fastest.
 *
 * The slots of wfre_vector_table work on the calling thread, for use inside a pool task. Functions
 * that take a wfre_linalg spread over its pool in pieces that do not depend on the number of
 * threads: the same machine gives the same bits on any number of them. */
#ifndef WFRE_SRC_LINALG_LINALG_H
#define WFRE_SRC_LINALG_LINALG_H

#include "wfre/base.h"

/* ---- layer norm and AdamW: what their kernels take ---------------------------------------- */

typedef enum wfre_activation {
    WFRE_LINEAR = 0,
    WFRE_RELU,
    WFRE_SIGMOID,
} wfre_activation;

/* Layer norm over each row of x, then an affine map and an activation:
 *
 *   hat = (x - mean) * rstd,  rstd = 1 / sqrt(variance + epsilon)
 *   y = activation(gain * hat + bias)
 *
 * Forward reads x and writes y, mean and rstd; backward reads all of them and dy, writes dx and
 * adds to dgain and dbias (unless they are NULL). dx may be dy. */
typedef struct wfre_norm_job {
    size_t rows, width;
    wfre_activation activation;
    float epsilon;
    const float *gain, *bias; /* [width] */
    const float *x;           /* [rows, width] */
    size_t ldx;
    float *y; /* [rows, width] */
    size_t ldy;
    float *mean, *rstd; /* [rows] */
    const float *dy;    /* [rows, width] */
    size_t lddy;
    float *dx; /* [rows, width] */
    size_t lddx;
    float *dgain, *dbias; /* [width] */
} wfre_norm_job;

/* One step of AdamW:
 *   g = gradient_scale * gradient
 *   first = beta1 first + (1 - beta1) g,   second = beta2 second + (1 - beta2) g^2
 *   p = p - rate (decay p + correction1 first / (sqrt(correction2 second) + epsilon))
 * The corrections are 1 / (1 - beta^step); wfre_adamw_at fills them. */
typedef struct wfre_adamw {
    float rate, beta1, beta2, epsilon, decay;
    float gradient_scale; /* the clipping factor; 1 for none */
    float correction1, correction2;
    bool project;        /* clamp p to [0, 1] after the update */
    bool clear_gradient; /* set the gradient to zero once it is used */
} wfre_adamw;

/* Fills the corrections for the step-th update of these parameters; step = 1, 2, ... */
void wfre_adamw_at(wfre_adamw *adamw, uint64_t step);

/* C [rows, n] = A' B for A [k, rows] and B [k, n], where rows and k are small and n is large. */
typedef struct wfre_mix {
    size_t rows, k, n;
    const float *a, *b;
    float *c;
} wfre_mix;

/* ---- elementwise and row kernels ---------------------------------------------------------- */

/* t-norms and their t-conorms, the meaning of intersection and union. */
typedef enum wfre_combine {
    WFRE_COMBINE_MIN = 0,     /* min(x, y): Goedel */
    WFRE_COMBINE_MAX,         /* max(x, y) */
    WFRE_COMBINE_PRODUCT,     /* x y */
    WFRE_COMBINE_SUM,         /* x + y - x y */
    WFRE_COMBINE_BOUNDED_AND, /* max(0, x + y - 1): Lukasiewicz */
    WFRE_COMBINE_BOUNDED_OR,  /* min(1, x + y) */
} wfre_combine;
enum { WFRE_COMBINES = 6 };

/* sums[r * stride + q] = the sum over i of x[r * n + i] y[q * n + i]. n is a multiple of 32, and no
 * sum of absolute values may reach 2^31. */
typedef struct wfre_dots {
    size_t n;
    size_t rows;
    const int8_t *x; /* [rows, n] */
    size_t count;
    const int16_t *y; /* [count, n] */
    size_t stride;    /* >= count */
    int32_t *sums;
} wfre_dots;

/* n is the number of elements; a result may overwrite an argument of the same shape in place, but
 * may not overlap it otherwise. */
typedef struct wfre_vector_table {
    wfre_isa isa;

    /* y = f(x). Relative error at most 3e-7 wherever the result is a normal number. */
    void (*exp)(size_t n, const float *x, float *y); /* 0 below -87, infinite above 88.7 */
    void (*log)(size_t n, const float *x, float *y); /* x >= 0; -infinity at 0 */
    void (*power)(size_t n, float p, const float *x, float *y); /* x > 0; or 0 if p > 0 */
    void (*sigmoid)(size_t n, const float *x, float *y);
    void (*complement)(size_t n, const float *x, float *y); /* 1 - x */
    void (*clamp01)(size_t n, const float *x, float *y);

    void (*scale)(size_t n, float alpha, float *x);                           /* x = alpha x */
    void (*axpy)(size_t n, float alpha, const float *x, float *y);            /* y = y + alpha x */
    void (*multiply)(size_t n, const float *x, const float *y, float *z);     /* z = x y */
    void (*multiply_add)(size_t n, const float *x, const float *y, float *z); /* z = z + x y */

    /* Summed in double precision, in an order that depends on n alone. */
    double (*sum)(size_t n, const float *x);
    double (*dot)(size_t n, const float *x, const float *y);
    double (*squared_norm)(size_t n, const float *x);
    float (*dot_float)(size_t n, const float *x, const float *y); /* summed in float: faster */

    /* One row with `count` others of n numbers: sums[r] = x . rows[r], summed in float;
     * rows[r] = rows[r] + factors[r] x, for rows that are different; y = y + the sum of
     * factors[r] rows[r]. */
    void (*dot_rows)(size_t n, const float *x, size_t count, const float *const *rows, float *sums);
    void (*add_to_rows)(size_t n, const float *x, size_t count, const float *factors,
                        float *const *rows);
    void (*add_rows)(size_t n, size_t count, const float *factors, const float *const *rows,
                     float *y);

    /* Softmax pieces of one row: the maximum (n >= 1), and x = exp(x - shift),
     * returning the sum. */
    float (*maximum)(size_t n, const float *x);
    double (*exp_shifted)(size_t n, float shift, float *x);

    float (*largest)(size_t n, const float *x); /* of the absolute values; 0 for none */

    /* z = f(x, y); and backward dx += dz df/dx, dy += dz df/dy. Where min or max has a tie each
     * side gets half the gradient, and the bounded ones have none at their bound: then the order of
     * the arguments never matters. */
    void (*combine)(wfre_combine f, size_t n, const float *x, const float *y, float *z);
    void (*combine_backward)(wfre_combine f, size_t n, const float *x, const float *y,
                             const float *dz, float *dx, float *dy);

    /* Rows first .. last-1 of a layer norm. backward adds the rows' shares to dgain and dbias. */
    void (*norm_forward)(const wfre_norm_job *job, size_t first, size_t last);
    void (*norm_backward)(const wfre_norm_job *job, size_t first, size_t last, float *dgain,
                          float *dbias);

    void (*adamw)(const wfre_adamw *adamw, size_t n, float *p, float *first, float *second,
                  float *gradient);
    /* One step of Adagrad: squares = squares + g^2, p = p - rate g / (sqrt(squares) + 1e-10). */
    void (*adagrad)(size_t n, float rate, const float *gradient, float *p, float *squares);

    void (*mix)(const wfre_mix *mix);
    void (*transpose)(size_t rows, size_t columns, const float *x, float *y); /* y = x' */

    /* y = scale x, rounded to nearest, ties to even; what is beyond 127 becomes 127. */
    void (*to_i8)(size_t n, float scale, const float *x, int8_t *y);
    void (*dots_i8)(const wfre_dots *dots);
} wfre_vector_table;

/* The kernels of one instruction set, which must be available; AMX has those of AVX-512. */
const wfre_vector_table *wfre_vector_table_for(wfre_isa isa);

/* ---- the context -------------------------------------------------------------------------- */

/* Kernels chosen for this CPU, and the scratch memory of each worker of a pool. One thread at a
 * time may use it. */
typedef struct wfre_linalg wfre_linalg;

/* Borrows the pool (NULL: the calling thread alone) until it is freed. `isa` is what
 * wfre_isa_select gave, or any available one. */
WFRE_NODISCARD wfre_status wfre_linalg_create(wfre_pool *pool, wfre_isa isa, wfre_linalg **linalg,
                                              wfre_error *error);
void wfre_linalg_free(wfre_linalg *linalg);
const wfre_vector_table *wfre_linalg_vectors(const wfre_linalg *linalg);

/* ---- matrix products ---------------------------------------------------------------------- */

/* C = alpha op(A) op(B) + beta C, where op(A) is m x k, op(B) is k x n and C is m x n. A transposed
 * operand is stored the other way: A as k x m, B as n x k. beta = 0 does not read C. */
typedef struct wfre_gemm_job {
    bool transpose_a, transpose_b;
    size_t m, n, k;
    float alpha;
    const float *a;
    size_t lda;
    const float *b;
    size_t ldb;
    float beta;
    float *c;
    size_t ldc;
} wfre_gemm_job;

/* Runs independent products (no C overlaps another job's operands) over the pool. The bits of a
 * job's result depend on that job and the instruction set alone. With WFRE_BF16 the operands are
 * rounded to bfloat16 and summed in float32. Allocates only while scratch memory has not yet grown
 * to what the largest call needs. */
WFRE_NODISCARD wfre_status wfre_gemm(wfre_linalg *linalg, wfre_precision precision,
                                     const wfre_gemm_job *jobs, size_t count, wfre_error *error);

/* ---- the other operations over the pool --------------------------------------------------- */

void wfre_norm_forward(wfre_linalg *linalg, const wfre_norm_job *job);
WFRE_NODISCARD wfre_status wfre_norm_backward(wfre_linalg *linalg, const wfre_norm_job *job,
                                              wfre_error *error);
void wfre_adamw_update(wfre_linalg *linalg, const wfre_adamw *adamw, size_t n, float *p,
                       float *first, float *second, float *gradient);
double wfre_squared_norm(wfre_linalg *linalg, size_t n, const float *x);

#endif
