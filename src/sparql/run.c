/* Running a query: what it needs is made, the plan is run, and solutions become terms for the
 * caller. */
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/hash.h"
#include "base/memory.h"
#include "base/scope.h"
#include "sparql/dataset.h"
#include "sparql/prepared.h"
#include "sparql/selection.h"

enum { DEFAULT_MEMORY = 1 << 30 };

/* ---- limits ------------------------------------------------------------------------------- */

wfre_sq_flow wfre_sq_fail(wfre_sq_exec *x, wfre_status status)
{
    if (x->status == WFRE_OK)
        x->status = status;
    return WFRE_SQ_FAIL;
}

wfre_sq_flow wfre_sq_no_memory(wfre_sq_exec *x)
{
    return wfre_sq_fail(x, wfre_fail_memory(x->error, "answering a SPARQL query"));
}

wfre_sq_flow wfre_sq_check_time(wfre_sq_exec *x)
{
    wfre_status status = wfre_check_stop(x->error);
    return status == WFRE_OK ? WFRE_SQ_GO : wfre_sq_fail(x, status);
}

wfre_sq_flow wfre_sq_charge(wfre_sq_exec *x, size_t bytes, const char *what)
{
    x->memory += bytes;
    if (x->memory <= x->memory_limit)
        return WFRE_SQ_GO;
    return wfre_sq_fail(x, wfre_fail(x->error, WFRE_ERR_MEMORY, WFRE_NO_OFFSET,
                                     "the query needs more than %zu MB, here for %s; ask for less, "
                                     "or raise the limit",
                                     x->memory_limit >> 20, what));
}

void wfre_sq_release(wfre_sq_exec *x, size_t bytes)
{
    x->memory -= bytes < x->memory ? bytes : x->memory;
}

/* ---- setting up --------------------------------------------------------------------------- */

static wfre_sq_flow look_up_constants(wfre_sq_exec *x)
{
    for (uint32_t i = 0; i < x->query->constant_count; i++) {
        const wfre_sq_term *c = &x->query->constants[i];
        const wfre_rdf_value value = {.kind =
                                          c->kind == WFRE_SQ_IRI ? WFRE_RDF_IRI : WFRE_RDF_LITERAL,
                                      .text = c->text,
                                      .datatype = c->datatype,
                                      .language = c->language};
        if (wfre_sq_intern(x, &value, &x->constants[i]) != WFRE_SQ_GO ||
            wfre_sq_tick(x) != WFRE_SQ_GO)
            return WFRE_SQ_FAIL;
    }
    return WFRE_SQ_GO;
}

wfre_sq_flow wfre_sq_set_up(wfre_sq_exec *x)
{
    size_t slots = x->query->slot_count;
    uint32_t classes = wfre_rdf_classes(x->rdf);
    struct timespec now;
    x->own = wfre_rdf_terms(x->rdf);
    x->row = wfre_alloc(slots + 1, sizeof *x->row);
    x->constants = wfre_alloc((size_t)x->query->constant_count + 1, sizeof *x->constants);
    x->classes = wfre_alloc((size_t)classes + 1, sizeof *x->classes);
    x->prepared = wfre_alloc_zero((size_t)x->query->expression_count + 1, sizeof *x->prepared);
    x->locale = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
    if (!x->locale)
        x->locale = newlocale(LC_CTYPE_MASK, "C", (locale_t)0);
    if (!x->row || !x->constants || !x->classes || !x->prepared || !x->locale)
        return wfre_sq_no_memory(x);
    for (size_t i = 0; i < slots; i++)
        x->row[i] = WFRE_NONE;
    for (uint32_t i = 0; i < classes; i++) {
        wfre_rdf_id first, end;
        wfre_rdf_value class = wfre_rdf_class(x->rdf, i, &first, &end);
        x->classes[i].type = class.language.length
                                 ? WFRE_SQ_T_TAGGED
                                 : wfre_sq_type_of(class.datatype, &x->classes[i].kind);
    }
    (void)clock_gettime(CLOCK_REALTIME, &now);
    wfre_sq_moment_from_seconds((int64_t)now.tv_sec, (uint32_t)now.tv_nsec / 1000000 * 1000000,
                                &x->now);
    x->random_seed =
        x->options->seed
            ? x->options->seed
            : wfre_mix64((uint64_t)now.tv_sec * 1000000007u + (uint64_t)now.tv_nsec + (uintptr_t)x);
    x->memory_limit = x->options->limits.memory ? x->options->limits.memory : DEFAULT_MEMORY;
    /* plans are made by the counts of the whole */
    if (look_up_constants(x) != WFRE_SQ_GO || wfre_sq_dataset_open(x) != WFRE_SQ_GO ||
        wfre_sq_plan_make(x) != WFRE_SQ_GO)
        return WFRE_SQ_FAIL;
    x->rdf = x->dataset.main;
    return WFRE_SQ_GO;
}

