/* Both ways to the loss (matrix and pairs), both losses, and every score against finite
 * differences; and the two ways against each other where they compute the same thing. */
#include "check.h"

#include <math.h>

#include "base/rng.h"
#include "train/loss.h"

enum { DIM = 20, QUERIES = 5, BRANCHES = 7, CANDIDATES = 9 };

/* A batch small enough to write down: queries 1 and 3 have two branches. */
typedef struct fixture {
    wfre_train_settings settings;
    wfre_loss_batch batch;
    float branches[BRANCHES * DIM], table[CANDIDATES * DIM];
    float branch_gradient[BRANCHES * DIM], table_gradient[CANDIDATES * DIM];
    float weights[QUERIES], prices[QUERIES];
    uint32_t own[QUERIES * CANDIDATES], own_begin[QUERIES + 1]; /* all that is no answer */
    wfre_pool *pool;
    wfre_linalg *linalg;
    wfre_matrix_engine *matrix;
    wfre_pair_engine *pairs;
    wfre_surrogate *surrogate;
    bool by_pairs;
} fixture;

static const uint32_t BRANCH_BEGIN[] = {0, 1, 3, 4, 6, 7};
static const uint32_t POSITIVE_BEGIN[] = {0, 1, 2, 4, 5, 6};
static const uint32_t POSITIVES[] = {0, 3, 1, 5, 8, 2};
static const uint32_t ANSWER_BEGIN[] = {0, 1, 3, 6, 7, 8};
static const uint32_t ANSWERS[] = {0, 3, 4, 1, 5, 7, 8, 2};

static void open_fixture(fixture *f, wfre_loss loss, wfre_score_kind kind, double mass,
                         uint32_t members, uint64_t seed)
{
    memset(f, 0, sizeof *f);
    assert_ok(wfre_train_preset("small", NULL, &f->settings, error));
    f->settings.loss = loss;
    for (int q = 0; q < QUERIES; q++)
        f->prices[q] = (float)(q == 2 ? 0 : mass);
    f->settings.hard = 3;
    f->settings.model.dim = DIM;
    f->settings.model.members = members;
    f->settings.model.gamma = 8;
    f->settings.model.rho = 4;
    f->settings.model.score.kind = kind;
    f->settings.model.score.dimension = DIM;
    f->settings.model.score.iterations = 400;
    wfre_rng rng = wfre_rng_keyed(seed, 0, 0);
    for (size_t i = 0; i < BRANCHES * DIM; i++)
        f->branches[i] = 0.1f + 0.8f * wfre_rng_float(&rng);
    for (size_t i = 0; i < CANDIDATES * DIM; i++)
        f->table[i] = 0.1f + 0.8f * wfre_rng_float(&rng);
    uint32_t used = 0;
    for (uint32_t q = 0; q < QUERIES; q++) {
        f->weights[q] = 0.2f;
        for (uint32_t c = 0; c < CANDIDATES; c++) {
            bool answer = false;
            for (uint32_t i = ANSWER_BEGIN[q]; i < ANSWER_BEGIN[q + 1]; i++)
                answer = answer || ANSWERS[i] == c;
            if (!answer)
                f->own[used++] = c;
        }
        f->own_begin[q + 1] = used;
    }
    f->batch = (wfre_loss_batch){
        .queries = QUERIES,
        .branch_count = BRANCHES,
        .candidates = CANDIDATES,
        .dim = DIM,
        .branch_begin = BRANCH_BEGIN,
        .branches = f->branches,
        .table = f->table,
        .positive_begin = POSITIVE_BEGIN,
        .positives = POSITIVES,
        .answer_begin = ANSWER_BEGIN,
        .answers = ANSWERS,
        .negative_begin = f->own_begin,
        .negatives = f->own,
        .weights = f->weights,
        .prices = f->prices,
        .branch_gradient = f->branch_gradient,
        .table_gradient = f->table_gradient,
    };
    assert_ok(wfre_pool_create(2, &f->pool, error));
    assert_ok(wfre_linalg_create(f->pool, WFRE_ISA_REFERENCE, &f->linalg, error));
    assert_ok(wfre_matrix_engine_create(&f->settings, f->pool, f->linalg, &f->matrix, error));
    assert_ok(wfre_pair_engine_create(&f->settings, f->pool, f->linalg, &f->pairs, error));
}

