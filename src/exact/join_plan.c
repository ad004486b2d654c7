/* From a clause to a plan: domains, folding of leaves, order of the variables. */
#include "exact/join_plan.h"

#include <string.h>

/* How often domains are narrowed along the atoms between variables before the join. Each round
 * costs two projections an atom; later rounds rarely remove much. */
enum { NARROWING_ROUNDS = 2 };

/* An atom between two variables, at least one of them the clause's own. An equality is one, too. */
typedef struct atom {
    wfre_relation relation; /* WFRE_NONE: the one that everything has to itself */
    uint32_t left, right;
    bool folded;
} atom;

/* A variable of the clause's own. */
typedef struct variable {
    uint32_t id;
    wfre_set domain;
    bool asked;   /* a target */
    bool folded;  /* into another's domain, or without influence */
    bool placed;  /* has its step */
    atom **atoms; /* that mention it, as do the tests */
    size_t atom_count;
    wfre_test **tests;
    size_t test_count;
    struct variable **seat; /* its place among the variables to be placed */
    uint32_t round;         /* the last gathering that met it */
} variable;

typedef struct draft {
    wfre_join *join;
    wfre_sets *sets;
    wfre_join_plan *plan;
    wfre_arena scratch; /* what the plan does not keep */
    wfre_targets targets;
    uint32_t *places; /* of each variable of the query in `variables`; WFRE_NONE: not its own */
    variable *variables;
    size_t variable_count;
    atom *atoms;
    size_t atom_count;
    wfre_test *tests;
    size_t test_count;
    uint32_t *test_rounds; /* the last gathering that met each test */
    uint32_t round;
} draft;

static wfre_status no_memory(const draft *d)
{
    return wfre_fail_memory(d->join->error, "planning a query");
}

static void *take(draft *d, size_t count, size_t size)
{
    return wfre_arena_alloc(&d->join->arena, count, size);
}

/* NULL if the variable comes from outside. */
static variable *own(const draft *d, uint32_t id)
{
    return d->places[id] != WFRE_NONE ? &d->variables[d->places[id]] : NULL;
}

static wfre_relation inverse(wfre_relation relation)
{
    return relation == WFRE_NONE ? WFRE_NONE : relation ^ 1;
}

static variable *own_term(draft *d, wfre_term term)
{
    return term.is_variable ? own(d, term.id) : NULL;
}

/* Keeps of the domain what is in `set`, which is released. */
static wfre_status restrict_domain(draft *d, variable *v, wfre_set set)
{
    if (!wfre_set_intersect(d->sets, &v->domain, &set))
        return no_memory(d);
    if (wfre_set_size(d->sets, &v->domain) == 0)
        d->plan->impossible = true;
    return WFRE_OK;
}

/* ---- literals ----------------------------------------------------------------------------- */

/* The entities with an edge to themselves. */
static wfre_status find_loops(draft *d, wfre_relation relation, wfre_set *set)
{
    const wfre_adjacency *edges = d->join->edges;
    uint32_t begin, end = wfre_relation_groups(edges, relation, &begin);
    wfre_entity *ids = take(d, end - begin, sizeof *ids);
    if (!ids)
        return no_memory(d);
    size_t count = 0;
    for (uint32_t g = begin; g < end; g++) {
        wfre_list targets = wfre_group_targets(edges, g);
        wfre_set set_of_targets = wfre_set_borrow(targets.ids, targets.count);
        ids[count] = edges->group_entity[g];
        count += wfre_set_has(&set_of_targets, edges->group_entity[g]);
    }
    *set = wfre_set_borrow(ids, count);
    return WFRE_OK;
}

static wfre_test *add_test(draft *d, wfre_test_kind kind, bool positive)
{
    wfre_test *test = &d->tests[d->test_count++];
    *test = (wfre_test){.kind = kind, .positive = positive, .set = wfre_set_empty()};
    return test;
}

