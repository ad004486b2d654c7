/* One step of the factors: draw facts, make questions of them, score, and carry gradients back.
 *
 * Rows of questions are spread over the pool; what they add to entities and relations is summed in
 * their order by one thread, which is little beside the products. */
#include "train/factors.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/pool.h"
#include "base/rng.h"
#include "graph/graph.h"

enum { BLOCK_ROWS = 16 };

/* A drawn fact: its group of the graph (which says entity and relation), and its target. */
typedef struct fact {
    uint32_t group;
    wfre_entity target;
} fact;

/* A question: the facts first .. last-1 of the batch. */
typedef struct question {
    uint32_t group;
    wfre_entity entity;
    wfre_relation relation;
    uint32_t first, last;
} question;

struct wfre_factor_learner {
    const wfre_adjacency *edges;
    wfre_factors *factors;
    wfre_pool *pool;
    wfre_linalg *linalg;
    const wfre_vector_table *vectors;
    wfre_train_settings settings;
    uint32_t entity_count, relation_count;
    uint32_t edge_count;
    bool all; /* every entity is a candidate, and its own slot */

    /* Of the step at work. */
    fact *facts;         /* [facts] by group and target */
    question *questions; /* [facts] */
    double *losses;      /* [facts] of the questions */
    size_t question_count;
    wfre_entity *slots; /* [entities]: candidates, then other entities of the batch */
    size_t candidate_count, slot_count;
    uint32_t *slot_of;          /* [entities], where stamp is the turn's */
    uint64_t *stamp, turn;      /* [entities] */
    wfre_relation *used;        /* [facts]: relations of the batch, ascending */
    size_t used_count;          /* of them */
    float *rows, *row_gradient; /* [facts, w]: of questions */
    float *scores;              /* [facts, candidates], then their gradients */
    float *table;               /* [candidates, w], unless all are candidates */
    float *gradient;            /* [slots, w]: of entities */
    float *relation_gradient;   /* [facts, w]: of the relations used */
    float *squares[WFRE_FACTOR_TENSORS];
};

/* ---- creation ----------------------------------------------------------------------------- */

static bool allocate(wfre_factor_learner *l)
{
    size_t w = wfre_factors_width(l->factors), facts = l->settings.factor_facts;
    size_t candidates = l->all ? l->entity_count : l->settings.factor_candidates;
    size_t slots = l->all ? l->entity_count : candidates + facts;
    l->facts = wfre_alloc(facts, sizeof *l->facts);
    l->questions = wfre_alloc(facts, sizeof *l->questions);
    l->losses = wfre_alloc(facts, sizeof *l->losses);
    l->used = wfre_alloc(facts, sizeof *l->used);
    l->slots = wfre_alloc(slots, sizeof *l->slots);
    l->slot_of = wfre_alloc_zero(l->entity_count, sizeof *l->slot_of);
    l->stamp = wfre_alloc_zero(l->entity_count, sizeof *l->stamp);
    l->rows = wfre_alloc_tensor(facts * w, sizeof(float));
    l->row_gradient = wfre_alloc_tensor(facts * w, sizeof(float));
    l->scores = wfre_alloc_tensor(facts * candidates, sizeof(float));
    l->table = wfre_alloc_tensor(l->all ? 1 : candidates * w, sizeof(float));
    l->gradient = wfre_alloc_tensor(slots * w, sizeof(float));
    l->relation_gradient = wfre_alloc_tensor(facts * w, sizeof(float));
    for (int t = 0; t < WFRE_FACTOR_TENSORS; t++)
        l->squares[t] = wfre_alloc_tensor(l->factors->tensors[t].count, sizeof(float));
    return l->facts && l->questions && l->losses && l->used && l->slots && l->slot_of && l->stamp &&
           l->rows && l->row_gradient && l->scores && l->table && l->gradient &&
           l->relation_gradient && l->squares[0] && l->squares[1];
}

