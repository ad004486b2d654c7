/* Questions are answered one after the other, each from its leaves up. The edges at the leaves of
 * all questions are predicted together before that; a projection from a set predicts those of its
 * best entities together. */
#include "infer/way_edges.h"

#include <math.h>
#include <string.h>

#include "base/pool.h"
#include "exact/set.h"
#include "infer/alike.h"
#include "infer/factor_rows.h"
#include "infer/kept_rows.h"
#include "infer/odds.h"
#include "infer/reasoner.h"
#include "query/normal.h"

enum {
    FOLLOWED = 16,      /* entities of a set whose missing edges are predicted ... */
    MOST_FOLLOWED = 64, /* ... more only if they are certain */
    REFINED = 64,       /* targets of a source that are scored exactly */
    TOGETHER = 256,     /* sources that are predicted at a time */
    MOST_NODES = 8192,  /* of a tree */
    CHUNK = 4096,       /* entities a task */
};
static const float CERTAIN = -0.1f;  /* as good as certain, or above */
static const double SMALLEST = 1e-6; /* what is left of a known answer's complement */
static const float SECOND = 0.001f;  /* log; what a second way that is as good as the best adds */

struct wfre_edges {
    wfre_session *session;
    const wfre_vector_table *vectors;
    size_t entities;

    /* Of the call. */
    const wfre_adjacency *known;
    const wfre_missing_counts *room;
    wfre_split split;
    const wfre_kinds *kinds; /* NULL if they do not count */
    const wfre_store *store; /* all entities, packed, if that pays; else NULL */
    wfre_way way;

    /* Scratch. */
    wfre_arena arena; /* of the trees of single edges */
    const wfre_node **trees;
    wfre_source *sources;
    size_t tree_capacity, source_capacity;
    uint32_t *counts; /* of rows at work: as in a prediction */
    wfre_relation *places;
    const float **weights; /* of kinds at the places */
    size_t place_capacity, weight_capacity;
    wfre_hit *refined;
    uint32_t *indexes;    /* [rows, REFINED] pairs that are scored exactly */
    wfre_entity *targets; /* [rows, REFINED] */
    float *exact;         /* [rows, REFINED] */
    float *gains;         /* [rows, REFINED] */
    size_t count_capacity, refined_capacity, index_capacity, target_capacity, exact_capacity,
        gain_capacity;
    wfre_alike **alikes;  /* [threads]; NULL until needed */
    unsigned alike_count; /* threads when they were made */
    wfre_kept_rows *kept; /* scores and histograms of sources; NULL if none are kept */
    float *histograms;    /* [rows, d] of rows at work, where some are kept */
    wfre_source *unmet;   /* of these, those that are not */
    size_t histogram_capacity, unmet_capacity;
    float *questions; /* [rows, 2 k] of rows at work, where factors count */
    float *products;  /* [rows, entities] what factors say, where rows are kept */
    size_t question_capacity, product_capacity;
    float *leaves;  /* [leaves, entities] */
    float *fan;     /* [MOST_FOLLOWED, entities]: edges of a projection at work */
    float *second;  /* [entities]: the second best way of a projection at work */
    float *scratch; /* [threads, 2, entities] */
    float **levels; /* of the tree: the set of a child, [entities] each */
    size_t leaf_capacity, fan_capacity, level_count, level_capacity;
    uint32_t *begin; /* 0, 1, 2, ... */
    size_t begin_capacity;
};

/* ---- which trees -------------------------------------------------------------------------- */

/* *left is how many nodes there may still be; a shared one counts each time it occurs. */
static bool suits(const wfre_node *tree, size_t *left)
{
    bool suitable = tree->op != WFRE_OP_NEGATE && *left > 0, positive = false;
    *left -= *left > 0;
    for (uint32_t i = 0; suitable && i < tree->child_count; i++) {
        const wfre_node *child = tree->children[i];
        bool negated = tree->op == WFRE_OP_INTERSECT && child->op == WFRE_OP_NEGATE;
        suitable = suits(negated ? child->children[0] : child, left);
        positive = positive || !negated;
    }
    return suitable && (positive || tree->op == WFRE_OP_ENTITY);
}

bool wfre_edges_suit(const wfre_node *tree)
{
    size_t left = MOST_NODES;
    return suits(tree, &left);
}

wfre_status wfre_edges_form(wfre_arena *arena, const wfre_node *tree, const wfre_node **form,
                            wfre_error *error)
{
    *form = tree;
    if (wfre_edges_suit(tree))
        return WFRE_OK;
    wfre_status status = wfre_tree_normal(arena, tree, WFRE_FORM_DNF_MULTI, form, error);
    if (status == WFRE_ERR_UNSUPPORTED || (status == WFRE_OK && !wfre_edges_suit(*form))) {
        *form = NULL;
        status = WFRE_OK;
    }
    return status;
}

