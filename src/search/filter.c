/* The filter: raw features by landmarks, maps fitted on samples, and the product.
 *
 * The raw features of block x, compared with landmark y, are the two halves of the score's value
 * that the gradients hand out, sum x (1 - phi^-eps) and sum y (1 - psi^-eps); besides 1 and sum x.
 * So one call of the gradient kernel on whole rows gives the raw features of all their blocks at
 * once: a landmark stands on the other side as a row that repeats its block. */
#include "search/filter.h"

#include <string.h>

#include "base/memory.h"
#include "base/pool.h"
#include "search/blocks.h"
#include "wfr/separable.h"

enum {
    LONGEST_BLOCK = 24,
    LARGEST_RANK = 3 * LONGEST_BLOCK + 1,
    CHUNK = 8, /* rows a task */
};

/* One side of the product: entities on the left of the score, queries on its right. */
typedef struct side {
    bool left;
    float *landmarks; /* [landmarks, d]: each row repeats one block */
    double *map;      /* [raw, rank] */
} side;

struct wfre_filter {
    const wfre_score *score;
    size_t dim, block, blocks;
    size_t landmarks; /* on each side */
    size_t raw;       /* features of a block: two a landmark, 1, and its sum */
    size_t rank;
    size_t width;                     /* blocks * rank: features of a row */
    size_t left_sample, right_sample; /* blocks that the maps are fitted on */
    double floor;
    side entities, queries;
    size_t entity_count;
    float *entity_features; /* [entities, width] */
};

bool wfre_filter_suits(const wfre_score_settings *settings)
{
    return settings->kind == WFRE_SCORE_WFR && settings->block >= 2 &&
           settings->block <= LONGEST_BLOCK;
}

/* ---- features ----------------------------------------------------------------------------- */

/* Gradients of CHUNK rows against all landmarks, for one worker. */
typedef struct feature_scratch {
    float *distances;
    float *left_gradient, *right_gradient; /* [CHUNK * landmarks, d] */
    uint32_t *left_index, *right_index;
    double *raw;
} feature_scratch;

typedef struct feature_job {
    const wfre_filter *filter;
    const side *side;
    wfre_pool *pool;
    const float *rows; /* [count, d] */
    size_t count;
    double *raw;     /* out: [count * blocks, raw], or NULL */
    float *features; /* out: [count, width], or NULL */
    feature_scratch *scratch;
    wfre_status *statuses; /* by chunk */
} feature_job;

/* sum_i (u_i + floor) blocks gradient_i: a half of the block's value. */
static double half_value(const wfre_filter *f, const float *block, const float *gradient)
{
    double sum = 0;
    for (size_t i = 0; i < f->block; i++)
        sum += ((double)block[i] + f->floor) * (double)gradient[i];
    return sum * (double)f->blocks;
}

/* The raw features of one block of a row, from its gradients against every landmark. */
static void raw_features(const feature_job *job, const feature_scratch *s, const float *row,
                         size_t first_pair, size_t block, double *raw)
{
    const wfre_filter *f = job->filter;
    size_t offset = block * f->block;
    for (size_t k = 0; k < f->landmarks; k++) {
        const float *landmark = job->side->landmarks + k * f->dim + offset;
        size_t at = (first_pair + k) * f->dim + offset;
        const float *left = job->side->left ? row + offset : landmark;
        const float *right = job->side->left ? landmark : row + offset;
        raw[2 * k] = half_value(f, left, s->left_gradient + at);
        raw[2 * k + 1] = half_value(f, right, s->right_gradient + at);
    }
    double sum = 0;
    for (size_t i = 0; i < f->block; i++)
        sum += (double)row[offset + i];
    raw[2 * f->landmarks] = 1;
    raw[2 * f->landmarks + 1] = sum;
}

/* features = map' raw */
static void map_features(const wfre_filter *f, const side *own, const double *raw, float *features)
{
    double sums[LARGEST_RANK] = {0};
    for (size_t j = 0; j < f->raw; j++)
        for (size_t k = 0; k < f->rank; k++)
            sums[k] += raw[j] * own->map[j * f->rank + k];
    for (size_t k = 0; k < f->rank; k++)
        features[k] = (float)sums[k];
}

