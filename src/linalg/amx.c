/* The bfloat16 matrix product on AMX tiles: panels in the tiles' layout, and a 32 x 32 tile of C.
 *
 * An AMX tile register is 16 rows of 64 bytes. TDPBF16PS multiplies A, 16 rows of 32 consecutive k,
 * by B, whose row q holds the pairs (2q, 2q+1) of k for 16 columns side by side, and adds to 16 x
 * 16 float32. A panel is therefore a row of blocks of 32 k; a block is two tiles one after another,
 * for the first and the last 16 rows of A (columns of B):
 *
 *   A  [k / 32][tile][row 16][k 32]         B  [k / 32][tile][pair 16][column 16][2]
 */
#include <string.h>

#include "linalg/gemm.h"
#include "linalg/tiles.h"
#include "simd/simd.h"

enum { SIDE = 16, BLOCK_K = 32, PANEL = 2 * SIDE, TILE_BYTES = 1024, STRIDE = 64 };

/* A tile as 16 x 16 pairs of bfloat16 whose k follow each other, the first in the lower half. */
typedef uint32_t pairs[SIDE * SIDE];

INLINE vi bits_of(const float *x, size_t count)
{
    vf a = count >= LANES ? vf_read(x) : vf_load_part(x, count);
    return (vi)vf_round_to_bf16(a);
}

/* [row][pair], of numbers that lie along k */
static void pair_along_rows(const wfre_strip *tile, uint32_t *out)
{
    typedef uint16_t halves __attribute__((vector_size(2 * WFRE_LANES), may_alias));
    memset(out, 0, sizeof(pairs));
    for (size_t i = 0; i < tile->count; i++)
        for (size_t p = 0; p < tile->k; p += SIDE) {
            vi bits = bits_of(tile->x + i * tile->ld + p, tile->k - p) >> 16;
            *(halves *)(out + i * SIDE + p / 2) = __builtin_convertvector(bits, halves);
        }
}

/* [pair][row], of numbers that lie along the rows */
static void pair_across_rows(const wfre_strip *tile, uint32_t *out)
{
    memset(out, 0, sizeof(pairs));
    for (size_t p = 0; p < tile->k; p += 2) {
        const float *x = tile->x + p * tile->ld;
        vi even = bits_of(x, tile->count) >> 16, odd = {0};
        if (p + 1 < tile->k)
            odd = bits_of(x + tile->ld, tile->count) & 0xFFFF0000u;
        *(vi *)(out + p / 2 * SIDE) = even | odd;
    }
}

static void transpose_pairs(const uint32_t *from, uint32_t *to)
{
    for (size_t i = 0; i < SIDE; i += 8)
        for (size_t j = 0; j < SIDE; j += 8)
            transpose8((const float *)from + i * SIDE + j, SIDE, 8, (float *)to + j * SIDE + i,
                       SIDE);
}

/* Two tiles for each 32 k: [row][pair] for A, [pair][row] for B. */
static void pack(const wfre_strip *strip, bool rows_first, uint32_t *panel)
{
    for (size_t from = 0; from < strip->k; from += BLOCK_K)
        for (size_t first = 0; first < PANEL; first += SIDE, panel += SIDE * SIDE) {
            size_t count = strip->count > first ? strip->count - first : 0;
            wfre_strip tile = *strip;
            tile.x += strip->along_k ? first * strip->ld + from : from * strip->ld + first;
            tile.k = strip->k - from < BLOCK_K ? strip->k - from : BLOCK_K;
            tile.count = count < SIDE ? count : SIDE;
            _Alignas(64) pairs numbers;
            uint32_t *out = strip->along_k == rows_first ? panel : numbers;
            if (strip->along_k)
                pair_along_rows(&tile, out);
            else
                pair_across_rows(&tile, out);
            if (out != panel)
                transpose_pairs(numbers, panel);
        }
}

static void pack_a(const wfre_strip *strip, void *panel)
{
    pack(strip, true, panel);
}

static void pack_b(const wfre_strip *strip, void *panel)
{
    pack(strip, false, panel);
}

/* All eight tile registers: 16 rows of 64 bytes. A constant, since compilers do not know that the
 * instruction reads all of it. */
static void enter(void)
{
    static const struct {
        uint8_t palette, start_row, reserved[14];
        uint16_t row_bytes[16];
        uint8_t rows[16];
    } config = {
        .palette = 1,
        .row_bytes = {STRIDE, STRIDE, STRIDE, STRIDE, STRIDE, STRIDE, STRIDE, STRIDE},
        .rows = {SIDE, SIDE, SIDE, SIDE, SIDE, SIDE, SIDE, SIDE},
    };
    _tile_loadconfig(&config);
}

static void leave(void)
{
    _tile_release();
}

/* C = alpha sums + beta C, where sums is [2][2] tiles of [16][16]. */
static void finish_tile(const wfre_tile *tile, const float *sums)
{
    vf alpha = vf_set(tile->alpha), beta = vf_set(tile->beta);
    for (size_t i = 0; i < tile->rows; i++)
        for (size_t j = 0; j < tile->columns; j += SIDE) {
            vf sum = alpha * vf_read(sums + ((i / SIDE * 2 + j / SIDE) * SIDE + i % SIDE) * SIDE);
            float *c = tile->c + i * tile->ldc + j;
            size_t columns = tile->columns - j < SIDE ? tile->columns - j : SIDE;
            if (tile->beta != 0.0f)
                sum = vf_fma(beta, vf_load_part(c, columns), sum);
            vf_store_part(c, sum, columns);
        }
}

/* Tiles 0-3 hold C, 4 and 5 the rows of A, 6 and 7 the columns of B. */
static void compute_tile(const wfre_tile *tile)
{
    const char *a = tile->a, *b = tile->b;
    _tile_zero(0);
    _tile_zero(1);
    _tile_zero(2);
    _tile_zero(3);
    for (size_t p = 0; p < tile->k; p += BLOCK_K, a += 2 * TILE_BYTES, b += 2 * TILE_BYTES) {
        _tile_loadd(4, a, STRIDE);
        _tile_loadd(6, b, STRIDE);
        _tile_loadd(7, b + TILE_BYTES, STRIDE);
        _tile_loadd(5, a + TILE_BYTES, STRIDE);
        _tile_dpbf16ps(0, 4, 6);
        _tile_dpbf16ps(1, 4, 7);
        _tile_dpbf16ps(2, 5, 6);
        _tile_dpbf16ps(3, 5, 7);
    }
    _Alignas(64) float sums[4 * SIDE * SIDE];
    _tile_stored(0, sums, STRIDE);
    _tile_stored(1, sums + SIDE * SIDE, STRIDE);
    _tile_stored(2, sums + 2 * SIDE * SIDE, STRIDE);
    _tile_stored(3, sums + 3 * SIDE * SIDE, STRIDE);
    finish_tile(tile, sums);
}

#if defined(__AMX_TILE__) || defined(__AMXTILE__)
#define TABLE wfre_gemm_amx
#else
#define TABLE wfre_gemm_amx_emulated
#endif

const wfre_gemm_table TABLE = {
    .mr = PANEL,
    .nr = PANEL,
    .rows = 768,
    .depth = 512,
    .kr = BLOCK_K,
    .number = sizeof(uint16_t),
    .pack_a = pack_a,
    .pack_b = pack_b,
    .tile = compute_tile,
    .enter = enter,
    .leave = leave,
};
