/* Drawing batches. The sampler works over the pool; then slots are given out in query order on one
 * thread, which is quick, and the answers are looked up over the pool again. */
#include "train/batch.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/rng.h"
#include "graph/graph.h"
#include "train/deal.h"

/* How often a type is tried before it is left out of the mix, how often a batch is drawn until all
 * of its queries are found, and how often a query is tried before another type takes its place:
 * less often if half of the trials find none. That keeps sampling short where a type is hardly ever
 * found: on a sparse graph of a million entities 10,000 attempts for each 3in took nearly all of a
 * step. Where the graph does not fit into a cache, an attempt takes as long as a good part of
 * learning from a query, and there are fewer. */
enum {
    TRIALS = 64,
    DRAWS = 8,
    ATTEMPTS = 256,
    RARE_ATTEMPTS = 24,
    FEW_ATTEMPTS = 4,
    LARGE = 1000000 /* triples */
};

/* The bits of wfre_batcher.step that are the trainer's; those above say which draw it is. */
static const uint64_t STEP_BITS = UINT64_MAX >> 8;

enum { PATHS = 3 }; /* the first types: 1p, 2p, 3p */

const char *const wfre_train_type_names[WFRE_TRAIN_TYPES] = {"1p",  "2p",  "3p",  "2i",  "3i",
                                                             "2in", "3in", "inp", "pin", "pni"};

struct wfre_batcher {
    const wfre_graph *graph;
    wfre_train_settings settings;
    wfre_pool *pool;
    wfre_sampler *sampler;
    bool has_type[WFRE_TRAIN_TYPES];                           /* the graph has such queries */
    double cumulative[WFRE_TRAIN_TYPES];                       /* of the mix, normalised */
    uint64_t asked[WFRE_TRAIN_TYPES], found[WFRE_TRAIN_TYPES]; /* queries so far */
    double paths; /* cumulative share of the paths, the first types */

    const wfre_sampled *drawn; /* [queries] */
    size_t together;           /* batches that are drawn at once, and dealt out */
    uint64_t group;            /* which of them are there; UINT64_MAX: none */
    const wfre_sampled *pile;  /* [together, queries] as drawn */
    wfre_sampled *dealt;       /* [queries] of the batch at hand */
    uint32_t *pile_types;      /* [together, queries] */
    uint32_t *order;           /* [together, queries] into pile */
    uint32_t *slot_of;         /* [entities], valid where stamp says so */
    uint64_t *stamp;           /* [entities] */
    uint64_t turn;             /* of the stamps */
    uint64_t step;

    wfre_batch batch;
    wfre_arena rivals;   /* their trees */
    wfre_entity *chosen; /* [queries, positives] entities */
    size_t slot_capacity, positive_capacity, answer_capacity, negative_capacity;
};

/* ---- slots -------------------------------------------------------------------------------- */

uint32_t wfre_batcher_slot(const wfre_batcher *b, wfre_entity entity)
{
    return b->stamp[entity] == b->turn ? b->slot_of[entity] : WFRE_NONE;
}

/* The entity's slot, a new one if it has none; WFRE_NONE when out of memory. */
static uint32_t take_slot(wfre_batcher *b, wfre_entity entity)
{
    if (b->stamp[entity] == b->turn)
        return b->slot_of[entity];
    wfre_batch *batch = &b->batch;
    if (!WFRE_RESERVE(&batch->slots, &b->slot_capacity, batch->slot_count + 1))
        return WFRE_NONE;
    b->stamp[entity] = b->turn;
    b->slot_of[entity] = (uint32_t)batch->slot_count;
    batch->slots[batch->slot_count] = entity;
    return (uint32_t)batch->slot_count++;
}

/* ---- queries ------------------------------------------------------------------------------ */

/* The shares of the types when so much of the run is over. */
static void set_mix(wfre_batcher *b, double progress)
{
    const wfre_train_settings *s = &b->settings;
    double sum = 0;
    for (uint32_t t = 0; t < WFRE_TRAIN_TYPES; t++) {
        double share = s->mix[t];
        if (t == 0 && share > 0 && s->mix_1p_end > 0)
            share *= pow(s->mix_1p_end / share, progress);
        sum += b->has_type[t] ? share : 0;
        b->cumulative[t] = sum;
    }
    for (int t = 0; t < WFRE_TRAIN_TYPES; t++)
        b->cumulative[t] /= sum;
    b->paths = b->cumulative[PATHS - 1];
}

