/* Running the nodes of a plan. */
#include <string.h>

#include "base/memory.h"
#include "sparql/plan.h"

/* Whether all filters hold for the row. */
static wfre_sq_flow passes(wfre_sq_exec *x, const wfre_sq_expression *const *filters,
                           uint32_t count, bool *holds)
{
    *holds = true;
    for (uint32_t i = 0; i < count && *holds; i++)
        if (wfre_sq_test(x, filters[i], holds) != WFRE_SQ_GO)
            return WFRE_SQ_FAIL;
    return WFRE_SQ_GO;
}

/* ---- existence ---------------------------------------------------------------------------- */

typedef struct finder {
    wfre_sq_sink base;
    bool found;
} finder;

static wfre_sq_flow found_one(wfre_sq_sink *base, wfre_sq_exec *x)
{
    ((finder *)base)->found = true;
    x->halted = base;
    return WFRE_SQ_HALT;
}

wfre_sq_flow wfre_sq_exists(wfre_sq_exec *x, const wfre_sq_node *node, bool *exists)
{
    finder f = {{found_one}, false};
    wfre_sq_flow flow = wfre_sq_run(x, node, &f.base);
    *exists = f.found;
    return flow == WFRE_SQ_HALT && x->halted == &f.base ? WFRE_SQ_GO : flow;
}

/* ---- join --------------------------------------------------------------------------------- */

typedef struct joiner {
    wfre_sq_sink base;
    const wfre_sq_node *node;
    uint32_t next; /* the child that comes next */
    wfre_sq_sink *sink;
} joiner;

static wfre_sq_flow join_next(wfre_sq_sink *base, wfre_sq_exec *x)
{
    joiner *j = (joiner *)base;
    if (j->next == j->node->count)
        return j->sink->emit(j->sink, x);
    joiner further = {{join_next}, j->node, j->next + 1, j->sink};
    return wfre_sq_run(x, j->node->children[j->next], &further.base);
}

/* ---- left join ---------------------------------------------------------------------------- */

typedef struct lefter {
    wfre_sq_sink base;
    const wfre_sq_node *node;
    wfre_sq_sink *sink;
} lefter;

typedef struct matcher {
    wfre_sq_sink base;
    const wfre_sq_node *node;
    wfre_sq_sink *sink;
    bool any;
} matcher;

static wfre_sq_flow right_found(wfre_sq_sink *base, wfre_sq_exec *x)
{
    matcher *m = (matcher *)base;
    bool holds;
    if (passes(x, m->node->filters, m->node->filter_count, &holds) != WFRE_SQ_GO)
        return WFRE_SQ_FAIL;
    if (!holds)
        return WFRE_SQ_GO;
    m->any = true;
    return m->sink->emit(m->sink, x);
}

static wfre_sq_flow left_found(wfre_sq_sink *base, wfre_sq_exec *x)
{
    lefter *l = (lefter *)base;
    matcher m = {{right_found}, l->node, l->sink, false};
    wfre_sq_flow flow = wfre_sq_run(x, l->node->children[1], &m.base);
    if (flow == WFRE_SQ_GO && !m.any)
        flow = l->sink->emit(l->sink, x);
    return flow;
}

/* ---- filters and BIND --------------------------------------------------------------------- */

typedef struct sieve {
    wfre_sq_sink base;
    const wfre_sq_node *node;
    wfre_sq_sink *sink;
} sieve;

static wfre_sq_flow sift(wfre_sq_sink *base, wfre_sq_exec *x)
{
    sieve *s = (sieve *)base;
    bool holds;
    if (passes(x, s->node->filters, s->node->filter_count, &holds) != WFRE_SQ_GO)
        return WFRE_SQ_FAIL;
    return holds ? s->sink->emit(s->sink, x) : WFRE_SQ_GO;
}

static wfre_sq_flow extend(wfre_sq_sink *base, wfre_sq_exec *x)
{
    sieve *s = (sieve *)base;
    wfre_rdf_id *slot = &x->row[s->node->pattern->slot], before = *slot, term;
    if (wfre_sq_compute(x, s->node->pattern->expression, &term) != WFRE_SQ_GO)
        return WFRE_SQ_FAIL;
    if (before != WFRE_NONE && term != WFRE_NONE && term != before)
        return WFRE_SQ_GO;
    if (term != WFRE_NONE)
        *slot = term;
    wfre_sq_flow flow = s->sink->emit(s->sink, x);
    *slot = before;
    return flow;
}

/* ---- minus -------------------------------------------------------------------------------- */

static wfre_sq_flow subtract(wfre_sq_sink *base, wfre_sq_exec *x)
{
    sieve *s = (sieve *)base;
    bool exists;
    wfre_sq_flow flow = wfre_sq_exists(x, s->node->children[1], &exists);
    if (flow != WFRE_SQ_GO)
        return flow;
    return exists ? WFRE_SQ_GO : s->sink->emit(s->sink, x);
}

/* ---- tables ------------------------------------------------------------------------------- */