/* A test on the terms of an atom or equality. */
static wfre_status add_term_test(draft *d, const wfre_formula *formula, bool positive)
{
    wfre_test *test =
        add_test(d, formula->kind == WFRE_EQUAL ? WFRE_TEST_EQUAL : WFRE_TEST_EDGE, positive);
    test->relation = formula->relation;
    test->left = formula->left;
    test->right = formula->right;
    test->variables = formula->variables;
    test->variable_count = formula->variable_count;
    return WFRE_OK;
}

/* The values of the only variable of an atom or equality. */
static wfre_status find_values(draft *d, const wfre_formula *formula, wfre_set *set)
{
    const wfre_graph *graph = d->join->exact->graph;
    wfre_term left = formula->left, right = formula->right;
    const wfre_entity *entity = left.is_variable ? &formula->right.id : &formula->left.id;
    bool loop = left.is_variable && right.is_variable;
    if (formula->kind == WFRE_EQUAL) {
        *set = loop ? wfre_set_empty() : wfre_set_borrow(entity, 1);
        set->complement = loop;
        return WFRE_OK;
    }
    if (loop)
        return find_loops(d, formula->relation, set);
    wfre_relation relation = formula->relation ^ left.is_variable;
    wfre_list list = wfre_graph_targets(graph, d->join->split, relation, *entity);
    *set = wfre_set_borrow(list.ids, list.count);
    return WFRE_OK;
}

static wfre_status add_atom(draft *d, const wfre_formula *formula, bool positive)
{
    variable *from = own_term(d, formula->left);
    variable *to = own_term(d, formula->right);
    if (!from && !to) /* entities and variables from outside */
        return add_term_test(d, formula, positive);
    if (formula->variable_count == 1) {
        wfre_set set;
        CHECK(find_values(d, formula, &set));
        set.complement ^= !positive;
        return restrict_domain(d, from ? from : to, set);
    }
    if (!positive)
        return add_term_test(d, formula, false);
    wfre_relation relation = formula->kind == WFRE_EQUAL ? WFRE_NONE : formula->relation;
    d->atoms[d->atom_count++] = (atom){relation, formula->left.id, formula->right.id, false};
    return WFRE_OK;
}

/* ---- questions within the question -------------------------------------------------------- */

bool wfre_may_hold(const wfre_join *join, const wfre_formula *formula, uint32_t of,
                   wfre_relation relation)
{
    wfre_term left = formula->left, right = formula->right;
    switch (formula->kind) {
    case WFRE_LINK:
        if (formula->variable != of)
            return true;
        return (left.is_variable || wfre_find_group(join->edges, relation, left.id) != WFRE_NONE) &&
               (right.is_variable ||
                wfre_find_group(join->edges, relation ^ 1, right.id) != WFRE_NONE);
    case WFRE_AND:
        for (uint32_t i = 0; i < formula->child_count; i++)
            if (!wfre_may_hold(join, formula->children[i], of, relation))
                return false;
        return true;
    case WFRE_OR:
        for (uint32_t i = 0; i < formula->child_count; i++)
            if (wfre_may_hold(join, formula->children[i], of, relation))
                return true;
        return false;
    case WFRE_EXISTS:
        return wfre_may_hold(join, formula->children[0], of, relation);
    default:
        return true;
    }
}

/* Plans the body of a quantifier over relations, for each that may do. */
static wfre_status plan_relations(wfre_join *join, const wfre_formula *exists, wfre_targets targets,
                                  wfre_join_plans *plans)
{
    wfre_status status = WFRE_OK;
    const wfre_formula *body = exists->children[0];
    uint32_t relations = wfre_graph_relations(join->exact->graph);
    wfre_join_plan *items = NULL;
    size_t capacity = 0, count = 0;
    for (wfre_relation r = 0; r < relations; r += 2) {
        wfre_join_plans part;
        if (!wfre_may_hold(join, body, exists->variable, r))
            continue;
        const wfre_formula *grounded =
            wfre_formula_with_relation(&join->arena, body, exists->variable, r);
        if (!grounded)
            TRY(wfre_fail_memory(join->error, "planning a query"));
        TRY(wfre_join_prepare(join, grounded, true, targets, &part));
        if (!WFRE_RESERVE(&items, &capacity, count + part.count))
            TRY(wfre_fail_memory(join->error, "planning a query"));
        for (size_t i = 0; i < part.count; i++)
            items[count++] = part.items[i];
    }
    wfre_join_plan *kept = wfre_arena_alloc(&join->arena, count, sizeof *kept);
    if (!kept)
        TRY(wfre_fail_memory(join->error, "planning a query"));
    for (size_t i = 0; i < count; i++)
        kept[i] = items[i];
    *plans = (wfre_join_plans){kept, count};
cleanup:
    wfre_free(items);
    return status;
}

