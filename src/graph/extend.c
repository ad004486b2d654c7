/* A graph with more triples. */
#include "graph/extend.h"

/* Names, labels and triples of the old graph, under the same ids. */
static wfre_status copy_graph(wfre_graph_builder *builder, const wfre_graph *graph,
                              wfre_error *error)
{
    uint32_t id;
    for (wfre_entity e = 0; e < wfre_graph_entities(graph); e++) {
        wfre_name name = wfre_graph_entity_name(graph, e);
        wfre_name label = wfre_graph_entity_label(graph, e);
        wfre_name about = wfre_graph_entity_description(graph, e);
        CHECK(wfre_graph_builder_entity(builder, name.bytes, name.length, &id, error));
        if (label.bytes != name.bytes)
            CHECK(wfre_graph_builder_label(builder, e, label.bytes, label.length, error));
        if (about.length > 0)
            CHECK(wfre_graph_builder_describe(builder, e, about.bytes, about.length, error));
    }
    for (wfre_relation r = 0; r < wfre_graph_relations(graph); r += 2) {
        wfre_name name = wfre_graph_relation_name(graph, r);
        wfre_name label = wfre_graph_relation_label(graph, r);
        CHECK(wfre_graph_builder_relation(builder, name.bytes, name.length, &id, error));
        if (label.bytes != name.bytes)
            CHECK(wfre_graph_builder_relation_label(builder, r, label.bytes, label.length, error));
        /* A triple counts for the first split that has it, so later splits may repeat it. */
        for (int split = 0; split < WFRE_SPLITS; split++) {
            wfre_list heads = wfre_graph_sources(graph, (wfre_split)split, r);
            for (size_t h = 0; h < heads.count; h++) {
                wfre_list tails = wfre_graph_targets(graph, (wfre_split)split, r, heads.ids[h]);
                for (size_t t = 0; t < tails.count; t++)
                    CHECK(wfre_graph_builder_triple(builder, (wfre_split)split, heads.ids[h], r,
                                                    tails.ids[t], error));
            }
        }
    }
    return WFRE_OK;
}

/* The id of an entity of the new triples, with its label and description if it is new. Old ones go
 * by their names or, as in questions, by labels. */
static wfre_status add_entity(wfre_graph_builder *builder, const wfre_graph *graph,
                              const wfre_graph *extra, wfre_entity entity, wfre_entity *id,
                              wfre_error *error)
{
    wfre_name name = wfre_graph_entity_name(extra, entity);
    wfre_name label = wfre_graph_entity_label(extra, entity);
    wfre_name about = wfre_graph_entity_description(extra, entity);
    *id = wfre_graph_find_entity(graph, name.bytes, name.length);
    if (*id != WFRE_NONE)
        return WFRE_OK;
    CHECK(wfre_graph_builder_entity(builder, name.bytes, name.length, id, error));
    if (label.bytes != name.bytes)
        CHECK(wfre_graph_builder_label(builder, *id, label.bytes, label.length, error));
    if (about.length > 0)
        CHECK(wfre_graph_builder_describe(builder, *id, about.bytes, about.length, error));
    return WFRE_OK;
}

/* The new triples, all known from now on. Relations must be those the model has learned. */
static wfre_status add_triples(wfre_graph_builder *builder, const wfre_graph *graph,
                               const wfre_graph *extra, wfre_error *error)
{
    for (wfre_relation r = 0; r < wfre_graph_relations(extra); r += 2) {
        wfre_name name = wfre_graph_relation_name(extra, r);
        wfre_relation known = wfre_graph_find_relation(graph, name.bytes, name.length);
        if (known == WFRE_NONE)
            return wfre_fail(error, WFRE_ERR_NOT_FOUND, WFRE_NO_OFFSET,
                             "the model has learned no relation %.*s; only entities can be added, "
                             "new relations need training",
                             (int)name.length, name.bytes);
        wfre_list heads = wfre_graph_sources(extra, WFRE_TEST, r);
        for (size_t h = 0; h < heads.count; h++) {
            wfre_list tails = wfre_graph_targets(extra, WFRE_TEST, r, heads.ids[h]);
            wfre_entity from, to;
            CHECK(add_entity(builder, graph, extra, heads.ids[h], &from, error));
            for (size_t t = 0; t < tails.count; t++) {
                CHECK(add_entity(builder, graph, extra, tails.ids[t], &to, error));
                CHECK(wfre_graph_builder_triple(builder, WFRE_TRAIN, from, known, to, error));
            }
        }
    }
    return WFRE_OK;
}

wfre_status wfre_graph_extend(const wfre_graph *graph, const wfre_graph *extra, wfre_graph **larger,
                              wfre_error *error)
{
    wfre_graph_builder *builder = NULL;
    wfre_status status;
    TRY(wfre_graph_builder_create(&builder, error));
    TRY(copy_graph(builder, graph, error));
    TRY(add_triples(builder, graph, extra, error));
    TRY(wfre_graph_builder_finish(builder, larger, error));
cleanup:
    wfre_graph_builder_free(builder);
    return status;
}
