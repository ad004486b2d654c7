/* Eight floats at a time: AVX2 with FMA. */
#ifndef WFRE_SRC_SIMD_VEC8_H
#define WFRE_SRC_SIMD_VEC8_H

enum { LANES = 8 };

#include "simd/vec.h"

#define NATIVE(name) _mm256_##name
#include "simd/native.h"

INLINE vf vf_reciprocal(vf x)
{
    return _mm256_rcp_ps(x);
}

INLINE vf vf_gather(const float *p, int stride)
{
    return (vf){p[0],          p[stride],     p[2 * stride], p[3 * stride],
                p[4 * stride], p[5 * stride], p[6 * stride], p[7 * stride]};
}

INLINE vf vf_choose(vs mask, vf x, vf y)
{
    return _mm256_blendv_ps(y, x, (vf)mask);
}

/* Entry bits >> shift, modulo 8, of a table of 8. */
INLINE vf vf_lookup(const float *table, vi bits, int shift)
{
    return _mm256_permutevar8x32_ps(vf_load(table), (__m256i)(bits >> shift));
}

INLINE vs vs_dot_pairs(vw a, vw b)
{
    return (vs)_mm256_madd_epi16((__m256i)a, (__m256i)b);
}

INLINE void vs_store_bytes(int8_t *p, const vs *a)
{
    __m256i low = _mm256_packs_epi32((__m256i)a[0], (__m256i)a[1]);
    __m256i high = _mm256_packs_epi32((__m256i)a[2], (__m256i)a[3]);
    __m256i order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
    __m256i all = _mm256_permutevar8x32_epi32(_mm256_packs_epi16(low, high), order);
    _mm256_storeu_si256((__m256i_u *)p, all);
}

INLINE vs vs_part_mask(size_t count)
{
    return (vs)_mm256_cmpgt_epi32(_mm256_set1_epi32((int)count),
                                  _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}

INLINE vf vf_load_part(const float *p, size_t count)
{
    return _mm256_maskload_ps(p, (__m256i)vs_part_mask(count));
}

INLINE void vf_store_part(float *p, vf a, size_t count)
{
    _mm256_maskstore_ps(p, (__m256i)vs_part_mask(count), a);
}

#endif