/* Plans a literal that is a question of its own; about at most one variable it is also answered,
 * for all entities. */
static wfre_status plan_subformula(wfre_join *join, wfre_literal literal, wfre_subformula *sub)
{
    const wfre_formula *formula = literal.formula;
    bool positive = literal.positive;
    for (; formula->kind == WFRE_NOT; positive = !positive)
        formula = formula->children[0];
    sub->negated = formula->kind == WFRE_EXISTS && !positive;
    sub->variables = formula->variables;
    sub->variable_count = formula->variable_count;
    wfre_targets targets = {sub->variables, sub->variable_count == 1};
    if (formula->kind == WFRE_EXISTS && formula->of_relations)
        CHECK(plan_relations(join, formula, targets, &sub->plans));
    else
        CHECK(wfre_join_prepare(join, formula, positive || sub->negated, targets, &sub->plans));
    if (sub->variable_count == 0)
        CHECK(wfre_join_any(join, sub->plans, &sub->holds));
    else if (sub->variable_count == 1)
        CHECK(wfre_join_set(join, sub->plans, &sub->set));
    return WFRE_OK;
}

/* The same, but from memory if any clause had the literal before. */
static wfre_status find_subformula(wfre_join *join, wfre_literal literal, wfre_subformula *sub)
{
    char key[sizeof literal.formula + 1];
    memcpy(key, &literal.formula, sizeof literal.formula);
    key[sizeof literal.formula] = (char)literal.positive;
    uint32_t index = wfre_strings_find(&join->literals, key, sizeof key);
    if (index != WFRE_NONE) {
        *sub = join->subformulas[index];
        return WFRE_OK;
    }
    *sub = (wfre_subformula){.set = wfre_set_empty()};
    CHECK(plan_subformula(join, literal, sub));
    CHECK(wfre_strings_intern(&join->literals, key, sizeof key, &index, join->error));
    if (!wfre_reserve(&join->subformulas, &join->subformula_capacity, (size_t)index + 1,
                      sizeof *sub))
        return wfre_fail_memory(join->error, "planning a query");
    join->subformulas[index] = *sub;
    return WFRE_OK;
}

/* A literal that is no atom. About one variable of the clause's own it shrinks the domain; else it
 * becomes a test. */
static wfre_status add_subformula(draft *d, wfre_literal literal)
{
    wfre_subformula sub;
    CHECK(find_subformula(d->join, literal, &sub));
    if (sub.variable_count == 0) {
        if (sub.holds == sub.negated)
            d->plan->impossible = true;
    } else if (sub.variable_count == 1) {
        wfre_set set = wfre_set_view(sub.set); /* other clauses may want it, too */
        variable *v = own(d, sub.variables[0]);
        if (v) {
            set.complement ^= sub.negated;
            CHECK(restrict_domain(d, v, set));
        } else {
            wfre_test *test = add_test(d, WFRE_TEST_SET, !sub.negated);
            test->left = (wfre_term){true, sub.variables[0]};
            test->set = set;
        }
    } else {
        wfre_test *test = add_test(d, WFRE_TEST_PLANS, !sub.negated);
        test->plans = sub.plans;
        test->variables = sub.variables;
        test->variable_count = sub.variable_count;
    }
    return WFRE_OK;
}

