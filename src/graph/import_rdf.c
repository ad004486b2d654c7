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
    uint64_t bytes;           /* read of the file */
    bool ended;               /* serd was told of the end of the file */
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
    /* serd takes less than a page for the last one */
    for (size_t part = 1; part > 0 && got < size * count && c->status == WFRE_OK; got += part) {
        wfre_status status =
            wfre_reader_read(c->reader, (char *)page + got, size * count - got, &part, c->error);
        if (status != WFRE_OK)
            (void)stop(c, status);
    }
    /* and a NUL for the end of the file */
    const char *nul = got ? memchr(page, '\0', got) : NULL;
    if (nul) {
        uint64_t at = c->bytes + (uint64_t)(nul - (const char *)page);
        (void)stop(c, wfre_fail(c->error, WFRE_ERR_FORMAT, WFRE_NO_OFFSET,
                                "%s: a NUL byte at byte %llu; RDF is text",
                                wfre_reader_name(c->reader), (unsigned long long)at));
        return 0;
    }
    c->bytes += got;
    c->ended |= got < size * count;
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

/* Removes the segments "." and ".." of path[0 .. length), which begins with '/', as RFC 3986, 5.2.4
 * does; returns the new length. */
static size_t remove_dots(char *path, size_t length)
{
    size_t out = 0;
    for (size_t at = 0; at < length;) {
        const char *slash = memchr(path + at + 1, '/', length - at - 1);
        size_t end = slash ? (size_t)(slash - path) : length, segment = end - at - 1;
        bool one = segment == 1 && path[at + 1] == '.';
        bool two = segment == 2 && path[at + 1] == '.' && path[at + 2] == '.';
        if (two)
            while (out > 0 && path[--out] != '/') {
            }
        if (!one && !two) {
            memmove(path + out, path + at, end - at);
            out += end - at;
        } else if (end == length) {
            path[out++] = '/';
        }
        at = end;
    }
    return out;
}

/* The same for the path of an absolute IRI in a text, from `begin` to its end. */
static void clean_path(wfre_text *text, size_t begin)
{
    char *iri = text->data + begin;
    size_t length = text->length - begin, from = strcspn(iri, ":") + 1;
    if (from < length && strncmp(iri + from, "//", 2) == 0)
        from += 2 + strcspn(iri + from + 2, "/?#");
    if (from >= length || iri[from] != '/')
        return;
    size_t path = strcspn(iri + from, "?#"), kept = remove_dots(iri + from, path);
    memmove(iri + from + kept, iri + from + path, length - from - path + 1);
    text->length -= path - kept;
}

/* Appends the full IRI of a URI or prefixed name to the scratch text; false if its prefix is
 * unknown. serd leaves the dot segments that are not at the start of a relative IRI. */
static bool append_iri(context *c, const SerdNode *node)
{
    if (node->type == SERD_URI && serd_uri_string_has_scheme(node->buf)) {
        wfre_text_append(&c->scratch, (const char *)node->buf, node->n_bytes);
        return true;
    }
    SerdNode full = serd_env_expand_node(c->prefixes, node);
    if (!full.buf)
        return false;
    size_t begin = c->scratch.length;
    wfre_text_append(&c->scratch, (const char *)full.buf, full.n_bytes);
    serd_node_free(&full);
    bool has_path = node->type == SERD_URI && strcspn((const char *)node->buf, "?#") > 0;
    if (has_path && !c->scratch.failed)
        clean_path(&c->scratch, begin);
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

/* Escapes may hide what the file itself must not have: \u0000, and half of a surrogate pair. */
static wfre_status check_text(const context *c, wfre_name text)
{
    const char *what = memchr(text.bytes, '\0', text.length)       ? "a NUL"
                       : !wfre_utf8_valid(text.bytes, text.length) ? "half of a character"
                                                                   : NULL;
    if (!what)
        return WFRE_OK;
    return wfre_fail(c->error, WFRE_ERR_FORMAT, WFRE_NO_OFFSET,
                     "%s: statement %llu: text with %s in it, written as \\u",
                     wfre_reader_name(c->reader), (unsigned long long)c->statements, what);
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
    *name = (wfre_name){c->scratch.data, c->scratch.length};
    return check_text(c, *name);
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
    status = check_text(c, (wfre_name){(const char *)label->buf, label->n_bytes});
    if (status != WFRE_OK)
        return status;
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
    for (uint32_t i = 0; i < job->pending.subjects.count; i++) {
        size_t length;
        const char *name = wfre_strings_get(&job->pending.subjects, i, &length);
        wfre_name label = wfre_notes_get(&job->pending.labels, i);
        uint32_t entity = wfre_strings_find(&builder->entities, name, length);
        uint32_t pair = wfre_strings_find(&builder->relations, name, length);
        if (label.length == 0)
            continue;
        if (entity != WFRE_NONE)
            CHECK(wfre_graph_builder_label(builder, entity, label.bytes + 1, label.length - 1,
                                           error));
        if (pair != WFRE_NONE)
            CHECK(wfre_graph_builder_relation_label(builder, 2 * pair, label.bytes + 1,
                                                    label.length - 1, error));
    }
    return WFRE_OK;
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

static wfre_status add_statement(context *c, const SerdNode *subject, const SerdNode *predicate,
                                 const SerdNode *object, const SerdNode *datatype,
                                 const SerdNode *language)
{
    bool blank = subject->type == SERD_BLANK || object->type == SERD_BLANK;
    bool literal = object->type == SERD_LITERAL, keep = c->job->options->literals;
    wfre_entity head, tail;
    wfre_relation relation;
    wfre_name name;
    if (blank && !keep) {
        c->job->report->blanks++;
        return WFRE_OK;
    }
    CHECK(node_name(c, predicate, NULL, NULL, &name));
    if (equals(name, RDFS_LABEL)) {
        if (!literal)
            return WFRE_OK;
        CHECK(node_name(c, subject, NULL, NULL, &name));
        return remember_label(c, name, object, language);
    }
    if (literal && !keep) {
        c->job->report->literals++;
        return WFRE_OK;
    }
    CHECK(relation_of(c, name, &relation));
    CHECK(entity_of(c, subject, NULL, NULL, &head));
    CHECK(entity_of(c, object, datatype, language, &tail));
    return wfre_graph_builder_triple(c->job->builder, c->job->split, head, relation, tail,
                                     c->error);
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
    wfre_text_clear(&c->scratch);
    if (!append_iri(c, uri) || c->scratch.failed) /* serd's words for it */
        return serd_env_set_prefix(c->prefixes, name, uri);
    SerdNode full = serd_node_from_string(SERD_URI, (const uint8_t *)c->scratch.data);
    return serd_env_set_prefix(c->prefixes, name, &full);
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
    if (c->status == WFRE_OK && !c->ended)
        return wfre_fail(c->error, WFRE_ERR_FORMAT, WFRE_NO_OFFSET,
                         "%s: statement %llu is followed by something that is none",
                         wfre_reader_name(c->reader), (unsigned long long)c->statements);
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
