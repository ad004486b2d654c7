/* Whether a model answers edge by edge, and how sharply. */
#ifndef WFRE_SRC_FIT_EDGES_H
#define WFRE_SRC_FIT_EDGES_H

#include "measure/rank.h"

/* It wants no more questions than these for one of its six numbers, and no more links. */
enum { WFRE_EDGES_QUERIES = 840 };

/* What a way is if there is nothing to fit it on: edges are predicted by histograms and, if the
 * model has them, factors alike. */
void wfre_edges_usual(const wfre_model *model, wfre_way *way);

/* Sets edge_factors, edge_joined, edge_alike, edge_kinds and edge_room of a way to what ranks the
 * hard answers of all queries best, its edge_sharpness (of the mean of both predictors) to what
 * ranks those of all but single edges best (all as usual if there are too few queries to tell;
 * kinds have a usual weight because what they mend, answers of a wrong kind, hardly shows in
 * ranks), and whether it answers by edges to whatever is better with them. The edges of the train
 * split are known. The standings of the queries are overwritten. `seconds` limits it by leaving out
 * the last queries, or all of them if it would be too few to tell anything; 0 for no limit. */
WFRE_NODISCARD wfre_status wfre_edges_fit(wfre_session *session, wfre_way *way,
                                          const wfre_rank_query *queries, size_t count,
                                          double seconds, const wfre_monitor *monitor,
                                          wfre_error *error);

#endif
