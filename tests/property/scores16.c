/* The 16-lane kernels over random parameters, emulated (vec16_emulated.c). */
#include "random_scores.h"
#include "wfr/kernels.h"

/* As wfre_score_use_avx512. */
bool use_emulated_kernels(wfre_score *score);

static const uint64_t SEED = 42;

static void test_kernels(void **state)
{
    (void)state;
    printf("seed %llu\n", (unsigned long long)SEED);
    for (uint64_t trial = 0; trial < 100; trial++) {
        random_score problem = draw_score(SEED, trial);
        wfre_score *reference, *fast;
        assert_ok(wfre_score_create_for(&problem.settings, WFRE_ISA_REFERENCE, &reference, error));
        assert_ok(wfre_score_create_for(&problem.settings, WFRE_ISA_REFERENCE, &fast, error));
        assert_true(use_emulated_kernels(fast));
        check_against(fast, reference, &problem, SEED, trial);
        wfre_score_free(fast);
        wfre_score_free(reference);
        free_random_score(&problem);
    }
}

static void test_ranking(void **state)
{
    (void)state;
    for (uint32_t iterations = 10; iterations <= 15; iterations += 5) {
        wfre_score_settings settings;
        wfre_score *score;
        uint32_t fewer;
        wfre_score_defaults(1600, &settings);
        settings.iterations = iterations;
        assert_ok(wfre_score_create_for(&settings, WFRE_ISA_REFERENCE, &score, error));
        assert_true(use_emulated_kernels(score));
        assert_ok(wfre_score_prepare_ranking(score, error));
        (void)wfre_score_ranking_error(score, &fewer);
        assert_true(fewer <= 7);
        check_ranking(score, SEED);
        wfre_score_free(score);
    }
}

int main(void)
{
    if (!wfre_isa_available(WFRE_ISA_AVX2)) {
        printf("skipped: this CPU has no AVX2\n");
        return 77;
    }
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_kernels),
                                       cmocka_unit_test(test_ranking)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
