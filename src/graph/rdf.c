/* Terms of a graph: from numbers to values and back. */
#include "graph/rdf_named.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "graph/image.h"
#include "graph/iri.h"
#include "graph/labels.h"

#define XSD_STRING "http://www.w3.org/2001/XMLSchema#string"
#define RDF_LANG_STRING "http://www.w3.org/1999/02/22-rdf-syntax-ns#langString"

static wfre_name constant(const char *text)
{
    return (wfre_name){text, strlen(text)};
}

static bool equals(wfre_name name, const char *text)
{
    return name.length == strlen(text) && memcmp(name.bytes, text, name.length) == 0;
}

/* ---- opening ------------------------------------------------------------------------------ */

static int compare_predicates(const void *a, const void *b)
{
    wfre_rdf_id left = ((const wfre_rdf_predicate *)a)->term;
    wfre_rdf_id right = ((const wfre_rdf_predicate *)b)->term;
    return (left > right) - (left < right);
}

/* The entity or dictionary term that a relation's name is the IRI of, or WFRE_NONE. */
static wfre_rdf_id find_iri(const wfre_graph *graph, const char *iri, size_t length)
{
    uint32_t found = wfre_names_find(&graph->names[WFRE_ENTITY_NAMES], iri, length);
    if (found != WFRE_NONE || graph->dictionary.class_count == 0)
        return found;
    found = wfre_dictionary_find(&graph->dictionary, 0, iri, length);
    return found == WFRE_NONE ? WFRE_NONE : graph->header->entities + found;
}

/* Gives every relation its term; those without one become terms by themselves. */
static void number_relations(wfre_rdf *rdf)
{
    const wfre_graph *graph = rdf->graph;
    uint32_t own = 0;
    for (uint32_t pair = 0; pair < graph->header->relations / 2; pair++) {
        wfre_name name = wfre_graph_relation_name(graph, 2 * pair);
        wfre_rdf_id term = WFRE_NONE;
        if (wfre_iri_absolute(name.bytes, name.length))
            term = find_iri(graph, name.bytes, name.length);
        if (term == WFRE_NONE) {
            term = rdf->terms++;
            rdf->own[own++] = pair;
        }
        rdf->relation_terms[pair] = term;
    }
}

/* All predicates by term: relations, and those of attributes. */
static void list_predicates(wfre_rdf *rdf)
{
    const wfre_graph *graph = rdf->graph;
    uint32_t pairs = graph->header->relations / 2, count = 0, kept = 0;
    wfre_rdf_predicate *all = rdf->predicates;
    for (uint32_t pair = 0; pair < pairs; pair++)
        all[count++] = (wfre_rdf_predicate){rdf->relation_terms[pair], pair, WFRE_NONE};
    for (uint32_t i = 0; i < graph->predicate_count; i++)
        if (graph->predicates[i].term < rdf->terms)
            all[count++] = (wfre_rdf_predicate){graph->predicates[i].term, WFRE_NONE, i};
    if (count > 0)
        qsort(all, count, sizeof *all, compare_predicates);
    for (uint32_t i = 0; i < count; i++) {
        wfre_rdf_predicate *last = kept ? &all[kept - 1] : NULL;
        if (last && last->term == all[i].term) {
            last->pair = last->pair != WFRE_NONE ? last->pair : all[i].pair;
            last->attribute = last->attribute != WFRE_NONE ? last->attribute : all[i].attribute;
        } else {
            all[kept++] = all[i];
        }
    }
    rdf->predicate_count = kept;
    for (uint32_t i = 0; i < kept; i++)
        if (all[i].attribute != WFRE_NONE ||
            wfre_graph_sources(graph, rdf->split, 2 * all[i].pair).count > 0)
            rdf->predicate_terms[rdf->live_count++] = all[i].term;
}

