/* Vectors of LANES floats and of half as many doubles: what is the same for every width. vec8.h and
 * vec16.h define LANES, include this file, and add what needs instructions of their own:
 *
 *     vf_fma(x, y, z)        x y + z, rounded once
 *     vf_fms(x, y, z)        x y - z
 *     vf_fnma(x, y, z)       z - x y; this and the first for doubles too, wd_*
 *     vf_max(x, y), vf_min(x, y)
 *     vf_reciprocal(x)       1 / x to 4e-4 of it
 *     vf_gather(p, stride)   p[0], p[stride], p[2 stride], ...
 *     vf_power(...)          factor * s^-p by tables.h, in the shapes POWER_NEAR and POWER_WIDE
 */
#ifndef WFRE_SRC_WFR_VEC_H
#define WFRE_SRC_WFR_VEC_H

#include <immintrin.h>
#include <string.h>

#include "wfr/inline.h"
#include "wfr/tables.h"

/* Groups of lanes that are solved at the same time. */
enum { STREAMS = 2, WIDE_LANES = LANES / 2 };

#define VECTOR(bytes) __attribute__((vector_size(bytes), may_alias))
typedef float vf VECTOR(4 * LANES);         /* LANES floats */
typedef uint32_t vi VECTOR(4 * LANES);      /* their bits */
typedef float vh VECTOR(4 * WIDE_LANES);    /* half of them */
typedef double wd VECTOR(8 * WIDE_LANES);   /* WIDE_LANES doubles */
typedef uint64_t wi VECTOR(8 * WIDE_LANES); /* their bits */
typedef struct vd {
    wd part[2];
} vd; /* LANES doubles */

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

INLINE vi vi_set(uint32_t x)
{
    return x - (vi){0};
}

/* The value of signed integers. */
INLINE vf vi_to_float(vi x)
{
    typedef int32_t vs VECTOR(4 * LANES);
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
