/* Replies to questions with any number of variables. What the graph proves is found by the exact
 * engine in all cases; what is predicted depends on what is asked for:
 *
 *   one entity       wfre_session_ask
 *   several, relations   reply_rows.c
 *   nothing          reply_sentence.c
 *   a number         that of the proven ones, and the sum of the predicted ones' probabilities */
#include "answer/reply.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "infer/session.h"

enum { COUNTED = 256 }; /* predicted answers whose probabilities are summed up */

/* What the caller gets, from `reply` on. */
typedef struct bundle {
    wfre_arena arena;
    wfre_reply reply;
} bundle;

void wfre_reply_free(wfre_reply *reply)
{
    if (!reply)
        return;
    bundle *b = (bundle *)((char *)reply - offsetof(bundle, reply));
    wfre_arena_free(&b->arena);
    wfre_free(b);
}

wfre_status wfre_reply_note(const wfre_replying *r, const char *sentence, wfre_error *error)
{
    r->reply->unpredicted = wfre_arena_text(r->arena, sentence, strlen(sentence));
    return r->reply->unpredicted ? WFRE_OK : wfre_fail_memory(error, "answering");
}

/* ---- known rows --------------------------------------------------------------------------- */

/* Rows that agree in the first `width` columns are one, with their number. */
static wfre_status count_rows(const wfre_replying *r, const wfre_tuples *all, wfre_error *error)
{
    wfre_reply *reply = r->reply;
    uint32_t width = reply->width;
    size_t groups = 0, most = all->count > 0 ? all->count : 1;
    uint32_t *ids = wfre_arena_alloc(r->arena, most * (size_t)width, sizeof *ids);
    uint64_t *counts = wfre_arena_alloc(r->arena, width > 0 ? most : 1, sizeof *counts);
    if (!ids || !counts)
        return wfre_fail_memory(error, "counting");
    if (width == 0)
        counts[groups++] = 0;
    for (size_t i = 0; i < all->count; i++) {
        const uint32_t *row = all->ids + i * all->width;
        bool new = width > 0 && (i == 0 || memcmp(row, row - all->width, width * sizeof *row) != 0);
        if (new) {
            memcpy(ids + groups * width, row, width * sizeof *row);
            counts[groups++] = 0;
        }
        counts[groups - 1]++;
    }
    reply->known = (wfre_tuples){ids, groups, width, true};
    reply->counts = counts;
    reply->total = groups;
    return WFRE_OK;
}

static wfre_status find_known(const wfre_replying *r, size_t most, wfre_error *error)
{
    wfre_tuples all;
    wfre_reply *reply = r->reply;
    uint32_t counted = r->query->counted;
    CHECK(wfre_exact_tuples(r->errand.session->exact, r->errand.options.split, r->query,
                            counted > 0 ? 0 : most, 0, NULL, &all, error));
    if (counted > 0) {
        CHECK(count_rows(r, &all, error));
        if (most > 0 && reply->known.count > most) {
            reply->known.count = most;
            reply->known.complete = false;
        }
        return WFRE_OK;
    }
    size_t numbers = all.count * all.width;
    uint32_t *ids = wfre_arena_alloc(r->arena, numbers, sizeof *ids);
    if (!ids)
        return wfre_fail_memory(error, "answering");
    if (numbers > 0)
        memcpy(ids, all.ids, numbers * sizeof *ids);
    reply->known = all;
    reply->known.ids = ids;
    reply->total = all.count;
    return WFRE_OK;
}

/* ---- predicted ones ----------------------------------------------------------------------- */

static int compare_rows(const void *left, const void *right)
{
    const wfre_predicted_row *a = left, *b = right;
    if (wfre_likelier(a->probability, a->score, b->probability, b->score))
        return -1;
    return wfre_likelier(b->probability, b->score, a->probability, a->score);
}

void wfre_reply_take(const wfre_replying *r, wfre_row_list *list)
{
    if (list->count > 1)
        qsort(list->rows, list->count, sizeof *list->rows, compare_rows);
    size_t count = list->count < r->top ? list->count : r->top;
    while (count > 0 && r->min_probability > 0 &&
           !(list->rows[count - 1].probability >= r->min_probability))
        count--;
    r->reply->predicted = list->rows;
    r->reply->predicted_count = count;
}

/* One entity: as wfre_session_ask predicts it. */
static wfre_status predict_entities(const wfre_replying *r, wfre_error *error)
{
    wfre_answers *answers;
    wfre_query *query = (wfre_query *)(uintptr_t)r->query;
    CHECK(wfre_errand_ask(&r->errand, &query, 1, r->top, &answers, error));
    wfre_status status = WFRE_OK;
    wfre_row_list list = {.count = answers->predicted_count};
    uint32_t *ids = wfre_arena_alloc(r->arena, list.count, sizeof *ids);
    list.rows = wfre_arena_alloc(r->arena, list.count, sizeof *list.rows);
    if (answers->unpredicted)
        TRY(wfre_reply_note(r, answers->unpredicted, error));
    if (!ids || !list.rows)
        TRY(wfre_fail_memory(error, "answering"));
    for (size_t i = 0; i < list.count; i++) {
        const wfre_prediction *p = &answers->predicted[i];
        ids[i] = p->entity;
        list.rows[i] =
            (wfre_predicted_row){&ids[i], p->score, p->probability, p->missing_probability};
    }
    wfre_reply_take(r, &list);
cleanup:
    wfre_answers_free(answers);
    return status;
}

