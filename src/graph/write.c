/* From a builder to a snapshot image, in a file or in memory.
 *
 * Sections are made one after another and handed to the image as soon as they are whole; the header
 * comes last, over the room kept for it. So a file needs memory for the triples in both directions
 * and the largest sections of one split, never for the whole image. */
#include <string.h>

#include "base/memory.h"
#include "base/scope.h"
#include "graph/builder.h"
#include "graph/image.h"

/* The fingerprint is the hash of the checksums of names (offsets and bytes of both tables) and of
 * the arrays of each split. */
enum { FINGERPRINT_NAMES = 4, FINGERPRINT_ARRAYS = 6 };

/* ---- the image being written -------------------------------------------------------------- */

struct wfre_image_writer {
    wfre_writer *writer; /* NULL: in memory */
    unsigned char *bytes;
    size_t capacity;
    uint64_t length;
    wfre_image_header header;
    unsigned char *block; /* the bytes of the block that is not yet full */
    size_t filled;
    bool summed;    /* the checksums of blocks are complete */
    uint64_t *sums; /* of those that are */
    size_t sum_count;
    size_t sum_capacity;
};

typedef wfre_image_writer image;

/* Adds the checksum of the bytes in `block`. */
static bool sum_block(image *to)
{
    if (!WFRE_RESERVE(&to->sums, &to->sum_capacity, to->sum_count + 2))
        return false;
    to->sums[to->sum_count++] = wfre_hash(to->block, to->filled, 0);
    to->filled = 0;
    return true;
}

/* Takes bytes that stand at `at` in the image into the checksums of blocks; what belongs to the
 * header is left out. */
static bool sum_bytes(image *to, uint64_t at, const unsigned char *bytes, size_t length)
{
    if (to->summed)
        return true;
    uint64_t body = wfre_image_body(sizeof to->header);
    size_t skip = at < body ? (size_t)(body - at) : 0;
    if (!to->block && !(to->block = wfre_alloc(WFRE_IMAGE_BLOCK, 1)))
        return false;
    for (size_t i = skip; i < length;) {
        size_t room = WFRE_IMAGE_BLOCK - to->filled, part = length - i < room ? length - i : room;
        memcpy(to->block + to->filled, bytes + i, part);
        to->filled += part;
        i += part;
        if (to->filled == WFRE_IMAGE_BLOCK && !sum_block(to))
            return false;
    }
    return true;
}

static void free_sums(image *to)
{
    wfre_free(to->block);
    wfre_free(to->sums);
}

static wfre_status put_bytes(image *to, const void *bytes, size_t length, wfre_error *error)
{
    if (!sum_bytes(to, to->length, bytes, length))
        return wfre_fail_memory(error, "building a graph");
    if (to->writer) {
        wfre_status status = wfre_writer_put(to->writer, bytes, length, error);
        if (status != WFRE_OK)
            return status;
    } else {
        if (!wfre_reserve(&to->bytes, &to->capacity, to->length + length, 1))
            return wfre_fail_memory(error, "building a graph");
        if (length)
            memcpy(to->bytes + to->length, bytes, length);
    }
    to->length += length;
    return WFRE_OK;
}

static wfre_status put_padding(image *to, wfre_error *error)
{
    static const unsigned char zeros[WFRE_IMAGE_ALIGNMENT];
    uint64_t beyond = to->length % WFRE_IMAGE_ALIGNMENT;
    return put_bytes(to, zeros, beyond ? (size_t)(WFRE_IMAGE_ALIGNMENT - beyond) : 0, error);
}

wfre_status wfre_image_put(image *to, int section, const void *bytes, size_t length,
                           wfre_error *error)
{
    wfre_status status = put_padding(to, error);
    if (status != WFRE_OK)
        return status;
    to->header.sections[section] =
        (wfre_image_section){to->length, length, wfre_hash(bytes, length, 0)};
    return put_bytes(to, bytes, length, error);
}

/* The checksums of all blocks, behind the last section. */
static wfre_status put_sums(image *to, wfre_error *error)
{
    CHECK(put_padding(to, error));
    to->header.sums = to->length;
    if (to->filled > 0 && !sum_block(to))
        return wfre_fail_memory(error, "building a graph");
    to->summed = true;
    size_t count = to->sum_count;
    to->sums[count] = wfre_hash(to->sums, count * sizeof *to->sums, 0);
    return put_bytes(to, to->sums, (count + 1) * sizeof *to->sums, error);
}

