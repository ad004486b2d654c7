/* Reading triples: subjects with lists of predicates and objects, paths, collections and blank
 * nodes with properties. */
#include "sparql/parser.h"

#define RDF "http://www.w3.org/1999/02/22-rdf-syntax-ns#"

static wfre_status parse_path(wfre_sq_parser *p, wfre_sq_path **path);
static wfre_status parse_properties(wfre_sq_parser *p, wfre_sq_triples *triples,
                                    const wfre_sq_term *subject, bool needed);

/* ---- paths -------------------------------------------------------------------------------- */

static wfre_status new_path(wfre_sq_parser *p, wfre_sq_path_kind kind, size_t offset,
                            wfre_sq_path **path)
{
    wfre_sq_path *fresh = wfre_arena_alloc(p->arena, 1, sizeof *fresh);
    if (!fresh)
        return wfre_sq_memory(p);
    *fresh = (wfre_sq_path){.kind = kind, .offset = offset};
    *path = fresh;
    return WFRE_OK;
}

static wfre_status add_child(wfre_sq_parser *p, wfre_sq_path *path, wfre_sq_path *child)
{
    return WFRE_SQ_APPEND(p, path->children, path->count, &child);
}

/* A path around another one. */
static wfre_status wrap(wfre_sq_parser *p, wfre_sq_path_kind kind, size_t offset,
                        wfre_sq_path **path)
{
    wfre_status status;
    wfre_sq_path *outer = NULL;
    TRY(new_path(p, kind, offset, &outer));
    TRY(add_child(p, outer, *path));
    *path = outer;
cleanup:
    return status;
}

static wfre_status parse_link(wfre_sq_parser *p, wfre_sq_path **path)
{
    wfre_status status;
    TRY(new_path(p, WFRE_SQ_LINK, p->token.offset, path));
    if (wfre_sq_at_word(p, "a") && p->token.text.bytes[0] == 'a') {
        TRY(wfre_sq_known_iri(p, RDF "type", &(*path)->link));
        TRY(wfre_sq_advance(p));
    } else if (wfre_sq_at_iri(p)) {
        TRY(wfre_sq_parse_iri(p, &(*path)->link));
    } else {
        status = wfre_sq_expected(p, "a predicate: an IRI, a variable, a path or the word a");
    }
cleanup:
    return status;
}

typedef wfre_status (*reader)(wfre_sq_parser *p, wfre_sq_path **path);

/* What `read` reads, or its inverse behind ^. */
static wfre_status parse_directed(wfre_sq_parser *p, reader read, wfre_sq_path **path)
{
    size_t offset = p->token.offset;
    bool inverse = wfre_sq_at_sign(p, "^");
    if (inverse)
        CHECK(wfre_sq_advance(p));
    CHECK(read(p, path));
    return inverse ? wrap(p, WFRE_SQ_INVERSE, offset, path) : WFRE_OK;
}

/* What `read` reads, once or several times with a sign between. */
static wfre_status parse_joined(wfre_sq_parser *p, wfre_sq_path_kind kind, const char *sign,
                                reader read, wfre_sq_path **path)
{
    size_t offset = p->token.offset;
    CHECK(read(p, path));
    if (wfre_sq_at_sign(p, sign))
        CHECK(wrap(p, kind, offset, path));
    while (wfre_sq_at_sign(p, sign)) {
        wfre_sq_path *next;
        if (kind == WFRE_SQ_SEQUENCE && ++p->steps > WFRE_SQ_STEPS)
            return wfre_fail(p->error, WFRE_ERR_UNSUPPORTED, p->token.offset,
                             "the paths of the query have more than %d steps", WFRE_SQ_STEPS);
        CHECK(wfre_sq_advance(p));
        CHECK(read(p, &next));
        CHECK(add_child(p, *path, next));
    }
    return WFRE_OK;
}

/* Behind the exclamation mark. */
static wfre_status parse_negated(wfre_sq_parser *p, wfre_sq_path **path)
{
    wfre_status status;
    wfre_sq_path *link;
    TRY(new_path(p, WFRE_SQ_NEGATED, p->token.offset, path));
    if (!wfre_sq_at_sign(p, "(")) {
        TRY(parse_directed(p, parse_link, &link));
        return add_child(p, *path, link);
    }
    TRY(wfre_sq_advance(p));
    while (!wfre_sq_at_sign(p, ")")) {
        TRY(parse_directed(p, parse_link, &link));
        TRY(add_child(p, *path, link));
        if (!wfre_sq_at_sign(p, "|"))
            break;
        TRY(wfre_sq_advance(p));
    }
    TRY(wfre_sq_expect_sign(p, ")", "| or a closing bracket"));
cleanup:
    return status;
}

