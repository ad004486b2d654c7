/* Learning to turn scores into probabilities (calibration). */
#ifndef WFRE_SRC_FIT_PROBABILITY_H
#define WFRE_SRC_FIT_PROBABILITY_H

#include "measure/rank.h"
#include "model/calibration.h"

/* Fits a calibration of the engine's model, answering in its own way, on these queries, two thirds
 * of each shape, and measures it on the rest. As when a question is asked, what the train graph
 * refutes is not ranked. `seconds` limits it by leaving out the last ones; 0 for no limit. */
WFRE_NODISCARD wfre_status wfre_calibrate_on(wfre_session *session, const wfre_rank_query *queries,
                                             size_t count, double seconds,
                                             const wfre_monitor *monitor,
                                             wfre_calibration **calibration, wfre_error *error);

#endif
