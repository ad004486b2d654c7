/* wfre sample: a benchmark query set from a graph. */
#include <stdlib.h>
#include <string.h>

#include "commands.h"

/* What the reports per type add up to. */
typedef struct summary {
    size_t wanted;
    uint64_t queries;
    uint32_t listed; /* types that were reported */
    uint32_t types;  /* those with queries */
    uint32_t incomplete;
    FILE *json; /* the types so far, or NULL */
} summary;

static void report_type(void *context, const wfre_benchmark_type *type)
{
    summary *s = context;
    if (s->json)
        fprintf(s->json, "%s{\"type\":\"%s\",\"queries\":%zu,\"attempts\":%llu}",
                s->listed ? "," : "", type->name, type->queries,
                (unsigned long long)type->attempts);
    s->listed++;
    s->types += type->queries > 0;
    s->queries += type->queries;
    if (type->queries == s->wanted)
        return;
    s->incomplete++;
    cli_note("%s: only %s of %s queries found in %s attempts", type->name,
             cli_thousands(type->queries), cli_thousands(s->wanted), cli_thousands(type->attempts));
}

/* A misspelt type is wrong usage; told before anything is written. */
static int check_types(const cli_call *call, const wfre_graph *graph,
                       const wfre_benchmark_options *options)
{
    wfre_sampler *sampler = NULL;
    wfre_error error;
    wfre_status status =
        wfre_sampler_create(graph, options->split, options->types, 0, 1, &sampler, &error);
    wfre_sampler_free(sampler);
    if (status == WFRE_OK)
        return EXIT_DONE;
    return status == WFRE_ERR_MEMORY ? cli_fail(&error)
                                     : cli_usage(call, "%s", cli_message(&error));
}

static int sample(const cli_call *call, const wfre_graph *graph,
                  const wfre_benchmark_options *options, const char *output)
{
    wfre_pool *pool = NULL;
    wfre_error error;
    double start = cli_clock();
    char *types = NULL;
    size_t length = 0;
    summary s = {.wanted = options->count};
    if (wfre_pool_create((unsigned)cli_integer(call, "threads", 0), &pool, &error) != WFRE_OK)
        return cli_fail(&error);
    if (cli_has(call, "json") && !(s.json = open_memstream(&types, &length))) {
        wfre_pool_free(pool);
        return cli_fail(&(wfre_error){.code = WFRE_ERR_MEMORY, .message = "out of memory"});
    }
    wfre_status status =
        wfre_benchmark_sample(graph, options, output, pool, cli_monitor(), report_type, &s, &error);
    wfre_pool_free(pool);
    bool written = s.json && fclose(s.json) == 0;
    int code = status == WFRE_OK ? EXIT_DONE : cli_fail(&error);
    cli_progress_end();
    if (code == EXIT_DONE && written)
        cli_print("{\"types\":[%s],\"queries\":%llu,\"incomplete\":%u,\"seconds\":%.3f}\n", types,
                  (unsigned long long)s.queries, s.incomplete, cli_clock() - start);
    else if (code == EXIT_DONE)
        fprintf(cli_summary_stream(call), "%s: %s queries of %u type%s\n", cli_visible(output),
                cli_thousands(s.queries), s.types, s.types == 1 ? "" : "s");
    free(types);
    return code;
}

