/* A function of two blocks as a sum of few products, D(x, y) ~ sum_k g_k(x) h_k(y): a reduced-rank
 * regression.
 *
 * Works on samples: V[i, j] = D(x_i, y_j), and raw features A of the x_i and B of the y_j. Finds
 * linear maps to `rank` features each, with A left (B right)' closest to V. */
#ifndef WFRE_SRC_WFR_SEPARABLE_H
#define WFRE_SRC_WFR_SEPARABLE_H

#include "base/error.h"

/* All row-major, in double precision. */
typedef struct wfre_separable {
    size_t rows, columns; /* of V */
    const double *v;      /* [rows, columns] */
    size_t features;      /* of A and of B */
    const double *a;      /* [rows, features] */
    const double *b;      /* [columns, features] */
    size_t rank;
    double *left;  /* out: [features, rank] */
    double *right; /* out: [features, rank] */
} wfre_separable;

WFRE_NODISCARD wfre_status wfre_separable_fit(const wfre_separable *problem, wfre_error *error);

/* The plain regression: the matrix C with A C B' closest to V. */
typedef struct wfre_bilinear {
    size_t rows, columns; /* of V */
    const double *v;      /* [rows, columns] */
    size_t left, right;   /* features of A and of B */
    const double *a;      /* [rows, left] */
    const double *b;      /* [columns, right] */
    double *c;            /* out: [right, left], C turned */
} wfre_bilinear;

WFRE_NODISCARD wfre_status wfre_bilinear_fit(const wfre_bilinear *problem, wfre_error *error);

/* Chooses `count` rows of V that best span all of them, greedily: each is the one farthest from
 * what those before can represent. Overwrites v. */
void wfre_separable_pivots(double *v, size_t rows, size_t columns, size_t count, uint32_t *chosen);

#endif
