/* Unfinished evaluations in a file: which queries are ranked, and their standings. */
#ifndef WFRE_SRC_EVAL_PARTIAL_H
#define WFRE_SRC_EVAL_PARTIAL_H

#include "eval/evaluation.h"

/* What decides standings: all of it goes into the key that tells one evaluation from another. */
typedef struct wfre_partial_of {
    const wfre_graph *graph;
    const wfre_model *model;
    const wfre_queryset *set;
    const wfre_way *way;
    wfre_split known;
    uint32_t version; /* WFRE_RANKING_VERSION: that of the code which ranks */
} wfre_partial_of;

uint64_t wfre_partial_key(const wfre_partial_of *of);

/* `key` is that of the evaluation. */
WFRE_NODISCARD wfre_status wfre_partial_write(const wfre_evaluation *evaluation, uint64_t key,
                                              const char *path, wfre_error *error);
/* Takes over what the file holds. A file that is not there, damaged, or of another evaluation is
 * left alone: then everything is done anew. */
WFRE_NODISCARD wfre_status wfre_partial_read(wfre_evaluation *evaluation, uint64_t key,
                                             const char *path, wfre_error *error);

#endif