/* Completes the header and puts it in its place. */
static wfre_status put_header(image *to, wfre_error *error)
{
    wfre_image_header *header = &to->header;
    memcpy(header->magic, WFRE_IMAGE_MAGIC, sizeof header->magic);
    header->version = WFRE_IMAGE_VERSION;
    header->byte_order = WFRE_IMAGE_BYTE_ORDER;
    header->length = to->length;
    header->section_count = WFRE_IMAGE_SECTIONS;
    header->checksum = wfre_hash(header, offsetof(wfre_image_header, checksum), 0);
    if (!to->writer) {
        memcpy(to->bytes, header, sizeof *header);
        return WFRE_OK;
    }
    CHECK(wfre_writer_rewind(to->writer, error));
    return wfre_writer_put(to->writer, header, sizeof *header, error);
}

/* ---- texts -------------------------------------------------------------------------------- */

static wfre_status put_names(image *to, wfre_text_table table, const wfre_names *names,
                             wfre_error *error)
{
    uint64_t slot_count = 0;
    uint32_t *slots = NULL;
    wfre_status status = WFRE_OK;
    if (names->count > 0 && table != WFRE_ENTITY_DESCRIPTIONS) {
        slots = wfre_names_index(names, &slot_count);
        if (!slots)
            return wfre_fail_memory(error, "indexing names");
    }
    TRY(wfre_image_put(to, wfre_section_of_text(table, WFRE_TEXT_OFFSETS), names->offsets,
                       ((size_t)names->count + 1) * sizeof *names->offsets, error));
    TRY(wfre_image_put(to, wfre_section_of_text(table, WFRE_TEXT_BYTES), names->bytes,
                       names->length, error));
    TRY(wfre_image_put(to, wfre_section_of_text(table, WFRE_TEXT_INDEX), slots,
                       slot_count * sizeof *slots, error));
cleanup:
    wfre_free(slots);
    return status;
}

static wfre_status put_strings(image *to, wfre_text_table table, const wfre_strings *strings,
                               wfre_error *error)
{
    static const uint64_t none = 0;
    wfre_names names = {
        .offsets = strings->count ? strings->offsets : &none,
        .bytes = strings->bytes,
        .length = strings->bytes_used,
        .count = strings->count,
    };
    return put_names(to, table, &names, error);
}

/* Notes in the order of their ids; three empty sections if there are none. */
static wfre_status put_notes(image *to, wfre_text_table table, const wfre_notes *notes,
                             uint32_t ids, wfre_error *error)
{
    wfre_text bytes = {0};
    uint64_t *offsets = NULL;
    wfre_status status = WFRE_OK;
    if (notes->count == 0) {
        for (int part = 0; part < WFRE_TEXT_SECTIONS; part++)
            TRY(wfre_image_put(to, wfre_section_of_text(table, part), NULL, 0, error));
        return WFRE_OK;
    }
    offsets = wfre_alloc((size_t)ids + 1, sizeof *offsets);
    if (!offsets) {
        status = wfre_fail_memory(error, "writing labels");
        goto cleanup;
    }
    for (uint32_t id = 0; id < ids; id++) {
        offsets[id] = bytes.length;
        wfre_name note = wfre_notes_get(notes, id);
        wfre_text_append(&bytes, note.bytes, note.length);
    }
    offsets[ids] = bytes.length;
    TRY(wfre_text_status(&bytes, "writing labels", error));
    wfre_names names = {
        .offsets = offsets, .bytes = bytes.data, .length = bytes.length, .count = ids};
    TRY(put_names(to, table, &names, error));
cleanup:
    wfre_text_free(&bytes);
    wfre_free(offsets);
    return status;
}

static wfre_status put_texts(image *to, const wfre_graph_builder *builder, wfre_error *error)
{
    uint32_t entities = builder->entities.count, pairs = builder->relations.count;
    CHECK(put_strings(to, WFRE_ENTITY_NAMES, &builder->entities, error));
    CHECK(put_notes(to, WFRE_ENTITY_LABELS, &builder->labels, entities, error));
    CHECK(put_notes(to, WFRE_ENTITY_DESCRIPTIONS, &builder->descriptions, entities, error));
    CHECK(put_strings(to, WFRE_RELATION_NAMES, &builder->relations, error));
    return put_notes(to, WFRE_RELATION_LABELS, &builder->relation_labels, pairs, error);
}

/* ---- edges -------------------------------------------------------------------------------- */

/* The arrays of one split. */
typedef struct adjacency {
    uint32_t *relation_groups;
    wfre_entity *group_entity;
    uint32_t *group_begin;
    wfre_entity *targets;
    unsigned char *splits; /* two bits a target */
    uint64_t *entity_begin;
    wfre_edge_group *entity_edges;
    uint32_t groups, filled;
} adjacency;

