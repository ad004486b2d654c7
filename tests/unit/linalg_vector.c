/* src/linalg: elementwise and row kernels, layer norm and AdamW. Every table is compared with the
 * reference at all small lengths (whole vectors, parts of one, and both) and odd alignments. */
#include "linalg_tables.h"

#include <math.h>

enum { LONGEST = 1003, GUARD = 16 };

static const size_t EXTRA_LENGTHS[] = {100, 400, LONGEST};
enum { SHORT_LENGTHS = 70, LENGTHS = SHORT_LENGTHS + 3 };

static size_t length_at(size_t index)
{
    return index < SHORT_LENGTHS ? index : EXTRA_LENGTHS[index - SHORT_LENGTHS];
}

/* An array that begins `offset` floats after a 64-byte boundary and is followed by a guard. */
typedef struct guarded {
    _Alignas(64) float memory[LONGEST + 2 * GUARD];
    float *x;
    size_t n;
} guarded;

static float *guard(guarded *array, size_t offset, size_t n)
{
    array->x = array->memory + offset;
    array->n = n;
    for (size_t i = 0; i < LONGEST + 2 * GUARD; i++)
        array->memory[i] = -12345.0f;
    return array->x;
}

static void check_guard(const guarded *array)
{
    for (const float *x = array->memory; x < array->memory + LONGEST + 2 * GUARD; x++)
        if (x < array->x || x >= array->x + array->n)
            assert_true(*x == -12345.0f);
}

static void assert_close(const char *what, size_t n, const float *got, const float *want,
                         double relative, double absolute)
{
    for (size_t i = 0; i < n; i++) {
        double error = fabs((double)got[i] - (double)want[i]);
        bool same = got[i] == want[i]; /* also infinities */
        if (!same && !(error <= relative * fabs((double)want[i]) + absolute))
            fail_msg("%s: element %zu of %zu is %.9g, not %.9g", what, i, n, (double)got[i],
                     (double)want[i]);
    }
}

/* ---- elementwise -------------------------------------------------------------------------- */

typedef void (*unary)(size_t n, const float *x, float *y);

/* Exponent of the power under test, so that power fits `unary`. */
static float power_exponent;
static const wfre_vector_table *power_table;

static void power_of(size_t n, const float *x, float *y)
{
    power_table->power(n, power_exponent, x, y);
}

static void check_unary(const char *what, unary f, unary reference, float low, float high,
                        double relative, double absolute)
{
    static guarded x, y, want;
    for (size_t l = 0; l < LENGTHS; l++) {
        size_t n = length_at(l), offset = l % 5;
        fill_random(l, n, low, high, guard(&x, offset, n));
        guard(&y, (offset + 2) % 7, n);
        guard(&want, 0, n);
        reference(n, x.x, want.x);
        f(n, x.x, y.x);
        assert_close(what, n, y.x, want.x, relative, absolute);
        check_guard(&x);
        check_guard(&y);
        f(n, x.x, x.x);
        if (n)
            assert_memory_equal(x.x, y.x, n * sizeof(float));
    }
}

static void reference_power_of(size_t n, const float *x, float *y)
{
    wfre_vector_reference.power(n, power_exponent, x, y);
}

static void check_powers(const kernel_set *set)
{
    const float exponents[] = {0.5f, 1.0f, 0.4f, 1.0f / 2.1f, 2.0f, -0.25f, -1.5f, 3.7f};
    power_table = set->kernels.vectors;
    for (size_t i = 0; i < sizeof exponents / sizeof exponents[0]; i++) {
        power_exponent = exponents[i];
        check_unary("power", power_of, reference_power_of, 1e-4f, 1.0f, 4e-7, 0);
        check_unary("power", power_of, reference_power_of, 0.5f, 2e4f, 4e-7, 0);
        check_unary("power", power_of, reference_power_of, 1e-30f, 1e-25f, 4e-7, 1e-37);
    }
    power_exponent = 0.4f;
    float x[3] = {0.0f, 1e-40f, 1.0f}, y[3];
    power_of(3, x, y);
    assert_true(y[0] == 0.0f && fabs((double)y[1] / 1e-16 - 1) < 1e-5 && y[2] == 1.0f);
}

