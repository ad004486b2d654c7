/* Hashing: a fast 64-bit hash for tables and checksums (not for adversaries),
 * and a string table. */
#ifndef WFRE_SRC_BASE_HASH_H
#define WFRE_SRC_BASE_HASH_H

#include "base/error.h"

/* A 64-bit avalanche mix of one word. */
uint64_t wfre_mix64(uint64_t word);

/* The hash of bytes[0 .. length). Stable across machines and versions: snapshot checksums and
 * fingerprints depend on it. */
uint64_t wfre_hash(const void *bytes, size_t length, uint64_t seed);
/* The hashes, with the seed 0, of four pieces of one length. A step of a hash waits for the step
 * before; four pieces wait together, which takes a third of the time. */
void wfre_hash_four(const void *const bytes[4], size_t length, uint64_t hashes[4]);

/* ---- string table: text -> 0, 1, 2, ... in order of first insertion ----------------------- */

typedef struct wfre_strings {
    char *bytes; /* all texts, one after another */
    size_t bytes_used;
    size_t bytes_capacity;
    uint64_t *offsets; /* count + 1 of them; text i is bytes[offsets[i] .. offsets[i+1]) */
    size_t offsets_capacity;
    uint32_t *slots;  /* open addressing; index + 1, 0 is free */
    size_t slot_mask; /* number of slots - 1, or 0 before the first insertion */
    uint32_t count;
} wfre_strings;

/* The index of the text, inserting it if it is new. Zero-initialise the table to create it. */
WFRE_NODISCARD wfre_status wfre_strings_intern(wfre_strings *strings, const char *text,
                                               size_t length, uint32_t *index, wfre_error *error);
/* WFRE_NONE if it is not there. */
uint32_t wfre_strings_find(const wfre_strings *strings, const char *text, size_t length);
/* The text of an index; valid until the next insertion. */
const char *wfre_strings_get(const wfre_strings *strings, uint32_t index, size_t *length);
void wfre_strings_free(wfre_strings *strings);

#endif
