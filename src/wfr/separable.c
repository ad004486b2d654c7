/* Least squares of reduced rank, by way of orthonormal features:
 *
 *     A'A = La La'   so that  A La^-T  has orthonormal columns; likewise B
 *     C = La^-1 A' V B Lb^-T         V in these coordinates
 *     C C' = U S^2 U'                the best rank-k part of C is U_k U_k' C
 *     left = La^-T U_k,  right = Lb^-T C' U_k
 */
#include "wfr/separable.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"

/* ---- small dense algebra ------------------------------------------------------------------ */

/* out = a' b; a is [n, p], b is [n, q]. */
static void multiply_transposed(const double *a, const double *b, size_t n, size_t p, size_t q,
                                double *out)
{
    memset(out, 0, p * q * sizeof *out);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < p; j++)
            for (size_t k = 0; k < q; k++)
                out[j * q + k] += a[i * p + j] * b[i * q + k];
}

/* g = L L' in the lower triangle, after a ridge that keeps nearly equal features apart. */
static void cholesky(double *g, size_t n)
{
    double trace = 0;
    for (size_t i = 0; i < n; i++)
        trace += g[i * n + i];
    for (size_t i = 0; i < n; i++)
        g[i * n + i] += 1e-11 * trace;
    for (size_t j = 0; j < n; j++) {
        for (size_t i = j; i < n; i++) {
            double sum = g[i * n + j];
            for (size_t k = 0; k < j; k++)
                sum -= g[i * n + k] * g[j * n + k];
            g[i * n + j] = i == j ? sqrt(fmax(sum, 1e-13 * trace)) : sum / g[j * n + j];
        }
    }
}

/* x = L^-1 x, for x [n, q]. */
static void solve_lower(const double *l, size_t n, double *x, size_t q)
{
    for (size_t i = 0; i < n; i++)
        for (size_t c = 0; c < q; c++) {
            double sum = x[i * q + c];
            for (size_t k = 0; k < i; k++)
                sum -= l[i * n + k] * x[k * q + c];
            x[i * q + c] = sum / l[i * n + i];
        }
}

/* x = L^-T x, for x [n, q]. */
static void solve_upper(const double *l, size_t n, double *x, size_t q)
{
    for (size_t i = n; i-- > 0;)
        for (size_t c = 0; c < q; c++) {
            double sum = x[i * q + c];
            for (size_t k = i + 1; k < n; k++)
                sum -= l[k * n + i] * x[k * q + c];
            x[i * q + c] = sum / l[i * n + i];
        }
}

/* One Jacobi rotation of rows and columns p and q of m, collected in the columns of u. */
static void rotate(double *m, double *u, size_t n, size_t p, size_t q)
{
    double off = m[p * n + q];
    double theta = (m[q * n + q] - m[p * n + p]) / (2 * off);
    double t = (theta < 0 ? -1 : 1) / (fabs(theta) + sqrt(theta * theta + 1));
    double c = 1 / sqrt(t * t + 1), s = t * c;
    for (size_t k = 0; k < n; k++) {
        double x = m[k * n + p], y = m[k * n + q];
        m[k * n + p] = c * x - s * y;
        m[k * n + q] = s * x + c * y;
    }
    for (size_t k = 0; k < n; k++) {
        double x = m[p * n + k], y = m[q * n + k];
        m[p * n + k] = c * x - s * y;
        m[q * n + k] = s * x + c * y;
        x = u[k * n + p];
        y = u[k * n + q];
        u[k * n + p] = c * x - s * y;
        u[k * n + q] = s * x + c * y;
    }
}

/* Eigenvectors of a symmetric matrix in the columns of u; the eigenvalues end on m's diagonal. */
static void diagonalize(double *m, double *u, size_t n)
{
    enum { SWEEPS = 30 };
    memset(u, 0, n * n * sizeof *u);
    double trace = 0;
    for (size_t i = 0; i < n; i++) {
        u[i * n + i] = 1;
        trace += m[i * n + i];
    }
    for (int sweep = 0; sweep < SWEEPS; sweep++) {
        bool done = true;
        for (size_t p = 0; p < n; p++)
            for (size_t q = p + 1; q < n; q++)
                if (fabs(m[p * n + q]) > 1e-15 * trace) {
                    rotate(m, u, n, p, q);
                    done = false;
                }
        if (done)
            return;
    }
}

/* The eigenvector of the largest eigenvalue left, which is then taken out. */
static void take_largest(double *m, const double *u, size_t n, double *out, size_t stride)
{
    size_t best = 0;
    for (size_t i = 1; i < n; i++)
        if (m[i * n + i] > m[best * n + best])
            best = i;
    m[best * n + best] = -INFINITY;
    for (size_t i = 0; i < n; i++)
        out[i * stride] = u[i * n + best];
}

/* ---- the fit ------------------------------------------------------------------------------ */

