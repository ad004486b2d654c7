/* Making a plan: filters go down to where their variables are bound, joins get an order, patterns
 * that must not see their surroundings become tables. */
#include "sparql/plan.h"

#include <string.h>

#include "base/memory.h"
#include "sparql/predict.h"
#include "sparql/selection.h"
#include "sparql/slots.h"

/* What is known where a pattern is entered: slots that may be and that are bound, and the filters
 * that its solutions have to pass. */
typedef struct entry {
    const uint64_t *possible, *certain;
    uint32_t filter_count;
    const wfre_sq_expression **filters;
} entry;

typedef struct planner {
    wfre_sq_exec *x;
    wfre_sq_plan *plan;
    wfre_arena *arena;
    size_t words;
    uint64_t *nothing; /* the empty set */
    /* Within EXISTS: the slots of the row that it is asked for. They stand for their terms
     * everywhere in it, so nothing need be hidden from them. */
    const uint64_t *substituted;
} planner;

static wfre_sq_flow compile(planner *pl, const wfre_sq_pattern *pattern, const entry *in,
                            wfre_sq_node **node);
static wfre_sq_flow enter(planner *pl, const wfre_sq_pattern *pattern, const entry *in,
                          wfre_sq_node **node);
static wfre_sq_flow compile_selection(planner *pl, const wfre_sq_select *select, const entry *in,
                                      wfre_sq_selection **selection);

#define GO(expression)                                                                             \
    do {                                                                                           \
        if ((expression) != WFRE_SQ_GO)                                                            \
            return WFRE_SQ_FAIL;                                                                   \
    } while (0)

/* ---- small things ------------------------------------------------------------------------- */

static uint64_t *new_set(planner *pl)
{
    uint64_t *set = wfre_arena_alloc(pl->arena, pl->words, sizeof *set);
    if (set)
        memset(set, 0, pl->words * sizeof *set);
    else
        (void)wfre_sq_no_memory(pl->x);
    return set;
}

static void add_set(const planner *pl, uint64_t *set, const uint64_t *more)
{
    for (size_t w = 0; w < pl->words; w++)
        set[w] |= more[w];
}

static bool within(const planner *pl, const uint64_t *part, const uint64_t *whole)
{
    for (size_t w = 0; w < pl->words; w++)
        if (part[w] & ~whole[w])
            return false;
    return true;
}

/* The slots of a set as a list. */
static wfre_sq_flow list_slots(planner *pl, const uint64_t *set, wfre_sq_slot **list,
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

static wfre_sq_flow new_node(planner *pl, wfre_sq_node_kind kind, const wfre_sq_pattern *pattern,
                             wfre_sq_node **node)
{
    wfre_sq_plan *plan = pl->plan;
    wfre_sq_node *n = wfre_arena_alloc(pl->arena, 1, sizeof *n);
    if (!n ||
        !wfre_reserve(&plan->made, &plan->made_capacity, plan->made_count + 1, sizeof *plan->made))
        return wfre_sq_no_memory(pl->x);
    *n = (wfre_sq_node){.kind = kind, .pattern = pattern};
    n->possible = new_set(pl);
    n->certain = new_set(pl);
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

static wfre_sq_flow room_for_children(planner *pl, wfre_sq_node *node, uint32_t count)
{
    node->children = wfre_arena_alloc(pl->arena, count, sizeof *node->children);
    node->count = 0;
    return node->children ? WFRE_SQ_GO : wfre_sq_no_memory(pl->x);
}

/* ---- expressions -------------------------------------------------------------------------- */

/* Plans the patterns of EXISTS within an expression that is evaluated with these slots bound. */
static wfre_sq_flow prepare(planner *pl, const wfre_sq_expression *e, const uint64_t *possible,
                            const uint64_t *certain)
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
        const entry in = {.possible = pl->nothing, .certain = certain};
        const uint64_t *outer = pl->substituted;
        uint64_t *all = new_set(pl);
        if (!all)
            return WFRE_SQ_FAIL;
        add_set(pl, all, outer);
        add_set(pl, all, possible);
        pl->substituted = all;
        GO(compile(pl, e->pattern, &in, &pl->plan->nodes[e->pattern->number]));
        pl->substituted = outer;
    }
    for (uint32_t i = 0; i < e->count; i++)
        GO(prepare(pl, e->arguments[i], possible, certain));
    return WFRE_SQ_GO;
}

