/* W_r = sum_j c_rj V_j as a matrix product over slices of output rows, for each member by itself.
 *
 * Without dropout on the bases all outputs share one mixing matrix [U, K]; with it, every output
 * row has its own, masked one. Either way slice s covers the output rows of one mixing matrix:
 *
 *   forward    W[:, s, :]  = C_s     V[:, s, :]      [U, K] x [K, rows * w]
 *   backward   dV[:, s, :] = C_s'    dW[:, s, :]     [K, U] x [U, rows * w]
 *              dC_s'       = V[:, s, :] dW[:, s, :]' [K, rows * w] x [rows * w, U]
 *
 * and the same for the biases b_r = sum_j c_rj a_j, where w becomes 1.
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

static wfre_layer layer_of(const wfre_weights_job *job)
{
    return wfre_layer_at(job->model->tensors + 1, job->layer);
}

/* Masks belong to W_r. */
static bool masked(const wfre_weights_job *job)
{
    return job->noise && job->noise->drop_basis > 0 && !job->noise->mask_rows;
}

/* What is not left out grows by this. */
static float growth(const wfre_weights_job *job)
{
    return job->noise ? 1 / (1 - job->noise->drop_basis) : 1;
}

/* Which of the [members, relations] matrices or biases it is. */
static size_t matrix_index(const wfre_weights_job *job, uint32_t relation, uint32_t member)
{
    if (free_matrices(job))
        return (size_t)member * job->model->relation_count + job->program->relations[relation];
    return (size_t)member * job->program->relation_count + relation;
}

const float *wfre_weights_matrix(const wfre_weights *weights, const wfre_weights_job *job,
                                 uint32_t relation, uint32_t member)
{
    size_t width = wfre_model_width(job->model);
    const float *all = free_matrices(job) ? layer_of(job).bases : weights->built;
    return all + matrix_index(job, relation, member) * width * width;
}

const float *wfre_weights_bias(const wfre_weights *weights, const wfre_weights_job *job,
                               uint32_t relation, uint32_t member)
{
    const float *all = free_matrices(job) ? layer_of(job).biases : weights->built_bias;
    return all + matrix_index(job, relation, member) * wfre_model_width(job->model);
}

/* The coefficients of a relation, over all members. */
static size_t coefficient_count(const wfre_weights_job *job)
{
    return (size_t)job->model->settings.members * job->model->settings.bases;
}

static wfre_status reserve(wfre_weights *weights, const wfre_weights_job *job, wfre_error *error)
{
    size_t d = job->model->settings.dim, width = wfre_model_width(job->model);
    size_t used = job->program->relation_count;
    size_t mixing = (masked(job) ? width : 1) * used * coefficient_count(job);
    if (free_matrices(job) ||
        (wfre_reserve_tensor(&weights->built, &weights->built_capacity, used * d * width) &&
         wfre_reserve_tensor(&weights->built_bias, &weights->built_bias_capacity, used * d) &&
         wfre_reserve_tensor(&weights->mixing, &weights->mixing_capacity, mixing)))
        return WFRE_OK;
    return wfre_fail_memory(error, "building relation matrices; lower `dim` or `batch`");
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
    size_t count = coefficient_count(job), used = job->program->relation_count;
    uint32_t relation = job->program->relations[u];
    const float *row = layer_of(job).coefficients + relation * count;
    float scale = growth(job);
    if (!masked(job)) {
        for (size_t j = 0; j < count; j++)
            task->weights->mixing[u * count + j] = row[j] * scale;
        return;
    }
    float rate = job->noise->drop_basis;
    wfre_coin mask = wfre_coin_make(wfre_rng_for(job->noise->seed, WFRE_FOR_BASES, job->noise->step,
                                                 (uint64_t)relation << 8 | job->layer),
                                    rate);
    for (size_t s = 0; s < wfre_model_width(job->model); s++) {
        float *mixed = task->weights->mixing + (s * used + u) * count;
        for (size_t j = 0; j < count; j++)
            mixed[j] = wfre_coin_throw(&mask) ? 0 : row[j] * scale;
    }
}

