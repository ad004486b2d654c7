/* GET /api/complete, /api/entity/ID, /api/around: looking around in the graph. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "question.h"
#include "routes.h"

/* A number that is the next part of a path; false if there is none. */
static bool read_id(const char **path, uint32_t *id)
{
    uint64_t value = 0;
    size_t digits = strspn(*path, "0123456789");
    for (size_t i = 0; i < digits && digits < 11; i++)
        value = value * 10 + (uint64_t)((*path)[i] - '0');
    if (digits == 0 || digits > 10 || value >= WFRE_NONE)
        return false;
    *path += digits;
    *id = (uint32_t)value;
    return true;
}

static bool is_entity(serve_request *request, const wfre_graph *graph, uint64_t id)
{
    if (id < wfre_graph_entities(graph))
        return true;
    serve_refuse(request, MHD_HTTP_NOT_FOUND, "not_found", "there is no entity with this number");
    return false;
}

/* ---- one entity --------------------------------------------------------------------------- */

static void put_relation_group(serve_buffer *buffer, const serve_world *world,
                               const wfre_described_relation *group, size_t examples)
{
    const wfre_graph *graph = world->graph;
    serve_put_format(buffer, "{\"relation\":%u,\"name\":", group->relation);
    serve_put_name(buffer, wfre_graph_relation_name(graph, group->relation));
    serve_put(buffer, ",\"label\":");
    serve_put_name(buffer, wfre_graph_relation_label(graph, group->relation));
    serve_put_format(buffer, ",\"inverse\":%s,\"count\":%zu,\"examples\":[",
                     group->relation & 1 ? "true" : "false", group->targets.count);
    for (size_t i = 0; i < group->targets.count && i < examples; i++) {
        serve_put(buffer, i ? "," : "");
        serve_put_entity(buffer, world, group->targets.ids[i]);
    }
    serve_put(buffer, "]}");
}

static void put_attribute(serve_buffer *buffer, const wfre_described_attribute *attribute)
{
    serve_put(buffer, "{\"property\":");
    serve_put_name(buffer, attribute->property);
    serve_put(buffer, ",\"name\":");
    serve_put_name(buffer, attribute->label.bytes ? attribute->label : attribute->property);
    serve_put(buffer, ",\"value\":");
    serve_put_name(buffer, attribute->value);
    serve_put(buffer, ",\"language\":");
    serve_put_name(buffer, attribute->language.length > 0 ? attribute->language : (wfre_name){0});
    serve_put(buffer, ",\"datatype\":");
    serve_put_name(buffer, attribute->datatype.length > 0 ? attribute->datatype : (wfre_name){0});
    serve_put(buffer, "}");
}

static void put_description(serve_buffer *buffer, const serve_world *world,
                            const wfre_description *description, size_t limit)
{
    serve_put_entity(buffer, world, description->entity);
    if (buffer->length > 0)
        buffer->length--; /* the brace comes later */
    serve_put_format(buffer, ",\"edges\":%" PRIu64 ",\"attributes\":[", description->edge_count);
    for (size_t i = 0; i < description->attribute_count; i++) {
        serve_put(buffer, i ? "," : "");
        put_attribute(buffer, &description->attributes[i]);
    }
    serve_put(buffer, "],\"relations\":[");
    for (size_t i = 0; i < description->relation_count; i++) {
        serve_put(buffer, i ? "," : "");
        put_relation_group(buffer, world, &description->relations[i], limit);
    }
    serve_put(buffer, "]}\n");
}

static void put_missing(serve_buffer *buffer, const serve_world *world,
                        const wfre_description *description)
{
    serve_put(buffer, "{\"items\":[");
    for (size_t i = 0; i < description->missing_count; i++) {
        const wfre_missing_triple *triple = &description->missing[i];
        serve_put(buffer, i ? ",{" : "{");
        serve_put_triple(buffer, world, triple->head, triple->relation, triple->tail);
        serve_put(buffer, ",\"probability\":");
        serve_put_number(buffer, triple->probability);
        serve_put(buffer, ",\"missing_probability\":");
        serve_put_number(buffer, triple->missing_probability);
        serve_put(buffer, ",\"score\":");
        serve_put_number(buffer, triple->score);
        serve_put(buffer, "}");
    }
    serve_put(buffer, "],\"unpredicted\":");
    serve_put_text(buffer, description->unpredicted);
    serve_put(buffer, "}\n");
}

