/* Sixteen floats at a time: AVX-512 (F, BW, DQ, VL). */
#ifndef WFRE_SRC_WFR_VEC16_H
#define WFRE_SRC_WFR_VEC16_H

enum { LANES = 16 };

#include "wfr/vec.h"

#define NATIVE(name) _mm512_##name
#include "wfr/native.h"

INLINE vf vf_reciprocal(vf x)
{
    return _mm512_rcp14_ps(x);
}

INLINE vf vf_gather(const float *p, int stride)
{
    const vi lane = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    return _mm512_i32gather_ps((__m512i)(lane * vi_set((uint32_t)stride)), p, 4);
}

/* ---- what the power needs (power16.h) ----------------------------------------------------- */

/* Entry bits >> shift, modulo 32, of a table of 32. */
INLINE vf vf_lookup32(const float *table, vi bits, int shift)
{
    return _mm512_permutex2var_ps(vf_load(table), (__m512i)(bits >> shift), vf_load(table + 16));
}

/* Modulo 16, of a table of 16. */
INLINE vf vf_lookup16(const float *table, vi bits, int shift)
{
    return _mm512_permutexvar_ps((__m512i)(bits >> shift), vf_load(table));
}

#include "wfr/power16.h"

#endif
