/* Completing names while they are typed: the CPU time of the index, and of the slowest of many
 * texts of each kind, since who types waits for the slowest. The texts are taken from the graph's
 * own names. Before that, the best few are compared with those of a longer list. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench.h"

enum { TOP = 20, MORE = 400, NAMES = 40, LONGEST = 256 };

typedef struct work {
    const cli_call *call;
    wfre_graph *graph;
    wfre_engine *engine;
    wfre_relation rare, common; /* of all relations, by how many entities have it */
    wfre_error error;
} work;

/* A kind of text: `from` bytes of a name are left out, up to `length` taken. */
typedef struct kind {
    const char *key, *about;
    size_t from, length;
    int having; /* 0: no matter, 1: the common relation, 2: the rare one */
} kind;

static const kind KINDS[] = {
    {"empty", "ms of CPU for no text, at the most", 0, 0, 0},
    {"one", "ms, one letter", 0, 1, 0},
    {"two", "ms, two letters", 0, 2, 0},
    {"three", "ms, three letters", 0, 3, 0},
    {"six", "ms, six letters", 0, 6, 0},
    {"within", "ms, three letters within a name", 4, 3, 0},
    {"whole", "ms, a whole name", 0, LONGEST, 0},
    {"having", "ms, one letter, entities with a common relation first", 0, 1, 1},
    {"having_rare", "ms, one letter, entities with a rare relation first", 0, 1, 2},
};
enum { KIND_COUNT = sizeof KINDS / sizeof KINDS[0] };

static double cpu(void)
{
    struct timespec used;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    return (double)used.tv_sec + 1e-9 * (double)used.tv_nsec;
}

static wfre_status complete(work *w, const char *text, size_t length, int having,
                            wfre_completion *items, size_t capacity, size_t *count)
{
    wfre_complete_options options;
    wfre_complete_options_default(&options);
    if (having)
        options.having = having == 1 ? w->common : w->rare;
    return wfre_engine_complete(w->engine, text, length, &options, items, capacity, count,
                                &w->error);
}

/* Whether the first few are the same when more are asked for. */
static wfre_status check(work *w, const char *text, size_t length, int having)
{
    wfre_completion few[TOP], more[MORE];
    size_t few_count, more_count;
    wfre_status status = complete(w, text, length, having, few, TOP, &few_count);
    if (status == WFRE_OK)
        status = complete(w, text, length, having, more, MORE, &more_count);
    for (size_t i = 0; status == WFRE_OK && i < few_count; i++)
        if (few[i].id != more[i].id || few[i].is_relation != more[i].is_relation) {
            (void)snprintf(w->error.message, sizeof w->error.message,
                           "the first %d names are others when %d are asked for", TOP, MORE);
            status = w->error.code = WFRE_ERR_NUMERIC;
        }
    return status;
}

/* The slowest text of a kind, in seconds. */
static wfre_status measure(work *w, const kind *k, double *slowest)
{
    uint32_t all = wfre_graph_entities(w->graph);
    wfre_completion items[TOP];
    wfre_status status = WFRE_OK;
    size_t count;
    *slowest = 0;
    for (uint32_t i = 0; i < NAMES && status == WFRE_OK; i++) {
        wfre_name name = wfre_graph_entity_name(w->graph, (wfre_entity)((uint64_t)all * i / NAMES));
        size_t from = k->from < name.length ? k->from : 0;
        size_t length = name.length - from < k->length ? name.length - from : k->length;
        if (i % 8 == 0)
            status = check(w, name.bytes + from, length, k->having);
        double start = cpu();
        if (status == WFRE_OK)
            status = complete(w, name.bytes + from, length, k->having, items, TOP, &count);
        double took = cpu() - start;
        *slowest = took > *slowest ? took : *slowest;
    }
    return status;
}

static void choose_relations(work *w)
{
    size_t most = 0, least = SIZE_MAX;
    for (wfre_relation r = 0; r < wfre_graph_relations(w->graph); r++) {
        size_t count = wfre_graph_sources(w->graph, WFRE_TEST, r).count;
        if (count > most) {
            most = count;
            w->common = r;
        }
        if (count > 0 && count < least) {
            least = count;
            w->rare = r;
        }
    }
}

static wfre_status report(work *w)
{
    wfre_completion first;
    size_t count;
    double slowest[KIND_COUNT], start = cpu();
    wfre_status status = complete(w, "a", 1, 0, &first, 1, &count);
    double building = cpu() - start;
    for (size_t i = 0; i < KIND_COUNT && status == WFRE_OK; i++)
        status = measure(w, &KINDS[i], &slowest[i]);
    if (status != WFRE_OK)
        return status;
    bench_begin(w->call, "complete");
    bench_number(w->call, "entities", wfre_graph_entities(w->graph), "entities");
    bench_number(w->call, "build", 1e3 * building, "ms of CPU to build the index");
    for (size_t i = 0; i < KIND_COUNT; i++)
        bench_number(w->call, KINDS[i].key, 1e3 * slowest[i], KINDS[i].about);
    bench_end(w->call);
    return WFRE_OK;
}

static int run(const cli_call *call)
{
    work w = {.call = call, .error = {.code = WFRE_ERR_MEMORY, .message = "out of memory"}};
    wfre_status status = bench_graph(call, &w.graph, &w.error);
    if (status == WFRE_OK)
        status = wfre_engine_open(w.graph, NULL, NULL, NULL, cli_cancel(), &w.engine, &w.error);
    if (status == WFRE_OK) {
        choose_relations(&w);
        status = report(&w);
    }
    wfre_engine_unref(w.engine);
    wfre_graph_close(w.graph);
    return status == WFRE_OK ? EXIT_DONE : cli_fail(&w.error);
}

const bench bench_complete = {
    .name = "complete",
    .about = "names while they are typed: the slowest text of each kind",
    .run = run,
};
