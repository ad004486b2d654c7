/* A step costs as many mixed matrices as its batch has relations. Some relations are in every batch
 * anyway; the others get a batch that they are at home in, as evenly as their queries allow, and a
 * query goes where its rarest relations are at home, if there is room for its type. Queries with
 * rare relations choose first. */
#include "train/deal.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "query/tree.h"

enum { MOST_RELATIONS = 8 }; /* of a query that are looked at */

/* A query, or a relation, with what it is sorted by. */
typedef struct ranked {
    uint32_t index, key;
} ranked;

static int by_key(const void *a, const void *b)
{
    const ranked *x = a, *y = b;
    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return x->index < y->index ? -1 : x->index > y->index;
}

static size_t list_relations(const wfre_node *node, uint32_t *out, size_t used)
{
    if (node->op == WFRE_OP_PROJECT && used < MOST_RELATIONS)
        out[used++] = node->id;
    for (uint32_t i = 0; i < node->child_count; i++)
        used = list_relations(node->children[i], out, used);
    return used;
}

typedef struct dealing {
    const wfre_sampled *drawn;
    size_t batches, queries, types;
    uint32_t *uses;  /* [relations] how many projections */
    uint32_t *home;  /* [relations] a batch */
    uint32_t *room;  /* [batches, types] queries that it still takes */
    uint32_t *given; /* [batches] queries that it has */
} dealing;

/* Frequent relations first, each to the batch with the fewest uses so far. */
static void find_homes(dealing *d, ranked *relations, size_t count, uint64_t *load)
{
    for (size_t r = 0; r < count; r++)
        relations[r] = (ranked){(uint32_t)r, UINT32_MAX - d->uses[r]};
    qsort(relations, count, sizeof *relations, by_key);
    memset(load, 0, d->batches * sizeof *load);
    for (size_t i = 0; i < count; i++) {
        size_t best = 0;
        for (size_t b = 1; b < d->batches; b++)
            best = load[b] < load[best] ? b : best;
        d->home[relations[i].index] = (uint32_t)best;
        load[best] += d->uses[relations[i].index];
    }
}

/* The batch with room for the query where most of it is at home; else where there is most room. */
static size_t choose(const dealing *d, const wfre_sampled *query)
{
    uint32_t relations[MOST_RELATIONS];
    size_t count = list_relations(query->tree, relations, 0), best = d->batches;
    double highest = -1;
    for (size_t b = 0; b < d->batches; b++) {
        uint32_t room = d->room[b * d->types + query->type];
        double value = 1e-9 * room;
        for (size_t i = 0; i < count; i++)
            value += d->home[relations[i]] == b ? 1.0 / d->uses[relations[i]] : 0;
        if (room > 0 && value > highest) {
            highest = value;
            best = b;
        }
    }
    return best;
}

static void deal_out(dealing *d, ranked *ranks, uint32_t *order)
{
    size_t all = d->batches * d->queries;
    for (uint32_t k = 0; k < all; k++) {
        uint32_t relations[MOST_RELATIONS], rarest = UINT32_MAX;
        size_t count = list_relations(d->drawn[k].tree, relations, 0);
        for (size_t i = 0; i < count; i++)
            rarest = d->uses[relations[i]] < rarest ? d->uses[relations[i]] : rarest;
        ranks[k] = (ranked){k, rarest};
    }
    qsort(ranks, all, sizeof *ranks, by_key);
    for (size_t k = 0; k < all; k++) {
        const wfre_sampled *query = &d->drawn[ranks[k].index];
        size_t b = choose(d, query);
        d->room[b * d->types + query->type]--;
        order[b * d->queries + d->given[b]++] = ranks[k].index;
    }
}

wfre_status wfre_deal(const wfre_sampled *drawn, size_t batches, size_t queries, size_t types,
                      size_t relations, uint32_t *order, wfre_error *error)
{
    size_t all = batches * queries, most = all > relations ? all : relations;
    wfre_arena arena = {0};
    wfre_status status = WFRE_OK;
    dealing d = {drawn, batches, queries, types, NULL, NULL, NULL, NULL};
    d.uses = wfre_arena_alloc(&arena, relations, sizeof *d.uses);
    d.home = wfre_arena_alloc(&arena, relations, sizeof *d.home);
    d.room = wfre_arena_alloc(&arena, batches * types, sizeof *d.room);
    d.given = wfre_arena_alloc(&arena, batches, sizeof *d.given);
    ranked *ranks = wfre_arena_alloc(&arena, most, sizeof *ranks);
    uint64_t *load = wfre_arena_alloc(&arena, batches, sizeof *load);
    if (!d.uses || !d.home || !d.room || !d.given || !ranks || !load) {
        status = wfre_fail_memory(error, "dealing out queries");
        goto cleanup;
    }
    memset(d.uses, 0, relations * sizeof *d.uses);
    memset(d.room, 0, batches * types * sizeof *d.room);
    memset(d.given, 0, batches * sizeof *d.given);
    for (size_t k = 0; k < all; k++) {
        uint32_t list[MOST_RELATIONS];
        size_t count = list_relations(drawn[k].tree, list, 0);
        for (size_t i = 0; i < count; i++)
            d.uses[list[i]]++;
        d.room[k / queries * types + drawn[k].type]++;
    }
    find_homes(&d, ranks, relations, load);
    deal_out(&d, ranks, order);
cleanup:
    wfre_arena_free(&arena);
    return status;
}
