/* The public functions that score: single pairs, batches of pairs, and one against many. Batches
 * are cut into fixed chunks for the pool; a chunk packs rows into its worker's scratch memory and
 * runs the kernels on them. Each distance is computed whole by one thread, so threads never matter.
 */
#include "base/error.h"
#include "base/memory.h"
#include "base/pool.h"
#include "base/scope.h"
#include "wfr/kernels.h"
#include "wfr/store.h"

/* ---- one pair ----------------------------------------------------------------------------- */

/* Written so that NaN fails too. */
static wfre_status check_rows(const wfre_score *score, const double *left, const double *right,
                              wfre_error *error)
{
    for (size_t i = 0; i < score->settings.dimension; i++) {
        bool good = left[i] >= 0 && left[i] <= 1;
        if (!good || !(right[i] >= 0 && right[i] <= 1))
            return wfre_fail(error, WFRE_ERR_NUMERIC, WFRE_NO_OFFSET,
                             "%s: element %zu is %g; all must be between 0 and 1",
                             good ? "right" : "left", i, good ? right[i] : left[i]);
    }
    return WFRE_OK;
}

/* Kernels that know only float: round, pack, score, widen. */
static wfre_status pair_in_float(const wfre_score *score, const double *left, const double *right,
                                 void *scratch, double *distance, double *left_gradient,
                                 double *right_gradient, wfre_error *error)
{
    const wfre_score_kernels *kernels = &score->kernels;
    size_t d = score->settings.dimension;
    float *rows = wfre_alloc(2 * d, sizeof *rows);
    if (!rows)
        return wfre_fail_memory(error, "scoring a pair");
    for (size_t i = 0; i < d; i++) {
        rows[i] = (float)left[i];
        rows[d + i] = (float)right[i];
    }
    void *left_side = scratch, *right_side = (char *)scratch + kernels->left_size;
    kernels->pack_left(score, rows, left_side);
    kernels->pack_right(score, rows + d, right_side);
    if (left_gradient || right_gradient) {
        *distance = kernels->gradient(score, left_side, right_side, rows, rows + d);
        for (size_t i = 0; left_gradient && i < d; i++)
            left_gradient[i] = rows[i];
        for (size_t i = 0; right_gradient && i < d; i++)
            right_gradient[i] = rows[d + i];
    } else {
        *distance = kernels->value(score, left_side, right_side);
    }
    wfre_free(rows);
    return WFRE_OK;
}

wfre_status wfre_score_pair(const wfre_score *score, const double *left, const double *right,
                            double *distance, double *left_gradient, double *right_gradient,
                            wfre_error *error)
{
    const wfre_score_kernels *kernels = &score->kernels;
    wfre_status status = check_rows(score, left, right, error);
    if (status != WFRE_OK)
        return status;
    void *scratch = wfre_alloc_tensor(kernels->left_size + kernels->right_size, 1);
    if (!scratch)
        return wfre_fail_memory(error, "scoring a pair");
    if (kernels->pair)
        *distance = kernels->pair(score, left, right, scratch, left_gradient, right_gradient);
    else
        status = pair_in_float(score, left, right, scratch, distance, left_gradient, right_gradient,
                               error);
    wfre_free(scratch);
    return status;
}

/* ---- pairs -------------------------------------------------------------------------------- */

enum { PAIRS_PER_CHUNK = 32 };

typedef struct pairs_job {
    const wfre_score *score;
    const wfre_pairs *pairs;
    const wfre_gradients *gradients; /* NULL: values only */
    float *distances;
    char *scratch; /* per worker: left side, right side, and a row nobody wants */
    size_t scratch_size;
} pairs_job;

static const float *row_of(const wfre_rows *rows, const uint32_t *index, size_t k)
{
    return rows->data + (index ? index[k] : k) * rows->stride;
}

