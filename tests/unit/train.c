/* Steps of training: the same bits on any number of threads, learning, what is not finite, memory.
 */
#include "training.h"

#include <math.h>

#include "base/clock.h"
#include "base/scope.h"

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

/* A step that is stopped, wherever that is, changes nothing: made again it is what it would have
 * been. */
static void test_stopped_steps(void **state)
{
    (void)state;
    wfre_graph *graph = toy_random_graph(5, 40, 4, 300);
    wfre_pool *pool;
    assert_ok(wfre_pool_create(2, &pool, error));
    for (int variant = 0; variant < VARIANTS; variant++) {
        wfre_train_settings settings = recipe(variant);
        wfre_trainer *whole, *stopped;
        int stops = 0;
        assert_ok(wfre_trainer_create(graph, &settings, pool, &whole, error));
        assert_ok(wfre_trainer_create(graph, &settings, pool, &stopped, error));
        choose_updates(whole, variant);
        choose_updates(stopped, variant);
        for (int step = 0; step < 4; step++) {
            wfre_status status = WFRE_ERR_TIMEOUT;
            take_steps(whole, 1);
            for (double allowed = 1e-9; status == WFRE_ERR_TIMEOUT; allowed += 2e-5, stops++) {
                wfre_scope limited = {.deadline = wfre_clock() + allowed};
                wfre_scope before = wfre_scope_enter(limited);
                status = wfre_trainer_step(stopped, NULL);
                (void)wfre_scope_enter(before);
                if (status != WFRE_OK)
                    assert_int_equal(stopped->step, (uint64_t)step);
            }
            assert_int_equal(status, WFRE_OK);
            assert_same_model(whole->model, stopped->model);
        }
        assert_true(stops > 4);
        assert_true(whole->last_loss == stopped->last_loss);
        wfre_trainer_free(whole);
        wfre_trainer_free(stopped);
    }
    wfre_pool_free(pool);
    wfre_graph_close(graph);
}

/* The guide beside the score: pairs that are left to it bring both together, and nothing is learned
 * on the way. */
static void test_compare(void **state)
{
    (void)state;
    wfre_graph *graph = toy_random_graph(5, 60, 4, 300);
    wfre_train_settings s = recipe(6);
    wfre_trainer *trainer;
    wfre_guide_error alone, some, all;
    s.model.members = 1;
    s.negatives = 40;
    assert_ok(wfre_trainer_create(graph, &s, NULL, &trainer, error));
    take_steps(trainer, 2);
    assert_ok(wfre_trainer_compare(trainer, 10, 0, &alone, error));
    assert_ok(wfre_trainer_compare(trainer, 10, 16, &some, error));
    assert_ok(wfre_trainer_compare(trainer, 10, 1000, &all, error));
    print_message("questions %.4f %.4f %.6f, entities %.4f %.4f %.6f\n", alone.questions,
                  some.questions, all.questions, alone.entities, some.entities, all.entities);
    assert_true(alone.fit > 0.9 && alone.questions > 0.01 && alone.entities > 0.01);
    assert_true(some.questions < 0.5 * alone.questions && some.entities < 0.5 * alone.entities);
    assert_true(all.questions < 1e-3 && all.entities < 1e-3);
    assert_int_equal(wfre_trainer_status(trainer).step, 2);
    wfre_trainer_free(trainer);
    s.guide = WFRE_GUIDE_STAGED_SURROGATE;
    assert_ok(wfre_trainer_create(graph, &s, NULL, &trainer, error));
    assert_int_equal(wfre_trainer_compare(trainer, 10, 0, &alone, NULL), WFRE_ERR_ARGUMENT);
    wfre_trainer_free(trainer);
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
        cmocka_unit_test(test_threads),  cmocka_unit_test(test_stopped_steps),
        cmocka_unit_test(test_compare),  cmocka_unit_test(test_bf16_and_lazy),
        cmocka_unit_test(test_learning), cmocka_unit_test(test_not_finite),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
