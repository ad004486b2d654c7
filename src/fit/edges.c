/* Six passes over the queries: the first fits the weight of factors, if the model has some, the
 * second what it counts that an edge's ends are joined already, the third the weight of what those
 * do that are alike, the fourth that of kinds, the fifth the room, the sixth the sharpness, and
 * compares with embedding. What being joined counts goes along with the sharpness, and the
 * sharpness with the weight of factors: what two predictors say together is as sure as their mean.
 */
#include "fit/edges.h"

#include <math.h>
#include <stddef.h>

#include "base/clock.h"
#include "fit/pick_value.h"
#include "infer/session.h"
#include "infer/way_edges.h"
#include "model/model.h"

enum {
    BATCH = 14,
    SHORT = 7,      /* a batch of which time is short */
    TRIED = 4,      /* queries to see how long it takes */
    KEPT = 64 << 20 /* bytes of scores of one predictor: what a batch needs with all values */
};

static double joined_at(double index)
{
    double steps = index - 3;
    return copysign(exp2(fabs(steps)) - 1, steps);
}

static double alike_at(double index)
{
    return index < 1 ? 0.5 * index : exp2(index - 2);
}

static double factors_at(double index)
{
    return index < 1 ? 0.25 * index : exp2(index - 3);
}

static double kinds_at(double index)
{
    return index < 1 ? 0.125 * index : exp2(index - 4);
}

static double room_at(double index)
{
    return 0.2 * index;
}

static double sharpness_at(double index)
{
    return exp2((index - 4) / 2);
}

/* What is fitted, in this order: a number of a way, which of them, and its values. */
enum { FACTORS, JOINED, ALIKE, KINDS, ROOM, SHARPNESS, PASSES };
static const struct lever {
    size_t place; /* in wfre_way */
    double (*at)(double index);
    int values, usual; /* how many, and the index of the one that needs no reason */
} LEVERS[PASSES] = {
    [FACTORS] = {offsetof(wfre_way, edge_factors), factors_at, 7, 3},       /* 0, 0.25, ... 8 */
    [JOINED] = {offsetof(wfre_way, edge_joined), joined_at, 7, 3},          /* -7, -3, ... 7 */
    [ALIKE] = {offsetof(wfre_way, edge_alike), alike_at, 6, 2},             /* 0, 0.5, ... 8 */
    [KINDS] = {offsetof(wfre_way, edge_kinds), kinds_at, 5, 2},             /* 0, 0.125, ... 1 */
    [ROOM] = {offsetof(wfre_way, edge_room), room_at, 6, 2},                /* 0, 0.2, ... 1 */
    [SHARPNESS] = {offsetof(wfre_way, edge_sharpness), sharpness_at, 6, 3}, /* 0.25 ... 1.4 */
};

typedef struct fitting {
    wfre_session *session;
    wfre_way way;   /* as it is tried now */
    double seconds; /* for each pass; 0: no limit */
    double end;     /* of this one, on wfre_clock */
    bool late;      /* the time ran out within a batch, which does not count then */
    bool prepared;  /* there was time enough for estimates by embedding */
    const wfre_monitor *monitor;
    wfre_tally tallies[PASSES];
    double against_embedding[WFRE_TALLY_VALUES]; /* what each sharpness gains */
} fitting;

/* Ranks a batch as the way is now. */
static wfre_status rank(fitting *f, const wfre_rank_query *queries, size_t count, double *mrr,
                        size_t stride, wfre_error *error)
{
    CHECK(wfre_check_interrupt(f->monitor, error));
    f->late = f->late || (f->seconds > 0 && wfre_clock() > f->end);
    if (f->late)
        return WFRE_OK;
    CHECK(wfre_rank(f->session, &f->way, WFRE_TRAIN, queries, count, NULL, error));
    for (size_t q = 0; q < count; q++)
        mrr[q * stride] = wfre_metrics_of(queries[q].standings, queries[q].hard.count).mrr;
    return WFRE_OK;
}

/* The same by embedding: without preparation until it is known that there is time for it. */
static wfre_status rank_whole(fitting *f, const wfre_rank_query *queries, size_t count, double *mrr,
                              wfre_error *error)
{
    wfre_way way = f->way;
    double start = wfre_clock();
    f->way.by = WFRE_BY_EMBEDDING;
    f->way.exhaustive = way.exhaustive || (f->seconds > 0 && !f->prepared);
    wfre_status status = rank(f, queries, count, mrr, 1, error);
    f->way = way;
    double now = wfre_clock(), each = (now - start) / (double)count;
    f->prepared = f->prepared || f->end - now > 2 * WFRE_RANK_PREPARATION * each;
    return status;
}

static void set_sharpness(wfre_way *way, double value)
{
    way->edge_joined *= value / way->edge_sharpness;
    way->edge_sharpness = value;
}

/* Sets what a pass is about, and what depends on it. The sharpness is one of a mean. */
static void set_lever(wfre_way *way, int which, double value)
{
    double whole = way->edge_sharpness * (1 + way->edge_factors);
    if (which == SHARPNESS) {
        set_sharpness(way, value / (1 + way->edge_factors));
        return;
    }
    *(double *)((char *)way + LEVERS[which].place) = value;
    if (which == FACTORS)
        set_sharpness(way, whole / (1 + value));
}

