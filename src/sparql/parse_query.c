/* Reading a whole query: prologue, form, dataset, WHERE, solution modifiers. */
#include <string.h>

#include "base/clock.h"
#include "base/scope.h"
#include "sparql/iri.h"
#include "sparql/parser.h"

/* ---- tokens ------------------------------------------------------------------------------- */

wfre_status wfre_sq_memory(wfre_sq_parser *p)
{
    return wfre_fail_memory(p->error, "reading a SPARQL query");
}

wfre_status wfre_sq_advance(wfre_sq_parser *p)
{
    return wfre_sq_lexer_next(&p->lexer, &p->token);
}

wfre_status wfre_sq_expected(wfre_sq_parser *p, const char *what)
{
    return wfre_fail(p->error, WFRE_ERR_FORMAT, p->token.offset, "expected %s", what);
}

wfre_status wfre_sq_expect_sign(wfre_sq_parser *p, const char *sign, const char *what)
{
    return wfre_sq_at_sign(p, sign) ? wfre_sq_advance(p) : wfre_sq_expected(p, what);
}

wfre_status wfre_sq_expect_word(wfre_sq_parser *p, const char *word)
{
    return wfre_sq_at_word(p, word) ? wfre_sq_advance(p) : wfre_sq_expected(p, word);
}

wfre_status wfre_sq_deeper(wfre_sq_parser *p)
{
    if (++p->depth <= WFRE_SQ_DEPTH)
        return WFRE_OK;
    return wfre_fail(p->error, WFRE_ERR_FORMAT, p->token.offset,
                     "the query is nested too deep, in more than %d levels", WFRE_SQ_DEPTH);
}

void *wfre_sq_append(wfre_arena *arena, void *array, uint32_t count, const void *element,
                     size_t size)
{
    if (count == 0 || (count & (count - 1)) == 0) {
        void *grown = wfre_arena_alloc(arena, count ? (size_t)count * 2 : 1, size);
        if (!grown)
            return NULL;
        if (count)
            memcpy(grown, array, count * size);
        array = grown;
    }
    memcpy((char *)array + count * size, element, size);
    return array;
}

/* ---- prologue ----------------------------------------------------------------------------- */

wfre_status wfre_sq_add_prefix(wfre_sq_parser *p, wfre_name name, wfre_name iri)
{
    for (uint32_t i = 0; i < p->query->prefix_count; i++)
        if (p->prefixes[i].name.length == name.length &&
            (name.length == 0 || memcmp(p->prefixes[i].name.bytes, name.bytes, name.length) == 0)) {
            p->prefixes[i].iri = iri;
            return WFRE_OK;
        }
    if (!wfre_reserve(&p->prefixes, &p->prefix_capacity, (size_t)p->query->prefix_count + 1,
                      sizeof *p->prefixes))
        return wfre_sq_memory(p);
    p->prefixes[p->query->prefix_count++] = (wfre_sq_prefix){name, iri};
    return WFRE_OK;
}

/* The IRI of BASE or PREFIX. */
static wfre_status parse_prologue_iri(wfre_sq_parser *p, wfre_name *iri)
{
    if (p->token.kind != WFRE_SQ_IRIREF)
        return wfre_sq_expected(p, "an IRI, such as <http://example.org/>");
    *iri = p->token.text;
    if (p->query->base.length && !wfre_sq_iri_resolve(p->arena, p->query->base, p->token.text, iri))
        return wfre_sq_memory(p);
    return wfre_sq_advance(p);
}

static wfre_status parse_prologue(wfre_sq_parser *p)
{
    wfre_status status = WFRE_OK;
    while (true) {
        if (wfre_sq_at_word(p, "BASE")) {
            wfre_name base;
            TRY(wfre_sq_advance(p));
            TRY(parse_prologue_iri(p, &base));
            p->query->base = base;
        } else if (wfre_sq_at_word(p, "PREFIX")) {
            wfre_name iri;
            TRY(wfre_sq_advance(p));
            if (p->token.kind != WFRE_SQ_PNAME || p->token.text.length)
                return wfre_sq_expected(p, "a prefix and its colon, such as foaf:");
            wfre_name name = p->token.prefix;
            TRY(wfre_sq_advance(p));
            TRY(parse_prologue_iri(p, &iri));
            TRY(wfre_sq_add_prefix(p, name, iri));
        } else {
            return WFRE_OK;
        }
    }
cleanup:
    return status;
}

