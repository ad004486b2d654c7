/* Opening a snapshot and looking things up in it.
 *
 * Opening checks the header, and that every section lies inside the file and has the size that the
 * counts demand. What the sections hold is checked by the guard: at once, or when it is used. The
 * functions of this file answer with nothing where it is damaged. */
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "graph/image.h"

/* ---- the header --------------------------------------------------------------------------- */

const char *wfre_image_section_name(int section, char buffer[64])
{
    static const char *const tables[] = {"entity names", "entity labels", "entity descriptions",
                                         "relation names", "relation labels"};
    static const char *const texts[] = {"offsets", "bytes", "index"};
    static const char *const edges[] = {"relation groups", "group entities",   "group starts",
                                        "targets",         "entity starts",    "entity relations",
                                        "entity groups",   "splits of targets"};
    static const char *const attributes[] = {"term classes",
                                             "term keys",
                                             "term blocks",
                                             "term bytes",
                                             "attribute predicates",
                                             "attributes by subject, heads",
                                             "attributes by subject",
                                             "attributes by predicate and subject, heads",
                                             "attributes by predicate and subject",
                                             "attributes by predicate and object, heads",
                                             "attributes by predicate and object",
                                             "prefixes"};
    int edge = section - WFRE_FIRST_EDGES;
    if (section == WFRE_IMAGE_SECTIONS)
        (void)snprintf(buffer, 64, "space between sections");
    else if (section >= WFRE_FIRST_ATTRIBUTES)
        (void)snprintf(buffer, 64, "%s", attributes[section - WFRE_FIRST_ATTRIBUTES]);
    else if (edge < 0)
        (void)snprintf(buffer, 64, "%s, %s", tables[section / WFRE_TEXT_SECTIONS],
                       texts[section % WFRE_TEXT_SECTIONS]);
    else
        (void)snprintf(buffer, 64, "%s", edges[edge]);
    return buffer;
}

static wfre_status damaged(wfre_error *error, size_t offset, const char *what)
{
    return wfre_fail(error, WFRE_ERR_FORMAT, offset,
                     "damaged graph snapshot: %s; import the graph again", what);
}

bool wfre_graph_recognises(const void *bytes, size_t length)
{
    return length >= 8 && memcmp(bytes, WFRE_IMAGE_MAGIC, 8) == 0;
}

/* What can be said before the version is known. */
static wfre_status check_start(const unsigned char *bytes, size_t length, wfre_error *error)
{
    const wfre_image_header *header = (const wfre_image_header *)(const void *)bytes;
    if (!wfre_graph_recognises(bytes, length))
        return wfre_fail(error, WFRE_ERR_FORMAT, 0,
                         "%s, not a graph snapshot; 'wfre import' makes one from triples",
                         length == 0 ? "an empty file" : "some other kind of file");
    if (length < offsetof(wfre_image_header, length))
        return damaged(error, length, "it ends within its header");
    if (header->byte_order != WFRE_IMAGE_BYTE_ORDER)
        return wfre_fail(error, WFRE_ERR_UNSUPPORTED, offsetof(wfre_image_header, byte_order),
                         "graph snapshot of a machine with another byte order; import it here");
    if (header->version < 1 || header->version > WFRE_IMAGE_VERSION)
        return wfre_fail(error, WFRE_ERR_UNSUPPORTED, offsetof(wfre_image_header, version),
                         "graph snapshot version %u; this program reads versions 1 to %d: use a "
                         "newer wfre",
                         header->version, WFRE_IMAGE_VERSION);
    return WFRE_OK;
}

