/* Embedding batches of queries.
 *
 * Mixing the matrix of a relation from the bases reads all of them, which takes longer than all
 * else about a question. So matrices are kept: queries run on a twin of the model in which every
 * relation has a matrix of its own, made when the relation first occurs. */
#include "model/embed.h"

#include <string.h>

#include "base/pool.h"
#include "base/rng.h"
#include "model/weights.h"

/* Beyond this many bytes of matrices they are not kept, but mixed for every batch. */
static const double KEPT_LIMIT = 1.5e9;

struct wfre_embedder {
    const wfre_model *model;
    wfre_pool *pool;
    wfre_linalg *linalg;
    wfre_model twin;      /* with free matrices; the rest is the model's */
    bool *made;           /* by relation; NULL if matrices are not kept */
    wfre_weights weights; /* scratch */
    wfre_run *run;
    wfre_program program;
    float *rows;
    size_t capacity;
};

/* ---- kept matrices ------------------------------------------------------------------------ */

/* Room for all matrices; memory that is never written to costs nothing. */
static wfre_status make_twin(wfre_embedder *e, wfre_error *error)
{
    const wfre_model_settings *settings = &e->model->settings;
    size_t d = settings->dim, relations = e->model->relation_count;
    size_t numbers = relations * d * wfre_model_width(e->model);
    e->twin = *e->model;
    if (settings->bases == 0 || (double)numbers * settings->layers * sizeof(float) > KEPT_LIMIT)
        return WFRE_OK;
    e->twin.settings.bases = 0;
    e->made = wfre_alloc_zero(relations, sizeof *e->made);
    bool whole = e->made;
    for (uint32_t l = 0; l < settings->layers; l++) {
        e->twin.layers[l].bases = wfre_alloc_zero(numbers, sizeof(float));
        e->twin.layers[l].biases = wfre_alloc_zero(relations * d, sizeof(float));
        whole = whole && e->twin.layers[l].bases && e->twin.layers[l].biases;
    }
    return whole ? WFRE_OK : wfre_fail_memory(error, "embedding queries");
}

static void free_twin(wfre_embedder *e)
{
    bool own = e->model && e->twin.settings.bases != e->model->settings.bases;
    for (uint32_t l = 0; own && l < e->twin.settings.layers; l++) {
        wfre_free(e->twin.layers[l].bases);
        wfre_free(e->twin.layers[l].biases);
    }
    wfre_free(e->made);
    wfre_weights_free(&e->weights);
}

/* Takes one relation's matrices, as they were just mixed, over to the twin. */
static void keep_matrices(wfre_embedder *e, const wfre_weights_job *job, uint32_t relation)
{
    size_t width = wfre_model_width(e->model), relations = e->model->relation_count;
    wfre_layer *layer = &e->twin.layers[job->layer];
    for (uint32_t m = 0; m < e->model->settings.members; m++) {
        size_t at = m * relations + job->program->relations[relation];
        memcpy(layer->bases + at * width * width,
               wfre_weights_matrix(&e->weights, job, relation, m), width * width * sizeof(float));
        memcpy(layer->biases + at * width, wfre_weights_bias(&e->weights, job, relation, m),
               width * sizeof(float));
    }
}

/* Makes the matrices of the program's relations that are not there yet. */
static wfre_status make_matrices(wfre_embedder *e, wfre_error *error)
{
    wfre_status status = WFRE_OK;
    wfre_program missing = {0}; /* its relations alone */
    if (!e->made)
        return WFRE_OK;
    missing.relations = wfre_alloc(e->program.relation_count, sizeof *missing.relations);
    if (!missing.relations)
        return wfre_fail_memory(error, "embedding queries");
    for (uint32_t i = 0; i < e->program.relation_count; i++)
        if (!e->made[e->program.relations[i]])
            missing.relations[missing.relation_count++] = e->program.relations[i];
    for (uint32_t l = 0; missing.relation_count > 0 && l < e->model->settings.layers; l++) {
        wfre_weights_job job = {e->model, l, &missing, NULL, e->linalg, e->pool, WFRE_FP32};
        TRY(wfre_weights_build(&e->weights, &job, error));
        for (uint32_t i = 0; i < missing.relation_count; i++)
            keep_matrices(e, &job, i);
    }
    for (uint32_t i = 0; i < missing.relation_count; i++)
        e->made[missing.relations[i]] = true;
cleanup:
    wfre_free(missing.relations);
    return status;
}

