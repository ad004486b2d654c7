/* Asking: the answers that a graph proves and, apart from them, those that a model predicts.
 *
 *     wfre_engine *engine = NULL;      shared by all threads
 *     wfre_session *session = NULL;    of this one
 *     wfre_answers *answers = NULL;
 *     wfre_question question = {.query = query};
 *     wfre_ask_options_default(&question.options);
 *     if (wfre_engine_open(graph, model, NULL, NULL, NULL, &engine, &error) == WFRE_OK &&
 *         wfre_session_create(engine, NULL, &session, &error) == WFRE_OK &&
 *         wfre_session_ask(session, &question, 1, NULL, &answers, &error) == WFRE_OK)
 *         ... answers[0].known, answers[0].predicted ...
 *     wfre_answers_free(answers);
 *     wfre_session_free(session);
 *     wfre_engine_unref(engine);
 */
#ifndef WFRE_ANSWER_H
#define WFRE_ANSWER_H

#include "wfre/engine.h"
#include "wfre/query.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct wfre_ask_options {
    wfre_split split; /* the graph that proves */
    bool known;       /* whether to list the answers that it proves ... */
    bool predicted;   /* ... and those that the model predicts */
    size_t top;       /* at most this many predicted ones; the known ones are always all there */
    double min_probability; /* predicted ones below are left out */
    double timeout;         /* seconds for this question; 0: no limit */
    const wfre_way *way;    /* how it is answered; NULL: as the model says */
    double missing_rate;    /* share of what is true that the graph lacks, if its owner knows:
                             * scales the odds of `probability`; 0: as was held out of the split */
} wfre_ask_options;

/* The whole graph, both kinds, 10 predicted ones of any probability. */
WFRE_API void wfre_ask_options_default(wfre_ask_options *options);

typedef struct wfre_question {
    const wfre_query *query;
    wfre_ask_options options;
} wfre_question;

typedef struct wfre_prediction {
    wfre_entity entity;
    double score;       /* the model's logit, gamma - rho * distance; by edges, the logarithm of a
                         * truth value. Higher is better */
    double probability; /* that it is right, whoever asks and whether or not anything is missing
                         * (wfre/model.h says what that means); NAN if the model is not calibrated,
                         * or was asked in another way than it is calibrated for, or had to embed a
                         * question that it cannot answer by edges */
    double missing_probability; /* the same if it is known that an answer is missing here */
} wfre_prediction;

/* The answers to one question. No entity is in both lists. */
typedef struct wfre_answers {
    wfre_status status;  /* of this question alone; the rest is empty unless it is WFRE_OK */
    const char *message; /* what went wrong, one line; NULL if nothing did */
    wfre_list known;     /* ascending */
    const wfre_prediction *predicted; /* best first */
    size_t predicted_count;
    const char *unpredicted; /* why the model cannot predict, as a sentence; else NULL */
    size_t scored; /* entities that the model scored exactly; by edges all or not counted */
} wfre_answers;

/* Answers questions, which together take less time than one after the other. answers[i] are those
 * of questions[i]; the caller releases the array with wfre_answers_free. What the graph refutes, by
 * an edge that the question denies, is not predicted. A formula that is not an operator tree is
 * answered exactly; `unpredicted` then says which part of it cannot be embedded.
 *
 * A question that fails does not hurt the others; the call itself fails only if nothing can be
 * returned at all. Once `cancel` (NULL for none) says stop, what is not answered yet fails with its
 * status. */
WFRE_API WFRE_NODISCARD wfre_status wfre_session_ask(wfre_session *session,
                                                     const wfre_question *questions, size_t count,
                                                     wfre_cancel *cancel, wfre_answers **answers,
                                                     wfre_error *error);
/* NULL is fine. The session need not be there any more. */
WFRE_API void wfre_answers_free(wfre_answers *answers);

/* One JSON object on one line, without a newline: at most `top` known answers, and all predicted
 * ones; `text` is the question as it was asked. Release it with wfre_string_free. */
typedef struct wfre_answers_json {
    const char *text;
    size_t text_length;
    double seconds; /* it took; left out if negative */
    size_t top;
    const char *explanation; /* or NULL */
} wfre_answers_json;
WFRE_API WFRE_NODISCARD wfre_status wfre_answers_print_json(const wfre_graph *graph,
                                                            const wfre_question *question,
                                                            const wfre_answers *answers,
                                                            const wfre_answers_json *options,
                                                            char **json, wfre_error *error);

/* ---- all that is missing ------------------------------------------------------------------ */

typedef struct wfre_missing_options {
    wfre_split split;       /* the graph that knows */
    size_t top;             /* triples for each entity that has the relation, from either end */
    double min_probability; /* less likely ones are left out */
    const wfre_way *way;    /* NULL: as the model says */
    double missing_rate;    /* as in wfre_ask_options */
} wfre_missing_options;

/* The whole graph, 10 of any probability. */
WFRE_API void wfre_missing_options_default(wfre_missing_options *options);

/* A triple that the graph lacks and the model predicts. */
typedef struct wfre_missing_triple {
    wfre_entity head;
    wfre_relation relation;
    wfre_entity tail;
    double score, probability, missing_probability; /* as in wfre_prediction */
} wfre_missing_triple;

/* Predicts the triples that a relation lacks, likeliest first: every entity that has the relation
 * is asked for more, at both ends. Release them with wfre_missing_triples_free. */
