/* Evaluation of a model: batches of queries through the ranker, with unfinished work kept. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/disk.h"
#include "base/watch.h"
#include "eval/evaluation.h"
#include "eval/partial.h"
#include "exact/exact.h"
#include "measure/rank.h"

static const double SAVE_SECONDS = 60;
enum { EDGES_BATCH = 64 }; /* by edges a query takes longer, and somebody may want to stop */

typedef struct run {
    const wfre_graph *graph;
    const wfre_model *model;
    const wfre_queryset *set;
    const wfre_eval_options *options;
    wfre_way way;
    const wfre_monitor *monitor;
    wfre_evaluation *evaluation;
    wfre_session *session; /* NULL until there is something to rank */
    wfre_rank_cost cost;
    uint64_t key;
    double started, next_save;   /* on wfre_clock */
    wfre_status saved;           /* how the last attempt to save went */
    wfre_error unsaved;          /* why, if it failed */
    wfre_evaluation_info before; /* what earlier runs spent */
} run;

static bool by_edges(const run *r)
{
    return r->way.by == WFRE_BY_EDGES;
}

void wfre_eval_options_default(wfre_eval_options *options)
{
    *options =
        (wfre_eval_options){.bootstrap = 1000, .seed = 1, .known = WFRE_TRAIN, .split = WFRE_VALID};
}

/* Whether the treatment of unions makes no difference: there is none, and none comes from the
 * complement of an intersection. */
static bool treated_alike(const wfre_node *node)
{
    bool alike = node->op != WFRE_OP_UNION &&
                 (node->op != WFRE_OP_NEGATE || node->children[0]->op == WFRE_OP_PROJECT ||
                  node->children[0]->op == WFRE_OP_ENTITY);
    for (uint32_t i = 0; alike && i < node->child_count; i++)
        alike = treated_alike(node->children[i]);
    return alike;
}

/* Takes the standings that do not depend on the treatment of unions. */
static void take_from_base(run *r)
{
    const wfre_evaluation *base = r->options->base;
    wfre_evaluation *e = r->evaluation;
    if (!base || base->query_count != e->query_count || base->standing_count != e->standing_count)
        return;
    for (uint32_t q = 0; q < e->query_count; q++)
        if (base->queries[q].ranked && treated_alike(r->set->rows[q].tree)) {
            memcpy(e->standings + e->queries[q].begin, base->standings + base->queries[q].begin,
                   e->queries[q].answers * sizeof *e->standings);
            e->queries[q].ranked = true;
        }
}

/* What the evaluation cost so far, earlier runs included. */
static void add_cost(run *r)
{
    wfre_evaluation_info *info = &r->evaluation->info;
    info->pairs = r->before.pairs + r->cost.pairs;
    if (!by_edges(r)) /* else what is scored is not a query */
        info->exact = r->before.exact + r->cost.exact;
    info->seconds = r->before.seconds + wfre_clock() - r->started;
}

/* Saves if it is time to, or if the caller wants to stop; then says where to go on. Where nothing
 * can be saved, the evaluation goes on without. */
static wfre_status save_if_due(run *r, uint64_t done, wfre_error *error)
{
    bool stop = wfre_stopped() || wfre_interrupted(r->monitor);
    wfre_report(r->monitor, "evaluating", done, r->set->count,
                r->saved == WFRE_OK ? NULL : r->unsaved.message);
    add_cost(r);
    if (r->options->partial && (stop || wfre_clock() >= r->next_save)) {
        r->saved = wfre_partial_write(r->evaluation, r->key, r->options->partial, &r->unsaved);
        r->next_save = wfre_clock() + SAVE_SECONDS;
        if (r->saved == WFRE_ERR_MEMORY)
            return wfre_fail_memory(error, "saving what was evaluated");
    }
    if (stop && r->options->partial && r->saved != WFRE_OK)
        return wfre_fail(error, WFRE_ERR_INTERRUPTED, WFRE_NO_OFFSET,
                         "interrupted after %llu of %u queries, which are lost: %s",
                         (unsigned long long)done, r->set->count, r->unsaved.message);
    if (stop && r->options->partial)
        return wfre_fail(error, WFRE_ERR_INTERRUPTED, WFRE_NO_OFFSET,
                         "interrupted after %llu of %u queries; the same command goes on from %s",
                         (unsigned long long)done, r->set->count, r->options->partial);
    return stop ? wfre_fail(error, WFRE_ERR_INTERRUPTED, WFRE_NO_OFFSET, "interrupted") : WFRE_OK;
}

/* Collects the next unranked queries from *next on; returns how many. */
static size_t collect(const run *r, uint32_t *next, wfre_rank_query *batch, uint32_t *ids)
{
    size_t count = 0;
    size_t most = by_edges(r) ? EDGES_BATCH : WFRE_RANK_BATCH;
    for (; *next < r->set->count && count < most; ++*next) {
        uint32_t q = *next;
        if (r->evaluation->queries[q].ranked || r->evaluation->queries[q].answers == 0)
            continue;
        ids[count] = q;
        batch[count++] =
            (wfre_rank_query){.tree = r->set->rows[q].tree,
                              .easy = wfre_queryset_easy(r->set, q),
                              .hard = wfre_queryset_hard(r->set, q),
                              .standings = wfre_evaluation_standings(r->evaluation, q)};
    }
    return count;
}

/* Refuses known edges that prove what is to be predicted. Those of train are in every graph that
 * easy answers come from. */
