/* The matrix way: all queries of a batch against all candidates, by the local closed form or by the
 * surrogate of the score (wfr/surrogate.h), which lets mass move.
 *
 * The local closed form, with x = u + tau, y = v + tau, p = 1/(2 + eps) and b blocks:
 *
 *   D        = (sum x + sum y + eps d - (2 + eps) sum x^p y^p) / b
 *   dD/dx_i  = (1 - x_i^(p-1) y_i^p) / b
 *
 * so all logits of a batch are one product of powers, and all gradients two more. In the derivative
 * x is taken as at least WFRE_SLOPE_FLOOR: x^(p-1) has a pole at 0 that would otherwise rule the
 * update.
 *
 * A softmax does not ask how much mass a question has, and a model that may spend it freely learns
 * single facts by heart. So price * (rho / b) sum x is added to the loss of each question.
 *
 * With the surrogate, sum over blocks D = P . Q, where P and Q have `rank` numbers a block: the
 * same products, of as many numbers in place of the powers, and no offsets. */
#include "train/loss.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "train/loss_matrix.h"
#include "train/surrogate_rows.h"

enum { BLOCK_ROWS = 16, COLUMNS = 1024 }; /* of one task */

/* ---- logits and gradients ----------------------------------------------------------------- */

/* Whether some pairs are left to the score, whose gradients are there before the others. */
static bool has_exact(const wfre_matrix_engine *engine)
{
    return engine->score && engine->settings.exact > 0;
}

static size_t blocks_of(size_t rows)
{
    return (rows + BLOCK_ROWS - 1) / BLOCK_ROWS;
}

/* y = (x + tau)^p for one row; the row's sum of x + tau. */
static double power_row(const wfre_matrix_task *task, const float *x, float *y)
{
    size_t width = task->width;
    float floor = (float)task->engine->settings.model.score.floor;
    for (size_t i = 0; i < width; i++)
        y[i] = x[i] + floor;
    double sum = task->engine->vectors->sum(width, y);
    task->engine->vectors->power(width, task->power, y, y);
    return sum;
}

static size_t blocks_in(const wfre_matrix_task *task)
{
    return task->width / task->engine->settings.model.score.block;
}

/* A row by the surrogate. */
static void embed_row(const wfre_matrix_task *task, wfre_side side, const float *row,
                      unsigned worker, float *out)
{
    const wfre_matrix_engine *engine = task->engine;
    wfre_surrogate_embed(engine->surrogate, engine->vectors, side, blocks_in(task), row, out,
                         engine->rows + worker * engine->row_stride);
}

static void prepare_candidates(void *context, size_t chunk, unsigned worker)
{
    const wfre_matrix_task *task = context;
    const wfre_loss_batch *batch = task->batch;
    size_t first = chunk * BLOCK_ROWS, last = first + BLOCK_ROWS;
    for (size_t c = first; c < last && c < batch->candidates; c++) {
        const float *row = batch->table + c * batch->dim + task->column;
        float *out = task->engine->table_power + c * task->features;
        task->engine->table_offset[c] = 0;
        if (task->engine->surrogate)
            embed_row(task, WFRE_LEFT, row, worker, out);
        else
            task->engine->table_offset[c] =
                (float)(-(double)task->scale * power_row(task, row, out));
    }
}

static void prepare_branches(void *context, size_t chunk, unsigned worker)
{
    const wfre_matrix_task *task = context;
    const wfre_loss_batch *batch = task->batch;
    const wfre_model_settings *model = &task->engine->settings.model;
    size_t first = chunk * BLOCK_ROWS, last = first + BLOCK_ROWS;
    for (size_t r = first; r < last && r < batch->branch_count; r++) {
        const float *row = batch->branches + r * batch->dim + task->column;
        float *out = task->engine->branch_power + r * task->features;
        double whole = model->score.epsilon * (double)task->width, sum;
        if (task->engine->surrogate) {
            embed_row(task, WFRE_RIGHT, row, worker, out);
            sum = task->engine->vectors->sum(task->width, row) +
                  model->score.floor * (double)task->width;
            whole = 0;
        } else {
            sum = power_row(task, row, out);
            whole += sum;
        }
        task->engine->branch_mass[r] = (float)((double)task->scale * sum);
        task->engine->branch_offset[r] = (float)(model->gamma - (double)task->scale * whole);
    }
}

