/* Graphs from the inside: how edges are laid out, and how a graph is built in memory.
 *
 * Edges of one split, both directions, in two indexes over the same groups. A group is a pair
 * (directed relation, entity) that has at least one edge:
 *
 *   relation r  ->  groups relation_groups[r] .. relation_groups[r+1), by ascending entity
 *   group g     ->  group_entity[g], and its targets targets[group_begin[g] .. group_begin[g+1])
 *   entity e    ->  wfre_entity_edge(i), i = entity_begin[e] .. entity_begin[e+1): {relation,
 * group}
 *
 * A snapshot has the edges of the whole graph, each with the first split that it belongs to. Those
 * of a smaller split are laid out in memory when it is first asked for (graph/splits.c).
 */
#ifndef WFRE_SRC_GRAPH_GRAPH_H
#define WFRE_SRC_GRAPH_GRAPH_H

#include "base/error.h"
#include "base/text.h"
#include "graph/guard.h"
#include "wfre/graph.h"

/* One outgoing directed relation of an entity, and the group that holds its targets. */
typedef struct wfre_edge_group {
    wfre_relation relation;
    uint32_t group;
} wfre_edge_group;

/* The edges of one split; all arrays belong to the graph. With a guard, ask wfre_sound or one of
 * the functions below before reading: of what was not checked nothing is certain. */
typedef struct wfre_adjacency {
    const uint32_t *relation_groups; /* relations + 1 */
    const wfre_entity *group_entity; /* groups */
    const uint32_t *group_begin;     /* groups + 1 */
    const wfre_entity *targets;      /* 2 * triples */
    const uint32_t *entity_begin;    /* entities + 1 */
    /* The relations of an entity, ascending, with the groups that hold their targets: groups. The
     * relations are 16 bits wide if all fit; the other array is NULL then. */
    const uint16_t *short_relations;
    const uint32_t *long_relations;
    const uint32_t *edge_groups;
    wfre_guard *guard; /* NULL: all of it may be read */
} wfre_adjacency;

static inline wfre_relation wfre_edge_relation(const wfre_adjacency *edges, uint32_t i)
{
    return edges->short_relations ? edges->short_relations[i] : edges->long_relations[i];
}

static inline wfre_edge_group wfre_entity_edge(const wfre_adjacency *edges, uint32_t i)
{
    return (wfre_edge_group){wfre_edge_relation(edges, i), edges->edge_groups[i]};
}

/* The edges of an entity are numbers *first up to the result; none if they are damaged. */
static inline uint32_t wfre_entity_edges(const wfre_adjacency *edges, wfre_entity entity,
                                         uint32_t *first)
{
    *first = 0;
    if (!wfre_sound(edges->guard, WFRE_AREA_ENTITIES, entity))
        return 0;
    *first = edges->entity_begin[entity];
    return edges->entity_begin[entity + 1];
}

/* Whether the groups [first, end), with their entities and targets, may be read. */
static inline bool wfre_groups_sound(const wfre_adjacency *edges, uint32_t first, uint32_t end)
{
    return wfre_sound_range(edges->guard, WFRE_AREA_GROUPS, first, end);
}

/* The groups of a relation, all of which may then be read; none if they are damaged. */
static inline uint32_t wfre_relation_groups(const wfre_adjacency *edges, wfre_relation relation,
                                            uint32_t *first)
{
    *first = 0;
    if (!wfre_sound(edges->guard, WFRE_AREA_RELATIONS, relation))
        return 0;
    uint32_t end = edges->relation_groups[relation + 1];
    *first = edges->relation_groups[relation];
    return wfre_groups_sound(edges, *first, end) ? end : *first;
}

/* wfre_graph_verify, or wfre_graph_validate, once, and not of a graph built in memory: for whatever
 * is to read most of a graph without care. */
WFRE_NODISCARD wfre_status wfre_graph_settle(const wfre_graph *graph, wfre_error *error);
/* As wfre_graph_save, but nobody stops it: for what has its place in a larger task. */
WFRE_NODISCARD wfre_status wfre_graph_keep(const wfre_graph *graph, const char *path,
                                           wfre_error *error);
WFRE_NODISCARD wfre_status wfre_graph_trust(const wfre_graph *graph, wfre_error *error);

static inline bool wfre_split_exists(wfre_split split)
{
    return (unsigned)split < WFRE_SPLITS;
}

/* Fails if there is no such split. */
WFRE_NODISCARD wfre_status wfre_check_split(wfre_split split, wfre_error *error);

/* Of a split that there is; laid out at the first call, which never fails: damage shows in
 * wfre_graph_sound. */
const wfre_adjacency *wfre_graph_adjacency(const wfre_graph *graph, wfre_split split);

