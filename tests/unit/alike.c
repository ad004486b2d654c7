/* What those do that share facts with the ends of an edge, where it can be counted by hand, and
 * where there is too much to look at all of it. */
#include "check.h"

#include <math.h>

#include "infer/alike.h"
#include "toy.h"

enum { SPEAKS = 2 }; /* the second relation */

static float gains[4096];

static void find(const wfre_graph *graph, wfre_relation relation, wfre_entity x)
{
    wfre_alike *alike = wfre_alike_create(wfre_graph_entities(graph));
    assert_non_null(alike);
    for (int again = 0; again < 2; again++) { /* the second finds nothing left of the first */
        memset(gains, 0, sizeof gains);
        wfre_alike_add(alike, wfre_graph_adjacency(graph, WFRE_TRAIN), relation, x, 1, gains);
    }
    wfre_alike_free(alike);
}

static bool near(float gain, double head, double tail)
{
    return fabs((double)gain - log(1 + 50 * head) - log(1 + 50 * tail)) < 1e-5;
}

static wfre_entity named(const wfre_graph *graph, const char *name)
{
    return wfre_graph_named_entity(graph, name, strlen(name));
}

/* `count` people p0, p1, ... of a town, of whom all but the first `silent` speak its language. */
static wfre_graph *town(int count, int silent)
{
    wfre_graph_builder *builder;
    wfre_graph *graph;
    assert_ok(wfre_graph_builder_create(&builder, error));
    for (int i = 0; i < count; i++) {
        char name[16];
        (void)snprintf(name, sizeof name, "p%d", i);
        toy_add(builder, name, "lives", "town");
        if (i >= silent)
            toy_add(builder, name, "speaks", "language");
    }
    assert_ok(wfre_graph_builder_finish(builder, &graph, error));
    wfre_graph_builder_free(builder);
    return graph;
}

static void test_others_of_the_head(void **state)
{
    (void)state;
    wfre_graph *graph = town(10, 3);
    find(graph, SPEAKS, named(graph, "p0"));
    assert_true(near(gains[named(graph, "language")], 7.0 / (9 + 5), 0));
    assert_true(near(gains[named(graph, "town")], 0, 0));
    find(graph, SPEAKS, named(graph, "p9")); /* who does already */
    assert_true(near(gains[named(graph, "language")], 0, 0));
    wfre_graph_close(graph);
}

static void test_others_of_the_tail(void **state)
{
    (void)state;
    wfre_graph *graph = town(10, 3);
    find(graph, SPEAKS ^ 1, named(graph, "language")); /* who speaks it? */
    for (int i = 0; i < 10; i++) {
        char name[16];
        (void)snprintf(name, sizeof name, "p%d", i);
        assert_true(near(gains[named(graph, name)], 0, i < 3 ? 7.0 / (10 + 5) : 0));
    }
    wfre_graph_close(graph);
}

/* One case is no case. */
static void test_few_say_nothing(void **state)
{
    (void)state;
    wfre_graph *graph = town(4, 3);
    find(graph, SPEAKS, named(graph, "p0"));
    assert_true(near(gains[named(graph, "language")], 0, 0));
    wfre_graph_close(graph);
}

/* Of so many that some stand for all, the shares are about right. */
static void test_many(void **state)
{
    (void)state;
    wfre_graph *graph = town(4000, 1000);
    find(graph, SPEAKS, named(graph, "p0"));
    double share = expm1((double)gains[named(graph, "language")]) / 50;
    assert_true(share > 0.65 && share < 0.85);
    find(graph, SPEAKS ^ 1, named(graph, "language"));
    share = expm1((double)gains[named(graph, "p1")]) / 50;
    assert_true(share > 0.65 && share < 0.85);
    assert_true(gains[named(graph, "p2000")] == 0);
    wfre_graph_close(graph);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_others_of_the_head), cmocka_unit_test(test_others_of_the_tail),
        cmocka_unit_test(test_few_say_nothing), cmocka_unit_test(test_many)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
