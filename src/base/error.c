/* Error messages and progress reports. Everything here tolerates NULL. */
#include "base/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/scope.h"

#ifndef WFRE_VERSION
#define WFRE_VERSION "unknown"
#endif

const char *wfre_version(void)
{
    return WFRE_VERSION;
}

const char *wfre_status_name(wfre_status status)
{
    switch (status) {
    case WFRE_OK:
        return "ok";
    case WFRE_ERR_ARGUMENT:
        return "bad argument";
    case WFRE_ERR_MEMORY:
        return "out of memory";
    case WFRE_ERR_IO:
        return "input/output error";
    case WFRE_ERR_FORMAT:
        return "bad format";
    case WFRE_ERR_NOT_FOUND:
        return "not found";
    case WFRE_ERR_MISMATCH:
        return "mismatch";
    case WFRE_ERR_UNSUPPORTED:
        return "unsupported";
    case WFRE_ERR_TIMEOUT:
        return "time limit reached";
    case WFRE_ERR_INTERRUPTED:
        return "interrupted";
    case WFRE_ERR_NUMERIC:
        return "numeric failure";
    }
    return "unknown status";
}

/* Copies raw text, which may come from anywhere, as one line that a person may read. A message that
 * does not fit ends at a whole character. */
static void put_message(wfre_error *error, const char *raw)
{
    size_t length = strlen(raw), used = 0;
    char piece[WFRE_PIECE];
    for (size_t i = 0; i < length;) {
        i += wfre_visible(raw + i, length - i, piece);
        size_t size = strlen(piece);
        if (used + size >= sizeof error->message)
            break;
        memcpy(error->message + used, piece, size);
        used += size;
    }
    error->message[used] = '\0';
}

/* vsnprintf may have cut a character: leaves it out. */
static void end_whole(char *raw, size_t size)
{
    size_t length = strlen(raw), back = 1;
    if (length + 1 < size)
        return;
    while (back < 4 && back < length && ((unsigned char)raw[length - back] & 0xC0) == 0x80)
        back++;
    if (wfre_utf8_sequence(raw + length - back, back) != back)
        raw[length - back] = '\0';
}

wfre_status wfre_fail(wfre_error *error, wfre_status code, size_t offset, const char *format, ...)
{
    if (error) {
        error->code = code;
        error->offset = offset;
        error->nearest[0] = '\0';
        va_list args;
        va_start(args, format);
        char raw[sizeof error->message];
        (void)wfre_format_list(raw, sizeof raw, format, args);
        va_end(args);
        end_whole(raw, sizeof raw);
        put_message(error, raw);
    }
    return code;
}

wfre_status wfre_fail_memory(wfre_error *error, const char *what)
{
    const wfre_budget *budget = wfre_scope_current().budget;
    if (budget && budget->limit > 0)
        return wfre_fail(error, WFRE_ERR_MEMORY, WFRE_NO_OFFSET,
                         "out of memory while %s, which may take at most %zu MB", what,
                         budget->limit >> 20);
    return wfre_fail(error, WFRE_ERR_MEMORY, WFRE_NO_OFFSET, "out of memory while %s", what);
}

wfre_status wfre_fail_errno(wfre_error *error, const char *path, const char *what)
{
    int code = errno;
    wfre_status status = code == ENOENT ? WFRE_ERR_NOT_FOUND : WFRE_ERR_IO;
    char why[128];
    if (strerror_r(code, why, sizeof why) != 0) /* strerror itself is not for threads */
        (void)snprintf(why, sizeof why, "error %d", code);
    return wfre_fail(error, status, WFRE_NO_OFFSET, "%s: cannot %s: %s", path, what, why);
}

wfre_status wfre_fail_within(wfre_error *error, wfre_status status, const char *prefix)
{
    if (error) {
        char raw[sizeof error->message];
        (void)snprintf(raw, sizeof raw, "%s: %.900s", prefix, error->message);
        end_whole(raw, sizeof raw);
        put_message(error, raw);
    }
    return status;
}

void wfre_error_near(wfre_error *error, const char *name, size_t length)
{
    size_t used = error ? strlen(error->nearest) : 0;
    if (!error || length + 2 > sizeof error->nearest - used || memchr(name, '\n', length))
        return;
    memcpy(error->nearest + used, name, length);
    memcpy(error->nearest + used + length, "\n", 2);
}

bool wfre_interrupted(const wfre_monitor *monitor)
{
    return monitor && monitor->interrupted && monitor->interrupted(monitor->context);
}

wfre_status wfre_check_interrupt(const wfre_monitor *monitor, wfre_error *error)
{
    if (!wfre_interrupted(monitor))
        return WFRE_OK;
    return wfre_fail(error, WFRE_ERR_INTERRUPTED, WFRE_NO_OFFSET, "interrupted");
}

void wfre_report(const wfre_monitor *monitor, const char *task, uint64_t done, uint64_t total,
                 const char *note)
{
    if (!monitor || !monitor->report)
        return;
    wfre_progress progress = {task, done, total, note, false};
    monitor->report(monitor->context, &progress);
}

void wfre_report_share(const wfre_monitor *monitor, const char *task, double share,
                       const char *note)
{
    enum { PARTS = 1000 };
    if (!monitor || !monitor->report)
        return;
    share = share < 0 ? 0 : share > 1 ? 1 : share;
    wfre_progress progress = {task, (uint64_t)(share * PARTS), PARTS, note, true};
    monitor->report(monitor->context, &progress);
}
