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
 * Where no mass moves (one tap, H = 1) the iterations of a bin do not depend on other bins and have
 * a closed form: log psi is p log y - p^2 log x + p^2 log psi of the iteration before, so that
 * after n = L - 1 of them
 *
 *     psi = y^(p S) x^(-p^2 S) a^(-p^2n),   S = 1 + p^2 + ... + p^(2n-2)
 *
 * `factor` of right sides then holds the first power, `first` the rest: only the last iteration is
 * left to do.
 *
 * Precision. The last iteration goes through the logarithm t = log2(x / s), s = H psi:
 *
 *     phi^-eps - 1 = 2^(-(1-p) t) - 1,      phi = (x / s) phi^-eps
 *
 * The first is the gradient, computed without cancellation; the value sums x (1 - phi^-eps), small
 * numbers, and is nearly independent of the rounding of all iterations before. */
#ifndef WFRE_SRC_WFR_FLOAT_KERNELS_H
#define WFRE_SRC_WFR_FLOAT_KERNELS_H

#include "base/scope.h"

/* What a kernel is compiled for. */
typedef struct kernel_shape {
    int bins; /* at most MOST_FIXED_BINS: everything stays in registers; 0: any number */
    int taps; /* entries of H that are not zero, itself included; 0: any number */
    power_shape power;
    bool rough; /* for ranking: extrapolated, with polynomials of lower degree */
} kernel_shape;

enum { MOST_FIXED_BINS = 5 };

/* Runs a statement for every bin i: without a loop where their number is known when compiling, so
 * that the vectors need no addresses; and with a short loop otherwise. */
#define FOR_BINS(i, p, shape, ...)                                                                 \
    if ((shape).bins) {                                                                            \
        UNROLL                                                                                     \
        for (int i = 0; i < (shape).bins; i++) {                                                   \
            __VA_ARGS__                                                                            \
        }                                                                                          \
    } else {                                                                                       \
        for (int i = 0; i < (p)->bins; i++) {                                                      \
            __VA_ARGS__                                                                            \
        }                                                                                          \
    }

/* Where the number of bins is not known, zeros stand on both sides of the scaling vectors for the
 * taps that reach over the edge. */
enum { PADDING = WFRE_BLOCK_LIMIT, PADDED = WFRE_BLOCK_LIMIT + 2 * PADDING };

/* Ranking needs psi of the last three iterations. */
enum { PSI_ROWS = 3 };

enum { STREAMS = 2 };

/* STREAMS groups are solved at the same time. An iteration is a long chain of dependent
 * instructions; while one group waits for its chain, the other one runs. */
typedef struct lane_group {
    const float *left; /* its part of the sides */
    const float *right;
    vf *psi;         /* PSI_ROWS rows of bins vectors */
    float *gradient; /* 2 * bins vectors, left then right; or NULL */
} lane_group;

typedef struct lane_problem {
    const float_tables *tables;
    int bins;
    int taps;
    lane_group groups[STREAMS];
} lane_problem;

/* ---- elementary functions ----------------------------------------------------------------- */

/* x = 2^e (1 + f), 1 + f in [sqrt 1/2, sqrt 2): f, and *exponent = e 2^23. */
INLINE vf vf_split_power(vf x, vf *exponent)
{
    vi high = ((vi)x - vi_set(0x3F3504F3)) & vi_set(0xFF800000);
    *exponent = vi_to_float(high);
    return (vf)((vi)x - high) - vf_set(1);
}

/* log2 of a positive normal number: exact at 1, absolute error below 1e-7 around it, half a unit in
 * the last place of the result elsewhere. */
INLINE vf vf_log2(vf x)
{
    static const float c[] = {0x1.715476p+0f, -0x1.71552cp-1f, 0x1.ec756ep-2f, -0x1.70dedep-2f,
                              0x1.262f0ep-2f, -0x1.fe823ap-3f, 0x1.dc78f4p-3f, -0x1.245f38p-3f};
    vf exponent, f = vf_split_power(x, &exponent), poly = vf_set(c[7]);
    UNROLL
    for (int i = 6; i >= 0; i--)
        poly = vf_fma(poly, f, vf_set(c[i]));
    return vf_fma(poly, f, exponent * vf_set(0x1p-23f));
}

