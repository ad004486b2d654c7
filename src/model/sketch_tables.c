/* Tables of sketches: in memory, and in files. */
#include "model/sketch_tables.h"

#include <string.h>

#include "base/memory.h"

enum { PADDING = 32 }; /* a row's bytes are a multiple of it */

wfre_sketch_shape wfre_sketch_shape_for(const wfre_score_settings *settings, size_t entities)
{
    wfre_sketch_shape s = {
        .entities = entities, .dim = settings->dimension, .block = settings->block};
    s.blocks = s.dim / s.block;
    s.sums = settings->radius > 1 ? s.block + 1 : 1;
    s.raw = 1 + 2 * s.block + s.sums;
    s.rank = s.block + 1;
    s.width = s.blocks * s.rank;
    s.stride = (s.width + PADDING - 1) / PADDING * PADDING;
    return s;
}

wfre_sketch_tables *wfre_sketch_tables_allocate(const wfre_sketch_shape *shape)
{
    wfre_sketch_tables *t = wfre_alloc_zero(1, sizeof *t);
    if (!t)
        return NULL;
    t->shape = *shape;
    t->entity_map = wfre_alloc(shape->raw * shape->rank, sizeof *t->entity_map);
    t->query_map = wfre_alloc(shape->raw * shape->rank, sizeof *t->query_map);
    t->means = wfre_alloc(shape->rank, sizeof *t->means);
    t->steps = wfre_alloc(shape->entities, sizeof *t->steps);
    t->features = wfre_alloc(shape->entities, shape->stride);
    if (t->entity_map && t->query_map && t->means && t->steps && t->features)
        return t;
    wfre_sketch_tables_free(t);
    return NULL;
}

void wfre_sketch_tables_free(wfre_sketch_tables *tables)
{
    if (!tables)
        return;
    if (!tables->mapped) {
        wfre_free(tables->entity_map);
        wfre_free(tables->query_map);
        wfre_free(tables->means);
        wfre_free(tables->steps);
        wfre_free(tables->features);
    }
    wfre_free(tables);
}

void wfre_sketch_tables_store(const wfre_sketch_tables *tables,
                              wfre_stored_tensor tensors[WFRE_SKETCH_TENSORS])
{
    const wfre_sketch_shape *shape = &tables->shape;
    const wfre_stored_tensor all[WFRE_SKETCH_TENSORS] = {
        {"search.entity_map", WFRE_DTYPE_F32, 2, {shape->raw, shape->rank}, tables->entity_map},
        {"search.query_map", WFRE_DTYPE_F32, 2, {shape->raw, shape->rank}, tables->query_map},
        {"search.means", WFRE_DTYPE_F32, 1, {shape->rank}, tables->means},
        {"search.steps", WFRE_DTYPE_F32, 1, {shape->entities}, tables->steps},
        {"search.features", WFRE_DTYPE_I8, 2, {shape->entities, shape->stride}, tables->features},
    };
    memcpy(tensors, all, sizeof all);
}

wfre_status wfre_sketch_tables_find(const wfre_safetensors *file, const wfre_sketch_shape *shape,
                                    wfre_sketch_tables **tables, wfre_error *error)
{
    const wfre_sketch_tables nowhere = {.shape = *shape};
    wfre_stored_tensor wanted[WFRE_SKETCH_TENSORS];
    void *data[WFRE_SKETCH_TENSORS];
    *tables = NULL;
    wfre_sketch_tables_store(&nowhere, wanted);
    for (int i = 0; i < WFRE_SKETCH_TENSORS; i++) {
        const wfre_stored_tensor *found = wfre_safetensors_find(file, wanted[i].name);
        if (!found || found->dtype != wanted[i].dtype || found->rank != wanted[i].rank ||
            memcmp(found->shape, wanted[i].shape, found->rank * sizeof found->shape[0]) != 0)
            return WFRE_OK;
        data[i] = (void *)(uintptr_t)found->data;
    }
    wfre_sketch_tables *t = wfre_alloc_zero(1, sizeof *t);
    if (!t)
        return wfre_fail_memory(error, "opening a model");
    *t = (wfre_sketch_tables){.shape = *shape,
                              .entity_map = data[0],
                              .query_map = data[1],
                              .means = data[2],
                              .steps = data[3],
                              .features = data[4],
                              .mapped = true};
    *tables = t;
    return WFRE_OK;
}
