/* src/answer: what is asked for is what comes back, wrong input is refused, memory may run out. */
#include <jansson.h>
#include <math.h>

#include "base/text.h"
#include "check.h"
#include "graph/graph.h"
#include "wfre/answer.h"
#include "world.h"

enum { ENTITIES = 300, RELATIONS = 3, TRIPLES = 1500 };

static int build(void **state)
{
    (void)state;
    graph = toy_random_graph(3, ENTITIES, RELATIONS, TRIPLES);
    model = toy_model(graph, 20, 4, 1);
    return 0;
}

static wfre_query *parse(const char *text)
{
    wfre_query *query;
    assert_ok(wfre_query_parse(graph, WFRE_NOTATION_AUTO, text, strlen(text), &query, error));
    return query;
}

static wfre_session *create(const wfre_model *with)
{
    wfre_engine *engine;
    wfre_session *session;
    assert_ok(wfre_engine_open(graph, with, NULL, NULL, NULL, &engine, error));
    assert_ok(wfre_session_create(engine, NULL, &session, error));
    wfre_engine_unref(engine); /* the session keeps it */
    return session;
}

static wfre_question question_of(const wfre_query *query)
{
    wfre_question question = {.query = query};
    wfre_ask_options_default(&question.options);
    return question;
}

/* The answers to one question, which must not fail. */
static wfre_answers *ask(wfre_session *session, const wfre_question *question)
{
    wfre_answers *answers = NULL;
    assert_ok(wfre_session_ask(session, question, 1, NULL, &answers, error));
    assert_int_equal(answers->status, WFRE_OK);
    assert_null(answers->message);
    return answers;
}

static void ids_beyond_the_graph_are_refused(void **state)
{
    (void)state;
    static const char *const TEXTS[] = {
        "(i,(e,#1),(e,#2),(p,#0,(p,#0,(e,#4000000000))))",
        "(i,(e,#1),(e,#2),(p,#400000000,(p,#0,(e,#0))))",
        "?x : #0(?x, ?y) & #0(?y, ?x) & #0(?x, #4000000000)",
    };
    wfre_session *session = create(model);
    for (size_t i = 0; i < sizeof TEXTS / sizeof TEXTS[0]; i++) {
        wfre_query *query;
        wfre_answers *answers;
        wfre_explanation *explanation;
        char *text;
        assert_ok(
            wfre_query_parse(NULL, WFRE_NOTATION_AUTO, TEXTS[i], strlen(TEXTS[i]), &query, error));
        wfre_question question = question_of(query);
        assert_ok(wfre_session_ask(session, &question, 1, NULL, &answers, error));
        assert_int_equal(answers->status, WFRE_ERR_ARGUMENT);
        assert_non_null(strstr(answers->message, "is not in the graph"));
        if (i < 2)
            assert_int_equal(
                wfre_session_explain(session, &question, answers, NULL, &explanation, NULL),
                WFRE_ERR_ARGUMENT);
        wfre_answers_free(answers);
        assert_ok(wfre_query_print(query, graph, i < 2 ? WFRE_NOTATION_TREE : WFRE_NOTATION_LOGIC,
                                   &text, error));
        wfre_string_free(text);
        wfre_query_free(query);
    }
    wfre_session_free(session);
}

static void kinds_of_answers(void **state)
{
    (void)state;
    wfre_session *session = create(model);
    wfre_query *query = parse("?x : r0(e1, ?x) | r1(?x, e2)");
    wfre_question question = question_of(query);
    wfre_answers *all = ask(session, &question);
    assert_true(all->known.count > 0);
    assert_int_equal(all->predicted_count, 10);
    assert_null(all->unpredicted);
    for (size_t i = 1; i < 10; i++)
        assert_true(all->predicted[i - 1].score >= all->predicted[i].score);
    question.options.known = false;
    question.options.top = 3;
    wfre_answers *some = ask(session, &question);
    assert_int_equal(some->known.count, 0);
    assert_int_equal(some->predicted_count, 3);
    /* What is known is left out unlisted, too. */
    assert_int_equal(some->predicted[0].entity, all->predicted[0].entity);
    wfre_answers_free(some);
    question.options.known = true;
    question.options.predicted = false;
    some = ask(session, &question);
    assert_int_equal(some->known.count, all->known.count);
    assert_int_equal(some->predicted_count, 0);
    wfre_answers_free(some);
    question.options.predicted = true;
    question.options.top = SIZE_MAX;
    some = ask(session, &question);
    assert_int_equal(some->known.count + some->predicted_count, ENTITIES);
    wfre_session_free(session); /* answers need it no more */
    wfre_answers_free(some);
    wfre_answers_free(all);
    wfre_query_free(query);
}

