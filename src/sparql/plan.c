/* Making a plan: filters go down to where their variables are bound, joins get an order, patterns
 * that must not see their surroundings become tables. */
#include "sparql/plan.h"

#include <string.h>

#include "base/memory.h"
#include "sparql/dataset.h"
#include "sparql/planner.h"
#include "sparql/predict.h"
#include "sparql/selection.h"
#include "sparql/slots.h"

static wfre_sq_flow compile_selection(wfre_sq_planner *pl, const wfre_sq_select *select,
                                      const wfre_sq_entry *in, wfre_sq_selection **selection);

static wfre_sq_flow compile_extend(wfre_sq_planner *pl, const wfre_sq_pattern *pattern,
                                   const wfre_sq_entry *in, wfre_sq_node **node)
{
    wfre_sq_entry down = *in, stay = *in;
    down.filters = stay.filters = NULL;
    down.filter_count = stay.filter_count = 0;
    uint64_t *seen = wfre_sq_set_new(pl);
    if (!seen)
        return WFRE_SQ_FAIL;
    for (uint32_t i = 0; i < in->filter_count; i++) {
        memset(seen, 0, pl->words * sizeof *seen);
        wfre_sq_expression_slots(in->filters[i], seen);
        wfre_sq_entry *to = wfre_sq_slots_has(seen, pattern->slot) ? &stay : &down;
        GO(wfre_sq_add_filter(pl, &to->filters, &to->filter_count, in->filters[i]));
    }
    GO(wfre_sq_node_new(pl, WFRE_SQ_N_EXTEND, pattern, node));
    GO(wfre_sq_node_room(pl, *node, 1));
    GO(wfre_sq_compile(pl, pattern->children[0], &down, &(*node)->children[0]));
    (*node)->count = 1;
    (*node)->estimate = (*node)->children[0]->estimate;
    const wfre_sq_expression *e = pattern->expression;
    GO(wfre_sq_prepare_filters(pl, (*node)->children[0], in, &e, 1));
    return wfre_sq_wrap(pl, in, stay.filters, stay.filter_count, node);
}

static wfre_sq_flow compile_values(wfre_sq_planner *pl, const wfre_sq_pattern *pattern,
                                   const wfre_sq_entry *in, wfre_sq_node **node)
{
    size_t cells = (size_t)pattern->count * pattern->width;
    GO(wfre_sq_node_new(pl, WFRE_SQ_N_VALUES, pattern, node));
    wfre_rdf_id *terms = wfre_arena_alloc(pl->arena, cells + 1, sizeof *terms);
    if (!terms)
        return wfre_sq_no_memory(pl->x);
    (*node)->cells = pattern->graph ? &pl->x->dataset.name : terms;
    for (size_t i = 0; i < cells && !pattern->graph; i++)
        terms[i] = pattern->cells[i].kind == WFRE_SQ_UNDEF
                       ? WFRE_NONE
                       : pl->x->constants[pattern->cells[i].constant];
    (*node)->estimate = pattern->count;
    return wfre_sq_wrap(pl, in, in->filters, in->filter_count, node);
}

/* What restricts the answers, and what is filled in: both are entered with the answers bound, which
 * stand for their terms as the row of an EXISTS does. */
