/* src/measure/metrics and src/eval: standings, averages, intervals, files of scores. */
#include "check.h"

#include <math.h>
#include <unistd.h>

#include "base/file.h"
#include "base/text.h"
#include "eval/evaluation.h"
#include "graph/graph.h"
#include "star.h"

static char folder[] = "/tmp/wfre-eval-XXXXXX";
static char queries_path[64], scores_path[64];
static wfre_graph *graph; /* entities 0 .. 9, one relation */

static int set_up(void **state)
{
    (void)state;
    if (!mkdtemp(folder))
        return 1;
    (void)snprintf(queries_path, sizeof queries_path, "%s/q.tsv", folder);
    (void)snprintf(scores_path, sizeof scores_path, "%s/s.tsv", folder);
    graph = star_graph(10);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    wfre_graph_close(graph);
    unlink(queries_path);
    unlink(scores_path);
    return rmdir(folder);
}

static void write_files(const char *queries, const char *scores)
{
    assert_ok(wfre_write_file(queries_path, queries, strlen(queries), error));
    assert_ok(wfre_write_file(scores_path, scores, strlen(scores), error));
}

static wfre_status evaluate(uint64_t seed, wfre_pool *pool, wfre_evaluation **evaluation,
                            wfre_error *error)
{
    wfre_eval_options options;
    wfre_eval_options_default(&options);
    options.seed = seed;
    return wfre_evaluate_scores(graph, queries_path, scores_path, &options, pool, NULL, evaluation,
                                error);
}

static void test_standings(void **state)
{
    (void)state;
    /* Answers: 0 easy, 1 and 4 hard. Non-answers score 5 3 3 1 at 2 3 5 6. */
    const float scores[] = {9, 3, 5, 3, 4, 3, 1};
    wfre_entity easy[] = {0}, hard[] = {1, 4};
    wfre_standing standings[2];
    wfre_standings_scratch scratch = {0};
    assert_ok(wfre_standings_count(&scratch, scores, 7, (wfre_list){easy, 1}, (wfre_list){hard, 2},
                                   standings, error));
    wfre_standings_free(&scratch);
    assert_int_equal(standings[0].above, 1);
    assert_int_equal(standings[0].tied, 2);
    assert_int_equal(standings[1].above, 1);
    assert_int_equal(standings[1].tied, 0);
    assert_true(wfre_standing_rank(standings[0]) == 3);
    wfre_metrics metrics = wfre_metrics_of(standings, 2);
    assert_true(fabs(metrics.mrr - (1 / 3.0 + 1 / 2.0) / 2) < 1e-15);
    assert_true(metrics.hits1 == 0 && metrics.hits3 == 1 && metrics.hits10 == 1);
}

static void test_types_and_order(void **state)
{
    (void)state;
    write_files("2in\t(i,(n,(p,#0,(e,#1))),(p,#1,(e,#2)))\t\t1\n"
                "zeta\t(p,#0,(e,#1))\t\t1\n"
                "up\t(p,#0,(u,(p,#0,(e,#1)),(p,#1,(e,#2))))\t\t1 2\n"
                "pi\t(i,(p,#0,(p,#0,(e,#1))),(p,#1,(e,#2)))\t1\t\n"
                "1p\t(p,#0,(e,#1))\t\t3\n",
                "4\t3\t1\n0\t1\t2\n1\t5\t2\n2\t2\t1e300\n2\t1\t-inf\n3\t0\t1\n");
    wfre_evaluation *evaluation = NULL;
    assert_ok(evaluate(1, NULL, &evaluation, error));
    const char *expected[] = {"1p", "up", "zeta", "2in"};
    assert_int_equal(wfre_evaluation_types(evaluation), 4);
    for (size_t i = 0; i < 4; i++)
        assert_string_equal(wfre_evaluation_type(evaluation, i)->name, expected[i]);
    assert_null(wfre_evaluation_type(evaluation, 4));
    const wfre_evaluation_info *info = wfre_evaluation_get_info(evaluation);
    assert_int_equal(info->unranked, 1);
    assert_string_equal(info->label, "s.tsv");
    /* up: entity 2 first, entity 1 last of those listed but before 7 that are not. */
    assert_true(wfre_evaluation_type(evaluation, 1)->mean.mrr == 1);
    assert_int_equal(wfre_evaluation_type(evaluation, 1)->answers, 2);
    /* zeta: 5 is above entity 1, and 8 others tie with it: rank 2 + 8 / 2. */
    assert_true(fabs(wfre_evaluation_type(evaluation, 2)->mean.mrr - 1 / 6.0) < 1e-15);
    assert_int_equal(wfre_evaluation_group(evaluation, WFRE_GROUP_PATHS)->types, 2);
    assert_int_equal(wfre_evaluation_group(evaluation, WFRE_GROUP_POSITIVE)->types, 3);
    assert_int_equal(wfre_evaluation_group(evaluation, WFRE_GROUP_NEGATIVE)->types, 1);
    assert_int_equal(evaluation->types[1].anchors, 2);
    assert_int_equal(evaluation->types[1].depth, 2);
    assert_int_equal(evaluation->types[1].ranks[0], 2);
    assert_int_equal(evaluation->types[2].ranks[2], 1);
    wfre_evaluation_free(evaluation);
}

