/* The layers of a batch's projections, forward and backward. All projections of a level go through
 * a layer together, those of one relation in one matrix product. */
#include "model/wfre_layers.h"

#include <string.h>

#include "base/memory.h"
#include "base/rng.h"
#include "model/row_masks.h"
#include "model/weights.h"

static const float NORM_EPSILON = 1e-5f;

/* What one layer keeps of the forward pass for the backward one; P projections in the program. */
typedef struct layer_state {
    float *input;  /* [P, d] after dropout; the output of the layer before it */
    float *linear; /* [P, d] W m + b, before the layer norm */
    float *mean;   /* [members, P] */
    float *rstd;   /* [members, P] */
    float *slope;  /* [P, d] gradient of `linear` */
    wfre_weights weights;
    wfre_row_masks masks;
} layer_state;

/* A pass's state. */
typedef struct layers {
    size_t capacity, job_capacity; /* of projections, of jobs */
    float *slope_in;               /* [P, d] gradient of a layer's input */
    layer_state of[WFRE_MAXIMUM_LAYERS];
    wfre_gemm_job *jobs;
} layers;

static layers *layers_of(const wfre_pass *pass)
{
    return pass->state;
}

/* ---- arguments ---------------------------------------------------------------------------- */

/* The mask of a row, the same whenever it is asked for again. */
static wfre_coin open_mask(const wfre_pass *pass, uint32_t row)
{
    return wfre_coin_make(wfre_rng_for(pass->noise.seed, WFRE_FOR_INPUTS, pass->noise.step, row),
                          pass->noise.drop_input);
}

/* Copies a projection's argument to where its matrix product wants it, with dropout. */
static void gather_forward(wfre_pass *pass, uint32_t row, uint32_t projection, unsigned worker)
{
    (void)worker;
    size_t d = pass->model->settings.dim;
    const float *x = wfre_pass_row(pass, wfre_pass_child(pass, row));
    float *y = layers_of(pass)->of[0].input + (size_t)projection * d;
    if (pass->noise.drop_input == 0) {
        memcpy(y, x, d * sizeof *y);
        return;
    }
    float scale = 1 / (1 - pass->noise.drop_input);
    wfre_coin mask = open_mask(pass, row);
    for (size_t i = 0; i < d; i++)
        y[i] = wfre_coin_throw(&mask) ? 0 : x[i] * scale;
}

static void gather_backward(wfre_pass *pass, uint32_t row, uint32_t projection, unsigned worker)
{
    (void)worker;
    size_t d = pass->model->settings.dim;
    const float *dy = layers_of(pass)->slope_in + (size_t)projection * d;
    float *dx = wfre_pass_gradient(pass, wfre_pass_child(pass, row));
    if (pass->noise.drop_input == 0) {
        pass->vectors->axpy(d, 1, dy, dx);
        return;
    }
    float scale = 1 / (1 - pass->noise.drop_input);
    wfre_coin mask = open_mask(pass, row);
    for (size_t i = 0; i < d; i++)
        dx[i] += wfre_coin_throw(&mask) ? 0 : dy[i] * scale;
}

/* ---- layers ------------------------------------------------------------------------------- */

static wfre_weights_job weights_job(const wfre_pass *pass, uint32_t layer)
{
    return (wfre_weights_job){
        pass->model,  layer,      pass->program,  pass->noisy ? &pass->noise : NULL,
        pass->linalg, pass->pool, pass->precision};
}