static wfre_sq_flow compile_prediction(wfre_sq_planner *pl, wfre_sq_node *node)
{
    const wfre_sq_prediction *p = node->prediction;
    const uint64_t *outer = pl->substituted;
    uint64_t *answers = wfre_sq_set_new(pl), *all = wfre_sq_set_new(pl);
    if (!answers || !all)
        return WFRE_SQ_FAIL;
    for (uint32_t i = 0; i < p->answer_count; i++)
        wfre_sq_slots_add(answers, p->answers[i]);
    wfre_sq_set_add(pl, all, outer);
    wfre_sq_set_add(pl, all, answers);
    wfre_sq_set_add(pl, node->possible, answers);
    wfre_sq_set_add(pl, node->certain, answers);
    uint64_t *restricted = wfre_sq_set_new(pl), *sure = wfre_sq_set_new(pl);
    if (!restricted || !sure)
        return WFRE_SQ_FAIL;
    const wfre_sq_entry in = {.possible = pl->nothing, .certain = answers};
    const wfre_sq_entry behind = {.possible = restricted, .certain = sure};
    wfre_sq_set_add(pl, sure, answers);
    pl->substituted = all;
    GO(wfre_sq_node_room(pl, node, 2));
    if (p->restriction) {
        GO(wfre_sq_compile(pl, p->restriction, &in, &node->children[node->count]));
        wfre_sq_set_add(pl, restricted, node->children[node->count]->possible);
        wfre_sq_set_add(pl, sure, node->children[node->count++]->certain);
        wfre_sq_set_add(pl, node->possible, restricted);
        wfre_sq_set_add(pl, node->certain, sure);
    }
    if (p->optional) {
        GO(wfre_sq_compile(pl, p->optional, &behind, &node->children[node->count++]));
        wfre_sq_set_add(pl, node->possible, node->children[node->count - 1]->possible);
    }
    pl->substituted = outer;
    if (p->probability != WFRE_NONE)
        wfre_sq_slots_add(node->possible, p->probability);
    if (p->status != WFRE_NONE)
        wfre_sq_slots_add(node->possible, p->status);
    return WFRE_SQ_GO;
}

static wfre_sq_flow compile_service(wfre_sq_planner *pl, const wfre_sq_pattern *pattern,
                                    const wfre_sq_entry *in, wfre_sq_node **node)
{
    if (pattern->name.kind != WFRE_SQ_IRI ||
        !wfre_sq_name_is(pattern->name.text, WFRE_SQ_PREDICT)) {
        if (pattern->silent) /* one that fails has one solution without a binding */
            return wfre_sq_compile_basics(pl, NULL, 0, in, node);
        pl->x->status = wfre_fail(pl->x->error, WFRE_ERR_UNSUPPORTED, pattern->offset,
                                  "SERVICE: other services cannot be asked; the only one here is "
                                  "<" WFRE_SQ_PREDICT ">");
        return WFRE_SQ_FAIL;
    }
    GO(wfre_sq_node_new(pl, WFRE_SQ_N_PREDICT, NULL, node));
    GO(wfre_sq_predict_split(pl->x, pattern, &(*node)->prediction));
    GO(compile_prediction(pl, *node));
    return wfre_sq_wrap(pl, in, in->filters, in->filter_count, node);
}

static wfre_sq_flow refuse_behind(wfre_sq_planner *pl, const char *what)
{
    pl->x->status = wfre_fail(pl->x->error, WFRE_ERR_UNSUPPORTED, WFRE_NO_OFFSET,
                              "predictions come behind the rows of a SELECT of one variable; "
                              "this query %s. Use SERVICE <" WFRE_SQ_PREDICT ">",
                              what);
    return WFRE_SQ_FAIL;
}

/* What is predicted behind the proven rows of the query. */
static wfre_sq_flow compile_behind(wfre_sq_planner *pl, wfre_sq_node **node)
{
    const wfre_sq_select *select = &pl->x->query->select;
    wfre_sq_pattern *pattern = select->where;
    if (pl->x->query->form != WFRE_SQ_SELECT)
        return refuse_behind(pl, "is not a SELECT");
    if (select->column_count != 1)
        return refuse_behind(pl, "has another number of variables");
    if (select->columns[0].expression || select->grouped)
        return refuse_behind(pl, "computes what it selects");
    if (select->offset)
        return refuse_behind(pl, "has an OFFSET");
    if (select->values)
        return refuse_behind(pl, "has VALUES behind its pattern");
    GO(wfre_sq_node_new(pl, WFRE_SQ_N_PREDICT, NULL, node));
    GO(wfre_sq_behind_split(pl->x, pattern, select->columns[0].slot, &(*node)->prediction));
    return compile_prediction(pl, *node);
}

