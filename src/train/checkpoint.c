/* Writing and reading checkpoints. Settings of training are metadata "train.NAME", the state is
 * "state.NAME", the moments of tensor T are the tensors "first.T" and "second.T" (of factors only
 * the second: sums of squares), and the maps of a surrogate "surrogate.left", "surrogate.right" and
 * the same with "-back". */
#include "train/checkpoint.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"
#include "model/file.h"
#include "train/settings.h"

/* The numbers of a run that are not settings. */
typedef struct run_state {
    uint64_t step;
    double seconds;
    double loss;
    double best;
    uint32_t next_validation;
    uint64_t restart;
    double rate;
} run_state;

static const wfre_setting STATE_TABLE[] = {
    {"state.step", WFRE_SETTING_U64, offsetof(run_state, step), 0, 1e18, NULL, "",
     WFRE_SETTING_PLAIN},
    {"state.seconds", WFRE_SETTING_REAL, offsetof(run_state, seconds), 0, 1e12, NULL, "",
     WFRE_SETTING_PLAIN},
    {"state.loss", WFRE_SETTING_REAL, offsetof(run_state, loss), -1e30, 1e30, NULL, "",
     WFRE_SETTING_PLAIN},
    {"state.best", WFRE_SETTING_REAL, offsetof(run_state, best), -1, 1, NULL, "",
     WFRE_SETTING_PLAIN},
    {"state.next-validation", WFRE_SETTING_U32, offsetof(run_state, next_validation), 1, 1e9, NULL,
     "", WFRE_SETTING_LATER},
    {"state.restart", WFRE_SETTING_U64, offsetof(run_state, restart), 0, 1e18, NULL, "",
     WFRE_SETTING_LATER},
    {"state.rate", WFRE_SETTING_REAL, offsetof(run_state, rate), 0, 1, NULL, "",
     WFRE_SETTING_LATER},
};
enum { STATE_COUNT = sizeof STATE_TABLE / sizeof STATE_TABLE[0], TEXT_SIZE = 64 };

enum { MAPS = 4 };
static const char *const SURROGATE_MAPS[MAPS] = {"surrogate.left", "surrogate.right",
                                                 "surrogate.left-back", "surrogate.right-back"};

/* A map and its shape. */
static float *map_of(const wfre_surrogate *s, int i, size_t shape[2])
{
    bool back = i >= 2;
    shape[0] = back ? s->rank : s->features;
    shape[1] = back ? s->slopes : s->rank;
    return back ? s->back[WFRE_SLOPE_ENVELOPE][i - 2] : s->map[i];
}

typedef struct text_pair {
    char key[TEXT_SIZE];
    char value[TEXT_SIZE];
} text_pair;

static wfre_stored_tensor moment(const wfre_tensor *tensor, const char *name, const float *data)
{
    wfre_stored_tensor stored = {name, WFRE_DTYPE_F32, tensor->rank, {0}, data};
    memcpy(stored.shape, tensor->shape, sizeof tensor->shape);
    return stored;
}

