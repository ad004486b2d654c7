/* Reading and writing safetensors. The reader trusts nothing: every offset is checked against the
 * shape, the file's size and the other tensors before a pointer is handed out. */
#include "model/safetensors.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/bf16.h"
#include "base/memory.h"
#include "base/text.h"

enum { ALIGNMENT = 64, MAXIMUM_HEADER = 100 << 20, LENGTH_BYTES = 8 };

static const struct {
    const char *name;
    size_t size;
} DTYPES[] = {
    [WFRE_DTYPE_F32] = {"F32", 4},
    [WFRE_DTYPE_BF16] = {"BF16", 2},
    [WFRE_DTYPE_I8] = {"I8", 1},
};
enum { DTYPE_COUNT = sizeof DTYPES / sizeof DTYPES[0], WIDEST = 8 };

/* ---- writing ------------------------------------------------------------------------------ */

static size_t element_count(const wfre_stored_tensor *tensor)
{
    size_t count = 1;
    for (uint32_t i = 0; i < tensor->rank; i++)
        count *= tensor->shape[i];
    return count;
}

static void write_entry(wfre_text *header, const wfre_stored_tensor *tensor, size_t *offset)
{
    size_t bytes = element_count(tensor) * DTYPES[tensor->dtype].size;
    wfre_text_char(header, ',');
    wfre_text_json(header, tensor->name, strlen(tensor->name));
    wfre_text_format(header, ":{\"dtype\":\"%s\",\"shape\":[", DTYPES[tensor->dtype].name);
    for (uint32_t i = 0; i < tensor->rank; i++)
        wfre_text_format(header, "%s%zu", i ? "," : "", tensor->shape[i]);
    wfre_text_format(header, "],\"data_offsets\":[%zu,%zu]}", *offset, *offset + bytes);
    *offset += bytes;
}

static wfre_status write_header(wfre_text *header, const wfre_stored_tensor *tensors, size_t count,
                                const wfre_metadata *metadata, size_t metadata_count,
                                wfre_error *error)
{
    wfre_text_add(header, "{\"__metadata__\":{");
    for (size_t i = 0; i < metadata_count; i++) {
        wfre_text_add(header, i ? "," : "");
        wfre_text_json(header, metadata[i].key, strlen(metadata[i].key));
        wfre_text_char(header, ':');
        wfre_text_json(header, metadata[i].value, strlen(metadata[i].value));
    }
    wfre_text_char(header, '}');
    size_t offset = 0;
    for (size_t width = WIDEST; width > 0; width /= 2)
        for (size_t i = 0; i < count; i++)
            if (DTYPES[tensors[i].dtype].size == width)
                write_entry(header, &tensors[i], &offset);
    wfre_text_char(header, '}');
    while (!header->failed && (header->length + LENGTH_BYTES) % ALIGNMENT != 0)
        wfre_text_char(header, ' ');
    return wfre_text_status(header, "writing a model", error);
}

static wfre_status write_data(wfre_writer *writer, const wfre_stored_tensor *tensor,
                              wfre_error *error)
{
    size_t count = element_count(tensor);
    if (tensor->dtype != WFRE_DTYPE_BF16)
        return wfre_writer_put(writer, tensor->data, count * DTYPES[tensor->dtype].size, error);
    const float *values = tensor->data;
    uint16_t rounded[4096];
    for (size_t i = 0; i < count;) {
        size_t step = 0;
        for (; step < 4096 && i < count; step++, i++)
            rounded[step] = wfre_bf16_from_float(values[i]);
        wfre_status status = wfre_writer_put(writer, rounded, step * sizeof rounded[0], error);
        if (status != WFRE_OK)
            return status;
    }
    return WFRE_OK;
}

