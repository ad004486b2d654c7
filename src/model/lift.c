/* Fitting the lifts. The queries are ranked at factors sqrt(2) apart; the MRR that each gains
 * against the factor 1 tells for each last step which is best, and the lift is the top of the
 * parabola through the best three. A gain that is not larger than its standard error is none. */
#include "model/lift.h"

#include <math.h>

#include "base/clock.h"
#include "model/program.h"

enum {
    FACTORS = 8,
    MIDDLE = 3,  /* the factor 1 */
    ENOUGH = 30, /* queries; a last step that has fewer keeps 1 */
    BATCH = 140
};

/* What the queries of one last step gain at one factor. */
typedef struct gain {
    double sum, squares;
} gain;

typedef struct fitting {
    wfre_model *model;
    wfre_ranker *ranker;
    gain gains[FACTORS][WFRE_LIFTS];
    uint32_t counts[WFRE_LIFTS]; /* of queries */
} fitting;

/* The factors that are tried: from 1/sqrt(8) to 4. */
static double factor_at(double index)
{
    return exp2((index - MIDDLE) / 2);
}

static wfre_status rank(fitting *f, const wfre_rank_query *queries, size_t count, int factor,
                        double *mrr, wfre_error *error)
{
    for (int i = 0; i < WFRE_LIFTS; i++)
        f->model->settings.lift[i] = factor_at(factor);
    wfre_status status =
        wfre_ranker_run(f->ranker, queries, count, f->model->settings.unions, error);
    for (size_t q = 0; status == WFRE_OK && q < count; q++)
        mrr[q] = queries[q].hard.count
                     ? wfre_metrics_of(queries[q].standings, queries[q].hard.count).mrr
                     : 0;
    return status;
}

/* Ranks a batch of queries at every factor. */
static wfre_status compare(fitting *f, const wfre_rank_query *queries, size_t count,
                           wfre_error *error)
{
    wfre_status status;
    double baseline[BATCH], mrr[BATCH];
    TRY(rank(f, queries, count, MIDDLE, baseline, error));
    for (int i = 0; i < FACTORS; i++) {
        if (i == MIDDLE)
            continue;
        TRY(rank(f, queries, count, i, mrr, error));
        for (size_t q = 0; q < count; q++) {
            wfre_last_step last = wfre_last_step_of(queries[q].tree);
            double gained = mrr[q] - baseline[q];
            if (last == WFRE_LAST_OTHER)
                continue;
            f->gains[i][last].sum += gained;
            f->gains[i][last].squares += gained * gained;
        }
    }
    for (size_t q = 0; q < count; q++) {
        wfre_last_step last = wfre_last_step_of(queries[q].tree);
        if (last != WFRE_LAST_OTHER && queries[q].hard.count > 0)
            f->counts[last]++;
    }
cleanup:
    return status;
}

/* The best lift for a last step, of three decimals. */
static double best_lift(const fitting *f, int last)
{
    int best = MIDDLE;
    for (int i = 0; i < FACTORS; i++)
        best = f->gains[i][last].sum > f->gains[best][last].sum ? i : best;
    const gain *g = &f->gains[best][last];
    if (f->counts[last] < ENOUGH || g->sum <= sqrt(g->squares))
        return 1;
    double index = best;
    if (best > 0 && best < FACTORS - 1) {
        double left = f->gains[best - 1][last].sum, right = f->gains[best + 1][last].sum;
        double bend = 2 * g->sum - left - right;
        index += bend > 0 ? (right - left) / (2 * bend) : 0;
    }
    return round(1000 * factor_at(index)) / 1000;
}

wfre_status wfre_lift_fit(wfre_model *model, const wfre_rank_query *queries, size_t count,
                          double seconds, wfre_pool *pool, const wfre_monitor *monitor,
                          wfre_error *error)
{
    wfre_status status;
    fitting f = {.model = model};
    wfre_model_settings before = model->settings;
    double end = wfre_clock() + seconds;
    TRY(wfre_ranker_create(model, false, pool, &f.ranker, error));
    for (size_t first = 0; first < count; first += BATCH) {
        wfre_report(monitor, "fitting lifts", first, count, NULL);
        TRY(wfre_check_interrupt(monitor, error));
        TRY(compare(&f, queries + first, count - first < BATCH ? count - first : BATCH, error));
        if (seconds > 0 && wfre_clock() > end)
            break;
    }
    for (int last = 0; last < WFRE_LIFTS; last++)
        model->settings.lift[last] = best_lift(&f, last);
cleanup:
    if (status != WFRE_OK)
        model->settings = before;
    wfre_ranker_free(f.ranker);
    return status;
}
