/* A clause made ready for the join.
 *
 * Planning answers by set operations what can be: atoms with an entity, negated or not, and
 * subformulas about one variable shrink the variable's domain; a variable that hangs on one other
 * by a single atom (a leaf) is folded into that one's domain and gone. So the tree-like parts of a
 * formula never reach the join. What remains is a forest of steps, one a variable: a step's
 * candidates are the common members of its domain and of the adjacency lists of variables above it
 * (the generic join), its tests are those whose last variable it is, and its children are
 * independent of each other once it has a value. */
#ifndef WFRE_SRC_EXACT_JOIN_PLAN_H
#define WFRE_SRC_EXACT_JOIN_PLAN_H

#include "base/hash.h"
#include "exact/exact.h"
#include "query/clause.h"

struct wfre_join_plan;

typedef struct wfre_join_plans {
    const struct wfre_join_plan *items;
    size_t count;
} wfre_join_plans;

typedef enum wfre_test_kind {
    WFRE_TEST_EDGE,  /* relation(left, right) */
    WFRE_TEST_EQUAL, /* left is right */
    WFRE_TEST_SET,   /* left is in the set */
    WFRE_TEST_PLANS, /* one of the plans holds */
} wfre_test_kind;

/* A condition on variables that have values. */
typedef struct wfre_test {
    wfre_test_kind kind;
    bool positive; /* else it must not hold */
    wfre_relation relation;
    wfre_term left, right;
    wfre_set set;
    wfre_join_plans plans;
    const uint32_t *variables;
    size_t variable_count;
} wfre_test;

/* An atom that gives candidates: the targets of the value of `from`. */
typedef struct wfre_source {
    wfre_relation relation; /* WFRE_NONE: the value itself */
    uint32_t from;
} wfre_source;

typedef struct wfre_join_step {
    uint32_t variable;
    wfre_set domain;
    wfre_source *sources;
    size_t source_count;
    const wfre_test **tests;
    size_t test_count;
    struct wfre_join_step **children; /* below which nothing is asked for */
    size_t child_count;
    struct wfre_join_step **asked; /* the other children */
    size_t asked_count;
    /* While searching: the lists to intersect and the place in each. */
    wfre_list *lists;
    size_t *at;
    size_t list_count;
    wfre_entity next;
} wfre_join_step;

typedef struct wfre_join_plan {
    bool impossible;         /* no need to search */
    const wfre_test **tests; /* on variables from outside */
    size_t test_count;
    wfre_join_step **asked; /* at or below which something is asked for */
    size_t asked_count;
    wfre_join_step **roots; /* the other steps that stand alone */
    size_t root_count;
} wfre_join_plan;

/* What is known of a literal that is a question of its own. The clauses of a formula share their
 * literals, and so do those of the subformulas below: each is planned once, else the work would
 * multiply with every level. */
typedef struct wfre_subformula {
    bool negated; /* it holds if what follows does not */
    const uint32_t *variables;
    size_t variable_count;
    bool holds;            /* without variables */
    wfre_set set;          /* of one variable: its values */
    wfre_join_plans plans; /* of several */
} wfre_subformula;

/* One question being answered. */
typedef struct wfre_join {
    wfre_exact *exact;
    wfre_split split;
    const wfre_adjacency *edges;
    wfre_arena arena;   /* plans and answer lists */
    wfre_entity *value; /* of each variable of the query, once it has one */
    uint32_t variable_count;
    uint32_t ticks;               /* candidates since the clock was last looked at */
    wfre_strings literals;        /* those planned, by address and sign */
    wfre_subformula *subformulas; /* one a literal */
    size_t subformula_capacity;
    wfre_error *error;
} wfre_join;

/* The variables whose values are asked for; none if the question is whether a clause holds. */
typedef struct wfre_targets {
    const uint32_t *variables;
    size_t count;
} wfre_targets;

/* Plans each clause of the formula, or of its negation. Variables that are neither targets nor the
 * clause's own come from outside; none of them stands for a relation. */
WFRE_NODISCARD wfre_status wfre_join_prepare(wfre_join *join, const wfre_formula *formula,
                                             bool positive, wfre_targets targets,
                                             wfre_join_plans *plans);
/* Whether the formula may hold with this relation for the variable `of`; false is certain. */
bool wfre_may_hold(const wfre_join *join, const wfre_formula *formula, uint32_t of,
                   wfre_relation relation);

/* What the join offers to the planner (exact/join.c). */
/* The values of the only target for which one of the plans holds; the set is the caller's. */
WFRE_NODISCARD wfre_status wfre_join_set(wfre_join *join, wfre_join_plans plans, wfre_set *set);
/* Whether one of the plans holds with the values that outside variables have. */
WFRE_NODISCARD wfre_status wfre_join_any(wfre_join *join, wfre_join_plans plans, bool *holds);
/* Whether the plan's outside tests and all its roots hold. */
WFRE_NODISCARD wfre_status wfre_join_plan_holds(wfre_join *join, const wfre_join_plan *plan,
                                                bool *holds);
WFRE_NODISCARD wfre_status wfre_join_step_holds(wfre_join *join, wfre_join_step *step, bool *holds);
/* The way through a step's candidates: begin, take the next (false at the end), give it to the
 * variable and look whether the tests and what is below hold. */
void wfre_join_step_begin(const wfre_join *join, wfre_join_step *step);
bool wfre_join_step_next(const wfre_join *join, wfre_join_step *step, wfre_entity *candidate);
WFRE_NODISCARD wfre_status wfre_join_step_try(wfre_join *join, const wfre_join_step *step,
                                              wfre_entity candidate, bool *holds);

WFRE_NODISCARD wfre_status wfre_join_open(wfre_join *join, wfre_exact *exact, wfre_split split,
                                          const wfre_query *query, wfre_error *error);
void wfre_join_close(wfre_join *join);

#endif
