/* Reading variables, IRIs, literals and blank nodes. */
#include <string.h>

#include "graph/rdf.h"
#include "sparql/iri.h"
#include "sparql/parser.h"

#define XSD "http://www.w3.org/2001/XMLSchema#"
#define RDF_NIL "http://www.w3.org/1999/02/22-rdf-syntax-ns#nil"

static bool same(wfre_name a, wfre_name b)
{
    return a.length == b.length && (a.length == 0 || memcmp(a.bytes, b.bytes, a.length) == 0);
}

/* ---- variables ---------------------------------------------------------------------------- */

wfre_status wfre_sq_new_slot(wfre_sq_parser *p, wfre_name name, wfre_sq_slot *slot)
{
    struct wfre_sparql *query = p->query;
    if (query->slot_count >= WFRE_SQ_SLOTS)
        return wfre_fail(p->error, WFRE_ERR_FORMAT, p->token.offset,
                         "the query has more than %d variables and blank nodes", WFRE_SQ_SLOTS);
    if (!wfre_reserve(&p->slot_names, &p->slot_capacity, (size_t)query->slot_count + 1,
                      sizeof *p->slot_names))
        return wfre_sq_memory(p);
    p->slot_names[query->slot_count] = name;
    *slot = query->slot_count++;
    return WFRE_OK;
}

static wfre_status add_name(wfre_sq_parser *p, wfre_sq_scope *scope, wfre_name name,
                            wfre_sq_slot slot)
{
    if (!wfre_reserve(&scope->names, &scope->names_capacity, scope->count + 1,
                      sizeof *scope->names) ||
        !wfre_reserve(&scope->slots, &scope->slots_capacity, scope->count + 1,
                      sizeof *scope->slots))
        return wfre_sq_memory(p);
    scope->names[scope->count] = name;
    scope->slots[scope->count++] = slot;
    return WFRE_OK;
}

static wfre_status find_in(wfre_sq_parser *p, wfre_sq_scope *scope, wfre_name name,
                           wfre_sq_slot *slot)
{
    wfre_status status;
    for (size_t i = 0; i < scope->count; i++)
        if (same(scope->names[i], name)) {
            *slot = scope->slots[i];
            return WFRE_OK;
        }
    if (scope->outer && scope->shares)
        TRY(find_in(p, scope->outer, name, slot));
    else
        TRY(wfre_sq_new_slot(p, name, slot));
    TRY(add_name(p, scope, name, *slot));
cleanup:
    return status;
}

wfre_status wfre_sq_find_variable(wfre_sq_parser *p, wfre_name name, wfre_sq_slot *slot)
{
    return find_in(p, p->scope, name, slot);
}

wfre_status wfre_sq_parse_variable(wfre_sq_parser *p, wfre_sq_slot *slot)
{
    wfre_status status;
    if (p->token.kind != WFRE_SQ_VAR)
        return wfre_sq_expected(p, "a variable, such as ?x");
    TRY(wfre_sq_find_variable(p, p->token.text, slot));
    TRY(wfre_sq_advance(p));
cleanup:
    return status;
}

/* ---- constants ---------------------------------------------------------------------------- */

wfre_status wfre_sq_constant(wfre_sq_parser *p, wfre_sq_term *term)
{
    wfre_status status;
    wfre_text key = {0};
    wfre_text_char(&key, (char)('0' + term->kind));
    wfre_text_append(&key, term->text.bytes, term->text.length);
    wfre_text_char(&key, '\0');
    wfre_text_append(&key, term->datatype.bytes, term->datatype.length);
    wfre_text_char(&key, '\0');
    wfre_text_append(&key, term->language.bytes, term->language.length);
    TRY(wfre_text_status(&key, "reading a SPARQL query", p->error));
    uint32_t before = p->constants.count;
    TRY(wfre_strings_intern(&p->constants, key.data, key.length, &term->constant, p->error));
    if (p->constants.count > before) {
        if (!wfre_reserve(&p->constant_terms, &p->constant_capacity, (size_t)before + 1,
                          sizeof *p->constant_terms)) {
            status = wfre_sq_memory(p);
            goto cleanup;
        }
        p->constant_terms[before] = *term;
        p->query->constant_count = before + 1;
    }
cleanup:
    wfre_text_free(&key);
    return status;
}

wfre_status wfre_sq_known_iri(wfre_sq_parser *p, const char *iri, wfre_sq_term *term)
{
    *term = (wfre_sq_term){.kind = WFRE_SQ_IRI,
                           .offset = p->token.offset,
                           .slot = WFRE_NONE,
                           .text = {iri, strlen(iri)}};
    return wfre_sq_constant(p, term);
}

bool wfre_sq_at_iri(const wfre_sq_parser *p)
{
    return p->token.kind == WFRE_SQ_IRIREF || p->token.kind == WFRE_SQ_PNAME;
}