/* ---- products over slices ----------------------------------------------------------------- */

/* Output rows [first, first + rows) of a member's matrices, or of its biases. */
typedef struct band {
    const wfre_weights *weights;
    const wfre_weights_job *job;
    const wfre_layer *out; /* gradients; NULL on the way forward */
    uint32_t member;
    size_t first, rows;
    bool biases;
} band;

/* How many slices the band has, and how many rows each of them. */
static size_t slices_of(const band *b)
{
    return masked(b->job) ? b->rows : 1;
}

static size_t slice_rows(const band *b)
{
    return masked(b->job) ? 1 : b->rows;
}

/* The numbers of an output row: w weights or one bias. */
static size_t width_of(const band *b)
{
    return b->biases ? 1 : wfre_model_width(b->job->model);
}

/* Where slice s begins in a tensor [members, count, w, width]. */
static size_t slice_offset(const band *b, size_t count, size_t s)
{
    size_t rows = b->member * count * wfre_model_width(b->job->model);
    return (rows + b->first + s) * width_of(b);
}

/* The mixing matrix of slice s of the band, its rows coefficient_count apart. */
static const float *mixing_of(const band *b, size_t s)
{
    size_t size = b->job->program->relation_count * coefficient_count(b->job);
    return b->weights->mixing + (masked(b->job) ? (b->first + s) * size : 0) +
           b->member * b->job->model->settings.bases;
}

/* What the bases have for slice s, [K, w, width] in all. */
static const float *bases_of(const band *b, size_t s)
{
    wfre_layer layer = layer_of(b->job);
    return (b->biases ? layer.biases : layer.bases) +
           slice_offset(b, b->job->model->settings.bases, s);
}

/* The gradients of slice s, [U, rows, width]; those of the biases are there for all rows. */
static const float *gradient_of(const band *b, size_t s, size_t *stride)
{
    *stride = b->biases ? wfre_model_width(b->job->model) : b->rows * width_of(b);
    return b->biases
               ? b->weights->gradient_bias + slice_offset(b, b->job->program->relation_count, s)
               : b->weights->gradient + s * width_of(b);
}

static void shape_build(wfre_gemm_job *gemm, const band *b, size_t s)
{
    size_t bases = b->job->model->settings.bases, width = width_of(b);
    size_t stride = wfre_model_width(b->job->model) * width;
    float *built = b->biases ? b->weights->built_bias : b->weights->built;
    *gemm = (wfre_gemm_job){
        .m = b->job->program->relation_count,
        .n = slice_rows(b) * width,
        .k = bases,
        .alpha = 1,
        .a = mixing_of(b, s),
        .lda = coefficient_count(b->job),
        .b = bases_of(b, s),
        .ldb = stride,
        .c = built + slice_offset(b, b->job->program->relation_count, s),
        .ldc = stride,
    };
}

static void shape_bases(wfre_gemm_job *gemm, const band *b, size_t s)
{
    size_t bases = b->job->model->settings.bases, width = width_of(b), stride;
    const float *gradient = gradient_of(b, s, &stride);
    float *out = b->biases ? b->out->biases : b->out->bases;
    *gemm = (wfre_gemm_job){
        .transpose_a = true,
        .m = bases,
        .n = slice_rows(b) * width,
        .k = b->job->program->relation_count,
        .alpha = 1,
        .a = mixing_of(b, s),
        .lda = coefficient_count(b->job),
        .b = gradient,
        .ldb = stride,
        .c = out + slice_offset(b, bases, s),
        .ldc = wfre_model_width(b->job->model) * width,
    };
}

/* The matrices' share of dC_s' comes first, the biases' is added. With the few bases as rows it is
 * made of dot products of rows as they lie, where panels of all dW would cost more than they save.
 */
