/* Everyday questions, beside those of wfre/answer.h for one entity: whether something holds, rows
 * of several variables, relations, counts, all about one entity, how likely given triples are, what
 * is near, and names as they are being typed.
 *
 * Text goes through wfre_command_parse first ("describe a", "near a"), and if that knows it not,
 * through wfre_query_parse; whatever query comes out, wfre_session_reply answers it. */
#ifndef WFRE_EVERYDAY_H
#define WFRE_EVERYDAY_H

#include "wfre/answer.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- questions for any number of variables ------------------------------------------------ */

/* What is known of a sentence or a triple. */
typedef enum wfre_verdict {
    WFRE_VERDICT_NONE,      /* there is nothing to judge: the question asks for variables */
    WFRE_VERDICT_PROVEN,    /* it holds in the graph as it is, which lacks what it denies */
    WFRE_VERDICT_REFUTED,   /* no edge that may be missing could make it hold */
    WFRE_VERDICT_PREDICTED, /* neither; the probability says how likely it is */
    WFRE_VERDICT_UNKNOWN    /* neither, and nothing can be predicted */
} wfre_verdict;
/* "proven", "refuted", "predicted", "unknown"; "" for none. */
WFRE_API const char *wfre_verdict_name(wfre_verdict verdict);

typedef struct wfre_predicted_row {
    const uint32_t *ids;                            /* one for each column */
    double score, probability, missing_probability; /* as in wfre_prediction */
} wfre_predicted_row;

/* The answers to one question. Columns are those of the query (wfre_query_column_name), but for the
 * counted ones (wfre_query_counted), which come last there and are no columns here. */
typedef struct wfre_reply {
    uint32_t width;    /* columns; 0 if only whether it holds, or how many there are, is asked */
    wfre_tuples known; /* ascending; `complete` is false if there may be more */
    uint64_t total;    /* known rows, if they are complete; else as many as were found */
    const wfre_predicted_row *predicted; /* best first; none of them is known or refuted */
    size_t predicted_count;
    const char *unpredicted; /* why nothing is predicted, as a sentence; else NULL */

    /* Of a question without variables. */
    wfre_verdict verdict;
    double score, probability; /* of the sentence: 1 if proven, 0 if refuted, NAN if unknown */

    /* Of a question that counts: counts[i] belongs to row i of `known`, which has one row without
     * ids if the width is 0. */
    const uint64_t *counts;
    double expected; /* how many more there are by the model, of a question that counts all in one
                      * number; NAN if it cannot say */
} wfre_reply;

/* Answers any query. options.top bounds the predicted rows; `most` the known ones that are listed
 * (0: all). A timeout holds for the whole.
 *
 * Predicted rows: the first variable that can be asked for alone (all others existential) gets its
 * known values and its best predicted ones; if none can, the first one gets the values that it has
 * in known rows; at most WFRE_ROW_VALUES of them. Each is put into the question, which is then
 * asked for the other variables. The probability of a row is that of its last variable with all
 * others given. A variable for a relation is predicted in ?r(a, b), ?r(a, ?y) and ?r(?x, b): the
 * relations that a and b have or usually have (see wfre_session_describe) are tried.
 *
 * A sentence: an atom is as likely as the end says that is surer of it, `&` multiplies, `|` takes
 * the best, `!` takes from 1, `exists` takes the likeliest answer.
 *
 * Release it with wfre_reply_free. */
enum { WFRE_ROW_VALUES = 64 };
WFRE_API WFRE_NODISCARD wfre_status wfre_session_reply(wfre_session *session,
                                                       const wfre_question *question, size_t most,
                                                       wfre_cancel *cancel, wfre_reply **reply,
                                                       wfre_error *error);
WFRE_API void wfre_reply_free(wfre_reply *reply);