/* ---- clauses ------------------------------------------------------------------------------ */

/* ( expression AS ?x ); the variable belongs to `scope`. */
static wfre_status parse_as(wfre_sq_parser *p, wfre_sq_column *column)
{
    wfre_status status;
    TRY(wfre_sq_advance(p));
    TRY(wfre_sq_parse_expression(p, &column->expression));
    TRY(wfre_sq_expect_word(p, "AS"));
    column->offset = p->token.offset;
    TRY(wfre_sq_parse_variable(p, &column->slot));
    TRY(wfre_sq_expect_sign(p, ")", "a closing bracket"));
cleanup:
    return status;
}

/* Behind SELECT. */
static wfre_status parse_columns(wfre_sq_parser *p, wfre_sq_select *select)
{
    wfre_status status = WFRE_OK;
    if (wfre_sq_at_word(p, "DISTINCT") || wfre_sq_at_word(p, "REDUCED")) {
        select->duplicates = wfre_sq_at_word(p, "DISTINCT") ? WFRE_SQ_DISTINCT : WFRE_SQ_REDUCED;
        TRY(wfre_sq_advance(p));
    }
    if (wfre_sq_at_sign(p, "*")) {
        select->star = true;
        return wfre_sq_advance(p);
    }
    p->aggregates = true;
    while (p->token.kind == WFRE_SQ_VAR || wfre_sq_at_sign(p, "(")) {
        wfre_sq_column column = {.offset = p->token.offset};
        if (p->token.kind == WFRE_SQ_VAR)
            TRY(wfre_sq_parse_variable(p, &column.slot));
        else
            TRY(parse_as(p, &column));
        TRY(WFRE_SQ_APPEND(p, select->columns, select->column_count, &column));
    }
    p->aggregates = false;
    if (select->column_count == 0)
        return wfre_sq_expected(p, "variables, (expression AS ?x) or *");
cleanup:
    return status;
}

static wfre_status parse_group_by(wfre_sq_parser *p, wfre_sq_select *select)
{
    wfre_status status;
    TRY(wfre_sq_advance(p));
    TRY(wfre_sq_expect_word(p, "BY"));
    select->grouped = true;
    while (p->token.kind == WFRE_SQ_VAR || wfre_sq_at_constraint(p)) {
        wfre_sq_column key = {.slot = WFRE_NONE, .offset = p->token.offset};
        if (p->token.kind == WFRE_SQ_VAR) {
            TRY(wfre_sq_parse_variable(p, &key.slot));
        } else if (wfre_sq_at_sign(p, "(")) {
            TRY(wfre_sq_advance(p));
            TRY(wfre_sq_parse_expression(p, &key.expression));
            if (wfre_sq_at_word(p, "AS")) {
                TRY(wfre_sq_advance(p));
                TRY(wfre_sq_parse_variable(p, &key.slot));
            }
            TRY(wfre_sq_expect_sign(p, ")", "AS ?x or a closing bracket"));
        } else {
            TRY(wfre_sq_parse_constraint(p, &key.expression));
        }
        if (key.slot == WFRE_NONE)
            TRY(wfre_sq_new_slot(p, (wfre_name){NULL, 0}, &key.slot));
        TRY(WFRE_SQ_APPEND(p, select->keys, select->key_count, &key));
    }
    if (select->key_count == 0)
        return wfre_sq_expected(p, "what to group by");
cleanup:
    return status;
}

