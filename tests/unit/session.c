/* src/infer/engine and session: many sessions on one engine answer as one does, an engine can be
 * swapped under them, limits of memory and time hold, and what is counted is right. */
#include <malloc.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#include "base/clock.h"
#include "check.h"
#include "toy.h"
#include "wfre/answer.h"

enum { ENTITIES = 900, RELATIONS = 4, TRIPLES = 4000, THREADS = 8, QUESTIONS = 24, TOP = 7 };

static wfre_graph *graph;
static wfre_model *model;
static wfre_query *queries[QUESTIONS];

/* Known, embedded and by edges; paths, intersections, negation, unions, a cycle. */
static wfre_query *make_query(uint32_t i)
{
    static const char *const SHAPES[] = {
        "?x : r0(@, ?x)",
        "?x : r0(@, ?y) & r1(?y, ?x)",
        "?x : r1(@, ?x) & r2(@, ?x)",
        "?x : r0(@, ?x) & !r3(?x, @)",
        "?x : r0(@, ?x) | r2(?x, @)",
        "?x : r0(?x, ?y) & r1(?y, ?z) & r2(?z, ?x) & r3(@, ?x)",
        "?x : r2(@, ?y) & r1(?y, ?z) & r0(?z, ?x) & !r1(@, ?x)",
        "?x : !r0(@, ?x)",
    };
    char text[160];
    size_t length = 0;
    wfre_query *query;
    uint32_t entity = i;
    for (const char *c = SHAPES[i % 8]; *c; c++) { /* every @ becomes another entity */
        if (*c == '@') {
            entity = (7 * entity + 3) % ENTITIES;
            length += (size_t)snprintf(text + length, sizeof text - length, "e%u", entity);
        } else {
            text[length++] = *c;
        }
    }
    assert_ok(wfre_query_parse(graph, WFRE_NOTATION_LOGIC, text, length, &query, error));
    return query;
}

static wfre_model *make_model(uint64_t seed)
{
    wfre_model_settings settings;
    wfre_model *made;
    wfre_model_settings_default(&settings);
    settings.dim = 40;
    settings.bases = 3;
    settings.rho = 14;
    settings.score.radius = 1;
    settings.way.by = WFRE_BY_EDGES;
    assert_ok(wfre_model_create(graph, &settings, seed, &made, error));
    return made;
}

static int build(void **state)
{
    (void)state;
    graph = toy_random_graph(11, ENTITIES, RELATIONS, TRIPLES);
    model = make_model(1);
    for (uint32_t i = 0; i < QUESTIONS; i++)
        queries[i] = make_query(i);
    return 0;
}

static int clear(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < QUESTIONS; i++)
        wfre_query_free(queries[i]);
    wfre_model_free(model);
    wfre_graph_close(graph);
    return 0;
}

static wfre_engine *open_engine(const wfre_model *with)
{
    wfre_engine *engine;
    assert_ok(wfre_engine_open(graph, with, NULL, NULL, NULL, &engine, error));
    return engine;
}

static wfre_session *open_session(wfre_engine *engine, size_t bytes)
{
    wfre_session *session;
    wfre_session_options options = {.bytes = bytes};
    assert_ok(wfre_session_create(engine, &options, &session, error));
    return session;
}

static wfre_question question(uint32_t i, const wfre_way *way)
{
    wfre_question made = {.query = queries[i % QUESTIONS]};
    wfre_ask_options_default(&made.options);
    made.options.top = TOP;
    made.options.split = WFRE_TRAIN;
    made.options.way = way;
    return made;
}

/* ---- many threads ------------------------------------------------------------------------- */

/* What came of one question, to be compared. */
typedef struct outcome {
    size_t known, predicted;
    wfre_prediction predictions[TOP];
    uint64_t explained; /* of its explanation */
} outcome;

