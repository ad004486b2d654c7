/* Weights of a place are made when it is first asked for: one walk over the edges of those that
 * stand there. So are the fits of all entities, as long as those of all places are not too many.
 * Kinds are numbered: directed relations first, then classes, of which only the most common are
 * told apart. */
#include "graph/kinds.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/scope.h"

#define RDF "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
#define RDFS "http://www.w3.org/2000/01/rdf-schema#"

enum {
    MOST_RELATIONS = 4096, /* directed: weights are a square of them */
    MOST_CLASSES = 4096,
    MOST_KEPT = 1 << 24, /* fits, of all places together */
    STATED = 8,          /* what a stated class of a place counts for, in entities that have it */
    OFTEN = 4096         /* entities between two looks at the clock */
};
static const double DOUBT = 0.5; /* entities that are taken to be as all are */
static const float STRANGE =
    3; /* how much more faults count if nobody there has any of its kinds */
static const float LEAST = -16; /* what a misfit can cost */

struct wfre_kinds {
    const wfre_graph *graph;
    const wfre_adjacency *edges;
    wfre_relation relations;
    wfre_entity entities;
    uint32_t count;        /* of kinds */
    uint32_t *class_kind;  /* [classes]: by place among the groups of type's inverse, or NONE */
    uint32_t *class_begin; /* [entities + 1], into `classes`; NULL: there is no rdf:type */
    uint32_t *classes;     /* kinds */
    wfre_relation type;    /* rdf:type, or NONE */
    float *shares;         /* [count]: of all entities that have the kind */
    float **places;        /* [relations]: weights, NULL until asked for */
    float **fits;          /* [relations]: of all entities; NULL if they would be too many */
};

/* ---- classes ------------------------------------------------------------------------------ */

static wfre_relation relation_named(const wfre_graph *graph, const char *name)
{
    return wfre_graph_named_relation(graph, name, strlen(name));
}

wfre_relation wfre_kinds_type(const wfre_graph *graph)
{
    wfre_relation type = relation_named(graph, RDF "type");
    return type == WFRE_NONE ? relation_named(graph, "rdf:type") : type;
}

/* How many classes have at least so many instances. */
static uint32_t count_classes(const wfre_adjacency *edges, uint32_t first, uint32_t end,
                              size_t least)
{
    uint32_t count = 0;
    for (uint32_t g = first; g < end; g++)
        count += wfre_group_targets(edges, g).count >= least;
    return count;
}

/* Numbers the most common classes, and lists those of every entity. */
static wfre_status list_classes(wfre_kinds *k, wfre_error *error)
{
    const wfre_adjacency *edges = k->edges;
    uint32_t first, end = wfre_relation_groups(edges, k->type ^ 1, &first);
    size_t least = 1, sum = 0;
    while (count_classes(edges, first, end, least) > MOST_CLASSES)
        least *= 2;
    k->class_kind = wfre_alloc(end - first + (size_t)1, sizeof *k->class_kind);
    k->class_begin = wfre_alloc_zero(k->entities + (size_t)2, sizeof *k->class_begin);
    if (!k->class_kind || !k->class_begin)
        return wfre_fail_memory(error, "looking at kinds");
    for (uint32_t g = first; g < end; g++) {
        wfre_list instances = wfre_group_targets(edges, g);
        bool counts = instances.count >= least;
        k->class_kind[g - first] = counts ? k->count++ : WFRE_NONE;
        for (size_t i = 0; counts && i < instances.count; i++, sum++)
            k->class_begin[instances.ids[i] + 2]++;
    }
    k->classes = wfre_alloc(sum + 1, sizeof *k->classes);
    if (!k->classes)
        return wfre_fail_memory(error, "looking at kinds");
    for (wfre_entity e = 0; e < k->entities; e++)
        k->class_begin[e + 2] += k->class_begin[e + 1];
    for (uint32_t g = first; g < end; g++) {
        wfre_list instances = wfre_group_targets(edges, g);
        for (size_t i = 0; k->class_kind[g - first] != WFRE_NONE && i < instances.count; i++)
            k->classes[k->class_begin[instances.ids[i] + 1]++] = k->class_kind[g - first];
    }
    return WFRE_OK;
}

/* ---- creation ----------------------------------------------------------------------------- */

