/* Features are computed for many blocks at a time, one array a feature, so that every step is a
 * vector operation over all of them. A row's features lie in memory feature by feature:
 * [rank, blocks].
 *
 * An estimate reads every feature of every entity, so they are kept as bytes: less their mean over
 * all blocks, which the queries account for, in units of their deviation, so that all use the same
 * range, and for each entity in steps of its largest one by 127. */
#include "search/sketch.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/pool.h"
#include "base/rng.h"
#include "model/sketch_tables.h"
#include "search/blocks.h"
#include "wfr/separable.h"

enum {
    LONGEST_BLOCK = 24,
    SAMPLE_LEFT = 320, /* blocks that the maps are fitted on */
    SAMPLE_RIGHT = 160,
    SOURCE_ROWS = 256, /* entities they are taken from */
    ROWS = 64,         /* entities a task */
    TOGETHER = 32,     /* queries that pass over a task's entities at once */
    CHECKED = 32       /* rows that show whether tables belong to the entities */
};

static const float TINY = 1e-30f; /* stands for the largest feature where all are zero */

struct wfre_sketch {
    const wfre_model *model;
    const wfre_vector_table *vectors;
    wfre_sketch_shape shape;
    float floor;
    float *spread; /* [block, sums]: H, unless no mass moves, and a column of ones */
    const wfre_sketch_tables *tables; /* the model's, or */
    wfre_sketch_tables *own;          /* made here */
    size_t scratch_size;              /* floats that a worker takes */
};

bool wfre_sketch_suits(const wfre_score_settings *settings)
{
    return settings->kind == WFRE_SCORE_WFR && settings->block <= LONGEST_BLOCK;
}

/* ---- features ----------------------------------------------------------------------------- */

/* The raw features of n blocks, which lie one after the other: out[k * n + i] is feature k of
 * block i. */
static void expand(const wfre_sketch *s, const float *blocks, size_t n, float *out)
{
    size_t a = s->shape.block;
    float *x = out + n, *root = x + a * n, *spread = root + a * n;
    for (size_t i = 0; i < n; i++)
        out[i] = 1;
    s->vectors->transpose(n, a, blocks, x);
    for (size_t k = 0; k < a; k++)
        s->vectors->axpy(n, s->floor, out, x + k * n);
    s->vectors->mix(&(wfre_mix){s->shape.sums, a, n, s->spread, x, spread});
    s->vectors->power(a * n, 0.5f, x, root);
    s->vectors->power(s->shape.sums * n, 0.5f, spread, spread);
}

/* A row becomes features, [rank, blocks]; scratch holds (raw + rank) * blocks. */
static const float *make_features(const wfre_sketch *s, const float *map, const float *row,
                                  float *scratch)
{
    const wfre_sketch_shape *shape = &s->shape;
    float *mapped = scratch + shape->raw * shape->blocks;
    expand(s, row, shape->blocks, scratch);
    s->vectors->mix(&(wfre_mix){shape->rank, shape->raw, shape->blocks, map, scratch, mapped});
    return mapped;
}

/* An entity's features as bytes; returns what a unit of them stands for. */
static float pack_entity(const wfre_sketch *s, size_t entity, float *scratch, int8_t *to)
{
    const wfre_sketch_shape *shape = &s->shape;
    wfre_family_read_entity(s->model, s->vectors, entity, scratch);
    const float *mapped = make_features(s, s->tables->entity_map, scratch, scratch + shape->dim);
    float largest = fmaxf(s->vectors->largest(shape->width, mapped), TINY);
    s->vectors->to_i8(shape->width, 127 / largest, mapped, to);
    memset(to + shape->width, 0, shape->stride - shape->width);
    return largest / 127;
}

typedef struct packing {
    const wfre_sketch *sketch;
    float *scratch; /* by worker */
} packing;

static void pack_entities(void *context, size_t task, unsigned worker)
{
    const packing *p = context;
    const wfre_sketch *s = p->sketch;
    size_t end = (task + 1) * ROWS;
    for (size_t e = task * ROWS; e < end && e < s->shape.entities; e++)
        s->own->steps[e] = pack_entity(s, e, p->scratch + worker * s->scratch_size,
                                       s->own->features + e * s->shape.stride);
}

/* ---- fitting ------------------------------------------------------------------------------ */