static wfre_status parse_path_element(wfre_sq_parser *p, wfre_sq_path **path)
{
    wfre_status status;
    size_t offset = p->token.offset;
    if (wfre_sq_at_sign(p, "!")) {
        TRY(wfre_sq_advance(p));
        TRY(parse_negated(p, path));
    } else if (wfre_sq_at_sign(p, "(")) {
        TRY(wfre_sq_advance(p));
        TRY(parse_path(p, path));
        TRY(wfre_sq_expect_sign(p, ")", "/ | or a closing bracket"));
    } else {
        TRY(parse_link(p, path));
    }
    static const char *const SIGNS[] = {"?", "*", "+"};
    for (size_t i = 0; i < 3; i++)
        if (wfre_sq_at_sign(p, SIGNS[i])) {
            TRY(wfre_sq_advance(p));
            return wrap(p, (wfre_sq_path_kind)(WFRE_SQ_OPTIONAL + i), offset, path);
        }
cleanup:
    return status;
}

static wfre_status parse_path_step(wfre_sq_parser *p, wfre_sq_path **path)
{
    return parse_directed(p, parse_path_element, path);
}

static wfre_status parse_path_sequence(wfre_sq_parser *p, wfre_sq_path **path)
{
    return parse_joined(p, WFRE_SQ_SEQUENCE, "/", parse_path_step, path);
}

static wfre_status parse_path(wfre_sq_parser *p, wfre_sq_path **path)
{
    CHECK(wfre_sq_deeper(p));
    CHECK(parse_joined(p, WFRE_SQ_ALTERNATIVE, "|", parse_path_sequence, path));
    p->depth--;
    return WFRE_OK;
}

/* ---- triples ------------------------------------------------------------------------------ */

static wfre_status add_triple(wfre_sq_parser *p, wfre_sq_triples *triples,
                              const wfre_sq_triple *triple)
{
    if (triples->count >= UINT16_MAX)
        return wfre_fail(p->error, WFRE_ERR_FORMAT, triple->subject.offset,
                         "more than %d triples in one group", UINT16_MAX);
    return WFRE_SQ_APPEND(p, triples->triples, triples->count, triple);
}

/* A path between two terms as triples: sequences get a blank node at each joint. */
static wfre_status add_path(wfre_sq_parser *p, wfre_sq_triples *triples, wfre_sq_term subject,
                            wfre_sq_path *path, wfre_sq_term object)
{
    wfre_status status = WFRE_OK;
    wfre_sq_triple triple = {.subject = subject, .object = object, .path = path};
    if (path->kind == WFRE_SQ_INVERSE)
        return add_path(p, triples, object, path->children[0], subject);
    if (path->kind == WFRE_SQ_SEQUENCE) {
        for (uint32_t i = 0; i < path->count; i++) {
            wfre_sq_term next = object;
            if (i + 1 < path->count) {
                next = (wfre_sq_term){.kind = WFRE_SQ_SLOT, .offset = path->offset};
                TRY(wfre_sq_new_slot(p, (wfre_name){NULL, 0}, &next.slot));
            }
            TRY(add_path(p, triples, subject, path->children[i], next));
            subject = next;
        }
        return WFRE_OK;
    }
    if (path->kind == WFRE_SQ_LINK) {
        triple.predicate = path->link;
        triple.path = NULL;
    }
    TRY(add_triple(p, triples, &triple));
cleanup:
    return status;
}

/* ( a b c ) as a list of blank nodes; `term` is the first of them. */
static wfre_status parse_collection(wfre_sq_parser *p, wfre_sq_triples *triples,
                                    wfre_sq_term *term);

/* [ p o; ... ] */
static wfre_status parse_described(wfre_sq_parser *p, wfre_sq_triples *triples, wfre_sq_term *term)
{
    wfre_status status;
    TRY(wfre_sq_deeper(p));
    *term = (wfre_sq_term){.kind = WFRE_SQ_SLOT, .offset = p->token.offset};
    TRY(wfre_sq_advance(p));
    TRY(wfre_sq_new_slot(p, (wfre_name){NULL, 0}, &term->slot));
    if (!wfre_sq_at_sign(p, "]"))
        TRY(parse_properties(p, triples, term, true));
    TRY(wfre_sq_expect_sign(p, "]", "; or a closing bracket"));
    p->depth--;
cleanup:
    return status;
}

/* A term that may have triples of its own. *compound: it was a collection or had properties. */
static wfre_status parse_node(wfre_sq_parser *p, wfre_sq_triples *triples, wfre_sq_term *term,
                              bool *compound)
{
    uint32_t before = triples->count;
    wfre_status status = wfre_sq_at_sign(p, "(")   ? parse_collection(p, triples, term)
                         : wfre_sq_at_sign(p, "[") ? parse_described(p, triples, term)
                                                   : wfre_sq_parse_term(p, term);
    *compound = triples->count > before;
    return status;
}

