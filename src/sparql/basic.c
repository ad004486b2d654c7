/* Running a basic pattern: one step after the other, each for every row that those before it make.
 */
#include "sparql/plan.h"

typedef struct runner {
    wfre_sq_exec *x;
    wfre_sq_node *node;
    wfre_sq_sink *sink;
} runner;

static wfre_sq_flow run_step(runner *r, uint32_t index);

/* The filters of a step; then the next step. */
static wfre_sq_flow proceed(runner *r, uint32_t index)
{
    const wfre_sq_step *step = &r->node->steps[index];
    for (uint32_t i = 0; i < step->filter_count; i++) {
        bool holds;
        if (wfre_sq_test(r->x, step->filters[i], &holds) != WFRE_SQ_GO)
            return WFRE_SQ_FAIL;
        if (!holds)
            return WFRE_SQ_GO;
    }
    return run_step(r, index + 1);
}

static wfre_rdf_id term_at(const wfre_sq_exec *x, const wfre_sq_place *place)
{
    return place->slot == WFRE_NONE ? place->term : x->row[place->slot];
}

static wfre_rdf_triple triple_of(const wfre_sq_exec *x, const wfre_sq_atom *atom)
{
    wfre_rdf_triple triple;
    for (int i = 0; i < WFRE_RDF_PLACES; i++)
        triple.at[i] = term_at(x, &atom->at[i]);
    return triple;
}

/* ---- meet --------------------------------------------------------------------------------- */

/* The next term from `least` on that all columns have; false if there is none. */
static bool meet_next(wfre_sq_step *step, wfre_rdf_id least, wfre_rdf_id *term)
{
    uint32_t agree = 0;
    for (uint32_t c = 0; agree < step->column_count; c = c + 1 < step->column_count ? c + 1 : 0) {
        wfre_rdf_id found;
        if (!wfre_rdf_column_seek(&step->columns[c], least, &found))
            return false;
        agree = found == least ? agree + 1 : 1;
        least = found;
    }
    *term = least;
    return true;
}

static wfre_sq_flow open_columns(runner *r, wfre_sq_step *step)
{
    for (uint32_t c = 0; c < step->column_count; c++) {
        wfre_rdf_triple pattern = triple_of(r->x, step->column_atoms[c]);
        pattern.at[step->column_places[c]] = WFRE_NONE;
        wfre_status status = wfre_rdf_column_open(&step->columns[c], r->x->rdf, &pattern,
                                                  step->column_places[c], r->x->error);
        if (status != WFRE_OK)
            return wfre_sq_fail(r->x, status);
    }
    return WFRE_SQ_GO;
}

static wfre_sq_flow run_meet(runner *r, uint32_t index, wfre_sq_step *step)
{
    wfre_rdf_id *slot = &r->x->row[step->slot], before = *slot, term;
    wfre_sq_flow flow = open_columns(r, step);
    if (flow != WFRE_SQ_GO)
        return flow;
    if (before != WFRE_NONE)
        return meet_next(step, before, &term) && term == before ? proceed(r, index) : WFRE_SQ_GO;
    for (wfre_rdf_id least = 0; flow == WFRE_SQ_GO && meet_next(step, least, &term);
         least = term + 1) {
        if ((flow = wfre_sq_tick(r->x)) != WFRE_SQ_GO)
            break;
        *slot = term;
        flow = proceed(r, index);
    }
    *slot = WFRE_NONE;
    return flow;
}

/* ---- scan --------------------------------------------------------------------------------- */

/* The cheap order for what is given. */
static wfre_rdf_order order_for(const wfre_rdf_triple *pattern)
{
    bool s = pattern->at[WFRE_RDF_S] != WFRE_NONE, p = pattern->at[WFRE_RDF_P] != WFRE_NONE;
    bool o = pattern->at[WFRE_RDF_O] != WFRE_NONE;
    if (s)
        return WFRE_RDF_SPO;
    if (p)
        return o ? WFRE_RDF_POS : WFRE_RDF_PSO;
    return o ? WFRE_RDF_OPS : WFRE_RDF_PSO;
}

