/* Results as text: the SPARQL 1.1 formats for solutions, N-Triples and Turtle for graphs, and a
 * table for people. */
#include <string.h>
#include <strings.h>

#include "base/memory.h"
#include "base/text.h"
#include "graph/rdf.h"
#include "sparql/syntax.h"
#include "wfre/sparql.h"

enum { PIECE = 1 << 15, SAMPLE_ROWS = 1000 };

typedef struct printer {
    const wfre_sparql *query;
    const wfre_rdf_view *view;
    wfre_sparql_format format;
    const wfre_sparql_output *output;
    wfre_text text;
    uint64_t rows;
    wfre_text subject; /* Turtle: of the triple before */
    wfre_text predicate;
    wfre_text cell;
    /* the table: rows are kept until their widths are known */
    wfre_text *cells;
    size_t cell_count, cell_capacity;
    size_t *widths;
} printer;

static const char *const NAMES[] = {"table", "json", "xml", "csv", "tsv", "nt", "ttl"};

bool wfre_sparql_format_from_name(const char *name, wfre_sparql_format *format)
{
    for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++)
        if (strcasecmp(name, NAMES[i]) == 0) {
            *format = (wfre_sparql_format)i;
            return true;
        }
    return false;
}

const char *wfre_sparql_format_name(wfre_sparql_format format)
{
    return NAMES[format];
}

const char *wfre_sparql_format_media_type(wfre_sparql_format format)
{
    static const char *const TYPES[] = {
        "text/plain", "application/sparql-results+json", "application/sparql-results+xml",
        "text/csv",   "text/tab-separated-values",       "application/n-triples",
        "text/turtle"};
    return TYPES[format];
}

bool wfre_sparql_format_fits(wfre_sparql_format format, wfre_sparql_form form)
{
    bool graph = form == WFRE_SPARQL_CONSTRUCT || form == WFRE_SPARQL_DESCRIBE;
    return format == WFRE_SPARQL_TABLE ||
           graph == (format == WFRE_SPARQL_NT || format == WFRE_SPARQL_TTL);
}

/* Hands on what has been written; all of it, or only if it is enough. */
static wfre_status flush(printer *p, bool all, wfre_error *error)
{
    wfre_status status = wfre_text_status(&p->text, "writing results", error);
    if (status != WFRE_OK || p->text.length == 0 || (!all && p->text.length < PIECE))
        return status;
    status = p->output->write(p->output->context, p->text.data, p->text.length, error);
    wfre_text_clear(&p->text);
    return status;
}

static void put(wfre_text *text, wfre_name name)
{
    wfre_text_append(text, name.bytes, name.length);
}

/* ---- terms in N-Triples' way -------------------------------------------------------------- */

static void put_escaped(wfre_text *text, wfre_name s)
{
    static const char FROM[] = "\"\\\n\r\t", TO[] = "\"\\nrt";
    for (size_t i = 0; i < s.length; i++) {
        const char *found = s.bytes[i] ? strchr(FROM, s.bytes[i]) : NULL;
        if (found) {
            wfre_text_char(text, '\\');
            wfre_text_char(text, TO[found - FROM]);
        } else if ((unsigned char)s.bytes[i] < 0x20 || s.bytes[i] == 0x7F) {
            wfre_text_format(text, "\\u%04X", (unsigned)(unsigned char)s.bytes[i]);
        } else {
            wfre_text_char(text, s.bytes[i]);
        }
    }
}

/* IRIs may hold characters that their brackets do not allow. */
void wfre_sq_put_iri(wfre_text *text, wfre_name iri)
{
    wfre_text_char(text, '<');
    for (size_t i = 0; i < iri.length; i++) {
        unsigned char c = (unsigned char)iri.bytes[i];
        if (c <= 0x20 || strchr("<>\"{}|^`\\", c))
            wfre_text_format(text, "\\u%04X", (unsigned)c);
        else
            wfre_text_char(text, (char)c);
    }
    wfre_text_char(text, '>');
}

