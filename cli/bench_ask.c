/* Questions: how long predicting takes alone and in batches, against scoring every entity, and how
 * often both find the same ten. Without --model the model is random numbers, and without --queries
 * so are the questions: that shows the time, but not how it would be with a trained one. */
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "bench.h"

enum { BATCH = 64, TOP = 10, ALONE = 100 }; /* ALONE: questions asked exhaustively one by one */

typedef struct work {
    const cli_call *call;
    wfre_graph *graph;
    wfre_model *model;
    wfre_pool *pool;
    wfre_engine *engine;
    wfre_session *session;
    wfre_query **queries;
    size_t count;
    double opening, preparing; /* seconds */
    wfre_error error;
} work;

/* ---- questions ---------------------------------------------------------------------------- */

static wfre_status add_query(work *w, const char *text, size_t length)
{
    wfre_status status = wfre_query_parse(w->graph, WFRE_NOTATION_TREE, text, length,
                                          &w->queries[w->count], &w->error);
    w->count += status == WFRE_OK;
    return status;
}

/* Questions of common shapes about random entities. */
static wfre_status make_queries(work *w, size_t count)
{
    static const char *const SHAPES[] = {
        "(p,#%u,(e,#%u))",
        "(p,#%u,(p,#%u,(e,#%u)))",
        "(i,(p,#%u,(e,#%u)),(p,#%u,(e,#%u)))",
        "(i,(p,#%u,(e,#%u)),(n,(p,#%u,(e,#%u))))",
    };
    wfre_status status = WFRE_OK;
    unsigned seed = 1;
    for (size_t i = 0; i < count && status == WFRE_OK; i++) {
        char text[128] = "";
        size_t used = 0;
        /* Fills the numbers in, one after the other: of a relation after p, else of an entity. */
        for (const char *c = SHAPES[i % 4]; *c; c++) {
            if (*c != '%') {
                text[used++] = *c;
                continue;
            }
            unsigned most =
                c[-3] == 'p' ? wfre_graph_relations(w->graph) : wfre_graph_entities(w->graph);
            seed = seed * 1664525u + 1013904223u;
            used += (size_t)snprintf(text + used, sizeof text - used, "%u", (seed >> 4) % most);
            c++;
        }
        status = add_query(w, text, used);
    }
    return status;
}

/* Whether a line of a query set is a query; its tree is then text[0 .. length). */
static bool find_tree(const char *line, const char **text, size_t *length)
{
    const char *tab = strchr(line, '\t');
    if (line[0] == '#' || !tab)
        return false;
    *text = tab + 1;
    *length = strcspn(*text, "\t\n");
    return true;
}

/* `count` queries spread evenly over a query set. */
static wfre_status read_queries(work *w, const char *path, size_t count)
{
    char *line = NULL;
    const char *text;
    size_t capacity = 0, length, all = 0, at = 0;
    FILE *file = fopen(path, "r");
    if (!file) {
        (void)snprintf(w->error.message, sizeof w->error.message, "%s: cannot be read", path);
        return WFRE_ERR_IO;
    }
    while (getline(&line, &capacity, file) > 0)
        all += find_tree(line, &text, &length);
    rewind(file);
    wfre_status status = WFRE_OK;
    while (status == WFRE_OK && w->count < count && getline(&line, &capacity, file) > 0) {
        if (!find_tree(line, &text, &length))
            continue;
        if (at++ * count >= w->count * all)
            status = add_query(w, text, length);
    }
    free(line);
    fclose(file);
    if (status == WFRE_OK && w->count == 0) {
        (void)snprintf(w->error.message, sizeof w->error.message, "%s: holds no query", path);
        status = w->error.code = WFRE_ERR_FORMAT;
    }
    return status;
}

/* ---- the model ---------------------------------------------------------------------------- */

