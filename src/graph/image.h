/* The snapshot image: the bytes of a *.kg file, and equally of a graph built in memory.
 *
 * A header of fixed size, then sections, each starting at a multiple of 64 bytes. All numbers are
 * in the byte order of the machine that wrote them (`byte_order` tells a reader); offsets count
 * from the start of the image. docs/FORMAT.md describes every section. */
#ifndef WFRE_SRC_GRAPH_IMAGE_H
#define WFRE_SRC_GRAPH_IMAGE_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/file.h"
#include "graph/attributes.h"
#include "graph/graph.h"
#include "graph/guard.h"
#include "graph/packed.h"

/* The first byte is no text, the last is a newline: a transfer in text mode damages it visibly. */
#define WFRE_IMAGE_MAGIC "\x89WFREKG\n"
enum { WFRE_IMAGE_VERSION = 2, WFRE_IMAGE_BYTE_ORDER = 0x01020304, WFRE_IMAGE_ALIGNMENT = 64 };

/* Behind the last section stands a checksum for each block of this size, counted from the first
 * place behind the header, and a checksum of these checksums. */
enum { WFRE_IMAGE_BLOCK = 1 << 16 };

/* A table of texts takes three sections. Absent tables have three empty ones. */
enum {
    WFRE_TEXT_OFFSETS, /* uint64, one more than there are texts */
    WFRE_TEXT_BYTES,   /* the texts one after another */
    WFRE_TEXT_INDEX,   /* uint32 slots of a hash table, see wfre_names_find; may be empty */
    WFRE_TEXT_SECTIONS
};

typedef enum wfre_text_table {
    WFRE_ENTITY_NAMES,
    WFRE_ENTITY_LABELS,
    WFRE_ENTITY_DESCRIPTIONS,
    WFRE_RELATION_NAMES,
    WFRE_RELATION_LABELS,
    WFRE_TEXT_TABLES
} wfre_text_table;

/* The edges of the whole graph: the arrays of wfre_adjacency, and the split of each target. */
enum {
    WFRE_EDGES_RELATION_GROUPS,
    WFRE_EDGES_GROUP_ENTITY,
    WFRE_EDGES_GROUP_BEGIN,
    WFRE_EDGES_TARGETS,
    WFRE_EDGES_ENTITY_BEGIN,
    WFRE_EDGES_RELATIONS, /* 16 bits each, or 32 if there are more than 65,536 */
    WFRE_EDGES_GROUPS,
    WFRE_EDGES_SPLITS, /* two bits a target, lowest first; empty if all are training triples */
    WFRE_EDGES_SECTIONS
};

/* Attributes and their terms: graph/dictionary.h, graph/packed.h. All empty if there are none. */
enum {
    WFRE_TERMS_CLASSES,
    WFRE_TERMS_KEYS,
    WFRE_TERMS_BLOCKS,
    WFRE_TERMS_BYTES,
    WFRE_ATTRIBUTE_PREDICATES,
    WFRE_ATTRIBUTE_ORDERS, /* heads and bytes for each of SPO, PSO, POS */
    WFRE_ATTRIBUTE_SECTIONS = WFRE_ATTRIBUTE_ORDERS + 2 * 3
};

enum {
    WFRE_FIRST_EDGES = WFRE_TEXT_TABLES * WFRE_TEXT_SECTIONS,
    WFRE_FIRST_ATTRIBUTES = WFRE_FIRST_EDGES + WFRE_EDGES_SECTIONS,
    WFRE_PREFIXES = WFRE_FIRST_ATTRIBUTES + WFRE_ATTRIBUTE_SECTIONS, /* "name <TAB> IRI <LF>" ... */
    WFRE_IMAGE_SECTIONS
};

static inline int wfre_section_of_text(wfre_text_table table, int part)
{
    return (int)table * WFRE_TEXT_SECTIONS + part;
}

static inline int wfre_section_of_attributes(int part)
{
    return WFRE_FIRST_ATTRIBUTES + part;
}

static inline int wfre_section_of_edges(int part)
{
    return WFRE_FIRST_EDGES + part;
}

typedef struct wfre_image_section {
    uint64_t offset;
    uint64_t length;   /* in bytes */
    uint64_t checksum; /* wfre_hash(bytes, length, 0) */
} wfre_image_section;

typedef struct wfre_image_header {
    unsigned char magic[8];
    uint32_t version;
    uint32_t byte_order;
    uint64_t length; /* of the whole image */
    uint64_t fingerprint;
    uint64_t triples[WFRE_SPLITS]; /* of the nested graphs, so ascending */
    uint32_t entities;
    uint32_t relations; /* directed: even */
    uint32_t section_count;
    uint32_t flags;               /* WFRE_IMAGE_RDF_NAMES */
    uint64_t attributes;          /* triples */
    uint32_t dictionary_terms;    /* IRIs and literals beside the entities */
    uint32_t blanks;              /* blank nodes */
    uint32_t groups[WFRE_SPLITS]; /* of the nested graphs */
    uint32_t reserved;            /* 0 */
    uint64_t sums;                /* where the checksums of blocks are; 0: there are none */
    wfre_image_section sections[WFRE_IMAGE_SECTIONS];
    uint64_t checksum; /* of all bytes before it */
} wfre_image_header;

_Static_assert(sizeof(wfre_image_header) == 960, "the layout that docs/FORMAT.md describes");

#define WFRE_DEFAULT_BASE "urn:wfre:"