/* 2^23 log2(x / y), the logarithm to 2e-5. */
INLINE vf vf_log2_ratio(vf x, vf y)
{
    static const float c[] = {0x1.714ccap+23f, -0x1.70c388p+22f, 0x1.f25ddap+21f, -0x1.940b92p+21f,
                              0x1.02b962p+21f};
    vf inverse = vf_reciprocal(y);
    vf exponent, f = vf_split_power((x * inverse) * vf_fnma(y, inverse, vf_set(2)), &exponent);
    vf poly = vf_set(c[4]);
    UNROLL
    for (int i = 3; i >= 0; i--)
        poly = vf_fma(poly, f, vf_set(c[i]));
    return vf_fma(poly, f, exponent);
}

/* t rounded to an integer, added to the magic number, whose last bits then hold it; *f is the
 * rest. */
INLINE vf vf_split(vf t, vf *f)
{
    const vf magic = vf_set(0x1.8p23f);
    vf shifted = t + magic;
    *f = t - (shifted - magic);
    return shifted;
}

/* 2^t - 1 and *power = 2^t, both with a small relative error, also near t = 0; |t| < 126. */
INLINE vf vf_exp2m1(vf t, vf *power)
{
    static const float c[] = {0x1.62e430p-1f, 0x1.ebfbe0p-3f,  0x1.c6af6cp-5f,
                              0x1.3b2a54p-7f, 0x1.5f0890p-10f, 0x1.44138ap-13f};
    vf f, shifted = vf_split(t, &f), poly = vf_set(c[5]);
    UNROLL
    for (int i = 4; i >= 0; i--)
        poly = vf_fma(poly, f, vf_set(c[i]));
    poly = poly * f; /* 2^f - 1 */
    vf scale = (vf)(((vi)shifted << 23) + (vi)(vf_set(1)));
    *power = vf_fma(scale, poly, scale);
    return vf_fma(scale, poly, scale - vf_set(1));
}

/* x^e, |e log2 x| < 126, to a few units in the last place: e, rounded so that it times a binary
 * exponent is exact, and what that leaves. */
INLINE vf vf_pow(vf x, vf e_high, vf e_low)
{
    static const float c[] = {0x1.715476p+0f, -0x1.71552cp-1f, 0x1.ec756ep-2f, -0x1.70dedep-2f,
                              0x1.262f0ep-2f, -0x1.fe823ap-3f, 0x1.dc78f4p-3f, -0x1.245f38p-3f};
    vf exponent, f = vf_split_power(x, &exponent), poly = vf_set(c[7]), rest, power;
    UNROLL
    for (int i = 6; i >= 0; i--)
        poly = vf_fma(poly, f, vf_set(c[i]));
    exponent = exponent * vf_set(0x1p-23f);
    vf whole = vf_split(exponent * e_high, &rest);
    rest = vf_fma(exponent, e_low, rest);
    rest = vf_fma(poly * f, e_high + e_low, rest);
    (void)vf_exp2m1(rest, &power);
    return (vf)((vi)power + ((vi)whole << 23));
}

/* x 2^t to 4e-6 of it, where that is a normal number. */
INLINE vf vf_scale(vf x, vf t)
{
    static const float c[] = {0x1.ffffe8p-1f, 0x1.62e0dcp-1f, 0x1.ec06dap-3f, 0x1.ca1440p-5f,
                              0x1.3997d6p-7f};
    vf f, shifted = vf_split(t, &f), poly = vf_set(c[4]);
    UNROLL
    for (int i = 3; i >= 0; i--)
        poly = vf_fma(poly, f, vf_set(c[i]));
    return (vf)((vi)(x * poly) + ((vi)shifted << 23));
}

/* ---- iterations --------------------------------------------------------------------------- */

INLINE int bins_of(const lane_problem *p, kernel_shape shape)
{
    return shape.bins ? shape.bins : p->bins;
}

/* Part `part` of a side: 0 mass, 1 factor, 2 first. */
INLINE vf part_of(const lane_problem *p, const float *side, int part, int i, kernel_shape shape)
{
    return vf_load(side + (part * bins_of(p, shape) + i) * LANES);
}

