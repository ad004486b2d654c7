/* Matrix products from the inside: what gemm.c asks of the kernels. */
#ifndef WFRE_SRC_LINALG_GEMM_H
#define WFRE_SRC_LINALG_GEMM_H

#include "linalg/linalg.h"

/* One row of C, summed in double precision: the definition. */
void wfre_gemm_reference_row(const wfre_gemm_job *job, wfre_precision precision, size_t row);

#endif
