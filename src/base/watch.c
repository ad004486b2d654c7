/* Watches: a wfre_cancel of their own that asks the monitor. */
#include "base/watch.h"

#include "base/error.h"

void wfre_watch_leave(const wfre_watch *watch)
{
    (void)wfre_scope_enter(watch->outside);
}

void wfre_watch_enter(const wfre_watch *watch)
{
    (void)wfre_scope_enter(watch->inside);
}

static bool ask_owner(void *context)
{
    const wfre_watch *watch = context;
    wfre_watch_leave(watch);
    bool stop = wfre_interrupted(watch->owner);
    wfre_watch_enter(watch);
    return stop;
}

static void tell_owner(void *context, const wfre_progress *progress)
{
    const wfre_watch *watch = context;
    if (!watch->owner || !watch->owner->report)
        return;
    wfre_watch_leave(watch);
    watch->owner->report(watch->owner->context, progress);
    wfre_watch_enter(watch);
}

wfre_status wfre_watch_begin(wfre_watch *watch, const wfre_monitor *owner, wfre_error *error)
{
    *watch = (wfre_watch){.monitor = {tell_owner, ask_owner, watch}, .owner = owner};
    CHECK(wfre_cancel_create(&watch->cancel, error));
    wfre_cancel_watch(watch->cancel, ask_owner, watch);
    watch->outside = watch->inside = wfre_scope_current();
    watch->inside.cancel = watch->cancel;
    watch->inside.deadline = 0;
    wfre_watch_enter(watch);
    return WFRE_OK;
}

void wfre_watch_end(wfre_watch *watch)
{
    if (!watch->cancel)
        return;
    wfre_watch_leave(watch);
    wfre_cancel_free(watch->cancel);
    watch->cancel = NULL;
}