wfre_status wfre_rdf_open(const wfre_graph *graph, wfre_split split, wfre_rdf **result,
                          wfre_error *error)
{
    if (!wfre_guard_attributes(graph->guard))
        return wfre_graph_sound(graph, error);
    uint32_t pairs = graph->header->relations / 2;
    size_t most = (size_t)pairs + graph->predicate_count;
    wfre_rdf *rdf = wfre_alloc_zero(1, sizeof *rdf);
    wfre_status status = WFRE_OK;
    if (!rdf)
        return wfre_fail_memory(error, "opening a graph as RDF");
    *rdf = (wfre_rdf){
        .graph = graph,
        .split = split,
        .edges = wfre_graph_adjacency(graph, split),
        .packed = graph->attributes,
        .attributes = graph->predicates,
        .attribute_count = graph->predicate_count,
        .triples = wfre_graph_triples(graph, split) + graph->header->attributes,
        .with_edges = graph->header->entities,
        .entities = graph->header->entities,
        .dictionary = graph->header->dictionary_terms,
        .blanks = graph->header->blanks,
        .relation_terms = wfre_alloc(pairs, sizeof *rdf->relation_terms),
        .own = wfre_alloc(pairs, sizeof *rdf->own),
        .predicates = wfre_alloc(most, sizeof *rdf->predicates),
        .predicate_terms = wfre_alloc(most, sizeof *rdf->predicate_terms),
    };
    rdf->terms = rdf->entities + rdf->dictionary + rdf->blanks;
    wfre_iri_prefix(&rdf->entity_prefix, wfre_graph_base(graph), 'e');
    wfre_iri_prefix(&rdf->relation_prefix, wfre_graph_base(graph), 'r');
    if (!rdf->relation_terms || !rdf->own || !rdf->predicates || !rdf->predicate_terms ||
        rdf->entity_prefix.failed || rdf->relation_prefix.failed) {
        status = wfre_fail_memory(error, "opening a graph as RDF");
        goto cleanup;
    }
    number_relations(rdf);
    list_predicates(rdf);
    TRY(wfre_rdf_list_named(rdf, error));
    *result = rdf;
    rdf = NULL;
cleanup:
    wfre_rdf_close(rdf);
    return status;
}

void wfre_rdf_close(wfre_rdf *rdf)
{
    if (!rdf)
        return;
    wfre_rdf_owned_free(rdf);
    if (!rdf->shares) {
        wfre_free(rdf->relation_terms);
        wfre_free(rdf->own);
        wfre_text_free(&rdf->entity_prefix);
        wfre_text_free(&rdf->relation_prefix);
    }
    wfre_free(rdf->predicates);
    wfre_free(rdf->predicate_terms);
    wfre_free(rdf);
}

const wfre_graph *wfre_rdf_graph(const wfre_rdf *rdf)
{
    return rdf->graph;
}

wfre_split wfre_rdf_split(const wfre_rdf *rdf)
{
    return rdf->split;
}

uint32_t wfre_rdf_terms(const wfre_rdf *rdf)
{
    return rdf->terms;
}

uint64_t wfre_rdf_triples(const wfre_rdf *rdf)
{
    return rdf->triples;
}

/* ---- prefixes ----------------------------------------------------------------------------- */

/* The next line "name <TAB> text" of the prefixes from *at on; false at the end. */
static bool next_prefix(const wfre_graph *graph, size_t *at, wfre_name *name, wfre_name *text)
{
    const char *begin = graph->prefixes.bytes + *at;
    size_t left = graph->prefixes.length - *at;
    const char *end = left ? memchr(begin, '\n', left) : NULL;
    const char *tab = end ? memchr(begin, '\t', (size_t)(end - begin)) : NULL;
    if (!tab)
        return false;
    *name = (wfre_name){begin, (size_t)(tab - begin)};
    *text = (wfre_name){tab + 1, (size_t)(end - tab) - 1};
    *at += (size_t)(end - begin) + 1;
    return true;
}

/* Not a prefix but something else that is kept with them: "@base", "@label", "@graph". */
static bool is_other(wfre_name name)
{
    return name.length > 0 && name.bytes[0] == '@';
}

bool wfre_graph_own_label(const wfre_graph *graph, size_t index, wfre_name *iri)
{
    wfre_name name;
    size_t at = 0;
    while (next_prefix(graph, &at, &name, iri))
        if (equals(name, WFRE_LABEL_LINE) && index-- == 0)
            return true;
    return false;
}

wfre_name wfre_graph_base(const wfre_graph *graph)
{
    wfre_name name, text;
    size_t at = 0;
    if (next_prefix(graph, &at, &name, &text) && equals(name, "@base"))
        return text;
    return constant(WFRE_DEFAULT_BASE);
}

bool wfre_graph_prefix(const wfre_graph *graph, size_t index, wfre_name *prefix, wfre_name *iri)
{
    size_t at = 0;
    while (next_prefix(graph, &at, prefix, iri))
        if (!is_other(*prefix) && index-- == 0)
            return true;
    return false;
}

