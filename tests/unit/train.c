/* src/train: the same bits on any number of threads, resumption, learning, settings, failures. */
#include "check.h"

#include <math.h>
#include <unistd.h>

#include "base/curve.h"
#include "base/file.h"
#include "toy.h"
#include "train/checkpoint.h"

/* Every way of training, small. */
static wfre_train_settings recipe(int variant)
{
    wfre_train_settings s;
    assert_ok(wfre_train_preset(variant == 3 ? "paper-wn18rr" : "small", NULL, &s, error));
    s.model.dim = 20;
    s.model.bases = variant == 1 ? 0 : 3;
    s.model.layers = variant == 2 ? 2 : 1;
    s.model.members = variant < 2 ? 2 : 1;
    s.batch = 24;
    s.negatives = 16;
    s.hard = 5;
    s.positives = variant == 2 ? 3 : 1;
    s.every_answer = variant < 2;
    s.steps = 6;
    s.drop_basis = variant == 0 ? 0.1 : 0;
    if (variant == 4)
        s.precision = WFRE_BF16;
    if (variant == 1)
        s.candidates = WFRE_CANDIDATES_ALL;
    if (variant == 2) {
        s.guide = WFRE_GUIDE_STAGED;
        s.stage = 0.5;
        s.clip = 0.1;
    }
    return s;
}
enum { VARIANTS = 5 };

/* The last variant updates entities as large graphs do. */
static void choose_updates(wfre_trainer *trainer, int variant)
{
    trainer->lazy = variant == 4;
}

static void take_steps(wfre_trainer *trainer, int count)
{
    for (int i = 0; i < count; i++)
        assert_ok(wfre_trainer_step(trainer, error));
}

static void assert_same_model(const wfre_model *a, const wfre_model *b)
{
    for (uint32_t t = 0; t < a->tensor_count; t++)
        assert_memory_equal(a->tensors[t].data, b->tensors[t].data,
                            a->tensors[t].count * sizeof(float));
}

static void test_threads(void **state)
{
    (void)state;
    wfre_graph *graph = toy_random_graph(5, 40, 4, 300);
    for (int variant = 0; variant < VARIANTS; variant++) {
        wfre_train_settings settings = recipe(variant);
        wfre_trainer *first = NULL;
        static const unsigned threads[] = {1, 2, 7};
        for (int i = 0; i < 3; i++) {
            wfre_pool *pool;
            wfre_trainer *trainer;
            assert_ok(wfre_pool_create(threads[i], &pool, error));
            assert_ok(wfre_trainer_create(graph, &settings, pool, &trainer, error));
            choose_updates(trainer, variant);
            take_steps(trainer, 6);
            if (!first) {
                first = trainer;
                wfre_pool_free(pool);
                continue;
            }
            assert_same_model(first->model, trainer->model);
            wfre_trainer_free(trainer);
            wfre_pool_free(pool);
        }
        wfre_trainer_free(first);
    }
    wfre_graph_close(graph);
}

/* Rounded products change the losses little; entities that no batch touches stay as they are. */
static void test_bf16_and_lazy(void **state)
{
    (void)state;
    wfre_graph *graph = toy_random_graph(5, 400, 4, 500);
    wfre_train_settings settings = recipe(4), exact = settings;
    exact.precision = WFRE_FP32;
    wfre_trainer *rounded, *plain;
    wfre_model *start;
    assert_ok(wfre_model_create(graph, &settings.model, settings.seed, &start, error));
    assert_ok(wfre_trainer_create(graph, &settings, NULL, &rounded, error));
    assert_ok(wfre_trainer_create(graph, &exact, NULL, &plain, error));
    choose_updates(rounded, 4);
    take_steps(rounded, 1);
    take_steps(plain, 1);
    double a = wfre_trainer_status(rounded).last_loss, b = wfre_trainer_status(plain).last_loss;
    assert_true(a != b && fabs(a - b) < 0.01 * fabs(b));
    uint32_t untouched = 0, d = settings.model.dim;
    for (uint32_t e = 0; e < 400; e++) {
        bool same = memcmp(rounded->model->entities + (size_t)e * d,
                           start->entities + (size_t)e * d, d * sizeof(float)) == 0;
        assert_int_equal(same, wfre_batcher_slot(rounded->batcher, e) == WFRE_NONE);
        untouched += same;
    }
    assert_true(untouched > 0);
    wfre_trainer_free(rounded);
    wfre_trainer_free(plain);
    wfre_model_free(start);
    wfre_graph_close(graph);
}

