/* Taking SERVICE wfre:predict apart.
 *
 * Triples whose predicate is wfre:answer, wfre:probability, wfre:status, wfre:top or wfre:threshold
 * say what goes in and out. Triples whose predicate has edges, and EXISTS and NOT EXISTS of such,
 * are the question. Triples of attributes and the other filters restrict the answers by what the
 * graph says. OPTIONAL is filled in when the answers are there. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "sparql/question.h"
#include "sparql/slots.h"

typedef struct splitter {
    wfre_sq_exec *x;
    bool fixed; /* what goes in and out is known without looking */
    bool has_top, has_threshold;
    wfre_arena *arena;
    wfre_sq_prediction *p;
    uint32_t attribute_count;
    wfre_sq_triple *attributes;
    uint32_t filter_count;
    wfre_sq_expression **filters;
    uint32_t table_count;
    wfre_sq_pattern **tables; /* VALUES of answers: they restrict, too */
} splitter;

/* Appends to an array in the arena. */
static bool append(wfre_arena *arena, void *array, uint32_t *count, const void *element,
                   size_t size)
{
    void *old, *grown = wfre_arena_alloc(arena, (size_t)*count + 1, size);
    if (!grown)
        return false;
    memcpy(&old, array, sizeof old);
    if (*count)
        memcpy(grown, old, *count * size);
    memcpy((char *)grown + *count * size, element, size);
    ++*count;
    memcpy(array, &grown, sizeof grown);
    return true;
}

/* ---- inputs and outputs ------------------------------------------------------------------- */

static bool is_control(const wfre_sq_triple *t)
{
    size_t prefix = sizeof WFRE_SQ_NAMESPACE - 1;
    return !t->path && t->predicate.kind == WFRE_SQ_IRI && t->predicate.text.length >= prefix &&
           memcmp(t->predicate.text.bytes, WFRE_SQ_NAMESPACE, prefix) == 0;
}

static bool read_number(const wfre_sq_term *term, double *number)
{
    wfre_sq_value value;
    if (term->kind != WFRE_SQ_LITERAL)
        return false;
    wfre_sq_value_read(term->text, term->datatype, term->language, &value);
    if (!wfre_sq_is_numeric(&value))
        return false;
    *number = wfre_sq_value_real(&value);
    return true;
}

static bool is_answer(const wfre_sq_prediction *p, wfre_sq_slot slot)
{
    for (uint32_t i = 0; i < p->answer_count; i++)
        if (p->answers[i] == slot)
            return true;
    return false;
}

/* What is said twice, or takes the variable of something else. */
static wfre_sq_flow check_control(splitter *s, const wfre_sq_triple *t, wfre_name name)
{
    const wfre_sq_prediction *p = s->p;
    wfre_sq_slot slot = t->object.kind == WFRE_SQ_SLOT ? t->object.slot : WFRE_NONE;
    if (slot != WFRE_NONE && (is_answer(p, slot) || slot == p->probability || slot == p->status))
        return wfre_sq_refuse(s->x, t->object.offset,
                              "wfre:answer, wfre:probability and wfre:status each take a variable "
                              "of their own");
    if ((wfre_sq_name_is(name, "probability") && p->probability != WFRE_NONE) ||
        (wfre_sq_name_is(name, "status") && p->status != WFRE_NONE) ||
        (wfre_sq_name_is(name, "top") && s->has_top) ||
        (wfre_sq_name_is(name, "threshold") && s->has_threshold))
        return wfre_sq_refuse(s->x, t->predicate.offset, "this is said twice");
    return WFRE_SQ_GO;
}

