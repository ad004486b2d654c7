/* From a request's JSON to a query, and a query in all its forms. */
#include "question.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

json_t *serve_json_body(serve_request *request)
{
    json_error_t wrong;
    json_t *body = json_loadb(request->body.bytes ? request->body.bytes : "", request->body.length,
                              JSON_REJECT_DUPLICATES, &wrong);
    if (json_is_object(body))
        return body;
    if (body)
        serve_refuse(request, MHD_HTTP_BAD_REQUEST, "json", "the body is not a JSON object");
    else
        serve_refuse(request, MHD_HTTP_BAD_REQUEST, "json", "the body is not JSON: %s, at byte %d",
                     wrong.text, wrong.position);
    json_decref(body);
    return NULL;
}

bool serve_json_number(serve_request *request, const json_t *object, const char *name,
                       double fallback, double most, double *number)
{
    const json_t *value = json_object_get(object, name);
    *number = fallback;
    if (!value || json_is_null(value))
        return true;
    if (json_is_number(value)) {
        *number = json_number_value(value);
        if (*number >= 0 && *number <= most)
            return true;
    }
    serve_refuse(request, MHD_HTTP_BAD_REQUEST, "argument", "`%s` is a number from 0 to %.10g",
                 name, most);
    return false;
}

bool serve_json_word(serve_request *request, const json_t *object, const char *name,
                     const char *const *words, size_t fallback, size_t *index)
{
    const json_t *value = json_object_get(object, name);
    char list[200] = "";
    size_t used = 0;
    *index = fallback;
    if (!value || json_is_null(value))
        return true;
    for (size_t i = 0; words[i]; i++) {
        if (json_is_string(value) && strcmp(json_string_value(value), words[i]) == 0) {
            *index = i;
            return true;
        }
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%s",
                                 i == 0         ? ""
                                 : words[i + 1] ? ", "
                                                : " or ",
                                 words[i]);
    }
    serve_refuse(request, MHD_HTTP_BAD_REQUEST, "argument", "`%s` is %s", name, list);
    return false;
}

/* ---- reading ------------------------------------------------------------------------------ */

/* The text, or the drawing, and how it is written. */
static bool read_text(serve_request *request, serve_question *question)
{
    static const char *const NOTATIONS[] = {"auto", "logic", "tree", "betae", "sparql", NULL};
    enum { SPARQL = 4 };
    const json_t *text = json_object_get(question->body, "question");
    const json_t *drawing = json_object_get(question->body, "drawing");
    size_t notation;
    if (!serve_json_word(request, question->body, "notation", NOTATIONS, 0, &notation))
        return false;
    question->notation = notation == SPARQL ? WFRE_NOTATION_AUTO : (wfre_notation)notation;
    if (json_is_object(drawing)) {
        question->notation = WFRE_NOTATION_DRAWING;
        question->text = question->drawing = json_dumps(drawing, JSON_COMPACT);
        question->length = question->text ? strlen(question->text) : 0;
    } else if (json_is_string(text)) {
        question->text = json_string_value(text);
        question->length = json_string_length(text);
    }
    if (question->text)
        return true;
    serve_refuse(request, MHD_HTTP_BAD_REQUEST, "argument",
                 "the body has no `question`, which is a text, and no `drawing`");
    return false;
}

