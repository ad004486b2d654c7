/* The power of the 8-lane kernels, by tables of 8 entries; see tables.h. */
#ifndef WFRE_SRC_WFR_POWER8_H
#define WFRE_SRC_WFR_POWER8_H

#include "simd/vec8.h"
#include "wfr/tables.h"

static const power_shape POWER_NEAR = {
    .index_bits = 3, .levels = 3, .mantissa_bits = 2, .degree = 5};
static const power_shape POWER_WIDE = {
    .index_bits = 3, .levels = 3, .mantissa_bits = 1, .degree = 7};

/* factor * s^-p; 19 instructions in the near shape. */
INLINE vf vf_power(const float_tables *t, const float poly[][MOST_LANES], vf s, vf factor,
                   power_shape shape)
{
    const int shift = 23 - shape.mantissa_bits;
    vi bits = (vi)s;
    vf level0 = vf_lookup(t->level[0], bits, shift);
    vf level1 = vf_lookup(t->level[1], bits, shift + 3);
    vf level2 = vf_lookup(t->level[2], bits, shift + 6);
    /* It has only 4 different entries, for which the permutation within 128 bits is cheaper. */
    vf reciprocal = _mm256_permutevar_ps(vf_load(t->reciprocal), (__m256i)(bits >> shift));
    /* In float instructions, so that the 1 is shared with the next line. */
    vf mantissa = _mm256_or_ps(_mm256_and_ps(s, (vf)vi_set(0x007FFFFF)), vf_set(1));
    vf f = vf_fms(mantissa, reciprocal, vf_set(1));
    vf sum = vf_load(poly[shape.degree]);
    UNROLL
    for (int i = shape.degree - 1; i >= 0; i--)
        sum = vf_fma(sum, f, vf_load(poly[i]));
    return (level0 * level1) * (level2 * factor) * sum;
}

#endif
