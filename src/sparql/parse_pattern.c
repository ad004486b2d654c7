/* Reading groups { ... } and what stands in them, as algebra (section 18.2.2).
 *
 * A group is worked off from left to right: what has been read so far is one pattern, and each new
 * element is joined to it in its own way. Triples next to each other, filters between them or not,
 * are one basic pattern. The filters of a group hold for all of it. */
#include <string.h>

#include "sparql/parser.h"

/* A group while it is read. */
typedef struct group {
    wfre_sq_pattern *so_far; /* NULL: nothing yet */
    wfre_sq_pattern *basic;  /* the basic pattern that triples go to, part of `so_far`, or NULL */
    wfre_sq_triples triples; /* of `basic` */
    uint32_t filter_count;
    wfre_sq_expression **filters;
} group;

wfre_status wfre_sq_new_pattern(wfre_sq_parser *p, wfre_sq_pattern_kind kind, size_t offset,
                                wfre_sq_pattern **pattern)
{
    wfre_sq_pattern *fresh = wfre_arena_alloc(p->arena, 1, sizeof *fresh);
    if (!fresh)
        return wfre_sq_memory(p);
    *fresh = (wfre_sq_pattern){
        .kind = kind, .offset = offset, .slot = WFRE_NONE, .number = p->query->pattern_count++};
    *pattern = fresh;
    return WFRE_OK;
}

static wfre_status add_child(wfre_sq_parser *p, wfre_sq_pattern *pattern, wfre_sq_pattern *child)
{
    CHECK(WFRE_SQ_APPEND(p, pattern->children, pattern->count, &child));
    pattern->depth = child->depth >= pattern->depth ? child->depth + 1 : pattern->depth;
    if (pattern->depth > WFRE_SQ_DEPTH)
        return wfre_fail(p->error, WFRE_ERR_FORMAT, pattern->offset,
                         "more than %d patterns behind or within each other", WFRE_SQ_DEPTH);
    return WFRE_OK;
}

/* The group so far; one empty solution if there is nothing yet. */
static wfre_status so_far(wfre_sq_parser *p, group *g, wfre_sq_pattern **pattern)
{
    wfre_status status = WFRE_OK;
    if (!g->so_far)
        TRY(wfre_sq_new_pattern(p, WFRE_SQ_BASIC, p->token.offset, &g->so_far));
    *pattern = g->so_far;
cleanup:
    return status;
}

/* Ends the present basic pattern: later triples begin another. */
static void close_basic(group *g)
{
    if (g->basic) {
        g->basic->triples = g->triples.triples;
        g->basic->count = g->triples.count;
    }
    g->basic = NULL;
    g->triples = (wfre_sq_triples){0};
}

/* Joins a pattern to the group. */
static wfre_status join(wfre_sq_parser *p, group *g, wfre_sq_pattern *pattern)
{
    wfre_status status = WFRE_OK;
    if (!g->so_far) {
        g->so_far = pattern;
        return WFRE_OK;
    }
    if (g->so_far->kind != WFRE_SQ_JOIN) {
        wfre_sq_pattern *joined;
        TRY(wfre_sq_new_pattern(p, WFRE_SQ_JOIN, pattern->offset, &joined));
        TRY(add_child(p, joined, g->so_far));
        g->so_far = joined;
    }
    TRY(add_child(p, g->so_far, pattern));
cleanup:
    return status;
}

/* ---- elements ----------------------------------------------------------------------------- */

static wfre_status parse_filter(wfre_sq_parser *p, group *g)
{
    wfre_status status;
    wfre_sq_expression *filter;
    TRY(wfre_sq_advance(p));
    TRY(wfre_sq_parse_constraint(p, &filter));
    TRY(WFRE_SQ_APPEND(p, g->filters, g->filter_count, &filter));
cleanup:
    return status;
}

