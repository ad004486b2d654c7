/* The entities nearest to embedded queries, some left out: what a model predicts.
 *
 * A query is one or more histograms (the branches of a union); its distance to an entity is the
 * smallest over them. Entities are ordered by distance, those of equal distance by id, so that a
 * result is the same however it was found. */
#ifndef WFRE_SRC_MODEL_SEARCH_H
#define WFRE_SRC_MODEL_SEARCH_H

#include "base/error.h"
#include "model/embed.h"

typedef struct wfre_hit {
    wfre_entity entity;
    float distance;
} wfre_hit;

/* What is wanted of one embedded query, and the place for what is found. */
typedef struct wfre_search_query {
    wfre_list without; /* ascending: never found */
    size_t top;        /* how many are wanted */
    wfre_hit *hits;    /* room for `top` */
    size_t hit_count;  /* out: `top`, or all that are left */
} wfre_search_query;

typedef struct wfre_searcher wfre_searcher;

/* Borrows the model, which must not change, and the pool until freed. */
WFRE_NODISCARD wfre_status wfre_searcher_create(const wfre_model *model, wfre_pool *pool,
                                                wfre_searcher **searcher, wfre_error *error);
void wfre_searcher_free(wfre_searcher *searcher);

/* Finds by scoring every entity; queries[q] belongs to query q of the embedding. The bits depend
 * neither on the threads nor on what other queries there are. */
WFRE_NODISCARD wfre_status wfre_search_all(wfre_searcher *searcher, const wfre_embedding *embedding,
                                           wfre_search_query *queries, size_t count,
                                           wfre_error *error);

#endif
