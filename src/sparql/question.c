/* Questions as formulas: what the pattern of SERVICE wfre:predict, or of a whole query, asks.
 *
 * Several answer variables of a prediction are asked for one after the other, each with the triples
 * that tie it to entities and to the answers before it (its level). A whole query is one formula.
 */
#include "sparql/question.h"

#include <string.h>

#include "base/memory.h"
#include "sparql/slots.h"

wfre_sq_flow wfre_sq_refuse(wfre_sq_exec *x, size_t offset, const char *what)
{
    return wfre_sq_fail(
        x,
        wfre_fail(x->error, WFRE_ERR_UNSUPPORTED, offset, "%s: %s",
                  x->converts ? "the query has no logic notation" : "SERVICE wfre:predict", what));
}

bool wfre_sq_is_equality(const wfre_sq_expression *e)
{
    if (e->op != WFRE_SQ_EQUAL && e->op != WFRE_SQ_UNEQUAL && e->op != WFRE_SQ_SAME_TERM)
        return false;
    for (int i = 0; i < 2; i++)
        if (e->arguments[i]->op != WFRE_SQ_VARIABLE &&
            (e->arguments[i]->op != WFRE_SQ_CONSTANT || e->arguments[i]->term.kind != WFRE_SQ_IRI))
            return false;
    return true;
}

/* ---- terms and atoms ---------------------------------------------------------------------- */