static wfre_sq_flow control(splitter *s, const wfre_sq_triple *t)
{
    size_t prefix = sizeof WFRE_SQ_NAMESPACE - 1;
    wfre_name name = {t->predicate.text.bytes + prefix, t->predicate.text.length - prefix};
    bool slot = t->object.kind == WFRE_SQ_SLOT;
    double number = 0;
    if (s->fixed)
        return WFRE_SQ_GO; /* known already */
    if (check_control(s, t, name) != WFRE_SQ_GO)
        return WFRE_SQ_FAIL;
    if (wfre_sq_name_is(name, "answer") && slot)
        return append(s->arena, &s->p->answers, &s->p->answer_count, &t->object.slot,
                      sizeof t->object.slot)
                   ? WFRE_SQ_GO
                   : wfre_sq_no_memory(s->x);
    if (wfre_sq_name_is(name, "probability") && slot) {
        s->p->probability = t->object.slot;
    } else if (wfre_sq_name_is(name, "status") && slot) {
        s->p->status = t->object.slot;
    } else if (wfre_sq_name_is(name, "top") && read_number(&t->object, &number) && number >= 0 &&
               number <= 1e9 && number == floor(number)) {
        s->p->top = (uint64_t)number;
        s->has_top = true;
    } else if (wfre_sq_name_is(name, "threshold") && read_number(&t->object, &number) &&
               number >= 0 && number <= 1) {
        s->p->threshold = number;
        s->has_threshold = true;
    } else {
        return wfre_sq_refuse(
            s->x, t->predicate.offset,
            "wfre:answer, wfre:probability and wfre:status take a variable, wfre:top a "
            "whole number, wfre:threshold a number from 0 to 1; there is nothing else");
    }
    return WFRE_SQ_GO;
}

/* ---- parts -------------------------------------------------------------------------------- */

/* Whether the triple is about attributes: its predicate has no edges, or its object is a literal.
 */
static bool is_attribute(const splitter *s, const wfre_sq_triple *t)
{
    if (t->path || t->predicate.kind != WFRE_SQ_IRI)
        return false;
    return t->object.kind == WFRE_SQ_LITERAL || t->subject.kind == WFRE_SQ_LITERAL ||
           wfre_rdf_relation(s->x->dataset.all, s->x->constants[t->predicate.constant]) ==
               WFRE_NONE;
}

static bool has_attributes(const splitter *s, const wfre_sq_pattern *pattern)
{
    if (pattern->filter_count && pattern->kind == WFRE_SQ_FILTER)
        for (uint32_t i = 0; i < pattern->filter_count; i++)
            if (!pattern->filters[i]->pattern && !wfre_sq_is_equality(pattern->filters[i]))
                return true;
    for (uint32_t i = 0; pattern->kind == WFRE_SQ_BASIC && i < pattern->count; i++)
        if (is_attribute(s, &pattern->triples[i]))
            return true;
    for (uint32_t i = 0; pattern->children && i < pattern->count; i++)
        if (has_attributes(s, pattern->children[i]))
            return true;
    return false;
}

static wfre_sq_flow add_part(splitter *s, const wfre_sq_pattern *part)
{
    return append(s->arena, &s->p->parts, &s->p->part_count, &part, sizeof part)
               ? WFRE_SQ_GO
               : wfre_sq_no_memory(s->x);
}

static wfre_sq_flow split_basic(splitter *s, const wfre_sq_pattern *basic)
{
    wfre_sq_pattern *rest = wfre_arena_alloc(s->arena, 1, sizeof *rest);
    if (!rest)
        return wfre_sq_no_memory(s->x);
    *rest = *basic;
    rest->triples = NULL;
    rest->count = 0;
    for (uint32_t i = 0; i < basic->count; i++) {
        const wfre_sq_triple *t = &basic->triples[i];
        if (is_control(t)) {
            if (control(s, t) != WFRE_SQ_GO)
                return WFRE_SQ_FAIL;
            continue;
        }
        bool ok = is_attribute(s, t)
                      ? append(s->arena, &s->attributes, &s->attribute_count, t, sizeof *t)
                      : append(s->arena, &rest->triples, &rest->count, t, sizeof *t);
        if (!ok)
            return wfre_sq_no_memory(s->x);
    }
    return rest->count ? add_part(s, rest) : WFRE_SQ_GO;
}

static wfre_sq_flow split_filter(splitter *s, wfre_sq_expression *e)
{
    bool question = e->pattern && !has_attributes(s, e->pattern);
    if (e->op == WFRE_SQ_AND)
        return split_filter(s, e->arguments[0]) == WFRE_SQ_GO ? split_filter(s, e->arguments[1])
                                                              : WFRE_SQ_FAIL;
    question |= s->p->whole && wfre_sq_is_equality(e);
    bool ok = question ? append(s->arena, &s->p->denied, &s->p->denied_count, &e, sizeof e)
                       : append(s->arena, &s->filters, &s->filter_count, &e, sizeof e);
    return ok ? WFRE_SQ_GO : wfre_sq_no_memory(s->x);
}