/* Room for the steps of a fit, all in one block. */
typedef struct scratch {
    double *block;
    double *la, *lb;   /* [f, f] */
    double *c;         /* [f, f] */
    double *cc, *u;    /* [f, f] */
    double *projected; /* [f, columns] */
    double *swapped;   /* [columns, f] */
} scratch;

static bool allocate(scratch *s, size_t f, size_t columns)
{
    s->block = wfre_alloc(5 * f * f + 2 * f * columns, sizeof *s->block);
    if (!s->block)
        return false;
    double *next = s->block;
    double **squares[] = {&s->la, &s->lb, &s->c, &s->cc, &s->u};
    for (size_t i = 0; i < 5; i++, next += f * f)
        *squares[i] = next;
    s->projected = next;
    s->swapped = next + f * columns;
    return true;
}

static void transpose(const double *from, size_t rows, size_t columns, double *to)
{
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < columns; j++)
            to[j * rows + i] = from[i * columns + j];
}

wfre_status wfre_separable_fit(const wfre_separable *problem, wfre_error *error)
{
    size_t f = problem->features, rank = problem->rank, columns = problem->columns;
    scratch s;
    if (!allocate(&s, f, columns))
        return wfre_fail_memory(error, "fitting a filter");
    multiply_transposed(problem->a, problem->a, problem->rows, f, f, s.la);
    cholesky(s.la, f);
    multiply_transposed(problem->b, problem->b, columns, f, f, s.lb);
    cholesky(s.lb, f);
    /* C' = Lb^-1 B' (La^-1 A' V)' */
    multiply_transposed(problem->a, problem->v, problem->rows, f, columns, s.projected);
    solve_lower(s.la, f, s.projected, columns);
    transpose(s.projected, f, columns, s.swapped);
    multiply_transposed(problem->b, s.swapped, columns, f, f, s.c); /* c holds C' */
    solve_lower(s.lb, f, s.c, f);
    multiply_transposed(s.c, s.c, f, f, f, s.cc);
    diagonalize(s.cc, s.u, f);
    for (size_t k = 0; k < rank; k++)
        take_largest(s.cc, s.u, f, problem->left + k, rank);
    for (size_t i = 0; i < f; i++)
        for (size_t k = 0; k < rank; k++) {
            double sum = 0;
            for (size_t j = 0; j < f; j++)
                sum += s.c[i * f + j] * problem->left[j * rank + k];
            problem->right[i * rank + k] = sum;
        }
    solve_upper(s.la, f, problem->left, rank);
    solve_upper(s.lb, f, problem->right, rank);
    wfre_free(s.block);
    return WFRE_OK;
}

/* C' = (B'B)^-1 B' ((A'A)^-1 A' V)' */
wfre_status wfre_bilinear_fit(const wfre_bilinear *problem, wfre_error *error)
{
    size_t p = problem->left, q = problem->right, columns = problem->columns;
    wfre_arena arena = {0};
    double *la = wfre_arena_alloc(&arena, p * p, sizeof *la);
    double *lb = wfre_arena_alloc(&arena, q * q, sizeof *lb);
    double *projected = wfre_arena_alloc(&arena, p * columns, sizeof *projected);
    double *swapped = wfre_arena_alloc(&arena, p * columns, sizeof *swapped);
    bool made = la && lb && projected && swapped;
    if (made) {
        multiply_transposed(problem->a, problem->a, problem->rows, p, p, la);
        cholesky(la, p);
        multiply_transposed(problem->b, problem->b, columns, q, q, lb);
        cholesky(lb, q);
        multiply_transposed(problem->a, problem->v, problem->rows, p, columns, projected);
        solve_lower(la, p, projected, columns);
        solve_upper(la, p, projected, columns);
        transpose(projected, p, columns, swapped);
        multiply_transposed(problem->b, swapped, columns, q, p, problem->c);
        solve_lower(lb, q, problem->c, p);
        solve_upper(lb, q, problem->c, p);
    }
    wfre_arena_free(&arena);
    return made ? WFRE_OK : wfre_fail_memory(error, "fitting a surrogate");
}

/* ---- pivots ------------------------------------------------------------------------------- */

static double dot(const double *x, const double *y, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += x[i] * y[i];
    return sum;
}

void wfre_separable_pivots(double *v, size_t rows, size_t columns, size_t count, uint32_t *chosen)
{
    for (size_t n = 0; n < count; n++) {
        size_t best = 0;
        double largest = -1;
        for (size_t r = 0; r < rows; r++) {
            double norm = dot(v + r * columns, v + r * columns, columns);
            if (norm > largest) {
                largest = norm;
                best = r;
            }
        }
        chosen[n] = (uint32_t)best;
        double *pivot = v + best * columns;
        for (size_t r = 0; r < rows && largest > 0; r++) {
            double *row = v + r * columns;
            double share = r == best ? 0 : dot(row, pivot, columns) / largest;
            for (size_t i = 0; i < columns; i++)
                row[i] -= share * pivot[i];
        }
        memset(pivot, 0, columns * sizeof *pivot);
    }
}