static void free_adjacency(adjacency *edges)
{
    wfre_free(edges->relation_groups);
    wfre_free(edges->group_entity);
    wfre_free(edges->group_begin);
    wfre_free(edges->targets);
    wfre_free(edges->splits);
    wfre_free(edges->entity_begin);
    wfre_free(edges->entity_edges);
}

/* Cuts the sorted rows (forward, inverse) into groups, leaving out later splits. */
static void fill_groups(adjacency *edges, const wfre_triple *const rows[2], uint32_t count,
                        uint32_t relations, wfre_split split)
{
    uint32_t at[2] = {0, 0}, groups = 0, filled = 0;
    for (wfre_relation relation = 0; relation < relations; relation++) {
        uint32_t *i = &at[relation & 1], first = groups;
        const wfre_triple *row = rows[relation & 1];
        edges->relation_groups[relation] = first;
        for (; *i < count && wfre_triple_pair(&row[*i]) == relation / 2; ++*i) {
            if (wfre_triple_split(&row[*i]) > split)
                continue;
            wfre_entity head = row[*i].field[WFRE_TRIPLE_HEAD];
            if (groups == first || edges->group_entity[groups - 1] != head) {
                edges->group_entity[groups] = head;
                edges->group_begin[groups++] = filled;
            }
            edges->splits[filled / 4] |=
                (unsigned char)((unsigned)wfre_triple_split(&row[*i]) << 2 * (filled % 4));
            edges->targets[filled++] = row[*i].field[WFRE_TRIPLE_TAIL];
        }
    }
    edges->relation_groups[relations] = groups;
    edges->group_begin[groups] = filled;
    edges->groups = groups;
    edges->filled = filled;
}

/* The groups by entity. Groups come by ascending relation, so each entity's do too. */
static void fill_entities(adjacency *edges, uint32_t entities, uint32_t relations)
{
    /* entity_begin has a place more than it needs and starts one late: while it is filled,
     * place e + 1 is where the next group of e goes; afterwards that is the end of e. */
    uint64_t *begin = edges->entity_begin;
    for (uint32_t group = 0; group < edges->groups; group++)
        begin[edges->group_entity[group] + 2]++;
    for (uint32_t e = 0; e < entities; e++)
        begin[e + 2] += begin[e + 1];
    for (wfre_relation relation = 0; relation < relations; relation++)
        for (uint32_t group = edges->relation_groups[relation];
             group < edges->relation_groups[relation + 1]; group++)
            edges->entity_edges[begin[edges->group_entity[group] + 1]++] =
                (wfre_edge_group){relation, group};
}

static wfre_status make_adjacency(const wfre_image_header *header, const wfre_triple *const rows[2],
                                  uint32_t count, int split, adjacency *edges, wfre_error *error)
{
    uint32_t entities = header->entities, relations = header->relations;
    size_t both = 2 * (size_t)header->triples[split];
    *edges = (adjacency){
        .relation_groups = wfre_alloc((size_t)relations + 1, sizeof *edges->relation_groups),
        .group_entity = wfre_alloc(both, sizeof *edges->group_entity),
        .group_begin = wfre_alloc(both + 1, sizeof *edges->group_begin),
        .targets = wfre_alloc(both, sizeof *edges->targets),
        .splits = wfre_alloc_zero(both / 4 + 1, 1),
        .entity_begin = wfre_alloc_zero((size_t)entities + 2, sizeof *edges->entity_begin),
    };
    if (!edges->relation_groups || !edges->group_entity || !edges->group_begin || !edges->targets ||
        !edges->splits || !edges->entity_begin)
        return wfre_fail_memory(error, "laying out edges");
    fill_groups(edges, rows, count, relations, (wfre_split)split);
    edges->entity_edges = wfre_alloc(edges->groups, sizeof *edges->entity_edges);
    if (!edges->entity_edges)
        return wfre_fail_memory(error, "laying out edges");
    fill_entities(edges, entities, relations);
    return WFRE_OK;
}

/* What the fingerprint knows of a split: the checksums of its arrays as version 1 kept them, so
 * that models trained on a graph of that version still know it. */
