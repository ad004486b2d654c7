/* First-order formulas with one free variable: what the logic notation parses to, and what the
 * exact engine answers when a query is not a tree. */
#ifndef WFRE_SRC_QUERY_FORMULA_H
#define WFRE_SRC_QUERY_FORMULA_H

#include "query/tree.h"
#include "wfre/graph.h"
#include "wfre/query.h"

typedef enum wfre_formula_kind {
    WFRE_ATOM,  /* relation(left, right) */
    WFRE_NOT,   /* one child */
    WFRE_AND,   /* two or more children */
    WFRE_OR,    /* two or more children */
    WFRE_EXISTS /* variable, one child; `forall` is rewritten to not-exists-not on parsing */
} wfre_formula_kind;

typedef struct wfre_term {
    bool is_variable;
    uint32_t id; /* variable index or entity */
} wfre_term;

typedef struct wfre_formula {
    wfre_formula_kind kind;
    wfre_relation relation; /* of an atom; always a forward (even) id */
    wfre_term left, right;  /* of an atom */
    uint32_t variable;      /* bound by WFRE_EXISTS; every quantifier binds a variable of its own */
    uint32_t child_count;
    const struct wfre_formula *const *children;
    const uint32_t *variables; /* free in it, ascending */
    uint32_t variable_count;
} wfre_formula;

/* A parsed question. Everything it points to lives in its arena. Every variable but the free one is
 * bound by exactly one quantifier. */
struct wfre_query {
    wfre_arena arena;
    uint32_t variable_count;
    const char *const *variable_names; /* without the question mark; may repeat */
    uint32_t free_variable;
    const wfre_formula *formula; /* NULL only if a tree has none */
    const char *no_formula;      /* why then, in a sentence a user understands */
    const wfre_node *tree;       /* the operator tree, or NULL if the formula is not one */
    const char *not_a_tree;      /* why `tree` is NULL, in a sentence a user understands */
};

/* Formulas nest at most this deep, quantifiers included, so that recursion over them is safe. */
enum { WFRE_FORMULA_DEPTH = 2048 };
/* All that the parser reads; a tree that would need more has no formula, lest it be written in a
 * way that cannot be read. */
enum { WFRE_FORMULA_VARIABLES = 1024 };

/* ---- making: NULL when out of memory, or when a child is NULL already --------------------- */

wfre_term wfre_term_variable(uint32_t variable);
wfre_term wfre_term_entity(wfre_entity entity);
/* relation may be an inverse: the terms are swapped then. */
const wfre_formula *wfre_formula_atom(wfre_arena *arena, wfre_relation relation, wfre_term left,
                                      wfre_term right);
const wfre_formula *wfre_formula_not(wfre_arena *arena, const wfre_formula *child);
const wfre_formula *wfre_formula_exists(wfre_arena *arena, uint32_t variable,
                                        const wfre_formula *child);
/* WFRE_AND or WFRE_OR; of one child it is the child itself. */
const wfre_formula *wfre_formula_join(wfre_arena *arena, wfre_formula_kind kind,
                                      const wfre_formula *const *children, uint32_t child_count);

/* ---- queries ------------------------------------------------------------------------------ */

/* Whether two questions are the same but for the names and numbers of their variables. */
WFRE_NODISCARD wfre_status wfre_query_same_formula(const wfre_query *a, const wfre_query *b,
                                                   bool *same, wfre_error *error);

/* The name under which each variable is shown, without the question mark: a variable that would
 * hide another in scope gets a number behind its own. In the arena; NULL when out of memory. */
const char *const *wfre_query_names(const wfre_query *query, wfre_arena *arena);

/* Fails with WFRE_ERR_ARGUMENT if the graph does not have all ids of the query, which may have been
 * read without a graph or with another. */
WFRE_NODISCARD wfre_status wfre_query_fits(const wfre_query *query, const wfre_graph *graph,
                                           wfre_error *error);

/* Fills query->tree, or query->not_a_tree with the reason. Fails only when out of memory. */
WFRE_NODISCARD wfre_status wfre_query_find_tree(wfre_query *query, wfre_error *error);
/* The opposite: fills formula and variables from query->tree, or query->no_formula. */
WFRE_NODISCARD wfre_status wfre_query_find_formula(wfre_query *query, wfre_error *error);

#endif
