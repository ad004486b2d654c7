/* Random queries: printing and parsing agree, and every rewriting keeps the answer set. */
#include "check.h"

#include "brute.h"
#include "query/normal.h"
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

/* ---- notations ---------------------------------------------------------------------------- */

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
    brute_random_question(rng, graph, 1 + wfre_rng_below(rng, 6), &query);
    wfre_text text = {0};
    wfre_logic_print(&text, NULL, &query);
    assert_ok(wfre_logic_parse(&again, NULL, text.data, text.length, error));
    bool same;
    assert_ok(wfre_query_same_formula(&query, &again, &same, error));
    if (!same)
        fail_msg("read back differently: %s", text.data);
    static uint32_t rows[BRUTE_ROWS * BRUTE_ASKED], others[BRUTE_ROWS * BRUTE_ASKED];
    size_t count = brute_rows(graph, &query, rows);
    assert_int_equal(count, brute_rows(graph, &again, others));
    if (count * query.asked > 0)
        assert_memory_equal(rows, others, count * query.asked * sizeof *rows);
    wfre_text_free(&text);
    wfre_arena_free(&query.arena);
    wfre_arena_free(&again.arena);
}

/* ---- building ----------------------------------------------------------------------------- */

typedef struct rebuilding {
    wfre_query_builder *builder;
    wfre_term variables[256];
} rebuilding;

static wfre_term rebuilt_term(const rebuilding *r, wfre_term term)
{
    return term.is_variable ? r->variables[term.id] : term;
}

static const wfre_formula *rebuild(rebuilding *r, const wfre_formula *formula)
{
    wfre_query_builder *b = r->builder;
    wfre_term left = rebuilt_term(r, formula->left), right = rebuilt_term(r, formula->right);
    const wfre_formula *children[3];
    assert_true(formula->child_count <= 3);
    for (uint32_t i = 0; i < formula->child_count; i++)
        children[i] = rebuild(r, formula->children[i]);
    switch (formula->kind) {
    case WFRE_ATOM:
        return wfre_build_atom(b, formula->relation, left, right);
    case WFRE_LINK:
        return wfre_build_link(b, r->variables[formula->variable], left, right);
    case WFRE_EQUAL:
        return wfre_build_equal(b, left, right);
    case WFRE_NOT:
        return wfre_build_not(b, children[0]);
    case WFRE_EXISTS:
        return wfre_build_exists(b, r->variables[formula->variable], children[0]);
    case WFRE_AND:
        return wfre_build_and(b, children, formula->child_count);
    default:
        return wfre_build_or(b, children, formula->child_count);
    }
}

/* Whether both are no tree for the same reason, or the same tree. */
static bool same_tree(const wfre_query *a, const wfre_query *b)
{
    if (a->tree && b->tree)
        return wfre_node_equal(a->tree, b->tree);
    return !a->tree && !b->tree && strcmp(a->not_a_tree, b->not_a_tree) == 0;
}

/* What is built is what is parsed. */
static void try_building(wfre_rng *rng, const brute_graph *graph)
{
    wfre_query query, *built, *parsed;
    rebuilding r = {0};
    wfre_text text = {0};
    bool same;
    brute_random_question(rng, graph, 1 + wfre_rng_below(rng, 5), &query);
    assert_true(query.variable_count <= 256);
    wfre_logic_print(&text, NULL, &query);
    assert_ok(wfre_query_parse(NULL, WFRE_NOTATION_AUTO, text.data, text.length, &parsed, error));
    assert_ok(wfre_query_builder_create(NULL, &r.builder, error));
    for (uint32_t v = 0; v < query.variable_count; v++)
        r.variables[v] = wfre_build_variable(r.builder, query.variable_names[v]);
    const wfre_formula *formula = rebuild(&r, query.formula);
    assert_ok(wfre_build_query(r.builder, r.variables, query.asked, formula, &built, error));
    wfre_query_builder_free(r.builder);
    assert_ok(wfre_query_same_formula(built, parsed, &same, error));
    if (!same || !same_tree(built, parsed))
        fail_msg("built and parsed differently: %s", text.data);
    for (uint32_t i = 0; i < query.asked; i++)
        assert_int_equal(wfre_query_column_is_relation(built, i),
                         wfre_query_column_is_relation(parsed, i));
    wfre_text_free(&text);
    wfre_query_free(built);
    wfre_query_free(parsed);
    wfre_arena_free(&query.arena);
}

