/* Random score problems over the whole range of parameters, for the tests of the kernels. */
#ifndef WFRE_TESTS_RANDOM_SCORES_H
#define WFRE_TESTS_RANDOM_SCORES_H

#include <math.h>

#include "base/memory.h"
#include "base/rng.h"
#include "check.h"
#include "wfre/score.h"

/* One pair of rows with settings for it. */
typedef struct random_score {
    wfre_score_settings settings;
    double *left;
    double *right;
} random_score;

enum { ROW_KINDS = 9 };

/* Uniform, saturated, sparse, binary, constant, full, empty, soft, hard. */
static inline double draw_element(wfre_rng *rng, uint32_t kind, double constant)
{
    double u = wfre_rng_double(rng);
    switch (kind) {
    case 0:
        return u;
    case 1:
        return u < 0.3 ? 0 : u > 0.7 ? 1 : wfre_rng_double(rng);
    case 2:
        return u < 0.8 ? 0 : wfre_rng_double(rng);
    case 3:
        return u < 0.5 ? 0 : 1;
    case 4:
        return constant;
    case 5:
        return 1;
    case 6:
        return 0;
    default:
        return 1 / (1 + exp(-wfre_rng_normal(rng) * (kind == 7 ? 1 : 4)));
    }
}

static inline void draw_settings(wfre_rng *rng, wfre_score_settings *s)
{
    static const uint32_t bins[] = {1, 2, 3, 4, 5, 5, 5, 7, 10, 16, 20, 64};
    static const uint32_t iterations[] = {1, 2, 3, 5, 7, 10, 10, 15, 30, 100, 1000};
    static const char *const presets[] = {"reference", "paper", "exact"};
    uint32_t block = bins[wfre_rng_below(rng, 12)];
    uint32_t blocks = 1 + wfre_rng_below(rng, wfre_rng_below(rng, 2) ? 8 : 80);
    wfre_score_defaults((size_t)block * blocks, s);
    s->block = block;
    s->iterations = iterations[wfre_rng_below(rng, 11)];
    if (wfre_rng_below(rng, 2)) /* 0.01 .. 10 */
        s->epsilon = exp(log(0.01) + wfre_rng_double(rng) * log(1000.0));
    if (wfre_rng_below(rng, 4) == 0)
        s->floor = pow(10, -1 - 11 * wfre_rng_double(rng));
    uint32_t preset = wfre_rng_below(rng, 4);
    if (preset < 3) {
        assert_ok(wfre_score_preset(presets[preset], s, error));
    } else {
        s->radius = 0.5 + (wfre_rng_below(rng, 2) ? 7 : 70) * wfre_rng_double(rng);
        s->power = 6 * wfre_rng_double(rng);
    }
}

/* The trial-th problem of a seed; release with free_random_score. */
static inline random_score draw_score(uint64_t seed, uint64_t trial)
{
    wfre_rng rng = wfre_rng_keyed(seed, trial, 0);
    random_score problem;
    draw_settings(&rng, &problem.settings);
    size_t d = problem.settings.dimension;
    problem.left = wfre_alloc(2 * d, sizeof *problem.left);
    assert_non_null(problem.left);
    problem.right = problem.left + d;
    uint32_t left_kind = wfre_rng_below(&rng, ROW_KINDS);
    uint32_t right_kind = wfre_rng_below(&rng, ROW_KINDS);
    double left_constant = wfre_rng_double(&rng), right_constant = wfre_rng_double(&rng);
    bool same = wfre_rng_below(&rng, 6) == 0;
    for (size_t i = 0; i < d; i++) {
        problem.left[i] = (float)draw_element(&rng, left_kind, left_constant);
        problem.right[i] =
            same ? problem.left[i] : (float)draw_element(&rng, right_kind, right_constant);
    }
    return problem;
}

static inline void free_random_score(random_score *problem)
{
    wfre_free(problem->left);
}