/* An edge that the question denies and the graph has excludes an answer for good. */
static void refuted_answers_are_not_predicted(void **state)
{
    (void)state;
    wfre_session *session = create(model);
    wfre_query *query = parse("?x : r0(e1, ?x) & !(r0(?x, e2) | r1(e3, ?x))");
    wfre_question question = question_of(query);
    question.options.top = ENTITIES;
    question.options.split = WFRE_TRAIN;
    wfre_answers *answers = ask(session, &question);
    size_t open = 0;
    for (wfre_entity e = 0; e < ENTITIES; e++)
        open += !wfre_graph_has(graph, WFRE_TRAIN, e, 0, 2) &&
                !wfre_graph_has(graph, WFRE_TRAIN, 3, 2, e);
    assert_true(open < ENTITIES);
    assert_int_equal(answers->known.count + answers->predicted_count, open);
    for (size_t i = 0; i < answers->predicted_count; i++) {
        wfre_entity e = answers->predicted[i].entity;
        assert_false(wfre_graph_has(graph, WFRE_TRAIN, e, 0, 2));
        assert_false(wfre_graph_has(graph, WFRE_TRAIN, 3, 2, e));
    }
    wfre_answers_free(answers);
    wfre_query_free(query);
    wfre_session_free(session);
}

/* What is known is told even if the model cannot take the question. */
static void large_questions_keep_their_known_answers(void **state)
{
    (void)state;
    wfre_session *session = create(model);
    wfre_text text = {0};
    wfre_entity source = wfre_graph_sources(graph, WFRE_TEST, 0).ids[0];
    wfre_entity answer = wfre_graph_targets(graph, WFRE_TEST, 0, source).ids[0];
    for (int i = 0; i < 6; i++) { /* each part has this edge, and with it the answer */
        wfre_text_format(&text, "%sr0(e%u, ?x)", i ? " & (" : "?x : (", source);
        for (int k = 0; k < 8; k++)
            wfre_text_format(&text, " | r%d(e%d, ?x)", k % 3, 8 * i + k);
        wfre_text_add(&text, ")");
    }
    wfre_query *query = parse(text.data);
    wfre_question question = question_of(query);
    wfre_answers *answers = ask(session, &question);
    assert_non_null(answers->unpredicted);
    assert_int_equal(answers->predicted_count, 0);
    assert_true(wfre_list_has(answers->known, answer));
    wfre_answers_free(answers);
    wfre_text_free(&text);
    wfre_query_free(query);
    wfre_session_free(session);
}

static void only_trees_are_predicted(void **state)
{
    (void)state;
    wfre_session *session = create(model);
    wfre_query *query = parse("?x : r0(?x, ?y) & r0(?y, ?z) & r0(?z, ?x)");
    wfre_question question = question_of(query);
    wfre_answers *answers = ask(session, &question);
    assert_int_equal(answers->predicted_count, 0);
    assert_non_null(strstr(answers->unpredicted, "cycle"));
    wfre_answers_free(answers);
    wfre_session_free(session);
    session = create(NULL);
    answers = ask(session, &question);
    assert_null(answers->unpredicted);
    wfre_answers_free(answers);
    wfre_query_free(query);
    wfre_session_free(session);
}

static void wrong_input_is_refused(void **state)
{
    (void)state;
    wfre_graph *other = toy_random_graph(4, ENTITIES, RELATIONS, TRIPLES);
    wfre_engine *engine = NULL;
    wfre_answers *answers;
    assert_int_equal(wfre_engine_open(other, model, NULL, NULL, NULL, &engine, NULL),
                     WFRE_ERR_MISMATCH);
    assert_null(engine);
    wfre_graph_close(other);
    wfre_session *session = create(model);
    wfre_query *query = parse("(p,(e))");
    wfre_question question = question_of(query);
    assert_ok(wfre_session_ask(session, &question, 1, NULL, &answers, error));
    assert_int_equal(answers->status, WFRE_ERR_ARGUMENT);
    wfre_answers_free(answers);
    wfre_query_free(query);
    wfre_session_free(session);
}

/* One question that fails does not hurt those beside it. */
static void failures_stay_apart(void **state)
{
    (void)state;
    wfre_session *session = create(model);
    wfre_query *good = parse("?x : r0(e1, ?x)"), *bad = parse("(p,(e))");
    wfre_question questions[] = {question_of(good), question_of(bad), question_of(good)};
    wfre_answers *together, *alone = ask(session, &questions[0]);
    questions[2].options.top = 3;
    assert_ok(wfre_session_ask(session, questions, 3, NULL, &together, error));
    assert_int_equal(together[0].status, WFRE_OK);
    assert_int_equal(together[1].status, WFRE_ERR_ARGUMENT);
    assert_int_equal(together[2].predicted_count, 3);
    assert_int_equal(together[0].predicted_count, alone->predicted_count);
    for (size_t i = 0; i < alone->predicted_count; i++)
        assert_memory_equal(&together[0].predicted[i].entity, &alone->predicted[i].entity,
                            sizeof(wfre_entity));
    wfre_answers_free(together);
    wfre_answers_free(alone);
    wfre_query_free(good);
    wfre_query_free(bad);
    wfre_session_free(session);
}

