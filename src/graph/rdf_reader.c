/* The grammars of N-Triples, N-Quads, Turtle and TriG, by recursive descent. */
#include "graph/rdf_reader.h"

#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "graph/iri.h"
#include "graph/rdf_lexer.h"

#define RDF "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
#define XSD "http://www.w3.org/2001/XMLSchema#"

enum { NESTING_LIMIT = 200 };

/* A term while it is read: the texts are its own. */
typedef struct term {
    wfre_rdf_kind kind;
    wfre_text text;
    wfre_text type; /* the datatype's IRI, or the language tag behind '@' */
} term;

typedef struct parser {
    wfre_rdf_lexer lexer;
    const wfre_rdf_sink *sink;
    wfre_rdf_syntax syntax;
    wfre_text base; /* empty: none */
    wfre_strings prefixes;
    struct parser_iri {
        char *bytes;
        size_t length;
    } * iris; /* by prefix */
    size_t iri_count, iri_capacity;
    wfre_text word, scratch;
    term graph; /* the one at hand */
    bool in_graph;
    uint64_t blanks; /* made up so far */
    int nesting;
} parser;

static void free_term(term *t)
{
    wfre_text_free(&t->text);
    wfre_text_free(&t->type);
}

static void clear_term(term *t, wfre_rdf_kind kind)
{
    t->kind = kind;
    wfre_text_clear(&t->text);
    wfre_text_clear(&t->type);
}

static wfre_name name_of(const wfre_text *text)
{
    return (wfre_name){text->data ? text->data : "", text->length};
}

static wfre_status check_text(parser *p, const wfre_text *text)
{
    return wfre_text_status(text, "reading RDF", p->lexer.error);
}

/* ---- statements --------------------------------------------------------------------------- */

static wfre_rdf_value value_of(const term *t)
{
    wfre_rdf_value value = {.kind = t->kind, .text = name_of(&t->text)};
    if (t->type.length > 0 && t->type.data[0] == '@')
        value.language = (wfre_name){t->type.data + 1, t->type.length - 1};
    else if (t->type.length > 0)
        value.datatype = name_of(&t->type);
    return value;
}

static wfre_status emit(parser *p, const term *subject, const term *predicate, const term *object)
{
    const wfre_rdf_value triple[WFRE_RDF_PLACES] = {value_of(subject), value_of(predicate),
                                                    value_of(object)};
    const wfre_rdf_value graph = value_of(&p->graph);
    return p->sink->statement(p->sink->context, triple, p->in_graph ? &graph : NULL,
                              p->lexer.error);
}

/* ---- terms -------------------------------------------------------------------------------- */

/* A label that no label of the file can be: those of the same form get a 'u' in front. */
static wfre_status make_blank(parser *p, term *t)
{
    clear_term(t, WFRE_RDF_BLANK);
    wfre_text_format(&t->text, "genid%llu", (unsigned long long)++p->blanks);
    return check_text(p, &t->text);
}

static wfre_status read_blank_label(parser *p, term *t)
{
    clear_term(t, WFRE_RDF_BLANK);
    wfre_rdf_mark(&p->lexer);
    wfre_rdf_skip(&p->lexer); /* the underscore */
    CHECK(wfre_rdf_expect(&p->lexer, ':', "the ':' of a blank node"));
    wfre_text_clear(&p->scratch);
    CHECK(wfre_rdf_scan_label(&p->lexer, &p->scratch));
    size_t u = strspn(p->scratch.data, "u"), digits = 0;
    if (strncmp(p->scratch.data + u, "genid", 5) == 0)
        digits = strspn(p->scratch.data + u + 5, "0123456789");
    if (digits > 0 && u + 5 + digits == p->scratch.length)
        wfre_text_char(&t->text, 'u');
    wfre_text_append(&t->text, p->scratch.data, p->scratch.length);
    return check_text(p, &t->text);
}

