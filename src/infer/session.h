/* Engines and sessions from the inside (wfre/engine.h says what they are for). */
#ifndef WFRE_SRC_INFER_SESSION_H
#define WFRE_SRC_INFER_SESSION_H

#include <pthread.h>

#include "base/memory.h"
#include "base/scope.h"
#include "exact/exact.h"
#include "graph/kinds.h"
#include "graph/missing.h"
#include "graph/name_index.h"
#include "infer/way_edges.h"
#include "search/search.h"
#include "wfre/engine.h"

struct wfre_engine {
    _Atomic uint32_t others; /* owners besides the first */
    wfre_graph *graph;
    wfre_model *model; /* or NULL; then so are matrices and index */
    wfre_matrices *matrices;
    wfre_index *index;
    wfre_budget budget; /* of what is derived, but for matrices, which count themselves */
    pthread_mutex_t measuring;
    wfre_missing_counts missing[WFRE_SPLITS]; /* of a split, once has_missing says so */
    _Atomic bool has_missing[WFRE_SPLITS];
    wfre_kinds *kinds[WFRE_SPLITS]; /* of a split; NULL until asked for, under `measuring` */
    wfre_name_index *names[2];      /* of entities and of relations, once has_names says so */
    _Atomic bool has_names;
};

struct wfre_session {
    wfre_engine *engine;
    wfre_pool *pool;
    wfre_budget budget;
    size_t table; /* numbers that a table of scores should have at most, but of one question */
    wfre_exact *exact;
    wfre_linalg *linalg; /* these only with a model */
    wfre_embedder *embedder;
    wfre_searcher *searcher;
    wfre_edges *edges; /* NULL until needed */
    float *scores;     /* the table at work */
    size_t score_capacity;
};

/* A session on an engine of its own, for who uses a model just now: search is prepared when first
 * needed. The model may change again when the session is freed. Without a graph (NULL) nothing is
 * known, and questions are embedded, whatever their way. */
WFRE_NODISCARD wfre_status wfre_session_open(const wfre_graph *graph, const wfre_model *model,
                                             wfre_pool *pool, wfre_session **session,
                                             wfre_error *error);

/* Enters the session's scope until the call returns; gives the one before back to. */
wfre_scope wfre_session_enter(wfre_session *session, wfre_cancel *cancel, double deadline);

/* How many edges entities lack, as the split shows it; made when first asked for. */
WFRE_NODISCARD wfre_status wfre_engine_missing(wfre_engine *engine, wfre_split split,
                                               const wfre_missing_counts **missing,
                                               wfre_error *error);

/* What entities are otherwise, and what that weighs at each of `count` places; weights[i] lives as
 * long as the engine. */
WFRE_NODISCARD wfre_status wfre_engine_kinds(wfre_engine *engine, wfre_split split,
                                             const wfre_relation *places, size_t count,
                                             const wfre_kinds **kinds, const float **weights,
                                             wfre_error *error);

/* All names, ready for search: of the entities, then of the relations; made when first asked for.
 * The engine must have a graph. */
WFRE_NODISCARD wfre_status wfre_engine_names(wfre_engine *engine,
                                             const wfre_name_index *const **names,
                                             wfre_error *error);

/* Makes the engine's search ready, if it is not yet: before the searcher is used. */
WFRE_NODISCARD wfre_status wfre_session_prepare(wfre_session *session, wfre_error *error);

/* What measuring takes, made when first asked for. */
WFRE_NODISCARD wfre_status wfre_session_ranks(wfre_session *session, bool filtered,
                                              const wfre_index_ranks **ranks, wfre_error *error);

/* Room for a table of `rows` rows in the session; NULL when out of memory. */
float *wfre_session_table(wfre_session *session, size_t rows);
/* How many rows a table should have at most; at least 1. */
size_t wfre_session_rows(const wfre_session *session);

#endif