/* ---- creation ----------------------------------------------------------------------------- */

wfre_status wfre_edges_create(wfre_session *session, wfre_edges **edges, wfre_error *error)
{
    wfre_edges *e = wfre_alloc_zero(1, sizeof *e);
    if (!e)
        return wfre_fail_memory(error, "preparing to predict edges");
    e->session = session;
    e->entities = session->engine->model->entity_count;
    e->vectors = wfre_linalg_vectors(session->linalg);
    e->scratch =
        wfre_alloc_tensor(2 * wfre_pool_threads(session->pool) * e->entities, sizeof(float));
    e->second = wfre_alloc_tensor(e->entities, sizeof(float));
    if (!e->scratch || !e->second) {
        wfre_edges_free(e);
        return wfre_fail_memory(error, "preparing to predict edges");
    }
    *edges = e;
    return WFRE_OK;
}

void wfre_edges_free(wfre_edges *edges)
{
    if (!edges)
        return;
    for (size_t i = 0; i < edges->level_count; i++)
        wfre_free(edges->levels[i]);
    wfre_free(edges->levels);
    for (unsigned i = 0; edges->alikes && i < edges->alike_count; i++)
        wfre_alike_free(edges->alikes[i]);
    wfre_free((void *)edges->alikes);
    wfre_kept_rows_free(edges->kept);
    wfre_free(edges->histograms);
    wfre_free(edges->unmet);
    wfre_free(edges->questions);
    wfre_free(edges->products);
    wfre_free(edges->leaves);
    wfre_free(edges->fan);
    wfre_free(edges->second);
    wfre_free(edges->scratch);
    wfre_free(edges->begin);
    wfre_free(edges->counts);
    wfre_free(edges->places);
    wfre_free((void *)edges->weights);
    wfre_free(edges->refined);
    wfre_free(edges->indexes);
    wfre_free(edges->targets);
    wfre_free(edges->exact);
    wfre_free(edges->gains);
    wfre_free(edges->sources);
    wfre_free((void *)edges->trees);
    wfre_arena_free(&edges->arena);
    wfre_free(edges);
}

/* ---- single edges ------------------------------------------------------------------------- */

typedef struct prediction {
    wfre_edges *edges;
    const wfre_source *sources;
    float *rows;        /* [sources, entities]: scores, then logits, then truth values */
    wfre_hit *refined;  /* [sources, REFINED]: the likeliest of each, with their logits */
    uint32_t *counts;   /* [sources]: how many those are; NULL if all scores are exact */
    const float *exact; /* [sources, REFINED]: their scores */
    float *gains;       /* [sources, REFINED]: what their logits gained beyond the model's */
    const float *const *weights; /* [sources]: of kinds where they lead to */
} prediction;

static wfre_list known_targets(const wfre_edges *e, wfre_source from)
{
    uint32_t group = wfre_find_group(e->known, from.relation, from.entity);
    return group == WFRE_NONE ? (wfre_list){0} : wfre_group_targets(e->known, group);
}

/* What a unit of score is in logits. */
static double unit_of(const wfre_edges *e)
{
    return e->way.edge_sharpness * e->session->engine->model->settings.rho;
}

/* The weight of what factors say in a score. */
static float factor_weight(const wfre_edges *e)
{
    const wfre_model *model = e->session->engine->model;
    return model->factors ? (float)(e->way.edge_factors / model->settings.rho) : 0;
}

/* Adds what targets gain by their room, and by being joined; `joined` is scratch of the same size.
 * A target without a group of edges that lead to it by this relation has no room to speak of. */
static void add_places(const wfre_edges *e, wfre_source from, float *gains, float *joined)
{
    const wfre_adjacency *known = e->known;
    uint32_t first, end = wfre_relation_groups(known, from.relation ^ 1, &first);
    const float *logs = e->room->logs + e->room->begin[from.relation ^ 1];
    float weight = (float)(e->way.edge_sharpness * e->way.edge_room);
    for (uint32_t g = first; g < end; g++)
        gains[known->group_entity[g]] +=
            weight * (logs[known->group_begin[g + 1] - known->group_begin[g]] - logs[0]);
    if (e->way.edge_joined == 0)
        return;
    memset(joined, 0, e->entities * sizeof *joined);
    end = wfre_entity_edges(known, from.entity, &first);
    for (uint32_t i = first; i < end; i++) {
        wfre_edge_group edge = wfre_entity_edge(known, i);
        wfre_list targets = wfre_group_targets(known, edge.group);
        for (size_t t = 0; edge.relation != from.relation && t < targets.count; t++)
            joined[targets.ids[t]] = 1; /* once, however many relations there are */
    }
    e->vectors->axpy(e->entities, (float)e->way.edge_joined, joined, gains);
}