static void test_building(void **state)
{
    (void)state;
    repeat("building", 7, try_building);
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

/* ---- formulas and trees ------------------------------------------------------------------- */

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

/* ---- normal forms ------------------------------------------------------------------------- */

/* Whether negation stands only on projections and entities, and unions only on top. */
static bool is_dnf(const wfre_node *node, bool on_top)
{
    wfre_op below = node->op == WFRE_OP_NEGATE ? node->children[0]->op : WFRE_OP_ENTITY;
    if ((node->op == WFRE_OP_UNION && !on_top) ||
        (below != WFRE_OP_ENTITY && below != WFRE_OP_PROJECT))
        return false;
    for (uint32_t i = 0; i < node->child_count; i++)
        if (!is_dnf(node->children[i], node->op == WFRE_OP_UNION))
            return false;
    return true;
}

/* Whether no node of this kind stands directly below another. */
static bool is_merged(const wfre_node *node, wfre_op op)
{
    for (uint32_t i = 0; i < node->child_count; i++)
        if ((node->op == op && node->children[i]->op == op) || !is_merged(node->children[i], op))
            return false;
    return true;
}

static void try_normal_forms(wfre_rng *rng, const brute_graph *graph)
{
    wfre_arena arena = {0};
    const wfre_node *tree = brute_random_tree(&arena, rng, graph, 1 + wfre_rng_below(rng, 6));
    uint32_t answers = brute_tree(graph, tree);
    assert_int_equal(answers, brute_tree(graph, wfre_tree_sort(&arena, tree)));
    for (int form = 0; form < WFRE_FORMS; form++) {
        const wfre_node *normal;
        wfre_error error;
        if (wfre_tree_normal(&arena, tree, (wfre_form)form, &normal, &error) != WFRE_OK) {
            assert_int_equal(error.code, WFRE_ERR_UNSUPPORTED);
            continue;
        }
        trees_found++;
        assert_int_equal(answers, brute_tree(graph, normal));
        bool demorgan = form == WFRE_FORM_DEMORGAN || form == WFRE_FORM_DEMORGAN_MULTI;
        bool multi = form == WFRE_FORM_DEMORGAN_MULTI || form == WFRE_FORM_DNF_MULTI;
        if (demorgan)
            assert_int_equal(wfre_tree_count(normal, WFRE_OP_UNION), 0);
        else if (form != WFRE_FORM_ORIGINAL)
            assert_true(is_dnf(normal, true));
        if (multi)
            assert_true(is_merged(normal, WFRE_OP_INTERSECT) && is_merged(normal, WFRE_OP_UNION));
    }
    wfre_arena_free(&arena);
}

static void test_normal_forms(void **state)
{
    (void)state;
    trees_found = 0;
    repeat("normal forms", 5, try_normal_forms);
    print_message("%d forms made\n", trees_found);
    assert_true(trees_found > (WFRE_FORMS * TRIALS / 100) * 95);
}

/* ---- formulas that were trees before someone rewrote them --------------------------------- */

typedef struct scrambler {
    wfre_rng *rng;
    wfre_arena *arena;
} scrambler;

static const wfre_formula *checked(const wfre_formula *formula)
{
    assert_non_null(formula);
    return formula;
}

/* !(!a | !b ...) for a & b ..., and the other way round. */
static const wfre_formula *de_morgan(scrambler *s, wfre_formula_kind kind,
                                     const wfre_formula **children, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        children[i] = checked(wfre_formula_not(s->arena, children[i]));
    kind = kind == WFRE_AND ? WFRE_OR : WFRE_AND;
    return wfre_formula_not(s->arena, checked(wfre_formula_join(s->arena, kind, children, count)));
}

/* exists y. (a & b ...) for a & (exists y. b) ...: variables are all different. */
static const wfre_formula *pull_quantifier(scrambler *s, const wfre_formula **children,
                                           uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        const wfre_formula *exists = children[i];
        if (exists->kind != WFRE_EXISTS || wfre_rng_below(s->rng, 3) == 0)
            continue;
        children[i] = exists->children[0];
        const wfre_formula *rest = pull_quantifier(s, children, count);
        return wfre_formula_exists(s->arena, exists->variable, checked(rest));
    }
    return wfre_formula_join(s->arena, WFRE_AND, children, count);
}

