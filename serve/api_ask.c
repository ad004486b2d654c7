/* POST /api/ask: questions, those that wait together answered together.
 *
 * A batch has as many as usually take a moment together: cheap questions gain most by sharing the
 * work and come in large ones, while dear ones gain little and would only wait for each other. One
 * that takes several times the CPU that questions usually do is given up all the same (wall-clock
 * time would punish a busy machine by making it work twice); what is not answered then is asked
 * alone, so that one hard question delays the others by a fraction of a second only. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "question.h"
#include "routes.h"

static const double MOMENT = 0.05;          /* seconds of CPU that a batch should take */
static const double SPARE = 0.1, TIMES = 4; /* seconds, and times the usual, for a batch */
static const double MEMORY = 0.9;           /* how slowly the usual time changes */

/* ---- rows --------------------------------------------------------------------------------- */

static void put_row(serve_buffer *buffer, const serve_world *world, const wfre_query *query,
                    const uint32_t *ids, uint32_t width)
{
    serve_put(buffer, "[");
    for (uint32_t c = 0; c < width; c++) {
        serve_put(buffer, c ? "," : "");
        if (wfre_query_column_is_relation(query, c))
            serve_put_relation(buffer, world, ids[c]);
        else
            serve_put_entity(buffer, world, ids[c]);
    }
    serve_put(buffer, "]");
}

/* Begins an answer: the question in its forms, and its variables. */
static void put_head(serve_buffer *buffer, const serve_world *world, const serve_question *question)
{
    const wfre_query *query = question->query;
    serve_put(buffer, "{\"kind\":\"answers\",\"question\":");
    if (json_is_false(json_object_get(question->body, "forms")))
        serve_put(buffer, "null");
    else
        serve_put_forms(buffer, world, question);
    serve_put(buffer, ",\"variables\":");
    serve_put_variables(buffer, query);
    serve_put(buffer, ",\"known\":");
}

static void put_tail(serve_buffer *buffer, const serve_worker *worker, double seconds)
{
    serve_put(buffer, ",\"seconds\":");
    serve_put_number(buffer, seconds);
    if (atomic_load(&worker->world->tagged))
        serve_put_format(buffer, ",\"served\":\"%s\"", worker->world->tag);
    serve_put(buffer, "}\n");
}

static void put_known(serve_buffer *buffer, const serve_worker *worker,
                      const serve_question *question, wfre_list known)
{
    serve_put_format(buffer, "{\"count\":%zu,\"complete\":true,\"rows\":[", known.count);
    for (size_t i = 0; i < question->known && question->known_offset + i < known.count; i++) {
        serve_put(buffer, i ? "," : "");
        put_row(buffer, worker->world, question->query, &known.ids[question->known_offset + i], 1);
    }
    serve_put(buffer, "]}");
}

static void put_chances(serve_buffer *buffer, double probability, double missing, double score)
{
    serve_put(buffer, ",\"probability\":");
    serve_put_number(buffer, probability);
    serve_put(buffer, ",\"missing_probability\":");
    serve_put_number(buffer, missing);
    serve_put(buffer, ",\"score\":");
    serve_put_number(buffer, score);
    serve_put(buffer, "}");
}

/* The answer to a question for one entity. */
static void answer(serve_request *request, const serve_worker *worker,
                   const serve_question *question, const wfre_answers *answers)
{
    serve_buffer buffer = {0};
    put_head(&buffer, worker->world, question);
    put_known(&buffer, worker, question, answers->known);
    serve_put(&buffer, ",\"predicted\":[");
    for (size_t i = 0; i < answers->predicted_count; i++) {
        const wfre_prediction *one = &answers->predicted[i];
        serve_put(&buffer, i ? ",{\"row\":" : "{\"row\":");
        put_row(&buffer, worker->world, question->query, &one->entity, 1);
        put_chances(&buffer, one->probability, one->missing_probability, one->score);
    }
    serve_put(&buffer, "],\"unpredicted\":");
    serve_put_text(&buffer, answers->unpredicted);
    serve_put(&buffer, ",\"holds\":null");
    put_tail(&buffer, worker, serve_clock() - request->begun);
    serve_answer(request, MHD_HTTP_OK, SERVE_JSON, &buffer);
}

/* ---- rows of several variables, relations, counts, and whether something holds ------------ */

static void put_reply_known(serve_buffer *buffer, const serve_worker *worker,
                            const serve_question *question, const wfre_reply *reply)
{
    const wfre_tuples *known = &reply->known;
    serve_put_format(buffer, "{\"count\":%" PRIu64 ",\"complete\":%s,\"rows\":[", reply->total,
                     known->complete ? "true" : "false");
    size_t begin = question->known_offset, shown = 0;
    for (size_t i = begin; i < known->count && shown < question->known; i++, shown++) {
        serve_put(buffer, shown ? "," : "");
        put_row(buffer, worker->world, question->query, known->ids + i * known->width,
                known->width);
    }
    if (reply->counts) {
        serve_put(buffer, "],\"counts\":[");
        for (size_t i = 0; i < shown; i++)
            serve_put_format(buffer, "%s%" PRIu64, i ? "," : "", reply->counts[begin + i]);
    }
    serve_put(buffer, "]}");
}

