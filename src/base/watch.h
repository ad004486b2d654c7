/* A monitor that is looked at within the work, not only between its parts.
 *
 * While a watch is on, whatever asks wfre_stopped (base/scope.h) on this thread, or on the workers
 * of a pool that it uses, stops once the monitor's owner wants that. The owner's functions are
 * called as if there were no watch: they may use this library themselves. */
#ifndef WFRE_SRC_BASE_WATCH_H
#define WFRE_SRC_BASE_WATCH_H

#include "base/scope.h"

typedef struct wfre_watch {
    wfre_monitor monitor;      /* for what is called meanwhile, in the place of the owner's */
    const wfre_monitor *owner; /* NULL: nobody */
    wfre_cancel *cancel;       /* NULL once it has ended */
    wfre_scope outside, inside;
} wfre_watch;

/* The watch must stay where it is until it ends, which it does on the same thread. */
WFRE_NODISCARD wfre_status wfre_watch_begin(wfre_watch *watch, const wfre_monitor *owner,
                                            wfre_error *error);
/* Ends it; does nothing the second time, or if it is all zero. */
void wfre_watch_end(wfre_watch *watch);

/* Around calls of the owner's other functions. */
void wfre_watch_leave(const wfre_watch *watch);
void wfre_watch_enter(const wfre_watch *watch);

#endif
