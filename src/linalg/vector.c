/* The elementwise and row kernels, in vectors of WFRE_LANES floats (simd.h); built once per
 * instruction set. Each states its equation; the reference table is their definition.
 *
 * A loop takes whole vectors and then one part of a vector, so a result never depends on where in a
 * longer array its element lies, save in sums. */
#include "linalg/kernels.h"
#include "linalg/narrow.h"
#include "simd/simd.h"

/* ---- the functions on one vector ---------------------------------------------------------- */

/* e^r for |r| <= ln(2)/2, the minimax polynomial of Cephes' expf. */
INLINE vf exp_small(vf r)
{
    vf p = vf_set(1.9875691500e-4f);
    p = vf_fma(p, r, vf_set(1.3981999507e-3f));
    p = vf_fma(p, r, vf_set(8.3334519073e-3f));
    p = vf_fma(p, r, vf_set(4.1665795894e-2f));
    p = vf_fma(p, r, vf_set(1.6666665459e-1f));
    p = vf_fma(p, r, vf_set(5.0000001201e-1f));
    return vf_fma(p, r * r, r) + 1.0f;
}

/* 2 m 2^(n-1), which reaches n = 128; needs n > -126. */
INLINE vf scale_by_power_of_two(vf m, vs n)
{
    return (m + m) * (vf)((vi)(n + 126) << 23);
}

INLINE vf vector_exp(vf x)
{
    const float lowest = -87.0f, highest = 88.8f;
    vs n;
    vf clipped = vf_max(vf_min(x, vf_set(highest)), vf_set(lowest));
    vf whole = vf_nearest(clipped * 1.44269504089f, &n);
    vf r = vf_fma(whole, vf_set(-0.693359375f), clipped);
    r = vf_fma(whole, vf_set(2.12194440e-4f), r);
    return vf_choose(x < lowest, vf_set(0.0f), scale_by_power_of_two(exp_small(r), n));
}

/* x = 2^exponent * m with m in [sqrt(1/2), sqrt(2)); returns log(m). x > 0 and finite; a subnormal
 * number is first multiplied by 2^23. */
INLINE vf log_mantissa(vf x, vf *exponent)
{
    vs tiny = x < 1.17549435e-38f;
    x = vf_choose(tiny, x * 8388608.0f, x);
    const int32_t root_half = 0x3F3504F3; /* sqrt(1/2) */
    vs bits = (vs)x - root_half;
    vs e = bits >> 23;
    vf f = (vf)((bits & 0x7FFFFF) + root_half) - 1.0f;
    *exponent = __builtin_convertvector(e + (tiny & -23), vf);
    vf p = vf_set(7.0376836292e-2f);
    p = vf_fma(p, f, vf_set(-1.1514610310e-1f));
    p = vf_fma(p, f, vf_set(1.1676998740e-1f));
    p = vf_fma(p, f, vf_set(-1.2420140846e-1f));
    p = vf_fma(p, f, vf_set(1.4249322787e-1f));
    p = vf_fma(p, f, vf_set(-1.6668057665e-1f));
    p = vf_fma(p, f, vf_set(2.0000714765e-1f));
    p = vf_fma(p, f, vf_set(-2.4999993993e-1f));
    p = vf_fma(p, f, vf_set(3.3333331174e-1f));
    vf square = f * f;
    return vf_fma(square, vf_set(-0.5f), f) + p * f * square;
}

INLINE vf vector_log(vf x)
{
    vf e;
    vf y = log_mantissa(x, &e);
    y = vf_fma(e, vf_set(-2.12194440e-4f), y);
    y = vf_fma(e, vf_set(0.693359375f), y);
    y = vf_choose(x == 0.0f, vf_set(-__builtin_inff()), y);
    return vf_choose(x == __builtin_inff(), x, y);
}

/* x^p = 2^(p e + p log2 m). p e is kept in two floats, since the whole part of the exponent may be
 * large and its last bits matter; overflow and underflow saturate. */
INLINE vf vector_power(vf x, vf p)
{
    vf e;
    vf fraction = p * (log_mantissa(x, &e) * 1.44269504089f);
    vf high = p * e, low = vf_fma(p, e, -high);
    vs n;
    vf clipped = vf_max(vf_min(high, vf_set(1000.0f)), vf_set(-1000.0f));
    vf whole = vf_nearest(clipped + fraction, &n);
    vf y = exp_small(((clipped - whole) + low + fraction) * 0.693147181f);
    y = scale_by_power_of_two(y, n);
    y = vf_choose(n > 128, vf_set(__builtin_inff()), y);
    y = vf_choose((n < -125) | (x == 0.0f), vf_set(0.0f), y);
    return y;
}

INLINE vf vector_sigmoid(vf x)
{
    return 1.0f / (1.0f + vector_exp(-x));
}

