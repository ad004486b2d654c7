/* Distribution into clauses, with a bound on their number. */
#include "query/clause.h"

/* Beyond this many clauses a conjunction keeps its disjunctions as literals. */
enum { CLAUSE_LIMIT = 256 };

static bool single(wfre_arena *arena, const wfre_formula *formula, bool positive, wfre_clauses *out)
{
    wfre_clause *clause = wfre_arena_alloc(arena, 1, sizeof *clause);
    wfre_literal *literal = wfre_arena_alloc(arena, 1, sizeof *literal);
    if (!clause || !literal)
        return false;
    *literal = (wfre_literal){formula, positive};
    *clause = (wfre_clause){.literals = literal, .literal_count = 1};
    *out = (wfre_clauses){clause, 1};
    return true;
}

/* Either clause list: the alternatives one after another. */
static bool append(wfre_arena *arena, wfre_clauses *left, wfre_clauses right)
{
    size_t count = left->count + right.count;
    wfre_clause *items = wfre_arena_alloc(arena, count, sizeof *items);
    if (!items)
        return false;
    for (size_t i = 0; i < count; i++)
        items[i] = i < left->count ? left->items[i] : right.items[i - left->count];
    *left = (wfre_clauses){items, count};
    return true;
}

/* The conjunction of two clauses. Quantifiers bind variables of their own, so none clash. */
static bool join_clauses(wfre_arena *arena, const wfre_clause *a, const wfre_clause *b,
                         wfre_clause *out)
{
    size_t literals = a->literal_count + b->literal_count;
    size_t variables = a->variable_count + b->variable_count;
    wfre_literal *l = wfre_arena_alloc(arena, literals, sizeof *l);
    uint32_t *v = wfre_arena_alloc(arena, variables, sizeof *v);
    if (!l || !v)
        return false;
    for (size_t i = 0; i < literals; i++)
        l[i] = i < a->literal_count ? a->literals[i] : b->literals[i - a->literal_count];
    for (size_t i = 0; i < variables; i++)
        v[i] = i < a->variable_count ? a->variables[i] : b->variables[i - a->variable_count];
    *out = (wfre_clause){l, literals, v, variables};
    return true;
}

/* Both clause lists: every pair of alternatives. */
static bool multiply(wfre_arena *arena, wfre_clauses *left, wfre_clauses right)
{
    size_t count = left->count * right.count;
    wfre_clause *items = wfre_arena_alloc(arena, count, sizeof *items);
    if (!items)
        return false;
    for (size_t i = 0; i < count; i++)
        if (!join_clauses(arena, &left->items[i / right.count], &right.items[i % right.count],
                          &items[i]))
            return false;
    *left = (wfre_clauses){items, count};
    return true;
}

/* The conjunction of any number of clauses. */
static bool join_all(wfre_arena *arena, const wfre_clause *clauses, size_t count, wfre_clause *out)
{
    size_t literals = 0, variables = 0;
    for (size_t i = 0; i < count; i++) {
        literals += clauses[i].literal_count;
        variables += clauses[i].variable_count;
    }
    wfre_literal *l = wfre_arena_alloc(arena, literals, sizeof *l);
    uint32_t *v = wfre_arena_alloc(arena, variables, sizeof *v);
    if (!l || !v)
        return false;
    *out = (wfre_clause){l, literals, v, variables};
    for (size_t i = 0; i < count; i++) {
        for (size_t k = 0; k < clauses[i].literal_count; k++)
            *l++ = clauses[i].literals[k];
        for (size_t k = 0; k < clauses[i].variable_count; k++)
            *v++ = clauses[i].variables[k];
    }
    return true;
}

/* What has no alternatives is put aside and joined at the end, once: a long conjunction would else
 * be copied for each of its parts. */
