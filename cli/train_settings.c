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

/* A run from a model has its sizes. Refuses others, that is, what is neither the model's nor the
 * preset's, and tells the settings. */
static wfre_status take_sizes(const char *from, const wfre_model_settings *preset,
                              wfre_model_settings *settings, wfre_error *error)
{
    wfre_model *model = NULL;
    wfre_status status = wfre_model_open(from, &model, error);
    if (status != WFRE_OK)
        return status;
    wfre_model_settings sizes = *wfre_model_get_settings(model);
    wfre_model_free(model);
    if ((settings->dim != preset->dim && settings->dim != sizes.dim) ||
        (settings->bases != preset->bases && settings->bases != sizes.bases) ||
        (settings->layers != preset->layers && settings->layers != sizes.layers) ||
        (settings->members != preset->members && settings->members != sizes.members)) {
        (void)snprintf(error->message, sizeof error->message,
                       "--from %.400s: the model has dim %u, bases %u, layers %u and members %u; "
                       "leave out other sizes",
                       from, sizes.dim, sizes.bases, sizes.layers, sizes.members);
        return error->code = WFRE_ERR_ARGUMENT;
    }
    settings->dim = sizes.dim;
    settings->bases = sizes.bases;
    settings->layers = sizes.layers;
    settings->members = sizes.members;
    return WFRE_OK;
}

bool train_settings_named(const cli_call *call)
{
    static const char *const OTHERS[] = {"preset", "from", "set", "seed"};
    bool named = false;
    for (size_t i = 0; i < sizeof DIRECT / sizeof DIRECT[0]; i++)
        named = named || cli_has(call, DIRECT[i]);
    for (size_t i = 0; i < sizeof OTHERS / sizeof OTHERS[0]; i++)
        named = named || cli_has(call, OTHERS[i]);
    return named;
}

wfre_status train_settings(const cli_call *call, const wfre_graph *graph,
                           wfre_train_settings *settings, wfre_error *error)
{
    wfre_status status = wfre_train_preset(cli_text(call, "preset", NULL), graph, settings, error);
    const wfre_model_settings preset = settings->model;
    const char *from = cli_text(call, "from", NULL);
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
    if (status == WFRE_OK && from && !cli_has(call, "resume")) /* else the checkpoint counts */
        status = take_sizes(from, &preset, &settings->model, error);
    return status;
}
