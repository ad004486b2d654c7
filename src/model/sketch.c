/* Features are computed for many blocks at a time, one array a feature, so that every step is a
 * vector operation over all of them. A row's features lie in memory feature by feature:
 * [rank, blocks].
 *
 * An estimate reads every feature of every entity, so they are kept as bytes: less their mean over
 * all blocks, which the queries account for, in units of their deviation, so that all use the same
 * range, and for each entity in steps of its largest one by 127. */
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
    SAMPLE_LEFT = 320, /* blocks that the maps are fitted on */
    SAMPLE_RIGHT = 160,
    SOURCE_ROWS = 256, /* entities they are taken from */
    ROWS = 64,         /* entities a task */
    PADDING = 32,      /* a row's bytes are a multiple of it */
    TOGETHER = 32      /* queries that pass over a task's entities at once */
};

static const float TINY = 1e-30f; /* stands for the largest feature where all are zero */

struct wfre_sketch {
    const wfre_model *model;
    const wfre_score *score;
    wfre_pool *pool;
    const wfre_vector_table *vectors;
    size_t dim, block, blocks;
    size_t sums;   /* columns of `spread` */
    size_t raw;    /* features of a block before the map */
    size_t rank;   /* and behind it */
    size_t width;  /* rank * blocks: features of a row */
    size_t stride; /* bytes of a row */
    float floor;
    float *spread;     /* [block, sums]: H, unless no mass moves, and a column of ones */
    float *entity_map; /* [raw, rank] */
    float *query_map;
    float *means;            /* [rank]: what the entities' features have been reduced by */
    int8_t *features;        /* [entities, stride] */
    float *steps;            /* [entities]: what a unit of their bytes stands for */
    int16_t *query_features; /* [queries, stride] */
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
    float *x = out + n, *root = x + a * n, *spread = root + a * n;
    for (size_t i = 0; i < n; i++)
        out[i] = 1;
    s->vectors->transpose(n, a, blocks, x);
    for (size_t k = 0; k < a; k++)
        s->vectors->axpy(n, s->floor, out, x + k * n);
    s->vectors->mix(&(wfre_mix){s->sums, a, n, s->spread, x, spread});
    s->vectors->power(a * n, 0.5f, x, root);
    s->vectors->power(s->sums * n, 0.5f, spread, spread);
}

/* A row becomes features, [rank, blocks]; scratch holds (raw + rank) * blocks. */
static const float *make_features(const wfre_sketch *s, const float *map, const float *row,
                                  float *scratch)
{
    float *mapped = scratch + s->raw * s->blocks;
    expand(s, row, s->blocks, scratch);
    s->vectors->mix(&(wfre_mix){s->rank, s->raw, s->blocks, map, scratch, mapped});
    return mapped;
}

