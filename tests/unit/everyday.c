/* src/answer: sentences, rows, relations, counts, descriptions, given triples, likeness and names
 * being typed. */
#include <jansson.h>
#include <math.h>

#include "check.h"
#include "graph/graph.h"
#include "toy.h"
#include "wfre/everyday.h"

enum { ENTITIES = 120, RELATIONS = 3, TRIPLES = 500 };

static wfre_graph *graph;
static wfre_model *model;
static wfre_session *session, *plain; /* plain: without a model */

static wfre_session *create(const wfre_model *with)
{
    wfre_engine *engine;
    wfre_session *made;
    assert_ok(wfre_engine_open(graph, with, NULL, NULL, NULL, &engine, error));
    assert_ok(wfre_session_create(engine, NULL, &made, error));
    wfre_engine_unref(engine);
    return made;
}

static int build(void **state)
{
    (void)state;
    wfre_model_settings settings;
    wfre_model_settings_default(&settings);
    settings.dim = 20;
    settings.bases = 4;
    graph = toy_random_graph(3, ENTITIES, RELATIONS, TRIPLES);
    assert_ok(wfre_model_create(graph, &settings, 1, &model, error));
    session = create(model);
    plain = create(NULL);
    return 0;
}

static int clear(void **state)
{
    (void)state;
    wfre_session_free(session);
    wfre_session_free(plain);
    wfre_model_free(model);
    wfre_graph_close(graph);
    return 0;
}

/* An edge that the graph has, and a pair that no relation joins. */
static wfre_given_triple known_edge(void)
{
    wfre_entity head = wfre_graph_sources(graph, WFRE_TEST, 0).ids[3];
    return (wfre_given_triple){head, 0, wfre_graph_targets(graph, WFRE_TEST, 0, head).ids[0]};
}

static wfre_given_triple unknown_edge(void)
{
    wfre_given_triple t = known_edge();
    for (t.tail = 0; wfre_graph_has(graph, WFRE_TEST, t.head, 0, t.tail) || t.tail == t.head;)
        t.tail++;
    return t;
}

/* Writes a question with a and b for the first and the second $. */
static void fill_in(char *text, size_t size, const char *pattern, uint32_t a, uint32_t b)
{
    size_t used = 0;
    for (; *pattern && used + 12 < size; pattern++) {
        if (*pattern == '$') {
            used += (size_t)snprintf(text + used, size - used, "#%u", a);
            a = b;
        } else {
            text[used++] = *pattern;
        }
    }
    text[used] = '\0';
}

/* The reply to a question with ids filled in; the query goes into *query. */
static wfre_reply *reply_to(wfre_session *by, const char *pattern, uint32_t a, uint32_t b,
                            wfre_query **query)
{
    char text[200];
    fill_in(text, sizeof text, pattern, a, b);
    wfre_reply *reply;
    assert_ok(wfre_query_parse(graph, WFRE_NOTATION_LOGIC, text, strlen(text), query, error));
    wfre_question question = {.query = *query};
    wfre_ask_options_default(&question.options);
    assert_ok(wfre_session_reply(by, &question, 0, NULL, &reply, error));
    return reply;
}

static wfre_verdict verdict_of(wfre_session *by, const char *pattern, uint32_t a, uint32_t b)
{
    wfre_query *query;
    wfre_reply *reply = reply_to(by, pattern, a, b, &query);
    wfre_verdict verdict = reply->verdict;
    assert_int_equal(reply->width, 0);
    if (verdict == WFRE_VERDICT_PROVEN)
        assert_true(reply->probability == 1);
    if (verdict == WFRE_VERDICT_REFUTED)
        assert_true(reply->probability == 0);
    if (verdict == WFRE_VERDICT_PREDICTED)
        assert_true(isfinite(reply->score));
    wfre_reply_free(reply);
    wfre_query_free(query);
    return verdict;
}

