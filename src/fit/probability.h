/* Learning to turn scores into probabilities (calibration): model/calibration.h says into which. */
#ifndef WFRE_SRC_FIT_PROBABILITY_H
#define WFRE_SRC_FIT_PROBABILITY_H

#include "fit/asked.h"
#include "measure/rank.h"
#include "model/calibration.h"

/* Questions that are drawn unless something else is said. */
enum { WFRE_ASKED_EDGES = 80000, WFRE_ASKED_SHAPES = 1000 };

/* What is fitted, and on how much. */
typedef struct wfre_probability_fit {
    wfre_model *model;              /* whose calibration is replaced */
    const wfre_rank_query *queries; /* with something missing; may be none */
    size_t count;
    const wfre_graph *graph; /* whose valid split holds out */
    size_t edges;            /* single edges that are drawn as people ask them; 0: none */
    size_t shapes;           /* questions of each other shape */
    uint64_t seed;
    wfre_pool *pool;
    double seconds; /* limits it by leaving out the last ones; 0: no limit */
    const wfre_monitor *monitor;
} wfre_probability_fit;

/* Fits both probabilities of the model, answering in its own way. A third of the questions is not
 * fitted to and tells how well it went. As when a question is asked, what the train graph refutes
 * is not ranked. */
WFRE_NODISCARD wfre_status wfre_probability_fit_run(const wfre_probability_fit *fit,
                                                    wfre_error *error);

#endif