static void check_elementwise(const kernel_set *set)
{
    const wfre_vector_table *t = set->kernels.vectors, *r = &wfre_vector_reference;
    check_unary("exp", t->exp, r->exp, -2.0f, 2.0f, 3e-7, 0);
    check_unary("exp", t->exp, r->exp, -95.0f, 88.7f, 3e-7, 2e-38);
    check_unary("log", t->log, r->log, 0.5f, 2.0f, 4e-7, 0);
    check_unary("log", t->log, r->log, 1e-5f, 1e5f, 4e-7, 0);
    check_unary("sigmoid", t->sigmoid, r->sigmoid, -8.0f, 8.0f, 4e-7, 0);
    check_unary("sigmoid", t->sigmoid, r->sigmoid, -200.0f, 200.0f, 4e-7, 2e-38);
    check_unary("complement", t->complement, r->complement, -1.0f, 2.0f, 0, 0);
    check_unary("clamp01", t->clamp01, r->clamp01, -1.0f, 2.0f, 0, 0);
    check_powers(set);
    float x[] = {-1000.0f, -88.0f, 0.0f, 88.7f, 90.0f, 1000.0f}, y[6], want[6];
    t->exp(6, x, y);
    r->exp(6, x, want);
    assert_close("exp", 6, y, want, 3e-7, 2e-38);
    float edges[] = {0.0f, 1e-45f, 1e-39f, 1.0f, 3e38f, INFINITY};
    t->log(6, edges, y);
    r->log(6, edges, want);
    assert_close("log", 6, y, want, 3e-7, 0);
}

static void check_arithmetic(const kernel_set *set)
{
    const wfre_vector_table *t = set->kernels.vectors, *r = &wfre_vector_reference;
    static guarded x, y, z;
    static float want[LONGEST];
    for (size_t l = 0; l < LENGTHS; l++) {
        size_t n = length_at(l);
        fill_random(l, n, -1.0f, 1.0f, guard(&x, l % 3, n));
        fill_random(l + 1000, n, -1.0f, 1.0f, guard(&y, l % 4, n));
        fill_random(l + 2000, n, -1.0f, 1.0f, guard(&z, l % 5, n));
        memcpy(want, z.x, n * sizeof *want);
        t->multiply_add(n, x.x, y.x, z.x);
        r->multiply_add(n, x.x, y.x, want);
        assert_close("multiply_add", n, z.x, want, 2e-7, 2e-7);
        t->axpy(n, 0.75f, x.x, z.x);
        r->axpy(n, 0.75f, x.x, want);
        assert_close("axpy", n, z.x, want, 2e-7, 4e-7);
        t->scale(n, -3.0f, z.x);
        r->scale(n, -3.0f, want);
        assert_close("scale", n, z.x, want, 2e-7, 2e-6);
        t->multiply(n, x.x, y.x, z.x);
        r->multiply(n, x.x, y.x, want);
        assert_close("multiply", n, z.x, want, 0, 0);
        check_guard(&z);
    }
}

static void check_sums(const kernel_set *set)
{
    const wfre_vector_table *t = set->kernels.vectors, *r = &wfre_vector_reference;
    static guarded x, y;
    static float want[LONGEST];
    for (size_t l = 0; l < LENGTHS; l++) {
        size_t n = length_at(l);
        fill_random(l, n, -1.0f, 1.0f, guard(&x, l % 3, n));
        fill_random(l + 1000, n, -1.0f, 1.0f, guard(&y, l % 4, n));
        assert_true(fabs(t->sum(n, x.x) - r->sum(n, x.x)) <= 1e-11);
        assert_true(fabs(t->dot(n, x.x, y.x) - r->dot(n, x.x, y.x)) <= 1e-11);
        assert_true(fabs((double)t->dot_float(n, x.x, y.x) - r->dot(n, x.x, y.x)) <=
                    1e-6 * (1 + (double)n));
        assert_true(fabs(t->squared_norm(n, x.x) - r->squared_norm(n, x.x)) <= 1e-11);
        if (n == 0)
            continue;
        assert_true(t->maximum(n, x.x) == r->maximum(n, x.x));
        memcpy(want, x.x, n * sizeof *want);
        double sum = t->exp_shifted(n, 0.5f, x.x), expected = r->exp_shifted(n, 0.5f, want);
        assert_close("exp_shifted", n, x.x, want, 3e-7, 0);
        assert_true(fabs(sum - expected) <= 3e-7 * expected);
        check_guard(&x);
    }
}

