/* One batch: queries drawn from the train graph, the answers to aim at, and the entities to compare
 * with. Everything is a function of the seed, the step and how much of the run is over, whatever
 * the number of threads. */
#ifndef WFRE_SRC_TRAIN_BATCH_H
#define WFRE_SRC_TRAIN_BATCH_H

#include "base/pool.h"
#include "query/tree.h"
#include "train/loss.h"
#include "wfre/query.h"

/* Entities of a batch get slots: first the candidates, then the anchors that are no candidates. */
typedef struct wfre_batch {
    size_t queries;
    const wfre_node **trees; /* [queries], then rivals: other edges of a query's entity */
    uint32_t *types;         /* index into wfre_train_type_names */
    float *weights;          /* [queries], sum 1 */
    float *prices;           /* [queries], of a question's mass */

    uint32_t *slots; /* [slot_count] the entity of each slot */
    size_t slot_count;
    size_t candidate_count; /* slots 0 .. candidate_count-1 */

    uint32_t *positive_begin, *positives; /* candidate slots */
    uint32_t *answer_begin, *answers;     /* candidate slots of all known answers */
    /* Facts whose relation is asked for: the single edge of a query, one of its answers, and rivals
     * that do not lead there. */
    size_t facts, rivals;
    uint32_t *fact_query, *fact_target; /* [facts]; a target is a candidate slot */
    uint32_t *rival_begin;              /* [facts + 1] */

    uint32_t *negative_begin, *negatives; /* each query's own; empty if candidates are shared */
} wfre_batch;

typedef struct wfre_batcher wfre_batcher;

/* Borrows the graph and the pool. */
WFRE_NODISCARD wfre_status wfre_batcher_create(const wfre_graph *graph,
                                               const wfre_train_settings *settings, wfre_pool *pool,
                                               wfre_batcher **batcher, wfre_error *error);
void wfre_batcher_free(wfre_batcher *batcher);

/* The batch of a step, `progress` (0 to 1) of the run being over; it lives until the next one. */
WFRE_NODISCARD wfre_status wfre_batcher_draw(wfre_batcher *batcher, uint64_t step, double progress,
                                             const wfre_batch **batch, wfre_error *error);
/* The share of the queries of a type, of those that were to be drawn, that was found in time; in
 * the place of the others stand queries of the first type of the mix. */
double wfre_batcher_found(const wfre_batcher *batcher, uint32_t type);

/* The slot of an entity of the last batch; WFRE_NONE if it has none. */
uint32_t wfre_batcher_slot(const wfre_batcher *batcher, wfre_entity entity);

#endif
