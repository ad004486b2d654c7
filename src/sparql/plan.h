/* How a query is evaluated on one graph: a tree of nodes, made from its patterns.
 *
 * A node is entered with a row. Slots that are bound then restrict its solutions: solutions that
 * disagree with them do not come. That gives the same as joining afterwards only if the node is
 * *transparent* for the slot (plan.c has the rules); where it is not, the node's pattern is put
 * into a table once, entered with an empty row, and the row is joined with the table. */
#ifndef WFRE_SRC_SPARQL_PLAN_H
#define WFRE_SRC_SPARQL_PLAN_H

#include "sparql/exec.h"
#include "sparql/table.h"

/* The one service that there is: what a model predicts. */
#define WFRE_SQ_NAMESPACE "urn:wfre:ns#"
#define WFRE_SQ_PREDICT WFRE_SQ_NAMESPACE "predict"

/* ---- sets of slots ------------------------------------------------------------------------ */

typedef uint64_t *wfre_sq_slots; /* plan->words of them */

static inline bool wfre_sq_slots_has(const uint64_t *set, wfre_sq_slot slot)
{
    return set[slot / 64] >> (slot % 64) & 1;
}

static inline void wfre_sq_slots_add(uint64_t *set, wfre_sq_slot slot)
{
    set[slot / 64] |= UINT64_C(1) << (slot % 64);
}

/* ---- steps of a basic pattern ------------------------------------------------------------- */

/* A place of a triple: a term that is known, or a slot. */
typedef struct wfre_sq_place {
    wfre_sq_slot slot; /* WFRE_NONE: it is `term` */
    wfre_rdf_id term;
} wfre_sq_place;

typedef struct wfre_sq_atom {
    wfre_sq_place at[WFRE_RDF_PLACES];
    const wfre_sq_path *path; /* instead of a predicate */
    bool twice;               /* a slot stands in two places */
} wfre_sq_atom;

typedef enum wfre_sq_step_kind {
    WFRE_SQ_SCAN,  /* one atom; binds what it lacks */
    WFRE_SQ_MEET,  /* one slot: the terms that all its columns have */
    WFRE_SQ_CHECK, /* one atom, all bound */
    WFRE_SQ_WALK   /* one path */
} wfre_sq_step_kind;

typedef struct wfre_sq_step {
    wfre_sq_step_kind kind;
    const wfre_sq_atom *atom;
    wfre_sq_slot slot; /* of MEET */
    uint32_t column_count;
    const wfre_sq_atom **column_atoms;
    wfre_rdf_place *column_places;
    wfre_rdf_column *columns;
    wfre_rdf_scan scan;
    uint32_t filter_count; /* tested when the step has bound its slots */
    const wfre_sq_expression **filters;
    double estimate; /* solutions up to here, for explanations and tests */
} wfre_sq_step;

/* ---- nodes -------------------------------------------------------------------------------- */

typedef enum wfre_sq_node_kind {
    WFRE_SQ_N_BASIC,
    WFRE_SQ_N_JOIN,
    WFRE_SQ_N_LEFT,
    WFRE_SQ_N_UNION,
    WFRE_SQ_N_MINUS,  /* the right side restricted by the row: NOT EXISTS */
    WFRE_SQ_N_EXCEPT, /* the right side as a table */
    WFRE_SQ_N_FILTER,
    WFRE_SQ_N_EXTEND,
    WFRE_SQ_N_VALUES,
    WFRE_SQ_N_NOTHING, /* no solutions */
    WFRE_SQ_N_TABLE,   /* its child's solutions, kept */
    WFRE_SQ_N_SUBQUERY,
    WFRE_SQ_N_GRAPH, /* its child in a named graph */
    WFRE_SQ_N_PREDICT
} wfre_sq_node_kind;

typedef struct wfre_sq_node {
    wfre_sq_node_kind kind;
    const wfre_sq_pattern *pattern;
    wfre_sq_slots possible; /* slots that its solutions may bind */
    wfre_sq_slots certain;  /* slots that they all bind */
    uint32_t count;
    struct wfre_sq_node **children;
    uint32_t filter_count;
    const wfre_sq_expression **filters;
    uint32_t step_count; /* of BASIC */
    wfre_sq_step *steps;
    uint32_t atom_count;
    wfre_sq_atom *atoms;
    const wfre_rdf_id *cells; /* of VALUES */
    wfre_sq_table *table;     /* of TABLE and EXCEPT */
    uint32_t given_count; /* slots that the table depends on, and their terms when it was made */
    wfre_sq_slot *given;
    wfre_rdf_id *given_terms;
    const wfre_rdf *given_graph; /* that it was made in */
    uint32_t shared_count;       /* of EXCEPT: slots that both sides may bind */
    wfre_sq_slot *shared;
    struct wfre_sq_selection *selection;   /* of SUBQUERY */
    struct wfre_sq_prediction *prediction; /* of PREDICT; children: its restriction, its OPTIONAL */
    double estimate;
} wfre_sq_node;

typedef struct wfre_sq_plan {
    wfre_arena arena;
    size_t words;                        /* of a set of slots */
    wfre_sq_node **nodes;                /* by the number of a pattern, for EXISTS */
    struct wfre_sq_selection *selection; /* of the whole query */
    wfre_sq_node *behind;                /* what is predicted behind its rows, or NULL */
    wfre_sq_node **made;                 /* every node, for freeing */
    size_t made_count, made_capacity;
} wfre_sq_plan;

/* Plans the query; x->plan is to be freed also if it fails. */
wfre_sq_flow wfre_sq_plan_make(wfre_sq_exec *x);
void wfre_sq_plan_free(wfre_sq_exec *x, wfre_sq_plan *plan);
/* The node of a pattern within EXISTS. */
const wfre_sq_node *wfre_sq_plan_of(const wfre_sq_plan *plan, const wfre_sq_pattern *pattern);

/* Puts the atoms of a basic pattern into order and its filters behind the steps that bind what they
 * need (order.c). `bound`: slots that are bound when it is entered. */
wfre_sq_flow wfre_sq_plan_steps(wfre_sq_exec *x, wfre_sq_node *node, const uint64_t *bound);

/* Adds the slots that an expression looks at, within EXISTS too. */
void wfre_sq_expression_slots(const wfre_sq_expression *e, uint64_t *slots);

/* ---- what runs a node (evaluate.c, basic.c, select.c, predict.c) -------------------------- */

wfre_sq_flow wfre_sq_run_basic(wfre_sq_exec *x, wfre_sq_node *node, wfre_sq_sink *sink);
wfre_sq_flow wfre_sq_run_selection(wfre_sq_exec *x, struct wfre_sq_selection *selection,
                                   wfre_sq_sink *sink);
wfre_sq_flow wfre_sq_run_graph(wfre_sq_exec *x, const wfre_sq_node *node, wfre_sq_sink *sink);
wfre_sq_flow wfre_sq_run_predict(wfre_sq_exec *x, wfre_sq_node *node, wfre_sq_sink *sink);

/* Walks a path from one term to another, either of which may be WFRE_NONE (path.c). */
typedef struct wfre_sq_walker {
    wfre_sq_flow (*emit)(struct wfre_sq_walker *walker, wfre_sq_exec *x, wfre_rdf_id from,
                         wfre_rdf_id to);
} wfre_sq_walker;
wfre_sq_flow wfre_sq_walk(wfre_sq_exec *x, const wfre_sq_path *path, wfre_rdf_id from,
                          wfre_rdf_id to, wfre_sq_walker *walker);

#endif
