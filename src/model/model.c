/* Settings, allocation and random initialisation of a model. */
#include "model/model.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "base/rng.h"
#include "model/calibration.h"
#include "model/safetensors.h"
#include "model/sketch_tables.h"

/* ---- allocation --------------------------------------------------------------------------- */

uint32_t wfre_model_matrices(const wfre_model *model)
{
    return model->settings.bases ? model->settings.bases : model->relation_count;
}

static wfre_tensor describe(float *data, uint32_t rank, size_t a, size_t b, size_t c)
{
    return (wfre_tensor){.data = data, .shape = {a, b, c}, .rank = rank, .count = a * b * c};
}

/* The shapes of one layer's tensors, in the order of wfre_layer's fields. */
static void layer_shapes(const wfre_model *model, wfre_tensor shapes[WFRE_LAYER_TENSORS])
{
    size_t d = model->settings.dim, width = wfre_model_width(model);
    size_t matrices = (size_t)model->settings.members * wfre_model_matrices(model);
    bool mixed = model->settings.bases > 0;
    shapes[0] = describe(NULL, 2, mixed ? model->relation_count : 0, matrices, 1);
    shapes[1] = describe(NULL, 3, matrices, width, width);
    shapes[2] = describe(NULL, 2, matrices, width, 1);
    shapes[3] = describe(NULL, 1, d, 1, 1);
    shapes[4] = describe(NULL, 1, d, 1, 1);
}

wfre_status wfre_layers_allocate(const wfre_model *model, wfre_layer *layers, wfre_tensor *tensors,
                                 wfre_error *error)
{
    static const char *const names[] = {"coefficients", "bases", "biases", "gain", "shift"};
    memset(layers, 0, WFRE_MAXIMUM_LAYERS * sizeof *layers);
    for (uint32_t l = 0; l < model->settings.layers; l++) {
        wfre_tensor shapes[WFRE_LAYER_TENSORS];
        layer_shapes(model, shapes);
        float **fields[] = {&layers[l].coefficients, &layers[l].bases, &layers[l].biases,
                            &layers[l].gain, &layers[l].shift};
        for (int t = 0; t < WFRE_LAYER_TENSORS; t++) {
            wfre_tensor *tensor = &tensors[l * WFRE_LAYER_TENSORS + (uint32_t)t];
            *tensor = shapes[t];
            tensor->data = wfre_alloc_tensor(tensor->count, sizeof(float));
            if (!tensor->data) {
                wfre_layers_free(layers);
                return wfre_fail_memory(error, "allocating a model; lower `dim` or `bases`");
            }
            *fields[t] = tensor->data;
            (void)snprintf(tensor->name, sizeof tensor->name, "layer%u.%s", l, names[t]);
        }
    }
    return WFRE_OK;
}

void wfre_layers_free(wfre_layer *layers)
{
    for (int l = 0; l < WFRE_MAXIMUM_LAYERS; l++) {
        wfre_free(layers[l].coefficients);
        wfre_free(layers[l].bases);
        wfre_free(layers[l].biases);
        wfre_free(layers[l].gain);
        wfre_free(layers[l].shift);
        layers[l] = (wfre_layer){0};
    }
}

wfre_status wfre_model_frame(const wfre_model_settings *settings, uint32_t entity_count,
                             uint32_t relation_count, uint64_t fingerprint, wfre_model **result,
                             wfre_error *error)
{
    wfre_model *model = NULL;
    wfre_status status;
    TRY(wfre_model_settings_check(settings, error));
    model = wfre_alloc_zero(1, sizeof *model);
    if (!model) {
        status = wfre_fail_memory(error, "allocating a model");
        goto cleanup;
    }
    model->settings = *settings;
    model->settings.score.dimension = settings->dim;
    model->entity_count = entity_count;
    model->relation_count = relation_count;
    model->fingerprint = fingerprint;
    TRY(wfre_layers_allocate(model, model->layers, model->tensors + 1, error));
    model->tensor_count = 1 + WFRE_LAYER_TENSORS * settings->layers;
    *result = model;
    model = NULL;
cleanup:
    wfre_model_free(model);
    return status;
}

void wfre_model_set_entities(wfre_model *model, float *entities)
{
    model->entities = entities;
    model->tensors[0] = describe(entities, 2, model->entity_count, model->settings.dim, 1);
    memcpy(model->tensors[0].name, "entities", sizeof "entities");
}

wfre_status wfre_model_allocate(const wfre_model_settings *settings, uint32_t entity_count,
                                uint32_t relation_count, uint64_t fingerprint, wfre_model **result,
                                wfre_error *error)
{
    wfre_model *model = NULL;
    wfre_status status;
    TRY(wfre_model_frame(settings, entity_count, relation_count, fingerprint, &model, error));
    float *entities = wfre_alloc_tensor((size_t)entity_count * settings->dim, sizeof(float));
    if (!entities) {
        status = wfre_fail_memory(error, "allocating a model; lower `dim`");
        goto cleanup;
    }
    wfre_model_set_entities(model, entities);
    *result = model;
    model = NULL;
cleanup:
    wfre_model_free(model);
    return status;
}

