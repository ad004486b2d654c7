/* Queries: parse and print them, bring them to normal form, list their types, answer them exactly
 * and sample them. */
#ifndef WFRE_QUERY_H
#define WFRE_QUERY_H

#include "wfre/graph.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A question: a first-order formula, the variables asked for and, if it is one, its operator tree.
 * With one variable its answers are entities (or relations), with several tuples of these; without
 * any the question is whether the formula holds. */
typedef struct wfre_query wfre_query;

/* ---- notations ---------------------------------------------------------------------------- */

typedef enum wfre_notation {
    WFRE_NOTATION_AUTO,   /* by its first characters; for parsing only */
    WFRE_NOTATION_LOGIC,  /* ?f : award(?d, Oscar) & directed(?d, ?f) & !citizen(?d, USA) */
    WFRE_NOTATION_TREE,   /* (i,(p,won^-1,(e,Oscar)),(n,(p,citizen^-1,(e,USA)))) */
    WFRE_NOTATION_BETAE,  /* ((5,(12,)),(9,(3,-2))) */
    WFRE_NOTATION_DRAWING /* nodes, edges and boxes, as JSON: see below */
} wfre_notation;

/* Reads a query. Names are looked up in the graph; with graph == NULL only #ids are understood. On
 * failure error->offset is the byte of the text at fault. Query types (trees without names) are
 * queries, too; they can be printed and normalised but not answered. */
WFRE_API WFRE_NODISCARD wfre_status wfre_query_parse(const wfre_graph *graph,
                                                     wfre_notation notation, const char *text,
                                                     size_t length, wfre_query **query,
                                                     wfre_error *error);
/* The same within `timeout` seconds (0: any number), and until `cancel` (or NULL) says to stop: for
 * questions of any length from anywhere. Fails with WFRE_ERR_TIMEOUT or WFRE_ERR_INTERRUPTED then.
 */
WFRE_API WFRE_NODISCARD wfre_status wfre_query_parse_within(const wfre_graph *graph,
                                                            wfre_notation notation,
                                                            const char *text, size_t length,
                                                            double timeout, wfre_cancel *cancel,
                                                            wfre_query **query, wfre_error *error);
WFRE_API void wfre_query_free(wfre_query *query);

/* How many variables are asked for, what they are called (without the question mark, as long as the
 * query lives), and whether they stand for relations. `column` is below the width. */
WFRE_API uint32_t wfre_query_width(const wfre_query *query);
WFRE_API const char *wfre_query_column_name(const wfre_query *query, uint32_t column);
WFRE_API bool wfre_query_column_is_relation(const wfre_query *query, uint32_t column);

/* How many of the variables, the last ones, are counted rather than listed: 1 for
 * `?g, count ?x : ...`. Exact answers have rows of all variables; wfre_session_reply counts them.
 */
WFRE_API uint32_t wfre_query_counted(const wfre_query *query);

/* Why the query is not an operator tree, as a sentence without its end; NULL if it is one. Such a
 * query can be answered exactly, but not be printed as tree or tuples, nor be normalised. */
WFRE_API const char *wfre_query_not_a_tree(const wfre_query *query);

/* Writes a query; parsing the text gives the same query. With graph == NULL, ids stand for names;
 * tuples always have ids. Fails with WFRE_ERR_UNSUPPORTED if the notation cannot say it: what is no
 * operator tree as tree or tuples; as logic a query type, and more than 1,023 projections of
 * projected sets, each of which takes a variable.
 * Release the text with wfre_string_free. */
WFRE_API WFRE_NODISCARD wfre_status wfre_query_print(const wfre_query *query,
                                                     const wfre_graph *graph,
                                                     wfre_notation notation, char **text,
                                                     wfre_error *error);

/* WFRE_NOTATION_DRAWING is what a person draws, one JSON object:
 *
 *   {"nodes": [{"id": "x", "kind": "variable", "name": "x", "asked": true},
 *              {"id": "e5", "kind": "entity", "entity": 5, "name": "USA", "label": "USA"},
 *              {"id": "r", "kind": "relation", "name": "r", "asked": false}],
 *    "edges": [{"from": "x", "to": "e5", "relation": 12, "name": "citizen", "negated": false,
 *               "group": null}],
 *    "groups": [{"id": "g1", "kind": "or", "parts": [[0], [1, "g2"]]},
 *               {"id": "g2", "kind": "not", "parts": [[2, 3]]}]}
 *
 * All edges and boxes ("groups") that stand in no box hold together. Of the parts of an "or" box
 * one holds; the one part of a "not" box does not. Parts list edges by their place and boxes by
 * their id. Instead of a relation an edge can have "variable", the id of a node of kind "relation",
 * or "equal": true. A variable that is not asked for stands for something that is there within the
 * innermost "not" (box or negated edge) around all that mentions it, else in the whole. Names and
 * labels of entities and relations, and an edge's "group", are written and not read.
 * A formula that says of something which is there only what it is not cannot be drawn. */

