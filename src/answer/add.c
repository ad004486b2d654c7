/* Entities that came after training.
 *
 * A triple (e, r, t) of a new entity e says that e answers the question r^-1 from t, whose
 * histogram q the model knows. Drawing e towards all its questions would make it near to
 * everything: instead it is to stand as near to q as an entity a that is known to answer it, and
 * farther than a from questions that it does not answer:
 *
 *            mean over its questions     softplus(rho (D(e, q) - D(a, q)))
 *   + weight mean over other questions   softplus(rho (D(a, q) - D(e, q)))
 *
 * by descent on e with everything else left as it is. It starts as the old entity that answers most
 * of the same questions, and the weight rises and falls so that it intrudes on other questions
 * little more than that one did: an entity with many triples needs a strong push, one with few
 * would be driven off by it. Neighbours that are new themselves have no histogram and are left out;
 * an entity with no other neighbours gets the mean of all entities. */
#include <math.h>
#include <string.h>

#include "answer/answer.h"
#include "base/clock.h"
#include "base/rng.h"
#include "graph/graph.h"
#include "model/calibration.h"
#include "model/embed.h"

enum { OWN = 64, OTHERS = 256, BATCH = OWN + OTHERS };
static const double FIRST_PUSH = 1, LEAST_PUSH = 0.1, MOST_PUSH = 32, PUSH_RATE = 0.5;
static const double SLACK = 1.5; /* how much more it may intrude than the one it starts as */
static const double RATE = 0.05, BETA1 = 0.8, BETA2 = 0.95;

/* ---- the larger graph ---------------------------------------------------------------------------
 */

/* Names, labels and triples of the old graph, under the same ids. */
static wfre_status copy_graph(wfre_graph_builder *builder, const wfre_graph *graph,
                              wfre_error *error)
{
    wfre_status status = WFRE_OK;
    uint32_t id;
    for (wfre_entity e = 0; e < wfre_graph_entities(graph); e++) {
        wfre_name name = wfre_graph_entity_name(graph, e);
        wfre_name label = wfre_graph_entity_label(graph, e);
        wfre_name about = wfre_graph_entity_description(graph, e);
        TRY(wfre_graph_builder_entity(builder, name.bytes, name.length, &id, error));
        if (label.bytes != name.bytes)
            TRY(wfre_graph_builder_label(builder, e, label.bytes, label.length, error));
        if (about.length > 0)
            TRY(wfre_graph_builder_describe(builder, e, about.bytes, about.length, error));
    }
    for (wfre_relation r = 0; r < wfre_graph_relations(graph); r += 2) {
        wfre_name name = wfre_graph_relation_name(graph, r);
        wfre_name label = wfre_graph_relation_label(graph, r);
        TRY(wfre_graph_builder_relation(builder, name.bytes, name.length, &id, error));
        if (label.bytes != name.bytes)
            TRY(wfre_graph_builder_relation_label(builder, r, label.bytes, label.length, error));
        /* A triple counts for the first split that has it, so later splits may repeat it. */
        for (int split = 0; split < WFRE_SPLITS; split++) {
            wfre_list heads = wfre_graph_sources(graph, (wfre_split)split, r);
            for (size_t h = 0; h < heads.count; h++) {
                wfre_list tails = wfre_graph_targets(graph, (wfre_split)split, r, heads.ids[h]);
                for (size_t t = 0; t < tails.count; t++)
                    TRY(wfre_graph_builder_triple(builder, (wfre_split)split, heads.ids[h], r,
                                                  tails.ids[t], error));
            }
        }
    }
cleanup:
    return status;
}

/* The id of an entity of the new triples, with its label and description if it is new. */
static wfre_status add_entity(wfre_graph_builder *builder, const wfre_graph *graph,
                              const wfre_graph *extra, wfre_entity entity, wfre_entity *id,
                              wfre_error *error)
{
    wfre_status status;
    wfre_name name = wfre_graph_entity_name(extra, entity);
    wfre_name label = wfre_graph_entity_label(extra, entity);
    wfre_name about = wfre_graph_entity_description(extra, entity);
    TRY(wfre_graph_builder_entity(builder, name.bytes, name.length, id, error));
    if (*id < wfre_graph_entities(graph))
        goto cleanup;
    if (label.bytes != name.bytes)
        TRY(wfre_graph_builder_label(builder, *id, label.bytes, label.length, error));
    if (about.length > 0)
        TRY(wfre_graph_builder_describe(builder, *id, about.bytes, about.length, error));
cleanup:
    return status;
}

