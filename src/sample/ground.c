/* Backward walks, forward ones for paths, and the check that no branch is idle. */
#include "sample/ground.h"

typedef struct walk {
    const wfre_adjacency *edges;
    wfre_rng *rng;
    wfre_arena *arena;
    bool dead_end; /* else NULL means out of memory */
} walk;

static const wfre_node *ground(walk *w, const wfre_node *type, wfre_entity answer,
                               wfre_relation ahead);

static const wfre_node *give_up(walk *w)
{
    w->dead_end = true;
    return NULL;
}

static wfre_entity any_target(const walk *w, uint32_t group)
{
    wfre_list targets = wfre_group_targets(w->edges, group);
    return targets.ids[wfre_rng_below(w->rng, (uint32_t)targets.count)];
}

/* One of the entity's relations, all equally likely but for the barred one; false if it has none.
 */
static bool any_edges(const walk *w, wfre_entity entity, wfre_relation barred,
                      wfre_edge_group *edges)
{
    uint32_t begin = w->edges->entity_begin[entity];
    uint32_t count = w->edges->entity_begin[entity + 1] - begin, gap = 0;
    while (gap < count && wfre_edge_relation(w->edges, begin + gap) != barred)
        gap++;
    uint32_t choices = count - (gap < count);
    if (choices == 0)
        return false;
    uint32_t pick = wfre_rng_below(w->rng, choices);
    *edges = wfre_entity_edge(w->edges, begin + pick + (pick >= gap));
    return true;
}

/* (h, relation, answer) is an edge of the answer along relation ^ 1. `ahead` is the projection
 * above this one, WFRE_NONE if there is none; taking its inverse would lead back to where it leads.
 */
static const wfre_node *ground_projection(walk *w, const wfre_node *type, wfre_entity answer,
                                          wfre_relation ahead)
{
    wfre_edge_group edges;
    if (!any_edges(w, answer, ahead, &edges))
        return give_up(w);
    wfre_relation relation = edges.relation ^ 1;
    wfre_entity head = any_target(w, edges.group);
    return wfre_node_project(w->arena, relation, ground(w, type->children[0], head, relation));
}

static const wfre_node *ground_branches(walk *w, const wfre_node *type, wfre_entity answer)
{
    const wfre_node **children = wfre_arena_alloc(w->arena, type->child_count, sizeof *children);
    if (!children)
        return NULL;
    for (uint32_t i = 0; i < type->child_count; i++) {
        children[i] = ground(w, type->children[i], answer, WFRE_NONE);
        if (!children[i])
            return NULL;
        for (uint32_t k = 0; k < i; k++)
            if (wfre_node_equal(children[i], children[k]))
                return give_up(w);
    }
    return wfre_node_make(w->arena, type->op, WFRE_NONE, children, type->child_count);
}

static const wfre_node *ground(walk *w, const wfre_node *type, wfre_entity answer,
                               wfre_relation ahead)
{
    switch (type->op) {
    case WFRE_OP_ENTITY:
        return wfre_node_entity(w->arena, answer);
    case WFRE_OP_PROJECT:
        return ground_projection(w, type, answer, ahead);
    case WFRE_OP_NEGATE:
        return wfre_node_negate(w->arena, ground(w, type->children[0], answer, ahead));
    case WFRE_OP_INTERSECT:
    case WFRE_OP_UNION:
        break;
    }
    return ground_branches(w, type, answer);
}

wfre_status wfre_ground(const wfre_graph *graph, wfre_split split, const wfre_node *type,
                        wfre_rng *rng, wfre_arena *arena, const wfre_node **tree, wfre_error *error)
{
    uint32_t entities = wfre_graph_entities(graph);
    walk w = {wfre_graph_adjacency(graph, split), rng, arena, false};
    *tree = NULL;
    if (entities == 0)
        return WFRE_OK;
    *tree = ground(&w, type, wfre_rng_below(rng, entities), WFRE_NONE);
    return *tree || w.dead_end ? WFRE_OK : wfre_fail_memory(error, "sampling a query");
}

/* ---- forwards ----------------------------------------------------------------------------- */

wfre_status wfre_ground_path(const wfre_graph *graph, wfre_split split, unsigned length,
                             wfre_rng *rng, wfre_arena *arena, const wfre_node **tree,
                             wfre_error *error)
{
    walk w = {wfre_graph_adjacency(graph, split), rng, arena, false};
    uint32_t groups = w.edges->relation_groups[wfre_graph_relations(graph)];
    *tree = NULL;
    if (groups == 0)
        return WFRE_OK;
    wfre_edge_group at = {.group = wfre_rng_below(rng, groups)};
    at.relation = wfre_group_relation(w.edges, wfre_graph_relations(graph), at.group);
    const wfre_node *path = wfre_node_project(
        arena, at.relation, wfre_node_entity(arena, w.edges->group_entity[at.group]));
    for (unsigned i = 1; path && i < length; i++) {
        if (!any_edges(&w, any_target(&w, at.group), at.relation ^ 1, &at))
            return WFRE_OK;
        path = wfre_node_project(arena, at.relation, path);
    }
    *tree = path;
    return path ? WFRE_OK : wfre_fail_memory(error, "sampling a query");
}

wfre_status wfre_ground_fact(const wfre_graph *graph, wfre_split split, wfre_rng *rng,
                             wfre_arena *arena, const wfre_node **tree, wfre_error *error)
{
    const wfre_adjacency *edges = wfre_graph_adjacency(graph, split);
    wfre_relation relations = wfre_graph_relations(graph);
    uint32_t groups = edges->relation_groups[relations];
    *tree = NULL;
    if (groups == 0 || edges->group_begin[groups] == 0)
        return WFRE_OK;
    uint32_t index = wfre_rng_below(rng, edges->group_begin[groups]);
    uint32_t group = wfre_group_of_target(edges, groups, index);
    wfre_relation relation = wfre_group_relation(edges, relations, group);
    wfre_entity head = edges->group_entity[group];
    if (wfre_graph_has(graph, (wfre_split)(split - 1), head, relation, edges->targets[index]))
        return WFRE_OK;
    *tree = wfre_node_project(arena, relation, wfre_node_entity(arena, head));
    return *tree ? WFRE_OK : wfre_fail_memory(error, "sampling a query");
}

/* ---- branches ----------------------------------------------------------------------------- */

typedef struct branch_check {
    wfre_exact *exact;
    wfre_split split;
    wfre_branch_rule rule;
    const wfre_node *tree;
    size_t count;
} branch_check;

static wfre_status check_below(const branch_check *check, const wfre_node *node, bool *matter,
                               wfre_error *error)
{
    for (uint32_t i = 0; i < node->child_count && *matter; i++) {
        const wfre_node *child = node->children[i];
        bool asked = check->rule == WFRE_BRANCHES_ALL || child->op == WFRE_OP_NEGATE;
        if (node->child_count > 1 && asked)
            CHECK(wfre_exact_matters(check->exact, check->split, check->tree, child, check->count,
                                     matter, error));
        if (*matter)
            CHECK(check_below(check, child, matter, error));
    }
    return WFRE_OK;
}

wfre_status wfre_branches_matter(wfre_exact *exact, wfre_split split, wfre_branch_rule rule,
                                 const wfre_node *tree, size_t count, bool *matter,
                                 wfre_error *error)
{
    branch_check check = {exact, split, rule, tree, count};
    *matter = true;
    return check_below(&check, tree, matter, error);
}
