/* Status codes, errors, the thread pool and progress reports: what every part of wfre shares.
 *
 * Conventions of the whole interface:
 *   - A function that can fail returns wfre_status and takes an optional `wfre_error *` as its last
 *     parameter (NULL is fine). On failure its other outputs are untouched.
 *   - `_create`/`_open` hand out ownership, `_free`/`_close` take it back and accept NULL.
 *   - The library never prints, exits or aborts. Running out of memory is a status.
 *   - Handles may be read from many threads at once unless a function says otherwise.
 */
#ifndef WFRE_BASE_H
#define WFRE_BASE_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define WFRE_API __attribute__((visibility("default")))
#define WFRE_NODISCARD __attribute__((warn_unused_result))
#define WFRE_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
#else
#define WFRE_API
#define WFRE_NODISCARD
#define WFRE_PRINTF(fmt, args)
#endif

/* ---- status and errors -------------------------------------------------------------------- */

typedef enum wfre_status {
    WFRE_OK = 0,
    WFRE_ERR_ARGUMENT,    /* the caller passed something outside the documented range */
    WFRE_ERR_MEMORY,      /* out of memory */
    WFRE_ERR_IO,          /* the operating system refused to read or write */
    WFRE_ERR_FORMAT,      /* a file or text is not what it should be; `offset` says where */
    WFRE_ERR_NOT_FOUND,   /* a name, file or id that does not exist */
    WFRE_ERR_MISMATCH,    /* two things that do not belong together, such as a model and a graph */
    WFRE_ERR_UNSUPPORTED, /* this CPU, or this method, cannot do what was asked */
    WFRE_ERR_TIMEOUT,     /* the time limit ran out */
    WFRE_ERR_INTERRUPTED, /* the caller asked to stop (see wfre_monitor) */
    WFRE_ERR_NUMERIC      /* a computation left the finite numbers */
} wfre_status;

/* A message names settings and options by the names that they have in these headers, between
 * backquotes and with their value after a sign of equality: "lower `dim`", "set `candidates=own`".
 * A program may show them as its own users write them; ours makes options of them, "lower --dim".
 *
 * `offset` counts bytes from the start of the text or file at fault; WFRE_NO_OFFSET if unknown. */
#define WFRE_NO_OFFSET SIZE_MAX

typedef struct wfre_error {
    wfre_status code;
    size_t offset;
    char message[1024]; /* one line, no newline at the end, names the place and the remedy */
    char nearest[512];  /* names that may have been meant, nearest first, each with a newline at its
                           end; "" if there are none */
} wfre_error;

/* A short constant name for a status, such as "out of memory". Never NULL. */
WFRE_API const char *wfre_status_name(wfre_status status);

/* "0.1.0" */
WFRE_API const char *wfre_version(void);
/* The short hash of the commit it was built from, or "unknown". */
WFRE_API const char *wfre_commit(void);
/* sizeof a struct of these headers, as the library has it, by its name, such as "wfre_error"; 0 if
 * there is none. For callers from other languages, who read the headers by other means than a C
 * compiler and want to know that they read them right. */
WFRE_API size_t wfre_struct_size(const char *name);

/* ---- identifiers -------------------------------------------------------------------------- */

/* Entities are 0 .. n-1. Relations come in pairs: 2r is relation r, 2r+1 its inverse. */
typedef uint32_t wfre_entity;
typedef uint32_t wfre_relation;

#define WFRE_NONE UINT32_MAX

/* ---- text --------------------------------------------------------------------------------- */

/* Length in bytes of the valid UTF-8 sequence at bytes[0 .. length), 0 if it is not valid. */
WFRE_API size_t wfre_utf8_sequence(const char *bytes, size_t length);

/* The first character of bytes[0 .. length), as a person may safely read it, with a NUL after it:
 * as it is, or as \xNN or \uNNNN if it rules a terminal, ends a line, turns the direction of
 * writing or is no UTF-8. Returns how many bytes it took; `length` must not be 0. All messages of
 * the library have gone through this. */
