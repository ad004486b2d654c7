/* GROUP BY, aggregates and HAVING (section 18.5). */
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "sparql/selection.h"

/* An aggregate of one group so far. */
typedef struct tally {
    uint64_t count;
    bool error; /* a value that cannot be summed or compared */
    bool started;
    wfre_rdf_id term; /* of MIN, MAX, SAMPLE */
    wfre_sq_value value;
    wfre_text text; /* of GROUP_CONCAT; the lexical form of MIN's and MAX's value */
    size_t charged;
} tally;

typedef struct grouper {
    wfre_sq_sink base;
    const wfre_sq_selection *selection;
    wfre_sq_table groups; /* the keys of each */
    tally *tallies;       /* aggregate_count for each group */
    size_t capacity;
    size_t made;        /* groups that have tallies */
    wfre_sq_table seen; /* of DISTINCT: group, aggregate, term */
    wfre_sq_table rows; /* of COUNT(DISTINCT *) */
    wfre_rdf_id *keys;
    wfre_rdf_id *row;
} grouper;

/* ---- adding ------------------------------------------------------------------------------- */

static wfre_sq_flow keep_text(wfre_sq_exec *x, tally *t, wfre_name text)
{
    size_t before = t->text.capacity;
    if (wfre_sq_tick_text(x, text.length) != WFRE_SQ_GO)
        return WFRE_SQ_FAIL;
    wfre_text_append(&t->text, text.bytes, text.length);
    if (t->text.failed)
        return wfre_sq_no_memory(x);
    t->charged += t->text.capacity - before;
    return wfre_sq_charge(x, t->text.capacity - before, "grouping");
}

static wfre_sq_flow add_text(wfre_sq_exec *x, tally *t, const wfre_sq_aggregate *a,
                             const wfre_sq_value *value)
{
    if (value->type == WFRE_SQ_T_BLANK) {
        t->error = true;
        return WFRE_SQ_GO;
    }
    if (t->started && keep_text(x, t, a->separator) != WFRE_SQ_GO)
        return WFRE_SQ_FAIL;
    t->started = true;
    return keep_text(x, t, value->text);
}

/* MIN and MAX by the order of ORDER BY, which is total. */
static wfre_sq_flow add_extreme(wfre_sq_exec *x, tally *t, const wfre_sq_aggregate *a,
                                const wfre_sq_value *value, wfre_rdf_id term)
{
    int order = t->started ? wfre_sq_value_order(value, &t->value) : 0;
    if (t->started && (a->kind == WFRE_SQ_MIN ? order >= 0 : order <= 0))
        return WFRE_SQ_GO;
    t->started = true;
    t->term = term;
    wfre_text_clear(&t->text);
    if (keep_text(x, t, value->text) != WFRE_SQ_GO)
        return WFRE_SQ_FAIL;
    t->value = *value;
    t->value.text = wfre_sq_name(t->text.data ? t->text.data : "", value->text.length);
    /* datatypes and languages of terms live as long as the graph or the made-up terms */
    return WFRE_SQ_GO;
}

static void add_number(tally *t, const wfre_sq_value *value)
{
    if (!wfre_sq_is_numeric(value)) {
        t->error = true;
        return;
    }
    wfre_sq_value sum;
    if (t->started) {
        t->error |= !wfre_sq_arithmetic('+', &t->value, value, &sum);
    } else {
        const wfre_sq_value zero = wfre_sq_whole(0);
        t->error |= !wfre_sq_arithmetic('+', &zero, value, &sum);
    }
    t->started = true;
    t->value = sum;
}

static wfre_sq_flow is_fresh(wfre_sq_exec *x, grouper *g, size_t group, uint32_t index,
                             wfre_rdf_id term, bool *fresh)
{
    const wfre_rdf_id row[] = {(wfre_rdf_id)group, index, term};
    size_t place;
    g->seen.width = g->seen.keys = 3;
    return wfre_sq_table_find_or_add(x, &g->seen, row, &place, fresh, "DISTINCT");
}

/* The number of the whole solution among those that differ. */
static wfre_sq_flow number_row(wfre_sq_exec *x, grouper *g, wfre_rdf_id *number)
{
    const wfre_sq_selection *s = g->selection;
    size_t place;
    bool fresh;
    g->rows.width = g->rows.keys = s->row_count;
    for (uint32_t i = 0; i < s->row_count; i++)
        g->row[i] = x->row[s->row_slots[i]];
    if (wfre_sq_table_find_or_add(x, &g->rows, g->row, &place, &fresh, "DISTINCT") != WFRE_SQ_GO)
        return WFRE_SQ_FAIL;
    *number = (wfre_rdf_id)place;
    return WFRE_SQ_GO;
}