/* The layer norm of one member of a layer over the projections of a level. */
static wfre_norm_job norm_job(wfre_pass *pass, const wfre_program_level *level, uint32_t l,
                              uint32_t member)
{
    size_t d = pass->model->settings.dim, width = wfre_model_width(pass->model);
    size_t first = level->projection_offset, column = member * width;
    size_t statistics = (size_t)member * pass->program->projection_count + first;
    layer_state *state = &layers_of(pass)->of[l];
    wfre_layer layer = wfre_layer_at(pass->model->tensors + 1, l);
    bool last = l + 1 == pass->model->settings.layers;
    float *y =
        last ? pass->rows + level->project_begin * d : layers_of(pass)->of[l + 1].input + first * d;
    return (wfre_norm_job){
        .rows = level->project_end - level->project_begin,
        .width = width,
        .activation = last ? WFRE_SIGMOID : WFRE_RELU,
        .epsilon = NORM_EPSILON,
        .gain = layer.gain + column,
        .bias = layer.shift + column,
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
static wfre_gemm_job linear_product(wfre_pass *pass, const wfre_program_group *group, size_t first,
                                    uint32_t l, uint32_t member, bool back)
{
    size_t d = pass->model->settings.dim, width = wfre_model_width(pass->model);
    size_t begin = first * d + member * width, rows = group->end - group->begin;
    layer_state *state = &layers_of(pass)->of[l];
    wfre_weights_job weights = weights_job(pass, l);
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
        .c = (back ? layers_of(pass)->slope_in : state->linear) + begin,
        .ldc = d,
    };
}

/* For every group of rows with one relation: linear = input W' + b, or back, slope_in = slope W. */
static wfre_status linear_products(wfre_pass *pass, const wfre_program_level *level, uint32_t l,
                                   bool back, wfre_error *error)
{
    size_t count = 0;
    for (uint32_t g = level->group_begin; g < level->group_end; g++) {
        const wfre_program_group *group = &pass->program->groups[g];
        size_t first = level->projection_offset + group->begin - level->project_begin;
        for (uint32_t m = 0; m < pass->model->settings.members; m++)
            layers_of(pass)->jobs[count++] = linear_product(pass, group, first, l, m, back);
    }
    return wfre_gemm(pass->linalg, pass->precision, layers_of(pass)->jobs, count, error);
}

wfre_status wfre_layers_forward(wfre_pass *pass, const wfre_program_level *level, wfre_error *error)
{
    wfre_pass_rows(pass, level->project_begin, level->project_end, level->projection_offset,
                   gather_forward);
    for (uint32_t l = 0; l < pass->model->settings.layers; l++) {
        layer_state *state = &layers_of(pass)->of[l];
        wfre_weights_job job = weights_job(pass, l);
        CHECK(linear_products(pass, level, l, false, error));
        if (wfre_row_masks_used(&job))
            CHECK(wfre_row_masks_forward(&state->masks, &job, level, state->input, state->linear,
                                         error));
        for (uint32_t m = 0; m < pass->model->settings.members; m++) {
            wfre_norm_job norm = norm_job(pass, level, l, m);
            wfre_norm_forward(pass->linalg, &norm);
        }
    }
    return WFRE_OK;
}

static wfre_status norm_backward(wfre_pass *pass, const wfre_program_level *level, uint32_t l,
                                 uint32_t member, const wfre_layer *gradient, wfre_error *error)
{
    size_t d = pass->model->settings.dim, first = level->projection_offset;
    size_t column = member * wfre_model_width(pass->model);
    bool last = l + 1 == pass->model->settings.layers;
    wfre_norm_job norm = norm_job(pass, level, l, member);
    norm.dy = (last ? wfre_pass_gradient(pass, level->project_begin)
                    : layers_of(pass)->slope_in + first * d) +
              column;
    norm.lddy = d;
    norm.dx = layers_of(pass)->of[l].slope + first * d + column;
    norm.lddx = d;
    norm.dgain = gradient->gain + column;
    norm.dbias = gradient->shift + column;
    return wfre_norm_backward(pass->linalg, &norm, error);
}

wfre_status wfre_layers_backward(wfre_pass *pass, const wfre_program_level *level,
                                 const wfre_tensor *gradients, wfre_error *error)
{
    for (uint32_t l = pass->model->settings.layers; l-- > 0;) {
        layer_state *state = &layers_of(pass)->of[l];
        wfre_layer out = wfre_layer_at(gradients, l);
        for (uint32_t m = 0; m < pass->model->settings.members; m++)
            CHECK(norm_backward(pass, level, l, m, &out, error));
        CHECK(linear_products(pass, level, l, true, error));
        wfre_weights_job job = weights_job(pass, l);
        if (wfre_row_masks_used(&job))
            CHECK(wfre_row_masks_backward(&state->masks, &job, level, state->slope,
                                          layers_of(pass)->slope_in, error));
    }
    wfre_pass_rows(pass, level->project_begin, level->project_end, level->projection_offset,
                   gather_backward);
    return WFRE_OK;
}

/* ---- around a pass ------------------------------------------------------------------------ */

static bool replace_tensor(float **tensor, size_t count)
{
    wfre_free(*tensor);
    *tensor = wfre_alloc_tensor(count, sizeof **tensor);
    return *tensor != NULL;
}

static bool reserve(wfre_pass *pass)
{
    layers *own = layers_of(pass);
    size_t d = pass->model->settings.dim, count = pass->program->projection_count;
    size_t members = pass->model->settings.members;
    bool fits = true;
    if (count > own->capacity) {
        own->capacity = 0;
        fits = replace_tensor(&own->slope_in, count * d);
        for (uint32_t l = 0; l < pass->model->settings.layers && fits; l++) {
            layer_state *state = &own->of[l];
            fits = replace_tensor(&state->input, count * d) &&
                   replace_tensor(&state->linear, count * d) &&
                   replace_tensor(&state->slope, count * d) &&
                   replace_tensor(&state->mean, members * count) &&
                   replace_tensor(&state->rstd, members * count);
        }
        own->capacity = fits ? count : 0;
    }
    return fits && WFRE_RESERVE(&own->jobs, &own->job_capacity,
                                ((size_t)pass->program->group_count + 1) * members);
}

wfre_status wfre_layers_begin(wfre_pass *pass, wfre_error *error)
{
    if (!pass->state)
        pass->state = wfre_alloc_zero(1, sizeof(layers));
    if (!pass->state || !reserve(pass))
        return wfre_fail_memory(error, "running a batch; lower `batch` or `dim`");
    for (uint32_t l = 0; l < pass->model->settings.layers; l++) {
        wfre_weights_job job = weights_job(pass, l);
        CHECK(wfre_weights_build(&layers_of(pass)->of[l].weights, &job, error));
    }
    return WFRE_OK;
}

wfre_status wfre_layers_finish(wfre_pass *pass, const wfre_tensor *gradients, wfre_error *error)
{
    for (uint32_t l = 0; l < pass->model->settings.layers; l++) {
        layer_state *state = &layers_of(pass)->of[l];
        wfre_weights_job job = weights_job(pass, l);
        wfre_layer out = wfre_layer_at(gradients, l);
        CHECK(
            wfre_weights_backward(&state->weights, &job, state->slope, state->input, &out, error));
        if (wfre_row_masks_used(&job))
            CHECK(wfre_row_masks_gradients(&state->masks, &job, state->slope, state->input, &out,
                                           error));
    }
    return WFRE_OK;
}

void wfre_layers_end(wfre_pass *pass)
{
    layers *own = layers_of(pass);
    if (!own)
        return;
    for (int l = 0; l < WFRE_MAXIMUM_LAYERS; l++) {
        layer_state *state = &own->of[l];
        wfre_free(state->input);
        wfre_free(state->linear);
        wfre_free(state->mean);
        wfre_free(state->rstd);
        wfre_free(state->slope);
        wfre_weights_free(&state->weights);
        wfre_row_masks_free(&state->masks);
    }
    wfre_free(own->slope_in);
    wfre_free(own->jobs);
    wfre_free(own);
    pass->state = NULL;
}
