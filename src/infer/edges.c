/* Questions are answered one after the other, each from its leaves up. The edges at the leaves of
 * all questions are predicted together before that; a projection from a set predicts those of its
 * best entities together. */
#include "infer/edges.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/pool.h"
#include "exact/set.h"
#include "graph/missing.h"
#include "query/normal.h"
#include "search/top.h"

enum {
    FOLLOWED = 16,         /* entities of a set whose missing edges are predicted ... */
    MOST_FOLLOWED = 64,    /* ... more only if they are certain */
    REFINED = 64,          /* targets of a source that are scored exactly */
    TABLE_LIMIT = 1 << 25, /* truth values of leaves that are held at a time */
    TOGETHER = 256,        /* sources that are predicted at a time */
    MOST_NODES = 8192,     /* of a tree */
    CHUNK = 4096           /* entities a task */
};
static const float NOTHING = -80;    /* log of the truth value of what is not at all so */
static const float CERTAIN = -0.1f;  /* as good as certain, or above */
static const double SMALLEST = 1e-6; /* what is left of a known answer's complement */

/* A set of edges: all that leave an entity by a relation. */
typedef struct source {
    wfre_relation relation;
    wfre_entity entity;
} source;

struct wfre_edges {
    wfre_edges_input input;
    const wfre_adjacency *known;
    const wfre_vector_table *vectors;
    size_t entities;
    wfre_room room;
    wfre_arena arena; /* of the trees of single edges */
    const wfre_node **trees;
    source *sources;
    size_t tree_capacity, source_capacity;
    uint32_t *counts; /* of rows at work: as in a prediction */
    wfre_hit *refined;
    uint32_t *indexes;    /* [rows, REFINED] pairs that are scored exactly */
    wfre_entity *targets; /* [rows, REFINED] */
    float *exact;         /* [rows, REFINED] */
    size_t count_capacity, refined_capacity, index_capacity, target_capacity, exact_capacity;
    float *leaves;  /* [leaves, entities] */
    float *fan;     /* [MOST_FOLLOWED, entities]: edges of a projection at work */
    float *scratch; /* [threads, entities] */
    float **levels; /* of the tree: the set of a child, [entities] each */
    size_t leaf_capacity, fan_capacity, level_count, level_capacity;
};

