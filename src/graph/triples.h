/* Triples on their way into a snapshot: packed to 12 bytes, sorted by counting, never compared. */
#ifndef WFRE_SRC_GRAPH_TRIPLES_H
#define WFRE_SRC_GRAPH_TRIPLES_H

#include "graph/graph.h"

/* Field 2 is the relation pair (id / 2) above the split in the two lowest bits. */
enum { WFRE_TRIPLE_HEAD, WFRE_TRIPLE_TAIL, WFRE_TRIPLE_RELATION, WFRE_TRIPLE_FIELDS };
typedef struct wfre_triple {
    uint32_t field[WFRE_TRIPLE_FIELDS];
} wfre_triple;

static inline wfre_triple wfre_triple_pack(wfre_split split, wfre_entity head, uint32_t pair,
                                           wfre_entity tail)
{
    return (wfre_triple){{head, tail, pair << 2 | (uint32_t)split}};
}

static inline uint32_t wfre_triple_pair(const wfre_triple *triple)
{
    return triple->field[WFRE_TRIPLE_RELATION] >> 2;
}

static inline wfre_split wfre_triple_split(const wfre_triple *triple)
{
    return (wfre_split)(triple->field[WFRE_TRIPLE_RELATION] & 3);
}

/* Stable sort by one field whose values, shifted by `shift`, are at most `largest`. The arrays
 * change places at every pass, so that the result is always in *data. */
void wfre_triples_sort_field(wfre_triple **data, wfre_triple **scratch, uint32_t count, int field,
                             unsigned shift, uint32_t largest);

/* Sorts by (pair, head, tail) and keeps of equal triples the one in the earliest split; returns how
 * many are left. The result is in `triples`; `scratch` has room for as many. */
uint32_t wfre_triples_sort(wfre_triple *triples, wfre_triple *scratch, uint32_t count,
                           uint32_t entities, uint32_t pairs);

/* Fills `inverse` with the sorted triples turned around (head and tail exchanged), sorted in the
 * same way; `scratch` has room for as many. */
void wfre_triples_invert(const wfre_triple *triples, wfre_triple *inverse, wfre_triple *scratch,
                         uint32_t count, uint32_t entities, uint32_t pairs);

#endif