/* What the logits of all targets gain beyond the model's. */
static void find_gains(const prediction *p, size_t index, unsigned worker, float *gains)
{
    const wfre_edges *e = p->edges;
    wfre_source from = p->sources[index];
    memset(gains, 0, e->entities * sizeof *gains);
    add_places(e, from, gains, gains + e->entities);
    gains[from.entity] += e->room->loops[from.relation];
    if (e->kinds && p->weights[index])
        wfre_kinds_add(e->kinds, p->weights[index], from.relation ^ 1, (float)e->way.edge_kinds,
                       gains);
    if (e->way.edge_alike != 0)
        wfre_alike_add(e->alikes[worker], e->known, from.relation, from.entity,
                       (float)(e->way.edge_sharpness * e->way.edge_alike), gains);
}

/* From scores to logits, but for what is the same for all targets; and the likeliest targets
 * that are not known. */
static void weigh_row(void *context, size_t index, unsigned worker)
{
    const prediction *p = context;
    const wfre_edges *e = p->edges;
    wfre_source from = p->sources[index];
    float *row = p->rows + index * e->entities;
    float *gains = e->scratch + 2 * worker * e->entities;
    find_gains(p, index, worker, gains);
    e->vectors->scale(e->entities, (float)unit_of(e), row);
    e->vectors->axpy(e->entities, 1, gains, row);
    if (!p->counts)
        return;
    wfre_best best = {.hits = p->refined + index * REFINED, .top = REFINED};
    wfre_best_offer_all(&best, e->vectors, row, e->entities, known_targets(e, from));
    p->counts[index] = (uint32_t)best.count;
    for (size_t i = 0; i < best.count; i++)
        p->gains[index * REFINED + i] = gains[best.hits[i].entity];
}

/* Puts exact scores in place of estimates. Where all of these turn out higher than estimated, so
 * would the others: only what differs from their mean counts. */
static void correct_row(const prediction *p, size_t index, float *row)
{
    const wfre_edges *e = p->edges;
    const wfre_hit *hits = p->refined + index * REFINED;
    double unit = unit_of(e), mean = 0, change[REFINED];
    uint32_t count = p->counts[index];
    for (uint32_t i = 0; i < count; i++) {
        double estimate = (double)row[hits[i].entity] - (double)p->gains[index * REFINED + i];
        change[i] = unit * (double)p->exact[index * REFINED + i] - estimate;
        mean += change[i] / count;
    }
    for (uint32_t i = 0; i < count; i++)
        row[hits[i].entity] += (float)(change[i] - mean);
}

/* From logits to truth values. */
static void judge_row(void *context, size_t index, unsigned worker)
{
    const prediction *p = context;
    const wfre_edges *e = p->edges;
    wfre_list known = known_targets(e, p->sources[index]);
    float *row = p->rows + index * e->entities, *other = e->scratch + 2 * worker * e->entities;
    if (p->counts)
        correct_row(p, index, row);
    float highest = e->vectors->maximum(e->entities, row);
    memcpy(other, row, e->entities * sizeof *row);
    double sum = e->vectors->exp_shifted(e->entities, highest, other);
    wfre_relation relation = p->sources[index].relation;
    double room = (double)wfre_missing_counts_log(e->room, relation, known.count);
    wfre_odds_line line = wfre_odds_of(e->session->engine->model, e->way.missing_rate, relation,
                                       known.count, room, (double)highest + log(sum));
    wfre_odds_row(e->vectors, e->entities, line, row, other);
    for (size_t i = 0; i < known.count; i++)
        row[known.ids[i]] = 0;
}

/* Likeliest targets at work; `indexes`, `targets` and `exact` are laid out for them. */
typedef struct refining {
    const wfre_edges *edges;
    const float *histograms; /* [rows, d] */
    wfre_status *statuses;   /* by row */
} refining;

/* Scores those of one row with entities that are packed. */
static void refine_row(void *context, size_t row, unsigned worker)
{
    (void)worker;
    const refining *r = context;
    const wfre_edges *e = r->edges;
    size_t d = e->session->engine->model->settings.dim;
    float *scores = e->exact + row * REFINED;
    wfre_rank_job job = {.queries = {r->histograms + row * d, d},
                         .query_count = 1,
                         .selection = e->targets + row * REFINED,
                         .selected = REFINED,
                         .ranking = WFRE_RANK_TRUE,
                         .stride = REFINED};
    r->statuses[row] = wfre_score_rank(wfre_index_score(e->session->engine->index), NULL, e->store,
                                       &job, scores, NULL);
    for (size_t i = 0; i < REFINED; i++)
        scores[i] = -scores[i];
}

static wfre_status refine_packed(const wfre_edges *e, const float *histograms, size_t count,
                                 wfre_error *error)
{
    refining r = {e, histograms, wfre_alloc_zero(count, sizeof *r.statuses)};
    if (!r.statuses)
        return wfre_fail_memory(error, "predicting edges");
    wfre_status status = wfre_pool_try(e->session->pool, count, refine_row, &r, error);
    for (size_t i = 0; status == WFRE_OK && i < count; i++)
        if (r.statuses[i] != WFRE_OK)
            status = wfre_fail_memory(error, "predicting edges");
    wfre_free(r.statuses);
    return status;
}

