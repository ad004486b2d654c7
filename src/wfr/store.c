/* Packing many histograms, from float32 or bfloat16 rows. */
#include "wfr/store.h"

#include "base/bf16.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/pool.h"

enum { ROWS_PER_CHUNK = 64 };

typedef struct pack_job {
    wfre_store *store;
    const void *data;
    wfre_element element;
    size_t stride;
    float *scratch; /* per worker: a widened row */
} pack_job;

static void widen_bfloat16(const uint16_t *from, float *to, size_t count)
{
    for (size_t i = 0; i < count; i++)
        to[i] = wfre_float_from_bf16(from[i]);
}

static void pack_rows(void *context, size_t chunk, unsigned worker)
{
    const pack_job *job = context;
    wfre_store *store = job->store;
    const wfre_score *score = store->score;
    size_t d = score->settings.dimension;
    float *scratch = job->scratch + worker * d;
    size_t end = (chunk + 1) * ROWS_PER_CHUNK;
    for (size_t i = chunk * ROWS_PER_CHUNK; i < end && i < store->count; i++) {
        const float *row;
        if (job->element == WFRE_BFLOAT16) {
            widen_bfloat16((const uint16_t *)job->data + i * job->stride, scratch, d);
            row = scratch;
        } else {
            row = (const float *)job->data + i * job->stride;
        }
        score->kernels.pack_left(score, row, store->sides + i * score->kernels.left_size);
    }
}

wfre_status wfre_store_create(const wfre_score *score, wfre_pool *pool, const void *data,
                              wfre_element element, size_t stride, size_t count,
                              wfre_store **result, wfre_error *error)
{
    wfre_status status = WFRE_OK;
    size_t d = score->settings.dimension;
    if (stride < d)
        return wfre_fail(error, WFRE_ERR_ARGUMENT, WFRE_NO_OFFSET,
                         "rows of %zu elements need a stride of at least as many", d);
    pack_job job = {.data = data, .element = element, .stride = stride};
    wfre_store *store = wfre_alloc_zero(1, sizeof *store);
    job.scratch = wfre_alloc(wfre_pool_threads(pool) * d, sizeof *job.scratch);
    if (!store || !job.scratch)
        TRY(wfre_fail_memory(error, "packing histograms"));
    store->score = score;
    store->count = count;
    store->sides = wfre_alloc_tensor(count, score->kernels.left_size);
    if (!store->sides)
        TRY(wfre_fail_memory(error, "packing histograms"));
    job.store = store;
    TRY(wfre_pool_try(pool, (count + ROWS_PER_CHUNK - 1) / ROWS_PER_CHUNK, pack_rows, &job, error));
    *result = store;
    store = NULL;
cleanup:
    wfre_free(job.scratch);
    wfre_store_free(store);
    return status;
}

void wfre_store_free(wfre_store *store)
{
    if (!store)
        return;
    wfre_free(store->sides);
    wfre_free(store);
}

size_t wfre_store_count(const wfre_store *store)
{
    return store->count;
}

size_t wfre_store_size(const wfre_store *store)
{
    return sizeof *store + store->count * store->score->kernels.left_size;
}