/* All about an entity, or what it seems to lack. */
static void describe(serve_request *request, serve_worker *worker, wfre_entity id, bool missing)
{
    serve_buffer buffer = {0};
    wfre_describe_options options;
    wfre_description *description = NULL;
    wfre_error error;
    uint64_t limit;
    wfre_describe_options_default(&options);
    if (!serve_parameter_number(request, "limit", 20, 1000, &limit) ||
        !serve_parameter_real(request, "min_probability", 0, 1, &options.min_probability) ||
        serve_tag(request, worker->world, ""))
        return;
    options.missing = missing ? limit : 0;
    options.timeout = serve_left(request);
    if (wfre_session_describe(worker->session, id, &options, worker->cancel, &description,
                              &error) != WFRE_OK) {
        serve_fail(request, &error);
        return;
    }
    if (missing)
        put_missing(&buffer, worker->world, description);
    else
        put_description(&buffer, worker->world, description, limit);
    wfre_description_free(description);
    serve_answer(request, MHD_HTTP_OK, SERVE_JSON, &buffer);
}

static void list_edges(serve_request *request, serve_world *world, wfre_entity id)
{
    serve_buffer buffer = {0};
    uint64_t relation, offset, limit;
    if (!serve_parameter_number(request, "relation", WFRE_NONE, WFRE_NONE, &relation) ||
        !serve_parameter_number(request, "offset", 0, UINT32_MAX, &offset) ||
        !serve_parameter_number(request, "limit", 50, 10000, &limit))
        return;
    if (relation >= wfre_graph_relations(world->graph)) {
        serve_refuse(request, MHD_HTTP_NOT_FOUND, "not_found",
                     "there is no relation with this number");
        return;
    }
    if (serve_tag(request, world, ""))
        return;
    wfre_list targets = wfre_graph_targets(world->graph, WFRE_TEST, (wfre_relation)relation, id);
    serve_put_format(&buffer, "{\"total\":%zu,\"items\":[", targets.count);
    for (size_t i = 0; i < limit && offset + i < targets.count; i++) {
        serve_put(&buffer, i ? "," : "");
        serve_put_entity(&buffer, world, targets.ids[offset + i]);
    }
    serve_put(&buffer, "]}\n");
    serve_answer(request, MHD_HTTP_OK, SERVE_JSON, &buffer);
}

void serve_entity(serve_request *request, serve_worker *worker)
{
    const char *path = request->path + strlen("/api/entity/");
    wfre_entity id;
    if (!read_id(&path, &id))
        serve_refuse(request, MHD_HTTP_NOT_FOUND, "not_found", "an entity has a number here");
    else if (!is_entity(request, worker->world->graph, id))
        return;
    else if (!*path)
        describe(request, worker, id, false);
    else if (strcmp(path, "/missing") == 0)
        describe(request, worker, id, true);
    else if (strcmp(path, "/edges") == 0)
        list_edges(request, worker->world, id);
    else
        serve_refuse(request, MHD_HTTP_NOT_FOUND, "not_found", "there is nothing at this address");
}

/* ---- the neighbourhood -------------------------------------------------------------------- */

typedef struct walk {
    const wfre_graph *graph;
    wfre_entity *nodes;
    size_t count, limit;
    bool cut;
} walk;

static bool has_node(const walk *w, wfre_entity id)
{
    for (size_t i = 0; i < w->count; i++)
        if (w->nodes[i] == id)
            return true;
    return false;
}

