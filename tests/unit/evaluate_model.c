/* src/eval/evaluate_model: evaluating a model, interrupted and resumed, with every treatment of
 * unions. */
#include "check.h"

#include <math.h>
#include <unistd.h>

#include "base/file.h"
#include "base/text.h"
#include "eval/evaluation.h"
#include "eval/partial.h"
#include "measure/rank.h"
#include "star.h"

enum { ENTITIES = 30, QUERIES = 600 };

static char folder[] = "/tmp/wfre-evaluate-XXXXXX";
static char queries_path[64], partial_path[64];
static wfre_graph *graph;
static wfre_model *model;

static int set_up(void **state)
{
    (void)state;
    if (!mkdtemp(folder))
        return 1;
    (void)snprintf(queries_path, sizeof queries_path, "%s/q.tsv", folder);
    (void)snprintf(partial_path, sizeof partial_path, "%s/m.partial", folder);
    graph = star_graph(ENTITIES);
    wfre_model_settings settings;
    wfre_model_settings_default(&settings);
    settings.dim = 20;
    settings.bases = 2;
    settings.score.iterations = 2;
    assert_ok(wfre_model_create(graph, &settings, 1, &model, error));
    wfre_text queries = {0};
    for (int q = 0; q < QUERIES; q++) {
        int e = q % ENTITIES, f = q * 7 % ENTITIES;
        if (q % 3 == 0)
            wfre_text_format(&queries, "1p\t(p,#0,(e,#%d))\t3\t%d 29\n", e, 4 + q % 20);
        else if (q % 6 == 1)
            wfre_text_format(&queries, "2u\t(u,(p,#0,(e,#%d)),(p,#1,(e,#%d)))\t\t1 28\n", e, f);
        else if (q % 6 == 4) /* a union in disguise: p & !(q & r) */
            wfre_text_format(&queries,
                             "hidden\t(i,(p,#1,(e,#%d)),(n,(i,(p,#0,(e,#%d)),(p,#1,(e,#%d)))))"
                             "\t\t1 28\n",
                             q * 11 % ENTITIES, e, f);
        else
            wfre_text_format(&queries, "2in\t(i,(n,(p,#0,(e,#%d))),(p,#1,(e,#%d)))\t2\t\n", e, f);
    }
    assert_ok(wfre_write_file(queries_path, queries.data, queries.length, error));
    wfre_text_free(&queries);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    wfre_model_free(model);
    wfre_graph_close(graph);
    unlink(queries_path);
    unlink(partial_path);
    return rmdir(folder);
}

static wfre_eval_options options_for(const char *partial)
{
    wfre_eval_options options;
    wfre_eval_options_default(&options);
    options.partial = partial;
    return options;
}

static void assert_same(const wfre_evaluation *a, const wfre_evaluation *b)
{
    assert_int_equal(a->standing_count, b->standing_count);
    assert_memory_equal(a->standings, b->standings, a->standing_count * sizeof *a->standings);
    assert_true(a->groups[WFRE_GROUP_ALL].mean.mrr == b->groups[WFRE_GROUP_ALL].mean.mrr);
}

static wfre_evaluation *evaluate(const wfre_eval_options *options)
{
    wfre_evaluation *evaluation;
    assert_ok(
        wfre_evaluate_model(graph, model, queries_path, options, NULL, NULL, &evaluation, error));
    return evaluation;
}

static void test_counts(void **state)
{
    (void)state;
    wfre_eval_options options = options_for(NULL);
    wfre_evaluation *evaluation = evaluate(&options);
    const wfre_evaluation_info *info = wfre_evaluation_get_info(evaluation);
    assert_string_equal(info->method, "exhaustive"); /* too few entities for a filter */
    assert_string_equal(info->label, "model");
    assert_int_equal(info->unranked, QUERIES / 3);
    assert_int_equal(info->pairs, 2 * QUERIES / 3 * ENTITIES);
    assert_int_equal(info->exact, info->pairs);
    assert_int_equal(wfre_evaluation_types(evaluation), 3); /* nothing of 2in is ranked */
    wfre_evaluation_free(evaluation);
}

/* An opened set gives what its file does, and must have been opened with the graph. */
static void test_opened_queries(void **state)
{
    (void)state;
    wfre_eval_options options = options_for(NULL);
    wfre_evaluation *named = evaluate(&options), *opened = NULL;
    wfre_queryset *set = NULL, *loose = NULL;
    assert_ok(wfre_queryset_open(queries_path, graph, &set, error));
    for (int again = 0; again < 2; again++) {
        assert_ok(
            wfre_evaluate_model_with(graph, model, set, &options, NULL, NULL, &opened, error));
        assert_same(named, opened);
        wfre_evaluation_free(opened);
    }
    assert_ok(wfre_queryset_open(queries_path, NULL, &loose, error));
    assert_int_equal(
        wfre_evaluate_model_with(graph, model, loose, &options, NULL, NULL, &opened, NULL),
        WFRE_ERR_MISMATCH);
    assert_int_equal(wfre_calibrate_with(graph, model, loose, NULL, NULL, NULL), WFRE_ERR_MISMATCH);
    wfre_queryset_close(set);
    wfre_queryset_close(loose);
    wfre_evaluation_free(named);
}

