/* Entities are taken a few at a time, so that they stay near while all questions are compared with
 * them. */
#include "infer/factor_rows.h"

#include "base/pool.h"

enum { TOGETHER = 64 }; /* entities */

typedef struct scoring {
    const wfre_model *model;
    const wfre_vector_table *vectors;
    const float *questions;
    size_t count;
    float weight;
    float *rows;
} scoring;

/* Rows that lie in a mapped file are checked when they are first read; what is not whole is said
 * when the questions are answered (wfre_model_sound). */
static const float *look(const wfre_model *model, size_t entity, size_t count)
{
    const float *rows = wfre_factors_entity(model->factors, entity);
    size_t bytes = count * wfre_factors_width(model->factors) * sizeof *rows;
    if (model->factors->mapped && model->mapped)
        (void)wfre_safetensors_look(model->mapped, rows, bytes);
    return rows;
}

void wfre_factor_questions(const wfre_model *model, const wfre_source *sources, size_t count,
                           float *questions)
{
    const wfre_factors *f = model->factors;
    for (size_t i = 0; i < count; i++)
        wfre_factors_multiply(f->size, look(model, sources[i].entity, 1),
                              wfre_factors_relation(f, sources[i].relation),
                              questions + i * wfre_factors_width(f));
}

static void score_entities(void *context, size_t chunk, unsigned worker)
{
    (void)worker;
    const scoring *s = context;
    size_t w = wfre_factors_width(s->model->factors), n = s->model->entity_count;
    size_t first = chunk * TOGETHER, last = first + TOGETHER < n ? first + TOGETHER : n;
    const float *entities = look(s->model, first, last - first);
    for (size_t q = 0; q < s->count; q++)
        for (size_t y = first; y < last; y++)
            s->rows[q * n + y] += s->weight * s->vectors->dot_float(w, s->questions + q * w,
                                                                    entities + (y - first) * w);
}

wfre_status wfre_factor_rows(const wfre_model *model, const wfre_vector_table *vectors,
                             wfre_pool *pool, const float *questions, size_t count, float weight,
                             float *rows, wfre_error *error)
{
    scoring s = {model, vectors, questions, count, weight, rows};
    size_t chunks = (model->entity_count + TOGETHER - 1) / TOGETHER;
    return wfre_pool_try(pool, chunks, score_entities, &s, error);
}
