/* The elementwise and row kernels, in vectors of WFRE_LANES floats (simd.h); built once per
 * instruction set. Each states its equation; the reference table is their definition.
 *
 * A loop takes whole vectors and then one part of a vector, so a result never depends on where in a
 * longer array its element lies, save in sums. */
#include "linalg/kernels.h"
#include "linalg/narrow.h"
#include "linalg/simd.h"

/* ---- the functions on one vector ---------------------------------------------------------- */

/* e^r for |r| <= ln(2)/2, the minimax polynomial of Cephes' expf. */
INLINE vec exp_small(vec r)
{
    vec p = splat(1.9875691500e-4f);
    p = muladd(p, r, splat(1.3981999507e-3f));
    p = muladd(p, r, splat(8.3334519073e-3f));
    p = muladd(p, r, splat(4.1665795894e-2f));
    p = muladd(p, r, splat(1.6666665459e-1f));
    p = muladd(p, r, splat(5.0000001201e-1f));
    return muladd(p, r * r, r) + 1.0f;
}

/* 2 m 2^(n-1), which reaches n = 128; needs n > -126. */
INLINE vec scale_by_power_of_two(vec m, ivec n)
{
    return (m + m) * (vec)((uvec)(n + 126) << 23);
}

INLINE vec vector_exp(vec x)
{
    const float lowest = -87.0f, highest = 88.8f;
    ivec n;
    vec clipped = maximum(minimum(x, splat(highest)), splat(lowest));
    vec whole = nearest(clipped * 1.44269504089f, &n);
    vec r = muladd(whole, splat(-0.693359375f), clipped);
    r = muladd(whole, splat(2.12194440e-4f), r);
    return choose(x < lowest, splat(0.0f), scale_by_power_of_two(exp_small(r), n));
}

/* x = 2^exponent * m with m in [sqrt(1/2), sqrt(2)); returns log(m). x > 0 and finite; a subnormal
 * number is first multiplied by 2^23. */
INLINE vec log_mantissa(vec x, vec *exponent)
{
    ivec tiny = x < 1.17549435e-38f;
    x = choose(tiny, x * 8388608.0f, x);
    const int32_t root_half = 0x3F3504F3; /* sqrt(1/2) */
    ivec bits = (ivec)x - root_half;
    ivec e = bits >> 23;
    vec f = (vec)((bits & 0x7FFFFF) + root_half) - 1.0f;
    *exponent = __builtin_convertvector(e + (tiny & -23), vec);
    vec p = splat(7.0376836292e-2f);
    p = muladd(p, f, splat(-1.1514610310e-1f));
    p = muladd(p, f, splat(1.1676998740e-1f));
    p = muladd(p, f, splat(-1.2420140846e-1f));
    p = muladd(p, f, splat(1.4249322787e-1f));
    p = muladd(p, f, splat(-1.6668057665e-1f));
    p = muladd(p, f, splat(2.0000714765e-1f));
    p = muladd(p, f, splat(-2.4999993993e-1f));
    p = muladd(p, f, splat(3.3333331174e-1f));
    vec square = f * f;
    return muladd(square, splat(-0.5f), f) + p * f * square;
}

INLINE vec vector_log(vec x)
{
    vec e;
    vec y = log_mantissa(x, &e);
    y = muladd(e, splat(-2.12194440e-4f), y);
    y = muladd(e, splat(0.693359375f), y);
    y = choose(x == 0.0f, splat(-__builtin_inff()), y);
    return choose(x == __builtin_inff(), x, y);
}

/* x^p = 2^(p e + p log2 m). p e is kept in two floats, since the whole part of the exponent may be
 * large and its last bits matter; overflow and underflow saturate. */
INLINE vec vector_power(vec x, vec p)
{
    vec e;
    vec fraction = p * (log_mantissa(x, &e) * 1.44269504089f);
    vec high = p * e, low = muladd(p, e, -high);
    ivec n;
    vec clipped = maximum(minimum(high, splat(1000.0f)), splat(-1000.0f));
    vec whole = nearest(clipped + fraction, &n);
    vec y = exp_small(((clipped - whole) + low + fraction) * 0.693147181f);
    y = scale_by_power_of_two(y, n);
    y = choose(n > 128, splat(__builtin_inff()), y);
    y = choose((n < -125) | (x == 0.0f), splat(0.0f), y);
    return y;
}