/* Any number of rows, each of its own length of guard. */
static void check_rows(const kernel_set *set)
{
    enum { MOST = 11 };
    const wfre_vector_table *t = set->kernels.vectors, *r = &wfre_vector_reference;
    static guarded x, rows[MOST];
    static float wanted[MOST][LONGEST], want[LONGEST];
    float *row[MOST], *want_row[MOST], factors[MOST], sums[MOST], expected[MOST];
    const float *fixed[MOST];
    for (size_t l = 0; l < LENGTHS; l++) {
        size_t n = length_at(l), count = l % (MOST + 1);
        fill_random(l, n, -1.0f, 1.0f, guard(&x, l % 3, n));
        fill_random(l + 5, MOST, -1.0f, 1.0f, factors);
        for (size_t i = 0; i < count; i++) {
            row[i] = guard(&rows[i], (l + i) % 5, n);
            want_row[i] = wanted[i];
            fill_random(l + 100 * i + 7, n, -1.0f, 1.0f, row[i]);
            memcpy(want_row[i], row[i], n * sizeof(float));
            fixed[i] = row[i];
        }
        t->dot_rows(n, x.x, count, fixed, sums);
        r->dot_rows(n, x.x, count, fixed, expected);
        for (size_t i = 0; i < count; i++)
            assert_true(fabsf(sums[i] - expected[i]) <= 1e-6f * (1 + (float)n));
        t->add_to_rows(n, x.x, count, factors, row);
        r->add_to_rows(n, x.x, count, factors, want_row);
        for (size_t i = 0; i < count; i++) {
            assert_close("add_to_rows", n, row[i], want_row[i], 2e-7, 2e-7);
            check_guard(&rows[i]);
        }
        memcpy(want, x.x, n * sizeof *want);
        t->add_rows(n, count, factors, fixed, x.x);
        r->add_rows(n, count, factors, fixed, want);
        assert_close("add_rows", n, x.x, want, 1e-6, 2e-6);
        check_guard(&x);
    }
}

/* ---- t-norms ------------------------------------------------------------------------------ */

static void check_combine(const kernel_set *set)
{
    const wfre_vector_table *t = set->kernels.vectors, *r = &wfre_vector_reference;
    static guarded x, y, z, dx, dy;
    static float want[LONGEST], want_dx[LONGEST], want_dy[LONGEST], dz[LONGEST];
    for (int f = 0; f < WFRE_COMBINES; f++)
        for (size_t l = 0; l < LENGTHS; l++) {
            size_t n = length_at(l);
            fill_random(l, n, 0.0f, 1.0f, guard(&x, l % 3, n));
            fill_random(l + 1000, n, 0.0f, 1.0f, guard(&y, l % 4, n));
            fill_random(l + 2000, n, -1.0f, 1.0f, dz);
            fill_random(l + 3000, n, -1.0f, 1.0f, guard(&dx, l % 5, n));
            fill_random(l + 4000, n, -1.0f, 1.0f, guard(&dy, l % 6, n));
            for (size_t i = 0; i < n; i += 3)
                y.x[i] = x.x[i]; /* ties */
            memcpy(want_dx, dx.x, n * sizeof *want_dx);
            memcpy(want_dy, dy.x, n * sizeof *want_dy);
            t->combine((wfre_combine)f, n, x.x, y.x, guard(&z, l % 2, n));
            r->combine((wfre_combine)f, n, x.x, y.x, want);
            assert_close("combine", n, z.x, want, 2e-7, 1e-7);
            t->combine_backward((wfre_combine)f, n, x.x, y.x, dz, dx.x, dy.x);
            r->combine_backward((wfre_combine)f, n, x.x, y.x, dz, want_dx, want_dy);
            assert_close("dx", n, dx.x, want_dx, 2e-7, 2e-7);
            assert_close("dy", n, dy.x, want_dy, 2e-7, 2e-7);
            check_guard(&z);
            check_guard(&dx);
            check_guard(&dy);
        }
}

