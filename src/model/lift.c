/* Fitting the lifts. The queries are ranked at factors sqrt(2) apart. What a last step gains
 * against the factor 1 is noisy, but close to a parabola of the factor's logarithm; its top is the
 * lift, unless the gain there is within its standard error. */
#include "model/lift.h"

#include <math.h>

#include "base/clock.h"
#include "model/program.h"

enum {
    FACTORS = 9,
    MIDDLE = 3,  /* the factor 1 */
    ENOUGH = 30, /* queries; a last step that has fewer keeps 1 */
    BATCH = 140
};

/* What the queries of one last step gain against the factor 1. */
typedef struct tally {
    uint32_t count;
    double gain[FACTORS], squares[FACTORS];
} tally;

typedef struct fitting {
    wfre_model *model;
    wfre_ranker *ranker;
    tally tallies[WFRE_LIFTS];
} fitting;

/* The factors that are tried: from 1/sqrt(8) to sqrt(32). */
static double factor_at(double index)
{
    return exp2((index - MIDDLE) / 2);
}

static void count_query(tally *t, const double mrr[FACTORS])
{
    t->count++;
    for (int i = 0; i < FACTORS; i++) {
        double gain = mrr[i] - mrr[MIDDLE];
        t->gain[i] += gain;
        t->squares[i] += gain * gain;
    }
}

/* Ranks a batch of queries at every factor. */
static wfre_status rank_batch(fitting *f, const wfre_rank_query *queries, size_t count,
                              wfre_error *error)
{
    wfre_status status = WFRE_OK;
    double mrr[BATCH][FACTORS];
    for (int i = 0; i < FACTORS; i++) {
        for (int last = 0; last < WFRE_LIFTS; last++)
            f->model->settings.lift[last] = factor_at(i);
        TRY(wfre_ranker_run(f->ranker, queries, count, f->model->settings.unions, error));
        for (size_t q = 0; q < count; q++)
            if (queries[q].hard.count > 0)
                mrr[q][i] = wfre_metrics_of(queries[q].standings, queries[q].hard.count).mrr;
    }
    for (size_t q = 0; q < count; q++) {
        wfre_last_step last = wfre_last_step_of(queries[q].tree);
        if (last != WFRE_LAST_OTHER && queries[q].hard.count > 0)
            count_query(&f->tallies[last], mrr[q]);
    }
cleanup:
    return status;
}

/* The top of the parabola b x + c (x^2 - mean of x^2) that is nearest to the gains, with x counted
 * from the middle of all factors, where both terms are orthogonal; the highest gain if it has none.
 */
static double best_index(const tally *t)
{
    int highest = MIDDLE;
    for (int i = 0; i < FACTORS; i++)
        highest = t->gain[i] > t->gain[highest] ? i : highest;
    double centre = (FACTORS - 1) / 2.0, spread = 0;
    for (int i = 0; i < FACTORS; i++)
        spread += (i - centre) * (i - centre) / FACTORS;
    double b = 0, c = 0, norm = 0;
    for (int i = 0; i < FACTORS; i++) {
        double x = i - centre, square = x * x - spread;
        b += x * t->gain[i] / (FACTORS * spread);
        c += square * t->gain[i];
        norm += square * square;
    }
    c /= norm;
    return c < 0 ? fmin(fmax(centre - b / (2 * c), 0), FACTORS - 1) : highest;
}

/* Of three decimals. */
static double best_lift(const tally *t)
{
    double index = best_index(t);
    int nearest = (int)lround(index);
    if (t->count < ENOUGH || t->gain[nearest] <= sqrt(t->squares[nearest]))
        return 1;
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
        TRY(rank_batch(&f, queries + first, count - first < BATCH ? count - first : BATCH, error));
        if (seconds > 0 && wfre_clock() > end)
            break;
    }
    for (int last = 0; last < WFRE_LIFTS; last++)
        model->settings.lift[last] = best_lift(&f.tallies[last]);
cleanup:
    if (status != WFRE_OK)
        model->settings = before;
    wfre_ranker_free(f.ranker);
    return status;
}