static void close_fixture(fixture *f)
{
    wfre_pair_engine_free(f->pairs);
    wfre_surrogate_free(f->surrogate);
    wfre_matrix_engine_free(f->matrix);
    wfre_linalg_free(f->linalg);
    wfre_pool_free(f->pool);
}

static double evaluate(fixture *f)
{
    double loss = 0;
    if (f->by_pairs)
        assert_ok(wfre_loss_pairs(f->pairs, &f->batch, &loss, error));
    else
        assert_ok(wfre_loss_matrix(f->matrix, &f->batch, &loss, error));
    return loss;
}

/* Where two step sizes disagree there is a kink (another branch becomes the best, |x| turns). */
static bool compare(fixture *f, float *value, double gradient, double tolerance)
{
    float kept = *value;
    double slope[2];
    for (int i = 0; i < 2; i++) {
        float step = i == 0 ? 4e-3f : 1e-3f;
        *value = kept + step;
        double high = evaluate(f), above = (double)*value;
        *value = kept - step;
        double low = evaluate(f), below = (double)*value;
        slope[i] = (high - low) / (above - below);
    }
    *value = kept;
    if (fabs(slope[0] - slope[1]) > 0.5 * tolerance)
        return false;
    if (fabs(slope[0] - gradient) > tolerance)
        fail_msg("gradient %g, finite difference %g", gradient, slope[0]);
    return true;
}

/* Lets the matrix way compare with transport. */
static void use_surrogate(fixture *f, uint32_t block, double radius, double power)
{
    wfre_score_settings *score = &f->settings.model.score;
    score->block = block;
    score->radius = radius;
    score->power = power;
    score->iterations = 10;
    wfre_matrix_engine_free(f->matrix);
    assert_ok(wfre_matrix_engine_create(&f->settings, f->pool, f->linalg, &f->matrix, error));
    assert_ok(wfre_surrogate_fit(score, NULL, f->pool, 0, &f->surrogate, error));
    wfre_matrix_engine_use(f->matrix, f->surrogate);
}

static void check_fixture(fixture *f, uint32_t members)
{
    (void)evaluate(f);
    float branch[BRANCHES * DIM], table[CANDIDATES * DIM];
    memcpy(branch, f->branch_gradient, sizeof branch);
    memcpy(table, f->table_gradient, sizeof table);
    double size = 0; /* each member's gradient is that of its own loss, of which f is the mean */
    for (size_t i = 0; i < BRANCHES * DIM; i++)
        size = fmax(size, fabs((double)(branch[i] /= (float)members)));
    for (size_t i = 0; i < CANDIDATES * DIM; i++)
        table[i] /= (float)members;
    assert_true(size > 1e-4);
    int compared = 0, asked = 0;
    for (size_t i = 0; i < BRANCHES * DIM; i += 3, asked++)
        compared += compare(f, &f->branches[i], (double)branch[i], 0.02 * size + 2e-4);
    for (size_t i = 0; i < CANDIDATES * DIM; i += 3, asked++)
        compared += compare(f, &f->table[i], (double)table[i], 0.02 * size + 2e-4);
    assert_true(compared > asked * 3 / 4);
}

static void check_gradients(wfre_loss loss, wfre_score_kind kind, double mass, uint32_t members,
                            bool by_pairs, uint64_t seed)
{
    fixture f;
    open_fixture(&f, loss, kind, mass, members, seed);
    f.by_pairs = by_pairs;
    check_fixture(&f, members);
    close_fixture(&f);
}

