/* Knowledge graphs: import from other formats, open a snapshot, look things up.
 *
 * A graph is a snapshot file (*.kg) mapped into memory, or the same bytes built in memory. Its
 * three splits are nested: WFRE_VALID means the triples of train and valid together, WFRE_TEST
 * means all. */
#ifndef WFRE_GRAPH_H
#define WFRE_GRAPH_H

#include "wfre/base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct wfre_graph wfre_graph;

typedef enum wfre_split { WFRE_TRAIN = 0, WFRE_VALID = 1, WFRE_TEST = 2 } wfre_split;
enum { WFRE_SPLITS = 3 };

/* A borrowed, ascending list of entities; valid as long as the function that returns it says. */
typedef struct wfre_list {
    const wfre_entity *ids;
    size_t count;
} wfre_list;

/* Text owned by the object that it comes from, not NUL-terminated; bytes is NULL and length 0 if
 * there is none. */
typedef struct wfre_name {
    const char *bytes;
    size_t length;
} wfre_name;

/* ---- import ------------------------------------------------------------------------------- */

/* What becomes of RDF literals and blank nodes. */
typedef enum wfre_literals {
    WFRE_LITERALS_ATTRIBUTES = 0, /* kept beside the learnable graph */
    WFRE_LITERALS_ENTITIES,       /* entities like others */
    WFRE_LITERALS_DROP            /* left out, but for labels and descriptions */
} wfre_literals;

typedef struct wfre_import_options {
    /* "tsv", "nt", "ttl", "nq", "trig", "wordnet", "betae"; NULL or "auto": by the source's name
     * and files. */
    const char *format;
    const char *labels; /* a TSV file "name <TAB> label [<TAB> description]", or NULL */
    wfre_literals literals;
    const char *language;       /* of labels, such as "en" (NULL); then those without, then any */
    const char *label_property; /* one more IRI that gives labels, before the usual ones; or NULL */
    const char *base; /* against which relative IRIs are resolved, and names get one; or NULL */
    bool header;      /* the first line of TSV and CSV names the columns; it is recognised, too */
    /* Share of the triples to hold out, half as valid and half as test; 0 for none. An entity's or
     * relation's last training triple is never taken. Only for sources without a split. */
    double holdout;
    uint64_t seed;    /* of the holdout */
    bool allow_empty; /* a graph without a triple is no error */
    /* What each source is to be as a named graph, and the base of its relative IRIs: an absolute
     * IRI for each source, which must be N-Triples or Turtle; or NULL. */
    const char *const *graphs;
} wfre_import_options;

typedef struct wfre_import_report {
    const char *format; /* of the first source; a constant */
    uint32_t entities;
    uint32_t relations;            /* not directed */
    uint64_t triples[WFRE_SPLITS]; /* that the split adds to the one before it */
    uint64_t duplicates;           /* triples seen before */
    uint64_t attributes;           /* triples with a literal or a blank node that are kept */
    uint64_t literals;             /* triples left out for their literal */
    uint64_t blanks;               /* triples left out for a blank node */
    uint64_t named;                /* triples of graphs that blank nodes name, which are not kept */
    uint64_t labels;               /* rows of the label file that named something here */
    uint64_t labels_unknown;       /* and those that did not */
} wfre_import_report;

/* Reads all sources (files, folders, or "-" for standard input) into one graph and writes it as a
 * snapshot, replacing `output` only when all went well. Several files named train, valid and test
 * are taken as such; any other file is training data. */
WFRE_API WFRE_NODISCARD wfre_status wfre_import(const char *const *sources, size_t source_count,
                                                const wfre_import_options *options,
                                                const char *output, const wfre_monitor *monitor,
                                                wfre_import_report *report, wfre_error *error);

/* The same into memory, without a file; close the graph as usual. The report (which may be NULL)
 * says what was left out, and does not count the graph. */
WFRE_API WFRE_NODISCARD wfre_status wfre_import_graph(
    const char *const *sources, size_t source_count, const wfre_import_options *options,
    const wfre_monitor *monitor, wfre_graph **graph, wfre_import_report *report, wfre_error *error);

/* One triple by its names: UTF-8, not empty, without a NUL byte. */
typedef struct wfre_named_triple {
    wfre_name head, relation, tail;
} wfre_named_triple;

/* The same of triples that a program has: counts[WFRE_TRAIN] of train, then those that valid adds,
 * then those that test does. Names are copied. The options' format and literals do not count. On
 * WFRE_ERR_FORMAT error->offset is the number of the triple at fault. */
