/* From queries to histograms, without noise or gradients: what ranking and answering start from. */
#ifndef WFRE_SRC_MODEL_EMBED_H
#define WFRE_SRC_MODEL_EMBED_H

#include "model/matrices.h"

/* Query q of the last wfre_embed is nearest to an entity by the smallest distance to one of the
 * rows begin[q] .. begin[q+1]: one row, or one for each branch of a union in disjunctive normal
 * form. Valid until the next call. */
typedef struct wfre_embedding {
    const float *rows; /* [row_count, d] */
    uint32_t row_count;
    const uint32_t *begin; /* queries + 1 */
} wfre_embedding;

typedef struct wfre_embedder wfre_embedder;

/* The workspace of one thread. Borrows all of them until freed. */
WFRE_NODISCARD wfre_status wfre_embedder_create(wfre_matrices *matrices, wfre_pool *pool,
                                                wfre_linalg *linalg, wfre_embedder **embedder,
                                                wfre_error *error);
void wfre_embedder_free(wfre_embedder *embedder);

/* Embeds `count` queries, with unions and lifts as `way` says. The ids in the trees are those of
 * the model's graph. */
WFRE_NODISCARD wfre_status wfre_embed(wfre_embedder *embedder, const wfre_node *const *trees,
                                      size_t count, const wfre_way *way, wfre_embedding *embedding,
                                      wfre_error *error);

/* Embeds queries of common shapes with random contents, always the same: something to fit
 * estimates of the score on. */
WFRE_NODISCARD wfre_status wfre_embed_examples(wfre_embedder *embedder, size_t count,
                                               wfre_embedding *embedding, wfre_error *error);

/* The entities as the score reads them, in new memory [entities, d]; NULL when out
 * of memory. */
float *wfre_embed_entities(const wfre_model *model, wfre_pool *pool, wfre_linalg *linalg);

#endif