static wfre_status check_header(const unsigned char *bytes, size_t length, wfre_error *error)
{
    const wfre_image_header *header = (const wfre_image_header *)(const void *)bytes;
    if (length < sizeof *header)
        return damaged(error, length, "it ends within its header");
    if (header->checksum != wfre_hash(bytes, offsetof(wfre_image_header, checksum), 0))
        return damaged(error, 0, "wrong header checksum");
    if (header->length != length)
        return wfre_fail(error, WFRE_ERR_FORMAT, length,
                         "damaged graph snapshot: %zu bytes long but should be %llu; copy or "
                         "import it again",
                         length, (unsigned long long)header->length);
    bool nested = true; /* the counts of the splits */
    for (int split = 0; split + 1 < WFRE_SPLITS; split++)
        nested &= header->triples[split] <= header->triples[split + 1] &&
                  header->groups[split] <= header->groups[split + 1] &&
                  header->groups[split] <= 2 * header->triples[split];
    if (!nested || header->entities > WFRE_ENTITY_LIMIT || header->relations % 2 != 0 ||
        header->relations / 2 > WFRE_RELATION_LIMIT ||
        header->section_count != WFRE_IMAGE_SECTIONS ||
        header->triples[WFRE_TEST] > WFRE_TRIPLE_LIMIT ||
        (uint64_t)header->entities + header->dictionary_terms + header->blanks > INT32_MAX ||
        header->attributes > INT32_MAX || header->flags & ~(uint32_t)WFRE_IMAGE_RDF_NAMES ||
        header->reserved != 0)
        return damaged(error, 0, "its header contradicts itself");
    return WFRE_OK;
}

/* ---- sections ----------------------------------------------------------------------------- */

/* Finds the checksums of blocks, and compares their own. */
static wfre_status view_sums(wfre_graph *graph, wfre_error *error)
{
    uint64_t whole = graph->header->length;
    uint64_t at = graph->header->sums;
    if (at == 0)
        return WFRE_OK;
    if (at % WFRE_IMAGE_ALIGNMENT != 0 || at < graph->body || at > whole)
        return damaged(error, WFRE_NO_OFFSET, "its checksums have the wrong place");
    uint64_t count = (at - graph->body + WFRE_IMAGE_BLOCK - 1) / WFRE_IMAGE_BLOCK;
    if (whole - at != 8 * (count + 1))
        return damaged(error, WFRE_NO_OFFSET, "its checksums have the wrong place");
    for (size_t i = sizeof *graph->header; i < graph->body; i++) /* which no checksum covers */
        if (graph->bytes[i] != 0)
            return damaged(error, i, "something stands between its header and its sections");
    graph->sums = (const uint64_t *)(const void *)(graph->bytes + at);
    graph->sum_count = count;
    wfre_own_pages(graph->sums, (size_t)(whole - at));
    if (wfre_hash(graph->sums, (size_t)count * 8, 0) != graph->sums[count])
        return damaged(error, (size_t)at, "wrong checksum of its checksums");
    return WFRE_OK;
}

/* The start of a section if it lies inside the image, or the blocks of it that have checksums, and
 * is `length` bytes long; else NULL. */
static const void *section_bytes(const wfre_graph *graph, int section, uint64_t length)
{
    const wfre_image_section *row = &graph->header->sections[section];
    const unsigned char *sums = (const unsigned char *)graph->sums;
    uint64_t whole = sums ? (uint64_t)(sums - graph->bytes) : graph->header->length;
    if ((sums && row->length > 0 && row->offset < graph->body) || row->length != length ||
        row->offset % WFRE_IMAGE_ALIGNMENT != 0 || row->offset > whole ||
        row->length > whole - row->offset)
        return NULL;
    return graph->bytes + row->offset;
}

static wfre_status bad_section(wfre_error *error, int section)
{
    char name[64], what[128];
    (void)snprintf(what, sizeof what, "section '%s' has the wrong place or size",
                   wfre_image_section_name(section, name));
    return damaged(error, WFRE_NO_OFFSET, what);
}

