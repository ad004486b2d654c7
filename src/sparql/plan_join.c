/* Planning what has several parts: joins in an order, OPTIONAL, UNION, MINUS, and tables for what
 * must not see its surroundings. */
#include <string.h>

#include "base/memory.h"
#include "sparql/planner.h"
#include "sparql/slots.h"

static wfre_sq_flow enter(wfre_sq_planner *pl, const wfre_sq_pattern *pattern,
                          const wfre_sq_entry *in, wfre_sq_node **node);

/* ---- joins -------------------------------------------------------------------------------- */

/* A rough number of solutions, to order joins by. */
static double estimate(const wfre_sq_planner *pl, const wfre_sq_pattern *pattern)
{
    double sum = 0, least = 1e18;
    switch (pattern->kind) {
    case WFRE_SQ_BASIC:
        for (uint32_t i = 0; i < pattern->count; i++) {
            wfre_sq_atom atom;
            wfre_sq_make_atom(pl, &pattern->triples[i], &atom);
            const wfre_rdf_triple triple = {
                {atom.at[WFRE_RDF_S].term, atom.at[WFRE_RDF_P].term, atom.at[WFRE_RDF_O].term}};
            double count = atom.path ? 1e6 : (double)wfre_rdf_count(pl->x->rdf, &triple);
            least = count < least ? count : least;
        }
        return pattern->count ? least : 1;
    case WFRE_SQ_VALUES:
        return pattern->count;
    case WFRE_SQ_UNION:
        for (uint32_t i = 0; i < pattern->count; i++)
            sum += estimate(pl, pattern->children[i]);
        return sum;
    case WFRE_SQ_JOIN:
        for (uint32_t i = 0; i < pattern->count; i++) {
            double one = estimate(pl, pattern->children[i]);
            least = one < least ? one : least;
        }
        return least;
    case WFRE_SQ_SUBQUERY:
        sum = estimate(pl, pattern->select->where);
        return sum < (double)pattern->select->limit ? sum : (double)pattern->select->limit;
    case WFRE_SQ_GRAPH:
    case WFRE_SQ_SERVICE:
        return 0;
    default:
        return estimate(pl, pattern->children[0]);
    }
}

static bool overlaps(const wfre_sq_planner *pl, const uint64_t *a, const uint64_t *b)
{
    for (size_t w = 0; w < pl->words; w++)
        if (a[w] & b[w])
            return true;
    return false;
}

/* The next child to join: one that shares a bound slot if there is one, of those the smallest. */
static uint32_t next_child(wfre_sq_planner *pl, const wfre_sq_pattern *const *children,
                           uint32_t count, const double *sizes, const bool *done,
                           const uint64_t *bound)
{
    uint32_t best = WFRE_NONE;
    bool best_joined = false;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t *possible = wfre_sq_set_new(pl);
        if (!possible)
            return WFRE_NONE;
        wfre_sq_pattern_possible(children[i], possible);
        bool joined = overlaps(pl, possible, bound);
        if (done[i])
            continue;
        if (best == WFRE_NONE || (joined && !best_joined) ||
            (joined == best_joined && sizes[i] < sizes[best])) {
            best = i;
            best_joined = joined;
        }
    }
    return best;
}

/* The children of a join with its basic patterns taken together as one. *basics of them come
 * first. */
static void sort_children(const wfre_sq_pattern *pattern, const wfre_sq_pattern **list,
                          uint32_t *basics)
{
    uint32_t k = 0;
    for (int round = 0; round < 2; round++)
        for (uint32_t i = 0; i < pattern->count; i++)
            if ((pattern->children[i]->kind == WFRE_SQ_BASIC) == (round == 0)) {
                list[k++] = pattern->children[i];
                if (round == 0)
                    *basics = k;
            }
}

/* Gives each filter to the first child that binds all it looks at. */
static wfre_sq_flow hand_out(wfre_sq_planner *pl, const wfre_sq_pattern *pattern,
                             const wfre_sq_entry *in, const wfre_sq_pattern *const *list,
                             uint32_t basics, wfre_sq_entry *own, wfre_sq_entry *rest)
{
    uint64_t *whole = wfre_sq_set_new(pl);
    if (!whole)
        return WFRE_SQ_FAIL;
    wfre_sq_pattern_possible(pattern, whole);
    *rest = *in;
    /* as one pattern, the basics bind together what each of them binds */
    wfre_sq_pattern together = {.kind = WFRE_SQ_JOIN,
                                .count = basics,
                                .children = (wfre_sq_pattern **)(uintptr_t)list,
                                .slot = WFRE_NONE};
    for (uint32_t i = basics ? basics - 1 : 0; i < pattern->count; i++) {
        wfre_sq_entry left = *rest;
        const wfre_sq_pattern *child = basics && i == basics - 1 ? &together : list[i];
        own[i] = *in;
        own[i].filters = NULL;
        left.filters = NULL;
        GO(wfre_sq_divide(pl, rest, whole, child, &own[i], &left));
        *rest = left;
    }
    return WFRE_SQ_GO;
}

