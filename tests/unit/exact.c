/* Sets against plain arrays of flags, and the engine's errors, limits and behaviour without memory.
 * That its answers are right is tests/property/exact.c. */
#include "base/clock.h"
#include "base/scope.h"
#include "check.h"
#include "exact/join.h"
#include "toy.h"

/* More than one word of bits, and not a multiple of 64. */
enum { ENTITIES = 500, RELATIONS = 2, TRIPLES = 4000 };

static wfre_graph *graph;

static int build_graph(void **state)
{
    (void)state;
    graph = toy_random_graph(7, ENTITIES, RELATIONS, TRIPLES);
    return 0;
}

static int close_graph(void **state)
{
    (void)state;
    wfre_graph_close(graph);
    return 0;
}

/* ---- sets --------------------------------------------------------------------------------- */

/* A set and what it should be. */
typedef struct pair {
    wfre_set set;
    bool flags[ENTITIES];
    wfre_entity ids[ENTITIES];
} pair;

/* Few, some or most entities, as a borrowed list, perhaps complemented. */
static void random_pair(wfre_rng *rng, pair *p)
{
    static const uint32_t SHARES[] = {0, 1, 5, 40, 90, 100};
    uint32_t share = SHARES[wfre_rng_below(rng, 6)];
    bool complement = wfre_rng_below(rng, 3) == 0;
    size_t count = 0;
    for (wfre_entity e = 0; e < ENTITIES; e++) {
        p->flags[e] = wfre_rng_below(rng, 100) < share;
        if (p->flags[e])
            p->ids[count++] = e;
        p->flags[e] ^= complement;
    }
    p->set = wfre_set_borrow(p->ids, count);
    p->set.complement = complement;
}

static void check_pair(const wfre_sets *sets, const pair *p)
{
    wfre_entity ids[ENTITIES];
    size_t count = 0;
    wfre_set_write(sets, &p->set, ids);
    for (wfre_entity e = 0; e < ENTITIES; e++) {
        assert_int_equal(wfre_set_has(&p->set, e), p->flags[e]);
        if (p->flags[e])
            assert_int_equal(ids[count++], e);
    }
    assert_int_equal(wfre_set_size(sets, &p->set), count);
}

static void project_flags(wfre_relation relation, pair *p)
{
    bool reached[ENTITIES] = {false};
    for (wfre_entity h = 0; h < ENTITIES; h++)
        for (wfre_entity t = 0; p->flags[h] && t < ENTITIES; t++)
            reached[t] |= wfre_graph_has(graph, WFRE_TRAIN, h, relation, t);
    memcpy(p->flags, reached, sizeof reached);
}

/* Chains of random operations, so that each meets every form a set can have. */
static void sets_behave_like_flags(void **state)
{
    enum { STEPS = 4 };
    (void)state;
    const wfre_adjacency *edges = wfre_graph_adjacency(graph, WFRE_TRAIN);
    wfre_sets sets;
    assert_true(wfre_sets_open(&sets, ENTITIES));
    for (uint64_t trial = 0; trial < 600; trial++) {
        wfre_rng rng = wfre_rng_keyed(11, 0, trial);
        pair left;
        pair others[STEPS]; /* the result may borrow from any of them */
        random_pair(&rng, &left);
        for (int step = 0; step < STEPS; step++) {
            pair *right = &others[step];
            random_pair(&rng, right);
            wfre_relation relation = wfre_rng_below(&rng, 2 * RELATIONS);
            uint32_t choice = wfre_rng_below(&rng, 3);
            if (step % 2 == 1) /* both sides computed, not borrowed */
                assert_true(wfre_set_unite(&sets, &right->set, &(wfre_set){.slot = WFRE_NONE}));
            if (choice == 2) {
                assert_true(wfre_set_project(&sets, edges, relation, &left.set));
                project_flags(relation, &left);
            } else {
                for (int e = 0; e < ENTITIES; e++)
                    left.flags[e] = choice == 0 ? left.flags[e] && right->flags[e]
                                                : left.flags[e] || right->flags[e];
                assert_true(choice == 0 ? wfre_set_intersect(&sets, &left.set, &right->set)
                                        : wfre_set_unite(&sets, &left.set, &right->set));
            }
            check_pair(&sets, &left);
            wfre_set_release(&sets, &right->set);
        }
        wfre_set_release(&sets, &left.set);
        assert_int_equal(sets.unused_count, sets.slot_count);
    }
    wfre_sets_close(&sets);
}