static void put_reply(serve_buffer *buffer, const serve_worker *worker,
                      const serve_question *question, const wfre_reply *reply)
{
    put_head(buffer, worker->world, question);
    put_reply_known(buffer, worker, question, reply);
    serve_put(buffer, ",\"predicted\":[");
    for (size_t i = 0; i < reply->predicted_count; i++) {
        const wfre_predicted_row *row = &reply->predicted[i];
        serve_put(buffer, i ? ",{\"row\":" : "{\"row\":");
        put_row(buffer, worker->world, question->query, row->ids, reply->width);
        put_chances(buffer, row->probability, row->missing_probability, row->score);
    }
    serve_put(buffer, "],\"unpredicted\":");
    serve_put_text(buffer, reply->unpredicted);
    serve_put(buffer, ",\"holds\":");
    if (reply->verdict == WFRE_VERDICT_NONE) {
        serve_put(buffer, "null");
    } else {
        serve_put_text(buffer, wfre_verdict_name(reply->verdict));
        serve_put(buffer, ",\"probability\":");
        serve_put_number(buffer, reply->probability);
    }
    if (reply->counts) {
        serve_put(buffer, ",\"expected\":");
        serve_put_number(buffer, reply->expected);
    }
}

static void ask_rows(serve_request *request, serve_worker *worker, serve_question *question)
{
    serve_buffer buffer = {0};
    wfre_reply *reply = NULL;
    wfre_error error;
    wfre_question asked = {question->query, question->options};
    asked.options.timeout = serve_left(request);
    if (wfre_session_reply(worker->session, &asked, (size_t)request->server->options->rows,
                           worker->cancel, &reply, &error) != WFRE_OK) {
        serve_fail(request, &error);
        return;
    }
    put_reply(&buffer, worker, question, reply);
    put_tail(&buffer, worker, serve_clock() - request->begun);
    wfre_reply_free(reply);
    serve_answer(request, MHD_HTTP_OK, SERVE_JSON, &buffer);
}

/* ---- SPARQL that is no question ----------------------------------------------------------- */

static wfre_status collect(void *context, const char *bytes, size_t length, wfre_error *error)
{
    serve_put_bytes(context, bytes, length);
    if (!((serve_buffer *)context)->failed)
        return WFRE_OK;
    *error = (wfre_error){.code = WFRE_ERR_MEMORY, .offset = WFRE_NO_OFFSET};
    (void)snprintf(error->message, sizeof error->message, "out of memory");
    return error->code;
}

static void ask_table(serve_request *request, serve_worker *worker, serve_question *question)
{
    serve_buffer table = {0}, buffer = {0};
    wfre_error error;
    const serve_options *limits = request->server->options;
    const wfre_sparql_output output = {.write = collect, .context = &table};
    const wfre_sparql_run_options run = {
        .limits = {.timeout = serve_left(request), .memory = limits->memory, .rows = limits->rows},
        .session = worker->world->model ? worker->session : NULL,
        .cancel = worker->cancel};
    wfre_sparql_form form = wfre_sparql_get_form(question->sparql);
    if (form == WFRE_SPARQL_CONSTRUCT || form == WFRE_SPARQL_DESCRIBE) {
        serve_refuse(request, MHD_HTTP_BAD_REQUEST, "unsupported",
                     "this query gives a graph: send it to /sparql");
    } else if (wfre_sparql_write(question->sparql, worker->world->view, &run, WFRE_SPARQL_JSON,
                                 &output, NULL, &error) != WFRE_OK) {
        serve_fail(request, &error);
    } else {
        serve_put(&buffer, "{\"kind\":\"table\",");
        while (table.length > 0 && table.bytes[table.length - 1] != '}')
            table.length--;
        serve_put_bytes(&buffer, table.bytes + 1, table.length - 2); /* without its braces */
        put_tail(&buffer, worker, serve_clock() - request->begun);
        serve_answer(request, MHD_HTTP_OK, SERVE_JSON, &buffer);
    }
    serve_buffer_free(&table);
}

/* ---- batches ------------------------------------------------------------------------------ */

/* Reads a request's question; false, having answered, if there is none. */
static bool read_question(serve_request *request, serve_worker *worker, serve_question *question)
{
    wfre_error error;
    if (!serve_question_read(request, worker, question))
        return false;
    wfre_cancel_after(worker->cancel, serve_left(request));
    if (serve_question_parse(question, request, worker, &error) == WFRE_OK)
        return true;
    serve_fail(request, &error);
    return false;
}

