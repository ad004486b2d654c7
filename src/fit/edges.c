/* Five passes over the queries: the first fits what it counts that an edge's ends are joined
 * already, the second the weight of what those do that are alike, the third that of kinds, the
 * fourth the room, the fifth the sharpness, on which the order of single edges hardly depends (what
 * being joined counts goes along), and compares with embedding. */
#include "fit/edges.h"

#include <math.h>

#include "base/clock.h"
#include "fit/pick_value.h"

enum {
    BATCH = 70,
    SHORT = 7,       /* a batch of which time is short */
    TRIED = 4,       /* queries to see how long it takes */
    JOINS = 7,       /* -7, -3, -1, 0, 1, 3, 7 */
    NOT_JOINED = 3,  /* of these: 0 */
    ROOMS = 6,       /* 0, 0.2, ... 1: what is counted by itself */
    KINDS = 5,       /* 0, 0.125, 0.25, 0.5, 1 */
    ALIKES = 6,      /* 0, 0.5, 1, 2, 4, 8 */
    SHARPNESSES = 5, /* 0.35, 0.5, 0.7, 1, 1.4 */
    USUAL = 2,       /* of rooms, kinds, alikes and sharpnesses */
    PASSES = 5
};

static double joined_at(double index)
{
    double steps = index - NOT_JOINED;
    return copysign(exp2(fabs(steps)) - 1, steps);
}

static double room_at(double index)
{
    return 0.2 * index;
}

static double kinds_at(double index)
{
    return index < 1 ? 0.125 * index : exp2(index - 4);
}

static double alike_at(double index)
{
    return index < 1 ? 0.5 * index : exp2(index - 2);
}

static double sharpness_at(double index)
{
    return exp2((index - 3) / 2);
}

