/* src/search/separable, filter and src/measure/rank: filtered ranking agrees with exhaustive
 * ranking, and that with scoring pairs one by one. */
#include "check.h"

#include <math.h>

#include "base/rng.h"
#include "measure/rank.h"
#include "model/embed.h"
#include "search/filter.h"
#include "star.h"
#include "wfr/separable.h"
#include "world.h"

enum { ENTITIES = 2500, QUERIES = 24, ANSWERS = 5 };

static wfre_rank_query queries[QUERIES];
static wfre_entity answers[QUERIES][2 * ANSWERS];
static wfre_standing standings[QUERIES][ANSWERS];

static void random_queries(void)
{
    for (uint32_t q = 0; q < QUERIES; q++) {
        wfre_rng rng = wfre_rng_keyed(5, 0, q);
        const wfre_node *nodes[2];
        for (int k = 0; k < 2; k++)
            nodes[k] = wfre_node_project(&arena, wfre_rng_below(&rng, 2),
                                         wfre_node_entity(&arena, wfre_rng_below(&rng, ENTITIES)));
        if (q % 4 == 3)
            nodes[1] = wfre_node_negate(&arena, nodes[1]);
        queries[q].tree =
            q % 4 == 0 ? nodes[0]
                       : wfre_node_pair(&arena, q % 4 == 1 ? WFRE_OP_UNION : WFRE_OP_INTERSECT,
                                        nodes[0], nodes[1]);
        /* Ascending and disjoint: easy answers are even, hard ones odd. */
        for (uint32_t i = 0; i < 2 * ANSWERS; i++)
            answers[q][i] = 2 * (i % ANSWERS * 200 + wfre_rng_below(&rng, 200)) + i / ANSWERS;
        queries[q].easy = (wfre_list){answers[q], ANSWERS};
        queries[q].hard = (wfre_list){answers[q] + ANSWERS, q == 7 ? 0 : ANSWERS};
        queries[q].standings = standings[q];
    }
}

static int set_up(void **state)
{
    (void)state;
    graph = star_graph(ENTITIES);
    assert_ok(wfre_pool_create(2, &pool, error));
    wfre_model_settings settings;
    wfre_model_settings_default(&settings);
    settings.dim = 40;
    settings.bases = 2;
    settings.score.iterations = 4;
    assert_ok(wfre_model_create(graph, &settings, 3, &model, error));
    for (uint32_t e = 0; e < 40; e++) /* twins tie */
        memcpy(model->entities + (100 + e) * 40, model->entities + (600 + e) * 40, 40 * 4);
    random_queries();
    return 0;
}

static void test_separable(void **state)
{
    (void)state;
    enum { ROWS = 30, COLUMNS = 20, FEATURES = 6, RANK = 2 };
    double a[ROWS * FEATURES], b[COLUMNS * FEATURES], v[ROWS * COLUMNS];
    double left[FEATURES * RANK], right[FEATURES * RANK];
    wfre_rng rng = wfre_rng_keyed(1, 2, 3);
    for (size_t i = 0; i < ROWS * FEATURES; i++)
        a[i] = wfre_rng_normal(&rng);
    for (size_t i = 0; i < COLUMNS * FEATURES; i++)
        b[i] = wfre_rng_normal(&rng);
    /* Rank 2 in the features: (a0 + a1) (b2 - b3) + 3 a4 b5. */
    for (size_t i = 0; i < ROWS; i++)
        for (size_t j = 0; j < COLUMNS; j++) {
            const double *x = a + i * FEATURES, *y = b + j * FEATURES;
            v[i * COLUMNS + j] = (x[0] + x[1]) * (y[2] - y[3]) + 3 * x[4] * y[5];
        }
    wfre_separable problem = {ROWS, COLUMNS, v, FEATURES, a, b, RANK, left, right};
    assert_ok(wfre_separable_fit(&problem, error));
    for (size_t i = 0; i < ROWS; i++)
        for (size_t j = 0; j < COLUMNS; j++) {
            double sum = 0;
            for (size_t k = 0; k < RANK; k++) {
                double g = 0, h = 0;
                for (size_t f = 0; f < FEATURES; f++) {
                    g += a[i * FEATURES + f] * left[f * RANK + k];
                    h += b[j * FEATURES + f] * right[f * RANK + k];
                }
                sum += g * h;
            }
            assert_true(fabs(sum - v[i * COLUMNS + j]) < 1e-6);
        }
    uint32_t chosen[2];
    double w[] = {1, 0, 0, 2, 0, 0, 1.9, 0.5, 0}; /* rows: e1, 2 e1, 1.9 e1 + 0.5 e2 */
    wfre_separable_pivots(w, 3, 3, 2, chosen);
    assert_int_equal(chosen[0], 1);
    assert_int_equal(chosen[1], 2);
}

