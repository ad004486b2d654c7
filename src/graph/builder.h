/* What the builder has collected, shared by the files that fill it, split it and write it out. */
#ifndef WFRE_SRC_GRAPH_BUILDER_H
#define WFRE_SRC_GRAPH_BUILDER_H

#include "base/hash.h"
#include "base/text.h"
#include "graph/attributes.h"
#include "graph/graph.h"
#include "graph/triples.h"

/* Optional texts by id; those replaced by a later one stay in `bytes` unused. */
typedef struct wfre_notes {
    wfre_text bytes;
    struct wfre_note {
        uint64_t offset;
        uint64_t length; /* 0: none */
    } * spans;
    size_t count; /* ids beyond have none */
    size_t capacity;
} wfre_notes;

WFRE_NODISCARD wfre_status wfre_notes_set(wfre_notes *notes, uint32_t id, const char *text,
                                          size_t length, wfre_error *error);
wfre_name wfre_notes_get(const wfre_notes *notes, uint32_t id);
void wfre_notes_free(wfre_notes *notes);

struct wfre_graph_builder {
    wfre_strings entities;
    wfre_strings relations; /* pairs: the forward id of index i is 2 * i */
    wfre_notes labels, descriptions, relation_labels;
    wfre_attributes attributes;
    wfre_strings prefixes; /* names; the one that is declared first stays */
    wfre_notes prefix_iris;
    wfre_strings graphs; /* names of named graphs */
    wfre_quads named;    /* edges of these: head, relation / 2, tail; attributes have their own */
    wfre_strings own_labels; /* label properties beside the usual ones */
    wfre_text base;          /* for names without an IRI; empty: WFRE_DEFAULT_BASE */
    bool rdf_names;          /* entities may be literals and blank nodes */
    wfre_triple *triples;
    size_t count;
    size_t capacity;
    uint64_t duplicates; /* dropped by wfre_graph_builder_sort */
};

/* Remembers a prefix (without its colon) unless the name is taken. */
WFRE_NODISCARD wfre_status wfre_graph_builder_prefix(wfre_graph_builder *builder, wfre_name prefix,
                                                     wfre_name iri, wfre_error *error);

/* Brings the triples into their final order and drops duplicates. */
WFRE_NODISCARD wfre_status wfre_graph_builder_sort(wfre_graph_builder *builder, wfre_error *error);

#endif
