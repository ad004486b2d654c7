/* Reading and writing safetensors. The reader trusts nothing: every offset is checked against the
 * shape, the file's size and the other tensors before a pointer is handed out. */
#include "model/safetensors.h"

#include <jansson.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/bf16.h"
#include "base/hash.h"
#include "base/memory.h"
#include "base/scope.h"
#include "base/text.h"

enum { ALIGNMENT = 64, MAXIMUM_HEADER = 100 << 20, LENGTH_BYTES = 8 };

static const struct {
    const char *name;
    size_t size;
} DTYPES[] = {
    [WFRE_DTYPE_F32] = {"F32", 4},
    [WFRE_DTYPE_BF16] = {"BF16", 2},
    [WFRE_DTYPE_I8] = {"I8", 1},
    [WFRE_DTYPE_U64] = {"U64", 8},
};
enum { DTYPE_COUNT = sizeof DTYPES / sizeof DTYPES[0], WIDEST = 8 };

/* ---- checksums ---------------------------------------------------------------------------- */

enum { BLOCK = 1 << 16 };
static const char SUMS_NAME[] = "checksums", SUM_KEY[] = "checksum";
/* What a header with a checksum begins with, and what stands for it while it is computed. */
static const char SUM_PREFIX[] = "{\"__metadata__\":{\"checksum\":\"",
                  NO_SUM[] = "0000000000000000";

/* Of the checksums of blocks, and the header without its own. */
static uint64_t sum_of_all(const char *header, size_t length, const uint64_t *sums, size_t count)
{
    size_t digits = strlen(SUM_PREFIX), after = digits + strlen(NO_SUM);
    uint64_t parts[3] = {wfre_hash(sums, count * sizeof *sums, 0), wfre_hash(header, digits, 0),
                         wfre_hash(header + after, length - after, 0)};
    return wfre_hash(parts, sizeof parts, 0);
}

/* ---- writing ------------------------------------------------------------------------------ */

static size_t element_count(const wfre_stored_tensor *tensor)
{
    size_t count = 1;
    for (uint32_t i = 0; i < tensor->rank; i++)
        count *= tensor->shape[i];
    return count;
}

static size_t byte_count(const wfre_stored_tensor *tensor)
{
    return element_count(tensor) * DTYPES[tensor->dtype].size;
}

/* A file as it is being written. */
typedef struct output {
    const wfre_stored_tensor *tensors;
    size_t count;
    wfre_writer *writer;
    unsigned char *block; /* the bytes of the block that is not yet full */
    size_t filled;
    uint64_t *sums; /* of those that are */
    size_t sum_count;
} output;

static void write_entry(wfre_text *header, const wfre_stored_tensor *tensor, size_t *offset)
{
    size_t bytes = byte_count(tensor);
    wfre_text_char(header, ',');
    wfre_text_json(header, tensor->name, strlen(tensor->name));
    wfre_text_format(header, ":{\"dtype\":\"%s\",\"shape\":[", DTYPES[tensor->dtype].name);
    for (uint32_t i = 0; i < tensor->rank; i++)
        wfre_text_format(header, "%s%zu", i ? "," : "", tensor->shape[i]);
    wfre_text_format(header, "],\"data_offsets\":[%zu,%zu]}", *offset, *offset + bytes);
    *offset += bytes;
}

static wfre_status write_header(wfre_text *header, const output *out, const wfre_metadata *metadata,
                                size_t metadata_count, wfre_error *error)
{
    const wfre_stored_tensor sums = {SUMS_NAME, WFRE_DTYPE_U64, 1, {out->sum_count}, out->sums};
    size_t offset = 0;
    wfre_text_add(header, SUM_PREFIX);
    wfre_text_add(header, NO_SUM);
    wfre_text_char(header, '"');
    for (size_t i = 0; i < metadata_count; i++) {
        wfre_text_char(header, ',');
        wfre_text_json(header, metadata[i].key, strlen(metadata[i].key));
        wfre_text_char(header, ':');
        wfre_text_json(header, metadata[i].value, strlen(metadata[i].value));
    }
    wfre_text_char(header, '}');
    write_entry(header, &sums, &offset);
    for (size_t width = WIDEST; width > 0; width /= 2)
        for (size_t i = 0; i < out->count; i++)
            if (DTYPES[out->tensors[i].dtype].size == width)
                write_entry(header, &out->tensors[i], &offset);
    wfre_text_char(header, '}');
    while (!header->failed && (header->length + LENGTH_BYTES) % ALIGNMENT != 0)
        wfre_text_char(header, ' ');
    if (header->failed)
        return wfre_text_status(header, "writing a model", error);
    char digits[sizeof NO_SUM];
    uint64_t sum = sum_of_all(header->data, header->length, out->sums, out->sum_count);
    (void)snprintf(digits, sizeof digits, "%016llx", (unsigned long long)sum);
    memcpy(header->data + strlen(SUM_PREFIX), digits, strlen(NO_SUM));
    return WFRE_OK;
}

