/* Features are computed for many blocks at a time, one array a feature, so that every step is a
 * vector operation over all of them. A row's features lie in memory feature by feature:
 * [rank, blocks]. */
#include "model/sketch.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/pool.h"
#include "base/rng.h"
#include "model/blocks.h"
#include "model/separable.h"

enum {
    LONGEST_BLOCK = 24,
    SAMPLE_LEFT = 512, /* blocks that the maps are fitted on */
    SAMPLE_RIGHT = 256,
    SOURCE_ROWS = 256, /* entities they are taken from */
    CHUNK = 8,         /* rows a task */
    ESTIMATES = 256,   /* entities a task */
    FEW_QUERIES = 4    /* up to here row by row, from there on by matrix products */
};

struct wfre_sketch {
    const wfre_model *model;
    const wfre_score *score;
    wfre_pool *pool;
    const wfre_vector_table *vectors;
    wfre_linalg **linalgs; /* one a worker, each for its own thread alone */
    size_t dim, block, blocks;
    size_t raw;   /* features of a block before the map */
    size_t rank;  /* and behind it */
    size_t width; /* rank * blocks: features of a row */
    float floor;
    float kernel[LONGEST_BLOCK]; /* H at a distance of k bins */
    double *entity_map;          /* [raw, rank] */
    double *query_map;
    uint16_t *features;    /* bfloat16 [entities, width] */
    float *query_features; /* [queries, width] */
    size_t query_capacity;
    float *scratch; /* by worker, scratch_size each */
    size_t scratch_size;
};

bool wfre_sketch_suits(const wfre_score_settings *settings)
{
    return settings->kind == WFRE_SCORE_WFR && settings->block <= LONGEST_BLOCK;
}

/* ---- features -----------------------------------------------------------------------------------
 */

/* The raw features of n blocks, which lie one behind the other: out[k * n + i] is feature k of
 * block i. */
static void expand(const wfre_sketch *s, const float *blocks, size_t n, float *out)
{
    size_t a = s->block;
    float *x = out + n, *root = x + a * n, *spread = root + a * n, *sum = spread + a * n;
    for (size_t i = 0; i < n; i++)
        out[i] = 1;
    for (size_t k = 0; k < a; k++)
        for (size_t i = 0; i < n; i++)
            x[k * n + i] = blocks[i * a + k] + s->floor;
    memset(spread, 0, (a + 1) * n * sizeof *spread);
    for (size_t k = 0; k < a; k++) {
        for (size_t j = 0; j < a; j++)
            s->vectors->axpy(n, s->kernel[k > j ? k - j : j - k], x + j * n, spread + k * n);
        s->vectors->axpy(n, 1, x + k * n, sum);
    }
    s->vectors->power(a * n, 0.5f, x, root);
    s->vectors->power((a + 1) * n, 0.5f, spread, spread);
}

/* out[k * n + i] = sum_m map[m, k] raw[m * n + i] */
static void apply_map(const wfre_sketch *s, const double *map, const float *raw, size_t n,
                      float *out)
{
    memset(out, 0, s->rank * n * sizeof *out);
    for (size_t k = 0; k < s->rank; k++)
        for (size_t m = 0; m < s->raw; m++)
            s->vectors->axpy(n, (float)map[m * s->rank + k], raw + m * n, out + k * n);
}

/* Rows become features; scratch holds (raw + rank) * CHUNK * blocks. Returns them as
 * [rank, rows * blocks]. */
static const float *make_features(const wfre_sketch *s, const double *map, const float *rows,
                                  size_t count, float *scratch)
{
    size_t n = count * s->blocks;
    float *mapped = scratch + s->raw * n;
    expand(s, rows, n, scratch);
    apply_map(s, map, scratch, n, mapped);
    return mapped;
}

static void sketch_entities(void *context, size_t chunk, unsigned worker)
{
    const wfre_sketch *s = context;
    size_t first = chunk * CHUNK, left = s->model->entity_count - first;
    size_t count = left < CHUNK ? left : CHUNK;
    float *rows = s->scratch + worker * s->scratch_size;
    s->vectors->clamp01(count * s->dim, s->model->entities + first * s->dim, rows);
    const float *mapped = make_features(s, s->entity_map, rows, count, rows + CHUNK * s->dim);
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < s->rank; k++)
            s->vectors->to_bf16(s->blocks, mapped + (k * count + i) * s->blocks,
                                s->features + (first + i) * s->width + k * s->blocks);
}

/* ---- fitting ------------------------------------------------------------------------------------
 */

