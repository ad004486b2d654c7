/* From scores to probabilities: applying what model/calibration.h describes. */
#ifndef WFRE_SRC_INFER_PROBABILITY_H
#define WFRE_SRC_INFER_PROBABILITY_H

#include "infer/reasoner.h"
#include "model/calibration.h"

/* One question's hits as a calibration sees them. The hits are those of a search for at least
 * WFRE_CALIBRATION_DEPTH of them, or all there are. */
typedef struct wfre_calibration_view {
    const wfre_model *model;
    const wfre_reasoner *reasoner; /* that scored them */
    const wfre_calibration_shape *shape;
    double terms[WFRE_CALIBRATION_TERMS]; /* those that are the same for all hits */
} wfre_calibration_view;

/* `shape` is a name, `known` the number of known answers. */
wfre_calibration_view wfre_calibration_view_of(const wfre_model *model,
                                               const wfre_reasoner *reasoner, const char *shape,
                                               const wfre_hit *hits, size_t count, size_t known);
/* Everything that the probability of the hit at `index` depends on. */
void wfre_calibration_terms(const wfre_calibration_view *view, const wfre_hit *hits, size_t index,
                            double *terms);
/* The probability of the hit at `index`, counted from 0; NAN without a calibration, or if the
 * reasoner is not the one that it was fitted to. */
double wfre_calibration_probability(const wfre_calibration_view *view, const wfre_hit *hits,
                                    size_t index);

#endif
