/* Opening a graph for a command. */
#include "cli.h"

/* Comparing checksums reads the whole file: milliseconds up to here, seconds beyond. */
static const uint64_t VERIFY_LIMIT = (uint64_t)1 << 30;

int cli_open_graph(const char *path, wfre_graph **graph)
{
    wfre_error error;
    if (wfre_graph_open(path, graph, &error) != WFRE_OK)
        return cli_fail(&error);
    if (wfre_graph_bytes(*graph) > VERIFY_LIMIT || wfre_graph_verify(*graph, &error) == WFRE_OK)
        return EXIT_DONE;
    wfre_graph_close(*graph);
    *graph = NULL;
    cli_progress_end();
    fprintf(stderr, "wfre: %s: %s\n", path, error.message);
    return EXIT_FAILED;
}