/* Without a base, relative IRIs are names, and one like "_:b" would be taken for a blank node. No
 * IRI begins so, relative or not: a first segment with a colon is a scheme, which begins with a
 * letter. */
static wfre_status check_name(parser *p, const wfre_text *iri)
{
    if (iri->length >= 2 && memcmp(iri->data, "_:", 2) == 0)
        return wfre_rdf_fail(&p->lexer, true, "<%.*s> is no IRI; blank nodes stand without < and >",
                             (int)(iri->length < 200 ? iri->length : 200), iri->data);
    return WFRE_OK;
}

/* <...> as an absolute IRI; without a base, relative ones stay as they are. */
static wfre_status read_iri(parser *p, wfre_text *iri)
{
    wfre_text_clear(iri);
    CHECK(wfre_rdf_scan_iri(&p->lexer, iri));
    if (wfre_iri_absolute(name_of(iri).bytes, iri->length))
        return WFRE_OK;
    if (p->syntax == WFRE_RDF_NTRIPLES || p->syntax == WFRE_RDF_NQUADS)
        return wfre_rdf_fail(&p->lexer, true, "<%.*s> is relative; here IRIs must be absolute",
                             (int)(iri->length < 200 ? iri->length : 200), name_of(iri).bytes);
    if (p->base.length == 0 && iri->length > 0)
        return check_name(p, iri);
    if (p->base.length == 0)
        return wfre_rdf_fail(&p->lexer, true, "<> means the base, but there is none: say `base`");
    wfre_text_clear(&p->scratch);
    wfre_iri_resolve(&p->scratch, name_of(&p->base), name_of(iri));
    wfre_text_clear(iri);
    wfre_text_append(iri, name_of(&p->scratch).bytes, p->scratch.length);
    iri->failed |= p->scratch.failed;
    return check_text(p, iri);
}

static wfre_status unexpected_word(parser *p, const char *wanted)
{
    return wfre_rdf_fail(&p->lexer, true, "'%.*s' where %s should be",
                         (int)(p->word.length < 200 ? p->word.length : 200), p->word.data, wanted);
}

/* The rest of a prefixed name whose prefix is p->word and whose colon is at hand. */
static wfre_status read_prefixed(parser *p, wfre_text *iri)
{
    uint32_t index = wfre_strings_find(&p->prefixes, name_of(&p->word).bytes, p->word.length);
    if (index == WFRE_NONE)
        return wfre_rdf_fail(&p->lexer, true, "the prefix '%.*s:' was not declared before",
                             (int)(p->word.length < 200 ? p->word.length : 200),
                             name_of(&p->word).bytes);
    wfre_rdf_skip(&p->lexer);
    wfre_text_clear(iri);
    wfre_text_append(iri, p->iris[index].bytes, p->iris[index].length);
    CHECK(wfre_rdf_scan_local(&p->lexer, iri));
    CHECK(check_text(p, iri));
    return check_name(p, iri);
}

/* An IRI in brackets or with a prefix. */
static wfre_status read_any_iri(parser *p, wfre_text *iri, const char *wanted)
{
    if (wfre_rdf_peek(&p->lexer) == '<')
        return read_iri(p, iri);
    wfre_text_clear(&p->word);
    CHECK(wfre_rdf_scan_word(&p->lexer, &p->word));
    if (wfre_rdf_peek(&p->lexer) != ':')
        return p->word.length > 0 ? unexpected_word(p, wanted)
                                  : wfre_rdf_unexpected(&p->lexer, wanted);
    return read_prefixed(p, iri);
}