/* Counts the kinds of an entity. */
static void count_kinds(const wfre_kinds *k, wfre_entity entity, float *counts)
{
    for (uint32_t i = k->edges->entity_begin[entity]; i < k->edges->entity_begin[entity + 1]; i++)
        counts[wfre_edge_relation(k->edges, i)]++;
    if (k->class_begin)
        for (uint32_t i = k->class_begin[entity]; i < k->class_begin[entity + 1]; i++)
            counts[k->classes[i]]++;
}

static wfre_status measure_shares(wfre_kinds *k, wfre_error *error)
{
    k->shares = wfre_alloc_zero(k->count + (size_t)1, sizeof *k->shares);
    k->places = wfre_alloc_zero(k->relations + (size_t)1, sizeof *k->places);
    bool kept = k->relations * (uint64_t)k->entities <= MOST_KEPT;
    if (kept)
        k->fits = wfre_alloc_zero(k->relations + (size_t)1, sizeof *k->fits);
    if (!k->shares || !k->places || (kept && !k->fits))
        return wfre_fail_memory(error, "looking at kinds");
    for (wfre_entity e = 0; e < k->entities; e++) {
        if (e % OFTEN == 0)
            CHECK(wfre_check_stop(error));
        count_kinds(k, e, k->shares);
    }
    for (uint32_t i = 0; i <= k->count; i++)
        k->shares[i] = (k->shares[i] + 1) / ((float)k->entities + 1);
    return WFRE_OK;
}

wfre_status wfre_kinds_create(const wfre_graph *graph, wfre_split split, wfre_kinds **kinds,
                              wfre_error *error)
{
    wfre_status status = WFRE_OK;
    CHECK(wfre_graph_settle(graph, error)); /* it is read whole */
    wfre_kinds *k = wfre_alloc_zero(1, sizeof *k);
    if (!k)
        return wfre_fail_memory(error, "looking at kinds");
    *k = (wfre_kinds){.graph = graph,
                      .edges = wfre_graph_adjacency(graph, split),
                      .relations = wfre_graph_relations(graph),
                      .entities = wfre_graph_entities(graph),
                      .type = wfre_kinds_type(graph)};
    k->count = k->relations;
    if (k->relations <= MOST_RELATIONS) {
        if (k->type != WFRE_NONE)
            TRY(list_classes(k, error));
        TRY(measure_shares(k, error));
    }
    *kinds = k;
    k = NULL;
cleanup:
    wfre_kinds_free(k);
    return status;
}

void wfre_kinds_free(wfre_kinds *kinds)
{
    if (!kinds)
        return;
    for (wfre_relation r = 0; kinds->places && r < kinds->relations; r++)
        wfre_free(kinds->places[r]);
    for (wfre_relation r = 0; kinds->fits && r < kinds->relations; r++)
        wfre_free(kinds->fits[r]);
    wfre_free(kinds->places);
    wfre_free(kinds->fits);
    wfre_free(kinds->shares);
    wfre_free(kinds->classes);
    wfre_free(kinds->class_begin);
    wfre_free(kinds->class_kind);
    wfre_free(kinds);
}

/* ---- places ------------------------------------------------------------------------------- */

/* The kind that a class is; WFRE_NONE if it is not told apart. */
static uint32_t kind_of_class(const wfre_kinds *k, wfre_entity entity)
{
    uint32_t first, end = wfre_relation_groups(k->edges, k->type ^ 1, &first);
    for (uint32_t low = first, high = end; low < high;) {
        uint32_t middle = low + (high - low) / 2;
        wfre_entity at = k->edges->group_entity[middle];
        if (at == entity)
            return k->class_kind[middle - first];
        if (at < entity)
            low = middle + 1;
        else
            high = middle;
    }
    return WFRE_NONE;
}

/* Counts the classes that the graph states for a place, by one property. */
static void count_stated(const wfre_kinds *k, wfre_relation place, const char *property,
                         float *counts)
{
    wfre_relation states = relation_named(k->graph, property);
    wfre_name name = wfre_graph_relation_name(k->graph, place & ~(wfre_relation)1);
    wfre_entity self = wfre_graph_named_entity(k->graph, name.bytes, name.length);
    if (states == WFRE_NONE || self == WFRE_NONE)
        return;
    uint32_t first, end = wfre_entity_edges(k->edges, self, &first);
    for (uint32_t i = first; i < end; i++) {
        wfre_edge_group edge = wfre_entity_edge(k->edges, i);
        wfre_list classes = wfre_group_targets(k->edges, edge.group);
        for (size_t t = 0; edge.relation == states && t < classes.count; t++) {
            uint32_t kind = kind_of_class(k, classes.ids[t]);
            if (kind != WFRE_NONE)
                counts[kind] += STATED;
        }
    }
}

