/* wfre bench score: one query against many histograms, beside the same loop in plain scalar C; with
 * --tables over dimensions, windows, blocks, iterations and threads (docs/KERNELS.md). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

enum { STORED = 64, LEAST_STORED = 8, SCALAR_PAIRS = 2 };

typedef struct score_work {
    wfre_score *score;
    wfre_score *reference;
    wfre_store *store;
    wfre_pool *pool;
    bool alone; /* without the pool */
    wfre_ranking ranking;
    size_t stored; /* rows to score: a run takes about a millisecond */
    const wfre_score_settings *settings;
    float *rows;      /* STORED rows, then the query */
    float *logs;      /* log2 of their masses */
    float *distances; /* STORED */
    float h[WFRE_BLOCK_LIMIT], k[WFRE_BLOCK_LIMIT];
} score_work;

/* ---- the loop in plain C ------------------------------------------------------------------ */

static float banded(const float *kernel, const float *from, uint32_t i, uint32_t bins)
{
    float sum = 0;
    for (uint32_t j = 0; j < bins; j++)
        sum += kernel[i > j ? i - j : j - i] * from[j];
    return sum;
}

/* One block: masses x and y, their logarithms u and v. */
static float scalar_block(const score_work *w, const float *x, const float *y, const float *u,
                          const float *v)
{
    float phi[WFRE_BLOCK_LIMIT], psi[WFRE_BLOCK_LIMIT], value = 0;
    uint32_t bins = w->settings->block;
    float eps = (float)w->settings->epsilon, p = 1 / (1 + eps), tau = (float)w->settings->floor;
    for (uint32_t i = 0; i < bins; i++)
        psi[i] = 1 / (float)bins;
    for (uint32_t l = 0; l < w->settings->iterations; l++) {
        for (uint32_t i = 0; i < bins; i++)
            phi[i] = exp2f(p * (u[i] - log2f(banded(w->h, psi, i, bins))));
        for (uint32_t i = 0; i < bins; i++)
            psi[i] = exp2f(p * (v[i] - log2f(banded(w->h, phi, i, bins))));
    }
    for (uint32_t i = 0; i < bins; i++) {
        value += (x[i] + tau) * (1 - powf(phi[i], -eps));
        value += (y[i] + tau) * (1 - powf(psi[i], -eps));
        for (uint32_t j = 0; j < bins; j++)
            value += eps * w->k[i > j ? i - j : j - i] * (1 - phi[i] * psi[j]);
    }
    return value;
}

static float scalar_pair(const score_work *w, size_t stored)
{
    size_t d = w->settings->dimension, bins = w->settings->block;
    const float *x = w->rows + stored * d, *y = w->rows + STORED * d;
    const float *u = w->logs + stored * d, *v = w->logs + STORED * d;
    double sum = 0;
    for (size_t first = 0; first < d; first += bins)
        sum += (double)scalar_block(w, x + first, y + first, u + first, v + first);
    return (float)(sum / (double)(d / bins));
}

static bool run_scalar(void *context)
{
    score_work *w = context;
    for (size_t k = 0; k < SCALAR_PAIRS; k++)
        w->distances[k] = scalar_pair(w, k);
    return true;
}

/* ---- the kernels -------------------------------------------------------------------------- */

static bool run_kernel(void *context)
{
    score_work *w = context;
    size_t d = w->settings->dimension;
    wfre_rank_job job = {{w->rows + STORED * d, d}, 1, NULL, 0, w->ranking, w->stored};
    wfre_pool *pool = w->alone ? NULL : w->pool;
    return wfre_score_rank(w->score, pool, w->store, &job, w->distances, NULL) == WFRE_OK;
}

/* The largest relative difference to the reference among the first pairs; -1 when out of memory. */
static double error_of(const score_work *w)
{
    size_t d = w->settings->dimension;
    double worst = 0, expected = 0;
    double *rows = malloc(2 * d * sizeof *rows);
    for (size_t k = 0; rows && k < SCALAR_PAIRS && !isnan(worst); k++) {
        for (size_t i = 0; i < d; i++) {
            rows[i] = (double)w->rows[k * d + i];
            rows[d + i] = (double)w->rows[STORED * d + i];
        }
        if (wfre_score_pair(w->reference, rows, rows + d, &expected, NULL, NULL, NULL) != WFRE_OK)
            worst = INFINITY;
        double difference = fabs((double)w->distances[k] - expected);
        if (!(difference / fmax(fabs(expected), 0.01) <= worst)) /* NaN too */
            worst = difference / fmax(fabs(expected), 0.01);
    }
    free(rows);
    return rows ? worst : -1;
}

static void fill_rows(score_work *w)
{
    const wfre_score_settings *s = w->settings;
    uint64_t state = 1;
    for (size_t i = 0; i < (STORED + 1) * s->dimension; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        w->rows[i] = (float)(state >> 40) * 0x1p-24F;
        w->logs[i] = log2f(w->rows[i] + (float)s->floor);
    }
    for (uint32_t k = 0; k < s->block && k < s->radius; k++) {
        double c = cos(3.14159265358979323846 * k / (2 * s->radius));
        w->h[k] = (float)pow(c, s->power);
        w->k[k] = (float)pow(c, 2 / s->epsilon);
    }
}

