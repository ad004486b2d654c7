/* Known answers by the exact engine, predicted ones by embedding and search. What is known is left
 * out of the search, so that the two never mix. */
#include "answer/answer.h"

#include "model/calibration.h"
#include "query/formula.h"
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
    wfre_text_free(&asker->shape);
    wfre_free(asker->hits);
    wfre_free(asker->predictions);
    wfre_free(asker);
}

void wfre_ask_options_default(wfre_ask_options *options)
{
    *options = (wfre_ask_options){.split = WFRE_TEST, .known = true, .predicted = true, .top = 10};
}

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Finds the best that are not known. Probabilities look at some more than are asked for. */
static wfre_status predict(wfre_asker *asker, const wfre_node *tree,
                           const wfre_ask_options *options, wfre_list known, wfre_answers *answers,
                           wfre_error *error)
{
    wfre_status status;
    size_t deep = options->top > WFRE_CALIBRATION_DEPTH ? options->top : WFRE_CALIBRATION_DEPTH;
    deep = smaller(deep, asker->model->entity_count - known.count);
    if (!wfre_reserve((void **)&asker->hits, &asker->hit_capacity, deep, sizeof *asker->hits) ||
        !wfre_reserve((void **)&asker->predictions, &asker->prediction_capacity, deep,
                      sizeof *asker->predictions))
        TRY(wfre_fail_memory(error, "answering"));
    wfre_predict_query query = {.tree = tree, .without = known, .top = deep, .hits = asker->hits};
    TRY(wfre_predict(asker->predictor, &query, 1, error));
    wfre_text_clear(&asker->shape);
    TRY(wfre_type_name(tree, &asker->shape, error));
    wfre_calibration_view view = wfre_calibration_look(asker->model, asker->shape.data, query.hits,
                                                       query.hit_count, known.count);
    size_t count = 0;
    for (; count < smaller(options->top, query.hit_count); count++) {
        wfre_prediction *p = &asker->predictions[count];
        p->entity = query.hits[count].entity;
        p->score = wfre_model_logit(asker->model, query.hits[count].distance);
        p->probability = wfre_calibration_probability(asker->model, &view, query.hits, count);
        if (p->probability < options->min_probability)
            break; /* nor can those behind it be more likely */
    }
    answers->predicted = asker->predictions;
    answers->predicted_count = count;
cleanup:
    return status;
}

wfre_status wfre_ask(wfre_asker *asker, const wfre_query *query, const wfre_ask_options *options,
                     const wfre_monitor *monitor, wfre_answers *answers, wfre_error *error)
{
    wfre_status status;
    wfre_answers found = {0};
    wfre_list known;
    TRY(wfre_exact_answer(asker->exact, options->split, query, options->timeout, monitor, &known,
                          error));
    if (options->known)
        found.known = known;
    if (asker->model && options->predicted && query->tree)
        TRY(predict(asker, query->tree, options, known, &found, error));
    else if (asker->model && options->predicted)
        found.unpredicted = query->not_a_tree;
    *answers = found;
cleanup:
    return status;
}
