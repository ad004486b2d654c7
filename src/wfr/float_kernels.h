/* The float kernels, for any vector width: include a vec*.h before this file. One lane holds one
 * block, so that a product with H is a few multiply-adds of whole vectors and nothing moves between
 * lanes.
 *
 * A side is one group after another, each of LANES blocks (the last padded with empty ones):
 *
 *     mass    a vectors   x = u + floor
 *     factor  a vectors   x^p
 *     first   a vectors   (H phi)^-p after the first half iteration; left sides only
 *
 * Precision. The last iteration is done through the logarithm t = log2(x / s), s = H psi:
 *
 *     phi^-eps - 1 = 2^(-(1-p) t) - 1,      phi = (x / s) phi^-eps
 *
 * The first is the gradient, computed without cancellation; the value sums x (1 - phi^-eps), small
 * numbers, and is nearly independent of the rounding of all iterations before. */
#ifndef WFRE_SRC_WFR_FLOAT_KERNELS_H
#define WFRE_SRC_WFR_FLOAT_KERNELS_H

#include <string.h>

#define INLINE static inline __attribute__((always_inline))

/* Loops over bins or taps whose counts are known when compiling vanish entirely. */
#if defined(__clang__)
#define UNROLL _Pragma("unroll 16")
#else
#define UNROLL _Pragma("GCC unroll 16")
#endif

/* What a kernel is compiled for. Zero means: any number, known only when it runs. With `bins` known
 * everything stays in registers through all iterations. */
enum { MOST_FIXED_BINS = 8 };

typedef struct kernel_shape {
    int bins; /* 0 or at most MOST_FIXED_BINS */
    int taps;
    power_shape power;
} kernel_shape;

/* ---- elementary functions ----------------------------------------------------------------- */

/* log2 of a positive normal number: absolute error below 1.5e-7 for numbers around 1, and half a
 * unit in the last place of the result elsewhere. Exact at 1. */
INLINE vf vf_log2(vf x)
{
    /* x = 2^e m with m in [sqrt 1/2, sqrt 2) */
    static const float c[] = {0x1.715476p+0f, -0x1.71552cp-1f, 0x1.ec756ep-2f, -0x1.70dedep-2f,
                              0x1.262f0ep-2f, -0x1.fe823ap-3f, 0x1.dc78f4p-3f, -0x1.245f38p-3f};
    vi exponent = vi_and(vi_sub(vi_bits(x), vi_set(0x3F3504F3)), vi_set((int)0xFF800000));
    vf f = vf_sub(vi_as_float(vi_sub(vi_bits(x), exponent)), vf_set(1));
    vf poly = vf_set(c[7]);
    for (int i = 6; i >= 0; i--)
        poly = vf_fma(poly, f, vf_set(c[i]));
    vf e = vf_mul(vi_to_float(exponent), vf_set(0x1p-23f));
    return vf_fma(poly, f, e);
}

/* 2^t - 1, with relative error near t = 0 like everywhere; |t| < 126. */
INLINE vf vf_exp2m1(vf t)
{
    static const float c[] = {0x1.62e430p-1f, 0x1.ebfbe0p-3f,  0x1.c6af6cp-5f,
                              0x1.3b2a54p-7f, 0x1.5f0890p-10f, 0x1.44138ap-13f};
    const vf magic = vf_set(0x1.8p23f); /* its last bits hold the integer that was added */
    vf shifted = vf_add(t, magic);
    vf f = vf_sub(t, vf_sub(shifted, magic));
    vf poly = vf_set(c[5]);
    for (int i = 4; i >= 0; i--)
        poly = vf_fma(poly, f, vf_set(c[i]));
    poly = vf_mul(poly, f); /* 2^f - 1 */
    vf scale = vi_as_float(vi_add(vi_shift_left(vi_bits(shifted), 23), vi_bits(vf_set(1))));
    return vf_fma(scale, poly, vf_sub(scale, vf_set(1)));
}

/* ---- one group ---------------------------------------------------------------------------- */

/* The scaling vectors of a group. Where the number of bins is not known, zeros stand on both sides
 * for the taps that reach over the edge; `bin` points between them. */
enum { PADDING = WFRE_BLOCK_LIMIT, PADDED = WFRE_BLOCK_LIMIT + 2 * PADDING };

typedef struct problem {
    const float_tables *tables;
    int bins;
    int taps;
    float epsilon;
    float root; /* -(1 - p) */
    vf *phi;    /* bins vectors, padded unless the shape knows their number */
    vf *psi;
    float *gradient; /* 2 * bins vectors, left then right; or NULL */
} problem;