/* Exact scores lack what factors say. */
static void complete_refined(wfre_edges *e, size_t count)
{
    const wfre_model *model = e->session->engine->model;
    float weight = factor_weight(e);
    size_t width = weight != 0 ? wfre_factors_width(model->factors) : 0;
    for (size_t k = 0; weight != 0 && k < count * REFINED; k++)
        e->exact[k] +=
            weight * wfre_factor_score(model, e->vectors, e->questions + e->indexes[k] * width,
                                       e->targets[k]);
}

/* Scores the likeliest targets of each row exactly. */
static wfre_status refine(wfre_edges *e, const float *histograms, size_t count, const prediction *p,
                          wfre_error *error)
{
    for (size_t i = 0, k = 0; i < count; i++)
        for (size_t t = 0; t < REFINED; t++, k++) { /* what is missing repeats an entity */
            e->indexes[k] = (uint32_t)i;
            e->targets[k] = t < p->counts[i] ? p->refined[k].entity : 0;
        }
    if (e->store)
        return refine_packed(e, histograms, count, error);
    size_t pairs = count * REFINED;
    wfre_search_pairs job = {histograms, e->indexes, e->targets, pairs, NULL, pairs};
    return wfre_search_score_pairs(e->session->searcher, &job, e->exact, error);
}

/* Room for what refining takes. */
static bool reserve_refined(wfre_edges *e, size_t count)
{
    size_t pairs = count * REFINED;
    return WFRE_RESERVE(&e->counts, &e->count_capacity, count) &&
           WFRE_RESERVE(&e->refined, &e->refined_capacity, pairs) &&
           WFRE_RESERVE(&e->indexes, &e->index_capacity, pairs) &&
           WFRE_RESERVE(&e->targets, &e->target_capacity, pairs) &&
           WFRE_RESERVE(&e->exact, &e->exact_capacity, pairs) &&
           WFRE_RESERVE(&e->gains, &e->gain_capacity, pairs);
}

/* The histograms of what the sources lead to. */
static wfre_status embed_sources(wfre_edges *e, const wfre_source *sources, size_t count,
                                 wfre_embedding *embedding, wfre_error *error)
{
    wfre_arena_reset(&e->arena);
    if (!WFRE_RESERVE(&e->trees, &e->tree_capacity, count))
        return wfre_fail_memory(error, "predicting edges");
    for (size_t i = 0; i < count; i++) {
        e->trees[i] = wfre_node_project(&e->arena, sources[i].relation,
                                        wfre_node_entity(&e->arena, sources[i].entity));
        if (!e->trees[i])
            return wfre_fail_memory(error, "predicting edges");
    }
    return wfre_embed(e->session->embedder, e->trees, count, &e->way, embedding, error);
}

/* What kinds weigh where the sources lead to, if they count. */
static wfre_status weigh_kinds(wfre_edges *e, const wfre_source *sources, size_t count,
                               wfre_error *error)
{
    e->kinds = NULL;
    if (e->way.edge_kinds == 0)
        return WFRE_OK;
    if (!WFRE_RESERVE(&e->places, &e->place_capacity, count) ||
        !WFRE_RESERVE(&e->weights, &e->weight_capacity, count))
        return wfre_fail_memory(error, "predicting edges");
    for (size_t i = 0; i < count; i++)
        e->places[i] = sources[i].relation ^ 1;
    return wfre_engine_kinds(e->session->engine, e->split, e->places, count, &e->kinds, e->weights,
                             error);
}

/* Makes ready to look at those that are alike, if they count. */
static wfre_status prepare_alike(wfre_edges *e, wfre_error *error)
{
    unsigned threads = wfre_pool_threads(e->session->pool);
    if (e->way.edge_alike == 0)
        return WFRE_OK;
    if (!e->alikes)
        e->alikes = wfre_alloc_zero(threads, sizeof *e->alikes);
    e->alike_count = threads;
    for (unsigned i = 0; e->alikes && i < threads; i++) {
        if (!e->alikes[i])
            e->alikes[i] = wfre_alike_create(e->entities);
        if (!e->alikes[i])
            return wfre_fail_memory(error, "predicting edges");
    }
    return e->alikes ? WFRE_OK : wfre_fail_memory(error, "predicting edges");
}

/* The sources' questions for factors. */
static wfre_status ask_factors(wfre_edges *e, const wfre_source *sources, size_t count,
                               wfre_error *error)
{
    const wfre_model *model = e->session->engine->model;
    size_t width = wfre_factors_width(model->factors);
    if (!WFRE_RESERVE(&e->questions, &e->question_capacity, count * width))
        return wfre_fail_memory(error, "predicting edges");
    wfre_factor_questions(model, sources, count, e->questions);
    return WFRE_OK;
}

