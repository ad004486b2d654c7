/* The kernels as functions: a set for each shape the float ones are compiled for, and the choice
 * among them. Included after float_kernels.h and double_kernels.h. */
#ifndef WFRE_SRC_WFR_VECTOR_SLOTS_H
#define WFRE_SRC_WFR_VECTOR_SLOTS_H

#include <math.h>

typedef struct kernel_set {
    /* Gradients may be NULL, both or none. */
    double (*solve)(const wfre_score *score, const float *left, const float *right,
                    float *left_gradient, float *right_gradient);
    double (*extrapolated)(const wfre_score *score, const void *left, const void *right);
} kernel_set;

INLINE power_shape rough_power(power_shape power)
{
    power.degree -= 2;
    return power;
}

/* The set NAME: `bins` and `taps` as in kernel_shape. */
#define DEFINE_SET(name, bins, taps, power)                                                        \
    static double solve_##name(const wfre_score *score, const float *left, const float *right,     \
                               float *left_gradient, float *right_gradient)                        \
    {                                                                                              \
        const kernel_shape shape = {bins, taps, power, false};                                     \
        return solve_pair(score, left, right, left_gradient, right_gradient, shape);               \
    }                                                                                              \
    static double extrapolated_##name(const wfre_score *score, const void *left,                   \
                                      const void *right)                                           \
    {                                                                                              \
        const kernel_shape shape = {bins, taps, rough_power(power), true};                         \
        return solve_pair(score, left, right, NULL, NULL, shape);                                  \
    }                                                                                              \
    static const kernel_set name = {solve_##name, extrapolated_##name};

/* Each shape with both reaches of the power. */
#define DEFINE_SETS(name, bins, taps)                                                              \
    DEFINE_SET(near_##name, bins, taps, POWER_NEAR)                                                \
    DEFINE_SET(wide_##name, bins, taps, POWER_WIDE)

DEFINE_SETS(5_1, 5, 1)
DEFINE_SETS(5_2, 5, 2)
DEFINE_SETS(5_3, 5, 3)
DEFINE_SETS(5_4, 5, 4)
DEFINE_SETS(5_5, 5, 5)
DEFINE_SETS(any_1, 0, 1)
DEFINE_SETS(any_2, 0, 2)
DEFINE_SETS(any_3, 0, 3)
DEFINE_SETS(any_4, 0, 4)
DEFINE_SETS(any_5, 0, 5)
DEFINE_SETS(any_6, 0, 6)
DEFINE_SETS(any_any, 0, 0)

/* Most special first. */
static const struct {
    uint32_t bins; /* 0: any */
    uint32_t taps;
    const kernel_set *near;
    const kernel_set *wide;
} SETS[] = {
    {5, 1, &near_5_1, &wide_5_1},     {5, 2, &near_5_2, &wide_5_2},
    {5, 3, &near_5_3, &wide_5_3},     {5, 4, &near_5_4, &wide_5_4},
    {5, 5, &near_5_5, &wide_5_5},     {0, 1, &near_any_1, &wide_any_1},
    {0, 2, &near_any_2, &wide_any_2}, {0, 3, &near_any_3, &wide_any_3},
    {0, 4, &near_any_4, &wide_any_4}, {0, 5, &near_any_5, &wide_any_5},
    {0, 6, &near_any_6, &wide_any_6}, {0, 0, &near_any_any, &wide_any_any},
};

static const kernel_set *choose_set(const wfre_score *score, bool near)
{
    size_t i = 0;
    while ((SETS[i].bins && SETS[i].bins != score->settings.block) ||
           (SETS[i].taps && SETS[i].taps != score->window))
        i++;
    return near ? SETS[i].near : SETS[i].wide;
}

/* Float resolves a value to about 3e-7 of epsilon sum K, the largest term that is subtracted from.
 * Values so small that this is not 2e-6 of them (or 1e-7) are computed again. */
static bool too_small(const wfre_score *score, double value)
{
    return 2e-6 * fabs(value) + 1e-7 < 3e-7 * score->settings.epsilon * score->kernel_sum;
}

static double value(const wfre_score *score, const void *left, const void *right)
{
    double result = score->tables->kernels->solve(score, left, right, NULL, NULL);
    return too_small(score, result) ? wide_pair(score, left, right, NULL, NULL) : result;
}

static double gradient(const wfre_score *score, const void *left, const void *right,
                       float *left_gradient, float *right_gradient)
{
    double result =
        score->tables->kernels->solve(score, left, right, left_gradient, right_gradient);
    return too_small(score, result) ? wide_pair(score, left, right, NULL, NULL) : result;
}

static double value_wide(const wfre_score *score, const void *left, const void *right)
{
    return wide_pair(score, left, right, NULL, NULL);
}

static double gradient_wide(const wfre_score *score, const void *left, const void *right,
                            float *left_gradient, float *right_gradient)
{
    return wide_pair(score, left, right, left_gradient, right_gradient);
}

/* The masses only. */
static void pack_masses(const wfre_score *score, const float *row, float *side, int parts)
{
    size_t stride = (size_t)parts * score->settings.block * LANES;
    for (size_t group = 0; group * LANES < score->blocks; group++)
        gather_group(score, row, group, side + group * stride);
}

static void pack_left_masses(const wfre_score *score, const float *row, void *side)
{
    pack_masses(score, row, side, 3);
}

static void pack_right_masses(const wfre_score *score, const float *row, void *side)
{
    pack_masses(score, row, side, 2);
}

static void pack_left_near(const wfre_score *score, const float *row, void *side)
{
    pack_left_side(score, row, side, POWER_NEAR);
}

static void pack_right_near(const wfre_score *score, const float *row, void *side)
{
    pack_right_side(score, row, side, POWER_NEAR);
}

static void pack_left_wide(const wfre_score *score, const float *row, void *side)
{
    pack_left_side(score, row, side, POWER_WIDE);
}

static void pack_right_wide(const wfre_score *score, const float *row, void *side)
{
    pack_right_side(score, row, side, POWER_WIDE);
}

/* False when out of memory; leaves the slots as they are where even double cannot hold the range.
 */
static bool use_vector_kernels(wfre_score *score, const char *float_name, const char *double_name)
{
    if (score->octaves_low < -WIDE_OCTAVES || score->octaves_high > WIDE_OCTAVES)
        return true;
    bool near = wfre_power_covers(score, POWER_NEAR);
    bool in_float = near || wfre_power_covers(score, POWER_WIDE);
    score->tables = wfre_float_tables_create(score, near ? POWER_NEAR : POWER_WIDE, LANES);
    if (!score->tables)
        return false;
    size_t vectors = (score->blocks + LANES - 1) / LANES * score->settings.block;
    wfre_score_kernels kernels = {
        .left_size = (3 * vectors * sizeof(vf) + 63) & ~(size_t)63,
        .right_size = (2 * vectors * sizeof(vf) + 63) & ~(size_t)63,
        .pack_left = pack_left_masses,
        .pack_right = pack_right_masses,
        .value = value_wide,
        .extrapolated = value_wide,
        .gradient = gradient_wide,
        .name = double_name,
    };
    if (in_float) {
        score->tables->kernels = choose_set(score, near);
        kernels.pack_left = near ? pack_left_near : pack_left_wide;
        kernels.pack_right = near ? pack_right_near : pack_right_wide;
        kernels.value = value;
        kernels.extrapolated = score->tables->kernels->extrapolated;
        kernels.gradient = gradient;
        kernels.name = float_name;
    }
    score->kernels = kernels;
    return true;
}

#endif
