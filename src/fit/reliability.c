/* The error of a sample of questions is that of its bins; a resample counts questions, each as
 * often as it was drawn. What chance adds to an error, resampling adds once more, so the interval
 * is shifted back by what their mean is larger. */
#include "fit/reliability.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/rng.h"

enum { BINS = WFRE_RELIABILITY_BINS, RESAMPLES = 400 };

static int bin_of(double probability)
{
    int bin = (int)(probability * BINS);
    return bin < 0 ? 0 : bin < BINS ? bin : BINS - 1;
}

/* Sums over predictions, as often as their question counts (NULL: once). */
typedef struct sums {
    double count[BINS], predicted[BINS], observed[BINS];
} sums;

static double error_of(const wfre_judgement *list, size_t count, const size_t *questions,
                       const uint8_t *times, double least)
{
    sums s = {0};
    double error = 0, all = 0;
    for (size_t i = 0; i < count; i++) {
        double weight = list[i].weight * (times ? times[questions[i]] : 1);
        int bin = bin_of(list[i].probability);
        if (list[i].probability < least || weight == 0)
            continue;
        s.count[bin] += weight;
        s.predicted[bin] += weight * list[i].probability;
        s.observed[bin] += weight * list[i].answer;
    }
    for (int b = 0; b < BINS; b++) {
        error += fabs(s.predicted[b] - s.observed[b]);
        all += s.count[b];
    }
    return all > 0 ? error / all : 0;
}

static int compare(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

static wfre_status bootstrap(const wfre_judgement *list, size_t count, double least, uint64_t seed,
                             wfre_reliability *r, wfre_error *error)
{
    wfre_status status = WFRE_OK;
    double errors[RESAMPLES];
    size_t all = 0;
    size_t *questions = wfre_alloc(count + 1, sizeof *questions);
    uint8_t *times = wfre_alloc(count + 1, 1);
    if (!questions || !times)
        TRY(wfre_fail_memory(error, "calibrating"));
    for (size_t i = 0; i < count; i++)
        questions[i] = i > 0 && list[i].question == list[i - 1].question ? all - 1 : all++;
    for (uint64_t k = 0; k < RESAMPLES && all > 0; k++) {
        wfre_rng rng = wfre_rng_for(seed, WFRE_FOR_BOOTSTRAP, k, 0);
        memset(times, 0, all);
        for (size_t i = 0; i < all; i++) {
            uint8_t *drawn = &times[wfre_rng_below(&rng, (uint32_t)all)];
            *drawn = *drawn < UINT8_MAX ? (uint8_t)(*drawn + 1) : *drawn;
        }
        errors[k] = error_of(list, count, questions, times, least);
    }
    if (all > 0) {
        double more = 0;
        for (int k = 0; k < RESAMPLES; k++)
            more += (errors[k] - r->error) / RESAMPLES;
        qsort(errors, RESAMPLES, sizeof errors[0], compare);
        r->low = fmin(fmax(errors[RESAMPLES / 40] - more, 0), r->error);
        r->high = fmax(errors[RESAMPLES - 1 - RESAMPLES / 40] - more, r->error);
    }
cleanup:
    wfre_free(questions);
    wfre_free(times);
    return status;
}

wfre_status wfre_reliability_of(const wfre_judgement *list, size_t count, double least,
                                uint64_t seed, wfre_reliability *r, wfre_error *error)
{
    double weights[BINS] = {0}, found = 0;
    r->expected = 0;
    memset(r->bins, 0, sizeof r->bins);
    for (size_t i = 0; i < count; i++) {
        int b = bin_of(list[i].probability);
        weights[b] += list[i].weight;
        r->bins[b].count++;
        r->bins[b].predicted += list[i].weight * list[i].probability;
        r->bins[b].observed += list[i].weight * list[i].answer;
        r->expected += list[i].weight * list[i].probability;
        found += list[i].weight * list[i].answer;
    }
    r->found = (uint64_t)(found + 0.5);
    for (int b = 0; b < BINS; b++)
        if (r->bins[b].count > 0) {
            r->bins[b].predicted /= weights[b];
            r->bins[b].observed /= weights[b];
        }
    r->error = error_of(list, count, NULL, NULL, least);
    return bootstrap(list, count, least, seed, r, error);
}
