/* Questions go through in batches, which bounds the memory of embedding and search. */
#include "model/predict.h"

#include "base/memory.h"

enum { BATCH = 64 };

struct wfre_predictor {
    const wfre_model *model;
    wfre_linalg *linalg;
    wfre_embedder *embedder;
    wfre_searcher *searcher;
};

wfre_status wfre_predictor_create(const wfre_model *model, wfre_pool *pool, wfre_predictor **result,
                                  wfre_error *error)
{
    wfre_status status;
    wfre_isa isa;
    wfre_predictor *p = wfre_alloc_zero(1, sizeof *p);
    if (!p)
        return wfre_fail_memory(error, "preparing to predict");
    p->model = model;
    TRY(wfre_isa_select(&isa, error));
    TRY(wfre_linalg_create(pool, isa, &p->linalg, error));
    TRY(wfre_embedder_create(model, pool, p->linalg, &p->embedder, error));
    TRY(wfre_searcher_create(model, pool, &p->searcher, error));
    *result = p;
    p = NULL;
cleanup:
    wfre_predictor_free(p);
    return status;
}

void wfre_predictor_free(wfre_predictor *predictor)
{
    if (!predictor)
        return;
    wfre_searcher_free(predictor->searcher);
    wfre_embedder_free(predictor->embedder);
    wfre_linalg_free(predictor->linalg);
    wfre_free(predictor);
}

wfre_status wfre_predictor_prepare(wfre_predictor *predictor, wfre_error *error)
{
    return wfre_searcher_prepare(predictor->searcher, predictor->embedder, error);
}

wfre_status wfre_model_prepare(wfre_model *model, wfre_pool *pool, wfre_error *error)
{
    wfre_predictor *predictor = NULL;
    wfre_status status;
    TRY(wfre_predictor_create(model, pool, &predictor, error));
    TRY(wfre_predictor_prepare(predictor, error));
    wfre_sketch_tables *made = wfre_searcher_take_sketch(predictor->searcher);
    if (made) { /* else it has what it needs */
        wfre_sketch_tables_free(model->sketch);
        model->sketch = made;
    }
cleanup:
    wfre_predictor_free(predictor);
    return status;
}

static wfre_status predict_batch(wfre_predictor *p, wfre_predict_query *queries, size_t count,
                                 bool exhaustive, wfre_error *error)
{
    wfre_status status;
    const wfre_node *trees[BATCH];
    wfre_search_query searches[BATCH];
    wfre_embedding embedding;
    for (size_t q = 0; q < count; q++) {
        trees[q] = queries[q].tree;
        searches[q] = (wfre_search_query){
            .without = queries[q].without, .top = queries[q].top, .hits = queries[q].hits};
    }
    TRY(wfre_embed(p->embedder, trees, count, p->model->settings.unions, &embedding, error));
    TRY(exhaustive ? wfre_search_all(p->searcher, &embedding, searches, count, error)
                   : wfre_search_quick(p->searcher, &embedding, searches, count, error));
    for (size_t q = 0; q < count; q++) {
        queries[q].hit_count = searches[q].hit_count;
        queries[q].scored = searches[q].scored;
    }
cleanup:
    return status;
}

wfre_status wfre_predict(wfre_predictor *predictor, wfre_predict_query *queries, size_t count,
                         bool exhaustive, wfre_error *error)
{
    wfre_status status = WFRE_OK;
    if (!exhaustive)
        TRY(wfre_predictor_prepare(predictor, error));
    for (size_t first = 0; first < count; first += BATCH) {
        size_t size = count - first < BATCH ? count - first : BATCH;
        TRY(predict_batch(predictor, queries + first, size, exhaustive, error));
    }
cleanup:
    return status;
}
