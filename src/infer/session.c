/* Sessions: everything one thread needs to answer, counted by the session's budget. */
#include "infer/session.h"

/* Numbers that a table of scores may have: as many as is fast, or a share of what the session may
 * take, since several tables are at work at a time. */
static const size_t LARGEST_TABLE = (size_t)1 << 25;
enum { TABLES = 8 };

static wfre_status make_workspace(wfre_session *s, wfre_error *error)
{
    wfre_isa isa;
    if (s->engine->graph)
        CHECK(wfre_exact_create(s->engine->graph, &s->exact, error));
    if (!s->engine->model)
        return WFRE_OK;
    CHECK(wfre_isa_select(&isa, error));
    CHECK(wfre_linalg_create(s->pool, isa, &s->linalg, error));
    CHECK(wfre_embedder_create(s->engine->matrices, s->pool, s->linalg, &s->embedder, error));
    return wfre_searcher_create(s->engine->index, s->pool, &s->searcher, error);
}

wfre_status wfre_session_create(wfre_engine *engine, const wfre_session_options *options,
                                wfre_session **result, wfre_error *error)
{
    wfre_session *session = wfre_alloc_zero(1, sizeof *session);
    if (!session)
        return wfre_fail_memory(error, "opening a session");
    session->engine = wfre_engine_ref(engine);
    session->pool = options ? options->pool : NULL;
    session->budget.limit = options ? options->bytes : 0;
    size_t share = session->budget.limit / TABLES / sizeof(float);
    session->table = session->budget.limit && share < LARGEST_TABLE ? share : LARGEST_TABLE;
    wfre_scope before = wfre_session_enter(session, NULL, 0);
    wfre_status status = make_workspace(session, error);
    (void)wfre_scope_enter(before);
    if (status == WFRE_OK)
        *result = session;
    else
        wfre_session_free(session);
    return status;
}

wfre_status wfre_session_open(const wfre_graph *graph, const wfre_model *model, wfre_pool *pool,
                              wfre_session **session, wfre_error *error)
{
    wfre_engine *engine = NULL;
    wfre_engine_options options;
    wfre_engine_options_default(&options);
    options.later = true;
    CHECK(wfre_engine_open(graph, model, &options, pool, NULL, &engine, error));
    wfre_status status =
        wfre_session_create(engine, &(wfre_session_options){.pool = pool}, session, error);
    wfre_engine_unref(engine);
    return status;
}

void wfre_session_free(wfre_session *session)
{
    if (!session)
        return;
    wfre_scope before = wfre_scope_enter((wfre_scope){.budget = &session->budget});
    wfre_free(session->scores);
    wfre_edges_free(session->edges);
    wfre_searcher_free(session->searcher);
    wfre_embedder_free(session->embedder);
    wfre_linalg_free(session->linalg);
    wfre_exact_free(session->exact);
    (void)wfre_scope_enter(before);
    wfre_engine_unref(session->engine);
    wfre_free(session);
}

const wfre_engine *wfre_session_engine(const wfre_session *session)
{
    return session->engine;
}

size_t wfre_session_bytes(const wfre_session *session)
{
    return sizeof *session + atomic_load(&session->budget.used);
}

wfre_scope wfre_session_enter(wfre_session *session, wfre_cancel *cancel, double deadline)
{
    return wfre_scope_enter(
        (wfre_scope){.budget = &session->budget, .cancel = cancel, .deadline = deadline});
}

wfre_status wfre_session_prepare(wfre_session *session, wfre_error *error)
{
    wfre_scope scope = wfre_scope_current(), before = scope;
    scope.budget = &session->engine->budget;
    (void)wfre_scope_enter(scope);
    wfre_status status = wfre_search_prepare(session->searcher, error);
    (void)wfre_scope_enter(before);
    return status;
}

wfre_status wfre_session_ranks(wfre_session *session, bool filtered, const wfre_index_ranks **ranks,
                               wfre_error *error)
{
    wfre_scope scope = wfre_scope_current(), before = scope;
    scope.budget = &session->engine->budget;
    (void)wfre_scope_enter(scope);
    wfre_status status =
        wfre_index_ranks_of(session->engine->index, filtered, session->pool, ranks, error);
    (void)wfre_scope_enter(before);
    return status;
}

float *wfre_session_table(wfre_session *session, size_t rows)
{
    size_t entities = session->engine->model->entity_count;
    bool fits = wfre_reserve(&session->scores, &session->score_capacity, rows,
                             entities * sizeof *session->scores);
    return fits ? session->scores : NULL;
}

size_t wfre_session_rows(const wfre_session *session)
{
    return session->table / (session->engine->model->entity_count + (size_t)1) + 1;
}
