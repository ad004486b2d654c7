/* Rewriting trees to normal form, bottom up. Distribution can multiply the size of a tree, so the
 * nodes made are counted and refused beyond a limit. Nodes are shared, and whoever walks the tree
 * meets them each time: their occurrences have a limit, too. */
#include "query/normal.h"

#include <string.h>

enum { NODES = 1 << 16, OCCURRENCES = 1 << 20 };

typedef struct rewriter {
    wfre_arena *arena;
    size_t nodes; /* made so far */
    bool failed;  /* out of memory, or too many nodes; everything returns NULL from then on */
} rewriter;

/* ---- making nodes ------------------------------------------------------------------------- */

static const wfre_node *make(rewriter *w, wfre_op op, uint32_t id, const wfre_node *const *children,
                             uint32_t count)
{
    const wfre_node *node = NULL;
    if (!w->failed && w->nodes < NODES)
        node = wfre_node_make(w->arena, op, id, children, count);
    w->nodes++;
    w->failed = !node;
    return node;
}

static const wfre_node *make_like(rewriter *w, const wfre_node *model,
                                  const wfre_node *const *children)
{
    return make(w, model->op, model->id, children, model->child_count);
}

static const wfre_node *make_not(rewriter *w, const wfre_node *child)
{
    return make(w, WFRE_OP_NEGATE, WFRE_NONE, &child, 1);
}

/* Room for the children of a node that is being made; NULL when out of memory. */
static const wfre_node **room(rewriter *w, size_t count)
{
    const wfre_node **children =
        w->failed ? NULL : wfre_arena_alloc(w->arena, count, sizeof *children);
    w->failed = !children;
    return children;
}

typedef const wfre_node *(*rewrite)(rewriter *w, const wfre_node *node);

/* The children, each rewritten. */
static const wfre_node **rewrite_children(rewriter *w, const wfre_node *node, rewrite step)
{
    const wfre_node **children = room(w, node->child_count);
    for (uint32_t i = 0; !w->failed && i < node->child_count; i++)
        children[i] = step(w, node->children[i]);
    return w->failed ? NULL : children;
}

/* ---- DeMorgan ----------------------------------------------------------------------------- */

static const wfre_node *demorgan(rewriter *w, const wfre_node *node)
{
    const wfre_node **children = rewrite_children(w, node, demorgan);
    if (!children || node->op != WFRE_OP_UNION)
        return children ? make_like(w, node, children) : NULL;
    for (uint32_t i = 0; !w->failed && i < node->child_count; i++)
        children[i] = make_not(w, children[i]);
    if (w->failed)
        return NULL;
    return make_not(w, make(w, WFRE_OP_INTERSECT, WFRE_NONE, children, node->child_count));
}

/* ---- disjunctive normal form -------------------------------------------------------------- */

/* The projection of a node in DNF: a union of projections, nested as the node is. */
static const wfre_node *project(rewriter *w, wfre_relation relation, const wfre_node *node)
{
    if (node->op != WFRE_OP_UNION)
        return make(w, WFRE_OP_PROJECT, relation, &node, 1);
    const wfre_node **branches = room(w, node->child_count);
    for (uint32_t i = 0; !w->failed && i < node->child_count; i++)
        branches[i] = project(w, relation, node->children[i]);
    return w->failed ? NULL : make_like(w, node, branches);
}

/* The intersection of nodes in DNF: distributes over the first that is a union,
 * then over the rest. */
static const wfre_node *intersect(rewriter *w, const wfre_node *const *parts, uint32_t count)
{
    uint32_t at = 0;
    while (at < count && parts[at]->op != WFRE_OP_UNION)
        at++;
    if (at == count)
        return make(w, WFRE_OP_INTERSECT, WFRE_NONE, parts, count);
    const wfre_node *branching = parts[at];
    const wfre_node **branches = room(w, branching->child_count), **copy = room(w, count);
    if (w->failed)
        return NULL;
    memcpy(copy, parts, count * sizeof *copy);
    for (uint32_t i = 0; !w->failed && i < branching->child_count; i++) {
        copy[at] = branching->children[i];
        branches[i] = intersect(w, copy, count);
    }
    return w->failed ? NULL : make_like(w, branching, branches);
}

/* The negation of a node in DNF, in DNF. */
static const wfre_node *negate(rewriter *w, const wfre_node *node)
{
    if (node->op == WFRE_OP_NEGATE)
        return node->children[0];
    if (node->op != WFRE_OP_INTERSECT && node->op != WFRE_OP_UNION)
        return make_not(w, node);
    const wfre_node **children = rewrite_children(w, node, negate);
    if (!children)
        return NULL;
    if (node->op == WFRE_OP_UNION)
        return intersect(w, children, node->child_count);
    return make(w, WFRE_OP_UNION, WFRE_NONE, children, node->child_count);
}

