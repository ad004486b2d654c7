/* Writing RDF, and exporting a graph. */
#include "graph/rdf_write.h"

#include <string.h>

#include "base/file.h"
#include "base/memory.h"
#include "graph/import.h"

#define XSD "http://www.w3.org/2001/XMLSchema#"

enum { FLUSH_AT = 1 << 16 };

/* ---- terms -------------------------------------------------------------------------------- */

static void append_string(wfre_text *text, wfre_name string)
{
    static const char special[] = "\t\b\n\r\f\"\\", letters[] = "tbnrf\"\\";
    size_t begin = 0;
    wfre_text_char(text, '"');
    for (size_t i = 0; i < string.length; i++) {
        char c = string.bytes[i];
        const char *found = c != '\0' ? strchr(special, c) : NULL;
        if (!found && (unsigned char)c >= ' ' && c != '\x7F')
            continue;
        wfre_text_append(text, string.bytes + begin, i - begin);
        if (found)
            wfre_text_format(text, "\\%c", letters[found - special]);
        else
            wfre_text_format(text, "\\u%04X", (unsigned)(unsigned char)c);
        begin = i + 1;
    }
    wfre_text_append(text, string.bytes + begin, string.length - begin);
    wfre_text_char(text, '"');
}

static bool equals(wfre_name name, const char *text)
{
    return name.length == strlen(text) && memcmp(name.bytes, text, name.length) == 0;
}

/* IRIs may have what <...> must not: only of names that another program put into a snapshot. */
static void append_iri(wfre_text *text, wfre_name iri)
{
    wfre_text_char(text, '<');
    for (size_t i = 0; i < iri.length; i++) {
        char c = iri.bytes[i];
        if ((unsigned char)c <= ' ' || strchr("<>\"{}|^`\\", c))
            wfre_text_format(text, "%%%02X", (unsigned)(unsigned char)c);
        else
            wfre_text_char(text, c);
    }
    wfre_text_char(text, '>');
}

/* A literal with its datatype written by `iri`. */
static void append_literal(wfre_text *text, const wfre_rdf_value *value)
{
    append_string(text, value->text);
    if (value->language.length > 0) {
        wfre_text_char(text, '@');
        wfre_text_append(text, value->language.bytes, value->language.length);
    }
}

static bool has_datatype(const wfre_rdf_value *value)
{
    return value->language.length == 0 && value->datatype.length > 0 &&
           !equals(value->datatype, XSD "string");
}

void wfre_rdf_append(wfre_text *text, const wfre_rdf_value *value)
{
    switch (value->kind) {
    case WFRE_RDF_IRI:
        append_iri(text, value->text);
        return;
    case WFRE_RDF_BLANK:
        wfre_text_add(text, "_:");
        wfre_text_append(text, value->text.bytes, value->text.length);
        return;
    case WFRE_RDF_LITERAL:
        append_literal(text, value);
        if (has_datatype(value)) {
            wfre_text_add(text, "^^");
            append_iri(text, value->datatype);
        }
    }
}

/* ---- Turtle ------------------------------------------------------------------------------- */

/* Whether a text needs no escapes as the local part of a prefixed name. */
static bool is_plain_local(const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        char c = text[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
        bool later = (c >= '0' && c <= '9') || c == '-';
        if (!letter && !(c >= '0' && c <= '9') && !(later && i > 0))
            return false;
    }
    return length > 0;
}

/* The IRI with the longest prefix that leaves a plain local name, else in brackets. */
static void append_short_iri(wfre_rdf_output *output, wfre_text *text, wfre_name iri)
{
    wfre_name prefix, start, best = {NULL, 0};
    size_t longest = 0;
    for (size_t i = 0; output->graph && wfre_graph_prefix(output->graph, i, &prefix, &start); i++)
        if (start.length > longest && start.length < iri.length &&
            memcmp(start.bytes, iri.bytes, start.length) == 0 &&
            is_plain_local(iri.bytes + start.length, iri.length - start.length)) {
            best = prefix;
            longest = start.length;
        }
    if (longest == 0) {
        append_iri(text, iri);
        return;
    }
    wfre_text_append(text, best.bytes, best.length);
    wfre_text_char(text, ':');
    wfre_text_append(text, iri.bytes + longest, iri.length - longest);
}

static void append_short(wfre_rdf_output *output, wfre_text *text, const wfre_rdf_value *value)
{
    if (value->kind == WFRE_RDF_IRI) {
        append_short_iri(output, text, value->text);
    } else if (value->kind == WFRE_RDF_LITERAL && has_datatype(value)) {
        append_literal(text, value);
        wfre_text_add(text, "^^");
        append_short_iri(output, text, value->datatype);
    } else {
        wfre_rdf_append(text, value);
    }
}

