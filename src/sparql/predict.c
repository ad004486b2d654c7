/* SERVICE wfre:predict: the question as a formula, asked of a session, its answers as solutions.
 *
 * Several answer variables are asked for one after the other, each with the triples that tie it to
 * entities and to the answers before it, which are put in their places. The probability of a tuple
 * is the product of those of its terms, and it is proven if all of them are. */
#include "sparql/predict.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "sparql/question.h"

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
    wfre_sq_sink base; /* of what restricts the answers */
    const wfre_sq_prediction *p;
    wfre_sq_node *node;
    wfre_sq_sink *sink;
    double probability; /* of the answers at hand */
    bool proven, counted;
    uint64_t predicted; /* answers so far */
} predictor;

static wfre_sq_flow set_slot(wfre_sq_exec *x, wfre_sq_slot slot, const wfre_sq_value *value)
{
    if (slot == WFRE_NONE)
        return WFRE_SQ_GO;
    wfre_sq_mark mark = wfre_sq_scratch_begin(x);
    wfre_sq_flow flow = wfre_sq_term_of(x, value, &x->row[slot]);
    wfre_sq_scratch_end(x, mark);
    return flow;
}

/* The answers at hand with what restricts them: a row, or one for each way to fill it in. */
static wfre_sq_flow emit_row(wfre_sq_sink *base, wfre_sq_exec *x)
{
    predictor *r = (predictor *)base;
    wfre_sq_value value = {.type = WFRE_SQ_T_DOUBLE};
    value.real = r->probability;
    const wfre_sq_value status =
        wfre_sq_string(r->proven ? wfre_sq_name("proven", 6) : wfre_sq_name("predicted", 9));
    r->predicted += !r->proven && !r->counted;
    r->counted = true;
    wfre_sq_flow flow = set_slot(x, r->p->status, &status);
    if (flow == WFRE_SQ_GO && !isnan(r->probability))
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

/* The rows of the answers at hand: none if they do not pass. */
static wfre_sq_flow emit_rows(wfre_sq_exec *x, predictor *r, double probability, bool proven)
{
    bool passes = true;
    r->probability = probability;
    r->proven = proven;
    r->counted = false;
    if (r->p->restriction && !r->p->unknown)
        return wfre_sq_run(x, r->node->children[0], &r->base);
    if (r->p->restriction) { /* behind a plain query each answer comes once */
        wfre_sq_flow flow = wfre_sq_exists(x, r->node->children[0], &passes);
        if (flow != WFRE_SQ_GO)
            return flow;
    }
    return passes ? emit_row(&r->base, x) : WFRE_SQ_GO;
}

static wfre_sq_flow predict_slot(wfre_sq_exec *x, predictor *r, wfre_sq_maker *m, uint32_t index,
                                 double before, bool proven_before);

/* One entity in the place of an answer variable: the next one, or a row. */
static wfre_sq_flow take(wfre_sq_exec *x, predictor *r, wfre_sq_maker *m, uint32_t index,
                         wfre_entity entity, double probability, bool proven)
{
    wfre_sq_slot slot = r->p->answers[index];
    bool last = index + 1 == r->p->answer_count;
    x->row[slot] = m->given[slot] = entity;
    wfre_sq_flow flow = last ? emit_rows(x, r, probability, proven)
                             : predict_slot(x, r, m, index + 1, probability, proven);
    x->row[slot] = m->given[slot] = WFRE_NONE;
    return flow;
}

/* Asks for one answer variable, and for more answers as long as too few of them pass. */
static wfre_sq_flow predict_slot(wfre_sq_exec *x, predictor *r, wfre_sq_maker *m, uint32_t index,
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
    wfre_sq_flow flow = wfre_sq_make_question(m, &p->answers[index], 1);
    for (bool first = true, more = true; more && flow == WFRE_SQ_GO; first = false) {
        wfre_answers *answers = NULL;
        flow = ask(x, p, query, top, &answers);
        for (size_t i = 0; first && !p->unknown && flow == WFRE_SQ_GO && i < answers->known.count;
             i++)
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

static wfre_sq_flow run(wfre_sq_exec *x, wfre_sq_node *node, wfre_sq_sink *sink)
{
    predictor r = {.base = {emit_row}, .p = node->prediction, .node = node, .sink = sink};
    wfre_sq_maker m = {.x = x, .p = r.p};
    size_t slots = x->query->slot_count;
    if (!x->options->session)
        return wfre_sq_refuse(x, r.p->service->offset, "a model is needed");
    m.given = wfre_alloc(slots + 1, sizeof *m.given);
    if (!m.given)
        return wfre_sq_no_memory(x);
    for (size_t s = 0; s < slots; s++)
        m.given[s] = WFRE_NONE;
    wfre_sq_flow flow = wfre_sq_find_levels(&m);
    if (flow == WFRE_SQ_GO)
        flow = predict_slot(x, &r, &m, 0, 1, true);
    wfre_free(m.given);
    return flow;
}

/* ---- what is bound already ---------------------------------------------------------------- */

/* Within EXISTS the row may have what is predicted: it is put back, and has to be the same. */
typedef struct fitter {
    wfre_sq_sink base;
    wfre_rdf_id *before; /* of all slots; then room for as many */
    wfre_sq_sink *sink;
} fitter;

static wfre_sq_flow fit(wfre_sq_sink *base, wfre_sq_exec *x)
{
    const fitter *f = (const fitter *)base;
    size_t slots = x->query->slot_count;
    wfre_rdf_id *found = f->before + slots;
    bool fits = true;
    for (size_t s = 0; s < slots && fits; s++)
        fits = f->before[s] == WFRE_NONE || x->row[s] == WFRE_NONE || x->row[s] == f->before[s];
    if (!fits)
        return WFRE_SQ_GO;
    memcpy(found, x->row, slots * sizeof *found);
    for (size_t s = 0; s < slots; s++)
        if (x->row[s] == WFRE_NONE)
            x->row[s] = f->before[s];
    wfre_sq_flow flow = f->sink->emit(f->sink, x);
    memcpy(x->row, found, slots * sizeof *found);
    return flow;
}

wfre_sq_flow wfre_sq_run_predict(wfre_sq_exec *x, wfre_sq_node *node, wfre_sq_sink *sink)
{
    size_t slots = x->query->slot_count;
    bool bound = false;
    for (wfre_sq_slot s = 0; s < slots; s++)
        bound |= x->row[s] != WFRE_NONE && wfre_sq_slots_has(node->possible, s);
    if (!bound)
        return run(x, node, sink);
    fitter f = {{fit}, wfre_alloc(2 * slots, sizeof *f.before), sink};
    if (!f.before)
        return wfre_sq_no_memory(x);
    memcpy(f.before, x->row, slots * sizeof *f.before);
    for (wfre_sq_slot s = 0; s < slots; s++)
        if (wfre_sq_slots_has(node->possible, s))
            x->row[s] = WFRE_NONE;
    wfre_sq_flow flow = run(x, node, &f.base);
    memcpy(x->row, f.before, slots * sizeof *f.before);
    wfre_free(f.before);
    return flow;
}
