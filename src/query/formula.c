/* Making and comparing formulas. */
#include "query/formula.h"

#include <string.h>

#include "base/text.h"

wfre_term wfre_term_variable(uint32_t variable)
{
    return (wfre_term){true, variable};
}

static wfre_formula *make(wfre_arena *arena, const wfre_formula *model,
                          const wfre_formula *const *children, uint32_t child_count)
{
    wfre_formula *formula = wfre_arena_alloc(arena, 1, sizeof *formula);
    if (!formula)
        return NULL;
    *formula = *model;
    formula->depth = 1;
    formula->size = 1;
    for (uint32_t i = 0; i < child_count; i++) {
        size_t size = formula->size + children[i]->size;
        formula->size = size < formula->size ? SIZE_MAX : size;
        if (formula->depth <= children[i]->depth)
            formula->depth = children[i]->depth + 1;
    }
    if (child_count > 0) {
        const wfre_formula **copy = wfre_arena_alloc(arena, child_count, sizeof *copy);
        if (!copy)
            return NULL;
        memcpy(copy, children, child_count * sizeof *copy);
        formula->children = copy;
        formula->child_count = child_count;
        formula->variables = children[0]->variables;
        formula->variable_count = children[0]->variable_count;
    }
    return formula;
}

/* ---- free variables: lists are shared where nothing changes ------------------------------- */

bool wfre_formula_has(const wfre_formula *formula, uint32_t variable)
{
    uint32_t low = 0, high = formula->variable_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (formula->variables[middle] < variable)
            low = middle + 1;
        else
            high = middle;
    }
    return low < formula->variable_count && formula->variables[low] == variable;
}

/* Adds the variables that are free in another. False when out of memory. */
static bool add_variables(wfre_arena *arena, wfre_formula *formula, const uint32_t *more,
                          uint32_t more_count)
{
    uint32_t missing = 0;
    for (uint32_t i = 0; i < more_count; i++)
        missing += !wfre_formula_has(formula, more[i]);
    if (missing == 0)
        return true;
    uint32_t count = formula->variable_count + missing;
    uint32_t *all = wfre_arena_alloc(arena, count, sizeof *all);
    if (!all)
        return false;
    const uint32_t *old = formula->variables;
    for (uint32_t i = 0, j = 0, k = 0; i < count; i++) {
        bool from_old = j < formula->variable_count && (k == more_count || old[j] <= more[k]);
        k += k < more_count && (!from_old || old[j] == more[k]);
        all[i] = from_old ? old[j++] : more[k - 1];
    }
    formula->variables = all;
    formula->variable_count = count;
    return true;
}

static bool remove_variable(wfre_arena *arena, wfre_formula *formula, uint32_t variable)
{
    if (!wfre_formula_has(formula, variable))
        return true;
    uint32_t *rest = wfre_arena_alloc(arena, formula->variable_count - 1, sizeof *rest);
    if (!rest)
        return false;
    uint32_t count = 0;
    for (uint32_t i = 0; i < formula->variable_count; i++)
        if (formula->variables[i] != variable)
            rest[count++] = formula->variables[i];
    formula->variables = rest;
    formula->variable_count = count;
    return true;
}

/* ---- making ------------------------------------------------------------------------------- */

static const wfre_formula *make_leaf(wfre_arena *arena, const wfre_formula *model)
{
    uint32_t variables[3];
    uint32_t count = wfre_formula_mentions(model, variables);
    wfre_formula *leaf = make(arena, model, NULL, 0);
    for (uint32_t i = 0; leaf && i < count; i++)
        if (!add_variables(arena, leaf, &variables[i], 1))
            return NULL;
    return leaf;
}

const wfre_formula *wfre_formula_atom(wfre_arena *arena, wfre_relation relation, wfre_term left,
                                      wfre_term right)
{
    bool inverse = relation & 1;
    wfre_formula model = {.kind = WFRE_ATOM,
                          .relation = relation & ~(wfre_relation)1,
                          .left = inverse ? right : left,
                          .right = inverse ? left : right};
    return make_leaf(arena, &model);
}

const wfre_formula *wfre_formula_link(wfre_arena *arena, uint32_t variable, wfre_term left,
                                      wfre_term right)
{
    wfre_formula model = {.kind = WFRE_LINK, .variable = variable, .left = left, .right = right};
    return make_leaf(arena, &model);
}

