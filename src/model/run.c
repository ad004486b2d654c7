/* Forward and backward over the levels of a program. Each direction of an operator stands next to
 * the other. Rows are independent within a level, so the pool works on blocks of rows; a row has
 * one parent at most, so gradients are written without conflict. */
#include "model/run.h"

#include <string.h>

#include "base/memory.h"
#include "base/pool.h"
#include "base/rng.h"
#include "base/scope.h"
#include "model/weights.h"

enum { BLOCK_ROWS = 8 }; /* rows a pool task handles at a time */

static const float NORM_EPSILON = 1e-5f;

/* What one layer keeps of the forward pass for the backward one; P projections in the program. */
typedef struct layer_state {
    float *input;  /* [P, d] after dropout; the output of the layer before it */
    float *linear; /* [P, d] W m + b, before the layer norm */
    float *mean;   /* [members, P] */
    float *rstd;   /* [members, P] */
    float *slope;  /* [P, d] gradient of `linear` */
    wfre_weights weights;
} layer_state;

struct wfre_run {
    const wfre_model *model;
    wfre_pool *pool;
    wfre_linalg *linalg;
    const wfre_vector_table *vectors;
    wfre_precision precision;
    const wfre_program *program;
    wfre_noise noise;
    bool noisy;
    size_t row_capacity, projection_capacity, job_capacity;
    float *rows;      /* [rows, d] */
    float *gradients; /* [rows, d] */
    float *slope_in;  /* [P, d] gradient of a layer's input */
    layer_state layers[WFRE_MAXIMUM_LAYERS];
    wfre_gemm_job *jobs;
    float *prefix; /* [threads, 2, children, d] scratch of operators with many arguments */
    size_t prefix_capacity;
};

static const float *row_at(const wfre_run *run, uint32_t row)
{
    return run->rows + (size_t)row * run->model->settings.dim;
}

const float *wfre_run_row(const wfre_run *run, uint32_t row)
{
    return row_at(run, row);
}

float *wfre_run_gradient(wfre_run *run, uint32_t row)
{
    return run->gradients + (size_t)row * run->model->settings.dim;
}

static uint32_t only_child(const wfre_program *program, uint32_t row)
{
    return program->children[program->child_begin[row]];
}

/* ---- random masks ------------------------------------------------------------------------- */

/* The mask of a row, the same whenever it is asked for again. */
static wfre_coin open_mask(const wfre_run *run, wfre_draw what, float rate, uint32_t row)
{
    return wfre_coin_make(wfre_rng_for(run->noise.seed, what, run->noise.step, row), rate);
}

/* ---- tasks over rows ---------------------------------------------------------------------- */

typedef struct row_task {
    wfre_run *run;
    uint32_t begin, end; /* rows */
    uint32_t offset;     /* projections before `begin` */
    void (*each)(wfre_run *run, uint32_t row, uint32_t projection, unsigned worker);
} row_task;

static void run_block(void *context, size_t chunk, unsigned worker)
{
    const row_task *task = context;
    uint32_t first = task->begin + (uint32_t)chunk * BLOCK_ROWS;
    uint32_t last = task->end - first < BLOCK_ROWS ? task->end : first + BLOCK_ROWS;
    for (uint32_t row = first; row < last; row++)
        task->each(task->run, row, task->offset + row - task->begin, worker);
}

static void for_rows(wfre_run *run, uint32_t begin, uint32_t end, uint32_t offset,
                     void (*each)(wfre_run *, uint32_t, uint32_t, unsigned))
{
    row_task task = {run, begin, end, offset, each};
    wfre_pool_run(run->pool, (end - begin + BLOCK_ROWS - 1) / BLOCK_ROWS, run_block, &task);
}

/* ---- entities ----------------------------------------------------------------------------- */

/* m = clamp(e, 0, 1) */
static void entity_forward(wfre_run *run, uint32_t row, uint32_t projection, unsigned worker)
{
    (void)projection, (void)worker;
    size_t d = run->model->settings.dim;
    run->vectors->clamp01(d, wfre_model_row(run->model, run->program->id[row]),
                          run->rows + (size_t)row * d);
}

