/* Operator trees: the form in which queries are answered, sampled, trained and embedded.
 *
 *   (e,#5)            WFRE_OP_ENTITY     id = 5
 *   (p,#12,x)         WFRE_OP_PROJECT    id = 12 (a directed relation), one child
 *   (i,x,y,...)       WFRE_OP_INTERSECT  two or more children
 *   (u,x,y,...)       WFRE_OP_UNION      two or more children
 *   (n,x)             WFRE_OP_NEGATE     one child
 *
 * A projection goes along the edge: the set { t : (h, relation, t), h in child }. Nodes live in an
 * arena and are never changed after they were made, so subtrees may be shared. */
#ifndef WFRE_SRC_QUERY_TREE_H
#define WFRE_SRC_QUERY_TREE_H

#include "base/error.h"
#include "base/memory.h"

typedef enum wfre_op {
    WFRE_OP_ENTITY,
    WFRE_OP_PROJECT,
    WFRE_OP_INTERSECT,
    WFRE_OP_UNION,
    WFRE_OP_NEGATE
} wfre_op;

typedef struct wfre_node {
    wfre_op op;
    uint32_t id; /* entity or directed relation; WFRE_NONE in a query type */
    uint32_t child_count;
    const struct wfre_node *const *children;
} wfre_node;

/* A new node; children are copied. NULL when out of memory. */
const wfre_node *wfre_node_make(wfre_arena *arena, wfre_op op, uint32_t id,
                                const wfre_node *const *children, uint32_t child_count);

#endif
