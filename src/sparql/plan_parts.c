/* What plans are made of: sets of slots, nodes, filters and basic patterns. */
#include <string.h>

#include "base/memory.h"
#include "sparql/planner.h"
#include "sparql/slots.h"

/* ---- small things ------------------------------------------------------------------------- */

uint64_t *wfre_sq_set_new(wfre_sq_planner *pl)
{
    uint64_t *set = wfre_arena_alloc(pl->arena, pl->words, sizeof *set);
    if (set)
        memset(set, 0, pl->words * sizeof *set);
    else
        (void)wfre_sq_no_memory(pl->x);
    return set;
}

void wfre_sq_set_add(const wfre_sq_planner *pl, uint64_t *set, const uint64_t *more)
{
    for (size_t w = 0; w < pl->words; w++)
        set[w] |= more[w];
}

bool wfre_sq_set_within(const wfre_sq_planner *pl, const uint64_t *part, const uint64_t *whole)
{
    for (size_t w = 0; w < pl->words; w++)
        if (part[w] & ~whole[w])
            return false;
    return true;
}

/* The slots of a set as a list. */
wfre_sq_flow wfre_sq_set_list(wfre_sq_planner *pl, const uint64_t *set, wfre_sq_slot **list,
                              uint32_t *count)
{
    *count = 0;
    *list = wfre_arena_alloc(pl->arena, (size_t)pl->x->query->slot_count + 1, sizeof **list);
    if (!*list)
        return wfre_sq_no_memory(pl->x);
    for (wfre_sq_slot s = 0; s < pl->x->query->slot_count; s++)
        if (wfre_sq_slots_has(set, s))
            (*list)[(*count)++] = s;
    return WFRE_SQ_GO;
}

wfre_sq_flow wfre_sq_node_new(wfre_sq_planner *pl, wfre_sq_node_kind kind,
                              const wfre_sq_pattern *pattern, wfre_sq_node **node)
{
    wfre_sq_plan *plan = pl->plan;
    wfre_sq_node *n = wfre_arena_alloc(pl->arena, 1, sizeof *n);
    if (!n ||
        !wfre_reserve(&plan->made, &plan->made_capacity, plan->made_count + 1, sizeof *plan->made))
        return wfre_sq_no_memory(pl->x);
    *n = (wfre_sq_node){.kind = kind, .pattern = pattern};
    n->possible = wfre_sq_set_new(pl);
    n->certain = wfre_sq_set_new(pl);
    if (!n->possible || !n->certain)
        return WFRE_SQ_FAIL;
    if (pattern) {
        wfre_sq_pattern_possible(pattern, n->possible);
        if (!wfre_sq_pattern_certain(pl->arena, pl->words, pattern, n->certain))
            return wfre_sq_no_memory(pl->x);
    }
    plan->made[plan->made_count++] = n;
    *node = n;
    return WFRE_SQ_GO;
}

wfre_sq_flow wfre_sq_node_room(wfre_sq_planner *pl, wfre_sq_node *node, uint32_t count)
{
    node->children = wfre_arena_alloc(pl->arena, count, sizeof *node->children);
    node->count = 0;
    return node->children ? WFRE_SQ_GO : wfre_sq_no_memory(pl->x);
}

/* ---- expressions -------------------------------------------------------------------------- */

