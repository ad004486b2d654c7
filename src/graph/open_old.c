/* Snapshots of version 1, in which each split had arrays of its own and nothing beside the edges.
 *
 * They are read, checked on the way, and built anew in memory in today's form. The ids stay, and so
 * does the fingerprint, which shows that nothing else changed either. */
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "graph/builder.h"
#include "graph/image.h"

enum { OLD_EDGES = 6, OLD_SECTIONS = WFRE_FIRST_EDGES + WFRE_SPLITS * OLD_EDGES };

typedef struct old_header {
    unsigned char magic[8];
    uint32_t version;
    uint32_t byte_order;
    uint64_t length;
    uint64_t fingerprint;
    uint64_t triples[WFRE_SPLITS];
    uint32_t entities;
    uint32_t relations;
    uint32_t section_count;
    uint32_t sums; /* where the checksums of blocks begin, which are not needed here */
    wfre_image_section sections[OLD_SECTIONS];
    uint64_t checksum;
} old_header;

_Static_assert(sizeof(old_header) == 872, "as version 1 was");

typedef struct old_image {
    const unsigned char *bytes;
    const old_header *header;
    wfre_graph_builder *builder;
    wfre_error *error;
} old_image;

static wfre_status damaged(const old_image *old, const char *what)
{
    return wfre_fail(old->error, WFRE_ERR_FORMAT, WFRE_NO_OFFSET,
                     "damaged graph snapshot: %s; import the graph again", what);
}

/* ---- header and sections ------------------------------------------------------------------ */

static wfre_status check_header(const old_image *old, size_t length)
{
    const old_header *header = old->header;
    if (length < sizeof *header)
        return damaged(old, "it ends within its header");
    if (header->checksum != wfre_hash(header, offsetof(old_header, checksum), 0))
        return damaged(old, "wrong header checksum");
    if (header->length != length)
        return wfre_fail(old->error, WFRE_ERR_FORMAT, length,
                         "damaged graph snapshot: %zu bytes long but should be %llu; copy or "
                         "import it again",
                         length, (unsigned long long)header->length);
    if (header->entities > WFRE_ENTITY_LIMIT || header->relations % 2 != 0 ||
        header->relations / 2 > WFRE_RELATION_LIMIT || header->section_count != OLD_SECTIONS ||
        header->triples[WFRE_TRAIN] > header->triples[WFRE_VALID] ||
        header->triples[WFRE_VALID] > header->triples[WFRE_TEST] ||
        header->triples[WFRE_TEST] > WFRE_TRIPLE_LIMIT)
        return damaged(old, "its header contradicts itself");
    for (int section = 0; section < OLD_SECTIONS; section++) {
        const wfre_image_section *row = &header->sections[section];
        if (row->offset % WFRE_IMAGE_ALIGNMENT != 0 || row->offset > length ||
            row->length > length - row->offset)
            return damaged(old, "a section has the wrong place or size");
        if (wfre_hash(old->bytes + row->offset, (size_t)row->length, 0) != row->checksum)
            return damaged(old, "a section has a wrong checksum");
    }
    return WFRE_OK;
}

/* A section's bytes if it has that length. */
static const void *section_of(const old_image *old, int section, uint64_t length)
{
    const wfre_image_section *row = &old->header->sections[section];
    return row->length == length ? old->bytes + row->offset : NULL;
}

/* ---- texts -------------------------------------------------------------------------------- */

/* Text `id` of a table of `count`; *text has no bytes if the table is absent. */
static wfre_status get_text(const old_image *old, wfre_text_table table, uint32_t count,
                            uint32_t id, wfre_name *text)
{
    int section = wfre_section_of_text(table, WFRE_TEXT_OFFSETS);
    uint64_t length = old->header->sections[section + 1].length;
    const char *bytes = section_of(old, section + 1, length);
    *text = (wfre_name){NULL, 0};
    if (old->header->sections[section].length == 0)
        return WFRE_OK;
    const uint64_t *offsets = section_of(old, section, 8 * ((uint64_t)count + 1));
    if (!offsets || offsets[id] > offsets[id + 1] || offsets[id + 1] > length)
        return damaged(old, "names lie outside of it");
    *text = (wfre_name){bytes + offsets[id], (size_t)(offsets[id + 1] - offsets[id])};
    return WFRE_OK;
}