static void shape_mixing(wfre_gemm_job *gemm, const band *b, size_t s)
{
    size_t bases = b->job->model->settings.bases, width = width_of(b), stride;
    size_t used = b->job->program->relation_count;
    const float *gradient = gradient_of(b, s, &stride);
    *gemm = (wfre_gemm_job){
        .transpose_b = true,
        .m = bases,
        .n = used,
        .k = slice_rows(b) * width,
        .alpha = 1,
        .a = bases_of(b, s),
        .lda = wfre_model_width(b->job->model) * width,
        .b = gradient,
        .ldb = stride,
        .beta = b->biases ? 1 : 0,
        .c = b->weights->partial + s * used * bases,
        .ldc = used,
    };
}

/* dW_r = slope' input over all projections by relation number u. */
static void shape_matrix(wfre_gemm_job *gemm, const band *b, size_t u)
{
    const wfre_program *program = b->job->program;
    size_t d = b->job->model->settings.dim, width = wfre_model_width(b->job->model);
    size_t use = program->use_begin[u], column = b->member * width;
    *gemm = (wfre_gemm_job){
        .transpose_a = true,
        .m = b->rows,
        .n = width,
        .k = program->use_begin[u + 1] - use,
        .alpha = 1,
        .a = b->weights->slope + use * d + column + b->first,
        .lda = d,
        .b = b->weights->input + use * d + column,
        .ldb = d,
        .c = free_matrices(b->job)
                 ? b->out->bases + matrix_index(b->job, (uint32_t)u, b->member) * width * width
                 : b->weights->gradient + u * b->rows * width,
        .ldc = width,
    };
}

/* Biases cost nothing, and rounding what dot products read costs more than it saves. */
static wfre_precision precision_of(const band *b, bool mixing)
{
    return b->biases || mixing ? WFRE_FP32 : b->job->precision;
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
    wfre_precision precision = precision_of(b, shape == shape_mixing);
    wfre_status status = wfre_gemm(b->job->linalg, precision, jobs, count, error);
    wfre_free(jobs);
    return status;
}

wfre_status wfre_weights_build(wfre_weights *weights, const wfre_weights_job *job,
                               wfre_error *error)
{
    CHECK(reserve(weights, job, error));
    if (free_matrices(job))
        return WFRE_OK;
    mixing_task task = {weights, job};
    wfre_pool_run(job->pool, job->program->relation_count, mix_relation, &task);
    for (uint32_t m = 0; m < job->model->settings.members; m++) {
        band all = {
            .weights = weights, .job = job, .member = m, .rows = wfre_model_width(job->model)};
        CHECK(run_products(&all, slices_of(&all), shape_build, error));
        all.biases = true;
        CHECK(run_products(&all, slices_of(&all), shape_build, error));
    }
    return WFRE_OK;
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
    size_t d = task->job->model->settings.dim, width = wfre_model_width(task->job->model);
    size_t begin = program->use_begin[u], end = program->use_begin[u + 1];
    for (size_t i = begin; i < end; i++) {
        size_t from = program->uses[i] * d;
        memcpy(task->weights->slope + i * d, task->slope + from, d * sizeof(float));
        memcpy(task->weights->input + i * d, task->input + from, d * sizeof(float));
    }
    float *biases = free_matrices(task->job) ? task->out->biases : task->weights->gradient_bias;
    for (uint32_t m = 0; m < task->job->model->settings.members; m++) {
        float *bias = biases + matrix_index(task->job, (uint32_t)u, m) * width;
        memset(bias, 0, width * sizeof *bias);
        for (size_t i = begin; i < end; i++)
            vectors->axpy(width, 1, task->weights->slope + i * d + m * width, bias);
    }
}

/* dc_rj: adds the slices of the band, each through its mask. A masked coefficient is known by its
 * 0; one that is 0 by itself (which training never meets) gets none. */