/* Declares the prefix of the token if the graph has it. */
static wfre_status borrow_prefix(wfre_sq_parser *p, bool *found)
{
    wfre_status status = WFRE_OK;
    wfre_name name = p->token.prefix;
    wfre_text iri = {0};
    *found = p->graph && wfre_graph_find_prefix(p->graph, name.bytes, name.length, &iri);
    if (!p->graph && name.length == 1 && (name.bytes[0] == 'e' || name.bytes[0] == 'r')) {
        *found = true;
        wfre_text_format(&iri, "urn:wfre:%c:", name.bytes[0]);
    }
    TRY(wfre_text_status(&iri, "reading a SPARQL query", p->error));
    if (*found) {
        const char *copy = wfre_arena_text(p->arena, iri.data ? iri.data : "", iri.length);
        status =
            copy ? wfre_sq_add_prefix(p, name, (wfre_name){copy, iri.length}) : wfre_sq_memory(p);
    }
cleanup:
    wfre_text_free(&iri);
    return status;
}

static wfre_status expand_prefixed(wfre_sq_parser *p, wfre_name *iri)
{
    const wfre_sq_token *token = &p->token;
    bool found;
    for (uint32_t i = p->query->prefix_count; i-- > 0;)
        if (same(p->prefixes[i].name, token->prefix)) {
            wfre_name front = p->prefixes[i].iri;
            char *bytes = wfre_arena_alloc(p->arena, front.length + token->text.length + 1, 1);
            if (!bytes)
                return wfre_sq_memory(p);
            if (front.length)
                memcpy(bytes, front.bytes, front.length);
            if (token->text.length)
                memcpy(bytes + front.length, token->text.bytes, token->text.length);
            *iri = (wfre_name){bytes, front.length + token->text.length};
            return WFRE_OK;
        }
    CHECK(borrow_prefix(p, &found));
    if (found)
        return expand_prefixed(p, iri);
    return wfre_fail(p->error, WFRE_ERR_FORMAT, token->offset,
                     "the prefix %.*s: is not declared; put PREFIX %.*s: <...> in front",
                     (int)token->prefix.length, token->prefix.bytes, (int)token->prefix.length,
                     token->prefix.bytes);
}

wfre_status wfre_sq_parse_iri(wfre_sq_parser *p, wfre_sq_term *term)
{
    wfre_status status = WFRE_OK;
    *term = (wfre_sq_term){
        .kind = WFRE_SQ_IRI, .offset = p->token.offset, .slot = WFRE_NONE, .text = p->token.text};
    if (!wfre_sq_at_iri(p))
        return wfre_sq_expected(p, "an IRI, such as <http://example.org/a> or prefix:name");
    if (p->token.kind == WFRE_SQ_PNAME) {
        TRY(expand_prefixed(p, &term->text));
    } else if (p->query->base.length) {
        if (!wfre_sq_iri_resolve(p->arena, p->query->base, p->token.text, &term->text))
            return wfre_sq_memory(p);
    } else if (!wfre_sq_iri_absolute(p->token.text)) {
        return wfre_fail(p->error, WFRE_ERR_FORMAT, p->token.offset,
                         "<%.*s> is a relative IRI; put BASE <...> in front of the query",
                         (int)(p->token.text.length > 200 ? 200 : p->token.text.length),
                         p->token.text.bytes);
    }
    TRY(wfre_sq_constant(p, term));
    TRY(wfre_sq_advance(p));
cleanup:
    return status;
}

/* ---- literals ----------------------------------------------------------------------------- */

static bool at_number(const wfre_sq_parser *p)
{
    return p->token.kind == WFRE_SQ_INTEGER || p->token.kind == WFRE_SQ_DECIMAL ||
           p->token.kind == WFRE_SQ_DOUBLE;
}

bool wfre_sq_at_literal(const wfre_sq_parser *p)
{
    return at_number(p) || p->token.kind == WFRE_SQ_STRING || wfre_sq_at_word(p, "true") ||
           wfre_sq_at_word(p, "false") || wfre_sq_at_sign(p, "+") || wfre_sq_at_sign(p, "-");
}

static wfre_status parse_number(wfre_sq_parser *p, wfre_sq_term *term)
{
    wfre_status status = WFRE_OK;
    bool negative = wfre_sq_at_sign(p, "-"), positive = wfre_sq_at_sign(p, "+");
    if (negative || positive) {
        TRY(wfre_sq_advance(p));
        if (!at_number(p) || p->token.separate)
            return wfre_sq_expected(p, "a number right behind its sign");
    }
    static const char *const TYPES[] = {XSD "integer", XSD "decimal", XSD "double"};
    const char *type = TYPES[p->token.kind - WFRE_SQ_INTEGER];
    term->datatype = (wfre_name){type, strlen(type)};
    term->text = p->token.text;
    if (negative || positive) {
        char *bytes = wfre_arena_alloc(p->arena, p->token.text.length + 1, 1);
        if (!bytes)
            return wfre_sq_memory(p);
        bytes[0] = negative ? '-' : '+';
        memcpy(bytes + 1, p->token.text.bytes, p->token.text.length);
        term->text = (wfre_name){bytes, p->token.text.length + 1};
    }
    TRY(wfre_sq_advance(p));
cleanup:
    return status;
}

