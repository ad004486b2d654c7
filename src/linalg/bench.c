/* The cases of `wfre bench gemm`: the matrix products that training and ranking consist of. */
#include <math.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/rng.h"
#include "linalg/linalg.h"
#include "wfre/bench.h"

typedef struct shape {
    const char *name;
    bool transpose_a, transpose_b;
    size_t m, n, k;
    size_t count; /* products in one call */
} shape;

/* d = 400, 32 bases, 512 queries, 14,505 entities, unless the name says otherwise; `count` products
 * keep the operands out of the caches, as the many relations of a batch do. */
static const shape SHAPES[] = {
    {"large square", false, false, 1024, 1024, 1024, 1},
    {"scores of all entities", false, true, 512, 14505, 400, 1},
    {"gradient of the queries", false, false, 512, 400, 14505, 1},
    {"gradient of the entities", true, false, 14505, 400, 512, 1},
    {"matrices of 100 relations", false, false, 100, 160000, 32, 1},
    {"gradient of the bases", true, false, 32, 160000, 100, 1},
    {"gradient of the coefficients", false, true, 100, 32, 160000, 1},
    {"project 1 row", false, true, 1, 400, 400, 64},
    {"project 4 rows", false, true, 4, 400, 400, 64},
    {"project 64 rows", false, true, 64, 400, 400, 16},
    {"gradient of 4 projected rows", false, false, 4, 400, 400, 64},
    {"gradient of a matrix, 4 rows", true, false, 400, 400, 4, 64},
    {"project 8 rows, d 1600", false, true, 8, 1600, 1600, 4},
};
enum { MOST_JOBS = 64 };

struct wfre_gemm_case {
    wfre_linalg *linalg;
    wfre_precision precision;
    const shape *shape;
    float *a, *b, *c;
    double largest_error;
    wfre_gemm_job sample; /* the first rows of the first job, for the plain loop */
    wfre_gemm_job jobs[MOST_JOBS];
};

static float operand(bool transposed, const float *x, size_t ld, size_t row, size_t column)
{
    return transposed ? x[column * ld + row] : x[row * ld + column];
}

/* The textbook's loop, with the innermost one along rows of B and C where they lie so. */
void wfre_gemm_case_run_plain(wfre_gemm_case *gemm)
{
    const wfre_gemm_job *job = &gemm->sample;
    for (size_t i = 0; i < job->m; i++) {
        float *c = job->c + i * job->ldc;
        for (size_t j = 0; j < job->n; j++)
            c[j] = 0.0f;
        if (job->transpose_b)
            for (size_t j = 0; j < job->n; j++)
                for (size_t p = 0; p < job->k; p++)
                    c[j] += operand(job->transpose_a, job->a, job->lda, i, p) *
                            job->b[j * job->ldb + p];
        else
            for (size_t p = 0; p < job->k; p++) {
                float factor = operand(job->transpose_a, job->a, job->lda, i, p);
                for (size_t j = 0; j < job->n; j++)
                    c[j] += factor * job->b[p * job->ldb + j];
            }
    }
}

/* The largest difference from double precision over some elements of each product, relative to the
 * size of its terms. */
static double find_largest_error(const wfre_gemm_case *gemm)
{
    wfre_rng rng = wfre_rng_fixed(WFRE_FOR_BENCHES, UINT64_MAX);
    double largest = 0;
    for (size_t i = 0; i < 256 && !isnan(largest); i++) {
        const wfre_gemm_job *job = &gemm->jobs[i % gemm->shape->count];
        size_t row = wfre_rng_below(&rng, (uint32_t)job->m);
        size_t column = wfre_rng_below(&rng, (uint32_t)job->n);
        double sum = 0, sizes = 0;
        for (size_t p = 0; p < job->k; p++) {
            double term = (double)operand(job->transpose_a, job->a, job->lda, row, p) *
                          (double)operand(job->transpose_b, job->b, job->ldb, p, column);
            sum += term;
            sizes += fabs(term);
        }
        double error = fabs((double)job->c[row * job->ldc + column] - sum) / sizes;
        if (!(error <= largest)) /* NaN too */
            largest = error;
    }
    return largest;
}

