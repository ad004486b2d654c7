/* An asker from the inside: the exact engine beside the model's machinery. */
#ifndef WFRE_SRC_ANSWER_ANSWER_H
#define WFRE_SRC_ANSWER_ANSWER_H

#include "infer/predict.h"
#include "wfre/answer.h"

struct wfre_asker {
    const wfre_graph *graph;
    const wfre_model *model;   /* or NULL */
    wfre_predictor *predictor; /* of the model */
    wfre_exact *exact;
    wfre_arena arena; /* the last answers */
};

#endif