/* ---- elementwise -------------------------------------------------------------------------- */

/* y = f(x) */
INLINE void map(size_t n, const float *x, float *y, vf (*f)(vf x))
{
    size_t i = 0;
    for (; i + LANES <= n; i += LANES)
        vf_write(y + i, f(vf_read(x + i)));
    if (i < n)
        vf_store_part(y + i, f(vf_load_part(x + i, n - i)), n - i);
}

/* z = f(x, y) */
INLINE void map2(size_t n, const float *x, const float *y, float *z, vf (*f)(vf x, vf y))
{
    size_t i = 0;
    for (; i + LANES <= n; i += LANES)
        vf_write(z + i, f(vf_read(x + i), vf_read(y + i)));
    if (i < n)
        vf_store_part(z + i, f(vf_load_part(x + i, n - i), vf_load_part(y + i, n - i)), n - i);
}

/* y = f(x, p) with one p for all */
INLINE void map_with(size_t n, float p, const float *x, float *y, vf (*f)(vf x, vf p))
{
    vf all = vf_set(p);
    size_t i = 0;
    for (; i + LANES <= n; i += LANES)
        vf_write(y + i, f(vf_read(x + i), all));
    if (i < n)
        vf_store_part(y + i, f(vf_load_part(x + i, n - i), all), n - i);
}

INLINE vf one_minus(vf x)
{
    return 1.0f - x;
}

INLINE vf clamped(vf x)
{
    return vf_min(vf_max(x, vf_set(0.0f)), vf_set(1.0f));
}

INLINE vf product(vf x, vf y)
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
        map(n, x, y, vf_sqrt);
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
    vf all = vf_set(alpha);
    size_t i = 0;
    for (; i + LANES <= n; i += LANES)
        vf_write(y + i, vf_fma(all, vf_read(x + i), vf_read(y + i)));
    if (i < n)
        vf_store_part(y + i, vf_fma(all, vf_load_part(x + i, n - i), vf_load_part(y + i, n - i)),
                      n - i);
}

static void array_multiply_add(size_t n, const float *x, const float *y, float *z)
{
    size_t i = 0;
    for (; i + LANES <= n; i += LANES)
        vf_write(z + i, vf_fma(vf_read(x + i), vf_read(y + i), vf_read(z + i)));
    if (i < n) {
        vf part = vf_fma(vf_load_part(x + i, n - i), vf_load_part(y + i, n - i),
                         vf_load_part(z + i, n - i));
        vf_store_part(z + i, part, n - i);
    }
}

/* ---- t-norms ------------------------------------------------------------------------------ */

INLINE vf probabilistic_sum(vf x, vf y)
{
    return x + y - x * y;
}

INLINE vf bounded_and(vf x, vf y)
{
    return vf_max(vf_set(0.0f), x + y - 1.0f);
}

INLINE vf bounded_or(vf x, vf y)
{
    return vf_min(vf_set(1.0f), x + y);
}

