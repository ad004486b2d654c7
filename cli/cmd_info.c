/* wfre info: what a file holds; without a file, what this build and machine offer. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "commands.h"
#include "info.h"

static int describe_machine(const cli_call *call)
{
    bool json = cli_has(call, "json");
    wfre_isa chosen;
    wfre_error error;
    wfre_status status = wfre_isa_select(&chosen, &error);
    const char *separator = json ? "\"" : " ";
    printf(json ? "{\"version\":\"%s\",\"commit\":\"%s\",\"instruction_sets\":["
                : "wfre %s (%s)\ninstruction sets:",
           wfre_version(), wfre_commit());
    for (int isa = WFRE_ISA_REFERENCE; isa <= WFRE_ISA_AMX; isa++)
        if (wfre_isa_available((wfre_isa)isa)) {
            printf("%s%s%s", separator, wfre_isa_name((wfre_isa)isa), json ? "\"" : "");
            separator = json ? ",\"" : " ";
        }
    const char *kernels = status == WFRE_OK ? wfre_isa_name(chosen) : "none";
    printf(json ? "],\"kernels\":\"%s\"}\n" : "\nkernels in use:   %s\n", kernels);
    return status == WFRE_OK ? EXIT_DONE : cli_fail(&error);
}

/* ---- graphs ------------------------------------------------------------------------------- */

typedef struct relation_row {
    wfre_relation relation;
    uint64_t triples;
    uint64_t heads, tails;
    wfre_hierarchy hierarchy;
} relation_row;

typedef struct graph_facts {
    const char *path;
    const wfre_graph *graph;
    wfre_split split;
    wfre_degrees degrees;
    relation_row *rows; /* most triples first */
    uint32_t row_count;
    bool with_hierarchy;
} graph_facts;

static int most_triples_first(const void *a, const void *b)
{
    const relation_row *x = a, *y = b;
    if (x->triples != y->triples)
        return x->triples < y->triples ? 1 : -1;
    return x->relation > y->relation ? 1 : -1;
}

static wfre_status measure_hierarchy(graph_facts *facts, const cli_call *call, wfre_error *error)
{
    wfre_pool *pool = NULL;
    wfre_status status = wfre_pool_create((unsigned)cli_integer(call, "threads", 0), &pool, error);
    const wfre_monitor *monitor = cli_monitor();
    for (uint32_t i = 0; i < facts->row_count && status == WFRE_OK; i++) {
        wfre_progress progress = {"measuring relations", i, facts->row_count, NULL, false};
        monitor->report(monitor->context, &progress);
        if (monitor->interrupted(monitor->context)) {
            *error = (wfre_error){.code = WFRE_ERR_INTERRUPTED, .message = "interrupted"};
            status = WFRE_ERR_INTERRUPTED;
        } else {
            status = wfre_graph_hierarchy(facts->graph, facts->split, facts->rows[i].relation,
                                          (uint32_t)cli_integer(call, "triangles", 0),
                                          (uint64_t)cli_integer(call, "seed", 1), pool,
                                          &facts->rows[i].hierarchy, error);
        }
    }
    wfre_pool_free(pool);
    return status;
}

static wfre_status collect(graph_facts *facts, const cli_call *call, wfre_error *error)
{
    const wfre_graph *graph = facts->graph;
    facts->row_count = wfre_graph_relations(graph) / 2;
    facts->rows = calloc(facts->row_count ? facts->row_count : 1, sizeof *facts->rows);
    if (!facts->rows) {
        *error = (wfre_error){.code = WFRE_ERR_MEMORY, .message = "out of memory"};
        return WFRE_ERR_MEMORY;
    }
    for (uint32_t i = 0; i < facts->row_count; i++)
        facts->rows[i] = (relation_row){
            .relation = 2 * i,
            .triples = wfre_graph_relation_triples(graph, facts->split, 2 * i),
            .heads = wfre_graph_sources(graph, facts->split, 2 * i).count,
            .tails = wfre_graph_sources(graph, facts->split, 2 * i + 1).count,
        };
    qsort(facts->rows, facts->row_count, sizeof *facts->rows, most_triples_first);
    wfre_status status = wfre_graph_degrees(graph, facts->split, &facts->degrees, error);
    if (status == WFRE_OK && facts->with_hierarchy)
        status = measure_hierarchy(facts, call, error);
    return status;
}

static uint64_t added_triples(const wfre_graph *graph, int split)
{
    uint64_t before = split > 0 ? wfre_graph_triples(graph, (wfre_split)(split - 1)) : 0;
    return wfre_graph_triples(graph, (wfre_split)split) - before;
}

/* "prefixes   ex: http://x/, ...", a line each. */
static void print_prefixes(const wfre_graph *graph)
{
    wfre_name prefix, iri;
    for (size_t i = 0; wfre_graph_prefix(graph, i, &prefix, &iri); i++) {
        printf(i == 0 ? "prefixes   " : "           ");
        cli_print_name(stdout, prefix.bytes, prefix.length);
        printf(": ");
        cli_print_name(stdout, iri.bytes, iri.length);
        printf("\n");
    }
}

