/* wfr/surrogate: how well it stands for the score, for every preset and length of block; and the
 * vector form of whole rows against one block in double precision. */
#include "check.h"

#include <math.h>

#include "base/rng.h"
#include "train/surrogate_rows.h"

static wfre_score_settings settings_of(uint32_t block, double radius, double power)
{
    wfre_score_settings s;
    wfre_score_defaults(block, &s);
    s.block = block;
    s.radius = radius;
    s.power = power;
    return s;
}

static void test_presets(void **state)
{
    (void)state;
    static const struct {
        uint32_t block;
        double radius, power, fit, error, gradient[2];
        size_t rank;
    } cases[] = {
        {5, 3.14159265358979, 2, 0.997, 0.07, {0.25, 0.15}, 8}, /* reference */
        {5, 3, 1, 0.996, 0.13, {0.3, 0.6}, 8},                  /* paper */
        {5, 3, WFRE_POWER_EXACT, 0.996, 0.11, {0.6, 0.5}, 9},
        {5, 2, WFRE_POWER_EXACT, 0.990, 0.16, {0.7, 0.7}, 10},
        {5, 1, WFRE_POWER_EXACT, 0.999, 0.02, {0.05, 0.06}, 8}, /* no mass moves */
        {2, 3, WFRE_POWER_EXACT, 0.999, 0.04, {1.6, 0.5}, 6},
        {10, 3, WFRE_POWER_EXACT, 0.996, 0.14, {0.5, 0.4}, 14},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        wfre_score_settings settings = settings_of(cases[i].block, cases[i].radius, cases[i].power);
        wfre_surrogate *s;
        assert_ok(wfre_surrogate_fit(&settings, NULL, NULL, 0, &s, error));
        print_message(
            "block %u, radius %g, power %g: %zu of %zu features, R^2 %.4f, derivative off "
            "by %.3f (uncut %.3f, envelope %.3f), gradients by %.3f, %.3f\n",
            cases[i].block, cases[i].radius, cases[i].power, s->rank, s->features, s->fit,
            s->slope_error, s->slope_error_all_ranks, s->slope_error_envelope, s->gradient_error[0],
            s->gradient_error[1]);
        assert_true(s->fit > cases[i].fit);
        assert_true(s->slope_error < cases[i].error);
        assert_true(s->slope_error <= s->slope_error_all_ranks + 0.02 + 1e-9);
        assert_true(s->slope_error < s->slope_error_envelope);
        assert_true(s->gradient_error[0] < cases[i].gradient[0]);
        assert_true(s->gradient_error[1] < cases[i].gradient[1]);
        assert_true(s->rank <= cases[i].rank);
        wfre_surrogate_free(s);
    }
}

/* Two blocks by the score itself, in double precision. */
static void test_score(void **state)
{
    (void)state;
    wfre_score_settings settings = settings_of(5, 3, WFRE_POWER_EXACT);
    wfre_surrogate *s;
    wfre_score *score;
    wfre_rng rng = wfre_rng_keyed(9, 0, 0);
    assert_ok(wfre_surrogate_fit(&settings, NULL, NULL, 0, &s, error));
    assert_ok(wfre_score_create_for(&settings, WFRE_ISA_REFERENCE, &score, error));
    for (int trial = 0; trial < 200; trial++) {
        float u[5], v[5];
        double left[5], right[5], distance;
        for (int i = 0; i < 5; i++) {
            left[i] = (double)(u[i] = wfre_rng_float(&rng));
            right[i] = (double)(v[i] = wfre_rng_float(&rng));
        }
        assert_ok(wfre_score_pair(score, left, right, &distance, NULL, NULL, error));
        assert_true(fabs(wfre_surrogate_block(s, u, v, WFRE_SLOPE_VALUE, NULL) - distance) < 0.1);
    }
    wfre_score_free(score);
    wfre_surrogate_free(s);
}

enum { BLOCKS = 7 };

