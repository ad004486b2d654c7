/* Sampled training queries: what they promise, on any number of threads. */
#include "check.h"
#include "exact/exact.h"
#include "sample/ground.h"
#include "toy.h"

enum { ENTITIES = 80, QUERIES = 140, BETAE_TYPES = 14 };

static const char ALL_TYPES[] = "1p,2p,3p,2i,3i,ip,pi 2in 3in,inp,pin,pni,2u,up";

static wfre_graph *graph;

static int build_graph(void **state)
{
    (void)state;
    graph = toy_random_graph(3, ENTITIES, 4, 3000);
    return 0;
}

static int close_graph(void **state)
{
    (void)state;
    wfre_graph_close(graph);
    return 0;
}

static void check_promises(double forward)
{
    wfre_sampler *sampler;
    const wfre_sampled *queries;
    wfre_exact exact;
    enum { CAP = 30 };
    assert_ok(wfre_sampler_create(graph, WFRE_TRAIN, ALL_TYPES, CAP, 5, &sampler, error));
    wfre_sampler_forward(sampler, forward, forward);
    assert_int_equal(wfre_sampler_type_count(sampler), BETAE_TYPES);
    assert_ok(wfre_exact_open(&exact, graph, error));
    assert_ok(wfre_sampler_step(sampler, NULL, 0, NULL, QUERIES, &queries, error));
    for (size_t i = 0; i < QUERIES; i++) {
        wfre_list answers;
        bool matter;
        assert_int_equal(queries[i].type, i % BETAE_TYPES);
        assert_ok(wfre_exact_tree(&exact, WFRE_TRAIN, queries[i].tree, &answers, error));
        assert_in_range(answers.count, 1, CAP);
        assert_int_equal(answers.count, queries[i].answers.count);
        assert_memory_equal(answers.ids, queries[i].answers.ids,
                            answers.count * sizeof *answers.ids);
        assert_ok(wfre_branches_matter(&exact, WFRE_TRAIN, WFRE_BRANCHES_NEGATED, queries[i].tree,
                                       queries[i].answers.count, &matter, error));
        assert_true(matter);
    }
    wfre_exact_close(&exact);
    wfre_sampler_free(sampler);
}

static void samples_keep_their_promises(void **state)
{
    (void)state;
    check_promises(0);
    check_promises(0.5);
    check_promises(1);
}

/* Everyone knows e0. A random answer is hardly ever e0; a random pair nearly always leads to it. */
static void forward_walks_reach_what_many_know(void **state)
{
    (void)state;
    enum { PEOPLE = 11, DRAWN = 400 };
    brute_graph brute = {.entities = PEOPLE + 1, .relations = 1};
    for (int i = 1; i <= PEOPLE; i++)
        brute.edge[0][i][0] = true;
    wfre_graph *star = toy_graph_of(&brute);
    for (int forward = 0; forward < 2; forward++) {
        wfre_sampler *sampler;
        const wfre_sampled *queries;
        int found = 0;
        assert_ok(wfre_sampler_create(star, WFRE_TRAIN, "1p", 0, 7, &sampler, error));
        wfre_sampler_forward(sampler, forward, 0);
        assert_ok(wfre_sampler_step(sampler, NULL, 0, NULL, DRAWN, &queries, error));
        for (int i = 0; i < DRAWN; i++)
            found += queries[i].answers.ids[0] == 0;
        if (forward)
            assert_in_range(found, DRAWN * 5 / 6, DRAWN - 1);
        else
            assert_in_range(found, 1, DRAWN / 6);
        wfre_sampler_free(sampler);
    }
    wfre_graph_close(star);
}

