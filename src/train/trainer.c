/* One training step after another: draw, embed, score, carry gradients back, update.
 *
 * A step may be stopped (base/scope.h) until it updates: so far it has only filled what the next
 * step fills anew, and what is learned is that of the last whole step. The update is made as a
 * whole.
 *
 * Entities that a batch touches are copied (clamped) into a table of slots; the loss and the
 * embedding leave their gradients there, and the optimizer reads them from there. All sums have a
 * fixed order. */
#include "train/trainer.h"

#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/pool.h"
#include "base/rng.h"
#include "base/scope.h"
#include "graph/graph.h"
#include "model/run.h"
#include "train/settings.h"

enum { BLOCK_ROWS = 16 };

static const float BETA1 = 0.9f, BETA2 = 0.999f, ADAM_EPSILON = 1e-8f;

/* ---- embedding the batch ------------------------------------------------------------------ */

/* Reads the batch's entities into the table. */
static void fill_table(void *context, size_t chunk, unsigned worker)
{
    (void)worker;
    wfre_trainer *t = context;
    size_t d = t->model->settings.dim, first = chunk * BLOCK_ROWS, last = first + BLOCK_ROWS;
    for (size_t s = first; s < last && s < t->batch->slot_count; s++)
        wfre_family_read_entity(t->model, t->vectors, t->batch->slots[s], t->table + s * d);
}

static wfre_status reserve(wfre_trainer *t, wfre_error *error)
{
    size_t d = t->model->settings.dim;
    if (wfre_reserve_tensor(&t->table, &t->table_capacity, t->batch->slot_count * d) &&
        wfre_reserve_tensor(&t->table_gradient, &t->table_gradient_capacity,
                            t->batch->slot_count * d) &&
        wfre_reserve_tensor(&t->branches, &t->branch_capacity, t->program.root_count * d) &&
        wfre_reserve_tensor(&t->branch_gradient, &t->branch_gradient_capacity,
                            t->program.root_count * d))
        return WFRE_OK;
    return wfre_fail_memory(error, "training; lower batch, negatives or dim");
}

static wfre_status embed(wfre_trainer *t, wfre_error *error)
{
    size_t d = t->model->settings.dim;
    wfre_noise noise = {
        .drop_input = (float)t->settings.drop_input,
        .drop_basis = (float)t->settings.drop_basis,
        .drop_negation = (float)t->settings.drop_negation,
        .mask_rows = t->settings.mask == WFRE_MASK_ROW,
        .seed = t->settings.seed,
        .step = t->step,
    };
    CHECK(wfre_program_compile(&t->program, t->batch->trees, t->batch->queries + t->batch->rivals,
                               t->model->settings.way.unions, error));
    CHECK(reserve(t, error));
    CHECK(wfre_run_forward(t->run, &t->program, &noise, error));
    for (uint32_t r = 0; r < t->program.root_count; r++)
        memcpy(t->branches + r * d, wfre_run_row(t->run, t->program.roots[r]), d * sizeof(float));
    return wfre_pool_try(t->pool, (t->batch->slot_count + BLOCK_ROWS - 1) / BLOCK_ROWS, fill_table,
                         t, error);
}

/* ---- loss --------------------------------------------------------------------------------- */

/* When the surrogate is fitted to the model as it is: often at first, while it changes fast. */
static bool refit_due(uint64_t step)
{
    enum { FIRST = 64, EVERY = 1024 };
    return step >= FIRST && ((step & (step - 1)) == 0 || step % EVERY == 0);
}

/* Blocks of random rows. */
static void draw_blocks(const float *rows, size_t count, size_t dim, size_t block, wfre_rng *rng,
                        size_t wanted, float *out)
{
    for (size_t i = 0; i < wanted; i++) {
        size_t row = wfre_rng_below(rng, (uint32_t)count);
        size_t at = wfre_rng_below(rng, (uint32_t)(dim / block));
        memcpy(out + i * block, rows + row * dim + at * block, block * sizeof *out);
    }
}