/* Whether the text is what was remembered; remembers it. */
static bool same_again(wfre_text *kept, const wfre_text *text)
{
    bool same = kept->length == text->length && kept->length > 0 &&
                memcmp(kept->data, text->data, text->length) == 0;
    if (same)
        return true;
    wfre_text_clear(kept);
    wfre_text_append(kept, text->data, text->length);
    return false;
}

static void write_turtle(wfre_rdf_output *output, const wfre_rdf_value *triple)
{
    wfre_text *text = output->text, *scratch = &output->scratch;
    bool first = output->subject.length == 0;
    wfre_text_clear(scratch);
    append_short(output, scratch, &triple[WFRE_RDF_S]);
    bool same_subject = same_again(&output->subject, scratch);
    if (!same_subject) {
        wfre_text_add(text, first ? "" : " .\n");
        wfre_text_append(text, scratch->data, scratch->length);
    }
    wfre_text_clear(scratch);
    append_short(output, scratch, &triple[WFRE_RDF_P]);
    bool same_predicate = same_again(&output->predicate, scratch) && same_subject;
    if (!same_predicate) {
        wfre_text_add(text, same_subject ? " ;\n    " : " ");
        wfre_text_append(text, scratch->data, scratch->length);
    }
    wfre_text_add(text, same_predicate ? ", " : " ");
    append_short(output, text, &triple[WFRE_RDF_O]);
}

/* ---- graphs ------------------------------------------------------------------------------- */

void wfre_rdf_output_begin(wfre_rdf_output *output)
{
    wfre_name prefix, iri;
    if (!output->turtle || !output->graph)
        return;
    for (size_t i = 0; wfre_graph_prefix(output->graph, i, &prefix, &iri); i++) {
        wfre_text_add(output->text, "@prefix ");
        wfre_text_append(output->text, prefix.bytes, prefix.length);
        wfre_text_add(output->text, ": ");
        append_iri(output->text, iri);
        wfre_text_add(output->text, " .\n");
    }
}

void wfre_rdf_output_triple(wfre_rdf_output *output, const wfre_rdf_value triple[WFRE_RDF_PLACES])
{
    if (output->turtle) {
        write_turtle(output, triple);
        return;
    }
    for (int place = 0; place < WFRE_RDF_PLACES; place++) {
        wfre_rdf_append(output->text, &triple[place]);
        wfre_text_char(output->text, ' ');
    }
    if (output->named.length > 0) {
        append_iri(output->text, output->named);
        wfre_text_char(output->text, ' ');
    }
    wfre_text_add(output->text, ".\n");
}

void wfre_rdf_output_end(wfre_rdf_output *output)
{
    if (output->turtle && output->subject.length > 0)
        wfre_text_add(output->text, " .\n");
    output->text->failed |=
        output->subject.failed || output->predicate.failed || output->scratch.failed;
    wfre_text_free(&output->subject);
    wfre_text_free(&output->predicate);
    wfre_text_free(&output->scratch);
}

/* ---- export ------------------------------------------------------------------------------- */

typedef struct export
{
    wfre_rdf *rdf;
    wfre_rdf_scan scan;
    wfre_rdf_output output;
    wfre_text text, scratch[WFRE_RDF_PLACES];
    wfre_writer writer;
    uint64_t written;
}
export;

static wfre_status flush(export *e, size_t least, wfre_error *error)
{
    CHECK(wfre_text_status(&e->text, "writing RDF", error));
    if (e->text.length < least || e->text.length == 0)
        return WFRE_OK;
    CHECK(wfre_writer_put(&e->writer, e->text.data, e->text.length, error));
    wfre_text_clear(&e->text);
    return WFRE_OK;
}

