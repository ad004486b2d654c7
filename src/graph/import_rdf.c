/* RDF: N-Triples, Turtle, N-Quads and TriG.
 *
 * An IRI is an entity's or relation's name. A triple of IRIs is an edge; one with a literal or a
 * blank node is an attribute, or as the options say an edge between entities that are named as
 * N-Triples writes literals and blank nodes (but for escapes), or left out. Properties that give
 * labels and descriptions never make edges with literals. */
#include <string.h>

#include "graph/import.h"
#include "graph/rdf_reader.h"

typedef struct context {
    wfre_import_job *job;
    wfre_text scratch;
    char blank_prefix[32]; /* blank nodes of different files differ, whatever they are called */
    uint32_t graph;        /* the named graph of the statement at hand, or WFRE_NONE */
    uint32_t home;         /* the named graph that the whole source is, or WFRE_NONE */
    bool quads;            /* the source may have named graphs */
} context;

/* ---- entities and relations --------------------------------------------------------------- */

/* The name of a literal or blank node that is to be an entity. */
static wfre_status entity_name(context *c, const wfre_rdf_value *value, wfre_name *name,
                               wfre_error *error)
{
    bool literal = value->kind == WFRE_RDF_LITERAL;
    *name = value->text;
    if (value->kind == WFRE_RDF_IRI)
        return WFRE_OK;
    wfre_text_clear(&c->scratch);
    wfre_text_add(&c->scratch, literal ? "\"" : "_:");
    wfre_text_append(&c->scratch, value->text.bytes, value->text.length);
    if (literal)
        wfre_text_char(&c->scratch, '"');
    if (value->language.length > 0) {
        wfre_text_char(&c->scratch, '@');
        wfre_text_append(&c->scratch, value->language.bytes, value->language.length);
    } else if (value->datatype.length > 0) {
        wfre_text_add(&c->scratch, "^^<");
        wfre_text_append(&c->scratch, value->datatype.bytes, value->datatype.length);
        wfre_text_char(&c->scratch, '>');
    }
    wfre_status status = wfre_text_status(&c->scratch, "reading RDF", error);
    *name = (wfre_name){c->scratch.data, c->scratch.length};
    if (status == WFRE_OK && memchr(name->bytes, '\0', name->length))
        return wfre_fail(error, WFRE_ERR_FORMAT, WFRE_NO_OFFSET,
                         "a literal with a NUL in it cannot be an entity; keep literals as "
                         "attributes");
    return status;
}

static wfre_status entity_of(context *c, const wfre_rdf_value *value, wfre_entity *entity,
                             wfre_error *error)
{
    wfre_graph_builder *builder = c->job->builder;
    uint32_t known = builder->entities.count;
    wfre_name name;
    CHECK(entity_name(c, value, &name, error));
    CHECK(wfre_graph_builder_entity(builder, name.bytes, name.length, entity, error));
    if (value->kind == WFRE_RDF_LITERAL && *entity >= known)
        CHECK(wfre_graph_builder_label(builder, *entity, value->text.bytes, value->text.length,
                                       error));
    return WFRE_OK;
}

static wfre_status add_edge(context *c, const wfre_rdf_value *triple, wfre_error *error)
{
    wfre_graph_builder *builder = c->job->builder;
    wfre_name predicate = triple[WFRE_RDF_P].text;
    wfre_entity head, tail;
    wfre_relation relation;
    CHECK(
        wfre_graph_builder_relation(builder, predicate.bytes, predicate.length, &relation, error));
    CHECK(entity_of(c, &triple[WFRE_RDF_S], &head, error));
    CHECK(entity_of(c, &triple[WFRE_RDF_O], &tail, error));
    CHECK(wfre_graph_builder_triple(builder, c->job->split, head, relation, tail, error));
    return c->graph == WFRE_NONE
               ? WFRE_OK
               : wfre_quads_add(&builder->named, c->graph, head, relation / 2, tail, error);
}