/* GRAPH ?g P: P joined with the one row that has the name of the graph at hand. */
static wfre_sq_flow join_name(wfre_sq_planner *pl, const wfre_sq_pattern *pattern,
                              const wfre_sq_pattern **joined)
{
    wfre_sq_pattern *values = wfre_arena_alloc(pl->arena, 2, sizeof *values);
    wfre_sq_pattern **both = wfre_arena_alloc(pl->arena, 2, sizeof *both);
    wfre_sq_term *cell = wfre_arena_alloc(pl->arena, 1, sizeof *cell);
    wfre_sq_slot *column = wfre_arena_alloc(pl->arena, 1, sizeof *column);
    if (!values || !both || !cell || !column)
        return wfre_sq_no_memory(pl->x);
    *column = pattern->name.slot;
    *cell = (wfre_sq_term){.kind = WFRE_SQ_IRI};
    values[0] = (wfre_sq_pattern){.kind = WFRE_SQ_VALUES,
                                  .count = 1,
                                  .width = 1,
                                  .columns = column,
                                  .cells = cell,
                                  .graph = true,
                                  .slot = WFRE_NONE};
    both[0] = pattern->children[0];
    both[1] = &values[0];
    values[1] =
        (wfre_sq_pattern){.kind = WFRE_SQ_JOIN, .count = 2, .children = both, .slot = WFRE_NONE};
    *joined = &values[1];
    return WFRE_SQ_GO;
}

/* Filters with EXISTS stay outside: they ask the graph around. */
static wfre_sq_flow compile_graph(wfre_sq_planner *pl, const wfre_sq_pattern *pattern,
                                  const wfre_sq_entry *in, wfre_sq_node **node)
{
    wfre_sq_entry down = *in, stay = *in;
    const wfre_sq_pattern *inner = pattern->children[0];
    bool given = pattern->name.kind == WFRE_SQ_IRI;
    GO(wfre_sq_dataset_list(pl->x));
    size_t count = pl->x->dataset.named_count;
    if (count == 0 ||
        (given && wfre_sq_dataset_find(pl->x, pl->x->constants[pattern->name.constant]) == count))
        return wfre_sq_node_new(pl, WFRE_SQ_N_NOTHING, pattern, node);
    down.filters = stay.filters = NULL;
    down.filter_count = stay.filter_count = 0;
    for (uint32_t i = 0; i < in->filter_count; i++) {
        wfre_sq_entry *to = wfre_sq_has_exists(in->filters[i]) ? &stay : &down;
        GO(wfre_sq_add_filter(pl, &to->filters, &to->filter_count, in->filters[i]));
    }
    if (!given)
        GO(join_name(pl, pattern, &inner));
    GO(wfre_sq_node_new(pl, WFRE_SQ_N_GRAPH, pattern, node));
    GO(wfre_sq_node_room(pl, *node, 1));
    GO(wfre_sq_compile(pl, inner, &down, &(*node)->children[0]));
    (*node)->count = 1;
    (*node)->estimate = (*node)->children[0]->estimate;
    return wfre_sq_wrap(pl, in, stay.filters, stay.filter_count, node);
}

wfre_sq_flow wfre_sq_compile(wfre_sq_planner *pl, const wfre_sq_pattern *pattern,
                             const wfre_sq_entry *in, wfre_sq_node **node)
{
    wfre_sq_entry filtered = *in;
    switch (pattern->kind) {
    case WFRE_SQ_BASIC:
        return wfre_sq_compile_basics(pl, &pattern, 1, in, node);
    case WFRE_SQ_JOIN:
        return wfre_sq_compile_join(pl, pattern, in, node);
    case WFRE_SQ_LEFT:
        return wfre_sq_compile_left(pl, pattern, in, node);
    case WFRE_SQ_UNION:
        return wfre_sq_compile_union(pl, pattern, in, node);
    case WFRE_SQ_MINUS:
        return wfre_sq_compile_minus(pl, pattern, in, node);
    case WFRE_SQ_FILTER:
        for (uint32_t i = 0; i < pattern->filter_count; i++)
            GO(wfre_sq_add_filter(pl, &filtered.filters, &filtered.filter_count,
                                  pattern->filters[i]));
        return wfre_sq_compile(pl, pattern->children[0], &filtered, node);
    case WFRE_SQ_EXTEND:
        return compile_extend(pl, pattern, in, node);
    case WFRE_SQ_VALUES:
        return compile_values(pl, pattern, in, node);
    case WFRE_SQ_GRAPH:
        return compile_graph(pl, pattern, in, node);
    case WFRE_SQ_SERVICE:
        return compile_service(pl, pattern, in, node);
    default:
        GO(wfre_sq_node_new(pl, WFRE_SQ_N_SUBQUERY, pattern, node));
        GO(compile_selection(pl, pattern->select, in, &(*node)->selection));
        return wfre_sq_wrap(pl, in, in->filters, in->filter_count, node);
    }
}