static wfre_status read_entities(const old_image *old)
{
    uint32_t count = old->header->entities, id = 0;
    for (wfre_entity e = 0; e < count; e++) {
        wfre_name name, label, about;
        CHECK(get_text(old, WFRE_ENTITY_NAMES, count, e, &name));
        CHECK(get_text(old, WFRE_ENTITY_LABELS, count, e, &label));
        CHECK(get_text(old, WFRE_ENTITY_DESCRIPTIONS, count, e, &about));
        if (name.length == 0)
            return damaged(old, "an entity has no name");
        CHECK(wfre_graph_builder_entity(old->builder, name.bytes, name.length, &id, old->error));
        if (id != e)
            return damaged(old, "two entities have the same name");
        if (label.length > 0)
            CHECK(wfre_graph_builder_label(old->builder, e, label.bytes, label.length, old->error));
        if (about.length > 0)
            CHECK(wfre_graph_builder_describe(old->builder, e, about.bytes, about.length,
                                              old->error));
    }
    return WFRE_OK;
}

static wfre_status read_relations(const old_image *old)
{
    uint32_t count = old->header->relations / 2, id = 0;
    for (uint32_t pair = 0; pair < count; pair++) {
        wfre_name name, label;
        CHECK(get_text(old, WFRE_RELATION_NAMES, count, pair, &name));
        CHECK(get_text(old, WFRE_RELATION_LABELS, count, pair, &label));
        if (name.length == 0)
            return damaged(old, "a relation has no name");
        CHECK(wfre_graph_builder_relation(old->builder, name.bytes, name.length, &id, old->error));
        if (id != 2 * pair)
            return damaged(old, "two relations have the same name");
        if (label.length > 0)
            CHECK(wfre_graph_builder_relation_label(old->builder, id, label.bytes, label.length,
                                                    old->error));
    }
    return WFRE_OK;
}

/* ---- edges -------------------------------------------------------------------------------- */

/* The triples of a split; those that an earlier one has count for that. */
static wfre_status read_split(const old_image *old, int split)
{
    const old_header *header = old->header;
    int section = WFRE_FIRST_EDGES + split * OLD_EDGES;
    uint64_t groups = header->sections[section + 1].length / 4;
    const uint32_t *of = section_of(old, section, 4 * ((uint64_t)header->relations + 1));
    const uint32_t *heads = section_of(old, section + 1, 4 * groups);
    const uint32_t *begin = section_of(old, section + 2, 4 * (groups + 1));
    const uint32_t *targets = section_of(old, section + 3, 8 * header->triples[split]);
    if (!of || !heads || !begin || !targets)
        return damaged(old, "edges have the wrong size");
    for (wfre_relation r = 0; r < header->relations; r += 2)
        for (uint64_t g = of[r]; g < of[r + 1]; g++) {
            if (g >= groups || begin[g + 1] > 2 * header->triples[split] ||
                heads[g] >= header->entities)
                return damaged(old, "edges lie outside of it");
            for (uint32_t i = begin[g]; i < begin[g + 1]; i++)
                CHECK(wfre_graph_builder_triple(old->builder, (wfre_split)split, heads[g], r,
                                                targets[i], old->error));
        }
    return WFRE_OK;
}

wfre_status wfre_graph_from_old(const unsigned char *bytes, size_t length, wfre_graph **result,
                                wfre_error *error)
{
    old_image old = {bytes, (const old_header *)(const void *)bytes, NULL, error};
    wfre_graph *graph = NULL;
    wfre_status status;
    TRY(check_header(&old, length));
    TRY(wfre_graph_builder_create(&old.builder, error));
    TRY(read_entities(&old));
    TRY(read_relations(&old));
    for (int split = 0; split < WFRE_SPLITS; split++)
        if (split == 0 || old.header->triples[split] != old.header->triples[split - 1])
            TRY(read_split(&old, split));
    TRY(wfre_graph_builder_finish(old.builder, &graph, error));
    if (wfre_graph_fingerprint(graph) != old.header->fingerprint) {
        status = damaged(&old, "its parts contradict each other");
        goto cleanup;
    }
    *result = graph;
    graph = NULL;
cleanup:
    wfre_graph_close(graph);
    wfre_graph_builder_free(old.builder);
    return status;
}
