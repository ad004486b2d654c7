/* Random queries: printing and parsing agree, and every rewriting keeps the answer set. */
#include "check.h"

#include "brute.h"
#include "query/notation.h"

enum { TRIALS = 20000 };
static const uint64_t SEED = 20230601;

/* Called for each trial with a random graph and its own random numbers. */
static void repeat(const char *name, uint64_t step,
                   void (*trial)(wfre_rng *rng, const brute_graph *graph))
{
    print_message("%s: seed %llu, %d trials\n", name, (unsigned long long)SEED, TRIALS);
    for (uint64_t i = 0; i < TRIALS; i++) {
        wfre_rng rng = wfre_rng_keyed(SEED, step, i);
        brute_graph graph;
        brute_random_graph(&rng, 6, 3, &graph);
        trial(&rng, &graph);
    }
}

/* ---- notations --------------------------------------------------------------------------------
 */

static void try_tree_notations(wfre_rng *rng, const brute_graph *graph)
{
    wfre_arena arena = {0};
    const wfre_node *tree = brute_random_tree(&arena, rng, graph, 1 + wfre_rng_below(rng, 6));
    if (wfre_rng_below(rng, 4) == 0)
        tree = wfre_tree_type(&arena, tree);
    const wfre_node *again;
    wfre_text text = {0};
    wfre_tree_print(&text, NULL, tree);
    assert_ok(wfre_tree_parse(&arena, NULL, text.data, text.length, &again, error));
    assert_true(wfre_node_equal(tree, again));
    wfre_text_clear(&text);
    wfre_tree_print_multi(&text, NULL, tree);
    assert_ok(wfre_tree_parse(&arena, NULL, text.data, text.length, &again, error));
    assert_true(wfre_node_equal(tree, again));
    wfre_text_clear(&text);
    wfre_betae_print(&text, tree);
    assert_ok(wfre_betae_parse(&arena, text.data, text.length, &again, error));
    assert_true(wfre_node_equal(tree, again));
    wfre_text_free(&text);
    wfre_arena_free(&arena);
}

static void try_logic_notation(wfre_rng *rng, const brute_graph *graph)
{
    wfre_query query, again = {0};
    brute_random_query(rng, graph, 1 + wfre_rng_below(rng, 6), &query);
    wfre_text text = {0};
    wfre_logic_print(&text, NULL, &query);
    assert_ok(wfre_logic_parse(&again, NULL, text.data, text.length, error));
    bool same;
    assert_ok(wfre_query_same_formula(&query, &again, &same, error));
    if (!same)
        fail_msg("read back differently: %s", text.data);
    assert_int_equal(brute_formula(graph, &query), brute_formula(graph, &again));
    wfre_text_free(&text);
    wfre_arena_free(&query.arena);
    wfre_arena_free(&again.arena);
}

static void test_tree_notations(void **state)
{
    (void)state;
    repeat("tree notations", 1, try_tree_notations);
}

static void test_logic_notation(void **state)
{
    (void)state;
    repeat("logic notation", 2, try_logic_notation);
}

/* ---- formulas and trees -----------------------------------------------------------------------
 */

static int trees_found;

static void try_formula_to_tree(wfre_rng *rng, const brute_graph *graph)
{
    wfre_query query;
    brute_random_query(rng, graph, 1 + wfre_rng_below(rng, 5), &query);
    assert_ok(wfre_query_find_tree(&query, error));
    assert_true(!query.tree == !!query.not_a_tree);
    if (query.tree && brute_tree(graph, query.tree) != brute_formula(graph, &query)) {
        wfre_text text = {0};
        wfre_logic_print(&text, NULL, &query);
        wfre_text_add(&text, " is not ");
        wfre_tree_print(&text, NULL, query.tree);
        fail_msg("%s", text.data);
    }
    trees_found += query.tree != NULL;
    wfre_arena_free(&query.arena);
}

/* Trees become formulas with the same answers, and these become the same trees. */
static void try_tree_to_formula(wfre_rng *rng, const brute_graph *graph)
{
    wfre_query query = {0};
    const wfre_node *tree = brute_random_tree(&query.arena, rng, graph, 2 + wfre_rng_below(rng, 6));
    query.tree = tree;
    assert_ok(wfre_query_find_formula(&query, error));
    if (query.formula) {
        assert_int_equal(brute_tree(graph, tree), brute_formula(graph, &query));
        assert_ok(wfre_query_find_tree(&query, error));
        if (!query.tree || !wfre_node_equal(tree, query.tree)) {
            wfre_text text = {0};
            wfre_tree_print(&text, NULL, tree);
            fail_msg("%s: %s", text.data, query.not_a_tree ? query.not_a_tree : "another tree");
        }
        trees_found++;
    }
    wfre_arena_free(&query.arena);
}

static void test_formula_to_tree(void **state)
{
    (void)state;
    trees_found = 0;
    repeat("formula to tree", 3, try_formula_to_tree);
    print_message("%d of the formulas are trees\n", trees_found);
    assert_true(trees_found > TRIALS / 20);
}

static void test_tree_to_formula(void **state)
{
    (void)state;
    trees_found = 0;
    repeat("tree to formula", 4, try_tree_to_formula);
    print_message("%d of the trees have a formula\n", trees_found);
    assert_true(trees_found > TRIALS / 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tree_notations),
        cmocka_unit_test(test_logic_notation),
        cmocka_unit_test(test_formula_to_tree),
        cmocka_unit_test(test_tree_to_formula),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
