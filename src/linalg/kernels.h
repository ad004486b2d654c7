/* The tables that the per-CPU files fill. */
#ifndef WFRE_SRC_LINALG_KERNELS_H
#define WFRE_SRC_LINALG_KERNELS_H

#include "linalg/linalg.h"

extern const wfre_vector_table wfre_vector_reference, wfre_vector_avx2, wfre_vector_avx512;
/* The 16-lane code in plain C; only tests have it. */
extern const wfre_vector_table wfre_vector_emulated;

#endif
