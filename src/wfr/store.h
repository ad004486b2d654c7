/* Packed histograms, all left sides. */
#ifndef WFRE_SRC_WFR_STORE_H
#define WFRE_SRC_WFR_STORE_H

#include "wfr/kernels.h"

struct wfre_store {
    const wfre_score *score; /* borrowed; tells whether a score fits */
    size_t count;
    char *sides; /* count * kernels.left_size bytes, 64-byte aligned */
};

#endif