/* A random model goes through a file, so that it is opened like any other. */
static wfre_status make_model(const work *w, const char *path, wfre_error *error)
{
    wfre_model_settings settings;
    wfre_model *model = NULL;
    wfre_model_settings_default(&settings);
    settings.dim = (uint32_t)cli_integer(w->call, "dim", settings.dim);
    settings.bases = (uint32_t)cli_integer(w->call, "bases", settings.bases);
    wfre_status status = wfre_model_create(w->graph, &settings, 1, &model, error);
    if (status == WFRE_OK)
        status = wfre_model_prepare(model, w->pool, error);
    if (status == WFRE_OK)
        status = wfre_model_save(model, path, false, error);
    wfre_model_free(model);
    return status;
}

static wfre_status open_model(work *w)
{
    char made[BENCH_PATH];
    const char *path = cli_text(w->call, "model", NULL);
    int descriptor = -1;
    wfre_status status = WFRE_OK;
    if (!path) {
        bench_temporary(made);
        descriptor = mkstemp(made);
        status = make_model(w, made, &w->error);
    }
    double start = cli_clock();
    if (status == WFRE_OK)
        status = wfre_model_open(path ? path : made, &w->model, &w->error);
    w->opening = cli_clock() - start;
    start = cli_clock();
    if (status == WFRE_OK)
        status = wfre_engine_open(w->graph, w->model, NULL, w->pool, NULL, &w->engine, &w->error);
    w->preparing = cli_clock() - start;
    if (status == WFRE_OK)
        status = wfre_session_create(w->engine, &(wfre_session_options){.pool = w->pool},
                                     &w->session, &w->error);
    if (descriptor >= 0) {
        close(descriptor);
        unlink(made);
    }
    return status;
}

/* ---- measuring ---------------------------------------------------------------------------- */

/* One way of asking all questions. */
typedef struct pass {
    size_t together; /* questions at a time */
    bool exhaustive;
    size_t count;    /* questions asked: all, or the first */
    double *seconds; /* of each question; those of a batch share its time */
    wfre_entity (*found)[TOP];
    double scored; /* entities a question */
} pass;

static wfre_status run_pass(work *w, pass *p)
{
    wfre_question questions[BATCH];
    wfre_answers *answers = NULL;
    wfre_way way = wfre_engine_way(w->engine);
    wfre_status status = WFRE_OK;
    way.exhaustive = p->exhaustive;
    for (size_t first = 0; first < p->count && status == WFRE_OK; first += p->together) {
        size_t count = p->count - first < p->together ? p->count - first : p->together;
        for (size_t i = 0; i < count; i++) {
            questions[i].query = w->queries[first + i];
            wfre_ask_options_default(&questions[i].options);
            questions[i].options.top = TOP;
            questions[i].options.way = &way;
        }
        double start = cli_clock();
        status = wfre_session_ask(w->session, questions, count, cli_cancel(), &answers, &w->error);
        double each = (cli_clock() - start) / (double)count;
        for (size_t i = 0; status == WFRE_OK && i < count; i++) {
            p->seconds[first + i] = each;
            p->scored += (double)answers[i].scored / (double)p->count;
            for (size_t k = 0; k < TOP; k++)
                p->found[first + i][k] =
                    k < answers[i].predicted_count ? answers[i].predicted[k].entity : WFRE_NONE;
        }
        wfre_answers_free(answers);
        answers = NULL;
    }
    return status;
}

static int compare_seconds(const void *a, const void *b)
{
    const double *left = a, *right = b;
    return (*left > *right) - (*left < *right);
}

static double quantile(double *seconds, size_t count, double share)
{
    qsort(seconds, count, sizeof *seconds, compare_seconds);
    return seconds[(size_t)(share * (double)(count - 1))];
}