/* Adds bytes to the checksums of blocks. */
static wfre_status sum_bytes(output *out, const void *bytes, size_t length, wfre_error *error)
{
    const unsigned char *from = bytes;
    for (size_t i = 0; i < length;) {
        size_t room = BLOCK - out->filled, part = length - i < room ? length - i : room;
        memcpy(out->block + out->filled, from + i, part);
        out->filled += part;
        i += part;
        if (out->filled == BLOCK) {
            if (wfre_may_leave())
                return wfre_check_stop(error);
            out->sums[out->sum_count++] = wfre_hash(out->block, BLOCK, 0);
            out->filled = 0;
        }
    }
    return WFRE_OK;
}

static wfre_status write_bytes(output *out, const void *bytes, size_t length, wfre_error *error)
{
    return wfre_writer_put(out->writer, bytes, length, error);
}

typedef wfre_status take_bytes(output *out, const void *bytes, size_t length, wfre_error *error);

static wfre_status give_tensor(output *out, const wfre_stored_tensor *tensor, take_bytes *take,
                               wfre_error *error)
{
    size_t count = element_count(tensor);
    if (tensor->dtype != WFRE_DTYPE_BF16)
        return take(out, tensor->data, count * DTYPES[tensor->dtype].size, error);
    const float *values = tensor->data;
    uint16_t rounded[4096];
    for (size_t i = 0; i < count;) {
        size_t step = 0;
        for (; step < 4096 && i < count; step++, i++)
            rounded[step] = wfre_bf16_from_float(values[i]);
        wfre_status status = take(out, rounded, step * sizeof rounded[0], error);
        if (status != WFRE_OK)
            return status;
    }
    return WFRE_OK;
}

/* The bytes of all tensors in the order of the file. */
static wfre_status give_data(output *out, take_bytes *take, wfre_error *error)
{
    for (size_t width = WIDEST; width > 0; width /= 2)
        for (size_t i = 0; i < out->count; i++)
            if (DTYPES[out->tensors[i].dtype].size == width) {
                wfre_status status = give_tensor(out, &out->tensors[i], take, error);
                if (status != WFRE_OK)
                    return status;
            }
    return WFRE_OK;
}

static wfre_status sum_data(output *out, wfre_error *error)
{
    size_t bytes = 0;
    for (size_t i = 0; i < out->count; i++)
        bytes += byte_count(&out->tensors[i]);
    out->block = wfre_alloc(BLOCK, 1);
    out->sums = wfre_alloc(bytes / BLOCK + 1, sizeof *out->sums);
    if (!out->block || !out->sums)
        return wfre_fail_memory(error, "writing a model");
    wfre_status status = give_data(out, sum_bytes, error);
    if (out->filled > 0)
        out->sums[out->sum_count++] = wfre_hash(out->block, out->filled, 0);
    return status;
}

wfre_status wfre_safetensors_write(const char *path, const wfre_stored_tensor *tensors,
                                   size_t count, const wfre_metadata *metadata,
                                   size_t metadata_count, wfre_error *error)
{
    wfre_text header = {0};
    wfre_writer writer = {0};
    output out = {.tensors = tensors, .count = count, .writer = &writer};
    wfre_status status;
    TRY(sum_data(&out, error));
    TRY(write_header(&header, &out, metadata, metadata_count, error));
    TRY(wfre_writer_open(&writer, path, error));
    unsigned char length[LENGTH_BYTES];
    for (int i = 0; i < LENGTH_BYTES; i++)
        length[i] = (unsigned char)((uint64_t)header.length >> (8 * i));
    TRY(wfre_writer_put(&writer, length, sizeof length, error));
    TRY(wfre_writer_put(&writer, header.data, header.length, error));
    TRY(wfre_writer_put(&writer, out.sums, out.sum_count * sizeof *out.sums, error));
    TRY(give_data(&out, write_bytes, error));
    TRY(wfre_writer_commit(&writer, error));
cleanup:
    wfre_writer_discard(&writer);
    wfre_text_free(&header);
    wfre_free(out.block);
    wfre_free(out.sums);
    return status;
}

/* ---- reading ------------------------------------------------------------------------------ */

