/* What a graph refutes, found with two bounds of a node's set, whatever triples may be missing:
 * those certain to belong to it, and those that cannot. An edge that the graph has is certain; that
 * there is none never is. */
#include "exact/exact.h"

typedef struct bounding {
    wfre_exact *exact;
    const wfre_adjacency *edges;
    wfre_error *error;
} bounding;

/* The set is the caller's to release, also after a failure. */
static wfre_status bound(const bounding *run, const wfre_node *node, bool certain, wfre_set *set);

/* The children's bounds, all of them or any of them. */
static wfre_status bound_children(const bounding *run, const wfre_node *node, bool certain,
                                  bool all, wfre_set *set)
{
    wfre_sets *sets = &run->exact->sets;
    wfre_status status = WFRE_OK;
    wfre_set other = wfre_set_empty();
    set->complement = all;
    for (uint32_t i = 0; i < node->child_count; i++) {
        TRY(bound(run, node->children[i], certain, &other));
        if (!(all ? wfre_set_intersect(sets, set, &other) : wfre_set_unite(sets, set, &other)))
            TRY(wfre_fail_memory(run->error, "answering a query"));
    }
cleanup:
    wfre_set_release(sets, &other);
    return status;
}

static wfre_status bound_projection(const bounding *run, const wfre_node *node, wfre_set *set)
{
    CHECK(bound(run, node->children[0], true, set));
    if (!wfre_set_project(&run->exact->sets, run->edges, node->id, set))
        return wfre_fail_memory(run->error, "answering a query");
    return WFRE_OK;
}

static wfre_status bound(const bounding *run, const wfre_node *node, bool certain, wfre_set *set)
{
    *set = wfre_set_empty();
    switch (node->op) {
    case WFRE_OP_ENTITY:
        *set = wfre_set_borrow(&node->id, 1);
        set->complement = !certain;
        break;
    case WFRE_OP_PROJECT: /* further edges may lead anywhere */
        return certain ? bound_projection(run, node, set) : WFRE_OK;
    case WFRE_OP_INTERSECT:
        return bound_children(run, node, certain, certain, set);
    case WFRE_OP_UNION:
        return bound_children(run, node, certain, !certain, set);
    case WFRE_OP_NEGATE:
        return bound(run, node->children[0], !certain, set);
    }
    return WFRE_OK;
}

wfre_status wfre_exact_refuted(wfre_exact *exact, wfre_split split, const wfre_node *tree,
                               wfre_set *set, wfre_error *error)
{
    bounding run = {exact, wfre_graph_adjacency(exact->graph, split), error};
    wfre_status status = bound(&run, tree, false, set);
    return status == WFRE_OK ? wfre_graph_sound(exact->graph, error) : status;
}

wfre_status wfre_exact_settled(wfre_exact *exact, wfre_split split, const wfre_node *tree,
                               wfre_list known, wfre_arena *arena, wfre_list *settled,
                               wfre_error *error)
{
    wfre_sets *sets = &exact->sets;
    wfre_set refuted, more = wfre_set_borrow(known.ids, known.count);
    wfre_status status;
    *settled = known;
    TRY(wfre_exact_refuted(exact, split, tree, &refuted, error));
    if (wfre_set_size(sets, &refuted) == 0)
        goto cleanup;
    bool united = wfre_set_unite(sets, &refuted, &more);
    size_t count = wfre_set_size(sets, &refuted);
    wfre_entity *ids = united ? wfre_arena_alloc(arena, count, sizeof *ids) : NULL;
    if (!ids)
        TRY(wfre_fail_memory(error, "answering a query"));
    wfre_set_write(sets, &refuted, ids);
    *settled = (wfre_list){ids, count};
cleanup:
    wfre_set_release(sets, &refuted);
    return status;
}