/* The raw features of sampled blocks as the fit wants them: [count, raw]. */
static double *sample_features(const wfre_sketch *s, const float *blocks, size_t count)
{
    float *columns = wfre_alloc(s->raw * count, sizeof *columns);
    double *raw = wfre_alloc(s->raw * count, sizeof *raw);
    if (columns && raw) {
        expand(s, blocks, count, columns);
        for (size_t i = 0; i < count; i++)
            for (size_t m = 0; m < s->raw; m++)
                raw[i * s->raw + m] = (double)columns[m * count + i];
    }
    wfre_free(columns);
    if (!columns) {
        wfre_free(raw);
        return NULL;
    }
    return raw;
}

static wfre_status fit(wfre_sketch *s, const wfre_embedding *examples, wfre_error *error)
{
    wfre_status status = WFRE_OK;
    wfre_block_sample sample = {.left_count = SAMPLE_LEFT, .right_count = SAMPLE_RIGHT};
    double *left = NULL, *right = NULL;
    float *rows = wfre_alloc(SOURCE_ROWS * s->dim, sizeof *rows);
    wfre_rng rng = wfre_rng_keyed(0, 5, 0);
    if (!rows)
        TRY(wfre_fail_memory(error, "sketching"));
    for (size_t i = 0; i < SOURCE_ROWS; i++) {
        size_t entity = wfre_rng_below(&rng, s->model->entity_count);
        s->vectors->clamp01(s->dim, s->model->entities + entity * s->dim, rows + i * s->dim);
    }
    TRY(wfre_block_sample_draw(&sample, s->score, s->pool, (wfre_block_source){rows, SOURCE_ROWS},
                               (wfre_block_source){examples->rows, examples->row_count}, error));
    left = sample_features(s, sample.left, SAMPLE_LEFT);
    right = sample_features(s, sample.right, SAMPLE_RIGHT);
    if (!left || !right)
        TRY(wfre_fail_memory(error, "sketching"));
    TRY(wfre_separable_fit(&(wfre_separable){.rows = SAMPLE_LEFT,
                                             .columns = SAMPLE_RIGHT,
                                             .v = sample.values,
                                             .features = s->raw,
                                             .a = left,
                                             .b = right,
                                             .rank = s->rank,
                                             .left = s->entity_map,
                                             .right = s->query_map},
                           error));
cleanup:
    wfre_block_sample_free(&sample);
    wfre_free(left);
    wfre_free(right);
    wfre_free(rows);
    return status;
}

/* ---- making -------------------------------------------------------------------------------------
 */

static void fill_kernel(wfre_sketch *s, const wfre_score_settings *settings)
{
    for (size_t k = 0; k < s->block; k++) {
        double c =
            (double)k < settings->radius ? cos(M_PI * (double)k / (2 * settings->radius)) : 0;
        s->kernel[k] = (float)pow(c, settings->power);
    }
}

static wfre_status allocate(wfre_sketch *s, wfre_error *error)
{
    unsigned threads = wfre_pool_threads(s->pool);
    wfre_isa isa;
    wfre_status status;
    size_t features = (s->raw + s->rank) * CHUNK * s->blocks + CHUNK * s->dim;
    s->scratch_size = features > ESTIMATES * s->width ? features : ESTIMATES * s->width;
    s->entity_map = wfre_alloc(s->raw * s->rank, sizeof *s->entity_map);
    s->query_map = wfre_alloc(s->raw * s->rank, sizeof *s->query_map);
    s->features = wfre_alloc(s->model->entity_count * s->width, sizeof *s->features);
    s->scratch = wfre_alloc_tensor(threads * s->scratch_size, sizeof *s->scratch);
    s->linalgs = wfre_alloc_zero(threads, sizeof *s->linalgs);
    if (!s->entity_map || !s->query_map || !s->features || !s->scratch || !s->linalgs)
        TRY(wfre_fail_memory(error, "sketching"));
    TRY(wfre_isa_select(&isa, error));
    s->vectors = wfre_vector_table_for(isa);
    for (unsigned w = 0; w < threads; w++)
        TRY(wfre_linalg_create(NULL, isa, &s->linalgs[w], error));
cleanup:
    return status;
}

