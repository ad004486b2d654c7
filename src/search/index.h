/* What a search among a model's entities reads: shared by all threads, and only read.
 *
 * The score of an entity for a histogram is the negated distance: higher is better. Scores can be
 * exact, or estimated for all entities by one matrix product (architecture: "Why there are two
 * estimators"): cheaply by a sketch, for whoever wants the best few, and closely by a filter, for
 * whoever measures how deep given entities stand. */
#ifndef WFRE_SRC_SEARCH_INDEX_H
#define WFRE_SRC_SEARCH_INDEX_H

#include "model/embed.h"
#include "model/sketch_tables.h"

enum { WFRE_PROBES = 64 }; /* entities that show how much a filter errs */

typedef struct wfre_index wfre_index;

/* Borrows the model, which must not change, and its matrices until freed. */
WFRE_NODISCARD wfre_status wfre_index_create(const wfre_model *model, wfre_matrices *matrices,
                                             wfre_index **index, wfre_error *error);
void wfre_index_free(wfre_index *index);

/* The tables of the sketch that was made, for the model to keep; NULL if none was. The index is of
 * no use any more. */
wfre_sketch_tables *wfre_index_take_sketch(wfre_index *index);

const wfre_model *wfre_index_model(const wfre_index *index);
const wfre_score *wfre_index_score(const wfre_index *index);

/* What finding the best few takes, made at the first call unless the model's file has it; any
 * number of threads may ask at once. */
typedef struct wfre_index_top {
    const struct wfre_sketch *sketch; /* NULL: not worth having, all scores are exact */
    const wfre_store *whole;          /* all entities, packed, if they are few; else NULL */
} wfre_index_top;
WFRE_NODISCARD wfre_status wfre_index_top_of(wfre_index *index, wfre_pool *pool,
                                             wfre_index_top *top, wfre_error *error);

/* What measuring takes, made at the first call; any number of threads may ask at once. */
typedef struct wfre_index_ranks {
    const wfre_store *store;          /* all entities, packed */
    const struct wfre_filter *filter; /* NULL: not worth having, all scores are exact */
    uint32_t probes[WFRE_PROBES];     /* distinct entities, ascending */
} wfre_index_ranks;
WFRE_NODISCARD wfre_status wfre_index_ranks_of(wfre_index *index, bool filtered, wfre_pool *pool,
                                               const wfre_index_ranks **ranks, wfre_error *error);
/* Whether it would have a filter. */
bool wfre_index_filters(const wfre_model *model);

#endif