static void run_pairs(void *context, size_t chunk, unsigned worker)
{
    const pairs_job *job = context;
    const wfre_score *score = job->score;
    const wfre_pairs *pairs = job->pairs;
    const wfre_score_kernels *kernels = &score->kernels;
    char *left = job->scratch + worker * job->scratch_size;
    char *right = left + kernels->left_size;
    float *unwanted = (float *)(void *)(right + kernels->right_size);
    const float *packed_left = NULL, *packed_right = NULL;
    size_t done = 0;
    size_t end = (chunk + 1) * PAIRS_PER_CHUNK;
    for (size_t k = chunk * PAIRS_PER_CHUNK; k < end && k < pairs->count; k++) {
        if (wfre_leave_after(&done, wfre_score_steps(score)))
            return;
        const float *left_row = row_of(&pairs->left, pairs->left_index, k);
        const float *right_row = row_of(&pairs->right, pairs->right_index, k);
        if (left_row != packed_left)
            kernels->pack_left(score, left_row, left);
        if (right_row != packed_right)
            kernels->pack_right(score, right_row, right);
        packed_left = left_row;
        packed_right = right_row;
        if (!job->gradients) {
            job->distances[k] = (float)kernels->value(score, left, right);
            continue;
        }
        size_t at = k * job->gradients->stride;
        float *left_gradient = job->gradients->left ? job->gradients->left + at : unwanted;
        float *right_gradient = job->gradients->right ? job->gradients->right + at : unwanted;
        job->distances[k] =
            (float)kernels->gradient(score, left, right, left_gradient, right_gradient);
    }
}

wfre_status wfre_score_pairs(const wfre_score *score, wfre_pool *pool, const wfre_pairs *pairs,
                             float *distances, const wfre_gradients *gradients, wfre_error *error)
{
    size_t d = score->settings.dimension;
    if (pairs->left.stride < d || pairs->right.stride < d || (gradients && gradients->stride < d))
        return wfre_fail(error, WFRE_ERR_ARGUMENT, WFRE_NO_OFFSET,
                         "rows of %zu elements need a stride of at least as many", d);
    pairs_job job = {score, pairs, gradients, distances, NULL, 0};
    job.scratch_size = score->kernels.left_size + score->kernels.right_size +
                       ((d * sizeof(float) + 63) & ~(size_t)63);
    job.scratch = wfre_alloc_tensor(wfre_pool_threads(pool), job.scratch_size);
    if (!job.scratch)
        return wfre_fail_memory(error, "scoring pairs");
    size_t chunks = (pairs->count + PAIRS_PER_CHUNK - 1) / PAIRS_PER_CHUNK;
    wfre_status status = wfre_pool_try(pool, chunks, run_pairs, &job, error);
    wfre_free(job.scratch);
    return status;
}

/* ---- one against many --------------------------------------------------------------------- */

/* Stored histograms of a chunk: few enough to stay in the second-level cache while every query of
 * the job passes over them. */
enum {
    STORED_PER_CHUNK = 16,
    QUERIES_PER_CHUNK = 16,
    QUERIES_AT_ONCE = 32 /* so many share the stored ones of a chunk, while these are near */
};

typedef struct rank_job {
    const wfre_score *score;
    const wfre_store *store;
    const wfre_rank_job *request;
    size_t selected;
    char *queries; /* packed right sides */
    float *distances;
} rank_job;

static void pack_queries(void *context, size_t chunk, unsigned worker)
{
    (void)worker;
    const rank_job *job = context;
    const wfre_score_kernels *kernels = &job->score->kernels;
    size_t end = (chunk + 1) * QUERIES_PER_CHUNK;
    for (size_t q = chunk * QUERIES_PER_CHUNK; q < end && q < job->request->query_count; q++)
        kernels->pack_right(job->score, row_of(&job->request->queries, NULL, q),
                            job->queries + q * kernels->right_size);
}

static size_t query_groups(size_t queries)
{
    return (queries + QUERIES_AT_ONCE - 1) / QUERIES_AT_ONCE;
}

