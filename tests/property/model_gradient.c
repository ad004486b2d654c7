/* Gradients of the whole model against finite differences, over random query shapes: every
 * operator, t-norm, union mode, layer count, one member and two, with shared bases and free
 * matrices, with and without dropout (with masks for each relation and for each row).
 *
 * The objective is a random linear functional of the embedded queries, so that every row matters.
 * Dropout masks depend on seed and step alone, hence stay the same while a parameter is moved. */
#include "check.h"

#include <math.h>

#include "base/rng.h"
#include "model/run.h"

enum { ENTITIES = 7, DIM = 10, MOST_QUERIES = 200, TRIALS = 40 };

typedef struct setting {
    wfre_model_settings model;
    wfre_noise noise;
    uint32_t relations;
    int queries, depth;
} setting;

static const wfre_node *random_tree(wfre_arena *arena, wfre_rng *rng, uint32_t relations, int depth)
{
    uint32_t draw = depth == 0 ? 0 : wfre_rng_below(rng, 8);
    if (draw == 0)
        return wfre_node_entity(arena, wfre_rng_below(rng, ENTITIES));
    if (draw <= 3)
        return wfre_node_project(arena, wfre_rng_below(rng, relations),
                                 random_tree(arena, rng, relations, depth - 1));
    if (draw == 4)
        return wfre_node_negate(arena, random_tree(arena, rng, relations, depth - 1));
    const wfre_node *children[4];
    uint32_t count = 2 + wfre_rng_below(rng, 3);
    for (uint32_t i = 0; i < count; i++)
        children[i] = random_tree(arena, rng, relations, depth - 1);
    return wfre_node_make(arena, draw <= 6 ? WFRE_OP_INTERSECT : WFRE_OP_UNION, WFRE_NONE, children,
                          count);
}

/* sum over the roots of <weight, row>, in double precision. */
static double objective(const wfre_run *run, const wfre_program *program, const float *weight)
{
    double sum = 0;
    for (uint32_t r = 0; r < program->root_count; r++)
        for (uint32_t i = 0; i < DIM; i++)
            sum += (double)weight[r * DIM + i] * (double)wfre_run_row(run, program->roots[r])[i];
    return sum;
}

static double evaluate(wfre_run *run, const wfre_program *program, const wfre_noise *noise,
                       const float *weight)
{
    assert_ok(wfre_run_forward(run, program, noise, error));
    return objective(run, program, weight);
}

/* Compares one derivative. Where two step sizes disagree, or the slopes to either side, there is a
 * kink and nothing to compare. */
static int check_one(wfre_run *run, const wfre_program *program, const wfre_noise *noise,
                     const float *weight, float *parameter, double gradient)
{
    float kept = *parameter;
    double slope[2], bend = 0, middle = evaluate(run, program, noise, weight);
    for (int i = 0; i < 2; i++) {
        float step = i == 0 ? 4e-3f : 1e-3f;
        *parameter = kept + step;
        double high = evaluate(run, program, noise, weight), above = (double)*parameter;
        *parameter = kept - step;
        double low = evaluate(run, program, noise, weight), below = (double)*parameter;
        slope[i] = (high - low) / (above - below);
        bend = (high - middle) / (above - (double)kept) - (middle - low) / ((double)kept - below);
    }
    *parameter = kept;
    double size = 1 + fabs(slope[0]);
    if (fabs(slope[0] - slope[1]) > 2e-3 * size || fabs(bend) > 1e-2 * size)
        return 0;
    if (fabs(slope[0] - gradient) > 5e-3 * size)
        fail_msg("gradient %g, finite difference %g", gradient, slope[0]);
    return 1;
}