static wfre_status parse_having(wfre_sq_parser *p, wfre_sq_select *select)
{
    wfre_status status;
    TRY(wfre_sq_advance(p));
    select->grouped = true;
    p->aggregates = true;
    do {
        wfre_sq_expression *condition;
        TRY(wfre_sq_parse_constraint(p, &condition));
        TRY(WFRE_SQ_APPEND(p, select->having, select->having_count, &condition));
    } while (wfre_sq_at_constraint(p));
    p->aggregates = false;
cleanup:
    return status;
}

static bool at_order(const wfre_sq_parser *p)
{
    return p->token.kind == WFRE_SQ_VAR || wfre_sq_at_word(p, "ASC") ||
           wfre_sq_at_word(p, "DESC") || wfre_sq_at_constraint(p);
}

static wfre_status parse_order_by(wfre_sq_parser *p, wfre_sq_select *select)
{
    wfre_status status;
    TRY(wfre_sq_advance(p));
    TRY(wfre_sq_expect_word(p, "BY"));
    if (!at_order(p))
        return wfre_sq_expected(p, "what to order by");
    p->aggregates = true;
    while (at_order(p)) {
        wfre_sq_order order = {.descending = wfre_sq_at_word(p, "DESC")};
        bool direction = order.descending || wfre_sq_at_word(p, "ASC");
        if (direction) {
            TRY(wfre_sq_advance(p));
            if (!wfre_sq_at_sign(p, "("))
                return wfre_sq_expected(p, "an expression in brackets");
        }
        if (p->token.kind == WFRE_SQ_VAR) {
            order.expression = wfre_arena_alloc(p->arena, 1, sizeof *order.expression);
            if (!order.expression)
                return wfre_sq_memory(p);
            *order.expression = (wfre_sq_expression){.op = WFRE_SQ_VARIABLE,
                                                     .offset = p->token.offset,
                                                     .term.kind = WFRE_SQ_SLOT,
                                                     .number = p->query->expression_count++};
            TRY(wfre_sq_parse_variable(p, &order.expression->term.slot));
        } else {
            TRY(wfre_sq_parse_constraint(p, &order.expression));
        }
        TRY(WFRE_SQ_APPEND(p, select->orders, select->order_count, &order));
    }
    p->aggregates = false;
cleanup:
    return status;
}

static wfre_status parse_whole(wfre_sq_parser *p, uint64_t *number)
{
    if (p->token.kind != WFRE_SQ_INTEGER)
        return wfre_sq_expected(p, "a whole number");
    uint64_t value = 0;
    for (size_t i = 0; i < p->token.text.length; i++) {
        uint64_t digit = (uint64_t)(p->token.text.bytes[i] - '0');
        value = value > (UINT64_MAX - 10) / 10 ? UINT64_MAX : value * 10 + digit;
    }
    *number = value;
    return wfre_sq_advance(p);
}

static wfre_status parse_slice(wfre_sq_parser *p, wfre_sq_select *select)
{
    wfre_status status = WFRE_OK;
    bool limit = false, offset = false;
    while ((!limit && wfre_sq_at_word(p, "LIMIT")) || (!offset && wfre_sq_at_word(p, "OFFSET"))) {
        bool is_limit = wfre_sq_at_word(p, "LIMIT");
        limit |= is_limit;
        offset |= !is_limit;
        TRY(wfre_sq_advance(p));
        TRY(parse_whole(p, is_limit ? &select->limit : &select->offset));
    }
cleanup:
    return status;
}

/* GROUP BY, HAVING, ORDER BY, LIMIT and OFFSET, VALUES. */
static wfre_status parse_modifiers(wfre_sq_parser *p, wfre_sq_select *select)
{
    wfre_status status = WFRE_OK;
    if (wfre_sq_at_word(p, "GROUP"))
        TRY(parse_group_by(p, select));
    if (wfre_sq_at_word(p, "HAVING"))
        TRY(parse_having(p, select));
    if (wfre_sq_at_word(p, "ORDER"))
        TRY(parse_order_by(p, select));
    TRY(parse_slice(p, select));
    if (wfre_sq_at_word(p, "VALUES")) {
        TRY(wfre_sq_advance(p));
        TRY(wfre_sq_parse_values(p, &select->values));
    }
cleanup:
    return status;
}

