/* Counting degrees, one relation after the other. Every count is taken for one more than it is, so
 * that degrees which only few entities have say little. */
#include "graph/missing.h"

#include <math.h>

#include "base/memory.h"

static const double IDLE =
    0.2; /* entities without an edge that could have one, by those with one */

static size_t degree_of(const wfre_adjacency *edges, uint32_t group)
{
    return edges->group_begin[group + 1] - edges->group_begin[group];
}

/* Turns counts[0 .. most] of degrees into logarithms of what is missing. */
static void convert(float *counts, size_t most)
{
    if ((double)counts[0] > IDLE * (double)counts[1])
        counts[0] = (float)(IDLE * (double)counts[1]);
    for (size_t n = 0; n <= most; n++) {
        double next = n < most ? (double)counts[n + 1] : 0;
        counts[n] = (float)log((double)(n + 1) * (next + 1) / ((double)counts[n] + 1));
    }
}

static float gain_of_loops(const wfre_adjacency *edges, wfre_relation relation)
{
    uint32_t first = edges->relation_groups[relation], end = edges->relation_groups[relation + 1];
    double count = (double)(edges->group_begin[end] - edges->group_begin[first]), loops = 0;
    for (uint32_t g = first; g < end; g++)
        loops += wfre_list_has(wfre_group_targets(edges, g), edges->group_entity[g]);
    return (float)log((loops + 1) / (count + 1));
}

wfre_status wfre_missing_counts_measure(const wfre_graph *graph, wfre_split split,
                                        wfre_missing_counts *missing, wfre_error *error)
{
    const wfre_adjacency *edges = wfre_graph_adjacency(graph, split);
    uint32_t relations = wfre_graph_relations(graph);
    wfre_status status = wfre_graph_settle(graph, error); /* it is read whole */
    if (status != WFRE_OK)
        return status;
    *missing =
        (wfre_missing_counts){.begin = wfre_alloc(relations + (size_t)1, sizeof *missing->begin),
                              .loops = wfre_alloc(relations + (size_t)1, sizeof *missing->loops)};
    if (!missing->begin || !missing->loops)
        return wfre_fail_memory(error, "counting edges");
    missing->begin[0] = 0;
    for (wfre_relation r = 0; r < relations; r++) {
        size_t most = 1;
        for (uint32_t g = edges->relation_groups[r]; g < edges->relation_groups[r + 1]; g++)
            most = degree_of(edges, g) > most ? degree_of(edges, g) : most;
        missing->begin[r + 1] = missing->begin[r] + most + 1;
    }
    missing->logs = wfre_alloc_zero(missing->begin[relations], sizeof *missing->logs);
    if (!missing->logs)
        return wfre_fail_memory(error, "counting edges");
    for (wfre_relation r = 0; r < relations; r++) {
        float *counts = missing->logs + missing->begin[r];
        uint32_t first = edges->relation_groups[r], end = edges->relation_groups[r + 1];
        for (uint32_t g = first; g < end; g++)
            counts[degree_of(edges, g)]++;
        counts[0] = (float)(wfre_graph_entities(graph) - (end - first));
        convert(counts, missing->begin[r + 1] - missing->begin[r] - 1);
        missing->loops[r] = gain_of_loops(edges, r);
    }
    return WFRE_OK;
}

void wfre_missing_counts_free(wfre_missing_counts *missing)
{
    wfre_free(missing->begin);
    wfre_free(missing->logs);
    wfre_free(missing->loops);
    *missing = (wfre_missing_counts){0};
}
