/* How many true iterations the ranking kernel needs: as few as keep its error small, measured with
 * the score's own kernels on random rows of every pair of kinds: spread, narrow, saturated and
 * sparse ones. Extrapolation errs most where a soft row meets a saturated one. */
#include <math.h>

#include "base/memory.h"
#include "base/rng.h"
#include "wfr/tables.h"

/* Relative, for values that are not close to 0. Other rows may err a little more: the promise is
 * 1e-4. */
static const double MOST_ERROR = 7e-5;

enum { KINDS = 4, PAIRS = KINDS * KINDS, LEAST_ITERATIONS = 5, LEAST_SKIPPED = 3 };

static void draw_row(wfre_rng *rng, int kind, float *row, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (kind == 0)
            row[i] = wfre_rng_float(rng);
        else if (kind == 1 || kind == 2) /* the sigmoid of a normal variable, or of 8 times it */
            row[i] = (float)(1 / (1 + exp(-wfre_rng_normal(rng) * (kind == 1 ? 1 : 8))));
        else
            row[i] = wfre_rng_below(rng, 5) ? 0 : wfre_rng_float(rng);
    }
}

static void pack_pairs(const wfre_score *score, float *row, char *sides, double *values)
{
    const wfre_score_kernels *kernels = &score->kernels;
    size_t size = kernels->left_size + kernels->right_size;
    for (int i = 0; i < PAIRS; i++) {
        wfre_rng rng = wfre_rng_keyed(1, 0, (uint64_t)i);
        char *left = sides + (size_t)i * size, *right = left + kernels->left_size;
        draw_row(&rng, i / KINDS, row, score->settings.dimension);
        kernels->pack_left(score, row, left);
        draw_row(&rng, i % KINDS, row, score->settings.dimension);
        kernels->pack_right(score, row, right);
        values[i] = kernels->value(score, left, right);
    }
}

static double measure(const wfre_score *score, const char *sides, const double *values)
{
    const wfre_score_kernels *kernels = &score->kernels;
    size_t size = kernels->left_size + kernels->right_size;
    double worst = 0;
    for (int i = 0; i < PAIRS; i++) {
        const char *left = sides + (size_t)i * size;
        double value = kernels->extrapolated(score, left, left + kernels->left_size);
        worst = fmax(worst, fabs(value - values[i]) / fmax(fabs(values[i]), 0.01));
    }
    return worst;
}

bool wfre_score_calibrate(wfre_score *score)
{
    if (score->kernels.extrapolated == score->kernels.value)
        return true;
    size_t side_size = score->kernels.left_size + score->kernels.right_size;
    char *sides = wfre_alloc_tensor(PAIRS, side_size);
    float *row = wfre_alloc(score->settings.dimension, sizeof *row);
    double values[PAIRS];
    bool done = sides && row;
    if (done)
        pack_pairs(score, row, sides, values);
    uint32_t k = LEAST_ITERATIONS, most = score->settings.iterations;
    for (; done && k + 1 + LEAST_SKIPPED <= most; k += 1 + k / 8) {
        score->rank_iterations = k;
        wfre_float_tables_skip(score, score->tables, most - 1 - k);
        score->rank_error = measure(score, sides, values);
        if (score->rank_error <= MOST_ERROR)
            break;
    }
    if (done && k + 1 + LEAST_SKIPPED > most) { /* no gain: all iterations */
        score->kernels.extrapolated = score->kernels.value;
        score->rank_iterations = 0;
        score->rank_error = 0;
    }
    wfre_free(row);
    wfre_free(sides);
    return done;
}