/* An equivalent formula: arguments in another order, negations moved, quantifiers pulled out. */
static const wfre_formula *scramble(scrambler *s, const wfre_formula *formula)
{
    const wfre_formula *children[256];
    uint32_t count = formula->child_count;
    assert_true(count <= 256);
    for (uint32_t i = 0; i < count; i++)
        children[i] = scramble(s, formula->children[i]);
    const wfre_formula *result = formula;
    uint32_t choice = wfre_rng_below(s->rng, 4);
    if (formula->kind == WFRE_AND || formula->kind == WFRE_OR) {
        uint32_t k = wfre_rng_below(s->rng, count);
        const wfre_formula *first = children[0];
        children[0] = children[k];
        children[k] = first;
        if (choice == 0)
            result = de_morgan(s, formula->kind, children, count);
        else if (formula->kind == WFRE_AND)
            result = pull_quantifier(s, children, count);
        else
            result = wfre_formula_join(s->arena, formula->kind, children, count);
    } else if (formula->kind == WFRE_NOT) {
        result = wfre_formula_not(s->arena, children[0]);
    } else if (formula->kind == WFRE_EXISTS) {
        result = wfre_formula_exists(s->arena, formula->variable, children[0]);
    }
    if (wfre_rng_below(s->rng, 8) == 0)
        result = wfre_formula_not(s->arena, checked(wfre_formula_not(s->arena, checked(result))));
    return checked(result);
}

static void try_scrambled(wfre_rng *rng, const brute_graph *graph)
{
    wfre_query query = {0};
    query.tree = brute_random_tree(&query.arena, rng, graph, 2 + wfre_rng_below(rng, 5));
    assert_ok(wfre_query_find_formula(&query, error));
    if (query.formula) {
        uint32_t answers = brute_tree(graph, query.tree);
        scrambler s = {rng, &query.arena};
        query.formula = scramble(&s, query.formula);
        assert_int_equal(answers, brute_formula(graph, &query));
        assert_ok(wfre_query_find_tree(&query, error));
        if (!query.tree || brute_tree(graph, query.tree) != answers) {
            wfre_text text = {0};
            wfre_logic_print(&text, NULL, &query);
            fail_msg("%s: %s", text.data, query.not_a_tree ? query.not_a_tree : "other answers");
        }
        trees_found++;
    }
    wfre_arena_free(&query.arena);
}

static void test_scrambled(void **state)
{
    (void)state;
    trees_found = 0;
    repeat("rewritten formulas", 6, try_scrambled);
    print_message("%d formulas rewritten\n", trees_found);
    assert_true(trees_found > TRIALS / 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tree_notations),  cmocka_unit_test(test_logic_notation),
        cmocka_unit_test(test_formula_to_tree), cmocka_unit_test(test_tree_to_formula),
        cmocka_unit_test(test_normal_forms),    cmocka_unit_test(test_scrambled),
        cmocka_unit_test(test_building),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
