/* wfre sweep: trains and evaluates a model for each value of some settings. */
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "train_settings.h"

enum { MOST_AXES = 8, MOST_VALUES = 32, MOST_SEEDS = 32, MOST_TEXT = 512 };

typedef struct axes {
    wfre_sweep_axis list[MOST_AXES];
    const char *values[MOST_AXES][MOST_VALUES];
    char texts[MOST_AXES][MOST_TEXT]; /* "radius\0" "1\0" "2\0" ... */
} axes;

/* Takes NAME=V1,V2,... apart; EXIT_DONE, or EXIT_USAGE having said what is wrong. */
static int parse_axis(const cli_call *call, const char *vary, axes *a, size_t index)
{
    if (index == MOST_AXES)
        return cli_usage(call, "--vary %s: too many settings to vary", vary);
    char *text = a->texts[index], *at;
    (void)snprintf(text, MOST_TEXT, "%s", vary);
    at = strchr(text, '=');
    if (!at || strlen(vary) >= MOST_TEXT)
        return cli_usage(call, "--vary %s: expected NAME=VALUE,VALUE,...", vary);
    size_t count = 0;
    while (at && count < MOST_VALUES) {
        *at++ = '\0';
        a->values[index][count++] = at;
        at = strchr(at, ',');
    }
    a->list[index] = (wfre_sweep_axis){text, a->values[index], count};
    return at ? cli_usage(call, "--vary %s: too many values", vary) : EXIT_DONE;
}

static void say(void *context, const char *line)
{
    (void)context;
    wfre_error message = {.code = WFRE_OK};
    (void)snprintf(message.message, sizeof message.message, "%s", line);
    cli_note("%s", cli_message(&message)); /* it may name settings, as errors do */
}

static wfre_status report(const cli_call *call, const wfre_sweep *sweep, wfre_error *error)
{
    size_t count;
    const wfre_sweep_panel *panels = wfre_sweep_panels(sweep, &count);
    const char *folder = cli_text(call, "out", NULL);
    wfre_report_format format = cli_has(call, "json")  ? WFRE_REPORT_JSON
                                : cli_has(call, "csv") ? WFRE_REPORT_CSV
                                                       : WFRE_REPORT_TABLE;
    char *text = NULL;
    cli_progress_end();
    wfre_status status = wfre_sweep_print(panels, count, format, &text, error);
    if (status == WFRE_OK) {
        fputs(text, stdout);
        status = wfre_sweep_write(panels, count, cli_text(call, "title", NULL), folder, error);
    }
    if (status == WFRE_OK)
        cli_note("%s/sweep.html written", folder);
    wfre_string_free(text);
    return status;
}

static int sweep_all(const cli_call *call, wfre_sweep_options *options)
{
    wfre_error error;
    wfre_graph *graph = NULL;
    wfre_queryset *queries = NULL;
    wfre_pool *pool = NULL;
    wfre_sweep *sweep = NULL;
    wfre_status status = cli_load_graph(cli_argument(call, 0), &graph, &error);
    if (status == WFRE_OK)
        status = train_settings(call, graph, &options->settings, &error);
    if (status == WFRE_OK)
        status = wfre_queryset_open(cli_argument(call, 1), graph, &queries, &error);
    if (status == WFRE_OK)
        status = wfre_pool_create((unsigned)cli_integer(call, "threads", 0), &pool, &error);
    if (status == WFRE_OK)
        status = wfre_sweep_run(graph, queries, options, pool, cli_monitor(), &sweep, &error);
    if (status == WFRE_OK)
        status = report(call, sweep, &error);
    wfre_sweep_free(sweep);
    wfre_pool_free(pool);
    wfre_queryset_close(queries);
    wfre_graph_close(graph);
    if (status == WFRE_ERR_INTERRUPTED)
        cli_note("the same command goes on where this one stopped");
    return status == WFRE_OK ? EXIT_DONE : cli_fail(&error);
}

