/* Checking parts of a snapshot when they are first used. */
#include "graph/guard.h"

#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "base/scope.h"
#include "graph/image.h"

_Static_assert((int)WFRE_GUARD_TEXTS == (int)WFRE_TEXT_TABLES, "an area for each table of texts");

/* ---- flaws -------------------------------------------------------------------------------- */

enum { BAD_SUM, BAD_COVER, BAD_ORDER, BAD_ID, BAD_COUNT, FLAWS };

static const char *const FLAW_TEXTS[FLAWS] = {
    [BAD_SUM] = "has a wrong checksum",
    [BAD_COVER] = "does not cover what it should",
    [BAD_ORDER] = "is not in order",
    [BAD_ID] = "has an unknown id",
    [BAD_COUNT] = "has other edges than the header says",
};

/* Remembers the first flaw; returns false, as every check of a flawed part does. */
static bool flawed(wfre_guard *guard, int section, int kind)
{
    uint32_t none = 0, flaw = 1 + (uint32_t)section * FLAWS + (uint32_t)kind;
    (void)atomic_compare_exchange_strong(&guard->flaw, &none, flaw);
    return false;
}

void wfre_guard_miscounted(wfre_guard *guard, int section)
{
    (void)flawed(guard, section, BAD_COUNT);
}

wfre_status wfre_guard_status(const wfre_guard *guard, wfre_error *error)
{
    uint32_t flaw = guard ? atomic_load(&guard->flaw) : 0;
    char name[64];
    if (flaw == 0)
        return WFRE_OK;
    return wfre_fail(error, WFRE_ERR_FORMAT, WFRE_NO_OFFSET,
                     "damaged graph snapshot: section '%s' %s; import the graph again",
                     wfre_image_section_name((int)((flaw - 1) / FLAWS), name),
                     FLAW_TEXTS[(flaw - 1) % FLAWS]);
}

/* ---- bits --------------------------------------------------------------------------------- */

static bool has_bit(const _Atomic uint64_t *bits, uint64_t index)
{
    return atomic_load_explicit(&bits[index / 64], memory_order_acquire) >> index % 64 & 1;
}

static void set_bit(_Atomic uint64_t *bits, uint64_t index)
{
    atomic_fetch_or_explicit(&bits[index / 64], (uint64_t)1 << index % 64, memory_order_release);
}

/* ---- blocks ------------------------------------------------------------------------------- */

static bool block_fits(const wfre_guard *guard, uint64_t block)
{
    const wfre_graph *graph = guard->graph;
    uint64_t begin = graph->body + block * WFRE_IMAGE_BLOCK;
    uint64_t end = (uint64_t)((const unsigned char *)graph->sums - graph->bytes);
    uint64_t length = end - begin < WFRE_IMAGE_BLOCK ? end - begin : WFRE_IMAGE_BLOCK;
    wfre_own_pages(graph->bytes + begin, (size_t)length);
    return wfre_hash(graph->bytes + begin, (size_t)length, 0) == graph->sums[block];
}

/* Whether the four blocks from this one on are whole, were not looked at yet, and fit. */
static bool four_fit(const wfre_guard *guard, uint64_t block)
{
    const wfre_graph *graph = guard->graph;
    const unsigned char *at = graph->bytes + graph->body + block * WFRE_IMAGE_BLOCK;
    uint64_t sums[4];
    if (at + 4 * WFRE_IMAGE_BLOCK > (const unsigned char *)graph->sums)
        return false;
    for (uint64_t i = block; i < block + 4; i++)
        if (has_bit(guard->blocks, i))
            return false;
    wfre_own_pages(at, (size_t)4 * WFRE_IMAGE_BLOCK);
    wfre_hash_four((const void *[]){at, at + WFRE_IMAGE_BLOCK, at + 2 * WFRE_IMAGE_BLOCK,
                                    at + 3 * WFRE_IMAGE_BLOCK},
                   WFRE_IMAGE_BLOCK, sums);
    return memcmp(sums, graph->sums + block, sizeof sums) == 0;
}

static bool section_fits(const wfre_guard *guard, int section)
{
    const wfre_image_section *row = &guard->graph->header->sections[section];
    wfre_own_pages(guard->graph->bytes + row->offset, (size_t)row->length);
    return wfre_hash(guard->graph->bytes + row->offset, (size_t)row->length, 0) == row->checksum;
}