WFRE_API WFRE_NODISCARD wfre_status wfre_session_missing(
    wfre_session *session, wfre_relation relation, const wfre_missing_options *options,
    wfre_cancel *cancel, wfre_missing_triple **triples, size_t *count, wfre_error *error);
WFRE_API void wfre_missing_triples_free(wfre_missing_triple *triples);

/* ---- explanations ------------------------------------------------------------------------- */

enum { WFRE_EXPLAINED = 16 };

/* How a known fact speaks for a predicted edge (h, r, t). */
typedef enum wfre_evidence_kind {
    WFRE_EVIDENCE_HEAD,  /* (h, s, z): others that have it, too, have the edge to t */
    WFRE_EVIDENCE_TAIL,  /* (t, s, z): others that have it, too, have the edge from h */
    WFRE_EVIDENCE_JOINED /* (h, s, t): others that are joined so have the edge, too */
} wfre_evidence_kind;

/* A known fact that speaks for an edge. Head and tail are those of the relation, not of its
 * inverse. */
typedef struct wfre_evidence {
    wfre_evidence_kind kind;
    wfre_entity head;
    wfre_relation relation;
    wfre_entity tail;
    uint64_t cases; /* others of which the same is known ... */
    uint64_t hits;  /* ... and how many of those have the edge */
    double weight; /* how much it speaks for the edge: logarithm of how much likelier it makes it */
    wfre_entity example; /* one of the hits, the one most like h (or t); WFRE_NONE without */
} wfre_evidence;

/* One edge of an explanation; head and tail are those of the relation, not of its inverse. What a
 * negation denies is all of its edges together; they stand one after the other. */
typedef struct wfre_explained_edge {
    wfre_relation relation;
    wfre_entity head, tail;
    uint32_t negation; /* the outermost set above it that is one; WFRE_NONE if there is none */
    bool negated;      /* within that, once more */
    bool known;        /* the graph has it */
    double probability;
    const wfre_evidence *evidence; /* of a predicted one that is not negated; strongest first */
    size_t evidence_count;
} wfre_explained_edge;

/* Why one answer is known or predicted: the likeliest entities for the question's variables, and
 * the edges that join them. An answer with several derivations stands there several times. */
typedef struct wfre_explained_answer {
    wfre_prediction prediction;
    bool known;                  /* the graph proves it: so do the edges */
    double derivation;           /* what the probabilities of its edges come to, as `rule` says */
    const wfre_entity *entities; /* of each variable; WFRE_NONE if it plays no part */
    const wfre_explained_edge *edges;
    size_t edge_count;
} wfre_explained_answer;

/* One operator of the question, and the set of entities that it comes to. */
typedef struct wfre_explained_set {
    const char *label; /* "directed(?d, ?f)", "and", "or", "not", or an entity */
    uint32_t parent;   /* WFRE_NONE for the first, which is the whole */
    uint32_t depth;    /* operators above it */
    uint32_t variable; /* whose values it restricts; WFRE_NONE for an entity */
    wfre_list known;
    const wfre_prediction *predicted; /* best first; none for entities and negations */
    size_t predicted_count;
} wfre_explained_set;

/* An explanation as data; all of it lives until it is freed. */
typedef struct wfre_explanation {
    const wfre_explained_set *sets; /* parents before children */
    uint32_t set_count;
    const char *const *variables; /* names; the first is the one asked for */
    uint32_t variable_count;
    const wfre_explained_answer *answers;
    size_t answer_count;
    bool calibrated;  /* else probabilities only order */
    const char *rule; /* how the probabilities of edges combine to the answer's: a sentence */
} wfre_explanation;

typedef struct wfre_explain_options {
    const wfre_entity *entities; /* answers to explain, known or predicted; NULL: the first
                                  * WFRE_EXPLAINED predicted ones */
    size_t entity_count;         /* at most WFRE_EXPLAINED count */
    size_t derivations;          /* of a known answer that are shown, at most */
    size_t evidence;             /* facts for each predicted edge, at most */
} wfre_explain_options;

/* The predicted answers, one derivation, three facts an edge. */
WFRE_API void wfre_explain_options_default(wfre_explain_options *options);

/* Explains answers; `answers` are those of this question, options may be NULL. Fails with
 * WFRE_ERR_UNSUPPORTED if nothing could be predicted. */
WFRE_API WFRE_NODISCARD wfre_status
wfre_session_explain_some(wfre_session *session, const wfre_question *question,
                          const wfre_answers *answers, const wfre_explain_options *options,
                          wfre_cancel *cancel, wfre_explanation **explanation, wfre_error *error);
/* The same with the usual options. */
WFRE_API WFRE_NODISCARD wfre_status wfre_session_explain(
    wfre_session *session, const wfre_question *question, const wfre_answers *answers,
    wfre_cancel *cancel, wfre_explanation **explanation, wfre_error *error);
WFRE_API void wfre_explanation_free(wfre_explanation *explanation);

typedef enum wfre_explain_format {
    WFRE_EXPLAIN_TEXT, /* the sets at each operator; for each predicted answer the likeliest
                          entities for the variables, and which edges are known or predicted */
    WFRE_EXPLAIN_SVG,  /* the operator tree with the sets, as a drawing */
    WFRE_EXPLAIN_JSON  /* all of it, one object on one line */
} wfre_explain_format;

/* Release the text with wfre_string_free. */
WFRE_API WFRE_NODISCARD wfre_status wfre_explanation_print(const wfre_graph *graph,
                                                           const wfre_explanation *explanation,
                                                           wfre_explain_format format, char **text,
                                                           wfre_error *error);

#ifdef __cplusplus
}
#endif

#endif