static bool read_options(serve_request *request, serve_worker *worker, serve_question *question)
{
    static const char *const SPLITS[] = {"train", "valid", "test", NULL};
    static const char *const KINDS[] = {"both", "known", "predicted", NULL};
    static const char *const WAYS[] = {"model", "embedding", "edges", NULL};
    const json_t *body = question->body;
    wfre_ask_options *options = &question->options;
    double top, known, offset, timeout;
    size_t split, only, way;
    wfre_ask_options_default(options);
    if (!serve_json_number(request, body, "top", 10, 100000, &top) ||
        !serve_json_number(request, body, "known", 200, 1e9, &known) ||
        !serve_json_number(request, body, "known_offset", 0, 1e15, &offset) ||
        !serve_json_number(request, body, "min_probability", 0, 1, &options->min_probability) ||
        !serve_json_number(request, body, "missing_rate", 0, 1, &options->missing_rate) ||
        !serve_json_number(request, body, "timeout", 0, 1e9, &timeout) ||
        !serve_json_word(request, body, "only", KINDS, 0, &only) ||
        !serve_json_word(request, body, "split", SPLITS, WFRE_TEST, &split) ||
        !serve_json_word(request, body, "way", WAYS, 0, &way))
        return false;
    options->top = (size_t)top;
    question->known = (size_t)known;
    question->known_offset = (size_t)offset;
    options->split = (wfre_split)split;
    options->known = only != 2;
    options->predicted = only != 1 && top > 0;
    question->way = wfre_engine_way(worker->world->engine);
    if (way > 0)
        question->way.by = way == 1 ? WFRE_BY_EMBEDDING : WFRE_BY_EDGES;
    options->way = &question->way;
    if (timeout > 0 && request->received + timeout < request->deadline)
        request->deadline = request->received + timeout;
    return true;
}

bool serve_question_read(serve_request *request, serve_worker *worker, serve_question *question)
{
    memset(question, 0, sizeof *question);
    question->body = serve_json_body(request);
    return question->body && read_text(request, question) &&
           read_options(request, worker, question);
}

wfre_status serve_question_parse(serve_question *question, serve_request *request,
                                 serve_worker *worker, wfre_error *error)
{
    const serve_world *world = worker->world;
    if (question->notation != WFRE_NOTATION_AUTO ||
        !wfre_sparql_recognises(question->text, question->length))
        return wfre_query_parse_within(world->graph, question->notation, question->text,
                                       question->length, serve_left(request), worker->cancel,
                                       &question->query, error);
    const wfre_sparql_options options = {
        .graph = world->graph, .timeout = serve_left(request), .cancel = worker->cancel};
    wfre_status status =
        wfre_sparql_parse(question->text, question->length, &options, &question->sparql, error);
    if (status != WFRE_OK)
        return status;
    status = wfre_sparql_to_query(question->sparql, world->view, &question->query, error);
    return status == WFRE_ERR_UNSUPPORTED ? WFRE_OK : status;
}

void serve_question_free(serve_question *question)
{
    wfre_query_free(question->query);
    wfre_sparql_free(question->sparql);
    free(question->drawing);
    json_decref(question->body);
}

/* ---- writing ------------------------------------------------------------------------------ */

static void put_iri(serve_buffer *buffer, wfre_status status, char *iri)
{
    serve_put(buffer, ",\"iri\":");
    serve_put_text(buffer, status == WFRE_OK ? iri : NULL);
    if (status == WFRE_OK)
        wfre_string_free(iri);
}

void serve_put_entity(serve_buffer *buffer, const serve_world *world, wfre_entity entity)
{
    wfre_name about = wfre_graph_entity_description(world->graph, entity);
    char *iri = NULL;
    serve_put_format(buffer, "{\"id\":%u,\"name\":", entity);
    serve_put_name(buffer, wfre_graph_entity_name(world->graph, entity));
    serve_put(buffer, ",\"label\":");
    serve_put_name(buffer, wfre_graph_entity_label(world->graph, entity));
    wfre_status status = wfre_rdf_view_entity_iri(world->view, entity, &iri, NULL);
    put_iri(buffer, status, iri);
    if (about.bytes) {
        serve_put(buffer, ",\"description\":");
        serve_put_name(buffer, about);
    }
    serve_put(buffer, "}");
}

void serve_put_relation(serve_buffer *buffer, const serve_world *world, wfre_relation relation)
{
    char *iri = NULL;
    serve_put_format(buffer, "{\"id\":%u,\"name\":", relation);
    serve_put_name(buffer, wfre_graph_relation_name(world->graph, relation));
    serve_put(buffer, ",\"label\":");
    serve_put_name(buffer, wfre_graph_relation_label(world->graph, relation));
    wfre_status status = wfre_rdf_view_relation_iri(world->view, relation, &iri, NULL);
    put_iri(buffer, status, iri);
    serve_put_format(buffer, ",\"inverse\":%s}", relation & 1 ? "true" : "false");
}

