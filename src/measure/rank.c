/* Ranking by scoring every entity, or by improving estimates where they matter.
 *
 * Filtered ranking, for one query with hard answers at the distances t:
 *
 *   1. Estimate all distances. A few entities are scored exactly for every query; a line through
 *      them corrects the estimates of this query, and their largest remaining error, times a safety
 *      factor, is the margin m.
 *   2. Score the hard answers exactly. Entities with an estimate within m of some t are undecided,
 *      unless they are answers themselves, which do not count.
 *   3. Score the undecided exactly and put the results in place of the estimates. Should one
 *      of them have an error close to the margin, widen it and go back to 2.
 *   4. Count as if all distances were exact.
 *
 * An answer deep in the crowd has thousands of undecided neighbours, and its 1 / rank would hardly
 * change with them: where all of them together could move it by less than TOLERANCE, they keep
 * their estimates, whose errors mostly cancel. */
#include "measure/rank.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/pool.h"
#include "base/rng.h"
#include "model/embed.h"
#include "search/filter.h"

enum {
    PROBES = 64,            /* entities scored exactly for every query */
    FEWEST_ENTITIES = 2048, /* for which a filter pays */
    TABLE_LIMIT = 1 << 25   /* distances held at a time, but those of one query */
};
static const double SAFETY = 2.5, TOLERANCE = 2e-5;

/* What is known of an entity's distance. Answers do not compete, so theirs may be estimates. */
enum { ESTIMATED, EXACT, ANSWER };

/* What one worker needs to rank a query. */
typedef struct worker {
    float *distances;     /* [entities] of the query: exact or estimated */
    unsigned char *known; /* [entities] ESTIMATED, EXACT or ANSWER */
    uint32_t *selection;  /* entities to score exactly */
    float *scored;        /* their distances, [branches, selection] */
    size_t scored_capacity;
    double *bars;    /* distances of the hard answers, ascending */
    uint64_t *crowd; /* [2, bars] counts of the estimates below and above the margin */
    size_t bar_capacity, crowd_capacity;
    wfre_standings_scratch standings;
    uint64_t exact;
} worker;

struct wfre_ranker {
    const wfre_model *model;
    wfre_pool *pool;
    wfre_linalg *linalg;
    wfre_embedder *embedder;
    wfre_score *score;
    wfre_store *store; /* the entities */
    bool exhaustive;
    wfre_filter *filter;     /* NULL: score everything */
    uint32_t probes[PROBES]; /* distinct entities, ascending */
    worker *workers;
    const wfre_node **trees;
    float *table;  /* [rows, entities] distances or estimates */
    float *probed; /* [rows, PROBES] */
    wfre_status *statuses;
    size_t table_capacity, probed_capacity;
    wfre_rank_cost cost;
    wfre_searcher *searcher; /* of edges */
    wfre_edges *edges;       /* NULL: no graph is known */
    wfre_arena arena;        /* forms of the queries at work */
};

/* A batch at work. The table holds the rows of its embedding, of which begin[0] is the first. */
typedef struct batch {
    wfre_ranker *ranker;
    const wfre_rank_query *queries;
    wfre_embedding embedding;
} batch;

/* Where the branches of query q begin in the table;
 * those of the last end where q + 1 would begin. */
static size_t first_row(const batch *b, size_t q)
{
    return b->embedding.begin[q] - b->embedding.begin[0];
}

/* ---- counting ----------------------------------------------------------------------------- */

/* The smallest distance over the branches. */
static void nearest_branch(const float *rows, size_t stride, size_t branches, size_t count,
                           float *out)
{
    memcpy(out, rows, count * sizeof *out);
    for (size_t b = 1; b < branches; b++)
        for (size_t i = 0; i < count; i++)
            out[i] = rows[b * stride + i] < out[i] ? rows[b * stride + i] : out[i];
}

/* Standings from the worker's distances, which are negated: a nearer entity has a higher score. */
static wfre_status count_standings(const wfre_ranker *r, worker *w, const wfre_rank_query *query)
{
    uint32_t entities = r->model->entity_count;
    for (uint32_t e = 0; e < entities; e++)
        w->distances[e] = -w->distances[e];
    return wfre_standings_count(&w->standings, w->distances, entities, query->easy, query->hard,
                                query->standings, NULL);
}