static void put_term(wfre_text *text, const wfre_sparql_term *term)
{
    switch (term->kind) {
    case WFRE_SPARQL_UNBOUND:
        break;
    case WFRE_SPARQL_IRI:
        wfre_sq_put_iri(text, term->text);
        break;
    case WFRE_SPARQL_BLANK:
        wfre_text_add(text, "_:");
        put(text, term->text);
        break;
    case WFRE_SPARQL_LITERAL:
        wfre_text_char(text, '"');
        put_escaped(text, term->text);
        wfre_text_char(text, '"');
        if (term->language.length) {
            wfre_text_char(text, '@');
            put(text, term->language);
        } else if (term->datatype.length) {
            wfre_text_add(text, "^^");
            wfre_sq_put_iri(text, term->datatype);
        }
        break;
    }
}

/* ---- JSON --------------------------------------------------------------------------------- */

static void json_head(printer *p)
{
    wfre_text_add(&p->text, "{\"head\":{\"vars\":[");
    for (size_t i = 0; i < wfre_sparql_columns(p->query); i++) {
        wfre_name name = wfre_sparql_column(p->query, i);
        wfre_text_add(&p->text, i ? "," : "");
        wfre_text_json(&p->text, name.bytes, name.length);
    }
    wfre_text_add(&p->text, "]},\"results\":{\"bindings\":[");
}

static void json_row(printer *p, const wfre_sparql_term *terms, size_t count)
{
    static const char *const KINDS[] = {"", "uri", "bnode", "literal"};
    bool any = false;
    wfre_text_add(&p->text, p->rows ? ",\n{" : "\n{");
    for (size_t i = 0; i < count; i++) {
        const wfre_sparql_term *t = &terms[i];
        if (t->kind == WFRE_SPARQL_UNBOUND)
            continue;
        wfre_name name = wfre_sparql_column(p->query, i);
        wfre_text_add(&p->text, any ? "," : "");
        any = true;
        wfre_text_json(&p->text, name.bytes, name.length);
        wfre_text_format(&p->text, ":{\"type\":\"%s\",\"value\":", KINDS[t->kind]);
        wfre_text_json(&p->text, t->text.bytes, t->text.length);
        if (t->language.length) {
            wfre_text_add(&p->text, ",\"xml:lang\":");
            wfre_text_json(&p->text, t->language.bytes, t->language.length);
        } else if (t->datatype.length) {
            wfre_text_add(&p->text, ",\"datatype\":");
            wfre_text_json(&p->text, t->datatype.bytes, t->datatype.length);
        }
        wfre_text_char(&p->text, '}');
    }
    wfre_text_char(&p->text, '}');
}

/* ---- XML ---------------------------------------------------------------------------------- */

/* Every character as it is: readers take a carriage return for a line feed unless it is escaped.
 * XML lacks the other control characters, and U+FFFE and U+FFFF, even escaped: U+FFFD stands there.
 */
static void put_markup(wfre_text *text, wfre_name s)
{
    for (size_t i = 0, step; i < s.length; i += step) {
        unsigned char c = (unsigned char)s.bytes[i];
        size_t valid = wfre_utf8_sequence(s.bytes + i, s.length - i);
        step = valid ? valid : 1;
        bool lacks = (c < ' ' && c != '\t' && c != '\n' && c != '\r') ||
                     (valid == 3 && (memcmp(s.bytes + i, "\xEF\xBF\xBE", 3) == 0 ||
                                     memcmp(s.bytes + i, "\xEF\xBF\xBF", 3) == 0));
        if (!valid || lacks)
            wfre_text_add(text, "\xEF\xBF\xBD");
        else if (c == '\r')
            wfre_text_add(text, "&#13;");
        else if (strchr("&<>\"", c))
            wfre_text_markup(text, s.bytes + i, 1);
        else
            wfre_text_append(text, s.bytes + i, step);
    }
}

static void xml_head(printer *p)
{
    wfre_text_add(&p->text, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                            "<sparql xmlns=\"http://www.w3.org/2005/sparql-results#\">\n<head>");
    for (size_t i = 0; i < wfre_sparql_columns(p->query); i++) {
        wfre_text_add(&p->text, "<variable name=\"");
        put_markup(&p->text, wfre_sparql_column(p->query, i));
        wfre_text_add(&p->text, "\"/>");
    }
    wfre_text_add(&p->text, "</head>\n<results>\n");
}

