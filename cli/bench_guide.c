/* A training step by each of the distances that may guide it, over as many candidates: the local
 * closed form, the surrogate of the score, the score itself. They take turns, so that a busy
 * machine is busy for all of them. */
#include <stdlib.h>
#include <string.h>

#include "bench.h"

enum { CANDIDATES = 2048, GUIDES = 3, MOST_ROUNDS = 1000, LEAST_ROUNDS = 3 };

static const char *const NAMES[GUIDES] = {"local", "surrogate", "score"};

typedef struct contest {
    wfre_trainer *trainers[GUIDES];
    double times[GUIDES][MOST_ROUNDS];
    double scoring[GUIDES]; /* seconds of the warm-up that are not measured */
    int rounds;
} contest;

static wfre_status set_up(const cli_call *call, const wfre_graph *graph, int guide, wfre_pool *pool,
                          wfre_trainer **trainer, wfre_error *error)
{
    wfre_train_settings s;
    wfre_status status = wfre_train_preset(cli_text(call, "preset", "base"), graph, &s, error);
    if (status == WFRE_OK)
        status = wfre_train_set(&s, "guide", NAMES[guide], error);
    if (status != WFRE_OK)
        return status;
    s.model.dim = (uint32_t)cli_integer(call, "dim", s.model.dim);
    s.model.bases = (uint32_t)cli_integer(call, "bases", s.model.bases);
    s.model.score.block = (uint32_t)cli_integer(call, "block", s.model.score.block);
    s.model.score.radius = (double)cli_integer(call, "window", 3);
    s.model.score.iterations = (uint32_t)cli_integer(call, "iterations", 10);
    s.batch = (uint32_t)cli_integer(call, "batch", 512);
    s.candidates = guide == 2 ? WFRE_CANDIDATES_OWN : WFRE_CANDIDATES_SHARED;
    s.negatives = CANDIDATES;
    s.positives = 1;
    s.steps = UINT64_MAX / 2;
    return wfre_trainer_create(graph, &s, pool, trainer, error);
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(contest *c, int guide)
{
    qsort(c->times[guide], (size_t)c->rounds, sizeof(double), compare);
    return c->times[guide][c->rounds / 2];
}

static wfre_status take_turns(const cli_call *call, contest *c, wfre_error *error)
{
    const wfre_monitor *monitor = cli_monitor();
    double end = cli_clock() + bench_seconds(call);
    for (int g = 0; g < GUIDES; g++) {
        wfre_status status = wfre_trainer_step(c->trainers[g], error); /* a warm-up */
        if (status != WFRE_OK)
            return status;
        c->scoring[g] = wfre_trainer_status(c->trainers[g]).time_scoring;
    }
    while (c->rounds < MOST_ROUNDS && (c->rounds < LEAST_ROUNDS || cli_clock() < end) &&
           !monitor->interrupted(monitor->context)) {
        for (int g = 0; g < GUIDES; g++) {
            double begin = cli_clock();
            wfre_status status = wfre_trainer_step(c->trainers[g], error);
            if (status != WFRE_OK)
                return status;
            c->times[g][c->rounds] = cli_clock() - begin;
        }
        c->rounds++;
    }
    return WFRE_OK;
}

static void report(const cli_call *call, contest *c, unsigned threads)
{
    double steps[GUIDES], scoring[GUIDES];
    for (int g = 0; g < GUIDES; g++) {
        double all = wfre_trainer_status(c->trainers[g]).time_scoring;
        steps[g] = median(c, g);
        scoring[g] = (all - c->scoring[g]) / c->rounds;
    }
    bench_begin(call, "guide");
    bench_number(call, "candidates", CANDIDATES, "candidates");
    bench_number(call, "threads", threads, "threads");
    bench_number(call, "seconds_local", steps[0], "seconds a step by the local form, median");
    bench_number(call, "seconds_surrogate", steps[1], "by the surrogate, with transport");
    bench_number(call, "seconds_score", steps[2], "by the score itself");
    bench_number(call, "scoring_local", scoring[0], "seconds of scoring a step, local, mean");
    bench_number(call, "scoring_surrogate", scoring[1], "surrogate");
    bench_number(call, "scoring_score", scoring[2], "score");
    bench_number(call, "over_local", steps[1] / steps[0], "times the local step");
    bench_number(call, "under_score", steps[2] / steps[1], "times faster than by the score");
    bench_end(call);
}

static int run(const cli_call *call)
{
    contest *c = calloc(1, sizeof *c);
    wfre_graph *graph = NULL;
    wfre_pool *pool = NULL;
    wfre_error error = {.code = WFRE_ERR_MEMORY, .message = "out of memory"};
    wfre_status status = c ? bench_graph(call, &graph, &error) : WFRE_ERR_MEMORY;
    if (status == WFRE_OK)
        status = wfre_pool_create((unsigned)cli_integer(call, "threads", 0), &pool, &error);
    for (int g = 0; g < GUIDES && status == WFRE_OK; g++)
        status = set_up(call, graph, g, pool, &c->trainers[g], &error);
    if (status == WFRE_OK)
        status = take_turns(call, c, &error);
    if (status == WFRE_OK && c->rounds > 0)
        report(call, c, wfre_pool_threads(pool));
    for (int g = 0; g < GUIDES && c; g++)
        wfre_trainer_free(c->trainers[g]);
    wfre_pool_free(pool);
    wfre_graph_close(graph);
    free(c);
    return status == WFRE_OK ? EXIT_DONE : cli_fail(&error);
}

const bench bench_guide = {
    .name = "guide",
    .about = "training steps by local form, surrogate and score, taking turns",
    .run = run,
};
