/* The strata of answers equal two brute-force definitions, on random graphs of up to 8 entities and
 * random trees: the fewest projections that must be allowed the larger graph's edges, found by
 * trying every set of projections; and the best of all ways to an answer, found by listing them.
 *
 * WFRE_SEED picks another seed, WFRE_CASES another number of cases. */
#include "exact/strata.h"
#include "check.h"
#include "toy.h"

enum { ENTITIES = 8, RELATIONS = 2, TREE_DEPTH = 5, MOST_ATOMS = 7, SIDE = MOST_ATOMS + 1 };

static uint64_t setting(const char *name, uint64_t fallback)
{
    const char *text = getenv(name);
    return text ? strtoull(text, NULL, 10) : fallback;
}

/* A graph and what it had before its last edges came. */
typedef struct nested {
    brute_graph all, known;
} nested;

static bool has(const brute_graph *graph, wfre_relation r, uint32_t h, uint32_t t)
{
    return r & 1 ? graph->edge[r / 2][t][h] : graph->edge[r / 2][h][t];
}

/* Projections that are not in a complement. */
static unsigned atoms_of(const wfre_node *tree)
{
    unsigned count = tree->op == WFRE_OP_PROJECT;
    if (tree->op == WFRE_OP_NEGATE)
        return 0;
    for (uint32_t i = 0; i < tree->child_count; i++)
        count += atoms_of(tree->children[i]);
    return count;
}

/* The answers if the projections whose bits are set, counted from the root down, may use all edges
 * and the others the known ones. */
static uint32_t answers_with(const nested *g, const wfre_node *tree, unsigned allowed,
                             unsigned *atom)
{
    uint32_t answers = tree->op == WFRE_OP_INTERSECT ? (1u << g->all.entities) - 1 : 0;
    const brute_graph *edges = &g->all;
    if (tree->op == WFRE_OP_ENTITY || tree->op == WFRE_OP_NEGATE)
        return brute_tree(&g->all, tree);
    if (tree->op == WFRE_OP_PROJECT)
        edges = allowed >> (*atom)++ & 1 ? &g->all : &g->known;
    for (uint32_t i = 0; i < tree->child_count; i++) {
        uint32_t child = answers_with(g, tree->children[i], allowed, atom);
        if (tree->op == WFRE_OP_INTERSECT)
            answers &= child;
        else if (tree->op == WFRE_OP_UNION)
            answers |= child;
        else
            for (uint32_t h = 0; h < g->all.entities; h++)
                for (uint32_t t = 0; t < g->all.entities; t++)
                    if (child >> h & 1 && has(edges, tree->id, h, t))
                        answers |= 1u << t;
    }
    return answers;
}

static uint32_t fewest_allowed(const nested *g, const wfre_node *tree, uint32_t entity)
{
    uint32_t fewest = WFRE_NONE;
    for (unsigned allowed = 0; allowed < 1u << atoms_of(tree); allowed++) {
        unsigned atom = 0;
        uint32_t count = (uint32_t)__builtin_popcount(allowed);
        if (count < fewest && answers_with(g, tree, allowed, &atom) >> entity & 1)
            fewest = count;
    }
    return fewest;
}

/* ways[m][k]: there is a way to the entity with m missing and k known edges. */
typedef struct ways {
    bool is[SIDE][SIDE];
} ways;

static ways both(const ways *a, const ways *b)
{
    ways sum = {0};
    for (int m = 0; m < SIDE; m++)
        for (int k = 0; k < SIDE; k++)
            for (int n = 0; a->is[m][k] && n < SIDE - m; n++)
                for (int l = 0; l < SIDE - k; l++)
                    sum.is[m + n][k + l] = sum.is[m + n][k + l] || b->is[n][l];
    return sum;
}

static void either(ways *a, const ways *b)
{
    for (int m = 0; m < SIDE; m++)
        for (int k = 0; k < SIDE; k++)
            a->is[m][k] = a->is[m][k] || b->is[m][k];
}

static ways ways_to(const nested *g, const wfre_node *tree, uint32_t entity)
{
    ways found = {0};
    if (tree->op == WFRE_OP_ENTITY || tree->op == WFRE_OP_NEGATE) {
        found.is[0][0] = brute_tree(&g->all, tree) >> entity & 1;
        return found;
    }
    if (tree->op == WFRE_OP_PROJECT) {
        for (uint32_t h = 0; h < g->all.entities; h++) {
            ways below = ways_to(g, tree->children[0], h), edge = {0};
            bool known = has(&g->known, tree->id, h, entity);
            edge.is[!known][known] = has(&g->all, tree->id, h, entity);
            below = both(&below, &edge);
            either(&found, &below);
        }
        return found;
    }
    found.is[0][0] = tree->op == WFRE_OP_INTERSECT;
    for (uint32_t i = 0; i < tree->child_count; i++) {
        ways child = ways_to(g, tree->children[i], entity);
        if (tree->op == WFRE_OP_INTERSECT)
            found = both(&found, &child);
        else
            either(&found, &child);
    }
    return found;
}

