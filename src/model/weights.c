/* W_r = sum_j c_rj V_j as a matrix product over slices of output rows.
 *
 * Without dropout on the bases all outputs share one mixing matrix [U, K]; with it, every output
 * row has its own, masked one. Either way slice s covers the output rows of one mixing matrix:
 *
 *   forward    W[:, s, :]  = M_s     V[:, s, :]      [U, K] x [K, rows * d]
 *   backward   dV[:, s, :] = M_s'    dW[:, s, :]     [K, U] x [U, rows * d]
 *              dM_s        = dW[:, s, :] V[:, s, :]' [U, rows * d] x [rows * d, K]
 *
 * The way back makes dW for a band of output rows at a time, small enough to be still in the cache
 * when the last two products read it; the whole would take as much memory as all W_r. */
#include "model/weights.h"

#include <string.h>

#include "base/memory.h"
#include "base/pool.h"
#include "base/rng.h"

enum { BAND_FLOATS = 1 << 20 }; /* of dW held at a time, if that is a row or more */

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
    size_t mixing = (masked(job) ? d : 1) * used * job->model->settings.bases;
    if (weights->capacity < used || !make_room(&weights->mixing, &weights->mixing_capacity, mixing))
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
    for (size_t s = 0; s < job->model->settings.dim; s++) {
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
        const float *mixed = w->mixing + ((masked(task->job) ? i * used : 0) + u) * bases;
        double sum = 0;
        for (size_t j = 0; j < bases; j++)
            sum += (double)mixed[j] * (double)biases[j * d + i];
        out[i] = (float)sum;
    }
}

/* ---- products over slices ----------------------------------------------------------------- */

/* Output rows [first, first + rows). */
typedef struct band {
    const wfre_weights *weights;
    const wfre_weights_job *job;
    const wfre_layer *out; /* gradients; NULL on the way forward */
    size_t first, rows;
} band;

/* How many slices the band has. */
static size_t slices_of(const band *b)
{
    return masked(b->job) ? b->rows : 1;
}

/* One product for each of `count` things; `shape` fills the job of number s. */
static wfre_status run_products(const band *b, size_t count,
                                void (*shape)(wfre_gemm_job *gemm, const band *b, size_t s),
                                wfre_error *error)
{
    wfre_gemm_job *jobs = wfre_alloc(count, sizeof *jobs);
    if (!jobs)
        return wfre_fail_memory(error, "building relation matrices");
    for (size_t s = 0; s < count; s++)
        shape(&jobs[s], b, s);
    wfre_status status = wfre_gemm(b->job->linalg, b->job->precision, jobs, count, error);
    wfre_free(jobs);
    return status;
}

/* The mixing matrix of slice s of the band. */
static const float *mixing_of(const band *b, size_t s)
{
    size_t size = b->job->program->relation_count * b->job->model->settings.bases;
    return b->weights->mixing + (masked(b->job) ? (b->first + s) * size : 0);
}

static void shape_build(wfre_gemm_job *gemm, const band *b, size_t s)
{
    const wfre_model *model = b->job->model;
    size_t d = model->settings.dim, bases = model->settings.bases;
    *gemm = (wfre_gemm_job){
        .m = b->job->program->relation_count,
        .n = b->rows / slices_of(b) * d,
        .k = bases,
        .alpha = 1,
        .a = mixing_of(b, s),
        .lda = bases,
        .b = model->layers[b->job->layer].bases + (b->first + s) * d,
        .ldb = d * d,
        .c = b->weights->built + (b->first + s) * d,
        .ldc = d * d,
    };
}

/* dW_r = slope' input over all projections by relation number u. */
static void shape_matrix(wfre_gemm_job *gemm, const band *b, size_t u)
{
    const wfre_program *program = b->job->program;
    size_t d = b->job->model->settings.dim, use = program->use_begin[u];
    *gemm = (wfre_gemm_job){
        .transpose_a = true,
        .m = b->rows,
        .n = d,
        .k = program->use_begin[u + 1] - use,
        .alpha = 1,
        .a = b->weights->slope + use * d + b->first,
        .lda = d,
        .b = b->weights->input + use * d,
        .ldb = d,
        .c = free_matrices(b->job) ? b->out->bases + program->relations[u] * d * d
                                   : b->weights->gradient + u * b->rows * d,
        .ldc = d,
    };
}

