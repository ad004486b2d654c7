#include "graph/labels.h"

#include <string.h>

#include "graph/fold.h"
#include "graph/image.h"

#define RDFS "http://www.w3.org/2000/01/rdf-schema#"
#define SKOS "http://www.w3.org/2004/02/skos/core#"
#define DC "http://purl.org/dc/elements/1.1/"
#define TERMS "http://purl.org/dc/terms/"

static const char *const USUAL[] = {
    RDFS "label",
    SKOS "prefLabel",
    "http://schema.org/name",
    "https://schema.org/name",
    "http://xmlns.com/foaf/0.1/name",
    TERMS "title",
    DC "title",
    NULL,
};

const char *wfre_label_property(size_t index)
{
    return index < sizeof USUAL / sizeof USUAL[0] ? USUAL[index] : NULL;
}

/* ---- languages ---------------------------------------------------------------------------- */

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_alphanumeric(char c)
{
    return is_letter(c) || (c >= '0' && c <= '9');
}

size_t wfre_language_length(const char *text, size_t length)
{
    size_t at = 0;
    while (at < length && is_letter(text[at]))
        at++;
    while (at > 0 && at + 1 < length && text[at] == '-' && is_alphanumeric(text[at + 1]))
        for (at++; at < length && is_alphanumeric(text[at]);)
            at++;
    return at;
}

bool wfre_label_parts(wfre_name text, wfre_name *label, wfre_name *language)
{
    size_t quote = text.length;
    if (text.length < 4 || text.bytes[0] != '"')
        return false;
    while (quote > 1 && text.bytes[quote - 1] != '"')
        quote--;
    if (quote == 1 || quote + 1 >= text.length || text.bytes[quote] != '@')
        return false;
    wfre_name tag = {text.bytes + quote + 1, text.length - quote - 1};
    if (wfre_language_length(tag.bytes, tag.length) != tag.length)
        return false;
    *label = (wfre_name){text.bytes + 1, quote - 2};
    *language = tag;
    return true;
}

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

/* Whether the literals of a class may be labels, in this language if it is not empty. */
static bool fits(const wfre_dictionary *dictionary, uint32_t class, wfre_name language)
{
    wfre_name key = wfre_dictionary_key(dictionary, class);
    if (language.length == 0)
        return key.bytes[0] != '^';
    if (key.bytes[0] != '@' || key.length - 1 < language.length)
        return false;
    for (size_t i = 0; i < language.length; i++)
        if (lower(key.bytes[1 + i]) != lower(language.bytes[i]))
            return false;
    return key.length - 1 == language.length || key.bytes[1 + language.length] == '-';
}

/* ---- properties --------------------------------------------------------------------------- */

/* The term of an IRI, or of a name that is none. */
static uint32_t find_term(const wfre_graph *graph, wfre_name name)
{
    uint32_t found = wfre_names_find(&graph->names[WFRE_ENTITY_NAMES], name.bytes, name.length);
    if (found != WFRE_NONE)
        return found;
    found = wfre_dictionary_find(&graph->dictionary, 0, name.bytes, name.length);
    return found == WFRE_NONE ? WFRE_NONE : graph->header->entities + found;
}

static void add_property(wfre_labels *labels, wfre_name iri)
{
    uint32_t term = find_term(labels->graph, iri);
    bool known = term == WFRE_NONE || labels->count == WFRE_LABEL_PROPERTIES;
    for (size_t i = 0; i < labels->count && !known; i++)
        known = labels->properties[i] == term;
    if (!known)
        labels->properties[labels->count++] = term;
}

bool wfre_labels_open(wfre_labels *labels, const wfre_graph *graph, bool of_relations)
{
    wfre_name iri;
    *labels = (wfre_labels){.graph = graph, .of_relations = of_relations};
    if (graph->dictionary.class_count < 2 || !wfre_guard_attributes(graph->guard))
        return false;
    for (size_t i = 0; USUAL[i]; i++)
        add_property(labels, (wfre_name){USUAL[i], strlen(USUAL[i])});
    for (size_t i = 0; wfre_graph_own_label(graph, i, &iri); i++)
        add_property(labels, iri);
    return labels->count > 0;
}

/* ---- items -------------------------------------------------------------------------------- */

static void add_item(wfre_labelled *found, uint32_t item)
{
    for (size_t i = 0; i < found->count; i++)
        if (found->items[i] == item)
            return;
    if (found->count < found->capacity)
        found->items[found->count++] = item;
}

