/* Hash function and string table. The hash reads 8 bytes a step through a 128-bit multiply-fold. */
#include "base/hash.h"

#include <string.h>

#include "base/memory.h"

static const uint64_t SALT_A = 0x9E3779B97F4A7C15u; /* 2^64 / golden ratio */
static const uint64_t SALT_B = 0xD1B54A32D192ED03u;

uint64_t wfre_mix64(uint64_t word)
{
    word ^= word >> 32;
    word *= 0xD6E8FEB86659FD93u;
    word ^= word >> 32;
    word *= 0xD6E8FEB86659FD93u;
    word ^= word >> 32;
    return word;
}

static uint64_t fold(uint64_t a, uint64_t b)
{
    __extension__ typedef unsigned __int128 wide;
    wide product = (wide)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* Little-endian load, so that a checksum means the same on every machine. */
static uint64_t load_word(const unsigned char *bytes, size_t length)
{
    uint64_t word = 0;
    memcpy(&word, bytes, length);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    word = __builtin_bswap64(word);
#endif
    return word;
}

uint64_t wfre_hash(const void *bytes, size_t length, uint64_t seed)
{
    const unsigned char *s = bytes;
    uint64_t state = seed ^ SALT_A;
    size_t i = 0;
    for (; i + 8 <= length; i += 8)
        state = fold(state ^ load_word(s + i, 8), SALT_B) + SALT_A;
    if (i < length)
        state = fold(state ^ load_word(s + i, length - i), SALT_B) + SALT_A;
    return wfre_mix64(state ^ length);
}

void wfre_hash_four(const void *const bytes[4], size_t length, uint64_t hashes[4])
{
    const unsigned char *a = bytes[0], *b = bytes[1], *c = bytes[2], *d = bytes[3];
    uint64_t state[4] = {SALT_A, SALT_A, SALT_A, SALT_A};
    size_t i = 0;
    for (; i + 8 <= length; i += 8) {
        state[0] = fold(state[0] ^ load_word(a + i, 8), SALT_B) + SALT_A;
        state[1] = fold(state[1] ^ load_word(b + i, 8), SALT_B) + SALT_A;
        state[2] = fold(state[2] ^ load_word(c + i, 8), SALT_B) + SALT_A;
        state[3] = fold(state[3] ^ load_word(d + i, 8), SALT_B) + SALT_A;
    }
    for (int k = 0; k < 4; k++) {
        const unsigned char *rest = (const unsigned char *)bytes[k] + i;
        if (i < length)
            state[k] = fold(state[k] ^ load_word(rest, length - i), SALT_B) + SALT_A;
        hashes[k] = wfre_mix64(state[k] ^ length);
    }
}

/* ---- string table ------------------------------------------------------------------------- */

const char *wfre_strings_get(const wfre_strings *strings, uint32_t index, size_t *length)
{
    *length = (size_t)(strings->offsets[index + 1] - strings->offsets[index]);
    return strings->bytes + strings->offsets[index];
}

/* The slot that holds the text, or the free slot where it belongs. */
static size_t find_slot(const wfre_strings *strings, const char *text, size_t length)
{
    size_t slot = (size_t)wfre_hash(text, length, 0) & strings->slot_mask;
    while (strings->slots[slot]) {
        size_t stored;
        const char *candidate = wfre_strings_get(strings, strings->slots[slot] - 1, &stored);
        if (stored == length && memcmp(candidate, text, length) == 0)
            break;
        slot = (slot + 1) & strings->slot_mask;
    }
    return slot;
}

uint32_t wfre_strings_find(const wfre_strings *strings, const char *text, size_t length)
{
    if (strings->count == 0)
        return WFRE_NONE;
    uint32_t held = strings->slots[find_slot(strings, text, length)];
    return held ? held - 1 : WFRE_NONE;
}

/* Keeps the table at most half full. */
static bool grow_slots(wfre_strings *strings)
{
    if (strings->slots && (size_t)strings->count * 2 < strings->slot_mask)
        return true;
    size_t size = strings->slots ? (strings->slot_mask + 1) * 2 : 64;
    uint32_t *slots = wfre_alloc_zero(size, sizeof *slots);
    if (!slots)
        return false;
    wfre_free(strings->slots);
    strings->slots = slots;
    strings->slot_mask = size - 1;
    for (uint32_t i = 0; i < strings->count; i++) {
        size_t length;
        const char *text = wfre_strings_get(strings, i, &length);
        slots[find_slot(strings, text, length)] = i + 1;
    }
    return true;
}

wfre_status wfre_strings_intern(wfre_strings *strings, const char *text, size_t length,
                                uint32_t *index, wfre_error *error)
{
    if (!grow_slots(strings))
        return wfre_fail_memory(error, "growing a name table");
    size_t slot = find_slot(strings, text, length);
    if (strings->slots[slot]) {
        *index = strings->slots[slot] - 1;
        return WFRE_OK;
    }
    if (strings->count >= WFRE_NONE - 1)
        return wfre_fail(error, WFRE_ERR_ARGUMENT, WFRE_NO_OFFSET, "more than 2^32 - 2 names");
    size_t old_capacity = strings->offsets_capacity;
    if (!WFRE_RESERVE(&strings->offsets, &strings->offsets_capacity, (size_t)strings->count + 2) ||
        !wfre_reserve(&strings->bytes, &strings->bytes_capacity, strings->bytes_used + length + 1,
                      1))
        return wfre_fail_memory(error, "growing a name table");
    if (old_capacity == 0)
        strings->offsets[0] = 0;
    if (length)
        memcpy(strings->bytes + strings->bytes_used, text, length);
    strings->bytes_used += length;
    strings->slots[slot] = strings->count + 1;
    *index = strings->count++;
    strings->offsets[strings->count] = strings->bytes_used;
    return WFRE_OK;
}

void wfre_strings_free(wfre_strings *strings)
{
    wfre_free(strings->bytes);
    wfre_free(strings->offsets);
    wfre_free(strings->slots);
    *strings = (wfre_strings){0};
}
