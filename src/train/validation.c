/* A fixed sample of validation queries, ranked by the model's own score. */
#include "train/validation.h"

#include <string.h>

#include "base/clock.h"
#include "base/memory.h"
#include "exact/exact.h"
#include "fit/edges.h"
#include "fit/probability.h"
#include "fit/scale.h"
#include "measure/rank.h"
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
    uint64_t seed;
    bool fitted; /* count has been fitted to the time there is */
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
} drawing;

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
    if (found.count == 0)
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

static wfre_status sample(wfre_validation *v, const wfre_graph *graph, uint32_t per_type,
                          uint64_t seed, wfre_error *error)
{
    drawing d = {.validation = v, .per_type = per_type};
    wfre_status status;
    TRY(wfre_sampler_create(graph, WFRE_VALID, ALL_TYPES, MOST_ANSWERS, seed, &d.sampler, error));
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

wfre_status wfre_validation_create(const wfre_graph *graph, const wfre_queryset *queries,
                                   uint32_t per_type, uint64_t seed, wfre_pool *pool,
                                   wfre_validation **result, wfre_error *error)
{
    *result = NULL;
    if (!queries && wfre_graph_triples(graph, WFRE_VALID) == wfre_graph_triples(graph, WFRE_TRAIN))
        return WFRE_OK;
    wfre_status status;
    wfre_validation *v = wfre_alloc_zero(1, sizeof *v);
    if (!v)
        return wfre_fail_memory(error, "choosing validation queries");
    v->graph = graph;
    v->pool = pool;
    v->set = queries ? queries : &v->sampled;
    v->seed = seed;
    if (queries)
        TRY(wfre_queryset_check_graph(queries, graph, error));
    else
        TRY(sample(v, graph, per_type, seed, error));
    TRY(choose(v, per_type, error));
    if (v->count > 0) {
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
    wfre_free(v->rows);
    wfre_free(v->queries);
    wfre_free(v->standings);
    wfre_free(v);
}

/* ---- ranking ------------------------------------------------------------------------------ */

/* Averages over hard answers, then queries, then types. */
static wfre_status average(const wfre_validation *v, double *mrr, wfre_error *error)
{
    uint32_t types = v->set->types.count;
    double *sums = wfre_alloc_zero(types, sizeof *sums);
    uint32_t *counts = wfre_alloc_zero(types, sizeof *counts);
    if (!sums || !counts) {
        wfre_free(sums);
        wfre_free(counts);
        return wfre_fail_memory(error, "validating");
    }
    for (size_t i = 0; i < v->count; i++) {
        wfre_metrics metrics = wfre_metrics_of(v->queries[i].standings, v->queries[i].hard.count);
        sums[v->set->rows[v->rows[i]].type] += metrics.mrr;
        counts[v->set->rows[v->rows[i]].type]++;
    }
    double sum = 0, present = 0;
    for (uint32_t t = 0; t < types; t++) {
        sum += counts[t] ? sums[t] / counts[t] : 0;
        present += counts[t] > 0;
    }
    *mrr = sum / present;
    wfre_free(sums);
    wfre_free(counts);
    return WFRE_OK;
}

wfre_status wfre_validation_run(wfre_validation *v, const wfre_model *model, double seconds,
                                const wfre_monitor *monitor, double *mrr, wfre_error *error)
{
    wfre_session *session = NULL;
    wfre_status status;
    double start = wfre_clock();
    bool fitting = seconds > 0 && !v->fitted;
    size_t batch = fitting ? v->types : WFRE_RANK_BATCH;
    wfre_way way = model->settings.way;
    way.by = WFRE_BY_EMBEDDING; /* which is what learns */
    TRY(wfre_session_open(v->graph, model, v->pool, &session, error));
    for (size_t first = 0; first < v->count; first += batch) {
        size_t left = v->count - first;
        wfre_report(monitor, "validating", first, v->count, NULL);
        TRY(wfre_check_interrupt(monitor, error));
        TRY(wfre_rank(session, &way, WFRE_TRAIN, v->queries + first, left < batch ? left : batch,
                      NULL, error));
        if (fitting && wfre_clock() - start > seconds && left > batch)
            v->count = first + batch; /* from now on these, so that results compare */
    }
    v->fitted = true;
    TRY(average(v, mrr, error));
cleanup:
    wfre_session_free(session);
    return status;
}

typedef wfre_status fit_way(wfre_session *session, wfre_way *way, const wfre_rank_query *queries,
                            size_t count, double seconds, const wfre_monitor *monitor,
                            wfre_error *error);

/* Fits something about the model's own way. */
static wfre_status fit(const wfre_validation *v, wfre_model *model, double seconds, fit_way *run,
                       const wfre_monitor *monitor, wfre_error *error)
{
    wfre_session *session = NULL;
    wfre_way way = model->settings.way;
    CHECK(wfre_session_open(v->graph, model, v->pool, &session, error));
    wfre_status status = run(session, &way, v->queries, v->count, seconds, monitor, error);
    wfre_session_free(session);
    if (status == WFRE_OK)
        model->settings.way = way;
    return status;
}

wfre_status wfre_validation_lift(const wfre_validation *v, wfre_model *model, double seconds,
                                 const wfre_monitor *monitor, wfre_error *error)
{
    return fit(v, model, seconds, wfre_lift_fit, monitor, error);
}

wfre_status wfre_validation_edges(const wfre_validation *v, wfre_model *model, double seconds,
                                  const wfre_monitor *monitor, wfre_error *error)
{
    return fit(v, model, seconds, wfre_edges_fit, monitor, error);
}

wfre_status wfre_validation_calibrate(const wfre_validation *v, wfre_model *model, double seconds,
                                      const wfre_monitor *monitor, wfre_error *error)
{
    wfre_probability_fit fit = {.model = model,
                                .queries = v->queries,
                                .count = v->count,
                                .graph = v->graph,
                                .edges = WFRE_ASKED_EDGES,
                                .shapes = WFRE_ASKED_SHAPES,
                                .seed = v->seed,
                                .pool = v->pool,
                                .seconds = seconds,
                                .monitor = monitor};
    return wfre_probability_fit_run(&fit, error);
}