static void test_resume(void **state)
{
    (void)state;
    char folder[] = "/tmp/wfre-train-XXXXXX";
    assert_non_null(mkdtemp(folder));
    char *path = wfre_path_join(folder, "run.checkpoint");
    wfre_graph *graph = toy_random_graph(6, 40, 4, 300);
    wfre_graph *other = toy_random_graph(7, 40, 4, 300);
    for (int variant = 0; variant < VARIANTS; variant++) {
        wfre_train_settings settings = recipe(variant), same_length = {0};
        wfre_trainer *whole, *half, *rest;
        double best;
        assert_ok(wfre_trainer_create(graph, &settings, NULL, &whole, error));
        choose_updates(whole, variant);
        take_steps(whole, 6);
        assert_ok(wfre_trainer_create(graph, &settings, NULL, &half, error));
        choose_updates(half, variant);
        take_steps(half, 3);
        assert_ok(wfre_checkpoint_write(half, path, 0.25, error));
        wfre_trainer_free(half);
        assert_ok(wfre_checkpoint_read(path, graph, NULL, &same_length, &rest, &best, error));
        assert_true(best == 0.25);
        choose_updates(rest, variant);
        take_steps(rest, 3);
        assert_true(wfre_trainer_done(rest));
        assert_same_model(whole->model, rest->model);
        wfre_trainer_free(whole);
        wfre_trainer_free(rest);
        assert_int_equal(wfre_checkpoint_read(path, other, NULL, &same_length, &rest, &best, NULL),
                         WFRE_ERR_MISMATCH);
    }
    wfre_graph_close(graph);
    wfre_graph_close(other);
    unlink(path);
    rmdir(folder);
    wfre_free(path);
}

static bool stop_late(void *context)
{
    int *asked = context;
    return ++*asked == 30;
}

/* Trains into folder/NAME.*, interrupted and resumed by a command that names no seed if `asked` is
 * given; reads the log and removes everything. */
static void train_and_read(const wfre_graph *graph, const char *folder, int *asked,
                           wfre_curve *curve)
{
    static const char *const names[] = {"run.safetensors", "run.log.jsonl", "run.curve.svg"};
    char *paths[3];
    for (int i = 0; i < 3; i++)
        paths[i] = wfre_path_join(folder, names[i]);
    wfre_train_settings settings = recipe(0);
    settings.steps = 40;
    settings.seed = 7;
    wfre_monitor monitor = {.interrupted = stop_late, .context = asked};
    wfre_train_run run = {.model = paths[0], .checkpoint_seconds = 1e9, .validate = 3};
    wfre_train_summary summary;
    if (asked) {
        assert_int_equal(wfre_train(graph, &settings, &run, NULL, &monitor, &summary, NULL),
                         WFRE_ERR_INTERRUPTED);
        settings.seed = 1;
        run.resume = true;
    }
    assert_ok(wfre_train(graph, &settings, &run, NULL, NULL, &summary, error));
    assert_int_equal(summary.resumed, asked != NULL);
    assert_ok(wfre_curve_read(curve, paths[1], error));
    for (int i = 0; i < 3; i++) {
        assert_int_equal(unlink(paths[i]), 0);
        wfre_free(paths[i]);
    }
}

static void assert_same_track(const wfre_track *a, const wfre_track *b)
{
    assert_int_equal(a->count, b->count);
    assert_memory_equal(a->step, b->step, a->count * sizeof *a->step);
    assert_memory_equal(a->value, b->value, a->count * sizeof *a->value);
}

/* The log of a run that was interrupted, and so its picture, goes from the first step to the last,
 * and has what it would have had: the same steps, validated at the same times on the same queries.
 */
static void test_resumed_log(void **state)
{
    (void)state;
    char folder[] = "/tmp/wfre-train-XXXXXX";
    assert_non_null(mkdtemp(folder));
    wfre_graph *graph = toy_random_graph(6, 40, 4, 300);
    wfre_curve whole = {0}, resumed = {0};
    int asked = 0;
    train_and_read(graph, folder, NULL, &whole);
    train_and_read(graph, folder, &asked, &resumed);
    assert_int_equal(whole.loss.count, 40);
    assert_int_equal(whole.mrr.count, 10);
    assert_same_track(&whole.loss, &resumed.loss);
    assert_same_track(&whole.mrr, &resumed.mrr);
    wfre_curve_free(&whole);
    wfre_curve_free(&resumed);
    wfre_graph_close(graph);
    assert_int_equal(rmdir(folder), 0);
}

