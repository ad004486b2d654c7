/* The matrices of relations, mixed from the shared bases once and kept for everybody who embeds.
 *
 * Mixing the matrix of a relation reads all bases, which takes longer than all else about a
 * question. So questions run on a twin of the model in which every relation has a matrix of its
 * own, made when the relation first occurs. Other families than WFRE have nothing to mix: their
 * questions run on the model itself. Any number of threads may use one object. */
#ifndef WFRE_SRC_MODEL_MATRICES_H
#define WFRE_SRC_MODEL_MATRICES_H

#include "model/run.h"

typedef struct wfre_matrices wfre_matrices;

/* Borrows the model, whose layers must not change meanwhile. If all matrices together take more
 * than `limit` bytes they are not kept, but mixed for every batch. */
WFRE_NODISCARD wfre_status wfre_matrices_create(const wfre_model *model, double limit,
                                                wfre_matrices **matrices, wfre_error *error);
void wfre_matrices_free(wfre_matrices *matrices);

/* What questions run on: the twin, or the model itself if matrices are not kept. */
const wfre_model *wfre_matrices_model(const wfre_matrices *matrices);
/* Makes those of the program's relations that are not there yet. */
WFRE_NODISCARD wfre_status wfre_matrices_need(wfre_matrices *matrices, const wfre_program *program,
                                              wfre_linalg *linalg, wfre_pool *pool,
                                              wfre_error *error);
/* Of the matrices that are there. */
size_t wfre_matrices_bytes(const wfre_matrices *matrices);

#endif
