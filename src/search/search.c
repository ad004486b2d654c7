/* Exhaustive search: entities pass in blocks through a packed store, each block is scored against
 * all queries, and each query keeps its nearest in a heap.
 *
 * Quick search goes in rounds. In each, every query that is not sure yet takes its next candidates
 * in the order of their estimates; all candidates of the round are then scored together. */
#include "search/search.h"

#include <math.h>

#include "base/memory.h"
#include "base/pool.h"
#include "search/sketch.h"
#include "search/top.h"

enum {
    BLOCK = 2048,           /* entities scored at a time by exhaustive search */
    GATHER = 16,            /* rows a task copies */
    FEWEST_ENTITIES = 2048, /* for which a sketch pays */
    EXAMPLES = 32,          /* queries it is fitted on */
    FIRST_ROUND = 64,       /* candidates, at least */
    TABLE_LIMIT = 1 << 25   /* estimates held at a time */
};
static const double DEVIATIONS = 5; /* by which an estimate may err */

struct wfre_searcher {
    const wfre_model *model;
    wfre_pool *pool;
    const wfre_vector_table *vectors;
    wfre_score *score;
    wfre_sketch *sketch; /* or NULL */
    wfre_store *whole;   /* all entities, if they are one block and were scored before */
    float *rows;         /* [entities at work, d]: clamped */
    float *distances;    /* [embedding rows, BLOCK], or of the pairs of a round */
    float *estimates;    /* [embedding rows, entities] */
    uint32_t *indexes;   /* [2, pairs of a round] */
    size_t row_capacity, distance_capacity, estimate_capacity, index_capacity;
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
    wfre_sketch_free(searcher->sketch);
    wfre_store_free(searcher->whole);
    wfre_score_free(searcher->score);
    wfre_free(searcher->rows);
    wfre_free(searcher->distances);
    wfre_free(searcher->estimates);
    wfre_free(searcher->indexes);
    wfre_free(searcher);
}

wfre_status wfre_searcher_prepare(wfre_searcher *searcher, wfre_embedder *embedder,
                                  wfre_error *error)
{
    wfre_embedding examples;
    wfre_status status = WFRE_OK;
    if (searcher->sketch || searcher->model->entity_count < FEWEST_ENTITIES ||
        !wfre_sketch_suits(&searcher->model->settings.score))
        return WFRE_OK;
    TRY(wfre_sketch_open(searcher->model, searcher->score, searcher->pool, &searcher->sketch,
                         error));
    if (searcher->sketch)
        goto cleanup;
    TRY(wfre_embed_examples(embedder, EXAMPLES, &examples, error));
    TRY(wfre_sketch_create(searcher->model, searcher->score, &examples, searcher->pool,
                           &searcher->sketch, error));
cleanup:
    return status;
}

wfre_sketch_tables *wfre_searcher_take_sketch(wfre_searcher *searcher)
{
    wfre_sketch_tables *tables = searcher->sketch ? wfre_sketch_take(searcher->sketch) : NULL;
    wfre_sketch_free(searcher->sketch);
    searcher->sketch = NULL;
    return tables;
}

static float nearer_of(float a, float b)
{
    return a < b ? a : b;
}

static bool reserve(float **data, size_t *capacity, size_t rows, size_t width)
{
    return WFRE_RESERVE(data, capacity, rows * width);
}

/* ---- entities as the score reads them ----------------------------------------------------- */

typedef struct gathering {
    wfre_searcher *searcher;
    const uint32_t *entities; /* NULL: from `first` on */
    size_t first, count;
} gathering;

static void gather_chunk(void *context, size_t chunk, unsigned worker)
{
    (void)worker;
    const gathering *g = context;
    const wfre_searcher *s = g->searcher;
    size_t d = s->model->settings.dim, end = (chunk + 1) * GATHER;
    for (size_t i = chunk * GATHER; i < end && i < g->count; i++) {
        size_t entity = g->entities ? g->entities[i] : g->first + i;
        s->vectors->clamp01(d, s->model->entities + entity * d, s->rows + i * d);
    }
}

static wfre_status gather(gathering g, wfre_error *error)
{
    wfre_searcher *s = g.searcher;
    if (!reserve(&s->rows, &s->row_capacity, g.count, s->model->settings.dim))
        return wfre_fail_memory(error, "searching");
    wfre_pool_run(s->pool, (g.count + GATHER - 1) / GATHER, gather_chunk, &g);
    return WFRE_OK;
}

/* ---- exhaustive search -------------------------------------------------------------------- */

typedef struct scan {
    wfre_searcher *searcher;
    const wfre_embedding *embedding;
    wfre_search_query *queries;
    wfre_nearest *nearest; /* of each query */
    size_t *next;          /* of each query: how far in its list to leave out */
    size_t first;          /* of the block */
    size_t block;
} scan;