/* All features of the rows first .. first + count - 1. */
static wfre_status chunk_features(const feature_job *job, feature_scratch *s, size_t first,
                                  size_t count)
{
    const wfre_filter *f = job->filter;
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < f->landmarks; k++) {
            size_t pair = i * f->landmarks + k;
            s->left_index[pair] = (uint32_t)(job->side->left ? i : k);
            s->right_index[pair] = (uint32_t)(job->side->left ? k : i);
        }
    wfre_rows rows = {job->rows + first * f->dim, f->dim};
    wfre_rows landmarks = {job->side->landmarks, f->dim};
    wfre_pairs pairs = {job->side->left ? rows : landmarks, job->side->left ? landmarks : rows,
                        s->left_index, s->right_index, count * f->landmarks};
    wfre_gradients gradients = {s->left_gradient, s->right_gradient, f->dim};
    wfre_status status = wfre_score_pairs(f->score, NULL, &pairs, s->distances, &gradients, NULL);
    if (status != WFRE_OK)
        return status;
    for (size_t i = 0; i < count; i++)
        for (size_t b = 0; b < f->blocks; b++) {
            size_t block = (first + i) * f->blocks + b;
            double *raw = job->raw ? job->raw + block * f->raw : s->raw;
            raw_features(job, s, job->rows + (first + i) * f->dim, i * f->landmarks, b, raw);
            if (job->features)
                map_features(f, job->side, raw, job->features + block * f->rank);
        }
    return WFRE_OK;
}

static void run_chunk(void *context, size_t chunk, unsigned worker)
{
    const feature_job *job = context;
    size_t first = chunk * CHUNK;
    size_t count = job->count - first < CHUNK ? job->count - first : CHUNK;
    job->statuses[chunk] = chunk_features(job, &job->scratch[worker], first, count);
}

static void free_scratch(feature_scratch *scratch, unsigned threads)
{
    for (unsigned w = 0; scratch && w < threads; w++) {
        wfre_free(scratch[w].distances);
        wfre_free(scratch[w].left_gradient);
        wfre_free(scratch[w].right_gradient);
        wfre_free(scratch[w].left_index);
        wfre_free(scratch[w].right_index);
        wfre_free(scratch[w].raw);
    }
    wfre_free(scratch);
}

static feature_scratch *make_scratch(const wfre_filter *f, unsigned threads)
{
    size_t pairs = CHUNK * f->landmarks;
    feature_scratch *scratch = wfre_alloc_zero(threads, sizeof *scratch);
    for (unsigned w = 0; scratch && w < threads; w++) {
        feature_scratch *s = &scratch[w];
        s->distances = wfre_alloc(pairs, sizeof *s->distances);
        s->left_gradient = wfre_alloc(pairs * f->dim, sizeof *s->left_gradient);
        s->right_gradient = wfre_alloc(pairs * f->dim, sizeof *s->right_gradient);
        s->left_index = wfre_alloc(pairs, sizeof *s->left_index);
        s->right_index = wfre_alloc(pairs, sizeof *s->right_index);
        s->raw = wfre_alloc(f->raw, sizeof *s->raw);
        if (!s->distances || !s->left_gradient || !s->right_gradient || !s->left_index ||
            !s->right_index || !s->raw) {
            free_scratch(scratch, threads);
            return NULL;
        }
    }
    return scratch;
}

/* Fills job->raw and job->features, whichever are wanted. */
static wfre_status make_features(feature_job *job, wfre_error *error)
{
    wfre_status status = WFRE_OK;
    const wfre_filter *f = job->filter;
    unsigned threads = wfre_pool_threads(job->pool);
    size_t chunks = (job->count + CHUNK - 1) / CHUNK;
    job->scratch = make_scratch(f, threads);
    job->statuses = wfre_alloc_zero(chunks + 1, sizeof *job->statuses);
    if (!job->scratch || !job->statuses)
        TRY(wfre_fail_memory(error, "estimating distances"));
    TRY(wfre_pool_try(job->pool, chunks, run_chunk, job, error));
    for (size_t c = 0; c < chunks; c++)
        if (job->statuses[c] != WFRE_OK)
            TRY(wfre_fail_memory(error, "estimating distances"));
cleanup:
    free_scratch(job->scratch, threads);
    wfre_free(job->statuses);
    return status;
}

