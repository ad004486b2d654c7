/* Benchmark sets: what every query in them has, and that threads and neighbours change nothing. */
#include "check.h"

#include <math.h>
#include <unistd.h>

#include "base/file.h"
#include "base/rng.h"
#include "eval/published.h"
#include "graph/graph.h"
#include "sample/ground.h"
#include "sample/queryset.h"
#include "toy.h"
#include "wfre/query.h"

enum { CAP = 25, COUNT = 8 };

static wfre_graph *graph;
static char paths[2][32];

static int set_up(void **state)
{
    (void)state;
    graph = toy_random_graph(9, 80, 4, 2500);
    for (int i = 0; i < 2; i++) {
        (void)snprintf(paths[i], sizeof paths[i], "/tmp/wfre-benchmark-XXXXXX");
        int descriptor = mkstemp(paths[i]);
        if (descriptor < 0)
            return 1;
        close(descriptor);
    }
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++)
        unlink(paths[i]);
    wfre_graph_close(graph);
    return 0;
}

static wfre_benchmark_options options_for(const char *types)
{
    return (wfre_benchmark_options){
        .split = WFRE_TEST, .types = types, .count = COUNT, .cap = CAP, .seed = 3};
}

static void queries_keep_their_promises(void **state)
{
    (void)state;
    wfre_benchmark_options options = options_for("betae,(i,(p,(e)),(u,(p,(e)),(p,(e)))) type0511");
    wfre_queryset set;
    wfre_exact exact;
    uint32_t differ, first;
    assert_ok(wfre_benchmark_sample(graph, &options, paths[0], NULL, NULL, NULL, NULL, error));
    assert_ok(wfre_queryset_read(paths[0], graph, &set, error));
    assert_int_equal(set.count, 16 * COUNT);
    assert_int_equal(set.types.count, 16);
    assert_ok(wfre_queryset_verify(&set, graph, WFRE_TEST, NULL, &differ, &first, error));
    assert_int_equal(differ, 0);
    assert_ok(wfre_exact_open(&exact, graph, error));
    for (uint32_t i = 0; i < set.count; i++) {
        wfre_list answers;
        bool matter;
        assert_in_range(wfre_queryset_hard(&set, i).count, 1, CAP);
        assert_in_range(wfre_queryset_easy(&set, i).count, 0, CAP);
        assert_ok(wfre_exact_tree(&exact, WFRE_TEST, set.rows[i].tree, &answers, error));
        assert_ok(wfre_branches_matter(&exact, WFRE_TEST, WFRE_BRANCHES_ALL, set.rows[i].tree,
                                       answers.count, &matter, error));
        assert_true(matter);
        for (uint32_t k = 0; k < i; k++)
            assert_false(wfre_node_equal(wfre_tree_sort(&set.arena, set.rows[i].tree),
                                         wfre_tree_sort(&set.arena, set.rows[k].tree)));
    }
    wfre_exact_close(&exact);
    wfre_queryset_clear(&set);
}

/* How many answers on the smaller graph the larger one refutes. */
static size_t refuted(wfre_exact *exact, const wfre_queryset *set, uint32_t row)
{
    wfre_list all, easy = wfre_queryset_easy(set, row);
    size_t count = 0;
    assert_ok(wfre_exact_tree(exact, WFRE_TEST, set->rows[row].tree, &all, error));
    for (size_t i = 0; i < easy.count; i++)
        count += !wfre_list_has(all, easy.ids[i]);
    return count;
}

/* The cap counts hard and refuted answers, not easy ones; negation refutes something; branches may
 * be idle, and some are. */
static void betae_queries_keep_theirs(void **state)
{
    (void)state;
    enum { SMALL_CAP = 6 };
    wfre_benchmark_options options = options_for("betae");
    wfre_queryset set;
    wfre_exact exact;
    uint32_t differ, first;
    size_t large = 0, idle = 0;
    options.protocol = WFRE_PROTOCOL_BETAE;
    options.cap = SMALL_CAP;
    assert_ok(wfre_benchmark_sample(graph, &options, paths[0], NULL, NULL, NULL, NULL, error));
    assert_ok(wfre_queryset_read(paths[0], graph, &set, error));
    assert_int_equal(set.count, 14 * COUNT);
    assert_ok(wfre_queryset_verify(&set, graph, WFRE_TEST, NULL, &differ, &first, error));
    assert_int_equal(differ, 0);
    assert_ok(wfre_exact_open(&exact, graph, error));
    for (uint32_t i = 0; i < set.count; i++) {
        const wfre_node *tree = set.rows[i].tree;
        bool negated = wfre_tree_count(tree, WFRE_OP_NEGATE) > 0, matter;
        size_t easy = wfre_queryset_easy(&set, i).count, hard = wfre_queryset_hard(&set, i).count;
        size_t lost = refuted(&exact, &set, i);
        assert_in_range(hard, 1, SMALL_CAP);
        assert_in_range(lost, negated, negated ? SMALL_CAP : 0);
        large += easy > SMALL_CAP;
        assert_ok(wfre_branches_matter(&exact, WFRE_TEST, WFRE_BRANCHES_ALL, tree,
                                       easy - lost + hard, &matter, error));
        idle += !matter;
    }
    assert_true(large > 0);
    assert_true(idle > 0);
    wfre_exact_close(&exact);
    wfre_queryset_clear(&set);
}

