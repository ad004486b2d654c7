/* Allocation of a model, and access to it. */
#include "model/model.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "base/scope.h"
#include "model/calibration.h"
#include "model/factors.h"
#include "model/family.h"
#include "model/measured.h"
#include "model/safetensors.h"
#include "model/sketch_tables.h"

/* ---- allocation --------------------------------------------------------------------------- */

uint32_t wfre_model_matrices(const wfre_model *model)
{
    return model->settings.bases ? model->settings.bases : model->relation_count;
}

wfre_tensor wfre_tensor_shape(const char *name, uint32_t rank, size_t a, size_t b, size_t c)
{
    wfre_tensor tensor = {.shape = {a, b, c}, .rank = rank, .count = a * b * c};
    (void)snprintf(tensor.name, sizeof tensor.name, "%s", name);
    return tensor;
}

void wfre_parameters_free(wfre_tensor *tensors)
{
    for (uint32_t t = 0; t + 1 < WFRE_MAXIMUM_TENSORS; t++) {
        wfre_free(tensors[t].data);
        tensors[t].data = NULL;
    }
}

wfre_status wfre_parameters_allocate(const wfre_model *model, wfre_tensor *tensors,
                                     wfre_error *error)
{
    const wfre_family *family = wfre_family_of(&model->settings);
    memset(tensors, 0, (WFRE_MAXIMUM_TENSORS - 1) * sizeof *tensors);
    uint32_t count = family->shapes(&model->settings, model->relation_count, tensors);
    for (uint32_t t = 0; t < count; t++) {
        tensors[t].data = wfre_alloc_tensor(tensors[t].count, sizeof(float));
        if (!tensors[t].data) {
            wfre_parameters_free(tensors);
            return wfre_fail_memory(error, "allocating a model; lower `dim` or `bases`");
        }
    }
    return WFRE_OK;
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
    model->tensor_count =
        1 + wfre_family_of(settings)->shapes(settings, relation_count, model->tensors + 1);
    TRY(wfre_parameters_allocate(model, model->tensors + 1, error));
    *result = model;
    model = NULL;
cleanup:
    wfre_model_free(model);
    return status;
}

void wfre_model_set_entities(wfre_model *model, float *entities)
{
    model->entities = entities;
    model->tensors[0] =
        wfre_tensor_shape("entities", 2, model->entity_count, model->settings.dim, 1);
    model->tensors[0].data = entities;
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
    if (settings->factors > 0)
        TRY(wfre_factors_allocate(settings, entity_count, relation_count, &model->factors, error));
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
    wfre_parameters_free(model->tensors + 1);
    if (!model->entities_mapped)
        wfre_free(model->entities);
    wfre_factors_free(model->factors);
    wfre_calibration_free(model->calibration);
    wfre_measurement_free(model->measurement);
    wfre_sketch_tables_free(model->sketch);
    wfre_safetensors_close(model->mapped);
    wfre_free(model);
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
        wfre_family_of(settings)->initialise(*model, seed);
    if (status == WFRE_OK && (*model)->factors)
        wfre_factors_initialise((*model)->factors, seed);
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

uint32_t wfre_model_parts(const wfre_model *model, const wfre_tensor *parts[WFRE_MAXIMUM_PARTS])
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < model->tensor_count; i++)
        parts[count++] = &model->tensors[i];
    for (uint32_t i = 0; model->factors && i < WFRE_FACTOR_TENSORS; i++)
        parts[count++] = &model->factors->tensors[i];
    return count;
}

uint64_t wfre_model_parameters(const wfre_model *model)
{
    const wfre_tensor *parts[WFRE_MAXIMUM_PARTS];
    uint64_t sum = 0;
    uint32_t count = wfre_model_parts(model, parts);
    for (uint32_t i = 0; i < count; i++)
        sum += parts[i]->count;
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
    const wfre_tensor *parts[WFRE_MAXIMUM_PARTS];
    uint64_t hash = 0;
    uint32_t count = wfre_model_parts(model, parts);
    for (uint32_t t = 0; t < count; t++)
        hash = wfre_hash(parts[t]->data, parts[t]->count * sizeof *parts[t]->data, hash);
    return hash;
}

wfre_status wfre_model_check_graph(const wfre_model *model, const wfre_graph *graph,
                                   wfre_error *error)
{
    GIVEN(model);
    GIVEN(graph);
    bool whole = model->entity_count == wfre_graph_entities(graph) &&
                 model->relation_count == wfre_graph_relations(graph);
    if (model->fingerprint == wfre_graph_fingerprint(graph) && whole)
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

static wfre_status look_through(const wfre_model *model, wfre_error *error)
{
    const wfre_tensor *parts[WFRE_MAXIMUM_PARTS];
    uint32_t count = wfre_model_parts(model, parts);
    CHECK(wfre_model_settle(model, error));
    for (uint32_t t = 0; t < count; t++) {
        const wfre_tensor *tensor = parts[t];
        for (size_t i = 0; i < tensor->count; i++) {
            if (i % WFRE_PACE == 0 && wfre_may_leave())
                return wfre_check_stop(error);
            if (!isfinite(tensor->data[i]))
                return wfre_fail(
                    error, WFRE_ERR_NUMERIC, WFRE_NO_OFFSET,
                    "number %zu of %s is not finite; train again, or take another copy", i,
                    tensor->name);
        }
    }
    return WFRE_OK;
}

wfre_status wfre_model_validate(const wfre_model *model, wfre_error *error)
{
    GIVEN(model);
    bool before = wfre_partial(true);
    wfre_status status = look_through(model, error);
    (void)wfre_partial(before);
    return status;
}
