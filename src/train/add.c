/* Entities that came after training.
 *
 * A triple (e, r, t) of a new entity e says that e answers the question r^-1 from t, whose
 * histogram q the model knows. What training anew would do to e alone is done here, by descent on e
 * with everything else left as it is:
 *
 *           sum over its questions       softplus(rho D(e, q) - near)
 *   + care  sum over other questions     softplus(rho D(a, q) - rho D(e, q))
 *
 * where exp(-near) is the sum of exp(-rho D) over the old entities that do not answer q, the ones
 * that e competes with, and a is an old one that does. Without the second part e would be near to
 * everything. Other questions are drawn at random, half of them along the relations of its own;
 * each counts for as many as it stands for, and only those that e intrudes on most are looked at.
 *
 * Its factors, if the model has some, are fitted to the same questions (add_factors.c).
 *
 * It starts as the old entity that answers most of the same questions. Neighbours that are new
 * themselves have no histogram and are left out; an entity with no other neighbours gets the mean
 * of all entities. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/rng.h"
#include "graph/extend.h"
#include "infer/reasoner.h"
#include "model/extend.h"
#include "train/add_factors.h"
#include "wfre/train.h"

enum {
    OWN = 128,    /* its questions, at most */
    OTHERS = 512, /* questions drawn */
    HARD = 96,    /* of them, those that are looked at */
    REFRESH = 8,  /* steps until they are chosen again */
    RIVALS = 32,  /* entities that it competes with for a question: the nearest */
    BATCH = OWN + OTHERS
};
static const double CARE = 2; /* docs/LABBOOK.md: less harm to old questions than 1 does */
static const double MATRIX_BYTES = 1.5e9; /* of relations, that are kept at the most */
static const double RATE = 0.05, BETA1 = 0.8, BETA2 = 0.95;

/* ---- fitting ------------------------------------------------------------------------------ */

/* What an entity's distance from a question is judged by. */
typedef struct question {
    double weight;    /* how many like it this one stands for */
    double threshold; /* what rho times the distance is compared with */
} question;

/* How much the entity intrudes on a question. */
typedef struct candidate {
    double slope;
    uint32_t question;
} candidate;

/* What new entities are fitted with, one after the other. */
typedef struct fitting {
    wfre_model *model;
    const wfre_graph *graph;
    uint32_t old;   /* entities before */
    uint32_t steps; /* of descent */
    wfre_pool *pool;
    const wfre_score *score;
    const wfre_vector_table *vectors;
    wfre_embedder *embedder;
    wfre_session *session; /* of the model before */
    wfre_way way;          /* by embedding and without lifts, as training does */
    question *questions;   /* [BATCH]: its own, then others */
    size_t own, count;
    const wfre_node **trees; /* [BATCH] */
    wfre_entity *answers;    /* [BATCH]: an old entity that answers each of the others */
    candidate *candidates;   /* [BATCH] scratch */
    uint32_t *chosen;        /* [BATCH]: questions in use, its own first */
    size_t chosen_count;
    float *distances;           /* [BATCH] */
    float *rows;                /* [BATCH, d]: answers, then gradients */
    wfre_hit *hits;             /* [OWN, RIVALS] */
    uint32_t *same;             /* [BATCH] zeros: one left row for all pairs */
    double *moments;            /* [3, d]: the gradient, its mean and its mean square */
    wfre_added_question *edges; /* [BATCH]: the questions as factors see them */
} fitting;

/* Appends the question along `relation` from an entity. */
static wfre_status add_question(fitting *f, wfre_arena *arena, wfre_relation relation,
                                wfre_entity from, double weight, wfre_error *error)
{
    const wfre_node *tree = wfre_node_project(arena, relation, wfre_node_entity(arena, from));
    if (!tree)
        return wfre_fail_memory(error, "adding entities");
    f->trees[f->count] = tree;
    f->questions[f->count++] = (question){.weight = weight};
    return WFRE_OK;
}

