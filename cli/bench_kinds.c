/* What it does to answers that kinds count: how many of a wrong kind are shown, and what ranking
 * single edges of the valid split gains or loses. The last of three reports is for what cannot be
 * avoided: where fewer than ten could stand, strangers are shown with any weight. */
#include "bench.h"

enum {
    QUESTIONS = 2000,
    ALONE = 100 /* a weight with which kinds decide alone: who is a stranger then has no rival */
};

typedef struct work {
    wfre_graph *graph;
    wfre_model *model;
    wfre_pool *pool;
    wfre_error error;
} work;

static wfre_status prepare(const cli_call *call, work *w)
{
    const char *path = cli_text(call, "model", NULL);
    wfre_model_settings settings;
    wfre_model_settings_default(&settings);
    settings.way.by = WFRE_BY_EDGES;
    wfre_status status = bench_graph(call, &w->graph, &w->error);
    if (status == WFRE_OK)
        status = wfre_pool_create((unsigned)cli_integer(call, "threads", 0), &w->pool, &w->error);
    if (status == WFRE_OK)
        status = path ? wfre_model_open(path, &w->model, &w->error)
                      : wfre_model_create(w->graph, &settings, 1, &w->model, &w->error);
    return status;
}

static wfre_status measure(const cli_call *call, work *w, double weight)
{
    wfre_way way = wfre_model_get_settings(w->model)->way;
    size_t count = (size_t)cli_integer(call, "count", QUESTIONS);
    wfre_strangers s;
    wfre_links *links = NULL;
    wfre_links_options options;
    wfre_links_options_default(&options);
    options.way = &way;
    way.by = WFRE_BY_EDGES;
    way.edge_kinds = weight;
    wfre_status status = wfre_measure_strangers(w->graph, w->model, &way, count, 1, w->pool,
                                                cli_monitor(), &s, &w->error);
    bool held_out =
        wfre_graph_triples(w->graph, WFRE_VALID) > wfre_graph_triples(w->graph, WFRE_TRAIN);
    if (status == WFRE_OK && held_out && weight < ALONE)
        status = wfre_evaluate_links(w->graph, w->model, &options, w->pool, cli_monitor(), &links,
                                     &w->error);
    if (status != WFRE_OK)
        return status;
    bench_begin(call, "kinds");
    bench_number(call, "weight", weight, "weight of kinds");
    bench_number(call, "answers", (double)s.answers, "answers, ten a question");
    bench_number(call, "fresh", (double)s.fresh, "of these never stood there");
    bench_number(call, "strangers", (double)s.strangers, "of these are of a kind never seen there");
    bench_number(call, "apart", (double)s.apart, "share no relation with anybody there");
    bench_number(call, "classes", (double)s.classes, "share no class with anybody there");
    if (links)
        bench_number(call, "mrr", 100 * wfre_links_at(links, 0)->mean.mrr,
                     "MRR of the valid split's triples, in percent");
    bench_end(call);
    wfre_links_free(links);
    return WFRE_OK;
}

static int run(const cli_call *call)
{
    work w = {0};
    wfre_status status = prepare(call, &w);
    double weight = 1;
    if (status == WFRE_OK)
        weight = cli_number(call, "weight", wfre_model_get_settings(w.model)->way.edge_kinds);
    if (status == WFRE_OK)
        status = measure(call, &w, 0);
    if (status == WFRE_OK && weight > 0)
        status = measure(call, &w, weight);
    if (status == WFRE_OK)
        status = measure(call, &w, ALONE);
    int code = status == WFRE_OK ? EXIT_DONE : cli_fail(&w.error);
    wfre_model_free(w.model);
    wfre_pool_free(w.pool);
    wfre_graph_close(w.graph);
    return code;
}

const bench bench_kinds = {
    .name = "kinds",
    .about = "answers of a kind that was never seen there, and what their weight does to ranks",
    .run = run,
};