/* How many more there are, if that is one number. */
static wfre_status expect(const wfre_replying *r, wfre_error *error)
{
    const wfre_query *query = r->query;
    wfre_reply *reply = r->reply;
    static const uint32_t FIRST = 0;
    reply->expected = (double)NAN;
    if (reply->width > 0 || query->asked != 1 || wfre_query_column_is_relation(query, 0))
        return wfre_reply_note(
            r, "how many more there are is predicted for one entity variable without groups",
            error);
    wfre_status status = WFRE_OK;
    wfre_query *plain = NULL;
    wfre_answers *answers = NULL;
    uint32_t *values = wfre_arena_alloc(r->arena, query->variable_count, sizeof *values);
    if (!values)
        return wfre_fail_memory(error, "counting");
    memset(values, 0xFF, query->variable_count * sizeof *values);
    TRY(wfre_query_derive(r->graph, query, query->formula, values, &FIRST, 1, &plain, error));
    TRY(wfre_errand_ask(&r->errand, &plain, 1, COUNTED, &answers, error));
    if (answers->unpredicted)
        TRY(wfre_reply_note(r, answers->unpredicted, error));
    else
        reply->expected = 0;
    for (size_t i = 0; i < answers->predicted_count; i++)
        reply->expected += answers->predicted[i].probability;
cleanup:
    wfre_answers_free(answers);
    wfre_query_free(plain);
    return status;
}

static wfre_status predict(const wfre_replying *r, wfre_error *error)
{
    const wfre_query *query = r->query;
    if (query->counted > 0)
        return expect(r, error);
    if (query->asked == 0)
        return wfre_reply_sentence(r, error);
    if (query->asked == 1 && !wfre_query_column_is_relation(query, 0))
        return predict_entities(r, error);
    return wfre_reply_rows(r, error);
}

/* ---- all ---------------------------------------------------------------------------------- */

/* A sentence that the graph proves, and what is so without a model. */
static void judge(wfre_reply *reply, const wfre_query *query)
{
    reply->score = reply->probability = reply->expected = (double)NAN;
    if (query->asked > 0)
        return;
    bool holds = reply->known.count > 0;
    reply->verdict = holds ? WFRE_VERDICT_PROVEN : WFRE_VERDICT_UNKNOWN;
    if (holds)
        reply->probability = 1;
}

static wfre_status reply_to(const wfre_replying *r, const wfre_ask_options *options, size_t most,
                            wfre_error *error)
{
    wfre_reply *reply = r->reply;
    reply->width = r->query->asked - r->query->counted;
    CHECK(find_known(r, most, error));
    judge(reply, r->query);
    bool predicts = r->errand.session->engine->model && options->predicted;
    if (reply->verdict == WFRE_VERDICT_UNKNOWN)
        CHECK(wfre_reply_sentence(r, error)); /* which may be refuted without a model */
    else if (predicts && reply->verdict == WFRE_VERDICT_NONE)
        CHECK(predict(r, error));
    if (!options->known) {
        reply->known = (wfre_tuples){NULL, 0, reply->width, true};
        reply->total = 0;
    }
    return WFRE_OK;
}

wfre_status wfre_session_reply(wfre_session *session, const wfre_question *question, size_t most,
                               wfre_cancel *cancel, wfre_reply **reply, wfre_error *error)
{
    GIVEN(session);
    GIVEN(question);
    GIVEN(question->query);
    GIVEN(reply);
    const wfre_ask_options *options = &question->options;
    CHECK(wfre_need_graph(session, error));
    CHECK(wfre_check_split(options->split, error));
    wfre_status status = WFRE_OK;
    bundle *b = wfre_alloc_zero(1, sizeof *b);
    if (!b)
        return wfre_fail_memory(error, "answering");
    wfre_replying r = {.errand = wfre_errand_of(session, cancel, options),
                       .graph = session->engine->graph,
                       .query = question->query,
                       .top = options->top,
                       .min_probability = options->min_probability,
                       .arena = &b->arena,
                       .reply = &b->reply};
    r.errand.options.min_probability = 0;
    r.errand.options.predicted = options->predicted;
    wfre_scope before = wfre_session_enter(session, cancel, r.errand.deadline);
    TRY(reply_to(&r, options, most, error));
    TRY(wfre_graph_sound(r.graph, error));
    wfre_scope_charge(0, wfre_arena_bytes(&b->arena)); /* it is the caller's now */
    *reply = &b->reply;
    b = NULL;
cleanup:
    if (b)
        wfre_arena_free(&b->arena);
    (void)wfre_scope_enter(before);
    wfre_free(b);
    return status;
}