static void threads_do_not_change_samples(void **state)
{
    (void)state;
    wfre_sampler *samplers[3];
    wfre_pool *pools[3] = {NULL};
    const wfre_sampled *queries[3];
    uint32_t types[QUERIES];
    for (uint32_t i = 0; i < QUERIES; i++)
        types[i] = i * 7 % 10;
    for (unsigned k = 0; k < 3; k++) {
        assert_ok(wfre_sampler_create(graph, WFRE_TRAIN, NULL, 0, 5, &samplers[k], error));
        if (k > 0)
            assert_ok(wfre_pool_create(k + 1, &pools[k], error));
        /* Another step before must not matter either. */
        for (uint64_t step = k; step <= 2; step++)
            assert_ok(
                wfre_sampler_step(samplers[k], pools[k], step, types, QUERIES, &queries[k], error));
    }
    for (size_t i = 0; i < QUERIES; i++)
        for (unsigned k = 1; k < 3; k++) {
            assert_int_equal(queries[0][i].type, types[i]);
            assert_true(wfre_node_equal(queries[0][i].tree, queries[k][i].tree));
            assert_int_equal(queries[0][i].answers.count, queries[k][i].answers.count);
            assert_memory_equal(queries[0][i].answers.ids, queries[k][i].answers.ids,
                                queries[k][i].answers.count * sizeof(wfre_entity));
        }
    for (unsigned k = 0; k < 3; k++) {
        wfre_sampler_free(samplers[k]);
        wfre_pool_free(pools[k]);
    }
}

/* A branch that does not matter: all that has an edge of r0 from e0 also has one from e1. */
static void idle_branches_are_noticed(void **state)
{
    (void)state;
    brute_graph brute = {.entities = 4, .relations = 1};
    brute.edge[0][0][2] = brute.edge[0][1][2] = brute.edge[0][1][3] = true;
    wfre_graph *small = toy_graph_of(&brute);
    wfre_arena arena = {0};
    wfre_exact exact;
    bool matter;
    const wfre_node *both = wfre_node_pair(
        &arena, WFRE_OP_INTERSECT, wfre_node_project(&arena, 0, wfre_node_entity(&arena, 0)),
        wfre_node_project(&arena, 0, wfre_node_entity(&arena, 1)));
    assert_ok(wfre_exact_open(&exact, small, error));
    assert_ok(wfre_branches_matter(&exact, WFRE_TRAIN, WFRE_BRANCHES_ALL, both, 1, &matter, error));
    assert_false(matter);
    wfre_exact_close(&exact);
    wfre_arena_free(&arena);
    wfre_graph_close(small);
}

static void types_without_queries_are_reported(void **state)
{
    (void)state;
    brute_graph brute = {.entities = 2, .relations = 1};
    brute.edge[0][0][1] = true;
    wfre_graph *small = toy_graph_of(&brute);
    wfre_sampler *sampler;
    const wfre_sampled *queries;
    wfre_error why;
    assert_ok(wfre_sampler_create(small, WFRE_TRAIN, "1p 3i", 0, 1, &sampler, error));
    assert_int_equal(wfre_sampler_step(sampler, NULL, 0, NULL, 2, &queries, &why),
                     WFRE_ERR_NOT_FOUND);
    assert_non_null(strstr(why.message, "type 3i"));
    wfre_sampler_free(sampler);
    wfre_graph_close(small);
}

static void bad_types_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *types;
        wfre_status status;
    } CASES[] = {{"1p,9z", WFRE_ERR_NOT_FOUND},
                 {"(p,#1,(e,#2))", WFRE_ERR_FORMAT},
                 {"(p,(e)", WFRE_ERR_FORMAT},
                 {" ,", WFRE_ERR_ARGUMENT}};
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        wfre_sampler *sampler;
        wfre_error why;
        assert_int_equal(
            wfre_sampler_create(graph, WFRE_TRAIN, CASES[i].types, 0, 1, &sampler, &why),
            CASES[i].status);
    }
}

static wfre_status sample(void *context)
{
    wfre_status status;
    wfre_sampler *sampler = NULL;
    const wfre_sampled *queries;
    TRY(wfre_sampler_create(context, WFRE_TRAIN, "3p inp", 0, 1, &sampler, NULL));
    TRY(wfre_sampler_step(sampler, NULL, 0, NULL, 4, &queries, NULL));
cleanup:
    wfre_sampler_free(sampler);
    return status;
}

static void sampling_survives_failed_allocations(void **state)
{
    (void)state;
    sweep_allocations(sample, graph);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(samples_keep_their_promises),
        cmocka_unit_test(forward_walks_reach_what_many_know),
        cmocka_unit_test(threads_do_not_change_samples),
        cmocka_unit_test(idle_branches_are_noticed),
        cmocka_unit_test(types_without_queries_are_reported),
        cmocka_unit_test(bad_types_are_refused),
        cmocka_unit_test(sampling_survives_failed_allocations),
    };
    return cmocka_run_group_tests(tests, build_graph, close_graph);
}