enum { WFRE_PIECE = 8 };
WFRE_API size_t wfre_visible(const char *bytes, size_t length, char piece[WFRE_PIECE]);
/* snprintf and strtod with a decimal point, whatever the locale of the process: the library's files
 * and texts never depend on it. */
WFRE_API WFRE_PRINTF(3, 4) int wfre_format(char *text, size_t size, const char *format, ...);
WFRE_API WFRE_PRINTF(3, 0) int wfre_format_list(char *text, size_t size, const char *format,
                                                va_list args);
WFRE_API double wfre_parse_real(const char *text, char **end);

/* ---- threads ------------------------------------------------------------------------------ */

/* A fixed set of worker threads. Results never depend on how many there are. Several threads may
 * use one pool: their work takes turns. After fork() the child has no workers: it may use the pool,
 * and does the work itself. */
typedef struct wfre_pool wfre_pool;

/* threads == 0 takes one per available CPU. The calling thread counts as one of them. */
WFRE_API WFRE_NODISCARD wfre_status wfre_pool_create(unsigned threads, wfre_pool **pool,
                                                     wfre_error *error);
WFRE_API void wfre_pool_free(wfre_pool *pool);
WFRE_API unsigned wfre_pool_threads(const wfre_pool *pool);

/* ---- progress and interruption ------------------------------------------------------------ */

/* What a long task tells its caller. `total` is 0 while unknown. */
typedef struct wfre_progress {
    const char *task; /* "importing", "sampling", ...; lives until the call returns */
    uint64_t done;
    uint64_t total;
    const char *note; /* a short remark such as "loss 0.42", or NULL */
    bool share;       /* done and total count nothing, but say how much of the work is done */
} wfre_progress;

/* Passed to long tasks; NULL means: run silently to the end. Both functions may be NULL, and are
 * only ever called from the thread that started the task. */
typedef struct wfre_monitor {
    void (*report)(void *context, const wfre_progress *progress);
    bool (*interrupted)(void *context); /* true: stop soon with WFRE_ERR_INTERRUPTED */
    void *context;
} wfre_monitor;

/* ---- stopping ----------------------------------------------------------------------------- */

/* A wish to stop what is under way, now or after some time: given to what answers questions
 * (wfre/engine.h), which looks at it every few milliseconds. It may be shared by any number of
 * tasks and must outlive them. */
typedef struct wfre_cancel wfre_cancel;

WFRE_API WFRE_NODISCARD wfre_status wfre_cancel_create(wfre_cancel **cancel, wfre_error *error);
WFRE_API void wfre_cancel_free(wfre_cancel *cancel);
/* The task fails soon with WFRE_ERR_INTERRUPTED. Any thread may call it, and a signal handler. */
WFRE_API void wfre_cancel_now(wfre_cancel *cancel);
/* The task fails with WFRE_ERR_TIMEOUT so many seconds from now. Any thread may call it; the last
 * call counts. */
WFRE_API void wfre_cancel_after(wfre_cancel *cancel, double seconds);
/* Takes both wishes back. */
WFRE_API void wfre_cancel_reset(wfre_cancel *cancel);
/* Asks `stop` as well, at most every ten milliseconds and only on the thread that started the task:
 * true means wfre_cancel_now. For callers that must look themselves, such as whether a client is
 * still there. NULL for none; not while a task runs. */
WFRE_API void wfre_cancel_watch(wfre_cancel *cancel, bool (*stop)(void *context), void *context);
/* WFRE_OK, WFRE_ERR_INTERRUPTED or WFRE_ERR_TIMEOUT. */
WFRE_API wfre_status wfre_cancel_status(const wfre_cancel *cancel);
/* From now on what this thread calls looks at `cancel` (NULL: at nothing), if it takes no
 * wfre_cancel of its own: scores (wfre/score.h) and whatever else divides its work among a pool. A
 * training run does not, which has a monitor to stop it. Returns the one before, for the caller to
 * put back. */
WFRE_API wfre_cancel *wfre_cancel_here(wfre_cancel *cancel);