wfre_status wfre_trainer_refit(wfre_trainer *t, wfre_error *error)
{
    const wfre_score_settings *score = &t->model->settings.score;
    size_t d = t->model->settings.dim, wanted = wfre_surrogate_wanted(score);
    wfre_surrogate *fitted = NULL;
    wfre_status status;
    float *blocks = wfre_alloc(2 * wanted * score->block, sizeof *blocks);
    if (!blocks)
        return wfre_fail_memory(error, "fitting a surrogate");
    float *right = blocks + wanted * score->block;
    wfre_rng rng = wfre_rng_for(t->settings.seed, WFRE_FOR_REFITS, t->step, 0);
    draw_blocks(t->table, t->batch->candidate_count, d, score->block, &rng, wanted, blocks);
    draw_blocks(t->branches, t->program.root_count, d, score->block, &rng, wanted, right);
    wfre_surrogate_sample sample = {blocks, right, wanted, wanted};
    TRY(wfre_surrogate_fit(score, &sample, t->pool, t->surrogate->rank, &fitted, error));
    wfre_surrogate_free(t->surrogate);
    t->surrogate = fitted;
    wfre_matrix_engine_use(t->loss, fitted);
cleanup:
    wfre_free(blocks);
    return status;
}

/* The relation as a second target; the main loss has left its gradients. */
static wfre_status score_relations(wfre_trainer *t, double *loss, wfre_error *error)
{
    size_t d = t->model->settings.dim, queries = t->batch->queries;
    uint32_t rivals = t->program.root_begin[queries];
    if (t->batch->facts == 0)
        return WFRE_OK;
    if (!WFRE_RESERVE(&t->own, &t->own_capacity, t->batch->facts))
        return wfre_fail_memory(error, "training; lower relation-facts");
    for (size_t f = 0; f < t->batch->facts; f++)
        t->own[f] = t->program.root_begin[t->batch->fact_query[f]];
    memset(t->branch_gradient + rivals * d, 0, t->batch->rivals * d * sizeof(float));
    wfre_relation_batch view = {.facts = t->batch->facts,
                                .dim = d,
                                .rivals = rivals,
                                .rival_begin = t->batch->rival_begin,
                                .own = t->own,
                                .targets = t->batch->fact_target,
                                .branches = t->branches,
                                .table = t->table,
                                .branch_gradient = t->branch_gradient,
                                .table_gradient = t->table_gradient};
    return wfre_loss_relations(t->relations, &view, loss, error);
}

wfre_loss_batch wfre_trainer_view(const wfre_trainer *t)
{
    size_t d = t->model->settings.dim;
    wfre_loss_batch view = {
        .queries = t->batch->queries,
        .branch_count = t->program.root_begin[t->batch->queries],
        .candidates = t->batch->candidate_count,
        .dim = d,
        .branch_begin = t->program.root_begin,
        .branches = t->branches,
        .table = t->table,
        .positive_begin = t->batch->positive_begin,
        .positives = t->batch->positives,
        .answer_begin = t->batch->answer_begin,
        .answers = t->batch->answers,
        .negative_begin = t->batch->negative_begin,
        .negatives = t->batch->negatives,
        .weights = t->batch->weights,
        .prices = t->batch->prices,
        .step = t->step,
        .branch_gradient = t->branch_gradient,
        .table_gradient = t->table_gradient,
    };
    if (t->settings.guide != WFRE_GUIDE_SCORE && t->settings.every_answer) {
        view.positive_begin = view.answer_begin;
        view.positives = view.answers;
    }
    return view;
}

/* The teacher's share of the loss, which grows while it learns itself. */
static wfre_status ask_teacher(wfre_trainer *t, wfre_loss_batch *view, wfre_error *error)
{
    static const double LEARNING = 0.2; /* of the run */
    double ready = wfre_trainer_progress(t) / LEARNING;
    if (!t->teacher)
        return WFRE_OK;
    view->target_weight = (float)(t->settings.teach * (ready < 1 ? ready : 1));
    return wfre_teacher_targets(t->teacher, t->batch, t->batcher, &view->targets, error);
}

