/* Exact answers equal brute force over all assignments, on random graphs of up to 12 entities:
 * trees through the tree engine and the join, what a tree's graph refutes, formulas of all shapes
 * through the join, and questions for several variables or none, relations among them.
 *
 * WFRE_SEED picks another seed, WFRE_CASES another number of cases. A failure prints the case,
 * which is enough to repeat it alone: every case has its own stream of random numbers. */
#include "check.h"
#include "exact/join.h"
#include "query/notation.h"
#include "toy.h"

static uint64_t seed, current;

enum { ENTITIES = 12, RELATIONS = 3, QUERIES_PER_GRAPH = 20, TREE_DEPTH = 5 };

static uint64_t setting(const char *name, uint64_t fallback)
{
    const char *text = getenv(name);
    return text ? strtoull(text, NULL, 10) : fallback;
}

static uint32_t as_bits(wfre_list answers)
{
    uint32_t bits = 0;
    for (size_t i = 0; i < answers.count; i++) {
        assert_true(i == 0 || answers.ids[i] > answers.ids[i - 1]);
        bits |= 1u << answers.ids[i];
    }
    return bits;
}

/* ---- formulas with cycles ----------------------------------------------------------------- */

enum { CYCLE_VARIABLES = 4 };

static wfre_term random_term(wfre_rng *rng, const brute_graph *graph, uint32_t variables)
{
    if (wfre_rng_below(rng, 8) == 0)
        return wfre_term_entity(wfre_rng_below(rng, graph->entities));
    return wfre_term_variable(wfre_rng_below(rng, variables));
}

/* A conjunction of atoms over the first `variables` variables, some negated. */
static const wfre_formula *random_conjunction(wfre_arena *arena, wfre_rng *rng,
                                              const brute_graph *graph, uint32_t variables)
{
    const wfre_formula *atoms[6];
    uint32_t count = 1 + wfre_rng_below(rng, 6);
    for (uint32_t i = 0; i < count; i++) {
        atoms[i] = wfre_formula_atom(arena, wfre_rng_below(rng, 2 * graph->relations),
                                     random_term(rng, graph, variables),
                                     random_term(rng, graph, variables));
        if (wfre_rng_below(rng, 5) == 0)
            atoms[i] = wfre_formula_not(arena, atoms[i]);
    }
    return wfre_formula_join(arena, WFRE_AND, atoms, count);
}

/* Atoms between any of a few variables, often cyclic or doubled, and below them perhaps a negated
 * existential of the same kind, or a disjunction of two: what the general generator seldom makes.
 */
static void random_cyclic_query(wfre_rng *rng, const brute_graph *graph, wfre_query *query)
{
    uint32_t outer = 1 + wfre_rng_below(rng, CYCLE_VARIABLES);
    uint32_t inner = wfre_rng_below(rng, 3);
    *query = (wfre_query){.variable_count = outer + inner, .asked = 1};
    wfre_arena *arena = &query->arena;
    const wfre_formula *formula = random_conjunction(arena, rng, graph, outer);
    if (inner > 0 || wfre_rng_below(rng, 2) == 0) {
        const wfre_formula *nested = random_conjunction(arena, rng, graph, outer + inner);
        for (uint32_t v = outer; v < outer + inner; v++)
            nested = wfre_formula_exists(arena, v, nested);
        if (wfre_rng_below(rng, 2) == 0)
            nested = wfre_formula_not(arena, nested);
        wfre_formula_kind kind = wfre_rng_below(rng, 3) == 0 ? WFRE_OR : WFRE_AND;
        const wfre_formula *both[] = {formula, nested};
        formula = wfre_formula_join(arena, kind, both, 2);
    }
    for (uint32_t v = 1; v < outer; v++)
        formula = wfre_formula_exists(arena, v, formula);
    assert_non_null(formula);
    query->formula = formula;
}