/* The reference's slopes are the differences of its values, away from the kinks. */
static void test_combine_slopes(void **state)
{
    (void)state;
    const wfre_vector_table *t = &wfre_vector_reference;
    const float step = 1.0f / 1024, at[][2] = {{0.25f, 0.625f}, {0.75f, 0.5f}, {0.125f, 0.25f}};
    for (int f = 0; f < WFRE_COMBINES; f++)
        for (int i = 0; i < 3; i++) {
            float x[2] = {at[i][0] + step, at[i][0] - step}, y[2] = {at[i][1], at[i][1]}, z[2];
            t->combine((wfre_combine)f, 2, x, y, z);
            float dz = 1.0f, dx = 0.0f, dy = 0.0f;
            t->combine_backward((wfre_combine)f, 1, at[i], at[i] + 1, &dz, &dx, &dy);
            assert_true(fabsf((z[0] - z[1]) / (2 * step) - dx) < 1e-4f);
        }
    float tie = 0.5f, dz = 1.0f, dx = 0.0f, dy = 0.0f;
    t->combine_backward(WFRE_COMBINE_MIN, 1, &tie, &tie, &dz, &dx, &dy);
    assert_true(dx == 0.5f && dy == 0.5f);
}

/* ---- layer norm --------------------------------------------------------------------------- */

enum { NORM_ROWS = 11, NORM_MOST = 70, NORM_LD = 81 };

typedef struct norm_data {
    float gain[NORM_MOST], bias[NORM_MOST], x[NORM_ROWS * NORM_LD], y[NORM_ROWS * NORM_LD];
    float mean[NORM_ROWS], rstd[NORM_ROWS], dy[NORM_ROWS * NORM_LD], dx[NORM_ROWS * NORM_LD];
    float dgain[NORM_MOST], dbias[NORM_MOST];
} norm_data;

static wfre_norm_job norm_setup(norm_data *data, size_t width, wfre_activation activation)
{
    fill_random(width, NORM_MOST, 0.5f, 1.5f, data->gain);
    fill_random(width + 100, NORM_MOST, -0.5f, 0.5f, data->bias);
    fill_random(width + 200, NORM_ROWS * NORM_LD, -1.0f, 3.0f, data->x);
    fill_random(width + 300, NORM_ROWS * NORM_LD, -1.0f, 1.0f, data->dy);
    fill_random(width + 400, NORM_MOST, -1.0f, 1.0f, data->dgain);
    fill_random(width + 500, NORM_MOST, -1.0f, 1.0f, data->dbias);
    for (size_t i = 0; i < NORM_ROWS * NORM_LD; i++)
        data->y[i] = data->dx[i] = -12345.0f;
    return (wfre_norm_job){
        .rows = NORM_ROWS,
        .width = width,
        .activation = activation,
        .epsilon = 1e-5f,
        .gain = data->gain,
        .bias = data->bias,
        .x = data->x,
        .ldx = NORM_LD,
        .y = data->y,
        .ldy = NORM_LD,
        .mean = data->mean,
        .rstd = data->rstd,
        .dy = data->dy,
        .lddy = NORM_LD,
        .dx = data->dx,
        .lddx = NORM_LD,
        .dgain = data->dgain,
        .dbias = data->dbias,
    };
}

