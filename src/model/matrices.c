/* The twin's memory is reserved whole and touched only where a matrix was made; what was made is
 * counted. One thread mixes at a time; a relation's flag is set when its matrices are there, and
 * from then on they are only read. */
#include "model/matrices.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "base/memory.h"
#include "base/scope.h"
#include "model/weights.h"

enum { TOGETHER = 8 }; /* relations mixed at a time, which bounds the memory it takes */

struct wfre_matrices {
    const wfre_model *model;
    wfre_model twin;    /* with free matrices; the rest is the model's */
    _Atomic bool *made; /* by relation; NULL if matrices are not kept */
    _Atomic size_t bytes;
    pthread_mutex_t mixing;
};

/* The bases and biases of a layer, which the twin has of its own. */
static wfre_tensor *twin_tensors(wfre_matrices *m, uint32_t layer)
{
    return &m->twin.tensors[2 + WFRE_LAYER_TENSORS * layer];
}

/* Room for all matrices; memory that is never written to costs nothing, so it is not charged. */
static wfre_status make_twin(wfre_matrices *m, double limit, wfre_error *error)
{
    const wfre_model_settings *settings = &m->model->settings;
    size_t d = settings->dim, relations = m->model->relation_count;
    size_t numbers = relations * d * wfre_model_width(m->model);
    m->twin = *m->model;
    if (wfre_family_of(settings) != &wfre_family_wfre || settings->bases == 0 ||
        (double)numbers * settings->layers * sizeof(float) > limit)
        return WFRE_OK;
    m->twin.settings.bases = 0;
    m->made = wfre_alloc_zero(relations, sizeof *m->made);
    bool whole = m->made;
    for (uint32_t l = 0; l < settings->layers; l++) {
        wfre_tensor *tensors = twin_tensors(m, l);
        tensors[0].data = wfre_alloc_zero(numbers, sizeof(float));
        tensors[1].data = wfre_alloc_zero(relations * d, sizeof(float));
        whole = whole && tensors[0].data && tensors[1].data;
    }
    return whole ? WFRE_OK : wfre_fail_memory(error, "making room for matrices");
}

wfre_status wfre_matrices_create(const wfre_model *model, double limit, wfre_matrices **result,
                                 wfre_error *error)
{
    wfre_scope before = wfre_scope_enter((wfre_scope){0});
    wfre_status status;
    wfre_matrices *m = wfre_alloc_zero(1, sizeof *m);
    if (!m)
        TRY(wfre_fail_memory(error, "making room for matrices"));
    pthread_mutex_init(&m->mixing, NULL);
    m->model = model;
    TRY(make_twin(m, limit, error));
    *result = m;
    m = NULL;
cleanup:
    wfre_matrices_free(m);
    (void)wfre_scope_enter(before);
    return status;
}

void wfre_matrices_free(wfre_matrices *matrices)
{
    if (!matrices)
        return;
    wfre_scope before = wfre_scope_enter((wfre_scope){0});
    bool own = matrices->twin.settings.bases != matrices->model->settings.bases;
    for (uint32_t l = 0; own && l < matrices->twin.settings.layers; l++) {
        wfre_free(twin_tensors(matrices, l)[0].data);
        wfre_free(twin_tensors(matrices, l)[1].data);
    }
    wfre_free((void *)matrices->made);
    pthread_mutex_destroy(&matrices->mixing);
    wfre_free(matrices);
    (void)wfre_scope_enter(before);
}

const wfre_model *wfre_matrices_model(const wfre_matrices *matrices)
{
    return matrices->made ? &matrices->twin : matrices->model;
}

size_t wfre_matrices_bytes(const wfre_matrices *matrices)
{
    return atomic_load(&matrices->bytes);
}

/* Takes one relation's matrices, as they were just mixed, over to the twin. */
static void keep(wfre_matrices *m, const wfre_weights *weights, const wfre_weights_job *job,
                 uint32_t relation)
{
    size_t width = wfre_model_width(m->model), relations = m->model->relation_count;
    wfre_layer layer = wfre_layer_at(m->twin.tensors + 1, job->layer);
    for (uint32_t member = 0; member < m->model->settings.members; member++) {
        size_t at = member * relations + job->program->relations[relation];
        memcpy(layer.bases + at * width * width,
               wfre_weights_matrix(weights, job, relation, member), width * width * sizeof(float));
        memcpy(layer.biases + at * width, wfre_weights_bias(weights, job, relation, member),
               width * sizeof(float));
        atomic_fetch_add(&m->bytes, (width + 1) * width * sizeof(float));
    }
}

/* Mixes some relations that are not there yet; `missing` has nothing but relations. */
static wfre_status mix(wfre_matrices *m, const wfre_program *missing, wfre_linalg *linalg,
                       wfre_pool *pool, wfre_error *error)
{
    wfre_weights weights = {0};
    wfre_status status = WFRE_OK;
    for (uint32_t l = 0; l < m->model->settings.layers; l++) {
        wfre_weights_job job = {m->model, l, missing, NULL, linalg, pool, WFRE_FP32};
        TRY(wfre_weights_build(&weights, &job, error));
        for (uint32_t i = 0; i < missing->relation_count; i++)
            keep(m, &weights, &job, i);
    }
    for (uint32_t i = 0; i < missing->relation_count; i++)
        atomic_store_explicit(&m->made[missing->relations[i]], true, memory_order_release);
cleanup:
    wfre_weights_free(&weights);
    return status;
}

static bool is_made(const wfre_matrices *m, wfre_relation relation)
{
    return atomic_load_explicit(&m->made[relation], memory_order_acquire);
}

/* Does what wfre_matrices_need asks for, while no other thread mixes. */
static wfre_status mix_missing(wfre_matrices *m, const wfre_program *program, wfre_linalg *linalg,
                               wfre_pool *pool, wfre_error *error)
{
    wfre_relation relations[TOGETHER];
    wfre_program missing = {.relations = relations};
    for (uint32_t i = 0; i < program->relation_count; i++) {
        if (!is_made(m, program->relations[i]))
            relations[missing.relation_count++] = program->relations[i];
        bool last = i + 1 == program->relation_count;
        if (missing.relation_count < TOGETHER && !(last && missing.relation_count > 0))
            continue;
        CHECK(wfre_check_stop(error));
        CHECK(mix(m, &missing, linalg, pool, error));
        missing.relation_count = 0;
    }
    return WFRE_OK;
}

wfre_status wfre_matrices_need(wfre_matrices *matrices, const wfre_program *program,
                               wfre_linalg *linalg, wfre_pool *pool, wfre_error *error)
{
    bool all = true;
    for (uint32_t i = 0; matrices->made && all && i < program->relation_count; i++)
        all = is_made(matrices, program->relations[i]);
    if (all)
        return WFRE_OK;
    pthread_mutex_lock(&matrices->mixing);
    wfre_status status = mix_missing(matrices, program, linalg, pool, error);
    pthread_mutex_unlock(&matrices->mixing);
    return status;
}
