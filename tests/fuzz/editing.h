/* For fuzz targets of files with checksums: the input is a list of edits of a file that is right,
 * so that the fuzzer gets behind the checksums, which are made to fit afterwards. */
#ifndef WFRE_TESTS_FUZZ_EDITING_H
#define WFRE_TESTS_FUZZ_EDITING_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Each four bytes of the input are a place (three bytes) and what to put there. Returns a copy that
 * the caller frees; *size may be cut by an edit of the last place that can be named. */
static inline unsigned char *edited(const void *file, size_t *size, const uint8_t *edits,
                                    size_t length)
{
    unsigned char *copy = malloc(*size ? *size : 1);
    if (!copy)
        abort();
    memcpy(copy, file, *size);
    for (size_t i = 0; i + 4 <= length && *size > 0; i += 4) {
        size_t at = edits[i] | (size_t)edits[i + 1] << 8 | (size_t)edits[i + 2] << 16;
        if (at == 0xFFFFFF)
            *size -= edits[i + 3] % (*size + 1);
        else
            copy[at % *size] = edits[i + 3];
    }
    return copy;
}

#endif
