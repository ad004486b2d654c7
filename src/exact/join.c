/* The join over a plan: each step leapfrogs through the lists that hold its candidates, and a
 * solution of the steps below is looked for only until the first is found, since answers are sets.
 */
#include "exact/join.h"

#include "exact/join_plan.h"

/* Looking at the clock costs more than a candidate does. */
enum { TICKS_PER_CHECK = 4096 };

/* ---- candidates of a step ----------------------------------------------------------------- */

/* Collects the lists of the step's candidates, given the values above it. */
void wfre_join_step_begin(const wfre_join *join, wfre_join_step *step)
{
    step->list_count = 0;
    step->next = 0;
    for (size_t i = 0; i < step->source_count; i++) {
        wfre_source source = step->sources[i];
        if (source.relation == WFRE_NONE) {
            step->lists[step->list_count++] = (wfre_list){&join->value[source.from], 1};
            continue;
        }
        uint32_t group = wfre_find_group(join->edges, source.relation, join->value[source.from]);
        step->lists[step->list_count++] =
            group != WFRE_NONE ? wfre_group_targets(join->edges, group) : (wfre_list){NULL, 0};
    }
    if (!step->domain.dense && !step->domain.complement)
        step->lists[step->list_count++] = (wfre_list){step->domain.ids, step->domain.count};
    for (size_t i = 0; i < step->list_count; i++)
        step->at[i] = 0;
}

/* The least common member of the lists that is not below `floor`; false if there is none. */
static bool leapfrog(wfre_join_step *step, wfre_entity floor, wfre_entity *found)
{
    size_t agreeing = 0;
    for (size_t i = 0; agreeing < step->list_count; i = i + 1 < step->list_count ? i + 1 : 0) {
        wfre_list list = step->lists[i];
        size_t at = wfre_gallop(list.ids, step->at[i], list.count, floor);
        step->at[i] = at;
        if (at == list.count)
            return false;
        agreeing = list.ids[at] == floor ? agreeing + 1 : 1;
        floor = list.ids[at];
    }
    *found = floor;
    return true;
}

/* The next candidate, ascending; false at the end. */
bool wfre_join_step_next(const wfre_join *join, wfre_join_step *step, wfre_entity *candidate)
{
    uint32_t entities = join->exact->sets.entities;
    bool filtered = step->domain.dense || step->domain.complement;
    while (step->next < entities) {
        wfre_entity found = step->next;
        if (step->list_count > 0 && !leapfrog(step, step->next, &found))
            return false;
        step->next = found + 1;
        if (!filtered || wfre_set_has(&step->domain, found)) {
            *candidate = found;
            return true;
        }
    }
    return false;
}

/* ---- tests and solutions ------------------------------------------------------------------ */

static wfre_entity term_value(const wfre_join *join, wfre_term term)
{
    return term.is_variable ? join->value[term.id] : term.id;
}

static wfre_status run_tests(wfre_join *join, const wfre_test *const *tests, size_t count,
                             bool *passed)
{
    *passed = true;
    for (size_t i = 0; i < count && *passed; i++) {
        const wfre_test *test = tests[i];
        bool holds = false;
        switch (test->kind) {
        case WFRE_TEST_EDGE:
            holds = wfre_graph_has(join->exact->graph, join->split, term_value(join, test->left),
                                   test->relation, term_value(join, test->right));
            break;
        case WFRE_TEST_EQUAL:
            holds = term_value(join, test->left) == term_value(join, test->right);
            break;
        case WFRE_TEST_SET:
            holds = wfre_set_has(&test->set, term_value(join, test->left));
            break;
        case WFRE_TEST_PLANS:
            CHECK(wfre_join_any(join, test->plans, &holds));
        }
        *passed = holds == test->positive;
    }
    return WFRE_OK;
}

/* Gives the step's variable a value and looks whether everything below has a solution. */
wfre_status wfre_join_step_try(wfre_join *join, const wfre_join_step *step, wfre_entity candidate,
                               bool *holds)
{
    if (++join->ticks >= TICKS_PER_CHECK) {
        join->ticks = 0;
        CHECK(wfre_exact_check(join->exact, join->error));
    }
    join->value[step->variable] = candidate;
    CHECK(run_tests(join, step->tests, step->test_count, holds));
    for (size_t i = 0; i < step->child_count && *holds; i++)
        CHECK(wfre_join_step_holds(join, step->children[i], holds));
    return WFRE_OK;
}

