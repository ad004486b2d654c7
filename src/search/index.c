/* What estimates need takes seconds and much memory, and who measures needs other things than who
 * asks: each is made under a lock when first wanted. */
#include "search/index.h"

#include <pthread.h>
#include <stdatomic.h>

#include "base/memory.h"
#include "base/pool.h"
#include "base/rng.h"
#include "search/filter.h"
#include "search/sketch.h"

enum {
    FEWEST_ENTITIES = 512, /* for which estimates pay */
    SKETCH_EXAMPLES = 32,  /* queries that estimates are fitted on */
    FILTER_EXAMPLES = 256
};

struct wfre_index {
    const wfre_model *model;
    wfre_matrices *matrices;
    wfre_score *score;
    pthread_mutex_t making;
    _Atomic bool has_top;
    wfre_sketch *sketch; /* these are NULL until they are made, or if there are none */
    wfre_store *store;
    wfre_filter *filter;
    wfre_index_ranks ranks[2]; /* exhaustively, filtered; without a store until it is made */
};

/* Somebody who embeds examples of queries, as long as it takes to prepare. */
typedef struct helper {
    wfre_linalg *linalg;
    wfre_embedder *embedder;
} helper;

static void dismiss(helper *h)
{
    wfre_embedder_free(h->embedder);
    wfre_linalg_free(h->linalg);
}

static wfre_status employ(helper *h, wfre_matrices *matrices, wfre_pool *pool, wfre_error *error)
{
    wfre_isa isa;
    CHECK(wfre_isa_select(&isa, error));
    CHECK(wfre_linalg_create(pool, isa, &h->linalg, error));
    return wfre_embedder_create(matrices, pool, h->linalg, &h->embedder, error);
}

/* All entities as the score reads them, and packed. */
static wfre_status make_store(wfre_index *index, const helper *h, wfre_pool *pool, float **entities,
                              wfre_error *error)
{
    const wfre_model *model = index->model;
    *entities = wfre_embed_entities(model, pool, h->linalg);
    if (!*entities)
        return wfre_fail_memory(error, "preparing to rank");
    if (index->store)
        return WFRE_OK;
    return wfre_store_create(index->score, pool, *entities, WFRE_FLOAT32, model->settings.dim,
                             model->entity_count, &index->store, error);
}

/* ---- the best few ------------------------------------------------------------------------- */

static wfre_status make_sketch(wfre_index *index, const helper *h, wfre_pool *pool,
                               wfre_error *error)
{
    wfre_embedding examples;
    if (!wfre_sketch_suits(&index->model->settings.score))
        return WFRE_OK;
    CHECK(wfre_sketch_open(index->model, index->score, &index->sketch, error));
    if (index->sketch)
        return WFRE_OK;
    CHECK(wfre_embed_examples(h->embedder, SKETCH_EXAMPLES, &examples, error));
    return wfre_sketch_create(index->model, index->score, &examples, pool, &index->sketch, error);
}

/* Makes the sketch, or the store of few entities; no other thread does so meanwhile. */
static wfre_status make_top(wfre_index *index, wfre_pool *pool, wfre_error *error)
{
    wfre_status status;
    helper h = {0};
    float *entities = NULL;
    TRY(employ(&h, index->matrices, pool, error));
    if (index->model->entity_count < FEWEST_ENTITIES)
        TRY(make_store(index, &h, pool, &entities, error));
    else
        TRY(make_sketch(index, &h, pool, error));
    atomic_store_explicit(&index->has_top, true, memory_order_release);
cleanup:
    dismiss(&h);
    wfre_free(entities);
    return status;
}

wfre_status wfre_index_top_of(wfre_index *index, wfre_pool *pool, wfre_index_top *top,
                              wfre_error *error)
{
    wfre_status status = WFRE_OK;
    if (!atomic_load_explicit(&index->has_top, memory_order_acquire)) {
        pthread_mutex_lock(&index->making);
        if (!atomic_load(&index->has_top))
            status = make_top(index, pool, error);
        pthread_mutex_unlock(&index->making);
    }
    bool few = index->model->entity_count < FEWEST_ENTITIES;
    if (status == WFRE_OK)
        *top = (wfre_index_top){index->sketch, few ? index->store : NULL};
    return status;
}