static void print_graph(const graph_facts *facts)
{
    const wfre_graph *graph = facts->graph;
    const wfre_degrees *degrees = &facts->degrees;
    printf("%s: graph snapshot, %s bytes, fingerprint %016llx\n", cli_visible(facts->path),
           cli_thousands(wfre_graph_bytes(graph)),
           (unsigned long long)wfre_graph_fingerprint(graph));
    printf("entities   %s\n", cli_thousands(wfre_graph_entities(graph)));
    printf("relations  %s\n", cli_thousands(facts->row_count));
    printf("triples    %s: train %s, valid %s, test %s\n",
           cli_thousands(wfre_graph_triples(graph, WFRE_TEST)),
           cli_thousands(added_triples(graph, WFRE_TRAIN)),
           cli_thousands(added_triples(graph, WFRE_VALID)),
           cli_thousands(added_triples(graph, WFRE_TEST)));
    if (wfre_graph_attributes(graph) > 0)
        printf("attributes %s: triples with a literal or a blank node\n",
               cli_thousands(wfre_graph_attributes(graph)));
    cli_print("degree     mean %.2f, median %s, 90%% below %s, 99%% below %s, in no triple %s\n",
              degrees->mean, cli_thousands(degrees->median),
              cli_thousands(degrees->upper_tenth + 1), cli_thousands(degrees->upper_hundredth + 1),
              cli_thousands(degrees->unconnected));
    if (degrees->hub != WFRE_NONE) {
        wfre_name hub = wfre_graph_entity_label(graph, degrees->hub);
        printf("hub        ");
        cli_print_name(stdout, hub.bytes, hub.length);
        printf(": %s\n", cli_thousands(degrees->maximum));
    }
    print_prefixes(graph);
    printf("\n%10s %9s %9s", "triples", "heads", "tails");
    if (facts->with_hierarchy)
        printf(" %10s %7s %9s", "krackhardt", "one-way", "curvature");
    printf("  relation\n");
    for (uint32_t i = 0; i < facts->row_count; i++) {
        const relation_row *row = &facts->rows[i];
        wfre_name name = wfre_graph_relation_label(graph, row->relation);
        printf("%10s %9s %9s", cli_thousands(row->triples), cli_thousands(row->heads),
               cli_thousands(row->tails));
        if (facts->with_hierarchy) {
            cli_print(" %10.2f %7.2f", row->hierarchy.krackhardt, row->hierarchy.one_way);
            if (isnan(row->hierarchy.curvature))
                printf(" %9s", "-");
            else
                cli_print(" %9.2f", row->hierarchy.curvature);
        }
        printf("  ");
        cli_print_name(stdout, name.bytes, name.length);
        printf("\n");
    }
}

static void print_name(const char *key, wfre_name name)
{
    printf(",\"%s\":", key);
    cli_print_json(stdout, name.bytes, name.length);
}

static void print_relation_json(const graph_facts *facts, const relation_row *row)
{
    printf("{\"id\":%u,\"triples\":%llu,\"heads\":%llu,\"tails\":%llu", row->relation,
           (unsigned long long)row->triples, (unsigned long long)row->heads,
           (unsigned long long)row->tails);
    print_name("name", wfre_graph_relation_name(facts->graph, row->relation));
    print_name("label", wfre_graph_relation_label(facts->graph, row->relation));
    if (facts->with_hierarchy) {
        cli_print(",\"krackhardt\":%.6f,\"one_way\":%.6f,\"triangles\":%u,\"curvature\":",
                  row->hierarchy.krackhardt, row->hierarchy.one_way, row->hierarchy.triangles);
        if (isnan(row->hierarchy.curvature))
            printf("null");
        else
            cli_print("%.6f", row->hierarchy.curvature);
    }
    printf("}");
}

static void print_graph_json(const graph_facts *facts)
{
    const wfre_graph *graph = facts->graph;
    const wfre_degrees *degrees = &facts->degrees;
    printf("{\"kind\":\"graph\",\"bytes\":%llu,\"fingerprint\":\"%016llx\",\"entities\":%u,"
           "\"relations\":%u,\"triples\":{\"train\":%llu,\"valid\":%llu,\"test\":%llu}",
           (unsigned long long)wfre_graph_bytes(graph),
           (unsigned long long)wfre_graph_fingerprint(graph), wfre_graph_entities(graph),
           facts->row_count, (unsigned long long)added_triples(graph, WFRE_TRAIN),
           (unsigned long long)added_triples(graph, WFRE_VALID),
           (unsigned long long)added_triples(graph, WFRE_TEST));
    printf(",\"attributes\":%llu,\"prefixes\":{", (unsigned long long)wfre_graph_attributes(graph));
    wfre_name prefix, iri;
    for (size_t i = 0; wfre_graph_prefix(graph, i, &prefix, &iri); i++) {
        printf(i > 0 ? "," : "");
        cli_print_json(stdout, prefix.bytes, prefix.length);
        printf(":");
        cli_print_json(stdout, iri.bytes, iri.length);
    }
    printf("}");
    cli_print(
        ",\"degree\":{\"mean\":%.6f,\"median\":%llu,\"p90\":%llu,\"p99\":%llu,\"maximum\":%llu,"
        "\"unconnected\":%u}",
        degrees->mean, (unsigned long long)degrees->median,
        (unsigned long long)degrees->upper_tenth, (unsigned long long)degrees->upper_hundredth,
        (unsigned long long)degrees->maximum, degrees->unconnected);
    if (degrees->hub != WFRE_NONE)
        print_name("hub", wfre_graph_entity_name(graph, degrees->hub));
    printf(",\"relation\":[");
    for (uint32_t i = 0; i < facts->row_count; i++) {
        if (i > 0)
            printf(",");
        print_relation_json(facts, &facts->rows[i]);
    }
    printf("]}\n");
}

