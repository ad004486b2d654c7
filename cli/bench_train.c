/* Training steps: seconds a batch, and where they go. The default is the published code's batch:
 * d=400, 32 bases, 512 queries, each with two answers and 2 x 32 negatives scored by WFR. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "train_settings.h"

typedef struct work {
    wfre_trainer *trainer;
    wfre_error error;
} work;

static bool one_step(void *context)
{
    work *w = context;
    return wfre_trainer_step(w->trainer, &w->error) == WFRE_OK;
}

static wfre_status fill_settings(const cli_call *call, const wfre_graph *graph,
                                 wfre_train_settings *settings, wfre_error *error)
{
    const char *preset = cli_text(call, "preset", "paper-fb15k-237");
    wfre_status status = wfre_train_preset(preset, graph, settings, error);
    bool published = strncmp(preset, "paper", 5) == 0;
    settings->model.dim = (uint32_t)cli_integer(call, "dim", published ? 400 : settings->model.dim);
    settings->model.bases =
        (uint32_t)cli_integer(call, "bases", published ? 32 : settings->model.bases);
    settings->batch = (uint32_t)cli_integer(call, "batch", settings->batch);
    if (status == WFRE_OK)
        status = train_settings_named(call, settings, error);
    settings->steps = UINT64_MAX / 2;
    return status;
}

/* The loss of two steps of a small model. */
static wfre_status small_loss(const wfre_graph *graph, wfre_train_settings settings,
                              wfre_pool *pool, double *loss, wfre_error *error)
{
    wfre_trainer *trainer = NULL;
    settings.model.dim = 4 * settings.model.score.block;
    settings.model.bases = 3;
    settings.batch = 24;
    settings.negatives = settings.negatives < 40 ? settings.negatives : 40;
    wfre_status status = wfre_trainer_create(graph, &settings, pool, &trainer, error);
    for (int i = 0; i < 2 && status == WFRE_OK; i++)
        status = wfre_trainer_step(trainer, error);
    if (status == WFRE_OK)
        *loss = wfre_trainer_status(trainer).last_loss;
    wfre_trainer_free(trainer);
    return status;
}

/* The kernels in use must give what the reference kernels give,
 * and threads what one thread gives. */
static wfre_status verify(const wfre_graph *graph, const wfre_train_settings *settings,
                          wfre_pool *pool, bool *same, wfre_error *error)
{
    double fast = 0, alone = 0, reference = 0;
    const char *forced = getenv("WFRE_ISA");
    char *kept = forced ? strdup(forced) : NULL;
    wfre_status status = small_loss(graph, *settings, pool, &fast, error);
    if (status == WFRE_OK)
        status = small_loss(graph, *settings, NULL, &alone, error);
    setenv("WFRE_ISA", "reference", 1);
    if (status == WFRE_OK)
        status = small_loss(graph, *settings, NULL, &reference, error);
    if (kept)
        setenv("WFRE_ISA", kept, 1);
    else
        unsetenv("WFRE_ISA");
    free(kept);
    *same = fast == alone && fabs(fast - reference) <= 1e-3 * fabs(reference);
    return status;
}

static void report(const cli_call *call, const wfre_train_settings *settings, const work *w,
                   bench_timing timing, unsigned threads)
{
    wfre_train_status status = wfre_trainer_status(w->trainer);
    double steps = (double)status.step;
    bench_begin(call, "train");
    bench_number(call, "dim", settings->model.dim, "dimensions");
    bench_number(call, "bases", settings->model.bases, "bases");
    bench_number(call, "batch", settings->batch, "queries a batch");
    bench_number(call, "threads", threads, "threads");
    bench_number(call, "seconds_per_batch", timing.median, "seconds a batch, median");
    bench_number(call, "fastest", timing.fastest, "seconds, the fastest batch");
    bench_number(call, "slowest", timing.slowest, "seconds, the slowest batch");
    bench_number(call, "queries_per_second", settings->batch / timing.median, "queries a second");
    bench_number(call, "seconds_sampling", status.time_sampling / steps, "of which sampling");
    bench_number(call, "seconds_projection", status.time_projection / steps, "projections");
    bench_number(call, "seconds_scoring", status.time_scoring / steps, "scoring");
    bench_number(call, "seconds_optimizer", status.time_optimizer / steps, "optimizer");
    bench_end(call);
}

static int run(const cli_call *call)
{
    work w = {0};
    wfre_graph *graph = NULL;
    wfre_pool *pool = NULL;
    wfre_train_settings settings;
    bool same = false;
    int code = EXIT_FAILED;
    wfre_status status = bench_graph(call, &graph, &w.error);
    if (status == WFRE_OK)
        status = wfre_pool_create((unsigned)cli_integer(call, "threads", 0), &pool, &w.error);
    if (status == WFRE_OK)
        status = fill_settings(call, graph, &settings, &w.error);
    if (status == WFRE_OK)
        status = verify(graph, &settings, pool, &same, &w.error);
    if (status == WFRE_OK && !same) {
        cli_note("wfre: bench train: the kernels or the threads change the loss");
    } else if (status == WFRE_OK) {
        status = wfre_trainer_create(graph, &settings, pool, &w.trainer, &w.error);
        bench_timing timing = {0};
        if (status == WFRE_OK)
            timing = bench_measure(call, one_step, &w);
        if (timing.runs > 0) {
            report(call, &settings, &w, timing, wfre_pool_threads(pool));
            code = EXIT_DONE;
        }
    }
    if (code != EXIT_DONE && w.error.message[0])
        code = cli_fail(&w.error);
    wfre_trainer_free(w.trainer);
    wfre_pool_free(pool);
    wfre_graph_close(graph);
    return code;
}

const bench bench_train = {
    .name = "train",
    .about = "training steps, and where their time goes",
    .run = run,
};