/* The same for the filters of a node, which see what it and its surroundings bind. */
static wfre_sq_flow prepare_filters(planner *pl, const wfre_sq_node *node, const entry *in,
                                    const wfre_sq_expression *const *filters, uint32_t count)
{
    uint64_t *possible = new_set(pl), *certain = new_set(pl);
    if (!possible || !certain)
        return WFRE_SQ_FAIL;
    add_set(pl, possible, in->possible);
    add_set(pl, possible, node->possible);
    add_set(pl, certain, in->certain);
    add_set(pl, certain, node->certain);
    for (uint32_t i = 0; i < count; i++)
        GO(prepare(pl, filters[i], possible, certain));
    return WFRE_SQ_GO;
}

static wfre_sq_flow add_filter(planner *pl, const wfre_sq_expression ***filters, uint32_t *count,
                               const wfre_sq_expression *e)
{
    if (e->op == WFRE_SQ_AND) { /* true if both are, so both may go their own ways */
        GO(add_filter(pl, filters, count, e->arguments[0]));
        return add_filter(pl, filters, count, e->arguments[1]);
    }
    const wfre_sq_expression **grown =
        wfre_arena_alloc(pl->arena, (size_t)*count + 1, sizeof *grown);
    if (!grown)
        return wfre_sq_no_memory(pl->x);
    if (*count)
        memcpy(grown, *filters, *count * sizeof *grown);
    grown[(*count)++] = e;
    *filters = grown;
    return WFRE_SQ_GO;
}

/* Puts filters on top of a node. */
static wfre_sq_flow wrap(planner *pl, const entry *in, const wfre_sq_expression **filters,
                         uint32_t count, wfre_sq_node **node)
{
    wfre_sq_node *inner = *node, *outer;
    if (count == 0)
        return WFRE_SQ_GO;
    GO(new_node(pl, WFRE_SQ_N_FILTER, NULL, &outer));
    add_set(pl, outer->possible, inner->possible);
    add_set(pl, outer->certain, inner->certain);
    GO(room_for_children(pl, outer, 1));
    outer->children[outer->count++] = inner;
    outer->filters = filters;
    outer->filter_count = count;
    outer->estimate = inner->estimate;
    *node = outer;
    return prepare_filters(pl, inner, in, filters, count);
}

/* Divides the filters of `in`: those for which `child` binds all that the whole pattern could bind
 * for them go down, the others stay. */
static wfre_sq_flow divide(planner *pl, const entry *in, const uint64_t *whole,
                           const wfre_sq_pattern *child, entry *down, entry *stay)
{
    uint64_t *certain = new_set(pl), *seen = new_set(pl);
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
        entry *to = within(pl, seen, certain) ? down : stay;
        GO(add_filter(pl, &to->filters, &to->filter_count, in->filters[i]));
    }
    return WFRE_SQ_GO;
}

/* ---- basic patterns ----------------------------------------------------------------------- */

static wfre_sq_place place_of(const planner *pl, const wfre_sq_term *term)
{
    if (term->kind == WFRE_SQ_SLOT)
        return (wfre_sq_place){.slot = term->slot, .term = WFRE_NONE};
    return (wfre_sq_place){.slot = WFRE_NONE, .term = pl->x->constants[term->constant]};
}

static bool same_slot(const wfre_sq_place *a, const wfre_sq_place *b)
{
    return a->slot != WFRE_NONE && a->slot == b->slot;
}