static wfre_status check_known(const run *r, wfre_error *error)
{
    wfre_exact *exact = NULL;
    wfre_status status = WFRE_OK;
    if (!by_edges(r) || r->options->known == WFRE_TRAIN)
        return WFRE_OK;
    TRY(wfre_exact_create(r->graph, &exact, error));
    for (uint32_t q = 0; q < r->set->count; q++) {
        wfre_list answers, hard = wfre_queryset_hard(r->set, q);
        TRY(wfre_check_interrupt(r->monitor, error));
        TRY(wfre_exact_tree(exact, r->options->known, r->set->rows[q].tree, &answers, error));
        for (size_t i = 0; i < hard.count; i++)
            if (wfre_list_has(answers, hard.ids[i]))
                TRY(wfre_fail(error, WFRE_ERR_ARGUMENT, WFRE_NO_OFFSET,
                              "%s: the edges of train and valid prove a hard answer of query %u; "
                              "leave out `known`, so that those of train are known",
                              r->set->name, q));
    }
cleanup:
    wfre_exact_free(exact);
    return status;
}

/* Ranks the next queries from *next on, which then is behind them. */
static wfre_status rank_some(run *r, wfre_pool *pool, uint32_t *next, wfre_error *error)
{
    wfre_rank_query batch[WFRE_RANK_BATCH];
    uint32_t ids[WFRE_RANK_BATCH], behind = *next;
    wfre_rank_cost cost = r->cost;
    size_t count = collect(r, &behind, batch, ids);
    if (count > 0 && !r->session)
        CHECK(wfre_session_open(r->graph, r->model, pool, &r->session, error));
    if (count > 0)
        CHECK(wfre_rank(r->session, &r->way, r->options->known, batch, count, &cost, error));
    for (size_t i = 0; i < count; i++)
        r->evaluation->queries[ids[i]].ranked = true;
    r->cost = cost;
    *next = behind;
    return WFRE_OK;
}

/* An interruption may come within a batch: what was ranked before it is saved. */
static wfre_status rank_all(run *r, wfre_pool *pool, wfre_error *error)
{
    wfre_status status = WFRE_OK;
    uint32_t next = 0;
    r->next_save = wfre_clock() + SAVE_SECONDS;
    do {
        TRY(save_if_due(r, next, error));
        status = rank_some(r, pool, &next, error);
        if (status == WFRE_ERR_INTERRUPTED)
            status = save_if_due(r, next, error);
        TRY(status);
    } while (next < r->set->count);
    TRY(save_if_due(r, next, error));
    r->evaluation->info.method = wfre_rank_method(r->model, &r->way);
cleanup:
    wfre_session_free(r->session);
    return status;
}

wfre_status wfre_evaluate_model_with(const wfre_graph *graph, const wfre_model *model,
                                     const wfre_queryset *set, const wfre_eval_options *options,
                                     wfre_pool *pool, const wfre_monitor *monitor,
                                     wfre_evaluation **evaluation, wfre_error *error)
{
    GIVEN(graph);
    GIVEN(model);
    GIVEN(set);
    wfre_status status = WFRE_OK;
    wfre_watch watch = {0};
    run r = {.started = wfre_clock(),
             .graph = graph,
             .model = model,
             .set = set,
             .options = options,
             .way = options->way ? *options->way : model->settings.way,
             .monitor = &watch.monitor};
    TRY(wfre_watch_begin(&watch, monitor, error));
    TRY(wfre_model_check_graph(model, graph, error));
    TRY(wfre_evaluation_create(set, graph, options->label ? options->label : "model", &r.evaluation,
                               error));
    TRY(check_known(&r, error));
    const wfre_reliability *reliability = wfre_model_reliability(model);
    const wfre_reliability *missing = wfre_model_missing_reliability(model);
    if (reliability && r.way.by == model->settings.way.by)
        r.evaluation->reliability = *reliability;
    if (missing && r.way.by == model->settings.way.by)
        r.evaluation->missing = *missing;
    take_from_base(&r);
    if (options->partial) {
        r.key = wfre_partial_key(
            &(wfre_partial_of){graph, model, set, &r.way, options->known, WFRE_RANKING_VERSION});
        wfre_temporary_clean(options->partial);
        TRY(wfre_partial_read(r.evaluation, r.key, options->partial, error));
    }
    r.before = r.evaluation->info;
    TRY(rank_all(&r, pool, error));
    TRY(wfre_evaluation_finish(r.evaluation, options->bootstrap, options->seed, pool, error));
    if (options->strata)
        TRY(wfre_evaluation_stratify(r.evaluation, graph, set, options, r.monitor, error));
    if (options->partial && options->keep)
        TRY(wfre_partial_write(r.evaluation, r.key, options->partial, error));
    else if (options->partial)
        (void)unlink(options->partial);
    *evaluation = r.evaluation;
    r.evaluation = NULL;
cleanup:
    wfre_watch_end(&watch);
    wfre_evaluation_free(r.evaluation);
    return status;
}

wfre_status wfre_evaluate_model(const wfre_graph *graph, const wfre_model *model,
                                const char *queries, const wfre_eval_options *options,
                                wfre_pool *pool, const wfre_monitor *monitor,
                                wfre_evaluation **evaluation, wfre_error *error)
{
    GIVEN(graph);
    GIVEN(model);
    GIVEN(queries);
    wfre_queryset set = {0};
    wfre_status status = wfre_queryset_read(queries, graph, &set, error);
    if (status == WFRE_OK)
        status =
            wfre_evaluate_model_with(graph, model, &set, options, pool, monitor, evaluation, error);
    wfre_queryset_clear(&set);
    return status;
}
