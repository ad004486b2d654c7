/* Sixteen floats at a time in plain C, with which the tests run the 16-lane code on any CPU. */
#ifndef WFRE_SRC_SIMD_EMULATED_H
#define WFRE_SRC_SIMD_EMULATED_H

#include <math.h>

#define WFRE_PLAIN_LANES
enum { LANES = 16 };

#include "simd/vec.h"

INLINE vf vf_choose(vs mask, vf x, vf y)
{
    return (vf)((mask & (vs)x) | (~mask & (vs)y));
}

INLINE vf vf_fma(vf a, vf b, vf c)
{
    for (int i = 0; i < LANES; i++)
        c[i] = fmaf(a[i], b[i], c[i]);
    return c;
}

INLINE vf vf_min(vf a, vf b)
{
    for (int i = 0; i < LANES; i++)
        a[i] = a[i] < b[i] ? a[i] : b[i];
    return a;
}

INLINE vf vf_max(vf a, vf b)
{
    for (int i = 0; i < LANES; i++)
        a[i] = a[i] > b[i] ? a[i] : b[i];
    return a;
}

INLINE vf vf_sqrt(vf a)
{
    for (int i = 0; i < LANES; i++)
        a[i] = sqrtf(a[i]);
    return a;
}

INLINE vs vs_dot_pairs(vw a, vw b)
{
    vs sums;
    for (int i = 0; i < LANES; i++)
        sums[i] = a[2 * i] * b[2 * i] + a[2 * i + 1] * b[2 * i + 1];
    return sums;
}

INLINE void vs_store_bytes(int8_t *p, const vs *a)
{
    for (int i = 0; i < 4 * LANES; i++)
        p[i] = (int8_t)a[i / LANES][i % LANES];
}

INLINE vf vf_load_part(const float *p, size_t count)
{
    vf a = {0};
    for (size_t i = 0; i < count; i++)
        a[i] = p[i];
    return a;
}

INLINE void vf_store_part(float *p, vf a, size_t count)
{
    for (size_t i = 0; i < count; i++)
        p[i] = a[i];
}

#endif
