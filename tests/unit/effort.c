/* src/train/effort: short runs on large graphs are not spent on looking at what was learned. */
#include "check.h"

#include <string.h>

#include "toy.h"
#include "train/effort.h"

static wfre_effort effort_of(const wfre_graph *graph, uint64_t steps)
{
    wfre_train_settings settings = {
        .steps = steps, .seconds = 100, .batch = 512, .negatives = 1000};
    wfre_train_run run = {.validate = 20, .calibrate = 200};
    settings.candidates = WFRE_CANDIDATES_SHARED;
    return wfre_effort_of(graph, &settings, &run);
}

static void small_graphs_have_all(void **state)
{
    (void)state;
    wfre_graph *graph = toy_random_graph(6, 40, 4, 300);
    wfre_effort one = effort_of(graph, 1), timed = effort_of(graph, 0);
    assert_int_equal(one.validations, timed.validations);
    assert_true(one.share == 1 && timed.share == 1);
    assert_int_equal(one.calibrate, 200);
    assert_int_equal(one.measure, timed.measure);
    wfre_graph_close(graph);
}

static void large_graphs_have_as_much_as_they_learn(void **state)
{
    (void)state;
    wfre_graph *graph = toy_pairs_graph(60000);
    wfre_effort before = effort_of(graph, 60), timed = effort_of(graph, 0);
    assert_int_equal(before.validations, 1);
    assert_true(before.share > 0 && before.share < 0.1);
    assert_true(before.calibrate > 0 && before.calibrate <= 20);
    assert_true(before.measure > 0 && before.measure_triples > 0);
    for (uint64_t steps = 1000; steps <= 1000000; steps *= 10) {
        wfre_effort effort = effort_of(graph, steps);
        assert_true(effort.share >= before.share && effort.validations >= before.validations);
        before = effort;
    }
    assert_true(before.share == 1);
    assert_int_equal(before.validations, timed.validations);
    assert_int_equal(before.measure_triples, timed.measure_triples);
    wfre_graph_close(graph);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_graphs_have_all),
        cmocka_unit_test(large_graphs_have_as_much_as_they_learn),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