static uint32_t draw_type(const wfre_batcher *b, uint64_t index)
{
    wfre_rng rng = wfre_rng_for(b->settings.seed, WFRE_FOR_TYPES, b->step, index);
    double draw = wfre_rng_double(&rng);
    if (b->settings.turns && b->paths > 0 && b->paths < 1) { /* paths, others, paths */
        bool others = (b->step & STEP_BITS) % 3 == 1;
        draw = others ? b->paths + draw * (1 - b->paths) : draw * b->paths;
    }
    for (uint32_t t = 0; t < WFRE_TRAIN_TYPES; t++)
        if (draw < b->cumulative[t])
            return t;
    return 0;
}

/* Distinct answers to aim at; as many as asked for, or all there are. With repeats each is drawn
 * by itself. */
static uint32_t choose_positives(wfre_batcher *b, size_t q)
{
    wfre_list answers = b->drawn[q].answers;
    uint32_t want = b->settings.positives;
    wfre_entity *chosen = b->chosen + q * want;
    bool repeats = b->settings.repeats;
    if (answers.count <= want && !repeats) {
        memcpy(chosen, answers.ids, answers.count * sizeof *chosen);
        return (uint32_t)answers.count;
    }
    wfre_rng rng = wfre_rng_for(b->settings.seed, WFRE_FOR_POSITIVES, b->step, q);
    for (uint32_t count = 0; count < want;) {
        wfre_entity candidate = answers.ids[wfre_rng_below(&rng, (uint32_t)answers.count)];
        bool repeated = false;
        for (uint32_t i = 0; i < count && !repeats; i++)
            repeated = repeated || chosen[i] == candidate;
        if (!repeated)
            chosen[count++] = candidate;
    }
    return want;
}

/* Weights (answers + 4)^x, made to sum to 1. */
static void set_weights(wfre_batcher *b)
{
    double sum = 0, power = b->settings.answer_weight;
    for (size_t q = 0; q < b->batch.queries; q++)
        sum += pow((double)b->drawn[q].answers.count + 4, power);
    for (size_t q = 0; q < b->batch.queries; q++)
        b->batch.weights[q] = (float)(pow((double)b->drawn[q].answers.count + 4, power) / sum);
}

/* What a projection gives costs by its mass. An intersection has little as it is: to charge for
 * that costs intersections more than it gives to others. */
static void set_prices(wfre_batcher *b)
{
    for (size_t q = 0; q < b->batch.queries; q++)
        b->batch.prices[q] = b->batch.trees[q]->op == WFRE_OP_PROJECT ? (float)b->settings.mass : 0;
}

/* ---- candidates --------------------------------------------------------------------------- */

/* Positives take the first slots, in query order. */
static bool place_positives(wfre_batcher *b)
{
    wfre_batch *batch = &b->batch;
    size_t used = 0;
    for (size_t q = 0; q < batch->queries; q++) {
        batch->positive_begin[q] = (uint32_t)used;
        uint32_t count = choose_positives(b, q);
        for (uint32_t i = 0; i < count; i++) {
            uint32_t slot = take_slot(b, b->chosen[q * b->settings.positives + i]);
            if (slot == WFRE_NONE)
                return false;
            batch->positives[used++] = slot;
        }
    }
    batch->positive_begin[batch->queries] = (uint32_t)used;
    return true;
}

static bool place_shared(wfre_batcher *b)
{
    uint32_t entities = wfre_graph_entities(b->graph);
    wfre_rng rng = wfre_rng_for(b->settings.seed, WFRE_FOR_SHARED, b->step, 0);
    for (uint32_t i = 0; i < b->settings.negatives; i++)
        if (take_slot(b, wfre_rng_below(&rng, entities)) == WFRE_NONE)
            return false;
    return true;
}

static bool place_all(wfre_batcher *b)
{
    uint32_t entities = wfre_graph_entities(b->graph);
    for (uint32_t e = 0; e < entities; e++)
        if (take_slot(b, e) == WFRE_NONE)
            return false;
    return true;
}

