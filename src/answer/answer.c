/* Known answers by the exact engine, predicted ones by embedding and search. What is known is left
 * out of the search, so that the two never mix. */
#include "answer/answer.h"

#include <math.h>

#include "query/formula.h"

wfre_status wfre_asker_create(const wfre_graph *graph, const wfre_model *model, wfre_pool *pool,
                              wfre_asker **result, wfre_error *error)
{
    wfre_status status;
    wfre_isa isa;
    wfre_asker *asker = wfre_alloc_zero(1, sizeof *asker);
    if (!asker)
        return wfre_fail_memory(error, "preparing to answer");
    asker->graph = graph;
    asker->model = model;
    TRY(wfre_exact_create(graph, &asker->exact, error));
    if (model) {
        TRY(wfre_model_check_graph(model, graph, error));
        TRY(wfre_isa_select(&isa, error));
        TRY(wfre_linalg_create(pool, isa, &asker->linalg, error));
        TRY(wfre_run_create(model, pool, asker->linalg, WFRE_FP32, &asker->run, error));
        TRY(wfre_searcher_create(model, pool, &asker->searcher, error));
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
    wfre_searcher_free(asker->searcher);
    wfre_run_free(asker->run);
    wfre_program_free(&asker->program);
    wfre_linalg_free(asker->linalg);
    wfre_exact_free(asker->exact);
    wfre_free(asker->branches);
    wfre_free(asker->hits);
    wfre_free(asker->predictions);
    wfre_free(asker);
}

void wfre_ask_options_default(wfre_ask_options *options)
{
    *options = (wfre_ask_options){.split = WFRE_TEST, .known = true, .predicted = true, .top = 10};
}

/* Embeds the question; its branches then lie in the run. */
static wfre_status embed(wfre_asker *asker, const wfre_node *tree, wfre_error *error)
{
    wfre_status status;
    wfre_program *program = &asker->program;
    TRY(wfre_program_compile(program, &tree, 1, asker->model->settings.unions, error));
    TRY(wfre_run_forward(asker->run, program, NULL, error));
    if (!wfre_reserve((void **)&asker->branches, &asker->branch_capacity, program->root_count,
                      sizeof *asker->branches))
        TRY(wfre_fail_memory(error, "answering"));
    for (uint32_t r = 0; r < program->root_count; r++)
        asker->branches[r] = wfre_run_row(asker->run, program->roots[r]);
cleanup:
    return status;
}

static wfre_status predict(wfre_asker *asker, const wfre_node *tree,
                           const wfre_ask_options *options, wfre_list known, wfre_answers *answers,
                           wfre_error *error)
{
    wfre_status status;
    const wfre_model_settings *settings = &asker->model->settings;
    size_t left = asker->model->entity_count - known.count;
    size_t top = options->top < left ? options->top : left;
    TRY(embed(asker, tree, error));
    if (!wfre_reserve((void **)&asker->hits, &asker->hit_capacity, top, sizeof *asker->hits) ||
        !wfre_reserve((void **)&asker->predictions, &asker->prediction_capacity, top,
                      sizeof *asker->predictions))
        TRY(wfre_fail_memory(error, "answering"));
    wfre_search_query query = {
        .branches = asker->branches,
        .branch_count = asker->program.root_count,
        .without = known,
        .top = top,
        .hits = asker->hits,
    };
    TRY(wfre_search_all(asker->searcher, &query, 1, error));
    for (size_t i = 0; i < query.hit_count; i++) {
        double score = settings->gamma - settings->rho * (double)asker->hits[i].distance;
        asker->predictions[i] = (wfre_prediction){asker->hits[i].entity, score, NAN};
    }
    answers->predicted = asker->predictions;
    answers->predicted_count = query.hit_count;
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
