/* Dealing queries out to batches so that each batch has few relations. */
#ifndef WFRE_SRC_TRAIN_DEAL_H
#define WFRE_SRC_TRAIN_DEAL_H

#include "base/error.h"
#include "wfre/query.h"

/* `drawn` are the queries of `batches` batches of `queries` each, one batch after the other.
 * order[b * queries + i] becomes the number of a query for batch b: every query once, and as many
 * of each type in a batch as were drawn for it. */
WFRE_NODISCARD wfre_status wfre_deal(const wfre_sampled *drawn, size_t batches, size_t queries,
                                     size_t types, size_t relations, uint32_t *order,
                                     wfre_error *error);

#endif
