/* The known WFR values: every case, value and both gradients, with every kernel this CPU has. A
 * dozen of our own (scores.json, made by scores.py) are always there; those of the benchmark data
 * are added where it is. */
#include <jansson.h>
#include <math.h>

#include "check.h"
#include "wfre/score.h"

static double number_of(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    if (!json_is_number(value))
        fail_msg("the cases lack %s", key);
    return json_number_value(value);
}

static double *numbers_of(const json_t *object, const char *key, size_t *count)
{
    const json_t *list = json_object_get(object, key);
    *count = json_array_size(list);
    double *numbers = wfre_alloc(*count, sizeof *numbers);
    assert_non_null(numbers);
    for (size_t i = 0; i < *count; i++)
        numbers[i] = json_number_value(json_array_get(list, i));
    return numbers;
}

static void check_close(size_t index, wfre_isa isa, const char *what, double got, double expected,
                        double relative, double absolute)
{
    if (!(fabs(got - expected) <= relative * fabs(expected) + absolute))
        fail_msg("case %zu, %s, %s: got %.17g, expected %.17g", index, wfre_isa_name(isa), what,
                 got, expected);
}

static void check_case(size_t index, const json_t *json, wfre_isa isa)
{
    size_t d, count;
    double *left = numbers_of(json, "left", &d), *right = numbers_of(json, "right", &count);
    assert_int_equal(d, count);
    double *expected_left = numbers_of(json, "grad_left", &count);
    double *expected_right = numbers_of(json, "grad_right", &count);
    assert_int_equal(d, count);
    wfre_score_settings settings;
    wfre_score_defaults(d, &settings);
    settings.block = (uint32_t)number_of(json, "block");
    settings.iterations = (uint32_t)number_of(json, "iterations");
    settings.radius = number_of(json, "radius");
    settings.epsilon = number_of(json, "epsilon");
    settings.power = number_of(json, "power");
    settings.floor = number_of(json, "floor");
    wfre_score *score;
    assert_ok(wfre_score_create_for(&settings, isa, &score, error));
    double *gradients = wfre_alloc(2 * d, sizeof *gradients);
    double distance, with_gradients;
    assert_ok(wfre_score_pair(score, left, right, &distance, NULL, NULL, error));
    assert_ok(
        wfre_score_pair(score, left, right, &with_gradients, gradients, gradients + d, error));
    bool reference = isa == WFRE_ISA_REFERENCE;
    double expected = number_of(json, "distance");
    double relative = reference ? 1e-9 : 2e-6, absolute = reference ? 1e-12 : 1e-7;
    check_close(index, isa, "distance", distance, expected, relative, absolute);
    check_close(index, isa, "distance with gradients", with_gradients, expected, relative,
                absolute);
    for (size_t i = 0; i < d; i++) {
        double tolerance = reference ? 1e-9 : 1e-5;
        check_close(index, isa, "left gradient", gradients[i], expected_left[i], tolerance,
                    tolerance / 10);
        check_close(index, isa, "right gradient", gradients[d + i], expected_right[i], tolerance,
                    tolerance / 10);
    }
    wfre_score_free(score);
    wfre_free(gradients);
    wfre_free(left);
    wfre_free(right);
    wfre_free(expected_left);
    wfre_free(expected_right);
}

static void test_known_values(void **state)
{
    const json_t *cases = *state;
    assert_true(json_array_size(cases) > 0);
    for (int isa = WFRE_ISA_REFERENCE; isa <= WFRE_ISA_AVX512; isa++) {
        if (!wfre_isa_available((wfre_isa)isa))
            continue;
        for (size_t i = 0; i < json_array_size(cases); i++)
            check_case(i, json_array_get(cases, i), (wfre_isa)isa);
    }
}

int main(void)
{
    const char *source = getenv("WFRE_SOURCE"), *shared = getenv("WFRE_SHARED");
    char path[4096];
    json_error_t problem;
    (void)snprintf(path, sizeof path, "%s/tests/golden/scores.json", source ? source : ".");
    json_t *cases = json_load_file(path, 0, &problem);
    if (!cases) {
        printf("%s: %s\n", path, problem.text);
        return 1;
    }
    (void)snprintf(path, sizeof path, "%s/golden/wfr_scores.json", shared ? shared : ".");
    json_t *more = json_load_file(path, 0, &problem);
    if (more)
        (void)json_array_extend(cases, more);
    json_decref(more);
    printf("%zu cases\n", json_array_size(cases));
    const struct CMUnitTest tests[] = {cmocka_unit_test_prestate(test_known_values, cases)};
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    json_decref(cases);
    return failed;
}