static void add_coefficients(void *context, size_t u, unsigned worker)
{
    (void)worker;
    const band *b = context;
    size_t bases = b->job->model->settings.bases, used = b->job->program->relation_count;
    size_t count = coefficient_count(b->job);
    float *out = b->out->coefficients + b->job->program->relations[u] * count + b->member * bases;
    float scale = growth(b->job);
    for (size_t s = 0; s < slices_of(b); s++) {
        const float *partial = b->weights->partial + s * used * bases + u;
        const float *mixing = mixing_of(b, s) + u * count;
        for (size_t j = 0; j < bases; j++)
            out[j] += mixing[j] != 0 || !masked(b->job) ? scale * partial[j * used] : 0;
    }
}

/* From the gradients of a band of W_r and of all b_r to those of the bases and coefficients. */
static wfre_status spread_band(band *b, wfre_error *error)
{
    for (int biases = 0; biases < 2; biases++) {
        b->biases = biases != 0;
        CHECK(run_products(b, slices_of(b), shape_bases, error));
        CHECK(run_products(b, slices_of(b), shape_mixing, error));
    }
    b->biases = false;
    wfre_pool_run(b->job->pool, b->job->program->relation_count, add_coefficients, b);
    return WFRE_OK;
}

static wfre_status reserve_gradients(wfre_weights *w, const band *b, wfre_error *error)
{
    const wfre_program *program = b->job->program;
    size_t d = b->job->model->settings.dim, bases = b->job->model->settings.bases;
    size_t width = wfre_model_width(b->job->model);
    size_t used = program->relation_count, uses = program->projection_count;
    bool fits = wfre_reserve_tensor(&w->slope, &w->slope_capacity, uses * d) &&
                wfre_reserve_tensor(&w->input, &w->input_capacity, uses * d);
    if (fits && bases > 0)
        fits = wfre_reserve_tensor(&w->gradient, &w->gradient_capacity, used * b->rows * width) &&
               wfre_reserve_tensor(&w->gradient_bias, &w->gradient_bias_capacity, used * d) &&
               wfre_reserve_tensor(&w->partial, &w->partial_capacity, slices_of(b) * used * bases);
    return fits ? WFRE_OK
                : wfre_fail_memory(error,
                                   "summing the gradients of relations; lower dim, bases or batch");
}

/* Relations that no query of the program uses have no gradient. */
static void clear_gradients(const wfre_weights_job *job, wfre_layer *out)
{
    size_t d = job->model->settings.dim, relations = job->model->relation_count;
    if (!free_matrices(job)) {
        memset(out->coefficients, 0, relations * coefficient_count(job) * sizeof(float));
        return;
    }
    memset(out->bases, 0, relations * d * wfre_model_width(job->model) * sizeof *out->bases);
    memset(out->biases, 0, relations * d * sizeof *out->biases);
}

wfre_status wfre_weights_backward(wfre_weights *weights, const wfre_weights_job *job,
                                  const float *slope, const float *input, wfre_layer *out,
                                  wfre_error *error)
{
    size_t width = wfre_model_width(job->model), used = job->program->relation_count;
    size_t most = used == 0 || free_matrices(job) ? width : BAND_FLOATS / (used * width);
    size_t rows = most == 0 ? 1 : most < width ? most : width;
    band b = {.weights = weights, .job = job, .out = out, .rows = rows};
    CHECK(reserve_gradients(weights, &b, error));
    clear_gradients(job, out);
    gather_task gather = {weights, job, slope, input, out};
    wfre_pool_run(job->pool, used, gather_relation, &gather);
    for (; b.member < job->model->settings.members; b.member++)
        for (b.first = 0; b.first < width; b.first += rows) {
            b.rows = width - b.first < rows ? width - b.first : rows;
            CHECK(run_products(&b, used, shape_matrix, error));
            if (!free_matrices(job))
                CHECK(spread_band(&b, error));
        }
    return WFRE_OK;
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