/* Looks at the blocks [first, end). Of one that does not fit, the section at fault is told by its
 * own checksum; if all of them fit, something between them was changed. */
static bool look_at_blocks(wfre_guard *guard, uint64_t first, uint64_t end)
{
    for (uint64_t block = first; block < end; block++) {
        if (has_bit(guard->blocks, block))
            continue;
        if (block + 4 <= end && four_fit(guard, block)) {
            for (uint64_t i = 0; i < 4; i++)
                set_bit(guard->blocks, block + i);
            block += 3;
            continue;
        }
        if (block_fits(guard, block)) {
            set_bit(guard->blocks, block);
            continue;
        }
        uint64_t from = guard->graph->body + block * WFRE_IMAGE_BLOCK, to = from + WFRE_IMAGE_BLOCK;
        int section = 0;
        for (; section < WFRE_IMAGE_SECTIONS; section++) {
            const wfre_image_section *row = &guard->graph->header->sections[section];
            if (row->offset < to && row->offset + row->length > from &&
                !section_fits(guard, section))
                break;
        }
        return flawed(guard, section, BAD_SUM);
    }
    return true;
}

/* Looks at the blocks of some elements of a section, which must lie in it; without blocks at all of
 * the section. */
static bool touch(wfre_guard *guard, int section, const void *from, uint64_t elements, size_t size)
{
    const wfre_graph *graph = guard->graph;
    uint64_t length = elements * size;
    if (guard->summed || length == 0)
        return true;
    if (graph->sums) {
        uint64_t begin = (uint64_t)((const unsigned char *)from - graph->bytes) - graph->body;
        return look_at_blocks(guard, begin / WFRE_IMAGE_BLOCK,
                              (begin + length - 1) / WFRE_IMAGE_BLOCK + 1);
    }
    if (has_bit(guard->blocks, (uint64_t)section))
        return true;
    if (!section_fits(guard, section))
        return flawed(guard, section, BAD_SUM);
    set_bit(guard->blocks, (uint64_t)section);
    return true;
}

/* ---- units -------------------------------------------------------------------------------- */

/* The elements [first, end) of an area of the given table or split. */
typedef bool check_unit(wfre_guard *guard, int index, uint64_t first, uint64_t end);

static bool check_texts(wfre_guard *guard, int table, uint64_t first, uint64_t end)
{
    const wfre_names *names = &guard->graph->names[table];
    int section = wfre_section_of_text((wfre_text_table)table, WFRE_TEXT_OFFSETS);
    const uint64_t *offsets = names->offsets;
    if (!touch(guard, section, offsets + first, end - first + 1, sizeof *offsets))
        return false;
    if ((first == 0 && offsets[0] != 0) || (end == names->count && offsets[end] != names->length) ||
        offsets[end] > names->length)
        return flawed(guard, section, BAD_COVER);
    for (uint64_t id = first; id < end; id++)
        if (offsets[id] > offsets[id + 1])
            return flawed(guard, section, BAD_ORDER);
    return touch(guard, wfre_section_of_text((wfre_text_table)table, WFRE_TEXT_BYTES),
                 names->bytes + offsets[first], offsets[end] - offsets[first], 1);
}

static bool check_slots(wfre_guard *guard, int table, uint64_t first, uint64_t end)
{
    const wfre_names *names = &guard->graph->names[table];
    int section = wfre_section_of_text((wfre_text_table)table, WFRE_TEXT_INDEX);
    if (!touch(guard, section, names->slots + first, end - first, sizeof *names->slots))
        return false;
    for (uint64_t slot = first; slot < end; slot++)
        if ((names->slots[slot] & ~WFRE_SLOT_AMBIGUOUS) > names->count)
            return flawed(guard, section, BAD_ID);
    return true;
}

static bool check_relations(wfre_guard *guard, int index, uint64_t first, uint64_t end)
{
    (void)index;
    const uint32_t *groups = guard->graph->edges[WFRE_TEST].relation_groups;
    uint32_t count = guard->graph->header->groups[WFRE_TEST];
    int section = wfre_section_of_edges(WFRE_EDGES_RELATION_GROUPS);
    if (!touch(guard, section, groups + first, end - first + 1, sizeof *groups))
        return false;
    if ((first == 0 && groups[0] != 0) ||
        (end == guard->graph->header->relations && groups[end] != count) || groups[end] > count)
        return flawed(guard, section, BAD_COVER);
    for (uint64_t relation = first; relation < end; relation++)
        if (groups[relation] > groups[relation + 1])
            return flawed(guard, section, BAD_ORDER);
    return true;
}

