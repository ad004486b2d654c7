/* Learning to turn scores into probabilities (calibration). */
#ifndef WFRE_SRC_FIT_PROBABILITY_H
#define WFRE_SRC_FIT_PROBABILITY_H

#include "measure/rank.h"

/* Fits the model's calibration on these queries, two thirds of each shape, and measures it on the
 * rest. As when a question is asked, what the train graph refutes is not ranked. `seconds` limits
 * it by leaving out the last ones; 0 for no limit. */
WFRE_NODISCARD wfre_status wfre_calibrate_on(const wfre_graph *graph, wfre_model *model,
                                             const wfre_rank_query *queries, size_t count,
                                             double seconds, wfre_pool *pool,
                                             const wfre_monitor *monitor, wfre_error *error);

#endif