/* Offers the block's entities to one query. */
static void pick(void *context, size_t q, unsigned worker)
{
    (void)worker;
    const scan *c = context;
    wfre_list without = c->queries[q].without;
    uint32_t row = c->embedding->begin[q], branches = c->embedding->begin[q + 1] - row;
    const float *distances = c->searcher->distances + row * c->block;
    for (size_t k = 0; k < c->block; k++) {
        wfre_hit hit = {(wfre_entity)(c->first + k), distances[k]};
        if (c->next[q] < without.count && without.ids[c->next[q]] == hit.entity) {
            c->next[q]++;
            continue;
        }
        for (uint32_t b = 1; b < branches; b++)
            hit.distance = nearer_of(hit.distance, distances[b * c->block + k]);
        wfre_nearest_offer(&c->nearest[q], hit);
    }
}

/* `block` entities from `first` on, packed. */
static wfre_status pack_block(wfre_searcher *s, size_t first, size_t block, wfre_store **store,
                              wfre_error *error)
{
    CHECK(gather((gathering){.searcher = s, .first = first, .count = block}, error));
    return wfre_store_create(s->score, s->pool, s->rows, WFRE_FLOAT32, s->model->settings.dim,
                             block, store, error);
}

/* Scores those entities against all rows, into a table of the given stride. */
static wfre_status score_block(wfre_searcher *s, const float *rows, size_t count, size_t first,
                               size_t block, size_t stride, float *out, wfre_error *error)
{
    wfre_store *store = s->whole, *own = NULL;
    wfre_status status;
    if (!store) {
        TRY(pack_block(s, first, block, &own, error));
        store = own;
    }
    wfre_rank_job job = {.queries = {rows, s->model->settings.dim},
                         .query_count = count,
                         .ranking = WFRE_RANK_TRUE,
                         .stride = stride};
    TRY(wfre_score_rank(s->score, s->pool, store, &job, out, error));
    if (own && block == s->model->entity_count) {
        s->whole = own;
        own = NULL;
    }
cleanup:
    wfre_store_free(own);
    return status;
}

wfre_status wfre_search_all(wfre_searcher *searcher, const wfre_embedding *embedding,
                            wfre_search_query *queries, size_t count, wfre_error *error)
{
    wfre_status status = WFRE_OK;
    size_t entities = searcher->model->entity_count;
    scan c = {.searcher = searcher, .embedding = embedding, .queries = queries};
    c.next = wfre_alloc_zero(count, sizeof *c.next);
    c.nearest = wfre_alloc(count, sizeof *c.nearest);
    if (!c.next || !c.nearest ||
        !reserve(&searcher->distances, &searcher->distance_capacity, embedding->row_count, BLOCK))
        TRY(wfre_fail_memory(error, "searching"));
    for (size_t q = 0; q < count; q++)
        c.nearest[q] = (wfre_nearest){.hits = queries[q].hits, .top = queries[q].top};
    for (c.first = 0; c.first < entities; c.first += BLOCK) {
        c.block = entities - c.first < BLOCK ? entities - c.first : BLOCK;
        TRY(score_block(searcher, embedding->rows, embedding->row_count, c.first, c.block, c.block,
                        searcher->distances, error));
        wfre_pool_run(searcher->pool, count, pick, &c);
    }
    for (size_t q = 0; q < count; q++) {
        wfre_nearest_settle(&c.nearest[q]);
        queries[q].hit_count = c.nearest[q].count;
        queries[q].scored = entities;
    }
cleanup:
    wfre_free(c.next);
    wfre_free(c.nearest);
    return status;
}

wfre_status wfre_search_distances(wfre_searcher *searcher, const float *rows, size_t count,
                                  bool exact, float *distances, wfre_error *error)
{
    size_t entities = searcher->model->entity_count;
    if (searcher->sketch && !exact)
        return wfre_sketch_estimate(searcher->sketch, rows, count, distances, error);
    for (size_t first = 0; first < entities; first += BLOCK) {
        size_t block = entities - first < BLOCK ? entities - first : BLOCK;
        CHECK(score_block(searcher, rows, count, first, block, entities, distances + first, error));
    }
    return WFRE_OK;
}

bool wfre_search_estimates(const wfre_searcher *searcher)
{
    return searcher->sketch != NULL;
}

