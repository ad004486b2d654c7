/* The definition of every kernel: plain C, computed in double precision where that is more exact.
 * Slow on purpose; the other tables are tested against this one. */
#include <math.h>

#include "base/bf16.h"
#include "linalg/gemm.h"
#include "linalg/kernels.h"

/* ---- elementwise -------------------------------------------------------------------------- */

static void reference_exp(size_t n, const float *x, float *y)
{
    for (size_t i = 0; i < n; i++)
        y[i] = (float)exp((double)x[i]);
}

static void reference_log(size_t n, const float *x, float *y)
{
    for (size_t i = 0; i < n; i++)
        y[i] = (float)log((double)x[i]);
}

static void reference_power(size_t n, float p, const float *x, float *y)
{
    for (size_t i = 0; i < n; i++)
        y[i] = (float)pow((double)x[i], (double)p);
}

static double logistic(double x)
{
    return 1.0 / (1.0 + exp(-x));
}

static void reference_sigmoid(size_t n, const float *x, float *y)
{
    for (size_t i = 0; i < n; i++)
        y[i] = (float)logistic((double)x[i]);
}

static void reference_complement(size_t n, const float *x, float *y)
{
    for (size_t i = 0; i < n; i++)
        y[i] = 1.0f - x[i];
}

static void reference_clamp01(size_t n, const float *x, float *y)
{
    for (size_t i = 0; i < n; i++)
        y[i] = fminf(fmaxf(x[i], 0.0f), 1.0f);
}

static void reference_scale(size_t n, float alpha, float *x)
{
    for (size_t i = 0; i < n; i++)
        x[i] *= alpha;
}

static void reference_axpy(size_t n, float alpha, const float *x, float *y)
{
    for (size_t i = 0; i < n; i++)
        y[i] += alpha * x[i];
}

static void reference_multiply(size_t n, const float *x, const float *y, float *z)
{
    for (size_t i = 0; i < n; i++)
        z[i] = x[i] * y[i];
}

static void reference_multiply_add(size_t n, const float *x, const float *y, float *z)
{
    for (size_t i = 0; i < n; i++)
        z[i] += x[i] * y[i];
}

/* ---- sums and rows ------------------------------------------------------------------------ */

static double reference_dot(size_t n, const float *x, const float *y)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += (double)x[i] * (double)y[i];
    return sum;
}

static double reference_sum(size_t n, const float *x)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += (double)x[i];
    return sum;
}

static float reference_dot_float(size_t n, const float *x, const float *y)
{
    return (float)reference_dot(n, x, y);
}

static void reference_dot_rows(size_t n, const float *x, size_t count, const float *const *rows,
                               float *sums)
{
    for (size_t r = 0; r < count; r++)
        sums[r] = (float)reference_dot(n, x, rows[r]);
}

static void reference_add_to_rows(size_t n, const float *x, size_t count, const float *factors,
                                  float *const *rows)
{
    for (size_t r = 0; r < count; r++)
        reference_axpy(n, factors[r], x, rows[r]);
}

static void reference_add_rows(size_t n, size_t count, const float *factors,
                               const float *const *rows, float *y)
{
    for (size_t r = 0; r < count; r++)
        reference_axpy(n, factors[r], rows[r], y);
}

static double reference_squared_norm(size_t n, const float *x)
{
    return reference_dot(n, x, x);
}

static float reference_maximum(size_t n, const float *x)
{
    float maximum = x[0];
    for (size_t i = 1; i < n; i++)
        maximum = fmaxf(maximum, x[i]);
    return maximum;
}

static float reference_largest(size_t n, const float *x)
{
    float largest = 0;
    for (size_t i = 0; i < n; i++)
        largest = fmaxf(largest, fabsf(x[i]));
    return largest;
}

static double reference_exp_shifted(size_t n, float shift, float *x)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        x[i] = (float)exp((double)(x[i] - shift));
        sum += (double)x[i];
    }
    return sum;
}

/* ---- t-norms ------------------------------------------------------------------------------ */

static float combine_one(wfre_combine f, float x, float y)
{
    switch (f) {
    case WFRE_COMBINE_MIN:
        return fminf(x, y);
    case WFRE_COMBINE_MAX:
        return fmaxf(x, y);
    case WFRE_COMBINE_PRODUCT:
        return x * y;
    case WFRE_COMBINE_SUM:
        return x + y - x * y;
    case WFRE_COMBINE_BOUNDED_AND:
        return fmaxf(0.0f, x + y - 1.0f);
    case WFRE_COMBINE_BOUNDED_OR:
        return fminf(1.0f, x + y);
    }
    return 0.0f;
}

