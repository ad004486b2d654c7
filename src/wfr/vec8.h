/* Eight floats at a time: AVX2 with FMA. See float_kernels.h for what each function must do. */
#ifndef WFRE_SRC_WFR_VEC8_H
#define WFRE_SRC_WFR_VEC8_H

#include <immintrin.h>

#include "wfr/inline.h"
#include "wfr/tables.h"

enum { LANES = 8, STREAMS = 2 };
typedef __m256 vf;  /* LANES floats */
typedef __m256i vi; /* their bits */
typedef struct vd {
    __m256d low, high;
} vd; /* LANES doubles */

INLINE vf vf_set(float x)
{
    return _mm256_set1_ps(x);
}

INLINE vf vf_load(const float *p)
{
    return _mm256_load_ps(p);
}

INLINE void vf_store(float *p, vf x)
{
    _mm256_store_ps(p, x);
}

INLINE vf vf_add(vf x, vf y)
{
    return _mm256_add_ps(x, y);
}

INLINE vf vf_sub(vf x, vf y)
{
    return _mm256_sub_ps(x, y);
}

INLINE vf vf_mul(vf x, vf y)
{
    return _mm256_mul_ps(x, y);
}

INLINE vf vf_div(vf x, vf y)
{
    return _mm256_div_ps(x, y);
}

INLINE vf vf_fma(vf x, vf y, vf z)
{
    return _mm256_fmadd_ps(x, y, z);
}

INLINE vf vf_fnma(vf x, vf y, vf z)
{
    return _mm256_fnmadd_ps(x, y, z);
}

INLINE vf vf_max(vf x, vf y)
{
    return _mm256_max_ps(x, y);
}

INLINE vf vf_min(vf x, vf y)
{
    return _mm256_min_ps(x, y);
}

/* p[0], p[stride], p[2 stride], ... */
INLINE vf vf_gather(const float *p, int stride)
{
    return _mm256_setr_ps(p[0], p[stride], p[2 * stride], p[3 * stride], p[4 * stride],
                          p[5 * stride], p[6 * stride], p[7 * stride]);
}

/* Results too small for a normal number become 0, in the calling thread until restored. */
INLINE unsigned vf_flush_denormals(void)
{
    unsigned state = _mm_getcsr();
    _mm_setcsr(state | 0x8040);
    return state;
}

INLINE void vf_restore_denormals(unsigned state)
{
    _mm_setcsr(state);
}

INLINE vi vi_bits(vf x)
{
    return _mm256_castps_si256(x);
}

INLINE vf vi_as_float(vi x)
{
    return _mm256_castsi256_ps(x);
}

INLINE vi vi_set(int x)
{
    return _mm256_set1_epi32(x);
}

INLINE vi vi_add(vi x, vi y)
{
    return _mm256_add_epi32(x, y);
}

INLINE vi vi_sub(vi x, vi y)
{
    return _mm256_sub_epi32(x, y);
}

INLINE vi vi_and(vi x, vi y)
{
    return _mm256_and_si256(x, y);
}

INLINE vi vi_shift_left(vi x, int count)
{
    return _mm256_slli_epi32(x, count);
}

INLINE vf vi_to_float(vi x)
{
    return _mm256_cvtepi32_ps(x);
}

INLINE vd vd_zero(void)
{
    return (vd){_mm256_setzero_pd(), _mm256_setzero_pd()};
}

/* sum + x, in double precision */
INLINE vd vd_add_float(vd sum, vf x)
{
    sum.low = _mm256_add_pd(sum.low, _mm256_cvtps_pd(_mm256_castps256_ps128(x)));
    sum.high = _mm256_add_pd(sum.high, _mm256_cvtps_pd(_mm256_extractf128_ps(x, 1)));
    return sum;
}

/* sum + x where the mask is 1, sum where it is 0 */
INLINE vd vd_add_masked(vd sum, vd x, vf mask)
{
    __m256d low = _mm256_cvtps_pd(_mm256_castps256_ps128(mask));
    __m256d high = _mm256_cvtps_pd(_mm256_extractf128_ps(mask, 1));
    return (vd){_mm256_fmadd_pd(x.low, low, sum.low), _mm256_fmadd_pd(x.high, high, sum.high)};
}