/* Adds to scores what factors say, with a weight. */
static wfre_status add_factors(const wfre_edges *e, size_t count, float weight, float *rows,
                               wfre_error *error)
{
    return wfre_factor_rows(e->session->engine->model, e->vectors, e->session->pool, e->questions,
                            count, weight, rows, error);
}

/* Scores all targets of the sources, without factors; *histograms are what they lead to. */
static wfre_status score_plainly(wfre_edges *e, const wfre_source *sources, size_t count,
                                 bool exact, float *rows, const float **histograms,
                                 wfre_error *error)
{
    wfre_embedding embedding;
    CHECK(embed_sources(e, sources, count, &embedding, error));
    *histograms = embedding.rows;
    return wfre_search_scores(e->session->searcher, embedding.rows, count, exact, rows, error);
}

/* The same, factors included. */
static wfre_status score_sources(wfre_edges *e, const wfre_source *sources, size_t count,
                                 bool exact, float *rows, const float **histograms,
                                 wfre_error *error)
{
    CHECK(score_plainly(e, sources, count, exact, rows, histograms, error));
    if (factor_weight(e) == 0)
        return WFRE_OK;
    CHECK(ask_factors(e, sources, count, error));
    return add_factors(e, count, factor_weight(e), rows, error);
}

static uint64_t key_of(wfre_source from)
{
    return (uint64_t)from.relation << 32 | from.entity;
}

/* Lists the sources that are not kept, each once. */
static size_t list_unmet(wfre_edges *e, const wfre_source *sources, size_t count)
{
    size_t unmet = 0;
    for (size_t i = 0; i < count; i++) {
        bool listed = wfre_kept_rows_find(e->kept, key_of(sources[i])) != NULL;
        for (size_t k = 0; !listed && k < unmet; k++)
            listed = key_of(e->unmet[k]) == key_of(sources[i]);
        if (!listed)
            e->unmet[unmet++] = sources[i];
    }
    return unmet;
}

/* Scores the sources that are not kept, and what factors say of them. */
static wfre_status score_unmet(wfre_edges *e, size_t count, bool exact, float *rows,
                               const float **histograms, wfre_error *error)
{
    size_t numbers = count * e->entities;
    CHECK(score_plainly(e, e->unmet, count, exact, rows, histograms, error));
    if (!e->session->engine->model->factors)
        return WFRE_OK;
    if (!WFRE_RESERVE(&e->products, &e->product_capacity, numbers))
        return wfre_fail_memory(error, "predicting edges");
    memset(e->products, 0, numbers * sizeof *e->products);
    CHECK(ask_factors(e, e->unmet, count, error));
    return add_factors(e, count, 1, e->products, error);
}

/* The same where rows are kept: scores, histogram, and what factors say. Those of this call fit. */
static wfre_status score_kept(wfre_edges *e, const wfre_source *sources, size_t count, bool exact,
                              float *rows, const float **histograms, wfre_error *error)
{
    size_t d = e->session->engine->model->settings.dim, n = e->entities, added = 0;
    bool factors = e->session->engine->model->factors != NULL;
    if (!WFRE_RESERVE(&e->unmet, &e->unmet_capacity, count) ||
        !WFRE_RESERVE(&e->histograms, &e->histogram_capacity, count * d))
        return wfre_fail_memory(error, "predicting edges");
    size_t unmet = list_unmet(e, sources, count);
    if (unmet > 0)
        CHECK(score_unmet(e, unmet, exact, rows, histograms, error));
    while (added < unmet) {
        float *row = wfre_kept_rows_add(e->kept, key_of(e->unmet[added]));
        if (!row) { /* full */
            wfre_kept_rows_forget(e->kept);
            return score_kept(e, sources, count, exact, rows, histograms, error);
        }
        memcpy(row, rows + added * n, n * sizeof *row);
        memcpy(row + n, *histograms + added * d, d * sizeof *row);
        if (factors)
            memcpy(row + n + d, e->products + added * n, n * sizeof *row);
        added++;
    }
    if (factor_weight(e) != 0)
        CHECK(ask_factors(e, sources, count, error));
    for (size_t i = 0; i < count; i++) {
        const float *row = wfre_kept_rows_find(e->kept, key_of(sources[i]));
        memcpy(rows + i * n, row, n * sizeof *row);
        memcpy(e->histograms + i * d, row + n, d * sizeof *row);
        if (factors)
            e->vectors->axpy(n, factor_weight(e), row + n + d, rows + i * n);
    }
    *histograms = e->histograms;
    return WFRE_OK;
}

