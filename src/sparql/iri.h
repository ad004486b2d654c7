/* IRIs: making relative ones absolute (RFC 3986, section 5.2). */
#ifndef WFRE_SRC_SPARQL_IRI_H
#define WFRE_SRC_SPARQL_IRI_H

#include "base/memory.h"
#include "wfre/graph.h"

/* Whether it begins with a scheme. */
bool wfre_sq_iri_absolute(wfre_name iri);
/* `reference` as seen from `base`, in the arena; false when out of memory. */
bool wfre_sq_iri_resolve(wfre_arena *arena, wfre_name base, wfre_name reference, wfre_name *iri);

#endif