INLINE vec vector_sigmoid(vec x)
{
    return 1.0f / (1.0f + vector_exp(-x));
}

/* ---- elementwise -------------------------------------------------------------------------- */

/* y = f(x) */
INLINE void map(size_t n, const float *x, float *y, vec (*f)(vec x))
{
    size_t i = 0;
    for (; i + LANES <= n; i += LANES)
        store(y + i, f(load(x + i)));
    if (i < n)
        store_part(y + i, f(load_part(x + i, n - i)), n - i);
}

/* z = f(x, y) */
INLINE void map2(size_t n, const float *x, const float *y, float *z, vec (*f)(vec x, vec y))
{
    size_t i = 0;
    for (; i + LANES <= n; i += LANES)
        store(z + i, f(load(x + i), load(y + i)));
    if (i < n)
        store_part(z + i, f(load_part(x + i, n - i), load_part(y + i, n - i)), n - i);
}

/* y = f(x, p) with one p for all */
INLINE void map_with(size_t n, float p, const float *x, float *y, vec (*f)(vec x, vec p))
{
    vec all = splat(p);
    size_t i = 0;
    for (; i + LANES <= n; i += LANES)
        store(y + i, f(load(x + i), all));
    if (i < n)
        store_part(y + i, f(load_part(x + i, n - i), all), n - i);
}

INLINE vec one_minus(vec x)
{
    return 1.0f - x;
}

INLINE vec clamped(vec x)
{
    return minimum(maximum(x, splat(0.0f)), splat(1.0f));
}

INLINE vec product(vec x, vec y)
{
    return x * y;
}

static void array_exp(size_t n, const float *x, float *y)
{
    map(n, x, y, vector_exp);
}

static void array_log(size_t n, const float *x, float *y)
{
    map(n, x, y, vector_log);
}

/* The square root, which is an instruction, is the power most asked for. */
static void array_power(size_t n, float p, const float *x, float *y)
{
    if (p == 0.5f)
        map(n, x, y, square_root);
    else
        map_with(n, p, x, y, vector_power);
}

static void array_sigmoid(size_t n, const float *x, float *y)
{
    map(n, x, y, vector_sigmoid);
}

static void array_complement(size_t n, const float *x, float *y)
{
    map(n, x, y, one_minus);
}

static void array_clamp01(size_t n, const float *x, float *y)
{
    map(n, x, y, clamped);
}

static void array_scale(size_t n, float alpha, float *x)
{
    map_with(n, alpha, x, x, product);
}

static void array_multiply(size_t n, const float *x, const float *y, float *z)
{
    map2(n, x, y, z, product);
}

static void array_axpy(size_t n, float alpha, const float *x, float *y)
{
    vec all = splat(alpha);
    size_t i = 0;
    for (; i + LANES <= n; i += LANES)
        store(y + i, muladd(all, load(x + i), load(y + i)));
    if (i < n)
        store_part(y + i, muladd(all, load_part(x + i, n - i), load_part(y + i, n - i)), n - i);
}

static void array_multiply_add(size_t n, const float *x, const float *y, float *z)
{
    size_t i = 0;
    for (; i + LANES <= n; i += LANES)
        store(z + i, muladd(load(x + i), load(y + i), load(z + i)));
    if (i < n) {
        vec part =
            muladd(load_part(x + i, n - i), load_part(y + i, n - i), load_part(z + i, n - i));
        store_part(z + i, part, n - i);
    }
}

/* ---- t-norms ------------------------------------------------------------------------------ */

INLINE vec probabilistic_sum(vec x, vec y)
{
    return x + y - x * y;
}

INLINE vec bounded_and(vec x, vec y)
{
    return maximum(splat(0.0f), x + y - 1.0f);
}

INLINE vec bounded_or(vec x, vec y)
{
    return minimum(splat(1.0f), x + y);
}