/* sum + kernel_k (from_{i-k} + from_{i+k}) */
INLINE vf add_tap(const float kernel[][MOST_LANES], const vf *from, int i, int k, vf sum,
                  kernel_shape shape)
{
    const bool padded = shape.bins == 0;
    bool below = padded || i >= k, above = padded || i + k < shape.bins;
    if (below && above)
        return vf_fma(vf_load(kernel[k]), from[i - k] + from[i + k], sum);
    if (below)
        return vf_fma(vf_load(kernel[k]), from[i - k], sum);
    if (above)
        return vf_fma(vf_load(kernel[k]), from[i + k], sum);
    return sum;
}

/* sum_j kernel_|i-j| from_j; kernel_0 is 1. */
INLINE vf product(const lane_problem *p, const float kernel[][MOST_LANES], const vf *from, int i,
                  kernel_shape shape)
{
    vf sum = from[i];
    if (shape.taps) {
        UNROLL
        for (int k = shape.taps - 1; k > 0; k--)
            sum = add_tap(kernel, from, i, k, sum, shape);
    } else {
        for (int k = p->taps - 1; k > 0; k--)
            sum = add_tap(kernel, from, i, k, sum, shape);
    }
    return sum;
}

/* factor s^-p; the polynomial has the degree of the shape's power. */
INLINE vf raise(const lane_problem *p, const float poly[][MOST_LANES], const float *side, vf s,
                int i, kernel_shape shape)
{
    return vf_power(p->tables, poly, s, part_of(p, side, 1, i, shape), shape.power);
}

/* phi and psi of a group while it is iterated. Local to a kernel, so that the compiler sees that no
 * store changes the constants, and can keep both in registers where the number of bins is known. */
typedef struct scalings {
    vf phi[PADDED];
    vf psi[PADDED];
} scalings;

INLINE void start(const lane_problem *p, const lane_group *g, scalings *scaling, kernel_shape shape)
{
    for (int k = 1; !shape.bins && k < p->taps; k++) {
        int below = PADDING - k, above = PADDING + p->bins - 1 + k;
        scaling->phi[below] = scaling->phi[above] = vf_set(0);
        scaling->psi[below] = scaling->psi[above] = vf_set(0);
    }
    FOR_BINS(i, p, shape, scaling->psi[PADDING + i] = g->psi[i];)
}

/* to = (mass / (H from))^p at bin i. */
INLINE void update(const lane_problem *p, const vf *from, vf *to, const float *side, int i,
                   kernel_shape shape)
{
    const float_tables *t = p->tables;
    vf s = product(p, t->h, from, i, shape);
    to[i] = raise(p, shape.rough ? t->rough_poly : t->poly, side, s, i, shape);
}

INLINE void half_iteration(const lane_problem *p, const vf *from, vf *to, const float *side,
                           kernel_shape shape)
{
    FOR_BINS(i, p, shape, update(p, from, to, side, i, shape);)
}

INLINE vf *psi_row(const lane_problem *p, const lane_group *g, uint32_t row, kernel_shape shape)
{
    return g->psi + (size_t)(row % PSI_ROWS) * (size_t)bins_of(p, shape);
}

INLINE void keep_psi(const lane_problem *p, const scalings *scaling, uint32_t row,
                     kernel_shape shape)
{
    UNROLL
    for (int s = 0; s < STREAMS; s++) {
        vf *kept = psi_row(p, &p->groups[s], row, shape);
        FOR_BINS(i, p, shape, kept[i] = scaling[s].psi[PADDING + i];)
    }
}

/* `count` iterations of all groups, starting from psi in row 0. What iteration l gives goes to row
 * l % PSI_ROWS where rough; else only the last one's, to row 0. */
INLINE void iterate(const lane_problem *p, uint32_t count, kernel_shape shape)
{
    scalings scaling[STREAMS];
    const lane_group *g = p->groups;
    UNROLL
    for (int s = 0; s < STREAMS; s++)
        start(p, &g[s], &scaling[s], shape);
    for (uint32_t l = 1; l <= count; l++) {
        UNROLL
        for (int s = 0; s < STREAMS; s++)
            half_iteration(p, scaling[s].psi + PADDING, scaling[s].phi + PADDING, g[s].left, shape);
        UNROLL
        for (int s = 0; s < STREAMS; s++)
            half_iteration(p, scaling[s].phi + PADDING, scaling[s].psi + PADDING, g[s].right,
                           shape);
        if (shape.rough)
            keep_psi(p, scaling, l, shape);
    }
    if (!shape.rough)
        keep_psi(p, scaling, 0, shape);
}

