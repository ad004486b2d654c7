/* Making and comparing formulas. */
#include "query/formula.h"

#include <string.h>

#include "base/text.h"

wfre_term wfre_term_variable(uint32_t variable)
{
    return (wfre_term){true, variable};
}

wfre_term wfre_term_entity(wfre_entity entity)
{
    return (wfre_term){false, entity};
}

static wfre_formula *make(wfre_arena *arena, const wfre_formula *model,
                          const wfre_formula *const *children, uint32_t child_count)
{
    wfre_formula *formula = wfre_arena_alloc(arena, 1, sizeof *formula);
    if (!formula)
        return NULL;
    *formula = *model;
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

static bool has_variable(const wfre_formula *formula, uint32_t variable)
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
        missing += !has_variable(formula, more[i]);
    if (missing == 0)
        return true;
    uint32_t count = formula->variable_count + missing;
    uint32_t *all = wfre_arena_alloc(arena, count, sizeof *all);
    if (!all)
        return false;
    const uint32_t *old = formula->variables, *end = old + formula->variable_count;
    for (uint32_t i = 0, k = 0; i < count; i++) {
        bool from_old = old < end && (k == more_count || *old <= more[k]);
        k += k < more_count && (!from_old || *old == more[k]);
        all[i] = from_old ? *old++ : more[k - 1];
    }
    formula->variables = all;
    formula->variable_count = count;
    return true;
}

static bool remove_variable(wfre_arena *arena, wfre_formula *formula, uint32_t variable)
{
    if (!has_variable(formula, variable))
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

const wfre_formula *wfre_formula_atom(wfre_arena *arena, wfre_relation relation, wfre_term left,
                                      wfre_term right)
{
    bool inverse = relation & 1;
    wfre_formula model = {.kind = WFRE_ATOM,
                          .relation = relation & ~(wfre_relation)1,
                          .left = inverse ? right : left,
                          .right = inverse ? left : right};
    wfre_formula *atom = make(arena, &model, NULL, 0);
    bool done = atom && (!left.is_variable || add_variables(arena, atom, &left.id, 1)) &&
                (!right.is_variable || add_variables(arena, atom, &right.id, 1));
    return done ? atom : NULL;
}

const wfre_formula *wfre_formula_not(wfre_arena *arena, const wfre_formula *child)
{
    return child ? make(arena, &(wfre_formula){.kind = WFRE_NOT}, &child, 1) : NULL;
}

const wfre_formula *wfre_formula_exists(wfre_arena *arena, uint32_t variable,
                                        const wfre_formula *child)
{
    wfre_formula model = {.kind = WFRE_EXISTS, .variable = variable};
    wfre_formula *exists = child ? make(arena, &model, &child, 1) : NULL;
    return exists && remove_variable(arena, exists, variable) ? exists : NULL;
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
    if (a->kind == WFRE_ATOM)
        return a->relation == b->relation && same_term(a->left, b->left, image) &&
               same_term(a->right, b->right, image);
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
    image[a->free_variable] = b->free_variable;
    *same = a->variable_count == b->variable_count && same_formula(a->formula, b->formula, image);
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
    enter(&n, query->free_variable);
    name_variables(&n, query->formula);
    return n.failed ? NULL : n.shown;
}