/* ---- folding and narrowing ---------------------------------------------------------------- */

static void count_links(draft *d)
{
    for (size_t i = 0; i < d->atom_count; i++) {
        variable *ends[] = {own(d, d->atoms[i].left), own(d, d->atoms[i].right)};
        for (int e = 0; e < 2; e++)
            if (ends[e])
                ends[e]->atom_count++;
    }
    for (size_t i = 0; i < d->test_count; i++)
        for (size_t k = 0; k < d->tests[i].variable_count; k++) {
            variable *v = own(d, d->tests[i].variables[k]);
            if (v)
                v->test_count++;
        }
}

/* Lists the atoms and tests of each variable, so that no step of planning looks at all of them. */
static wfre_status link_variables(draft *d)
{
    count_links(d);
    for (size_t i = 0; i < d->variable_count; i++) {
        variable *v = &d->variables[i];
        v->atoms = wfre_arena_alloc(&d->scratch, v->atom_count, sizeof(atom *));
        v->tests = wfre_arena_alloc(&d->scratch, v->test_count, sizeof(wfre_test *));
        if (!v->atoms || !v->tests)
            return no_memory(d);
        v->atom_count = v->test_count = 0;
    }
    for (size_t i = 0; i < d->atom_count; i++) {
        atom *a = &d->atoms[i];
        variable *ends[] = {own(d, a->left), own(d, a->right)};
        for (int e = 0; e < 2; e++)
            if (ends[e])
                ends[e]->atoms[ends[e]->atom_count++] = a;
    }
    for (size_t i = 0; i < d->test_count; i++)
        for (size_t k = 0; k < d->tests[i].variable_count; k++) {
            variable *v = own(d, d->tests[i].variables[k]);
            if (v)
                v->tests[v->test_count++] = &d->tests[i];
        }
    return WFRE_OK;
}

/* Keeps of `to` what has an edge from the domain of `from`; NULL stands for a variable from
 * outside, of which nothing is known. */
static wfre_status follow(draft *d, const variable *from, wfre_relation relation, variable *to)
{
    if (!to || d->plan->impossible)
        return WFRE_OK;
    wfre_status status = wfre_exact_check(d->join->exact, d->join->error);
    if (status != WFRE_OK)
        return status;
    wfre_set image = from ? wfre_set_view(from->domain) : wfre_set_empty();
    image.complement ^= !from;
    if (relation == WFRE_NONE) { /* both domains live on */
        if (from && !wfre_set_copy(d->sets, &from->domain, &image))
            return no_memory(d);
        return restrict_domain(d, to, image);
    }
    if (!wfre_set_project(d->sets, d->join->edges, relation, &image)) {
        wfre_set_release(d->sets, &image);
        return no_memory(d);
    }
    return restrict_domain(d, to, image);
}

/* Folds v if nothing but one atom to another own variable mentions it. */
static wfre_status fold(draft *d, variable *v, bool *folded)
{
    atom *only = NULL;
    if (v->folded || v->asked || v->test_count > 0)
        return WFRE_OK;
    for (size_t i = 0; i < v->atom_count; i++) {
        if (v->atoms[i]->folded)
            continue;
        if (only)
            return WFRE_OK;
        only = v->atoms[i];
    }
    if (only) {
        bool forward = only->left == v->id;
        variable *other = own(d, forward ? only->right : only->left);
        if (!other)
            return WFRE_OK;
        CHECK(follow(d, v, forward ? only->relation : inverse(only->relation), other));
        only->folded = true;
    }
    v->folded = *folded = true;
    return WFRE_OK;
}

static wfre_status shrink_domains(draft *d)
{
    bool folded;
    do {
        folded = false;
        for (size_t i = 0; i < d->variable_count; i++)
            CHECK(fold(d, &d->variables[i], &folded));
    } while (folded);
    for (int round = 0; round < NARROWING_ROUNDS; round++)
        for (size_t i = 0; i < d->atom_count; i++) {
            const atom *a = &d->atoms[i];
            if (a->folded)
                continue;
            CHECK(follow(d, own(d, a->left), a->relation, own(d, a->right)));
            CHECK(follow(d, own(d, a->right), inverse(a->relation), own(d, a->left)));
        }
    return WFRE_OK;
}