/* The new triples, all known from now on. Relations must be those the model has learned. */
static wfre_status add_triples(wfre_graph_builder *builder, const wfre_graph *graph,
                               const wfre_graph *extra, wfre_error *error)
{
    wfre_status status = WFRE_OK;
    for (wfre_relation r = 0; r < wfre_graph_relations(extra); r += 2) {
        wfre_name name = wfre_graph_relation_name(extra, r);
        wfre_relation known = wfre_graph_find_relation(graph, name.bytes, name.length);
        if (known == WFRE_NONE)
            return wfre_fail(error, WFRE_ERR_NOT_FOUND, WFRE_NO_OFFSET,
                             "the model has learned no relation %.*s; only entities can be added, "
                             "new relations need training",
                             (int)name.length, name.bytes);
        wfre_list heads = wfre_graph_sources(extra, WFRE_TEST, r);
        for (size_t h = 0; h < heads.count; h++) {
            wfre_list tails = wfre_graph_targets(extra, WFRE_TEST, r, heads.ids[h]);
            wfre_entity from, to;
            TRY(add_entity(builder, graph, extra, heads.ids[h], &from, error));
            for (size_t t = 0; t < tails.count; t++) {
                TRY(add_entity(builder, graph, extra, tails.ids[t], &to, error));
                TRY(wfre_graph_builder_triple(builder, WFRE_TRAIN, from, known, to, error));
            }
        }
    }
cleanup:
    return status;
}

static wfre_status build(const wfre_graph *graph, const wfre_graph *extra,
                         wfre_graph_builder **result, wfre_error *error)
{
    wfre_graph_builder *builder = NULL;
    wfre_status status;
    TRY(wfre_graph_builder_create(&builder, error));
    TRY(copy_graph(builder, graph, error));
    TRY(add_triples(builder, graph, extra, error));
    *result = builder;
    builder = NULL;
cleanup:
    wfre_graph_builder_free(builder);
    return status;
}

/* ---- the larger model ---------------------------------------------------------------------------
 */

static wfre_status copy_calibration(const wfre_model *from, wfre_model *to, wfre_error *error)
{
    wfre_text text = {0};
    wfre_status status = WFRE_OK;
    if (!from->calibration)
        return WFRE_OK;
    wfre_calibration_print(from->calibration, &text);
    TRY(wfre_text_status(&text, "adding entities", error));
    TRY(wfre_calibration_parse(text.data, &to->calibration, error));
cleanup:
    wfre_text_free(&text);
    return status;
}

/* The same model with room for more entities, which start as the mean of all. */
static wfre_status enlarge(const wfre_model *model, const wfre_graph *graph, wfre_model **result,
                           wfre_error *error)
{
    wfre_model *larger = NULL;
    wfre_status status;
    size_t d = model->settings.dim, old = model->entity_count, all = wfre_graph_entities(graph);
    TRY(wfre_model_allocate(&model->settings, (uint32_t)all, model->relation_count,
                            wfre_graph_fingerprint(graph), &larger, error));
    for (uint32_t t = 1; t < model->tensor_count; t++)
        memcpy(larger->tensors[t].data, model->tensors[t].data,
               model->tensors[t].count * sizeof(float));
    memcpy(larger->entities, model->entities, old * d * sizeof(float));
    for (size_t i = 0; i < d && all > old; i++) {
        double sum = 0;
        for (size_t e = 0; e < old; e++)
            sum += (double)fminf(fmaxf(model->entities[e * d + i], 0), 1);
        for (size_t e = old; e < all; e++)
            larger->entities[e * d + i] = (float)(sum / (double)old);
    }
    TRY(copy_calibration(model, larger, error));
    *result = larger;
    larger = NULL;
cleanup:
    wfre_model_free(larger);
    return status;
}

/* ---- fitting ------------------------------------------------------------------------------------
 */