static int check_trial(const setting *s, uint64_t seed, wfre_linalg *linalg, wfre_pool *pool)
{
    wfre_rng rng = wfre_rng_keyed(seed, 0, 0);
    wfre_arena arena = {0};
    wfre_model *model;
    wfre_run *run;
    wfre_program program = {0};
    assert_ok(wfre_model_allocate(&s->model, ENTITIES, s->relations, 0, &model, error));
    for (uint32_t t = 0; t < model->tensor_count; t++)
        for (size_t i = 0; i < model->tensors[t].count; i++)
            model->tensors[t].data[i] =
                t == 0 ? 0.1f + 0.8f * wfre_rng_float(&rng) : (float)wfre_rng_normal(&rng);
    const wfre_node *trees[MOST_QUERIES];
    for (int q = 0; q < s->queries; q++)
        trees[q] = random_tree(&arena, &rng, s->relations, s->depth);
    assert_ok(
        wfre_program_compile(&program, trees, (size_t)s->queries, s->model.way.unions, error));
    assert_ok(wfre_run_create(model, pool, linalg, WFRE_FP32, &run, error));

    float *weight = wfre_alloc(program.root_count * DIM, sizeof *weight);
    for (size_t i = 0; i < program.root_count * DIM; i++)
        weight[i] = (float)wfre_rng_normal(&rng);
    wfre_tensor tensors[WFRE_MAXIMUM_TENSORS];
    assert_ok(wfre_parameters_allocate(model, tensors, error));
    (void)evaluate(run, &program, &s->noise, weight);
    for (uint32_t r = 0; r < program.root_count; r++)
        for (uint32_t i = 0; i < DIM; i++)
            wfre_run_gradient(run, program.roots[r])[i] += weight[r * DIM + i];
    assert_ok(wfre_run_backward(run, tensors, error));
    double entity_gradient[ENTITIES * DIM] = {0};
    for (uint32_t row = 0; row < program.leaf_count; row++)
        for (uint32_t i = 0; i < DIM; i++)
            entity_gradient[program.id[row] * DIM + i] += (double)wfre_run_gradient(run, row)[i];

    int checked = 0;
    for (int n = 0; n < 60; n++) {
        uint32_t t = wfre_rng_below(&rng, model->tensor_count);
        if (model->tensors[t].count == 0)
            continue;
        size_t i = wfre_rng_below(&rng, (uint32_t)model->tensors[t].count);
        double gradient = t == 0 ? entity_gradient[i] : (double)tensors[t - 1].data[i];
        checked +=
            check_one(run, &program, &s->noise, weight, &model->tensors[t].data[i], gradient);
    }
    wfre_free(weight);
    wfre_parameters_free(tensors);
    wfre_run_free(run);
    wfre_program_free(&program);
    wfre_model_free(model);
    wfre_arena_free(&arena);
    return checked;
}

static void test_gradients(void **state)
{
    (void)state;
    wfre_pool *pool;
    wfre_linalg *linalg;
    assert_ok(wfre_pool_create(2, &pool, error));
    assert_ok(wfre_linalg_create(pool, WFRE_ISA_REFERENCE, &linalg, error));
    int checked = 0, asked = 0;
    for (uint64_t seed = 1; seed <= TRIALS; seed++) {
        setting s = {.noise = {.seed = seed, .step = 3}, .relations = 6, .queries = 6, .depth = 3};
        if (seed % 8 == 1) { /* more relations than the way back holds at a time */
            s.relations = 1000;
            s.queries = MOST_QUERIES;
            s.depth = 2;
        }
        wfre_model_settings_default(&s.model);
        s.model.dim = DIM;
        s.model.tnorm = (wfre_tnorm)(seed % 3);
        s.model.way.unions = (wfre_union)(seed / 3 % 3);
        s.model.layers = 1 + (uint32_t)(seed / 9 % 2);
        s.model.members = 1 + (uint32_t)(seed / 8 % 2);
        s.model.bases = seed % 4 == 0 ? 0 : 3;
        s.model.complement = seed % 5 < 2 ? 0.8 : 1;
        s.noise.mask_rows = seed % 4 == 3;
        if (seed % 2) {
            s.noise.drop_input = 0.2f;
            s.noise.drop_basis = 0.3f;
            s.noise.drop_negation = 0.3f;
        }
        print_message("seed %llu\n", (unsigned long long)seed);
        checked += check_trial(&s, seed, linalg, pool);
        asked += 60;
    }
    print_message("%d of %d derivatives compared, the others lie at a kink\n", checked, asked);
    assert_true(checked > asked / 2);
    wfre_linalg_free(linalg);
    wfre_pool_free(pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_gradients)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