static void sketch_entities(void *context, size_t task, unsigned worker)
{
    const wfre_sketch *s = context;
    size_t entities = s->model->entity_count, end = (task + 1) * ROWS;
    float *row = s->scratch + worker * s->scratch_size;
    for (size_t e = task * ROWS; e < end && e < entities; e++) {
        s->vectors->clamp01(s->dim, s->model->entities + e * s->dim, row);
        const float *mapped = make_features(s, s->entity_map, row, row + s->dim);
        float largest = fmaxf(s->vectors->largest(s->width, mapped), TINY);
        int8_t *to = s->features + e * s->stride;
        s->vectors->to_i8(s->width, 127 / largest, mapped, to);
        memset(to + s->width, 0, s->stride - s->width);
        s->steps[e] = largest / 127;
    }
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

/* Takes the fitted maps, [raw, rank] of both sides, over: entities' features in the units they are
 * packed in, and queries' that undo them. `raw` are those of the sampled blocks of entities. */
static void take_maps(wfre_sketch *s, const double *raw, const double *maps)
{
    const double *entity = maps, *query = maps + s->raw * s->rank;
    for (size_t k = 0; k < s->rank; k++) {
        double sum = 0, square = 0;
        for (size_t i = 0; i < SAMPLE_LEFT; i++) {
            double feature = 0;
            for (size_t m = 0; m < s->raw; m++)
                feature += raw[i * s->raw + m] * entity[m * s->rank + k];
            sum += feature;
            square += feature * feature;
        }
        double mean = sum / SAMPLE_LEFT;
        double unit = fmax(sqrt(fmax(square / SAMPLE_LEFT - mean * mean, 0)), 1e-9);
        for (size_t m = 0; m < s->raw; m++) {
            size_t at = m * s->rank + k;
            s->entity_map[at] = (float)((entity[at] - (m == 0 ? mean : 0)) / unit);
            s->query_map[at] = (float)(query[at] * unit / (double)s->blocks);
        }
        s->means[k] = (float)(mean / unit);
    }
}

static wfre_status fit(wfre_sketch *s, const wfre_embedding *examples, wfre_error *error)
{
    wfre_status status = WFRE_OK;
    wfre_block_sample sample = {.left_count = SAMPLE_LEFT, .right_count = SAMPLE_RIGHT};
    double *left = NULL, *right = NULL, *maps = wfre_alloc(2 * s->raw * s->rank, sizeof *maps);
    float *rows = wfre_alloc(SOURCE_ROWS * s->dim, sizeof *rows);
    wfre_rng rng = wfre_rng_keyed(0, 5, 0);
    if (!rows || !maps)
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
                                             .left = maps,
                                             .right = maps + s->raw * s->rank},
                           error));
    take_maps(s, left, maps);
cleanup:
    wfre_block_sample_free(&sample);
    wfre_free(left);
    wfre_free(right);
    wfre_free(maps);
    wfre_free(rows);
    return status;
}

/* ---- making -------------------------------------------------------------------------------------
 */

static void fill_spread(wfre_sketch *s, const wfre_score_settings *settings)
{
    for (size_t j = 0; j < s->block; j++)
        for (size_t i = 0; i < s->sums; i++) {
            double k = fabs((double)i - (double)j);
            double c = k < settings->radius ? cos(M_PI * k / (2 * settings->radius)) : 0;
            bool ones = i + 1 == s->sums;
            s->spread[j * s->sums + i] = ones ? 1 : (float)pow(c, settings->power);
        }
}

static wfre_status allocate(wfre_sketch *s, wfre_error *error)
{
    size_t entities = s->model->entity_count, map = s->raw * s->rank;
    s->scratch_size = (s->raw + s->rank) * s->blocks + s->dim;
    s->entity_map = wfre_alloc(map, sizeof *s->entity_map);
    s->query_map = wfre_alloc(map, sizeof *s->query_map);
    s->means = wfre_alloc(s->rank, sizeof *s->means);
    s->spread = wfre_alloc(s->block * s->sums, sizeof *s->spread);
    s->features = wfre_alloc(entities, s->stride);
    s->steps = wfre_alloc(entities, sizeof *s->steps);
    s->scratch =
        wfre_alloc_tensor(wfre_pool_threads(s->pool) * s->scratch_size, sizeof *s->scratch);
    if (!s->entity_map || !s->query_map || !s->means || !s->spread || !s->features || !s->steps ||
        !s->scratch)
        return wfre_fail_memory(error, "sketching");
    return WFRE_OK;
}