/* A question and an old entity that answers it. */
typedef struct question {
    const wfre_node *tree;
    wfre_entity answer; /* WFRE_NONE: no old one */
} question;

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
    question *questions; /* [BATCH]: its own, then others */
    size_t own, count;
    const wfre_node **trees; /* [BATCH] */
    float *references;       /* [BATCH]: distances of the known answers */
    float *distances;        /* [BATCH] */
    float *rows;             /* [BATCH, d]: answers, then gradients */
    uint32_t *same;          /* [BATCH] zeros: one left row for all pairs */
    double *moments;         /* [3, d]: the gradient, its mean and its mean square */
    double push;             /* weight of the questions that it does not answer */
    double level;            /* how much it may intrude on them */
} fitting;

/* Appends the question along `relation` from an entity. */
static wfre_status add_question(fitting *f, wfre_arena *arena, wfre_relation relation,
                                wfre_entity from, wfre_entity answer, wfre_error *error)
{
    const wfre_node *tree = wfre_node_project(arena, relation, wfre_node_entity(arena, from));
    if (!tree)
        return wfre_fail_memory(error, "adding entities");
    f->questions[f->count++] = (question){tree, answer};
    return WFRE_OK;
}

/* The questions that the entity answers, from neighbours the model knows. */
static wfre_status list_own(fitting *f, wfre_arena *arena, wfre_entity entity, wfre_error *error)
{
    wfre_status status = WFRE_OK;
    f->count = 0;
    for (wfre_relation r = 0; r < wfre_graph_relations(f->graph); r++) {
        wfre_list near = wfre_graph_targets(f->graph, WFRE_TRAIN, r, entity);
        for (size_t i = 0; i < near.count && f->count < OWN; i++) {
            if (near.ids[i] >= f->old)
                continue;
            wfre_list answers = wfre_graph_targets(f->graph, WFRE_TRAIN, r ^ 1, near.ids[i]);
            wfre_entity known = answers.ids[0] < f->old ? answers.ids[0] : WFRE_NONE;
            TRY(add_question(f, arena, r ^ 1, near.ids[i], known, error));
        }
    }
    f->own = f->count;
cleanup:
    return status;
}

/* A random edge: `answer` answers the question along `relation` from `from`. */
static bool draw_edge(const fitting *f, wfre_rng *rng, wfre_relation wanted,
                      wfre_relation *relation, wfre_entity *from, wfre_entity *answer)
{
    const wfre_adjacency *edges = wfre_graph_adjacency(f->graph, WFRE_TRAIN);
    uint32_t group;
    if (wanted != WFRE_NONE) {
        uint32_t begin = edges->relation_groups[wanted], end = edges->relation_groups[wanted + 1];
        if (begin == end)
            return false;
        group = begin + wfre_rng_below(rng, end - begin);
        *from = edges->group_entity[group];
        *relation = wanted;
    } else {
        *from = wfre_rng_below(rng, f->old);
        uint64_t begin = edges->entity_begin[*from], end = edges->entity_begin[*from + 1];
        if (begin == end)
            return false;
        wfre_edge_group drawn =
            edges->entity_edges[begin + wfre_rng_below(rng, (uint32_t)(end - begin))];
        group = drawn.group;
        *relation = drawn.relation;
    }
    wfre_list answers = wfre_group_targets(edges, group);
    *answer = answers.ids[wfre_rng_below(rng, (uint32_t)answers.count)];
    return *from < f->old && *answer < f->old;
}

/* Questions that old entities answer and this one does not, half of them along the relations of its
 * own: those are the ones it is likeliest to be mistaken for an answer of. */
static wfre_status list_others(fitting *f, wfre_arena *arena, wfre_entity entity, wfre_error *error)
{
    wfre_rng rng = wfre_rng_keyed(0, 6, entity);
    wfre_status status = WFRE_OK;
    for (uint32_t i = 0; i < 4 * OTHERS && f->count < f->own + OTHERS; i++) {
        wfre_relation relation, wanted = WFRE_NONE;
        wfre_entity from, answer;
        if (i % 2 == 0)
            wanted = f->questions[wfre_rng_below(&rng, (uint32_t)f->own)].tree->id;
        if (draw_edge(f, &rng, wanted, &relation, &from, &answer) &&
            !wfre_graph_has(f->graph, WFRE_TRAIN, from, relation, entity))
            TRY(add_question(f, arena, relation, from, answer, error));
    }
cleanup:
    return status;
}