static bool stop_on_third(void *context)
{
    return ++*(int *)context >= 3;
}

static void test_interrupted_and_resumed(void **state)
{
    (void)state;
    wfre_eval_options options = options_for(partial_path);
    wfre_evaluation *whole = evaluate(&options), *resumed = NULL;
    assert_false(wfre_file_exists(partial_path));
    int asked = 0;
    wfre_monitor monitor = {.interrupted = stop_on_third, .context = &asked};
    wfre_error error;
    assert_int_equal(
        wfre_evaluate_model(graph, model, queries_path, &options, NULL, &monitor, &resumed, &error),
        WFRE_ERR_INTERRUPTED);
    assert_non_null(strstr(error.message, "goes on from"));
    assert_null(resumed);
    assert_true(wfre_file_exists(partial_path));
    resumed = evaluate(&options);
    assert_same(whole, resumed);
    assert_int_equal(resumed->info.pairs, whole->info.pairs);
    assert_false(wfre_file_exists(partial_path));
    wfre_evaluation_free(resumed);
    wfre_evaluation_free(whole);
}

/* Work of another evaluation, or half a file, is not taken for ours. */
static void test_foreign_partial(void **state)
{
    (void)state;
    wfre_way tconorm = model->settings.way;
    tconorm.unions = WFRE_UNION_TCONORM;
    wfre_eval_options options = options_for(partial_path);
    wfre_evaluation *whole = evaluate(&options);
    options.way = &tconorm;
    int asked = 0;
    wfre_monitor monitor = {.interrupted = stop_on_third, .context = &asked};
    wfre_evaluation *other = NULL;
    assert_int_equal(
        wfre_evaluate_model(graph, model, queries_path, &options, NULL, &monitor, &other, NULL),
        WFRE_ERR_INTERRUPTED);
    options.way = NULL;
    wfre_evaluation *again = evaluate(&options);
    assert_same(whole, again);
    assert_int_equal(again->info.pairs, whole->info.pairs);
    wfre_evaluation_free(again);
    model->settings.way.lift[WFRE_LAST_PROJECTION] = 2;
    asked = 0;
    assert_int_equal(
        wfre_evaluate_model(graph, model, queries_path, &options, NULL, &monitor, &other, NULL),
        WFRE_ERR_INTERRUPTED);
    model->settings.way.lift[WFRE_LAST_PROJECTION] = 1;
    again = evaluate(&options);
    assert_same(whole, again);
    wfre_evaluation_free(again);
    assert_ok(wfre_write_file(partial_path, "wfre-ev", 8, error));
    again = evaluate(&options);
    assert_same(whole, again);
    wfre_evaluation_free(again);
    wfre_evaluation_free(whole);
}

/* Standings that the same version of the ranking code kept are taken, those of another are not:
 * else an upgrade would report old numbers as new. */
static void test_partial_of_another_version(void **state)
{
    (void)state;
    wfre_eval_options options = options_for(partial_path);
    wfre_evaluation *whole = evaluate(&options);
    wfre_queryset *set;
    assert_ok(wfre_queryset_open(queries_path, graph, &set, error));
    wfre_partial_of of = {graph, model, set, &model->settings.way, options.known, 0};
    for (int i = 0; i < 2; i++) {
        wfre_evaluation *kept;
        of.version = WFRE_RANKING_VERSION + (uint32_t)i;
        assert_ok(wfre_evaluation_create(set, graph, "kept", &kept, error));
        for (size_t k = 0; k < kept->standing_count; k++)
            kept->standings[k] = (wfre_standing){0}; /* all are the best */
        for (size_t q = 0; q < kept->query_count; q++)
            kept->queries[q].ranked = wfre_queryset_hard(set, (uint32_t)q).count > 0;
        assert_ok(wfre_partial_write(kept, wfre_partial_key(&of), partial_path, error));
        wfre_evaluation_free(kept);
        wfre_evaluation *again = evaluate(&options);
        double mrr = again->groups[WFRE_GROUP_ALL].mean.mrr;
        if (i == 0)
            assert_true(mrr == 1);
        else
            assert_same(whole, again);
        wfre_evaluation_free(again);
    }
    wfre_queryset_close(set);
    wfre_evaluation_free(whole);
}