wfre_status wfre_safetensors_write(const char *path, const wfre_stored_tensor *tensors,
                                   size_t count, const wfre_metadata *metadata,
                                   size_t metadata_count, wfre_error *error)
{
    wfre_text header = {0};
    wfre_writer writer = {0};
    wfre_status status;
    TRY(write_header(&header, tensors, count, metadata, metadata_count, error));
    TRY(wfre_writer_open(&writer, path, error));
    unsigned char length[LENGTH_BYTES];
    for (int i = 0; i < LENGTH_BYTES; i++)
        length[i] = (unsigned char)((uint64_t)header.length >> (8 * i));
    TRY(wfre_writer_put(&writer, length, sizeof length, error));
    TRY(wfre_writer_put(&writer, header.data, header.length, error));
    for (size_t width = WIDEST; width > 0; width /= 2)
        for (size_t i = 0; i < count; i++)
            if (DTYPES[tensors[i].dtype].size == width)
                TRY(write_data(&writer, &tensors[i], error));
    TRY(wfre_writer_commit(&writer, error));
cleanup:
    wfre_writer_discard(&writer);
    wfre_text_free(&header);
    return status;
}

/* ---- reading ------------------------------------------------------------------------------ */

struct wfre_safetensors {
    wfre_mapping mapping;
    void *copy;     /* of the data, if they are not aligned in the mapping */
    json_t *header; /* owns the names and metadata */
    wfre_stored_tensor *tensors;
    size_t count;
};

static wfre_status damaged(const char *path, const char *why, wfre_error *error)
{
    return wfre_fail(error, WFRE_ERR_FORMAT, WFRE_NO_OFFSET, "%s: not a whole safetensors file: %s",
                     path, why);
}

/* A JSON array of at most `most` whole numbers >= 0. */
static bool read_sizes(const json_t *array, size_t most, size_t *sizes, uint32_t *count)
{
    if (!json_is_array(array) || json_array_size(array) > most)
        return false;
    *count = (uint32_t)json_array_size(array);
    for (uint32_t i = 0; i < *count; i++) {
        const json_t *item = json_array_get(array, i);
        if (!json_is_integer(item) || json_integer_value(item) < 0)
            return false;
        sizes[i] = (size_t)json_integer_value(item);
    }
    return true;
}

/* Whether shape and dtype fill exactly the bytes [begin, end) of a data area of `size` bytes. */
static bool fills(const wfre_stored_tensor *tensor, size_t begin, size_t end, size_t size)
{
    if (begin > end || end > size)
        return false;
    size_t bytes = DTYPES[tensor->dtype].size;
    for (uint32_t i = 0; i < tensor->rank; i++) {
        if (tensor->shape[i] != 0 && bytes > (SIZE_MAX / 2) / tensor->shape[i])
            return false;
        bytes *= tensor->shape[i];
    }
    return bytes == end - begin;
}

static bool read_entry(const char *name, const json_t *entry, const unsigned char *data,
                       size_t size, wfre_stored_tensor *tensor)
{
    const char *dtype = json_string_value(json_object_get(entry, "dtype"));
    size_t offsets[2];
    uint32_t offset_count = 0;
    *tensor = (wfre_stored_tensor){.name = name};
    int found = -1;
    for (int i = 0; i < DTYPE_COUNT; i++)
        if (dtype && strcmp(DTYPES[i].name, dtype) == 0)
            found = i;
    if (found < 0)
        return false;
    tensor->dtype = (wfre_dtype)found;
    if (!read_sizes(json_object_get(entry, "shape"), 3, tensor->shape, &tensor->rank) ||
        !read_sizes(json_object_get(entry, "data_offsets"), 2, offsets, &offset_count) ||
        offset_count != 2 || offsets[0] % DTYPES[found].size != 0 ||
        !fills(tensor, offsets[0], offsets[1], size))
        return false;
    tensor->data = data + offsets[0];
    return true;
}

static bool metadata_is_text(const json_t *metadata)
{
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)metadata, key, value)
    {
        if (!json_is_string(value))
            return false;
    }
    return true;
}

static size_t byte_count(const wfre_stored_tensor *tensor)
{
    return element_count(tensor) * DTYPES[tensor->dtype].size;
}

/* By place; of those that begin at the same one, those without bytes first. */
static int compare_places(const void *left, const void *right)
{
    const wfre_stored_tensor *a = left, *b = right;
    if (a->data != b->data)
        return (const char *)a->data < (const char *)b->data ? -1 : 1;
    size_t x = byte_count(a), y = byte_count(b);
    return x < y ? -1 : x > y;
}