static void array_combine(wfre_combine f, size_t n, const float *x, const float *y, float *z)
{
    switch (f) {
    case WFRE_COMBINE_MIN:
        map2(n, x, y, z, minimum);
        break;
    case WFRE_COMBINE_MAX:
        map2(n, x, y, z, maximum);
        break;
    case WFRE_COMBINE_PRODUCT:
        map2(n, x, y, z, product);
        break;
    case WFRE_COMBINE_SUM:
        map2(n, x, y, z, probabilistic_sum);
        break;
    case WFRE_COMBINE_BOUNDED_AND:
        map2(n, x, y, z, bounded_and);
        break;
    case WFRE_COMBINE_BOUNDED_OR:
        map2(n, x, y, z, bounded_or);
        break;
    }
}

/* The slopes df/dx; every f is symmetric, so df/dy is the same with its arguments exchanged. */

INLINE vec min_slope(vec x, vec y)
{
    return choose(x < y, splat(1.0f), choose(x > y, splat(0.0f), splat(0.5f)));
}

INLINE vec max_slope(vec x, vec y)
{
    return min_slope(y, x);
}

INLINE vec product_slope(vec x, vec y)
{
    (void)x;
    return y;
}

INLINE vec sum_slope(vec x, vec y)
{
    (void)x;
    return 1.0f - y;
}

INLINE vec bounded_and_slope(vec x, vec y)
{
    return choose(x + y > 1.0f, splat(1.0f), splat(0.0f));
}

INLINE vec bounded_or_slope(vec x, vec y)
{
    return choose(x + y < 1.0f, splat(1.0f), splat(0.0f));
}

/* dx += dz f'(x, y), dy += dz f'(y, x) */
INLINE void add_slopes(size_t n, const float *x, const float *y, const float *dz, float *dx,
                       float *dy, vec (*slope)(vec x, vec y))
{
    size_t i = 0;
    for (; i + LANES <= n; i += LANES) {
        vec a = load(x + i), b = load(y + i), g = load(dz + i);
        store(dx + i, muladd(g, slope(a, b), load(dx + i)));
        store(dy + i, muladd(g, slope(b, a), load(dy + i)));
    }
    size_t rest = n - i;
    if (rest) {
        vec a = load_part(x + i, rest), b = load_part(y + i, rest), g = load_part(dz + i, rest);
        store_part(dx + i, muladd(g, slope(a, b), load_part(dx + i, rest)), rest);
        store_part(dy + i, muladd(g, slope(b, a), load_part(dy + i, rest)), rest);
    }
}

static void array_combine_backward(wfre_combine f, size_t n, const float *x, const float *y,
                                   const float *dz, float *dx, float *dy)
{
    switch (f) {
    case WFRE_COMBINE_MIN:
        add_slopes(n, x, y, dz, dx, dy, min_slope);
        break;
    case WFRE_COMBINE_MAX:
        add_slopes(n, x, y, dz, dx, dy, max_slope);
        break;
    case WFRE_COMBINE_PRODUCT:
        add_slopes(n, x, y, dz, dx, dy, product_slope);
        break;
    case WFRE_COMBINE_SUM:
        add_slopes(n, x, y, dz, dx, dy, sum_slope);
        break;
    case WFRE_COMBINE_BOUNDED_AND:
        add_slopes(n, x, y, dz, dx, dy, bounded_and_slope);
        break;
    case WFRE_COMBINE_BOUNDED_OR:
        add_slopes(n, x, y, dz, dx, dy, bounded_or_slope);
        break;
    }
}

/* ---- sums and rows ------------------------------------------------------------------------ */

/* Sums are kept in double precision, one for each lane:
 * those of the lower and of the upper half. */
typedef float half __attribute__((vector_size(2 * WFRE_LANES)));
typedef double dvec __attribute__((vector_size(4 * WFRE_LANES)));
typedef struct totals {
    dvec low, high;
} totals;

typedef union halves_of {
    vec whole;
    half halves[2];
} halves_of;

INLINE dvec lower(vec a)
{
    return __builtin_convertvector(((halves_of){a}).halves[0], dvec);
}

INLINE dvec upper(vec a)
{
    return __builtin_convertvector(((halves_of){a}).halves[1], dvec);
}

INLINE void add(totals *sums, vec a)
{
    sums->low += lower(a);
    sums->high += upper(a);
}

