/* The pair way: chosen (entity, query) pairs by the model's own score, whatever it is.
 *
 * Queries are taken in groups small enough that the gradients of a group's pairs stay in the cache;
 * within a group, and from group to group, sums are made in the order of the pairs. */
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/pool.h"
#include "model/family.h"
#include "train/loss.h"
#include "wfr/kernels.h"

enum { GROUP_PAIRS = 4096 };

struct wfre_pair_engine {
    wfre_train_settings settings;
    wfre_pool *pool;
    const wfre_vector_table *vectors;
    wfre_score *score;

    /* Of the current group. A query's pairs stand together, branch by branch, positives first. */
    uint32_t *entity;       /* [pairs] candidate */
    uint32_t *branch;       /* [pairs] */
    float *distance;        /* [pairs]; then the loss's derivative by it */
    float *entity_side;     /* [pairs, d] dDist/dentity */
    float *query_side;      /* [pairs, d] dDist/dquery */
    uint32_t *by_entity;    /* [pairs] pair numbers sorted by candidate */
    uint32_t *entity_begin; /* [candidates + 1] */
    size_t pair_count;
    size_t capacity_pairs, capacity_candidates;
    double *losses; /* [queries] */
    size_t capacity_losses;
    float *logits; /* [threads, candidates of a query, twice; then its positives] */
    size_t logit_stride, capacity_logits;
    uint32_t *places; /* 0, 1, 2, ...: a query's positives are its first candidates */
    size_t capacity_places;
};

wfre_status wfre_pair_engine_create(const wfre_train_settings *settings, wfre_pool *pool,
                                    wfre_linalg *linalg, wfre_pair_engine **result,
                                    wfre_error *error)
{
    wfre_pair_engine *engine = wfre_alloc_zero(1, sizeof *engine);
    wfre_status status;
    if (!engine)
        return wfre_fail_memory(error, "preparing to train");
    engine->settings = *settings;
    engine->pool = pool;
    engine->vectors = wfre_linalg_vectors(linalg);
    TRY(wfre_family_of(&settings->model)->distance(&settings->model, &engine->score, error));
    wfre_score_iterate_always(engine->score);
    *result = engine;
    engine = NULL;
cleanup:
    wfre_pair_engine_free(engine);
    return status;
}

void wfre_pair_engine_free(wfre_pair_engine *engine)
{
    if (!engine)
        return;
    wfre_score_free(engine->score);
    void *blocks[] = {engine->entity,     engine->branch,    engine->distance,
                      engine->query_side, engine->by_entity, engine->entity_begin,
                      engine->losses,     engine->logits,    engine->entity_side,
                      engine->places};
    for (size_t i = 0; i < sizeof blocks / sizeof blocks[0]; i++)
        wfre_free(blocks[i]);
    wfre_free(engine);
}

/* ---- pairs of a group --------------------------------------------------------------------- */

static size_t query_candidates(const wfre_loss_batch *batch, size_t q)
{
    return batch->positive_begin[q + 1] - batch->positive_begin[q] + batch->negative_begin[q + 1] -
           batch->negative_begin[q];
}

static size_t query_pairs(const wfre_loss_batch *batch, size_t q)
{
    return query_candidates(batch, q) * (batch->branch_begin[q + 1] - batch->branch_begin[q]);
}

static void free_pairs(wfre_pair_engine *e)
{
    wfre_free(e->entity);
    wfre_free(e->branch);
    wfre_free(e->distance);
    wfre_free(e->by_entity);
    wfre_free(e->entity_side);
    wfre_free(e->query_side);
}

