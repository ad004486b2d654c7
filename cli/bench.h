/* What the benchmarks share. A benchmark is one bench_*.c file with one `const bench`; cmd_bench.c
 * lists them. It checks that what it is about to time is right, measures, and reports numbers under
 * stable keys, which are what scripts read. */
#ifndef WFRE_CLI_BENCH_H
#define WFRE_CLI_BENCH_H

#include "cli.h"

typedef struct bench {
    const char *name;
    const char *about; /* one line */
    int (*run)(const cli_call *call);
} bench;

extern const bench bench_add;
extern const bench bench_ask;
extern const bench bench_complete;
extern const bench bench_gemm;
extern const bench bench_guide;
extern const bench bench_import;
extern const bench bench_kinds;
extern const bench bench_sample;
extern const bench bench_score;
extern const bench bench_surrogate;
extern const bench bench_train;

/* Seconds of one run of the work: the median, the fastest and the slowest (of the latest 1,000). */
typedef struct bench_timing {
    double median, fastest, slowest;
    long long runs;
} bench_timing;

/* Warms up, then repeats the work for the seconds of --time. Stops early with what it has if the
 * work fails (returns false) or the user interrupts. */
bench_timing bench_measure(const cli_call *call, bool (*work)(void *context), void *context);
/* The same for so many seconds; --time in seconds, for benchmarks that divide it. */
bench_timing bench_measure_for(double seconds, bool (*work)(void *context), void *context);
double bench_seconds(const cli_call *call);

/* ---- reports: begin, numbers, end. With --json one object a line, else a small table ------ */

void bench_begin(const cli_call *call, const char *name);
void bench_text(const cli_call *call, const char *key, const char *value);
/* `about` is for people; it says the unit. */
void bench_number(const cli_call *call, const char *key, double value, const char *about);
void bench_end(const cli_call *call);

/* ---- data --------------------------------------------------------------------------------- */

/* "FOLDER/wfre-bench-XXXXXX" for mkstemp or mkdtemp, FOLDER being TMPDIR or else /tmp. */
enum { BENCH_PATH = 512 };
void bench_temporary(char path[BENCH_PATH]);

/* The graph of --graph, or else a generated one with skewed degrees, of --entities or the size of
 * FB15k-237. */
wfre_status bench_graph(const cli_call *call, wfre_graph **graph, wfre_error *error);

#endif