static void sum_adjacency(const wfre_image_header *header, const adjacency *edges,
                          uint64_t sums[FINGERPRINT_ARRAYS])
{
    const struct {
        const void *bytes;
        size_t length;
    } arrays[FINGERPRINT_ARRAYS] = {
        {edges->relation_groups, ((size_t)header->relations + 1) * 4},
        {edges->group_entity, (size_t)edges->groups * 4},
        {edges->group_begin, ((size_t)edges->groups + 1) * 4},
        {edges->targets, (size_t)edges->filled * 4},
        {edges->entity_begin, ((size_t)header->entities + 1) * 8},
        {edges->entity_edges, (size_t)edges->groups * sizeof *edges->entity_edges},
    };
    for (int i = 0; i < FINGERPRINT_ARRAYS; i++)
        sums[i] = wfre_hash(arrays[i].bytes, arrays[i].length, 0);
}

/* Relations and groups of all entities, apart and as narrow as they may be. */
static wfre_status put_entity_edges(image *to, const adjacency *edges, wfre_error *error)
{
    bool narrow = to->header.relations <= 65536;
    size_t width = narrow ? 2 : 4, groups = edges->groups;
    unsigned char *relations = wfre_alloc(groups, width);
    uint32_t *numbers = wfre_alloc(groups, sizeof *numbers);
    wfre_status status = WFRE_OK;
    if (!relations || !numbers) {
        status = wfre_fail_memory(error, "laying out edges");
        goto cleanup;
    }
    for (size_t i = 0; i < groups; i++) {
        uint32_t relation = edges->entity_edges[i].relation;
        uint16_t half = (uint16_t)relation;
        memcpy(relations + i * width, narrow ? (const void *)&half : (const void *)&relation,
               width);
        numbers[i] = edges->entity_edges[i].group;
    }
    TRY(wfre_image_put(to, wfre_section_of_edges(WFRE_EDGES_RELATIONS), relations, groups * width,
                       error));
    TRY(wfre_image_put(to, wfre_section_of_edges(WFRE_EDGES_GROUPS), numbers, groups * 4, error));
cleanup:
    wfre_free(relations);
    wfre_free(numbers);
    return status;
}

/* The edges of the whole graph. */
static wfre_status put_edges(image *to, adjacency *edges, wfre_error *error)
{
    const wfre_image_header *header = &to->header;
    uint32_t *begin = wfre_alloc((size_t)header->entities + 1, sizeof *begin);
    bool splits = header->triples[WFRE_TRAIN] < header->triples[WFRE_TEST];
    wfre_status status = WFRE_OK;
    if (!begin) {
        status = wfre_fail_memory(error, "laying out edges");
        goto cleanup;
    }
    for (uint32_t e = 0; e <= header->entities; e++)
        begin[e] = (uint32_t)edges->entity_begin[e];
    const struct {
        int part;
        const void *bytes;
        size_t length;
    } arrays[] = {
        {WFRE_EDGES_RELATION_GROUPS, edges->relation_groups, ((size_t)header->relations + 1) * 4},
        {WFRE_EDGES_GROUP_ENTITY, edges->group_entity, (size_t)edges->groups * 4},
        {WFRE_EDGES_GROUP_BEGIN, edges->group_begin, ((size_t)edges->groups + 1) * 4},
        {WFRE_EDGES_TARGETS, edges->targets, (size_t)edges->filled * 4},
        {WFRE_EDGES_ENTITY_BEGIN, begin, ((size_t)header->entities + 1) * 4},
        {WFRE_EDGES_SPLITS, edges->splits, splits ? ((size_t)edges->filled + 3) / 4 : 0},
    };
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++)
        TRY(wfre_image_put(to, wfre_section_of_edges(arrays[i].part), arrays[i].bytes,
                           arrays[i].length, error));
    TRY(put_entity_edges(to, edges, error));
cleanup:
    wfre_free(begin);
    return status;
}

/* Lays out one split after the other, for the fingerprint; the last is written. */
static wfre_status put_splits(image *to, const wfre_triple *const rows[2], uint32_t count,
                              const wfre_monitor *monitor, wfre_error *error)
{
    wfre_image_header *header = &to->header;
    uint64_t sums[FINGERPRINT_NAMES + WFRE_SPLITS * FINGERPRINT_ARRAYS];
    adjacency edges = {0};
    wfre_status status = WFRE_OK;
    for (int i = 0; i < FINGERPRINT_NAMES; i++)
        sums[i] = header
                      ->sections[wfre_section_of_text(
                          i < 2 ? WFRE_ENTITY_NAMES : WFRE_RELATION_NAMES, i % 2)]
                      .checksum;
    for (int split = 0; split < WFRE_SPLITS; split++) {
        uint64_t *own = sums + FINGERPRINT_NAMES + split * FINGERPRINT_ARRAYS;
        TRY(wfre_check_interrupt(monitor, error));
        wfre_report(monitor, "writing", (uint64_t)split, WFRE_SPLITS, NULL);
        if (split == 0 || header->triples[split] != header->triples[split - 1]) {
            free_adjacency(&edges);
            TRY(make_adjacency(header, rows, count, split, &edges, error));
            sum_adjacency(header, &edges, own);
        } else {
            memcpy(own, own - FINGERPRINT_ARRAYS, FINGERPRINT_ARRAYS * sizeof *own);
        }
        header->groups[split] = edges.groups;
    }
    TRY(put_edges(to, &edges, error));
    header->fingerprint = wfre_hash(sums, sizeof sums, 0);
cleanup:
    free_adjacency(&edges);
    return status;
}

