/* Fitting the surrogate: sample blocks, score all pairs, reduced-rank regression, cut. */
#include "wfr/surrogate.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/rng.h"
#include "wfr/kernels.h"
#include "wfr/separable.h"

enum {
    TEST_BLOCKS = 40,
    SLOPE_BLOCKS = 200, /* on each side, to fit gradients to */
    KERNELS = 3,
    MOST_FORMS = (1 + KERNELS) * WFRE_SURROGATE_BLOCK + 1,
    MOST_SLOPES = 1 + 3 * WFRE_SURROGATE_BLOCK + MOST_FORMS
};

static const double MOST_LOSS = 0.02; /* of the gradient, by the cut */
/* Derivatives are compared where they are not bent, and found by differences of this step. */
static const float STEP = 4e-3f;

size_t wfre_surrogate_wanted(const wfre_score_settings *settings)
{
    return TEST_BLOCKS + 320 + 16 * (size_t)settings->block;
}

bool wfre_surrogate_suits(const wfre_score_settings *settings)
{
    return settings->kind == WFRE_SCORE_WFR && settings->block <= WFRE_SURROGATE_BLOCK;
}

/* ---- making one --------------------------------------------------------------------------- */

/* The columns of L: bins, their smoothings (none where no mass moves), and the sum. */
static void fill_linear(const wfre_score_settings *settings, wfre_surrogate *s)
{
    const double powers[KERNELS] = {1, 4, 2 / settings->epsilon};
    size_t a = s->block, kernels = (s->forms - 1) / a - 1;
    for (size_t i = 0; i < a; i++) {
        float *row = s->linear + i * s->forms;
        row[i] = 1;
        for (size_t k = 0; k < kernels; k++)
            for (size_t j = 0; j < a; j++) {
                double distance = i > j ? (double)(i - j) : (double)(j - i);
                double log_c = wfre_log_cosine(distance, settings->radius);
                row[(1 + k) * a + j] = (float)exp(powers[k] * log_c);
            }
        row[s->forms - 1] = 1;
        for (size_t g = 0; g < s->forms; g++)
            s->linear_back[g * a + i] = row[g];
    }
}

/* With s = 1 / (1 + epsilon), phi^-epsilon = (x / H psi)^(-epsilon s), and without transport the
 * iterations make log phi = s (1 + s^2 + s^4 + ...) log x and a share of y. */
static void fill_envelope(const wfre_score_settings *settings, wfre_surrogate *s)
{
    double part = 1 / (1 + settings->epsilon), square = part * part;
    double all = (1 - pow(square, settings->iterations)) / (1 - square);
    s->envelope[0] = -settings->epsilon * part;
    s->envelope[1] = -settings->epsilon * part * all;
}

wfre_status wfre_surrogate_allocate(const wfre_score_settings *settings, size_t rank,
                                    wfre_surrogate **result, wfre_error *error)
{
    size_t a = settings->block, kernels = settings->radius > 1 ? KERNELS : 0;
    wfre_surrogate *s = wfre_alloc_zero(1, sizeof *s);
    if (!s)
        return wfre_fail_memory(error, "making a surrogate");
    s->block = a;
    s->forms = (1 + kernels) * a + 1;
    s->features = 1 + a + s->forms;
    s->slopes = s->features + 2 * a;
    s->rank = rank;
    s->floor = settings->floor;
    s->power = 1 / (2 + settings->epsilon);
    fill_envelope(settings, s);
    s->linear = wfre_alloc_tensor(a * s->forms, sizeof(float));
    s->linear_back = wfre_alloc_tensor(a * s->forms, sizeof(float));
    bool made = s->linear && s->linear_back;
    for (int side = 0; side < 2; side++) {
        s->map[side] = wfre_alloc_tensor(s->features * rank, sizeof(float));
        s->back[0][side] = wfre_alloc_tensor(s->features * rank, sizeof(float));
        s->back[1][side] = wfre_alloc_tensor(s->slopes * rank, sizeof(float));
        made = made && s->map[side] && s->back[0][side] && s->back[1][side];
    }
    if (!made) {
        wfre_surrogate_free(s);
        return wfre_fail_memory(error, "making a surrogate");
    }
    fill_linear(settings, s);
    *result = s;
    return WFRE_OK;
}