/* ---- the last iteration ------------------------------------------------------------------- */

/* One bin; returns mass (1 - to^-eps) = mass - to s. */
INLINE vf finish_bin(const lane_problem *p, const vf *from, vf *to, const float *side,
                     float *gradient, int i, kernel_shape shape)
{
    vf mass = part_of(p, side, 0, i, shape);
    vf s = product(p, p->tables->h, from, i, shape);
    if (shape.rough) {
        to[i] = raise(p, p->tables->poly, side, s, i, shape);
        return vf_fnma(to[i], s, mass);
    }
    vf ratio = mass / s, power; /* to^-eps, and excess = to^-eps - 1 */
    vf excess = vf_exp2m1(vf_log2(ratio) * vf_load(p->tables->minus_root), &power);
    to[i] = ratio * power;
    if (gradient)
        vf_store(gradient + i * LANES, excess);
    return vf_fnma(mass, excess, vf_set(0));
}

/* epsilon (sum_j K_ij - psi_i (K phi)_i). The two are close: taking the difference bin by bin keeps
 * the value's partial sums small. */
INLINE vf untransported(const lane_problem *p, const vf *phi, const vf *psi, int i,
                        kernel_shape shape)
{
    vf share = vf_load(p->tables->epsilon) * psi[i];
    return vf_fnma(share, product(p, p->tables->k, phi, i, shape), vf_load(p->tables->k_row[i]));
}

/* The value of each block: eight terms at a time are summed in float, those sums in double. */
typedef struct block_values {
    vf few;
    vd many;
} block_values;

INLINE void move_terms(block_values *values)
{
    vd few = vd_widen(values->few);
    values->many.part[0] += few.part[0];
    values->many.part[1] += few.part[1];
    values->few = vf_set(0);
}

INLINE void add_term(block_values *values, vf term, int i)
{
    values->few += term;
    if (i % 8 == 7)
        move_terms(values);
}

/* The last iteration, from psi, and the value of each block. */
INLINE void finish(const lane_problem *p, vd *result, kernel_shape shape)
{
    scalings scaling[STREAMS];
    block_values values[STREAMS];
    UNROLL
    for (int s = 0; s < STREAMS; s++) {
        const lane_group *g = &p->groups[s];
        const vf *psi = scaling[s].psi + PADDING;
        vf *phi = scaling[s].phi + PADDING;
        start(p, g, &scaling[s], shape);
        values[s] = (block_values){vf_set(0), {{wd_set(0), wd_set(0)}}};
        FOR_BINS(i, p, shape, {
            add_term(&values[s], finish_bin(p, psi, phi, g->left, g->gradient, i, shape), i);
        })
    }
    UNROLL
    for (int s = 0; s < STREAMS; s++) {
        const lane_group *g = &p->groups[s];
        const vf *phi = scaling[s].phi + PADDING;
        vf *psi = scaling[s].psi + PADDING;
        float *gradient = g->gradient ? g->gradient + p->bins * LANES : NULL;
        FOR_BINS(i, p, shape, {
            add_term(&values[s], finish_bin(p, phi, psi, g->right, gradient, i, shape), i);
        })
    }
    UNROLL
    for (int s = 0; s < STREAMS; s++) {
        const vf *phi = scaling[s].phi + PADDING, *psi = scaling[s].psi + PADDING;
        FOR_BINS(i, p, shape, add_term(&values[s], untransported(p, phi, psi, i, shape), i);)
        move_terms(&values[s]);
        result[s] = values[s].many;
    }
}

/* ---- extrapolation ------------------------------------------------------------------------ */

/* Near the fixed point log psi moves by e_k in iteration k, a sum of modes that shrink by a
 * constant factor each. One is known: scaling psi by a constant shrinks by p^2. The next one
 * shrinks by a factor that is estimated from the last two steps, each less its mean (weighted by
 * y):
 *
 *     lambda = <r_k, r_{k-1}> / <r_{k-1}, r_{k-1}>,   r = e - mean e
 *
 * z = e_k - p^2 e_{k-1} has no part in the first mode, so that the second one's part of e_k is
 * z lambda / (lambda - p^2). Both are carried to iteration L - 1 as geometric sums. */