/* A teacher's targets beside the answers; the second query has none. */
static void test_targets(void **state)
{
    (void)state;
    float targets[QUERIES * CANDIDATES] = {0};
    for (uint32_t members = 1; members <= 2; members++) {
        fixture f;
        double alone, taught;
        open_fixture(&f, WFRE_LOSS_SOFTMAX, WFRE_SCORE_LOCAL, 0.7, members, 70 + members);
        for (uint32_t q = 0; q < QUERIES; q++) {
            uint32_t first = f.own_begin[q], count = f.own_begin[q + 1] - first;
            for (uint32_t i = 0; i < count && q != 1; i++)
                targets[q * CANDIDATES + f.own[first + i]] =
                    2.0f * (float)(i + 1) / (float)(count * (count + 1));
        }
        alone = evaluate(&f);
        f.batch.targets = targets;
        f.batch.target_weight = 3;
        taught = evaluate(&f);
        assert_true(taught > alone + 1); /* a cross-entropy of several candidates */
        check_fixture(&f, members);
        f.batch.target_weight = 0;
        assert_true(evaluate(&f) == alone);
        close_fixture(&f);
    }
}

/* Every preset of the score, blocks of all lengths, with a price of mass and with members. */
static void test_surrogate(void **state)
{
    (void)state;
    static const struct {
        uint32_t block, members;
        double radius, power, mass;
    } cases[] = {{5, 1, 3.14159265358979, 2, 0},
                 {5, 2, 3, 1, 0.7},
                 {5, 1, 3, -1, 0},
                 {5, 1, 1, -1, 0.7},
                 {2, 2, 2, -1, 0},
                 {10, 2, 3, -1, 0.7},
                 {20, 1, 5, 2, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        for (int loss = WFRE_LOSS_SIGMOID; loss <= WFRE_LOSS_SOFTMAX; loss++) {
            fixture f;
            open_fixture(&f, (wfre_loss)loss, WFRE_SCORE_WFR, cases[i].mass, cases[i].members, i);
            use_surrogate(&f, cases[i].block, cases[i].radius, cases[i].power);
            check_fixture(&f, cases[i].members);
            close_fixture(&f);
        }
}

/* Relative to the norm of what is right. */
static double apart(const float *found, const float *right, size_t count)
{
    double off = 0, size = 0;
    for (size_t i = 0; i < count; i++) {
        off += pow((double)found[i] - (double)right[i], 2);
        size += pow((double)right[i], 2);
    }
    return sqrt(off / size);
}

/* The surrogate with some pairs left to the score, beside the score alone: the same if all pairs
 * are left to it, and else right in the mean, with an error far below the surrogate's own. */
static void test_exact(void **state)
{
    (void)state;
    enum { DRAWS = 300 };
    for (int loss = WFRE_LOSS_SIGMOID; loss <= WFRE_LOSS_SOFTMAX; loss++) {
        fixture f;
        static float right[2][CANDIDATES * DIM], mean[2][CANDIDATES * DIM];
        open_fixture(&f, (wfre_loss)loss, WFRE_SCORE_WFR, 0, 1, 70);
        f.settings.guide = WFRE_GUIDE_SURROGATE;
        wfre_pair_engine_free(f.pairs);
        use_surrogate(&f, 5, 3, 2);
        assert_ok(wfre_pair_engine_create(&f.settings, f.pool, f.linalg, &f.pairs, error));
        f.by_pairs = true;
        double loss_right = evaluate(&f);
        memcpy(right[0], f.branch_gradient, sizeof f.branch_gradient);
        memcpy(right[1], f.table_gradient, sizeof f.table_gradient);
        f.by_pairs = false;
        wfre_matrix_engine_exact(f.matrix, 2 * CANDIDATES);
        assert_true(fabs(evaluate(&f) - loss_right) < 1e-5);
        assert_true(apart(f.branch_gradient, right[0], BRANCHES * DIM) < 1e-3);
        assert_true(apart(f.table_gradient, right[1], CANDIDATES * DIM) < 1e-3);
        wfre_matrix_engine_exact(f.matrix, 0);
        (void)evaluate(&f);
        double without = apart(f.branch_gradient, right[0], BRANCHES * DIM), single = 0;
        memset(mean, 0, sizeof mean);
        wfre_matrix_engine_exact(f.matrix, 4);
        for (f.batch.step = 0; f.batch.step < DRAWS; f.batch.step++) {
            (void)evaluate(&f);
            single += apart(f.branch_gradient, right[0], BRANCHES * DIM) / DRAWS;
            for (size_t i = 0; i < BRANCHES * DIM; i++)
                mean[0][i] += f.branch_gradient[i] / DRAWS;
            for (size_t i = 0; i < CANDIDATES * DIM; i++)
                mean[1][i] += f.table_gradient[i] / DRAWS;
        }
        double left = apart(mean[0], right[0], BRANCHES * DIM);
        print_message("surrogate off by %.4f, with four exact pairs by %.4f, their mean by %.4f\n",
                      without, single, left);
        assert_true(single < 0.8 * without);
        assert_true(left < single / 4);
        assert_true(apart(mean[1], right[1], CANDIDATES * DIM) < 0.02);
        close_fixture(&f);
    }
}

static void test_matrix(void **state)
{
    (void)state;
    check_gradients(WFRE_LOSS_SOFTMAX, WFRE_SCORE_LOCAL, 0, 1, false, 1);
    check_gradients(WFRE_LOSS_SIGMOID, WFRE_SCORE_LOCAL, 0, 1, false, 2);
    check_gradients(WFRE_LOSS_SOFTMAX, WFRE_SCORE_LOCAL, 0.7, 1, false, 3);
    check_gradients(WFRE_LOSS_SOFTMAX, WFRE_SCORE_LOCAL, 0.7, 2, false, 4);
    check_gradients(WFRE_LOSS_SIGMOID, WFRE_SCORE_LOCAL, 0, 4, false, 5);
}

static void test_pairs(void **state)
{
    (void)state;
    static const wfre_score_kind kinds[] = {
        WFRE_SCORE_WFR, WFRE_SCORE_LOCAL, WFRE_SCORE_HELLINGER, WFRE_SCORE_KL,
        WFRE_SCORE_L2,  WFRE_SCORE_INNER, WFRE_SCORE_L1,        WFRE_SCORE_WASSERSTEIN};
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        print_message("%s\n", wfre_score_kind_name(kinds[i]));
        check_gradients(WFRE_LOSS_SOFTMAX, kinds[i], 0, 1, true, 200 + i);
        check_gradients(WFRE_LOSS_SIGMOID, kinds[i], 0, 1, true, 300 + i);
    }
}

/* With the local score both ways are the same function of the same candidates. */
static void test_ways_agree(void **state)
{
    (void)state;
    for (int loss = WFRE_LOSS_SIGMOID; loss <= WFRE_LOSS_SOFTMAX; loss++) {
        fixture f;
        open_fixture(&f, (wfre_loss)loss, WFRE_SCORE_LOCAL, 0, 1, 50);
        double by_matrix = evaluate(&f);
        float branch[BRANCHES * DIM], table[CANDIDATES * DIM];
        memcpy(branch, f.branch_gradient, sizeof branch);
        memcpy(table, f.table_gradient, sizeof table);
        f.by_pairs = true;
        assert_true(fabs(evaluate(&f) - by_matrix) < 1e-5);
        for (size_t i = 0; i < BRANCHES * DIM; i++)
            assert_true(fabsf(branch[i] - f.branch_gradient[i]) < 1e-5f);
        for (size_t i = 0; i < CANDIDATES * DIM; i++)
            assert_true(fabsf(table[i] - f.table_gradient[i]) < 1e-5f);
        close_fixture(&f);
    }
}

/* The hardest candidates are the non-answers that the local score puts nearest. */
static void test_hardest(void **state)
{
    (void)state;
    fixture f;
    open_fixture(&f, WFRE_LOSS_SOFTMAX, WFRE_SCORE_LOCAL, 0, 1, 60);
    const uint32_t *begin, *hardest;
    assert_ok(wfre_loss_hardest(f.matrix, &f.batch, &begin, &hardest, error));
    wfre_score *score;
    assert_ok(wfre_score_create(&f.settings.model.score, &score, error));
    for (uint32_t q = 0; q < QUERIES; q++) {
        assert_int_equal(begin[q + 1] - begin[q], 3);
        float distance[CANDIDATES];
        for (uint32_t c = 0; c < CANDIDATES; c++) {
            distance[c] = 1e9f;
            for (uint32_t r = BRANCH_BEGIN[q]; r < BRANCH_BEGIN[q + 1]; r++) {
                float one;
                wfre_pairs pair = {.left = {f.table + c * DIM, DIM},
                                   .right = {f.branches + r * DIM, DIM},
                                   .count = 1};
                assert_ok(wfre_score_pairs(score, NULL, &pair, &one, NULL, error));
                distance[c] = one < distance[c] ? one : distance[c];
            }
        }
        float farthest = 0;
        for (uint32_t i = begin[q]; i < begin[q + 1]; i++) {
            uint32_t own = 0, same = 0;
            for (uint32_t k = f.own_begin[q]; k < f.own_begin[q + 1]; k++)
                own += f.own[k] == hardest[i];
            for (uint32_t k = begin[q]; k < begin[q + 1]; k++)
                same += hardest[k] == hardest[i];
            assert_int_equal(own, 1); /* no answer */
            assert_int_equal(same, 1);
            farthest = fmaxf(farthest, distance[hardest[i]]);
        }
        uint32_t nearer = 0;
        for (uint32_t i = f.own_begin[q]; i < f.own_begin[q + 1]; i++)
            nearer += distance[f.own[i]] < farthest - 1e-5f;
        assert_true(nearer <= 2);
    }
    wfre_score_free(score);
    close_fixture(&f);
}

/* Answers far above and far below everything else, and nothing else at all: all is finite, and
 * the softmax is what it is by definition. */
static void test_extreme_logits(void **state)
{
    (void)state;
    static const uint32_t answers[] = {0, 2};
    static const struct {
        float logits[4];
        size_t count;
        double loss, gradient[4];
    } cases[] = {
        {{900, 0, -900, 0}, 4, (900 + 0.6931471805599453) / 2, {0, 0.25, -0.5, 0.25}},
        {{2000, 1, 1900, 0}, 4, 0, {0, 0, 0, 0}},
        {{-2000, 1, -3000, -1e4f}, 4, 2501, {-0.5, 1, -0.5, 0}},
        {{3, 0, 0, 0}, 1, 0, {0, 0, 0, 0}},
    };
    fixture f;
    open_fixture(&f, WFRE_LOSS_SOFTMAX, WFRE_SCORE_LOCAL, 0, 1, 60);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        bool alone = cases[i].count == 1; /* one candidate, which is the answer */
        float logits[4], saved[2];
        memcpy(logits, cases[i].logits, sizeof logits);
        wfre_query_loss query = {.kind = WFRE_LOSS_SOFTMAX,
                                 .count = cases[i].count,
                                 .positives = answers,
                                 .positive_count = alone ? 1 : 2,
                                 .answers = answers,
                                 .answer_count = alone ? 1 : 2,
                                 .weight = 1};
        double loss =
            wfre_query_loss_gradient(&query, wfre_linalg_vectors(f.linalg), logits, saved);
        assert_true(fabs(loss - cases[i].loss) < 1e-3);
        for (size_t c = 0; c < cases[i].count; c++)
            assert_true(fabs((double)logits[c] - cases[i].gradient[c]) < 1e-5);
    }
    close_fixture(&f);
}

