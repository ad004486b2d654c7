/* wfre convert: a checkpoint of the published PyTorch code as a model. */
#include <string.h>
#include <sys/stat.h>

#include "commands.h"
#include "train_settings.h"

static int run(const cli_call *call)
{
    const char *out = cli_text(call, "out", NULL), *preset = cli_text(call, "preset", NULL);
    wfre_graph *graph = NULL;
    wfre_model *model = NULL;
    wfre_train_settings settings;
    wfre_error error = {.code = WFRE_ERR_MEMORY, .message = "out of memory"};
    struct stat file;
    int code = EXIT_DONE;
    if (!out)
        return cli_usage(call, "say which file to write: -o M.safetensors");
    if (!preset || strncmp(preset, "paper-", 6) != 0)
        return cli_usage(call, "say with which configuration the model was trained, which a "
                               "checkpoint does not hold: --preset paper-fb15k-237, paper-nell, "
                               "paper-fb15k or paper-wn18rr");
    wfre_status status = wfre_graph_open(cli_argument(call, 0), &graph, &error);
    if (status == WFRE_OK)
        status = train_settings(call, graph, &settings, &error);
    if (status == WFRE_OK)
        status = wfre_model_convert(cli_argument(call, 1), graph, &settings.model, &model, &error);
    if (status == WFRE_OK)
        status = cli_write_model(call, model, out, &error);
    if (status != WFRE_OK)
        code = cli_fail(&error);
    else if (stat(out, &file) == 0)
        printf("%s: %s entities, dim %u, bases %u\n", out,
               cli_thousands(wfre_model_entities(model)), wfre_model_get_settings(model)->dim,
               wfre_model_get_settings(model)->bases);
    wfre_model_free(model);
    wfre_graph_close(graph);
    return code;
}

static const cli_option OPTIONS[] = {
    {"out", 'o', CLI_FILE, "FILE", "the model to write", 0, 0},
    {"preset", 0, CLI_TEXT, "NAME",
     "the configuration it was trained with: paper-fb15k-237, paper-nell, paper-fb15k or "
     "paper-wn18rr",
     0, 0},
    {"set", 0, CLI_REPEATED, "NAME=VALUE", "a setting of the model that was another", 0, 0},
    {"bf16", 0, CLI_FLAG, NULL, "weights rounded to bfloat16, which halves them", 0, 0},
    CLI_OPTION_THREADS,
};

const cli_command command_convert = {
    .name = "convert",
    .arguments = "G.kg STEP.ckpt -o M.safetensors --preset NAME",
    .summary = "turn a checkpoint of the published PyTorch code into a model",
    .details =
        "The checkpoint is read as data; nothing in it is executed. The graph must come from the\n"
        "same benchmark folder, so that entities and relations have the same numbers. Sizes and\n"
        "weights are the checkpoint's; what it does not hold (rho, radius, iterations, ...) is "
        "the\n"
        "preset's, or said by --set.\n"
        "\n"
        "Examples:\n"
        "  wfre convert nell.kg 240000.ckpt -o nell.safetensors --preset paper-nell\n"
        "  wfre convert g.kg 9000.ckpt -o m.safetensors --preset paper-fb15k-237 --set rho=100\n",
    CLI_OPTIONS(OPTIONS),
    .minimum_arguments = 2,
    .maximum_arguments = 2,
    .run = run,
};
