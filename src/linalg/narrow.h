/* What narrow.c and rows.c add to the table of vector.c. */
#ifndef WFRE_SRC_LINALG_NARROW_H
#define WFRE_SRC_LINALG_NARROW_H

#include "linalg/linalg.h"
#include "simd/simd.h"

void KERNEL(wfre_mix)(const wfre_mix *mix);
void KERNEL(wfre_transpose)(size_t rows, size_t columns, const float *x, float *y);
float KERNEL(wfre_largest)(size_t n, const float *x);
void KERNEL(wfre_to_i8)(size_t n, float scale, const float *x, int8_t *y);
void KERNEL(wfre_dots_i8)(const wfre_dots *dots);
void KERNEL(wfre_dot_rows)(size_t n, const float *x, size_t count, const float *const *rows,
                           float *sums);
void KERNEL(wfre_add_to_rows)(size_t n, const float *x, size_t count, const float *factors,
                              float *const *rows);
void KERNEL(wfre_add_rows)(size_t n, size_t count, const float *factors, const float *const *rows,
                           float *y);

#endif
