/* The relation as a second target: which of several relations leads from h to t?
 *
 * With the local closed form (loss_matrix.c), of which only what depends on the relation counts,
 *
 *   l_j = (rho / b) ((2 + eps) sum x_j^p y^p - sum x_j),   x_j = (p,r_j,h) + tau, y = t + tau
 *
 * the loss of a fact is -log softmax of l_0 over its own relation and the rivals. As there, the
 * derivatives take x and y as at least SLOPE_FLOOR, and each member learns as if it were the whole
 * model. A row of a rival belongs to one fact; targets may be shared, so what they get is kept by
 * fact and added in order. */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/pool.h"
#include "train/loss.h"

static const float SLOPE_FLOOR = 0.03f;

struct wfre_relation_engine {
    wfre_train_settings settings;
    wfre_pool *pool;
    const wfre_vector_table *vectors;
    double *losses; /* [facts] */
    float *targets; /* [facts, dim] gradients of the targets */
    float *scratch; /* [threads, stride]: powers of the target and of the rows, and logits */
    size_t loss_capacity, target_capacity, scratch_capacity, stride;
};

/* The bins of one member of one fact. */
typedef struct contest {
    const wfre_relation_engine *engine;
    const wfre_relation_batch *batch;
    size_t fact, column, width, count; /* count: its own relation and the rivals */
    float *target, *powers, *logits;   /* [width], [count, width], [count] */
    float scale, power;                /* rho / b, p */
    float weight;                      /* of the fact */
} contest;

/* The row of the j-th relation; 0 is the fact's own. */
static size_t row_of(const contest *c, size_t j)
{
    uint32_t own = c->batch->own[c->fact], first = c->batch->rival_begin[c->fact];
    return c->batch->dim * (j == 0 ? own : c->batch->rivals + first + j - 1) + c->column;
}

/* out = (in + tau)^p; the sum of in + tau. */
static double raise(const contest *c, const float *in, float *out)
{
    float floor = (float)c->engine->settings.model.score.floor;
    for (size_t i = 0; i < c->width; i++)
        out[i] = in[i] + floor;
    double sum = c->engine->vectors->sum(c->width, out);
    c->engine->vectors->power(c->width, c->power, out, out);
    return sum;
}

/* Fills powers and logits. */
static void score_relations(const contest *c)
{
    const wfre_relation_batch *batch = c->batch;
    double factor = 2 + c->engine->settings.model.score.epsilon;
    (void)raise(c, batch->table + batch->targets[c->fact] * batch->dim + c->column, c->target);
    for (size_t j = 0; j < c->count; j++) {
        float *power = c->powers + j * c->width;
        double sum = raise(c, batch->branches + row_of(c, j), power);
        double product = c->engine->vectors->dot(c->width, power, c->target);
        c->logits[j] = (float)((double)c->scale * (factor * product - sum));
    }
}

/* Turns logits into gradients; returns the loss. */
static double contest_loss(const contest *c)
{
    const wfre_vector_table *vectors = c->engine->vectors;
    float own = c->logits[0], top = vectors->maximum(c->count, c->logits);
    double sum = vectors->exp_shifted(c->count, top, c->logits);
    vectors->scale(c->count, (float)((double)c->weight / sum), c->logits);
    c->logits[0] -= c->weight;
    return (double)c->weight * (log(sum) + (double)top - (double)own);
}

/* (in + tau)^(p-1), with in + tau kept away from 0. */
static void slopes(const contest *c, const float *in, float *out)
{
    float floor = (float)c->engine->settings.model.score.floor;
    for (size_t i = 0; i < c->width; i++)
        out[i] = in[i] + floor > SLOPE_FLOOR ? in[i] + floor : SLOPE_FLOOR;
    c->engine->vectors->power(c->width, c->power - 1, out, out);
}

