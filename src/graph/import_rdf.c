/* RDF: N-Triples and Turtle, read by serd.
 *
 * An IRI is an entity's or relation's name; its label is the rdfs:label (English before others)
 * or else the local name behind the last '#' or '/'. Statements with literals or blank nodes are
 * counted and left out unless options.literals keeps them: a literal is then named as N-Triples
 * writes it and shown as its text, a blank node is named _:id. rdfs:label itself makes no edges. */
#include <serd/serd.h>
#include <string.h>

#include "base/text.h"
#include "graph/builder.h"
#include "graph/import.h"

#define RDFS_LABEL "http://www.w3.org/2000/01/rdf-schema#label"

/* serd keeps a statement in memory and recurses into brackets; these bound both. */
enum { STATEMENT_LIMIT = 1 << 24, NESTING_LIMIT = 200, PAGE = 1 << 16 };

typedef struct context {
    wfre_import_job *job;
    wfre_reader *reader;
    SerdEnv *prefixes;
    wfre_text scratch;
    uint64_t since_statement; /* bytes read since the last statement */
    uint64_t statements;
    int nesting;
    int lists;          /* of them */
    wfre_status status; /* the first failure; serd only learns that there was one */
    wfre_error *error;
} context;

/* ---- input and errors --------------------------------------------------------------------- */

static SerdStatus stop(context *c, wfre_status status)
{
    if (c->status == WFRE_OK)
        c->status = status;
    return SERD_ERR_INTERNAL;
}

static size_t read_page(void *page, size_t size, size_t count, void *handle)
{
    context *c = handle;
    size_t got = 0;
    if (c->status != WFRE_OK)
        return 0;
    c->since_statement += size * count;
    if (c->since_statement > STATEMENT_LIMIT) {
        (void)stop(c, wfre_fail(c->error, WFRE_ERR_FORMAT, WFRE_NO_OFFSET,
                                "%s: a statement longer than %d bytes; is this RDF text?",
                                wfre_reader_name(c->reader), STATEMENT_LIMIT));
        return 0;
    }
    wfre_status status = wfre_reader_read(c->reader, page, size * count, &got, c->error);
    if (status != WFRE_OK)
        (void)stop(c, status);
    return got;
}

static int read_failed(void *handle)
{
    return ((context *)handle)->status != WFRE_OK;
}

/* serd's own message, with the place; only the first one counts. */
static SerdStatus on_error(void *handle, const SerdError *problem)
{
    context *c = handle;
    if (c->status != WFRE_OK)
        return SERD_SUCCESS;
    char message[400];
    (void)vsnprintf(message, sizeof message, problem->fmt, *problem->args);
    message[strcspn(message, "\n")] = '\0';
    (void)stop(c, wfre_fail(c->error, WFRE_ERR_FORMAT, WFRE_NO_OFFSET, "%s:%u:%u: %s",
                            wfre_reader_name(c->reader), problem->line, problem->col, message));
    return SERD_SUCCESS;
}

/* ---- names -------------------------------------------------------------------------------- */

/* What comes behind the last '#' or '/', or all of it. */
static wfre_name local_name(wfre_name iri)
{
    for (size_t i = iri.length; i-- > 0;)
        if (iri.bytes[i] == '#' || iri.bytes[i] == '/')
            return i + 1 < iri.length ? (wfre_name){iri.bytes + i + 1, iri.length - i - 1} : iri;
    return iri;
}

/* Appends the full IRI of a URI or prefixed name to the scratch text; false if its prefix is
 * unknown. */
static bool append_iri(context *c, const SerdNode *node)
{
    if (node->type == SERD_URI && serd_uri_string_has_scheme(node->buf)) {
        wfre_text_append(&c->scratch, (const char *)node->buf, node->n_bytes);
        return true;
    }
    SerdNode full = serd_env_expand_node(c->prefixes, node);
    if (!full.buf)
        return false;
    wfre_text_append(&c->scratch, (const char *)full.buf, full.n_bytes);
    serd_node_free(&full);
    return true;
}

/* A literal as N-Triples writes it, but for escapes: its text as it is. */
static bool append_literal(context *c, const SerdNode *node, const SerdNode *datatype,
                           const SerdNode *language)
{
    wfre_text_char(&c->scratch, '"');
    wfre_text_append(&c->scratch, (const char *)node->buf, node->n_bytes);
    wfre_text_char(&c->scratch, '"');
    if (language && language->buf) {
        wfre_text_char(&c->scratch, '@');
        wfre_text_append(&c->scratch, (const char *)language->buf, language->n_bytes);
    } else if (datatype && datatype->buf) {
        wfre_text_add(&c->scratch, "^^<");
        if (!append_iri(c, datatype))
            return false;
        wfre_text_char(&c->scratch, '>');
    }
    return true;
}

