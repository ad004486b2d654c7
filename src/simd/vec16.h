/* Sixteen floats at a time: AVX-512 (F, BW, DQ, VL). */
#ifndef WFRE_SRC_SIMD_VEC16_H
#define WFRE_SRC_SIMD_VEC16_H

enum { LANES = 16 };

#include "simd/vec.h"

#define NATIVE(name) _mm512_##name
#include "simd/native.h"

INLINE vf vf_reciprocal(vf x)
{
    return _mm512_rcp14_ps(x);
}

INLINE vf vf_gather(const float *p, int stride)
{
    const vi lane = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    return _mm512_i32gather_ps((__m512i)(lane * vi_set((uint32_t)stride)), p, 4);
}

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

INLINE vf vf_choose(vs mask, vf x, vf y)
{
    return (vf)((mask & (vs)x) | (~mask & (vs)y));
}

INLINE vs vs_dot_pairs(vw a, vw b)
{
    return (vs)_mm512_madd_epi16((__m512i)a, (__m512i)b);
}

INLINE void vs_store_bytes(int8_t *p, const vs *a)
{
    for (int k = 0; k < 4; k++)
        _mm_storeu_si128((__m128i_u *)(p + k * LANES), _mm512_cvtepi32_epi8((__m512i)a[k]));
}

INLINE vf vf_load_part(const float *p, size_t count)
{
    return _mm512_maskz_loadu_ps((__mmask16)((1u << count) - 1), p);
}

INLINE void vf_store_part(float *p, vf a, size_t count)
{
    _mm512_mask_storeu_ps(p, (__mmask16)((1u << count) - 1), a);
}

#endif
