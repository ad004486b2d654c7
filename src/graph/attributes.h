/* Attributes on their way into a snapshot: triples with a literal or a blank node.
 *
 * Terms are collected under numbers of their own. wfre_attributes_finish, when all entities are
 * known, gives them their final numbers (graph/rdf.h) and sorts the triples. */
#ifndef WFRE_SRC_GRAPH_ATTRIBUTES_H
#define WFRE_SRC_GRAPH_ATTRIBUTES_H

#include "base/hash.h"
#include "graph/dictionary.h"
#include "graph/rdf.h"
#include "graph/triples.h"

/* A predicate of attributes. */
typedef struct wfre_attribute_predicate {
    wfre_rdf_id term;
    uint32_t triples;
    uint32_t subjects, objects; /* different ones */
} wfre_attribute_predicate;

_Static_assert(sizeof(wfre_attribute_predicate) == 16, "the layout that docs/FORMAT.md describes");

/* Triples of named graphs, with the numbers of their graphs. */
typedef struct wfre_quads {
    wfre_triple *rows;
    uint32_t *graphs;
    size_t count, row_capacity, graph_capacity;
} wfre_quads;

WFRE_NODISCARD wfre_status wfre_quads_add(wfre_quads *quads, uint32_t graph, uint32_t a, uint32_t b,
                                          uint32_t c, wfre_error *error);
void wfre_quads_free(wfre_quads *quads);

typedef struct wfre_attributes {
    /* IRIs as they are; '"', four bytes of class and the text of a literal; "_:" and a label. */
    wfre_strings terms;
    wfre_strings classes; /* keys of graph/dictionary.h */
    wfre_triple *rows;    /* subject, predicate, object */
    size_t count;
    size_t capacity;
    wfre_quads named; /* those that belong to named graphs, once more */
    wfre_text scratch;
} wfre_attributes;

void wfre_attributes_free(wfre_attributes *attributes);
/* The number of a term, new or known, to be used with wfre_attributes_add alone. */
WFRE_NODISCARD wfre_status wfre_attributes_term(wfre_attributes *attributes,
                                                const wfre_rdf_value *value, uint32_t *term,
                                                wfre_error *error);
WFRE_NODISCARD wfre_status wfre_attributes_add(wfre_attributes *attributes, uint32_t subject,
                                               uint32_t predicate, uint32_t object,
                                               wfre_error *error);

/* What is written of them. */
typedef struct wfre_attribute_sections {
    wfre_term_class *classes;
    uint32_t class_count;
    wfre_text keys;
    uint64_t *blocks;
    uint32_t block_count;
    wfre_text bytes;
    uint32_t terms, blanks;
    wfre_attribute_predicate *predicates;
    uint32_t predicate_count;
    wfre_triple *rows; /* subject, predicate, object; in that order, without duplicates */
    wfre_triple *scratch;
    uint32_t count;
} wfre_attribute_sections;

/* Everything but the packed triples; the attributes are spent but still to be freed. */
WFRE_NODISCARD wfre_status wfre_attributes_finish(wfre_attributes *attributes,
                                                  const wfre_strings *entities,
                                                  wfre_attribute_sections *sections,
                                                  wfre_error *error);
void wfre_attribute_sections_free(wfre_attribute_sections *sections);

#endif
