/* Scores: settings, presets, the numbers derived from them, and the choice of kernels. */
#include "wfr/kernels.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"

static const char *const KIND_NAMES[WFRE_SCORE_KINDS] = {
    "wfr", "local", "hellinger", "kl", "l1", "l2", "inner", "wasserstein",
};

static const double PI = 3.14159265358979323846;

/* ---- settings ----------------------------------------------------------------------------- */

void wfre_score_defaults(size_t dimension, wfre_score_settings *settings)
{
    *settings = (wfre_score_settings){
        .kind = WFRE_SCORE_WFR,
        .dimension = dimension,
        .block = 5,
        .iterations = 10,
        .radius = PI,
        .epsilon = 0.1,
        .power = 2,
        .floor = 1e-4,
    };
}

wfre_status wfre_score_preset(const char *name, wfre_score_settings *settings, wfre_error *error)
{
    static const struct {
        const char *name;
        double radius;
        double power;
    } presets[] = {{"reference", PI, 2}, {"paper", 3, 1}, {"exact", 3, WFRE_POWER_EXACT}};
    for (size_t i = 0; i < sizeof presets / sizeof presets[0]; i++) {
        if (strcmp(presets[i].name, name) == 0) {
            settings->radius = presets[i].radius;
            settings->power = presets[i].power;
            return WFRE_OK;
        }
    }
    return wfre_fail(error, WFRE_ERR_ARGUMENT, WFRE_NO_OFFSET,
                     "unknown preset %.60s; use reference, paper or exact", name);
}

const char *wfre_score_kind_name(wfre_score_kind kind)
{
    return (unsigned)kind < WFRE_SCORE_KINDS ? KIND_NAMES[kind] : "unknown";
}

wfre_status wfre_score_kind_parse(const char *name, wfre_score_kind *kind, wfre_error *error)
{
    for (int i = 0; i < WFRE_SCORE_KINDS; i++) {
        if (strcmp(KIND_NAMES[i], name) == 0) {
            *kind = (wfre_score_kind)i;
            return WFRE_OK;
        }
    }
    return wfre_fail(error, WFRE_ERR_ARGUMENT, WFRE_NO_OFFSET,
                     "unknown score %.60s; use wfr, local, hellinger, kl, l1, l2, inner or "
                     "wasserstein",
                     name);
}

/* Written so that NaN fails too. */
static bool within(double value, double low, double high)
{
    return value >= low && value <= high;
}

static wfre_status check_settings(const wfre_score_settings *s, wfre_error *error)
{
    const char *problem = NULL;
    if ((unsigned)s->kind >= WFRE_SCORE_KINDS)
        problem = "kind: unknown";
    else if (s->dimension == 0 || s->dimension > UINT32_MAX)
        problem = "dimension: must be between 1 and 2^32 - 1";
    else if (s->block == 0 || s->dimension % s->block != 0)
        problem = "block: must divide the number of elements";
    else if (s->kind == WFRE_SCORE_WFR && s->block > WFRE_BLOCK_LIMIT)
        problem = "block: at most 64 bins";
    else if (s->block > WFRE_POINTWISE_LIMIT)
        problem = "block: at most 4096 bins";
    else if (!within(s->epsilon, 1e-3, 1e3))
        problem = "epsilon: must be between 0.001 and 1000";
    else if (!within(s->floor, 1e-12, 1))
        problem = "floor: must be between 1e-12 and 1";
    else if (s->kind == WFRE_SCORE_WFR && !within(s->radius, 1e-6, 1e6))
        problem = "radius: must be between 1e-6 and 1e6";
    else if (s->kind == WFRE_SCORE_WFR && s->power != WFRE_POWER_EXACT && !within(s->power, 0, 1e4))
        problem = "power: must be between 0 and 10000, or -1 for 2/epsilon";
    else if (s->kind == WFRE_SCORE_WFR &&
             (s->iterations == 0 || s->iterations > WFRE_ITERATION_LIMIT))
        problem = "iterations: must be between 1 and 100000";
    if (problem)
        return wfre_fail(error, WFRE_ERR_ARGUMENT, WFRE_NO_OFFSET, "%s", problem);
    return WFRE_OK;
}

/* ---- derived numbers ---------------------------------------------------------------------- */

double wfre_log_cosine(double distance, double radius)
{
    distance = fabs(distance);
    return distance < radius ? log(cos(PI * distance / (2 * radius))) : -INFINITY;
}

