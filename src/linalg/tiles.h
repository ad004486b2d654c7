/* The AMX tile instructions: the compiler's where it has their flags, and otherwise the same in
 * plain C, with which the tests run the tile code on any CPU. Only what amx.c uses: all eight tiles
 * are configured as 16 rows of 64 bytes. */
#ifndef WFRE_SRC_LINALG_TILES_H
#define WFRE_SRC_LINALG_TILES_H

#if defined(__AMX_TILE__) || defined(__AMXTILE__) /* GCC's name and older clang's */
#include <immintrin.h>
#else
#if defined(__x86_64__)
#include <immintrin.h>
#endif
#include <string.h>

#include "base/bf16.h"

static _Thread_local struct {
    unsigned char row[16][64];
} tile_register[8];
static _Thread_local bool tiles_configured;

static void emulated_tile_loadconfig(const void *config)
{
    const unsigned char *bytes = config;
    tiles_configured = bytes[0] == 1;
    for (int i = 0; i < 8; i++)
        tiles_configured &= bytes[16 + 2 * i] == 64 && bytes[48 + i] == 16;
    memset(tile_register, 0, sizeof tile_register);
}

static void emulated_tile_release(void)
{
    tiles_configured = false;
}

static void emulated_tile_zero(int tile)
{
    memset(&tile_register[tile], 0, sizeof tile_register[tile]);
}

static void emulated_tile_loadd(int tile, const void *base, size_t stride)
{
    for (size_t i = 0; i < 16 && tiles_configured; i++)
        memcpy(tile_register[tile].row[i], (const char *)base + i * stride, 64);
}

static void emulated_tile_stored(int tile, void *base, size_t stride)
{
    for (size_t i = 0; i < 16 && tiles_configured; i++)
        memcpy((char *)base + i * stride, tile_register[tile].row[i], 64);
}

/* c[i][j] += sum over q of a[i][2q] b[q][2j] + a[i][2q+1] b[q][2j+1] */
static void emulated_tile_dpbf16ps(int c, int a, int b)
{
    for (int i = 0; i < 16; i++) {
        float sums[16];
        uint16_t left[32], right[32];
        memcpy(sums, tile_register[c].row[i], sizeof sums);
        memcpy(left, tile_register[a].row[i], sizeof left);
        for (int q = 0; q < 16; q++) {
            memcpy(right, tile_register[b].row[q], sizeof right);
            for (int j = 0; j < 16; j++)
                sums[j] +=
                    wfre_float_from_bf16(left[2 * q]) * wfre_float_from_bf16(right[2 * j]) +
                    wfre_float_from_bf16(left[2 * q + 1]) * wfre_float_from_bf16(right[2 * j + 1]);
        }
        memcpy(tile_register[c].row[i], sums, sizeof sums);
    }
}
/* Under the names that the compiler's header may have declared as well. */
#undef _tile_loadconfig
#define _tile_loadconfig emulated_tile_loadconfig
#undef _tile_release
#define _tile_release emulated_tile_release
#undef _tile_zero
#define _tile_zero emulated_tile_zero
#undef _tile_loadd
#define _tile_loadd emulated_tile_loadd
#undef _tile_stored
#define _tile_stored emulated_tile_stored
#undef _tile_dpbf16ps
#define _tile_dpbf16ps emulated_tile_dpbf16ps
#endif

#endif