/* The name of a node, in the scratch text until the next call. */
static wfre_status node_name(context *c, const SerdNode *node, const SerdNode *datatype,
                             const SerdNode *language, wfre_name *name)
{
    wfre_text_clear(&c->scratch);
    bool known = true;
    if (node->type == SERD_LITERAL) {
        known = append_literal(c, node, datatype, language);
    } else if (node->type == SERD_BLANK) {
        wfre_text_add(&c->scratch, "_:");
        wfre_text_append(&c->scratch, (const char *)node->buf, node->n_bytes);
    } else {
        known = append_iri(c, node);
    }
    if (c->scratch.failed)
        return wfre_fail_memory(c->error, "reading RDF");
    if (!known || c->scratch.length == 0)
        return wfre_fail(c->error, WFRE_ERR_FORMAT, WFRE_NO_OFFSET,
                         "%s: statement %llu: '%.*s' has a prefix that was not declared before",
                         wfre_reader_name(c->reader), (unsigned long long)c->statements,
                         (int)(node->n_bytes < 200 ? node->n_bytes : 200), (const char *)node->buf);
    if (memchr(c->scratch.data, '\0', c->scratch.length))
        return wfre_fail(c->error, WFRE_ERR_FORMAT, WFRE_NO_OFFSET,
                         "%s: statement %llu: a name with a NUL in it", wfre_reader_name(c->reader),
                         (unsigned long long)c->statements);
    *name = (wfre_name){c->scratch.data, c->scratch.length};
    return WFRE_OK;
}

/* ---- labels ------------------------------------------------------------------------------- */

/* English before plain before other languages; among equals the first one stays. */
static char rank_language(const SerdNode *language)
{
    if (!language || !language->buf)
        return '2';
    const char *tag = (const char *)language->buf; /* such as en, en-GB; enm is another language */
    return strncmp(tag, "en", 2) == 0 && (tag[2] == '\0' || tag[2] == '-') ? '3' : '1';
}

/* Labels wait until all sources are read, for what they name may come later or never. Each waits
 * behind its rank. */
static wfre_status remember_label(context *c, wfre_name subject, const SerdNode *label,
                                  const SerdNode *language)
{
    wfre_import_pending *pending = &c->job->pending;
    uint32_t index;
    wfre_status status =
        wfre_strings_intern(&pending->subjects, subject.bytes, subject.length, &index, c->error);
    if (status != WFRE_OK)
        return status;
    wfre_name held = wfre_notes_get(&pending->labels, index);
    char rank = rank_language(language);
    if (label->n_bytes == 0 || (held.length > 0 && held.bytes[0] >= rank))
        return WFRE_OK;
    wfre_text_clear(&c->scratch);
    wfre_text_char(&c->scratch, rank);
    wfre_text_append(&c->scratch, (const char *)label->buf, label->n_bytes);
    status = wfre_text_status(&c->scratch, "reading labels", c->error);
    if (status != WFRE_OK)
        return status;
    return wfre_notes_set(&pending->labels, index, c->scratch.data, c->scratch.length, c->error);
}

static wfre_status finish_labels(wfre_import_job *job, wfre_error *error)
{
    wfre_graph_builder *builder = job->builder;
    wfre_status status = WFRE_OK;
    for (uint32_t i = 0; i < job->pending.subjects.count; i++) {
        size_t length;
        const char *name = wfre_strings_get(&job->pending.subjects, i, &length);
        wfre_name label = wfre_notes_get(&job->pending.labels, i);
        uint32_t entity = wfre_strings_find(&builder->entities, name, length);
        uint32_t pair = wfre_strings_find(&builder->relations, name, length);
        if (label.length == 0)
            continue;
        if (entity != WFRE_NONE)
            TRY(wfre_graph_builder_label(builder, entity, label.bytes + 1, label.length - 1,
                                         error));
        if (pair != WFRE_NONE)
            TRY(wfre_graph_builder_relation_label(builder, 2 * pair, label.bytes + 1,
                                                  label.length - 1, error));
    }
cleanup:
    return status;
}

/* ---- statements --------------------------------------------------------------------------- */

static wfre_status entity_of(context *c, const SerdNode *node, const SerdNode *datatype,
                             const SerdNode *language, wfre_entity *entity)
{
    wfre_name name;
    wfre_graph_builder *builder = c->job->builder;
    wfre_status status = node_name(c, node, datatype, language, &name);
    if (status != WFRE_OK)
        return status;
    uint32_t known = builder->entities.count;
    status = wfre_graph_builder_entity(builder, name.bytes, name.length, entity, c->error);
    if (status != WFRE_OK || *entity < known || node->type == SERD_BLANK)
        return status;
    wfre_name label = node->type == SERD_LITERAL
                          ? (wfre_name){(const char *)node->buf, node->n_bytes}
                          : local_name(name);
    if (label.length == name.length)
        return WFRE_OK;
    return wfre_graph_builder_label(builder, *entity, label.bytes, label.length, c->error);
}

