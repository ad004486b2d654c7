/* POST /api/convert, /api/explain, /api/score. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
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

static void put_evidence(serve_buffer *buffer, const serve_world *world,
                         const wfre_explained_edge *edge)
{
    static const char *const KINDS[] = {"head", "tail", "joined"};
    serve_put(buffer, ",\"evidence\":[");
    for (size_t i = 0; i < edge->evidence_count; i++) {
        const wfre_evidence *fact = &edge->evidence[i];
        serve_put(buffer, i ? ",{" : "{");
        serve_put_triple(buffer, world, fact->head, fact->relation, fact->tail);
        serve_put_format(buffer,
                         ",\"kind\":\"%s\",\"cases\":%" PRIu64 ",\"hits\":%" PRIu64 ",\"weight\":",
                         KINDS[fact->kind], fact->cases, fact->hits);
        serve_put_number(buffer, fact->weight);
        if (fact->example != WFRE_NONE) {
            serve_put(buffer, ",\"example\":");
            serve_put_entity(buffer, world, fact->example);
        }
        serve_put(buffer, "}");
    }
    serve_put(buffer, "]}");
}

static void put_edge(serve_buffer *buffer, const serve_world *world,
                     const wfre_explained_edge *edge)
{
    serve_put(buffer, "{");
    serve_put_triple(buffer, world, edge->head, edge->relation, edge->tail);
    serve_put_format(
        buffer, ",\"known\":%s,\"negated\":%s,\"probability\":", edge->known ? "true" : "false",
        (edge->negation != WFRE_NONE) != edge->negated ? "true" : "false");
    serve_put_number(buffer, edge->probability);
    put_evidence(buffer, world, edge);
}

/* One derivation: the entities of the variables, and the edges that join them. */
static void put_derivation(serve_buffer *buffer, const serve_world *world,
                           const wfre_explanation *explanation, const wfre_explained_answer *answer)
{
    serve_put(buffer, "\"variables\":[");
    for (uint32_t v = 0, shown = 0; v < explanation->variable_count; v++) {
        if (answer->entities[v] == WFRE_NONE)
            continue;
        serve_put(buffer, shown++ ? ",{\"name\":" : "{\"name\":");
        serve_put_text(buffer, explanation->variables[v]);
        serve_put(buffer, ",\"entity\":");
        serve_put_entity(buffer, world, answer->entities[v]);
        serve_put(buffer, "}");
    }
    serve_put(buffer, "],\"edges\":[");
    for (size_t i = 0; i < answer->edge_count; i++) {
        serve_put(buffer, i ? "," : "");
        put_edge(buffer, world, &answer->edges[i]);
    }
    serve_put(buffer, "]");
}

static void put_explanation(serve_buffer *buffer, const serve_world *world,
                            const wfre_explanation *explanation, wfre_entity entity)
{
    char *text = NULL;
    const wfre_explained_answer *answer = NULL;
    for (size_t i = explanation->answer_count; i > 0; i--)
        if (explanation->answers[i - 1].prediction.entity == entity)
            answer = &explanation->answers[i - 1];
    serve_put_format(buffer, "{\"known\":%s,\"calibrated\":%s,\"probability\":",
                     answer && answer->known ? "true" : "false",
                     explanation->calibrated ? "true" : "false");
    serve_put_number(buffer, answer ? answer->prediction.probability : NAN);
    serve_put(buffer, ",");
    if (answer)
        put_derivation(buffer, world, explanation, answer);
    else
        serve_put(buffer, "\"variables\":[],\"edges\":[]");
    serve_put(buffer, ",\"rule\":");
    serve_put_text(buffer, explanation->rule);
    wfre_status status =
        wfre_explanation_print(world->graph, explanation, WFRE_EXPLAIN_TEXT, &text, NULL);
    serve_put(buffer, ",\"text\":");
    serve_put_text(buffer, status == WFRE_OK ? text : NULL);
    if (status == WFRE_OK)
        wfre_string_free(text);
    serve_put(buffer, "}\n");
}