static void test_ranking_without_scores(void **state)
{
    (void)state;
    write_files("1p\t(p,#0,(e,#1))\t7\t3\n1p\t(p,#0,(e,#2))\t\t4\n",
                "# best first\n1\t4\n1\t5\n0\t7\n0\t9\n0\t8\n0\t3\n");
    wfre_evaluation *evaluation = NULL;
    assert_ok(evaluate(1, NULL, &evaluation, error));
    assert_true(wfre_evaluation_type(evaluation, 0)->mean.mrr == (1 / 3.0 + 1) / 2);
    wfre_evaluation_free(evaluation);
}

/* a -> b is known, and so is b -> c; a -> d, d -> e and b -> e came later. */
static wfre_graph *grown_graph(void)
{
    static const uint8_t EDGES[][3] = {{0, 1, WFRE_TRAIN},
                                       {1, 2, WFRE_TRAIN},
                                       {0, 3, WFRE_VALID},
                                       {3, 5, WFRE_VALID},
                                       {1, 4, WFRE_VALID}};
    wfre_graph_builder *builder;
    wfre_graph *made;
    uint32_t id;
    assert_ok(wfre_graph_builder_create(&builder, error));
    for (int i = 0; i < 6; i++)
        assert_ok(wfre_graph_builder_entity(builder, &"abcdef"[i], 1, &id, error));
    assert_ok(wfre_graph_builder_relation(builder, "r", 1, &id, error));
    for (size_t i = 0; i < sizeof EDGES / sizeof EDGES[0]; i++)
        assert_ok(wfre_graph_builder_triple(builder, (wfre_split)EDGES[i][2], EDGES[i][0], 0,
                                            EDGES[i][1], error));
    assert_ok(wfre_graph_builder_finish(builder, &made, error));
    wfre_graph_builder_free(builder);
    return made;
}

static void check_stratum(const wfre_evaluation_stratum *stratum, const char *name, bool whole,
                          uint32_t missing, uint64_t answers, double mrr)
{
    assert_non_null(stratum);
    assert_string_equal(stratum->row.name, name);
    assert_int_equal(stratum->whole, whole);
    assert_int_equal(stratum->missing, missing);
    assert_int_equal(stratum->row.answers, answers);
    assert_true(fabs(stratum->row.mean.mrr - mrr) < 1e-15);
    assert_true(stratum->row.mrr_low <= mrr && mrr <= stratum->row.mrr_high);
}

static wfre_status evaluate_strata(void *context)
{
    wfre_evaluation *evaluation = NULL;
    wfre_eval_options options;
    wfre_eval_options_default(&options);
    options.strata = true;
    wfre_status status = wfre_evaluate_scores(context, queries_path, scores_path, &options, NULL,
                                              NULL, &evaluation, NULL);
    if (status == WFRE_OK) {
        assert_int_equal(wfre_evaluation_strata(evaluation), 3);
        check_stratum(wfre_evaluation_get_stratum(evaluation, 0), "1p, all 1 missing", true, 1, 1,
                      1);
        check_stratum(wfre_evaluation_get_stratum(evaluation, 1), "2p, 1 missing", false, 1, 1, 1);
        check_stratum(wfre_evaluation_get_stratum(evaluation, 2), "2p, all 2 missing", true, 2, 1,
                      1 / 3.0);
        assert_null(wfre_evaluation_get_stratum(evaluation, 3));
    }
    wfre_evaluation_free(evaluation);
    return status;
}

/* To e in two steps one edge must be predicted, to f both; e stands first, f behind two others. */
static void test_strata(void **state)
{
    (void)state;
    wfre_graph *grown = grown_graph();
    write_files("2p\t(p,#0,(p,#0,(e,#0)))\t2\t4 5\n1p\t(p,#0,(e,#0))\t1\t3\n",
                "0\t4\n0\t0\n0\t1\n0\t5\n1\t3\n");
    assert_int_equal(evaluate_strata(grown), WFRE_OK);
    sweep_allocations(evaluate_strata, grown);
    write_files("1p\t(p,#0,(e,#0))\t1\t5\n", "0\t5\n"); /* not an answer there */
    assert_int_equal(evaluate_strata(grown), WFRE_ERR_MISMATCH);
    wfre_graph_close(grown);
}

/* 200 queries whose only hard answer has rank 1 or 2, in turns. */
static void write_alternating(void)
{
    wfre_text queries = {0}, scores = {0};
    for (int q = 0; q < 200; q++) {
        wfre_text_add(&queries, "1p\t(p,#0,(e,#1))\t\t3\n");
        wfre_text_format(&scores, "%d\t3\t1\n%d\t4\t%d\n", q, q, q % 2 * 2);
    }
    write_files(queries.data, scores.data);
    wfre_text_free(&queries);
    wfre_text_free(&scores);
}

