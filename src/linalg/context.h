/* What a wfre_linalg holds. */
#ifndef WFRE_SRC_LINALG_CONTEXT_H
#define WFRE_SRC_LINALG_CONTEXT_H

#include "linalg/linalg.h"

struct wfre_linalg {
    wfre_pool *pool; /* borrowed */
    wfre_isa isa;
    const wfre_vector_table *vectors;
    float *partial; /* results of pieces that are summed after a pool run; grows, never shrinks */
    size_t partial_capacity;
};

/* Makes room for `count` partial results; false when out of memory. */
bool wfre_linalg_reserve_partial(wfre_linalg *linalg, size_t count);

#endif