static wfre_status score(wfre_trainer *t, double *loss, wfre_error *error)
{
    size_t d = t->model->settings.dim;
    wfre_loss_batch view = wfre_trainer_view(t);
    bool by_score = t->settings.guide == WFRE_GUIDE_SCORE;
    bool staged =
        t->settings.guide == WFRE_GUIDE_STAGED || t->settings.guide == WFRE_GUIDE_STAGED_SURROGATE;
    if (t->surrogate && refit_due(t->step))
        CHECK(wfre_trainer_refit(t, error));
    if (staged && wfre_trainer_progress(t) >= t->settings.stage) {
        CHECK(wfre_loss_hardest(t->loss, &view, &view.negative_begin, &view.negatives, error));
        view.positive_begin = t->batch->positive_begin;
        view.positives = t->batch->positives;
        by_score = true;
    }
    if (!by_score)
        CHECK(ask_teacher(t, &view, error));
    CHECK(by_score ? wfre_loss_pairs(t->pairs, &view, loss, error)
                   : wfre_loss_matrix(t->loss, &view, loss, error));
    size_t anchors = t->batch->slot_count - t->batch->candidate_count;
    memset(t->table_gradient + t->batch->candidate_count * d, 0, anchors * d * sizeof(float));
    return score_relations(t, loss, error);
}

/* Carries the gradients through the operators, and the entities' part into the table. */
static wfre_status carry_back(wfre_trainer *t, wfre_error *error)
{
    size_t d = t->model->settings.dim;
    for (uint32_t r = 0; r < t->program.root_count; r++)
        t->vectors->axpy(d, 1, t->branch_gradient + r * d,
                         wfre_run_gradient(t->run, t->program.roots[r]));
    wfre_status status = wfre_run_backward(t->run, t->gradients, error);
    if (status != WFRE_OK)
        return status;
    for (uint32_t row = 0; row < t->program.leaf_count; row++) {
        uint32_t slot = wfre_batcher_slot(t->batcher, t->program.id[row]);
        t->vectors->axpy(d, 1, wfre_run_gradient(t->run, row), t->table_gradient + slot * d);
    }
    return WFRE_OK;
}

/* ---- optimizer ---------------------------------------------------------------------------- */

/* What steps may take of a run that is limited by time. */
static double seconds_of(const wfre_trainer *t)
{
    return t->part > 0 ? t->part * t->settings.seconds : t->settings.seconds;
}

double wfre_trainer_progress(const wfre_trainer *t)
{
    double progress = t->settings.steps ? (double)t->step / (double)t->settings.steps
                                        : wfre_trainer_seconds(t) / seconds_of(t);
    return progress < 1 ? progress : 1;
}

/* The schedule's factor on the learning rates. */
static double rate_factor(const wfre_trainer *t)
{
    static const double half_turn = 3.141592653589793, last = 0.01;
    double progress = wfre_trainer_progress(t);
    if (t->settings.schedule == WFRE_SCHEDULE_STEPS)
        return progress < 0.5 ? 1 : progress < 0.75 ? 0.2 : 0.04;
    if (progress < t->settings.warmup)
        return (progress + 1e-3) / (t->settings.warmup + 1e-3);
    double way = (progress - t->settings.warmup) / (1 - t->settings.warmup);
    return last + (1 - last) * 0.5 * (1 + cos(half_turn * way));
}

typedef struct entity_task {
    wfre_trainer *trainer;
    wfre_adamw adamw;
} entity_task;

