/* Engines and sessions: what is known, and the workspace of whoever asks.
 *
 *   graph, model ──> engine ──> session ──> answers (wfre/answer.h), standings (wfre/eval.h)
 *                    shared     one thread
 *
 * An engine holds a graph, a model, and everything that is derived from them and costs time or
 * memory: relation matrices, search tables, counts of missing edges. It never changes after it was
 * opened, and any number of threads may use it. It is counted: a server opens a new engine, lets
 * new questions use it, and releases the old one, which goes away with the last session on it.
 *
 * A session is the workspace of one thread: buffers that are reused from question to question,
 * bounded by a limit. It is cheap to create, and must not be used by two threads at the same time.
 *
 * Threads. Engines, graphs and models may be read by all threads. Sessions, and what they hand out
 * until it is freed, belong to one thread at a time, which need not be always the same. A pool may
 * be shared by sessions, whose work then takes turns: a server with a session for each core gives
 * them none (NULL), a single caller gives one with all cores. wfre_cancel_now and wfre_cancel_after
 * may be called by any thread. After fork() the child may use none of these but free what it has;
 * it opens its own. */
#ifndef WFRE_ENGINE_H
#define WFRE_ENGINE_H

#include "wfre/graph.h"
#include "wfre/model.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct wfre_engine wfre_engine;
typedef struct wfre_session wfre_session;

typedef struct wfre_engine_options {
    /* Relation matrices are kept if all of them take no more than this; else they are made again
     * for every question. */
    uint64_t matrix_bytes;
    bool later; /* a model that was not prepared when it was saved is prepared for search by the
                 * first question, not now: for who measures by embedding, and needs it not */
} wfre_engine_options;

/* 1.5 GB of matrices, prepared at once. */
WFRE_API void wfre_engine_options_default(wfre_engine_options *options);

/* Without a model (NULL) only what the graph proves can be asked. The engine becomes another owner
 * of graph and model, so that the caller may close them at once; it fails with WFRE_ERR_MISMATCH if
 * they do not belong together. Preparing a model that was not prepared when it was saved takes up
 * to seconds for a million entities: `pool`, needed for that alone, may be NULL, as may be options
 * and cancel. */
WFRE_API WFRE_NODISCARD wfre_status wfre_engine_open(const wfre_graph *graph,
                                                     const wfre_model *model,
                                                     const wfre_engine_options *options,
                                                     wfre_pool *pool, wfre_cancel *cancel,
                                                     wfre_engine **engine, wfre_error *error);
/* Another owner, who releases it as well; returns the engine. */
WFRE_API wfre_engine *wfre_engine_ref(wfre_engine *engine);
WFRE_API void wfre_engine_unref(wfre_engine *engine);

WFRE_API const wfre_graph *wfre_engine_graph(const wfre_engine *engine);
/* NULL if there is none. */
WFRE_API const wfre_model *wfre_engine_model(const wfre_engine *engine);
/* How the model says that questions are answered. */
WFRE_API wfre_way wfre_engine_way(const wfre_engine *engine);
/* Memory of what is derived, which grows with what was asked; graph and model not included. */
WFRE_API size_t wfre_engine_bytes(const wfre_engine *engine);

typedef struct wfre_session_options {
    wfre_pool *pool; /* borrowed until the session's last task; NULL: the calling thread alone */
    size_t bytes;    /* what it may take; 0: no limit. A question that needs more fails with
                      * WFRE_ERR_MEMORY, and the session goes on */
} wfre_session_options;

/* options may be NULL. The session becomes an owner of the engine. */
WFRE_API WFRE_NODISCARD wfre_status wfre_session_create(wfre_engine *engine,
                                                        const wfre_session_options *options,
                                                        wfre_session **session, wfre_error *error);
WFRE_API void wfre_session_free(wfre_session *session);
WFRE_API const wfre_engine *wfre_session_engine(const wfre_session *session);
/* Memory it has now. */
WFRE_API size_t wfre_session_bytes(const wfre_session *session);

#ifdef __cplusplus
}
#endif

#endif
