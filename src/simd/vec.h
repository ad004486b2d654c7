/* Vectors of LANES floats and of half as many doubles: what is the same for every width. vec8.h,
 * vec16.h and emulated.h define LANES, include this file, and add what needs instructions of their
 * own:
 *
 *     vf_fma(x, y, z)        x y + z, rounded once
 *     vf_fms(x, y, z)        x y - z
 *     vf_fnma(x, y, z)       z - x y; this and the first for doubles too, wd_*
 *     vf_max(x, y), vf_min(x, y), vf_sqrt(x)
 *     vf_reciprocal(x)       1 / x to 4e-4 of it
 *     vf_gather(p, stride)   p[0], p[stride], p[2 stride], ...
 *     vf_choose(mask, x, y)  x where the mask's lane is all ones, y where it is zero
 *     vf_load_part(p, n)     the first n lanes, zeros after them; touches no memory beyond
 *     vf_store_part(p, x, n)
 *     vs_dot_pairs(a, b)     lane i: a[2i] b[2i] + a[2i+1] b[2i+1]
 *     vs_store_bytes(p, a)   the lanes of four vectors, all within -128 .. 127, as bytes
 *     vf_lookup*(...)        entries of small tables
 *
 * emulated.h has what kernels of one source for all widths use (simd.h). */
#ifndef WFRE_SRC_SIMD_VEC_H
#define WFRE_SRC_SIMD_VEC_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "simd/inline.h"

enum { WIDE_LANES = LANES / 2 };

#define VECTOR(bytes) __attribute__((vector_size(bytes), may_alias))
typedef float vf VECTOR(4 * LANES);         /* LANES floats */
typedef uint32_t vi VECTOR(4 * LANES);      /* their bits */
typedef int32_t vs VECTOR(4 * LANES);       /* the same as signed numbers */
typedef int16_t vw VECTOR(4 * LANES);       /* twice as many of half the size */
typedef float vh VECTOR(4 * WIDE_LANES);    /* half of them */
typedef double wd VECTOR(8 * WIDE_LANES);   /* WIDE_LANES doubles */
typedef uint64_t wi VECTOR(8 * WIDE_LANES); /* their bits */
typedef struct vd {
    wd part[2];
} vd; /* LANES doubles */

#if defined(__x86_64__)
/* Results too small for a normal number become 0, in the calling thread until restored. */
INLINE unsigned flush_denormals(void)
{
    unsigned state = _mm_getcsr();
    _mm_setcsr(state | 0x8040);
    return state;
}

INLINE void restore_denormals(unsigned state)
{
    _mm_setcsr(state);
}
#endif

/* ---- floats ------------------------------------------------------------------------------- */

INLINE vf vf_set(float x)
{
    return x - (vf){0}; /* not a sum: -0 + 0 is 0 */
}

/* p is aligned. */
INLINE vf vf_load(const float *p)
{
    return *(const vf *)(const void *)p;
}

INLINE void vf_store(float *p, vf x)
{
    *(vf *)(void *)p = x;
}

/* The same wherever p lies. */
typedef float vf_loose __attribute__((vector_size(4 * LANES), aligned(4), may_alias));

INLINE vf vf_read(const float *p)
{
    return *(const vf_loose *)p;
}

INLINE void vf_write(float *p, vf x)
{
    *(vf_loose *)p = x;
}

INLINE vi vi_set(uint32_t x)
{
    return x - (vi){0};
}

/* The value of signed integers. */
INLINE vf vi_to_float(vi x)
{
    return __builtin_convertvector((vs)x, vf);
}

/* ---- doubles ------------------------------------------------------------------------------ */

INLINE wd wd_set(double x)
{
    return x - (wd){0};
}

INLINE wi wi_set(uint64_t x)
{
    return x - (wi){0};
}

INLINE wd wd_load_float(const float *p)
{
    vh x;
    memcpy(&x, p, sizeof x);
    return __builtin_convertvector(x, wd);
}

INLINE void wd_store_float(float *p, wd x)
{
    vh rounded = __builtin_convertvector(x, vh);
    memcpy(p, &rounded, sizeof rounded);
}

INLINE double wd_total(wd x)
{
    double total = 0;
    for (int i = 0; i < WIDE_LANES; i++)
        total += x[i];
    return total;
}

INLINE vd vd_widen(vf x)
{
    float lanes[LANES];
    memcpy(lanes, &x, sizeof lanes);
    return (vd){{wd_load_float(lanes), wd_load_float(lanes + WIDE_LANES)}};
}

#endif