/* Whether it asks for one entity, as those do that are answered together. */
static bool is_plain(const serve_question *question)
{
    return question->query && wfre_query_width(question->query) == 1 &&
           wfre_query_counted(question->query) == 0 &&
           !wfre_query_column_is_relation(question->query, 0);
}

static void ask_alone(serve_request *request, serve_worker *worker, serve_question *question)
{
    worker->batch[0] = request;
    worker->batch_count = 1;
    wfre_cancel_reset(worker->cancel);
    wfre_cancel_after(worker->cancel, serve_left(request));
    if (question->query)
        ask_rows(request, worker, question);
    else
        ask_table(request, worker, question);
    worker->batch_count = 0;
}

/* Whether a question that was stopped in a batch may be asked once more, alone. */
static bool retry(serve_worker *worker, serve_request **request, wfre_status status)
{
    if ((*request)->alone || (status != WFRE_ERR_TIMEOUT && status != WFRE_ERR_INTERRUPTED) ||
        serve_clock() >= (*request)->deadline || atomic_load(&worker->server->stopping))
        return false;
    (*request)->alone = true;
    if (!serve_queue_push(&worker->server->queue, *request))
        return false;
    *request = NULL; /* the queue's again */
    return true;
}

size_t serve_batch_size(const serve_worker *worker)
{
    enum { FIRST = 4 }; /* nothing is known yet */
    size_t most = worker->server->options->batch;
    most = most < SERVE_BATCH ? most : SERVE_BATCH;
    double fits = worker->usual > 0 ? MOMENT / worker->usual : FIRST;
    return fits >= (double)most ? most : fits > 1 ? (size_t)fits : 1;
}

/* Answers the questions asked[0 .. count) of the requests whose places are in `where`. */
static void ask_together(serve_worker *worker, serve_request **batch, const size_t *where,
                         const serve_question *questions, size_t count)
{
    wfre_question asked[SERVE_BATCH];
    wfre_answers *answers = NULL;
    wfre_error error;
    double longest = 0;
    worker->batch_count = count;
    for (size_t i = 0; i < count; i++) {
        const serve_question *question = &questions[where[i]];
        worker->batch[i] = batch[where[i]];
        longest = fmax(longest, serve_left(worker->batch[i]));
        asked[i] = (wfre_question){question->query, question->options};
        asked[i].options.timeout = serve_left(worker->batch[i]);
    }
    wfre_cancel_reset(worker->cancel);
    wfre_cancel_after(worker->cancel, longest);
    double start = serve_worker_clock();
    worker->budget = start + SPARE + TIMES * worker->usual * (double)count;
    wfre_status status =
        wfre_session_ask(worker->session, asked, count, worker->cancel, &answers, &error);
    double each = (serve_worker_clock() - start) / (double)count;
    worker->usual = worker->usual > 0 ? MEMORY * worker->usual + (1 - MEMORY) * each : each;
    for (size_t i = 0; i < count; i++) {
        serve_request **request = &batch[where[i]];
        if (status == WFRE_OK && answers[i].status == WFRE_OK) {
            answer(*request, worker, &questions[where[i]], &answers[i]);
        } else if (count == 1 ||
                   !retry(worker, request, status == WFRE_OK ? answers[i].status : status)) {
            if (status == WFRE_OK)
                error = serve_answers_error(&answers[i]);
            serve_fail(*request, &error);
        }
    }
    worker->batch_count = 0;
    wfre_answers_free(answers);
}

void serve_ask_batch(serve_worker *worker, serve_request **batch, size_t count)
{
    serve_question questions[SERVE_BATCH];
    bool read[SERVE_BATCH] = {false};
    size_t where[SERVE_BATCH], others[SERVE_BATCH], ready = 0, other = 0;
    if (!serve_worker_enter(worker, batch, count))
        return;
    for (size_t i = 0; i < count; i++) {
        if (batch[i]->ended)
            continue;
        worker->batch[0] = batch[i];
        worker->batch_count = 1;
        wfre_cancel_reset(worker->cancel);
        read[i] = true;
        if (!read_question(batch[i], worker, &questions[i]))
            continue;
        if (is_plain(&questions[i]))
            where[ready++] = i;
        else
            others[other++] = i;
    }
    if (ready > 0)
        ask_together(worker, batch, where, questions, ready);
    /* What may take long lets the others pass. */
    for (size_t i = 0; i < other; i++)
        if (count == 1 || !retry(worker, &batch[others[i]], WFRE_ERR_TIMEOUT))
            ask_alone(batch[others[i]], worker, &questions[others[i]]);
    serve_metrics_batch(worker->server->metrics, ready + other);
    for (size_t i = 0; i < count; i++)
        if (read[i])
            serve_question_free(&questions[i]);
}

void serve_ask(serve_request *request, serve_worker *worker)
{
    serve_ask_batch(worker, &request, 1);
}