/* ---- the relation as a second target ------------------------------------------------------ */

enum { FACTS = 3, ROWS = 8 };

/* Rows 0 to 2 are the facts' own, the others rivals; two facts have the same target, one has no
 * rival at all. */
static const uint32_t RIVAL_BEGIN[] = {0, 3, 3, 5}, OWN[] = {1, 0, 2}, TARGETS[] = {4, 1, 4};

typedef struct relations {
    fixture f;
    wfre_relation_engine *engine;
    wfre_relation_batch batch;
    float rows[ROWS * DIM], row_gradient[ROWS * DIM];
} relations;

static double evaluate_relations(relations *r)
{
    double loss = 0;
    memset(r->row_gradient, 0, sizeof r->row_gradient);
    memset(r->f.table_gradient, 0, sizeof r->f.table_gradient);
    assert_ok(wfre_loss_relations(r->engine, &r->batch, &loss, error));
    return loss;
}

/* By the definition: the mean of the members' losses, a softmax of whole distances each. */
static double defined_loss(const relations *r)
{
    const wfre_model_settings *model = &r->f.settings.model;
    size_t width = DIM / model->members;
    double eps = model->score.epsilon, tau = model->score.floor, loss = 0;
    for (uint32_t m = 0; m < model->members; m++)
        for (uint32_t f = 0; f < FACTS; f++) {
            double own = 0, sum = 0;
            for (uint32_t j = 0; j <= RIVAL_BEGIN[f + 1] - RIVAL_BEGIN[f]; j++) {
                uint32_t row = j == 0 ? OWN[f] : 3 + RIVAL_BEGIN[f] + j - 1;
                double distance = 0;
                for (size_t i = m * width; i < (m + 1) * width; i++) {
                    double x = (double)r->rows[row * DIM + i] + tau;
                    double y = (double)r->f.table[TARGETS[f] * DIM + i] + tau;
                    distance += x + y + eps - (2 + eps) * pow(x * y, 1 / (2 + eps));
                }
                double logit = -model->rho * distance * model->score.block / (double)width;
                own = j == 0 ? logit : own;
                sum += exp(logit);
            }
            loss += r->f.settings.relation_loss / FACTS * (log(sum) - own);
        }
    return loss / model->members;
}

