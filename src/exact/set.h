/* Sets of entities, the values of the exact engine.
 *
 * A set stores ascending ids while it is small and a bitset once that is no longer larger: a list
 * of up to two ids for each word of the bitset takes the same memory, so either form fits one slot
 * of a workspace. A complement is a flag on the stored set and is never written out; every
 * operation is one of and / minus / or on what is stored. Lists of the graph are used where they
 * lie.
 *
 * A workspace belongs to one thread. It keeps its slots, so that in the long run no operation
 * allocates. Operations return false when out of memory; their sets are then still to be released.
 */
#ifndef WFRE_SRC_EXACT_SET_H
#define WFRE_SRC_EXACT_SET_H

#include "base/gallop.h"
#include "graph/graph.h"

typedef struct wfre_set {
    bool complement; /* everything but what is stored */
    bool dense;      /* words, else ids */
    uint32_t slot;   /* of the workspace; WFRE_NONE if the memory is somebody else's */
    size_t count;    /* members stored; of a complement, those left out */
    union {
        const wfre_entity *ids; /* ascending */
        const uint64_t *words;
    };
} wfre_set;

typedef struct wfre_sets {
    uint32_t entities;
    size_t words; /* of a bitset, and of a slot */
    size_t limit; /* longer lists, unless borrowed, become bitsets */
    uint64_t **slots;
    size_t slot_count;
    size_t slot_capacity;
    uint32_t *unused; /* slots nobody holds; a stack with room for all */
    size_t unused_count;
    size_t unused_capacity;
    uint64_t *mark;    /* a bitset for collecting, all zero between calls */
    uint64_t *touched; /* one bit for each word of mark that may not be zero */
} wfre_sets;

bool wfre_sets_open(wfre_sets *sets, uint32_t entities);
void wfre_sets_close(wfre_sets *sets);
/* Takes back every slot at once, for a fresh start after a failure. */
void wfre_sets_reset(wfre_sets *sets);

/* The empty set; with its flag turned, all entities. */
static inline wfre_set wfre_set_empty(void)
{
    return (wfre_set){.slot = WFRE_NONE, .ids = NULL};
}

/* Memory stays the caller's and must outlive the set. */
static inline wfre_set wfre_set_borrow(const wfre_entity *ids, size_t count)
{
    return (wfre_set){.slot = WFRE_NONE, .count = count, .ids = ids};
}

/* The same set without its ownership: for using a set that is to be kept. */
static inline wfre_set wfre_set_view(wfre_set set)
{
    set.slot = WFRE_NONE;
    return set;
}

/* The same set in memory of its own, unless it is borrowed already. False when out of memory. */
bool wfre_set_copy(wfre_sets *sets, const wfre_set *set, wfre_set *copy);

static inline size_t wfre_set_size(const wfre_sets *sets, const wfre_set *set)
{
    return set->complement ? sets->entities - set->count : set->count;
}

bool wfre_set_has(const wfre_set *set, wfre_entity entity);

/* left becomes left and/or right; right is released in any case. */
bool wfre_set_intersect(wfre_sets *sets, wfre_set *left, wfre_set *right);
bool wfre_set_unite(wfre_sets *sets, wfre_set *left, wfre_set *right);

/* The set becomes { t : (h, relation, t) an edge, h in the set }. */
bool wfre_set_project(wfre_sets *sets, const wfre_adjacency *edges, wfre_relation relation,
                      wfre_set *set);

/* The same for a complement; may stop once it has found more than `enough`. */
bool wfre_set_project_complement(wfre_sets *sets, const wfre_adjacency *edges,
                                 wfre_relation relation, size_t enough, wfre_set *set);

/* Keeps of `set`, which must be a list and no complement, the t with (h, relation, t) for some h in
 * `from` if `keep`, those without otherwise: a projection looked at from its other end, for when
 * only a few results matter. */
bool wfre_set_filter_projection(wfre_sets *sets, const wfre_adjacency *edges,
                                wfre_relation relation, const wfre_set *from, bool keep,
                                wfre_set *set);

/* Writes the wfre_set_size members in ascending order. */
void wfre_set_write(const wfre_sets *sets, const wfre_set *set, wfre_entity *ids);
/* Gives back the set's slot, if it has one; the set becomes empty. */
void wfre_set_release(wfre_sets *sets, wfre_set *set);

/* ---- groups of edges ---------------------------------------------------------------------- */

/* The group of (relation, entity), WFRE_NONE if it has no edge. */
static inline uint32_t wfre_find_group(const wfre_adjacency *edges, wfre_relation relation,
                                       wfre_entity entity)
{
    if (!wfre_sound(edges->guard, WFRE_AREA_RELATIONS, relation))
        return WFRE_NONE;
    uint32_t low = edges->relation_groups[relation];
    uint32_t high = edges->relation_groups[relation + 1];
    uint32_t end = high;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (!wfre_sound(edges->guard, WFRE_AREA_GROUPS, middle))
            return WFRE_NONE;
        if (edges->group_entity[middle] < entity)
            low = middle + 1;
        else
            high = middle;
    }
    return low < end && edges->group_entity[low] == entity ? low : WFRE_NONE;
}

#endif