static wfre_status rank_exhaustively(const batch *b, worker *w, size_t q)
{
    const wfre_ranker *r = b->ranker;
    size_t first = first_row(b, q), entities = r->model->entity_count;
    nearest_branch(r->table + first * entities, entities, first_row(b, q + 1) - first, entities,
                   w->distances);
    w->exact += entities;
    return count_standings(r, w, &b->queries[q]);
}

/* ---- filtered: one query ------------------------------------------------------------------ */

/* Scores `count` entities of the selection against all branches and notes their distances.
 * *error_seen grows to the largest error of an estimate. */
static wfre_status score_selection(const batch *b, worker *w, size_t q, size_t count,
                                   double *error_seen)
{
    const wfre_ranker *r = b->ranker;
    size_t first = first_row(b, q), branches = first_row(b, q + 1) - first;
    size_t dim = r->model->settings.dim;
    if (count == 0)
        return WFRE_OK;
    if (!WFRE_RESERVE(&w->scored, &w->scored_capacity, count * branches))
        return WFRE_ERR_MEMORY;
    wfre_rank_job job = {.queries = {b->embedding.rows + first * dim, dim},
                         .query_count = branches,
                         .selection = w->selection,
                         .selected = count,
                         .ranking = WFRE_RANK_TRUE,
                         .stride = count};
    wfre_status status = wfre_score_rank(r->score, NULL, r->store, &job, w->scored, NULL);
    if (status != WFRE_OK)
        return status;
    nearest_branch(w->scored, count, branches, count, w->scored);
    for (size_t i = 0; i < count; i++) {
        wfre_entity e = w->selection[i];
        double error = fabs((double)w->scored[i] - (double)w->distances[e]);
        *error_seen = error > *error_seen ? error : *error_seen;
        w->distances[e] = w->scored[i];
        w->known[e] = EXACT;
    }
    w->exact += count;
    return WFRE_OK;
}

/* The line through (estimate, exact) of the probes; returns their largest error from it. */
static double fit_line(const wfre_ranker *r, const float *estimates, const float *exact,
                       double *slope, double *shift)
{
    double x = 0, y = 0, xx = 0, xy = 0;
    for (int i = 0; i < PROBES; i++) {
        x += (double)estimates[r->probes[i]] / PROBES;
        y += (double)exact[i] / PROBES;
    }
    for (int i = 0; i < PROBES; i++) {
        double dx = (double)estimates[r->probes[i]] - x;
        xx += dx * dx;
        xy += dx * ((double)exact[i] - y);
    }
    *slope = xx > 0 && xy > 0 ? xy / xx : 1;
    *shift = y - *slope * x;
    double worst = 0;
    for (int i = 0; i < PROBES; i++)
        worst =
            fmax(worst, fabs((double)exact[i] - *shift - *slope * (double)estimates[r->probes[i]]));
    return worst;
}

/* Corrects the estimates of all branches, takes the nearest, and puts in what the probes know.
 * Returns the margin. */