static wfre_status view_names(wfre_graph *graph, wfre_text_table table, wfre_error *error)
{
    const wfre_image_section *rows = graph->header->sections + wfre_section_of_text(table, 0);
    bool of_entities = table < WFRE_RELATION_NAMES;
    uint32_t count = of_entities ? graph->header->entities : graph->header->relations / 2;
    bool required = table == WFRE_ENTITY_NAMES || table == WFRE_RELATION_NAMES;
    wfre_names names = {.count = count, .table = (int)table};
    if (rows[WFRE_TEXT_OFFSETS].length > 0 || required) {
        names.offsets = section_bytes(graph, wfre_section_of_text(table, WFRE_TEXT_OFFSETS),
                                      8 * ((uint64_t)count + 1));
        if (!names.offsets)
            return bad_section(error, wfre_section_of_text(table, WFRE_TEXT_OFFSETS));
    }
    names.length = rows[WFRE_TEXT_BYTES].length;
    names.bytes = section_bytes(graph, wfre_section_of_text(table, WFRE_TEXT_BYTES), names.length);
    if (!names.bytes)
        return bad_section(error, wfre_section_of_text(table, WFRE_TEXT_BYTES));
    names.slot_count = rows[WFRE_TEXT_INDEX].length / 4;
    names.slots =
        section_bytes(graph, wfre_section_of_text(table, WFRE_TEXT_INDEX), names.slot_count * 4);
    if (!names.slots || (names.slot_count & (names.slot_count - 1)) != 0)
        return bad_section(error, wfre_section_of_text(table, WFRE_TEXT_INDEX));
    graph->names[table] = names;
    return WFRE_OK;
}

static wfre_status view_edges(wfre_graph *graph, wfre_error *error)
{
    const wfre_image_header *header = graph->header;
    uint64_t groups = header->groups[WFRE_TEST], targets = 2 * header->triples[WFRE_TEST];
    bool narrow = header->relations <= 65536;
    bool splits = header->triples[WFRE_TRAIN] < header->triples[WFRE_TEST];
    const uint64_t lengths[WFRE_EDGES_SECTIONS] = {
        [WFRE_EDGES_RELATION_GROUPS] = 4 * ((uint64_t)header->relations + 1),
        [WFRE_EDGES_GROUP_ENTITY] = 4 * groups,
        [WFRE_EDGES_GROUP_BEGIN] = 4 * (groups + 1),
        [WFRE_EDGES_TARGETS] = 4 * targets,
        [WFRE_EDGES_ENTITY_BEGIN] = 4 * ((uint64_t)header->entities + 1),
        [WFRE_EDGES_RELATIONS] = (narrow ? 2 : 4) * groups,
        [WFRE_EDGES_GROUPS] = 4 * groups,
        [WFRE_EDGES_SPLITS] = splits ? (targets + 3) / 4 : 0,
    };
    const void *parts[WFRE_EDGES_SECTIONS];
    for (int part = 0; part < WFRE_EDGES_SECTIONS; part++) {
        parts[part] = section_bytes(graph, wfre_section_of_edges(part), lengths[part]);
        if (!parts[part] || groups > targets || (groups > 0 && header->relations == 0))
            return bad_section(error, wfre_section_of_edges(part));
    }
    graph->splits = splits ? parts[WFRE_EDGES_SPLITS] : NULL;
    graph->edges[WFRE_TEST] = (wfre_adjacency){
        .relation_groups = parts[WFRE_EDGES_RELATION_GROUPS],
        .group_entity = parts[WFRE_EDGES_GROUP_ENTITY],
        .group_begin = parts[WFRE_EDGES_GROUP_BEGIN],
        .targets = parts[WFRE_EDGES_TARGETS],
        .entity_begin = parts[WFRE_EDGES_ENTITY_BEGIN],
        .short_relations = narrow ? parts[WFRE_EDGES_RELATIONS] : NULL,
        .long_relations = narrow ? NULL : parts[WFRE_EDGES_RELATIONS],
        .edge_groups = parts[WFRE_EDGES_GROUPS],
    };
    return WFRE_OK;
}

