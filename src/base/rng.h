/* Random numbers keyed by what they are for. A stream is a function of (seed, step, index) alone,
 * so that work can be split over threads in any way and still give the same bits. */
#ifndef WFRE_SRC_BASE_RNG_H
#define WFRE_SRC_BASE_RNG_H

#include <stdbool.h>
#include <stdint.h>

typedef struct wfre_rng {
    uint64_t state;
    uint64_t gamma; /* odd; different streams walk with different strides */
} wfre_rng;

wfre_rng wfre_rng_keyed(uint64_t seed, uint64_t step, uint64_t index);
uint64_t wfre_rng_next(wfre_rng *rng);
/* Uniform in 0 .. bound-1 without bias; bound > 0. */
uint32_t wfre_rng_below(wfre_rng *rng, uint32_t bound);
/* Uniform in [0, 1): 24 random bits, and 53. */
float wfre_rng_float(wfre_rng *rng);
double wfre_rng_double(wfre_rng *rng);
/* Standard normal. */
double wfre_rng_normal(wfre_rng *rng);

/* A coin that falls on one side with a given probability, to 16 bits; four throws a number. */
typedef struct wfre_coin {
    wfre_rng rng;
    uint64_t word;
    unsigned left;
    uint32_t threshold; /* of 65536 */
} wfre_coin;

static inline wfre_coin wfre_coin_make(wfre_rng rng, float probability)
{
    return (wfre_coin){rng, 0, 0, (uint32_t)(probability * 65536.0f)};
}

static inline bool wfre_coin_throw(wfre_coin *coin)
{
    if (coin->left == 0) {
        coin->word = wfre_rng_next(&coin->rng);
        coin->left = 4;
    }
    uint32_t draw = (uint32_t)(coin->word & 0xFFFF);
    coin->word >>= 16;
    coin->left--;
    return draw < coin->threshold;
}

#endif