static void xml_row(printer *p, const wfre_sparql_term *terms, size_t count)
{
    static const char *const KINDS[] = {"", "uri", "bnode", "literal"};
    wfre_text_add(&p->text, "<result>");
    for (size_t i = 0; i < count; i++) {
        const wfre_sparql_term *t = &terms[i];
        if (t->kind == WFRE_SPARQL_UNBOUND)
            continue;
        wfre_text_add(&p->text, "<binding name=\"");
        put_markup(&p->text, wfre_sparql_column(p->query, i));
        wfre_text_format(&p->text, "\"><%s", KINDS[t->kind]);
        if (t->language.length) {
            wfre_text_add(&p->text, " xml:lang=\"");
            put_markup(&p->text, t->language);
            wfre_text_char(&p->text, '"');
        } else if (t->datatype.length) {
            wfre_text_add(&p->text, " datatype=\"");
            put_markup(&p->text, t->datatype);
            wfre_text_char(&p->text, '"');
        }
        wfre_text_char(&p->text, '>');
        put_markup(&p->text, t->text);
        wfre_text_format(&p->text, "</%s></binding>", KINDS[t->kind]);
    }
    wfre_text_add(&p->text, "</result>\n");
}

/* ---- CSV and TSV -------------------------------------------------------------------------- */

static void csv_cell(wfre_text *text, wfre_name s)
{
    bool quote = false;
    for (size_t i = 0; i < s.length; i++)
        quote |= strchr(",\"\n\r", s.bytes[i]) && s.bytes[i];
    if (!quote) {
        put(text, s);
        return;
    }
    wfre_text_char(text, '"');
    for (size_t i = 0; i < s.length; i++) {
        if (s.bytes[i] == '"')
            wfre_text_char(text, '"');
        wfre_text_char(text, s.bytes[i]);
    }
    wfre_text_char(text, '"');
}

static void csv_head(printer *p)
{
    for (size_t i = 0; i < wfre_sparql_columns(p->query); i++) {
        wfre_text_add(&p->text, i ? "," : "");
        csv_cell(&p->text, wfre_sparql_column(p->query, i));
    }
    wfre_text_add(&p->text, "\r\n");
}

static void csv_row(printer *p, const wfre_sparql_term *terms, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        wfre_text_add(&p->text, i ? "," : "");
        if (terms[i].kind == WFRE_SPARQL_BLANK)
            wfre_text_add(&p->text, "_:");
        csv_cell(&p->text, terms[i].text);
    }
    wfre_text_add(&p->text, "\r\n");
}

static void tsv_head(printer *p)
{
    for (size_t i = 0; i < wfre_sparql_columns(p->query); i++) {
        wfre_text_add(&p->text, i ? "\t?" : "?");
        put(&p->text, wfre_sparql_column(p->query, i));
    }
    wfre_text_char(&p->text, '\n');
}

static void tsv_row(printer *p, const wfre_sparql_term *terms, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        wfre_text_add(&p->text, i ? "\t" : "");
        put_term(&p->text, &terms[i]);
    }
    wfre_text_char(&p->text, '\n');
}

/* ---- graphs ------------------------------------------------------------------------------- */

static void nt_row(printer *p, const wfre_sparql_term *terms, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        put_term(&p->text, &terms[i]);
        wfre_text_add(&p->text, i + 1 < count ? " " : " .\n");
    }
}