/* sum_j kernel_|i-j| from_j; kernel_0 is 1. */
INLINE vf product(const problem *p, const float kernel[][MOST_LANES], const vf *from, int i,
                  kernel_shape shape)
{
    const bool padded = shape.bins == 0;
    const int taps = shape.taps ? shape.taps : p->taps;
    vf sum = from[i];
    UNROLL
    for (int k = taps - 1; k > 0; k--) {
        bool below = padded || i >= k, above = padded || i + k < shape.bins;
        if (below && above)
            sum = vf_fma(vf_load(kernel[k]), vf_add(from[i - k], from[i + k]), sum);
        else if (below)
            sum = vf_fma(vf_load(kernel[k]), from[i - k], sum);
        else if (above)
            sum = vf_fma(vf_load(kernel[k]), from[i + k], sum);
    }
    return sum;
}

INLINE void update(const problem *p, const vf *from, vf *to, const float *factor, int i,
                   kernel_shape shape)
{
    vf s = product(p, p->tables->h, from, i, shape);
    to[i] = vf_power(p->tables, s, vf_load(factor + i * LANES), shape.power);
}

/* to = (mass / (H from))^p, with mass^p given as `factor` */
INLINE void half_iteration(const problem *p, const vf *from, vf *to, const float *factor,
                           kernel_shape shape)
{
    if (shape.bins) {
        UNROLL
        for (int i = 0; i < shape.bins; i++)
            update(p, from, to, factor, i, shape);
    } else {
        for (int i = 0; i < p->bins; i++)
            update(p, from, to, factor, i, shape);
    }
}

/* The same for one bin of the last iteration; adds mass (1 - to^-eps) to the value. */
INLINE vf finish(const problem *p, const vf *from, vf *to, const float *mass, float *gradient,
                 int i, vf value, kernel_shape shape)
{
    vf x = vf_load(mass + i * LANES);
    vf ratio = vf_div(x, product(p, p->tables->h, from, i, shape));
    vf excess = vf_exp2m1(vf_mul(vf_log2(ratio), vf_set(p->root))); /* to^-eps - 1 */
    to[i] = vf_fma(ratio, excess, ratio);
    if (gradient)
        vf_store(gradient + i * LANES, excess);
    return vf_fnma(x, excess, value);
}

INLINE vf last_half_iteration(const problem *p, const vf *from, vf *to, const float *mass,
                              float *gradient, vf value, kernel_shape shape)
{
    if (shape.bins) {
        UNROLL
        for (int i = 0; i < shape.bins; i++)
            value = finish(p, from, to, mass, gradient, i, value, shape);
    } else {
        for (int i = 0; i < p->bins; i++)
            value = finish(p, from, to, mass, gradient, i, value, shape);
    }
    return value;
}

/* psi' K phi */
INLINE vf transported(const problem *p, kernel_shape shape)
{
    vf sum = vf_set(0);
    if (shape.bins) {
        UNROLL
        for (int i = 0; i < shape.bins; i++)
            sum = vf_fma(p->psi[i], product(p, p->tables->k, p->phi, i, shape), sum);
    } else {
        for (int i = 0; i < p->bins; i++)
            sum = vf_fma(p->psi[i], product(p, p->tables->k, p->phi, i, shape), sum);
    }
    return sum;
}

/* The last iteration, from psi: the value less epsilon sum K, the same for all blocks. */
INLINE vf last_iteration(const problem *p, const float *left, const float *right,
                         kernel_shape shape)
{
    float *left_gradient = p->gradient;
    float *right_gradient = p->gradient ? p->gradient + p->bins * LANES : NULL;
    vf value = vf_set(0);
    value = last_half_iteration(p, p->psi, p->phi, left, left_gradient, value, shape);
    value = last_half_iteration(p, p->phi, p->psi, right, right_gradient, value, shape);
    return vf_fnma(vf_set(p->epsilon), transported(p, shape), value);
}

/* psi after the first iteration, or 1/a if that is also the last. */
INLINE void start(const problem *p, const float *left, const float *right, uint32_t iterations,
                  kernel_shape shape)
{
    const int bins = shape.bins ? shape.bins : p->bins;
    const float *first = left + 2 * bins * LANES, *factor = right + bins * LANES;
    UNROLL
    for (int i = 0; i < bins; i++)
        p->psi[i] = iterations == 1
                        ? vf_set(1 / (float)bins)
                        : vf_mul(vf_load(first + i * LANES), vf_load(factor + i * LANES));
}

INLINE vf solve_group(const problem *p, const float *left, const float *right, uint32_t iterations,
                      kernel_shape shape)
{
    const int bins = shape.bins ? shape.bins : p->bins;
    start(p, left, right, iterations, shape);
    for (uint32_t l = 2; l < iterations; l++) {
        half_iteration(p, p->psi, p->phi, left + bins * LANES, shape);
        half_iteration(p, p->phi, p->psi, right + bins * LANES, shape);
    }
    return last_iteration(p, left, right, shape);
}

/* ---- a pair ------------------------------------------------------------------------------- */

/* Lanes to rows: element (block, bin) of group g from vector `bin`, lane `block`. */
static void scatter_gradient(const wfre_score *score, size_t group, const float *vectors,
                             float *row)
{
    int bins = (int)score->settings.block;
    float scale = -1 / (float)score->blocks;
    size_t first = group * LANES;
    size_t count = score->blocks - first < LANES ? score->blocks - first : LANES;
    row += first * (size_t)bins;
    for (size_t block = 0; block < count; block++)
        for (int i = 0; i < bins; i++)
            *row++ = scale * vectors[i * LANES + (int)block];
}

