/* IRIs as text: which names are some, what the others get, and what of one is shown. */
#ifndef WFRE_SRC_GRAPH_IRI_H
#define WFRE_SRC_GRAPH_IRI_H

#include "base/text.h"
#include "wfre/graph.h"

/* Whether a name is an absolute IRI: a scheme, a colon, and no character that IRIs lack. */
bool wfre_iri_absolute(const char *name, size_t length);
/* What stands before a coded name: the base and "e:" or "r:" (kind is 'e' or 'r'), with a slash in
 * the place of the colon if the base does not end in one. */
void wfre_iri_prefix(wfre_text *text, wfre_name base, char kind);
/* Appends a name percent-coded: letters, digits, "-._~:" and characters beyond ASCII stay. */
void wfre_iri_encode(wfre_text *text, const char *name, size_t length);
/* Appends with %XX replaced by bytes; a '%' that no two digits follow stays. */
void wfre_iri_decode(wfre_text *text, const char *coded, size_t length);
/* The same into `to`, which has room for `length`; returns how many bytes there are. */
size_t wfre_iri_decode_into(char *to, const char *coded, size_t length);
/* What comes behind the last '#' or '/', or else behind the last ':'; all of it if that is empty.
 * A slash or # at the very end does not count. */
wfre_name wfre_iri_local(const char *iri, size_t length);
/* Appends the local name to show: decoded if the result is UTF-8 and has no control characters. */
void wfre_iri_display(wfre_text *text, const char *iri, size_t length);
/* Appends the IRI that a reference means, given an absolute base; RFC 3986, 5.2. */
void wfre_iri_resolve(wfre_text *text, wfre_name base, wfre_name reference);

#endif
