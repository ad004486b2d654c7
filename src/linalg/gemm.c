/* Matrix products over the pool.
 *
 * A job is cut into blocks of C, and where k is very long into slices of k too, by its shape alone.
 * A block belongs to one worker, which goes through it like this:
 *
 *     for each stretch of k that fits the caches            (at most table->depth)
 *         pack the block's rows of A into panels            (stay in the L2 cache)
 *         for each panel of nr columns of B
 *             pack it                                       (stays in the L1 cache)
 *             for each panel of A: one register tile of C
 *
 * Few rows of C do not pay for packing B: they are computed from its rows as they lie. Slices of k
 * leave partial products behind, which are added in order once all are there. */
#include "linalg/gemm.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/pool.h"
#include "linalg/context.h"

enum {
    BLOCK_LEAST_COLUMNS = 512, /* over which the packing of A is spread */
    BLOCK_MOST_COLUMNS = 4096,
    BLOCK_WORK = 4 << 20,  /* multiplications in a block, if the bounds above allow */
    SLICE_DEPTH = 8192,    /* k from which on it is sliced, if C is small */
    MOST_SLICES = 64,      /* of one job */
    SLICED_SIZE = 1 << 20, /* numbers of C up to which k is sliced */
};

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

static size_t round_up(size_t a, size_t multiple)
{
    return (a + multiple - 1) / multiple * multiple;
}

/* Equal parts of `total`, none longer than `most`, each but the last a multiple of `multiple`. */
static size_t even_part(size_t total, size_t most, size_t multiple)
{
    size_t parts = (total + most - 1) / most;
    return parts == 0 ? multiple : round_up((total + parts - 1) / parts, multiple);
}

/* ---- one block ---------------------------------------------------------------------------- */

/* The part of a job that one worker does at once, as a job of its own. */
typedef struct block {
    wfre_gemm_job job;
    wfre_precision precision;
    const wfre_gemm_table *table;
    const wfre_gemm_table *few; /* for few rows: the float32 table */
    void *panels;               /* of A, and after them one of B */
} block;

static wfre_strip strip_of_a(const block *b, size_t row, size_t from, size_t depth)
{
    const wfre_gemm_job *job = &b->job;
    return (wfre_strip){
        .x = job->a + (job->transpose_a ? from * job->lda + row : row * job->lda + from),
        .ld = job->lda,
        .along_k = !job->transpose_a,
        .count = least(b->table->mr, job->m - row),
        .k = depth,
        .round = b->precision == WFRE_BF16,
    };
}

static wfre_strip strip_of_b(const block *b, size_t column, size_t from, size_t depth)
{
    const wfre_gemm_job *job = &b->job;
    return (wfre_strip){
        .x = job->b + (job->transpose_b ? column * job->ldb + from : from * job->ldb + column),
        .ld = job->ldb,
        .along_k = job->transpose_b,
        .count = least(b->table->nr, job->n - column),
        .k = depth,
        .round = b->precision == WFRE_BF16,
    };
}

/* Adds k = from .. from+depth-1 to the block's C. */
static void run_stretch(const block *b, size_t from, size_t depth)
{
    const wfre_gemm_table *table = b->table;
    const wfre_gemm_job *job = &b->job;
    size_t a_panel = table->mr * round_up(depth, table->kr) * table->number;
    char *b_panel = (char *)b->panels + round_up(job->m, table->mr) / table->mr * a_panel;
    for (size_t row = 0; row < job->m; row += table->mr) {
        wfre_strip strip = strip_of_a(b, row, from, depth);
        table->pack_a(&strip, (char *)b->panels + row / table->mr * a_panel);
    }
    for (size_t column = 0; column < job->n; column += table->nr) {
        wfre_strip strip = strip_of_b(b, column, from, depth);
        table->pack_b(&strip, b_panel);
        wfre_tile tile = {
            .columns = strip.count,
            .k = depth,
            .b = b_panel,
            .alpha = job->alpha,
            .beta = from == 0 ? job->beta : 1.0f,
            .ldc = job->ldc,
        };
        for (size_t row = 0; row < job->m; row += table->mr) {
            tile.rows = least(table->mr, job->m - row);
            tile.a = (char *)b->panels + row / table->mr * a_panel;
            tile.c = job->c + row * job->ldc + column;
            table->tile(&tile);
        }
    }
}

