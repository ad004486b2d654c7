/* Questions are answered one after the other, each from its leaves up. The edges at the leaves of
 * all questions are predicted together before that; a projection from a set predicts those of its
 * best entities together. */
#include "infer/way_edges.h"

#include <math.h>
#include <string.h>

#include "base/pool.h"
#include "exact/set.h"
#include "infer/alike.h"
#include "infer/kept_rows.h"
#include "infer/probability.h"
#include "query/normal.h"

enum {
    FOLLOWED = 16,      /* entities of a set whose missing edges are predicted ... */
    MOST_FOLLOWED = 64, /* ... more only if they are certain */
    REFINED = 64,       /* targets of a source that are scored exactly */
    TOGETHER = 256,     /* sources that are predicted at a time */
    MOST_NODES = 8192,  /* of a tree */
    CHUNK = 4096,       /* entities a task */
    TILE = 16           /* numbers that the compiler makes vectors of */
};
static const float NOTHING = -80;     /* log of the truth value of what is not at all so */
static const float HIGHEST_ODDS = 16; /* log; where they are fitted badly */
static const float CERTAIN = -0.1f;   /* as good as certain, or above */
static const double SMALLEST = 1e-6;  /* what is left of a known answer's complement */
static const float SECOND = 0.001f;   /* log; what a second way that is as good as the best adds */

/* A set of edges: all that leave an entity by a relation. */
typedef struct source {
    wfre_relation relation;
    wfre_entity entity;
} source;

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
    source *sources;
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
    source *unmet;        /* of these, those that are not */
    size_t histogram_capacity, unmet_capacity;
    float *leaves;  /* [leaves, entities] */
    float *fan;     /* [MOST_FOLLOWED, entities]: edges of a projection at work */
    float *second;  /* [entities]: the second best way of a projection at work */
    float *scratch; /* [threads, 2, entities] */
    float **levels; /* of the tree: the set of a child, [entities] each */
    size_t leaf_capacity, fan_capacity, level_count, level_capacity;
    uint32_t *begin; /* 0, 1, 2, ... */
    size_t begin_capacity;
};

/* The second if the first is not a number. */
static inline float larger(float a, float b)
{
    return a > b ? a : b;
}

static inline float smaller(float a, float b)
{
    return a < b ? a : b;
}

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
    const source *sources;
    float *rows;        /* [sources, entities]: scores, then logits, then truth values */
    wfre_hit *refined;  /* [sources, REFINED]: the likeliest of each, with their logits */
    uint32_t *counts;   /* [sources]: how many those are; NULL if all scores are exact */
    const float *exact; /* [sources, REFINED]: their scores */
    float *gains;       /* [sources, REFINED]: what their logits gained beyond the model's */
    const float *const *weights; /* [sources]: of kinds where they lead to */
} prediction;

static wfre_list known_targets(const wfre_edges *e, source from)
{
    uint32_t group = wfre_find_group(e->known, from.relation, from.entity);
    return group == WFRE_NONE ? (wfre_list){0} : wfre_group_targets(e->known, group);
}

/* What a unit of score is in logits. */
static double unit_of(const wfre_edges *e)
{
    return e->way.edge_sharpness * e->session->engine->model->settings.rho;
}

/* Adds what targets gain by their room, and by being joined; `joined` is scratch of the same size.
 * A target without a group of edges that lead to it by this relation has no room to speak of. */
static void add_places(const wfre_edges *e, source from, float *gains, float *joined)
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
    source from = p->sources[index];
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
    source from = p->sources[index];
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

/* The log odds of an edge over its logit: a line, bent (model/calibration.h). */
typedef struct odds_line {
    float slope, shift;
    float start, first;           /* of the bend */
    float knots[WFRE_BEND_KNOTS]; /* and what the slope gains at each */
    float gains[WFRE_BEND_KNOTS];
} odds_line;

static inline float odds_at(const odds_line *line, float logit)
{
    float z = line->slope * logit + line->shift, sum = line->start + line->first * z;
    for (int i = 0; i < WFRE_BEND_KNOTS; i++)
        sum += line->gains[i] * larger(z - line->knots[i], 0);
    return smaller(larger(sum, NOTHING), HIGHEST_ODDS); /* what is no number, is nothing */
}