/* One JSON object on one line, as wfre_answers_print_json: rows are arrays of objects. */
WFRE_API WFRE_NODISCARD wfre_status wfre_reply_print_json(const wfre_graph *graph,
                                                          const wfre_question *question,
                                                          const wfre_reply *reply,
                                                          const wfre_answers_json *options,
                                                          char **json, wfre_error *error);

/* ---- given triples ------------------------------------------------------------------------ */

typedef struct wfre_given_triple {
    wfre_entity head;
    wfre_relation relation; /* may be an inverse */
    wfre_entity tail;
} wfre_given_triple;

typedef struct wfre_scored_triple {
    wfre_verdict verdict; /* proven, predicted, or unknown without a model */
    /* As in wfre_prediction; of the end that is surer of it. 1 if it is proven; the score is NAN
     * then. */
    double score, probability, missing_probability;
} wfre_scored_triple;

/* How likely triples are; scores[i] is of triples[i]. Of the options split, way and timeout count.
 * Triples that share an end and a relation together take less time. Fails with WFRE_ERR_ARGUMENT
 * for ids that the graph does not have. */
WFRE_API WFRE_NODISCARD wfre_status
wfre_session_score(wfre_session *session, const wfre_given_triple *triples, size_t count,
                   const wfre_ask_options *options, wfre_cancel *cancel, wfre_scored_triple *scores,
                   wfre_error *error);

/* ---- one entity --------------------------------------------------------------------------- */

/* The edges of an entity by one relation; an inverse (odd) one leads to those that have the entity
 * as their tail. */
typedef struct wfre_described_relation {
    wfre_relation relation;
    wfre_list targets; /* of the graph */
} wfre_described_relation;

/* A triple with a literal or a blank node. */
typedef struct wfre_described_attribute {
    wfre_name property; /* its IRI */
    wfre_name label;    /* of the property */
    wfre_name value;
    wfre_name datatype; /* IRI; of a literal */
    wfre_name language; /* if it has one */
} wfre_described_attribute;

typedef struct wfre_description {
    wfre_entity entity;
    const wfre_described_relation *relations; /* those that it has, ascending */
    size_t relation_count;
    uint64_t edge_count;
    const wfre_described_attribute *attributes;
    size_t attribute_count;
    const wfre_missing_triple *missing; /* its likeliest missing edges, likeliest first */
    size_t missing_count;
    const char *unpredicted; /* why none are predicted, as a sentence; else NULL */
} wfre_description;

typedef struct wfre_describe_options {
    wfre_split split;
    size_t missing;         /* at most this many missing edges; 0: do not look */
    double min_probability; /* less likely ones are left out */
    double timeout;         /* seconds; 0: no limit */
    const wfre_way *way;    /* NULL: as the model says */
    double missing_rate;    /* as in wfre_ask_options */
} wfre_describe_options;

/* The whole graph, 10 missing edges of any probability. */
WFRE_API void wfre_describe_options_default(wfre_describe_options *options);

/* All that is known of an entity, and what seems to be missing: it is asked for more by every
 * relation that it has, and by those that at least a fifth of the entities have that share its
 * rarest relation. Release it with wfre_description_free. */
WFRE_API WFRE_NODISCARD wfre_status wfre_session_describe(wfre_session *session, wfre_entity entity,
                                                          const wfre_describe_options *options,
                                                          wfre_cancel *cancel,
                                                          wfre_description **description,
                                                          wfre_error *error);
WFRE_API void wfre_description_free(wfre_description *description);
/* One JSON object on one line; at most `top` targets of each relation. Release it with
 * wfre_string_free. */
WFRE_API WFRE_NODISCARD wfre_status wfre_description_print_json(const wfre_graph *graph,
                                                                const wfre_description *description,
                                                                size_t top, char **json,
                                                                wfre_error *error);

/* The entities whose histograms are nearest to the entity's by the model's score, best first;
 * *count is their number, at most `capacity`. Probabilities are NAN: this is likeness, no answer.
 * Fails with WFRE_ERR_UNSUPPORTED without a model. */
