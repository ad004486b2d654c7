/* Both ends count in dense arrays, of which what was touched is noted and cleared again. */
#include "infer/alike.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "exact/set.h"

enum {
    MOST_FACTS = 1024,   /* of the head that are looked at */
    MOST_HOLDERS = 256,  /* of a fact that are looked at */
    MOST_TAILS = 256,    /* known ones whose facts are counted ... */
    MOST_COUNTED = 8192, /* ... and so many facts of all of them together */
    SLOTS = 4 * MOST_COUNTED,
    MOST_STEPS = 65536, /* for either end */
    LEAST_CASES = 2
};
static const float DOUBT = 5;           /* cases that speak against */
static const float LEAST_SHARE = 0.01F; /* of a tail's fact: what says less is left out */
static const float HIGHEST_SHARE = 0.99F;
static const float SCALE = 50;

/* A fact by the group of those who have it. */
typedef struct fact {
    uint32_t group;
    float order; /* the least first */
} fact;

typedef struct slot {
    uint32_t group; /* one more than that; 0 if empty */
    uint32_t count;
} slot;

struct wfre_alike {
    size_t entities;
    uint32_t *group_of;   /* [entities]: one more than the group of the relation at work, or 0 */
    uint32_t *count;      /* [entities]: 0 but while a fact is looked at */
    float *best;          /* [entities]: the largest share so far */
    wfre_entity *counted; /* [entities]: whose count is not 0 */
    wfre_entity *reached; /* [entities]: whose share is not 0 */
    size_t reached_count;
    fact facts[MOST_COUNTED];
    slot slots[SLOTS];
    uint32_t used[MOST_COUNTED]; /* slots */
};

wfre_alike *wfre_alike_create(size_t entities)
{
    wfre_alike *a = wfre_alloc_zero(1, sizeof *a);
    if (!a)
        return NULL;
    a->entities = entities;
    a->group_of = wfre_alloc_zero(entities + 1, sizeof *a->group_of);
    a->count = wfre_alloc_zero(entities + 1, sizeof *a->count);
    a->best = wfre_alloc_zero(entities + 1, sizeof *a->best);
    a->counted = wfre_alloc(entities + 1, sizeof *a->counted);
    a->reached = wfre_alloc(entities + 1, sizeof *a->reached);
    if (a->group_of && a->count && a->best && a->counted && a->reached)
        return a;
    wfre_alike_free(a);
    return NULL;
}

void wfre_alike_free(wfre_alike *alike)
{
    if (!alike)
        return;
    wfre_free(alike->group_of);
    wfre_free(alike->count);
    wfre_free(alike->best);
    wfre_free(alike->counted);
    wfre_free(alike->reached);
    wfre_free(alike);
}

static int compare_facts(const void *left, const void *right)
{
    const fact *a = left, *b = right;
    if (a->order != b->order)
        return a->order < b->order ? -1 : 1;
    return (a->group > b->group) - (a->group < b->group);
}

static void reach(wfre_alike *a, wfre_entity y, float share)
{
    if (a->best[y] == 0)
        a->reached[a->reached_count++] = y;
    if (share > a->best[y])
        a->best[y] = share;
}

/* Adds what was found but for what is known, and forgets it. */
static void settle(wfre_alike *a, wfre_list known, float factor, float *gains)
{
    for (size_t i = 0; i < a->reached_count; i++) {
        wfre_entity y = a->reached[i];
        if (!wfre_list_has(known, y))
            gains[y] += factor * log1pf(SCALE * a->best[y]);
        a->best[y] = 0;
    }
    a->reached_count = 0;
}

/* Every so many of `count`, so that at most `most` are taken. */
static size_t stride_of(size_t count, size_t most)
{
    return count > most ? (count + most - 1) / most : 1;
}

/* ---- the head ----------------------------------------------------------------------------- */

/* How many edges an entity has. */
static size_t count_edges(const wfre_adjacency *edges, wfre_entity entity)
{
    size_t count = 0;
    uint32_t first, end = wfre_entity_edges(edges, entity, &first);
    for (uint32_t i = first; i < end; i++)
        count += wfre_group_targets(edges, wfre_entity_edge(edges, i).group).count;
    return count;
}

/* Lists facts of x that others have, too, those that fewest have first. */
static size_t list_facts(wfre_alike *a, const wfre_adjacency *edges, wfre_entity x)
{
    size_t count = 0, at = 0, stride = stride_of(count_edges(edges, x), MOST_FACTS);
    uint32_t first, end = wfre_entity_edges(edges, x, &first);
    for (uint32_t i = first; i < end; i++) {
        wfre_edge_group edge = wfre_entity_edge(edges, i);
        wfre_list targets = wfre_group_targets(edges, edge.group);
        for (size_t t = 0; t < targets.count; t++, at++) {
            if (at % stride != 0 || count == MOST_FACTS)
                continue;
            uint32_t group = wfre_find_group(edges, edge.relation ^ 1, targets.ids[t]);
            size_t holders = group == WFRE_NONE ? 0 : wfre_group_targets(edges, group).count;
            if (holders > LEAST_CASES)
                a->facts[count++] = (fact){group, (float)holders};
        }
    }
    qsort(a->facts, count, sizeof *a->facts, compare_facts);
    return count;
}

