/* Collecting attributes, and giving their terms the numbers that a snapshot has them under. */
#include "graph/attributes.h"

#include <string.h>

#include "base/memory.h"

#define XSD_STRING "http://www.w3.org/2001/XMLSchema#string"

enum { LITERAL_HEAD = 5 }; /* what stands before a literal's text: '"' and its class */

/* ---- collecting --------------------------------------------------------------------------- */

wfre_status wfre_quads_add(wfre_quads *quads, uint32_t graph, uint32_t a, uint32_t b, uint32_t c,
                           wfre_error *error)
{
    if (!WFRE_RESERVE(&quads->rows, &quads->row_capacity, quads->count + 1) ||
        !WFRE_RESERVE(&quads->graphs, &quads->graph_capacity, quads->count + 1))
        return wfre_fail_memory(error, "collecting named graphs");
    quads->rows[quads->count] = (wfre_triple){{a, b, c}};
    quads->graphs[quads->count++] = graph;
    return WFRE_OK;
}

void wfre_quads_free(wfre_quads *quads)
{
    wfre_free(quads->rows);
    wfre_free(quads->graphs);
    *quads = (wfre_quads){0};
}

void wfre_attributes_free(wfre_attributes *attributes)
{
    wfre_strings_free(&attributes->terms);
    wfre_strings_free(&attributes->classes);
    wfre_text_free(&attributes->scratch);
    wfre_free(attributes->rows);
    wfre_quads_free(&attributes->named);
    *attributes = (wfre_attributes){0};
}

static wfre_status append_class(wfre_attributes *attributes, const wfre_rdf_value *value,
                                wfre_error *error)
{
    wfre_text *scratch = &attributes->scratch;
    uint32_t class;
    bool plain = value->datatype.length == 0 ||
                 (value->datatype.length == strlen(XSD_STRING) &&
                  memcmp(value->datatype.bytes, XSD_STRING, value->datatype.length) == 0);
    if (value->language.length > 0) {
        wfre_text_char(scratch, '@');
        wfre_text_append(scratch, value->language.bytes, value->language.length);
    } else if (plain) {
        wfre_text_char(scratch, 's');
    } else {
        wfre_text_char(scratch, '^');
        wfre_text_append(scratch, value->datatype.bytes, value->datatype.length);
    }
    wfre_status status = wfre_text_status(scratch, "collecting literals", error);
    if (status != WFRE_OK)
        return status;
    status =
        wfre_strings_intern(&attributes->classes, scratch->data, scratch->length, &class, error);
    wfre_text_clear(scratch);
    wfre_text_char(scratch, '"');
    for (int shift = 0; shift < 32; shift += 8)
        wfre_text_char(scratch, (char)(unsigned char)(class >> shift));
    return status;
}

wfre_status wfre_attributes_term(wfre_attributes *attributes, const wfre_rdf_value *value,
                                 uint32_t *term, wfre_error *error)
{
    wfre_text *scratch = &attributes->scratch;
    if (value->kind == WFRE_RDF_IRI)
        return wfre_strings_intern(&attributes->terms, value->text.bytes, value->text.length, term,
                                   error);
    wfre_text_clear(scratch);
    if (value->kind == WFRE_RDF_LITERAL)
        CHECK(append_class(attributes, value, error));
    else
        wfre_text_add(scratch, "_:");
    wfre_text_append(scratch, value->text.bytes, value->text.length);
    CHECK(wfre_text_status(scratch, "collecting literals", error));
    return wfre_strings_intern(&attributes->terms, scratch->data, scratch->length, term, error);
}

wfre_status wfre_attributes_add(wfre_attributes *attributes, uint32_t subject, uint32_t predicate,
                                uint32_t object, wfre_error *error)
{
    if (attributes->count >= INT32_MAX)
        return wfre_fail(error, WFRE_ERR_UNSUPPORTED, WFRE_NO_OFFSET,
                         "more than %d attributes; split the graph", INT32_MAX);
    if (!WFRE_RESERVE(&attributes->rows, &attributes->capacity, attributes->count + 1))
        return wfre_fail_memory(error, "collecting attributes");
    attributes->rows[attributes->count++] = (wfre_triple){{subject, predicate, object}};
    return WFRE_OK;
}

/* ---- the dictionary ----------------------------------------------------------------------- */

