/* Matrix products from the inside: what gemm.c asks of the kernels of an instruction set.
 *
 * C is computed in small tiles of mr x nr held in registers. Their operands are read from panels:
 * mr rows of op(A), or nr columns of op(B), with all that belongs to one k next to each other, so
 * that a tile walks through memory once and in order. */
#ifndef WFRE_SRC_LINALG_GEMM_H
#define WFRE_SRC_LINALG_GEMM_H

#include "linalg/linalg.h"

/* `count` rows of op(A) or columns of op(B), k numbers each. */
typedef struct wfre_strip {
    const float *x;
    size_t ld;
    bool along_k; /* number p of row i is at x[i * ld + p]; otherwise at x[p * ld + i] */
    size_t count, k;
    bool round; /* to bfloat16 */
} wfre_strip;

/* C = alpha A B + beta C for rows x columns of C, at most mr x nr; beta = 0 does not read C. */
typedef struct wfre_tile {
    size_t rows, columns, k;
    const void *a, *b; /* panels */
    float alpha, beta;
    float *c;
    size_t ldc;
} wfre_tile;

typedef struct wfre_gemm_table {
    size_t mr, nr;
    size_t rows;   /* of A whose panels are in use at once; they should fit the L2 cache */
    size_t depth;  /* the longest k of one panel */
    size_t kr;     /* panels are filled up with zeros to a multiple of this many k */
    size_t number; /* bytes of a number in a panel */
    /* Fill a panel of mr (nr) numbers per k; those beyond strip->count are zero. */
    void (*pack_a)(const wfre_strip *strip, void *panel);
    void (*pack_b)(const wfre_strip *strip, void *panel);
    void (*tile)(const wfre_tile *tile);
    /* Without panels, for at most so many rows of C: as dot products of rows of A and rows of B (A
     * not transposed, B transposed), and by adding multiples of rows of B (B not transposed). The
     * float32 table has them, and with `round` they do for bfloat16. */
    size_t most_dots, most_updates;
    void (*dots)(const wfre_gemm_job *job, bool round);
    void (*updates)(const wfre_gemm_job *job, bool round);
    /* Called on a thread before and after its tiles; may be NULL. */
    void (*enter)(void);
    void (*leave)(void);
} wfre_gemm_table;

extern const wfre_gemm_table wfre_gemm_avx2, wfre_gemm_avx512, wfre_gemm_avx512bf16, wfre_gemm_amx;
/* The same code in plain C; only tests have it. */
extern const wfre_gemm_table wfre_gemm_emulated, wfre_gemm_pairs_emulated, wfre_gemm_amx_emulated;

/* Scratch memory that one worker needs for its panels. */
size_t wfre_gemm_panel_bytes(const wfre_gemm_table *table);

/* One row of C, summed in double precision: the definition. */
void wfre_gemm_reference_row(const wfre_gemm_job *job, wfre_precision precision, size_t row);

#endif