INLINE void add_product(totals *sums, vec a, vec b)
{
    sums->low += lower(a) * lower(b);
    sums->high += upper(a) * upper(b);
}

INLINE double total(totals sums)
{
    dvec lanes = sums.low + sums.high;
    double sum = 0;
    for (int i = 0; i < LANES / 2; i++)
        sum += lanes[i];
    return sum;
}

static double array_sum(size_t n, const float *x)
{
    totals sums = {0};
    size_t i = 0;
    for (; i + LANES <= n; i += LANES)
        add(&sums, load(x + i));
    if (i < n)
        add(&sums, load_part(x + i, n - i));
    return total(sums);
}

static double array_dot(size_t n, const float *x, const float *y)
{
    totals sums = {0};
    size_t i = 0;
    for (; i + LANES <= n; i += LANES)
        add_product(&sums, load(x + i), load(y + i));
    if (i < n)
        add_product(&sums, load_part(x + i, n - i), load_part(y + i, n - i));
    return total(sums);
}

static float array_dot_float(size_t n, const float *x, const float *y)
{
    vec sums[4] = {splat(0.0f), splat(0.0f), splat(0.0f), splat(0.0f)};
    size_t i = 0;
    for (; i + 4 * LANES <= n; i += 4 * LANES)
        for (size_t j = 0; j < 4; j++)
            sums[j] = muladd(load(x + i + j * LANES), load(y + i + j * LANES), sums[j]);
    for (; i + LANES <= n; i += LANES)
        sums[0] = muladd(load(x + i), load(y + i), sums[0]);
    if (i < n)
        sums[1] = muladd(load_part(x + i, n - i), load_part(y + i, n - i), sums[1]);
    vec all = (sums[0] + sums[1]) + (sums[2] + sums[3]);
    float sum = 0;
    for (int lane = 0; lane < LANES; lane++)
        sum += all[lane];
    return sum;
}

static double array_squared_norm(size_t n, const float *x)
{
    return array_dot(n, x, x);
}

static float array_maximum(size_t n, const float *x)
{
    vec best = splat(x[0]);
    size_t i = 0;
    for (; i + LANES <= n; i += LANES)
        best = maximum(best, load(x + i));
    float highest = best[0];
    for (int lane = 1; lane < LANES; lane++)
        highest = best[lane] > highest ? best[lane] : highest;
    for (; i < n; i++)
        highest = x[i] > highest ? x[i] : highest;
    return highest;
}

static double array_exp_shifted(size_t n, float shift, float *x)
{
    totals sums = {0};
    size_t i = 0;
    for (; i + LANES <= n; i += LANES) {
        vec y = vector_exp(load(x + i) - shift);
        store(x + i, y);
        add(&sums, y);
    }
    if (i < n) {
        store_part(x + i, vector_exp(load_part(x + i, n - i) - shift), n - i);
        add(&sums, load_part(x + i, n - i));
    }
    return total(sums);
}

/* ---- layer norm --------------------------------------------------------------------------- */

INLINE vec activate(wfre_activation activation, vec x)
{
    return activation == WFRE_SIGMOID ? vector_sigmoid(x)
           : activation == WFRE_RELU  ? maximum(x, splat(0.0f))
                                      : x;
}

/* g = dy times the derivative of the activation, which its result y tells. */
INLINE vec activation_gradient(wfre_activation activation, vec y, vec dy)
{
    return activation == WFRE_SIGMOID ? dy * (y * (1.0f - y))
           : activation == WFRE_RELU  ? choose(y > 0.0f, dy, splat(0.0f))
                                      : dy;
}

static float squared_distance(size_t n, const float *x, float centre)
{
    vec total = splat(0.0f);
    size_t i = 0;
    for (; i + LANES <= n; i += LANES) {
        vec difference = load(x + i) - centre;
        total = muladd(difference, difference, total);
    }
    float sum = lane_sum(total);
    for (; i < n; i++)
        sum += (x[i] - centre) * (x[i] - centre);
    return sum;
}

