/* The hardest candidates of each query, as the matrix way finds them: to go on with alone (the
 * staged guides), or to compare by the score itself among all the others.
 *
 * A surrogate is close, but no form of its kind follows the score's gradient to better than some
 * 8%. So some pairs of each query are scored as they are: the answers, the hardest candidates, and
 * some of the others, drawn at random. What the surrogate errs by on the drawn is taken for what it
 * errs by on all the others (a control variate): the gradient is right in the mean, and an error
 * that all candidates of a query share, which is most of it, is gone. */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/rng.h"
#include "train/loss_matrix.h"

/* Keeps the `most` highest logits in a heap whose root is the lowest kept; ties go to the lower
 * candidate. Returns how many there are. */
static size_t highest(const float *logits, size_t count, size_t most, uint32_t *kept)
{
    size_t held = 0;
    for (uint32_t c = 0; c < count; c++) {
        if (logits[c] <= WFRE_LEFT_OUT)
            continue;
        size_t hole;
        if (held < most) { /* sift up */
            hole = held++;
            while (hole > 0 && logits[kept[(hole - 1) / 2]] >= logits[c]) {
                kept[hole] = kept[(hole - 1) / 2];
                hole = (hole - 1) / 2;
            }
        } else if (logits[c] > logits[kept[0]]) { /* sift down */
            hole = 0;
            for (;;) {
                size_t child = 2 * hole + 1;
                if (child >= held)
                    break;
                if (child + 1 < held && logits[kept[child + 1]] < logits[kept[child]])
                    child++;
                if (logits[kept[child]] >= logits[c])
                    break;
                kept[hole] = kept[child];
                hole = child;
            }
        } else {
            continue;
        }
        kept[hole] = c;
    }
    return held;
}

/* The logits that a query may get its hard candidates from: the best over its branches, no answers.
 */
static float *rivals_of(const wfre_matrix_task *task, size_t q, unsigned worker)
{
    const wfre_loss_batch *batch = task->batch;
    wfre_matrix_engine *engine = task->engine;
    float *best = engine->scratch + worker * engine->scratch_stride;
    wfre_matrix_complete(task, q);
    wfre_matrix_best(task, q, best);
    for (uint32_t i = batch->answer_begin[q]; i < batch->answer_begin[q + 1]; i++)
        best[batch->answers[i]] = WFRE_LEFT_OUT;
    return best;
}

static void find_hardest(void *context, size_t q, unsigned worker)
{
    const wfre_matrix_task *task = context;
    wfre_matrix_engine *engine = task->engine;
    const float *rivals = rivals_of(task, q, worker);
    size_t most = engine->settings.hard;
    engine->hard_begin[q + 1] =
        (uint32_t)highest(rivals, task->batch->candidates, most, engine->hardest + q * most);
}

wfre_status wfre_loss_hardest(wfre_matrix_engine *engine, const wfre_loss_batch *batch,
                              const uint32_t **begin, const uint32_t **hardest, wfre_error *error)
{
    wfre_matrix_task task = wfre_matrix_task_of(engine, batch, 0, batch->dim);
    if (!WFRE_RESERVE(&engine->hardest, &engine->capacity_hardest,
                      batch->queries * engine->settings.hard) ||
        !WFRE_RESERVE(&engine->hard_begin, &engine->capacity_hard_begin, batch->queries + 1))
        return wfre_fail_memory(error, "choosing hard candidates");
    CHECK(wfre_matrix_logits(&task, error));
    CHECK(wfre_pool_try(engine->pool, batch->queries, find_hardest, &task, error));
    engine->hard_begin[0] = 0; /* then close the gaps */
    for (size_t q = 0; q < batch->queries; q++) {
        uint32_t count = engine->hard_begin[q + 1];
        memmove(engine->hardest + engine->hard_begin[q],
                engine->hardest + q * engine->settings.hard, count * sizeof *engine->hardest);
        engine->hard_begin[q + 1] = engine->hard_begin[q] + count;
    }
    *begin = engine->hard_begin;
    *hardest = engine->hardest;
    return WFRE_OK;
}

/* ---- exact pairs among the others --------------------------------------------------------- */

typedef struct exact_task {
    const wfre_matrix_task *matrix;
    size_t first_query; /* of the group */
} exact_task;

/* What is chosen for one query. A pair stands for itself alone (weight 1), or, drawn at random, for
 * others of its kind as well. */