void wfre_sq_tear_down(wfre_sq_exec *x)
{
    wfre_sq_plan_free(x, x->plan);
    wfre_sq_dataset_close(x);
    wfre_sq_prepared_free(x);
    wfre_sq_terms_free(&x->terms);
    wfre_arena_free(&x->scratch);
    wfre_text_free(&x->text);
    wfre_free(x->row);
    wfre_free(x->constants);
    wfre_free(x->classes);
    if (x->locale)
        freelocale(x->locale);
}

/* ---- handing terms to the caller ---------------------------------------------------------- */

typedef struct giver {
    wfre_sq_sink base;
    const wfre_sparql_sink *to;
    wfre_sparql_term *terms;
    uint64_t rows;
    wfre_sq_table made;  /* CONSTRUCT: triples that went out already; DESCRIBE: their subjects */
    wfre_rdf_id *blanks; /* CONSTRUCT: the blank nodes of the present solution, by slot */
} giver;

/* xsd:string and rdf:langString go without saying. */
static wfre_name plain_datatype(const wfre_rdf_value *value)
{
    return value->language.length || wfre_sq_name_is(value->datatype, WFRE_SQ_XSD "string")
               ? wfre_sq_name(NULL, 0)
               : value->datatype;
}

static wfre_sq_flow make_label(wfre_sq_exec *x, wfre_rdf_id id, wfre_name *label)
{
    wfre_name found;
    wfre_status status = wfre_rdf_label(x->rdf, id, &x->text, &found, x->error);
    if (status != WFRE_OK)
        return wfre_sq_fail(x, status);
    if (found.length) {
        found = wfre_sq_keep(x, found.bytes, found.length);
        if (!found.bytes)
            return WFRE_SQ_FAIL;
    }
    *label = found;
    return WFRE_SQ_GO;
}

static wfre_sq_flow make_term(wfre_sq_exec *x, wfre_rdf_id id, bool label, wfre_sparql_term *term)
{
    wfre_rdf_value value;
    *term = (wfre_sparql_term){.kind = WFRE_SPARQL_UNBOUND};
    if (id == WFRE_NONE)
        return WFRE_SQ_GO;
    if (wfre_sq_term_get(x, id, &value) != WFRE_SQ_GO ||
        wfre_sq_tick_text(x, value.text.length) != WFRE_SQ_GO)
        return WFRE_SQ_FAIL;
    term->kind = value.kind == WFRE_RDF_IRI     ? WFRE_SPARQL_IRI
                 : value.kind == WFRE_RDF_BLANK ? WFRE_SPARQL_BLANK
                                                : WFRE_SPARQL_LITERAL;
    term->text = value.text;
    if (value.kind == WFRE_RDF_LITERAL) {
        term->datatype = plain_datatype(&value);
        term->language = value.language;
    }
    if (label && value.kind == WFRE_RDF_IRI && id < x->own)
        return make_label(x, id, &term->label);
    return WFRE_SQ_GO;
}

