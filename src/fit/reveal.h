/* The graph as it is when people ask: what was held out is known then, in part, and the model has
 * not learned it. */
#ifndef WFRE_SRC_FIT_REVEAL_H
#define WFRE_SRC_FIT_REVEAL_H

#include "wfre/graph.h"

enum { WFRE_HALVES = 2 };

/* A graph in memory with the same ids, whose train split has one half of the valid facts, too, and
 * whose valid split has the other half. The halves are the same for the same graph; there are no
 * labels. `monitor` may be NULL. */
WFRE_NODISCARD wfre_status wfre_reveal(const wfre_graph *graph, int half,
                                       const wfre_monitor *monitor, wfre_graph **revealed,
                                       wfre_error *error);

#endif
