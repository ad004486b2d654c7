/* The inner kernels of the float32 matrix product: panels, register tiles and dot products, in
 * vectors of WFRE_LANES floats (simd.h); built once per instruction set.
 *
 *            AVX2                          AVX-512
 *   tile     6 x 16: 12 of 16 registers    14 x 32: 28 of 32
 *   dots     3 x 4                         6 x 4
 */
#include <string.h>

#include "base/bf16.h"
#include "linalg/gemm.h"
#include "simd/simd.h"

enum {
    MR = LANES == 8 ? 6 : 14,
    NR = 2 * LANES,
    DOT_ROWS = LANES == 8 ? 3 : 6,
    DOT_COLUMNS = 4,
    UPDATE_ROWS = LANES == 8 ? 2 : 4,
    UPDATE_DEPTH = 4,
    UPDATE_COLUMNS = 512, /* so that four rows of B and some of C stay in the L1 cache */
};

/* ---- panels ------------------------------------------------------------------------------- */

/* Numbers that lie along k, transposed in blocks of eight by eight. Where the width is not a
 * multiple of eight a block's rows reach into the next k, or beyond the panel: so the blocks go
 * from the last to the first, and those of later k and later panels overwrite what was too much. */
INLINE void pack_transposed(const wfre_strip *strip, size_t width, float *panel)
{
    const size_t last = (width - 1) / 8 * 8;
    size_t p = 0;
    if (strip->count == width)
        for (; p + 8 <= strip->k; p += 8) {
            const float *x = strip->x + p;
            for (size_t i = 0; i < width; i++)
                __builtin_prefetch(x + (width + i) * strip->ld); /* the next panel's */
            float *to = panel + p * width;
            transpose8(x + last * strip->ld, strip->ld, width - last, to + last, width);
            for (size_t first = last; first >= 8; first -= 8)
                transpose8(x + (first - 8) * strip->ld, strip->ld, 8, to + first - 8, width);
        }
    for (; p < strip->k; p++)
        for (size_t i = 0; i < strip->count; i++)
            panel[p * width + i] = strip->x[i * strip->ld + p];
}

INLINE void pack(const wfre_strip *strip, size_t width, float *panel)
{
    if (strip->count < width)
        memset(panel, 0, strip->k * width * sizeof *panel);
    if (strip->along_k)
        pack_transposed(strip, width, panel);
    else if (strip->count == width)
        for (size_t p = 0; p < strip->k; p++) {
            const float *x = strip->x + p * strip->ld;
            __builtin_prefetch(x + width); /* the next panel's */
            memcpy(panel + p * width, x, width * sizeof *panel);
        }
    else
        for (size_t p = 0; p < strip->k; p++)
            memcpy(panel + p * width, strip->x + p * strip->ld, strip->count * sizeof *panel);
    if (!strip->round)
        return;
    size_t i = 0, n = strip->k * width;
    for (; i + LANES <= n; i += LANES)
        vf_write(panel + i, vf_round_to_bf16(vf_read(panel + i)));
    if (i < n)
        vf_store_part(panel + i, vf_round_to_bf16(vf_load_part(panel + i, n - i)), n - i);
}

static void pack_a(const wfre_strip *strip, void *panel)
{
    pack(strip, MR, panel);
}

static void pack_b(const wfre_strip *strip, void *panel)
{
    pack(strip, NR, panel);
}

/* ---- register tiles ----------------------------------------------------------------------- */

/* The columns that a tile at the right edge of C has. */
static void finish_part(const wfre_tile *tile, float *c, const float *sums)
{
    for (size_t j = 0; j < tile->columns; j++)
        c[j] = tile->beta != 0.0f ? sums[j] + tile->beta * c[j] : sums[j];
}

/* C[i][j] = alpha (sum over p of a[p][i] b[p][j]) + beta C[i][j], with all sums in registers:
 * `rows` is a constant in each use. */
INLINE void tile_rows(const wfre_tile *tile, size_t rows)
{
    const float *a = tile->a, *b = tile->b;
    vf low[MR], high[MR];
#pragma GCC unroll 16
    for (size_t i = 0; i < rows; i++)
        low[i] = high[i] = vf_set(0.0f);
    for (size_t p = 0; p < tile->k; p++, a += MR, b += NR) {
        vf left = vf_read(b), right = vf_read(b + LANES);
#pragma GCC unroll 16
        for (size_t i = 0; i < rows; i++) {
            vf factor = vf_set(a[i]);
            low[i] = vf_fma(factor, left, low[i]);
            high[i] = vf_fma(factor, right, high[i]);
        }
    }
    vf alpha = vf_set(tile->alpha), beta = vf_set(tile->beta);
    float *c = tile->c;
#pragma GCC unroll 16
    for (size_t i = 0; i < rows; i++, c += tile->ldc) {
        low[i] *= alpha;
        high[i] *= alpha;
        if (tile->columns < NR) {
            float sums[NR];
            vf_write(sums, low[i]);
            vf_write(sums + LANES, high[i]);
            finish_part(tile, c, sums);
            continue;
        }
        if (tile->beta != 0.0f) {
            low[i] = vf_fma(beta, vf_read(c), low[i]);
            high[i] = vf_fma(beta, vf_read(c + LANES), high[i]);
        }
        vf_write(c, low[i]);
        vf_write(c + LANES, high[i]);
    }
}