/* df/dx at (x, y); every f is symmetric, so df/dy at (x, y) is slope(f, y, x). */
static float slope(wfre_combine f, float x, float y)
{
    switch (f) {
    case WFRE_COMBINE_MIN:
        return x < y ? 1.0f : x > y ? 0.0f : 0.5f;
    case WFRE_COMBINE_MAX:
        return x > y ? 1.0f : x < y ? 0.0f : 0.5f;
    case WFRE_COMBINE_PRODUCT:
        return y;
    case WFRE_COMBINE_SUM:
        return 1.0f - y;
    case WFRE_COMBINE_BOUNDED_AND:
        return x + y > 1.0f ? 1.0f : 0.0f;
    case WFRE_COMBINE_BOUNDED_OR:
        return x + y < 1.0f ? 1.0f : 0.0f;
    }
    return 0.0f;
}

static void reference_combine(wfre_combine f, size_t n, const float *x, const float *y, float *z)
{
    for (size_t i = 0; i < n; i++)
        z[i] = combine_one(f, x[i], y[i]);
}

static void reference_combine_backward(wfre_combine f, size_t n, const float *x, const float *y,
                                       const float *dz, float *dx, float *dy)
{
    for (size_t i = 0; i < n; i++) {
        dx[i] += dz[i] * slope(f, x[i], y[i]);
        dy[i] += dz[i] * slope(f, y[i], x[i]);
    }
}

/* ---- layer norm --------------------------------------------------------------------------- */

static double activate(wfre_activation activation, double x)
{
    switch (activation) {
    case WFRE_LINEAR:
        return x;
    case WFRE_RELU:
        return x > 0 ? x : 0;
    case WFRE_SIGMOID:
        return logistic(x);
    }
    return x;
}

/* The derivative of the activation, from its result. */
static double activation_slope(wfre_activation activation, double y)
{
    switch (activation) {
    case WFRE_LINEAR:
        return 1;
    case WFRE_RELU:
        return y > 0 ? 1 : 0;
    case WFRE_SIGMOID:
        return y * (1 - y);
    }
    return 1;
}

static void reference_norm_forward(const wfre_norm_job *job, size_t first, size_t last)
{
    double width = (double)job->width;
    for (size_t row = first; row < last; row++) {
        const float *x = job->x + row * job->ldx;
        float *y = job->y + row * job->ldy;
        double mean = reference_sum(job->width, x) / width;
        double variance = 0;
        for (size_t i = 0; i < job->width; i++)
            variance += ((double)x[i] - mean) * ((double)x[i] - mean);
        double rstd = 1.0 / sqrt(variance / width + (double)job->epsilon);
        for (size_t i = 0; i < job->width; i++)
            y[i] = (float)activate(job->activation,
                                   (double)job->gain[i] * ((double)x[i] - mean) * rstd +
                                       (double)job->bias[i]);
        job->mean[row] = (float)mean;
        job->rstd[row] = (float)rstd;
    }
}

/* With g = dy act', h = g gain:  dx = rstd (h - mean(h) - hat mean(h hat)). */
static void reference_norm_backward(const wfre_norm_job *job, size_t first, size_t last,
                                    float *dgain, float *dbias)
{
    double width = (double)job->width;
    for (size_t row = first; row < last; row++) {
        const float *x = job->x + row * job->ldx;
        const float *y = job->y + row * job->ldy;
        const float *dy = job->dy + row * job->lddy;
        float *dx = job->dx + row * job->lddx;
        double mean = (double)job->mean[row], rstd = (double)job->rstd[row];
        double sum = 0, projected = 0;
        for (size_t i = 0; i < job->width; i++) {
            double hat = ((double)x[i] - mean) * rstd;
            double g = (double)dy[i] * activation_slope(job->activation, (double)y[i]);
            sum += g * (double)job->gain[i];
            projected += g * (double)job->gain[i] * hat;
            if (dgain)
                dgain[i] += (float)(g * hat);
            if (dbias)
                dbias[i] += (float)g;
        }
        for (size_t i = 0; i < job->width; i++) {
            double hat = ((double)x[i] - mean) * rstd;
            double g = (double)dy[i] * activation_slope(job->activation, (double)y[i]);
            dx[i] =
                (float)(rstd * (g * (double)job->gain[i] - sum / width - hat * projected / width));
        }
    }
}

/* ---- AdamW and Adagrad --------------------------------------------------------------------- */

