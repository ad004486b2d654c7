/* Drawing questions, and asking them. */
#include "fit/asked.h"

#include <string.h>

#include "base/clock.h"
#include "base/rng.h"
#include "exact/exact.h"
#include "graph/graph.h"
#include "model/calibration.h"
#include "query/types.h"
#include "wfre/query.h"

/* In the order of wfre_betae_types, without the first. */
static const char SHAPES[] = "2p 3p 2i 3i ip pi 2in 3in inp pin pni 2u up";

enum {
    DEPTH = WFRE_CALIBRATION_DEPTH,
    BATCH = 128,
    SHORT = 8,          /* the first batch if time is short */
    ATTEMPTS = 20,      /* to find an entity that lacks a relation */
    MOST_ANSWERS = 1000 /* of a grown question */
};

void wfre_asked_clear(wfre_asked_set *set)
{
    wfre_free(set->list);
    wfre_arena_free(&set->arena);
    *set = (wfre_asked_set){0};
}

bool wfre_asked_apart(wfre_entity entity)
{
    return ((entity * UINT32_C(2654435761)) >> 16) % 3 == 0;
}

/* ---- drawing ------------------------------------------------------------------------------ */

/* The entities of `list` that `without` has not; `ids` has room for all. */
static wfre_list without(wfre_list list, wfre_list without, wfre_entity *ids)
{
    size_t count = 0;
    for (size_t i = 0; i < list.count; i++)
        if (!wfre_list_has(without, list.ids[i]))
            ids[count++] = list.ids[i];
    return (wfre_list){ids, count};
}

/* Both of two lists that have nothing in common; `ids` has room for all. */
static wfre_list merge(wfre_list a, wfre_list b, wfre_entity *ids)
{
    size_t i = 0, k = 0;
    while (i + k < a.count + b.count) {
        bool first = k == b.count || (i < a.count && a.ids[i] < b.ids[k]);
        ids[i + k] = first ? a.ids[i] : b.ids[k];
        i += first;
        k += !first;
    }
    return (wfre_list){ids, a.count + b.count};
}

wfre_status wfre_asked_add(wfre_asked_set *set, const wfre_node *tree, wfre_list easy,
                           wfre_list next, wfre_list whole, bool apart, wfre_error *error)
{
    size_t most = easy.count + whole.count;
    wfre_entity *ids = wfre_arena_alloc(&set->arena, next.count + whole.count + most, sizeof *ids);
    if (!tree || !ids || !WFRE_RESERVE(&set->list, &set->capacity, set->count + 1))
        return wfre_fail_memory(error, "drawing questions");
    wfre_list hard = without(next, easy, ids);
    wfre_list later = without(without(whole, easy, ids + next.count), next, ids + next.count);
    wfre_list done = later.count == 0 ? easy : merge(easy, later, ids + next.count + whole.count);
    set->list[set->count++] = (wfre_asked){tree, easy, hard, done, apart};
    return WFRE_OK;
}

/* An entity that has not the relation, but shares a fact with x, which has; WFRE_NONE if none was
 * found. */
static wfre_entity find_fresh(const wfre_adjacency *edges, wfre_relation relation, wfre_entity x,
                              wfre_rng *rng)
{
    uint32_t first, end = wfre_entity_edges(edges, x, &first);
    for (int i = 0; i < ATTEMPTS && end > first; i++) {
        wfre_edge_group edge = wfre_entity_edge(edges, first + wfre_rng_below(rng, end - first));
        wfre_list targets = wfre_group_targets(edges, edge.group);
        wfre_entity z = targets.ids[wfre_rng_below(rng, (uint32_t)targets.count)];
        uint32_t back = wfre_find_group(edges, edge.relation ^ 1, z);
        if (back == WFRE_NONE)
            continue;
        wfre_list like = wfre_group_targets(edges, back);
        wfre_entity y = like.ids[wfre_rng_below(rng, (uint32_t)like.count)];
        if (wfre_find_group(edges, relation, y) == WFRE_NONE)
            return y;
    }
    return WFRE_NONE;
}

