/* Model files for tests that change them. */
#ifndef WFRE_TESTS_SEALING_H
#define WFRE_TESTS_SEALING_H

#include <stdio.h>
#include <string.h>

#include "base/hash.h"

/* Makes the checksums of a model's file fit what is there, as a malicious file would; false if the
 * file has none where they belong. Written apart from src/model/safetensors.c, from docs/FORMAT.md.
 */
static inline bool model_seal(char *bytes, size_t length)
{
    static const char prefix[] = "{\"__metadata__\":{\"checksum\":\"",
                      digits[] = "0123456789abcdef";
    static const char entry[] = "\"checksums\":{\"dtype\":\"U64\",\"shape\":[";
    enum { DIGITS = 16, PREFIX = sizeof prefix - 1, BLOCK = 65536 };
    size_t header = 0, at = 0, blocks = 0;
    for (int i = 0; i < 8 && length >= 8; i++)
        header |= (size_t)(unsigned char)bytes[i] << (8 * i);
    if (length < 8 || header > length - 8 || header < PREFIX + DIGITS + sizeof entry ||
        memcmp(bytes + 8, prefix, PREFIX) != 0)
        return false;
    for (at = 8; at < 8 + header - sizeof entry && memcmp(bytes + at, entry, sizeof entry - 1);)
        at++;
    if (at == 8 + header - sizeof entry)
        return false;
    for (at += sizeof entry - 1; bytes[at] >= '0' && bytes[at] <= '9' && blocks < length; at++)
        blocks = 10 * blocks + (size_t)(bytes[at] - '0');
    char *sums = bytes + 8 + header, *data = sums + 8 * blocks;
    if (blocks > (length - 8 - header) / 8)
        return false;
    size_t size = (size_t)(bytes + length - data);
    if (blocks != (size + BLOCK - 1) / BLOCK)
        return false;
    for (size_t i = 0; i < blocks; i++) {
        size_t left = size - i * BLOCK;
        uint64_t sum = wfre_hash(data + i * BLOCK, left < BLOCK ? left : BLOCK, 0);
        memcpy(sums + 8 * i, &sum, sizeof sum);
    }
    const char *rest = bytes + 8 + PREFIX + DIGITS;
    uint64_t parts[3] = {wfre_hash(sums, 8 * blocks, 0), wfre_hash(bytes + 8, PREFIX, 0),
                         wfre_hash(rest, header - PREFIX - DIGITS, 0)};
    uint64_t all = wfre_hash(parts, sizeof parts, 0);
    for (int i = 0; i < DIGITS; i++)
        bytes[8 + PREFIX + i] = digits[all >> (4 * (DIGITS - 1 - i)) & 15];
    return true;
}

#endif