static bool reserve(wfre_pair_engine *e, const wfre_loss_batch *batch, size_t pairs, size_t widest)
{
    if (pairs > e->capacity_pairs) {
        e->capacity_pairs = 0;
        free_pairs(e);
        e->entity = wfre_alloc_tensor(pairs, sizeof *e->entity);
        e->branch = wfre_alloc_tensor(pairs, sizeof *e->branch);
        e->distance = wfre_alloc_tensor(pairs, sizeof *e->distance);
        e->by_entity = wfre_alloc_tensor(pairs, sizeof *e->by_entity);
        e->entity_side = wfre_alloc_tensor(pairs * batch->dim, sizeof *e->entity_side);
        e->query_side = wfre_alloc_tensor(pairs * batch->dim, sizeof *e->query_side);
        if (!e->entity || !e->branch || !e->distance || !e->by_entity || !e->entity_side ||
            !e->query_side)
            return false;
        e->capacity_pairs = pairs;
    }
    size_t old_places = e->capacity_places;
    if (!WFRE_RESERVE(&e->places, &e->capacity_places, widest))
        return false;
    for (size_t i = old_places; i < e->capacity_places; i++)
        e->places[i] = (uint32_t)i;
    e->logit_stride = 3 * widest;
    return WFRE_RESERVE(&e->entity_begin, &e->capacity_candidates, batch->candidates + 1) &&
           WFRE_RESERVE(&e->losses, &e->capacity_losses, batch->queries) &&
           WFRE_RESERVE(&e->logits, &e->capacity_logits,
                        e->logit_stride * wfre_pool_threads(e->pool));
}

static void list_pairs(wfre_pair_engine *e, const wfre_loss_batch *batch, size_t first, size_t last)
{
    size_t used = 0;
    for (size_t q = first; q < last; q++)
        for (uint32_t r = batch->branch_begin[q]; r < batch->branch_begin[q + 1]; r++) {
            for (uint32_t i = batch->positive_begin[q]; i < batch->positive_begin[q + 1]; i++) {
                e->entity[used] = batch->positives[i];
                e->branch[used++] = r;
            }
            for (uint32_t i = batch->negative_begin[q]; i < batch->negative_begin[q + 1]; i++) {
                e->entity[used] = batch->negatives[i];
                e->branch[used++] = r;
            }
        }
    e->pair_count = used;
    /* Counting sort by candidate keeps the order of the pairs. */
    memset(e->entity_begin, 0, (batch->candidates + 1) * sizeof *e->entity_begin);
    for (size_t k = 0; k < used; k++)
        e->entity_begin[e->entity[k] + 1]++;
    for (size_t c = 0; c < batch->candidates; c++)
        e->entity_begin[c + 1] += e->entity_begin[c];
    for (size_t k = used; k-- > 0;)
        e->by_entity[--e->entity_begin[e->entity[k] + 1]] = (uint32_t)k;
    /* Every begin has moved down to where its candidate starts: shift them back by one. */
    memmove(e->entity_begin, e->entity_begin + 1, batch->candidates * sizeof *e->entity_begin);
    e->entity_begin[batch->candidates] = (uint32_t)used;
}

/* ---- loss and gradients of a group -------------------------------------------------------- */

typedef struct group_task {
    wfre_pair_engine *engine;
    const wfre_loss_batch *batch;
    size_t first_query;
    const size_t *pair_begin; /* of each query of the group */
} group_task;

/* The logit is gamma - rho D for the nearest branch, which alone gets the gradient. */
static void query_gradient(void *context, size_t index, unsigned worker)
{
    const group_task *task = context;
    wfre_pair_engine *e = task->engine;
    const wfre_loss_batch *batch = task->batch;
    size_t q = task->first_query + index, d = batch->dim;
    size_t count = query_candidates(batch, q);
    size_t branches = batch->branch_begin[q + 1] - batch->branch_begin[q];
    size_t positives = batch->positive_begin[q + 1] - batch->positive_begin[q];
    float *distance = e->distance + task->pair_begin[index];
    float *logits = e->logits + worker * e->logit_stride;
    float *nearest = logits + count;
    for (size_t c = 0; c < count; c++) {
        nearest[c] = distance[c];
        for (size_t r = 1; r < branches; r++)
            nearest[c] =
                distance[r * count + c] < nearest[c] ? distance[r * count + c] : nearest[c];
        logits[c] = (float)(e->settings.model.gamma - e->settings.model.rho * (double)nearest[c]);
    }
    wfre_query_loss query = {e->settings.loss, count,     e->places,        positives,
                             e->places,        positives, batch->weights[q]};
    e->losses[q] = wfre_query_loss_gradient(&query, e->vectors, logits, nearest + count);
    for (size_t c = 0; c < count; c++) {
        bool given = false;
        for (size_t r = 0; r < branches; r++) {
            float *pair = &distance[r * count + c];
            bool takes = !given && *pair == nearest[c];
            *pair = takes ? (float)(-e->settings.model.rho * (double)logits[c]) : 0;
            given = given || takes;
        }
    }
    for (size_t r = 0; r < branches; r++) {
        float *out = batch->branch_gradient + (batch->branch_begin[q] + r) * d;
        memset(out, 0, d * sizeof *out);
        for (size_t c = 0; c < count; c++) {
            size_t pair = task->pair_begin[index] + r * count + c;
            e->vectors->axpy(d, e->distance[pair], e->query_side + pair * d, out);
        }
    }
}