/* No gradient where the entity lies outside [0, 1]. */
static void entity_backward(wfre_run *run, uint32_t row, uint32_t projection, unsigned worker)
{
    (void)projection, (void)worker;
    size_t d = run->model->settings.dim;
    const float *entity = wfre_model_row(run->model, run->program->id[row]);
    float *gradient = wfre_run_gradient(run, row);
    for (size_t i = 0; i < d; i++)
        gradient[i] = entity[i] < 0 || entity[i] > 1 ? 0 : gradient[i];
}

/* ---- negation, intersection, union -------------------------------------------------------- */

static wfre_combine combine_kind(const wfre_run *run, uint32_t row)
{
    static const wfre_combine kinds[][2] = {
        [WFRE_TNORM_GODEL] = {WFRE_COMBINE_MIN, WFRE_COMBINE_MAX},
        [WFRE_TNORM_PRODUCT] = {WFRE_COMBINE_PRODUCT, WFRE_COMBINE_SUM},
        [WFRE_TNORM_LUKASIEWICZ] = {WFRE_COMBINE_BOUNDED_AND, WFRE_COMBINE_BOUNDED_OR},
    };
    return kinds[run->model->settings.tnorm][run->program->op[row] == WFRE_OP_UNION];
}

/* z = 1 - x, where x is first set to 1/2 with probability drop_negation. */
static void negate_forward(wfre_run *run, uint32_t row)
{
    size_t d = run->model->settings.dim;
    const float *x = row_at(run, only_child(run->program, row));
    float *z = run->rows + (size_t)row * d;
    if (run->noise.drop_negation == 0) {
        run->vectors->complement(d, x, z);
        return;
    }
    wfre_coin mask = open_mask(run, WFRE_FOR_NEGATION, run->noise.drop_negation, row);
    for (size_t i = 0; i < d; i++)
        z[i] = wfre_coin_throw(&mask) ? 0.5f : 1 - x[i];
}

static void negate_backward(wfre_run *run, uint32_t row)
{
    size_t d = run->model->settings.dim;
    const float *dz = wfre_run_gradient(run, row);
    float *dx = wfre_run_gradient(run, only_child(run->program, row));
    if (run->noise.drop_negation == 0) {
        run->vectors->axpy(d, -1, dz, dx);
        return;
    }
    wfre_coin mask = open_mask(run, WFRE_FOR_NEGATION, run->noise.drop_negation, row);
    for (size_t i = 0; i < d; i++)
        dx[i] -= wfre_coin_throw(&mask) ? 0 : dz[i];
}

static void combine_forward(wfre_run *run, uint32_t row, uint32_t projection, unsigned worker)
{
    (void)projection, (void)worker;
    const wfre_program *program = run->program;
    if (program->op[row] == WFRE_OP_NEGATE) {
        negate_forward(run, row);
        return;
    }
    size_t d = run->model->settings.dim;
    const uint32_t *child = program->children + program->child_begin[row];
    uint32_t count = program->child_begin[row + 1] - program->child_begin[row];
    float *z = run->rows + (size_t)row * d;
    const float *left = row_at(run, child[0]);
    for (uint32_t i = 1; i < count; i++) {
        run->vectors->combine(combine_kind(run, row), d, left, row_at(run, child[i]), z);
        left = z;
    }
}

/* With x1 ... xn combined from the left, the partial results are needed again on the way back. */
static void combine_backward(wfre_run *run, uint32_t row, uint32_t projection, unsigned worker)
{
    (void)projection;
    const wfre_program *program = run->program;
    if (program->op[row] == WFRE_OP_NEGATE) {
        negate_backward(run, row);
        return;
    }
    size_t d = run->model->settings.dim;
    wfre_combine kind = combine_kind(run, row);
    const uint32_t *child = program->children + program->child_begin[row];
    uint32_t count = program->child_begin[row + 1] - program->child_begin[row];
    const float *dz = wfre_run_gradient(run, row);
    if (count == 2) {
        run->vectors->combine_backward(kind, d, row_at(run, child[0]), row_at(run, child[1]), dz,
                                       wfre_run_gradient(run, child[0]),
                                       wfre_run_gradient(run, child[1]));
        return;
    }
    float *partial = run->prefix + worker * run->prefix_capacity; /* partial[i]: of x0 .. xi */
    float *slope = partial + run->prefix_capacity / 2;
    memcpy(partial, row_at(run, child[0]), d * sizeof *partial);
    for (uint32_t i = 1; i < count; i++)
        run->vectors->combine(kind, d, partial + (i - 1) * d, row_at(run, child[i]),
                              partial + i * d);
    memset(slope, 0, count * d * sizeof *slope);
    memcpy(slope + (count - 1) * d, dz, d * sizeof *slope);
    for (uint32_t i = count - 1; i > 0; i--)
        run->vectors->combine_backward(kind, d, partial + (i - 1) * d, row_at(run, child[i]),
                                       slope + i * d, slope + (i - 1) * d,
                                       wfre_run_gradient(run, child[i]));
    run->vectors->axpy(d, 1, slope, wfre_run_gradient(run, child[0]));
}