static void compute_tile(const wfre_tile *tile)
{
    switch (tile->rows) {
    case 1:
        tile_rows(tile, 1);
        break;
    case 2:
        tile_rows(tile, 2);
        break;
    case 3:
        tile_rows(tile, 3);
        break;
    case 4:
        tile_rows(tile, 4);
        break;
    case 5:
        tile_rows(tile, 5);
        break;
    case 6:
        tile_rows(tile, 6);
        break;
#if WFRE_LANES == 16
    case 7:
        tile_rows(tile, 7);
        break;
    case 8:
        tile_rows(tile, 8);
        break;
    case 9:
        tile_rows(tile, 9);
        break;
    case 10:
        tile_rows(tile, 10);
        break;
    case 11:
        tile_rows(tile, 11);
        break;
    case 12:
        tile_rows(tile, 12);
        break;
    case 13:
        tile_rows(tile, 13);
        break;
    case 14:
        tile_rows(tile, 14);
        break;
#endif
    }
}

/* ---- dot products ------------------------------------------------------------------------- */

typedef vf dot_sums[DOT_ROWS][DOT_COLUMNS];

/* `count` is LANES, or fewer at the end of a row. */
INLINE vf load_rounded(const float *x, size_t count, bool round)
{
    vf a = count == LANES ? vf_read(x) : vf_load_part(x, count);
    return round ? vf_round_to_bf16(a) : a;
}

/* sums[i][j] += a[i] b[j] at k = p .. p+count-1 */
INLINE void add_dots(dot_sums sums, size_t rows, const float *a, size_t lda, const float *const *b,
                     size_t p, size_t count, bool round)
{
    vf x[DOT_ROWS];
#pragma GCC unroll 6
    for (size_t i = 0; i < rows; i++)
        x[i] = load_rounded(a + i * lda + p, count, round);
#pragma GCC unroll 4
    for (size_t j = 0; j < DOT_COLUMNS; j++) {
        vf y = load_rounded(b[j] + p, count, round);
#pragma GCC unroll 6
        for (size_t i = 0; i < rows; i++)
            sums[i][j] = vf_fma(x[i], y, sums[i][j]);
    }
}

/* C[row + i][column + j] for i < rows and j < 4, as far as there are columns: the last one stands
 * in for those beyond it. */
INLINE void dot_rows(const wfre_gemm_job *job, size_t row, size_t column, size_t rows, bool round)
{
    const float *a = job->a + row * job->lda;
    const float *b[DOT_COLUMNS];
    for (size_t j = 0; j < DOT_COLUMNS; j++)
        b[j] = job->b + (column + j < job->n ? column + j : job->n - 1) * job->ldb;
    dot_sums sums;
#pragma GCC unroll 6
    for (size_t i = 0; i < rows; i++)
#pragma GCC unroll 4
        for (size_t j = 0; j < DOT_COLUMNS; j++)
            sums[i][j] = vf_set(0.0f);
    size_t p = 0;
    for (; p + LANES <= job->k; p += LANES) {
        for (size_t j = 0; j < DOT_COLUMNS; j++)
            __builtin_prefetch(b[j] + DOT_COLUMNS * job->ldb + p); /* the next columns' */
        add_dots(sums, rows, a, job->lda, b, p, LANES, round);
    }
    if (p < job->k)
        add_dots(sums, rows, a, job->lda, b, p, job->k - p, round);
#pragma GCC unroll 6
    for (size_t i = 0; i < rows; i++) {
        float *c = job->c + (row + i) * job->ldc + column;
        four products = vf_totals(sums[i]) * job->alpha;
        for (size_t j = 0; j < DOT_COLUMNS && column + j < job->n; j++)
            c[j] = job->beta != 0.0f ? products[j] + job->beta * c[j] : products[j];
    }
}

INLINE void all_dots(const wfre_gemm_job *job, bool round)
{
    size_t groups = (job->m + DOT_ROWS - 1) / DOT_ROWS;
    for (size_t column = 0; column < job->n; column += DOT_COLUMNS)
        for (size_t group = 0; group < groups; group++) {
            size_t row = group * job->m / groups;
            switch ((group + 1) * job->m / groups - row) {
            case 1:
                dot_rows(job, row, column, 1, round);
                break;
            case 2:
                dot_rows(job, row, column, 2, round);
                break;
            case 3:
                dot_rows(job, row, column, 3, round);
                break;
#if WFRE_LANES == 16
            case 4:
                dot_rows(job, row, column, 4, round);
                break;
            case 5:
                dot_rows(job, row, column, 5, round);
                break;
            case 6:
                dot_rows(job, row, column, 6, round);
                break;
#endif
            }
        }
}