wfre_status wfre_sketch_create(const wfre_model *model, const wfre_score *score,
                               const wfre_embedding *examples, wfre_pool *pool,
                               wfre_sketch **result, wfre_error *error)
{
    wfre_status status;
    const wfre_score_settings *settings = wfre_score_get_settings(score);
    wfre_sketch *s = wfre_alloc_zero(1, sizeof *s);
    if (!s)
        return wfre_fail_memory(error, "sketching");
    s->model = model;
    s->score = score;
    s->pool = pool;
    s->dim = settings->dimension;
    s->block = settings->block;
    s->blocks = s->dim / s->block;
    s->raw = 3 * s->block + 2;
    s->rank = s->block + 1;
    s->width = s->blocks * s->rank;
    s->floor = (float)settings->floor;
    fill_kernel(s, settings);
    TRY(allocate(s, error));
    TRY(fit(s, examples, error));
    wfre_pool_run(pool, (model->entity_count + CHUNK - 1) / CHUNK, sketch_entities, s);
    *result = s;
    s = NULL;
cleanup:
    wfre_sketch_free(s);
    return status;
}

void wfre_sketch_free(wfre_sketch *sketch)
{
    if (!sketch)
        return;
    for (unsigned w = 0; sketch->linalgs && w < wfre_pool_threads(sketch->pool); w++)
        wfre_linalg_free(sketch->linalgs[w]);
    wfre_free(sketch->linalgs);
    wfre_free(sketch->entity_map);
    wfre_free(sketch->query_map);
    wfre_free(sketch->features);
    wfre_free(sketch->query_features);
    wfre_free(sketch->scratch);
    wfre_free(sketch);
}

/* ---- using --------------------------------------------------------------------------------------
 */

typedef struct estimation {
    wfre_sketch *sketch;
    const float *queries;
    size_t count;
    float *estimates;
    wfre_status *statuses; /* by worker */
} estimation;

static void sketch_query(void *context, size_t q, unsigned worker)
{
    const estimation *e = context;
    const wfre_sketch *s = e->sketch;
    const float *mapped = make_features(s, s->query_map, e->queries + q * s->dim, 1,
                                        s->scratch + worker * s->scratch_size);
    for (size_t i = 0; i < s->width; i++)
        s->query_features[q * s->width + i] = mapped[i] / (float)s->blocks;
}

/* The product with the features of some entities. */
static void estimate_entities(void *context, size_t chunk, unsigned worker)
{
    const estimation *e = context;
    const wfre_sketch *s = e->sketch;
    size_t entities = s->model->entity_count, first = chunk * ESTIMATES;
    size_t count = entities - first < ESTIMATES ? entities - first : ESTIMATES;
    const uint16_t *features = s->features + first * s->width;
    if (e->count <= FEW_QUERIES) {
        for (size_t i = 0; i < count; i++)
            for (size_t q = 0; q < e->count; q++)
                e->estimates[q * entities + first + i] = s->vectors->dot_bf16(
                    s->width, features + i * s->width, s->query_features + q * s->width);
        return;
    }
    float *wide = s->scratch + worker * s->scratch_size;
    s->vectors->from_bf16(count * s->width, features, wide);
    wfre_gemm_job product = {.transpose_b = true,
                             .m = e->count,
                             .n = count,
                             .k = s->width,
                             .alpha = 1,
                             .a = s->query_features,
                             .lda = s->width,
                             .b = wide,
                             .ldb = s->width,
                             .c = e->estimates + first,
                             .ldc = entities};
    wfre_status status = wfre_gemm(s->linalgs[worker], WFRE_FP32, &product, 1, NULL);
    if (status != WFRE_OK)
        e->statuses[worker] = status;
}

wfre_status wfre_sketch_estimate(wfre_sketch *sketch, const float *queries, size_t count,
                                 float *estimates, wfre_error *error)
{
    wfre_status status = WFRE_OK;
    unsigned threads = wfre_pool_threads(sketch->pool);
    estimation e = {sketch, queries, count, estimates, NULL};
    e.statuses = wfre_alloc_zero(threads, sizeof *e.statuses);
    if (!e.statuses || !wfre_reserve((void **)&sketch->query_features, &sketch->query_capacity,
                                     count, sketch->width * sizeof(float)))
        TRY(wfre_fail_memory(error, "estimating distances"));
    wfre_pool_run(sketch->pool, count, sketch_query, &e);
    wfre_pool_run(sketch->pool, (sketch->model->entity_count + ESTIMATES - 1) / ESTIMATES,
                  estimate_entities, &e);
    for (unsigned w = 0; w < threads; w++)
        if (e.statuses[w] != WFRE_OK)
            TRY(wfre_fail_memory(error, "estimating distances"));
cleanup:
    wfre_free(e.statuses);
    return status;
}
