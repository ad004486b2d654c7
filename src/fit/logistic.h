/* Logistic regression with few terms: Newton's method with a quadratic penalty. */
#ifndef WFRE_SRC_FIT_LOGISTIC_H
#define WFRE_SRC_FIT_LOGISTIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { WFRE_LOGISTIC_TERMS = 8 }; /* at most */

typedef struct wfre_sample {
    double terms[WFRE_LOGISTIC_TERMS]; /* the first is 1 */
    double offset;                     /* that the logit has before */
    double weight;                     /* how many such there are for each that was drawn */
    uint32_t shape;
    uint32_t question;
    bool answer;
    bool apart; /* not fitted to: it tells how well that went */
    bool shown; /* the reliability counts it: people see it */
} wfre_sample;

typedef struct wfre_logistic {
    int terms;
    const wfre_sample *samples;
    size_t count;
    double penalty; /* on the distance of a factor from where it starts, in samples, times what the
                     * term varies */
    double mean[WFRE_LOGISTIC_TERMS], deviation[WFRE_LOGISTIC_TERMS];
} wfre_logistic;

/* Mean and deviation of the terms, before the fits: what the penalty goes by. */
void wfre_logistic_measure(wfre_logistic *logistic);
/* The penalty is to go by the factors as they are. */
void wfre_logistic_plain(wfre_logistic *logistic);

/* Fits factors to the samples of a shape, or of all (shape 0), from where they stand, as the
 * penalty has it. Factor t gets sign sign[t], or 0, unless that is 0. */
void wfre_logistic_fit(const wfre_logistic *logistic, uint32_t shape, const int *sign,
                       double *factors);

#endif