/* Each query draws its own non-answers; a query that nearly everything answers may get fewer. With
 * repeats it draws from all entities. */
static bool place_own(wfre_batcher *b)
{
    wfre_batch *batch = &b->batch;
    uint32_t entities = wfre_graph_entities(b->graph);
    for (size_t q = 0; q < batch->queries; q++) {
        wfre_rng rng = wfre_rng_for(b->settings.seed, WFRE_FOR_NEGATIVES, b->step, q);
        uint32_t used = batch->negative_begin[q];
        for (uint32_t tries = 0; tries < 4 * b->settings.negatives; tries++) {
            if (used - batch->negative_begin[q] == b->settings.negatives)
                break;
            wfre_entity entity = wfre_rng_below(&rng, entities);
            if (!b->settings.repeats && wfre_list_has(b->drawn[q].answers, entity))
                continue;
            uint32_t slot = take_slot(b, entity);
            if (slot == WFRE_NONE)
                return false;
            batch->negatives[used++] = slot;
        }
        batch->negative_begin[q + 1] = used;
    }
    return true;
}

static bool place_anchors(wfre_batcher *b, const wfre_node *node)
{
    if (node->op == WFRE_OP_ENTITY)
        return take_slot(b, node->id) != WFRE_NONE;
    for (uint32_t i = 0; i < node->child_count; i++)
        if (!place_anchors(b, node->children[i]))
            return false;
    return true;
}

static bool place_candidates(wfre_batcher *b)
{
    wfre_batch *batch = &b->batch;
    b->turn++;
    batch->slot_count = 0;
    memset(batch->negative_begin, 0, (batch->queries + 1) * sizeof *batch->negative_begin);
    bool placed = place_positives(b);
    switch (b->settings.candidates) {
    case WFRE_CANDIDATES_OWN:
        placed = placed && place_own(b);
        break;
    case WFRE_CANDIDATES_SHARED:
        placed = placed && place_shared(b);
        break;
    case WFRE_CANDIDATES_ALL:
        placed = placed && place_all(b);
        break;
    }
    batch->candidate_count = batch->slot_count;
    for (size_t q = 0; q < batch->queries && placed; q++)
        placed = place_anchors(b, batch->trees[q]);
    return placed;
}

/* ---- answers among the candidates --------------------------------------------------------- */

static size_t list_answers(const wfre_batcher *b, size_t q, uint32_t *out)
{
    wfre_list answers = b->drawn[q].answers;
    size_t count = 0;
    for (size_t i = 0; i < answers.count; i++) {
        uint32_t slot = wfre_batcher_slot(b, answers.ids[i]);
        if (slot >= b->batch.candidate_count)
            continue;
        if (out)
            out[count] = slot;
        count++;
    }
    return count;
}

static void count_answers(void *context, size_t q, unsigned worker)
{
    (void)worker;
    wfre_batcher *b = context;
    b->batch.answer_begin[q + 1] = (uint32_t)list_answers(b, q, NULL);
}

static void write_answers(void *context, size_t q, unsigned worker)
{
    (void)worker;
    wfre_batcher *b = context;
    (void)list_answers(b, q, b->batch.answers + b->batch.answer_begin[q]);
}

static bool place_answers(wfre_batcher *b)
{
    wfre_batch *batch = &b->batch;
    batch->answer_begin[0] = 0;
    wfre_pool_run(b->pool, batch->queries, count_answers, b);
    for (size_t q = 0; q < batch->queries; q++)
        batch->answer_begin[q + 1] += batch->answer_begin[q];
    if (!WFRE_RESERVE(&batch->answers, &b->answer_capacity, batch->answer_begin[batch->queries]))
        return false;
    wfre_pool_run(b->pool, batch->queries, write_answers, b);
    return true;
}

/* ---- facts whose relation is asked for ---------------------------------------------------- */

/* A relation that might lead from head to target: half of the time one that leads from the head at
 * all, since others are soon told apart. */