/* OPTIONAL and MINUS: what came so far, and a group. */
static wfre_status parse_beside(wfre_sq_parser *p, group *g, wfre_sq_pattern_kind kind)
{
    wfre_sq_pattern *left, *right, *whole;
    size_t offset = p->token.offset;
    CHECK(wfre_sq_advance(p));
    CHECK(wfre_sq_parse_group(p, &right));
    CHECK(so_far(p, g, &left));
    CHECK(wfre_sq_new_pattern(p, kind, offset, &whole));
    if (kind == WFRE_SQ_LEFT && right->kind == WFRE_SQ_FILTER && !right->closed) {
        whole->filters = right->filters; /* they are the condition of the left join */
        whole->filter_count = right->filter_count;
        right = right->children[0];
    }
    CHECK(add_child(p, whole, left));
    CHECK(add_child(p, whole, right));
    g->so_far = whole;
    return WFRE_OK;
}

static wfre_status parse_bind(wfre_sq_parser *p, group *g)
{
    wfre_status status;
    wfre_sq_pattern *inner, *whole;
    TRY(so_far(p, g, &inner));
    TRY(wfre_sq_new_pattern(p, WFRE_SQ_EXTEND, p->token.offset, &whole));
    TRY(wfre_sq_advance(p));
    TRY(wfre_sq_expect_sign(p, "(", "an opening bracket"));
    TRY(wfre_sq_parse_expression(p, &whole->expression));
    TRY(wfre_sq_expect_word(p, "AS"));
    size_t offset = p->token.offset;
    TRY(wfre_sq_parse_variable(p, &whole->slot));
    if (wfre_sq_binds(inner, whole->slot))
        return wfre_fail(p->error, WFRE_ERR_FORMAT, offset,
                         "BIND needs a new variable: ?%.*s is used in its group already",
                         (int)p->slot_names[whole->slot].length, p->slot_names[whole->slot].bytes);
    TRY(wfre_sq_expect_sign(p, ")", "a closing bracket"));
    TRY(add_child(p, whole, inner));
    g->so_far = whole;
cleanup:
    return status;
}

/* GRAPH name { ... } and SERVICE [SILENT] name { ... } */
static wfre_status parse_named(wfre_sq_parser *p, group *g, wfre_sq_pattern_kind kind)
{
    wfre_status status;
    wfre_sq_pattern *whole, *inner;
    TRY(wfre_sq_new_pattern(p, kind, p->token.offset, &whole));
    TRY(wfre_sq_advance(p));
    if (kind == WFRE_SQ_SERVICE && wfre_sq_at_word(p, "SILENT")) {
        whole->silent = true;
        TRY(wfre_sq_advance(p));
    }
    if (p->token.kind != WFRE_SQ_VAR && !wfre_sq_at_iri(p))
        return wfre_sq_expected(p, "a variable or an IRI");
    TRY(wfre_sq_parse_term(p, &whole->name));
    TRY(wfre_sq_parse_group(p, &inner));
    TRY(add_child(p, whole, inner));
    TRY(join(p, g, whole));
cleanup:
    return status;
}

/* { ... } UNION { ... } UNION ... */
static wfre_status parse_union(wfre_sq_parser *p, group *g)
{
    wfre_status status;
    size_t offset = p->token.offset;
    wfre_sq_pattern *first, *whole;
    TRY(wfre_sq_parse_group(p, &first));
    first->closed = true;
    if (!wfre_sq_at_word(p, "UNION"))
        return join(p, g, first);
    TRY(wfre_sq_new_pattern(p, WFRE_SQ_UNION, offset, &whole));
    TRY(add_child(p, whole, first));
    while (wfre_sq_at_word(p, "UNION")) {
        wfre_sq_pattern *next;
        TRY(wfre_sq_advance(p));
        TRY(wfre_sq_parse_group(p, &next));
        TRY(add_child(p, whole, next));
    }
    TRY(join(p, g, whole));
cleanup:
    return status;
}

/* ---- VALUES ------------------------------------------------------------------------------- */

