/* Choosing a number by what it does to the ranks of hard answers.
 *
 * Queries are ranked with several values of the number, at equal steps of some scale. What they
 * gain against one of the values is noisy, but close to a parabola near its top, which is the
 * number to take, unless the gain there is within half of its standard error. */
#ifndef WFRE_SRC_FIT_PICK_VALUE_H
#define WFRE_SRC_FIT_PICK_VALUE_H

#include <stdint.h>

enum {
    WFRE_TALLY_VALUES = 9, /* at most */
    WFRE_TALLY_ENOUGH = 30 /* queries to tell anything */
};

typedef struct wfre_tally {
    int values;
    int base; /* the value that others are compared with */
    uint32_t count;
    double gain[WFRE_TALLY_VALUES], squares[WFRE_TALLY_VALUES]; /* sums over queries */
} wfre_tally;

/* Adds a query by its MRR with each value. */
void wfre_tally_add(wfre_tally *tally, const double *mrr);

/* Where to take the number from: between 0 and values - 1, as far as there are queries to tell;
 * else `base`. */
double wfre_tally_best(const wfre_tally *tally);

#endif
