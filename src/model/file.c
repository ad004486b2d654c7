/* Saving and loading models. */
#include "model/file.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/bf16.h"
#include "base/memory.h"
#include "base/scope.h"
#include "model/calibration.h"
#include "model/factors.h"
#include "model/family.h"
#include "model/measured.h"
#include "model/settings.h"
#include "model/sketch_tables.h"

static const char FORMAT[] = "wfre-model-1";

/* ---- writing ------------------------------------------------------------------------------ */

enum { OWN_KEYS = 5, TEXT_SIZE = 64 };

wfre_status wfre_model_write(const wfre_model *model, const char *path, wfre_dtype dtype,
                             const wfre_model_extra *extra, wfre_error *error)
{
    static const wfre_model_extra nothing = {0};
    extra = extra ? extra : &nothing;
    size_t keys = OWN_KEYS + wfre_model_table_count + extra->metadata_count;
    wfre_text calibration = {0}, measured = {0};
    const wfre_tensor *parts[WFRE_MAXIMUM_PARTS];
    size_t part_count = wfre_model_parts(model, parts);
    size_t sketch_tensors = model->sketch ? WFRE_SKETCH_TENSORS : 0;
    size_t tensor_count = part_count + sketch_tensors + extra->tensor_count;
    wfre_arena arena = {0};
    wfre_status status = WFRE_OK;
    wfre_metadata *metadata = wfre_arena_alloc(&arena, keys + 3, sizeof *metadata);
    wfre_stored_tensor *tensors = wfre_arena_alloc(&arena, tensor_count, sizeof *tensors);
    char(*texts)[TEXT_SIZE] =
        wfre_arena_alloc(&arena, OWN_KEYS + wfre_model_table_count, sizeof *texts);
    if (!metadata || !tensors || !texts) {
        status = wfre_fail_memory(error, "writing a model");
        goto cleanup;
    }
    (void)snprintf(texts[0], TEXT_SIZE, "%s", FORMAT);
    (void)snprintf(texts[1], TEXT_SIZE, "%016" PRIx64, model->fingerprint);
    (void)snprintf(texts[2], TEXT_SIZE, "%" PRIu32, model->relation_count);
    (void)snprintf(texts[3], TEXT_SIZE, "%s", wfre_version());
    (void)snprintf(texts[4], TEXT_SIZE, "%s", wfre_family_of(&model->settings)->name);
    static const char *const own[OWN_KEYS] = {"format", "graph", "relations", "written_by",
                                              "family"};
    for (size_t i = 0; i < OWN_KEYS; i++)
        metadata[i] = (wfre_metadata){own[i], texts[i]};
    for (size_t i = 0; i < wfre_model_table_count; i++) {
        char *text = texts[OWN_KEYS + i];
        wfre_setting_print(&wfre_model_table[i], &model->settings, text, TEXT_SIZE);
        metadata[OWN_KEYS + i] = (wfre_metadata){wfre_model_table[i].name, text};
    }
    if (extra->metadata_count)
        memcpy(metadata + OWN_KEYS + wfre_model_table_count, extra->metadata,
               extra->metadata_count * sizeof *metadata);
    if (model->calibration) {
        wfre_calibration_print(model->calibration, &calibration);
        TRY(wfre_text_status(&calibration, "writing a model", error));
        metadata[keys++] = (wfre_metadata){"calibration", calibration.data};
    }
    if (model->measurement) {
        wfre_measurement_print(model->measurement, &measured);
        TRY(wfre_text_status(&measured, "writing a model", error));
        metadata[keys++] = (wfre_metadata){"measured", measured.data};
    }
    if (model->unfinished)
        metadata[keys++] = (wfre_metadata){"unfinished", "its training has not ended"};
    for (size_t i = 0; i < part_count; i++) {
        const wfre_tensor *tensor = parts[i];
        tensors[i] = (wfre_stored_tensor){tensor->name, dtype, tensor->rank, {0}, tensor->data};
        memcpy(tensors[i].shape, tensor->shape, sizeof tensor->shape);
    }
    if (model->sketch)
        wfre_sketch_tables_store(model->sketch, tensors + part_count);
    if (extra->tensor_count)
        memcpy(tensors + part_count + sketch_tensors, extra->tensors,
               extra->tensor_count * sizeof *tensors);
    status = wfre_safetensors_write(path, tensors, tensor_count, metadata, keys, error);
cleanup:
    wfre_text_free(&calibration);
    wfre_text_free(&measured);
    wfre_arena_free(&arena);
    return status;
}

wfre_status wfre_model_save(const wfre_model *model, const char *path, bool bf16, wfre_error *error)
{
    GIVEN(model);
    GIVEN(path);
    bool before = wfre_partial(true);
    wfre_status status = wfre_model_keep(model, path, bf16, error);
    (void)wfre_partial(before);
    return status;
}

