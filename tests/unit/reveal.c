/* src/fit/reveal: the graph as it is when people ask, in which a half of what was held out is
 * known. */
#include "fit/reveal.h"

#include "check.h"
#include "toy.h"

enum { ENTITIES = 60, RELATIONS = 4, TRIPLES = 900 };

static wfre_graph *graph, *half[WFRE_PARTS];

static int build(void **state)
{
    (void)state;
    graph = toy_random_graph(5, ENTITIES, RELATIONS, TRIPLES);
    for (int h = 0; h < WFRE_PARTS; h++)
        assert_ok(wfre_reveal(graph, h, NULL, &half[h], error));
    return 0;
}

static int clear(void **state)
{
    (void)state;
    for (int h = 0; h < WFRE_PARTS; h++)
        wfre_graph_close(half[h]);
    wfre_graph_close(graph);
    return 0;
}

static bool has(const wfre_graph *g, wfre_split split, wfre_entity x, wfre_relation r,
                wfre_entity y)
{
    return wfre_list_has(wfre_graph_targets(g, split, r, x), y);
}

/* Every pair of entities and every relation, asked in all three graphs. */
static void reveals_each_held_out_fact_in_one_half(void **state)
{
    (void)state;
    size_t known[WFRE_PARTS] = {0};
    for (wfre_relation r = 0; r < 2 * RELATIONS; r++)
        for (wfre_entity x = 0; x < ENTITIES; x++)
            for (wfre_entity y = 0; y < ENTITIES; y++) {
                bool train = has(graph, WFRE_TRAIN, x, r, y);
                bool valid = has(graph, WFRE_VALID, x, r, y);
                bool test = has(graph, WFRE_TEST, x, r, y);
                int halves = 0;
                for (int h = 0; h < WFRE_PARTS; h++) {
                    bool is_known = has(half[h], WFRE_TRAIN, x, r, y);
                    assert_int_equal(has(half[h], WFRE_VALID, x, r, y), valid);
                    assert_int_equal(has(half[h], WFRE_TEST, x, r, y), test);
                    assert_true(is_known || !train);
                    assert_true(valid || !is_known);
                    halves += is_known;
                    known[h] += is_known && !train;
                }
                assert_int_equal(halves, train ? WFRE_PARTS : valid);
            }
    for (int h = 0; h < WFRE_PARTS; h++) /* directed: both halves of some 90 are large */
        assert_true(known[h] > 40);
}

static void keeps_ids(void **state)
{
    (void)state;
    for (int h = 0; h < WFRE_PARTS; h++) {
        assert_int_equal(wfre_graph_entities(half[h]), ENTITIES);
        assert_int_equal(wfre_graph_relations(half[h]), 2 * RELATIONS);
        for (wfre_entity e = 0; e < ENTITIES; e++)
            assert_string_equal(wfre_graph_entity_name(half[h], e).bytes,
                                wfre_graph_entity_name(graph, e).bytes);
        for (wfre_relation r = 0; r < 2 * RELATIONS; r += 2)
            assert_string_equal(wfre_graph_relation_name(half[h], r).bytes,
                                wfre_graph_relation_name(graph, r).bytes);
    }
}

static bool stop(void *context)
{
    return ++*(int *)context > 1;
}

static void stops_when_asked_to(void **state)
{
    (void)state;
    int calls = 0;
    wfre_monitor monitor = {.interrupted = stop, .context = &calls};
    wfre_graph *revealed = NULL;
    wfre_error why;
    assert_int_equal(wfre_reveal(graph, 0, &monitor, &revealed, &why), WFRE_ERR_INTERRUPTED);
    assert_null(revealed);
}

static wfre_status reveal(void *context)
{
    (void)context;
    wfre_error why;
    wfre_graph *revealed = NULL;
    wfre_status status = wfre_reveal(graph, 1, NULL, &revealed, &why);
    wfre_graph_close(revealed);
    return status;
}

static void survives_out_of_memory(void **state)
{
    (void)state;
    sweep_allocations(reveal, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reveals_each_held_out_fact_in_one_half),
        cmocka_unit_test(keeps_ids),
        cmocka_unit_test(stops_when_asked_to),
        cmocka_unit_test(survives_out_of_memory),
    };
    return cmocka_run_group_tests(tests, build, clear);
}
