/* Labels and descriptions from RDF: chosen among attributes when all sources are read.
 *
 * The language asked for comes first, then texts without a language, then any; within a language
 * the properties in the order below, and of these the first text. Entities and relations without a
 * label show the last part of their IRI. */
#include <string.h>

#include "base/memory.h"
#include "graph/import.h"
#include "graph/iri.h"
#include "graph/labels.h"

#define RDFS "http://www.w3.org/2000/01/rdf-schema#"
#define SKOS "http://www.w3.org/2004/02/skos/core#"
#define DC "http://purl.org/dc/elements/1.1/"
#define TERMS "http://purl.org/dc/terms/"

static const char *const DESCRIPTIONS[] = {
    RDFS "comment",
    SKOS "definition",
    "http://schema.org/description",
    "https://schema.org/description",
    TERMS "description",
    DC "description",
};
enum { DESCRIPTION_COUNT = sizeof DESCRIPTIONS / sizeof DESCRIPTIONS[0] };

static bool equals(wfre_name name, const char *text)
{
    return name.length == strlen(text) && memcmp(name.bytes, text, name.length) == 0;
}

bool wfre_import_is_label(const wfre_import_options *options, wfre_name iri)
{
    if (options->label_property && equals(iri, options->label_property))
        return true;
    for (size_t i = 0; wfre_label_property(i); i++)
        if (equals(iri, wfre_label_property(i)))
            return true;
    for (int i = 0; i < DESCRIPTION_COUNT; i++)
        if (equals(iri, DESCRIPTIONS[i]))
            return true;
    return false;
}

/* ---- choosing ----------------------------------------------------------------------------- */

/* The best text so far of each entity or relation. */
typedef struct choice {
    uint32_t *row;       /* of the attributes, plus 1; 0: none */
    unsigned char *rank; /* of it: lower is better */
} choice;

typedef struct choosing {
    const wfre_import_job *job;
    const wfre_attributes *attributes;
    uint32_t *property;      /* by collected term: find_properties */
    unsigned char *language; /* rank by class */
    choice labels, descriptions, relation_labels;
} choosing;

enum { OWN_LABEL = 1, DESCRIBES = 64, PROPERTIES = 32 };

static wfre_status make_choice(choice *c, uint32_t count, wfre_error *error)
{
    c->row = wfre_alloc_zero(count, sizeof *c->row);
    c->rank = wfre_alloc(count, 1);
    return c->row && c->rank ? WFRE_OK : wfre_fail_memory(error, "choosing labels");
}

static void free_choice(choice *c)
{
    wfre_free(c->row);
    wfre_free(c->rank);
}

static void offer(choice *c, uint32_t id, size_t row, unsigned rank)
{
    if (id == WFRE_NONE || (c->row[id] && c->rank[id] <= rank))
        return;
    c->row[id] = (uint32_t)row + 1;
    c->rank[id] = (unsigned char)rank;
}

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

/* 0 for the language asked for (and its regions), 1 for none, 2 for any other. */
static unsigned char rank_language(const char *key, size_t length, const char *wanted)
{
    size_t asked = strlen(wanted);
    if (length == 0 || key[0] != '@')
        return 1;
    if (length - 1 < asked)
        return 2;
    for (size_t i = 0; i < asked; i++)
        if (lower(key[1 + i]) != lower(wanted[i]))
            return 2;
    return length - 1 == asked || key[1 + asked] == '-' ? 0 : 2;
}

static wfre_status rank_languages(choosing *c, wfre_error *error)
{
    const wfre_strings *classes = &c->attributes->classes;
    const char *wanted = c->job->options->language ? c->job->options->language : "en";
    c->language = wfre_alloc((size_t)classes->count + 1, 1);
    if (!c->language)
        return wfre_fail_memory(error, "choosing labels");
    for (uint32_t i = 0; i < classes->count; i++) {
        size_t length;
        const char *key = wfre_strings_get(classes, i, &length);
        c->language[i] = rank_language(key, length, wanted);
    }
    return WFRE_OK;
}

/* Numbers the properties: labels from OWN_LABEL, descriptions from DESCRIBES. */
static wfre_status find_properties(choosing *c, wfre_error *error)
{
    const wfre_strings *terms = &c->attributes->terms;
    c->property = wfre_alloc_zero((size_t)terms->count + 1, sizeof *c->property);
    if (!c->property)
        return wfre_fail_memory(error, "choosing labels");
    for (int i = DESCRIPTION_COUNT - 1; i >= 0; i--) {
        uint32_t term = wfre_strings_find(terms, DESCRIPTIONS[i], strlen(DESCRIPTIONS[i]));
        if (term != WFRE_NONE)
            c->property[term] = DESCRIBES + (uint32_t)i;
    }
    for (uint32_t i = 0; wfre_label_property(i); i++) {
        const char *iri = wfre_label_property(i);
        uint32_t term = wfre_strings_find(terms, iri, strlen(iri));
        if (term != WFRE_NONE)
            c->property[term] = OWN_LABEL + 1 + i;
    }
    const char *own = c->job->options->label_property;
    uint32_t term = own ? wfre_strings_find(terms, own, strlen(own)) : WFRE_NONE, ignored;
    if (term == WFRE_NONE)
        return WFRE_OK;
    c->property[term] = OWN_LABEL;
    return wfre_strings_intern(&c->job->builder->own_labels, own, strlen(own), &ignored, error);
}