static void sentences_are_judged(void **state)
{
    (void)state;
    wfre_given_triple yes = known_edge(), no = unknown_edge();
    static const struct {
        const char *text; /* with the two ends of an edge that is there, or of one that is not */
        bool known;
        wfre_verdict with, without; /* a model */
    } CASES[] = {
        {"r0($, $)", true, WFRE_VERDICT_PROVEN, WFRE_VERDICT_PROVEN},
        {"r0($, $)", false, WFRE_VERDICT_PREDICTED, WFRE_VERDICT_UNKNOWN},
        {"!r0($, $)", true, WFRE_VERDICT_REFUTED, WFRE_VERDICT_REFUTED},
        {"!r0($, $)", false, WFRE_VERDICT_PROVEN, WFRE_VERDICT_PROVEN},
        {"$ = $", false, WFRE_VERDICT_REFUTED, WFRE_VERDICT_REFUTED},
        {"$ != $", false, WFRE_VERDICT_PROVEN, WFRE_VERDICT_PROVEN},
        {"r0($, $) & e1 = e2", true, WFRE_VERDICT_REFUTED, WFRE_VERDICT_REFUTED},
        {"r0($, $) | e1 = e2", true, WFRE_VERDICT_PROVEN, WFRE_VERDICT_PROVEN},
        {"r0($, $) & !(e1 = e2)", false, WFRE_VERDICT_PREDICTED, WFRE_VERDICT_UNKNOWN},
        {": r0($, ?y) & ?y = $", true, WFRE_VERDICT_PROVEN, WFRE_VERDICT_PROVEN},
        {": r0($, ?y) & ?y = $", false, WFRE_VERDICT_PREDICTED, WFRE_VERDICT_UNKNOWN},
        {"forall ?y. !r0($, ?y) | ?y = $ & e1 = e2", true, WFRE_VERDICT_UNKNOWN,
         WFRE_VERDICT_UNKNOWN},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        wfre_given_triple t = CASES[i].known ? yes : no;
        wfre_verdict with = verdict_of(session, CASES[i].text, t.head, t.tail);
        if (CASES[i].with != with && CASES[i].with != WFRE_VERDICT_UNKNOWN)
            fail_msg("%s is %s", CASES[i].text, wfre_verdict_name(with));
        if (CASES[i].without != WFRE_VERDICT_UNKNOWN)
            assert_int_equal(verdict_of(plain, CASES[i].text, t.head, t.tail), CASES[i].without);
    }
    assert_int_equal(verdict_of(plain, "r0($, $)", no.head, no.tail), WFRE_VERDICT_UNKNOWN);
    const char *other = "!(exists ?y. r0($, ?y) & ?y != $)"; /* there is one, whatever is missing */
    assert_int_equal(verdict_of(session, other, yes.head, no.tail), WFRE_VERDICT_REFUTED);
    assert_int_equal(verdict_of(plain, other, yes.head, no.tail), WFRE_VERDICT_REFUTED);
}

static double score_of(wfre_given_triple triple)
{
    wfre_scored_triple scored;
    wfre_ask_options options;
    wfre_ask_options_default(&options);
    assert_ok(wfre_session_score(session, &triple, 1, &options, NULL, &scored, error));
    return scored.score;
}