/* Fills the table of tensors from the header; the tensors must tile the data area. */
static wfre_status read_entries(wfre_safetensors *file, const char *path, const unsigned char *data,
                                size_t size, wfre_error *error)
{
    const char *name;
    json_t *entry;
    file->tensors = wfre_alloc(json_object_size(file->header), sizeof *file->tensors);
    if (!file->tensors)
        return wfre_fail_memory(error, "reading a model");
    json_object_foreach(file->header, name, entry)
    {
        if (strcmp(name, "__metadata__") == 0) {
            if (!metadata_is_text(entry))
                return damaged(path, "its metadata is not text", error);
            continue;
        }
        wfre_stored_tensor *tensor = &file->tensors[file->count];
        if (!read_entry(name, entry, data, size, tensor))
            return damaged(path, "a tensor's type, shape or place is wrong", error);
        file->count++;
    }
    if (file->count > 0)
        qsort(file->tensors, file->count, sizeof *file->tensors, compare_places);
    const unsigned char *next = data;
    for (size_t i = 0; i < file->count; i++) {
        if (file->tensors[i].data != next)
            return damaged(path, "its tensors overlap or leave bytes between them", error);
        next += byte_count(&file->tensors[i]);
    }
    if (next != data + size)
        return damaged(path, "it is cut short, or has bytes that belong to no tensor", error);
    return WFRE_OK;
}

/* Finds the data, which begin at `start`. Not every program fills the header up to where numbers
 * may lie; then they are copied. */
static wfre_status align_data(wfre_safetensors *file, size_t start, const unsigned char **data,
                              wfre_error *error)
{
    size_t size = file->mapping.length - start;
    *data = file->mapping.bytes + start;
    if (start % WIDEST == 0)
        return WFRE_OK;
    file->copy = wfre_alloc_tensor(size, 1);
    if (!file->copy)
        return wfre_fail_memory(error, "opening a model");
    memcpy(file->copy, *data, size);
    *data = file->copy;
    return WFRE_OK;
}

wfre_status wfre_safetensors_open(const char *path, wfre_safetensors **result, wfre_error *error)
{
    wfre_safetensors *file = wfre_alloc_zero(1, sizeof *file);
    const unsigned char *data;
    wfre_status status;
    if (!file)
        return wfre_fail_memory(error, "opening a model");
    TRY(wfre_map_file(path, &file->mapping, error));
    const unsigned char *bytes = file->mapping.bytes;
    size_t length = file->mapping.length;
    uint64_t header = 0;
    for (int i = 0; length >= LENGTH_BYTES && i < LENGTH_BYTES; i++)
        header |= (uint64_t)bytes[i] << (8 * i);
    if (length < LENGTH_BYTES || header > MAXIMUM_HEADER || header > length - LENGTH_BYTES) {
        status = damaged(path, "its header does not fit", error);
        goto cleanup;
    }
    json_error_t reason;
    file->header = json_loadb((const char *)bytes + LENGTH_BYTES, (size_t)header,
                              JSON_REJECT_DUPLICATES, &reason);
    if (!json_is_object(file->header)) {
        status = damaged(path, "its header is not a JSON object", error);
        goto cleanup;
    }
    size_t start = LENGTH_BYTES + (size_t)header;
    TRY(align_data(file, start, &data, error));
    TRY(read_entries(file, path, data, length - start, error));
    *result = file;
    file = NULL;
cleanup:
    wfre_safetensors_close(file);
    return status;
}

void wfre_safetensors_close(wfre_safetensors *file)
{
    if (!file)
        return;
    json_decref(file->header);
    wfre_free(file->tensors);
    wfre_free(file->copy);
    wfre_unmap(&file->mapping);
    wfre_free(file);
}

const wfre_stored_tensor *wfre_safetensors_find(const wfre_safetensors *file, const char *name)
{
    for (size_t i = 0; i < file->count; i++)
        if (strcmp(file->tensors[i].name, name) == 0)
            return &file->tensors[i];
    return NULL;
}

const char *wfre_safetensors_metadata(const wfre_safetensors *file, const char *key)
{
    return json_string_value(json_object_get(json_object_get(file->header, "__metadata__"), key));
}
