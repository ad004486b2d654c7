/* How factors are learned (model/factors.h): beside each step of the histograms, one of their own.
 *
 * Facts are drawn from the train split, every one of them equally likely. Those of the same entity
 * and relation are one question, whose answers are all that the graph knows, and the loss is
 * cross-entropy over all entities (or as many as the settings say, the drawn answers among them):
 *
 *   loss = mean over facts (log sum_y exp s(x, r, y) - mean over known y of s(x, r, y))
 *        + penalty * mean over facts (|x|^3 + |r|^3 + |y|^3)
 *
 * where |x|^3 is the sum of the cubes of absolute values (N3). They are updated by Adagrad. */
#ifndef WFRE_SRC_TRAIN_FACTORS_H
#define WFRE_SRC_TRAIN_FACTORS_H

#include "linalg/linalg.h"
#include "model/factors.h"
#include "wfre/train.h"

typedef struct wfre_factor_learner wfre_factor_learner;

/* For a model that has some; borrows everything until it is freed. */
WFRE_NODISCARD wfre_status wfre_factor_learner_create(
    const wfre_graph *graph, const wfre_train_settings *settings, const wfre_model *model,
    wfre_pool *pool, wfre_linalg *linalg, wfre_factor_learner **learner, wfre_error *error);
void wfre_factor_learner_free(wfre_factor_learner *learner);

/* The gradients of a step, and its loss; the factors stay as they are. */
WFRE_NODISCARD wfre_status wfre_factors_learn(wfre_factor_learner *learner, uint64_t step,
                                              double *loss, wfre_error *error);
/* The update that these gradients are for. */
void wfre_factors_update(wfre_factor_learner *learner);

/* Adagrad's sums of squares, which a checkpoint keeps: of the entities, then of the relations. */
float *wfre_factors_squares(const wfre_factor_learner *learner, int tensor);

#endif
