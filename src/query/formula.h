/* First-order formulas: what the logic notation parses to, and what the exact engine answers when a
 * query is not a tree. */
#ifndef WFRE_SRC_QUERY_FORMULA_H
#define WFRE_SRC_QUERY_FORMULA_H

#include "query/tree.h"
#include "wfre/graph.h"
#include "wfre/query.h"

typedef enum wfre_formula_kind {
    WFRE_ATOM,  /* relation(left, right) */
    WFRE_LINK,  /* ?variable(left, right): the variable stands for a relation */
    WFRE_EQUAL, /* left = right */
    WFRE_NOT,   /* one child */
    WFRE_AND,   /* two or more children */
    WFRE_OR,    /* two or more children */
    WFRE_EXISTS /* variable, one child; `forall` is rewritten to not-exists-not on parsing */
} wfre_formula_kind;

struct wfre_formula {
    wfre_formula_kind kind;
    wfre_relation relation; /* of an atom; always a forward (even) id */
    wfre_term left, right;  /* of what has no children */
    uint32_t variable;      /* of WFRE_LINK; or bound by WFRE_EXISTS, and by nothing else */
    bool of_relations;      /* WFRE_EXISTS: the variable stands for a relation */
    uint32_t child_count;
    const struct wfre_formula *const *children;
    const uint32_t *variables; /* free in it, ascending */
    uint32_t variable_count;
    uint32_t depth; /* 1 without children */
    size_t size;    /* parts, each time they occur; SIZE_MAX for more */
};

/* A parsed question. Everything it points to lives in its arena. The first `asked` variables are
 * those asked for; each of the others is bound by exactly one quantifier. */
struct wfre_query {
    wfre_arena arena;
    uint32_t variable_count;
    uint32_t asked;                    /* 0: whether the formula holds */
    uint32_t counted;                  /* the last of these are counted */
    const char *const *variable_names; /* without the question mark; may repeat */
    const bool *of_relations;          /* per variable; NULL if all stand for entities */
    const wfre_formula *formula;       /* NULL only if a tree has none */
    const char *no_formula;            /* why then, in a sentence a user understands */
    const wfre_node *tree;             /* the operator tree, or NULL if the formula is not one */
    const char *not_a_tree;            /* why `tree` is NULL, in a sentence a user understands */
};

/* Formulas nest at most this deep, quantifiers included, so that recursion over them is safe. */
enum { WFRE_FORMULA_DEPTH = 2048 };
/* All that the parser reads; a tree that would need more has no formula, lest it be written in a
 * way that cannot be read. */
enum { WFRE_FORMULA_VARIABLES = 1024 };
/* How deep text and builders may nest, not counting the quantifiers that go in front. */
enum { WFRE_FORMULA_NESTING = 2 * WFRE_TREE_DEPTH };
_Static_assert(WFRE_FORMULA_NESTING + WFRE_FORMULA_VARIABLES < WFRE_FORMULA_DEPTH,
               "formulas could become too deep");

/* ---- making: NULL when out of memory, or when a child is NULL already --------------------- */

wfre_term wfre_term_variable(uint32_t variable);
/* relation may be an inverse: the terms are swapped then. */
const wfre_formula *wfre_formula_atom(wfre_arena *arena, wfre_relation relation, wfre_term left,
                                      wfre_term right);
const wfre_formula *wfre_formula_link(wfre_arena *arena, uint32_t variable, wfre_term left,
                                      wfre_term right);
const wfre_formula *wfre_formula_equal(wfre_arena *arena, wfre_term left, wfre_term right);
const wfre_formula *wfre_formula_not(wfre_arena *arena, const wfre_formula *child);
const wfre_formula *wfre_formula_exists(wfre_arena *arena, uint32_t variable,
                                        const wfre_formula *child);
/* The same for a variable that stands for a relation. */
const wfre_formula *wfre_formula_exists_relation(wfre_arena *arena, uint32_t variable,
                                                 const wfre_formula *child);
/* WFRE_AND or WFRE_OR; of one child it is the child itself. */
const wfre_formula *wfre_formula_join(wfre_arena *arena, wfre_formula_kind kind,
                                      const wfre_formula *const *children, uint32_t child_count);

/* The formula with image[v] for each variable v, bound ones included. */
const wfre_formula *wfre_formula_rename(wfre_arena *arena, const wfre_formula *formula,
                                        const uint32_t *image);
/* The formula with a relation for the variable that stands for one. What does not mention it is
 * shared. */
const wfre_formula *wfre_formula_with_relation(wfre_arena *arena, const wfre_formula *formula,
                                               uint32_t variable, wfre_relation relation);

/* The variables that a part without children mentions, in the order in which it is written; returns
 * how many. */
uint32_t wfre_formula_mentions(const wfre_formula *formula, uint32_t variables[3]);
/* Whether the variable is free in it. */
bool wfre_formula_has(const wfre_formula *formula, uint32_t variable);

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
