/* Whole runs of training and their files: interrupted, resumed, with rivals, torn. */
#include "training.h"

#include <unistd.h>

#include "base/file.h"
#include "base/text.h"
#include "report/curve.h"

/* Whether to stop: yes, once it was asked so often, or so many steps were made. */
typedef struct patience {
    int left;
    bool steps; /* that is what counts */
} patience;

static const patience NO_END = {0, false};

static bool is_over(void *context)
{
    patience *p = context;
    if (p->steps)
        return p->left == 0;
    return p->left > 0 && --p->left == 0;
}

static void count_step(void *context, const wfre_train_status *status, double mrr)
{
    (void)status, (void)mrr;
    ((patience *)context)->left--;
}

/* A run of 40 steps, validated ten times, into a folder of its own. */
typedef struct toy_run {
    char folder[32];
    char *paths[5]; /* the model, the log, the picture, the checkpoint, the best so far */
    wfre_train_settings settings;
    wfre_train_run run;
    wfre_train_summary summary;
} toy_run;

static void open_run(toy_run *t)
{
    static const char *const names[] = {"run.safetensors", "run.log.jsonl", "run.curve.svg",
                                        "run.checkpoint", "run.unfinished.safetensors"};
    *t = (toy_run){.folder = "/tmp/wfre-train-XXXXXX", .settings = recipe(0)};
    assert_non_null(mkdtemp(t->folder));
    for (int i = 0; i < 5; i++)
        t->paths[i] = wfre_path_join(t->folder, names[i]);
    t->settings.steps = 40;
    t->settings.seed = 7;
    t->run = (wfre_train_run){.model = t->paths[0], .checkpoint_seconds = 1e9, .validate = 3};
}

/* Three files are left: no checkpoint, no unfinished model, no lock. */
static void close_run(toy_run *t)
{
    for (int i = 0; i < 5; i++) {
        assert_int_equal(unlink(t->paths[i]), i < 3 ? 0 : -1);
        wfre_free(t->paths[i]);
    }
    assert_int_equal(rmdir(t->folder), 0);
}

/* False if it ends before its patience does. */
static bool interrupt_run(toy_run *t, const wfre_graph *graph, patience p)
{
    wfre_monitor monitor = {.interrupted = is_over, .context = &p};
    wfre_train_run run = t->run;
    run.step = p.steps ? count_step : NULL;
    run.context = &p;
    wfre_status status = wfre_train(graph, &t->settings, &run, NULL, &monitor, &t->summary, NULL);
    assert_true(status == WFRE_OK || status == WFRE_ERR_INTERRUPTED);
    return status == WFRE_ERR_INTERRUPTED;
}

/* As a command does that names no seed; with the same if there was nothing to keep yet. */
static void resume_run(toy_run *t, const wfre_graph *graph)
{
    bool kept = wfre_file_exists(t->paths[3]);
    t->settings.seed = kept ? 1 : t->settings.seed;
    t->run.resume = true;
    assert_ok(wfre_train(graph, &t->settings, &t->run, NULL, NULL, &t->summary, error));
    assert_int_equal(t->summary.resumed, kept);
}

static void assert_same_track(const wfre_track *a, const wfre_track *b)
{
    assert_int_equal(a->count, b->count);
    assert_memory_equal(a->step, b->step, a->count * sizeof *a->step);
    assert_memory_equal(a->value, b->value, a->count * sizeof *a->value);
}

/* What the lines of a log are about, as text: "L12" a loss at step 12, "M12" an MRR there, "-" what
 * is fitted at the end. */
static void outline_log(const char *path, wfre_text *outline)
{
    char *text, *line;
    size_t length;
    assert_ok(wfre_read_all(path, 1 << 20, &text, &length, error));
    for (line = text; *line; line = strchr(line, '\n') + 1) {
        const char *end = strchr(line, '\n'), *loss = strstr(line, "\"loss\"");
        assert_non_null(end);
        if (strncmp(line, "{\"step\": ", 9) == 0)
            wfre_text_format(outline, "%c%ld ", loss && loss < end ? 'L' : 'M', atol(line + 9));
        else
            wfre_text_format(outline, "- ");
    }
    wfre_text_char(outline, '\0');
    wfre_free(text);
}

