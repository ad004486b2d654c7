/* What columns and scans (graph/rdf.h) are made of. Users of these do not look inside. */
#ifndef WFRE_SRC_GRAPH_RDF_CURSOR_H
#define WFRE_SRC_GRAPH_RDF_CURSOR_H

#include "graph/packed.h"

/* Two ascending streams: a list of ids (of the learnable graph, or collected), and one column of
 * packed attributes. */
struct wfre_rdf_column {
    const wfre_rdf_id *ids;
    size_t count, at;
    const wfre_rdf *subjects; /* instead of a list: all entities with an edge going out */
    wfre_packed_cursor cursor;
    wfre_triple prefix; /* what the cursor's rows begin with */
    int depth;          /* the columns of the prefix, and so the number of the one walked on */
    bool has_attributes;
    uint64_t most;
    wfre_rdf_id *owned; /* collected ids */
    size_t capacity;
};

/* A predicate: its term, its pair of relations, and its place among those of attributes. */
typedef struct wfre_rdf_predicate {
    wfre_rdf_id term;
    uint32_t pair;      /* WFRE_NONE: no edges */
    uint32_t attribute; /* WFRE_NONE: no attributes */
} wfre_rdf_predicate;

/* The edges of a scan: predicate by predicate, in each group by group, in each target by target. */
typedef struct wfre_rdf_edges {
    const wfre_rdf_predicate *predicates;
    size_t predicate_count, predicate;
    int backward;     /* the groups are those of objects */
    wfre_rdf_id near; /* the only group, or WFRE_NONE */
    wfre_rdf_id far;  /* the only target, or WFRE_NONE */
    uint32_t group, group_end;
    wfre_list targets;
    size_t target;
    bool by_subject; /* all that for one subject after another */
    wfre_entity subject;
    bool found;
    wfre_rdf_triple triple; /* the one at hand */
} wfre_rdf_edges;

/* The attributes of a scan: rows of one order that begin with a prefix, and perhaps then those with
 * the same object of the next predicate. */
typedef struct wfre_rdf_rows {
    wfre_packed_cursor cursor;
    wfre_rdf_order order;
    wfre_triple prefix;
    int depth;
    wfre_rdf_id object; /* what the others are skipped for, or WFRE_NONE */
    bool by_predicate;
    uint32_t predicate;
    bool found;
    wfre_rdf_triple triple;
} wfre_rdf_rows;

/* The view itself. */
struct wfre_rdf {
    const wfre_graph *graph;
    wfre_split split;
    const wfre_adjacency *edges;
    const wfre_packed *packed;                         /* by order: SPO, PSO, POS */
    const struct wfre_attribute_predicate *attributes; /* the predicates of what is packed */
    uint32_t attribute_count;
    uint64_t triples;
    uint32_t with_edges; /* entities below this may have edges: all, or none in a named graph */
    uint32_t entities, dictionary, blanks;
    uint32_t terms;
    wfre_rdf_id *relation_terms;    /* by pair */
    uint32_t *own;                  /* pairs that are terms by themselves, the last terms */
    wfre_rdf_predicate *predicates; /* by term */
    uint32_t predicate_count;
    wfre_rdf_id *predicate_terms; /* of those that have a triple in the split */
    uint32_t live_count;
    wfre_text entity_prefix, relation_prefix;
    bool shares;                  /* relation_terms, own and the prefixes are another view's */
    struct wfre_rdf_named *named; /* the named graphs, as far as they were asked for */
    wfre_packed owned_packed[3];  /* of a named graph */
    struct wfre_attribute_predicate *owned_attributes;
    wfre_text owned_bytes[3];
    wfre_packed_head *owned_heads[3];
};

/* The row of a predicate, or NULL. */
const wfre_rdf_predicate *wfre_rdf_find_predicate(const wfre_rdf *rdf, wfre_rdf_id id);

struct wfre_rdf_scan {
    const wfre_rdf *rdf;
    wfre_rdf_order order;
    wfre_rdf_edges edges;
    wfre_rdf_rows rows;
    wfre_rdf_predicate *owned; /* the predicates of one subject or object */
    size_t owned_capacity;
    wfre_rdf_triple *sorted; /* all of it, if it had to be sorted */
    size_t sorted_count, sorted_at, sorted_capacity;
    bool is_sorted;
};

#endif