/* Sums the groups. phi and psi of the problem are the caller's. */
INLINE double solve_groups(const wfre_score *score, problem *p, const float *left,
                           const float *right, float *left_gradient, float *right_gradient,
                           kernel_shape shape)
{
    const int bins = shape.bins ? shape.bins : p->bins;
    const size_t groups = (score->blocks + LANES - 1) / LANES;
    vd sum = vd_zero();
    for (size_t group = 0; group < groups; group++) {
        vf value = solve_group(p, left, right, score->settings.iterations, shape);
        if (group == groups - 1)
            value = vf_mul(value, vf_load(p->tables->last_lanes));
        sum = vd_add_float(sum, value);
        if (p->gradient) {
            scatter_gradient(score, group, p->gradient, left_gradient);
            scatter_gradient(score, group, p->gradient + bins * LANES, right_gradient);
        }
        left += 3 * bins * LANES;
        right += 2 * bins * LANES;
    }
    return score->settings.epsilon * score->kernel_sum + vd_total(sum) / (double)score->blocks;
}

INLINE double solve_pair(const wfre_score *score, const float *left, const float *right,
                         float *left_gradient, float *right_gradient, kernel_shape shape)
{
    _Alignas(64) float gradient[2 * WFRE_BLOCK_LIMIT * LANES];
    problem p = {
        .tables = score->tables,
        .bins = (int)score->settings.block,
        .taps = (int)score->window,
        .epsilon = (float)score->settings.epsilon,
        .root = (float)(score->exponent - 1),
        .gradient = left_gradient ? gradient : NULL,
    };
    if (shape.bins) {
        vf phi[MOST_FIXED_BINS], psi[MOST_FIXED_BINS];
        p.phi = phi;
        p.psi = psi;
        return solve_groups(score, &p, left, right, left_gradient, right_gradient, shape);
    }
    vf phi[PADDED], psi[PADDED];
    for (int i = 0; i < p.bins + 2 * p.taps; i++)
        phi[PADDING - p.taps + i] = psi[PADDING - p.taps + i] = vf_set(0);
    p.phi = phi + PADDING;
    p.psi = psi + PADDING;
    return solve_groups(score, &p, left, right, left_gradient, right_gradient, shape);
}

/* ---- packing ------------------------------------------------------------------------------ */

/* Vector i, lane l of the group: bin i of its l-th block. Blocks beyond the last one are empty. */
static void gather_group(const wfre_score *score, const float *row, size_t group, float *mass)
{
    int bins = (int)score->settings.block;
    float floor = (float)score->settings.floor;
    size_t first = group * LANES;
    for (size_t lane = 0; lane < LANES; lane++) {
        const float *block = row + (first + lane) * (size_t)bins;
        bool present = first + lane < score->blocks;
        for (int i = 0; i < bins; i++)
            mass[i * LANES + (int)lane] = present ? block[i] + floor : floor;
    }
}

/* x^p as (1/x)^-p */
static void pack_factors(const float_tables *tables, int bins, float *mass, power_shape power)
{
    for (int i = 0; i < bins; i++) {
        vf inverse = vf_div(vf_set(1), vf_load(mass + i * LANES));
        vf_store(mass + (bins + i) * LANES, vf_power(tables, inverse, vf_set(1), power));
    }
}

INLINE void pack_right_side(const wfre_score *score, const float *row, float *side,
                            power_shape power)
{
    int bins = (int)score->settings.block;
    for (size_t group = 0; group * LANES < score->blocks; group++, side += 2 * bins * LANES) {
        gather_group(score, row, group, side);
        pack_factors(score->tables, bins, side, power);
    }
}

INLINE void pack_left_side(const wfre_score *score, const float *row, float *side,
                           power_shape power)
{
    const float_tables *tables = score->tables;
    int bins = (int)score->settings.block;
    const kernel_shape shape = {0, 0, power};
    vf padded[PADDED];
    for (int i = 0; i < PADDED; i++)
        padded[i] = vf_set(0);
    vf *phi = padded + PADDING;
    problem p = {.tables = tables, .bins = bins, .taps = (int)score->window};
    for (size_t group = 0; group * LANES < score->blocks; group++, side += 3 * bins * LANES) {
        gather_group(score, row, group, side);
        pack_factors(tables, bins, side, power);
        for (int i = 0; i < bins; i++)
            phi[i] = vf_mul(vf_load(side + (bins + i) * LANES), vf_load(tables->first[i]));
        for (int i = 0; i < bins; i++) {
            vf s = product(&p, tables->h, phi, i, shape);
            vf_store(side + (2 * bins + i) * LANES, vf_power(tables, s, vf_set(1), power));
        }
    }
}

#endif
