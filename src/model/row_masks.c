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

enum {
    BLOCK = 256, /* projections whose masks are drawn together */
    RUNS = 64    /* lengths that are drawn at a time */
};

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

static float coefficient_of(const mask_task *t, const block *b, size_t projection, size_t matrix)
{
    return t->layer.coefficients[relation_of(t, b, projection) * t->matrices + matrix];
}

/* Where a matrix's member begins in a projection's row. */
static size_t place(const mask_task *t, size_t matrix, size_t projection)
{
    return projection * t->job->model->settings.dim + matrix / t->bases * t->width;
}

/* Gaps of one output of a matrix: all go with the same row of a basis, and each with the row of
 * another projection. */
typedef struct gap_group {
    gap *gaps;
    size_t count;
    size_t output;
} gap_group;

/* The group that begins at `gaps`; `count` are left. */
static gap_group group_at(gap *gaps, size_t count)
{
    gap_group g = {gaps, 1, gaps->output};
    while (g.count < count && gaps[g.count].output == g.output)
        g.count++;
    return g;
}

/* ---- forward ------------------------------------------------------------------------------ */

/* Lengths of the runs between gaps, which are geometric; drawn some at a time. */
typedef struct run_lengths {
    wfre_rng rng;
    const wfre_vector_table *vectors;
    float stretch; /* 1 / log(1 - p) */
    size_t next;
    float logs[RUNS];
} run_lengths;

static float next_run(run_lengths *r)
{
    if (r->next == RUNS) {
        for (size_t i = 0; i < RUNS; i++)
            r->logs[i] = (float)(1 - wfre_rng_double(&r->rng));
        r->vectors->log(RUNS, r->logs, r->logs);
        r->next = 0;
    }
    return r->logs[r->next++] * r->stretch;
}

/* Draws the gaps of one matrix. */
static bool draw_gaps(const mask_task *t, block *b, size_t matrix, size_t *used)
{
    const wfre_noise *noise = t->job->noise;
    uint64_t key = (uint64_t)b->first << 32 | (uint64_t)matrix << 3 | t->job->layer;
    run_lengths lengths = {.rng = wfre_rng_for(noise->seed, WFRE_FOR_ROW_MASKS, noise->step, key),
                           .vectors = t->vectors,
                           .stretch = (float)(1 / log1p(-(double)noise->drop_basis)),
                           .next = RUNS};
    size_t projection = 0, output = 0;
    for (;;) {
        float run = next_run(&lengths);
        if (!(run < (float)(t->width * b->count)))
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

/* What the gaps of a group would have added, taken off. */
static void forward_group(const mask_task *t, const block *b, size_t matrix, gap_group g)
{
    const float *rows[BLOCK];
    float values[BLOCK];
    for (size_t i = 0; i < g.count; i++)
        rows[i] = t->input + place(t, matrix, b->first + g.gaps[i].projection);
    t->vectors->dot_rows(t->width, basis_row(t, matrix, g.output), g.count, rows, values);
    float bias = t->layer.biases[matrix * t->width + g.output];
    for (size_t i = 0; i < g.count; i++) {
        size_t projection = b->first + g.gaps[i].projection;
        g.gaps[i].value = bias + values[i];
        t->target[place(t, matrix, projection) + g.output] -=
            t->scale * coefficient_of(t, b, projection, matrix) * g.gaps[i].value;
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
    }
    if (b->failed)
        return;
    b->begin[t->matrices] = (uint32_t)used;
    for (size_t j = 0; j < t->matrices; j++)
        for (size_t i = b->begin[j]; i < b->begin[j + 1];) {
            gap_group g = group_at(b->gaps + i, b->begin[j + 1] - i);
            forward_group(t, b, j, g);
            i += g.count;
        }
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

static void backward_group(const mask_task *t, const block *b, size_t matrix, gap_group g)
{
    float *rows[BLOCK], factors[BLOCK];
    for (size_t i = 0; i < g.count; i++) {
        size_t projection = b->first + g.gaps[i].projection, at = place(t, matrix, projection);
        factors[i] = -t->scale * coefficient_of(t, b, projection, matrix) * t->slope[at + g.output];
        rows[i] = t->target + at;
    }
    t->vectors->add_to_rows(t->width, basis_row(t, matrix, g.output), g.count, factors, rows);
}

static void backward_block(void *context, size_t chunk, unsigned worker)
{
    (void)worker;
    const mask_task *t = context;
    const block *b = &t->blocks[chunk];
    for (size_t j = 0; j < t->matrices; j++)
        for (size_t i = b->begin[j]; i < b->begin[j + 1];) {
            gap_group g = group_at(b->gaps + i, b->begin[j + 1] - i);
            backward_group(t, b, j, g);
            i += g.count;
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

static void gradient_group(const mask_task *t, const block *b, size_t matrix, gap_group g)
{
    const float *rows[BLOCK];
    float factors[BLOCK], sum = 0;
    for (size_t i = 0; i < g.count; i++) {
        size_t projection = b->first + g.gaps[i].projection, at = place(t, matrix, projection);
        size_t coefficient = relation_of(t, b, projection) * t->matrices + matrix;
        float slope = t->scale * t->slope[at + g.output];
        t->out->coefficients[coefficient] -= slope * g.gaps[i].value;
        factors[i] = -slope * t->layer.coefficients[coefficient];
        rows[i] = t->input + at;
        sum += factors[i];
    }
    size_t row = matrix * t->width + g.output;
    t->out->biases[row] += sum;
    t->vectors->add_rows(t->width, g.count, factors, rows, t->out->bases + row * t->width);
}

/* Of one matrix, from every gap in it: nobody else writes to them. */
static void gradient_matrix(void *context, size_t j, unsigned worker)
{
    (void)worker;
    const mask_task *t = context;
    for (size_t n = 0; n < t->masks->count; n++) {
        const block *b = &t->masks->blocks[n];
        for (size_t i = b->begin[j]; i < b->begin[j + 1];) {
            gap_group g = group_at(b->gaps + i, b->begin[j + 1] - i);
            gradient_group(t, b, j, g);
            i += g.count;
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