static wfre_status make_weights(const wfre_kinds *k, wfre_relation place, float *weights,
                                wfre_error *error)
{
    static const char *const stated[2][3] = {
        {RDFS "domain", "https://schema.org/domainIncludes", "http://schema.org/domainIncludes"},
        {RDFS "range", "https://schema.org/rangeIncludes", "http://schema.org/rangeIncludes"}};
    uint32_t first, end = wfre_relation_groups(k->edges, place, &first);
    for (uint32_t g = first; g < end; g++) {
        if (g % OFTEN == 0)
            CHECK(wfre_check_stop(error));
        count_kinds(k, k->edges->group_entity[g], weights);
    }
    for (int i = 0; k->class_begin && i < 3; i++)
        count_stated(k, place, stated[place & 1][i], weights);
    for (uint32_t i = 0; i <= k->count; i++) { /* the last is what nobody there has */
        double ratio = (double)weights[i] / (double)k->shares[i]; /* 0 exactly if nobody has it */
        weights[i] = (float)log((ratio + DOUBT) / (end - first + DOUBT));
    }
    return WFRE_OK;
}

/* ---- fitting ------------------------------------------------------------------------------ */

/* The kinds of an entity, summed up. */
typedef struct balance {
    float sum;
    uint32_t kinds, strange; /* of these, that nobody there has */
} balance;

static void weigh(const float *weights, float none, uint32_t kind, balance *b)
{
    b->sum += weights[kind];
    b->strange += weights[kind] == none;
    b->kinds++;
}

float wfre_kinds_fit(const wfre_kinds *k, const float *weights, wfre_relation place,
                     wfre_entity entity)
{
    const wfre_adjacency *edges = k->edges;
    balance b = {0};
    float none = weights[k->count];
    for (uint32_t i = edges->entity_begin[entity]; i < edges->entity_begin[entity + 1]; i++) {
        wfre_relation relation = wfre_edge_relation(edges, i);
        if (relation == place)
            return 0;
        weigh(weights, none, relation, &b);
    }
    if (k->class_begin)
        for (uint32_t i = k->class_begin[entity]; i < k->class_begin[entity + 1]; i++)
            weigh(weights, none, k->classes[i], &b);
    if (b.sum >= 0)
        return 0;
    float fit = b.sum * (1 + STRANGE * (float)b.strange / (float)b.kinds);
    return fit < LEAST ? LEAST : fit;
}

/* The fits of all entities, which do not depend on the question. */
static wfre_status make_fits(const wfre_kinds *k, const float *weights, wfre_relation place,
                             wfre_error *error)
{
    float *fits = wfre_alloc(k->entities + (size_t)1, sizeof *fits);
    if (!fits)
        return wfre_fail_memory(error, "looking at kinds");
    for (wfre_entity e = 0; e < k->entities; e++)
        fits[e] = wfre_kinds_fit(k, weights, place, e);
    k->fits[place] = fits;
    return WFRE_OK;
}

wfre_status wfre_kinds_at(wfre_kinds *kinds, wfre_relation place, const float **weights,
                          wfre_error *error)
{
    *weights = kinds->places ? kinds->places[place] : NULL;
    if (*weights || !kinds->places)
        return WFRE_OK;
    float *made = wfre_alloc_zero(kinds->count + (size_t)1, sizeof *made);
    if (!made)
        return wfre_fail_memory(error, "looking at kinds");
    wfre_status status = make_weights(kinds, place, made, error);
    if (status == WFRE_OK && kinds->fits)
        status = make_fits(kinds, made, place, error);
    if (status != WFRE_OK) {
        wfre_free(made);
        return status;
    }
    *weights = kinds->places[place] = made;
    return WFRE_OK;
}

void wfre_kinds_add(const wfre_kinds *kinds, const float *weights, wfre_relation place,
                    float factor, float *row)
{
    const float *fits = kinds->fits ? kinds->fits[place] : NULL;
    for (wfre_entity e = 0; fits && e < kinds->entities; e++)
        row[e] += factor * fits[e];
    for (wfre_entity e = 0; !fits && e < kinds->entities; e++)
        row[e] += factor * wfre_kinds_fit(kinds, weights, place, e);
}