static wfre_sq_flow add_value(wfre_sq_exec *x, tally *t, const wfre_sq_aggregate *a,
                              wfre_rdf_id term)
{
    wfre_sq_value value;
    if (a->kind == WFRE_SQ_COUNT)
        return WFRE_SQ_GO;
    if (a->kind == WFRE_SQ_SAMPLE) {
        t->term = term;
        t->started = true;
        return WFRE_SQ_GO;
    }
    wfre_sq_mark mark = wfre_sq_scratch_begin(x);
    wfre_sq_flow flow = wfre_sq_value_of(x, term, &value);
    if (flow == WFRE_SQ_GO && a->kind == WFRE_SQ_GROUP_CONCAT)
        flow = add_text(x, t, a, &value);
    else if (flow == WFRE_SQ_GO && (a->kind == WFRE_SQ_MIN || a->kind == WFRE_SQ_MAX))
        flow = add_extreme(x, t, a, &value, term);
    else if (flow == WFRE_SQ_GO)
        add_number(t, &value);
    wfre_sq_scratch_end(x, mark);
    return flow;
}

static wfre_sq_flow add_to(wfre_sq_exec *x, grouper *g, size_t group, uint32_t index)
{
    const wfre_sq_select *select = g->selection->select;
    const wfre_sq_aggregate *a = &select->aggregates[index];
    tally *t = &g->tallies[group * select->aggregate_count + index];
    wfre_rdf_id term = 0;
    bool fresh = true;
    if (a->argument && wfre_sq_compute(x, a->argument, &term) != WFRE_SQ_GO)
        return WFRE_SQ_FAIL;
    if (term == WFRE_NONE) {
        /* COUNT leaves it out; the others have no value then, SAMPLE another one */
        t->error |= a->kind != WFRE_SQ_COUNT && a->kind != WFRE_SQ_SAMPLE;
        return WFRE_SQ_GO;
    }
    if (!a->argument && a->distinct && number_row(x, g, &term) != WFRE_SQ_GO)
        return WFRE_SQ_FAIL;
    if (a->distinct && is_fresh(x, g, group, index, term, &fresh) != WFRE_SQ_GO)
        return WFRE_SQ_FAIL;
    if (!fresh)
        return WFRE_SQ_GO;
    t->count++;
    return add_value(x, t, a, term);
}

static wfre_sq_flow new_group(wfre_sq_exec *x, grouper *g)
{
    size_t width = g->selection->select->aggregate_count, before = g->capacity;
    if (!wfre_reserve(&g->tallies, &g->capacity, g->groups.count * width + 1, sizeof *g->tallies))
        return wfre_sq_no_memory(x);
    if (width)
        memset(g->tallies + (g->groups.count - 1) * width, 0, width * sizeof *g->tallies);
    g->made = g->groups.count;
    return wfre_sq_charge(x, (g->capacity - before) * sizeof *g->tallies, "GROUP BY");
}

static wfre_sq_flow group_row(wfre_sq_sink *base, wfre_sq_exec *x)
{
    grouper *g = (grouper *)base;
    const wfre_sq_select *select = g->selection->select;
    size_t group = 0;
    bool fresh;
    for (uint32_t i = 0; i < select->key_count; i++) {
        const wfre_sq_column *key = &select->keys[i];
        g->keys[i] = x->row[key->slot];
        if (key->expression && wfre_sq_compute(x, key->expression, &g->keys[i]) != WFRE_SQ_GO)
            return WFRE_SQ_FAIL;
    }
    if (wfre_sq_table_find_or_add(x, &g->groups, g->keys, &group, &fresh, "GROUP BY") !=
            WFRE_SQ_GO ||
        (fresh && new_group(x, g) != WFRE_SQ_GO))
        return WFRE_SQ_FAIL;
    for (uint32_t i = 0; i < select->aggregate_count; i++)
        if (add_to(x, g, group, i) != WFRE_SQ_GO)
            return WFRE_SQ_FAIL;
    return WFRE_SQ_GO;
}

/* ---- results ------------------------------------------------------------------------------ */

static bool average(const tally *t, wfre_sq_value *value)
{
    const wfre_sq_value count = wfre_sq_whole((int64_t)t->count);
    if (t->count == 0) {
        *value = wfre_sq_whole(0);
        return true;
    }
    return wfre_sq_arithmetic('/', &t->value, &count, value);
}

