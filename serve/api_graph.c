/* GET /api/complete, /api/entity/ID, /api/around: looking around in the graph. */
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

static void put_relation_group(serve_buffer *buffer, const wfre_graph *graph,
                               wfre_relation relation, wfre_list targets, size_t examples)
{
    serve_put_format(buffer, "{\"relation\":%u,\"name\":", relation);
    serve_put_name(buffer, wfre_graph_relation_name(graph, relation));
    serve_put(buffer, ",\"label\":");
    serve_put_name(buffer, wfre_graph_relation_label(graph, relation));
    serve_put_format(buffer, ",\"inverse\":%s,\"count\":%zu,\"examples\":[",
                     relation & 1 ? "true" : "false", targets.count);
    for (size_t i = 0; i < targets.count && i < examples; i++) {
        serve_put(buffer, i ? "," : "");
        serve_put_entity(buffer, graph, targets.ids[i]);
    }
    serve_put(buffer, "]}");
}

typedef struct triples {
    serve_buffer *buffer;
    bool any;
    char iri[2048];
} triples;

static void describe(serve_request *request, const serve_world *world, wfre_entity id)
{
    const wfre_graph *graph = world->graph;
    serve_buffer buffer = {0};
    uint64_t limit;
    if (!serve_parameter_number(request, "limit", 20, 1000, &limit) ||
        serve_tag(request, (serve_world *)(uintptr_t)world, ""))
        return;
    serve_put_format(&buffer, "{\"id\":%u,\"name\":", id);
    serve_put_name(&buffer, wfre_graph_entity_name(graph, id));
    serve_put(&buffer, ",\"label\":");
    serve_put_name(&buffer, wfre_graph_entity_label(graph, id));
    serve_put(&buffer, ",\"description\":");
    serve_put_name(&buffer, wfre_graph_entity_description(graph, id));
    serve_put(&buffer, ",\"attributes\":[],\"relations\":[");
    bool any = false;
    for (wfre_relation r = 0; r < wfre_graph_relations(graph); r++) {
        wfre_list targets = wfre_graph_targets(graph, WFRE_TEST, r, id);
        if (targets.count == 0)
            continue;
        serve_put(&buffer, any ? "," : "");
        put_relation_group(&buffer, graph, r, targets, limit);
        any = true;
    }
    serve_put(&buffer, "]}\n");
    serve_answer(request, MHD_HTTP_OK, SERVE_JSON, &buffer);
}

static void list_edges(serve_request *request, const serve_world *world, wfre_entity id)
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
    if (serve_tag(request, (serve_world *)(uintptr_t)world, ""))
        return;
    wfre_list targets = wfre_graph_targets(world->graph, WFRE_TEST, (wfre_relation)relation, id);
    serve_put_format(&buffer, "{\"total\":%zu,\"items\":[", targets.count);
    for (size_t i = 0; i < limit && offset + i < targets.count; i++) {
        serve_put(&buffer, i ? "," : "");
        serve_put_entity(&buffer, world->graph, targets.ids[offset + i]);
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
        describe(request, worker->world, id);
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

/* All edges between the nodes, each once. */
static void put_edges(serve_buffer *buffer, const walk *w)
{
    bool any = false;
    for (size_t i = 0; i < w->count; i++)
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
        serve_put_entity(&buffer, graph, w.nodes[i]);
    }
    serve_put(&buffer, "],\"edges\":[");
    put_edges(&buffer, &w);
    serve_put_format(&buffer, "],\"cut\":%s}\n", w.cut ? "true" : "false");
    free(w.nodes);
    serve_answer(request, MHD_HTTP_OK, SERVE_JSON, &buffer);
}

/* ---- completion --------------------------------------------------------------------------- */

static void put_item(serve_buffer *buffer, const wfre_graph *graph, bool relation, uint32_t id,
                     bool first)
{
    serve_put_format(buffer, "%s{\"kind\":\"%s\",\"id\":%u,\"name\":", first ? "" : ",",
                     relation ? "relation" : "entity", id);
    serve_put_name(buffer, relation ? wfre_graph_relation_name(graph, id)
                                    : wfre_graph_entity_name(graph, id));
    serve_put(buffer, ",\"label\":");
    serve_put_name(buffer, relation ? wfre_graph_relation_label(graph, id)
                                    : wfre_graph_entity_label(graph, id));
    serve_put(buffer, ",\"description\":");
    serve_put_name(buffer, relation ? (wfre_name){0} : wfre_graph_entity_description(graph, id));
    serve_put_format(
        buffer, ",\"count\":%llu}",
        relation ? (unsigned long long)wfre_graph_relation_triples(graph, WFRE_TEST, id) : 0ull);
}

void serve_complete(serve_request *request, serve_worker *worker)
{
    const wfre_graph *graph = worker->world->graph;
    serve_buffer buffer = {0};
    uint64_t limit;
    uint32_t found[WFRE_NEAREST];
    const char *text = serve_parameter(request, "text"), *kind = serve_parameter(request, "kind");
    if (!serve_parameter_number(request, "limit", 20, 1000, &limit) ||
        serve_tag(request, worker->world, ""))
        return;
    text = text ? text : "";
    kind = kind ? kind : "any";
    bool first = true;
    serve_put(&buffer, "{\"items\":[");
    for (int relations = 0; relations < 2; relations++) {
        if (strcmp(kind, relations ? "entity" : "relation") == 0)
            continue;
        size_t most = limit < WFRE_NEAREST ? limit : WFRE_NEAREST;
        size_t count = relations ? wfre_nearest_relations(graph, text, strlen(text), found, most)
                                 : wfre_nearest_entities(graph, text, strlen(text), found, most);
        for (size_t i = 0; i < count; i++, first = false)
            put_item(&buffer, graph, relations, found[i], first);
    }
    serve_put(&buffer, "]}\n");
    serve_answer(request, MHD_HTTP_OK, SERVE_JSON, &buffer);
}
