/* Python pickles, as data: ints, strs, tuples, lists, sets, dicts and defaultdicts of protocols 2
 * to 5. Nothing is executed; every opcode that these do not need is refused by name and offset. */
#ifndef WFRE_SRC_GRAPH_PICKLE_H
#define WFRE_SRC_GRAPH_PICKLE_H

#include "base/error.h"
#include "base/memory.h"

typedef enum wfre_pickle_kind {
    WFRE_PICKLE_INT,
    WFRE_PICKLE_STR,
    WFRE_PICKLE_TUPLE,
    WFRE_PICKLE_LIST,
    WFRE_PICKLE_SET,
    WFRE_PICKLE_DICT, /* defaultdicts too */
    WFRE_PICKLE_CLASS /* on the way only: never part of a result */
} wfre_pickle_kind;

/* Values are never cyclic, nest at most WFRE_PICKLE_DEPTH deep, and shared parts are counted in
 * full by a limit on the size, so a simple recursive walk over all of it is safe. */
enum { WFRE_PICKLE_DEPTH = 64 };

typedef struct wfre_pickle_value {
    wfre_pickle_kind kind;
    uint32_t depth; /* 0 for what holds nothing */
    union {
        int64_t number;
        const struct wfre_pickle_body *body; /* of all but ints */
    };
} wfre_pickle_value;

typedef struct wfre_pickle_body {
    size_t count; /* items; bytes of a str */
    union {
        const char *text; /* valid UTF-8, not NUL-terminated */
        /* In file order. A dict alternates keys and values, two items an entry; where a key is
         * repeated, the last one counts. */
        const wfre_pickle_value *items;
    };
} wfre_pickle_body;

/* A pickle in memory, all of it in the arena. Release with wfre_pickle_free. */
typedef struct wfre_pickle {
    wfre_arena arena;
    wfre_pickle_value root;
} wfre_pickle;

/* Zeroes `pickle` first. */
WFRE_NODISCARD wfre_status wfre_pickle_parse(wfre_pickle *pickle, const void *bytes, size_t length,
                                             wfre_error *error);
/* A file, plain or gzip; messages name it. It is read piece by piece, and no further than to its
 * first fault. */
WFRE_NODISCARD wfre_status wfre_pickle_load(wfre_pickle *pickle, const char *path,
                                            wfre_error *error);
/* Safe on a zeroed pickle and after a failure. */
void wfre_pickle_free(wfre_pickle *pickle);

/* "an int", "a dict", for messages. */
const char *wfre_pickle_kind_name(wfre_pickle_kind kind);

#endif