/* A triple has the score that asking from the surer of its ends gives; an inverse the same. */
static void given_triples_are_scored_from_both_ends(void **state)
{
    (void)state;
    enum { COUNT = 40 };
    wfre_given_triple triples[COUNT];
    wfre_scored_triple scores[COUNT];
    wfre_ask_options options;
    wfre_ask_options_default(&options);
    for (uint32_t i = 0; i < COUNT; i++)
        triples[i] = (wfre_given_triple){i % 7, 2 * (i % 3), (5 * i) % 90};
    triples[0] = known_edge();
    assert_ok(wfre_session_score(session, triples, COUNT, &options, NULL, scores, error));
    assert_int_equal(scores[0].verdict, WFRE_VERDICT_PROVEN);
    for (uint32_t i = 0; i < COUNT; i++) {
        wfre_given_triple t = triples[i];
        bool known = wfre_graph_has(graph, WFRE_TEST, t.head, t.relation, t.tail);
        assert_int_equal(scores[i].verdict, known ? WFRE_VERDICT_PROVEN : WFRE_VERDICT_PREDICTED);
        if (known)
            continue;
        double best = -INFINITY;
        for (int inverse = 0; inverse < 2; inverse++) {
            char text[64];
            wfre_query *query;
            wfre_answers *answers;
            int length = snprintf(text, sizeof text, "(p,#%u,(e,#%u))",
                                  t.relation ^ (unsigned)inverse, inverse ? t.tail : t.head);
            assert_ok(
                wfre_query_parse(graph, WFRE_NOTATION_TREE, text, (size_t)length, &query, error));
            wfre_question question = {.query = query};
            wfre_ask_options_default(&question.options);
            question.options.top = ENTITIES;
            assert_ok(wfre_session_ask(session, &question, 1, NULL, &answers, error));
            for (size_t k = 0; k < answers->predicted_count; k++)
                if (answers->predicted[k].entity == (inverse ? t.head : t.tail))
                    best = fmax(best, answers->predicted[k].score);
            wfre_answers_free(answers);
            wfre_query_free(query);
        }
        assert_true(best == scores[i].score);
        wfre_given_triple back = {t.tail, t.relation ^ 1, t.head};
        assert_true(score_of(back) == scores[i].score);
    }
    wfre_given_triple wrong = {ENTITIES, 0, 0};
    assert_int_equal(wfre_session_score(session, &wrong, 1, &options, NULL, scores, NULL),
                     WFRE_ERR_ARGUMENT);
    assert_ok(wfre_session_score(plain, triples, COUNT, &options, NULL, scores, error));
    for (uint32_t i = 0; i < COUNT; i++) {
        wfre_given_triple t = triples[i];
        bool known = wfre_graph_has(graph, WFRE_TEST, t.head, t.relation, t.tail);
        assert_int_equal(scores[i].verdict, known ? WFRE_VERDICT_PROVEN : WFRE_VERDICT_UNKNOWN);
    }
}

/* Every predicted row is new, and as good as its last variable with the other given. */
static void rows_are_predicted_one_variable_after_the_other(void **state)
{
    (void)state;
    wfre_query *query;
    wfre_reply *reply = reply_to(session, "?x, ?y : r0($, ?x) & r1(?x, ?y)", 1, 0, &query);
    assert_int_equal(reply->width, 2);
    assert_null(reply->unpredicted);
    assert_int_equal(reply->predicted_count, 10);
    for (size_t i = 0; i < reply->predicted_count; i++) {
        const uint32_t *row = reply->predicted[i].ids;
        assert_true(i == 0 || reply->predicted[i - 1].score >= reply->predicted[i].score);
        assert_false(wfre_graph_has(graph, WFRE_TEST, 1, 0, row[0]) &&
                     wfre_graph_has(graph, WFRE_TEST, row[0], 2, row[1]));
    }
    wfre_reply_free(reply);
    wfre_query_free(query);
    /* With a value for ?x an atom is left without a variable; it counts as before. */
    reply = reply_to(session, "?x, ?y : r0(e1, ?x) & r1(?x, ?y) & r2(?y, e3)", 0, 0, &query);
    assert_null(reply->unpredicted);
    assert_int_equal(reply->predicted_count, 10);
    wfre_reply_free(reply);
    wfre_query_free(query);
    /* Nothing ties ?x or ?y to an entity: known values are a start. */
    reply = reply_to(session, "?x, ?y : r0(?x, ?y) & ?x != ?y", 0, 0, &query);
    assert_true(reply->known.count > 0);
    assert_int_equal(reply->predicted_count, 10);
    for (size_t i = 0; i < 10; i++)
        assert_int_not_equal(reply->predicted[i].ids[0], reply->predicted[i].ids[1]);
    wfre_reply_free(reply);
    wfre_query_free(query);
    reply = reply_to(plain, "?x, ?y : r0(?x, ?y)", 0, 0, &query);
    assert_int_equal(reply->known.count, wfre_graph_relation_triples(graph, WFRE_TEST, 0));
    assert_int_equal(reply->predicted_count, 0);
    wfre_reply_free(reply);
    wfre_query_free(query);
}