/* The start of a section of any length, which is put into *length; NULL if it lies outside. */
static const void *section_any(const wfre_graph *graph, int section, uint64_t *length)
{
    *length = graph->header->sections[section].length;
    return section_bytes(graph, section, *length);
}

static wfre_status view_dictionary(wfre_graph *graph, wfre_error *error)
{
    wfre_dictionary *to = &graph->dictionary;
    uint64_t classes, blocks;
    to->count = graph->header->dictionary_terms;
    to->classes = section_any(graph, wfre_section_of_attributes(WFRE_TERMS_CLASSES), &classes);
    to->keys = section_any(graph, wfre_section_of_attributes(WFRE_TERMS_KEYS), &to->key_length);
    to->blocks = section_any(graph, wfre_section_of_attributes(WFRE_TERMS_BLOCKS), &blocks);
    to->bytes = section_any(graph, wfre_section_of_attributes(WFRE_TERMS_BYTES), &to->length);
    to->class_count = (uint32_t)(classes / sizeof *to->classes);
    to->block_count = (uint32_t)(blocks / sizeof *to->blocks);
    if (!to->classes || classes % sizeof *to->classes != 0 ||
        classes / sizeof *to->classes > UINT32_MAX)
        return bad_section(error, wfre_section_of_attributes(WFRE_TERMS_CLASSES));
    if (!to->keys)
        return bad_section(error, wfre_section_of_attributes(WFRE_TERMS_KEYS));
    if (!to->blocks || blocks % sizeof *to->blocks != 0 || blocks / sizeof *to->blocks > UINT32_MAX)
        return bad_section(error, wfre_section_of_attributes(WFRE_TERMS_BLOCKS));
    if (!to->bytes)
        return bad_section(error, wfre_section_of_attributes(WFRE_TERMS_BYTES));
    wfre_own_pages(to->classes, (size_t)classes);
    wfre_own_pages(to->keys, (size_t)to->key_length);
    const char *wrong = wfre_dictionary_check_classes(to);
    if (*wrong)
        return damaged(error, graph->header->sections[WFRE_FIRST_ATTRIBUTES].offset, wrong);
    return WFRE_OK;
}

static wfre_status view_attributes(wfre_graph *graph, wfre_error *error)
{
    uint64_t length;
    CHECK(view_dictionary(graph, error));
    int section = wfre_section_of_attributes(WFRE_ATTRIBUTE_PREDICATES);
    graph->predicates = section_any(graph, section, &length);
    if (!graph->predicates || length % sizeof *graph->predicates != 0 ||
        length / sizeof *graph->predicates > UINT32_MAX)
        return bad_section(error, section);
    graph->predicate_count = (uint32_t)(length / sizeof *graph->predicates);
    for (int order = 0; order < 3; order++) {
        wfre_packed *packed = &graph->attributes[order];
        section = wfre_section_of_attributes(WFRE_ATTRIBUTE_ORDERS + 2 * order);
        packed->rows = graph->header->attributes;
        packed->limit =
            graph->header->entities + graph->header->dictionary_terms + graph->header->blanks;
        packed->heads =
            section_bytes(graph, section, wfre_packed_blocks(packed) * sizeof *packed->heads);
        packed->bytes = section_any(graph, section + 1, &packed->length);
        if (!packed->heads || !packed->bytes)
            return bad_section(error, packed->heads ? section + 1 : section);
    }
    graph->prefixes.bytes = section_any(graph, WFRE_PREFIXES, &length);
    if (!graph->prefixes.bytes)
        return bad_section(error, WFRE_PREFIXES);
    graph->prefixes.length = (size_t)length;
    return WFRE_OK;
}

