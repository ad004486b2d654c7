/* The graph as it is when people ask: what was held out is known then, in part, and the model has
 * not learned it. */
#ifndef WFRE_SRC_FIT_REVEAL_H
#define WFRE_SRC_FIT_REVEAL_H

#include "infer/session.h"
#include "model/model.h"

enum { WFRE_PARTS = 2 };

/* A graph in memory with the same ids, in which a part of the valid facts stays in the valid split
 * and the others stand in the train split. The parts are the same for the same graph; there are no
 * labels. `monitor` may be NULL. */
WFRE_NODISCARD wfre_status wfre_reveal(const wfre_graph *graph, int part,
                                       const wfre_monitor *monitor, wfre_graph **revealed,
                                       wfre_error *error);

/* Such a graph for every part, and a session that asks a model of it. Of a large graph it is one,
 * in which enough facts are missing. Zero-initialise it, and clear it in any case. */
typedef struct wfre_revealed {
    int count;
    double rate; /* the share of known and missing facts that is missing in each */
    wfre_graph *graphs[WFRE_PARTS];
    wfre_model twins[WFRE_PARTS]; /* the model, as that of these graphs */
    wfre_session *sessions[WFRE_PARTS];
} wfre_revealed;

WFRE_NODISCARD wfre_status wfre_revealed_open(const wfre_graph *graph, const wfre_model *model,
                                              wfre_pool *pool, const wfre_monitor *monitor,
                                              wfre_revealed *revealed, wfre_error *error);
void wfre_revealed_clear(wfre_revealed *revealed);

#endif