static void run_norm(const wfre_vector_table *table, norm_data *data, size_t width,
                     wfre_activation activation)
{
    wfre_norm_job job = norm_setup(data, width, activation);
    table->norm_forward(&job, 0, NORM_ROWS);
    table->norm_backward(&job, 0, NORM_ROWS, data->dgain, data->dbias);
}

static void check_norm(const kernel_set *set)
{
    static norm_data got, want;
    for (size_t width = 2; width <= NORM_MOST; width++)
        for (int activation = WFRE_LINEAR; activation <= WFRE_SIGMOID; activation++) {
            run_norm(set->kernels.vectors, &got, width, (wfre_activation)activation);
            run_norm(&wfre_vector_reference, &want, width, (wfre_activation)activation);
            assert_close("mean", NORM_ROWS, got.mean, want.mean, 1e-6, 1e-6);
            assert_close("rstd", NORM_ROWS, got.rstd, want.rstd, 1e-5, 0);
            assert_close("dgain", width, got.dgain, want.dgain, 1e-4, 1e-5);
            assert_close("dbias", width, got.dbias, want.dbias, 1e-4, 1e-5);
            /* Two close numbers in a row make a large rstd and with it a large error. */
            double scale = 0;
            for (size_t i = 0; i < NORM_ROWS; i++)
                scale = fmax(scale, (double)want.rstd[i]);
            assert_close("y", NORM_ROWS * NORM_LD, got.y, want.y, 1e-5, 1e-6 * scale);
            assert_close("dx", NORM_ROWS * NORM_LD, got.dx, want.dx, 1e-4, 1e-5 * scale);
        }
}

/* sum of dy y over all rows, in double precision, with x[element] moved by `step`. */
static double norm_loss(const wfre_norm_job *job, size_t moved, double step)
{
    double loss = 0, width = (double)job->width;
    for (size_t row = 0; row < job->rows; row++) {
        double x[NORM_MOST], mean = 0, variance = 0;
        for (size_t i = 0; i < job->width; i++) {
            size_t element = row * job->ldx + i;
            x[i] = (double)job->x[element] + (element == moved ? step : 0);
            mean += x[i] / width;
        }
        for (size_t i = 0; i < job->width; i++)
            variance += (x[i] - mean) * (x[i] - mean) / width;
        for (size_t i = 0; i < job->width; i++) {
            double s =
                (double)job->gain[i] * (x[i] - mean) / sqrt(variance + (double)job->epsilon) +
                (double)job->bias[i];
            double y = job->activation == WFRE_LINEAR ? s
                       : job->activation == WFRE_RELU ? fmax(s, 0)
                                                      : 1 / (1 + exp(-s));
            loss += (double)job->dy[row * job->lddy + i] * y;
        }
    }
    return loss;
}

static void check_norm_gradient(const kernel_set *set)
{
    static norm_data data;
    const size_t width = 29;
    const double step = 1e-6;
    for (int activation = WFRE_LINEAR; activation <= WFRE_SIGMOID; activation++) {
        run_norm(set->kernels.vectors, &data, width, (wfre_activation)activation);
        wfre_norm_job job = {.rows = NORM_ROWS,
                             .width = width,
                             .activation = (wfre_activation)activation,
                             .epsilon = 1e-5f,
                             .gain = data.gain,
                             .bias = data.bias,
                             .x = data.x,
                             .ldx = NORM_LD,
                             .dy = data.dy,
                             .lddy = NORM_LD};
        for (size_t row = 0; row < NORM_ROWS; row++)
            for (size_t i = 0; i < width; i += 3) {
                size_t moved = row * NORM_LD + i;
                double slope =
                    (norm_loss(&job, moved, step) - norm_loss(&job, moved, -step)) / (2 * step);
                assert_true(fabs(slope - (double)data.dx[moved]) < 2e-5);
            }
    }
}

/* ---- AdamW and bfloat16 ------------------------------------------------------------------- */