static void projections_can_be_looked_at_from_behind(void **state)
{
    (void)state;
    const wfre_adjacency *edges = wfre_graph_adjacency(graph, WFRE_TRAIN);
    wfre_sets sets;
    assert_true(wfre_sets_open(&sets, ENTITIES));
    for (uint64_t trial = 0; trial < 300; trial++) {
        wfre_rng rng = wfre_rng_keyed(12, 0, trial);
        pair from;
        random_pair(&rng, &from);
        wfre_relation relation = wfre_rng_below(&rng, 2 * RELATIONS);
        bool keep = wfre_rng_below(&rng, 2) == 0;
        wfre_entity few[] = {3, 77, 78, 201, 333, 450};
        wfre_set set = wfre_set_borrow(few, 6);
        assert_true(wfre_set_filter_projection(&sets, edges, relation, &from.set, keep, &set));
        project_flags(relation, &from);
        for (int i = 0; i < 6; i++)
            assert_int_equal(wfre_set_has(&set, few[i]), from.flags[few[i]] == keep);
        wfre_set_release(&sets, &set);
    }
    wfre_sets_close(&sets);
}

/* ---- errors and limits -------------------------------------------------------------------- */

/* Read without a graph, a query may name anything. */
static void refuse_ids(const char *text, const char *message)
{
    wfre_exact *exact;
    wfre_query *query;
    wfre_list answers;
    wfre_error why;
    assert_ok(wfre_query_parse(NULL, WFRE_NOTATION_AUTO, text, strlen(text), &query, error));
    assert_ok(wfre_exact_create(graph, &exact, error));
    assert_int_equal(wfre_exact_answer(exact, WFRE_TRAIN, query, 0, NULL, &answers, &why),
                     WFRE_ERR_ARGUMENT);
    assert_non_null(strstr(why.message, message));
    wfre_exact_free(exact);
    wfre_query_free(query);
}

static void ids_beyond_the_graph_are_refused(void **state)
{
    (void)state;
    refuse_ids("(p,#0,(e,#500))", "entity #500");
    refuse_ids("(p,#4,(e,#0))", "relation #4");
    /* The first two branches have nothing in common, so that the third is not looked at. */
    refuse_ids("(i,(e,#1),(e,#2),(p,#0,(p,#0,(e,#4000000000))))", "entity #4000000000");
    /* Formulas that are no trees, with the ids in and below their clauses. */
    refuse_ids("?x : #0(?x, ?y) & #0(?y, ?x) & #0(?x, #4000000000)", "entity #4000000000");
    refuse_ids("?x : #0(?x, ?y) & #0(?y, ?x) & #0(#4000000000, ?y)", "entity #4000000000");
    refuse_ids("?x : #0(?x, ?y) & #400000000(?y, ?x)", "relation #400000000");
    refuse_ids("?x : #0(?x, ?y) & #0(?y, ?x) & !(exists ?z. #400000000(?z, ?x))",
               "relation #400000000");
}

/* Six variables with no positive atom to join on: no two of them have an edge of one relation, and
 * the last has edges of the other to all, said by double negation. It takes values for the first
 * five to see that the last has none. */
