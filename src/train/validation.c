/* A fixed sample of validation queries, ranked by the model's own score. */
#include "train/validation.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"
#include "exact/exact.h"
#include "fit/edges.h"
#include "fit/probability.h"
#include "fit/scale.h"
#include "measure/links.h"
#include "query/notation.h"
#include "query/types.h"
#include "sample/queryset.h"
#include "wfre/query.h"

/* In the order of wfre_betae_types. */
static const char ALL_TYPES[] = "1p 2p 3p 2i 3i ip pi 2in 3in inp pin pni 2u up";

enum {
    MOST_ANSWERS = 100, /* of a sampled query, as in the benchmarks */
    DRAWN_AT_ONCE = 140,
    DRAWS = 400 /* before a type that gives nothing more is left as it is */
};

struct wfre_validation {
    const wfre_graph *graph;
    wfre_queryset sampled;    /* if there is no other */
    const wfre_queryset *set; /* this one, or a borrowed one */
    uint32_t *rows;           /* of the set, those that are ranked */
    size_t count;
    wfre_rank_query *queries; /* [count] */
    wfre_standing *standings;
    wfre_pool *pool;
    size_t types; /* that have queries */
    wfre_link_sample links;
    uint64_t seed;
    bool fitted; /* counts have been fitted to the time there is */
    bool few;    /* so few that estimates would not pay */
    double each; /* seconds for the first queries without them; 0: not known */
};

/* ---- the sample --------------------------------------------------------------------------- */

/* The answers on the valid graph that the train graph does not have, written to `hard`. */
static size_t subtract(wfre_list all, wfre_list easy, wfre_entity *hard)
{
    size_t count = 0, e = 0;
    for (size_t i = 0; i < all.count; i++) {
        while (e < easy.count && easy.ids[e] < all.ids[i])
            e++;
        if (e == easy.count || easy.ids[e] != all.ids[i])
            hard[count++] = all.ids[i];
    }
    return count;
}

typedef struct drawing {
    wfre_validation *validation;
    wfre_sampler *sampler;
    wfre_exact *exact;
    uint32_t *taken; /* by type */
    uint32_t per_type;
    bool distinct;
    wfre_strings seen; /* if they are to be distinct: the queries so far, as text */
    wfre_text key;
} drawing;

/* Whether a query was not drawn before. */
static wfre_status is_new(drawing *d, const wfre_node *tree, bool *fresh, wfre_error *error)
{
    wfre_arena arena = {0};
    uint32_t before = d->seen.count, index;
    wfre_status status = WFRE_OK;
    const wfre_node *sorted = wfre_tree_sort(&arena, tree);
    if (!sorted)
        TRY(wfre_fail_memory(error, "choosing validation queries"));
    wfre_text_clear(&d->key);
    wfre_tree_print(&d->key, NULL, sorted);
    TRY(wfre_text_status(&d->key, "choosing validation queries", error));
    TRY(wfre_strings_intern(&d->seen, d->key.data, d->key.length, &index, error));
    *fresh = index == before;
cleanup:
    wfre_arena_free(&arena);
    return status;
}

/* Adds a drawn query to the set if it has hard answers and its type wants more. */
static wfre_status consider(drawing *d, const wfre_sampled *drawn, wfre_error *error)
{
    wfre_list easy;
    wfre_entity hard[MOST_ANSWERS];
    if (d->taken[drawn->type] >= d->per_type)
        return WFRE_OK;
    wfre_status status = wfre_exact_tree(d->exact, WFRE_TRAIN, drawn->tree, &easy, error);
    if (status != WFRE_OK)
        return status;
    wfre_list found = {hard, subtract(drawn->answers, easy, hard)};
    bool fresh = true;
    if (found.count > 0 && d->distinct)
        CHECK(is_new(d, drawn->tree, &fresh, error));
    if (found.count == 0 || !fresh)
        return WFRE_OK;
    wfre_queryset *set = &d->validation->sampled;
    const wfre_node *tree = wfre_tree_copy(&set->arena, drawn->tree);
    if (!tree)
        return wfre_fail_memory(error, "choosing validation queries");
    d->taken[drawn->type]++;
    return wfre_queryset_add(set, wfre_betae_types[drawn->type].name, tree, easy, found, error);
}