static wfre_status parse_cell(wfre_sq_parser *p, wfre_sq_term *cell)
{
    wfre_status status;
    *cell = (wfre_sq_term){.kind = WFRE_SQ_UNDEF, .offset = p->token.offset};
    if (wfre_sq_at_word(p, "UNDEF"))
        TRY(wfre_sq_advance(p));
    else if (wfre_sq_at_iri(p))
        TRY(wfre_sq_parse_iri(p, cell));
    else if (wfre_sq_at_literal(p))
        TRY(wfre_sq_parse_literal(p, cell));
    else
        status = wfre_sq_expected(p, "an IRI, a literal or UNDEF");
cleanup:
    return status;
}

static wfre_status add_cell(wfre_sq_parser *p, wfre_sq_pattern *table, uint32_t *cells)
{
    wfre_sq_term cell;
    wfre_status status;
    TRY(parse_cell(p, &cell));
    TRY(WFRE_SQ_APPEND(p, table->cells, *cells, &cell));
cleanup:
    return status;
}

static wfre_status parse_columns(wfre_sq_parser *p, wfre_sq_pattern *table, bool *bracket)
{
    wfre_status status = WFRE_OK;
    *bracket = wfre_sq_at_sign(p, "(");
    if (*bracket)
        TRY(wfre_sq_advance(p));
    else if (p->token.kind != WFRE_SQ_VAR)
        return wfre_sq_expected(p, "a variable, or several in brackets");
    while (p->token.kind == WFRE_SQ_VAR) {
        wfre_sq_slot slot;
        size_t offset = p->token.offset;
        TRY(wfre_sq_parse_variable(p, &slot));
        for (uint32_t i = 0; i < table->width; i++)
            if (table->columns[i] == slot)
                return wfre_fail(p->error, WFRE_ERR_FORMAT, offset,
                                 "VALUES names a variable twice");
        TRY(WFRE_SQ_APPEND(p, table->columns, table->width, &slot));
        if (!*bracket)
            break;
    }
    if (*bracket)
        TRY(wfre_sq_expect_sign(p, ")", "a variable or a closing bracket"));
cleanup:
    return status;
}

/* ( a b ) */
static wfre_status parse_row(wfre_sq_parser *p, wfre_sq_pattern *table, uint32_t *cells)
{
    wfre_status status;
    size_t offset = p->token.offset;
    uint32_t before = *cells;
    TRY(wfre_sq_expect_sign(p, "(", "a row in brackets, or a closing brace"));
    while (!wfre_sq_at_sign(p, ")"))
        TRY(add_cell(p, table, cells));
    if (*cells - before != table->width)
        return wfre_fail(p->error, WFRE_ERR_FORMAT, offset,
                         "a row of VALUES has %u value%s for %u variable%s", *cells - before,
                         *cells - before == 1 ? "" : "s", table->width,
                         table->width == 1 ? "" : "s");
    TRY(wfre_sq_advance(p));
cleanup:
    return status;
}

wfre_status wfre_sq_parse_values(wfre_sq_parser *p, wfre_sq_pattern **pattern)
{
    wfre_status status;
    bool bracket;
    uint32_t cells = 0;
    TRY(wfre_sq_new_pattern(p, WFRE_SQ_VALUES, p->token.offset, pattern));
    wfre_sq_pattern *table = *pattern;
    TRY(parse_columns(p, table, &bracket));
    TRY(wfre_sq_expect_sign(p, "{", "an opening brace and the values"));
    while (!wfre_sq_at_sign(p, "}")) {
        if (bracket)
            TRY(parse_row(p, table, &cells));
        else
            TRY(add_cell(p, table, &cells));
        table->count++;
    }
    TRY(wfre_sq_advance(p));
cleanup:
    return status;
}

/* ---- groups ------------------------------------------------------------------------------- */

/* Triples, separated by dots, as part of the present basic pattern or of a new one. */
static wfre_status parse_basic(wfre_sq_parser *p, group *g)
{
    wfre_status status = WFRE_OK;
    if (!g->basic) {
        p->basics++;
        TRY(wfre_sq_new_pattern(p, WFRE_SQ_BASIC, p->token.offset, &g->basic));
        TRY(join(p, g, g->basic));
    }
    TRY(wfre_sq_parse_triples(p, &g->triples));
    while (wfre_sq_at_sign(p, ".")) {
        TRY(wfre_sq_advance(p));
        if (!wfre_sq_at_triples(p))
            return WFRE_OK;
        TRY(wfre_sq_parse_triples(p, &g->triples));
    }
    if (wfre_sq_at_triples(p))
        status = wfre_sq_expected(p, "a dot behind the triple");
cleanup:
    return status;
}

