/* The scores without iterations: local, Hellinger, KL, L1, L2, inner product, 1-D Wasserstein. Each
 * is one row of the table below.
 *
 * A side is three arrays of d doubles, so that roots, powers and logarithms are taken once a row
 * and not once a pair:
 *
 *              value              transform                slope
 *     local    x = u + floor      x^r, r = 1/(2+eps)       x^r / x
 *     hellinger  "                x^r, r = 1/2             x^r / x
 *     kl         "                log x                    1 / x
 *     wasserstein "               cumulated x / sum x      1 / sum x (of the block)
 *     others   u                  unused                   unused
 */
#include <math.h>
#include <string.h>

#include "base/scope.h"
#include "wfr/kernels.h"

typedef struct side_view {
    const double *value;
    const double *transform;
    const double *slope;
} side_view;

/* The value of the block, with its gradients. */
typedef double (*block_function)(const wfre_score *score, side_view x, side_view y, double *dx,
                                 double *dy);

/* ---- preparing one block of a row --------------------------------------------------------- */

typedef struct side_arrays {
    double *value;
    double *transform;
    double *slope;
} side_arrays;

static void transform_root(const wfre_score *score, side_arrays side, double root)
{
    for (uint32_t i = 0; i < score->settings.block; i++) {
        side.value[i] += score->settings.floor;
        side.transform[i] = pow(side.value[i], root);
        side.slope[i] = side.transform[i] / side.value[i];
    }
}

static void transform_local(const wfre_score *score, side_arrays side)
{
    transform_root(score, side, 1 / (2 + score->settings.epsilon));
}

static void transform_hellinger(const wfre_score *score, side_arrays side)
{
    transform_root(score, side, 0.5);
}

static void transform_kl(const wfre_score *score, side_arrays side)
{
    for (uint32_t i = 0; i < score->settings.block; i++) {
        side.value[i] += score->settings.floor;
        side.transform[i] = log(side.value[i]);
        side.slope[i] = 1 / side.value[i];
    }
}

static void transform_wasserstein(const wfre_score *score, side_arrays side)
{
    uint32_t a = score->settings.block;
    double sum = 0;
    for (uint32_t i = 0; i < a; i++) {
        side.value[i] += score->settings.floor;
        sum += side.value[i];
        side.transform[i] = sum;
    }
    for (uint32_t i = 0; i < a; i++) {
        side.transform[i] /= sum;
        side.slope[i] = 1 / sum;
    }
}

static void transform_nothing(const wfre_score *score, side_arrays side)
{
    (void)score;
    (void)side;
}

/* ---- values of a block -------------------------------------------------------------------- */

/* sum x + sum y + a eps - (1/r) sum (xy)^r with 1/r = 2 + eps; d/dx = 1 - x^(r-1) y^r. */
static double local_block(const wfre_score *score, side_view x, side_view y, double *dx, double *dy)
{
    uint32_t a = score->settings.block;
    double eps = score->settings.epsilon, value = a * eps;
    for (uint32_t i = 0; i < a; i++) {
        value += x.value[i] + y.value[i] - (2 + eps) * x.transform[i] * y.transform[i];
        dx[i] = 1 - x.slope[i] * y.transform[i];
        dy[i] = 1 - y.slope[i] * x.transform[i];
    }
    return value;
}

/* The same with eps 0, but as squares: never below zero. */
static double hellinger_block(const wfre_score *score, side_view x, side_view y, double *dx,
                              double *dy)
{
    double value = 0;
    for (uint32_t i = 0; i < score->settings.block; i++) {
        double difference = x.transform[i] - y.transform[i];
        value += difference * difference;
        dx[i] = 1 - x.slope[i] * y.transform[i];
        dy[i] = 1 - y.slope[i] * x.transform[i];
    }
    return value;
}

static double kl_block(const wfre_score *score, side_view x, side_view y, double *dx, double *dy)
{
    double value = 0;
    for (uint32_t i = 0; i < score->settings.block; i++) {
        dx[i] = x.transform[i] - y.transform[i];
        dy[i] = 1 - x.value[i] * y.slope[i];
        value += x.value[i] * dx[i] - x.value[i] + y.value[i];
    }
    return value;
}

static double sign_of(double t)
{
    return (double)(t > 0) - (double)(t < 0);
}

static double l1_block(const wfre_score *score, side_view x, side_view y, double *dx, double *dy)
{
    double value = 0;
    for (uint32_t i = 0; i < score->settings.block; i++) {
        double difference = x.value[i] - y.value[i];
        value += fabs(difference);
        dx[i] = sign_of(difference);
        dy[i] = -dx[i];
    }
    return value;
}

/* The gradient at equal blocks is taken as 0, the middle of the subdifferential. */
static double l2_block(const wfre_score *score, side_view x, side_view y, double *dx, double *dy)
{
    uint32_t a = score->settings.block;
    double sum = 0;
    for (uint32_t i = 0; i < a; i++)
        sum += (x.value[i] - y.value[i]) * (x.value[i] - y.value[i]);
    double norm = sqrt(sum), inverse = norm > 0 ? 1 / norm : 0;
    for (uint32_t i = 0; i < a; i++) {
        dx[i] = (x.value[i] - y.value[i]) * inverse;
        dy[i] = -dx[i];
    }
    return norm;
}

static double inner_block(const wfre_score *score, side_view x, side_view y, double *dx, double *dy)
{
    double value = 0;
    for (uint32_t i = 0; i < score->settings.block; i++) {
        value -= x.value[i] * y.value[i];
        dx[i] = -y.value[i];
        dy[i] = -x.value[i];
    }
    return value;
}