wfre_status wfre_sketch_create(const wfre_model *model, const wfre_score *score,
                               const wfre_embedding *examples, wfre_pool *pool,
                               wfre_sketch **result, wfre_error *error)
{
    wfre_status status;
    wfre_isa isa;
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
    s->sums = settings->radius > 1 ? s->block + 1 : 1;
    s->raw = 1 + 2 * s->block + s->sums;
    s->rank = s->block + 1;
    s->width = s->blocks * s->rank;
    s->stride = (s->width + PADDING - 1) / PADDING * PADDING;
    s->floor = (float)settings->floor;
    TRY(wfre_isa_select(&isa, error));
    s->vectors = wfre_vector_table_for(isa);
    TRY(allocate(s, error));
    fill_spread(s, settings);
    TRY(fit(s, examples, error));
    wfre_pool_run(pool, (model->entity_count + ROWS - 1) / ROWS, sketch_entities, s);
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
    wfre_free(sketch->entity_map);
    wfre_free(sketch->query_map);
    wfre_free(sketch->means);
    wfre_free(sketch->spread);
    wfre_free(sketch->steps);
    wfre_free(sketch->features);
    wfre_free(sketch->query_features);
    wfre_free(sketch->scratch);
    wfre_free(sketch);
}

/* ---- using --------------------------------------------------------------------------------------
 */

/* estimate = step unit (sum of the products of entity's and query's features) + shift */
typedef struct query_scale {
    float unit, shift;
} query_scale;

typedef struct estimation {
    const wfre_sketch *sketch;
    const float *queries;
    size_t count;
    query_scale *scales;
    float *estimates;
} estimation;

/* A query's features as whole numbers, so large that no sum of products can overflow. */
static void sketch_query(void *context, size_t q, unsigned worker)
{
    const estimation *e = context;
    const wfre_sketch *s = e->sketch;
    int16_t *to = s->query_features + q * s->stride;
    const float *mapped = make_features(s, s->query_map, e->queries + q * s->dim,
                                        s->scratch + worker * s->scratch_size);
    float limit = (float)(INT32_MAX / 128) / (float)s->stride;
    float largest = fmaxf(s->vectors->largest(s->width, mapped), TINY);
    float scale = fminf(limit, INT16_MAX) / largest;
    for (size_t i = 0; i < s->width; i++)
        to[i] = (int16_t)lrintf(mapped[i] * scale);
    memset(to + s->width, 0, (s->stride - s->width) * sizeof *to);
    double shift = 0;
    for (size_t k = 0; k < s->rank; k++)
        shift += (double)s->means[k] * s->vectors->sum(s->blocks, mapped + k * s->blocks);
    e->scales[q] = (query_scale){1 / scale, (float)shift};
}

static void estimate_entities(void *context, size_t task, unsigned worker)
{
    (void)worker;
    const estimation *e = context;
    const wfre_sketch *s = e->sketch;
    size_t entities = s->model->entity_count, first = task * ROWS;
    size_t end = first + ROWS < entities ? first + ROWS : entities;
    for (size_t from = 0; from < e->count; from += TOGETHER) {
        size_t count = e->count - from < TOGETHER ? e->count - from : TOGETHER;
        for (size_t i = first; i < end; i++) {
            int32_t sums[TOGETHER];
            s->vectors->dots_i8(s->stride, s->features + i * s->stride, count,
                                s->query_features + from * s->stride, sums);
            for (size_t q = 0; q < count; q++) {
                query_scale scale = e->scales[from + q];
                e->estimates[(from + q) * entities + i] =
                    s->steps[i] * scale.unit * (float)sums[q] + scale.shift;
            }
        }
    }
}

wfre_status wfre_sketch_estimate(wfre_sketch *sketch, const float *queries, size_t count,
                                 float *estimates, wfre_error *error)
{
    wfre_status status = WFRE_OK;
    query_scale *scales = wfre_alloc(count, sizeof *scales);
    estimation e = {sketch, queries, count, scales, estimates};
    if (!scales || !wfre_reserve((void **)&sketch->query_features, &sketch->query_capacity, count,
                                 sketch->stride * sizeof *sketch->query_features))
        TRY(wfre_fail_memory(error, "estimating distances"));
    wfre_pool_run(sketch->pool, count, sketch_query, &e);
    wfre_pool_run(sketch->pool, (sketch->model->entity_count + ROWS - 1) / ROWS, estimate_entities,
                  &e);
cleanup:
    wfre_free(scales);
    return status;
}