typedef struct choice {
    uint32_t *candidate;
    float *weight;
    size_t count;
} choice;

static void add_choice(choice *c, uint32_t candidate, double weight)
{
    c->candidate[c->count] = candidate;
    c->weight[c->count++] = (float)weight;
}

/* A query's answers, and as many other candidates. */
static size_t most_pairs(const wfre_matrix_task *task)
{
    return 2 * (size_t)task->engine->settings.exact;
}

/* Answers that the query aims at: all, or `most` of them at equal distances. */
static void choose_positives(const wfre_loss_batch *batch, size_t q, size_t most, double start,
                             choice *c)
{
    const uint32_t *positives = batch->positives + batch->positive_begin[q];
    size_t count = batch->positive_begin[q + 1] - batch->positive_begin[q];
    size_t taken = count < most ? count : most;
    double stride = (double)count / (double)(taken ? taken : 1);
    for (size_t i = 0; i < taken; i++) {
        uint32_t candidate = positives[(size_t)(((double)i + start) * stride)];
        bool repeated = false;
        for (size_t k = 0; k < i && taken == count && !repeated; k++)
            repeated = positives[k] == candidate;
        if (!repeated)
            add_choice(c, candidate, stride);
    }
}

/* What a candidate weighs in the loss's gradient, but for a factor. */
static double share_of(const wfre_matrix_engine *engine, double logit, double top)
{
    return engine->settings.loss == WFRE_LOSS_SOFTMAX ? exp(logit - top) : 1 / (1 + exp(-logit));
}

/* Draws from the rivals that are left, each as likely as it weighs in the gradient, at equal
 * distances along the sum of their weights. */
static void choose_others(const wfre_matrix_task *task, const float *rivals, size_t draws,
                          double start, choice *c)
{
    size_t candidates = task->batch->candidates, drawn = 0;
    double top = -INFINITY, sum = 0, passed = 0;
    for (size_t i = 0; i < candidates; i++)
        top = rivals[i] > WFRE_LEFT_OUT && (double)rivals[i] > top ? (double)rivals[i] : top;
    for (size_t i = 0; i < candidates; i++)
        if (rivals[i] > WFRE_LEFT_OUT)
            sum += share_of(task->engine, (double)rivals[i], top);
    double stride = sum / (double)draws;
    for (uint32_t i = 0; i < candidates && sum > 0; i++) {
        if (rivals[i] <= WFRE_LEFT_OUT)
            continue;
        double share = share_of(task->engine, (double)rivals[i], top);
        passed += share;
        for (; drawn < draws && ((double)drawn + start) * stride < passed; drawn++)
            add_choice(c, i, stride / share);
    }
}

/* The candidates of a query: answers, then half of the others the hardest, half drawn. */
static void choose(void *context, size_t index, unsigned worker)
{
    const exact_task *task = context;
    const wfre_matrix_task *matrix = task->matrix;
    wfre_matrix_engine *engine = matrix->engine;
    size_t q = task->first_query + index, most = engine->settings.exact, hard = (most + 1) / 2;
    size_t room = index * most_pairs(matrix);
    choice c = {engine->hardest + room, engine->exact_weight + room, 0};
    wfre_rng rng = wfre_rng_for(engine->settings.seed, WFRE_FOR_EXACT, matrix->batch->step,
                                q | (uint64_t)matrix->column << 32);
    float *rivals = rivals_of(matrix, q, worker);
    choose_positives(matrix->batch, q, most, wfre_rng_double(&rng), &c);
    size_t before = c.count;
    c.count += highest(rivals, matrix->batch->candidates, hard, c.candidate + before);
    for (size_t i = before; i < c.count; i++) {
        c.weight[i] = 1;
        rivals[c.candidate[i]] = WFRE_LEFT_OUT;
    }
    if (most > hard)
        choose_others(matrix, rivals, most - hard, wfre_rng_double(&rng), &c);
    engine->hard_begin[index] = (uint32_t)c.count;
}

/* The first branch that has a candidate's best logit. */
static uint32_t branch_of(const wfre_matrix_task *task, size_t q, uint32_t candidate)
{
    const wfre_loss_batch *batch = task->batch;
    uint32_t best = batch->branch_begin[q];
    const float *logits = task->engine->logits + candidate;
    for (uint32_t r = best + 1; r < batch->branch_begin[q + 1]; r++)
        if (logits[r * batch->candidates] > logits[best * batch->candidates])
            best = r;
    return best;
}

