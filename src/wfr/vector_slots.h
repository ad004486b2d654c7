/* The kernels as functions: a set for each shape the float ones are compiled for, and the choice
 * among them. Included after float_kernels.h and double_kernels.h. */
#ifndef WFRE_SRC_WFR_VECTOR_SLOTS_H
#define WFRE_SRC_WFR_VECTOR_SLOTS_H

#include <math.h>

INLINE power_shape rough_power(power_shape power)
{
    power.degree -= 2;
    return power;
}

/* The function NAME: iterations of one shape. */
#define DEFINE_ITERATE(name, bins, taps, power, rough)                                             \
    static void name(const lane_problem *p, uint32_t count)                                        \
    {                                                                                              \
        const kernel_shape shape = {bins, taps, power, rough};                                     \
        iterate(p, count, shape);                                                                  \
    }

/* The function NAME: the last iteration of one shape. */
#define DEFINE_FINISH(name, bins, taps, power, rough)                                              \
    static void name(const lane_problem *p, vd *values)                                            \
    {                                                                                              \
        const kernel_shape shape = {bins, taps, power, rough};                                     \
        finish(p, values, shape);                                                                  \
    }

/* The function NAME: extrapolation, which has no taps. */
#define DEFINE_SKIP(name, bins)                                                                    \
    static void name(const lane_problem *p, uint32_t row)                                          \
    {                                                                                              \
        const kernel_shape shape = {bins, 0, POWER_NEAR, true};                                    \
        skip_iterations(p, row, shape);                                                            \
    }

DEFINE_SKIP(skip_5, 5)
DEFINE_SKIP(skip_0, 0)

#define DEFINE_SET(reach, power, bins, taps)                                                       \
    DEFINE_ITERATE(iterate_##reach##_##bins##_##taps, bins, taps, power, false)                    \
    DEFINE_ITERATE(rough_##reach##_##bins##_##taps, bins, taps, rough_power(power), true)          \
    DEFINE_FINISH(finish_##reach##_##bins##_##taps, bins, taps, power, true)                       \
    static const kernel_set reach##_##bins##_##taps = {                                            \
        iterate_##reach##_##bins##_##taps, finish_##bins##_##taps,                                 \
        rough_##reach##_##bins##_##taps, skip_##bins, finish_##reach##_##bins##_##taps};

/* Each shape with both reaches of the power. */
#define DEFINE_SETS(bins, taps)                                                                    \
    DEFINE_FINISH(finish_##bins##_##taps, bins, taps, POWER_NEAR, false)                           \
    DEFINE_SET(near, POWER_NEAR, bins, taps)                                                       \
    DEFINE_SET(wide, POWER_WIDE, bins, taps)

/* Bins and taps, 0 for any number; the most special first, and (0, 0) last. The paper's sizes are
 * 5, 10 and 20 with windows of 1 to 5 bins: for 10 and 20 a short loop over the bins is as good as
 * none. A test may define fewer. */
#ifndef SHAPES
#define SHAPES(X)                                                                                  \
    X(5, 1) X(5, 2) X(5, 3) X(5, 4) X(5, 5) X(0, 1) X(0, 2) X(0, 3) X(0, 4) X(0, 5) X(0, 6) X(0, 0)
#endif

SHAPES(DEFINE_SETS)

#define ROW(bins, taps) {bins, taps, &near_##bins##_##taps, &wide_##bins##_##taps},

static const struct {
    uint32_t bins;
    uint32_t taps;
    const kernel_set *near;
    const kernel_set *wide;
} SETS[] = {SHAPES(ROW)};

static const kernel_set *choose_set(const wfre_score *score, bool near)
{
    size_t i = 0;
    while ((SETS[i].bins && SETS[i].bins != score->settings.block) ||
           (SETS[i].taps && SETS[i].taps != score->window))
        i++;
    return near ? SETS[i].near : SETS[i].wide;
}

/* Values so small that float does not resolve 2e-6 of them (or 1e-7) are computed again. */
static bool too_small(const wfre_score *score, double value)
{
    return 2e-6 * fabs(value) + 1e-7 < score->resolution;
}

static double value(const wfre_score *score, const void *left, const void *right)
{
    double result = solve_pair(score, left, right, NULL, NULL, false);
    return too_small(score, result) ? wide_pair(score, left, right, NULL, NULL) : result;
}

static double gradient(const wfre_score *score, const void *left, const void *right,
                       float *left_gradient, float *right_gradient)
{
    double result = solve_pair(score, left, right, left_gradient, right_gradient, false);
    return too_small(score, result) ? wide_pair(score, left, right, NULL, NULL) : result;
}

static double extrapolated(const wfre_score *score, const void *left, const void *right)
{
    return solve_pair(score, left, right, NULL, NULL, !score->tables->closed);
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

/* False when out of memory; leaves the slots as they are where even double cannot
 * hold the range. */
static bool use_vector_kernels(wfre_score *score, const char *float_name, const char *double_name)
{
    if (score->octaves_low < -WIDE_OCTAVES || score->octaves_high > WIDE_OCTAVES)
        return true;
    bool near = wfre_power_covers(score, POWER_NEAR);
    /* A single iteration leaves phi and psi so far from the masses that large terms cancel. */
    bool in_float =
        score->settings.iterations > 1 && (near || wfre_power_covers(score, POWER_WIDE));
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
        .gradient = gradient_wide,
        .name = double_name,
    };
    if (in_float) {
        score->tables->kernels = choose_set(score, near);
        kernels.pack_left = near ? pack_left_near : pack_left_wide;
        kernels.pack_right = near ? pack_right_near : pack_right_wide;
        kernels.value = value;
        kernels.extrapolated = extrapolated;
        kernels.gradient = gradient;
        kernels.name = float_name;
    }
    score->kernels = kernels;
    return true;
}

#endif