/* `fast` gives the value and gradients of `reference` within the promised tolerances. */
static inline void check_against(const wfre_score *fast, const wfre_score *reference,
                                 const random_score *problem, uint64_t seed, uint64_t trial)
{
    size_t d = problem->settings.dimension;
    double blocks = (double)(d / problem->settings.block);
    double *gradients = wfre_alloc(4 * d, sizeof *gradients);
    assert_non_null(gradients);
    double *expected = gradients + 2 * d, value, expected_value, alone;
    assert_ok(wfre_score_pair(reference, problem->left, problem->right, &expected_value, expected,
                              expected + d, error));
    assert_ok(wfre_score_pair(fast, problem->left, problem->right, &value, gradients, gradients + d,
                              error));
    assert_ok(wfre_score_pair(fast, problem->left, problem->right, &alone, NULL, NULL, error));
    if (!(fabs(value - expected_value) <= 2e-6 * fabs(expected_value) + 1e-7) || alone != value)
        fail_msg("%s, seed %llu, trial %llu: got %.9g (%.9g alone), expected %.9g",
                 wfre_score_kernel(fast), (unsigned long long)seed, (unsigned long long)trial,
                 value, alone, expected_value);
    for (size_t i = 0; i < 2 * d; i++)
        if (!(fabs(gradients[i] - expected[i]) <= 1e-5 * fabs(expected[i]) + 1e-6 / blocks))
            fail_msg("%s, seed %llu, trial %llu, gradient %zu: got %.9g, expected %.9g",
                     wfre_score_kernel(fast), (unsigned long long)seed, (unsigned long long)trial,
                     i, gradients[i], expected[i]);
    wfre_free(gradients);
}

/* The largest error of the extrapolated ranking of rows of one kind for a query of another. */
static inline double ranking_error(const wfre_score *score, wfre_rng *rng, uint32_t kind,
                                   uint32_t query)
{
    enum { STORED = 6 };
    const size_t d = wfre_score_get_settings(score)->dimension;
    float *rows = wfre_alloc((STORED + 1) * d, sizeof *rows), exact[STORED], near[STORED];
    double worst = 0;
    wfre_store *store;
    assert_non_null(rows);
    for (size_t i = 0; i < (STORED + 1) * d; i++)
        rows[i] = (float)draw_element(rng, i < STORED * d ? kind : query, 0.5);
    assert_ok(wfre_store_create(score, NULL, rows, WFRE_FLOAT32, d, STORED, &store, error));
    wfre_rank_job job = {{rows + STORED * d, d}, 1, NULL, 0, WFRE_RANK_TRUE, STORED};
    assert_ok(wfre_score_rank(score, NULL, store, &job, exact, error));
    job.ranking = WFRE_RANK_EXTRAPOLATED;
    assert_ok(wfre_score_rank(score, NULL, store, &job, near, error));
    for (int k = 0; k < STORED && !isnan(worst); k++) {
        double expected = (double)exact[k];
        double apart = fabs((double)near[k] - expected) / fmax(fabs(expected), 0.01);
        if (!(apart <= worst)) /* NaN too */
            worst = apart;
    }
    wfre_store_free(store);
    wfre_free(rows);
    return worst;
}

/* Ranking errs by less than 1e-4 for rows of every pair of kinds. */
static inline void check_ranking(const wfre_score *score, uint64_t seed)
{
    const wfre_score_settings *s = wfre_score_get_settings(score);
    wfre_rng rng = wfre_rng_keyed(seed, s->iterations, 5);
    for (uint32_t pair = 0; pair < ROW_KINDS * ROW_KINDS; pair++) {
        uint32_t kind = pair / ROW_KINDS, query = pair % ROW_KINDS;
        double error = ranking_error(score, &rng, kind, query);
        if (!(error < 1e-4))
            fail_msg("%s, %u iterations, %zu elements, kinds %u and %u: error %g",
                     wfre_score_kernel(score), s->iterations, s->dimension, kind, query, error);
    }
}

#endif