/* Whether the entities of some groups ascend within each relation; the relations were checked. */
static bool check_sources(wfre_guard *guard, uint64_t first, uint64_t end)
{
    const wfre_adjacency *edges = &guard->graph->edges[WFRE_TEST];
    const uint32_t *groups = edges->relation_groups;
    uint32_t entities = guard->graph->header->entities;
    int section = wfre_section_of_edges(WFRE_EDGES_GROUP_ENTITY);
    uint64_t from = first > 0 ? first - 1 : first; /* the last one before them is compared, too */
    if (!touch(guard, section, edges->group_entity + from, end - from, sizeof(wfre_entity)))
        return false;
    wfre_relation relation =
        wfre_group_relation(edges, guard->graph->header->relations, (uint32_t)first);
    for (uint64_t group = first; group < end; group++) {
        while (groups[relation + 1] <= group)
            relation++;
        if (edges->group_entity[group] >= entities)
            return flawed(guard, section, BAD_ID);
        if (group > groups[relation] &&
            edges->group_entity[group] <= edges->group_entity[group - 1])
            return flawed(guard, section, BAD_ORDER);
    }
    return true;
}

/* Whether the splits of some targets are some. */
static bool check_splits(wfre_guard *guard, uint32_t first, uint32_t end)
{
    const unsigned char *splits = guard->graph->splits;
    int section = wfre_section_of_edges(WFRE_EDGES_SPLITS);
    if (!splits || first == end)
        return true;
    uint32_t from = first / 4, to = (end - 1) / 4 + 1;
    if (!touch(guard, section, splits + from, to - from, 1))
        return false;
    bool known = true;
    for (uint32_t byte = from; byte < to; byte++) /* 3 is no split: both bits of a pair */
        known &= (splits[byte] & splits[byte] >> 1 & 0x55) == 0;
    return known || flawed(guard, section, BAD_ID);
}

static bool check_targets(wfre_guard *guard, uint64_t first, uint64_t end)
{
    const wfre_adjacency *edges = &guard->graph->edges[WFRE_TEST];
    const uint32_t *begin = edges->group_begin;
    uint32_t entities = guard->graph->header->entities;
    int section = wfre_section_of_edges(WFRE_EDGES_TARGETS);
    if (!touch(guard, section, edges->targets + begin[first], begin[end] - begin[first],
               sizeof(wfre_entity)))
        return false;
    for (uint64_t group = first; group < end; group++) {
        const wfre_entity *ids = edges->targets + begin[group];
        uint32_t count = begin[group + 1] - begin[group];
        bool ascends = true;
        for (uint32_t i = 1; i < count; i++)
            ascends &= ids[i - 1] < ids[i];
        if (!ascends)
            return flawed(guard, section, BAD_ORDER);
        if (ids[count - 1] >= entities)
            return flawed(guard, section, BAD_ID);
    }
    return check_splits(guard, begin[first], begin[end]);
}

static bool check_groups(wfre_guard *guard, int index, uint64_t first, uint64_t end)
{
    (void)index;
    const wfre_image_header *header = guard->graph->header;
    const uint32_t *begin = guard->graph->edges[WFRE_TEST].group_begin;
    uint64_t targets = 2 * header->triples[WFRE_TEST];
    int section = wfre_section_of_edges(WFRE_EDGES_GROUP_BEGIN);
    if (!wfre_guard_look(guard, WFRE_AREA_RELATIONS, 0, header->relations) ||
        !check_sources(guard, first, end) ||
        !touch(guard, section, begin + first, end - first + 1, sizeof *begin))
        return false;
    if ((first == 0 && begin[0] != 0) ||
        (end == header->groups[WFRE_TEST] && begin[end] != targets) || begin[end] > targets)
        return flawed(guard, section, BAD_COVER);
    for (uint64_t group = first; group < end; group++)
        if (begin[group] >= begin[group + 1]) /* a group has at least one edge */
            return flawed(guard, section, BAD_ORDER);
    return check_targets(guard, first, end);
}