/* Plans the patterns of EXISTS within an expression that is evaluated with these slots bound. */
static wfre_sq_flow prepare(wfre_sq_planner *pl, const wfre_sq_expression *e,
                            const uint64_t *possible, const uint64_t *certain)
{
    if (e->op == WFRE_SQ_CAST) {
        wfre_sq_moment_kind kind;
        if (wfre_sq_type_of(e->term.text, &kind) == WFRE_SQ_T_OTHER || e->count != 1) {
            pl->x->status = wfre_fail(
                pl->x->error, WFRE_ERR_UNSUPPORTED, e->offset,
                "there is no function <%.*s>; of those with an IRI only the casts of XML Schema "
                "datatypes, with one argument, are supported",
                (int)(e->term.text.length > 200 ? 200 : e->term.text.length), e->term.text.bytes);
            return WFRE_SQ_FAIL;
        }
    }
    if (e->pattern) {
        const wfre_sq_entry in = {.possible = pl->nothing, .certain = certain};
        const uint64_t *outer = pl->substituted;
        uint64_t *all = wfre_sq_set_new(pl);
        if (!all)
            return WFRE_SQ_FAIL;
        wfre_sq_set_add(pl, all, outer);
        wfre_sq_set_add(pl, all, possible);
        pl->substituted = all;
        GO(wfre_sq_compile(pl, e->pattern, &in, &pl->plan->nodes[e->pattern->number]));
        pl->substituted = outer;
    }
    for (uint32_t i = 0; i < e->count; i++)
        GO(prepare(pl, e->arguments[i], possible, certain));
    return WFRE_SQ_GO;
}

/* The same for the filters of a node, which see what it and its surroundings bind. */
wfre_sq_flow wfre_sq_prepare_filters(wfre_sq_planner *pl, const wfre_sq_node *node,
                                     const wfre_sq_entry *in,
                                     const wfre_sq_expression *const *filters, uint32_t count)
{
    uint64_t *possible = wfre_sq_set_new(pl), *certain = wfre_sq_set_new(pl);
    if (!possible || !certain)
        return WFRE_SQ_FAIL;
    wfre_sq_set_add(pl, possible, in->possible);
    wfre_sq_set_add(pl, possible, node->possible);
    wfre_sq_set_add(pl, certain, in->certain);
    wfre_sq_set_add(pl, certain, node->certain);
    for (uint32_t i = 0; i < count; i++)
        GO(prepare(pl, filters[i], possible, certain));
    return WFRE_SQ_GO;
}

wfre_sq_flow wfre_sq_add_filter(wfre_sq_planner *pl, const wfre_sq_expression ***filters,
                                uint32_t *count, const wfre_sq_expression *e)
{
    if (e->op == WFRE_SQ_AND) { /* true if both are, so both may go their own ways */
        GO(wfre_sq_add_filter(pl, filters, count, e->arguments[0]));
        return wfre_sq_add_filter(pl, filters, count, e->arguments[1]);
    }
    /* Lists are shared until one of their owners appends: a place that is taken belongs to another.
     */
    bool full = (*count & (*count - 1)) == 0;
    if (!full && !(*filters)[*count]) {
        (*filters)[(*count)++] = e;
        return WFRE_SQ_GO;
    }
    size_t room = 1;
    while (room <= *count)
        room *= 2;
    const wfre_sq_expression **grown = wfre_arena_alloc(pl->arena, room, sizeof *grown);
    if (!grown)
        return wfre_sq_no_memory(pl->x);
    memset((void *)grown, 0, room * sizeof *grown);
    if (*count)
        memcpy(grown, *filters, *count * sizeof *grown);
    grown[(*count)++] = e;
    *filters = grown;
    return WFRE_SQ_GO;
}

/* Puts filters on top of a node. */
wfre_sq_flow wfre_sq_wrap(wfre_sq_planner *pl, const wfre_sq_entry *in,
                          const wfre_sq_expression **filters, uint32_t count, wfre_sq_node **node)
{
    wfre_sq_node *inner = *node, *outer;
    if (count == 0)
        return WFRE_SQ_GO;
    GO(wfre_sq_node_new(pl, WFRE_SQ_N_FILTER, NULL, &outer));
    wfre_sq_set_add(pl, outer->possible, inner->possible);
    wfre_sq_set_add(pl, outer->certain, inner->certain);
    GO(wfre_sq_node_room(pl, outer, 1));
    outer->children[outer->count++] = inner;
    outer->filters = filters;
    outer->filter_count = count;
    outer->estimate = inner->estimate;
    *node = outer;
    return wfre_sq_prepare_filters(pl, inner, in, filters, count);
}

/* Divides the filters of `in`: those for which `child` binds all that the whole pattern could bind
 * for them go down, the others stay. */
