/* From scores to probabilities.
 *
 * The probability of a predicted answer is that of its being an answer on the larger graph, given
 * that the smaller one does not prove it. It is a logistic function of what the ranking shows,
 * fitted for each query shape on validation queries (their easy answers left out, their hard ones
 * to be found) and for all shapes together, for shapes that had too few:
 *
 *   1  best  best - score  log rank  best - score at WFRE_CALIBRATION_DEPTH  log(1 + known)
 *
 * The factors of best - score and of log rank are never positive, so that within one question a
 * higher score never has a lower probability. */
#ifndef WFRE_SRC_MODEL_CALIBRATION_H
#define WFRE_SRC_MODEL_CALIBRATION_H

#include "base/text.h"
#include "model/model.h"

enum {
    WFRE_CALIBRATION_DEPTH = 20, /* predictions a question that the fit looks at */
    WFRE_CALIBRATION_TERMS = 6
};

typedef struct wfre_calibration_shape {
    char *name; /* as wfre_type_name says it; "*" for all together, the first */
    double factors[WFRE_CALIBRATION_TERMS];
} wfre_calibration_shape;

typedef struct wfre_calibration {
    wfre_calibration_shape *shapes;
    size_t shape_count, shape_capacity;
    wfre_reliability reliability;
} wfre_calibration;

void wfre_calibration_free(wfre_calibration *calibration);

/* A calibration as text for a model's metadata, one line a shape; and back. */
void wfre_calibration_print(const wfre_calibration *calibration, wfre_text *text);
WFRE_NODISCARD wfre_status wfre_calibration_parse(const char *text, wfre_calibration **calibration,
                                                  wfre_error *error);

#endif