wfre_status wfre_edges_keep(wfre_session *session, size_t bytes, wfre_error *error)
{
    CHECK(wfre_session_prepare(session, error));
    if (!session->edges)
        CHECK(wfre_edges_create(session, &session->edges, error));
    wfre_edges *e = session->edges;
    wfre_kept_rows_free(e->kept);
    wfre_free(e->products);
    e->kept = NULL;
    e->products = NULL;
    e->product_capacity = 0;
    if (bytes > 0) {
        const wfre_model *model = session->engine->model;
        size_t width = (model->factors ? 2 : 1) * e->entities + model->settings.dim;
        e->kept = wfre_kept_rows_create(width, bytes);
        if (!e->kept)
            return wfre_fail_memory(error, "predicting edges");
    }
    return WFRE_OK;
}

static wfre_status predict_together(wfre_edges *e, const wfre_source *sources, size_t count,
                                    float *rows, wfre_error *error)
{
    const float *histograms;
    bool exact = e->way.exhaustive || !wfre_search_estimates(e->session->searcher);
    bool kept = e->kept && count <= wfre_kept_rows_most(e->kept);
    if (!exact && !reserve_refined(e, count))
        return wfre_fail_memory(error, "predicting edges");
    CHECK((kept ? score_kept : score_sources)(e, sources, count, exact, rows, &histograms, error));
    CHECK(weigh_kinds(e, sources, count, error));
    CHECK(prepare_alike(e, error));
    prediction p = {e,        sources,  rows,      e->refined, exact ? NULL : e->counts,
                    e->exact, e->gains, e->weights};
    CHECK(wfre_pool_try(e->session->pool, count, weigh_row, &p, error));
    if (!exact) {
        CHECK(refine(e, histograms, count, &p, error));
        complete_refined(e, count);
    }
    return wfre_pool_try(e->session->pool, count, judge_row, &p, error);
}

/* rows[i, y]: the truth value of the edge from sources[i] to y. */
static wfre_status predict(wfre_edges *e, const wfre_source *sources, size_t count, float *rows,
                           wfre_error *error)
{
    size_t most =
        wfre_session_rows(e->session) < TOGETHER ? wfre_session_rows(e->session) : TOGETHER;
    for (size_t first = 0, part; first < count; first += part) {
        part = count - first < most ? count - first : most;
        CHECK(predict_together(e, sources + first, part, rows + first * e->entities, error));
    }
    return WFRE_OK;
}

/* ---- projections from sets ---------------------------------------------------------------- */

typedef struct fanning {
    const wfre_edges *edges;
    const wfre_hit *from; /* sources of the rows of the fan */
    size_t count;
    float *out;
} fanning;

/* Keeps the best two of the ways to an entity. */
static inline void take_way(float way, float *best, float *second)
{
    *second = wfre_larger(*second, wfre_smaller(*best, way));
    *best = wfre_larger(*best, way);
}

/* The best ways to each of some entities, those found so far included. */
static void join_ways(void *context, size_t chunk, unsigned worker)
{
    (void)worker;
    const fanning *f = context;
    size_t entities = f->edges->entities, end = (chunk + 1) * CHUNK;
    end = end < entities ? end : entities;
    for (size_t i = 0; i < f->count; i++) {
        const float *edge = f->edges->fan + i * entities;
        float set = f->from[i].score;
        for (size_t y = chunk * CHUNK; y < end; y++)
            take_way(set + edge[y], &f->out[y], &f->edges->second[y]);
    }
}

/* Known edges are followed from all entities, however unlikely; those from the `count` entities
 * whose edges were predicted have been counted. */
static void follow_known(const wfre_edges *e, wfre_relation relation, const float *set,
                         const wfre_hit *counted, size_t count, float *out)
{
    const wfre_adjacency *known = e->known;
    uint32_t first, end = wfre_relation_groups(known, relation, &first);
    for (uint32_t g = first; g < end; g++) {
        wfre_entity from = known->group_entity[g];
        bool again = false;
        for (size_t i = 0; i < count && set[from] >= counted[count - 1].score; i++)
            again = again || counted[i].entity == from;
        wfre_list targets = wfre_group_targets(known, g);
        for (size_t i = 0; !again && i < targets.count; i++)
            take_way(set[from], &out[targets.ids[i]], &e->second[targets.ids[i]]);
    }
}

/* All that an entity leads to by known edges is as likely as itself; a second way tells such
 * answers apart. It is a hint only: certain stays certain, and nothing else becomes so. */
static void add_second(const wfre_edges *e, float *out)
{
    float *second = e->second;
    for (size_t y = 0; y < e->entities; y++)
        second[y] = wfre_larger(second[y] - out[y], WFRE_NOTHING);
    e->vectors->exp(e->entities, second, second);
    for (size_t y = 0; y < e->entities; y++)
        out[y] = wfre_smaller(out[y] + SECOND * second[y], out[y] / 2);
}