static wfre_status add_attribute(context *c, const wfre_rdf_value *triple, wfre_error *error)
{
    wfre_attributes *attributes = &c->job->builder->attributes;
    uint32_t terms[WFRE_RDF_PLACES];
    for (int place = 0; place < WFRE_RDF_PLACES; place++)
        CHECK(wfre_attributes_term(attributes, &triple[place], &terms[place], error));
    CHECK(wfre_attributes_add(attributes, terms[WFRE_RDF_S], terms[WFRE_RDF_P], terms[WFRE_RDF_O],
                              error));
    return c->graph == WFRE_NONE ? WFRE_OK
                                 : wfre_quads_add(&attributes->named, c->graph, terms[WFRE_RDF_S],
                                                  terms[WFRE_RDF_P], terms[WFRE_RDF_O], error);
}

/* ---- statements --------------------------------------------------------------------------- */

/* Puts the file's number before the label of a blank node. */
static wfre_status tell_apart(const context *c, wfre_rdf_value *value, wfre_text *label,
                              wfre_error *error)
{
    if (value->kind != WFRE_RDF_BLANK || c->blank_prefix[0] == '\0')
        return WFRE_OK;
    wfre_text_clear(label);
    wfre_text_add(label, c->blank_prefix);
    wfre_text_append(label, value->text.bytes, value->text.length);
    value->text = (wfre_name){label->data, label->length};
    return wfre_text_status(label, "reading RDF", error);
}

static wfre_status place_statement(context *c, const wfre_rdf_value *triple, wfre_error *error)
{
    bool literal = triple[WFRE_RDF_O].kind == WFRE_RDF_LITERAL;
    bool blank =
        triple[WFRE_RDF_S].kind == WFRE_RDF_BLANK || triple[WFRE_RDF_O].kind == WFRE_RDF_BLANK;
    const wfre_import_options *options = c->job->options;
    if (!literal && !blank)
        return add_edge(c, triple, error);
    if (options->literals == WFRE_LITERALS_ATTRIBUTES ||
        (literal && wfre_import_is_label(options, triple[WFRE_RDF_P].text)))
        return add_attribute(c, triple, error);
    if (options->literals == WFRE_LITERALS_ENTITIES)
        return add_edge(c, triple, error);
    *(literal ? &c->job->report->literals : &c->job->report->blanks) += 1;
    return WFRE_OK;
}

/* The named graph of a statement; "" is the default graph of a source that may have others. Those
 * that are named by blank nodes cannot be asked for: they are counted, and become part of it. */
static wfre_status find_graph(context *c, const wfre_rdf_value *graph, wfre_error *error)
{
    c->graph = c->home;
    if (graph && graph->kind == WFRE_RDF_IRI)
        return wfre_strings_intern(&c->job->builder->graphs, graph->text.bytes, graph->text.length,
                                   &c->graph, error);
    c->job->report->named += graph != NULL;
    if (!c->quads)
        return WFRE_OK;
    return wfre_strings_intern(&c->job->builder->graphs, "", 0, &c->graph, error);
}

static wfre_status on_statement(void *handle, const wfre_rdf_value given[WFRE_RDF_PLACES],
                                const wfre_rdf_value *graph, wfre_error *error)
{
    context *c = handle;
    wfre_rdf_value triple[WFRE_RDF_PLACES] = {given[0], given[1], given[2]};
    wfre_text labels[2] = {{0}};
    wfre_status status;
    TRY(wfre_import_tick(c->job, error));
    TRY(find_graph(c, graph, error));
    TRY(tell_apart(c, &triple[WFRE_RDF_S], &labels[0], error));
    TRY(tell_apart(c, &triple[WFRE_RDF_O], &labels[1], error));
    TRY(place_statement(c, triple, error));
cleanup:
    wfre_text_free(&labels[0]);
    wfre_text_free(&labels[1]);
    return status;
}

static wfre_status on_prefix(void *handle, wfre_name prefix, wfre_name iri, wfre_error *error)
{
    const context *c = handle;
    return wfre_graph_builder_prefix(c->job->builder, prefix, iri, error);
}