static void relations_are_predicted(void **state)
{
    (void)state;
    wfre_given_triple t = unknown_edge();
    wfre_query *query;
    wfre_reply *reply = reply_to(session, "?r($, $)", t.head, t.tail, &query);
    assert_int_equal(reply->width, 1);
    for (size_t i = 0; i < reply->predicted_count; i++) {
        wfre_given_triple own = {t.head, reply->predicted[i].ids[0], t.tail};
        assert_false(wfre_graph_has(graph, WFRE_TEST, own.head, own.relation, own.tail));
        assert_true(score_of(own) == reply->predicted[i].score);
    }
    wfre_reply_free(reply);
    wfre_query_free(query);
    reply = reply_to(session, "?r, ?y : ?r($, ?y)", t.head, 0, &query);
    assert_int_equal(reply->predicted_count, 10);
    for (size_t i = 0; i < 10; i++)
        assert_false(wfre_graph_has(graph, WFRE_TEST, t.head, reply->predicted[i].ids[0],
                                    reply->predicted[i].ids[1]));
    wfre_reply_free(reply);
    wfre_query_free(query);
    reply = reply_to(session, "?y, ?r : ?r(?y, $)", t.head, 0, &query);
    for (size_t i = 0; i < reply->predicted_count; i++)
        assert_int_equal(reply->predicted[i].ids[1] % 2, 0);
    wfre_reply_free(reply);
    wfre_query_free(query);
    reply = reply_to(session, "?r : ?r($, ?y) & ?r(?y, $)", 1, 2, &query);
    assert_non_null(reply->unpredicted);
    wfre_reply_free(reply);
    wfre_query_free(query);
}

static void answers_are_counted(void **state)
{
    (void)state;
    wfre_query *query;
    wfre_given_triple t = known_edge();
    wfre_reply *reply = reply_to(session, "count ?y : r0($, ?y)", t.head, 0, &query);
    assert_int_equal(reply->width, 0);
    assert_int_equal(wfre_query_counted(query), 1);
    assert_int_equal(reply->counts[0], wfre_graph_targets(graph, WFRE_TEST, 0, t.head).count);
    assert_int_equal(reply->verdict, WFRE_VERDICT_NONE);
    wfre_reply_free(reply);
    wfre_query_free(query);
    reply = reply_to(plain, "?x, count ?y : r0(?x, ?y)", 0, 0, &query);
    wfre_list sources = wfre_graph_sources(graph, WFRE_TEST, 0);
    assert_int_equal(reply->width, 1);
    assert_int_equal(reply->known.count, sources.count);
    for (size_t i = 0; i < sources.count; i++) {
        assert_int_equal(reply->known.ids[i], sources.ids[i]);
        assert_int_equal(reply->counts[i],
                         wfre_graph_targets(graph, WFRE_TEST, 0, sources.ids[i]).count);
    }
    wfre_reply_free(reply);
    char *text;
    assert_ok(wfre_query_print(query, graph, WFRE_NOTATION_LOGIC, &text, error));
    assert_string_equal(text, "?x, count ?y : r0(?x, ?y)");
    assert_int_equal(wfre_query_print(query, graph, WFRE_NOTATION_TREE, &text, NULL),
                     WFRE_ERR_UNSUPPORTED);
    wfre_string_free(text);
    /* What cannot be said with the count is not said without it. */
    assert_int_equal(wfre_query_print(query, graph, WFRE_NOTATION_DRAWING, &text, NULL),
                     WFRE_ERR_UNSUPPORTED);
    assert_ok(wfre_query_sentence(query, graph, &text, error));
    assert_string_equal(text, "For every x count the y such that x has r0 y.");
    wfre_string_free(text);
    wfre_query_free(query);
    reply = reply_to(plain, "count ?x, ?y : r0(?x, ?y) & r1(?x, ?y) & r2(?x, ?y) & ?x = ?y", 0, 0,
                     &query);
    assert_int_equal(reply->counts[0], 0);
    wfre_reply_free(reply);
    wfre_query_free(query);
}