/* Lists the pairs of a group; hard_begin becomes where each query's begin. */
static void list_pairs(const exact_task *task, size_t queries)
{
    wfre_matrix_engine *engine = task->matrix->engine;
    size_t used = 0, stride = most_pairs(task->matrix);
    for (size_t i = 0; i < queries; i++) {
        uint32_t count = engine->hard_begin[i];
        engine->hard_begin[i] = (uint32_t)used;
        for (uint32_t k = 0; k < count; k++) {
            uint32_t candidate = engine->hardest[i * stride + k];
            engine->exact_weight[used] = engine->exact_weight[i * stride + k];
            engine->exact.entity[used] = candidate;
            engine->exact.branch[used++] =
                branch_of(task->matrix, task->first_query + i, candidate);
        }
    }
    engine->hard_begin[queries] = (uint32_t)used;
    engine->exact.count = used;
}

/* The loss of a query with the exact logits of what stands for itself, and what its pairs add to
 * the query's gradient: with derivative s and weight w, s w of the exact gradient more, and as much
 * of the surrogate's less. */
static void settle(void *context, size_t index, unsigned worker)
{
    const exact_task *task = context;
    const wfre_matrix_task *matrix = task->matrix;
    const wfre_loss_batch *batch = matrix->batch;
    wfre_matrix_engine *engine = matrix->engine;
    wfre_pair_list *list = &engine->exact;
    const wfre_model_settings *model = &engine->settings.model;
    size_t q = task->first_query + index;
    uint32_t first = engine->hard_begin[index], last = engine->hard_begin[index + 1];
    float *logits = engine->logits;
    for (uint32_t k = first; k < last; k++)
        if (engine->exact_weight[k] == 1)
            logits[list->branch[k] * batch->candidates + list->entity[k]] =
                (float)(model->gamma - model->rho * (double)list->distance[k]);
    wfre_matrix_query(matrix, q, worker);
    for (uint32_t k = first; k < last; k++)
        list->distance[k] = logits[list->branch[k] * batch->candidates + list->entity[k]];
    for (uint32_t r = batch->branch_begin[q]; r < batch->branch_begin[q + 1]; r++)
        memset(batch->branch_gradient + r * batch->dim + matrix->column, 0,
               matrix->width * sizeof(float));
    for (uint32_t k = first; k < last; k++) {
        float slope = list->distance[k] * engine->exact_weight[k];
        logits[list->branch[k] * batch->candidates + list->entity[k]] -= slope;
        list->distance[k] = (float)(-model->rho * (double)slope);
        engine->vectors->axpy(
            matrix->width, list->distance[k], list->query_side + k * matrix->width,
            batch->branch_gradient + list->branch[k] * batch->dim + matrix->column);
    }
}

wfre_status wfre_matrix_exact(const wfre_matrix_task *task, wfre_error *error)
{
    wfre_matrix_engine *engine = task->engine;
    const wfre_loss_batch *batch = task->batch;
    wfre_pair_view view = {batch, task->column, task->width};
    size_t most = most_pairs(task), group = WFRE_GROUP_PAIRS / most;
    group = group < 1 ? 1 : group;
    if (!WFRE_RESERVE(&engine->hardest, &engine->capacity_hardest, group * most) ||
        !WFRE_RESERVE(&engine->exact_weight, &engine->capacity_weight, group * most) ||
        !WFRE_RESERVE(&engine->hard_begin, &engine->capacity_hard_begin, group + 1) ||
        !wfre_pair_list_reserve(&engine->exact, &view, group * most))
        return wfre_fail_memory(error, "scoring pairs; lower batch or exact");
    for (size_t c = 0; c < batch->candidates; c++)
        memset(batch->table_gradient + c * batch->dim + task->column, 0,
               task->width * sizeof(float));
    for (size_t first = 0; first < batch->queries; first += group) {
        size_t left = batch->queries - first, count = left < group ? left : group;
        exact_task own = {task, first};
        CHECK(wfre_pool_try(engine->pool, count, choose, &own, error));
        list_pairs(&own, count);
        CHECK(wfre_pair_list_score(&engine->exact, engine->score, engine->pool, &view, error));
        CHECK(wfre_pool_try(engine->pool, count, settle, &own, error));
        CHECK(wfre_pair_list_add(&engine->exact, engine->vectors, engine->pool, &view, error));
    }
    return WFRE_OK;
}
