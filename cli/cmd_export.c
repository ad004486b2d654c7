/* wfre export: a model written again, smaller or readier, or a graph as RDF. */
#include <sys/stat.h>

#include "commands.h"

static int export_model(const cli_call *call, const char *path)
{
    wfre_model *model = NULL;
    wfre_error error;
    struct stat file;
    int code = EXIT_DONE;
    wfre_status status = cli_load_model(cli_argument(call, 0), &model, &error);
    if (status == WFRE_OK)
        status = cli_write_model(call, model, path, &error);
    if (status != WFRE_OK)
        code = cli_fail(&error);
    else if (stat(path, &file) == 0)
        printf("%s  %s bytes\n", cli_visible(path), cli_thousands((uint64_t)file.st_size));
    wfre_model_free(model);
    return code;
}

static int export_graph(const cli_call *call, const char *path)
{
    wfre_graph *graph = NULL;
    wfre_split split;
    wfre_error error;
    uint64_t triples = 0;
    int code = cli_split(call, WFRE_TEST, &split);
    if (code == EXIT_DONE)
        code = cli_keep_apart(call, path, cli_argument(call, 0));
    if (code != EXIT_DONE)
        return code;
    wfre_status status = wfre_graph_open(cli_argument(call, 0), &graph, &error);
    if (status == WFRE_OK)
        status = wfre_graph_export(graph, split, path, cli_text(call, "format", NULL),
                                   cli_monitor(), &triples, &error);
    wfre_graph_close(graph);
    if (status != WFRE_OK)
        return cli_fail(&error);
    cli_progress_end();
    fprintf(cli_summary_stream(call), "%s  %s triples\n", cli_visible(path),
            cli_thousands(triples));
    return EXIT_DONE;
}

/* A graph is told by its first bytes; whatever else is there, opening it as a model says so. A pipe
 * is not waited for. */
static bool is_graph(const char *path)
{
    unsigned char start[8];
    struct stat info;
    FILE *file = stat(path, &info) == 0 && S_ISREG(info.st_mode) ? fopen(path, "rb") : NULL;
    bool graph = file && fread(start, 1, sizeof start, file) == sizeof start &&
                 wfre_graph_recognises(start, sizeof start);
    if (file)
        (void)fclose(file);
    return graph;
}

static int run(const cli_call *call)
{
    const char *path = cli_text(call, "out", NULL);
    if (!path)
        return cli_usage(call, "say which file to write: -o M2.safetensors or -o G.nt");
    return is_graph(cli_argument(call, 0)) ? export_graph(call, path) : export_model(call, path);
}

static const cli_option OPTIONS[] = {
    {"out", 'o', CLI_FILE, "FILE", "the model or RDF file to write", 0, 0},
    {"bf16", 0, CLI_FLAG, NULL, "weights rounded to bfloat16, which halves them", 0, 0},
    {"format", 0, CLI_TEXT, "F", "of a graph: nt, ttl or nq (default: what FILE ends in)", 0, 0},
    {"split", 0, CLI_TEXT, "SPLIT", "of a graph: train, valid or test, which is all (default)", 0,
     0},
    CLI_OPTION_THREADS,
};

const cli_command command_export = {
    .name = "export",
    .arguments = "M.safetensors|G.kg -o FILE",
    .summary = "write a model again, smaller or prepared for questions, or a graph as RDF",
    .details =
        "A model that wfre train or wfre add wrote is prepared: it holds what a search among its\n"
        "entities reads. Models from elsewhere get that here, so that not every question has to\n"
        "make it anew.\n"
        "\n"
        "A graph is written as N-Triples or Turtle, with literals and blank nodes. Names that are\n"
        "no IRIs become some (see --base of wfre import).\n"
        "\n"
        "Examples:\n"
        "  wfre export m.safetensors -o small.safetensors --bf16\n"
        "  wfre export g.kg -o g.nt\n",
    CLI_OPTIONS(OPTIONS),
    .minimum_arguments = 1,
    .maximum_arguments = 1,
    .run = run,
};