struct wfre_safetensors {
    wfre_mapping mapping;
    void *copy;                  /* of the data, if they are not aligned in the mapping */
    json_t *header;              /* owns the names and metadata */
    wfre_stored_tensor *tensors; /* by place */
    size_t count;
    char *path;
    const unsigned char *data; /* what blocks are counted from: all but the checksums */
    size_t size;
    const uint64_t *sums;     /* of blocks, or NULL */
    _Atomic uint64_t *looked; /* a bit for each block that is whole */
    _Atomic uint64_t flaw;    /* the first: 0, BAD_BLOCK, or BAD_NUMBER + place of the number */
};

enum { BAD_BLOCK = 1, BAD_NUMBER = 2 };

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

/* Nothing but checksums is stored in 64 bits: they show themselves even if damage changed both the
 * tensor's name and the metadata's key. */
static bool has_nameless_sums(const wfre_safetensors *file)
{
    for (size_t i = 0; i < file->count; i++)
        if (file->tensors[i].dtype == WFRE_DTYPE_U64)
            return true;
    return false;
}

/* Finds the checksums, compares the one of all, and makes room to remember what was looked at. */
static wfre_status find_sums(wfre_safetensors *file, const char *header, size_t length,
                             const unsigned char *data, size_t size, wfre_error *error)
{
    const wfre_stored_tensor *sums = wfre_safetensors_find(file, SUMS_NAME);
    const char *digits = wfre_safetensors_metadata(file, SUM_KEY);
    size_t room = sums ? byte_count(sums) : 0, blocks = (size - room + BLOCK - 1) / BLOCK;
    file->data = data + room;
    file->size = size - room;
    file->looked = wfre_alloc_zero(blocks / 64 + 1, sizeof *file->looked);
    if (!file->looked)
        return wfre_fail_memory(error, "opening a model");
    if (!sums && !digits && !has_nameless_sums(file))
        return WFRE_OK; /* of a time before there were any */
    if (!sums || !digits || sums->dtype != WFRE_DTYPE_U64 || sums->rank != 1 ||
        sums->shape[0] != blocks || sums->data != data || strlen(digits) != strlen(NO_SUM) ||
        length < sizeof SUM_PREFIX + sizeof NO_SUM ||
        memcmp(header, SUM_PREFIX, strlen(SUM_PREFIX)) != 0)
        return damaged(file->path, "its checksums are not where they belong", error);
    char expected[sizeof NO_SUM];
    uint64_t sum = sum_of_all(header, length, sums->data, blocks);
    (void)snprintf(expected, sizeof expected, "%016llx", (unsigned long long)sum);
    if (memcmp(header + strlen(SUM_PREFIX), expected, strlen(NO_SUM)) != 0)
        return damaged(file->path, "it does not fit its checksum; take another copy", error);
    file->sums = sums->data;
    return WFRE_OK;
}