/* Asks question i in one of the two ways, every third time with an explanation. */
static wfre_status ask(wfre_session *session, uint32_t i, outcome *out)
{
    wfre_way way = wfre_engine_way(wfre_session_engine(session));
    wfre_answers *answers = NULL;
    wfre_explanation *explanation = NULL;
    way.by = i / QUESTIONS % 2 ? WFRE_BY_EMBEDDING : WFRE_BY_EDGES;
    wfre_question q = question(i, &way);
    *out = (outcome){0};
    wfre_status status = wfre_session_ask(session, &q, 1, NULL, &answers, NULL);
    if (status == WFRE_OK)
        status = answers->status;
    if (status == WFRE_OK) {
        out->known = answers->known.count;
        out->predicted = answers->predicted_count;
        for (size_t k = 0; k < answers->predicted_count; k++) {
            out->predictions[k] = answers->predicted[k];
            out->predictions[k].probability = 0; /* not a number here, and so not equal to itself */
        }
    }
    if (status == WFRE_OK && i % 3 == 0 && !answers->unpredicted)
        status = wfre_session_explain(session, &q, answers, NULL, &explanation, NULL);
    for (size_t k = 0; explanation && k < explanation->answer_count; k++)
        for (size_t e = 0; e < explanation->answers[k].edge_count; e++)
            out->explained = 31 * out->explained + explanation->answers[k].edges[e].head +
                             7 * explanation->answers[k].edges[e].tail;
    wfre_explanation_free(explanation);
    wfre_answers_free(answers);
    return status;
}

static bool same(const outcome *a, const outcome *b)
{
    bool equal =
        a->known == b->known && a->predicted == b->predicted && a->explained == b->explained;
    for (size_t k = 0; equal && k < a->predicted; k++)
        equal = a->predictions[k].entity == b->predictions[k].entity &&
                a->predictions[k].score == b->predictions[k].score;
    return equal;
}

enum { ROUNDS = 2 * QUESTIONS };
static outcome expected[ROUNDS];

typedef struct asker {
    wfre_engine *engine;
    uint32_t first;
    uint32_t wrong;
} asker;

/* Begins with another question than the other threads, so that they meet everywhere. */
static void *ask_all(void *context)
{
    asker *a = context;
    wfre_session *session = NULL;
    if (wfre_session_create(a->engine, NULL, &session, NULL) != WFRE_OK) {
        a->wrong = ROUNDS;
        return NULL;
    }
    for (uint32_t k = 0; k < ROUNDS; k++) {
        uint32_t i = (a->first + k) % ROUNDS;
        outcome got;
        a->wrong += ask(session, i, &got) != WFRE_OK || !same(&got, &expected[i]);
    }
    wfre_session_free(session);
    return NULL;
}

static void many_sessions_answer_as_one(void **state)
{
    (void)state;
    pthread_t threads[THREADS];
    asker askers[THREADS];
    wfre_engine *engine = open_engine(model);
    wfre_session *alone = open_session(engine, 0);
    for (uint32_t i = 0; i < ROUNDS; i++)
        assert_int_equal(ask(alone, i, &expected[i]), WFRE_OK);
    wfre_session_free(alone);
    wfre_engine_unref(engine);
    engine = open_engine(model); /* of which nothing is derived yet */
    for (uint32_t t = 0; t < THREADS; t++) {
        askers[t] = (asker){.engine = engine, .first = t * ROUNDS / THREADS};
        assert_int_equal(pthread_create(&threads[t], NULL, ask_all, &askers[t]), 0);
    }
    for (int t = 0; t < THREADS; t++) {
        pthread_join(threads[t], NULL);
        assert_int_equal(askers[t].wrong, 0);
    }
    wfre_engine_unref(engine);
}

/* ---- swapping ----------------------------------------------------------------------------- */

typedef struct server {
    pthread_mutex_t lock;
    wfre_engine *engine; /* that new questions use */
    _Atomic bool stop;
    _Atomic uint32_t failed, asked;
} server;

/* A worker takes the engine of the moment for each question, as a server would. */
static void *serve(void *context)
{
    server *s = context;
    for (uint32_t i = 0; !atomic_load(&s->stop) || i < 4; i++) {
        wfre_session *session = NULL;
        outcome got;
        pthread_mutex_lock(&s->lock);
        wfre_engine *engine = wfre_engine_ref(s->engine);
        pthread_mutex_unlock(&s->lock);
        wfre_status status = wfre_session_create(engine, NULL, &session, NULL);
        wfre_engine_unref(engine);
        if (status == WFRE_OK)
            status = ask(session, 5 * i, &got);
        wfre_session_free(session);
        atomic_fetch_add(&s->failed, status != WFRE_OK);
        atomic_fetch_add(&s->asked, 1);
    }
    return NULL;
}