/* The raw features of sampled blocks as the fit wants them: [count, raw]. */
static double *sample_features(const wfre_sketch *s, const float *blocks, size_t count)
{
    size_t width = s->shape.raw;
    float *columns = wfre_alloc(width * count, sizeof *columns);
    double *raw = wfre_alloc(width * count, sizeof *raw);
    if (columns && raw) {
        expand(s, blocks, count, columns);
        for (size_t i = 0; i < count; i++)
            for (size_t m = 0; m < width; m++)
                raw[i * width + m] = (double)columns[m * count + i];
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
    size_t width = s->shape.raw, rank = s->shape.rank;
    const double *entity = maps, *query = maps + width * rank;
    for (size_t k = 0; k < rank; k++) {
        double sum = 0, square = 0;
        for (size_t i = 0; i < SAMPLE_LEFT; i++) {
            double feature = 0;
            for (size_t m = 0; m < width; m++)
                feature += raw[i * width + m] * entity[m * rank + k];
            sum += feature;
            square += feature * feature;
        }
        double mean = sum / SAMPLE_LEFT;
        double unit = fmax(sqrt(fmax(square / SAMPLE_LEFT - mean * mean, 0)), 1e-9);
        for (size_t m = 0; m < width; m++) {
            size_t at = m * rank + k;
            s->own->entity_map[at] = (float)((entity[at] - (m == 0 ? mean : 0)) / unit);
            s->own->query_map[at] = (float)(query[at] * unit / (double)s->shape.blocks);
        }
        s->own->means[k] = (float)(mean / unit);
    }
}

static wfre_status fit(wfre_sketch *s, const wfre_score *score, const wfre_embedding *examples,
                       wfre_pool *pool, wfre_error *error)
{
    wfre_status status = WFRE_OK;
    const wfre_sketch_shape *shape = &s->shape;
    size_t map = shape->raw * shape->rank;
    wfre_block_sample sample = {.left_count = SAMPLE_LEFT, .right_count = SAMPLE_RIGHT};
    double *left = NULL, *right = NULL, *maps = wfre_alloc(2 * map, sizeof *maps);
    float *rows = wfre_alloc(SOURCE_ROWS * shape->dim, sizeof *rows);
    wfre_rng rng = wfre_rng_fixed(WFRE_FOR_SKETCHES, 0);
    if (!rows || !maps)
        TRY(wfre_fail_memory(error, "sketching"));
    for (size_t i = 0; i < SOURCE_ROWS; i++) {
        size_t entity = wfre_rng_below(&rng, s->model->entity_count);
        wfre_family_read_entity(s->model, s->vectors, entity, rows + i * shape->dim);
    }
    TRY(wfre_block_sample_draw(&sample, score, pool, (wfre_block_source){rows, SOURCE_ROWS},
                               (wfre_block_source){examples->rows, examples->row_count}, error));
    left = sample_features(s, sample.left, SAMPLE_LEFT);
    right = sample_features(s, sample.right, SAMPLE_RIGHT);
    if (!left || !right)
        TRY(wfre_fail_memory(error, "sketching"));
    TRY(wfre_separable_fit(&(wfre_separable){.rows = SAMPLE_LEFT,
                                             .columns = SAMPLE_RIGHT,
                                             .v = sample.values,
                                             .features = shape->raw,
                                             .a = left,
                                             .b = right,
                                             .rank = shape->rank,
                                             .left = maps,
                                             .right = maps + map},
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

/* ---- making and opening ------------------------------------------------------------------- */

static void fill_spread(wfre_sketch *s, const wfre_score_settings *settings)
{
    for (size_t j = 0; j < s->shape.block; j++)
        for (size_t i = 0; i < s->shape.sums; i++) {
            double k = fabs((double)i - (double)j);
            double c = cos(M_PI * k / (2 * settings->radius));
            double h = k < settings->radius ? pow(c, settings->power) : 0;
            bool ones = i + 1 == s->shape.sums;
            s->spread[j * s->shape.sums + i] = ones ? 1 : (float)h;
        }
}

/* All but the tables. */
static wfre_status create_frame(const wfre_model *model, const wfre_score *score,
                                wfre_sketch **result, wfre_error *error)
{
    wfre_status status;
    wfre_isa isa;
    const wfre_score_settings *settings = wfre_score_get_settings(score);
    wfre_sketch *s = wfre_alloc_zero(1, sizeof *s);
    if (!s)
        return wfre_fail_memory(error, "sketching");
    s->model = model;
    s->shape = wfre_sketch_shape_for(settings, model->entity_count);
    s->floor = (float)settings->floor;
    TRY(wfre_isa_select(&isa, error));
    s->vectors = wfre_vector_table_for(isa);
    s->scratch_size = (s->shape.raw + s->shape.rank) * s->shape.blocks + s->shape.dim;
    s->spread = wfre_alloc(s->shape.block * s->shape.sums, sizeof *s->spread);
    if (!s->spread)
        TRY(wfre_fail_memory(error, "sketching"));
    fill_spread(s, settings);
    *result = s;
    s = NULL;
cleanup:
    wfre_sketch_free(s);
    return status;
}

wfre_status wfre_sketch_create(const wfre_model *model, const wfre_score *score,
                               const wfre_embedding *examples, wfre_pool *pool,
                               wfre_sketch **result, wfre_error *error)
{
    wfre_status status;
    wfre_sketch *s = NULL;
    float *scratch = NULL;
    TRY(create_frame(model, score, &s, error));
    s->own = wfre_sketch_tables_allocate(&s->shape);
    scratch = wfre_alloc_tensor(wfre_pool_threads(pool) * s->scratch_size, sizeof *scratch);
    if (!s->own || !scratch)
        TRY(wfre_fail_memory(error, "sketching"));
    s->tables = s->own;
    TRY(fit(s, score, examples, pool, error));
    packing p = {s, scratch};
    TRY(wfre_pool_try(pool, (s->shape.entities + ROWS - 1) / ROWS, pack_entities, &p, error));
    *result = s;
    s = NULL;
cleanup:
    wfre_free(scratch);
    wfre_sketch_free(s);
    return status;
}

/* Whether the tables belong to the entities as they are, by a look at some. Another processor may
 * round otherwise, and entities may have been rounded to bfloat16 since; both are small. */
static bool tables_fit(const wfre_sketch *s, float *scratch, int8_t *packed)
{
    size_t difference = 0;
    for (size_t i = 0; i < CHECKED; i++) {
        size_t e = s->shape.entities * i / CHECKED;
        const int8_t *stored = s->tables->features + e * s->shape.stride;
        float step = pack_entity(s, e, scratch, packed);
        if (!(fabsf(step - s->tables->steps[e]) <= 0.05f * step))
            return false;
        for (size_t k = 0; k < s->shape.stride; k++)
            difference += (size_t)abs(packed[k] - stored[k]);
    }
    return difference <= CHECKED * s->shape.width; /* a unit each */
}

/* Tables that lie in a mapped file are checked before all of them are read. */
static wfre_status look_at_tables(const wfre_sketch *s, wfre_error *error)
{
    const wfre_sketch_tables *t = s->tables;
    const wfre_sketch_shape *shape = &s->shape;
    wfre_safetensors *file = s->model->mapped;
    if (!t->mapped || !file)
        return WFRE_OK;
    size_t map = shape->raw * shape->rank * sizeof(float);
    (void)(wfre_safetensors_look(file, t->entity_map, map) &&
           wfre_safetensors_look(file, t->query_map, map) &&
           wfre_safetensors_look(file, t->means, shape->rank * sizeof(float)) &&
           wfre_safetensors_look(file, t->steps, shape->entities * sizeof(float)) &&
           wfre_safetensors_look(file, t->features, shape->entities * shape->stride));
    return wfre_safetensors_status(file, error);
}

wfre_status wfre_sketch_open(const wfre_model *model, const wfre_score *score, wfre_sketch **result,
                             wfre_error *error)
{
    wfre_status status = WFRE_OK;
    wfre_sketch *s = NULL;
    int8_t *packed = NULL;
    float *scratch = NULL;
    *result = NULL;
    if (!model->sketch)
        goto cleanup;
    TRY(create_frame(model, score, &s, error));
    if (memcmp(&model->sketch->shape, &s->shape, sizeof s->shape) != 0)
        goto cleanup; /* the score has changed since */
    s->tables = model->sketch;
    TRY(look_at_tables(s, error));
    packed = wfre_alloc(s->shape.stride, sizeof *packed);
    scratch = wfre_alloc_tensor(s->scratch_size, sizeof *scratch);
    if (!packed || !scratch)
        TRY(wfre_fail_memory(error, "opening a sketch"));
    if (tables_fit(s, scratch, packed)) {
        *result = s;
        s = NULL;
    }
cleanup:
    wfre_free(packed);
    wfre_free(scratch);
    wfre_sketch_free(s);
    return status;
}

wfre_sketch_tables *wfre_sketch_take(wfre_sketch *sketch)
{
    wfre_sketch_tables *tables = sketch->own;
    sketch->own = NULL;
    return tables;
}

void wfre_sketch_free(wfre_sketch *sketch)
{
    if (!sketch)
        return;
    wfre_sketch_tables_free(sketch->own);
    wfre_free(sketch->spread);
    wfre_free(sketch);
}

/* ---- using -------------------------------------------------------------------------------- */

/* score = -(step unit (sum of the products of entity's and query's features) + shift) */
typedef struct query_scale {
    float unit, shift;
} query_scale;

typedef struct estimation {
    const wfre_sketch *sketch;
    const float *queries;
    size_t count;
    int16_t *features; /* [queries, stride] */
    float *scratch;    /* by worker */
    query_scale *scales;
    float *scores;
} estimation;

/* A query's features as whole numbers, so large that no sum of products can overflow. */
static void sketch_query(void *context, size_t q, unsigned worker)
{
    const estimation *e = context;
    const wfre_sketch *s = e->sketch;
    int16_t *to = e->features + q * s->shape.stride;
    const float *mapped = make_features(s, s->tables->query_map, e->queries + q * s->shape.dim,
                                        e->scratch + worker * s->scratch_size);
    float limit = (float)(INT32_MAX / 128) / (float)s->shape.stride;
    float largest = fmaxf(s->vectors->largest(s->shape.width, mapped), TINY);
    float scale = fminf(limit, INT16_MAX) / largest;
    for (size_t i = 0; i < s->shape.width; i++) /* what is not a number becomes one, too */
        to[i] = (int16_t)lrintf(fmaxf(mapped[i] * scale, -INT16_MAX));
    memset(to + s->shape.width, 0, (s->shape.stride - s->shape.width) * sizeof *to);
    double shift = 0;
    for (size_t k = 0; k < s->shape.rank; k++)
        shift += (double)s->tables->means[k] *
                 s->vectors->sum(s->shape.blocks, mapped + k * s->shape.blocks);
    e->scales[q] = (query_scale){1 / scale, (float)shift};
}

static void estimate_entities(void *context, size_t task, unsigned worker)
{
    (void)worker;
    const estimation *e = context;
    const wfre_sketch *s = e->sketch;
    size_t entities = s->shape.entities, first = task * ROWS;
    size_t end = first + ROWS < entities ? first + ROWS : entities;
    for (size_t from = 0; from < e->count; from += TOGETHER) {
        size_t count = e->count - from < TOGETHER ? e->count - from : TOGETHER;
        int32_t sums[ROWS][TOGETHER];
        s->vectors->dots_i8(&(wfre_dots){.n = s->shape.stride,
                                         .rows = end - first,
                                         .x = s->tables->features + first * s->shape.stride,
                                         .count = count,
                                         .y = e->features + from * s->shape.stride,
                                         .stride = TOGETHER,
                                         .sums = sums[0]});
        for (size_t q = 0; q < count; q++) {
            query_scale scale = e->scales[from + q];
            float *scores = e->scores + (from + q) * entities;
            for (size_t i = first; i < end; i++)
                scores[i] =
                    -(s->tables->steps[i] * scale.unit * (float)sums[i - first][q] + scale.shift);
        }
    }
}

wfre_status wfre_sketch_estimate(const wfre_sketch *sketch, wfre_pool *pool, const float *queries,
                                 size_t count, float *scores, wfre_error *error)
{
    wfre_status status = WFRE_OK;
    size_t entities = sketch->shape.entities;
    estimation e = {.sketch = sketch, .queries = queries, .count = count, .scores = scores};
    e.scales = wfre_alloc(count, sizeof *e.scales);
    e.features = wfre_alloc(count, sketch->shape.stride * sizeof *e.features);
    e.scratch = wfre_alloc(wfre_pool_threads(pool), sketch->scratch_size * sizeof *e.scratch);
    if (!e.scales || !e.features || !e.scratch)
        TRY(wfre_fail_memory(error, "estimating distances"));
    TRY(wfre_pool_try(pool, count, sketch_query, &e, error));
    TRY(wfre_pool_try(pool, (entities + ROWS - 1) / ROWS, estimate_entities, &e, error));
cleanup:
    wfre_free(e.scales);
    wfre_free(e.features);
    wfre_free(e.scratch);
    return status;
}