static wfre_status parse_where(wfre_sq_parser *p, wfre_sq_select *select)
{
    wfre_status status = WFRE_OK;
    if (wfre_sq_at_word(p, "WHERE"))
        TRY(wfre_sq_advance(p));
    TRY(wfre_sq_parse_group(p, &select->where));
cleanup:
    return status;
}

/* ---- sub-SELECT --------------------------------------------------------------------------- */

/* The variables of the SELECT clause are those of the surroundings; the aggregates and the
 * expressions in it see the inner ones. So the names are looked at ahead of the clause. */
static wfre_status share_columns(wfre_sq_parser *p)
{
    wfre_status status = WFRE_OK;
    wfre_sq_lexer ahead = p->lexer;
    wfre_sq_token token = p->token;
    wfre_sq_scope *scope = p->scope;
    unsigned brackets = 0;
    bool as = false;
    for (; !wfre_sq_is_sign(&token, "{") && token.kind != WFRE_SQ_END && !scope->shares;) {
        wfre_sq_slot slot;
        if (wfre_sq_is_sign(&token, "*") && brackets == 0)
            scope->shares = true;
        if (token.kind == WFRE_SQ_VAR && (brackets == 0 || (as && brackets == 1))) {
            p->scope = scope->outer;
            TRY(wfre_sq_find_variable(p, token.text, &slot));
            p->scope = scope;
            if (!wfre_reserve(&scope->names, &scope->names_capacity, scope->count + 1,
                              sizeof *scope->names) ||
                !wfre_reserve(&scope->slots, &scope->slots_capacity, scope->count + 1,
                              sizeof *scope->slots)) {
                status = wfre_sq_memory(p);
                goto cleanup;
            }
            scope->names[scope->count] = token.text;
            scope->slots[scope->count++] = slot;
        }
        as = wfre_sq_is_word(&token, "AS");
        brackets += wfre_sq_is_sign(&token, "(");
        brackets -= wfre_sq_is_sign(&token, ")") && brackets > 0;
        if (wfre_sq_is_word(&token, "WHERE"))
            break;
        TRY(wfre_sq_lexer_next(&ahead, &token));
    }
cleanup:
    p->scope = scope;
    return status;
}

wfre_status wfre_sq_parse_subquery(wfre_sq_parser *p, wfre_sq_select *select)
{
    wfre_status status;
    *select = (wfre_sq_select){.limit = UINT64_MAX};
    wfre_sq_scope scope = {.outer = p->scope, .select = select};
    p->scope = &scope;
    TRY(wfre_sq_advance(p));
    TRY(share_columns(p));
    TRY(parse_columns(p, select));
    TRY(parse_where(p, select));
    TRY(parse_modifiers(p, select));
    TRY(wfre_sq_check_select(p, select));
cleanup:
    p->scope = scope.outer;
    wfre_free(scope.names);
    wfre_free(scope.slots);
    return status;
}

/* ---- forms -------------------------------------------------------------------------------- */

static wfre_status parse_sources(wfre_sq_parser *p)
{
    wfre_status status = WFRE_OK;
    while (wfre_sq_at_word(p, "FROM")) {
        wfre_sq_source source = {0};
        TRY(wfre_sq_advance(p));
        source.named = wfre_sq_at_word(p, "NAMED");
        if (source.named)
            TRY(wfre_sq_advance(p));
        TRY(wfre_sq_parse_iri(p, &source.name));
        TRY(WFRE_SQ_APPEND(p, p->query->sources, p->query->source_count, &source));
    }
cleanup:
    return status;
}

/* { triples } behind CONSTRUCT, or behind CONSTRUCT WHERE. */
static wfre_status parse_template(wfre_sq_parser *p, wfre_sq_triples *triples)
{
    wfre_status status;
    p->template = true;
    p->basics++;
    TRY(wfre_sq_expect_sign(p, "{", "an opening brace and the triples to make"));
    while (wfre_sq_at_triples(p)) {
        TRY(wfre_sq_parse_triples(p, triples));
        if (!wfre_sq_at_sign(p, "."))
            break;
        TRY(wfre_sq_advance(p));
    }
    TRY(wfre_sq_expect_sign(p, "}", "a dot, a triple or a closing brace"));
    p->template = false;
cleanup:
    return status;
}