/* OPTIONAL: its left side is part of the question, the right one comes afterwards. */
static wfre_sq_flow add_optional(splitter *s, const wfre_sq_pattern *left)
{
    wfre_sq_pattern *copy = wfre_arena_alloc(s->arena, 1, sizeof *copy);
    wfre_sq_pattern **children = wfre_arena_alloc(s->arena, 2, sizeof *children);
    wfre_sq_pattern *unit = wfre_arena_alloc(s->arena, 1, sizeof *unit);
    if (!copy || !children || !unit)
        return wfre_sq_no_memory(s->x);
    *unit = (wfre_sq_pattern){.kind = WFRE_SQ_BASIC, .slot = WFRE_NONE};
    *copy = *left;
    children[0] = s->p->optional ? s->p->optional : unit;
    children[1] = left->children[1];
    copy->children = children;
    s->p->optional = copy;
    return WFRE_SQ_GO;
}

static wfre_sq_flow split(splitter *s, wfre_sq_pattern *pattern)
{
    switch (pattern->kind) {
    case WFRE_SQ_BASIC:
        return split_basic(s, pattern);
    case WFRE_SQ_JOIN:
        for (uint32_t i = 0; i < pattern->count; i++)
            if (split(s, pattern->children[i]) != WFRE_SQ_GO)
                return WFRE_SQ_FAIL;
        return WFRE_SQ_GO;
    case WFRE_SQ_FILTER:
        for (uint32_t i = 0; i < pattern->filter_count; i++)
            if (split_filter(s, pattern->filters[i]) != WFRE_SQ_GO)
                return WFRE_SQ_FAIL;
        return split(s, pattern->children[0]);
    case WFRE_SQ_LEFT:
        return split(s, pattern->children[0]) == WFRE_SQ_GO ? add_optional(s, pattern)
                                                            : WFRE_SQ_FAIL;
    case WFRE_SQ_MINUS:
        if (split(s, pattern->children[0]) != WFRE_SQ_GO)
            return WFRE_SQ_FAIL;
        return add_part(s, pattern);
    case WFRE_SQ_UNION:
        return add_part(s, pattern);
    case WFRE_SQ_VALUES:
        return append(s->arena, &s->tables, &s->table_count, &pattern, sizeof pattern)
                   ? WFRE_SQ_GO
                   : wfre_sq_no_memory(s->x);
    case WFRE_SQ_EXTEND:
        return wfre_sq_refuse(s->x, pattern->offset,
                              "BIND cannot be part of a question; put it outside");
    case WFRE_SQ_SUBQUERY:
        return wfre_sq_refuse(s->x, pattern->offset,
                              "a sub-SELECT cannot be part of a question; put it outside");
    default:
        return wfre_sq_refuse(s->x, pattern->offset,
                              "GRAPH and SERVICE cannot be part of a question");
    }
}

/* ---- answers ------------------------------------------------------------------------------ */

/* Without wfre:answer it is the one variable that the question has. */
static wfre_sq_flow find_answer(splitter *s)
{
    size_t words = s->x->plan->words;
    uint64_t *slots = wfre_arena_alloc(s->arena, words, sizeof *slots);
    if (!slots)
        return wfre_sq_no_memory(s->x);
    memset(slots, 0, words * sizeof *slots);
    for (uint32_t i = 0; i < s->p->part_count; i++)
        wfre_sq_pattern_possible(s->p->parts[i], slots);
    for (wfre_sq_slot slot = 0; slot < s->x->query->slot_count; slot++) {
        if (!wfre_sq_slots_has(slots, slot) || s->x->query->slot_names[slot].length == 0)
            continue;
        if (s->p->answer_count)
            return wfre_sq_refuse(s->x, s->p->service->offset,
                                  "the question has several variables; say which is asked for: "
                                  "[] wfre:answer ?x");
        if (!append(s->arena, &s->p->answers, &s->p->answer_count, &slot, sizeof slot))
            return wfre_sq_no_memory(s->x);
    }
    if (s->p->answer_count == 0)
        return wfre_sq_refuse(s->x, s->p->service->offset, "the question has no variable");
    return WFRE_SQ_GO;
}

/* VALUES of an answer restrict; those of other variables are part of the question. */
static wfre_sq_flow divide_tables(splitter *s, wfre_sq_pattern **joined, uint32_t *count)
{
    for (uint32_t i = 0; i < s->table_count; i++) {
        bool answers = !s->p->whole;
        for (uint32_t c = 0; c < s->tables[i]->width; c++)
            answers &= is_answer(s->p, s->tables[i]->columns[c]);
        if (answers)
            joined[(*count)++] = s->tables[i];
        else if (add_part(s, s->tables[i]) != WFRE_SQ_GO)
            return WFRE_SQ_FAIL;
    }
    return WFRE_SQ_GO;
}