void wfre_matrix_best(const wfre_matrix_task *task, size_t q, float *best)
{
    const wfre_loss_batch *batch = task->batch;
    size_t first = batch->branch_begin[q], branches = batch->branch_begin[q + 1] - first;
    const float *logits = task->engine->logits + first * batch->candidates;
    memcpy(best, logits, batch->candidates * sizeof *best);
    for (size_t r = 1; r < branches; r++)
        for (size_t c = 0; c < batch->candidates; c++) {
            float logit = logits[r * batch->candidates + c];
            best[c] = logit > best[c] ? logit : best[c];
        }
}

/* Gives each candidate's gradient to the first branch that had its best logit. */
static void share_branches(const wfre_loss_batch *batch, float *logits, size_t branches,
                           const float *best, const float *gradient)
{
    for (size_t c = 0; c < batch->candidates; c++) {
        bool given = false;
        for (size_t r = 0; r < branches; r++) {
            float *logit = &logits[r * batch->candidates + c];
            bool takes = !given && *logit == best[c];
            *logit = takes ? gradient[c] : 0;
            given = given || takes;
        }
    }
}

void wfre_matrix_complete(const wfre_matrix_task *task, size_t q)
{
    const wfre_matrix_engine *engine = task->engine;
    const wfre_loss_batch *batch = task->batch;
    for (size_t r = batch->branch_begin[q]; r < batch->branch_begin[q + 1]; r++) {
        float *row = engine->logits + r * batch->candidates;
        float own = engine->branch_offset[r];
        for (size_t c = 0; c < batch->candidates; c++)
            row[c] += own + engine->table_offset[c];
    }
}

/* A question's mass over all its branches, in the units of logits. */
static double mass_of(const wfre_matrix_task *task, size_t first, size_t branches)
{
    double sum = 0;
    for (size_t r = first; r < first + branches; r++)
        sum += (double)task->engine->branch_mass[r];
    return sum;
}

void wfre_matrix_query(const wfre_matrix_task *task, size_t q, unsigned worker)
{
    const wfre_loss_batch *batch = task->batch;
    wfre_matrix_engine *engine = task->engine;
    size_t first = batch->branch_begin[q], branches = batch->branch_begin[q + 1] - first;
    float *logits = engine->logits + first * batch->candidates;
    float *scratch = engine->scratch + worker * engine->scratch_stride;
    const uint32_t *positives = batch->positives + batch->positive_begin[q];
    const uint32_t *answers = batch->answers + batch->answer_begin[q];
    wfre_query_loss query = {
        .kind = engine->settings.loss,
        .count = batch->candidates,
        .positives = positives,
        .positive_count = batch->positive_begin[q + 1] - batch->positive_begin[q],
        .answers = answers,
        .answer_count = batch->answer_begin[q + 1] - batch->answer_begin[q],
        .weight = batch->weights[q],
        .targets = batch->targets ? batch->targets + q * batch->candidates : NULL,
        .target_weight = batch->target_weight,
    };
    float *saved = scratch + 2 * batch->candidates;
    if (branches == 1) {
        engine->losses[q] = wfre_query_loss_gradient(&query, engine->vectors, logits, saved);
    } else {
        float *best = scratch, *gradient = scratch + batch->candidates;
        wfre_matrix_best(task, q, best);
        memcpy(gradient, best, batch->candidates * sizeof *gradient);
        engine->losses[q] = wfre_query_loss_gradient(&query, engine->vectors, gradient, saved);
        share_branches(batch, logits, branches, best, gradient);
    }
    double mass = (double)batch->prices[q] * (double)query.weight;
    if (mass > 0)
        engine->losses[q] += mass * mass_of(task, first, branches);
    for (size_t r = 0; r < branches; r++) {
        double sum = engine->surrogate
                         ? 0
                         : engine->vectors->sum(batch->candidates, logits + r * batch->candidates);
        engine->branch_sum[first + r] = (float)(sum - mass);
    }
}

static void query_gradient(void *context, size_t q, unsigned worker)
{
    const wfre_matrix_task *task = context;
    wfre_matrix_complete(task, q);
    wfre_matrix_query(task, q, worker);
}

