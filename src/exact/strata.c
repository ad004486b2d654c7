/* Strata from the leaves up. Variables of a tree do not meet, so the easiest way to an entity
 * consists of easiest ways to the entities below it. */
#include "exact/strata.h"

#include "base/memory.h"

/* The cost of a way: MISSING for a missing edge, less one for a known one, so that the cheapest is
 * what the header says; NO_WAY for what is no answer. */
static const int64_t MISSING = (int64_t)1 << 32, NO_WAY = INT64_MAX / 2;

typedef struct stratifying {
    wfre_exact *exact;
    wfre_split split;
    const wfre_adjacency *all, *known;
    size_t entities;
    wfre_error *error;
} stratifying;

static void fill(const stratifying *run, int64_t *costs, int64_t cost)
{
    for (size_t e = 0; e < run->entities; e++)
        costs[e] = cost;
}

/* The ways over the edges of one entity. */
static void follow(const stratifying *run, wfre_relation relation, uint32_t group, int64_t before,
                   int64_t *costs)
{
    wfre_list all = wfre_group_targets(run->all, group), known = {0};
    uint32_t smaller = wfre_find_group(run->known, relation, run->all->group_entity[group]);
    if (smaller != WFRE_NONE)
        known = wfre_group_targets(run->known, smaller);
    for (size_t i = 0, k = 0; i < all.count; i++) {
        while (k < known.count && known.ids[k] < all.ids[i])
            k++;
        bool has = k < known.count && known.ids[k] == all.ids[i];
        int64_t cost = before + (has ? -1 : MISSING);
        if (cost < costs[all.ids[i]])
            costs[all.ids[i]] = cost;
    }
}

static wfre_status stratify(const stratifying *run, const wfre_node *node, int64_t *costs);

static wfre_status stratify_projection(const stratifying *run, const wfre_node *node,
                                       int64_t *costs)
{
    wfre_status status = WFRE_OK;
    const uint32_t *groups = run->all->relation_groups + node->id;
    int64_t *below = wfre_alloc(run->entities, sizeof *below);
    if (!below)
        return wfre_fail_memory(run->error, "finding strata");
    TRY(stratify(run, node->children[0], below));
    fill(run, costs, NO_WAY);
    for (uint32_t g = groups[0]; g < groups[1]; g++)
        if (below[run->all->group_entity[g]] < NO_WAY)
            follow(run, node->id, g, below[run->all->group_entity[g]], costs);
cleanup:
    wfre_free(below);
    return status;
}

/* An intersection takes ways through all children, a union one through any. */
static wfre_status stratify_children(const stratifying *run, const wfre_node *node, int64_t *costs)
{
    wfre_status status = WFRE_OK;
    bool all = node->op == WFRE_OP_INTERSECT;
    int64_t *child = wfre_alloc(run->entities, sizeof *child);
    if (!child)
        return wfre_fail_memory(run->error, "finding strata");
    fill(run, costs, all ? 0 : NO_WAY);
    for (uint32_t i = 0; i < node->child_count; i++) {
        TRY(stratify(run, node->children[i], child));
        for (size_t e = 0; e < run->entities; e++)
            if (all)
                costs[e] = costs[e] < NO_WAY && child[e] < NO_WAY ? costs[e] + child[e] : NO_WAY;
            else
                costs[e] = child[e] < costs[e] ? child[e] : costs[e];
    }
cleanup:
    wfre_free(child);
    return status;
}

static wfre_status stratify_complement(const stratifying *run, const wfre_node *node,
                                       int64_t *costs)
{
    wfre_status status;
    wfre_set set = wfre_set_empty();
    TRY(wfre_exact_set(run->exact, run->split, node, &set, run->error));
    for (wfre_entity e = 0; e < run->entities; e++)
        costs[e] = wfre_set_has(&set, e) ? 0 : NO_WAY;
cleanup:
    wfre_set_release(&run->exact->sets, &set);
    return status;
}

static wfre_status stratify(const stratifying *run, const wfre_node *node, int64_t *costs)
{
    switch (node->op) {
    case WFRE_OP_ENTITY:
        fill(run, costs, NO_WAY);
        costs[node->id] = 0;
        return WFRE_OK;
    case WFRE_OP_PROJECT:
        return stratify_projection(run, node, costs);
    case WFRE_OP_NEGATE:
        return stratify_complement(run, node, costs);
    case WFRE_OP_INTERSECT:
    case WFRE_OP_UNION:
        break;
    }
    return stratify_children(run, node, costs);
}

static wfre_stratum stratum_of(int64_t cost)
{
    if (cost >= NO_WAY)
        return (wfre_stratum){WFRE_NONE, 0};
    int64_t missing = (cost + MISSING - 1) >> 32; /* rounded up: known edges take less than one */
    return (wfre_stratum){(uint32_t)missing, (uint32_t)(missing * MISSING - cost)};
}

wfre_status wfre_exact_strata(wfre_exact *exact, wfre_split split, const wfre_node *tree,
                              wfre_list answers, wfre_stratum *strata, wfre_error *error)
{
    wfre_status status = WFRE_OK;
    stratifying run = {.exact = exact,
                       .split = split,
                       .all = wfre_graph_adjacency(exact->graph, split),
                       .known = wfre_graph_adjacency(exact->graph, (wfre_split)(split - 1)),
                       .entities = wfre_graph_entities(exact->graph),
                       .error = error};
    int64_t *costs = wfre_alloc(run.entities, sizeof *costs);
    if (!costs)
        return wfre_fail_memory(error, "finding strata");
    TRY(stratify(&run, tree, costs));
    for (size_t i = 0; i < answers.count; i++)
        strata[i] = stratum_of(costs[answers.ids[i]]);
cleanup:
    wfre_free(costs);
    return status;
}
