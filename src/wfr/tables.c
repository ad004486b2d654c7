/* Computing the tables of the float kernels; see tables.h. */
#include "wfr/tables.h"

#include <float.h>
#include <math.h>

#include "base/memory.h"

static const double PI = 3.14159265358979323846;

/* ---- polynomial fit ----------------------------------------------------------------------- */

/* The polynomial of the given degree through t^-p at the Chebyshev points of [1 - w, 1 + w], in
 * powers of f = t - 1: within a small factor of the best one. Newton's divided differences, then
 * expanded. */
static void fit_power(double p, double w, int degree, double *coefficients)
{
    double points[MOST_DEGREE + 1], newton[MOST_DEGREE + 1];
    for (int i = 0; i <= degree; i++) {
        points[i] = w * cos(PI * (i + 0.5) / (degree + 1));
        newton[i] = pow(1 + points[i], -p);
        coefficients[i] = 0;
    }
    for (int j = 1; j <= degree; j++)
        for (int i = degree; i >= j; i--)
            newton[i] = (newton[i] - newton[i - 1]) / (points[i] - points[i - j]);
    for (int i = degree; i >= 0; i--) { /* coefficients <- coefficients * (f - point) + newton */
        for (int k = degree; k > 0; k--)
            coefficients[k] = coefficients[k - 1] - points[i] * coefficients[k];
        coefficients[0] = newton[i] - points[i] * coefficients[0];
    }
}

/* ---- the levels --------------------------------------------------------------------------- */

/* Exponent bits that the fields of all levels hold together: 7 (near) or 8 (wide). */
static int exponent_bits(power_shape shape)
{
    return shape.index_bits * shape.levels - shape.mantissa_bits;
}

/* Octaves that one step of the last level stands for. */
static int last_step(power_shape shape)
{
    return 1 << (exponent_bits(shape) - shape.index_bits);
}

/* The least biased exponent covered: a multiple of the last level's step below the bound. */
static int first_exponent(const wfre_score *score, power_shape shape)
{
    if (exponent_bits(shape) == 8)
        return 0;
    int low = (int)floor(score->octaves_low) + 127;
    return low - low % last_step(shape);
}

/* Float's exponents end at +-126. phi and psi stay 30 octaves clear of that, so that what is
 * flushed to zero is below rounding. A kernel entry that is too small for float may be dropped only
 * if it could not matter anyway: times the largest psi it is still far below the least sum. */
static bool float_holds(const wfre_score *score)
{
    const wfre_score_settings *s = &score->settings;
    double low = score->octaves_low, high = score->octaves_high;
    if (low < -96 || high > 96)
        return false;
    double to_octaves = 1 / log(2);
    for (uint32_t k = 1; k < score->window; k++) {
        double h = s->power * score->log_c[k] * to_octaves;
        if (h < -126 && h + high > low - 30)
            return false;
    }
    /* phi K psi is at most mass if K <= H; else it can be anything. */
    return s->power * s->epsilon <= 2 * (1 + 1e-9) || 2 * high < 100;
}

bool wfre_power_covers(const wfre_score *score, power_shape shape)
{
    int end = first_exponent(score, shape) + (1 << exponent_bits(shape));
    return float_holds(score) && (int)floor(score->octaves_high) + 127 < end;
}

static void fill_levels(const wfre_score *score, power_shape shape, float_tables *tables)
{
    double p = score->exponent;
    int entries = 1 << shape.index_bits, mantissas = 1 << shape.mantissa_bits;
    for (int i = 0; i < entries; i++) {
        double middle = 1 + (i % mantissas + 0.5) / mantissas;
        tables->reciprocal[i] = (float)(1 / middle);
        double r = (double)tables->reciprocal[i];
        tables->level[0][i] = (float)(pow(r, p) * exp2(-p * (i / mantissas)));
    }
    int step = entries / mantissas;
    for (int level = 1; level < shape.levels; level++, step *= entries) {
        for (int i = 0; i < entries; i++) {
            int exponent = i * step;
            if (level == shape.levels - 1) { /* the one exponent of the window with this field */
                int first = first_exponent(score, shape);
                int window = 1 << exponent_bits(shape);
                exponent = first + ((exponent - first) % window + window) % window - 127;
            }
            tables->level[level][i] = (float)exp2(-p * exponent);
        }
    }
}

