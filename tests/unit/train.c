/* src/train: the same bits on any number of threads, resumption, learning, settings, failures. */
#include "check.h"

#include <math.h>
#include <unistd.h>

#include "base/file.h"
#include "base/rng.h"
#include "base/text.h"
#include "report/curve.h"
#include "sealing.h"
#include "toy.h"
#include "train/checkpoint.h"
#include "train/settings.h"

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
    s.relation_loss = variant == 0 || variant == 2 ? 0.5 : 0;
    s.relation_facts = 5;
    s.relation_rivals = 3;
    s.steps = 6;
    s.drop_basis = variant == 0 || variant == 3 ? 0.1 : 0;
    if (variant == 4)
        s.precision = WFRE_BF16;
    if (variant == 1)
        s.candidates = WFRE_CANDIDATES_ALL;
    if (variant == 2) {
        s.guide = WFRE_GUIDE_STAGED;
        s.stage = 0.5;
        s.clip = 0.1;
    }
    if (variant == 2 || variant == 3)
        s.deal = 4;
    if (variant == 5) {
        s.guide = WFRE_GUIDE_STAGED_SURROGATE;
        s.model.score.radius = 3;
    }
    return s;
}
enum { VARIANTS = 6 };

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

/* Facts are single edges with one of their answers, rivals lead from the same entity elsewhere. */
static void test_rivals(void **state)
{
    (void)state;
    wfre_graph *graph = toy_random_graph(4, 60, 4, 900);
    wfre_train_settings s = recipe(0);
    wfre_batcher *batcher;
    const wfre_batch *batch;
    size_t rivals = 0;
    s.relation_facts = 7;
    assert_ok(wfre_batcher_create(graph, &s, NULL, &batcher, error));
    for (uint64_t step = 0; step < 20; step++) {
        assert_ok(wfre_batcher_draw(batcher, step, &batch, error));
        assert_in_range(batch->facts, 1, 7);
        for (size_t f = 0; f < batch->facts; f++) {
            const wfre_node *own = batch->trees[batch->fact_query[f]];
            wfre_entity head = own->children[0]->id, target = batch->slots[batch->fact_target[f]];
            assert_true(wfre_graph_has(graph, WFRE_TRAIN, head, own->id, target));
            assert_in_range(batch->rival_begin[f + 1] - batch->rival_begin[f], 0, 3);
            for (uint32_t i = batch->rival_begin[f]; i < batch->rival_begin[f + 1]; i++, rivals++) {
                const wfre_node *rival = batch->trees[batch->queries + i];
                assert_int_equal(rival->children[0]->id, head);
                assert_false(wfre_graph_has(graph, WFRE_TRAIN, head, rival->id, target));
                for (uint32_t k = batch->rival_begin[f]; k < i; k++)
                    assert_int_not_equal(batch->trees[batch->queries + k]->id, rival->id);
            }
        }
        assert_int_equal(batch->rival_begin[batch->facts], batch->rivals);
    }
    assert_true(rivals > 100);
    wfre_batcher_free(batcher);
    wfre_graph_close(graph);
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
        uint32_t next;
        assert_ok(wfre_trainer_create(graph, &settings, NULL, &whole, error));
        choose_updates(whole, variant);
        take_steps(whole, 6);
        assert_ok(wfre_trainer_create(graph, &settings, NULL, &half, error));
        choose_updates(half, variant);
        take_steps(half, 3);
        assert_ok(wfre_checkpoint_write(half, path, 0.25, 3, error));
        wfre_trainer_free(half);
        assert_ok(
            wfre_checkpoint_read(path, graph, NULL, &same_length, &rest, &best, &next, error));
        assert_true(best == 0.25 && next == 3);
        choose_updates(rest, variant);
        take_steps(rest, 3);
        assert_true(wfre_trainer_done(rest));
        assert_same_model(whole->model, rest->model);
        wfre_trainer_free(whole);
        wfre_trainer_free(rest);
        assert_int_equal(
            wfre_checkpoint_read(path, other, NULL, &same_length, &rest, &best, &next, NULL),
            WFRE_ERR_MISMATCH);
    }
    wfre_graph_close(graph);
    wfre_graph_close(other);
    unlink(path);
    rmdir(folder);
    wfre_free(path);
}

/* Whether to stop: yes, once it was asked so often. */
typedef struct patience {
    int left;
} patience;