/* The targets of an edge that the model knows: old entities come first. */
static wfre_list old_targets(const fitting *f, wfre_relation relation, wfre_entity from)
{
    wfre_list targets = wfre_graph_targets(f->graph, WFRE_TRAIN, relation, from);
    while (targets.count > 0 && targets.ids[targets.count - 1] >= f->old)
        targets.count--;
    return targets;
}

/* The questions that the entity answers, from neighbours the model knows: all, or OWN of them at
 * even distances. Those along one relation stand together. */
static wfre_status list_own(fitting *f, wfre_arena *arena, wfre_entity entity, wfre_error *error)
{
    wfre_relation relations = wfre_graph_relations(f->graph);
    size_t all = 0, seen = 0;
    for (wfre_relation r = 0; r < relations; r++)
        all += old_targets(f, r, entity).count;
    f->count = 0;
    for (wfre_relation r = 0; r < relations; r++) {
        wfre_list near = old_targets(f, r, entity);
        for (size_t i = 0; i < near.count; i++)
            if (seen++ * OWN >= f->count * all)
                CHECK(
                    add_question(f, arena, r ^ 1, near.ids[i], fmax(1, (double)all / OWN), error));
    }
    f->own = f->count;
    return WFRE_OK;
}

/* The groups of edges (graph/graph.h), each a question, that others are drawn from: those of its
 * own relations, which it is likeliest to be mistaken for an answer of, and all. */
typedef struct urn {
    const wfre_adjacency *edges;
    wfre_relation relations[OWN]; /* its own, each once */
    size_t relation_count;
    uint32_t own, all; /* groups */
    uint32_t directed; /* relations of the graph */
} urn;

static urn fill_urn(const fitting *f)
{
    urn u = {.edges = wfre_graph_adjacency(f->graph, WFRE_TRAIN)};
    const uint32_t *begin = u.edges->relation_groups;
    u.directed = wfre_graph_relations(f->graph);
    u.all = begin[u.directed];
    for (size_t k = 0; k < f->own; k++) {
        wfre_relation relation = f->trees[k]->id;
        if (k > 0 && f->trees[k - 1]->id == relation)
            continue;
        u.relations[u.relation_count++] = relation;
        u.own += begin[relation + 1] - begin[relation];
    }
    return u;
}

/* A random group, of its own relations or of all, and the relation it belongs to. */
static uint32_t draw_group(const urn *u, wfre_rng *rng, bool own, wfre_relation *relation)
{
    const uint32_t *begin = u->edges->relation_groups;
    if (own) {
        uint32_t at = wfre_rng_below(rng, u->own);
        size_t i = 0;
        for (; at >= begin[u->relations[i] + 1] - begin[u->relations[i]]; i++)
            at -= begin[u->relations[i] + 1] - begin[u->relations[i]];
        *relation = u->relations[i];
        return begin[*relation] + at;
    }
    uint32_t group = wfre_rng_below(rng, u->all);
    *relation = wfre_group_relation(u->edges, u->directed, group);
    return group;
}

/* Questions that old entities answer and this one does not, and such an answer of each; weighted so
 * that together they stand for all there are. */
static wfre_status list_others(fitting *f, wfre_arena *arena, wfre_entity entity, wfre_error *error)
{
    wfre_rng rng = wfre_rng_fixed(WFRE_FOR_ADDED, entity);
    urn u = fill_urn(f);
    for (uint32_t i = 0; i < OTHERS; i++) {
        wfre_relation relation;
        uint32_t group = draw_group(&u, &rng, i % 2 == 0, &relation);
        wfre_list answers = wfre_group_targets(u.edges, group);
        wfre_entity from = u.edges->group_entity[group];
        wfre_entity answer = answers.ids[wfre_rng_below(&rng, (uint32_t)answers.count)];
        if (from >= f->old || answer >= f->old || wfre_list_has(answers, entity))
            continue;
        double chance = 1.0 / u.all;
        for (size_t k = 0; k < u.relation_count; k++)
            chance += u.relations[k] == relation ? 1.0 / u.own : 0;
        f->answers[f->count] = answer;
        CHECK(add_question(f, arena, relation, from, CARE / (chance * OTHERS / 2), error));
    }
    return WFRE_OK;
}

