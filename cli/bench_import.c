/* Import and opening of a large graph: a child process writes triples with skewed degrees as TSV
 * into a pipe, this one imports them, so that time and memory are those of an import alone. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"

enum { RELATIONS = 500, KEPT = 1000 };

/* Triple i of the graph; a function of i alone. Small ids are frequent: the cube of a uniform
 * variable for entities, the square for relations. */
typedef struct triple {
    unsigned head, relation, tail;
} triple;

static double uniform(uint64_t *state)
{
    *state += 0x9E3779B97F4A7C15u;
    uint64_t mixed = (*state ^ *state >> 30) * 0xBF58476D1CE4E5B9u;
    mixed = (mixed ^ mixed >> 27) * 0x94D049BB133111EBu;
    return (double)((mixed ^ mixed >> 31) >> 11) * 0x1p-53;
}

static triple make_triple(uint64_t i, uint64_t triples)
{
    uint64_t state = i * 0xD1342543DE82EF95u;
    double entities = (double)triples / 5 + 2;
    double h = uniform(&state), r = uniform(&state), t = uniform(&state);
    return (triple){(unsigned)(h * h * h * entities), (unsigned)(r * r * RELATIONS),
                    (unsigned)(t * t * t * entities)};
}

static void write_all(int descriptor, uint64_t triples)
{
    FILE *out = fdopen(descriptor, "w");
    for (uint64_t i = 0; out && i < triples; i++) {
        triple t = make_triple(i, triples);
        if (fprintf(out, "e%u\tr%u\te%u\n", t.head, t.relation, t.tail) < 0)
            break;
    }
    _exit(out && fclose(out) == 0 ? 0 : 1);
}

/* Imports what a child process generates; false after a message in `error`. */
static bool import_generated(uint64_t triples, const char *output, wfre_import_report *report,
                             wfre_error *error)
{
    int ends[2];
    pid_t child = pipe(ends) == 0 ? fork() : -1;
    if (child < 0) {
        (void)snprintf(error->message, sizeof error->message, "cannot start a generator: %s",
                       strerror(errno));
        return false;
    }
    if (child == 0) {
        close(ends[0]);
        write_all(ends[1], triples);
    }
    close(ends[1]);
    char path[32];
    (void)snprintf(path, sizeof path, "/dev/fd/%d", ends[0]);
    const char *source = path;
    wfre_import_options options = {.format = "tsv"};
    wfre_status status = wfre_import(&source, 1, &options, output, cli_monitor(), report, error);
    close(ends[0]);
    int outcome = 0;
    waitpid(child, &outcome, 0);
    cli_progress_end();
    if (status == WFRE_OK && outcome != 0)
        (void)snprintf(error->message, sizeof error->message, "the generator failed");
    return status == WFRE_OK && outcome == 0;
}

/* The entity of a generated name, by lookup. */
static wfre_entity find(const wfre_graph *graph, unsigned number)
{
    char name[16];
    int length = snprintf(name, sizeof name, "e%u", number);
    return wfre_graph_find_entity(graph, name, (size_t)length);
}

/* Whether some of the generated triples are all there. */
static bool verify(const wfre_graph *graph, uint64_t triples)
{
    for (uint64_t i = 0; i < KEPT && i < triples; i++) {
        triple t = make_triple(i * (triples / KEPT + 1) % triples, triples);
        char name[16];
        int length = snprintf(name, sizeof name, "r%u", t.relation);
        wfre_relation relation = wfre_graph_find_relation(graph, name, (size_t)length);
        if (!wfre_graph_has(graph, WFRE_TRAIN, find(graph, t.head), relation, find(graph, t.tail)))
            return false;
    }
    return true;
}

typedef struct opening {
    const char *path;
    size_t found;
} opening;

/* Opens the file and asks for one list of neighbours. */
static bool open_and_ask(void *context)
{
    opening *o = context;
    wfre_graph *graph;
    if (wfre_graph_open(o->path, &graph, NULL) != WFRE_OK)
        return false;
    o->found += wfre_graph_targets(graph, WFRE_TRAIN, 0, find(graph, 0)).count;
    wfre_graph_close(graph);
    return true;
}

static void report_numbers(const cli_call *call, const wfre_import_report *report, double seconds,
                           long peak_kilobytes, uint64_t bytes, bench_timing open)
{
    double triples = (double)report->triples[WFRE_TRAIN];
    double lines = triples + (double)report->duplicates;
    bench_begin(call, "import");
    bench_number(call, "triples", triples, "triples, without duplicates");
    bench_number(call, "entities", report->entities, "entities");
    bench_number(call, "import_seconds", seconds, "seconds to import, generating included");
    bench_number(call, "lines_per_second", lines / seconds, "lines a second");
    bench_number(call, "peak_megabytes", (double)peak_kilobytes / 1024, "MB of memory at most");
    bench_number(call, "snapshot_megabytes", (double)bytes / 1048576, "MB of snapshot");
    bench_number(call, "open_milliseconds", 1000 * open.median,
                 "ms to open it and look up one entity's neighbours");
    bench_end(call);
}

static int run(const cli_call *call)
{
    uint64_t triples = (uint64_t)cli_integer(call, "triples", 1000000);
    char path[BENCH_PATH];
    wfre_import_report report;
    wfre_error error = {.code = WFRE_ERR_IO};
    wfre_graph *graph = NULL;
    bench_temporary(path);
    int descriptor = mkstemp(path);
    if (descriptor >= 0)
        close(descriptor);
    double begin = cli_clock();
    if (!import_generated(triples, path, &report, &error))
        return cli_fail(&error);
    double seconds = cli_clock() - begin;
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    int code = EXIT_FAILED;
    if (wfre_graph_open(path, &graph, &error) != WFRE_OK) {
        code = cli_fail(&error);
    } else if (!verify(graph, triples)) {
        cli_note("wfre: bench import: generated triples are missing from the graph");
    } else {
        opening o = {.path = path};
        bench_timing timing = bench_measure(call, open_and_ask, &o);
        report_numbers(call, &report, seconds, usage.ru_maxrss, wfre_graph_bytes(graph), timing);
        code = EXIT_DONE;
    }
    wfre_graph_close(graph);
    unlink(path);
    return code;
}

const bench bench_import = {
    .name = "import",
    .about = "import and opening of a generated graph of --triples",
    .run = run,
};