/* Column sums of the gradient; a block of columns at a time, rows in order. */
static void column_sums(void *context, size_t chunk, unsigned worker)
{
    (void)worker;
    const wfre_matrix_task *task = context;
    const wfre_loss_batch *batch = task->batch;
    size_t first = chunk * COLUMNS, left = batch->candidates - first;
    size_t count = left < COLUMNS ? left : COLUMNS;
    float *sums = task->engine->table_sum + first;
    memset(sums, 0, count * sizeof *sums);
    for (size_t r = 0; r < batch->branch_count; r++)
        task->engine->vectors->axpy(count, 1, task->engine->logits + r * batch->candidates + first,
                                    sums);
}

/* out = -(rho / b) (sum - (x + tau)^(p-1) product), with x + tau kept away from 0. */
static void finish_row(const wfre_matrix_task *task, const float *x, float sum,
                       const float *product, float *out)
{
    size_t width = task->width;
    float floor = (float)task->engine->settings.model.score.floor;
    for (size_t i = 0; i < width; i++) {
        float value = x[i] + floor;
        out[i] = value > WFRE_SLOPE_FLOOR ? value : WFRE_SLOPE_FLOOR;
    }
    task->engine->vectors->power(width, task->power - 1, out, out);
    for (size_t i = 0; i < width; i++)
        out[i] = -task->scale * (sum - out[i] * product[i]);
}

/* The same by the surrogate: `product` is the loss's gradient by P or Q, but for its scale, which
 * it gets here. What exact pairs have left in `out` stays. */
static void finish_by_surrogate(const wfre_matrix_task *task, wfre_side side, const float *x,
                                float sum, float *product, unsigned worker, float *out)
{
    const wfre_matrix_engine *engine = task->engine;
    float *scratch = engine->rows + worker * engine->row_stride;
    float *row = has_exact(engine) ? scratch : out;
    scratch += has_exact(engine) ? task->width : 0;
    engine->vectors->scale(task->features, -task->scale, product);
    /* Beside exact pairs, what they follow; else what the loss that is measured comes down by. */
    wfre_slope kind = has_exact(engine) ? WFRE_SLOPE_ENVELOPE : WFRE_SLOPE_VALUE;
    wfre_surrogate_carry_back(engine->surrogate, engine->vectors, kind, side, blocks_in(task), x,
                              product, row, scratch);
    if (row != out)
        engine->vectors->axpy(task->width, 1, row, out);
    for (size_t i = 0; i < task->width && sum != 0; i++)
        out[i] -= task->scale * sum;
}

static void finish_branches(void *context, size_t chunk, unsigned worker)
{
    const wfre_matrix_task *task = context;
    const wfre_loss_batch *batch = task->batch;
    size_t first = chunk * BLOCK_ROWS, last = first + BLOCK_ROWS;
    for (size_t r = first; r < last && r < batch->branch_count; r++) {
        size_t at = r * batch->dim + task->column;
        float *product = task->engine->product + r * task->features;
        float sum = task->engine->branch_sum[r], *out = batch->branch_gradient + at;
        if (task->engine->surrogate)
            finish_by_surrogate(task, WFRE_RIGHT, batch->branches + at, sum, product, worker, out);
        else
            finish_row(task, batch->branches + at, sum, product, out);
    }
}

static void finish_candidates(void *context, size_t chunk, unsigned worker)
{
    const wfre_matrix_task *task = context;
    const wfre_loss_batch *batch = task->batch;
    float *products = task->engine->product + batch->branch_count * task->features;
    size_t first = chunk * BLOCK_ROWS, last = first + BLOCK_ROWS;
    for (size_t c = first; c < last && c < batch->candidates; c++) {
        size_t at = c * batch->dim + task->column;
        float *product = products + c * task->features, *out = batch->table_gradient + at;
        if (task->engine->surrogate)
            finish_by_surrogate(task, WFRE_LEFT, batch->table + at, 0, product, worker, out);
        else
            finish_row(task, batch->table + at, task->engine->table_sum[c], product, out);
    }
}