/* Binds the slots of an atom to a triple; false if it disagrees with what is bound. */
static bool bind(wfre_sq_exec *x, const wfre_sq_atom *atom, const wfre_rdf_triple *triple)
{
    for (int i = 0; i < WFRE_RDF_PLACES; i++) {
        wfre_sq_slot slot = atom->at[i].slot;
        if (slot == WFRE_NONE)
            continue;
        if (x->row[slot] == WFRE_NONE)
            x->row[slot] = triple->at[i];
        else if (x->row[slot] != triple->at[i])
            return false;
    }
    return true;
}

/* Sets the slots of an atom back to what they were before. */
static void restore(wfre_sq_exec *x, const wfre_sq_atom *atom, const wfre_rdf_triple *before)
{
    for (int i = 0; i < WFRE_RDF_PLACES; i++)
        if (atom->at[i].slot != WFRE_NONE)
            x->row[atom->at[i].slot] = before->at[i];
}

static wfre_sq_flow run_scan(runner *r, uint32_t index, wfre_sq_step *step)
{
    wfre_sq_exec *x = r->x;
    const wfre_rdf_triple before = triple_of(x, step->atom);
    wfre_status status =
        wfre_rdf_scan_open(&step->scan, x->rdf, &before, order_for(&before), x->error);
    if (status != WFRE_OK)
        return wfre_sq_fail(x, status);
    wfre_sq_flow flow = WFRE_SQ_GO;
    wfre_rdf_triple triple;
    while (flow == WFRE_SQ_GO && wfre_rdf_scan_next(&step->scan, &triple)) {
        if ((flow = wfre_sq_tick(x)) != WFRE_SQ_GO)
            break;
        if (bind(x, step->atom, &triple))
            flow = proceed(r, index);
        restore(x, step->atom, &before);
    }
    return flow;
}

/* ---- walk --------------------------------------------------------------------------------- */

typedef struct walker {
    wfre_sq_walker base;
    runner *r;
    uint32_t index;
    const wfre_sq_atom *atom;
} walker;

/* Whether a triple begins or ends at the term. */
static bool is_node(const wfre_sq_exec *x, wfre_rdf_id term)
{
    const wfre_rdf_triple out = {{term, WFRE_NONE, WFRE_NONE}}, in = {{WFRE_NONE, WFRE_NONE, term}};
    return term < x->own && (wfre_rdf_count(x->rdf, &out) || wfre_rdf_count(x->rdf, &in));
}

static wfre_sq_flow walked(wfre_sq_walker *base, wfre_sq_exec *x, wfre_rdf_id from, wfre_rdf_id to)
{
    walker *w = (walker *)base;
    const wfre_rdf_triple before = triple_of(x, w->atom), triple = {{from, WFRE_NONE, to}};
    wfre_sq_flow flow = wfre_sq_tick(x);
    /* a path without length leads from each node to itself, and from terms that are written */
    if (from == to && w->atom->at[WFRE_RDF_S].slot != WFRE_NONE &&
        w->atom->at[WFRE_RDF_O].slot != WFRE_NONE && !is_node(x, from))
        return flow;
    if (flow == WFRE_SQ_GO && bind(x, w->atom, &triple))
        flow = proceed(w->r, w->index);
    restore(x, w->atom, &before);
    return flow;
}

static wfre_sq_flow run_step(runner *r, uint32_t index)
{
    wfre_sq_exec *x = r->x;
    if (index == r->node->step_count) {
        x->solution++;
        return r->sink->emit(r->sink, x);
    }
    wfre_sq_step *step = &r->node->steps[index];
    if (step->kind == WFRE_SQ_MEET)
        return run_meet(r, index, step);
    if (step->kind == WFRE_SQ_SCAN)
        return run_scan(r, index, step);
    const wfre_rdf_triple triple = triple_of(x, step->atom);
    if (step->kind == WFRE_SQ_CHECK)
        return wfre_rdf_has(x->rdf, &triple) ? proceed(r, index) : WFRE_SQ_GO;
    walker w = {{walked}, r, index, step->atom};
    return wfre_sq_walk(x, step->atom->path, triple.at[WFRE_RDF_S], triple.at[WFRE_RDF_O], &w.base);
}

wfre_sq_flow wfre_sq_run_basic(wfre_sq_exec *x, wfre_sq_node *node, wfre_sq_sink *sink)
{
    runner r = {x, node, sink};
    return run_step(&r, 0);
}