static int describe_graph(const cli_call *call, const char *path)
{
    wfre_graph *graph = NULL;
    wfre_error error;
    graph_facts facts = {.path = path, .with_hierarchy = cli_has(call, "hierarchy")};
    int code = cli_split(call, WFRE_TEST, &facts.split);
    if (code == EXIT_DONE)
        code = cli_open_graph(path, &graph);
    if (code != EXIT_DONE)
        return code;
    facts.graph = graph;
    wfre_status status = cli_has(call, "check") ? wfre_graph_validate(graph, &error) : WFRE_OK;
    if (status == WFRE_OK)
        status = collect(&facts, call, &error);
    cli_progress_end();
    if (status != WFRE_OK)
        code = cli_fail(&error);
    else if (cli_has(call, "json"))
        print_graph_json(&facts);
    else
        print_graph(&facts);
    if (code == EXIT_DONE && wfre_graph_sound(graph, &error) != WFRE_OK)
        code = cli_fail(&error); /* names that were printed */
    free(facts.rows);
    wfre_graph_close(graph);
    return code;
}

/* ---- what kind of file -------------------------------------------------------------------- */

enum { HEAD_BYTES = 64 };

/* The first whose `recognises` likes the start of the file describes it. */
static const struct kind {
    bool (*recognises)(const void *head, size_t length);
    int (*describe)(const cli_call *call, const char *path);
} KINDS[] = {
    {wfre_graph_recognises, describe_graph},
    {wfre_queryset_recognises, info_queryset},
    {wfre_model_recognises, info_model},
};
enum { KIND_COUNT = sizeof KINDS / sizeof KINDS[0] };

/* Nothing of what is no regular file: a pipe could not be read again. */
static size_t read_head(const char *path, char *head)
{
    struct stat info;
    FILE *file = stat(path, &info) == 0 && S_ISREG(info.st_mode) ? fopen(path, "rb") : NULL;
    size_t length = file ? fread(head, 1, HEAD_BYTES, file) : 0;
    if (file)
        fclose(file);
    return length;
}

static int run(const cli_call *call)
{
    static const char GZIP[] = "\x1F\x8B";
    const char *path = cli_argument(call, 0);
    if (!path)
        return describe_machine(call);
    char head[HEAD_BYTES];
    size_t length = read_head(path, head);
    if (length >= 2 && memcmp(head, GZIP, 2) == 0) /* of all that wfre writes or reads, this */
        return info_queryset(call, path);
    for (int i = 0; i < KIND_COUNT; i++)
        if (KINDS[i].recognises(head, length))
            return KINDS[i].describe(call, path);
    /* Opening it as a graph says why it is none, or why it cannot be read. */
    return describe_graph(call, path);
}

static const cli_option OPTIONS[] = {
    {"split", 0, CLI_TEXT, "S", "graph to count on: train, valid or test, nested (default test)", 0,
     0},
    {"hierarchy", 0, CLI_FLAG, NULL, "measure how hierarchical each relation is", 0, 0},
    {"triangles", 0, CLI_INTEGER, "N", "triangles for the curvature (default 1000)", 1, 1e9},
    {"check", 0, CLI_FLAG, NULL, "read and check every part of the file first", 0, 0},
    CLI_OPTION_SEED,
    CLI_OPTION_THREADS,
    CLI_OPTION_JSON,
};

const cli_command command_info = {
    .name = "info",
    .arguments = "[FILE]",
    .summary = "what a graph, query set or model holds; without a file: this build and machine",
    .details =
        "For a graph, --hierarchy adds three columns for each relation, loops aside:\n"
        "  krackhardt  of the ordered pairs joined by a path, the share with no path back\n"
        "  one-way     the same for pairs joined by an edge\n"
        "  curvature   the estimate of Gu et al. 2018 over sampled triangles: the lower, the\n"
        "              more like a tree\n",
    CLI_OPTIONS(OPTIONS),
    .minimum_arguments = 0,
    .maximum_arguments = 1,
    .run = run,
};