/* A string with what follows it. */
static wfre_status read_literal(parser *p, term *t, bool plain)
{
    clear_term(t, WFRE_RDF_LITERAL);
    CHECK(wfre_rdf_scan_string(&p->lexer, plain, &t->text));
    if (wfre_rdf_peek(&p->lexer) == '@') {
        wfre_text_char(&t->type, '@');
        CHECK(wfre_rdf_scan_language(&p->lexer, &t->type));
    } else if (wfre_rdf_peek(&p->lexer) == '^') {
        wfre_rdf_skip(&p->lexer);
        CHECK(wfre_rdf_expect(&p->lexer, '^', "the second '^' of a datatype"));
        if (plain)
            CHECK(read_iri(p, &t->type));
        else
            CHECK(read_any_iri(p, &t->type, "the IRI of a datatype"));
    }
    return WFRE_OK;
}

/* ---- N-Triples and N-Quads ---------------------------------------------------------------- */

static wfre_status read_line_term(parser *p, term *t, bool literal, const char *wanted)
{
    int c = wfre_rdf_peek(&p->lexer);
    if (c == '_')
        return read_blank_label(p, t);
    if (c == '"' && literal)
        return read_literal(p, t, true);
    if (c != '<')
        return wfre_rdf_unexpected(&p->lexer, wanted);
    clear_term(t, WFRE_RDF_IRI);
    return read_iri(p, &t->text);
}

/* One statement up to the end of its line. */
static wfre_status read_line(parser *p, term terms[WFRE_RDF_PLACES])
{
    wfre_rdf_lexer *lexer = &p->lexer;
    CHECK(read_line_term(p, &terms[WFRE_RDF_S], false, "a subject, an IRI or a blank node,"));
    wfre_rdf_blanks(lexer);
    if (wfre_rdf_peek(lexer) != '<')
        return wfre_rdf_unexpected(lexer, "a predicate, an IRI in brackets,");
    clear_term(&terms[WFRE_RDF_P], WFRE_RDF_IRI);
    CHECK(read_iri(p, &terms[WFRE_RDF_P].text));
    wfre_rdf_blanks(lexer);
    CHECK(read_line_term(p, &terms[WFRE_RDF_O], true, "an object"));
    wfre_rdf_blanks(lexer);
    p->in_graph = p->syntax == WFRE_RDF_NQUADS && wfre_rdf_peek(lexer) != '.';
    if (p->in_graph) {
        CHECK(read_line_term(p, &p->graph, false, "the name of a graph, or the '.'"));
        wfre_rdf_blanks(lexer);
    }
    CHECK(wfre_rdf_expect(lexer, '.', "the '.' of a statement"));
    wfre_rdf_blanks(lexer);
    int c = wfre_rdf_peek(lexer);
    if (c != '#' && c != '\n' && c != '\r' && c != WFRE_RDF_END)
        return wfre_rdf_unexpected(lexer, "the end of the line");
    return emit(p, &terms[WFRE_RDF_S], &terms[WFRE_RDF_P], &terms[WFRE_RDF_O]);
}

static wfre_status read_lines(parser *p)
{
    term terms[WFRE_RDF_PLACES] = {{0}};
    wfre_status status = WFRE_OK;
    for (;;) {
        wfre_rdf_space(&p->lexer);
        if (wfre_rdf_peek(&p->lexer) == WFRE_RDF_END)
            break;
        TRY(read_line(p, terms));
    }
    status = p->lexer.status;
cleanup:
    for (int i = 0; i < WFRE_RDF_PLACES; i++)
        free_term(&terms[i]);
    return status;
}

/* ---- Turtle and TriG: triples ------------------------------------------------------------- */

static wfre_status read_predicates(parser *p, const term *subject);

static wfre_status nest(parser *p)
{
    if (++p->nesting > NESTING_LIMIT)
        return wfre_rdf_fail(&p->lexer, false, "brackets nested more than %d deep", NESTING_LIMIT);
    return WFRE_OK;
}

/* What is between [ and ], the first of which is read and is not followed by the other. */
static wfre_status read_properties(parser *p, term *t)
{
    CHECK(nest(p));
    CHECK(make_blank(p, t));
    CHECK(read_predicates(p, t));
    CHECK(wfre_rdf_expect(&p->lexer, ']', "';', ',' or ']'"));
    p->nesting--;
    return WFRE_OK;
}