/* ---- all of it ---------------------------------------------------------------------------- */

static void count_triples(const wfre_graph_builder *builder, wfre_image_header *header)
{
    uint64_t own[WFRE_SPLITS + 1] = {0}; /* one more: two bits could say 3 */
    for (size_t i = 0; i < builder->count; i++)
        own[wfre_triple_split(&builder->triples[i])]++;
    uint64_t sum = 0;
    for (int split = 0; split < WFRE_SPLITS; split++)
        header->triples[split] = sum += own[split];
}

static wfre_status invert(const wfre_graph_builder *builder, wfre_triple **inverse,
                          wfre_error *error)
{
    wfre_triple *scratch = wfre_alloc(builder->count, sizeof *scratch);
    *inverse = wfre_alloc(builder->count, sizeof **inverse);
    wfre_status status = WFRE_OK;
    if (scratch && *inverse)
        wfre_triples_invert(builder->triples, *inverse, scratch, (uint32_t)builder->count,
                            builder->entities.count, builder->relations.count);
    else
        status = wfre_fail_memory(error, "turning triples around");
    wfre_free(scratch);
    return status;
}

static wfre_status put_graph(image *to, wfre_graph_builder *builder, const wfre_monitor *monitor,
                             wfre_error *error)
{
    wfre_triple *inverse = NULL;
    wfre_image_header *header = &to->header;
    wfre_status status;
    wfre_report(monitor, "sorting", 0, builder->count, NULL);
    TRY(wfre_graph_builder_sort(builder, error));
    TRY(wfre_check_interrupt(monitor, error));
    header->entities = builder->entities.count;
    header->relations = 2 * builder->relations.count;
    count_triples(builder, header);
    TRY(put_bytes(to, header, sizeof *header, error));
    TRY(put_texts(to, builder, error));
    TRY(invert(builder, &inverse, error));
    const wfre_triple *const rows[2] = {builder->triples, inverse};
    TRY(put_splits(to, rows, (uint32_t)builder->count, monitor, error));
    wfre_free(inverse);
    inverse = NULL;
    TRY(wfre_image_put_attributes(to, builder, header, error));
    TRY(put_sums(to, error));
    TRY(put_header(to, error));
cleanup:
    free_sums(to);
    wfre_free(inverse);
    return status;
}

wfre_status wfre_graph_builder_write(wfre_graph_builder *builder, const char *path,
                                     const wfre_monitor *monitor, wfre_error *error)
{
    wfre_writer writer = {0};
    image to = {.writer = &writer};
    wfre_status status;
    TRY(wfre_writer_open(&writer, path, error));
    TRY(put_graph(&to, builder, monitor, error));
    TRY(wfre_writer_commit(&writer, error));
cleanup:
    wfre_writer_discard(&writer);
    return status;
}

wfre_status wfre_graph_builder_finish(wfre_graph_builder *builder, wfre_graph **graph,
                                      wfre_error *error)
{
    image to = {0};
    wfre_status status;
    TRY(put_graph(&to, builder, NULL, error));
    TRY(wfre_graph_from_bytes(to.bytes, to.length, WFRE_TRUST_OWNED, graph, error));
    return WFRE_OK;
cleanup:
    wfre_free(to.bytes);
    return status;
}

wfre_status wfre_graph_save(const wfre_graph *graph, const char *path, wfre_error *error)
{
    GIVEN(graph);
    GIVEN(path);
    bool before = wfre_partial(true);
    wfre_status status = wfre_graph_keep(graph, path, error);
    (void)wfre_partial(before);
    return status;
}

wfre_status wfre_graph_keep(const wfre_graph *graph, const char *path, wfre_error *error)
{
    CHECK(wfre_graph_settle(graph, error)); /* no copy of damage */
    return wfre_write_file(path, graph->bytes, wfre_graph_bytes(graph), error);
}
