/* Set operations over sorted lists and bitsets.
 *
 * Invariants: a bitset has more than `limit` members and lies in a slot (or is a view of one); a
 * list in a slot has at most `limit` members; a longer list is borrowed. */
#include "exact/set.h"

#include <assert.h>
#include <string.h>

#include "base/memory.h"

/* ---- workspace ---------------------------------------------------------------------------- */

bool wfre_sets_open(wfre_sets *sets, uint32_t entities)
{
    size_t words = ((size_t)entities + 63) / 64;
    if (words == 0)
        words = 1;
    *sets = (wfre_sets){.entities = entities, .words = words, .limit = 2 * words};
    sets->mark = wfre_alloc_zero(words, sizeof *sets->mark);
    sets->touched = wfre_alloc_zero((words + 63) / 64, sizeof *sets->touched);
    if (sets->mark && sets->touched)
        return true;
    wfre_sets_close(sets);
    return false;
}

void wfre_sets_close(wfre_sets *sets)
{
    for (size_t i = 0; i < sets->slot_count; i++)
        wfre_free(sets->slots[i]);
    wfre_free(sets->slots);
    wfre_free(sets->unused);
    wfre_free(sets->mark);
    wfre_free(sets->touched);
    *sets = (wfre_sets){0};
}

void wfre_sets_reset(wfre_sets *sets)
{
    for (size_t i = 0; i < sets->slot_count; i++)
        sets->unused[i] = (uint32_t)i;
    sets->unused_count = sets->slot_count;
}

/* A slot nobody holds, its contents undefined; WFRE_NONE when out of memory. */
static uint32_t take_slot(wfre_sets *sets)
{
    if (sets->unused_count)
        return sets->unused[--sets->unused_count];
    size_t count = sets->slot_count;
    if (!WFRE_RESERVE(&sets->slots, &sets->slot_capacity, count + 1) ||
        !WFRE_RESERVE(&sets->unused, &sets->unused_capacity, count + 1))
        return WFRE_NONE;
    sets->slots[count] = wfre_alloc(sets->words, sizeof **sets->slots);
    if (!sets->slots[count])
        return WFRE_NONE;
    sets->slot_count++;
    return (uint32_t)count;
}

void wfre_set_release(wfre_sets *sets, wfre_set *set)
{
    if (set->slot != WFRE_NONE)
        sets->unused[sets->unused_count++] = set->slot;
    *set = wfre_set_empty();
}

static wfre_entity *slot_ids(const wfre_sets *sets, uint32_t slot)
{
    return (wfre_entity *)sets->slots[slot];
}

/* ---- forms -------------------------------------------------------------------------------- */

static bool bit(const uint64_t *words, wfre_entity entity)
{
    return words[entity / 64] >> entity % 64 & 1;
}

static size_t count_bits(const uint64_t *words, size_t count)
{
    size_t bits = 0;
    for (size_t i = 0; i < count; i++)
        bits += (size_t)__builtin_popcountll(words[i]);
    return bits;
}

/* Writes the members of one word that starts at entity `base`; returns the end of the list. */
static wfre_entity *write_word(uint64_t word, size_t base, wfre_entity *out)
{
    for (; word; word &= word - 1)
        *out++ = (wfre_entity)(base + (size_t)__builtin_ctzll(word));
    return out;
}

static bool stored_has(const wfre_set *set, wfre_entity entity)
{
    if (set->dense)
        return bit(set->words, entity);
    size_t at = wfre_gallop(set->ids, 0, set->count, entity);
    return at < set->count && set->ids[at] == entity;
}

bool wfre_set_copy(wfre_sets *sets, const wfre_set *set, wfre_set *copy)
{
    *copy = *set;
    if (set->slot == WFRE_NONE)
        return true;
    copy->slot = take_slot(sets);
    if (copy->slot == WFRE_NONE)
        return false;
    if (set->dense)
        copy->words = memcpy(sets->slots[copy->slot], set->words, sets->words * sizeof *set->words);
    else
        copy->ids = memcpy(slot_ids(sets, copy->slot), set->ids, set->count * sizeof *set->ids);
    return true;
}

bool wfre_set_has(const wfre_set *set, wfre_entity entity)
{
    return stored_has(set, entity) != set->complement;
}

void wfre_set_write(const wfre_sets *sets, const wfre_set *set, wfre_entity *ids)
{
    if (set->dense) {
        uint64_t flip = set->complement ? UINT64_MAX : 0;
        for (size_t i = 0; i < sets->words; i++) {
            uint64_t word = set->words[i] ^ flip;
            if (flip && i == sets->entities / 64)
                word &= ((uint64_t)1 << sets->entities % 64) - 1;
            ids = write_word(word, i * 64, ids);
        }
    } else if (!set->complement) {
        if (set->count)
            memcpy(ids, set->ids, set->count * sizeof *ids);
    } else {
        size_t next = 0;
        for (wfre_entity e = 0; e < sets->entities; e++) {
            if (next < set->count && set->ids[next] == e)
                next++;
            else
                *ids++ = e;
        }
    }
}

