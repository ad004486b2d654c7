/* Collecting names and triples. Twelve bytes a triple; names are interned once. */
#include "graph/builder.h"

#include "base/memory.h"
#include "graph/image.h"

wfre_status wfre_graph_builder_create(wfre_graph_builder **builder, wfre_error *error)
{
    wfre_graph_builder *made = wfre_alloc_zero(1, sizeof *made);
    if (!made)
        return wfre_fail_memory(error, "building a graph");
    *builder = made;
    return WFRE_OK;
}

void wfre_graph_builder_free(wfre_graph_builder *builder)
{
    if (!builder)
        return;
    wfre_strings_free(&builder->entities);
    wfre_strings_free(&builder->relations);
    wfre_notes_free(&builder->labels);
    wfre_notes_free(&builder->descriptions);
    wfre_notes_free(&builder->relation_labels);
    wfre_attributes_free(&builder->attributes);
    wfre_strings_free(&builder->graphs);
    wfre_quads_free(&builder->named);
    wfre_strings_free(&builder->prefixes);
    wfre_notes_free(&builder->prefix_iris);
    wfre_strings_free(&builder->own_labels);
    wfre_text_free(&builder->base);
    wfre_free(builder->triples);
    wfre_free(builder);
}

static wfre_status intern(wfre_strings *strings, const char *name, size_t length, uint32_t limit,
                          const char *what, uint32_t *id, wfre_error *error)
{
    if (length == 0)
        return wfre_fail(error, WFRE_ERR_FORMAT, WFRE_NO_OFFSET, "an empty %s name", what);
    uint32_t found;
    wfre_status status = wfre_strings_intern(strings, name, length, &found, error);
    if (status != WFRE_OK)
        return status;
    if (found >= limit)
        return wfre_fail(error, WFRE_ERR_UNSUPPORTED, WFRE_NO_OFFSET,
                         "more than %u %s names; split the graph", limit, what);
    *id = found;
    return WFRE_OK;
}

wfre_status wfre_graph_builder_entity(wfre_graph_builder *builder, const char *name, size_t length,
                                      wfre_entity *entity, wfre_error *error)
{
    return intern(&builder->entities, name, length, WFRE_ENTITY_LIMIT, "entity", entity, error);
}

wfre_status wfre_graph_builder_relation(wfre_graph_builder *builder, const char *name,
                                        size_t length, wfre_relation *relation, wfre_error *error)
{
    uint32_t pair = WFRE_NONE;
    wfre_status status =
        intern(&builder->relations, name, length, WFRE_RELATION_LIMIT, "relation", &pair, error);
    if (status == WFRE_OK)
        *relation = 2 * pair;
    return status;
}

wfre_status wfre_graph_builder_triple(wfre_graph_builder *builder, wfre_split split,
                                      wfre_entity head, wfre_relation relation, wfre_entity tail,
                                      wfre_error *error)
{
    if (head >= builder->entities.count || tail >= builder->entities.count || relation % 2 != 0 ||
        relation / 2 >= builder->relations.count)
        return wfre_fail(error, WFRE_ERR_ARGUMENT, WFRE_NO_OFFSET,
                         "triple (%u, %u, %u) has an id that no name was given for", head, relation,
                         tail);
    if (builder->count >= WFRE_TRIPLE_LIMIT)
        return wfre_fail(error, WFRE_ERR_UNSUPPORTED, WFRE_NO_OFFSET,
                         "more than %u triples; split the graph", WFRE_TRIPLE_LIMIT);
    if (!WFRE_RESERVE(&builder->triples, &builder->capacity, builder->count + 1))
        return wfre_fail_memory(error, "collecting triples");
    builder->triples[builder->count++] = wfre_triple_pack(split, head, relation / 2, tail);
    return WFRE_OK;
}

/* ---- labels and descriptions -------------------------------------------------------------- */

wfre_status wfre_notes_set(wfre_notes *notes, uint32_t id, const char *text, size_t length,
                           wfre_error *error)
{
    if (!WFRE_RESERVE(&notes->spans, &notes->capacity, (size_t)id + 1))
        return wfre_fail_memory(error, "collecting labels");
    while (notes->count <= id)
        notes->spans[notes->count++] = (struct wfre_note){0, 0};
    notes->spans[id] = (struct wfre_note){notes->bytes.length, length};
    wfre_text_append(&notes->bytes, text, length);
    return wfre_text_status(&notes->bytes, "collecting labels", error);
}

wfre_name wfre_notes_get(const wfre_notes *notes, uint32_t id)
{
    if (id >= notes->count || notes->spans[id].length == 0)
        return (wfre_name){NULL, 0};
    return (wfre_name){notes->bytes.data + notes->spans[id].offset,
                       (size_t)notes->spans[id].length};
}

void wfre_notes_free(wfre_notes *notes)
{
    wfre_text_free(&notes->bytes);
    wfre_free(notes->spans);
    *notes = (wfre_notes){0};
}

static wfre_status set_note(wfre_notes *notes, uint32_t id, uint32_t ids, const char *text,
                            size_t length, wfre_error *error)
{
    if (id >= ids)
        return wfre_fail(error, WFRE_ERR_ARGUMENT, WFRE_NO_OFFSET, "no name has the id %u", id);
    return wfre_notes_set(notes, id, text, length, error);
}

wfre_status wfre_graph_builder_label(wfre_graph_builder *builder, wfre_entity entity,
                                     const char *text, size_t length, wfre_error *error)
{
    return set_note(&builder->labels, entity, builder->entities.count, text, length, error);
}

wfre_status wfre_graph_builder_describe(wfre_graph_builder *builder, wfre_entity entity,
                                        const char *text, size_t length, wfre_error *error)
{
    return set_note(&builder->descriptions, entity, builder->entities.count, text, length, error);
}

wfre_status wfre_graph_builder_relation_label(wfre_graph_builder *builder, wfre_relation relation,
                                              const char *text, size_t length, wfre_error *error)
{
    return set_note(&builder->relation_labels, relation / 2, builder->relations.count, text, length,
                    error);
}

wfre_status wfre_graph_builder_prefix(wfre_graph_builder *builder, wfre_name prefix, wfre_name iri,
                                      wfre_error *error)
{
    uint32_t known = builder->prefixes.count, index;
    wfre_status status =
        wfre_strings_intern(&builder->prefixes, prefix.bytes, prefix.length, &index, error);
    if (status != WFRE_OK || index < known)
        return status;
    return wfre_notes_set(&builder->prefix_iris, index, iri.bytes, iri.length, error);
}

/* ---- order -------------------------------------------------------------------------------- */

wfre_status wfre_graph_builder_sort(wfre_graph_builder *builder, wfre_error *error)
{
    wfre_triple *scratch = wfre_alloc(builder->count, sizeof *scratch);
    if (!scratch)
        return wfre_fail_memory(error, "sorting triples");
    uint32_t kept = wfre_triples_sort(builder->triples, scratch, (uint32_t)builder->count,
                                      builder->entities.count, builder->relations.count);
    wfre_free(scratch);
    builder->duplicates += builder->count - kept;
    builder->count = kept;
    return WFRE_OK;
}