/* What asking every entity that has a relation for more gives, from both ends. */
static void missing_triples_are_those_asked_for(void **state)
{
    (void)state;
    enum { TOP = 4 };
    static bool expected[ENTITIES][ENTITIES];
    wfre_session *session = create(model);
    wfre_missing_options options;
    wfre_missing_triple *triples;
    size_t count, wanted = 0;
    memset(expected, 0, sizeof expected);
    for (int inverse = 0; inverse < 2; inverse++) {
        wfre_list sources = wfre_graph_sources(graph, WFRE_TEST, (wfre_relation)inverse);
        for (size_t i = 0; i < sources.count; i++) {
            char text[64];
            int length = snprintf(text, sizeof text, "(p,#%d,(e,#%u))", inverse, sources.ids[i]);
            wfre_query *query;
            assert_ok(
                wfre_query_parse(graph, WFRE_NOTATION_TREE, text, (size_t)length, &query, error));
            wfre_question question = question_of(query);
            question.options.top = TOP;
            wfre_answers *answers = ask(session, &question);
            for (size_t k = 0; k < answers->predicted_count; k++) {
                wfre_entity other = answers->predicted[k].entity, own = sources.ids[i];
                bool *place = inverse ? &expected[other][own] : &expected[own][other];
                wanted += !*place;
                *place = true;
            }
            wfre_answers_free(answers);
            wfre_query_free(query);
        }
    }
    wfre_missing_options_default(&options);
    options.top = TOP;
    assert_ok(wfre_session_missing(session, 0, &options, NULL, &triples, &count, error));
    assert_int_equal(count, wanted);
    for (size_t i = 0; i < count; i++) {
        assert_true(expected[triples[i].head][triples[i].tail]);
        expected[triples[i].head][triples[i].tail] = false; /* each once */
        assert_false(wfre_graph_has(graph, WFRE_TEST, triples[i].head, 0, triples[i].tail));
        assert_true(i == 0 || triples[i - 1].score >= triples[i].score);
    }
    wfre_missing_triples_free(triples);
    wfre_session_free(session);
}

static char *explain(const char *text, wfre_explain_format format)
{
    wfre_session *session = create(model);
    wfre_query *query = parse(text);
    wfre_question question = question_of(query);
    wfre_explanation *explanation;
    char *printed;
    question.options.top = 2;
    wfre_answers *answers = ask(session, &question);
    assert_ok(wfre_session_explain(session, &question, answers, NULL, &explanation, error));
    wfre_answers_free(answers);
    wfre_session_free(session); /* the explanation needs neither */
    assert_ok(wfre_explanation_print(graph, explanation, format, &printed, error));
    wfre_explanation_free(explanation);
    wfre_query_free(query);
    return printed;
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
    text = explain(QUESTION, WFRE_EXPLAIN_JSON);
    json_t *json = json_loads(text, 0, NULL);
    assert_non_null(json);
    assert_int_equal(json_array_size(json_object_get(json, "sets")), 7);
    assert_int_equal(json_array_size(json_object_get(json, "variables")), 2);
    assert_int_equal(json_array_size(json_object_get(json, "answers")), 2);
    const json_t *first = json_array_get(json_object_get(json, "answers"), 0);
    assert_int_equal(json_array_size(json_object_get(first, "edges")), 3);
    json_decref(json);
    wfre_string_free(text);
    text = explain("?x : r0(e1, ?x) | r1(e2, ?x)", WFRE_EXPLAIN_TEXT);
    assert_int_equal(occurrences(text, "known      ") + occurrences(text, "predicted  "), 2);
    wfre_string_free(text);
}

static void check_evidence(const wfre_explained_edge *edge)
{
    for (size_t k = 0; k < edge->evidence_count; k++) {
        const wfre_evidence *e = &edge->evidence[k];
        assert_true(wfre_graph_has(graph, WFRE_TEST, e->head, e->relation, e->tail));
        assert_true(e->hits > 0 && e->hits <= e->cases && e->weight > 0);
        assert_true(k == 0 || edge->evidence[k - 1].weight >= e->weight);
        if (e->kind == WFRE_EVIDENCE_HEAD && e->example != WFRE_NONE)
            assert_true(wfre_graph_has(graph, WFRE_TEST, e->example, edge->relation, edge->tail));
    }
}

