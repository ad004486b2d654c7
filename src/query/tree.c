/* Making, comparing and sorting operator trees. */
#include "query/tree.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

/* ---- making ------------------------------------------------------------------------------- */

const wfre_node *wfre_node_make(wfre_arena *arena, wfre_op op, uint32_t id,
                                const wfre_node *const *children, uint32_t child_count)
{
    wfre_node *node = wfre_arena_alloc(arena, 1, sizeof *node);
    if (!node)
        return NULL;
    const wfre_node **copy = NULL;
    if (child_count > 0) {
        copy = wfre_arena_alloc(arena, child_count, sizeof *copy);
        if (!copy)
            return NULL;
        memcpy(copy, children, child_count * sizeof *copy);
    }
    *node = (wfre_node){op, id, child_count, copy};
    return node;
}

const wfre_node *wfre_node_entity(wfre_arena *arena, wfre_entity entity)
{
    return wfre_node_make(arena, WFRE_OP_ENTITY, entity, NULL, 0);
}

const wfre_node *wfre_node_project(wfre_arena *arena, wfre_relation relation,
                                   const wfre_node *child)
{
    return child ? wfre_node_make(arena, WFRE_OP_PROJECT, relation, &child, 1) : NULL;
}

const wfre_node *wfre_node_negate(wfre_arena *arena, const wfre_node *child)
{
    return child ? wfre_node_make(arena, WFRE_OP_NEGATE, WFRE_NONE, &child, 1) : NULL;
}

const wfre_node *wfre_node_pair(wfre_arena *arena, wfre_op op, const wfre_node *left,
                                const wfre_node *right)
{
    if (!left || !right)
        return NULL;
    const wfre_node *children[] = {left, right};
    return wfre_node_make(arena, op, WFRE_NONE, children, 2);
}

/* ---- comparing ---------------------------------------------------------------------------- */

char wfre_op_letter(wfre_op op)
{
    static const char LETTERS[] = {[WFRE_OP_ENTITY] = 'e',
                                   [WFRE_OP_PROJECT] = 'p',
                                   [WFRE_OP_INTERSECT] = 'i',
                                   [WFRE_OP_UNION] = 'u',
                                   [WFRE_OP_NEGATE] = 'n'};
    return LETTERS[op];
}

/* The order of the printed types: brackets are balanced, so no argument is a prefix of another, and
 * ')' comes before ','. */
static int compare_shapes(const wfre_node *a, const wfre_node *b)
{
    int order = wfre_op_letter(a->op) - wfre_op_letter(b->op);
    for (uint32_t i = 0; order == 0 && i < a->child_count && i < b->child_count; i++)
        order = compare_shapes(a->children[i], b->children[i]);
    return order ? order : (a->child_count > b->child_count) - (a->child_count < b->child_count);
}

bool wfre_node_same_shape(const wfre_node *a, const wfre_node *b)
{
    return compare_shapes(a, b) == 0;
}

/* Of trees with the same shape. */
static int compare_ids(const wfre_node *a, const wfre_node *b)
{
    int order = (a->id > b->id) - (a->id < b->id);
    for (uint32_t i = 0; order == 0 && i < a->child_count; i++)
        order = compare_ids(a->children[i], b->children[i]);
    return order;
}

int wfre_node_compare(const wfre_node *a, const wfre_node *b)
{
    int order = compare_shapes(a, b);
    return order ? order : compare_ids(a, b);
}

bool wfre_node_equal(const wfre_node *a, const wfre_node *b)
{
    if (a == b)
        return true;
    if (a->op != b->op || a->id != b->id || a->child_count != b->child_count)
        return false;
    for (uint32_t i = 0; i < a->child_count; i++)
        if (!wfre_node_equal(a->children[i], b->children[i]))
            return false;
    return true;
}

uint64_t wfre_node_hash(const wfre_node *node)
{
    uint64_t hash = wfre_mix64((uint64_t)node->op << 32 | node->id);
    for (uint32_t i = 0; i < node->child_count; i++)
        hash = wfre_mix64(hash ^ wfre_node_hash(node->children[i])) + i;
    return hash;
}

/* ---- measuring ---------------------------------------------------------------------------- */

size_t wfre_tree_count(const wfre_node *tree, wfre_op op)
{
    size_t count = tree->op == op;
    for (uint32_t i = 0; i < tree->child_count; i++)
        count += wfre_tree_count(tree->children[i], op);
    return count;
}

size_t wfre_tree_depth(const wfre_node *tree)
{
    size_t deepest = 0;
    for (uint32_t i = 0; i < tree->child_count; i++) {
        size_t depth = wfre_tree_depth(tree->children[i]);
        deepest = depth > deepest ? depth : deepest;
    }
    return deepest + 1;
}

bool wfre_tree_is_type(const wfre_node *tree)
{
    bool bare = tree->id == WFRE_NONE;
    for (uint32_t i = 0; bare && i < tree->child_count; i++)
        bare = wfre_tree_is_type(tree->children[i]);
    return bare;
}

uint32_t wfre_tree_highest_id(const wfre_node *tree, wfre_op op)
{
    uint32_t highest = tree->op == op ? tree->id : WFRE_NONE;
    for (uint32_t i = 0; i < tree->child_count; i++) {
        uint32_t id = wfre_tree_highest_id(tree->children[i], op);
        if (highest == WFRE_NONE || (id != WFRE_NONE && id > highest))
            highest = id;
    }
    return highest;
}

/* ---- rebuilding --------------------------------------------------------------------------- */

static int compare_pointers(const void *a, const void *b)
{
    const wfre_node *const *left = a, *const *right = b;
    return wfre_node_compare(*left, *right);
}

/* What a rebuilt tree differs in. */
enum { SORTED = 1, WITHOUT_IDS = 2 };

static const wfre_node *rebuild(wfre_arena *arena, const wfre_node *tree, unsigned changes)
{
    wfre_node *node = wfre_arena_alloc(arena, 1, sizeof *node);
    if (!node)
        return NULL;
    const wfre_node **children = NULL;
    if (tree->child_count > 0) {
        children = wfre_arena_alloc(arena, tree->child_count, sizeof *children);
        if (!children)
            return NULL;
    }
    for (uint32_t i = 0; i < tree->child_count; i++) {
        children[i] = rebuild(arena, tree->children[i], changes);
        if (!children[i])
            return NULL;
    }
    if ((changes & SORTED) && tree->child_count > 1)
        qsort(children, tree->child_count, sizeof *children, compare_pointers);
    uint32_t id = changes & WITHOUT_IDS ? WFRE_NONE : tree->id;
    *node = (wfre_node){tree->op, id, tree->child_count, children};
    return node;
}

const wfre_node *wfre_tree_sort(wfre_arena *arena, const wfre_node *tree)
{
    return rebuild(arena, tree, SORTED);
}

const wfre_node *wfre_tree_type(wfre_arena *arena, const wfre_node *tree)
{
    return rebuild(arena, tree, SORTED | WITHOUT_IDS);
}

const wfre_node *wfre_tree_copy(wfre_arena *arena, const wfre_node *tree)
{
    return rebuild(arena, tree, 0);
}
