/* Standings from scores. Exact scores are simply counted. Estimates, for one query with hard
 * answers of the scores t:
 *
 *   1. A few entities are scored exactly for every query; a line through them corrects the
 *      estimates of this query, and their largest remaining error, times a safety factor, is the
 *      margin m.
 *   2. Score the hard answers exactly. Entities with an estimate within m of some t are undecided,
 *      unless they are answers themselves, which do not count.
 *   3. Score the undecided exactly and put the results in place of the estimates. Should one
 *      of them have an error close to the margin, widen it and go back to 2.
 *   4. Count as if all scores were exact.
 *
 * An answer deep in the crowd has thousands of undecided neighbours, and its 1 / rank would hardly
 * change with them: where all of them together could move it by less than TOLERANCE, they keep
 * their estimates, whose errors mostly cancel. */
#include "measure/rank.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/pool.h"

enum { PROBES = WFRE_PROBES };
static const double SAFETY = 2.5, TOLERANCE = 2e-5;

/* What is known of an entity's score. Answers do not compete, so theirs may be estimates. */
enum { ESTIMATED, EXACT, ANSWER };

/* What one worker needs to rank a query. */
typedef struct worker {
    float *scores;        /* [entities] of the query: exact or estimated */
    unsigned char *known; /* [entities] ESTIMATED, EXACT or ANSWER */
    uint32_t *selection;  /* entities to score exactly */
    float *scored;        /* their scores, [branches, selection] */
    size_t scored_capacity;
    double *bars;    /* of the hard answers: their scores negated, ascending */
    uint64_t *crowd; /* [2, bars] counts of the estimates below and above the margin */
    size_t bar_capacity, crowd_capacity;
    wfre_standings_scratch standings;
    uint64_t exact;
} worker;

/* All that is ranked in one call. */
typedef struct ranking {
    wfre_session *session;
    const wfre_rank_query *queries;
    const uint32_t *numbers; /* of the questions that are scored: those with hard answers */
    size_t entities, dim;
    worker *workers;
    wfre_rank_cost *cost;
} ranking;

/* A part of it whose scores are there. */
typedef struct batch {
    const ranking *ranking;
    const wfre_scores *scores;
    const uint32_t *questions;
    const wfre_index_ranks *ranks; /* where scores are estimates */
    float *probed;                 /* [rows, PROBES]: exact scores of the probes */
    wfre_status *statuses;         /* of each question */
} batch;

static const wfre_rank_query *query_of(const batch *b, size_t q)
{
    return &b->ranking->queries[b->ranking->numbers[b->questions[q]]];
}

/* ---- counting ----------------------------------------------------------------------------- */

/* The best score over the branches. */
static void best_branch(const float *rows, size_t stride, size_t branches, size_t count, float *out)
{
    memcpy(out, rows, count * sizeof *out);
    for (size_t b = 1; b < branches; b++)
        for (size_t i = 0; i < count; i++)
            out[i] = rows[b * stride + i] > out[i] ? rows[b * stride + i] : out[i];
}

static wfre_status count_standings(const batch *b, worker *w, size_t q)
{
    const wfre_rank_query *query = query_of(b, q);
    return wfre_standings_count(&w->standings, w->scores, (uint32_t)b->ranking->entities,
                                query->easy, query->hard, query->standings, NULL);
}

static wfre_status rank_exact(const batch *b, worker *w, size_t q)
{
    size_t first = wfre_scores_row(b->scores, q), entities = b->ranking->entities;
    best_branch(b->scores->table + first * entities, entities,
                wfre_scores_row(b->scores, q + 1) - first, entities, w->scores);
    w->exact += entities;
    return count_standings(b, w, q);
}

/* ---- estimates: one query ----------------------------------------------------------------- */

/* The exact scores of some entities for some rows, [rows, count]. */
static wfre_status score_exactly(const batch *b, wfre_pool *pool, size_t first, size_t rows,
                                 const uint32_t *entities, size_t count, float *out,
                                 wfre_error *error)
{
    const ranking *r = b->ranking;
    wfre_rank_job job = {.queries = {b->scores->histograms + first * r->dim, r->dim},
                         .query_count = rows,
                         .selection = entities,
                         .selected = count,
                         .ranking = WFRE_RANK_TRUE,
                         .stride = count};
    const wfre_score *score = wfre_index_score(r->session->engine->index);
    CHECK(wfre_score_rank(score, pool, b->ranks->store, &job, out, error));
    for (size_t i = 0; i < rows * count; i++)
        out[i] = -out[i];
    return WFRE_OK;
}

