/* The context: which kernels this CPU gets, and the operations that spread over the pool.
 *
 * Work is cut by its size alone and partial sums are added in the order of the pieces, so that the
 * number of threads never shows in the bits. */
#include <math.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/pool.h"
#include "linalg/context.h"
#include "linalg/gemm.h"
#include "linalg/kernels.h"

static const wfre_linalg_kernels KERNELS[] = {
    [WFRE_ISA_REFERENCE] = {&wfre_vector_reference, {NULL, NULL}},
#if defined(__x86_64__)
    [WFRE_ISA_AVX2] = {&wfre_vector_avx2, {&wfre_gemm_avx2, &wfre_gemm_avx2}},
    [WFRE_ISA_AVX512] = {&wfre_vector_avx512, {&wfre_gemm_avx512, &wfre_gemm_avx512}},
    [WFRE_ISA_AVX512BF16] = {&wfre_vector_avx512, {&wfre_gemm_avx512, &wfre_gemm_avx512bf16}},
    [WFRE_ISA_AMX] = {&wfre_vector_avx512, {&wfre_gemm_avx512, &wfre_gemm_amx}},
#endif
};

const wfre_vector_table *wfre_vector_table_for(wfre_isa isa)
{
    return KERNELS[isa].vectors;
}

wfre_status wfre_linalg_create(wfre_pool *pool, wfre_isa isa, wfre_linalg **linalg,
                               wfre_error *error)
{
    if (!wfre_isa_available(isa))
        return wfre_fail(error, WFRE_ERR_UNSUPPORTED, WFRE_NO_OFFSET,
                         "this CPU has no %s; choose another instruction set", wfre_isa_name(isa));
    return wfre_linalg_create_with(pool, &KERNELS[isa], linalg, error);
}

/* One block of memory for the panels of every worker, as large as either precision needs. */
static bool allocate_panels(wfre_linalg *linalg)
{
    for (int precision = WFRE_FP32; precision <= WFRE_BF16; precision++) {
        const wfre_gemm_table *table = linalg->kernels.gemm[precision];
        size_t bytes = table ? wfre_gemm_panel_bytes(table) : 0;
        if (bytes > linalg->panel_bytes)
            linalg->panel_bytes = bytes;
    }
    linalg->panels = wfre_alloc_tensor(wfre_pool_threads(linalg->pool), linalg->panel_bytes);
    return linalg->panels != NULL;
}

wfre_status wfre_linalg_create_with(wfre_pool *pool, const wfre_linalg_kernels *kernels,
                                    wfre_linalg **result, wfre_error *error)
{
    wfre_linalg *linalg = wfre_alloc_zero(1, sizeof *linalg);
    if (linalg) {
        linalg->pool = pool;
        linalg->kernels = *kernels;
    }
    if (!linalg || !allocate_panels(linalg)) {
        wfre_linalg_free(linalg);
        return wfre_fail_memory(error, "preparing the matrix kernels");
    }
    *result = linalg;
    return WFRE_OK;
}

void wfre_linalg_free(wfre_linalg *linalg)
{
    if (!linalg)
        return;
    wfre_free(linalg->panels);
    wfre_free(linalg->cuts);
    wfre_free(linalg->partial);
    wfre_free(linalg);
}

const wfre_vector_table *wfre_linalg_vectors(const wfre_linalg *linalg)
{
    return linalg->kernels.vectors;
}

bool wfre_linalg_reserve_partial(wfre_linalg *linalg, size_t count)
{
    if (count <= linalg->partial_capacity)
        return true;
    float *grown = wfre_alloc_tensor(count, sizeof *grown);
    if (!grown)
        return false;
    wfre_free(linalg->partial);
    linalg->partial = grown;
    linalg->partial_capacity = count;
    return true;
}

/* `total` units in at most `most` equal pieces of at least `least` units each. */
typedef struct cut {
    size_t length, count;
} cut;

static cut cut_evenly(size_t total, size_t least, size_t most)
{
    size_t length = total / most + (total % most != 0);
    length = length < least ? least : length;
    return (cut){length, (total + length - 1) / length};
}

static size_t piece_end(cut pieces, size_t index, size_t total)
{
    size_t end = (index + 1) * pieces.length;
    return end < total ? end : total;
}

/* ---- layer norm --------------------------------------------------------------------------- */

enum { NORM_LEAST_ROWS = 8, NORM_MOST_PIECES = 64 };

typedef struct norm_run {
    const wfre_vector_table *vectors;
    const wfre_norm_job *job;
    cut pieces;
    float *partial; /* [pieces, 2, width]: each piece's share of dgain and dbias */
} norm_run;

