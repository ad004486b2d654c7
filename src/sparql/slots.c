/* Which slots a pattern binds, and what may be bound before it is entered.
 *
 * A pattern is transparent for a slot v if restricting it to v = t while it is evaluated leaves
 * exactly those of its solutions that agree with v = t. It is not where a part of it can tell
 * whether v is bound: a filter in whose group v is not bound for certain, an OPTIONAL that binds v
 * only sometimes, a LIMIT, an aggregate over v. */
#include "sparql/slots.h"

#include <string.h>

static void add_term(const wfre_sq_term *term, uint64_t *slots)
{
    if (term->kind == WFRE_SQ_SLOT)
        wfre_sq_slots_add(slots, term->slot);
}

static void add_triples(const wfre_sq_pattern *pattern, uint64_t *slots)
{
    for (uint32_t i = 0; i < pattern->count; i++) {
        const wfre_sq_triple *t = &pattern->triples[i];
        add_term(&t->subject, slots);
        add_term(&t->object, slots);
        if (!t->path)
            add_term(&t->predicate, slots);
    }
}

static bool has_name(const wfre_sq_pattern *pattern)
{
    return pattern->kind == WFRE_SQ_GRAPH || pattern->kind == WFRE_SQ_SERVICE;
}

void wfre_sq_pattern_possible(const wfre_sq_pattern *pattern, uint64_t *possible)
{
    if (pattern->kind == WFRE_SQ_BASIC) {
        add_triples(pattern, possible);
        return;
    }
    for (uint32_t i = 0; pattern->kind == WFRE_SQ_VALUES && i < pattern->width; i++)
        wfre_sq_slots_add(possible, pattern->columns[i]);
    if (pattern->kind == WFRE_SQ_VALUES)
        return;
    if (pattern->kind == WFRE_SQ_SUBQUERY) {
        for (uint32_t i = 0; i < pattern->select->column_count; i++)
            wfre_sq_slots_add(possible, pattern->select->columns[i].slot);
        return;
    }
    if (pattern->kind == WFRE_SQ_EXTEND)
        wfre_sq_slots_add(possible, pattern->slot);
    if (has_name(pattern))
        add_term(&pattern->name, possible);
    uint32_t count = pattern->kind == WFRE_SQ_MINUS ? 1 : pattern->count;
    for (uint32_t i = 0; i < count; i++)
        wfre_sq_pattern_possible(pattern->children[i], possible);
}

/* ---- certain ------------------------------------------------------------------------------ */

static void values_certain(const wfre_sq_pattern *pattern, uint64_t *certain)
{
    for (uint32_t c = 0; c < pattern->width; c++) {
        bool always = true;
        for (uint32_t r = 0; r < pattern->count; r++)
            always &= pattern->cells[(size_t)r * pattern->width + c].kind != WFRE_SQ_UNDEF;
        if (always)
            wfre_sq_slots_add(certain, pattern->columns[c]);
    }
}

static bool union_certain(wfre_arena *arena, size_t words, const wfre_sq_pattern *pattern,
                          uint64_t *certain)
{
    uint64_t *all = wfre_arena_alloc(arena, words, sizeof *all);
    uint64_t *one = wfre_arena_alloc(arena, words, sizeof *one);
    if (!all || !one)
        return false;
    for (uint32_t i = 0; i < pattern->count; i++) {
        memset(one, 0, words * sizeof *one);
        if (!wfre_sq_pattern_certain(arena, words, pattern->children[i], one))
            return false;
        for (size_t w = 0; w < words; w++)
            all[w] = i ? all[w] & one[w] : one[w];
    }
    for (size_t w = 0; w < words; w++)
        certain[w] |= all[w];
    return true;
}

/* A column is certain if it is a variable that the pattern is certain to bind, and, if there are
 * groups, one of their keys. */