bool wfre_graph_find_prefix(const wfre_graph *graph, const char *prefix, size_t length,
                            wfre_text *iri)
{
    wfre_name name, text;
    for (size_t at = 0; next_prefix(graph, &at, &name, &text);)
        if (name.length == length && (length == 0 || memcmp(name.bytes, prefix, length) == 0)) {
            wfre_text_append(iri, text.bytes, text.length);
            return true;
        }
    if (length != 1 || (*prefix != 'e' && *prefix != 'r'))
        return false;
    wfre_iri_prefix(iri, wfre_graph_base(graph), *prefix);
    return true;
}

/* ---- values ------------------------------------------------------------------------------- */

static bool has_rdf_names(const wfre_rdf *rdf)
{
    return rdf->graph->header->flags & WFRE_IMAGE_RDF_NAMES;
}

/* What the name of an entity stands for if it may be a literal or a blank node. */
static wfre_rdf_kind kind_of_name(const wfre_rdf *rdf, wfre_name name)
{
    if (!has_rdf_names(rdf) || name.length < 2)
        return WFRE_RDF_IRI;
    if (name.bytes[0] == '_' && name.bytes[1] == ':')
        return WFRE_RDF_BLANK;
    return name.bytes[0] == '"' ? WFRE_RDF_LITERAL : WFRE_RDF_IRI;
}

wfre_rdf_kind wfre_rdf_kind_of(const wfre_rdf *rdf, wfre_rdf_id id)
{
    if (id < rdf->entities)
        return has_rdf_names(rdf) ? kind_of_name(rdf, wfre_graph_entity_name(rdf->graph, id))
                                  : WFRE_RDF_IRI;
    uint32_t rank = id - rdf->entities;
    if (rank < rdf->dictionary) {
        uint32_t first, end;
        wfre_dictionary_range(&rdf->graph->dictionary, 0, &first, &end);
        return rank < end ? WFRE_RDF_IRI : WFRE_RDF_LITERAL;
    }
    return rank - rdf->dictionary < rdf->blanks ? WFRE_RDF_BLANK : WFRE_RDF_IRI;
}

/* "text"@language, "text"^^<datatype> or "text". */
static wfre_rdf_value literal_of_name(wfre_name name)
{
    size_t quote = name.length;
    while (quote > 1 && name.bytes[quote - 1] != '"')
        quote--;
    wfre_name rest = {name.bytes + quote, name.length - quote};
    wfre_rdf_value value = {.kind = WFRE_RDF_LITERAL,
                            .text = {name.bytes + 1, quote > 1 ? quote - 2 : name.length - 1},
                            .datatype = constant(XSD_STRING)};
    if (rest.length > 1 && rest.bytes[0] == '@') {
        value.language = (wfre_name){rest.bytes + 1, rest.length - 1};
        value.datatype = constant(RDF_LANG_STRING);
    } else if (rest.length > 4) {
        value.datatype = (wfre_name){rest.bytes + 3, rest.length - 4};
    }
    return value;
}

/* Datatype and language of a dictionary class that is not that of IRIs. */
static wfre_rdf_value class_value(const wfre_dictionary *dictionary, uint32_t class)
{
    wfre_name key = wfre_dictionary_key(dictionary, class);
    wfre_rdf_value value = {.kind = WFRE_RDF_LITERAL, .datatype = constant(XSD_STRING)};
    if (key.bytes[0] == '@') {
        value.language = (wfre_name){key.bytes + 1, key.length - 1};
        value.datatype = constant(RDF_LANG_STRING);
    } else if (key.bytes[0] == '^') {
        value.datatype = (wfre_name){key.bytes + 1, key.length - 1};
    }
    return value;
}

/* An IRI as it is, or the coded one of a name that is none. */
static wfre_name name_iri(wfre_name name, const wfre_text *prefix, wfre_text *scratch)
{
    if (wfre_iri_absolute(name.bytes, name.length))
        return name;
    wfre_text_append(scratch, prefix->data, prefix->length);
    wfre_iri_encode(scratch, name.bytes, name.length);
    return (wfre_name){scratch->data, scratch->length};
}