static wfre_status relation_of(context *c, wfre_name name, wfre_relation *relation)
{
    wfre_graph_builder *builder = c->job->builder;
    uint32_t known = builder->relations.count;
    wfre_status status =
        wfre_graph_builder_relation(builder, name.bytes, name.length, relation, c->error);
    wfre_name label = local_name(name);
    if (status != WFRE_OK || *relation / 2 < known || label.length == name.length)
        return status;
    return wfre_graph_builder_relation_label(builder, *relation, label.bytes, label.length,
                                             c->error);
}

static bool equals(wfre_name name, const char *text)
{
    return name.length == strlen(text) && memcmp(name.bytes, text, name.length) == 0;
}

static wfre_status add_term(context *c, const SerdNode *node, const SerdNode *datatype,
                            const SerdNode *language, uint32_t *term)
{
    wfre_name name;
    wfre_rdf_value value = {.kind = WFRE_RDF_IRI};
    wfre_status status;
    wfre_text type = {0};
    if (node->type == SERD_LITERAL) {
        value = (wfre_rdf_value){.kind = WFRE_RDF_LITERAL,
                                 .text = {(const char *)node->buf, node->n_bytes}};
        if (language && language->buf)
            value.language = (wfre_name){(const char *)language->buf, language->n_bytes};
        if (datatype && datatype->buf) {
            TRY(node_name(c, datatype, NULL, NULL, &name));
            wfre_text_append(&type, name.bytes, name.length);
            value.datatype = (wfre_name){type.data, type.length};
        }
    } else {
        TRY(node_name(c, node, NULL, NULL, &name));
        value.kind = node->type == SERD_BLANK ? WFRE_RDF_BLANK : WFRE_RDF_IRI;
        value.text = name;
    }
    TRY(wfre_attributes_term(&c->job->builder->attributes, &value, term, c->error));
cleanup:
    wfre_text_free(&type);
    return status;
}

static wfre_status add_attribute(context *c, const SerdNode *subject, const SerdNode *predicate,
                                 const SerdNode *object, const SerdNode *datatype,
                                 const SerdNode *language)
{
    uint32_t s, p, o;
    wfre_status status;
    TRY(add_term(c, subject, NULL, NULL, &s));
    TRY(add_term(c, predicate, NULL, NULL, &p));
    TRY(add_term(c, object, datatype, language, &o));
    TRY(wfre_attributes_add(&c->job->builder->attributes, s, p, o, c->error));
cleanup:
    return status;
}

static wfre_status add_statement(context *c, const SerdNode *subject, const SerdNode *predicate,
                                 const SerdNode *object, const SerdNode *datatype,
                                 const SerdNode *language)
{
    bool blank = subject->type == SERD_BLANK || object->type == SERD_BLANK;
    bool literal = object->type == SERD_LITERAL, keep = c->job->options->literals;
    wfre_entity head, tail;
    wfre_relation relation;
    wfre_name name;
    wfre_status status;
    TRY(node_name(c, predicate, NULL, NULL, &name));
    if (equals(name, RDFS_LABEL) && literal) {
        TRY(node_name(c, subject, NULL, NULL, &name));
        TRY(remember_label(c, name, object, language));
    }
    if ((literal || blank) && !keep)
        return add_attribute(c, subject, predicate, object, datatype, language);
    TRY(node_name(c, predicate, NULL, NULL, &name));
    TRY(relation_of(c, name, &relation));
    TRY(entity_of(c, subject, NULL, NULL, &head));
    TRY(entity_of(c, object, datatype, language, &tail));
    TRY(wfre_graph_builder_triple(c->job->builder, c->job->split, head, relation, tail, c->error));
cleanup:
    return status;
}

/* ---- serd's events ------------------------------------------------------------------------ */

static SerdStatus on_base(void *handle, const SerdNode *uri)
{
    return serd_env_set_base_uri(((context *)handle)->prefixes, uri);
}

static SerdStatus on_prefix(void *handle, const SerdNode *name, const SerdNode *uri)
{
    context *c = handle;
    c->since_statement = 0;
    return serd_env_set_prefix(c->prefixes, name, uri);
}

static SerdStatus on_end(void *handle, const SerdNode *node)
{
    (void)node;
    ((context *)handle)->nesting--;
    return SERD_SUCCESS;
}

/* Whether the statement is what serd makes of a list's closing bracket. */
static bool ends_list(const SerdNode *predicate, const SerdNode *object)
{
    static const char rest[] = "http://www.w3.org/1999/02/22-rdf-syntax-ns#rest";
    static const char nil[] = "http://www.w3.org/1999/02/22-rdf-syntax-ns#nil";
    return predicate->type == SERD_URI && object->type == SERD_URI &&
           strcmp((const char *)predicate->buf, rest) == 0 &&
           strcmp((const char *)object->buf, nil) == 0;
}

