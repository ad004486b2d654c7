/* One row with several others: what sparse corrections of matrix products are made of. A register
 * of the one is used for all of them, and sums of several rows are kept side by side, since one by
 * one each addition would wait for the one before. Built once per instruction set. */
#include "linalg/linalg.h"
#include "linalg/narrow.h"
#include "simd/simd.h"

enum { TOGETHER = 4, AHEAD = 2 }; /* rows; vectors of each */

INLINE vf load(const float *x, size_t count)
{
    return count == LANES ? vf_read(x) : vf_load_part(x, count);
}

INLINE void store(float *x, vf a, size_t count)
{
    if (count == LANES)
        vf_write(x, a);
    else
        vf_store_part(x, a, count);
}

/* `count` of four, or fewer at the end; those beyond it are 0. */
INLINE void dot_some(size_t n, const float *x, size_t count, const float *const *rows, float *sums)
{
    vf kept[TOGETHER][AHEAD], whole[TOGETHER];
#pragma GCC unroll 4
    for (size_t r = 0; r < TOGETHER; r++)
#pragma GCC unroll 2
        for (size_t k = 0; k < AHEAD; k++)
            kept[r][k] = vf_set(0.0f);
    size_t i = 0;
    for (; i + AHEAD * LANES <= n; i += AHEAD * LANES)
#pragma GCC unroll 2
        for (size_t k = 0; k < AHEAD; k++) {
            vf one = vf_read(x + i + k * LANES);
#pragma GCC unroll 4
            for (size_t r = 0; r < count; r++)
                kept[r][k] = vf_fma(one, vf_read(rows[r] + i + k * LANES), kept[r][k]);
        }
    for (size_t part; i < n; i += part) {
        part = n - i < LANES ? n - i : LANES;
        vf one = load(x + i, part);
#pragma GCC unroll 4
        for (size_t r = 0; r < count; r++)
            kept[r][0] = vf_fma(one, load(rows[r] + i, part), kept[r][0]);
    }
#pragma GCC unroll 4
    for (size_t r = 0; r < TOGETHER; r++)
        whole[r] = kept[r][0] + kept[r][1];
    four totals = vf_totals(whole);
    for (size_t r = 0; r < count; r++)
        sums[r] = totals[r];
}

void KERNEL(wfre_dot_rows)(size_t n, const float *x, size_t count, const float *const *rows,
                           float *sums)
{
    size_t r = 0;
    for (; r + TOGETHER <= count; r += TOGETHER)
        dot_some(n, x, TOGETHER, rows + r, sums + r);
    switch (count - r) {
    case 1:
        dot_some(n, x, 1, rows + r, sums + r);
        break;
    case 2:
        dot_some(n, x, 2, rows + r, sums + r);
        break;
    case 3:
        dot_some(n, x, 3, rows + r, sums + r);
        break;
    }
}

INLINE void add_to_some(size_t n, const float *x, size_t count, const float *factors,
                        float *const *rows)
{
    vf factor[TOGETHER];
#pragma GCC unroll 4
    for (size_t r = 0; r < count; r++)
        factor[r] = vf_set(factors[r]);
    for (size_t i = 0, part; i < n; i += part) {
        part = n - i < LANES ? n - i : LANES;
        vf one = load(x + i, part);
#pragma GCC unroll 4
        for (size_t r = 0; r < count; r++)
            store(rows[r] + i, vf_fma(factor[r], one, load(rows[r] + i, part)), part);
    }
}

void KERNEL(wfre_add_to_rows)(size_t n, const float *x, size_t count, const float *factors,
                              float *const *rows)
{
    size_t r = 0;
    for (; r + TOGETHER <= count; r += TOGETHER)
        add_to_some(n, x, TOGETHER, factors + r, rows + r);
    switch (count - r) {
    case 1:
        add_to_some(n, x, 1, factors + r, rows + r);
        break;
    case 2:
        add_to_some(n, x, 2, factors + r, rows + r);
        break;
    case 3:
        add_to_some(n, x, 3, factors + r, rows + r);
        break;
    }
}

void KERNEL(wfre_add_rows)(size_t n, size_t count, const float *factors, const float *const *rows,
                           float *y)
{
    size_t i = 0;
    for (; i + TOGETHER * LANES <= n; i += TOGETHER * LANES) {
        vf kept[TOGETHER];
#pragma GCC unroll 4
        for (size_t k = 0; k < TOGETHER; k++)
            kept[k] = vf_read(y + i + k * LANES);
        for (size_t r = 0; r < count; r++) {
            vf factor = vf_set(factors[r]);
#pragma GCC unroll 4
            for (size_t k = 0; k < TOGETHER; k++)
                kept[k] = vf_fma(factor, vf_read(rows[r] + i + k * LANES), kept[k]);
        }
#pragma GCC unroll 4
        for (size_t k = 0; k < TOGETHER; k++)
            vf_write(y + i + k * LANES, kept[k]);
    }
    for (size_t part; i < n; i += part) {
        part = n - i < LANES ? n - i : LANES;
        vf kept = load(y + i, part);
        for (size_t r = 0; r < count; r++)
            kept = vf_fma(vf_set(factors[r]), load(rows[r] + i, part), kept);
        store(y + i, kept, part);
    }
}