/* Adds the neighbours of the node at `at`, a few of each relation first. */
static void grow(walk *w, size_t at)
{
    enum { ROUNDS = 3, STEP = 8 };
    for (size_t round = 0; round < ROUNDS; round++)
        for (wfre_relation r = 0; r < wfre_graph_relations(w->graph); r++) {
            wfre_list targets = wfre_graph_targets(w->graph, WFRE_TEST, r, w->nodes[at]);
            size_t begin = round == 0 ? 0 : round == 1 ? 1 : STEP;
            size_t end = round == 0 ? 1 : round == 1 ? STEP : targets.count;
            for (size_t i = begin; i < end && i < targets.count; i++) {
                if (has_node(w, targets.ids[i]))
                    continue;
                if (w->count == w->limit) {
                    w->cut = true;
                    return;
                }
                w->nodes[w->count++] = targets.ids[i];
            }
        }
}

/* All edges between the nodes, each once; not all of them if the time is over. */
static void put_edges(serve_buffer *buffer, const walk *w, const wfre_cancel *cancel)
{
    bool any = false;
    for (size_t i = 0; i < w->count && wfre_cancel_status(cancel) == WFRE_OK; i++)
        for (wfre_relation r = 0; r < wfre_graph_relations(w->graph); r += 2) {
            wfre_list targets = wfre_graph_targets(w->graph, WFRE_TEST, r, w->nodes[i]);
            if (targets.count == 0)
                continue;
            for (size_t k = 0; k < w->count; k++) {
                if (!wfre_graph_has(w->graph, WFRE_TEST, w->nodes[i], r, w->nodes[k]))
                    continue;
                serve_put_format(buffer, "%s{\"head\":%u,\"relation\":%u,\"name\":", any ? "," : "",
                                 w->nodes[i], r);
                serve_put_name(buffer, wfre_graph_relation_name(w->graph, r));
                serve_put(buffer, ",\"label\":");
                serve_put_name(buffer, wfre_graph_relation_label(w->graph, r));
                serve_put_format(buffer, ",\"tail\":%u}", w->nodes[k]);
                any = true;
            }
        }
}

/* Sends the answer, unless it was stopped on the way and only looks whole. */
static void answer_if_whole(serve_request *request, const serve_worker *worker,
                            serve_buffer *buffer)
{
    wfre_error error = {.code = wfre_cancel_status(worker->cancel), .offset = WFRE_NO_OFFSET};
    if (error.code == WFRE_OK) {
        serve_answer(request, MHD_HTTP_OK, SERVE_JSON, buffer);
        return;
    }
    serve_buffer_free(buffer);
    (void)snprintf(error.message, sizeof error.message, "the neighbourhood took too long");
    serve_fail(request, &error);
}

void serve_around(serve_request *request, serve_worker *worker)
{
    const wfre_graph *graph = worker->world->graph;
    serve_buffer buffer = {0};
    uint64_t id, depth, limit;
    if (!serve_parameter_number(request, "id", WFRE_NONE, WFRE_NONE, &id) ||
        !serve_parameter_number(request, "depth", 1, 3, &depth) ||
        !serve_parameter_number(request, "limit", 100, 500, &limit) ||
        !is_entity(request, graph, id) || serve_tag(request, worker->world, ""))
        return;
    walk w = {.graph = graph, .limit = limit ? limit : 1};
    w.nodes = calloc(w.limit, sizeof *w.nodes);
    if (!w.nodes) {
        serve_refuse(request, MHD_HTTP_SERVICE_UNAVAILABLE, "memory", "out of memory");
        return;
    }
    w.nodes[w.count++] = (wfre_entity)id;
    for (size_t step = 0, begin = 0; step < depth; step++) {
        size_t end = w.count;
        for (; begin < end && wfre_cancel_status(worker->cancel) == WFRE_OK; begin++)
            grow(&w, begin);
    }
    serve_put(&buffer, "{\"nodes\":[");
    for (size_t i = 0; i < w.count; i++) {
        serve_put(&buffer, i ? "," : "");
        serve_put_entity(&buffer, worker->world, w.nodes[i]);
    }
    serve_put(&buffer, "],\"edges\":[");
    put_edges(&buffer, &w, worker->cancel);
    serve_put_format(&buffer, "],\"cut\":%s}\n", w.cut ? "true" : "false");
    free(w.nodes);
    answer_if_whole(request, worker, &buffer);
}

/* ---- completion --------------------------------------------------------------------------- */

