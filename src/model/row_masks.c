/* What masks leave out, found again whenever it is needed: the random numbers of a block of
 * projections and one basis are a stream of their own, so that the way forward may go block by
 * block and the gradients of the bases basis by basis, on any number of threads. */
#include "model/row_masks.h"

#include <math.h>

#include "base/pool.h"
#include "base/rng.h"

enum { BLOCK = 128 }; /* projections whose masks are drawn together */

bool wfre_row_masks_used(const wfre_weights_job *job)
{
    return job->noise && job->noise->mask_rows && job->noise->drop_basis > 0 &&
           job->model->settings.bases > 0;
}

/* ---- drawing ------------------------------------------------------------------------------ */

typedef struct masks {
    const wfre_weights_job *job;
    const wfre_program_level *level; /* NULL: all of them */
    const float *slope, *input;
    float *target; /* of the way forward: linear; of the way back: slope_in */
    const wfre_layer *out;
    size_t width, bases, coefficients;
    float scale;    /* 1 / (1 - p) */
    double stretch; /* 1 / log(1 - p): from a uniform number to the length of a gap */
} masks;

static masks open_masks(const wfre_weights_job *job, const wfre_program_level *level)
{
    size_t bases = job->model->settings.bases;
    return (masks){
        .job = job,
        .level = level,
        .width = wfre_model_width(job->model),
        .bases = bases,
        .coefficients = job->model->settings.members * bases,
        .scale = 1 / (1 - job->noise->drop_basis),
        .stretch = 1 / log1p(-(double)job->noise->drop_basis),
    };
}

/* One output of a basis that one projection does without. */
typedef struct gap {
    size_t output;     /* 0 .. w-1 */
    size_t projection; /* of the program */
} gap;

/* The gaps of one matrix (of all members' bases) in a block of projections, output by output. */
typedef struct gap_stream {
    wfre_rng rng;
    size_t at, end; /* cells: (output, projection of the block) */
    size_t first, count;
    double stretch;
} gap_stream;

static gap_stream open_gaps(const masks *m, size_t first, size_t count, size_t matrix)
{
    const wfre_noise *noise = m->job->noise;
    uint64_t key = (uint64_t)first << 32 | (uint64_t)matrix << 3 | m->job->layer;
    return (gap_stream){
        .rng = wfre_rng_keyed(noise->seed ^ 0x726f776d61736bu, noise->step, key),
        .end = m->width * count,
        .first = first,
        .count = count,
        .stretch = m->stretch,
    };
}

/* The lengths of the runs between gaps are geometric. */
static bool next_gap(gap_stream *s, gap *found)
{
    double run = log1p(-wfre_rng_double(&s->rng)) * s->stretch;
    if (!(run < (double)(s->end - s->at)))
        return false;
    s->at += (size_t)run;
    *found = (gap){s->at / s->count, s->first + s->at % s->count};
    s->at++;
    return true;
}

/* The coefficient of a matrix in a projection of the level. */
static float coefficient(const masks *m, const wfre_program_level *level, size_t projection,
                         size_t matrix)
{
    const wfre_program *program = m->job->program;
    size_t row = level->project_begin + projection - level->projection_offset;
    size_t relation = program->relations[program->id[row]];
    const float *all = m->job->model->layers[m->job->layer].coefficients;
    return all[relation * m->coefficients + matrix];
}

static size_t block_end(const wfre_program_level *level, size_t first)
{
    size_t end = level->projection_offset + level->project_end - level->project_begin;
    return end - first < BLOCK ? end : first + BLOCK;
}

/* ---- forward and backward over the projections of a level --------------------------------- */

typedef void visit(const masks *m, gap g, size_t matrix, float factor);

static void over_block(const masks *m, size_t chunk, visit *each)
{
    size_t first = m->level->projection_offset + chunk * BLOCK;
    for (size_t matrix = 0; matrix < m->coefficients; matrix++) {
        gap_stream gaps = open_gaps(m, first, block_end(m->level, first) - first, matrix);
        for (gap g; next_gap(&gaps, &g);)
            each(m, g, matrix, m->scale * coefficient(m, m->level, g.projection, matrix));
    }
}

static const float *basis_row(const masks *m, size_t matrix, size_t output)
{
    const float *all = m->job->model->layers[m->job->layer].bases;
    return all + (matrix * m->width + output) * m->width;
}