static wfre_status prepare(score_work *w, const wfre_score_settings *settings, wfre_isa isa,
                           unsigned threads, wfre_error *error)
{
    size_t count = (STORED + 1) * settings->dimension;
    wfre_status status = wfre_score_create_for(settings, isa, &w->score, error);
    if (status == WFRE_OK)
        status = wfre_score_prepare_ranking(w->score, error);
    if (status != WFRE_OK)
        return status;
    w->settings = wfre_score_get_settings(w->score);
    size_t fit = STORED * 16000 / (settings->dimension * settings->iterations);
    w->stored = fit < LEAST_STORED ? LEAST_STORED : fit < STORED ? fit : STORED;
    w->rows = malloc(count * sizeof *w->rows);
    w->logs = malloc(count * sizeof *w->logs);
    w->distances = malloc(STORED * sizeof *w->distances);
    if (!w->rows || !w->logs || !w->distances) {
        (void)snprintf(error->message, sizeof error->message, "out of memory");
        return error->code = WFRE_ERR_MEMORY;
    }
    fill_rows(w);
    status = wfre_score_create_for(settings, WFRE_ISA_REFERENCE, &w->reference, error);
    if (status == WFRE_OK)
        status = wfre_pool_create(threads, &w->pool, error);
    if (status == WFRE_OK)
        status = wfre_store_create(w->score, w->pool, w->rows, WFRE_FLOAT32, settings->dimension,
                                   w->stored, &w->store, error);
    return status;
}

/* ---- measuring ---------------------------------------------------------------------------- */

/* ALONE: all iterations on one thread. */
enum { ALL, EXTRAPOLATED, SCALAR, ALONE, WORKS, ROUNDS = 12 };

typedef struct result {
    double ns[WORKS]; /* a pair */
    double error[WORKS];
} result;

/* The works take turns and the fastest run of each counts, out of many short ones: so their ratios
 * can be trusted on a machine with other things to do. */
static bool measure(const cli_call *call, score_work *w, result *r)
{
    bool (*const works[WORKS])(void *) = {run_kernel, run_kernel, run_scalar, run_kernel};
    const double stored = (double)w->stored;
    const double pairs[WORKS] = {stored, stored, SCALAR_PAIRS, stored};
    const int count = wfre_pool_threads(w->pool) > 1 ? WORKS : ALONE;
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < count; i++) {
            w->ranking = i == EXTRAPOLATED ? WFRE_RANK_EXTRAPOLATED : WFRE_RANK_TRUE;
            w->alone = i == ALONE;
            if (!works[i](w)) {
                cli_note("wfre: out of memory");
                return false;
            }
            r->error[i] = error_of(w);
            if (!(r->error[i] >= 0 && r->error[i] < (i == ALL || i == ALONE ? 1e-5 : 1e-2))) {
                cli_note("wfre: the score kernels are wrong by %g", r->error[i]);
                return false;
            }
            bench_timing timing =
                bench_measure_for(bench_seconds(call) / (count * ROUNDS), works[i], w);
            if (timing.runs == 0) /* Ctrl-C */
                return false;
            double ns = timing.fastest / pairs[i] * 1e9;
            r->ns[i] = round == 0 ? ns : fmin(r->ns[i], ns);
        }
    }
    if (count == ALONE)
        r->ns[ALONE] = r->ns[ALL];
    return true;
}

/* ---- report ------------------------------------------------------------------------------- */

static void report(const cli_call *call, const score_work *w, const result *r)
{
    const wfre_score_settings *s = w->settings;
    bench_number(call, "dim", (double)s->dimension, "elements a row");
    bench_number(call, "block", s->block, "bins a block");
    bench_number(call, "window", floor(s->radius), "bins that mass can move");
    bench_number(call, "iterations", s->iterations, "iterations");
    bench_number(call, "threads", wfre_pool_threads(w->pool), "threads");
    bench_number(call, "ns_per_pair", r->ns[ALL], "ns a pair, all iterations");
    bench_number(call, "thread_speedup", r->ns[ALONE] / r->ns[ALL], "times faster than one thread");
    bench_number(call, "ns_per_pair_scalar", r->ns[SCALAR],
                 "ns a pair, plain scalar C on one thread");
    bench_number(call, "speedup", r->ns[SCALAR] / r->ns[ALL], "times faster");
    bench_number(call, "error", r->error[ALL], "largest relative error");
    bench_number(call, "ns_per_pair_ranking", r->ns[EXTRAPOLATED], "ns a pair, extrapolated");
    bench_number(call, "ranking_speedup", r->ns[ALL] / r->ns[EXTRAPOLATED],
                 "times faster than all iterations");
    bench_number(call, "ranking_error", r->error[EXTRAPOLATED],
                 "largest relative error, extrapolated");
}