static wfre_sq_flow result_of(wfre_sq_exec *x, const wfre_sq_aggregate *a, const tally *t,
                              wfre_rdf_id *term)
{
    wfre_sq_value value;
    bool has = !t->error;
    *term = WFRE_NONE;
    switch (a->kind) {
    case WFRE_SQ_COUNT:
        value = wfre_sq_whole((int64_t)t->count);
        break;
    case WFRE_SQ_SUM:
        value = t->started ? t->value : wfre_sq_whole(0);
        break;
    case WFRE_SQ_AVG:
        has = has && average(t, &value);
        break;
    case WFRE_SQ_GROUP_CONCAT:
        value = wfre_sq_string(wfre_sq_name(t->text.data ? t->text.data : "", t->text.length));
        break;
    default:
        if (t->started && has)
            *term = t->term;
        return WFRE_SQ_GO;
    }
    if (!has)
        return WFRE_SQ_GO;
    wfre_sq_mark mark = wfre_sq_scratch_begin(x);
    wfre_sq_flow flow = wfre_sq_term_of(x, &value, term);
    wfre_sq_scratch_end(x, mark);
    return flow;
}

static wfre_sq_flow emit_group(wfre_sq_exec *x, grouper *g, size_t group, wfre_sq_sink *sink)
{
    const wfre_sq_select *select = g->selection->select;
    const wfre_rdf_id *keys = g->groups.rows + group * (select->key_count ? select->key_count : 1);
    wfre_sq_flow flow = WFRE_SQ_GO;
    bool holds = true;
    x->solution++;
    for (uint32_t i = 0; i < select->key_count; i++) {
        g->keys[i] = x->row[select->keys[i].slot]; /* bound from outside, or not */
        x->row[select->keys[i].slot] = keys[i];
    }
    for (uint32_t i = 0; i < select->aggregate_count && flow == WFRE_SQ_GO; i++)
        flow =
            result_of(x, &select->aggregates[i], &g->tallies[group * select->aggregate_count + i],
                      &x->row[select->aggregates[i].slot]);
    for (uint32_t i = 0; i < select->having_count && holds && flow == WFRE_SQ_GO; i++)
        flow = wfre_sq_test(x, select->having[i], &holds);
    if (flow == WFRE_SQ_GO && holds)
        flow = sink->emit(sink, x);
    for (uint32_t i = 0; i < select->key_count; i++)
        x->row[select->keys[i].slot] = g->keys[i];
    for (uint32_t i = 0; i < select->aggregate_count; i++)
        x->row[select->aggregates[i].slot] = WFRE_NONE;
    return flow;
}

static void free_grouper(wfre_sq_exec *x, grouper *g)
{
    size_t tallies = g->made * g->selection->select->aggregate_count;
    for (size_t i = 0; g->tallies && i < tallies; i++) {
        wfre_text_free(&g->tallies[i].text);
        wfre_sq_release(x, g->tallies[i].charged);
    }
    wfre_sq_release(x, g->capacity * sizeof *g->tallies);
    wfre_free(g->tallies);
    wfre_sq_table_free(x, &g->groups);
    wfre_sq_table_free(x, &g->seen);
    wfre_sq_table_free(x, &g->rows);
    wfre_free(g->keys);
    wfre_free(g->row);
}

wfre_sq_flow wfre_sq_run_groups(wfre_sq_exec *x, wfre_sq_selection *selection, wfre_sq_sink *sink)
{
    const wfre_sq_select *select = selection->select;
    grouper g = {.base = {group_row}, .selection = selection};
    g.groups.width = g.groups.keys = select->key_count;
    g.keys = wfre_alloc((size_t)select->key_count + 1, sizeof *g.keys);
    g.row = wfre_alloc((size_t)selection->row_count + 1, sizeof *g.row);
    wfre_sq_flow flow = g.keys && g.row ? WFRE_SQ_GO : wfre_sq_no_memory(x);
    if (flow == WFRE_SQ_GO)
        flow = wfre_sq_run(x, selection->where, &g.base);
    /* without GROUP BY there is one group, even if nothing was found */
    if (flow == WFRE_SQ_GO && g.groups.count == 0 && select->key_count == 0) {
        size_t group;
        bool fresh;
        flow = wfre_sq_table_find_or_add(x, &g.groups, g.keys, &group, &fresh, "GROUP BY");
        if (flow == WFRE_SQ_GO)
            flow = new_group(x, &g);
    }
    for (size_t i = 0; i < g.groups.count && flow == WFRE_SQ_GO; i++) {
        flow = wfre_sq_tick(x);
        if (flow == WFRE_SQ_GO)
            flow = emit_group(x, &g, i, sink);
    }
    free_grouper(x, &g);
    return flow;
}