static void explain(serve_request *request, serve_worker *worker, serve_question *question,
                    wfre_entity entity)
{
    wfre_explanation *explanation = NULL;
    wfre_answers *answers = NULL;
    wfre_explain_options options;
    wfre_error error;
    const wfre_question asked = {question->query, question->options};
    wfre_explain_options_default(&options);
    options.entities = &entity;
    options.entity_count = 1;
    wfre_status status =
        wfre_session_ask(worker->session, &asked, 1, worker->cancel, &answers, &error);
    if (status == WFRE_OK && answers->status != WFRE_OK) {
        error = serve_answers_error(answers);
        status = error.code;
    }
    if (status == WFRE_OK)
        status = wfre_session_explain_some(worker->session, &asked, answers, &options,
                                           worker->cancel, &explanation, &error);
    if (status == WFRE_OK) {
        serve_buffer buffer = {0};
        put_explanation(&buffer, worker->world, explanation, entity);
        serve_answer(request, MHD_HTTP_OK, SERVE_JSON, &buffer);
    } else {
        serve_fail(request, &error);
    }
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

/* ---- scores ------------------------------------------------------------------------------- */

enum { MOST_TRIPLES = 10000 };

/* A name or a number, of an entity or a relation. False, having answered, if there is none. */
static bool read_term(serve_request *request, const wfre_graph *graph, const json_t *value,
                      bool relation, uint32_t *id)
{
    uint32_t most = relation ? wfre_graph_relations(graph) : wfre_graph_entities(graph);
    const char *text = json_string_value(value);
    *id = WFRE_NONE;
    if (json_is_integer(value) && json_integer_value(value) >= 0)
        *id = json_integer_value(value) < (json_int_t)most ? (uint32_t)json_integer_value(value)
                                                           : WFRE_NONE;
    else if (text)
        *id = relation ? wfre_graph_find_relation(graph, text, json_string_length(value))
                       : wfre_graph_find_entity(graph, text, json_string_length(value));
    if (*id != WFRE_NONE)
        return true;
    serve_refuse(request, MHD_HTTP_BAD_REQUEST, "not_found", "there is no %s %.200s",
                 relation ? "relation" : "entity", text ? text : "of this number");
    return false;
}

static bool read_triples(serve_request *request, const wfre_graph *graph, const json_t *list,
                         wfre_given_triple *triples)
{
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *row = json_array_get(list, i);
        if (json_array_size(row) != 3) {
            serve_refuse(request, MHD_HTTP_BAD_REQUEST, "argument",
                         "a triple is [head, relation, tail]: names or numbers");
            return false;
        }
        if (!read_term(request, graph, json_array_get(row, 0), false, &triples[i].head) ||
            !read_term(request, graph, json_array_get(row, 1), true, &triples[i].relation) ||
            !read_term(request, graph, json_array_get(row, 2), false, &triples[i].tail))
            return false;
    }
    return true;
}

static void put_scores(serve_buffer *buffer, const wfre_scored_triple *scores, size_t count)
{
    serve_put(buffer, "{\"items\":[");
    for (size_t i = 0; i < count; i++) {
        serve_put_format(buffer, "%s{\"status\":\"%s\",\"probability\":", i ? "," : "",
                         wfre_verdict_name(scores[i].verdict));
        serve_put_number(buffer, scores[i].probability);
        serve_put(buffer, ",\"missing_probability\":");
        serve_put_number(buffer, scores[i].missing_probability);
        serve_put(buffer, ",\"score\":");
        serve_put_number(buffer, scores[i].score);
        serve_put(buffer, "}");
    }
    serve_put(buffer, "]}\n");
}

void serve_score(serve_request *request, serve_worker *worker)
{
    serve_buffer buffer = {0};
    wfre_ask_options options;
    wfre_error error;
    json_t *body = serve_json_body(request);
    if (!body)
        return;
    const json_t *list = json_object_get(body, "triples");
    size_t count = json_array_size(list);
    if (!json_is_array(list) || count > MOST_TRIPLES) {
        serve_refuse(request, MHD_HTTP_BAD_REQUEST, "argument",
                     "`triples` is a list of at most %d triples", MOST_TRIPLES);
        json_decref(body);
        return;
    }
    wfre_given_triple *triples = calloc(count + 1, sizeof *triples);
    wfre_scored_triple *scores = calloc(count + 1, sizeof *scores);
    wfre_ask_options_default(&options);
    options.timeout = serve_left(request);
    if (!triples || !scores) {
        serve_refuse(request, MHD_HTTP_SERVICE_UNAVAILABLE, "memory", "out of memory");
    } else if (read_triples(request, worker->world->graph, list, triples)) {
        if (wfre_session_score(worker->session, triples, count, &options, worker->cancel, scores,
                               &error) == WFRE_OK) {
            put_scores(&buffer, scores, count);
            serve_answer(request, MHD_HTTP_OK, SERVE_JSON, &buffer);
        } else {
            serve_fail(request, &error);
        }
    }
    free(triples);
    free(scores);
    json_decref(body);
}
