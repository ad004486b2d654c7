/* The WFRE family: an entity is a histogram of `dim` bins in [0, 1], a projection a layer or more
 * mixed from shared matrices (wfre_layers.c), intersection a t-norm and union its dual, complement
 * 1 - m; histograms are compared by the WFR score or one of its relatives. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/rng.h"
#include "model/wfre_layers.h"

/* ---- settings and parameters -------------------------------------------------------------- */

static wfre_status check(const wfre_model_settings *settings, wfre_error *error)
{
    uint32_t block = settings->score.block, members = settings->members;
    if (members == 0 || settings->dim % members != 0 || settings->dim / members % block != 0)
        return wfre_fail(
            error, WFRE_ERR_ARGUMENT, WFRE_NO_OFFSET,
            "members %u: dim %u does not split into as many parts of whole blocks of %u", members,
            settings->dim, block);
    if (settings->layers < 1 || settings->layers > WFRE_MAXIMUM_LAYERS)
        return wfre_fail(error, WFRE_ERR_ARGUMENT, WFRE_NO_OFFSET, "layers %u: must be 1 to %d",
                         settings->layers, WFRE_MAXIMUM_LAYERS);
    if (settings->bases > 65536)
        return wfre_fail(error, WFRE_ERR_ARGUMENT, WFRE_NO_OFFSET, "bases %u: at most 65536",
                         settings->bases);
    if (!(settings->complement > 0 && settings->complement <= 1))
        return wfre_fail(error, WFRE_ERR_ARGUMENT, WFRE_NO_OFFSET,
                         "complement must be above 0 and at most 1");
    return WFRE_OK;
}

/* In the order of wfre_layer's fields, layer after layer. */
static uint32_t shapes(const wfre_model_settings *settings, uint32_t relation_count,
                       wfre_tensor *tensors)
{
    static const char *const names[] = {"coefficients", "bases", "biases", "gain", "shift"};
    size_t d = settings->dim, width = d / settings->members;
    size_t own = settings->bases ? settings->bases : relation_count;
    size_t matrices = settings->members * own, mixed = settings->bases ? relation_count : 0;
    for (uint32_t l = 0; l < settings->layers; l++) {
        const wfre_tensor layer[WFRE_LAYER_TENSORS] = {
            wfre_tensor_shape("", 2, mixed, matrices, 1),
            wfre_tensor_shape("", 3, matrices, width, width),
            wfre_tensor_shape("", 2, matrices, width, 1),
            wfre_tensor_shape("", 1, d, 1, 1),
            wfre_tensor_shape("", 1, d, 1, 1),
        };
        for (uint32_t t = 0; t < WFRE_LAYER_TENSORS; t++) {
            wfre_tensor *tensor = &tensors[l * WFRE_LAYER_TENSORS + t];
            *tensor = layer[t];
            tensor->summed = tensor->rank == 1;
            (void)snprintf(tensor->name, sizeof tensor->name, "layer%u.%s", l, names[t]);
        }
    }
    return WFRE_LAYER_TENSORS * settings->layers;
}

static void fill_normal(wfre_tensor *tensor, double deviation, uint64_t seed, uint64_t index)
{
    wfre_rng rng = wfre_rng_for(seed, WFRE_FOR_WEIGHTS, index, 0);
    for (size_t i = 0; i < tensor->count; i++)
        tensor->data[i] = (float)(deviation * wfre_rng_normal(&rng));
}

/* Entities uniform in [0, 1]; matrices nearly orthogonal (normal with variance 1/w). The scale of
 * the coefficients does not matter much, since the layer norm takes it out. */
