/* The tables that the per-CPU files fill. */
#ifndef WFRE_SRC_LINALG_KERNELS_H
#define WFRE_SRC_LINALG_KERNELS_H

#include "linalg/linalg.h"

extern const wfre_vector_table wfre_vector_reference;

#endif