static bool plain_local(wfre_name local)
{
    for (size_t i = 0; i < local.length; i++) {
        unsigned char c = (unsigned char)local.bytes[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c >= 0x80;
        bool digit = c >= '0' && c <= '9';
        if (!letter && !digit && !(i && c == '-'))
            return false;
    }
    return local.length > 0 && wfre_utf8_valid(local.bytes, local.length) &&
           (unsigned char)local.bytes[0] < 0x80;
}

/* With the longest prefix of the query that fits. */
static void ttl_iri(printer *p, wfre_text *text, wfre_name iri)
{
    const wfre_sq_prefix *best = NULL;
    for (uint32_t i = 0; i < p->query->prefix_count; i++) {
        const wfre_sq_prefix *x = &p->query->prefixes[i];
        if (x->iri.length && x->iri.length < iri.length &&
            memcmp(x->iri.bytes, iri.bytes, x->iri.length) == 0 &&
            (!best || x->iri.length > best->iri.length) &&
            plain_local((wfre_name){iri.bytes + x->iri.length, iri.length - x->iri.length}))
            best = x;
    }
    if (!best) {
        wfre_sq_put_iri(text, iri);
        return;
    }
    put(text, best->name);
    wfre_text_char(text, ':');
    wfre_text_append(text, iri.bytes + best->iri.length, iri.length - best->iri.length);
}

static void ttl_term(printer *p, wfre_text *text, const wfre_sparql_term *term, bool verb)
{
    static const char TYPE[] = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type";
    if (term->kind != WFRE_SPARQL_IRI)
        put_term(text, term);
    else if (verb && term->text.length == sizeof TYPE - 1 &&
             memcmp(term->text.bytes, TYPE, sizeof TYPE - 1) == 0)
        wfre_text_char(text, 'a');
    else
        ttl_iri(p, text, term->text);
}

static void ttl_head(printer *p)
{
    for (uint32_t i = 0; i < p->query->prefix_count; i++) {
        wfre_text_add(&p->text, "@prefix ");
        put(&p->text, p->query->prefixes[i].name);
        wfre_text_add(&p->text, ": ");
        wfre_sq_put_iri(&p->text, p->query->prefixes[i].iri);
        wfre_text_add(&p->text, " .\n");
    }
}

static bool same_text(const wfre_text *a, const wfre_text *b)
{
    return a->length == b->length && (a->length == 0 || memcmp(a->data, b->data, a->length) == 0);
}

/* Triples with the subject of the one before go on with ; and those with the predicate, too, with a
 * comma. */
static void ttl_row(printer *p, const wfre_sparql_term *terms, size_t count)
{
    (void)count;
    wfre_text_clear(&p->cell);
    ttl_term(p, &p->cell, &terms[0], false);
    bool subject = p->rows && same_text(&p->cell, &p->subject);
    if (!subject) {
        wfre_text_add(&p->text, p->rows ? " .\n" : "");
        wfre_text_append(&p->text, p->cell.data, p->cell.length);
        wfre_text_clear(&p->subject);
        wfre_text_append(&p->subject, p->cell.data, p->cell.length);
    }
    wfre_text_clear(&p->cell);
    ttl_term(p, &p->cell, &terms[1], true);
    if (subject && same_text(&p->cell, &p->predicate)) {
        wfre_text_add(&p->text, ", ");
    } else {
        wfre_text_add(&p->text, subject ? " ;\n    " : " ");
        wfre_text_append(&p->text, p->cell.data, p->cell.length);
        wfre_text_char(&p->text, ' ');
        wfre_text_clear(&p->predicate);
        wfre_text_append(&p->predicate, p->cell.data, p->cell.length);
    }
    ttl_term(p, &p->text, &terms[2], false);
}

/* ---- the table ---------------------------------------------------------------------------- */

/* How many columns of a terminal a text takes, roughly: one for each character. */
static size_t display_width(const wfre_text *text)
{
    size_t width = 0;
    for (size_t i = 0; i < text->length; i++)
        width += ((unsigned char)text->data[i] & 0xC0) != 0x80;
    return width;
}

/* An IRI by its prefix, or whole, and its label beside it if that says more. */
static void table_cell(printer *p, wfre_text *text, const wfre_sparql_term *term)
{
    wfre_text_clear(&p->cell);
    if (term->kind == WFRE_SPARQL_LITERAL && term->datatype.length == 0 &&
        term->language.length == 0)
        put(&p->cell, term->text);
    else if (term->kind == WFRE_SPARQL_LITERAL && term->datatype.length)
        put(&p->cell, term->text);
    else
        ttl_term(p, &p->cell, term, false);
    if (term->label.length && (p->cell.length < term->label.length ||
                               memcmp(p->cell.data + p->cell.length - term->label.length,
                                      term->label.bytes, term->label.length) != 0)) {
        wfre_text_add(&p->cell, " (");
        put(&p->cell, term->label);
        wfre_text_char(&p->cell, ')');
    }
    wfre_text_visible(text, p->cell.data ? p->cell.data : "", p->cell.length);
}

static void print_table_row(printer *p, const wfre_text *cells, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        wfre_text_append(&p->text, cells[i].data, cells[i].length);
        if (i + 1 == count)
            break;
        size_t width = display_width(&cells[i]);
        for (size_t k = width; k < p->widths[i] + 2; k++)
            wfre_text_char(&p->text, ' ');
        if (width >= p->widths[i] + 2)
            wfre_text_char(&p->text, ' ');
    }
    wfre_text_char(&p->text, '\n');
}