/* The old entities that answer its question k. */
static wfre_list old_answers(const fitting *f, size_t k)
{
    const wfre_node *tree = f->trees[k];
    return old_targets(f, tree->id, tree->children[0]->id);
}

/* The old entity that answers most of its questions: where it starts. */
static wfre_status most_alike(const fitting *f, wfre_entity *alike, wfre_error *error)
{
    uint32_t *shared = wfre_alloc_zero(f->old, sizeof *shared);
    if (!shared)
        return wfre_fail_memory(error, "adding entities");
    *alike = 0;
    for (size_t k = 0; k < f->own; k++) {
        wfre_list answers = old_answers(f, k);
        for (size_t i = 0; i < answers.count; i++)
            if (++shared[answers.ids[i]] > shared[*alike])
                *alike = answers.ids[i];
    }
    wfre_free(shared);
    return WFRE_OK;
}

static wfre_status use_scores(void *context, const wfre_scores *scores, const uint32_t *questions,
                              wfre_error *error)
{
    return wfre_scores_top(scores, questions, context, error);
}

/* Its own questions are compared with the entities that do not answer them: the sum of their
 * exp(-rho D) is what the entity competes with. */
static wfre_status find_rivals(fitting *f, wfre_error *error)
{
    wfre_wanted wanted[OWN];
    wfre_inference questions = {.trees = f->trees,
                                .count = f->own,
                                .way = f->way,
                                .split = WFRE_TRAIN,
                                .purpose = WFRE_FOR_TOP};
    for (size_t k = 0; k < f->own; k++)
        wanted[k] = (wfre_wanted){
            .without = old_answers(f, k), .top = RIVALS, .hits = f->hits + k * RIVALS};
    wfre_scope before = wfre_session_enter(f->session, NULL, 0);
    wfre_status status = wfre_infer(f->session, &questions, use_scores, wanted, error);
    (void)wfre_scope_enter(before);
    for (size_t k = 0; status == WFRE_OK && k < f->own; k++) {
        double sum = 0, rho = f->model->settings.rho;
        const wfre_hit *hits = wanted[k].hits;
        for (size_t i = 0; i < wanted[k].hit_count; i++)
            sum += exp(rho * (double)(hits[i].score - hits[0].score));
        f->questions[k].threshold =
            wanted[k].hit_count > 0 ? -rho * (double)hits[0].score - log(sum) : INFINITY;
    }
    return status;
}

/* Other questions are compared with their known answers. */
static wfre_status find_references(fitting *f, const wfre_embedding *embedding, wfre_error *error)
{
    size_t d = f->model->settings.dim, others = f->count - f->own;
    for (size_t k = 0; k < others; k++)
        wfre_family_read_entity(f->model, f->vectors, f->answers[f->own + k], f->rows + k * d);
    wfre_pairs pairs = {{f->rows, d}, {embedding->rows + f->own * d, d}, NULL, NULL, others};
    wfre_status status = wfre_score_pairs(f->score, f->pool, &pairs, f->distances, NULL, error);
    for (size_t k = 0; status == WFRE_OK && k < others; k++)
        f->questions[f->own + k].threshold = f->model->settings.rho * (double)f->distances[k];
    return status;
}

/* The derivative of the loss with respect to rho times the distance from question k. */
static double slope_of(const fitting *f, size_t k, float distance)
{
    const question *q = &f->questions[k];
    double gap = f->model->settings.rho * (double)distance - q->threshold;
    return k < f->own ? q->weight / (1 + exp(-gap)) : -q->weight / (1 + exp(gap));
}

