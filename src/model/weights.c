/* W_r = sum_j c_rj V_j as a matrix product over slices of output rows.
 *
 * Without dropout on the bases all outputs share one mixing matrix [U, K]; with it, every output
 * row has its own, masked one. Either way slice s covers the output rows of one mixing matrix:
 *
 *   forward    W[:, s, :]  = M_s     V[:, s, :]      [U, K] x [K, rows * d]
 *   backward   dV[:, s, :] = M_s'    dW[:, s, :]     [K, U] x [U, rows * d]
 *              dM_s        = dW[:, s, :] V[:, s, :]' [U, rows * d] x [rows * d, K]
 */
#include "model/weights.h"

#include <string.h>

#include "base/memory.h"
#include "base/pool.h"
#include "base/rng.h"

/* The way back to the coefficients sums over d*d elements; it is cut into at least this many
 * pieces, whose results are added in order, so that all threads have work. */
enum { PIECES = 16 };

static bool free_matrices(const wfre_weights_job *job)
{
    return job->model->settings.bases == 0;
}

static bool masked(const wfre_weights_job *job)
{
    return job->noise && job->noise->drop_basis > 0;
}

const float *wfre_weights_matrix(const wfre_weights *weights, const wfre_weights_job *job,
                                 uint32_t relation)
{
    size_t d = job->model->settings.dim;
    if (free_matrices(job))
        return job->model->layers[job->layer].bases + job->program->relations[relation] * d * d;
    return weights->built + relation * d * d;
}

const float *wfre_weights_bias(const wfre_weights *weights, const wfre_weights_job *job,
                               uint32_t relation)
{
    size_t d = job->model->settings.dim;
    if (free_matrices(job))
        return job->model->layers[job->layer].biases + job->program->relations[relation] * d;
    return weights->built_bias + relation * d;
}

/* A tensor with room for count elements; old contents are lost when it grows. */
static bool make_room(float **tensor, size_t *capacity, size_t count)
{
    if (count <= *capacity)
        return true;
    wfre_free(*tensor);
    *tensor = wfre_alloc_tensor(count, sizeof **tensor);
    *capacity = *tensor ? count : 0;
    return *tensor != NULL;
}

static wfre_status reserve(wfre_weights *weights, const wfre_weights_job *job, wfre_error *error)
{
    size_t d = job->model->settings.dim, used = job->program->relation_count;
    if (used > weights->capacity) {
        wfre_free(weights->built);
        wfre_free(weights->built_bias);
        bool build = !free_matrices(job);
        weights->built = wfre_alloc_tensor(build ? used * d * d : 1, sizeof(float));
        weights->built_bias = wfre_alloc_tensor(build ? used * d : 1, sizeof(float));
        weights->capacity = weights->built && weights->built_bias ? used : 0;
    }
    weights->slices = masked(job) ? d : 1;
    size_t mixing = free_matrices(job) ? 0 : weights->slices * used * job->model->settings.bases;
    if (weights->capacity < used || !make_room(&weights->mixing, &weights->mixing_capacity, mixing))
        return wfre_fail_memory(error, "building relation matrices; lower --dim or --batch");
    return WFRE_OK;
}

wfre_status wfre_weights_make_gradients(wfre_weights *weights, const wfre_weights_job *job,
                                        wfre_error *error)
{
    size_t d = job->model->settings.dim, used = job->program->relation_count;
    if (used <= weights->gradient_capacity)
        return WFRE_OK;
    wfre_free(weights->gradient);
    wfre_free(weights->gradient_bias);
    weights->gradient = wfre_alloc_tensor(used * d * d, sizeof(float));
    weights->gradient_bias = wfre_alloc_tensor(used * d, sizeof(float));
    weights->gradient_capacity = weights->gradient && weights->gradient_bias ? used : 0;
    if (weights->gradient_capacity < used)
        return wfre_fail_memory(error, "building relation matrices; lower --dim or --batch");
    return WFRE_OK;
}

/* ---- mixing coefficients ------------------------------------------------------------------ */

typedef struct mixing_task {
    const wfre_weights *weights;
    const wfre_weights_job *job;
} mixing_task;

/* One relation: its coefficients in every slice, each left out with probability drop_basis. */
static void mix_relation(void *context, size_t u, unsigned worker)
{
    (void)worker;
    const mixing_task *task = context;
    const wfre_weights_job *job = task->job;
    size_t bases = job->model->settings.bases, used = job->program->relation_count;
    uint32_t relation = job->program->relations[u];
    const float *row = job->model->layers[job->layer].coefficients + relation * bases;
    if (!masked(job)) {
        memcpy(task->weights->mixing + u * bases, row, bases * sizeof *row);
        return;
    }
    float rate = job->noise->drop_basis, scale = 1 / (1 - rate);
    wfre_rng rng = wfre_rng_keyed(job->noise->seed ^ 0x6261736573u, job->noise->step,
                                  (uint64_t)relation << 8 | job->layer);
    for (size_t s = 0; s < task->weights->slices; s++) {
        float *mixed = task->weights->mixing + (s * used + u) * bases;
        for (size_t j = 0; j < bases; j++)
            mixed[j] = wfre_rng_float(&rng) < rate ? 0 : row[j] * scale;
    }
}