static wfre_sq_flow give(wfre_sq_exec *x, giver *g, const wfre_rdf_id *ids,
                         const wfre_sq_slot *slots, uint32_t count)
{
    wfre_sq_flow flow = WFRE_SQ_GO;
    uint64_t most = x->options->limits.rows;
    if (most && g->rows >= most)
        return wfre_sq_fail(x, wfre_fail(x->error, WFRE_ERR_UNSUPPORTED, WFRE_NO_OFFSET,
                                         "the query has more than %llu results; use LIMIT",
                                         (unsigned long long)most));
    g->rows++;
    wfre_sq_mark mark = wfre_sq_scratch_begin(x);
    for (uint32_t i = 0; i < count && flow == WFRE_SQ_GO; i++)
        flow = make_term(x, slots ? ids[slots[i]] : ids[i], g->to->labels, &g->terms[i]);
    if (flow == WFRE_SQ_GO && g->to->row) {
        wfre_status status = g->to->row(g->to->context, g->terms, count, x->error);
        if (status != WFRE_OK)
            flow = wfre_sq_fail(x, status);
    }
    wfre_sq_scratch_end(x, mark);
    return flow;
}

static wfre_sq_flow give_row(wfre_sq_sink *base, wfre_sq_exec *x)
{
    const wfre_sq_selection *s = x->plan->selection;
    return give(x, (giver *)base, x->row, s->outputs, s->output_count);
}

/* ---- graphs ------------------------------------------------------------------------------- */

/* A triple that has not gone out yet. */
static wfre_sq_flow give_triple(wfre_sq_exec *x, giver *g, const wfre_rdf_id ids[3])
{
    size_t index;
    bool fresh;
    g->made.width = g->made.keys = 3;
    if (wfre_sq_table_find_or_add(x, &g->made, ids, &index, &fresh, "the triples made") !=
        WFRE_SQ_GO)
        return WFRE_SQ_FAIL;
    return fresh ? give(x, g, ids, NULL, 3) : WFRE_SQ_GO;
}

/* The term of a place of the template; blank nodes are new in each solution. */
static wfre_sq_flow fill_place(wfre_sq_exec *x, giver *g, const wfre_sq_term *term, wfre_rdf_id *id)
{
    if (term->kind != WFRE_SQ_SLOT) {
        *id = x->constants[term->constant];
        return WFRE_SQ_GO;
    }
    if (x->query->slot_names[term->slot].length) {
        *id = x->row[term->slot];
        return WFRE_SQ_GO;
    }
    if (g->blanks[term->slot] == WFRE_NONE &&
        wfre_sq_new_blank(x, &g->blanks[term->slot]) != WFRE_SQ_GO)
        return WFRE_SQ_FAIL;
    *id = g->blanks[term->slot];
    return WFRE_SQ_GO;
}

static wfre_sq_flow construct_row(wfre_sq_sink *base, wfre_sq_exec *x)
{
    giver *g = (giver *)base;
    if (wfre_sq_tick_text(x, x->query->slot_count * sizeof *g->blanks) != WFRE_SQ_GO)
        return WFRE_SQ_FAIL;
    for (uint32_t i = 0; i < x->query->slot_count; i++)
        g->blanks[i] = WFRE_NONE;
    for (uint32_t i = 0; i < x->query->template_count; i++) {
        const wfre_sq_triple *t = &x->query->template[i];
        wfre_rdf_id ids[3];
        if (wfre_sq_tick(x) != WFRE_SQ_GO || fill_place(x, g, &t->subject, &ids[0]) != WFRE_SQ_GO ||
            fill_place(x, g, &t->predicate, &ids[1]) != WFRE_SQ_GO ||
            fill_place(x, g, &t->object, &ids[2]) != WFRE_SQ_GO)
            return WFRE_SQ_FAIL;
        /* what is no triple is left out */
        if (ids[0] == WFRE_NONE || ids[1] == WFRE_NONE || ids[2] == WFRE_NONE ||
            wfre_sq_term_kind_of(x, ids[0]) == WFRE_RDF_LITERAL ||
            wfre_sq_term_kind_of(x, ids[1]) != WFRE_RDF_IRI)
            continue;
        if (give_triple(x, g, ids) != WFRE_SQ_GO)
            return WFRE_SQ_FAIL;
    }
    return WFRE_SQ_GO;
}

