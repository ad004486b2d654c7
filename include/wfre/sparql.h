/* SPARQL 1.1 queries over a graph: read them, check them, answer them, write their results.
 *
 *     wfre_sparql *query = NULL;
 *     wfre_rdf_view *view = NULL;
 *     if (wfre_sparql_parse(text, strlen(text), NULL, &query, &error) == WFRE_OK &&
 *         wfre_rdf_view_open(graph, WFRE_TEST, &view, &error) == WFRE_OK)
 *         status = wfre_sparql_write(query, view, NULL, WFRE_SPARQL_JSON, output, &error);
 *     wfre_rdf_view_close(view);
 *     wfre_sparql_free(query);
 *
 * A plain query sees what the graph says and nothing else. What a model predicts comes from
 * SERVICE <urn:wfre:ns#predict> { ... } only. docs/SPARQL.md says what is supported. */
#ifndef WFRE_SPARQL_H
#define WFRE_SPARQL_H

#include "wfre/answer.h"
#include "wfre/graph.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- queries ------------------------------------------------------------------------------ */

/* A query that was read; it may be run by many threads at once. */
typedef struct wfre_sparql wfre_sparql;

/* What is declared before the query begins. */
typedef struct wfre_sparql_options {
    const char *base; /* NULL: relative IRIs are refused unless the query has a BASE */
    /* Prefixes that a query does not declare are those of this graph's sources; e: and r: are those
     * of names that are no IRIs. NULL: e: and r: only. */
    const wfre_graph *graph;
    double timeout;      /* reading takes at most so many seconds; 0: any number */
    wfre_cancel *cancel; /* reading stops with it; NULL: nothing does */
} wfre_sparql_options;

/* Reads and checks a query; no graph is needed. `options` may be NULL. On failure error->offset is
 * the byte of the text at fault. */
WFRE_API WFRE_NODISCARD wfre_status wfre_sparql_parse(const char *text, size_t length,
                                                      const wfre_sparql_options *options,
                                                      wfre_sparql **query, wfre_error *error);
WFRE_API void wfre_sparql_free(wfre_sparql *query);
/* Whether a question is meant as SPARQL: its first word is one that a query begins with. */
WFRE_API bool wfre_sparql_recognises(const char *text, size_t length);

typedef enum wfre_sparql_form {
    WFRE_SPARQL_SELECT,
    WFRE_SPARQL_ASK,
    WFRE_SPARQL_CONSTRUCT,
    WFRE_SPARQL_DESCRIBE
} wfre_sparql_form;

WFRE_API wfre_sparql_form wfre_sparql_get_form(const wfre_sparql *query);
/* The variables of a SELECT, without the question mark, owned by the query. */
WFRE_API size_t wfre_sparql_columns(const wfre_sparql *query);
WFRE_API wfre_name wfre_sparql_column(const wfre_sparql *query, size_t index);

/* The graphs that FROM and FROM NAMED (*named) ask for: whole IRIs, owned by the query. */
WFRE_API size_t wfre_sparql_sources(const wfre_sparql *query);
WFRE_API wfre_name wfre_sparql_source(const wfre_sparql *query, size_t index, bool *named);

/* ---- graphs as RDF ------------------------------------------------------------------------ */

/* A graph at one split, seen as RDF. It may be read by many threads at once; the graph must stay
 * open as long. */
typedef struct wfre_rdf wfre_rdf_view;

WFRE_API WFRE_NODISCARD wfre_status wfre_rdf_view_open(const wfre_graph *graph, wfre_split split,
                                                       wfre_rdf_view **view, wfre_error *error);
WFRE_API void wfre_rdf_view_close(wfre_rdf_view *view);
/* Edges of the split, and attributes. */
WFRE_API uint64_t wfre_rdf_view_triples(const wfre_rdf_view *view);
/* The names of its named graphs, and how many triples each has; false at the end. */
WFRE_API bool wfre_rdf_view_named_graph(const wfre_rdf_view *view, size_t index, wfre_name *iri,
                                        uint64_t *triples);

/* The IRI of an entity, or of a relation (an inverse has that of its relation), as SPARQL sees it.
 * Release it with wfre_string_free. */
WFRE_API WFRE_NODISCARD wfre_status wfre_rdf_view_entity_iri(const wfre_rdf_view *view,
                                                             wfre_entity entity, char **iri,
                                                             wfre_error *error);
WFRE_API WFRE_NODISCARD wfre_status wfre_rdf_view_relation_iri(const wfre_rdf_view *view,
                                                               wfre_relation relation, char **iri,
                                                               wfre_error *error);

/* ---- running ------------------------------------------------------------------------------ */

typedef struct wfre_sparql_limits {
    double timeout; /* seconds; 0: none */
    size_t memory;  /* bytes for sorting, grouping, DISTINCT and made-up terms; 0: 1 GB */
    uint64_t rows;  /* more is an error; 0: any number */
} wfre_sparql_limits;

typedef struct wfre_sparql_run_options {
    wfre_sparql_limits limits;
    wfre_session *session; /* what predicts; NULL: SERVICE wfre:predict is refused */
    wfre_cancel *cancel;   /* every loop looks at it; NULL: none */
    uint64_t seed;         /* of RAND, UUID and STRUUID; 0: another one each time */
    /* A SELECT of one variable gets what the session predicts behind its proven rows: at most
     * `top` more (0: 10), none below `threshold`, and none beyond the query's LIMIT. Other queries
     * are refused. For clients that cannot write SERVICE wfre:predict. */
    bool predicted;
    uint64_t top;
    double threshold;
    /* The graphs that a protocol names, instead of FROM and FROM NAMED: IRIs, NULL for none. */
    const char *const *default_graphs;
    size_t default_graph_count;
    const char *const *named_graphs;
    size_t named_graph_count;
} wfre_sparql_run_options;