/* Whether an ascending list holds an entity. */
static inline bool wfre_list_has(wfre_list list, wfre_entity entity)
{
    size_t low = 0, high = list.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (list.ids[middle] < entity)
            low = middle + 1;
        else
            high = middle;
    }
    return low < list.count && list.ids[low] == entity;
}

static inline wfre_list wfre_group_targets(const wfre_adjacency *edges, uint32_t group)
{
    if (!wfre_sound(edges->guard, WFRE_AREA_GROUPS, group))
        return (wfre_list){NULL, 0};
    uint32_t begin = edges->group_begin[group];
    return (wfre_list){edges->targets + begin, edges->group_begin[group + 1] - begin};
}

/* The group, of `groups` in all, that holds the target at an index: the last that does not begin
 * behind it. */
static inline uint32_t wfre_group_of_target(const wfre_adjacency *edges, uint32_t groups,
                                            uint32_t index)
{
    uint32_t low = 0, high = groups;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (edges->group_begin[middle] <= index)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* The relation, of `relations` in the graph, that a group belongs to. */
static inline wfre_relation wfre_group_relation(const wfre_adjacency *edges, uint32_t relations,
                                                uint32_t group)
{
    wfre_relation low = 0, high = relations;
    while (high - low > 1) {
        wfre_relation middle = low + (high - low) / 2;
        if (edges->relation_groups[middle] <= group)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* By name, else by label if exactly one has it; WFRE_NONE if not found. What people type is looked
 * for by wfre_graph_find_entity and wfre_graph_find_relation. */
wfre_entity wfre_graph_named_entity(const wfre_graph *graph, const char *text, size_t length);
wfre_relation wfre_graph_named_relation(const wfre_graph *graph, const char *text, size_t length);

/* The first few entities, or forward relations, that have a text as a label in any language, or in
 * one if it is "label"@language; how many. */
size_t wfre_graph_labelled(const wfre_graph *graph, bool relations, wfre_name text, uint32_t *ids,
                           size_t capacity);

/* Whether attributes have a predicate with this IRI, prefixed name or local name, in any case; its
 * IRI is in `iri` then. */
bool wfre_graph_find_attribute(const wfre_graph *graph, wfre_name text, wfre_text *iri);

/* ---- building ----------------------------------------------------------------------------- */

/* Collects names and triples, then makes a snapshot. Duplicate triples are kept once, in the
 * earliest split that has them. */
typedef struct wfre_graph_builder wfre_graph_builder;

WFRE_NODISCARD wfre_status wfre_graph_builder_create(wfre_graph_builder **builder,
                                                     wfre_error *error);
void wfre_graph_builder_free(wfre_graph_builder *builder);
/* The id of a name, new or known. */
WFRE_NODISCARD wfre_status wfre_graph_builder_entity(wfre_graph_builder *builder, const char *name,
                                                     size_t length, wfre_entity *entity,
                                                     wfre_error *error);
/* The forward (even) id of a relation name. */
WFRE_NODISCARD wfre_status wfre_graph_builder_relation(wfre_graph_builder *builder,
                                                       const char *name, size_t length,
                                                       wfre_relation *relation, wfre_error *error);
/* relation is a forward id; split says in which part the triple stands. */
WFRE_NODISCARD wfre_status wfre_graph_builder_triple(wfre_graph_builder *builder, wfre_split split,
                                                     wfre_entity head, wfre_relation relation,
                                                     wfre_entity tail, wfre_error *error);
/* What to show for an entity or relation, and what to say about it; a later call replaces an
 * earlier one. Empty text means none. */
WFRE_NODISCARD wfre_status wfre_graph_builder_label(wfre_graph_builder *builder, wfre_entity entity,
                                                    const char *text, size_t length,
                                                    wfre_error *error);
WFRE_NODISCARD wfre_status wfre_graph_builder_describe(wfre_graph_builder *builder,
                                                       wfre_entity entity, const char *text,
                                                       size_t length, wfre_error *error);
WFRE_NODISCARD wfre_status wfre_graph_builder_relation_label(wfre_graph_builder *builder,
                                                             wfre_relation relation,
                                                             const char *text, size_t length,
                                                             wfre_error *error);
/* The graph as a file, replaced atomically; the builder is spent but still to be freed. */
WFRE_NODISCARD wfre_status wfre_graph_builder_write(wfre_graph_builder *builder, const char *path,
                                                    const wfre_monitor *monitor, wfre_error *error);
/* The graph in memory; the builder is spent but still to be freed. */
WFRE_NODISCARD wfre_status wfre_graph_builder_finish(wfre_graph_builder *builder,
                                                     wfre_graph **graph, wfre_error *error);

#endif