static int compare_slopes(const void *a, const void *b)
{
    const candidate *left = a, *right = b;
    if (left->slope != right->slope)
        return left->slope < right->slope ? -1 : 1;
    return (left->question > right->question) - (left->question < right->question);
}

/* Chooses its own questions and the others that it intrudes on most. */
static wfre_status choose(fitting *f, const wfre_embedding *embedding, const float *row,
                          wfre_error *error)
{
    size_t d = f->model->settings.dim, others = f->count - f->own;
    wfre_pairs pairs = {{row, d}, {embedding->rows + f->own * d, d}, f->same, NULL, others};
    wfre_status status = wfre_score_pairs(f->score, f->pool, &pairs, f->distances, NULL, error);
    if (status != WFRE_OK)
        return status;
    for (uint32_t k = 0; k < others; k++)
        f->candidates[k] = (candidate){slope_of(f, f->own + k, f->distances[k]), k};
    qsort(f->candidates, others, sizeof *f->candidates, compare_slopes);
    f->chosen_count = 0;
    for (uint32_t k = 0; k < f->own; k++)
        f->chosen[f->chosen_count++] = k;
    for (size_t k = 0; k < others && k < HARD; k++)
        f->chosen[f->chosen_count++] = (uint32_t)f->own + f->candidates[k].question;
    return WFRE_OK;
}

/* One step of Adam. */
static wfre_status descend(fitting *f, const wfre_embedding *embedding, float *row, uint32_t step,
                           wfre_error *error)
{
    size_t d = f->model->settings.dim;
    double *slope = f->moments, *mean = slope + d, *square = mean + d;
    wfre_pairs pairs = {{row, d}, {embedding->rows, d}, f->same, f->chosen, f->chosen_count};
    wfre_gradients gradients = {f->rows, NULL, d};
    wfre_status status =
        wfre_score_pairs(f->score, f->pool, &pairs, f->distances, &gradients, error);
    if (status != WFRE_OK)
        return status;
    memset(slope, 0, d * sizeof *slope);
    for (size_t k = 0; k < f->chosen_count; k++) {
        double factor = slope_of(f, f->chosen[k], f->distances[k]);
        for (size_t i = 0; i < d; i++)
            slope[i] += factor * (double)f->rows[k * d + i];
    }
    double rate = RATE * (1 - (step - 1) / (double)f->steps);
    double first = 1 / (1 - pow(BETA1, step)), second = 1 / (1 - pow(BETA2, step));
    for (size_t i = 0; i < d; i++) {
        mean[i] = BETA1 * mean[i] + (1 - BETA1) * slope[i];
        square[i] = BETA2 * square[i] + (1 - BETA2) * slope[i] * slope[i];
        double moved = (double)row[i] - rate * first * mean[i] / (sqrt(second * square[i]) + 1e-12);
        row[i] = (float)fmin(fmax(moved, 0), 1);
    }
    return WFRE_OK;
}

/* The factors of an entity, if the model has some. */
static wfre_status fit_factors(fitting *f, wfre_entity entity, wfre_entity alike, wfre_error *error)
{
    wfre_added_factors job = {.model = f->model,
                              .vectors = f->vectors,
                              .pool = f->pool,
                              .old = f->old,
                              .steps = f->steps,
                              .questions = f->edges,
                              .own = f->own,
                              .count = f->count};
    if (!f->model->factors)
        return WFRE_OK;
    for (size_t k = 0; k < f->count; k++)
        f->edges[k] = (wfre_added_question){{f->trees[k]->id, f->trees[k]->children[0]->id},
                                            k < f->own ? 0 : f->answers[k],
                                            f->questions[k].weight};
    return wfre_add_factors(&job, entity, alike, error);
}

