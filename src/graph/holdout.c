/* Holding out triples for validation and test.
 *
 * Triples are visited in a random order that the seed decides. One is taken if its head, its tail
 * and its relation all keep another training triple; takings alternate between valid and test. */
#include <math.h>

#include "base/memory.h"
#include "base/rng.h"
#include "graph/builder.h"
#include "graph/import.h"

typedef struct counts {
    uint32_t *entity; /* training triples that an entity is in */
    uint32_t *pair;   /* training triples of a relation */
} counts;

static void count_triple(counts *left, const wfre_triple *triple, uint32_t step)
{
    wfre_entity head = triple->field[WFRE_TRIPLE_HEAD], tail = triple->field[WFRE_TRIPLE_TAIL];
    left->entity[head] += step;
    if (tail != head)
        left->entity[tail] += step;
    left->pair[wfre_triple_pair(triple)] += step;
}

static bool may_go(const counts *left, const wfre_triple *triple)
{
    return left->entity[triple->field[WFRE_TRIPLE_HEAD]] > 1 &&
           left->entity[triple->field[WFRE_TRIPLE_TAIL]] > 1 &&
           left->pair[wfre_triple_pair(triple)] > 1;
}

static void take_share(wfre_graph_builder *builder, uint32_t *order, counts *left, uint64_t share,
                       uint64_t seed)
{
    uint32_t count = (uint32_t)builder->count;
    for (uint32_t i = 0; i < count; i++) {
        order[i] = i;
        count_triple(left, &builder->triples[i], 1);
    }
    wfre_rng rng = wfre_rng_for(seed, WFRE_FOR_DATA, 0, 0);
    uint64_t taken = 0;
    for (uint32_t i = 0; i < count && taken < share; i++) {
        uint32_t other = i + wfre_rng_below(&rng, count - i), picked = order[other];
        order[other] = order[i];
        wfre_triple *triple = &builder->triples[picked];
        if (!may_go(left, triple))
            continue;
        count_triple(left, triple, UINT32_MAX); /* one less */
        wfre_split split = taken++ % 2 == 0 ? WFRE_VALID : WFRE_TEST;
        triple->field[WFRE_TRIPLE_RELATION] |= (uint32_t)split;
    }
}

wfre_status wfre_graph_builder_holdout(wfre_graph_builder *builder, double share, uint64_t seed,
                                       wfre_error *error)
{
    if (!(share >= 0 && share < 1))
        return wfre_fail(error, WFRE_ERR_ARGUMENT, WFRE_NO_OFFSET,
                         "the share to hold out must be at least 0 and below 1");
    counts left = {NULL, NULL};
    uint32_t *order = NULL;
    wfre_status status;
    TRY(wfre_graph_builder_sort(builder, error));
    for (size_t i = 0; i < builder->count; i++)
        if (wfre_triple_split(&builder->triples[i]) != WFRE_TRAIN)
            return wfre_fail(error, WFRE_ERR_ARGUMENT, WFRE_NO_OFFSET,
                             "the sources have valid or test triples already; leave out the "
                             "holdout or import the training file alone");
    order = wfre_alloc(builder->count, sizeof *order);
    left.entity = wfre_alloc_zero(builder->entities.count, sizeof *left.entity);
    left.pair = wfre_alloc_zero(builder->relations.count, sizeof *left.pair);
    if (!order || !left.entity || !left.pair)
        status = wfre_fail_memory(error, "holding out triples");
    else
        take_share(builder, order, &left, (uint64_t)llround(share * (double)builder->count), seed);
cleanup:
    wfre_free(order);
    wfre_free(left.entity);
    wfre_free(left.pair);
    return status;
}
