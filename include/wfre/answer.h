/* Asking: the answers that a graph proves and, apart from them, those that a model predicts.
 *
 *     wfre_asker *asker = NULL;
 *     wfre_error error;
 *     wfre_answers answers;
 *     wfre_ask_options options;
 *     wfre_ask_options_default(&options);
 *     if (wfre_asker_create(graph, model, pool, &asker, &error) == WFRE_OK)
 *         status = wfre_ask(asker, query, &options, NULL, &answers, &error);
 *     wfre_asker_free(asker);
 */
#ifndef WFRE_ANSWER_H
#define WFRE_ANSWER_H

#include "wfre/model.h"
#include "wfre/query.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Holds what answering takes; for one thread at a time. */
typedef struct wfre_asker wfre_asker;

/* Borrows all of them until freed. Without a model (NULL) there are only known answers. Fails with
 * WFRE_ERR_MISMATCH if the model belongs to another graph. */
WFRE_API WFRE_NODISCARD wfre_status wfre_asker_create(const wfre_graph *graph,
                                                      const wfre_model *model, wfre_pool *pool,
                                                      wfre_asker **asker, wfre_error *error);
WFRE_API void wfre_asker_free(wfre_asker *asker);

typedef struct wfre_ask_options {
    wfre_split split; /* the graph that proves */
    bool known;       /* whether to list the answers that it proves ... */
    bool predicted;   /* ... and those that the model predicts */
    size_t top;       /* at most this many predicted ones; the known ones are always all there */
    double min_probability; /* predicted ones below are left out */
    bool exhaustive;        /* score every entity instead of estimating most of them */
    double timeout;         /* seconds for the known ones; 0: no limit */
} wfre_ask_options;

/* The whole graph, both kinds, 10 predicted ones of any probability. */
WFRE_API void wfre_ask_options_default(wfre_ask_options *options);

typedef struct wfre_prediction {
    wfre_entity entity;
    double score;       /* the model's logit, gamma - rho * distance; of a model that answers by
                         * edges, the logarithm of a truth value. Higher is better */
    double probability; /* that it is an answer; NAN if the model is not calibrated, or answers by
                         * edges but had to embed this question */
} wfre_prediction;

/* Valid until the asker's next question. No entity is in both lists. */
typedef struct wfre_answers {
    wfre_list known;                  /* ascending */
    const wfre_prediction *predicted; /* best first */
    size_t predicted_count;
    const char *unpredicted; /* why the model cannot predict, as a sentence; else NULL */
    size_t scored; /* entities that the model scored exactly; by edges all or not counted */
} wfre_answers;

/* Answers a question. What the graph refutes, by an edge that the question denies, is not
 * predicted. A formula that is not an operator tree is answered exactly; `unpredicted` then says
 * which part of it cannot be embedded. */
WFRE_API WFRE_NODISCARD wfre_status wfre_ask(wfre_asker *asker, const wfre_query *query,
                                             const wfre_ask_options *options,
                                             const wfre_monitor *monitor, wfre_answers *answers,
                                             wfre_error *error);

/* The same for many questions, which together take less time than one after the other. `queries`
 * and `answers` have `count` entries: answers[i] are those of queries[i]. */
WFRE_API WFRE_NODISCARD wfre_status wfre_ask_many(wfre_asker *asker,
                                                  const wfre_query *const *queries, size_t count,
                                                  const wfre_ask_options *options,
                                                  const wfre_monitor *monitor,
                                                  wfre_answers *answers, wfre_error *error);
/* Does now what answering would otherwise do before its first prediction. That takes milliseconds,
 * or up to seconds with a million entities if the model was not prepared (wfre_model_prepare)
 * before it was saved. */
WFRE_API WFRE_NODISCARD wfre_status wfre_asker_prepare(wfre_asker *asker, wfre_error *error);

/* ---- explanations ------------------------------------------------------------------------- */

typedef enum wfre_explain_format {
    WFRE_EXPLAIN_TEXT, /* the sets at each operator; for each predicted answer the likeliest
                          entities for the variables, and which edges are known or predicted */
    WFRE_EXPLAIN_SVG   /* the operator tree with the sets, as a drawing */
} wfre_explain_format;

enum { WFRE_EXPLAINED = 16 };

/* Explains the first WFRE_EXPLAINED predicted answers: `answers` are those of the asker's last
 * question, asked with these options. Release the text with wfre_string_free. Fails with
 * WFRE_ERR_UNSUPPORTED if nothing could be predicted. */
WFRE_API WFRE_NODISCARD wfre_status wfre_explain(wfre_asker *asker, const wfre_query *query,
                                                 const wfre_ask_options *options,
                                                 const wfre_answers *answers,
                                                 wfre_explain_format format, char **text,
                                                 wfre_error *error);

/* ---- entities added after training -------------------------------------------------------- */

typedef struct wfre_add_options {
    const char *triples; /* anything that wfre_import reads; all of it counts as training data */
    const char *format;  /* of the triples, and whether literals and blank nodes are kept: as in */
    bool literals;       /* wfre_import_options */
    const char *graph;   /* the files to write */
    const char *model;
    uint32_t steps; /* of fitting an entity; 0: it becomes a copy of the one most like it */
} wfre_add_options;

/* 40 steps. The files are the caller's to fill in. */
WFRE_API void wfre_add_options_default(wfre_add_options *options);

typedef struct wfre_addition {
    uint32_t entities; /* that are new */
    uint64_t triples;
    uint64_t literals, blanks; /* triples left out for a literal, for a blank node */
    double seconds;            /* for fitting the entities */
} wfre_addition;

/* Writes a graph with more triples and a model that knows their entities: a new one gets a
 * histogram fitted to its triples with known entities, the rest of the model stays as it is. Fails
 * with WFRE_ERR_NOT_FOUND for a relation that the model has not learned. Old entities keep their
 * ids. */
WFRE_API WFRE_NODISCARD wfre_status wfre_add(const wfre_graph *graph, const wfre_model *model,
                                             const wfre_add_options *options, wfre_pool *pool,
                                             const wfre_monitor *monitor, wfre_addition *report,
                                             wfre_error *error);

#ifdef __cplusplus
}
#endif

#endif