static wfre_status fit_entity(fitting *f, wfre_entity entity, wfre_error *error)
{
    size_t d = f->model->settings.dim;
    float *row = f->model->entities + (size_t)entity * d;
    wfre_arena arena = {0};
    wfre_embedding embedding;
    wfre_entity alike = 0;
    wfre_status status;
    TRY(list_own(f, &arena, entity, error));
    if (f->own == 0)
        goto cleanup;
    TRY(most_alike(f, &alike, error));
    wfre_family_read_entity(f->model, f->vectors, alike, row);
    if (f->steps > 0)
        TRY(list_others(f, &arena, entity, error));
    TRY(fit_factors(f, entity, alike, error));
    if (f->steps == 0)
        goto cleanup;
    TRY(find_rivals(f, error));
    TRY(wfre_embed(f->embedder, f->trees, f->count, &f->way, &embedding, error));
    TRY(find_references(f, &embedding, error));
    memset(f->moments, 0, 3 * d * sizeof *f->moments);
    for (uint32_t step = 1; step <= f->steps; step++) {
        if (step % REFRESH == 1)
            TRY(choose(f, &embedding, row, error));
        TRY(descend(f, &embedding, row, step, error));
    }
cleanup:
    wfre_arena_free(&arena);
    return status;
}

/* New entities are fitted to known answers as training fits all, without lifts. */
static wfre_way plain_way(const wfre_model *model)
{
    wfre_way way = model->settings.way;
    way.by = WFRE_BY_EMBEDDING;
    for (int i = 0; i < WFRE_LIFTS; i++)
        way.lift[i] = 1;
    return way;
}

static wfre_status allocate(fitting *f, wfre_arena *arena, wfre_error *error)
{
    size_t d = f->model->settings.dim;
    f->trees = wfre_arena_alloc(arena, BATCH, sizeof *f->trees);
    f->distances = wfre_arena_alloc(arena, BATCH, sizeof *f->distances);
    f->questions = wfre_arena_alloc(arena, BATCH, sizeof *f->questions);
    f->answers = wfre_arena_alloc(arena, BATCH, sizeof *f->answers);
    f->chosen = wfre_arena_alloc(arena, BATCH, sizeof *f->chosen);
    f->candidates = wfre_arena_alloc(arena, BATCH, sizeof *f->candidates);
    f->hits = wfre_arena_alloc(arena, OWN * RIVALS, sizeof *f->hits);
    f->rows = wfre_arena_alloc(arena, BATCH * d, sizeof *f->rows);
    f->same = wfre_arena_alloc(arena, BATCH, sizeof *f->same);
    f->moments = wfre_arena_alloc(arena, 3 * d, sizeof *f->moments);
    f->edges = wfre_arena_alloc(arena, BATCH, sizeof *f->edges);
    if (!f->trees || !f->distances || !f->questions || !f->answers || !f->chosen ||
        !f->candidates || !f->hits || !f->rows || !f->same || !f->moments || !f->edges)
        return wfre_fail_memory(error, "adding entities");
    memset(f->same, 0, BATCH * sizeof *f->same);
    return WFRE_OK;
}

/* The graph and the model before, and those with more entities. */
typedef struct growth {
    const wfre_graph *graph;
    const wfre_model *model;
    wfre_graph *larger_graph;
    wfre_model *larger;
} growth;

static wfre_status fit_all(const growth *g, uint32_t steps, wfre_pool *pool,
                           const wfre_monitor *monitor, wfre_error *error)
{
    wfre_status status;
    wfre_arena arena = {0};
    wfre_linalg *linalg = NULL;
    wfre_matrices *matrices = NULL;
    wfre_score *score = NULL;
    wfre_isa isa;
    uint32_t old = g->model->entity_count, all = g->larger->entity_count;
    fitting f = {.model = g->larger,
                 .graph = g->larger_graph,
                 .old = old,
                 .steps = steps,
                 .pool = pool,
                 .way = plain_way(g->model)};
    TRY(allocate(&f, &arena, error));
    TRY(wfre_isa_select(&isa, error));
    TRY(wfre_linalg_create(pool, isa, &linalg, error));
    f.vectors = wfre_linalg_vectors(linalg);
    TRY(wfre_family_of(&f.model->settings)->distance(&f.model->settings, &score, error));
    f.score = score;
    TRY(wfre_matrices_create(f.model, MATRIX_BYTES, &matrices, error));
    TRY(wfre_embedder_create(matrices, pool, linalg, &f.embedder, error));
    TRY(wfre_session_open(g->graph, g->model, pool, &f.session, error));
    for (wfre_entity e = old; e < all; e++) {
        TRY(fit_entity(&f, e, error));
        TRY(wfre_check_interrupt(monitor, error));
        wfre_report(monitor, "adding", e + 1 - old, all - old, NULL);
    }
cleanup:
    wfre_session_free(f.session);
    wfre_embedder_free(f.embedder);
    wfre_matrices_free(matrices);
    wfre_score_free(score);
    wfre_linalg_free(linalg);
    wfre_arena_free(&arena);
    return status;
}