/* The triples of one subject; blank nodes among the objects become subjects, too. */
static wfre_sq_flow describe_subject(wfre_sq_exec *x, giver *g, wfre_rdf_id subject)
{
    wfre_rdf_scan scan;
    memset(&scan, 0, sizeof scan);
    const wfre_rdf_triple pattern = {{subject, WFRE_NONE, WFRE_NONE}};
    wfre_rdf_triple t;
    size_t index;
    bool fresh;
    wfre_sq_flow flow = WFRE_SQ_GO;
    wfre_status status = wfre_rdf_scan_open(&scan, x->rdf, &pattern, WFRE_RDF_SPO, x->error);
    if (status != WFRE_OK)
        flow = wfre_sq_fail(x, status);
    while (flow == WFRE_SQ_GO && wfre_rdf_scan_next(&scan, &t)) {
        flow = give(x, g, t.at, NULL, 3);
        if (flow == WFRE_SQ_GO && wfre_sq_term_kind_of(x, t.at[WFRE_RDF_O]) == WFRE_RDF_BLANK)
            flow = wfre_sq_table_find_or_add(x, &g->made, &t.at[WFRE_RDF_O], &index, &fresh,
                                             "DESCRIBE");
        if (flow == WFRE_SQ_GO)
            flow = wfre_sq_tick(x);
    }
    wfre_rdf_scan_free(&scan);
    return flow;
}

/* A term that may have been described already, and what it leads to: a subject has its triples to
 * itself, so that the subjects are all that has to be remembered. */
static wfre_sq_flow describe_term(wfre_sq_exec *x, giver *g, wfre_rdf_id subject)
{
    size_t index;
    bool fresh;
    g->made.width = g->made.keys = 1;
    wfre_sq_flow flow =
        wfre_sq_table_find_or_add(x, &g->made, &subject, &index, &fresh, "DESCRIBE");
    for (; flow == WFRE_SQ_GO && fresh && index < g->made.count; index++)
        flow = describe_subject(x, g, g->made.rows[index]);
    return flow;
}

static wfre_sq_flow describe_row(wfre_sq_sink *base, wfre_sq_exec *x)
{
    giver *g = (giver *)base;
    const struct wfre_sparql *query = x->query;
    uint32_t count = query->select.star ? query->select.column_count : query->described_count;
    for (uint32_t i = 0; i < count; i++) {
        wfre_rdf_id id = query->select.star ? x->row[query->select.columns[i].slot]
                         : query->described[i].kind == WFRE_SQ_SLOT
                             ? x->row[query->described[i].slot]
                             : x->constants[query->described[i].constant];
        if (wfre_sq_tick(x) != WFRE_SQ_GO)
            return WFRE_SQ_FAIL;
        if (id != WFRE_NONE && describe_term(x, g, id) != WFRE_SQ_GO)
            return WFRE_SQ_FAIL;
    }
    return WFRE_SQ_GO;
}

/* ---- the whole ---------------------------------------------------------------------------- */

static wfre_sq_flow find_any(wfre_sq_sink *base, wfre_sq_exec *x)
{
    ((giver *)base)->rows++;
    x->halted = base;
    return WFRE_SQ_HALT;
}

/* Keeps what is predicted until the proven rows have gone out: if nothing can be predicted, the
 * query fails before the first row. */
typedef struct keeper {
    wfre_sq_sink base;
    wfre_sq_slot slot;
    wfre_rdf_id *ids;
    size_t count, capacity;
} keeper;