static void norm_forward_piece(void *context, size_t piece, unsigned worker)
{
    (void)worker;
    const norm_run *run = context;
    run->vectors->norm_forward(run->job, piece * run->pieces.length,
                               piece_end(run->pieces, piece, run->job->rows));
}

void wfre_norm_forward(wfre_linalg *linalg, const wfre_norm_job *job)
{
    norm_run run = {linalg->kernels.vectors, job,
                    cut_evenly(job->rows, NORM_LEAST_ROWS, NORM_MOST_PIECES), NULL};
    wfre_pool_run(linalg->pool, run.pieces.count, norm_forward_piece, &run);
}

static void norm_backward_piece(void *context, size_t piece, unsigned worker)
{
    (void)worker;
    const norm_run *run = context;
    size_t width = run->job->width;
    float *dgain = run->partial + piece * 2 * width, *dbias = dgain + width;
    for (size_t i = 0; i < 2 * width; i++)
        dgain[i] = 0.0f;
    run->vectors->norm_backward(run->job, piece * run->pieces.length,
                                piece_end(run->pieces, piece, run->job->rows), dgain, dbias);
}

wfre_status wfre_norm_backward(wfre_linalg *linalg, const wfre_norm_job *job, wfre_error *error)
{
    norm_run run = {linalg->kernels.vectors, job,
                    cut_evenly(job->rows, NORM_LEAST_ROWS, NORM_MOST_PIECES), NULL};
    if (!wfre_linalg_reserve_partial(linalg, run.pieces.count * 2 * job->width))
        return wfre_fail_memory(error, "summing the gradients of a layer norm");
    run.partial = linalg->partial;
    wfre_pool_run(linalg->pool, run.pieces.count, norm_backward_piece, &run);
    for (size_t piece = 0; piece < run.pieces.count; piece++) {
        const float *share = run.partial + piece * 2 * job->width;
        if (job->dgain)
            linalg->kernels.vectors->axpy(job->width, 1.0f, share, job->dgain);
        if (job->dbias)
            linalg->kernels.vectors->axpy(job->width, 1.0f, share + job->width, job->dbias);
    }
    return WFRE_OK;
}

/* ---- AdamW and norms ---------------------------------------------------------------------- */

void wfre_adamw_at(wfre_adamw *adamw, uint64_t step)
{
    adamw->correction1 = (float)(1.0 / (1.0 - pow((double)adamw->beta1, (double)step)));
    adamw->correction2 = (float)(1.0 / (1.0 - pow((double)adamw->beta2, (double)step)));
}

enum { RANGE_LEAST = 1 << 14 };

typedef struct range_run {
    const wfre_vector_table *vectors;
    const wfre_adamw *adamw;
    cut pieces;
    size_t n;
    float *p, *first, *second, *gradient;
    const float *x;
    double *sums;
} range_run;

static void adamw_piece(void *context, size_t piece, unsigned worker)
{
    (void)worker;
    const range_run *run = context;
    size_t from = piece * run->pieces.length, end = piece_end(run->pieces, piece, run->n);
    run->vectors->adamw(run->adamw, end - from, run->p + from, run->first + from,
                        run->second + from, run->gradient + from);
}

void wfre_adamw_update(wfre_linalg *linalg, const wfre_adamw *adamw, size_t n, float *p,
                       float *first, float *second, float *gradient)
{
    range_run run = {.vectors = linalg->kernels.vectors,
                     .adamw = adamw,
                     .pieces = cut_evenly(n, RANGE_LEAST, SIZE_MAX),
                     .n = n,
                     .p = p,
                     .first = first,
                     .second = second,
                     .gradient = gradient};
    wfre_pool_run(linalg->pool, run.pieces.count, adamw_piece, &run);
}

static void squared_norm_piece(void *context, size_t piece, unsigned worker)
{
    (void)worker;
    const range_run *run = context;
    size_t from = piece * run->pieces.length, end = piece_end(run->pieces, piece, run->n);
    run->sums[piece] = run->vectors->squared_norm(end - from, run->x + from);
}

double wfre_squared_norm(wfre_linalg *linalg, size_t n, const float *x)
{
    enum { MOST_PIECES = 256 };
    double sums[MOST_PIECES], total = 0;
    range_run run = {.vectors = linalg->kernels.vectors,
                     .pieces = cut_evenly(n, RANGE_LEAST, MOST_PIECES),
                     .n = n,
                     .x = x,
                     .sums = sums};
    wfre_pool_run(linalg->pool, run.pieces.count, squared_norm_piece, &run);
    for (size_t piece = 0; piece < run.pieces.count; piece++)
        total += sums[piece];
    return total;
}