/* More disjunctions about two variables than can be distributed: some stay whole. */
static void random_wide_query(wfre_rng *rng, const brute_graph *graph, wfre_query *query)
{
    enum { DISJUNCTIONS = 14 };
    *query = (wfre_query){.variable_count = 2, .asked = 1};
    wfre_arena *arena = &query->arena;
    const wfre_formula *parts[DISJUNCTIONS];
    for (int i = 0; i < DISJUNCTIONS; i++) {
        const wfre_formula *either[2];
        for (int k = 0; k < 2; k++) {
            either[k] = wfre_formula_atom(arena, wfre_rng_below(rng, 2 * graph->relations),
                                          random_term(rng, graph, 2), random_term(rng, graph, 2));
            if (wfre_rng_below(rng, 2) == 0)
                either[k] = wfre_formula_not(arena, either[k]);
        }
        parts[i] = wfre_formula_join(arena, WFRE_OR, either, 2);
    }
    query->formula =
        wfre_formula_exists(arena, 1, wfre_formula_join(arena, WFRE_AND, parts, DISJUNCTIONS));
    assert_non_null(query->formula);
}

/* ---- cases -------------------------------------------------------------------------------- */

static void check_formula(wfre_exact *exact, const brute_graph *brute, const wfre_query *query)
{
    wfre_list answers;
    assert_ok(wfre_exact_formula(exact, WFRE_TRAIN, query, &answers, error));
    assert_int_equal(as_bits(answers), brute_formula(brute, query));
}

/* What is refuted is no answer, however many edges are added. */
static void check_refuted(wfre_exact *exact, const brute_graph *brute, const wfre_node *tree,
                          wfre_rng *rng)
{
    wfre_set set;
    wfre_list refuted;
    assert_ok(wfre_exact_refuted(exact, WFRE_TRAIN, tree, &set, error));
    assert_ok(wfre_exact_write(exact, &set, &refuted, error));
    uint32_t bits = as_bits(refuted);
    assert_int_equal(bits, brute_refuted(brute, tree));
    wfre_set_release(&exact->sets, &set);
    brute_graph larger = *brute;
    for (int round = 0; round < 4; round++) {
        assert_int_equal(brute_tree(&larger, tree) & bits, 0);
        for (int i = 0; i < 12; i++)
            larger.edge[wfre_rng_below(rng, brute->relations)][wfre_rng_below(rng, brute->entities)]
                       [wfre_rng_below(rng, brute->entities)] = true;
    }
}

static void check_tree(wfre_exact *exact, const brute_graph *brute, wfre_rng *rng)
{
    wfre_query query = {0};
    wfre_list answers;
    query.tree = brute_random_tree(&query.arena, rng, brute, TREE_DEPTH);
    uint32_t expected = brute_tree(brute, query.tree);
    assert_ok(wfre_exact_tree(exact, WFRE_TRAIN, query.tree, &answers, error));
    assert_int_equal(as_bits(answers), expected);
    check_refuted(exact, brute, query.tree, rng);
    assert_ok(wfre_query_find_formula(&query, error));
    if (query.formula) { /* a bare entity has none */
        assert_ok(wfre_exact_formula(exact, WFRE_TRAIN, &query, &answers, error));
        assert_int_equal(as_bits(answers), expected);
    }
    wfre_arena_free(&query.arena);
}

/* ---- rows --------------------------------------------------------------------------------- */

static bool has_row(const uint32_t *rows, size_t count, uint32_t width, const uint32_t *row)
{
    for (size_t i = 0; i < count; i++)
        if (memcmp(rows + i * width, row, width * sizeof *row) == 0)
            return true;
    return false;
}

static void check_rows(wfre_exact *exact, const brute_graph *brute, const wfre_query *query,
                       wfre_rng *rng)
{
    static uint32_t expected[BRUTE_ROWS * BRUTE_ASKED];
    size_t count = brute_rows(brute, query, expected);
    size_t most = wfre_rng_below(rng, 2) == 0 ? 1 + wfre_rng_below(rng, 40) : 0;
    bool cut = most > 0 && count > most;
    wfre_tuples rows;
    assert_ok(wfre_exact_tuples(exact, WFRE_TRAIN, query, most, 0, NULL, &rows, error));
    assert_int_equal(rows.width, query->asked);
    if (rows.count != (cut ? most : count)) {
        wfre_text text = {0};
        wfre_logic_print(&text, NULL, query);
        fail_msg("case %llu: %zu rows instead of %zu: %s", (unsigned long long)current, rows.count,
                 cut ? most : count, text.data);
    }
    assert_int_equal(rows.complete, !cut);
    if (query->asked == 0 || rows.count == 0)
        return;
    if (!cut)
        assert_memory_equal(rows.ids, expected, count * query->asked * sizeof *expected);
    for (size_t i = 0; cut && i < rows.count; i++) {
        const uint32_t *row = rows.ids + i * rows.width;
        assert_true(has_row(expected, count, rows.width, row));
        assert_false(has_row(rows.ids, i, rows.width, row));
    }
}