/* ---- embedding ---------------------------------------------------------------------------- */

wfre_status wfre_embedder_create(const wfre_model *model, wfre_pool *pool, wfre_linalg *linalg,
                                 wfre_embedder **embedder, wfre_error *error)
{
    wfre_status status = WFRE_OK;
    wfre_embedder *e = wfre_alloc_zero(1, sizeof *e);
    if (!e)
        return wfre_fail_memory(error, "embedding queries");
    e->model = model;
    e->pool = pool;
    e->linalg = linalg;
    TRY(make_twin(e, error));
    TRY(wfre_run_create(&e->twin, pool, linalg, WFRE_FP32, &e->run, error));
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
    free_twin(embedder);
    wfre_program_free(&embedder->program);
    wfre_free(embedder->rows);
    wfre_free(embedder);
}

/* Copies what a root came to, lifted as its last step asks for. */
static void copy_root(const wfre_embedder *e, uint32_t root, float *row)
{
    size_t dim = e->model->settings.dim;
    wfre_last_step last = e->program.last[root];
    float lift = last != WFRE_LAST_OTHER ? (float)e->model->settings.lift[last] : 1;
    memcpy(row, wfre_run_row(e->run, e->program.roots[root]), dim * sizeof *row);
    for (size_t i = 0; lift != 1 && i < dim; i++)
        row[i] = row[i] * lift < 1 ? row[i] * lift : 1;
}

wfre_status wfre_embed(wfre_embedder *embedder, const wfre_node *const *trees, size_t count,
                       wfre_union unions, wfre_embedding *embedding, wfre_error *error)
{
    size_t dim = embedder->model->settings.dim;
    wfre_program *program = &embedder->program;
    CHECK(wfre_program_compile(program, trees, count, unions, error));
    CHECK(make_matrices(embedder, error));
    CHECK(wfre_run_forward(embedder->run, program, NULL, error));
    if (!wfre_reserve(&embedder->rows, &embedder->capacity, program->root_count,
                      dim * sizeof *embedder->rows))
        return wfre_fail_memory(error, "embedding queries");
    for (uint32_t r = 0; r < program->root_count; r++)
        copy_root(embedder, r, embedder->rows + r * dim);
    *embedding = (wfre_embedding){embedder->rows, program->root_count, program->root_begin};
    return WFRE_OK;
}

/* Paths, and intersections with and without negation. */
static const wfre_node *example(const wfre_model *model, wfre_arena *arena, size_t index)
{
    wfre_rng rng = wfre_rng_keyed(0, 3, index);
    const wfre_node *nodes[2];
    for (int k = 0; k < 2; k++) {
        wfre_entity entity = wfre_rng_below(&rng, model->entity_count);
        wfre_relation relation = wfre_rng_below(&rng, model->relation_count);
        nodes[k] = wfre_node_project(arena, relation, wfre_node_entity(arena, entity));
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
    TRY(wfre_embed(embedder, trees, count, WFRE_UNION_DNF, embedding, error));
cleanup:
    wfre_arena_free(&arena);
    return status;
}

/* ---- entities ----------------------------------------------------------------------------- */

enum { CHUNK = 256 };

typedef struct clamping {
    const wfre_model *model;
    const wfre_vector_table *vectors;
    float *rows;
} clamping;

static void clamp_rows(void *context, size_t chunk, unsigned worker)
{
    (void)worker;
    const clamping *c = context;
    size_t dim = c->model->settings.dim, begin = chunk * CHUNK;
    size_t end = begin + CHUNK < c->model->entity_count ? begin + CHUNK : c->model->entity_count;
    c->vectors->clamp01((end - begin) * dim, c->model->entities + begin * dim,
                        c->rows + begin * dim);
}

float *wfre_embed_entities(const wfre_model *model, wfre_pool *pool, wfre_linalg *linalg)
{
    clamping c = {model, wfre_linalg_vectors(linalg), NULL};
    c.rows = wfre_alloc_tensor((size_t)model->entity_count * model->settings.dim, sizeof *c.rows);
    if (c.rows)
        wfre_pool_run(pool, (model->entity_count + CHUNK - 1) / CHUNK, clamp_rows, &c);
    return c.rows;
}