static void make_atom(const planner *pl, const wfre_sq_triple *triple, wfre_sq_atom *atom)
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
static wfre_sq_flow compile_basics(planner *pl, const wfre_sq_pattern *const *patterns,
                                   uint32_t count, const entry *in, wfre_sq_node **node)
{
    wfre_sq_node *n;
    GO(new_node(pl, WFRE_SQ_N_BASIC, NULL, &n));
    for (uint32_t i = 0; i < count; i++) {
        wfre_sq_pattern_possible(patterns[i], n->possible);
        n->atom_count += patterns[i]->count;
    }
    add_set(pl, n->certain, n->possible);
    n->atoms = wfre_arena_alloc(pl->arena, (size_t)n->atom_count + 1, sizeof *n->atoms);
    if (!n->atoms)
        return wfre_sq_no_memory(pl->x);
    uint32_t k = 0;
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t t = 0; t < patterns[i]->count; t++)
            make_atom(pl, &patterns[i]->triples[t], &n->atoms[k++]);
    *node = n;
    if (n->atom_count == 0)
        return wrap(pl, in, in->filters, in->filter_count, node);
    n->filters = in->filters;
    n->filter_count = in->filter_count;
    GO(prepare_filters(pl, n, in, n->filters, n->filter_count));
    return wfre_sq_plan_steps(pl->x, n, in->certain);
}

/* ---- joins -------------------------------------------------------------------------------- */