/* The class of a literal and its text; false if the term is none. */
static bool literal_of(const wfre_attributes *attributes, uint32_t term, uint32_t *class,
                       wfre_name *text)
{
    size_t length;
    const char *key = wfre_strings_get(&attributes->terms, term, &length);
    if (length < 5 || key[0] != '"')
        return false;
    *class = 0;
    for (int i = 0; i < 4; i++)
        *class |= (uint32_t)(unsigned char)key[1 + i] << 8 * i;
    *text = (wfre_name){key + 5, length - 5};
    return true;
}

static void offer_row(choosing *c, size_t row)
{
    const wfre_triple *triple = &c->attributes->rows[row];
    uint32_t property = c->property[triple->field[WFRE_RDF_P]], class;
    wfre_name text;
    if (property == 0 || !literal_of(c->attributes, triple->field[WFRE_RDF_O], &class, &text) ||
        text.length == 0 || memchr(text.bytes, '\0', text.length))
        return;
    size_t length;
    const char *subject =
        wfre_strings_get(&c->attributes->terms, triple->field[WFRE_RDF_S], &length);
    uint32_t entity = wfre_strings_find(&c->job->builder->entities, subject, length);
    unsigned rank = c->language[class] * PROPERTIES + property % PROPERTIES;
    if (property >= DESCRIBES) {
        offer(&c->descriptions, entity, row, rank);
        return;
    }
    offer(&c->labels, entity, row, rank);
    offer(&c->relation_labels, wfre_strings_find(&c->job->builder->relations, subject, length), row,
          rank);
}

/* ---- setting ------------------------------------------------------------------------------ */

/* The chosen text of an id, or the last part of its name; nothing if it has notes already. */
static wfre_name text_for(const choosing *c, const choice *from, uint32_t id,
                          const wfre_strings *names, wfre_text *scratch)
{
    uint32_t class;
    wfre_name text = {NULL, 0};
    if (from->row[id] &&
        literal_of(c->attributes, c->attributes->rows[from->row[id] - 1].field[WFRE_RDF_O], &class,
                   &text))
        return text;
    size_t length;
    const char *name = names ? wfre_strings_get(names, id, &length) : NULL;
    if (!name || !wfre_iri_absolute(name, length))
        return (wfre_name){NULL, 0};
    wfre_text_clear(scratch);
    wfre_iri_display(scratch, name, length);
    bool same = scratch->length == length && memcmp(scratch->data, name, length) == 0;
    return same ? (wfre_name){NULL, 0} : (wfre_name){scratch->data, scratch->length};
}

static wfre_status set_texts(const choosing *c, wfre_error *error)
{
    wfre_graph_builder *builder = c->job->builder;
    wfre_text scratch = {0};
    wfre_status status = WFRE_OK;
    for (uint32_t e = 0; e < builder->entities.count; e++) {
        wfre_name label = text_for(c, &c->labels, e, &builder->entities, &scratch);
        wfre_name about = text_for(c, &c->descriptions, e, NULL, &scratch);
        if (label.length > 0)
            TRY(wfre_graph_builder_label(builder, e, label.bytes, label.length, error));
        if (about.length > 0)
            TRY(wfre_graph_builder_describe(builder, e, about.bytes, about.length, error));
    }
    for (uint32_t pair = 0; pair < builder->relations.count; pair++) {
        wfre_name label = text_for(c, &c->relation_labels, pair, &builder->relations, &scratch);
        if (label.length > 0)
            TRY(wfre_graph_builder_relation_label(builder, 2 * pair, label.bytes, label.length,
                                                  error));
    }
    TRY(wfre_text_status(&scratch, "choosing labels", error));
cleanup:
    wfre_text_free(&scratch);
    return status;
}

wfre_status wfre_import_rdf_labels(wfre_import_job *job, wfre_error *error)
{
    wfre_graph_builder *builder = job->builder;
    choosing c = {.job = job, .attributes = &builder->attributes};
    wfre_status status;
    if (!job->rdf)
        return WFRE_OK;
    TRY(make_choice(&c.labels, builder->entities.count, error));
    TRY(make_choice(&c.descriptions, builder->entities.count, error));
    TRY(make_choice(&c.relation_labels, builder->relations.count, error));
    TRY(rank_languages(&c, error));
    TRY(find_properties(&c, error));
    for (size_t row = 0; row < builder->attributes.count; row++)
        offer_row(&c, row);
    TRY(set_texts(&c, error));
    if (job->options->literals == WFRE_LITERALS_DROP)
        wfre_attributes_free(&builder->attributes);
cleanup:
    free_choice(&c.labels);
    free_choice(&c.descriptions);
    free_choice(&c.relation_labels);
    wfre_free(c.property);
    wfre_free(c.language);
    return status;
}
