/* Queries: parse and print them, bring them to normal form, list their types, answer them exactly
 * and sample them. */
#ifndef WFRE_QUERY_H
#define WFRE_QUERY_H

#include "wfre/graph.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A parsed question: a first-order formula with one free variable and, if it is one, its operator
 * tree. */
typedef struct wfre_query wfre_query;

/* ---- notations --------------------------------------------------------------------------------
 */

typedef enum wfre_notation {
    WFRE_NOTATION_AUTO,  /* by its first characters; for parsing only */
    WFRE_NOTATION_LOGIC, /* ?f : award(?d, Oscar) & directed(?d, ?f) & !citizen(?d, USA) */
    WFRE_NOTATION_TREE,  /* (i,(p,won^-1,(e,Oscar)),(n,(p,citizen^-1,(e,USA)))) */
    WFRE_NOTATION_BETAE  /* ((5,(12,)),(9,(3,-2))) */
} wfre_notation;

/* Reads a query. Names are looked up in the graph; with graph == NULL only #ids are understood. On
 * failure error->offset is the byte of the text at fault. Query types (trees without names) are
 * queries, too; they can be printed and normalised but not answered. */
WFRE_API WFRE_NODISCARD wfre_status wfre_query_parse(const wfre_graph *graph,
                                                     wfre_notation notation, const char *text,
                                                     size_t length, wfre_query **query,
                                                     wfre_error *error);
WFRE_API void wfre_query_free(wfre_query *query);

/* Why the query is not an operator tree, as a sentence without its end; NULL if it is one. Such a
 * query can be answered exactly, but not be printed as tree or tuples, nor be normalised. */
WFRE_API const char *wfre_query_not_a_tree(const wfre_query *query);

/* Writes a query; parsing the text gives the same query. With graph == NULL, ids stand for names;
 * tuples always have ids. Release the text with wfre_string_free. */
WFRE_API WFRE_NODISCARD wfre_status wfre_query_print(const wfre_query *query,
                                                     const wfre_graph *graph,
                                                     wfre_notation notation, char **text,
                                                     wfre_error *error);

/* What kind of query it is: "2in" for the BetaE types, else its type as an operator tree. Release
 * with wfre_string_free. */
WFRE_API WFRE_NODISCARD wfre_status wfre_query_type(const wfre_query *query, char **type,
                                                    wfre_error *error);

/* Releases text that the library handed out. */
WFRE_API void wfre_string_free(char *text);

/* ---- names ------------------------------------------------------------------------------------
 */

/* At most this many near names are found. */
enum { WFRE_NEAREST = 8 };

/* The entities whose names or labels are nearest to a text by edit distance, best first; returns
 * how many. Messages about unknown names list them already; this is for completion and search. */
WFRE_API size_t wfre_nearest_entities(const wfre_graph *graph, const char *text, size_t length,
                                      wfre_entity *entities, size_t capacity);
/* The same for relations; the ids are forward ones. */
WFRE_API size_t wfre_nearest_relations(const wfre_graph *graph, const char *text, size_t length,
                                       wfre_relation *relations, size_t capacity);

/* ---- exact answers ------------------------------------------------------------------------------
 */

/* Finds all answers that a graph proves. An engine is for one thread at a time; it keeps its memory
 * from question to question. */
typedef struct wfre_exact wfre_exact;

/* The graph must stay open as long as the engine. */
WFRE_API WFRE_NODISCARD wfre_status wfre_exact_create(const wfre_graph *graph, wfre_exact **exact,
                                                      wfre_error *error);
WFRE_API void wfre_exact_free(wfre_exact *exact);

/* The answers on the split's graph, ascending, valid until the engine's next question. Gives up
 * with WFRE_ERR_TIMEOUT after `timeout` seconds (0: never). Fails with WFRE_ERR_ARGUMENT for a
 * query type, which has no answers. */
WFRE_API WFRE_NODISCARD wfre_status wfre_exact_answer(wfre_exact *exact, wfre_split split,
                                                      const wfre_query *query, double timeout,
                                                      const wfre_monitor *monitor,
                                                      wfre_list *answers, wfre_error *error);

/* ---- training queries ---------------------------------------------------------------------------
 */

/* Samples queries with their answers from a graph, by all threads of a pool. A query is grounded
 * backwards from a random answer; one without answers, or with a branch that does not matter, is
 * drawn again. */
typedef struct wfre_sampler wfre_sampler;

typedef struct wfre_sampled {
    uint32_t type;                /* index into the sampler's types */
    const struct wfre_node *tree; /* for the library's use */
    wfre_list answers;            /* ascending, never empty */
} wfre_sampled;

/* `types` lists query types by name or as operator trees, separated by commas or blanks; NULL takes
 * the ten training types 1p 2p 3p 2i 3i 2in 3in inp pin pni. Queries with more than `cap` answers
 * are drawn again (0: any number). The graph must stay open as long as the sampler. */
WFRE_API WFRE_NODISCARD wfre_status wfre_sampler_create(const wfre_graph *graph, wfre_split split,
                                                        const char *types, size_t cap,
                                                        uint64_t seed, wfre_sampler **sampler,
                                                        wfre_error *error);
WFRE_API void wfre_sampler_free(wfre_sampler *sampler);
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
