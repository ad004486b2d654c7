/* From the logits of single edges to truth values: the odds line, and its bend (docs/MODEL.md). */
#ifndef WFRE_SRC_INFER_ODDS_H
#define WFRE_SRC_INFER_ODDS_H

#include "graph/missing.h"
#include "linalg/linalg.h"
#include "model/calibration.h"

/* The logarithm of the truth value of what is not at all so. */
#define WFRE_NOTHING (-80.0f)

/* The larger of two; the second if the first is not a number. */
static inline float wfre_larger(float a, float b)
{
    return a > b ? a : b;
}

static inline float wfre_smaller(float a, float b)
{
    return a < b ? a : b;
}

/* The log odds of an edge over its logit: a line, bent (model/calibration.h). */
typedef struct wfre_odds_line {
    float slope, shift;
    float start, first;           /* of the bend */
    float knots[WFRE_BEND_KNOTS]; /* and what the slope gains at each */
    float gains[WFRE_BEND_KNOTS];
} wfre_odds_line;

/* That of edges from an entity that has `degree` of them already, and `room` (a logarithm) for
 * more; the softmax of their logits has the logarithm logit - sum. */
wfre_odds_line wfre_odds_of(const wfre_model *model, double missing_rate, wfre_relation relation,
                            size_t degree, double room, double sum);

/* Logits become logarithms of truth values; `other` is scratch of the same size. */
void wfre_odds_row(const wfre_vector_table *vectors, size_t count, wfre_odds_line line, float *row,
                   float *other);

#endif
