/* A graph with more triples. */
#include "graph/extend.h"

#include "graph/builder.h"
#include "graph/image.h"

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
    *id = wfre_graph_named_entity(graph, name.bytes, name.length);
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
        wfre_relation known = wfre_graph_named_relation(graph, name.bytes, name.length);
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

/* ---- attributes --------------------------------------------------------------------------- */

/* The attributes and prefixes of a graph. Blank nodes of two graphs differ: `mark` stands before
 * their labels. */
typedef struct taking {
    wfre_graph_builder *builder;
    const wfre_rdf *rdf;
    const char *mark;
    wfre_text text, label;
} taking;

static wfre_status take_term(taking *t, wfre_rdf_id id, uint32_t *term, wfre_error *error)
{
    wfre_rdf_value value;
    CHECK(wfre_rdf_get(t->rdf, id, &t->text, &value, error));
    if (value.kind == WFRE_RDF_BLANK) {
        wfre_text_clear(&t->label);
        wfre_text_add(&t->label, t->mark);
        wfre_text_append(&t->label, value.text.bytes, value.text.length);
        CHECK(wfre_text_status(&t->label, "adding attributes", error));
        value.text = (wfre_name){t->label.data, t->label.length};
    }
    return wfre_attributes_term(&t->builder->attributes, &value, term, error);
}

static wfre_status take_rows(taking *t, const wfre_graph *graph, wfre_error *error)
{
    const wfre_triple none = {{0}};
    wfre_packed_cursor cursor = wfre_packed_find(&graph->attributes[WFRE_RDF_SPO], &none);
    for (; cursor.rank < cursor.packed->rows; wfre_packed_next(&cursor)) {
        uint32_t terms[WFRE_RDF_PLACES];
        for (int place = 0; place < WFRE_RDF_PLACES; place++)
            CHECK(take_term(t, cursor.row.field[place], &terms[place], error));
        CHECK(wfre_attributes_add(&t->builder->attributes, terms[WFRE_RDF_S], terms[WFRE_RDF_P],
                                  terms[WFRE_RDF_O], error));
    }
    return WFRE_OK;
}

/* A triple of a named graph. One whose ends go by other names now is left to the whole. */
static wfre_status take_quad(taking *t, uint32_t graph, const wfre_rdf_triple *triple,
                             wfre_error *error)
{
    wfre_relation relation = wfre_rdf_relation(t->rdf, triple->at[WFRE_RDF_P]);
    uint32_t ids[WFRE_RDF_PLACES];
    if (wfre_rdf_entity(t->rdf, triple->at[WFRE_RDF_S]) == WFRE_NONE ||
        wfre_rdf_entity(t->rdf, triple->at[WFRE_RDF_O]) == WFRE_NONE) {
        for (int place = 0; place < WFRE_RDF_PLACES; place++)
            CHECK(take_term(t, triple->at[place], &ids[place], error));
        return wfre_quads_add(&t->builder->attributes.named, graph, ids[0], ids[1], ids[2], error);
    }
    for (int place = 0; place < WFRE_RDF_PLACES; place += 2) {
        wfre_name name = wfre_graph_entity_name(wfre_rdf_graph(t->rdf), triple->at[place]);
        ids[place] = wfre_strings_find(&t->builder->entities, name.bytes, name.length);
    }
    wfre_name name = wfre_graph_relation_name(wfre_rdf_graph(t->rdf), relation);
    ids[1] = wfre_strings_find(&t->builder->relations, name.bytes, name.length);
    if (relation == WFRE_NONE || ids[0] == WFRE_NONE || ids[1] == WFRE_NONE || ids[2] == WFRE_NONE)
        return WFRE_OK;
    return wfre_quads_add(&t->builder->named, graph, ids[0], ids[1], ids[2], error);
}

static wfre_status take_graph(taking *t, size_t index, wfre_error *error)
{
    static const wfre_rdf_triple ANY = {{WFRE_NONE, WFRE_NONE, WFRE_NONE}};
    wfre_name iri = wfre_rdf_named_iri(t->rdf, index);
    const wfre_rdf *view;
    wfre_rdf_scan scan = {0};
    wfre_rdf_triple triple;
    uint32_t graph;
    wfre_status status;
    CHECK(wfre_strings_intern(&t->builder->graphs, iri.bytes, iri.length, &graph, error));
    CHECK(wfre_rdf_named_view(t->rdf, index, &view, error));
    TRY(wfre_rdf_scan_open(&scan, view, &ANY, WFRE_RDF_SPO, error));
    while (wfre_rdf_scan_next(&scan, &triple))
        TRY(take_quad(t, graph, &triple, error));
cleanup:
    wfre_rdf_scan_free(&scan);
    return status;
}

static wfre_status take_attributes(wfre_graph_builder *builder, const wfre_graph *graph,
                                   const char *mark, wfre_error *error)
{
    wfre_rdf *rdf = NULL;
    taking t = {.builder = builder, .mark = mark};
    wfre_name prefix, iri;
    wfre_status status;
    TRY(wfre_rdf_open(graph, WFRE_TEST, &rdf, error));
    t.rdf = rdf;
    TRY(take_rows(&t, graph, error));
    for (size_t i = 0; i < wfre_rdf_named_count(rdf); i++)
        TRY(take_graph(&t, i, error));
    for (size_t i = 0; wfre_graph_prefix(graph, i, &prefix, &iri); i++)
        TRY(wfre_graph_builder_prefix(builder, prefix, iri, error));
    for (size_t i = 0; wfre_graph_own_label(graph, i, &iri); i++) {
        uint32_t ignored;
        TRY(wfre_strings_intern(&builder->own_labels, iri.bytes, iri.length, &ignored, error));
    }
    builder->rdf_names |= (graph->header->flags & WFRE_IMAGE_RDF_NAMES) != 0;
cleanup:
    wfre_text_free(&t.text);
    wfre_text_free(&t.label);
    wfre_rdf_close(rdf);
    return status;
}

wfre_status wfre_graph_extend(const wfre_graph *graph, const wfre_graph *extra, wfre_graph **larger,
                              wfre_error *error)
{
    wfre_graph_builder *builder = NULL;
    wfre_status status;
    TRY(wfre_graph_builder_create(&builder, error));
    TRY(copy_graph(builder, graph, error));
    TRY(add_triples(builder, graph, extra, error));
    wfre_name base = wfre_graph_base(graph);
    wfre_text_append(&builder->base, base.bytes, base.length);
    TRY(wfre_text_status(&builder->base, "adding triples", error));
    TRY(take_attributes(builder, graph, "", error));
    TRY(take_attributes(builder, extra, "new", error));
    TRY(wfre_graph_builder_finish(builder, larger, error));
cleanup:
    wfre_graph_builder_free(builder);
    return status;
}