WFRE_API WFRE_NODISCARD wfre_status wfre_session_nearest(wfre_session *session, wfre_entity entity,
                                                         wfre_cancel *cancel,
                                                         wfre_prediction *nearest, size_t capacity,
                                                         size_t *count, wfre_error *error);

/* What a text asks for that is no query. */
typedef enum wfre_command {
    WFRE_COMMAND_NONE,     /* read it as a query */
    WFRE_COMMAND_DESCRIBE, /* describe ENTITY */
    WFRE_COMMAND_NEAR      /* near ENTITY */
} wfre_command;

/* Recognises "describe NAME" and "near NAME", the name written as in a query; quotes may be left
 * out around blanks. DESCRIBE in capitals is SPARQL's; ask this before wfre_sparql_recognises.
 * Fails, with the offset, if there is no such entity. */
WFRE_API WFRE_NODISCARD wfre_status wfre_command_parse(const wfre_graph *graph, const char *text,
                                                       size_t length, wfre_command *command,
                                                       wfre_entity *entity, wfre_error *error);

/* ---- missing triples as text --------------------------------------------------------------- */

typedef enum wfre_triples_format {
    WFRE_TRIPLES_TSV,  /* head, relation, tail, probability; tabs, ends of lines and backslashes in
                          names as \t \n \r \\ */
    WFRE_TRIPLES_NT,   /* N-Triples; the probability is a comment behind the triple */
    WFRE_TRIPLES_JSON, /* one object a line */
    WFRE_TRIPLES_FORMATS
} wfre_triples_format;
/* "tsv", "nt", "jsonl". */
WFRE_API const char *wfre_triples_format_name(wfre_triples_format format);

/* A line for each triple. Release it with wfre_string_free. */
WFRE_API WFRE_NODISCARD wfre_status wfre_missing_triples_print(
    const wfre_graph *graph, const wfre_missing_triple *triples, size_t count,
    wfre_triples_format format, char **text, size_t *length, wfre_error *error);

/* ---- names while they are typed ----------------------------------------------------------- */

/* How a name or label fits what is typed, best first. */
typedef enum wfre_match {
    WFRE_MATCH_EXACT,
    WFRE_MATCH_PREFIX,
    WFRE_MATCH_WORD, /* a word within begins so */
    WFRE_MATCH_PART  /* somewhere within */
} wfre_match;

typedef struct wfre_completion {
    bool is_relation;
    uint32_t id; /* an entity; or a relation, which is an inverse only if `of` asks for such */
    wfre_match match;
    bool fits;      /* it can stand there, as far as the graph knows */
    uint64_t count; /* triples that it is in */
} wfre_completion;

typedef struct wfre_complete_options {
    bool entities,
        relations; /* what to look for; relations come before entities that match alike */
    /* Entities that have this directed relation going out come first; WFRE_NONE: no matter. For
     * the tail of relation r that is r ^ 1. */
    wfre_relation having;
    /* Relations that one of these entities has going out come first, inverses (odd) included; at
     * most 1,000 are looked at. Without any, no matter, and all are forward. */
    wfre_list of;
    bool only; /* leave out what does not fit instead of putting it last */
} wfre_complete_options;

/* Entities and relations, nothing else. */
WFRE_API void wfre_complete_options_default(wfre_complete_options *options);

/* The names that go on with a text, or have it within: case and the difference of blank, '_' and
 * '-' are ignored. Names, labels and the local names of IRIs are looked at. Those that fit come
 * first, then by match, then those in most triples. All fit an empty text. The first call on an
 * engine builds an index of all names (0.3 s for a million); any thread may call. */
WFRE_API WFRE_NODISCARD wfre_status wfre_engine_complete(wfre_engine *engine, const char *text,
                                                         size_t length,
                                                         const wfre_complete_options *options,
                                                         wfre_completion *items, size_t capacity,
                                                         size_t *count, wfre_error *error);

#ifdef __cplusplus
}
#endif

#endif