/* Rows of several blocks, and their gradients, as sums over single blocks. */
static void check_rows(const wfre_surrogate *s, const wfre_vector_table *vectors)
{
    size_t a = s->block;
    float rows[2][BLOCKS * WFRE_SURROGATE_BLOCK], out[2][BLOCKS * 64];
    float gradient[BLOCKS * WFRE_SURROGATE_BLOCK];
    float *scratch = wfre_alloc(wfre_surrogate_scratch(s, BLOCKS), sizeof *scratch);
    wfre_rng rng = wfre_rng_keyed(4, a, 0);
    for (size_t i = 0; i < 2 * BLOCKS * a; i++)
        rows[i / (BLOCKS * a)][i % (BLOCKS * a)] = 0.05f + 0.95f * wfre_rng_float(&rng);
    assert_true(s->rank <= 64);
    for (int side = 0; side < 2; side++)
        wfre_surrogate_embed(s, vectors, side ? WFRE_RIGHT : WFRE_LEFT, BLOCKS, rows[side],
                             out[side], scratch);
    double sum = 0;
    for (int kind = WFRE_SLOPE_VALUE; kind <= WFRE_SLOPE_ENVELOPE; kind++) {
        wfre_surrogate_carry_back(s, vectors, (wfre_slope)kind, WFRE_LEFT, BLOCKS, rows[0], out[1],
                                  gradient, scratch);
        sum = 0;
        for (size_t b = 0; b < BLOCKS; b++) {
            double slope[WFRE_SURROGATE_BLOCK];
            sum +=
                wfre_surrogate_block(s, rows[0] + b * a, rows[1] + b * a, (wfre_slope)kind, slope);
            for (size_t i = 0; i < a; i++)
                assert_true(fabs(slope[i] - (double)gradient[b * a + i]) <
                            5e-4 * (1 + fabs(slope[i])));
        }
    }
    assert_true(fabs(vectors->dot(s->rank * BLOCKS, out[0], out[1]) - sum) < 1e-3);
    wfre_free(scratch);
}

static void test_rows(void **state)
{
    (void)state;
    static const uint32_t blocks[] = {1, 2, 5, 20};
    for (size_t i = 0; i < sizeof blocks / sizeof blocks[0]; i++) {
        wfre_score_settings settings = settings_of(blocks[i], 3, 1);
        wfre_surrogate *s;
        assert_ok(wfre_surrogate_fit(&settings, NULL, NULL, 0, &s, error));
        for (int isa = WFRE_ISA_REFERENCE; isa <= WFRE_ISA_AVX512; isa++)
            if (wfre_isa_available((wfre_isa)isa))
                check_rows(s, wfre_vector_table_for((wfre_isa)isa));
        wfre_surrogate_free(s);
    }
}

/* The same bits on any number of threads, and the rank that is asked for. */
static void test_repeatable(void **state)
{
    (void)state;
    wfre_score_settings settings = settings_of(5, 2, 2);
    wfre_surrogate *first, *second, *third;
    wfre_pool *pool;
    assert_ok(wfre_pool_create(3, &pool, error));
    assert_ok(wfre_surrogate_fit(&settings, NULL, NULL, 0, &first, error));
    assert_ok(wfre_surrogate_fit(&settings, NULL, pool, 0, &second, error));
    assert_ok(wfre_surrogate_fit(&settings, NULL, pool, 4, &third, error));
    assert_int_equal(first->rank, second->rank);
    size_t size = first->features * first->rank * sizeof(float);
    assert_memory_equal(first->map[0], second->map[0], size);
    assert_memory_equal(first->map[1], second->map[1], size);
    assert_int_equal(third->rank, 4);
    wfre_surrogate_free(first);
    wfre_surrogate_free(second);
    wfre_surrogate_free(third);
    wfre_pool_free(pool);
}

static wfre_status attempt(void *context)
{
    (void)context;
    enum { COUNT = 100 }; /* few blocks, since there are many allocations to fail */
    static float blocks[2][2 * COUNT];
    wfre_score_settings settings = settings_of(2, 2, 2);
    wfre_surrogate_sample sample = {blocks[0], blocks[1], COUNT, COUNT};
    wfre_surrogate *s = NULL;
    wfre_rng rng = wfre_rng_keyed(6, 0, 0);
    for (size_t i = 0; i < 4 * COUNT; i++)
        blocks[i % 2][i / 2] = wfre_rng_float(&rng);
    wfre_status status = wfre_surrogate_fit(&settings, &sample, NULL, 0, &s, NULL);
    wfre_surrogate_free(s);
    return status;
}

static void test_memory(void **state)
{
    (void)state;
    sweep_allocations(attempt, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_presets), cmocka_unit_test(test_score),
        cmocka_unit_test(test_rows),    cmocka_unit_test(test_repeatable),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