/* The query as a plain English sentence, made of the graph's labels: "What has hypernym dog?" It is
 * for reading only. Release with wfre_string_free. */
WFRE_API WFRE_NODISCARD wfre_status wfre_query_sentence(const wfre_query *query,
                                                        const wfre_graph *graph, char **text,
                                                        wfre_error *error);

/* What kind of query it is: "2in" for the BetaE types, else its type as an operator tree. Release
 * with wfre_string_free. */
WFRE_API WFRE_NODISCARD wfre_status wfre_query_type(const wfre_query *query, char **type,
                                                    wfre_error *error);

/* Releases text that the library handed out. */
WFRE_API void wfre_string_free(char *text);

/* ---- building ----------------------------------------------------------------------------- */

/* Makes queries by calls instead of text; what is built and what is parsed are the same. Parts
 * belong to their builder and live as long as it does; a part may be used several times. A function
 * that fails returns NULL, one that is given NULL passes it on, and wfre_build_query reports the
 * first failure, so that calls can be nested:
 *
 *   wfre_term x = wfre_build_variable(b, "x"), a = wfre_term_entity(5);
 *   status = wfre_build_query(b, &x, 1, wfre_build_not(b, wfre_build_atom(b, 12, x, a)), &query,
 *                             error);
 */
typedef struct wfre_query_builder wfre_query_builder;
typedef struct wfre_formula wfre_formula;

typedef struct wfre_term {
    bool is_variable;
    uint32_t id; /* variable index or entity */
} wfre_term;

WFRE_API wfre_term wfre_term_entity(wfre_entity entity);

/* With a graph (or NULL), ids must be within it; it must stay open as long as the builder. */
WFRE_API WFRE_NODISCARD wfre_status wfre_query_builder_create(const wfre_graph *graph,
                                                              wfre_query_builder **builder,
                                                              wfre_error *error);
WFRE_API void wfre_query_builder_free(wfre_query_builder *builder);

/* A new variable. The name (letters, digits, _) is how it is printed; NULL takes one. */
WFRE_API wfre_term wfre_build_variable(wfre_query_builder *builder, const char *name);
/* relation(left, right). An odd id is the inverse of the one before. */
WFRE_API const wfre_formula *wfre_build_atom(wfre_query_builder *builder, wfre_relation relation,
                                             wfre_term left, wfre_term right);
/* The same with a variable for the relation, which cannot stand for an entity, too. */
WFRE_API const wfre_formula *wfre_build_link(wfre_query_builder *builder, wfre_term relation,
                                             wfre_term left, wfre_term right);
WFRE_API const wfre_formula *wfre_build_equal(wfre_query_builder *builder, wfre_term left,
                                              wfre_term right);
WFRE_API const wfre_formula *wfre_build_not(wfre_query_builder *builder, const wfre_formula *part);
/* Of one part it is the part itself. */
WFRE_API const wfre_formula *wfre_build_and(wfre_query_builder *builder,
                                            const wfre_formula *const *parts, size_t count);
WFRE_API const wfre_formula *wfre_build_or(wfre_query_builder *builder,
                                           const wfre_formula *const *parts, size_t count);
WFRE_API const wfre_formula *wfre_build_exists(wfre_query_builder *builder, wfre_term variable,
                                               const wfre_formula *part);

/* The query that asks for `asked` (none, one or several). A variable that nothing binds is
 * existential, with the whole formula as its scope. The builder can be used on after a success;
 * after a failure it only fails again. The query does not need the builder. */
WFRE_API WFRE_NODISCARD wfre_status wfre_build_query(wfre_query_builder *builder,
                                                     const wfre_term *asked, size_t count,
                                                     const wfre_formula *formula,
                                                     wfre_query **query, wfre_error *error);

/* ---- normal forms and types --------------------------------------------------------------- */