/* Updates a block of entities. The losses left gradients of rows, not yet of what is stored. */
static void update_entities(void *context, size_t chunk, unsigned worker)
{
    const entity_task *task = context;
    wfre_trainer *t = task->trainer;
    size_t d = t->model->settings.dim, first = chunk * BLOCK_ROWS, last = first + BLOCK_ROWS;
    size_t count = t->lazy ? t->batch->slot_count : t->model->entity_count;
    float *zeros = t->zeros + worker * d;
    const wfre_family *family = wfre_family_of(&t->model->settings);
    for (size_t i = first; i < last && i < count; i++) {
        size_t entity = t->lazy ? t->batch->slots[i] : i;
        uint32_t slot = t->lazy ? (uint32_t)i : wfre_batcher_slot(t->batcher, (uint32_t)entity);
        float *row = t->model->entities + entity * d;
        float *gradient = slot == WFRE_NONE ? zeros : t->table_gradient + (size_t)slot * d;
        if (!t->settings.bounded && slot != WFRE_NONE)
            family->entity.backward(d, row, gradient);
        t->vectors->adamw(&task->adamw, d, row, t->first[0] + entity * d, t->second[0] + entity * d,
                          gradient);
    }
}

/* The factor that brings the layers' gradient down to the allowed norm. */
static float clipping(const wfre_trainer *t)
{
    if (t->settings.clip == 0)
        return 1;
    double sum = 0;
    for (uint32_t i = 1; i < t->model->tensor_count; i++)
        sum += wfre_squared_norm(t->linalg, t->gradients[i - 1].count, t->gradients[i - 1].data);
    double norm = sqrt(sum);
    return norm > t->settings.clip ? (float)(t->settings.clip / norm) : 1;
}

/* Forgets the moments, as a new optimizer would. */
static void restart(wfre_trainer *t)
{
    for (uint32_t i = 0; i < t->model->tensor_count; i++) {
        memset(t->first[i], 0, t->model->tensors[i].count * sizeof *t->first[i]);
        memset(t->second[i], 0, t->model->tensors[i].count * sizeof *t->second[i]);
    }
    t->restart = t->step;
}

static void update(wfre_trainer *t)
{
    double factor = rate_factor(t);
    bool drops = t->settings.schedule == WFRE_SCHEDULE_STEPS && t->step > 0 && factor < t->rate;
    if (t->settings.fresh && drops)
        restart(t);
    wfre_adamw adamw = {
        .rate = (float)(factor * t->settings.rate_layers),
        .beta1 = BETA1,
        .beta2 = BETA2,
        .epsilon = ADAM_EPSILON,
        .decay = (float)t->settings.decay,
        .gradient_scale = clipping(t),
    };
    wfre_adamw_at(&adamw, t->step - t->restart + 1);
    for (uint32_t i = 1; i < t->model->tensor_count; i++)
        wfre_adamw_update(t->linalg, &adamw, t->model->tensors[i].count, t->model->tensors[i].data,
                          t->first[i], t->second[i], t->gradients[i - 1].data);
    entity_task task = {t, adamw};
    task.adamw.rate = (float)(factor * t->settings.rate_entities);
    task.adamw.gradient_scale = 1;
    task.adamw.project = t->settings.bounded;
    size_t rows = t->lazy ? t->batch->slot_count : t->model->entity_count;
    wfre_pool_run(t->pool, (rows + BLOCK_ROWS - 1) / BLOCK_ROWS, update_entities, &task);
    t->rate = factor;
}

/* ---- a step ------------------------------------------------------------------------------- */

/* Gradients that are summed over all levels see every projected row, so they tell whether one is
 * not a number. */
static wfre_status check_finite(const wfre_trainer *t, double loss, wfre_error *error)
{
    double sum = loss;
    for (uint32_t i = 0; i + 1 < t->model->tensor_count; i++)
        if (t->gradients[i].summed)
            sum += t->vectors->sum(t->gradients[i].count, t->gradients[i].data);
    if (isfinite(sum))
        return WFRE_OK;
    return wfre_fail(
        error, WFRE_ERR_NUMERIC, WFRE_NO_OFFSET,
        "the loss is not finite at step %llu: lower `rate-layers` (now %g), `rho` (now %g) or "
        "`factor-rate` (now %g)",
        (unsigned long long)t->step, t->settings.rate_layers, t->settings.model.rho,
        t->settings.factor_rate);
}