/* From collected terms to final ones. */
typedef struct numbering {
    const wfre_attributes *attributes;
    wfre_attribute_sections *sections;
    uint32_t entities;
    uint32_t *number;      /* of each collected term: an entity, else its class */
    uint32_t *class_place; /* of each collected class, 0 being that of IRIs */
    wfre_sort_item *items; /* the terms of the dictionary, class by class */
} numbering;

#define IS_BLANK 0x80000000u /* in `number`: the rest is the blank node's number */

/* Sorts the classes by their keys; those of IRIs have none and come first. */
static wfre_status number_classes(numbering *n, wfre_error *error)
{
    const wfre_strings *keys = &n->attributes->classes;
    wfre_attribute_sections *to = n->sections;
    wfre_sort_item *items = wfre_alloc((size_t)keys->count + 1, sizeof *items);
    n->class_place = wfre_alloc((size_t)keys->count + 1, sizeof *n->class_place);
    to->classes = wfre_alloc_zero((size_t)keys->count + 1, sizeof *to->classes);
    if (!items || !n->class_place || !to->classes) {
        wfre_free(items);
        return wfre_fail_memory(error, "sorting literals");
    }
    for (uint32_t i = 0; i < keys->count; i++)
        items[i].id = i;
    wfre_sort_texts(items, keys->count, keys, 0);
    to->class_count = keys->count + 1;
    for (uint32_t i = 0; i < keys->count; i++) {
        size_t length;
        const char *key = wfre_strings_get(keys, items[i].id, &length);
        n->class_place[items[i].id] = i + 1;
        wfre_text_append(&to->keys, key, length);
        to->classes[i + 1].key_end = (uint32_t)to->keys.length;
    }
    wfre_free(items);
    return wfre_text_status(&to->keys, "sorting literals", error);
}

/* The class of a collected term, IRIs being 0. */
static uint32_t class_of(const numbering *n, uint32_t term)
{
    size_t length;
    const unsigned char *text =
        (const unsigned char *)wfre_strings_get(&n->attributes->terms, term, &length);
    if (length < LITERAL_HEAD || text[0] != '"')
        return 0;
    uint32_t class = 0;
    for (int i = 0; i < 4; i++)
        class |= (uint32_t)text[1 + i] << 8 * i;
    return n->class_place[class];
}

/* Tells entities, blank nodes and dictionary terms apart, and brings the last into classes. */
static wfre_status sort_out(numbering *n, const wfre_strings *entities, wfre_error *error)
{
    const wfre_strings *terms = &n->attributes->terms;
    wfre_attribute_sections *to = n->sections;
    uint32_t *fill = wfre_alloc_zero((size_t)to->class_count + 1, sizeof *fill);
    n->number = wfre_alloc(terms->count, sizeof *n->number);
    n->items = wfre_alloc(terms->count, sizeof *n->items);
    if (!fill || !n->number || !n->items) {
        wfre_free(fill);
        return wfre_fail_memory(error, "sorting literals");
    }
    for (uint32_t term = 0; term < terms->count; term++) {
        size_t length;
        const char *text = wfre_strings_get(terms, term, &length);
        n->number[term] = WFRE_NONE;
        if (length > 1 && text[0] == '_' && text[1] == ':')
            n->number[term] = IS_BLANK | to->blanks++;
        else if (text[0] != '"')
            n->number[term] = wfre_strings_find(entities, text, length);
        if (n->number[term] == WFRE_NONE)
            fill[class_of(n, term) + 1]++;
    }
    for (uint32_t class = 0; class < to->class_count; class ++) {
        uint32_t blocks = (fill[class + 1] + WFRE_DICTIONARY_BLOCK - 1) / WFRE_DICTIONARY_BLOCK;
        to->classes[class].first = fill[class];
        to->classes[class].block = to->block_count;
        to->block_count += blocks;
        fill[class + 1] += fill[class];
    }
    to->terms = fill[to->class_count];
    for (uint32_t term = 0; term < terms->count; term++)
        if (n->number[term] == WFRE_NONE)
            n->items[fill[class_of(n, term)]++].id = term;
    wfre_free(fill);
    return WFRE_OK;
}