/* The old entity that answers most of its questions: where it starts. */
static wfre_status most_alike(const fitting *f, wfre_entity *alike, wfre_error *error)
{
    uint32_t *shared = wfre_alloc_zero(f->old, sizeof *shared);
    if (!shared)
        return wfre_fail_memory(error, "adding entities");
    *alike = 0;
    for (size_t k = 0; k < f->own; k++) {
        const wfre_node *tree = f->questions[k].tree;
        wfre_list answers =
            wfre_graph_targets(f->graph, WFRE_TRAIN, tree->id, tree->children[0]->id);
        for (size_t i = 0; i < answers.count && answers.ids[i] < f->old; i++)
            if (++shared[answers.ids[i]] > shared[*alike])
                *alike = answers.ids[i];
    }
    wfre_free(shared);
    return WFRE_OK;
}

/* How far the known answers are from their questions. */
static wfre_status find_references(fitting *f, const wfre_embedding *embedding, wfre_error *error)
{
    size_t d = f->model->settings.dim;
    for (size_t k = 0; k < f->count; k++) {
        wfre_entity answer = f->questions[k].answer == WFRE_NONE ? 0 : f->questions[k].answer;
        f->vectors->clamp01(d, f->model->entities + (size_t)answer * d, f->rows + k * d);
    }
    wfre_pairs pairs = {{f->rows, d}, {embedding->rows, d}, NULL, NULL, f->count};
    return wfre_score_pairs(f->score, f->pool, &pairs, f->references, NULL, error);
}

/* How much nearer than its known answer the entity is to question k, from 0 to 1. */
static double nearness(const fitting *f, size_t k)
{
    double gap = (double)f->distances[k] - (double)f->references[k];
    return 1 / (1 + exp(f->model->settings.rho * gap));
}

/* The derivative of the loss with respect to rho times the distance from question k. */
static double weight(const fitting *f, size_t k)
{
    if (k >= f->own)
        return -f->push * nearness(f, k) / (double)(f->count - f->own);
    return (f->questions[k].answer == WFRE_NONE ? 0.5 : 1 - nearness(f, k)) / (double)f->own;
}

/* How much the entity intrudes on questions that it does not answer, leaving out those that
 * `answering` does. */
static double intrusion(const fitting *f, wfre_entity answering)
{
    double sum = 0, count = 0;
    for (size_t k = f->own; k < f->count; k++) {
        const wfre_node *tree = f->questions[k].tree;
        if (answering != WFRE_NONE &&
            wfre_graph_has(f->graph, WFRE_TRAIN, tree->children[0]->id, tree->id, answering))
            continue;
        sum += nearness(f, k);
        count++;
    }
    return count > 0 ? sum / count : 0;
}

/* Corrects the weight of other questions; `alike` is where the entity started. */
static void balance(fitting *f, wfre_entity alike, uint32_t step)
{
    if (step == 1) {
        f->push = FIRST_PUSH;
        f->level = fmax(SLACK * intrusion(f, alike), 1e-3);
    }
    double excess = fmin(intrusion(f, WFRE_NONE) / f->level - 1, 2);
    f->push = fmin(fmax(f->push * exp(PUSH_RATE * excess), LEAST_PUSH), MOST_PUSH);
}

