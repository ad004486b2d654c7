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
#include "linalg/simd.h"
#include "linalg/tiles.h"

enum { SIDE = 16, BLOCK_K = 32, PANEL = 2 * SIDE, TILE_BYTES = 1024, STRIDE = 64 };

/* Rows 0 .. 31 of the strip at k = from .. from+31 as float32, zeros outside: [row][k] or [k][row],
 * as `along_k` of the strip says. */
static void gather(const wfre_strip *strip, size_t from, float *numbers)
{
    size_t depth = strip->k - from < BLOCK_K ? strip->k - from : BLOCK_K;
    size_t rows = strip->along_k ? strip->count : depth;
    size_t length = strip->along_k ? depth : strip->count;
    const float *x = strip->x + (strip->along_k ? from : from * strip->ld);
    if (rows < PANEL || length < PANEL)
        memset(numbers, 0, PANEL * BLOCK_K * sizeof *numbers);
    for (size_t i = 0; i < rows; i++)
        memcpy(numbers + i * PANEL, x + i * strip->ld, length * sizeof *numbers);
}

static void transpose(float *numbers)
{
    for (size_t i = 0; i < PANEL; i++)
        for (size_t j = 0; j < i; j++) {
            float saved = numbers[i * PANEL + j];
            numbers[i * PANEL + j] = numbers[j * PANEL + i];
            numbers[j * PANEL + i] = saved;
        }
}

typedef uint16_t halves __attribute__((vector_size(2 * WFRE_LANES), aligned(2), may_alias));
typedef uint32_t pairs __attribute__((vector_size(4 * WFRE_LANES), aligned(2), may_alias));

/* 32 rows of 32 k: each row's numbers one after another. */
static void pack_a(const wfre_strip *strip, void *panel)
{
    uint16_t *out = panel;
    for (size_t from = 0; from < strip->k; from += BLOCK_K, out += PANEL * BLOCK_K) {
        float numbers[PANEL * BLOCK_K]; /* [row][k] */
        gather(strip, from, numbers);
        if (!strip->along_k)
            transpose(numbers);
        for (size_t i = 0; i < PANEL * BLOCK_K; i += LANES) {
            uvec upper = (uvec)round_to_bf16(load(numbers + i)) >> 16;
            *(halves *)(out + i) = __builtin_convertvector(upper, halves);
        }
    }
}

/* 32 columns of 32 k: two successive k of a column share 32 bits, the first in the lower half. */
static void pack_b(const wfre_strip *strip, void *panel)
{
    uint16_t *out = panel;
    for (size_t from = 0; from < strip->k; from += BLOCK_K, out += PANEL * BLOCK_K) {
        float numbers[PANEL * BLOCK_K]; /* [k][column] */
        gather(strip, from, numbers);
        if (strip->along_k)
            transpose(numbers);
        for (size_t tile = 0; tile < 2; tile++)
            for (size_t pair = 0; pair < SIDE; pair++) {
                const float *even = numbers + 2 * pair * PANEL + tile * SIDE;
                uvec low = (uvec)round_to_bf16(load(even)) >> 16;
                uvec high = (uvec)round_to_bf16(load(even + PANEL)) & 0xFFFF0000u;
                *(pairs *)(out + (tile * SIDE + pair) * 2 * SIDE) = low | high;
            }
    }
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
    vec alpha = splat(tile->alpha), beta = splat(tile->beta);
    for (size_t i = 0; i < tile->rows; i++)
        for (size_t j = 0; j < tile->columns; j += SIDE) {
            vec sum = alpha * load(sums + ((i / SIDE * 2 + j / SIDE) * SIDE + i % SIDE) * SIDE);
            float *c = tile->c + i * tile->ldc + j;
            size_t columns = tile->columns - j < SIDE ? tile->columns - j : SIDE;
            if (tile->beta != 0.0f)
                sum = muladd(beta, load_part(c, columns), sum);
            store_part(c, sum, columns);
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
    .depth = 512,
    .kr = BLOCK_K,
    .number = sizeof(uint16_t),
    .pack_a = pack_a,
    .pack_b = pack_b,
    .tile = compute_tile,
    .enter = enter,
    .leave = leave,
};
