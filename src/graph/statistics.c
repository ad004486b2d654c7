/* Counts that describe a graph: triples of a relation, degrees of the entities. And all triples. */
#include <stdlib.h>

#include "base/memory.h"
#include "graph/image.h"

uint64_t wfre_graph_relation_triples(const wfre_graph *graph, wfre_split split,
                                     wfre_relation relation)
{
    const wfre_adjacency *edges = wfre_graph_adjacency(graph, split);
    uint32_t first;
    if (!wfre_split_exists(split) || relation >= wfre_graph_relations(graph))
        return 0;
    uint32_t end = wfre_relation_groups(edges, relation, &first);
    return first < end ? edges->group_begin[end] - edges->group_begin[first] : 0;
}

wfre_status wfre_graph_copy_triples(const wfre_graph *graph, wfre_split split, uint32_t *ids,
                                    uint64_t capacity, wfre_error *error)
{
    GIVEN(graph);
    uint64_t count = wfre_graph_triples(graph, split);
    if (capacity < count || (count > 0 && !ids))
        return wfre_fail(error, WFRE_ERR_ARGUMENT, WFRE_NO_OFFSET,
                         "there are %llu triples, and room for %llu", (unsigned long long)count,
                         (unsigned long long)capacity);
    uint64_t copied = 0;
    for (wfre_relation r = 0; r < wfre_graph_relations(graph); r += 2) {
        wfre_list heads = wfre_graph_sources(graph, split, r);
        for (size_t i = 0; i < heads.count; i++) {
            wfre_list tails = wfre_graph_targets(graph, split, r, heads.ids[i]);
            for (size_t j = 0; j < tails.count && copied < capacity; j++, copied++) {
                ids[3 * copied] = heads.ids[i];
                ids[3 * copied + 1] = r;
                ids[3 * copied + 2] = tails.ids[j];
            }
        }
    }
    CHECK(wfre_graph_sound(graph, error));
    if (copied != count)
        return wfre_fail(error, WFRE_ERR_FORMAT, WFRE_NO_OFFSET,
                         "the snapshot is damaged: it has %llu triples, not %llu",
                         (unsigned long long)copied, (unsigned long long)count);
    return WFRE_OK;
}

static int ascending(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static uint64_t degree_of(const wfre_adjacency *edges, wfre_entity entity)
{
    uint64_t degree = 0;
    uint32_t i, end = wfre_entity_edges(edges, entity, &i);
    for (; i < end; i++)
        degree += wfre_group_targets(edges, edges->edge_groups[i]).count;
    return degree;
}

wfre_status wfre_graph_degrees(const wfre_graph *graph, wfre_split split, wfre_degrees *degrees,
                               wfre_error *error)
{
    GIVEN(graph);
    GIVEN(degrees);
    uint32_t entities = wfre_graph_entities(graph);
    *degrees = (wfre_degrees){.hub = WFRE_NONE};
    wfre_status status = wfre_check_split(split, error);
    if (status != WFRE_OK)
        return status;
    if (entities == 0)
        return WFRE_OK;
    uint64_t *sorted = wfre_alloc(entities, sizeof *sorted);
    if (!sorted)
        return wfre_fail_memory(error, "counting degrees");
    for (wfre_entity e = 0; e < entities; e++) {
        sorted[e] = degree_of(wfre_graph_adjacency(graph, split), e);
        degrees->unconnected += sorted[e] == 0;
        if (degrees->hub == WFRE_NONE || sorted[e] > sorted[degrees->hub])
            degrees->hub = e;
    }
    qsort(sorted, entities, sizeof *sorted, ascending);
    degrees->mean = 2 * (double)wfre_graph_triples(graph, split) / entities;
    degrees->median = sorted[entities / 2];
    degrees->upper_tenth = sorted[(uint64_t)entities * 9 / 10];
    degrees->upper_hundredth = sorted[(uint64_t)entities * 99 / 100];
    degrees->maximum = sorted[entities - 1];
    wfre_free(sorted);
    return wfre_graph_sound(graph, error);
}
