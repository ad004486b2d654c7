/* The library misused: a child after fork, arguments left out, splits that do not exist. Each gets
 * a status, never a crash or an endless wait. */
#include "check.h"

#include <math.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/pool.h"
#include "toy.h"
#include "wfre.h"

static wfre_graph *graph;

static int build(void **state)
{
    (void)state;
    graph = toy_random_graph(3, 50, 2, 200);
    return 0;
}

static int clear(void **state)
{
    (void)state;
    wfre_graph_close(graph);
    return 0;
}

static void count(void *context, size_t chunk, unsigned worker)
{
    (void)worker;
    ((unsigned char *)context)[chunk] = 1;
}

/* The threads of a pool stay with the parent; in the child its work is done all the same, and so is
 * its end. */
static void pools_after_fork(void **state)
{
    (void)state;
    enum { CHUNKS = 500 };
    wfre_pool *pool;
    int status;
    assert_ok(wfre_pool_create(4, &pool, error));
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        unsigned char done[CHUNKS] = {0};
        bool all = true;
        alarm(60); /* instead of waiting for ever */
        wfre_pool_run(pool, CHUNKS, count, done);
        for (int i = 0; i < CHUNKS; i++)
            all = all && done[i];
        wfre_pool_free(pool);
        _exit(all ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    wfre_pool_free(pool);
}

static void splits_out_of_range(void **state)
{
    (void)state;
    static const int WRONG[] = {-1, 3, 1000000};
    wfre_exact *exact;
    wfre_query *query;
    wfre_list answers;
    wfre_degrees degrees;
    assert_ok(wfre_exact_create(graph, &exact, error));
    assert_ok(wfre_query_parse(graph, WFRE_NOTATION_LOGIC, "?x : r0(e1, ?x)", 15, &query, error));
    for (size_t i = 0; i < sizeof WRONG / sizeof WRONG[0]; i++) {
        wfre_split split = (wfre_split)WRONG[i];
        assert_int_equal(wfre_exact_answer(exact, split, query, 0, NULL, &answers, NULL),
                         WFRE_ERR_ARGUMENT);
        assert_int_equal(wfre_graph_degrees(graph, split, &degrees, NULL), WFRE_ERR_ARGUMENT);
        assert_int_equal(wfre_graph_triples(graph, split), 0);
        assert_int_equal(wfre_graph_targets(graph, split, 0, 1).count, 0);
        assert_int_equal(wfre_graph_sources(graph, split, 0).count, 0);
        assert_false(wfre_graph_has(graph, split, 0, 0, 1));
    }
    wfre_query_free(query);
    wfre_exact_free(exact);
}

static void arguments_left_out(void **state)
{
    (void)state;
    wfre_import_report report;
    wfre_graph *made = NULL;
    wfre_model *model = NULL;
    wfre_query *query = NULL;
    assert_int_equal(wfre_import(NULL, 0, NULL, "x.kg", NULL, &report, NULL), WFRE_ERR_ARGUMENT);
    assert_int_equal(wfre_import_graph(NULL, 0, NULL, NULL, &made, NULL, NULL), WFRE_ERR_ARGUMENT);
    assert_int_equal(wfre_graph_open(NULL, &made, NULL), WFRE_ERR_ARGUMENT);
    assert_int_equal(wfre_model_open(NULL, &model, NULL), WFRE_ERR_ARGUMENT);
    assert_int_equal(wfre_query_parse(graph, WFRE_NOTATION_AUTO, NULL, 0, &query, NULL),
                     WFRE_ERR_ARGUMENT);
    uint64_t triples = 0;
    assert_int_equal(wfre_graph_export(graph, WFRE_TEST, NULL, "nt", NULL, &triples, NULL),
                     WFRE_ERR_ARGUMENT);
    assert_int_equal(wfre_graph_export(graph, WFRE_TEST, NULL, NULL, NULL, &triples, NULL),
                     WFRE_ERR_ARGUMENT);
    assert_null(made);
    assert_null(model);
    assert_null(query);
}

static void shares_out_of_range(void **state)
{
    (void)state;
    static const double WRONG[] = {-0.1, 1, 2, NAN, INFINITY};
    static const size_t COUNTS[WFRE_SPLITS] = {1, 0, 0};
    static const wfre_named_triple TRIPLE = {{"a", 1}, {"r", 1}, {"b", 1}};
    wfre_graph *made = NULL;
    for (size_t i = 0; i < sizeof WRONG / sizeof WRONG[0]; i++) {
        wfre_import_options options = {.holdout = WRONG[i]};
        assert_int_equal(wfre_import_triples(&TRIPLE, COUNTS, &options, NULL, &made, NULL, NULL),
                         WFRE_ERR_ARGUMENT);
        assert_null(made);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pools_after_fork),
        cmocka_unit_test(splits_out_of_range),
        cmocka_unit_test(arguments_left_out),
        cmocka_unit_test(shares_out_of_range),
    };
    return cmocka_run_group_tests(tests, build, clear);
}
