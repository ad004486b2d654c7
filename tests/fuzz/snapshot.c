/* Snapshots: as they are, and with their checksums made to fit, so that the fuzzer gets behind
 * them. What opens can be looked into; what validates can be used without any care. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "graph/image.h"
#include "snapshot.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

/* Reads every edge as the query engine does, without checks. */
static uint64_t use_freely(const wfre_graph *graph)
{
    uint64_t sum = 0;
    for (int split = 0; split < WFRE_SPLITS; split++) {
        const wfre_adjacency *edges = wfre_graph_adjacency(graph, (wfre_split)split);
        for (wfre_entity e = 0; e < wfre_graph_entities(graph); e++)
            for (uint32_t i = edges->entity_begin[e]; i < edges->entity_begin[e + 1]; i++) {
                wfre_list targets = wfre_group_targets(edges, edges->edge_groups[i]);
                for (size_t k = 0; k < targets.count; k++)
                    sum += edges->entity_begin[targets.ids[k]];
            }
    }
    return sum;
}

/* Keeps the compiler from leaving the reads out. */
static volatile uint64_t sink;

static void try_image(void *bytes, size_t length)
{
    wfre_graph *graph;
    wfre_error error = {0};
    if (wfre_graph_from_bytes(bytes, length, WFRE_TRUST_LATER, &graph, &error) != WFRE_OK) {
        if (error.message[0] == '\0')
            abort();
        return;
    }
    sink = snapshot_use(graph);
    if (wfre_graph_validate(graph, &error) == WFRE_OK)
        sink = use_freely(graph);
    wfre_graph_close(graph);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    void *copy = malloc(length ? length : 1);
    if (!copy)
        return 0;
    memcpy(copy, bytes, length);
    try_image(copy, length);
    snapshot_seal(copy, length);
    try_image(copy, length);
    free(copy);
    return 0;
}