static wfre_rdf_value entity_value(const wfre_rdf *rdf, wfre_entity entity, wfre_text *scratch)
{
    wfre_name name = wfre_graph_entity_name(rdf->graph, entity);
    wfre_rdf_kind kind = kind_of_name(rdf, name);
    if (kind == WFRE_RDF_LITERAL)
        return literal_of_name(name);
    if (kind == WFRE_RDF_BLANK)
        return (wfre_rdf_value){.kind = kind, .text = {name.bytes + 2, name.length - 2}};
    return (wfre_rdf_value){.kind = kind, .text = name_iri(name, &rdf->entity_prefix, scratch)};
}

/* The IRI of a dictionary name that is none, which `scratch` has. */
static wfre_status code_name(const wfre_rdf *rdf, wfre_text *scratch, wfre_rdf_value *value,
                             wfre_error *error)
{
    wfre_text coded = {0};
    wfre_text_append(&coded, rdf->entity_prefix.data, rdf->entity_prefix.length);
    wfre_iri_encode(&coded, scratch->data, scratch->length);
    wfre_text_free(scratch);
    *scratch = coded;
    value->text = (wfre_name){coded.data, coded.length};
    return wfre_text_status(scratch, "reading a term", error);
}

wfre_status wfre_rdf_get(const wfre_rdf *rdf, wfre_rdf_id id, wfre_text *scratch,
                         wfre_rdf_value *value, wfre_error *error)
{
    const wfre_dictionary *dictionary = &rdf->graph->dictionary;
    uint32_t rank = id - rdf->entities;
    wfre_text_clear(scratch);
    *value = (wfre_rdf_value){.kind = WFRE_RDF_IRI};
    if (id < rdf->entities) {
        *value = entity_value(rdf, id, scratch);
    } else if (rank < rdf->dictionary) {
        uint32_t class = wfre_dictionary_class(dictionary, rank);
        if (class > 0)
            *value = class_value(dictionary, class);
        wfre_text_append(scratch, NULL, 0); /* so that even the empty text has bytes */
        wfre_dictionary_get(dictionary, rank, scratch);
        CHECK(wfre_text_status(scratch, "reading a term", error));
        value->text = (wfre_name){scratch->data, scratch->length};
        if (class == 0 && !wfre_iri_absolute(scratch->data, scratch->length))
            return code_name(rdf, scratch, value, error);
    } else if (rank - rdf->dictionary < rdf->blanks) {
        value->kind = WFRE_RDF_BLANK;
        wfre_text_format(scratch, "b%u", rank - rdf->dictionary);
        value->text = (wfre_name){scratch->data, scratch->length};
    } else if (id < rdf->terms) {
        uint32_t pair = rdf->own[rank - rdf->dictionary - rdf->blanks];
        value->text = name_iri(wfre_graph_relation_name(rdf->graph, 2 * pair),
                               &rdf->relation_prefix, scratch);
    }
    return wfre_text_status(scratch, "reading a term", error);
}

uint32_t wfre_rdf_classes(const wfre_rdf *rdf)
{
    uint32_t count = rdf->graph->dictionary.class_count;
    return count > 0 ? count - 1 : 0;
}

uint32_t wfre_rdf_class_of(const wfre_rdf *rdf, wfre_rdf_id id)
{
    uint32_t rank = id - rdf->entities;
    if (id < rdf->entities || rank >= rdf->dictionary)
        return WFRE_NONE;
    uint32_t class = wfre_dictionary_class(&rdf->graph->dictionary, rank);
    return class > 0 ? class - 1 : WFRE_NONE;
}

wfre_rdf_value wfre_rdf_class(const wfre_rdf *rdf, uint32_t class, wfre_rdf_id *first,
                              wfre_rdf_id *end)
{
    wfre_dictionary_range(&rdf->graph->dictionary, class + 1, first, end);
    *first += rdf->entities;
    *end += rdf->entities;
    return class_value(&rdf->graph->dictionary, class + 1);
}

/* ---- finding ------------------------------------------------------------------------------ */

/* An entity that was named as N-Triples writes a literal or a blank node. */
static wfre_rdf_id find_named(const wfre_rdf *rdf, const wfre_rdf_value *value, wfre_text *scratch)
{
    const char *quote = value->kind == WFRE_RDF_LITERAL ? "\"" : "";
    wfre_text_clear(scratch);
    wfre_text_add(scratch, value->kind == WFRE_RDF_LITERAL ? quote : "_:");
    wfre_text_append(scratch, value->text.bytes, value->text.length);
    wfre_text_add(scratch, quote);
    if (value->language.length > 0) {
        wfre_text_char(scratch, '@');
        wfre_text_append(scratch, value->language.bytes, value->language.length);
    } else if (value->datatype.length > 0 && !equals(value->datatype, XSD_STRING)) {
        wfre_text_add(scratch, "^^<");
        wfre_text_append(scratch, value->datatype.bytes, value->datatype.length);
        wfre_text_char(scratch, '>');
    }
    if (scratch->failed)
        return WFRE_NONE;
    return wfre_names_find(&rdf->graph->names[WFRE_ENTITY_NAMES], scratch->data, scratch->length);
}

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

