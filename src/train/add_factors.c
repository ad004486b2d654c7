#include "train/add_factors.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"

enum { TOGETHER = 16 }; /* questions whose scores are made at a time */
static const double RATE = 0.1, PENALTY = 0.02;

/* What the score of each question is compared with: of own ones the logarithm of the sum over all
 * old entities, of the others their known answer. */
static wfre_status find_thresholds(const wfre_added_factors *job, const float *questions,
                                   double *thresholds, wfre_error *error)
{
    size_t n = job->model->entity_count, w = wfre_factors_width(job->model->factors);
    wfre_status status = WFRE_OK;
    float *rows = wfre_alloc(TOGETHER * n, sizeof *rows);
    if (!rows)
        return wfre_fail_memory(error, "adding entities");
    for (size_t first = 0, part; first < job->own; first += part) {
        part = job->own - first < TOGETHER ? job->own - first : TOGETHER;
        memset(rows, 0, part * n * sizeof *rows);
        TRY(wfre_factor_rows(job->model, job->vectors, job->pool, questions + first * w, part, 1,
                             rows, error));
        for (size_t i = 0; i < part; i++) {
            float *row = rows + i * n, highest = job->vectors->maximum(job->old, row);
            double sum = job->vectors->exp_shifted(job->old, highest, row);
            thresholds[first + i] = (double)highest + log(sum);
        }
    }
    for (size_t k = job->own; k < job->count; k++)
        thresholds[k] = (double)wfre_factor_score(job->model, job->vectors, questions + k * w,
                                                  job->questions[k].answer);
cleanup:
    wfre_free(rows);
    return status;
}

/* The gradient of the whole at a row. */
static void slope_at(const wfre_added_factors *job, const float *questions,
                     const double *thresholds, const float *row, float *gradient)
{
    size_t size = job->model->factors->size, w = 2 * size;
    double price = 0;
    memset(gradient, 0, w * sizeof *gradient);
    for (size_t k = 0; k < job->count; k++) {
        double gap = (double)job->vectors->dot_float(w, questions + k * w, row) - thresholds[k];
        double weight = job->questions[k].weight;
        double slope = k < job->own ? -weight / (1 + exp(gap)) : weight / (1 + exp(-gap));
        job->vectors->axpy(w, (float)slope, questions + k * w, gradient);
        price += k < job->own ? PENALTY * weight : 0;
    }
    for (size_t i = 0; i < size; i++) {
        float cube = (float)(3 * price) * sqrtf(row[i] * row[i] + row[size + i] * row[size + i]);
        gradient[i] += cube * row[i];
        gradient[size + i] += cube * row[size + i];
    }
}

wfre_status wfre_add_factors(const wfre_added_factors *job, wfre_entity entity, wfre_entity alike,
                             wfre_error *error)
{
    const wfre_factors *f = job->model->factors;
    size_t w = wfre_factors_width(f);
    wfre_arena arena = {0};
    wfre_status status = WFRE_OK;
    float *row = wfre_factors_entity(f, entity);
    memcpy(row, wfre_factors_entity(f, alike), w * sizeof *row);
    if (job->steps == 0)
        return WFRE_OK;
    float *questions = wfre_arena_alloc(&arena, job->count * w, sizeof *questions);
    double *thresholds = wfre_arena_alloc(&arena, job->count, sizeof *thresholds);
    float *gradient = wfre_arena_alloc(&arena, 2 * w, sizeof *gradient);
    if (!questions || !thresholds || !gradient) {
        status = wfre_fail_memory(error, "adding entities");
        goto cleanup;
    }
    memset(gradient + w, 0, w * sizeof *gradient);
    for (size_t k = 0; k < job->count; k++)
        wfre_factor_questions(job->model, &job->questions[k].source, 1, questions + k * w);
    TRY(find_thresholds(job, questions, thresholds, error));
    for (uint32_t step = 0; step < job->steps; step++) {
        slope_at(job, questions, thresholds, row, gradient);
        job->vectors->adagrad(w, (float)RATE, gradient, row, gradient + w);
    }
cleanup:
    wfre_arena_free(&arena);
    return status;
}
