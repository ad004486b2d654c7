/* The clause form (disjunctive normal form): alternatives of conjunctions of literals.
 *
 * Formulas and operator trees are brought to it by the same distribution, under one limit. It has
 * three readers: the join plans its clauses one by one (exact/join_plan.c), formula_tree.c makes a
 * tree of each, and normal.c writes it as a tree again, which prediction takes. They differ in what
 * they do not take apart, their literals:
 *
 *   the join     atoms, existentials that are negated or about relations, and disjunctions that are
 *                cheaper as a set
 *   finding      atoms between two variables, and all parts that depend on one
 *   normal forms entities and projections
 *
 * Distribution keeps the nesting of the disjunctions, because the published normal forms have it;
 * wfre_clauses_list forgets it. Forms are never changed after they were made, and share parts. */
#ifndef WFRE_SRC_QUERY_CLAUSE_H
#define WFRE_SRC_QUERY_CLAUSE_H

#include "query/formula.h"

/* Distribution may give at most this many literals, written out, and a tree that is brought to the
 * form may have as many nodes: far more than people ask for, and few enough to be walked at once.
 */
enum { WFRE_CLAUSE_LIMIT = 1 << 16 };
/* Why something is not brought to the form, as a sentence without its end. */
#define WFRE_CLAUSES_TOO_LARGE "its disjunctive normal form is too large, with over 65,536 literals"

typedef struct wfre_literal {
    const wfre_formula *formula; /* NULL in the form of a tree */
    const wfre_node *node;       /* its set of entities, in the forms that have it */
    bool positive;
    bool binds; /* it only says that the clause binds the formula's variable */
} wfre_literal;

typedef enum wfre_clause_kind {
    WFRE_CLAUSE_LITERAL,
    WFRE_CLAUSE_ALL, /* of literals, and of conjunctions of such */
    WFRE_CLAUSE_ANY  /* of two or more */
} wfre_clause_kind;

typedef struct wfre_clause_form {
    wfre_clause_kind kind;
    wfre_literal literal;
    const struct wfre_clause_form *const *children;
    uint32_t child_count;
    size_t clauses; /* written out; and the weights of their literals together */
    size_t weight;
} wfre_clause_form;

/* ---- making: all fail with WFRE_ERR_MEMORY, distribution also with WFRE_ERR_UNSUPPORTED, and
 * WFRE_CLAUSES_TOO_LARGE is the message then ------------------------------------------------- */

typedef struct wfre_clause_maker {
    wfre_arena *arena; /* of the forms */
    wfre_error *error;
} wfre_clause_maker;

/* The weight is how much of the limit it takes: 1, or the nodes of its tree. */
WFRE_NODISCARD wfre_status wfre_clause_literal(wfre_clause_maker *maker, wfre_literal literal,
                                               size_t weight, const wfre_clause_form **form);
WFRE_NODISCARD wfre_status wfre_clause_any(wfre_clause_maker *maker,
                                           const wfre_clause_form *const *parts, uint32_t count,
                                           const wfre_clause_form **form);
/* Distributes over the first part that is a disjunction, then over the rest. */
WFRE_NODISCARD wfre_status wfre_clause_all(wfre_clause_maker *maker,
                                           const wfre_clause_form *const *parts, uint32_t count,
                                           const wfre_clause_form **form);
WFRE_NODISCARD wfre_status wfre_clause_negate(wfre_clause_maker *maker,
                                              const wfre_clause_form *form,
                                              const wfre_clause_form **negated);

/* ---- formulas ----------------------------------------------------------------------------- */

/* Whether a part of a formula is a literal, and which; other parts are taken apart. */
typedef wfre_status (*wfre_find_literal)(void *context, const wfre_formula *part, bool positive,
                                         bool *found, wfre_literal *literal, size_t *weight);

typedef struct wfre_clause_rules {
    wfre_find_literal find;
    void *context;
    /* Disjunctions in a conjunction may stay literals: those beyond the limit do, and those that
     * are sets of one variable's values found by looking up edges. */
    bool may_stay;
} wfre_clause_rules;

/* The form of the formula, or of its negation if not `positive`. */
WFRE_NODISCARD wfre_status wfre_clause_form_of(wfre_clause_maker *maker,
                                               const wfre_clause_rules *rules,
                                               const wfre_formula *formula, bool positive,
                                               const wfre_clause_form **form);

/* ---- lists of clauses --------------------------------------------------------------------- */

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

WFRE_NODISCARD wfre_status wfre_clauses_list(wfre_clause_maker *maker, const wfre_clause_form *form,
                                             wfre_clauses *clauses);

/* The clauses of a formula, or of its negation if not `positive`, as the join wants them. Literals
 * that are no atoms are questions of their own: negated existentials, existentials about relations,
 * and disjunctions. */
WFRE_NODISCARD wfre_status wfre_clauses_of(wfre_clause_maker *maker, const wfre_formula *formula,
                                           bool positive, wfre_clauses *clauses);
#endif
