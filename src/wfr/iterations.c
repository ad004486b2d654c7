/* How many true iterations the ranking kernel needs: as few as keep its error small, measured with
 * the score's own kernels on random rows of every pair of kinds: spread, narrow, saturated, full
 * and sparse ones. Extrapolation errs most where a row with some saturated elements meets a soft
 * one. */
#include <math.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/rng.h"
#include "wfr/tables.h"

/* Relative, for values that are not close to 0. Other rows may err a little more: the promise is
 * 1e-4. */
static const double MOST_ERROR = 7e-5;

/* Short rows err more, having fewer blocks to average over: more of them are drawn, so that there
 * are as many elements of each pair of kinds. */
enum { KINDS = 6, ELEMENTS = 1600, LEAST_ITERATIONS = 5, LEAST_SKIPPED = 3 };

typedef struct sample {
    size_t count; /* pairs */
    size_t size;  /* of both sides of a pair */
    char *sides;
    double *values; /* with all iterations */
    float *row;
} sample;

static float draw_element(wfre_rng *rng, size_t kind)
{
    float u = wfre_rng_float(rng);
    switch (kind) {
    case 0:
        return u;
    case 1:
    case 2: /* the sigmoid of a normal variable, or of 4 times it */
        return (float)(1 / (1 + exp(-wfre_rng_normal(rng) * (kind == 1 ? 1 : 4))));
    case 3: /* saturated */
        return u < 0.3F ? 0 : u > 0.7F ? 1 : wfre_rng_float(rng);
    case 4: /* nearly full */
        return u < 0.95F ? 1 : wfre_rng_float(rng);
    default: /* sparse */
        return u < 0.8F ? 0 : wfre_rng_float(rng);
    }
}

static void draw_row(wfre_rng *rng, size_t kind, float *row, size_t count)
{
    for (size_t i = 0; i < count; i++)
        row[i] = draw_element(rng, kind);
}

/* False when out of memory; the sample is to be freed anyway. */
static bool draw_sample(const wfre_score *score, sample *pairs)
{
    const wfre_score_kernels *kernels = &score->kernels;
    size_t d = score->settings.dimension;
    pairs->count = KINDS * KINDS * ((ELEMENTS + d - 1) / d);
    pairs->size = kernels->left_size + kernels->right_size;
    pairs->sides = wfre_alloc_tensor(pairs->count, pairs->size);
    pairs->values = wfre_alloc(pairs->count, sizeof *pairs->values);
    pairs->row = wfre_alloc(d, sizeof *pairs->row);
    if (!pairs->sides || !pairs->values || !pairs->row)
        return false;
    for (size_t i = 0; i < pairs->count; i++) {
        wfre_rng rng = wfre_rng_fixed(WFRE_FOR_ITERATIONS, i);
        char *left = pairs->sides + i * pairs->size, *right = left + kernels->left_size;
        draw_row(&rng, i / KINDS % KINDS, pairs->row, d);
        kernels->pack_left(score, pairs->row, left);
        draw_row(&rng, i % KINDS, pairs->row, d);
        kernels->pack_right(score, pairs->row, right);
        pairs->values[i] = kernels->value(score, left, right);
    }
    return true;
}

static void free_sample(sample *pairs)
{
    wfre_free(pairs->sides);
    wfre_free(pairs->values);
    wfre_free(pairs->row);
}

/* The largest error, or the first that is too large. */
static double measure(const wfre_score *score, const sample *pairs)
{
    const wfre_score_kernels *kernels = &score->kernels;
    double worst = 0;
    for (size_t i = 0; i < pairs->count && worst <= MOST_ERROR; i++) {
        const char *left = pairs->sides + i * pairs->size;
        double value = kernels->extrapolated(score, left, left + kernels->left_size);
        double expected = pairs->values[i];
        double error = fabs(value - expected) / fmax(fabs(expected), 0.01);
        if (!(error <= worst)) /* NaN too, which ends it */
            worst = error;
    }
    return worst;
}

wfre_status wfre_score_prepare_ranking(wfre_score *score, wfre_error *error)
{
    uint32_t iterations = score->settings.iterations;
    sample pairs = {0};
    bool faster = false;
    score->rank_iterations = 0;
    score->rank_error = 0;
    if (!score->kernels.extrapolated || iterations <= LEAST_ITERATIONS + LEAST_SKIPPED)
        return WFRE_OK;
    bool drawn = draw_sample(score, &pairs);
    for (uint32_t k = LEAST_ITERATIONS; drawn && !faster && k + LEAST_SKIPPED < iterations;
         k += 1 + k / 8) {
        score->rank_iterations = k;
        wfre_float_tables_skip(score, score->tables, iterations - 1 - k);
        score->rank_error = measure(score, &pairs);
        faster = score->rank_error <= MOST_ERROR;
    }
    if (!faster) {
        score->rank_iterations = 0;
        score->rank_error = 0;
    }
    free_sample(&pairs);
    return drawn ? WFRE_OK : wfre_fail_memory(error, "preparing a ranking");
}
