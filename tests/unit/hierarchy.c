/* Degrees and hierarchy measures against plain definitions on small graphs. */
#include "check.h"

#include <math.h>

#include "base/rng.h"
#include "graph/graph.h"

enum { MOST = 24 };

static wfre_graph *build(uint32_t nodes, const bool edge[MOST][MOST])
{
    wfre_graph_builder *builder;
    wfre_graph *graph;
    uint32_t id;
    assert_ok(wfre_graph_builder_create(&builder, error));
    for (uint32_t i = 0; i < nodes; i++) {
        char name[8];
        int length = snprintf(name, sizeof name, "n%u", i);
        assert_ok(wfre_graph_builder_entity(builder, name, (size_t)length, &id, error));
    }
    assert_ok(wfre_graph_builder_relation(builder, "r", 1, &id, error));
    for (uint32_t i = 0; i < nodes; i++)
        for (uint32_t j = 0; j < nodes; j++)
            if (edge[i][j])
                assert_ok(wfre_graph_builder_triple(builder, WFRE_TRAIN, i, 0, j, error));
    assert_ok(wfre_graph_builder_finish(builder, &graph, error));
    wfre_graph_builder_free(builder);
    return graph;
}

/* Of the pairs joined in `joined`, the share not joined the other way. */
static double asymmetry(uint32_t nodes, const bool joined[MOST][MOST])
{
    double pairs = 0, back = 0;
    for (uint32_t i = 0; i < nodes; i++)
        for (uint32_t j = 0; j < nodes; j++)
            if (i != j && joined[i][j]) {
                pairs++;
                back += joined[j][i];
            }
    return pairs > 0 ? 1 - back / pairs : 0;
}

static void check_random(uint64_t seed, wfre_pool *pool)
{
    wfre_rng rng = wfre_rng_keyed(seed, 0, 0);
    uint32_t nodes = 1 + wfre_rng_below(&rng, MOST), sum = 0, degree[MOST] = {0};
    bool edge[MOST][MOST] = {{false}}, path[MOST][MOST];
    float density = 0.3f * wfre_rng_float(&rng);
    for (uint32_t i = 0; i < nodes; i++)
        for (uint32_t j = 0; j < nodes; j++) {
            edge[i][j] = wfre_rng_float(&rng) < density;
            degree[i] += edge[i][j], degree[j] += edge[i][j], sum += edge[i][j];
        }
    memcpy(path, edge, sizeof path);
    for (uint32_t k = 0; k < nodes; k++)
        for (uint32_t i = 0; i < nodes; i++)
            for (uint32_t j = 0; j < nodes; j++)
                path[i][j] |= path[i][k] && path[k][j];
    wfre_graph *graph = build(nodes, (const bool(*)[MOST])edge);
    wfre_hierarchy one, two;
    assert_ok(wfre_graph_hierarchy(graph, WFRE_TRAIN, 0, 50, seed, NULL, &one, error));
    assert_ok(wfre_graph_hierarchy(graph, WFRE_TRAIN, 0, 50, seed, pool, &two, error));
    assert_memory_equal(&one.krackhardt, &two.krackhardt, sizeof one.krackhardt);
    assert_true(one.curvature == two.curvature || (isnan(one.curvature) && isnan(two.curvature)));
    assert_true(fabs(one.krackhardt - asymmetry(nodes, (const bool(*)[MOST])path)) < 1e-12);
    assert_true(fabs(one.one_way - asymmetry(nodes, (const bool(*)[MOST])edge)) < 1e-12);
    wfre_degrees degrees;
    uint32_t unconnected = 0, maximum = 0;
    for (uint32_t i = 0; i < nodes; i++) {
        unconnected += degree[i] == 0;
        maximum = degree[i] > maximum ? degree[i] : maximum;
    }
    assert_ok(wfre_graph_degrees(graph, WFRE_TRAIN, &degrees, error));
    assert_int_equal(degrees.unconnected, unconnected);
    assert_int_equal(degrees.maximum, maximum);
    assert_int_equal(degree[degrees.hub], maximum);
    assert_true(fabs(degrees.mean - 2.0 * sum / nodes) < 1e-12);
    assert_int_equal(wfre_graph_relation_triples(graph, WFRE_TRAIN, 0), sum);
    wfre_graph_close(graph);
}