/* Gives a key of the file's metadata another name, so that it is missing. */
static void hide_key(const char *path, const char *key)
{
    char head[16384], quoted[64];
    FILE *file = fopen(path, "r+b");
    assert_non_null(file);
    size_t size = fread(head, 1, sizeof head, file);
    size_t length = (size_t)snprintf(quoted, sizeof quoted, "\"%s\":", key);
    size_t at = 0;
    while (at + length <= size && memcmp(head + at, quoted, length) != 0)
        at++;
    assert_true(at + length <= size);
    assert_int_equal(fseek(file, (long)(at + 1), SEEK_SET), 0);
    assert_int_equal(fputc('?', file), '?');
    assert_int_equal(fclose(file), 0);
}

/* Checkpoints from before a setting lack it; without one that there always was they are damaged. */
static void test_old_checkpoint(void **state)
{
    (void)state;
    static const char *const newer[] = {"train.forward-edges", "train.forward-paths", "train.lift",
                                        "lift-projection", "members"};
    char folder[] = "/tmp/wfre-train-XXXXXX";
    assert_non_null(mkdtemp(folder));
    char *path = wfre_path_join(folder, "run.checkpoint");
    wfre_graph *graph = toy_random_graph(6, 40, 4, 300);
    wfre_train_settings settings = recipe(0), same_length = {0};
    wfre_trainer *trainer;
    double best;
    settings.forward_edges = settings.forward_paths = 0;
    settings.lift = false;
    settings.model.members = 1;
    assert_ok(wfre_trainer_create(graph, &settings, NULL, &trainer, error));
    assert_ok(wfre_checkpoint_write(trainer, path, 0.25, error));
    wfre_trainer_free(trainer);
    for (size_t i = 0; i < sizeof newer / sizeof newer[0]; i++)
        hide_key(path, newer[i]);
    assert_ok(wfre_checkpoint_read(path, graph, NULL, &same_length, &trainer, &best, error));
    assert_false(trainer->settings.lift);
    assert_true(trainer->settings.forward_edges == 0);
    assert_true(trainer->model->settings.lift[WFRE_LAST_PROJECTION] == 1);
    assert_int_equal(trainer->model->settings.members, 1);
    wfre_trainer_free(trainer);
    hide_key(path, "train.batch");
    assert_int_equal(wfre_checkpoint_read(path, graph, NULL, &same_length, &trainer, &best, NULL),
                     WFRE_ERR_FORMAT);
    wfre_graph_close(graph);
    unlink(path);
    rmdir(folder);
    wfre_free(path);
}

/* Edges that follow a rule: the loss must go far below that of guessing. */
static void test_learning(void **state)
{
    (void)state;
    wfre_graph_builder *builder;
    wfre_graph *graph;
    enum { SIZE = 30 };
    assert_ok(wfre_graph_builder_create(&builder, error));
    for (uint32_t i = 0; i < SIZE; i++)
        for (uint32_t r = 0; r < 3; r++) {
            char names[3][8];
            (void)snprintf(names[0], 8, "e%u", i);
            (void)snprintf(names[1], 8, "r%u", r);
            (void)snprintf(names[2], 8, "e%u", (i + 2 * r + 1) % SIZE);
            wfre_entity head, tail;
            wfre_relation relation;
            assert_ok(wfre_graph_builder_entity(builder, names[0], strlen(names[0]), &head, error));
            assert_ok(wfre_graph_builder_entity(builder, names[2], strlen(names[2]), &tail, error));
            assert_ok(wfre_graph_builder_relation(builder, names[1], 2, &relation, error));
            assert_ok(wfre_graph_builder_triple(builder, WFRE_TRAIN, head, relation, tail, error));
        }
    assert_ok(wfre_graph_builder_finish(builder, &graph, error));
    wfre_graph_builder_free(builder);
    wfre_train_settings settings = recipe(1);
    settings.steps = 300;
    settings.batch = 64;
    settings.model.dim = 60;
    settings.rate_layers = 0.01;
    wfre_trainer *trainer;
    assert_ok(wfre_trainer_create(graph, &settings, NULL, &trainer, error));
    take_steps(trainer, 1);
    double first = wfre_trainer_status(trainer).loss;
    take_steps(trainer, 299);
    assert_true(wfre_trainer_status(trainer).loss < 0.3 * first);
    wfre_trainer_free(trainer);
    wfre_graph_close(graph);
}

