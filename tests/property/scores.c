/* The score kernels over random parameters: every instruction set against the reference, the blocks
 * against the dense solver, gradients against finite differences, the duality gap, and that
 * batches, ranking and threads all give the same numbers. */
#include "random_scores.h"

static const uint64_t SEED = 20230711;

/* Every instruction set of this CPU against the reference. */
static void check_vectors(const random_score *problem, uint64_t seed, uint64_t trial)
{
    wfre_score *reference, *fast;
    assert_ok(wfre_score_create_for(&problem->settings, WFRE_ISA_REFERENCE, &reference, error));
    for (int isa = WFRE_ISA_AVX2; isa <= WFRE_ISA_AVX512; isa++) {
        if (!wfre_isa_available((wfre_isa)isa))
            continue;
        assert_ok(wfre_score_create_for(&problem->settings, (wfre_isa)isa, &fast, error));
        check_against(fast, reference, problem, seed, trial);
        wfre_score_free(fast);
    }
    wfre_score_free(reference);
}

static void test_kernels(void **state)
{
    (void)state;
    printf("seed %llu\n", (unsigned long long)SEED);
    for (uint64_t trial = 0; trial < 600; trial++) {
        random_score problem = draw_score(SEED, trial);
        check_vectors(&problem, SEED, trial);
        free_random_score(&problem);
    }
}

/* Floors and epsilons so small that phi leaves the range of double. */
static void test_extreme_range(void **state)
{
    (void)state;
    wfre_score_settings settings;
    wfre_score_defaults(20, &settings);
    assert_ok(wfre_score_preset("exact", &settings, error));
    settings.epsilon = 0.001;
    settings.floor = 1e-12;
    settings.iterations = 1000;
    double left[20], right[20], gradients[40];
    for (int i = 0; i < 20; i++) {
        left[i] = i % 3 == 0;
        right[i] = i % 2;
    }
    wfre_score *score;
    double value;
    assert_ok(wfre_score_create(&settings, &score, error));
    assert_ok(wfre_score_pair(score, left, right, &value, gradients, gradients + 20, error));
    assert_true(isfinite(value) && value > 0);
    for (int i = 0; i < 40; i++)
        assert_true(isfinite(gradients[i]));
    wfre_score_free(score);
}

/* Constant rows that are nearly equal: all bins err alike, and large terms cancel. */
static void test_cancellation(void **state)
{
    (void)state;
    static const double values[] = {1, 0.999, 0.5, 0.3, 0, 0.01};
    static const uint32_t blocks[] = {5, 20, 64}, iterations[] = {2, 3, 5, 10};
    double rows[2 * 3 * 64];
    for (uint64_t trial = 0; trial < 3 * 4 * 10 * 12; trial++) {
        random_score problem = {.left = rows, .right = rows + 3 * 64};
        wfre_score_settings *s = &problem.settings;
        wfre_rng rng = wfre_rng_keyed(SEED, trial, 6);
        wfre_score_defaults((size_t)3 * blocks[trial % 3], s);
        assert_ok(wfre_score_preset("exact", s, error));
        s->block = blocks[trial % 3];
        s->iterations = iterations[trial / 3 % 4];
        s->epsilon = exp(log(0.01) + wfre_rng_double(&rng) * log(1000.0));
        size_t kind = trial / 12 % 10;
        for (size_t i = 0; i < s->dimension; i++) {
            problem.left[i] = (float)values[kind / 2];
            problem.right[i] = (float)values[(kind + 1) / 2];
        }
        check_vectors(&problem, SEED, trial);
    }
}

/* Blocks put out of each other's reach on a line are one dense problem. */
static void test_dense_solver(void **state)
{
    (void)state;
    for (uint64_t trial = 0; trial < 60; trial++) {
        random_score problem = draw_score(SEED + 1, trial);
        wfre_score_settings *s = &problem.settings;
        size_t d = s->dimension, blocks = d / s->block;
        if (d <= 100 && s->iterations <= 100) {
            double *numbers = wfre_alloc(3 * d, sizeof *numbers), value;
            double *position = numbers, *x = numbers + d, *y = numbers + 2 * d;
            for (size_t i = 0; i < d; i++) {
                position[i] =
                    (double)(i % s->block) + (double)(i / s->block) * (s->block + s->radius + 1);
                x[i] = problem.left[i] + s->floor;
                y[i] = problem.right[i] + s->floor;
            }
            wfre_measure left = {x, position, d}, right = {y, position, d};
            wfre_transport dense;
            assert_ok(wfre_transport_solve(&left, &right, s, 1.0 / s->block, NULL, &dense, error));
            wfre_score *score;
            assert_ok(wfre_score_create_for(s, WFRE_ISA_REFERENCE, &score, error));
            assert_ok(
                wfre_score_pair(score, problem.left, problem.right, &value, NULL, NULL, error));
            double expected = dense.dual / (double)blocks;
            if (!(fabs(value - expected) <= 1e-10 * (1 + fabs(expected))))
                fail_msg("trial %llu: blocks %.15g, dense %.15g", (unsigned long long)trial, value,
                         expected);
            wfre_score_free(score);
            wfre_free(numbers);
        }
        free_random_score(&problem);
    }
}

