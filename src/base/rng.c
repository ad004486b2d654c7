/* A splittable generator in the manner of SplitMix: a Weyl sequence through a 64-bit mix. */
#include "base/rng.h"

#include <math.h>

#include "base/hash.h"

wfre_rng wfre_rng_keyed(uint64_t seed, uint64_t step, uint64_t index)
{
    uint64_t key = wfre_mix64(seed + 0x9E3779B97F4A7C15u);
    key = wfre_mix64(key ^ (step + 0xD1B54A32D192ED03u));
    key = wfre_mix64(key + index * 0x8CB92BA72F3D8DD7u + 1);
    return (wfre_rng){key, wfre_mix64(key ^ 0xA0761D6478BD642Fu) | 1};
}

/* Seeds have at most 53 bits (9e15), so the purpose never meets them. */
wfre_rng wfre_rng_for(uint64_t seed, wfre_draw purpose, uint64_t step, uint64_t index)
{
    return wfre_rng_keyed(seed ^ (uint64_t)purpose << 56, step, index);
}

wfre_rng wfre_rng_fixed(wfre_draw purpose, uint64_t index)
{
    return wfre_rng_keyed(0, (uint64_t)purpose, index);
}

uint64_t wfre_seed_for(uint64_t seed, wfre_draw purpose)
{
    /* Cut to the length of a seed. */
    return wfre_mix64(seed ^ (uint64_t)purpose << 56) >> 11;
}

uint64_t wfre_rng_next(wfre_rng *rng)
{
    rng->state += rng->gamma;
    return wfre_mix64(rng->state ^ 0x2545F4914F6CDD1Du);
}

uint32_t wfre_rng_below(wfre_rng *rng, uint32_t bound)
{
    /* Multiply-shift; the few values that would bias it are drawn again. */
    uint32_t threshold = (uint32_t)(-bound) % bound;
    for (;;) {
        uint64_t product = (wfre_rng_next(rng) >> 32) * (uint64_t)bound;
        if ((uint32_t)product >= threshold)
            return (uint32_t)(product >> 32);
    }
}

float wfre_rng_float(wfre_rng *rng)
{
    return (float)(wfre_rng_next(rng) >> 40) * 0x1p-24f;
}

double wfre_rng_double(wfre_rng *rng)
{
    return (double)(wfre_rng_next(rng) >> 11) * 0x1p-53;
}

double wfre_rng_normal(wfre_rng *rng)
{
    const double two_pi = 6.283185307179586;
    double radius = sqrt(-2.0 * log(1.0 - wfre_rng_double(rng)));
    return radius * cos(two_pi * wfre_rng_double(rng));
}