static void test_settings(void **state)
{
    (void)state;
    wfre_graph *graph = toy_random_graph(5, 40, 4, 300);
    wfre_train_settings s = recipe(0);
    wfre_trainer *trainer;
    wfre_error why;
    assert_ok(wfre_train_set(&s, "batch", "8", error));
    assert_ok(wfre_train_set(&s, "rho", "3.5", error));
    assert_int_equal(s.batch, 8);
    assert_true(s.model.rho == 3.5);
    assert_int_equal(wfre_train_set(&s, "loss", "hinge", &why), WFRE_ERR_ARGUMENT);
    assert_string_equal(why.message, "loss 'hinge': use one of sigmoid, softmax");
    s.steps = 0;
    s.seconds = 0;
    assert_int_equal(wfre_trainer_create(graph, &s, NULL, &trainer, &why), WFRE_ERR_ARGUMENT);
    s = recipe(0);
    s.candidates = WFRE_CANDIDATES_OWN;
    assert_int_equal(wfre_trainer_create(graph, &s, NULL, &trainer, &why), WFRE_ERR_ARGUMENT);
    assert_int_equal(wfre_train_preset("huge", graph, &s, &why), WFRE_ERR_NOT_FOUND);
    wfre_graph_close(graph);
}

/* The recipe fits itself to the graph: few relations, many, and many edges an entity. */
static void test_presets(void **state)
{
    (void)state;
    struct {
        uint32_t entities, relations, triples, bases, batch;
        double intersections; /* their share */
    } cases[] = {{3000, 4, 9000, 16, 512, 1},
                 {3000, 160, 9000, 24, 512, 1},
                 {3000, 160, 40000, 24, 1024, 2}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        wfre_graph *graph =
            toy_random_graph(5, cases[i].entities, cases[i].relations, cases[i].triples);
        wfre_train_settings s;
        assert_ok(wfre_train_preset(NULL, graph, &s, error));
        assert_int_equal(s.model.bases, cases[i].bases);
        assert_int_equal(s.batch, cases[i].batch);
        assert_true(s.mix[3] == cases[i].intersections && s.mix[4] == cases[i].intersections);
        assert_true(s.mass == 0.05);
        wfre_graph_close(graph);
    }
}

/* A type that the graph has only now and then does not stop a run. */
static void test_rare_types(void **state)
{
    (void)state;
    wfre_graph *graph = toy_random_graph(5, 400, 4, 1200);
    wfre_train_settings settings = recipe(0);
    settings.batch = 256;
    wfre_trainer *trainer;
    assert_ok(wfre_trainer_create(graph, &settings, NULL, &trainer, error));
    take_steps(trainer, 4);
    wfre_trainer_free(trainer);
    wfre_graph_close(graph);
}

/* A model that leaves the finite numbers stops with advice and without an update. */
static void test_not_finite(void **state)
{
    (void)state;
    wfre_graph *graph = toy_random_graph(5, 40, 4, 300);
    wfre_train_settings settings = recipe(0);
    wfre_trainer *trainer;
    wfre_error why;
    assert_ok(wfre_trainer_create(graph, &settings, NULL, &trainer, error));
    for (size_t i = 0; i < trainer->model->tensors[2].count; i++)
        trainer->model->tensors[2].data[i] = NAN;
    assert_int_equal(wfre_trainer_step(trainer, &why), WFRE_ERR_NUMERIC);
    assert_non_null(strstr(why.message, "lower"));
    assert_int_equal(wfre_trainer_status(trainer).step, 0);
    wfre_trainer_free(trainer);
    wfre_graph_close(graph);
}

static wfre_status train_once(void *context)
{
    wfre_train_settings settings = recipe(2);
    wfre_trainer *trainer = NULL;
    settings.stage = 0;
    wfre_status status = wfre_trainer_create(context, &settings, NULL, &trainer, NULL);
    if (status == WFRE_OK)
        status = wfre_trainer_step(trainer, NULL);
    wfre_trainer_free(trainer);
    return status;
}

static void test_memory(void **state)
{
    (void)state;
    wfre_graph *graph = toy_random_graph(5, 40, 4, 300);
    sweep_allocations(train_once, graph);
    wfre_graph_close(graph);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_threads),        cmocka_unit_test(test_resume),
        cmocka_unit_test(test_old_checkpoint), cmocka_unit_test(test_learning),
        cmocka_unit_test(test_settings),       cmocka_unit_test(test_presets),
        cmocka_unit_test(test_not_finite),     cmocka_unit_test(test_memory),
        cmocka_unit_test(test_rare_types),     cmocka_unit_test(test_resumed_log),
        cmocka_unit_test(test_bf16_and_lazy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
