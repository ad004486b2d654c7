/* Queries are taken some at a time, each part by one thread: the edges of all its queries in one
 * matrix product, then what is made of them, query by query. */
#include "train/teacher.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/pool.h"
#include "graph/graph.h"
#include "model/factors.h"

enum { PART = 64 }; /* queries */

static const float LEAST = 1e-10f; /* truth of what is not at all so */

/* What one thread works with. */
typedef struct bench {
    wfre_linalg *linalg;
    const wfre_node **edges; /* of a part's queries, one after the other */
    float *questions;        /* [edges, w] */
    float *rows;             /* [edges, candidates] scores, then truth */
    size_t edge_count, edge_capacity, question_capacity, row_capacity;
    wfre_error error; /* the first failure */
} bench;

struct wfre_teacher {
    const wfre_graph *graph;
    const wfre_factors *factors;
    wfre_precision precision;
    wfre_pool *pool;
    const wfre_vector_table *vectors;
    uint32_t entity_count;
    unsigned threads;
    bench *benches;
    float *table;   /* [candidates, w] */
    float *targets; /* [queries, candidates] */
    size_t table_capacity, target_capacity;
    const wfre_batch *batch; /* the one at work */
    const wfre_batcher *batcher;
};

/* ---- creation ----------------------------------------------------------------------------- */

wfre_status wfre_teacher_create(const wfre_graph *graph, const wfre_model *model,
                                wfre_precision precision, wfre_pool *pool, wfre_teacher **result,
                                wfre_error *error)
{
    wfre_status status;
    wfre_isa isa;
    wfre_teacher *t = wfre_alloc_zero(1, sizeof *t);
    if (!t)
        return wfre_fail_memory(error, "preparing to train");
    t->graph = graph;
    t->factors = model->factors;
    t->precision = precision;
    t->pool = pool;
    t->entity_count = model->entity_count;
    t->threads = wfre_pool_threads(pool);
    t->benches = wfre_alloc_zero(t->threads, sizeof *t->benches);
    if (!t->benches)
        TRY(wfre_fail_memory(error, "preparing to train"));
    TRY(wfre_isa_select(&isa, error));
    t->vectors = wfre_vector_table_for(isa);
    for (unsigned i = 0; i < t->threads; i++)
        TRY(wfre_linalg_create(NULL, isa, &t->benches[i].linalg, error));
    *result = t;
    t = NULL;
cleanup:
    wfre_teacher_free(t);
    return status;
}

void wfre_teacher_free(wfre_teacher *t)
{
    if (!t)
        return;
    for (unsigned i = 0; t->benches && i < t->threads; i++) {
        bench *b = &t->benches[i];
        wfre_linalg_free(b->linalg);
        wfre_free(b->edges);
        wfre_free(b->questions);
        wfre_free(b->rows);
    }
    wfre_free(t->benches);
    wfre_free(t->table);
    wfre_free(t->targets);
    wfre_free(t);
}

/* ---- edges -------------------------------------------------------------------------------- */

/* The branches of an intersection, or the whole. */
static uint32_t branch_count(const wfre_node *tree)
{
    return tree->op == WFRE_OP_INTERSECT ? tree->child_count : 1;
}

static const wfre_node *branch_of(const wfre_node *tree, uint32_t i)
{
    return tree->op == WFRE_OP_INTERSECT ? tree->children[i] : tree;
}

static const wfre_node *edge_of(const wfre_node *branch)
{
    return branch->op == WFRE_OP_NEGATE ? branch->children[0] : branch;
}

/* Whether all branches are edges. */
static bool is_taught(const wfre_node *tree)
{
    for (uint32_t i = 0; i < branch_count(tree); i++)
        if (!wfre_node_is_edge(edge_of(branch_of(tree, i))))
            return false;
    return true;
}

static wfre_status list_edges(const wfre_teacher *t, bench *b, size_t first, size_t last,
                              wfre_error *error)
{
    b->edge_count = 0;
    for (size_t q = first; q < last; q++) {
        const wfre_node *tree = t->batch->trees[q];
        uint32_t count = is_taught(tree) ? branch_count(tree) : 0;
        if (!WFRE_RESERVE(&b->edges, &b->edge_capacity, b->edge_count + count))
            return wfre_fail_memory(error, "teaching; lower `batch`");
        for (uint32_t i = 0; i < count; i++)
            b->edges[b->edge_count++] = edge_of(branch_of(tree, i));
    }
    return WFRE_OK;
}

static wfre_status score_edges(const wfre_teacher *t, bench *b, wfre_error *error)
{
    size_t w = wfre_factors_width(t->factors), n = t->batch->candidate_count;
    if (!wfre_reserve_tensor(&b->questions, &b->question_capacity, b->edge_count * w) ||
        !wfre_reserve_tensor(&b->rows, &b->row_capacity, b->edge_count * n))
        return wfre_fail_memory(error, "teaching; lower `batch` or `negatives`");
    for (size_t i = 0; i < b->edge_count; i++)
        wfre_factors_multiply(
            t->factors->size, wfre_factors_entity(t->factors, b->edges[i]->children[0]->id),
            wfre_factors_relation(t->factors, b->edges[i]->id), b->questions + i * w);
    wfre_gemm_job job = {.transpose_b = true,
                         .m = b->edge_count,
                         .n = n,
                         .k = w,
                         .alpha = 1,
                         .a = b->questions,
                         .lda = w,
                         .b = t->table,
                         .ldb = w,
                         .c = b->rows,
                         .ldc = n};
    return wfre_gemm(b->linalg, t->precision, &job, 1, error);
}

