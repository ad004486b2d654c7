/* All about one entity: its edges, its attributes, and the edges it seems to lack.
 *
 * It is asked for more by every relation that it has, and by those that entities like it usually
 * have: of those that share its rarest relation, at least a fifth. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "answer/everyday.h"
#include "answer/json.h"
#include "base/clock.h"
#include "graph/graph.h"
#include "graph/rdf.h"
#include "infer/session.h"

enum { ALIKE = 256, USUAL = 5 }; /* entities looked at; one in so many must have a relation */

/* What the caller gets, from `description` on. */
typedef struct bundle {
    wfre_arena arena;
    wfre_description description;
} bundle;

void wfre_describe_options_default(wfre_describe_options *options)
{
    *options = (wfre_describe_options){.split = WFRE_TEST, .missing = 10};
}

void wfre_description_free(wfre_description *description)
{
    if (!description)
        return;
    bundle *b = (bundle *)((char *)description - offsetof(bundle, description));
    wfre_arena_free(&b->arena);
    wfre_free(b);
}

static wfre_status no_memory(wfre_error *error)
{
    return wfre_fail_memory(error, "describing an entity");
}

/* ---- what is missing ---------------------------------------------------------------------- */

/* Marks the relations that an entity has, or counts one more that has them. */
static void count_relations(const wfre_adjacency *edges, wfre_entity entity, uint32_t *counts,
                            uint32_t by)
{
    uint32_t first, end = wfre_entity_edges(edges, entity, &first);
    for (uint32_t i = first; i < end; i++)
        counts[wfre_edge_relation(edges, i)] += by;
}

wfre_status wfre_usual_relations(const wfre_graph *graph, wfre_split split, wfre_entity entity,
                                 wfre_relation *relations, size_t *count, wfre_error *error)
{
    uint32_t all = wfre_graph_relations(graph);
    const wfre_adjacency *edges = wfre_graph_adjacency(graph, split);
    uint32_t *counts = wfre_alloc_zero(all, sizeof *counts);
    if (!counts)
        return no_memory(error);
    wfre_list rarest = {NULL, SIZE_MAX};
    uint32_t first, end = wfre_entity_edges(edges, entity, &first);
    for (uint32_t i = first; i < end; i++) {
        wfre_list having = wfre_graph_sources(graph, split, wfre_edge_relation(edges, i));
        rarest = having.count < rarest.count ? having : rarest;
    }
    size_t step = end > first ? rarest.count / ALIKE + 1 : 1, looked_at = 0;
    for (size_t i = 0; end > first && i < rarest.count; i += step, looked_at++)
        count_relations(edges, rarest.ids[i], counts, 1);
    count_relations(edges, entity, counts, ALIKE + 1);
    *count = 0;
    for (wfre_relation r = 0; r < all; r++)
        if (counts[r] > 0 && counts[r] * USUAL >= looked_at)
            relations[(*count)++] = r;
    wfre_free(counts);
    return WFRE_OK;
}

static int compare_missing(const void *left, const void *right)
{
    const wfre_missing_triple *a = left, *b = right;
    if (wfre_likelier(a->probability, a->score, b->probability, b->score))
        return -1;
    return wfre_likelier(b->probability, b->score, a->probability, a->score);
}

/* What was predicted from all sources, likeliest first. An edge from the entity to itself is found
 * from both ends; the likelier stays. */
static wfre_status gather(const wfre_source *sources, size_t count, const wfre_answers *answers,
                          wfre_arena *arena, wfre_missing_triple **all, size_t *found,
                          wfre_error *error)
{
    size_t total = 0, next = 0, kept = 0;
    for (size_t i = 0; i < count; i++)
        total += answers[i].predicted_count;
    wfre_missing_triple *list = *all = wfre_arena_alloc(arena, total, sizeof *list);
    if (!list)
        return no_memory(error);
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < answers[i].predicted_count; k++) {
            const wfre_prediction *p = &answers[i].predicted[k];
            bool forward = sources[i].relation % 2 == 0;
            list[next++] = (wfre_missing_triple){.head = forward ? sources[i].entity : p->entity,
                                                 .relation = sources[i].relation / 2 * 2,
                                                 .tail = forward ? p->entity : sources[i].entity,
                                                 .score = p->score,
                                                 .probability = p->probability,
                                                 .missing_probability = p->missing_probability};
        }
    qsort(list, next, sizeof *list, compare_missing);
    for (size_t i = 0; i < next; i++) {
        bool again = false;
        for (size_t k = 0; list[i].head == list[i].tail && k < kept; k++)
            again = again || (list[k].head == list[i].head && list[k].tail == list[i].tail &&
                              list[k].relation == list[i].relation);
        if (!again)
            list[kept++] = list[i];
    }
    *found = kept;
    return WFRE_OK;
}