/* Engines come and go under load; graph and models are closed by who opened them at once. */
static void engines_are_swapped_under_load(void **state)
{
    (void)state;
    enum { SWAPS = 20, WORKERS = 4 };
    pthread_t threads[WORKERS];
    server s = {.lock = PTHREAD_MUTEX_INITIALIZER, .engine = open_engine(model)};
    for (int t = 0; t < WORKERS; t++)
        assert_int_equal(pthread_create(&threads[t], NULL, serve, &s), 0);
    for (uint64_t k = 0; k < SWAPS; k++) {
        wfre_model *next = make_model(k + 2);
        wfre_engine *fresh = open_engine(next);
        wfre_model_free(next); /* the engine keeps it */
        pthread_mutex_lock(&s.lock);
        wfre_engine *old = s.engine;
        s.engine = fresh;
        pthread_mutex_unlock(&s.lock);
        wfre_engine_unref(old);
    }
    atomic_store(&s.stop, true);
    for (int t = 0; t < WORKERS; t++)
        pthread_join(threads[t], NULL);
    wfre_engine_unref(s.engine);
    assert_int_equal(atomic_load(&s.failed), 0);
    assert_true(atomic_load(&s.asked) >= 4 * WORKERS);
}

/* ---- memory ------------------------------------------------------------------------------- */