static wfre_sq_flow new_variable(wfre_sq_maker *m, wfre_name name, uint32_t *variable)
{
    if (m->variable_count == WFRE_FORMULA_VARIABLES)
        return wfre_sq_refuse(m->x, m->p->service->offset, "the question has too many variables");
    char *text = name.length ? wfre_arena_text(&m->query->arena, name.bytes, name.length)
                             : wfre_arena_text(&m->query->arena, "_", 1);
    if (!text)
        return wfre_sq_no_memory(m->x);
    for (char *c = text; *c; c++) /* the logic notation has fewer letters */
        if (!((*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || (*c >= '0' && *c <= '9')))
            *c = '_';
    m->names[m->variable_count] = text;
    m->stands[m->variable_count] = WFRE_SQ_ANYTHING;
    *variable = m->variable_count++;
    return WFRE_SQ_GO;
}

static wfre_sq_flow entity_term(wfre_sq_maker *m, wfre_rdf_id id, size_t offset, wfre_term *term)
{
    wfre_entity entity = id < m->x->own ? wfre_rdf_entity(m->x->rdf, id) : WFRE_NONE;
    if (entity == WFRE_NONE)
        return wfre_sq_refuse(m->x, offset, "this is not an entity that the model could know");
    *term = wfre_term_entity(entity);
    return WFRE_SQ_GO;
}

/* The variable of a slot, named if it is not yet. */
static wfre_sq_flow name_slot(wfre_sq_maker *m, wfre_sq_slot slot)
{
    return m->variables[slot] != WFRE_NONE
               ? WFRE_SQ_GO
               : new_variable(m, m->x->query->slot_names[slot], &m->variables[slot]);
}

/* Notes that the slot's variable stands for an entity, or for a relation, and never for both. */
static wfre_sq_flow use_slot(wfre_sq_maker *m, const wfre_sq_term *term, wfre_sq_stands as)
{
    if (name_slot(m, term->slot) != WFRE_SQ_GO)
        return WFRE_SQ_FAIL;
    wfre_sq_stands *stands = &m->stands[m->variables[term->slot]];
    if (*stands != WFRE_SQ_ANYTHING && *stands != as)
        return wfre_sq_refuse(m->x, term->offset,
                              "a variable stands for an entity and for a relation");
    *stands = as;
    return WFRE_SQ_GO;
}

static wfre_sq_flow make_term(wfre_sq_maker *m, const wfre_sq_term *from, wfre_term *term)
{
    if (from->kind != WFRE_SQ_SLOT)
        return entity_term(m, m->x->constants[from->constant], from->offset, term);
    if (m->given[from->slot] != WFRE_NONE)
        return entity_term(m, m->given[from->slot], from->offset, term);
    if (use_slot(m, from, WFRE_SQ_ENTITY) != WFRE_SQ_GO)
        return WFRE_SQ_FAIL;
    *term = wfre_term_variable(m->variables[from->slot]);
    return WFRE_SQ_GO;
}

static wfre_sq_flow check_made(wfre_sq_maker *m, const wfre_formula *formula)
{
    return formula ? WFRE_SQ_GO : wfre_sq_no_memory(m->x);
}

/* ?r(left, right) */
static wfre_sq_flow make_link(wfre_sq_maker *m, const wfre_sq_term *predicate, wfre_term left,
                              wfre_term right, const wfre_formula **formula)
{
    if (use_slot(m, predicate, WFRE_SQ_RELATION) != WFRE_SQ_GO)
        return WFRE_SQ_FAIL;
    uint32_t variable = m->variables[predicate->slot];
    *formula = wfre_formula_link(&m->query->arena, variable, left, right);
    return check_made(m, *formula);
}

static wfre_sq_flow make_atom(wfre_sq_maker *m, const wfre_sq_term *predicate, wfre_term left,
                              wfre_term right, const wfre_formula **formula)
{
    if (predicate->kind == WFRE_SQ_SLOT && m->p->whole)
        return make_link(m, predicate, left, right, formula);
    if (predicate->kind != WFRE_SQ_IRI)
        return wfre_sq_refuse(
            m->x, predicate->offset,
            "a predicate that is a variable cannot be predicted; name the relation");
    wfre_relation relation =
        wfre_rdf_relation(m->x->dataset.all, m->x->constants[predicate->constant]);
    if (relation == WFRE_NONE)
        return wfre_sq_refuse(m->x, predicate->offset, "the graph has no edges of this predicate");
    *formula = wfre_formula_atom(&m->query->arena, relation, left, right);
    return check_made(m, *formula);
}

static const wfre_formula *bind(wfre_sq_maker *m, uint32_t variable, const wfre_formula *formula)
{
    return m->stands[variable] == WFRE_SQ_RELATION
               ? wfre_formula_exists_relation(&m->query->arena, variable, formula)
               : wfre_formula_exists(&m->query->arena, variable, formula);
}

/* ?x = ?y, or the opposite */
static wfre_sq_flow make_equality(wfre_sq_maker *m, const wfre_sq_expression *e,
                                  const wfre_formula **formula)
{
    wfre_term left, right;
    if (make_term(m, &e->arguments[0]->term, &left) != WFRE_SQ_GO ||
        make_term(m, &e->arguments[1]->term, &right) != WFRE_SQ_GO)
        return WFRE_SQ_FAIL;
    *formula = wfre_formula_equal(&m->query->arena, left, right);
    if (e->op == WFRE_SQ_UNEQUAL)
        *formula = wfre_formula_not(&m->query->arena, *formula);
    return check_made(m, *formula);
}

/* a/b has a variable of its own between the two; a|b is a disjunction. */
static wfre_sq_flow make_path(wfre_sq_maker *m, const wfre_sq_path *path, wfre_term left,
                              wfre_term right, const wfre_formula **formula)
{
    const wfre_formula **parts;
    switch (path->kind) {
    case WFRE_SQ_LINK:
        return make_atom(m, &path->link, left, right, formula);
    case WFRE_SQ_INVERSE:
        return make_path(m, path->children[0], right, left, formula);
    case WFRE_SQ_SEQUENCE:
    case WFRE_SQ_ALTERNATIVE:
        break;
    default:
        return wfre_sq_refuse(m->x, path->offset,
                              "paths with + * ? and ! have no bound on their length, and cannot be "
                              "predicted; write the steps out");
    }
    bool sequence = path->kind == WFRE_SQ_SEQUENCE;
    uint32_t first = m->variable_count;
    parts = wfre_arena_alloc(&m->query->arena, path->count, sizeof *parts);
    if (!parts)
        return wfre_sq_no_memory(m->x);
    for (uint32_t i = 0; i < path->count; i++) {
        wfre_term next = right;
        uint32_t variable;
        if (sequence && i + 1 < path->count) {
            if (new_variable(m, wfre_sq_name(NULL, 0), &variable) != WFRE_SQ_GO)
                return WFRE_SQ_FAIL;
            next = wfre_term_variable(variable);
        }
        if (make_path(m, path->children[i], left, next, &parts[i]) != WFRE_SQ_GO)
            return WFRE_SQ_FAIL;
        if (sequence)
            left = next;
    }
    *formula =
        wfre_formula_join(&m->query->arena, sequence ? WFRE_AND : WFRE_OR, parts, path->count);
    /* variables of the joints; those of inner paths are bound there already */
    for (uint32_t i = 0; sequence && i + 1 < path->count; i++)
        *formula = wfre_formula_exists(&m->query->arena, first + i, *formula);
    return check_made(m, *formula);
}

/* ---- patterns ----------------------------------------------------------------------------- */

static wfre_sq_flow make_parts(wfre_sq_maker *m, const wfre_sq_pattern *const *parts,
                               uint32_t count, const wfre_sq_expression *const *denied,
                               uint32_t denied_count, const wfre_formula **formula);

/* A pattern of its own scope: what it names first, no one else sees. */
static wfre_sq_flow make_scope(wfre_sq_maker *m, const wfre_sq_pattern *pattern,
                               const wfre_formula **formula)
{
    size_t slots = m->x->query->slot_count;
    uint32_t *outer = wfre_arena_alloc(&m->query->arena, slots + 1, sizeof *outer);
    if (!outer)
        return wfre_sq_no_memory(m->x);
    memcpy(outer, m->variables, slots * sizeof *outer);
    m->within++;
    if (make_parts(m, &pattern, 1, NULL, 0, formula) != WFRE_SQ_GO)
        return WFRE_SQ_FAIL;
    m->within--;
    for (size_t s = 0; s < slots; s++)
        if (m->variables[s] != outer[s])
            *formula = bind(m, m->variables[s], *formula);
    memcpy(m->variables, outer, slots * sizeof *outer);
    return check_made(m, *formula);
}

/* With which answer's question the slots of a pattern come: the last of theirs. */
static uint32_t level_of(const wfre_sq_maker *m, const uint64_t *slots)
{
    uint32_t level = 0;
    for (uint32_t s = 0; s < m->x->query->slot_count; s++)
        if (wfre_sq_slots_has(slots, s) && m->levels[s] != WFRE_NONE && m->levels[s] > level)
            level = m->levels[s];
    return level;
}

static bool triple_now(const wfre_sq_maker *m, const wfre_sq_triple *t)
{
    const wfre_sq_term *ends[] = {&t->subject, &t->object};
    uint32_t level = 0;
    if (m->p->answer_count == 1 || m->within)
        return true;
    for (int i = 0; i < 2; i++)
        if (ends[i]->kind == WFRE_SQ_SLOT && m->levels[ends[i]->slot] != WFRE_NONE &&
            m->levels[ends[i]->slot] > level)
            level = m->levels[ends[i]->slot];
    return level == m->level;
}

/* *formula is NULL if none of the triples belongs to the present question. */
static wfre_sq_flow make_basic(wfre_sq_maker *m, const wfre_sq_pattern *basic,
                               const wfre_formula **formula)
{
    const wfre_formula **parts =
        wfre_arena_alloc(&m->query->arena, (size_t)basic->count + 1, sizeof *parts);
    uint32_t k = 0;
    if (!parts)
        return wfre_sq_no_memory(m->x);
    for (uint32_t i = 0; i < basic->count; i++) {
        const wfre_sq_triple *t = &basic->triples[i];
        wfre_term left, right;
        if (!triple_now(m, t))
            continue;
        if (make_term(m, &t->subject, &left) != WFRE_SQ_GO ||
            make_term(m, &t->object, &right) != WFRE_SQ_GO)
            return WFRE_SQ_FAIL;
        wfre_sq_flow flow = t->path ? make_path(m, t->path, left, right, &parts[k])
                                    : make_atom(m, &t->predicate, left, right, &parts[k]);
        if (flow != WFRE_SQ_GO)
            return flow;
        k++;
    }
    *formula = k ? wfre_formula_join(&m->query->arena, WFRE_AND, parts, k) : NULL;
    return k ? check_made(m, *formula) : WFRE_SQ_GO;
}

/* VALUES of answers: the variables equal the terms of one of the rows. */
static wfre_sq_flow make_table(wfre_sq_maker *m, const wfre_sq_pattern *table,
                               const wfre_formula **formula)
{
    wfre_arena *arena = &m->query->arena;
    const wfre_formula **rows = wfre_arena_alloc(arena, (size_t)table->count + 1, sizeof *rows);
    const wfre_formula **row = wfre_arena_alloc(arena, (size_t)table->width + 1, sizeof *row);
    if (!rows || !row)
        return wfre_sq_no_memory(m->x);
    for (uint32_t r = 0; r < table->count; r++) {
        uint32_t k = 0;
        for (uint32_t c = 0; c < table->width; c++) {
            const wfre_sq_term *cell = &table->cells[(size_t)r * table->width + c];
            const wfre_sq_term slot = {
                .kind = WFRE_SQ_SLOT, .slot = table->columns[c], .offset = table->offset};
            wfre_term left, right;
            if (cell->kind == WFRE_SQ_UNDEF)
                return wfre_sq_refuse(m->x, cell->offset, "UNDEF in VALUES");
            if (make_term(m, &slot, &left) != WFRE_SQ_GO ||
                make_term(m, cell, &right) != WFRE_SQ_GO)
                return WFRE_SQ_FAIL;
            row[k++] = wfre_formula_equal(arena, left, right);
        }
        if (k == 0)
            return wfre_sq_refuse(m->x, table->offset, "VALUES without variables");
        rows[r] = wfre_formula_join(arena, WFRE_AND, row, k);
    }
    if (table->count == 0)
        return wfre_sq_refuse(m->x, table->offset, "VALUES without values");
    *formula = wfre_formula_join(arena, WFRE_OR, rows, table->count);
    return check_made(m, *formula);
}

/* What one pattern that is not a table adds to the conjunction. */
static wfre_sq_flow make_pattern(wfre_sq_maker *m, const wfre_sq_pattern *pattern,
                                 const wfre_formula **formula)
{
    switch (pattern->kind) {
    case WFRE_SQ_BASIC:
        return make_basic(m, pattern, formula);
    case WFRE_SQ_JOIN:
        return make_parts(m, (const wfre_sq_pattern *const *)pattern->children, pattern->count,
                          NULL, 0, formula);
    case WFRE_SQ_FILTER:
        for (uint32_t i = 0; i < pattern->filter_count; i++)
            if (!pattern->filters[i]->pattern && !wfre_sq_is_equality(pattern->filters[i]))
                return wfre_sq_refuse(
                    m->x, pattern->filters[i]->offset,
                    "a FILTER within UNION, MINUS or NOT EXISTS cannot be predicted");
        return make_parts(m, (const wfre_sq_pattern *const *)pattern->children, 1,
                          (const wfre_sq_expression *const *)pattern->filters,
                          pattern->filter_count, formula);
    case WFRE_SQ_UNION: {
        const wfre_formula **parts =
            wfre_arena_alloc(&m->query->arena, pattern->count, sizeof *parts);
        if (!parts)
            return wfre_sq_no_memory(m->x);
        for (uint32_t i = 0; i < pattern->count; i++)
            if (make_scope(m, pattern->children[i], &parts[i]) != WFRE_SQ_GO)
                return WFRE_SQ_FAIL;
        *formula = wfre_formula_join(&m->query->arena, WFRE_OR, parts, pattern->count);
        return check_made(m, *formula);
    }
    case WFRE_SQ_MINUS: /* its left side is a part by itself */
        if (make_scope(m, pattern->children[1], formula) != WFRE_SQ_GO)
            return WFRE_SQ_FAIL;
        *formula = wfre_formula_not(&m->query->arena, *formula);
        return check_made(m, *formula);
    case WFRE_SQ_VALUES:
        return make_table(m, pattern, formula);
    default:
        return wfre_sq_refuse(
            m->x, pattern->offset,
            "only triples, UNION, MINUS, NOT EXISTS and VALUES can be part of what is "
            "predicted");
    }
}

/* Whether a part belongs to the present question. Once it does, all that is in it does. */
static wfre_sq_flow part_now(wfre_sq_maker *m, const wfre_sq_pattern *part, bool *now)
{
    size_t words = m->x->plan->words;
    uint64_t *slots = wfre_arena_alloc(&m->query->arena, words, sizeof *slots);
    if (!slots)
        return wfre_sq_no_memory(m->x);
    memset(slots, 0, words * sizeof *slots);
    wfre_sq_pattern_mentions(part, slots);
    *now = m->p->answer_count == 1 || m->within || level_of(m, slots) == m->level;
    return WFRE_SQ_GO;
}

/* VALUES: the rest once for each row, with its terms in their places. */
static wfre_sq_flow make_rows(wfre_sq_maker *m, const wfre_sq_pattern *table,
                              const wfre_sq_pattern *const *rest, uint32_t count,
                              const wfre_sq_expression *const *denied, uint32_t denied_count,
                              const wfre_formula **formula)
{
    const wfre_formula **rows =
        wfre_arena_alloc(&m->query->arena, (size_t)table->count + 1, sizeof *rows);
    if (!rows)
        return wfre_sq_no_memory(m->x);
    if (table->count == 0)
        return wfre_sq_refuse(m->x, table->offset, "VALUES without values");
    size_t slots = m->x->query->slot_count;
    uint32_t *outer = wfre_arena_alloc(&m->query->arena, slots + 1, sizeof *outer);
    if (!outer)
        return wfre_sq_no_memory(m->x);
    memcpy(outer, m->variables, slots * sizeof *outer);
    for (uint32_t r = 0; r < table->count; r++) {
        for (uint32_t c = 0; c < table->width; c++) {
            const wfre_sq_term *cell = &table->cells[(size_t)r * table->width + c];
            m->given[table->columns[c]] =
                cell->kind == WFRE_SQ_UNDEF ? WFRE_NONE : m->x->constants[cell->constant];
        }
        if (make_parts(m, rest, count, denied, denied_count, &rows[r]) != WFRE_SQ_GO)
            return WFRE_SQ_FAIL;
        for (size_t s = 0; s < slots; s++) /* every row has variables of its own */
            if (m->variables[s] != outer[s])
                rows[r] = bind(m, m->variables[s], rows[r]);
        memcpy(m->variables, outer, slots * sizeof *outer);
    }
    for (uint32_t c = 0; c < table->width; c++)
        m->given[table->columns[c]] = WFRE_NONE;
    *formula = wfre_formula_join(&m->query->arena, WFRE_OR, rows, table->count);
    return check_made(m, *formula);
}

/* Whether a column of the table is an answer that is not known yet. */
static bool has_answer(const wfre_sq_maker *m, const wfre_sq_pattern *table)
{
    for (uint32_t c = 0; c < table->width; c++)
        for (uint32_t i = 0; i < m->p->answer_count; i++)
            if (table->columns[c] == m->p->answers[i] && m->given[table->columns[c]] == WFRE_NONE)
                return true;
    return false;
}

/* Names the variables that several parts mention before any part hides them as its own: those of a
 * UNION that is joined with something. What only denials mention is theirs. */
static wfre_sq_flow name_shared(wfre_sq_maker *m, const wfre_sq_pattern *const *parts,
                                uint32_t count, const wfre_sq_expression *const *denied,
                                uint32_t denied_count)
{
    size_t words = m->x->plan->words;
    uint64_t *sets = wfre_arena_alloc(&m->query->arena, 3 * words, sizeof *sets);
    if (!sets)
        return wfre_sq_no_memory(m->x);
    uint64_t *once = sets, *twice = sets + words, *one = sets + 2 * words;
    memset(sets, 0, 2 * words * sizeof *sets);
    for (int denials = 0; denials < 2; denials++)
        for (uint32_t i = 0; i < count + denied_count; i++) {
            if ((i >= count || parts[i]->kind == WFRE_SQ_MINUS) != denials)
                continue;
            memset(one, 0, words * sizeof *one);
            if (i >= count)
                wfre_sq_expression_slots(denied[i - count], one);
            else
                wfre_sq_pattern_mentions(denials ? parts[i]->children[1] : parts[i], one);
            for (size_t w = 0; w < words; w++) {
                twice[w] |= once[w] & one[w];
                once[w] |= denials ? 0 : one[w];
            }
        }
    bool all = m->p->answer_count <= 1 || m->within;
    for (wfre_sq_slot s = 0; s < m->x->query->slot_count; s++)
        if (wfre_sq_slots_has(twice, s) && m->given[s] == WFRE_NONE &&
            (all || m->levels[s] == m->level) && name_slot(m, s) != WFRE_SQ_GO)
            return WFRE_SQ_FAIL;
    return WFRE_SQ_GO;
}

static wfre_sq_flow make_parts(wfre_sq_maker *m, const wfre_sq_pattern *const *parts,
                               uint32_t count, const wfre_sq_expression *const *denied,
                               uint32_t denied_count, const wfre_formula **formula)
{
    for (uint32_t i = 0; i < count; i++)
        if (parts[i]->kind == WFRE_SQ_VALUES && !m->p->whole && !has_answer(m, parts[i])) {
            const wfre_sq_pattern **rest = wfre_arena_alloc(&m->query->arena, count, sizeof *rest);
            uint32_t k = 0;
            if (!rest)
                return wfre_sq_no_memory(m->x);
            for (uint32_t j = 0; j < count; j++)
                if (j != i)
                    rest[k++] = parts[j];
            return make_rows(m, parts[i], rest, k, denied, denied_count, formula);
        }
    const wfre_formula **all =
        wfre_arena_alloc(&m->query->arena, (size_t)count + denied_count + 1, sizeof *all);
    uint32_t k = 0;
    if (!all)
        return wfre_sq_no_memory(m->x);
    if (name_shared(m, parts, count, denied, denied_count) != WFRE_SQ_GO)
        return WFRE_SQ_FAIL;
    /* what denies comes last: by then the variables that it shares have been named */
    for (int late = 0; late < 2; late++)
        for (uint32_t i = 0; i < count; i++) {
            bool now = true;
            if ((parts[i]->kind == WFRE_SQ_MINUS) != late)
                continue;
            if (parts[i]->kind != WFRE_SQ_BASIC && part_now(m, parts[i], &now) != WFRE_SQ_GO)
                return WFRE_SQ_FAIL;
            if (now && make_pattern(m, parts[i], &all[k]) != WFRE_SQ_GO)
                return WFRE_SQ_FAIL;
            k += now && all[k];
        }
    for (uint32_t i = 0; i < denied_count; i++) {
        bool now;
        if (!denied[i]->pattern) {
            if (make_equality(m, denied[i], &all[k++]) != WFRE_SQ_GO)
                return WFRE_SQ_FAIL;
            continue;
        }
        if (part_now(m, denied[i]->pattern, &now) != WFRE_SQ_GO)
            return WFRE_SQ_FAIL;
        if (!now)
            continue;
        if (make_scope(m, denied[i]->pattern, &all[k]) != WFRE_SQ_GO)
            return WFRE_SQ_FAIL;
        if (denied[i]->op == WFRE_SQ_NOT_EXISTS)
            all[k] = wfre_formula_not(&m->query->arena, all[k]);
        k++;
    }
    if (k == 0)
        return wfre_sq_refuse(m->x, m->p->service->offset,
                              "nothing ties an answer to an entity or to an answer before it");
    *formula = wfre_formula_join(&m->query->arena, WFRE_AND, all, k);
    return check_made(m, *formula);
}

/* ---- which answer a variable comes with --------------------------------------------------- */

/* Raises the level of the variables between two answers to that of the later one: they tie it to
 * the earlier one. */
static bool raise_levels(wfre_sq_maker *m, const uint64_t *slots)
{
    uint32_t level = level_of(m, slots);
    bool changed = false;
    for (uint32_t s = 0; s < m->x->query->slot_count; s++) {
        bool answer = false;
        for (uint32_t i = 0; i < m->p->answer_count; i++)
            answer |= m->p->answers[i] == s;
        if (wfre_sq_slots_has(slots, s) && !answer &&
            (m->levels[s] == WFRE_NONE || m->levels[s] < level)) {
            m->levels[s] = level;
            changed = true;
        }
    }
    return changed;
}

wfre_sq_flow wfre_sq_find_levels(wfre_sq_maker *m)
{
    size_t slots = m->x->query->slot_count, words = m->x->plan->words;
    wfre_arena *arena = &m->x->plan->arena;
    uint64_t *set = wfre_arena_alloc(arena, words, sizeof *set);
    m->levels = wfre_arena_alloc(arena, slots + 1, sizeof *m->levels);
    if (!set || !m->levels)
        return wfre_sq_no_memory(m->x);
    for (size_t s = 0; s < slots; s++)
        m->levels[s] = WFRE_NONE;
    for (uint32_t i = 0; i < m->p->answer_count; i++)
        m->levels[m->p->answers[i]] = i;
    for (bool changed = m->p->answer_count > 1; changed;) {
        changed = false;
        for (uint32_t i = 0; i < m->p->part_count; i++) {
            const wfre_sq_pattern *part = m->p->parts[i];
            bool basic = part->kind == WFRE_SQ_BASIC;
            for (uint32_t t = 0; t < (basic ? part->count : 1); t++) {
                wfre_sq_pattern one = *part;
                one.triples = basic ? part->triples + t : NULL;
                one.count = basic ? 1 : part->count;
                memset(set, 0, words * sizeof *set);
                wfre_sq_pattern_mentions(&one, set);
                changed |= raise_levels(m, set);
            }
        }
    }
    return WFRE_SQ_GO;
}

/* ---- the question ------------------------------------------------------------------------- */

static wfre_sq_flow name_asked(wfre_sq_maker *m, const wfre_sq_slot *asked, uint32_t count)
{
    size_t slots = m->x->query->slot_count;
    wfre_arena *arena = &m->query->arena;
    m->variable_count = 0;
    m->names = wfre_arena_alloc(arena, WFRE_FORMULA_VARIABLES, sizeof *m->names);
    m->stands = wfre_arena_alloc(arena, WFRE_FORMULA_VARIABLES, sizeof *m->stands);
    m->variables = wfre_arena_alloc(arena, slots + 1, sizeof *m->variables);
    if (!m->names || !m->stands || !m->variables)
        return wfre_sq_no_memory(m->x);
    for (size_t s = 0; s < slots; s++)
        m->variables[s] = WFRE_NONE;
    for (uint32_t i = 0; i < count; i++)
        if (name_slot(m, asked[i]) != WFRE_SQ_GO)
            return WFRE_SQ_FAIL;
    return WFRE_SQ_GO;
}

/* Which variables stand for relations, if any do. */
static wfre_sq_flow list_relations(wfre_sq_maker *m)
{
    bool any = false, *of_relations = wfre_arena_alloc(
                          &m->query->arena, (size_t)m->variable_count + 1, sizeof *of_relations);
    if (!of_relations)
        return wfre_sq_no_memory(m->x);
    for (uint32_t i = 0; i < m->variable_count; i++)
        any |= of_relations[i] = m->stands[i] == WFRE_SQ_RELATION;
    m->query->of_relations = any ? of_relations : NULL;
    return WFRE_SQ_GO;
}

wfre_sq_flow wfre_sq_make_question(wfre_sq_maker *m, const wfre_sq_slot *asked, uint32_t count)
{
    const wfre_formula *formula = NULL;
    if (name_asked(m, asked, count) != WFRE_SQ_GO ||
        make_parts(m, m->p->parts, m->p->part_count, m->p->denied, m->p->denied_count, &formula) !=
            WFRE_SQ_GO ||
        list_relations(m) != WFRE_SQ_GO)
        return WFRE_SQ_FAIL;
    for (size_t s = 0; s < m->x->query->slot_count; s++)
        if (m->variables[s] != WFRE_NONE && m->variables[s] >= count)
            formula = bind(m, m->variables[s], formula);
    if (!formula)
        return wfre_sq_no_memory(m->x);
    m->query->formula = formula;
    m->query->asked = count;
    m->query->variable_names = m->names;
    m->query->variable_count = m->variable_count;
    wfre_status status = wfre_query_find_tree(m->query, m->x->error);
    return status == WFRE_OK ? WFRE_SQ_GO : wfre_sq_fail(m->x, status);
}