/* The same queries and answers, of which others are hard, are another evaluation. */
static void test_partial_of_other_hard_answers(void **state)
{
    (void)state;
    static const char *const SETS[] = {
        "1p\t(p,#0,(e,#1))\t3 4\t5\n1p\t(p,#0,(e,#2))\t6\t7 8\n",
        "1p\t(p,#0,(e,#1))\t3\t4 5\n1p\t(p,#0,(e,#2))\t6 7\t8\n",
    };
    char path[64];
    (void)snprintf(path, sizeof path, "%s/small.tsv", folder);
    wfre_eval_options options = options_for(partial_path);
    options.keep = true;
    for (int i = 0; i < 2; i++) {
        wfre_evaluation *evaluation = NULL;
        assert_ok(wfre_write_file(path, SETS[i], strlen(SETS[i]), error));
        assert_ok(
            wfre_evaluate_model(graph, model, path, &options, NULL, NULL, &evaluation, error));
        wfre_evaluation *fresh = NULL;
        wfre_eval_options alone = options_for(NULL);
        assert_ok(wfre_evaluate_model(graph, model, path, &alone, NULL, NULL, &fresh, error));
        assert_same(fresh, evaluation);
        wfre_evaluation_free(fresh);
        wfre_evaluation_free(evaluation);
    }
    unlink(path);
    unlink(partial_path);
}

static void test_unions_from_base(void **state)
{
    (void)state;
    wfre_way tconorm = model->settings.way;
    tconorm.unions = WFRE_UNION_TCONORM;
    wfre_eval_options options = options_for(NULL);
    wfre_evaluation *dnf = evaluate(&options);
    options.way = &tconorm;
    wfre_evaluation *alone = evaluate(&options);
    options.base = dnf;
    wfre_evaluation *quick = evaluate(&options);
    assert_same(alone, quick);
    assert_int_equal(quick->info.pairs, QUERIES / 3 * ENTITIES); /* unions only */
    assert_memory_not_equal(alone->standings, dnf->standings,
                            alone->standing_count * sizeof *alone->standings);
    wfre_evaluation_free(quick);
    wfre_evaluation_free(alone);
    wfre_evaluation_free(dnf);
}

static void test_wrong_graph(void **state)
{
    (void)state;
    wfre_graph *other = star_graph(ENTITIES + 1);
    wfre_eval_options options = options_for(NULL);
    wfre_evaluation *evaluation = NULL;
    assert_int_equal(
        wfre_evaluate_model(other, model, queries_path, &options, NULL, NULL, &evaluation, NULL),
        WFRE_ERR_MISMATCH);
    wfre_graph_close(other);
}

/* Where nothing can be saved, an evaluation is made all the same, and an interruption is one. */
static void test_nowhere_to_save(void **state)
{
    (void)state;
    wfre_eval_options options = options_for("/no/such/folder/q.partial");
    wfre_evaluation *evaluation = NULL;
    int asked = 0;
    wfre_monitor monitor = {.interrupted = stop_on_third, .context = &asked};
    wfre_error why;
    assert_int_equal(wfre_evaluate_model(graph, model, queries_path, &options, NULL, &monitor,
                                         &evaluation, &why),
                     WFRE_ERR_INTERRUPTED);
    assert_non_null(strstr(why.message, "are lost"));
    assert_ok(
        wfre_evaluate_model(graph, model, queries_path, &options, NULL, NULL, &evaluation, error));
    wfre_evaluation_free(evaluation);
}

static wfre_status attempt(void *context)
{
    wfre_eval_options options = options_for(partial_path);
    wfre_evaluation *evaluation = NULL;
    int asked = 0;
    wfre_monitor monitor = {.interrupted = stop_on_third, .context = &asked};
    const bool *interrupt = context;
    wfre_status status = wfre_evaluate_model(graph, model, queries_path, &options, NULL,
                                             *interrupt ? &monitor : NULL, &evaluation, NULL);
    wfre_evaluation_free(evaluation);
    return *interrupt && status == WFRE_ERR_INTERRUPTED ? WFRE_OK : status;
}

static void test_out_of_memory(void **state)
{
    (void)state;
    bool interrupt = true;
    sweep_allocations(attempt, &interrupt);
    interrupt = false;
    sweep_allocations(attempt, &interrupt);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_counts),
        cmocka_unit_test(test_opened_queries),
        cmocka_unit_test(test_interrupted_and_resumed),
        cmocka_unit_test(test_foreign_partial),
        cmocka_unit_test(test_partial_of_another_version),
        cmocka_unit_test(test_partial_of_other_hard_answers),
        cmocka_unit_test(test_unions_from_base),
        cmocka_unit_test(test_wrong_graph),
        cmocka_unit_test(test_nowhere_to_save),
        cmocka_unit_test(test_out_of_memory),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