/* ---- projection --------------------------------------------------------------------------- */

/* Copies a projection's argument to where its matrix product wants it, with dropout. */
static void gather_forward(wfre_run *run, uint32_t row, uint32_t projection, unsigned worker)
{
    (void)worker;
    size_t d = run->model->settings.dim;
    const float *x = row_at(run, only_child(run->program, row));
    float *y = run->layers[0].input + (size_t)projection * d;
    if (run->noise.drop_input == 0) {
        memcpy(y, x, d * sizeof *y);
        return;
    }
    float scale = 1 / (1 - run->noise.drop_input);
    wfre_coin mask = open_mask(run, WFRE_FOR_INPUTS, run->noise.drop_input, row);
    for (size_t i = 0; i < d; i++)
        y[i] = wfre_coin_throw(&mask) ? 0 : x[i] * scale;
}

static void gather_backward(wfre_run *run, uint32_t row, uint32_t projection, unsigned worker)
{
    (void)worker;
    size_t d = run->model->settings.dim;
    const float *dy = run->slope_in + (size_t)projection * d;
    float *dx = wfre_run_gradient(run, only_child(run->program, row));
    if (run->noise.drop_input == 0) {
        run->vectors->axpy(d, 1, dy, dx);
        return;
    }
    float scale = 1 / (1 - run->noise.drop_input);
    wfre_coin mask = open_mask(run, WFRE_FOR_INPUTS, run->noise.drop_input, row);
    for (size_t i = 0; i < d; i++)
        dx[i] += wfre_coin_throw(&mask) ? 0 : dy[i] * scale;
}

static wfre_weights_job weights_job(const wfre_run *run, uint32_t layer)
{
    return (wfre_weights_job){
        run->model,  layer,     run->program,  run->noisy ? &run->noise : NULL,
        run->linalg, run->pool, run->precision};
}

/* The layer norm of one member of a layer over the projections of a level. */
static wfre_norm_job norm_job(wfre_run *run, const wfre_program_level *level, uint32_t l,
                              uint32_t member)
{
    size_t d = run->model->settings.dim, width = wfre_model_width(run->model);
    size_t first = level->projection_offset, column = member * width;
    size_t statistics = (size_t)member * run->program->projection_count + first;
    layer_state *state = &run->layers[l];
    bool last = l + 1 == run->model->settings.layers;
    float *y = last ? run->rows + level->project_begin * d : run->layers[l + 1].input + first * d;
    return (wfre_norm_job){
        .rows = level->project_end - level->project_begin,
        .width = width,
        .activation = last ? WFRE_SIGMOID : WFRE_RELU,
        .epsilon = NORM_EPSILON,
        .gain = run->model->layers[l].gain + column,
        .bias = run->model->layers[l].shift + column,
        .x = state->linear + first * d + column,
        .ldx = d,
        .y = y + column,
        .ldy = d,
        .mean = state->mean + statistics,
        .rstd = state->rstd + statistics,
    };
}

/* The product of the rows of one group with its relation's matrix of one member; on the way
 * forward the bias is put where it is added to. */
static wfre_gemm_job linear_product(wfre_run *run, const wfre_program_group *group, size_t first,
                                    uint32_t l, uint32_t member, bool back)
{
    size_t d = run->model->settings.dim, width = wfre_model_width(run->model);
    size_t begin = first * d + member * width, rows = group->end - group->begin;
    layer_state *state = &run->layers[l];
    wfre_weights_job weights = weights_job(run, l);
    const float *bias = wfre_weights_bias(&state->weights, &weights, group->relation, member);
    for (size_t i = 0; i < rows && !back; i++)
        memcpy(state->linear + begin + i * d, bias, width * sizeof *bias);
    return (wfre_gemm_job){
        .transpose_b = !back,
        .m = rows,
        .n = width,
        .k = width,
        .alpha = 1,
        .a = (back ? state->slope : state->input) + begin,
        .lda = d,
        .b = wfre_weights_matrix(&state->weights, &weights, group->relation, member),
        .ldb = width,
        .beta = back ? 0 : 1,
        .c = (back ? run->slope_in : state->linear) + begin,
        .ldc = d,
    };
}

