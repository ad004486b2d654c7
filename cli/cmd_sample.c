/* wfre sample: a benchmark query set from a graph. */
#include <stdlib.h>
#include <string.h>

#include "commands.h"

static const char *const EDGES[] = {[WFRE_DRAW_QUESTIONS] = "questions",
                                    [WFRE_DRAW_FACTS] = "facts",
                                    [WFRE_DRAW_ANSWERS] = "answers"};

/* What the reports per type add up to. */
typedef struct summary {
    size_t wanted;
    bool betae; /* by that protocol */
    uint64_t queries;
    uint32_t listed; /* types that were reported */
    uint32_t types;  /* those with queries */
    uint32_t incomplete;
    bool edges; /* 1p was among them */
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
    s->edges = s->edges || strcmp(type->name, "1p") == 0;
    s->types += type->queries > 0;
    s->queries += type->queries;
    if (type->queries == s->wanted)
        return;
    s->incomplete++;
    cli_note("%s: only %s of %s queries found in %s attempts%s", type->name,
             cli_thousands(type->queries), cli_thousands(s->wanted), cli_thousands(type->attempts),
             s->betae && type->queries == 0 ? "; --protocol strict may find others" : "");
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
    summary s = {.wanted = options->count, .betae = options->protocol == WFRE_PROTOCOL_BETAE};
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
        fprintf(cli_summary_stream(call), "%s: %s queries of %u type%s, %s%s%s\n",
                cli_visible(output), cli_thousands(s.queries), s.types, s.types == 1 ? "" : "s",
                s.betae ? "as BetaE's are made" : "of which every branch matters",
                s.edges ? ", 1p over " : "", s.edges ? EDGES[options->edges] : "");
    free(types);
    return code;
}

/* How single edges are drawn. */
static int edges_of(const cli_call *call, wfre_edge_draw *edges)
{
    const char *text = cli_text(call, "edges", EDGES[WFRE_DRAW_QUESTIONS]);
    for (size_t i = 0; i < sizeof EDGES / sizeof EDGES[0]; i++)
        if (strcmp(text, EDGES[i]) == 0) {
            *edges = (wfre_edge_draw)i;
            return EXIT_DONE;
        }
    return cli_usage(call, "--edges is questions, facts or answers, not '%s'", text);
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
    const char *protocol = cli_text(call, "protocol", options.idle_branches ? "strict" : "betae");
    if (strcmp(protocol, "betae") == 0)
        options.protocol = WFRE_PROTOCOL_BETAE;
    else if (strcmp(protocol, "strict") != 0)
        return cli_usage(call, "--protocol is betae or strict, not '%s'", protocol);
    if (options.idle_branches && options.protocol != WFRE_PROTOCOL_STRICT)
        return cli_usage(call, "--idle-branches is of --protocol strict");
    code = edges_of(call, &options.edges);
    if (code != EXIT_DONE)
        return code;
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
    {"protocol", 0, CLI_TEXT, "NAME",
     "betae (the default): as published sets were made; or strict: every branch matters", 0, 0},
    {"edges", 0, CLI_TEXT, "OVER",
     "draw 1p over questions (the default, as published), facts or answers", 0, 0},
    {"idle-branches", 0, CLI_FLAG, NULL, "strict, but only negated branches need to matter", 0, 0},
    CLI_OPTION_SEED,
    CLI_OPTION_THREADS,
    CLI_OPTION_JSON,
};

const cli_command command_sample = {
    .name = "sample",
    .arguments = "G.kg -o Q.tsv",
    .summary = "make a benchmark query set with easy and hard answers",
    .details =
        "All queries are different, and each has an answer that the smaller graph (train for\n"
        "valid, train and valid for test) does not prove. They are as BetaE's published sets, so\n"
        "that results compare: two branches may be any that are not the same; a query with\n"
        "negation has an answer on the smaller graph that the larger one refutes; --cap counts\n"
        "the hard answers, and the refuted ones. With --protocol strict, leaving out any branch\n"
        "changes the answers, and --cap counts them all.\n"
        "\n"
        "Single edges (1p) are drawn over questions: pairs of an entity and a relation with\n"
        "something new, all equally likely. --edges facts draws facts that the split adds, all\n"
        "equally likely, and asks for one of their ends: close to what wfre eval G.kg M ranks.\n"
        "--edges answers starts from any entity, as all other types do; entities with few edges\n"
        "are then asked for most, and MRRs are about half.\n"
        "\n"
        "A type of which the graph has too few is given up after 100,000 attempts without a new\n"
        "query, and reported. The same seed gives the same set, on any number of threads.\n"
        "\n"
        "Examples:\n"
        "  wfre sample g.kg -o valid.tsv --split valid --count 500\n"
        "  wfre sample g.kg -o facts.tsv --types 1p --edges facts --seed 2\n"
        "  wfre sample g.kg -o efo1.tsv --set efo1 --count 20 --seed 7\n"
        "  wfre sample g.kg -o two.tsv --types '2in (i,(p,(e)),(u,(p,(e)),(p,(e))))'\n",
    CLI_OPTIONS(OPTIONS),
    .minimum_arguments = 1,
    .maximum_arguments = 1,
    .run = run,
};
