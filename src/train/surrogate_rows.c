/* One vector lane per block: a row is turned so that each bin, form and feature is a vector over
 * its blocks, and every linear step is a product of a small matrix with all of them.
 *
 *     x [a, b] --L'--> g [G, b] --^p--> f = (1, x, g^p) [F, b] --map'--> out [rank, b]
 */
#include "train/surrogate_rows.h"

/* Scratch: f [F, b], then g [G, b], then df [F + 2a, b], then dx [a, b]. */
size_t wfre_surrogate_scratch(const wfre_surrogate *s, size_t blocks)
{
    return (s->features + s->forms + s->slopes + s->block) * blocks;
}

/* Fills f and g. */
static void find_features(const wfre_surrogate *s, const wfre_vector_table *vectors, size_t blocks,
                          const float *row, float *f, float *g)
{
    size_t a = s->block;
    float *x = f + blocks, floor = (float)s->floor;
    vectors->transpose(blocks, a, row, x);
    for (size_t i = 0; i < a * blocks; i++)
        x[i] += floor;
    for (size_t i = 0; i < blocks; i++)
        f[i] = 1;
    wfre_mix forms = {.rows = s->forms, .k = a, .n = blocks, .a = s->linear, .b = x, .c = g};
    vectors->mix(&forms);
    vectors->power(s->forms * blocks, (float)s->power, g, f + (1 + a) * blocks);
}

void wfre_surrogate_embed(const wfre_surrogate *s, const wfre_vector_table *vectors, wfre_side side,
                          size_t blocks, const float *row, float *out, float *scratch)
{
    float *f = scratch, *g = f + s->features * blocks;
    find_features(s, vectors, blocks, row, f, g);
    wfre_mix map = {
        .rows = s->rank, .k = s->features, .n = blocks, .a = s->map[side], .b = f, .c = out};
    vectors->mix(&map);
}

void wfre_surrogate_carry_back(const wfre_surrogate *s, const wfre_vector_table *vectors,
                               wfre_slope kind, wfre_side side, size_t blocks, const float *row,
                               const float *slope, float *gradient, float *scratch)
{
    size_t a = s->block, forms = s->forms * blocks;
    float *f = scratch, *g = f + s->features * blocks, *df = g + forms;
    float *dx = df + s->slopes * blocks;
    find_features(s, vectors, blocks, row, f, g);
    wfre_mix map = {.rows = wfre_surrogate_slopes(s, kind),
                    .k = s->rank,
                    .n = blocks,
                    .a = s->back[kind][side],
                    .b = slope,
                    .c = df};
    vectors->mix(&map);
    /* dg = df p g^(p-1); g^p is there already, but not where g is below the floor. */
    const float *powers = f + (1 + a) * blocks;
    float *dg = df + (1 + a) * blocks, *own = df + s->features * blocks;
    float p = (float)s->power, lowest = WFRE_SLOPE_FLOOR, steepest = p;
    vectors->power(1, p - 1, &lowest, &lowest);
    steepest *= lowest;
    for (size_t i = 0; i < forms; i++)
        dg[i] *= g[i] > WFRE_SLOPE_FLOOR ? p * powers[i] / g[i] : steepest;
    /* The powers of the envelope's gradient, of x. */
    size_t more = kind == WFRE_SLOPE_ENVELOPE ? 2 : 0;
    for (size_t k = 0; k < more; k++) {
        vectors->power(a * blocks, (float)s->envelope[k], f + blocks, dx);
        for (size_t i = 0; i < a * blocks; i++)
            own[k * a * blocks + i] *= dx[i];
    }
    wfre_mix back = {.rows = a, .k = s->forms, .n = blocks, .a = s->linear_back, .b = dg, .c = dx};
    vectors->mix(&back);
    const float *direct = df + blocks;
    for (size_t i = 0; i < a * blocks; i++)
        dx[i] += direct[i];
    for (size_t k = 0; k < more; k++)
        for (size_t i = 0; i < a * blocks; i++)
            dx[i] += own[k * a * blocks + i];
    vectors->transpose(a, blocks, dx, gradient);
}