wfre_status wfre_model_keep(const wfre_model *model, const char *path, bool bf16, wfre_error *error)
{
    CHECK(wfre_model_settle(model, error)); /* no copy of damage */
    return wfre_model_write(model, path, bf16 ? WFRE_DTYPE_BF16 : WFRE_DTYPE_F32, NULL, error);
}

/* ---- reading ------------------------------------------------------------------------------ */

wfre_status wfre_model_read_settings(const wfre_safetensors *file, const char *path,
                                     wfre_model_settings *settings, wfre_error *error)
{
    const char *format = wfre_safetensors_metadata(file, "format");
    if (!format || strcmp(format, FORMAT) != 0)
        return wfre_fail(error, WFRE_ERR_FORMAT, WFRE_NO_OFFSET,
                         "%s: a safetensors file, but not a wfre model (format '%s')", path,
                         format ? format : "missing");
    wfre_model_settings_default(settings);
    const char *family = wfre_safetensors_metadata(file, "family"); /* older files have none */
    settings->family = wfre_family_find(family ? family : wfre_family_wfre.name);
    if (!settings->family)
        return wfre_fail(error, WFRE_ERR_FORMAT, WFRE_NO_OFFSET,
                         "%s: a model of the family '%.40s', which this version of wfre does not "
                         "know; take the version that wrote it, or a newer one",
                         path, family);
    for (size_t i = 0; i < wfre_model_table_count; i++) {
        const char *text = wfre_safetensors_metadata(file, wfre_model_table[i].name);
        if (!text && (wfre_model_table[i].traits & WFRE_SETTING_LATER))
            continue;
        if (!text)
            return wfre_fail(error, WFRE_ERR_FORMAT, WFRE_NO_OFFSET,
                             "%s: the setting '%s' is missing", path, wfre_model_table[i].name);
        wfre_status status = wfre_setting_parse(&wfre_model_table[i], settings, text, error);
        if (status != WFRE_OK)
            return wfre_fail_within(error, WFRE_ERR_FORMAT, path);
    }
    return wfre_model_settings_check(settings, error) == WFRE_OK
               ? WFRE_OK
               : wfre_fail_within(error, WFRE_ERR_FORMAT, path);
}

wfre_status wfre_model_read_tensor(const wfre_safetensors *file, const char *path, const char *name,
                                   size_t count, float *out, wfre_error *error)
{
    wfre_safetensors *looked = (wfre_safetensors *)(uintptr_t)file;
    const wfre_stored_tensor *stored = wfre_safetensors_find(file, name);
    size_t found = stored ? 1 : 0;
    for (uint32_t i = 0; stored && i < stored->rank; i++)
        found *= stored->shape[i];
    if (!stored || found != count ||
        (stored->dtype != WFRE_DTYPE_F32 && stored->dtype != WFRE_DTYPE_BF16))
        return wfre_fail(error, WFRE_ERR_FORMAT, WFRE_NO_OFFSET,
                         "%s: the tensor '%s' is missing or has the wrong shape", path, name);
    size_t size = stored->dtype == WFRE_DTYPE_F32 ? sizeof(float) : sizeof(uint16_t);
    if (!wfre_safetensors_look(looked, stored->data, count * size))
        return wfre_safetensors_status(file, error);
    if (stored->dtype == WFRE_DTYPE_F32) {
        memcpy(out, stored->data, count * sizeof *out);
        return WFRE_OK;
    }
    const uint16_t *half = stored->data;
    for (size_t i = 0; i < count; i++)
        out[i] = wfre_float_from_bf16(half[i]);
    return WFRE_OK;
}

/* What was fitted and measured, as far as the file has it. */
static wfre_status read_texts(const wfre_safetensors *file, const char *path, wfre_model *model,
                              wfre_error *error)
{
    const char *calibration = wfre_safetensors_metadata(file, "calibration");
    const char *measured = wfre_safetensors_metadata(file, "measured");
    wfre_status status = WFRE_OK;
    if (calibration)
        status = wfre_calibration_parse(calibration, &model->calibration, error);
    if (status == WFRE_OK && measured)
        status = wfre_measurement_parse(measured, &model->measurement, error);
    return status == WFRE_OK ? status : wfre_fail_within(error, status, path);
}

/* Whether all parameters are there in the shapes that the settings say; a tensor without elements
 * need not be. */
static bool has_tensors(const wfre_safetensors *file, const wfre_model_settings *settings,
                        uint32_t relation_count)
{
    wfre_tensor tensors[WFRE_MAXIMUM_TENSORS];
    uint32_t count = wfre_family_of(settings)->shapes(settings, relation_count, tensors);
    bool whole = true;
    for (uint32_t t = 0; t < count && whole; t++) {
        const wfre_tensor *tensor = &tensors[t];
        const wfre_stored_tensor *stored = wfre_safetensors_find(file, tensor->name);
        bool empty = tensor->shape[0] == 0 || tensor->shape[1] == 0 || tensor->shape[2] == 0;
        whole = empty ||
                (stored && stored->rank == tensor->rank &&
                 memcmp(stored->shape, tensor->shape, tensor->rank * sizeof *tensor->shape) == 0);
    }
    return whole;
}