static size_t table_columns(const printer *p)
{
    wfre_sparql_form form = wfre_sparql_get_form(p->query);
    return form == WFRE_SPARQL_SELECT ? wfre_sparql_columns(p->query) : 3;
}

/* Prints the rows that were kept to see how wide the columns are. */
static void print_kept(printer *p)
{
    size_t count = table_columns(p);
    for (size_t r = 0; count && r < p->cell_count / count; r++) {
        print_table_row(p, p->cells + r * count, count);
        if (r == 0) {
            for (size_t i = 0; i < count; i++)
                for (size_t k = 0; k < p->widths[i] + (i + 1 < count ? 2 : 0); k++)
                    wfre_text_add(&p->text, k < p->widths[i] ? "-" : " ");
            wfre_text_char(&p->text, '\n');
        }
    }
    for (size_t i = 0; i < p->cell_count; i++)
        wfre_text_free(&p->cells[i]);
    p->cell_count = 0;
}

static wfre_text *new_cell(printer *p)
{
    if (!wfre_reserve(&p->cells, &p->cell_capacity, p->cell_count + 1, sizeof *p->cells)) {
        p->text.failed = true;
        return NULL;
    }
    p->cells[p->cell_count] = (wfre_text){0};
    return &p->cells[p->cell_count++];
}

static void note_widths(printer *p)
{
    size_t count = table_columns(p);
    for (size_t i = 0; i < count; i++) {
        size_t width = display_width(&p->cells[p->cell_count - count + i]);
        p->widths[i] = width > p->widths[i] ? width : p->widths[i];
    }
}

static void table_head(printer *p)
{
    static const char *const PLACES[] = {"subject", "predicate", "object"};
    size_t count = table_columns(p);
    bool select = wfre_sparql_get_form(p->query) == WFRE_SPARQL_SELECT;
    p->widths = wfre_alloc_zero(count + 1, sizeof *p->widths);
    if (!p->widths)
        p->text.failed = true;
    for (size_t i = 0; i < count && !p->text.failed; i++) {
        wfre_text *cell = new_cell(p);
        if (!cell)
            return;
        if (select)
            put(cell, wfre_sparql_column(p->query, i));
        else
            wfre_text_add(cell, PLACES[i]);
        p->text.failed |= cell->failed;
    }
    if (!p->text.failed)
        note_widths(p);
}

static void table_row(printer *p, const wfre_sparql_term *terms, size_t count)
{
    size_t begin = p->cell_count;
    for (size_t i = 0; i < count && !p->text.failed; i++) {
        wfre_text *cell = new_cell(p);
        if (cell)
            table_cell(p, cell, &terms[i]);
        p->text.failed |= cell && cell->failed;
    }
    if (p->text.failed)
        return;
    if (p->rows < SAMPLE_ROWS) {
        note_widths(p);
        return;
    }
    if (begin > 0) { /* the widths are settled now: later rows are printed as they come */
        wfre_text *row = p->cells + begin;
        p->cell_count = begin;
        print_kept(p);
        memmove(p->cells, row, count * sizeof *row);
        p->cell_count = count;
    }
    print_table_row(p, p->cells, count);
    for (size_t i = 0; i < count; i++)
        wfre_text_free(&p->cells[i]);
    p->cell_count = 0;
}

