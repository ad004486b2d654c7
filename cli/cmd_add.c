/* wfre add: entities that came after training. */
#include <string.h>

#include "commands.h"

static int run(const cli_call *call)
{
    const char *output = cli_text(call, "out", NULL), *model_output = cli_argument(call, 3);
    wfre_graph *graph = NULL;
    wfre_model *model = NULL;
    wfre_pool *pool = NULL;
    wfre_addition report;
    wfre_error error;
    if (!output)
        return cli_usage(call, "-o G2.kg is missing");
    if (strcmp(model_output, cli_argument(call, 1)) == 0)
        return cli_usage(call, "%s: the model that is read cannot be replaced", model_output);
    int code = cli_open_graph(cli_argument(call, 0), &graph);
    if (code != EXIT_DONE)
        return code;
    double start = cli_clock();
    wfre_status status = wfre_model_open(cli_argument(call, 1), &model, &error);
    if (status == WFRE_OK)
        status = wfre_pool_create((unsigned)cli_integer(call, "threads", 0), &pool, &error);
    if (status == WFRE_OK)
        status = wfre_add(graph, model, cli_argument(call, 2), output, model_output, pool,
                          cli_monitor(), &report, &error);
    cli_progress_end();
    if (status != WFRE_OK)
        code = cli_fail(&error);
    else if (cli_has(call, "json"))
        printf("{\"entities\":%u,\"triples\":%llu,\"seconds\":%.3f}\n", report.entities,
               (unsigned long long)report.triples, cli_clock() - start);
    else
        printf("%s new entities, %s new triples\n", cli_thousands(report.entities),
               cli_thousands(report.triples));
    wfre_pool_free(pool);
    wfre_model_free(model);
    wfre_graph_close(graph);
    return code;
}

static const cli_option OPTIONS[] = {
    {"out", 'o', CLI_TEXT, "G2.kg", "the graph to write", 0, 0},
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