/* A step that visits all of `count` places before any comes again, evenly: coprime to it, and near
 * the golden section. */
static uint32_t find_stride(uint32_t count)
{
    uint32_t stride = (uint32_t)(0.618 * count) + 1, a, b;
    for (;; stride++) {
        for (a = count, b = stride; b > 0;) {
            uint32_t rest = a % b;
            a = b;
            b = rest;
        }
        if (a <= 1)
            return stride;
    }
}

/* Whether the next split knows more of a group of edges. */
static bool lacks(const wfre_asking *asking, const wfre_adjacency *edges, wfre_relation relation,
                  uint32_t group)
{
    wfre_split next = (wfre_split)(asking->split + 1);
    size_t all =
        wfre_graph_targets(asking->graph, next, relation, edges->group_entity[group]).count;
    return all > wfre_group_targets(edges, group).count;
}

/* The groups that lack something, ascending; to be freed. NULL if there is no memory. */
static uint32_t *list_lacking(const wfre_asking *asking, const wfre_adjacency *edges, size_t *count)
{
    wfre_relation relations = wfre_graph_relations(asking->graph);
    uint32_t *groups = NULL;
    size_t capacity = 0;
    *count = 0;
    for (wfre_relation r = 0; r < relations; r++)
        for (uint32_t g = edges->relation_groups[r]; g < edges->relation_groups[r + 1]; g++)
            if (lacks(asking, edges, r, g)) {
                if (!WFRE_RESERVE(&groups, &capacity, *count + 1))
                    goto failed;
                groups[(*count)++] = g;
            }
    if (groups || WFRE_RESERVE(&groups, &capacity, 1))
        return groups;
failed:
    wfre_free(groups);
    return NULL;
}

/* Adds the question that a group of edges stands for, or one like it of an entity without any. */
static wfre_status add_group(const wfre_asking *asking, wfre_asked_kind kind, uint32_t group,
                             wfre_rng *rng, wfre_asked_set *set, wfre_error *error)
{
    const wfre_graph *graph = asking->graph;
    const wfre_adjacency *edges = wfre_graph_adjacency(graph, asking->split);
    wfre_relation relation = wfre_group_relation(edges, wfre_graph_relations(graph), group);
    wfre_entity entity = edges->group_entity[group];
    if (kind == WFRE_ASKED_SOUND && lacks(asking, edges, relation, group))
        return WFRE_OK;
    if (kind == WFRE_ASKED_FRESH)
        entity = find_fresh(edges, relation, entity, rng);
    if (entity == WFRE_NONE)
        return WFRE_OK;
    const wfre_node *tree =
        wfre_node_project(&set->arena, relation, wfre_node_entity(&set->arena, entity));
    return wfre_asked_add(
        set, tree, wfre_graph_targets(graph, asking->split, relation, entity),
        wfre_graph_targets(graph, (wfre_split)(asking->split + 1), relation, entity),
        wfre_graph_targets(graph, WFRE_TEST, relation, entity), wfre_asked_apart(entity), error);
}