/* For every group of rows with one relation: linear = input W' + b, or back, slope_in = slope W. */
static wfre_status linear_products(wfre_run *run, const wfre_program_level *level, uint32_t l,
                                   bool back, wfre_error *error)
{
    size_t count = 0;
    for (uint32_t g = level->group_begin; g < level->group_end; g++) {
        const wfre_program_group *group = &run->program->groups[g];
        size_t first = level->projection_offset + group->begin - level->project_begin;
        for (uint32_t m = 0; m < run->model->settings.members; m++)
            run->jobs[count++] = linear_product(run, group, first, l, m, back);
    }
    return wfre_gemm(run->linalg, run->precision, run->jobs, count, error);
}

static wfre_status project_forward(wfre_run *run, const wfre_program_level *level,
                                   wfre_error *error)
{
    for_rows(run, level->project_begin, level->project_end, level->projection_offset,
             gather_forward);
    for (uint32_t l = 0; l < run->model->settings.layers; l++) {
        wfre_status status = linear_products(run, level, l, false, error);
        if (status != WFRE_OK)
            return status;
        for (uint32_t m = 0; m < run->model->settings.members; m++) {
            wfre_norm_job norm = norm_job(run, level, l, m);
            wfre_norm_forward(run->linalg, &norm);
        }
    }
    return WFRE_OK;
}

static wfre_status norm_backward(wfre_run *run, const wfre_program_level *level, uint32_t l,
                                 uint32_t member, wfre_layer *gradient, wfre_error *error)
{
    size_t d = run->model->settings.dim, first = level->projection_offset;
    size_t column = member * wfre_model_width(run->model);
    bool last = l + 1 == run->model->settings.layers;
    wfre_norm_job norm = norm_job(run, level, l, member);
    norm.dy =
        (last ? wfre_run_gradient(run, level->project_begin) : run->slope_in + first * d) + column;
    norm.lddy = d;
    norm.dx = run->layers[l].slope + first * d + column;
    norm.lddx = d;
    norm.dgain = gradient->gain + column;
    norm.dbias = gradient->shift + column;
    return wfre_norm_backward(run->linalg, &norm, error);
}

static wfre_status project_backward(wfre_run *run, const wfre_program_level *level,
                                    wfre_layer *layers, wfre_error *error)
{
    for (uint32_t l = run->model->settings.layers; l-- > 0;) {
        for (uint32_t m = 0; m < run->model->settings.members; m++)
            CHECK(norm_backward(run, level, l, m, &layers[l], error));
        CHECK(linear_products(run, level, l, true, error));
    }
    for_rows(run, level->project_begin, level->project_end, level->projection_offset,
             gather_backward);
    return WFRE_OK;
}

/* ---- memory ------------------------------------------------------------------------------- */

static bool replace_tensor(float **tensor, size_t count)
{
    wfre_free(*tensor);
    *tensor = wfre_alloc_tensor(count, sizeof **tensor);
    return *tensor != NULL;
}

static bool reserve_projections(wfre_run *run, const wfre_program *program)
{
    size_t d = run->model->settings.dim, count = program->projection_count;
    size_t members = run->model->settings.members;
    bool fits = true;
    if (count > run->projection_capacity) {
        run->projection_capacity = 0;
        fits = replace_tensor(&run->slope_in, count * d);
        for (uint32_t l = 0; l < run->model->settings.layers && fits; l++) {
            layer_state *state = &run->layers[l];
            fits = replace_tensor(&state->input, count * d) &&
                   replace_tensor(&state->linear, count * d) &&
                   replace_tensor(&state->slope, count * d) &&
                   replace_tensor(&state->mean, members * count) &&
                   replace_tensor(&state->rstd, members * count);
        }
        run->projection_capacity = fits ? count : 0;
    }
    return fits && WFRE_RESERVE(&run->jobs, &run->job_capacity,
                                ((size_t)program->group_count + 1) * members);
}