static wfre_status parse_string(wfre_sq_parser *p, wfre_sq_term *term)
{
    wfre_status status;
    term->text = p->token.text;
    TRY(wfre_sq_advance(p));
    if (p->token.kind == WFRE_SQ_LANGTAG) {
        term->language = p->token.text;
        TRY(wfre_sq_advance(p));
    } else if (wfre_sq_at_sign(p, "^^")) {
        wfre_sq_term type;
        TRY(wfre_sq_advance(p));
        TRY(wfre_sq_parse_iri(p, &type));
        term->datatype = type.text;
        if (same(type.text, (wfre_name){XSD "string", sizeof(XSD "string") - 1}))
            term->datatype = (wfre_name){NULL, 0};
    }
cleanup:
    return status;
}

wfre_status wfre_sq_parse_literal(wfre_sq_parser *p, wfre_sq_term *term)
{
    wfre_status status;
    *term = (wfre_sq_term){.kind = WFRE_SQ_LITERAL, .offset = p->token.offset, .slot = WFRE_NONE};
    if (p->token.kind == WFRE_SQ_STRING) {
        TRY(parse_string(p, term));
    } else if (p->token.kind == WFRE_SQ_WORD) {
        bool truth = wfre_sq_at_word(p, "true");
        term->text = truth ? (wfre_name){"true", 4} : (wfre_name){"false", 5};
        term->datatype = (wfre_name){XSD "boolean", sizeof(XSD "boolean") - 1};
        TRY(wfre_sq_advance(p));
    } else {
        TRY(parse_number(p, term));
    }
    TRY(wfre_sq_constant(p, term));
cleanup:
    return status;
}

/* ---- blank nodes -------------------------------------------------------------------------- */

/* The slot of a label. A label belongs to one basic pattern. */
static wfre_status find_label(wfre_sq_parser *p, wfre_sq_slot *slot)
{
    wfre_status status;
    for (size_t i = 0; i < p->label_count; i++)
        if (same(p->labels[i].name, p->token.text)) {
            *slot = p->labels[i].slot;
            if (p->labels[i].basic == p->basics)
                return WFRE_OK;
            return wfre_fail(p->error, WFRE_ERR_FORMAT, p->token.offset,
                             "the blank node _:%.*s stands in two groups of triples; use a "
                             "variable instead",
                             (int)(p->token.text.length > 200 ? 200 : p->token.text.length),
                             p->token.text.bytes);
        }
    if (!wfre_reserve(&p->labels, &p->label_capacity, p->label_count + 1, sizeof *p->labels))
        return wfre_sq_memory(p);
    TRY(wfre_sq_new_slot(p, (wfre_name){NULL, 0}, slot));
    p->labels[p->label_count++] = (wfre_sq_label){p->token.text, *slot, p->basics};
cleanup:
    return status;
}

wfre_status wfre_sq_parse_term(wfre_sq_parser *p, wfre_sq_term *term)
{
    wfre_status status;
    *term = (wfre_sq_term){.kind = WFRE_SQ_SLOT, .offset = p->token.offset, .slot = WFRE_NONE};
    if (p->token.kind == WFRE_SQ_VAR) {
        TRY(wfre_sq_parse_variable(p, &term->slot));
    } else if (p->token.kind == WFRE_SQ_BLANK) {
        TRY(find_label(p, &term->slot));
        TRY(wfre_sq_advance(p));
    } else if (wfre_sq_at_iri(p)) {
        TRY(wfre_sq_parse_iri(p, term));
    } else if (wfre_sq_at_literal(p)) {
        TRY(wfre_sq_parse_literal(p, term));
    } else if (wfre_sq_at_sign(p, "(")) {
        TRY(wfre_sq_advance(p));
        TRY(wfre_sq_expect_sign(p, ")", "a closing bracket"));
        TRY(wfre_sq_known_iri(p, RDF_NIL, term));
    } else if (wfre_sq_at_sign(p, "[")) {
        TRY(wfre_sq_advance(p));
        TRY(wfre_sq_expect_sign(p, "]", "a closing bracket"));
        TRY(wfre_sq_new_slot(p, (wfre_name){NULL, 0}, &term->slot));
    } else {
        status = wfre_sq_expected(p, "a variable, an IRI, a literal or a blank node");
    }
cleanup:
    return status;
}
