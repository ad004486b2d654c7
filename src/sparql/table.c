/* Rows of terms in memory, with a hash index. */
#include "sparql/table.h"

#include <string.h>

#include "base/hash.h"
#include "base/memory.h"

void wfre_sq_table_free(wfre_sq_exec *x, wfre_sq_table *table)
{
    wfre_sq_release(x, table->charged);
    wfre_free(table->rows);
    wfre_free(table->slots);
    wfre_free(table->next);
    table->rows = NULL;
    table->slots = NULL;
    table->next = NULL;
    table->count = table->capacity = table->slot_mask = table->next_capacity = table->charged = 0;
    table->complete = false;
}

static uint64_t hash_keys(const wfre_rdf_id *row, uint32_t keys)
{
    uint64_t hash = 0;
    for (uint32_t i = 0; i < keys; i++)
        hash = wfre_mix64(hash ^ row[i]) + i;
    return hash;
}

static bool equal_keys(const wfre_rdf_id *a, const wfre_rdf_id *b, uint32_t keys)
{
    return keys == 0 || memcmp(a, b, keys * sizeof *a) == 0;
}

/* Growing by half or more now and then is charged when it happens. */
static wfre_sq_flow charge(wfre_sq_exec *x, wfre_sq_table *table, const char *what)
{
    size_t bytes = table->capacity * table->width * sizeof *table->rows +
                   table->next_capacity * sizeof *table->next +
                   (table->slot_mask ? (table->slot_mask + 1) * sizeof *table->slots : 0);
    if (bytes <= table->charged)
        return WFRE_SQ_GO;
    size_t more = bytes - table->charged;
    table->charged = bytes;
    return wfre_sq_charge(x, more, what);
}

wfre_sq_flow wfre_sq_table_add(wfre_sq_exec *x, wfre_sq_table *table, const wfre_rdf_id *row,
                               const char *what)
{
    size_t size = table->width ? table->width : 1;
    if (table->count >= WFRE_NONE - 1) {
        x->status = wfre_fail(x->error, WFRE_ERR_UNSUPPORTED, WFRE_NO_OFFSET,
                              "more than four thousand million rows for %s", what);
        return WFRE_SQ_FAIL;
    }
    if (table->count == table->capacity) {
        if (!wfre_reserve(&table->rows, &table->capacity, table->count + 1,
                          size * sizeof *table->rows))
            return wfre_sq_no_memory(x);
        if (charge(x, table, what) != WFRE_SQ_GO)
            return WFRE_SQ_FAIL;
    }
    if (table->width)
        memcpy(table->rows + table->count * size, row, table->width * sizeof *row);
    table->count++;
    return WFRE_SQ_GO;
}

static const wfre_rdf_id *row_at(const wfre_sq_table *table, size_t index)
{
    return table->rows + index * (table->width ? table->width : 1);
}

static wfre_sq_flow grow_slots(wfre_sq_exec *x, wfre_sq_table *table, size_t size, const char *what)
{
    uint32_t *slots = wfre_alloc_zero(size, sizeof *slots);
    wfre_sq_flow flow = slots ? WFRE_SQ_GO : wfre_sq_no_memory(x);
    for (size_t i = 0; i < table->count && flow == WFRE_SQ_GO; i++) {
        flow = wfre_sq_tick(x);
        size_t at = hash_keys(row_at(table, i), table->keys) & (size - 1);
        while (slots[at])
            at = (at + 1) & (size - 1);
        slots[at] = (uint32_t)i + 1;
    }
    if (flow != WFRE_SQ_GO) {
        wfre_free(slots);
        return flow;
    }
    wfre_free(table->slots);
    table->slots = slots;
    table->slot_mask = size - 1;
    return charge(x, table, what);
}

wfre_sq_flow wfre_sq_table_find_or_add(wfre_sq_exec *x, wfre_sq_table *table,
                                       const wfre_rdf_id *row, size_t *index, bool *fresh,
                                       const char *what)
{
    if (2 * (table->count + 1) > table->slot_mask) {
        size_t size = table->slot_mask ? (table->slot_mask + 1) * 2 : 64;
        if (grow_slots(x, table, size, what) != WFRE_SQ_GO)
            return WFRE_SQ_FAIL;
    }
    size_t at = hash_keys(row, table->keys) & table->slot_mask;
    for (; table->slots[at]; at = (at + 1) & table->slot_mask)
        if (equal_keys(row_at(table, table->slots[at] - 1), row, table->keys)) {
            *index = table->slots[at] - 1;
            *fresh = false;
            return WFRE_SQ_GO;
        }
    *index = table->count;
    *fresh = true;
    table->slots[at] = (uint32_t)table->count + 1;
    return wfre_sq_table_add(x, table, row, what);
}

wfre_sq_flow wfre_sq_table_index(wfre_sq_exec *x, wfre_sq_table *table)
{
    size_t size = 64;
    while (size < 2 * (table->count + 1))
        size *= 2;
    wfre_free(table->slots);
    table->slots = wfre_alloc_zero(size, sizeof *table->slots);
    if (!table->slots ||
        !wfre_reserve(&table->next, &table->next_capacity, table->count + 1, sizeof *table->next))
        return wfre_sq_no_memory(x);
    table->slot_mask = size - 1;
    /* from the last row to the first, so that chains run forwards */
    for (size_t i = table->count; i-- > 0;) {
        const wfre_rdf_id *row = row_at(table, i);
        size_t at = hash_keys(row, table->keys) & table->slot_mask;
        if (wfre_sq_tick(x) != WFRE_SQ_GO)
            return WFRE_SQ_FAIL;
        while (table->slots[at] &&
               !equal_keys(row_at(table, table->slots[at] - 1), row, table->keys))
            at = (at + 1) & table->slot_mask;
        table->next[i] = table->slots[at] ? table->slots[at] - 1 : WFRE_NONE;
        table->slots[at] = (uint32_t)i + 1;
    }
    return charge(x, table, "a join");
}

uint32_t wfre_sq_table_first(const wfre_sq_table *table, const wfre_rdf_id *keys)
{
    if (!table->slots)
        return WFRE_NONE;
    size_t at = hash_keys(keys, table->keys) & table->slot_mask;
    for (; table->slots[at]; at = (at + 1) & table->slot_mask)
        if (equal_keys(row_at(table, table->slots[at] - 1), keys, table->keys))
            return table->slots[at] - 1;
    return WFRE_NONE;
}