static void shape_bases(wfre_gemm_job *gemm, const band *b, size_t s)
{
    size_t d = b->job->model->settings.dim, bases = b->job->model->settings.bases;
    *gemm = (wfre_gemm_job){
        .transpose_a = true,
        .m = bases,
        .n = b->rows / slices_of(b) * d,
        .k = b->job->program->relation_count,
        .alpha = 1,
        .a = mixing_of(b, s),
        .lda = bases,
        .b = b->weights->gradient + s * d,
        .ldb = b->rows * d,
        .c = b->out->bases + (b->first + s) * d,
        .ldc = d * d,
    };
}

static void shape_mixing(wfre_gemm_job *gemm, const band *b, size_t s)
{
    const wfre_model *model = b->job->model;
    size_t d = model->settings.dim, bases = model->settings.bases;
    size_t used = b->job->program->relation_count;
    *gemm = (wfre_gemm_job){
        .transpose_b = true,
        .m = used,
        .n = bases,
        .k = b->rows / slices_of(b) * d,
        .alpha = 1,
        .a = b->weights->gradient + s * d,
        .lda = b->rows * d,
        .b = model->layers[b->job->layer].bases + (b->first + s) * d,
        .ldb = d * d,
        .c = b->weights->partial + s * used * bases,
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
    band all = {weights, job, NULL, 0, job->model->settings.dim};
    return run_products(&all, slices_of(&all), shape_build, error);
}

/* ---- the way back ------------------------------------------------------------------------- */

typedef struct gather_task {
    const wfre_weights *weights;
    const wfre_weights_job *job;
    const float *slope, *input;
    const wfre_layer *out;
} gather_task;

/* Brings the projections by one relation together; db_r is the sum of their slopes. */
static void gather_relation(void *context, size_t u, unsigned worker)
{
    (void)worker;
    const gather_task *task = context;
    const wfre_program *program = task->job->program;
    const wfre_vector_table *vectors = wfre_linalg_vectors(task->job->linalg);
    size_t d = task->job->model->settings.dim;
    float *bias = free_matrices(task->job) ? task->out->biases + program->relations[u] * d
                                           : task->weights->gradient_bias + u * d;
    memset(bias, 0, d * sizeof *bias);
    for (size_t i = program->use_begin[u]; i < program->use_begin[u + 1]; i++) {
        const float *slope = task->slope + program->uses[i] * d;
        memcpy(task->weights->slope + i * d, slope, d * sizeof *slope);
        memcpy(task->weights->input + i * d, task->input + program->uses[i] * d, d * sizeof *slope);
        vectors->axpy(d, 1, slope, bias);
    }
}

/* dc_rj: adds the slices of the band, each through its mask. A masked coefficient is known by its
 * 0; one that is 0 by itself (which training never meets) gets none. */
static void add_coefficients(void *context, size_t u, unsigned worker)
{
    (void)worker;
    const band *b = context;
    size_t bases = b->job->model->settings.bases, used = b->job->program->relation_count;
    float *out = b->out->coefficients + b->job->program->relations[u] * bases;
    for (size_t s = 0; s < slices_of(b); s++) {
        const float *partial = b->weights->partial + (s * used + u) * bases;
        const float *mixing = mixing_of(b, s) + u * bases;
        for (size_t j = 0; j < bases; j++)
            out[j] += mixing[j] != 0 || !masked(b->job) ? partial[j] : 0;
    }
}

/* dc_rj: adds the share of the bias. */
static void finish_coefficients(void *context, size_t u, unsigned worker)
{
    (void)worker;
    const band *all = context;
    const wfre_model *model = all->job->model;
    size_t d = model->settings.dim, bases = model->settings.bases;
    const float *biases = model->layers[all->job->layer].biases;
    const float *bias_gradient = all->weights->gradient_bias + u * d;
    float *out = all->out->coefficients + all->job->program->relations[u] * bases;
    float scale = masked(all->job) ? 1 / (1 - all->job->noise->drop_basis) : 1;
    for (size_t j = 0; j < bases; j++) {
        double sum = (double)out[j];
        for (size_t i = 0; i < d; i++)
            if (!masked(all->job) || mixing_of(all, i)[u * bases + j] != 0)
                sum += (double)bias_gradient[i] * (double)biases[j * d + i];
        out[j] = (float)(sum * (double)scale);
    }
}

/* da_j[i] = sum_r M[i][r][j] db_r[i] */
static void bias_gradient(void *context, size_t j, unsigned worker)
{
    (void)worker;
    const band *all = context;
    size_t bases = all->job->model->settings.bases, used = all->job->program->relation_count;
    size_t d = all->job->model->settings.dim;
    for (size_t i = 0; i < d; i++) {
        const float *mixing = mixing_of(all, i);
        double sum = 0;
        for (size_t u = 0; u < used; u++)
            sum += (double)mixing[u * bases + j] * (double)all->weights->gradient_bias[u * d + i];
        all->out->biases[j * d + i] = (float)sum;
    }
}

static wfre_status reserve_gradients(wfre_weights *w, const band *b, wfre_error *error)
{
    const wfre_program *program = b->job->program;
    size_t d = b->job->model->settings.dim, bases = b->job->model->settings.bases;
    size_t used = program->relation_count, uses = program->projection_count;
    bool fits = make_room(&w->slope, &w->slope_capacity, uses * d) &&
                make_room(&w->input, &w->input_capacity, uses * d);
    if (fits && bases > 0)
        fits = make_room(&w->gradient, &w->gradient_capacity, used * b->rows * d) &&
               make_room(&w->gradient_bias, &w->gradient_bias_capacity, used * d) &&
               make_room(&w->partial, &w->partial_capacity, slices_of(b) * used * bases);
    return fits ? WFRE_OK
                : wfre_fail_memory(error, "relation gradients; lower --dim, --bases or --batch");
}

/* Relations that no query of the program uses have no gradient. */
static void clear_gradients(const wfre_weights_job *job, wfre_layer *out)
{
    size_t d = job->model->settings.dim, relations = job->model->relation_count;
    size_t bases = job->model->settings.bases;
    if (bases > 0) {
        memset(out->coefficients, 0, relations * bases * sizeof *out->coefficients);
        return;
    }
    memset(out->bases, 0, relations * d * d * sizeof *out->bases);
    memset(out->biases, 0, relations * d * sizeof *out->biases);
}

wfre_status wfre_weights_backward(wfre_weights *weights, const wfre_weights_job *job,
                                  const float *slope, const float *input, wfre_layer *out,
                                  wfre_error *error)
{
    size_t d = job->model->settings.dim, used = job->program->relation_count;
    band all = {weights, job, out, 0, d}, b = all;
    size_t most = used == 0 || free_matrices(job) ? d : BAND_FLOATS / (used * d);
    b.rows = most == 0 ? 1 : most < d ? most : d;
    wfre_status status;
    TRY(reserve_gradients(weights, &b, error));
    clear_gradients(job, out);
    gather_task gather = {weights, job, slope, input, out};
    wfre_pool_run(job->pool, used, gather_relation, &gather);
    for (size_t band_rows = b.rows; b.first < d; b.first += band_rows) {
        b.rows = d - b.first < band_rows ? d - b.first : band_rows;
        TRY(run_products(&b, used, shape_matrix, error));
        if (free_matrices(job))
            continue;
        TRY(run_products(&b, slices_of(&b), shape_bases, error));
        TRY(run_products(&b, slices_of(&b), shape_mixing, error));
        wfre_pool_run(job->pool, used, add_coefficients, &b);
    }
    if (!free_matrices(job)) {
        wfre_pool_run(job->pool, used, finish_coefficients, &all);
        wfre_pool_run(job->pool, job->model->settings.bases, bias_gradient, &all);
    }
cleanup:
    return status;
}

void wfre_weights_free(wfre_weights *weights)
{
    wfre_free(weights->built);
    wfre_free(weights->built_bias);
    wfre_free(weights->mixing);
    wfre_free(weights->gradient);
    wfre_free(weights->gradient_bias);
    wfre_free(weights->slope);
    wfre_free(weights->input);
    wfre_free(weights->partial);
    *weights = (wfre_weights){0};
}
