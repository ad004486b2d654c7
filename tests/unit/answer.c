/* src/answer: what is asked for is what comes back, wrong input is refused, memory may run out. */
#include "answer/answer.h"

#include <math.h>

#include "base/text.h"
#include "check.h"
#include "toy.h"

enum { ENTITIES = 300, RELATIONS = 3, TRIPLES = 1500 };

static wfre_graph *graph;
static wfre_model *model;

static int build(void **state)
{
    (void)state;
    wfre_model_settings settings;
    wfre_model_settings_default(&settings);
    settings.dim = 20;
    settings.bases = 4;
    graph = toy_random_graph(3, ENTITIES, RELATIONS, TRIPLES);
    assert_ok(wfre_model_create(graph, &settings, 1, &model, error));
    return 0;
}

static int clear(void **state)
{
    (void)state;
    wfre_model_free(model);
    wfre_graph_close(graph);
    return 0;
}

static wfre_query *parse(const char *text)
{
    wfre_query *query;
    assert_ok(wfre_query_parse(graph, WFRE_NOTATION_AUTO, text, strlen(text), &query, error));
    return query;
}

static wfre_asker *create(const wfre_model *with)
{
    wfre_asker *asker;
    assert_ok(wfre_asker_create(graph, with, NULL, &asker, error));
    return asker;
}

static void ids_beyond_the_graph_are_refused(void **state)
{
    (void)state;
    static const char *const TEXTS[] = {
        "(i,(e,#1),(e,#2),(p,#0,(p,#0,(e,#4000000000))))",
        "(i,(e,#1),(e,#2),(p,#400000000,(p,#0,(e,#0))))",
        "?x : #0(?x, ?y) & #0(?y, ?x) & #0(?x, #4000000000)",
    };
    wfre_asker *asker = create(model);
    wfre_ask_options options;
    wfre_ask_options_default(&options);
    for (size_t i = 0; i < sizeof TEXTS / sizeof TEXTS[0]; i++) {
        wfre_query *query;
        wfre_answers answers = {0};
        char *text;
        wfre_error why;
        assert_ok(
            wfre_query_parse(NULL, WFRE_NOTATION_AUTO, TEXTS[i], strlen(TEXTS[i]), &query, error));
        assert_int_equal(wfre_ask(asker, query, &options, NULL, &answers, &why), WFRE_ERR_ARGUMENT);
        assert_non_null(strstr(why.message, "is not in the graph"));
        if (i < 2)
            assert_int_equal(
                wfre_explain(asker, query, &options, &answers, WFRE_EXPLAIN_TEXT, &text, &why),
                WFRE_ERR_ARGUMENT);
        assert_ok(wfre_query_print(query, graph, i < 2 ? WFRE_NOTATION_TREE : WFRE_NOTATION_LOGIC,
                                   &text, error));
        wfre_string_free(text);
        wfre_query_free(query);
    }
    wfre_asker_free(asker);
}

static void kinds_of_answers(void **state)
{
    (void)state;
    wfre_asker *asker = create(model);
    wfre_query *query = parse("?x : r0(e1, ?x) | r1(?x, e2)");
    wfre_ask_options options;
    wfre_answers all, some;
    wfre_ask_options_default(&options);
    assert_ok(wfre_ask(asker, query, &options, NULL, &all, error));
    assert_true(all.known.count > 0);
    assert_int_equal(all.predicted_count, 10);
    assert_null(all.unpredicted);
    for (size_t i = 1; i < 10; i++)
        assert_true(all.predicted[i - 1].score >= all.predicted[i].score);
    size_t known = all.known.count;
    wfre_entity best = all.predicted[0].entity;
    options.known = false;
    options.top = 3;
    assert_ok(wfre_ask(asker, query, &options, NULL, &some, error));
    assert_int_equal(some.known.count, 0);
    assert_int_equal(some.predicted_count, 3);
    assert_int_equal(some.predicted[0].entity, best); /* what is known is left out unlisted, too */
    options.known = true;
    options.predicted = false;
    assert_ok(wfre_ask(asker, query, &options, NULL, &some, error));
    assert_int_equal(some.known.count, known);
    assert_int_equal(some.predicted_count, 0);
    options.predicted = true;
    options.top = SIZE_MAX;
    assert_ok(wfre_ask(asker, query, &options, NULL, &some, error));
    assert_int_equal(some.known.count + some.predicted_count, ENTITIES);
    wfre_query_free(query);
    wfre_asker_free(asker);
}