wfre_status wfre_asked_edges(const wfre_asking *asking, wfre_asked_kind kind, wfre_asked_set *set,
                             wfre_error *error)
{
    wfre_status status = WFRE_OK;
    const wfre_graph *graph = asking->graph;
    CHECK(wfre_graph_settle(graph, error));
    const wfre_adjacency *edges = wfre_graph_adjacency(graph, asking->split);
    uint32_t groups = edges->relation_groups[wfre_graph_relations(graph)], *chosen = NULL;
    size_t lacking = 0;
    if (kind == WFRE_ASKED_LACKING || kind == WFRE_ASKED_SOUND) {
        chosen = list_lacking(asking, edges, &lacking);
        if (!chosen)
            TRY(wfre_fail_memory(error, "drawing questions"));
    }
    set->all = kind == WFRE_ASKED_LACKING ? lacking : groups - lacking;
    uint32_t places = kind == WFRE_ASKED_LACKING ? (uint32_t)lacking : groups;
    uint32_t stride = find_stride(places);
    wfre_rng start = wfre_rng_for(asking->seed, WFRE_FOR_FITTING, kind, SIZE_MAX);
    uint64_t place = places > 0 ? wfre_rng_below(&start, places) : 0;
    bool filled = kind == WFRE_ASKED_SOUND; /* up to the number that is wanted */
    for (size_t i = 0; i < places && (filled ? set->count : i) < asking->count; i++) {
        wfre_rng rng = wfre_rng_for(asking->seed, WFRE_FOR_FITTING, kind, i);
        uint32_t group = kind == WFRE_ASKED_LACKING ? chosen[place] : (uint32_t)place;
        place = (place + stride) % places;
        TRY(add_group(asking, kind, group, &rng, set, error));
    }
cleanup:
    wfre_free(chosen);
    return status;
}

/* The answers of a split, copied. */
static wfre_status answer(wfre_exact *exact, wfre_split split, const wfre_node *tree,
                          wfre_arena *arena, wfre_list *answers, wfre_error *error)
{
    CHECK(wfre_exact_tree(exact, split, tree, answers, error));
    wfre_entity *ids = wfre_arena_alloc(arena, answers->count, sizeof *ids);
    if (!ids)
        return wfre_fail_memory(error, "drawing questions");
    if (answers->count > 0)
        memcpy(ids, answers->ids, answers->count * sizeof *ids);
    answers->ids = ids;
    return WFRE_OK;
}

/* Adds a grown question with a copy of its answers. */
static wfre_status add_grown(const wfre_asking *asking, const wfre_sampled *drawn,
                             wfre_exact *exact, bool apart, wfre_asked_set *set, wfre_error *error)
{
    wfre_list lists[3];
    const wfre_split splits[] = {asking->split, (wfre_split)(asking->split + 1), WFRE_TEST};
    const wfre_node *tree = wfre_tree_copy(&set->arena, drawn->tree);
    if (!tree)
        return wfre_fail_memory(error, "drawing questions");
    for (int i = 0; i < 3; i++)
        CHECK(answer(exact, splits[i], tree, &set->arena, &lists[i], error));
    return wfre_asked_add(set, tree, lists[0], lists[1], lists[2], apart, error);
}

/* One question of each type that the graph has. */
static wfre_status grow_round(const wfre_asking *asking, wfre_sampler *sampler, wfre_exact *exact,
                              uint64_t round, bool *hopeless, wfre_asked_set *set,
                              wfre_error *error)
{
    wfre_status status = WFRE_OK;
    for (uint32_t type = 0; type < wfre_sampler_type_count(sampler); type++) {
        const wfre_sampled *drawn;
        if (hopeless[type])
            continue;
        status = wfre_sampler_step(sampler, NULL, round, &type, 1, &drawn, error);
        hopeless[type] = status == WFRE_ERR_NOT_FOUND;
        if (hopeless[type])
            continue;
        CHECK(status);
        CHECK(add_grown(asking, drawn, exact, round % 3 == 2, set, error));
    }
    return WFRE_OK;
}