static wfre_relation draw_rival(const wfre_batcher *b, wfre_rng *rng, wfre_entity head)
{
    const wfre_adjacency *edges = wfre_graph_adjacency(b->graph, WFRE_TRAIN);
    uint32_t first, end = wfre_entity_edges(edges, head, &first);
    if (end > first && wfre_rng_below(rng, 2) == 0)
        return wfre_edge_relation(edges, first + wfre_rng_below(rng, end - first));
    return wfre_rng_below(rng, wfre_graph_relations(b->graph));
}

/* Distinct rivals of one fact; fewer than asked for if hardly any are found. */
static bool place_rivals(wfre_batcher *b, size_t q, wfre_entity target)
{
    wfre_batch *batch = &b->batch;
    wfre_entity head = batch->trees[q]->children[0]->id;
    wfre_rng rng = wfre_rng_for(b->settings.seed, WFRE_FOR_RIVALS, b->step, q);
    uint32_t want = b->settings.relation_rivals, found = 0;
    const wfre_node **rivals = batch->trees + batch->queries + batch->rivals;
    for (uint32_t tries = 0; found < want && tries < 4 * want; tries++) {
        wfre_relation relation = draw_rival(b, &rng, head);
        bool fresh = !wfre_graph_has(b->graph, WFRE_TRAIN, head, relation, target);
        for (uint32_t i = 0; i < found && fresh; i++)
            fresh = rivals[i]->id != relation;
        if (!fresh)
            continue;
        rivals[found] = wfre_node_project(&b->rivals, relation, batch->trees[q]->children[0]);
        if (!rivals[found++])
            return false;
    }
    batch->rivals += found;
    return true;
}

/* The first single edges of the batch, each with the first of its chosen answers. */
static bool place_facts(wfre_batcher *b)
{
    wfre_batch *batch = &b->batch;
    batch->facts = batch->rivals = 0;
    wfre_arena_reset(&b->rivals);
    for (size_t q = 0; q < batch->queries && b->settings.relation_loss > 0; q++) {
        if (batch->facts == b->settings.relation_facts)
            break;
        if (!wfre_node_is_edge(batch->trees[q]))
            continue;
        uint32_t target = batch->positives[batch->positive_begin[q]];
        batch->fact_query[batch->facts] = (uint32_t)q;
        batch->fact_target[batch->facts] = target;
        batch->rival_begin[batch->facts++] = (uint32_t)batch->rivals;
        if (!place_rivals(b, q, batch->slots[target]))
            return false;
    }
    batch->rival_begin[batch->facts] = (uint32_t)batch->rivals;
    return true;
}

/* Draws types and queries. Should one not be found, nor one of the type that takes the place of
 * rare ones, all are drawn again, with random numbers of a step that training does not reach. */
static wfre_status draw_pile(wfre_batcher *b, uint64_t first, wfre_error *error)
{
    wfre_status status = WFRE_ERR_NOT_FOUND;
    size_t queries = b->batch.queries;
    for (uint64_t draw = 0; draw < DRAWS && status == WFRE_ERR_NOT_FOUND; draw++) {
        for (size_t q = 0; q < b->together * queries; q++) {
            b->step = (first + q / queries) | draw << 56;
            b->pile_types[q] = draw_type(b, q % queries);
        }
        b->step = first | draw << 56;
        status = wfre_sampler_step(b->sampler, b->pool, b->step, b->pile_types,
                                   b->together * queries, &b->pile, error);
    }
    for (size_t q = 0; q < b->together * queries && status == WFRE_OK; q++) {
        b->asked[b->pile_types[q]]++;
        b->found[b->pile_types[q]] += b->pile[q].type == b->pile_types[q];
    }
    return status;
}

double wfre_batcher_found(const wfre_batcher *b, uint32_t type)
{
    return b->asked[type] ? (double)b->found[type] / (double)b->asked[type] : 1;
}

