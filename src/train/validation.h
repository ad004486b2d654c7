/* Validation on the way: the MRR of a sample of queries whose hard answers the
 * train graph lacks. */
#ifndef WFRE_SRC_TRAIN_VALIDATION_H
#define WFRE_SRC_TRAIN_VALIDATION_H

#include "base/error.h"
#include "wfre/model.h"

typedef struct wfre_validation wfre_validation;

/* Takes up to `per_type` queries of each type from a query set, or samples them from the graph's
 * valid split if `queries` is NULL. Borrows the graph and the query set. *validation is NULL if
 * there is nothing to validate on. */
WFRE_NODISCARD wfre_status wfre_validation_create(const wfre_graph *graph,
                                                  const wfre_queryset *queries, uint32_t per_type,
                                                  uint64_t seed, wfre_pool *pool,
                                                  wfre_validation **validation, wfre_error *error);
void wfre_validation_free(wfre_validation *validation);

/* The mean over the types of the mean MRR of their queries. `seconds` limits the first validation,
 * by leaving out queries from then on; 0 for no limit. */
WFRE_NODISCARD wfre_status wfre_validation_run(wfre_validation *validation, const wfre_model *model,
                                               double seconds, const wfre_monitor *monitor,
                                               double *mrr, wfre_error *error);

/* Fits the model's lifts on the same queries. `seconds` limits it by leaving out queries. */
WFRE_NODISCARD wfre_status wfre_validation_lift(const wfre_validation *validation,
                                                wfre_model *model, double seconds,
                                                const wfre_monitor *monitor, wfre_error *error);

/* Fits on them whether and how the model answers edge by edge, `seconds` as before. */
WFRE_NODISCARD wfre_status wfre_validation_edges(const wfre_validation *validation,
                                                 wfre_model *model, double seconds,
                                                 const wfre_monitor *monitor, wfre_error *error);

/* Fits the model's probabilities on the same queries, `seconds` as before. */
WFRE_NODISCARD wfre_status wfre_validation_calibrate(const wfre_validation *validation,
                                                     wfre_model *model, double seconds,
                                                     const wfre_monitor *monitor,
                                                     wfre_error *error);

#endif
