/* The matrix way from the inside: shared by loss_matrix.c and loss_hard.c. */
#ifndef WFRE_SRC_TRAIN_LOSS_MATRIX_H
#define WFRE_SRC_TRAIN_LOSS_MATRIX_H

#include "base/pool.h"
#include "train/loss.h"
#include "train/pair_list.h"

struct wfre_matrix_engine {
    wfre_train_settings settings;
    wfre_pool *pool;
    wfre_linalg *linalg;
    const wfre_vector_table *vectors;
    const wfre_surrogate *surrogate; /* NULL: the local closed form */
    wfre_score *score;               /* of a member, for the exact pairs; NULL: there are none */
    float *branch_power;             /* [branches, w] x^p, or what the surrogate makes of x */
    float *table_power;              /* [candidates, w] the same of y */
    float *product;                  /* [branches, w] and [candidates, w]: their gradients */
    float *logits;                   /* [branches, candidates] */
    float *table_offset;             /* [candidates] the candidate's own share of the logit */
    float *branch_offset;            /* [branches] what a branch adds to all its logits */
    float *branch_mass;              /* [branches] scale * sum x */
    float *branch_sum;               /* [branches] the gradient's row sums */
    float *table_sum;                /* [candidates] its column sums */
    double *losses;                  /* [queries] */
    uint32_t *hardest;               /* [queries, hard], or [queries of a group, 2 exact] */
    uint32_t *hard_begin;            /* [queries + 1] */
    wfre_pair_list exact;            /* of a group of queries, in their order */
    float *exact_weight;             /* [pairs] how many each of them stands for */
    float *scratch;                  /* [threads, scratch_stride] */
    float *rows;                     /* [threads, row_stride] of the surrogate */
    size_t capacity_branch, capacity_table, capacity_product, capacity_logits, capacity_offset;
    size_t capacity_branch_offset, capacity_branch_sum, capacity_table_sum;
    size_t capacity_losses, capacity_scratch;
    size_t scratch_stride, capacity_hardest, capacity_hard_begin;
    size_t row_stride, capacity_rows, capacity_mass, capacity_weight;
};

typedef struct wfre_matrix_task {
    wfre_matrix_engine *engine;
    const wfre_loss_batch *batch;
    size_t column, width; /* the bins that are compared: a member's, or all */
    size_t features;      /* the numbers of a row that are multiplied */
    float power;          /* p */
    float scale;          /* rho / b */
} wfre_matrix_task;

wfre_matrix_task wfre_matrix_task_of(wfre_matrix_engine *engine, const wfre_loss_batch *batch,
                                     size_t column, size_t width);

/* Powers of both sides and all logits but for their constant shares. */
WFRE_NODISCARD wfre_status wfre_matrix_logits(wfre_matrix_task *task, wfre_error *error);

/* Adds the shares of branch and candidate to the logits of a query's branches. */
void wfre_matrix_complete(const wfre_matrix_task *task, size_t q);

/* The best logit over a query's branches, candidate by candidate. */
void wfre_matrix_best(const wfre_matrix_task *task, size_t q, float *best);

/* From a query's logits, complete, to its loss and the loss's gradient in their place. */
void wfre_matrix_query(const wfre_matrix_task *task, size_t q, unsigned worker);

/* ---- the hardest candidates (loss_hard.c) ------------------------------------------------- */

/* Takes all queries from their logits, not yet complete, to losses and gradients, some pairs by the
 * score itself. What these add to the gradients of branches and candidates is there then, and is
 * taken out of the gradients of the logits, which the surrogate carries back. */
WFRE_NODISCARD wfre_status wfre_matrix_exact(const wfre_matrix_task *task, wfre_error *error);

#endif
