/* Sorted triples of numbers, packed: what attributes are kept as, once for each order.
 *
 * Blocks of 64 triples. The table of blocks has the first triple of each and where the others
 * start; those are differences, in numbers of one to five bytes (seven bits a byte, low ones first,
 * the highest bit set if another follows). The first number of a triple says by its two lowest bits
 * what changed against the triple before:
 *
 *   0  the third column: the other bits are the difference
 *   1  the second: its difference, then the third column as a number
 *   2  the first: its difference, then the other two
 *
 * A number of the first kind may take up to five bytes for 34 bits. Reading stays inside the bytes
 * whatever they are; wfre_packed_check tells whether they are in order. */
#ifndef WFRE_SRC_GRAPH_PACKED_H
#define WFRE_SRC_GRAPH_PACKED_H

#include "base/text.h"
#include "graph/triples.h"

enum { WFRE_PACKED_BLOCK = 64 };

typedef struct wfre_packed_head {
    wfre_triple first;
    uint32_t reserved; /* 0 */
    uint64_t offset;   /* of the bytes of the second triple */
} wfre_packed_head;

_Static_assert(sizeof(wfre_packed_head) == 24, "the layout that docs/FORMAT.md describes");

typedef struct wfre_packed {
    const wfre_packed_head *heads; /* one for each 64 rows, the last perhaps fewer */
    const unsigned char *bytes;
    uint64_t length; /* of bytes */
    uint64_t rows;
    uint32_t limit; /* a row with an id from here on is taken for the end; 0: with none */
} wfre_packed;

static inline uint64_t wfre_packed_blocks(const wfre_packed *packed)
{
    return (packed->rows + WFRE_PACKED_BLOCK - 1) / WFRE_PACKED_BLOCK;
}

static inline int wfre_packed_compare(const wfre_triple *a, const wfre_triple *b)
{
    for (int i = 0; i < WFRE_TRIPLE_FIELDS; i++)
        if (a->field[i] != b->field[i])
            return a->field[i] < b->field[i] ? -1 : 1;
    return 0;
}

/* ---- writing ------------------------------------------------------------------------------ */

/* Appends the packed form of rows: column i is field order[i], and they are sorted and different as
 * rows of these. `heads` has room for one a block. */
void wfre_packed_write(const wfre_triple *rows, uint64_t count, const int order[WFRE_TRIPLE_FIELDS],
                       wfre_packed_head *heads, wfre_text *bytes);

/* ---- reading ------------------------------------------------------------------------------ */

/* A place among the rows. */
typedef struct wfre_packed_cursor {
    const wfre_packed *packed;
    uint64_t rank;   /* of the row at hand; packed->rows at the end */
    uint64_t byte;   /* where the row after it starts */
    wfre_triple row; /* not to be read at the end */
} wfre_packed_cursor;

/* At the first row that is not before `least`. */
wfre_packed_cursor wfre_packed_find(const wfre_packed *packed, const wfre_triple *least);
/* On to the next row. */
void wfre_packed_next(wfre_packed_cursor *cursor);
/* On to the first row that is not before `least`; never back. */
void wfre_packed_seek(wfre_packed_cursor *cursor, const wfre_triple *least);
/* How many rows begin with the first `columns` numbers of `row` (0 to 3). */
uint64_t wfre_packed_count(const wfre_packed *packed, const wfre_triple *row, int columns);

/* Whether the rows ascend, are all different and lie below `limit`, and the bytes are used up. */
bool wfre_packed_check(const wfre_packed *packed, uint32_t limit);

#endif