wfre_status wfre_trainer_draw(wfre_trainer *t, wfre_error *error)
{
    CHECK(wfre_batcher_draw(t->batcher, t->step, wfre_trainer_progress(t), &t->batch, error));
    return embed(t, error);
}

wfre_status wfre_trainer_step(wfre_trainer *t, wfre_error *error)
{
    double loss = 0, of_factors = 0, start = wfre_clock();
    CHECK(wfre_batcher_draw(t->batcher, t->step, wfre_trainer_progress(t), &t->batch, error));
    double drawn = wfre_clock();
    CHECK(embed(t, error));
    double embedded = wfre_clock();
    CHECK(score(t, &loss, error));
    if (t->factors)
        CHECK(wfre_factors_learn(t->factors, t->step, &of_factors, error));
    double scored = wfre_clock();
    CHECK(carry_back(t, error));
    CHECK(check_finite(t, loss + of_factors, error));
    CHECK(wfre_check_stop(error));
    double carried = wfre_clock();
    update(t);
    if (t->factors)
        wfre_factors_update(t->factors);
    double updated = wfre_clock();
    t->times[0] += drawn - start;
    t->times[1] += embedded - drawn + carried - scored;
    t->times[2] += scored - embedded;
    t->times[3] += updated - carried;
    t->smooth_loss = t->step == 0 ? loss : 0.98 * t->smooth_loss + 0.02 * loss;
    t->last_loss = loss;
    t->step++;
    t->own_steps++;
    return WFRE_OK;
}

double wfre_trainer_seconds(const wfre_trainer *t)
{
    return t->seconds_before + wfre_clock() - t->started;
}

bool wfre_trainer_done(const wfre_trainer *t)
{
    return t->settings.steps ? t->step >= t->settings.steps
                             : wfre_trainer_seconds(t) >= seconds_of(t);
}

wfre_train_status wfre_trainer_status(const wfre_trainer *t)
{
    double elapsed = wfre_clock() - t->started;
    return (wfre_train_status){
        .step = t->step,
        .steps = t->settings.steps,
        .seconds = wfre_trainer_seconds(t),
        .progress = wfre_trainer_progress(t),
        .loss = t->smooth_loss,
        .last_loss = t->last_loss,
        .rate = t->rate,
        .queries_per_second = (double)(t->own_steps * t->settings.batch) / elapsed,
        .time_sampling = t->times[0],
        .time_projection = t->times[1],
        .time_scoring = t->times[2],
        .time_optimizer = t->times[3],
    };
}

const wfre_model *wfre_trainer_model(const wfre_trainer *t)
{
    return t->model;
}

/* ---- creation ----------------------------------------------------------------------------- */

