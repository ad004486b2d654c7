/* wfre find: entities and relations by a part of their name. */
#include <stdlib.h>
#include <string.h>

#include "commands.h"

enum { DEFAULT_TOP = 20, MOST = 100000 };

static wfre_name name_of(const wfre_graph *graph, const wfre_completion *item)
{
    return item->is_relation ? wfre_graph_relation_name(graph, item->id)
                             : wfre_graph_entity_name(graph, item->id);
}

static wfre_name label_of(const wfre_graph *graph, const wfre_completion *item)
{
    return item->is_relation ? wfre_graph_relation_label(graph, item->id)
                             : wfre_graph_entity_label(graph, item->id);
}

/* Kind, number of triples, label, name where that is another, description. */
static void print_line(const wfre_graph *graph, const wfre_completion *item)
{
    FILE *line = cli_line();
    fprintf(line, "%-8s %9s  ", item->is_relation ? "relation" : "entity",
            cli_thousands(item->count));
    if (item->is_relation) {
        cli_print_relation(line, graph, item->id);
    } else {
        cli_print_entity(line, graph, item->id);
        cli_print_description(line, wfre_graph_entity_description(graph, item->id));
    }
    cli_line_end();
}

static void print_object(const wfre_graph *graph, const wfre_completion *item)
{
    static const char *const MATCHES[] = {"exact", "prefix", "word", "part"};
    wfre_name name = name_of(graph, item), label = label_of(graph, item);
    printf("{\"kind\":\"%s\",\"id\":%u,\"name\":", item->is_relation ? "relation" : "entity",
           item->id);
    cli_print_json(stdout, name.bytes, name.length);
    printf(",\"label\":");
    cli_print_json(stdout, label.bytes, label.length);
    printf(",\"match\":\"%s\",\"triples\":%llu}\n", MATCHES[item->match],
           (unsigned long long)item->count);
}

static wfre_status find(const cli_call *call, const wfre_graph *graph, const char *text,
                        wfre_completion *items, size_t *count, wfre_error *error)
{
    wfre_engine *engine = NULL;
    wfre_complete_options options;
    wfre_complete_options_default(&options);
    options.entities = !cli_has(call, "relations");
    options.relations = !cli_has(call, "entities");
    wfre_status status = wfre_engine_open(graph, NULL, NULL, NULL, NULL, &engine, error);
    if (status == WFRE_OK)
        status = wfre_engine_complete(engine, text, strlen(text), &options, items,
                                      (size_t)cli_integer(call, "top", DEFAULT_TOP), count, error);
    wfre_engine_unref(engine);
    return status;
}

static int run(const cli_call *call)
{
    const char *text = cli_argument(call, 1);
    wfre_graph *graph = NULL;
    wfre_error error;
    size_t count = 0, top = (size_t)cli_integer(call, "top", DEFAULT_TOP);
    if (cli_has(call, "entities") && cli_has(call, "relations"))
        return cli_usage(call, "--entities and --relations leave nothing; give one of them");
    int code = cli_open_graph(cli_argument(call, 0), &graph);
    if (code != EXIT_DONE)
        return code;
    wfre_completion *items = malloc(top * sizeof *items);
    if (!items)
        code = cli_fail(&(wfre_error){.code = WFRE_ERR_MEMORY, .message = "out of memory"});
    else if (find(call, graph, text, items, &count, &error) != WFRE_OK)
        code = cli_fail(&error);
    for (size_t i = 0; i < count; i++)
        (cli_has(call, "json") ? print_object : print_line)(graph, &items[i]);
    fflush(stdout);
    if (code == EXIT_DONE && count == 0) {
        cli_note("nothing has %s in its name or label", text);
        code = EXIT_FAILED;
    } else if (code == EXIT_DONE && count == top && !cli_has(call, "json")) {
        cli_note("the first %zu are shown; --top shows more", top);
    }
    free(items);
    wfre_graph_close(graph);
    return code;
}

static const cli_option OPTIONS[] = {
    {"top", 0, CLI_INTEGER, "N", "at most N lines (default 20)", 1, MOST},
    {"entities", 0, CLI_FLAG, NULL, "entities only", 0, 0},
    {"relations", 0, CLI_FLAG, NULL, "relations only", 0, 0},
    CLI_OPTION_JSON,
};

const cli_command command_find = {
    .name = "find",
    .arguments = "G.kg TEXT",
    .summary = "find entities and relations by a part of their name",
    .details =
        "Names, labels and the last parts of IRIs are searched, whatever their case; a blank, _\n"
        "and - are the same. Exact names come first, then those that begin with the text, then\n"
        "those with a word that does, then the rest; among these the ones in most triples. A line\n"
        "has the kind, the number of triples, and the name as a question would have it. Nothing\n"
        "found is exit code 1.\n"
        "\n"
        "Examples:\n"
        "  wfre find g.kg spielberg\n"
        "  wfre find g.kg born --relations\n",
    CLI_OPTIONS(OPTIONS),
    .minimum_arguments = 2,
    .maximum_arguments = 2,
    .run = run,
};