/* Line for line about the same, with no step twice. */
static void assert_same_log(const char *a, const char *b)
{
    wfre_text outlines[2] = {{0}, {0}};
    outline_log(a, &outlines[0]);
    outline_log(b, &outlines[1]);
    assert_string_equal(outlines[0].data, outlines[1].data);
    long last[2] = {0, 0};
    for (char *word = strtok(outlines[0].data, " "); word; word = strtok(NULL, " "))
        if (word[0] != '-') {
            long *before = &last[word[0] == 'M'];
            assert_true(atol(word + 1) > *before);
            *before = atol(word + 1);
        }
    wfre_text_free(&outlines[0]);
    wfre_text_free(&outlines[1]);
}

/* The same log, and so the same picture, and the same model was kept. */
static void assert_same_run(const toy_run *a, const toy_run *b)
{
    wfre_curve first = {0}, second = {0};
    wfre_model *kept[2];
    assert_ok(wfre_curve_read(&first, a->paths[1], error));
    assert_ok(wfre_curve_read(&second, b->paths[1], error));
    assert_same_log(a->paths[1], b->paths[1]);
    assert_int_equal(first.loss.count, 40);
    assert_int_equal(first.mrr.count, 10);
    assert_same_track(&first.loss, &second.loss);
    assert_same_track(&first.mrr, &second.mrr);
    assert_ok(wfre_model_open(a->paths[0], &kept[0], error));
    assert_ok(wfre_model_open(b->paths[0], &kept[1], error));
    assert_same_model(kept[0], kept[1]);
    assert_true(a->summary.best_mrr == b->summary.best_mrr);
    wfre_model_free(kept[0]);
    wfre_model_free(kept[1]);
    wfre_curve_free(&first);
    wfre_curve_free(&second);
}

/* A run that was interrupted, wherever that was, between steps or while validating, is from its
 * first step to its last what it would have been. */
static void test_resumed_run(void **state)
{
    (void)state;
    wfre_graph *graph = toy_random_graph(6, 40, 4, 300);
    toy_run whole, parts;
    open_run(&whole);
    assert_false(interrupt_run(&whole, graph, NO_END));
    bool interrupted = true;
    for (int asked = 1; interrupted; asked += asked < 60 ? 2 : asked / 2) {
        open_run(&parts);
        interrupted = interrupt_run(&parts, graph, (patience){asked, false});
        if (interrupted)
            resume_run(&parts, graph);
        else
            assert_true(asked > 50); /* all of its steps and validations */
        assert_same_run(&whole, &parts);
        close_run(&parts);
    }
    close_run(&whole);
    wfre_graph_close(graph);
}

/* The model that an interrupted run kept may be gone, or be another's: then it does not count. */
static void test_lost_model(void **state)
{
    (void)state;
    wfre_graph *graph = toy_random_graph(6, 40, 4, 300);
    for (int another = 0; another < 2; another++) {
        toy_run t;
        wfre_model *model;
        open_run(&t);
        assert_true(interrupt_run(&t, graph, (patience){20, true}));
        assert_int_equal(unlink(t.paths[4]), 0);
        if (another) {
            wfre_model_settings settings = t.settings.model;
            settings.dim = 40;
            assert_ok(wfre_model_create(graph, &settings, 1, &model, error));
            assert_ok(wfre_model_save(model, t.paths[4], false, error));
            wfre_model_free(model);
        }
        resume_run(&t, graph);
        assert_true(t.summary.best_mrr >= t.summary.mrr);
        assert_ok(wfre_model_open(t.paths[0], &model, error));
        assert_int_equal(model->settings.dim, 20);
        wfre_model_free(model);
        close_run(&t);
    }
    wfre_graph_close(graph);
}

/* Without checkpoints an interruption leaves none. */
static void test_no_checkpoint(void **state)
{
    (void)state;
    wfre_graph *graph = toy_random_graph(6, 40, 4, 300);
    toy_run t;
    open_run(&t);
    t.run.checkpoint_seconds = -1;
    assert_true(interrupt_run(&t, graph, (patience){20, true}));
    assert_false(wfre_file_exists(t.paths[3]));
    assert_false(interrupt_run(&t, graph, NO_END));
    close_run(&t);
    wfre_graph_close(graph);
}

/* A fresh run is not resumed from the checkpoint of an older one, and trains even if there is
 * hardly any time. */