/* The relations and groups of some entities; their starts were checked. */
static bool check_edges(wfre_guard *guard, uint64_t first, uint64_t end)
{
    const wfre_adjacency *edges = &guard->graph->edges[WFRE_TEST];
    const uint32_t *begin = edges->entity_begin;
    uint32_t from = begin[first], count = begin[end] - begin[first];
    const void *relations = edges->short_relations ? (const void *)(edges->short_relations + from)
                                                   : (const void *)(edges->long_relations + from);
    int section = wfre_section_of_edges(WFRE_EDGES_RELATIONS);
    if (!touch(guard, section, relations, count, edges->short_relations ? 2 : 4) ||
        !touch(guard, wfre_section_of_edges(WFRE_EDGES_GROUPS), edges->edge_groups + from, count,
               4))
        return false;
    for (uint64_t e = first; e < end; e++)
        for (uint32_t i = begin[e]; i < begin[e + 1]; i++) {
            wfre_edge_group edge = wfre_entity_edge(edges, i);
            if (edge.relation >= guard->graph->header->relations)
                return flawed(guard, section, BAD_ID);
            if (edge.group < edges->relation_groups[edge.relation] ||
                edge.group >= edges->relation_groups[edge.relation + 1])
                return flawed(guard, wfre_section_of_edges(WFRE_EDGES_GROUPS), BAD_ID);
            if (i > begin[e] && edge.relation <= wfre_edge_relation(edges, i - 1))
                return flawed(guard, section, BAD_ORDER);
        }
    return true;
}

static bool check_entities(wfre_guard *guard, int index, uint64_t first, uint64_t end)
{
    (void)index;
    const wfre_image_header *header = guard->graph->header;
    const uint32_t *begin = guard->graph->edges[WFRE_TEST].entity_begin;
    int section = wfre_section_of_edges(WFRE_EDGES_ENTITY_BEGIN);
    if (!wfre_guard_look(guard, WFRE_AREA_RELATIONS, 0, header->relations) ||
        !touch(guard, section, begin + first, end - first + 1, sizeof *begin))
        return false;
    if ((first == 0 && begin[0] != 0) ||
        (end == header->entities && begin[end] != header->groups[WFRE_TEST]) ||
        begin[end] > header->groups[WFRE_TEST])
        return flawed(guard, section, BAD_COVER);
    for (uint64_t e = first; e < end; e++)
        if (begin[e] > begin[e + 1])
            return flawed(guard, section, BAD_ORDER);
    return check_edges(guard, first, end);
}

bool wfre_guard_attributes(wfre_guard *guard)
{
    for (int section = WFRE_FIRST_ATTRIBUTES; guard && section < WFRE_IMAGE_SECTIONS; section++) {
        const wfre_image_section *row = &guard->graph->header->sections[section];
        if (!touch(guard, section, guard->graph->bytes + row->offset, row->length, 1))
            return false;
    }
    return true;
}

/* ---- areas -------------------------------------------------------------------------------- */

/* Some kinds have an area for each table, one after another. */
static const struct kind {
    int first, areas;
    check_unit *check;
} KINDS[] = {
    {WFRE_AREA_TEXTS, WFRE_TEXT_TABLES, check_texts},
    {WFRE_AREA_SLOTS, WFRE_TEXT_TABLES, check_slots},
    {WFRE_AREA_RELATIONS, 1, check_relations},
    {WFRE_AREA_GROUPS, 1, check_groups},
    {WFRE_AREA_ENTITIES, 1, check_entities},
};
enum { KIND_COUNT = sizeof KINDS / sizeof KINDS[0] };

static const struct kind *kind_of(int area)
{
    const struct kind *kind = &KINDS[KIND_COUNT - 1];
    while (area < kind->first)
        kind--;
    return kind;
}

static void count_elements(wfre_guard *guard)
{
    const wfre_graph *graph = guard->graph;
    for (int table = 0; table < WFRE_TEXT_TABLES; table++) {
        const wfre_names *names = &graph->names[table];
        guard->elements[WFRE_AREA_TEXTS + table] = names->offsets ? names->count : 0;
        guard->elements[WFRE_AREA_SLOTS + table] = names->slot_count;
    }
    guard->elements[WFRE_AREA_RELATIONS] = graph->header->relations;
    guard->elements[WFRE_AREA_GROUPS] = graph->header->groups[WFRE_TEST];
    guard->elements[WFRE_AREA_ENTITIES] = graph->header->entities;
}