/* Finds the queries of a step, with those of the steps that are drawn together with it. */
static wfre_status draw_queries(wfre_batcher *b, uint64_t step, double progress, wfre_error *error)
{
    uint64_t group = step / b->together;
    size_t queries = b->batch.queries;
    if (group != b->group || b->together == 1) {
        uint64_t first = group * b->together;
        b->group = UINT64_MAX;
        /* As when the first of them was drawn: a resumed run may begin with another. */
        set_mix(b, step > 0 ? progress * ((double)first / (double)step) : 0);
        CHECK(draw_pile(b, first, error));
        if (b->together > 1)
            CHECK(wfre_deal(b->pile, b->together, queries, WFRE_TRAIN_TYPES,
                            wfre_graph_relations(b->graph), b->order, error));
        b->group = group;
    }
    b->drawn = b->pile;
    if (b->together > 1) {
        for (size_t q = 0; q < queries; q++)
            b->dealt[q] = b->pile[b->order[step % b->together * queries + q]];
        b->drawn = b->dealt;
        b->step = step;
    }
    return WFRE_OK;
}

wfre_status wfre_batcher_draw(wfre_batcher *b, uint64_t step, double progress,
                              const wfre_batch **batch, wfre_error *error)
{
    wfre_status status = draw_queries(b, step, progress, error);
    if (status != WFRE_OK)
        return status;
    for (size_t q = 0; q < b->batch.queries; q++)
        b->batch.trees[q] = b->drawn[q].tree;
    for (size_t q = 0; q < b->batch.queries; q++)
        b->batch.types[q] = b->drawn[q].type;
    set_weights(b);
    set_prices(b);
    if (!place_candidates(b) || !place_answers(b) || !place_facts(b))
        return wfre_fail_memory(error, "drawing a batch");
    *batch = &b->batch;
    return WFRE_OK;
}

/* ---- creation ----------------------------------------------------------------------------- */

/* Of so many trials, how many find a query of the type within `attempts`. */
static wfre_status count_found(wfre_batcher *b, uint32_t type, uint32_t attempts, uint32_t *found,
                               wfre_error *error)
{
    *found = 0;
    wfre_sampler_limit(b->sampler, type, attempts);
    for (uint32_t tried = 0; tried < TRIALS && b->settings.mix[type] > 0; tried++) {
        const wfre_sampled *trial;
        wfre_status status = wfre_sampler_step(b->sampler, NULL, tried, &type, 1, &trial, error);
        if (status != WFRE_OK && status != WFRE_ERR_NOT_FOUND)
            return status;
        *found += status == WFRE_OK && trial->type == type;
    }
    return WFRE_OK;
}

/* WFRE_ERR_NOT_FOUND if the graph does not seem to have queries of the type. */
static wfre_status try_type(wfre_batcher *b, uint32_t type, wfre_error *error)
{
    bool large = wfre_graph_triples(b->graph, WFRE_TRAIN) > LARGE;
    uint32_t found = 0, rare = large ? FEW_ATTEMPTS : RARE_ATTEMPTS;
    if (large)
        CHECK(count_found(b, type, FEW_ATTEMPTS, &found, error));
    bool often = found >= TRIALS / 2;
    if (!often) {
        CHECK(count_found(b, type, ATTEMPTS, &found, error));
        often = !large && found >= TRIALS / 2;
    }
    wfre_sampler_limit(b->sampler, type, often ? ATTEMPTS : rare);
    return found ? WFRE_OK : WFRE_ERR_NOT_FOUND;
}

/* Which types there are queries of: the graph may be too small or too plain for some. The first of
 * them, single edges as a rule, takes the place of rare ones that are not found. */
static wfre_status find_types(wfre_batcher *b, wfre_error *error)
{
    bool any = false;
    for (uint32_t t = 0; t < WFRE_TRAIN_TYPES; t++) {
        wfre_status status = try_type(b, t, error);
        if (status != WFRE_OK && status != WFRE_ERR_NOT_FOUND)
            return status;
        b->has_type[t] = status == WFRE_OK;
        if (b->has_type[t] && !any) {
            wfre_sampler_substitute(b->sampler, t);
            wfre_sampler_limit(b->sampler, t, UINT32_MAX); /* nothing takes its place */
        }
        any = any || b->has_type[t];
    }
    return any ? WFRE_OK
               : wfre_fail(error, WFRE_ERR_ARGUMENT, WFRE_NO_OFFSET,
                           "no query type of the mix can be found in the graph");
}

