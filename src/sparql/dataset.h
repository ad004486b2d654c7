/* The graphs that a query sees (dataset.c). */
#ifndef WFRE_SRC_SPARQL_DATASET_H
#define WFRE_SRC_SPARQL_DATASET_H

#include "sparql/plan.h"

/* Opens the dataset of a run: x->rdf is the whole snapshot. To be closed also if it fails. */
wfre_sq_flow wfre_sq_dataset_open(wfre_sq_exec *x);
void wfre_sq_dataset_close(wfre_sq_exec *x);
/* Lists the graphs that GRAPH can name; to be called before one is looked for. */
wfre_sq_flow wfre_sq_dataset_list(wfre_sq_exec *x);
/* The place of a graph among those that can be named; their number if it is none. */
size_t wfre_sq_dataset_find(const wfre_sq_exec *x, wfre_rdf_id name);

#endif
