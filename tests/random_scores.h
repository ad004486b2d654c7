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

/* Uniform, saturated, sparse, binary, constant, full, empty, sigmoid. */
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
        return 1 / (1 + exp(-wfre_rng_normal(rng)));
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
        s->floor = pow(10, -1 - 5 * wfre_rng_double(rng));
    uint32_t preset = wfre_rng_below(rng, 4);
    if (preset < 3) {
        assert_ok(wfre_score_preset(presets[preset], s, error));
    } else {
        s->radius = 0.5 + 7 * wfre_rng_double(rng);
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
    uint32_t left_kind = wfre_rng_below(&rng, 8), right_kind = wfre_rng_below(&rng, 8);
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

#endif
