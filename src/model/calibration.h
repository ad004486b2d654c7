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
#include "model/rank.h"
#include "model/search.h"

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

/* Fits the model's calibration on these queries, two thirds of each shape, and measures it on the
 * rest. As when a question is asked, what the train graph refutes is not ranked. `seconds` limits
 * it by leaving out the last ones; 0 for no limit. */
WFRE_NODISCARD wfre_status wfre_calibrate_on(const wfre_graph *graph, wfre_model *model,
                                             const wfre_rank_query *queries, size_t count,
                                             double seconds, wfre_pool *pool,
                                             const wfre_monitor *monitor, wfre_error *error);

/* One question's hits as a calibration sees them. The hits are those of a search for at least
 * WFRE_CALIBRATION_DEPTH of them, or all there are. */
typedef struct wfre_calibration_view {
    const wfre_calibration_shape *shape;
    double terms[WFRE_CALIBRATION_TERMS]; /* those that are the same for all hits */
} wfre_calibration_view;

/* `shape` is a name, `known` the number of known answers. */
wfre_calibration_view wfre_calibration_view_of(const wfre_model *model, const char *shape,
                                               const wfre_hit *hits, size_t count, size_t known);
/* Everything that the probability of the hit at `index` depends on. */
void wfre_calibration_terms(const wfre_model *model, const wfre_calibration_view *view,
                            const wfre_hit *hits, size_t index, double *terms);
/* The probability of the hit at `index`, counted from 0; NAN without a calibration. */
double wfre_calibration_probability(const wfre_model *model, const wfre_calibration_view *view,
                                    const wfre_hit *hits, size_t index);

/* A calibration as text for a model's metadata, one line a shape; and back. */
void wfre_calibration_print(const wfre_calibration *calibration, wfre_text *text);
WFRE_NODISCARD wfre_status wfre_calibration_parse(const char *text, wfre_calibration **calibration,
                                                  wfre_error *error);

#endif