static bool conjunction(wfre_arena *arena, const wfre_formula *formula, bool positive,
                        wfre_clauses *out)
{
    wfre_clause *truth = wfre_arena_alloc(arena, 1, sizeof *truth);
    if (!truth)
        return false;
    *truth = (wfre_clause){0};
    *out = (wfre_clauses){truth, 1};
    wfre_clause *common = wfre_arena_alloc(arena, formula->child_count + 1, sizeof *common);
    size_t common_count = 0;
    if (!common)
        return false;
    for (uint32_t i = 0; i < formula->child_count; i++) {
        wfre_clauses part;
        if (!wfre_clauses_make(arena, formula->children[i], positive, &part))
            return false;
        if (part.count > 1 && out->count * part.count > CLAUSE_LIMIT &&
            !single(arena, formula->children[i], positive, &part))
            return false;
        if (part.count == 1)
            common[common_count++] = part.items[0];
        else if (!multiply(arena, out, part))
            return false;
    }
    wfre_clause together;
    return join_all(arena, common, common_count, &together) &&
           multiply(arena, out, (wfre_clauses){&together, 1});
}

static bool disjunction(wfre_arena *arena, const wfre_formula *formula, bool positive,
                        wfre_clauses *out)
{
    *out = (wfre_clauses){0};
    for (uint32_t i = 0; i < formula->child_count; i++) {
        wfre_clauses part;
        if (!wfre_clauses_make(arena, formula->children[i], positive, &part) ||
            !append(arena, out, part))
            return false;
    }
    return true;
}

/* exists v. (A or B) is (exists v. A) or (exists v. B). Quantifiers one inside another go together,
 * for the same reason. */
static bool quantify(wfre_arena *arena, const wfre_formula *formula, wfre_clauses *out)
{
    wfre_clauses inner;
    size_t count = 0;
    const wfre_formula *body = formula;
    for (; body->kind == WFRE_EXISTS; body = body->children[0])
        count++;
    if (!wfre_clauses_make(arena, body, true, &inner))
        return false;
    uint32_t *variables = wfre_arena_alloc(arena, count, sizeof *variables);
    wfre_clause *bound = wfre_arena_alloc(arena, 1, sizeof *bound);
    if (!variables || !bound)
        return false;
    for (size_t i = 0; i < count; i++, formula = formula->children[0])
        variables[i] = formula->variable;
    *bound = (wfre_clause){.variables = variables, .variable_count = count};
    *out = (wfre_clauses){bound, 1};
    return multiply(arena, out, inner);
}

bool wfre_clauses_make(wfre_arena *arena, const wfre_formula *formula, bool positive,
                       wfre_clauses *clauses)
{
    switch (formula->kind) {
    case WFRE_NOT:
        return wfre_clauses_make(arena, formula->children[0], !positive, clauses);
    case WFRE_AND:
    case WFRE_OR:
        return (formula->kind == WFRE_AND) == positive
                   ? conjunction(arena, formula, positive, clauses)
                   : disjunction(arena, formula, positive, clauses);
    case WFRE_EXISTS:
        if (positive)
            return quantify(arena, formula, clauses);
        break;
    case WFRE_ATOM:
        break;
    }
    return single(arena, formula, positive, clauses);
}

bool wfre_clauses_of_literal(wfre_arena *arena, wfre_literal literal, wfre_clauses *clauses,
                             bool *negated)
{
    const wfre_formula *formula = literal.formula;
    bool positive = literal.positive;
    while (formula->kind == WFRE_NOT) {
        formula = formula->children[0];
        positive = !positive;
    }
    *negated = formula->kind == WFRE_EXISTS && !positive;
    return wfre_clauses_make(arena, formula, positive || *negated, clauses);
}

/* ---- free variables ----------------------------------------------------------------------- */

static void add_variable(uint32_t variable, uint32_t *variables, size_t *count)
{
    for (size_t i = 0; i < *count; i++)
        if (variables[i] == variable)
            return;
    variables[(*count)++] = variable;
}

void wfre_free_variables(const wfre_formula *formula, uint32_t *variables, size_t *count)
{
    if (formula->kind == WFRE_ATOM) {
        if (formula->left.is_variable)
            add_variable(formula->left.id, variables, count);
        if (formula->right.is_variable)
            add_variable(formula->right.id, variables, count);
    }
    for (uint32_t i = 0; i < formula->child_count; i++)
        wfre_free_variables(formula->children[i], variables, count);
    /* Bound here and nowhere else: what is left of it below this point goes. */
    for (size_t i = 0; formula->kind == WFRE_EXISTS && i < *count; i++)
        if (variables[i] == formula->variable)
            variables[i--] = variables[--*count];
}