/* ---- files -------------------------------------------------------------------------------- */

/* Snapshots and models of up to this many bytes are read into private memory when they are opened,
 * larger ones are mapped (default: 32 MiB). Mapped files are shared between processes and open at
 * once, and have a rule: nobody may change or shorten them in place while they are open, or wrong
 * answers follow, or SIGBUS. Replacing them is always fine, as every function here does it: the new
 * file is written under another name, which is then given the old one's. UINT64_MAX reads all files
 * into memory, for callers who cannot keep the rule. For all threads; set it before opening. */
WFRE_API void wfre_private_files(uint64_t bytes);

/* Makes these bytes the whole file, as every file is written here: whatever happens, even a power
 * cut, afterwards it is the old one or the new one. */
WFRE_API WFRE_NODISCARD wfre_status wfre_write_file(const char *path, const void *bytes,
                                                    size_t length, wfre_error *error);

/* A file written part by part, by work that may be stopped and go on another day. PATH.part has the
 * parts that are done and PATH.progress says which, until wfre_parts_finish makes them the file;
 * both survive whatever ends the process. Parts have numbers, given by `keys`, and are done in that
 * order. One process or thread at a time. */
typedef struct wfre_parts wfre_parts;

/* Goes on behind the last whole part that is there. `work` is one line that says of what these are
 * the parts: if PATH.progress is of other work, that fails with WFRE_ERR_MISMATCH. If somebody else
 * writes the file at this moment, with WFRE_ERR_IO. `keys` are copied. */
WFRE_API WFRE_NODISCARD wfre_status wfre_parts_open(const char *path, const char *work,
                                                    const uint32_t *keys, size_t count,
                                                    wfre_parts **parts, wfre_error *error);
/* How many parts are done, and how many items these have. */
WFRE_API size_t wfre_parts_done(const wfre_parts *parts);
WFRE_API uint64_t wfre_parts_items(const wfre_parts *parts);
/* The next part, which has so many items. */
WFRE_API WFRE_NODISCARD wfre_status wfre_parts_add(wfre_parts *parts, const void *bytes,
                                                   size_t length, uint64_t items,
                                                   wfre_error *error);
/* When all parts are done, makes them the file, as wfre_write_file does, and removes the two beside
 * it. */
WFRE_API WFRE_NODISCARD wfre_status wfre_parts_finish(wfre_parts *parts, wfre_error *error);
/* Unless they were finished, what is done stays for another time. */
WFRE_API void wfre_parts_close(wfre_parts *parts);

/* ---- this machine ------------------------------------------------------------------------- */

/* Instruction sets the kernels are written for, slowest first. */
typedef enum wfre_isa {
    WFRE_ISA_REFERENCE = 0, /* plain C in double precision: the definition */
    WFRE_ISA_AVX2,          /* AVX2 and FMA */
    WFRE_ISA_AVX512,        /* AVX-512 F, BW, DQ, VL */
    WFRE_ISA_AVX512BF16,    /* these and AVX512-BF16 */
    WFRE_ISA_AMX            /* AVX-512 and AMX-BF16 */
} wfre_isa;

/* "reference", "avx2", "avx512", "avx512bf16", "amx" */
WFRE_API const char *wfre_isa_name(wfre_isa isa);

/* Whether this CPU and kernel can run `isa`. */
WFRE_API bool wfre_isa_available(wfre_isa isa);

/* The instruction set in use: the best available one, or what the environment variable WFRE_ISA
 * names. Fails with WFRE_ERR_UNSUPPORTED if that is unknown or not available here. */
WFRE_API WFRE_NODISCARD wfre_status wfre_isa_select(wfre_isa *isa, wfre_error *error);

/* What matrix products round their operands to; sums and stored numbers are float32 either way. */
typedef enum wfre_precision {
    WFRE_FP32 = 0,
    WFRE_BF16 /* bfloat16: fast where the CPU has AVX512-BF16 or AMX, only rounded elsewhere */
} wfre_precision;

#ifdef __cplusplus
}
#endif

#endif
