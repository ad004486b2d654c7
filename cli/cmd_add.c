/* wfre add: entities that came after training. */
#include <string.h>

#include "commands.h"

/* Graph and model belong together, but only one file can be replaced at a time: so what is written
 * must be other files than what is read. */
static int check_outputs(const cli_call *call, const wfre_add_options *options)
{
    int code = cli_keep_apart(call, options->graph, options->model);
    for (int i = 0; i < 3 && code == EXIT_DONE; i++) {
        code = cli_keep_apart(call, options->graph, cli_argument(call, i));
        if (code == EXIT_DONE)
            code = cli_keep_apart(call, options->model, cli_argument(call, i));
    }
    return code;
}

static void print_json(const wfre_addition *report)
{
    cli_print("{\"entities\":%u,\"triples\":%llu,\"literals\":%llu,\"blanks\":%llu,"
              "\"seconds\":%.3f}\n",
              report->entities, (unsigned long long)report->triples,
              (unsigned long long)report->literals, (unsigned long long)report->blanks,
              report->seconds);
}

static void print_report(const wfre_addition *report)
{
    cli_print("%s new %s, %s new triple%s; fitted in %.2f s\n", cli_thousands(report->entities),
              report->entities == 1 ? "entity" : "entities", cli_thousands(report->triples),
              report->triples == 1 ? "" : "s", report->seconds);
    if (report->literals + report->blanks > 0)
        printf("  left out for a literal or a blank node: %s\n",
               cli_thousands(report->literals + report->blanks));
}

static int run(const cli_call *call)
{
    wfre_add_options options;
    wfre_add_options_default(&options);
    options.triples = cli_argument(call, 2);
    options.format = cli_text(call, "format", NULL);
    int code = cli_literals(call, &options.literals);
    if (code != EXIT_DONE)
        return code;
    options.graph = cli_text(call, "out", NULL);
    options.model = cli_argument(call, 3);
    wfre_graph *graph = NULL;
    wfre_model *model = NULL;
    wfre_pool *pool = NULL;
    wfre_addition report;
    wfre_error error;
    if (!options.graph)
        return cli_usage(call, "say which files to write: -o G2.kg M2.safetensors");
    if (strcmp(options.model, "-") == 0)
        return cli_usage(call, "the model cannot go to standard output; name a file");
    code = check_outputs(call, &options);
    if (code == EXIT_DONE)
        code = cli_open_graph(cli_argument(call, 0), &graph);
    if (code != EXIT_DONE)
        return code;
    wfre_status status = cli_load_model(cli_argument(call, 1), &model, &error);
    if (status == WFRE_OK)
        status = wfre_pool_create((unsigned)cli_integer(call, "threads", 0), &pool, &error);
    if (status == WFRE_OK)
        status = wfre_add(graph, model, &options, pool, cli_monitor(), &report, &error);
    cli_progress_end();
    if (status != WFRE_OK)
        code = cli_fail(&error);
    else if (cli_has(call, "json"))
        print_json(&report);
    else
        print_report(&report);
    wfre_pool_free(pool);
    wfre_model_free(model);
    wfre_graph_close(graph);
    return code;
}

static const cli_option OPTIONS[] = {
    {"out", 'o', CLI_FILE, "G2.kg", "the graph to write", 0, 0},
    {"format", 0, CLI_TEXT, "F", "of the triples, as for wfre import (default auto)", 0, 0},
    CLI_OPTION_LITERALS,
    CLI_OPTION_THREADS,
    CLI_OPTION_JSON,
};

const cli_command command_add = {
    .name = "add",
    .arguments = "G.kg M.safetensors TRIPLES -o G2.kg M2.safetensors",
    .summary = "add entities after training, without training again",
    .details =
        "Each new entity gets a histogram fitted to its triples; all else stays as it was. The\n"
        "triples may come in any format that wfre import reads, and all count as known. Relations\n"
        "must be those the model was trained with.\n"
        "\n"
        "Example:\n"
        "  wfre add g.kg m.safetensors new.tsv -o g2.kg m2.safetensors\n",
    CLI_OPTIONS(OPTIONS),
    .minimum_arguments = 4,
    .maximum_arguments = 4,
    .run = run,
};
