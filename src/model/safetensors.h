/* Safetensors files: 8 bytes of header length, a JSON header, then the tensors' bytes.
 *
 *   {"__metadata__": {"key": "text", ...},
 *    "name": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}, ...}
 *
 * The header is padded with blanks so that the first tensor, and with it every float32 tensor, is
 * aligned in a mapped file.
 *
 * Files that are written here begin with a tensor `checksums`: one for each 64 KiB of the data
 * behind it. The metadata's first key, `checksum`, is of these and of the header itself. So a file
 * can be checked piece by piece, when its numbers are first read. Numbers that are not finite are
 * found in the same look, in files without checksums, too. */
#ifndef WFRE_SRC_MODEL_SAFETENSORS_H
#define WFRE_SRC_MODEL_SAFETENSORS_H

#include "base/error.h"
#include "base/file.h"

typedef enum wfre_dtype {
    WFRE_DTYPE_F32,
    WFRE_DTYPE_BF16,
    WFRE_DTYPE_I8,
    WFRE_DTYPE_U64
} wfre_dtype;

typedef struct wfre_stored_tensor {
    const char *name;
    wfre_dtype dtype;
    uint32_t rank;
    size_t shape[3];
    const void *data;
} wfre_stored_tensor;

typedef struct wfre_metadata {
    const char *key;
    const char *value;
} wfre_metadata;

/* Writes the whole file atomically, wider elements first, so that all are aligned. A tensor of
 * dtype BF16 is given as float32 and rounded. */
WFRE_NODISCARD wfre_status wfre_safetensors_write(const char *path,
                                                  const wfre_stored_tensor *tensors, size_t count,
                                                  const wfre_metadata *metadata,
                                                  size_t metadata_count, wfre_error *error);

/* A file opened for reading. It owns the tensors' data, which are aligned. */
typedef struct wfre_safetensors wfre_safetensors;

WFRE_NODISCARD wfre_status wfre_safetensors_open(const char *path, wfre_safetensors **file,
                                                 wfre_error *error);
void wfre_safetensors_close(wfre_safetensors *file);
/* Looks at some bytes of the tensors before they are used, each block once: whether they fit their
 * checksum and are finite. Threads may share a file. The first flaw stays, for _status. */
bool wfre_safetensors_look(wfre_safetensors *file, const void *from, size_t length);
/* Looks at everything. */
WFRE_NODISCARD wfre_status wfre_safetensors_look_at_all(wfre_safetensors *file, wfre_error *error);
/* Whether all that was looked at was whole. */
WFRE_NODISCARD wfre_status wfre_safetensors_status(const wfre_safetensors *file, wfre_error *error);
/* NULL if there is no such tensor, or no such key. */
const wfre_stored_tensor *wfre_safetensors_find(const wfre_safetensors *file, const char *name);
const char *wfre_safetensors_metadata(const wfre_safetensors *file, const char *key);

#endif