static wfre_status parse_element(wfre_sq_parser *p, group *g)
{
    wfre_status status;
    wfre_sq_pattern *values;
    if (wfre_sq_at_word(p, "FILTER"))
        return parse_filter(p, g);
    close_basic(g);
    if (wfre_sq_at_word(p, "OPTIONAL"))
        return parse_beside(p, g, WFRE_SQ_LEFT);
    if (wfre_sq_at_word(p, "MINUS"))
        return parse_beside(p, g, WFRE_SQ_MINUS);
    if (wfre_sq_at_word(p, "BIND"))
        return parse_bind(p, g);
    if (wfre_sq_at_word(p, "GRAPH"))
        return parse_named(p, g, WFRE_SQ_GRAPH);
    if (wfre_sq_at_word(p, "SERVICE"))
        return parse_named(p, g, WFRE_SQ_SERVICE);
    if (wfre_sq_at_sign(p, "{"))
        return parse_union(p, g);
    if (!wfre_sq_at_word(p, "VALUES"))
        return wfre_sq_expected(p, "triples, FILTER, OPTIONAL, UNION or a closing brace");
    TRY(wfre_sq_advance(p));
    TRY(wfre_sq_parse_values(p, &values));
    TRY(join(p, g, values));
cleanup:
    return status;
}

static wfre_status parse_elements(wfre_sq_parser *p, group *g)
{
    wfre_status status = WFRE_OK;
    while (!wfre_sq_at_sign(p, "}")) {
        if (wfre_sq_at_triples(p)) {
            TRY(parse_basic(p, g));
            continue;
        }
        TRY(parse_element(p, g));
        if (wfre_sq_at_sign(p, "."))
            TRY(wfre_sq_advance(p));
    }
    close_basic(g);
cleanup:
    return status;
}

/* The filters of a group around what it has. */
static wfre_status finish(wfre_sq_parser *p, group *g, wfre_sq_pattern **pattern)
{
    wfre_status status;
    wfre_sq_pattern *inner;
    TRY(so_far(p, g, &inner));
    *pattern = inner;
    if (g->filter_count) {
        TRY(wfre_sq_new_pattern(p, WFRE_SQ_FILTER, inner->offset, pattern));
        (*pattern)->filters = g->filters;
        (*pattern)->filter_count = g->filter_count;
        TRY(add_child(p, *pattern, inner));
    }
cleanup:
    return status;
}

wfre_status wfre_sq_parse_group(wfre_sq_parser *p, wfre_sq_pattern **pattern)
{
    wfre_status status;
    group g = {0};
    TRY(wfre_sq_deeper(p));
    bool aggregates = p->aggregates;
    p->aggregates = false;
    TRY(wfre_sq_expect_sign(p, "{", "an opening brace"));
    if (wfre_sq_at_word(p, "SELECT")) {
        TRY(wfre_sq_new_pattern(p, WFRE_SQ_SUBQUERY, p->token.offset, pattern));
        (*pattern)->select = wfre_arena_alloc(p->arena, 1, sizeof *(*pattern)->select);
        if (!(*pattern)->select)
            return wfre_sq_memory(p);
        TRY(wfre_sq_parse_subquery(p, (*pattern)->select));
        (*pattern)->depth = (*pattern)->select->where->depth + 1;
        if (!wfre_sq_at_sign(p, "}"))
            return wfre_sq_expected(p, "a closing brace behind the sub-SELECT");
    } else {
        TRY(parse_elements(p, &g));
        TRY(finish(p, &g, pattern));
    }
    TRY(wfre_sq_advance(p));
    p->aggregates = aggregates;
    p->depth--;
cleanup:
    return status;
}
