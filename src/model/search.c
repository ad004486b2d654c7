/* Exhaustive search: entities pass in blocks through a packed store, each block is scored against
 * all queries, and each query keeps its nearest in a heap. */
#include "model/search.h"

#include "base/memory.h"
#include "base/pool.h"
#include "linalg/linalg.h"

enum { BLOCK = 2048, CLAMP_ROWS = 64 };

struct wfre_searcher {
    const wfre_model *model;
    wfre_pool *pool;
    const wfre_vector_table *vectors;
    wfre_score *score;
    float *entities;  /* [BLOCK, d] */
    float *distances; /* [rows, BLOCK] */
    size_t distance_capacity;
};

wfre_status wfre_searcher_create(const wfre_model *model, wfre_pool *pool, wfre_searcher **result,
                                 wfre_error *error)
{
    wfre_status status;
    wfre_isa isa;
    wfre_searcher *s = wfre_alloc_zero(1, sizeof *s);
    if (!s)
        return wfre_fail_memory(error, "preparing a search");
    s->model = model;
    s->pool = pool;
    TRY(wfre_isa_select(&isa, error));
    s->vectors = wfre_vector_table_for(isa);
    TRY(wfre_score_create(&model->settings.score, &s->score, error));
    size_t rows = model->entity_count < BLOCK ? model->entity_count : BLOCK;
    s->entities = wfre_alloc_tensor(rows * model->settings.dim, sizeof(float));
    if (!s->entities)
        TRY(wfre_fail_memory(error, "preparing a search"));
    *result = s;
    s = NULL;
cleanup:
    wfre_searcher_free(s);
    return status;
}

void wfre_searcher_free(wfre_searcher *searcher)
{
    if (!searcher)
        return;
    wfre_score_free(searcher->score);
    wfre_free(searcher->entities);
    wfre_free(searcher->distances);
    wfre_free(searcher);
}

/* ---- the nearest so far ------------------------------------------------------------------------
 */

static bool nearer(wfre_hit a, wfre_hit b)
{
    return a.distance != b.distance ? a.distance < b.distance : a.entity < b.entity;
}

/* Lets heap[at] sink to its place; the farthest is at 0. */
static void sink(wfre_hit *heap, size_t count, size_t at)
{
    wfre_hit hit = heap[at];
    for (size_t child; (child = 2 * at + 1) < count; at = child) {
        if (child + 1 < count && nearer(heap[child], heap[child + 1]))
            child++;
        if (!nearer(hit, heap[child]))
            break;
        heap[at] = heap[child];
    }
    heap[at] = hit;
}

static void offer(wfre_search_query *query, wfre_hit hit)
{
    wfre_hit *heap = query->hits;
    if (query->hit_count == query->top) {
        if (query->top > 0 && nearer(hit, heap[0])) {
            heap[0] = hit;
            sink(heap, query->top, 0);
        }
        return;
    }
    size_t at = query->hit_count++;
    for (; at > 0 && nearer(heap[(at - 1) / 2], hit); at = (at - 1) / 2)
        heap[at] = heap[(at - 1) / 2];
    heap[at] = hit;
}

/* From heap to ascending order. */
static void settle(wfre_search_query *query)
{
    for (size_t count = query->hit_count; count > 1; count--) {
        wfre_hit farthest = query->hits[0];
        query->hits[0] = query->hits[count - 1];
        query->hits[count - 1] = farthest;
        sink(query->hits, count - 1, 0);
    }
}

/* ---- one block of entities ---------------------------------------------------------------------
 */

typedef struct scan {
    wfre_searcher *searcher;
    const wfre_embedding *embedding;
    wfre_search_query *queries;
    size_t *next;      /* of each query: how far in its list to leave out */
    wfre_entity first; /* of the block */
    size_t block;
} scan;

static void clamp_rows(void *context, size_t chunk, unsigned worker)
{
    (void)worker;
    const scan *c = context;
    const wfre_model *model = c->searcher->model;
    size_t d = model->settings.dim, begin = chunk * CLAMP_ROWS;
    size_t rows = c->block - begin < CLAMP_ROWS ? c->block - begin : CLAMP_ROWS;
    c->searcher->vectors->clamp01(rows * d, model->entities + (c->first + begin) * d,
                                  c->searcher->entities + begin * d);
}

/* Offers the block's entities to one query. */
static void pick(void *context, size_t q, unsigned worker)
{
    (void)worker;
    const scan *c = context;
    wfre_search_query *query = &c->queries[q];
    uint32_t row = c->embedding->begin[q], branches = c->embedding->begin[q + 1] - row;
    const float *distances = c->searcher->distances + row * c->block;
    for (size_t k = 0; k < c->block; k++) {
        wfre_hit hit = {c->first + (wfre_entity)k, distances[k]};
        if (c->next[q] < query->without.count && query->without.ids[c->next[q]] == hit.entity) {
            c->next[q]++;
            continue;
        }
        for (uint32_t b = 1; b < branches; b++)
            if (distances[b * c->block + k] < hit.distance)
                hit.distance = distances[b * c->block + k];
        offer(query, hit);
    }
}

static wfre_status scan_block(scan *c, size_t count, wfre_error *error)
{
    wfre_searcher *s = c->searcher;
    size_t d = s->model->settings.dim;
    wfre_store *store = NULL;
    wfre_status status;
    wfre_pool_run(s->pool, (c->block + CLAMP_ROWS - 1) / CLAMP_ROWS, clamp_rows, c);
    TRY(wfre_store_create(s->score, s->pool, s->entities, WFRE_FLOAT32, d, c->block, &store,
                          error));
    wfre_rank_job job = {
        .queries = {c->embedding->rows, d},
        .query_count = c->embedding->row_count,
        .ranking = WFRE_RANK_TRUE,
        .stride = c->block,
    };
    TRY(wfre_score_rank(s->score, s->pool, store, &job, s->distances, error));
    wfre_pool_run(s->pool, count, pick, c);
cleanup:
    wfre_store_free(store);
    return status;
}

/* ---- all of them --------------------------------------------------------------------------------
 */

wfre_status wfre_search_all(wfre_searcher *searcher, const wfre_embedding *embedding,
                            wfre_search_query *queries, size_t count, wfre_error *error)
{
    wfre_status status = WFRE_OK;
    size_t entities = searcher->model->entity_count;
    size_t *next = wfre_alloc_zero(count, sizeof *next);
    if (!next || !wfre_reserve((void **)&searcher->distances, &searcher->distance_capacity,
                               embedding->row_count, BLOCK * sizeof(float)))
        TRY(wfre_fail_memory(error, "searching"));
    for (size_t q = 0; q < count; q++)
        queries[q].hit_count = 0;
    for (size_t first = 0; first < entities; first += BLOCK) {
        size_t block = entities - first < BLOCK ? entities - first : BLOCK;
        scan c = {searcher, embedding, queries, next, (wfre_entity)first, block};
        TRY(scan_block(&c, count, error));
    }
    for (size_t q = 0; q < count; q++)
        settle(&queries[q]);
cleanup:
    wfre_free(next);
    return status;
}
