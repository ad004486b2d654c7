/* A graph as RDF: terms, and triple patterns over edges and attributes together.
 *
 * Every term has one number, whatever role it plays: the predicate of `?s ?p ?o` joins with the
 * subject of `?p rdfs:label ?l`. The numbers are
 *
 *   0 .. n-1     the entities of the learnable graph, by their ids
 *   n .. n+d-1   the dictionary: IRIs that are no entities (predicates, subjects of literals only),
 *                then literals, class by class; each class in the order of its bytes
 *   then         blank nodes
 *   then         relations that are neither: they have a name that is no IRI, or no attributes
 *
 * The triples are the edges of one split, and all attributes: triples with a literal or a blank
 * node. Attributes belong to every split. A triple is never both, and an attribute whose subject is
 * an entity never has one as its object. Names that are no IRIs have one here: the base, "e:" (of
 * an entity) or "r:" (of a relation), and the name percent-coded; "e/" and "r/" if the base does
 * not end in a colon. A relation whose name is the IRI of an entity is the same term.
 *
 * The triples of named graphs are among these, whatever graph they belong to; each named graph is a
 * view of its own, too. */
#ifndef WFRE_SRC_GRAPH_RDF_H
#define WFRE_SRC_GRAPH_RDF_H

#include "base/text.h"
#include "graph/graph.h"

typedef uint32_t wfre_rdf_id; /* WFRE_NONE: no term; in patterns: any term */

/* The view of a graph at one split: immutable, to be read by any number of threads. The graph must
 * stay open as long. */
typedef struct wfre_rdf wfre_rdf;

WFRE_NODISCARD wfre_status wfre_rdf_open(const wfre_graph *graph, wfre_split split, wfre_rdf **rdf,
                                         wfre_error *error);
void wfre_rdf_close(wfre_rdf *rdf);
const wfre_graph *wfre_rdf_graph(const wfre_rdf *rdf);
wfre_split wfre_rdf_split(const wfre_rdf *rdf);
/* Numbers of terms lie below this; an evaluator may number its own from here on. */
uint32_t wfre_rdf_terms(const wfre_rdf *rdf);
/* Edges of the split and attributes. */
uint64_t wfre_rdf_triples(const wfre_rdf *rdf);

/* ---- terms -------------------------------------------------------------------------------- */

typedef enum wfre_rdf_kind { WFRE_RDF_IRI, WFRE_RDF_BLANK, WFRE_RDF_LITERAL } wfre_rdf_kind;

/* A term by value. Texts are UTF-8; absent ones have length 0. */
typedef struct wfre_rdf_value {
    wfre_rdf_kind kind;
    wfre_name text; /* the whole IRI; the label of a blank node without "_:"; the lexical form */
    wfre_name datatype; /* of a literal: always there, also xsd:string and rdf:langString */
    wfre_name language; /* of a literal, as it was written; searched for in any case */
} wfre_rdf_value;

/* The value of a term. Its texts lie in the graph or in `scratch`, which is cleared first, and live
 * until either changes. Fails only for want of memory. */
WFRE_NODISCARD wfre_status wfre_rdf_get(const wfre_rdf *rdf, wfre_rdf_id id, wfre_text *scratch,
                                        wfre_rdf_value *value, wfre_error *error);
/* The term with a value, or WFRE_NONE if the graph has none. A literal without a datatype is a
 * string, or has a language. Blank nodes are found by the labels that wfre_rdf_get gives them. */
WFRE_NODISCARD wfre_status wfre_rdf_find(const wfre_rdf *rdf, const wfre_rdf_value *value,
                                         wfre_rdf_id *id, wfre_error *error);
wfre_rdf_kind wfre_rdf_kind_of(const wfre_rdf *rdf, wfre_rdf_id id);

/* Literals come in classes, one for each pair of datatype and language: few, so that what follows
 * from them can be worked out once for each. 0 .. wfre_rdf_classes - 1; WFRE_NONE if `id` is no
 * literal of the dictionary. */
uint32_t wfre_rdf_classes(const wfre_rdf *rdf);
uint32_t wfre_rdf_class_of(const wfre_rdf *rdf, wfre_rdf_id id);
/* The datatype and language of a class, and its literals: *first .. *end - 1. */
wfre_rdf_value wfre_rdf_class(const wfre_rdf *rdf, uint32_t class, wfre_rdf_id *first,
                              wfre_rdf_id *end);

/* The entity of the learnable graph (the same number), or WFRE_NONE. */
wfre_entity wfre_rdf_entity(const wfre_rdf *rdf, wfre_rdf_id id);
/* The forward relation that the term names as a predicate, or WFRE_NONE: it has no edges. */
wfre_relation wfre_rdf_relation(const wfre_rdf *rdf, wfre_rdf_id id);
wfre_rdf_id wfre_rdf_relation_term(const wfre_rdf *rdf, wfre_relation relation);
/* What to show for an IRI: its label, or the local name decoded. In `scratch`, cleared first, or in
 * the graph. Nothing for literals and blank nodes. */
WFRE_NODISCARD wfre_status wfre_rdf_label(const wfre_rdf *rdf, wfre_rdf_id id, wfre_text *scratch,
                                          wfre_name *label, wfre_error *error);

