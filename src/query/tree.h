/* Operator trees: the form in which queries are answered, sampled, trained and embedded.
 *
 *   (e,#5)            WFRE_OP_ENTITY     id = 5
 *   (p,#12,x)         WFRE_OP_PROJECT    id = 12 (a directed relation), one child
 *   (i,x,y,...)       WFRE_OP_INTERSECT  two or more children
 *   (u,x,y,...)       WFRE_OP_UNION      two or more children
 *   (n,x)             WFRE_OP_NEGATE     one child
 *
 * A projection goes along the edge: the set { t : (h, relation, t), h in child }. Nodes live in an
 * arena and are never changed after they were made, so subtrees may be shared. A query type is a
 * tree whose ids are all WFRE_NONE. Parsers admit at most WFRE_TREE_DEPTH levels, so that
 * recursion over a tree is safe. */
#ifndef WFRE_SRC_QUERY_TREE_H
#define WFRE_SRC_QUERY_TREE_H

#include "base/error.h"
#include "base/memory.h"

/* A projection becomes two levels of a formula, and those are limited to twice as many. */
enum { WFRE_TREE_DEPTH = 128 };

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
/* Shorthands. Each returns NULL when out of memory, or when its child is NULL already, so that
 * calls may be nested and checked once. */
const wfre_node *wfre_node_entity(wfre_arena *arena, wfre_entity entity);
const wfre_node *wfre_node_project(wfre_arena *arena, wfre_relation relation,
                                   const wfre_node *child);
const wfre_node *wfre_node_negate(wfre_arena *arena, const wfre_node *child);
/* WFRE_OP_INTERSECT or WFRE_OP_UNION of two. */
const wfre_node *wfre_node_pair(wfre_arena *arena, wfre_op op, const wfre_node *left,
                                const wfre_node *right);

/* Whether it asks for the ends of the edges of one entity: (p,#12,(e,#5)). */
static inline bool wfre_node_is_edge(const wfre_node *node)
{
    return node->op == WFRE_OP_PROJECT && node->children[0]->op == WFRE_OP_ENTITY;
}

/* The letter of the notation: e p i u n. */
char wfre_op_letter(wfre_op op);

/* A total order: first by query type as text (so that children sorted by it stand alphabetically
 * by type), then by ids. Equal means the same tree with children in the same order. */
int wfre_node_compare(const wfre_node *a, const wfre_node *b);
bool wfre_node_equal(const wfre_node *a, const wfre_node *b);
/* Equal but for their ids. */
bool wfre_node_same_shape(const wfre_node *a, const wfre_node *b);
/* Equal trees have equal hashes; sort first where the order of children must not matter. */
uint64_t wfre_node_hash(const wfre_node *node);

/* How many nodes have this op; shared subtrees count each time they occur. */
size_t wfre_tree_count(const wfre_node *tree, wfre_op op);
/* Nodes on the longest way down; 1 for an entity. */
size_t wfre_tree_depth(const wfre_node *tree);
/* No node has an id: a query type. */
bool wfre_tree_is_type(const wfre_node *tree);
/* The highest entity or relation id (by op); WFRE_NONE if there is none. */
uint32_t wfre_tree_highest_id(const wfre_node *tree, wfre_op op);

/* The same tree with the children of every intersection and union in the order of
 * wfre_node_compare. NULL when out of memory. */
const wfre_node *wfre_tree_sort(wfre_arena *arena, const wfre_node *tree);
/* Its query type: sorted, without ids. NULL when out of memory. */
const wfre_node *wfre_tree_type(wfre_arena *arena, const wfre_node *tree);
/* A deep copy into another arena. NULL when out of memory. */
const wfre_node *wfre_tree_copy(wfre_arena *arena, const wfre_node *tree);

#endif
