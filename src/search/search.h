/* The entities nearest to embedded queries, some left out: what a model predicts.
 *
 * A query is one or more histograms (the branches of a union); its distance to an entity is the
 * smallest over them. Entities are ordered by distance, those of equal distance by id, so that a
 * result is the same however it was found.
 *
 * Quick search estimates all distances by a sketch, then scores the best candidates exactly, more
 * and more of them, until it is most unlikely that another one belongs to the nearest: the next
 * candidate's estimate, corrected by as much as the estimates were seen to err, is farther than all
 * that is wanted. */
#ifndef WFRE_SRC_SEARCH_SEARCH_H
#define WFRE_SRC_SEARCH_SEARCH_H

#include "model/embed.h"
#include "model/sketch_tables.h"

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
    size_t scored;     /* out: entities scored exactly */
} wfre_search_query;

typedef struct wfre_searcher wfre_searcher;

/* Borrows the model, which must not change, and the pool until freed. */
WFRE_NODISCARD wfre_status wfre_searcher_create(const wfre_model *model, wfre_pool *pool,
                                                wfre_searcher **searcher, wfre_error *error);
void wfre_searcher_free(wfre_searcher *searcher);

/* Takes the model's sketch or makes one, unless it would not pay: then quick search is exhaustive.
 * Uses the embedder for examples of queries. */
WFRE_NODISCARD wfre_status wfre_searcher_prepare(wfre_searcher *searcher, wfre_embedder *embedder,
                                                 wfre_error *error);
/* The tables of the sketch that was made, for the model to keep; NULL if none was. */
wfre_sketch_tables *wfre_searcher_take_sketch(wfre_searcher *searcher);

/* distances[r * entities + e] of `count` histograms: estimates, if there is a sketch and the exact
 * ones are not asked for. */
WFRE_NODISCARD wfre_status wfre_search_distances(wfre_searcher *searcher, const float *rows,
                                                 size_t count, bool exact, float *distances,
                                                 wfre_error *error);

/* Whether those would be estimates. */
bool wfre_search_estimates(const wfre_searcher *searcher);

/* distances[i] between histogram rows[indexes[i]] and entities[i], exactly. */
WFRE_NODISCARD wfre_status wfre_search_pairs(wfre_searcher *searcher, const float *rows,
                                             const uint32_t *indexes, const wfre_entity *entities,
                                             size_t count, float *distances, wfre_error *error);

/* Both find the nearest to each query; queries[q] belongs to query q of the embedding.
 * Exhaustively, the bits depend neither on the threads nor on what other queries there are. */
WFRE_NODISCARD wfre_status wfre_search_all(wfre_searcher *searcher, const wfre_embedding *embedding,
                                           wfre_search_query *queries, size_t count,
                                           wfre_error *error);
WFRE_NODISCARD wfre_status wfre_search_quick(wfre_searcher *searcher,
                                             const wfre_embedding *embedding,
                                             wfre_search_query *queries, size_t count,
                                             wfre_error *error);

#endif