/* The estimates explain nearly all of the variance of the distances within a query. */
static void test_estimates(void **state)
{
    (void)state;
    wfre_isa isa;
    wfre_linalg *linalg;
    wfre_score *score;
    wfre_filter *filter;
    assert_ok(wfre_isa_select(&isa, error));
    assert_ok(wfre_linalg_create(pool, isa, &linalg, error));
    assert_ok(wfre_score_create(&model->settings.score, &score, error));
    float *entities = wfre_embed_entities(model, pool, linalg);
    assert_non_null(entities);
    wfre_filter_input input = {score, entities, ENTITIES, entities, 100};
    assert_ok(wfre_filter_create(&input, pool, &filter, error));
    float *estimates = malloc(2 * ENTITIES * sizeof *estimates);
    assert_non_null(estimates);
    assert_ok(
        wfre_filter_estimate(filter, linalg, pool, entities + 1000 * 40, 2, estimates, error));
    double errors = 0, mean = 0, spread = 0;
    float distances[ENTITIES];
    uint32_t zeros[ENTITIES] = {0};
    wfre_pairs pairs = {{entities, 40}, {entities + 1001 * 40, 40}, NULL, zeros, ENTITIES};
    assert_ok(wfre_score_pairs(score, pool, &pairs, distances, NULL, error));
    for (int e = 0; e < ENTITIES; e++)
        mean += (double)distances[e] / ENTITIES;
    for (int e = 0; e < ENTITIES; e++) {
        double error = -(double)estimates[ENTITIES + e] - (double)distances[e];
        errors += error * error;
        spread += ((double)distances[e] - mean) * ((double)distances[e] - mean);
    }
    assert_true(errors < 0.002 * spread);
    free(estimates);
    wfre_free(entities);
    wfre_filter_free(filter);
    wfre_score_free(score);
    wfre_linalg_free(linalg);
}

/* Ranks into `standings`; returns the share of pairs that were scored exactly. */
static double rank_all(bool exhaustive, wfre_union unions, wfre_pool *threads)
{
    wfre_session *session;
    wfre_rank_cost cost = {0};
    wfre_way way = model->settings.way;
    way.unions = unions;
    way.exhaustive = exhaustive;
    memset(standings, 0xAA, sizeof standings);
    assert_ok(wfre_session_open(NULL, model, threads, &session, error));
    assert_string_equal(wfre_rank_method(model, &way), exhaustive ? "exhaustive" : "filtered");
    assert_ok(wfre_rank(session, &way, WFRE_TRAIN, queries, QUERIES, &cost, error));
    assert_int_equal(cost.pairs, (uint64_t)(QUERIES - 1) * ENTITIES);
    wfre_session_free(session);
    return (double)cost.exact / (double)cost.pairs;
}

/* The same, except that a rank too deep to matter may be off by a little. */
static void check_standing(wfre_standing got, wfre_standing expected)
{
    if (expected.above < 200) {
        assert_int_equal(got.above, expected.above);
        assert_int_equal(got.tied, expected.tied);
    }
    assert_true(fabs(1 / wfre_standing_rank(got) - 1 / wfre_standing_rank(expected)) < 2e-5);
}

static void test_filtered_equals_exhaustive(void **state)
{
    (void)state;
    static wfre_standing expected[QUERIES][ANSWERS];
    for (int unions = WFRE_UNION_DNF; unions <= WFRE_UNION_TCONORM; unions++) {
        assert_true(rank_all(true, (wfre_union)unions, pool) == 1);
        memcpy(expected, standings, sizeof expected);
        assert_true(rank_all(false, (wfre_union)unions, pool) < 0.5);
        for (int q = 0; q < QUERIES; q++)
            for (size_t i = 0; i < queries[q].hard.count; i++)
                check_standing(standings[q][i], expected[q][i]);
    }
    assert_int_equal(standings[7][0].above, 0xAAAAAAAA); /* no hard answer: untouched */
}

/* Answers do not compete: where nearly all entities are, one that is not decides between the first
 * rank and the second, however many are nearer. Here those are the hard answers' twins. */
static void test_many_answers(void **state)
{
    (void)state;
    static wfre_standing expected[QUERIES][ANSWERS];
    static wfre_entity easy[ENTITIES];
    static const wfre_entity hard[ANSWERS] = {601, 603, 605, 607, 609};
    wfre_rank_query before[QUERIES];
    size_t count = 0;
    for (wfre_entity e = 0; e < ENTITIES; e++)
        if (e % 2 == 0 || e % 500 < 101 || e % 500 > 109)
            easy[count++] = e;
    memcpy(before, queries, sizeof before);
    for (int q = 0; q < QUERIES; q++) {
        queries[q].easy = (wfre_list){easy, count};
        if (q != 7)
            queries[q].hard = (wfre_list){hard, ANSWERS};
    }
    rank_all(true, WFRE_UNION_DNF, pool);
    memcpy(expected, standings, sizeof expected);
    rank_all(false, WFRE_UNION_DNF, pool);
    memcpy(queries, before, sizeof before);
    for (int q = 0; q < QUERIES; q++)
        for (size_t i = 0; i < queries[q].hard.count; i++) {
            assert_true(expected[q][i].tied >= 1);
            assert_int_equal(standings[q][i].above, expected[q][i].above);
            assert_int_equal(standings[q][i].tied, expected[q][i].tied);
        }
}