wfre_sq_flow wfre_sq_compile_join(wfre_sq_planner *pl, const wfre_sq_pattern *pattern,
                                  const wfre_sq_entry *in, wfre_sq_node **node)
{
    uint32_t basics = 0, count = pattern->count;
    const wfre_sq_pattern **list = wfre_arena_alloc(pl->arena, count, sizeof *list);
    wfre_sq_entry *own = wfre_arena_alloc(pl->arena, count, sizeof *own), rest;
    double *sizes = wfre_arena_alloc(pl->arena, count, sizeof *sizes);
    bool *done = wfre_arena_alloc(pl->arena, count, sizeof *done);
    uint64_t *possible = wfre_sq_set_new(pl), *certain = wfre_sq_set_new(pl);
    if (!list || !own || !sizes || !done || !possible || !certain)
        return wfre_sq_no_memory(pl->x);
    sort_children(pattern, list, &basics);
    GO(hand_out(pl, pattern, in, list, basics, own, &rest));
    for (uint32_t i = 0; i < count; i++) {
        sizes[i] = estimate(pl, list[i]);
        done[i] = i + 1 < basics; /* the last of the basics stands for all */
        if (i && i < basics && sizes[i - 1] < sizes[i])
            sizes[i] = sizes[i - 1];
    }
    GO(wfre_sq_node_new(pl, WFRE_SQ_N_JOIN, pattern, node));
    GO(wfre_sq_node_room(pl, *node, count));
    wfre_sq_set_add(pl, possible, in->possible);
    wfre_sq_set_add(pl, certain, in->certain);
    for (uint32_t i; (i = next_child(pl, list, count, sizes, done, certain)) != WFRE_NONE;) {
        wfre_sq_node **child = &(*node)->children[(*node)->count++];
        own[i].possible = possible;
        own[i].certain = certain;
        if (basics && i == basics - 1)
            GO(wfre_sq_compile_basics(pl, list, basics, &own[i], child));
        else
            GO(enter(pl, list[i], &own[i], child));
        uint64_t *more = wfre_sq_set_new(pl), *sure = wfre_sq_set_new(pl);
        if (!more || !sure)
            return WFRE_SQ_FAIL;
        wfre_sq_set_add(pl, more, possible);
        wfre_sq_set_add(pl, more, (*child)->possible);
        wfre_sq_set_add(pl, sure, certain);
        wfre_sq_set_add(pl, sure, (*child)->certain);
        possible = more;
        certain = sure;
        done[i] = true;
    }
    if (pl->x->status != WFRE_OK)
        return WFRE_SQ_FAIL;
    return wfre_sq_wrap(pl, in, rest.filters, rest.filter_count, node);
}

/* ---- the other patterns ------------------------------------------------------------------- */

wfre_sq_flow wfre_sq_compile_left(wfre_sq_planner *pl, const wfre_sq_pattern *pattern,
                                  const wfre_sq_entry *in, wfre_sq_node **node)
{
    wfre_sq_entry left = *in, stay = *in, right = {0};
    left.filters = stay.filters = NULL;
    GO(wfre_sq_node_new(pl, WFRE_SQ_N_LEFT, pattern, node));
    GO(wfre_sq_divide(pl, in, (*node)->possible, pattern->children[0], &left, &stay));
    GO(wfre_sq_node_room(pl, *node, 2));
    GO(wfre_sq_compile(pl, pattern->children[0], &left, &(*node)->children[0]));
    uint64_t *possible = wfre_sq_set_new(pl), *certain = wfre_sq_set_new(pl);
    if (!possible || !certain)
        return WFRE_SQ_FAIL;
    wfre_sq_set_add(pl, possible, in->possible);
    wfre_sq_set_add(pl, possible, (*node)->children[0]->possible);
    wfre_sq_set_add(pl, certain, in->certain);
    wfre_sq_set_add(pl, certain, (*node)->children[0]->certain);
    right.possible = possible;
    right.certain = certain;
    GO(enter(pl, pattern->children[1], &right, &(*node)->children[1]));
    (*node)->count = 2;
    (*node)->estimate = (*node)->children[0]->estimate;
    for (uint32_t i = 0; i < pattern->filter_count; i++)
        GO(wfre_sq_add_filter(pl, &(*node)->filters, &(*node)->filter_count, pattern->filters[i]));
    GO(wfre_sq_prepare_filters(pl, (*node)->children[1], &right, (*node)->filters,
                               (*node)->filter_count));
    return wfre_sq_wrap(pl, in, stay.filters, stay.filter_count, node);
}