static int run(const cli_call *call)
{
    const char *output = cli_text(call, "out", NULL);
    wfre_benchmark_options options = {
        .types = cli_text(call, "types", cli_text(call, "set", "betae")),
        .count = (size_t)cli_integer(call, "count", 1000),
        .cap = (size_t)cli_integer(call, "cap", 100),
        .seed = (uint64_t)cli_integer(call, "seed", 1),
        .idle_branches = cli_has(call, "idle-branches"),
    };
    int code = cli_split(call, WFRE_VALID, &options.split);
    if (code != EXIT_DONE)
        return code;
    if (options.split == WFRE_TRAIN)
        return cli_usage(call, "--split is valid or test; train has no hard answers");
    const char *protocol = cli_text(call, "protocol", "strict");
    if (strcmp(protocol, "betae") == 0)
        options.protocol = WFRE_PROTOCOL_BETAE;
    else if (strcmp(protocol, "strict") != 0)
        return cli_usage(call, "--protocol is strict or betae, not '%s'", protocol);
    if (!output)
        return cli_usage(call, "say where to write the queries: -o Q.tsv");
    if (cli_has(call, "json") && cli_summary_stream(call) != stdout)
        return cli_usage(call, "--json and -o - both write to standard output");
    code = cli_keep_apart(call, output, cli_argument(call, 0));
    if (code != EXIT_DONE)
        return code;
    wfre_graph *graph;
    wfre_error error;
    if (cli_load_graph(cli_argument(call, 0), &graph, &error) != WFRE_OK)
        return cli_fail(&error);
    code = check_types(call, graph, &options);
    if (code == EXIT_DONE)
        code = sample(call, graph, &options, output);
    wfre_graph_close(graph);
    return code;
}

static const cli_option OPTIONS[] = {
    {"out", 'o', CLI_TEXT, "Q.tsv", "the query set to write; - is standard output", 0, 0},
    {"split", 0, CLI_TEXT, "S", "valid or test (default valid)", 0, 0},
    {"types", 0, CLI_TEXT, "LIST", "such as 2p,3in or trees (default: all of --set)", 0, 0},
    {"set", 0, CLI_TEXT, "SET", "betae (14 types, the default) or efo1 (301 types)", 0, 0},
    {"count", 0, CLI_INTEGER, "N", "queries of each type (default 1000)", 1, 1e9},
    {"cap", 0, CLI_INTEGER, "N", "most answers a query may have, 0 for any (default 100)", 0, 4e9},
    {"protocol", 0, CLI_TEXT, "NAME", "strict (the default), or betae: as published sets were made",
     0, 0},
    {"idle-branches", 0, CLI_FLAG, NULL, "only negated branches need to matter, as in BetaE", 0, 0},
    CLI_OPTION_SEED,
    CLI_OPTION_THREADS,
    CLI_OPTION_JSON,
};

const cli_command command_sample = {
    .name = "sample",
    .arguments = "G.kg -o Q.tsv",
    .summary = "make a benchmark query set with easy and hard answers",
    .details =
        "Queries are grounded backwards from random answers, all entities equally likely, single\n"
        "edges (1p) too: so entities with few edges are asked for more often than by the triples\n"
        "of a split, which wfre eval G.kg M.safetensors ranks. All are different and have an "
        "answer\n"
        "that the smaller graph (train for valid, train and valid for test) does not prove;\n"
        "leaving out any branch changes the answers. A type of which the graph has too few is\n"
        "given up after 100,000 attempts without a new query, and reported.\n"
        "The same seed gives the same set, on any number of threads.\n"
        "\n"
        "With --protocol betae sets are as BetaE's were made, for comparison with published\n"
        "results: branches need only be different; a query with negation must have an answer on\n"
        "the smaller graph that the larger one refutes; --cap counts the hard answers, and the\n"
        "refuted ones; and 1p queries are any pairs of an entity and a relation.\n"
        "\n"
        "Examples:\n"
        "  wfre sample g.kg -o valid.tsv --split valid --count 500\n"
        "  wfre sample g.kg -o valid.tsv --protocol betae --seed 2\n"
        "  wfre sample g.kg -o efo1.tsv --set efo1 --count 20 --seed 7\n"
        "  wfre sample g.kg -o two.tsv --types '2in (i,(p,(e)),(u,(p,(e)),(p,(e))))'\n",
    CLI_OPTIONS(OPTIONS),
    .minimum_arguments = 1,
    .maximum_arguments = 1,
    .run = run,
};
