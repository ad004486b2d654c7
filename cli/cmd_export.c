/* wfre export: a model written again, smaller or readier. */
#include <sys/stat.h>

#include "commands.h"

static int run(const cli_call *call)
{
    const char *path = cli_text(call, "out", NULL);
    wfre_model *model = NULL;
    wfre_pool *pool = NULL;
    wfre_error error;
    struct stat file;
    int code = EXIT_DONE;
    if (!path)
        return cli_usage(call, "say which file to write: -o M2.safetensors");
    wfre_status status = cli_load_model(cli_argument(call, 0), &model, &error);
    if (status == WFRE_OK)
        status = wfre_pool_create((unsigned)cli_integer(call, "threads", 0), &pool, &error);
    if (status == WFRE_OK)
        status = wfre_model_prepare(model, pool, &error);
    if (status == WFRE_OK)
        status = wfre_model_save(model, path, cli_has(call, "bf16"), &error);
    if (status != WFRE_OK)
        code = cli_fail(&error);
    else if (stat(path, &file) == 0)
        printf("%s  %s bytes\n", cli_visible(path), cli_thousands((uint64_t)file.st_size));
    wfre_pool_free(pool);
    wfre_model_free(model);
    return code;
}

static const cli_option OPTIONS[] = {
    {"out", 'o', CLI_FILE, "FILE", "the model to write", 0, 0},
    {"bf16", 0, CLI_FLAG, NULL, "weights rounded to bfloat16, which halves them", 0, 0},
    CLI_OPTION_THREADS,
};

const cli_command command_export = {
    .name = "export",
    .arguments = "M.safetensors -o M2.safetensors",
    .summary = "write a model again: smaller, or prepared for questions",
    .details =
        "A model that wfre train or wfre add wrote is prepared: it holds what a search among its\n"
        "entities reads. Models from elsewhere get that here, so that not every question has to\n"
        "make it anew.\n"
        "\n"
        "Example:\n"
        "  wfre export m.safetensors -o small.safetensors --bf16\n",
    CLI_OPTIONS(OPTIONS),
    .minimum_arguments = 1,
    .maximum_arguments = 1,
    .run = run,
};
