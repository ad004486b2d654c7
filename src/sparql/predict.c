/* SERVICE wfre:predict: the question as a formula, asked of a session, its answers as solutions.
 *
 * Several answer variables are asked for one after the other, each with the triples that tie it to
 * entities and to the answers before it, which are put in their places. The probability of a tuple
 * is the product of those of its terms, and it is proven if all of them are. */
#include "sparql/predict.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "query/formula.h"
#include "sparql/slots.h"

/* A question while it is made. */
typedef struct maker {
    wfre_sq_exec *x;
    const wfre_sq_prediction *p;
    wfre_query *query;
    wfre_rdf_id *given;  /* by slot: the term that stands for it, or WFRE_NONE */
    uint32_t *variables; /* by slot: its variable, or WFRE_NONE */
    const char **names;
    uint32_t variable_count;
    uint32_t *levels; /* by slot: the answer with whose question it comes */
    uint32_t level;   /* of the present question */
    unsigned within;  /* parts that belong to it as a whole */
} maker;

static wfre_sq_flow refuse(wfre_sq_exec *x, size_t offset, const char *what)
{
    return wfre_sq_fail(
        x, wfre_fail(x->error, WFRE_ERR_UNSUPPORTED, offset, "SERVICE wfre:predict: %s", what));
}

/* ---- terms and atoms ---------------------------------------------------------------------- */

static wfre_sq_flow new_variable(maker *m, wfre_name name, uint32_t *variable)
{
    if (m->variable_count == WFRE_FORMULA_VARIABLES)
        return refuse(m->x, m->p->service->offset, "the question has too many variables");
    m->names[m->variable_count] = name.length
                                      ? wfre_arena_text(&m->query->arena, name.bytes, name.length)
                                      : wfre_arena_text(&m->query->arena, "_", 1);
    if (!m->names[m->variable_count])
        return wfre_sq_no_memory(m->x);
    *variable = m->variable_count++;
    return WFRE_SQ_GO;
}

static wfre_sq_flow entity_term(maker *m, wfre_rdf_id id, size_t offset, wfre_term *term)
{
    wfre_entity entity = id < m->x->own ? wfre_rdf_entity(m->x->rdf, id) : WFRE_NONE;
    if (entity == WFRE_NONE)
        return refuse(m->x, offset, "this is not an entity that the model could know");
    *term = wfre_term_entity(entity);
    return WFRE_SQ_GO;
}

static wfre_sq_flow make_term(maker *m, const wfre_sq_term *from, wfre_term *term)
{
    if (from->kind != WFRE_SQ_SLOT)
        return entity_term(m, m->x->constants[from->constant], from->offset, term);
    if (m->given[from->slot] != WFRE_NONE)
        return entity_term(m, m->given[from->slot], from->offset, term);
    if (m->variables[from->slot] == WFRE_NONE &&
        new_variable(m, m->x->query->slot_names[from->slot], &m->variables[from->slot]) !=
            WFRE_SQ_GO)
        return WFRE_SQ_FAIL;
    *term = wfre_term_variable(m->variables[from->slot]);
    return WFRE_SQ_GO;
}

static wfre_sq_flow check_made(maker *m, const wfre_formula *formula)
{
    return formula ? WFRE_SQ_GO : wfre_sq_no_memory(m->x);
}

static wfre_sq_flow make_atom(maker *m, const wfre_sq_term *predicate, wfre_term left,
                              wfre_term right, const wfre_formula **formula)
{
    if (predicate->kind != WFRE_SQ_IRI)
        return refuse(m->x, predicate->offset,
                      "a predicate that is a variable cannot be predicted; name the relation");
    wfre_relation relation = wfre_rdf_relation(m->x->rdf, m->x->constants[predicate->constant]);
    if (relation == WFRE_NONE)
        return refuse(m->x, predicate->offset, "the graph has no edges of this predicate");
    *formula = wfre_formula_atom(&m->query->arena, relation, left, right);
    return check_made(m, *formula);
}