static void initialise(wfre_model *model, uint64_t seed)
{
    wfre_rng rng = wfre_rng_for(seed, WFRE_FOR_WEIGHTS, 0, 0);
    for (size_t i = 0; i < model->tensors[0].count; i++)
        model->entities[i] = wfre_rng_float(&rng);
    double width = (double)wfre_model_width(model), matrices = wfre_model_matrices(model);
    for (uint32_t l = 0; l < model->settings.layers; l++) {
        wfre_tensor *t = &model->tensors[1 + WFRE_LAYER_TENSORS * l];
        fill_normal(&t[0], sqrt(2 / (model->relation_count + matrices)), seed, 1 + 8 * l);
        fill_normal(&t[1], sqrt(1 / width), seed, 2 + 8 * l);
        fill_normal(&t[2], 0.1 * sqrt(1 / width), seed, 3 + 8 * l);
        for (size_t i = 0; i < t[3].count; i++)
            t[3].data[i] = 1;
    }
}

static void fill_uniform(wfre_tensor *tensor, double most, uint64_t seed, uint64_t index)
{
    wfre_rng rng = wfre_rng_for(seed, WFRE_FOR_WEIGHTS, index, 0);
    for (size_t i = 0; i < tensor->count; i++)
        tensor->data[i] = (float)(most * (2 * wfre_rng_double(&rng) - 1));
}

void wfre_model_initialise_published(wfre_model *model, uint64_t seed)
{
    double width = (double)wfre_model_width(model), matrices = wfre_model_matrices(model);
    for (uint32_t l = 0; l < model->settings.layers; l++) {
        wfre_tensor *t = &model->tensors[1 + WFRE_LAYER_TENSORS * l];
        fill_uniform(&t[0], sqrt(2 * 6 / (model->relation_count + matrices)), seed, 1 + 8 * l);
        fill_uniform(&t[1], sqrt(6 / (width * (matrices + 1))), seed, 2 + 8 * l);
        fill_uniform(&t[2], sqrt(1 / width), seed, 3 + 8 * l);
    }
}

static wfre_status distance(const wfre_model_settings *settings, wfre_score **score,
                            wfre_error *error)
{
    wfre_score_settings scored = settings->score;
    scored.dimension = settings->dim;
    return wfre_score_create(&scored, score, error);
}

/* ---- entities ----------------------------------------------------------------------------- */

/* m = clamp(e, 0, 1) */
static void entity_forward(const wfre_vector_table *vectors, size_t dim, const float *stored,
                           float *row)
{
    vectors->clamp01(dim, stored, row);
}

/* No gradient where the entity lies outside [0, 1]. */
static void entity_backward(size_t dim, const float *stored, float *gradient)
{
    for (size_t i = 0; i < dim; i++)
        gradient[i] = stored[i] < 0 || stored[i] > 1 ? 0 : gradient[i];
}

/* ---- complement --------------------------------------------------------------------------- */

/* The mask of a row, the same whenever it is asked for again. */
static wfre_coin open_mask(const wfre_pass *pass, uint32_t row)
{
    return wfre_coin_make(wfre_rng_for(pass->noise.seed, WFRE_FOR_NEGATION, pass->noise.step, row),
                          pass->noise.drop_negation);
}

/* z = 1/2 - f (x - 1/2). Noise takes the place of the factor f: each element of x is set to 1/2
 * with probability drop_negation, and the others are complemented in full; with f = 1 -
 * drop_negation, as published, that is z in expectation. */
static void negate_forward(const wfre_pass *pass, uint32_t row)
{
    size_t d = pass->model->settings.dim;
    const float *x = wfre_pass_row(pass, wfre_pass_child(pass, row));
    float *z = pass->rows + (size_t)row * d;
    float factor = (float)pass->model->settings.complement;
    if (pass->noise.drop_negation == 0) {
        pass->vectors->complement(d, x, z);
        for (size_t i = 0; i < d && factor != 1; i++)
            z[i] = 0.5f + factor * (z[i] - 0.5f);
        return;
    }
    wfre_coin mask = open_mask(pass, row);
    for (size_t i = 0; i < d; i++)
        z[i] = wfre_coin_throw(&mask) ? 0.5f : 1 - x[i];
}