/* With power 2/epsilon and many iterations there is no gap. */
static void test_duality(void **state)
{
    (void)state;
    enum { BINS = 6 };
    double x[BINS], y[BINS], position[BINS], plan[BINS * BINS];
    for (uint64_t trial = 0; trial < 20; trial++) {
        wfre_rng rng = wfre_rng_keyed(SEED, trial, 2);
        for (int i = 0; i < BINS; i++) {
            x[i] = draw_element(&rng, (uint32_t)trial % 4, 0) + 1e-4;
            y[i] = draw_element(&rng, (uint32_t)trial % 3, 0) + 1e-4;
            position[i] = i + (trial % 2 ? 0.3 * wfre_rng_double(&rng) : 0);
        }
        wfre_score_settings settings;
        wfre_score_defaults(BINS, &settings);
        assert_ok(wfre_score_preset("exact", &settings, error));
        settings.iterations = 1000;
        wfre_measure left = {x, position, BINS}, right = {y, position, BINS};
        wfre_transport result;
        assert_ok(wfre_transport_solve(&left, &right, &settings, 1.0, plan, &result, error));
        double gap = result.primal - result.dual;
        if (!(gap > -1e-12 && gap < 1e-9))
            fail_msg("trial %llu: duality gap %g", (unsigned long long)trial, gap);
        for (int i = 0; i < BINS; i++)
            for (int j = 0; j < BINS; j++)
                assert_true(plan[i * BINS + j] >= 0);
    }
}

/* d(value)/d(row element) by central differences. */
static double slope(const wfre_score *score, double *row, size_t i, const double *left,
                    const double *right)
{
    const double step = 1e-6;
    double saved = row[i], above, below;
    row[i] = saved + step;
    assert_ok(wfre_score_pair(score, left, right, &above, NULL, NULL, error));
    row[i] = saved - step;
    assert_ok(wfre_score_pair(score, left, right, &below, NULL, NULL, error));
    row[i] = saved;
    return (above - below) / (2 * step);
}

/* WFR where the envelope theorem holds (true dual, converged), and every other score. */
static void test_gradients(void **state)
{
    (void)state;
    enum { D = 20 };
    double left[D], right[D], gradients[2 * D], value;
    for (int kind = 0; kind < WFRE_SCORE_KINDS; kind++) {
        wfre_rng rng = wfre_rng_keyed(SEED, (uint64_t)kind, 3);
        for (int i = 0; i < D; i++) {
            left[i] = 0.05 + 0.9 * wfre_rng_double(&rng);
            right[i] = 0.05 + 0.9 * wfre_rng_double(&rng);
        }
        wfre_score_settings settings;
        wfre_score_defaults(D, &settings);
        assert_ok(wfre_score_preset("exact", &settings, error));
        settings.kind = (wfre_score_kind)kind;
        settings.iterations = 1000;
        wfre_score *score;
        assert_ok(wfre_score_create_for(&settings, WFRE_ISA_REFERENCE, &score, error));
        assert_ok(wfre_score_pair(score, left, right, &value, gradients, gradients + D, error));
        for (size_t i = 0; i < D; i++) {
            double expected_left = slope(score, left, i, left, right);
            double expected_right = slope(score, right, i, left, right);
            if (fabs(gradients[i] - expected_left) > 1e-6 ||
                fabs(gradients[D + i] - expected_right) > 1e-6)
                fail_msg("%s, element %zu: gradients %g %g, differences %g %g",
                         wfre_score_kind_name(settings.kind), i, gradients[i], gradients[D + i],
                         expected_left, expected_right);
        }
        wfre_score_free(score);
    }
}

/* ---- batches ------------------------------------------------------------------------------ */

enum { ROWS = 50, PAIRS = 200 };

