/* POST /api/ask: questions, those that wait together answered together.
 *
 * A batch is given up when it takes much longer than questions usually do, or when one of its
 * clients leaves; what is not answered then is asked alone, so that one hard question delays the
 * others by a fraction of a second only. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "question.h"
#include "routes.h"

static const double BATCH_SECONDS = 0.5;

/* ---- rows --------------------------------------------------------------------------------- */

static void put_cell(serve_buffer *buffer, const wfre_graph *graph, const wfre_query *query,
                     uint32_t column, uint32_t id)
{
    if (wfre_query_column_is_relation(query, column))
        serve_put_relation(buffer, graph, id);
    else
        serve_put_entity(buffer, graph, id);
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
    serve_put(buffer, ",\"variables\":[");
    for (uint32_t i = 0; i < wfre_query_width(query); i++) {
        serve_put(buffer, i ? "," : "");
        serve_put_text(buffer, wfre_query_column_name(query, i));
    }
    serve_put(buffer, "],\"known\":");
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
    serve_put_format(buffer, "{\"count\":%zu,\"rows\":[", known.count);
    for (size_t i = 0; i < question->known && question->known_offset + i < known.count; i++) {
        serve_put(buffer, i ? ",[" : "[");
        serve_put_entity(buffer, worker->world->graph, known.ids[question->known_offset + i]);
        serve_put(buffer, "]");
    }
    serve_put(buffer, "]}");
}

static void put_prediction(serve_buffer *buffer, const wfre_graph *graph,
                           const wfre_prediction *prediction)
{
    serve_put(buffer, "{\"row\":[");
    serve_put_entity(buffer, graph, prediction->entity);
    serve_put(buffer, "],\"probability\":");
    serve_put_number(buffer, prediction->probability);
    serve_put(buffer, ",\"missing_probability\":");
    serve_put_number(buffer, prediction->missing_probability);
    serve_put(buffer, ",\"score\":");
    serve_put_number(buffer, prediction->score);
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
        serve_put(&buffer, i ? "," : "");
        put_prediction(&buffer, worker->world->graph, &answers->predicted[i]);
    }
    serve_put(&buffer, "],\"unpredicted\":");
    serve_put_text(&buffer, answers->unpredicted);
    serve_put(&buffer, ",\"holds\":null");
    put_tail(&buffer, worker, serve_clock() - request->begun);
    serve_answer(request, MHD_HTTP_OK, SERVE_JSON, &buffer);
}

/* ---- questions for tuples, and whether something holds ------------------------------------ */

static bool is_cancelled(void *context)
{
    return wfre_cancel_status(context) != WFRE_OK;
}

static void ask_tuples(serve_request *request, serve_worker *worker, serve_question *question)
{
    serve_buffer buffer = {0};
    wfre_tuples rows;
    wfre_error error;
    const wfre_query *query = question->query;
    const wfre_monitor monitor = {.interrupted = is_cancelled, .context = worker->cancel};
    wfre_status status = WFRE_OK;
    if (!worker->exact)
        status = wfre_exact_create(worker->world->graph, &worker->exact, &error);
    if (status == WFRE_OK)
        status = wfre_exact_tuples(worker->exact, question->options.split, query,
                                   (size_t)request->server->options->rows, serve_left(request),
                                   &monitor, &rows, &error);
    if (status != WFRE_OK) {
        serve_fail(request, &error);
        return;
    }
    put_head(&buffer, worker->world, question);
    serve_put_format(&buffer, "{\"count\":%zu,\"complete\":%s,\"rows\":[", rows.count,
                     rows.complete ? "true" : "false");
    for (size_t i = 0; i < question->known && question->known_offset + i < rows.count; i++) {
        const uint32_t *row = rows.ids + (question->known_offset + i) * rows.width;
        for (uint32_t c = 0; c < rows.width; c++) {
            serve_put(&buffer, c ? "," : i ? ",[" : "[");
            put_cell(&buffer, worker->world->graph, query, c, row[c]);
        }
        serve_put(&buffer, rows.width ? "]" : i ? ",[]" : "[]");
    }
    serve_put_format(&buffer, "]},\"predicted\":[],\"unpredicted\":%s,\"holds\":%s",
                     worker->world->model ? "\"only questions for one entity are predicted\""
                                          : "null",
                     rows.width > 0   ? "null"
                     : rows.count > 0 ? "\"proven\""
                                      : "null");
    put_tail(&buffer, worker, serve_clock() - request->begun);
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

/* Reads a request's question; false, having answered, if that was all. */
static bool read_question(serve_request *request, serve_worker *worker, serve_question *question)
{
    wfre_error error;
    if (!serve_question_read(request, worker, question))
        return false;
    wfre_cancel_after(worker->cancel, serve_left(request));
    if (serve_question_parse(question, request, worker, &error) != WFRE_OK) {
        serve_fail(request, &error);
        return false;
    }
    if (!question->query)
        ask_table(request, worker, question);
    else if (wfre_query_width(question->query) != 1 ||
             wfre_query_column_is_relation(question->query, 0))
        ask_tuples(request, worker, question);
    else
        return true;
    return false;
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
    wfre_cancel_after(worker->cancel, count > 1 ? fmin(longest, BATCH_SECONDS) : longest);
    wfre_status status =
        wfre_session_ask(worker->session, asked, count, worker->cancel, &answers, &error);
    for (size_t i = 0; i < count; i++) {
        serve_request **request = &batch[where[i]];
        if (status == WFRE_OK && answers[i].status == WFRE_OK) {
            answer(*request, worker, &questions[where[i]], &answers[i]);
        } else if (count == 1 ||
                   !retry(worker, request, status == WFRE_OK ? answers[i].status : status)) {
            if (status == WFRE_OK) {
                error = (wfre_error){.code = answers[i].status, .offset = WFRE_NO_OFFSET};
                (void)snprintf(error.message, sizeof error.message, "%s",
                               answers[i].message ? answers[i].message : "");
            }
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
    size_t where[SERVE_BATCH], ready = 0;
    if (!serve_worker_enter(worker, batch, count))
        return;
    for (size_t i = 0; i < count; i++) {
        if (batch[i]->ended)
            continue;
        worker->batch[0] = batch[i];
        worker->batch_count = 1;
        wfre_cancel_reset(worker->cancel);
        read[i] = true;
        if (read_question(batch[i], worker, &questions[i]))
            where[ready++] = i;
    }
    if (ready > 0)
        ask_together(worker, batch, where, questions, ready);
    serve_metrics_batch(worker->server->metrics, ready);
    for (size_t i = 0; i < count; i++)
        if (read[i])
            serve_question_free(&questions[i]);
}

void serve_ask(serve_request *request, serve_worker *worker)
{
    serve_ask_batch(worker, &request, 1);
}
