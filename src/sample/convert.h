/* Published query sets: three pickles with the queries by type structure, and their easy and hard
 * answers by query. */
#ifndef WFRE_SRC_SAMPLE_CONVERT_H
#define WFRE_SRC_SAMPLE_CONVERT_H

#include "base/pickle.h"
#include "sample/queryset.h"

/* Adds all queries to the set: BetaE types first and in their order, then what else there is. A
 * query without an entry among the easy or hard answers is refused. */
WFRE_NODISCARD wfre_status wfre_convert_pickles(const wfre_pickle_value *queries,
                                                const wfre_pickle_value *easy,
                                                const wfre_pickle_value *hard, wfre_queryset *set,
                                                wfre_error *error);

#endif
