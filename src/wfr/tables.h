/* Constants of the float kernels for one score, each repeated over the lanes of a vector so that it
 * can be a memory operand.
 *
 * The power. An iteration raises s = (H psi)_i to -p. With s = 2^e m, 1 <= m < 2:
 *
 *     s^-p = 2^(-p e) * r^p * (1 + f)^-p,      f = m r - 1
 *
 * where r is close to 1/m, from a table over the leading bits of m. 2^(-p e) r^p is a product of
 * table entries, one a level, looked up by fields of the bits of s; (1 + f)^-p is a short
 * polynomial. There is no logarithm, so nothing is lost when s is far from 1:
 *
 *     bits of s   0 eeeeeeee mmmmmmmmmmmmmmmmmmmmmmm
 *     AVX2 near     .222111000                          three levels of 8 entries; 1 exponent bit
 *     AVX2 wide     222111000                           and 2 mantissa bits in level 0, or 2 and 1
 *     AVX-512 near  .11111.....                         two levels of 32 entries; likewise
 *
 * The near shape leaves the leading exponent bit out: it covers 128 octaves only, starting where
 * the score's bound says, and pays for it with a lower degree. */
#ifndef WFRE_SRC_WFR_TABLES_H
#define WFRE_SRC_WFR_TABLES_H

#include "wfr/kernels.h"

typedef struct power_shape {
    int index_bits;    /* of each level: tables of 2^index_bits entries */
    int levels;        /* at most 3 */
    int mantissa_bits; /* of level 0; its other bits are the lowest of the exponent */
    int degree;        /* of the polynomial */
} power_shape;

enum { MOST_LANES = 16, MOST_DEGREE = 8 };

/* Every member is a multiple of 64 bytes, so that all are aligned. */
typedef struct float_tables {
    _Alignas(64) float level[3][32];
    float reciprocal[32];
    float poly[MOST_DEGREE + 1][MOST_LANES];
    float rough_poly[MOST_DEGREE + 1][MOST_LANES]; /* of degree - 2, for ranking */
    float h[WFRE_BLOCK_LIMIT][MOST_LANES];
    float k[WFRE_BLOCK_LIMIT][MOST_LANES];
    float k_row[WFRE_BLOCK_LIMIT][MOST_LANES]; /* epsilon sum_j K_ij */
    /* (row sum of H / a)^-p: phi after the first half iteration is this times x^p. */
    float first[WFRE_BLOCK_LIMIT][MOST_LANES];
    float epsilon[MOST_LANES];
    float minus_root[MOST_LANES]; /* -(1 - p) */
    /* 1 for the lanes of the last group that hold blocks, else 0 */
    float last_lanes[MOST_LANES];
    /* Extrapolation over `skipped` iterations: p^2, p^2 + p^4 + ..., and the largest lambda. */
    float scale_factor[MOST_LANES];
    float scale_sum[MOST_LANES];
    float most_lambda[MOST_LANES];
    /* Where no mass moves: the exponents of both masses in psi after L - 1 iterations, each as a
     * short number and what it leaves, and the factor of the left side. */
    float right_high[MOST_LANES], right_low[MOST_LANES];
    float left_high[MOST_LANES], left_low[MOST_LANES];
    float left_scale[MOST_LANES];
    bool closed; /* no mass moves */
    uint32_t skipped;
    const struct kernel_set *kernels; /* chosen among the shapes of vector_slots.h */
} float_tables;

/* Whether the power of this shape holds all that the score can meet. */
bool wfre_power_covers(const wfre_score *score, power_shape shape);

/* Sets what extrapolation needs to replace `skipped` iterations. */
void wfre_float_tables_skip(const wfre_score *score, float_tables *tables, uint32_t skipped);

/* New tables, to be released with wfre_free; NULL when out of memory. */
float_tables *wfre_float_tables_create(const wfre_score *score, power_shape shape, unsigned lanes);

#endif