/* Scores `count` entities of the selection against all branches and notes their scores.
 * *error_seen grows to the largest error of an estimate. */
static wfre_status score_selection(const batch *b, worker *w, size_t q, size_t count,
                                   double *error_seen)
{
    size_t first = wfre_scores_row(b->scores, q);
    size_t branches = wfre_scores_row(b->scores, q + 1) - first;
    if (count == 0)
        return WFRE_OK;
    if (!WFRE_RESERVE(&w->scored, &w->scored_capacity, count * branches))
        return WFRE_ERR_MEMORY;
    CHECK(score_exactly(b, NULL, first, branches, w->selection, count, w->scored, NULL));
    best_branch(w->scored, count, branches, count, w->scored);
    for (size_t i = 0; i < count; i++) {
        wfre_entity e = w->selection[i];
        double error = fabs((double)w->scored[i] - (double)w->scores[e]);
        *error_seen = error > *error_seen ? error : *error_seen;
        w->scores[e] = w->scored[i];
        w->known[e] = EXACT;
    }
    w->exact += count;
    return WFRE_OK;
}

/* The line through (estimate, exact) of the probes; returns their largest error from it. */
static double fit_line(const uint32_t *probes, const float *estimates, const float *exact,
                       double *slope, double *shift)
{
    double x = 0, y = 0, xx = 0, xy = 0;
    for (int i = 0; i < PROBES; i++) {
        x += (double)estimates[probes[i]] / PROBES;
        y += (double)exact[i] / PROBES;
    }
    for (int i = 0; i < PROBES; i++) {
        double dx = (double)estimates[probes[i]] - x;
        xx += dx * dx;
        xy += dx * ((double)exact[i] - y);
    }
    *slope = xx > 0 && xy > 0 ? xy / xx : 1;
    *shift = y - *slope * x;
    double worst = 0;
    for (int i = 0; i < PROBES; i++)
        worst =
            fmax(worst, fabs((double)exact[i] - *shift - *slope * (double)estimates[probes[i]]));
    return worst;
}

/* Corrects the estimates of all branches, takes the best, and puts in what the probes know. Returns
 * the margin. */
static double prepare_estimates(const batch *b, worker *w, size_t q)
{
    const uint32_t *probes = b->ranks->probes;
    size_t first = wfre_scores_row(b->scores, q), end = wfre_scores_row(b->scores, q + 1);
    size_t entities = b->ranking->entities;
    double worst = 0;
    for (size_t row = first; row < end; row++) {
        float *estimates = b->scores->table + row * entities;
        double slope, shift;
        worst = fmax(worst, fit_line(probes, estimates, b->probed + row * PROBES, &slope, &shift));
        for (size_t e = 0; e < entities; e++)
            estimates[e] = (float)shift + (float)slope * estimates[e];
    }
    best_branch(b->scores->table + first * entities, entities, end - first, entities, w->scores);
    memset(w->known, ESTIMATED, entities);
    float best[PROBES];
    best_branch(b->probed + first * PROBES, PROBES, end - first, PROBES, best);
    for (int i = 0; i < PROBES; i++) {
        w->scores[probes[i]] = best[i];
        w->known[probes[i]] = EXACT;
    }
    w->exact += PROBES;
    return SAFETY * worst;
}

/* The first bar that is at least `value`. */
static size_t first_bar(const double *bars, size_t count, double value)
{
    size_t low = 0;
    while (count > 0) {
        size_t half = count / 2;
        if (bars[low + half] < value) {
            low += half + 1;
            count -= half + 1;
        } else {
            count = half;
        }
    }
    return low;
}

