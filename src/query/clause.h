/* Formulas as alternatives of conjunctions: the shape in which the join reads them.
 *
 * Negations are pushed down to atoms and quantifiers, and disjunctions pulled up. What then cannot
 * be taken apart stays one literal: a negated existential, or a disjunction whose distribution
 * would give too many clauses. Such a literal is a question of its own (wfre_clauses_of_literal).
 */
#ifndef WFRE_SRC_QUERY_CLAUSE_H
#define WFRE_SRC_QUERY_CLAUSE_H

#include "query/formula.h"

typedef struct wfre_literal {
    const wfre_formula *formula;
    bool positive;
} wfre_literal;

/* There are values for `variables` such that all literals hold. */
typedef struct wfre_clause {
    const wfre_literal *literals;
    size_t literal_count;
    const uint32_t *variables;
    size_t variable_count;
} wfre_clause;

/* One of the clauses holds. */
typedef struct wfre_clauses {
    const wfre_clause *items;
    size_t count;
} wfre_clauses;

/* The formula, or its negation if not `positive`. False when out of memory. */
bool wfre_clauses_make(wfre_arena *arena, const wfre_formula *formula, bool positive,
                       wfre_clauses *clauses);

/* Takes a literal that is no atom apart: it holds if one of the clauses does, or, if *negated, if
 * none does. */
bool wfre_clauses_of_literal(wfre_arena *arena, wfre_literal literal, wfre_clauses *clauses,
                             bool *negated);

/* Adds the variables that occur in the formula and are not bound in it to `variables`, each once;
 * there is room for all of the query's. */
void wfre_free_variables(const wfre_formula *formula, uint32_t *variables, size_t *count);

#endif
