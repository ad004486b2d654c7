/* Work to measure this machine with: what the library spends its time on, without a graph or model.
 *
 * A case is verified against plain code when it is created, and then run as often as one likes. */
#ifndef WFRE_BENCH_H
#define WFRE_BENCH_H

#include "wfre/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- matrix products of the shapes that training and ranking consist of ------------------- */

typedef struct wfre_gemm_case wfre_gemm_case;

typedef struct wfre_gemm_facts {
    const char *name;
    size_t m, n, k;       /* an m x k matrix times a k x n matrix */
    size_t products;      /* of that shape in one run */
    double flop;          /* additions and multiplications of one run */
    double plain_flop;    /* of one plain run, which does less of the same */
    double largest_error; /* of some elements against double precision, relative to their terms */
} wfre_gemm_facts;

/* Cases are 0 .. count-1. */
WFRE_API size_t wfre_gemm_case_count(void);
/* Borrows the pool until the case is freed. Fails with WFRE_ERR_NUMERIC if the
 * results are wrong. */
WFRE_API WFRE_NODISCARD wfre_status wfre_gemm_case_create(size_t index, wfre_pool *pool,
                                                          wfre_precision precision,
                                                          wfre_gemm_case **gemm, wfre_error *error);
WFRE_API void wfre_gemm_case_free(wfre_gemm_case *gemm);
WFRE_API wfre_gemm_facts wfre_gemm_case_facts(const wfre_gemm_case *gemm);
/* With the kernels in use, and with the loop of a textbook. */
WFRE_API WFRE_NODISCARD wfre_status wfre_gemm_case_run(wfre_gemm_case *gemm, wfre_error *error);
WFRE_API void wfre_gemm_case_run_plain(wfre_gemm_case *gemm);

#ifdef __cplusplus
}
#endif

#endif
