/* First-order formulas with one free variable: what the logic notation parses to, and what the
 * exact engine answers when a query is not a tree. */
#ifndef WFRE_SRC_QUERY_FORMULA_H
#define WFRE_SRC_QUERY_FORMULA_H

#include "query/tree.h"

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
} wfre_formula;

/* A parsed question. Everything it points to lives in its arena. Every variable but the free one is
 * bound by exactly one quantifier. */
typedef struct wfre_query {
    wfre_arena arena;
    uint32_t variable_count;
    const char *const *variable_names; /* without the question mark; may repeat */
    uint32_t free_variable;
    const wfre_formula *formula; /* always there */
    const wfre_node *tree;       /* the operator tree, or NULL if the formula is not one */
    const char *not_a_tree;      /* why `tree` is NULL, in a sentence a user understands */
} wfre_query;

#endif
