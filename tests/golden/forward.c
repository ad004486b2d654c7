/* Our forward against the published one: weights and the logits of all 14 types, made by an
 * independent implementation in PyTorch (tests/golden/forward.py). */
#include "check.h"

#include <jansson.h>
#include <math.h>

#include "model/run.h"

static json_t *golden;

static const wfre_node *tree_of(wfre_arena *arena, const json_t *query)
{
    const char *op = json_string_value(json_array_get(query, 0));
    const wfre_node *children[4];
    uint32_t count = 0;
    if (op[0] == 'e')
        return wfre_node_entity(arena, (uint32_t)json_integer_value(json_array_get(query, 1)));
    if (op[0] == 'p')
        return wfre_node_project(arena, (uint32_t)json_integer_value(json_array_get(query, 1)),
                                 tree_of(arena, json_array_get(query, 2)));
    if (op[0] == 'n')
        return wfre_node_negate(arena, tree_of(arena, json_array_get(query, 1)));
    for (size_t i = 1; i < json_array_size(query); i++)
        children[count++] = tree_of(arena, json_array_get(query, i));
    return wfre_node_make(arena, op[0] == 'i' ? WFRE_OP_INTERSECT : WFRE_OP_UNION, WFRE_NONE,
                          children, count);
}

static uint32_t count_of(const char *name)
{
    return (uint32_t)json_integer_value(json_object_get(golden, name));
}

/* A model with the weights of the case and the published factor. */
static wfre_model *open_model(double complement)
{
    static const char *const names[] = {"entities", "coefficients", "bases",
                                        "biases",   "gain",         "shift"};
    wfre_model_settings settings;
    wfre_model *model;
    wfre_model_settings_default(&settings);
    settings.dim = count_of("dim");
    settings.bases = count_of("bases");
    settings.complement = complement;
    assert_ok(wfre_model_allocate(&settings, count_of("entity_count"), count_of("relation_count"),
                                  0, &model, error));
    for (uint32_t t = 0; t < model->tensor_count; t++) {
        const json_t *values = json_object_get(json_object_get(golden, "weights"), names[t]);
        assert_int_equal(json_array_size(values), model->tensors[t].count);
        for (size_t i = 0; i < model->tensors[t].count; i++)
            model->tensors[t].data[i] = (float)json_real_value(json_array_get(values, i));
    }
    return model;
}

/* The logit of one entity: the best over the query's branches. */
static double logit_of(const wfre_model *model, const wfre_score *score, const wfre_run *run,
                       const wfre_program *program, uint32_t entity)
{
    size_t d = model->settings.dim;
    double left[64], right[64], best = -INFINITY;
    assert_true(d <= 64);
    for (size_t i = 0; i < d; i++)
        left[i] = fmin(fmax((double)model->entities[entity * d + i], 0), 1);
    for (uint32_t r = 0; r < program->root_count; r++) {
        double distance;
        for (size_t i = 0; i < d; i++)
            right[i] = (double)wfre_run_row(run, program->roots[r])[i];
        assert_ok(wfre_score_pair(score, left, right, &distance, NULL, NULL, error));
        best = fmax(best, model->settings.gamma - model->settings.rho * distance);
    }
    return best;
}

/* The largest relative difference over the queries with the types that are wanted. */
static double compare(double complement, bool negation)
{
    wfre_model *model = open_model(complement);
    wfre_linalg *linalg;
    wfre_run *run;
    wfre_score *score;
    wfre_program program = {0};
    wfre_arena arena = {0};
    double worst = 0;
    assert_ok(wfre_linalg_create(NULL, WFRE_ISA_REFERENCE, &linalg, error));
    assert_ok(wfre_run_create(model, NULL, linalg, WFRE_FP32, &run, error));
    assert_ok(wfre_score_create(&model->settings.score, &score, error));
    json_t *queries = json_object_get(golden, "queries");
    for (size_t q = 0; q < json_array_size(queries); q++) {
        const json_t *row = json_array_get(queries, q);
        const char *type = json_string_value(json_object_get(row, "type"));
        if ((strchr(type, 'n') != NULL) != negation)
            continue;
        const wfre_node *tree = tree_of(&arena, json_object_get(row, "query"));
        assert_ok(wfre_program_compile(&program, &tree, 1, WFRE_UNION_DNF, error));
        assert_ok(wfre_run_forward(run, &program, NULL, error));
        for (uint32_t e = 0; e < model->entity_count; e++) {
            double want = json_real_value(json_array_get(json_object_get(row, "logits"), e));
            double have = logit_of(model, score, run, &program, e);
            worst = fmax(worst, fabs(have - want) / (fabs(want) + 1));
        }
    }
    print_message("factor %g, %s: logits differ by %.1e\n", complement,
                  negation ? "5 types with negation" : "9 types without", worst);
    wfre_score_free(score);
    wfre_run_free(run);
    wfre_linalg_free(linalg);
    wfre_program_free(&program);
    wfre_arena_free(&arena);
    wfre_model_free(model);
    return worst;
}

static void test_agrees(void **state)
{
    (void)state;
    assert_int_equal(json_array_size(json_object_get(golden, "queries")), 14);
    assert_true(compare(0.9, false) < 1e-5);
    assert_true(compare(0.9, true) < 1e-5);
    assert_true(compare(1, true) > 1e-3); /* the factor matters, or nothing was compared */
}

int main(void)
{
    char path[4096];
    const char *source = getenv("WFRE_SOURCE");
    (void)snprintf(path, sizeof path, "%s/tests/data/forward/case.json", source ? source : ".");
    json_error_t error;
    golden = json_load_file(path, 0, &error);
    if (!golden) {
        printf("%s: %s\n", path, error.text);
        return 1;
    }
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_agrees)};
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    json_decref(golden);
    return failed;
}