static wfre_status reserve(wfre_matrix_engine *e, const wfre_matrix_task *task, wfre_error *error)
{
    const wfre_loss_batch *batch = task->batch;
    size_t width = task->features, most = 0, threads = wfre_pool_threads(e->pool);
    for (size_t q = 0; q < batch->queries; q++) {
        size_t count = batch->positive_begin[q + 1] - batch->positive_begin[q];
        most = count > most ? count : most;
    }
    e->scratch_stride = 2 * batch->candidates + most;
    size_t scratch = e->scratch_stride * threads;
    e->row_stride = e->surrogate ? wfre_surrogate_scratch(e->surrogate, blocks_in(task)) : 0;
    e->row_stride += has_exact(e) ? task->width : 0;
    if (wfre_reserve_tensor(&e->branch_power, &e->capacity_branch, batch->branch_count * width) &&
        wfre_reserve_tensor(&e->table_power, &e->capacity_table, batch->candidates * width) &&
        wfre_reserve_tensor(&e->product, &e->capacity_product,
                            (batch->branch_count + batch->candidates) * width) &&
        wfre_reserve_tensor(&e->logits, &e->capacity_logits,
                            batch->branch_count * batch->candidates) &&
        wfre_reserve_tensor(&e->table_offset, &e->capacity_offset, batch->candidates) &&
        wfre_reserve_tensor(&e->branch_offset, &e->capacity_branch_offset, batch->branch_count) &&
        wfre_reserve_tensor(&e->branch_sum, &e->capacity_branch_sum, batch->branch_count) &&
        wfre_reserve_tensor(&e->table_sum, &e->capacity_table_sum, batch->candidates) &&
        wfre_reserve_tensor(&e->branch_mass, &e->capacity_mass, batch->branch_count) &&
        wfre_reserve_tensor(&e->rows, &e->capacity_rows, e->row_stride * threads) &&
        wfre_reserve_tensor(&e->scratch, &e->capacity_scratch, scratch) &&
        WFRE_RESERVE(&e->losses, &e->capacity_losses, batch->queries))
        return WFRE_OK;
    return wfre_fail_memory(error, "scoring a batch; lower batch or negatives");
}

/* The products of all powers of branches and candidates, which make the logits. */
static wfre_status score_product(const wfre_matrix_task *task, wfre_error *error)
{
    const wfre_loss_batch *batch = task->batch;
    wfre_matrix_engine *engine = task->engine;
    double eps = engine->settings.model.score.epsilon;
    wfre_gemm_job job = {
        .transpose_b = true,
        .m = batch->branch_count,
        .n = batch->candidates,
        .k = task->features,
        .alpha = engine->surrogate ? -task->scale : (float)((2 + eps) * (double)task->scale),
        .a = engine->branch_power,
        .lda = task->features,
        .b = engine->table_power,
        .ldb = task->features,
        .c = engine->logits,
        .ldc = batch->candidates,
    };
    return wfre_gemm(engine->linalg, engine->settings.precision, &job, 1, error);
}

static wfre_status gradient_products(const wfre_matrix_task *task, wfre_error *error)
{
    const wfre_loss_batch *batch = task->batch;
    wfre_matrix_engine *engine = task->engine;
    wfre_gemm_job jobs[2] = {
        {
            .m = batch->branch_count,
            .n = task->features,
            .k = batch->candidates,
            .alpha = 1,
            .a = engine->logits,
            .lda = batch->candidates,
            .b = engine->table_power,
            .ldb = task->features,
            .c = engine->product,
            .ldc = task->features,
        },
        {
            .transpose_a = true,
            .m = batch->candidates,
            .n = task->features,
            .k = batch->branch_count,
            .alpha = 1,
            .a = engine->logits,
            .lda = batch->candidates,
            .b = engine->branch_power,
            .ldb = task->features,
            .c = engine->product + batch->branch_count * task->features,
            .ldc = task->features,
        },
    };
    return wfre_gemm(engine->linalg, engine->settings.precision, jobs, 2, error);
}

wfre_matrix_task wfre_matrix_task_of(wfre_matrix_engine *engine, const wfre_loss_batch *batch,
                                     size_t column, size_t width)
{
    const wfre_model_settings *model = &engine->settings.model;
    return (wfre_matrix_task){
        .engine = engine,
        .batch = batch,
        .column = column,
        .width = width,
        .features =
            engine->surrogate ? width / model->score.block * engine->surrogate->rank : width,
        .power = (float)(1 / (2 + model->score.epsilon)),
        .scale = (float)(model->rho * model->score.block / (double)width),
    };
}