/* Counts where the others that have a fact lead to; returns how many steps that took. */
static size_t follow_fact(wfre_alike *a, const wfre_adjacency *edges, wfre_entity x, uint32_t group)
{
    wfre_list holders = wfre_group_targets(edges, group);
    size_t stride = stride_of(holders.count, MOST_HOLDERS), steps = 0, others = 0, listed = 0;
    for (size_t i = 0; i < holders.count; i += stride) {
        wfre_entity other = holders.ids[i];
        others += other != x;
        steps++;
        if (other == x || a->group_of[other] == 0)
            continue;
        wfre_list targets = wfre_group_targets(edges, a->group_of[other] - 1);
        for (size_t t = 0; t < targets.count; t++)
            if (a->count[targets.ids[t]]++ == 0)
                a->counted[listed++] = targets.ids[t];
        steps += targets.count;
    }
    for (size_t i = 0; i < listed; i++) {
        wfre_entity y = a->counted[i];
        if (a->count[y] >= LEAST_CASES)
            reach(a, y, (float)a->count[y] / ((float)others + DOUBT));
        a->count[y] = 0;
    }
    return steps;
}

static void judge_head(wfre_alike *a, const wfre_adjacency *edges, wfre_relation relation,
                       wfre_entity x)
{
    uint32_t first, end = wfre_relation_groups(edges, relation, &first);
    for (uint32_t g = first; g < end; g++)
        a->group_of[edges->group_entity[g]] = g + 1;
    size_t count = list_facts(a, edges, x);
    for (size_t i = 0, steps = 0; i < count && steps < MOST_STEPS; i++)
        steps += follow_fact(a, edges, x, a->facts[i].group);
    for (uint32_t g = first; g < end; g++)
        a->group_of[edges->group_entity[g]] = 0;
}

/* ---- the tail ----------------------------------------------------------------------------- */

/* Counts one more that has a fact. */
static void count_fact(wfre_alike *a, uint32_t group, size_t *used)
{
    size_t at = (group * 2654435761U) % SLOTS;
    while (a->slots[at].group != 0 && a->slots[at].group != group + 1)
        at = (at + 1) % SLOTS;
    if (a->slots[at].group == 0) {
        a->slots[at].group = group + 1;
        a->used[(*used)++] = (uint32_t)at;
    }
    a->slots[at].count++;
}

/* Counts the facts of an entity, at most so many; but not the one that `own` stands for. */
static void count_facts(wfre_alike *a, const wfre_adjacency *edges, wfre_entity y, size_t most,
                        uint32_t own, size_t *used)
{
    size_t at = 0, counted = 0, stride = stride_of(count_edges(edges, y), most);
    uint32_t first, end = wfre_entity_edges(edges, y, &first);
    for (uint32_t i = first; i < end; i++) {
        wfre_edge_group edge = wfre_entity_edge(edges, i);
        wfre_list targets = wfre_group_targets(edges, edge.group);
        for (size_t t = 0; t < targets.count; t++, at++) {
            if (at % stride != 0 || counted == most)
                continue;
            uint32_t group = wfre_find_group(edges, edge.relation ^ 1, targets.ids[t]);
            counted++;
            if (group != WFRE_NONE && group != own)
                count_fact(a, group, used);
        }
    }
}

/* Lists facts that several of the known tails have, those that say most first, and empties the
 * slots. `each` is how many known tails one of those that were looked at stands for. */
static size_t list_shares(wfre_alike *a, const wfre_adjacency *edges, size_t used, float each)
{
    size_t count = 0;
    for (size_t i = 0; i < used; i++) {
        slot found = a->slots[a->used[i]];
        a->slots[a->used[i]] = (slot){0, 0};
        size_t holders = wfre_group_targets(edges, found.group - 1).count;
        float share = each * (float)found.count / ((float)holders + DOUBT);
        if (found.count >= LEAST_CASES && share >= LEAST_SHARE)
            a->facts[count++] =
                (fact){found.group - 1, share < HIGHEST_SHARE ? -share : -HIGHEST_SHARE};
    }
    qsort(a->facts, count, sizeof *a->facts, compare_facts);
    return count;
}

static void judge_tail(wfre_alike *a, const wfre_adjacency *edges, uint32_t own, wfre_list known)
{
    if (known.count < LEAST_CASES)
        return;
    size_t stride = stride_of(known.count, MOST_TAILS), looked = 0, used = 0;
    for (size_t i = 0; i < known.count; i += stride)
        looked++;
    for (size_t i = 0; i < known.count; i += stride)
        count_facts(a, edges, known.ids[i], MOST_COUNTED / looked, own, &used);
    size_t count = list_shares(a, edges, used, (float)known.count / (float)looked);
    for (size_t i = 0, steps = 0; i < count && steps < MOST_STEPS; i++) {
        wfre_list holders = wfre_group_targets(edges, a->facts[i].group);
        for (size_t h = 0; h < holders.count; h++)
            reach(a, holders.ids[h], -a->facts[i].order);
        steps += holders.count;
    }
}

void wfre_alike_add(wfre_alike *alike, const wfre_adjacency *edges, wfre_relation relation,
                    wfre_entity x, float factor, float *gains)
{
    uint32_t own = wfre_find_group(edges, relation, x);
    wfre_list known = own == WFRE_NONE ? (wfre_list){0} : wfre_group_targets(edges, own);
    judge_head(alike, edges, relation, x);
    settle(alike, known, factor, gains);
    judge_tail(alike, edges, own, known);
    settle(alike, known, factor, gains);
}
