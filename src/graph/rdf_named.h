/* Named graphs of a snapshot, as views of the same terms. */
#ifndef WFRE_SRC_GRAPH_RDF_NAMED_H
#define WFRE_SRC_GRAPH_RDF_NAMED_H

#include "graph/rdf.h"
#include "graph/triples.h"

/* Appends the rows as a line of the snapshot has them; sorts them. */
void wfre_named_put(wfre_text *text, wfre_triple *rows, size_t count);

/* Finds the names when a view is opened; wfre_rdf_close calls the second. */
WFRE_NODISCARD wfre_status wfre_rdf_list_named(wfre_rdf *rdf, wfre_error *error);
void wfre_rdf_owned_free(wfre_rdf *rdf);

#endif