void wfre_surrogate_complete(wfre_surrogate *s)
{
    for (int side = 0; side < 2; side++)
        for (size_t f = 0; f < s->features; f++)
            for (size_t k = 0; k < s->rank; k++)
                s->back[WFRE_SLOPE_VALUE][side][k * s->features + f] =
                    s->map[side][f * s->rank + k];
}

size_t wfre_surrogate_slopes(const wfre_surrogate *s, wfre_slope kind)
{
    return kind == WFRE_SLOPE_VALUE ? s->features : s->slopes;
}

void wfre_surrogate_free(wfre_surrogate *s)
{
    if (!s)
        return;
    wfre_free(s->linear);
    wfre_free(s->linear_back);
    for (int side = 0; side < 2; side++) {
        wfre_free(s->map[side]);
        wfre_free(s->back[0][side]);
        wfre_free(s->back[1][side]);
    }
    wfre_free(s);
}

/* ---- one block, in double precision ------------------------------------------------------- */

/* g = L'x */
static void forms_of(const wfre_surrogate *s, const float *u, double *g)
{
    memset(g, 0, s->forms * sizeof *g);
    for (size_t i = 0; i < s->block; i++)
        for (size_t k = 0; k < s->forms; k++)
            g[k] += (double)s->linear[i * s->forms + k] * ((double)u[i] + s->floor);
}

static void features_of(const wfre_surrogate *s, const float *u, double *f)
{
    double g[MOST_FORMS];
    forms_of(s, u, g);
    f[0] = 1;
    for (size_t i = 0; i < s->block; i++)
        f[1 + i] = (double)u[i] + s->floor;
    for (size_t k = 0; k < s->forms; k++)
        f[1 + s->block + k] = pow(g[k], s->power);
}

/* The derivatives of all features by all bins, and the powers of the envelope: [slopes, a]. What is
 * raised is taken as at least `floor`. */
static void slopes_of(const wfre_surrogate *s, const float *u, double floor, double *out)
{
    size_t a = s->block;
    double g[MOST_FORMS];
    forms_of(s, u, g);
    memset(out, 0, s->slopes * a * sizeof *out);
    for (size_t i = 0; i < a; i++) {
        out[(1 + i) * a + i] = 1;
        for (size_t k = 0; k < 2; k++)
            out[(s->features + k * a + i) * a + i] = pow((double)u[i] + s->floor, s->envelope[k]);
    }
    for (size_t k = 0; k < s->forms; k++) {
        double at = fmax(g[k], floor), slope = s->power * pow(at, s->power - 1);
        for (size_t i = 0; i < a; i++)
            out[(1 + a + k) * a + i] = (double)s->linear[i * s->forms + k] * slope;
    }
}

/* What a map [F, rank] makes of a block. */
static void map_of(const wfre_surrogate *s, const float *map, const float *u, double *out)
{
    double f[1 + WFRE_SURROGATE_BLOCK + MOST_FORMS];
    features_of(s, u, f);
    for (size_t k = 0; k < s->rank; k++) {
        out[k] = 0;
        for (size_t i = 0; i < s->features; i++)
            out[k] += (double)map[i * s->rank + k] * f[i];
    }
}

/* A gradient by u, which stands on this side: F(u)' back' q. */
static void carry_back(const wfre_surrogate *s, wfre_slope kind, wfre_side side, const float *u,
                       double floor, const double *q, double *gradient)
{
    double slopes[MOST_SLOPES * WFRE_SURROGATE_BLOCK];
    size_t count = wfre_surrogate_slopes(s, kind);
    slopes_of(s, u, floor, slopes);
    memset(gradient, 0, s->block * sizeof *gradient);
    for (size_t f = 0; f < count; f++) {
        double factor = 0;
        for (size_t k = 0; k < s->rank; k++)
            factor += (double)s->back[kind][side][k * count + f] * q[k];
        for (size_t i = 0; i < s->block; i++)
            gradient[i] += factor * slopes[f * s->block + i];
    }
}

static double value_of(const wfre_surrogate *s, const float *u, const float *v, wfre_slope kind,
                       double floor, double *gradient)
{
    double p[MOST_SLOPES], q[MOST_SLOPES], value = 0;
    map_of(s, s->map[WFRE_LEFT], u, p);
    map_of(s, s->map[WFRE_RIGHT], v, q);
    for (size_t k = 0; k < s->rank; k++)
        value += p[k] * q[k];
    if (gradient)
        carry_back(s, kind, WFRE_LEFT, u, floor, q, gradient);
    return value;
}