static void check_adamw(const kernel_set *set)
{
    static guarded p, first, second, gradient;
    for (size_t l = 1; l < LENGTHS; l++) {
        size_t n = length_at(l), probe = n / 2;
        wfre_adamw adamw = {.rate = 0.01f,
                            .beta1 = 0.9f,
                            .beta2 = 0.99f,
                            .epsilon = 1e-8f,
                            .decay = 0.1f,
                            .gradient_scale = 0.5f,
                            .project = l % 2 == 0,
                            .clear_gradient = l % 3 == 0};
        fill_random(l, n, 0.0f, 1.0f, guard(&p, l % 3, n));
        fill_random(0, n, 0.0f, 0.0f, guard(&first, l % 4, n));
        fill_random(0, n, 0.0f, 0.0f, guard(&second, l % 5, n));
        guard(&gradient, l % 6, n);
        double value = (double)p.x[probe], m = 0, v = 0;
        for (int step = 1; step <= 20; step++) {
            fill_random(l + 1000 * (uint64_t)step, n, -1.0f, 1.5f, gradient.x);
            double g = 0.5 * (double)gradient.x[probe];
            wfre_adamw_at(&adamw, (uint64_t)step);
            set->kernels.vectors->adamw(&adamw, n, p.x, first.x, second.x, gradient.x);
            m = 0.9 * m + 0.1 * g;
            v = 0.99 * v + 0.01 * g * g;
            value -= 0.01 * 0.1 * value +
                     0.01 * (m / (1 - pow(0.9, step))) / (sqrt(v / (1 - pow(0.99, step))) + 1e-8);
            if (adamw.project)
                value = fmin(fmax(value, 0), 1);
            assert_true(adamw.clear_gradient == (gradient.x[probe] == 0.0f));
        }
        assert_true(fabs((double)p.x[probe] - value) < 2e-6);
        check_guard(&p);
        check_guard(&first);
        check_guard(&second);
        check_guard(&gradient);
    }
}

static void check_adagrad(const kernel_set *set)
{
    static guarded p, squares;
    float gradient[LONGEST];
    for (size_t l = 1; l < LENGTHS; l++) {
        size_t n = length_at(l), probe = n / 2;
        fill_random(l, n, -1.0f, 1.0f, guard(&p, l % 3, n));
        fill_random(0, n, 0.0f, 0.0f, guard(&squares, l % 4, n));
        double value = (double)p.x[probe], sum = 0;
        for (uint64_t step = 1; step <= 20; step++) {
            fill_random(l + 1000 * step, n, -1.0f, 1.5f, gradient);
            set->kernels.vectors->adagrad(n, 0.1f, gradient, p.x, squares.x);
            double g = (double)gradient[probe];
            sum += g * g;
            value -= 0.1 * g / (sqrt(sum) + 1e-10);
        }
        assert_true(fabs((double)p.x[probe] - value) < 2e-6);
        check_guard(&p);
        check_guard(&squares);
    }
}

/* Against the reference, which a few known products check. */
static void check_mix(const kernel_set *set)
{
    const wfre_vector_table *t = set->kernels.vectors;
    const float a[] = {1, 10, 2, 20, 3, 30}, b[] = {1, 2, 3, 4, 5, 6}; /* [3, 2] and [3, 2] */
    float c[4], transposed[6];
    t->mix(&(wfre_mix){2, 3, 2, a, b, c});
    assert_memory_equal(c, ((float[]){22, 28, 220, 280}), sizeof c);
    t->transpose(3, 2, a, transposed);
    assert_memory_equal(transposed, ((float[]){1, 2, 3, 10, 20, 30}), sizeof transposed);
    static const size_t NARROW[] = {1, 2, 3, 5, 6, 7, 8, 11, 17};
    for (size_t l = 0; l < 9 * 9; l++) {
        size_t rows = NARROW[l % 9], k = NARROW[l / 9], n = l % 59;
        float factors[17 * 17], x[LONGEST], want[LONGEST];
        guarded product;
        fill_random(l, k * rows, -1.0f, 1.0f, factors);
        fill_random(l + 100, k * n, -1.0f, 1.0f, x);
        guard(&product, l % 3, rows * n);
        t->mix(&(wfre_mix){rows, k, n, factors, x, product.x});
        wfre_vector_reference.mix(&(wfre_mix){rows, k, n, factors, x, want});
        for (size_t i = 0; i < rows * n; i++)
            assert_true(fabsf(product.x[i] - want[i]) <= 2e-6f);
        check_guard(&product);
        guard(&product, l % 3, k * n);
        t->transpose(n, k, x, product.x);
        wfre_vector_reference.transpose(n, k, x, want);
        assert_memory_equal(product.x, want, k * n * sizeof *want);
        check_guard(&product);
    }
}