const wfre_formula *wfre_formula_equal(wfre_arena *arena, wfre_term left, wfre_term right)
{
    return make_leaf(arena, &(wfre_formula){.kind = WFRE_EQUAL, .left = left, .right = right});
}

const wfre_formula *wfre_formula_not(wfre_arena *arena, const wfre_formula *child)
{
    return child ? make(arena, &(wfre_formula){.kind = WFRE_NOT}, &child, 1) : NULL;
}

static const wfre_formula *bind(wfre_arena *arena, uint32_t variable, bool of_relations,
                                const wfre_formula *child)
{
    wfre_formula model = {.kind = WFRE_EXISTS, .variable = variable, .of_relations = of_relations};
    wfre_formula *exists = child ? make(arena, &model, &child, 1) : NULL;
    return exists && remove_variable(arena, exists, variable) ? exists : NULL;
}

const wfre_formula *wfre_formula_exists(wfre_arena *arena, uint32_t variable,
                                        const wfre_formula *child)
{
    return bind(arena, variable, false, child);
}

const wfre_formula *wfre_formula_exists_relation(wfre_arena *arena, uint32_t variable,
                                                 const wfre_formula *child)
{
    return bind(arena, variable, true, child);
}

const wfre_formula *wfre_formula_join(wfre_arena *arena, wfre_formula_kind kind,
                                      const wfre_formula *const *children, uint32_t child_count)
{
    for (uint32_t i = 0; i < child_count; i++)
        if (!children[i])
            return NULL;
    if (child_count == 1)
        return children[0];
    wfre_formula *joined = make(arena, &(wfre_formula){.kind = kind}, children, child_count);
    for (uint32_t i = 1; joined && i < child_count; i++)
        if (!add_variables(arena, joined, children[i]->variables, children[i]->variable_count))
            return NULL;
    return joined;
}

uint32_t wfre_formula_mentions(const wfre_formula *formula, uint32_t variables[3])
{
    uint32_t count = 0;
    if (formula->kind == WFRE_LINK)
        variables[count++] = formula->variable;
    else if (formula->kind != WFRE_ATOM && formula->kind != WFRE_EQUAL)
        return 0;
    if (formula->left.is_variable)
        variables[count++] = formula->left.id;
    if (formula->right.is_variable)
        variables[count++] = formula->right.id;
    return count;
}

/* ---- rewriting ---------------------------------------------------------------------------- */

static void rename_term(wfre_term *term, const uint32_t *image)
{
    if (term->is_variable)
        term->id = image[term->id];
}

/* The same connective over other children. */
static const wfre_formula *make_like(wfre_arena *arena, const wfre_formula *model,
                                     uint32_t variable, const wfre_formula *const *children)
{
    if (model->kind == WFRE_NOT)
        return wfre_formula_not(arena, children[0]);
    if (model->kind == WFRE_EXISTS)
        return bind(arena, variable, model->of_relations, children[0]);
    return wfre_formula_join(arena, model->kind, children, model->child_count);
}

const wfre_formula *wfre_formula_rename(wfre_arena *arena, const wfre_formula *formula,
                                        const uint32_t *image)
{
    wfre_formula leaf = *formula;
    if (formula->child_count == 0) {
        leaf.variables = NULL;
        leaf.variable_count = 0;
        rename_term(&leaf.left, image);
        rename_term(&leaf.right, image);
        if (leaf.kind == WFRE_LINK)
            leaf.variable = image[leaf.variable];
        return make_leaf(arena, &leaf);
    }
    const wfre_formula **children = wfre_arena_alloc(arena, formula->child_count, sizeof *children);
    if (!children)
        return NULL;
    for (uint32_t i = 0; i < formula->child_count; i++)
        children[i] = wfre_formula_rename(arena, formula->children[i], image);
    uint32_t variable = formula->kind == WFRE_EXISTS ? image[formula->variable] : 0;
    return make_like(arena, formula, variable, children);
}

