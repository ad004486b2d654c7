/* Engines. What is derived is made under the engine's own budget, whoever needs it first: it is not
 * his. */
#include "infer/session.h"

static const uint64_t MATRIX_BYTES = 1500000000;

void wfre_engine_options_default(wfre_engine_options *options)
{
    *options = (wfre_engine_options){.matrix_bytes = MATRIX_BYTES};
}

/* The scope of the engine's own memory, to be stopped like the caller's. */
static wfre_scope own_scope(wfre_engine *engine)
{
    wfre_scope scope = wfre_scope_current();
    scope.budget = &engine->budget;
    return scope;
}

static wfre_status derive(wfre_engine *engine, const wfre_engine_options *options, wfre_pool *pool,
                          wfre_error *error)
{
    wfre_index_top top;
    double limit = (double)options->matrix_bytes;
    CHECK(wfre_matrices_create(engine->model, limit, &engine->matrices, error));
    CHECK(wfre_index_create(engine->model, engine->matrices, &engine->index, error));
    return options->later ? WFRE_OK : wfre_index_top_of(engine->index, pool, &top, error);
}

wfre_status wfre_engine_open(const wfre_graph *graph, const wfre_model *model,
                             const wfre_engine_options *options, wfre_pool *pool,
                             wfre_cancel *cancel, wfre_engine **result, wfre_error *error)
{
    wfre_engine_options usual;
    wfre_status status = WFRE_OK;
    wfre_engine *engine = wfre_alloc_zero(1, sizeof *engine);
    if (!engine)
        return wfre_fail_memory(error, "opening an engine");
    wfre_engine_options_default(&usual);
    pthread_mutex_init(&engine->measuring, NULL);
    wfre_scope before = wfre_scope_enter((wfre_scope){.cancel = cancel});
    if (model && graph)
        TRY(wfre_model_check_graph(model, graph, error));
    engine->model = model ? wfre_model_ref(model) : NULL;
    engine->graph = graph ? wfre_graph_ref(graph) : NULL;
    (void)wfre_scope_enter(own_scope(engine));
    if (model)
        TRY(derive(engine, options ? options : &usual, pool, error));
    *result = engine;
    engine = NULL;
cleanup:
    (void)wfre_scope_enter(before);
    wfre_engine_unref(engine);
    return status;
}

wfre_engine *wfre_engine_ref(wfre_engine *engine)
{
    atomic_fetch_add(&engine->others, 1);
    return engine;
}

void wfre_engine_unref(wfre_engine *engine)
{
    if (!engine || atomic_fetch_sub(&engine->others, 1) > 0)
        return;
    wfre_scope before = wfre_scope_enter((wfre_scope){.budget = &engine->budget});
    wfre_index_free(engine->index);
    wfre_matrices_free(engine->matrices);
    for (int split = 0; split < WFRE_SPLITS; split++) {
        wfre_missing_counts_free(&engine->missing[split]);
        wfre_kinds_free(engine->kinds[split]);
    }
    for (int i = 0; i < 2; i++)
        wfre_name_index_free(engine->names[i]);
    (void)wfre_scope_enter((wfre_scope){0}); /* the rest was charged to nobody */
    wfre_model_free(engine->model);
    wfre_graph_close(engine->graph);
    pthread_mutex_destroy(&engine->measuring);
    wfre_free(engine);
    (void)wfre_scope_enter(before);
}

const wfre_graph *wfre_engine_graph(const wfre_engine *engine)
{
    return engine->graph;
}

const wfre_model *wfre_engine_model(const wfre_engine *engine)
{
    return engine->model;
}

wfre_way wfre_engine_way(const wfre_engine *engine)
{
    wfre_model_settings usual;
    wfre_model_settings_default(&usual);
    return engine->model ? engine->model->settings.way : usual.way;
}

size_t wfre_engine_bytes(const wfre_engine *engine)
{
    size_t matrices = engine->matrices ? wfre_matrices_bytes(engine->matrices) : 0;
    return sizeof *engine + atomic_load(&engine->budget.used) + matrices;
}

wfre_status wfre_engine_missing(wfre_engine *engine, wfre_split split,
                                const wfre_missing_counts **missing, wfre_error *error)
{
    wfre_status status = WFRE_OK;
    *missing = &engine->missing[split];
    if (atomic_load_explicit(&engine->has_missing[split], memory_order_acquire))
        return WFRE_OK;
    pthread_mutex_lock(&engine->measuring);
    wfre_scope before = wfre_scope_enter(own_scope(engine));
    if (!atomic_load(&engine->has_missing[split])) {
        wfre_missing_counts made = {0};
        status = wfre_missing_counts_measure(engine->graph, split, &made, error);
        if (status == WFRE_OK) {
            engine->missing[split] = made;
            atomic_store_explicit(&engine->has_missing[split], true, memory_order_release);
        } else {
            wfre_missing_counts_free(&made);
        }
    }
    (void)wfre_scope_enter(before);
    pthread_mutex_unlock(&engine->measuring);
    return status;
}

wfre_status wfre_engine_kinds(wfre_engine *engine, wfre_split split, const wfre_relation *places,
                              size_t count, const wfre_kinds **kinds, const float **weights,
                              wfre_error *error)
{
    wfre_status status = WFRE_OK;
    pthread_mutex_lock(&engine->measuring);
    wfre_scope before = wfre_scope_enter(own_scope(engine));
    if (!engine->kinds[split])
        status = wfre_kinds_create(engine->graph, split, &engine->kinds[split], error);
    for (size_t i = 0; status == WFRE_OK && i < count; i++)
        status = wfre_kinds_at(engine->kinds[split], places[i], &weights[i], error);
    *kinds = engine->kinds[split];
    (void)wfre_scope_enter(before);
    pthread_mutex_unlock(&engine->measuring);
    return status;
}

static wfre_status index_names(wfre_engine *engine, wfre_error *error)
{
    wfre_status status = WFRE_OK;
    for (int i = 0; i < 2 && status == WFRE_OK; i++)
        if (!engine->names[i])
            status = wfre_name_index_create(engine->graph, i == 1, &engine->names[i], error);
    return status;
}

wfre_status wfre_engine_names(wfre_engine *engine, const wfre_name_index *const **names,
                              wfre_error *error)
{
    wfre_status status = WFRE_OK;
    *names = (const wfre_name_index *const *)engine->names;
    if (atomic_load_explicit(&engine->has_names, memory_order_acquire))
        return WFRE_OK;
    pthread_mutex_lock(&engine->measuring);
    wfre_scope before = wfre_scope_enter(own_scope(engine));
    if (!atomic_load(&engine->has_names)) {
        status = index_names(engine, error);
        if (status == WFRE_OK)
            atomic_store_explicit(&engine->has_names, true, memory_order_release);
    }
    (void)wfre_scope_enter(before);
    pthread_mutex_unlock(&engine->measuring);
    return status;
}

/* ---- for a model's file ------------------------------------------------------------------- */

wfre_status wfre_model_prepare(wfre_model *model, wfre_pool *pool, wfre_error *error)
{
    wfre_engine engine = {.model = model};
    wfre_engine_options options;
    wfre_engine_options_default(&options);
    wfre_status status = derive(&engine, &options, pool, error);
    if (status == WFRE_OK) {
        wfre_sketch_tables *made = wfre_index_take_sketch(engine.index);
        if (made) { /* else it has what it needs */
            wfre_sketch_tables_free(model->sketch);
            model->sketch = made;
        }
    }
    wfre_index_free(engine.index);
    wfre_matrices_free(engine.matrices);
    return status;
}
