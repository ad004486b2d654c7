/* Fitting the lifts. The queries are ranked at factors sqrt(2) apart; the MRR gained against the
 * factor 1, query by query, tells for each kind which is best and whether that is more than chance.
 * The lift is the top of the parabola through the best three. */
#include "model/lift.h"

#include <math.h>

#include "base/clock.h"
#include "base/memory.h"

enum {
    KINDS = 3,
    FACTORS = 8,
    MIDDLE = 3, /* the factor 1 */
    ENOUGH = 30 /* queries; a kind that has fewer keeps 1 */
};

/* The queries of a kind at one factor, against the factor 1. */
typedef struct gain {
    double sum, squares;
    uint32_t count;
} gain;

typedef struct fitting {
    wfre_model *model;
    const wfre_rank_query *queries;
    size_t count;     /* falls to what there is time for */
    double *baseline; /* MRR of each query at the factor 1 */
    gain gains[FACTORS][KINDS];
} fitting;

/* The factors that are tried: from 1/sqrt(8) to 4. */
static double factor_at(double index)
{
    return exp2((index - MIDDLE) / 2);
}

/* Which of the lifts a query is asked with, in the order of their fields, or KINDS for none. */
static int kind_of(const wfre_node *tree)
{
    if (tree->op == WFRE_OP_PROJECT)
        return 0;
    if (tree->op != WFRE_OP_INTERSECT)
        return KINDS;
    for (uint32_t i = 0; i < tree->child_count; i++)
        if (tree->children[i]->op == WFRE_OP_NEGATE)
            return 2;
    return 1;
}

static void set_lifts(wfre_model *model, const double lifts[KINDS])
{
    model->settings.lift_projection = lifts[0];
    model->settings.lift_intersection = lifts[1];
    model->settings.lift_negation = lifts[2];
}

static void add_gain(fitting *f, int factor, size_t q)
{
    const wfre_rank_query *query = &f->queries[q];
    int kind = kind_of(query->tree);
    if (kind == KINDS || query->hard.count == 0)
        return;
    double mrr = wfre_metrics_of(query->standings, query->hard.count).mrr;
    if (factor == MIDDLE)
        f->baseline[q] = mrr;
    gain *g = &f->gains[factor][kind];
    g->sum += mrr - f->baseline[q];
    g->squares += (mrr - f->baseline[q]) * (mrr - f->baseline[q]);
    g->count++;
}

/* Ranks the queries with all lifts at one factor; `seconds` as for wfre_lift_fit. */
static wfre_status try_factor(fitting *f, int factor, double seconds, wfre_pool *pool,
                              wfre_error *error)
{
    wfre_status status;
    wfre_ranker *ranker = NULL;
    double start = wfre_clock(), lifts[KINDS];
    for (int kind = 0; kind < KINDS; kind++)
        lifts[kind] = factor_at(factor);
    set_lifts(f->model, lifts);
    TRY(wfre_ranker_create(f->model, false, pool, &ranker, error));
    for (size_t first = 0; first < f->count; first += WFRE_RANK_BATCH) {
        size_t left = f->count - first, batch = left < WFRE_RANK_BATCH ? left : WFRE_RANK_BATCH;
        TRY(wfre_ranker_run(ranker, f->queries + first, batch, f->model->settings.unions, error));
        for (size_t q = first; q < first + batch; q++)
            add_gain(f, factor, q);
        if (seconds > 0 && wfre_clock() - start > seconds)
            f->count = first + batch;
    }
cleanup:
    wfre_ranker_free(ranker);
    return status;
}

/* The best lift of a kind, of three digits; 1 if none gains more than its standard error. */
static double best_lift(const fitting *f, int kind)
{
    int best = MIDDLE;
    for (int i = 0; i < FACTORS; i++)
        best = f->gains[i][kind].sum > f->gains[best][kind].sum ? i : best;
    const gain *g = &f->gains[best][kind];
    if (g->count < ENOUGH || g->sum <= sqrt(g->squares))
        return 1;
    double index = best;
    if (best > 0 && best < FACTORS - 1) {
        double left = f->gains[best - 1][kind].sum, right = f->gains[best + 1][kind].sum;
        double bend = 2 * g->sum - left - right;
        index += bend > 0 ? (right - left) / (2 * bend) : 0;
    }
    return round(1000 * factor_at(index)) / 1000;
}

wfre_status wfre_lift_fit(wfre_model *model, const wfre_rank_query *queries, size_t count,
                          double seconds, wfre_pool *pool, const wfre_monitor *monitor,
                          wfre_error *error)
{
    wfre_model_settings before = model->settings;
    wfre_status status = WFRE_OK;
    fitting f = {.model = model, .queries = queries, .count = count};
    f.baseline = wfre_alloc_zero(count, sizeof *f.baseline);
    if (!f.baseline)
        TRY(wfre_fail_memory(error, "fitting lifts"));
    TRY(try_factor(&f, MIDDLE, seconds / FACTORS, pool, error));
    for (int i = 0; i < FACTORS; i++) {
        wfre_report(monitor, "fitting lifts", (uint64_t)i, FACTORS, NULL);
        TRY(wfre_check_interrupt(monitor, error));
        if (i != MIDDLE)
            TRY(try_factor(&f, i, 0, pool, error));
    }
    double lifts[KINDS];
    for (int kind = 0; kind < KINDS; kind++)
        lifts[kind] = best_lift(&f, kind);
    set_lifts(model, lifts);
cleanup:
    if (status != WFRE_OK)
        model->settings = before;
    wfre_free(f.baseline);
    return status;
}