wfre_status wfre_matrix_logits(wfre_matrix_task *task, wfre_error *error)
{
    wfre_matrix_engine *engine = task->engine;
    const wfre_loss_batch *batch = task->batch;
    wfre_status status = reserve(engine, task, error);
    if (status != WFRE_OK)
        return status;
    CHECK(
        wfre_pool_try(engine->pool, blocks_of(batch->candidates), prepare_candidates, task, error));
    CHECK(
        wfre_pool_try(engine->pool, blocks_of(batch->branch_count), prepare_branches, task, error));
    return score_product(task, error);
}

/* Adds the loss of the task's bins. */
static wfre_status add_loss(wfre_matrix_task *task, double *loss, wfre_error *error)
{
    const wfre_loss_batch *batch = task->batch;
    wfre_pool *pool = task->engine->pool;
    CHECK(wfre_matrix_logits(task, error));
    if (has_exact(task->engine))
        CHECK(wfre_matrix_exact(task, error));
    else
        CHECK(wfre_pool_try(pool, batch->queries, query_gradient, task, error));
    if (!task->engine->surrogate)
        CHECK(wfre_pool_try(pool, (batch->candidates + COLUMNS - 1) / COLUMNS, column_sums, task,
                            error));
    CHECK(gradient_products(task, error));
    CHECK(wfre_pool_try(pool, blocks_of(batch->branch_count), finish_branches, task, error));
    CHECK(wfre_pool_try(pool, blocks_of(batch->candidates), finish_candidates, task, error));
    for (size_t q = 0; q < batch->queries; q++)
        *loss += task->engine->losses[q];
    return WFRE_OK;
}

wfre_status wfre_loss_matrix(wfre_matrix_engine *engine, const wfre_loss_batch *batch, double *loss,
                             wfre_error *error)
{
    uint32_t members = engine->settings.model.members;
    size_t width = batch->dim / members;
    wfre_status status = WFRE_OK;
    *loss = 0;
    for (uint32_t m = 0; m < members && status == WFRE_OK; m++) {
        wfre_matrix_task task = wfre_matrix_task_of(engine, batch, m * width, width);
        status = add_loss(&task, loss, error);
    }
    *loss /= members;
    return status;
}

/* ---- the engine --------------------------------------------------------------------------- */

wfre_status wfre_matrix_engine_create(const wfre_train_settings *settings, wfre_pool *pool,
                                      wfre_linalg *linalg, wfre_matrix_engine **result,
                                      wfre_error *error)
{
    wfre_matrix_engine *engine = wfre_alloc_zero(1, sizeof *engine);
    wfre_score_settings own = settings->model.score;
    wfre_status status = WFRE_OK;
    if (!engine)
        return wfre_fail_memory(error, "preparing to train");
    engine->settings = *settings;
    engine->pool = pool;
    engine->linalg = linalg;
    engine->vectors = wfre_linalg_vectors(linalg);
    own.dimension = settings->model.dim / settings->model.members;
    bool moves = own.radius > 1; /* else the surrogate is as good as exact */
    if (settings->guide == WFRE_GUIDE_SURROGATE && moves)
        TRY(wfre_score_create(&own, &engine->score, error));
    *result = engine;
    engine = NULL;
cleanup:
    wfre_matrix_engine_free(engine);
    return status;
}

void wfre_matrix_engine_use(wfre_matrix_engine *engine, const wfre_surrogate *surrogate)
{
    engine->surrogate = surrogate;
}

void wfre_matrix_engine_exact(wfre_matrix_engine *engine, uint32_t exact)
{
    engine->settings.exact = exact;
}

void wfre_matrix_engine_free(wfre_matrix_engine *engine)
{
    if (!engine)
        return;
    wfre_free(engine->branch_power);
    wfre_free(engine->table_power);
    wfre_free(engine->product);
    wfre_free(engine->logits);
    wfre_free(engine->table_offset);
    wfre_free(engine->branch_offset);
    wfre_free(engine->branch_mass);
    wfre_free(engine->rows);
    wfre_free(engine->branch_sum);
    wfre_free(engine->table_sum);
    wfre_free(engine->losses);
    wfre_free(engine->scratch);
    wfre_free(engine->hardest);
    wfre_free(engine->hard_begin);
    wfre_pair_list_free(&engine->exact);
    wfre_free(engine->exact_weight);
    wfre_score_free(engine->score);
    wfre_free(engine);
}