/* ---- the whole ---------------------------------------------------------------------------- */

void wfre_add_options_default(wfre_add_options *options)
{
    *options = (wfre_add_options){.steps = 40};
}

wfre_status wfre_add_with(const wfre_graph *graph, const wfre_model *model, const wfre_graph *extra,
                          uint32_t steps, wfre_pool *pool, const wfre_monitor *monitor,
                          wfre_graph **larger_graph, wfre_model **larger_model,
                          wfre_addition *report, wfre_error *error)
{
    GIVEN(graph);
    GIVEN(model);
    GIVEN(extra);
    growth g = {.graph = graph, .model = model};
    wfre_status status;
    TRY(wfre_model_check_graph(model, graph, error));
    TRY(wfre_graph_extend(graph, extra, &g.larger_graph, error));
    TRY(wfre_model_extend(model, g.larger_graph, &g.larger, error));
    double start = wfre_clock();
    TRY(fit_all(&g, steps, pool, monitor, error));
    double seconds = wfre_clock() - start;
    TRY(wfre_model_prepare(g.larger, pool, error));
    *report = (wfre_addition){
        .entities = g.larger->entity_count - model->entity_count,
        .triples =
            wfre_graph_triples(g.larger_graph, WFRE_TEST) - wfre_graph_triples(graph, WFRE_TEST),
        .seconds = seconds,
    };
    *larger_graph = g.larger_graph;
    *larger_model = g.larger;
    g.larger_graph = NULL;
    g.larger = NULL;
cleanup:
    wfre_model_free(g.larger);
    wfre_graph_close(g.larger_graph);
    return status;
}

wfre_status wfre_add(const wfre_graph *graph, const wfre_model *model,
                     const wfre_add_options *options, wfre_pool *pool, const wfre_monitor *monitor,
                     wfre_addition *report, wfre_error *error)
{
    GIVEN(graph);
    GIVEN(model);
    GIVEN(options);
    wfre_import_options format = {.format = options->format, .literals = options->literals};
    wfre_import_report read;
    wfre_addition made;
    wfre_graph *extra = NULL, *larger_graph = NULL;
    wfre_model *larger = NULL;
    wfre_status status;
    TRY(wfre_graph_trust(graph, error));
    TRY(wfre_model_settle(model, error));
    TRY(wfre_model_check_graph(model, graph, error));
    TRY(wfre_probe_output(options->graph, error));
    TRY(wfre_probe_output(options->model, error));
    TRY(wfre_import_graph(&options->triples, 1, &format, monitor, &extra, &read, error));
    TRY(wfre_add_with(graph, model, extra, options->steps, pool, monitor, &larger_graph, &larger,
                      &made, error));
    TRY(wfre_graph_keep(larger_graph, options->graph, error)); /* only now that all went well */
    TRY(wfre_model_keep(larger, options->model, false, error));
    *report = made;
    report->literals = read.literals;
    report->blanks = read.blanks;
cleanup:
    wfre_model_free(larger);
    wfre_graph_close(larger_graph);
    wfre_graph_close(extra);
    return status;
}