/* What lambda is made of: sums of y times 1, e_k, e_{k-1}, e_k e_{k-1} and e_{k-1}^2. */
typedef struct step_sums {
    vf weight, last, before, cross, square;
} step_sums;

INLINE void add_steps(step_sums *sums, vf mass, vf last, vf before)
{
    vf weighted = mass * before;
    sums->weight += mass;
    sums->before += weighted;
    sums->last = vf_fma(mass, last, sums->last);
    sums->cross = vf_fma(weighted, last, sums->cross);
    sums->square = vf_fma(weighted, before, sums->square);
}

INLINE vf estimate_lambda(const step_sums *sums, const float_tables *t)
{
    vf cross = vf_fnma(sums->last, sums->before, sums->weight * sums->cross);
    vf square = vf_fnma(sums->before, sums->before, sums->weight * sums->square);
    /* Slower modes outlive this one, hence a little more; and it must stay clear of p^2. */
    vf lambda = cross / vf_max(square, vf_set(1e-30f)) * vf_set(1.02f);
    return vf_max(vf_set(0), vf_min(lambda, vf_load(t->most_lambda)));
}

/* The last two steps of a group, e_k and e_{k-1}, each times 2^23 (vf_log2_ratio). */
typedef struct steps {
    vf last[WFRE_BLOCK_LIMIT];
    vf before[WFRE_BLOCK_LIMIT];
    vf lambda;
} steps;

/* `row` holds psi of iteration k. */
INLINE void take_steps(const lane_problem *p, const lane_group *g, uint32_t row, steps *taken,
                       kernel_shape shape)
{
    const vf *now = psi_row(p, g, row, shape);
    const vf *old = psi_row(p, g, row + PSI_ROWS - 1, shape);
    const vf *older = psi_row(p, g, row + PSI_ROWS - 2, shape);
    step_sums sums = {vf_set(0), vf_set(0), vf_set(0), vf_set(0), vf_set(0)};
    FOR_BINS(i, p, shape, {
        taken->last[i] = vf_log2_ratio(now[i], old[i]);
        taken->before[i] = vf_log2_ratio(old[i], older[i]);
        add_steps(&sums, part_of(p, g->right, 0, i, shape), taken->last[i], taken->before[i]);
    })
    taken->lambda = estimate_lambda(&sums, p->tables);
}

/* lambda + ... + lambda^n: of the leading bits of n first, then doubled for each next bit. */
INLINE vf geometric_sum(vf lambda, uint32_t n)
{
    vf sum = lambda, power = lambda;
    for (int bit = 30 - __builtin_clz(n); bit >= 0; bit--) {
        sum = vf_fma(power, sum, sum);
        power = power * power;
        if (n >> bit & 1) {
            sum = vf_fma(lambda, sum, lambda);
            power = power * lambda;
        }
    }
    return sum;
}

/* psi from iteration k in `row` to L - 1 in row 0. */
INLINE void leap(const lane_problem *p, const lane_group *g, uint32_t row, const steps *taken,
                 kernel_shape shape)
{
    const float_tables *t = p->tables;
    vf lambda = taken->lambda, known = vf_load(t->scale_factor);
    vf known_sum = vf_load(t->scale_sum);
    vf second = lambda / (lambda - known) * (geometric_sum(lambda, t->skipped) - known_sum);
    vf of_last = (known_sum + second) * vf_set(0x1p-23f);
    vf of_before = second * known * vf_set(-0x1p-23f);
    const vf *now = psi_row(p, g, row, shape);
    FOR_BINS(i, p, shape, {
        /* Limited, so that even where this is far off psi is a number. */
        vf move = vf_fma(of_before, taken->before[i], of_last * taken->last[i]);
        g->psi[i] = vf_scale(now[i], vf_max(vf_set(-30), vf_min(move, vf_set(30))));
    })
}

INLINE void skip_iterations(const lane_problem *p, uint32_t row, kernel_shape shape)
{
    steps taken[STREAMS];
    UNROLL
    for (int s = 0; s < STREAMS; s++)
        take_steps(p, &p->groups[s], row, &taken[s], shape);
    UNROLL
    for (int s = 0; s < STREAMS; s++)
        leap(p, &p->groups[s], row, &taken[s], shape);
}

