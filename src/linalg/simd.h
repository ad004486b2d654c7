/* Vectors of WFRE_LANES floats, for the kernels that are one source built once per instruction set.
 *
 *   WFRE_LANES 8   AVX2 and FMA
 *   WFRE_LANES 16  AVX-512; without its flags the same lanes in plain C, with which the tests run
 *                  the 16-lane code on any CPU
 *
 * Arithmetic uses the compiler's vector operators; what they lack is below. KERNEL(name) gives each
 * build its own symbols. */
#ifndef WFRE_SRC_LINALG_SIMD_H
#define WFRE_SRC_LINALG_SIMD_H

#include <stddef.h>
#include <stdint.h>

#if WFRE_LANES == 8 || defined(__AVX512F__)
#define INLINE static inline __attribute__((always_inline))
#else
#define INLINE static inline /* all of it in one function would take gigabytes to compile */
#endif
enum { LANES = WFRE_LANES };
typedef float vec __attribute__((vector_size(4 * WFRE_LANES)));
typedef int32_t ivec __attribute__((vector_size(4 * WFRE_LANES)));
typedef uint32_t uvec __attribute__((vector_size(4 * WFRE_LANES)));
typedef float loose_vec __attribute__((vector_size(4 * WFRE_LANES), aligned(4), may_alias));
typedef int16_t words __attribute__((vector_size(4 * WFRE_LANES)));

#if WFRE_LANES == 8
#include <immintrin.h>
#define KERNEL(name) name##_avx2
#define SIMD_ISA WFRE_ISA_AVX2

INLINE vec muladd(vec a, vec b, vec c) /* a b + c */
{
    return _mm256_fmadd_ps(a, b, c);
}

INLINE vec minimum(vec a, vec b)
{
    return _mm256_min_ps(a, b);
}

INLINE vec maximum(vec a, vec b)
{
    return _mm256_max_ps(a, b);
}

INLINE vec square_root(vec a)
{
    return _mm256_sqrt_ps(a);
}

/* Lane i: a[2i] b[2i] + a[2i+1] b[2i+1] */
INLINE ivec multiply_pairs(words a, words b)
{
    return (ivec)_mm256_madd_epi16((__m256i)a, (__m256i)b);
}

/* The lanes of four vectors, all within -128 .. 127, as bytes. */
INLINE void store_bytes(int8_t *p, const ivec *a)
{
    __m256i low = _mm256_packs_epi32((__m256i)a[0], (__m256i)a[1]);
    __m256i high = _mm256_packs_epi32((__m256i)a[2], (__m256i)a[3]);
    __m256i order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
    __m256i all = _mm256_permutevar8x32_epi32(_mm256_packs_epi16(low, high), order);
    _mm256_storeu_si256((__m256i_u *)p, all);
}