static void test_interval(void **state)
{
    (void)state;
    write_alternating();
    wfre_pool *pool;
    assert_ok(wfre_pool_create(3, &pool, error));
    wfre_evaluation *one = NULL, *two = NULL, *other = NULL;
    assert_ok(evaluate(7, NULL, &one, error));
    assert_ok(evaluate(7, pool, &two, error));
    assert_ok(evaluate(8, pool, &other, error));
    const wfre_evaluation_row *row = wfre_evaluation_type(one, 0);
    /* Standard error of the mean: 0.25 / sqrt(200). */
    double half_width = 1.96 * 0.25 / sqrt(200);
    assert_true(fabs(row->mean.mrr - 0.75) < 1e-12);
    assert_true(fabs(row->mrr_low - (0.75 - half_width)) < 0.005);
    assert_true(fabs(row->mrr_high - (0.75 + half_width)) < 0.005);
    assert_true(row->mrr_low == wfre_evaluation_type(two, 0)->mrr_low);
    assert_true(row->mrr_high == wfre_evaluation_type(two, 0)->mrr_high);
    assert_true(wfre_evaluation_group(one, WFRE_GROUP_ALL)->mrr_low == row->mrr_low);
    assert_true(fabs(wfre_evaluation_type(other, 0)->mrr_low - row->mrr_low) < 0.01);
    wfre_evaluation_free(one);
    wfre_evaluation_free(two);
    wfre_evaluation_free(other);
    wfre_pool_free(pool);
}

static void test_bad_scores(void **state)
{
    (void)state;
    static const struct {
        const char *scores, *message;
    } CASES[] = {
        {"0\t1\t2\n0\t1\t3\n1\t1\t1\n", "twice"},
        {"0\t1\t2\n", "no scores for query 1"},
        {"", "no scores for query 0 and others"},
        {"0\t1\t2\n1\t1\t2\n0\t2\t2\n", "s.tsv:3: the lines of a query must stand together"},
        {"0\t1\t2\n1\t1\n", "some lines have a score"},
        {"0\t10\t2\n", "s.tsv:1: the second column"},
        {"2\t1\t2\n", "s.tsv:1: it must start with the number of a query"},
        {"0\t1\tnan\n", "the third column must be a number"},
        {"0\t1\t2 3\n", "the third column must be a number"},
        {"0\t1\t\n", "the third column must be a number"},
        {"-1\t1\t2\n", "it must start with"},
        {"0 1 2\n", "it must start with"},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        write_files("1p\t(p,#0,(e,#1))\t\t3\n1p\t(p,#0,(e,#2))\t\t4\n", CASES[i].scores);
        wfre_evaluation *evaluation = NULL;
        wfre_error error = {0};
        assert_int_equal(evaluate(1, NULL, &evaluation, &error), WFRE_ERR_FORMAT);
        assert_non_null(strstr(error.message, CASES[i].message));
        assert_null(evaluation);
    }
}

/* Of text that goes on behind a zero byte, no part is taken for a line. */
static void test_zero_byte(void **state)
{
    (void)state;
    static const char scores[] = "0\t3\0\t2\n";
    write_files("1p\t(p,#0,(e,#1))\t\t3\n", "");
    assert_ok(wfre_write_file(scores_path, scores, sizeof scores - 1, error));
    wfre_evaluation *evaluation = NULL;
    wfre_error error = {0};
    assert_int_equal(evaluate(1, NULL, &evaluation, &error), WFRE_ERR_FORMAT);
    assert_non_null(strstr(error.message, "s.tsv:1: it has a zero byte"));
}

static void test_nothing_to_rank(void **state)
{
    (void)state;
    write_files("1p\t(p,#0,(e,#1))\t3\t\n", "0\t3\t1\n");
    wfre_evaluation *evaluation = NULL;
    wfre_error error = {0};
    assert_int_equal(evaluate(1, NULL, &evaluation, &error), WFRE_ERR_FORMAT);
    assert_non_null(strstr(error.message, "q.tsv: no query has a hard answer"));
}

static wfre_status attempt(void *context)
{
    (void)context;
    wfre_evaluation *evaluation = NULL;
    wfre_status status = evaluate(1, NULL, &evaluation, NULL);
    wfre_evaluation_free(evaluation);
    return status;
}

static void test_out_of_memory(void **state)
{
    (void)state;
    write_files("1p\t(p,#0,(e,#1))\t\t3\n1p\t(p,#0,(e,#2))\t\t4\n", "0\t1\t2\n1\t1\t2\n1\t4\t2\n");
    sweep_allocations(attempt, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_standings),     cmocka_unit_test(test_types_and_order),
        cmocka_unit_test(test_strata),        cmocka_unit_test(test_ranking_without_scores),
        cmocka_unit_test(test_interval),      cmocka_unit_test(test_bad_scores),
        cmocka_unit_test(test_zero_byte),     cmocka_unit_test(test_nothing_to_rank),
        cmocka_unit_test(test_out_of_memory),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
