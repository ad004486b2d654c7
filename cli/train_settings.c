/* Training settings from the command line. */
#include "train_settings.h"

#include <string.h>

/* Options that are settings of the same name. */
static const char *const DIRECT[] = {"dim",  "bases", "batch", "negatives",
                                     "loss", "guide", "rho",   "precision"};

/* Applies one NAME=VALUE. */
static wfre_status apply_pair(wfre_train_settings *settings, const char *pair, wfre_error *error)
{
    const char *equals = strchr(pair, '=');
    char name[64];
    if (!equals || (size_t)(equals - pair) >= sizeof name) {
        error->code = WFRE_ERR_ARGUMENT;
        (void)snprintf(error->message, sizeof error->message, "--set %s: expected NAME=VALUE",
                       pair);
        return WFRE_ERR_ARGUMENT;
    }
    memcpy(name, pair, (size_t)(equals - pair));
    name[equals - pair] = '\0';
    return wfre_train_set(settings, name, equals + 1, error);
}

/* A run from a model has its sizes. */
static wfre_status take_sizes(const char *from, const wfre_train_settings *preset,
                              wfre_train_settings *settings, wfre_error *error)
{
    wfre_model *model = NULL;
    wfre_status status = wfre_model_open(from, &model, error);
    if (status == WFRE_ERR_NOT_FOUND)
        return error->code = WFRE_ERR_IO; /* a missing file is no misspelt setting */
    if (status == WFRE_OK)
        status = wfre_train_take_sizes(settings, preset, wfre_model_get_settings(model), error);
    wfre_model_free(model);
    return status;
}

/* The settings that the command line names, its length included. */
static wfre_status apply_named(const cli_call *call, wfre_train_settings *settings,
                               wfre_error *error)
{
    wfre_status status = WFRE_OK;
    for (size_t i = 0; status == WFRE_OK && i < sizeof DIRECT / sizeof DIRECT[0]; i++)
        if (cli_has(call, DIRECT[i]))
            status = wfre_train_set(settings, DIRECT[i], cli_text(call, DIRECT[i], ""), error);
    for (int i = 0; status == WFRE_OK && cli_repeated(call, "set", i); i++)
        status = apply_pair(settings, cli_repeated(call, "set", i), error);
    if (cli_has(call, "seed"))
        settings->seed = (uint64_t)cli_integer(call, "seed", 1);
    if (cli_has(call, "time")) {
        settings->seconds = cli_duration(call, "time", 0);
        settings->steps = 0;
    }
    if (cli_has(call, "steps"))
        settings->steps = (uint64_t)cli_integer(call, "steps", 0);
    return status;
}

wfre_status train_settings_resumed(const cli_call *call, const char *model,
                                   wfre_train_settings *settings, wfre_error *error)
{
    wfre_train_settings before;
    wfre_status status = wfre_train_resumed_settings(model, &before, error);
    if (status != WFRE_OK)
        return status;
    *settings = before;
    status = apply_named(call, settings, error);
    before.steps = settings->steps; /* the length may change */
    before.seconds = settings->seconds;
    for (size_t i = 0; status == WFRE_OK && i < wfre_train_setting_count(); i++) {
        wfre_setting_text was = wfre_train_setting(&before, i);
        wfre_setting_text is = wfre_train_setting(settings, i);
        if (strcmp(was.value, is.value) == 0)
            continue;
        (void)snprintf(error->message, sizeof error->message,
                       "%s is %s in the interrupted run, not %s; a resumed run keeps its settings",
                       was.name, was.value, is.value);
        status = error->code = WFRE_ERR_ARGUMENT;
    }
    return status;
}

wfre_status train_settings(const cli_call *call, const wfre_graph *graph,
                           wfre_train_settings *settings, wfre_error *error)
{
    wfre_status status = wfre_train_preset(cli_text(call, "preset", NULL), graph, settings, error);
    const wfre_train_settings preset = *settings;
    const char *from = cli_text(call, "from", NULL);
    if (status == WFRE_OK)
        status = apply_named(call, settings, error);
    if (status == WFRE_OK && from)
        status = take_sizes(from, &preset, settings, error);
    return status;
}
