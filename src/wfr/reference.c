/* The reference kernel: the WFR score as it is defined (wfre/score.h), in double precision. All
 * other kernels are tested against it.
 *
 * phi and psi may span 1e-400 to 1e400 when epsilon is small; a score whose bound leaves the range
 * of double iterates on their logarithms instead (dense.h).
 *
 * A side is d doubles: x or y, the floor added. */
#include <math.h>

#include "base/scope.h"
#include "wfr/dense.h"
#include "wfr/kernels.h"

/* Within +-this many octaves sums and products of phi, psi, H and K are far from both ends. */
enum { PLAIN_OCTAVES = 450 };

/* One block: the scaling vectors after all iterations, as logarithms. */
typedef struct solution {
    double log_phi[WFRE_BLOCK_LIMIT];
    double log_psi[WFRE_BLOCK_LIMIT];
} solution;

/* What one block takes, for wfre_leave_after. */
static size_t steps(const wfre_score *score)
{
    return (size_t)score->settings.block * score->settings.block * score->settings.iterations;
}

static uint32_t distance_between(uint32_t i, uint32_t j)
{
    return i > j ? i - j : j - i;
}

/* to_i = (mass_i / sum_j H_ij from_j) ^ p */
static void half_iteration(const wfre_score *score, const double *mass, const double *from,
                           double *to)
{
    uint32_t a = score->settings.block;
    for (uint32_t i = 0; i < a; i++) {
        double sum = 0;
        for (uint32_t j = 0; j < a; j++)
            sum += score->h[distance_between(i, j)] * from[j];
        to[i] = pow(mass[i] / sum, score->exponent);
    }
}

static void solve_plain(const wfre_score *score, const double *x, const double *y, solution *result)
{
    uint32_t a = score->settings.block;
    double phi[WFRE_BLOCK_LIMIT], psi[WFRE_BLOCK_LIMIT];
    size_t done = 0;
    for (uint32_t i = 0; i < a; i++)
        psi[i] = 1.0 / a;
    for (uint32_t l = 0; l < score->settings.iterations; l++) {
        if (l > 0 && wfre_leave_after(&done, 2 * a * a))
            break;
        half_iteration(score, x, psi, phi);
        half_iteration(score, y, phi, psi);
    }
    for (uint32_t i = 0; i < a; i++) {
        result->log_phi[i] = log(phi[i]);
        result->log_psi[i] = log(psi[i]);
    }
}

static void solve_in_logarithms(const wfre_score *score, const double *x, const double *y,
                                solution *result)
{
    uint32_t a = score->settings.block;
    double log_h[WFRE_BLOCK_LIMIT * WFRE_BLOCK_LIMIT];
    for (uint32_t i = 0; i < a; i++) {
        for (uint32_t j = 0; j < a; j++) {
            uint32_t k = distance_between(i, j);
            log_h[i * a + j] =
                k < score->window ? score->settings.power * score->log_c[k] : -INFINITY;
        }
    }
    wfre_dense dense = {.rows = a,
                        .columns = a,
                        .x = x,
                        .y = y,
                        .log_h = log_h,
                        .epsilon = score->settings.epsilon,
                        .iterations = score->settings.iterations,
                        .start = 1.0 / a};
    wfre_dense_iterate(&dense, result->log_phi, result->log_psi);
}

static void solve(const wfre_score *score, const double *x, const double *y, solution *result)
{
    if (score->octaves_low > -PLAIN_OCTAVES && score->octaves_high < PLAIN_OCTAVES)
        solve_plain(score, x, y, result);
    else
        solve_in_logarithms(score, x, y, result);
}

/* P_ij = phi_i K_ij psi_j; 0 outside the window. */
static double transported(const wfre_score *score, const solution *s, uint32_t i, uint32_t j)
{
    uint32_t k = distance_between(i, j);
    if (k >= score->window)
        return 0;
    return exp(s->log_phi[i] + 2 / score->settings.epsilon * score->log_c[k] + s->log_psi[j]);
}