wfre_sq_flow wfre_sq_compile_union(wfre_sq_planner *pl, const wfre_sq_pattern *pattern,
                                   const wfre_sq_entry *in, wfre_sq_node **node)
{
    wfre_sq_entry down = *in, stay = *in;
    down.filters = stay.filters = NULL;
    down.filter_count = stay.filter_count = 0;
    GO(wfre_sq_node_new(pl, WFRE_SQ_N_UNION, pattern, node));
    GO(wfre_sq_node_room(pl, *node, pattern->count));
    for (uint32_t i = 0; i < in->filter_count; i++) { /* a pattern is planned in one place only */
        wfre_sq_entry *to = wfre_sq_has_exists(in->filters[i]) ? &stay : &down;
        GO(wfre_sq_add_filter(pl, &to->filters, &to->filter_count, in->filters[i]));
    }
    for (uint32_t i = 0; i < pattern->count; i++) {
        GO(wfre_sq_compile(pl, pattern->children[i], &down, &(*node)->children[i]));
        (*node)->estimate += (*node)->children[i]->estimate;
    }
    (*node)->count = pattern->count;
    return wfre_sq_wrap(pl, in, stay.filters, stay.filter_count, node);
}

/* The substituted slots that a table depends on. */
static wfre_sq_flow list_given(wfre_sq_planner *pl, const wfre_sq_pattern *pattern,
                               wfre_sq_node *node)
{
    uint64_t *mentioned = wfre_sq_set_new(pl);
    if (!mentioned)
        return WFRE_SQ_FAIL;
    wfre_sq_pattern_mentions(pattern, mentioned);
    for (size_t w = 0; w < pl->words; w++)
        mentioned[w] &= pl->substituted[w];
    GO(wfre_sq_set_list(pl, mentioned, &node->given, &node->given_count));
    node->given_terms =
        wfre_arena_alloc(pl->arena, (size_t)node->given_count + 1, sizeof *node->given_terms);
    return node->given_terms ? WFRE_SQ_GO : wfre_sq_no_memory(pl->x);
}

/* A table of a node's solutions; slots that are bound on entry for certain are its keys. */
static wfre_sq_flow make_table(wfre_sq_planner *pl, const wfre_sq_node *child,
                               const uint64_t *certain, wfre_sq_table **table)
{
    wfre_sq_table *t = wfre_arena_alloc(pl->arena, 1, sizeof *t);
    wfre_sq_slot *columns =
        wfre_arena_alloc(pl->arena, (size_t)pl->x->query->slot_count + 1, sizeof *columns);
    if (!t || !columns)
        return wfre_sq_no_memory(pl->x);
    *t = (wfre_sq_table){.columns = columns};
    for (int round = 0; round < 2; round++)
        for (wfre_sq_slot s = 0; s < pl->x->query->slot_count; s++) {
            bool key = wfre_sq_slots_has(child->certain, s) && wfre_sq_slots_has(certain, s);
            if (!wfre_sq_slots_has(child->possible, s) || key != (round == 0))
                continue;
            columns[t->width++] = s;
            t->keys += key;
        }
    *table = t;
    return WFRE_SQ_GO;
}

static wfre_sq_flow compile_table(wfre_sq_planner *pl, const wfre_sq_pattern *pattern,
                                  const wfre_sq_entry *in, wfre_sq_node **node)
{
    const wfre_sq_entry empty = {.possible = pl->nothing,
                                 .certain = pl->nothing,
                                 .filters = in->filters,
                                 .filter_count = in->filter_count};
    GO(wfre_sq_node_new(pl, WFRE_SQ_N_TABLE, NULL, node));
    GO(wfre_sq_node_room(pl, *node, 1));
    GO(wfre_sq_compile(pl, pattern, &empty, &(*node)->children[0]));
    (*node)->count = 1;
    (*node)->estimate = (*node)->children[0]->estimate;
    wfre_sq_set_add(pl, (*node)->possible, (*node)->children[0]->possible);
    wfre_sq_set_add(pl, (*node)->certain, (*node)->children[0]->certain);
    GO(list_given(pl, pattern, *node));
    return make_table(pl, (*node)->children[0], in->certain, &(*node)->table);
}