wfre_status wfre_factor_learner_create(const wfre_graph *graph, const wfre_train_settings *settings,
                                       const wfre_model *model, wfre_pool *pool,
                                       wfre_linalg *linalg, wfre_factor_learner **learner,
                                       wfre_error *error)
{
    wfre_factor_learner *l = wfre_alloc_zero(1, sizeof *l);
    if (!l)
        return wfre_fail_memory(error, "preparing to train");
    l->edges = wfre_graph_adjacency(graph, WFRE_TRAIN);
    l->factors = model->factors;
    l->pool = pool;
    l->linalg = linalg;
    l->vectors = wfre_linalg_vectors(linalg);
    l->settings = *settings;
    l->entity_count = model->entity_count;
    l->relation_count = model->relation_count;
    l->edge_count =
        (uint32_t)(2 * wfre_graph_triples(graph, WFRE_TRAIN)); /* indexes have 32 bits */
    l->all = l->entity_count <= settings->factor_candidates;
    if (!allocate(l)) {
        wfre_factor_learner_free(l);
        return wfre_fail_memory(
            error, "preparing to train; lower `factors`, `factor-facts` or `factor-candidates`");
    }
    *learner = l;
    return WFRE_OK;
}

void wfre_factor_learner_free(wfre_factor_learner *l)
{
    if (!l)
        return;
    wfre_free(l->facts);
    wfre_free(l->questions);
    wfre_free(l->losses);
    wfre_free(l->used);
    wfre_free(l->slots);
    wfre_free(l->slot_of);
    wfre_free(l->stamp);
    wfre_free(l->rows);
    wfre_free(l->row_gradient);
    wfre_free(l->scores);
    wfre_free(l->table);
    wfre_free(l->gradient);
    wfre_free(l->relation_gradient);
    for (int t = 0; t < WFRE_FACTOR_TENSORS; t++)
        wfre_free(l->squares[t]);
    wfre_free(l);
}

float *wfre_factors_squares(const wfre_factor_learner *l, int tensor)
{
    return l->squares[tensor];
}

/* ---- drawing ------------------------------------------------------------------------------ */

static int compare_facts(const void *a, const void *b)
{
    const fact *x = a, *y = b;
    if (x->group != y->group)
        return x->group < y->group ? -1 : 1;
    return (x->target > y->target) - (x->target < y->target);
}

static void draw_facts(wfre_factor_learner *l, uint64_t step)
{
    uint32_t count = l->settings.factor_facts,
             groups = l->edges->relation_groups[l->relation_count];
    for (uint32_t i = 0; i < count; i++) {
        wfre_rng rng = wfre_rng_for(l->settings.seed, WFRE_FOR_FACTS, step, i);
        uint32_t edge = wfre_rng_below(&rng, l->edge_count);
        l->facts[i] = (fact){wfre_group_of_target(l->edges, groups, edge), l->edges->targets[edge]};
    }
    qsort(l->facts, count, sizeof *l->facts, compare_facts);
}

/* Facts of a group become a question; groups are in the order of their relations. */
static void make_questions(wfre_factor_learner *l)
{
    l->question_count = l->used_count = 0;
    for (uint32_t i = 0; i < l->settings.factor_facts; i++) {
        uint32_t group = l->facts[i].group;
        if (i == 0 || group != l->facts[i - 1].group) {
            wfre_relation relation = wfre_group_relation(l->edges, l->relation_count, group);
            l->questions[l->question_count++] =
                (question){group, l->edges->group_entity[group], relation, i, i};
            if (l->used_count == 0 || l->used[l->used_count - 1] != relation)
                l->used[l->used_count++] = relation;
        }
        l->questions[l->question_count - 1].last = i + 1;
    }
}

static void take_slot(wfre_factor_learner *l, wfre_entity entity)
{
    if (l->stamp[entity] == l->turn)
        return;
    l->stamp[entity] = l->turn;
    l->slot_of[entity] = (uint32_t)l->slot_count;
    l->slots[l->slot_count++] = entity;
}