/* With X_k = (x_0 + ... + x_k) / S: dX_k / dx_i = ([i <= k] - X_k) / S. So the gradient is a suffix
 * sum of signs less one term common to all bins. */
static double wasserstein_block(const wfre_score *score, side_view x, side_view y, double *dx,
                                double *dy)
{
    uint32_t a = score->settings.block;
    double value = 0, common_x = 0, common_y = 0;
    for (uint32_t k = 0; k < a; k++) {
        double difference = x.transform[k] - y.transform[k];
        value += fabs(difference);
        common_x += sign_of(difference) * x.transform[k];
        common_y += sign_of(difference) * y.transform[k];
    }
    double suffix = 0;
    for (uint32_t i = a; i-- > 0;) {
        suffix += sign_of(x.transform[i] - y.transform[i]);
        dx[i] = (suffix - common_x) * x.slope[i];
        dy[i] = (common_y - suffix) * y.slope[i];
    }
    return value;
}

typedef struct pointwise {
    void (*transform)(const wfre_score *score, side_arrays side);
    block_function block;
    const char *name;
} pointwise;

static const pointwise TABLE[WFRE_SCORE_KINDS] = {
    [WFRE_SCORE_LOCAL] = {transform_local, local_block, "local (double)"},
    [WFRE_SCORE_HELLINGER] = {transform_hellinger, hellinger_block, "hellinger (double)"},
    [WFRE_SCORE_KL] = {transform_kl, kl_block, "kl (double)"},
    [WFRE_SCORE_L1] = {transform_nothing, l1_block, "l1 (double)"},
    [WFRE_SCORE_L2] = {transform_nothing, l2_block, "l2 (double)"},
    [WFRE_SCORE_INNER] = {transform_nothing, inner_block, "inner (double)"},
    [WFRE_SCORE_WASSERSTEIN] = {transform_wasserstein, wasserstein_block, "wasserstein (double)"},
};

/* ---- kernel slots ------------------------------------------------------------------------- */

static side_view block_of(const wfre_score *score, const double *side, size_t first)
{
    size_t d = score->settings.dimension;
    return (side_view){side + first, side + d + first, side + 2 * d + first};
}

/* side[0 .. d) holds the row already. */
static void transform_side(const wfre_score *score, double *side)
{
    size_t d = score->settings.dimension, done = 0;
    for (size_t first = 0; first < d; first += score->settings.block) {
        if (wfre_leave_after(&done, score->settings.block))
            break;
        side_arrays block = {side + first, side + d + first, side + 2 * d + first};
        TABLE[score->settings.kind].transform(score, block);
    }
}

static void pack(const wfre_score *score, const float *row, void *side)
{
    double *value = side;
    size_t done = 0;
    for (size_t i = 0; i < score->settings.dimension && !wfre_leave_after(&done, 1); i++)
        value[i] = row[i];
    transform_side(score, value);
}

static void pack_double(const wfre_score *score, const double *row, void *side)
{
    memcpy(side, row, score->settings.dimension * sizeof *row);
    transform_side(score, side);
}

/* Where the gradients of a pair go. */
typedef struct gradient_sink {
    float *left, *right;                /* both NULL, or both not */
    double *left_double, *right_double; /* each may be NULL */
} gradient_sink;

static double sum_blocks(const wfre_score *score, const double *left, const double *right,
                         gradient_sink sink)
{
    uint32_t a = score->settings.block;
    double sum = 0, blocks = (double)score->blocks;
    double dx[WFRE_POINTWISE_LIMIT], dy[WFRE_POINTWISE_LIMIT];
    size_t done = 0;
    for (size_t first = 0; first < score->settings.dimension; first += a) {
        if (wfre_leave_after(&done, a))
            break;
        sum += TABLE[score->settings.kind].block(score, block_of(score, left, first),
                                                 block_of(score, right, first), dx, dy);
        for (uint32_t i = 0; sink.left && i < a; i++) {
            sink.left[first + i] = (float)(dx[i] / blocks);
            sink.right[first + i] = (float)(dy[i] / blocks);
        }
        for (uint32_t i = 0; sink.left_double && i < a; i++)
            sink.left_double[first + i] = dx[i] / blocks;
        for (uint32_t i = 0; sink.right_double && i < a; i++)
            sink.right_double[first + i] = dy[i] / blocks;
    }
    return sum / blocks;
}

static double value(const wfre_score *score, const void *left, const void *right)
{
    return sum_blocks(score, left, right, (gradient_sink){0});
}

static double gradient(const wfre_score *score, const void *left, const void *right,
                       float *left_gradient, float *right_gradient)
{
    gradient_sink sink = {.left = left_gradient, .right = right_gradient};
    return sum_blocks(score, left, right, sink);
}

static double pair(const wfre_score *score, const double *left, const double *right, void *scratch,
                   double *left_gradient, double *right_gradient)
{
    double *x = scratch, *y = x + score->kernels.left_size / sizeof *x;
    pack_double(score, left, x);
    pack_double(score, right, y);
    gradient_sink sink = {.left_double = left_gradient, .right_double = right_gradient};
    return sum_blocks(score, x, y, sink);
}

void wfre_score_use_pointwise(wfre_score *score)
{
    size_t size = (3 * score->settings.dimension * sizeof(double) + 63) & ~(size_t)63;
    score->kernels = (wfre_score_kernels){
        .left_size = size,
        .right_size = size,
        .pack_left = pack,
        .pack_right = pack,
        .value = value,
        .gradient = gradient,
        .pair = pair,
        .name = TABLE[score->settings.kind].name,
    };
}