INLINE ivec part_mask(size_t count)
{
    return (ivec)_mm256_cmpgt_epi32(_mm256_set1_epi32((int)count),
                                    _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}

/* The first `count` lanes, zeros after them; touches no memory beyond. */
INLINE vec load_part(const float *p, size_t count)
{
    return _mm256_maskload_ps(p, (__m256i)part_mask(count));
}

INLINE void store_part(float *p, vec a, size_t count)
{
    _mm256_maskstore_ps(p, (__m256i)part_mask(count), a);
}

#elif defined(__AVX512F__)
#include <immintrin.h>
#define KERNEL(name) name##_avx512
#define SIMD_ISA WFRE_ISA_AVX512

INLINE vec muladd(vec a, vec b, vec c)
{
    return _mm512_fmadd_ps(a, b, c);
}

INLINE vec minimum(vec a, vec b)
{
    return _mm512_min_ps(a, b);
}

INLINE vec maximum(vec a, vec b)
{
    return _mm512_max_ps(a, b);
}

INLINE vec square_root(vec a)
{
    return _mm512_sqrt_ps(a);
}

INLINE ivec multiply_pairs(words a, words b)
{
    return (ivec)_mm512_madd_epi16((__m512i)a, (__m512i)b);
}

INLINE void store_bytes(int8_t *p, const ivec *a)
{
    for (int k = 0; k < 4; k++)
        _mm_storeu_si128((__m128i_u *)(p + k * LANES), _mm512_cvtepi32_epi8((__m512i)a[k]));
}

INLINE vec load_part(const float *p, size_t count)
{
    return _mm512_maskz_loadu_ps((__mmask16)((1u << count) - 1), p);
}

INLINE void store_part(float *p, vec a, size_t count)
{
    _mm512_mask_storeu_ps(p, (__mmask16)((1u << count) - 1), a);
}

#else
#include <math.h>
#define KERNEL(name) name##_emulated
#define SIMD_ISA WFRE_ISA_AVX512

INLINE vec muladd(vec a, vec b, vec c)
{
    for (int i = 0; i < LANES; i++)
        c[i] = fmaf(a[i], b[i], c[i]);
    return c;
}

INLINE vec minimum(vec a, vec b)
{
    for (int i = 0; i < LANES; i++)
        a[i] = a[i] < b[i] ? a[i] : b[i];
    return a;
}

INLINE vec maximum(vec a, vec b)
{
    for (int i = 0; i < LANES; i++)
        a[i] = a[i] > b[i] ? a[i] : b[i];
    return a;
}

INLINE vec square_root(vec a)
{
    for (int i = 0; i < LANES; i++)
        a[i] = sqrtf(a[i]);
    return a;
}

INLINE ivec multiply_pairs(words a, words b)
{
    ivec sums;
    for (int i = 0; i < LANES; i++)
        sums[i] = a[2 * i] * b[2 * i] + a[2 * i + 1] * b[2 * i + 1];
    return sums;
}

INLINE void store_bytes(int8_t *p, const ivec *a)
{
    for (int i = 0; i < 4 * LANES; i++)
        p[i] = (int8_t)a[i / LANES][i % LANES];
}

INLINE vec load_part(const float *p, size_t count)
{
    vec a = {0};
    for (size_t i = 0; i < count; i++)
        a[i] = p[i];
    return a;
}

INLINE void store_part(float *p, vec a, size_t count)
{
    for (size_t i = 0; i < count; i++)
        p[i] = a[i];
}
#endif

INLINE vec load(const float *p)
{
    return *(const loose_vec *)p;
}

INLINE void store(float *p, vec a)
{
    *(loose_vec *)p = a;
}

INLINE vec splat(float a)
{
    return a - (vec){0};
}

/* a where the mask's lane is all ones, b where it is zero. */
INLINE vec choose(ivec mask, vec a, vec b)
{
#if WFRE_LANES == 8
    return _mm256_blendv_ps(b, a, (vec)mask);
#else
    return (vec)((mask & (ivec)a) | (~mask & (ivec)b));
#endif
}

/* The nearest whole number of |x| < 2^22, as a float and as an integer: adding 1.5 * 2^23 leaves it
 * in the low bits of the sum. */
INLINE vec nearest(vec x, ivec *whole)
{
    const vec shifter = splat(12582912.0f);
    vec shifted = x + shifter;
    *whole = (ivec)shifted - (ivec)shifter;
    return shifted - shifter;
}

/* To the nearest bfloat16, ties to even, as a float32; NaN stays NaN. */
INLINE vec round_to_bf16(vec a)
{
    uvec bits = (uvec)a;
    uvec rounded = (bits + 0x7FFFu + (bits >> 16 & 1u)) & 0xFFFF0000u;
    return choose(a == a, (vec)rounded, (vec)(bits | 0x400000u));
}

/* Always in the same order: halves onto each other, then lane 0 + 1. */
INLINE float lane_sum(vec a)
{
    float lanes[WFRE_LANES];
    store(lanes, a);
    for (int half = LANES / 2; half > 0; half /= 2)
        for (int i = 0; i < half; i++)
            lanes[i] += lanes[i + half];
    return lanes[0];
}

/* ---- transposition ------------------------------------------------------------------------ */

typedef float eight __attribute__((vector_size(32)));
typedef float loose_eight __attribute__((vector_size(32), aligned(4), may_alias));

/* to[p * width + i] = from[i * ld + p] for p < 8 and i < rows <= 8, and 0 for the i from there up
 * to 8. Three rounds of exchanges: of single numbers, of pairs and of halves. */
INLINE void transpose8(const float *from, size_t ld, size_t rows, float *to, size_t width)
{
    eight r[8] = {0}, s[8];
#pragma GCC unroll 8
    for (size_t i = 0; i < rows; i++)
        r[i] = *(const loose_eight *)(from + i * ld);
#pragma GCC unroll 4
    for (size_t i = 0; i < 8; i += 2) {
        s[i] = __builtin_shufflevector(r[i], r[i + 1], 0, 8, 2, 10, 4, 12, 6, 14);
        s[i + 1] = __builtin_shufflevector(r[i], r[i + 1], 1, 9, 3, 11, 5, 13, 7, 15);
    }
#pragma GCC unroll 4
    for (size_t j = 0; j < 4; j++) {
        size_t i = j + (j & 2); /* 0, 1, 4, 5 */
        r[i] = __builtin_shufflevector(s[i], s[i + 2], 0, 1, 8, 9, 4, 5, 12, 13);
        r[i + 2] = __builtin_shufflevector(s[i], s[i + 2], 2, 3, 10, 11, 6, 7, 14, 15);
    }
#pragma GCC unroll 8
    for (size_t p = 0; p < 8; p++) {
        eight a = r[p & 3], b = r[(p & 3) + 4];
        *(loose_eight *)(to + p * width) =
            p < 4 ? __builtin_shufflevector(a, b, 0, 1, 2, 3, 8, 9, 10, 11)
                  : __builtin_shufflevector(a, b, 4, 5, 6, 7, 12, 13, 14, 15);
    }
}

#endif
