/* Known answers by the exact engine, predicted ones by embedding and search. What is known is left
 * out of the search, so that the two never mix, and so is what the graph refutes. */
#include "answer/answer.h"

#include <math.h>
#include <string.h>

#include "base/text.h"
#include "exact/exact.h"
#include "infer/probability.h"
#include "query/formula.h"
#include "query/normal.h"
#include "query/types.h"

wfre_status wfre_asker_create(const wfre_graph *graph, const wfre_model *model, wfre_pool *pool,
                              wfre_asker **result, wfre_error *error)
{
    wfre_status status;
    wfre_asker *asker = wfre_alloc_zero(1, sizeof *asker);
    if (!asker)
        return wfre_fail_memory(error, "preparing to answer");
    asker->graph = graph;
    asker->model = model;
    TRY(wfre_exact_create(graph, &asker->exact, error));
    if (model) {
        TRY(wfre_model_check_graph(model, graph, error));
        TRY(wfre_predictor_create(model, pool, &asker->predictor, error));
    }
    *result = asker;
    asker = NULL;
cleanup:
    wfre_asker_free(asker);
    return status;
}

void wfre_asker_free(wfre_asker *asker)
{
    if (!asker)
        return;
    wfre_predictor_free(asker->predictor);
    wfre_exact_free(asker->exact);
    wfre_arena_free(&asker->arena);
    wfre_free(asker);
}

wfre_status wfre_asker_prepare(wfre_asker *asker, wfre_error *error)
{
    return asker->predictor ? wfre_predictor_prepare(asker->predictor, error) : WFRE_OK;
}

void wfre_ask_options_default(wfre_ask_options *options)
{
    *options = (wfre_ask_options){.split = WFRE_TEST, .known = true, .predicted = true, .top = 10};
}

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Copies what the exact engine found, which it forgets with the next question. */
static wfre_status find_known(wfre_asker *asker, const wfre_query *query,
                              const wfre_ask_options *options, const wfre_monitor *monitor,
                              wfre_list *known, wfre_error *error)
{
    wfre_list found;
    CHECK(wfre_exact_answer(asker->exact, options->split, query, options->timeout, monitor, &found,
                            error));
    wfre_entity *copy = wfre_arena_alloc(&asker->arena, found.count, sizeof *copy);
    if (!copy)
        return wfre_fail_memory(error, "answering");
    if (found.count > 0)
        memcpy(copy, found.ids, found.count * sizeof *copy);
    *known = (wfre_list){copy, found.count};
    return WFRE_OK;
}

/* What to search for. Probabilities look at some more than are asked for. */
static wfre_status plan(wfre_asker *asker, const wfre_node *tree, const wfre_ask_options *options,
                        wfre_list known, wfre_predict_query *query, wfre_error *error)
{
    *query = (wfre_predict_query){.tree = tree};
    CHECK(wfre_exact_settled(asker->exact, options->split, tree, known, &asker->arena,
                             &query->without, error));
    size_t deep = options->top > WFRE_CALIBRATION_DEPTH ? options->top : WFRE_CALIBRATION_DEPTH;
    query->top = smaller(deep, asker->model->entity_count - query->without.count);
    query->hits = wfre_arena_alloc(&asker->arena, query->top, sizeof *query->hits);
    if (!query->hits)
        return wfre_fail_memory(error, "answering");
    return WFRE_OK;
}

/* Why the model cannot predict answers to the query, if so. */
static wfre_status find_obstacle(wfre_asker *asker, const wfre_query *query, const char **obstacle,
                                 wfre_error *error)
{
    const wfre_node *normal;
    wfre_error why;
    const wfre_model_settings *settings = &asker->model->settings;
    *obstacle = query->tree ? NULL : query->not_a_tree;
    if (!query->tree || settings->unions != WFRE_UNION_DNF ||
        (settings->answering == WFRE_BY_EDGES && wfre_edges_suit(query->tree)))
        return WFRE_OK;
    wfre_status status =
        wfre_tree_normal(&asker->arena, query->tree, WFRE_FORM_DNF_MULTI, &normal, &why);
    if (status == WFRE_OK)
        return WFRE_OK;
    if (status == WFRE_ERR_UNSUPPORTED)
        *obstacle = wfre_arena_text(&asker->arena, why.message, strlen(why.message));
    return *obstacle ? WFRE_OK : wfre_fail_memory(error, "answering");
}

/* Turns what was found into predictions. */
static wfre_status conclude(wfre_asker *asker, const wfre_predict_query *query,
                            const wfre_ask_options *options, wfre_answers *answers,
                            wfre_error *error)
{
    wfre_status status;
    wfre_text shape = {0};
    size_t most = smaller(options->top, query->hit_count), count = 0;
    wfre_prediction *predictions = wfre_arena_alloc(&asker->arena, most, sizeof *predictions);
    if (!predictions)
        TRY(wfre_fail_memory(error, "answering"));
    TRY(wfre_type_name(query->tree, &shape, error));
    wfre_calibration_view view = wfre_calibration_view_of(asker->model, shape.data, query->hits,
                                                          query->hit_count, answers->known.count);
    for (; count < most; count++) {
        wfre_prediction *p = &predictions[count];
        p->entity = query->hits[count].entity;
        p->score = wfre_model_logit(asker->model, query->hits[count].distance);
        p->probability =
            query->embedded ? (double)NAN
                            : wfre_calibration_probability(asker->model, &view, query->hits, count);
        if (options->min_probability > 0 && !(p->probability >= options->min_probability))
            break; /* nor can those after it be more likely; without a calibration none is */
    }
    answers->predicted = predictions;
    answers->predicted_count = count;
    answers->scored = query->scored;
cleanup:
    wfre_text_free(&shape);
    return status;
}

wfre_status wfre_ask_many(wfre_asker *asker, const wfre_query *const *queries, size_t count,
                          const wfre_ask_options *options, const wfre_monitor *monitor,
                          wfre_answers *answers, wfre_error *error)
{
    bool predicted = asker->model && options->predicted;
    wfre_arena_reset(&asker->arena);
    wfre_predict_query *plans = wfre_arena_alloc(&asker->arena, count, sizeof *plans);
    wfre_answers *found = wfre_arena_alloc(&asker->arena, count, sizeof *found);
    size_t planned = 0;
    if (!plans || !found)
        return wfre_fail_memory(error, "answering");
    for (size_t q = 0; q < count; q++) {
        found[q] = (wfre_answers){0};
        CHECK(find_known(asker, queries[q], options, monitor, &found[q].known, error));
        if (predicted)
            CHECK(find_obstacle(asker, queries[q], &found[q].unpredicted, error));
        if (predicted && !found[q].unpredicted)
            CHECK(plan(asker, queries[q]->tree, options, found[q].known, &plans[planned++], error));
    }
    if (planned > 0) {
        CHECK(wfre_predictor_know(asker->predictor, asker->graph, options->split, error));
        CHECK(wfre_predict(asker->predictor, plans, planned, options->exhaustive, error));
    }
    for (size_t q = 0; q < count; q++) {
        if (predicted && !found[q].unpredicted)
            CHECK(conclude(asker, plans++, options, &found[q], error));
        if (!options->known)
            found[q].known = (wfre_list){0};
    }
    if (count > 0)
        memcpy(answers, found, count * sizeof *found);
    return WFRE_OK;
}

wfre_status wfre_ask(wfre_asker *asker, const wfre_query *query, const wfre_ask_options *options,
                     const wfre_monitor *monitor, wfre_answers *answers, wfre_error *error)
{
    return wfre_ask_many(asker, &query, 1, options, monitor, answers, error);
}
