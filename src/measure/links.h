/* The triples that a split adds, as queries: what the field calls link prediction. Each asks for
 * the tails of (h, r), or for the heads as the tails of the inverse; all that any split knows but
 * what is asked for is out of the race. */
#ifndef WFRE_SRC_MEASURE_LINKS_H
#define WFRE_SRC_MEASURE_LINKS_H

#include "measure/rank.h"

/* How many triples a split, valid or test, adds to the one before it. */
uint64_t wfre_links_added(const wfre_graph *graph, wfre_split split);

/* The query of a head and a (directed) relation. Hard are the tails that the split adds, or only
 * one of them. What it points to lies in the arena. Without such a tail hard is empty. */
WFRE_NODISCARD wfre_status wfre_link_query(wfre_arena *arena, const wfre_graph *graph,
                                           wfre_split split, wfre_relation relation,
                                           wfre_entity head, wfre_entity only,
                                           wfre_rank_query *query, wfre_error *error);

/* Some of them, each asked for its tail and for its head. */
typedef struct wfre_link_sample {
    wfre_rank_query *queries; /* [count], those of a triple one behind the other */
    size_t count;
    uint64_t all; /* triples that the split adds */
    wfre_arena arena;
} wfre_link_sample;

/* Draws up to `most` triples, all equally likely, in an order such that the first of them are as
 * good a sample as all. Zero-initialise the sample, and free it in any case. */
WFRE_NODISCARD wfre_status wfre_link_sample_draw(const wfre_graph *graph, wfre_split split,
                                                 size_t most, uint64_t seed,
                                                 wfre_link_sample *sample, wfre_error *error);
void wfre_link_sample_free(wfre_link_sample *sample);

#endif
