/* Factors: a second predictor of single edges beside the histograms, for the reasoning by edges.
 *
 * Entities and directed relations have k complex numbers each, and an edge (x, r, y) the score
 *
 *   Re sum over i of x_i r_i conj(y_i)
 *
 * (ComplEx). It is bilinear: what it learns is another thing than what histograms learn, so that
 * both together predict better than either. A row has the k real parts, then the k imaginary ones.
 * The question of x and r is a row, too: x r, whose product with the row of y is the score. */
#ifndef WFRE_SRC_MODEL_FACTORS_H
#define WFRE_SRC_MODEL_FACTORS_H

#include "model/model.h"
#include "model/safetensors.h"

struct wfre_factors {
    uint32_t size; /* k */
    bool mapped;   /* the entities lie in a file, and are only read */
    union {
        struct {
            wfre_tensor entities;  /* [entities, 2 k] */
            wfre_tensor relations; /* [directed relations, 2 k] */
        };
        wfre_tensor tensors[WFRE_FACTOR_TENSORS];
    };
};

/* Those of a model with its settings, all zero. */
WFRE_NODISCARD wfre_status wfre_factors_allocate(const wfre_model_settings *settings,
                                                 uint32_t entity_count, uint32_t relation_count,
                                                 wfre_factors **factors, wfre_error *error);
void wfre_factors_free(wfre_factors *factors);

/* Small random numbers to begin with. */
void wfre_factors_initialise(wfre_factors *factors, uint64_t seed);

/* Reads them from a file, in the shape that the settings say. With `map` the entities stay in the
 * file, if they are stored as float32, and are only read there. */
WFRE_NODISCARD wfre_status wfre_factors_read(const wfre_safetensors *file, const char *path,
                                             const wfre_model_settings *settings,
                                             uint32_t entity_count, uint32_t relation_count,
                                             bool map, wfre_factors **factors, wfre_error *error);

static inline size_t wfre_factors_width(const wfre_factors *factors)
{
    return 2 * (size_t)factors->size;
}

static inline float *wfre_factors_entity(const wfre_factors *factors, size_t entity)
{
    return factors->entities.data + entity * wfre_factors_width(factors);
}

static inline float *wfre_factors_relation(const wfre_factors *factors, size_t relation)
{
    return factors->relations.data + relation * wfre_factors_width(factors);
}

/* z = x y, and z = z + x conj(y), for rows of k complex numbers. */
void wfre_factors_multiply(size_t size, const float *x, const float *y, float *z);
void wfre_factors_add_conjugate(size_t size, const float *x, const float *y, float *z);

#endif