static wfre_status read_object(parser *p, term *t);

static void set_iri(term *t, const char *iri)
{
    clear_term(t, WFRE_RDF_IRI);
    wfre_text_add(&t->text, iri);
}

/* The members of ( ... ) and the triples that join them. */
static wfre_status read_collection(parser *p, term *first)
{
    term node = {0}, next = {0}, member = {0}, predicate = {0};
    wfre_status status;
    bool empty = true;
    TRY(nest(p));
    wfre_rdf_skip(&p->lexer);
    for (;; empty = false) {
        wfre_rdf_space(&p->lexer);
        if (wfre_rdf_peek(&p->lexer) == ')')
            break;
        TRY(make_blank(p, &next));
        if (empty) {
            clear_term(first, WFRE_RDF_BLANK);
            wfre_text_append(&first->text, next.text.data, next.text.length);
        } else {
            set_iri(&predicate, RDF "rest");
            TRY(emit(p, &node, &predicate, &next));
        }
        clear_term(&node, WFRE_RDF_BLANK);
        wfre_text_append(&node.text, next.text.data, next.text.length);
        TRY(read_object(p, &member));
        set_iri(&predicate, RDF "first");
        TRY(check_text(p, &predicate.text));
        TRY(emit(p, &node, &predicate, &member));
    }
    wfre_rdf_skip(&p->lexer);
    set_iri(empty ? first : &next, RDF "nil");
    if (!empty) {
        set_iri(&predicate, RDF "rest");
        TRY(emit(p, &node, &predicate, &next));
    }
    TRY(check_text(p, &first->text));
    p->nesting--;
cleanup:
    free_term(&node);
    free_term(&next);
    free_term(&member);
    free_term(&predicate);
    return status;
}

/* [ ... ] or []; *alone says which: [ ... ] may stand without predicates behind it. */
static wfre_status read_bracket(parser *p, term *t, bool *alone)
{
    wfre_rdf_skip(&p->lexer);
    wfre_rdf_space(&p->lexer);
    *alone = wfre_rdf_peek(&p->lexer) != ']';
    if (*alone)
        return read_properties(p, t);
    wfre_rdf_skip(&p->lexer);
    return make_blank(p, t);
}

/* true, false, or a prefixed name. */
static wfre_status read_word(parser *p, term *t)
{
    wfre_text_clear(&p->word);
    CHECK(wfre_rdf_scan_word(&p->lexer, &p->word));
    if (wfre_rdf_peek(&p->lexer) == ':') {
        clear_term(t, WFRE_RDF_IRI);
        return read_prefixed(p, &t->text);
    }
    if (p->word.length == 0)
        return wfre_rdf_unexpected(&p->lexer, "an object");
    if (strcmp(p->word.data, "true") != 0 && strcmp(p->word.data, "false") != 0)
        return unexpected_word(p, "an object");
    clear_term(t, WFRE_RDF_LITERAL);
    wfre_text_append(&t->text, p->word.data, p->word.length);
    wfre_text_add(&t->type, XSD "boolean");
    return check_text(p, &t->type);
}

static wfre_status read_object(parser *p, term *t)
{
    const char *type;
    bool alone;
    int c = wfre_rdf_peek(&p->lexer);
    switch (c) {
    case '<':
        clear_term(t, WFRE_RDF_IRI);
        return read_iri(p, &t->text);
    case '_':
        return read_blank_label(p, t);
    case '[':
        return read_bracket(p, t, &alone);
    case '(':
        return read_collection(p, t);
    case '"':
    case '\'':
        return read_literal(p, t, false);
    default:
        if (!(c >= '0' && c <= '9') && c != '+' && c != '-' && c != '.')
            return read_word(p, t);
    }
    clear_term(t, WFRE_RDF_LITERAL);
    CHECK(wfre_rdf_scan_number(&p->lexer, &t->text, &type));
    wfre_text_add(&t->type, type);
    return check_text(p, &t->type);
}