static wfre_sq_flow keep_row(wfre_sq_sink *base, wfre_sq_exec *x)
{
    keeper *k = (keeper *)base;
    if (wfre_sq_charge(x, sizeof *k->ids, "predictions") != WFRE_SQ_GO)
        return WFRE_SQ_FAIL;
    if (!wfre_reserve(&k->ids, &k->capacity, k->count + 1, sizeof *k->ids))
        return wfre_sq_no_memory(x);
    k->ids[k->count++] = x->row[k->slot];
    return WFRE_SQ_GO;
}

static wfre_sq_flow run_with_predictions(wfre_sq_exec *x, giver *g)
{
    const wfre_sq_select *select = &x->query->select;
    keeper k = {.base = {keep_row}, .slot = select->columns[0].slot};
    wfre_sq_flow flow = wfre_sq_run_predict(x, x->plan->behind, &k.base);
    if (flow == WFRE_SQ_GO)
        flow = wfre_sq_run_selection(x, x->plan->selection, &g->base);
    for (size_t i = 0; i < k.count && flow == WFRE_SQ_GO && g->rows < select->limit; i++) {
        x->row[k.slot] = k.ids[i];
        flow = give_row(&g->base, x);
    }
    x->row[k.slot] = WFRE_NONE;
    wfre_sq_release(x, k.count * sizeof *k.ids);
    wfre_free(k.ids);
    return flow;
}

static wfre_sq_flow run_form(wfre_sq_exec *x, giver *g)
{
    static wfre_sq_flow (*const SINKS[])(wfre_sq_sink *, wfre_sq_exec *) = {
        give_row, find_any, construct_row, describe_row};
    size_t columns = x->plan->selection->output_count;
    g->base.emit = SINKS[x->query->form];
    g->terms = wfre_alloc(columns + 3, sizeof *g->terms);
    g->blanks = wfre_alloc((size_t)x->query->slot_count + 1, sizeof *g->blanks);
    if (!g->terms || !g->blanks)
        return wfre_sq_no_memory(x);
    if (x->plan->behind)
        return run_with_predictions(x, g);
    wfre_sq_flow flow = wfre_sq_run_selection(x, x->plan->selection, &g->base);
    return flow == WFRE_SQ_HALT && x->halted == &g->base ? WFRE_SQ_GO : flow;
}

wfre_status wfre_sparql_run(const wfre_sparql *query, const wfre_rdf_view *view,
                            const wfre_sparql_run_options *options, const wfre_sparql_sink *sink,
                            bool *truth, wfre_error *error)
{
    static const wfre_sparql_run_options NONE = {0};
    static const wfre_sparql_sink NOWHERE = {0};
    wfre_sq_exec *x = wfre_alloc_zero(1, sizeof *x);
    giver g = {.to = sink ? sink : &NOWHERE};
    if (!x)
        return wfre_fail_memory(error, "answering a SPARQL query");
    x->query = query;
    x->rdf = view;
    x->options = options ? options : &NONE;
    x->error = error;
    /* the caller's scope, if it has one, and what the options add to it */
    const wfre_scope outer = wfre_scope_current();
    wfre_scope inner = outer;
    if (x->options->cancel)
        inner.cancel = x->options->cancel;
    if (x->options->limits.timeout > 0) {
        double deadline = wfre_clock() + x->options->limits.timeout;
        if (inner.deadline == 0 || deadline < inner.deadline)
            inner.deadline = deadline;
    }
    (void)wfre_scope_enter(inner);
    if (wfre_sq_set_up(x) == WFRE_SQ_GO)
        (void)run_form(x, &g);
    (void)wfre_scope_enter(outer);
    if (truth && x->status == WFRE_OK)
        *truth = g.rows > 0;
    wfre_status status = x->status;
    wfre_sq_table_free(x, &g.made);
    wfre_free(g.terms);
    wfre_free(g.blanks);
    wfre_sq_tear_down(x);
    wfre_free(x);
    return status;
}
