/* Fitting the lifts. The queries are ranked at factors sqrt(2) apart; a lift is the best of them,
 * or between them, for the queries of its last step. */
#include "fit/scale.h"

#include <math.h>

#include "base/clock.h"
#include "fit/pick_value.h"
#include "model/program.h"

enum {
    FACTORS = 9,
    ONE = 3, /* the factor 1 */
    BATCH = 140
};

typedef struct fitting {
    wfre_model *model;
    wfre_ranker *ranker;
    wfre_tally tallies[WFRE_LIFTS];
} fitting;

/* The factors that are tried: from 1/sqrt(8) to sqrt(32). */
static double factor_at(double index)
{
    return exp2((index - ONE) / 2);
}

/* Ranks a batch of queries at every factor. */
static wfre_status rank_batch(fitting *f, const wfre_rank_query *queries, size_t count,
                              wfre_error *error)
{
    double mrr[BATCH][FACTORS];
    for (int i = 0; i < FACTORS; i++) {
        for (int last = 0; last < WFRE_LIFTS; last++)
            f->model->settings.lift[last] = factor_at(i);
        CHECK(wfre_ranker_run(f->ranker, queries, count, f->model->settings.unions, error));
        for (size_t q = 0; q < count; q++)
            if (queries[q].hard.count > 0)
                mrr[q][i] = wfre_metrics_of(queries[q].standings, queries[q].hard.count).mrr;
    }
    for (size_t q = 0; q < count; q++) {
        wfre_last_step last = wfre_last_step_of(queries[q].tree);
        if (last != WFRE_LAST_OTHER && queries[q].hard.count > 0)
            wfre_tally_add(&f->tallies[last], mrr[q]);
    }
    return WFRE_OK;
}

wfre_status wfre_lift_fit(wfre_model *model, const wfre_rank_query *queries, size_t count,
                          double seconds, wfre_pool *pool, const wfre_monitor *monitor,
                          wfre_error *error)
{
    wfre_status status;
    fitting f = {.model = model};
    wfre_model_settings before = model->settings;
    double end = wfre_clock() + seconds;
    for (int last = 0; last < WFRE_LIFTS; last++)
        f.tallies[last] = (wfre_tally){.values = FACTORS, .base = ONE};
    TRY(wfre_ranker_create(model, false, pool, &f.ranker, error));
    for (size_t first = 0; first < count; first += BATCH) {
        wfre_report(monitor, "fitting lifts", first, count, NULL);
        TRY(wfre_check_interrupt(monitor, error));
        TRY(rank_batch(&f, queries + first, count - first < BATCH ? count - first : BATCH, error));
        if (seconds > 0 && wfre_clock() > end)
            break;
    }
    for (int last = 0; last < WFRE_LIFTS; last++) /* of three decimals */
        model->settings.lift[last] =
            round(1000 * factor_at(wfre_tally_best(&f.tallies[last]))) / 1000;
cleanup:
    if (status != WFRE_OK)
        model->settings = before;
    wfre_ranker_free(f.ranker);
    return status;
}