static void hard_query(wfre_query *query)
{
    enum { VARIABLES = 6, LAST = VARIABLES - 1 };
    *query = (wfre_query){.variable_count = VARIABLES + LAST, .asked = 1};
    wfre_arena *arena = &query->arena;
    const wfre_formula *parts[VARIABLES * VARIABLES];
    uint32_t count = 0;
    for (uint32_t a = 0; a < LAST; a++) {
        wfre_term from = wfre_term_variable(a);
        for (uint32_t b = a + 1; b < LAST; b++)
            parts[count++] =
                wfre_formula_not(arena, wfre_formula_atom(arena, 0, from, wfre_term_variable(b)));
        const wfre_formula *atom = wfre_formula_atom(arena, 2, from, wfre_term_variable(LAST));
        parts[count++] = wfre_formula_not(
            arena, wfre_formula_exists(arena, VARIABLES + a, wfre_formula_not(arena, atom)));
    }
    const wfre_formula *formula = wfre_formula_join(arena, WFRE_AND, parts, count);
    for (uint32_t v = LAST; v > 0; v--)
        formula = wfre_formula_exists(arena, v, formula);
    query->formula = formula;
    assert_non_null(formula);
}

static bool stop_at_once(void *context)
{
    ++*(int *)context;
    return true;
}

static void long_searches_stop_when_told(void **state)
{
    (void)state;
    wfre_exact exact;
    wfre_list answers;
    wfre_error why;
    wfre_query query;
    int asked = 0;
    wfre_monitor monitor = {.interrupted = stop_at_once, .context = &asked};
    hard_query(&query);
    assert_ok(wfre_exact_open(&exact, graph, error));
    double begin = wfre_clock();
    (void)wfre_scope_enter((wfre_scope){.deadline = begin + 0.05});
    assert_int_equal(wfre_exact_formula(&exact, WFRE_TRAIN, &query, &answers, &why),
                     WFRE_ERR_TIMEOUT);
    assert_true(wfre_clock() - begin < 5);
    (void)wfre_scope_enter((wfre_scope){0});
    exact.monitor = &monitor;
    assert_int_equal(wfre_exact_formula(&exact, WFRE_TRAIN, &query, &answers, &why),
                     WFRE_ERR_INTERRUPTED);
    assert_true(asked > 0);
    wfre_exact_close(&exact);
    wfre_arena_free(&query.arena);
}

/* Each level has two clauses with the level below in both: planned for each, they would take 2^60
 * plans. */
static void nested_disjunctions_are_planned_once(void **state)
{
    enum { LEVELS = 60 };
    (void)state;
    wfre_query query = {.variable_count = LEVELS + 1, .asked = 1};
    wfre_arena *arena = &query.arena;
    const wfre_formula *formula =
        wfre_formula_atom(arena, 0, wfre_term_variable(LEVELS), wfre_term_entity(3));
    for (uint32_t v = LEVELS; v > 0; v--) {
        wfre_term outer = wfre_term_variable(v - 1), inner = wfre_term_variable(v);
        const wfre_formula *either[] = {wfre_formula_atom(arena, 0, outer, inner),
                                        wfre_formula_atom(arena, 2, outer, inner)};
        const wfre_formula *both[] = {wfre_formula_join(arena, WFRE_OR, either, 2),
                                      wfre_formula_not(arena, formula)};
        formula = wfre_formula_exists(arena, v, wfre_formula_join(arena, WFRE_AND, both, 2));
    }
    query.formula = formula;
    assert_non_null(formula);
    wfre_exact exact;
    wfre_list answers;
    assert_ok(wfre_exact_open(&exact, graph, error));
    (void)wfre_scope_enter((wfre_scope){.deadline = wfre_clock() + 20});
    assert_ok(wfre_exact_formula(&exact, WFRE_TRAIN, &query, &answers, error));
    (void)wfre_scope_enter((wfre_scope){0});
    wfre_exact_close(&exact);
    wfre_arena_free(arena);
}

/* A cycle through all variables that a query can have, with atoms or with negated ones, so that
 * each has to be placed. */
