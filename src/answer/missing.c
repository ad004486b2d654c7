/* The triples that a relation seems to lack, all at once.
 *
 * Every entity that has the relation is asked for more, from both ends. A triple that both ends
 * predict is listed once, as likely as the end says that is surer of it. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "graph/graph.h"
#include "infer/probability.h"
#include "wfre/answer.h"

enum { BATCH = 256 }; /* questions asked at a time */

typedef struct collection {
    wfre_session *session;
    const wfre_missing_options *options;
    wfre_way way;
    wfre_relation relation;        /* directed */
    const wfre_node *trees[BATCH]; /* of the batch */
    wfre_wanted wanted[BATCH];
    wfre_hit *hits; /* [BATCH, depth] */
    wfre_missing_triple *found;
    size_t count, capacity;
} collection;

void wfre_missing_options_default(wfre_missing_options *options)
{
    *options = (wfre_missing_options){.split = WFRE_TEST, .top = 10};
}

/* ---- one direction ------------------------------------------------------------------------ */

static wfre_status add(collection *c, const wfre_node *tree, const wfre_wanted *found,
                       const wfre_reasoner *reasoner, wfre_error *error)
{
    const wfre_model *model = c->session->engine->model;
    bool forward = c->relation % 2 == 0;
    wfre_entity source = tree->children[0]->id;
    size_t most = found->hit_count < c->options->top ? found->hit_count : c->options->top;
    wfre_judged of = {.model = model,
                      .way = &c->way,
                      .reasoner = reasoner,
                      .tree = tree,
                      .shape = "1p",
                      .known = found->without.count};
    wfre_calibration_view view = wfre_calibration_view_of(&of, found->hits, found->hit_count);
    if (!WFRE_RESERVE(&c->found, &c->capacity, c->count + most))
        return wfre_fail_memory(error, "looking for missing triples");
    for (size_t i = 0; i < most; i++) {
        wfre_chance chance = wfre_calibration_chance(&view, found->hits, i);
        wfre_entity target = found->hits[i].entity;
        if (c->options->min_probability > 0 && !(chance.any >= c->options->min_probability))
            break; /* nor are those after it likelier */
        c->found[c->count++] = (wfre_missing_triple){
            .head = forward ? source : target,
            .tail = forward ? target : source,
            .relation = c->relation / 2 * 2,
            .score = reasoner->logit(model, found->hits[i].score),
            .probability = chance.any,
            .missing_probability = chance.missing,
        };
    }
    return WFRE_OK;
}

static wfre_status use_scores(void *context, const wfre_scores *scores, const uint32_t *questions,
                              wfre_error *error)
{
    collection *c = context;
    CHECK(wfre_scores_top(scores, questions, c->wanted, error));
    for (size_t q = 0; q < scores->count; q++)
        CHECK(add(c, c->trees[questions[q]], &c->wanted[questions[q]], scores->reasoner, error));
    return WFRE_OK;
}

/* Asks some entities that have the relation for more. */
static wfre_status ask(collection *c, wfre_list sources, wfre_arena *arena, wfre_error *error)
{
    const wfre_graph *graph = c->session->engine->graph;
    size_t entities = c->session->engine->model->entity_count;
    size_t depth =
        c->options->top > WFRE_CALIBRATION_DEPTH ? c->options->top : WFRE_CALIBRATION_DEPTH;
    wfre_arena_reset(arena);
    for (size_t i = 0; i < sources.count; i++) {
        wfre_list known = wfre_graph_targets(graph, c->options->split, c->relation, sources.ids[i]);
        size_t left = entities - known.count;
        c->trees[i] =
            wfre_node_project(arena, c->relation, wfre_node_entity(arena, sources.ids[i]));
        c->wanted[i] = (wfre_wanted){
            .without = known, .top = depth < left ? depth : left, .hits = c->hits + i * depth};
        if (!c->trees[i])
            return wfre_fail_memory(error, "looking for missing triples");
    }
    wfre_inference questions = {.trees = c->trees,
                                .count = sources.count,
                                .way = c->way,
                                .split = c->options->split,
                                .purpose = WFRE_FOR_TOP};
    return wfre_infer(c->session, &questions, use_scores, c, error);
}

