/* How well probabilities agree with what is true. */
#ifndef WFRE_SRC_FIT_RELIABILITY_H
#define WFRE_SRC_FIT_RELIABILITY_H

#include "base/error.h"
#include "wfre/model.h"

/* One prediction that people would see. */
typedef struct wfre_judgement {
    double probability;
    double weight; /* how many such there are for each that was drawn */
    uint32_t question;
    bool answer;
} wfre_judgement;

/* Fills all but `queries` and `fitted` from the predictions of some questions, which stand
 * together and have one weight. The interval is a bootstrap over questions, a function of the seed.
 * Predictions of a probability below `least` do not count for the error. */
WFRE_NODISCARD wfre_status wfre_reliability_of(const wfre_judgement *list, size_t count,
                                               double least, uint64_t seed,
                                               wfre_reliability *reliability, wfre_error *error);

#endif
