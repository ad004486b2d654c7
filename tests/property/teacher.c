/* What factors teach, against its definition (train/teacher.h) in double precision; and the same
 * bits on any number of threads. */
#include "check.h"

#include <math.h>

#include "graph/graph.h"
#include "model/factors.h"
#include "toy.h"
#include "train/teacher.h"

enum { ENTITIES = 60, RELATIONS = 3, TRIPLES = 240, SIZE = 4, QUERIES = 200 };

typedef struct fixture {
    wfre_graph *graph;
    wfre_train_settings settings;
    wfre_model *model;
    wfre_pool *pool;
    wfre_batcher *batcher;
    const wfre_batch *batch;
    wfre_teacher *teacher;
    const float *targets;
} fixture;

static void open_fixture(fixture *f, uint32_t candidates, unsigned threads)
{
    memset(f, 0, sizeof *f);
    f->graph = toy_random_graph(5, ENTITIES, RELATIONS, TRIPLES);
    assert_ok(wfre_train_preset("small", NULL, &f->settings, error));
    f->settings.model.dim = 20;
    f->settings.model.factors = SIZE;
    f->settings.batch = QUERIES;
    f->settings.negatives = candidates;
    assert_ok(wfre_model_create(f->graph, &f->settings.model, 5, &f->model, error));
    wfre_rng rng = wfre_rng_keyed(5, 0, 0);
    for (int t = 0; t < WFRE_FACTOR_TENSORS; t++)
        for (size_t i = 0; i < f->model->factors->tensors[t].count; i++)
            f->model->factors->tensors[t].data[i] = (float)wfre_rng_normal(&rng);
    assert_ok(wfre_pool_create(threads, &f->pool, error));
    assert_ok(wfre_batcher_create(f->graph, &f->settings, f->pool, &f->batcher, error));
    assert_ok(wfre_teacher_create(f->graph, f->model, WFRE_FP32, f->pool, &f->teacher, error));
    assert_ok(wfre_batcher_draw(f->batcher, 3, 0, &f->batch, error));
    assert_ok(wfre_teacher_targets(f->teacher, f->batch, f->batcher, &f->targets, error));
}

static void close_fixture(fixture *f)
{
    wfre_teacher_free(f->teacher);
    wfre_batcher_free(f->batcher);
    wfre_pool_free(f->pool);
    wfre_model_free(f->model);
    wfre_graph_close(f->graph);
}

static double score(const fixture *f, const wfre_node *edge, wfre_entity y)
{
    const float *x = wfre_factors_entity(f->model->factors, edge->children[0]->id);
    const float *r = wfre_factors_relation(f->model->factors, edge->id);
    const float *z = wfre_factors_entity(f->model->factors, y);
    double sum = 0;
    for (size_t i = 0; i < SIZE; i++) {
        double xr = (double)x[i], xi = (double)x[SIZE + i], rr = (double)r[i];
        double ri = (double)r[SIZE + i];
        sum += (xr * rr - xi * ri) * (double)z[i] + (xr * ri + xi * rr) * (double)z[SIZE + i];
    }
    return sum;
}

static wfre_list known_of(const fixture *f, const wfre_node *edge)
{
    return wfre_graph_targets(f->graph, WFRE_TRAIN, edge->id, edge->children[0]->id);
}

/* The truth of an edge to a candidate. */
static double truth(const fixture *f, const wfre_node *edge, wfre_entity y)
{
    wfre_list known = known_of(f, edge);
    double sum = 0, n = (double)known.count, all = ENTITIES;
    if (wfre_list_has(known, y))
        return 1;
    for (size_t c = 0; c < f->batch->candidate_count; c++)
        if (!wfre_list_has(known, f->batch->slots[c]))
            sum += exp(score(f, edge, f->batch->slots[c]));
    double room = n < 2 ? 1 + n : 2.8 + n / 10;
    double odds =
        fmin(room, 1 + n) * exp(score(f, edge, y)) / sum * (double)f->batch->candidate_count / all;
    return odds / (1 + odds);
}

/* That of a tree of edges; negative for another. */
static double truth_of(const fixture *f, const wfre_node *tree, wfre_entity y)
{
    double product = 1;
    if (wfre_node_is_edge(tree))
        return truth(f, tree, y);
    if (tree->op == WFRE_OP_NEGATE) {
        double of = truth_of(f, tree->children[0], y);
        return of < 0 ? of : 1 - of;
    }
    if (tree->op != WFRE_OP_INTERSECT)
        return -1;
    for (uint32_t i = 0; i < tree->child_count; i++) {
        double of = truth_of(f, tree->children[i], y);
        if (of < 0)
            return of;
        product *= fmax(of, 1e-10);
    }
    return product;
}

static bool is_answer(const fixture *f, size_t q, size_t c)
{
    for (uint32_t i = f->batch->answer_begin[q]; i < f->batch->answer_begin[q + 1]; i++)
        if (f->batch->answers[i] == c)
            return true;
    return false;
}

static void check_query(const fixture *f, size_t q, size_t *taught)
{
    size_t n = f->batch->candidate_count;
    const wfre_node *tree = f->batch->trees[q];
    const float *target = f->targets + q * n;
    double of[ENTITIES], sum = 0;
    bool teaches = truth_of(f, tree, 0) >= 0;
    *taught += teaches;
    for (size_t c = 0; c < n; c++) {
        bool out = !teaches || is_answer(f, q, c);
        of[c] = out ? 0 : truth_of(f, tree, f->batch->slots[c]);
        sum += of[c];
    }
    for (size_t c = 0; c < n; c++)
        assert_true(fabs((double)target[c] - (sum > 0 ? of[c] / sum : 0)) < 1e-5);
}

static void targets_are_as_defined(void **state)
{
    (void)state;
    for (uint32_t candidates = 20; candidates <= 1000; candidates += 980) {
        fixture f;
        size_t taught = 0;
        open_fixture(&f, candidates, 1);
        for (size_t q = 0; q < QUERIES; q++)
            check_query(&f, q, &taught);
        assert_in_range(taught, QUERIES / 4, QUERIES - QUERIES / 10);
        close_fixture(&f);
    }
}

static void threads_make_no_difference(void **state)
{
    (void)state;
    fixture one, three;
    open_fixture(&one, 20, 1);
    open_fixture(&three, 20, 3);
    assert_int_equal(one.batch->candidate_count, three.batch->candidate_count);
    assert_memory_equal(one.targets, three.targets,
                        QUERIES * one.batch->candidate_count * sizeof *one.targets);
    close_fixture(&one);
    close_fixture(&three);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(targets_are_as_defined),
        cmocka_unit_test(threads_make_no_difference),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