static int compare_relations(relations *r, float *value, double gradient, double tolerance)
{
    float kept = *value;
    *value = kept + 2e-3f;
    double high = evaluate_relations(r), above = (double)*value;
    *value = kept - 2e-3f;
    double low = evaluate_relations(r), below = (double)*value;
    *value = kept;
    return fabs((high - low) / (above - below) - gradient) <= tolerance;
}

static void check_relations(uint32_t members, uint64_t seed)
{
    relations r;
    open_fixture(&r.f, WFRE_LOSS_SOFTMAX, WFRE_SCORE_LOCAL, 0, members, seed);
    wfre_rng rng = wfre_rng_keyed(seed, 1, 0);
    for (size_t i = 0; i < ROWS * DIM; i++)
        r.rows[i] = 0.1f + 0.8f * wfre_rng_float(&rng);
    r.f.settings.relation_loss = 1.7;
    r.batch = (wfre_relation_batch){.facts = FACTS,
                                    .dim = DIM,
                                    .rivals = 3,
                                    .rival_begin = RIVAL_BEGIN,
                                    .own = OWN,
                                    .targets = TARGETS,
                                    .branches = r.rows,
                                    .table = r.f.table,
                                    .branch_gradient = r.row_gradient,
                                    .table_gradient = r.f.table_gradient};
    assert_ok(wfre_relation_engine_create(&r.f.settings, r.f.pool, r.f.linalg, &r.engine, error));
    assert_true(fabs(evaluate_relations(&r) - defined_loss(&r)) < 1e-5);
    float row[ROWS * DIM], table[CANDIDATES * DIM];
    memcpy(row, r.row_gradient, sizeof row);
    memcpy(table, r.f.table_gradient, sizeof table);
    double size = 0;
    for (size_t i = 0; i < ROWS * DIM; i++)
        size = fmax(size, fabs((double)(row[i] /= (float)members)));
    assert_true(size > 1e-3);
    for (size_t i = 0; i < ROWS * DIM; i++)
        assert_true(compare_relations(&r, &r.rows[i], (double)row[i], 0.01 * size + 2e-4));
    for (size_t i = 0; i < CANDIDATES * DIM; i++)
        assert_true(
            compare_relations(&r, &r.f.table[i], (double)table[i] / members, 0.01 * size + 2e-4));
    wfre_relation_engine_free(r.engine);
    close_fixture(&r.f);
}

static void test_relations(void **state)
{
    (void)state;
    check_relations(1, 70);
    check_relations(2, 71);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_matrix),     cmocka_unit_test(test_surrogate),
        cmocka_unit_test(test_exact),      cmocka_unit_test(test_pairs),
        cmocka_unit_test(test_ways_agree), cmocka_unit_test(test_hardest),
        cmocka_unit_test(test_targets),    cmocka_unit_test(test_extreme_logits),
        cmocka_unit_test(test_relations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
