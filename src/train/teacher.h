/* What a question should learn beside its known answers: which of the others are likely.
 *
 * A question that learns from known answers alone learns to find what it has been told. The answers
 * that people miss stand where an edge is missing, and factors (model/factors.h), which learn
 * single edges quickly, have an idea of those. So they teach, by reasoning as answers are found
 * edge by edge (infer/way_edges.h), over the candidates of a batch:
 *
 *   edge (x, r, y)   1 if it is known, else odds / (1 + odds): odds are the softmax of the factors'
 *                    score over the entities that are not known, times the room for more of them,
 *                    min(1 + n, 2.8 + n / 10) where n are known (set by hand: few known answers
 *                    promise few more, many promise a tenth)
 *   intersection     the product; a complement is 1 - truth; nothing is below 1e-10
 *
 * Of candidates that are no known answers, these in proportion are what the question is to say
 * (train/loss.h). Questions with a path are not taught: with a few likely entities followed they
 * learned less than from their answers alone. */
#ifndef WFRE_SRC_TRAIN_TEACHER_H
#define WFRE_SRC_TRAIN_TEACHER_H

#include "linalg/linalg.h"
#include "model/model.h"
#include "train/batch.h"

typedef struct wfre_teacher wfre_teacher;

/* For a model that has factors; borrows everything until it is freed. */
WFRE_NODISCARD wfre_status wfre_teacher_create(const wfre_graph *graph, const wfre_model *model,
                                               wfre_precision precision, wfre_pool *pool,
                                               wfre_teacher **teacher, wfre_error *error);
void wfre_teacher_free(wfre_teacher *teacher);

/* targets[q * candidates + c] for the queries of a batch: 0 for known answers, and the others sum
 * to 1, or are all 0 if the question is not taught. They live until the next call. */
WFRE_NODISCARD wfre_status wfre_teacher_targets(wfre_teacher *teacher, const wfre_batch *batch,
                                                const wfre_batcher *batcher, const float **targets,
                                                wfre_error *error);

#endif
