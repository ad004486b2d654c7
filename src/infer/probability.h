/* From scores to probabilities: applying what model/calibration.h describes. */
#ifndef WFRE_SRC_INFER_PROBABILITY_H
#define WFRE_SRC_INFER_PROBABILITY_H

#include "infer/reasoner.h"
#include "model/calibration.h"

/* A question, and how it was answered. */
typedef struct wfre_judged {
    const wfre_model *model;
    const wfre_way *way;
    const wfre_reasoner *reasoner; /* that scored its answers */
    const wfre_node *tree;
    const char *shape; /* as wfre_type_name says it */
    size_t known;      /* known answers */
} wfre_judged;

/* One question's hits as a calibration sees them. The hits are those of a search for at least
 * WFRE_CALIBRATION_DEPTH of them, or all there are. */
typedef struct wfre_calibration_view {
    wfre_judged of;
    bool by_edges;                               /* scores are products of odds that were fitted */
    const wfre_calibration_shape *any, *missing; /* NULL: not fitted */
    double more;                          /* what the log odds gain by the rate that is asked for */
    double terms[WFRE_CALIBRATION_TERMS]; /* those that are the same for all hits */
} wfre_calibration_view;

/* Both probabilities of an answer; NAN what was not fitted, or not to this way of answering. */
typedef struct wfre_chance {
    double any, missing;
} wfre_chance;

wfre_calibration_view wfre_calibration_view_of(const wfre_judged *of, const wfre_hit *hits,
                                               size_t count);
/* Everything that the probability of the hit at `index` depends on, where it is the ranking. */
void wfre_calibration_terms(const wfre_calibration_view *view, const wfre_hit *hits, size_t index,
                            double *terms);
/* Of the hit at `index`, counted from 0; a lower one never has more. */
wfre_chance wfre_calibration_chance(const wfre_calibration_view *view, const wfre_hit *hits,
                                    size_t index);

/* The logit of a truth value that is given by its logarithm. */
double wfre_truth_logit(double log_truth);
/* What the log odds of an edge gain if `rate` of what is true is missing rather than the share that
 * was held out; 0 for a rate of 0. */
double wfre_missing_gain(const wfre_model *model, double rate);
/* The share of what is true that a split's graph lacks: as asked for, else as the way has it, else
 * what was held out of it; of the whole graph, what was held out for validation. 0: nothing is
 * known of that. */
double wfre_missing_rate(const wfre_model *model, const wfre_way *way, wfre_split split,
                         double asked);

#endif