static void entities_are_described(void **state)
{
    (void)state;
    wfre_description *description;
    wfre_describe_options options;
    wfre_entity entity = known_edge().head;
    uint64_t edges = 0;
    char *json;
    wfre_describe_options_default(&options);
    assert_ok(wfre_session_describe(session, entity, &options, NULL, &description, error));
    for (size_t i = 0; i < description->relation_count; i++) {
        const wfre_described_relation *r = &description->relations[i];
        edges += r->targets.count;
        assert_int_equal(r->targets.count,
                         wfre_graph_targets(graph, WFRE_TEST, r->relation, entity).count);
    }
    assert_int_equal(edges, description->edge_count);
    assert_int_equal(description->missing_count, 10);
    for (size_t i = 0; i < 10; i++) {
        const wfre_missing_triple *m = &description->missing[i];
        assert_true(m->head == entity || m->tail == entity);
        assert_int_equal(m->relation % 2, 0);
        wfre_given_triple same = {m->head, m->relation, m->tail};
        assert_true(score_of(same) == m->score);
        assert_false(wfre_graph_has(graph, WFRE_TEST, m->head, m->relation, m->tail));
    }
    assert_ok(wfre_description_print_json(graph, description, 2, &json, error));
    json_t *object = json_loads(json, 0, NULL);
    assert_non_null(object);
    assert_int_equal(json_integer_value(json_object_get(object, "edges")), edges);
    json_decref(object);
    wfre_string_free(json);
    wfre_description_free(description);
    assert_ok(wfre_session_describe(plain, entity, &options, NULL, &description, error));
    assert_non_null(description->unpredicted);
    wfre_description_free(description);
    assert_int_equal(wfre_session_describe(plain, ENTITIES, &options, NULL, &description, NULL),
                     WFRE_ERR_ARGUMENT);
}

static void near_entities(void **state)
{
    (void)state;
    wfre_prediction nearest[ENTITIES];
    size_t count;
    assert_ok(wfre_session_nearest(session, 5, NULL, nearest, ENTITIES, &count, error));
    assert_int_equal(count, ENTITIES - 1);
    for (size_t i = 0; i < count; i++) {
        assert_int_not_equal(nearest[i].entity, 5);
        assert_true(isnan(nearest[i].probability));
        assert_true(i == 0 || nearest[i - 1].score >= nearest[i].score);
    }
    assert_int_equal(wfre_session_nearest(plain, 5, NULL, nearest, 3, &count, NULL),
                     WFRE_ERR_UNSUPPORTED);
}

static void commands_are_recognised(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        wfre_status status;
        wfre_command command;
        wfre_entity entity;
    } CASES[] = {
        {"describe e7", WFRE_OK, WFRE_COMMAND_DESCRIBE, 7},
        {"  near \"e7\" ", WFRE_OK, WFRE_COMMAND_NEAR, 7},
        {"near #9", WFRE_OK, WFRE_COMMAND_NEAR, 9},
        {"near(e1, e2)", WFRE_OK, WFRE_COMMAND_NONE, WFRE_NONE},
        {"near (e1, e2)", WFRE_OK, WFRE_COMMAND_NONE, WFRE_NONE},
        {"describe", WFRE_OK, WFRE_COMMAND_NONE, WFRE_NONE},
        {"?x : r0(e1, ?x)", WFRE_OK, WFRE_COMMAND_NONE, WFRE_NONE},
        {"", WFRE_OK, WFRE_COMMAND_NONE, WFRE_NONE},
        {"describe nobody at all", WFRE_ERR_NOT_FOUND, WFRE_COMMAND_DESCRIBE, WFRE_NONE},
        {"near #9999", WFRE_ERR_NOT_FOUND, WFRE_COMMAND_NEAR, WFRE_NONE},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        wfre_command command;
        wfre_entity entity;
        wfre_status status = wfre_command_parse(graph, CASES[i].text, strlen(CASES[i].text),
                                                &command, &entity, NULL);
        if (status != CASES[i].status || command != CASES[i].command)
            fail_msg("%s: status %d, command %d", CASES[i].text, (int)status, (int)command);
        if (status == WFRE_OK)
            assert_int_equal(entity, CASES[i].entity);
    }
}

