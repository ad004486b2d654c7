/* Text tables of an image: get by id, find by text through the hash index stored beside them, so
 * that opening a graph builds nothing. A damaged table has no texts. */
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "graph/image.h"

wfre_name wfre_names_get(const wfre_names *names, uint32_t id)
{
    if (!names->offsets || id >= names->count ||
        !wfre_sound(names->guard, WFRE_AREA_TEXTS + names->table, id))
        return (wfre_name){NULL, 0};
    uint64_t begin = names->offsets[id], end = names->offsets[id + 1];
    if (begin >= end || end > names->length)
        return (wfre_name){NULL, 0};
    return (wfre_name){names->bytes + begin, (size_t)(end - begin)};
}

static bool same_text(wfre_name name, const char *text, size_t length)
{
    return name.length == length && (length == 0 || memcmp(name.bytes, text, length) == 0);
}

/* The slot that holds the text or the free slot where it belongs;
 * slot_count if there is neither. */
static uint64_t find_slot(const wfre_names *names, const uint32_t *slots, uint64_t slot_count,
                          const char *text, size_t length)
{
    uint64_t mask = slot_count - 1;
    uint64_t slot = wfre_hash(text, length, 0) & mask;
    for (uint64_t probes = 0; probes < slot_count; probes++, slot = (slot + 1) & mask) {
        if (!wfre_sound(names->guard, WFRE_AREA_SLOTS + names->table, slot))
            return slot_count;
        uint32_t held = slots[slot] & ~WFRE_SLOT_AMBIGUOUS;
        if (held == 0 || same_text(wfre_names_get(names, held - 1), text, length))
            return slot;
    }
    return slot_count;
}

uint32_t wfre_names_find(const wfre_names *names, const char *text, size_t length)
{
    if (names->slot_count == 0)
        return WFRE_NONE;
    uint64_t slot = find_slot(names, names->slots, names->slot_count, text, length);
    uint32_t held = slot < names->slot_count ? names->slots[slot] : 0;
    return held == 0 || held & WFRE_SLOT_AMBIGUOUS ? WFRE_NONE : held - 1;
}

bool wfre_names_ambiguous(const wfre_names *names, const char *text, size_t length)
{
    if (names->slot_count == 0)
        return false;
    uint64_t slot = find_slot(names, names->slots, names->slot_count, text, length);
    return slot < names->slot_count && names->slots[slot] & WFRE_SLOT_AMBIGUOUS;
}

uint32_t *wfre_names_index(const wfre_names *names, uint64_t *slot_count)
{
    uint64_t size = 4;
    while (size < 2 * (uint64_t)names->count)
        size *= 2;
    uint32_t *slots = wfre_alloc_zero(size, sizeof *slots);
    if (!slots)
        return NULL;
    for (uint32_t id = 0; id < names->count; id++) {
        wfre_name name = wfre_names_get(names, id);
        if (name.length == 0)
            continue;
        uint64_t slot = find_slot(names, slots, size, name.bytes, name.length);
        slots[slot] = slots[slot] ? slots[slot] | WFRE_SLOT_AMBIGUOUS : id + 1;
    }
    *slot_count = size;
    return slots;
}
