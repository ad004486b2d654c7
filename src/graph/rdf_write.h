/* Writing RDF: terms as N-Triples writes them, graphs as N-Triples or Turtle. */
#ifndef WFRE_SRC_GRAPH_RDF_WRITE_H
#define WFRE_SRC_GRAPH_RDF_WRITE_H

#include "graph/rdf.h"

/* Appends a term as N-Triples writes it: <iri>, _:label, "text"@tag, "text"^^<type>. */
void wfre_rdf_append(wfre_text *text, const wfre_rdf_value *value);

/* A graph being written, triple by triple. Turtle joins triples with the same subject or the same
 * subject and predicate that follow each other. */
typedef struct wfre_rdf_output {
    wfre_text *text;         /* what is written is appended here; empty it as often as you like */
    const wfre_graph *graph; /* whose prefixes Turtle uses, or NULL */
    wfre_name named;         /* N-Quads: the graph of the triples that follow; empty: none */
    bool turtle;
    wfre_text subject, predicate; /* of the triple before */
    wfre_text scratch;
} wfre_rdf_output;

/* Begins a graph: with the prefixes, if it is Turtle. */
void wfre_rdf_output_begin(wfre_rdf_output *output);
void wfre_rdf_output_triple(wfre_rdf_output *output, const wfre_rdf_value triple[WFRE_RDF_PLACES]);
/* Ends the graph; the output is empty again. A failure shows in the text (wfre_text_status). */
void wfre_rdf_output_end(wfre_rdf_output *output);

#endif
