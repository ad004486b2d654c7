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

static const wfre_formula *make(wfre_arena *arena, const wfre_formula *model,
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
    }
    return formula;
}

const wfre_formula *wfre_formula_atom(wfre_arena *arena, wfre_relation relation, wfre_term left,
                                      wfre_term right)
{
    bool inverse = relation & 1;
    wfre_formula model = {.kind = WFRE_ATOM,
                          .relation = relation & ~(wfre_relation)1,
                          .left = inverse ? right : left,
                          .right = inverse ? left : right};
    return make(arena, &model, NULL, 0);
}

const wfre_formula *wfre_formula_not(wfre_arena *arena, const wfre_formula *child)
{
    return child ? make(arena, &(wfre_formula){.kind = WFRE_NOT}, &child, 1) : NULL;
}

const wfre_formula *wfre_formula_exists(wfre_arena *arena, uint32_t variable,
                                        const wfre_formula *child)
{
    wfre_formula model = {.kind = WFRE_EXISTS, .variable = variable};
    return child ? make(arena, &model, &child, 1) : NULL;
}

const wfre_formula *wfre_formula_join(wfre_arena *arena, wfre_formula_kind kind,
                                      const wfre_formula *const *children, uint32_t child_count)
{
    for (uint32_t i = 0; i < child_count; i++)
        if (!children[i])
            return NULL;
    if (child_count == 1)
        return children[0];
    return make(arena, &(wfre_formula){.kind = kind}, children, child_count);
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
