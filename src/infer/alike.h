/* What those do that are like the ends of an edge.
 *
 * Two entities are alike in a fact if both have it: an edge by the same directed relation to the
 * same entity. Whether the edge (x, r, y) is missing from a graph is judged from both of its ends:
 *
 *   head(y)   of the others that share a fact with x, the share that has an edge of r to y; that of
 *             the fact that says most
 *   tail(y)   of all that have a fact, the share that x has an edge of r to; that of the fact of y
 *             that says most
 *
 * Shares are k / (n + 5), so that few cases say little, and 0 if k is less than 2. The gain of y is
 * log(1 + 50 head(y)) + log(1 + 50 tail(y)): nothing where nobody is known to be alike. Where the
 * graph has the edge there is nothing to gain.
 *
 * Of an entity with very many facts, and of facts that very many have, evenly spaced ones stand for
 * all; facts that few have come first, and behind some number of steps the rest is left out. */
#ifndef WFRE_SRC_INFER_ALIKE_H
#define WFRE_SRC_INFER_ALIKE_H

#include "graph/graph.h"

/* What one thread needs for it. */
typedef struct wfre_alike wfre_alike;

/* For graphs of so many entities; NULL when out of memory. */
wfre_alike *wfre_alike_create(size_t entities);
void wfre_alike_free(wfre_alike *alike);

/* Adds `factor` times the gain of every entity y as the tail of (x, relation, y) to its number. */
void wfre_alike_add(wfre_alike *alike, const wfre_adjacency *edges, wfre_relation relation,
                    wfre_entity x, float factor, float *gains);

#endif