/* A known answer has a proof, and all of them if that is wanted; a predicted edge has evidence. */
static void explanations_of_known_answers(void **state)
{
    (void)state;
    wfre_query *query = parse("?x : r0(e1, ?y) & r1(?y, ?x)");
    for (int with = 0; with < 2; with++) {
        wfre_session *session = create(with ? model : NULL);
        wfre_question question = question_of(query);
        wfre_explain_options options;
        wfre_explanation *e;
        wfre_answers *answers = ask(session, &question);
        wfre_entity entity = answers->known.ids[0];
        size_t proofs = 0, evidence = 0;
        wfre_list middle = wfre_graph_targets(graph, WFRE_TEST, 0, 1);
        for (size_t i = 0; i < middle.count; i++)
            proofs += wfre_graph_has(graph, WFRE_TEST, middle.ids[i], 2, entity);
        wfre_explain_options_default(&options);
        options.entities = &entity;
        options.entity_count = 1;
        options.derivations = 40;
        assert_ok(
            wfre_session_explain_some(session, &question, answers, &options, NULL, &e, error));
        assert_true(proofs > 0 && e->answer_count == proofs);
        for (size_t i = 0; i < proofs; i++) {
            assert_true(e->answers[i].known && e->answers[i].prediction.entity == entity);
            assert_int_equal(e->answers[i].edge_count, 2);
            assert_true(e->answers[i].edges[0].known && e->answers[i].edges[1].known);
            assert_true(i == 0 || e->answers[i].entities[1] != e->answers[i - 1].entities[1]);
        }
        wfre_explanation_free(e);
        if (with) {
            assert_ok(wfre_session_explain(session, &question, answers, NULL, &e, error));
            for (size_t i = 0; i < e->answer_count; i++)
                for (size_t k = 0; k < e->answers[i].edge_count; k++) {
                    check_evidence(&e->answers[i].edges[k]);
                    evidence += e->answers[i].edges[k].evidence_count;
                }
            assert_true(evidence > 0);
            wfre_explanation_free(e);
        }
        wfre_answers_free(answers);
        wfre_session_free(session);
    }
    wfre_query_free(query);
}

/* Asks and, with `explained`, explains; all of it may run out of memory. */
typedef struct attempt {
    const wfre_query *query;
    bool explained;
} attempt;

static wfre_status try_once(void *context)
{
    const attempt *a = context;
    wfre_engine *engine = NULL;
    wfre_session *session = NULL;
    wfre_answers *answers = NULL;
    wfre_explanation *explanation = NULL;
    char *text = NULL;
    wfre_question question = question_of(a->query);
    question.options.top = 1;
    wfre_status status = wfre_engine_open(graph, model, NULL, NULL, NULL, &engine, NULL);
    if (status == WFRE_OK)
        status = wfre_session_create(engine, NULL, &session, NULL);
    if (status == WFRE_OK)
        status = wfre_session_ask(session, &question, 1, NULL, &answers, NULL);
    if (status == WFRE_OK)
        status = answers->status;
    if (status == WFRE_OK && a->explained)
        status = wfre_session_explain(session, &question, answers, NULL, &explanation, NULL);
    if (explanation)
        status = wfre_explanation_print(graph, explanation, WFRE_EXPLAIN_SVG, &text, NULL);
    wfre_string_free(text);
    wfre_explanation_free(explanation);
    wfre_answers_free(answers);
    wfre_session_free(session);
    wfre_engine_unref(engine);
    return status;
}

static void memory_may_run_out(void **state)
{
    (void)state;
    wfre_query *query = parse("?x : r0(e1, ?x) | r1(?x, ?y) & r2(?y, e2)");
    sweep_allocations(try_once, &(attempt){query, false});
    sweep_allocations(try_once, &(attempt){query, true});
    wfre_query_free(query);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ids_beyond_the_graph_are_refused),
        cmocka_unit_test(kinds_of_answers),
        cmocka_unit_test(only_trees_are_predicted),
        cmocka_unit_test(wrong_input_is_refused),
        cmocka_unit_test(failures_stay_apart),
        cmocka_unit_test(missing_triples_are_those_asked_for),
        cmocka_unit_test(explanations),
        cmocka_unit_test(explanations_of_known_answers),
        cmocka_unit_test(memory_may_run_out),
        cmocka_unit_test(refuted_answers_are_not_predicted),
        cmocka_unit_test(large_questions_keep_their_known_answers),
    };
    return cmocka_run_group_tests(tests, build, clear_world);
}