/* Gradients of the rows, added, and that of the target, written. The powers are spent. */
static void spread(const contest *c, float *slope, float *target_gradient)
{
    const wfre_relation_batch *batch = c->batch;
    const wfre_vector_table *vectors = c->engine->vectors;
    memset(target_gradient, 0, c->width * sizeof *target_gradient);
    for (size_t j = 0; j < c->count; j++)
        vectors->axpy(c->width, c->scale * c->logits[j], c->powers + j * c->width, target_gradient);
    slopes(c, batch->table + batch->targets[c->fact] * batch->dim + c->column, slope);
    vectors->multiply(c->width, target_gradient, slope, target_gradient);
    for (size_t j = 0; j < c->count; j++) {
        float *gradient = batch->branch_gradient + row_of(c, j);
        float factor = c->scale * c->logits[j];
        slopes(c, batch->branches + row_of(c, j), slope);
        for (size_t i = 0; i < c->width; i++)
            gradient[i] += factor * (slope[i] * c->target[i] - 1);
    }
}

typedef struct relation_task {
    wfre_relation_engine *engine;
    const wfre_relation_batch *batch;
} relation_task;

static void ask_relation(void *context, size_t fact, unsigned worker)
{
    const relation_task *task = context;
    wfre_relation_engine *engine = task->engine;
    const wfre_relation_batch *batch = task->batch;
    const wfre_model_settings *model = &engine->settings.model;
    size_t width = batch->dim / model->members;
    float *scratch = engine->scratch + worker * engine->stride;
    contest c = {.engine = engine,
                 .batch = batch,
                 .fact = fact,
                 .width = width,
                 .count = 1 + batch->rival_begin[fact + 1] - batch->rival_begin[fact],
                 .scale = (float)(model->rho * model->score.block / (double)width),
                 .power = (float)(1 / (2 + model->score.epsilon)),
                 .weight = (float)(engine->settings.relation_loss / (double)batch->facts)};
    c.target = scratch + width;
    c.powers = scratch + 2 * width;
    c.logits = c.powers + c.count * width;
    engine->losses[fact] = 0;
    for (uint32_t m = 0; m < model->members; m++) {
        c.column = m * width;
        score_relations(&c);
        engine->losses[fact] += contest_loss(&c);
        spread(&c, scratch, engine->targets + fact * batch->dim + c.column);
    }
}

wfre_status wfre_loss_relations(wfre_relation_engine *engine, const wfre_relation_batch *batch,
                                double *loss, wfre_error *error)
{
    relation_task task = {engine, batch};
    size_t width = batch->dim / engine->settings.model.members, most = 0;
    for (size_t f = 0; f < batch->facts; f++) {
        size_t rivals = batch->rival_begin[f + 1] - batch->rival_begin[f];
        most = rivals > most ? rivals : most;
    }
    engine->stride = 2 * width + (most + 1) * (width + 1);
    if (!WFRE_RESERVE(&engine->losses, &engine->loss_capacity, batch->facts) ||
        !wfre_reserve_tensor(&engine->targets, &engine->target_capacity,
                             batch->facts * batch->dim) ||
        !wfre_reserve_tensor(&engine->scratch, &engine->scratch_capacity,
                             engine->stride * wfre_pool_threads(engine->pool)))
        return wfre_fail_memory(error, "asking for relations; lower relation-facts");
    CHECK(wfre_pool_try(engine->pool, batch->facts, ask_relation, &task, error));
    for (size_t f = 0; f < batch->facts; f++) {
        *loss += engine->losses[f] / engine->settings.model.members;
        engine->vectors->axpy(batch->dim, 1, engine->targets + f * batch->dim,
                              batch->table_gradient + batch->targets[f] * batch->dim);
    }
    return WFRE_OK;
}

wfre_status wfre_relation_engine_create(const wfre_train_settings *settings, wfre_pool *pool,
                                        wfre_linalg *linalg, wfre_relation_engine **result,
                                        wfre_error *error)
{
    wfre_relation_engine *engine = wfre_alloc_zero(1, sizeof *engine);
    if (!engine)
        return wfre_fail_memory(error, "preparing to train");
    engine->settings = *settings;
    engine->pool = pool;
    engine->vectors = wfre_linalg_vectors(linalg);
    *result = engine;
    return WFRE_OK;
}

void wfre_relation_engine_free(wfre_relation_engine *engine)
{
    if (!engine)
        return;
    wfre_free(engine->losses);
    wfre_free(engine->targets);
    wfre_free(engine->scratch);
    wfre_free(engine);
}