/* ---- a pair ------------------------------------------------------------------------------- */

/* What is compiled for each shape; see vector_slots.h. */
typedef struct kernel_set {
    void (*iterate)(const lane_problem *p, uint32_t count);
    void (*finish)(const lane_problem *p, vd *values);
    void (*iterate_rough)(const lane_problem *p, uint32_t count);
    void (*skip)(const lane_problem *p, uint32_t row);
    void (*finish_rough)(const lane_problem *p, vd *values);
} kernel_set;

/* psi after the first iteration, or after all but the last where no mass moves: first * factor. */
static void first_iteration(const lane_problem *p)
{
    for (int s = 0; s < STREAMS; s++) {
        const lane_group *g = &p->groups[s];
        const float *first = g->left + 2 * p->bins * LANES, *factor = g->right + p->bins * LANES;
        for (int i = 0; i < p->bins; i++)
            g->psi[i] = vf_load(first + i * LANES) * vf_load(factor + i * LANES);
    }
}

/* All iterations but the last; there are at least two. */
static void solve_groups(const lane_problem *p, uint32_t iterations)
{
    first_iteration(p);
    if (p->tables->closed)
        return;
    /* In pieces, which give the same bits as all at once. */
    uint32_t most = 1 + WFRE_PACE / (uint32_t)(p->bins * p->taps), left = iterations - 2;
    for (; left > most; left -= most) {
        p->tables->kernels->iterate(p, most);
        if (wfre_may_leave())
            return;
    }
    p->tables->kernels->iterate(p, left);
}

/* `iterations` true ones, at least 3; then as if all but the last were done. */
static void solve_groups_extrapolated(const lane_problem *p, uint32_t iterations)
{
    const kernel_set *kernels = p->tables->kernels;
    first_iteration(p);
    kernels->iterate_rough(p, iterations - 1);
    kernels->skip(p, iterations - 1);
}

/* Lanes to rows: element (block, bin) of the group from vector `bin`, lane `block`. */
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

/* The sum of the values of all blocks. */
static double sum_groups(const wfre_score *score, lane_problem *p, const float *left,
                         const float *right, float *left_gradient, float *right_gradient,
                         bool rough)
{
    const kernel_set *kernels = p->tables->kernels;
    const size_t vectors = (size_t)(p->bins * LANES);
    const size_t count = (score->blocks + LANES - 1) / LANES;
    const size_t effort = (size_t)(p->bins * p->taps) * score->settings.iterations;
    size_t done = 0;
    wd sum = wd_set(0);
    for (size_t first = 0; first < count; first += STREAMS) {
        vd values[STREAMS];
        if (wfre_leave_after(&done, effort))
            break;
        for (int s = 0; s < STREAMS; s++) { /* beyond the last group, that one again */
            size_t at = first + (size_t)s < count ? first + (size_t)s : count - 1;
            p->groups[s].left = left + at * 3 * vectors;
            p->groups[s].right = right + at * 2 * vectors;
        }
        if (rough) {
            solve_groups_extrapolated(p, score->rank_iterations);
            kernels->finish_rough(p, values);
        } else {
            solve_groups(p, score->settings.iterations);
            kernels->finish(p, values);
        }
        for (size_t s = 0; s < STREAMS && first + s < count; s++) {
            const float *gradient = p->groups[s].gradient;
            vd used = vd_widen(first + s < count - 1 ? vf_set(1) : vf_load(p->tables->last_lanes));
            sum += values[s].part[0] * used.part[0] + values[s].part[1] * used.part[1];
            if (gradient) {
                scatter_gradient(score, first + s, gradient, left_gradient);
                scatter_gradient(score, first + s, gradient + vectors, right_gradient);
            }
        }
    }
    return wd_total(sum);
}

static double solve_pair(const wfre_score *score, const float *left, const float *right,
                         float *left_gradient, float *right_gradient, bool rough)
{
    _Alignas(64) float gradient[STREAMS][2 * WFRE_BLOCK_LIMIT * LANES];
    vf psi[STREAMS][PSI_ROWS * WFRE_BLOCK_LIMIT];
    lane_problem p = {
        .tables = score->tables, .bins = (int)score->settings.block, .taps = (int)score->window};
    for (int s = 0; s < STREAMS; s++) {
        p.groups[s].psi = psi[s];
        p.groups[s].gradient = left_gradient ? gradient[s] : NULL;
    }
    unsigned state = flush_denormals();
    double sum = sum_groups(score, &p, left, right, left_gradient, right_gradient, rough);
    restore_denormals(state);
    return sum / (double)score->blocks;
}