typedef struct fitting {
    wfre_session *session;
    wfre_way way;   /* as it is tried now */
    double seconds; /* for each pass; 0: no limit */
    double end;     /* of this one, on wfre_clock */
    bool late;      /* the time ran out within a batch, which does not count then */
    bool prepared;  /* there was time enough for estimates by embedding */
    const wfre_monitor *monitor;
    wfre_tally joins, rooms, kinds, alikes, sharpnesses;
    double against_embedding[SHARPNESSES]; /* what each gains */
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

static wfre_status fit_joined(fitting *f, const wfre_rank_query *queries, size_t count,
                              wfre_error *error)
{
    double mrr[BATCH][JOINS];
    for (int i = 0; i < JOINS; i++) {
        f->way.edge_joined = joined_at(i);
        CHECK(rank(f, queries, count, &mrr[0][i], JOINS, error));
    }
    for (size_t q = 0; q < count && !f->late; q++)
        wfre_tally_add(&f->joins, mrr[q]);
    return WFRE_OK;
}

static wfre_status fit_room(fitting *f, const wfre_rank_query *queries, size_t count,
                            wfre_error *error)
{
    double mrr[BATCH][ROOMS];
    for (int i = 0; i < ROOMS; i++) {
        f->way.edge_room = room_at(i);
        CHECK(rank(f, queries, count, &mrr[0][i], ROOMS, error));
    }
    for (size_t q = 0; q < count && !f->late; q++)
        wfre_tally_add(&f->rooms, mrr[q]);
    return WFRE_OK;
}

static wfre_status fit_kinds(fitting *f, const wfre_rank_query *queries, size_t count,
                             wfre_error *error)
{
    double mrr[BATCH][KINDS];
    for (int i = 0; i < KINDS; i++) {
        f->way.edge_kinds = kinds_at(i);
        CHECK(rank(f, queries, count, &mrr[0][i], KINDS, error));
    }
    for (size_t q = 0; q < count && !f->late; q++)
        wfre_tally_add(&f->kinds, mrr[q]);
    return WFRE_OK;
}

static wfre_status fit_alike(fitting *f, const wfre_rank_query *queries, size_t count,
                             wfre_error *error)
{
    double mrr[BATCH][ALIKES];
    for (int i = 0; i < ALIKES; i++) {
        f->way.edge_alike = alike_at(i);
        CHECK(rank(f, queries, count, &mrr[0][i], ALIKES, error));
    }
    for (size_t q = 0; q < count && !f->late; q++)
        wfre_tally_add(&f->alikes, mrr[q]);
    return WFRE_OK;
}

/* Sets the sharpness, and what depends on it so that the order of single edges stays. */
static void sharpen(wfre_way *way, double sharpness)
{
    way->edge_joined *= sharpness / way->edge_sharpness;
    way->edge_sharpness = sharpness;
}

static wfre_status fit_sharpness(fitting *f, const wfre_rank_query *queries, size_t count,
                                 wfre_error *error)
{
    double mrr[BATCH][SHARPNESSES], embedded[BATCH];
    for (int i = 0; i < SHARPNESSES; i++) {
        sharpen(&f->way, sharpness_at(i));
        CHECK(rank(f, queries, count, &mrr[0][i], SHARPNESSES, error));
    }
    CHECK(rank_whole(f, queries, count, embedded, error));
    for (size_t q = 0; q < count && !f->late; q++) {
        wfre_tally_add(&f->sharpnesses, mrr[q]);
        for (int i = 0; i < SHARPNESSES; i++)
            f->against_embedding[i] += mrr[q][i] - embedded[q];
    }
    return WFRE_OK;
}

typedef wfre_status fit_batch(fitting *f, const wfre_rank_query *queries, size_t count,
                              wfre_error *error);

/* Fits on all queries, or on those that are not single edges. */
static wfre_status pass(fitting *f, const wfre_rank_query *queries, size_t count, bool edges,
                        fit_batch *fit, wfre_error *error)
{
    wfre_rank_query batch[BATCH];
    size_t size = 0, taken = 0;
    f->end = wfre_clock() + f->seconds;
    f->late = false;
    size_t most = f->seconds > 0 ? SHORT : BATCH; /* so that the time is kept */
    for (size_t q = 0; q < count && taken < 2 * WFRE_EDGES_QUERIES; q++) {
        if (queries[q].hard.count > 0 && (edges || !wfre_node_is_edge(queries[q].tree)))
            batch[size++] = queries[q];
        if (size < most && q + 1 < count)
            continue;
        wfre_report(f->monitor, "fitting edges", q, count, NULL);
        CHECK(fit(f, batch, size, error));
        taken += size;
        size = 0;
        if (f->late || (f->seconds > 0 && wfre_clock() > f->end))
            break;
    }
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
        *enough =
            (wfre_clock() - start) / (double)(tried - 1) * JOINS * WFRE_TALLY_ENOUGH < f->seconds;
    return WFRE_OK;
}

/* Of three decimals. */
static double rounded(double value)
{
    return round(1000 * value) / 1000;
}

wfre_status wfre_edges_fit(wfre_session *session, wfre_way *way, const wfre_rank_query *queries,
                           size_t count, double seconds, const wfre_monitor *monitor,
                           wfre_error *error)
{
    fitting f = {.session = session,
                 .way = *way,
                 .seconds = seconds / PASSES,
                 .monitor = monitor,
                 .joins = {.values = JOINS, .base = NOT_JOINED},
                 .rooms = {.values = ROOMS, .base = USUAL},
                 .kinds = {.values = KINDS, .base = USUAL},
                 .alikes = {.values = ALIKES, .base = USUAL},
                 .sharpnesses = {.values = SHARPNESSES, .base = USUAL}};
    f.way.by = WFRE_BY_EDGES;
    f.way.edge_kinds = kinds_at(USUAL);
    f.way.edge_alike = alike_at(USUAL);
    bool enough = true;
    if (seconds > 0)
        CHECK(is_time(&f, queries, count, &enough, error));
    if (!enough)
        count = 0;
    CHECK(pass(&f, queries, count, true, fit_joined, error));
    f.way.edge_joined = rounded(joined_at(wfre_tally_best(&f.joins)));
    CHECK(pass(&f, queries, count, true, fit_alike, error));
    f.way.edge_alike = rounded(alike_at(wfre_tally_best(&f.alikes)));
    CHECK(pass(&f, queries, count, true, fit_kinds, error));
    f.way.edge_kinds = rounded(kinds_at(wfre_tally_best(&f.kinds)));
    CHECK(pass(&f, queries, count, true, fit_room, error));
    f.way.edge_room = rounded(room_at(wfre_tally_best(&f.rooms)));
    CHECK(pass(&f, queries, count, false, fit_sharpness, error));
    double best = wfre_tally_best(&f.sharpnesses);
    sharpen(&f.way, rounded(sharpness_at(best)));
    f.way.edge_joined = rounded(f.way.edge_joined);
    if (f.against_embedding[lround(best)] < 0)
        f.way.by = WFRE_BY_EMBEDDING;
    *way = f.way;
    return WFRE_OK;
}