wfre_status wfre_search_pairs(wfre_searcher *searcher, const float *rows, const uint32_t *indexes,
                              const wfre_entity *entities, size_t count, float *distances,
                              wfre_error *error)
{
    size_t d = searcher->model->settings.dim;
    CHECK(gather((gathering){.searcher = searcher, .entities = entities, .count = count}, error));
    wfre_pairs job = {{searcher->rows, d}, {rows, d}, NULL, indexes, count};
    return wfre_score_pairs(searcher->score, searcher->pool, &job, distances, NULL, error);
}

/* ---- quick search ------------------------------------------------------------------------- */

/* One query on its way. Candidates are the entities with the best estimates, in their order. */
typedef struct query_search {
    wfre_nearest candidates;
    size_t capacity;
    size_t scored;      /* of the candidates so far */
    size_t goal;        /* to be scored by the end of this round */
    size_t first_pair;  /* in this round */
    double sum, square; /* of the errors of their estimates */
    wfre_nearest nearest;
} query_search;

/* Some queries of an embedding, searched together. */
typedef struct search_batch {
    wfre_searcher *searcher;
    const float *rows;     /* of their branches */
    const uint32_t *begin; /* of each query's; counts from begin[0] */
    wfre_search_query *queries;
    query_search *searches;
    size_t count;
} search_batch;

static size_t first_row(const search_batch *c, size_t q)
{
    return c->begin[q] - c->begin[0];
}

/* Takes the best candidates by estimate, as many as there is room for. */
static void choose_candidates(const search_batch *c, size_t q)
{
    const wfre_searcher *s = c->searcher;
    query_search *own = &c->searches[q];
    wfre_list without = c->queries[q].without;
    size_t entities = s->model->entity_count, next = 0, branches = c->begin[q + 1] - c->begin[q];
    const float *estimates = s->estimates + first_row(c, q) * entities;
    own->candidates.count = 0;
    for (size_t e = 0; e < entities; e++) {
        wfre_hit hit = {(wfre_entity)e, estimates[e]};
        for (size_t b = 1; b < branches; b++)
            hit.distance = nearer_of(hit.distance, estimates[b * entities + e]);
        if (next < without.count && without.ids[next] == e)
            next++;
        else
            wfre_nearest_offer(&own->candidates, hit);
    }
    wfre_nearest_settle(&own->candidates);
}

static void choose_first(void *context, size_t q, unsigned worker)
{
    (void)worker;
    choose_candidates(context, q);
}

/* Notes the distances of a round, and says whether the next candidate may still be among the
 * nearest: if so, it sets a new goal. */
static bool record_distances(const search_batch *c, size_t q, const float *distances)
{
    query_search *own = &c->searches[q];
    size_t branches = c->begin[q + 1] - c->begin[q];
    for (size_t i = own->scored; i < own->goal; i++, distances += branches) {
        wfre_hit hit = {own->candidates.hits[i].entity, distances[0]};
        for (size_t b = 1; b < branches; b++)
            hit.distance = nearer_of(hit.distance, distances[b]);
        double error = (double)hit.distance - (double)own->candidates.hits[i].distance;
        own->sum += error;
        own->square += error * error;
        wfre_nearest_offer(&own->nearest, hit);
    }
    own->scored = own->goal;
    if (own->nearest.top == 0 ||
        own->scored == c->searcher->model->entity_count - c->queries[q].without.count)
        return false;
    if (own->scored < own->candidates.count && own->nearest.count == own->nearest.top) {
        double count = (double)own->scored, mean = own->sum / count;
        double deviation = sqrt(fmax(own->square / count - mean * mean, 0));
        double next = (double)own->candidates.hits[own->scored].distance;
        if (next + mean - DEVIATIONS * deviation > (double)own->nearest.hits[0].distance)
            return false;
    }
    own->goal = own->scored + own->scored / 2;
    return true;
}

/* Makes room for more candidates than are known, if the goal needs them. */
static wfre_status widen(const search_batch *c, size_t q, wfre_error *error)
{
    query_search *own = &c->searches[q];
    size_t all = c->searcher->model->entity_count - c->queries[q].without.count;
    if (own->goal < own->candidates.count || own->candidates.count == all)
        goto enough;
    size_t wanted = 4 * own->goal < all ? 4 * own->goal : all;
    if (!WFRE_RESERVE(&own->candidates.hits, &own->capacity, wanted))
        return wfre_fail_memory(error, "searching");
    own->candidates.top = wanted;
    choose_candidates(c, q);
enough:
    if (own->goal > own->candidates.count)
        own->goal = own->candidates.count;
    return WFRE_OK;
}