/* Every pair with something new within the cap, and no other, is a 1p query of BetaE's protocol. */
static void betae_edges_are_all_there_are(void **state)
{
    (void)state;
    wfre_benchmark_options options = options_for("1p");
    wfre_queryset set;
    size_t pairs = 0;
    options.protocol = WFRE_PROTOCOL_BETAE;
    options.count = 100000;
    options.cap = 2;
    assert_ok(wfre_benchmark_sample(graph, &options, paths[0], NULL, NULL, NULL, NULL, error));
    assert_ok(wfre_queryset_read(paths[0], graph, &set, error));
    for (wfre_relation r = 0; r < wfre_graph_relations(graph); r++)
        for (wfre_entity e = 0; e < wfre_graph_entities(graph); e++) {
            size_t more = wfre_graph_targets(graph, WFRE_TEST, r, e).count -
                          wfre_graph_targets(graph, WFRE_VALID, r, e).count;
            pairs += more > 0 && more <= options.cap;
        }
    assert_int_equal(set.count, pairs);
    wfre_queryset_clear(&set);
}

/* How often a pair is drawn: all alike, or by the number of facts that the split adds to it. */
static void edges_are_drawn_evenly(void **state)
{
    (void)state;
    enum { DRAWS = 200000 };
    wfre_arena arena = {0};
    double counts[2][2] = {{0}}; /* [questions, facts][pairs with one new fact, with several] */
    double pairs[2] = {0}, facts[2] = {0};
    for (wfre_relation r = 0; r < wfre_graph_relations(graph); r++)
        for (wfre_entity e = 0; e < wfre_graph_entities(graph); e++) {
            size_t more = wfre_graph_targets(graph, WFRE_TEST, r, e).count -
                          wfre_graph_targets(graph, WFRE_VALID, r, e).count;
            pairs[more > 1] += more > 0;
            facts[more > 1] += (double)more;
        }
    for (uint32_t i = 0; i < DRAWS; i++) {
        wfre_rng rng = wfre_rng_keyed(7, 0, i);
        const wfre_node *tree;
        int over = i % 2;
        wfre_arena_reset(&arena);
        assert_ok(over ? wfre_ground_fact(graph, WFRE_TEST, &rng, &arena, &tree, error)
                       : wfre_ground_path(graph, WFRE_TEST, 1, &rng, &arena, &tree, error));
        if (!tree)
            continue;
        wfre_entity e = tree->children[0]->id;
        size_t more = wfre_graph_targets(graph, WFRE_TEST, tree->id, e).count -
                      wfre_graph_targets(graph, WFRE_VALID, tree->id, e).count;
        counts[over][more > 1] += more > 0;
    }
    for (int over = 0; over < 2; over++) {
        const double *expected = over ? facts : pairs;
        double share = expected[1] / (expected[0] + expected[1]);
        double all = counts[over][0] + counts[over][1];
        assert_true(all > 1000);
        assert_true(fabs(counts[over][1] / all - share) < 5 * sqrt(share * (1 - share) / all));
    }
    assert_true(facts[1] / facts[0] > 1.5 * pairs[1] / pairs[0]);
    wfre_arena_free(&arena);
}

/* Sets of another kind than published ones are told by how they were drawn, or by what they hold.
 */