typedef enum wfre_form {
    WFRE_FORM_ORIGINAL,       /* "original": as it was written */
    WFRE_FORM_DEMORGAN,       /* "DeMorgan": without unions */
    WFRE_FORM_DEMORGAN_MULTI, /* "DeMorgan+MultiI": nested intersections merged */
    WFRE_FORM_DNF,            /* "DNF": a union of intersections */
    WFRE_FORM_DNF_MULTI       /* "DNF+MultiIU": nested intersections and unions merged */
} wfre_form;
enum { WFRE_FORMS = 5 };

WFRE_API const char *wfre_form_name(wfre_form form);
/* False if there is no form of that name. */
WFRE_API bool wfre_form_from_name(const char *name, wfre_form *form);

/* A new query in the given form, with the same answers. Fails with WFRE_ERR_UNSUPPORTED if the
 * query is not an operator tree, or if the form would be unreasonably large. */
WFRE_API WFRE_NODISCARD wfre_status wfre_query_normalise(const wfre_query *query, wfre_form form,
                                                         wfre_query **normal, wfre_error *error);

typedef enum wfre_type_set {
    WFRE_TYPES_BETAE, /* 1p 2p 3p 2i 3i ip pi 2in 3in inp pin pni 2u up */
    WFRE_TYPES_EFO1   /* the 301 types of EFO-1-QA, under their published ids: type0000 ... */
} wfre_type_set;

/* A list of query types with their normal forms. */
typedef struct wfre_types wfre_types;

WFRE_API WFRE_NODISCARD wfre_status wfre_types_create(wfre_type_set set, wfre_types **types,
                                                      wfre_error *error);
WFRE_API void wfre_types_free(wfre_types *types);
WFRE_API size_t wfre_types_count(const wfre_types *types);
WFRE_API const char *wfre_types_name(const wfre_types *types, size_t index);
/* The type as an operator tree in the given form, arguments sorted; in the Multi forms a node with
 * more than two arguments is written I or U. */
WFRE_API const char *wfre_types_tree(const wfre_types *types, size_t index, wfre_form form);

/* ---- names -------------------------------------------------------------------------------- */

/* At most this many near names are found. */
enum { WFRE_NEAREST = 8 };

/* The entities whose names or labels are nearest to a text by edit distance, best first; returns
 * how many. Messages about unknown names list them already; this is for completion and search. */
WFRE_API size_t wfre_nearest_entities(const wfre_graph *graph, const char *text, size_t length,
                                      wfre_entity *entities, size_t capacity);
/* The same for relations; the ids are forward ones. */
WFRE_API size_t wfre_nearest_relations(const wfre_graph *graph, const char *text, size_t length,
                                       wfre_relation *relations, size_t capacity);

/* ---- exact answers ------------------------------------------------------------------------ */

/* Finds all answers that a graph proves. An engine is for one thread at a time; it keeps its memory
 * from question to question. */
typedef struct wfre_exact wfre_exact;

/* The graph must stay open as long as the engine. */
WFRE_API WFRE_NODISCARD wfre_status wfre_exact_create(const wfre_graph *graph, wfre_exact **exact,
                                                      wfre_error *error);
WFRE_API void wfre_exact_free(wfre_exact *exact);

/* The answers on the split's graph, ascending, valid until the engine's next question. Gives up
 * with WFRE_ERR_TIMEOUT after `timeout` seconds (0: never). Fails with WFRE_ERR_ARGUMENT for a
 * query type, which has no answers, for ids that the graph does not have, and for a query that does
 * not ask for one entity: wfre_exact_tuples answers that. */
WFRE_API WFRE_NODISCARD wfre_status wfre_exact_answer(wfre_exact *exact, wfre_split split,
                                                      const wfre_query *query, double timeout,
                                                      const wfre_monitor *monitor,
                                                      wfre_list *answers, wfre_error *error);

/* Rows of ids, one for each variable asked for: entities, or forward relations where
 * wfre_query_column_is_relation says so. Rows are ascending and differ. A query that asks for no
 * variable has one row without ids if it holds, and none if it does not. */
typedef struct wfre_tuples {
    const uint32_t *ids; /* count times width */
    size_t count;
    uint32_t width;
    bool complete; /* false if there may be more, since the search stopped at `most` */
} wfre_tuples;

/* The same for queries with any number of variables: all rows, or if `most` is not 0 as many of
 * them. Valid until the engine's next question. */