static const wfre_formula *cycle(wfre_arena *arena, uint32_t variables, bool positive)
{
    const wfre_formula *parts[1024];
    assert_true(variables <= 1024);
    for (uint32_t v = 0; v < variables; v++) {
        parts[v] = wfre_formula_atom(arena, 0, wfre_term_variable(v),
                                     wfre_term_variable((v + 1) % variables));
        if (!positive)
            parts[v] = wfre_formula_not(arena, parts[v]);
    }
    const wfre_formula *formula = wfre_formula_join(arena, WFRE_AND, parts, variables);
    for (uint32_t v = 1; v < variables; v++)
        formula = wfre_formula_exists(arena, v, formula);
    assert_non_null(formula);
    return formula;
}

/* No atom is followed before the first question is asked, so planning itself must look up. */
static void planning_stops_when_told(void **state)
{
    (void)state;
    wfre_exact exact;
    wfre_list answers;
    wfre_error why;
    wfre_query query = {.variable_count = 3, .asked = 1};
    int asked = 0;
    wfre_monitor monitor = {.interrupted = stop_at_once, .context = &asked};
    query.formula = cycle(&query.arena, 3, false);
    assert_ok(wfre_exact_open(&exact, graph, error));
    exact.monitor = &monitor;
    assert_int_equal(wfre_exact_formula(&exact, WFRE_TRAIN, &query, &answers, &why),
                     WFRE_ERR_INTERRUPTED);
    assert_int_equal(asked, 1);
    wfre_exact_close(&exact);
    wfre_arena_free(&query.arena);
}

/* Looking at all atoms for each pair of variables, this took minutes. */
static void many_variables_are_placed_quickly(void **state)
{
    (void)state;
    for (int positive = 0; positive < 2; positive++) {
        wfre_exact exact;
        wfre_list answers;
        wfre_query query = {.variable_count = 1024, .asked = 1};
        query.formula = cycle(&query.arena, 1024, positive);
        assert_ok(wfre_exact_open(&exact, graph, error));
        (void)wfre_scope_enter((wfre_scope){.deadline = wfre_clock() + 10});
        assert_ok(wfre_exact_formula(&exact, WFRE_TRAIN, &query, &answers, error));
        (void)wfre_scope_enter((wfre_scope){0});
        wfre_exact_close(&exact);
        wfre_arena_free(&query.arena);
    }
}

/* ---- rows --------------------------------------------------------------------------------- */

static wfre_query *read_query(const char *text)
{
    wfre_query *query;
    assert_ok(wfre_query_parse(NULL, WFRE_NOTATION_AUTO, text, strlen(text), &query, error));
    return query;
}

/* All pairs two edges apart, of whatever relation, by looking at all. */
static size_t count_pairs(bool (*linked)[ENTITIES])
{
    static bool edge[ENTITIES][ENTITIES];
    size_t count = 0;
    for (wfre_entity a = 0; a < ENTITIES; a++)
        for (wfre_entity b = 0; b < ENTITIES; b++)
            edge[a][b] = wfre_graph_has(graph, WFRE_TRAIN, a, 0, b) ||
                         wfre_graph_has(graph, WFRE_TRAIN, a, 2, b);
    for (wfre_entity x = 0; x < ENTITIES; x++)
        for (wfre_entity y = 0; y < ENTITIES; y++) {
            linked[x][y] = false;
            for (wfre_entity z = 0; z < ENTITIES && !linked[x][y]; z++)
                linked[x][y] = edge[x][z] && edge[z][y];
            count += linked[x][y];
        }
    return count;
}