static void other_kinds_are_told(void **state)
{
    (void)state;
    enum { MANY = 101 };
    wfre_benchmark_options options = options_for("1p");
    wfre_queryset set;
    for (int i = 0; i < 4; i++) {
        options.protocol = i == 0 ? WFRE_PROTOCOL_STRICT : WFRE_PROTOCOL_BETAE;
        options.edges = i == 1 ? WFRE_DRAW_FACTS : i == 2 ? WFRE_DRAW_ANSWERS : WFRE_DRAW_QUESTIONS;
        assert_ok(wfre_benchmark_sample(graph, &options, paths[0], NULL, NULL, NULL, NULL, error));
        assert_ok(wfre_queryset_read(paths[0], graph, &set, error));
        assert_int_equal(wfre_published_kind("NELL", &set), i == 3);
        wfre_queryset_clear(&set);
    }
    wfre_entity ids[MANY];
    for (wfre_entity i = 0; i < MANY; i++)
        ids[i] = i;
    for (size_t hard = MANY - 1; hard <= MANY; hard++) {
        set = (wfre_queryset){0};
        const wfre_node *tree = wfre_node_project(&set.arena, 0, wfre_node_entity(&set.arena, 0));
        assert_ok(
            wfre_queryset_add(&set, "1p", tree, (wfre_list){0}, (wfre_list){ids, hard}, error));
        assert_int_equal(wfre_published_kind("FB15k-237", &set), hard < MANY);
        assert_true(wfre_published_kind("WN18RR", &set));
        wfre_queryset_clear(&set);
    }
}

static void threads_do_not_change_the_set(void **state)
{
    (void)state;
    wfre_benchmark_options options = options_for("2p 3in up");
    wfre_pool *pool;
    char *texts[2];
    size_t lengths[2];
    assert_ok(wfre_pool_create(3, &pool, error));
    assert_ok(wfre_benchmark_sample(graph, &options, paths[0], NULL, NULL, NULL, NULL, error));
    assert_ok(wfre_benchmark_sample(graph, &options, paths[1], pool, NULL, NULL, NULL, error));
    for (int i = 0; i < 2; i++)
        assert_ok(wfre_read_all(paths[i], 1 << 20, &texts[i], &lengths[i], error));
    assert_int_equal(lengths[0], lengths[1]);
    assert_memory_equal(texts[0], texts[1], lengths[0]);
    for (int i = 0; i < 2; i++)
        wfre_free(texts[i]);
    wfre_pool_free(pool);
}

static void note_type(void *context, const wfre_benchmark_type *type)
{
    ((wfre_benchmark_type *)context)[strcmp(type->name, "1p") == 0] = *type;
}

/* In the split's graph there is one more edge, so one 1p query each way has a hard answer. */
static void types_that_run_out_are_reported(void **state)
{
    (void)state;
    wfre_graph_builder *builder;
    wfre_graph *small;
    uint32_t ids[4];
    assert_ok(wfre_graph_builder_create(&builder, error));
    for (int i = 0; i < 3; i++)
        assert_ok(wfre_graph_builder_entity(builder, &"abc"[i], 1, &ids[i], error));
    assert_ok(wfre_graph_builder_relation(builder, "r", 1, &ids[3], error));
    assert_ok(wfre_graph_builder_triple(builder, WFRE_TRAIN, 0, 0, 1, error));
    assert_ok(wfre_graph_builder_triple(builder, WFRE_VALID, 1, 0, 2, error));
    assert_ok(wfre_graph_builder_finish(builder, &small, error));
    wfre_graph_builder_free(builder);
    wfre_benchmark_options options = options_for("3i 1p");
    wfre_benchmark_type types[2];
    options.split = WFRE_VALID;
    assert_ok(
        wfre_benchmark_sample(small, &options, paths[0], NULL, NULL, note_type, types, error));
    assert_int_equal(types[1].queries, 2);
    assert_int_equal(types[0].queries, 0);
    assert_in_range(types[0].attempts, 100000, 110000);
    wfre_graph_close(small);
}

static wfre_status sample(void *context)
{
    wfre_benchmark_options options = options_for("2u inp");
    options.count = 2;
    return wfre_benchmark_sample(context, &options, paths[0], NULL, NULL, NULL, NULL, NULL);
}

static void sampling_survives_failed_allocations(void **state)
{
    (void)state;
    sweep_allocations(sample, graph);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(queries_keep_their_promises),
        cmocka_unit_test(betae_queries_keep_theirs),
        cmocka_unit_test(betae_edges_are_all_there_are),
        cmocka_unit_test(edges_are_drawn_evenly),
        cmocka_unit_test(other_kinds_are_told),
        cmocka_unit_test(threads_do_not_change_the_set),
        cmocka_unit_test(types_that_run_out_are_reported),
        cmocka_unit_test(sampling_survives_failed_allocations),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