/* Checks all now, or puts the guard before everything that is looked up. */
static wfre_status set_guard(wfre_graph *graph, wfre_trust trust, wfre_error *error)
{
    wfre_status status = wfre_guard_create(graph, &graph->guard, error);
    if (status != WFRE_OK)
        return status;
    if (trust == WFRE_TRUST_NOW) {
        CHECK(wfre_guard_check_all(graph->guard, error));
        return wfre_graph_check_attributes(graph, error);
    }
    for (int table = 0; table < WFRE_TEXT_TABLES; table++)
        graph->names[table].guard = graph->guard;
    graph->edges[WFRE_TEST].guard = graph->guard;
    return WFRE_OK;
}

static void free_graph(wfre_graph *graph)
{
    for (int split = 0; split < WFRE_SPLITS; split++)
        wfre_free(graph->laid_out[split]);
    wfre_guard_free(graph->guard);
    (void)pthread_mutex_destroy(&graph->lock);
    wfre_free(graph);
}

wfre_status wfre_graph_from_bytes(void *bytes, size_t length, wfre_trust trust, wfre_graph **result,
                                  wfre_error *error)
{
    wfre_status status;
    wfre_own_pages(bytes, length < sizeof(wfre_image_header) ? length : sizeof(wfre_image_header));
    CHECK(check_start(bytes, length, error));
    if (((const wfre_image_header *)bytes)->version == WFRE_OLD_VERSION) {
        wfre_own_pages(bytes, length);
        return wfre_graph_from_old(bytes, length, result, error);
    }
    CHECK(check_header(bytes, length, error));
    wfre_graph *graph = wfre_alloc_zero(1, sizeof *graph);
    if (!graph)
        return wfre_fail_memory(error, "opening a graph");
    (void)pthread_mutex_init(&graph->lock, NULL);
    graph->bytes = bytes;
    graph->header = bytes;
    graph->body = wfre_image_body(sizeof *graph->header);
    TRY(view_sums(graph, error));
    for (int table = 0; table < WFRE_TEXT_TABLES; table++)
        TRY(view_names(graph, (wfre_text_table)table, error));
    TRY(view_edges(graph, error));
    TRY(view_attributes(graph, error));
    TRY(wfre_graph_reserve_splits(graph, error));
    if (trust != WFRE_TRUST_OWNED)
        TRY(set_guard(graph, trust, error));
    graph->owned = trust == WFRE_TRUST_OWNED ? bytes : NULL;
    *result = graph;
    return WFRE_OK;
cleanup:
    free_graph(graph);
    return status;
}

/* Larger snapshots are checked part by part: up to here all of it takes some milliseconds. */
static const uint64_t CHECK_LIMIT = (uint64_t)16 << 20;

static wfre_trust choose_trust(size_t length)
{
    const char *wanted = getenv("WFRE_CHECK");
    if (wanted && strcmp(wanted, "open") == 0)
        return WFRE_TRUST_NOW;
    if (wanted && strcmp(wanted, "use") == 0)
        return WFRE_TRUST_LATER;
    return length <= CHECK_LIMIT ? WFRE_TRUST_NOW : WFRE_TRUST_LATER;
}

wfre_status wfre_graph_open(const char *path, wfre_graph **graph, wfre_error *error)
{
    GIVEN(path);
    GIVEN(graph);
    wfre_mapping mapping = {0};
    wfre_status status;
    TRY(wfre_map_file(path, &mapping, error));
    status = wfre_graph_from_bytes((void *)(uintptr_t)mapping.bytes, mapping.length,
                                   choose_trust(mapping.length), graph, error);
    if (status != WFRE_OK) {
        (void)wfre_fail_within(error, status, path);
        goto cleanup;
    }
    if ((*graph)->owned) /* an older version, made anew in memory */
        wfre_unmap(&mapping);
    (*graph)->mapping = mapping;
    return WFRE_OK;
cleanup:
    wfre_unmap(&mapping);
    return status;
}

wfre_graph *wfre_graph_ref(const wfre_graph *graph)
{
    wfre_graph *shared = (wfre_graph *)(uintptr_t)graph; /* the count is all that changes */
    atomic_fetch_add(&shared->others, 1);
    return shared;
}