static SerdStatus on_statement(void *handle, SerdStatementFlags flags, const SerdNode *graph,
                               const SerdNode *subject, const SerdNode *predicate,
                               const SerdNode *object, const SerdNode *datatype,
                               const SerdNode *language)
{
    (void)graph;
    context *c = handle;
    const SerdStatementFlags opens =
        SERD_ANON_S_BEGIN | SERD_ANON_O_BEGIN | SERD_LIST_S_BEGIN | SERD_LIST_O_BEGIN;
    c->since_statement = 0;
    c->statements++;
    if (c->status != WFRE_OK)
        return SERD_ERR_INTERNAL;
    if (flags & opens && ++c->nesting > NESTING_LIMIT)
        return stop(c, wfre_fail(c->error, WFRE_ERR_FORMAT, WFRE_NO_OFFSET,
                                 "%s: brackets nested more than %d deep",
                                 wfre_reader_name(c->reader), NESTING_LIMIT));
    if (flags & (SERD_LIST_S_BEGIN | SERD_LIST_O_BEGIN))
        c->lists++;
    if (c->lists > 0 && ends_list(predicate, object)) {
        c->lists--;
        c->nesting--;
    }
    wfre_status status = wfre_import_tick(c->job, c->error);
    if (status == WFRE_OK)
        status = add_statement(c, subject, predicate, object, datatype, language);
    return status == WFRE_OK ? SERD_SUCCESS : stop(c, status);
}

/* ---- reading ------------------------------------------------------------------------------ */

static wfre_status run_serd(context *c, SerdReader *serd)
{
    char prefix[32];
    (void)snprintf(prefix, sizeof prefix, "s%u_", c->job->source);
    if (c->job->sources > 1) /* blank nodes of different files differ, whatever they are called */
        serd_reader_add_blank_prefix(serd, (const uint8_t *)prefix);
    serd_reader_set_strict(serd, true);
    serd_reader_set_error_sink(serd, on_error, c);
    SerdStatus status = serd_reader_start_source_stream(
        serd, read_page, read_failed, c, (const uint8_t *)wfre_reader_name(c->reader), PAGE);
    while (status == SERD_SUCCESS && c->status == WFRE_OK) {
        c->nesting = c->lists = 0;
        status = serd_reader_read_chunk(serd);
    }
    (void)serd_reader_end_stream(serd);
    if (c->status == WFRE_OK && status > SERD_FAILURE)
        return wfre_fail(c->error, WFRE_ERR_FORMAT, WFRE_NO_OFFSET, "%s: %s",
                         wfre_reader_name(c->reader), (const char *)serd_strerror(status));
    return c->status;
}

static wfre_status read_rdf(wfre_import_job *job, const char *path, SerdSyntax syntax,
                            wfre_error *error)
{
    context c = {.job = job, .error = error};
    SerdReader *serd = NULL;
    wfre_status status;
    TRY(wfre_reader_open(path, &c.reader, error));
    c.prefixes = serd_env_new(NULL);
    serd = serd_reader_new(syntax, &c, NULL, on_base, on_prefix, on_statement, on_end);
    if (!c.prefixes || !serd) {
        status = wfre_fail_memory(error, "starting to read RDF");
        goto cleanup;
    }
    TRY(run_serd(&c, serd));
cleanup:
    serd_reader_free(serd);
    serd_env_free(c.prefixes);
    wfre_text_free(&c.scratch);
    wfre_reader_close(c.reader);
    return status;
}

static bool recognises_nt(const char *path)
{
    static const char *const endings[] = {".nt", ".ntriples", NULL};
    return !wfre_is_folder(path) && wfre_import_ends_in(path, endings);
}

static bool recognises_ttl(const char *path)
{
    static const char *const endings[] = {".ttl", ".turtle", ".n3", NULL};
    return !wfre_is_folder(path) && wfre_import_ends_in(path, endings);
}

static wfre_status read_nt(wfre_import_job *job, const char *path, wfre_error *error)
{
    return read_rdf(job, path, SERD_NTRIPLES, error);
}

static wfre_status read_ttl(wfre_import_job *job, const char *path, wfre_error *error)
{
    return read_rdf(job, path, SERD_TURTLE, error);
}

const wfre_importer wfre_importer_nt = {
    .name = "nt",
    .about = "RDF N-Triples (.nt)",
    .recognises = recognises_nt,
    .read = read_nt,
    .finish = finish_labels,
};

const wfre_importer wfre_importer_ttl = {
    .name = "ttl",
    .about = "RDF Turtle (.ttl)",
    .recognises = recognises_ttl,
    .read = read_ttl,
    .finish = finish_labels,
};