/* A rough number of solutions, to order joins by. */
static double estimate(const planner *pl, const wfre_sq_pattern *pattern)
{
    double sum = 0, least = 1e18;
    switch (pattern->kind) {
    case WFRE_SQ_BASIC:
        for (uint32_t i = 0; i < pattern->count; i++) {
            wfre_sq_atom atom;
            make_atom(pl, &pattern->triples[i], &atom);
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

static bool overlaps(const planner *pl, const uint64_t *a, const uint64_t *b)
{
    for (size_t w = 0; w < pl->words; w++)
        if (a[w] & b[w])
            return true;
    return false;
}

/* The next child to join: one that shares a bound slot if there is one, of those the smallest. */
static uint32_t next_child(planner *pl, const wfre_sq_pattern *const *children, uint32_t count,
                           const double *sizes, const bool *done, const uint64_t *bound)
{
    uint32_t best = WFRE_NONE;
    bool best_joined = false;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t *possible = new_set(pl);
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
static wfre_sq_flow hand_out(planner *pl, const wfre_sq_pattern *pattern, const entry *in,
                             const wfre_sq_pattern *const *list, uint32_t basics, entry *own,
                             entry *rest)
{
    uint64_t *whole = new_set(pl);
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
        entry left = *rest;
        const wfre_sq_pattern *child = basics && i == basics - 1 ? &together : list[i];
        own[i] = *in;
        own[i].filters = NULL;
        left.filters = NULL;
        GO(divide(pl, rest, whole, child, &own[i], &left));
        *rest = left;
    }
    return WFRE_SQ_GO;
}

static wfre_sq_flow compile_join(planner *pl, const wfre_sq_pattern *pattern, const entry *in,
                                 wfre_sq_node **node)
{
    uint32_t basics = 0, count = pattern->count;
    const wfre_sq_pattern **list = wfre_arena_alloc(pl->arena, count, sizeof *list);
    entry *own = wfre_arena_alloc(pl->arena, count, sizeof *own), rest;
    double *sizes = wfre_arena_alloc(pl->arena, count, sizeof *sizes);
    bool *done = wfre_arena_alloc(pl->arena, count, sizeof *done);
    uint64_t *possible = new_set(pl), *certain = new_set(pl);
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
    GO(new_node(pl, WFRE_SQ_N_JOIN, pattern, node));
    GO(room_for_children(pl, *node, count));
    add_set(pl, possible, in->possible);
    add_set(pl, certain, in->certain);
    for (uint32_t i; (i = next_child(pl, list, count, sizes, done, certain)) != WFRE_NONE;) {
        wfre_sq_node **child = &(*node)->children[(*node)->count++];
        own[i].possible = possible;
        own[i].certain = certain;
        if (basics && i == basics - 1)
            GO(compile_basics(pl, list, basics, &own[i], child));
        else
            GO(enter(pl, list[i], &own[i], child));
        uint64_t *more = new_set(pl), *sure = new_set(pl);
        if (!more || !sure)
            return WFRE_SQ_FAIL;
        add_set(pl, more, possible);
        add_set(pl, more, (*child)->possible);
        add_set(pl, sure, certain);
        add_set(pl, sure, (*child)->certain);
        possible = more;
        certain = sure;
        done[i] = true;
    }
    if (pl->x->status != WFRE_OK)
        return WFRE_SQ_FAIL;
    return wrap(pl, in, rest.filters, rest.filter_count, node);
}

/* ---- the other patterns ------------------------------------------------------------------- */

static wfre_sq_flow compile_left(planner *pl, const wfre_sq_pattern *pattern, const entry *in,
                                 wfre_sq_node **node)
{
    entry left = *in, stay = *in, right = {0};
    left.filters = stay.filters = NULL;
    GO(new_node(pl, WFRE_SQ_N_LEFT, pattern, node));
    GO(divide(pl, in, (*node)->possible, pattern->children[0], &left, &stay));
    GO(room_for_children(pl, *node, 2));
    GO(compile(pl, pattern->children[0], &left, &(*node)->children[0]));
    uint64_t *possible = new_set(pl), *certain = new_set(pl);
    if (!possible || !certain)
        return WFRE_SQ_FAIL;
    add_set(pl, possible, in->possible);
    add_set(pl, possible, (*node)->children[0]->possible);
    add_set(pl, certain, in->certain);
    add_set(pl, certain, (*node)->children[0]->certain);
    right.possible = possible;
    right.certain = certain;
    GO(enter(pl, pattern->children[1], &right, &(*node)->children[1]));
    (*node)->count = 2;
    (*node)->estimate = (*node)->children[0]->estimate;
    for (uint32_t i = 0; i < pattern->filter_count; i++)
        GO(add_filter(pl, &(*node)->filters, &(*node)->filter_count, pattern->filters[i]));
    GO(prepare_filters(pl, (*node)->children[1], &right, (*node)->filters, (*node)->filter_count));
    return wrap(pl, in, stay.filters, stay.filter_count, node);
}

static wfre_sq_flow compile_union(planner *pl, const wfre_sq_pattern *pattern, const entry *in,
                                  wfre_sq_node **node)
{
    entry down = *in, stay = *in;
    down.filters = stay.filters = NULL;
    down.filter_count = stay.filter_count = 0;
    GO(new_node(pl, WFRE_SQ_N_UNION, pattern, node));
    GO(room_for_children(pl, *node, pattern->count));
    for (uint32_t i = 0; i < in->filter_count; i++) { /* a pattern is planned in one place only */
        entry *to = wfre_sq_has_exists(in->filters[i]) ? &stay : &down;
        GO(add_filter(pl, &to->filters, &to->filter_count, in->filters[i]));
    }
    for (uint32_t i = 0; i < pattern->count; i++) {
        GO(compile(pl, pattern->children[i], &down, &(*node)->children[i]));
        (*node)->estimate += (*node)->children[i]->estimate;
    }
    (*node)->count = pattern->count;
    return wrap(pl, in, stay.filters, stay.filter_count, node);
}

/* The substituted slots that a table depends on. */
static wfre_sq_flow list_given(planner *pl, const wfre_sq_pattern *pattern, wfre_sq_node *node)
{
    uint64_t *mentioned = new_set(pl);
    if (!mentioned)
        return WFRE_SQ_FAIL;
    wfre_sq_pattern_mentions(pattern, mentioned);
    for (size_t w = 0; w < pl->words; w++)
        mentioned[w] &= pl->substituted[w];
    GO(list_slots(pl, mentioned, &node->given, &node->given_count));
    node->given_terms =
        wfre_arena_alloc(pl->arena, (size_t)node->given_count + 1, sizeof *node->given_terms);
    return node->given_terms ? WFRE_SQ_GO : wfre_sq_no_memory(pl->x);
}

/* A table of a node's solutions; slots that are bound on entry for certain are its keys. */
static wfre_sq_flow make_table(planner *pl, const wfre_sq_node *child, const uint64_t *certain,
                               wfre_sq_table **table)
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

static wfre_sq_flow compile_table(planner *pl, const wfre_sq_pattern *pattern, const entry *in,
                                  wfre_sq_node **node)
{
    const entry empty = {.possible = pl->nothing,
                         .certain = pl->nothing,
                         .filters = in->filters,
                         .filter_count = in->filter_count};
    GO(new_node(pl, WFRE_SQ_N_TABLE, NULL, node));
    GO(room_for_children(pl, *node, 1));
    GO(compile(pl, pattern, &empty, &(*node)->children[0]));
    (*node)->count = 1;
    (*node)->estimate = (*node)->children[0]->estimate;
    add_set(pl, (*node)->possible, (*node)->children[0]->possible);
    add_set(pl, (*node)->certain, (*node)->children[0]->certain);
    GO(list_given(pl, pattern, *node));
    return make_table(pl, (*node)->children[0], in->certain, &(*node)->table);
}

/* Enters a pattern from outside: directly, or as a table if it must not see what is bound. The
 * filters of `in` are those of the surroundings, which may look at what is bound there. */
static wfre_sq_flow enter(planner *pl, const wfre_sq_pattern *pattern, const entry *in,
                          wfre_sq_node **node)
{
    uint64_t *mentioned = new_set(pl);
    if (!mentioned)
        return WFRE_SQ_FAIL;
    wfre_sq_pattern_mentions(pattern, mentioned);
    bool direct = true, failed = false;
    for (wfre_sq_slot s = 0; s < pl->x->query->slot_count && direct; s++)
        if (wfre_sq_slots_has(mentioned, s) && wfre_sq_slots_has(in->possible, s))
            direct = wfre_sq_transparent(pl->arena, pl->words, pattern, s, &failed);
    if (failed)
        return wfre_sq_no_memory(pl->x);
    return direct ? compile(pl, pattern, in, node) : compile_table(pl, pattern, in, node);
}

static wfre_sq_flow compile_minus(planner *pl, const wfre_sq_pattern *pattern, const entry *in,
                                  wfre_sq_node **node)
{
    const wfre_sq_pattern *right = pattern->children[1];
    wfre_sq_node *left;
    GO(compile(pl, pattern->children[0], in, &left));
    uint64_t *shared = new_set(pl), *sure = new_set(pl);
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
    uint64_t *mentioned = new_set(pl);
    if (!mentioned)
        return WFRE_SQ_FAIL;
    wfre_sq_pattern_mentions(right, mentioned);
    for (wfre_sq_slot s = 0; s < pl->x->query->slot_count; s++)
        if (wfre_sq_slots_has(mentioned, s) && !wfre_sq_slots_has(shared, s) &&
            (wfre_sq_slots_has(left->possible, s) || wfre_sq_slots_has(in->possible, s)))
            direct = false;
    GO(new_node(pl, direct ? WFRE_SQ_N_MINUS : WFRE_SQ_N_EXCEPT, pattern, node));
    GO(room_for_children(pl, *node, 2));
    (*node)->children[0] = left;
    (*node)->count = 2;
    (*node)->estimate = left->estimate;
    uint64_t *certain = new_set(pl);
    if (!certain)
        return WFRE_SQ_FAIL;
    add_set(pl, certain, left->certain);
    entry inside = {.possible = pl->nothing, .certain = pl->nothing};
    if (direct) {
        inside.possible = shared;
        inside.certain = shared;
        return compile(pl, right, &inside, &(*node)->children[1]);
    }
    GO(compile(pl, right, &inside, &(*node)->children[1]));
    GO(list_slots(pl, shared, &(*node)->shared, &(*node)->shared_count));
    for (size_t w = 0; w < pl->words; w++)
        certain[w] &= shared[w];
    GO(list_given(pl, right, *node));
    return make_table(pl, (*node)->children[1], certain, &(*node)->table);
}

static wfre_sq_flow compile_extend(planner *pl, const wfre_sq_pattern *pattern, const entry *in,
                                   wfre_sq_node **node)
{
    entry down = *in, stay = *in;
    down.filters = stay.filters = NULL;
    down.filter_count = stay.filter_count = 0;
    uint64_t *seen = new_set(pl);
    if (!seen)
        return WFRE_SQ_FAIL;
    for (uint32_t i = 0; i < in->filter_count; i++) {
        memset(seen, 0, pl->words * sizeof *seen);
        wfre_sq_expression_slots(in->filters[i], seen);
        entry *to = wfre_sq_slots_has(seen, pattern->slot) ? &stay : &down;
        GO(add_filter(pl, &to->filters, &to->filter_count, in->filters[i]));
    }
    GO(new_node(pl, WFRE_SQ_N_EXTEND, pattern, node));
    GO(room_for_children(pl, *node, 1));
    GO(compile(pl, pattern->children[0], &down, &(*node)->children[0]));
    (*node)->count = 1;
    (*node)->estimate = (*node)->children[0]->estimate;
    const wfre_sq_expression *e = pattern->expression;
    GO(prepare_filters(pl, (*node)->children[0], in, &e, 1));
    return wrap(pl, in, stay.filters, stay.filter_count, node);
}

static wfre_sq_flow compile_values(planner *pl, const wfre_sq_pattern *pattern, const entry *in,
                                   wfre_sq_node **node)
{
    size_t cells = (size_t)pattern->count * pattern->width;
    GO(new_node(pl, WFRE_SQ_N_VALUES, pattern, node));
    (*node)->cells = wfre_arena_alloc(pl->arena, cells + 1, sizeof *(*node)->cells);
    if (!(*node)->cells)
        return wfre_sq_no_memory(pl->x);
    for (size_t i = 0; i < cells; i++)
        (*node)->cells[i] = pattern->cells[i].kind == WFRE_SQ_UNDEF
                                ? WFRE_NONE
                                : pl->x->constants[pattern->cells[i].constant];
    (*node)->estimate = pattern->count;
    return wrap(pl, in, in->filters, in->filter_count, node);
}

/* What restricts the answers, and what is filled in: both are entered with the answers bound, which
 * stand for their terms as the row of an EXISTS does. */
static wfre_sq_flow compile_prediction(planner *pl, wfre_sq_node *node)
{
    const wfre_sq_prediction *p = node->prediction;
    const uint64_t *outer = pl->substituted;
    uint64_t *answers = new_set(pl), *all = new_set(pl);
    if (!answers || !all)
        return WFRE_SQ_FAIL;
    for (uint32_t i = 0; i < p->answer_count; i++)
        wfre_sq_slots_add(answers, p->answers[i]);
    add_set(pl, all, outer);
    add_set(pl, all, answers);
    add_set(pl, node->possible, answers);
    add_set(pl, node->certain, answers);
    const entry in = {.possible = pl->nothing, .certain = answers};
    pl->substituted = all;
    GO(room_for_children(pl, node, 2));
    if (p->restriction)
        GO(compile(pl, p->restriction, &in, &node->children[node->count++]));
    if (p->optional) {
        GO(compile(pl, p->optional, &in, &node->children[node->count++]));
        add_set(pl, node->possible, node->children[node->count - 1]->possible);
    }
    pl->substituted = outer;
    if (p->probability != WFRE_NONE)
        wfre_sq_slots_add(node->possible, p->probability);
    if (p->status != WFRE_NONE)
        wfre_sq_slots_add(node->possible, p->status);
    return WFRE_SQ_GO;
}

static wfre_sq_flow compile_service(planner *pl, const wfre_sq_pattern *pattern, const entry *in,
                                    wfre_sq_node **node)
{
    if (pattern->name.kind != WFRE_SQ_IRI ||
        !wfre_sq_name_is(pattern->name.text, WFRE_SQ_PREDICT)) {
        pl->x->status = wfre_fail(pl->x->error, WFRE_ERR_UNSUPPORTED, pattern->offset,
                                  "SERVICE: other services cannot be asked; the only one here is "
                                  "<" WFRE_SQ_PREDICT ">");
        return WFRE_SQ_FAIL;
    }
    GO(new_node(pl, WFRE_SQ_N_PREDICT, NULL, node));
    GO(wfre_sq_predict_split(pl->x, pattern, &(*node)->prediction));
    GO(compile_prediction(pl, *node));
    return wrap(pl, in, in->filters, in->filter_count, node);
}

static wfre_sq_flow refuse_behind(planner *pl, const char *what)
{
    pl->x->status = wfre_fail(pl->x->error, WFRE_ERR_UNSUPPORTED, WFRE_NO_OFFSET,
                              "predictions come behind the rows of a SELECT of one variable; "
                              "this query %s. Use SERVICE <" WFRE_SQ_PREDICT ">",
                              what);
    return WFRE_SQ_FAIL;
}

/* What is predicted behind the proven rows of the query. */
static wfre_sq_flow compile_behind(planner *pl, wfre_sq_node **node)
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
    GO(new_node(pl, WFRE_SQ_N_PREDICT, NULL, node));
    GO(wfre_sq_behind_split(pl->x, pattern, select->columns[0].slot, &(*node)->prediction));
    return compile_prediction(pl, *node);
}

/* GRAPH: a snapshot has one graph. Its name is the base that it was imported with, if any; then it
 * is the default graph and the one named graph. GRAPH ?g P is P joined with VALUES ?g { name }. */
static wfre_sq_flow compile_graph(planner *pl, const wfre_sq_pattern *pattern, const entry *in,
                                  wfre_sq_node **node)
{
    wfre_rdf_id name;
    GO(wfre_sq_graph_name(pl->x, &name));
    bool given = pattern->name.kind == WFRE_SQ_IRI;
    if (name == WFRE_NONE || (given && pl->x->constants[pattern->name.constant] != name))
        return new_node(pl, WFRE_SQ_N_NOTHING, pattern, node);
    if (given)
        return compile(pl, pattern->children[0], in, node);
    wfre_sq_pattern *values = wfre_arena_alloc(pl->arena, 1, sizeof *values);
    wfre_sq_pattern *join = wfre_arena_alloc(pl->arena, 1, sizeof *join);
    wfre_sq_pattern **both = wfre_arena_alloc(pl->arena, 2, sizeof *both);
    wfre_sq_term *cell = wfre_arena_alloc(pl->arena, 1, sizeof *cell);
    wfre_sq_slot *column = wfre_arena_alloc(pl->arena, 1, sizeof *column);
    if (!values || !join || !both || !cell || !column)
        return wfre_sq_no_memory(pl->x);
    *column = pattern->name.slot;
    /* the name is entered behind the query's own constants */
    *cell = (wfre_sq_term){.kind = WFRE_SQ_IRI, .constant = pl->x->query->constant_count};
    *values = (wfre_sq_pattern){.kind = WFRE_SQ_VALUES,
                                .count = 1,
                                .width = 1,
                                .columns = column,
                                .cells = cell,
                                .slot = WFRE_NONE};
    both[0] = pattern->children[0];
    both[1] = values;
    *join =
        (wfre_sq_pattern){.kind = WFRE_SQ_JOIN, .count = 2, .children = both, .slot = WFRE_NONE};
    return compile(pl, join, in, node);
}

static wfre_sq_flow compile(planner *pl, const wfre_sq_pattern *pattern, const entry *in,
                            wfre_sq_node **node)
{
    entry filtered = *in;
    switch (pattern->kind) {
    case WFRE_SQ_BASIC:
        return compile_basics(pl, &pattern, 1, in, node);
    case WFRE_SQ_JOIN:
        return compile_join(pl, pattern, in, node);
    case WFRE_SQ_LEFT:
        return compile_left(pl, pattern, in, node);
    case WFRE_SQ_UNION:
        return compile_union(pl, pattern, in, node);
    case WFRE_SQ_MINUS:
        return compile_minus(pl, pattern, in, node);
    case WFRE_SQ_FILTER:
        for (uint32_t i = 0; i < pattern->filter_count; i++)
            GO(add_filter(pl, &filtered.filters, &filtered.filter_count, pattern->filters[i]));
        return compile(pl, pattern->children[0], &filtered, node);
    case WFRE_SQ_EXTEND:
        return compile_extend(pl, pattern, in, node);
    case WFRE_SQ_VALUES:
        return compile_values(pl, pattern, in, node);
    case WFRE_SQ_GRAPH:
        return compile_graph(pl, pattern, in, node);
    case WFRE_SQ_SERVICE:
        return compile_service(pl, pattern, in, node);
    default:
        GO(new_node(pl, WFRE_SQ_N_SUBQUERY, pattern, node));
        GO(compile_selection(pl, pattern->select, in, &(*node)->selection));
        return wrap(pl, in, in->filters, in->filter_count, node);
    }
}

/* ---- selections --------------------------------------------------------------------------- */

/* The expressions of a SELECT are evaluated when its pattern has its solutions. */
static wfre_sq_flow prepare_select(planner *pl, const wfre_sq_select *select,
                                   const wfre_sq_node *where, const entry *in)
{
    for (uint32_t i = 0; i < select->column_count + select->key_count; i++) {
        const wfre_sq_expression *e = i < select->column_count
                                          ? select->columns[i].expression
                                          : select->keys[i - select->column_count].expression;
        if (e)
            GO(prepare_filters(pl, where, in, &e, 1));
    }
    for (uint32_t i = 0; i < select->having_count; i++) {
        const wfre_sq_expression *e = select->having[i];
        GO(prepare_filters(pl, where, in, &e, 1));
    }
    for (uint32_t i = 0; i < select->order_count; i++) {
        const wfre_sq_expression *e = select->orders[i].expression;
        GO(prepare_filters(pl, where, in, &e, 1));
    }
    for (uint32_t i = 0; i < select->aggregate_count; i++) {
        const wfre_sq_expression *e = select->aggregates[i].argument;
        if (e)
            GO(prepare_filters(pl, where, in, &e, 1));
    }
    return WFRE_SQ_GO;
}

static wfre_sq_flow compile_selection(planner *pl, const wfre_sq_select *select, const entry *in,
                                      wfre_sq_selection **selection)
{
    wfre_sq_selection *s = wfre_arena_alloc(pl->arena, 1, sizeof *s);
    entry inside = {.possible = in->possible, .certain = in->certain};
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
    GO(compile(pl, pattern, &inside, &s->where));
    GO(prepare_select(pl, select, s->where, in));
    GO(list_slots(pl, s->where->possible, &s->row_slots, &s->row_count));
    s->outputs = wfre_arena_alloc(pl->arena, (size_t)select->column_count + 1, sizeof *s->outputs);
    if (!s->outputs)
        return wfre_sq_no_memory(pl->x);
    for (uint32_t i = 0; i < select->column_count; i++)
        s->outputs[s->output_count++] = select->columns[i].slot;
    *selection = s;
    return WFRE_SQ_GO;
}

/* For CONSTRUCT and DESCRIBE what their templates and lists name matters afterwards. */
static wfre_sq_flow add_outputs(planner *pl, wfre_sq_selection *s)
{
    const struct wfre_sparql *query = pl->x->query;
    uint64_t *slots = new_set(pl);
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
    return list_slots(pl, slots, &s->outputs, &s->output_count);
}

wfre_sq_flow wfre_sq_plan_make(wfre_sq_exec *x)
{
    wfre_sq_plan *plan = wfre_alloc_zero(1, sizeof *plan);
    if (!plan)
        return wfre_sq_no_memory(x);
    x->plan = plan;
    plan->words = (size_t)x->query->slot_count / 64 + 1;
    planner pl = {.x = x, .plan = plan, .arena = &plan->arena, .words = plan->words};
    pl.nothing = new_set(&pl);
    pl.substituted = pl.nothing;
    plan->nodes =
        wfre_arena_alloc(&plan->arena, (size_t)x->query->pattern_count + 1, sizeof *plan->nodes);
    if (!pl.nothing || !plan->nodes)
        return wfre_sq_no_memory(x);
    const entry in = {.possible = pl.nothing, .certain = pl.nothing};
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