/* Enters a pattern from outside: directly, or as a table if it must not see what is bound. The
 * filters of `in` are those of the surroundings, which may look at what is bound there. */
static wfre_sq_flow enter(wfre_sq_planner *pl, const wfre_sq_pattern *pattern,
                          const wfre_sq_entry *in, wfre_sq_node **node)
{
    uint64_t *mentioned = wfre_sq_set_new(pl);
    if (!mentioned)
        return WFRE_SQ_FAIL;
    wfre_sq_pattern_mentions(pattern, mentioned);
    bool direct = true, failed = false;
    for (wfre_sq_slot s = 0; s < pl->x->query->slot_count && direct; s++)
        if (wfre_sq_slots_has(mentioned, s) && wfre_sq_slots_has(in->possible, s))
            direct = wfre_sq_transparent(pl->arena, pl->words, pattern, s, &failed);
    if (failed)
        return wfre_sq_no_memory(pl->x);
    return direct ? wfre_sq_compile(pl, pattern, in, node) : compile_table(pl, pattern, in, node);
}

wfre_sq_flow wfre_sq_compile_minus(wfre_sq_planner *pl, const wfre_sq_pattern *pattern,
                                   const wfre_sq_entry *in, wfre_sq_node **node)
{
    const wfre_sq_pattern *right = pattern->children[1];
    wfre_sq_node *left;
    GO(wfre_sq_compile(pl, pattern->children[0], in, &left));
    uint64_t *shared = wfre_sq_set_new(pl), *sure = wfre_sq_set_new(pl);
    if (!shared || !sure)
        return WFRE_SQ_FAIL;
    wfre_sq_pattern_possible(right, shared);
    if (!wfre_sq_pattern_certain(pl->arena, pl->words, right, sure))
        return wfre_sq_no_memory(pl->x);
    bool direct = true, any = false, failed = false;
    for (wfre_sq_slot s = 0; s < pl->x->query->slot_count; s++) {
        if (!wfre_sq_slots_has(shared, s) || !wfre_sq_slots_has(left->possible, s)) {
            shared[s / 64] &= ~(UINT64_C(1) << (s % 64));
            continue;
        }
        any = true;
        direct &= wfre_sq_slots_has(left->certain, s) && wfre_sq_slots_has(sure, s) &&
                  wfre_sq_transparent(pl->arena, pl->words, right, s, &failed);
    }
    if (failed)
        return wfre_sq_no_memory(pl->x);
    *node = left;
    if (!any) /* nothing in common: nothing is taken away */
        return WFRE_SQ_GO;
    /* what the right side mentions beyond that must not be bound from elsewhere */
    uint64_t *mentioned = wfre_sq_set_new(pl);
    if (!mentioned)
        return WFRE_SQ_FAIL;
    wfre_sq_pattern_mentions(right, mentioned);
    for (wfre_sq_slot s = 0; s < pl->x->query->slot_count; s++)
        if (wfre_sq_slots_has(mentioned, s) && !wfre_sq_slots_has(shared, s) &&
            (wfre_sq_slots_has(left->possible, s) || wfre_sq_slots_has(in->possible, s)))
            direct = false;
    GO(wfre_sq_node_new(pl, direct ? WFRE_SQ_N_MINUS : WFRE_SQ_N_EXCEPT, pattern, node));
    GO(wfre_sq_node_room(pl, *node, 2));
    (*node)->children[0] = left;
    (*node)->count = 2;
    (*node)->estimate = left->estimate;
    uint64_t *certain = wfre_sq_set_new(pl);
    if (!certain)
        return WFRE_SQ_FAIL;
    wfre_sq_set_add(pl, certain, left->certain);
    wfre_sq_entry inside = {.possible = pl->nothing, .certain = pl->nothing};
    if (direct) {
        inside.possible = shared;
        inside.certain = shared;
        return wfre_sq_compile(pl, right, &inside, &(*node)->children[1]);
    }
    GO(wfre_sq_compile(pl, right, &inside, &(*node)->children[1]));
    GO(wfre_sq_set_list(pl, shared, &(*node)->shared, &(*node)->shared_count));
    for (size_t w = 0; w < pl->words; w++)
        certain[w] &= shared[w];
    GO(list_given(pl, right, *node));
    return make_table(pl, (*node)->children[1], certain, &(*node)->table);
}
