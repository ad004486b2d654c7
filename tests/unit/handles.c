/* What is open serves where the name of a file does: training gives the same bits with an opened
 * query set and an opened model as with their names. */
#include "check.h"

#include <unistd.h>

#include "base/file.h"
#include "toy.h"
#include "wfre/train.h"

enum { ENTITIES = 60, RELATIONS = 3, TRIPLES = 700 };

static char folder[] = "/tmp/wfre-handles-XXXXXX";

static char *in_folder(const char *name)
{
    char *path = wfre_path_join(folder, name);
    assert_non_null(path);
    return path;
}

static wfre_train_settings settings_of_run(void)
{
    wfre_train_settings s;
    assert_ok(wfre_train_preset("small", NULL, &s, error));
    s.model.dim = 20;
    s.model.bases = 2;
    s.batch = 16;
    s.negatives = 8;
    s.steps = 12;
    s.lift = s.edges = false;
    return s;
}

/* Trains, and returns a hash of the weights and the MRR that the queries gave. */
static uint64_t train(const wfre_graph *graph, wfre_train_run run, double *mrr)
{
    static const char *const left[] = {"out.safetensors", "out.log.jsonl", "out.curve.svg"};
    wfre_train_settings settings = settings_of_run();
    wfre_train_summary summary;
    wfre_model *model;
    char *path = in_folder(left[0]);
    run.model = path;
    run.checkpoint_seconds = 1e9;
    run.validate = 4;
    assert_ok(wfre_train(graph, &settings, &run, NULL, NULL, &summary, error));
    assert_ok(wfre_model_open(path, &model, error));
    uint64_t hash = wfre_model_weights_hash(model);
    *mrr = summary.best_mrr;
    wfre_model_free(model);
    wfre_free(path);
    for (int i = 0; i < 3; i++) {
        path = in_folder(left[i]);
        assert_int_equal(unlink(path), 0);
        wfre_free(path);
    }
    return hash;
}

static void test_handles(void **state)
{
    (void)state;
    static const char lines[] = "1p\t(p,#0,(e,#1))\t3 4\t5 9\n1p\t(p,#2,(e,#2))\t6\t7 8\n"
                                "2p\t(p,#0,(p,#2,(e,#2)))\t6\t17 18\n";
    wfre_graph *graph = toy_random_graph(4, ENTITIES, RELATIONS, TRIPLES);
    wfre_model *start = toy_model(graph, 20, 2, 5), *opened, *strange;
    wfre_queryset *set, *loose;
    wfre_train_summary summary;
    double by_name, by_handle, random;
    assert_non_null(mkdtemp(folder));
    char *queries = in_folder("q.tsv"), *from = in_folder("start.safetensors");
    assert_ok(wfre_write_file(queries, lines, strlen(lines), error));
    assert_ok(wfre_model_save(start, from, false, error));
    assert_ok(wfre_model_open(from, &opened, error));
    assert_ok(wfre_queryset_open(queries, graph, &set, error));
    assert_ok(wfre_queryset_open(queries, NULL, &loose, error));

    uint64_t named = train(graph, (wfre_train_run){.queries = queries, .from = from}, &by_name);
    uint64_t given =
        train(graph, (wfre_train_run){.queryset = set, .from_model = opened}, &by_handle);
    assert_true(named == given && by_name == by_handle);
    uint64_t weights = wfre_model_weights_hash(start);
    assert_true(wfre_model_weights_hash(opened) == weights); /* it was copied, not trained */
    assert_true(train(graph, (wfre_train_run){.queryset = set}, &random) != given);

    wfre_train_settings settings = settings_of_run(); /* of another graph */
    wfre_train_run wrong = {.model = from, .validate = 4, .queryset = loose};
    assert_int_equal(wfre_train(graph, &settings, &wrong, NULL, NULL, &summary, NULL),
                     WFRE_ERR_MISMATCH);
    wfre_graph *other = toy_random_graph(5, ENTITIES, RELATIONS, TRIPLES);
    strange = toy_model(other, 20, 2, 5);
    wrong = (wfre_train_run){.model = from, .from_model = strange};
    assert_int_equal(wfre_train(graph, &settings, &wrong, NULL, NULL, &summary, NULL),
                     WFRE_ERR_MISMATCH);

    wfre_queryset_close(set);
    wfre_queryset_close(loose);
    wfre_model_free(start);
    wfre_model_free(opened);
    wfre_model_free(strange);
    wfre_graph_close(graph);
    wfre_graph_close(other);
    assert_int_equal(unlink(queries) | unlink(from), 0);
    wfre_free(queries);
    wfre_free(from);
    assert_int_equal(rmdir(folder), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_handles)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
