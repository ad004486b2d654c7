/* Formulas as text of the logic notation.
 *
 * Quantifiers that the parser would put back by itself are left out: those in front of the formula,
 * as far as the formula uses their variables in the same order. Brackets are written where the
 * parser needs them to build the same formula, and around quantifiers for the reader. */
#include "query/notation.h"
#include "query/scan.h"

typedef struct printer {
    wfre_text *text;
    const wfre_graph *graph;
    const wfre_query *query;
    wfre_arena arena;         /* of the names below, and for scratch */
    const char *const *shown; /* of each variable */
} printer;

static void print_formula(printer *p, const wfre_formula *formula);

static void print_term(printer *p, wfre_term term)
{
    if (term.is_variable)
        wfre_text_format(p->text, "?%s", p->shown[term.id]);
    else
        wfre_print_entity(p->text, p->graph, term.id);
}

/* ---- formulas ----------------------------------------------------------------------------- */

/* As an operand of an operator that binds tighter. */
static void print_operand(printer *p, const wfre_formula *formula, bool brackets)
{
    if (brackets)
        wfre_text_char(p->text, '(');
    print_formula(p, formula);
    if (brackets)
        wfre_text_char(p->text, ')');
}

static bool needs_brackets(const wfre_formula *formula, const wfre_formula *child)
{
    return child->kind == WFRE_EXISTS || child->kind == WFRE_OR ||
           (child->kind == WFRE_AND && formula->kind == WFRE_AND);
}

static void print_joined(printer *p, const wfre_formula *formula)
{
    for (uint32_t i = 0; i < formula->child_count; i++) {
        const wfre_formula *child = formula->children[i];
        if (i > 0)
            wfre_text_add(p->text, formula->kind == WFRE_AND ? " & " : " | ");
        print_operand(p, child, needs_brackets(formula, child));
    }
}

static bool starts_with_bracket(const wfre_formula *formula)
{
    bool joined = formula->kind == WFRE_AND || formula->kind == WFRE_OR;
    return joined && (needs_brackets(formula, formula->children[0]) ||
                      starts_with_bracket(formula->children[0]));
}

/* One "exists" for quantifiers that follow one another. */
static void print_exists(printer *p, const wfre_formula *formula)
{
    const char *before = "exists ?";
    for (; formula->kind == WFRE_EXISTS; formula = formula->children[0]) {
        wfre_text_add(p->text, before);
        wfre_text_add(p->text, p->shown[formula->variable]);
        before = ", ?";
    }
    wfre_text_add(p->text, ". ");
    print_formula(p, formula);
}

static void print_atom(printer *p, const wfre_formula *atom)
{
    if (atom->kind == WFRE_LINK)
        wfre_text_format(p->text, "?%s", p->shown[atom->variable]);
    else
        wfre_print_relation(p->text, p->graph, atom->relation);
    wfre_text_char(p->text, '(');
    print_term(p, atom->left);
    wfre_text_add(p->text, ", ");
    print_term(p, atom->right);
    wfre_text_char(p->text, ')');
}

static void print_equality(printer *p, const wfre_formula *equality, const char *sign)
{
    print_term(p, equality->left);
    wfre_text_add(p->text, sign);
    print_term(p, equality->right);
}

static void print_formula(printer *p, const wfre_formula *formula)
{
    const wfre_formula *child = formula->child_count ? formula->children[0] : NULL;
    switch (formula->kind) {
    case WFRE_ATOM:
    case WFRE_LINK:
        print_atom(p, formula);
        break;
    case WFRE_EQUAL:
        print_equality(p, formula, " = ");
        break;
    case WFRE_NOT:
        if (child->kind == WFRE_EQUAL) {
            print_equality(p, child, " != ");
            break;
        }
        wfre_text_char(p->text, '!');
        print_operand(p, child, child->child_count > 0 && child->kind != WFRE_NOT);
        break;
    case WFRE_AND:
    case WFRE_OR:
        print_joined(p, formula);
        break;
    case WFRE_EXISTS:
        print_exists(p, formula);
        break;
    }
}

/* ---- quantifiers in front ----------------------------------------------------------------- */

/* Numbers the variables in the order of their first use; those that are not used keep WFRE_NONE. */
static void number_uses(const wfre_formula *formula, uint32_t *rank, uint32_t *next)
{
    uint32_t mentioned[3];
    uint32_t count = wfre_formula_mentions(formula, mentioned);
    for (uint32_t i = 0; i < count; i++)
        if (rank[mentioned[i]] == WFRE_NONE)
            rank[mentioned[i]] = (*next)++;
    for (uint32_t i = 0; i < formula->child_count; i++)
        number_uses(formula->children[i], rank, next);
}

/* The formula behind the quantifiers that need not be written. */
static const wfre_formula *leave_out_front(printer *p)
{
    const wfre_formula *rest = p->query->formula;
    uint32_t *rank = wfre_arena_alloc(&p->arena, p->query->variable_count, sizeof *rank);
    if (!rank) {
        p->text->failed = true;
        return rest;
    }
    for (uint32_t v = 0; v < p->query->variable_count; v++)
        rank[v] = WFRE_NONE;
    uint32_t uses = 0, next = 0;
    number_uses(rest, rank, &uses);
    for (; rest->kind == WFRE_EXISTS; rest = rest->children[0]) {
        uint32_t use = rank[rest->variable];
        if (use == WFRE_NONE || use < next)
            break;
        next = use + 1;
    }
    return rest;
}

/* The variables asked for. Without any there is nothing to write, unless the text would then be
 * read differently: as a question for variables that nothing binds, or, with a bracket in front, as
 * another notation. */
static void print_head(printer *p, const wfre_formula *rest)
{
    for (uint32_t v = 0; v < p->query->asked; v++)
        wfre_text_format(p->text, "%s%s?%s", v > 0 ? ", " : "",
                         v == p->query->asked - p->query->counted ? "count " : "", p->shown[v]);
    if (p->query->asked > 0)
        wfre_text_add(p->text, " : ");
    else if (rest->variable_count > 0 || starts_with_bracket(rest))
        wfre_text_add(p->text, ": ");
}

void wfre_logic_print(wfre_text *text, const wfre_graph *graph, const wfre_query *query)
{
    printer p = {.text = text, .graph = graph, .query = query};
    p.shown = wfre_query_names(query, &p.arena);
    if (!p.shown) {
        text->failed = true;
    } else {
        const wfre_formula *rest = leave_out_front(&p);
        print_head(&p, rest);
        print_formula(&p, rest);
    }
    wfre_arena_free(&p.arena);
}