/* The attributes, VALUES and filters as one pattern. Its variables are answers or come from
 * attributes: nothing else is known when it is looked at. */
static wfre_sq_flow make_restriction(splitter *s)
{
    wfre_sq_pattern **joined =
        wfre_arena_alloc(s->arena, (size_t)s->table_count + 1, sizeof *joined);
    wfre_sq_pattern *basic = wfre_arena_alloc(s->arena, 3, sizeof *basic);
    uint32_t count = 0;
    if (!joined || !basic)
        return wfre_sq_no_memory(s->x);
    wfre_sq_pattern *join = basic + 1, *filter = basic + 2;
    *basic = (wfre_sq_pattern){.kind = WFRE_SQ_BASIC,
                               .triples = s->attributes,
                               .count = s->attribute_count,
                               .slot = WFRE_NONE};
    joined[count++] = basic;
    if (divide_tables(s, joined, &count) != WFRE_SQ_GO)
        return WFRE_SQ_FAIL;
    if (count == 1 && s->attribute_count == 0 && s->filter_count == 0)
        return WFRE_SQ_GO;
    *join = (wfre_sq_pattern){
        .kind = WFRE_SQ_JOIN, .children = joined, .count = count, .slot = WFRE_NONE};
    s->p->restriction = join;
    if (s->filter_count) {
        wfre_sq_pattern **inner = wfre_arena_alloc(s->arena, 1, sizeof *inner);
        if (!inner)
            return wfre_sq_no_memory(s->x);
        *inner = join;
        *filter = (wfre_sq_pattern){.kind = WFRE_SQ_FILTER,
                                    .children = inner,
                                    .count = 1,
                                    .filters = s->filters,
                                    .filter_count = s->filter_count,
                                    .slot = WFRE_NONE};
        s->p->restriction = filter;
    }
    return WFRE_SQ_GO;
}

/* A variable of the restriction that is in the question, too, must be an answer. */
static wfre_sq_flow check_restriction(splitter *s)
{
    size_t words = s->x->plan->words;
    uint64_t *asked = wfre_arena_alloc(s->arena, words, sizeof *asked);
    uint64_t *seen = wfre_arena_alloc(s->arena, words, sizeof *seen);
    if (!asked || !seen)
        return wfre_sq_no_memory(s->x);
    memset(asked, 0, words * sizeof *asked);
    memset(seen, 0, words * sizeof *seen);
    for (uint32_t i = 0; i < s->p->part_count; i++)
        wfre_sq_pattern_mentions(s->p->parts[i], asked);
    if (s->p->restriction)
        wfre_sq_pattern_mentions(s->p->restriction, seen);
    for (int i = 0; i < 2; i++) {
        wfre_sq_slot out = i == 0 ? s->p->probability : s->p->status;
        if (out != WFRE_NONE && (wfre_sq_slots_has(asked, out) || wfre_sq_slots_has(seen, out)))
            return wfre_sq_refuse(s->x, s->p->service->offset,
                                  "the variable of wfre:probability or wfre:status is in the "
                                  "question, too; take a new one");
    }
    for (wfre_sq_slot slot = 0; slot < s->x->query->slot_count; slot++)
        if (wfre_sq_slots_has(asked, slot) && wfre_sq_slots_has(seen, slot) &&
            !is_answer(s->p, slot))
            return wfre_sq_refuse(s->x, s->p->service->offset,
                                  "filters and attributes can restrict answers only, not the other "
                                  "variables of the question");
    return WFRE_SQ_GO;
}

/* Equalities of what is not an answer are part of the question; the others restrict. */
static wfre_sq_flow divide_filters(splitter *s)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < s->filter_count; i++) {
        wfre_sq_expression *e = s->filters[i];
        bool asked = false;
        for (uint32_t k = 0; wfre_sq_is_equality(e) && k < 2; k++)
            asked |= e->arguments[k]->op == WFRE_SQ_VARIABLE &&
                     !is_answer(s->p, e->arguments[k]->term.slot);
        if (!asked)
            s->filters[kept++] = e;
        else if (!append(s->arena, &s->p->denied, &s->p->denied_count, &e, sizeof e))
            return wfre_sq_no_memory(s->x);
    }
    s->filter_count = kept;
    return WFRE_SQ_GO;
}