static wfre_status parse_construct(wfre_sq_parser *p)
{
    wfre_status status;
    struct wfre_sparql *query = p->query;
    wfre_sq_triples triples = {0};
    query->form = WFRE_SQ_CONSTRUCT;
    TRY(wfre_sq_advance(p));
    if (wfre_sq_at_sign(p, "{")) {
        TRY(parse_template(p, &triples));
        p->basics++; /* labels of the template are not those of the pattern */
        p->label_count = 0;
        TRY(parse_sources(p));
        TRY(parse_where(p, &query->select));
    } else {
        TRY(parse_sources(p));
        TRY(wfre_sq_expect_word(p, "WHERE"));
        TRY(parse_template(p, &triples));
        TRY(wfre_sq_new_pattern(p, WFRE_SQ_BASIC, 0, &query->select.where));
        query->select.where->triples = triples.triples;
        query->select.where->count = triples.count;
    }
    query->template = triples.triples;
    query->template_count = triples.count;
cleanup:
    return status;
}

static wfre_status parse_describe(wfre_sq_parser *p)
{
    wfre_status status;
    struct wfre_sparql *query = p->query;
    query->form = WFRE_SQ_DESCRIBE;
    TRY(wfre_sq_advance(p));
    query->select.star = wfre_sq_at_sign(p, "*");
    if (query->select.star)
        TRY(wfre_sq_advance(p));
    while (!query->select.star && (p->token.kind == WFRE_SQ_VAR || wfre_sq_at_iri(p))) {
        wfre_sq_term term;
        TRY(wfre_sq_parse_term(p, &term));
        TRY(WFRE_SQ_APPEND(p, query->described, query->described_count, &term));
    }
    if (!query->select.star && query->described_count == 0)
        return wfre_sq_expected(p, "a variable, an IRI or *");
    TRY(parse_sources(p));
    if (wfre_sq_at_word(p, "WHERE") || wfre_sq_at_sign(p, "{"))
        TRY(parse_where(p, &query->select));
    else
        TRY(wfre_sq_new_pattern(p, WFRE_SQ_BASIC, p->token.offset, &query->select.where));
cleanup:
    return status;
}

static wfre_status refuse_update(wfre_sq_parser *p)
{
    static const char *const UPDATES[] = {"INSERT", "DELETE", "LOAD", "CLEAR", "DROP",
                                          "CREATE", "ADD",    "MOVE", "COPY",  "WITH"};
    for (size_t i = 0; i < sizeof UPDATES / sizeof *UPDATES; i++)
        if (wfre_sq_at_word(p, UPDATES[i]))
            return wfre_fail(p->error, WFRE_ERR_UNSUPPORTED, p->token.offset,
                             "%s: SPARQL Update is not supported; graphs are changed by importing "
                             "them again",
                             UPDATES[i]);
    return wfre_sq_expected(p, "SELECT, ASK, CONSTRUCT or DESCRIBE");
}

static wfre_status parse_form(wfre_sq_parser *p)
{
    wfre_status status;
    struct wfre_sparql *query = p->query;
    if (wfre_sq_at_word(p, "SELECT")) {
        query->form = WFRE_SQ_SELECT;
        TRY(wfre_sq_advance(p));
        TRY(parse_columns(p, &query->select));
        TRY(parse_sources(p));
        TRY(parse_where(p, &query->select));
    } else if (wfre_sq_at_word(p, "ASK")) {
        query->form = WFRE_SQ_ASK;
        TRY(wfre_sq_advance(p));
        TRY(parse_sources(p));
        TRY(parse_where(p, &query->select));
    } else if (wfre_sq_at_word(p, "CONSTRUCT")) {
        TRY(parse_construct(p));
    } else if (wfre_sq_at_word(p, "DESCRIBE")) {
        TRY(parse_describe(p));
    } else {
        return refuse_update(p);
    }
    TRY(parse_modifiers(p, &query->select));
    if (p->token.kind != WFRE_SQ_END)
        return wfre_sq_expected(p, "the end of the query");
    TRY(wfre_sq_check_select(p, &query->select));
cleanup:
    return status;
}

