/* Kernels that make features of histograms and multiply them as bytes (search/sketch.c), in vectors
 * of WFRE_LANES floats (simd.h); built once per instruction set. */
#include "linalg/narrow.h"

#include <string.h>

/* ---- few rows of many columns ------------------------------------------------------------- */

enum { MIX_ROWS = 6 };

/* Rows row .. row + rows - 1 of C in columns from j on, with all sums in registers: two vectors of
 * columns, or if not `whole` those that are left, fewer. `rows` and `whole` are constants in each
 * use. */
INLINE void mix_tile(const wfre_mix *mix, size_t row, size_t j, size_t rows, bool whole)
{
    size_t columns = mix->n - j, first = columns < LANES ? columns : LANES;
    vf low[MIX_ROWS], high[MIX_ROWS];
#pragma GCC unroll 6
    for (size_t i = 0; i < rows; i++)
        low[i] = high[i] = vf_set(0.0f);
    for (size_t p = 0; p < mix->k; p++) {
        const float *a = mix->a + p * mix->rows + row, *b = mix->b + p * mix->n + j;
        vf left = whole ? vf_read(b) : vf_load_part(b, first);
        vf right = whole ? vf_read(b + LANES) : vf_load_part(b + first, columns - first);
#pragma GCC unroll 6
        for (size_t i = 0; i < rows; i++) {
            vf factor = vf_set(a[i]);
            low[i] = vf_fma(factor, left, low[i]);
            high[i] = vf_fma(factor, right, high[i]);
        }
    }
#pragma GCC unroll 6
    for (size_t i = 0; i < rows; i++) {
        float *c = mix->c + (row + i) * mix->n + j;
        if (whole) {
            vf_write(c, low[i]);
            vf_write(c + LANES, high[i]);
        } else {
            vf_store_part(c, low[i], first);
            vf_store_part(c + first, high[i], columns - first);
        }
    }
}

INLINE void mix_rows(const wfre_mix *mix, size_t row, size_t rows)
{
    size_t j = 0;
    for (; j + 2 * LANES <= mix->n; j += 2 * LANES)
        mix_tile(mix, row, j, rows, true);
    if (j < mix->n)
        mix_tile(mix, row, j, rows, false);
}

void KERNEL(wfre_mix)(const wfre_mix *mix)
{
    const wfre_mix fixed = *mix; /* a copy that no store can change */
    size_t row = 0;
    for (; row + MIX_ROWS <= mix->rows; row += MIX_ROWS)
        mix_rows(&fixed, row, MIX_ROWS);
    for (; row + 2 <= mix->rows; row += 2)
        mix_rows(&fixed, row, 2);
    if (row < mix->rows)
        mix_rows(&fixed, row, 1);
}

/* Eight rows at a time through a square, of which the columns that there are are kept. */
void KERNEL(wfre_transpose)(size_t rows, size_t columns, const float *x, float *y)
{
    for (size_t j = 0; j < columns; j += 8) {
        size_t width = columns - j < 8 ? columns - j : 8, i = 0;
        for (; (i + 7) * columns + j + 8 <= rows * columns; i += 8) {
            float square[64];
            transpose8(x + i * columns + j, columns, 8, square, 8);
            for (size_t k = 0; k < width; k++)
                memcpy(y + (j + k) * rows + i, square + 8 * k, 8 * sizeof *y);
        }
        for (; i < rows; i++)
            for (size_t k = 0; k < width; k++)
                y[(j + k) * rows + i] = x[i * columns + j + k];
    }
}

/* ---- bytes -------------------------------------------------------------------------------- */

enum { TILE_ROWS = (LANES == 16 ? 4 : 2) }; /* of a tile of products, as registers allow */
typedef int8_t many_bytes __attribute__((vector_size(2 * WFRE_LANES), aligned(1), may_alias));
typedef int32_t quarter __attribute__((vector_size(16)));
typedef int16_t loose_words __attribute__((vector_size(4 * WFRE_LANES), aligned(2), may_alias));

float KERNEL(wfre_largest)(size_t n, const float *x)
{
    vf best = vf_set(0.0f);
    size_t i = 0;
    for (; i + LANES <= n; i += LANES)
        best = vf_max(best, (vf)((vs)vf_read(x + i) & INT32_MAX));
    best = vf_max(best, (vf)((vs)vf_load_part(x + i, n - i) & INT32_MAX));
    float largest = 0;
    for (int lane = 0; lane < LANES; lane++)
        largest = best[lane] > largest ? best[lane] : largest;
    return largest;
}

INLINE vs rounded(vf x, float scale)
{
    vs whole;
    (void)vf_nearest(vf_max(vf_min(x * scale, vf_set(127.0f)), vf_set(-127.0f)), &whole);
    return whole;
}