WFRE_API WFRE_NODISCARD wfre_status
wfre_import_triples(const wfre_named_triple *triples, const size_t counts[WFRE_SPLITS],
                    const wfre_import_options *options, const wfre_monitor *monitor,
                    wfre_graph **graph, wfre_import_report *report, wfre_error *error);

/* Writes a graph, mapped or in memory, as a snapshot, replacing the file atomically. */
WFRE_API WFRE_NODISCARD wfre_status wfre_graph_save(const wfre_graph *graph, const char *path,
                                                    wfre_error *error);

/* Writes the triples of a split and all attributes as RDF: format "nt", "ttl" or, with the named
 * graphs, "nq", or NULL for what the path ends in. *triples is how many were written. */
WFRE_API WFRE_NODISCARD wfre_status wfre_graph_export(const wfre_graph *graph, wfre_split split,
                                                      const char *path, const char *format,
                                                      const wfre_monitor *monitor,
                                                      uint64_t *triples, wfre_error *error);

/* The formats in the order in which they are tried, each with a line about it; NULL at the end. */
WFRE_API const char *wfre_import_format(size_t index, const char **about);

/* ---- open and close ----------------------------------------------------------------------- */

/* Maps a snapshot. One of up to 16 MiB is checked as wfre_graph_verify does; of a larger one the
 * header is, in time independent of the number of triples, and every other part when it is first
 * used. No file, whoever made it, makes any function of this library read outside of it. The
 * environment variable WFRE_CHECK, if it is "open" or "use", chooses for snapshots of any size. */
WFRE_API WFRE_NODISCARD wfre_status wfre_graph_open(const char *path, wfre_graph **graph,
                                                    wfre_error *error);
/* Another owner of the same graph, who closes it as well; returns it. Any thread may call it. */
WFRE_API wfre_graph *wfre_graph_ref(const wfre_graph *graph);
WFRE_API void wfre_graph_close(wfre_graph *graph);
/* Whether a file that starts with these bytes is meant to be a snapshot; 8 are enough. */
WFRE_API bool wfre_graph_recognises(const void *bytes, size_t length);
/* Compares all checksums, so that accidental damage is noticed, and checks that every index and
 * list is within its bounds and in order; reads the whole file. */
WFRE_API WFRE_NODISCARD wfre_status wfre_graph_verify(const wfre_graph *graph, wfre_error *error);
/* Reads everything and checks it: as wfre_graph_verify, and that the names are text and are found,
 * both directions of every edge, and nested splits. The message says what is wrong. */
WFRE_API WFRE_NODISCARD wfre_status wfre_graph_validate(const wfre_graph *graph, wfre_error *error);

/* Whether all that was looked up so far was whole: what is damaged looks like nothing to the
 * functions below, which return no status. Functions that do fail by themselves. */
WFRE_API WFRE_NODISCARD wfre_status wfre_graph_sound(const wfre_graph *graph, wfre_error *error);

/* ---- sizes and names ---------------------------------------------------------------------- */

WFRE_API uint32_t wfre_graph_entities(const wfre_graph *graph);
/* Directed relations: twice the number of relations, since each has its inverse. */
WFRE_API uint32_t wfre_graph_relations(const wfre_graph *graph);
/* Triples of the split's graph, inverses not counted. */
WFRE_API uint64_t wfre_graph_triples(const wfre_graph *graph, wfre_split split);
/* Triples with a literal or a blank node, which are kept beside the graph. */
WFRE_API uint64_t wfre_graph_attributes(const wfre_graph *graph);
/* Of the snapshot. */
WFRE_API uint64_t wfre_graph_bytes(const wfre_graph *graph);
/* Identifies the contents; models remember the graph they were trained on by it. */
WFRE_API uint64_t wfre_graph_fingerprint(const wfre_graph *graph);

/* The unique name, the label to show (the name if there is none), the description (or nothing). */
WFRE_API wfre_name wfre_graph_entity_name(const wfre_graph *graph, wfre_entity entity);
WFRE_API wfre_name wfre_graph_entity_label(const wfre_graph *graph, wfre_entity entity);
WFRE_API wfre_name wfre_graph_entity_description(const wfre_graph *graph, wfre_entity entity);
/* Of relation / 2: an inverse has the name of its relation. */
WFRE_API wfre_name wfre_graph_relation_name(const wfre_graph *graph, wfre_relation relation);
WFRE_API wfre_name wfre_graph_relation_label(const wfre_graph *graph, wfre_relation relation);

