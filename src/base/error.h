/* Errors inside the library: fill the caller's wfre_error and return its code in one expression. */
#ifndef WFRE_SRC_BASE_ERROR_H
#define WFRE_SRC_BASE_ERROR_H

#include "wfre/base.h"

/* Fills `error` (may be NULL) and returns `code`. The message is one line and says what to do. */
WFRE_PRINTF(4, 5)
wfre_status wfre_fail(wfre_error *error, wfre_status code, size_t offset, const char *format, ...);

/* Out of memory while doing `what`. */
wfre_status wfre_fail_memory(wfre_error *error, const char *what);

/* An operating-system failure: "PATH: cannot WHAT: strerror". Reads errno. */
wfre_status wfre_fail_errno(wfre_error *error, const char *path, const char *what);

/* Puts "PREFIX: " before an existing message, keeping code and offset; returns `status`. */
wfre_status wfre_fail_within(wfre_error *error, wfre_status status, const char *prefix);

/* Adds a name that may have been meant to a failure, if there is room. */
void wfre_error_near(wfre_error *error, const char *name, size_t length);

/* At the start of a public function: fails if a caller left out what there must be. */
#define GIVEN(pointer)                                                                             \
    do {                                                                                           \
        if (!(pointer))                                                                            \
            return wfre_fail(error, WFRE_ERR_ARGUMENT, WFRE_NO_OFFSET,                             \
                             "%s: no " #pointer " given (NULL)", __func__);                        \
    } while (0)

/* Propagates a failure to the `cleanup:` label of the function, which must own a `status`. */
#define TRY(expression)                                                                            \
    do {                                                                                           \
        status = (expression);                                                                     \
        if (status != WFRE_OK)                                                                     \
            goto cleanup;                                                                          \
    } while (0)

/* The same for functions that own nothing to release: returns at once. */
#define CHECK(expression)                                                                          \
    do {                                                                                           \
        wfre_status checked_ = (expression);                                                       \
        if (checked_ != WFRE_OK)                                                                   \
            return checked_;                                                                       \
    } while (0)

/* True once the monitor's owner wants the task to stop. */
bool wfre_interrupted(const wfre_monitor *monitor);
/* Fills `error` and returns WFRE_ERR_INTERRUPTED if so, WFRE_OK otherwise. */
wfre_status wfre_check_interrupt(const wfre_monitor *monitor, wfre_error *error);
void wfre_report(const wfre_monitor *monitor, const char *task, uint64_t done, uint64_t total,
                 const char *note);
/* The same where nothing is counted: `share` of the work is done, from 0 to 1. */
void wfre_report_share(const wfre_monitor *monitor, const char *task, double share,
                       const char *note);

#endif