wfre_status wfre_train_settings_check(const wfre_train_settings *s, wfre_error *error)
{
    const char *wrong = NULL;
    if (s->batch < 1 || s->batch > 1u << 20)
        wrong = "batch must be 1 to 1048576";
    else if (s->positives < 1 || s->positives > 1024)
        wrong = "positives must be 1 to 1024";
    else if (s->candidates != WFRE_CANDIDATES_ALL && s->negatives < 1)
        wrong = "negatives must be at least 1";
    else if (s->guide != WFRE_GUIDE_SCORE && s->candidates == WFRE_CANDIDATES_OWN)
        wrong = "this guide needs shared candidates, or all of them";
    else if (s->guide == WFRE_GUIDE_SCORE && s->candidates != WFRE_CANDIDATES_OWN)
        wrong = "the score as guide needs a few candidates for each query: `candidates=own` "
                "and `negatives=64`";
    else if ((s->guide == WFRE_GUIDE_SURROGATE || s->guide == WFRE_GUIDE_STAGED_SURROGATE) &&
             !wfre_surrogate_suits(&s->model.score))
        wrong = "the surrogate is one of the score wfr with blocks of at most 24 bins";
    else if (s->relation_loss > 0 && s->guide == WFRE_GUIDE_SCORE)
        wrong = "relations are asked for with the local guide only: relation-loss must be 0";
    else if (s->relation_loss > 0 && (s->relation_facts < 1 || s->relation_rivals < 1))
        wrong = "relation-facts and relation-rivals must be at least 1";
    else if (s->model.factors > 0 &&
             (s->factor_facts < 1 || s->factor_candidates < s->factor_facts ||
              !(s->factor_penalty >= 0) || !(s->factor_rate >= 0)))
        wrong = "`factor-facts` must be at least 1, `factor-candidates` at least that, "
                "`factor-penalty` and `factor-rate` not negative";
    else if (!(s->teach >= 0))
        wrong = "`teach` must not be negative";
    else if (s->teach > 0 && (s->model.factors == 0 || s->guide == WFRE_GUIDE_SCORE ||
                              s->loss != WFRE_LOSS_SOFTMAX))
        wrong = "factors can teach only if there are some, with the loss softmax and another guide "
                "than score: `teach=0` does without";
    else if ((s->guide == WFRE_GUIDE_STAGED || s->guide == WFRE_GUIDE_STAGED_SURROGATE) &&
             s->hard < 1)
        wrong = "a staged run needs hard candidates";
    else if (s->drop_input < 0 || s->drop_input >= 1 || s->drop_basis < 0 || s->drop_basis >= 1 ||
             s->drop_negation < 0 || s->drop_negation >= 1)
        wrong = "dropout rates must be at least 0 and below 1";
    else if (s->steps == 0 && !(s->seconds > 0))
        wrong = "give a number of steps or a time";
    else if (!(s->rate_entities >= 0) || !(s->rate_layers >= 0) || !(s->decay >= 0))
        wrong = "learning rates and weight decay must not be negative";
    else if (!(s->warmup >= 0 && s->warmup < 1))
        wrong = "the warm-up must be at least 0 and below 1";
    return wrong ? wfre_fail(error, WFRE_ERR_ARGUMENT, WFRE_NO_OFFSET, "%s", wrong)
                 : wfre_model_settings_check(&s->model, error);
}

/* Beyond this many entities only the rows that a batch touches are updated. */
enum { LAZY_ENTITIES = 100000 };

wfre_status wfre_trainer_create(const wfre_graph *graph, const wfre_train_settings *settings,
                                wfre_pool *pool, wfre_trainer **result, wfre_error *error)
{
    GIVEN(graph);
    GIVEN(settings);
    wfre_train_settings scaled = *settings;
    wfre_model *model = NULL;
    wfre_status status;
    TRY(wfre_train_settings_check(settings, error));
    TRY(wfre_train_scale(&scaled, pool, error));
    TRY(wfre_model_create(graph, &scaled.model, scaled.seed, &model, error));
    if (scaled.initial == WFRE_INITIAL_PUBLISHED)
        wfre_model_initialise_published(model, scaled.seed);
    TRY(wfre_trainer_create_with(graph, &scaled, pool, model, result, error));
    model = NULL; /* the trainer's now */
cleanup:
    wfre_model_free(model);
    return status;
}