static void negate_backward(const wfre_pass *pass, uint32_t row, unsigned worker)
{
    (void)worker;
    size_t d = pass->model->settings.dim;
    const float *dz = wfre_pass_gradient(pass, row);
    float *dx = wfre_pass_gradient(pass, wfre_pass_child(pass, row));
    if (pass->noise.drop_negation == 0) {
        pass->vectors->axpy(d, -(float)pass->model->settings.complement, dz, dx);
        return;
    }
    wfre_coin mask = open_mask(pass, row);
    for (size_t i = 0; i < d; i++)
        dx[i] -= wfre_coin_throw(&mask) ? 0 : dz[i];
}

/* ---- intersection, and union as its dual -------------------------------------------------- */

static wfre_combine combine_kind(const wfre_pass *pass, uint32_t row)
{
    static const wfre_combine kinds[][2] = {
        [WFRE_TNORM_GODEL] = {WFRE_COMBINE_MIN, WFRE_COMBINE_MAX},
        [WFRE_TNORM_PRODUCT] = {WFRE_COMBINE_PRODUCT, WFRE_COMBINE_SUM},
        [WFRE_TNORM_LUKASIEWICZ] = {WFRE_COMBINE_BOUNDED_AND, WFRE_COMBINE_BOUNDED_OR},
    };
    return kinds[pass->model->settings.tnorm][pass->program->op[row] == WFRE_OP_UNION];
}

static void intersect_forward(const wfre_pass *pass, uint32_t row)
{
    const wfre_program *program = pass->program;
    size_t d = pass->model->settings.dim;
    const uint32_t *child = program->children + program->child_begin[row];
    uint32_t count = program->child_begin[row + 1] - program->child_begin[row];
    float *z = pass->rows + (size_t)row * d;
    const float *left = wfre_pass_row(pass, child[0]);
    for (uint32_t i = 1; i < count; i++) {
        pass->vectors->combine(combine_kind(pass, row), d, left, wfre_pass_row(pass, child[i]), z);
        left = z;
    }
}

/* With x1 ... xn combined from the left, the partial results are needed again on the way back. */
static void intersect_backward(const wfre_pass *pass, uint32_t row, unsigned worker)
{
    const wfre_program *program = pass->program;
    size_t d = pass->model->settings.dim;
    wfre_combine kind = combine_kind(pass, row);
    const uint32_t *child = program->children + program->child_begin[row];
    uint32_t count = program->child_begin[row + 1] - program->child_begin[row];
    const float *dz = wfre_pass_gradient(pass, row);
    if (count == 2) {
        pass->vectors->combine_backward(
            kind, d, wfre_pass_row(pass, child[0]), wfre_pass_row(pass, child[1]), dz,
            wfre_pass_gradient(pass, child[0]), wfre_pass_gradient(pass, child[1]));
        return;
    }
    float *partial = pass->scratch + worker * pass->scratch_size; /* partial[i]: of x0 .. xi */
    float *slope = partial + pass->scratch_size / 2;
    memcpy(partial, wfre_pass_row(pass, child[0]), d * sizeof *partial);
    for (uint32_t i = 1; i < count; i++)
        pass->vectors->combine(kind, d, partial + (i - 1) * d, wfre_pass_row(pass, child[i]),
                               partial + i * d);
    memset(slope, 0, count * d * sizeof *slope);
    memcpy(slope + (count - 1) * d, dz, d * sizeof *slope);
    for (uint32_t i = count - 1; i > 0; i--)
        pass->vectors->combine_backward(kind, d, partial + (i - 1) * d,
                                        wfre_pass_row(pass, child[i]), slope + i * d,
                                        slope + (i - 1) * d, wfre_pass_gradient(pass, child[i]));
    pass->vectors->axpy(d, 1, slope, wfre_pass_gradient(pass, child[0]));
}

const wfre_family wfre_family_wfre = {
    .name = "wfre",
    .check = check,
    .shapes = shapes,
    .initialise = initialise,
    .distance = distance,
    .entity = {entity_forward, entity_backward},
    .begin = wfre_layers_begin,
    .finish = wfre_layers_finish,
    .end = wfre_layers_end,
    .project = {wfre_layers_forward, wfre_layers_backward},
    .intersect = {intersect_forward, intersect_backward},
    .negate = {negate_forward, negate_backward},
};