static bool select_certain(wfre_arena *arena, size_t words, const wfre_sq_select *select,
                           uint64_t *certain)
{
    uint64_t *inner = wfre_arena_alloc(arena, words, sizeof *inner);
    if (!inner)
        return false;
    memset(inner, 0, words * sizeof *inner);
    if (!wfre_sq_pattern_certain(arena, words, select->where, inner) ||
        (select->values && !wfre_sq_pattern_certain(arena, words, select->values, inner)))
        return false;
    for (uint32_t i = 0; i < select->column_count; i++) {
        const wfre_sq_column *column = &select->columns[i];
        bool is = !column->expression && wfre_sq_slots_has(inner, column->slot);
        if (select->grouped && is) {
            is = false;
            for (uint32_t k = 0; k < select->key_count; k++)
                is |= select->keys[k].slot == column->slot && !select->keys[k].expression;
        }
        if (is)
            wfre_sq_slots_add(certain, column->slot);
    }
    return true;
}

bool wfre_sq_pattern_certain(wfre_arena *arena, size_t words, const wfre_sq_pattern *pattern,
                             uint64_t *certain)
{
    switch (pattern->kind) {
    case WFRE_SQ_BASIC:
        add_triples(pattern, certain);
        return true;
    case WFRE_SQ_VALUES:
        values_certain(pattern, certain);
        return true;
    case WFRE_SQ_UNION:
        return union_certain(arena, words, pattern, certain);
    case WFRE_SQ_SUBQUERY:
        return select_certain(arena, words, pattern->select, certain);
    case WFRE_SQ_SERVICE:
        return true;
    case WFRE_SQ_JOIN:
        for (uint32_t i = 0; i < pattern->count; i++)
            if (!wfre_sq_pattern_certain(arena, words, pattern->children[i], certain))
                return false;
        return true;
    default:
        if (pattern->kind == WFRE_SQ_GRAPH)
            add_term(&pattern->name, certain);
        return wfre_sq_pattern_certain(arena, words, pattern->children[0], certain);
    }
}

/* ---- mentions ----------------------------------------------------------------------------- */

void wfre_sq_expression_slots(const wfre_sq_expression *e, uint64_t *slots)
{
    if (e->op == WFRE_SQ_VARIABLE)
        wfre_sq_slots_add(slots, e->term.slot);
    if (e->pattern)
        wfre_sq_pattern_mentions(e->pattern, slots);
    for (uint32_t i = 0; i < e->count; i++)
        wfre_sq_expression_slots(e->arguments[i], slots);
}

bool wfre_sq_has_exists(const wfre_sq_expression *e)
{
    bool has = e->pattern != NULL;
    for (uint32_t i = 0; i < e->count && !has; i++)
        has = wfre_sq_has_exists(e->arguments[i]);
    return has;
}

static void select_mentions(const wfre_sq_select *select, uint64_t *slots)
{
    wfre_sq_pattern_mentions(select->where, slots);
    if (select->values)
        wfre_sq_pattern_mentions(select->values, slots);
    for (uint32_t i = 0; i < select->column_count; i++) {
        wfre_sq_slots_add(slots, select->columns[i].slot);
        if (select->columns[i].expression)
            wfre_sq_expression_slots(select->columns[i].expression, slots);
    }
    for (uint32_t i = 0; i < select->key_count; i++) {
        wfre_sq_slots_add(slots, select->keys[i].slot);
        if (select->keys[i].expression)
            wfre_sq_expression_slots(select->keys[i].expression, slots);
    }
    for (uint32_t i = 0; i < select->having_count; i++)
        wfre_sq_expression_slots(select->having[i], slots);
    for (uint32_t i = 0; i < select->order_count; i++)
        wfre_sq_expression_slots(select->orders[i].expression, slots);
    for (uint32_t i = 0; i < select->aggregate_count; i++)
        if (select->aggregates[i].argument)
            wfre_sq_expression_slots(select->aggregates[i].argument, slots);
}

void wfre_sq_pattern_mentions(const wfre_sq_pattern *pattern, uint64_t *slots)
{
    for (uint32_t i = 0; i < pattern->filter_count; i++)
        wfre_sq_expression_slots(pattern->filters[i], slots);
    if (pattern->expression)
        wfre_sq_expression_slots(pattern->expression, slots);
    if (pattern->kind == WFRE_SQ_SUBQUERY) {
        select_mentions(pattern->select, slots);
        return;
    }
    if (pattern->kind == WFRE_SQ_BASIC || pattern->kind == WFRE_SQ_VALUES) {
        wfre_sq_pattern_possible(pattern, slots);
        return;
    }
    if (pattern->slot != WFRE_NONE)
        wfre_sq_slots_add(slots, pattern->slot);
    if (has_name(pattern))
        add_term(&pattern->name, slots);
    for (uint32_t i = 0; i < pattern->count; i++)
        wfre_sq_pattern_mentions(pattern->children[i], slots);
}

