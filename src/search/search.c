/* Exact scores of all entities: they pass in blocks through a packed store, each block is scored
 * against all histograms. */
#include "search/search.h"

#include "base/memory.h"
#include "base/pool.h"
#include "search/sketch.h"

enum {
    BLOCK = 512, /* entities scored at a time; no fewer than an index packs whole */
    GATHER = 16, /* rows a task copies */
    NEGATE = 16384
};

struct wfre_searcher {
    wfre_index *index;
    wfre_index_top top; /* once it is prepared */
    const wfre_model *model;
    wfre_pool *pool;
    const wfre_vector_table *vectors;
    float *rows; /* [entities at work, d]: clamped */
    size_t row_capacity;
};

wfre_status wfre_searcher_create(wfre_index *index, wfre_pool *pool, wfre_searcher **result,
                                 wfre_error *error)
{
    wfre_isa isa;
    CHECK(wfre_isa_select(&isa, error));
    wfre_searcher *s = wfre_alloc_zero(1, sizeof *s);
    if (!s)
        return wfre_fail_memory(error, "preparing a search");
    s->index = index;
    s->model = wfre_index_model(index);
    s->pool = pool;
    s->vectors = wfre_vector_table_for(isa);
    *result = s;
    return WFRE_OK;
}

void wfre_searcher_free(wfre_searcher *searcher)
{
    if (!searcher)
        return;
    wfre_free(searcher->rows);
    wfre_free(searcher);
}

wfre_status wfre_search_prepare(wfre_searcher *searcher, wfre_error *error)
{
    return wfre_index_top_of(searcher->index, searcher->pool, &searcher->top, error);
}

bool wfre_search_estimates(const wfre_searcher *searcher)
{
    return searcher->top.sketch != NULL;
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
        wfre_family_read_entity(s->model, s->vectors, entity, s->rows + i * d);
    }
}

static wfre_status gather(gathering g, wfre_error *error)
{
    wfre_searcher *s = g.searcher;
    if (!WFRE_RESERVE(&s->rows, &s->row_capacity, g.count * s->model->settings.dim))
        return wfre_fail_memory(error, "searching");
    return wfre_pool_try(s->pool, (g.count + GATHER - 1) / GATHER, gather_chunk, &g, error);
}

/* ---- all entities ------------------------------------------------------------------------- */

static wfre_status score_block(wfre_searcher *s, const float *rows, size_t count, size_t first,
                               size_t block, float *out, wfre_error *error)
{
    wfre_store *made = NULL;
    wfre_status status;
    const wfre_score *score = wfre_index_score(s->index);
    const wfre_store *store = s->top.whole;
    if (!store) {
        TRY(gather((gathering){.searcher = s, .first = first, .count = block}, error));
        TRY(wfre_store_create(score, s->pool, s->rows, WFRE_FLOAT32, s->model->settings.dim, block,
                              &made, error));
        store = made;
    }
    wfre_rank_job job = {.queries = {rows, s->model->settings.dim},
                         .query_count = count,
                         .ranking = WFRE_RANK_TRUE,
                         .stride = s->model->entity_count};
    TRY(wfre_score_rank(score, s->pool, store, &job, out, error));
cleanup:
    wfre_store_free(made);
    return status;
}

typedef struct negation {
    float *numbers;
    size_t count;
} negation;

static void negate_chunk(void *context, size_t chunk, unsigned worker)
{
    (void)worker;
    const negation *n = context;
    size_t end = (chunk + 1) * NEGATE < n->count ? (chunk + 1) * NEGATE : n->count;
    for (size_t i = chunk * NEGATE; i < end; i++)
        n->numbers[i] = -n->numbers[i];
}

wfre_status wfre_search_scores(wfre_searcher *searcher, const float *rows, size_t count, bool exact,
                               float *scores, wfre_error *error)
{
    size_t entities = searcher->model->entity_count;
    if (searcher->top.sketch && !exact)
        return wfre_sketch_estimate(searcher->top.sketch, searcher->pool, rows, count, scores,
                                    error);
    for (size_t first = 0; first < entities; first += BLOCK) {
        size_t block = entities - first < BLOCK ? entities - first : BLOCK;
        CHECK(score_block(searcher, rows, count, first, block, scores + first, error));
    }
    negation n = {scores, count * entities};
    return wfre_pool_try(searcher->pool, (n.count + NEGATE - 1) / NEGATE, negate_chunk, &n, error);
}

/* ---- pairs -------------------------------------------------------------------------------- */

wfre_status wfre_search_score_pairs(wfre_searcher *searcher, const wfre_search_pairs *pairs,
                                    float *scores, wfre_error *error)
{
    size_t d = searcher->model->settings.dim;
    gathering g = {.searcher = searcher, .entities = pairs->entities, .count = pairs->entity_count};
    CHECK(gather(g, error));
    wfre_pairs job = {
        {searcher->rows, d}, {pairs->rows, d}, pairs->entity, pairs->row, pairs->count};
    CHECK(wfre_score_pairs(wfre_index_score(searcher->index), searcher->pool, &job, scores, NULL,
                           error));
    for (size_t i = 0; i < pairs->count; i++)
        scores[i] = -scores[i];
    return WFRE_OK;
}
