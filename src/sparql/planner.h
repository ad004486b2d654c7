/* What the parts of the planner share. */
#ifndef WFRE_SRC_SPARQL_PLANNER_H
#define WFRE_SRC_SPARQL_PLANNER_H

#include "sparql/plan.h"

/* What is known where a pattern is entered: slots that may be and that are bound, and the filters
 * that its solutions have to pass. */
typedef struct wfre_sq_entry {
    const uint64_t *possible, *certain;
    uint32_t filter_count;
    const wfre_sq_expression **filters;
} wfre_sq_entry;

typedef struct wfre_sq_planner {
    wfre_sq_exec *x;
    wfre_sq_plan *plan;
    wfre_arena *arena;
    size_t words;
    uint64_t *nothing; /* the empty set */
    /* Within EXISTS: the slots of the row that it is asked for. They stand for their terms
     * everywhere in it, so nothing need be hidden from them. */
    const uint64_t *substituted;
} wfre_sq_planner;

#define GO(expression)                                                                             \
    do {                                                                                           \
        if ((expression) != WFRE_SQ_GO)                                                            \
            return WFRE_SQ_FAIL;                                                                   \
    } while (0)

/* Plans a pattern that is entered like this (plan.c). */
wfre_sq_flow wfre_sq_compile(wfre_sq_planner *pl, const wfre_sq_pattern *pattern,
                             const wfre_sq_entry *in, wfre_sq_node **node);

/* ---- parts (plan_parts.c) ----------------------------------------------------------------- */

/* An empty set; NULL if the run has failed for want of memory. */
uint64_t *wfre_sq_set_new(wfre_sq_planner *pl);
void wfre_sq_set_add(const wfre_sq_planner *pl, uint64_t *set, const uint64_t *more);
bool wfre_sq_set_within(const wfre_sq_planner *pl, const uint64_t *part, const uint64_t *whole);
/* The slots of a set as a list. */
wfre_sq_flow wfre_sq_set_list(wfre_sq_planner *pl, const uint64_t *set, wfre_sq_slot **list,
                              uint32_t *count);
/* A node that may bind what its pattern (or NULL) may. */
wfre_sq_flow wfre_sq_node_new(wfre_sq_planner *pl, wfre_sq_node_kind kind,
                              const wfre_sq_pattern *pattern, wfre_sq_node **node);
wfre_sq_flow wfre_sq_node_room(wfre_sq_planner *pl, wfre_sq_node *node, uint32_t count);
/* Plans the patterns of EXISTS within filters, which see what the node and its surroundings bind.
 */
wfre_sq_flow wfre_sq_prepare_filters(wfre_sq_planner *pl, const wfre_sq_node *node,
                                     const wfre_sq_entry *in,
                                     const wfre_sq_expression *const *filters, uint32_t count);
/* Appends a filter, the two sides of an && each by itself. */
wfre_sq_flow wfre_sq_add_filter(wfre_sq_planner *pl, const wfre_sq_expression ***filters,
                                uint32_t *count, const wfre_sq_expression *e);
/* Puts filters on top of a node. */
wfre_sq_flow wfre_sq_wrap(wfre_sq_planner *pl, const wfre_sq_entry *in,
                          const wfre_sq_expression **filters, uint32_t count, wfre_sq_node **node);
/* Divides the filters of `in`: those for which `child` binds all that the whole pattern could bind
 * for them go down, the others stay. */
wfre_sq_flow wfre_sq_divide(wfre_sq_planner *pl, const wfre_sq_entry *in, const uint64_t *whole,
                            const wfre_sq_pattern *child, wfre_sq_entry *down, wfre_sq_entry *stay);
void wfre_sq_make_atom(const wfre_sq_planner *pl, const wfre_sq_triple *triple, wfre_sq_atom *atom);
/* One node for one or more basic patterns that are joined. */
wfre_sq_flow wfre_sq_compile_basics(wfre_sq_planner *pl, const wfre_sq_pattern *const *patterns,
                                    uint32_t count, const wfre_sq_entry *in, wfre_sq_node **node);

/* ---- what has several parts (plan_join.c) ------------------------------------------------- */

wfre_sq_flow wfre_sq_compile_join(wfre_sq_planner *pl, const wfre_sq_pattern *pattern,
                                  const wfre_sq_entry *in, wfre_sq_node **node);
wfre_sq_flow wfre_sq_compile_left(wfre_sq_planner *pl, const wfre_sq_pattern *pattern,
                                  const wfre_sq_entry *in, wfre_sq_node **node);
wfre_sq_flow wfre_sq_compile_union(wfre_sq_planner *pl, const wfre_sq_pattern *pattern,
                                   const wfre_sq_entry *in, wfre_sq_node **node);
wfre_sq_flow wfre_sq_compile_minus(wfre_sq_planner *pl, const wfre_sq_pattern *pattern,
                                   const wfre_sq_entry *in, wfre_sq_node **node);

#endif
