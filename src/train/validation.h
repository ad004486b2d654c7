/* Validation on the way: the MRR of a sample of queries whose hard answers the train graph lacks,
 * and of a sample of the triples that the valid split adds (link prediction). */
#ifndef WFRE_SRC_TRAIN_VALIDATION_H
#define WFRE_SRC_TRAIN_VALIDATION_H

#include "base/error.h"
#include "model/measured.h"

typedef struct wfre_validation wfre_validation;

/* What is ranked. */
typedef struct wfre_validation_options {
    const wfre_queryset *queries; /* NULL: sampled from the graph's valid split */
    uint32_t per_type;            /* at most so many of each type */
    bool distinct;                /* none is sampled twice, however few there are */
    size_t triples;               /* of the valid split, at most so many */
    uint64_t seed;
} wfre_validation_options;

/* Borrows the graph and the query set. *validation is NULL if there is nothing to validate on. */
WFRE_NODISCARD wfre_status wfre_validation_create(const wfre_graph *graph,
                                                  const wfre_validation_options *options,
                                                  wfre_pool *pool, wfre_validation **validation,
                                                  wfre_error *error);
void wfre_validation_free(wfre_validation *validation);

/* What one validation found; -1 where there was nothing to rank. */
typedef struct wfre_validated {
    double mrr;   /* the mean over the types of the mean MRR of their queries */
    double links; /* the mean of 1 / rank of the triples' tails and heads */
    double each;  /* seconds that ranking one query takes without preparation; 0: not known */
} wfre_validated;

/* What models are chosen by: the mean of the two, as far as they are there. */
double wfre_validated_score(wfre_validated validated);

/* Ranks by embedding, which is what learns. `seconds` limits the first validation, by leaving out
 * queries from then on; 0 for no limit. */
WFRE_NODISCARD wfre_status wfre_validation_run(wfre_validation *validation, const wfre_model *model,
                                               double seconds, const wfre_monitor *monitor,
                                               wfre_validated *found, wfre_error *error);

/* Measures a finished model in the way it answers by itself, `seconds` as before, and gives it the
 * result to keep. */
WFRE_NODISCARD wfre_status wfre_validation_measure(wfre_validation *validation, wfre_model *model,
                                                   double seconds, const wfre_monitor *monitor,
                                                   wfre_error *error);

/* Fits the model's lifts on the same queries. `seconds` limits it by leaving out queries. */
WFRE_NODISCARD wfre_status wfre_validation_lift(const wfre_validation *validation,
                                                wfre_model *model, double seconds,
                                                const wfre_monitor *monitor, wfre_error *error);

/* Fits on them and on the triples, or on a share of as many as it wants, whether and how the model
 * answers edge by edge; `seconds` as before. */
WFRE_NODISCARD wfre_status wfre_validation_edges(const wfre_validation *validation,
                                                 wfre_model *model, double share, double seconds,
                                                 const wfre_monitor *monitor, wfre_error *error);

/* Fits the model's probabilities on the same queries and on a share of the questions that are drawn
 * for it, `seconds` as before. */
WFRE_NODISCARD wfre_status wfre_validation_calibrate(const wfre_validation *validation,
                                                     wfre_model *model, double share,
                                                     double seconds, const wfre_monitor *monitor,
                                                     wfre_error *error);

#endif
