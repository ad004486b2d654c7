/* A library to preload: between the program and the system's calls on files, it makes the k-th one
 * fail, kills the process there, or records what was written, for powerloss.c to replay.
 *
 *   WFRE_SHIM_FAULT=NAME:K  EIO, ENOSPC  the K-th call that can fail so does
 *                           FULL         every call from the K-th on that needs room on the disk
 *                                        fails with ENOSPC
 *                           EINTR, SHORT the K-th call is interrupted, or does a part only
 *                           KILL         the process is killed before the K-th call
 *                           INT, TERM, HUP  it is sent the signal there
 *   WFRE_SHIM_INT=K         the process is sent SIGINT at its K-th call of any kind
 *   WFRE_SHIM_COUNT=FILE    at the end the number of calls goes there: K beyond it fails nothing
 *   WFRE_SHIM_RECORD=FILE   all changes go there, in order
 *
 * What stdio does inside the C library is not seen; the product writes its files without it. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <unistd.h>

#define VISIBLE __attribute__((visibility("default")))

/* What a call can do, and so how it can fail. */
enum {
    ANY = 1,       /* fail with EIO */
    ROOM = 2,      /* need room on the disk */
    WAITS = 4,     /* be interrupted */
    TRANSFERS = 8, /* do a part only */
};

static struct {
    const char *name;
    int error;  /* 0: something else is done */
    int needed; /* of the call */
    int from_then_on;
    int signal;
} FAULTS[] = {
    {"EIO", EIO, ANY, 0, 0},       {"ENOSPC", ENOSPC, ROOM, 0, 0}, {"FULL", ENOSPC, ROOM, 1, 0},
    {"EINTR", EINTR, WAITS, 0, 0}, {"SHORT", 0, TRANSFERS, 0, 0},  {"KILL", 0, ANY, 0, SIGKILL},
    {"INT", 0, ANY, 0, SIGINT},    {"TERM", 0, ANY, 0, SIGTERM},   {"HUP", 0, ANY, 0, SIGHUP},
};
enum { FAULT_COUNT = sizeof FAULTS / sizeof FAULTS[0], NO_FAULT = -1, FIRST_FREE = 3 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int fault = NO_FAULT;
static long target, calls; /* of those that can fail as they are to */
static long interrupt, all_calls;
static int record = -1;

/* The C library's own. */
static void *next(const char *name)
{
    return dlsym(RTLD_NEXT, name);
}

static ssize_t real_write(int fd, const void *bytes, size_t length)
{
    ssize_t (*call)(int, const void *, size_t) =
        (ssize_t(*)(int, const void *, size_t))(uintptr_t)next("write");
    return call(fd, bytes, length);
}

static int real_open(const char *path, int flags, mode_t mode)
{
    int (*call)(const char *, int, ...) = (int (*)(const char *, int, ...))(uintptr_t)next("open");
    return call(path, flags, mode);
}

__attribute__((constructor)) static void begin(void)
{
    const char *text = getenv("WFRE_SHIM_FAULT"), *colon = text ? strchr(text, ':') : NULL;
    for (int i = 0; colon && i < FAULT_COUNT; i++)
        if (strncmp(FAULTS[i].name, text, (size_t)(colon - text)) == 0 &&
            strlen(FAULTS[i].name) == (size_t)(colon - text)) {
            fault = i;
            target = atol(colon + 1);
        }
    const char *path = getenv("WFRE_SHIM_RECORD"), *when = getenv("WFRE_SHIM_INT");
    interrupt = when ? atol(when) : 0;
    if (path)
        record = real_open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
}

__attribute__((destructor)) static void end(void)
{
    const char *path = getenv("WFRE_SHIM_COUNT");
    int fd = path ? real_open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666) : -1;
    char text[32];
    int length = snprintf(text, sizeof text, "%ld\n", calls);
    if (fd >= 0 && real_write(fd, text, (size_t)length) < 0)
        abort();
}

/* Whether this call is to fail, errno saying how; *part becomes what it may do at most. */
static int fails(int abilities, size_t *part)
{
    pthread_mutex_lock(&mutex);
    bool fits = fault != NO_FAULT && FAULTS[fault].needed & abilities;
    long call = fits ? ++calls : 0;
    bool interrupts = ++all_calls == interrupt;
    pthread_mutex_unlock(&mutex);
    if (interrupts)
        raise(SIGINT);
    if (!fits)
        return 0;
    if (call != target && !(FAULTS[fault].from_then_on && call > target))
        return 0;
    if (FAULTS[fault].signal)
        raise(FAULTS[fault].signal);
    if (strcmp(FAULTS[fault].name, "SHORT") == 0 && part && *part > 1)
        *part = *part / 2;
    errno = FAULTS[fault].error;
    return errno != 0;
}

static void note(const void *bytes, size_t length, const char *format, ...)
{
    if (record < 0)
        return;
    char line[8192];
    va_list args;
    va_start(args, format);
    int used = vsnprintf(line, sizeof line, format, args);
    va_end(args);
    pthread_mutex_lock(&mutex);
    if (real_write(record, line, (size_t)used) < 0 ||
        (length && real_write(record, bytes, length) < 0))
        abort();
    pthread_mutex_unlock(&mutex);
}

