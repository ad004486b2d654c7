/* Laying out the edges of a split that has fewer than the snapshot.
 *
 * The snapshot has every edge once, with the first split it belongs to. Whoever asks for a smaller
 * split gets the same arrays as for the whole graph, made at the first request by one walk over the
 * edges (some 30 ns a triple) and kept. Their memory is taken when the graph is opened, untouched
 * and so at no cost, so that the walk cannot fail. A split that lacks nothing shares the arrays. */
#include <string.h>

#include "base/memory.h"
#include "graph/image.h"

/* The arrays of wfre_adjacency while they are filled, one behind the other. */
typedef struct layout {
    uint32_t *relation_groups, *group_entity, *group_begin, *targets;
    uint32_t *entity_begin; /* a place more than it needs; see fill_entities */
    uint32_t *edge_groups, *long_relations;
    uint16_t *short_relations;
} layout;

/* What the arrays take together. */
static size_t layout_bytes(const wfre_graph *graph, int split)
{
    const wfre_image_header *header = graph->header;
    size_t groups = header->groups[split], targets = 2 * (size_t)header->triples[split];
    size_t words = (size_t)header->relations + 1 + groups + groups + 1 + targets +
                   header->entities + 2 + groups;
    return 4 * words + (graph->edges[WFRE_TEST].short_relations ? 2 : 4) * groups;
}

/* The arrays within memory of layout_bytes. */
static layout lay_out(const wfre_graph *graph, int split, void *memory)
{
    const wfre_image_header *header = graph->header;
    size_t groups = header->groups[split];
    layout l = {.relation_groups = memory};
    l.group_entity = l.relation_groups + header->relations + 1;
    l.group_begin = l.group_entity + groups;
    l.targets = l.group_begin + groups + 1;
    l.entity_begin = l.targets + 2 * (size_t)header->triples[split];
    l.edge_groups = l.entity_begin + header->entities + 2;
    if (graph->edges[WFRE_TEST].short_relations)
        l.short_relations = (uint16_t *)(l.edge_groups + groups);
    else
        l.long_relations = l.edge_groups + groups;
    return l;
}

static int shared_with(const wfre_graph *graph, int split)
{
    for (int other = split + 1; other < WFRE_SPLITS; other++)
        if (graph->header->triples[split] == graph->header->triples[other])
            return other;
    return split;
}

wfre_status wfre_graph_reserve_splits(wfre_graph *graph, wfre_error *error)
{
    for (int split = 0; split < WFRE_TEST; split++) {
        if (shared_with(graph, split) != split)
            continue;
        graph->laid_out[split] = wfre_alloc(layout_bytes(graph, split), 1);
        if (!graph->laid_out[split])
            return wfre_fail_memory(error, "opening a graph");
    }
    atomic_store(&graph->ready[WFRE_TEST], true);
    return WFRE_OK;
}

/* ---- filling ------------------------------------------------------------------------------ */

/* The groups that have an edge of the split, with these edges; false if there are others than the
 * header counts. */
static bool fill_groups(const wfre_graph *graph, int split, const layout *l)
{
    const wfre_adjacency *all = &graph->edges[WFRE_TEST];
    uint32_t relations = graph->header->relations, groups = 0, filled = 0;
    uint32_t most_groups = graph->header->groups[split];
    uint64_t most = 2 * graph->header->triples[split];
    for (wfre_relation r = 0; r < relations; r++) {
        l->relation_groups[r] = groups;
        for (uint32_t g = all->relation_groups[r]; g < all->relation_groups[r + 1]; g++) {
            uint32_t first = filled;
            for (uint32_t i = all->group_begin[g]; i < all->group_begin[g + 1]; i++) {
                if ((int)wfre_target_split(graph, i) > split)
                    continue;
                if (filled == most)
                    return false;
                l->targets[filled++] = all->targets[i];
            }
            if (filled == first)
                continue;
            if (groups == most_groups)
                return false;
            l->group_begin[groups] = first;
            l->group_entity[groups++] = all->group_entity[g];
        }
    }
    l->relation_groups[relations] = groups;
    l->group_begin[groups] = filled;
    return groups == most_groups && filled == most;
}

/* The groups by entity. They come by ascending relation, so each entity's do, too. While it is
 * filled, place e + 1 of the starts is where the next group of e goes; afterwards the end of e. */
static void fill_entities(const wfre_graph *graph, const layout *l, uint32_t groups)
{
    uint32_t *begin = l->entity_begin, entities = graph->header->entities;
    memset(begin, 0, ((size_t)entities + 2) * sizeof *begin);
    for (uint32_t g = 0; g < groups; g++)
        begin[l->group_entity[g] + 2]++;
    for (uint32_t e = 0; e < entities; e++)
        begin[e + 2] += begin[e + 1];
    for (wfre_relation r = 0; r < graph->header->relations; r++)
        for (uint32_t g = l->relation_groups[r]; g < l->relation_groups[r + 1]; g++) {
            uint32_t at = begin[l->group_entity[g] + 1]++;
            l->edge_groups[at] = g;
            if (l->short_relations)
                l->short_relations[at] = (uint16_t)r;
            else
                l->long_relations[at] = r;
        }
}

/* No edges at all. */
static void fill_nothing(const wfre_graph *graph, const layout *l)
{
    memset(l->relation_groups, 0, ((size_t)graph->header->relations + 1) * 4);
    memset(l->entity_begin, 0, ((size_t)graph->header->entities + 2) * 4);
    l->group_begin[0] = 0;
}

static wfre_adjacency make_split(const wfre_graph *graph, int split)
{
    wfre_guard *guard = graph->guard;
    layout l = lay_out(graph, split, graph->laid_out[split]);
    bool sound =
        !guard || (wfre_guard_look(guard, WFRE_AREA_RELATIONS, 0, graph->header->relations) &&
                   wfre_guard_look(guard, WFRE_AREA_GROUPS, 0, graph->header->groups[WFRE_TEST]));
    if (sound && !fill_groups(graph, split, &l)) {
        sound = false;
        if (guard)
            wfre_guard_miscounted(guard, wfre_section_of_edges(WFRE_EDGES_SPLITS));
    }
    if (sound)
        fill_entities(graph, &l, graph->header->groups[split]);
    else
        fill_nothing(graph, &l);
    return (wfre_adjacency){
        .relation_groups = l.relation_groups,
        .group_entity = l.group_entity,
        .group_begin = l.group_begin,
        .targets = l.targets,
        .entity_begin = l.entity_begin,
        .short_relations = l.short_relations,
        .long_relations = l.long_relations,
        .edge_groups = l.edge_groups,
    };
}

static const wfre_adjacency *fill_split(const wfre_graph *graph, int split)
{
    wfre_graph *changed = (wfre_graph *)(uintptr_t)graph; /* what is known of it stays the same */
    int shared = shared_with(graph, split);
    if (shared != split)
        (void)wfre_graph_adjacency(graph, (wfre_split)shared);
    (void)pthread_mutex_lock(&changed->lock);
    if (!atomic_load(&changed->ready[split])) {
        changed->edges[split] = shared != split ? graph->edges[shared] : make_split(graph, split);
        atomic_store_explicit(&changed->ready[split], true, memory_order_release);
    }
    (void)pthread_mutex_unlock(&changed->lock);
    return &graph->edges[split];
}

const wfre_adjacency *wfre_graph_adjacency(const wfre_graph *graph, wfre_split split)
{
    int index = wfre_split_exists(split) ? (int)split : WFRE_TEST;
    if (atomic_load_explicit(&graph->ready[index], memory_order_acquire))
        return &graph->edges[index];
    return fill_split(graph, index);
}