static wfre_status draw(drawing *d, wfre_error *error)
{
    uint32_t types = wfre_sampler_type_count(d->sampler);
    uint32_t wanted[DRAWN_AT_ONCE];
    bool *hopeless = wfre_alloc_zero(types, sizeof *hopeless);
    wfre_status status = WFRE_OK;
    if (!hopeless)
        return wfre_fail_memory(error, "choosing validation queries");
    for (uint64_t step = 0; step < DRAWS; step++) {
        size_t count = 0;
        for (uint32_t i = 0; i < DRAWN_AT_ONCE; i++) {
            uint32_t type = i % types;
            if (!hopeless[type] && d->taken[type] < d->per_type)
                wanted[count++] = type;
        }
        if (count == 0)
            break;
        const wfre_sampled *drawn;
        status =
            wfre_sampler_step(d->sampler, d->validation->pool, step, wanted, count, &drawn, error);
        if (status == WFRE_ERR_NOT_FOUND) { /* find out which, and do without it */
            for (uint32_t type = 0; type < types; type++)
                hopeless[type] =
                    hopeless[type] || wfre_sampler_step(d->sampler, NULL, step, &type, 1, &drawn,
                                                        NULL) == WFRE_ERR_NOT_FOUND;
            status = WFRE_OK;
            continue;
        }
        for (size_t i = 0; status == WFRE_OK && i < count; i++)
            status = consider(d, &drawn[i], error);
        TRY(status);
    }
cleanup:
    wfre_free(hopeless);
    return status;
}

static wfre_status sample(wfre_validation *v, const wfre_validation_options *options,
                          wfre_error *error)
{
    drawing d = {.validation = v, .per_type = options->per_type, .distinct = options->distinct};
    const wfre_graph *graph = v->graph;
    wfre_status status;
    TRY(wfre_sampler_create(graph, WFRE_VALID, ALL_TYPES, MOST_ANSWERS, options->seed, &d.sampler,
                            error));
    wfre_sampler_forward(d.sampler, 1, 0); /* single edges are asked of an entity, not an answer */
    TRY(wfre_exact_create(graph, &d.exact, error));
    d.taken = wfre_alloc_zero(wfre_sampler_type_count(d.sampler), sizeof *d.taken);
    if (!d.taken) {
        status = wfre_fail_memory(error, "choosing validation queries");
        goto cleanup;
    }
    TRY(draw(&d, error));
cleanup:
    wfre_free(d.taken);
    wfre_strings_free(&d.seen);
    wfre_text_free(&d.key);
    wfre_exact_free(d.exact);
    wfre_sampler_free(d.sampler);
    return status;
}

/* Up to `per_type` queries of each type that have hard answers, in rounds over the types: so the
 * first of them are as good a sample as all. */
static wfre_status choose(wfre_validation *v, uint32_t per_type, wfre_error *error)
{
    uint32_t *round_of = wfre_alloc_zero(v->set->count, sizeof *round_of);
    uint32_t *taken = wfre_alloc_zero(v->set->types.count, sizeof *taken);
    v->queries = wfre_alloc_zero(v->set->count, sizeof *v->queries);
    v->rows = wfre_alloc(v->set->count, sizeof *v->rows);
    bool whole = round_of && taken && v->queries && v->rows;
    size_t answers = 0;
    for (uint32_t i = 0; whole && i < v->set->count; i++) {
        size_t hard = wfre_queryset_hard(v->set, i).count;
        round_of[i] = hard ? taken[v->set->rows[i].type]++ : UINT32_MAX;
        answers += round_of[i] < per_type ? hard : 0;
        v->types += round_of[i] == 0;
    }
    for (uint32_t r = 0; whole && r < per_type; r++) {
        size_t before = v->count;
        for (uint32_t i = 0; i < v->set->count; i++)
            if (round_of[i] == r)
                v->rows[v->count++] = i;
        if (v->count == before)
            break;
    }
    v->standings = wfre_alloc(answers, sizeof *v->standings);
    wfre_free(round_of);
    wfre_free(taken);
    if (!whole || !v->standings)
        return wfre_fail_memory(error, "choosing validation queries");
    size_t used = 0;
    for (size_t i = 0; i < v->count; i++) {
        wfre_list hard = wfre_queryset_hard(v->set, v->rows[i]);
        v->queries[i] =
            (wfre_rank_query){v->set->rows[v->rows[i]].tree, wfre_queryset_easy(v->set, v->rows[i]),
                              hard, v->standings + used};
        used += hard.count;
    }
    return WFRE_OK;
}

