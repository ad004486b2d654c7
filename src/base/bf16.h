/* bfloat16 is the upper half of a float32. */
#ifndef WFRE_SRC_BASE_BF16_H
#define WFRE_SRC_BASE_BF16_H

#include <stdint.h>
#include <string.h>

/* Rounds to nearest, ties to even; NaN stays NaN. */
static inline uint16_t wfre_bf16_from_float(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    if ((bits & 0x7FFFFFFFu) > 0x7F800000u)
        return (uint16_t)(bits >> 16 | 0x40u); /* a NaN whose payload was all in the lower half */
    return (uint16_t)((bits + 0x7FFFu + (bits >> 16 & 1u)) >> 16);
}

static inline float wfre_float_from_bf16(uint16_t x)
{
    uint32_t bits = (uint32_t)x << 16;
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

#endif