typedef struct batch {
    wfre_score *score;
    size_t d;
    float *rows; /* ROWS * d */
    uint32_t left[PAIRS], right[PAIRS];
} batch;

static batch draw_batch(uint64_t trial, wfre_isa isa)
{
    static const wfre_score_kind kinds[] = {WFRE_SCORE_WFR, WFRE_SCORE_WFR, WFRE_SCORE_LOCAL};
    batch b;
    wfre_rng rng = wfre_rng_keyed(SEED, trial, 4);
    wfre_score_settings settings;
    wfre_score_defaults(5 * (1 + wfre_rng_below(&rng, 60)), &settings);
    settings.kind = kinds[trial % 3];
    if (trial % 2 == 0)
        settings.iterations = 20; /* long enough to be extrapolated */
    assert_ok(wfre_score_create_for(&settings, isa, &b.score, error));
    assert_ok(wfre_score_prepare_ranking(b.score, error));
    b.d = settings.dimension;
    b.rows = wfre_alloc(ROWS * b.d, sizeof *b.rows);
    for (size_t i = 0; i < ROWS * b.d; i++)
        b.rows[i] = wfre_rng_float(&rng);
    for (int k = 0; k < PAIRS; k++) { /* with runs of equal rows */
        b.left[k] = k % 3 && k > 0 ? b.left[k - 1] : wfre_rng_below(&rng, ROWS);
        b.right[k] = k % 5 && k > 0 ? b.right[k - 1] : wfre_rng_below(&rng, ROWS);
    }
    return b;
}

static void free_batch(batch *b)
{
    wfre_score_free(b->score);
    wfre_free(b->rows);
}

/* Stored bfloat16 is the float32 of the same upper bits. */
static void check_bfloat16(const batch *b, wfre_pool *pool)
{
    size_t count = ROWS * b->d;
    uint16_t *halves = wfre_alloc(count, sizeof *halves);
    float *floats = wfre_alloc(count, sizeof *floats), from_halves[ROWS], from_floats[ROWS];
    assert_true(halves && floats);
    for (size_t i = 0; i < count; i++) {
        uint32_t bits;
        memcpy(&bits, &b->rows[i], sizeof bits);
        halves[i] = (uint16_t)(bits >> 16);
        bits &= 0xFFFF0000;
        memcpy(&floats[i], &bits, sizeof bits);
    }
    wfre_store *narrow, *wide;
    assert_ok(wfre_store_create(b->score, pool, halves, WFRE_BFLOAT16, b->d, ROWS, &narrow, error));
    assert_ok(wfre_store_create(b->score, NULL, floats, WFRE_FLOAT32, b->d, ROWS, &wide, error));
    wfre_rank_job job = {{b->rows, b->d}, 1, NULL, 0, WFRE_RANK_TRUE, ROWS};
    assert_ok(wfre_score_rank(b->score, pool, narrow, &job, from_halves, error));
    assert_ok(wfre_score_rank(b->score, pool, wide, &job, from_floats, error));
    assert_memory_equal(from_halves, from_floats, sizeof from_floats);
    wfre_store_free(narrow);
    wfre_store_free(wide);
    wfre_free(halves);
    wfre_free(floats);
}

/* The same bits from one pair at a time, from batches on any number of threads,
 * and from the store. */