wfre_status wfre_asked_shapes(const wfre_asking *asking, wfre_pool *pool, wfre_asked_set *set,
                              wfre_error *error)
{
    (void)pool;
    wfre_status status;
    wfre_sampler *sampler = NULL;
    wfre_exact *exact = NULL;
    bool *hopeless = NULL;
    TRY(wfre_sampler_create(asking->graph, asking->split, SHAPES, MOST_ANSWERS, asking->seed,
                            &sampler, error));
    TRY(wfre_exact_create(asking->graph, &exact, error));
    hopeless = wfre_alloc_zero(wfre_sampler_type_count(sampler), sizeof *hopeless);
    if (!hopeless)
        TRY(wfre_fail_memory(error, "drawing questions"));
    for (uint32_t type = 0; type < wfre_sampler_type_count(sampler); type++)
        wfre_sampler_limit(sampler, type, 1000);
    double end = wfre_clock() + asking->seconds;
    for (uint64_t round = 0; round < asking->count; round++) {
        if (asking->seconds > 0 && wfre_clock() > end)
            break;
        TRY(grow_round(asking, sampler, exact, round, hopeless, set, error));
    }
cleanup:
    wfre_free(hopeless);
    wfre_exact_free(exact);
    wfre_sampler_free(sampler);
    return status;
}

/* ---- asking ------------------------------------------------------------------------------- */

/* A batch of questions and what is wanted of them. */
typedef struct batch {
    const wfre_survey *survey;
    const wfre_asked *list;
    size_t first;
    wfre_answered *use;
    void *context;
    wfre_wanted wanted[BATCH];
    wfre_hit hits[BATCH][DEPTH];
} batch;

static wfre_status use_scores(void *context, const wfre_scores *scores, const uint32_t *questions,
                              wfre_error *error)
{
    batch *b = context;
    CHECK(wfre_scores_top(scores, questions, b->wanted, error));
    for (size_t q = 0; q < scores->count; q++) {
        size_t index = questions[q];
        CHECK(b->use(b->context, &b->list[index], b->first + index, &b->wanted[index],
                     scores->reasoner, error));
    }
    return WFRE_OK;
}

static wfre_status ask(batch *b, size_t count, wfre_arena *arena, wfre_error *error)
{
    const wfre_survey *s = b->survey;
    const wfre_node *trees[BATCH];
    wfre_arena_reset(arena);
    for (size_t q = 0; q < count; q++) {
        trees[q] = b->list[q].tree;
        b->wanted[q] = (wfre_wanted){.top = DEPTH, .hits = b->hits[q]};
        CHECK(wfre_exact_settled(s->session->exact, s->split, trees[q], b->list[q].done, arena,
                                 &b->wanted[q].without, error));
    }
    wfre_inference questions = {
        .trees = trees, .count = count, .way = s->way, .split = s->split, .purpose = WFRE_FOR_TOP};
    return wfre_infer(s->session, &questions, use_scores, b, error);
}

/* How many questions there is time for, by what those before took; at most a batch. */
static size_t next_batch(double start, double seconds, size_t done)
{
    double spent = wfre_clock() - start;
    double room = spent > 0 ? (seconds - spent) * (double)done / spent : BATCH;
    return room < 1 ? 0 : room < BATCH ? (size_t)room : BATCH;
}

wfre_status wfre_survey_run(const wfre_survey *survey, const wfre_asked *list, size_t count,
                            wfre_answered *use, void *context, size_t *done, wfre_error *error)
{
    wfre_status status = WFRE_OK;
    double start = wfre_clock();
    wfre_arena arena = {0};
    batch *b = wfre_alloc_zero(1, sizeof *b);
    if (!b)
        return wfre_fail_memory(error, "asking questions");
    *b = (batch){.survey = survey, .use = use, .context = context};
    *done = 0;
    size_t most = survey->seconds > 0 ? SHORT : BATCH;
    while (*done < count && most > 0) {
        size_t part = count - *done < most ? count - *done : most;
        b->list = list + *done;
        b->first = *done;
        TRY(ask(b, part, &arena, error));
        *done += part;
        if (survey->seconds > 0)
            most = next_batch(start, survey->seconds, *done);
        wfre_report(survey->monitor, survey->task, *done, count, NULL);
        TRY(wfre_check_interrupt(survey->monitor, error));
    }
cleanup:
    wfre_arena_free(&arena);
    wfre_free(b);
    return status;
}