/* ---- the calls ---------------------------------------------------------------------------- */

static int open_any(const char *path, int flags, mode_t mode)
{
    if (fails(ANY | WAITS | (flags & O_CREAT ? ROOM : 0), NULL))
        return -1;
    int fd = real_open(path, flags, mode);
    if (fd >= 0)
        note(NULL, 0, "open %d %d %d %s\n", fd, (flags & O_CREAT) != 0, (flags & O_TRUNC) != 0,
             path);
    return fd;
}

#define OPEN(name)                                                                                 \
    VISIBLE int name(const char *path, int flags, ...)                                             \
    {                                                                                              \
        va_list args;                                                                              \
        va_start(args, flags);                                                                     \
        mode_t mode = flags & O_CREAT ? va_arg(args, mode_t) : 0;                                  \
        va_end(args);                                                                              \
        return open_any(path, flags, mode);                                                        \
    }
int open(const char *path, int flags, ...);
int open64(const char *path, int flags, ...);
OPEN(open)
OPEN(open64)

VISIBLE ssize_t read(int fd, void *bytes, size_t length)
{
    ssize_t (*call)(int, void *, size_t) = (ssize_t(*)(int, void *, size_t))(uintptr_t)next("read");
    if (fd >= FIRST_FREE && fails(ANY | WAITS | TRANSFERS, &length))
        return -1;
    return call(fd, bytes, length);
}

VISIBLE ssize_t write(int fd, const void *bytes, size_t length)
{
    if (fd >= FIRST_FREE && fails(ANY | ROOM | WAITS | TRANSFERS, &length))
        return -1;
    long offset = (long)lseek(fd, 0, SEEK_CUR);
    int appends = fcntl(fd, F_GETFL) & O_APPEND;
    ssize_t written = real_write(fd, bytes, length);
    if (fd >= FIRST_FREE && written > 0)
        note(bytes, (size_t)written, "write %d %ld %zd\n", fd, appends ? -1 : offset, written);
    return written;
}

VISIBLE int fsync(int fd)
{
    int (*call)(int) = (int (*)(int))(uintptr_t)next("fsync");
    if (fails(ANY | ROOM | WAITS, NULL))
        return -1;
    /* Nothing is cut off in earnest here, and waiting for the disk takes most of the time. */
    if (!getenv("WFRE_SHIM_SYNC"))
        call = NULL;
    note(NULL, 0, "fsync %d\n", fd);
    return call ? call(fd) : 0;
}

VISIBLE int rename(const char *from, const char *to)
{
    int (*call)(const char *, const char *) =
        (int (*)(const char *, const char *))(uintptr_t)next("rename");
    if (fails(ANY | ROOM, NULL))
        return -1;
    int failed = call(from, to);
    if (!failed)
        note(NULL, 0, "rename %s\n%s\n", from, to);
    return failed;
}

VISIBLE int unlink(const char *path)
{
    int (*call)(const char *) = (int (*)(const char *))(uintptr_t)next("unlink");
    if (fails(ANY, NULL))
        return -1;
    int failed = call(path);
    if (!failed)
        note(NULL, 0, "unlink %s\n", path);
    return failed;
}

static int truncate_any(int fd, off_t length)
{
    int (*call)(int, off_t) = (int (*)(int, off_t))(uintptr_t)next("ftruncate");
    if (fails(ANY | ROOM | WAITS, NULL))
        return -1;
    int failed = call(fd, length);
    if (!failed)
        note(NULL, 0, "truncate %d %ld\n", fd, (long)length);
    return failed;
}

int ftruncate64(int fd, off_t length);
VISIBLE int ftruncate(int fd, off_t length)
{
    return truncate_any(fd, length);
}
VISIBLE int ftruncate64(int fd, off_t length)
{
    return truncate_any(fd, length);
}

int flock(int fd, int operation);
VISIBLE int flock(int fd, int operation)
{
    int (*call)(int, int) = (int (*)(int, int))(uintptr_t)next("flock");
    return fails(ANY | WAITS, NULL) ? -1 : call(fd, operation);
}

/* Of mappings those of files. */
static void *map_any(void *at, size_t length, int protection, int flags, int fd, off_t offset)
{
    void *(*call)(void *, size_t, int, int, int, off_t) =
        (void *(*)(void *, size_t, int, int, int, off_t))(uintptr_t)next("mmap");
    return fd >= FIRST_FREE && fails(ANY, NULL) ? MAP_FAILED
                                                : call(at, length, protection, flags, fd, offset);
}

void *mmap64(void *at, size_t length, int protection, int flags, int fd, off_t offset);
VISIBLE void *mmap(void *at, size_t length, int protection, int flags, int fd, off_t offset)
{
    return map_any(at, length, protection, flags, fd, offset);
}
VISIBLE void *mmap64(void *at, size_t length, int protection, int flags, int fd, off_t offset)
{
    return map_any(at, length, protection, flags, fd, offset);
}