wfre_status wfre_index_create(const wfre_model *model, wfre_matrices *matrices, wfre_index **result,
                              wfre_error *error)
{
    wfre_status status;
    wfre_index *index = wfre_alloc_zero(1, sizeof *index);
    if (!index)
        return wfre_fail_memory(error, "preparing a search");
    pthread_mutex_init(&index->making, NULL);
    index->model = model;
    index->matrices = matrices;
    TRY(wfre_family_of(&model->settings)->distance(&model->settings, &index->score, error));
    *result = index;
    index = NULL;
cleanup:
    wfre_index_free(index);
    return status;
}

void wfre_index_free(wfre_index *index)
{
    if (!index)
        return;
    wfre_filter_free(index->filter);
    wfre_store_free(index->store);
    wfre_sketch_free(index->sketch);
    wfre_score_free(index->score);
    pthread_mutex_destroy(&index->making);
    wfre_free(index);
}

wfre_sketch_tables *wfre_index_take_sketch(wfre_index *index)
{
    return index->sketch ? wfre_sketch_take(index->sketch) : NULL;
}

const wfre_model *wfre_index_model(const wfre_index *index)
{
    return index->model;
}

const wfre_score *wfre_index_score(const wfre_index *index)
{
    return index->score;
}

/* ---- measuring ---------------------------------------------------------------------------- */

bool wfre_index_filters(const wfre_model *model)
{
    return model->entity_count >= FEWEST_ENTITIES && wfre_filter_suits(&model->settings.score);
}

static wfre_status make_filter(wfre_index *index, const float *entities, const helper *h,
                               wfre_pool *pool, wfre_error *error)
{
    wfre_embedding examples;
    uint32_t count = index->model->entity_count;
    CHECK(wfre_embed_examples(h->embedder, FILTER_EXAMPLES, &examples, error));
    wfre_filter_input input = {index->score, entities, count, examples.rows, examples.row_count};
    return wfre_filter_create(&input, pool, &index->filter, error);
}

/* One probe from each of as many equal stretches: distinct, and spread over all entities. */
static void choose_probes(wfre_index_ranks *ranks, uint32_t entities)
{
    wfre_rng rng = wfre_rng_fixed(WFRE_FOR_PROBES, 0);
    uint32_t stretch = entities / WFRE_PROBES;
    for (uint32_t i = 0; i < WFRE_PROBES; i++)
        ranks->probes[i] = i * stretch + wfre_rng_below(&rng, stretch);
}

/* Makes what is not there yet; no other thread does so meanwhile. */
static wfre_status make_ranks(wfre_index *index, bool filtered, wfre_pool *pool, wfre_error *error)
{
    wfre_status status;
    wfre_index_ranks *ranks = &index->ranks[filtered];
    helper h = {0};
    float *entities = NULL;
    filtered = filtered && wfre_index_filters(index->model);
    TRY(employ(&h, index->matrices, pool, error));
    if (!index->store || (filtered && !index->filter))
        TRY(make_store(index, &h, pool, &entities, error));
    if (filtered && !index->filter)
        TRY(make_filter(index, entities, &h, pool, error));
    if (filtered)
        choose_probes(ranks, index->model->entity_count);
    ranks->filter = filtered ? index->filter : NULL;
    ranks->store = index->store;
cleanup:
    dismiss(&h);
    wfre_free(entities);
    return status;
}

wfre_status wfre_index_ranks_of(wfre_index *index, bool filtered, wfre_pool *pool,
                                const wfre_index_ranks **ranks, wfre_error *error)
{
    wfre_status status = WFRE_OK;
    pthread_mutex_lock(&index->making);
    if (!index->ranks[filtered].store)
        status = make_ranks(index, filtered, pool, error);
    pthread_mutex_unlock(&index->making);
    *ranks = &index->ranks[filtered];
    return status;
}