wfre_status wfre_validation_create(const wfre_graph *graph, const wfre_validation_options *options,
                                   wfre_pool *pool, wfre_validation **result, wfre_error *error)
{
    *result = NULL;
    if (!options->queries && wfre_links_added(graph, WFRE_VALID) == 0)
        return WFRE_OK;
    wfre_status status;
    wfre_validation *v = wfre_alloc_zero(1, sizeof *v);
    if (!v)
        return wfre_fail_memory(error, "choosing validation queries");
    v->graph = graph;
    v->pool = pool;
    v->set = options->queries ? options->queries : &v->sampled;
    v->seed = options->seed;
    if (options->queries)
        TRY(wfre_queryset_check_graph(options->queries, graph, error));
    else
        TRY(sample(v, options, error));
    TRY(choose(v, options->per_type, error));
    TRY(wfre_link_sample_draw(graph, WFRE_VALID, options->triples, options->seed, &v->links,
                              error));
    if (v->count > 0 || v->links.count > 0) {
        *result = v;
        v = NULL;
    }
cleanup:
    wfre_validation_free(v);
    return status;
}

void wfre_validation_free(wfre_validation *v)
{
    if (!v)
        return;
    wfre_queryset_clear(&v->sampled);
    wfre_link_sample_free(&v->links);
    wfre_free(v->rows);
    wfre_free(v->queries);
    wfre_free(v->standings);
    wfre_free(v);
}

/* ---- ranking ------------------------------------------------------------------------------ */

/* Queries to be ranked in some time. */
typedef struct timed {
    wfre_session *session;
    wfre_way way;
    double seconds; /* 0: no limit */
    double each;    /* that one of the first queries took */
    const wfre_monitor *monitor;
} timed;

/* After `done` queries in `spent` seconds: how many more there is time for. If these are many
 * enough for estimates to pay, they are made from now on. */
static double room_for(timed *t, double spent, size_t done)
{
    double each = spent / (double)done, room = each > 0 ? (t->seconds - spent) / each : INFINITY;
    if (t->way.by == WFRE_BY_EMBEDDING && room > 2 * WFRE_RANK_PREPARATION)
        t->way.exhaustive = false;
    return room;
}

/* Ranks `step` queries, and then as many more (a multiple of that) as the seconds allow; *count
 * becomes how many. */
static wfre_status rank_in_time(timed *t, const wfre_rank_query *queries, size_t *count,
                                size_t step, wfre_error *error)
{
    double start = wfre_clock();
    size_t batch = t->seconds > 0 ? step : WFRE_RANK_BATCH;
    for (size_t done = 0; done < *count;) {
        size_t next = *count - done < batch ? *count - done : batch;
        wfre_report(t->monitor, "validating", done, *count, NULL);
        CHECK(wfre_check_interrupt(t->monitor, error));
        CHECK(wfre_rank(t->session, &t->way, WFRE_TRAIN, queries + done, next, NULL, error));
        done += next;
        double spent = wfre_clock() - start;
        t->each = done == next ? spent / (double)done : t->each;
        if (t->seconds <= 0 || done == *count)
            continue;
        double room = room_for(t, spent, done);
        if (room < (double)step)
            *count = done;
        else
            batch = room < WFRE_RANK_BATCH ? (size_t)room / step * step : WFRE_RANK_BATCH;
    }
    return WFRE_OK;
}

enum { LINKS_AT_ONCE = 4 };

/* Ranks queries and triples, the first time each in half of the seconds; those for which there is
 * no time are left out from then on, so that results compare. */
static wfre_status rank_all(wfre_validation *v, const wfre_model *model, const wfre_way *way,
                            double seconds, const wfre_monitor *monitor, wfre_error *error)
{
    wfre_status status;
    timed t = {.way = *way, .seconds = v->fitted ? 0 : seconds / 2, .monitor = monitor};
    bool whole = way->by == WFRE_BY_EMBEDDING;
    t.way.exhaustive = way->exhaustive || (whole && (v->fitted ? v->few : seconds > 0));
    TRY(wfre_session_open(v->graph, model, v->pool, &t.session, error));
    TRY(rank_in_time(&t, v->queries, &v->count, v->types, error));
    v->each = t.way.exhaustive ? t.each : v->each;
    TRY(rank_in_time(&t, v->links.queries, &v->links.count, LINKS_AT_ONCE, error));
    v->few = v->count + v->links.count < WFRE_RANK_PREPARATION;
    v->fitted = true;
cleanup:
    wfre_session_free(t.session);
    return status;
}

