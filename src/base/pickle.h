/* Python pickles, as data: ints, strs, tuples, lists, sets, dicts and defaultdicts of protocols 2
 * to 5. Nothing is executed; every opcode that these do not need is refused by name and offset.
 *
 * The pickle of a PyTorch checkpoint also has floats, truth values (as ints), None, OrderedDicts
 * (as dicts) and tensors, whose numbers lie in other members of its archive. */
#ifndef WFRE_SRC_BASE_PICKLE_H
#define WFRE_SRC_BASE_PICKLE_H

#include "base/error.h"
#include "base/memory.h"

typedef enum wfre_pickle_kind {
    WFRE_PICKLE_INT,
    WFRE_PICKLE_STR,
    WFRE_PICKLE_TUPLE,
    WFRE_PICKLE_LIST,
    WFRE_PICKLE_SET,
    WFRE_PICKLE_DICT,    /* defaultdicts too */
    WFRE_PICKLE_STORAGE, /* checkpoints: "storage", an element as int, key, device, count, ... */
    WFRE_PICKLE_TENSOR, /* checkpoints: storage, offset, sizes, strides, ...; counted in elements */
    WFRE_PICKLE_CLASS,  /* on the way only: never part of a result */
    WFRE_PICKLE_NONE,   /* checkpoints */
    WFRE_PICKLE_FLOAT   /* checkpoints */
} wfre_pickle_kind;

/* The elements of a storage. */
typedef enum wfre_pickle_element {
    WFRE_PICKLE_F32 = 1,
    WFRE_PICKLE_F64,
    WFRE_PICKLE_F16,
    WFRE_PICKLE_BF16,
    WFRE_PICKLE_OTHER
} wfre_pickle_element;

/* Values are never cyclic, nest at most WFRE_PICKLE_DEPTH deep, and shared parts are counted in
 * full by a limit on the size, so a simple recursive walk over all of it is safe. */
enum { WFRE_PICKLE_DEPTH = 64 };

typedef struct wfre_pickle_value {
    wfre_pickle_kind kind;
    uint32_t depth; /* 0 for what holds nothing */
    union {
        int64_t number;
        double real;
        const struct wfre_pickle_body *body; /* of all but ints, floats and None */
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
/* The same for the pickle of a PyTorch checkpoint. */
WFRE_NODISCARD wfre_status wfre_pickle_parse_checkpoint(wfre_pickle *pickle, const void *bytes,
                                                        size_t length, wfre_error *error);
/* A file, plain or gzip; messages name it. It is read piece by piece, and no further than to its
 * first fault. */
WFRE_NODISCARD wfre_status wfre_pickle_load(wfre_pickle *pickle, const char *path,
                                            wfre_error *error);
/* Safe on a zeroed pickle and after a failure. */
void wfre_pickle_free(wfre_pickle *pickle);

/* "an int", "a dict", for messages. */
const char *wfre_pickle_kind_name(wfre_pickle_kind kind);

#endif
