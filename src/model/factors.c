/* Factors: memory, files, and the product of complex rows. */
#include "model/factors.h"

#include <string.h>

#include "base/memory.h"
#include "base/rng.h"
#include "model/file.h"

static const double FIRST_SIZE = 1e-3; /* standard deviation of the first numbers */

/* The shapes of all, without memory. */
static wfre_factors *frame(const wfre_model_settings *settings, uint32_t entity_count,
                           uint32_t relation_count)
{
    wfre_factors *f = wfre_alloc_zero(1, sizeof *f);
    if (!f)
        return NULL;
    size_t width = 2 * (size_t)settings->factors;
    f->size = settings->factors;
    f->entities = wfre_tensor_shape("factors.entities", 2, entity_count, width, 1);
    f->relations = wfre_tensor_shape("factors.relations", 2, relation_count, width, 1);
    return f;
}

static wfre_status fail_memory(wfre_factors *f, wfre_error *error)
{
    wfre_factors_free(f);
    return wfre_fail_memory(error, "allocating a model; lower `factors`");
}

wfre_status wfre_factors_allocate(const wfre_model_settings *settings, uint32_t entity_count,
                                  uint32_t relation_count, wfre_factors **factors,
                                  wfre_error *error)
{
    wfre_factors *f = frame(settings, entity_count, relation_count);
    for (int i = 0; f && i < WFRE_FACTOR_TENSORS; i++) {
        f->tensors[i].data = wfre_alloc_tensor(f->tensors[i].count, sizeof(float));
        if (!f->tensors[i].data)
            return fail_memory(f, error);
    }
    *factors = f;
    return f ? WFRE_OK : fail_memory(f, error);
}

void wfre_factors_free(wfre_factors *f)
{
    if (!f)
        return;
    if (!f->mapped)
        wfre_free(f->entities.data);
    wfre_free(f->relations.data);
    wfre_free(f);
}

void wfre_factors_initialise(wfre_factors *f, uint64_t seed)
{
    for (uint32_t t = 0; t < WFRE_FACTOR_TENSORS; t++) {
        wfre_rng rng = wfre_rng_for(seed, WFRE_FOR_FACTORS, 0, t);
        for (size_t i = 0; i < f->tensors[t].count; i++)
            f->tensors[t].data[i] = (float)(FIRST_SIZE * wfre_rng_normal(&rng));
    }
}

/* The file's tensor, if it has one of this name and shape. */
static const wfre_stored_tensor *find(const wfre_safetensors *file, const wfre_tensor *tensor)
{
    const wfre_stored_tensor *stored = wfre_safetensors_find(file, tensor->name);
    bool same = stored && stored->rank == tensor->rank &&
                memcmp(stored->shape, tensor->shape, tensor->rank * sizeof *tensor->shape) == 0;
    return same ? stored : NULL;
}

wfre_status wfre_factors_read(const wfre_safetensors *file, const char *path,
                              const wfre_model_settings *settings, uint32_t entity_count,
                              uint32_t relation_count, bool map, wfre_factors **factors,
                              wfre_error *error)
{
    wfre_status status = WFRE_OK;
    *factors = NULL;
    if (settings->factors == 0)
        return WFRE_OK;
    wfre_factors *f = frame(settings, entity_count, relation_count);
    for (int i = 0; f && i < WFRE_FACTOR_TENSORS; i++) {
        wfre_tensor *tensor = &f->tensors[i];
        const wfre_stored_tensor *stored = find(file, tensor);
        if (!stored) { /* they must be there before memory is taken for them */
            status = wfre_fail(error, WFRE_ERR_FORMAT, WFRE_NO_OFFSET,
                               "%s: the tensor '%s' is missing or has the wrong shape", path,
                               tensor->name);
            goto cleanup;
        }
        if (map && tensor == &f->entities && stored->dtype == WFRE_DTYPE_F32) {
            tensor->data = (float *)(uintptr_t)stored->data;
            f->mapped = true;
            continue;
        }
        tensor->data = wfre_alloc_tensor(tensor->count, sizeof(float));
        if (!tensor->data)
            TRY(wfre_fail_memory(error, "reading a model"));
        TRY(wfre_model_read_tensor(file, path, tensor->name, tensor->count, tensor->data, error));
    }
    if (!f)
        TRY(wfre_fail_memory(error, "reading a model"));
    *factors = f;
    return WFRE_OK;
cleanup:
    wfre_factors_free(f);
    return status;
}

void wfre_factors_multiply(size_t size, const float *x, const float *y, float *z)
{
    const float *xi = x + size, *yi = y + size;
    for (size_t i = 0; i < size; i++) {
        z[i] = x[i] * y[i] - xi[i] * yi[i];
        z[size + i] = x[i] * yi[i] + xi[i] * y[i];
    }
}

void wfre_factors_add_conjugate(size_t size, const float *x, const float *y, float *z)
{
    const float *xi = x + size, *yi = y + size;
    for (size_t i = 0; i < size; i++) {
        z[i] += x[i] * y[i] + xi[i] * yi[i];
        z[size + i] += xi[i] * y[i] - x[i] * yi[i];
    }
}