static wfre_status ask_all(collection *c, wfre_error *error)
{
    wfre_status status = WFRE_OK;
    wfre_arena arena = {0};
    wfre_list all = wfre_graph_sources(c->session->engine->graph, c->options->split, c->relation);
    for (size_t first = 0; first < all.count; first += BATCH) {
        size_t count = all.count - first < BATCH ? all.count - first : BATCH;
        TRY(ask(c, (wfre_list){all.ids + first, count}, &arena, error));
    }
cleanup:
    wfre_arena_free(&arena);
    return status;
}

/* ---- both --------------------------------------------------------------------------------- */

/* By triple, and of the same the likelier first. */
static int compare_triples(const void *left, const void *right)
{
    const wfre_missing_triple *a = left, *b = right;
    if (a->head != b->head)
        return (a->head > b->head) - (a->head < b->head);
    if (a->tail != b->tail)
        return (a->tail > b->tail) - (a->tail < b->tail);
    if (a->probability != b->probability && !isnan(a->probability) && !isnan(b->probability))
        return (a->probability < b->probability) - (a->probability > b->probability);
    return (a->score < b->score) - (a->score > b->score);
}

/* The likeliest first. */
static int compare_likelihood(const void *left, const void *right)
{
    const wfre_missing_triple *a = left, *b = right;
    if (a->probability != b->probability && !isnan(a->probability) && !isnan(b->probability))
        return (a->probability < b->probability) - (a->probability > b->probability);
    if (a->score != b->score)
        return (a->score < b->score) - (a->score > b->score);
    return compare_triples(left, right);
}

static void merge(collection *c)
{
    size_t kept = 0;
    qsort(c->found, c->count, sizeof *c->found, compare_triples);
    for (size_t i = 0; i < c->count; i++)
        if (kept == 0 || c->found[i].head != c->found[kept - 1].head ||
            c->found[i].tail != c->found[kept - 1].tail)
            c->found[kept++] = c->found[i];
    c->count = kept;
    qsort(c->found, c->count, sizeof *c->found, compare_likelihood);
}

static wfre_status collect(collection *c, wfre_relation relation, wfre_error *error)
{
    size_t depth =
        c->options->top > WFRE_CALIBRATION_DEPTH ? c->options->top : WFRE_CALIBRATION_DEPTH;
    c->hits = wfre_alloc(BATCH * depth, sizeof *c->hits);
    if (!c->hits)
        return wfre_fail_memory(error, "looking for missing triples");
    for (wfre_relation inverse = 0; inverse < 2; inverse++) {
        c->relation = relation / 2 * 2 + inverse;
        CHECK(ask_all(c, error));
    }
    if (c->count > 0)
        merge(c);
    return WFRE_OK;
}

wfre_status wfre_session_missing(wfre_session *session, wfre_relation relation,
                                 const wfre_missing_options *options, wfre_cancel *cancel,
                                 wfre_missing_triple **triples, size_t *count, wfre_error *error)
{
    const wfre_model *model = session->engine->model;
    if (!model)
        return wfre_fail(error, WFRE_ERR_UNSUPPORTED, WFRE_NO_OFFSET,
                         "missing triples are predicted by a model, and there is none");
    if (relation >= model->relation_count || (unsigned)options->split >= WFRE_SPLITS)
        return wfre_fail(error, WFRE_ERR_ARGUMENT, WFRE_NO_OFFSET,
                         "relation %u or split %d is not in the graph", relation,
                         (int)options->split);
    wfre_scope before = wfre_session_enter(session, cancel, 0);
    wfre_status status = WFRE_OK;
    collection *c = wfre_alloc_zero(1, sizeof *c);
    if (!c)
        TRY(wfre_fail_memory(error, "looking for missing triples"));
    c->session = session;
    c->options = options;
    c->way = options->way ? *options->way : model->settings.way;
    c->way.missing_rate = wfre_missing_rate(model, &c->way, options->split, options->missing_rate);
    TRY(collect(c, relation, error));
    wfre_scope_charge(0, wfre_bytes_of(c->found)); /* they are the caller's now */
    *triples = c->found;
    *count = c->count;
    c->found = NULL;
cleanup:
    if (c) {
        wfre_free(c->hits);
        wfre_free(c->found);
    }
    wfre_free(c);
    (void)wfre_scope_enter(before);
    return status;
}

void wfre_missing_triples_free(wfre_missing_triple *triples)
{
    wfre_free(triples);
}