wfre_status wfre_checkpoint_write(const wfre_trainer *t, const char *path, double best,
                                  uint32_t next_validation, wfre_error *error)
{
    run_state state = {.step = t->step,
                       .seconds = wfre_trainer_seconds(t),
                       .loss = t->smooth_loss,
                       .best = best,
                       .next_validation = next_validation,
                       .restart = t->restart,
                       .rate = t->rate};
    size_t keys = STATE_COUNT + wfre_train_table_count, tensors = 2 * t->model->tensor_count;
    size_t maps = t->surrogate ? MAPS : 0, factors = t->factors ? WFRE_FACTOR_TENSORS : 0;
    wfre_arena arena = {0};
    wfre_status status = WFRE_OK;
    text_pair *texts = wfre_arena_alloc(&arena, keys, sizeof *texts);
    wfre_metadata *metadata = wfre_arena_alloc(&arena, keys, sizeof *metadata);
    wfre_stored_tensor *stored = wfre_arena_alloc(&arena, tensors + maps + factors, sizeof *stored);
    char(*names)[TEXT_SIZE] = wfre_arena_alloc(&arena, tensors + factors, sizeof *names);
    if (!texts || !metadata || !stored || !names) {
        status = wfre_fail_memory(error, "writing a checkpoint");
        goto cleanup;
    }
    for (size_t i = 0; i < keys; i++) {
        bool own = i < STATE_COUNT;
        const wfre_setting *row = own ? &STATE_TABLE[i] : &wfre_train_table[i - STATE_COUNT];
        (void)snprintf(texts[i].key, TEXT_SIZE, "%s%s", own ? "" : "train.", row->name);
        wfre_setting_print(row, own ? (const void *)&state : (const void *)&t->settings,
                           texts[i].value, TEXT_SIZE);
        metadata[i] = (wfre_metadata){texts[i].key, texts[i].value};
    }
    for (uint32_t i = 0; i < t->model->tensor_count; i++) {
        const wfre_tensor *tensor = &t->model->tensors[i];
        (void)snprintf(names[2 * i], TEXT_SIZE, "first.%s", tensor->name);
        (void)snprintf(names[2 * i + 1], TEXT_SIZE, "second.%s", tensor->name);
        stored[2 * i] = moment(tensor, names[2 * i], t->first[i]);
        stored[2 * i + 1] = moment(tensor, names[2 * i + 1], t->second[i]);
    }
    for (size_t i = 0; i < maps; i++) {
        size_t shape[2];
        const float *map = map_of(t->surrogate, (int)i, shape);
        stored[tensors + i] = (wfre_stored_tensor){
            SURROGATE_MAPS[i], WFRE_DTYPE_F32, 2, {shape[0], shape[1], 1}, map};
    }
    for (size_t i = 0; i < factors; i++) {
        const wfre_tensor *tensor = &t->model->factors->tensors[i];
        (void)snprintf(names[tensors + i], TEXT_SIZE, "second.%s", tensor->name);
        stored[tensors + maps + i] =
            moment(tensor, names[tensors + i], wfre_factors_squares(t->factors, (int)i));
    }
    wfre_model_extra extra = {stored, tensors + maps + factors, metadata, keys};
    status = wfre_model_write(t->model, path, WFRE_DTYPE_F32, &extra, error);
cleanup:
    wfre_arena_free(&arena);
    return status;
}

/* ---- reading ------------------------------------------------------------------------------ */

static wfre_status read_text(const wfre_safetensors *file, const char *path,
                             const wfre_setting *row, const char *prefix, void *structure,
                             wfre_error *error)
{
    char key[TEXT_SIZE];
    (void)snprintf(key, sizeof key, "%s%s", prefix, row->name);
    const char *text = wfre_safetensors_metadata(file, key);
    if (!text && (row->traits & WFRE_SETTING_LATER))
        return WFRE_OK; /* a run that had none of it */
    if (!text)
        return wfre_fail(error, WFRE_ERR_FORMAT, WFRE_NO_OFFSET,
                         "%s: no checkpoint of a training run ('%s' is missing)", path, key);
    wfre_status status = wfre_setting_parse(row, structure, text, error);
    return status == WFRE_OK ? status : wfre_fail_within(error, WFRE_ERR_FORMAT, path);
}

static wfre_status read_moments(const wfre_safetensors *file, const char *path, wfre_trainer *t,
                                wfre_error *error)
{
    for (uint32_t i = 0; i < t->model->tensor_count; i++) {
        const wfre_tensor *tensor = &t->model->tensors[i];
        for (int m = 0; m < 2; m++) {
            char name[TEXT_SIZE];
            (void)snprintf(name, sizeof name, "%s.%s", m == 0 ? "first" : "second", tensor->name);
            wfre_status status = wfre_model_read_tensor(file, path, name, tensor->count,
                                                        m == 0 ? t->first[i] : t->second[i], error);
            if (status != WFRE_OK)
                return status;
        }
    }
    for (int i = 0; t->factors && i < WFRE_FACTOR_TENSORS; i++) {
        const wfre_tensor *tensor = &t->model->factors->tensors[i];
        char name[TEXT_SIZE];
        (void)snprintf(name, sizeof name, "second.%s", tensor->name);
        CHECK(wfre_model_read_tensor(file, path, name, tensor->count,
                                     wfre_factors_squares(t->factors, i), error));
    }
    return WFRE_OK;
}

