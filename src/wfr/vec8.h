/* Eight floats at a time: AVX2 with FMA. See float_kernels.h for what each function must do. */
#ifndef WFRE_SRC_WFR_VEC8_H
#define WFRE_SRC_WFR_VEC8_H

#include <immintrin.h>

#include "wfr/tables.h"

enum { LANES = 8 };
typedef __m256 vf;  /* LANES floats */
typedef __m256i vi; /* their bits */
typedef struct vd {
    __m256d low, high;
} vd; /* LANES doubles */

static inline vf vf_set(float x)
{
    return _mm256_set1_ps(x);
}

static inline vf vf_load(const float *p)
{
    return _mm256_load_ps(p);
}

static inline void vf_store(float *p, vf x)
{
    _mm256_store_ps(p, x);
}

static inline vf vf_add(vf x, vf y)
{
    return _mm256_add_ps(x, y);
}

static inline vf vf_sub(vf x, vf y)
{
    return _mm256_sub_ps(x, y);
}

static inline vf vf_mul(vf x, vf y)
{
    return _mm256_mul_ps(x, y);
}

static inline vf vf_div(vf x, vf y)
{
    return _mm256_div_ps(x, y);
}

static inline vf vf_fma(vf x, vf y, vf z)
{
    return _mm256_fmadd_ps(x, y, z);
}

static inline vf vf_fnma(vf x, vf y, vf z)
{
    return _mm256_fnmadd_ps(x, y, z);
}

static inline vi vi_bits(vf x)
{
    return _mm256_castps_si256(x);
}

static inline vf vi_as_float(vi x)
{
    return _mm256_castsi256_ps(x);
}

static inline vi vi_set(int x)
{
    return _mm256_set1_epi32(x);
}

static inline vi vi_add(vi x, vi y)
{
    return _mm256_add_epi32(x, y);
}

static inline vi vi_sub(vi x, vi y)
{
    return _mm256_sub_epi32(x, y);
}

static inline vi vi_and(vi x, vi y)
{
    return _mm256_and_si256(x, y);
}

static inline vi vi_shift_left(vi x, int count)
{
    return _mm256_slli_epi32(x, count);
}

static inline vf vi_to_float(vi x)
{
    return _mm256_cvtepi32_ps(x);
}

static inline vd vd_zero(void)
{
    return (vd){_mm256_setzero_pd(), _mm256_setzero_pd()};
}

/* sum + x, in double precision */
static inline vd vd_add_float(vd sum, vf x)
{
    sum.low = _mm256_add_pd(sum.low, _mm256_cvtps_pd(_mm256_castps256_ps128(x)));
    sum.high = _mm256_add_pd(sum.high, _mm256_cvtps_pd(_mm256_extractf128_ps(x, 1)));
    return sum;
}

static inline double vd_total(vd sum)
{
    double lanes[4];
    _mm256_storeu_pd(lanes, _mm256_add_pd(sum.low, sum.high));
    return (lanes[0] + lanes[1]) + (lanes[2] + lanes[3]);
}

/* ---- the power ---------------------------------------------------------------------------- */

static const power_shape POWER_NEAR = {
    .index_bits = 3, .levels = 3, .mantissa_bits = 2, .degree = 5};
static const power_shape POWER_WIDE = {
    .index_bits = 3, .levels = 3, .mantissa_bits = 1, .degree = 7};

static inline vf vf_lookup(const float *table, vi bits, int shift)
{
    return _mm256_permutevar8x32_ps(_mm256_load_ps(table), _mm256_srli_epi32(bits, shift));
}

/* factor * s^-p by tables.h; 19 instructions in the near shape. */
static inline vf vf_power(const float_tables *t, vf s, vf factor, power_shape shape)
{
    const int shift = 23 - shape.mantissa_bits;
    vi bits = vi_bits(s);
    vf level0 = vf_lookup(t->level[0], bits, shift);
    vf level1 = vf_lookup(t->level[1], bits, shift + 3);
    vf level2 = vf_lookup(t->level[2], bits, shift + 6);
    vf reciprocal = vf_lookup(t->reciprocal, bits, shift);
    vf mantissa = vi_as_float(vi_and(bits, vi_set(0x007FFFFF)));
    mantissa = _mm256_or_ps(mantissa, vf_set(1));
    vf f = _mm256_fmsub_ps(mantissa, reciprocal, vf_set(1));
    vf poly = vf_load(t->poly[shape.degree]);
    for (int i = shape.degree - 1; i >= 0; i--)
        poly = vf_fma(poly, f, vf_load(t->poly[i]));
    vf scale = vf_mul(vf_mul(level0, level1), vf_mul(level2, factor));
    return vf_mul(scale, poly);
}

#endif
