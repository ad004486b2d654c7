/* Training queries a second: the ten training types with their answers, all threads. */
#include <string.h>

#include "bench.h"

enum { BATCH = 2048 };

typedef struct work {
    wfre_sampler *sampler;
    wfre_pool *pool;
    uint64_t step;
    uint64_t answers;
    uint64_t steps;
    wfre_error error;
} work;

static bool sample_batch(void *context)
{
    work *w = context;
    const wfre_sampled *queries;
    if (wfre_sampler_step(w->sampler, w->pool, w->step++, NULL, BATCH, &queries, &w->error) !=
        WFRE_OK)
        return false;
    for (int i = 0; i < BATCH; i++)
        w->answers += queries[i].answers.count;
    w->steps++;
    return true;
}

/* The pool must give what one thread gives. */
static wfre_status verify(const wfre_graph *graph, work *w, bool *same)
{
    wfre_sampler *alone = NULL;
    const wfre_sampled *left;
    const wfre_sampled *right;
    wfre_status status = wfre_sampler_create(graph, WFRE_TRAIN, NULL, 0, 1, &alone, &w->error);
    if (status == WFRE_OK)
        status = wfre_sampler_step(alone, NULL, 0, NULL, BATCH, &left, &w->error);
    if (status == WFRE_OK)
        status = wfre_sampler_step(w->sampler, w->pool, 0, NULL, BATCH, &right, &w->error);
    *same = status == WFRE_OK;
    for (int i = 0; i < BATCH && *same; i++)
        *same = left[i].answers.count == right[i].answers.count &&
                memcmp(left[i].answers.ids, right[i].answers.ids,
                       left[i].answers.count * sizeof *left[i].answers.ids) == 0;
    wfre_sampler_free(alone);
    return status;
}

static void report(const cli_call *call, const work *w, bench_timing timing)
{
    bench_begin(call, "sample");
    bench_number(call, "queries_per_second", BATCH / timing.median, "queries a second, median");
    bench_number(call, "slowest", BATCH / timing.slowest, "in the slowest batch");
    bench_number(call, "fastest", BATCH / timing.fastest, "in the fastest batch");
    bench_number(call, "answers_per_query", (double)w->answers / ((double)w->steps * BATCH),
                 "answers a query");
    bench_number(call, "threads", wfre_pool_threads(w->pool), "threads");
    bench_number(call, "runs", (double)timing.runs, "batches");
    bench_end(call);
}

static int run(const cli_call *call)
{
    work w = {0};
    wfre_graph *graph = NULL;
    bool same = false;
    wfre_status status = bench_graph(call, &graph, &w.error);
    if (status == WFRE_OK)
        status = wfre_pool_create((unsigned)cli_integer(call, "threads", 0), &w.pool, &w.error);
    if (status == WFRE_OK)
        status = wfre_sampler_create(graph, WFRE_TRAIN, NULL, 0, 1, &w.sampler, &w.error);
    if (status == WFRE_OK)
        status = verify(graph, &w, &same);
    int code = EXIT_FAILED;
    if (status == WFRE_OK && !same) {
        cli_note("wfre: bench sample: the threads' queries differ from those of one thread");
    } else if (status == WFRE_OK) {
        bench_timing timing = bench_measure(call, sample_batch, &w);
        if (timing.runs > 0) {
            report(call, &w, timing);
            code = EXIT_DONE;
        }
    }
    if (code != EXIT_DONE && w.error.message[0])
        code = cli_fail(&w.error);
    wfre_sampler_free(w.sampler);
    wfre_pool_free(w.pool);
    wfre_graph_close(graph);
    return code;
}

const bench bench_sample = {
    .name = "sample",
    .about = "grounded training queries with their answers",
    .run = run,
};
