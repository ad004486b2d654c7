/* Unfinished evaluations in a file: which queries are ranked, and their standings. */
#ifndef WFRE_SRC_EVAL_PARTIAL_H
#define WFRE_SRC_EVAL_PARTIAL_H

#include "eval/evaluation.h"

/* `key` tells one evaluation from another. */
WFRE_NODISCARD wfre_status wfre_partial_write(const wfre_evaluation *evaluation, uint64_t key,
                                              const char *path, wfre_error *error);
/* Takes over what the file holds. A file that is not there, damaged, or of another evaluation is
 * left alone: then everything is done anew. */
WFRE_NODISCARD wfre_status wfre_partial_read(wfre_evaluation *evaluation, uint64_t key,
                                             const char *path, wfre_error *error);

#endif