/* Where a matrix's member begins in a projection's row. */
static size_t place(const masks *m, size_t matrix, size_t projection)
{
    return projection * m->job->model->settings.dim + matrix / m->bases * m->width;
}

/* (V_j m + a_j)_i */
static float output_of(const masks *m, gap g, size_t matrix)
{
    const wfre_vector_table *vectors = wfre_linalg_vectors(m->job->linalg);
    const float *input = m->input + place(m, matrix, g.projection);
    float bias = m->job->model->layers[m->job->layer].biases[matrix * m->width + g.output];
    return bias + (float)vectors->dot(m->width, basis_row(m, matrix, g.output), input);
}

static void leave_out(const masks *m, gap g, size_t matrix, float factor)
{
    m->target[place(m, matrix, g.projection) + g.output] -= factor * output_of(m, g, matrix);
}

static void carry_back(const masks *m, gap g, size_t matrix, float factor)
{
    const wfre_vector_table *vectors = wfre_linalg_vectors(m->job->linalg);
    size_t at = place(m, matrix, g.projection);
    vectors->axpy(m->width, -factor * m->slope[at + g.output], basis_row(m, matrix, g.output),
                  m->target + at);
}

static void forward_block(void *context, size_t chunk, unsigned worker)
{
    (void)worker;
    over_block(context, chunk, leave_out);
}

static void backward_block(void *context, size_t chunk, unsigned worker)
{
    (void)worker;
    over_block(context, chunk, carry_back);
}

static size_t blocks_of(const wfre_program_level *level)
{
    return ((size_t)(level->project_end - level->project_begin) + BLOCK - 1) / BLOCK;
}

void wfre_row_masks_forward(const wfre_weights_job *job, const wfre_program_level *level,
                            const float *input, float *linear)
{
    masks m = open_masks(job, level);
    m.input = input;
    m.target = linear;
    wfre_pool_run(job->pool, blocks_of(level), forward_block, &m);
}

void wfre_row_masks_backward(const wfre_weights_job *job, const wfre_program_level *level,
                             const float *slope, float *slope_in)
{
    masks m = open_masks(job, level);
    m.slope = slope;
    m.target = slope_in;
    wfre_pool_run(job->pool, blocks_of(level), backward_block, &m);
}

/* ---- gradients of the parameters ---------------------------------------------------------- */

/* Of one matrix, from every gap in it: nobody else writes to them. */
static void gradient_of_gap(const masks *m, const wfre_program_level *level, gap g, size_t matrix)
{
    const wfre_vector_table *vectors = wfre_linalg_vectors(m->job->linalg);
    const wfre_program *program = m->job->program;
    size_t row = level->project_begin + g.projection - level->projection_offset;
    size_t relation = program->relations[program->id[row]];
    size_t at = place(m, matrix, g.projection);
    float slope = m->scale * m->slope[at + g.output];
    float through = slope * coefficient(m, level, g.projection, matrix);
    m->out->coefficients[relation * m->coefficients + matrix] -= slope * output_of(m, g, matrix);
    m->out->biases[matrix * m->width + g.output] -= through;
    vectors->axpy(m->width, -through, m->input + at,
                  m->out->bases + (matrix * m->width + g.output) * m->width);
}

static void gradient_matrix(void *context, size_t matrix, unsigned worker)
{
    (void)worker;
    const masks *m = context;
    const wfre_program *program = m->job->program;
    for (uint32_t l = 0; l < program->level_count; l++) {
        const wfre_program_level *level = &program->levels[l];
        for (size_t block = 0; block < blocks_of(level); block++) {
            size_t first = level->projection_offset + block * BLOCK;
            gap_stream gaps = open_gaps(m, first, block_end(level, first) - first, matrix);
            for (gap g; next_gap(&gaps, &g);)
                gradient_of_gap(m, level, g, matrix);
        }
    }
}

void wfre_row_masks_gradients(const wfre_weights_job *job, const float *slope, const float *input,
                              wfre_layer *out)
{
    masks m = open_masks(job, NULL);
    m.slope = slope;
    m.input = input;
    m.out = out;
    wfre_pool_run(job->pool, m.coefficients, gradient_matrix, &m);
}
