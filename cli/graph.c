/* Opening a graph for a command. */
#include "cli.h"

int cli_open_graph(const char *path, wfre_graph **graph)
{
    wfre_error error;
    return wfre_graph_open(path, graph, &error) == WFRE_OK ? EXIT_DONE : cli_fail(&error);
}