static void array_combine(wfre_combine f, size_t n, const float *x, const float *y, float *z)
{
    switch (f) {
    case WFRE_COMBINE_MIN:
        map2(n, x, y, z, vf_min);
        break;
    case WFRE_COMBINE_MAX:
        map2(n, x, y, z, vf_max);
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

INLINE vf min_slope(vf x, vf y)
{
    return vf_choose(x < y, vf_set(1.0f), vf_choose(x > y, vf_set(0.0f), vf_set(0.5f)));
}

INLINE vf max_slope(vf x, vf y)
{
    return min_slope(y, x);
}

INLINE vf product_slope(vf x, vf y)
{
    (void)x;
    return y;
}

INLINE vf sum_slope(vf x, vf y)
{
    (void)x;
    return 1.0f - y;
}

INLINE vf bounded_and_slope(vf x, vf y)
{
    return vf_choose(x + y > 1.0f, vf_set(1.0f), vf_set(0.0f));
}

INLINE vf bounded_or_slope(vf x, vf y)
{
    return vf_choose(x + y < 1.0f, vf_set(1.0f), vf_set(0.0f));
}

/* dx += dz f'(x, y), dy += dz f'(y, x) */
INLINE void add_slopes(size_t n, const float *x, const float *y, const float *dz, float *dx,
                       float *dy, vf (*slope)(vf x, vf y))
{
    size_t i = 0;
    for (; i + LANES <= n; i += LANES) {
        vf a = vf_read(x + i), b = vf_read(y + i), g = vf_read(dz + i);
        vf_write(dx + i, vf_fma(g, slope(a, b), vf_read(dx + i)));
        vf_write(dy + i, vf_fma(g, slope(b, a), vf_read(dy + i)));
    }
    size_t rest = n - i;
    if (rest) {
        vf a = vf_load_part(x + i, rest), b = vf_load_part(y + i, rest),
           g = vf_load_part(dz + i, rest);
        vf_store_part(dx + i, vf_fma(g, slope(a, b), vf_load_part(dx + i, rest)), rest);
        vf_store_part(dy + i, vf_fma(g, slope(b, a), vf_load_part(dy + i, rest)), rest);
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
    vf whole;
    half halves[2];
} halves_of;

INLINE dvec lower(vf a)
{
    return __builtin_convertvector(((halves_of){a}).halves[0], dvec);
}

INLINE dvec upper(vf a)
{
    return __builtin_convertvector(((halves_of){a}).halves[1], dvec);
}

INLINE void add(totals *sums, vf a)
{
    sums->low += lower(a);
    sums->high += upper(a);
}

INLINE void add_product(totals *sums, vf a, vf b)
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
        add(&sums, vf_read(x + i));
    if (i < n)
        add(&sums, vf_load_part(x + i, n - i));
    return total(sums);
}

static double array_dot(size_t n, const float *x, const float *y)
{
    totals sums = {0};
    size_t i = 0;
    for (; i + LANES <= n; i += LANES)
        add_product(&sums, vf_read(x + i), vf_read(y + i));
    if (i < n)
        add_product(&sums, vf_load_part(x + i, n - i), vf_load_part(y + i, n - i));
    return total(sums);
}

static float array_dot_float(size_t n, const float *x, const float *y)
{
    vf sums[4] = {vf_set(0), vf_set(0), vf_set(0), vf_set(0)};
    size_t i = 0;
    for (; i + 4 * LANES <= n; i += 4 * LANES)
        for (size_t j = 0; j < 4; j++)
            sums[j] = vf_fma(vf_read(x + i + j * LANES), vf_read(y + i + j * LANES), sums[j]);
    for (; i + LANES <= n; i += LANES)
        sums[0] = vf_fma(vf_read(x + i), vf_read(y + i), sums[0]);
    if (i < n)
        sums[1] = vf_fma(vf_load_part(x + i, n - i), vf_load_part(y + i, n - i), sums[1]);
    vf all = (sums[0] + sums[1]) + (sums[2] + sums[3]);
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
    vf best = vf_set(x[0]);
    size_t i = 0;
    for (; i + LANES <= n; i += LANES)
        best = vf_max(best, vf_read(x + i));
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
        vf y = vector_exp(vf_read(x + i) - shift);
        vf_write(x + i, y);
        add(&sums, y);
    }
    if (i < n) {
        vf_store_part(x + i, vector_exp(vf_load_part(x + i, n - i) - shift), n - i);
        add(&sums, vf_load_part(x + i, n - i));
    }
    return total(sums);
}

/* ---- layer norm --------------------------------------------------------------------------- */

INLINE vf activate(wfre_activation activation, vf x)
{
    return activation == WFRE_SIGMOID ? vector_sigmoid(x)
           : activation == WFRE_RELU  ? vf_max(x, vf_set(0.0f))
                                      : x;
}

/* g = dy times the derivative of the activation, which its result y tells. */
INLINE vf activation_gradient(wfre_activation activation, vf y, vf dy)
{
    if (activation == WFRE_SIGMOID)
        return dy * (y * (1.0f - y));
    return activation == WFRE_RELU ? vf_choose(y > 0.0f, dy, vf_set(0.0f)) : dy;
}

static float squared_distance(size_t n, const float *x, float centre)
{
    vf total = vf_set(0.0f);
    size_t i = 0;
    for (; i + LANES <= n; i += LANES) {
        vf difference = vf_read(x + i) - centre;
        total = vf_fma(difference, difference, total);
    }
    float sum = vf_total(total);
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
        vf hat = (vf_read(x + i) - mean) * rstd;
        vf_write(y + i,
                 activate(activation, vf_fma(hat, vf_read(job->gain + i), vf_read(job->bias + i))));
    }
    size_t rest = n - i;
    if (rest) {
        vf hat = (vf_load_part(x + i, rest) - mean) * rstd;
        vf s = vf_fma(hat, vf_load_part(job->gain + i, rest), vf_load_part(job->bias + i, rest));
        vf_store_part(y + i, activate(activation, s), rest);
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
        float rstd = 1.0f / vf_sqrt(vf_set(variance + job->epsilon))[0];
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
    vf hat; /* (x - mean) rstd */
    vf g;   /* dy act' */
    vf h;   /* g gain */
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
    vf x = whole ? vf_read(row->x + i) : vf_load_part(row->x + i, count);
    vf y = whole ? vf_read(row->y + i) : vf_load_part(row->y + i, count);
    vf dy = whole ? vf_read(row->dy + i) : vf_load_part(row->dy + i, count);
    vf gain = whole ? vf_read(row->gain + i) : vf_load_part(row->gain + i, count);
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
    vf sum = vf_set(0.0f), projected = vf_set(0.0f);
    for (; i + LANES <= n; i += LANES) {
        norm_terms t = terms_at(activation, row, i, LANES);
        sum += t.h;
        projected = vf_fma(t.h, t.hat, projected);
        vf_write(dgain + i, vf_fma(t.g, t.hat, vf_read(dgain + i)));
        vf_write(dbias + i, t.g + vf_read(dbias + i));
    }
    size_t rest = n - i;
    if (rest) {
        norm_terms t = terms_at(activation, row, i, rest);
        sum += t.h;
        projected = vf_fma(t.h, t.hat, projected);
        vf_store_part(dgain + i, vf_fma(t.g, t.hat, vf_load_part(dgain + i, rest)), rest);
        vf_store_part(dbias + i, t.g + vf_load_part(dbias + i, rest), rest);
    }
    float mean_h = vf_total(sum) / (float)n, mean_h_hat = vf_total(projected) / (float)n;
    for (i = 0; i + LANES <= n; i += LANES) {
        norm_terms t = terms_at(activation, row, i, LANES);
        vf_write(dx + i, row->rstd * (t.h - mean_h - t.hat * mean_h_hat));
    }
    if (rest) {
        norm_terms t = terms_at(activation, row, i, rest);
        vf_store_part(dx + i, row->rstd * (t.h - mean_h - t.hat * mean_h_hat), rest);
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

/* ---- AdamW and Adagrad --------------------------------------------------------------------- */

typedef struct adamw_vectors {
    vf p, first, second;
} adamw_vectors;

/* The update of wfre_adamw (linalg.h) on one vector. */
INLINE adamw_vectors adamw_vector(const wfre_adamw *adamw, adamw_vectors old, vf gradient)
{
    vf g = gradient * adamw->gradient_scale;
    adamw_vectors new;
    new.first = vf_fma(vf_set(adamw->beta1), old.first, (1.0f - adamw->beta1) * g);
    new.second = vf_fma(vf_set(adamw->beta2), old.second, (1.0f - adamw->beta2) * g * g);
    vf root = vf_sqrt(adamw->correction2 * new.second) + adamw->epsilon;
    vf direction = adamw->correction1 * new.first / root;
    new.p = vf_fma(vf_set(-adamw->rate), vf_fma(vf_set(adamw->decay), old.p, direction), old.p);
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
        adamw_vectors v = {vf_read(p + i), vf_read(first + i), vf_read(second + i)};
        v = adamw_vector(&adamw, v, vf_read(gradient + i));
        vf_write(p + i, v.p);
        vf_write(first + i, v.first);
        vf_write(second + i, v.second);
        if (adamw.clear_gradient)
            vf_write(gradient + i, vf_set(0.0f));
    }
    size_t rest = n - i;
    if (rest) {
        adamw_vectors v = {vf_load_part(p + i, rest), vf_load_part(first + i, rest),
                           vf_load_part(second + i, rest)};
        v = adamw_vector(&adamw, v, vf_load_part(gradient + i, rest));
        vf_store_part(p + i, v.p, rest);
        vf_store_part(first + i, v.first, rest);
        vf_store_part(second + i, v.second, rest);
        if (adamw.clear_gradient)
            vf_store_part(gradient + i, vf_set(0.0f), rest);
    }
}

static void array_adagrad(size_t n, float rate, const float *gradient, float *p, float *squares)
{
    size_t i = 0;
    for (; i + LANES <= n; i += LANES) {
        vf g = vf_read(gradient + i), sum = vf_fma(g, g, vf_read(squares + i));
        vf_write(p + i, vf_read(p + i) - rate * g / (vf_sqrt(sum) + 1e-10f));
        vf_write(squares + i, sum);
    }
    size_t rest = n - i;
    if (rest) {
        vf g = vf_load_part(gradient + i, rest);
        vf sum = vf_fma(g, g, vf_load_part(squares + i, rest));
        vf_store_part(p + i, vf_load_part(p + i, rest) - rate * g / (vf_sqrt(sum) + 1e-10f), rest);
        vf_store_part(squares + i, sum, rest);
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
    .dot_rows = KERNEL(wfre_dot_rows),
    .add_to_rows = KERNEL(wfre_add_to_rows),
    .add_rows = KERNEL(wfre_add_rows),
    .maximum = array_maximum,
    .largest = KERNEL(wfre_largest),
    .exp_shifted = array_exp_shifted,
    .combine = array_combine,
    .combine_backward = array_combine_backward,
    .norm_forward = array_norm_forward,
    .norm_backward = array_norm_backward,
    .adamw = array_adamw,
    .adagrad = array_adagrad,
    .mix = KERNEL(wfre_mix),
    .transpose = KERNEL(wfre_transpose),
    .to_i8 = KERNEL(wfre_to_i8),
    .dots_i8 = KERNEL(wfre_dots_i8),
};