/* The prefixes of the RDF that the graph was made of, first come first; false at the end. */
WFRE_API bool wfre_graph_prefix(const wfre_graph *graph, size_t index, wfre_name *prefix,
                                wfre_name *iri);
/* What names that are no IRIs are put behind when the graph is seen as RDF. */
WFRE_API wfre_name wfre_graph_base(const wfre_graph *graph);

/* What a person means by a text: in this order the name; <iri>, or prefix:local with a prefix of
 * the graph (or e: and r:, see wfre_graph_base); the label; the local name of an IRI; a label in
 * another language than the one shown; any of these in other case, or with other blanks, '_' and
 * '-'. Of the last four only if exactly one entity has it. "text"@en, with the quotes, is a label
 * in that language. WFRE_NONE if not found, which takes a walk through all names. */
WFRE_API wfre_entity wfre_graph_find_entity(const wfre_graph *graph, const char *text,
                                            size_t length);
/* The forward relation (an even id). */
WFRE_API wfre_relation wfre_graph_find_relation(const wfre_graph *graph, const char *text,
                                                size_t length);

/* ---- edges -------------------------------------------------------------------------------- */

/* The t with (entity, relation, t); relation may be an inverse. Valid until the graph is closed. */
WFRE_API wfre_list wfre_graph_targets(const wfre_graph *graph, wfre_split split,
                                      wfre_relation relation, wfre_entity entity);
/* The entities with at least one edge of this directed relation going out. Valid until the graph
 * is closed. */
WFRE_API wfre_list wfre_graph_sources(const wfre_graph *graph, wfre_split split,
                                      wfre_relation relation);
/* Whether the triple (head, relation, tail) is in the split's graph; relation may be an inverse. */
WFRE_API bool wfre_graph_has(const wfre_graph *graph, wfre_split split, wfre_entity head,
                             wfre_relation relation, wfre_entity tail);

/* All triples of the split's graph, relation by relation: head, relation (an even id) and tail of
 * each, one after another. `capacity` triples fit into `ids`, which must be at least
 * wfre_graph_triples. */
WFRE_API WFRE_NODISCARD wfre_status wfre_graph_copy_triples(const wfre_graph *graph,
                                                            wfre_split split, uint32_t *ids,
                                                            uint64_t capacity, wfre_error *error);

/* ---- statistics --------------------------------------------------------------------------- */

/* Triples of this relation in the split's graph. */
WFRE_API uint64_t wfre_graph_relation_triples(const wfre_graph *graph, wfre_split split,
                                              wfre_relation relation);

/* In how many triples the entities are; a triple counts for its head and for its tail. */
typedef struct wfre_degrees {
    uint32_t unconnected; /* entities in no triple */
    double mean;
    uint64_t median, upper_tenth, upper_hundredth, maximum;
    wfre_entity hub; /* an entity of the maximum; WFRE_NONE if there are no entities */
} wfre_degrees;

WFRE_API WFRE_NODISCARD wfre_status wfre_graph_degrees(const wfre_graph *graph, wfre_split split,
                                                       wfre_degrees *degrees, wfre_error *error);

/* How much one relation orders its entities like a hierarchy. Loops at one entity do not count. */
typedef struct wfre_hierarchy {
    uint32_t entities; /* that have an edge of it */
    uint64_t edges;
    /* Krackhardt's score: of the ordered pairs joined by a path, the share with no path back; 1 for
     * a hierarchy, 0 for a symmetric relation. Estimated from 65,536 entities if there are more. */
    double krackhardt;
    /* The same for pairs joined by an edge. Published tables often give this one. */
    double one_way;
    /* Gu et al. 2018, averaged over random triangles, direction ignored: the lower the more like a
     * tree. NAN if there are no triangles. */
    double curvature;
    uint32_t triangles; /* it was averaged over */
} wfre_hierarchy;

/* Samples this many triangles (0: 1000). `pool` may be NULL. The same seed gives the same bits. */
WFRE_API WFRE_NODISCARD wfre_status wfre_graph_hierarchy(const wfre_graph *graph, wfre_split split,
                                                         wfre_relation relation, uint32_t triangles,
                                                         uint64_t seed, wfre_pool *pool,
                                                         wfre_hierarchy *hierarchy,
                                                         wfre_error *error);

#ifdef __cplusplus
}
#endif

#endif
