/* The masks of a block of projections are drawn on the way forward, by streams of random numbers of
 * their own, and kept: matrix by matrix, which is the order in which rows of the bases stay in the
 * cache. The way forward and back go block by block, the gradients of the bases matrix by matrix,
 * on any number of threads. */
#include "model/row_masks.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/pool.h"
#include "base/rng.h"

enum { BLOCK = 128 }; /* projections whose masks are drawn together */

/* One output of a matrix that one projection of the block does without. */
typedef struct gap {
    uint16_t projection; /* of the block */
    uint16_t output;     /* 0 .. w-1 */
    float value;         /* (V_j m + a_j)_i */
} gap;

typedef struct wfre_mask_block {
    size_t first, count;             /* projections of the program */
    const wfre_program_level *level; /* theirs */
    uint32_t *begin;                 /* [matrices + 1] into gaps */
    gap *gaps;
    size_t begin_capacity, gap_capacity;
    bool failed; /* out of memory */
} block;

bool wfre_row_masks_used(const wfre_weights_job *job)
{
    return job->noise && job->noise->mask_rows && job->noise->drop_basis > 0 &&
           job->model->settings.bases > 0;
}

void wfre_row_masks_free(wfre_row_masks *masks)
{
    for (size_t i = 0; i < masks->capacity; i++) {
        wfre_free(masks->blocks[i].begin);
        wfre_free(masks->blocks[i].gaps);
    }
    wfre_free(masks->blocks);
    *masks = (wfre_row_masks){0};
}

/* ---- what the tasks share ----------------------------------------------------------------- */

typedef struct mask_task {
    const wfre_row_masks *masks;
    const wfre_weights_job *job;
    const wfre_vector_table *vectors;
    block *blocks; /* those of the level */
    const float *slope, *input;
    float *target; /* of the way forward: linear; of the way back: slope_in */
    const wfre_layer *out;
    wfre_layer layer;
    size_t width, bases, matrices; /* of all members */
    float scale;                   /* 1 / (1 - p) */
} mask_task;

static mask_task open_task(const wfre_row_masks *masks, const wfre_weights_job *job)
{
    size_t bases = job->model->settings.bases;
    return (mask_task){
        .masks = masks,
        .job = job,
        .vectors = wfre_linalg_vectors(job->linalg),
        .layer = wfre_layer_at(job->model->tensors + 1, job->layer),
        .width = wfre_model_width(job->model),
        .bases = bases,
        .matrices = job->model->settings.members * bases,
        .scale = 1 / (1 - job->noise->drop_basis),
    };
}

/* The relation of a projection. */
static size_t relation_of(const mask_task *t, const block *b, size_t projection)
{
    const wfre_program *program = t->job->program;
    size_t row = b->level->project_begin + projection - b->level->projection_offset;
    return program->relations[program->id[row]];
}

static const float *basis_row(const mask_task *t, size_t matrix, size_t output)
{
    return t->layer.bases + (matrix * t->width + output) * t->width;
}

/* Where a matrix's member begins in a projection's row. */
static size_t place(const mask_task *t, size_t matrix, size_t projection)
{
    return projection * t->job->model->settings.dim + matrix / t->bases * t->width;
}

/* ---- forward ------------------------------------------------------------------------------ */

/* Draws the gaps of one matrix; the lengths of the runs between them are geometric. */
static bool draw_gaps(const mask_task *t, block *b, size_t matrix, size_t *used)
{
    const wfre_noise *noise = t->job->noise;
    uint64_t key = (uint64_t)b->first << 32 | (uint64_t)matrix << 3 | t->job->layer;
    wfre_rng rng = wfre_rng_for(noise->seed, WFRE_FOR_ROW_MASKS, noise->step, key);
    double stretch = 1 / log1p(-(double)noise->drop_basis);
    size_t projection = 0, output = 0;
    for (;;) {
        double run = log1p(-wfre_rng_double(&rng)) * stretch;
        if (!(run < (double)(t->width * b->count)))
            return true;
        for (projection += (size_t)run; projection >= b->count; projection -= b->count)
            output++;
        if (output >= t->width)
            return true;
        if (!WFRE_RESERVE(&b->gaps, &b->gap_capacity, *used + 1))
            return false;
        b->gaps[(*used)++] = (gap){(uint16_t)projection, (uint16_t)output, 0};
        projection++;
    }
}

static void forward_block(void *context, size_t chunk, unsigned worker)
{
    (void)worker;
    const mask_task *t = context;
    block *b = &t->blocks[chunk];
    size_t used = 0;
    b->failed = !WFRE_RESERVE(&b->begin, &b->begin_capacity, t->matrices + 1);
    for (size_t j = 0; j < t->matrices && !b->failed; j++) {
        b->begin[j] = (uint32_t)used;
        b->failed = !draw_gaps(t, b, j, &used);
        for (size_t i = b->begin[j]; i < used && !b->failed; i++) {
            gap *g = &b->gaps[i];
            size_t projection = b->first + g->projection, at = place(t, j, projection);
            g->value = t->layer.biases[j * t->width + g->output] +
                       t->vectors->dot_float(t->width, basis_row(t, j, g->output), t->input + at);
            float factor = t->layer.coefficients[relation_of(t, b, projection) * t->matrices + j];
            t->target[at + g->output] -= t->scale * factor * g->value;
        }
    }
    if (!b->failed)
        b->begin[t->matrices] = (uint32_t)used;
}

