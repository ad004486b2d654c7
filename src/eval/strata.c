/* Metrics by stratum: of each query, those hard answers that need the same number of predicted
 * edges are averaged by themselves, then the queries of a type that have such answers. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "eval/evaluation.h"
#include "exact/strata.h"

/* The answers of one query in one stratum. */
typedef struct share {
    uint32_t type, missing;
    bool whole;
    uint32_t query;
    uint64_t answers;
    wfre_metrics metrics;
} share;

typedef struct stratifying {
    wfre_evaluation *evaluation;
    const wfre_queryset *set;
    wfre_split split;
    wfre_exact *exact;
    share *shares;
    size_t count, capacity;
    wfre_stratum *strata; /* of one query */
    wfre_standing *standings;
    size_t stratum_capacity, standing_capacity;
} stratifying;

static bool same(wfre_stratum a, wfre_stratum b)
{
    return a.missing == b.missing && (a.known == 0) == (b.known == 0);
}

/* The share of the stratum that answer `first` is in. */
static wfre_status add_share(stratifying *s, uint32_t query, size_t first, wfre_error *error)
{
    const wfre_query_result *result = &s->evaluation->queries[query];
    const wfre_standing *standings = s->evaluation->standings + result->begin;
    size_t count = 0;
    if (!WFRE_RESERVE(&s->shares, &s->capacity, s->count + 1))
        return wfre_fail_memory(error, "finding strata");
    for (size_t i = first; i < result->answers; i++)
        if (same(s->strata[i], s->strata[first]))
            s->standings[count++] = standings[i];
    s->shares[s->count++] = (share){.type = result->type,
                                    .missing = s->strata[first].missing,
                                    .whole = s->strata[first].known == 0,
                                    .query = query,
                                    .answers = count,
                                    .metrics = wfre_metrics_of(s->standings, count)};
    return WFRE_OK;
}

static wfre_status stratify_query(stratifying *s, uint32_t query, wfre_error *error)
{
    wfre_list hard = wfre_queryset_hard(s->set, query);
    if (!WFRE_RESERVE(&s->strata, &s->stratum_capacity, hard.count) ||
        !WFRE_RESERVE(&s->standings, &s->standing_capacity, hard.count))
        return wfre_fail_memory(error, "finding strata");
    CHECK(wfre_exact_strata(s->exact, s->split, s->set->rows[query].tree, hard, s->strata, error));
    for (size_t i = 0; i < hard.count; i++) {
        bool seen = false;
        if (s->strata[i].missing == WFRE_NONE)
            return wfre_fail(error, WFRE_ERR_MISMATCH, WFRE_NO_OFFSET,
                             "query %" PRIu32 ": the graph of split %s does not prove hard answer "
                             "#%" PRIu32 ", so it has no stratum; name the split of the queries",
                             query, s->split == WFRE_VALID ? "valid" : "test", hard.ids[i]);
        for (size_t k = 0; k < i && !seen; k++)
            seen = same(s->strata[k], s->strata[i]);
        if (!seen)
            CHECK(add_share(s, query, i, error));
    }
    return WFRE_OK;
}

/* By type, then by what is missing; some known before none. */
static int compare_shares(const void *left, const void *right)
{
    const share *a = left, *b = right;
    if (a->type != b->type)
        return a->type < b->type ? -1 : 1;
    if (a->missing != b->missing)
        return a->missing < b->missing ? -1 : 1;
    if (a->whole != b->whole)
        return b->whole ? -1 : 1;
    return (a->query > b->query) - (a->query < b->query);
}

static bool same_row(const share *a, const share *b)
{
    return a->type == b->type && a->missing == b->missing && a->whole == b->whole;
}

static wfre_status average(wfre_evaluation *e, const share *shares, size_t count,
                           uint32_t resamplings, uint64_t seed, wfre_error *error)
{
    wfre_status status = WFRE_OK;
    const char *type = e->types[shares->type].row.name;
    wfre_evaluation_stratum *stratum = &e->strata[e->stratum_count];
    char name[512];
    double *values = wfre_alloc(count, sizeof *values);
    (void)snprintf(name, sizeof name,
                   shares->whole ? "%.400s, all %u missing" : "%.400s, %u missing", type,
                   shares->missing);
    *stratum = (wfre_evaluation_stratum){
        .type = type,
        .missing = shares->missing,
        .whole = shares->whole,
        .row = {
            .name = wfre_arena_text(&e->arena, name, strlen(name)), .types = 1, .queries = count}};
    if (!values || !stratum->row.name)
        TRY(wfre_fail_memory(error, "finding strata"));
    for (size_t i = 0; i < count; i++) {
        stratum->row.answers += shares[i].answers;
        wfre_metrics_add(&stratum->row.mean, &shares[i].metrics);
        values[i] = shares[i].metrics.mrr;
    }
    stratum->row.mean = wfre_metrics_scale(&stratum->row.mean, 1.0 / (double)count);
    TRY(wfre_bootstrap_mean(values, count, resamplings, seed, e->stratum_count, &stratum->row,
                            error));
    e->stratum_count++;
cleanup:
    wfre_free(values);
    return status;
}

static wfre_status average_all(stratifying *s, uint32_t resamplings, uint64_t seed,
                               wfre_error *error)
{
    wfre_evaluation *e = s->evaluation;
    qsort(s->shares, s->count, sizeof *s->shares, compare_shares);
    e->strata = wfre_alloc_zero(s->count, sizeof *e->strata);
    if (!e->strata)
        return wfre_fail_memory(error, "finding strata");
    for (size_t first = 0, end; first < s->count; first = end) {
        for (end = first + 1; end < s->count && same_row(&s->shares[first], &s->shares[end]);)
            end++;
        CHECK(average(e, s->shares + first, end - first, resamplings, seed, error));
    }
    return WFRE_OK;
}

wfre_status wfre_evaluation_stratify(wfre_evaluation *evaluation, const wfre_graph *graph,
                                     const wfre_queryset *set, const wfre_eval_options *options,
                                     const wfre_monitor *monitor, wfre_error *error)
{
    wfre_status status = WFRE_OK;
    stratifying s = {.evaluation = evaluation, .set = set, .split = options->split};
    if (options->split != WFRE_VALID && options->split != WFRE_TEST)
        TRY(wfre_fail(error, WFRE_ERR_ARGUMENT, WFRE_NO_OFFSET,
                      "strata are for queries of split valid or test"));
    TRY(wfre_exact_create(graph, &s.exact, error));
    for (uint32_t q = 0; q < set->count; q++) {
        TRY(wfre_check_interrupt(monitor, error));
        if (q % 64 == 0)
            wfre_report(monitor, "finding strata", q, set->count, NULL);
        if (evaluation->queries[q].ranked)
            TRY(stratify_query(&s, q, error));
    }
    TRY(average_all(&s, options->bootstrap, options->seed, error));
cleanup:
    wfre_exact_free(s.exact);
    wfre_free(s.shares);
    wfre_free(s.strata);
    wfre_free(s.standings);
    return status;
}