static const wfre_node *dnf(rewriter *w, const wfre_node *node)
{
    const wfre_node **children = rewrite_children(w, node, dnf);
    if (!children)
        return NULL;
    switch (node->op) {
    case WFRE_OP_PROJECT:
        return project(w, node->id, children[0]);
    case WFRE_OP_NEGATE:
        return negate(w, children[0]);
    case WFRE_OP_INTERSECT:
        return intersect(w, children, node->child_count);
    default:
        return make_like(w, node, children);
    }
}

/* ---- nodes with many arguments ------------------------------------------------------------ */

/* How many arguments the node has when those of its own kind are replaced by theirs. */
static size_t merged_count(const wfre_node *const *children, uint32_t count, wfre_op op)
{
    size_t total = 0;
    for (uint32_t i = 0; i < count; i++)
        total += children[i]->op == op ? children[i]->child_count : 1;
    return total;
}

static const wfre_node *merge(rewriter *w, const wfre_node *node, bool unions)
{
    const wfre_node **children = room(w, node->child_count);
    for (uint32_t i = 0; !w->failed && i < node->child_count; i++)
        children[i] = merge(w, node->children[i], unions);
    if (w->failed)
        return NULL;
    if (node->op != WFRE_OP_INTERSECT && !(unions && node->op == WFRE_OP_UNION))
        return make_like(w, node, children);
    size_t count = 0, total = merged_count(children, node->child_count, node->op);
    const wfre_node **merged = room(w, total);
    for (uint32_t i = 0; merged && i < node->child_count; i++) {
        bool same = children[i]->op == node->op;
        for (uint32_t k = 0; k < (same ? children[i]->child_count : 1); k++)
            merged[count++] = same ? children[i]->children[k] : children[i];
    }
    return merged ? make(w, node->op, WFRE_NONE, merged, (uint32_t)count) : NULL;
}

static const wfre_node *merge_intersections(rewriter *w, const wfre_node *node)
{
    return merge(w, node, false);
}

static const wfre_node *merge_all(rewriter *w, const wfre_node *node)
{
    return merge(w, node, true);
}

/* ---- forms -------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    rewrite first, second; /* NULL: nothing to do */
} FORMS[WFRE_FORMS] = {
    [WFRE_FORM_ORIGINAL] = {"original", NULL, NULL},
    [WFRE_FORM_DEMORGAN] = {"DeMorgan", demorgan, NULL},
    [WFRE_FORM_DEMORGAN_MULTI] = {"DeMorgan+MultiI", demorgan, merge_intersections},
    [WFRE_FORM_DNF] = {"DNF", dnf, NULL},
    [WFRE_FORM_DNF_MULTI] = {"DNF+MultiIU", dnf, merge_all},
};

const char *wfre_form_name(wfre_form form)
{
    return FORMS[form].name;
}

bool wfre_form_from_name(const char *name, wfre_form *form)
{
    for (int i = 0; i < WFRE_FORMS; i++)
        if (strcmp(FORMS[i].name, name) == 0) {
            *form = (wfre_form)i;
            return true;
        }
    return false;
}

/* Whether the tree is within the limits; looks at no more nodes than these allow. */
static bool is_reasonable(const wfre_node *node, unsigned depth, size_t *left)
{
    if (depth > WFRE_TREE_DEPTH || *left == 0)
        return false;
    --*left;
    for (uint32_t i = 0; i < node->child_count; i++)
        if (!is_reasonable(node->children[i], depth + 1, left))
            return false;
    return true;
}

wfre_status wfre_tree_normal(wfre_arena *arena, const wfre_node *tree, wfre_form form,
                             const wfre_node **normal, wfre_error *error)
{
    rewriter w = {.arena = arena};
    const wfre_node *made = tree;
    if (FORMS[form].first)
        made = FORMS[form].first(&w, made);
    if (FORMS[form].second && made)
        made = FORMS[form].second(&w, made);
    size_t left = OCCURRENCES;
    if (w.nodes > NODES || (made && made != tree && !is_reasonable(made, 1, &left)))
        return wfre_fail(error, WFRE_ERR_UNSUPPORTED, WFRE_NO_OFFSET,
                         "the %s form of this query is too large", FORMS[form].name);
    if (!made)
        return wfre_fail_memory(error, "bringing a query to normal form");
    *normal = made;
    return WFRE_OK;
}