/* b_r = sum_j M[i][r][j] a_j[i] */
static void mix_bias(void *context, size_t u, unsigned worker)
{
    (void)worker;
    const mixing_task *task = context;
    const wfre_weights *w = task->weights;
    const wfre_model *model = task->job->model;
    size_t bases = model->settings.bases, used = task->job->program->relation_count;
    size_t d = model->settings.dim;
    const float *biases = model->layers[task->job->layer].biases;
    float *out = w->built_bias + u * d;
    for (size_t i = 0; i < d; i++) {
        const float *mixed = w->mixing + ((w->slices > 1 ? i * used : 0) + u) * bases;
        double sum = 0;
        for (size_t j = 0; j < bases; j++)
            sum += (double)mixed[j] * (double)biases[j * d + i];
        out[i] = (float)sum;
    }
}

/* ---- products over slices ----------------------------------------------------------------- */

/* One product for each slice; `shape` fills the job of slice s. */
static wfre_status run_slices(const wfre_weights_job *job, size_t count,
                              void (*shape)(wfre_gemm_job *gemm, const void *context, size_t s),
                              const void *context, wfre_error *error)
{
    wfre_gemm_job *jobs = wfre_alloc(count, sizeof *jobs);
    if (!jobs)
        return wfre_fail_memory(error, "building relation matrices");
    for (size_t s = 0; s < count; s++)
        shape(&jobs[s], context, s);
    wfre_status status = wfre_gemm(job->linalg, job->precision, jobs, count, error);
    wfre_free(jobs);
    return status;
}

typedef struct slice_context {
    const wfre_weights *weights;
    const wfre_weights_job *job;
    float *out;    /* the bases' gradient */
    size_t pieces; /* of the coefficients' gradient */
} slice_context;

/* The output rows of piece s of `pieces`: [*first, *first + *rows). */
static void piece_rows(size_t d, size_t pieces, size_t s, size_t *first, size_t *rows)
{
    *first = d * s / pieces;
    *rows = d * (s + 1) / pieces - *first;
}

static void shape_build(wfre_gemm_job *gemm, const void *context, size_t s)
{
    const slice_context *c = context;
    const wfre_model *model = c->job->model;
    size_t d = model->settings.dim, bases = model->settings.bases;
    size_t used = c->job->program->relation_count, first, rows;
    piece_rows(d, c->weights->slices, s, &first, &rows);
    *gemm = (wfre_gemm_job){
        .m = used,
        .n = rows * d,
        .k = bases,
        .alpha = 1,
        .a = c->weights->mixing + s * used * bases,
        .lda = bases,
        .b = model->layers[c->job->layer].bases + first * d,
        .ldb = d * d,
        .c = c->weights->built + first * d,
        .ldc = d * d,
    };
}

static void shape_bases(wfre_gemm_job *gemm, const void *context, size_t s)
{
    const slice_context *c = context;
    size_t d = c->job->model->settings.dim, bases = c->job->model->settings.bases;
    size_t used = c->job->program->relation_count, first, rows;
    piece_rows(d, c->weights->slices, s, &first, &rows);
    *gemm = (wfre_gemm_job){
        .transpose_a = true,
        .m = bases,
        .n = rows * d,
        .k = used,
        .alpha = 1,
        .a = c->weights->mixing + s * used * bases,
        .lda = bases,
        .b = c->weights->gradient + first * d,
        .ldb = d * d,
        .c = c->out + first * d,
        .ldc = d * d,
    };
}

static void shape_mixing(wfre_gemm_job *gemm, const void *context, size_t s)
{
    const slice_context *c = context;
    const wfre_model *model = c->job->model;
    size_t d = model->settings.dim, bases = model->settings.bases;
    size_t used = c->job->program->relation_count, first, rows;
    piece_rows(d, c->pieces, s, &first, &rows);
    *gemm = (wfre_gemm_job){
        .transpose_b = true,
        .m = used,
        .n = bases,
        .k = rows * d,
        .alpha = 1,
        .a = c->weights->gradient + first * d,
        .lda = d * d,
        .b = model->layers[c->job->layer].bases + first * d,
        .ldb = d * d,
        .c = c->weights->partial + s * used * bases,
        .ldc = bases,
    };
}

wfre_status wfre_weights_build(wfre_weights *weights, const wfre_weights_job *job,
                               wfre_error *error)
{
    wfre_status status = reserve(weights, job, error);
    if (status != WFRE_OK || free_matrices(job))
        return status;
    mixing_task task = {weights, job};
    wfre_pool_run(job->pool, job->program->relation_count, mix_relation, &task);
    wfre_pool_run(job->pool, job->program->relation_count, mix_bias, &task);
    slice_context context = {weights, job, NULL, 0};
    return run_slices(job, weights->slices, shape_build, &context, error);
}

