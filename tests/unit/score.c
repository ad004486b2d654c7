/* Scores: running out of memory at every step of every entry point, and cases in JSON. */
#include <math.h>

#include "base/clock.h"
#include "base/pool.h"
#include "base/scope.h"
#include "check.h"
#include "wfr/cases.h"

enum { D = 40, ROWS = 6 };

static float rows[ROWS * D];

static void fill_rows(void)
{
    for (int i = 0; i < ROWS * D; i++)
        rows[i] = (float)(i * 37 % 101) / 101;
}

/* ---- strides and refusals ----------------------------------------------------------------- */

enum { GAP = 3, QUERIES = 3, STRIDE = ROWS + 2 };

/* Rows apart from each other, with NaN between them. */
static void spread_rows(float *spread)
{
    for (int i = 0; i < ROWS * (D + GAP); i++)
        spread[i] = NAN;
    for (int r = 0; r < ROWS; r++)
        memcpy(spread + r * (D + GAP), rows + r * D, D * sizeof *rows);
}

static void test_strides(void **state)
{
    (void)state;
    float spread[ROWS * (D + GAP)], values[ROWS], again[ROWS];
    float slopes[ROWS * D], apart[ROWS * (D + GAP)];
    float ranks[QUERIES * ROWS], spaced[QUERIES * STRIDE];
    wfre_score_settings settings;
    wfre_score *score;
    wfre_store *store, *wide;
    wfre_score_defaults(D, &settings);
    assert_ok(wfre_score_create(&settings, &score, error));
    spread_rows(spread);
    wfre_pairs pairs = {{rows, D}, {rows + D, D}, NULL, NULL, ROWS - 1};
    wfre_gradients close = {slopes, NULL, D}, far = {apart, NULL, D + GAP};
    assert_ok(wfre_score_pairs(score, NULL, &pairs, values, &close, error));
    pairs.left = (wfre_rows){spread, D + GAP};
    pairs.right = (wfre_rows){spread + D + GAP, D + GAP};
    memcpy(apart, spread, sizeof apart);
    assert_ok(wfre_score_pairs(score, NULL, &pairs, again, &far, error));
    assert_memory_equal(values, again, (ROWS - 1) * sizeof *values);
    for (int r = 0; r < ROWS - 1; r++) {
        assert_memory_equal(slopes + r * D, apart + r * (D + GAP), D * sizeof *slopes);
        for (int i = 0; i < GAP; i++)
            assert_true(isnan(apart[r * (D + GAP) + D + i]));
    }
    assert_ok(wfre_store_create(score, NULL, rows, WFRE_FLOAT32, D, ROWS, &store, error));
    assert_ok(wfre_store_create(score, NULL, spread, WFRE_FLOAT32, D + GAP, ROWS, &wide, error));
    assert_int_equal(wfre_store_count(wide), ROWS);
    assert_true(wfre_store_size(wide) >= ROWS * D * sizeof(float));
    wfre_rank_job job = {{rows, D}, QUERIES, NULL, 0, WFRE_RANK_TRUE, ROWS};
    assert_ok(wfre_score_rank(score, NULL, store, &job, ranks, error));
    job.queries = (wfre_rows){spread, D + GAP};
    job.stride = STRIDE;
    for (int i = 0; i < QUERIES * STRIDE; i++)
        spaced[i] = NAN;
    assert_ok(wfre_score_rank(score, NULL, wide, &job, spaced, error));
    for (int q = 0; q < QUERIES; q++) {
        assert_memory_equal(ranks + q * ROWS, spaced + q * STRIDE, ROWS * sizeof *ranks);
        assert_true(isnan(spaced[q * STRIDE + ROWS]) && isnan(spaced[q * STRIDE + ROWS + 1]));
    }
    wfre_store_free(store);
    wfre_store_free(wide);
    wfre_score_free(score);
}

static void test_refusals(void **state)
{
    (void)state;
    float values[ROWS];
    wfre_score_settings settings;
    wfre_score *score, *other, *none = NULL;
    wfre_store *store, *nothing = NULL;
    wfre_score_defaults(D, &settings);
    assert_ok(wfre_score_create(&settings, &score, error));
    settings.radius = 2;
    assert_ok(wfre_score_create(&settings, &other, error));
    assert_ok(wfre_store_create(score, NULL, rows, WFRE_FLOAT32, D, ROWS, &store, error));
    wfre_pairs pairs = {{rows, D - 1}, {rows, D}, NULL, NULL, ROWS};
    assert_int_equal(wfre_score_pairs(score, NULL, &pairs, values, NULL, NULL), WFRE_ERR_ARGUMENT);
    assert_int_equal(
        wfre_store_create(score, NULL, rows, WFRE_FLOAT32, D - 1, ROWS, &nothing, NULL),
        WFRE_ERR_ARGUMENT);
    wfre_rank_job job = {{rows, D}, 1, NULL, 0, WFRE_RANK_TRUE, ROWS - 1};
    assert_int_equal(wfre_score_rank(score, NULL, store, &job, values, NULL), WFRE_ERR_ARGUMENT);
    job.stride = ROWS;
    assert_int_equal(wfre_score_rank(other, NULL, store, &job, values, NULL), WFRE_ERR_MISMATCH);
    uint32_t beyond[] = {0, ROWS};
    job.selection = beyond;
    job.selected = 2;
    assert_int_equal(wfre_score_rank(score, NULL, store, &job, values, NULL), WFRE_ERR_NOT_FOUND);
    for (int i = WFRE_ISA_REFERENCE; i <= WFRE_ISA_AVX512; i++)
        if (!wfre_isa_available((wfre_isa)i))
            assert_int_not_equal(wfre_score_create_for(&settings, (wfre_isa)i, &none, NULL),
                                 WFRE_OK);
    assert_null(none);
    assert_null(nothing);
    wfre_store_free(store);
    wfre_score_free(score);
    wfre_score_free(other);
}