static int compare_numbers(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

/* Keeps the bars at which the undecided entities matter; returns how many. */
static size_t keep_open_bars(const ranking *r, worker *w, size_t count, double margin)
{
    uint64_t *sure = w->crowd, *possible = w->crowd + count + 1;
    memset(w->crowd, 0, 2 * (count + 1) * sizeof *w->crowd);
    for (uint32_t e = 0; e < r->entities; e++) {
        double distance = -(double)w->scores[e], own = w->known[e] == EXACT ? 0 : margin;
        if (w->known[e] == ANSWER || distance - own > w->bars[count - 1])
            continue;
        sure[first_bar(w->bars, count, distance + own)]++;
        possible[first_bar(w->bars, count, distance - own)]++;
    }
    size_t kept = 0;
    uint64_t below = 0, reach = 0;
    for (size_t i = 0; i < count; i++) {
        below += sure[i];
        reach += possible[i];
        double doubt = 1 / (1.0 + (double)below) - 1 / (1.0 + (double)reach);
        if (reach > below && (below < 10 || doubt > TOLERANCE))
            w->bars[kept++] = w->bars[i];
    }
    return kept;
}

/* Selects the entities that are undecided at one of the bars; returns how many. */
static size_t select_undecided(const ranking *r, worker *w, size_t count, double margin)
{
    size_t selected = 0;
    for (uint32_t e = 0; e < r->entities; e++) {
        double distance = -(double)w->scores[e];
        if (w->known[e] != ESTIMATED || distance - margin > w->bars[count - 1])
            continue;
        size_t bar = first_bar(w->bars, count, distance - margin);
        if (bar < count && w->bars[bar] <= distance + margin)
            w->selection[selected++] = e;
    }
    return selected;
}

/* Scores exactly whatever may stand on the wrong side of a hard answer. */
static wfre_status resolve(const batch *b, worker *w, size_t q, double margin)
{
    const wfre_rank_query *query = query_of(b, q);
    size_t hard = query->hard.count;
    double seen = 0;
    memcpy(w->selection, query->hard.ids, hard * sizeof *w->selection);
    CHECK(score_selection(b, w, q, hard, &seen));
    for (size_t i = 0; i < hard; i++)
        w->known[query->hard.ids[i]] = ANSWER;
    for (size_t i = 0; i < query->easy.count; i++)
        w->known[query->easy.ids[i]] = ANSWER;
    if (!WFRE_RESERVE(&w->bars, &w->bar_capacity, hard) ||
        !WFRE_RESERVE(&w->crowd, &w->crowd_capacity, 2 * (hard + 1)))
        return WFRE_ERR_MEMORY;
    for (;;) {
        margin = fmax(margin, seen * 1.5);
        for (size_t i = 0; i < hard; i++)
            w->bars[i] = -(double)w->scores[query->hard.ids[i]];
        qsort(w->bars, hard, sizeof *w->bars, compare_numbers);
        size_t open = keep_open_bars(b->ranking, w, hard, margin);
        size_t selected = open ? select_undecided(b->ranking, w, open, margin) : 0;
        if (selected == 0)
            return WFRE_OK;
        CHECK(score_selection(b, w, q, selected, &seen));
        if (wfre_stopped())
            return WFRE_OK; /* the caller looks, too */
    }
}

static wfre_status rank_estimates(const batch *b, worker *w, size_t q)
{
    double margin = prepare_estimates(b, w, q);
    CHECK(resolve(b, w, q, margin));
    return count_standings(b, w, q);
}

/* ---- batches ------------------------------------------------------------------------------ */

static void rank_query(void *context, size_t q, unsigned index)
{
    const batch *b = context;
    worker *w = &b->ranking->workers[index];
    b->statuses[q] = b->ranks ? rank_estimates(b, w, q) : rank_exact(b, w, q);
}

/* Scores the probes of all rows. */
static wfre_status score_probes(batch *b, wfre_error *error)
{
    wfre_session *session = b->ranking->session;
    size_t rows = wfre_scores_row(b->scores, b->scores->count);
    CHECK(wfre_session_ranks(session, true, &b->ranks, error));
    b->probed = wfre_alloc(rows * PROBES, sizeof *b->probed);
    if (!b->probed)
        return wfre_fail_memory(error, "ranking");
    return score_exactly(b, session->pool, 0, rows, b->ranks->probes, PROBES, b->probed, error);
}

/* Counts the standings of some queries whose scores are there. */
static wfre_status use_scores(void *context, const wfre_scores *scores, const uint32_t *questions,
                              wfre_error *error)
{
    const ranking *r = context;
    wfre_status status = WFRE_OK;
    batch b = {.ranking = r, .scores = scores, .questions = questions};
    b.statuses = wfre_alloc_zero(scores->count, sizeof *b.statuses);
    if (!b.statuses)
        TRY(wfre_fail_memory(error, "ranking"));
    if (scores->histograms)
        TRY(score_probes(&b, error));
    TRY(wfre_pool_try(r->session->pool, scores->count, rank_query, &b, error));
    for (size_t q = 0; q < scores->count; q++)
        if (b.statuses[q] != WFRE_OK)
            TRY(wfre_fail_memory(error, "ranking"));
    if (r->cost)
        r->cost->pairs += scores->count * r->entities;
cleanup:
    wfre_free(b.statuses);
    wfre_free(b.probed);
    return status;
}

/* ---- all ---------------------------------------------------------------------------------- */

const char *wfre_rank_method(const wfre_model *model, const wfre_way *way)
{
    if (way->by == WFRE_BY_EDGES)
        return way->exhaustive ? "edge by edge, exhaustively" : "edge by edge";
    return !way->exhaustive && wfre_index_filters(model) ? "filtered" : "exhaustive";
}

static void free_workers(worker *workers, unsigned threads)
{
    for (unsigned i = 0; workers && i < threads; i++) {
        worker *w = &workers[i];
        wfre_free(w->scores);
        wfre_free(w->known);
        wfre_free(w->selection);
        wfre_free(w->scored);
        wfre_free(w->bars);
        wfre_free(w->crowd);
        wfre_standings_free(&w->standings);
    }
    wfre_free(workers);
}

static worker *make_workers(size_t entities, unsigned threads)
{
    worker *workers = wfre_alloc_zero(threads, sizeof *workers);
    bool failed = !workers;
    for (unsigned i = 0; !failed && i < threads; i++) {
        worker *w = &workers[i];
        w->scores = wfre_alloc(entities, sizeof *w->scores);
        w->known = wfre_alloc(entities, sizeof *w->known);
        w->selection = wfre_alloc(entities, sizeof *w->selection);
        failed = !w->scores || !w->known || !w->selection;
    }
    if (failed) {
        free_workers(workers, threads);
        workers = NULL;
    }
    return workers;
}

/* Ranks the `count` queries that `numbers` names. */
static wfre_status rank_some(ranking *r, const wfre_inference *how, uint32_t *numbers, size_t count,
                             wfre_error *error)
{
    wfre_status status = WFRE_OK;
    unsigned threads = wfre_pool_threads(r->session->pool);
    wfre_inference questions = *how;
    const wfre_node **trees = wfre_alloc(count, sizeof *trees);
    r->workers = make_workers(r->entities, threads);
    if (!trees || !r->workers)
        TRY(wfre_fail_memory(error, "ranking"));
    for (size_t i = 0; i < count; i++)
        trees[i] = r->queries[numbers[i]].tree;
    questions.trees = trees;
    questions.count = count;
    r->numbers = numbers;
    TRY(wfre_infer(r->session, &questions, use_scores, r, error));
    for (unsigned i = 0; r->cost && i < threads; i++)
        r->cost->exact += r->workers[i].exact;
cleanup:
    free_workers(r->workers, threads);
    wfre_free((void *)trees);
    return status;
}

wfre_status wfre_rank(wfre_session *session, const wfre_way *way, wfre_split known,
                      const wfre_rank_query *queries, size_t count, wfre_rank_cost *cost,
                      wfre_error *error)
{
    const wfre_model *model = session->engine->model;
    CHECK(wfre_model_settle(model, error)); /* all of it is read */
    wfre_inference how = {.way = *way, .split = known, .purpose = WFRE_FOR_STANDINGS};
    ranking r = {.session = session,
                 .queries = queries,
                 .entities = model->entity_count,
                 .dim = model->settings.dim,
                 .cost = cost};
    wfre_scope scope = wfre_scope_current(), before = scope;
    scope.budget = &session->budget;
    (void)wfre_scope_enter(scope);
    wfre_status status = WFRE_OK;
    uint32_t *numbers = wfre_alloc(count, sizeof *numbers);
    size_t some = 0;
    if (!numbers)
        TRY(wfre_fail_memory(error, "ranking"));
    for (size_t q = 0; q < count; q++)
        if (queries[q].hard.count > 0)
            numbers[some++] = (uint32_t)q;
    if (some > 0)
        TRY(rank_some(&r, &how, numbers, some, error));
cleanup:
    wfre_free(numbers);
    (void)wfre_scope_enter(before);
    return status;
}
