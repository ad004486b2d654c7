/* wfre bench: measures the library through its public interface. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench.h"
#include "commands.h"

static const bench *const BENCHES[] = {
    &bench_add,   &bench_ask,    &bench_complete, &bench_gemm,      &bench_guide, &bench_import,
    &bench_kinds, &bench_sample, &bench_score,    &bench_surrogate, &bench_train,
};
enum { BENCH_COUNT = sizeof BENCHES / sizeof BENCHES[0] };

/* ---- measuring ---------------------------------------------------------------------------- */

enum { MAXIMUM_KEPT = 1000, MINIMUM_RUNS = 5 };

static int compare_times(const void *a, const void *b)
{
    const double *left = a, *right = b;
    return (*left > *right) - (*left < *right);
}

double bench_seconds(const cli_call *call)
{
    return cli_duration(call, "time", 2);
}

bench_timing bench_measure(const cli_call *call, bool (*work)(void *context), void *context)
{
    return bench_measure_for(bench_seconds(call), work, context);
}

bench_timing bench_measure_for(double seconds, bool (*work)(void *context), void *context)
{
    static double times[MAXIMUM_KEPT]; /* the latest */
    const wfre_monitor *monitor = cli_monitor();
    long long runs = 0;
    bool good = work(context) && work(context);
    double end = cli_clock() + seconds;
    while (good && (runs < MINIMUM_RUNS || cli_clock() < end) &&
           !monitor->interrupted(monitor->context)) {
        double begin = cli_clock();
        good = work(context);
        times[runs++ % MAXIMUM_KEPT] = cli_clock() - begin;
    }
    if (runs == 0)
        return (bench_timing){0};
    size_t kept = (size_t)(runs < MAXIMUM_KEPT ? runs : MAXIMUM_KEPT);
    qsort(times, kept, sizeof *times, compare_times);
    return (bench_timing){times[kept / 2], times[0], times[kept - 1], runs};
}

/* ---- reporting ---------------------------------------------------------------------------- */

/* The processor's name as the system gives it. */
static void find_cpu(char *name, size_t size)
{
    char line[256];
    (void)snprintf(name, size, "unknown");
    FILE *file = fopen("/proc/cpuinfo", "r");
    while (file && fgets(line, sizeof line, file)) {
        char *colon = strchr(line, ':');
        if (strncmp(line, "model name", 10) != 0 || !colon)
            continue;
        line[strcspn(line, "\n")] = '\0';
        (void)snprintf(name, size, "%s", colon + 2);
        break;
    }
    if (file)
        fclose(file);
}

void bench_begin(const cli_call *call, const char *name)
{
    char cpu[128];
    wfre_isa isa;
    wfre_error error;
    find_cpu(cpu, sizeof cpu);
    const char *kernels =
        wfre_isa_select(&isa, &error) == WFRE_OK ? wfre_isa_name(isa) : "unavailable";
    if (!cli_has(call, "json")) {
        printf("%s (%s, %s kernels)\n", name, cpu, kernels);
        return;
    }
    printf("{\"bench\":\"%s\",\"version\":\"%s\",\"commit\":\"%s\",\"kernels\":\"%s\",\"cpu\":",
           name, wfre_version(), wfre_commit(), kernels);
    cli_print_json(stdout, cpu, strlen(cpu));
}

void bench_text(const cli_call *call, const char *key, const char *value)
{
    if (cli_has(call, "json")) {
        printf(",\"%s\":", key);
        cli_print_json(stdout, value, strlen(value));
    } else {
        printf("  %s\n", value);
    }
}

void bench_number(const cli_call *call, const char *key, double value, const char *about)
{
    if (cli_has(call, "json"))
        cli_print(",\"%s\":%.6g", key, value);
    else
        cli_print("  %14.6g  %s\n", value, about);
}

void bench_end(const cli_call *call)
{
    if (cli_has(call, "json"))
        printf("}\n");
    fflush(stdout);
}

