/* The functions of vec16.h on AVX2, two registers for one: so that the 16-lane kernels can be
 * tested on machines without AVX-512. Lookups go through memory. */
#ifndef WFRE_TESTS_VEC16_EMULATED_H
#define WFRE_TESTS_VEC16_EMULATED_H

enum { LANES = 16 };

#include "simd/vec.h"

typedef union float_halves {
    vf whole;
    __m256 half[2];
} float_halves;

typedef union double_halves {
    wd whole;
    __m256d half[2];
} double_halves;

INLINE vf vf_fma(vf x, vf y, vf z)
{
    float_halves a = {x}, b = {y}, c = {z};
    for (int i = 0; i < 2; i++)
        c.half[i] = _mm256_fmadd_ps(a.half[i], b.half[i], c.half[i]);
    return c.whole;
}

INLINE vf vf_fms(vf x, vf y, vf z)
{
    return vf_fma(x, y, -z);
}

INLINE vf vf_fnma(vf x, vf y, vf z)
{
    return vf_fma(-x, y, z);
}

INLINE wd wd_fma(wd x, wd y, wd z)
{
    double_halves a = {x}, b = {y}, c = {z};
    for (int i = 0; i < 2; i++)
        c.half[i] = _mm256_fmadd_pd(a.half[i], b.half[i], c.half[i]);
    return c.whole;
}

INLINE wd wd_fnma(wd x, wd y, wd z)
{
    return wd_fma(-x, y, z);
}

INLINE vf vf_max(vf x, vf y)
{
    vi first = (vi)(x > y);
    return (vf)(((vi)x & first) | ((vi)y & ~first));
}

INLINE vf vf_min(vf x, vf y)
{
    return -vf_max(-x, -y);
}

INLINE vf vf_reciprocal(vf x)
{
    float_halves a = {x};
    for (int i = 0; i < 2; i++)
        a.half[i] = _mm256_rcp_ps(a.half[i]);
    return a.whole;
}

INLINE vf vf_gather(const float *p, int stride)
{
    vf lanes;
    for (int i = 0; i < LANES; i++)
        lanes[i] = p[i * stride];
    return lanes;
}

INLINE vf lookup(const float *table, vi bits, int shift, uint32_t mask)
{
    vf entries;
    for (int i = 0; i < LANES; i++)
        entries[i] = table[bits[i] >> shift & mask];
    return entries;
}

INLINE vf vf_lookup32(const float *table, vi bits, int shift)
{
    return lookup(table, bits, shift, 31);
}

INLINE vf vf_lookup16(const float *table, vi bits, int shift)
{
    return lookup(table, bits, shift, 15);
}

#include "wfr/power16.h"

#endif