enum { ENTITY_BLOCK = 64 };

static void entity_gradient(void *context, size_t chunk, unsigned worker)
{
    (void)worker;
    const group_task *task = context;
    const wfre_pair_engine *e = task->engine;
    const wfre_loss_batch *batch = task->batch;
    size_t first = chunk * ENTITY_BLOCK, last = first + ENTITY_BLOCK, d = batch->dim;
    for (size_t c = first; c < last && c < batch->candidates; c++)
        for (uint32_t i = e->entity_begin[c]; i < e->entity_begin[c + 1]; i++) {
            size_t pair = e->by_entity[i];
            e->vectors->axpy(d, e->distance[pair], e->entity_side + pair * d,
                             batch->table_gradient + c * d);
        }
}

static wfre_status run_group(wfre_pair_engine *e, const wfre_loss_batch *batch, size_t first,
                             size_t last, size_t *pair_begin, wfre_error *error)
{
    list_pairs(e, batch, first, last);
    wfre_pairs pairs = {
        .left = {batch->table, batch->dim},
        .right = {batch->branches, batch->dim},
        .left_index = e->entity,
        .right_index = e->branch,
        .count = e->pair_count,
    };
    wfre_gradients gradients = {e->entity_side, e->query_side, batch->dim};
    wfre_status status =
        wfre_score_pairs(e->score, e->pool, &pairs, e->distance, &gradients, error);
    if (status != WFRE_OK)
        return status;
    size_t used = 0;
    for (size_t q = first; q < last; q++) {
        pair_begin[q - first] = used;
        used += query_pairs(batch, q);
    }
    group_task task = {e, batch, first, pair_begin};
    CHECK(wfre_pool_try(e->pool, last - first, query_gradient, &task, error));
    return wfre_pool_try(e->pool, (batch->candidates + ENTITY_BLOCK - 1) / ENTITY_BLOCK,
                         entity_gradient, &task, error);
}

wfre_status wfre_loss_pairs(wfre_pair_engine *e, const wfre_loss_batch *batch, double *loss,
                            wfre_error *error)
{
    wfre_status status = WFRE_OK;
    size_t most = GROUP_PAIRS, widest = 1;
    for (size_t q = 0; q < batch->queries; q++) {
        most = query_pairs(batch, q) > most ? query_pairs(batch, q) : most;
        widest = query_candidates(batch, q) > widest ? query_candidates(batch, q) : widest;
    }
    size_t *pair_begin = wfre_alloc(batch->queries, sizeof *pair_begin);
    if (!pair_begin || !reserve(e, batch, most, widest)) {
        status = wfre_fail_memory(error, "scoring pairs; lower batch, negatives or hard");
        goto cleanup;
    }
    memset(batch->table_gradient, 0, batch->candidates * batch->dim * sizeof(float));
    for (size_t first = 0; first < batch->queries;) {
        size_t last = first, pairs = 0;
        while (last < batch->queries && (last == first || pairs + query_pairs(batch, last) <= most))
            pairs += query_pairs(batch, last++);
        TRY(run_group(e, batch, first, last, pair_begin, error));
        first = last;
    }
    *loss = 0;
    for (size_t q = 0; q < batch->queries; q++)
        *loss += e->losses[q];
cleanup:
    wfre_free(pair_begin);
    return status;
}
