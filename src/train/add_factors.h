/* The factors of an entity that came after training (add.c). */
#ifndef WFRE_SRC_TRAIN_ADD_FACTORS_H
#define WFRE_SRC_TRAIN_ADD_FACTORS_H

#include "infer/factor_rows.h"

/* A question of one edge, and what it weighs. */
typedef struct wfre_added_question {
    wfre_source source;
    wfre_entity answer; /* a known one, of a question that the new entity does not answer */
    double weight;
} wfre_added_question;

typedef struct wfre_added_factors {
    const wfre_model *model; /* the larger one */
    const wfre_vector_table *vectors;
    wfre_pool *pool;
    uint32_t old;   /* entities before */
    uint32_t steps; /* of descent */
    const wfre_added_question *questions;
    size_t own, count; /* the first `own` are those that it answers */
} wfre_added_factors;

/* Fits the row of `entity`, beginning with that of `alike`, by descent on
 *
 *           sum over own questions        softplus(log sum over old y of exp s(q, y) - s(q, e))
 *         + sum over the others           softplus(s(q, e) - s(q, answer))
 *
 * each with its weight, and a penalty on large numbers; s is the score of the factors. */
WFRE_NODISCARD wfre_status wfre_add_factors(const wfre_added_factors *job, wfre_entity entity,
                                            wfre_entity alike, wfre_error *error);

#endif