static void test_random(void **state)
{
    (void)state;
    wfre_pool *pool;
    assert_ok(wfre_pool_create(3, &pool, error));
    for (uint64_t seed = 0; seed < 300; seed++)
        check_random(seed, pool);
    wfre_pool_free(pool);
}

/* A star: from any leaf a, with b and c two other leaves and the centre between them,
 * (1 + 4/4 - (4 + 4)/2) / 2 = -1. With a the centre there is no triangle. */
static void test_star(void **state)
{
    (void)state;
    bool edge[MOST][MOST] = {{false}};
    for (int i = 1; i < 10; i++)
        edge[i][0] = true;
    wfre_graph *graph = build(10, (const bool(*)[MOST])edge);
    wfre_hierarchy found;
    assert_ok(wfre_graph_hierarchy(graph, WFRE_TRAIN, 0, 0, 1, NULL, &found, error));
    assert_true(found.curvature == -1.0);
    assert_int_equal(found.triangles, 1000);
    assert_int_equal(found.entities, 10);
    assert_true(found.krackhardt == 1.0);
    wfre_graph_close(graph);
}

/* A ring of four: opposite corners b and c, a the third: (4 + 4/4 - (1 + 1)/2) / 4 = 1, m = a
 * aside.
 */
static void test_ring(void **state)
{
    (void)state;
    bool edge[MOST][MOST] = {{false}};
    for (int i = 0; i < 4; i++)
        edge[i][(i + 1) % 4] = true;
    wfre_graph *graph = build(4, (const bool(*)[MOST])edge);
    wfre_hierarchy found;
    assert_ok(wfre_graph_hierarchy(graph, WFRE_TRAIN, 0, 200, 1, NULL, &found, error));
    assert_true(found.curvature == 1.0);
    assert_true(found.krackhardt == 0.0); /* every pair has a path back */
    assert_true(found.one_way == 1.0);
    wfre_graph_close(graph);
}

static void test_nothing(void **state)
{
    (void)state;
    bool edge[MOST][MOST] = {{false}};
    edge[0][1] = edge[2][2] = true;
    wfre_graph *graph = build(3, (const bool(*)[MOST])edge);
    wfre_hierarchy found;
    assert_ok(wfre_graph_hierarchy(graph, WFRE_TRAIN, 0, 10, 1, NULL, &found, error));
    assert_true(isnan(found.curvature));
    assert_int_equal(found.triangles, 0);
    assert_int_equal(found.edges, 1); /* the loop does not count */
    assert_int_equal(wfre_graph_hierarchy(graph, WFRE_TRAIN, 2, 10, 1, NULL, &found, NULL),
                     WFRE_ERR_ARGUMENT);
    wfre_graph_close(graph);
}

static wfre_status attempt_measures(void *graph)
{
    wfre_hierarchy hierarchy;
    wfre_degrees degrees;
    wfre_status status = wfre_graph_hierarchy(graph, WFRE_TRAIN, 0, 10, 1, NULL, &hierarchy, NULL);
    return status == WFRE_OK ? wfre_graph_degrees(graph, WFRE_TRAIN, &degrees, NULL) : status;
}

static void test_memory(void **state)
{
    (void)state;
    bool edge[MOST][MOST] = {{false}};
    edge[0][1] = edge[1][2] = true;
    wfre_graph *graph = build(3, (const bool(*)[MOST])edge);
    sweep_allocations(attempt_measures, graph);
    wfre_graph_close(graph);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random),  cmocka_unit_test(test_star),   cmocka_unit_test(test_ring),
        cmocka_unit_test(test_nothing), cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
