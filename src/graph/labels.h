/* Labels in all languages: the literals that label properties give, where they lie among the
 * attributes. One of them is shown (WFRE_ENTITY_LABELS); the others are names as well.
 *
 * Nothing is built for it: a text is looked up in the dictionary, once for each language, and its
 * subjects in the order POS. Texts in other case are found by a walk over all strings. Nothing here
 * allocates, and a damaged snapshot has no labels. */
#ifndef WFRE_SRC_GRAPH_LABELS_H
#define WFRE_SRC_GRAPH_LABELS_H

#include "base/text.h"
#include "graph/rdf.h"

/* The usual label properties, best first; NULL at the end. */
const char *wfre_label_property(size_t index);
/* What stands before the IRI of another one among the prefixes of a snapshot. */
#define WFRE_LABEL_LINE "@label"

enum { WFRE_LABEL_PROPERTIES = 16 }; /* usual ones and others; more are not looked at */

/* The label properties of a graph. */
typedef struct wfre_labels {
    const wfre_graph *graph;
    bool of_relations;                          /* items are pairs of relations, else entities */
    uint32_t properties[WFRE_LABEL_PROPERTIES]; /* terms (graph/rdf.h) */
    size_t count;
} wfre_labels;

/* False if the graph has no label properties. */
bool wfre_labels_open(wfre_labels *labels, const wfre_graph *graph, bool of_relations);

/* Different items, as they are found. */
typedef struct wfre_labelled {
    uint32_t *items;
    size_t count, capacity;
} wfre_labelled;

/* Adds the items that have a label: this text, or with `fold` one that is the same but for case,
 * blanks, '_' and '-'. Only in a language (and its regions) unless that is empty. */
void wfre_labels_find(const wfre_labels *labels, wfre_name text, wfre_name language, bool fold,
                      wfre_labelled *found);

/* Calls `visit` with every string of the dictionary that may be a label, and its language: with its
 * first `most` bytes, which lie in `buffer`, and its whole length. */
typedef void wfre_labels_visit(void *context, uint32_t rank, wfre_name begin, size_t length);
void wfre_labels_walk(const wfre_labels *labels, wfre_name language, char *buffer, size_t most,
                      wfre_labels_visit *visit, void *context);
/* Adds the items that a string of the dictionary is a label of. */
void wfre_labels_subjects(const wfre_labels *labels, uint32_t rank, wfre_labelled *found);

/* The term (graph/rdf.h) of an item, or WFRE_NONE: nothing is said of it. */
uint32_t wfre_labels_term(const wfre_labels *labels, uint32_t item);
/* Whether a term is a literal that may be a label; its text is appended to `text`. */
bool wfre_labels_text(const wfre_labels *labels, uint32_t term, wfre_text *text);

/* Whether a text is "label"@language, as a person may write it, and then its parts. */
bool wfre_label_parts(wfre_name text, wfre_name *label, wfre_name *language);
/* The length of a language tag that the text begins with; 0 if there is none. */
size_t wfre_language_length(const char *text, size_t length);

#endif
