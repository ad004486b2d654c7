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

wfre_status train_settings(const cli_call *call, const wfre_graph *graph,
                           wfre_train_settings *settings, wfre_error *error)
{
    wfre_status status = wfre_train_preset(cli_text(call, "preset", NULL), graph, settings, error);
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