double wfre_surrogate_block(const wfre_surrogate *s, const float *u, const float *v,
                            wfre_slope kind, double *gradient)
{
    return value_of(s, u, v, kind, (double)WFRE_SLOPE_FLOOR, gradient);
}

/* ---- samples ------------------------------------------------------------------------------ */

/* Spread, narrow, saturated and sparse blocks in turn. */
static void draw_blocks(uint64_t key, size_t count, size_t block, float *blocks)
{
    wfre_rng rng = wfre_rng_for(0, WFRE_FOR_SURROGATE, key, 0);
    for (size_t i = 0; i < count * block; i++) {
        float u = wfre_rng_float(&rng);
        switch (i / block % 4) {
        case 0:
            blocks[i] = u;
            break;
        case 1: /* the sigmoid of a normal variable */
            blocks[i] = (float)(1 / (1 + exp(-wfre_rng_normal(&rng))));
            break;
        case 2:
            blocks[i] =
                (u < 0.5f ? 0 : 1) + (u < 0.5f ? 1.0f : -1.0f) * powf(wfre_rng_float(&rng), 4);
            break;
        default:
            blocks[i] = (u < 0.5f ? 0.05f : 1) * wfre_rng_float(&rng);
        }
    }
}

/* The value of every pair of blocks, [left, right]. */
static wfre_status score_pairs(const wfre_score *score, wfre_pool *pool, const float *left,
                               size_t rows, const float *right, size_t columns, float *values,
                               wfre_error *error)
{
    size_t a = wfre_score_get_settings(score)->block;
    wfre_store *store = NULL;
    wfre_status status;
    /* The store stands on the left, and distances come query by query. */
    float *swapped = wfre_alloc(rows * columns, sizeof *swapped);
    if (!swapped)
        return wfre_fail_memory(error, "fitting a surrogate");
    TRY(wfre_store_create(score, pool, left, WFRE_FLOAT32, a, rows, &store, error));
    wfre_rank_job job = {
        .queries = {right, a}, .query_count = columns, .ranking = WFRE_RANK_TRUE, .stride = rows};
    TRY(wfre_score_rank(score, pool, store, &job, swapped, error));
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < columns; j++)
            values[i * columns + j] = swapped[j * rows + i];
cleanup:
    wfre_store_free(store);
    wfre_free(swapped);
    return status;
}

/* ---- fitting ------------------------------------------------------------------------------ */

/* The first columns of the full maps. */
static void cut(const double *left, const double *right, wfre_surrogate *s)
{
    size_t all = s->features;
    for (size_t f = 0; f < s->features; f++)
        for (size_t k = 0; k < s->rank; k++) {
            s->map[WFRE_LEFT][f * s->rank + k] = (float)left[f * all + k];
            s->map[WFRE_RIGHT][f * s->rank + k] = (float)right[f * all + k];
        }
    wfre_surrogate_complete(s);
}

/* Maps of full rank, columns in the order of what they explain. */
static wfre_status fit_maps(const wfre_surrogate *s, const wfre_score *score, wfre_pool *pool,
                            const wfre_surrogate_sample *sample, double *left, double *right,
                            wfre_error *error)
{
    size_t rows = sample->left_count, columns = sample->right_count, all = s->features;
    wfre_arena arena = {0};
    wfre_status status;
    float *values = wfre_arena_alloc(&arena, rows * columns, sizeof *values);
    double *v = wfre_arena_alloc(&arena, rows * columns, sizeof *v);
    double *a = wfre_arena_alloc(&arena, rows * all, sizeof *a);
    double *b = wfre_arena_alloc(&arena, columns * all, sizeof *b);
    if (!values || !v || !a || !b) {
        status = wfre_fail_memory(error, "fitting a surrogate");
        goto cleanup;
    }
    TRY(score_pairs(score, pool, sample->left, rows, sample->right, columns, values, error));
    for (size_t i = 0; i < rows * columns; i++)
        v[i] = (double)values[i];
    for (size_t i = 0; i < rows; i++)
        features_of(s, sample->left + i * s->block, a + i * all);
    for (size_t i = 0; i < columns; i++)
        features_of(s, sample->right + i * s->block, b + i * all);
    wfre_separable problem = {.rows = rows,
                              .columns = columns,
                              .v = v,
                              .features = all,
                              .a = a,
                              .b = b,
                              .rank = all,
                              .left = left,
                              .right = right};
    TRY(wfre_separable_fit(&problem, error));
cleanup:
    wfre_arena_free(&arena);
    return status;
}

