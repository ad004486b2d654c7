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
    BATCH = 140,
    SHORT = 7,  /* a batch of which time is short */
    LEAST = 112 /* queries of all types that say anything */
};

typedef struct fitting {
    wfre_session *session;
    wfre_way way;
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
            f->way.lift[last] = factor_at(i);
        CHECK(wfre_rank(f->session, &f->way, WFRE_TRAIN, queries, count, NULL, error));
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

/* Whether the seconds are enough to learn anything, by ranking one query without preparation: with
 * it most distances are estimated, ten times as fast. */
static wfre_status is_time(fitting *f, const wfre_rank_query *query, double seconds, bool *enough,
                           wfre_error *error)
{
    double start = wfre_clock();
    wfre_way way = f->way;
    way.exhaustive = true;
    CHECK(wfre_rank(f->session, &way, WFRE_TRAIN, query, 1, NULL, error));
    double spent = wfre_clock() - start;
    *enough = (WFRE_RANK_PREPARATION + LEAST * FACTORS / 10) * spent < seconds - spent;
    return WFRE_OK;
}

wfre_status wfre_lift_fit(wfre_session *session, wfre_way *way, const wfre_rank_query *queries,
                          size_t count, double seconds, const wfre_monitor *monitor,
                          wfre_error *error)
{
    fitting f = {.session = session, .way = *way};
    double end = wfre_clock() + seconds;
    f.way.by = WFRE_BY_EMBEDDING;
    for (int last = 0; last < WFRE_LIFTS; last++)
        f.tallies[last] = (wfre_tally){.values = FACTORS, .base = ONE};
    bool enough = count > 0;
    if (seconds > 0 && count > 0)
        CHECK(is_time(&f, queries, seconds, &enough, error));
    if (!enough)
        count = 0;
    size_t batch = seconds > 0 ? SHORT : BATCH; /* so that the time is kept */
    for (size_t first = 0; first < count; first += batch) {
        wfre_report(monitor, "fitting scales", first, count, NULL);
        CHECK(wfre_check_interrupt(monitor, error));
        CHECK(
            rank_batch(&f, queries + first, count - first < batch ? count - first : batch, error));
        if (seconds > 0 && wfre_clock() > end)
            break;
    }
    for (int last = 0; last < WFRE_LIFTS; last++) /* of three decimals */
        way->lift[last] = round(1000 * factor_at(wfre_tally_best(&f.tallies[last]))) / 1000;
    return WFRE_OK;
}