/* Moves what grew on the heap to the query's arena. */
static wfre_status keep(wfre_sq_parser *p)
{
    struct wfre_sparql *query = p->query;
    query->slot_names =
        wfre_arena_alloc(p->arena, (size_t)query->slot_count + 1, sizeof *query->slot_names);
    query->constants =
        wfre_arena_alloc(p->arena, (size_t)query->constant_count + 1, sizeof *query->constants);
    query->prefixes =
        wfre_arena_alloc(p->arena, (size_t)query->prefix_count + 1, sizeof *query->prefixes);
    if (!query->slot_names || !query->constants || !query->prefixes)
        return wfre_sq_memory(p);
    if (query->slot_count)
        memcpy(query->slot_names, p->slot_names, query->slot_count * sizeof *query->slot_names);
    if (query->constant_count)
        memcpy(query->constants, p->constant_terms,
               query->constant_count * sizeof *query->constants);
    if (query->prefix_count)
        memcpy(query->prefixes, p->prefixes, query->prefix_count * sizeof *query->prefixes);
    return WFRE_OK;
}

static wfre_status parse(wfre_sq_parser *p, const wfre_sparql_options *options, const char *text,
                         size_t length)
{
    wfre_status status;
    wfre_sq_scope scope = {.select = &p->query->select};
    p->scope = &scope;
    p->query->select.limit = UINT64_MAX;
    p->graph = options ? options->graph : NULL;
    if (options && options->base) {
        size_t size = strlen(options->base);
        p->query->base = (wfre_name){wfre_arena_text(p->arena, options->base, size), size};
        if (!p->query->base.bytes)
            return wfre_sq_memory(p);
    }
    const char *copy = wfre_arena_text(p->arena, text, length);
    if (!copy)
        return wfre_sq_memory(p);
    TRY(wfre_sq_lexer_open(&p->lexer, p->arena, copy, length, p->error));
    TRY(wfre_sq_advance(p));
    TRY(parse_prologue(p));
    TRY(parse_form(p));
    TRY(keep(p));
cleanup:
    wfre_free(scope.names);
    wfre_free(scope.slots);
    return status;
}

wfre_status wfre_sparql_parse(const char *text, size_t length, const wfre_sparql_options *options,
                              wfre_sparql **query, wfre_error *error)
{
    wfre_status status = WFRE_OK;
    const wfre_scope outer = wfre_scope_current();
    wfre_scope scope = outer;
    wfre_sparql *fresh = wfre_alloc_zero(1, sizeof *fresh);
    wfre_sq_parser *p = wfre_alloc_zero(1, sizeof *p);
    if (!fresh || !p) {
        status = wfre_fail_memory(error, "reading a SPARQL query");
        goto cleanup;
    }
    p->query = fresh;
    p->arena = &fresh->arena;
    p->error = error;
    if (options && options->cancel)
        scope.cancel = options->cancel;
    if (options && options->timeout > 0)
        scope.deadline = wfre_clock() + options->timeout;
    (void)wfre_scope_enter(scope);
    TRY(parse(p, options, text, length));
    *query = fresh;
    fresh = NULL;
cleanup:
    (void)wfre_scope_enter(outer);
    if (p) {
        wfre_strings_free(&p->constants);
        wfre_free(p->labels);
        wfre_free(p->slot_names);
        wfre_free(p->constant_terms);
        wfre_free(p->prefixes);
    }
    wfre_free(p);
    wfre_sparql_free(fresh);
    return status;
}

void wfre_sparql_free(wfre_sparql *query)
{
    if (query)
        wfre_arena_free(&query->arena);
    wfre_free(query);
}