/* All of the model but its entities, which are only found. */
static wfre_status read_frame(const wfre_safetensors *file, const char *path, wfre_model **result,
                              const wfre_stored_tensor **found, wfre_error *error)
{
    wfre_model_settings settings;
    wfre_model *model = NULL;
    wfre_status status;
    TRY(wfre_model_read_settings(file, path, &settings, error));
    const char *graph = wfre_safetensors_metadata(file, "graph");
    const char *relations = wfre_safetensors_metadata(file, "relations");
    const wfre_stored_tensor *entities = wfre_safetensors_find(file, "entities");
    char *end = NULL;
    unsigned long relation_count = relations ? strtoul(relations, &end, 10) : 0;
    if (!graph || !relations || *end || relation_count >= WFRE_NONE || !entities ||
        entities->rank != 2 || entities->shape[0] >= WFRE_NONE) {
        status = wfre_fail(error, WFRE_ERR_FORMAT, WFRE_NO_OFFSET,
                           "%s: the model's sizes are missing", path);
        goto cleanup;
    }
    /* The stored tensors must be there before memory is taken for them. */
    if (entities->shape[1] != settings.dim ||
        !has_tensors(file, &settings, (uint32_t)relation_count)) {
        status = wfre_fail(error, WFRE_ERR_FORMAT, WFRE_NO_OFFSET,
                           "%s: the tensors do not have the shapes that the settings say", path);
        goto cleanup;
    }
    TRY(wfre_model_frame(&settings, (uint32_t)entities->shape[0], (uint32_t)relation_count,
                         strtoull(graph, NULL, 16), &model, error));
    for (uint32_t i = 1; i < model->tensor_count; i++)
        TRY(wfre_model_read_tensor(file, path, model->tensors[i].name, model->tensors[i].count,
                                   model->tensors[i].data, error));
    TRY(read_texts(file, path, model, error));
    model->unfinished = wfre_safetensors_metadata(file, "unfinished") != NULL;
    *result = model;
    *found = entities;
    model = NULL;
cleanup:
    wfre_model_free(model);
    return status;
}

/* Copies the entities into memory of the model's own. */
static wfre_status copy_entities(const wfre_safetensors *file, const char *path, wfre_model *model,
                                 wfre_error *error)
{
    size_t count = (size_t)model->entity_count * model->settings.dim;
    float *entities = wfre_alloc_tensor(count, sizeof *entities);
    if (!entities)
        return wfre_fail_memory(error, "reading a model");
    wfre_model_set_entities(model, entities);
    return wfre_model_read_tensor(file, path, "entities", count, entities, error);
}

static wfre_status read_factors(const wfre_safetensors *file, const char *path, bool map,
                                wfre_model *model, wfre_error *error)
{
    return wfre_factors_read(file, path, &model->settings, model->entity_count,
                             model->relation_count, map, &model->factors, error);
}

wfre_status wfre_model_read(const wfre_safetensors *file, const char *path, wfre_model **result,
                            wfre_error *error)
{
    wfre_model *model = NULL;
    const wfre_stored_tensor *entities;
    wfre_status status;
    TRY(read_frame(file, path, &model, &entities, error));
    TRY(copy_entities(file, path, model, error));
    TRY(read_factors(file, path, false, model, error));
    *result = model;
    model = NULL;
cleanup:
    wfre_model_free(model);
    return status;
}

bool wfre_model_recognises(const void *head, size_t length)
{
    static const unsigned char high[4] = {0}; /* of the header's length: below 4 GiB */
    const unsigned char *bytes = head;
    return length >= 16 && memcmp(bytes + 4, high, sizeof high) == 0 && bytes[8] == '{' &&
           bytes[9] == '"';
}

wfre_status wfre_model_open(const char *path, wfre_model **result, wfre_error *error)
{
    GIVEN(path);
    GIVEN(result);
    wfre_safetensors *file = NULL;
    wfre_model *model = NULL;
    const wfre_stored_tensor *entities;
    wfre_status status;
    TRY(wfre_safetensors_open(path, &file, error));
    TRY(read_frame(file, path, &model, &entities, error));
    if (entities->dtype == WFRE_DTYPE_F32) {
        /* Whoever opens a model only reads it, so the entities may stay where they lie. */
        wfre_model_set_entities(model, (float *)(uintptr_t)entities->data);
        model->entities_mapped = true;
    } else {
        TRY(copy_entities(file, path, model, error));
    }
    TRY(read_factors(file, path, true, model, error));
    wfre_sketch_shape shape = wfre_sketch_shape_for(&model->settings.score, model->entity_count);
    TRY(wfre_sketch_tables_find(file, &shape, &model->sketch, error));
    model->mapped = file;
    file = NULL;
    *result = model;
    model = NULL;
cleanup:
    wfre_model_free(model);
    wfre_safetensors_close(file);
    return status;
}
