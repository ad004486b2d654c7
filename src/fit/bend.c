/* Knots part the answers, those that are expected and those that were found together: where
 * one of them is lacking, the other says that something is wrong. Between two knots the log odds
 * rise with a factor of their own, which the fit finds beside a start, near 1 each and never below
 * LEAST. */
#include "fit/bend.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"

enum { KNOTS = WFRE_BEND_KNOTS, TERMS = KNOTS + 2 };

_Static_assert((int)TERMS <= (int)WFRE_LOGISTIC_TERMS, "the start and every slope are terms");

static const double LEAST = 0.1; /* slope, so that no two scores become one */
/* Up to which share of the answers each stretch goes; the highest promises are what people see. */
static const double SHARES[KNOTS] = {0.2, 0.4, 0.6, 0.8, 0.95};

/* A logit, and the answers that stand there. */
typedef struct place {
    double logit, answers;
} place;

static int compare(const void *left, const void *right)
{
    const place *a = left, *b = right;
    return (a->logit > b->logit) - (a->logit < b->logit);
}

static place place_of(const wfre_sample *sample)
{
    double expected = 1 / (1 + exp(-sample->offset));
    return (place){sample->offset, sample->weight * (expected + sample->answer)};
}

/* Of places in rising order. */
static void put_knots(const place *places, size_t count, double *knots)
{
    double all = 0, sum = 0;
    int k = 0;
    for (size_t i = 0; i < count; i++)
        all += places[i].answers;
    for (size_t i = 0; i < count && k < KNOTS; i++) {
        sum += places[i].answers;
        while (k < KNOTS && sum >= all * SHARES[k])
            knots[k++] = places[i].logit;
    }
    for (; k < KNOTS; k++) /* rounding */
        knots[k] = places[count - 1].logit;
}

/* How far a logit goes into each stretch; that of a bend is start + sum of slope * stretch. */
static void measure_stretches(const double *knots, double logit, double *terms)
{
    terms[0] = 1;
    terms[1] = fmin(logit, knots[0]);
    for (int i = 0; i < KNOTS; i++) {
        double end = i + 1 < KNOTS ? fmin(logit, knots[i + 1]) : logit;
        terms[2 + i] = fmax(end - knots[i], 0);
    }
}

static void bend_offset(const wfre_bend *bend, wfre_sample *sample)
{
    double logit = 0;
    for (int t = 1; t < TERMS; t++)
        logit += sample->terms[t];
    sample->offset = wfre_bend_at(bend, logit);
}

wfre_status wfre_bend_fit(wfre_sample *samples, size_t count, double penalty, wfre_bend *bend,
                          wfre_error *error)
{
    static const int sign[WFRE_LOGISTIC_TERMS] = {0, 1, 1, 1, 1, 1, 1};
    double factors[WFRE_LOGISTIC_TERMS] = {0};
    size_t fitted = 0, answers = 0;
    place *places = wfre_alloc(count + 1, sizeof *places);
    if (!places)
        return wfre_fail_memory(error, "calibrating");
    for (size_t i = 0; i < count; i++)
        if (!samples[i].apart) {
            places[fitted++] = place_of(&samples[i]);
            answers += samples[i].answer;
        }
    *bend = (wfre_bend){0};
    if (answers > 0) {
        qsort(places, fitted, sizeof *places, compare);
        put_knots(places, fitted, bend->knots);
    }
    wfre_free(places);
    for (int t = 1; t < TERMS; t++)
        factors[t] = 1 - LEAST;
    if (answers > 0) {
        for (size_t i = 0; i < count; i++) {
            measure_stretches(bend->knots, samples[i].offset, samples[i].terms);
            samples[i].offset *= LEAST;
        }
        wfre_logistic l = {.terms = TERMS, .samples = samples, .count = count, .penalty = penalty};
        wfre_logistic_plain(&l);
        wfre_logistic_fit(&l, 0, sign, factors);
    }
    bend->start = factors[0];
    for (int i = 0; i <= KNOTS; i++)
        bend->slopes[i] = LEAST + factors[1 + i];
    for (size_t i = 0; answers > 0 && i < count; i++)
        bend_offset(bend, &samples[i]);
    return WFRE_OK;
}