/* ---- steps -------------------------------------------------------------------------------- */

/* Has a value when a step below asks: from outside, or placed above. */
static bool has_value(const draft *d, uint32_t id)
{
    const variable *v = own(d, id);
    return !v || v->placed;
}

/* How many atoms give candidates for v now. */
static size_t count_sources(const draft *d, const variable *v)
{
    size_t count = 0;
    for (size_t i = 0; i < v->atom_count; i++) {
        const atom *a = v->atoms[i];
        if (!a->folded)
            count += has_value(d, a->left == v->id ? a->right : a->left);
    }
    return count;
}

/* Whether a is better placed first than b. */
static bool comes_before(const draft *d, const variable *a, size_t a_sources, const variable *b,
                         size_t b_sources)
{
    if (a_sources != b_sources)
        return a_sources > b_sources;
    if (a->asked != b->asked)
        return a->asked;
    return wfre_set_size(d->sets, &a->domain) < wfre_set_size(d->sets, &b->domain);
}

/* The variable to place next: the only one asked for, else one with candidates from above, else one
 * asked for, else the one with the smallest domain. */
static variable *choose(draft *d, variable *const *members, size_t count)
{
    variable *best = NULL;
    size_t best_sources = 0;
    for (size_t i = 0; i < count; i++) {
        variable *v = members[i];
        size_t sources = count_sources(d, v);
        if (v->asked && d->targets.count == 1)
            return v;
        if (!best || comes_before(d, v, sources, best, best_sources)) {
            best = v;
            best_sources = sources;
        }
    }
    return best;
}

/* All variables of the test have values. */
static bool decided(const draft *d, const wfre_test *test)
{
    for (size_t k = 0; k < test->variable_count; k++)
        if (!has_value(d, test->variables[k]))
            return false;
    return true;
}

static wfre_status place(draft *d, variable *v, wfre_join_step **out)
{
    wfre_join_step *step = take(d, 1, sizeof *step);
    if (!step)
        return no_memory(d);
    *step = (wfre_join_step){.variable = v->id, .domain = wfre_set_view(v->domain)};
    step->sources = take(d, v->atom_count, sizeof *step->sources);
    step->lists = take(d, v->atom_count + 1, sizeof *step->lists);
    step->at = take(d, v->atom_count + 1, sizeof *step->at);
    step->tests = take(d, v->test_count, sizeof *step->tests);
    if (!step->sources || !step->lists || !step->at || !step->tests)
        return no_memory(d);
    for (size_t i = 0; i < v->atom_count; i++) {
        const atom *a = v->atoms[i];
        if (a->folded)
            continue;
        if (a->right == v->id && has_value(d, a->left))
            step->sources[step->source_count++] = (wfre_source){a->relation, a->left};
        else if (a->left == v->id && has_value(d, a->right))
            step->sources[step->source_count++] = (wfre_source){inverse(a->relation), a->right};
    }
    v->placed = true;
    for (size_t i = 0; i < v->test_count; i++)
        if (decided(d, v->tests[i]))
            step->tests[step->test_count++] = v->tests[i];
    *out = step;
    return WFRE_OK;
}

/* Exchanges two of the variables to be placed, so that v sits at `seat`. */
static void seat(variable **seat, variable *v)
{
    variable *other = *seat;
    *v->seat = other;
    other->seat = v->seat;
    *seat = v;
    v->seat = seat;
}

/* Adds a variable to those gathered at the front of `members`, unless it is there, needs no step or
 * has one. */
static void gather(draft *d, uint32_t id, variable **members, size_t *inside)
{
    variable *v = own(d, id);
    if (!v || v->folded || v->placed || v->round == d->round)
        return;
    v->round = d->round;
    seat(&members[(*inside)++], v);
}

