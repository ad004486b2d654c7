/* The vectors for kernels that are one source built once per instruction set.
 *
 *   WFRE_LANES 8   AVX2 and FMA
 *   WFRE_LANES 16  AVX-512; without its flags the same lanes in plain C
 *
 * Arithmetic uses the compiler's vector operators; what they lack is in vec.h and below.
 * KERNEL(name) gives each build its own symbols. */
#ifndef WFRE_SRC_SIMD_SIMD_H
#define WFRE_SRC_SIMD_SIMD_H

#if WFRE_LANES == 8
#include "simd/vec8.h"
#define KERNEL(name) name##_avx2
#define SIMD_ISA WFRE_ISA_AVX2
#elif defined(__AVX512F__)
#include "simd/vec16.h"
#define KERNEL(name) name##_avx512
#define SIMD_ISA WFRE_ISA_AVX512
#else
#include "simd/emulated.h"
#define KERNEL(name) name##_emulated
#define SIMD_ISA WFRE_ISA_AVX512
#endif

/* The vf_nearest whole number of |x| < 2^22, as a float and as an integer: adding 1.5 * 2^23 leaves
 * it in the low bits of the sum. */
INLINE vf vf_nearest(vf x, vs *whole)
{
    const vf shifter = vf_set(12582912.0f);
    vf shifted = x + shifter;
    *whole = (vs)shifted - (vs)shifter;
    return shifted - shifter;
}

/* To the vf_nearest bfloat16, ties to even, as a float32; NaN stays NaN. */
INLINE vf vf_round_to_bf16(vf a)
{
    vi bits = (vi)a;
    vi rounded = (bits + 0x7FFFu + (bits >> 16 & 1u)) & 0xFFFF0000u;
    return vf_choose(a == a, (vf)rounded, (vf)(bits | 0x400000u));
}

/* Always in the same order: halves onto each other, then lane 0 + 1. */
INLINE float vf_total(vf a)
{
    float lanes[WFRE_LANES];
    vf_write(lanes, a);
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

/* ---- sums of lanes --------------------------------------------------------------------------- */

typedef float four __attribute__((vector_size(16)));

INLINE eight vf_fold(vf a)
{
#if WFRE_LANES == 16
    return __builtin_shufflevector(a, a, 0, 1, 2, 3, 4, 5, 6, 7) +
           __builtin_shufflevector(a, a, 8, 9, 10, 11, 12, 13, 14, 15);
#else
    return a;
#endif
}

/* The sums of the lanes of four vectors: neighbours are added, then pairs, then halves. */
INLINE four vf_totals(const vf *v)
{
    eight a = vf_fold(v[0]), b = vf_fold(v[1]), c = vf_fold(v[2]), d = vf_fold(v[3]);
    eight ab = __builtin_shufflevector(a, b, 0, 8, 2, 10, 4, 12, 6, 14) +
               __builtin_shufflevector(a, b, 1, 9, 3, 11, 5, 13, 7, 15);
    eight cd = __builtin_shufflevector(c, d, 0, 8, 2, 10, 4, 12, 6, 14) +
               __builtin_shufflevector(c, d, 1, 9, 3, 11, 5, 13, 7, 15);
    eight abcd = __builtin_shufflevector(ab, cd, 0, 1, 8, 9, 4, 5, 12, 13) +
                 __builtin_shufflevector(ab, cd, 2, 3, 10, 11, 6, 7, 14, 15);
    return __builtin_shufflevector(abcd, abcd, 0, 1, 2, 3) +
           __builtin_shufflevector(abcd, abcd, 4, 5, 6, 7);
}

#endif
