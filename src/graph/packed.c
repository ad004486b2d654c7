/* Packing sorted triples, and finding and walking them. */
#include "graph/packed.h"

#include <string.h>

/* ---- writing ------------------------------------------------------------------------------ */

static size_t put_number(unsigned char *to, uint64_t value)
{
    size_t length = 0;
    for (; value >= 0x80; value >>= 7)
        to[length++] = (unsigned char)(value | 0x80);
    to[length++] = (unsigned char)value;
    return length;
}

/* The first column in which two rows differ. */
static int changed_column(const wfre_triple *before, const wfre_triple *row)
{
    int column = 0;
    while (column < 2 && before->field[column] == row->field[column])
        column++;
    return column;
}

void wfre_packed_write(const wfre_triple *rows, uint64_t count, const int order[WFRE_TRIPLE_FIELDS],
                       wfre_packed_head *heads, wfre_text *bytes)
{
    wfre_triple before = {{0}};
    for (uint64_t i = 0; i < count; i++) {
        wfre_triple row = {
            {rows[i].field[order[0]], rows[i].field[order[1]], rows[i].field[order[2]]}};
        if (i % WFRE_PACKED_BLOCK == 0) {
            heads[i / WFRE_PACKED_BLOCK] =
                (wfre_packed_head){.first = row, .offset = bytes->length};
        } else {
            unsigned char buffer[20];
            int column = changed_column(&before, &row);
            uint64_t step = (uint64_t)row.field[column] - before.field[column];
            size_t length = put_number(buffer, step << 2 | (uint64_t)(2 - column));
            while (++column < WFRE_TRIPLE_FIELDS)
                length += put_number(buffer + length, row.field[column]);
            wfre_text_append(bytes, (const char *)buffer, length);
        }
        before = row;
    }
}

/* ---- reading ------------------------------------------------------------------------------ */

/* The number at *byte, which moves behind it; zeros where the bytes end. */
static uint64_t get_number(const wfre_packed *packed, uint64_t *byte)
{
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 35 && *byte < packed->length; shift += 7) {
        unsigned char here = packed->bytes[(*byte)++];
        value |= (uint64_t)(here & 0x7F) << shift;
        if (here < 0x80)
            break;
    }
    return value;
}

/* Ends at a row that names what is not there: whoever reads trusts the ids. */
static void stay_within(wfre_packed_cursor *cursor)
{
    const uint32_t limit = cursor->packed->limit, *field = cursor->row.field;
    if (limit > 0 && (field[0] >= limit || field[1] >= limit || field[2] >= limit))
        cursor->rank = cursor->packed->rows;
}

static void start_block(wfre_packed_cursor *cursor, uint64_t block)
{
    cursor->rank = block * WFRE_PACKED_BLOCK;
    if (cursor->rank >= cursor->packed->rows) {
        cursor->rank = cursor->packed->rows;
        return;
    }
    cursor->row = cursor->packed->heads[block].first;
    cursor->byte = cursor->packed->heads[block].offset;
    stay_within(cursor);
}

void wfre_packed_next(wfre_packed_cursor *cursor)
{
    const wfre_packed *packed = cursor->packed;
    if (++cursor->rank % WFRE_PACKED_BLOCK == 0 || cursor->rank >= packed->rows) {
        start_block(cursor, cursor->rank / WFRE_PACKED_BLOCK + (cursor->rank >= packed->rows));
        return;
    }
    uint64_t head = get_number(packed, &cursor->byte);
    uint32_t step = (uint32_t)(head >> 2);
    wfre_triple *row = &cursor->row;
    if ((head & 3) == 0) {
        row->field[2] += step;
    } else {
        if ((head & 3) == 1) {
            row->field[1] += step;
        } else {
            row->field[0] += step;
            row->field[1] = (uint32_t)get_number(packed, &cursor->byte);
        }
        row->field[2] = (uint32_t)get_number(packed, &cursor->byte);
    }
    stay_within(cursor);
}

/* The last block from `low` on whose first row is not behind `least`; `low` if there is none. */
static uint64_t find_block(const wfre_packed *packed, uint64_t low, const wfre_triple *least)
{
    uint64_t blocks = wfre_packed_blocks(packed), step = 1;
    while (low + step < blocks &&
           wfre_packed_compare(&packed->heads[low + step].first, least) <= 0) {
        low += step;
        step *= 2;
    }
    uint64_t high = low + step < blocks ? low + step : blocks;
    while (high - low > 1) {
        uint64_t middle = low + (high - low) / 2;
        if (wfre_packed_compare(&packed->heads[middle].first, least) <= 0)
            low = middle;
        else
            high = middle;
    }
    return low;
}

void wfre_packed_seek(wfre_packed_cursor *cursor, const wfre_triple *least)
{
    const wfre_packed *packed = cursor->packed;
    if (cursor->rank >= packed->rows)
        return;
    uint64_t here = cursor->rank / WFRE_PACKED_BLOCK;
    uint64_t block = find_block(packed, here, least);
    if (block != here)
        start_block(cursor, block);
    while (cursor->rank < packed->rows && wfre_packed_compare(&cursor->row, least) < 0)
        wfre_packed_next(cursor);
}

wfre_packed_cursor wfre_packed_find(const wfre_packed *packed, const wfre_triple *least)
{
    wfre_packed_cursor cursor = {.packed = packed};
    start_block(&cursor, 0);
    wfre_packed_seek(&cursor, least);
    return cursor;
}

uint64_t wfre_packed_count(const wfre_packed *packed, const wfre_triple *row, int columns)
{
    wfre_triple low = {{0}}, high = {{0}};
    if (columns == 0)
        return packed->rows;
    memcpy(low.field, row->field, (size_t)columns * sizeof *row->field);
    high = low;
    /* The next possible beginning; a carry goes to the column before. */
    int column = columns;
    while (column > 0 && ++high.field[column - 1] == 0)
        column--;
    wfre_packed_cursor begin = wfre_packed_find(packed, &low), end = begin;
    if (column == 0)
        return packed->rows - begin.rank;
    wfre_packed_seek(&end, &high);
    return end.rank - begin.rank;
}

bool wfre_packed_check(const wfre_packed *packed, uint32_t limit)
{
    wfre_packed all = *packed;
    all.limit = 0; /* the rows behind a wrong one are looked at, too */
    wfre_packed_cursor cursor = {.packed = &all};
    wfre_triple before = {{0}};
    uint64_t byte = 0;
    for (start_block(&cursor, 0); cursor.rank < packed->rows; wfre_packed_next(&cursor)) {
        bool first = cursor.rank % WFRE_PACKED_BLOCK == 0;
        if (first && cursor.byte != byte)
            return false;
        if (cursor.rank > 0 && wfre_packed_compare(&before, &cursor.row) >= 0)
            return false;
        for (int i = 0; i < WFRE_TRIPLE_FIELDS; i++)
            if (cursor.row.field[i] >= limit)
                return false;
        before = cursor.row;
        byte = cursor.byte;
    }
    return byte == packed->length;
}
