/* wfre queries: the published query pickles of a BetaE folder as a query set. */
#include <string.h>

#include "commands.h"

static void print_report(const cli_call *call, const wfre_conversion *report, double seconds)
{
    bool verified = cli_has(call, "verify");
    if (cli_has(call, "json")) {
        printf("{\"queries\":%llu,\"types\":%u", (unsigned long long)report->queries,
               report->types);
        if (verified)
            printf(",\"differ\":%llu", (unsigned long long)report->differ);
        cli_print(",\"seconds\":%.3f}\n", seconds);
        return;
    }
    FILE *stream = cli_summary_stream(call);
    fprintf(stream, "%s queries of %u type%s", cli_thousands(report->queries), report->types,
            report->types == 1 ? "" : "s");
    if (verified)
        fprintf(stream, ", %s differ", cli_thousands(report->differ));
    fprintf(stream, "\n");
    fflush(stream);
}

static int run(const cli_call *call)
{
    wfre_convert_options options = {.prefix = cli_text(call, "prefix", NULL),
                                    .verify = cli_has(call, "verify")};
    const char *output = cli_text(call, "out", NULL);
    int code = cli_split(call, WFRE_VALID, &options.split);
    if (code != EXIT_DONE)
        return code;
    if (options.verify && options.split == WFRE_TRAIN)
        return cli_usage(call, "training queries have no hard answers to verify");
    if (!output && !options.verify)
        return cli_usage(call, "say where to write the queries: -o Q.tsv");
    if (cli_has(call, "json") && cli_summary_stream(call) != stdout)
        return cli_usage(call, "--json and -o - both write to standard output");
    wfre_pool *pool = NULL;
    wfre_conversion report;
    wfre_error error;
    double start = cli_clock();
    wfre_status status = wfre_pool_create((unsigned)cli_integer(call, "threads", 0), &pool, &error);
    if (status == WFRE_OK)
        status = wfre_queries_convert(cli_argument(call, 0), &options, output, pool, cli_monitor(),
                                      &report, &error);
    wfre_pool_free(pool);
    if (status != WFRE_OK)
        return cli_fail(&error);
    cli_progress_end();
    print_report(call, &report, cli_clock() - start);
    if (report.differ == 0)
        return EXIT_DONE;
    cli_note("wfre: the published answers are not those of the folder's triples, first for query "
             "%s%s",
             report.example, output ? "; nothing was written" : "");
    return EXIT_FAILED;
}

static const cli_option OPTIONS[] = {
    {"out", 'o', CLI_TEXT, "Q.tsv", "the query set to write; - is standard output", 0, 0},
    {"split", 0, CLI_TEXT, "S", "whose queries: train, valid or test (default valid)", 0, 0},
    {"prefix", 0, CLI_TEXT, "NAME", "of the pickles' names (default: the split)", 0, 0},
    {"verify", 0, CLI_FLAG, NULL, "recompute all answers; fail if any differ", 0, 0},
    CLI_OPTION_THREADS,
    CLI_OPTION_JSON,
};

const cli_command command_queries = {
    .name = "queries",
    .arguments = "BETAE_DIR -o Q.tsv",
    .summary = "convert the published query pickles of a benchmark folder",
    .details =
        "Reads NAME-queries.pkl, NAME-easy-answers.pkl and NAME-hard-answers.pkl, NAME being the\n"
        "split or what --prefix says. Pickles are read as data; nothing in them is executed.\n"
        "--verify answers every query on the folder's triples: easy answers on the smaller graph\n"
        "(train for valid), hard ones as those the split adds. With it, -o may be left out.\n"
        "\n"
        "Examples:\n"
        "  wfre queries WN18RR-QA --split valid -o valid.tsv --verify\n"
        "  wfre queries FB15k-237-betae --split test --prefix test500 -o test500.tsv\n",
    CLI_OPTIONS(OPTIONS),
    .minimum_arguments = 1,
    .maximum_arguments = 1,
    .run = run,
};