WFRE_API WFRE_NODISCARD wfre_status wfre_exact_tuples(wfre_exact *exact, wfre_split split,
                                                      const wfre_query *query, size_t most,
                                                      double timeout, const wfre_monitor *monitor,
                                                      wfre_tuples *tuples, wfre_error *error);

/* ---- query sets --------------------------------------------------------------------------- */

/* The queries of a file (*.tsv) with their easy and hard answers, in memory. */
typedef struct wfre_queryset wfre_queryset;

/* Whether a file that starts with these bytes looks like a query set. */
WFRE_API bool wfre_queryset_recognises(const void *head, size_t length);
/* Reads a file, plain or gzip; "-" is standard input. With a graph (or NULL), all ids must be
 * within its sizes. Errors name the file and the line. */
WFRE_API WFRE_NODISCARD wfre_status wfre_queryset_open(const char *path, const wfre_graph *graph,
                                                       wfre_queryset **set, wfre_error *error);
WFRE_API void wfre_queryset_close(wfre_queryset *set);
WFRE_API uint32_t wfre_queryset_queries(const wfre_queryset *set);

/* The queries of one type, and the numbers of their answers together. */
typedef struct wfre_queryset_type {
    wfre_name name; /* owned by the set */
    uint32_t queries;
    uint64_t easy;
    uint64_t hard;
} wfre_queryset_type;

/* Types are in the order in which they first appear. */
WFRE_API uint32_t wfre_queryset_type_count(const wfre_queryset *set);
WFRE_API wfre_queryset_type wfre_queryset_get_type(const wfre_queryset *set, uint32_t index);

/* One query of a set. */
typedef struct wfre_queryset_query {
    uint32_t type;  /* index of its type */
    wfre_list easy; /* answers that the smaller graph proves; both live as long as the set */
    wfre_list hard; /* and those that only the larger one does */
} wfre_queryset_query;

/* `index` is below the number of queries. */
WFRE_API wfre_queryset_query wfre_queryset_get_query(const wfre_queryset *set, uint32_t index);
/* It as an operator tree, with the graph's names or, if that is NULL, with ids. Release the text
 * with wfre_string_free. */
WFRE_API WFRE_NODISCARD wfre_status wfre_queryset_print(const wfre_queryset *set, uint32_t index,
                                                        const wfre_graph *graph, char **text,
                                                        wfre_error *error);

/* ---- published query sets ----------------------------------------------------------------- */

typedef struct wfre_convert_options {
    wfre_split split;   /* whose graph gives the hard answers: valid or test */
    const char *prefix; /* of the file names; NULL for the split's name */
    bool verify;        /* recompute all answers from the folder's triples */
} wfre_convert_options;

typedef struct wfre_conversion {
    uint64_t queries;
    uint32_t types;
    uint64_t differ;   /* queries whose published answers are not those of the graph */
    char example[256]; /* the first of these as a BetaE tuple */
} wfre_conversion;

/* Reads PREFIX-queries.pkl, PREFIX-easy-answers.pkl and PREFIX-hard-answers.pkl of a BetaE folder
 * and writes them as a query set to `output`, if that is not NULL. Nothing is written if answers
 * differ. */
WFRE_API WFRE_NODISCARD wfre_status wfre_queries_convert(
    const char *folder, const wfre_convert_options *options, const char *output, wfre_pool *pool,
    const wfre_monitor *monitor, wfre_conversion *report, wfre_error *error);

/* ---- benchmark queries -------------------------------------------------------------------- */

/* Which queries a benchmark set takes, and what its cap counts. */
typedef enum wfre_protocol {
    WFRE_PROTOCOL_STRICT, /* every branch matters; the cap counts all answers on either graph */
    WFRE_PROTOCOL_BETAE   /* as the sets published with BetaE were made: any branches that are not
                             the same; a query with negation has an answer on the smaller graph that
                             the larger one refutes; the cap counts hard answers, and these, apart */
} wfre_protocol;

/* How single edges (1p) are drawn; all other types are grounded backwards from random answers. */
typedef enum wfre_edge_draw {
    WFRE_DRAW_QUESTIONS, /* pairs of an entity and a relation with something new, all equally
                            likely: as in the benchmarks */
    WFRE_DRAW_FACTS,  /* facts that the split adds, all equally likely; then the pair they answer,
                         from either end */
    WFRE_DRAW_ANSWERS /* backwards from any entity, as other types: entities with few edges are
                         then asked for more often, which reads much lower */
} wfre_edge_draw;