void wfre_graph_close(wfre_graph *graph)
{
    if (!graph || atomic_fetch_sub(&graph->others, 1) > 0)
        return;
    wfre_unmap(&graph->mapping);
    wfre_free(graph->owned);
    free_graph(graph);
}

/* ---- sizes and names ---------------------------------------------------------------------- */

uint32_t wfre_graph_entities(const wfre_graph *graph)
{
    return graph->header->entities;
}

uint32_t wfre_graph_relations(const wfre_graph *graph)
{
    return graph->header->relations;
}

uint64_t wfre_graph_triples(const wfre_graph *graph, wfre_split split)
{
    return wfre_split_exists(split) ? graph->header->triples[split] : 0;
}

uint64_t wfre_graph_attributes(const wfre_graph *graph)
{
    return graph->header->attributes;
}

uint64_t wfre_graph_bytes(const wfre_graph *graph)
{
    return graph->header->length;
}

uint64_t wfre_graph_fingerprint(const wfre_graph *graph)
{
    return graph->header->fingerprint;
}

wfre_name wfre_graph_entity_name(const wfre_graph *graph, wfre_entity entity)
{
    return wfre_names_get(&graph->names[WFRE_ENTITY_NAMES], entity);
}

wfre_name wfre_graph_entity_label(const wfre_graph *graph, wfre_entity entity)
{
    wfre_name label = wfre_names_get(&graph->names[WFRE_ENTITY_LABELS], entity);
    return label.bytes ? label : wfre_graph_entity_name(graph, entity);
}

wfre_name wfre_graph_entity_description(const wfre_graph *graph, wfre_entity entity)
{
    return wfre_names_get(&graph->names[WFRE_ENTITY_DESCRIPTIONS], entity);
}

wfre_name wfre_graph_relation_name(const wfre_graph *graph, wfre_relation relation)
{
    return wfre_names_get(&graph->names[WFRE_RELATION_NAMES], relation / 2);
}

wfre_name wfre_graph_relation_label(const wfre_graph *graph, wfre_relation relation)
{
    wfre_name label = wfre_names_get(&graph->names[WFRE_RELATION_LABELS], relation / 2);
    return label.bytes ? label : wfre_graph_relation_name(graph, relation);
}

/* ---- edges -------------------------------------------------------------------------------- */

wfre_list wfre_graph_targets(const wfre_graph *graph, wfre_split split, wfre_relation relation,
                             wfre_entity entity)
{
    const wfre_adjacency *edges = wfre_graph_adjacency(graph, split);
    if (!wfre_split_exists(split) || entity >= graph->header->entities)
        return (wfre_list){NULL, 0};
    /* An entity has few relations, a relation has many entities: search on the entity's side. */
    uint32_t low, end = wfre_entity_edges(edges, entity, &low), high = end;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (wfre_edge_relation(edges, middle) < relation)
            low = middle + 1;
        else
            high = middle;
    }
    if (low >= end || wfre_edge_relation(edges, low) != relation)
        return (wfre_list){NULL, 0};
    return wfre_group_targets(edges, edges->edge_groups[low]);
}

wfre_list wfre_graph_sources(const wfre_graph *graph, wfre_split split, wfre_relation relation)
{
    const wfre_adjacency *edges = wfre_graph_adjacency(graph, split);
    uint32_t first;
    if (!wfre_split_exists(split) || relation >= graph->header->relations)
        return (wfre_list){NULL, 0};
    uint32_t end = wfre_relation_groups(edges, relation, &first);
    return (wfre_list){edges->group_entity + first, end - first};
}

bool wfre_graph_has(const wfre_graph *graph, wfre_split split, wfre_entity head,
                    wfre_relation relation, wfre_entity tail)
{
    return wfre_list_has(wfre_graph_targets(graph, split, relation, head), tail);
}
