/* Matrix products: GFLOP/s of the kernels in use and of a plain loop, shape by shape. */
#include <string.h>

#include "bench.h"

typedef struct work {
    wfre_gemm_case *gemm;
    wfre_error error;
    bool failed;
} work;

static bool run_kernels(void *context)
{
    work *w = context;
    w->failed = wfre_gemm_case_run(w->gemm, &w->error) != WFRE_OK;
    return !w->failed;
}

static bool run_plain(void *context)
{
    wfre_gemm_case_run_plain(((work *)context)->gemm);
    return true;
}

static void report(const cli_call *call, const wfre_gemm_facts *facts, unsigned threads,
                   bench_timing kernels, bench_timing plain)
{
    double fast = 1e-9 * facts->flop / kernels.median,
           slow = 1e-9 * facts->plain_flop / plain.median;
    bench_begin(call, "gemm");
    bench_text(call, "case", facts->name);
    bench_text(call, "precision", cli_text(call, "precision", "fp32"));
    bench_number(call, "m", (double)facts->m, "rows");
    bench_number(call, "n", (double)facts->n, "columns");
    bench_number(call, "k", (double)facts->k, "terms of each sum");
    bench_number(call, "products", (double)facts->products, "products a run");
    bench_number(call, "gflops", fast, "GFLOP/s, median");
    bench_number(call, "gflops_fastest", 1e-9 * facts->flop / kernels.fastest, "GFLOP/s, fastest");
    bench_number(call, "gflops_plain", slow, "GFLOP/s of a plain loop, one thread");
    bench_number(call, "speedup", fast / slow, "times as fast");
    bench_number(call, "error", facts->largest_error, "largest relative error");
    bench_number(call, "threads", threads, "threads");
    bench_number(call, "runs", (double)kernels.runs, "runs");
    bench_end(call);
}

static int run_case(const cli_call *call, size_t index, wfre_pool *pool, wfre_precision precision)
{
    work w = {.failed = false};
    if (wfre_gemm_case_create(index, pool, precision, &w.gemm, &w.error) != WFRE_OK)
        return cli_fail(&w.error);
    /* The cases share the time of one benchmark. */
    double seconds = bench_seconds(call) / (double)wfre_gemm_case_count();
    bench_timing kernels = bench_measure_for(seconds, run_kernels, &w);
    bench_timing plain = bench_measure_for(seconds / 4, run_plain, &w);
    wfre_gemm_facts facts = wfre_gemm_case_facts(w.gemm);
    wfre_gemm_case_free(w.gemm);
    if (w.failed)
        return cli_fail(&w.error);
    if (kernels.runs == 0 || plain.runs == 0)
        return EXIT_INTERRUPTED;
    report(call, &facts, wfre_pool_threads(pool), kernels, plain);
    return EXIT_DONE;
}

static int run(const cli_call *call)
{
    const char *name = cli_text(call, "precision", "fp32");
    bool half = strcmp(name, "bf16") == 0;
    if (!half && strcmp(name, "fp32") != 0)
        return cli_usage(call, "unknown precision %s; there are fp32 and bf16", name);
    wfre_pool *pool;
    wfre_error error;
    if (wfre_pool_create((unsigned)cli_integer(call, "threads", 0), &pool, &error) != WFRE_OK)
        return cli_fail(&error);
    int code = EXIT_DONE;
    for (size_t i = 0; i < wfre_gemm_case_count() && code == EXIT_DONE; i++)
        code = run_case(call, i, pool, half ? WFRE_BF16 : WFRE_FP32);
    wfre_pool_free(pool);
    return code;
}

const bench bench_gemm = {
    .name = "gemm",
    .about = "matrix products of the shapes of training and ranking",
    .run = run,
};
