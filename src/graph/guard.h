/* What of a snapshot has been looked at and found whole.
 *
 * A file may have been damaged, or made to mislead. Small snapshots are read and checked when they
 * are opened. Of a large one, opening reads the header alone; every other part is checked when it
 * is first used, and nothing is used before. There are two layers:
 *
 *   blocks  64 KiB of the file each, compared with their stored checksums: accidents. A snapshot
 *           from before there were blocks has one checksum for each section instead.
 *   units   some 1,000 elements of an *area*, such as the groups, with all that they
 *           point to: every index within its array, every list ascending. What the rest of the
 *           program reads without care is true of a checked unit whoever wrote the file.
 *
 * The pages of a mapped file become our own before they are looked at (wfre_own_pages): what was
 * found whole stays so, even if somebody writes into the file.
 *
 * An area is a row of the table in guard.c; a new section gets a row, a function that checks one
 * unit of it, and a call of wfre_sound() where it is read.
 *
 * Threads share a guard without locks: a bit is set after its unit was found whole, and two threads
 * that look at the same unit come to the same result. The first flaw stays: what is not whole is
 * read as empty, and wfre_graph_sound tells whoever is about to return a result. */
#ifndef WFRE_SRC_GRAPH_GUARD_H
#define WFRE_SRC_GRAPH_GUARD_H

#include <stdatomic.h>

#include "base/error.h"
#include "wfre/graph.h"

enum { WFRE_GUARD_TEXTS = 5, WFRE_GUARD_UNIT = 1024 };

/* Areas: texts and hash slots of the five text tables; relations, groups and entities. */
enum {
    WFRE_AREA_TEXTS,
    WFRE_AREA_SLOTS = WFRE_AREA_TEXTS + WFRE_GUARD_TEXTS,
    WFRE_AREA_RELATIONS = WFRE_AREA_SLOTS + WFRE_GUARD_TEXTS,
    WFRE_AREA_GROUPS,
    WFRE_AREA_ENTITIES,
    WFRE_AREAS
};

typedef struct wfre_guard {
    const wfre_graph *graph;
    _Atomic uint64_t *bits;              /* all that are below, in one piece of memory */
    _Atomic uint64_t *areas[WFRE_AREAS]; /* a bit for each unit that is whole */
    uint64_t elements[WFRE_AREAS];
    _Atomic uint64_t *blocks; /* a bit for each block, or section, that is whole */
    _Atomic bool summed;      /* all sections fit their checksums: look at no block */
    _Atomic bool valid;       /* wfre_graph_validate went through */
    _Atomic uint32_t flaw;    /* the first: 1 + section * WFRE_FLAWS + kind; 0 if there is none */
} wfre_guard;

/* A guard that has seen nothing yet. Release with wfre_guard_free; NULL is fine. */
WFRE_NODISCARD wfre_status wfre_guard_create(const wfre_graph *graph, wfre_guard **guard,
                                             wfre_error *error);
void wfre_guard_free(wfre_guard *guard);

/* Compares the checksums of all sections, whether or not they were looked at before. */
WFRE_NODISCARD wfre_status wfre_guard_check_sections(wfre_guard *guard, wfre_error *error);
/* Looks at all blocks, or sections, and at all units. */
WFRE_NODISCARD wfre_status wfre_guard_check_all(wfre_guard *guard, wfre_error *error);
/* The flaw as an error, WFRE_OK if there is none; NULL is fine. */
WFRE_NODISCARD wfre_status wfre_guard_status(const wfre_guard *guard, wfre_error *error);

/* Remembers that a section is damaged: it counts out other edges than the header does. */
void wfre_guard_miscounted(wfre_guard *guard, int section);
/* Looks at the blocks, or sections, that hold attributes; false if one is not whole. */
bool wfre_guard_attributes(wfre_guard *guard);

/* Looks at the units of the elements [first, end); false if one is not whole. */
bool wfre_guard_look(wfre_guard *guard, int area, uint64_t first, uint64_t end);

/* Whether an element of an area may be used; without a guard all may. */
static inline bool wfre_sound(wfre_guard *guard, int area, uint64_t element)
{
    if (!guard)
        return true;
    uint64_t unit = element / WFRE_GUARD_UNIT;
    uint64_t word = atomic_load_explicit(&guard->areas[area][unit / 64], memory_order_acquire);
    return word >> unit % 64 & 1 || wfre_guard_look(guard, area, element, element + 1);
}

static inline bool wfre_sound_range(wfre_guard *guard, int area, uint64_t first, uint64_t end)
{
    return !guard || first >= end || wfre_guard_look(guard, area, first, end);
}

#endif