/* a/b has a variable of its own between the two; a|b is a disjunction. */
static wfre_sq_flow make_path(maker *m, const wfre_sq_path *path, wfre_term left, wfre_term right,
                              const wfre_formula **formula)
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
        return refuse(m->x, path->offset,
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

static wfre_sq_flow make_parts(maker *m, const wfre_sq_pattern *const *parts, uint32_t count,
                               const wfre_sq_expression *const *denied, uint32_t denied_count,
                               const wfre_formula **formula);

/* A pattern of its own scope: what it names first, no one else sees. */
static wfre_sq_flow make_scope(maker *m, const wfre_sq_pattern *pattern,
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
            *formula = wfre_formula_exists(&m->query->arena, m->variables[s], *formula);
    memcpy(m->variables, outer, slots * sizeof *outer);
    return check_made(m, *formula);
}

/* With which answer's question the slots of a pattern come: the last of theirs. */
static uint32_t level_of(const maker *m, const uint64_t *slots)
{
    uint32_t level = 0;
    for (uint32_t s = 0; s < m->x->query->slot_count; s++)
        if (wfre_sq_slots_has(slots, s) && m->levels[s] != WFRE_NONE && m->levels[s] > level)
            level = m->levels[s];
    return level;
}

static bool triple_now(const maker *m, const wfre_sq_triple *t)
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
static wfre_sq_flow make_basic(maker *m, const wfre_sq_pattern *basic, const wfre_formula **formula)
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
    if (basic->count == 0)
        return refuse(m->x, basic->offset, "an empty group in the question");
    return k ? check_made(m, *formula) : WFRE_SQ_GO;
}

/* What one pattern that is not a table adds to the conjunction. */
static wfre_sq_flow make_pattern(maker *m, const wfre_sq_pattern *pattern,
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
            if (!pattern->filters[i]->pattern)
                return refuse(m->x, pattern->filters[i]->offset,
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
    default:
        return refuse(m->x, pattern->offset,
                      "only triples, UNION, MINUS, NOT EXISTS and VALUES can be part of what is "
                      "predicted");
    }
}

/* Whether a part belongs to the present question. Once it does, all that is in it does. */
static wfre_sq_flow part_now(maker *m, const wfre_sq_pattern *part, bool *now)
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
static wfre_sq_flow make_rows(maker *m, const wfre_sq_pattern *table,
                              const wfre_sq_pattern *const *rest, uint32_t count,
                              const wfre_sq_expression *const *denied, uint32_t denied_count,
                              const wfre_formula **formula)
{
    const wfre_formula **rows =
        wfre_arena_alloc(&m->query->arena, (size_t)table->count + 1, sizeof *rows);
    if (!rows)
        return wfre_sq_no_memory(m->x);
    if (table->count == 0)
        return refuse(m->x, table->offset, "VALUES without values");
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
                rows[r] = wfre_formula_exists(&m->query->arena, m->variables[s], rows[r]);
        memcpy(m->variables, outer, slots * sizeof *outer);
    }
    for (uint32_t c = 0; c < table->width; c++)
        m->given[table->columns[c]] = WFRE_NONE;
    *formula = wfre_formula_join(&m->query->arena, WFRE_OR, rows, table->count);
    return check_made(m, *formula);
}

