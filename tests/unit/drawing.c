/* src/query: drawings of questions, and questions as English sentences. */
#include "check.h"

#include "query/notation.h"
#include "toy.h"

static const char *const ENTITIES[] = {"Oscar", "USA", "<script>alert(1)</script>", "dog.n.01",
                                       "http://example.org/people/Ada%20L"};
static const char *const RELATIONS[] = {"award",    "directed",   "citizen",
                                        "has_part", "similar_to", "http://schema.org/birthPlace",
                                        "knows"};

static wfre_graph *graph;

static int set_up(void **state)
{
    (void)state;
    wfre_graph_builder *builder;
    uint32_t id;
    assert_ok(wfre_graph_builder_create(&builder, error));
    for (size_t i = 0; i < sizeof RELATIONS / sizeof RELATIONS[0]; i++)
        assert_ok(
            wfre_graph_builder_relation(builder, RELATIONS[i], strlen(RELATIONS[i]), &id, error));
    for (size_t i = 0; i < sizeof ENTITIES / sizeof ENTITIES[0]; i++) {
        assert_ok(wfre_graph_builder_entity(builder, ENTITIES[i], strlen(ENTITIES[i]), &id, error));
        assert_ok(wfre_graph_builder_triple(builder, WFRE_TRAIN, id, 0, 0, error));
    }
    assert_ok(wfre_graph_builder_finish(builder, &graph, error));
    wfre_graph_builder_free(builder);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    wfre_graph_close(graph);
    return 0;
}

static wfre_query *parse(const wfre_graph *of, const char *text)
{
    wfre_query *query = NULL;
    assert_ok(wfre_query_parse(of, WFRE_NOTATION_AUTO, text, strlen(text), &query, error));
    return query;
}

static char *print(const wfre_query *query, wfre_notation notation)
{
    char *text = NULL;
    assert_ok(wfre_query_print(query, graph, notation, &text, error));
    return text;
}

/* The logic text, drawn and read again, is `again`; a second drawing is the first. */
static void assert_drawn(const char *logic, const char *again)
{
    wfre_query *query = parse(graph, logic);
    char *drawing = print(query, WFRE_NOTATION_DRAWING);
    wfre_query *read = parse(graph, drawing);
    char *text = print(read, WFRE_NOTATION_LOGIC), *twice = print(read, WFRE_NOTATION_DRAWING);
    assert_string_equal(text, again);
    assert_string_equal(twice, drawing);
    wfre_string_free(text);
    wfre_string_free(twice);
    wfre_string_free(drawing);
    wfre_query_free(read);
    wfre_query_free(query);
}

static void test_there_and_back(void **state)
{
    (void)state;
    static const char *const SAME[] = {
        "?x : award(?x, Oscar)",
        "?f : award(?d, Oscar) & directed(?d, ?f) & !citizen(?d, USA)",
        "?x : award(?x, Oscar) & !(exists ?y. has_part(?x, ?y))",
        "?x : award(?x, Oscar) & !(exists ?y. has_part(?x, ?y) & citizen(?y, USA))",
        "?x : award(?x, Oscar) & (citizen(?x, USA) | has_part(?x, ?y) & award(?y, Oscar))",
        "?x, ?y : directed(?x, ?y) & ?x != ?y",
        "?r, ?x : ?r(?x, Oscar)",
        "award(USA, Oscar)",
        "?x : !(exists ?y. has_part(?x, ?y) & !citizen(?y, USA))",
    };
    for (size_t i = 0; i < sizeof SAME / sizeof SAME[0]; i++)
        assert_drawn(SAME[i], SAME[i]);
    /* Nested conjunctions are drawn flat, and two negations as none. */
    assert_drawn("?x : award(?x, Oscar) & (citizen(?x, USA) & knows(?x, USA))",
                 "?x : award(?x, Oscar) & citizen(?x, USA) & knows(?x, USA)");
    assert_drawn("?x : !!award(?x, Oscar)", "?x : award(?x, Oscar)");
    assert_drawn("?x : award(?x, Oscar) | (citizen(?x, USA) | knows(?x, USA))",
                 "?x : award(?x, Oscar) | citizen(?x, USA) | knows(?x, USA)");
}