/* The other end may be surer of an edge: it is as likely as that says, here as everywhere. */
static wfre_status ask_other_ends(const wfre_errand *errand, wfre_missing_triple *list,
                                  size_t count, wfre_error *error)
{
    wfre_status status = WFRE_OK;
    wfre_ask_options options = wfre_errand_options(errand);
    wfre_given_triple *triples = wfre_alloc(count, sizeof *triples);
    wfre_scored_triple *scores = wfre_alloc(count, sizeof *scores);
    if (!triples || !scores)
        TRY(no_memory(error));
    for (size_t i = 0; i < count; i++)
        triples[i] = (wfre_given_triple){list[i].head, list[i].relation, list[i].tail};
    TRY(wfre_session_score(errand->session, triples, count, &options, errand->cancel, scores,
                           error));
    for (size_t i = 0; i < count; i++)
        if (wfre_likelier(scores[i].probability, scores[i].score, list[i].probability,
                          list[i].score)) {
            list[i].score = scores[i].score;
            list[i].probability = scores[i].probability;
            list[i].missing_probability = scores[i].missing_probability;
        }
    qsort(list, count, sizeof *list, compare_missing);
cleanup:
    wfre_free(triples);
    wfre_free(scores);
    return status;
}

wfre_status wfre_missing_edges(const wfre_errand *errand, wfre_entity entity, int directions,
                               size_t most, wfre_arena *arena, const wfre_missing_triple **missing,
                               size_t *count, wfre_error *error)
{
    wfre_status status = WFRE_OK;
    const wfre_graph *graph = errand->session->engine->graph;
    wfre_answers *answers = NULL;
    wfre_missing_triple *all = NULL;
    size_t asked = 0, usual;
    wfre_source *sources = wfre_alloc(wfre_graph_relations(graph), sizeof *sources);
    wfre_relation *relations = wfre_alloc(wfre_graph_relations(graph), sizeof *relations);
    *count = 0;
    if (!sources || !relations)
        TRY(no_memory(error));
    TRY(wfre_usual_relations(graph, errand->options.split, entity, relations, &usual, error));
    for (size_t i = 0; i < usual; i++)
        if (directions & (relations[i] % 2 == 0 ? 1 : 2))
            sources[asked++] = (wfre_source){relations[i], entity};
    if (asked > 0) {
        TRY(wfre_errand_edges(errand, sources, asked, most, &answers, error));
        TRY(gather(sources, asked, answers, arena, &all, count, error));
    }
    *missing = all;
    *count = *count < most ? *count : most;
    if (*count > 0)
        TRY(ask_other_ends(errand, all, *count, error));
cleanup:
    wfre_answers_free(answers);
    wfre_free(sources);
    wfre_free(relations);
    return status;
}

/* ---- what is known ------------------------------------------------------------------------ */

static wfre_status find_edges(const wfre_graph *graph, wfre_split split, wfre_arena *arena,
                              wfre_description *d, wfre_error *error)
{
    const wfre_adjacency *edges = wfre_graph_adjacency(graph, split);
    uint32_t first, end = wfre_entity_edges(edges, d->entity, &first);
    wfre_described_relation *relations = wfre_arena_alloc(arena, end - first, sizeof *relations);
    if (!relations)
        return no_memory(error);
    for (uint32_t i = first; i < end; i++) {
        wfre_edge_group edge = wfre_entity_edge(edges, i);
        wfre_list targets = wfre_group_targets(edges, edge.group);
        relations[i - first] = (wfre_described_relation){edge.relation, targets};
        d->edge_count += targets.count;
    }
    d->relations = relations;
    d->relation_count = end - first;
    return WFRE_OK;
}

static wfre_status keep_name(wfre_arena *arena, wfre_name name, wfre_name *kept, wfre_error *error)
{
    *kept = (wfre_name){NULL, 0};
    if (name.length == 0)
        return WFRE_OK;
    *kept = (wfre_name){wfre_arena_text(arena, name.bytes, name.length), name.length};
    return kept->bytes ? WFRE_OK : no_memory(error);
}