static wfre_status fit_batch(fitting *f, int which, const wfre_rank_query *queries, size_t count,
                             wfre_error *error)
{
    const struct lever *lever = &LEVERS[which];
    double mrr[BATCH][WFRE_TALLY_VALUES], embedded[BATCH];
    for (int i = 0; i < lever->values; i++) {
        set_lever(&f->way, which, lever->at(i));
        CHECK(rank(f, queries, count, &mrr[0][i], WFRE_TALLY_VALUES, error));
    }
    if (which == SHARPNESS)
        CHECK(rank_whole(f, queries, count, embedded, error));
    for (size_t q = 0; q < count && !f->late; q++) {
        wfre_tally_add(&f->tallies[which], mrr[q]);
        for (int i = 0; which == SHARPNESS && i < lever->values; i++)
            f->against_embedding[i] += mrr[q][i] - embedded[q];
    }
    return WFRE_OK;
}

/* Of three decimals. */
static double rounded(double value)
{
    return round(1000 * value) / 1000;
}

/* Fits one lever. The order of single edges hardly depends on the sharpness: it is fitted on the
 * others. */
static wfre_status pass(fitting *f, int which, const wfre_rank_query *queries, size_t count,
                        wfre_error *error)
{
    wfre_rank_query batch[BATCH];
    wfre_tally *tally = &f->tallies[which];
    size_t size = 0, taken = 0;
    *tally = (wfre_tally){.values = LEVERS[which].values, .base = LEVERS[which].usual};
    f->end = wfre_clock() + f->seconds;
    f->late = false;
    size_t most = f->seconds > 0 ? SHORT : BATCH; /* so that the time is kept */
    for (size_t q = 0; q < count && taken < 2 * WFRE_EDGES_QUERIES; q++) {
        bool suits = which != SHARPNESS || !wfre_node_is_edge(queries[q].tree);
        if (queries[q].hard.count > 0 && suits)
            batch[size++] = queries[q];
        if (size < most && q + 1 < count)
            continue;
        wfre_report(f->monitor, "fitting edges", q, count, NULL);
        CHECK(fit_batch(f, which, batch, size, error));
        taken += size;
        size = 0;
        if (f->late || (f->seconds > 0 && wfre_clock() > f->end))
            break;
    }
    set_lever(&f->way, which, rounded(LEVERS[which].at(wfre_tally_best(tally))));
    return WFRE_OK;
}

/* Whether each pass has time for as many queries as say anything, by ranking a few once. */
static wfre_status is_time(fitting *f, const wfre_rank_query *queries, size_t count, bool *enough,
                           wfre_error *error)
{
    double start = 0;
    size_t tried = count < TRIED ? count : TRIED;
    *enough = true;
    for (size_t q = 0; q < tried; q++) { /* the first prepares the others */
        CHECK(wfre_check_interrupt(f->monitor, error));
        CHECK(wfre_rank(f->session, &f->way, WFRE_TRAIN, queries + q, 1, NULL, error));
        start = q == 0 ? wfre_clock() : start;
    }
    if (tried > 1)
        *enough = (wfre_clock() - start) / (double)(tried - 1) * LEVERS[JOINED].values *
                      WFRE_TALLY_ENOUGH <
                  f->seconds;
    return WFRE_OK;
}

void wfre_edges_usual(const wfre_model *model, wfre_way *way)
{
    way->by = WFRE_BY_EDGES;
    if (model->factors && way->edge_factors == 0)
        set_lever(way, FACTORS, factors_at(LEVERS[FACTORS].usual));
}

wfre_status wfre_edges_fit(wfre_session *session, wfre_way *way, const wfre_rank_query *queries,
                           size_t count, double seconds, const wfre_monitor *monitor,
                           wfre_error *error)
{
    bool factors = session->engine->model->factors != NULL;
    fitting f = {.session = session,
                 .way = *way,
                 .seconds = seconds / (factors ? PASSES : PASSES - 1),
                 .monitor = monitor};
    f.way.edge_factors = 0;
    wfre_edges_usual(session->engine->model, &f.way);
    set_lever(&f.way, KINDS, kinds_at(LEVERS[KINDS].usual));
    set_lever(&f.way, ALIKE, alike_at(LEVERS[ALIKE].usual));
    bool enough = true;
    CHECK(wfre_edges_keep(session, (factors ? 2 : 1) * (size_t)KEPT, error));
    if (seconds > 0)
        CHECK(is_time(&f, queries, count, &enough, error));
    if (!enough)
        count = 0;
    for (int which = factors ? 0 : FACTORS + 1; which < PASSES; which++)
        CHECK(pass(&f, which, queries, count, error));
    f.way.edge_joined = rounded(f.way.edge_joined);
    f.way.edge_sharpness = rounded(f.way.edge_sharpness);
    if (f.against_embedding[lround(wfre_tally_best(&f.tallies[SHARPNESS]))] < 0)
        f.way.by = WFRE_BY_EMBEDDING;
    *way = f.way;
    return wfre_edges_keep(session, 0, error);
}