/* ---- selections --------------------------------------------------------------------------- */

/* What the expressions behind the groups see: keys, columns and VALUES, not the pattern. */
static wfre_sq_flow see_groups(wfre_sq_planner *pl, const wfre_sq_select *select,
                               const wfre_sq_node *where, wfre_sq_node *seen)
{
    seen->possible = wfre_sq_set_new(pl);
    seen->certain = wfre_sq_set_new(pl);
    if (!seen->possible || !seen->certain)
        return WFRE_SQ_FAIL;
    for (uint32_t i = 0; i < select->key_count; i++) {
        const wfre_sq_column *key = &select->keys[i];
        wfre_sq_slots_add(seen->possible, key->slot);
        if (!key->expression && wfre_sq_slots_has(where->certain, key->slot))
            wfre_sq_slots_add(seen->certain, key->slot);
    }
    for (uint32_t i = 0; i < select->column_count; i++)
        wfre_sq_slots_add(seen->possible, select->columns[i].slot);
    if (select->values)
        wfre_sq_pattern_possible(select->values, seen->possible);
    return WFRE_SQ_GO;
}

/* The expressions of a SELECT are evaluated when its pattern has its solutions, or its groups. */
static wfre_sq_flow prepare_select(wfre_sq_planner *pl, const wfre_sq_select *select,
                                   const wfre_sq_node *where, const wfre_sq_entry *in)
{
    wfre_sq_node groups = *where;
    if (select->grouped)
        GO(see_groups(pl, select, where, &groups));
    for (uint32_t i = 0; i < select->key_count; i++) {
        const wfre_sq_expression *e = select->keys[i].expression;
        if (e)
            GO(wfre_sq_prepare_filters(pl, where, in, &e, 1));
    }
    for (uint32_t i = 0; i < select->aggregate_count; i++) {
        const wfre_sq_expression *e = select->aggregates[i].argument;
        if (e)
            GO(wfre_sq_prepare_filters(pl, where, in, &e, 1));
    }
    for (uint32_t i = 0; i < select->column_count; i++) {
        const wfre_sq_expression *e = select->columns[i].expression;
        if (e)
            GO(wfre_sq_prepare_filters(pl, &groups, in, &e, 1));
    }
    for (uint32_t i = 0; i < select->having_count; i++) {
        const wfre_sq_expression *e = select->having[i];
        GO(wfre_sq_prepare_filters(pl, &groups, in, &e, 1));
    }
    for (uint32_t i = 0; i < select->order_count; i++) {
        const wfre_sq_expression *e = select->orders[i].expression;
        GO(wfre_sq_prepare_filters(pl, &groups, in, &e, 1));
    }
    return WFRE_SQ_GO;
}

static wfre_sq_flow compile_selection(wfre_sq_planner *pl, const wfre_sq_select *select,
                                      const wfre_sq_entry *in, wfre_sq_selection **selection)
{
    wfre_sq_selection *s = wfre_arena_alloc(pl->arena, 1, sizeof *s);
    wfre_sq_entry inside = {.possible = in->possible, .certain = in->certain};
    if (!s)
        return wfre_sq_no_memory(pl->x);
    *s = (wfre_sq_selection){.select = select};
    const wfre_sq_pattern *pattern = select->where;
    if (select->values) {
        wfre_sq_pattern **both = wfre_arena_alloc(pl->arena, 2, sizeof *both);
        wfre_sq_pattern *join = wfre_arena_alloc(pl->arena, 1, sizeof *join);
        if (!both || !join)
            return wfre_sq_no_memory(pl->x);
        both[0] = select->values;
        both[1] = select->where;
        *join = (wfre_sq_pattern){
            .kind = WFRE_SQ_JOIN, .count = 2, .children = both, .slot = WFRE_NONE};
        pattern = join;
        if (select->grouped) { /* VALUES comes behind the groups */
            pattern = select->where;
            GO(compile_values(pl, select->values, &inside, &s->after));
        }
    }
    GO(wfre_sq_compile(pl, pattern, &inside, &s->where));
    GO(prepare_select(pl, select, s->where, in));
    GO(wfre_sq_set_list(pl, s->where->possible, &s->row_slots, &s->row_count));
    s->outputs = wfre_arena_alloc(pl->arena, (size_t)select->column_count + 1, sizeof *s->outputs);
    if (!s->outputs)
        return wfre_sq_no_memory(pl->x);
    for (uint32_t i = 0; i < select->column_count; i++)
        s->outputs[s->output_count++] = select->columns[i].slot;
    *selection = s;
    return WFRE_SQ_GO;
}