/* ---- transparency ------------------------------------------------------------------------- */

typedef struct question {
    wfre_arena *arena;
    size_t words;
    wfre_sq_slot slot;
    bool *failed; /* out of memory */
} question;

static uint64_t *new_slots(const question *q)
{
    uint64_t *slots = wfre_arena_alloc(q->arena, q->words, sizeof *slots);
    if (slots)
        memset(slots, 0, q->words * sizeof *slots);
    else
        *q->failed = true;
    return slots;
}

static bool is_certain(const question *q, const wfre_sq_pattern *pattern)
{
    uint64_t *certain = new_slots(q);
    if (!certain)
        return false;
    if (!wfre_sq_pattern_certain(q->arena, q->words, pattern, certain))
        *q->failed = true;
    return wfre_sq_slots_has(certain, q->slot);
}

static bool mentions(const question *q, const wfre_sq_pattern *pattern)
{
    uint64_t *slots = new_slots(q);
    if (!slots)
        return true;
    wfre_sq_pattern_mentions(pattern, slots);
    return wfre_sq_slots_has(slots, q->slot);
}

static bool expression_mentions(const question *q, const wfre_sq_expression *e)
{
    uint64_t *slots = new_slots(q);
    if (!slots)
        return true;
    wfre_sq_expression_slots(e, slots);
    return wfre_sq_slots_has(slots, q->slot);
}

static bool filters_mention(const question *q, const wfre_sq_pattern *pattern)
{
    for (uint32_t i = 0; i < pattern->filter_count; i++)
        if (expression_mentions(q, pattern->filters[i]))
            return true;
    return false;
}

static bool transparent(const question *q, const wfre_sq_pattern *pattern);

static bool transparent_select(const question *q, const wfre_sq_select *select)
{
    if (select->limit != UINT64_MAX || select->offset)
        return false;
    bool column = false;
    for (uint32_t i = 0; i < select->column_count; i++)
        column |= select->columns[i].slot == q->slot && !select->columns[i].expression;
    if (select->grouped && column) {
        column = false;
        for (uint32_t i = 0; i < select->key_count; i++)
            column |= select->keys[i].slot == q->slot && !select->keys[i].expression;
    }
    /* what columns and orders compute may look at it only if it is there anyway */
    return column && transparent(q, select->where) && is_certain(q, select->where) &&
           (!select->values || transparent(q, select->values));
}

static bool transparent(const question *q, const wfre_sq_pattern *pattern)
{
    const wfre_sq_pattern *first =
        pattern->count && pattern->children ? pattern->children[0] : NULL;
    switch (pattern->kind) {
    case WFRE_SQ_BASIC:
    case WFRE_SQ_VALUES:
        return true;
    case WFRE_SQ_JOIN:
    case WFRE_SQ_UNION:
    case WFRE_SQ_GRAPH:
        for (uint32_t i = 0; i < pattern->count; i++)
            if (!transparent(q, pattern->children[i]))
                return false;
        return true;
    case WFRE_SQ_FILTER:
        return transparent(q, first) && (!filters_mention(q, pattern) || is_certain(q, first));
    case WFRE_SQ_LEFT:
        if (!transparent(q, first))
            return false;
        if (!mentions(q, pattern->children[1]) && !filters_mention(q, pattern))
            return true;
        return is_certain(q, first);
    case WFRE_SQ_MINUS:
        return transparent(q, first) &&
               (!mentions(q, pattern->children[1]) || is_certain(q, first));
    case WFRE_SQ_EXTEND:
        return transparent(q, first) &&
               (!expression_mentions(q, pattern->expression) || is_certain(q, first));
    case WFRE_SQ_SUBQUERY:
        return transparent_select(q, pattern->select);
    default:
        return false;
    }
}

bool wfre_sq_transparent(wfre_arena *arena, size_t words, const wfre_sq_pattern *pattern,
                         wfre_sq_slot slot, bool *failed)
{
    const question q = {arena, words, slot, failed};
    return transparent(&q, pattern);
}
