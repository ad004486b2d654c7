/* What the factors of a model (model/factors.h) say of all edges from some sources. */
#ifndef WFRE_SRC_INFER_FACTOR_ROWS_H
#define WFRE_SRC_INFER_FACTOR_ROWS_H

#include "linalg/linalg.h"
#include "model/factors.h"

/* A set of edges: all that leave an entity by a relation. */
typedef struct wfre_source {
    wfre_relation relation;
    wfre_entity entity;
} wfre_source;

/* The rows of sources as questions: [count, 2 k]. */
void wfre_factor_questions(const wfre_model *model, const wfre_source *sources, size_t count,
                           float *questions);

/* rows[i * entities + y] grows by `weight` times the score of entity y for questions[i]. What is
 * added depends on that pair alone, not on what else is asked. */
WFRE_NODISCARD wfre_status wfre_factor_rows(const wfre_model *model,
                                            const wfre_vector_table *vectors, wfre_pool *pool,
                                            const float *questions, size_t count, float weight,
                                            float *rows, wfre_error *error);

/* The score of one entity for a question. */
static inline float wfre_factor_score(const wfre_model *model, const wfre_vector_table *vectors,
                                      const float *question, wfre_entity entity)
{
    return vectors->dot_float(wfre_factors_width(model->factors), question,
                              wfre_factors_entity(model->factors, entity));
}

#endif