/* ---- how well it fits --------------------------------------------------------------------- */

/* What the score says about test pairs: values, derivatives by x, and the envelope's. */
typedef struct truth {
    const float *left, *right;
    size_t count; /* on each side */
    float *values, *higher, *lower, *moved;
    float *slopes;      /* [count, count, a] */
    float *envelope[2]; /* [count, count, a] by x and by y */
    bool *counts;       /* [count, a] whether a derivative is compared */
} truth;

/* Derivatives by central differences, a bin at a time. */
static wfre_status differentiate(truth *t, const wfre_score *score, wfre_pool *pool, size_t bin,
                                 wfre_error *error)
{
    size_t a = wfre_score_get_settings(score)->block, n = t->count;
    for (int side = 0; side < 2; side++) {
        memcpy(t->moved, t->left, n * a * sizeof *t->moved);
        for (size_t i = 0; i < n; i++)
            t->moved[i * a + bin] += side ? STEP : -STEP;
        CHECK(
            score_pairs(score, pool, t->moved, n, t->right, n, side ? t->higher : t->lower, error));
    }
    for (size_t i = 0; i < n; i++) {
        float at = t->left[i * a + bin];
        t->counts[i * a + bin] = at > WFRE_SLOPE_FLOOR && at < 1 - STEP;
        for (size_t j = 0; j < n; j++)
            t->slopes[(i * n + j) * a + bin] =
                (t->higher[i * n + j] - t->lower[i * n + j]) / (2 * STEP);
    }
    return WFRE_OK;
}

static wfre_status find_truth(truth *t, wfre_arena *arena, const wfre_score *score, wfre_pool *pool,
                              wfre_error *error)
{
    size_t a = wfre_score_get_settings(score)->block, n = t->count, pairs = n * n;
    uint32_t *left_index = wfre_arena_alloc(arena, pairs, sizeof *left_index);
    uint32_t *right_index = wfre_arena_alloc(arena, pairs, sizeof *right_index);
    t->values = wfre_arena_alloc(arena, pairs, sizeof *t->values);
    t->higher = wfre_arena_alloc(arena, pairs, sizeof *t->higher);
    t->lower = wfre_arena_alloc(arena, pairs, sizeof *t->lower);
    t->moved = wfre_arena_alloc(arena, n * a, sizeof *t->moved);
    t->slopes = wfre_arena_alloc(arena, pairs * a, sizeof *t->slopes);
    for (int side = 0; side < 2; side++)
        t->envelope[side] = wfre_arena_alloc(arena, pairs * a, sizeof *t->envelope[side]);
    t->counts = wfre_arena_alloc(arena, n * a, sizeof *t->counts);
    if (!left_index || !right_index || !t->values || !t->higher || !t->lower || !t->moved ||
        !t->slopes || !t->envelope[0] || !t->envelope[1] || !t->counts)
        return wfre_fail_memory(error, "fitting a surrogate");
    for (size_t i = 0; i < pairs; i++) {
        left_index[i] = (uint32_t)(i / n);
        right_index[i] = (uint32_t)(i % n);
    }
    wfre_pairs all = {{t->left, a}, {t->right, a}, left_index, right_index, pairs};
    wfre_gradients gradients = {t->envelope[0], t->envelope[1], a};
    CHECK(wfre_score_pairs(score, pool, &all, t->values, &gradients, error));
    for (size_t bin = 0; bin < a; bin++)
        CHECK(differentiate(t, score, pool, bin, error));
    return WFRE_OK;
}

/* Fills the surrogate's record of how well its value fits the test pairs; the gradients are the
 * value's still. */