/* Few rows of C, without panels; false if there are too many or they do not lie right. */
static bool run_few_rows(const block *b)
{
    const wfre_gemm_job *job = &b->job;
    bool round = b->precision == WFRE_BF16;
    if (!job->transpose_b && job->m <= b->few->most_updates)
        b->few->updates(job, round);
    else if (job->transpose_b && !job->transpose_a && job->m <= b->few->most_dots)
        b->few->dots(job, round);
    else
        return false;
    return true;
}

static void run_block(const block *b)
{
    if (run_few_rows(b))
        return;
    const wfre_gemm_table *table = b->table;
    const wfre_gemm_job *job = &b->job;
    if (table->enter)
        table->enter();
    size_t depth = even_part(job->k, table->depth, table->kr);
    /* k = 0 still has to multiply C by beta. */
    for (size_t from = 0; from == 0 || from < job->k; from += depth)
        run_stretch(b, from, least(depth, job->k - from));
    if (table->leave)
        table->leave();
}

/* ---- a list of jobs ----------------------------------------------------------------------- */

/* How one job is cut; its blocks are numbered slice by slice, row by row. */
typedef struct wfre_gemm_cut {
    size_t first; /* number of the job's first block in the whole list */
    size_t rows, columns, depth;
    size_t across, down, slices; /* blocks */
    size_t partial;              /* where its partial products begin, if there are slices */
} cut;

typedef struct gemm_run {
    wfre_linalg *linalg;
    const wfre_gemm_table *table;
    wfre_precision precision;
    const wfre_gemm_job *jobs;
    size_t count;
    size_t blocks;
} gemm_run;

static cut cut_job(const wfre_gemm_table *table, const wfre_gemm_job *job)
{
    cut p = {.rows = even_part(job->m, table->rows / table->mr * table->mr, table->mr)};
    p.slices = 1;
    if (job->k >= 2 * SLICE_DEPTH && job->m * job->n <= SLICED_SIZE)
        p.slices = least(job->k / SLICE_DEPTH, MOST_SLICES);
    p.depth = p.slices == 1 ? job->k : even_part(job->k, job->k / p.slices + 1, table->kr);
    size_t wanted = BLOCK_WORK / (least(p.rows, job->m) * p.depth + 1);
    wanted = wanted < BLOCK_LEAST_COLUMNS  ? BLOCK_LEAST_COLUMNS
             : wanted > BLOCK_MOST_COLUMNS ? BLOCK_MOST_COLUMNS
                                           : wanted;
    p.columns = even_part(job->n, wanted, table->nr);
    p.across = (job->n + p.columns - 1) / p.columns;
    p.down = (job->m + p.rows - 1) / p.rows;
    if (p.slices > 1)
        p.slices = (job->k + p.depth - 1) / p.depth;
    return p;
}

