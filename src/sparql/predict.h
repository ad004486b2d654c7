/* SERVICE wfre:predict, taken apart: what the model is asked, what restricts its answers, and what
 * is filled in afterwards. */
#ifndef WFRE_SRC_SPARQL_PREDICT_H
#define WFRE_SRC_SPARQL_PREDICT_H

#include "sparql/plan.h"

typedef struct wfre_sq_prediction {
    const wfre_sq_pattern *service;
    uint32_t answer_count;
    wfre_sq_slot *answers;
    wfre_sq_slot probability, status; /* WFRE_NONE: not wanted */
    uint64_t top;
    double threshold;
    uint32_t part_count;
    const wfre_sq_pattern **parts; /* joined, they are what is asked */
    uint32_t denied_count;
    const wfre_sq_expression **denied; /* EXISTS and NOT EXISTS that are part of the question */
    wfre_sq_pattern *restriction;      /* what answers have to pass as the graph is; or NULL */
    wfre_sq_pattern *optional;         /* what is filled in afterwards; or NULL */
} wfre_sq_prediction;

/* Takes the service apart; memory comes from the plan's arena. */
wfre_sq_flow wfre_sq_predict_split(wfre_sq_exec *x, const wfre_sq_pattern *service,
                                   wfre_sq_prediction **prediction);

#endif