/* Replaces what is stored by the contents of `slot`, keeping the complement flag. */
static void replace(wfre_sets *sets, wfre_set *set, uint32_t slot, bool dense, size_t count)
{
    bool complement = set->complement;
    wfre_set_release(sets, set);
    *set = (wfre_set){complement, dense, slot, count, {.ids = NULL}};
    if (dense)
        set->words = sets->slots[slot];
    else
        set->ids = slot_ids(sets, slot);
}

/* Makes the stored set a bitset of its own that may be written to. */
static bool make_bits(wfre_sets *sets, wfre_set *set)
{
    if (set->dense && set->slot != WFRE_NONE)
        return true;
    uint32_t slot = take_slot(sets);
    if (slot == WFRE_NONE)
        return false;
    uint64_t *words = sets->slots[slot];
    if (set->dense) {
        memcpy(words, set->words, sets->words * sizeof *words);
    } else {
        memset(words, 0, sets->words * sizeof *words);
        for (size_t i = 0; i < set->count; i++)
            words[set->ids[i] / 64] |= (uint64_t)1 << set->ids[i] % 64;
    }
    replace(sets, set, slot, true, set->count);
    return true;
}

/* Turns a bitset that has become small into a list. */
static bool shrink(wfre_sets *sets, wfre_set *set)
{
    if (!set->dense || set->count > sets->limit)
        return true;
    uint32_t slot = take_slot(sets);
    if (slot == WFRE_NONE)
        return false;
    wfre_entity *out = slot_ids(sets, slot);
    for (size_t i = 0; i < sets->words; i++)
        out = write_word(set->words[i], i * 64, out);
    replace(sets, set, slot, false, set->count);
    return true;
}

/* ---- and, minus, or on what is stored ----------------------------------------------------- */

/* Makes room for a list of up to set->count ids to be written; the ids may be those of the set. */
static wfre_entity *list_target(wfre_sets *sets, const wfre_set *set, uint32_t *slot)
{
    *slot = set->slot != WFRE_NONE ? set->slot : take_slot(sets);
    return *slot != WFRE_NONE ? slot_ids(sets, *slot) : NULL;
}

static void set_list(wfre_sets *sets, wfre_set *set, uint32_t slot, size_t count)
{
    if (set->slot == slot)
        set->count = count;
    else
        replace(sets, set, slot, false, count);
}

/* Keeps the ids of `set`, a list of at most `limit`, that are in `other` if `keep`, and those that
 * are not otherwise. */
static bool filter(wfre_sets *sets, wfre_set *set, const wfre_set *other, bool keep)
{
    assert(!set->dense && set->count <= sets->limit);
    uint32_t slot;
    wfre_entity *out = list_target(sets, set, &slot);
    if (!out)
        return false;
    const wfre_entity *ids = set->ids;
    size_t count = 0;
    if (other->dense) {
        for (size_t i = 0; i < set->count; i++) {
            wfre_entity id = ids[i];
            out[count] = id;
            count += bit(other->words, id) == keep;
        }
    } else {
        size_t at = 0;
        for (size_t i = 0; i < set->count; i++) {
            wfre_entity id = ids[i];
            at = wfre_gallop(other->ids, at, other->count, id);
            out[count] = id;
            count += (at < other->count && other->ids[at] == id) == keep;
        }
    }
    set_list(sets, set, slot, count);
    return true;
}

/* Exchanges what is stored, leaving the complement flags where they are. */
static void swap_stored(wfre_set *left, wfre_set *right)
{
    wfre_set old = *left;
    *left = *right;
    left->complement = old.complement;
    old.complement = right->complement;
    *right = old;
}

static bool and_stored(wfre_sets *sets, wfre_set *left, wfre_set *right)
{
    if (left->dense ? !right->dense : !right->dense && right->count < left->count)
        swap_stored(left, right);
    if (!left->dense && left->count <= sets->limit)
        return filter(sets, left, right, true);
    if (!make_bits(sets, left) || (!right->dense && !make_bits(sets, right)))
        return false;
    uint64_t *words = sets->slots[left->slot];
    for (size_t i = 0; i < sets->words; i++)
        words[i] &= right->words[i];
    left->count = count_bits(words, sets->words);
    return shrink(sets, left);
}