/* ---- fitting ------------------------------------------------------------------------------ */

/* What the maps are fitted on. */
typedef struct sample {
    wfre_block_sample blocks;
    double *pivoted; /* their values, spent on choosing landmarks */
    double *raw[2];  /* of left and right blocks */
    float *rows;     /* sampled blocks packed into whole rows */
} sample;

static void free_sample(sample *s)
{
    wfre_block_sample_free(&s->blocks);
    wfre_free(s->pivoted);
    wfre_free(s->raw[0]);
    wfre_free(s->raw[1]);
    wfre_free(s->rows);
}

/* Rows needed to hold so many blocks. */
static size_t rows_for(const wfre_filter *f, size_t blocks)
{
    return (blocks + f->blocks - 1) / f->blocks;
}

static wfre_status allocate_sample(const wfre_filter *f, sample *s, wfre_error *error)
{
    size_t rows = rows_for(f, f->left_sample);
    s->pivoted = wfre_alloc(f->left_sample * f->right_sample, sizeof *s->pivoted);
    s->raw[0] = wfre_alloc(rows * f->blocks * f->raw, sizeof *s->raw[0]);
    s->raw[1] = wfre_alloc(rows_for(f, f->right_sample) * f->blocks * f->raw, sizeof *s->raw[1]);
    s->rows = wfre_alloc_zero(rows * f->dim, sizeof *s->rows);
    if (!s->pivoted || !s->raw[0] || !s->raw[1] || !s->rows)
        return wfre_fail_memory(error, "fitting a filter");
    return WFRE_OK;
}

/* Chooses the blocks that stand on the other side of `own`. `values` holds their values, one row a
 * block, and is spent. */
static wfre_status choose_landmarks(const wfre_filter *f, side *own, double *values, size_t rows,
                                    size_t columns, const float *blocks, wfre_error *error)
{
    uint32_t chosen[4 * LONGEST_BLOCK];
    own->landmarks = wfre_alloc(f->landmarks * f->dim, sizeof *own->landmarks);
    own->map = wfre_alloc(f->raw * f->rank, sizeof *own->map);
    if (!own->landmarks || !own->map)
        return wfre_fail_memory(error, "fitting a filter");
    wfre_separable_pivots(values, rows, columns, f->landmarks, chosen);
    for (size_t k = 0; k < f->landmarks; k++)
        for (size_t b = 0; b < f->blocks; b++)
            memcpy(own->landmarks + k * f->dim + b * f->block, blocks + chosen[k] * f->block,
                   f->block * sizeof *blocks);
    return WFRE_OK;
}

/* The raw features of sampled blocks, which are packed into rows for the purpose. */
static wfre_status sample_features(const wfre_filter *f, const side *own, wfre_pool *pool,
                                   const float *blocks, size_t count, float *rows, double *raw,
                                   wfre_error *error)
{
    memcpy(rows, blocks, count * f->block * sizeof *rows);
    feature_job job = {.filter = f,
                       .side = own,
                       .pool = pool,
                       .rows = rows,
                       .count = rows_for(f, count),
                       .raw = raw};
    return make_features(&job, error);
}

