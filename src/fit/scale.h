/* How much of a question's mass counts when it is compared with entities.
 *
 * Training sees only questions whose answers the graph proves. Where something is missing, the
 * histograms of an intersection's sets disagree and their minimum keeps too little of an answer's
 * mass, so that entities of little mass come first; where single edges are asked for, it may be
 * too much. One factor for each kind of last step (wfre_way.lift), an output
 * scale, makes up for it. */
#ifndef WFRE_SRC_FIT_SCALE_H
#define WFRE_SRC_FIT_SCALE_H

#include "measure/rank.h"

/* Sets the lifts of a way to what ranks the hard answers of these queries best, by embedding. The
 * standings of the queries are overwritten. `seconds` limits it by leaving out the last queries, or
 * all of them if it would be too few to tell anything; 0 for no limit. */
WFRE_NODISCARD wfre_status wfre_lift_fit(wfre_session *session, wfre_way *way,
                                         const wfre_rank_query *queries, size_t count,
                                         double seconds, const wfre_monitor *monitor,
                                         wfre_error *error);

#endif
