/* POST /api/convert, /api/explain, /api/score. */
#include <stdio.h>
#include <string.h>

#include "question.h"
#include "routes.h"

void serve_convert(serve_request *request, serve_worker *worker)
{
    serve_question question;
    serve_buffer buffer = {0};
    wfre_error error = {0};
    if (serve_question_read(request, worker, &question)) {
        if (serve_question_parse(&question, request, worker, &error) != WFRE_OK) {
            serve_fail(request, &error);
        } else {
            serve_put_forms(&buffer, worker->world, &question);
            if (!question.query && buffer.length > 0) { /* why there is nothing but SPARQL */
                buffer.length--;
                serve_put(&buffer, ",\"not_a_question\":");
                serve_put_text(&buffer, error.message);
                serve_put(&buffer, "}");
            }
            serve_put(&buffer, "\n");
            serve_answer(request, MHD_HTTP_OK, SERVE_JSON, &buffer);
        }
    }
    serve_question_free(&question);
}

/* The entity to explain: "entity", or a row of one. */
static bool read_entity(serve_request *request, const serve_world *world, const json_t *body,
                        wfre_entity *entity)
{
    const json_t *value = json_object_get(body, "entity");
    if (!value)
        value = json_array_get(json_object_get(body, "row"), 0);
    if (json_is_integer(value) && json_integer_value(value) >= 0 &&
        json_integer_value(value) < (json_int_t)wfre_graph_entities(world->graph)) {
        *entity = (wfre_entity)json_integer_value(value);
        return true;
    }
    serve_refuse(request, MHD_HTTP_BAD_REQUEST, "argument", "`entity` is the number of an entity");
    return false;
}

static void explain(serve_request *request, serve_worker *worker, serve_question *question,
                    wfre_entity entity)
{
    wfre_explanation *explanation = NULL;
    wfre_answers *answers = NULL;
    wfre_explain_options options;
    wfre_error error;
    char *json = NULL;
    const wfre_question asked = {question->query, question->options};
    wfre_explain_options_default(&options);
    options.entities = &entity;
    options.entity_count = 1;
    wfre_status status =
        wfre_session_ask(worker->session, &asked, 1, worker->cancel, &answers, &error);
    if (status == WFRE_OK && answers->status != WFRE_OK) {
        status = answers->status;
        error = (wfre_error){.code = status, .offset = WFRE_NO_OFFSET};
        (void)snprintf(error.message, sizeof error.message, "%s", answers->message);
    }
    if (status == WFRE_OK)
        status = wfre_session_explain_some(worker->session, &asked, answers, &options,
                                           worker->cancel, &explanation, &error);
    if (status == WFRE_OK)
        status = wfre_explanation_print(worker->world->graph, explanation, WFRE_EXPLAIN_JSON, &json,
                                        &error);
    if (status == WFRE_OK) {
        serve_buffer buffer = {0};
        serve_put(&buffer, json);
        serve_put(&buffer, "\n");
        serve_answer(request, MHD_HTTP_OK, SERVE_JSON, &buffer);
    } else {
        serve_fail(request, &error);
    }
    wfre_string_free(json);
    wfre_explanation_free(explanation);
    wfre_answers_free(answers);
}

void serve_explain(serve_request *request, serve_worker *worker)
{
    serve_question question;
    wfre_entity entity;
    wfre_error error;
    if (serve_question_read(request, worker, &question) &&
        read_entity(request, worker->world, question.body, &entity)) {
        if (serve_question_parse(&question, request, worker, &error) != WFRE_OK || !question.query)
            serve_fail(request, &error);
        else
            explain(request, worker, &question, entity);
    }
    serve_question_free(&question);
}

void serve_score(serve_request *request, serve_worker *worker)
{
    (void)worker;
    serve_refuse(request, MHD_HTTP_NOT_IMPLEMENTED, "unsupported", "not there yet");
}
