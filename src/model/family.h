/* Model families: what an entity, a projection, an intersection and a complement are as rows of
 * numbers, each forward beside its backward. One row of a table is one family; run.c takes any
 * batch of questions through it, training carries gradients back through it, and a model's file
 * says its name.
 *
 * All families have this in common: an entity and a question are both a row of `dim` numbers (a box
 * would be its centre and its extent, and an entity a box without one), parameters are tensors,
 * and rows are compared by a wfre_score, whose kernels hold forward and backward. */
#ifndef WFRE_SRC_MODEL_FAMILY_H
#define WFRE_SRC_MODEL_FAMILY_H

#include "linalg/linalg.h"
#include "model/model.h"
#include "model/program.h"

/* The noise of one training step; all rates 0 for none. */
typedef struct wfre_noise {
    float drop_input;    /* an input element of a projection becomes 0, the others grow */
    float drop_basis;    /* an output of a basis is left out, the others grow */
    float drop_negation; /* an element becomes 1/2 before it is complemented */
    bool mask_rows;      /* drop_basis draws for each row, not for each relation */
    uint64_t seed, step;
} wfre_noise;

/* A batch on its way through its program, as a family sees it. */
typedef struct wfre_pass {
    const wfre_model *model;
    const wfre_program *program;
    wfre_pool *pool;
    wfre_linalg *linalg;
    const wfre_vector_table *vectors;
    wfre_precision precision;
    wfre_noise noise;
    bool noisy;          /* false: it is all 0 */
    float *rows;         /* [rows, dim] */
    float *gradients;    /* [rows, dim] of the loss */
    float *scratch;      /* [threads, scratch_size] for operators with many arguments */
    size_t scratch_size; /* 2 x most children of a row x dim */
    void *state;         /* of the family, from `begin` to `end` */
} wfre_pass;

typedef struct wfre_family {
    const char *name; /* in model files */

    /* Whether the settings that are the family's own suit; the message names the one at fault. */
    wfre_status (*check)(const wfre_model_settings *settings, wfre_error *error);
    /* Names and shapes of the parameters beside the entities; returns how many. `tensors` has room
     * for WFRE_MAXIMUM_TENSORS - 1. */
    uint32_t (*shapes)(const wfre_model_settings *settings, uint32_t relation_count,
                       wfre_tensor *tensors);
    /* Random parameters to begin with, entities included; all are zero before. */
    void (*initialise)(wfre_model *model, uint64_t seed);
    /* How an entity (left) is compared with a question (right). */
    wfre_status (*distance)(const wfre_model_settings *settings, wfre_score **score,
                            wfre_error *error);

    /* From what is stored of an entity to its row, and in place from the row's gradient to that of
     * what is stored. */
    struct {
        void (*forward)(const wfre_vector_table *vectors, size_t dim, const float *stored,
                        float *row);
        void (*backward)(size_t dim, const float *stored, float *gradient);
    } entity;

    /* Around a pass: `begin` before the first level on the way forward, `finish` after the last one
     * on the way back; `end` frees the state. All three may be NULL. gradients[i] is of
     * model->tensors[i + 1]. Those that are `summed` are 0 when the way back begins and are added
     * to level by level; the others are written by `finish`. */
    wfre_status (*begin)(wfre_pass *pass, wfre_error *error);
    wfre_status (*finish)(wfre_pass *pass, const wfre_tensor *gradients, wfre_error *error);
    void (*end)(wfre_pass *pass);

    /* The projections of a level, all at once, since those of a relation share work. The way back
     * adds to the gradients of their arguments. */
    struct {
        wfre_status (*forward)(wfre_pass *pass, const wfre_program_level *level, wfre_error *error);
        wfre_status (*backward)(wfre_pass *pass, const wfre_program_level *level,
                                const wfre_tensor *gradients, wfre_error *error);
    } project;

    /* One row; the way back adds to the gradients of its children. A union inside the embedding
     * (program->op[row] is WFRE_OP_UNION) is an intersection's dual. */
    struct {
        void (*forward)(const wfre_pass *pass, uint32_t row);
        void (*backward)(const wfre_pass *pass, uint32_t row, unsigned worker);
    } intersect, negate;
} wfre_family;

/* The family of the paper, the first row of the table. */
extern const wfre_family wfre_family_wfre;

/* By name; NULL if there is none of that name. */
const wfre_family *wfre_family_find(const char *name);
/* That of a model with these settings. */
const wfre_family *wfre_family_of(const wfre_model_settings *settings);

/* An entity's row, from what the model stores of it. */
void wfre_family_read_entity(const wfre_model *model, const wfre_vector_table *vectors,
                             size_t entity, float *row);

static inline const float *wfre_pass_row(const wfre_pass *pass, uint32_t row)
{
    return pass->rows + (size_t)row * pass->model->settings.dim;
}

static inline float *wfre_pass_gradient(const wfre_pass *pass, uint32_t row)
{
    return pass->gradients + (size_t)row * pass->model->settings.dim;
}

/* The only argument of a projection or a complement. */
static inline uint32_t wfre_pass_child(const wfre_pass *pass, uint32_t row)
{
    return pass->program->children[pass->program->child_begin[row]];
}

/* Calls `each` for the rows begin .. end-1 on the pool; `index` counts from `first`. */
typedef void (*wfre_pass_each)(wfre_pass *pass, uint32_t row, uint32_t index, unsigned worker);
void wfre_pass_rows(wfre_pass *pass, uint32_t begin, uint32_t end, uint32_t first,
                    wfre_pass_each each);

#endif