void serve_put_triple(serve_buffer *buffer, const serve_world *world, wfre_entity head,
                      wfre_relation relation, wfre_entity tail)
{
    serve_put(buffer, "\"head\":");
    serve_put_entity(buffer, world, relation & 1 ? tail : head);
    serve_put(buffer, ",\"relation\":");
    serve_put_relation(buffer, world, relation & ~1u);
    serve_put(buffer, ",\"tail\":");
    serve_put_entity(buffer, world, relation & 1 ? head : tail);
}

wfre_error serve_answers_error(const wfre_answers *answers)
{
    wfre_error error = {.code = answers->status, .offset = WFRE_NO_OFFSET};
    (void)snprintf(error.message, sizeof error.message, "%s",
                   answers->message ? answers->message : wfre_status_name(answers->status));
    return error;
}

/* A text that the library handed out, or null; `raw` if it is JSON already. */
static void put_made(serve_buffer *buffer, const char *name, wfre_status status, char *text,
                     bool raw)
{
    serve_put_format(buffer, "%s:", name);
    if (status != WFRE_OK)
        serve_put(buffer, "null");
    else if (raw)
        serve_put(buffer, text);
    else
        serve_put_text(buffer, text);
    if (status == WFRE_OK)
        wfre_string_free(text);
}

static void put_notation(serve_buffer *buffer, const char *name, const serve_world *world,
                         const wfre_query *query, wfre_notation notation)
{
    char *text = NULL;
    wfre_status status = wfre_query_print(query, world->graph, notation, &text, NULL);
    put_made(buffer, name, status, text, false);
}

void serve_put_variables(serve_buffer *buffer, const wfre_query *query)
{
    serve_put(buffer, "[");
    for (uint32_t i = 0; i < wfre_query_width(query); i++) {
        serve_put(buffer, i ? "," : "");
        serve_put_text(buffer, wfre_query_column_name(query, i));
    }
    serve_put(buffer, "]");
}

/* The drawing, or why there is none. */
static void put_drawing(serve_buffer *buffer, const serve_world *world, const wfre_query *query)
{
    wfre_error error;
    char *text = NULL;
    wfre_status status =
        wfre_query_print(query, world->graph, WFRE_NOTATION_DRAWING, &text, &error);
    put_made(buffer, ",\"drawing\"", status, text, true);
    serve_put(buffer, ",\"not_drawn\":");
    serve_put_text(buffer, status == WFRE_OK ? NULL : error.message);
}

void serve_put_forms(serve_buffer *buffer, const serve_world *world, const serve_question *question)
{
    const wfre_query *query = question->query;
    char *text = NULL;
    if (!query) {
        serve_put(buffer, "{\"logic\":null,\"tree\":null,\"sparql\":");
        serve_put_string(buffer, question->text, question->length);
        serve_put(buffer, ",\"drawing\":null,\"sentence\":null,\"not_a_tree\":null}");
        return;
    }
    put_notation(buffer, "{\"logic\"", world, query, WFRE_NOTATION_LOGIC);
    put_notation(buffer, ",\"tree\"", world, query, WFRE_NOTATION_TREE);
    if (question->sparql) {
        serve_put(buffer, ",\"sparql\":");
        serve_put_string(buffer, question->text, question->length);
    } else {
        wfre_status status = wfre_sparql_from_query(query, world->view, NULL, &text, NULL);
        put_made(buffer, ",\"sparql\"", status, text, false);
    }
    put_drawing(buffer, world, query);
    wfre_status status = wfre_query_sentence(query, world->graph, &text, NULL);
    put_made(buffer, ",\"sentence\"", status, text, false);
    serve_put(buffer, ",\"not_a_tree\":");
    serve_put_text(buffer, wfre_query_not_a_tree(query));
    serve_put(buffer, ",\"variables\":");
    serve_put_variables(buffer, query);
    serve_put(buffer, "}");
}