/* For CONSTRUCT and DESCRIBE what their templates and lists name matters afterwards. */
static wfre_sq_flow add_outputs(wfre_sq_planner *pl, wfre_sq_selection *s)
{
    const struct wfre_sparql *query = pl->x->query;
    uint64_t *slots = wfre_sq_set_new(pl);
    if (!slots)
        return WFRE_SQ_FAIL;
    for (uint32_t i = 0; i < query->template_count; i++) {
        const wfre_sq_term *terms[] = {&query->template[i].subject, &query->template[i].predicate,
                                       &query->template[i].object};
        for (int k = 0; k < 3; k++)
            if (terms[k]->kind == WFRE_SQ_SLOT)
                wfre_sq_slots_add(slots, terms[k]->slot);
    }
    for (uint32_t i = 0; i < query->described_count; i++)
        if (query->described[i].kind == WFRE_SQ_SLOT)
            wfre_sq_slots_add(slots, query->described[i].slot);
    for (uint32_t i = 0; i < s->output_count; i++)
        wfre_sq_slots_add(slots, s->outputs[i]);
    return wfre_sq_set_list(pl, slots, &s->outputs, &s->output_count);
}

wfre_sq_flow wfre_sq_plan_make(wfre_sq_exec *x)
{
    wfre_sq_plan *plan = wfre_alloc_zero(1, sizeof *plan);
    if (!plan)
        return wfre_sq_no_memory(x);
    x->plan = plan;
    plan->words = (size_t)x->query->slot_count / 64 + 1;
    wfre_sq_planner pl = {.x = x, .plan = plan, .arena = &plan->arena, .words = plan->words};
    pl.nothing = wfre_sq_set_new(&pl);
    pl.substituted = pl.nothing;
    plan->nodes =
        wfre_arena_alloc(&plan->arena, (size_t)x->query->pattern_count + 1, sizeof *plan->nodes);
    if (!pl.nothing || !plan->nodes)
        return wfre_sq_no_memory(x);
    const wfre_sq_entry in = {.possible = pl.nothing, .certain = pl.nothing};
    GO(compile_selection(&pl, &x->query->select, &in, &plan->selection));
    if (x->query->form == WFRE_SQ_CONSTRUCT || x->query->form == WFRE_SQ_DESCRIBE)
        GO(add_outputs(&pl, plan->selection));
    if (x->options->predicted)
        GO(compile_behind(&pl, &plan->behind));
    return WFRE_SQ_GO;
}

const wfre_sq_node *wfre_sq_plan_of(const wfre_sq_plan *plan, const wfre_sq_pattern *pattern)
{
    return plan->nodes[pattern->number];
}

static void free_steps(wfre_sq_node *node)
{
    for (uint32_t i = 0; i < node->step_count; i++) {
        wfre_sq_step *step = &node->steps[i];
        for (uint32_t k = 0; k < step->column_count; k++)
            wfre_rdf_column_free(&step->columns[k]);
        wfre_rdf_scan_free(&step->scan);
    }
}

void wfre_sq_plan_free(wfre_sq_exec *x, wfre_sq_plan *plan)
{
    if (!plan)
        return;
    for (size_t i = 0; i < plan->made_count; i++) {
        free_steps(plan->made[i]);
        if (plan->made[i]->table)
            wfre_sq_table_free(x, plan->made[i]->table);
    }
    wfre_free(plan->made);
    wfre_arena_free(&plan->arena);
    wfre_free(plan);
}
