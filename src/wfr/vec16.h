/* Sixteen floats at a time: AVX-512 (F, BW, DQ, VL). The same functions as vec8.h. */
#ifndef WFRE_SRC_WFR_VEC16_H
#define WFRE_SRC_WFR_VEC16_H

#include <immintrin.h>

#include "wfr/inline.h"
#include "wfr/tables.h"

enum { LANES = 16, STREAMS = 2 };
typedef __m512 vf;  /* LANES floats */
typedef __m512i vi; /* their bits */
typedef struct vd {
    __m512d low, high;
} vd; /* LANES doubles */

INLINE vf vf_set(float x)
{
    return _mm512_set1_ps(x);
}

INLINE vf vf_load(const float *p)
{
    return _mm512_load_ps(p);
}

INLINE void vf_store(float *p, vf x)
{
    _mm512_store_ps(p, x);
}

INLINE vf vf_add(vf x, vf y)
{
    return _mm512_add_ps(x, y);
}

INLINE vf vf_sub(vf x, vf y)
{
    return _mm512_sub_ps(x, y);
}

INLINE vf vf_mul(vf x, vf y)
{
    return _mm512_mul_ps(x, y);
}

INLINE vf vf_div(vf x, vf y)
{
    return _mm512_div_ps(x, y);
}

INLINE vf vf_max(vf x, vf y)
{
    return _mm512_max_ps(x, y);
}

INLINE vf vf_min(vf x, vf y)
{
    return _mm512_min_ps(x, y);
}

INLINE vf vf_fma(vf x, vf y, vf z)
{
    return _mm512_fmadd_ps(x, y, z);
}

INLINE vf vf_fnma(vf x, vf y, vf z)
{
    return _mm512_fnmadd_ps(x, y, z);
}

INLINE vf vf_gather(const float *p, int stride)
{
    const vi steps = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    return _mm512_i32gather_ps(_mm512_mullo_epi32(steps, _mm512_set1_epi32(stride)), p, 4);
}

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
    return _mm512_castps_si512(x);
}

INLINE vf vi_as_float(vi x)
{
    return _mm512_castsi512_ps(x);
}

INLINE vi vi_set(int x)
{
    return _mm512_set1_epi32(x);
}

INLINE vi vi_add(vi x, vi y)
{
    return _mm512_add_epi32(x, y);
}

INLINE vi vi_sub(vi x, vi y)
{
    return _mm512_sub_epi32(x, y);
}

INLINE vi vi_and(vi x, vi y)
{
    return _mm512_and_si512(x, y);
}

INLINE vi vi_shift_left(vi x, unsigned count)
{
    return _mm512_slli_epi32(x, count);
}

INLINE vf vi_to_float(vi x)
{
    return _mm512_cvtepi32_ps(x);
}

INLINE vd vd_zero(void)
{
    return (vd){_mm512_setzero_pd(), _mm512_setzero_pd()};
}

INLINE vd vd_add_float(vd sum, vf x)
{
    sum.low = _mm512_add_pd(sum.low, _mm512_cvtps_pd(_mm512_castps512_ps256(x)));
    sum.high = _mm512_add_pd(sum.high, _mm512_cvtps_pd(_mm512_extractf32x8_ps(x, 1)));
    return sum;
}

INLINE vd vd_add_masked(vd sum, vd x, vf mask)
{
    __m512d low = _mm512_cvtps_pd(_mm512_castps512_ps256(mask));
    __m512d high = _mm512_cvtps_pd(_mm512_extractf32x8_ps(mask, 1));
    return (vd){_mm512_fmadd_pd(x.low, low, sum.low), _mm512_fmadd_pd(x.high, high, sum.high)};
}

INLINE double vd_total(vd sum)
{
    return _mm512_reduce_add_pd(_mm512_add_pd(sum.low, sum.high));
}

/* ---- half as many doubles ------------------------------------------------------------ */

typedef __m512d wd; /* LANES / 2 doubles */
typedef __m512i wi; /* their bits */

INLINE wd wd_set(double x)
{
    return _mm512_set1_pd(x);
}

INLINE wd wd_load_float(const float *x)
{
    return _mm512_cvtps_pd(_mm256_loadu_ps(x));
}

INLINE void wd_store_float(float *to, wd x)
{
    _mm256_storeu_ps(to, _mm512_cvtpd_ps(x));
}

INLINE wd wd_add(wd x, wd y)
{
    return _mm512_add_pd(x, y);
}

INLINE wd wd_sub(wd x, wd y)
{
    return _mm512_sub_pd(x, y);
}

INLINE wd wd_mul(wd x, wd y)
{
    return _mm512_mul_pd(x, y);
}

INLINE wd wd_div(wd x, wd y)
{
    return _mm512_div_pd(x, y);
}

INLINE wd wd_fma(wd x, wd y, wd z)
{
    return _mm512_fmadd_pd(x, y, z);
}

INLINE wd wd_fnma(wd x, wd y, wd z)
{
    return _mm512_fnmadd_pd(x, y, z);
}

INLINE wi wi_bits(wd x)
{
    return _mm512_castpd_si512(x);
}

INLINE wd wi_as_double(wi x)
{
    return _mm512_castsi512_pd(x);
}

INLINE wi wi_set(int64_t x)
{
    return _mm512_set1_epi64(x);
}

INLINE wi wi_add(wi x, wi y)
{
    return _mm512_add_epi64(x, y);
}

INLINE wi wi_sub(wi x, wi y)
{
    return _mm512_sub_epi64(x, y);
}

INLINE wi wi_and(wi x, wi y)
{
    return _mm512_and_si512(x, y);
}

INLINE wi wi_shift_left(wi x, unsigned count)
{
    return _mm512_slli_epi64(x, count);
}

INLINE wi wi_shift_right(wi x, unsigned count)
{
    return _mm512_srli_epi64(x, count);
}

INLINE double wd_total(wd x)
{
    return _mm512_reduce_add_pd(x);
}

/* ---- what the power needs (power16.h) ------------------------------------------------------- */

/* Entry bits >> shift, modulo 32, of a table of 32. */
INLINE vf vf_lookup32(const float *table, vi bits, unsigned shift)
{
    return _mm512_permutex2var_ps(vf_load(table), _mm512_srli_epi32(bits, shift),
                                  vf_load(table + 16));
}

INLINE vf vf_lookup16(const float *table, vi bits, unsigned shift)
{
    return _mm512_permutexvar_ps(_mm512_srli_epi32(bits, shift), vf_load(table));
}

/* m in [1, 2) of s = 2^e m */
INLINE vf vf_mantissa(vf s)
{
    const vi mask = _mm512_set1_epi32(0x007FFFFF), one = vi_bits(vf_set(1));
    return vi_as_float(_mm512_ternarylogic_epi32(vi_bits(s), mask, one, 0xEA)); /* s & mask | one */
}

INLINE vf vf_fms(vf x, vf y, vf z)
{
    return _mm512_fmsub_ps(x, y, z);
}

#include "wfr/power16.h"

#endif