/* The index of the job that block number `number` belongs to. */
static size_t job_of_block(const gemm_run *run, size_t number)
{
    size_t low = 0, high = run->count;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (run->linalg->cuts[middle].first <= number)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static void gemm_piece(void *context, size_t number, unsigned worker)
{
    const gemm_run *run = context;
    size_t index = job_of_block(run, number);
    const cut *p = &run->linalg->cuts[index];
    block b = {run->jobs[index], run->precision, run->table, run->linalg->kernels.gemm[WFRE_FP32],
               run->linalg->panels + worker * run->linalg->panel_bytes};
    size_t local = number - p->first;
    size_t slice = local / (p->across * p->down);
    size_t row = local / p->across % p->down * p->rows, column = local % p->across * p->columns;
    size_t from = slice * p->depth;
    wfre_gemm_job *job = &b.job;
    if (p->slices > 1) {
        job->c = run->linalg->partial + p->partial + slice * job->m * job->n;
        job->ldc = job->n;
        job->beta = 0.0f;
    }
    job->a += job->transpose_a ? from * job->lda + row : row * job->lda + from;
    job->b += job->transpose_b ? column * job->ldb + from : from * job->ldb + column;
    job->c += row * job->ldc + column;
    job->m = least(p->rows, job->m - row);
    job->n = least(p->columns, job->n - column);
    job->k = least(p->depth, job->k - from);
    run_block(&b);
}

/* C = beta C + the slices' products, in order. */
static void add_slices(const gemm_run *run, size_t index)
{
    const cut *p = &run->linalg->cuts[index];
    const wfre_gemm_job *job = &run->jobs[index];
    const wfre_vector_table *vectors = run->linalg->kernels.vectors;
    const float *partial = run->linalg->partial + p->partial;
    for (size_t row = 0; row < job->m; row++) {
        float *c = job->c + row * job->ldc;
        if (job->beta == 0.0f)
            memset(c, 0, job->n * sizeof *c);
        else
            vectors->scale(job->n, job->beta, c);
        for (size_t slice = 0; slice < p->slices; slice++)
            vectors->axpy(job->n, 1.0f, partial + (slice * job->m + row) * job->n, c);
    }
}

static wfre_status make_cuts(gemm_run *run, wfre_error *error)
{
    wfre_linalg *linalg = run->linalg;
    void *cuts = linalg->cuts;
    if (!wfre_reserve(&cuts, &linalg->cut_capacity, run->count, sizeof *linalg->cuts))
        return wfre_fail_memory(error, "planning matrix products");
    linalg->cuts = cuts;
    size_t partial = 0;
    for (size_t i = 0; i < run->count; i++) {
        cut p = cut_job(run->table, &run->jobs[i]);
        p.first = run->blocks;
        p.partial = partial;
        if (p.slices > 1)
            partial += p.slices * run->jobs[i].m * run->jobs[i].n;
        run->blocks += p.across * p.down * p.slices;
        linalg->cuts[i] = p;
    }
    if (!wfre_linalg_reserve_partial(linalg, partial))
        return wfre_fail_memory(error, "keeping the parts of a matrix product");
    return WFRE_OK;
}

/* ---- the reference ------------------------------------------------------------------------ */

static void reference_piece(void *context, size_t row, unsigned worker)
{
    (void)worker;
    const gemm_run *run = context;
    wfre_gemm_reference_row(run->jobs, run->precision, row);
}

static wfre_status run_reference(gemm_run run, wfre_error *error)
{
    for (size_t left = run.count; left > 0; left--, run.jobs++)
        CHECK(wfre_pool_try(run.linalg->pool, run.jobs->m, reference_piece, &run, error));
    return WFRE_OK;
}

wfre_status wfre_gemm(wfre_linalg *linalg, wfre_precision precision, const wfre_gemm_job *jobs,
                      size_t count, wfre_error *error)
{
    gemm_run run = {linalg, linalg->kernels.gemm[precision], precision, jobs, count, 0};
    if (!run.table)
        return run_reference(run, error);
    CHECK(make_cuts(&run, error));
    CHECK(wfre_pool_try(linalg->pool, run.blocks, gemm_piece, &run, error));
    for (size_t i = 0; i < count; i++)
        if (linalg->cuts[i].slices > 1)
            add_slices(&run, i);
    return WFRE_OK;
}

size_t wfre_gemm_panel_bytes(const wfre_gemm_table *table)
{
    size_t rows = round_up(table->rows, table->mr);
    return (rows + table->nr) * round_up(table->depth, table->kr) * table->number;
}