static void judge(wfre_surrogate *s, const truth *t)
{
    size_t a = s->block, n = t->count;
    double mean = 0, spread = 0, off = 0, size = 0, apart = 0, envelope = 0;
    for (size_t i = 0; i < n * n; i++)
        mean += (double)t->values[i] / (double)(n * n);
    for (size_t i = 0; i < n * n; i++) {
        double gradient[WFRE_SURROGATE_BLOCK];
        const float *left = t->left + i / n * a, *right = t->right + i % n * a;
        double value = value_of(s, left, right, WFRE_SLOPE_VALUE, 0, gradient);
        spread += pow((double)t->values[i] - mean, 2);
        off += pow((double)t->values[i] - value, 2);
        for (size_t k = 0; k < a; k++)
            if (t->counts[i / n * a + k]) {
                double slope = (double)t->slopes[i * a + k];
                size += slope * slope;
                apart += pow(gradient[k] - slope, 2);
                envelope += pow((double)t->envelope[0][i * a + k] - slope, 2);
            }
    }
    s->fit = spread > 0 ? 1 - off / spread : 1;
    s->slope_error = size > 0 ? sqrt(apart / size) : 0;
    s->slope_error_envelope = size > 0 ? sqrt(envelope / size) : 0;
}

/* ---- gradients ---------------------------------------------------------------------------- */

/* Blocks of one side (own) and of the other, and the envelope's gradient by the former. */
typedef struct slope_sample {
    const float *own, *other;
    size_t count;
    double *gradient; /* [count, a, count] */
    wfre_side side;   /* of the own */
} slope_sample;

/* Takes the mean over the other side out of gradients [a, count]. What a question's gradients by
 * all entities have in common hardly counts: a softmax pulls as hard as it pushes. */
static void take_out_common(double *values, size_t count, size_t a)
{
    for (size_t bin = 0; bin < a; bin++) {
        double mean = 0;
        for (size_t i = 0; i < count; i++)
            mean += values[bin * count + i] / (double)count;
        for (size_t i = 0; i < count; i++)
            values[bin * count + i] -= mean;
    }
}

/* Takes the gradients of all pairs of n blocks from [left, right, a] to [own, a, other]. */
static void turn_gradients(const float *found, size_t n, size_t a, int side, double *out)
{
    for (size_t i = 0; i < n * n; i++)
        for (size_t bin = 0; bin < a; bin++) {
            size_t own = side ? i % n : i / n, other = side ? i / n : i % n;
            out[(own * a + bin) * n + other] = (double)found[i * a + bin];
        }
}

/* Fits one side's way back, with so many powers of the envelope. */
static wfre_status fit_back(wfre_surrogate *s, const slope_sample *sample, size_t powers,
                            wfre_error *error)
{
    size_t a = s->block, n = sample->count, used = s->features + powers * a;
    float *back = s->back[WFRE_SLOPE_ENVELOPE][sample->side];
    wfre_arena arena = {0};
    wfre_status status;
    double *slopes = wfre_arena_alloc(&arena, n * a * used, sizeof *slopes);
    double *turned = wfre_arena_alloc(&arena, a * s->slopes, sizeof *turned);
    double *mapped = wfre_arena_alloc(&arena, n * s->rank, sizeof *mapped);
    double *c = wfre_arena_alloc(&arena, s->rank * used, sizeof *c);
    if (!slopes || !turned || !mapped || !c) {
        status = wfre_fail_memory(error, "fitting a surrogate");
        goto cleanup;
    }
    for (size_t i = 0; i < n; i++) {
        slopes_of(s, sample->own + i * a, (double)WFRE_SLOPE_FLOOR, turned);
        for (size_t f = 0; f < used; f++)
            for (size_t bin = 0; bin < a; bin++)
                slopes[(i * a + bin) * used + f] = turned[f * a + bin];
        map_of(s, s->map[!sample->side], sample->other + i * a, mapped + i * s->rank);
    }
    wfre_bilinear problem = {n * a, n, sample->gradient, used, s->rank, slopes, mapped, c};
    TRY(wfre_bilinear_fit(&problem, error));
    memset(back, 0, s->rank * s->slopes * sizeof *back);
    for (size_t k = 0; k < s->rank; k++)
        for (size_t f = 0; f < used; f++)
            back[k * s->slopes + f] = (float)c[k * used + f];
cleanup:
    wfre_arena_free(&arena);
    return status;
}

/* The relative error of one side's gradients on a sample; of a question's, of what they do not have
 * in common. */
