/* Unbalanced transport between any two measures, in logarithms: the textbook the kernels are
 * checked against, and the way out where phi and psi leave the range of double.
 *
 * With f = log phi and g = log psi, one half iteration is
 *     f_i = p (log x_i - log sum_j exp(log H_ij + g_j)),      p = 1 / (1 + epsilon)
 */
#ifndef WFRE_SRC_WFR_DENSE_H
#define WFRE_SRC_WFR_DENSE_H

#include <stddef.h>
#include <stdint.h>

typedef struct wfre_dense {
    size_t rows, columns;
    const double *x, *y;         /* rows and columns elements, positive */
    const double *log_h, *log_k; /* rows * columns; -INFINITY where the kernel is 0 */
    double epsilon;
    uint32_t iterations;
    double start; /* psi before the first iteration */
} wfre_dense;

/* f (rows) and g (columns) after all iterations. What these functions do they leave half done where
 * that is allowed and wanted (wfre_may_leave in base/scope.h). */
void wfre_dense_iterate(const wfre_dense *dense, double *f, double *g);
double wfre_dense_dual(const wfre_dense *dense, const double *f, const double *g);
double wfre_dense_primal(const wfre_dense *dense, const double *f, const double *g);
/* P_ij = phi_i K_ij psi_j, rows * columns. */
void wfre_dense_plan(const wfre_dense *dense, const double *f, const double *g, double *plan);

#endif
