/* The bfloat16 matrix product by AVX-512's VDPBF16PS, which multiplies two neighbouring k at once:
 * panels of pairs, and a 14 x 32 tile of C in 28 of 32 registers.
 *
 *   A  [k / 2][row 14][2]         B  [k / 2][column 32][2]
 *
 * On a Zen 4 it takes as long as a multiplication and addition in float32, and so does twice the
 * work. */
#include <string.h>

#include "linalg/gemm.h"
#include "simd/simd.h"

#if defined(__AVX512BF16__)
#include <immintrin.h>
#define TABLE wfre_gemm_avx512bf16

/* sums[j] += a[2j] b[2j] + a[2j + 1] b[2j + 1] */
INLINE vf add_pairs(vf sums, vi a, vi b)
{
    return (vf)_mm512_dpbf16_ps((__m512)sums, (__m512bh)a, (__m512bh)b);
}
#else /* the same in plain C, with which tests run the code on any CPU */
#define TABLE wfre_gemm_pairs_emulated

INLINE vf add_pairs(vf sums, vi a, vi b)
{
    vf even = (vf)(a << 16) * (vf)(b << 16);
    return sums + (even + (vf)(a & 0xFFFF0000u) * (vf)(b & 0xFFFF0000u));
}
#endif

enum { MR = 14, NR = 2 * LANES, SQUARE = 8 };

/* ---- panels ------------------------------------------------------------------------------- */

INLINE vi bits_of(const float *x, size_t count)
{
    vf a = count >= LANES ? vf_read(x) : vf_load_part(x, count);
    return (vi)vf_round_to_bf16(a);
}

/* Numbers that lie along the rows: two of them, one above the other, are a vector of pairs. */
INLINE void pack_across(const wfre_strip *strip, size_t width, uint32_t *panel)
{
    for (size_t p = 0; p < strip->k; p += 2, panel += width)
        for (size_t i = 0; i < width; i += LANES) {
            const float *x = strip->x + p * strip->ld + i;
            size_t count = strip->count > i ? strip->count - i : 0;
            vi even = bits_of(x, count) >> 16, odd = {0};
            if (p + 1 < strip->k)
                odd = bits_of(x + strip->ld, count) & 0xFFFF0000u;
            vf_store_part((float *)panel + i, (vf)(even | odd),
                          width - i < LANES ? width - i : LANES);
        }
}

/* The pairs of up to eight rows at 16 numbers of k, [row][pair]. */
INLINE void pair_rows(const float *x, size_t ld, size_t rows, size_t count, uint32_t *out)
{
    typedef uint16_t halves __attribute__((vector_size(2 * WFRE_LANES), may_alias));
    for (size_t i = 0; i < rows; i++) {
        vi bits = bits_of(x + i * ld, count) >> 16;
        *(halves *)(out + i * SQUARE) = __builtin_convertvector(bits, halves);
    }
}

/* Numbers that lie along k: pairs of eight rows, transposed. */
INLINE void pack_along(const wfre_strip *strip, size_t width, uint32_t *panel)
{
    _Alignas(64) uint32_t rows[SQUARE * SQUARE], turned[SQUARE * SQUARE];
    for (size_t p = 0; p < strip->k; p += LANES)
        for (size_t first = 0; first < width; first += SQUARE) {
            size_t most = width - first < SQUARE ? width - first : SQUARE;
            size_t left = strip->count > first ? strip->count - first : 0;
            size_t count = left < most ? left : most;
            if (count < SQUARE)
                memset(rows, 0, sizeof rows);
            if (count > 0)
                pair_rows(strip->x + first * strip->ld + p, strip->ld, count, strip->k - p, rows);
            transpose8((const float *)rows, SQUARE, SQUARE, (float *)turned, SQUARE);
            size_t pairs = (strip->k - p + 1) / 2 < SQUARE ? (strip->k - p + 1) / 2 : SQUARE;
            for (size_t q = 0; q < pairs; q++)
                memcpy(panel + (p / 2 + q) * width + first, turned + q * SQUARE,
                       most * sizeof *panel);
        }
}

INLINE void pack(const wfre_strip *strip, size_t width, uint32_t *panel)
{
    if (strip->along_k)
        pack_along(strip, width, panel);
    else
        pack_across(strip, width, panel);
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

/* C[i][j] = alpha sums + beta C[i][j] for the columns that there are. */
INLINE void finish_row(const wfre_tile *tile, float *c, vf sums, size_t columns)
{
    vf result = vf_set(tile->alpha) * sums;
    if (columns >= LANES) {
        if (tile->beta != 0.0f)
            result = vf_fma(vf_set(tile->beta), vf_read(c), result);
        vf_write(c, result);
    } else {
        if (tile->beta != 0.0f)
            result = vf_fma(vf_set(tile->beta), vf_load_part(c, columns), result);
        vf_store_part(c, result, columns);
    }
}

/* `rows` is a constant in each use. */
INLINE void tile_rows(const wfre_tile *tile, size_t rows)
{
    const uint32_t *a = tile->a;
    const float *b = tile->b;
    vf low[MR], high[MR];
#pragma GCC unroll 16
    for (size_t i = 0; i < rows; i++)
        low[i] = high[i] = vf_set(0.0f);
    for (size_t p = 0; p < tile->k; p += 2, a += MR, b += NR) {
        vi left = (vi)vf_read(b), right = (vi)vf_read(b + LANES);
#pragma GCC unroll 16
        for (size_t i = 0; i < rows; i++) {
            vi pair = (vi){0} + a[i];
            low[i] = add_pairs(low[i], pair, left);
            high[i] = add_pairs(high[i], pair, right);
        }
    }
    size_t beyond = tile->columns > LANES ? tile->columns - LANES : 0;
#pragma GCC unroll 16
    for (size_t i = 0; i < rows; i++) {
        float *c = tile->c + i * tile->ldc;
        finish_row(tile, c, low[i], tile->columns);
        if (beyond > 0)
            finish_row(tile, c + LANES, high[i], beyond);
    }
}

/* Fewer rows, at the lower edge of C, are taken four by four and then one by one. */
static void compute_tile(const wfre_tile *tile)
{
    wfre_tile part = *tile;
    if (tile->rows == MR) {
        tile_rows(tile, MR);
        return;
    }
    for (size_t row = 0; row < tile->rows; row += part.rows) {
        part.rows = tile->rows - row >= 4 ? 4 : 1;
        part.a = (const uint32_t *)tile->a + row;
        part.c = tile->c + row * tile->ldc;
        if (part.rows == 4)
            tile_rows(&part, 4);
        else
            tile_rows(&part, 1);
    }
}

const wfre_gemm_table TABLE = {
    .mr = MR,
    .nr = NR,
    .rows = 504,
    .depth = 400,
    .kr = 2,
    .number = sizeof(uint16_t),
    .pack_a = pack_a,
    .pack_b = pack_b,
    .tile = compute_tile,
};