static uint64_t words_for(uint64_t bits)
{
    return (bits + 63) / 64;
}

static uint64_t units_of(const wfre_guard *guard, int area)
{
    return (guard->elements[area] + WFRE_GUARD_UNIT - 1) / WFRE_GUARD_UNIT;
}

wfre_status wfre_guard_create(const wfre_graph *graph, wfre_guard **result, wfre_error *error)
{
    wfre_guard *guard = wfre_alloc_zero(1, sizeof *guard);
    if (!guard)
        return wfre_fail_memory(error, "opening a graph");
    guard->graph = graph;
    count_elements(guard);
    uint64_t words = words_for(graph->sums ? graph->sum_count : WFRE_IMAGE_SECTIONS);
    uint64_t at = words;
    for (int area = 0; area < WFRE_AREAS; area++)
        words += words_for(units_of(guard, area));
    guard->bits = wfre_alloc_zero(words, sizeof *guard->bits);
    if (!guard->bits) {
        wfre_free(guard);
        return wfre_fail_memory(error, "opening a graph");
    }
    guard->blocks = guard->bits;
    for (int area = 0; area < WFRE_AREAS; area++) {
        guard->areas[area] = guard->bits + at;
        at += words_for(units_of(guard, area));
    }
    *result = guard;
    return WFRE_OK;
}

void wfre_guard_free(wfre_guard *guard)
{
    if (guard)
        wfre_free(guard->bits);
    wfre_free(guard);
}

bool wfre_guard_look(wfre_guard *guard, int area, uint64_t first, uint64_t end)
{
    const struct kind *kind = kind_of(area);
    uint64_t elements = guard->elements[area];
    for (uint64_t unit = first / WFRE_GUARD_UNIT; unit * WFRE_GUARD_UNIT < end; unit++) {
        uint64_t from = unit * WFRE_GUARD_UNIT, to = from + WFRE_GUARD_UNIT;
        if (has_bit(guard->areas[area], unit))
            continue;
        if (atomic_load(&guard->flaw) != 0 || /* no second look at what is known to be flawed */
            !kind->check(guard, area - kind->first, from, to < elements ? to : elements))
            return false;
        set_bit(guard->areas[area], unit);
    }
    return true;
}

wfre_status wfre_guard_check_sections(wfre_guard *guard, wfre_error *error)
{
    for (int section = 0; section < WFRE_IMAGE_SECTIONS; section++) {
        if (wfre_may_leave())
            return wfre_check_stop(error);
        if (!section_fits(guard, section)) {
            (void)flawed(guard, section, BAD_SUM);
            break;
        }
    }
    return wfre_guard_status(guard, error);
}

enum { AT_ONCE = 64 }; /* blocks or units, between looks whether to leave it */

static wfre_status check_blocks(wfre_guard *guard, wfre_error *error)
{
    uint64_t count = guard->graph->sum_count;
    for (uint64_t first = 0; first < count; first += AT_ONCE) {
        if (wfre_may_leave())
            return wfre_check_stop(error);
        if (!look_at_blocks(guard, first, first + AT_ONCE < count ? first + AT_ONCE : count))
            break;
    }
    return WFRE_OK;
}

static wfre_status check_area(wfre_guard *guard, int area, wfre_error *error)
{
    const uint64_t count = guard->elements[area], most = (uint64_t)AT_ONCE * WFRE_GUARD_UNIT;
    for (uint64_t first = 0; first < count; first += most) {
        if (wfre_may_leave())
            return wfre_check_stop(error);
        if (!wfre_guard_look(guard, area, first, first + most < count ? first + most : count))
            break;
    }
    return wfre_guard_status(guard, error);
}

wfre_status wfre_guard_check_all(wfre_guard *guard, wfre_error *error)
{
    if (!atomic_load(&guard->summed) && guard->graph->sums)
        CHECK(check_blocks(guard, error));
    else if (!atomic_load(&guard->summed))
        CHECK(wfre_guard_check_sections(guard, error));
    CHECK(wfre_guard_status(guard, error));
    atomic_store(&guard->summed, true);
    for (int area = 0; area < WFRE_AREAS; area++)
        CHECK(check_area(guard, area, error));
    return wfre_guard_status(guard, error);
}