typedef struct filler {
    wfre_sq_sink base;
    wfre_sq_table *table;
    wfre_rdf_id *row; /* room for one */
} filler;

static wfre_sq_flow fill_row(wfre_sq_sink *base, wfre_sq_exec *x)
{
    filler *f = (filler *)base;
    for (uint32_t i = 0; i < f->table->width; i++)
        f->row[i] = x->row[f->table->columns[i]];
    return wfre_sq_table_add(x, f->table, f->row, "a join");
}

/* Whether the table was made for the terms that the row has now. */
static bool still_valid(const wfre_sq_exec *x, const wfre_sq_node *node)
{
    for (uint32_t i = 0; i < node->given_count; i++)
        if (node->given_terms[i] != x->row[node->given[i]])
            return false;
    return node->table->complete && node->given_graph == x->rdf;
}

/* Makes the table of the last child, with nothing bound but what is substituted. */
static wfre_sq_flow fill_table(wfre_sq_exec *x, wfre_sq_node *node)
{
    size_t slots = x->query->slot_count;
    if (still_valid(x, node))
        return WFRE_SQ_GO;
    wfre_sq_table_free(x, node->table);
    node->given_graph = x->rdf;
    wfre_rdf_id *saved = wfre_alloc(slots + node->table->width + 1, sizeof *saved);
    if (!saved)
        return wfre_sq_no_memory(x);
    memcpy(saved, x->row, slots * sizeof *saved);
    for (size_t i = 0; i < slots; i++)
        x->row[i] = WFRE_NONE;
    for (uint32_t i = 0; i < node->given_count; i++)
        node->given_terms[i] = x->row[node->given[i]] = saved[node->given[i]];
    filler f = {{fill_row}, node->table, saved + slots};
    wfre_sq_flow flow = wfre_sq_run(x, node->children[node->count - 1], &f.base);
    memcpy(x->row, saved, slots * sizeof *saved);
    wfre_free(saved);
    if (flow == WFRE_SQ_GO)
        flow = wfre_sq_table_index(x, node->table);
    node->table->complete = flow == WFRE_SQ_GO;
    return flow;
}

/* The first row with the keys that the row has; all rows are looked at if there are no keys. */
static uint32_t first_row(const wfre_sq_exec *x, const wfre_sq_table *table)
{
    wfre_rdf_id few[16] = {0}, *keys = few;
    if (table->keys > 16)
        keys = wfre_alloc(table->keys, sizeof *keys);
    if (!keys)
        return WFRE_NONE;
    for (uint32_t i = 0; i < table->keys; i++)
        keys[i] = x->row[table->columns[i]];
    uint32_t row = wfre_sq_table_first(table, keys);
    if (keys != few)
        wfre_free(keys);
    return row;
}

/* Joins the row with a row of the table; false if they disagree. The first `done` slots that were
 * bound by it are marked in the row by their terms: unbind() takes them back. */
static bool bind_row(wfre_sq_exec *x, const wfre_sq_table *table, const wfre_rdf_id *row,
                     bool *bound)
{
    bool agree = true;
    for (uint32_t i = 0; i < table->width; i++) {
        wfre_rdf_id *slot = &x->row[table->columns[i]];
        bound[i] = agree && *slot == WFRE_NONE && row[i] != WFRE_NONE;
        if (bound[i])
            *slot = row[i];
        else if (row[i] != WFRE_NONE && *slot != row[i])
            agree = false;
    }
    return agree;
}

static void unbind_row(wfre_sq_exec *x, const wfre_sq_table *table, const bool *bound)
{
    for (uint32_t i = 0; i < table->width; i++)
        if (bound[i])
            x->row[table->columns[i]] = WFRE_NONE;
}

static wfre_sq_flow run_table(wfre_sq_exec *x, wfre_sq_node *node, wfre_sq_sink *sink)
{
    const wfre_sq_table *table = node->table;
    wfre_sq_flow flow = fill_table(x, node);
    bool few[64], *bound = few;
    if (flow != WFRE_SQ_GO)
        return flow;
    if (table->width > 64)
        bound = wfre_alloc(table->width, sizeof *bound);
    if (!bound)
        return wfre_sq_no_memory(x);
    for (uint32_t r = first_row(x, table); r != WFRE_NONE && flow == WFRE_SQ_GO;
         r = table->next[r]) {
        const wfre_rdf_id *row = table->rows + (size_t)r * (table->width ? table->width : 1);
        if ((flow = wfre_sq_tick(x)) != WFRE_SQ_GO)
            break;
        x->solution++;
        if (bind_row(x, table, row, bound))
            flow = sink->emit(sink, x);
        unbind_row(x, table, bound);
    }
    if (bound != few)
        wfre_free(bound);
    return flow;
}