const wfre_formula *wfre_formula_with_relation(wfre_arena *arena, const wfre_formula *formula,
                                               uint32_t variable, wfre_relation relation)
{
    if (!wfre_formula_has(formula, variable))
        return formula;
    if (formula->kind == WFRE_LINK)
        return wfre_formula_atom(arena, relation, formula->left, formula->right);
    const wfre_formula **children = wfre_arena_alloc(arena, formula->child_count, sizeof *children);
    if (!children)
        return NULL;
    for (uint32_t i = 0; i < formula->child_count; i++)
        children[i] = wfre_formula_with_relation(arena, formula->children[i], variable, relation);
    return make_like(arena, formula, formula->variable, children);
}

/* ---- comparing ---------------------------------------------------------------------------- */

static bool same_term(wfre_term a, wfre_term b, const uint32_t *image)
{
    return a.is_variable == b.is_variable && (a.is_variable ? image[a.id] : a.id) == b.id;
}

/* image[v] is the variable of b that stands for the variable v of a; filled at the quantifiers. */
static bool same_formula(const wfre_formula *a, const wfre_formula *b, uint32_t *image)
{
    if (a->kind != b->kind || a->child_count != b->child_count)
        return false;
    if (a->child_count == 0)
        return a->relation == b->relation && same_term(a->left, b->left, image) &&
               same_term(a->right, b->right, image) &&
               (a->kind != WFRE_LINK || image[a->variable] == b->variable);
    if (a->kind == WFRE_EXISTS && a->of_relations != b->of_relations)
        return false;
    if (a->kind == WFRE_EXISTS)
        image[a->variable] = b->variable;
    for (uint32_t i = 0; i < a->child_count; i++)
        if (!same_formula(a->children[i], b->children[i], image))
            return false;
    return true;
}

wfre_status wfre_query_same_formula(const wfre_query *a, const wfre_query *b, bool *same,
                                    wfre_error *error)
{
    uint32_t *image = wfre_alloc_zero(a->variable_count, sizeof *image);
    if (!image)
        return wfre_fail_memory(error, "comparing queries");
    for (uint32_t v = 0; v < a->asked; v++)
        image[v] = v;
    *same = a->variable_count == b->variable_count && a->asked == b->asked &&
            same_formula(a->formula, b->formula, image);
    wfre_free(image);
    return WFRE_OK;
}

/* ---- names of variables ------------------------------------------------------------------- */

typedef struct naming {
    const wfre_query *query;
    wfre_arena *arena;
    const char **shown;
    uint32_t *scope; /* the variables in scope, outermost first */
    uint32_t scope_size;
    bool failed; /* out of memory */
} naming;

static bool is_taken(const naming *n, const char *name)
{
    for (uint32_t i = 0; i < n->scope_size; i++)
        if (strcmp(n->shown[n->scope[i]], name) == 0)
            return true;
    return false;
}

/* Opens the scope of a variable under a name that is free there. */
static void enter(naming *n, uint32_t variable)
{
    const char *own = n->query->variable_names[variable], *name = own;
    wfre_text numbered = {0};
    for (unsigned k = 2; !n->failed && is_taken(n, name); k++) {
        wfre_text_clear(&numbered);
        wfre_text_format(&numbered, "%s_%u", own, k);
        const char *next =
            numbered.failed ? NULL : wfre_arena_text(n->arena, numbered.data, numbered.length);
        n->failed = !next;
        name = next ? next : own;
    }
    wfre_text_free(&numbered);
    n->shown[variable] = name;
    n->scope[n->scope_size++] = variable;
}

static void name_variables(naming *n, const wfre_formula *formula)
{
    uint32_t outer = n->scope_size;
    if (formula->kind == WFRE_EXISTS)
        enter(n, formula->variable);
    for (uint32_t i = 0; i < formula->child_count; i++)
        name_variables(n, formula->children[i]);
    n->scope_size = outer;
}

const char *const *wfre_query_names(const wfre_query *query, wfre_arena *arena)
{
    naming n = {.query = query, .arena = arena};
    n.shown = wfre_arena_alloc(arena, query->variable_count, sizeof *n.shown);
    n.scope = wfre_arena_alloc(arena, query->variable_count, sizeof *n.scope);
    if (!n.shown || !n.scope)
        return NULL;
    for (uint32_t v = 0; v < query->asked; v++)
        enter(&n, v);
    name_variables(&n, query->formula);
    return n.failed ? NULL : n.shown;
}
