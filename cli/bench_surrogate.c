/* How well the surrogate stands for the score, on histograms that were trained with it: for every
 * preset, some radii and lengths of block, and by how many candidates are left to the score. */
#include <stdio.h>

#include "bench.h"
#include "train_settings.h"

enum { QUERIES = 64 };

typedef struct setting {
    const char *name;
    double radius, power;
    uint32_t block;
} setting;

static const setting SETTINGS[] = {
    {"reference", 3.14159265358979, 2, 5},
    {"paper", 3, 1, 5},
    {"exact, radius 2", 2, WFRE_POWER_EXACT, 5},
    {"exact, radius 3", 3, WFRE_POWER_EXACT, 5},
    {"exact, radius 5", 5, WFRE_POWER_EXACT, 5},
    {"exact, radius 3, block 10", 3, WFRE_POWER_EXACT, 10},
    {"exact, radius 3, block 20", 3, WFRE_POWER_EXACT, 20},
};

static wfre_status train(const cli_call *call, const wfre_graph *graph, const setting *row,
                         wfre_pool *pool, wfre_trainer **trainer, wfre_error *error)
{
    const wfre_monitor *monitor = cli_monitor();
    wfre_train_settings s;
    wfre_status status = wfre_train_preset(cli_text(call, "preset", "base"), graph, &s, error);
    if (status == WFRE_OK)
        status = wfre_train_set(&s, "guide", "surrogate", error);
    s.rho_rule = WFRE_RHO_SPREAD;
    s.model.score.radius = row->radius;
    s.model.score.power = row->power;
    s.model.score.block = row->block;
    s.batch = (uint32_t)cli_integer(call, "batch", 512);
    s.steps = (uint64_t)cli_integer(call, "steps", 300);
    if (status == WFRE_OK)
        status = train_settings_named(call, &s, error);
    if (status == WFRE_OK)
        status = wfre_trainer_create(graph, &s, pool, trainer, error);
    while (status == WFRE_OK && !wfre_trainer_done(*trainer) &&
           !monitor->interrupted(monitor->context))
        status = wfre_trainer_step(*trainer, error);
    return status;
}

static wfre_status report(const cli_call *call, const setting *row, wfre_trainer *trainer,
                          wfre_error *error)
{
    static const uint32_t exact[] = {0, 16, 32, 64};
    wfre_guide_error found = {0};
    bench_begin(call, "surrogate");
    bench_text(call, "setting", row->name);
    for (size_t i = 0; i < sizeof exact / sizeof exact[0]; i++) {
        char key[32], about[80];
        wfre_status status = wfre_trainer_compare(trainer, QUERIES, exact[i], &found, error);
        if (status != WFRE_OK)
            return status;
        if (i == 0) {
            bench_number(call, "fit", found.fit, "R^2 of a block's value");
            bench_number(call, "slope", found.slope, "error of its derivative");
            bench_number(call, "gradient", found.gradient, "error of its gradient");
        }
        (void)snprintf(key, sizeof key, "questions_%u", exact[i]);
        (void)snprintf(about, sizeof about, "of the loss's gradient by questions, %u exact",
                       exact[i]);
        bench_number(call, key, found.questions, about);
        (void)snprintf(key, sizeof key, "entities_%u", exact[i]);
        bench_number(call, key, found.entities, "by entities");
    }
    bench_end(call);
    return WFRE_OK;
}

static int run(const cli_call *call)
{
    const wfre_monitor *monitor = cli_monitor();
    wfre_graph *graph = NULL;
    wfre_pool *pool = NULL;
    wfre_error error;
    wfre_status status = bench_graph(call, &graph, &error);
    if (status == WFRE_OK)
        status = wfre_pool_create((unsigned)cli_integer(call, "threads", 0), &pool, &error);
    for (size_t i = 0; i < sizeof SETTINGS / sizeof SETTINGS[0] && status == WFRE_OK; i++) {
        wfre_trainer *trainer = NULL;
        status = train(call, graph, &SETTINGS[i], pool, &trainer, &error);
        if (monitor->interrupted(monitor->context)) {
            wfre_trainer_free(trainer);
            break;
        }
        if (status == WFRE_OK)
            status = report(call, &SETTINGS[i], trainer, &error);
        wfre_trainer_free(trainer);
    }
    wfre_pool_free(pool);
    wfre_graph_close(graph);
    return status == WFRE_OK ? EXIT_DONE : cli_fail(&error);
}

const bench bench_surrogate = {
    .name = "surrogate",
    .about = "errors of the surrogate's gradient, and of the loss's, on trained histograms",
    .run = run,
};