/* The drawn answers and others are candidates; the entities that are asked about get slots, too. */
static void choose_slots(wfre_factor_learner *l, uint64_t step)
{
    size_t wanted = l->all ? l->entity_count : l->settings.factor_candidates;
    wfre_rng rng = wfre_rng_for(l->settings.seed, WFRE_FOR_CONTRASTS, step, 0);
    l->turn++;
    l->slot_count = 0;
    for (wfre_entity e = 0; l->all && e < l->entity_count; e++)
        take_slot(l, e);
    for (uint32_t i = 0; !l->all && i < l->settings.factor_facts; i++)
        take_slot(l, l->facts[i].target);
    while (l->slot_count < wanted)
        take_slot(l, wfre_rng_below(&rng, l->entity_count));
    l->candidate_count = l->slot_count;
    for (size_t q = 0; q < l->question_count; q++)
        take_slot(l, l->questions[q].entity);
}

/* ---- scores ------------------------------------------------------------------------------- */

static void embed_question(void *context, size_t q, unsigned worker)
{
    (void)worker;
    wfre_factor_learner *l = context;
    size_t w = wfre_factors_width(l->factors);
    wfre_factors_multiply(l->factors->size, wfre_factors_entity(l->factors, l->questions[q].entity),
                          wfre_factors_relation(l->factors, l->questions[q].relation),
                          l->rows + q * w);
}

static void fill_table(void *context, size_t chunk, unsigned worker)
{
    (void)worker;
    wfre_factor_learner *l = context;
    size_t w = wfre_factors_width(l->factors), first = chunk * BLOCK_ROWS;
    for (size_t c = first; c < first + BLOCK_ROWS && c < l->candidate_count; c++)
        memcpy(l->table + c * w, wfre_factors_entity(l->factors, l->slots[c]), w * sizeof(float));
}

/* The loss of a question, and its gradient in the place of its scores. */
static void judge_question(void *context, size_t index, unsigned worker)
{
    (void)worker;
    wfre_factor_learner *l = context;
    const question *q = &l->questions[index];
    size_t n = l->candidate_count;
    float *row = l->scores + index * n, highest = l->vectors->maximum(n, row);
    wfre_list known = wfre_group_targets(l->edges, q->group);
    double weight = (q->last - q->first) / (double)l->settings.factor_facts, aimed = 0;
    size_t count = 0;
    for (size_t i = 0; i < known.count; i++)
        if (l->stamp[known.ids[i]] == l->turn && l->slot_of[known.ids[i]] < n) {
            aimed += (double)row[l->slot_of[known.ids[i]]];
            count++;
        }
    double sum = l->vectors->exp_shifted(n, highest, row);
    l->losses[index] = weight * ((double)highest + log(sum) - aimed / (double)count);
    l->vectors->scale(n, (float)(weight / sum), row);
    for (size_t i = 0; i < known.count; i++)
        if (l->stamp[known.ids[i]] == l->turn && l->slot_of[known.ids[i]] < n)
            row[l->slot_of[known.ids[i]]] -= (float)(weight / (double)count);
}

/* ---- gradients ---------------------------------------------------------------------------- */

/* The price of |z|^3, whose gradient 3 price |z| z is added. */
static double add_penalty(size_t size, float price, const float *z, float *gradient)
{
    double sum = 0;
    for (size_t i = 0; i < size; i++) {
        float square = z[i] * z[i] + z[size + i] * z[size + i], root = sqrtf(square);
        gradient[i] += 3 * price * root * z[i];
        gradient[size + i] += 3 * price * root * z[size + i];
        sum += (double)(square * root);
    }
    return (double)price * sum;
}

/* From the gradients of questions to those of their entities and relations; returns the penalty,
 * whose gradients it adds. */