static wfre_status parse_collection(wfre_sq_parser *p, wfre_sq_triples *triples, wfre_sq_term *term)
{
    wfre_status status;
    wfre_sq_triple first = {0}, rest = {0};
    wfre_sq_term cell = {.kind = WFRE_SQ_SLOT, .offset = p->token.offset};
    TRY(wfre_sq_deeper(p));
    TRY(wfre_sq_advance(p));
    TRY(wfre_sq_known_iri(p, RDF "first", &first.predicate));
    TRY(wfre_sq_known_iri(p, RDF "rest", &rest.predicate));
    TRY(wfre_sq_known_iri(p, RDF "nil", &rest.object));
    wfre_sq_term nil = rest.object;
    *term = nil;
    while (!wfre_sq_at_sign(p, ")")) {
        bool compound;
        wfre_sq_term previous = cell;
        TRY(wfre_sq_new_slot(p, (wfre_name){NULL, 0}, &cell.slot));
        if (term->kind == WFRE_SQ_IRI) {
            *term = cell;
        } else {
            rest.subject = previous;
            rest.object = cell;
            TRY(add_triple(p, triples, &rest));
        }
        first.subject = cell;
        TRY(parse_node(p, triples, &first.object, &compound));
        TRY(add_triple(p, triples, &first));
    }
    if (term->kind == WFRE_SQ_SLOT) {
        rest.subject = cell;
        rest.object = nil;
        TRY(add_triple(p, triples, &rest));
    }
    TRY(wfre_sq_advance(p));
    p->depth--;
cleanup:
    return status;
}

/* A predicate and its objects. */
static wfre_status parse_property(wfre_sq_parser *p, wfre_sq_triples *triples,
                                  const wfre_sq_term *subject)
{
    wfre_status status;
    wfre_sq_triple triple = {.subject = *subject};
    wfre_sq_path *path = NULL;
    if (p->token.kind == WFRE_SQ_VAR)
        TRY(wfre_sq_parse_term(p, &triple.predicate));
    else if (p->template)
        TRY(parse_link(p, &path));
    else
        TRY(parse_path(p, &path));
    while (true) {
        bool compound;
        TRY(parse_node(p, triples, &triple.object, &compound));
        if (path)
            TRY(add_path(p, triples, *subject, path, triple.object));
        else
            TRY(add_triple(p, triples, &triple));
        if (!wfre_sq_at_sign(p, ","))
            break;
        TRY(wfre_sq_advance(p));
    }
cleanup:
    return status;
}

static bool at_verb(const wfre_sq_parser *p)
{
    return p->token.kind == WFRE_SQ_VAR || wfre_sq_at_iri(p) ||
           (wfre_sq_at_word(p, "a") && p->token.text.bytes[0] == 'a') ||
           (!p->template &&
            (wfre_sq_at_sign(p, "^") || wfre_sq_at_sign(p, "!") || wfre_sq_at_sign(p, "(")));
}

/* Predicates and objects, separated by semicolons. */
static wfre_status parse_properties(wfre_sq_parser *p, wfre_sq_triples *triples,
                                    const wfre_sq_term *subject, bool needed)
{
    wfre_status status = WFRE_OK;
    if (!at_verb(p))
        return needed ? wfre_sq_expected(p, p->template
                                                ? "a predicate: an IRI, a variable or the word a"
                                                : "a predicate: an IRI, a variable, a path or the "
                                                  "word a")
                      : WFRE_OK;
    TRY(parse_property(p, triples, subject));
    while (wfre_sq_at_sign(p, ";")) {
        TRY(wfre_sq_advance(p));
        if (at_verb(p))
            TRY(parse_property(p, triples, subject));
    }
cleanup:
    return status;
}

bool wfre_sq_at_triples(const wfre_sq_parser *p)
{
    return p->token.kind == WFRE_SQ_VAR || p->token.kind == WFRE_SQ_BLANK || wfre_sq_at_iri(p) ||
           wfre_sq_at_literal(p) || wfre_sq_at_sign(p, "(") || wfre_sq_at_sign(p, "[");
}

wfre_status wfre_sq_parse_triples(wfre_sq_parser *p, wfre_sq_triples *triples)
{
    wfre_status status;
    wfre_sq_term subject;
    bool compound;
    TRY(parse_node(p, triples, &subject, &compound));
    TRY(parse_properties(p, triples, &subject, !compound));
cleanup:
    return status;
}