/* The blocks of a level stand behind those of the levels before it. */
static wfre_status add_blocks(wfre_row_masks *masks, const wfre_program_level *level, size_t *first,
                              wfre_error *error)
{
    size_t projections = level->project_end - level->project_begin;
    size_t more = (projections + BLOCK - 1) / BLOCK, held = masks->capacity;
    masks->count = level->projection_offset == 0 ? 0 : masks->count;
    *first = masks->count;
    if (masks->count + more > held) {
        block *grown = wfre_resize(masks->blocks, masks->count + more, sizeof *grown);
        if (!grown)
            return wfre_fail_memory(error, "drawing masks");
        memset(grown + held, 0, (masks->count + more - held) * sizeof *grown);
        masks->blocks = grown;
        masks->capacity = masks->count + more;
    }
    for (size_t i = 0; i < more; i++) {
        block *b = &masks->blocks[masks->count++];
        b->level = level;
        b->first = level->projection_offset + i * BLOCK;
        b->count = projections - i * BLOCK < BLOCK ? projections - i * BLOCK : BLOCK;
    }
    return WFRE_OK;
}

wfre_status wfre_row_masks_forward(wfre_row_masks *masks, const wfre_weights_job *job,
                                   const wfre_program_level *level, const float *input,
                                   float *linear, wfre_error *error)
{
    size_t first;
    wfre_status status = add_blocks(masks, level, &first, error);
    if (status != WFRE_OK)
        return status;
    mask_task task = open_task(masks, job);
    task.blocks = masks->blocks + first;
    task.input = input;
    task.target = linear;
    CHECK(wfre_pool_try(job->pool, masks->count - first, forward_block, &task, error));
    for (size_t i = first; i < masks->count; i++)
        if (masks->blocks[i].failed)
            return wfre_fail_memory(error, "drawing masks");
    return WFRE_OK;
}

/* ---- backward ----------------------------------------------------------------------------- */

static void backward_block(void *context, size_t chunk, unsigned worker)
{
    (void)worker;
    const mask_task *t = context;
    const block *b = &t->blocks[chunk];
    for (size_t j = 0; j < t->matrices; j++)
        for (size_t i = b->begin[j]; i < b->begin[j + 1]; i++) {
            const gap *g = &b->gaps[i];
            size_t projection = b->first + g->projection, at = place(t, j, projection);
            float factor = t->layer.coefficients[relation_of(t, b, projection) * t->matrices + j];
            t->vectors->axpy(t->width, -t->scale * factor * t->slope[at + g->output],
                             basis_row(t, j, g->output), t->target + at);
        }
}

wfre_status wfre_row_masks_backward(wfre_row_masks *masks, const wfre_weights_job *job,
                                    const wfre_program_level *level, const float *slope,
                                    float *slope_in, wfre_error *error)
{
    mask_task task = open_task(masks, job);
    size_t first = 0, last;
    while (first < masks->count && masks->blocks[first].level != level)
        first++;
    for (last = first; last < masks->count && masks->blocks[last].level == level;)
        last++;
    task.blocks = masks->blocks + first;
    task.slope = slope;
    task.target = slope_in;
    return wfre_pool_try(job->pool, last - first, backward_block, &task, error);
}

/* ---- gradients of the parameters ---------------------------------------------------------- */

/* Of one matrix, from every gap in it: nobody else writes to them. */
static void gradient_matrix(void *context, size_t j, unsigned worker)
{
    (void)worker;
    const mask_task *t = context;
    float *bases = t->out->bases + j * t->width * t->width;
    float *biases = t->out->biases + j * t->width;
    for (size_t n = 0; n < t->masks->count; n++) {
        const block *b = &t->masks->blocks[n];
        for (size_t i = b->begin[j]; i < b->begin[j + 1]; i++) {
            const gap *g = &b->gaps[i];
            size_t projection = b->first + g->projection, at = place(t, j, projection);
            size_t coefficient = relation_of(t, b, projection) * t->matrices + j;
            float slope = t->scale * t->slope[at + g->output];
            float through = slope * t->layer.coefficients[coefficient];
            t->out->coefficients[coefficient] -= slope * g->value;
            biases[g->output] -= through;
            t->vectors->axpy(t->width, -through, t->input + at, bases + g->output * t->width);
        }
    }
}

wfre_status wfre_row_masks_gradients(wfre_row_masks *masks, const wfre_weights_job *job,
                                     const float *slope, const float *input, wfre_layer *out,
                                     wfre_error *error)
{
    mask_task task = open_task(masks, job);
    task.slope = slope;
    task.input = input;
    task.out = out;
    return wfre_pool_try(job->pool, task.matrices, gradient_matrix, &task, error);
}
