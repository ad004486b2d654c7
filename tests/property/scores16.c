/* The 16-lane kernels over random parameters, on AVX2: the code of the AVX-512 kernels with each of
 * its registers emulated by two. One shape of each kind is enough: all registers, known taps, any.
 */
#define SHAPES(X) X(5, 4) X(0, 4) X(0, 0)

#include "vec16_emulated.h"

#include "wfr/float_kernels.h"

#include "wfr/double_kernels.h"

#include "wfr/vector_slots.h"

#include "random_scores.h"

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
        assert_true(use_vector_kernels(fast, "16 lanes in float", "8 lanes in double"));
        if (fast->tables)
            assert_true(wfre_score_calibrate(fast));
        check_against(fast, reference, &problem, SEED, trial);
        wfre_score_free(fast);
        wfre_score_free(reference);
        free_random_score(&problem);
    }
}

int main(void)
{
    if (!wfre_isa_available(WFRE_ISA_AVX2)) {
        printf("skipped: this CPU has no AVX2\n");
        return 77;
    }
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_kernels)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
