/* wfre eval: how well hard answers are ranked, as tables for people and machines. */
#include <stdlib.h>

#include "commands.h"

/* What is evaluated, and the results so far. */
typedef struct job {
    const cli_call *call;
    wfre_graph *graph;
    wfre_pool *pool;
    const char *queries;
    wfre_eval_options options;
    wfre_evaluation **results;
    size_t count;
} job;

static wfre_status evaluate_all(job *j, wfre_error *error)
{
    wfre_status status = cli_load_graph(cli_argument(j->call, 0), &j->graph, error);
    if (status == WFRE_OK)
        status = wfre_pool_create((unsigned)cli_integer(j->call, "threads", 0), &j->pool, error);
    const char *scores;
    for (int k = 0; status == WFRE_OK && (scores = cli_repeated(j->call, "scores", k)); k++) {
        status = wfre_evaluate_scores(j->graph, j->queries, scores, &j->options, j->pool,
                                      cli_monitor(), &j->results[j->count], error);
        j->count += status == WFRE_OK;
    }
    return status;
}

static wfre_status report_all(const job *j, wfre_error *error)
{
    const wfre_evaluation *const *results = (const wfre_evaluation *const *)j->results;
    wfre_report_options options = {
        .title = cli_text(j->call, "title", NULL),
        .log = cli_text(j->call, "log", NULL),
        .repeats = cli_has(j->call, "repeats"),
    };
    wfre_report_format format = cli_has(j->call, "json")  ? WFRE_REPORT_JSON
                                : cli_has(j->call, "csv") ? WFRE_REPORT_CSV
                                                          : WFRE_REPORT_TABLE;
    cli_progress_end();
    wfre_status status = wfre_report_print(results, j->count, &options, format, stdout, error);
    const char *folder = cli_text(j->call, "report", NULL);
    if (status == WFRE_OK && folder) {
        status = wfre_report_write(results, j->count, &options, folder, error);
        if (status == WFRE_OK)
            cli_note("%s/report.html written", folder);
    }
    return status;
}

static int run(const cli_call *call)
{
    job j = {.call = call, .queries = cli_argument(call, cli_argument_count(call) - 1)};
    size_t wanted = 0;
    while (cli_repeated(call, "scores", (int)wanted))
        wanted++;
    if (wanted == 0)
        return cli_usage(call, "say what to evaluate: --scores FILE");
    wfre_eval_options_default(&j.options);
    j.options.bootstrap = (uint32_t)cli_integer(call, "bootstrap", j.options.bootstrap);
    j.options.seed = (uint64_t)cli_integer(call, "seed", 1);
    wfre_error error = {.code = WFRE_ERR_MEMORY, .message = "out of memory"};
    j.results = calloc(wanted, sizeof *j.results);
    wfre_status status = j.results ? evaluate_all(&j, &error) : WFRE_ERR_MEMORY;
    if (status == WFRE_OK)
        status = report_all(&j, &error);
    for (size_t i = 0; i < j.count; i++)
        wfre_evaluation_free(j.results[i]);
    free(j.results);
    wfre_pool_free(j.pool);
    wfre_graph_close(j.graph);
    return status == WFRE_OK ? EXIT_DONE : cli_fail(&error);
}

static const cli_option OPTIONS[] = {
    {"scores", 0, CLI_REPEATED, "FILE", "evaluate scores from a file; may be repeated", 0, 0},
    {"report", 0, CLI_TEXT, "DIR", "write report.html, results.csv and results.json there", 0, 0},
    {"title", 0, CLI_TEXT, "TEXT", "title of the report", 0, 0},
    {"log", 0, CLI_TEXT, "FILE", "training log whose learning curve the report shows", 0, 0},
    {"repeats", 0, CLI_FLAG, NULL, "runs differ in the seed alone: add mean and deviation", 0, 0},
    {"bootstrap", 0, CLI_INTEGER, "N", "resamplings for the intervals (default 1000)", 1, 1e6},
    CLI_OPTION_SEED,
    {"csv", 0, CLI_FLAG, NULL, "print CSV", 0, 0},
    CLI_OPTION_JSON,
    CLI_OPTION_THREADS,
};

const cli_command command_eval = {
    .name = "eval",
    .arguments = "G.kg Q.tsv",
    .summary = "rank the hard answers of a query set: MRR and Hits@k by type and group",
    .details =
        "Every hard answer is ranked against all entities that are not answers; ties count half.\n"
        "MRR and Hits are averaged over a query's hard answers, then over a type's queries, then\n"
        "over the types of a group: A_P without negation, A_N with, A_p paths, A_l the other "
        "types\n"
        "without negation.\n\n"
        "A file of scores has lines 'query <TAB> entity <TAB> score', higher is better, or\n"
        "'query <TAB> entity', best first. Queries are counted from 0 as they stand in Q.tsv,\n"
        "entities are ids; the lines of a query stand together. Entities not listed tie for the\n"
        "last place.\n\n"
        "Examples:\n"
        "  wfre eval G.kg valid.tsv --scores theirs.tsv\n"
        "  wfre eval G.kg valid.tsv --scores a.tsv --scores b.tsv --report comparison\n",
    CLI_OPTIONS(OPTIONS),
    .minimum_arguments = 2,
    .maximum_arguments = 2,
    .run = run,
};