static void put_item(serve_buffer *buffer, const serve_world *world, const wfre_completion *item)
{
    static const char *const MATCHES[] = {"exact", "prefix", "word", "part"};
    serve_put_format(buffer, "{\"kind\":\"%s\",", item->is_relation ? "relation" : "entity");
    size_t at = buffer->length;
    if (item->is_relation)
        serve_put_relation(buffer, world, item->id);
    else
        serve_put_entity(buffer, world, item->id);
    if (!buffer->failed) { /* the object goes on: its braces are not needed */
        buffer->bytes[at] = ' ';
        buffer->length--;
    }
    serve_put_format(buffer, ",\"match\":\"%s\",\"fits\":%s,\"count\":%" PRIu64 "}",
                     MATCHES[item->match], item->fits ? "true" : "false", item->count);
}

/* The known answers to the question that `after` is: what the relations must fit. False, having
 * answered, if it is none. */
static bool find_after(serve_request *request, serve_worker *worker, const char *after,
                       wfre_query **query, wfre_answers **answers)
{
    wfre_error error;
    wfre_question question;
    wfre_ask_options_default(&question.options);
    question.options.predicted = false;
    question.options.timeout = serve_left(request);
    wfre_status status =
        wfre_query_parse_within(worker->world->graph, WFRE_NOTATION_AUTO, after, strlen(after),
                                serve_left(request), worker->cancel, query, &error);
    question.query = *query;
    if (status == WFRE_OK)
        status = wfre_session_ask(worker->session, &question, 1, worker->cancel, answers, &error);
    if (status == WFRE_OK && (*answers)->status != WFRE_OK) {
        error = serve_answers_error(*answers);
        status = error.code;
    }
    if (status != WFRE_OK)
        serve_fail(request, &error);
    return status == WFRE_OK;
}

static void complete(serve_request *request, serve_worker *worker, wfre_complete_options *options,
                     size_t limit)
{
    const char *text = serve_parameter(request, "text");
    serve_buffer buffer = {0};
    wfre_error error;
    size_t count = 0;
    wfre_completion *items = calloc(limit + 1, sizeof *items);
    text = text ? text : "";
    if (!items) {
        serve_refuse(request, MHD_HTTP_SERVICE_UNAVAILABLE, "memory", "out of memory");
    } else if (wfre_engine_complete(worker->world->engine, text, strlen(text), options, items,
                                    limit, &count, &error) != WFRE_OK) {
        serve_fail(request, &error);
    } else {
        serve_put(&buffer, "{\"items\":[");
        for (size_t i = 0; i < count; i++) {
            serve_put(&buffer, i ? "," : "");
            put_item(&buffer, worker->world, &items[i]);
        }
        serve_put(&buffer, "]}\n");
        serve_answer(request, MHD_HTTP_OK, SERVE_JSON, &buffer);
    }
    free(items);
}

void serve_complete(serve_request *request, serve_worker *worker)
{
    const char *kind = serve_parameter(request, "kind"), *after = serve_parameter(request, "after");
    wfre_complete_options options;
    wfre_query *query = NULL;
    wfre_answers *answers = NULL;
    uint64_t limit, having;
    wfre_complete_options_default(&options);
    kind = kind ? kind : "any";
    if (strcmp(kind, "any") != 0 && strcmp(kind, "entity") != 0 && strcmp(kind, "relation") != 0) {
        serve_refuse(request, MHD_HTTP_BAD_REQUEST, "argument",
                     "`kind` is entity, relation or any");
        return;
    }
    options.entities = strcmp(kind, "relation") != 0;
    options.relations = strcmp(kind, "entity") != 0;
    if (!serve_parameter_number(request, "limit", 20, 1000, &limit) ||
        !serve_parameter_number(request, "having", WFRE_NONE, WFRE_NONE, &having) ||
        serve_tag(request, worker->world, ""))
        return;
    if (having < wfre_graph_relations(worker->world->graph))
        options.having = (wfre_relation)having;
    if (!after || !*after) {
        complete(request, worker, &options, limit);
    } else if (find_after(request, worker, after, &query, &answers)) {
        options.of = answers->known;
        options.only = true;
        complete(request, worker, &options, limit);
    }
    wfre_answers_free(answers);
    wfre_query_free(query);
}
