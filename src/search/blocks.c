/* Drawing blocks and scoring their pairs. */
#include "search/blocks.h"

#include <string.h>

#include "base/memory.h"
#include "base/rng.h"

/* Copies blocks of random rows. */
static void draw(const wfre_score_settings *settings, wfre_block_source source, wfre_draw purpose,
                 float *blocks, size_t wanted)
{
    size_t size = settings->block;
    wfre_rng rng = wfre_rng_fixed(purpose, 0);
    for (size_t i = 0; i < wanted; i++) {
        size_t row = wfre_rng_below(&rng, (uint32_t)source.count);
        size_t block = wfre_rng_below(&rng, (uint32_t)(settings->dimension / size));
        memcpy(blocks + i * size, source.rows + row * settings->dimension + block * size,
               size * sizeof *blocks);
    }
}

/* The value of every pair, by a score of one block; `values` is [right_count, left_count]. */
static wfre_status score_pairs(const wfre_block_sample *sample, const wfre_score *score,
                               wfre_pool *pool, float *values, wfre_error *error)
{
    wfre_status status;
    wfre_score *short_score = NULL;
    wfre_store *store = NULL;
    wfre_score_settings settings = *wfre_score_get_settings(score);
    settings.dimension = settings.block;
    TRY(wfre_score_create(&settings, &short_score, error));
    TRY(wfre_store_create(short_score, pool, sample->left, WFRE_FLOAT32, settings.block,
                          sample->left_count, &store, error));
    wfre_rank_job job = {.queries = {sample->right, settings.block},
                         .query_count = sample->right_count,
                         .ranking = WFRE_RANK_TRUE,
                         .stride = sample->left_count};
    TRY(wfre_score_rank(short_score, pool, store, &job, values, error));
cleanup:
    wfre_store_free(store);
    wfre_score_free(short_score);
    return status;
}

wfre_status wfre_block_sample_draw(wfre_block_sample *sample, const wfre_score *score,
                                   wfre_pool *pool, wfre_block_source left, wfre_block_source right,
                                   wfre_error *error)
{
    wfre_status status = WFRE_OK;
    const wfre_score_settings *settings = wfre_score_get_settings(score);
    size_t rows = sample->left_count, columns = sample->right_count;
    float *values = wfre_alloc(rows * columns, sizeof *values);
    sample->left = wfre_alloc(rows * settings->block, sizeof *sample->left);
    sample->right = wfre_alloc(columns * settings->block, sizeof *sample->right);
    sample->values = wfre_alloc(rows * columns, sizeof *sample->values);
    if (!values || !sample->left || !sample->right || !sample->values)
        TRY(wfre_fail_memory(error, "fitting an estimate"));
    draw(settings, left, WFRE_FOR_LEFT_BLOCKS, sample->left, rows);
    draw(settings, right, WFRE_FOR_RIGHT_BLOCKS, sample->right, columns);
    TRY(score_pairs(sample, score, pool, values, error));
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < columns; j++)
            sample->values[i * columns + j] = (double)values[j * rows + i];
cleanup:
    wfre_free(values);
    return status;
}

void wfre_block_sample_free(wfre_block_sample *sample)
{
    wfre_free(sample->left);
    wfre_free(sample->right);
    wfre_free(sample->values);
    *sample = (wfre_block_sample){0};
}
