/* The notations, parsed and printed. parse(print(q)) = q in each.
 *
 * `graph` resolves and supplies names; with NULL, queries are read and written with #ids. Parsers
 * put what they make into the caller's arena; on failure error->offset is the byte at fault. */
#ifndef WFRE_SRC_QUERY_NOTATION_H
#define WFRE_SRC_QUERY_NOTATION_H

#include "base/text.h"
#include "query/formula.h"
#include "query/tree.h"
#include "wfre/graph.h"

/* (i,(p,won^-1,(e,Oscar)),(n,(p,#3,(e,#7)))), and query types: (i,(n,(p,(e))),(p,(e))) */
WFRE_NODISCARD wfre_status wfre_tree_parse(wfre_arena *arena, const wfre_graph *graph,
                                           const char *text, size_t length, const wfre_node **tree,
                                           wfre_error *error);
void wfre_tree_print(wfre_text *text, const wfre_graph *graph, const wfre_node *tree);
/* The same, with I and U for nodes that have more than two children. */
void wfre_tree_print_multi(wfre_text *text, const wfre_graph *graph, const wfre_node *tree);

/* ((5,(12,)),(9,(3,-2))), and query types: (('e',('r',)),('e',('r','n'))). Ids are used as they
 * are: the published data sets number relations as we do, inverses included. */
WFRE_NODISCARD wfre_status wfre_betae_parse(wfre_arena *arena, const char *text, size_t length,
                                            const wfre_node **tree, wfre_error *error);
/* Fails with WFRE_ERR_MISMATCH if the graph does not have all ids of the tree. */
WFRE_NODISCARD wfre_status wfre_tree_fits(const wfre_node *tree, const wfre_graph *graph,
                                          wfre_error *error);
void wfre_betae_print(wfre_text *text, const wfre_node *tree);

/* ?f : award(?d, Oscar) & directed(?d, ?f) & !citizen(?d, USA). Fills the formula, the variables
 * and the free variable of a zeroed query; its arena is to be freed in any case. */
WFRE_NODISCARD wfre_status wfre_logic_parse(wfre_query *query, const wfre_graph *graph,
                                            const char *text, size_t length, wfre_error *error);
void wfre_logic_print(wfre_text *text, const wfre_graph *graph, const wfre_query *query);

/* Nodes, edges and boxes as JSON, see wfre/query.h. A drawing makes its own query. */
WFRE_NODISCARD wfre_status wfre_drawing_parse(const wfre_graph *graph, const char *text,
                                              size_t length, wfre_query **query, wfre_error *error);
/* Fails with WFRE_ERR_UNSUPPORTED if the formula cannot be drawn. */
WFRE_NODISCARD wfre_status wfre_drawing_print(wfre_text *text, const wfre_graph *graph,
                                              const wfre_query *query, wfre_error *error);

#endif
