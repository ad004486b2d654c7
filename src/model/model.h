/* The model's parameters from the inside. Which there are beside the entities is for the model's
 * family to say (model/family.h); what follows is the WFRE family's.
 *
 * Shapes, with n entities, R directed relations, K bases (K = R when each relation has a free
 * matrix), d dimensions and M members of w = d / M dimensions each:
 *
 *   entities      [n, d]         read as clamp(e, 0, 1)
 *   and for each layer of the projection
 *   coefficients  [R, M * K]     absent when each relation has a free matrix
 *   bases         [M * K, w, w]  output index first; K of each member, one member after the other
 *   biases        [M * K, w]
 *   gain, shift   [d]            of the layer norm
 *
 * A layer computes s = sum_j c_rj (V_j m + a_j), then LayerNorm(s), then the activation: sigmoid in
 * the last layer, relu before; each member by itself, from its own w dimensions. */
#ifndef WFRE_SRC_MODEL_MODEL_H
#define WFRE_SRC_MODEL_MODEL_H

#include <stdatomic.h>

#include "base/error.h"
#include "wfre/model.h"

enum { WFRE_LAYER_TENSORS = 5, WFRE_MAXIMUM_TENSORS = 1 + 5 * WFRE_MAXIMUM_LAYERS };

/* One parameter tensor, as the optimizer and the model file see it. */
typedef struct wfre_tensor {
    char name[32]; /* "entities", "layer0.bases", ... */
    float *data;
    size_t shape[3];
    uint32_t rank;
    size_t count; /* product of the shape */
    bool summed;  /* its gradient is added to level by level (model/family.h) */
} wfre_tensor;

/* One without memory yet. */
wfre_tensor wfre_tensor_shape(const char *name, uint32_t rank, size_t a, size_t b, size_t c);

/* The tensors of one layer, by name. */
typedef struct wfre_layer {
    float *coefficients;
    float *bases;
    float *biases;
    float *gain;
    float *shift;
} wfre_layer;

/* Those of a WFRE model (`tensors` is model->tensors + 1), or of its gradients. */
static inline wfre_layer wfre_layer_at(const wfre_tensor *tensors, uint32_t layer)
{
    const wfre_tensor *t = tensors + (size_t)layer * WFRE_LAYER_TENSORS;
    return (wfre_layer){t[0].data, t[1].data, t[2].data, t[3].data, t[4].data};
}

typedef struct wfre_factors wfre_factors; /* model/factors.h */

struct wfre_model {
    _Atomic uint32_t others; /* owners besides the first */
    wfre_model_settings settings;
    uint32_t entity_count;
    uint32_t relation_count;         /* directed */
    uint64_t fingerprint;            /* of the graph */
    float *entities;                 /* read-only where they lie in a mapped file */
    bool entities_mapped;            /* they do */
    struct wfre_safetensors *mapped; /* that file, or NULL */
    wfre_tensor tensors[WFRE_MAXIMUM_TENSORS];
    uint32_t tensor_count;                /* tensors[0] are the entities */
    wfre_factors *factors;                /* NULL without: settings.factors is 0 */
    struct wfre_calibration *calibration; /* NULL: scores have no probabilities */
    struct wfre_measurement *measurement; /* NULL: nothing is known */
    struct wfre_sketch_tables *sketch;    /* NULL: made by whoever searches */
    bool unfinished;                      /* a training run that has not ended wrote it */
};

/* All tensors of a model, those of its factors behind the others; returns how many. */
enum { WFRE_FACTOR_TENSORS = 2, WFRE_MAXIMUM_PARTS = WFRE_MAXIMUM_TENSORS + WFRE_FACTOR_TENSORS };
uint32_t wfre_model_parts(const wfre_model *model, const wfre_tensor *parts[WFRE_MAXIMUM_PARTS]);

/* An entity's numbers, which lie in a mapped file perhaps and are checked then when they are first
 * read; wfre_model_sound says afterwards whether all were whole. */
const float *wfre_model_row(const wfre_model *model, size_t entity);
WFRE_NODISCARD wfre_status wfre_model_sound(const wfre_model *model, wfre_error *error);
/* Checks all that lies in a mapped file, for whoever is to read it all. */
WFRE_NODISCARD wfre_status wfre_model_settle(const wfre_model *model, wfre_error *error);

/* As wfre_model_save, but nobody stops it: for what has its place in a larger task. */
WFRE_NODISCARD wfre_status wfre_model_keep(const wfre_model *model, const char *path, bool bf16,
                                           wfre_error *error);

/* The matrices of a member: K, or the relations when each has its own. */
uint32_t wfre_model_matrices(const wfre_model *model);
/* The dimensions of a member. */
static inline size_t wfre_model_width(const wfre_model *model)
{
    return model->settings.dim / model->settings.members;
}

/* Checks settings against each other; the message names the one at fault. */
WFRE_NODISCARD wfre_status wfre_model_settings_check(const wfre_model_settings *settings,
                                                     wfre_error *error);

/* A model with all tensors allocated and zero. */
WFRE_NODISCARD wfre_status wfre_model_allocate(const wfre_model_settings *settings,
                                               uint32_t entity_count, uint32_t relation_count,
                                               uint64_t fingerprint, wfre_model **model,
                                               wfre_error *error);

/* Gives the layers of a random model the sizes that the published code starts with: coefficients
 * by Xavier's rule with the gain sqrt 2, the bases by the same rule as one matrix [K w, w], biases
 * up to 1 / sqrt w, all uniform. */
void wfre_model_initialise_published(wfre_model *model, uint64_t seed);

/* The same as wfre_model_allocate without memory for the entities, and without factors. */
WFRE_NODISCARD wfre_status wfre_model_frame(const wfre_model_settings *settings,
                                            uint32_t entity_count, uint32_t relation_count,
                                            uint64_t fingerprint, wfre_model **model,
                                            wfre_error *error);
/* Where they are then to be: the tensor follows. */
void wfre_model_set_entities(wfre_model *model, float *entities);

/* Tensors of the shapes of the model's parameters, zeroed (for those and for gradients);
 * tensors[i] matches model->tensors[i + 1], and there is room for WFRE_MAXIMUM_TENSORS - 1.
 * Whoever has them freed without having allocated them begins with zeros. */
WFRE_NODISCARD wfre_status wfre_parameters_allocate(const wfre_model *model, wfre_tensor *tensors,
                                                    wfre_error *error);
void wfre_parameters_free(wfre_tensor *tensors);

#endif