/* The triples of a view, but for those of `without` (or NULL). */
static wfre_status write_triples(export *e, const wfre_rdf *view, const wfre_rdf *without,
                                 const wfre_monitor *monitor, wfre_error *error)
{
    const wfre_rdf_triple all = {{WFRE_NONE, WFRE_NONE, WFRE_NONE}};
    uint64_t total = wfre_rdf_triples(e->rdf), done = 0;
    wfre_rdf_triple triple;
    CHECK(wfre_rdf_scan_open(&e->scan, view, &all, WFRE_RDF_SPO, error));
    while (wfre_rdf_scan_next(&e->scan, &triple)) {
        wfre_rdf_value values[WFRE_RDF_PLACES];
        if (without && wfre_rdf_has(without, &triple))
            continue;
        for (int place = 0; place < WFRE_RDF_PLACES; place++)
            CHECK(
                wfre_rdf_get(e->rdf, triple.at[place], &e->scratch[place], &values[place], error));
        wfre_rdf_output_triple(&e->output, values);
        e->written++;
        CHECK(flush(e, FLUSH_AT, error));
        if (++done % 65536 == 0) {
            wfre_report(monitor, "exporting", done, total, NULL);
            CHECK(wfre_check_interrupt(monitor, error));
        }
    }
    return WFRE_OK;
}

/* Each named graph, then the default one: as it was, or if that is not known, what is in no other.
 */
static wfre_status write_quads(export *e, const wfre_monitor *monitor, wfre_error *error)
{
    size_t count = wfre_rdf_named_count(e->rdf);
    size_t *graphs = wfre_alloc(count + 1, sizeof *graphs);
    wfre_rdf *named = NULL, *own = NULL;
    wfre_status status = WFRE_OK;
    if (!graphs)
        return wfre_fail_memory(error, "writing RDF");
    for (size_t i = 0; i < count; i++) {
        const wfre_rdf *view;
        graphs[i] = i;
        e->output.named = wfre_rdf_named_iri(e->rdf, i);
        TRY(wfre_rdf_named_view(e->rdf, i, &view, error));
        TRY(write_triples(e, view, NULL, monitor, error));
    }
    e->output.named = (wfre_name){NULL, 0};
    TRY(wfre_rdf_own_default(e->rdf, &own, error));
    if (!own)
        TRY(wfre_rdf_merge(e->rdf, graphs, count, &named, error));
    TRY(write_triples(e, own ? own : e->rdf, named, monitor, error));
cleanup:
    wfre_rdf_close(own);
    wfre_rdf_close(named);
    wfre_free(graphs);
    return status;
}

typedef enum syntax { NTRIPLES, TURTLE, NQUADS, SYNTAXES } syntax;

static wfre_status choose_syntax(const char *path, const char *format, syntax *chosen,
                                 wfre_error *error)
{
    static const char *const NAMES[SYNTAXES] = {"nt", "ttl", "nq"};
    static const char *const ENDINGS[SYNTAXES][3] = {
        {".nt", ".ntriples", NULL}, {".ttl", ".turtle", NULL}, {".nq", ".nquads", NULL}};
    for (int i = 0; i < SYNTAXES; i++)
        if (format ? strcmp(format, NAMES[i]) == 0 : wfre_import_ends_in(path, ENDINGS[i])) {
            *chosen = (syntax)i;
            return WFRE_OK;
        }
    return wfre_fail(error, WFRE_ERR_ARGUMENT, WFRE_NO_OFFSET,
                     format ? "%s: unknown format '%s'; graphs are written as nt, ttl or nq"
                            : "%s: graphs are written as N-Triples (.nt), Turtle (.ttl) or "
                              "N-Quads (.nq)",
                     path, format);
}

wfre_status wfre_graph_export(const wfre_graph *graph, wfre_split split, const char *path,
                              const char *format, const wfre_monitor *monitor, uint64_t *triples,
                              wfre_error *error)
{
    GIVEN(graph);
    GIVEN(path);
    GIVEN(triples);
    export e = {.output = {.text = &e.text, .graph = graph}};
    wfre_status status;
    syntax as = NTRIPLES;
    TRY(choose_syntax(path, format, &as, error));
    e.output.turtle = as == TURTLE;
    TRY(wfre_rdf_open(graph, split, &e.rdf, error));
    TRY(wfre_writer_open(&e.writer, path, error));
    wfre_rdf_output_begin(&e.output);
    TRY(as == NQUADS ? write_quads(&e, monitor, error)
                     : write_triples(&e, e.rdf, NULL, monitor, error));
    wfre_rdf_output_end(&e.output);
    TRY(flush(&e, 0, error));
    TRY(wfre_graph_sound(graph, error));
    TRY(wfre_writer_commit(&e.writer, error));
    *triples = e.written;
cleanup:
    wfre_rdf_output_end(&e.output);
    wfre_writer_discard(&e.writer);
    wfre_rdf_scan_free(&e.scan);
    wfre_rdf_close(e.rdf);
    wfre_text_free(&e.text);
    for (int place = 0; place < WFRE_RDF_PLACES; place++)
        wfre_text_free(&e.scratch[place]);
    return status;
}