uint32_t wfre_labels_term(const wfre_labels *labels, uint32_t item)
{
    return labels->of_relations
               ? find_term(labels->graph, wfre_graph_relation_name(labels->graph, 2 * item))
               : item;
}

static bool begins(const wfre_packed_cursor *cursor, const wfre_triple *row, int columns)
{
    return cursor->rank < cursor->packed->rows &&
           memcmp(cursor->row.field, row->field, (size_t)columns * sizeof *row->field) == 0;
}

static void add_subjects(const wfre_labels *labels, wfre_triple row, wfre_labelled *found)
{
    const wfre_packed *packed = &labels->graph->attributes[WFRE_RDF_POS];
    wfre_packed_cursor cursor = wfre_packed_find(packed, &row);
    uint32_t pairs = labels->of_relations ? labels->graph->header->relations / 2 : 0;
    bool any = begins(&cursor, &row, 2);
    for (uint32_t pair = 0; any && pair < pairs && found->count < found->capacity; pair++) {
        row.field[2] = wfre_labels_term(labels, pair);
        wfre_packed_cursor here = wfre_packed_find(packed, &row);
        if (row.field[2] != WFRE_NONE && begins(&here, &row, 3))
            add_item(found, pair);
    }
    while (!labels->of_relations && found->count < found->capacity && begins(&cursor, &row, 2) &&
           cursor.row.field[2] < labels->graph->header->entities) {
        add_item(found, cursor.row.field[2]); /* entities come first */
        wfre_packed_next(&cursor);
    }
}

void wfre_labels_subjects(const wfre_labels *labels, uint32_t rank, wfre_labelled *found)
{
    uint32_t term = labels->graph->header->entities + rank;
    for (size_t i = 0; i < labels->count; i++)
        add_subjects(labels, (wfre_triple){{labels->properties[i], term, 0}}, found);
}

/* ---- texts -------------------------------------------------------------------------------- */

bool wfre_labels_text(const wfre_labels *labels, uint32_t term, wfre_text *text)
{
    const wfre_dictionary *dictionary = &labels->graph->dictionary;
    uint32_t rank = term - labels->graph->header->entities;
    if (term < labels->graph->header->entities || rank >= dictionary->count)
        return false;
    uint32_t class = wfre_dictionary_class(dictionary, rank);
    if (class == 0 || !fits(dictionary, class, (wfre_name){NULL, 0}))
        return false;
    wfre_dictionary_get(dictionary, rank, text);
    return true;
}

void wfre_labels_walk(const wfre_labels *labels, wfre_name language, char *buffer, size_t most,
                      wfre_labels_visit *visit, void *context)
{
    const wfre_dictionary *dictionary = &labels->graph->dictionary;
    for (uint32_t class = 1; class < dictionary->class_count; class ++)
        if (fits(dictionary, class, language))
            wfre_dictionary_walk(dictionary, class, buffer, most, visit, context);
}

enum { LONGEST = 2048 }; /* of labels that are found in other case */

typedef struct folding {
    const wfre_labels *labels;
    wfre_name text;
    wfre_labelled *found;
} folding;

static void compare_folded(void *context, uint32_t rank, wfre_name begin, size_t length)
{
    const folding *f = context;
    size_t i = 0, j = 0;
    if (length != f->text.length) /* folding keeps the length */
        return;
    while (i < length && j < length)
        if (wfre_fold_next(begin, &i) != wfre_fold_next(f->text, &j))
            return;
    wfre_labels_subjects(f->labels, rank, f->found);
}

void wfre_labels_find(const wfre_labels *labels, wfre_name text, wfre_name language, bool fold,
                      wfre_labelled *found)
{
    const wfre_dictionary *dictionary = &labels->graph->dictionary;
    char buffer[LONGEST];
    folding f = {labels, text, found};
    if (text.length == 0)
        return;
    if (fold) {
        if (text.length <= LONGEST)
            wfre_labels_walk(labels, language, buffer, text.length, compare_folded, &f);
        return;
    }
    for (uint32_t class = 1; class < dictionary->class_count; class ++) {
        if (!fits(dictionary, class, language))
            continue;
        uint32_t rank = wfre_dictionary_find(dictionary, class, text.bytes, text.length);
        if (rank != WFRE_NONE)
            wfre_labels_subjects(labels, rank, found);
    }
}
