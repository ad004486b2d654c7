/* A hash table with open addressing, at most half full, of places in one array. */
#include "infer/kept_rows.h"

#include <string.h>

#include "base/hash.h"
#include "base/memory.h"

typedef struct slot {
    uint64_t key;
    size_t place; /* one more than that; 0 if empty */
} slot;

struct wfre_kept_rows {
    size_t width, most, count;
    slot *slots;
    size_t slot_count; /* a power of two */
    float *rows;       /* [most, width] */
};

wfre_kept_rows *wfre_kept_rows_create(size_t width, size_t bytes)
{
    wfre_kept_rows *k = wfre_alloc_zero(1, sizeof *k);
    if (!k)
        return NULL;
    k->width = width;
    k->most = bytes / (width * sizeof(float)) > 0 ? bytes / (width * sizeof(float)) : 1;
    for (k->slot_count = 2; k->slot_count < 2 * k->most;)
        k->slot_count *= 2;
    k->slots = wfre_alloc_zero(k->slot_count, sizeof *k->slots);
    k->rows = wfre_alloc_tensor(k->most * width, sizeof *k->rows);
    if (k->slots && k->rows)
        return k;
    wfre_kept_rows_free(k);
    return NULL;
}

void wfre_kept_rows_free(wfre_kept_rows *rows)
{
    if (!rows)
        return;
    wfre_free(rows->slots);
    wfre_free(rows->rows);
    wfre_free(rows);
}

size_t wfre_kept_rows_most(const wfre_kept_rows *rows)
{
    return rows->most;
}

void wfre_kept_rows_forget(wfre_kept_rows *rows)
{
    memset(rows->slots, 0, rows->slot_count * sizeof *rows->slots);
    rows->count = 0;
}

/* Where the key is, or would be. */
static slot *find_slot(const wfre_kept_rows *rows, uint64_t key)
{
    size_t at = wfre_mix64(key) & (rows->slot_count - 1);
    while (rows->slots[at].place > 0 && rows->slots[at].key != key)
        at = (at + 1) & (rows->slot_count - 1);
    return &rows->slots[at];
}

const float *wfre_kept_rows_find(const wfre_kept_rows *rows, uint64_t key)
{
    const slot *found = find_slot(rows, key);
    return found->place > 0 ? rows->rows + (found->place - 1) * rows->width : NULL;
}

float *wfre_kept_rows_add(wfre_kept_rows *rows, uint64_t key)
{
    if (rows->count == rows->most)
        return NULL;
    *find_slot(rows, key) = (slot){key, ++rows->count};
    return rows->rows + (rows->count - 1) * rows->width;
}