/* ---- packing ------------------------------------------------------------------------------ */

/* Vector i, lane l of the group: bin i of its l-th block. Blocks beyond the last one are empty. */
static void gather_group(const wfre_score *score, const float *row, size_t group, float *mass)
{
    float copy[LANES * WFRE_BLOCK_LIMIT];
    int bins = (int)score->settings.block;
    size_t first = group * LANES;
    const float *blocks = row + first * (size_t)bins;
    if (first + LANES > score->blocks) {
        size_t present = (score->blocks - first) * (size_t)bins;
        for (size_t i = 0; i < LANES * (size_t)bins; i++)
            copy[i] = i < present ? blocks[i] : 0;
        blocks = copy;
    }
    vf floor = vf_set((float)score->settings.floor);
    for (int i = 0; i < bins; i++)
        vf_store(mass + i * LANES, vf_gather(blocks + i, bins) + floor);
}

/* x^p as (1/x)^-p */
INLINE vf raised_mass(const float_tables *tables, const float *mass, power_shape power)
{
    vf inverse = vf_set(1) / vf_load(mass);
    return vf_power(tables, tables->poly, inverse, vf_set(1), power);
}

INLINE void pack_right_side(const wfre_score *score, const float *row, float *side,
                            power_shape power)
{
    const float_tables *t = score->tables;
    int bins = (int)score->settings.block;
    size_t done = 0;
    for (size_t group = 0; group * LANES < score->blocks; group++, side += 2 * bins * LANES) {
        if (wfre_leave_after(&done, (size_t)bins))
            return;
        gather_group(score, row, group, side);
        for (int i = 0; i < bins; i++)
            vf_store(side + (bins + i) * LANES,
                     t->closed ? vf_pow(vf_load(side + i * LANES), vf_load(t->right_high),
                                        vf_load(t->right_low))
                               : raised_mass(t, side + i * LANES, power));
    }
}

/* The part of psi that the left side has, where iterations have a closed form. */
INLINE void pack_left_closed(const wfre_score *score, const float *row, float *side)
{
    const float_tables *t = score->tables;
    int bins = (int)score->settings.block;
    size_t done = 0;
    for (size_t group = 0; group * LANES < score->blocks; group++, side += 3 * bins * LANES) {
        if (wfre_leave_after(&done, (size_t)bins))
            return;
        gather_group(score, row, group, side);
        for (int i = 0; i < bins; i++)
            vf_store(side + (2 * bins + i) * LANES,
                     vf_load(t->left_scale) * vf_pow(vf_load(side + i * LANES),
                                                     vf_load(t->left_high), vf_load(t->left_low)));
    }
}

INLINE void pack_left_side(const wfre_score *score, const float *row, float *side,
                           power_shape power)
{
    const float_tables *tables = score->tables;
    int bins = (int)score->settings.block;
    const kernel_shape shape = {.power = power};
    if (tables->closed) {
        pack_left_closed(score, row, side);
        return;
    }
    vf padded[PADDED];
    lane_problem p = {.tables = tables, .bins = bins, .taps = (int)score->window};
    for (int i = PADDING - p.taps; i < PADDING + bins + p.taps; i++)
        padded[i] = vf_set(0);
    vf *phi = padded + PADDING;
    size_t done = 0;
    for (size_t group = 0; group * LANES < score->blocks; group++, side += 3 * bins * LANES) {
        if (wfre_leave_after(&done, (size_t)(bins * p.taps)))
            return;
        gather_group(score, row, group, side);
        for (int i = 0; i < bins; i++) {
            vf factor = raised_mass(tables, side + i * LANES, power);
            vf_store(side + (bins + i) * LANES, factor);
            phi[i] = factor * vf_load(tables->first[i]);
        }
        for (int i = 0; i < bins; i++) {
            vf s = product(&p, tables->h, phi, i, shape);
            vf_store(side + (2 * bins + i) * LANES,
                     vf_power(tables, tables->poly, s, vf_set(1), power));
        }
    }
}

#endif