static void test_threads(void **state)
{
    (void)state;
    static wfre_standing expected[QUERIES][ANSWERS];
    rank_all(false, WFRE_UNION_DNF, pool);
    memcpy(expected, standings, sizeof expected);
    rank_all(false, WFRE_UNION_DNF, NULL);
    assert_memory_equal(expected, standings, sizeof expected);
}

/* A union in normal form is as near as its nearest branch. */
static void test_by_pairs(void **state)
{
    (void)state;
    rank_all(true, WFRE_UNION_DNF, pool);
    wfre_session *session;
    wfre_embedding embedding;
    wfre_score *score;
    assert_ok(wfre_session_open(NULL, model, pool, &session, error));
    assert_ok(wfre_score_create(&model->settings.score, &score, error));
    const wfre_node *tree = queries[1].tree;
    assert_ok(wfre_embed(session->embedder, &tree, 1, &model->settings.way, &embedding, error));
    assert_int_equal(embedding.row_count, 2);
    float best[ENTITIES];
    for (int e = 0; e < ENTITIES; e++) {
        best[e] = INFINITY;
        for (uint32_t r = 0; r < 2; r++) {
            wfre_pairs pair = {
                {model->entities + e * 40, 40}, {embedding.rows + r * 40, 40}, NULL, NULL, 1};
            float distance;
            assert_ok(wfre_score_pairs(score, NULL, &pair, &distance, NULL, error));
            best[e] = distance < best[e] ? distance : best[e];
        }
    }
    for (int i = 0; i < ANSWERS; i++) {
        uint32_t above = 0, tied = 0;
        for (uint32_t e = 0; e < ENTITIES; e++) {
            bool answer = false;
            for (int k = 0; k < 2 * ANSWERS; k++)
                answer = answer || answers[1][k] == e;
            above += !answer && best[e] < best[answers[1][ANSWERS + i]];
            tied += !answer && best[e] == best[answers[1][ANSWERS + i]];
        }
        assert_int_equal(standings[1][i].above, above);
        assert_int_equal(standings[1][i].tied, tied);
    }
    wfre_session_free(session);
    wfre_score_free(score);
}

static wfre_status attempt_exhaustive(void *context)
{
    (void)context;
    wfre_session *session = NULL;
    wfre_way way = model->settings.way;
    way.exhaustive = true;
    wfre_status status = wfre_session_open(NULL, model, NULL, &session, NULL);
    if (status == WFRE_OK)
        status = wfre_rank(session, &way, WFRE_TRAIN, queries, 2, NULL, NULL);
    wfre_session_free(session);
    return status;
}

typedef struct parts {
    wfre_linalg *linalg;
    wfre_score *score;
} parts;

static wfre_status attempt_filter(void *context)
{
    const parts *p = context;
    wfre_filter *filter = NULL;
    float estimates[2 * 16];
    wfre_filter_input input = {p->score, model->entities, 16, model->entities, 16};
    wfre_status status = wfre_filter_create(&input, NULL, &filter, NULL);
    if (status == WFRE_OK)
        status = wfre_filter_estimate(filter, p->linalg, NULL, model->entities, 2, estimates, NULL);
    wfre_filter_free(filter);
    return status;
}

static void test_out_of_memory(void **state)
{
    (void)state;
    sweep_allocations(attempt_exhaustive, NULL);
    parts p;
    wfre_isa isa;
    assert_ok(wfre_isa_select(&isa, error));
    assert_ok(wfre_linalg_create(NULL, isa, &p.linalg, error));
    wfre_score_settings quick = model->settings.score;
    quick.iterations = 1;
    assert_ok(wfre_score_create(&quick, &p.score, error));
    sweep_allocations(attempt_filter, &p);
    wfre_score_free(p.score);
    wfre_linalg_free(p.linalg);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_separable),
        cmocka_unit_test(test_estimates),
        cmocka_unit_test(test_filtered_equals_exhaustive),
        cmocka_unit_test(test_many_answers),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_by_pairs),
        cmocka_unit_test(test_out_of_memory),
    };
    return cmocka_run_group_tests(tests, set_up, clear_world);
}