static wfre_status judge_back(const wfre_surrogate *s, const slope_sample *sample, double *result,
                              wfre_error *error)
{
    size_t a = s->block, n = sample->count;
    double off = 0, size = 0;
    double *own = wfre_alloc(2 * a * n, sizeof *own), *right = own ? own + a * n : NULL;
    if (!own)
        return wfre_fail_memory(error, "fitting a surrogate");
    for (size_t i = 0; i < n; i++) {
        memcpy(right, sample->gradient + i * a * n, a * n * sizeof *right);
        for (size_t j = 0; j < n; j++) {
            double mapped[MOST_SLOPES], gradient[WFRE_SURROGATE_BLOCK];
            map_of(s, s->map[!sample->side], sample->other + j * a, mapped);
            carry_back(s, WFRE_SLOPE_ENVELOPE, sample->side, sample->own + i * a,
                       (double)WFRE_SLOPE_FLOOR, mapped, gradient);
            for (size_t bin = 0; bin < a; bin++)
                own[bin * n + j] = gradient[bin];
        }
        if (sample->side == WFRE_RIGHT) {
            take_out_common(own, n, a);
            take_out_common(right, n, a);
        }
        for (size_t k = 0; k < a * n; k++) {
            off += pow(own[k] - right[k], 2);
            size += pow(right[k], 2);
        }
    }
    wfre_free(own);
    *result = size > 0 ? sqrt(off / size) : 0;
    return WFRE_OK;
}

/* Fits one side with as many powers as serve the test blocks best; that of the questions with one
 * unless another number has half its error, since what a softmax makes of it is better then. */
static wfre_status fit_side(wfre_surrogate *s, const slope_sample *sample, const slope_sample *test,
                            wfre_error *error)
{
    enum { USUAL = 1, MOST = 2 };
    double found[MOST + 1] = {0}, others = sample->side == WFRE_RIGHT ? 2 : 1;
    size_t kept = USUAL;
    for (size_t powers = 0; powers <= MOST; powers++) {
        CHECK(fit_back(s, sample, powers, error));
        CHECK(judge_back(s, test, &found[powers], error));
    }
    for (size_t powers = 0; powers <= MOST; powers++)
        if (powers != USUAL && others * found[powers] < found[USUAL] &&
            (kept == USUAL || found[powers] < found[kept]))
            kept = powers;
    s->gradient_error[sample->side] = found[kept];
    return kept == MOST ? WFRE_OK : fit_back(s, sample, kept, error);
}

/* Fits both ways back to the envelope's gradients of some of the sample. */
static wfre_status fit_gradients(wfre_surrogate *s, const wfre_score *score, wfre_pool *pool,
                                 const wfre_surrogate_sample *sample, const truth *t,
                                 wfre_error *error)
{
    size_t a = s->block, n = SLOPE_BLOCKS;
    n = n < sample->left_count ? n : sample->left_count;
    n = n < sample->right_count ? n : sample->right_count;
    size_t pairs = n * n;
    wfre_arena arena = {0};
    wfre_status status;
    uint32_t *left_index = wfre_arena_alloc(&arena, pairs, sizeof *left_index);
    uint32_t *right_index = wfre_arena_alloc(&arena, pairs, sizeof *right_index);
    float *values = wfre_arena_alloc(&arena, pairs, sizeof *values);
    float *found = wfre_arena_alloc(&arena, 2 * pairs * a, sizeof *found);
    double *turned = wfre_arena_alloc(&arena, pairs * a, sizeof *turned);
    double *tested = wfre_arena_alloc(&arena, t->count * t->count * a, sizeof *tested);
    if (!left_index || !right_index || !values || !found || !turned || !tested) {
        status = wfre_fail_memory(error, "fitting a surrogate");
        goto cleanup;
    }
    for (size_t i = 0; i < pairs; i++) {
        left_index[i] = (uint32_t)(i / n);
        right_index[i] = (uint32_t)(i % n);
    }
    wfre_pairs all = {{sample->left, a}, {sample->right, a}, left_index, right_index, pairs};
    wfre_gradients gradients = {found, found + pairs * a, a};
    TRY(wfre_score_pairs(score, pool, &all, values, &gradients, error));
    for (int side = 0; side < 2; side++) {
        turn_gradients(found + (side ? pairs * a : 0), n, a, side, turned);
        turn_gradients(t->envelope[side], t->count, a, side, tested);
        slope_sample fitted = {sample->left, sample->right, n, turned, WFRE_LEFT};
        slope_sample test = {t->left, t->right, t->count, tested, WFRE_LEFT};
        if (side) {
            fitted = (slope_sample){sample->right, sample->left, n, turned, WFRE_RIGHT};
            test = (slope_sample){t->right, t->left, t->count, tested, WFRE_RIGHT};
        }
        TRY(fit_side(s, &fitted, &test, error));
    }
cleanup:
    wfre_arena_free(&arena);
    return status;
}

