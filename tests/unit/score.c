/* Scores: running out of memory at every step of every entry point, and cases in JSON. */
#include <math.h>

#include "base/pool.h"
#include "check.h"
#include "wfr/cases.h"

enum { D = 40, ROWS = 6 };

static float rows[ROWS * D];

static void fill_rows(void)
{
    for (int i = 0; i < ROWS * D; i++)
        rows[i] = (float)(i * 37 % 101) / 101;
}

/* ---- out of memory ------------------------------------------------------------------------ */

/* Settings with everything: a score, a pair, pairs with gradients, a store, a ranking. */
static wfre_status use_score(void *context)
{
    const wfre_isa *isa = context;
    wfre_status status = WFRE_OK;
    wfre_score_settings settings;
    wfre_score *score = NULL;
    wfre_store *store = NULL;
    double left[D], right[D], distance, left_slopes[D], right_slopes[D];
    float distances[ROWS], slopes[2 * ROWS * D];
    wfre_pairs pairs = {{rows, D}, {rows, D}, NULL, NULL, ROWS};
    wfre_gradients gradients = {slopes, slopes + ROWS * D, D};
    wfre_rank_job job = {{rows, D}, 1, NULL, 0, WFRE_RANK_EXTRAPOLATED, ROWS};
    for (int i = 0; i < D; i++) {
        left[i] = (double)rows[i];
        right[i] = (double)rows[D + i];
    }
    wfre_score_defaults(D, &settings);
    TRY(wfre_score_create_for(&settings, *isa, &score, NULL));
    TRY(wfre_score_prepare_ranking(score, NULL));
    TRY(wfre_score_pair(score, left, right, &distance, NULL, NULL, NULL));
    TRY(wfre_score_pair(score, left, right, &distance, left_slopes, right_slopes, NULL));
    TRY(wfre_score_pairs(score, NULL, &pairs, distances, NULL, NULL));
    TRY(wfre_score_pairs(score, NULL, &pairs, distances, &gradients, NULL));
    TRY(wfre_store_create(score, NULL, rows, WFRE_FLOAT32, D, ROWS, &store, NULL));
    TRY(wfre_score_rank(score, NULL, store, &job, distances, NULL));
cleanup:
    wfre_store_free(store);
    wfre_score_free(score);
    return status;
}

static void test_score_memory(void **state)
{
    (void)state;
    for (int i = WFRE_ISA_REFERENCE; i <= WFRE_ISA_AVX512; i++) {
        wfre_isa isa = (wfre_isa)i;
        if (wfre_isa_available(isa))
            sweep_allocations(use_score, &isa);
    }
}

static wfre_status use_dense_solver(void *context)
{
    (void)context;
    static const double mass[] = {1, 0.5, 2}, position[] = {0, 1.5, 2};
    double plan[9];
    wfre_measure measure = {mass, position, 3};
    wfre_score_settings settings;
    wfre_transport result;
    wfre_score_defaults(1, &settings);
    return wfre_transport_solve(&measure, &measure, &settings, 1, plan, &result, NULL);
}

static void test_dense_memory(void **state)
{
    (void)state;
    sweep_allocations(use_dense_solver, NULL);
}

/* ---- cases -------------------------------------------------------------------------------- */

static const char CASES[] = "[{\"left\": [1, 0], \"right\": [0.5, 1], \"block\": 2},\n"
                            " {\"right\": [0], \"left\": [1], \"power\": 1, \"iterations\": 3}]";

static wfre_status parse(const char *text, wfre_score_cases **cases, wfre_error *error)
{
    wfre_score_settings defaults;
    wfre_score_defaults(0, &defaults);
    return wfre_score_cases_parse("cases", text, strlen(text), &defaults, cases, error);
}

static void test_cases(void **state)
{
    (void)state;
    wfre_score_cases *cases;
    assert_ok(parse(CASES, &cases, error));
    assert_int_equal(wfre_score_cases_count(cases), 2);
    const wfre_score_case *first = wfre_score_cases_get(cases, 0);
    const wfre_score_case *second = wfre_score_cases_get(cases, 1);
    assert_int_equal(first->settings.dimension, 2);
    assert_int_equal(first->settings.block, 2);
    assert_int_equal(first->settings.iterations, 10);
    assert_true(first->left[0] == 1 && first->left[1] == 0);
    assert_true(first->right[0] == 0.5 && first->right[1] == 1);
    assert_int_equal(second->settings.iterations, 3);
    assert_true(second->settings.power == 1 && second->left[0] == 1 && second->right[0] == 0);
    wfre_score_cases_free(cases);
    assert_ok(parse("[]", &cases, error));
    assert_int_equal(wfre_score_cases_count(cases), 0);
    wfre_score_cases_free(cases);
}

static void test_bad_cases(void **state)
{
    (void)state;
    static const struct {
        const char *text, *message;
    } bad[] = {
        {"{}", "cases: expected an array of cases, [{\"left\": [], \"right\": []}]"},
        {"[1]", "cases: case 0: \"left\" and \"right\" must be arrays of numbers"},
        {"[{\"left\": [1], \"right\": [1, 2]}]",
         "cases: case 0: \"left\" and \"right\" differ in length"},
        {"[{\"left\": [], \"right\": []}, {\"left\": [1], \"right\": [2], \"block\": -1}]",
         "cases: case 1: \"block\" must be a number, 0 or more (block and iterations: whole)"},
        {"[{\"left\": [1], \"right\": [1], \"power\": -1}]",
         "cases: case 0: \"power\" must be a number, 0 or more (block and iterations: whole)"},
        {"[\n{\"left\": [1}]", "cases:2: ']' expected near '}'"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        wfre_error error = {0};
        wfre_score_cases *cases;
        assert_int_equal(parse(bad[i].text, &cases, &error), WFRE_ERR_FORMAT);
        assert_string_equal(error.message, bad[i].message);
    }
}

static wfre_status parse_cases(void *context)
{
    (void)context;
    wfre_score_cases *cases = NULL;
    wfre_status status = parse(CASES, &cases, NULL);
    wfre_score_cases_free(cases);
    return status;
}

static void test_cases_memory(void **state)
{
    (void)state;
    sweep_allocations(parse_cases, NULL);
}

int main(void)
{
    fill_rows();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_score_memory), cmocka_unit_test(test_dense_memory),
        cmocka_unit_test(test_cases),        cmocka_unit_test(test_bad_cases),
        cmocka_unit_test(test_cases_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
