/* Rewriting trees to normal form, bottom up. Only the disjunctive forms can grow: they are made by
 * the clause form (clause.h), which has a limit. */
#include "query/normal.h"

#include <string.h>

#include "query/clause.h"

typedef struct rewriter {
    wfre_arena *arena;
    wfre_clause_maker maker;
    wfre_status status; /* the first failure; everything returns NULL from then on */
} rewriter;

/* ---- making nodes ------------------------------------------------------------------------- */

static const wfre_node *make(rewriter *w, wfre_op op, uint32_t id, const wfre_node *const *children,
                             uint32_t count)
{
    const wfre_node *node =
        w->status == WFRE_OK ? wfre_node_make(w->arena, op, id, children, count) : NULL;
    if (!node && w->status == WFRE_OK)
        w->status = wfre_fail_memory(w->maker.error, "bringing a query to normal form");
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

/* Memory for the children of a node that is being made. */
static void *take(rewriter *w, size_t count, size_t size)
{
    void *memory = w->status == WFRE_OK ? wfre_arena_alloc(w->arena, count, size) : NULL;
    if (!memory && w->status == WFRE_OK)
        w->status = wfre_fail_memory(w->maker.error, "bringing a query to normal form");
    return memory;
}

typedef const wfre_node *(*rewrite)(rewriter *w, const wfre_node *node);

/* The children, each rewritten. */
static const wfre_node **rewrite_children(rewriter *w, const wfre_node *node, rewrite step)
{
    const wfre_node **children = take(w, node->child_count, sizeof *children);
    for (uint32_t i = 0; w->status == WFRE_OK && i < node->child_count; i++)
        children[i] = step(w, node->children[i]);
    return w->status == WFRE_OK ? children : NULL;
}

/* ---- DeMorgan ----------------------------------------------------------------------------- */

static const wfre_node *demorgan(rewriter *w, const wfre_node *node)
{
    const wfre_node **children = rewrite_children(w, node, demorgan);
    if (!children || node->op != WFRE_OP_UNION)
        return children ? make_like(w, node, children) : NULL;
    for (uint32_t i = 0; w->status == WFRE_OK && i < node->child_count; i++)
        children[i] = make_not(w, children[i]);
    if (w->status != WFRE_OK)
        return NULL;
    return make_not(w, make(w, WFRE_OP_INTERSECT, WFRE_NONE, children, node->child_count));
}

/* ---- disjunctive normal form -------------------------------------------------------------- */

typedef const wfre_clause_form clause_form;

static const wfre_node *write_form(rewriter *w, clause_form *f)
{
    if (f->kind == WFRE_CLAUSE_LITERAL)
        return f->literal.positive ? f->literal.node : make_not(w, f->literal.node);
    const wfre_node **children = take(w, f->child_count, sizeof *children);
    for (uint32_t i = 0; children && i < f->child_count; i++)
        children[i] = write_form(w, f->children[i]);
    return children ? make(w, f->kind == WFRE_CLAUSE_ALL ? WFRE_OP_INTERSECT : WFRE_OP_UNION,
                           WFRE_NONE, children, f->child_count)
                    : NULL;
}

static clause_form *literal(rewriter *w, const wfre_node *node, size_t weight)
{
    clause_form *made = NULL;
    if (node && w->status == WFRE_OK)
        w->status = wfre_clause_literal(&w->maker, (wfre_literal){.node = node, .positive = true},
                                        weight, &made);
    return made;
}

/* The projection of a form: of each of its clauses, nested as they are. */
static clause_form *project(rewriter *w, wfre_relation relation, clause_form *from)
{
    clause_form *made = NULL;
    if (from->kind != WFRE_CLAUSE_ANY) {
        const wfre_node *node = write_form(w, from);
        return literal(w, node ? make(w, WFRE_OP_PROJECT, relation, &node, 1) : NULL,
                       from->weight + 1);
    }
    clause_form **branches = take(w, from->child_count, sizeof *branches);
    for (uint32_t i = 0; w->status == WFRE_OK && i < from->child_count; i++)
        branches[i] = project(w, relation, from->children[i]);
    if (w->status == WFRE_OK)
        w->status = wfre_clause_any(&w->maker, branches, from->child_count, &made);
    return made;
}

static clause_form *find_form(rewriter *w, const wfre_node *node)
{
    clause_form *made = NULL;
    if (node->op == WFRE_OP_ENTITY)
        return literal(w, node, 1);
    clause_form **parts = take(w, node->child_count, sizeof *parts);
    for (uint32_t i = 0; w->status == WFRE_OK && i < node->child_count; i++)
        parts[i] = find_form(w, node->children[i]);
    if (w->status != WFRE_OK)
        return NULL;
    if (node->op == WFRE_OP_PROJECT)
        return project(w, node->id, parts[0]);
    if (node->op == WFRE_OP_NEGATE)
        w->status = wfre_clause_negate(&w->maker, parts[0], &made);
    else if (node->op == WFRE_OP_INTERSECT)
        w->status = wfre_clause_all(&w->maker, parts, node->child_count, &made);
    else
        w->status = wfre_clause_any(&w->maker, parts, node->child_count, &made);
    return made;
}

static const wfre_node *dnf(rewriter *w, const wfre_node *node)
{
    clause_form *found = find_form(w, node);
    return w->status == WFRE_OK ? write_form(w, found) : NULL;
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
    const wfre_node **children = take(w, node->child_count, sizeof *children);
    for (uint32_t i = 0; w->status == WFRE_OK && i < node->child_count; i++)
        children[i] = merge(w, node->children[i], unions);
    if (w->status != WFRE_OK)
        return NULL;
    if (node->op != WFRE_OP_INTERSECT && !(unions && node->op == WFRE_OP_UNION))
        return make_like(w, node, children);
    size_t count = 0, total = merged_count(children, node->child_count, node->op);
    const wfre_node **merged = take(w, total, sizeof *merged);
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

/* Whether the tree has no more than *left nodes, written out; looks at no more. */
static bool is_within(const wfre_node *node, size_t *left)
{
    if (*left == 0)
        return false;
    --*left;
    for (uint32_t i = 0; i < node->child_count; i++)
        if (!is_within(node->children[i], left))
            return false;
    return true;
}

wfre_status wfre_tree_normal(wfre_arena *arena, const wfre_node *tree, wfre_form form,
                             const wfre_node **normal, wfre_error *error)
{
    wfre_error why;
    rewriter w = {.arena = arena, .maker = {arena, &why}};
    const wfre_node *made = tree;
    size_t left = WFRE_CLAUSE_LIMIT;
    if (FORMS[form].first && !is_within(tree, &left))
        return wfre_fail(error, WFRE_ERR_UNSUPPORTED, WFRE_NO_OFFSET,
                         "the query has no %s form: %s", FORMS[form].name, WFRE_CLAUSES_TOO_LARGE);
    if (FORMS[form].first)
        made = FORMS[form].first(&w, made);
    if (FORMS[form].second && made)
        made = FORMS[form].second(&w, made);
    if (w.status == WFRE_ERR_UNSUPPORTED)
        return wfre_fail(error, w.status, WFRE_NO_OFFSET, "the query has no %s form: %s",
                         FORMS[form].name, why.message);
    if (w.status != WFRE_OK)
        return wfre_fail(error, w.status, WFRE_NO_OFFSET, "%s", why.message);
    if (made != tree && wfre_tree_depth(made) > WFRE_TREE_DEPTH)
        return wfre_fail(error, WFRE_ERR_UNSUPPORTED, WFRE_NO_OFFSET,
                         "the query has no %s form: it would be more than %d deep",
                         FORMS[form].name, WFRE_TREE_DEPTH);
    *normal = made;
    return WFRE_OK;
}
