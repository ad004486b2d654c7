/* GET /api/info, /healthz, /metrics. */
#include <inttypes.h>
#include <string.h>

#include "examples.h"
#include "question.h"
#include "routes.h"

void serve_health(serve_request *request, serve_worker *worker)
{
    (void)worker;
    request->status = MHD_HTTP_OK;
    request->type = SERVE_TEXT;
    request->fixed = "ok\n";
    request->fixed_length = 3;
    serve_end(request);
}

void serve_show_metrics(serve_request *request, serve_worker *worker)
{
    serve_buffer buffer = {0};
    (void)worker;
    serve_metrics_write(request->server, &buffer);
    serve_answer(request, MHD_HTTP_OK, "text/plain; version=0.0.4; charset=utf-8", &buffer);
}

static void put_graph(serve_buffer *buffer, const serve_world *world)
{
    const wfre_graph *graph = world->graph;
    uint64_t train = wfre_graph_triples(graph, WFRE_TRAIN);
    uint64_t valid = wfre_graph_triples(graph, WFRE_VALID);
    serve_put(buffer, "{\"name\":");
    serve_put_text(buffer, world->graph_name);
    serve_put_format(buffer,
                     ",\"entities\":%u,\"relations\":%u,\"triples\":{\"train\":%" PRIu64
                     ",\"valid\":%" PRIu64 ",\"test\":%" PRIu64 "},\"attributes\":%" PRIu64
                     ",\"fingerprint\":\"%016" PRIx64 "\"}",
                     wfre_graph_entities(graph), wfre_graph_relations(graph) / 2, train,
                     valid - train, wfre_graph_triples(graph, WFRE_TEST) - valid,
                     wfre_graph_attributes(graph), wfre_graph_fingerprint(graph));
}

static void put_reliability(serve_buffer *buffer, const char *name,
                            const wfre_reliability *reliability)
{
    serve_put_format(buffer, "\"%s\":[", name);
    for (int b = 0; reliability && b < WFRE_RELIABILITY_BINS; b++) {
        const wfre_reliability_bin *bin = &reliability->bins[b];
        serve_put_format(buffer,
                         "%s{\"low\":%.1f,\"high\":%.1f,\"predicted\":%.6g,\"found\":%.6g,"
                         "\"count\":%" PRIu64 "}",
                         b ? "," : "", b / 10.0, (b + 1) / 10.0, bin->predicted, bin->observed,
                         bin->count);
    }
    serve_put(buffer, "]");
}

/* How well it ranked what was hidden from it, or null. */
static void put_measured(serve_buffer *buffer, const wfre_model *model)
{
    char *json = NULL;
    bool made = wfre_model_measured_json(model, &json, NULL) == WFRE_OK;
    serve_put(buffer, made ? json : "null");
    if (made)
        wfre_string_free(json);
}

static void put_model(serve_buffer *buffer, const serve_world *world)
{
    const wfre_model *model = world->model;
    if (!model) {
        serve_put(buffer, "null");
        return;
    }
    const wfre_model_settings *settings = wfre_model_get_settings(model);
    const wfre_reliability *any = wfre_model_reliability(model);
    const wfre_reliability *missing = wfre_model_missing_reliability(model);
    serve_put(buffer, "{\"name\":");
    serve_put_text(buffer, world->model_name);
    serve_put_format(buffer, ",\"dimensions\":%u,\"parameters\":%" PRIu64 ",\"trained\":{",
                     settings->dim, wfre_model_parameters(model));
    for (size_t i = 0; i < wfre_model_setting_count(); i++) {
        wfre_setting_text text = wfre_model_setting(settings, i);
        serve_put(buffer, i ? "," : "");
        serve_put_text(buffer, text.name);
        serve_put(buffer, ":");
        serve_put_text(buffer, text.value);
    }
    serve_put(buffer, "},\"fingerprint\":");
    serve_put_text(buffer, atomic_load(&world->tagged) ? world->tag + 17 : NULL);
    serve_put_format(buffer, ",\"unfinished\":%s,\"calibrated\":%s,\"reliability\":{",
                     wfre_model_unfinished(model) ? "true" : "false",
                     any || missing ? "true" : "false");
    put_reliability(buffer, "any", any);
    serve_put(buffer, ",");
    put_reliability(buffer, "missing", missing);
    serve_put(buffer, "},\"measured\":");
    put_measured(buffer, model);
    serve_put(buffer, "}");
}

static void put_prefixes(serve_buffer *buffer, const wfre_graph *graph)
{
    wfre_name prefix, iri;
    serve_put(buffer, "{");
    for (size_t i = 0; wfre_graph_prefix(graph, i, &prefix, &iri); i++) {
        serve_put(buffer, i ? "," : "");
        serve_put_string(buffer, prefix.bytes, prefix.length);
        serve_put(buffer, ":");
        serve_put_name(buffer, iri);
    }
    serve_put(buffer, "}");
}

void serve_info(serve_request *request, serve_worker *worker)
{
    const serve_options *options = request->server->options;
    serve_buffer buffer = {0};
    if (serve_tag(request, worker->world, ""))
        return;
    serve_put(&buffer, "{\"version\":");
    serve_put_text(&buffer, wfre_version());
    serve_put(&buffer, ",\"commit\":");
    serve_put_text(&buffer, wfre_commit());
    serve_put(&buffer, ",\"graph\":");
    put_graph(&buffer, worker->world);
    serve_put(&buffer, ",\"model\":");
    put_model(&buffer, worker->world);
    serve_put(&buffer, ",\"prefixes\":");
    put_prefixes(&buffer, worker->world->graph);
    serve_put(&buffer, ",\"examples\":");
    serve_put(&buffer, serve_examples(worker->world));
    serve_put_format(&buffer, ",\"limits\":{\"timeout\":%g,\"rows\":%" PRIu64 ",\"body\":%zu}}\n",
                     options->timeout, options->rows, options->body);
    serve_answer(request, MHD_HTTP_OK, SERVE_JSON, &buffer);
}