/* The second if the first is not a number. */
static inline float larger(float a, float b)
{
    return a > b ? a : b;
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

wfre_status wfre_edges_create(const wfre_edges_input *input, wfre_edges **edges, wfre_error *error)
{
    wfre_status status;
    wfre_isa isa;
    wfre_edges *e = wfre_alloc_zero(1, sizeof *e);
    if (!e)
        return wfre_fail_memory(error, "preparing to predict edges");
    e->input = *input;
    e->entities = input->model->entity_count;
    e->known = wfre_graph_adjacency(input->graph, input->split);
    TRY(wfre_isa_select(&isa, error));
    e->vectors = wfre_vector_table_for(isa);
    TRY(wfre_room_measure(input->graph, input->split, &e->room, error));
    e->scratch = wfre_alloc_tensor(wfre_pool_threads(input->pool) * e->entities, sizeof(float));
    if (!e->scratch)
        TRY(wfre_fail_memory(error, "preparing to predict edges"));
    *edges = e;
    e = NULL;
cleanup:
    wfre_edges_free(e);
    return status;
}

void wfre_edges_free(wfre_edges *edges)
{
    if (!edges)
        return;
    for (size_t i = 0; i < edges->level_count; i++)
        wfre_free(edges->levels[i]);
    wfre_free(edges->levels);
    wfre_free(edges->leaves);
    wfre_free(edges->fan);
    wfre_free(edges->scratch);
    wfre_free(edges->counts);
    wfre_free(edges->refined);
    wfre_free(edges->indexes);
    wfre_free(edges->targets);
    wfre_free(edges->exact);
    wfre_free(edges->sources);
    wfre_free((void *)edges->trees);
    wfre_room_free(&edges->room);
    wfre_arena_free(&edges->arena);
    wfre_free(edges);
}

/* ---- single edges ------------------------------------------------------------------------- */

typedef struct prediction {
    wfre_edges *edges;
    const source *sources;
    float *rows;        /* [sources, entities]: distances, then logits, then truth values */
    wfre_hit *refined;  /* [sources, REFINED]: the likeliest of each, with their logits negated */
    uint32_t *counts;   /* [sources]: how many those are; NULL if all distances are exact */
    const float *exact; /* [sources, REFINED]: their distances */
} prediction;

static wfre_list known_targets(const wfre_edges *e, source from)
{
    uint32_t group = wfre_find_group(e->known, from.relation, from.entity);
    return group == WFRE_NONE ? (wfre_list){0} : wfre_group_targets(e->known, group);
}

/* What a unit of distance is in logits. */
static double unit_of(const wfre_edges *e)
{
    const wfre_model_settings *settings = &e->input.model->settings;
    return settings->edge_sharpness * settings->rho;
}

/* What the room of a target adds to its logit if `group` holds the edges that lead to it by this
 * relation already; an entity without such a group gets nothing. */
static float room_of(const wfre_edges *e, wfre_relation relation, uint32_t group)
{
    const wfre_model_settings *settings = &e->input.model->settings;
    if (group == WFRE_NONE)
        return 0;
    size_t degree = wfre_group_targets(e->known, group).count;
    return (float)(settings->edge_sharpness * settings->edge_room) *
           (wfre_room_log(&e->room, relation ^ 1, degree) -
            wfre_room_log(&e->room, relation ^ 1, 0));
}

/* From distances to logits, but for what is the same for all targets; and the likeliest targets
 * that are not known. */
static void weigh_row(void *context, size_t index, unsigned worker)
{
    (void)worker;
    const prediction *p = context;
    const wfre_edges *e = p->edges;
    source from = p->sources[index];
    const uint32_t *groups = e->known->relation_groups + (from.relation ^ 1);
    float *row = p->rows + index * e->entities;
    e->vectors->scale(e->entities, (float)-unit_of(e), row);
    for (uint32_t g = groups[0]; g < groups[1]; g++)
        row[e->known->group_entity[g]] += room_of(e, from.relation, g);
    if (!p->counts)
        return;
    wfre_nearest best = {.hits = p->refined + index * REFINED, .top = REFINED};
    wfre_list known = known_targets(e, from);
    size_t next = 0;
    for (wfre_entity y = 0; y < e->entities; y++) {
        if (next < known.count && known.ids[next] == y)
            next++;
        else
            wfre_nearest_offer(&best, (wfre_hit){y, -row[y]});
    }
    p->counts[index] = (uint32_t)best.count;
}

/* Puts exact distances in place of estimates. What all of these err by, the others do, too. */
static void correct_row(const prediction *p, size_t index, float *row)
{
    const wfre_edges *e = p->edges;
    const wfre_hit *hits = p->refined + index * REFINED;
    wfre_relation relation = p->sources[index].relation;
    double unit = unit_of(e), mean = 0, change[REFINED];
    uint32_t count = p->counts[index];
    for (uint32_t i = 0; i < count; i++) {
        uint32_t group = wfre_find_group(e->known, relation ^ 1, hits[i].entity);
        double estimate = (double)row[hits[i].entity] - (double)room_of(e, relation, group);
        change[i] = -unit * (double)p->exact[index * REFINED + i] - estimate;
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
    float *row = p->rows + index * e->entities, *other = e->scratch + worker * e->entities;
    if (p->counts)
        correct_row(p, index, row);
    float highest = e->vectors->maximum(e->entities, row);
    memcpy(other, row, e->entities * sizeof *row);
    double sum = e->vectors->exp_shifted(e->entities, highest, other);
    wfre_relation relation = p->sources[index].relation;
    float shift = (float)((double)wfre_room_log(&e->room, relation, known.count) - log(sum));
    float factor = expf(shift);
    for (size_t y = 0; y < e->entities; y++) { /* log of the odds; beside it, 1 + odds */
        row[y] = larger(row[y] - highest + shift, NOTHING);
        other[y] = 1 + other[y] * factor;
    }
    e->vectors->log(e->entities, other, other);
    e->vectors->axpy(e->entities, -1, other, row);
    for (size_t i = 0; i < known.count; i++)
        row[known.ids[i]] = 0;
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
    return wfre_search_pairs(e->input.searcher, histograms, e->indexes, e->targets, count * REFINED,
                             e->exact, error);
}

/* Room for what refining takes. */
static bool reserve_refined(wfre_edges *e, size_t count)
{
    size_t pairs = count * REFINED;
    return WFRE_RESERVE(&e->counts, &e->count_capacity, count) &&
           WFRE_RESERVE(&e->refined, &e->refined_capacity, pairs) &&
           WFRE_RESERVE(&e->indexes, &e->index_capacity, pairs) &&
           WFRE_RESERVE(&e->targets, &e->target_capacity, pairs) &&
           WFRE_RESERVE(&e->exact, &e->exact_capacity, pairs);
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
    return wfre_embed(e->input.embedder, e->trees, count, WFRE_UNION_DNF, embedding, error);
}

static wfre_status predict_together(wfre_edges *e, const source *sources, size_t count, float *rows,
                                    wfre_error *error)
{
    wfre_embedding embedding;
    bool exact = e->input.exhaustive || !wfre_search_estimates(e->input.searcher);
    if (!exact && !reserve_refined(e, count))
        return wfre_fail_memory(error, "predicting edges");
    CHECK(embed_sources(e, sources, count, &embedding, error));
    CHECK(wfre_search_distances(e->input.searcher, embedding.rows, count, exact, rows, error));
    prediction p = {e, sources, rows, e->refined, exact ? NULL : e->counts, e->exact};
    wfre_pool_run(e->input.pool, count, weigh_row, &p);
    if (!exact)
        CHECK(refine(e, embedding.rows, count, &p, error));
    wfre_pool_run(e->input.pool, count, judge_row, &p);
    return WFRE_OK;
}

/* rows[i, y]: the truth value of the edge from sources[i] to y. */
static wfre_status predict(wfre_edges *e, const source *sources, size_t count, float *rows,
                           wfre_error *error)
{
    for (size_t first = 0, part; first < count; first += part) {
        part = count - first < TOGETHER ? count - first : TOGETHER;
        CHECK(predict_together(e, sources + first, part, rows + first * e->entities, error));
    }
    return WFRE_OK;
}

/* ---- projections from sets ---------------------------------------------------------------- */

typedef struct fanning {
    const wfre_edges *edges;
    const wfre_hit *from; /* their distances are the negated logarithms */
    size_t count;
    float *out;
} fanning;

/* The best way to each of some entities. */
static void join_ways(void *context, size_t chunk, unsigned worker)
{
    (void)worker;
    const fanning *f = context;
    size_t entities = f->edges->entities, end = (chunk + 1) * CHUNK;
    end = end < entities ? end : entities;
    for (size_t y = chunk * CHUNK; y < end; y++)
        f->out[y] = NOTHING;
    for (size_t i = 0; i < f->count; i++) {
        const float *edge = f->edges->fan + i * entities;
        float set = -f->from[i].distance;
        for (size_t y = chunk * CHUNK; y < end; y++)
            f->out[y] = set + edge[y] > f->out[y] ? set + edge[y] : f->out[y];
    }
}

/* Known edges are followed from all entities, however unlikely. */
static void follow_known(const wfre_edges *e, wfre_relation relation, const float *set, float *out)
{
    const wfre_adjacency *known = e->known;
    for (uint32_t g = known->relation_groups[relation]; g < known->relation_groups[relation + 1];
         g++) {
        float truth = set[known->group_entity[g]];
        wfre_list targets = wfre_group_targets(known, g);
        for (size_t i = 0; i < targets.count; i++)
            if (truth > out[targets.ids[i]])
                out[targets.ids[i]] = truth;
    }
}

/* The best entities of a set; returns how many. */
static size_t choose_followed(const wfre_edges *e, const float *set, wfre_hit *hits)
{
    wfre_nearest best = {.hits = hits, .top = MOST_FOLLOWED};
    for (size_t x = 0; x < e->entities; x++)
        wfre_nearest_offer(&best, (wfre_hit){(wfre_entity)x, -set[x]});
    wfre_nearest_settle(&best);
    size_t count = 0;
    while (count < best.count && -hits[count].distance > NOTHING &&
           (count < FOLLOWED || -hits[count].distance >= CERTAIN))
        count++;
    return count;
}

static wfre_status project(wfre_edges *e, wfre_relation relation, const float *set, float *out,
                           wfre_error *error)
{
    wfre_hit from[MOST_FOLLOWED];
    source sources[MOST_FOLLOWED];
    size_t count = choose_followed(e, set, from);
    if (!WFRE_RESERVE(&e->fan, &e->fan_capacity, count * e->entities))
        return wfre_fail_memory(error, "predicting edges");
    for (size_t i = 0; i < count; i++)
        sources[i] = (source){relation, from[i].entity};
    CHECK(predict(e, sources, count, e->fan, error));
    fanning f = {e, from, count, out};
    wfre_pool_run(e->input.pool, (e->entities + CHUNK - 1) / CHUNK, join_ways, &f);
    follow_known(e, relation, set, out);
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
    size_t most = TABLE_LIMIT / e->entities + 1, found = 0;
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

wfre_status wfre_edges_answer(wfre_edges *edges, const wfre_node *const *trees, size_t count,
                              float *truth, wfre_error *error)
{
    size_t entities = edges->entities;
    for (size_t first = 0, part, leaves; first < count; first += part) {
        CHECK(collect_part(edges, trees + first, count - first, &part, &leaves, error));
        walk w = {edges, NULL, error};
        if (leaves <= TABLE_LIMIT / entities + 1) {
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
