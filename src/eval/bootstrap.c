/* Confidence intervals by bootstrap.
 *
 * Each resampling draws, within every type, as many queries as the type has, with replacement; its
 * groups average its types. The interval spans the middle 95% of the resampled MRRs. */
#include <stdlib.h>

#include "base/pool.h"
#include "base/rng.h"
#include "eval/evaluation.h"

typedef struct bootstrap {
    const wfre_evaluation *evaluation;
    uint64_t seed;
    double *values; /* MRR by type: type t of the query list is values[begin[t] .. begin[t+1]) */
    size_t *begin;  /* type_count + 1 */
    double *means;  /* [rows, resamplings], types then groups */
    uint32_t resamplings;
} bootstrap;

/* The mean of as many values as there are, drawn with replacement. */
static double resampled_mean(const double *values, size_t count, wfre_rng *rng)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += values[wfre_rng_below(rng, (uint32_t)count)];
    return sum / (double)count;
}

static void resample(void *context, size_t chunk, unsigned worker)
{
    (void)worker;
    bootstrap *b = context;
    const wfre_evaluation *e = b->evaluation;
    double sums[WFRE_GROUPS] = {0};
    for (size_t t = 0; t < e->type_count; t++) {
        wfre_rng rng = wfre_rng_for(b->seed, WFRE_FOR_BOOTSTRAP, chunk, t);
        double mean = resampled_mean(b->values + b->begin[t], b->begin[t + 1] - b->begin[t], &rng);
        b->means[t * b->resamplings + chunk] = mean;
        for (int g = 0; g < WFRE_GROUPS; g++)
            if (wfre_type_in_group(&e->types[t], (wfre_group)g))
                sums[g] += mean;
    }
    for (int g = 0; g < WFRE_GROUPS; g++)
        b->means[(e->type_count + (size_t)g) * b->resamplings + chunk] =
            e->groups[g].types ? sums[g] / e->groups[g].types : 0;
}

static int compare_numbers(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

/* The value below which `share` of the sorted values lie, between neighbours by proportion. */
static double quantile(const double *values, size_t count, double share)
{
    double place = share * (double)(count - 1);
    size_t below = (size_t)place;
    double part = place - (double)below;
    return below + 1 < count ? values[below] * (1 - part) + values[below + 1] * part
                             : values[below];
}

static void set_interval(wfre_evaluation_row *row, double *means, uint32_t count)
{
    qsort(means, count, sizeof *means, compare_numbers);
    row->mrr_low = quantile(means, count, 0.025);
    row->mrr_high = quantile(means, count, 0.975);
}

wfre_status wfre_bootstrap_mean(const double *values, size_t count, uint32_t resamplings,
                                uint64_t seed, uint64_t stream, wfre_evaluation_row *row,
                                wfre_error *error)
{
    double *means = wfre_alloc(resamplings, sizeof *means);
    if (!means)
        return wfre_fail_memory(error, "computing intervals");
    for (uint32_t i = 0; i < resamplings; i++) {
        wfre_rng rng = wfre_rng_for(seed, WFRE_FOR_BOOTSTRAP, i, stream);
        means[i] = resampled_mean(values, count, &rng);
    }
    set_interval(row, means, resamplings);
    wfre_free(means);
    return WFRE_OK;
}

/* Sorts the queries' MRRs by type. */
static void gather_values(bootstrap *b)
{
    const wfre_evaluation *e = b->evaluation;
    for (size_t t = 0; t < e->type_count; t++)
        b->begin[t + 1] = b->begin[t] + e->types[t].row.queries;
    for (size_t q = 0; q < e->query_count; q++)
        if (e->queries[q].ranked)
            b->values[b->begin[e->queries[q].type]++] = e->queries[q].metrics.mrr;
    for (size_t t = e->type_count; t > 0; t--)
        b->begin[t] = b->begin[t - 1];
    b->begin[0] = 0;
}

wfre_status wfre_evaluation_bootstrap(wfre_evaluation *e, uint32_t resamplings, uint64_t seed,
                                      wfre_pool *pool, wfre_error *error)
{
    wfre_status status = WFRE_OK;
    bootstrap b = {.evaluation = e, .seed = seed, .resamplings = resamplings};
    b.values = wfre_alloc(e->query_count + 1, sizeof *b.values);
    b.begin = wfre_alloc_zero(e->type_count + 1, sizeof *b.begin);
    b.means = wfre_alloc((e->type_count + WFRE_GROUPS) * (size_t)resamplings, sizeof *b.means);
    if (!b.values || !b.begin || !b.means)
        TRY(wfre_fail_memory(error, "computing intervals"));
    gather_values(&b);
    wfre_pool_run(pool, resamplings, resample, &b);
    for (size_t t = 0; t < e->type_count; t++)
        set_interval(&e->types[t].row, b.means + t * resamplings, resamplings);
    for (size_t g = 0; g < WFRE_GROUPS; g++)
        if (e->groups[g].types)
            set_interval(&e->groups[g], b.means + (e->type_count + g) * resamplings, resamplings);
cleanup:
    wfre_free(b.values);
    wfre_free(b.begin);
    wfre_free(b.means);
    return status;
}
