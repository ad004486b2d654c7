/* The query types of EFO-1-QA, generated in the published order.
 *
 * The published ids count every tree that the enumeration below comes upon, also those that equal
 * an earlier one once their arguments are sorted; a type has the number of its first appearance. So
 * the lists here keep repetitions to the end. */
#include "query/types.h"

enum { ANCHORS = 3, DEPTH = 3 };

typedef struct tree_list {
    const wfre_node **trees;
    size_t count;
    size_t capacity;
} tree_list;

typedef struct generator {
    wfre_arena *arena;
    /* [depth][anchors][inside]: the sets with that many projections and negations left; inside a
     * projection or negation, no further one may stand above an intersection or union. */
    tree_list sets[DEPTH + 1][ANCHORS + 1][2];
    bool failed; /* out of memory */
} generator;

static void push(generator *g, tree_list *list, const wfre_node *tree)
{
    if (!tree || !WFRE_RESERVE(&list->trees, &list->capacity, list->count + 1))
        g->failed = true;
    else
        list->trees[list->count++] = tree;
}

/* Both arguments are sorted already. */
static void push_pair(generator *g, tree_list *list, wfre_op op, const wfre_node *a,
                      const wfre_node *b)
{
    bool swap = wfre_node_compare(a, b) > 0;
    push(g, list, wfre_node_pair(g->arena, op, swap ? b : a, swap ? a : b));
}

/* (p,(e)), (p,(p,(e))), ... */
static void add_chains(generator *g, tree_list *list, unsigned depth)
{
    const wfre_node *chain = wfre_node_entity(g->arena, WFRE_NONE);
    for (unsigned i = 0; i < depth; i++) {
        chain = wfre_node_project(g->arena, WFRE_NONE, chain);
        push(g, list, chain);
    }
}

static void add_pairs(generator *g, tree_list *list, wfre_op op, unsigned depth, unsigned anchors,
                      bool inside)
{
    for (unsigned left = 1; left < anchors; left++) {
        const tree_list *a = &g->sets[depth][left][inside];
        const tree_list *b = &g->sets[depth][anchors - left][inside];
        bool negation = op == WFRE_OP_INTERSECT && depth > 0 && !(inside && anchors - left > 1);
        const tree_list *n = negation ? &g->sets[depth - 1][anchors - left][true] : NULL;
        for (size_t i = 0; i < a->count; i++) {
            for (size_t k = 0; k < b->count; k++)
                push_pair(g, list, op, a->trees[i], b->trees[k]);
            for (size_t k = 0; n && k < n->count && !g->failed; k++) {
                const wfre_node *negated = wfre_node_negate(g->arena, n->trees[k]);
                if (negated)
                    push_pair(g, list, op, a->trees[i], negated);
                else
                    g->failed = true;
            }
        }
    }
}

static void generate(generator *g, unsigned depth, unsigned anchors, bool inside)
{
    tree_list *list = &g->sets[depth][anchors][inside];
    if (anchors == 1) {
        add_chains(g, list, depth);
        return;
    }
    const tree_list *below = depth > 0 && !inside ? &g->sets[depth - 1][anchors][true] : NULL;
    for (size_t i = 0; below && i < below->count; i++)
        push(g, list, wfre_node_project(g->arena, WFRE_NONE, below->trees[i]));
    add_pairs(g, list, WFRE_OP_INTERSECT, depth, anchors, inside);
    add_pairs(g, list, WFRE_OP_UNION, depth, anchors, inside);
}

/* The first appearance of each tree. */
static wfre_efo1_type *select_types(generator *g, size_t *count)
{
    size_t total = 0, kept = 0;
    for (unsigned a = 1; a <= ANCHORS; a++)
        total += g->sets[DEPTH][a][false].count;
    wfre_efo1_type *types = wfre_arena_alloc(g->arena, total, sizeof *types);
    uint32_t number = 0;
    for (unsigned a = 1; types && a <= ANCHORS; a++)
        for (size_t i = 0; i < g->sets[DEPTH][a][false].count; i++, number++) {
            const wfre_node *tree = g->sets[DEPTH][a][false].trees[i];
            size_t k = 0;
            while (k < kept && !wfre_node_equal(types[k].tree, tree))
                k++;
            if (k == kept)
                types[kept++] = (wfre_efo1_type){tree, number};
        }
    *count = kept;
    return types;
}

wfre_status wfre_efo1_types(wfre_arena *arena, const wfre_efo1_type **types, size_t *count,
                            wfre_error *error)
{
    generator g = {.arena = arena};
    for (unsigned depth = 0; depth <= DEPTH; depth++)
        for (unsigned anchors = 1; anchors <= ANCHORS; anchors++)
            for (int inside = 1; inside >= 0 && !g.failed; inside--)
                generate(&g, depth, anchors, inside);
    const wfre_efo1_type *found = g.failed ? NULL : select_types(&g, count);
    for (unsigned depth = 0; depth <= DEPTH; depth++)
        for (unsigned anchors = 1; anchors <= ANCHORS; anchors++)
            for (int inside = 0; inside < 2; inside++)
                wfre_free(g.sets[depth][anchors][inside].trees);
    if (!found)
        return wfre_fail_memory(error, "generating query types");
    *types = found;
    return WFRE_OK;
}