static void check_batch(batch *b)
{
    wfre_pool *pool;
    assert_ok(wfre_pool_create(3, &pool, error));
    float *values = wfre_alloc((size_t)2 * PAIRS, sizeof *values), *threaded = values + PAIRS;
    float *slopes = wfre_alloc((size_t)4 * PAIRS * b->d, sizeof *slopes);
    wfre_rows rows = {b->rows, b->d};
    wfre_pairs pairs = {rows, rows, b->left, b->right, PAIRS};
    wfre_gradients first = {slopes, slopes + PAIRS * b->d, b->d};
    wfre_gradients second = {slopes + 2 * PAIRS * b->d, slopes + 3 * PAIRS * b->d, b->d};
    wfre_gradients right_only = {NULL, slopes + 3 * PAIRS * b->d, b->d};
    assert_ok(wfre_score_pairs(b->score, NULL, &pairs, values, &first, error));
    assert_ok(wfre_score_pairs(b->score, pool, &pairs, threaded, &second, error));
    assert_memory_equal(values, threaded, PAIRS * sizeof *values);
    assert_memory_equal(slopes, slopes + 2 * PAIRS * b->d, 2 * PAIRS * b->d * sizeof *slopes);
    assert_ok(wfre_score_pairs(b->score, pool, &pairs, threaded, &right_only, error));
    assert_memory_equal(first.right, right_only.right, PAIRS * b->d * sizeof *slopes);
    assert_ok(wfre_score_pairs(b->score, pool, &pairs, threaded, NULL, error));
    assert_memory_equal(values, threaded, PAIRS * sizeof *values);

    wfre_store *store;
    assert_ok(wfre_store_create(b->score, pool, b->rows, WFRE_FLOAT32, b->d, ROWS, &store, error));
    for (int k = 0; k < PAIRS; k += 7) {
        float all[ROWS], one, near;
        uint32_t iterations;
        wfre_rows query = {b->rows + b->right[k] * b->d, b->d};
        wfre_rank_job job = {query, 1, NULL, 0, WFRE_RANK_TRUE, ROWS};
        assert_ok(wfre_score_rank(b->score, pool, store, &job, all, error));
        assert_true(all[b->left[k]] == values[k]);
        job = (wfre_rank_job){query, 1, &b->left[k], 1, WFRE_RANK_TRUE, 1};
        assert_ok(wfre_score_rank(b->score, NULL, store, &job, &one, error));
        assert_true(one == values[k]);
        job.ranking = WFRE_RANK_EXTRAPOLATED;
        assert_ok(wfre_score_rank(b->score, NULL, store, &job, &near, error));
        double promised = wfre_score_ranking_error(b->score, &iterations);
        assert_true(promised <= 1e-4);
        assert_true(fabsf(near - one) <= 1e-3F * fmaxf(fabsf(one), 0.01F));
    }
    wfre_store_free(store);
    check_bfloat16(b, pool);
    wfre_free(values);
    wfre_free(slopes);
    wfre_pool_free(pool);
}

static void test_batches(void **state)
{
    (void)state;
    for (int isa = WFRE_ISA_REFERENCE; isa <= WFRE_ISA_AVX512; isa++) {
        for (uint64_t trial = 0; wfre_isa_available((wfre_isa)isa) && trial < 6; trial++) {
            batch b = draw_batch(trial, (wfre_isa)isa);
            check_batch(&b);
            free_batch(&b);
        }
    }
}

/* ---- ranking ------------------------------------------------------------------------------ */

/* With fewer iterations where there are many. */
static void test_ranking(void **state)
{
    (void)state;
    static const struct {
        const char *preset;
        uint32_t iterations, fewer;
    } cases[] = {{"reference", 10, 6}, {"reference", 12, 7}, {"reference", 15, 7},
                 {"reference", 20, 7}, {"reference", 30, 7}, {"paper", 10, 6},
                 {"paper", 15, 7},     {"exact", 10, 10},    {"exact", 30, 12}};
    for (size_t c = 0; wfre_isa_available(WFRE_ISA_AVX2) && c < sizeof cases / sizeof *cases; c++) {
        wfre_score_settings settings;
        wfre_score *score;
        uint32_t iterations;
        wfre_score_defaults(1600, &settings);
        assert_ok(wfre_score_preset(cases[c].preset, &settings, error));
        settings.iterations = cases[c].iterations;
        assert_ok(wfre_score_create_for(&settings, WFRE_ISA_AVX2, &score, error));
        (void)wfre_score_ranking_error(score, &iterations);
        assert_int_equal(iterations, cases[c].iterations);
        assert_ok(wfre_score_prepare_ranking(score, error));
        (void)wfre_score_ranking_error(score, &iterations);
        assert_true(iterations <= cases[c].fewer);
        check_ranking(score, SEED);
        wfre_score_free(score);
    }
}

/* Short rows have few blocks to average over. */
static void test_short_ranking(void **state)
{
    (void)state;
    for (size_t d = 200; wfre_isa_available(WFRE_ISA_AVX2) && d < 1600; d *= 2) {
        wfre_score_settings settings;
        wfre_score *score;
        wfre_score_defaults(d, &settings);
        assert_ok(wfre_score_create_for(&settings, WFRE_ISA_AVX2, &score, error));
        assert_ok(wfre_score_prepare_ranking(score, error));
        check_ranking(score, SEED);
        wfre_score_free(score);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kernels),      cmocka_unit_test(test_extreme_range),
        cmocka_unit_test(test_dense_solver), cmocka_unit_test(test_duality),
        cmocka_unit_test(test_gradients),    cmocka_unit_test(test_batches),
        cmocka_unit_test(test_ranking),      cmocka_unit_test(test_short_ranking),
        cmocka_unit_test(test_cancellation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