/* ---- transport ---------------------------------------------------------------------------- */

/* Converged, a bin sends and receives what the gradient says, x phi^-epsilon = x (1 - b slope), and
 * each block's plan is that of the same two measures on a line. */
static void test_transport(void **state)
{
    (void)state;
    enum { BINS = 5, BLOCKS = D / BINS };
    double left[D], right[D], slopes[2 * D], distance, plan[D * BINS], alone[BINS * BINS];
    double x[D], y[D], position[BINS] = {0, 1, 2, 3, 4};
    wfre_score_settings settings;
    wfre_score *score;
    wfre_transport result;
    wfre_score_defaults(D, &settings);
    assert_ok(wfre_score_preset("exact", &settings, error));
    settings.iterations = 1000;
    assert_int_equal(settings.block, BINS);
    for (int i = 0; i < D; i++) {
        left[i] = (double)rows[i];
        right[i] = (double)rows[D + i];
        x[i] = left[i] + settings.floor;
        y[i] = right[i] + settings.floor;
    }
    assert_ok(wfre_score_create_for(&settings, WFRE_ISA_REFERENCE, &score, error));
    assert_ok(wfre_score_pair(score, left, right, &distance, slopes, slopes + D, error));
    assert_ok(wfre_score_transport(score, left, right, plan, error));
    for (int block = 0; block < BLOCKS; block++) {
        const double *own = plan + block * BINS * BINS;
        for (int i = 0; i < BINS; i++) {
            double sent = 0, received = 0;
            int at = block * BINS + i;
            for (int j = 0; j < BINS; j++) {
                sent += own[i * BINS + j];
                received += own[j * BINS + i];
            }
            assert_true(fabs(sent - x[at] * (1 - BLOCKS * slopes[at])) < 1e-9);
            assert_true(fabs(received - y[at] * (1 - BLOCKS * slopes[D + at])) < 1e-9);
        }
        wfre_measure from = {x + block * BINS, position, BINS};
        wfre_measure to = {y + block * BINS, position, BINS};
        assert_ok(wfre_transport_solve(&from, &to, &settings, 1.0 / BINS, alone, &result, error));
        for (int i = 0; i < BINS * BINS; i++)
            assert_true(fabs(alone[i] - own[i]) < 1e-9);
    }
    wfre_measure from = {x, position, BINS}, to = {y, position, BINS};
    settings.iterations = 0;
    assert_int_equal(wfre_transport_solve(&from, &to, &settings, 1, alone, &result, NULL),
                     WFRE_ERR_ARGUMENT);
    left[3] = 1.5;
    assert_int_equal(wfre_score_transport(score, left, right, plan, NULL), WFRE_ERR_NUMERIC);
    wfre_score_free(score);
}

/* A pair of very many iterations takes milliseconds: whoever has to stop does so between two. */
static void test_stop(void **state)
{
    (void)state;
    float distances[ROWS];
    wfre_score_settings settings;
    wfre_score *score;
    wfre_store *store;
    wfre_score_defaults(D, &settings);
    settings.radius = 3;
    settings.iterations = WFRE_ITERATION_LIMIT;
    assert_ok(wfre_score_create(&settings, &score, error));
    assert_ok(wfre_store_create(score, NULL, rows, WFRE_FLOAT32, D, ROWS, &store, error));
    wfre_rank_job job = {{rows, D}, 1, NULL, 0, WFRE_RANK_TRUE, ROWS};
    wfre_pairs pairs = {{rows, D}, {rows, D}, NULL, NULL, ROWS};
    distances[ROWS - 1] = -1;
    (void)wfre_scope_enter((wfre_scope){.deadline = wfre_clock() + 0.001});
    assert_int_equal(wfre_score_rank(score, NULL, store, &job, distances, NULL), WFRE_ERR_TIMEOUT);
    assert_true(distances[ROWS - 1] == -1);
    (void)wfre_scope_enter((wfre_scope){.deadline = wfre_clock() + 0.001});
    assert_int_equal(wfre_score_pairs(score, NULL, &pairs, distances, NULL, NULL),
                     WFRE_ERR_TIMEOUT);
    assert_true(distances[ROWS - 1] == -1);
    (void)wfre_scope_enter((wfre_scope){0});
    wfre_store_free(store);
    wfre_score_free(score);
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
        cmocka_unit_test(test_cases_memory), cmocka_unit_test(test_strides),
        cmocka_unit_test(test_refusals),     cmocka_unit_test(test_transport),
        cmocka_unit_test(test_stop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