typedef struct wfre_benchmark_options {
    wfre_split split; /* valid or test */
    wfre_protocol protocol;
    const char *types;  /* as for wfre_sampler_create; NULL takes the 14 of BetaE */
    size_t count;       /* queries of each type */
    size_t cap;         /* most answers, as the protocol counts them; 0 for any number */
    uint64_t seed;      /* the set is a function of it, of the graph and of these options */
    bool idle_branches; /* of the strict protocol: only negated branches need to matter */
    wfre_edge_draw edges;
} wfre_benchmark_options;

/* What became of a type: fewer queries than asked for after a long row of attempts without a new
 * one means that the graph has hardly more. */
typedef struct wfre_benchmark_type {
    const char *name; /* valid during the call */
    size_t queries;
    uint64_t attempts;
} wfre_benchmark_type;

/* Writes a set of distinct queries, each with at least one hard answer. Its first line, a comment,
 * says how they were drawn. Calls `report` (unless NULL) after each type. */
WFRE_API WFRE_NODISCARD wfre_status
wfre_benchmark_sample(const wfre_graph *graph, const wfre_benchmark_options *options,
                      const char *output, wfre_pool *pool, const wfre_monitor *monitor,
                      void (*report)(void *context, const wfre_benchmark_type *type), void *context,
                      wfre_error *error);

/* ---- training queries --------------------------------------------------------------------- */

/* Samples queries with their answers from a graph, by all threads of a pool. A query is grounded
 * backwards from a random answer, unless wfre_sampler_forward says otherwise; one without answers,
 * with two equal branches, or with a negation that takes nothing away, is drawn again. (That every
 * branch must matter cannot be asked here: on WN18RR not one 3i query in 10,000 attempts would be
 * left.) */
typedef struct wfre_sampler wfre_sampler;

typedef struct wfre_sampled {
    uint32_t type;                /* index into the sampler's types */
    const struct wfre_node *tree; /* for the library's use */
    wfre_list answers;            /* ascending, never empty */
} wfre_sampled;

/* `types` lists query types by name (2in, type0016) or as operator trees, separated by commas or
 * blanks; "betae" and "efo1" stand for all types of these sets; NULL takes the ten training types
 * 1p 2p 3p 2i 3i 2in 3in inp pin pni. Queries with more than `cap` answers are drawn again (0: any
 * number). The graph must stay open as long as the sampler. */
WFRE_API WFRE_NODISCARD wfre_status wfre_sampler_create(const wfre_graph *graph, wfre_split split,
                                                        const char *types, size_t cap,
                                                        uint64_t seed, wfre_sampler **sampler,
                                                        wfre_error *error);
WFRE_API void wfre_sampler_free(wfre_sampler *sampler);
/* Queries are found backwards from random answers, unless this says which shares, of single edges
 * and of longer paths, to walk forwards instead, from pairs of a relation and an entity that has
 * it, all equally likely. That asks more often for entities with many edges. */
WFRE_API void wfre_sampler_forward(wfre_sampler *sampler, double edges, double paths);
/* Where no query of the wanted type is found, one of this type (an index into the sampler's types)
 * is taken instead; without this the step fails. */
WFRE_API void wfre_sampler_substitute(wfre_sampler *sampler, uint32_t type);
/* How often a query of a type (an index into the sampler's types) is tried before the type is given
 * up; 10,000 times unless this says less. */
WFRE_API void wfre_sampler_limit(wfre_sampler *sampler, uint32_t type, uint32_t attempts);
WFRE_API uint32_t wfre_sampler_type_count(const wfre_sampler *sampler);

/* The queries of one step, valid until the next. Query i is of type types[i], or, if that is NULL,
 * of type i modulo their number. It depends on the seed, the step, i and its type, not on the
 * number of threads. Fails with WFRE_ERR_NOT_FOUND, naming the type, if one cannot be grounded. */
WFRE_API WFRE_NODISCARD wfre_status wfre_sampler_step(wfre_sampler *sampler, wfre_pool *pool,
                                                      uint64_t step, const uint32_t *types,
                                                      size_t count, const wfre_sampled **queries,
                                                      wfre_error *error);

#ifdef __cplusplus
}
#endif

#endif
