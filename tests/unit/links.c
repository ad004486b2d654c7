/* src/eval/links: link prediction is what ranking every triple by hand gives. */
#include "check.h"

#include <math.h>

#include "predict.h"
#include "wfre/eval.h"
#include "world.h"

enum { ENTITIES = 60, RELATIONS = 3, TRIPLES = 500 };

static int build(void **state)
{
    (void)state;
    graph = toy_random_graph(9, ENTITIES, RELATIONS, TRIPLES);
    model = toy_model(graph, 20, 2, 1);
    return 0;
}

/* 1 / rank of a tail, by looking at every entity. */
static double by_hand(wfre_relation relation, wfre_entity head, wfre_entity tail)
{
    wfre_hit hits[ENTITIES];
    float scores[ENTITIES];
    predict_query query = {.tree =
                               wfre_node_project(&arena, relation, wfre_node_entity(&arena, head)),
                           .top = ENTITIES,
                           .hits = hits};
    predict_how how = {.model = model, .exhaustive = true};
    double rank = 1;
    assert_ok(predict(&how, &query, 1, error));
    for (size_t i = 0; i < ENTITIES; i++)
        scores[hits[i].entity] = hits[i].score;
    for (wfre_entity e = 0; e < ENTITIES; e++)
        if (!wfre_graph_has(graph, WFRE_TEST, head, relation, e))
            rank += scores[e] > scores[tail] ? 1 : scores[e] == scores[tail] ? 0.5 : 0;
    wfre_arena_reset(&arena);
    return 1 / rank;
}

/* The mean over the triples that a split adds, along relations r with r % 2 == odd. */
static double mean_by_hand(wfre_split split, wfre_relation odd, uint64_t *count)
{
    double sum = 0;
    *count = 0;
    for (wfre_relation r = odd; r < 2 * RELATIONS; r += 2)
        for (wfre_entity h = 0; h < ENTITIES; h++)
            for (wfre_entity t = 0; t < ENTITIES; t++)
                if (wfre_graph_has(graph, split, h, r, t) &&
                    !wfre_graph_has(graph, (wfre_split)(split - 1), h, r, t)) {
                    sum += by_hand(r, h, t);
                    ++*count;
                }
    return sum / (double)*count;
}

static void links_are_ranked_as_by_hand(void **state)
{
    (void)state;
    for (wfre_split split = WFRE_VALID; split <= WFRE_TEST; split++) {
        wfre_links *links;
        wfre_links_options options;
        wfre_links_options_default(&options);
        options.split = split;
        assert_ok(wfre_evaluate_links(graph, model, &options, NULL, NULL, &links, error));
        for (size_t i = 0; i < 2; i++) { /* tails, heads */
            uint64_t count;
            double mean = mean_by_hand(split, (wfre_relation)i, &count);
            const wfre_links_row *row = wfre_links_at(links, 1 + i);
            assert_int_equal(row->triples, count);
            assert_true(fabs(row->mean.mrr - mean) < 1e-6);
            assert_true(row->mrr_low <= row->mean.mrr && row->mean.mrr <= row->mrr_high);
        }
        const wfre_links_row *all = wfre_links_at(links, 0);
        uint64_t sum = 0;
        for (size_t i = 3; i < wfre_links_count(links); i++)
            sum += wfre_links_at(links, i)->triples;
        assert_int_equal(sum, all->triples);
        wfre_links_free(links);
    }
}

static void wrong_splits_are_refused(void **state)
{
    (void)state;
    wfre_links *links = NULL;
    wfre_links_options options;
    wfre_links_options_default(&options);
    options.split = WFRE_TRAIN;
    assert_int_equal(wfre_evaluate_links(graph, model, &options, NULL, NULL, &links, NULL),
                     WFRE_ERR_ARGUMENT);
    options.split = WFRE_VALID;
    options.known = WFRE_VALID;
    assert_int_equal(wfre_evaluate_links(graph, model, &options, NULL, NULL, &links, NULL),
                     WFRE_ERR_ARGUMENT);
    assert_null(links);
}

static wfre_status attempt(void *context)
{
    (void)context;
    wfre_links *links = NULL;
    wfre_links_options options;
    char *text = NULL;
    wfre_links_options_default(&options);
    wfre_status status = wfre_evaluate_links(graph, model, &options, NULL, NULL, &links, NULL);
    if (status == WFRE_OK)
        status = wfre_links_print(links, WFRE_REPORT_TABLE, &text, NULL);
    wfre_string_free(text);
    wfre_links_free(links);
    return status;
}

static void memory_may_run_out(void **state)
{
    (void)state;
    sweep_allocations(attempt, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(links_are_ranked_as_by_hand),
        cmocka_unit_test(wrong_splits_are_refused),
        cmocka_unit_test(memory_may_run_out),
    };
    return cmocka_run_group_tests(tests, build, clear_world);
}
