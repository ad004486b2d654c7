/* The power of the 16-lane kernels, by tables of 32 entries; see tables.h. Behind simd/vec16.h, or
 * what the tests take instead. */
#ifndef WFRE_SRC_WFR_POWER16_H
#define WFRE_SRC_WFR_POWER16_H

#include "wfr/tables.h"

static const power_shape POWER_NEAR = {
    .index_bits = 5, .levels = 2, .mantissa_bits = 3, .degree = 4};
static const power_shape POWER_WIDE = {
    .index_bits = 5, .levels = 2, .mantissa_bits = 2, .degree = 5};

/* factor * s^-p; 14 instructions in the near shape. */
INLINE vf vf_power(const float_tables *t, const float poly[][MOST_LANES], vf s, vf factor,
                   power_shape shape)
{
    const int shift = 23 - shape.mantissa_bits;
    vi bits = (vi)s;
    vf level0 = vf_lookup32(t->level[0], bits, shift);
    vf level1 = vf_lookup32(t->level[1], bits, shift + 5);
    vf reciprocal = vf_lookup16(t->reciprocal, bits, shift);
    vf mantissa = (vf)((bits & vi_set(0x007FFFFF)) | (vi)vf_set(1));
    vf f = vf_fms(mantissa, reciprocal, vf_set(1));
    vf sum = vf_load(poly[shape.degree]);
    UNROLL
    for (int i = shape.degree - 1; i >= 0; i--)
        sum = vf_fma(sum, f, vf_load(poly[i]));
    return (level0 * level1) * (factor * sum);
}

#endif
