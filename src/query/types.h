/* Query types: the 14 of BetaE by name, the 301 of EFO-1-QA by grammar. */
#ifndef WFRE_SRC_QUERY_TYPES_H
#define WFRE_SRC_QUERY_TYPES_H

#include "base/text.h"
#include "query/tree.h"

enum { WFRE_BETAE_TYPES = 14 };

/* A named type: its name, and the type as a sorted operator tree in text. */
typedef struct wfre_named_type {
    const char *name;
    const char *tree;
} wfre_named_type;

/* 1p 2p 3p 2i 3i ip pi 2in 3in inp pin pni 2u up, in this order. */
extern const wfre_named_type wfre_betae_types[WFRE_BETAE_TYPES];

/* The position of a name in wfre_betae_types, -1 if it is none of them. */
int wfre_betae_type_index(const char *name, size_t length);

/* Appends what the type column of a query set calls this tree: a BetaE name if it has one, else
 * its query type, such as (i,(n,(p,(e))),(p,(p,(e)))). */
WFRE_NODISCARD wfre_status wfre_type_name(const wfre_node *tree, wfre_text *name,
                                          wfre_error *error);

/* The EFO-1-QA types: sorted trees and the numbers in their published ids (type0016). They are all
 * trees of the grammar
 *
 *   set = (p,(e)) | (p,set) | (i,set,set) | (i,set,(n,set)) | (u,set,set)
 *
 * with at most three anchors, at most three projections and negations on the way from the root to
 * an anchor, and at most one of them above an intersection or union. */
enum { WFRE_EFO1_TYPES = 301 };

typedef struct wfre_efo1_type {
    const wfre_node *tree;
    uint32_t number;
} wfre_efo1_type;

WFRE_NODISCARD wfre_status wfre_efo1_types(wfre_arena *arena, const wfre_efo1_type **types,
                                           size_t *count, wfre_error *error);

#endif