/* A session without a graph, and arguments that are missing. */
static void misuse_is_refused(void **state)
{
    (void)state;
    wfre_engine *engine;
    wfre_session *bare;
    assert_ok(wfre_engine_open(NULL, model, NULL, NULL, NULL, &engine, error));
    assert_ok(wfre_session_create(engine, NULL, &bare, error));
    wfre_ask_options options;
    wfre_describe_options describing;
    wfre_scored_triple scored;
    wfre_description *description;
    wfre_reply *reply;
    wfre_query *query;
    wfre_completion item;
    wfre_complete_options completing;
    wfre_given_triple triple = {0, 0, 1};
    size_t count;
    wfre_ask_options_default(&options);
    wfre_describe_options_default(&describing);
    wfre_complete_options_default(&completing);
    assert_ok(wfre_query_parse(graph, WFRE_NOTATION_LOGIC, "r0(e1, e2)", 10, &query, error));
    wfre_question question = {query, options};
    assert_int_equal(wfre_session_reply(bare, &question, 0, NULL, &reply, NULL),
                     WFRE_ERR_UNSUPPORTED);
    assert_int_equal(wfre_session_score(bare, &triple, 1, &options, NULL, &scored, NULL),
                     WFRE_ERR_UNSUPPORTED);
    assert_int_equal(wfre_session_describe(bare, 0, &describing, NULL, &description, NULL),
                     WFRE_ERR_UNSUPPORTED);
    assert_int_equal(wfre_engine_complete(engine, "a", 1, &completing, &item, 1, &count, NULL),
                     WFRE_ERR_UNSUPPORTED);
    assert_int_equal(wfre_session_reply(NULL, &question, 0, NULL, &reply, NULL), WFRE_ERR_ARGUMENT);
    question.options.split = (wfre_split)7;
    assert_int_equal(wfre_session_reply(session, &question, 0, NULL, &reply, NULL),
                     WFRE_ERR_ARGUMENT);
    wfre_query_free(query);
    wfre_session_free(bare);
    wfre_engine_unref(engine);
    wfre_reply_free(NULL);
    wfre_description_free(NULL);
}

/* A limit of time, and a wish to stop, hold for all that a question takes. */
static void questions_stop(void **state)
{
    (void)state;
    static const char *const TEXTS[] = {"r0(e1, e2)",
                                        "?r(e1, e2)",
                                        "?r, ?y : ?r(e1, ?y)",
                                        "?x, ?y : r0(?x, ?y) & r1(?y, e3)",
                                        "count ?x : r0(?x, e1)",
                                        ": r0(?x, e1) & r1(?x, e2)"};
    wfre_cancel *cancel;
    wfre_reply *reply;
    assert_ok(wfre_cancel_create(&cancel, error));
    wfre_cancel_now(cancel);
    for (size_t i = 0; i < sizeof TEXTS / sizeof TEXTS[0]; i++) {
        wfre_query *query;
        assert_ok(wfre_query_parse(graph, WFRE_NOTATION_LOGIC, TEXTS[i], strlen(TEXTS[i]), &query,
                                   error));
        wfre_question question = {.query = query};
        wfre_ask_options_default(&question.options);
        assert_int_equal(wfre_session_reply(session, &question, 0, cancel, &reply, NULL),
                         WFRE_ERR_INTERRUPTED);
        question.options.timeout = 1e-9;
        assert_int_equal(wfre_session_reply(session, &question, 0, NULL, &reply, NULL),
                         WFRE_ERR_TIMEOUT);
        wfre_query_free(query);
    }
    wfre_cancel_free(cancel);
}

/* ---- names being typed -------------------------------------------------------------------- */