static wfre_sq_flow make_parts(maker *m, const wfre_sq_pattern *const *parts, uint32_t count,
                               const wfre_sq_expression *const *denied, uint32_t denied_count,
                               const wfre_formula **formula)
{
    for (uint32_t i = 0; i < count; i++)
        if (parts[i]->kind == WFRE_SQ_VALUES) {
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
        return refuse(m->x, m->p->service->offset,
                      "nothing ties an answer to an entity or to an answer before it");
    *formula = wfre_formula_join(&m->query->arena, WFRE_AND, all, k);
    return check_made(m, *formula);
}

/* ---- which answer a variable comes with --------------------------------------------------- */

/* Raises the level of the variables between two answers to that of the later one: they tie it to
 * the earlier one. */
static bool raise_levels(maker *m, const uint64_t *slots)
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

static wfre_sq_flow find_levels(maker *m)
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

/* The formula for one answer variable; those before it are given. */
static wfre_sq_flow make_question(maker *m, wfre_sq_slot answer)
{
    const wfre_formula *formula = NULL;
    size_t slots = m->x->query->slot_count;
    m->variable_count = 0;
    m->names = wfre_arena_alloc(&m->query->arena, WFRE_FORMULA_VARIABLES, sizeof *m->names);
    m->variables = wfre_arena_alloc(&m->query->arena, slots + 1, sizeof *m->variables);
    if (!m->names || !m->variables)
        return wfre_sq_no_memory(m->x);
    for (size_t s = 0; s < slots; s++)
        m->variables[s] = WFRE_NONE;
    if (new_variable(m, m->x->query->slot_names[answer], &m->variables[answer]) != WFRE_SQ_GO ||
        make_parts(m, m->p->parts, m->p->part_count, m->p->denied, m->p->denied_count, &formula) !=
            WFRE_SQ_GO)
        return WFRE_SQ_FAIL;
    for (size_t s = 0; s < slots; s++)
        if (m->variables[s] != WFRE_NONE && s != answer)
            formula = wfre_formula_exists(&m->query->arena, m->variables[s], formula);
    if (!formula)
        return wfre_sq_no_memory(m->x);
    m->query->formula = formula;
    m->query->asked = 1;
    m->query->variable_names = m->names;
    m->query->variable_count = m->variable_count;
    wfre_status status = wfre_query_find_tree(m->query, m->x->error);
    return status == WFRE_OK ? WFRE_SQ_GO : wfre_sq_fail(m->x, status);
}

static wfre_sq_flow ask(wfre_sq_exec *x, const wfre_sq_prediction *p, const wfre_query *query,
                        size_t top, wfre_answers **answers)
{
    wfre_question question = {.query = query};
    wfre_ask_options_default(&question.options);
    question.options.split = wfre_rdf_split(x->rdf);
    question.options.top = top;
    question.options.min_probability = p->threshold;
    wfre_status status =
        wfre_session_ask(x->options->session, &question, 1, x->options->cancel, answers, x->error);
    if (status == WFRE_OK && (*answers)->status != WFRE_OK)
        status = wfre_fail(x->error, (*answers)->status, p->service->offset, "%s",
                           (*answers)->message ? (*answers)->message : "no answer");
    if (status == WFRE_OK && (*answers)->unpredicted && !p->service->silent)
        status = wfre_fail(x->error, WFRE_ERR_UNSUPPORTED, p->service->offset,
                           "SERVICE wfre:predict: nothing can be predicted: %s. SERVICE SILENT "
                           "gives what is proven",
                           (*answers)->unpredicted);
    return status == WFRE_OK ? WFRE_SQ_GO : wfre_sq_fail(x, status);
}

/* ---- rows --------------------------------------------------------------------------------- */

typedef struct predictor {
    const wfre_sq_prediction *p;
    wfre_sq_node *node;
    wfre_sq_sink *sink;
    uint64_t predicted; /* rows so far */
} predictor;

static wfre_sq_flow set_slot(wfre_sq_exec *x, wfre_sq_slot slot, const wfre_sq_value *value)
{
    if (slot == WFRE_NONE)
        return WFRE_SQ_GO;
    wfre_sq_scratch_begin(x);
    wfre_sq_flow flow = wfre_sq_term_of(x, value, &x->row[slot]);
    wfre_sq_scratch_end(x);
    return flow;
}

static wfre_sq_flow emit_row(wfre_sq_exec *x, predictor *r, double probability, bool proven)
{
    wfre_sq_value value = {.type = WFRE_SQ_T_DOUBLE};
    value.real = probability;
    const wfre_sq_value status =
        wfre_sq_string(proven ? wfre_sq_name("proven", 6) : wfre_sq_name("predicted", 9));
    wfre_sq_flow flow = set_slot(x, r->p->status, &status);
    if (flow == WFRE_SQ_GO && !isnan(probability))
        flow = set_slot(x, r->p->probability, &value);
    if (flow == WFRE_SQ_GO)
        flow = r->p->optional
                   ? wfre_sq_run(x, r->node->children[r->p->restriction != NULL], r->sink)
                   : r->sink->emit(r->sink, x);
    if (r->p->status != WFRE_NONE)
        x->row[r->p->status] = WFRE_NONE;
    if (r->p->probability != WFRE_NONE)
        x->row[r->p->probability] = WFRE_NONE;
    return flow;
}

static wfre_sq_flow allowed(wfre_sq_exec *x, const predictor *r, bool *yes)
{
    *yes = true;
    return r->p->restriction ? wfre_sq_exists(x, r->node->children[0], yes) : WFRE_SQ_GO;
}

static wfre_sq_flow predict_slot(wfre_sq_exec *x, predictor *r, maker *m, uint32_t index,
                                 double before, bool proven_before);

/* One entity in the place of an answer variable: the next one, or a row. */
static wfre_sq_flow take(wfre_sq_exec *x, predictor *r, maker *m, uint32_t index,
                         wfre_entity entity, double probability, bool proven)
{
    wfre_sq_slot slot = r->p->answers[index];
    bool last = index + 1 == r->p->answer_count, yes = true;
    wfre_sq_flow flow = WFRE_SQ_GO;
    x->row[slot] = m->given[slot] = entity;
    if (!last) {
        flow = predict_slot(x, r, m, index + 1, probability, proven);
    } else {
        flow = allowed(x, r, &yes);
        if (flow == WFRE_SQ_GO && yes) {
            r->predicted += !proven;
            flow = emit_row(x, r, probability, proven);
        }
    }
    x->row[slot] = m->given[slot] = WFRE_NONE;
    return flow;
}

/* Asks for one answer variable, and for more answers as long as too few of them pass. */
static wfre_sq_flow predict_slot(wfre_sq_exec *x, predictor *r, maker *m, uint32_t index,
                                 double before_it, bool proven_before)
{
    const wfre_sq_prediction *p = r->p;
    size_t entities = wfre_graph_entities(wfre_rdf_graph(x->rdf));
    uint64_t before = r->predicted;
    size_t top = p->top < entities ? (size_t)p->top : entities, done = 0;
    wfre_query *outer = m->query, *query = wfre_alloc_zero(1, sizeof *query);
    if (!query)
        return wfre_sq_no_memory(x);
    m->query = query;
    m->level = index;
    wfre_sq_flow flow = make_question(m, p->answers[index]);
    for (bool first = true, more = true; more && flow == WFRE_SQ_GO; first = false) {
        wfre_answers *answers = NULL;
        flow = ask(x, p, query, top, &answers);
        for (size_t i = 0; first && flow == WFRE_SQ_GO && i < answers->known.count; i++)
            flow = take(x, r, m, index, answers->known.ids[i], before_it, proven_before);
        size_t found = flow == WFRE_SQ_GO ? answers->predicted_count : 0;
        bool last = index + 1 == p->answer_count;
        for (; flow == WFRE_SQ_GO && done < found && (!last || r->predicted - before < p->top);
             done++)
            flow = take(x, r, m, index, answers->predicted[done].entity,
                        before_it * answers->predicted[done].probability, false);
        more = found == top && top < entities && r->predicted - before < p->top && p->restriction &&
               index + 1 == p->answer_count;
        top = top < entities / 8 ? top * 8 : entities;
        wfre_answers_free(answers);
    }
    wfre_query_free(query);
    m->query = outer;
    return flow;
}

wfre_sq_flow wfre_sq_run_predict(wfre_sq_exec *x, wfre_sq_node *node, wfre_sq_sink *sink)
{
    predictor r = {.p = node->prediction, .node = node, .sink = sink};
    maker m = {.x = x, .p = r.p};
    size_t slots = x->query->slot_count;
    if (!x->options->session)
        return refuse(x, r.p->service->offset, "a model is needed");
    m.given = wfre_alloc(slots + 1, sizeof *m.given);
    if (!m.given)
        return wfre_sq_no_memory(x);
    for (size_t s = 0; s < slots; s++)
        m.given[s] = WFRE_NONE;
    wfre_sq_flow flow = find_levels(&m);
    if (flow == WFRE_SQ_GO)
        flow = predict_slot(x, &r, &m, 0, 1, true);
    wfre_free(m.given);
    return flow;
}
