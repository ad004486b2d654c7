/* Random questions on random graphs and models: known answers are those of brute force, no entity
 * is both known and predicted, and the predicted ones are the nearest of all others that the graph
 * does not refute. */
#include "wfre/answer.h"

#include <math.h>

#include "check.h"
#include "infer/session.h"
#include "model/run.h"
#include "query/formula.h"
#include "toy.h"

enum { TRIALS = 200, ENTITIES = BRUTE_ENTITIES, RELATIONS = 3, DIM = 20, TOP = 5 };

/* Other kernels embed the questions here. */
static const float TOLERANCE = 1e-4f;

/* The distance of every entity from a question. */
static void score_all(const wfre_model *model, const wfre_node *tree, float *distances)
{
    float entities[ENTITIES][DIM];
    uint32_t same[ENTITIES] = {0};
    wfre_program program = {0};
    wfre_linalg *linalg;
    wfre_run *run;
    wfre_score *score;
    assert_ok(wfre_score_create(&model->settings.score, &score, error));
    assert_ok(wfre_linalg_create(NULL, WFRE_ISA_REFERENCE, &linalg, error));
    assert_ok(wfre_run_create(model, NULL, linalg, WFRE_FP32, &run, error));
    assert_ok(wfre_program_compile(&program, &tree, 1, model->settings.way.unions, error));
    assert_ok(wfre_run_forward(run, &program, NULL, error));
    for (size_t i = 0; i < model->tensors[0].count; i++)
        entities[i / DIM][i % DIM] = fminf(fmaxf(model->entities[i], 0), 1);
    for (uint32_t e = 0; e < ENTITIES; e++)
        distances[e] = INFINITY;
    for (uint32_t r = 0; r < program.root_count; r++) {
        float branch[ENTITIES];
        wfre_pairs pairs = {.left = {entities[0], DIM},
                            .right = {wfre_run_row(run, program.roots[r]), DIM},
                            .right_index = same,
                            .count = model->entity_count};
        assert_ok(wfre_score_pairs(score, NULL, &pairs, branch, NULL, error));
        for (uint32_t e = 0; e < model->entity_count; e++)
            distances[e] = fminf(distances[e], branch[e]);
    }
    wfre_run_free(run);
    wfre_program_free(&program);
    wfre_linalg_free(linalg);
    wfre_score_free(score);
}

static void check_answers(const wfre_model *model, const wfre_node *tree,
                          const wfre_answers *answers, uint32_t expected, uint32_t refuted)
{
    float distances[ENTITIES];
    uint32_t known = 0, seen = 0;
    for (size_t i = 0; i < answers->known.count; i++)
        known |= 1u << answers->known.ids[i];
    assert_int_equal(known, expected);
    score_all(model, tree, distances);
    assert_int_equal(known & refuted, 0);
    size_t left = 0;
    for (uint32_t e = 0; e < model->entity_count; e++)
        left += !((known | refuted) >> e & 1);
    assert_int_equal(answers->predicted_count, left < TOP ? left : TOP);
    seen = refuted;
    for (size_t i = 0; i < answers->predicted_count; i++) {
        const wfre_prediction *p = &answers->predicted[i];
        assert_false((known | seen) >> p->entity & 1);
        seen |= 1u << p->entity;
        double score = model->settings.gamma - model->settings.rho * (double)distances[p->entity];
        assert_true(fabs(score - p->score) < model->settings.rho * (double)TOLERANCE);
        for (uint32_t e = 0; e < model->entity_count; e++)
            if (!((known | seen) >> e & 1))
                assert_true(distances[e] > distances[p->entity] - TOLERANCE);
    }
}

static void trial(uint64_t seed)
{
    wfre_rng rng = wfre_rng_keyed(seed, 0, 0);
    brute_graph brute;
    brute_random_graph(&rng, ENTITIES, RELATIONS, &brute);
    wfre_graph *graph = toy_graph_of(&brute);
    wfre_model_settings settings;
    wfre_model_settings_default(&settings);
    settings.dim = DIM;
    settings.bases = wfre_rng_below(&rng, 3);
    settings.way.unions = (wfre_union)wfre_rng_below(&rng, 3);
    wfre_model *model;
    wfre_session *session;
    assert_ok(wfre_model_create(graph, &settings, seed, &model, error));
    assert_ok(wfre_session_open(graph, model, NULL, &session, error));
    for (int i = 0; i < 4; i++) {
        wfre_query query = {0};
        query.tree = brute_random_tree(&query.arena, &rng, &brute, 4);
        wfre_question question = {.query = &query};
        wfre_answers *answers;
        wfre_ask_options_default(&question.options);
        question.options.top = TOP;
        assert_ok(wfre_session_ask(session, &question, 1, NULL, &answers, error));
        assert_int_equal(answers->status, WFRE_OK);
        check_answers(model, query.tree, answers, brute_tree(&brute, query.tree),
                      brute_refuted(&brute, query.tree));
        wfre_answers_free(answers);
        wfre_arena_free(&query.arena);
    }
    wfre_session_free(session);
    wfre_model_free(model);
    wfre_graph_close(graph);
}

static void known_and_predicted_never_mix(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= TRIALS; seed++) {
        print_message("seed %llu\n", (unsigned long long)seed);
        trial(seed);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(known_and_predicted_never_mix)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
