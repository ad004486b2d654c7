/* Checkpoints: a model file with the optimizer's state and all settings of the run, from which the
 * run goes on as if it had never stopped. */
#ifndef WFRE_SRC_TRAIN_CHECKPOINT_H
#define WFRE_SRC_TRAIN_CHECKPOINT_H

#include "train/trainer.h"

/* Replaces the file atomically. `best` is the best validation result so far, -1 if there is none,
 * and `next_validation` the number of the validation that comes next, from 1. */
WFRE_NODISCARD wfre_status wfre_checkpoint_write(const wfre_trainer *trainer, const char *path,
                                                 double best, uint32_t next_validation,
                                                 wfre_error *error);

/* The settings of the run. */
WFRE_NODISCARD wfre_status wfre_checkpoint_read_settings(const char *path,
                                                         wfre_train_settings *settings,
                                                         wfre_error *error);

/* A trainer as it was when the checkpoint was written. The settings are the checkpoint's, but for
 * the length of the run: steps or seconds above 0 in `length` replace those. Where an old
 * checkpoint does not say which validation comes next, *next_validation is UINT32_MAX. */
WFRE_NODISCARD wfre_status wfre_checkpoint_read(const char *path, const wfre_graph *graph,
                                                wfre_pool *pool, const wfre_train_settings *length,
                                                wfre_trainer **trainer, double *best,
                                                uint32_t *next_validation, wfre_error *error);

#endif