/* Scores the pairs of candidates `scored` to `goal` of every query with all its branches. */
static wfre_status score_round(const search_batch *c, wfre_error *error)
{
    wfre_searcher *s = c->searcher;
    size_t d = s->model->settings.dim, pairs = 0, entities = 0;
    for (size_t q = 0; q < c->count; q++) {
        size_t more = c->searches[q].goal - c->searches[q].scored;
        c->searches[q].first_pair = pairs;
        pairs += more * (c->begin[q + 1] - c->begin[q]);
        entities += more;
    }
    if (!WFRE_RESERVE(&s->indexes, &s->index_capacity, 2 * pairs + entities) ||
        !reserve(&s->distances, &s->distance_capacity, pairs, 1))
        return wfre_fail_memory(error, "searching");
    uint32_t *left = s->indexes, *right = left + pairs, *chosen = right + pairs;
    size_t pair = 0, row = 0;
    for (size_t q = 0; q < c->count; q++)
        for (size_t i = c->searches[q].scored; i < c->searches[q].goal; i++, row++) {
            chosen[row] = c->searches[q].candidates.hits[i].entity;
            for (size_t r = first_row(c, q); r < first_row(c, q + 1); r++) {
                left[pair] = (uint32_t)row;
                right[pair++] = (uint32_t)r;
            }
        }
    CHECK(gather((gathering){.searcher = s, .entities = chosen, .count = entities}, error));
    wfre_pairs job = {{s->rows, d}, {c->rows, d}, left, right, pairs};
    return wfre_score_pairs(s->score, s->pool, &job, s->distances, NULL, error);
}

static wfre_status start(search_batch *c, wfre_error *error)
{
    for (size_t q = 0; q < c->count; q++) {
        query_search *own = &c->searches[q];
        const wfre_search_query *query = &c->queries[q];
        size_t all = c->searcher->model->entity_count - query->without.count;
        own->nearest = (wfre_nearest){.hits = query->hits, .top = query->top};
        own->goal = 2 * query->top > FIRST_ROUND ? 2 * query->top : FIRST_ROUND;
        own->goal = own->goal < all ? own->goal : all;
        own->candidates.top = 8 * own->goal < all ? 8 * own->goal : all;
        if (!WFRE_RESERVE(&own->candidates.hits, &own->capacity, own->candidates.top))
            return wfre_fail_memory(error, "searching");
    }
    wfre_pool_run(c->searcher->pool, c->count, choose_first, c);
    return WFRE_OK;
}

/* Searches for queries whose estimates fit into memory together. */
static wfre_status search_part(search_batch *c, wfre_error *error)
{
    wfre_searcher *s = c->searcher;
    size_t rows = first_row(c, c->count);
    if (!reserve(&s->estimates, &s->estimate_capacity, rows, s->model->entity_count))
        return wfre_fail_memory(error, "searching");
    CHECK(wfre_sketch_estimate(s->sketch, c->rows, rows, s->estimates, error));
    CHECK(start(c, error));
    for (bool unsure = true; unsure;) {
        CHECK(score_round(c, error));
        unsure = false;
        for (size_t q = 0; q < c->count; q++) {
            query_search *own = &c->searches[q];
            if (own->goal == own->scored || !record_distances(c, q, s->distances + own->first_pair))
                continue;
            CHECK(widen(c, q, error));
            unsure = true;
        }
    }
    for (size_t q = 0; q < c->count; q++) {
        wfre_nearest_settle(&c->searches[q].nearest);
        c->queries[q].hit_count = c->searches[q].nearest.count;
        c->queries[q].scored = c->searches[q].scored;
    }
    return WFRE_OK;
}

wfre_status wfre_search_quick(wfre_searcher *searcher, const wfre_embedding *embedding,
                              wfre_search_query *queries, size_t count, wfre_error *error)
{
    if (!searcher->sketch)
        return wfre_search_all(searcher, embedding, queries, count, error);
    wfre_status status = WFRE_OK;
    size_t most = TABLE_LIMIT / searcher->model->entity_count + 1;
    query_search *searches = wfre_alloc_zero(count, sizeof *searches);
    if (!searches)
        TRY(wfre_fail_memory(error, "searching"));
    for (size_t first = 0, part; first < count; first += part) {
        const uint32_t *begin = embedding->begin + first;
        const float *rows = embedding->rows + begin[0] * (size_t)searcher->model->settings.dim;
        for (part = 1; first + part < count && begin[part + 1] - begin[0] <= most;)
            part++;
        search_batch c = {searcher, rows, begin, queries + first, searches + first, part};
        uint32_t alone[] = {0, begin[1] - begin[0]};
        wfre_embedding too_many = {rows, alone[1], alone};
        TRY(alone[1] > most ? wfre_search_all(searcher, &too_many, queries + first, 1, error)
                            : search_part(&c, error));
    }
cleanup:
    for (size_t q = 0; searches && q < count; q++)
        wfre_free(searches[q].candidates.hits);
    wfre_free(searches);
    return status;
}