/* ---- the way back ------------------------------------------------------------------------- */

typedef struct coefficient_task {
    const wfre_weights *weights;
    const wfre_weights_job *job;
    const wfre_layer *out;
    size_t pieces;
} coefficient_task;

/* dc_rj: the pieces of dM added in order, through the mask, plus the share of the bias. A masked
 * coefficient is known by its 0; one that is 0 by itself (which training never meets) gets none. */
static void coefficient_gradient(void *context, size_t u, unsigned worker)
{
    (void)worker;
    const coefficient_task *task = context;
    const wfre_weights *w = task->weights;
    const wfre_model *model = task->job->model;
    size_t bases = model->settings.bases, used = task->job->program->relation_count;
    size_t d = model->settings.dim;
    uint32_t relation = task->job->program->relations[u];
    const float *biases = model->layers[task->job->layer].biases;
    const float *bias_gradient = w->gradient_bias + u * d;
    float *out = task->out->coefficients + relation * bases;
    float scale = masked(task->job) ? 1 / (1 - task->job->noise->drop_basis) : 1;
    for (size_t j = 0; j < bases; j++) {
        double sum = 0;
        for (size_t s = 0; s < task->pieces; s++) {
            bool kept = w->slices == 1 || w->mixing[(s * used + u) * bases + j] != 0;
            if (kept)
                sum += (double)w->partial[(s * used + u) * bases + j];
        }
        for (size_t i = 0; i < d; i++) {
            bool kept = w->slices == 1 || w->mixing[(i * used + u) * bases + j] != 0;
            if (kept)
                sum += (double)bias_gradient[i] * (double)biases[j * d + i];
        }
        out[j] = (float)(sum * (double)scale);
    }
}

/* da_j[i] = sum_r M[i][r][j] db_r[i] */
static void bias_gradient(void *context, size_t j, unsigned worker)
{
    (void)worker;
    const coefficient_task *task = context;
    const wfre_weights *w = task->weights;
    size_t bases = task->job->model->settings.bases, used = task->job->program->relation_count;
    size_t d = task->job->model->settings.dim;
    for (size_t i = 0; i < d; i++) {
        const float *mixing = w->mixing + (w->slices > 1 ? i * used * bases : 0);
        double sum = 0;
        for (size_t u = 0; u < used; u++)
            sum += (double)mixing[u * bases + j] * (double)w->gradient_bias[u * d + i];
        task->out->biases[j * d + i] = (float)sum;
    }
}

/* Free matrices: the gradients of the relations in use go to their places, the rest is zero. */
static void scatter_free(const wfre_weights *weights, const wfre_weights_job *job, wfre_layer *out)
{
    size_t d = job->model->settings.dim, relations = job->model->relation_count;
    memset(out->bases, 0, relations * d * d * sizeof *out->bases);
    memset(out->biases, 0, relations * d * sizeof *out->biases);
    for (size_t u = 0; u < job->program->relation_count; u++) {
        size_t relation = job->program->relations[u];
        memcpy(out->bases + relation * d * d, weights->gradient + u * d * d,
               d * d * sizeof *out->bases);
        memcpy(out->biases + relation * d, weights->gradient_bias + u * d, d * sizeof *out->biases);
    }
}

wfre_status wfre_weights_backward(wfre_weights *weights, const wfre_weights_job *job,
                                  wfre_layer *out, wfre_error *error)
{
    if (free_matrices(job)) {
        scatter_free(weights, job, out);
        return WFRE_OK;
    }
    wfre_status status;
    size_t d = job->model->settings.dim, bases = job->model->settings.bases;
    size_t used = job->program->relation_count;
    size_t pieces = weights->slices > 1 ? d : d < PIECES ? d : PIECES;
    if (!make_room(&weights->partial, &weights->partial_capacity, pieces * used * bases)) {
        status = wfre_fail_memory(error, "relation gradients; lower --dim or --bases");
        goto cleanup;
    }
    slice_context context = {weights, job, out->bases, pieces};
    TRY(run_slices(job, weights->slices, shape_bases, &context, error));
    TRY(run_slices(job, pieces, shape_mixing, &context, error));
    coefficient_task task = {weights, job, out, pieces};
    memset(out->coefficients, 0, job->model->relation_count * bases * sizeof(float));
    wfre_pool_run(job->pool, used, coefficient_gradient, &task);
    wfre_pool_run(job->pool, bases, bias_gradient, &task);
cleanup:
    return status;
}

void wfre_weights_free(wfre_weights *weights)
{
    wfre_free(weights->built);
    wfre_free(weights->built_bias);
    wfre_free(weights->gradient);
    wfre_free(weights->gradient_bias);
    wfre_free(weights->mixing);
    wfre_free(weights->partial);
    *weights = (wfre_weights){0};
}
