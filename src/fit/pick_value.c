/* Least squares through few points. */
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

/* The top of the parabola b x + c (x^2 - mean of x^2) that is nearest to the gains, with x counted
 * from the middle of all values, where both terms are orthogonal; the highest gain if it has none.
 */
static double find_top(const wfre_tally *t)
{
    int highest = t->base, last = t->values - 1;
    for (int i = 0; i < t->values; i++)
        highest = t->gain[i] > t->gain[highest] ? i : highest;
    double centre = last / 2.0, spread = 0;
    for (int i = 0; i < t->values; i++)
        spread += (i - centre) * (i - centre) / t->values;
    double b = 0, c = 0, norm = 0;
    for (int i = 0; i < t->values; i++) {
        double x = i - centre, square = x * x - spread;
        b += x * t->gain[i] / (t->values * spread);
        c += square * t->gain[i];
        norm += square * square;
    }
    c /= norm;
    return c < 0 ? fmin(fmax(centre - b / (2 * c), 0), last) : highest;
}

double wfre_tally_best(const wfre_tally *tally)
{
    double top = find_top(tally);
    int nearest = (int)lround(top);
    if (tally->count < WFRE_TALLY_ENOUGH || tally->gain[nearest] <= sqrt(tally->squares[nearest]))
        return tally->base;
    return top;
}