void KERNEL(wfre_to_i8)(size_t n, float scale, const float *x, int8_t *y)
{
    size_t i = 0;
    vs all[4];
    for (; i + 4 * LANES <= n; i += 4 * LANES) {
        for (size_t k = 0; k < 4; k++)
            all[k] = rounded(vf_read(x + i + k * LANES), scale);
        vs_store_bytes(y + i, all);
    }
    for (; i < n; i += LANES) {
        size_t count = n - i < LANES ? n - i : LANES;
        all[0] = rounded(vf_load_part(x + i, count), scale);
        for (size_t k = 0; k < count; k++)
            y[i + k] = (int8_t)all[0][k];
    }
}

/* Which lanes of two vectors are taken. GCC and clang have one shuffle in common, and it wants
 * constants. */
#if WFRE_LANES == 16
#define EVEN 0, 16, 1, 17, 4, 20, 5, 21, 8, 24, 9, 25, 12, 28, 13, 29
#define ODD 2, 18, 3, 19, 6, 22, 7, 23, 10, 26, 11, 27, 14, 30, 15, 31
#define FRONT 0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29
#define BACK 2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30, 31
#else
#define EVEN 0, 8, 1, 9, 4, 12, 5, 13
#define ODD 2, 10, 3, 11, 6, 14, 7, 15
#define FRONT 0, 1, 8, 9, 4, 5, 12, 13
#define BACK 2, 3, 10, 11, 6, 7, 14, 15
#endif

/* The sums of the lanes of four vectors: in each quarter of four lanes the vectors change places
 * with the lanes, then the quarters are added. One vector after the other would take a third of the
 * time of a tile. */
INLINE quarter four_sums(const vs *v)
{
    vs left = __builtin_shufflevector(v[0], v[1], EVEN) + __builtin_shufflevector(v[0], v[1], ODD);
    vs right = __builtin_shufflevector(v[2], v[3], EVEN) + __builtin_shufflevector(v[2], v[3], ODD);
    vs both =
        __builtin_shufflevector(left, right, FRONT) + __builtin_shufflevector(left, right, BACK);
    quarter parts[LANES / 4], sum;
    memcpy(parts, &both, sizeof both);
    sum = parts[0];
    for (int k = 1; k < LANES / 4; k++)
        sum += parts[k];
    return sum;
}

/* A tile of `rows` times `count` products, both constants in each use. Every vector that is loaded
 * serves a whole row or column of the tile: alone, loading would take longer than multiplying. */
INLINE void dot_tile(const wfre_dots *d, size_t row, size_t rows, size_t query, size_t count)
{
    const int8_t *x = d->x + row * d->n;
    const int16_t *y = d->y + query * d->n;
    vs lanes[4][4];
#pragma GCC unroll 4
    for (size_t r = 0; r < rows; r++)
#pragma GCC unroll 4
        for (size_t q = 0; q < 4; q++)
            lanes[r][q] = (vs){0};
    for (size_t i = 0; i < d->n; i += 2 * LANES) {
        vw wide[4];
#pragma GCC unroll 4
        for (size_t r = 0; r < rows; r++)
            wide[r] = __builtin_convertvector(*(const many_bytes *)(x + r * d->n + i), vw);
#pragma GCC unroll 4
        for (size_t q = 0; q < count; q++) {
            vw own = *(const loose_words *)(y + q * d->n + i);
#pragma GCC unroll 4
            for (size_t r = 0; r < rows; r++)
                lanes[r][q] += vs_dot_pairs(wide[r], own);
        }
    }
#pragma GCC unroll 4
    for (size_t r = 0; r < rows; r++) {
        quarter sums = four_sums(lanes[r]);
        memcpy(d->sums + (row + r) * d->stride + query, &sums, count * sizeof *d->sums);
    }
}

/* All queries for `rows` rows. */
INLINE void dot_rows(const wfre_dots *d, size_t row, size_t rows)
{
    size_t q = 0;
    for (; q + 4 <= d->count; q += 4)
        dot_tile(d, row, rows, q, 4);
    for (; q < d->count; q++)
        dot_tile(d, row, rows, q, 1);
}

void KERNEL(wfre_dots_i8)(const wfre_dots *dots)
{
    size_t row = 0;
    /* For a few queries it is memory that takes the time, and rows one behind the other come
     * fastest. */
    for (; dots->count >= 4 && row + TILE_ROWS <= dots->rows; row += TILE_ROWS)
        dot_rows(dots, row, TILE_ROWS);
    for (; row < dots->rows; row++)
        dot_rows(dots, row, 1);
}
