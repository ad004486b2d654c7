/* Reads N-Triples, N-Quads, Turtle and TriG (RDF 1.1), strictly: what the recommendations do not
 * allow is refused with line and column. */
#ifndef WFRE_SRC_GRAPH_RDF_READER_H
#define WFRE_SRC_GRAPH_RDF_READER_H

#include "base/file.h"
#include "graph/rdf.h"

typedef enum wfre_rdf_syntax {
    WFRE_RDF_NTRIPLES,
    WFRE_RDF_NQUADS,
    WFRE_RDF_TURTLE,
    WFRE_RDF_TRIG
} wfre_rdf_syntax;

/* What is told of a file while it is read. Texts live until the call returns. A literal has a
 * datatype or a language or neither; blank nodes have labels that are unique within the file. */
typedef struct wfre_rdf_sink {
    /* `graph` is NULL in the default graph. */
    wfre_status (*statement)(void *context, const wfre_rdf_value triple[WFRE_RDF_PLACES],
                             const wfre_rdf_value *graph, wfre_error *error);
    wfre_status (*prefix)(void *context, wfre_name prefix, wfre_name iri, wfre_error *error);
    void *context;
} wfre_rdf_sink;

/* Reads to the end. Relative IRIs are resolved against `base`; without one (NULL) those of Turtle
 * and TriG stay as they are: names, which wfre_rdf_get puts behind the graph's base. */
WFRE_NODISCARD wfre_status wfre_rdf_read(wfre_reader *reader, wfre_rdf_syntax syntax,
                                         const char *base, const wfre_rdf_sink *sink,
                                         wfre_error *error);

#endif