/* The results of the queries by type, whose first query is *first of it. */
typedef struct by_type {
    wfre_total *totals;
    const wfre_node **first;
} by_type;

static wfre_status sort_by_type(const wfre_validation *v, by_type *sorted, wfre_error *error)
{
    sorted->totals = wfre_alloc_zero(v->set->types.count + 1, sizeof *sorted->totals);
    sorted->first = wfre_alloc_zero(v->set->types.count + 1, sizeof *sorted->first);
    if (!sorted->totals || !sorted->first)
        return wfre_fail_memory(error, "validating");
    for (size_t i = 0; i < v->count; i++) {
        wfre_metrics metrics = wfre_metrics_of(v->queries[i].standings, v->queries[i].hard.count);
        uint32_t type = v->set->rows[v->rows[i]].type;
        wfre_total_add(&sorted->totals[type], &metrics);
        sorted->first[type] = v->queries[i].tree;
    }
    return WFRE_OK;
}

static void free_by_type(by_type *sorted)
{
    wfre_free(sorted->totals);
    wfre_free(sorted->first);
}

static wfre_total total_links(const wfre_validation *v)
{
    wfre_total links = {0};
    for (size_t i = 0; i < v->links.count; i++) {
        wfre_metrics one = wfre_metrics_of(v->links.queries[i].standings, 1);
        wfre_total_add(&links, &one);
    }
    return links;
}

/* A mean over types on its way. */
typedef struct mean {
    wfre_measured_row row;
    double variance;
} mean;

static void add_to_mean(mean *m, const wfre_measured_row *row, double variance)
{
    m->row.types++;
    m->row.questions += row->questions;
    m->variance += variance;
    wfre_metrics_add(&m->row.mean, &row->mean);
}

static void end_mean(mean *m, wfre_measured_row *row)
{
    *row = m->row;
    if (row->types == 0)
        return;
    double types = row->types;
    row->mean = wfre_metrics_scale(&row->mean, 1 / types);
    wfre_mrr_interval(row->mean.mrr, m->variance / (types * types), &row->mrr_low, &row->mrr_high);
}

/* The well-known types in their usual order, then the others. */
static int compare_types(const void *left, const void *right)
{
    const wfre_measured_row *a = left, *b = right;
    unsigned i = (unsigned)wfre_betae_type_index(a->name, strlen(a->name));
    unsigned k = (unsigned)wfre_betae_type_index(b->name, strlen(b->name));
    return i != k ? (i < k ? -1 : 1) : strcmp(a->name, b->name);
}

/* Averages over hard answers, then queries, then types. */
static wfre_status average(const wfre_validation *v, wfre_measurement *m, wfre_error *error)
{
    wfre_status status;
    by_type sorted = {0};
    mean means[3] = {{{0}, 0}}; /* without negation, with it, all */
    wfre_total links = total_links(v);
    double variance;
    TRY(sort_by_type(v, &sorted, error));
    for (uint32_t t = 0; t < v->set->types.count; t++) {
        if (sorted.totals[t].count == 0)
            continue;
        size_t length;
        wfre_measured_row row = {.name = wfre_strings_get(&v->set->types, t, &length),
                                 .types = 1,
                                 .questions = sorted.totals[t].count,
                                 .mean = wfre_total_mean(&sorted.totals[t], &variance)};
        wfre_mrr_interval(row.mean.mrr, variance, &row.mrr_low, &row.mrr_high);
        add_to_mean(&means[wfre_tree_count(sorted.first[t], WFRE_OP_NEGATE) > 0], &row, variance);
        add_to_mean(&means[2], &row, variance);
        TRY(wfre_measurement_add(m, &row, length, error));
    }
    if (m->shown.type_count > 1)
        qsort(m->types, m->shown.type_count, sizeof *m->types, compare_types);
    end_mean(&means[0], &m->shown.without_not);
    end_mean(&means[1], &m->shown.with_not);
    end_mean(&means[2], &m->shown.all);
    m->shown.links.mean = wfre_total_mean(&links, &variance);
    m->shown.links.types = links.count > 0;
    m->shown.links.questions = links.count;
    wfre_mrr_interval(m->shown.links.mean.mrr, variance, &m->shown.links.mrr_low,
                      &m->shown.links.mrr_high);
cleanup:
    free_by_type(&sorted);
    return status;
}

double wfre_validated_score(wfre_validated v)
{
    return v.mrr < 0 ? v.links : v.links < 0 ? v.mrr : (v.mrr + v.links) / 2;
}