/* An IRI or the word `a`. */
static wfre_status read_verb(parser *p, term *t)
{
    clear_term(t, WFRE_RDF_IRI);
    if (wfre_rdf_peek(&p->lexer) == '<')
        return read_iri(p, &t->text);
    wfre_text_clear(&p->word);
    CHECK(wfre_rdf_scan_word(&p->lexer, &p->word));
    if (wfre_rdf_peek(&p->lexer) == ':')
        return read_prefixed(p, &t->text);
    if (p->word.length == 0)
        return wfre_rdf_unexpected(&p->lexer, "a predicate");
    if (strcmp(p->word.data, "a") != 0)
        return unexpected_word(p, "a predicate");
    wfre_text_add(&t->text, RDF "type");
    return check_text(p, &t->text);
}

static wfre_status read_objects(parser *p, const term *subject, const term *predicate)
{
    term object = {0};
    wfre_status status;
    for (;;) {
        wfre_rdf_space(&p->lexer);
        TRY(read_object(p, &object));
        TRY(emit(p, subject, predicate, &object));
        wfre_rdf_space(&p->lexer);
        if (wfre_rdf_peek(&p->lexer) != ',')
            break;
        wfre_rdf_skip(&p->lexer);
    }
cleanup:
    free_term(&object);
    return status;
}

/* Whether a list of predicates ends at the byte at hand. */
static bool ends_predicates(int c)
{
    return c == '.' || c == ']' || c == '}' || c == WFRE_RDF_END;
}

static wfre_status read_predicates(parser *p, const term *subject)
{
    term predicate = {0};
    wfre_status status;
    for (;;) {
        wfre_rdf_space(&p->lexer);
        TRY(read_verb(p, &predicate));
        TRY(read_objects(p, subject, &predicate));
        if (wfre_rdf_peek(&p->lexer) != ';')
            break;
        while (wfre_rdf_peek(&p->lexer) == ';') {
            wfre_rdf_skip(&p->lexer);
            wfre_rdf_space(&p->lexer);
        }
        if (ends_predicates(wfre_rdf_peek(&p->lexer)))
            break;
    }
cleanup:
    free_term(&predicate);
    return status;
}

/* ---- Turtle and TriG: the document -------------------------------------------------------- */

/* "name: <iri>" */
static wfre_status read_prefix(parser *p)
{
    wfre_status status;
    uint32_t index;
    wfre_text iri = {0};
    wfre_rdf_space(&p->lexer);
    wfre_text_clear(&p->word);
    TRY(wfre_rdf_scan_word(&p->lexer, &p->word));
    TRY(wfre_rdf_expect(&p->lexer, ':', "the ':' of a prefix"));
    wfre_rdf_space(&p->lexer);
    TRY(read_iri(p, &iri));
    TRY(wfre_strings_intern(&p->prefixes, name_of(&p->word).bytes, p->word.length, &index,
                            p->lexer.error));
    if (!WFRE_RESERVE(&p->iris, &p->iri_capacity, p->prefixes.count)) {
        status = wfre_fail_memory(p->lexer.error, "reading RDF");
        goto cleanup;
    }
    if (index < p->iri_count)
        wfre_free(p->iris[index].bytes);
    else
        p->iri_count++;
    p->iris[index] = (struct parser_iri){iri.data, iri.length};
    iri = (wfre_text){0};
    TRY(p->sink->prefix(p->sink->context, name_of(&p->word),
                        (wfre_name){p->iris[index].bytes, p->iris[index].length}, p->lexer.error));
cleanup:
    wfre_text_free(&iri);
    return status;
}