/* Many more than are kept unsorted, and most of them found several times. */
static void many_rows_are_each_given_once(void **state)
{
    static bool linked[ENTITIES][ENTITIES];
    (void)state;
    wfre_exact *exact;
    wfre_tuples rows;
    wfre_query *query = read_query("?x, ?y : ?r(?x, ?z) & (#0(?z, ?y) | #2(?z, ?y))");
    size_t count = count_pairs(linked), limits[] = {0, 1, 10000, count, count + 1};
    assert_true(count > 10000);
    assert_ok(wfre_exact_create(graph, &exact, error));
    for (size_t k = 0; k < sizeof limits / sizeof limits[0]; k++) {
        bool cut = limits[k] > 0 && limits[k] < count;
        assert_ok(wfre_exact_tuples(exact, WFRE_TRAIN, query, limits[k], 0, NULL, &rows, error));
        assert_int_equal(rows.count, cut ? limits[k] : count);
        assert_int_equal(rows.complete, !cut);
        for (size_t i = 0; i < rows.count; i++) {
            const uint32_t *row = rows.ids + 2 * i;
            assert_true(linked[row[0]][row[1]]);
            if (i > 0)
                assert_true(row[0] > row[-2] || (row[0] == row[-2] && row[1] > row[-1]));
        }
    }
    wfre_exact_free(exact);
    wfre_query_free(query);
}

static void answers_that_are_no_entities_are_rows(void **state)
{
    static const struct {
        const char *text;
        const char *message;
    } CASES[] = {
        {"#0(#1, #2)", "yes or no"},
        {"?r(#1, #2)", "relations"},
        {"#0(?x, ?y)", "rows"},
    };
    (void)state;
    wfre_exact *exact;
    wfre_list answers;
    wfre_tuples rows;
    wfre_error why;
    assert_ok(wfre_exact_create(graph, &exact, error));
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        wfre_query *query = read_query(CASES[i].text);
        assert_int_equal(wfre_exact_answer(exact, WFRE_TRAIN, query, 0, NULL, &answers, &why),
                         WFRE_ERR_ARGUMENT);
        assert_non_null(strstr(why.message, CASES[i].message));
        assert_ok(wfre_exact_tuples(exact, WFRE_TRAIN, query, 0, 0, NULL, &rows, error));
        assert_int_equal(rows.width, wfre_query_width(query));
        wfre_query_free(query);
    }
    wfre_exact_free(exact);
}

static void rows_stop_when_told(void **state)
{
    (void)state;
    wfre_exact *exact;
    wfre_tuples rows;
    wfre_query *query = read_query("?x, ?y, ?z : !#0(?x, ?y) & !#0(?y, ?z) & !#0(?z, ?x)");
    double begin = wfre_clock();
    assert_ok(wfre_exact_create(graph, &exact, error));
    assert_int_equal(wfre_exact_tuples(exact, WFRE_TRAIN, query, 0, 0.05, NULL, &rows, NULL),
                     WFRE_ERR_TIMEOUT);
    assert_true(wfre_clock() - begin < 5);
    wfre_exact_free(exact);
    wfre_query_free(query);
}

/* ---- memory ------------------------------------------------------------------------------- */

static wfre_status answer_tree(void *context)
{
    wfre_status status;
    wfre_exact exact = {0};
    wfre_list answers;
    TRY(wfre_exact_open(&exact, graph, NULL));
    TRY(wfre_exact_tree(&exact, WFRE_TRAIN, context, &answers, NULL));
cleanup:
    wfre_exact_close(&exact);
    return status;
}

static void trees_survive_failed_allocations(void **state)
{
    (void)state;
    wfre_arena arena = {0};
    const wfre_node *anchor = wfre_node_entity(&arena, 17);
    const wfre_node *hops = wfre_node_project(
        &arena, 1, wfre_node_project(&arena, 0, wfre_node_project(&arena, 0, anchor)));
    const wfre_node *less = wfre_node_negate(
        &arena, wfre_node_project(&arena, 3, wfre_node_project(&arena, 0, anchor)));
    const wfre_node *both = wfre_node_pair(&arena, WFRE_OP_INTERSECT, hops, less);
    const wfre_node *tree = wfre_node_negate(
        &arena, wfre_node_pair(&arena, WFRE_OP_UNION, both, wfre_node_project(&arena, 2, hops)));
    assert_non_null(tree);
    sweep_allocations(answer_tree, (void *)tree);
    wfre_arena_free(&arena);
}

