/* Questions go through in batches, which bounds the memory of embedding and search. */
#include "infer/predict.h"

#include "base/memory.h"
#include "base/pool.h"
#include "search/top.h"

enum {
    BATCH = 64,
    TABLE_LIMIT = 1 << 25 /* truth values held at a time, but those of one question */
};

struct wfre_predictor {
    const wfre_model *model;
    wfre_pool *pool;
    wfre_linalg *linalg;
    wfre_embedder *embedder;
    wfre_searcher *searcher;
    const wfre_graph *graph; /* NULL: everything is embedded */
    wfre_split split;
    wfre_edges *edges[2]; /* by estimates, exhaustively; NULL until they are needed */
    wfre_arena arena;     /* forms of the questions at work */
    float *truth;         /* [questions, entities] */
    size_t truth_capacity;
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
    p->pool = pool;
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

static void forget_edges(wfre_predictor *p)
{
    for (int i = 0; i < 2; i++) {
        wfre_edges_free(p->edges[i]);
        p->edges[i] = NULL;
    }
}

void wfre_predictor_free(wfre_predictor *predictor)
{
    if (!predictor)
        return;
    forget_edges(predictor);
    wfre_free(predictor->truth);
    wfre_arena_free(&predictor->arena);
    wfre_searcher_free(predictor->searcher);
    wfre_embedder_free(predictor->embedder);
    wfre_linalg_free(predictor->linalg);
    wfre_free(predictor);
}

wfre_status wfre_predictor_know(wfre_predictor *predictor, const wfre_graph *graph,
                                wfre_split split, wfre_error *error)
{
    if (predictor->graph == graph && predictor->split == split)
        return WFRE_OK;
    wfre_status status = wfre_model_check_graph(predictor->model, graph, error);
    if (status != WFRE_OK)
        return status;
    forget_edges(predictor);
    predictor->graph = graph;
    predictor->split = split;
    return WFRE_OK;
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

/* ---- by embedding and search -------------------------------------------------------------- */

static wfre_status predict_embedded(wfre_predictor *p, wfre_predict_query *const *queries,
                                    size_t count, bool exhaustive, wfre_error *error)
{
    const wfre_node *trees[BATCH];
    wfre_search_query searches[BATCH];
    wfre_embedding embedding;
    for (size_t q = 0; q < count; q++) {
        trees[q] = queries[q]->tree;
        searches[q] = (wfre_search_query){
            .without = queries[q]->without, .top = queries[q]->top, .hits = queries[q]->hits};
    }
    CHECK(wfre_embed(p->embedder, trees, count, p->model->settings.unions, &embedding, error));
    CHECK(exhaustive ? wfre_search_all(p->searcher, &embedding, searches, count, error)
                     : wfre_search_quick(p->searcher, &embedding, searches, count, error));
    for (size_t q = 0; q < count; q++) {
        queries[q]->hit_count = searches[q].hit_count;
        queries[q]->scored = searches[q].scored;
    }
    return WFRE_OK;
}

/* ---- edge by edge ------------------------------------------------------------------------- */

typedef struct picking {
    const wfre_predictor *predictor;
    wfre_predict_query *const *queries;
} picking;

/* Takes the best entities of one question. */
static void pick(void *context, size_t q, unsigned worker)
{
    (void)worker;
    const picking *c = context;
    const wfre_model *model = c->predictor->model;
    wfre_predict_query *query = c->queries[q];
    const float *truth = c->predictor->truth + q * model->entity_count;
    wfre_nearest best = {.hits = query->hits, .top = query->top};
    size_t next = 0;
    for (wfre_entity e = 0; e < model->entity_count; e++) {
        if (next < query->without.count && query->without.ids[next] == e)
            next++;
        else
            wfre_nearest_offer(&best, (wfre_hit){e, wfre_model_distance(model, truth[e])});
    }
    wfre_nearest_settle(&best);
    query->hit_count = best.count;
}

/* `forms` stand for the trees of the questions. */
static wfre_status predict_by_edges(wfre_predictor *p, wfre_predict_query *const *queries,
                                    const wfre_node *const *forms, size_t count, bool exhaustive,
                                    wfre_error *error)
{
    size_t entities = p->model->entity_count, most = TABLE_LIMIT / entities + 1;
    wfre_edges_input input = {p->graph,    p->split, p->model,  p->embedder,
                              p->searcher, p->pool,  exhaustive};
    if (count > 0 && !p->edges[exhaustive])
        CHECK(wfre_edges_create(&input, &p->edges[exhaustive], error));
    for (size_t first = 0, part; first < count; first += part) {
        part = count - first < most ? count - first : most;
        for (size_t q = 0; q < part; q++)
            queries[first + q]->scored = exhaustive ? entities : 0;
        if (!WFRE_RESERVE(&p->truth, &p->truth_capacity, part * entities))
            return wfre_fail_memory(error, "predicting");
        CHECK(wfre_edges_answer(p->edges[exhaustive], forms + first, part, p->truth, error));
        picking c = {p, queries + first};
        wfre_pool_run(p->pool, part, pick, &c);
    }
    return WFRE_OK;
}

wfre_status wfre_predict(wfre_predictor *predictor, wfre_predict_query *queries, size_t count,
                         bool exhaustive, wfre_error *error)
{
    bool by_edges = predictor->graph && predictor->model->settings.answering == WFRE_BY_EDGES;
    if (!exhaustive)
        CHECK(wfre_predictor_prepare(predictor, error));
    for (size_t first = 0; first < count; first += BATCH) {
        wfre_predict_query *kinds[2][BATCH];
        const wfre_node *forms[BATCH];
        size_t counts[2] = {0, 0};
        wfre_arena_reset(&predictor->arena);
        for (size_t q = first; q < count && q < first + BATCH; q++) {
            const wfre_node *form = NULL;
            if (by_edges)
                CHECK(wfre_edges_form(&predictor->arena, queries[q].tree, &form, error));
            queries[q].embedded = by_edges && !form;
            forms[counts[1]] = form;
            kinds[form != NULL][counts[form != NULL]++] = &queries[q];
        }
        if (counts[0] > 0)
            CHECK(predict_embedded(predictor, kinds[0], counts[0], exhaustive, error));
        CHECK(predict_by_edges(predictor, kinds[1], forms, counts[1], exhaustive, error));
    }
    return WFRE_OK;
}
