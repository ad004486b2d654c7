/* Training on UMLS: the losses of the first ten steps are known, and within a minute the model
 * ranks held-out answers far above chance. Skips when the data is not there. */
#include "check.h"

#include <math.h>

#include "base/file.h"
#include "train/trainer.h"
#include "train/validation.h"

static wfre_graph *umls;

static wfre_train_settings recipe(void)
{
    wfre_train_settings s;
    assert_ok(wfre_train_preset("small", umls, &s, error));
    s.model.dim = 100;
    s.model.bases = 8;
    s.batch = 128;
    s.steps = 400;
    s.seed = 11;
    return s;
}

/* With the reference kernels, which compute in the same order everywhere. */
static void test_golden_losses(void **state)
{
    (void)state;
    static const double golden[10] = {5.045676, 5.053756, 4.928553, 4.931342, 4.784923,
                                      4.821278, 4.742425, 4.787806, 4.780565, 4.602233};
    wfre_train_settings settings = recipe();
    wfre_trainer *trainer;
    setenv("WFRE_ISA", "reference", 1);
    assert_ok(wfre_trainer_create(umls, &settings, NULL, &trainer, error));
    for (int i = 0; i < 10; i++) {
        assert_ok(wfre_trainer_step(trainer, error));
        double loss = wfre_trainer_status(trainer).last_loss;
        print_message("%.6f\n", loss);
        assert_true(fabs(loss - golden[i]) < 2e-6);
    }
    wfre_trainer_free(trainer);
    unsetenv("WFRE_ISA");
}

static void test_above_chance(void **state)
{
    (void)state;
    wfre_train_settings settings = recipe();
    wfre_pool *pool;
    wfre_trainer *trainer;
    wfre_validation *validation;
    wfre_validated before, after;
    assert_ok(wfre_pool_create(0, &pool, error));
    wfre_validation_options sample = {.per_type = 10, .triples = 100, .seed = 3};
    assert_ok(wfre_validation_create(umls, &sample, pool, &validation, error));
    assert_non_null(validation);
    assert_ok(wfre_trainer_create(umls, &settings, pool, &trainer, error));
    assert_ok(
        wfre_validation_run(validation, wfre_trainer_model(trainer), 0, NULL, &before, error));
    while (!wfre_trainer_done(trainer))
        assert_ok(wfre_trainer_step(trainer, error));
    assert_ok(wfre_validation_run(validation, wfre_trainer_model(trainer), 0, NULL, &after, error));
    print_message("MRR of 14 types: untrained %.3f, trained %.3f; of links: %.3f, %.3f\n",
                  before.mrr, after.mrr, before.links, after.links);
    assert_true(before.mrr < 0.12 && before.links < 0.12);
    assert_true(after.mrr > 0.35 && after.links > 0.35);
    wfre_validation_free(validation);
    wfre_trainer_free(trainer);
    wfre_pool_free(pool);
}

int main(void)
{
    const char *shared = getenv("WFRE_SHARED");
    char *folder = wfre_path_join(shared ? shared : ".", "data/small/umls");
    if (!wfre_is_folder(folder)) {
        printf("skipped: UMLS is not there\n");
        wfre_free(folder);
        return 77;
    }
    const char *source = folder;
    wfre_import_options options = {0};
    wfre_error error;
    if (wfre_import_graph(&source, 1, &options, NULL, &umls, NULL, &error) != WFRE_OK) {
        printf("%s\n", error.message);
        return 1;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_golden_losses),
        cmocka_unit_test(test_above_chance),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    wfre_graph_close(umls);
    wfre_free(folder);
    return failed;
}
