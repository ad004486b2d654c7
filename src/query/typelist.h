/* Lists of query types as users write them: "1p,2i (i,(n,(p,(e))),(p,(e)))". */
#ifndef WFRE_SRC_QUERY_TYPELIST_H
#define WFRE_SRC_QUERY_TYPELIST_H

#include "query/tree.h"

/* Zero-initialise to create an empty list. */
typedef struct wfre_type_list {
    wfre_arena arena; /* of the trees and names */
    const wfre_node **trees;
    const char **names; /* as in the type column of query sets */
    uint32_t count;
    size_t tree_capacity, name_capacity;
} wfre_type_list;

/* Types are BetaE names (2in), ids of EFO-1-QA (type0016), the names of these sets (betae, efo1) or
 * operator trees without ids, separated by commas or blanks. A type that occurs again is left out,
 * also under another name. The list is to be freed in any case. */
WFRE_NODISCARD wfre_status wfre_type_list_parse(wfre_type_list *list, const char *text,
                                                wfre_error *error);
void wfre_type_list_free(wfre_type_list *list);

#endif
