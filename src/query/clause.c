/* Distribution, with a limit; and from formulas to clauses. */
#include "query/clause.h"

#include <string.h>

#include "base/scope.h"

static wfre_status no_memory(const wfre_clause_maker *maker)
{
    return wfre_fail_memory(maker->error, "bringing a query to normal form");
}

/* ---- making ------------------------------------------------------------------------------- */

static wfre_status make(wfre_clause_maker *maker, const wfre_clause_form *model,
                        const wfre_clause_form *const *children, uint32_t count,
                        const wfre_clause_form **form)
{
    wfre_clause_form *made = wfre_arena_alloc(maker->arena, 1, sizeof *made);
    const wfre_clause_form **copy = wfre_arena_alloc(maker->arena, count, sizeof *copy);
    if (!made || !copy)
        return no_memory(maker);
    *made = *model;
    if (count > 0)
        memcpy(copy, children, count * sizeof *copy);
    made->children = copy;
    made->child_count = count;
    *form = made;
    return WFRE_OK;
}

wfre_status wfre_clause_literal(wfre_clause_maker *maker, wfre_literal literal, size_t weight,
                                const wfre_clause_form **form)
{
    wfre_clause_form model = {
        .kind = WFRE_CLAUSE_LITERAL, .literal = literal, .clauses = 1, .weight = weight};
    return make(maker, &model, NULL, 0, form);
}

wfre_status wfre_clause_any(wfre_clause_maker *maker, const wfre_clause_form *const *parts,
                            uint32_t count, const wfre_clause_form **form)
{
    wfre_clause_form model = {.kind = WFRE_CLAUSE_ANY};
    for (uint32_t i = 0; i < count; i++) {
        model.clauses += parts[i]->clauses;
        model.weight += parts[i]->weight;
    }
    return make(maker, &model, parts, count, form);
}

/* Whether the conjunction of two forms, each of its clauses with each of the other's, is small
 * enough; where nothing is distributed it always is. Adds the part to the size so far. */
static bool multiply(size_t *clauses, size_t *weight, const wfre_clause_form *part)
{
    size_t sum = 0;
    bool distributed = *clauses > 1 || part->clauses > 1, fits;
    if (__builtin_mul_overflow(*weight, part->clauses, weight) ||
        __builtin_mul_overflow(part->weight, *clauses, &sum) ||
        __builtin_add_overflow(*weight, sum, weight) ||
        __builtin_mul_overflow(*clauses, part->clauses, clauses))
        return false;
    fits = *weight <= WFRE_CLAUSE_LIMIT && *clauses <= WFRE_CLAUSE_LIMIT;
    return fits || !distributed;
}

static wfre_status distribute(wfre_clause_maker *maker, const wfre_clause_form *const *parts,
                              uint32_t count, const wfre_clause_form **form)
{
    uint32_t at = 0;
    wfre_clause_form model = {.kind = WFRE_CLAUSE_ALL, .clauses = 1};
    for (uint32_t i = 0; i < count; i++)
        model.weight += parts[i]->weight;
    while (at < count && parts[at]->kind != WFRE_CLAUSE_ANY)
        at++;
    if (at == count)
        return make(maker, &model, parts, count, form);
    const wfre_clause_form *branching = parts[at];
    uint32_t branch_count = branching->child_count;
    const wfre_clause_form **branches =
        wfre_arena_alloc(maker->arena, branch_count, sizeof *branches);
    const wfre_clause_form **copy = wfre_arena_alloc(maker->arena, count, sizeof *copy);
    if (!branches || !copy)
        return no_memory(maker);
    memcpy(copy, parts, count * sizeof *copy);
    for (uint32_t i = 0; i < branch_count; i++) {
        copy[at] = branching->children[i];
        CHECK(distribute(maker, copy, count, &branches[i]));
    }
    return wfre_clause_any(maker, branches, branch_count, form);
}

wfre_status wfre_clause_all(wfre_clause_maker *maker, const wfre_clause_form *const *parts,
                            uint32_t count, const wfre_clause_form **form)
{
    size_t clauses = 1, weight = 0;
    for (uint32_t i = 0; i < count; i++)
        if (!multiply(&clauses, &weight, parts[i]))
            return wfre_fail(maker->error, WFRE_ERR_UNSUPPORTED, WFRE_NO_OFFSET, "%s",
                             WFRE_CLAUSES_TOO_LARGE);
    return distribute(maker, parts, count, form);
}

