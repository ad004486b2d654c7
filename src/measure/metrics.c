/* Counting standings in one pass over the scores.
 *
 * The distinct scores of the hard answers are bars of ascending height. Every entity, answer or
 * not, is counted at the highest bar it reaches, as above it or level with it; what the answers
 * themselves contributed is taken away again. Sums from the highest bar down then give all
 * standings: n log h steps for n entities and h hard answers, and most entities fail the lowest
 * bar. */
#include "measure/metrics.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "base/memory.h"

typedef struct wfre_bar {
    float height;
    uint32_t above; /* entities over this bar and under the next */
    uint32_t level; /* entities exactly at it */
} wfre_bar;

static int compare_bars(const void *left, const void *right)
{
    float a = ((const wfre_bar *)left)->height, b = ((const wfre_bar *)right)->height;
    return (a > b) - (a < b);
}

/* The highest bar that the score reaches; it reaches the lowest. */
static wfre_bar *find_bar(wfre_bar *bars, size_t count, float score)
{
    size_t low = 0;
    while (count > 1) {
        size_t half = count / 2;
        if (bars[low + half].height <= score) {
            low += half;
            count -= half;
        } else {
            count = half;
        }
    }
    return &bars[low];
}

static void count_entity(wfre_bar *bars, size_t count, float score, uint32_t amount)
{
    if (score < bars[0].height)
        return;
    wfre_bar *bar = find_bar(bars, count, score);
    *(score > bar->height ? &bar->above : &bar->level) += amount;
}

/* One bar for each distinct score of the hard answers; returns how many. */
static size_t raise_bars(wfre_bar *bars, const float *scores, wfre_list hard)
{
    for (size_t i = 0; i < hard.count; i++)
        bars[i] = (wfre_bar){scores[hard.ids[i]], 0, 0};
    qsort(bars, hard.count, sizeof *bars, compare_bars);
    size_t count = 1;
    for (size_t i = 1; i < hard.count; i++)
        if (bars[i].height > bars[count - 1].height)
            bars[count++] = bars[i];
    return count;
}

wfre_status wfre_standings_count(wfre_standings_scratch *scratch, const float *scores,
                                 uint32_t entities, wfre_list easy, wfre_list hard,
                                 wfre_standing *standings, wfre_error *error)
{
    if (hard.count == 0)
        return WFRE_OK;
    if (!wfre_reserve(&scratch->bars, &scratch->capacity, hard.count, sizeof(wfre_bar)))
        return wfre_fail_memory(error, "ranking answers");
    wfre_bar *bars = scratch->bars;
    size_t count = raise_bars(bars, scores, hard);
    for (uint32_t e = 0; e < entities; e++)
        count_entity(bars, count, scores[e], 1);
    /* Unsigned arithmetic wraps, so adding -1 takes one away. */
    for (size_t i = 0; i < easy.count; i++)
        count_entity(bars, count, scores[easy.ids[i]], UINT32_MAX);
    for (size_t i = 0; i < hard.count; i++)
        count_entity(bars, count, scores[hard.ids[i]], UINT32_MAX);
    uint32_t higher = 0;
    for (size_t i = count; i-- > 0;) {
        uint32_t above = higher + bars[i].above;
        higher = above + bars[i].level;
        bars[i].above = above;
    }
    for (size_t i = 0; i < hard.count; i++) {
        const wfre_bar *bar = find_bar(bars, count, scores[hard.ids[i]]);
        standings[i] = (wfre_standing){bar->above, bar->level};
    }
    return WFRE_OK;
}

void wfre_standings_free(wfre_standings_scratch *scratch)
{
    wfre_free(scratch->bars);
    *scratch = (wfre_standings_scratch){0};
}

wfre_metrics wfre_metrics_of(const wfre_standing *standings, size_t count)
{
    assert(count > 0);
    wfre_metrics sum = {0};
    for (size_t i = 0; i < count; i++) {
        double rank = wfre_standing_rank(standings[i]);
        sum.mrr += 1.0 / rank;
        sum.hits1 += rank <= 1;
        sum.hits3 += rank <= 3;
        sum.hits10 += rank <= 10;
    }
    return wfre_metrics_scale(&sum, 1.0 / (double)count);
}

void wfre_metrics_add(wfre_metrics *sum, const wfre_metrics *metrics)
{
    sum->mrr += metrics->mrr;
    sum->hits1 += metrics->hits1;
    sum->hits3 += metrics->hits3;
    sum->hits10 += metrics->hits10;
}

wfre_metrics wfre_metrics_scale(const wfre_metrics *metrics, double factor)
{
    return (wfre_metrics){metrics->mrr * factor, metrics->hits1 * factor, metrics->hits3 * factor,
                          metrics->hits10 * factor};
}

void wfre_total_add(wfre_total *total, const wfre_metrics *one)
{
    total->count++;
    wfre_metrics_add(&total->sum, one);
    total->squares += one->mrr * one->mrr;
}

void wfre_total_merge(wfre_total *into, const wfre_total *from)
{
    into->count += from->count;
    into->squares += from->squares;
    wfre_metrics_add(&into->sum, &from->sum);
}

/* Of a number between 0 and 1, about which one value says nothing. */
static const double LARGEST_VARIANCE = 0.25;

wfre_metrics wfre_total_mean(const wfre_total *total, double *variance)
{
    *variance = 0;
    if (total->count == 0)
        return (wfre_metrics){0};
    double count = (double)total->count;
    wfre_metrics mean = wfre_metrics_scale(&total->sum, 1 / count);
    *variance = count > 1 ? fmax(total->squares / count - mean.mrr * mean.mrr, 0) / (count - 1)
                          : LARGEST_VARIANCE;
    return mean;
}

void wfre_mrr_interval(double mrr, double variance, double *low, double *high)
{
    double reach = 1.96 * sqrt(variance);
    *low = fmax(mrr - reach, 0);
    *high = fmin(mrr + reach, 1);
}