static wfre_status read_base(parser *p)
{
    wfre_status status;
    wfre_text iri = {0};
    wfre_rdf_space(&p->lexer);
    TRY(read_iri(p, &iri));
    wfre_text_free(&p->base);
    p->base = iri;
    return WFRE_OK;
cleanup:
    wfre_text_free(&iri);
    return status;
}

/* @prefix and @base, which end in a dot. */
static wfre_status read_directive(parser *p)
{
    wfre_rdf_skip(&p->lexer);
    wfre_text_clear(&p->word);
    CHECK(wfre_rdf_scan_word(&p->lexer, &p->word));
    const char *word = name_of(&p->word).bytes;
    if (strcmp(word, "prefix") == 0)
        CHECK(read_prefix(p));
    else if (strcmp(word, "base") == 0)
        CHECK(read_base(p));
    else
        return wfre_rdf_fail(&p->lexer, true, "only @prefix and @base are known, not '@%.40s'",
                             word);
    wfre_rdf_space(&p->lexer);
    return wfre_rdf_expect(&p->lexer, '.', "the '.' of a directive");
}

/* The subject at hand; *alone: it is [ ... ] and needs no predicates, *label: it can name a
 * graph. A prefixed name's word is read. */
static wfre_status read_subject(parser *p, term *t, bool word, bool *alone, bool *label)
{
    int c = wfre_rdf_peek(&p->lexer);
    *alone = false;
    *label = true;
    if (word || c == '<') {
        clear_term(t, WFRE_RDF_IRI);
        return word ? read_prefixed(p, &t->text) : read_iri(p, &t->text);
    }
    if (c == '_')
        return read_blank_label(p, t);
    if (c == '(') {
        *label = false;
        return read_collection(p, t);
    }
    if (c != '[')
        return wfre_rdf_unexpected(&p->lexer, "a subject");
    wfre_status status = read_bracket(p, t, alone);
    *label = !*alone;
    return status;
}

/* What follows a subject, up to the dot but without it. */
static wfre_status read_rest(parser *p, const term *subject, bool alone)
{
    wfre_rdf_space(&p->lexer);
    int c = wfre_rdf_peek(&p->lexer);
    if (alone && (c == '.' || c == '}'))
        return WFRE_OK;
    return read_predicates(p, subject);
}

static bool is_word(const parser *p, const char *keyword)
{
    size_t length = strlen(keyword);
    if (p->word.length != length)
        return false;
    for (size_t i = 0; i < length; i++) {
        char c = p->word.data[i];
        if ((c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c) != keyword[i])
            return false;
    }
    return true;
}

/* Reads the word at hand if there is one; *prefixed: it is the beginning of a prefixed name. */
static wfre_status begin_word(parser *p, bool *prefixed)
{
    wfre_text_clear(&p->word);
    wfre_status status = wfre_rdf_scan_word(&p->lexer, &p->word);
    *prefixed = wfre_rdf_peek(&p->lexer) == ':';
    return status;
}

/* The triples between { and }, the first of which is at hand. */
static wfre_status read_graph(parser *p)
{
    term subject = {0};
    wfre_status status = WFRE_OK;
    wfre_rdf_skip(&p->lexer);
    for (;;) {
        bool prefixed, alone, label;
        wfre_rdf_space(&p->lexer);
        if (wfre_rdf_peek(&p->lexer) == '}')
            break;
        TRY(begin_word(p, &prefixed));
        if (p->word.length > 0 && !prefixed) {
            status = unexpected_word(p, "a subject");
            goto cleanup;
        }
        TRY(read_subject(p, &subject, prefixed, &alone, &label));
        TRY(read_rest(p, &subject, alone));
        if (wfre_rdf_peek(&p->lexer) == '.')
            wfre_rdf_skip(&p->lexer);
        else if (wfre_rdf_peek(&p->lexer) != '}')
            TRY(wfre_rdf_unexpected(&p->lexer, "';', ',', '.' or '}'"));
    }
    wfre_rdf_skip(&p->lexer);
    p->in_graph = false;
cleanup:
    free_term(&subject);
    return status;
}

