/* Least-significant-digit radix sort of triples. Digits are as wide as the ids need, so tiny graphs
 * take tiny passes; a sort of n triples takes O(n) time and one scratch array. */
#include "graph/triples.h"

#include <string.h>

enum { DIGIT_BITS = 12, SPLIT_BITS = 2 };

static unsigned bits_of(uint32_t largest)
{
    return largest ? 32 - (unsigned)__builtin_clz(largest) : 0;
}

/* One stable pass by `bits` bits of a field above `shift`. */
static void sort_digit(const wfre_triple *from, wfre_triple *to, uint32_t count, int field,
                       unsigned shift, unsigned bits)
{
    uint32_t begin[1 << DIGIT_BITS];
    uint32_t size = 1u << bits, mask = size - 1;
    memset(begin, 0, size * sizeof *begin);
    for (uint32_t i = 0; i < count; i++)
        begin[from[i].field[field] >> shift & mask]++;
    uint32_t sum = 0;
    for (uint32_t digit = 0; digit < size; digit++) {
        uint32_t here = begin[digit];
        begin[digit] = sum;
        sum += here;
    }
    for (uint32_t i = 0; i < count; i++)
        to[begin[from[i].field[field] >> shift & mask]++] = from[i];
}

void wfre_triples_sort_field(wfre_triple **data, wfre_triple **scratch, uint32_t count, int field,
                             unsigned shift, uint32_t largest)
{
    unsigned bits = bits_of(largest);
    unsigned passes = (bits + DIGIT_BITS - 1) / DIGIT_BITS;
    for (unsigned pass = 0; pass < passes; pass++) {
        unsigned low = bits * pass / passes, high = bits * (pass + 1) / passes;
        sort_digit(*data, *scratch, count, field, shift + low, high - low);
        wfre_triple *swap = *data;
        *data = *scratch;
        *scratch = swap;
    }
}

uint32_t wfre_triples_sort(wfre_triple *triples, wfre_triple *scratch, uint32_t count,
                           uint32_t entities, uint32_t pairs)
{
    if (count == 0)
        return 0;
    wfre_triple *data = triples, *other = scratch;
    wfre_triples_sort_field(&data, &other, count, WFRE_TRIPLE_TAIL, 0, entities - 1);
    wfre_triples_sort_field(&data, &other, count, WFRE_TRIPLE_HEAD, 0, entities - 1);
    wfre_triples_sort_field(&data, &other, count, WFRE_TRIPLE_RELATION, SPLIT_BITS, pairs - 1);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count; i++) {
        wfre_triple triple = data[i], *last = kept ? &triples[kept - 1] : NULL;
        if (last && last->field[WFRE_TRIPLE_HEAD] == triple.field[WFRE_TRIPLE_HEAD] &&
            last->field[WFRE_TRIPLE_TAIL] == triple.field[WFRE_TRIPLE_TAIL] &&
            wfre_triple_pair(last) == wfre_triple_pair(&triple)) {
            /* The pairs are equal, so the smaller number has the earlier split. */
            if (triple.field[WFRE_TRIPLE_RELATION] < last->field[WFRE_TRIPLE_RELATION])
                *last = triple;
        } else {
            triples[kept++] = triple;
        }
    }
    return kept;
}

void wfre_triples_invert(const wfre_triple *triples, wfre_triple *inverse, wfre_triple *scratch,
                         uint32_t count, uint32_t entities, uint32_t pairs)
{
    if (count == 0)
        return;
    wfre_triple *data = inverse, *other = scratch;
    for (uint32_t i = 0; i < count; i++)
        inverse[i] =
            (wfre_triple){{triples[i].field[WFRE_TRIPLE_TAIL], triples[i].field[WFRE_TRIPLE_HEAD],
                           triples[i].field[WFRE_TRIPLE_RELATION]}};
    /* Within a pair the new tails are in order already. */
    wfre_triples_sort_field(&data, &other, count, WFRE_TRIPLE_HEAD, 0, entities - 1);
    wfre_triples_sort_field(&data, &other, count, WFRE_TRIPLE_RELATION, SPLIT_BITS, pairs - 1);
    if (data != inverse)
        memcpy(inverse, data, (size_t)count * sizeof *inverse);
}