static void fill_kernels(wfre_score *score)
{
    const wfre_score_settings *s = &score->settings;
    uint32_t a = s->block;
    for (uint32_t k = 0; k < a && k < s->radius; k++) {
        score->log_c[k] = wfre_log_cosine(k, s->radius);
        score->h[k] = exp(s->power * score->log_c[k]);
        score->k[k] = exp(2 / s->epsilon * score->log_c[k]);
        score->kernel_sum += (k == 0 ? a : 2.0 * (a - k)) * score->k[k];
        score->window = k + 1;
    }
    /* A value is the difference of two sums of terms: epsilon sum K, and what is left of the start
     * at phi = psi = 1/a, x (1 - phi^-epsilon) for each bin. */
    double start = a * log(a) * pow(score->exponent, 2.0 * s->iterations);
    score->resolution = 3e-7 * s->epsilon * (score->kernel_sum + start);
}

/* Interval arithmetic along the iterations, in octaves: mass lies in [floor, 1 + floor], and the
 * least and largest row sums of H bound what one product can do to an interval. */
static void bound_range(wfre_score *score)
{
    const wfre_score_settings *s = &score->settings;
    double least = INFINITY, most = 0;
    for (uint32_t i = 0; i < s->block; i++) {
        double sum = 0;
        for (uint32_t j = 0; j < s->block; j++) {
            uint32_t k = i > j ? i - j : j - i;
            sum += score->h[k];
        }
        least = fmin(least, log2(sum));
        most = fmax(most, log2(sum));
    }
    double mass_low = log2(s->floor), mass_high = log2(1 + s->floor);
    double low = -log2(s->block), high = low;
    score->octaves_low = low;
    score->octaves_high = high;
    for (uint32_t step = 0; step < 2 * s->iterations; step++) {
        double sum_low = low + least, sum_high = high + most;
        low = score->exponent * (mass_low - sum_high);
        high = score->exponent * (mass_high - sum_low);
        score->octaves_low = fmin(score->octaves_low, fmin(low, sum_low));
        score->octaves_high = fmax(score->octaves_high, fmax(high, sum_high));
    }
}

/* ---- life --------------------------------------------------------------------------------- */

/* A WFR score starts with the reference kernels, which those for the CPU replace where they hold
 * its range; the other scores have one implementation. False when out of memory. */
static bool choose_kernels(wfre_score *score, wfre_isa isa)
{
    if (score->settings.kind != WFRE_SCORE_WFR) {
        wfre_score_use_pointwise(score);
        return true;
    }
    wfre_score_use_reference(score);
#if defined(__x86_64__)
    if (isa >= WFRE_ISA_AVX512)
        return wfre_score_use_avx512(score);
    if (isa >= WFRE_ISA_AVX2)
        return wfre_score_use_avx2(score);
#else
    (void)isa;
#endif
    return true;
}

wfre_status wfre_score_create_for(const wfre_score_settings *settings, wfre_isa isa,
                                  wfre_score **result, wfre_error *error)
{
    if (!wfre_isa_available(isa))
        return wfre_fail(error, WFRE_ERR_UNSUPPORTED, WFRE_NO_OFFSET, "this CPU has no %s",
                         wfre_isa_name(isa));
    wfre_status status = check_settings(settings, error);
    if (status != WFRE_OK)
        return status;
    wfre_score *score = wfre_alloc_zero(1, sizeof *score);
    if (!score)
        return wfre_fail_memory(error, "preparing a score");
    score->settings = *settings;
    if (settings->power == WFRE_POWER_EXACT)
        score->settings.power = 2 / settings->epsilon;
    score->blocks = settings->dimension / settings->block;
    score->exponent = 1 / (1 + settings->epsilon);
    if (settings->kind == WFRE_SCORE_WFR) {
        fill_kernels(score);
        bound_range(score);
    }
    if (!choose_kernels(score, isa)) {
        wfre_score_free(score);
        return wfre_fail_memory(error, "preparing a score");
    }
    *result = score;
    return WFRE_OK;
}

wfre_status wfre_score_create(const wfre_score_settings *settings, wfre_score **score,
                              wfre_error *error)
{
    GIVEN(settings);
    wfre_isa isa;
    wfre_status status = wfre_isa_select(&isa, error);
    return status == WFRE_OK ? wfre_score_create_for(settings, isa, score, error) : status;
}

void wfre_score_free(wfre_score *score)
{
    if (!score)
        return;
    wfre_free(score->tables);
    wfre_free(score);
}

const wfre_score_settings *wfre_score_get_settings(const wfre_score *score)
{
    return &score->settings;
}

const char *wfre_score_kernel(const wfre_score *score)
{
    return score->kernels.name;
}

double wfre_score_ranking_error(const wfre_score *score, uint32_t *iterations)
{
    bool faster = score->rank_iterations > 0;
    *iterations = faster ? score->rank_iterations + 1 : score->settings.iterations;
    return score->rank_error;
}