static wfre_status answer_formula(void *context)
{
    wfre_status status;
    wfre_exact exact = {0};
    wfre_list answers;
    TRY(wfre_exact_open(&exact, graph, NULL));
    TRY(wfre_exact_formula(&exact, WFRE_TRAIN, context, &answers, NULL));
cleanup:
    wfre_exact_close(&exact);
    return status;
}

/* A triangle, a leaf, a disjunction and a negated existential about two variables. */
static void formulas_survive_failed_allocations(void **state)
{
    (void)state;
    wfre_query query = {.variable_count = 5, .asked = 1};
    wfre_arena *arena = &query.arena;
    wfre_term x = wfre_term_variable(0);
    wfre_term y = wfre_term_variable(1);
    wfre_term z = wfre_term_variable(2);
    wfre_term leaf = wfre_term_variable(3);
    wfre_term w = wfre_term_variable(4);
    const wfre_formula *either[] = {wfre_formula_atom(arena, 2, x, x),
                                    wfre_formula_atom(arena, 0, x, wfre_term_entity(3))};
    const wfre_formula *inner[] = {wfre_formula_atom(arena, 2, y, w),
                                   wfre_formula_atom(arena, 2, w, z)};
    const wfre_formula *parts[] = {
        wfre_formula_atom(arena, 0, x, y),
        wfre_formula_atom(arena, 0, y, z),
        wfre_formula_atom(arena, 0, z, x),
        wfre_formula_atom(arena, 2, y, leaf),
        wfre_formula_join(arena, WFRE_OR, either, 2),
        wfre_formula_not(
            arena, wfre_formula_exists(arena, 4, wfre_formula_join(arena, WFRE_AND, inner, 2)))};
    const wfre_formula *formula = wfre_formula_join(arena, WFRE_AND, parts, 6);
    for (uint32_t v = 1; v <= 3; v++)
        formula = wfre_formula_exists(arena, v, formula);
    query.formula = formula;
    assert_non_null(formula);
    sweep_allocations(answer_formula, &query);
    wfre_arena_free(arena);
}

static wfre_status answer_rows(void *context)
{
    wfre_status status;
    wfre_exact exact = {0};
    wfre_tuples rows;
    TRY(wfre_exact_open(&exact, graph, NULL));
    TRY(wfre_exact_tuples(&exact, WFRE_TRAIN, context, 0, 0, NULL, &rows, NULL));
cleanup:
    wfre_exact_close(&exact);
    return status;
}

static void rows_survive_failed_allocations(void **state)
{
    (void)state;
    wfre_query *query = read_query("?y, ?x, ?r : ?r(#3, ?x) & (exists ?s. ?s(?x, ?y)) & ?y != ?z & "
                                   "?z = ?w & #0(?w, #5) & !(exists ?v. ?r(?v, ?y) & ?v = ?x)");
    sweep_allocations(answer_rows, query);
    wfre_query_free(query);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sets_behave_like_flags),
        cmocka_unit_test(projections_can_be_looked_at_from_behind),
        cmocka_unit_test(ids_beyond_the_graph_are_refused),
        cmocka_unit_test(long_searches_stop_when_told),
        cmocka_unit_test(nested_disjunctions_are_planned_once),
        cmocka_unit_test(planning_stops_when_told),
        cmocka_unit_test(many_variables_are_placed_quickly),
        cmocka_unit_test(many_rows_are_each_given_once),
        cmocka_unit_test(answers_that_are_no_entities_are_rows),
        cmocka_unit_test(rows_stop_when_told),
        cmocka_unit_test(trees_survive_failed_allocations),
        cmocka_unit_test(rows_survive_failed_allocations),
        cmocka_unit_test(formulas_survive_failed_allocations),
    };
    return cmocka_run_group_tests(tests, build_graph, close_graph);
}