static void test_json(void **state)
{
    (void)state;
    wfre_query *query = parse(graph, "?x : award(?x, #2) & !citizen(?x, USA)");
    char *drawing = print(query, WFRE_NOTATION_DRAWING);
    assert_string_equal(
        drawing,
        "{\"nodes\":[{\"id\":\"v0\",\"kind\":\"variable\",\"name\":\"x\",\"asked\":true},"
        "{\"id\":\"e0b\",\"kind\":\"entity\",\"entity\":2,\"name\":\"<script>alert(1)</script>\","
        "\"label\":\"<script>alert(1)</script>\"},"
        "{\"id\":\"e1b\",\"kind\":\"entity\",\"entity\":1,\"name\":\"USA\",\"label\":\"USA\"}],"
        "\"edges\":[{\"from\":\"v0\",\"to\":\"e0b\",\"relation\":0,\"name\":\"award\","
        "\"label\":\"award\",\"negated\":false,\"group\":null},"
        "{\"from\":\"v0\",\"to\":\"e1b\",\"relation\":4,\"name\":\"citizen\","
        "\"label\":\"citizen\",\"negated\":true,\"group\":null}],\"groups\":[]}");
    wfre_string_free(drawing);
    wfre_query_free(query);
}

static void test_not_drawn(void **state)
{
    (void)state;
    char *drawing = NULL;
    wfre_error why;
    wfre_query *query = parse(graph, "?x : award(?x, Oscar) & !has_part(?x, ?y)");
    assert_int_equal(wfre_query_print(query, graph, WFRE_NOTATION_DRAWING, &drawing, &why),
                     WFRE_ERR_UNSUPPORTED);
    assert_non_null(strstr(why.message, "?y"));
    wfre_query_free(query);
}

static void assert_refused(const char *drawing, const char *why)
{
    wfre_query *query = NULL;
    wfre_error failure;
    assert_int_not_equal(
        wfre_query_parse(graph, WFRE_NOTATION_DRAWING, drawing, strlen(drawing), &query, &failure),
        WFRE_OK);
    if (!strstr(failure.message, why))
        fail_msg("%s", failure.message);
}

#define X "{\"nodes\":[{\"id\":\"x\",\"kind\":\"variable\",\"name\":\"x\",\"asked\":true}],"
#define LOOP "{\"from\":\"x\",\"to\":\"x\",\"relation\":0}"

static void test_refused(void **state)
{
    (void)state;
    assert_refused("{", "not JSON");
    assert_refused("[]", "nodes");
    assert_refused(X "\"edges\":[]}", "no edge yet");
    assert_refused(X "\"edges\":[{\"from\":\"x\",\"to\":\"y\",\"relation\":0}]}", "from");
    assert_refused(X "\"edges\":[{\"from\":\"x\",\"to\":\"x\",\"relation\":99}]}",
                   "not in the graph");
    assert_refused(X "\"edges\":[{\"from\":\"x\",\"to\":\"x\"}]}", "number of its relation");
    assert_refused(X "\"edges\":[" LOOP "],\"groups\":[{\"id\":\"a\",\"kind\":\"or\","
                     "\"parts\":[[\"b\"]]},{\"id\":\"b\",\"kind\":\"or\",\"parts\":[[\"a\"]]}]}",
                   "in one another");
    assert_refused(X "\"edges\":[" LOOP "],\"groups\":[{\"id\":\"a\",\"kind\":\"not\","
                     "\"parts\":[[0],[0]]}]}",
                   "a \"not\" has one");
    assert_refused(X "\"edges\":[" LOOP "],\"groups\":[{\"id\":\"a\",\"kind\":\"or\","
                     "\"parts\":[[0],[0]]}]}",
                   "two parts");
    assert_refused("{\"nodes\":[{\"id\":\"e\",\"kind\":\"entity\",\"entity\":77}],\"edges\":[{"
                   "\"from\":\"e\",\"to\":\"e\",\"relation\":0}]}",
                   "not in the graph");
}

/* The drawing has the same answers as the text, on random graphs. */
static void test_same_answers(void **state)
{
    (void)state;
    static const char *const QUESTIONS[] = {
        "?x : r0(?x, e1) | !(r1(?x, ?y) & r0(?y, e2))",
        "?x : r0(?x, ?y) & r1(?y, ?z) & !(exists ?u. r0(?z, ?u) & !r1(?u, ?x))",
        "?x : (r0(?x, ?y) | r1(?y, ?x)) & !(exists ?z. r2(?x, ?z))",
        "?x : forall ?y. !r1(?x, ?y) | r0(?y, e3)",
        "?x : !(!r0(?x, e1) & !(exists ?y. r1(?x, ?y) & ?x != ?y))",
    };
    for (uint64_t seed = 1; seed <= 8; seed++) {
        wfre_graph *random = toy_random_graph(seed, 12, 3, 60);
        wfre_exact *exact[2];
        assert_ok(wfre_exact_create(random, &exact[0], error));
        assert_ok(wfre_exact_create(random, &exact[1], error));
        for (size_t i = 0; i < sizeof QUESTIONS / sizeof QUESTIONS[0]; i++) {
            wfre_query *query = parse(random, QUESTIONS[i]);
            char *drawing = NULL;
            wfre_list answers[2];
            if (wfre_query_print(query, random, WFRE_NOTATION_DRAWING, &drawing, NULL) != WFRE_OK)
                assert_int_equal(i, 0); /* the one that cannot be drawn */
            else {
                wfre_query *read = parse(random, drawing);
                assert_ok(
                    wfre_exact_answer(exact[0], WFRE_TEST, query, 0, NULL, &answers[0], error));
                assert_ok(
                    wfre_exact_answer(exact[1], WFRE_TEST, read, 0, NULL, &answers[1], error));
                assert_int_equal(answers[0].count, answers[1].count);
                assert_memory_equal(answers[0].ids, answers[1].ids,
                                    answers[0].count * sizeof *answers[0].ids);
                wfre_query_free(read);
            }
            wfre_string_free(drawing);
            wfre_query_free(query);
        }
        wfre_exact_free(exact[0]);
        wfre_exact_free(exact[1]);
        wfre_graph_close(random);
    }
}

