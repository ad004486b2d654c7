/* Formulas of any shape, cyclic ones included, by set operations and a worst-case-optimal join. */
#ifndef WFRE_SRC_EXACT_JOIN_H
#define WFRE_SRC_EXACT_JOIN_H

#include "exact/exact.h"
#include "query/formula.h"

/* All answers of the query's formula, ascending; they live until the engine's next question. The
 * graph has all its ids (wfre_query_fits). */
WFRE_NODISCARD wfre_status wfre_exact_formula(wfre_exact *exact, wfre_split split,
                                              const wfre_query *query, wfre_list *answers,
                                              wfre_error *error);

/* The same for queries that ask for any number of variables, entities or relations; see
 * wfre_exact_tuples. */
WFRE_NODISCARD wfre_status wfre_exact_rows(wfre_exact *exact, wfre_split split,
                                           const wfre_query *query, size_t most,
                                           wfre_tuples *tuples, wfre_error *error);

#endif
