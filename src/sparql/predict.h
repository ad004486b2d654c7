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
    bool whole;   /* all of it is one formula, not a question for each answer */
    bool unknown; /* only what is predicted is wanted */
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
/* The same for a pattern that is to be one formula as a whole; fails if it is not. */
wfre_sq_flow wfre_sq_whole_split(wfre_sq_exec *x, wfre_sq_pattern *pattern,
                                 const wfre_sq_slot *asked, uint32_t count,
                                 wfre_sq_prediction **prediction);
/* The same for what is predicted behind the proven rows of a SELECT of one variable. */
wfre_sq_flow wfre_sq_behind_split(wfre_sq_exec *x, wfre_sq_pattern *pattern, wfre_sq_slot asked,
                                  wfre_sq_prediction **prediction);

#endif