/* ---- reading ------------------------------------------------------------------------------ */

static wfre_status read_rdf(wfre_import_job *job, const char *path, wfre_rdf_syntax syntax,
                            wfre_error *error)
{
    context c = {.job = job,
                 .home = WFRE_NONE,
                 .quads = syntax == WFRE_RDF_NQUADS || syntax == WFRE_RDF_TRIG};
    const char *base =
        job->options->graphs ? job->options->graphs[job->source] : job->options->base;
    const wfre_rdf_sink sink = {.statement = on_statement, .prefix = on_prefix, .context = &c};
    wfre_reader *reader = NULL;
    wfre_status status;
    if (job->sources > 1)
        (void)snprintf(c.blank_prefix, sizeof c.blank_prefix, "s%u_", job->files++);
    job->rdf = true;
    job->builder->rdf_names |= job->options->literals == WFRE_LITERALS_ENTITIES;
    if (job->options->graphs)
        TRY(wfre_strings_intern(&job->builder->graphs, base, strlen(base), &c.home, error));
    TRY(wfre_reader_open(path, &reader, error));
    TRY(wfre_rdf_read(reader, syntax, base, &sink, error));
cleanup:
    wfre_text_free(&c.scratch);
    wfre_reader_close(reader);
    return status;
}

static const char *const ENDINGS[][4] = {
    [WFRE_RDF_NTRIPLES] = {".nt", ".ntriples", NULL},
    [WFRE_RDF_NQUADS] = {".nq", ".nquads", NULL},
    [WFRE_RDF_TURTLE] = {".ttl", ".turtle", ".n3", NULL},
    [WFRE_RDF_TRIG] = {".trig", NULL},
};
enum { SYNTAXES = sizeof ENDINGS / sizeof ENDINGS[0] };

static bool recognises(const char *path, wfre_rdf_syntax syntax)
{
    return wfre_import_ends_in(path, ENDINGS[syntax]) && !wfre_is_folder(path);
}

static bool recognises_nt(const char *path)
{
    return recognises(path, WFRE_RDF_NTRIPLES);
}

static bool recognises_ttl(const char *path)
{
    return recognises(path, WFRE_RDF_TURTLE);
}

static bool recognises_nq(const char *path)
{
    return recognises(path, WFRE_RDF_NQUADS);
}

static bool recognises_trig(const char *path)
{
    return recognises(path, WFRE_RDF_TRIG);
}

static wfre_status read_nt(wfre_import_job *job, const char *path, wfre_error *error)
{
    return read_rdf(job, path, WFRE_RDF_NTRIPLES, error);
}

static wfre_status read_ttl(wfre_import_job *job, const char *path, wfre_error *error)
{
    return read_rdf(job, path, WFRE_RDF_TURTLE, error);
}

static wfre_status read_nq(wfre_import_job *job, const char *path, wfre_error *error)
{
    return read_rdf(job, path, WFRE_RDF_NQUADS, error);
}

static wfre_status read_trig(wfre_import_job *job, const char *path, wfre_error *error)
{
    return read_rdf(job, path, WFRE_RDF_TRIG, error);
}

const wfre_importer wfre_importer_nt = {
    .name = "nt",
    .about = "RDF N-Triples (.nt)",
    .recognises = recognises_nt,
    .read = read_nt,
};

const wfre_importer wfre_importer_ttl = {
    .name = "ttl",
    .about = "RDF Turtle (.ttl)",
    .recognises = recognises_ttl,
    .read = read_ttl,
};

const wfre_importer wfre_importer_nq = {
    .name = "nq",
    .about = "RDF N-Quads (.nq), with its named graphs",
    .recognises = recognises_nq,
    .read = read_nq,
};

const wfre_importer wfre_importer_trig = {
    .name = "trig",
    .about = "RDF TriG (.trig), with its named graphs",
    .recognises = recognises_trig,
    .read = read_trig,
};
