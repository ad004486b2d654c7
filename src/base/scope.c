/* Scopes and the wish to stop. A deadline is kept as whole nanoseconds, so that it can be read
 * while another thread sets it. */
#include "base/scope.h"

#include <math.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/memory.h"

enum { WATCH_NANOSECONDS = 10000000 }; /* between two calls of what watches */

struct wfre_cancel {
    _Atomic bool now;
    _Atomic uint64_t deadline; /* nanoseconds on wfre_clock; 0: none */
    _Atomic uint64_t asked;    /* when `stop` was called last */
    bool (*stop)(void *context);
    void *context;
};

static _Thread_local wfre_scope current;

static uint64_t now(void)
{
    return (uint64_t)(wfre_clock() * 1e9);
}

/* ---- the wish to stop --------------------------------------------------------------------- */

wfre_status wfre_cancel_create(wfre_cancel **cancel, wfre_error *error)
{
    wfre_cancel *made = wfre_alloc_zero(1, sizeof *made);
    if (!made)
        return wfre_fail_memory(error, "preparing to stop");
    *cancel = made;
    return WFRE_OK;
}

void wfre_cancel_free(wfre_cancel *cancel)
{
    wfre_free(cancel);
}

void wfre_cancel_now(wfre_cancel *cancel)
{
    atomic_store(&cancel->now, true);
}

void wfre_cancel_after(wfre_cancel *cancel, double seconds)
{
    double limit = 1e9 * fmin(fmax(seconds, 0), 1e8);
    atomic_store(&cancel->deadline, now() + (uint64_t)limit + 1);
}

void wfre_cancel_reset(wfre_cancel *cancel)
{
    atomic_store(&cancel->now, false);
    atomic_store(&cancel->deadline, 0);
}

void wfre_cancel_watch(wfre_cancel *cancel, bool (*stop)(void *context), void *context)
{
    cancel->stop = stop;
    cancel->context = context;
}

wfre_status wfre_cancel_status(const wfre_cancel *cancel)
{
    if (!cancel)
        return WFRE_OK;
    if (atomic_load_explicit(&cancel->now, memory_order_relaxed))
        return WFRE_ERR_INTERRUPTED;
    uint64_t deadline = atomic_load_explicit(&cancel->deadline, memory_order_relaxed);
    return deadline > 0 && now() > deadline ? WFRE_ERR_TIMEOUT : WFRE_OK;
}

/* Calls what watches, now and then. */
static void ask_watch(wfre_cancel *cancel)
{
    uint64_t time = now();
    if (time - atomic_load_explicit(&cancel->asked, memory_order_relaxed) < WATCH_NANOSECONDS)
        return;
    atomic_store_explicit(&cancel->asked, time, memory_order_relaxed);
    /* It may use the library for work of its own. */
    wfre_scope outer = wfre_scope_enter((wfre_scope){0});
    bool stop = cancel->stop(cancel->context);
    (void)wfre_scope_enter(outer);
    if (stop)
        wfre_cancel_now(cancel);
}

/* ---- scopes ------------------------------------------------------------------------------- */

wfre_scope wfre_scope_enter(wfre_scope scope)
{
    wfre_scope before = current;
    current = scope;
    return before;
}

wfre_scope wfre_scope_current(void)
{
    return current;
}

wfre_cancel *wfre_cancel_here(wfre_cancel *cancel)
{
    wfre_cancel *before = current.cancel;
    current.cancel = cancel;
    return before;
}

/* How things stand with this thread's scope. */
static wfre_status standing(void)
{
    wfre_cancel *cancel = current.cancel;
    if (cancel && cancel->stop && !current.away)
        ask_watch(cancel);
    if (current.deadline > 0 && wfre_clock() > current.deadline)
        return WFRE_ERR_TIMEOUT;
    return wfre_cancel_status(cancel);
}

bool wfre_stopped(void)
{
    return standing() != WFRE_OK;
}

bool wfre_may_leave(void)
{
    return current.partial && wfre_stopped();
}

bool wfre_partial(bool partial)
{
    bool before = current.partial;
    current.partial = partial;
    return before;
}

wfre_status wfre_check_stop(wfre_error *error)
{
    wfre_status status = standing();
    if (status == WFRE_ERR_TIMEOUT)
        return wfre_fail(error, WFRE_ERR_TIMEOUT, WFRE_NO_OFFSET,
                         "the time limit ran out before all answers were found; allow more time, "
                         "or bind more of the question's variables");
    if (status != WFRE_OK)
        return wfre_fail(error, WFRE_ERR_INTERRUPTED, WFRE_NO_OFFSET, "interrupted");
    return WFRE_OK;
}

bool wfre_scope_allows(size_t bytes)
{
    const wfre_budget *budget = current.budget;
    if (!budget || budget->limit == 0)
        return true;
    size_t used = atomic_load_explicit(&budget->used, memory_order_relaxed);
    return used <= budget->limit && bytes <= budget->limit - used;
}

void wfre_scope_charge(size_t taken, size_t given_back)
{
    if (current.budget)
        atomic_fetch_add_explicit(&current.budget->used, taken - given_back, memory_order_relaxed);
}
