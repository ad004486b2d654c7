/* All names of a graph folded and laid end to end, so that one walk over the bytes finds every name
 * that has a text within: a search takes a few milliseconds for 100,000 entities. */
#ifndef WFRE_SRC_GRAPH_NAME_INDEX_H
#define WFRE_SRC_GRAPH_NAME_INDEX_H

#include "base/error.h"
#include "wfre/graph.h"

typedef struct wfre_name_index wfre_name_index;

/* Of the entities, or of the relations (without inverses). The graph must stay open as long. */
WFRE_NODISCARD wfre_status wfre_name_index_create(const wfre_graph *graph, bool of_relations,
                                                  wfre_name_index **index, wfre_error *error);
void wfre_name_index_free(wfre_name_index *index);

/* How many items there are, and in how many triples of the whole graph one is. */
uint32_t wfre_name_index_items(const wfre_name_index *index);
uint64_t wfre_name_index_count(const wfre_name_index *index, uint32_t item);

/* How a text fits an item, best first. */
typedef enum wfre_name_match {
    WFRE_NAME_EXACT,
    WFRE_NAME_PREFIX,
    WFRE_NAME_WORD,
    WFRE_NAME_PART
} wfre_name_match;

/* Calls `found` for every item that has the text in a label, its name or, of an IRI, its local
 * name, in ascending order, with the best way in which it does; `length` is that of the text that
 * fits so. An empty text begins all. Whole IRIs are searched for if the text has "://". */
typedef void wfre_name_found(void *context, uint32_t item, wfre_name_match match, size_t length);
WFRE_NODISCARD wfre_status wfre_name_index_search(const wfre_name_index *index, const char *text,
                                                  size_t length, wfre_name_found *found,
                                                  void *context, wfre_error *error);

#endif