/* Moves to the front of the members all that an atom or test ties to members[0], directly or
 * through others; returns how many. */
static size_t gather_component(draft *d, variable **members)
{
    size_t inside = 0;
    d->round++;
    gather(d, members[0]->id, members, &inside);
    for (size_t i = 0; i < inside; i++) {
        const variable *v = members[i];
        for (size_t k = 0; k < v->atom_count; k++) {
            const atom *a = v->atoms[k];
            if (!a->folded)
                gather(d, a->left == v->id ? a->right : a->left, members, &inside);
        }
        for (size_t k = 0; k < v->test_count; k++) {
            const wfre_test *test = v->tests[k];
            uint32_t *round = &d->test_rounds[test - d->tests];
            for (size_t m = 0; *round != d->round && m < test->variable_count; m++)
                gather(d, test->variables[m], members, &inside);
            *round = d->round;
        }
    }
    return inside;
}

/* Moves the steps at or below which something is asked for behind the others; returns how many the
 * others are. */
static size_t part_asked(const draft *d, wfre_join_step **steps, size_t count)
{
    size_t others = 0;
    for (size_t i = 0; i < count; i++) {
        wfre_join_step *step = steps[i];
        if (own(d, step->variable)->asked || step->asked_count > 0)
            continue;
        steps[i] = steps[others];
        steps[others++] = step;
    }
    return others;
}

/* Steps for all members: one for each set of variables that are tied together, with the rest of
 * that set below it. */
static wfre_status place_all(draft *d, variable **members, size_t count, wfre_join_step ***steps,
                             size_t *step_count)
{
    *step_count = 0;
    *steps = take(d, count, sizeof **steps);
    if (!*steps)
        return no_memory(d);
    while (count > 0) {
        CHECK(wfre_exact_check(d->join->exact, d->join->error));
        size_t inside = gather_component(d, members);
        variable *first = choose(d, members, inside);
        seat(&members[0], first);
        wfre_join_step *step = NULL;
        CHECK(place(d, first, &step));
        CHECK(place_all(d, members + 1, inside - 1, &step->children, &step->child_count));
        size_t others = part_asked(d, step->children, step->child_count);
        step->asked = step->children + others;
        step->asked_count = step->child_count - others;
        step->child_count = others;
        (*steps)[(*step_count)++] = step;
        members += inside;
        count -= inside;
    }
    return WFRE_OK;
}

/* Whether anything in the step's tree depends on variables from outside. */
static bool looks_outside(const draft *d, const wfre_join_step *step)
{
    for (size_t i = 0; i < step->source_count; i++)
        if (!own(d, step->sources[i].from))
            return true;
    for (size_t i = 0; i < step->test_count; i++)
        for (size_t k = 0; k < step->tests[i]->variable_count; k++)
            if (!own(d, step->tests[i]->variables[k]))
                return true;
    for (size_t i = 0; i < step->child_count; i++)
        if (looks_outside(d, step->children[i]))
            return true;
    return false;
}

/* ---- the whole ---------------------------------------------------------------------------- */

/* Places the variables that are left; a tree of steps that is the same whatever the values outside
 * is searched at once. */
static wfre_status make_steps(draft *d)
{
    wfre_join_plan *plan = d->plan;
    size_t count = 0;
    wfre_join_step **steps = NULL;
    size_t step_count = 0;
    variable **members = wfre_arena_alloc(&d->scratch, d->variable_count, sizeof(variable *));
    d->test_rounds = wfre_arena_alloc(&d->scratch, d->test_count, sizeof *d->test_rounds);
    plan->tests = take(d, d->test_count, sizeof *plan->tests);
    if (!members || !d->test_rounds || !plan->tests)
        return no_memory(d);
    for (size_t i = 0; i < d->test_count; i++) {
        d->test_rounds[i] = 0;
        bool outside = true;
        for (size_t k = 0; k < d->tests[i].variable_count; k++)
            outside &= !own(d, d->tests[i].variables[k]);
        if (outside)
            plan->tests[plan->test_count++] = &d->tests[i];
    }
    for (size_t i = 0; i < d->variable_count; i++)
        if (!d->variables[i].folded) {
            d->variables[i].seat = &members[count];
            members[count++] = &d->variables[i];
        }
    CHECK(place_all(d, members, count, &steps, &step_count));
    size_t others = part_asked(d, steps, step_count);
    plan->asked = steps + others;
    plan->asked_count = step_count - others;
    plan->roots = steps;
    for (size_t i = 0; i < others && !plan->impossible; i++) {
        if (looks_outside(d, steps[i])) {
            plan->roots[plan->root_count++] = steps[i];
        } else {
            bool holds;
            CHECK(wfre_join_step_holds(d->join, steps[i], &holds));
            plan->impossible |= !holds;
        }
    }
    return WFRE_OK;
}