wfre_sq_flow wfre_sq_divide(wfre_sq_planner *pl, const wfre_sq_entry *in, const uint64_t *whole,
                            const wfre_sq_pattern *child, wfre_sq_entry *down, wfre_sq_entry *stay)
{
    uint64_t *certain = wfre_sq_set_new(pl), *seen = wfre_sq_set_new(pl);
    if (!certain || !seen)
        return WFRE_SQ_FAIL;
    if (!wfre_sq_pattern_certain(pl->arena, pl->words, child, certain))
        return wfre_sq_no_memory(pl->x);
    down->filter_count = stay->filter_count = 0;
    for (uint32_t i = 0; i < in->filter_count; i++) {
        memset(seen, 0, pl->words * sizeof *seen);
        wfre_sq_expression_slots(in->filters[i], seen);
        for (size_t w = 0; w < pl->words; w++)
            seen[w] &= whole[w];
        wfre_sq_entry *to = wfre_sq_set_within(pl, seen, certain) ? down : stay;
        GO(wfre_sq_add_filter(pl, &to->filters, &to->filter_count, in->filters[i]));
    }
    return WFRE_SQ_GO;
}

/* ---- basic patterns ----------------------------------------------------------------------- */

static wfre_sq_place place_of(const wfre_sq_planner *pl, const wfre_sq_term *term)
{
    if (term->kind == WFRE_SQ_SLOT)
        return (wfre_sq_place){.slot = term->slot, .term = WFRE_NONE};
    return (wfre_sq_place){.slot = WFRE_NONE, .term = pl->x->constants[term->constant]};
}

static bool same_slot(const wfre_sq_place *a, const wfre_sq_place *b)
{
    return a->slot != WFRE_NONE && a->slot == b->slot;
}

void wfre_sq_make_atom(const wfre_sq_planner *pl, const wfre_sq_triple *triple, wfre_sq_atom *atom)
{
    *atom = (wfre_sq_atom){.path = triple->path};
    atom->at[WFRE_RDF_S] = place_of(pl, &triple->subject);
    atom->at[WFRE_RDF_O] = place_of(pl, &triple->object);
    atom->at[WFRE_RDF_P] =
        triple->path ? (wfre_sq_place){WFRE_NONE, WFRE_NONE} : place_of(pl, &triple->predicate);
    atom->twice = same_slot(&atom->at[WFRE_RDF_S], &atom->at[WFRE_RDF_O]) ||
                  same_slot(&atom->at[WFRE_RDF_S], &atom->at[WFRE_RDF_P]) ||
                  same_slot(&atom->at[WFRE_RDF_P], &atom->at[WFRE_RDF_O]);
}

/* One node for one or more basic patterns that are joined. */
wfre_sq_flow wfre_sq_compile_basics(wfre_sq_planner *pl, const wfre_sq_pattern *const *patterns,
                                    uint32_t count, const wfre_sq_entry *in, wfre_sq_node **node)
{
    wfre_sq_node *n;
    GO(wfre_sq_node_new(pl, WFRE_SQ_N_BASIC, NULL, &n));
    for (uint32_t i = 0; i < count; i++) {
        wfre_sq_pattern_possible(patterns[i], n->possible);
        n->atom_count += patterns[i]->count;
    }
    wfre_sq_set_add(pl, n->certain, n->possible);
    n->atoms = wfre_arena_alloc(pl->arena, (size_t)n->atom_count + 1, sizeof *n->atoms);
    if (!n->atoms)
        return wfre_sq_no_memory(pl->x);
    uint32_t k = 0;
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t t = 0; t < patterns[i]->count; t++)
            wfre_sq_make_atom(pl, &patterns[i]->triples[t], &n->atoms[k++]);
    *node = n;
    if (n->atom_count == 0)
        return wfre_sq_wrap(pl, in, in->filters, in->filter_count, node);
    n->filters = in->filters;
    n->filter_count = in->filter_count;
    GO(wfre_sq_prepare_filters(pl, n, in, n->filters, n->filter_count));
    return wfre_sq_plan_steps(pl->x, n, in->certain);
}
