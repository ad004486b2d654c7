/* What entities are otherwise: whether one could stand at an end of a relation, judged by those
 * that do.
 *
 * The kinds of an entity are the directed relations that it has edges of, and, where the graph has
 * rdf:type, its classes. A place is one end of a relation: the directed relation whose edges leave
 * there. A kind that k of the n entities at a place have, and a share q of all entities, weighs
 *
 *   log((k + q/2) / ((n + 1/2) q))
 *
 * so that a kind nobody at the place has speaks against an entity, the more the better the place is
 * known. An entity fits a place by the sum over its kinds, times 1 + 3 x for a share x of kinds
 * that nobody there has, between -16 and 0: to be of the right kind is no merit, to be of a wrong
 * one is a fault, and beyond some limit faults count no more. One that stands there already fits
 * (0), whatever else it is, and so does one about which nothing is known. A class that the graph
 * names as rdfs:domain or rdfs:range (or schema.org's) of a relation counts as if eight of those at
 * the place had it. */
#ifndef WFRE_SRC_GRAPH_KINDS_H
#define WFRE_SRC_GRAPH_KINDS_H

#include "graph/graph.h"

typedef struct wfre_kinds wfre_kinds;

/* The relation that is rdf:type; WFRE_NONE if there is none. */
wfre_relation wfre_kinds_type(const wfre_graph *graph);

/* Of one split's edges; borrows the graph. */
WFRE_NODISCARD wfre_status wfre_kinds_create(const wfre_graph *graph, wfre_split split,
                                             wfre_kinds **kinds, wfre_error *error);
void wfre_kinds_free(wfre_kinds *kinds);

/* What kinds weigh at a place; kept, and to be asked for by one thread at a time. NULL if the graph
 * has so many relations that nothing is said. */
WFRE_NODISCARD wfre_status wfre_kinds_at(wfre_kinds *kinds, wfre_relation place,
                                         const float **weights, wfre_error *error);

/* How an entity fits a place with these weights: at most 0. */
float wfre_kinds_fit(const wfre_kinds *kinds, const float *weights, wfre_relation place,
                     wfre_entity entity);
/* Adds `factor` times that to the numbers of all entities. */
void wfre_kinds_add(const wfre_kinds *kinds, const float *weights, wfre_relation place,
                    float factor, float *row);

#endif