wfre_model *wfre_model_ref(const wfre_model *model)
{
    wfre_model *shared = (wfre_model *)(uintptr_t)model; /* the count is all that changes */
    atomic_fetch_add(&shared->others, 1);
    return shared;
}

void wfre_model_free(wfre_model *model)
{
    if (!model || atomic_fetch_sub(&model->others, 1) > 0)
        return;
    wfre_layers_free(model->layers);
    if (!model->entities_mapped)
        wfre_free(model->entities);
    wfre_calibration_free(model->calibration);
    wfre_sketch_tables_free(model->sketch);
    wfre_safetensors_close(model->mapped);
    wfre_free(model);
}

/* ---- initialisation ----------------------------------------------------------------------- */

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

wfre_status wfre_model_create(const wfre_graph *graph, const wfre_model_settings *settings,
                              uint64_t seed, wfre_model **model, wfre_error *error)
{
    GIVEN(graph);
    GIVEN(settings);
    wfre_status status =
        wfre_model_allocate(settings, wfre_graph_entities(graph), wfre_graph_relations(graph),
                            wfre_graph_fingerprint(graph), model, error);
    if (status == WFRE_OK)
        initialise(*model, seed);
    return status;
}

/* ---- access ------------------------------------------------------------------------------- */

const wfre_model_settings *wfre_model_get_settings(const wfre_model *model)
{
    return &model->settings;
}

uint32_t wfre_model_entities(const wfre_model *model)
{
    return model->entity_count;
}

uint32_t wfre_model_relations(const wfre_model *model)
{
    return model->relation_count;
}

uint64_t wfre_model_parameters(const wfre_model *model)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < model->tensor_count; i++)
        sum += model->tensors[i].count;
    return sum;
}

bool wfre_model_unfinished(const wfre_model *model)
{
    return model->unfinished;
}

uint64_t wfre_model_fingerprint(const wfre_model *model)
{
    return model->fingerprint;
}

uint64_t wfre_model_weights_hash(const wfre_model *model)
{
    uint64_t hash = 0;
    for (uint32_t t = 0; t < model->tensor_count; t++) {
        const wfre_tensor *tensor = &model->tensors[t];
        hash = wfre_hash(tensor->data, tensor->count * sizeof *tensor->data, hash);
    }
    return hash;
}

wfre_status wfre_model_check_graph(const wfre_model *model, const wfre_graph *graph,
                                   wfre_error *error)
{
    GIVEN(model);
    GIVEN(graph);
    if (model->fingerprint == wfre_graph_fingerprint(graph))
        return WFRE_OK;
    return wfre_fail(error, WFRE_ERR_MISMATCH, WFRE_NO_OFFSET,
                     "the model was trained on another graph (%u entities, %u relations; this one "
                     "has %u and %u): use that graph, or train on this one",
                     model->entity_count, model->relation_count / 2, wfre_graph_entities(graph),
                     wfre_graph_relations(graph) / 2);
}

const float *wfre_model_row(const wfre_model *model, size_t entity)
{
    const float *row = model->entities + entity * model->settings.dim;
    if (model->entities_mapped)
        (void)wfre_safetensors_look(model->mapped, row, model->settings.dim * sizeof *row);
    return row;
}

wfre_status wfre_model_sound(const wfre_model *model, wfre_error *error)
{
    return model->mapped ? wfre_safetensors_status(model->mapped, error) : WFRE_OK;
}

wfre_status wfre_model_settle(const wfre_model *model, wfre_error *error)
{
    return model->mapped ? wfre_safetensors_look_at_all(model->mapped, error) : WFRE_OK;
}

wfre_status wfre_model_entity_rows(const wfre_model *model, wfre_rows *rows, wfre_error *error)
{
    GIVEN(model);
    GIVEN(rows);
    CHECK(wfre_model_settle(model, error));
    *rows = (wfre_rows){model->entities, model->settings.dim};
    return WFRE_OK;
}

wfre_status wfre_model_validate(const wfre_model *model, wfre_error *error)
{
    GIVEN(model);
    wfre_status status = wfre_model_settle(model, error);
    if (status != WFRE_OK)
        return status;
    for (uint32_t t = 0; t < model->tensor_count; t++) {
        const wfre_tensor *tensor = &model->tensors[t];
        for (size_t i = 0; i < tensor->count; i++)
            if (!isfinite(tensor->data[i]))
                return wfre_fail(
                    error, WFRE_ERR_NUMERIC, WFRE_NO_OFFSET,
                    "number %zu of %s is not finite; train again, or take another copy", i,
                    tensor->name);
    }
    return WFRE_OK;
}