/* The surrogate that the run had come to, in the place of the one that runs begin with. */
static wfre_status read_surrogate(const wfre_safetensors *file, const char *path, wfre_trainer *t,
                                  wfre_error *error)
{
    const wfre_stored_tensor *stored = wfre_safetensors_find(file, SURROGATE_MAPS[0]);
    wfre_surrogate *s = NULL;
    wfre_status status = WFRE_OK;
    if (!t->surrogate || !stored)
        return WFRE_OK;
    size_t rank = stored->rank == 2 ? stored->shape[1] : 0;
    if (rank < 1 || rank > t->surrogate->features)
        return wfre_fail(error, WFRE_ERR_FORMAT, WFRE_NO_OFFSET,
                         "%s: the tensor '%s' has the wrong shape", path, SURROGATE_MAPS[0]);
    TRY(wfre_surrogate_allocate(&t->model->settings.score, rank, &s, error));
    for (int i = 0; i < MAPS; i++) {
        size_t shape[2];
        float *map = map_of(s, i, shape);
        if (i < 2 || wfre_safetensors_find(file, SURROGATE_MAPS[i])) /* older runs did without */
            TRY(wfre_model_read_tensor(file, path, SURROGATE_MAPS[i], shape[0] * shape[1], map,
                                       error));
    }
    wfre_surrogate_complete(s);
    wfre_surrogate_free(t->surrogate);
    t->surrogate = s;
    wfre_matrix_engine_use(t->loss, s);
    s = NULL;
cleanup:
    wfre_surrogate_free(s);
    return status;
}

static wfre_status read_settings(const wfre_safetensors *file, const char *path,
                                 wfre_train_settings *settings, wfre_error *error)
{
    *settings = (wfre_train_settings){0};
    for (size_t i = 0; i < wfre_train_table_count; i++)
        CHECK(read_text(file, path, &wfre_train_table[i], "train.", settings, error));
    return wfre_model_read_settings(file, path, &settings->model, error);
}

wfre_status wfre_checkpoint_read_settings(const char *path, wfre_train_settings *settings,
                                          wfre_error *error)
{
    wfre_safetensors *file = NULL;
    wfre_status status;
    TRY(wfre_safetensors_open(path, &file, error));
    TRY(read_settings(file, path, settings, error));
cleanup:
    wfre_safetensors_close(file);
    return status;
}

wfre_status wfre_checkpoint_read(const char *path, const wfre_graph *graph, wfre_pool *pool,
                                 const wfre_train_settings *length, wfre_trainer **result,
                                 double *best, uint32_t *next_validation, wfre_error *error)
{
    wfre_safetensors *file = NULL;
    wfre_model *model = NULL;
    wfre_trainer *t = NULL;
    wfre_train_settings settings;
    run_state state = {.next_validation = UINT32_MAX};
    wfre_status status;
    TRY(wfre_safetensors_open(path, &file, error));
    TRY(wfre_safetensors_look_at_all(file, error));
    for (size_t i = 0; i < STATE_COUNT; i++)
        TRY(read_text(file, path, &STATE_TABLE[i], "", &state, error));
    TRY(read_settings(file, path, &settings, error));
    TRY(wfre_model_read(file, path, &model, error));
    TRY(wfre_model_check_graph(model, graph, error));
    if (length->steps || length->seconds > 0) {
        settings.steps = length->steps;
        settings.seconds = length->seconds;
    }
    TRY(wfre_trainer_create_with(graph, &settings, pool, model, &t, error));
    model = NULL; /* the trainer's now */
    TRY(read_moments(file, path, t, error));
    TRY(read_surrogate(file, path, t, error));
    t->step = state.step;
    t->seconds_before = state.seconds;
    t->smooth_loss = state.loss;
    t->restart = state.restart;
    t->rate = state.rate;
    t->started = wfre_clock();
    *best = state.best;
    *next_validation = state.next_validation;
    *result = t;
    t = NULL;
cleanup:
    wfre_trainer_free(t);
    wfre_model_free(model);
    wfre_safetensors_close(file);
    return status;
}