/* The label properties that were named at import, beside the usual ones; false at the end. */
bool wfre_graph_own_label(const wfre_graph *graph, size_t index, wfre_name *iri);

/* Prefixes: wfre_graph_prefix and wfre_graph_base of wfre/graph.h. */
/* The IRI of a prefix given without its colon; e and r stand for wfre_graph_base with "e:" and "r:"
 * unless a source declared them. Appended to `iri`; false if there is none. */
bool wfre_graph_find_prefix(const wfre_graph *graph, const char *prefix, size_t length,
                            wfre_text *iri);

/* ---- named graphs (rdf_named.c) ----------------------------------------------------------- */

size_t wfre_rdf_named_count(const wfre_rdf *rdf);
wfre_name wfre_rdf_named_iri(const wfre_rdf *rdf, size_t index);
/* The view of one, which belongs to `rdf`; made by the first call. Terms have the same numbers. */
WFRE_NODISCARD wfre_status wfre_rdf_named_view(const wfre_rdf *rdf, size_t index,
                                               const wfre_rdf **view, wfre_error *error);
/* The view of several together, or of none; the caller closes it before `rdf`. */
WFRE_NODISCARD wfre_status wfre_rdf_merge(const wfre_rdf *rdf, const size_t *graphs, size_t count,
                                          wfre_rdf **view, wfre_error *error);

/* The view of what stood in the default graph of the sources, if they had named ones, too; else
 * NULL. The caller closes it before `rdf`. */
WFRE_NODISCARD wfre_status wfre_rdf_own_default(const wfre_rdf *rdf, wfre_rdf **view,
                                                wfre_error *error);

/* ---- triples ------------------------------------------------------------------------------ */

typedef enum wfre_rdf_place { WFRE_RDF_S, WFRE_RDF_P, WFRE_RDF_O, WFRE_RDF_PLACES } wfre_rdf_place;

/* A triple; as a pattern, WFRE_NONE stands for any term. Places are independent of each other: that
 * two of them are the same variable is for the caller to check. A number that no term has matches
 * nothing. */
typedef struct wfre_rdf_triple {
    wfre_rdf_id at[WFRE_RDF_PLACES];
} wfre_rdf_triple;

bool wfre_rdf_has(const wfre_rdf *rdf, const wfre_rdf_triple *triple);
/* How many triples match. Exact, and cheap (some binary searches; with the object alone given, one
 * for each predicate that has attributes; with subject and object, a walk through the former's). */
uint64_t wfre_rdf_count(const wfre_rdf *rdf, const wfre_rdf_triple *pattern);
/* How many different subjects or objects the triples of a predicate have; for edges and attributes
 * together an upper bound. */
uint64_t wfre_rdf_distinct(const wfre_rdf *rdf, wfre_rdf_id predicate, wfre_rdf_place place);

/* The different terms at one place of the triples that match a pattern, ascending: what a
 * worst-case-optimal or merge join walks on. The place itself must be free in the pattern; the
 * other places are given or free. Zero-initialise, open as often as you like, free once. */
typedef struct wfre_rdf_column wfre_rdf_column;

/* The triples that match a pattern, sorted by the places in the order named. */
typedef enum wfre_rdf_order {
    WFRE_RDF_SPO,
    WFRE_RDF_PSO,
    WFRE_RDF_POS,
    WFRE_RDF_OPS,
    WFRE_RDF_ORDERS
} wfre_rdf_order;
typedef struct wfre_rdf_scan wfre_rdf_scan;

#include "graph/rdf_cursor.h" /* what the two are made of, so that they can live on the stack */

WFRE_NODISCARD wfre_status wfre_rdf_column_open(wfre_rdf_column *column, const wfre_rdf *rdf,
                                                const wfre_rdf_triple *pattern,
                                                wfre_rdf_place place, wfre_error *error);
/* The least member that is not below `least`, which must not go down from call to call; false if
 * there is none. The next one after `m` is that of seek(m + 1). */
bool wfre_rdf_column_seek(wfre_rdf_column *column, wfre_rdf_id least, wfre_rdf_id *member);
/* An upper bound of the number of members, known without walking. */
uint64_t wfre_rdf_column_most(const wfre_rdf_column *column);
void wfre_rdf_column_free(wfre_rdf_column *column);

/* A scan must stay where it was opened. Any pattern goes with any order. Cheap is an order that
 * starts with the places that the pattern gives (POS for p or p and o given, OPS for o); other
 * orders filter what they walk through: nothing given: SPO, PSO, POS    s: SPO    s,p: SPO, PSO p:
 * PSO, POS    p,o: POS, OPS o: OPS    s,o: SPO OPS without a given object is made by sorting. */
WFRE_NODISCARD wfre_status wfre_rdf_scan_open(wfre_rdf_scan *scan, const wfre_rdf *rdf,
                                              const wfre_rdf_triple *pattern, wfre_rdf_order order,
                                              wfre_error *error);
/* The next triple; false at the end. */
bool wfre_rdf_scan_next(wfre_rdf_scan *scan, wfre_rdf_triple *triple);
/* Moves forward to the first triple not before `least` in the scan's order, which the next call of
 * _next then gives. */
void wfre_rdf_scan_seek(wfre_rdf_scan *scan, const wfre_rdf_triple *least);
void wfre_rdf_scan_free(wfre_rdf_scan *scan);

#endif
