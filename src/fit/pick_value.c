/* A parabola through three points. */
#include "fit/pick_value.h"

#include <math.h>

void wfre_tally_add(wfre_tally *tally, const double *mrr)
{
    tally->count++;
    for (int i = 0; i < tally->values; i++) {
        double gain = mrr[i] - mrr[tally->base];
        tally->gain[i] += gain;
        tally->squares[i] += gain * gain;
    }
}

/* The top of the parabola through the highest gain and its neighbours; those far from it would bend
 * a parabola through all. */
static double find_top(const wfre_tally *t)
{
    int highest = t->base;
    for (int i = 0; i < t->values; i++)
        highest = t->gain[i] > t->gain[highest] ? i : highest;
    if (highest == 0 || highest == t->values - 1)
        return highest;
    double before = t->gain[highest] - t->gain[highest - 1];
    double behind = t->gain[highest] - t->gain[highest + 1];
    return before + behind > 0 ? highest + (before - behind) / (2 * (before + behind)) : highest;
}

/* Of a gain, in standard errors. If nothing is gained, it hardly matters which value is taken; to
 * stay with the usual one where much is gained, for want of queries, costs more. */
static const double DOUBT = 0.5;

double wfre_tally_best(const wfre_tally *tally)
{
    double top = find_top(tally);
    int nearest = (int)lround(top);
    if (tally->count < WFRE_TALLY_ENOUGH ||
        tally->gain[nearest] <= DOUBT * sqrt(tally->squares[nearest]))
        return tally->base;
    return top;
}