/* ---- data --------------------------------------------------------------------------------- */

enum { ENTITIES = 14505, RELATIONS = 237, TRIPLES = 272115 };

/* A number below `bound` with many small ones: the square of a uniform variable. */
static unsigned skewed(uint64_t *state, unsigned bound)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    double uniform = (double)(*state >> 11) * 0x1p-53;
    return (unsigned)(uniform * uniform * bound);
}

/* Entities come in kinds and each relation joins two of them; within a kind a few entities have
 * most of the edges. So branches of a query overlap, as they do in real graphs. */
static void write_triples(FILE *file, unsigned entities)
{
    enum { KINDS = 24 };
    unsigned begin[KINDS + 1]; /* later kinds are larger */
    unsigned kinds[RELATIONS][2];
    uint64_t state = 1;
    for (unsigned k = 0; k <= KINDS; k++)
        begin[k] = (unsigned)((uint64_t)entities * k * k / (KINDS * KINDS));
    for (int r = 0; r < RELATIONS; r++)
        for (int end = 0; end < 2; end++)
            kinds[r][end] = skewed(&state, KINDS);
    for (unsigned e = ENTITIES; e < entities; e++) /* every entity of a larger graph is there */
        fprintf(file, "e%u\tr%u\te%u\n", e, skewed(&state, RELATIONS), skewed(&state, entities));
    for (int i = 0; i < TRIPLES; i++) {
        unsigned r = skewed(&state, RELATIONS);
        unsigned ends[2];
        for (int end = 0; end < 2; end++) {
            unsigned kind = kinds[r][end];
            unsigned size = begin[kind + 1] - begin[kind];
            ends[end] = begin[kind] + skewed(&state, skewed(&state, size) + 1);
        }
        fprintf(file, "e%u\tr%u\te%u\n", ends[0], r, ends[1]);
    }
}

void bench_temporary(char path[BENCH_PATH])
{
    const char *folder = getenv("TMPDIR");
    (void)snprintf(path, BENCH_PATH, "%.400s/wfre-bench-XXXXXX", folder ? folder : "/tmp");
}

static wfre_status generate_graph(unsigned entities, wfre_graph **graph, wfre_error *error)
{
    char path[BENCH_PATH];
    const char *source = path;
    wfre_import_options options = {.format = "tsv"};
    bench_temporary(path);
    int descriptor = mkstemp(path);
    FILE *file = descriptor >= 0 ? fdopen(descriptor, "w") : NULL;
    if (file)
        write_triples(file, entities);
    wfre_status status = WFRE_ERR_IO;
    if (file && fclose(file) == 0)
        status = wfre_import_graph(&source, 1, &options, cli_monitor(), graph, NULL, error);
    else
        (void)snprintf(error->message, sizeof error->message, "%s: %s", path, strerror(errno));
    if (descriptor >= 0)
        unlink(path);
    return status;
}

wfre_status bench_graph(const cli_call *call, wfre_graph **graph, wfre_error *error)
{
    const char *path = cli_text(call, "graph", NULL);
    unsigned entities = (unsigned)cli_integer(call, "entities", ENTITIES);
    return path ? wfre_graph_open(path, graph, error) : generate_graph(entities, graph, error);
}

/* ---- command ------------------------------------------------------------------------------ */

static int run(const cli_call *call)
{
    static const wfre_error stopped = {.code = WFRE_ERR_INTERRUPTED, .message = "interrupted"};
    const wfre_monitor *monitor = cli_monitor();
    const char *name = cli_argument(call, 0);
    int code = EXIT_DONE;
    bool found = false;
    for (int i = 0; i < BENCH_COUNT && code == EXIT_DONE; i++) {
        if (name && strcmp(name, BENCHES[i]->name) != 0)
            continue;
        found = true;
        code = BENCHES[i]->run(call);
        if (code != EXIT_INTERRUPTED && monitor->interrupted(monitor->context))
            code = cli_fail(&stopped);
    }
    if (found)
        return code;
    cli_note("Benchmarks:");
    for (int i = 0; i < BENCH_COUNT; i++)
        cli_note("  %-10s %s", BENCHES[i]->name, BENCHES[i]->about);
    return cli_usage(call, "unknown benchmark %s", name);
}