static bool is_over(void *context)
{
    patience *p = context;
    return p->left > 0 && --p->left == 0;
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
static bool interrupt_run(toy_run *t, const wfre_graph *graph, int patience_left)
{
    patience p = {patience_left};
    wfre_monitor monitor = {.interrupted = is_over, .context = &p};
    wfre_status status =
        wfre_train(graph, &t->settings, &t->run, NULL, &monitor, &t->summary, NULL);
    assert_true(status == WFRE_OK || status == WFRE_ERR_INTERRUPTED);
    return status == WFRE_ERR_INTERRUPTED;
}

/* As a command does that names no seed. */
static void resume_run(toy_run *t, const wfre_graph *graph)
{
    t->settings.seed = 1;
    t->run.resume = true;
    assert_ok(wfre_train(graph, &t->settings, &t->run, NULL, NULL, &t->summary, error));
    assert_true(t->summary.resumed);
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
    assert_false(interrupt_run(&whole, graph, 0));
    bool interrupted = true;
    for (int asked = 1; interrupted; asked += 2) {
        open_run(&parts);
        interrupted = interrupt_run(&parts, graph, asked);
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
        assert_true(interrupt_run(&t, graph, 40));
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

/* A fresh run is not resumed from the checkpoint of an older one, and trains even if there is
 * hardly any time. */
static void test_fresh_run(void **state)
{
    (void)state;
    wfre_graph *graph = toy_random_graph(6, 40, 4, 300);
    toy_run t;
    open_run(&t);
    assert_true(interrupt_run(&t, graph, 40));
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

static bool start_rival(void *context)
{
    rival *r = context;
    if (--r->patience != 0)
        return false;
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
    return false;
}

static void test_rival_runs(void **state)
{
    (void)state;
    wfre_graph *graph = toy_random_graph(6, 40, 4, 300);
    toy_run t;
    open_run(&t);
    assert_false(interrupt_run(&t, graph, 0));
    rival r = {graph, &t, 40, weights_of(t.paths[0])};
    wfre_monitor monitor = {.interrupted = start_rival, .context = &r};
    t.settings.seed = 8;
    assert_ok(wfre_train(graph, &t.settings, &t.run, NULL, &monitor, &t.summary, error));
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
    assert_false(interrupt_run(&whole, graph, 0));
    open_run(&t);
    assert_true(interrupt_run(&t, graph, 30));
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

/* Gives a key of the file's metadata another name, so that it is missing. */
static void hide_key(const char *path, const char *key)
{
    char *bytes, quoted[64];
    size_t size, length = (size_t)snprintf(quoted, sizeof quoted, "\"%s\":", key), at = 0;
    assert_ok(wfre_read_all(path, 1 << 24, &bytes, &size, error));
    while (at + length <= size && memcmp(bytes + at, quoted, length) != 0)
        at++;
    assert_true(at + length <= size);
    bytes[at + 1] = '?';
    assert_true(model_seal(bytes, size));
    assert_ok(wfre_write_file(path, bytes, size, error));
    wfre_free(bytes);
}

/* A flipped bit anywhere in a checkpoint, header or numbers, is refused. */
static void test_damaged_checkpoint(void **state)
{
    (void)state;
    char folder[] = "/tmp/wfre-train-XXXXXX";
    assert_non_null(mkdtemp(folder));
    char *path = wfre_path_join(folder, "run.checkpoint"), *bytes;
    wfre_graph *graph = toy_random_graph(6, 40, 4, 300);
    wfre_train_settings settings = recipe(0), same_length = {0};
    wfre_trainer *trainer;
    double best;
    uint32_t next;
    size_t size;
    assert_ok(wfre_trainer_create(graph, &settings, NULL, &trainer, error));
    assert_ok(wfre_checkpoint_write(trainer, path, 0.25, 3, error));
    wfre_trainer_free(trainer);
    assert_ok(wfre_read_all(path, 1 << 24, &bytes, &size, error));
    for (size_t at = 0; at < size; at += 1 + size / 97) {
        bytes[at] ^= 0x04;
        assert_ok(wfre_write_file(path, bytes, size, error));
        wfre_error why = {0};
        assert_int_not_equal(
            wfre_checkpoint_read(path, graph, NULL, &same_length, &trainer, &best, &next, &why),
            WFRE_OK);
        assert_non_null(strstr(why.message, "run.checkpoint"));
        bytes[at] ^= 0x04;
    }
    wfre_free(bytes);
    wfre_graph_close(graph);
    unlink(path);
    rmdir(folder);
    wfre_free(path);
}

/* Checkpoints from before a setting lack it; without one that there always was they are damaged. */
static void test_old_checkpoint(void **state)
{
    (void)state;
    static const char *const newer[] = {
        "train.forward-edges",  "train.forward-paths", "train.lift", "lift-projection", "members",
        "state.next-validation"};
    char folder[] = "/tmp/wfre-train-XXXXXX";
    assert_non_null(mkdtemp(folder));
    char *path = wfre_path_join(folder, "run.checkpoint");
    wfre_graph *graph = toy_random_graph(6, 40, 4, 300);
    wfre_train_settings settings = recipe(0), same_length = {0};
    wfre_trainer *trainer;
    double best;
    uint32_t next;
    settings.forward_edges = settings.forward_paths = 0;
    settings.lift = false;
    settings.model.members = 1;
    assert_ok(wfre_trainer_create(graph, &settings, NULL, &trainer, error));
    assert_ok(wfre_checkpoint_write(trainer, path, 0.25, 3, error));
    wfre_trainer_free(trainer);
    for (size_t i = 0; i < sizeof newer / sizeof newer[0]; i++)
        hide_key(path, newer[i]);
    assert_ok(wfre_checkpoint_read(path, graph, NULL, &same_length, &trainer, &best, &next, error));
    assert_false(trainer->settings.lift);
    assert_true(next == UINT32_MAX);
    assert_true(trainer->settings.forward_edges == 0);
    assert_true(trainer->model->settings.way.lift[WFRE_LAST_PROJECTION] == 1);
    assert_int_equal(trainer->model->settings.members, 1);
    wfre_trainer_free(trainer);
    hide_key(path, "train.batch");
    assert_int_equal(
        wfre_checkpoint_read(path, graph, NULL, &same_length, &trainer, &best, &next, NULL),
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
/* What the paper presets do as the published code does. */
static void test_published(void **state)
{
    (void)state;
    wfre_graph *graph = toy_random_graph(5, 40, 4, 300);
    wfre_train_settings settings = recipe(3);
    wfre_trainer *trainer;
    settings.steps = 12;
    settings.batch = 60;
    settings.positives = 2;
    assert_ok(wfre_trainer_create(graph, &settings, NULL, &trainer, error));
    bool twice = false, answers = false;
    for (int step = 0; step < 12; step++) {
        take_steps(trainer, 1);
        const wfre_batch *batch = trainer->batch;
        for (size_t q = 0; q < batch->queries; q++) { /* paths, others, paths */
            assert_true((batch->types[q] >= 3) == (step % 3 == 1));
            const uint32_t *positives = batch->positives + batch->positive_begin[q];
            assert_int_equal(batch->positive_begin[q + 1] - batch->positive_begin[q], 2);
            twice = twice || positives[0] == positives[1];
            assert_int_equal(batch->negative_begin[q + 1] - batch->negative_begin[q], 16);
            for (uint32_t i = batch->negative_begin[q]; i < batch->negative_begin[q + 1]; i++)
                for (uint32_t a = batch->answer_begin[q]; a < batch->answer_begin[q + 1]; a++)
                    answers = answers || batch->negatives[i] == batch->answers[a];
        }
        /* AdamW began anew where the rate dropped: after a single step the second moment is
         * (1 - beta2) times the square of what the first is (1 - beta1) times of. */
        uint64_t since = step < 6 ? 0 : step < 9 ? 6 : 9;
        assert_int_equal(trainer->restart, since);
        for (size_t i = 0; i < 20 && (uint64_t)step == since; i++) {
            double gradient = (double)trainer->first[4][i] / 0.1;
            assert_true(fabs((double)trainer->second[4][i] - 0.001 * gradient * gradient) <=
                        1e-4 * 0.001 * gradient * gradient);
        }
    }
    assert_true(twice && answers);
    wfre_trainer_free(trainer);
    wfre_graph_close(graph);
}

static void note_relations(const wfre_node *node, bool *seen)
{
    if (node->op == WFRE_OP_PROJECT)
        seen[node->id] = true;
    for (uint32_t i = 0; i < node->child_count; i++)
        note_relations(node->children[i], seen);
}

/* Distinct relations of a batch, over twelve steps; their types are counted, too. */
static double relations_a_batch(const wfre_graph *graph, uint32_t deal, uint32_t *types)
{
    wfre_train_settings settings = recipe(0);
    wfre_trainer *trainer;
    size_t distinct = 0;
    settings.batch = 64;
    settings.deal = deal;
    settings.steps = 12;
    memset(types, 0, WFRE_TRAIN_TYPES * sizeof *types);
    assert_ok(wfre_trainer_create(graph, &settings, NULL, &trainer, error));
    for (int step = 0; step < 12; step++) {
        bool seen[400] = {false};
        take_steps(trainer, 1);
        for (size_t q = 0; q < trainer->batch->queries; q++) {
            note_relations(trainer->batch->trees[q], seen);
            types[trainer->batch->types[q]]++;
        }
        for (size_t r = 0; r < 400; r++)
            distinct += seen[r];
    }
    wfre_trainer_free(trainer);
    return (double)distinct / 12;
}

/* Batches that are dealt out have fewer relations, and as many queries of each type. */
static void test_deal(void **state)
{
    (void)state;
    wfre_graph *graph = toy_random_graph(5, 300, 200, 3000);
    uint32_t plain[WFRE_TRAIN_TYPES], dealt[WFRE_TRAIN_TYPES];
    double before = relations_a_batch(graph, 1, plain);
    double after = relations_a_batch(graph, 6, dealt);
    print_message("relations a batch: %.1f, dealt out %.1f\n", before, after);
    assert_true(after < 0.92 * before);
    for (int t = 0; t < WFRE_TRAIN_TYPES; t++)
        assert_true(abs((int)plain[t] - (int)dealt[t]) <= 12);
    wfre_graph_close(graph);
}

/* By the rule, the logits of random histograms spread alike for every score. */
static void test_rho_rule(void **state)
{
    (void)state;
    static const struct {
        uint32_t block;
        double radius, power;
    } cases[] = {{5, 1, -1}, {5, 3, -1}, {5, 3.14159265358979, 2}, {10, 3, -1}, {20, 2, 1}};
    double spread[5], mean[5];
    for (size_t i = 0; i < 5; i++) {
        wfre_train_settings s = recipe(0);
        s.model.score.block = cases[i].block;
        s.model.score.radius = cases[i].radius;
        s.model.score.power = cases[i].power;
        s.rho_rule = WFRE_RHO_SPREAD;
        s.mass = 0.05;
        assert_ok(wfre_train_scale(&s, NULL, error));
        assert_true(s.rho_rule == WFRE_RHO_GIVEN);
        assert_true(fabs(s.mass * s.model.rho - 0.05 * 14) < 1e-9);
        enum { ROWS = 60, WIDTH = 400, PAIRS = ROWS * ROWS };
        static float rows[ROWS * WIDTH], queries[ROWS * WIDTH], distance[PAIRS];
        static uint32_t left[PAIRS], right[PAIRS];
        wfre_rng rng = wfre_rng_keyed(77, 0, 0);
        for (size_t k = 0; k < ROWS * WIDTH; k++)
            rows[k] = wfre_rng_float(&rng);
        for (size_t k = 0; k < ROWS * WIDTH; k++)
            queries[k] = (float)(1 / (1 + exp(-wfre_rng_normal(&rng))));
        wfre_score_settings score = s.model.score;
        wfre_score *made;
        score.dimension = WIDTH;
        assert_ok(wfre_score_create(&score, &made, error));
        for (uint32_t k = 0; k < PAIRS; k++) {
            left[k] = k % ROWS;
            right[k] = k / ROWS;
        }
        wfre_pairs pairs = {{rows, WIDTH}, {queries, WIDTH}, left, right, PAIRS};
        assert_ok(wfre_score_pairs(made, NULL, &pairs, distance, NULL, error));
        wfre_score_free(made);
        double variance = 0, sum = 0;
        for (size_t q = 0; q < ROWS; q++) {
            double own = 0, squares = 0;
            for (size_t k = 0; k < ROWS; k++) {
                double logit = s.model.gamma - s.model.rho * (double)distance[q * ROWS + k];
                own += logit / ROWS;
                squares += logit * logit / ROWS;
            }
            sum += own / ROWS;
            variance += (squares - own * own) / ROWS;
        }
        mean[i] = sum;
        spread[i] = sqrt(variance);
        print_message("block %u, radius %g: rho %.1f, logits %.2f +- %.3f\n", cases[i].block,
                      cases[i].radius, s.model.rho, sum, spread[i]);
        assert_true(fabs(spread[i] / spread[0] - 1) < 0.2);
        assert_true(fabs(mean[i] - mean[0]) < 0.6);
    }
}

/* Xavier's rule for all bases at once, and the gain sqrt 2 for the coefficients. */
static void test_initial(void **state)
{
    (void)state;
    wfre_graph *graph = toy_random_graph(5, 40, 4, 300);
    wfre_train_settings settings = recipe(3);
    wfre_trainer *trainer;
    settings.model.dim = 100;
    settings.model.bases = 9;
    assert_ok(wfre_trainer_create(graph, &settings, NULL, &trainer, error));
    const double most[] = {1, sqrt(2 * 6.0 / (8 + 9)), sqrt(6.0 / (100 * 10)), 0.1};
    for (int t = 1; t < 4; t++) {
        const wfre_tensor *tensor = &trainer->model->tensors[t];
        double sum = 0, highest = 0;
        for (size_t i = 0; i < tensor->count; i++) {
            sum += pow((double)tensor->data[i], 2);
            highest = fmax(highest, fabs((double)tensor->data[i]));
        }
        assert_true(highest <= most[t] * (1 + 1e-6) && highest > 0.9 * most[t]);
        assert_true(fabs(sqrt(3 * sum / (double)tensor->count) / most[t] - 1) < 0.2);
    }
    wfre_trainer_free(trainer);
    wfre_graph_close(graph);
}

static void test_presets(void **state)
{
    (void)state;
    struct {
        uint32_t entities, relations, triples, bases, batch;
        double edges, intersections; /* their shares */
    } cases[] = {{3000, 4, 9000, 16, 512, 4, 1},
                 {3000, 160, 9000, 24, 512, 60, 1},
                 {3000, 160, 40000, 24, 1024, 60, 2}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        wfre_graph *graph =
            toy_random_graph(5, cases[i].entities, cases[i].relations, cases[i].triples);
        wfre_train_settings s;
        assert_ok(wfre_train_preset(NULL, graph, &s, error));
        assert_int_equal(s.model.bases, cases[i].bases);
        assert_int_equal(s.batch, cases[i].batch);
        assert_true(s.mix[0] == cases[i].edges);
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

/* Nor does one that is hardly ever found. */
static void test_nearly_absent_types(void **state)
{
    (void)state;
    wfre_graph *graph = toy_pairs_graph(500); /* of which one attempt in 2,000 finds a 2i */
    wfre_train_settings settings = recipe(0);
    settings.batch = 256;
    for (int t = 0; t < WFRE_TRAIN_TYPES; t++)
        settings.mix[t] = t == 0 || t == 3 ? 1 : 0;
    wfre_trainer *trainer;
    assert_ok(wfre_trainer_create(graph, &settings, NULL, &trainer, error));
    take_steps(trainer, 40);
    /* Drawn as often as they are found: some 1% of those that 24 attempts are spent on. */
    double found = wfre_batcher_found(trainer->batcher, 3);
    print_message("2i: %.3f found\n", found);
    assert_true(found > 0.003 && found < 0.04 && wfre_batcher_found(trainer->batcher, 0) == 1);
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
        cmocka_unit_test(test_rivals),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_resume),
        cmocka_unit_test(test_old_checkpoint),
        cmocka_unit_test(test_damaged_checkpoint),
        cmocka_unit_test(test_learning),
        cmocka_unit_test(test_settings),
        cmocka_unit_test(test_presets),
        cmocka_unit_test(test_published),
        cmocka_unit_test(test_initial),
        cmocka_unit_test(test_rho_rule),
        cmocka_unit_test(test_deal),
        cmocka_unit_test(test_not_finite),
        cmocka_unit_test(test_memory),
        cmocka_unit_test(test_rare_types),
        cmocka_unit_test(test_nearly_absent_types),
        cmocka_unit_test(test_resumed_run),
        cmocka_unit_test(test_lost_model),
        cmocka_unit_test(test_fresh_run),
        cmocka_unit_test(test_output_is_a_file),
        cmocka_unit_test(test_bf16_and_lazy),
        cmocka_unit_test(test_rival_runs),
        cmocka_unit_test(test_torn_log),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