static void reference_adamw(const wfre_adamw *adamw, size_t n, float *p, float *first,
                            float *second, float *gradient)
{
    double rate = (double)adamw->rate, decay = (double)adamw->decay;
    double beta1 = (double)adamw->beta1, beta2 = (double)adamw->beta2;
    for (size_t i = 0; i < n; i++) {
        double g = (double)adamw->gradient_scale * (double)gradient[i];
        double m = beta1 * (double)first[i] + (1 - beta1) * g;
        double v = beta2 * (double)second[i] + (1 - beta2) * g * g;
        double direction = (double)adamw->correction1 * m /
                           (sqrt((double)adamw->correction2 * v) + (double)adamw->epsilon);
        double updated = (double)p[i] - rate * (decay * (double)p[i] + direction);
        if (adamw->project)
            updated = updated < 0 ? 0 : updated > 1 ? 1 : updated;
        p[i] = (float)updated;
        first[i] = (float)m;
        second[i] = (float)v;
        if (adamw->clear_gradient)
            gradient[i] = 0;
    }
}

static void reference_adagrad(size_t n, float rate, const float *gradient, float *p, float *squares)
{
    for (size_t i = 0; i < n; i++) {
        double g = (double)gradient[i], sum = (double)squares[i] + g * g;
        p[i] = (float)((double)p[i] - (double)rate * g / (sqrt(sum) + 1e-10));
        squares[i] = (float)sum;
    }
}

/* ---- products of few rows, and of bytes --------------------------------------------------- */

static void reference_mix(const wfre_mix *mix)
{
    for (size_t i = 0; i < mix->rows; i++)
        for (size_t j = 0; j < mix->n; j++) {
            double sum = 0;
            for (size_t p = 0; p < mix->k; p++)
                sum += (double)mix->a[p * mix->rows + i] * (double)mix->b[p * mix->n + j];
            mix->c[i * mix->n + j] = (float)sum;
        }
}

static void reference_transpose(size_t rows, size_t columns, const float *x, float *y)
{
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < columns; j++)
            y[j * rows + i] = x[i * columns + j];
}

static void reference_to_i8(size_t n, float scale, const float *x, int8_t *y)
{
    for (size_t i = 0; i < n; i++) {
        float scaled = x[i] * scale;
        y[i] = (int8_t)lrintf(scaled > 127 ? 127 : scaled < -127 ? -127 : scaled);
    }
}

static void reference_dots_i8(const wfre_dots *dots)
{
    for (size_t r = 0; r < dots->rows; r++)
        for (size_t q = 0; q < dots->count; q++) {
            int32_t sum = 0;
            for (size_t i = 0; i < dots->n; i++)
                sum += dots->x[r * dots->n + i] * dots->y[q * dots->n + i];
            dots->sums[r * dots->stride + q] = sum;
        }
}

const wfre_vector_table wfre_vector_reference = {
    .isa = WFRE_ISA_REFERENCE,
    .exp = reference_exp,
    .log = reference_log,
    .power = reference_power,
    .sigmoid = reference_sigmoid,
    .complement = reference_complement,
    .clamp01 = reference_clamp01,
    .scale = reference_scale,
    .axpy = reference_axpy,
    .multiply = reference_multiply,
    .multiply_add = reference_multiply_add,
    .sum = reference_sum,
    .dot = reference_dot,
    .squared_norm = reference_squared_norm,
    .dot_float = reference_dot_float,
    .dot_rows = reference_dot_rows,
    .add_to_rows = reference_add_to_rows,
    .add_rows = reference_add_rows,
    .maximum = reference_maximum,
    .largest = reference_largest,
    .exp_shifted = reference_exp_shifted,
    .combine = reference_combine,
    .combine_backward = reference_combine_backward,
    .norm_forward = reference_norm_forward,
    .norm_backward = reference_norm_backward,
    .adamw = reference_adamw,
    .adagrad = reference_adagrad,
    .mix = reference_mix,
    .transpose = reference_transpose,
    .to_i8 = reference_to_i8,
    .dots_i8 = reference_dots_i8,
};

/* ---- matrix product ----------------------------------------------------------------------- */

static double operand(bool transposed, const float *x, size_t ld, size_t row, size_t column,
                      wfre_precision precision)
{
    float value = transposed ? x[column * ld + row] : x[row * ld + column];
    return (double)(precision == WFRE_BF16 ? wfre_float_from_bf16(wfre_bf16_from_float(value))
                                           : value);
}

void wfre_gemm_reference_row(const wfre_gemm_job *job, wfre_precision precision, size_t row)
{
    float *c = job->c + row * job->ldc;
    for (size_t j = 0; j < job->n; j++) {
        double sum = 0;
        for (size_t p = 0; p < job->k; p++)
            sum += operand(job->transpose_a, job->a, job->lda, row, p, precision) *
                   operand(job->transpose_b, job->b, job->ldb, p, j, precision);
        double before = job->beta == 0.0f ? 0.0 : (double)job->beta * (double)c[j];
        c[j] = (float)((double)job->alpha * sum + before);
    }
}
