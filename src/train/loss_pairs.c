/* The pair way: chosen (entity, query) pairs by the model's own score, whatever it is.
 *
 * Queries are taken in groups small enough that the gradients of a group's pairs stay in the cache;
 * within a group, and from group to group, sums are made in the order of the pairs. */
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/pool.h"
#include "model/family.h"
#include "train/pair_list.h"
#include "wfr/kernels.h"

struct wfre_pair_engine {
    wfre_train_settings settings;
    wfre_pool *pool;
    const wfre_vector_table *vectors;
    wfre_score *score;

    /* Of the current group. A query's pairs stand together, branch by branch, positives first. */
    wfre_pair_list list;
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
    wfre_pair_list_free(&engine->list);
    wfre_free(engine->losses);
    wfre_free(engine->logits);
    wfre_free(engine->places);
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

static bool reserve(wfre_pair_engine *e, const wfre_pair_view *view, size_t pairs, size_t widest)
{
    size_t old_places = e->capacity_places;
    if (!WFRE_RESERVE(&e->places, &e->capacity_places, widest))
        return false;
    for (size_t i = old_places; i < e->capacity_places; i++)
        e->places[i] = (uint32_t)i;
    e->logit_stride = 3 * widest;
    return wfre_pair_list_reserve(&e->list, view, pairs) &&
           WFRE_RESERVE(&e->losses, &e->capacity_losses, view->batch->queries) &&
           WFRE_RESERVE(&e->logits, &e->capacity_logits,
                        e->logit_stride * wfre_pool_threads(e->pool));
}

static void list_pairs(wfre_pair_list *list, const wfre_loss_batch *batch, size_t first,
                       size_t last)
{
    size_t used = 0;
    for (size_t q = first; q < last; q++)
        for (uint32_t r = batch->branch_begin[q]; r < batch->branch_begin[q + 1]; r++) {
            for (uint32_t i = batch->positive_begin[q]; i < batch->positive_begin[q + 1]; i++) {
                list->entity[used] = batch->positives[i];
                list->branch[used++] = r;
            }
            for (uint32_t i = batch->negative_begin[q]; i < batch->negative_begin[q + 1]; i++) {
                list->entity[used] = batch->negatives[i];
                list->branch[used++] = r;
            }
        }
    list->count = used;
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
    float *distance = e->list.distance + task->pair_begin[index];
    float *logits = e->logits + worker * e->logit_stride;
    float *nearest = logits + count;
    for (size_t c = 0; c < count; c++) {
        nearest[c] = distance[c];
        for (size_t r = 1; r < branches; r++)
            nearest[c] =
                distance[r * count + c] < nearest[c] ? distance[r * count + c] : nearest[c];
        logits[c] = (float)(e->settings.model.gamma - e->settings.model.rho * (double)nearest[c]);
    }
    wfre_query_loss query = {.kind = e->settings.loss,
                             .count = count,
                             .positives = e->places,
                             .positive_count = positives,
                             .answers = e->places,
                             .answer_count = positives,
                             .weight = batch->weights[q]};
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
            e->vectors->axpy(d, e->list.distance[pair], e->list.query_side + pair * d, out);
        }
    }
}

static wfre_status run_group(wfre_pair_engine *e, const wfre_loss_batch *batch, size_t first,
                             size_t last, size_t *pair_begin, wfre_error *error)
{
    wfre_pair_view view = {batch, 0, batch->dim};
    list_pairs(&e->list, batch, first, last);
    CHECK(wfre_pair_list_score(&e->list, e->score, e->pool, &view, error));
    size_t used = 0;
    for (size_t q = first; q < last; q++) {
        pair_begin[q - first] = used;
        used += query_pairs(batch, q);
    }
    group_task task = {e, batch, first, pair_begin};
    CHECK(wfre_pool_try(e->pool, last - first, query_gradient, &task, error));
    return wfre_pair_list_add(&e->list, e->vectors, e->pool, &view, error);
}

wfre_status wfre_loss_pairs(wfre_pair_engine *e, const wfre_loss_batch *batch, double *loss,
                            wfre_error *error)
{
    wfre_status status = WFRE_OK;
    size_t most = WFRE_GROUP_PAIRS, widest = 1;
    for (size_t q = 0; q < batch->queries; q++) {
        most = query_pairs(batch, q) > most ? query_pairs(batch, q) : most;
        widest = query_candidates(batch, q) > widest ? query_candidates(batch, q) : widest;
    }
    size_t *pair_begin = wfre_alloc(batch->queries, sizeof *pair_begin);
    wfre_pair_view view = {batch, 0, batch->dim};
    if (!pair_begin || !reserve(e, &view, most, widest)) {
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