static void check_bytes(const kernel_set *set)
{
    const wfre_vector_table *t = set->kernels.vectors;
    const float values[] = {0.0f, 0.25f, 0.75f, 1.25f, -1.25f, 1e9f, -1e9f, 63.5f, -63.6f};
    const int8_t rounded[] = {0, 0, 2, 2, -2, 127, -127, 127, -127}; /* in steps of a half */
    int8_t bytes[LONGEST + 32], want[LONGEST];
    int16_t factors[5 * (LONGEST + 32)];
    float x[LONGEST];
    t->to_i8(9, 2, values, bytes);
    assert_memory_equal(bytes, rounded, sizeof rounded);
    assert_true(t->largest(0, x) == 0.0f && t->largest(9, values) == 1e9f);
    for (size_t l = 0; l < LENGTHS; l++) {
        size_t n = length_at(l), padded = (n + 31) / 32 * 32;
        fill_random(l, n, -1.5f, 1.0f, x);
        memset(bytes, 0, sizeof bytes);
        t->to_i8(n, 127, x, bytes);
        wfre_vector_reference.to_i8(n, 127, x, want);
        assert_memory_equal(bytes, want, n);
        assert_true(bytes[n] == 0);
        assert_true(t->largest(n, x) == wfre_vector_reference.largest(n, x));
        int8_t rows[7 * (LONGEST + 32)];
        wfre_rng rng = wfre_rng_keyed(1, 2, l);
        for (size_t i = 0; i < 5 * padded; i++)
            factors[i] = (int16_t)((int)wfre_rng_below(&rng, 20001) - 10000);
        for (size_t i = 0; i < 7 * padded; i++)
            rows[i] = (int8_t)((int)wfre_rng_below(&rng, 255) - 127);
        for (size_t count = 0; count <= 5; count++)
            for (size_t height = 0; height <= 7; height++) {
                int32_t sums[7][6] = {{0}}, expected[7][6] = {{0}};
                wfre_dots dots = {padded, height, rows, count, factors, 6, sums[0]};
                t->dots_i8(&dots);
                dots.sums = expected[0];
                wfre_vector_reference.dots_i8(&dots);
                assert_memory_equal(sums, expected, sizeof sums);
            }
    }
}

static void test_elementwise(void **state)
{
    (void)state;
    for_each_kernel_set(check_elementwise);
    for_each_kernel_set(check_arithmetic);
}

static void test_sums(void **state)
{
    (void)state;
    for_each_kernel_set(check_sums);
    for_each_kernel_set(check_rows);
}

static void test_combine(void **state)
{
    (void)state;
    for_each_kernel_set(check_combine);
}

static void test_norm(void **state)
{
    (void)state;
    for_each_kernel_set(check_norm);
    for_each_kernel_set(check_norm_gradient);
}

static void test_adamw(void **state)
{
    (void)state;
    for_each_kernel_set(check_adamw);
    for_each_kernel_set(check_adagrad);
}

static void test_narrow(void **state)
{
    (void)state;
    for_each_kernel_set(check_mix);
    for_each_kernel_set(check_bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_elementwise),    cmocka_unit_test(test_sums),
        cmocka_unit_test(test_combine_slopes), cmocka_unit_test(test_combine),
        cmocka_unit_test(test_norm),           cmocka_unit_test(test_adamw),
        cmocka_unit_test(test_narrow),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