/* The best entities of a set; returns how many. */
static size_t choose_followed(const wfre_edges *e, const float *set, wfre_hit *hits)
{
    wfre_best best = {.hits = hits, .top = MOST_FOLLOWED};
    wfre_best_offer_all(&best, e->vectors, set, e->entities, (wfre_list){0});
    wfre_best_settle(&best);
    size_t count = 0;
    while (count < best.count && hits[count].score > WFRE_NOTHING &&
           (count < FOLLOWED || hits[count].score >= CERTAIN))
        count++;
    return count;
}

static wfre_status project(wfre_edges *e, wfre_relation relation, const float *set, float *out,
                           wfre_error *error)
{
    wfre_hit from[MOST_FOLLOWED];
    wfre_source sources[MOST_FOLLOWED];
    size_t count = choose_followed(e, set, from), most = wfre_session_rows(e->session);
    for (size_t i = 0; i < count; i++)
        sources[i] = (wfre_source){relation, from[i].entity};
    for (size_t y = 0; y < e->entities; y++)
        out[y] = e->second[y] = WFRE_NOTHING;
    for (size_t first = 0, part; first < count; first += part) {
        part = count - first < most ? count - first : most;
        if (!WFRE_RESERVE(&e->fan, &e->fan_capacity, part * e->entities))
            return wfre_fail_memory(error, "predicting edges");
        CHECK(predict(e, sources + first, part, e->fan, error));
        fanning f = {e, from + first, part, out};
        size_t chunks = (e->entities + CHUNK - 1) / CHUNK;
        CHECK(wfre_pool_try(e->session->pool, chunks, join_ways, &f, error));
    }
    follow_known(e, relation, set, from, count, out);
    add_second(e, out);
    return WFRE_OK;
}

/* ---- trees -------------------------------------------------------------------------------- */

/* One tree at work; its leaves are taken in the order in which they are met. */
typedef struct walk {
    wfre_edges *edges;
    const float *leaves; /* [leaves, entities], or NULL: predict them one by one */
    wfre_error *error;
} walk;

/* Room for a child's set at this depth of the tree; NULL when out of memory. */
static float *level_at(wfre_edges *e, size_t depth)
{
    if (!WFRE_RESERVE(&e->levels, &e->level_capacity, depth + 1))
        return NULL;
    while (e->level_count <= depth) {
        float *level = wfre_alloc_tensor(e->entities, sizeof *level);
        if (!level)
            return NULL;
        e->levels[e->level_count++] = level;
    }
    return e->levels[depth];
}

static wfre_status take_leaf(walk *w, const wfre_node *node, float *out)
{
    wfre_source from = {node->id, node->children[0]->id};
    if (!w->leaves)
        return predict(w->edges, &from, 1, out, w->error);
    memcpy(out, w->leaves, w->edges->entities * sizeof *out);
    w->leaves += w->edges->entities;
    return WFRE_OK;
}

/* The set becomes log(1 - e^set). */
static void complement(const wfre_edges *e, float *set)
{
    e->vectors->exp(e->entities, set, set);
    for (size_t y = 0; y < e->entities; y++)
        set[y] = wfre_larger(1 - set[y], (float)SMALLEST);
    e->vectors->log(e->entities, set, set);
}

static wfre_status evaluate(walk *w, const wfre_node *node, size_t depth, float *out);

/* Adds, or takes the best of, the sets of all children. */
static wfre_status combine(walk *w, const wfre_node *node, size_t depth, float *out)
{
    wfre_edges *e = w->edges;
    bool all = node->op == WFRE_OP_INTERSECT;
    float *set = level_at(e, depth);
    if (!set)
        return wfre_fail_memory(w->error, "predicting edges");
    for (size_t y = 0; y < e->entities; y++)
        out[y] = all ? 0 : WFRE_NOTHING;
    for (uint32_t i = 0; i < node->child_count; i++) {
        const wfre_node *child = node->children[i];
        bool negated = child->op == WFRE_OP_NEGATE;
        wfre_status status = evaluate(w, negated ? child->children[0] : child, depth + 1, set);
        if (status != WFRE_OK)
            return status;
        if (negated)
            complement(e, set);
        for (size_t y = 0; y < e->entities; y++)
            out[y] = all ? out[y] + set[y] : wfre_larger(out[y], set[y]);
    }
    for (size_t y = 0; y < e->entities; y++)
        out[y] = wfre_larger(out[y], WFRE_NOTHING);
    return WFRE_OK;
}

static wfre_status evaluate(walk *w, const wfre_node *node, size_t depth, float *out)
{
    wfre_edges *e = w->edges;
    if (wfre_node_is_edge(node))
        return take_leaf(w, node, out);
    if (node->op == WFRE_OP_ENTITY) {
        for (size_t y = 0; y < e->entities; y++)
            out[y] = y == node->id ? 0 : WFRE_NOTHING;
        return WFRE_OK;
    }
    if (node->op != WFRE_OP_PROJECT)
        return combine(w, node, depth, out);
    float *set = level_at(e, depth);
    if (!set)
        return wfre_fail_memory(w->error, "predicting edges");
    wfre_status status = evaluate(w, node->children[0], depth + 1, set);
    return status == WFRE_OK ? project(e, node->id, set, out, w->error) : status;
}

