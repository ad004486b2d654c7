/* Running a program: its levels upwards through the forward half of the model's family, downwards
 * through the other. Rows are independent within a level, so the pool works on blocks of rows; a
 * row has one parent at most, so gradients are written without conflict. */
#include "model/run.h"

#include <string.h>

#include "base/memory.h"
#include "base/pool.h"
#include "base/scope.h"

enum { BLOCK_ROWS = 8 }; /* rows a pool task handles at a time */

struct wfre_run {
    wfre_pass pass;
    const wfre_family *family;
    size_t row_capacity;
};

const float *wfre_run_row(const wfre_run *run, uint32_t row)
{
    return wfre_pass_row(&run->pass, row);
}

float *wfre_run_gradient(wfre_run *run, uint32_t row)
{
    return wfre_pass_gradient(&run->pass, row);
}

/* ---- tasks over rows ---------------------------------------------------------------------- */

typedef struct row_task {
    wfre_pass *pass;
    uint32_t begin, end; /* rows */
    uint32_t first;      /* the index of `begin` */
    wfre_pass_each each;
} row_task;

static void run_block(void *context, size_t chunk, unsigned worker)
{
    const row_task *task = context;
    uint32_t first = task->begin + (uint32_t)chunk * BLOCK_ROWS;
    uint32_t last = task->end - first < BLOCK_ROWS ? task->end : first + BLOCK_ROWS;
    for (uint32_t row = first; row < last; row++)
        task->each(task->pass, row, task->first + row - task->begin, worker);
}

void wfre_pass_rows(wfre_pass *pass, uint32_t begin, uint32_t end, uint32_t first,
                    wfre_pass_each each)
{
    row_task task = {pass, begin, end, first, each};
    wfre_pool_run(pass->pool, (end - begin + BLOCK_ROWS - 1) / BLOCK_ROWS, run_block, &task);
}

/* ---- single rows -------------------------------------------------------------------------- */

static void entity_forward(wfre_pass *pass, uint32_t row, uint32_t index, unsigned worker)
{
    (void)index, (void)worker;
    wfre_family_read_entity(pass->model, pass->vectors, pass->program->id[row],
                            pass->rows + (size_t)row * pass->model->settings.dim);
}

static void entity_backward(wfre_pass *pass, uint32_t row, uint32_t index, unsigned worker)
{
    (void)index, (void)worker;
    wfre_family_of(&pass->model->settings)
        ->entity.backward(pass->model->settings.dim,
                          wfre_model_row(pass->model, pass->program->id[row]),
                          wfre_pass_gradient(pass, row));
}

static void combine_forward(wfre_pass *pass, uint32_t row, uint32_t index, unsigned worker)
{
    (void)index, (void)worker;
    const wfre_family *family = wfre_family_of(&pass->model->settings);
    bool negated = pass->program->op[row] == WFRE_OP_NEGATE;
    (negated ? family->negate.forward : family->intersect.forward)(pass, row);
}

static void combine_backward(wfre_pass *pass, uint32_t row, uint32_t index, unsigned worker)
{
    (void)index;
    const wfre_family *family = wfre_family_of(&pass->model->settings);
    bool negated = pass->program->op[row] == WFRE_OP_NEGATE;
    (negated ? family->negate.backward : family->intersect.backward)(pass, row, worker);
}

/* ---- memory ------------------------------------------------------------------------------- */

static bool replace_tensor(float **tensor, size_t count)
{
    wfre_free(*tensor);
    *tensor = wfre_alloc_tensor(count, sizeof **tensor);
    return *tensor != NULL;
}

static wfre_status reserve(wfre_run *run, const wfre_program *program, wfre_error *error)
{
    wfre_pass *pass = &run->pass;
    size_t d = pass->model->settings.dim;
    size_t widest = 0;
    for (uint32_t row = 0; row < program->row_count; row++) {
        size_t children = program->child_begin[row + 1] - program->child_begin[row];
        widest = children > widest ? children : widest;
    }
    bool fits = true;
    if (program->row_count > run->row_capacity) {
        run->row_capacity = 0;
        fits = replace_tensor(&pass->rows, program->row_count * d) &&
               replace_tensor(&pass->gradients, program->row_count * d);
        run->row_capacity = fits ? program->row_count : 0;
    }
    if (fits && widest * 2 * d > pass->scratch_size) {
        pass->scratch_size = 0;
        fits = replace_tensor(&pass->scratch, wfre_pool_threads(pass->pool) * widest * 2 * d);
        pass->scratch_size = fits ? widest * 2 * d : 0;
    }
    return fits ? WFRE_OK : wfre_fail_memory(error, "running a batch; lower `batch` or `dim`");
}

wfre_status wfre_run_create(const wfre_model *model, wfre_pool *pool, wfre_linalg *linalg,
                            wfre_precision precision, wfre_run **result, wfre_error *error)
{
    wfre_run *run = wfre_alloc_zero(1, sizeof *run);
    if (!run)
        return wfre_fail_memory(error, "preparing to run a model");
    run->family = wfre_family_of(&model->settings);
    run->pass.model = model;
    run->pass.pool = pool;
    run->pass.linalg = linalg;
    run->pass.vectors = wfre_linalg_vectors(linalg);
    run->pass.precision = precision;
    *result = run;
    return WFRE_OK;
}

void wfre_run_free(wfre_run *run)
{
    if (!run)
        return;
    if (run->family->end)
        run->family->end(&run->pass);
    wfre_free(run->pass.rows);
    wfre_free(run->pass.gradients);
    wfre_free(run->pass.scratch);
    wfre_free(run);
}

/* ---- the two passes ----------------------------------------------------------------------- */

wfre_status wfre_run_forward(wfre_run *run, const wfre_program *program, const wfre_noise *noise,
                             wfre_error *error)
{
    wfre_pass *pass = &run->pass;
    CHECK(reserve(run, program, error));
    pass->program = program;
    pass->noise = noise ? *noise : (wfre_noise){0};
    pass->noisy = noise != NULL;
    if (run->family->begin)
        CHECK(run->family->begin(pass, error));
    wfre_pass_rows(pass, 0, program->leaf_count, 0, entity_forward);
    for (uint32_t i = 0; i < program->level_count; i++) {
        const wfre_program_level *level = &program->levels[i];
        CHECK(wfre_check_stop(error));
        CHECK(run->family->project.forward(pass, level, error));
        wfre_pass_rows(pass, level->combine_begin, level->combine_end, 0, combine_forward);
    }
    memset(pass->gradients, 0,
           (size_t)program->row_count * pass->model->settings.dim * sizeof(float));
    return WFRE_OK;
}

wfre_status wfre_run_backward(wfre_run *run, const wfre_tensor *gradients, wfre_error *error)
{
    wfre_pass *pass = &run->pass;
    const wfre_program *program = pass->program;
    for (uint32_t i = 0; i + 1 < pass->model->tensor_count; i++)
        if (gradients[i].summed)
            memset(gradients[i].data, 0, gradients[i].count * sizeof(float));
    for (uint32_t i = program->level_count; i-- > 0;) {
        const wfre_program_level *level = &program->levels[i];
        CHECK(wfre_check_stop(error));
        wfre_pass_rows(pass, level->combine_begin, level->combine_end, 0, combine_backward);
        CHECK(run->family->project.backward(pass, level, gradients, error));
    }
    wfre_pass_rows(pass, 0, program->leaf_count, 0, entity_backward);
    if (run->family->finish)
        CHECK(run->family->finish(pass, gradients, error));
    return WFRE_OK;
}