static void assert_said(const char *logic, const char *sentence)
{
    wfre_query *query = parse(graph, logic);
    char *text = NULL;
    assert_ok(wfre_query_sentence(query, graph, &text, error));
    assert_string_equal(text, sentence);
    wfre_string_free(text);
    wfre_query_free(query);
}

static void test_sentences(void **state)
{
    (void)state;
    assert_said("?x : award(?x, Oscar)", "What has award Oscar?");
    assert_said("?x : award(USA, ?x)", "What is award of USA?");
    assert_said("?x : has_part(?x, dog.n.01) & !citizen(?x, USA)",
                "What has part dog.n.01 and does not have citizen USA?");
    assert_said("?x : has_part(dog.n.01, ?x)", "What is part of dog.n.01?");
    assert_said("?x : similar_to(?x, ?y) & award(?y, Oscar)",
                "What is similar to some y, where y has award Oscar?");
    assert_said("?f : award(?d, Oscar) & directed(?d, ?f) & !citizen(?d, USA)",
                "Find every f such that some d has award Oscar, d directed f and d does not have "
                "citizen USA.");
    assert_said("?x : <http://schema.org/birthPlace>(?x, #4)", "What has birth place Ada%20L?");
    assert_said("knows(USA, Oscar)", "Is it so that USA knows Oscar?");
    assert_said("!knows(USA, Oscar)", "Is it so that it is not so that USA knows Oscar?");
    assert_said("?x : award(?x, Oscar) | award(?x, USA)",
                "Find every x such that either x has award Oscar or x has award USA.");
    assert_said("?x : award(?x, Oscar) & !(exists ?y. has_part(?x, ?y))",
                "Find every x such that x has award Oscar and there is no y such that x has part "
                "y.");
    assert_said("?x, ?y : directed(?x, ?y) & ?x != ?y",
                "Find all x and y such that x directed y and x is not y.");
}

/* Every allocation fails once. */
static void test_out_of_memory(void **state)
{
    (void)state;
    wfre_query *query = parse(graph, "?x : award(?x, Oscar) & !(exists ?y. has_part(?x, ?y) & "
                                     "(citizen(?y, USA) | knows(?y, ?x)))");
    char *whole = print(query, WFRE_NOTATION_DRAWING);
    for (uint64_t k = 1;; k++) {
        char *drawing = NULL, *sentence = NULL;
        wfre_query *read = NULL;
        wfre_alloc_fail_at(k);
        wfre_status drawn = wfre_query_print(query, graph, WFRE_NOTATION_DRAWING, &drawing, NULL);
        wfre_status said = wfre_query_sentence(query, graph, &sentence, NULL);
        wfre_status parsed =
            wfre_query_parse(graph, WFRE_NOTATION_DRAWING, whole, strlen(whole), &read, NULL);
        wfre_alloc_fail_at(0);
        assert_true(drawn == WFRE_OK || drawn == WFRE_ERR_MEMORY);
        assert_true(said == WFRE_OK || said == WFRE_ERR_MEMORY);
        assert_true(parsed == WFRE_OK || parsed == WFRE_ERR_MEMORY);
        wfre_string_free(drawing);
        wfre_string_free(sentence);
        wfre_query_free(read);
        if (drawn == WFRE_OK && said == WFRE_OK && parsed == WFRE_OK)
            break;
    }
    wfre_string_free(whole);
    wfre_query_free(query);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_there_and_back), cmocka_unit_test(test_json),
        cmocka_unit_test(test_not_drawn),      cmocka_unit_test(test_refused),
        cmocka_unit_test(test_same_answers),   cmocka_unit_test(test_sentences),
        cmocka_unit_test(test_out_of_memory),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