/* Notes the sources of a tree's leaves, in the order in which they are met. */
static wfre_status collect_leaves(wfre_edges *e, const wfre_node *node, size_t *count)
{
    if (wfre_node_is_edge(node)) {
        if (!WFRE_RESERVE(&e->sources, &e->source_capacity, *count + 1))
            return WFRE_ERR_MEMORY;
        e->sources[(*count)++] = (wfre_source){node->id, node->children[0]->id};
        return WFRE_OK;
    }
    for (uint32_t i = 0; i < node->child_count; i++)
        if (collect_leaves(e, node->children[i], count) != WFRE_OK)
            return WFRE_ERR_MEMORY;
    return WFRE_OK;
}

/* Collects the leaves of trees from the first on, as long as they fit together; returns how many
 * trees that are, at least one. */
static wfre_status collect_part(wfre_edges *e, const wfre_node *const *trees, size_t count,
                                size_t *part, size_t *leaves, wfre_error *error)
{
    size_t most = wfre_session_rows(e->session), found = 0;
    *leaves = 0;
    for (*part = 0; *part < count; ++*part) {
        if (collect_leaves(e, trees[*part], &found) != WFRE_OK)
            return wfre_fail_memory(error, "predicting edges");
        if (*part > 0 && found > most)
            break;
        *leaves = found;
    }
    return WFRE_OK;
}

wfre_status wfre_edges_answer(wfre_edges *edges, wfre_split split, const wfre_way *way,
                              const wfre_node *const *trees, size_t count, float *truth,
                              wfre_error *error)
{
    size_t entities = edges->entities;
    edges->known = wfre_graph_adjacency(edges->session->engine->graph, split);
    edges->split = split;
    edges->way = *way;
    CHECK(wfre_engine_missing(edges->session->engine, split, &edges->room, error));
    for (size_t first = 0, part, leaves; first < count; first += part) {
        CHECK(collect_part(edges, trees + first, count - first, &part, &leaves, error));
        walk w = {edges, NULL, error};
        if (leaves <= wfre_session_rows(edges->session)) {
            if (!WFRE_RESERVE(&edges->leaves, &edges->leaf_capacity, leaves * entities))
                return wfre_fail_memory(error, "predicting edges");
            CHECK(predict(edges, edges->sources, leaves, edges->leaves, error));
            w.leaves = edges->leaves;
        }
        for (size_t q = first; q < first + part; q++)
            CHECK(evaluate(&w, trees[q], 0, truth + q * entities));
    }
    return WFRE_OK;
}

/* ---- as a reasoner ------------------------------------------------------------------------ */

/* Scores are logarithms of truth values, and pass for logits. */
static double logit(const wfre_model *model, float score)
{
    (void)model;
    return (double)score;
}

/* begin[i] = i */
static wfre_status one_row_each(wfre_edges *e, size_t count, wfre_error *error)
{
    if (!WFRE_RESERVE(&e->begin, &e->begin_capacity, count + 1))
        return wfre_fail_memory(error, "predicting edges");
    for (size_t i = 0; i <= count; i++)
        e->begin[i] = (uint32_t)i;
    return WFRE_OK;
}

static wfre_status score(wfre_session *s, const wfre_inference *questions, const uint32_t *numbers,
                         wfre_scores_use *use, void *context, wfre_error *error)
{
    size_t most = wfre_session_rows(s);
    CHECK(wfre_session_prepare(s, error));
    if (!s->edges)
        CHECK(wfre_edges_create(s, &s->edges, error));
    s->edges->store = NULL;
    if (questions->purpose == WFRE_FOR_STANDINGS) { /* of many questions, so that packing pays */
        const wfre_index_ranks *ranks;
        CHECK(wfre_session_ranks(s, false, &ranks, error));
        s->edges->store = ranks->store;
    }
    for (size_t first = 0, part; first < questions->count; first += part) {
        part = questions->count - first < most ? questions->count - first : most;
        CHECK(one_row_each(s->edges, part, error));
        wfre_scores scores = {.session = s,
                              .reasoner = &wfre_by_edges,
                              .count = part,
                              .begin = s->edges->begin,
                              .table = wfre_session_table(s, part)};
        if (!scores.table)
            return wfre_fail_memory(error, "predicting");
        CHECK(wfre_edges_answer(s->edges, questions->split, &questions->way,
                                questions->trees + first, part, scores.table, error));
        CHECK(use(context, &scores, numbers + first, error));
    }
    return WFRE_OK;
}

const wfre_reasoner wfre_by_edges = {"edges", wfre_edges_form, score, logit};