/* The value of one block; d(value)/dx = 1 - phi^-eps goes to the gradients. */
static double block_value(const wfre_score *score, const double *x, const double *y,
                          double *left_gradient, double *right_gradient)
{
    uint32_t a = score->settings.block;
    double eps = score->settings.epsilon;
    solution s;
    solve(score, x, y, &s);
    double value = eps * score->kernel_sum;
    for (uint32_t i = 0; i < a; i++) {
        left_gradient[i] = -expm1(-eps * s.log_phi[i]);
        right_gradient[i] = -expm1(-eps * s.log_psi[i]);
        value += x[i] * left_gradient[i] + y[i] * right_gradient[i];
        for (uint32_t j = 0; j < a; j++)
            value -= eps * transported(score, &s, i, j);
    }
    return value;
}

/* ---- kernel slots ------------------------------------------------------------------------- */

static void pack(const wfre_score *score, const float *row, void *side)
{
    double *x = side;
    for (size_t i = 0; i < score->settings.dimension; i++)
        x[i] = (double)row[i] + score->settings.floor;
}

static double value(const wfre_score *score, const void *left, const void *right)
{
    uint32_t a = score->settings.block;
    const double *x = left, *y = right;
    double sum = 0, unused[2][WFRE_BLOCK_LIMIT];
    size_t done = 0;
    for (size_t block = 0; block < score->blocks && !wfre_leave_after(&done, steps(score)); block++)
        sum += block_value(score, x + block * a, y + block * a, unused[0], unused[1]);
    return sum / (double)score->blocks;
}

static double gradient(const wfre_score *score, const void *left, const void *right,
                       float *left_gradient, float *right_gradient)
{
    uint32_t a = score->settings.block;
    const double *x = left, *y = right;
    double blocks = (double)score->blocks;
    double sum = 0, slope[2][WFRE_BLOCK_LIMIT];
    size_t done = 0;
    for (size_t first = 0; first < score->settings.dimension; first += a) {
        if (wfre_leave_after(&done, steps(score)))
            break;
        sum += block_value(score, x + first, y + first, slope[0], slope[1]);
        for (uint32_t i = 0; i < a; i++) {
            left_gradient[first + i] = (float)(slope[0][i] / blocks);
            right_gradient[first + i] = (float)(slope[1][i] / blocks);
        }
    }
    return sum / blocks;
}

static double pair(const wfre_score *score, const double *left, const double *right, void *scratch,
                   double *left_gradient, double *right_gradient)
{
    (void)scratch;
    uint32_t a = score->settings.block;
    double blocks = (double)score->blocks;
    double sum = 0, x[WFRE_BLOCK_LIMIT], y[WFRE_BLOCK_LIMIT], slope[2][WFRE_BLOCK_LIMIT];
    size_t done = 0;
    for (size_t first = 0; first < score->settings.dimension; first += a) {
        if (wfre_leave_after(&done, steps(score)))
            break;
        for (uint32_t i = 0; i < a; i++) {
            x[i] = left[first + i] + score->settings.floor;
            y[i] = right[first + i] + score->settings.floor;
        }
        sum += block_value(score, x, y, slope[0], slope[1]);
        for (uint32_t i = 0; i < a; i++) {
            if (left_gradient)
                left_gradient[first + i] = slope[0][i] / blocks;
            if (right_gradient)
                right_gradient[first + i] = slope[1][i] / blocks;
        }
    }
    return sum / blocks;
}

void wfre_score_use_reference(wfre_score *score)
{
    size_t size = (score->settings.dimension * sizeof(double) + 63) & ~(size_t)63;
    score->kernels = (wfre_score_kernels){
        .left_size = size,
        .right_size = size,
        .pack_left = pack,
        .pack_right = pack,
        .value = value,
        .gradient = gradient,
        .pair = pair,
        .name = "reference (double)",
    };
}

void wfre_reference_transport(const wfre_score *score, const double *left, const double *right,
                              double *plan)
{
    uint32_t a = score->settings.block;
    double x[WFRE_BLOCK_LIMIT], y[WFRE_BLOCK_LIMIT];
    size_t done = 0;
    for (size_t first = 0; first < score->settings.dimension; first += a) {
        if (wfre_leave_after(&done, steps(score)))
            break;
        for (uint32_t i = 0; i < a; i++) {
            x[i] = left[first + i] + score->settings.floor;
            y[i] = right[first + i] + score->settings.floor;
        }
        solution s;
        solve(score, x, y, &s);
        for (uint32_t i = 0; i < a; i++)
            for (uint32_t j = 0; j < a; j++)
                plan[(first + i) * a + j] = transported(score, &s, i, j);
    }
}