/* Entities may be literals and blank nodes, named as N-Triples writes them, but for escapes. */
enum { WFRE_IMAGE_RDF_NAMES = 1 };

/* The first place behind a header of that size. */
static inline uint64_t wfre_image_body(uint64_t header)
{
    return (header + WFRE_IMAGE_ALIGNMENT - 1) / WFRE_IMAGE_ALIGNMENT * WFRE_IMAGE_ALIGNMENT;
}

/* "entity names, offsets", for messages; WFRE_IMAGE_SECTIONS is the space between them. */
const char *wfre_image_section_name(int section, char buffer[64]);

/* ---- writing an image (graph/write.c) ----------------------------------------------------- */

typedef struct wfre_image_writer wfre_image_writer;
/* Puts the next section into the image. */
WFRE_NODISCARD wfre_status wfre_image_put(wfre_image_writer *to, int section, const void *bytes,
                                          size_t length, wfre_error *error);
/* Attributes and prefixes (graph/write_attributes.c); fills the counts of the header. */
struct wfre_graph_builder;
WFRE_NODISCARD wfre_status wfre_image_put_attributes(wfre_image_writer *to,
                                                     struct wfre_graph_builder *builder,
                                                     wfre_image_header *header, wfre_error *error);

/* ---- a graph: views into an image --------------------------------------------------------- */

typedef struct wfre_names {
    const uint64_t *offsets; /* NULL if the table is absent */
    const char *bytes;
    uint64_t length; /* of bytes */
    uint32_t count;
    const uint32_t *slots; /* open addressing from wfre_hash(text): id + 1, 0 is free */
    uint64_t slot_count;   /* a power of two, or 0 */
    wfre_guard *guard;     /* NULL: all of it may be used */
    int table;             /* for the guard */
} wfre_names;

/* Set in a slot whose text belongs to more than one id (labels need not be unique). */
#define WFRE_SLOT_AMBIGUOUS 0x80000000u
/* So that a slot's id + 1 never reaches that bit. */
#define WFRE_ENTITY_LIMIT 0x7FFFFFFEu
#define WFRE_RELATION_LIMIT 0x3FFFFFFEu /* pairs */
#define WFRE_TRIPLE_LIMIT 0x7FFFFFFEu   /* both directions are counted in 32 bits */

wfre_name wfre_names_get(const wfre_names *names, uint32_t id);
/* The id of a text that exactly one id has, else WFRE_NONE. Safe on damaged tables. */
uint32_t wfre_names_find(const wfre_names *names, const char *text, size_t length);
/* Whether more than one id has the text. */
bool wfre_names_ambiguous(const wfre_names *names, const char *text, size_t length);
/* Slots for `names` (wfre_free), with their number; empty texts are left out. NULL when out of
 * memory. */
uint32_t *wfre_names_index(const wfre_names *names, uint64_t *slot_count);

struct wfre_graph {
    _Atomic uint32_t others; /* owners besides the first */
    wfre_mapping mapping;
    unsigned char *owned;       /* the image of a graph built in memory, else NULL */
    const unsigned char *bytes; /* the first of the image */
    const wfre_image_header *header;
    wfre_dictionary dictionary;
    wfre_packed attributes[3]; /* SPO, PSO, POS */
    const wfre_attribute_predicate *predicates;
    uint32_t predicate_count;
    wfre_name prefixes;
    uint64_t body;        /* where the sections begin */
    const uint64_t *sums; /* of blocks, or NULL */
    uint64_t sum_count;
    wfre_guard *guard; /* NULL for a graph built in memory */
    wfre_names names[WFRE_TEXT_TABLES];
    const unsigned char *splits; /* of targets; NULL if all are training triples */
    wfre_adjacency edges[WFRE_SPLITS];
    _Atomic bool ready[WFRE_SPLITS]; /* the edges are laid out */
    void *laid_out[WFRE_SPLITS];     /* their memory, if it is not the image's */
    pthread_mutex_t lock;            /* of laying out */
};

/* The first split that has the edge at a place of the targets. */
static inline wfre_split wfre_target_split(const wfre_graph *graph, uint32_t place)
{
    return graph->splits ? (wfre_split)(graph->splits[place / 4] >> 2 * (place % 4) & 3)
                         : WFRE_TRAIN;
}

/* Everything about attributes that wfre_graph_validate checks (graph/validate_rdf.c). */
WFRE_NODISCARD wfre_status wfre_graph_check_attributes(const wfre_graph *graph, wfre_error *error);
/* Takes the memory that laying out smaller splits will need (graph/splits.c). */
WFRE_NODISCARD wfre_status wfre_graph_reserve_splits(wfre_graph *graph, wfre_error *error);
/* Opens an image of version 1 by bringing it into today's form, in memory (graph/open_old.c). */
WFRE_NODISCARD wfre_status wfre_graph_from_old(const unsigned char *bytes, size_t length,
                                               wfre_graph **graph, wfre_error *error);
enum { WFRE_OLD_VERSION = 1 };

/* Views `bytes` as a graph without copying; they must outlive it and be aligned to 8. `trust` says
 * when they are checked: never, and they are released with the graph (wfre_free) once this
 * succeeded; now; or part by part when first used. */
typedef enum wfre_trust { WFRE_TRUST_OWNED, WFRE_TRUST_NOW, WFRE_TRUST_LATER } wfre_trust;
WFRE_NODISCARD wfre_status wfre_graph_from_bytes(void *bytes, size_t length, wfre_trust trust,
                                                 wfre_graph **graph, wfre_error *error);

#endif