static wfre_sq_flow split_whole(splitter *s, wfre_sq_pattern *pattern)
{
    if (split(s, pattern) != WFRE_SQ_GO)
        return WFRE_SQ_FAIL;
    if (s->p->part_count == 0 && s->table_count == 0)
        return wfre_sq_refuse(s->x, s->p->service->offset,
                              "it has no triples whose predicate is a relation");
    if ((s->p->answer_count == 0 && !s->p->whole && find_answer(s) != WFRE_SQ_GO) ||
        divide_filters(s) != WFRE_SQ_GO || make_restriction(s) != WFRE_SQ_GO ||
        check_restriction(s) != WFRE_SQ_GO)
        return WFRE_SQ_FAIL;
    if (s->p->part_count == 0)
        return wfre_sq_refuse(s->x, s->p->service->offset,
                              "it has no triples whose predicate is a relation");
    return WFRE_SQ_GO;
}

wfre_sq_flow wfre_sq_predict_split(wfre_sq_exec *x, const wfre_sq_pattern *service,
                                   wfre_sq_prediction **prediction)
{
    splitter s = {.x = x, .arena = &x->plan->arena};
    s.p = wfre_arena_alloc(s.arena, 1, sizeof *s.p);
    if (!s.p)
        return wfre_sq_no_memory(x);
    *s.p = (wfre_sq_prediction){
        .service = service, .probability = WFRE_NONE, .status = WFRE_NONE, .top = 10};
    *prediction = s.p;
    return split_whole(&s, service->children[0]);
}

/* Where the first thing stands that a formula cannot say. */
static size_t first_rest(const splitter *s)
{
    return s->p->optional       ? s->p->optional->offset
           : s->attribute_count ? s->attributes[0].predicate.offset
           : s->filter_count    ? s->filters[0]->offset
                                : s->p->service->offset;
}

static wfre_sq_flow begin(wfre_sq_exec *x, const wfre_sq_pattern *pattern,
                          const wfre_sq_slot *asked, uint32_t count, splitter *s)
{
    *s = (splitter){.x = x, .arena = &x->plan->arena, .fixed = true};
    s->p = wfre_arena_alloc(s->arena, 1, sizeof *s->p);
    if (!s->p)
        return wfre_sq_no_memory(x);
    *s->p = (wfre_sq_prediction){
        .service = pattern, .probability = WFRE_NONE, .status = WFRE_NONE, .top = 10};
    for (uint32_t i = 0; i < count; i++)
        if (!append(s->arena, &s->p->answers, &s->p->answer_count, &asked[i], sizeof asked[i]))
            return wfre_sq_no_memory(x);
    return WFRE_SQ_GO;
}

wfre_sq_flow wfre_sq_whole_split(wfre_sq_exec *x, wfre_sq_pattern *pattern,
                                 const wfre_sq_slot *asked, uint32_t count,
                                 wfre_sq_prediction **prediction)
{
    splitter s;
    if (begin(x, pattern, asked, count, &s) != WFRE_SQ_GO)
        return WFRE_SQ_FAIL;
    s.p->whole = true;
    if (split_whole(&s, pattern) != WFRE_SQ_GO)
        return WFRE_SQ_FAIL;
    if (s.p->restriction || s.p->optional)
        return wfre_sq_refuse(x, first_rest(&s),
                              "a formula has no attributes, no FILTER but EXISTS, = and != of "
                              "entities, and no OPTIONAL");
    *prediction = s.p;
    return WFRE_SQ_GO;
}

wfre_sq_flow wfre_sq_behind_split(wfre_sq_exec *x, wfre_sq_pattern *pattern, wfre_sq_slot asked,
                                  wfre_sq_prediction **prediction)
{
    splitter s;
    if (begin(x, pattern, &asked, 1, &s) != WFRE_SQ_GO)
        return WFRE_SQ_FAIL;
    if (x->options->top)
        s.p->top = x->options->top;
    s.p->threshold = x->options->threshold;
    s.p->unknown = true;
    *prediction = s.p;
    if (split_whole(&s, pattern) != WFRE_SQ_GO)
        return WFRE_SQ_FAIL;
    s.p->optional = NULL; /* it adds no answers */
    return WFRE_SQ_GO;
}