wfre_status wfre_trainer_create_with(const wfre_graph *graph, const wfre_train_settings *settings,
                                     wfre_pool *pool, wfre_model *model, wfre_trainer **result,
                                     wfre_error *error)
{
    wfre_status status;
    wfre_isa isa;
    wfre_trainer *t = wfre_alloc_zero(1, sizeof *t);
    if (!t)
        return wfre_fail_memory(error, "preparing to train");
    t->settings = *settings;
    t->settings.model = model->settings;
    t->graph = graph;
    t->pool = pool;
    t->model = model;
    TRY(wfre_train_settings_check(&t->settings, error));
    TRY(wfre_graph_trust(graph, error));
    if (wfre_graph_entities(graph) == 0 || wfre_graph_triples(graph, WFRE_TRAIN) == 0) {
        status = wfre_fail(error, WFRE_ERR_ARGUMENT, WFRE_NO_OFFSET,
                           "the graph has no training triples");
        goto cleanup;
    }
    TRY(wfre_isa_select(&isa, error));
    TRY(wfre_linalg_create(pool, isa, &t->linalg, error));
    t->vectors = wfre_linalg_vectors(t->linalg);
    t->lazy = t->model->entity_count > LAZY_ENTITIES;
    TRY(wfre_parameters_allocate(t->model, t->gradients, error));
    for (uint32_t i = 0; i < t->model->tensor_count; i++) {
        t->first[i] = wfre_alloc_tensor(t->model->tensors[i].count, sizeof(float));
        t->second[i] = wfre_alloc_tensor(t->model->tensors[i].count, sizeof(float));
    }
    t->zeros = wfre_alloc_tensor(wfre_pool_threads(pool) * t->model->settings.dim, sizeof(float));
    for (uint32_t i = 0; i < t->model->tensor_count; i++)
        if (!t->first[i] || !t->second[i] || !t->zeros) {
            status = wfre_fail_memory(error, "making the optimizer's state; lower dim or bases");
            goto cleanup;
        }
    TRY(wfre_run_create(t->model, pool, t->linalg, settings->precision, &t->run, error));
    TRY(wfre_matrix_engine_create(&t->settings, pool, t->linalg, &t->loss, error));
    TRY(wfre_pair_engine_create(&t->settings, pool, t->linalg, &t->pairs, error));
    if (settings->guide == WFRE_GUIDE_SURROGATE || settings->guide == WFRE_GUIDE_STAGED_SURROGATE) {
        TRY(wfre_surrogate_fit(&t->settings.model.score, NULL, pool, 0, &t->surrogate, error));
        wfre_matrix_engine_use(t->loss, t->surrogate);
    }
    TRY(wfre_relation_engine_create(&t->settings, pool, t->linalg, &t->relations, error));
    if (model->factors)
        TRY(wfre_factor_learner_create(graph, &t->settings, model, pool, t->linalg, &t->factors,
                                       error));
    if (settings->teach > 0)
        TRY(wfre_teacher_create(graph, model, t->settings.precision, pool, &t->teacher, error));
    TRY(wfre_batcher_create(graph, &t->settings, pool, &t->batcher, error));
    t->started = wfre_clock();
    *result = t;
    t = NULL;
cleanup:
    if (t)
        t->model = NULL; /* the caller keeps it on failure */
    wfre_trainer_free(t);
    return status;
}

void wfre_trainer_free(wfre_trainer *t)
{
    if (!t)
        return;
    wfre_batcher_free(t->batcher);
    wfre_matrix_engine_free(t->loss);
    wfre_surrogate_free(t->surrogate);
    wfre_pair_engine_free(t->pairs);
    wfre_relation_engine_free(t->relations);
    wfre_factor_learner_free(t->factors);
    wfre_teacher_free(t->teacher);
    wfre_free(t->own);
    wfre_run_free(t->run);
    wfre_program_free(&t->program);
    for (uint32_t i = 0; i < WFRE_MAXIMUM_TENSORS; i++) {
        wfre_free(t->first[i]);
        wfre_free(t->second[i]);
    }
    wfre_free(t->zeros);
    wfre_parameters_free(t->gradients);
    wfre_model_free(t->model);
    wfre_linalg_free(t->linalg);
    wfre_free(t->table);
    wfre_free(t->table_gradient);
    wfre_free(t->branches);
    wfre_free(t->branch_gradient);
    wfre_free(t);
}
