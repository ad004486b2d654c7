/* What a wfre_linalg holds. */
#ifndef WFRE_SRC_LINALG_CONTEXT_H
#define WFRE_SRC_LINALG_CONTEXT_H

#include "linalg/gemm.h"
#include "linalg/linalg.h"

typedef struct wfre_linalg_kernels {
    const wfre_vector_table *vectors;
    const wfre_gemm_table *gemm[2]; /* by precision; NULL for the reference */
} wfre_linalg_kernels;

struct wfre_linalg {
    wfre_pool *pool; /* borrowed */
    wfre_linalg_kernels kernels;
    /* Memory between calls: it grows and never shrinks. */
    struct wfre_gemm_cut *cuts;
    size_t cut_capacity;
    float *partial; /* results of pieces that are summed after a pool run */
    size_t partial_capacity;
    char *panels; /* panel_bytes for each worker */
    size_t panel_bytes;
};

/* With kernels of the caller's choice: tests bring some that this CPU would not get. */
WFRE_NODISCARD wfre_status wfre_linalg_create_with(wfre_pool *pool,
                                                   const wfre_linalg_kernels *kernels,
                                                   wfre_linalg **linalg, wfre_error *error);

/* Makes room for `count` partial results; false when out of memory. */
bool wfre_linalg_reserve_partial(wfre_linalg *linalg, size_t count);

#endif