/* ---- all of it ---------------------------------------------------------------------------- */

static void repeat(float *lanes, double value)
{
    /* A denormal factor would be slow and means nothing beside the 1 on the diagonal. */
    float rounded = fabs(value) < FLT_MIN ? 0 : (float)value;
    for (int i = 0; i < MOST_LANES; i++)
        lanes[i] = rounded;
}

void wfre_float_tables_skip(const wfre_score *score, float_tables *tables, uint32_t skipped)
{
    double factor = score->exponent * score->exponent, sum = 0;
    for (uint32_t i = 0; i < skipped; i++)
        sum = factor * (1 + sum);
    repeat(tables->scale_factor, factor);
    repeat(tables->scale_sum, sum);
    repeat(tables->most_lambda, 0.85 * factor);
    tables->skipped = skipped;
}

/* An exponent as a number of 12 bits, whose product with a binary exponent is exact, and the
 * rest. */
static void split_exponent(double exponent, float *high, float *low)
{
    int scale;
    (void)frexp(exponent, &scale);
    double step = ldexp(1, scale - 12), head = round(exponent / step) * step;
    repeat(high, head);
    repeat(low, exponent - head);
}

/* What takes the place of all iterations but the last where no mass moves. */
static void fill_closed(const wfre_score *score, float_tables *tables)
{
    double p = score->exponent, square = p * p, sum = 0, power = 1;
    for (uint32_t n = 1; n < score->settings.iterations; n++) {
        sum += power;
        power *= square;
    }
    tables->closed = true;
    split_exponent(p * sum, tables->right_high, tables->right_low);
    split_exponent(-square * sum, tables->left_high, tables->left_low);
    repeat(tables->left_scale, pow(score->settings.block, -power));
}

void wfre_score_iterate_always(wfre_score *score)
{
    if (score->tables)
        score->tables->closed = false;
}

float_tables *wfre_float_tables_create(const wfre_score *score, power_shape shape, unsigned lanes)
{
    float_tables *tables = wfre_alloc_tensor(1, sizeof *tables);
    if (!tables)
        return NULL;
    uint32_t a = score->settings.block;
    double coefficients[MOST_DEGREE + 1];
    double width = 1.0 / ((2 << shape.mantissa_bits) + 1); /* of f, in the lowest interval */
    fit_power(score->exponent, width, shape.degree, coefficients);
    for (int i = 0; i <= shape.degree; i++)
        repeat(tables->poly[i], coefficients[i]);
    fit_power(score->exponent, width, shape.degree - 2, coefficients);
    for (int i = 0; i <= shape.degree - 2; i++)
        repeat(tables->rough_poly[i], coefficients[i]);
    fill_levels(score, shape, tables);
    repeat(tables->epsilon, score->settings.epsilon);
    repeat(tables->minus_root, score->exponent - 1);
    for (uint32_t i = 0; i < a; i++) {
        double h_sum = 0, k_sum = 0;
        for (uint32_t j = 0; j < a; j++) {
            h_sum += score->h[i > j ? i - j : j - i];
            k_sum += score->k[i > j ? i - j : j - i];
        }
        repeat(tables->first[i], pow(h_sum / a, -score->exponent));
        repeat(tables->k_row[i], score->settings.epsilon * k_sum);
        repeat(tables->h[i], score->h[i]);
        repeat(tables->k[i], score->k[i]);
    }
    if (score->window == 1)
        fill_closed(score, tables);
    size_t used = (score->blocks - 1) % lanes + 1;
    for (size_t i = 0; i < lanes; i++)
        tables->last_lanes[i] = i < used ? 1 : 0;
    return tables;
}