/* Sorts each class, numbers its terms and writes them down. */
static wfre_status write_terms(numbering *n, wfre_error *error)
{
    const wfre_strings *terms = &n->attributes->terms;
    wfre_attribute_sections *to = n->sections;
    uint32_t block = 0;
    to->blocks = wfre_alloc(to->block_count, sizeof *to->blocks);
    if (!to->blocks)
        return wfre_fail_memory(error, "writing literals");
    for (uint32_t class = 0; class < to->class_count; class ++) {
        uint32_t first = to->classes[class].first;
        uint32_t end = class + 1 < to->class_count ? to->classes[class + 1].first : to->terms;
        size_t head = class > 0 ? LITERAL_HEAD : 0;
        wfre_name before = {NULL, 0};
        wfre_sort_texts(n->items + first, end - first, terms, head);
        for (uint32_t rank = first; rank < end; rank++) {
            size_t length;
            const char *text = wfre_strings_get(terms, n->items[rank].id, &length);
            wfre_name here = {text + head, length - head};
            if ((rank - first) % WFRE_DICTIONARY_BLOCK == 0) {
                to->blocks[block++] = to->bytes.length;
                before = (wfre_name){NULL, 0};
            }
            wfre_dictionary_put(&to->bytes, before, here);
            n->number[n->items[rank].id] = n->entities + rank;
            before = here;
        }
    }
    return wfre_text_status(&to->bytes, "writing literals", error);
}

/* ---- the triples -------------------------------------------------------------------------- */

static void renumber_rows(const numbering *n, wfre_triple *rows, size_t count, uint32_t blanks)
{
    for (size_t i = 0; i < count; i++)
        for (int field = 0; field < WFRE_TRIPLE_FIELDS; field++) {
            uint32_t *at = &rows[i].field[field], number = n->number[*at];
            *at = number & IS_BLANK ? blanks + (number & ~IS_BLANK) : number;
        }
}

static wfre_status renumber(const numbering *n, wfre_attributes *attributes, wfre_error *error)
{
    uint32_t blanks = n->entities + n->sections->terms;
    if ((uint64_t)blanks + n->sections->blanks >= INT32_MAX)
        return wfre_fail(error, WFRE_ERR_UNSUPPORTED, WFRE_NO_OFFSET,
                         "more than %d entities, literals and blank nodes; split the graph",
                         INT32_MAX);
    renumber_rows(n, attributes->rows, attributes->count, blanks);
    renumber_rows(n, attributes->named.rows, attributes->named.count, blanks);
    return WFRE_OK;
}

static bool same(const wfre_triple *a, const wfre_triple *b)
{
    return memcmp(a, b, sizeof *a) == 0;
}

/* Sorts by subject, predicate, object and drops duplicates. */
static wfre_status sort_rows(wfre_attributes *attributes, wfre_attribute_sections *to,
                             uint32_t terms, wfre_error *error)
{
    to->rows = attributes->rows;
    attributes->rows = NULL;
    to->scratch = wfre_alloc(attributes->count, sizeof *to->scratch);
    if (!to->scratch)
        return wfre_fail_memory(error, "sorting attributes");
    uint32_t count = (uint32_t)attributes->count, kept = 0;
    for (int field = WFRE_TRIPLE_FIELDS - 1; field >= 0; field--)
        wfre_triples_sort_field(&to->rows, &to->scratch, count, field, 0, terms);
    for (uint32_t i = 0; i < count; i++)
        if (kept == 0 || !same(&to->rows[kept - 1], &to->rows[i]))
            to->rows[kept++] = to->rows[i];
    to->count = kept;
    return WFRE_OK;
}

wfre_status wfre_attributes_finish(wfre_attributes *attributes, const wfre_strings *entities,
                                   wfre_attribute_sections *sections, wfre_error *error)
{
    numbering n = {.attributes = attributes, .sections = sections, .entities = entities->count};
    wfre_status status;
    TRY(number_classes(&n, error));
    TRY(sort_out(&n, entities, error));
    TRY(write_terms(&n, error));
    TRY(renumber(&n, attributes, error));
    wfre_strings_free(&attributes->terms);
    TRY(sort_rows(attributes, sections, n.entities + sections->terms + sections->blanks, error));
cleanup:
    wfre_free(n.number);
    wfre_free(n.class_place);
    wfre_free(n.items);
    return status;
}

void wfre_attribute_sections_free(wfre_attribute_sections *sections)
{
    wfre_free(sections->classes);
    wfre_text_free(&sections->keys);
    wfre_free(sections->blocks);
    wfre_text_free(&sections->bytes);
    wfre_free(sections->predicates);
    wfre_free(sections->rows);
    wfre_free(sections->scratch);
    *sections = (wfre_attribute_sections){0};
}