INLINE double vd_total(vd sum)
{
    double lanes[4];
    _mm256_storeu_pd(lanes, _mm256_add_pd(sum.low, sum.high));
    return (lanes[0] + lanes[1]) + (lanes[2] + lanes[3]);
}

/* ---- half as many doubles ------------------------------------------------------------ */

typedef __m256d wd; /* LANES / 2 doubles */
typedef __m256i wi; /* their bits */

INLINE wd wd_set(double x)
{
    return _mm256_set1_pd(x);
}

INLINE wd wd_load_float(const float *x)
{
    return _mm256_cvtps_pd(_mm_loadu_ps(x));
}

INLINE void wd_store_float(float *to, wd x)
{
    _mm_storeu_ps(to, _mm256_cvtpd_ps(x));
}

INLINE wd wd_add(wd x, wd y)
{
    return _mm256_add_pd(x, y);
}

INLINE wd wd_sub(wd x, wd y)
{
    return _mm256_sub_pd(x, y);
}

INLINE wd wd_mul(wd x, wd y)
{
    return _mm256_mul_pd(x, y);
}

INLINE wd wd_div(wd x, wd y)
{
    return _mm256_div_pd(x, y);
}

INLINE wd wd_fma(wd x, wd y, wd z)
{
    return _mm256_fmadd_pd(x, y, z);
}

INLINE wd wd_fnma(wd x, wd y, wd z)
{
    return _mm256_fnmadd_pd(x, y, z);
}

INLINE wi wi_bits(wd x)
{
    return _mm256_castpd_si256(x);
}

INLINE wd wi_as_double(wi x)
{
    return _mm256_castsi256_pd(x);
}

INLINE wi wi_set(int64_t x)
{
    return _mm256_set1_epi64x(x);
}

INLINE wi wi_add(wi x, wi y)
{
    return _mm256_add_epi64(x, y);
}

INLINE wi wi_sub(wi x, wi y)
{
    return _mm256_sub_epi64(x, y);
}

INLINE wi wi_and(wi x, wi y)
{
    return _mm256_and_si256(x, y);
}

INLINE wi wi_shift_left(wi x, int count)
{
    return _mm256_slli_epi64(x, count);
}

INLINE wi wi_shift_right(wi x, int count)
{
    return _mm256_srli_epi64(x, count);
}

INLINE double wd_total(wd x)
{
    double lanes[4];
    _mm256_storeu_pd(lanes, x);
    return (lanes[0] + lanes[1]) + (lanes[2] + lanes[3]);
}

/* ---- the power ---------------------------------------------------------------------------- */

static const power_shape POWER_NEAR = {
    .index_bits = 3, .levels = 3, .mantissa_bits = 2, .degree = 5};
static const power_shape POWER_WIDE = {
    .index_bits = 3, .levels = 3, .mantissa_bits = 1, .degree = 7};

INLINE vf vf_lookup(const float *table, vi bits, int shift)
{
    return _mm256_permutevar8x32_ps(_mm256_load_ps(table), _mm256_srli_epi32(bits, shift));
}

/* factor * s^-p by tables.h; 19 instructions in the near shape. */
INLINE __attribute__((always_inline)) vf
vf_power(const float_tables *t, const float poly[][MOST_LANES], vf s, vf factor, power_shape shape)
{
    const int shift = 23 - shape.mantissa_bits;
    vi bits = vi_bits(s);
    vf level0 = vf_lookup(t->level[0], bits, shift);
    vf level1 = vf_lookup(t->level[1], bits, shift + 3);
    vf level2 = vf_lookup(t->level[2], bits, shift + 6);
    /* It has only 4 different entries, for which the permutation within 128 bits is cheaper. */
    vf reciprocal = _mm256_permutevar_ps(vf_load(t->reciprocal), _mm256_srli_epi32(bits, shift));
    vf mantissa = vi_as_float(vi_and(bits, vi_set(0x007FFFFF)));
    mantissa = _mm256_or_ps(mantissa, vf_set(1));
    vf f = _mm256_fmsub_ps(mantissa, reciprocal, vf_set(1));
    vf sum = vf_load(poly[shape.degree]);
    UNROLL
    for (int i = shape.degree - 1; i >= 0; i--)
        sum = vf_fma(sum, f, vf_load(poly[i]));
    vf scale = vf_mul(vf_mul(level0, level1), vf_mul(level2, factor));
    return vf_mul(scale, sum);
}

#endif