static wfre_status reserve(wfre_run *run, const wfre_program *program, wfre_error *error)
{
    size_t d = run->model->settings.dim;
    size_t widest = 0;
    for (uint32_t row = 0; row < program->row_count; row++) {
        size_t children = program->child_begin[row + 1] - program->child_begin[row];
        widest = children > widest ? children : widest;
    }
    bool fits = true;
    if (program->row_count > run->row_capacity) {
        run->row_capacity = 0;
        fits = replace_tensor(&run->rows, program->row_count * d) &&
               replace_tensor(&run->gradients, program->row_count * d);
        run->row_capacity = fits ? program->row_count : 0;
    }
    if (fits && widest * 2 * d > run->prefix_capacity) {
        run->prefix_capacity = 0;
        fits = replace_tensor(&run->prefix, wfre_pool_threads(run->pool) * widest * 2 * d);
        run->prefix_capacity = fits ? widest * 2 * d : 0;
    }
    if (!fits || !reserve_projections(run, program))
        return wfre_fail_memory(error, "running a batch; lower batch or dim");
    return WFRE_OK;
}

wfre_status wfre_run_create(const wfre_model *model, wfre_pool *pool, wfre_linalg *linalg,
                            wfre_precision precision, wfre_run **result, wfre_error *error)
{
    wfre_run *run = wfre_alloc_zero(1, sizeof *run);
    if (!run)
        return wfre_fail_memory(error, "preparing to run a model");
    run->model = model;
    run->pool = pool;
    run->linalg = linalg;
    run->vectors = wfre_linalg_vectors(linalg);
    run->precision = precision;
    *result = run;
    return WFRE_OK;
}

void wfre_run_free(wfre_run *run)
{
    if (!run)
        return;
    for (int l = 0; l < WFRE_MAXIMUM_LAYERS; l++) {
        layer_state *state = &run->layers[l];
        wfre_free(state->input);
        wfre_free(state->linear);
        wfre_free(state->mean);
        wfre_free(state->rstd);
        wfre_free(state->slope);
        wfre_weights_free(&state->weights);
    }
    wfre_free(run->rows);
    wfre_free(run->gradients);
    wfre_free(run->slope_in);
    wfre_free(run->jobs);
    wfre_free(run->prefix);
    wfre_free(run);
}

/* ---- the two passes ----------------------------------------------------------------------- */

wfre_status wfre_run_forward(wfre_run *run, const wfre_program *program, const wfre_noise *noise,
                             wfre_error *error)
{
    CHECK(reserve(run, program, error));
    run->program = program;
    run->noise = noise ? *noise : (wfre_noise){0};
    run->noisy = noise != NULL;
    for (uint32_t l = 0; l < run->model->settings.layers; l++) {
        wfre_weights_job job = weights_job(run, l);
        CHECK(wfre_weights_build(&run->layers[l].weights, &job, error));
    }
    for_rows(run, 0, program->leaf_count, 0, entity_forward);
    for (uint32_t i = 0; i < program->level_count; i++) {
        const wfre_program_level *level = &program->levels[i];
        CHECK(wfre_check_stop(error));
        CHECK(project_forward(run, level, error));
        for_rows(run, level->combine_begin, level->combine_end, 0, combine_forward);
    }
    memset(run->gradients, 0,
           (size_t)program->row_count * run->model->settings.dim * sizeof(float));
    return WFRE_OK;
}

wfre_status wfre_run_backward(wfre_run *run, wfre_layer *layers, wfre_error *error)
{
    const wfre_program *program = run->program;
    size_t d = run->model->settings.dim;
    for (uint32_t l = 0; l < run->model->settings.layers; l++) {
        memset(layers[l].gain, 0, d * sizeof(float));
        memset(layers[l].shift, 0, d * sizeof(float));
    }
    for (uint32_t i = program->level_count; i-- > 0;) {
        const wfre_program_level *level = &program->levels[i];
        for_rows(run, level->combine_begin, level->combine_end, 0, combine_backward);
        CHECK(project_backward(run, level, layers, error));
    }
    for_rows(run, 0, program->leaf_count, 0, entity_backward);
    for (uint32_t l = 0; l < run->model->settings.layers; l++) {
        layer_state *state = &run->layers[l];
        wfre_weights_job job = weights_job(run, l);
        CHECK(wfre_weights_backward(&state->weights, &job, state->slope, state->input, &layers[l],
                                    error));
    }
    return WFRE_OK;
}