/* Logits become logarithms of odds, in `odds` too. Nearly all are below the first knot, where the
 * line is straight. */
static void make_odds(size_t count, odds_line line, float *row, float *odds)
{
    float slope = line.first * line.slope, shift = line.start + line.first * line.shift;
    float bent = (line.knots[0] - line.shift) / line.slope; /* logits above it are */
    size_t y = 0;
    for (; y + TILE <= count; y += TILE) {
        int above = 0;
        for (size_t k = y; k < y + TILE; k++) { /* as vectors */
            above |= row[k] > bent;
            odds[k] = smaller(larger(slope * row[k] + shift, NOTHING), HIGHEST_ODDS);
        }
        for (size_t k = y; above && k < y + TILE; k++)
            odds[k] = odds_at(&line, row[k]);
    }
    for (; y < count; y++)
        odds[y] = odds_at(&line, row[y]);
    memcpy(row, odds, count * sizeof *row);
}

/* 1 + x */
static void add_one(size_t count, float *x)
{
    size_t y = 0;
    for (; y + TILE <= count; y += TILE)
        for (size_t k = y; k < y + TILE; k++)
            x[k] += 1;
    for (; y < count; y++)
        x[y] += 1;
}

/* Of a row whose softmax has the logarithm logit - sum. */
static odds_line odds_of(const wfre_edges *e, wfre_relation relation, size_t degree, double sum)
{
    odds_line line = {.slope = 1, .first = 1};
    const wfre_model *model = e->session->engine->model;
    const wfre_calibration *c = model->calibration;
    double room = (double)wfre_missing_counts_log(e->room, relation, degree);
    if (!c || !c->edges) {
        line.shift = (float)(room - sum);
        return line;
    }
    wfre_source_kind kind = degree > 0 ? WFRE_SOURCE_KNOWN : WFRE_SOURCE_FRESH;
    const double *f = c->odds[kind];
    double start = f[0] + f[2] * room + f[4] * wfre_calibration_rate(c, relation, kind);
    start += f[3] * log(degree > 0 ? (double)degree : 1);
    line.slope = (float)f[1];
    line.shift = (float)(start - f[1] * sum);
    const wfre_bend *bend = &c->bends[kind];
    line.start = (float)(bend->start + wfre_missing_gain(model, e->way.missing_rate));
    line.first = (float)bend->slopes[0];
    for (int i = 0; i < WFRE_BEND_KNOTS; i++) {
        line.knots[i] = (float)bend->knots[i];
        line.gains[i] = (float)(bend->slopes[i + 1] - bend->slopes[i]);
    }
    return line;
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
    odds_line line = odds_of(e, relation, known.count, (double)highest + log(sum));
    make_odds(e->entities, line, row, other);
    e->vectors->exp(e->entities, other, other);
    add_one(e->entities, other);
    e->vectors->log(e->entities, other, other);
    e->vectors->axpy(e->entities, -1, other, row);
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
static wfre_status embed_sources(wfre_edges *e, const source *sources, size_t count,
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
static wfre_status weigh_kinds(wfre_edges *e, const source *sources, size_t count,
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

/* Scores all targets of the sources; *histograms are what they lead to. */
static wfre_status score_sources(wfre_edges *e, const source *sources, size_t count, bool exact,
                                 float *rows, const float **histograms, wfre_error *error)
{
    wfre_embedding embedding;
    CHECK(embed_sources(e, sources, count, &embedding, error));
    *histograms = embedding.rows;
    return wfre_search_scores(e->session->searcher, embedding.rows, count, exact, rows, error);
}

static uint64_t key_of(source from)
{
    return (uint64_t)from.relation << 32 | from.entity;
}

/* Lists the sources that are not kept, each once. */
static size_t list_unmet(wfre_edges *e, const source *sources, size_t count)
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

/* The same where rows are kept; those of this call fit. */
static wfre_status score_kept(wfre_edges *e, const source *sources, size_t count, bool exact,
                              float *rows, const float **histograms, wfre_error *error)
{
    size_t d = e->session->engine->model->settings.dim, n = e->entities, added = 0;
    if (!WFRE_RESERVE(&e->unmet, &e->unmet_capacity, count) ||
        !WFRE_RESERVE(&e->histograms, &e->histogram_capacity, count * d))
        return wfre_fail_memory(error, "predicting edges");
    size_t unmet = list_unmet(e, sources, count);
    if (unmet > 0)
        CHECK(score_sources(e, e->unmet, unmet, exact, rows, histograms, error));
    while (added < unmet) {
        float *row = wfre_kept_rows_add(e->kept, key_of(e->unmet[added]));
        if (!row) { /* full */
            wfre_kept_rows_forget(e->kept);
            return score_kept(e, sources, count, exact, rows, histograms, error);
        }
        memcpy(row, rows + added * n, n * sizeof *row);
        memcpy(row + n, *histograms + added++ * d, d * sizeof *row);
    }
    for (size_t i = 0; i < count; i++) {
        const float *row = wfre_kept_rows_find(e->kept, key_of(sources[i]));
        memcpy(rows + i * n, row, n * sizeof *row);
        memcpy(e->histograms + i * d, row + n, d * sizeof *row);
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
    e->kept = NULL;
    if (bytes > 0) {
        e->kept = wfre_kept_rows_create(e->entities + session->engine->model->settings.dim, bytes);
        if (!e->kept)
            return wfre_fail_memory(error, "predicting edges");
    }
    return WFRE_OK;
}

static wfre_status predict_together(wfre_edges *e, const source *sources, size_t count, float *rows,
                                    wfre_error *error)
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
    if (!exact)
        CHECK(refine(e, histograms, count, &p, error));
    return wfre_pool_try(e->session->pool, count, judge_row, &p, error);
}

/* rows[i, y]: the truth value of the edge from sources[i] to y. */
static wfre_status predict(wfre_edges *e, const source *sources, size_t count, float *rows,
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
    *second = larger(*second, smaller(*best, way));
    *best = larger(*best, way);
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
        second[y] = larger(second[y] - out[y], NOTHING);
    e->vectors->exp(e->entities, second, second);
    for (size_t y = 0; y < e->entities; y++)
        out[y] = smaller(out[y] + SECOND * second[y], out[y] / 2);
}

/* The best entities of a set; returns how many. */
static size_t choose_followed(const wfre_edges *e, const float *set, wfre_hit *hits)
{
    wfre_best best = {.hits = hits, .top = MOST_FOLLOWED};
    wfre_best_offer_all(&best, e->vectors, set, e->entities, (wfre_list){0});
    wfre_best_settle(&best);
    size_t count = 0;
    while (count < best.count && hits[count].score > NOTHING &&
           (count < FOLLOWED || hits[count].score >= CERTAIN))
        count++;
    return count;
}

static wfre_status project(wfre_edges *e, wfre_relation relation, const float *set, float *out,
                           wfre_error *error)
{
    wfre_hit from[MOST_FOLLOWED];
    source sources[MOST_FOLLOWED];
    size_t count = choose_followed(e, set, from), most = wfre_session_rows(e->session);
    for (size_t i = 0; i < count; i++)
        sources[i] = (source){relation, from[i].entity};
    for (size_t y = 0; y < e->entities; y++)
        out[y] = e->second[y] = NOTHING;
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
    source from = {node->id, node->children[0]->id};
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
        set[y] = larger(1 - set[y], (float)SMALLEST);
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
        out[y] = all ? 0 : NOTHING;
    for (uint32_t i = 0; i < node->child_count; i++) {
        const wfre_node *child = node->children[i];
        bool negated = child->op == WFRE_OP_NEGATE;
        wfre_status status = evaluate(w, negated ? child->children[0] : child, depth + 1, set);
        if (status != WFRE_OK)
            return status;
        if (negated)
            complement(e, set);
        for (size_t y = 0; y < e->entities; y++)
            out[y] = all ? out[y] + set[y] : larger(out[y], set[y]);
    }
    for (size_t y = 0; y < e->entities; y++)
        out[y] = larger(out[y], NOTHING);
    return WFRE_OK;
}

static wfre_status evaluate(walk *w, const wfre_node *node, size_t depth, float *out)
{
    wfre_edges *e = w->edges;
    if (wfre_node_is_edge(node))
        return take_leaf(w, node, out);
    if (node->op == WFRE_OP_ENTITY) {
        for (size_t y = 0; y < e->entities; y++)
            out[y] = y == node->id ? 0 : NOTHING;
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
        e->sources[(*count)++] = (source){node->id, node->children[0]->id};
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