static double carry_back(wfre_factor_learner *l)
{
    double penalty = 0;
    const wfre_factors *f = l->factors;
    size_t w = wfre_factors_width(f), used = 0;
    float price = (float)(l->settings.factor_penalty / l->settings.factor_facts);
    for (size_t i = 0; i < l->question_count; i++) {
        const question *q = &l->questions[i];
        used += l->used[used] != q->relation;
        const float *entity = wfre_factors_entity(f, q->entity), *slope = l->row_gradient + i * w;
        const float *relation = wfre_factors_relation(f, q->relation);
        float *of_entity = l->gradient + l->slot_of[q->entity] * w;
        float *of_relation = l->relation_gradient + used * w;
        float weight = price * (float)(q->last - q->first);
        wfre_factors_add_conjugate(f->size, slope, relation, of_entity);
        wfre_factors_add_conjugate(f->size, slope, entity, of_relation);
        penalty += add_penalty(f->size, weight, entity, of_entity);
        penalty += add_penalty(f->size, weight, relation, of_relation);
        for (uint32_t k = q->first; k < q->last; k++) {
            wfre_entity target = l->facts[k].target;
            penalty += add_penalty(f->size, price, wfre_factors_entity(f, target),
                                   l->gradient + l->slot_of[target] * w);
        }
    }
    return penalty;
}

wfre_status wfre_factors_learn(wfre_factor_learner *l, uint64_t step, double *loss,
                               wfre_error *error)
{
    wfre_precision precision = l->settings.precision;
    size_t w = wfre_factors_width(l->factors);
    draw_facts(l, step);
    make_questions(l);
    choose_slots(l, step);
    size_t rows = l->question_count, n = l->candidate_count;
    CHECK(wfre_pool_try(l->pool, rows, embed_question, l, error));
    if (!l->all)
        CHECK(wfre_pool_try(l->pool, (n + BLOCK_ROWS - 1) / BLOCK_ROWS, fill_table, l, error));
    const float *table = l->all ? l->factors->entities.data : l->table;
    wfre_gemm_job score = {.transpose_b = true,
                           .m = rows,
                           .n = n,
                           .k = w,
                           .alpha = 1,
                           .a = l->rows,
                           .lda = w,
                           .b = table,
                           .ldb = w,
                           .c = l->scores,
                           .ldc = n};
    CHECK(wfre_gemm(l->linalg, precision, &score, 1, error));
    CHECK(wfre_pool_try(l->pool, rows, judge_question, l, error));
    wfre_gemm_job back[] = {
        {.m = rows,
         .n = w,
         .k = n,
         .alpha = 1,
         .a = l->scores,
         .lda = n,
         .b = table,
         .ldb = w,
         .c = l->row_gradient,
         .ldc = w},
        {.transpose_a = true,
         .m = n,
         .n = w,
         .k = rows,
         .alpha = 1,
         .a = l->scores,
         .lda = n,
         .b = l->rows,
         .ldb = w,
         .c = l->gradient,
         .ldc = w},
    };
    CHECK(wfre_gemm(l->linalg, precision, back, 2, error));
    memset(l->gradient + n * w, 0, (l->slot_count - n) * w * sizeof(float));
    memset(l->relation_gradient, 0, l->used_count * w * sizeof(float));
    *loss = carry_back(l);
    for (size_t q = 0; q < rows; q++)
        *loss += l->losses[q];
    return WFRE_OK;
}

/* ---- update ------------------------------------------------------------------------------- */

static void update_slots(void *context, size_t chunk, unsigned worker)
{
    (void)worker;
    wfre_factor_learner *l = context;
    size_t w = wfre_factors_width(l->factors), first = chunk * BLOCK_ROWS;
    for (size_t s = first; s < first + BLOCK_ROWS && s < l->slot_count; s++)
        l->vectors->adagrad(w, (float)l->settings.factor_rate, l->gradient + s * w,
                            wfre_factors_entity(l->factors, l->slots[s]),
                            l->squares[0] + l->slots[s] * w);
}

void wfre_factors_update(wfre_factor_learner *l)
{
    size_t w = wfre_factors_width(l->factors);
    wfre_pool_run(l->pool, (l->slot_count + BLOCK_ROWS - 1) / BLOCK_ROWS, update_slots, l);
    for (size_t i = 0; i < l->used_count; i++)
        l->vectors->adagrad(w, (float)l->settings.factor_rate, l->relation_gradient + i * w,
                            wfre_factors_relation(l->factors, l->used[i]),
                            l->squares[1] + l->used[i] * w);
}
