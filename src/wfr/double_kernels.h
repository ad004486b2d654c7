/* The kernel in double precision, for any vector width: the same sides as float_kernels.h (only the
 * masses are read), half as many lanes, several times slower. It serves scores whose phi and psi
 * leave the range of float, and single pairs whose value is so close to zero that float cannot
 * resolve it.
 *
 * Relative errors of the elementary functions are below 1e-13. */
#ifndef WFRE_SRC_WFR_DOUBLE_KERNELS_H
#define WFRE_SRC_WFR_DOUBLE_KERNELS_H

enum { WIDE_OCTAVES = 1000 };

/* ---- elementary functions ----------------------------------------------------------------- */

/* log2 of a positive normal number. */
INLINE wd wd_log2(wd x)
{
    /* x = 2^e m with m in [sqrt 1/2, sqrt 2); log m = 2 atanh z, z = (m - 1) / (m + 1) */
    const double two_over_log2 = 2.8853900817779268;
    wi offset = (wi)x - wi_set(0x3FE6A09E667F3BCD);
    wi exponent = offset & wi_set(0xFFF0000000000000);
    wd m = (wd)((wi)x - exponent);
    /* e + 1024 as an integer, into the last bits of 2^52, and back. */
    wi biased = (offset + wi_set(0x4000000000000000)) >> 52;
    wd e = (wd)(biased + wi_set(0x4330000000000000)) - wd_set(0x1p52 + 1024);
    wd z = (m - wd_set(1)) / (m + wd_set(1));
    wd square = z * z;
    wd sum = wd_set(two_over_log2 / 17);
    UNROLL
    for (int k = 15; k > 0; k -= 2)
        sum = wd_fma(sum, square, wd_set(two_over_log2 / k));
    return wd_fma(sum, z, e);
}

/* 2^t for |t| < 1022. */
INLINE wd wd_exp2(wd t)
{
    /* (log 2)^k / k! */
    static const double c[] = {1.0,
                               0.69314718055994531,
                               0.24022650695910071,
                               0.055504108664821580,
                               0.0096181291076284772,
                               0.0013333558146428443,
                               0.00015403530393381609,
                               1.5252733804059840e-05,
                               1.3215486790144309e-06,
                               1.0178086009239700e-07,
                               7.0549116208011230e-09,
                               4.4455382718708115e-10};
    const wd magic = wd_set(0x1.8p52);
    wd shifted = t + magic;
    wd f = t - (shifted - magic);
    wd sum = wd_set(c[11]);
    UNROLL
    for (int i = 10; i >= 0; i--)
        sum = wd_fma(sum, f, wd_set(c[i]));
    return (wd)((wi)sum + ((wi)shifted << 52));
}

/* ---- half a group ------------------------------------------------------------------------- */

typedef struct wide_problem {
    const wfre_score *score;
    const float *mass[2]; /* left and right: vector i at i * LANES */
    wd log_mass[2][WFRE_BLOCK_LIMIT];
    wd scaling[2][PADDED]; /* phi and psi */
    float *gradient[2];    /* to^-eps - 1, vector i at i * LANES; or NULL */
} wide_problem;

static wd wide_product(const wide_problem *p, const double *kernel, int from, int i)
{
    const wd *vector = p->scaling[from] + PADDING + i;
    wd sum = vector[0];
    for (int k = 1; k < (int)p->score->window; k++)
        sum = wd_fma(wd_set(kernel[k]), vector[-k] + vector[k], sum);
    return sum;
}

/* scaling[side] = (mass / (H scaling[other]))^p */
static void wide_half_iteration(wide_problem *p, int side)
{
    wd exponent = wd_set(p->score->exponent);
    for (int i = 0; i < (int)p->score->settings.block; i++) {
        wd s = wide_product(p, p->score->h, 1 - side, i);
        wd t = exponent * (p->log_mass[side][i] - wd_log2(s));
        p->scaling[side][PADDING + i] = wd_exp2(t);
    }
}

/* The sum of mass (1 - scaling^-eps) = mass - scaling s over the bins of one side. */
static wd wide_side_value(wide_problem *p, int side, wd value)
{
    for (int i = 0; i < (int)p->score->settings.block; i++) {
        wd mass = wd_load_float(p->mass[side] + i * LANES);
        wd s = wide_product(p, p->score->h, 1 - side, i);
        wd used = p->scaling[side][PADDING + i] * s;
        value = value + (mass - used);
        if (p->gradient[side])
            wd_store_float(p->gradient[side] + i * LANES, (used - mass) / mass);
    }
    return value;
}

/* The values of WIDE_LANES blocks less epsilon sum K. */
static wd wide_solve(wide_problem *p)
{
    int bins = (int)p->score->settings.block;
    for (int side = 0; side < 2; side++)
        for (int i = 0; i < bins; i++)
            p->log_mass[side][i] = wd_log2(wd_load_float(p->mass[side] + i * LANES));
    for (int i = 0; i < bins; i++)
        p->scaling[1][PADDING + i] = wd_set(1.0 / bins);
    wd value = wd_set(0);
    size_t done = 0;
    for (uint32_t l = 1; l <= p->score->settings.iterations; l++) {
        if (wfre_leave_after(&done, (size_t)bins * p->score->window))
            break;
        wide_half_iteration(p, 0);
        if (l == p->score->settings.iterations) /* while psi is still the one phi came from */
            value = wide_side_value(p, 0, value);
        wide_half_iteration(p, 1);
    }
    value = wide_side_value(p, 1, value);
    wd transported = wd_set(0);
    for (int i = 0; i < bins; i++)
        transported =
            wd_fma(p->scaling[1][PADDING + i], wide_product(p, p->score->k, 0, i), transported);
    return wd_fnma(wd_set(p->score->settings.epsilon), transported, value);
}

/* ---- a pair ------------------------------------------------------------------------------- */

/* As solve_pair of float_kernels.h. */
static double wide_pair(const wfre_score *score, const float *left, const float *right,
                        float *left_gradient, float *right_gradient)
{
    _Alignas(64) float gradient[2][WFRE_BLOCK_LIMIT * LANES];
    const size_t bins = score->settings.block, groups = (score->blocks + LANES - 1) / LANES;
    wide_problem p = {.score = score};
    for (int i = 0; i < PADDED; i++)
        p.scaling[0][i] = p.scaling[1][i] = wd_set(0);
    const size_t effort = bins * score->window * score->settings.iterations;
    size_t done = 0;
    wd sum = wd_set(0);
    for (size_t group = 0; group < groups && !wfre_leave_after(&done, effort); group++) {
        for (int half = 0; half < LANES; half += WIDE_LANES) {
            p.mass[0] = left + group * 3 * bins * LANES + half;
            p.mass[1] = right + group * 2 * bins * LANES + half;
            for (int side = 0; side < 2; side++)
                p.gradient[side] = left_gradient ? gradient[side] + half : NULL;
            wd value = wide_solve(&p);
            if (group == groups - 1)
                value = value * wd_load_float(score->tables->last_lanes + half);
            sum = sum + value;
        }
        if (left_gradient) {
            scatter_gradient(score, group, gradient[0], left_gradient);
            scatter_gradient(score, group, gradient[1], right_gradient);
        }
    }
    return score->settings.epsilon * score->kernel_sum + wd_total(sum) / (double)score->blocks;
}

#endif