static void set_known(const wfre_teacher *t, wfre_list known, float value, float *row)
{
    for (size_t i = 0; i < known.count; i++) {
        uint32_t slot = wfre_batcher_slot(t->batcher, known.ids[i]);
        if (slot < t->batch->candidate_count)
            row[slot] = value;
    }
}

/* ---- truth -------------------------------------------------------------------------------- */

/* Scores become truth values; candidates stand for all entities. */
static void judge_edge(const wfre_teacher *t, const wfre_node *edge, float *row)
{
    size_t n = t->batch->candidate_count;
    wfre_list known = wfre_graph_targets(t->graph, WFRE_TRAIN, edge->id, edge->children[0]->id);
    double room = fmin(1 + (double)known.count, 2.8 + 0.1 * (double)known.count);
    set_known(t, known, WFRE_LEFT_OUT, row);
    double sum = t->vectors->exp_shifted(n, t->vectors->maximum(n, row), row);
    float odds = (float)(room * (double)n / (sum * (double)t->entity_count));
    for (size_t c = 0; c < n; c++)
        row[c] = odds * row[c] / (1 + odds * row[c]);
    set_known(t, known, 1, row);
}

/* The product of the branches of a query, whose rows begin at `rows`. */
static void combine(const wfre_teacher *t, const wfre_node *tree, float *rows, float *target)
{
    size_t n = t->batch->candidate_count;
    for (uint32_t i = 0; i < branch_count(tree); i++) {
        const wfre_node *branch = branch_of(tree, i);
        float *row = rows + i * n;
        judge_edge(t, edge_of(branch), row);
        if (branch->op == WFRE_OP_NEGATE)
            t->vectors->complement(n, row, row);
        for (size_t c = 0; c < n; c++)
            row[c] = row[c] > LEAST ? row[c] : LEAST;
        if (i == 0)
            memcpy(target, row, n * sizeof *target);
        else
            t->vectors->multiply(n, target, row, target);
    }
}

/* Leaves out known answers, and what remains sums to 1. */
static void share_out(const wfre_batch *batch, const wfre_vector_table *vectors, size_t q,
                      float *target)
{
    for (uint32_t i = batch->answer_begin[q]; i < batch->answer_begin[q + 1]; i++)
        target[batch->answers[i]] = 0;
    double sum = vectors->sum(batch->candidate_count, target);
    vectors->scale(batch->candidate_count, sum > 0 ? (float)(1 / sum) : 0, target);
}

static wfre_status teach(const wfre_teacher *t, bench *b, size_t first, size_t last,
                         wfre_error *error)
{
    size_t n = t->batch->candidate_count, at = 0;
    CHECK(list_edges(t, b, first, last, error));
    if (b->edge_count > 0)
        CHECK(score_edges(t, b, error));
    for (size_t q = first; q < last; q++) {
        const wfre_node *tree = t->batch->trees[q];
        float *target = t->targets + q * n;
        if (!is_taught(tree)) {
            memset(target, 0, n * sizeof *target);
            continue;
        }
        combine(t, tree, b->rows + at * n, target);
        share_out(t->batch, t->vectors, q, target);
        at += branch_count(tree);
    }
    return WFRE_OK;
}

static void teach_part(void *context, size_t part, unsigned worker)
{
    const wfre_teacher *t = context;
    bench *b = &t->benches[worker];
    size_t first = part * PART, last = first + PART;
    last = last < t->batch->queries ? last : t->batch->queries;
    if (b->error.code == WFRE_OK)
        (void)teach(t, b, first, last, &b->error);
}

wfre_status wfre_teacher_targets(wfre_teacher *t, const wfre_batch *batch,
                                 const wfre_batcher *batcher, const float **targets,
                                 wfre_error *error)
{
    size_t w = wfre_factors_width(t->factors), n = batch->candidate_count;
    t->batch = batch;
    t->batcher = batcher;
    if (!wfre_reserve_tensor(&t->table, &t->table_capacity, n * w) ||
        !wfre_reserve_tensor(&t->targets, &t->target_capacity, batch->queries * n))
        return wfre_fail_memory(error, "teaching; lower `batch` or `negatives`");
    for (size_t c = 0; c < n; c++)
        memcpy(t->table + c * w, wfre_factors_entity(t->factors, batch->slots[c]),
               w * sizeof(float));
    for (unsigned i = 0; i < t->threads; i++)
        t->benches[i].error = (wfre_error){.code = WFRE_OK};
    CHECK(wfre_pool_try(t->pool, (batch->queries + PART - 1) / PART, teach_part, t, error));
    for (unsigned i = 0; i < t->threads; i++)
        if (t->benches[i].error.code != WFRE_OK)
            return wfre_fail(error, t->benches[i].error.code, WFRE_NO_OFFSET, "%s",
                             t->benches[i].error.message);
    *targets = t->targets;
    return WFRE_OK;
}
