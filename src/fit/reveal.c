/* Copies names in the order of their ids, which gives the same ids again. */
#include "fit/reveal.h"

#include "base/error.h"
#include "base/hash.h"
#include "graph/graph.h"

enum { LARGE = 4000000 /* triples */ };

static wfre_status copy_names(const wfre_graph *graph, wfre_graph_builder *to, wfre_error *error)
{
    uint32_t id;
    for (wfre_entity e = 0; e < wfre_graph_entities(graph); e++) {
        wfre_name name = wfre_graph_entity_name(graph, e);
        CHECK(wfre_graph_builder_entity(to, name.bytes, name.length, &id, error));
    }
    for (wfre_relation r = 0; r < wfre_graph_relations(graph); r += 2) {
        wfre_name name = wfre_graph_relation_name(graph, r);
        CHECK(wfre_graph_builder_relation(to, name.bytes, name.length, &id, error));
    }
    return WFRE_OK;
}

static int part_of(wfre_entity head, wfre_relation relation, wfre_entity tail)
{
    uint32_t triple[] = {head, relation, tail};
    return (int)(wfre_hash(triple, sizeof triple, 0) % WFRE_PARTS);
}

/* The facts of a relation that a split adds. */
static wfre_status copy_relation(const wfre_graph *graph, wfre_split split, wfre_relation relation,
                                 int part, wfre_graph_builder *to, wfre_error *error)
{
    wfre_list heads = wfre_graph_sources(graph, split, relation);
    for (size_t i = 0; i < heads.count; i++) {
        wfre_entity head = heads.ids[i];
        wfre_list all = wfre_graph_targets(graph, split, relation, head), before = {0};
        if (split > WFRE_TRAIN)
            before = wfre_graph_targets(graph, (wfre_split)(split - 1), relation, head);
        for (size_t k = 0; k < all.count; k++) {
            wfre_entity tail = all.ids[k];
            if (wfre_list_has(before, tail))
                continue;
            bool known = split == WFRE_VALID && part_of(head, relation, tail) != part;
            CHECK(wfre_graph_builder_triple(to, known ? WFRE_TRAIN : split, head, relation, tail,
                                            error));
        }
    }
    return WFRE_OK;
}

wfre_status wfre_reveal(const wfre_graph *graph, int part, const wfre_monitor *monitor,
                        wfre_graph **revealed, wfre_error *error)
{
    wfre_status status;
    wfre_graph_builder *builder = NULL;
    TRY(wfre_graph_settle(graph, error)); /* it is read whole */
    TRY(wfre_graph_builder_create(&builder, error));
    TRY(copy_names(graph, builder, error));
    for (int split = WFRE_TRAIN; split <= WFRE_TEST; split++)
        for (wfre_relation r = 0; r < wfre_graph_relations(graph); r += 2) {
            TRY(wfre_check_interrupt(monitor, error));
            TRY(copy_relation(graph, (wfre_split)split, r, part, builder, error));
        }
    TRY(wfre_graph_builder_finish(builder, revealed, error));
cleanup:
    wfre_graph_builder_free(builder);
    return status;
}

wfre_status wfre_revealed_open(const wfre_graph *graph, const wfre_model *model, wfre_pool *pool,
                               const wfre_monitor *monitor, wfre_revealed *revealed,
                               wfre_error *error)
{
    double train = (double)wfre_graph_triples(graph, WFRE_TRAIN);
    double valid = (double)wfre_graph_triples(graph, WFRE_VALID);
    int count = wfre_graph_triples(graph, WFRE_TEST) > LARGE ? 1 : WFRE_PARTS;
    revealed->rate = (valid - train) / WFRE_PARTS / valid;
    for (int p = 0; p < count; p++) {
        CHECK(wfre_reveal(graph, p, monitor, &revealed->graphs[p], error));
        revealed->twins[p] = *model;
        revealed->twins[p].fingerprint = wfre_graph_fingerprint(revealed->graphs[p]);
        CHECK(wfre_session_open(revealed->graphs[p], &revealed->twins[p], pool,
                                &revealed->sessions[p], error));
    }
    revealed->count = count;
    return WFRE_OK;
}

void wfre_revealed_clear(wfre_revealed *revealed)
{
    for (int p = 0; p < WFRE_PARTS; p++) {
        wfre_session_free(revealed->sessions[p]);
        wfre_graph_close(revealed->graphs[p]);
    }
    *revealed = (wfre_revealed){0};
}
