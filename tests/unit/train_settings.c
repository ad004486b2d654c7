/* Settings of training: names and limits, recipes that fit the graph, rules, first values. */
#include "training.h"

#include <math.h>

#include "base/rng.h"

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

/* A model from before has no factors, which cannot teach then; what was asked for stands. */
static void test_start_without_factors(void **state)
{
    (void)state;
    wfre_graph *graph = toy_random_graph(5, 40, 4, 300);
    wfre_train_settings preset, s;
    assert_ok(wfre_train_preset("embedding", graph, &preset, error));
    assert_true(preset.teach > 0);
    wfre_model_settings old = preset.model;
    for (int i = 0; i < 2; i++) {
        wfre_trainer *trainer;
        old.factors = i == 0 ? 0 : 8;
        s = preset;
        assert_ok(wfre_train_take_sizes(&s, &preset, &old, error));
        assert_int_equal(s.model.factors, old.factors);
        assert_true(s.teach == (i == 0 ? 0 : preset.teach));
        assert_ok(wfre_trainer_create(graph, &s, NULL, &trainer, error));
        wfre_trainer_free(trainer);
    }
    old.factors = 0;
    s = preset;
    s.teach = 2;
    wfre_trainer *trainer;
    wfre_error why;
    assert_ok(wfre_train_take_sizes(&s, &preset, &old, error));
    assert_int_equal(wfre_trainer_create(graph, &s, NULL, &trainer, &why), WFRE_ERR_ARGUMENT);
    assert_non_null(strstr(why.message, "`teach=0` does without"));
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_settings),
        cmocka_unit_test(test_presets),
        cmocka_unit_test(test_start_without_factors),
        cmocka_unit_test(test_rho_rule),
        cmocka_unit_test(test_initial),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
