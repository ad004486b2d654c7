/* Checkpoints: what is read goes on with the same bits; damaged and old ones. */
#include "training.h"

#include <unistd.h>

#include "base/file.h"
#include "base/text.h"
#include "sealing.h"
#include "train/checkpoint.h"

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_resume),
        cmocka_unit_test(test_damaged_checkpoint),
        cmocka_unit_test(test_old_checkpoint),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