/* Whether a class has a language that is the same but for upper and lower case. */
static bool same_language(const wfre_dictionary *dictionary, uint32_t class, wfre_name language)
{
    wfre_name key = wfre_dictionary_key(dictionary, class);
    if (key.length != language.length + 1 || key.bytes[0] != '@')
        return false;
    for (size_t i = 0; i < language.length; i++)
        if (lower(key.bytes[1 + i]) != lower(language.bytes[i]))
            return false;
    return true;
}

/* A text in the class of a language, as written or else in another case. */
static uint32_t find_in_language(const wfre_dictionary *dictionary, const wfre_rdf_value *value)
{
    wfre_name language = value->language;
    uint32_t rank = WFRE_NONE;
    uint32_t exact = wfre_dictionary_find_class(dictionary, '@', language.bytes, language.length);
    if (exact != WFRE_NONE)
        rank = wfre_dictionary_find(dictionary, exact, value->text.bytes, value->text.length);
    for (uint32_t class = 1; class < dictionary->class_count && rank == WFRE_NONE; class ++)
        if (class != exact && same_language(dictionary, class, language))
            rank = wfre_dictionary_find(dictionary, class, value->text.bytes, value->text.length);
    return rank;
}

static wfre_rdf_id find_literal(const wfre_rdf *rdf, const wfre_rdf_value *value,
                                wfre_text *scratch)
{
    const wfre_dictionary *dictionary = &rdf->graph->dictionary;
    wfre_rdf_id found = has_rdf_names(rdf) ? find_named(rdf, value, scratch) : WFRE_NONE;
    uint32_t rank = WFRE_NONE;
    if (found != WFRE_NONE || scratch->failed || dictionary->class_count == 0)
        return found;
    if (value->language.length > 0) {
        rank = find_in_language(dictionary, value);
    } else {
        bool plain = value->datatype.length == 0 || equals(value->datatype, XSD_STRING);
        uint32_t class = plain ? wfre_dictionary_find_class(dictionary, 's', "", 0)
                               : wfre_dictionary_find_class(dictionary, '^', value->datatype.bytes,
                                                            value->datatype.length);
        if (class != WFRE_NONE)
            rank = wfre_dictionary_find(dictionary, class, value->text.bytes, value->text.length);
    }
    return rank == WFRE_NONE ? WFRE_NONE : rdf->entities + rank;
}

static wfre_rdf_id find_blank(const wfre_rdf *rdf, const wfre_rdf_value *value, wfre_text *scratch)
{
    uint64_t number = 0;
    wfre_rdf_id found = has_rdf_names(rdf) ? find_named(rdf, value, scratch) : WFRE_NONE;
    if (found != WFRE_NONE || value->text.length < 2 || value->text.length > 11 ||
        value->text.bytes[0] != 'b' || (value->text.bytes[1] == '0' && value->text.length > 2))
        return found;
    for (size_t i = 1; i < value->text.length; i++) {
        char c = value->text.bytes[i];
        if (c < '0' || c > '9')
            return WFRE_NONE;
        number = 10 * number + (uint64_t)(c - '0');
    }
    return number < rdf->blanks ? rdf->entities + rdf->dictionary + (uint32_t)number : WFRE_NONE;
}

/* The name that an IRI codes, if it has the prefix and coding gives the same IRI again; into
 * `scratch`. */
static bool decode_name(wfre_name iri, const wfre_text *prefix, wfre_text *scratch)
{
    wfre_text again = {0};
    if (iri.length <= prefix->length || memcmp(iri.bytes, prefix->data, prefix->length) != 0)
        return false;
    wfre_text_clear(scratch);
    wfre_iri_decode(scratch, iri.bytes + prefix->length, iri.length - prefix->length);
    if (!scratch->failed)
        wfre_iri_encode(&again, scratch->data, scratch->length);
    scratch->failed |= again.failed;
    bool same = !scratch->failed && again.length == iri.length - prefix->length &&
                memcmp(again.data, iri.bytes + prefix->length, again.length) == 0 &&
                !wfre_iri_absolute(scratch->data, scratch->length);
    wfre_text_free(&again);
    return same;
}

