/* An asker from the inside: the exact engine beside the model's machinery. */
#ifndef WFRE_SRC_ANSWER_ANSWER_H
#define WFRE_SRC_ANSWER_ANSWER_H

#include "model/run.h"
#include "model/search.h"
#include "wfre/answer.h"

struct wfre_asker {
    const wfre_graph *graph;
    const wfre_model *model; /* NULL: none of what follows but `exact` is there */
    wfre_exact *exact;
    wfre_linalg *linalg;
    wfre_run *run;
    wfre_program program; /* of the last question that was predicted */
    wfre_searcher *searcher;
    const float **branches; /* of the question, in the run */
    size_t branch_capacity;
    wfre_hit *hits;
    size_t hit_capacity;
    wfre_prediction *predictions;
    size_t prediction_capacity;
};

#endif