static int run(const cli_call *call)
{
    if (!cli_has(call, "vary") && !cli_has(call, "seeds"))
        return cli_usage(call, "say what to vary, such as --vary radius=1,2,3,4 or --seeds 4");
    if (!cli_has(call, "out"))
        return cli_usage(call, "say where to keep the runs: -o DIR");
    axes *a = calloc(1, sizeof *a);
    if (!a)
        return cli_fail(&(wfre_error){.code = WFRE_ERR_MEMORY, .message = "out of memory"});
    wfre_sweep_options options = {
        .folder = cli_text(call, "out", NULL),
        .from = cli_text(call, "from", NULL),
        .axes = a->list,
        .seeds = (unsigned)cli_integer(call, "seeds", 1),
        .calibrate = (uint32_t)cli_integer(call, "calibrate", CALIBRATION_QUERIES),
        .say = say,
    };
    int code = EXIT_DONE;
    const char *vary;
    while (code == EXIT_DONE &&
           (vary = cli_repeated(call, "vary", (int)options.axis_count)) != NULL)
        code = parse_axis(call, vary, a, options.axis_count++);
    if (code == EXIT_DONE)
        code = sweep_all(call, &options);
    free(a);
    return code;
}

static const cli_option OPTIONS[] = {
    {"vary", 0, CLI_REPEATED, "NAME=V,V,..", "a setting and its values; may be repeated", 0, 0},
    {"out", 'o', CLI_TEXT, "DIR", "folder for models and reports", 0, 0},
    {"seeds", 0, CLI_INTEGER, "N", "runs of each value, with seeds from --seed on (default 1)", 1,
     MOST_SEEDS},
    {"preset", 0, CLI_TEXT, "NAME", "the settings that are not varied (see wfre train)", 0, 0},
    {"set", 0, CLI_REPEATED, "NAME=VALUE", "any other setting; may be repeated", 0, 0},
    {"from", 0, CLI_TEXT, "FILE", "start each run with the weights (and the sizes) of this model",
     0, 0},
    {"time", 0, CLI_DURATION, "TIME", "length of each training run, such as 10m", 0, 0},
    {"steps", 0, CLI_INTEGER, "N", "length of each training run in steps", 1, 1e15},
    {"calibrate", 0, CLI_INTEGER, "N",
     "queries of each type for what each run fits at its end (default 200)", 1, 1e6},
    {"title", 0, CLI_TEXT, "TEXT", "title of the page", 0, 0},
    CLI_OPTION_SEED,
    {"csv", 0, CLI_FLAG, NULL, "print CSV", 0, 0},
    CLI_OPTION_JSON,
    CLI_OPTION_THREADS,
};

const cli_command command_sweep = {
    .name = "sweep",
    .arguments = "G.kg Q.tsv -o DIR",
    .summary = "train and evaluate a model for each value of some settings",
    .details =
        "One setting is varied at a time while the others stand. Prints a table for each setting\n"
        "and writes sweep.html, sweep.csv, sweep.json and a figure NAME.svg for each setting into\n"
        "the folder. What the folder holds is not done again: the same command goes on after an\n"
        "interruption, and more values or seeds can be added later. Each run fits its lifts, and\n"
        "how it answers by edges, as wfre train does; --set lift=no --set edges=no leave that "
        "out.\n\n"
        "Examples:\n"
        "  wfre sweep G.kg valid.tsv -o local-global --vary radius=1,2,3,5 --vary block=2,5,10 \\\n"
        "      --set radius=3 --set guide=staged --time 10m\n"
        "  wfre sweep G.kg valid.tsv -o scores --vary score=wfr,hellinger,kl,l2,wasserstein \\\n"
        "      --set guide=staged --time 10m\n"
        "  wfre sweep G.kg valid.tsv -o tuned --from M.safetensors --vary radius=1,2,3 \\\n"
        "      --set guide=staged --set stage=0 --steps 1000\n"
        "  wfre sweep G.kg valid.tsv -o seeds --seeds 4 --time 10m\n",
    CLI_OPTIONS(OPTIONS),
    .minimum_arguments = 2,
    .maximum_arguments = 2,
    .run = run,
};
