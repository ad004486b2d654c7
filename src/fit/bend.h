/* Putting right what fitted log odds promise too much or too little, by how high they are: a
 * monotone map with few knees (as isotonic regression does it with many). */
#ifndef WFRE_SRC_FIT_BEND_H
#define WFRE_SRC_FIT_BEND_H

#include "fit/logistic.h"
#include "model/calibration.h"

/* Fits a bend to samples whose logit so far is `offset`, and bends that; samples set apart are not
 * fitted to. Terms are overwritten. With few answers a bend is nearly straight, with none it is. */
WFRE_NODISCARD wfre_status wfre_bend_fit(wfre_sample *samples, size_t count, double penalty,
                                         wfre_bend *bend, wfre_error *error);

#endif