static double prepare_estimates(const batch *b, worker *w, size_t q)
{
    const wfre_ranker *r = b->ranker;
    size_t first = first_row(b, q), end = first_row(b, q + 1);
    size_t entities = r->model->entity_count;
    double worst = 0;
    for (size_t row = first; row < end; row++) {
        float *estimates = r->table + row * entities;
        double slope, shift;
        worst = fmax(worst, fit_line(r, estimates, r->probed + row * PROBES, &slope, &shift));
        for (size_t e = 0; e < entities; e++)
            estimates[e] = (float)shift + (float)slope * estimates[e];
    }
    nearest_branch(r->table + first * entities, entities, end - first, entities, w->distances);
    memset(w->known, ESTIMATED, entities);
    float nearest[PROBES];
    nearest_branch(r->probed + first * PROBES, PROBES, end - first, PROBES, nearest);
    for (int i = 0; i < PROBES; i++) {
        w->distances[r->probes[i]] = nearest[i];
        w->known[r->probes[i]] = EXACT;
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
static size_t keep_open_bars(const wfre_ranker *r, worker *w, size_t count, double margin)
{
    uint64_t *sure = w->crowd, *possible = w->crowd + count + 1;
    memset(w->crowd, 0, 2 * (count + 1) * sizeof *w->crowd);
    for (uint32_t e = 0; e < r->model->entity_count; e++) {
        double distance = (double)w->distances[e], own = w->known[e] == EXACT ? 0 : margin;
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
static size_t select_undecided(const wfre_ranker *r, worker *w, size_t count, double margin)
{
    size_t selected = 0;
    for (uint32_t e = 0; e < r->model->entity_count; e++) {
        double distance = (double)w->distances[e];
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
    const wfre_rank_query *query = &b->queries[q];
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
        CHECK(WFRE_ERR_MEMORY);
    for (;;) {
        margin = fmax(margin, seen * 1.5);
        for (size_t i = 0; i < hard; i++)
            w->bars[i] = (double)w->distances[query->hard.ids[i]];
        qsort(w->bars, hard, sizeof *w->bars, compare_numbers);
        size_t open = keep_open_bars(b->ranker, w, hard, margin);
        size_t selected = open ? select_undecided(b->ranker, w, open, margin) : 0;
        if (selected == 0)
            return WFRE_OK;
        CHECK(score_selection(b, w, q, selected, &seen));
    }
    return WFRE_OK;
}

static wfre_status rank_filtered(const batch *b, worker *w, size_t q)
{
    double margin = prepare_estimates(b, w, q);
    wfre_status status = resolve(b, w, q, margin);
    return status == WFRE_OK ? count_standings(b->ranker, w, &b->queries[q]) : status;
}

/* ---- batches ------------------------------------------------------------------------------ */

static void rank_query(void *context, size_t q, unsigned index)
{
    const batch *b = context;
    wfre_ranker *r = b->ranker;
    worker *w = &r->workers[index];
    r->statuses[q] = r->filter ? rank_filtered(b, w, q) : rank_exhaustively(b, w, q);
}

/* Fills the table with the distances or estimates of all rows. */
static wfre_status fill_table(wfre_ranker *r, const wfre_embedding *embedding, wfre_error *error)
{
    size_t rows = embedding->row_count, entities = r->model->entity_count;
    if (!wfre_reserve(&r->table, &r->table_capacity, rows, entities * sizeof *r->table) ||
        !wfre_reserve(&r->probed, &r->probed_capacity, rows, PROBES * sizeof *r->probed))
        return wfre_fail_memory(error, "ranking");
    wfre_rank_job job = {.queries = {embedding->rows, r->model->settings.dim},
                         .query_count = rows,
                         .ranking = WFRE_RANK_TRUE,
                         .stride = entities};
    if (!r->filter) {
        CHECK(wfre_score_rank(r->score, r->pool, r->store, &job, r->table, error));
    } else {
        CHECK(wfre_filter_estimate(r->filter, embedding->rows, rows, r->table, error));
        job.selection = r->probes;
        job.selected = job.stride = PROBES;
        CHECK(wfre_score_rank(r->score, r->pool, r->store, &job, r->probed, error));
    }
    return WFRE_OK;
}

/* ---- edge by edge ------------------------------------------------------------------------- */

/* Queries whose truth values the table holds. */
typedef struct judged {
    wfre_ranker *ranker;
    const wfre_rank_query *queries;
} judged;

static void rank_judged(void *context, size_t q, unsigned index)
{
    const judged *j = context;
    wfre_ranker *r = j->ranker;
    worker *w = &r->workers[index];
    const float *truth = r->table + q * r->model->entity_count;
    for (uint32_t e = 0; e < r->model->entity_count; e++)
        w->distances[e] = -truth[e];
    r->statuses[q] = count_standings(r, w, &j->queries[q]);
}

static wfre_status check_statuses(const wfre_ranker *r, size_t count, wfre_error *error)
{
    for (size_t q = 0; q < count; q++)
        if (r->statuses[q] != WFRE_OK)
            return wfre_fail_memory(error, "ranking");
    return WFRE_OK;
}

static wfre_status run_by_edges(wfre_ranker *r, const wfre_rank_query *queries, size_t count,
                                wfre_error *error)
{
    size_t entities = r->model->entity_count, most = TABLE_LIMIT / (entities + 1) + 1;
    for (size_t first = 0, part; first < count; first += part) {
        part = count - first < most ? count - first : most;
        for (size_t q = 0; q < part; q++)
            r->trees[q] = queries[first + q].tree;
        if (!wfre_reserve(&r->table, &r->table_capacity, part, entities * sizeof *r->table))
            return wfre_fail_memory(error, "ranking");
        CHECK(wfre_edges_answer(r->edges, r->trees, part, r->table, error));
        judged j = {r, queries + first};
        wfre_pool_run(r->pool, part, rank_judged, &j);
        CHECK(check_statuses(r, part, error));
        r->cost.pairs += part * entities;
    }
    return WFRE_OK;
}

wfre_status wfre_ranker_know(wfre_ranker *ranker, const wfre_graph *graph, wfre_split split,
                             wfre_error *error)
{
    wfre_edges_free(ranker->edges);
    ranker->edges = NULL;
    CHECK(wfre_model_check_graph(ranker->model, graph, error));
    if (!ranker->searcher) {
        CHECK(wfre_searcher_create(ranker->model, ranker->pool, &ranker->searcher, error));
        if (!ranker->exhaustive)
            CHECK(wfre_searcher_prepare(ranker->searcher, ranker->embedder, error));
    }
    wfre_edges_input input = {graph,
                              split,
                              ranker->model,
                              ranker->embedder,
                              ranker->searcher,
                              ranker->pool,
                              ranker->exhaustive};
    return wfre_edges_create(&input, &ranker->edges, error);
}

static wfre_status make_filter(wfre_ranker *r, const float *entities, wfre_error *error)
{
    wfre_embedding examples;
    CHECK(wfre_embed_examples(r->embedder, WFRE_RANK_BATCH, &examples, error));
    wfre_filter_input input = {r->score, entities, r->model->entity_count, examples.rows,
                               examples.row_count};
    CHECK(wfre_filter_create(&input, r->pool, r->linalg, &r->filter, error));
    /* One probe from each of PROBES equal stretches: distinct, and spread over all entities. */
    wfre_rng rng = wfre_rng_keyed(0, 4, 0);
    uint32_t stretch = r->model->entity_count / PROBES;
    for (uint32_t i = 0; i < PROBES; i++)
        r->probes[i] = i * stretch + wfre_rng_below(&rng, stretch);
    return WFRE_OK;
}

/* Whether estimates spare more than they cost. */
static bool filter_pays(const wfre_model *model, bool exhaustive)
{
    return !exhaustive && model->entity_count >= FEWEST_ENTITIES &&
           wfre_filter_suits(&model->settings.score);
}

const char *wfre_rank_method(const wfre_model *model, bool exhaustive)
{
    if (model->settings.answering == WFRE_BY_EDGES)
        return exhaustive ? "edge by edge, exhaustively" : "edge by edge";
    return filter_pays(model, exhaustive) ? "filtered" : "exhaustive";
}

/* What embedded queries are compared with. */
static wfre_status make_store(wfre_ranker *r, wfre_error *error)
{
    wfre_status status = WFRE_OK;
    float *entities = wfre_embed_entities(r->model, r->pool, r->linalg);
    if (!entities)
        TRY(wfre_fail_memory(error, "ranking"));
    TRY(wfre_store_create(r->score, r->pool, entities, WFRE_FLOAT32, r->model->settings.dim,
                          r->model->entity_count, &r->store, error));
    if (filter_pays(r->model, r->exhaustive))
        TRY(make_filter(r, entities, error));
cleanup:
    wfre_free(entities);
    return status;
}

/* ---- any queries -------------------------------------------------------------------------- */

static wfre_status run_embedded(wfre_ranker *r, const wfre_rank_query *queries, size_t count,
                                wfre_union unions, wfre_error *error)
{
    wfre_embedding all;
    size_t most = TABLE_LIMIT / (r->model->entity_count + 1) + 1;
    if (!r->store)
        CHECK(make_store(r, error));
    for (size_t q = 0; q < count; q++) {
        r->trees[q] = queries[q].tree;
        r->cost.pairs += r->model->entity_count;
    }
    CHECK(wfre_embed(r->embedder, r->trees, count, unions, &all, error));
    for (size_t first = 0, part; first < count; first += part) {
        const uint32_t *begin = all.begin + first;
        for (part = 1; first + part < count && begin[part + 1] - begin[0] <= most;)
            part++;
        batch b = {
            r,
            queries + first,
            {all.rows + begin[0] * (size_t)r->model->settings.dim, begin[part] - begin[0], begin}};
        CHECK(fill_table(r, &b.embedding, error));
        wfre_pool_run(r->pool, part, rank_query, &b);
        CHECK(check_statuses(r, part, error));
    }
    return WFRE_OK;
}

static bool by_edges(const wfre_ranker *r)
{
    return r->edges && r->model->settings.answering == WFRE_BY_EDGES;
}

static wfre_status run_batch(wfre_ranker *r, const wfre_rank_query *queries, size_t count,
                             wfre_union unions, wfre_error *error)
{
    wfre_rank_query kinds[2][WFRE_RANK_BATCH];
    size_t counts[2] = {0, 0};
    wfre_arena_reset(&r->arena);
    for (size_t q = 0; q < count; q++) {
        const wfre_node *form = NULL;
        if (queries[q].hard.count == 0)
            continue;
        if (by_edges(r))
            CHECK(wfre_edges_form(&r->arena, queries[q].tree, &form, error));
        wfre_rank_query *own = &kinds[form != NULL][counts[form != NULL]++];
        *own = queries[q];
        own->tree = form ? form : queries[q].tree;
    }
    if (counts[0] > 0)
        CHECK(run_embedded(r, kinds[0], counts[0], unions, error));
    return run_by_edges(r, kinds[1], counts[1], error);
}

wfre_status wfre_ranker_run(wfre_ranker *ranker, const wfre_rank_query *queries, size_t count,
                            wfre_union unions, wfre_error *error)
{
    for (size_t begin = 0; begin < count; begin += WFRE_RANK_BATCH) {
        size_t part = count - begin < WFRE_RANK_BATCH ? count - begin : WFRE_RANK_BATCH;
        CHECK(run_batch(ranker, queries + begin, part, unions, error));
    }
    return WFRE_OK;
}

wfre_rank_cost wfre_ranker_cost(const wfre_ranker *ranker)
{
    wfre_rank_cost cost = ranker->cost;
    for (unsigned w = 0; w < wfre_pool_threads(ranker->pool); w++)
        cost.exact += ranker->workers[w].exact;
    return cost;
}

/* ---- creation ----------------------------------------------------------------------------- */

static wfre_status make_workers(wfre_ranker *r, wfre_error *error)
{
    unsigned threads = wfre_pool_threads(r->pool);
    size_t entities = r->model->entity_count;
    r->workers = wfre_alloc_zero(threads, sizeof *r->workers);
    r->trees = wfre_alloc(WFRE_RANK_BATCH, sizeof *r->trees);
    r->statuses = wfre_alloc(WFRE_RANK_BATCH, sizeof *r->statuses);
    bool failed = !r->workers || !r->trees || !r->statuses;
    for (unsigned i = 0; !failed && i < threads; i++) {
        worker *w = &r->workers[i];
        w->distances = wfre_alloc(entities, sizeof *w->distances);
        w->known = wfre_alloc(entities, sizeof *w->known);
        w->selection = wfre_alloc(entities, sizeof *w->selection);
        failed = !w->distances || !w->known || !w->selection;
    }
    return failed ? wfre_fail_memory(error, "ranking") : WFRE_OK;
}

wfre_status wfre_ranker_create(const wfre_model *model, bool exhaustive, wfre_pool *pool,
                               wfre_ranker **ranker, wfre_error *error)
{
    wfre_status status = WFRE_OK;
    wfre_isa isa;
    wfre_ranker *r = wfre_alloc_zero(1, sizeof *r);
    if (!r)
        return wfre_fail_memory(error, "ranking");
    r->model = model;
    r->pool = pool;
    r->exhaustive = exhaustive;
    TRY(make_workers(r, error));
    TRY(wfre_isa_select(&isa, error));
    TRY(wfre_linalg_create(pool, isa, &r->linalg, error));
    TRY(wfre_embedder_create(model, pool, r->linalg, &r->embedder, error));
    TRY(wfre_score_create(&model->settings.score, &r->score, error));
    *ranker = r;
    r = NULL;
cleanup:
    wfre_ranker_free(r);
    return status;
}

void wfre_ranker_free(wfre_ranker *ranker)
{
    if (!ranker)
        return;
    for (unsigned i = 0; ranker->workers && i < wfre_pool_threads(ranker->pool); i++) {
        worker *w = &ranker->workers[i];
        wfre_free(w->distances);
        wfre_free(w->known);
        wfre_free(w->selection);
        wfre_free(w->scored);
        wfre_free(w->bars);
        wfre_free(w->crowd);
        wfre_standings_free(&w->standings);
    }
    wfre_free(ranker->workers);
    wfre_arena_free(&ranker->arena);
    wfre_edges_free(ranker->edges);
    wfre_searcher_free(ranker->searcher);
    wfre_filter_free(ranker->filter);
    wfre_store_free(ranker->store);
    wfre_score_free(ranker->score);
    wfre_embedder_free(ranker->embedder);
    wfre_linalg_free(ranker->linalg);
    wfre_free(ranker->trees);
    wfre_free(ranker->table);
    wfre_free(ranker->probed);
    wfre_free(ranker->statuses);
    wfre_free(ranker);
}