/* y = activation(gain (x - mean) rstd + bias) */
INLINE void norm_row(wfre_activation activation, const wfre_norm_job *job, const float *x, float *y,
                     float mean, float rstd)
{
    size_t i = 0, n = job->width;
    for (; i + LANES <= n; i += LANES) {
        vec hat = (load(x + i) - mean) * rstd;
        store(y + i, activate(activation, muladd(hat, load(job->gain + i), load(job->bias + i))));
    }
    size_t rest = n - i;
    if (rest) {
        vec hat = (load_part(x + i, rest) - mean) * rstd;
        vec s = muladd(hat, load_part(job->gain + i, rest), load_part(job->bias + i, rest));
        store_part(y + i, activate(activation, s), rest);
    }
}

static void array_norm_forward(const wfre_norm_job *job, size_t first, size_t last)
{
    for (size_t row = first; row < last; row++) {
        const float *x = job->x + row * job->ldx;
        float *y = job->y + row * job->ldy;
        float width = (float)job->width;
        float mean = (float)(array_sum(job->width, x) / (double)width);
        float variance = squared_distance(job->width, x, mean) / width;
        float rstd = 1.0f / square_root(splat(variance + job->epsilon))[0];
        job->mean[row] = mean;
        job->rstd[row] = rstd;
        switch (job->activation) {
        case WFRE_LINEAR:
            norm_row(WFRE_LINEAR, job, x, y, mean, rstd);
            break;
        case WFRE_RELU:
            norm_row(WFRE_RELU, job, x, y, mean, rstd);
            break;
        case WFRE_SIGMOID:
            norm_row(WFRE_SIGMOID, job, x, y, mean, rstd);
            break;
        }
    }
}

/* The pieces of one row that its gradient needs at columns i .. i+LANES-1. */
typedef struct norm_terms {
    vec hat; /* (x - mean) rstd */
    vec g;   /* dy act' */
    vec h;   /* g gain */
} norm_terms;

typedef struct norm_gradient {
    size_t width;
    const float *x, *y, *dy, *gain;
    float mean, rstd;
} norm_gradient;

INLINE norm_terms terms_at(wfre_activation activation, const norm_gradient *row, size_t i,
                           size_t count)
{
    bool whole = count == LANES;
    vec x = whole ? load(row->x + i) : load_part(row->x + i, count);
    vec y = whole ? load(row->y + i) : load_part(row->y + i, count);
    vec dy = whole ? load(row->dy + i) : load_part(row->dy + i, count);
    vec gain = whole ? load(row->gain + i) : load_part(row->gain + i, count);
    norm_terms terms;
    terms.hat = (x - row->mean) * row->rstd;
    terms.g = activation_gradient(activation, y, dy);
    terms.h = terms.g * gain;
    return terms;
}

/* dx = rstd (h - mean(h) - hat mean(h hat)); dgain += g hat, dbias += g. Past the end of a row dy
 * reads as zero, and with it g and h. */
INLINE void norm_row_backward(wfre_activation activation, const norm_gradient *row, float *dx,
                              float *dgain, float *dbias)
{
    size_t n = row->width, i = 0;
    vec sum = splat(0.0f), projected = splat(0.0f);
    for (; i + LANES <= n; i += LANES) {
        norm_terms t = terms_at(activation, row, i, LANES);
        sum += t.h;
        projected = muladd(t.h, t.hat, projected);
        store(dgain + i, muladd(t.g, t.hat, load(dgain + i)));
        store(dbias + i, t.g + load(dbias + i));
    }
    size_t rest = n - i;
    if (rest) {
        norm_terms t = terms_at(activation, row, i, rest);
        sum += t.h;
        projected = muladd(t.h, t.hat, projected);
        store_part(dgain + i, muladd(t.g, t.hat, load_part(dgain + i, rest)), rest);
        store_part(dbias + i, t.g + load_part(dbias + i, rest), rest);
    }
    float mean_h = lane_sum(sum) / (float)n, mean_h_hat = lane_sum(projected) / (float)n;
    for (i = 0; i + LANES <= n; i += LANES) {
        norm_terms t = terms_at(activation, row, i, LANES);
        store(dx + i, row->rstd * (t.h - mean_h - t.hat * mean_h_hat));
    }
    if (rest) {
        norm_terms t = terms_at(activation, row, i, rest);
        store_part(dx + i, row->rstd * (t.h - mean_h - t.hat * mean_h_hat), rest);
    }
}

