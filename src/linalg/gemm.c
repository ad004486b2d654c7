/* Matrix products over the pool. */
#include "linalg/gemm.h"

#include "base/error.h"
#include "base/pool.h"
#include "linalg/context.h"

typedef struct reference_run {
    const wfre_gemm_job *job;
    wfre_precision precision;
} reference_run;

static void reference_piece(void *context, size_t row, unsigned worker)
{
    (void)worker;
    const reference_run *run = context;
    wfre_gemm_reference_row(run->job, run->precision, row);
}

wfre_status wfre_gemm(wfre_linalg *linalg, wfre_precision precision, const wfre_gemm_job *jobs,
                      size_t count, wfre_error *error)
{
    (void)error;
    for (size_t i = 0; i < count; i++) {
        reference_run run = {&jobs[i], precision};
        wfre_pool_run(linalg->pool, jobs[i].m, reference_piece, &run);
    }
    return WFRE_OK;
}
