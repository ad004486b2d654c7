/* Where hard answers stand among the entities that are not answers, and what that is worth.
 *
 * The protocol of the field, with ties made explicit: a hard answer competes only with entities
 * that are answers on no graph, and its rank is the mean of the best and the worst rank that an
 * order of its ties could give it. The trainer's validation and the evaluation share this file. */
#ifndef WFRE_SRC_MEASURE_METRICS_H
#define WFRE_SRC_MEASURE_METRICS_H

#include "base/error.h"
#include "wfre/model.h"

/* How many non-answers have a higher score than a hard answer, and how many have the same. */
typedef struct wfre_standing {
    uint32_t above;
    uint32_t tied;
} wfre_standing;

static inline double wfre_standing_rank(wfre_standing standing)
{
    return 1.0 + standing.above + standing.tied / 2.0;
}

/* Scratch of wfre_standings_count, reused from call to call; zero-initialise. */
typedef struct wfre_standings_scratch {
    struct wfre_bar *bars;
    size_t capacity;
} wfre_standings_scratch;

/* Counts the standing of each hard answer (in the order of hard.ids) from the scores of all
 * entities; higher is better, and no score is NaN. `easy` and `hard` are ascending and disjoint. */
WFRE_NODISCARD wfre_status wfre_standings_count(wfre_standings_scratch *scratch,
                                                const float *scores, uint32_t entities,
                                                wfre_list easy, wfre_list hard,
                                                wfre_standing *standings, wfre_error *error);
void wfre_standings_free(wfre_standings_scratch *scratch);

/* The metrics of one query: averages over its hard answers, of which there is at least one. */
wfre_metrics wfre_metrics_of(const wfre_standing *standings, size_t count);
/* sum += metrics, and metrics scaled. */
void wfre_metrics_add(wfre_metrics *sum, const wfre_metrics *metrics);
wfre_metrics wfre_metrics_scale(const wfre_metrics *metrics, double factor);

/* Sums over queries or triples; zero-initialise. */
typedef struct wfre_total {
    uint64_t count;
    wfre_metrics sum;
    double squares; /* of MRRs */
} wfre_total;

void wfre_total_add(wfre_total *total, const wfre_metrics *one);
void wfre_total_merge(wfre_total *into, const wfre_total *from);
/* Their mean, and the variance of its MRR as that of a mean of so many independent numbers; zeros
 * if there are none. */
wfre_metrics wfre_total_mean(const wfre_total *total, double *variance);
/* The 95% interval of an MRR with this variance. */
void wfre_mrr_interval(double mrr, double variance, double *low, double *high);

#endif