wfre_status wfre_validation_run(wfre_validation *v, const wfre_model *model, double seconds,
                                const wfre_monitor *monitor, wfre_validated *found,
                                wfre_error *error)
{
    wfre_status status;
    wfre_measurement *m = NULL;
    wfre_way way = model->settings.way;
    way.by = WFRE_BY_EMBEDDING; /* which is what learns */
    TRY(wfre_measurement_create(&m, error));
    TRY(rank_all(v, model, &way, seconds, monitor, error));
    TRY(average(v, m, error));
    found->mrr = m->shown.all.questions > 0 ? m->shown.all.mean.mrr : -1;
    found->each = v->each;
    found->links = m->shown.links.questions > 0 ? m->shown.links.mean.mrr : -1;
cleanup:
    wfre_measurement_free(m);
    return status;
}

wfre_status wfre_validation_measure(wfre_validation *v, wfre_model *model, double seconds,
                                    const wfre_monitor *monitor, wfre_error *error)
{
    wfre_status status;
    wfre_measurement *m = NULL;
    TRY(wfre_measurement_create(&m, error));
    m->shown.by = model->settings.way.by;
    m->shown.sampled = v->set == &v->sampled;
    m->shown.triples = v->links.all;
    TRY(wfre_measurement_commit(m, wfre_commit(), strlen(wfre_commit()), error));
    TRY(rank_all(v, model, &model->settings.way, seconds, monitor, error));
    TRY(average(v, m, error));
    wfre_measurement_free(model->measurement);
    model->measurement = m;
    m = NULL;
cleanup:
    wfre_measurement_free(m);
    return status;
}

static size_t part_of(size_t count, double share)
{
    return share < 1 ? (size_t)ceil(share * (double)count) : count;
}

typedef wfre_status fit_way(wfre_session *session, wfre_way *way, const wfre_rank_query *queries,
                            size_t count, double seconds, const wfre_monitor *monitor,
                            wfre_error *error);

/* Fits something about the model's own way. */
static wfre_status fit(const wfre_validation *v, const wfre_rank_query *queries, size_t count,
                       wfre_model *model, double seconds, fit_way *run, const wfre_monitor *monitor,
                       wfre_error *error)
{
    wfre_session *session = NULL;
    wfre_way way = model->settings.way;
    CHECK(wfre_session_open(v->graph, model, v->pool, &session, error));
    wfre_status status = run(session, &way, queries, count, seconds, monitor, error);
    wfre_session_free(session);
    if (status == WFRE_OK)
        model->settings.way = way;
    return status;
}

wfre_status wfre_validation_lift(const wfre_validation *v, wfre_model *model, double seconds,
                                 const wfre_monitor *monitor, wfre_error *error)
{
    return fit(v, v->queries, v->count, model, seconds, wfre_lift_fit, monitor, error);
}

wfre_status wfre_validation_edges(const wfre_validation *v, wfre_model *model, double share,
                                  double seconds, const wfre_monitor *monitor, wfre_error *error)
{
    size_t most = part_of(WFRE_EDGES_QUERIES, share), count = 0;
    size_t questions = v->count < most ? v->count : most;
    size_t links = v->links.count < most ? v->links.count : most;
    wfre_rank_query *mixed = wfre_alloc(questions + links + 1, sizeof *mixed);
    if (!mixed)
        return wfre_fail_memory(error, "fitting edges");
    for (size_t i = 0; i < most; i++) { /* by turns, so that the first are as good as all */
        if (i < questions)
            mixed[count++] = v->queries[i];
        if (i < links)
            mixed[count++] = v->links.queries[i];
    }
    wfre_status status = fit(v, mixed, count, model, seconds, wfre_edges_fit, monitor, error);
    wfre_free(mixed);
    return status;
}

wfre_status wfre_validation_calibrate(const wfre_validation *v, wfre_model *model, double share,
                                      double seconds, const wfre_monitor *monitor,
                                      wfre_error *error)
{
    wfre_probability_fit fit = {.model = model,
                                .queries = v->queries,
                                .count = v->count,
                                .graph = v->graph,
                                .edges = part_of(WFRE_ASKED_EDGES, share),
                                .shapes = part_of(WFRE_ASKED_SHAPES, share),
                                .seed = v->seed,
                                .pool = v->pool,
                                .seconds = seconds,
                                .monitor = monitor};
    return wfre_probability_fit_run(&fit, error);
}
