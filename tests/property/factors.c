/* The loss of factors: its gradient against finite differences of its definition
 * (train/factors.h), with all entities as candidates and with a part of them; and the same bits on
 * any number of threads. */
#include "check.h"

#include <math.h>

#include "graph/graph.h"
#include "model/factors.h"
#include "toy.h"
#include "train/factors.h"

enum { ENTITIES = 30, RELATIONS = 3, TRIPLES = 90, SIZE = 4, FACTS = 16 };

typedef struct fixture {
    wfre_graph *graph;
    wfre_train_settings settings;
    wfre_model *model;
    wfre_pool *pool;
    wfre_linalg *linalg;
    wfre_factor_learner *learner;
} fixture;

static void open_fixture(fixture *f, uint32_t candidates, unsigned threads, double rate,
                         uint64_t seed)
{
    memset(f, 0, sizeof *f);
    f->graph = toy_random_graph(seed, ENTITIES, RELATIONS, TRIPLES);
    assert_ok(wfre_train_preset("small", NULL, &f->settings, error));
    f->settings.model.dim = 20;
    f->settings.model.factors = SIZE;
    f->settings.factor_facts = FACTS;
    f->settings.factor_candidates = candidates;
    f->settings.factor_penalty = 0.2;
    f->settings.factor_rate = rate;
    f->settings.seed = seed;
    assert_ok(wfre_model_create(f->graph, &f->settings.model, seed, &f->model, error));
    wfre_rng rng = wfre_rng_keyed(seed, 0, 0);
    for (int t = 0; t < WFRE_FACTOR_TENSORS; t++)
        for (size_t i = 0; i < f->model->factors->tensors[t].count; i++)
            f->model->factors->tensors[t].data[i] = (float)(0.5 * wfre_rng_normal(&rng));
    assert_ok(wfre_pool_create(threads, &f->pool, error));
    assert_ok(wfre_linalg_create(f->pool, WFRE_ISA_REFERENCE, &f->linalg, error));
    assert_ok(wfre_factor_learner_create(f->graph, &f->settings, f->model, f->pool, f->linalg,
                                         &f->learner, error));
}

static void close_fixture(fixture *f)
{
    wfre_factor_learner_free(f->learner);
    wfre_linalg_free(f->linalg);
    wfre_pool_free(f->pool);
    wfre_model_free(f->model);
    wfre_graph_close(f->graph);
}

static double loss_of(fixture *f, uint64_t step)
{
    double loss = 0;
    assert_ok(wfre_factors_learn(f->learner, step, &loss, error));
    return loss;
}

/* The first update of Adagrad moves every number by the rate, against the sign of its gradient, and
 * keeps the gradient's square: so both are seen from outside. */
static void check_gradient(uint32_t candidates, uint64_t seed)
{
    enum { STEP = 7 };
    fixture f, moved;
    int compared = 0;
    open_fixture(&f, candidates, 1, 0.1, seed);
    open_fixture(&moved, candidates, 1, 0.1, seed);
    (void)loss_of(&moved, STEP);
    wfre_factors_update(moved.learner);
    for (int t = 0; t < WFRE_FACTOR_TENSORS; t++)
        for (size_t i = 0; i < f.model->factors->tensors[t].count; i++) {
            float *number = &f.model->factors->tensors[t].data[i], kept = *number, step = 1e-2f;
            *number = kept + step;
            double high = loss_of(&f, STEP), above = (double)*number;
            *number = kept - step;
            double low = loss_of(&f, STEP), below = (double)*number;
            *number = kept;
            double slope = (high - low) / (above - below);
            double size = sqrt((double)wfre_factors_squares(moved.learner, t)[i]);
            double change = (double)(moved.model->factors->tensors[t].data[i] - kept);
            assert_true(fabs(size - fabs(slope)) < 2e-4 + 1e-2 * fabs(slope));
            if (fabs(slope) > 1e-3) {
                assert_true((change < 0) == (slope > 0));
                compared++;
            }
        }
    assert_true(compared > 50);
    close_fixture(&moved);
    close_fixture(&f);
}

static void gradient_is_that_of_the_loss(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 3; seed++) {
        check_gradient(1000, seed); /* all entities */
        check_gradient(20, seed);
    }
}

static void threads_make_no_difference(void **state)
{
    (void)state;
    for (uint32_t candidates = 20; candidates <= 1000; candidates += 980) {
        fixture one, three;
        open_fixture(&one, candidates, 1, 0.1, 9);
        open_fixture(&three, candidates, 3, 0.1, 9);
        for (uint64_t step = 0; step < 20; step++) {
            assert_true(loss_of(&one, step) == loss_of(&three, step));
            wfre_factors_update(one.learner);
            wfre_factors_update(three.learner);
        }
        for (int t = 0; t < WFRE_FACTOR_TENSORS; t++) {
            const wfre_tensor *a = &one.model->factors->tensors[t];
            assert_memory_equal(a->data, three.model->factors->tensors[t].data,
                                a->count * sizeof *a->data);
        }
        close_fixture(&one);
        close_fixture(&three);
    }
}

/* What is learned is what the graph says: known edges get better scores than others. */
static void known_edges_are_learned(void **state)
{
    (void)state;
    fixture f;
    open_fixture(&f, 1000, 1, 0.1, 4);
    double before = loss_of(&f, 0);
    for (uint64_t step = 0; step < 300; step++) {
        (void)loss_of(&f, step);
        wfre_factors_update(f.learner);
    }
    assert_true(loss_of(&f, 0) < 0.8 * before);
    close_fixture(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gradient_is_that_of_the_loss),
        cmocka_unit_test(threads_make_no_difference),
        cmocka_unit_test(known_edges_are_learned),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