static void dots(const wfre_gemm_job *job, bool round)
{
    if (round)
        all_dots(job, true);
    else
        all_dots(job, false);
}

/* ---- updates by rows ---------------------------------------------------------------------- */

/* C[row + i] += alpha sum over q of A[row + i][p + q] B[p + q], for i < rows and q < depth. With
 * `fresh` the old C is taken for 0 and not read. */
INLINE void update_rows(const wfre_gemm_job *job, size_t row, size_t p, size_t rows, size_t depth,
                        bool round, bool fresh)
{
    const float *b = job->b + p * job->ldb;
    float *c = job->c + row * job->ldc;
    size_t along = job->transpose_a ? job->lda : 1, across = job->transpose_a ? 1 : job->lda;
    vf factors[UPDATE_ROWS][UPDATE_DEPTH];
#pragma GCC unroll 4
    for (size_t i = 0; i < rows; i++)
#pragma GCC unroll 4
        for (size_t q = 0; q < depth; q++) {
            float x = job->a[(row + i) * across + (p + q) * along];
            factors[i][q] =
                vf_set(job->alpha * (round ? wfre_float_from_bf16(wfre_bf16_from_float(x)) : x));
        }
    for (size_t j = 0; j < job->n; j += LANES) {
        size_t count = job->n - j < LANES ? job->n - j : LANES;
        vf y[UPDATE_DEPTH];
#pragma GCC unroll 4
        for (size_t q = 0; q < depth; q++) {
            y[q] = load_rounded(b + q * job->ldb + j, count, round);
            __builtin_prefetch(b + (q + UPDATE_DEPTH) * job->ldb + j); /* the next rows' */
        }
#pragma GCC unroll 4
        for (size_t i = 0; i < rows; i++) {
            float *to = c + i * job->ldc + j;
            vf sum = fresh ? vf_set(0) : load_rounded(to, count, false);
#pragma GCC unroll 4
            for (size_t q = 0; q < depth; q++)
                sum = vf_fma(factors[i][q], y[q], sum);
            if (count == LANES)
                vf_write(to, sum);
            else
                vf_store_part(to, sum, count);
        }
    }
}

INLINE void update_group(const wfre_gemm_job *job, size_t row, size_t p, size_t depth, bool round,
                         bool fresh)
{
    switch (job->m - row) {
    case 1:
        update_rows(job, row, p, 1, depth, round, fresh);
        break;
#if WFRE_LANES == 16
    case 2:
        update_rows(job, row, p, 2, depth, round, fresh);
        break;
    case 3:
        update_rows(job, row, p, 3, depth, round, fresh);
        break;
#endif
    default:
        update_rows(job, row, p, UPDATE_ROWS, depth, round, fresh);
        break;
    }
}

INLINE void all_updates(const wfre_gemm_job *whole, bool round)
{
    wfre_gemm_job job = *whole;
    for (size_t column = 0; column < whole->n; column += UPDATE_COLUMNS) {
        job.b = whole->b + column;
        job.c = whole->c + column;
        job.n = whole->n - column < UPDATE_COLUMNS ? whole->n - column : UPDATE_COLUMNS;
        bool fresh = job.beta == 0.0f && job.k > 0;
        size_t first = job.k < UPDATE_DEPTH ? 1 : UPDATE_DEPTH; /* updates at once */
        for (size_t i = 0; i < job.m && !fresh && job.beta != 1.0f; i++)
            for (size_t j = 0; j < job.n; j++)
                job.c[i * job.ldc + j] =
                    job.beta != 0.0f ? job.beta * job.c[i * job.ldc + j] : 0.0f;
        size_t p;
        for (size_t row = 0; row < job.m && fresh; row += UPDATE_ROWS)
            if (first == 1)
                update_group(&job, row, 0, 1, round, true);
            else
                update_group(&job, row, 0, UPDATE_DEPTH, round, true);
        for (p = fresh ? first : 0; p + UPDATE_DEPTH <= job.k; p += UPDATE_DEPTH)
            for (size_t row = 0; row < job.m; row += UPDATE_ROWS)
                update_group(&job, row, p, UPDATE_DEPTH, round, false);
        for (; p < job.k; p++)
            for (size_t row = 0; row < job.m; row += UPDATE_ROWS)
                update_group(&job, row, p, 1, round, false);
    }
}

static void updates(const wfre_gemm_job *job, bool round)
{
    if (round)
        all_updates(job, true);
    else
        all_updates(job, false);
}

const wfre_gemm_table KERNEL(wfre_gemm) = {
    .mr = MR,
    .nr = NR,
    .rows = 256,
    .depth = 400,
    .kr = 1,
    .number = sizeof(float),
    .most_dots = 24,
    .most_updates = 12,
    .pack_a = pack_a,
    .pack_b = pack_b,
    .tile = compute_tile,
    .dots = dots,
    .updates = updates,
};
