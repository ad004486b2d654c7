/* From embedded queries and candidates to a loss and its gradients.
 *
 * Two ways to the same losses: the matrix way scores every query against every candidate by the
 * local closed form or the surrogate, one matrix product for the batch; the pair way scores chosen
 * pairs by the model's own score. */
#ifndef WFRE_SRC_TRAIN_LOSS_H
#define WFRE_SRC_TRAIN_LOSS_H

#include "linalg/linalg.h"
#include "wfr/surrogate.h"
#include "wfre/train.h"

/* One batch as the loss sees it. A query has one or more branches (rows of `branches`); its logit
 * for a candidate is the best over its branches. */
typedef struct wfre_loss_batch {
    size_t queries, branch_count, candidates, dim;
    const uint32_t *branch_begin;   /* [queries + 1] */
    const float *branches;          /* [branch_count, dim] */
    const float *table;             /* [candidates, dim] */
    const uint32_t *positive_begin; /* [queries + 1] */
    const uint32_t *positives;      /* candidate indexes */
    const uint32_t *answer_begin;   /* [queries + 1]: all answers among the candidates */
    const uint32_t *answers;        /* candidate indexes; never counted as negatives */
    const uint32_t *negative_begin; /* [queries + 1] */
    const uint32_t *negatives;      /* candidate indexes: each query's own, for the pair way */
    const float *weights;           /* [queries], sum 1 */
    const float *prices;            /* [queries], of a question's mass, for the matrix way */
    const float *targets;           /* [queries, candidates] of a teacher (teacher.h), or NULL */
    float target_weight;            /* what a query's weighs beside its answers */
    uint64_t step;                  /* for what is drawn */

    float *branch_gradient; /* [branch_count, dim], overwritten */
    float *table_gradient;  /* [candidates, dim], overwritten */
} wfre_loss_batch;

typedef struct wfre_matrix_engine wfre_matrix_engine;

WFRE_NODISCARD wfre_status wfre_matrix_engine_create(const wfre_train_settings *settings,
                                                     wfre_pool *pool, wfre_linalg *linalg,
                                                     wfre_matrix_engine **engine,
                                                     wfre_error *error);
void wfre_matrix_engine_free(wfre_matrix_engine *engine);

/* Compares by this surrogate from now on, which is borrowed; NULL: by the local closed form. */
void wfre_matrix_engine_use(wfre_matrix_engine *engine, const wfre_surrogate *surrogate);

/* From now on the surrogate leaves so many candidates a query to the score. */
void wfre_matrix_engine_exact(wfre_matrix_engine *engine, uint32_t exact);

/* The batch's loss by the local closed form, or by the surrogate: the mean over the members, each
 * of which learns as if it were the whole model, so that the gradients are those of the sum. */
WFRE_NODISCARD wfre_status wfre_loss_matrix(wfre_matrix_engine *engine,
                                            const wfre_loss_batch *batch, double *loss,
                                            wfre_error *error);

/* For each query the `hard` candidates, answers left out, that the same form ranks highest:
 * query q has hardest[begin[q] .. begin[q + 1]). Both live until the next call. */
WFRE_NODISCARD wfre_status wfre_loss_hardest(wfre_matrix_engine *engine,
                                             const wfre_loss_batch *batch, const uint32_t **begin,
                                             const uint32_t **hardest, wfre_error *error);

/* ---- the pair way ------------------------------------------------------------------------- */

typedef struct wfre_pair_engine wfre_pair_engine;

WFRE_NODISCARD wfre_status wfre_pair_engine_create(const wfre_train_settings *settings,
                                                   wfre_pool *pool, wfre_linalg *linalg,
                                                   wfre_pair_engine **engine, wfre_error *error);
void wfre_pair_engine_free(wfre_pair_engine *engine);

/* The batch's loss by the model's own score: each query with its positives and own negatives. */
WFRE_NODISCARD wfre_status wfre_loss_pairs(wfre_pair_engine *engine, const wfre_loss_batch *batch,
                                           double *loss, wfre_error *error);

/* ---- the relation as a second target ------------------------------------------------------ */

/* Facts of the batch whose relation is to be told from rivals. Rows are those of the embedded
 * queries, which the rivals follow. */
typedef struct wfre_relation_batch {
    size_t facts, dim;
    size_t rivals;               /* the row of the first rival */
    const uint32_t *rival_begin; /* [facts + 1], counted from that row */
    const uint32_t *own;         /* [facts] the row of the fact's own relation, of no other fact */
    const uint32_t *targets;     /* [facts] candidate indexes */
    const float *branches;       /* [rows, dim] */
    const float *table;          /* [candidates, dim] */
    float *branch_gradient;      /* [rows, dim], added to */
    float *table_gradient;       /* [candidates, dim], added to */
} wfre_relation_batch;

typedef struct wfre_relation_engine wfre_relation_engine;

WFRE_NODISCARD wfre_status wfre_relation_engine_create(const wfre_train_settings *settings,
                                                       wfre_pool *pool, wfre_linalg *linalg,
                                                       wfre_relation_engine **engine,
                                                       wfre_error *error);
void wfre_relation_engine_free(wfre_relation_engine *engine);

/* Adds relation_loss times the mean over the facts of the cross-entropy of their relations. */
WFRE_NODISCARD wfre_status wfre_loss_relations(wfre_relation_engine *engine,
                                               const wfre_relation_batch *batch, double *loss,
                                               wfre_error *error);

/* ---- one query ---------------------------------------------------------------------------- */

/* The logit of a candidate that does not count. */
#define WFRE_LEFT_OUT (-1e30f)

/* Turns one query's logits, in place, into the gradient of the loss with respect to them, scaled by
 * its weight, and returns its weighted loss. `logits` has `count` candidates; `answers` are left
 * out; `saved` has room for the positives. With the softmax there may be targets: then the
 * cross-entropy of the candidates that count with them is added, target_weight times. */
typedef struct wfre_query_loss {
    wfre_loss kind;
    size_t count;
    const uint32_t *positives;
    size_t positive_count;
    const uint32_t *answers;
    size_t answer_count;
    float weight;
    const float *targets; /* [count], 0 for answers, their sum 1 or 0; or NULL */
    float target_weight;
} wfre_query_loss;
double wfre_query_loss_gradient(const wfre_query_loss *query, const wfre_vector_table *vectors,
                                float *logits, float *saved);

#endif