static wfre_rdf_id find_term_iri(const wfre_rdf *rdf, wfre_name iri, wfre_text *scratch)
{
    const wfre_graph *graph = rdf->graph;
    if (!wfre_iri_absolute(iri.bytes, iri.length))
        return WFRE_NONE; /* the names of entities and relations are not IRIs by themselves */
    wfre_rdf_id found = find_iri(graph, iri.bytes, iri.length);
    if (found == WFRE_NONE) {
        uint32_t pair = wfre_names_find(&graph->names[WFRE_RELATION_NAMES], iri.bytes, iri.length);
        found = pair != WFRE_NONE ? rdf->relation_terms[pair] : WFRE_NONE;
    }
    if (found == WFRE_NONE && decode_name(iri, &rdf->entity_prefix, scratch))
        found = find_iri(graph, scratch->data, scratch->length);
    if (found == WFRE_NONE && decode_name(iri, &rdf->relation_prefix, scratch)) {
        uint32_t pair =
            wfre_names_find(&graph->names[WFRE_RELATION_NAMES], scratch->data, scratch->length);
        found = pair != WFRE_NONE ? rdf->relation_terms[pair] : WFRE_NONE;
    }
    return found;
}

wfre_status wfre_rdf_find(const wfre_rdf *rdf, const wfre_rdf_value *value, wfre_rdf_id *id,
                          wfre_error *error)
{
    wfre_text scratch = {0};
    wfre_rdf_id found = value->kind == WFRE_RDF_IRI     ? find_term_iri(rdf, value->text, &scratch)
                        : value->kind == WFRE_RDF_BLANK ? find_blank(rdf, value, &scratch)
                                                        : find_literal(rdf, value, &scratch);
    wfre_status status = wfre_text_status(&scratch, "looking a term up", error);
    wfre_text_free(&scratch);
    if (status == WFRE_OK)
        *id = found;
    return status;
}

/* ---- entities and relations --------------------------------------------------------------- */

wfre_entity wfre_rdf_entity(const wfre_rdf *rdf, wfre_rdf_id id)
{
    return id < rdf->entities ? id : WFRE_NONE;
}

const wfre_rdf_predicate *wfre_rdf_find_predicate(const wfre_rdf *rdf, wfre_rdf_id id)
{
    size_t low = 0, high = rdf->predicate_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (rdf->predicates[middle].term < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low < rdf->predicate_count && rdf->predicates[low].term == id ? &rdf->predicates[low]
                                                                         : NULL;
}

wfre_relation wfre_rdf_relation(const wfre_rdf *rdf, wfre_rdf_id id)
{
    const wfre_rdf_predicate *predicate = wfre_rdf_find_predicate(rdf, id);
    return predicate && predicate->pair != WFRE_NONE ? 2 * predicate->pair : WFRE_NONE;
}

wfre_rdf_id wfre_rdf_relation_term(const wfre_rdf *rdf, wfre_relation relation)
{
    return relation < rdf->graph->header->relations ? rdf->relation_terms[relation / 2] : WFRE_NONE;
}

wfre_status wfre_rdf_label(const wfre_rdf *rdf, wfre_rdf_id id, wfre_text *scratch,
                           wfre_name *label, wfre_error *error)
{
    *label = (wfre_name){NULL, 0};
    wfre_text_clear(scratch);
    if (wfre_rdf_kind_of(rdf, id) != WFRE_RDF_IRI || id >= rdf->terms)
        return WFRE_OK;
    wfre_relation relation = wfre_rdf_relation(rdf, id);
    if (id < rdf->entities)
        *label = wfre_graph_entity_label(rdf->graph, id);
    else if (relation != WFRE_NONE)
        *label = wfre_graph_relation_label(rdf->graph, relation);
    if (label->length > 0)
        return WFRE_OK;
    wfre_text iri = {0};
    wfre_rdf_value value;
    wfre_status status;
    TRY(wfre_rdf_get(rdf, id, &iri, &value, error));
    wfre_iri_display(scratch, value.text.bytes, value.text.length);
    TRY(wfre_text_status(scratch, "showing a term", error));
    *label = (wfre_name){scratch->data, scratch->length};
cleanup:
    wfre_text_free(&iri);
    return status;
}
