/* src/fit/asked: questions as people ask them; what they lack, and what is not ranked. */
#include "fit/asked.h"

#include "check.h"
#include "exact/exact.h"
#include "infer/session.h"
#include "toy.h"

enum { ENTITIES = 50, RELATIONS = 3, TRIPLES = 700 };

static wfre_graph *graph;

static int build(void **state)
{
    (void)state;
    graph = toy_random_graph(9, ENTITIES, RELATIONS, TRIPLES);
    return 0;
}

static int clear(void **state)
{
    (void)state;
    wfre_graph_close(graph);
    return 0;
}

/* Which entities a split's graph proves. */
static void prove(wfre_exact *exact, wfre_split split, const wfre_node *tree, bool *answers)
{
    wfre_list list;
    assert_ok(wfre_exact_tree(exact, split, tree, &list, error));
    memset(answers, 0, ENTITIES * sizeof *answers);
    for (size_t i = 0; i < list.count; i++)
        answers[list.ids[i]] = true;
}

static void check_lists(const wfre_asked_set *set, wfre_split split, size_t *later)
{
    wfre_exact *exact = NULL;
    assert_ok(wfre_exact_create(graph, &exact, error));
    for (size_t q = 0; q < set->count; q++) {
        const wfre_asked *asked = &set->list[q];
        bool easy[ENTITIES], next[ENTITIES], whole[ENTITIES];
        prove(exact, split, asked->tree, easy);
        prove(exact, (wfre_split)(split + 1), asked->tree, next);
        prove(exact, WFRE_TEST, asked->tree, whole);
        size_t done = 0;
        for (wfre_entity e = 0; e < ENTITIES; e++) {
            bool only_whole = whole[e] && !next[e] && !easy[e];
            assert_int_equal(wfre_list_has(asked->easy, e), easy[e]);
            assert_int_equal(wfre_list_has(asked->hard, e), next[e] && !easy[e]);
            assert_int_equal(wfre_list_has(asked->done, e), easy[e] || only_whole);
            done += easy[e] || only_whole;
            *later += only_whole;
        }
        assert_int_equal(asked->done.count, done);
        for (size_t i = 1; i < done; i++)
            assert_true(asked->done.ids[i - 1] < asked->done.ids[i]);
    }
    wfre_exact_free(exact);
}

static void tells_known_sought_and_hidden_apart(void **state)
{
    (void)state;
    for (int split = WFRE_TRAIN; split <= WFRE_VALID; split++) {
        wfre_asking asking = {.graph = graph, .split = (wfre_split)split, .count = 300, .seed = 4};
        wfre_asked_set edges = {0}, shapes = {0};
        size_t later = 0;
        assert_ok(wfre_asked_edges(&asking, WFRE_ASKED_KNOWN, &edges, error));
        asking.count = 6;
        assert_ok(wfre_asked_shapes(&asking, NULL, &shapes, error));
        assert_true(edges.count > 100 && shapes.count > 60);
        check_lists(&edges, asking.split, &later);
        check_lists(&shapes, asking.split, &later);
        assert_int_equal(later > 50, split == WFRE_TRAIN);
        assert_int_equal(later > 0, split == WFRE_TRAIN);
        wfre_asked_clear(&edges);
        wfre_asked_clear(&shapes);
    }
}

/* Every pair is of one of two kinds, and they are counted though they are not drawn. */
static void parts_what_lacks_something_from_what_does_not(void **state)
{
    (void)state;
    static const wfre_asked_kind KINDS[] = {WFRE_ASKED_KNOWN, WFRE_ASKED_LACKING, WFRE_ASKED_SOUND};
    size_t counts[3];
    for (int k = 0; k < 3; k++) {
        wfre_asking asking = {.graph = graph, .split = WFRE_TRAIN, .count = SIZE_MAX, .seed = 4};
        wfre_asked_set whole = {0}, some = {0};
        assert_ok(wfre_asked_edges(&asking, KINDS[k], &whole, error));
        for (size_t i = 0; i < whole.count && k > 0; i++)
            assert_int_equal(whole.list[i].hard.count > 0, k == 1);
        asking.count = 10;
        assert_ok(wfre_asked_edges(&asking, KINDS[k], &some, error));
        assert_int_equal(some.count, 10);
        assert_int_equal(some.all, whole.count);
        assert_int_equal(whole.all, whole.count);
        counts[k] = whole.count;
        wfre_asked_clear(&whole);
        wfre_asked_clear(&some);
    }
    assert_int_equal(counts[0], counts[1] + counts[2]);
    assert_true(counts[1] > 20 && counts[2] > 100);
}

static wfre_status look(void *context, const wfre_asked *asked, size_t index,
                        const wfre_wanted *found, const wfre_reasoner *reasoner, wfre_error *error)
{
    (void)index;
    (void)reasoner;
    (void)error;
    for (size_t i = 0; i < found->hit_count; i++)
        assert_false(wfre_list_has(asked->done, found->hits[i].entity));
    *(size_t *)context += found->hit_count;
    return WFRE_OK;
}

static void ranks_nothing_that_is_done(void **state)
{
    (void)state;
    wfre_model *model = toy_model(graph, 20, 2, 3);
    wfre_asking asking = {.graph = graph, .split = WFRE_TRAIN, .count = 100, .seed = 4};
    wfre_asked_set set = {0};
    wfre_session *session = NULL;
    size_t done, hits = 0;
    assert_ok(wfre_session_open(graph, model, NULL, &session, error));
    assert_ok(wfre_asked_edges(&asking, WFRE_ASKED_KNOWN, &set, error));
    wfre_survey survey = {.session = session, .way = model->settings.way, .split = WFRE_TRAIN};
    assert_ok(wfre_survey_run(&survey, set.list, set.count, look, &hits, &done, error));
    assert_int_equal(done, set.count);
    assert_true(hits > 10 * set.count);
    wfre_asked_clear(&set);
    wfre_session_free(session);
    wfre_model_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tells_known_sought_and_hidden_apart),
        cmocka_unit_test(parts_what_lacks_something_from_what_does_not),
        cmocka_unit_test(ranks_nothing_that_is_done),
    };
    return cmocka_run_group_tests(tests, build, clear);
}