static bool minus_stored(wfre_sets *sets, wfre_set *left, const wfre_set *right)
{
    if (right->count == 0)
        return true;
    if (!left->dense && left->count <= sets->limit)
        return filter(sets, left, right, false);
    if (!make_bits(sets, left))
        return false;
    uint64_t *words = sets->slots[left->slot];
    if (right->dense)
        for (size_t i = 0; i < sets->words; i++)
            words[i] &= ~right->words[i];
    else
        for (size_t i = 0; i < right->count; i++)
            words[right->ids[i] / 64] &= ~((uint64_t)1 << right->ids[i] % 64);
    left->count = count_bits(words, sets->words);
    return shrink(sets, left);
}

/* The union of two lists that fit one slot together. */
static bool merge(wfre_sets *sets, wfre_set *left, const wfre_set *right)
{
    uint32_t slot = take_slot(sets);
    if (slot == WFRE_NONE)
        return false;
    wfre_entity *out = slot_ids(sets, slot);
    size_t i = 0;
    size_t j = 0;
    size_t count = 0;
    while (i < left->count && j < right->count) {
        wfre_entity a = left->ids[i];
        wfre_entity b = right->ids[j];
        out[count++] = a < b ? a : b;
        i += a <= b;
        j += b <= a;
    }
    for (; i < left->count; i++)
        out[count++] = left->ids[i];
    for (; j < right->count; j++)
        out[count++] = right->ids[j];
    replace(sets, left, slot, false, count);
    return true;
}

static bool or_stored(wfre_sets *sets, wfre_set *left, wfre_set *right)
{
    if (left->count == 0 || (!left->dense && right->dense))
        swap_stored(left, right);
    if (right->count == 0)
        return true;
    if (!left->dense && left->count + right->count <= sets->limit)
        return merge(sets, left, right);
    if (!make_bits(sets, left))
        return false;
    uint64_t *words = sets->slots[left->slot];
    if (right->dense)
        for (size_t i = 0; i < sets->words; i++)
            words[i] |= right->words[i];
    else
        for (size_t i = 0; i < right->count; i++)
            words[right->ids[i] / 64] |= (uint64_t)1 << right->ids[i] % 64;
    left->count = count_bits(words, sets->words);
    return shrink(sets, left);
}

/* ---- intersection and union --------------------------------------------------------------- */

bool wfre_set_intersect(wfre_sets *sets, wfre_set *left, wfre_set *right)
{
    bool done;
    if (left->complement && right->complement) {
        done = or_stored(sets, left, right); /* not A and not B = not (A or B) */
    } else if (!left->complement && !right->complement) {
        done = and_stored(sets, left, right);
    } else {
        if (left->complement) {
            wfre_set old = *left;
            *left = *right;
            *right = old;
        }
        done = minus_stored(sets, left, right);
    }
    wfre_set_release(sets, right);
    return done;
}

bool wfre_set_unite(wfre_sets *sets, wfre_set *left, wfre_set *right)
{
    left->complement = !left->complement;
    right->complement = !right->complement;
    bool done = wfre_set_intersect(sets, left, right);
    left->complement = !left->complement;
    return done;
}

/* ---- projection --------------------------------------------------------------------------- */

static void mark_list(wfre_sets *sets, wfre_list list)
{
    for (size_t i = 0; i < list.count; i++) {
        size_t word = list.ids[i] / 64;
        sets->mark[word] |= (uint64_t)1 << list.ids[i] % 64;
        sets->touched[word / 64] |= (uint64_t)1 << word % 64;
    }
}

/* Moves what was marked into a fresh slot as the stored set, leaving the marks zero. */
static bool take_marked(wfre_sets *sets, wfre_set *set)
{
    uint32_t slot = take_slot(sets);
    size_t blocks = (sets->words + 63) / 64;
    size_t count = 0;
    for (size_t b = 0; b < blocks; b++)
        for (uint64_t rest = sets->touched[b]; rest; rest &= rest - 1)
            count +=
                (size_t)__builtin_popcountll(sets->mark[b * 64 + (size_t)__builtin_ctzll(rest)]);
    bool dense = count > sets->limit;
    if (slot != WFRE_NONE && dense)
        memcpy(sets->slots[slot], sets->mark, sets->words * sizeof *sets->mark);
    wfre_entity *out = slot != WFRE_NONE && !dense ? slot_ids(sets, slot) : NULL;
    for (size_t b = 0; b < blocks; b++) {
        for (uint64_t rest = sets->touched[b]; rest; rest &= rest - 1) {
            size_t word = b * 64 + (size_t)__builtin_ctzll(rest);
            if (out)
                out = write_word(sets->mark[word], word * 64, out);
            sets->mark[word] = 0;
        }
        sets->touched[b] = 0;
    }
    if (slot == WFRE_NONE)
        return false;
    replace(sets, set, slot, dense, count);
    return true;
}

/* t belongs to the projection of a complement unless all its sources are left out. Walking over the
 * targets of the relation, ascending, needs one look at most of them: the first source that counts
 * decides, and more sources than are left out decide at once. */