/* ---- all formats -------------------------------------------------------------------------- */

typedef struct format_kind {
    void (*head)(printer *p);
    void (*row)(printer *p, const wfre_sparql_term *terms, size_t count);
    const char *foot;
} format_kind;

static const format_kind FORMATS[] = {
    {table_head, table_row, ""},
    {json_head, json_row, "\n]}}\n"},
    {xml_head, xml_row, "</results>\n</sparql>\n"},
    {csv_head, csv_row, ""},
    {tsv_head, tsv_row, ""},
    {NULL, nt_row, ""},
    {ttl_head, ttl_row, ""},
};

static wfre_status print_row(void *context, const wfre_sparql_term *terms, size_t count,
                             wfre_error *error)
{
    printer *p = context;
    FORMATS[p->format].row(p, terms, count);
    p->text.failed |= p->cell.failed || p->subject.failed || p->predicate.failed;
    p->rows++;
    return flush(p, false, error);
}

static void print_truth(printer *p, bool truth)
{
    const char *word = truth ? "true" : "false";
    if (p->format == WFRE_SPARQL_JSON)
        wfre_text_format(&p->text, "{\"head\":{},\"boolean\":%s}\n", word);
    else if (p->format == WFRE_SPARQL_XML)
        wfre_text_format(&p->text,
                         "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                         "<sparql xmlns=\"http://www.w3.org/2005/sparql-results#\">\n"
                         "<head></head>\n<boolean>%s</boolean>\n</sparql>\n",
                         word);
    else
        wfre_text_format(&p->text, "%s%s", word, p->format == WFRE_SPARQL_CSV ? "\r\n" : "\n");
}

static wfre_status print_all(printer *p, const wfre_sparql_run_options *options, wfre_error *error)
{
    wfre_status status;
    wfre_sparql_form form = wfre_sparql_get_form(p->query);
    const format_kind *format = &FORMATS[p->format];
    const wfre_sparql_sink sink = {
        .row = print_row, .context = p, .labels = p->format == WFRE_SPARQL_TABLE};
    bool truth = false;
    if (form != WFRE_SPARQL_ASK && format->head)
        format->head(p);
    TRY(wfre_sparql_run(p->query, p->view, options, &sink, &truth, error));
    if (form == WFRE_SPARQL_ASK) {
        print_truth(p, truth);
    } else {
        if (p->format == WFRE_SPARQL_TABLE)
            print_kept(p);
        if (p->format == WFRE_SPARQL_TTL && p->rows)
            wfre_text_add(&p->text, " .\n");
        wfre_text_add(&p->text, format->foot);
    }
    TRY(flush(p, true, error));
cleanup:
    return status;
}

wfre_status wfre_sparql_write(const wfre_sparql *query, const wfre_rdf_view *view,
                              const wfre_sparql_run_options *options, wfre_sparql_format format,
                              const wfre_sparql_output *output, uint64_t *rows, wfre_error *error)
{
    if (!wfre_sparql_format_fits(format, wfre_sparql_get_form(query)))
        return wfre_fail(
            error, WFRE_ERR_ARGUMENT, WFRE_NO_OFFSET,
            "%s is not a format for the results of this query; take one of %s", NAMES[format],
            format >= WFRE_SPARQL_NT ? "json, xml, csv, tsv or table" : "nt, ttl or table");
    printer p = {.query = query, .view = view, .format = format, .output = output};
    wfre_status status = print_all(&p, options, error);
    if (rows && status == WFRE_OK)
        *rows = p.rows;
    for (size_t i = 0; i < p.cell_count; i++)
        wfre_text_free(&p.cells[i]);
    wfre_free(p.cells);
    wfre_free(p.widths);
    wfre_text_free(&p.text);
    wfre_text_free(&p.subject);
    wfre_text_free(&p.predicate);
    wfre_text_free(&p.cell);
    return status;
}