static wfre_status fit(wfre_filter *f, const wfre_filter_input *input, wfre_pool *pool,
                       wfre_error *error)
{
    wfre_status status = WFRE_OK;
    sample s = {.blocks = {.left_count = f->left_sample, .right_count = f->right_sample}};
    const wfre_block_sample *blocks = &s.blocks;
    TRY(allocate_sample(f, &s, error));
    TRY(wfre_block_sample_draw(&s.blocks, f->score, pool,
                               (wfre_block_source){input->entities, input->entity_count},
                               (wfre_block_source){input->queries, input->query_count}, error));
    memcpy(s.pivoted, blocks->values, f->left_sample * f->right_sample * sizeof *s.pivoted);
    TRY(choose_landmarks(f, &f->queries, s.pivoted, f->left_sample, f->right_sample, blocks->left,
                         error));
    for (size_t i = 0; i < f->left_sample; i++)
        for (size_t j = 0; j < f->right_sample; j++)
            s.pivoted[j * f->left_sample + i] = blocks->values[i * f->right_sample + j];
    TRY(choose_landmarks(f, &f->entities, s.pivoted, f->right_sample, f->left_sample, blocks->right,
                         error));
    TRY(sample_features(f, &f->entities, pool, blocks->left, f->left_sample, s.rows, s.raw[0],
                        error));
    TRY(sample_features(f, &f->queries, pool, blocks->right, f->right_sample, s.rows, s.raw[1],
                        error));
    TRY(wfre_separable_fit(&(wfre_separable){.rows = f->left_sample,
                                             .columns = f->right_sample,
                                             .v = blocks->values,
                                             .features = f->raw,
                                             .a = s.raw[0],
                                             .b = s.raw[1],
                                             .rank = f->rank,
                                             .left = f->entities.map,
                                             .right = f->queries.map},
                           error));
cleanup:
    free_sample(&s);
    return status;
}

/* ---- making and using --------------------------------------------------------------------- */

wfre_status wfre_filter_create(const wfre_filter_input *input, wfre_pool *pool,
                               wfre_filter **filter, wfre_error *error)
{
    wfre_status status = WFRE_OK;
    const wfre_score_settings *settings = wfre_score_get_settings(input->score);
    wfre_filter *f = wfre_alloc_zero(1, sizeof *f);
    if (!f)
        return wfre_fail_memory(error, "fitting a filter");
    f->score = input->score;
    f->dim = settings->dimension;
    f->block = settings->block;
    f->blocks = f->dim / f->block;
    f->floor = settings->floor;
    f->landmarks = 4 * f->block;
    f->raw = 2 * f->landmarks + 2;
    f->rank = 3 * f->block + 1;
    f->left_sample = 256 + 6 * f->raw;
    f->right_sample = f->left_sample / 2;
    f->width = f->blocks * f->rank;
    f->entities.left = true;
    f->entity_count = input->entity_count;
    TRY(fit(f, input, pool, error));
    f->entity_features = wfre_alloc_tensor(f->entity_count * f->width, sizeof(float));
    if (!f->entity_features)
        TRY(wfre_fail_memory(error, "fitting a filter"));
    feature_job job = {.filter = f,
                       .side = &f->entities,
                       .pool = pool,
                       .rows = input->entities,
                       .count = f->entity_count,
                       .features = f->entity_features};
    TRY(make_features(&job, error));
    *filter = f;
    f = NULL;
cleanup:
    wfre_filter_free(f);
    return status;
}

void wfre_filter_free(wfre_filter *filter)
{
    if (!filter)
        return;
    wfre_free(filter->entities.landmarks);
    wfre_free(filter->entities.map);
    wfre_free(filter->queries.landmarks);
    wfre_free(filter->queries.map);
    wfre_free(filter->entity_features);
    wfre_free(filter);
}

wfre_status wfre_filter_estimate(const wfre_filter *filter, wfre_linalg *linalg, wfre_pool *pool,
                                 const float *queries, size_t count, float *scores,
                                 wfre_error *error)
{
    wfre_status status;
    float *features = wfre_alloc(count, filter->width * sizeof *features);
    feature_job job = {.filter = filter,
                       .side = &filter->queries,
                       .pool = pool,
                       .rows = queries,
                       .count = count,
                       .features = features};
    if (!features)
        TRY(wfre_fail_memory(error, "estimating distances"));
    TRY(make_features(&job, error));
    wfre_gemm_job product = {.transpose_b = true,
                             .m = count,
                             .n = filter->entity_count,
                             .k = filter->width,
                             .alpha = -1 / (float)filter->blocks,
                             .a = features,
                             .lda = filter->width,
                             .b = filter->entity_features,
                             .ldb = filter->width,
                             .c = scores,
                             .ldc = filter->entity_count};
    TRY(wfre_gemm(linalg, WFRE_FP32, &product, 1, error));
cleanup:
    wfre_free(features);
    return status;
}