wfre_status wfre_clause_negate(wfre_clause_maker *maker, const wfre_clause_form *form,
                               const wfre_clause_form **negated)
{
    if (form->kind == WFRE_CLAUSE_LITERAL) {
        wfre_literal literal = form->literal;
        literal.positive = !literal.positive;
        return wfre_clause_literal(maker, literal, form->weight, negated);
    }
    const wfre_clause_form **parts =
        wfre_arena_alloc(maker->arena, form->child_count, sizeof *parts);
    if (!parts)
        return no_memory(maker);
    for (uint32_t i = 0; i < form->child_count; i++)
        CHECK(wfre_clause_negate(maker, form->children[i], &parts[i]));
    return form->kind == WFRE_CLAUSE_ANY
               ? wfre_clause_all(maker, parts, form->child_count, negated)
               : wfre_clause_any(maker, parts, form->child_count, negated);
}

/* ---- formulas ----------------------------------------------------------------------------- */

static bool has_quantifier(const wfre_formula *formula)
{
    bool found = formula->kind == WFRE_EXISTS;
    for (uint32_t i = 0; !found && i < formula->child_count; i++)
        found = has_quantifier(formula->children[i]);
    return found;
}

/* Replaces the form of a disjunction that is better kept whole, given the size of what stands
 * before it in the conjunction. */
static wfre_status keep_whole(wfre_clause_maker *maker, const wfre_formula *child, bool positive,
                              size_t clauses, size_t weight, const wfre_clause_form **part)
{
    bool is_lookup = child->variable_count == 1 && !has_quantifier(child);
    if ((*part)->clauses == 1 || (multiply(&clauses, &weight, *part) && !is_lookup))
        return WFRE_OK;
    return wfre_clause_literal(maker, (wfre_literal){.formula = child, .positive = positive}, 1,
                               part);
}

static wfre_status conjunction(wfre_clause_maker *maker, const wfre_clause_rules *rules,
                               const wfre_formula *formula, bool positive,
                               const wfre_clause_form **form)
{
    size_t clauses = 1, weight = 0;
    const wfre_clause_form **parts =
        wfre_arena_alloc(maker->arena, formula->child_count, sizeof *parts);
    if (!parts)
        return no_memory(maker);
    for (uint32_t i = 0; i < formula->child_count; i++) {
        const wfre_formula *child = formula->children[i];
        CHECK(wfre_clause_form_of(maker, rules, child, positive, &parts[i]));
        if (rules->may_stay)
            CHECK(keep_whole(maker, child, positive, clauses, weight, &parts[i]));
        (void)multiply(&clauses, &weight, parts[i]);
    }
    return wfre_clause_all(maker, parts, formula->child_count, form);
}

static wfre_status disjunction(wfre_clause_maker *maker, const wfre_clause_rules *rules,
                               const wfre_formula *formula, bool positive,
                               const wfre_clause_form **form)
{
    const wfre_clause_form **parts =
        wfre_arena_alloc(maker->arena, formula->child_count, sizeof *parts);
    if (!parts)
        return no_memory(maker);
    for (uint32_t i = 0; i < formula->child_count; i++)
        CHECK(wfre_clause_form_of(maker, rules, formula->children[i], positive, &parts[i]));
    return wfre_clause_any(maker, parts, formula->child_count, form);
}

/* exists v. (A or B) is (exists v. A) or (exists v. B): each clause binds the variable. */
static wfre_status quantify(wfre_clause_maker *maker, const wfre_clause_rules *rules,
                            const wfre_formula *formula, const wfre_clause_form **form)
{
    const wfre_clause_form *parts[2];
    CHECK(wfre_clause_literal(maker, (wfre_literal){.formula = formula, .binds = true}, 0,
                              &parts[0]));
    CHECK(wfre_clause_form_of(maker, rules, formula->children[0], true, &parts[1]));
    return wfre_clause_all(maker, parts, 2, form);
}