static void limits_of_memory_hold(void **state)
{
    (void)state;
    wfre_engine *engine = open_engine(model);
    outcome got;
    wfre_session *probe = open_session(engine, 0);
    size_t fresh = wfre_session_bytes(probe);
    for (uint32_t i = 0; i < ROUNDS; i++)
        assert_int_equal(ask(probe, i, &got), WFRE_OK);
    size_t used = wfre_session_bytes(probe);
    wfre_session_free(probe);
    assert_true(used > fresh);
    wfre_session *small = open_session(engine, fresh + (used - fresh) / 8);
    uint32_t failed = 0;
    for (uint32_t i = 0; i < ROUNDS; i++) {
        wfre_status status = ask(small, i, &got);
        assert_true(status == WFRE_OK || status == WFRE_ERR_MEMORY);
        failed += status != WFRE_OK;
        assert_true(wfre_session_bytes(small) <= fresh + (used - fresh) / 8 + 1024);
    }
    assert_true(failed > 0);
    wfre_question known = question(0, NULL);
    known.options.predicted = false;
    wfre_answers *answers;
    assert_ok(wfre_session_ask(small, &known, 1, NULL, &answers, error)); /* it goes on */
    assert_int_equal(answers->status, WFRE_OK);
    wfre_answers_free(answers);
    wfre_question large = question(1, NULL);
    assert_ok(wfre_session_ask(small, &large, 1, NULL, &answers, error));
    if (answers->status != WFRE_OK)
        assert_non_null(strstr(answers->message, "at most"));
    wfre_answers_free(answers);
    wfre_session_free(small);
    wfre_engine_unref(engine);
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
/* What the allocator says this process holds. */
static size_t held(void)
{
    struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
}

/* Within a twentieth. */
static void assert_close(size_t counted, size_t truth)
{
    assert_true(fabs((double)counted - (double)truth) <= 0.05 * (double)truth);
}

/* Both count what they hold; an engine's matrices are reserved whole and counted as they are made,
 * so it is held against the allocator when all are. */
static void bytes_are_right(void **state)
{
    (void)state;
    outcome got;
    size_t before = held();
    wfre_engine *engine = open_engine(model);
    wfre_session *session = open_session(engine, 0);
    for (uint32_t i = 0; i < ROUNDS; i++)
        assert_int_equal(ask(session, i, &got), WFRE_OK);
    size_t both = held() - before;
    assert_close(wfre_engine_bytes(engine) + wfre_session_bytes(session), both);
    size_t own = wfre_session_bytes(session);
    wfre_session_free(session);
    size_t left = held() - before;
    assert_close(own, both - left);
    assert_close(wfre_engine_bytes(engine), left);
    wfre_engine_unref(engine);
    assert_true(held() < before + (64 << 10)); /* threads of other tests keep a few bytes */
}
#else
static void bytes_are_right(void **state)
{
    (void)state;
    skip(); /* the sanitizer's allocator tells nothing */
}
#endif

/* ---- time --------------------------------------------------------------------------------- */

static bool stop_now(void *context)
{
    ++*(int *)context;
    return true;
}

static wfre_status ask_until(wfre_session *session, uint32_t i, wfre_cancel *cancel, double timeout)
{
    wfre_answers *answers;
    wfre_question q = question(i, NULL);
    q.options.timeout = timeout;
    assert_ok(wfre_session_ask(session, &q, 1, cancel, &answers, error));
    wfre_status status = answers->status;
    assert_true((status == WFRE_OK) == (answers->message == NULL));
    wfre_answers_free(answers);
    return status;
}

/* Every way to stop, before predictions and within; the session goes on afterwards. */
static void questions_stop_when_told(void **state)
{
    (void)state;
    wfre_engine *engine = open_engine(model);
    wfre_session *session = open_session(engine, 0);
    wfre_cancel *cancel;
    int watched = 0;
    assert_ok(wfre_cancel_create(&cancel, error));
    assert_int_equal(ask_until(session, 1, cancel, 0), WFRE_OK);
    wfre_cancel_now(cancel);
    assert_int_equal(wfre_cancel_status(cancel), WFRE_ERR_INTERRUPTED);
    for (uint32_t i = 0; i < 8; i++)
        assert_int_equal(ask_until(session, i, cancel, 0), WFRE_ERR_INTERRUPTED);
    wfre_cancel_reset(cancel);
    wfre_cancel_after(cancel, 0);
    assert_int_equal(ask_until(session, 1, cancel, 0), WFRE_ERR_TIMEOUT);
    wfre_cancel_reset(cancel);
    assert_int_equal(ask_until(session, 1, cancel, 1e-9), WFRE_ERR_TIMEOUT);
    assert_int_equal(ask_until(session, 1, cancel, 60), WFRE_OK);
    wfre_cancel_watch(cancel, stop_now, &watched);
    assert_int_equal(ask_until(session, 1, cancel, 0), WFRE_ERR_INTERRUPTED);
    assert_true(watched > 0);
    wfre_cancel_watch(cancel, NULL, NULL);
    wfre_cancel_reset(cancel);
    assert_int_equal(ask_until(session, 1, cancel, 0), WFRE_OK);
    /* An explanation asks the model again. */
    wfre_question q = question(1, NULL);
    wfre_answers *answers;
    wfre_explanation *explanation = NULL;
    assert_ok(wfre_session_ask(session, &q, 1, cancel, &answers, error));
    wfre_cancel_now(cancel);
    assert_int_equal(wfre_session_explain(session, &q, answers, cancel, &explanation, NULL),
                     WFRE_ERR_INTERRUPTED);
    assert_null(explanation);
    wfre_answers_free(answers);
    wfre_cancel_free(cancel);
    wfre_session_free(session);
    wfre_engine_unref(engine);
}

/* Of many questions, those that are done stay answered; each says itself what became of it. */
static void each_question_has_its_own_time(void **state)
{
    (void)state;
    wfre_engine *engine = open_engine(model);
    wfre_session *session = open_session(engine, 0);
    wfre_question many[4];
    wfre_answers *answers;
    for (uint32_t i = 0; i < 4; i++)
        many[i] = question(i, NULL);
    many[2].options.timeout = 1e-9;
    assert_ok(wfre_session_ask(session, many, 4, NULL, &answers, error));
    for (int i = 0; i < 4; i++)
        assert_int_equal(answers[i].status, i == 2 ? WFRE_ERR_TIMEOUT : WFRE_OK);
    wfre_answers_free(answers);
    wfre_session_free(session);
    wfre_engine_unref(engine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(many_sessions_answer_as_one),
        cmocka_unit_test(engines_are_swapped_under_load),
        cmocka_unit_test(limits_of_memory_hold),
        cmocka_unit_test(bytes_are_right),
        cmocka_unit_test(questions_stop_when_told),
        cmocka_unit_test(each_question_has_its_own_time),
    };
    return cmocka_run_group_tests(tests, build, clear);
}