bool wfre_set_project_complement(wfre_sets *sets, const wfre_adjacency *edges,
                                 wfre_relation relation, size_t enough, wfre_set *set)
{
    assert(set->complement);
    uint32_t begin, end = wfre_relation_groups(edges, relation ^ 1, &begin);
    if (set->count == 0) { /* of all entities */
        wfre_set_release(sets, set);
        *set = wfre_set_borrow(edges->group_entity + begin, end - begin);
        return true;
    }
    size_t reached = 0;
    for (uint32_t g = begin; g < end && reached <= enough; g++) {
        wfre_list from = wfre_group_targets(edges, g);
        bool found = from.count > set->count;
        for (size_t i = 0; i < from.count && !found; i++)
            found = !stored_has(set, from.ids[i]);
        if (found) {
            mark_list(sets, (wfre_list){edges->group_entity + g, 1});
            reached++;
        }
    }
    set->complement = false;
    return take_marked(sets, set);
}

/* The group of (relation, entity); WFRE_NONE if there is none. Entities are asked for by ascending
 * ids, and *at is how far the walk over the relation's groups has come. A guarded graph is searched
 * from the start instead, which looks at few of its parts. */
static uint32_t next_group(const wfre_adjacency *edges, wfre_relation relation, uint32_t *at,
                           wfre_entity entity)
{
    if (edges->guard)
        return wfre_find_group(edges, relation, entity);
    uint32_t end = edges->relation_groups[relation + 1];
    *at = (uint32_t)wfre_gallop(edges->group_entity, *at, end, entity);
    return *at < end && edges->group_entity[*at] == entity ? (*at)++ : WFRE_NONE;
}

/* Marks the targets of every source in a bitset; whether there were any. */
static bool mark_sources(wfre_sets *sets, const wfre_adjacency *edges, wfre_relation relation,
                         const uint64_t *words)
{
    bool any = false;
    uint32_t group, end = wfre_relation_groups(edges, relation, &group);
    for (; group < end; group++) {
        if (!bit(words, edges->group_entity[group]))
            continue;
        mark_list(sets, wfre_group_targets(edges, group));
        any = true;
    }
    return any;
}

bool wfre_set_project(wfre_sets *sets, const wfre_adjacency *edges, wfre_relation relation,
                      wfre_set *set)
{
    if (set->complement)
        return wfre_set_project_complement(sets, edges, relation, SIZE_MAX, set);
    wfre_list only = {NULL, 0}; /* the first group's targets, marked once there is a second */
    unsigned groups = 0;
    if (set->dense) {
        groups = mark_sources(sets, edges, relation, set->words) ? 2 : 0;
    } else {
        uint32_t at = edges->guard ? 0 : edges->relation_groups[relation];
        for (size_t i = 0; i < set->count; i++) {
            uint32_t group = next_group(edges, relation, &at, set->ids[i]);
            if (group == WFRE_NONE)
                continue;
            wfre_list targets = wfre_group_targets(edges, group);
            if (groups++ == 0) {
                only = targets;
                continue;
            }
            if (groups == 2)
                mark_list(sets, only);
            mark_list(sets, targets);
        }
    }
    if (groups > 1)
        return take_marked(sets, set);
    wfre_set_release(sets, set);
    *set = wfre_set_borrow(only.ids, only.count);
    return true;
}

/* Whether one of the ids is in the set. */
static bool meets(const wfre_set *set, wfre_list list)
{
    if (!set->dense && !set->complement && set->count < list.count) {
        size_t at = 0;
        for (size_t i = 0; i < set->count; i++) {
            at = wfre_gallop(list.ids, at, list.count, set->ids[i]);
            if (at == list.count)
                return false;
            if (list.ids[at] == set->ids[i])
                return true;
        }
        return false;
    }
    for (size_t i = 0; i < list.count; i++)
        if (wfre_set_has(set, list.ids[i]))
            return true;
    return false;
}

bool wfre_set_filter_projection(wfre_sets *sets, const wfre_adjacency *edges,
                                wfre_relation relation, const wfre_set *from, bool keep,
                                wfre_set *set)
{
    assert(!set->dense && !set->complement && set->count <= sets->limit);
    uint32_t slot;
    wfre_entity *out = list_target(sets, set, &slot);
    if (!out)
        return false;
    size_t count = 0;
    for (size_t i = 0; i < set->count; i++) {
        wfre_entity id = set->ids[i];
        uint32_t group = wfre_find_group(edges, relation ^ 1, id);
        bool reached = group != WFRE_NONE && meets(from, wfre_group_targets(edges, group));
        out[count] = id;
        count += reached == keep;
    }
    set_list(sets, set, slot, count);
    return true;
}
