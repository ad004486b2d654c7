/* Random numbers keyed by what they are for. A stream is a function of (seed, purpose, step, index)
 * alone, so that work can be split over threads in any way and still give the same bits. */
#ifndef WFRE_SRC_BASE_RNG_H
#define WFRE_SRC_BASE_RNG_H

#include <stdbool.h>
#include <stdint.h>

typedef struct wfre_rng {
    uint64_t state;
    uint64_t gamma; /* odd; different streams walk with different strides */
} wfre_rng;

/* What a stream is for: no two purposes share one. Numbers are never given anew, since files depend
 * on them. */
typedef enum wfre_draw {
    WFRE_FOR_DATA = 0, /* what is kept: held-out triples (step 0), query sets (step: the type) */

    /* The same for every seed (wfre_rng_fixed). */
    WFRE_FOR_LEFT_BLOCKS = 1, /* of histograms, to fit an estimator to */
    WFRE_FOR_RIGHT_BLOCKS = 2,
    WFRE_FOR_EXAMPLES = 3,   /* of queries, to prepare a search for */
    WFRE_FOR_PROBES = 4,     /* entities to guess a rank by */
    WFRE_FOR_SKETCHES = 5,   /* entities to fit them to */
    WFRE_FOR_ADDED = 6,      /* what an added entity is fitted to; index: the entity */
    WFRE_FOR_ITERATIONS = 7, /* rows to try a score on */
    WFRE_FOR_BENCHES = 8,
    WFRE_FOR_SURROGATE = 9, /* blocks to fit one to; step: the side */
    WFRE_FOR_SPREAD = 10,   /* blocks to find rho by; step: their length */

    /* Training. */
    WFRE_FOR_WEIGHTS = 16, /* the first ones; step: the tensor */
    WFRE_FOR_TYPES = 17,   /* of queries */
    WFRE_FOR_QUERIES = 18, /* of a sampler */
    WFRE_FOR_POSITIVES = 19,
    WFRE_FOR_NEGATIVES = 20,
    WFRE_FOR_SHARED = 21,   /* candidates that a batch shares */
    WFRE_FOR_INPUTS = 22,   /* dropout on the input of a projection */
    WFRE_FOR_NEGATION = 23, /* on complements */
    WFRE_FOR_BASES = 24,    /* on bases */
    WFRE_FOR_VALIDATION = 25,
    WFRE_FOR_ROW_MASKS = 27, /* dropout on bases, for each row */
    WFRE_FOR_REFITS = 28,    /* blocks of the model to fit a surrogate to */
    WFRE_FOR_RIVALS = 29,    /* other relations than that of a fact */
    WFRE_FOR_FITTING = 26,   /* queries for what is fitted at the end */
    WFRE_FOR_MEASURING = 30, /* queries that the finished model is measured on */
    WFRE_FOR_LINKS = 31,     /* triples that are ranked */
    WFRE_FOR_FACTORS = 35,   /* the first ones; index: of entities or relations */
    WFRE_FOR_FACTS = 36,     /* that factors learn from; index: the fact */
    WFRE_FOR_CONTRASTS = 37, /* entities that these facts are compared with */
    WFRE_FOR_EXACT = 34, /* pairs that the surrogate leaves to the score; index: query, column */

    /* Measuring. */
    WFRE_FOR_BOOTSTRAP = 32,
    WFRE_FOR_HIERARCHY = 33 /* triangles and sources; step: the relation */
} wfre_draw;

wfre_rng wfre_rng_for(uint64_t seed, wfre_draw purpose, uint64_t step, uint64_t index);
wfre_rng wfre_rng_fixed(wfre_draw purpose, uint64_t index);
/* A seed of its own, for a part that draws for several purposes itself, as a sampler does. */
uint64_t wfre_seed_for(uint64_t seed, wfre_draw purpose);
/* Without a purpose, for tests. */
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