/* An edge that the question denies and the graph has excludes an answer for good. */
static void refuted_answers_are_not_predicted(void **state)
{
    (void)state;
    wfre_asker *asker = create(model);
    wfre_query *query = parse("?x : r0(e1, ?x) & !(r0(?x, e2) | r1(e3, ?x))");
    wfre_ask_options options;
    wfre_answers answers;
    wfre_ask_options_default(&options);
    options.top = ENTITIES;
    options.split = WFRE_TRAIN;
    assert_ok(wfre_ask(asker, query, &options, NULL, &answers, error));
    size_t open = 0;
    for (wfre_entity e = 0; e < ENTITIES; e++)
        open += !wfre_graph_has(graph, WFRE_TRAIN, e, 0, 2) &&
                !wfre_graph_has(graph, WFRE_TRAIN, 3, 2, e);
    assert_true(open < ENTITIES);
    assert_int_equal(answers.known.count + answers.predicted_count, open);
    for (size_t i = 0; i < answers.predicted_count; i++) {
        wfre_entity e = answers.predicted[i].entity;
        assert_false(wfre_graph_has(graph, WFRE_TRAIN, e, 0, 2));
        assert_false(wfre_graph_has(graph, WFRE_TRAIN, 3, 2, e));
    }
    wfre_query_free(query);
    wfre_asker_free(asker);
}

/* What is known is told even if the model cannot take the question. */
static void large_questions_keep_their_known_answers(void **state)
{
    (void)state;
    wfre_asker *asker = create(model);
    wfre_text text = {0};
    wfre_ask_options options;
    wfre_answers answers;
    wfre_entity source = wfre_graph_sources(graph, WFRE_TEST, 0).ids[0];
    wfre_entity answer = wfre_graph_targets(graph, WFRE_TEST, 0, source).ids[0];
    for (int i = 0; i < 6; i++) { /* each part has this edge, and with it the answer */
        wfre_text_format(&text, "%sr0(e%u, ?x)", i ? " & (" : "?x : (", source);
        for (int k = 0; k < 8; k++)
            wfre_text_format(&text, " | r%d(e%d, ?x)", k % 3, 8 * i + k);
        wfre_text_add(&text, ")");
    }
    wfre_query *query = parse(text.data);
    wfre_ask_options_default(&options);
    assert_ok(wfre_ask(asker, query, &options, NULL, &answers, error));
    assert_non_null(answers.unpredicted);
    assert_int_equal(answers.predicted_count, 0);
    assert_true(wfre_list_has(answers.known, answer));
    wfre_text_free(&text);
    wfre_query_free(query);
    wfre_asker_free(asker);
}

static void only_trees_are_predicted(void **state)
{
    (void)state;
    wfre_asker *asker = create(model);
    wfre_query *query = parse("?x : r0(?x, ?y) & r0(?y, ?z) & r0(?z, ?x)");
    wfre_ask_options options;
    wfre_answers answers;
    wfre_ask_options_default(&options);
    assert_ok(wfre_ask(asker, query, &options, NULL, &answers, error));
    assert_int_equal(answers.predicted_count, 0);
    assert_non_null(strstr(answers.unpredicted, "cycle"));
    wfre_asker_free(asker);
    asker = create(NULL);
    assert_ok(wfre_ask(asker, query, &options, NULL, &answers, error));
    assert_null(answers.unpredicted);
    wfre_query_free(query);
    wfre_asker_free(asker);
}

static void wrong_input_is_refused(void **state)
{
    (void)state;
    wfre_graph *other = toy_random_graph(4, ENTITIES, RELATIONS, TRIPLES);
    wfre_asker *asker = NULL;
    wfre_error why;
    assert_int_equal(wfre_asker_create(other, model, NULL, &asker, &why), WFRE_ERR_MISMATCH);
    assert_null(asker);
    wfre_graph_close(other);
    asker = create(model);
    wfre_query *query = parse("(p,(e))");
    wfre_ask_options options;
    wfre_answers answers;
    wfre_ask_options_default(&options);
    assert_int_equal(wfre_ask(asker, query, &options, NULL, &answers, &why), WFRE_ERR_ARGUMENT);
    wfre_query_free(query);
    wfre_asker_free(asker);
}