/* One line of the tables for people. */
static void report_row(const score_work *w, const result *r)
{
    const wfre_score_settings *s = w->settings;
    cli_print("%6zu %6u %7.0f %6u %8u %8.2f %9.2f %9.3f %9.2f %8.1f %9.2f\n", s->dimension,
              s->block, floor(s->radius), s->iterations, wfre_pool_threads(w->pool),
              r->ns[ALONE] / r->ns[ALL], r->ns[ALL] / 1e3, r->ns[ALL] / (double)s->dimension,
              r->ns[SCALAR] / 1e3, r->ns[SCALAR] / r->ns[ALL], r->ns[EXTRAPOLATED] / 1e3);
    fflush(stdout);
}

static wfre_status choose_isa(const cli_call *call, wfre_isa *isa, wfre_error *error)
{
    const char *name = cli_text(call, "isa", NULL);
    if (!name)
        return wfre_isa_select(isa, error);
    for (int i = WFRE_ISA_REFERENCE; i <= WFRE_ISA_AMX; i++) {
        if (strcmp(wfre_isa_name((wfre_isa)i), name) == 0) {
            *isa = (wfre_isa)i;
            return WFRE_OK;
        }
    }
    (void)snprintf(error->message, sizeof error->message,
                   "--isa %.40s: unknown; use reference, avx2, avx512, avx512bf16 or amx", name);
    return error->code = WFRE_ERR_ARGUMENT;
}

/* Measures and reports one configuration; `row` of a table, or whole. */
static int run_one(const cli_call *call, const wfre_score_settings *settings, unsigned threads,
                   bool row)
{
    wfre_isa isa;
    wfre_error error;
    score_work work = {0};
    result r;
    int code = EXIT_FAILED;
    if (choose_isa(call, &isa, &error) != WFRE_OK ||
        prepare(&work, settings, isa, threads, &error) != WFRE_OK) {
        cli_fail(&error);
    } else if (measure(call, &work, &r)) {
        code = EXIT_DONE;
        if (row) {
            report_row(&work, &r);
        } else {
            bench_begin(call, "score");
            bench_text(call, "isa", wfre_isa_name(isa));
            bench_text(call, "kernel", wfre_score_kernel(work.score));
            report(call, &work, &r);
            bench_end(call);
        }
    }
    wfre_store_free(work.store);
    wfre_pool_free(work.pool);
    wfre_score_free(work.score);
    wfre_score_free(work.reference);
    free(work.rows);
    free(work.logs);
    free(work.distances);
    return code;
}

/* A window of w bins has radius w + pi - 3: 3 is the preset `reference`. */
static double radius_of(long long window)
{
    return (double)window + 0.14159265358979312;
}

static int run_tables(const cli_call *call)
{
    static const struct {
        uint32_t dim, block, window, iterations, threads;
    } rows[] = {
        {200, 5, 3, 10, 1},   {400, 5, 3, 10, 1},   {800, 5, 3, 10, 1},   {1600, 5, 3, 10, 1},
        {3200, 5, 3, 10, 1},  {6400, 5, 3, 10, 1},  {12800, 5, 3, 10, 1}, {1600, 5, 1, 10, 1},
        {1600, 5, 2, 10, 1},  {1600, 5, 4, 10, 1},  {1600, 10, 1, 10, 1}, {1600, 10, 2, 10, 1},
        {1600, 10, 3, 10, 1}, {1600, 10, 4, 10, 1}, {1600, 10, 5, 10, 1}, {1600, 20, 3, 10, 1},
        {1600, 8, 3, 10, 1},  {1600, 5, 3, 5, 1},   {1600, 5, 3, 15, 1},  {1600, 5, 3, 30, 1},
        {1600, 5, 3, 10, 2},
    };
    bool json = cli_has(call, "json");
    int code = EXIT_DONE;
    if (!json)
        printf("%6s %6s %7s %6s %8s %8s %9s %9s %9s %8s %9s\n", "dim", "block", "window", "iters",
               "threads", "of one", "us/pair", "ns/elem", "scalar us", "speedup", "rank us");
    for (size_t i = 0; code == EXIT_DONE && i < sizeof rows / sizeof rows[0]; i++) {
        wfre_score_settings settings;
        wfre_score_defaults(rows[i].dim, &settings);
        settings.block = rows[i].block;
        settings.radius = radius_of(rows[i].window);
        settings.iterations = rows[i].iterations;
        code = run_one(call, &settings, rows[i].threads, !json);
    }
    return code;
}

static int run(const cli_call *call)
{
    if (cli_has(call, "tables"))
        return run_tables(call);
    wfre_score_settings settings;
    wfre_score_defaults((size_t)cli_integer(call, "dim", 1600), &settings);
    settings.block = (uint32_t)cli_integer(call, "block", settings.block);
    settings.iterations = (uint32_t)cli_integer(call, "iterations", settings.iterations);
    settings.radius = radius_of(cli_integer(call, "window", 3));
    return run_one(call, &settings, (unsigned)cli_integer(call, "threads", 1), false);
}

const bench bench_score = {"score", "WFR scores: kernels, ranking, and plain C", run};
