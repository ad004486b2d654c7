/* Embedding batches of queries. */
#include "model/embed.h"

#include <string.h>

#include "base/memory.h"
#include "base/pool.h"
#include "base/rng.h"
#include "base/scope.h"

struct wfre_embedder {
    wfre_matrices *matrices;
    const wfre_model *model; /* of the matrices */
    wfre_pool *pool;
    wfre_linalg *linalg;
    wfre_run *run;
    wfre_program program;
    float *rows;
    size_t capacity;
};

wfre_status wfre_embedder_create(wfre_matrices *matrices, wfre_pool *pool, wfre_linalg *linalg,
                                 wfre_embedder **embedder, wfre_error *error)
{
    wfre_status status = WFRE_OK;
    wfre_embedder *e = wfre_alloc_zero(1, sizeof *e);
    if (!e)
        return wfre_fail_memory(error, "embedding queries");
    e->matrices = matrices;
    e->model = wfre_matrices_model(matrices);
    e->pool = pool;
    e->linalg = linalg;
    TRY(wfre_run_create(e->model, pool, linalg, WFRE_FP32, &e->run, error));
    *embedder = e;
    e = NULL;
cleanup:
    wfre_embedder_free(e);
    return status;
}

void wfre_embedder_free(wfre_embedder *embedder)
{
    if (!embedder)
        return;
    wfre_run_free(embedder->run);
    wfre_program_free(&embedder->program);
    wfre_free(embedder->rows);
    wfre_free(embedder);
}

/* Copies what a root came to, lifted as its last step asks for. */
static void copy_root(const wfre_embedder *e, uint32_t root, const wfre_way *way, float *row)
{
    size_t dim = e->model->settings.dim;
    wfre_last_step last = e->program.last[root];
    float lift = last != WFRE_LAST_OTHER ? (float)way->lift[last] : 1;
    memcpy(row, wfre_run_row(e->run, e->program.roots[root]), dim * sizeof *row);
    for (size_t i = 0; lift != 1 && i < dim; i++)
        row[i] = row[i] * lift < 1 ? row[i] * lift : 1;
}

wfre_status wfre_embed(wfre_embedder *embedder, const wfre_node *const *trees, size_t count,
                       const wfre_way *way, wfre_embedding *embedding, wfre_error *error)
{
    size_t dim = embedder->model->settings.dim;
    wfre_program *program = &embedder->program;
    CHECK(wfre_program_compile(program, trees, count, way->unions, error));
    CHECK(wfre_matrices_need(embedder->matrices, program, embedder->linalg, embedder->pool, error));
    CHECK(wfre_run_forward(embedder->run, program, NULL, error));
    CHECK(wfre_check_stop(error));
    if (!wfre_reserve(&embedder->rows, &embedder->capacity, program->root_count,
                      dim * sizeof *embedder->rows))
        return wfre_fail_memory(error, "embedding queries");
    for (uint32_t r = 0; r < program->root_count; r++)
        copy_root(embedder, r, way, embedder->rows + r * dim);
    *embedding = (wfre_embedding){embedder->rows, program->root_count, program->root_begin};
    return WFRE_OK;
}

/* Paths, and intersections with and without negation. */
static const wfre_node *example(const wfre_model *model, wfre_arena *arena, size_t index)
{
    wfre_rng rng = wfre_rng_fixed(WFRE_FOR_EXAMPLES, index);
    const wfre_node *nodes[2];
    for (int k = 0; k < 2; k++) {
        wfre_entity entity = wfre_rng_below(&rng, model->entity_count);
        wfre_relation relation = wfre_rng_below(&rng, model->relation_count);
        nodes[k] = wfre_node_project(arena, relation, wfre_node_entity(arena, entity));
        if (!nodes[k])
            return NULL;
    }
    switch (index % 4) {
    case 0:
        return nodes[0];
    case 1:
        return wfre_node_project(arena, wfre_rng_below(&rng, model->relation_count), nodes[0]);
    case 2:
        return wfre_node_pair(arena, WFRE_OP_INTERSECT, nodes[0], nodes[1]);
    default:
        return wfre_node_pair(arena, WFRE_OP_INTERSECT, nodes[0],
                              wfre_node_negate(arena, nodes[1]));
    }
}

wfre_status wfre_embed_examples(wfre_embedder *embedder, size_t count, wfre_embedding *embedding,
                                wfre_error *error)
{
    wfre_arena arena = {0};
    wfre_status status = WFRE_OK;
    const wfre_node **trees = wfre_arena_alloc(&arena, count, sizeof *trees);
    for (size_t i = 0; trees && i < count; i++) {
        trees[i] = example(embedder->model, &arena, i);
        if (!trees[i])
            trees = NULL;
    }
    if (!trees)
        TRY(wfre_fail_memory(error, "embedding queries"));
    wfre_way way = embedder->model->settings.way;
    way.unions = WFRE_UNION_DNF;
    TRY(wfre_embed(embedder, trees, count, &way, embedding, error));
cleanup:
    wfre_arena_free(&arena);
    return status;
}

/* ---- entities ----------------------------------------------------------------------------- */

enum { CHUNK = 256 };

typedef struct reading {
    const wfre_model *model;
    const wfre_vector_table *vectors;
    float *rows;
} reading;

static void read_rows(void *context, size_t chunk, unsigned worker)
{
    (void)worker;
    const reading *c = context;
    size_t dim = c->model->settings.dim, begin = chunk * CHUNK;
    size_t end = begin + CHUNK < c->model->entity_count ? begin + CHUNK : c->model->entity_count;
    const wfre_family *family = wfre_family_of(&c->model->settings);
    for (size_t e = begin; e < end; e++)
        family->entity.forward(c->vectors, dim, c->model->entities + e * dim, c->rows + e * dim);
}

float *wfre_embed_entities(const wfre_model *model, wfre_pool *pool, wfre_linalg *linalg)
{
    reading c = {model, wfre_linalg_vectors(linalg), NULL};
    c.rows = wfre_alloc_tensor((size_t)model->entity_count * model->settings.dim, sizeof *c.rows);
    if (c.rows)
        wfre_pool_run(pool, (model->entity_count + CHUNK - 1) / CHUNK, read_rows, &c);
    return c.rows;
}