static wfre_status prepare(wfre_gemm_case *gemm, const shape *s, wfre_error *error)
{
    float **tensors[] = {&gemm->a, &gemm->b, &gemm->c};
    const size_t sizes[] = {s->m * s->k, s->k * s->n, s->m * s->n};
    for (size_t t = 0; t < 3; t++) {
        *tensors[t] = wfre_alloc_tensor(s->count * sizes[t], sizeof(float));
        if (!*tensors[t])
            return wfre_fail_memory(error, "making a benchmark's matrices");
        wfre_rng rng = wfre_rng_fixed(WFRE_FOR_BENCHES, t);
        for (size_t i = 0; i < s->count * sizes[t]; i++)
            (*tensors[t])[i] = wfre_rng_float(&rng) - 0.5f;
    }
    gemm->shape = s;
    for (size_t j = 0; j < s->count; j++)
        gemm->jobs[j] = (wfre_gemm_job){.transpose_a = s->transpose_a,
                                        .transpose_b = s->transpose_b,
                                        .m = s->m,
                                        .n = s->n,
                                        .k = s->k,
                                        .alpha = 1.0f,
                                        .a = gemm->a + j * sizes[0],
                                        .lda = s->transpose_a ? s->m : s->k,
                                        .b = gemm->b + j * sizes[1],
                                        .ldb = s->transpose_b ? s->k : s->n,
                                        .c = gemm->c + j * sizes[2],
                                        .ldc = s->n};
    const size_t plain_work = 20u << 20; /* multiplications the plain loop is timed with */
    gemm->sample = gemm->jobs[0];
    size_t rows = plain_work / (s->n * s->k) + 1;
    gemm->sample.m = rows < s->m ? rows : s->m;
    return WFRE_OK;
}

wfre_status wfre_gemm_case_run(wfre_gemm_case *gemm, wfre_error *error)
{
    return wfre_gemm(gemm->linalg, gemm->precision, gemm->jobs, gemm->shape->count, error);
}

size_t wfre_gemm_case_count(void)
{
    return sizeof SHAPES / sizeof SHAPES[0];
}

wfre_status wfre_gemm_case_create(size_t index, wfre_pool *pool, wfre_precision precision,
                                  wfre_gemm_case **result, wfre_error *error)
{
    if (index >= wfre_gemm_case_count())
        return wfre_fail(error, WFRE_ERR_ARGUMENT, WFRE_NO_OFFSET, "there is no case %zu", index);
    wfre_status status;
    wfre_isa isa;
    wfre_gemm_case *gemm = wfre_alloc_zero(1, sizeof *gemm);
    if (!gemm)
        return wfre_fail_memory(error, "preparing a benchmark");
    gemm->precision = precision;
    TRY(wfre_isa_select(&isa, error));
    TRY(wfre_linalg_create(pool, isa, &gemm->linalg, error));
    TRY(prepare(gemm, &SHAPES[index], error));
    TRY(wfre_gemm_case_run(gemm, error));
    gemm->largest_error = find_largest_error(gemm);
    double allowed = precision == WFRE_BF16 ? 1e-2 : 2e-6;
    if (!(gemm->largest_error <= allowed)) {
        status = wfre_fail(error, WFRE_ERR_NUMERIC, WFRE_NO_OFFSET,
                           "%s: the kernels are off by %.1e; set WFRE_ISA=reference and report it",
                           gemm->shape->name, gemm->largest_error);
        goto cleanup;
    }
    *result = gemm;
    return WFRE_OK;
cleanup:
    wfre_gemm_case_free(gemm);
    return status;
}

void wfre_gemm_case_free(wfre_gemm_case *gemm)
{
    if (!gemm)
        return;
    wfre_linalg_free(gemm->linalg);
    wfre_free(gemm->a);
    wfre_free(gemm->b);
    wfre_free(gemm->c);
    wfre_free(gemm);
}

static double flop(const wfre_gemm_job *job)
{
    return 2.0 * (double)job->m * (double)job->n * (double)job->k;
}

wfre_gemm_facts wfre_gemm_case_facts(const wfre_gemm_case *gemm)
{
    const shape *s = gemm->shape;
    return (wfre_gemm_facts){.name = s->name,
                             .m = s->m,
                             .n = s->n,
                             .k = s->k,
                             .products = s->count,
                             .flop = (double)s->count * flop(&gemm->jobs[0]),
                             .plain_flop = flop(&gemm->sample),
                             .largest_error = gemm->largest_error};
}