static void report(const work *w, const pass *passes)
{
    const cli_call *call = w->call;
    size_t same = 0;
    for (size_t i = 0; i < w->count; i++)
        same += memcmp(passes[0].found[i], passes[3].found[i], sizeof *passes[0].found) == 0 &&
                memcmp(passes[1].found[i], passes[3].found[i], sizeof *passes[0].found) == 0;
    double median[4];
    for (int i = 0; i < 4; i++)
        median[i] = quantile(passes[i].seconds, passes[i].count, 0.5);
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    bench_begin(call, "ask");
    bench_number(call, "entities", wfre_graph_entities(w->graph), "entities");
    bench_number(call, "dim", wfre_model_get_settings(w->model)->dim, "dimensions");
    bench_number(call, "queries", (double)w->count, "questions");
    bench_number(call, "recall", (double)same / (double)w->count,
                 "share with the same ten as exhaustive search, in the same order");
    bench_number(call, "p50", 1e3 * median[0], "ms a question, median");
    bench_number(call, "p99", 1e3 * quantile(passes[0].seconds, w->count, 0.99), "ms, 99%");
    bench_number(call, "batch", 1e3 * median[1], "ms a question in batches of 64");
    bench_number(call, "exhaustive_p50", 1e3 * median[2], "ms, exhaustive");
    bench_number(call, "exhaustive_batch", 1e3 * median[3], "ms, exhaustive in batches");
    bench_number(call, "speedup", median[2] / median[0], "times as fast as exhaustive");
    bench_number(call, "speedup_batch", median[3] / median[1], "times as fast in batches");
    bench_number(call, "scored", passes[0].scored, "entities scored exactly a question");
    bench_number(call, "open", 1e3 * w->opening, "ms to open the model");
    bench_number(call, "prepare", 1e3 * w->preparing, "ms to prepare the search");
    bench_number(call, "memory", (double)usage.ru_maxrss / 1024, "MB at most");
    bench_number(call, "threads", wfre_pool_threads(w->pool), "threads");
    bench_end(call);
}

static wfre_status measure(work *w)
{
    pass passes[4] = {{.together = 1},
                      {.together = BATCH},
                      {.together = 1, .exhaustive = true},
                      {.together = BATCH, .exhaustive = true}};
    wfre_status status = WFRE_OK;
    for (int i = 0; i < 4; i++) {
        passes[i].count = i == 2 && w->count > ALONE ? ALONE : w->count;
        passes[i].seconds = calloc(w->count, sizeof *passes[i].seconds);
        passes[i].found = calloc(w->count, sizeof *passes[i].found);
        if (!passes[i].seconds || !passes[i].found)
            status = WFRE_ERR_MEMORY;
    }
    for (int i = 0; i < 4 && status == WFRE_OK; i++)
        status = run_pass(w, &passes[i]);
    if (status == WFRE_OK)
        report(w, passes);
    for (int i = 0; i < 4; i++) {
        free(passes[i].seconds);
        free(passes[i].found);
    }
    return status;
}

static int run(const cli_call *call)
{
    work w = {.call = call, .error = {.code = WFRE_ERR_MEMORY, .message = "out of memory"}};
    size_t count = (size_t)cli_integer(call, "count", 100);
    const char *queries = cli_text(call, "queries", NULL);
    w.queries = calloc(count, sizeof *w.queries);
    wfre_status status = w.queries ? bench_graph(call, &w.graph, &w.error) : WFRE_ERR_MEMORY;
    if (status == WFRE_OK)
        status = queries ? read_queries(&w, queries, count) : make_queries(&w, count);
    if (status == WFRE_OK)
        status = wfre_pool_create((unsigned)cli_integer(call, "threads", 0), &w.pool, &w.error);
    if (status == WFRE_OK)
        status = open_model(&w);
    if (status == WFRE_OK)
        status = measure(&w);
    for (size_t i = 0; i < w.count; i++)
        wfre_query_free(w.queries[i]);
    free(w.queries);
    wfre_session_free(w.session);
    wfre_engine_unref(w.engine);
    wfre_model_free(w.model);
    wfre_pool_free(w.pool);
    wfre_graph_close(w.graph);
    return status == WFRE_OK ? EXIT_DONE : cli_fail(&w.error);
}

const bench bench_ask = {
    .name = "ask",
    .about = "predictions alone and in batches, against scoring every entity",
    .run = run,
};
