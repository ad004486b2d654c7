/* The learning curve in a training log: JSON lines, of which those with a step and a loss or a
 * validation MRR count. */
#ifndef WFRE_SRC_REPORT_CURVE_H
#define WFRE_SRC_REPORT_CURVE_H

#include "base/error.h"

/* One measurement over the steps at which it was taken. */
typedef struct wfre_track {
    double *step; /* owns the memory of both */
    double *value;
    size_t count;
} wfre_track;

typedef struct wfre_curve {
    wfre_track loss;
    wfre_track mrr; /* of a validation sample */
} wfre_curve;

/* Zero-initialise; to be freed in any case. Lines that are not JSON objects are passed over: the
 * last one may be half written while training goes on. */
WFRE_NODISCARD wfre_status wfre_curve_read(wfre_curve *curve, const char *path, wfre_error *error);
void wfre_curve_free(wfre_curve *curve);

#endif