static void test_fresh_run(void **state)
{
    (void)state;
    wfre_graph *graph = toy_random_graph(6, 40, 4, 300);
    toy_run t;
    open_run(&t);
    assert_true(interrupt_run(&t, graph, (patience){20, true}));
    assert_true(wfre_file_exists(t.paths[3]));
    t.settings.steps = 0;
    t.settings.seconds = 1e-9;
    assert_ok(wfre_train(graph, &t.settings, &t.run, NULL, NULL, &t.summary, error));
    assert_int_equal(t.summary.status.step, 1);
    assert_true(t.summary.best_mrr == t.summary.mrr && t.summary.mrr > 0);
    close_run(&t);
    wfre_graph_close(graph);
}

/* While a run lasts, no other writes to its files, and its model is still the one before. */
typedef struct rival {
    const wfre_graph *graph;
    toy_run *run;
    int patience;
    uint64_t before;
} rival;

static uint64_t weights_of(const char *path)
{
    wfre_model *model;
    assert_ok(wfre_model_open(path, &model, error));
    assert_false(wfre_model_unfinished(model));
    uint64_t hash = wfre_model_weights_hash(model);
    wfre_model_free(model);
    return hash;
}

static void start_rival(void *context, const wfre_train_status *status, double mrr)
{
    (void)status, (void)mrr;
    rival *r = context;
    if (--r->patience != 0)
        return;
    wfre_error told;
    wfre_train_summary summary;
    wfre_model *model;
    char process[64];
    (void)snprintf(process, sizeof process, "process %ld trains ", (long)getpid());
    for (int resume = 0; resume < 2; resume++) {
        wfre_train_run run = r->run->run;
        run.resume = resume;
        assert_int_equal(wfre_train(r->graph, &r->run->settings, &run, NULL, NULL, &summary, &told),
                         WFRE_ERR_IO);
        assert_memory_equal(told.message, process, strlen(process));
    }
    assert_true(weights_of(r->run->paths[0]) == r->before);
    assert_ok(wfre_model_open(r->run->paths[4], &model, error));
    assert_true(wfre_model_unfinished(model));
    wfre_model_free(model);
}

static void test_rival_runs(void **state)
{
    (void)state;
    wfre_graph *graph = toy_random_graph(6, 40, 4, 300);
    toy_run t;
    open_run(&t);
    assert_false(interrupt_run(&t, graph, NO_END));
    rival r = {graph, &t, 20, weights_of(t.paths[0])};
    t.run.step = start_rival;
    t.run.context = &r;
    t.settings.seed = 8;
    assert_ok(wfre_train(graph, &t.settings, &t.run, NULL, NULL, &t.summary, error));
    assert_true(r.patience < 0);
    assert_true(weights_of(t.paths[0]) != r.before);
    close_run(&t);
    wfre_graph_close(graph);
}

/* A killed run's log may go beyond its checkpoint, and end within a line. */
static void test_torn_log(void **state)
{
    (void)state;
    wfre_graph *graph = toy_random_graph(6, 40, 4, 300);
    toy_run whole, t;
    open_run(&whole);
    assert_false(interrupt_run(&whole, graph, NO_END));
    open_run(&t);
    assert_true(interrupt_run(&t, graph, (patience){15, true}));
    FILE *log = fopen(t.paths[1], "a");
    fputs("{\"step\": 35, \"loss\": 1}\n{\"step\": 36, \"mrr\": 0.5}\n{\"calibration_error\": 1}\n"
          "{\"step\": 3",
          log);
    fclose(log);
    resume_run(&t, graph);
    assert_same_run(&whole, &t);
    close_run(&t);
    close_run(&whole);
    wfre_graph_close(graph);
}

/* What cannot be read again is refused before training. */
static void test_output_is_a_file(void **state)
{
    (void)state;
    wfre_graph *graph = toy_random_graph(6, 40, 4, 300);
    toy_run t;
    open_run(&t);
    t.run.model = "/dev/null";
    assert_int_equal(wfre_train(graph, &t.settings, &t.run, NULL, NULL, &t.summary, NULL),
                     WFRE_ERR_IO);
    assert_false(wfre_file_exists("/dev/null.log.jsonl"));
    for (int i = 0; i < 5; i++)
        wfre_free(t.paths[i]);
    assert_int_equal(rmdir(t.folder), 0);
    wfre_graph_close(graph);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_resumed_run),      cmocka_unit_test(test_lost_model),
        cmocka_unit_test(test_fresh_run),        cmocka_unit_test(test_no_checkpoint),
        cmocka_unit_test(test_rival_runs),       cmocka_unit_test(test_torn_log),
        cmocka_unit_test(test_output_is_a_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
