/* Model files: safetensors with every setting in the metadata, one key each. */
#ifndef WFRE_SRC_MODEL_FILE_H
#define WFRE_SRC_MODEL_FILE_H

#include "base/text.h"
#include "model/model.h"
#include "model/safetensors.h"

/* Extra content of a file: more tensors and metadata, such as a checkpoint's optimizer state. */
typedef struct wfre_model_extra {
    const wfre_stored_tensor *tensors;
    size_t tensor_count;
    const wfre_metadata *metadata;
    size_t metadata_count;
} wfre_model_extra;

/* extra may be NULL. */
WFRE_NODISCARD wfre_status wfre_model_write(const wfre_model *model, const char *path,
                                            wfre_dtype dtype, const wfre_model_extra *extra,
                                            wfre_error *error);
/* Reads a model out of an open file; `path` is for messages. Its tensors are copies. */
WFRE_NODISCARD wfre_status wfre_model_read(const wfre_safetensors *file, const char *path,
                                           wfre_model **model, wfre_error *error);
/* Its settings alone. */
WFRE_NODISCARD wfre_status wfre_model_read_settings(const wfre_safetensors *file, const char *path,
                                                    wfre_model_settings *settings,
                                                    wfre_error *error);
/* Copies a stored tensor of exactly `count` elements, float32 or bfloat16, as float32. */
WFRE_NODISCARD wfre_status wfre_model_read_tensor(const wfre_safetensors *file, const char *path,
                                                  const char *name, size_t count, float *out,
                                                  wfre_error *error);

#endif
