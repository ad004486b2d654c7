/* The float kernels as functions: one set for each shape they are compiled for, and the choice
 * among them. Included after float_kernels.h. */
#ifndef WFRE_SRC_WFR_FLOAT_SLOTS_H
#define WFRE_SRC_WFR_FLOAT_SLOTS_H

/* value_NAME and gradient_NAME for one number of bins and taps, 0 for any. */
#define DEFINE_KERNELS(name, bins, taps, power)                                                    \
    static double value_##name(const wfre_score *score, const void *left, const void *right)       \
    {                                                                                              \
        return solve_pair(score, left, right, NULL, NULL, (kernel_shape){bins, taps, power});      \
    }                                                                                              \
    static double gradient_##name(const wfre_score *score, const void *left, const void *right,    \
                                  float *left_gradient, float *right_gradient)                     \
    {                                                                                              \
        return solve_pair(score, left, right, left_gradient, right_gradient,                       \
                          (kernel_shape){bins, taps, power});                                      \
    }

DEFINE_KERNELS(near_5_4, 5, 4, POWER_NEAR)
DEFINE_KERNELS(near_any, 0, 0, POWER_NEAR)
DEFINE_KERNELS(wide_any, 0, 0, POWER_WIDE)

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

static bool use_float_kernels(wfre_score *score, const char *name)
{
    bool near = wfre_power_covers(score, POWER_NEAR);
    if (!near && !wfre_power_covers(score, POWER_WIDE))
        return true;
    score->tables = wfre_float_tables_create(score, near ? POWER_NEAR : POWER_WIDE, LANES);
    if (!score->tables)
        return false;
    wfre_score_kernels *k = &score->kernels;
    size_t groups = (score->blocks + LANES - 1) / LANES;
    size_t vectors = groups * score->settings.block;
    k->left_size = (3 * vectors * sizeof(vf) + 63) & ~(size_t)63;
    k->right_size = (2 * vectors * sizeof(vf) + 63) & ~(size_t)63;
    k->pack_left = near ? pack_left_near : pack_left_wide;
    k->pack_right = near ? pack_right_near : pack_right_wide;
    bool fixed = near && score->settings.block == 5 && score->window == 4;
    k->value = fixed ? value_near_5_4 : near ? value_near_any : value_wide_any;
    k->gradient = fixed ? gradient_near_5_4 : near ? gradient_near_any : gradient_wide_any;
    k->extrapolated = k->value;
    k->pair = NULL;
    k->name = name;
    return true;
}
#endif