static void add_own(draft *d, uint32_t id)
{
    wfre_set all = wfre_set_empty();
    all.complement = true;
    if (own(d, id))
        return;
    d->places[id] = (uint32_t)d->variable_count;
    d->variables[d->variable_count++] = (variable){.id = id, .domain = all};
}

static wfre_status open_draft(draft *d, const wfre_clause *clause)
{
    uint32_t variables = d->join->variable_count;
    d->places = wfre_arena_alloc(&d->scratch, variables, sizeof *d->places);
    d->variables = wfre_arena_alloc(&d->scratch, clause->variable_count + d->targets.count,
                                    sizeof *d->variables);
    d->atoms = wfre_arena_alloc(&d->scratch, clause->literal_count, sizeof *d->atoms);
    d->tests = take(d, clause->literal_count, sizeof *d->tests);
    if (!d->places || !d->variables || !d->atoms || !d->tests)
        return no_memory(d);
    for (uint32_t v = 0; v < variables; v++)
        d->places[v] = WFRE_NONE;
    for (size_t i = 0; i < clause->variable_count; i++)
        add_own(d, clause->variables[i]);
    for (size_t i = 0; i < d->targets.count; i++) {
        add_own(d, d->targets.variables[i]);
        own(d, d->targets.variables[i])->asked = true;
    }
    return WFRE_OK;
}

static wfre_status plan_clause(wfre_join *join, const wfre_clause *clause, wfre_targets targets,
                               wfre_join_plan *plan)
{
    wfre_status status;
    *plan = (wfre_join_plan){.impossible = join->exact->sets.entities == 0};
    draft d = {.join = join, .sets = &join->exact->sets, .plan = plan, .targets = targets};
    TRY(wfre_exact_check(join->exact, join->error));
    TRY(open_draft(&d, clause));
    for (size_t i = 0; i < clause->literal_count && !plan->impossible; i++) {
        wfre_literal literal = clause->literals[i];
        if (literal.formula->child_count == 0)
            TRY(add_atom(&d, literal.formula, literal.positive));
        else
            TRY(add_subformula(&d, literal));
    }
    if (!plan->impossible)
        TRY(link_variables(&d));
    if (!plan->impossible)
        TRY(shrink_domains(&d));
    if (!plan->impossible)
        TRY(make_steps(&d));
cleanup:
    wfre_arena_free(&d.scratch);
    return status;
}

wfre_status wfre_join_prepare(wfre_join *join, const wfre_formula *formula, bool positive,
                              wfre_targets targets, wfre_join_plans *plans)
{
    wfre_clauses clauses;
    wfre_clause_maker maker = {&join->arena, join->error};
    CHECK(wfre_clauses_of(&maker, formula, positive, &clauses));
    wfre_join_plan *items = wfre_arena_alloc(&join->arena, clauses.count, sizeof *items);
    if (!items)
        return wfre_fail_memory(join->error, "planning a query");
    for (size_t i = 0; i < clauses.count; i++)
        CHECK(plan_clause(join, &clauses.items[i], targets, &items[i]));
    *plans = (wfre_join_plans){items, clauses.count};
    return WFRE_OK;
}
