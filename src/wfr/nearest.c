/* The stored histograms nearest to each query: all are scored, and a heap keeps the best. */
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/pool.h"
#include "wfr/store.h"

/* Distances of some queries at a time, about this many. */
enum { BATCH_DISTANCES = 1 << 22 };

typedef struct nearest_job {
    const float *distances; /* queries times selected */
    const uint32_t *selection;
    size_t selected;
    size_t k;
    uint32_t *ids; /* queries times k */
    float *values;
} nearest_job;

/* Whether (a, i) comes behind (b, j): farther, or as far with a higher number. NaN is farthest. */
static bool behind(float a, uint32_t i, float b, uint32_t j)
{
    if (a != b && !(a != a && b != b))
        return a != a || a > b;
    return i > j;
}

/* Moves the first of `count` down to its place, so that the farthest is the first. */
static void sink(uint32_t *ids, float *values, size_t count)
{
    for (size_t at = 0;;) {
        size_t child = 2 * at + 1;
        if (child >= count)
            return;
        if (child + 1 < count &&
            behind(values[child + 1], ids[child + 1], values[child], ids[child]))
            child++;
        if (!behind(values[child], ids[child], values[at], ids[at]))
            return;
        uint32_t id = ids[at];
        float value = values[at];
        ids[at] = ids[child];
        values[at] = values[child];
        ids[child] = id;
        values[child] = value;
        at = child;
    }
}

static void rise(uint32_t *ids, float *values, size_t at)
{
    uint32_t id = ids[at];
    float value = values[at];
    while (at > 0 && behind(value, id, values[(at - 1) / 2], ids[(at - 1) / 2])) {
        ids[at] = ids[(at - 1) / 2];
        values[at] = values[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    ids[at] = id;
    values[at] = value;
}

static void choose(void *context, size_t query, unsigned worker)
{
    (void)worker;
    const nearest_job *job = context;
    const float *distances = job->distances + query * job->selected;
    uint32_t *ids = job->ids + query * job->k;
    float *values = job->values + query * job->k;
    size_t count = 0;
    for (size_t i = 0; i < job->selected; i++) {
        uint32_t id = job->selection ? job->selection[i] : (uint32_t)i;
        if (count < job->k) {
            ids[count] = id;
            values[count] = distances[i];
            rise(ids, values, count++);
        } else if (behind(values[0], ids[0], distances[i], id)) {
            ids[0] = id;
            values[0] = distances[i];
            sink(ids, values, count);
        }
    }
    while (count > 1) { /* the farthest goes to the end, again and again */
        count--;
        uint32_t id = ids[count];
        float value = values[count];
        ids[count] = ids[0];
        values[count] = values[0];
        ids[0] = id;
        values[0] = value;
        sink(ids, values, count);
    }
}

wfre_status wfre_score_nearest(const wfre_score *score, wfre_pool *pool, const wfre_store *store,
                               const wfre_rank_job *request, size_t k, uint32_t *ids,
                               float *distances, wfre_error *error)
{
    GIVEN(score);
    GIVEN(store);
    GIVEN(request);
    size_t selected = request->selection ? request->selected : wfre_store_count(store);
    if (k > selected)
        return wfre_fail(error, WFRE_ERR_ARGUMENT, WFRE_NO_OFFSET,
                         "the nearest %zu of %zu histograms", k, selected);
    if (k == 0 || request->query_count == 0)
        return WFRE_OK;
    size_t batch = selected < BATCH_DISTANCES ? BATCH_DISTANCES / selected : 1;
    float *all = wfre_alloc(batch < request->query_count ? batch * selected
                                                         : request->query_count * selected,
                            sizeof *all);
    if (!all)
        return wfre_fail_memory(error, "looking for the nearest histograms");
    wfre_status status = WFRE_OK;
    for (size_t begin = 0; begin < request->query_count; begin += batch) {
        wfre_rank_job part = *request;
        part.queries.data += begin * request->queries.stride;
        part.query_count = request->query_count - begin;
        if (part.query_count > batch)
            part.query_count = batch;
        part.stride = selected;
        TRY(wfre_score_rank(score, pool, store, &part, all, error));
        nearest_job job = {all, request->selection, selected,
                           k,   ids + begin * k,    distances + begin * k};
        TRY(wfre_pool_try(pool, part.query_count, choose, &job, error));
    }
cleanup:
    wfre_free(all);
    return status;
}