/* One triple of the entity with a literal or a blank node. */
static wfre_status keep_attribute(const wfre_rdf *rdf, const wfre_rdf_triple *triple,
                                  wfre_arena *arena, wfre_text *scratch,
                                  wfre_described_attribute *kept, wfre_error *error)
{
    wfre_rdf_value value;
    wfre_name label;
    CHECK(wfre_rdf_get(rdf, triple->at[WFRE_RDF_P], scratch, &value, error));
    CHECK(keep_name(arena, value.text, &kept->property, error));
    CHECK(wfre_rdf_label(rdf, triple->at[WFRE_RDF_P], scratch, &label, error));
    CHECK(keep_name(arena, label, &kept->label, error));
    CHECK(wfre_rdf_get(rdf, triple->at[WFRE_RDF_O], scratch, &value, error));
    CHECK(keep_name(arena, value.text, &kept->value, error));
    CHECK(keep_name(arena, value.datatype, &kept->datatype, error));
    return keep_name(arena, value.language, &kept->language, error);
}

static wfre_status find_attributes(const wfre_graph *graph, wfre_split split, wfre_arena *arena,
                                   wfre_description *d, wfre_error *error)
{
    if (wfre_graph_attributes(graph) == 0)
        return WFRE_OK;
    wfre_status status = WFRE_OK;
    wfre_rdf *rdf = NULL;
    wfre_rdf_scan scan;
    bool opened = false;
    wfre_text scratch = {0};
    wfre_rdf_triple pattern = {{d->entity, WFRE_NONE, WFRE_NONE}}, triple;
    TRY(wfre_rdf_open(graph, split, &rdf, error));
    uint64_t most = wfre_rdf_count(rdf, &pattern);
    wfre_described_attribute *list = wfre_arena_alloc(arena, most, sizeof *list);
    if (!list)
        TRY(no_memory(error));
    memset(&scan, 0, sizeof scan);
    TRY(wfre_rdf_scan_open(&scan, rdf, &pattern, WFRE_RDF_SPO, error));
    opened = true;
    while (d->attribute_count < most && wfre_rdf_scan_next(&scan, &triple)) {
        if (wfre_rdf_entity(rdf, triple.at[WFRE_RDF_O]) != WFRE_NONE)
            continue; /* an edge */
        TRY(keep_attribute(rdf, &triple, arena, &scratch, &list[d->attribute_count++], error));
    }
    d->attributes = list;
cleanup:
    if (opened)
        wfre_rdf_scan_free(&scan);
    wfre_rdf_close(rdf);
    wfre_text_free(&scratch);
    return status;
}

/* ---- all ---------------------------------------------------------------------------------- */

static wfre_status describe(wfre_session *session, const wfre_describe_options *options,
                            wfre_cancel *cancel, bundle *b, wfre_error *error)
{
    const wfre_graph *graph = session->engine->graph;
    wfre_description *d = &b->description;
    wfre_ask_options asking;
    wfre_ask_options_default(&asking);
    asking.split = options->split;
    asking.way = options->way;
    asking.timeout = options->timeout;
    asking.min_probability = options->min_probability;
    asking.missing_rate = options->missing_rate;
    wfre_errand errand = wfre_errand_of(session, cancel, &asking);
    CHECK(find_edges(graph, options->split, &b->arena, d, error));
    CHECK(find_attributes(graph, options->split, &b->arena, d, error));
    if (!session->engine->model)
        d->unpredicted = "there is no model";
    else if (options->missing > 0 && d->relation_count == 0)
        d->unpredicted = "the entity has no edges to judge by";
    else if (options->missing > 0)
        CHECK(wfre_missing_edges(&errand, d->entity, 3, options->missing, &b->arena, &d->missing,
                                 &d->missing_count, error));
    return wfre_graph_sound(graph, error);
}

wfre_status wfre_session_describe(wfre_session *session, wfre_entity entity,
                                  const wfre_describe_options *options, wfre_cancel *cancel,
                                  wfre_description **description, wfre_error *error)
{
    GIVEN(session);
    GIVEN(options);
    GIVEN(description);
    CHECK(wfre_need_graph(session, error));
    CHECK(wfre_check_split(options->split, error));
    if (entity >= wfre_graph_entities(session->engine->graph))
        return wfre_fail(error, WFRE_ERR_ARGUMENT, WFRE_NO_OFFSET, "entity #%u is not in the graph",
                         entity);
    bundle *b = wfre_alloc_zero(1, sizeof *b);
    if (!b)
        return no_memory(error);
    b->description.entity = entity;
    double deadline = options->timeout > 0 ? wfre_clock() + options->timeout : 0;
    wfre_scope before = wfre_session_enter(session, cancel, deadline);
    wfre_status status = describe(session, options, cancel, b, error);
    if (status == WFRE_OK)
        wfre_scope_charge(0, wfre_arena_bytes(&b->arena)); /* it is the caller's now */
    else
        wfre_arena_free(&b->arena);
    (void)wfre_scope_enter(before);
    if (status == WFRE_OK)
        *description = &b->description;
    else
        wfre_free(b);
    return status;
}
