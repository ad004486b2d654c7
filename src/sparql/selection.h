/* A SELECT that is planned: what is done with the solutions of its pattern. */
#ifndef WFRE_SRC_SPARQL_SELECTION_H
#define WFRE_SRC_SPARQL_SELECTION_H

#include "sparql/plan.h"

typedef struct wfre_sq_selection {
    const wfre_sq_select *select;
    wfre_sq_node *where; /* with the VALUES behind the query, unless it is grouped */
    wfre_sq_node *after; /* those VALUES of a grouped one, or NULL */
    uint32_t output_count;
    wfre_sq_slot *outputs; /* slots that matter afterwards */
    uint32_t row_count;
    wfre_sq_slot *row_slots; /* for COUNT(DISTINCT *): all slots of the pattern */
} wfre_sq_selection;

/* Groups the solutions of `where` and passes the groups on (group.c): keys and aggregates are
 * bound, HAVING holds. */
wfre_sq_flow wfre_sq_run_groups(wfre_sq_exec *x, wfre_sq_selection *selection, wfre_sq_sink *sink);

/* Collects rows and passes them on in order (sort.c). */
typedef struct wfre_sq_sorter wfre_sq_sorter;
wfre_sq_flow wfre_sq_sorter_create(wfre_sq_exec *x, const wfre_sq_selection *selection,
                                   wfre_sq_sorter **sorter);
wfre_sq_flow wfre_sq_sorter_add(wfre_sq_exec *x, wfre_sq_sorter *sorter);
wfre_sq_flow wfre_sq_sorter_emit(wfre_sq_exec *x, wfre_sq_sorter *sorter, wfre_sq_sink *sink);
void wfre_sq_sorter_free(wfre_sq_exec *x, wfre_sq_sorter *sorter);

#endif