/* Conjunctions over several variables, of which the first are asked for: paths, cycles and stars
 * with variables in between, equalities and inequalities. */
static void random_joined_query(wfre_rng *rng, const brute_graph *graph, wfre_query *query)
{
    static const bool OF_RELATIONS[8] = {false};
    uint32_t variables = 2 + wfre_rng_below(rng, 3);
    static const char *const NAMES[] = {"a", "b", "c", "d"};
    *query = (wfre_query){
        .variable_count = variables, .of_relations = OF_RELATIONS, .variable_names = NAMES};
    query->asked = wfre_rng_below(rng, (variables < 3 ? variables : 3) + 1);
    const wfre_formula *parts[7];
    uint32_t count = 1 + wfre_rng_below(rng, 6);
    for (uint32_t i = 0; i < count; i++) {
        wfre_term left = random_term(rng, graph, variables);
        wfre_term right = random_term(rng, graph, variables);
        parts[i] = wfre_rng_below(rng, 4) == 0
                       ? wfre_formula_equal(&query->arena, left, right)
                       : wfre_formula_atom(&query->arena, wfre_rng_below(rng, 2 * graph->relations),
                                           left, right);
        if (wfre_rng_below(rng, 4) == 0)
            parts[i] = wfre_formula_not(&query->arena, parts[i]);
    }
    query->formula = wfre_formula_join(&query->arena, WFRE_AND, parts, count);
    for (uint32_t v = query->asked; v < variables; v++)
        query->formula = wfre_formula_exists(&query->arena, v, query->formula);
    assert_non_null(query->formula);
}

static void check_question(wfre_exact *exact, const brute_graph *brute, wfre_rng *rng)
{
    wfre_query query;
    if (wfre_rng_below(rng, 2) == 0)
        brute_random_question(rng, brute, 1 + wfre_rng_below(rng, 4), &query);
    else
        random_joined_query(rng, brute, &query);
    check_rows(exact, brute, &query, rng);
    wfre_arena_free(&query.arena);
}

static void check_case(wfre_exact *exact, const brute_graph *brute, wfre_rng *rng)
{
    wfre_query query;
    switch (wfre_rng_below(rng, 5)) {
    case 0:
        check_tree(exact, brute, rng);
        return;
    case 4:
        check_question(exact, brute, rng);
        return;
    case 1:
        brute_random_query(rng, brute, 5, &query);
        break;
    default:
        if (wfre_rng_below(rng, 500) == 0)
            random_wide_query(rng, brute, &query);
        else
            random_cyclic_query(rng, brute, &query);
    }
    check_formula(exact, brute, &query);
    wfre_arena_free(&query.arena);
}

static void answers_equal_brute_force(void **state)
{
    (void)state;
    uint64_t cases = setting("WFRE_CASES", 100000);
    for (current = 0; current < cases;) {
        wfre_rng rng = wfre_rng_keyed(seed, 0, current);
        brute_graph brute;
        brute_random_graph(&rng, ENTITIES, RELATIONS, &brute);
        wfre_graph *graph = toy_graph_of(&brute);
        wfre_exact exact;
        assert_ok(wfre_exact_open(&exact, graph, error));
        for (int i = 0; i < QUERIES_PER_GRAPH && current < cases; i++, current++) {
            wfre_rng stream = wfre_rng_keyed(seed, 1, current);
            check_case(&exact, &brute, &stream);
        }
        wfre_exact_close(&exact);
        wfre_graph_close(graph);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(answers_equal_brute_force)};
    seed = setting("WFRE_SEED", 20230714);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    printf("seed %llu, %llu cases\n", (unsigned long long)seed, (unsigned long long)current);
    return failed;
}
