/* src/graph/missing: what degrees and loops say of edges that are missing. */
#include "graph/missing.h"

#include <math.h>

#include "check.h"
#include "toy.h"

/* r0: a loop and another edge; r1: a chain of three edges, none of them a loop. */
static wfre_graph *make_graph(void)
{
    wfre_graph_builder *builder = NULL;
    wfre_graph *graph = NULL;
    assert_ok(wfre_graph_builder_create(&builder, error));
    toy_add(builder, "a", "r0", "a");
    toy_add(builder, "b", "r0", "c");
    toy_add(builder, "a", "r1", "b");
    toy_add(builder, "b", "r1", "c");
    toy_add(builder, "c", "r1", "d");
    assert_ok(wfre_graph_builder_finish(builder, &graph, error));
    wfre_graph_builder_free(builder);
    return graph;
}

static void expects_loops_as_there_are(void **state)
{
    (void)state;
    wfre_graph *graph = make_graph();
    wfre_missing_counts missing;
    assert_ok(wfre_missing_counts_measure(graph, WFRE_TRAIN, &missing, error));
    for (wfre_relation r = 0; r < 2; r++)
        assert_true(fabs((double)missing.loops[r] - log(2 / 3.0)) < 1e-6);
    for (wfre_relation r = 2; r < 4; r++)
        assert_true(fabs((double)missing.loops[r] + log(4)) < 1e-6);
    wfre_missing_counts_free(&missing);
    wfre_graph_close(graph);
}

/* Of four entities three have one edge of r1, none has two: who has none lacks more. */
static void expects_more_where_others_have_more(void **state)
{
    (void)state;
    wfre_graph *graph = make_graph();
    wfre_missing_counts missing;
    assert_ok(wfre_missing_counts_measure(graph, WFRE_TRAIN, &missing, error));
    double none = (double)wfre_missing_counts_log(&missing, 2, 0);
    double one = (double)wfre_missing_counts_log(&missing, 2, 1);
    assert_true(fabs(none - log((3 + 1) / (0.2 * 3 + 1))) < 1e-6);
    assert_true(fabs(one - log(2 * 1 / (3 + 1.0))) < 1e-6);
    wfre_missing_counts_free(&missing);
    wfre_graph_close(graph);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(expects_loops_as_there_are),
        cmocka_unit_test(expects_more_where_others_have_more),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