static void array_norm_backward(const wfre_norm_job *job, size_t first, size_t last, float *dgain,
                                float *dbias)
{
    for (size_t index = first; index < last; index++) {
        float *dx = job->dx + index * job->lddx;
        norm_gradient row = {.width = job->width,
                             .x = job->x + index * job->ldx,
                             .y = job->y + index * job->ldy,
                             .dy = job->dy + index * job->lddy,
                             .gain = job->gain,
                             .mean = job->mean[index],
                             .rstd = job->rstd[index]};
        switch (job->activation) {
        case WFRE_LINEAR:
            norm_row_backward(WFRE_LINEAR, &row, dx, dgain, dbias);
            break;
        case WFRE_RELU:
            norm_row_backward(WFRE_RELU, &row, dx, dgain, dbias);
            break;
        case WFRE_SIGMOID:
            norm_row_backward(WFRE_SIGMOID, &row, dx, dgain, dbias);
            break;
        }
    }
}

/* ---- AdamW -------------------------------------------------------------------------------- */

typedef struct adamw_vectors {
    vec p, first, second;
} adamw_vectors;

/* The update of wfre_adamw (linalg.h) on one vector. */
INLINE adamw_vectors adamw_vector(const wfre_adamw *adamw, adamw_vectors old, vec gradient)
{
    vec g = gradient * adamw->gradient_scale;
    adamw_vectors new;
    new.first = muladd(splat(adamw->beta1), old.first, (1.0f - adamw->beta1) * g);
    new.second = muladd(splat(adamw->beta2), old.second, (1.0f - adamw->beta2) * g * g);
    vec root = square_root(adamw->correction2 * new.second) + adamw->epsilon;
    vec direction = adamw->correction1 * new.first / root;
    new.p = muladd(splat(-adamw->rate), muladd(splat(adamw->decay), old.p, direction), old.p);
    if (adamw->project)
        new.p = clamped(new.p);
    return new;
}

static void array_adamw(const wfre_adamw *settings, size_t n, float *p, float *first, float *second,
                        float *gradient)
{
    const wfre_adamw adamw = *settings; /* a copy that no store can change */
    size_t i = 0;
    for (; i + LANES <= n; i += LANES) {
        adamw_vectors v = {load(p + i), load(first + i), load(second + i)};
        v = adamw_vector(&adamw, v, load(gradient + i));
        store(p + i, v.p);
        store(first + i, v.first);
        store(second + i, v.second);
        if (adamw.clear_gradient)
            store(gradient + i, splat(0.0f));
    }
    size_t rest = n - i;
    if (rest) {
        adamw_vectors v = {load_part(p + i, rest), load_part(first + i, rest),
                           load_part(second + i, rest)};
        v = adamw_vector(&adamw, v, load_part(gradient + i, rest));
        store_part(p + i, v.p, rest);
        store_part(first + i, v.first, rest);
        store_part(second + i, v.second, rest);
        if (adamw.clear_gradient)
            store_part(gradient + i, splat(0.0f), rest);
    }
}

const wfre_vector_table KERNEL(wfre_vector) = {
    .isa = SIMD_ISA,
    .exp = array_exp,
    .log = array_log,
    .power = array_power,
    .sigmoid = array_sigmoid,
    .complement = array_complement,
    .clamp01 = array_clamp01,
    .scale = array_scale,
    .axpy = array_axpy,
    .multiply = array_multiply,
    .multiply_add = array_multiply_add,
    .sum = array_sum,
    .dot = array_dot,
    .squared_norm = array_squared_norm,
    .dot_float = array_dot_float,
    .maximum = array_maximum,
    .largest = KERNEL(wfre_largest),
    .exp_shifted = array_exp_shifted,
    .combine = array_combine,
    .combine_backward = array_combine_backward,
    .norm_forward = array_norm_forward,
    .norm_backward = array_norm_backward,
    .adamw = array_adamw,
    .mix = KERNEL(wfre_mix),
    .transpose = KERNEL(wfre_transpose),
    .to_i8 = KERNEL(wfre_to_i8),
    .dots_i8 = KERNEL(wfre_dots_i8),
};
