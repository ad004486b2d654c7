/* Names while they are typed: the best few of all that fit, kept in order. */
#include <string.h>

#include "graph/graph.h"
#include "infer/session.h"
#include "wfre/everyday.h"

enum { MOST_LOOKED_AT = 1000 };

void wfre_complete_options_default(wfre_complete_options *options)
{
    *options = (wfre_complete_options){.entities = true, .relations = true, .having = WFRE_NONE};
}

/* An item among the best, with what its place depends on. */
typedef struct candidate {
    wfre_completion item;
    size_t length; /* of the text that fits; the shorter the better */
} candidate;

typedef struct completing {
    const wfre_complete_options *options;
    const wfre_name_index *index;
    bool of_relations;
    wfre_list fitting; /* entities that fit, if it matters */
    size_t next;       /* the first of them that is not below the item before */
    const bool *have;  /* [relations]: whether the entities have it; NULL if no matter */
    candidate *best;   /* a heap, the worst on top */
    size_t count, top;
} completing;

static bool is_better(const candidate *a, const candidate *b)
{
    if (a->item.fits != b->item.fits)
        return a->item.fits;
    if (a->item.match != b->item.match)
        return a->item.match < b->item.match;
    if (a->item.is_relation != b->item.is_relation)
        return a->item.is_relation;
    if (a->item.count != b->item.count)
        return a->item.count > b->item.count;
    return a->length != b->length ? a->length < b->length : a->item.id < b->item.id;
}

/* Lets heap[at] sink to its place. */
static void sink(candidate *heap, size_t count, size_t at)
{
    candidate own = heap[at];
    for (size_t child; (child = 2 * at + 1) < count; at = child) {
        if (child + 1 < count && is_better(&heap[child], &heap[child + 1]))
            child++;
        if (!is_better(&own, &heap[child]))
            break;
        heap[at] = heap[child];
    }
    heap[at] = own;
}

static void offer(completing *c, const candidate *next)
{
    if (c->options->only && !next->item.fits)
        return;
    if (c->count == c->top) {
        if (c->top > 0 && is_better(next, &c->best[0])) {
            c->best[0] = *next;
            sink(c->best, c->count, 0);
        }
        return;
    }
    size_t at = c->count++;
    for (; at > 0 && is_better(&c->best[(at - 1) / 2], next); at = (at - 1) / 2)
        c->best[at] = c->best[(at - 1) / 2];
    c->best[at] = *next;
}

static void settle(completing *c)
{
    for (size_t count = c->count; count > 1; count--) {
        candidate worst = c->best[0];
        c->best[0] = c->best[count - 1];
        c->best[count - 1] = worst;
        sink(c->best, count - 1, 0);
    }
}

/* ---- what is found ------------------------------------------------------------------------ */

static void found_entity(completing *c, candidate *own)
{
    if (c->options->having != WFRE_NONE) {
        while (c->next < c->fitting.count && c->fitting.ids[c->next] < own->item.id)
            c->next++;
        own->item.fits = c->next < c->fitting.count && c->fitting.ids[c->next] == own->item.id;
    }
    offer(c, own);
}

/* Of the two directions those that the entities have; if neither, the forward one. */
static void found_relation(completing *c, candidate *own)
{
    wfre_relation forward = 2 * own->item.id;
    bool any = false;
    own->item.is_relation = true;
    for (wfre_relation inverse = 0; c->have && inverse < 2; inverse++)
        if (c->have[forward + inverse]) {
            own->item.id = forward + inverse;
            offer(c, own);
            any = true;
        }
    if (any)
        return;
    own->item.id = forward;
    own->item.fits = !c->have;
    offer(c, own);
}

static void found(void *context, uint32_t item, wfre_name_match match, size_t length)
{
    completing *c = context;
    candidate own = {.length = length};
    own.item = (wfre_completion){.id = item,
                                 .match = (wfre_match)match,
                                 .fits = true,
                                 .count = wfre_name_index_count(c->index, item)};
    if (c->of_relations)
        found_relation(c, &own);
    else
        found_entity(c, &own);
}

/* ---- what fits ---------------------------------------------------------------------------- */

static bool *relations_of(const wfre_graph *graph, wfre_list entities)
{
    bool *have = wfre_alloc_zero(wfre_graph_relations(graph), sizeof *have);
    const wfre_adjacency *edges = wfre_graph_adjacency(graph, WFRE_TEST);
    size_t step = entities.count / MOST_LOOKED_AT + 1;
    for (size_t i = 0; have && i < entities.count; i += step) {
        uint32_t first, end = wfre_entity_edges(edges, entities.ids[i], &first);
        for (uint32_t k = first; k < end; k++)
            have[wfre_edge_relation(edges, k)] = true;
    }
    return have;
}

static wfre_status check(const wfre_engine *engine, const wfre_complete_options *options,
                         wfre_error *error)
{
    if (!engine->graph)
        return wfre_fail(error, WFRE_ERR_UNSUPPORTED, WFRE_NO_OFFSET, "there is no graph");
    if (options->having != WFRE_NONE && options->having >= wfre_graph_relations(engine->graph))
        return wfre_fail(error, WFRE_ERR_ARGUMENT, WFRE_NO_OFFSET,
                         "relation #%u is not in the graph", options->having);
    for (size_t i = 0; i < options->of.count; i++)
        if (options->of.ids[i] >= wfre_graph_entities(engine->graph))
            return wfre_fail(error, WFRE_ERR_ARGUMENT, WFRE_NO_OFFSET,
                             "entity #%u is not in the graph", options->of.ids[i]);
    return WFRE_OK;
}

wfre_status wfre_engine_complete(wfre_engine *engine, const char *text, size_t length,
                                 const wfre_complete_options *options, wfre_completion *items,
                                 size_t capacity, size_t *count, wfre_error *error)
{
    GIVEN(engine);
    GIVEN(options);
    GIVEN(count);
    wfre_status status = WFRE_OK;
    const wfre_name_index *const *names;
    completing c = {.options = options, .top = capacity};
    bool *have = NULL;
    CHECK(check(engine, options, error));
    c.best = wfre_alloc(capacity, sizeof *c.best);
    if (options->of.count > 0)
        c.have = have = relations_of(engine->graph, options->of);
    if (!c.best || (options->of.count > 0 && !have))
        TRY(wfre_fail_memory(error, "completing a name"));
    TRY(wfre_engine_names(engine, &names, error));
    if (options->having != WFRE_NONE)
        c.fitting = wfre_graph_sources(engine->graph, WFRE_TEST, options->having);
    for (int i = 0; i < 2; i++) {
        c.of_relations = i == 1;
        c.index = names[i];
        if (c.of_relations ? options->relations : options->entities)
            TRY(wfre_name_index_search(c.index, text, length, found, &c, error));
    }
    TRY(wfre_graph_sound(engine->graph, error));
    settle(&c);
    for (size_t i = 0; i < c.count; i++)
        items[i] = c.best[i].item;
    *count = c.count;
cleanup:
    wfre_free(c.best);
    wfre_free(have);
    return status;
}