/* The name by which a protocol asks for `predicted` in place of a default graph. */
#define WFRE_SPARQL_PREDICTED "urn:wfre:predicted"

typedef enum wfre_sparql_term_kind {
    WFRE_SPARQL_UNBOUND,
    WFRE_SPARQL_IRI,
    WFRE_SPARQL_BLANK,
    WFRE_SPARQL_LITERAL
} wfre_sparql_term_kind;

/* A term of a result. Texts are UTF-8; absent ones have length 0. */
typedef struct wfre_sparql_term {
    wfre_sparql_term_kind kind;
    wfre_name text;     /* the IRI, the label of the blank node, the lexical form */
    wfre_name datatype; /* of a literal; empty for xsd:string and with a language */
    wfre_name language;
    wfre_name label; /* what to show beside an IRI of the graph */
} wfre_sparql_term;

/* Called for each solution of a SELECT (with its columns), and for each triple of a CONSTRUCT or
 * DESCRIBE (with three terms). The terms live during the call. Another status than WFRE_OK ends the
 * run with it. */
typedef struct wfre_sparql_sink {
    wfre_status (*row)(void *context, const wfre_sparql_term *terms, size_t count,
                       wfre_error *error);
    void *context;
    bool labels; /* whether to fill in the labels */
} wfre_sparql_sink;

/* Runs a query; `options` may be NULL. *truth is the answer of an ASK and may be NULL for other
 * forms. Solutions stream to the sink as they are found, unless they have to be sorted. */
WFRE_API WFRE_NODISCARD wfre_status wfre_sparql_run(const wfre_sparql *query,
                                                    const wfre_rdf_view *view,
                                                    const wfre_sparql_run_options *options,
                                                    const wfre_sparql_sink *sink, bool *truth,
                                                    wfre_error *error);

/* ---- results as text ---------------------------------------------------------------------- */

typedef enum wfre_sparql_format {
    WFRE_SPARQL_TABLE, /* aligned, for people: SELECT, ASK and, as three columns, graphs */
    WFRE_SPARQL_JSON,  /* SELECT and ASK */
    WFRE_SPARQL_XML,
    WFRE_SPARQL_CSV,
    WFRE_SPARQL_TSV,
    WFRE_SPARQL_NT, /* CONSTRUCT and DESCRIBE */
    WFRE_SPARQL_TTL
} wfre_sparql_format;

/* "table", "json", ...; false if there is none of that name. */
WFRE_API bool wfre_sparql_format_from_name(const char *name, wfre_sparql_format *format);
WFRE_API const char *wfre_sparql_format_name(wfre_sparql_format format);
/* "application/sparql-results+json", ...; "text/plain" for the table. */
WFRE_API const char *wfre_sparql_format_media_type(wfre_sparql_format format);
/* Whether the format can say the results of this form. */
WFRE_API bool wfre_sparql_format_fits(wfre_sparql_format format, wfre_sparql_form form);

typedef struct wfre_sparql_output {
    wfre_status (*write)(void *context, const char *bytes, size_t length, wfre_error *error);
    void *context;
} wfre_sparql_output;

/* Runs a query and writes its results, in pieces of some kilobytes. If it fails on the way, what
 * was written is not whole and does not look so. *rows, unless NULL, is how many there were. */
WFRE_API WFRE_NODISCARD wfre_status wfre_sparql_write(
    const wfre_sparql *query, const wfre_rdf_view *view, const wfre_sparql_run_options *options,
    wfre_sparql_format format, const wfre_sparql_output *output, uint64_t *rows, wfre_error *error);

/* What an endpoint at the IRI `endpoint` says of itself, as RDF (WFRE_SPARQL_NT or _TTL): the
 * SPARQL 1.1 service description. `predicts`: whether it has a model. Release the text with
 * wfre_string_free. */
WFRE_API WFRE_NODISCARD wfre_status wfre_sparql_service(const wfre_rdf_view *view,
                                                        const char *endpoint, bool predicts,
                                                        wfre_sparql_format format, char **text,
                                                        wfre_error *error);

/* ---- SPARQL and the other notations ------------------------------------------------------- */

/* The question that a SELECT or an ASK asks, as a query of wfre/query.h: its columns are the
 * variables asked for. If all there is to its WHERE is a SERVICE wfre:predict, it is the question
 * in that. Fails with WFRE_ERR_UNSUPPORTED, naming part and place, if a formula cannot say it:
 * attributes, FILTER (but for EXISTS, = and != of entities), OPTIONAL, BIND, paths without end,
 * aggregates, ORDER BY and LIMIT. */
WFRE_API WFRE_NODISCARD wfre_status wfre_sparql_to_query(const wfre_sparql *sparql,
                                                         const wfre_rdf_view *view,
                                                         wfre_query **query, wfre_error *error);

typedef struct wfre_sparql_print_options {
    bool predict; /* within SERVICE wfre:predict, with the probability and status of each answer */
    uint64_t top; /* wfre:top and wfre:threshold; 0: not written */
    double threshold;
} wfre_sparql_print_options;

/* Writes a query as SPARQL with the prefixes that it uses; `options` may be NULL. The answers are
 * the same, unless a relation also has literals, which SPARQL sees. Fails with
 * WFRE_ERR_UNSUPPORTED for query types, and if a variable is bound by negations alone, which SPARQL
 * cannot say. Release the text with wfre_string_free. */
WFRE_API WFRE_NODISCARD wfre_status wfre_sparql_from_query(const wfre_query *query,
                                                           const wfre_rdf_view *view,
                                                           const wfre_sparql_print_options *options,
                                                           char **text, wfre_error *error);

#ifdef __cplusplus
}
#endif

#endif