/* "GRAPH name { ... }", the first word of which is read. */
static wfre_status read_named_graph(parser *p)
{
    bool prefixed, alone, label;
    wfre_rdf_space(&p->lexer);
    CHECK(begin_word(p, &prefixed));
    if ((p->word.length > 0 && !prefixed) || wfre_rdf_peek(&p->lexer) == '(')
        return wfre_rdf_unexpected(&p->lexer, "the name of a graph");
    CHECK(read_subject(p, &p->graph, prefixed, &alone, &label));
    wfre_rdf_space(&p->lexer);
    if (!label || wfre_rdf_peek(&p->lexer) != '{')
        return wfre_rdf_unexpected(&p->lexer, "the '{' of a graph");
    p->in_graph = true;
    return read_graph(p);
    return WFRE_OK;
}

/* A statement that starts with a subject, or with a graph's name. */
static wfre_status read_triples(parser *p, term *subject, bool prefixed)
{
    bool alone, label;
    CHECK(read_subject(p, subject, prefixed, &alone, &label));
    wfre_rdf_space(&p->lexer);
    if (p->syntax == WFRE_RDF_TRIG && label && wfre_rdf_peek(&p->lexer) == '{') {
        term swap = p->graph;
        p->graph = *subject;
        *subject = swap;
        p->in_graph = true;
        return read_graph(p);
    }
    CHECK(read_rest(p, subject, alone));
    return wfre_rdf_expect(&p->lexer, '.', "';', ',' or '.'");
}

static wfre_status read_statement(parser *p, term *subject)
{
    bool prefixed;
    int c = wfre_rdf_peek(&p->lexer);
    wfre_rdf_mark(&p->lexer);
    if (c == '@')
        return read_directive(p);
    if (c == '{' && p->syntax == WFRE_RDF_TRIG)
        return read_graph(p);
    CHECK(begin_word(p, &prefixed));
    if (p->word.length == 0 || prefixed)
        return read_triples(p, subject, prefixed);
    if (is_word(p, "prefix"))
        return read_prefix(p);
    if (is_word(p, "base"))
        return read_base(p);
    if (is_word(p, "graph") && p->syntax == WFRE_RDF_TRIG)
        return read_named_graph(p);
    return unexpected_word(p, "a subject");
    return WFRE_OK;
}

static wfre_status read_document(parser *p)
{
    term subject = {0};
    wfre_status status = WFRE_OK;
    for (;;) {
        wfre_rdf_space(&p->lexer);
        if (wfre_rdf_peek(&p->lexer) == WFRE_RDF_END)
            break;
        TRY(read_statement(p, &subject));
    }
    status = p->lexer.status;
cleanup:
    free_term(&subject);
    return status;
}

/* ---- all of it ---------------------------------------------------------------------------- */

wfre_status wfre_rdf_read(wfre_reader *reader, wfre_rdf_syntax syntax, const char *base,
                          const wfre_rdf_sink *sink, wfre_error *error)
{
    parser p = {.sink = sink, .syntax = syntax};
    wfre_status status;
    if (base)
        wfre_text_add(&p.base, base);
    TRY(wfre_text_status(&p.base, "reading RDF", error));
    TRY(wfre_rdf_lexer_open(&p.lexer, reader, error));
    if (syntax == WFRE_RDF_NTRIPLES || syntax == WFRE_RDF_NQUADS)
        TRY(read_lines(&p));
    else
        TRY(read_document(&p));
cleanup:
    wfre_rdf_lexer_close(&p.lexer);
    for (size_t i = 0; i < p.iri_count; i++)
        wfre_free(p.iris[i].bytes);
    wfre_free(p.iris);
    wfre_strings_free(&p.prefixes);
    wfre_text_free(&p.base);
    wfre_text_free(&p.word);
    wfre_text_free(&p.scratch);
    free_term(&p.graph);
    return status;
}
