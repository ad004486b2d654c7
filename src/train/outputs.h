/* The files of a training run, for NAME.safetensors:
 *
 * - NAME.safetensors: a finished model, this run's when it ends, until then what was there;
 * - NAME.unfinished.safetensors: while the run lasts, the best model so far;
 * - NAME.checkpoint: while the run lasts, from where it can go on;
 * - NAME.log.jsonl: what happened, one JSON object a line;
 * - NAME.curve.svg: the same as a picture;
 * - NAME.lock: while the run lasts, so that no other writes to the same files.
 *
 * After a kill the three that last as long as the run stay; the next run uses or removes them. */
#ifndef WFRE_SRC_TRAIN_OUTPUTS_H
#define WFRE_SRC_TRAIN_OUTPUTS_H

#include "base/disk.h"

typedef struct wfre_outputs {
    const char *model; /* the caller's */
    char *unfinished, *checkpoint, *log, *curve;
    wfre_lock lock;
    int log_file; /* open if `logging` */
    bool logging;
    uint64_t lines;          /* of the log that have a loss */
    uint64_t logged, judged; /* the last steps with a loss and with an MRR, WFRE_NO_STEP for none */
} wfre_outputs;

#define WFRE_NO_STEP UINT64_MAX

/* "dir/name.safetensors" -> "dir/name" + suffix, as new memory. NULL when out of memory. */
char *wfre_output_beside(const char *model, const char *suffix);

/* Names the files, locks them against other runs, and removes what killed ones left behind. Close
 * it also after a failure. */
WFRE_NODISCARD wfre_status wfre_outputs_open(wfre_outputs *outputs, const char *model,
                                             wfre_error *error);
/* A log from the beginning; what an older run kept to go on from is removed. */
WFRE_NODISCARD wfre_status wfre_outputs_begin(wfre_outputs *outputs, wfre_error *error);
/* The log of a run that goes on from this step. What it says of later steps, and of the end, is
 * taken out: that comes again. */
WFRE_NODISCARD wfre_status wfre_outputs_resume(wfre_outputs *outputs, uint64_t step,
                                               wfre_error *error);
/* Appends a line, which has its end. */
WFRE_NODISCARD wfre_status wfre_outputs_log(wfre_outputs *outputs, const char *line,
                                            wfre_error *error);
/* The model is finished and has its name: what was there for the run's sake goes. */
void wfre_outputs_finish(wfre_outputs *outputs);
void wfre_outputs_close(wfre_outputs *outputs);

#endif
