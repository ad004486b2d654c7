/* Which slots a pattern binds, and what may be bound before it is entered. */
#ifndef WFRE_SRC_SPARQL_SLOTS_H
#define WFRE_SRC_SPARQL_SLOTS_H

#include "sparql/plan.h"

/* Adds the slots that solutions of the pattern may bind; must bind. `certain` has `words` words. */
void wfre_sq_pattern_possible(const wfre_sq_pattern *pattern, uint64_t *possible);
/* False when out of memory. */
bool wfre_sq_pattern_certain(wfre_arena *arena, size_t words, const wfre_sq_pattern *pattern,
                             uint64_t *certain);
/* Adds all slots that occur in it, in expressions and EXISTS too. */
void wfre_sq_pattern_mentions(const wfre_sq_pattern *pattern, uint64_t *slots);
/* Whether entering the pattern with the slot bound gives the same as joining its solutions with
 * that binding. *failed becomes true when out of memory. */
bool wfre_sq_transparent(wfre_arena *arena, size_t words, const wfre_sq_pattern *pattern,
                         wfre_sq_slot slot, bool *failed);
bool wfre_sq_has_exists(const wfre_sq_expression *e);

#endif
