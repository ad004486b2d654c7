/* Which variables a pattern binds, and the rules about names of a SELECT (sections 18.2.1 and
 * 19.8). */
#include "sparql/parser.h"

static bool is_slot(const wfre_sq_term *term, wfre_sq_slot slot)
{
    return term->kind == WFRE_SQ_SLOT && term->slot == slot;
}

static bool select_binds(const wfre_sq_select *select, wfre_sq_slot slot)
{
    for (uint32_t i = 0; i < select->column_count; i++)
        if (select->columns[i].slot == slot)
            return true;
    return false;
}

bool wfre_sq_binds(const wfre_sq_pattern *pattern, wfre_sq_slot slot)
{
    switch (pattern->kind) {
    case WFRE_SQ_BASIC:
        for (uint32_t i = 0; i < pattern->count; i++) {
            const wfre_sq_triple *t = &pattern->triples[i];
            if (is_slot(&t->subject, slot) || is_slot(&t->object, slot) ||
                (!t->path && is_slot(&t->predicate, slot)))
                return true;
        }
        return false;
    case WFRE_SQ_VALUES:
        for (uint32_t i = 0; i < pattern->width; i++)
            if (pattern->columns[i] == slot)
                return true;
        return false;
    case WFRE_SQ_SUBQUERY:
        return select_binds(pattern->select, slot);
    case WFRE_SQ_MINUS:
        return wfre_sq_binds(pattern->children[0], slot);
    case WFRE_SQ_EXTEND:
        return pattern->slot == slot || wfre_sq_binds(pattern->children[0], slot);
    default:
        if ((pattern->kind == WFRE_SQ_GRAPH || pattern->kind == WFRE_SQ_SERVICE) &&
            is_slot(&pattern->name, slot))
            return true;
        for (uint32_t i = 0; i < pattern->count; i++)
            if (wfre_sq_binds(pattern->children[i], slot))
                return true;
        return false;
    }
}

static wfre_status fail_name(wfre_sq_parser *p, size_t offset, wfre_sq_slot slot, const char *what)
{
    wfre_name name = p->slot_names[slot];
    return wfre_fail(p->error, WFRE_ERR_FORMAT, offset, "?%.*s %s",
                     (int)(name.length > 200 ? 200 : name.length), name.bytes, what);
}

/* SELECT *: all variables of the scope that the patterns bind, in the order of their names' first
 * appearance. */
static wfre_status fill_star(wfre_sq_parser *p, wfre_sq_select *select)
{
    const wfre_sq_scope *scope = p->scope;
    for (size_t i = 0; i < scope->count; i++) {
        wfre_sq_column column = {.slot = scope->slots[i]};
        if (!wfre_sq_binds(select->where, column.slot) &&
            !(select->values && wfre_sq_binds(select->values, column.slot)))
            continue;
        CHECK(WFRE_SQ_APPEND(p, select->columns, select->column_count, &column));
    }
    return WFRE_OK;
}

static bool is_key(const wfre_sq_select *select, wfre_sq_slot slot)
{
    for (uint32_t i = 0; i < select->key_count; i++)
        if (select->keys[i].slot == slot)
            return true;
    return false;
}

/* Whether the slot has one value behind a group: a key, an aggregate, a column before this one, or
 * one of VALUES, which is joined to the groups (section 18.2.4.3). */
static bool single(const wfre_sq_select *select, uint32_t column, wfre_sq_slot slot)
{
    if (is_key(select, slot) || (select->values && wfre_sq_binds(select->values, slot)))
        return true;
    for (uint32_t i = 0; i < select->aggregate_count; i++)
        if (select->aggregates[i].slot == slot)
            return true;
    for (uint32_t i = 0; i < column; i++)
        if (select->columns[i].slot == slot)
            return true;
    return false;
}

static wfre_status check_single(wfre_sq_parser *p, const wfre_sq_select *select, uint32_t column,
                                const wfre_sq_expression *expression)
{
    wfre_status status = WFRE_OK;
    if (expression->op == WFRE_SQ_VARIABLE && !single(select, column, expression->term.slot))
        return fail_name(p, expression->offset, expression->term.slot,
                         "is neither in GROUP BY nor within an aggregate");
    for (uint32_t i = 0; i < expression->count; i++)
        TRY(check_single(p, select, column, expression->arguments[i]));
cleanup:
    return status;
}

/* Why (... AS ?x) may not take the slot, or NULL: something binds it. Behind groups only their
 * keys, and what VALUES joins to them, are in scope (section 18.2.4.4). */
static const char *why_taken(const wfre_sq_select *select, wfre_sq_slot slot)
{
    if (is_key(select, slot))
        return "behind AS is in GROUP BY already; take a new variable";
    if (!select->grouped && wfre_sq_binds(select->where, slot))
        return "behind AS is used in the pattern already; take a new variable";
    return select->values && wfre_sq_binds(select->values, slot)
               ? "behind AS is a variable of VALUES already; take a new one"
               : NULL;
}

static wfre_status check_columns(wfre_sq_parser *p, const wfre_sq_select *select)
{
    wfre_status status = WFRE_OK;
    for (uint32_t i = 0; i < select->column_count; i++) {
        const wfre_sq_column *column = &select->columns[i];
        if (select->grouped && !column->expression && !single(select, 0, column->slot))
            return fail_name(p, column->offset, column->slot,
                             "is neither in GROUP BY nor within an aggregate");
        if (!column->expression)
            continue;
        if (select->grouped)
            TRY(check_single(p, select, i, column->expression));
        const char *taken = why_taken(select, column->slot);
        if (taken)
            return fail_name(p, column->offset, column->slot, taken);
        for (uint32_t k = 0; k < i; k++)
            if (select->columns[k].slot == column->slot)
                return fail_name(p, column->offset, column->slot,
                                 "behind AS is selected twice; take a new variable");
    }
cleanup:
    return status;
}

wfre_status wfre_sq_check_select(wfre_sq_parser *p, wfre_sq_select *select)
{
    wfre_status status = WFRE_OK;
    if (select->star && select->grouped)
        return wfre_fail(p->error, WFRE_ERR_FORMAT, p->token.offset,
                         "SELECT * does not go with GROUP BY; name the variables");
    if (select->star)
        TRY(fill_star(p, select));
    else
        TRY(check_columns(p, select));
cleanup:
    return status;
}