static void run_rank(void *context, size_t chunk, unsigned worker)
{
    (void)worker;
    const rank_job *job = context;
    const wfre_rank_job *request = job->request;
    const wfre_score_kernels *kernels = &job->score->kernels;
    double (*score_pair)(const wfre_score *, const void *, const void *) =
        request->ranking == WFRE_RANK_EXTRAPOLATED && job->score->rank_iterations
            ? kernels->extrapolated
            : kernels->value;
    size_t groups = query_groups(request->query_count), done = 0;
    size_t begin = chunk / groups * STORED_PER_CHUNK, end = begin + STORED_PER_CHUNK;
    size_t first = chunk % groups * QUERIES_AT_ONCE, last = first + QUERIES_AT_ONCE;
    end = end < job->selected ? end : job->selected;
    for (size_t q = first; q < last && q < request->query_count; q++) {
        const char *query = job->queries + q * kernels->right_size;
        float *distances = job->distances + q * request->stride;
        for (size_t k = begin; k < end; k++) {
            if (wfre_leave_after(&done, wfre_score_steps(job->score)))
                return;
            size_t stored = request->selection ? request->selection[k] : k;
            const char *left = job->store->sides + stored * kernels->left_size;
            distances[k] = (float)score_pair(job->score, left, query);
        }
    }
}

static wfre_status check_rank(const wfre_score *score, const wfre_store *store,
                              const wfre_rank_job *request, size_t selected, wfre_error *error)
{
    if (store->score != score)
        return wfre_fail(error, WFRE_ERR_MISMATCH, WFRE_NO_OFFSET,
                         "the store was made by another score");
    if (request->queries.stride < score->settings.dimension || request->stride < selected)
        return wfre_fail(error, WFRE_ERR_ARGUMENT, WFRE_NO_OFFSET,
                         "a stride is shorter than the row it steps over");
    for (size_t k = 0; request->selection && k < selected; k++)
        if (request->selection[k] >= store->count)
            return wfre_fail(error, WFRE_ERR_NOT_FOUND, WFRE_NO_OFFSET,
                             "histogram %u selected of %zu stored", request->selection[k],
                             store->count);
    return WFRE_OK;
}

wfre_status wfre_score_rank(const wfre_score *score, wfre_pool *pool, const wfre_store *store,
                            const wfre_rank_job *request, float *distances, wfre_error *error)
{
    size_t selected = request->selection ? request->selected : store->count;
    wfre_status status = check_rank(score, store, request, selected, error);
    if (status != WFRE_OK)
        return status;
    rank_job job = {score, store, request, selected, NULL, distances};
    job.queries = wfre_alloc_tensor(request->query_count, score->kernels.right_size);
    if (!job.queries)
        return wfre_fail_memory(error, "ranking");
    size_t query_chunks = (request->query_count + QUERIES_PER_CHUNK - 1) / QUERIES_PER_CHUNK;
    size_t stored_chunks = (selected + STORED_PER_CHUNK - 1) / STORED_PER_CHUNK;
    status = wfre_pool_try(pool, query_chunks, pack_queries, &job, error);
    if (status == WFRE_OK)
        status = wfre_pool_try(pool, stored_chunks * query_groups(request->query_count), run_rank,
                               &job, error);
    wfre_free(job.queries);
    return status;
}

/* ---- transport ---------------------------------------------------------------------------- */

wfre_status wfre_score_transport(const wfre_score *score, const double *left, const double *right,
                                 double *plan, wfre_error *error)
{
    if (score->settings.kind != WFRE_SCORE_WFR)
        return wfre_fail(error, WFRE_ERR_UNSUPPORTED, WFRE_NO_OFFSET,
                         "score %s has no transport plan; use wfr",
                         wfre_score_kind_name(score->settings.kind));
    CHECK(check_rows(score, left, right, error));
    bool before = wfre_partial(true);
    wfre_reference_transport(score, left, right, plan);
    (void)wfre_partial(before);
    return wfre_check_stop(error);
}