static wfre_engine *names_engine(void)
{
    static const struct {
        const char *name, *label;
    } ENTITIES_[] = {
        {"http://x.org/Steven_Spielberg", "Steven Spielberg"},
        {"http://x.org/Spielberg", "Spielberg"},
        {"http://x.org/Spielberg_Street", "Spielberg-Street"},
        {"http://x.org/M%C3%BCnchen", NULL},
        {"http://x.org/misspielbergen", "Misspielbergen"},
        {"http://x.org/film", "film"},
    };
    wfre_graph_builder *b;
    wfre_graph *made;
    wfre_engine *engine;
    uint32_t ids[6], likes, knows;
    assert_ok(wfre_graph_builder_create(&b, error));
    for (int i = 0; i < 6; i++) {
        const char *label = ENTITIES_[i].label;
        assert_ok(wfre_graph_builder_entity(b, ENTITIES_[i].name, strlen(ENTITIES_[i].name),
                                            &ids[i], error));
        if (label)
            assert_ok(wfre_graph_builder_label(b, ids[i], label, strlen(label), error));
    }
    assert_ok(wfre_graph_builder_relation(b, "likes", 5, &likes, error));
    assert_ok(wfre_graph_builder_relation(b, "knows_of", 8, &knows, error));
    assert_ok(wfre_graph_builder_triple(b, WFRE_TRAIN, ids[0], likes, ids[5], error));
    assert_ok(wfre_graph_builder_triple(b, WFRE_TRAIN, ids[0], knows, ids[1], error));
    assert_ok(wfre_graph_builder_triple(b, WFRE_TRAIN, ids[2], knows, ids[3], error));
    assert_ok(wfre_graph_builder_triple(b, WFRE_TRAIN, ids[4], knows, ids[0], error));
    assert_ok(wfre_graph_builder_finish(b, &made, error));
    wfre_graph_builder_free(b);
    assert_ok(wfre_engine_open(made, NULL, NULL, NULL, NULL, &engine, error));
    wfre_graph_close(made);
    return engine;
}

/* The ids that complete a text, as digits; relations in brackets. */
static void expect_completions(wfre_engine *engine, const char *text,
                               const wfre_complete_options *options, const char *expected)
{
    wfre_completion items[8];
    size_t count;
    char found[64] = "";
    assert_ok(wfre_engine_complete(engine, text, strlen(text), options, items, 8, &count, error));
    for (size_t i = 0; i < count; i++)
        snprintf(found + strlen(found), sizeof found - strlen(found),
                 items[i].is_relation ? "[%u]" : "%u", items[i].id);
    if (strcmp(found, expected) != 0)
        fail_msg("%s is completed to %s, not %s", text, found, expected);
}

static void names_are_completed(void **state)
{
    (void)state;
    wfre_engine *engine = names_engine();
    wfre_complete_options options;
    wfre_complete_options_default(&options);
    expect_completions(engine, "spielberg", &options, "1204"); /* exact, prefix, word, part */
    expect_completions(engine, "SPIELBERG STREET", &options, "2");
    expect_completions(engine, "m\xC3\xBCN", &options, "3");
    expect_completions(engine, "M\xC3\x9CNCHEN", &options, "3");
    expect_completions(engine, "http://x.org/s", &options, "");
    expect_completions(engine, "http://x.org/S", &options, "012"); /* frequent first */
    expect_completions(engine, "li", &options, "[0]");
    expect_completions(engine, "of", &options, "[2]");
    expect_completions(engine, "f", &options, "5[2]");
    expect_completions(engine, "nothing", &options, "");
    options.entities = false;
    expect_completions(engine, "", &options, "[2][0]"); /* all, frequent first */
    wfre_entity of[] = {5};
    options.of = (wfre_list){of, 1};
    expect_completions(engine, "", &options, "[1][2]"); /* the film is liked */
    options.only = true;
    expect_completions(engine, "", &options, "[1]");
    of[0] = 0;
    expect_completions(engine, "know", &options, "[2][3]");
    wfre_complete_options_default(&options);
    options.relations = false;
    options.having = 1; /* what can be liked */
    expect_completions(engine, "i", &options, "50142");
    options.only = true;
    expect_completions(engine, "i", &options, "5");
    expect_completions(engine, "", &options, "5");
    options.having = 99;
    size_t count;
    assert_int_equal(wfre_engine_complete(engine, "a", 1, &options, NULL, 0, &count, NULL),
                     WFRE_ERR_ARGUMENT);
    wfre_engine_unref(engine);
}

/* ---- memory ------------------------------------------------------------------------------- */

