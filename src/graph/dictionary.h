/* The dictionary of a snapshot: IRIs and literals beside the entities, sorted and front-coded.
 *
 * Terms come in classes: IRIs, and one class for each pair of datatype and language. A class has a
 * key: empty for IRIs (always the first class, perhaps without members), "s" for plain strings,
 * "@" and the tag for a language, "^" and the IRI for another datatype. Classes are in the order of
 * their keys, the terms of a class in the order of their bytes, and a term's rank is its place.
 *
 * Sixteen terms of a class make a block, its last ones perhaps fewer. The first of a block is its
 * length and its bytes; the others are the length that they share with the term before, the length
 * of the rest, and the rest. Lengths have seven bits a byte, low ones first, the highest bit set if
 * another byte follows. */
#ifndef WFRE_SRC_GRAPH_DICTIONARY_H
#define WFRE_SRC_GRAPH_DICTIONARY_H

#include "base/hash.h"
#include "base/text.h"
#include "wfre/graph.h"

enum { WFRE_DICTIONARY_BLOCK = 16 };

typedef struct wfre_term_class {
    uint32_t first;    /* rank of its first term */
    uint32_t block;    /* number of its first block */
    uint32_t key_end;  /* its key ends here, and starts where that of the class before ends */
    uint32_t reserved; /* 0 */
} wfre_term_class;

_Static_assert(sizeof(wfre_term_class) == 16, "the layout that docs/FORMAT.md describes");

typedef struct wfre_dictionary {
    const wfre_term_class *classes;
    uint32_t class_count;
    const char *keys;
    uint64_t key_length;    /* of all keys */
    const uint64_t *blocks; /* where each block starts */
    uint32_t block_count;
    const unsigned char *bytes;
    uint64_t length; /* of bytes */
    uint32_t count;  /* of terms */
} wfre_dictionary;

wfre_name wfre_dictionary_key(const wfre_dictionary *dictionary, uint32_t class);
/* The class of a rank. */
uint32_t wfre_dictionary_class(const wfre_dictionary *dictionary, uint32_t rank);
/* The class whose key is `kind` and a text ('s' and nothing for strings), or WFRE_NONE. */
uint32_t wfre_dictionary_find_class(const wfre_dictionary *dictionary, char kind, const char *text,
                                    size_t length);
/* The ranks of a class: first .. end - 1. */
void wfre_dictionary_range(const wfre_dictionary *dictionary, uint32_t class, uint32_t *first,
                           uint32_t *end);
/* The text of a rank, appended to `scratch`. */
void wfre_dictionary_get(const wfre_dictionary *dictionary, uint32_t rank, wfre_text *scratch);
/* The rank of a text in a class, or WFRE_NONE. */
uint32_t wfre_dictionary_find(const wfre_dictionary *dictionary, uint32_t class, const char *text,
                              size_t length);
/* Calls `visit` for each term of a class, in order: with its first `most` bytes, which lie in
 * `buffer`, and its whole length. Ends early when it is time to stop (base/scope.h). */
typedef void wfre_dictionary_visit(void *context, uint32_t rank, wfre_name begin, size_t length);
void wfre_dictionary_walk(const wfre_dictionary *dictionary, uint32_t class, char *buffer,
                          size_t most, wfre_dictionary_visit *visit, void *context);
/* The same for the classes alone, which is quick; "" or what is wrong. The functions above must not
 * be called before it. */
const char *wfre_dictionary_check_classes(const wfre_dictionary *dictionary);
/* Reads all of it: "" if classes and terms are in order, unique and UTF-8, and the bytes are used
 * up; else what is wrong; NULL when out of memory. */
const char *wfre_dictionary_check(const wfre_dictionary *dictionary);

/* ---- writing ------------------------------------------------------------------------------ */

/* A text to be sorted, with its number. */
typedef struct wfre_sort_item {
    uint64_t key; /* the eight bytes compared at the moment */
    uint32_t id;
} wfre_sort_item;

/* Sorts items by the bytes of their texts from `skip` on: item i is text i.id of `strings`. */
void wfre_sort_texts(wfre_sort_item *items, size_t count, const wfre_strings *strings, size_t skip);

/* Appends a term; `before` is the one before it in its block, NULL bytes if it is the first. */
void wfre_dictionary_put(wfre_text *bytes, wfre_name before, wfre_name text);

#endif