/* Whether a row of the table agrees with the row on all shared slots, and shares one at least. */
static bool takes_away(const wfre_sq_exec *x, const wfre_sq_node *node, const wfre_rdf_id *row)
{
    const wfre_sq_table *table = node->table;
    bool shares = false;
    for (uint32_t i = 0; i < table->width; i++) {
        bool shared = false;
        for (uint32_t k = 0; k < node->shared_count && !shared; k++)
            shared = node->shared[k] == table->columns[i];
        wfre_rdf_id term = x->row[table->columns[i]];
        if (!shared || row[i] == WFRE_NONE || term == WFRE_NONE)
            continue;
        if (term != row[i])
            return false;
        shares = true;
    }
    return shares;
}

static wfre_sq_flow except(wfre_sq_sink *base, wfre_sq_exec *x)
{
    sieve *s = (sieve *)base;
    wfre_sq_node *node = (wfre_sq_node *)(uintptr_t)s->node;
    wfre_sq_flow flow = fill_table(x, node);
    const wfre_sq_table *table = node->table;
    for (uint32_t r = flow == WFRE_SQ_GO ? first_row(x, table) : WFRE_NONE;
         r != WFRE_NONE && flow == WFRE_SQ_GO; r = table->next[r]) {
        if (takes_away(x, node, table->rows + (size_t)r * (table->width ? table->width : 1)))
            return WFRE_SQ_GO;
        flow = wfre_sq_tick_text(x, 16 + 8 * (size_t)table->width * node->shared_count);
    }
    return flow == WFRE_SQ_GO ? s->sink->emit(s->sink, x) : flow;
}

/* ---- VALUES ------------------------------------------------------------------------------- */

static wfre_sq_flow run_values(wfre_sq_exec *x, const wfre_sq_node *node, wfre_sq_sink *sink)
{
    const wfre_sq_pattern *p = node->pattern;
    wfre_sq_flow flow = WFRE_SQ_GO;
    wfre_rdf_id few[64], *before = few;
    if (p->width > 64)
        before = wfre_alloc(p->width, sizeof *before);
    if (!before)
        return wfre_sq_no_memory(x);
    for (uint32_t r = 0; r < p->count && flow == WFRE_SQ_GO; r++) {
        const wfre_rdf_id *cells = node->cells + (size_t)r * p->width;
        bool agree = true;
        x->solution++;
        for (uint32_t i = 0; i < p->width; i++) {
            wfre_rdf_id *slot = &x->row[p->columns[i]];
            before[i] = *slot;
            agree &= *slot == WFRE_NONE || cells[i] == WFRE_NONE || *slot == cells[i];
            if (*slot == WFRE_NONE)
                *slot = cells[i];
        }
        flow = wfre_sq_tick(x);
        if (agree && flow == WFRE_SQ_GO)
            flow = sink->emit(sink, x);
        for (uint32_t i = 0; i < p->width; i++)
            x->row[p->columns[i]] = before[i];
    }
    if (before != few)
        wfre_free(before);
    return flow;
}

/* ---- all nodes ---------------------------------------------------------------------------- */

wfre_sq_flow wfre_sq_run(wfre_sq_exec *x, const wfre_sq_node *node, wfre_sq_sink *sink)
{
    /* steps and tables of a node belong to its one run at a time */
    wfre_sq_node *own = (wfre_sq_node *)(uintptr_t)node;
    wfre_sq_flow flow = wfre_sq_tick(x);
    if (flow != WFRE_SQ_GO)
        return flow;
    sieve s = {{NULL}, node, sink};
    switch (node->kind) {
    case WFRE_SQ_N_BASIC:
        return wfre_sq_run_basic(x, own, sink);
    case WFRE_SQ_N_JOIN: {
        joiner j = {{join_next}, node, 0, sink};
        return join_next(&j.base, x);
    }
    case WFRE_SQ_N_LEFT: {
        lefter l = {{left_found}, node, sink};
        return wfre_sq_run(x, node->children[0], &l.base);
    }
    case WFRE_SQ_N_UNION:
        for (uint32_t i = 0; i < node->count && flow == WFRE_SQ_GO; i++)
            flow = wfre_sq_run(x, node->children[i], sink);
        return flow;
    case WFRE_SQ_N_MINUS:
        s.base.emit = subtract;
        return wfre_sq_run(x, node->children[0], &s.base);
    case WFRE_SQ_N_EXCEPT:
        s.base.emit = except;
        return wfre_sq_run(x, node->children[0], &s.base);
    case WFRE_SQ_N_FILTER:
        s.base.emit = sift;
        return wfre_sq_run(x, node->children[0], &s.base);
    case WFRE_SQ_N_EXTEND:
        s.base.emit = extend;
        return wfre_sq_run(x, node->children[0], &s.base);
    case WFRE_SQ_N_VALUES:
        return run_values(x, node, sink);
    case WFRE_SQ_N_TABLE:
        return run_table(x, own, sink);
    case WFRE_SQ_N_SUBQUERY:
        return wfre_sq_run_selection(x, node->selection, sink);
    case WFRE_SQ_N_GRAPH:
        return wfre_sq_run_graph(x, node, sink);
    case WFRE_SQ_N_PREDICT:
        return wfre_sq_run_predict(x, own, sink);
    default:
        return WFRE_SQ_GO;
    }
}