static wfre_status everything(void *context)
{
    (void)context;
    static const char *const TEXTS[] = {"?x, ?y : r0(#1, ?x) & r1(?x, ?y)", "?r(#1, #2)",
                                        "r0(#1, #2) & : r1(#2, #3)", "count ?x : r0(#1, ?x)"};
    wfre_status status = WFRE_OK;
    wfre_error error;
    for (size_t i = 0; i < 4 && status == WFRE_OK; i++) {
        wfre_query *query = NULL;
        wfre_reply *reply = NULL;
        char *json = NULL;
        const char *text = i == 2 ? "r0(#1, #2) & r1(#2, #3)" : TEXTS[i];
        status = wfre_query_parse(graph, WFRE_NOTATION_LOGIC, text, strlen(text), &query, &error);
        wfre_question question = {.query = query};
        wfre_ask_options_default(&question.options);
        question.options.top = 2;
        if (status == WFRE_OK)
            status = wfre_session_reply(session, &question, 0, NULL, &reply, &error);
        wfre_answers_json how = {.text = text, .text_length = strlen(text), .top = 3};
        if (status == WFRE_OK)
            status = wfre_reply_print_json(graph, &question, reply, &how, &json, &error);
        wfre_string_free(json);
        wfre_reply_free(reply);
        wfre_query_free(query);
    }
    wfre_description *description = NULL;
    wfre_describe_options options;
    wfre_describe_options_default(&options);
    if (status == WFRE_OK)
        status = wfre_session_describe(session, 1, &options, NULL, &description, &error);
    wfre_description_free(description);
    wfre_prediction nearest[3];
    size_t count;
    if (status == WFRE_OK)
        status = wfre_session_nearest(session, 1, NULL, nearest, 3, &count, &error);
    wfre_completion items[3];
    wfre_complete_options names;
    wfre_complete_options_default(&names);
    wfre_engine *engine = NULL;
    if (status == WFRE_OK)
        status = wfre_engine_open(graph, NULL, NULL, NULL, NULL, &engine, &error);
    if (status == WFRE_OK)
        status = wfre_engine_complete(engine, "e1", 2, &names, items, 3, &count, &error);
    wfre_engine_unref(engine);
    return status;
}

static void memory_may_run_out(void **state)
{
    (void)state;
    assert_int_equal(everything(NULL), WFRE_OK);
    uint64_t failures = 0;
    bool reached = true;
    for (uint64_t k = 1; reached; k += 1 + k / 32) {
        wfre_alloc_fail_at(k);
        wfre_status status = everything(NULL);
        reached = wfre_alloc_count() >= k;
        wfre_alloc_fail_at(0);
        failures += status != WFRE_OK;
        /* Questions that fail together are tried again one by one, and may get through. */
        assert_true(status == WFRE_ERR_MEMORY || status == WFRE_OK);
    }
    assert_true(failures > 50);
}

/* What is asked within another question is given back to the session once, not twice. */
static void memory_is_given_back_once(void **state)
{
    (void)state;
    size_t settled = 0;
    for (int i = 0; i < 6; i++) {
        wfre_description *description;
        wfre_describe_options options;
        wfre_describe_options_default(&options);
        assert_ok(wfre_session_describe(session, 7, &options, NULL, &description, error));
        assert_true(description->missing_count > 0);
        wfre_description_free(description);
        if (i == 2)
            settled = wfre_session_bytes(session);
    }
    assert_int_equal(wfre_session_bytes(session), settled);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sentences_are_judged),
        cmocka_unit_test(given_triples_are_scored_from_both_ends),
        cmocka_unit_test(rows_are_predicted_one_variable_after_the_other),
        cmocka_unit_test(relations_are_predicted),
        cmocka_unit_test(answers_are_counted),
        cmocka_unit_test(entities_are_described),
        cmocka_unit_test(memory_is_given_back_once),
        cmocka_unit_test(near_entities),
        cmocka_unit_test(commands_are_recognised),
        cmocka_unit_test(misuse_is_refused),
        cmocka_unit_test(questions_stop),
        cmocka_unit_test(names_are_completed),
        cmocka_unit_test(memory_may_run_out),
    };
    return cmocka_run_group_tests(tests, build, clear);
}