static wfre_stratum best_way(const nested *g, const wfre_node *tree, uint32_t entity)
{
    ways all = ways_to(g, tree, entity);
    for (uint32_t m = 0; m < SIDE; m++)
        for (uint32_t k = SIDE; k > 0; k--)
            if (all.is[m][k - 1])
                return (wfre_stratum){m, k - 1};
    return (wfre_stratum){WFRE_NONE, 0};
}

/* ---- cases -------------------------------------------------------------------------------- */

static wfre_graph *graph_of(const nested *g)
{
    wfre_graph_builder *builder;
    wfre_graph *graph;
    uint32_t id;
    assert_ok(wfre_graph_builder_create(&builder, error));
    for (uint32_t e = 0; e < g->all.entities; e++)
        assert_ok(wfre_graph_builder_entity(builder, &"abcdefgh"[e], 1, &id, error));
    for (uint32_t r = 0; r < g->all.relations; r++)
        assert_ok(wfre_graph_builder_relation(builder, &"rs"[r], 1, &id, error));
    for (uint32_t r = 0; r < g->all.relations; r++)
        for (uint32_t h = 0; h < g->all.entities; h++)
            for (uint32_t t = 0; t < g->all.entities; t++)
                if (g->all.edge[r][h][t])
                    assert_ok(wfre_graph_builder_triple(
                        builder, g->known.edge[r][h][t] ? WFRE_TRAIN : WFRE_VALID, h, 2 * r, t,
                        error));
    assert_ok(wfre_graph_builder_finish(builder, &graph, error));
    wfre_graph_builder_free(builder);
    return graph;
}

static void random_nested(wfre_rng *rng, nested *g)
{
    brute_random_graph(rng, ENTITIES, RELATIONS, &g->all);
    g->known = g->all;
    float lost = wfre_rng_float(rng);
    for (uint32_t r = 0; r < g->all.relations; r++)
        for (uint32_t h = 0; h < g->all.entities; h++)
            for (uint32_t t = 0; t < g->all.entities; t++)
                if (wfre_rng_float(rng) < lost)
                    g->known.edge[r][h][t] = false;
}

static uint64_t seed, current, partly, wholly;

static void check_case(wfre_rng *rng)
{
    static const wfre_entity EVERYTHING[ENTITIES] = {0, 1, 2, 3, 4, 5, 6, 7};
    nested g;
    wfre_arena arena = {0};
    wfre_stratum strata[ENTITIES];
    wfre_exact exact;
    random_nested(rng, &g);
    wfre_graph *graph = graph_of(&g);
    assert_ok(wfre_exact_open(&exact, graph, error));
    const wfre_node *tree = brute_random_tree(&arena, rng, &g.all, TREE_DEPTH);
    wfre_list everything = {EVERYTHING, g.all.entities};
    bool small = atoms_of(tree) <= MOST_ATOMS;
    if (small)
        assert_ok(wfre_exact_strata(&exact, WFRE_VALID, tree, everything, strata, error));
    for (uint32_t e = 0; small && e < g.all.entities; e++) {
        wfre_stratum expected = best_way(&g, tree, e);
        assert_int_equal(strata[e].missing, expected.missing);
        assert_int_equal(strata[e].known, expected.known);
        assert_int_equal(strata[e].missing, fewest_allowed(&g, tree, e));
        if (expected.missing != WFRE_NONE && expected.missing > 0)
            ++*(expected.known ? &partly : &wholly);
    }
    wfre_exact_close(&exact);
    wfre_graph_close(graph);
    wfre_arena_free(&arena);
}

static void strata_equal_brute_force(void **state)
{
    (void)state;
    uint64_t cases = setting("WFRE_CASES", 4000);
    for (current = 0; current < cases; current++) {
        wfre_rng rng = wfre_rng_keyed(seed, 0, current);
        check_case(&rng);
    }
    assert_true(partly > 0 && wholly > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(strata_equal_brute_force)};
    seed = setting("WFRE_SEED", 20250722);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    printf("seed %llu, %llu cases, %llu answers partly and %llu wholly predicted\n",
           (unsigned long long)seed, (unsigned long long)current, (unsigned long long)partly,
           (unsigned long long)wholly);
    return failed;
}
