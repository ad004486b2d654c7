/* How much of a run is spent on looking at what was learned: validating, fitting, measuring.
 *
 * A run limited by time keeps to shares of it. One of a given number of steps must do the same
 * whenever it is repeated, so there the work is limited by counting pairs of a query and an entity:
 * not many more than the steps themselves score, and some even for the shortest run. */
#ifndef WFRE_SRC_TRAIN_EFFORT_H
#define WFRE_SRC_TRAIN_EFFORT_H

#include "base/error.h"
#include "wfre/train.h"

enum { WFRE_VALIDATION_TRIPLES = 10 }; /* for each query of a type */

typedef struct wfre_effort {
    uint32_t validations; /* on the way and at the end */
    double share;         /* of the questions that a fit would like to have */
    uint32_t calibrate;   /* queries of each type for the fits */
    uint32_t measure;     /* for measuring the finished model; and triples */
    size_t measure_triples;
} wfre_effort;

wfre_effort wfre_effort_of(const wfre_graph *graph, const wfre_train_settings *settings,
                           const wfre_train_run *run);

#endif