wfre_status wfre_clause_form_of(wfre_clause_maker *maker, const wfre_clause_rules *rules,
                                const wfre_formula *formula, bool positive,
                                const wfre_clause_form **form)
{
    for (; !positive && formula->kind == WFRE_NOT; positive = true)
        formula = formula->children[0];
    bool found = false;
    wfre_literal literal = {.formula = formula, .positive = positive};
    size_t weight = 1;
    CHECK(rules->find(rules->context, formula, positive, &found, &literal, &weight));
    if (found)
        return wfre_clause_literal(maker, literal, weight, form);
    if (formula->kind == WFRE_NOT)
        return wfre_clause_form_of(maker, rules, formula->children[0], !positive, form);
    if (formula->kind == WFRE_EXISTS)
        return quantify(maker, rules, formula, form);
    return formula->kind == (positive ? WFRE_AND : WFRE_OR)
               ? conjunction(maker, rules, formula, positive, form)
               : disjunction(maker, rules, formula, positive, form);
}

/* ---- lists of clauses --------------------------------------------------------------------- */

static void count_parts(const wfre_clause_form *form, size_t *literals, size_t *variables)
{
    if (form->kind == WFRE_CLAUSE_LITERAL)
        ++*(form->literal.binds ? variables : literals);
    for (uint32_t i = 0; i < form->child_count; i++)
        count_parts(form->children[i], literals, variables);
}

typedef struct clause_filler {
    wfre_literal *literals;
    size_t literal_count;
    uint32_t *variables;
    size_t variable_count;
} clause_filler;

static void fill(clause_filler *f, const wfre_clause_form *form)
{
    if (form->kind == WFRE_CLAUSE_LITERAL && form->literal.binds)
        f->variables[f->variable_count++] = form->literal.formula->variable;
    else if (form->kind == WFRE_CLAUSE_LITERAL)
        f->literals[f->literal_count++] = form->literal;
    for (uint32_t i = 0; i < form->child_count; i++)
        fill(f, form->children[i]);
}

static wfre_status list(wfre_clause_maker *maker, const wfre_clause_form *form, wfre_clause *items,
                        size_t *count)
{
    if (form->kind == WFRE_CLAUSE_ANY) {
        for (uint32_t i = 0; i < form->child_count; i++)
            CHECK(list(maker, form->children[i], items, count));
        return WFRE_OK;
    }
    size_t literals = 0, variables = 0;
    count_parts(form, &literals, &variables);
    clause_filler f = {.literals = wfre_arena_alloc(maker->arena, literals, sizeof *f.literals),
                       .variables = wfre_arena_alloc(maker->arena, variables, sizeof *f.variables)};
    if (!f.literals || !f.variables)
        return no_memory(maker);
    fill(&f, form);
    items[(*count)++] = (wfre_clause){f.literals, literals, f.variables, variables};
    return WFRE_OK;
}

wfre_status wfre_clauses_list(wfre_clause_maker *maker, const wfre_clause_form *form,
                              wfre_clauses *clauses)
{
    size_t count = 0;
    wfre_clause *items = wfre_arena_alloc(maker->arena, form->clauses, sizeof *items);
    if (!items)
        return no_memory(maker);
    CHECK(list(maker, form, items, &count));
    *clauses = (wfre_clauses){items, count};
    return WFRE_OK;
}

/* ---- what the join takes for a literal ---------------------------------------------------- */

static wfre_status find_for_join(void *context, const wfre_formula *part, bool positive,
                                 bool *found, wfre_literal *literal, size_t *weight)
{
    (void)context, (void)literal, (void)weight;
    *found =
        part->child_count == 0 || (part->kind == WFRE_EXISTS && (!positive || part->of_relations));
    return WFRE_OK;
}

wfre_status wfre_clauses_of(wfre_clause_maker *maker, const wfre_formula *formula, bool positive,
                            wfre_clauses *clauses)
{
    static const wfre_clause_rules RULES = {.find = find_for_join, .may_stay = true};
    const wfre_clause_form *form;
    CHECK(wfre_clause_form_of(maker, &RULES, formula, positive, &form));
    return wfre_clauses_list(maker, form, clauses);
}
