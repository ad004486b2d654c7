/* What a SELECT does with the solutions of its pattern: groups, columns, order, DISTINCT, LIMIT.
 * Each is a sink in front of the next one. */
#include <string.h>

#include "base/memory.h"
#include "sparql/selection.h"

/* The last sinks: DISTINCT and slices. */
typedef struct finisher {
    wfre_sq_sink base;
    const wfre_sq_selection *selection;
    wfre_sq_table seen; /* DISTINCT */
    wfre_rdf_id *row;
    uint64_t skipped, passed;
    wfre_sq_sink *sink;
} finisher;

static wfre_sq_flow finish_row(wfre_sq_sink *base, wfre_sq_exec *x)
{
    finisher *f = (finisher *)base;
    const wfre_sq_select *select = f->selection->select;
    uint32_t count = f->selection->output_count;
    if (select->duplicates != WFRE_SQ_KEEP) {
        size_t index;
        bool fresh = true;
        for (uint32_t i = 0; i < count; i++)
            f->row[i] = x->row[f->selection->outputs[i]];
        if (select->duplicates == WFRE_SQ_DISTINCT &&
            wfre_sq_table_find_or_add(x, &f->seen, f->row, &index, &fresh, "DISTINCT") !=
                WFRE_SQ_GO)
            return WFRE_SQ_FAIL;
        if (!fresh)
            return WFRE_SQ_GO;
    }
    if (f->skipped < select->offset) {
        f->skipped++;
        return WFRE_SQ_GO;
    }
    f->passed++;
    wfre_sq_flow flow = f->sink->emit(f->sink, x);
    if (flow == WFRE_SQ_GO && f->passed >= select->limit) {
        x->halted = base;
        return WFRE_SQ_HALT;
    }
    return flow;
}

/* ---- columns ------------------------------------------------------------------------------ */

typedef struct columner {
    wfre_sq_sink base;
    const wfre_sq_selection *selection;
    wfre_sq_sorter *sorter; /* NULL: pass on at once */
    wfre_sq_sink *sink;
    wfre_rdf_id *before; /* of the columns' slots: bound from outside within EXISTS */
} columner;

/* The columns that are computed, as many as fit what is bound from outside; *count of them have to
 * be put back. */
static wfre_sq_flow compute_columns(wfre_sq_exec *x, const columner *c, uint32_t *count, bool *fits)
{
    const wfre_sq_select *select = c->selection->select;
    *fits = true;
    for (*count = 0; *count < select->column_count; ++*count) {
        const wfre_sq_column *column = &select->columns[*count];
        wfre_rdf_id term, before = x->row[column->slot];
        c->before[*count] = before;
        if (!column->expression)
            continue;
        if (wfre_sq_compute(x, column->expression, &term) != WFRE_SQ_GO)
            return WFRE_SQ_FAIL;
        *fits = before == WFRE_NONE || term == WFRE_NONE || term == before;
        if (!*fits)
            return WFRE_SQ_GO;
        if (term != WFRE_NONE)
            x->row[column->slot] = term;
    }
    return WFRE_SQ_GO;
}

static wfre_sq_flow column_row(wfre_sq_sink *base, wfre_sq_exec *x)
{
    columner *c = (columner *)base;
    const wfre_sq_select *select = c->selection->select;
    uint32_t count;
    bool fits;
    wfre_sq_flow flow = compute_columns(x, c, &count, &fits);
    if (flow == WFRE_SQ_GO && fits)
        flow = c->sorter ? wfre_sq_sorter_add(x, c->sorter) : c->sink->emit(c->sink, x);
    while (count-- > 0)
        if (select->columns[count].expression)
            x->row[select->columns[count].slot] = c->before[count];
    return flow;
}

/* ---- the whole ---------------------------------------------------------------------------- */

typedef struct afterer {
    wfre_sq_sink base;
    const wfre_sq_selection *selection;
    wfre_sq_sink *sink;
} afterer;

static wfre_sq_flow join_after(wfre_sq_sink *base, wfre_sq_exec *x)
{
    afterer *a = (afterer *)base;
    return wfre_sq_run(x, a->selection->after, a->sink);
}

static wfre_sq_flow produce(wfre_sq_exec *x, wfre_sq_selection *s, columner *c)
{
    wfre_sq_flow flow;
    afterer a = {{join_after}, s, &c->base};
    if (s->select->grouped)
        flow = wfre_sq_run_groups(x, s, s->after ? &a.base : &c->base);
    else
        flow = wfre_sq_run(x, s->where, &c->base);
    if (flow == WFRE_SQ_GO && c->sorter)
        flow = wfre_sq_sorter_emit(x, c->sorter, c->sink);
    return flow;
}

wfre_sq_flow wfre_sq_run_selection(wfre_sq_exec *x, wfre_sq_selection *s, wfre_sq_sink *sink)
{
    const wfre_sq_select *select = s->select;
    finisher f = {.base = {finish_row}, .selection = s, .sink = sink};
    columner c = {.base = {column_row}, .selection = s, .sink = &f.base};
    wfre_sq_flow flow = WFRE_SQ_GO;
    if (select->limit == 0)
        return WFRE_SQ_GO;
    f.seen.width = f.seen.keys = s->output_count;
    f.row = wfre_alloc((size_t)s->output_count + 1, sizeof *f.row);
    c.before = wfre_alloc((size_t)select->column_count + 1, sizeof *c.before);
    if (!f.row || !c.before)
        flow = wfre_sq_no_memory(x);
    if (flow == WFRE_SQ_GO && select->order_count)
        flow = wfre_sq_sorter_create(x, s, &c.sorter);
    if (flow == WFRE_SQ_GO)
        flow = produce(x, s, &c);
    if (flow == WFRE_SQ_HALT && x->halted == &f.base)
        flow = WFRE_SQ_GO;
    wfre_sq_sorter_free(x, c.sorter);
    wfre_sq_table_free(x, &f.seen);
    wfre_free(c.before);
    wfre_free(f.row);
    return flow;
}