/* ---- the rank ----------------------------------------------------------------------------- */

/* The surrogate of a rank, with its record. */
static wfre_status make_rank(const wfre_score_settings *settings, const double *left,
                             const double *right, const truth *t, size_t rank,
                             wfre_surrogate **result, wfre_error *error)
{
    wfre_surrogate_free(*result);
    *result = NULL;
    wfre_status status = wfre_surrogate_allocate(settings, rank, result, error);
    if (status != WFRE_OK)
        return status;
    cut(left, right, *result);
    judge(*result, t);
    return WFRE_OK;
}

/* The smallest rank that loses no more than MOST_LOSS, unless one is given. */
static wfre_status choose_rank(const wfre_score_settings *settings, const double *left,
                               const double *right, const truth *t, size_t all, size_t given,
                               wfre_surrogate **result, wfre_error *error)
{
    wfre_surrogate *s = NULL;
    wfre_status status;
    TRY(make_rank(settings, left, right, t, all, &s, error));
    double least = s->slope_error;
    size_t low = given ? given : 1, high = given ? given : all;
    while (low < high) {
        size_t rank = (low + high) / 2;
        TRY(make_rank(settings, left, right, t, rank, &s, error));
        if (s->slope_error <= least + MOST_LOSS)
            high = rank;
        else
            low = rank + 1;
    }
    TRY(make_rank(settings, left, right, t, low, &s, error));
    s->slope_error_all_ranks = least;
    *result = s;
    s = NULL;
cleanup:
    wfre_surrogate_free(s);
    return status;
}

wfre_status wfre_surrogate_fit(const wfre_score_settings *given,
                               const wfre_surrogate_sample *sample, wfre_pool *pool, size_t rank,
                               wfre_surrogate **result, wfre_error *error)
{
    size_t a = given->block, wanted = wfre_surrogate_wanted(given);
    wfre_score_settings settings = *given;
    wfre_score *score = NULL;
    wfre_surrogate *shape = NULL, *made = NULL;
    wfre_arena arena = {0};
    wfre_status status;
    settings.dimension = a;
    TRY(wfre_score_create(&settings, &score, error));
    TRY(wfre_surrogate_allocate(&settings, 1, &shape, error));
    size_t all = shape->features;
    float *random = wfre_arena_alloc(&arena, 2 * wanted * a, sizeof *random);
    double *left = wfre_arena_alloc(&arena, all * all, sizeof *left);
    double *right = wfre_arena_alloc(&arena, all * all, sizeof *right);
    if (!random || !left || !right) {
        status = wfre_fail_memory(error, "fitting a surrogate");
        goto cleanup;
    }
    draw_blocks(1, wanted, a, random);
    draw_blocks(2, wanted, a, random + wanted * a);
    wfre_surrogate_sample drawn = {random, random + wanted * a, wanted, wanted};
    drawn = sample ? *sample : drawn;
    size_t least = drawn.left_count < drawn.right_count ? drawn.left_count : drawn.right_count;
    truth t = {.left = drawn.left, .right = drawn.right};
    t.count = least < 2 * TEST_BLOCKS ? least / 2 : TEST_BLOCKS;
    drawn.left += t.count * a;
    drawn.right += t.count * a;
    drawn.left_count -= t.count;
    drawn.right_count -= t.count;
    TRY(fit_maps(shape, score, pool, &drawn, left, right, error));
    TRY(find_truth(&t, &arena, score, pool, error));
    TRY(choose_rank(&settings, left, right, &t, all, rank, &made, error));
    TRY(fit_gradients(made, score, pool, &drawn, &t, error));
    *result = made;
    made = NULL;
cleanup:
    wfre_surrogate_free(made);
    wfre_arena_free(&arena);
    wfre_surrogate_free(shape);
    wfre_score_free(score);
    return status;
}