/* One step of Adam. */
static wfre_status descend(fitting *f, const wfre_embedding *embedding, wfre_entity alike,
                           float *row, uint32_t step, wfre_error *error)
{
    size_t d = f->model->settings.dim;
    double *slope = f->moments, *mean = slope + d, *square = mean + d;
    wfre_pairs pairs = {{row, d}, {embedding->rows, d}, f->same, NULL, f->count};
    wfre_gradients gradients = {f->rows, NULL, d};
    wfre_status status =
        wfre_score_pairs(f->score, f->pool, &pairs, f->distances, &gradients, error);
    if (status != WFRE_OK)
        return status;
    balance(f, alike, step);
    memset(slope, 0, d * sizeof *slope);
    for (size_t k = 0; k < f->count; k++) {
        double factor = weight(f, k);
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
    TRY(list_others(f, &arena, entity, error));
    for (size_t k = 0; k < f->count; k++)
        f->trees[k] = f->questions[k].tree;
    TRY(wfre_embed(f->embedder, f->trees, f->count, f->model->settings.unions, &embedding, error));
    TRY(find_references(f, &embedding, error));
    TRY(most_alike(f, &alike, error));
    f->vectors->clamp01(d, f->model->entities + (size_t)alike * d, row);
    memset(f->moments, 0, 3 * d * sizeof *f->moments);
    for (uint32_t step = 1; step <= f->steps; step++)
        TRY(descend(f, &embedding, alike, row, step, error));
cleanup:
    wfre_arena_free(&arena);
    return status;
}

static wfre_status fit_all(wfre_model *model, uint32_t old, const wfre_graph *graph, uint32_t steps,
                           wfre_pool *pool, const wfre_monitor *monitor, wfre_error *error)
{
    wfre_status status;
    wfre_arena arena = {0};
    wfre_linalg *linalg = NULL;
    wfre_score *score = NULL;
    wfre_isa isa;
    size_t d = model->settings.dim;
    fitting f = {.model = model, .graph = graph, .old = old, .steps = steps, .pool = pool};
    f.trees = wfre_arena_alloc(&arena, BATCH, sizeof *f.trees);
    f.distances = wfre_arena_alloc(&arena, BATCH, sizeof *f.distances);
    f.questions = wfre_arena_alloc(&arena, BATCH, sizeof *f.questions);
    f.references = wfre_arena_alloc(&arena, BATCH, sizeof *f.references);
    f.rows = wfre_arena_alloc(&arena, BATCH * d, sizeof *f.rows);
    f.same = wfre_arena_alloc(&arena, BATCH, sizeof *f.same);
    f.moments = wfre_arena_alloc(&arena, 3 * d, sizeof *f.moments);
    if (!f.trees || !f.distances || !f.questions || !f.references || !f.rows || !f.same ||
        !f.moments) {
        status = wfre_fail_memory(error, "adding entities");
        goto cleanup;
    }
    memset(f.same, 0, BATCH * sizeof *f.same);
    TRY(wfre_isa_select(&isa, error));
    TRY(wfre_linalg_create(pool, isa, &linalg, error));
    f.vectors = wfre_linalg_vectors(linalg);
    TRY(wfre_score_create(&model->settings.score, &score, error));
    TRY(wfre_embedder_create(model, pool, linalg, &f.embedder, error));
    f.score = score;
    for (wfre_entity e = old; e < model->entity_count; e++) {
        TRY(fit_entity(&f, e, error));
        TRY(wfre_check_interrupt(monitor, error));
        wfre_report(monitor, "adding", e + 1 - old, model->entity_count - old, NULL);
    }
cleanup:
    wfre_embedder_free(f.embedder);
    wfre_score_free(score);
    wfre_linalg_free(linalg);
    wfre_arena_free(&arena);
    return status;
}

/* ---- the whole ----------------------------------------------------------------------------------
 */

void wfre_add_options_default(wfre_add_options *options)
{
    *options = (wfre_add_options){.steps = 40};
}

wfre_status wfre_add(const wfre_graph *graph, const wfre_model *model,
                     const wfre_add_options *options, wfre_pool *pool, const wfre_monitor *monitor,
                     wfre_addition *report, wfre_error *error)
{
    wfre_import_options format = {0};
    wfre_graph *extra = NULL, *larger_graph = NULL;
    wfre_graph_builder *builder = NULL;
    wfre_model *larger = NULL;
    wfre_status status;
    TRY(wfre_model_check_graph(model, graph, error));
    TRY(wfre_import_graph(&options->triples, 1, &format, &extra, monitor, error));
    TRY(build(graph, extra, &builder, error));
    TRY(wfre_graph_builder_finish(builder, &larger_graph, error));
    wfre_graph_builder_free(builder);
    builder = NULL;
    TRY(enlarge(model, larger_graph, &larger, error));
    double start = wfre_clock();
    TRY(fit_all(larger, model->entity_count, larger_graph, options->steps, pool, monitor, error));
    double seconds = wfre_clock() - start;
    /* Only now that all went well are files replaced; a finished builder has nothing left to write.
     */
    TRY(build(graph, extra, &builder, error));
    TRY(wfre_graph_builder_write(builder, options->graph, monitor, error));
    TRY(wfre_model_save(larger, options->model, false, error));
    *report = (wfre_addition){
        .entities = larger->entity_count - model->entity_count,
        .triples =
            wfre_graph_triples(larger_graph, WFRE_TEST) - wfre_graph_triples(graph, WFRE_TEST),
        .seconds = seconds,
    };
cleanup:
    wfre_graph_builder_free(builder);
    wfre_model_free(larger);
    wfre_graph_close(larger_graph);
    wfre_graph_close(extra);
    return status;
}