wfre_status wfre_join_step_holds(wfre_join *join, wfre_join_step *step, bool *holds)
{
    wfre_entity candidate;
    *holds = false;
    wfre_join_step_begin(join, step);
    while (!*holds && wfre_join_step_next(join, step, &candidate))
        CHECK(wfre_join_step_try(join, step, candidate, holds));
    return WFRE_OK;
}

wfre_status wfre_join_plan_holds(wfre_join *join, const wfre_join_plan *plan, bool *holds)
{
    *holds = false;
    if (plan->impossible)
        return WFRE_OK;
    CHECK(run_tests(join, plan->tests, plan->test_count, holds));
    for (size_t i = 0; i < plan->root_count && *holds; i++)
        CHECK(wfre_join_step_holds(join, plan->roots[i], holds));
    return WFRE_OK;
}

wfre_status wfre_join_any(wfre_join *join, wfre_join_plans plans, bool *holds)
{
    *holds = false;
    for (size_t i = 0; i < plans.count && !*holds; i++)
        CHECK(wfre_join_plan_holds(join, &plans.items[i], holds));
    return WFRE_OK;
}

/* ---- sets of solutions -------------------------------------------------------------------- */

/* Every value of the step's variable that has a solution; the list lies in the join's arena. */
static wfre_status collect(wfre_join *join, wfre_join_step *step, wfre_set *set)
{
    wfre_status status = WFRE_OK;
    wfre_entity *found = NULL;
    size_t capacity = 0;
    size_t count = 0;
    wfre_entity candidate;
    wfre_join_step_begin(join, step);
    while (wfre_join_step_next(join, step, &candidate)) {
        bool holds;
        TRY(wfre_join_step_try(join, step, candidate, &holds));
        if (!holds)
            continue;
        if (!WFRE_RESERVE(&found, &capacity, count + 1)) {
            status = wfre_fail_memory(join->error, "collecting answers");
            goto cleanup;
        }
        found[count++] = candidate;
    }
    wfre_entity *list = wfre_arena_alloc(&join->arena, count, sizeof *list);
    if (!list) {
        status = wfre_fail_memory(join->error, "collecting answers");
        goto cleanup;
    }
    for (size_t i = 0; i < count; i++)
        list[i] = found[i];
    *set = wfre_set_borrow(list, count);
cleanup:
    wfre_free(found);
    return status;
}

wfre_status wfre_join_set(wfre_join *join, wfre_join_plans plans, wfre_set *set)
{
    *set = wfre_set_empty();
    for (size_t i = 0; i < plans.count; i++) {
        const wfre_join_plan *plan = &plans.items[i];
        bool holds;
        CHECK(wfre_join_plan_holds(join, plan, &holds));
        if (!holds)
            continue;
        wfre_join_step *target = plan->asked[0];
        wfre_set part = wfre_set_view(target->domain);
        if (target->test_count + target->child_count > 0)
            CHECK(collect(join, target, &part));
        if (!wfre_set_unite(&join->exact->sets, set, &part))
            return wfre_fail_memory(join->error, "collecting answers");
    }
    return WFRE_OK;
}

wfre_status wfre_join_open(wfre_join *join, wfre_exact *exact, wfre_split split,
                           const wfre_query *query, wfre_error *error)
{
    *join = (wfre_join){.exact = exact,
                        .split = split,
                        .edges = wfre_graph_adjacency(exact->graph, split),
                        .variable_count = query->variable_count,
                        .error = error};
    join->value = wfre_arena_alloc(&join->arena, query->variable_count, sizeof *join->value);
    return join->value ? WFRE_OK : wfre_fail_memory(error, "planning a query");
}

void wfre_join_close(wfre_join *join)
{
    /* Domains keep their slots as long as the plan lives. */
    wfre_sets_reset(&join->exact->sets);
    wfre_strings_free(&join->literals);
    wfre_free(join->subformulas);
    wfre_arena_free(&join->arena);
}

wfre_status wfre_exact_formula(wfre_exact *exact, wfre_split split, const wfre_query *query,
                               wfre_list *answers, wfre_error *error)
{
    static const uint32_t FIRST = 0;
    wfre_status status;
    wfre_join_plans plans;
    wfre_set set = wfre_set_empty();
    wfre_join join;
    TRY(wfre_join_open(&join, exact, split, query, error));
    TRY(wfre_join_prepare(&join, query->formula, true, (wfre_targets){&FIRST, 1}, &plans));
    TRY(wfre_join_set(&join, plans, &set));
    TRY(wfre_graph_sound(exact->graph, error));
    TRY(wfre_exact_write(exact, &set, answers, error));
cleanup:
    wfre_join_close(&join);
    return status;
}