static char *explain(const char *question, wfre_explain_format format)
{
    wfre_asker *asker = create(model);
    wfre_query *query = parse(question);
    wfre_ask_options options;
    wfre_answers answers;
    char *text;
    wfre_ask_options_default(&options);
    options.top = 2;
    assert_ok(wfre_ask(asker, query, &options, NULL, &answers, error));
    assert_ok(wfre_explain(asker, query, &options, &answers, format, &text, error));
    wfre_query_free(query);
    wfre_asker_free(asker);
    return text;
}

static size_t occurrences(const char *text, const char *what)
{
    size_t count = 0;
    for (; (text = strstr(text, what)); text++)
        count++;
    return count;
}

/* Every operator has its set under the names of the question, and every edge its status. */
static void explanations(void **state)
{
    (void)state;
    static const char QUESTION[] = "?who : r0(?mid, ?who) & r1(?mid, e4) & !r2(?who, e5)";
    char *text = explain(QUESTION, WFRE_EXPLAIN_TEXT);
    assert_non_null(strstr(text, "r0(?mid, ?who): "));
    assert_non_null(strstr(text, "r1(?mid, e4): "));
    assert_non_null(strstr(text, "r2(?who, e5): "));
    assert_int_equal(occurrences(text, "        ?mid = e"), 2);
    assert_int_equal(occurrences(text, "known      ") + occurrences(text, "predicted  "), 6);
    assert_int_equal(occurrences(text, "not r2("), 2);
    wfre_string_free(text);
    text = explain(QUESTION, WFRE_EXPLAIN_SVG);
    assert_int_equal(occurrences(text, "<rect"), 7);
    assert_int_equal(occurrences(text, "<path"), 6);
    assert_non_null(strstr(text, "</svg>"));
    wfre_string_free(text);
    text = explain("?x : r0(e1, ?x) | r1(e2, ?x)", WFRE_EXPLAIN_TEXT);
    assert_int_equal(occurrences(text, "known      ") + occurrences(text, "predicted  "), 2);
    wfre_string_free(text);
}

static wfre_status explain_once(void *context)
{
    wfre_asker *asker = NULL;
    wfre_ask_options options;
    wfre_answers answers;
    char *text = NULL;
    wfre_ask_options_default(&options);
    options.top = 1;
    wfre_status status = wfre_asker_create(graph, model, NULL, &asker, NULL);
    if (status == WFRE_OK)
        status = wfre_ask(asker, context, &options, NULL, &answers, NULL);
    if (status == WFRE_OK)
        status = wfre_explain(asker, context, &options, &answers, WFRE_EXPLAIN_SVG, &text, NULL);
    wfre_string_free(text);
    wfre_asker_free(asker);
    return status;
}

static wfre_status ask_once(void *context)
{
    wfre_asker *asker = NULL;
    wfre_ask_options options;
    wfre_answers answers;
    wfre_error why;
    wfre_ask_options_default(&options);
    wfre_status status = wfre_asker_create(graph, model, NULL, &asker, &why);
    if (status == WFRE_OK)
        status = wfre_ask(asker, context, &options, NULL, &answers, &why);
    wfre_asker_free(asker);
    return status;
}

static void memory_may_run_out(void **state)
{
    (void)state;
    wfre_query *query = parse("?x : r0(e1, ?x) | r1(?x, ?y) & r2(?y, e2)");
    sweep_allocations(ask_once, query);
    sweep_allocations(explain_once, query);
    wfre_query_free(query);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ids_beyond_the_graph_are_refused),
        cmocka_unit_test(kinds_of_answers),
        cmocka_unit_test(only_trees_are_predicted),
        cmocka_unit_test(wrong_input_is_refused),
        cmocka_unit_test(explanations),
        cmocka_unit_test(memory_may_run_out),
        cmocka_unit_test(refuted_answers_are_not_predicted),
        cmocka_unit_test(large_questions_keep_their_known_answers),
    };
    return cmocka_run_group_tests(tests, build, clear);
}