static bool allocate(wfre_batcher *b)
{
    size_t queries = b->settings.batch, entities = wfre_graph_entities(b->graph);
    wfre_batch *batch = &b->batch;
    batch->queries = queries;
    b->together = b->settings.deal > 1 ? b->settings.deal : 1;
    b->group = UINT64_MAX;
    b->dealt = wfre_alloc(queries, sizeof *b->dealt);
    b->pile_types = wfre_alloc(b->together * queries, sizeof *b->pile_types);
    b->order = wfre_alloc(b->together * queries, sizeof *b->order);
    b->slot_of = wfre_alloc(entities, sizeof *b->slot_of);
    b->stamp = wfre_alloc_zero(entities, sizeof *b->stamp);
    b->chosen = wfre_alloc(queries * b->settings.positives, sizeof *b->chosen);
    size_t facts = b->settings.relation_loss > 0 ? b->settings.relation_facts : 0;
    facts = facts < queries ? facts : queries;
    batch->trees = wfre_alloc(queries + facts * b->settings.relation_rivals, sizeof *batch->trees);
    batch->fact_query = wfre_alloc(facts, sizeof(uint32_t));
    batch->fact_target = wfre_alloc(facts, sizeof(uint32_t));
    batch->rival_begin = wfre_alloc(facts + 1, sizeof(uint32_t));
    batch->types = wfre_alloc(queries, sizeof *batch->types);
    batch->weights = wfre_alloc(queries, sizeof *batch->weights);
    batch->prices = wfre_alloc(queries, sizeof *batch->prices);
    batch->positive_begin = wfre_alloc(queries + 1, sizeof(uint32_t));
    batch->positives = wfre_alloc(queries * b->settings.positives, sizeof(uint32_t));
    batch->answer_begin = wfre_alloc(queries + 1, sizeof(uint32_t));
    batch->negative_begin = wfre_alloc(queries + 1, sizeof(uint32_t));
    bool own = b->settings.candidates == WFRE_CANDIDATES_OWN;
    batch->negatives = wfre_alloc(own ? queries * b->settings.negatives : 0, sizeof(uint32_t));
    return b->dealt && b->pile_types && b->order && b->slot_of && b->stamp && b->chosen &&
           batch->trees && batch->types && batch->weights && batch->fact_query &&
           batch->fact_target && batch->rival_begin && batch->prices && batch->positive_begin &&
           batch->positives && batch->answer_begin && batch->negative_begin && batch->negatives;
}

wfre_status wfre_batcher_create(const wfre_graph *graph, const wfre_train_settings *settings,
                                wfre_pool *pool, wfre_batcher **result, wfre_error *error)
{
    wfre_status status = WFRE_OK;
    wfre_batcher *b = wfre_alloc_zero(1, sizeof *b);
    if (!b)
        return wfre_fail_memory(error, "preparing to train");
    b->graph = graph;
    b->settings = *settings;
    b->pool = pool;
    if (!allocate(b)) {
        status = wfre_fail_memory(error, "preparing to train");
        goto cleanup;
    }
    TRY(wfre_sampler_create(graph, WFRE_TRAIN, NULL, 0, settings->seed, &b->sampler, error));
    wfre_sampler_forward(b->sampler, settings->forward_edges, settings->forward_paths);
    TRY(find_types(b, error));
    *result = b;
    b = NULL;
cleanup:
    wfre_batcher_free(b);
    return status;
}

void wfre_batcher_free(wfre_batcher *b)
{
    if (!b)
        return;
    wfre_sampler_free(b->sampler);
    wfre_arena_free(&b->rivals);
    void *blocks[] = {b->dealt,
                      b->pile_types,
                      b->order,
                      b->slot_of,
                      b->stamp,
                      b->chosen,
                      b->batch.trees,
                      b->batch.types,
                      b->batch.weights,
                      b->batch.prices,
                      b->batch.slots,
                      b->batch.answers,
                      b->batch.positive_begin,
                      b->batch.positives,
                      b->batch.answer_begin,
                      b->batch.negatives,
                      b->batch.negative_begin,
                      b->batch.fact_query,
                      b->batch.fact_target,
                      b->batch.rival_begin};
    for (size_t i = 0; i < sizeof blocks / sizeof blocks[0]; i++)
        wfre_free(blocks[i]);
    wfre_free(b);
}