static const cli_option OPTIONS[] = {
    {"graph", 0, CLI_TEXT, "G.kg", "the graph to use (default: one generated, like FB15k-237)", 0,
     0},
    {"triples", 0, CLI_INTEGER, "N", "import: triples to generate (default 1000000)", 1, 2e9},
    {"entities", 0, CLI_INTEGER, "N", "of a generated graph (default 14505)", 14505, 1e8},
    {"model", 0, CLI_TEXT, "M.safetensors",
     "ask, kinds: a model of --graph (default: a random one)", 0, 0},
    {"queries", 0, CLI_TEXT, "Q.tsv", "ask: what to ask (default: random questions)", 0, 0},
    {"count", 0, CLI_INTEGER, "N", "ask, kinds: questions (default 100; 2000)", 1, 1e6},
    {"weight", 0, CLI_NUMBER, "W", "kinds: of kinds (default: as the model says)", 0, 100},
    {"fold", 0, CLI_INTEGER, "N", "add: which tenth of the entities to add (default 1)", 1, 10},
    {"share", 0, CLI_NUMBER, "P", "add: part of their triples to add them with (default 0.5)", 0.01,
     0.99},
    {"steps", 0, CLI_INTEGER, "N", "add, surrogate: training steps (default 1000, 300)", 1, 1e9},
    {"time", 0, CLI_DURATION, "T", "how long to measure each (default 2s)", 0, 0},
    {"precision", 0, CLI_TEXT, "P", "gemm: fp32 (default) or bf16", 0, 0},
    {"preset", 0, CLI_TEXT, "NAME", "train, add: recipe (default for train: paper-fb15k-237)", 0,
     0},
    {"dim", 0, CLI_INTEGER, "N", "dimensions (default 400; score: 1600)", 1, 65536},
    {"bases", 0, CLI_INTEGER, "N", "train: bases (default 32)", 0, 65536},
    {"block", 0, CLI_INTEGER, "N", "score: bins a block (default 5)", 1, WFRE_BLOCK_LIMIT},
    {"window", 0, CLI_INTEGER, "N", "score: bins that mass can move (default 3)", 1,
     WFRE_BLOCK_LIMIT},
    {"iterations", 0, CLI_INTEGER, "N", "score: iterations (default 10)", 1, WFRE_ITERATION_LIMIT},
    {"tables", 0, CLI_FLAG, NULL, "score: over dimensions, windows, blocks and threads", 0, 0},
    {"isa", 0, CLI_TEXT, "NAME", "score: instruction set (default: the best, or WFRE_ISA)", 0, 0},
    {"set", 0, CLI_REPEATED, "NAME=VALUE", "train: another setting; may be repeated", 0, 0},
    {"batch", 0, CLI_INTEGER, "N", "train: queries a batch (default 512)", 1, 1 << 20},
    CLI_OPTION_THREADS,
    CLI_OPTION_JSON,
};

const cli_command command_bench = {
    .name = "bench",
    .arguments = "[NAME]",
    .summary = "measure this machine; without a name, all benchmarks",
    .details =
        "Benchmarks: add (entities added after training), ask (predictions), gemm (matrix\n"
        "products), guide (steps by local form, surrogate, score), import, kinds (answers of a\n"
        "wrong kind), sample (training queries), score (the WFR kernels), surrogate (its\n"
        "errors), train (steps).\n"
        "Each benchmark first checks its results, then warms up and repeats; numbers are\n"
        "medians, of the score the fastest run. --json prints one object a line.\n",
    CLI_OPTIONS(OPTIONS),
    .minimum_arguments = 0,
    .maximum_arguments = 1,
    .run = run,
};
