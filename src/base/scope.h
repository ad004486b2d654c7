/* Under whose limits a thread works: when it has to stop, and how much memory it may take.
 *
 * Questions are answered by code that knows nothing of sessions: kernels, sets, searches. So that
 * all of it can be stopped and bounded, a session enters its scope before it works. From then on
 * every allocation of this thread (base/memory.h) is charged to the scope's budget, and long loops
 * ask whether to stop. A pool (base/pool.h) hands the scope of its caller on to its workers.
 *
 * What is allocated under a budget must be freed or resized under the same one. */
#ifndef WFRE_SRC_BASE_SCOPE_H
#define WFRE_SRC_BASE_SCOPE_H

#include <stdatomic.h>

#include "wfre/base.h"

/* Memory that belongs together. Any number of threads may charge one. */
typedef struct wfre_budget {
    _Atomic size_t used; /* bytes */
    size_t limit;        /* 0: none */
} wfre_budget;

typedef struct wfre_scope {
    wfre_budget *budget; /* NULL: memory is not counted */
    wfre_cancel *cancel; /* NULL: nothing stops */
    double deadline;     /* on wfre_clock, besides the wish to stop; 0: none */
    bool away;           /* a worker's: it does not call what wfre_cancel_watch was given */
    bool partial;        /* whoever called asks afterwards whether it was stopped */
} wfre_scope;

/* From now on this thread works under `scope`; returns the one before, to go back to. */
wfre_scope wfre_scope_enter(wfre_scope scope);
/* That of this thread. */
wfre_scope wfre_scope_current(void);

/* Whether it is time to stop. Cheap enough for every few microseconds of work. */
bool wfre_stopped(void);
/* For the innermost loops: whether to leave what is under way half done. Only where nobody takes it
 * for whole: in the tasks of wfre_pool_try (base/pool.h), and between wfre_partial(true) and the
 * wfre_check_stop that follows. */
bool wfre_may_leave(void);
/* The same for loops of short steps, which looks once these add up to WFRE_PACE. */
static inline bool wfre_leave_after(size_t *done, size_t steps);
/* Says whether what this thread does may be left half done; returns what was said before. */
bool wfre_partial(bool partial);
/* WFRE_ERR_INTERRUPTED or WFRE_ERR_TIMEOUT, saying so, if it is. */
WFRE_NODISCARD wfre_status wfre_check_stop(wfre_error *error);

enum { WFRE_PACE = 1 << 16 }; /* multiplications or exponentials: a millisecond at most */

static inline bool wfre_leave_after(size_t *done, size_t steps)
{
    *done += steps;
    if (*done < WFRE_PACE)
        return false;
    *done = 0;
    return wfre_may_leave();
}

/* For base/memory.c: false if the budget does not allow so many more bytes. */
bool wfre_scope_allows(size_t bytes);
/* For base/memory.c: counts bytes that were taken, or given back. */
void wfre_scope_charge(size_t taken, size_t given_back);

#endif
