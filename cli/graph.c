/* Opening a graph or a model for a command. */
#include "cli.h"

/* Comparing checksums reads the whole file: milliseconds up to here, seconds beyond. */
static const uint64_t VERIFY_LIMIT = (uint64_t)1 << 30;

wfre_status cli_load_graph(const char *path, wfre_graph **graph, wfre_error *error)
{
    wfre_graph *opened;
    wfre_error damage;
    wfre_status status = wfre_graph_open(path, &opened, error);
    if (status != WFRE_OK)
        return status;
    if (wfre_graph_bytes(opened) <= VERIFY_LIMIT)
        status = wfre_graph_verify(opened, &damage);
    if (status == WFRE_OK) {
        *graph = opened;
        return WFRE_OK;
    }
    wfre_graph_close(opened);
    *error = damage;
    (void)snprintf(error->message, sizeof error->message, "%s: %.800s", path, damage.message);
    return status;
}

int cli_open_graph(const char *path, wfre_graph **graph)
{
    wfre_error error;
    return cli_load_graph(path, graph, &error) == WFRE_OK ? EXIT_DONE : cli_fail(&error);
}

wfre_status cli_load_model(const char *path, wfre_model **model, wfre_error *error)
{
    wfre_status status = wfre_model_open(path, model, error);
    if (status == WFRE_OK && wfre_model_unfinished(*model))
        cli_note("%s: a half-trained model, of a run that has not ended", path);
    return status;
}
