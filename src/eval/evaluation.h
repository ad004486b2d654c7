/* The results of an evaluation, and how they are collected: create, fill in the standings of every
 * query, finish. */
#ifndef WFRE_SRC_EVAL_EVALUATION_H
#define WFRE_SRC_EVAL_EVALUATION_H

#include "measure/metrics.h"
#include "sample/queryset.h"
#include "wfre/eval.h"

/* Upper ends of the classes of the rank distribution; the last class has none. */
enum { WFRE_RANK_CLASSES = 10 };
extern const double wfre_rank_edges[WFRE_RANK_CLASSES - 1];

typedef struct wfre_type_result {
    wfre_evaluation_row row;
    bool negated;     /* has a negation */
    bool path;        /* projections only */
    uint32_t anchors; /* entities in its tree */
    uint32_t depth;   /* projections on the longest way down */
    int order;        /* of the well-known types, -1 for others */
    uint32_t source;  /* index in the query set */
    uint64_t ranks[WFRE_RANK_CLASSES];
} wfre_type_result;

typedef struct wfre_query_result {
    uint32_t type;
    uint32_t answers;     /* hard ones */
    size_t begin;         /* of its standings */
    bool ranked;          /* there are hard answers, and their standings are known */
    wfre_metrics metrics; /* once the evaluation is finished */
} wfre_query_result;

struct wfre_evaluation {
    wfre_evaluation_info info;
    bool usual; /* its queries are of the kind that published results are about */
    wfre_type_result *types;
    size_t type_count;
    wfre_query_result *queries; /* by row of the query set */
    size_t query_count;
    wfre_standing *standings; /* of all hard answers, in the order of the query set */
    size_t standing_count;
    wfre_evaluation_row groups[WFRE_GROUPS];
    wfre_evaluation_stratum *strata; /* [stratum_count] */
    size_t stratum_count;
    wfre_reliability reliability; /* of the model's probabilities; no queries: it has none */
    wfre_reliability missing;     /* of those if an answer is missing */
    wfre_arena arena;             /* names and label */
};

/* An evaluation of the set with nothing recorded. Types are in the order in which they are shown.
 * Copies what it needs; fails if there is nothing to rank. */
WFRE_NODISCARD wfre_status wfre_evaluation_create(const wfre_queryset *set, const wfre_graph *graph,
                                                  const char *label, wfre_evaluation **evaluation,
                                                  wfre_error *error);

/* Where the standings of a query belong; once they are there, it is to be marked as ranked. */
wfre_standing *wfre_evaluation_standings(wfre_evaluation *evaluation, uint32_t query);

/* Averages, and the bootstrap intervals. Types without a ranked query are dropped. */
WFRE_NODISCARD wfre_status wfre_evaluation_finish(wfre_evaluation *evaluation, uint32_t resamplings,
                                                  uint64_t seed, wfre_pool *pool,
                                                  wfre_error *error);

/* Once it is finished: the strata, with `set` as it was created from. Fails with WFRE_ERR_MISMATCH
 * if the queries are not those of the options' split. */
WFRE_NODISCARD wfre_status wfre_evaluation_stratify(wfre_evaluation *evaluation,
                                                    const wfre_graph *graph,
                                                    const wfre_queryset *set,
                                                    const wfre_eval_options *options,
                                                    const wfre_monitor *monitor, wfre_error *error);

/* The interval of the mean of some queries' MRRs (at least one), set in the row; `stream` tells its
 * random numbers from those of other rows. */
WFRE_NODISCARD wfre_status wfre_bootstrap_mean(const double *values, size_t count,
                                               uint32_t resamplings, uint64_t seed, uint64_t stream,
                                               wfre_evaluation_row *row, wfre_error *error);

/* The intervals alone; the averages are there already. */
WFRE_NODISCARD wfre_status wfre_evaluation_bootstrap(wfre_evaluation *evaluation,
                                                     uint32_t resamplings, uint64_t seed,
                                                     wfre_pool *pool, wfre_error *error);

/* Whether a type belongs to a group. */
bool wfre_type_in_group(const wfre_type_result *type, wfre_group group);
const char *wfre_group_name(wfre_group group);

#endif