wfre_status wfre_safetensors_open(const char *path, wfre_safetensors **result, wfre_error *error)
{
    wfre_safetensors *file = wfre_alloc_zero(1, sizeof *file);
    const unsigned char *data;
    wfre_status status;
    if (!file)
        return wfre_fail_memory(error, "opening a model");
    file->path = wfre_copy_text(path, strlen(path));
    if (!file->path) {
        status = wfre_fail_memory(error, "opening a model");
        goto cleanup;
    }
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
    TRY(find_sums(file, (const char *)bytes + LENGTH_BYTES, (size_t)header, data, length - start,
                  error));
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
    wfre_free(file->path);
    wfre_free(file->looked);
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

/* ---- looking ------------------------------------------------------------------------------ */

static bool is_finite(const wfre_stored_tensor *tensor, size_t byte)
{
    const unsigned char *at = (const unsigned char *)tensor->data + byte;
    uint32_t bits = 0;
    if (tensor->dtype == WFRE_DTYPE_F32)
        memcpy(&bits, at, 4);
    else
        memcpy((unsigned char *)&bits + 2, at, 2); /* bfloat16: the upper half of a float */
    return (bits & 0x7F800000u) != 0x7F800000u;
}

/* Whether a whole run of numbers is finite, eight bytes at a time: an exponent that is all ones
 * carries into the place of the sign. False also if they are no multiple of that. */
static bool are_finite(const wfre_stored_tensor *tensor, size_t from, size_t to)
{
    const unsigned char *at = (const unsigned char *)tensor->data;
    bool wide = tensor->dtype == WFRE_DTYPE_F32;
    uint64_t exponent = wide ? 0x7F8000007F800000u : 0x7F807F807F807F80u;
    uint64_t one = wide ? 0x0080000000800000u : 0x0080008000800080u, carried = 0, word;
    if ((to - from) % sizeof word != 0)
        return false;
    for (size_t i = from; i < to; i += sizeof word) {
        memcpy(&word, at + i, sizeof word);
        carried |= (word & exponent) + one;
    }
    return (carried & (wide ? 0x8000000080000000u : 0x8000800080008000u)) == 0;
}

/* Whether all numbers in data[begin .. end) are finite; remembers the first that is not. */
static bool look_at_numbers(wfre_safetensors *file, size_t begin, size_t end)
{
    for (size_t t = 0; t < file->count; t++) {
        const wfre_stored_tensor *tensor = &file->tensors[t];
        if (tensor->dtype != WFRE_DTYPE_F32 && tensor->dtype != WFRE_DTYPE_BF16)
            continue;
        size_t first = (size_t)((const unsigned char *)tensor->data - file->data);
        size_t last = first + byte_count(tensor), size = DTYPES[tensor->dtype].size;
        size_t from = begin > first ? begin : first, to = end < last ? end : last;
        if (from >= to || are_finite(tensor, from - first, to - first))
            continue;
        for (size_t i = from; i < to; i += size)
            if (!is_finite(tensor, i - first)) {
                uint64_t none = 0;
                (void)atomic_compare_exchange_strong(&file->flaw, &none, BAD_NUMBER + i);
                return false;
            }
    }
    return true;
}

static bool is_looked_at(const wfre_safetensors *file, size_t block)
{
    return atomic_load_explicit(&file->looked[block / 64], memory_order_acquire) >> block % 64 & 1;
}

/* Whether the four blocks from this one on are whole and were not looked at yet. */
static bool are_four(const wfre_safetensors *file, size_t block)
{
    if ((block + 4) * BLOCK > file->size)
        return false;
    for (size_t i = 0; i < 4; i++)
        if (is_looked_at(file, block + i))
            return false;
    return true;
}

/* Looks at one block, or at four that lie one behind the other. */
static bool look_at_blocks(wfre_safetensors *file, size_t block, size_t count)
{
    size_t begin = block * BLOCK;
    size_t end = begin + count * BLOCK < file->size ? begin + count * BLOCK : file->size;
    const unsigned char *at = file->data + begin;
    uint64_t none = 0, sums[4];
    if (file->sums) {
        if (count == 4)
            wfre_hash_four((const void *[]){at, at + BLOCK, at + 2 * BLOCK, at + 3 * BLOCK}, BLOCK,
                           sums);
        else
            sums[0] = wfre_hash(at, end - begin, 0);
    }
    if (file->sums && memcmp(sums, file->sums + block, count * sizeof *sums) != 0) {
        (void)atomic_compare_exchange_strong(&file->flaw, &none, BAD_BLOCK);
        return false;
    }
    if (!look_at_numbers(file, begin, end))
        return false;
    for (size_t i = block; i < block + count; i++)
        atomic_fetch_or_explicit(&file->looked[i / 64], (uint64_t)1 << i % 64,
                                 memory_order_release);
    return true;
}

bool wfre_safetensors_look(wfre_safetensors *file, const void *from, size_t length)
{
    if (length == 0)
        return true;
    size_t begin = (size_t)((const unsigned char *)from - file->data);
    size_t last = (begin + length - 1) / BLOCK, count;
    for (size_t block = begin / BLOCK; block <= last; block += count) {
        if (wfre_may_leave())
            return false;
        count = block + 3 <= last && are_four(file, block) ? 4 : 1;
        if (!is_looked_at(file, block) && !look_at_blocks(file, block, count))
            return false;
    }
    return true;
}

wfre_status wfre_safetensors_look_at_all(wfre_safetensors *file, wfre_error *error)
{
    bool all = wfre_safetensors_look(file, file->data, file->size);
    CHECK(wfre_safetensors_status(file, error));
    return all ? WFRE_OK : wfre_check_stop(error);
}

wfre_status wfre_safetensors_status(const wfre_safetensors *file, wfre_error *error)
{
    uint64_t flaw = atomic_load(&file->flaw);
    if (flaw == 0)
        return WFRE_OK;
    if (flaw == BAD_BLOCK)
        return wfre_fail(error, WFRE_ERR_FORMAT, WFRE_NO_OFFSET,
                         "%s: damaged: its numbers do not fit their checksums; take another copy",
                         file->path);
    const unsigned char *at = file->data + (flaw - BAD_NUMBER);
    const wfre_stored_tensor *tensor = file->tensors;
    for (size_t t = 0; t < file->count; t++) /* the last one that begins before, and has numbers */
        if ((const unsigned char *)file->tensors[t].data <= at && byte_count(&file->tensors[t]) > 0)
            tensor = &file->tensors[t];
    return wfre_fail(
        error, WFRE_ERR_NUMERIC, WFRE_NO_OFFSET,
        "%s: number %zu of %s is not finite; train again, or take another copy", file->path,
        (size_t)(at - (const unsigned char *)tensor->data) / DTYPES[tensor->dtype].size,
        tensor->name);
}
