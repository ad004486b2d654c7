/* The trainer from the inside; checkpoints save and restore it. */
#ifndef WFRE_SRC_TRAIN_TRAINER_H
#define WFRE_SRC_TRAIN_TRAINER_H

#include "base/error.h"
#include "model/run.h"
#include "train/batch.h"
#include "train/factors.h"
#include "train/loss.h"
#include "train/teacher.h"
#include "wfr/surrogate.h"

struct wfre_trainer {
    wfre_train_settings settings;
    const wfre_graph *graph;
    wfre_pool *pool;
    wfre_linalg *linalg;
    const wfre_vector_table *vectors;
    wfre_model *model;

    /* AdamW's moments of model->tensors[i]. */
    float *first[WFRE_MAXIMUM_TENSORS];
    float *second[WFRE_MAXIMUM_TENSORS];
    wfre_tensor gradients[WFRE_MAXIMUM_TENSORS]; /* [i] of model->tensors[i + 1] */
    bool lazy; /* only entities that a batch touches are updated */

    wfre_batcher *batcher;
    const wfre_batch *batch; /* the current one */
    wfre_program program;
    wfre_run *run;
    wfre_matrix_engine *loss;
    wfre_pair_engine *pairs;
    wfre_surrogate *surrogate; /* NULL unless the guide is one */
    wfre_relation_engine *relations;
    wfre_factor_learner *factors; /* NULL unless the model has some */
    wfre_teacher *teacher;        /* NULL unless they are to teach */
    uint32_t *own;                /* [facts] the rows of their own relations */
    float *table;                 /* [slots, d] the batch's entities */
    float *table_gradient;        /* [slots, d] */
    float *branches;              /* [roots, d] the embedded queries */
    float *branch_gradient;       /* [roots, d] */
    size_t table_capacity, table_gradient_capacity, branch_capacity, branch_gradient_capacity;
    size_t own_capacity;
    float *zeros; /* [threads, d] the gradient of an entity that the batch does not touch */

    uint64_t step;
    uint64_t restart;      /* the step at which AdamW began */
    uint64_t own_steps;    /* since this process began */
    double started;        /* on wfre_clock */
    double seconds_before; /* spent before a resumption */
    double part;           /* of the seconds there are that steps may take; 0 is all of them */
    double smooth_loss, last_loss, rate;
    double times[4]; /* sampling, projection, scoring, optimizer */
};

/* Like wfre_trainer_create with a model that exists already,
 * which it takes over unless it fails. */
WFRE_NODISCARD wfre_status wfre_trainer_create_with(const wfre_graph *graph,
                                                    const wfre_train_settings *settings,
                                                    wfre_pool *pool, wfre_model *model,
                                                    wfre_trainer **trainer, wfre_error *error);

/* A step in parts: the batch drawn and embedded, and as the loss sees it. */
WFRE_NODISCARD wfre_status wfre_trainer_draw(wfre_trainer *trainer, wfre_error *error);
wfre_loss_batch wfre_trainer_view(const wfre_trainer *trainer);
/* Fits the surrogate to the histograms of the batch; its rank stays. */
WFRE_NODISCARD wfre_status wfre_trainer_refit(wfre_trainer *trainer, wfre_error *error);

double wfre_trainer_seconds(const wfre_trainer *trainer);
/* 0 at the start, 1 when done. */
double wfre_trainer_progress(const wfre_trainer *trainer);

#endif
