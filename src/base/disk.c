/* System calls made whole, temporaries and locks. */
#include "base/disk.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/memory.h"

/* ---- whole calls -------------------------------------------------------------------------- */

int wfre_open_file(const char *path, int flags, mode_t mode)
{
    int fd;
    do
        fd = open(path, flags | O_CLOEXEC, mode);
    while (fd < 0 && errno == EINTR);
    return fd;
}

bool wfre_write_fully(int fd, const void *bytes, size_t length)
{
    const char *at = bytes;
    while (length > 0) {
        ssize_t written = write(fd, at, length);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0) {
            errno = written == 0 ? ENOSPC : errno;
            return false;
        }
        at += written;
        length -= (size_t)written;
    }
    return true;
}

ssize_t wfre_read_fully(int fd, void *bytes, size_t length)
{
    size_t used = 0;
    while (used < length) {
        ssize_t got = read(fd, (char *)bytes + used, length - used);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return -1;
        if (got == 0)
            break;
        used += (size_t)got;
    }
    return (ssize_t)used;
}

bool wfre_sync_file(int fd)
{
    int failed;
    do
        failed = fsync(fd);
    while (failed && errno == EINTR);
    return !failed;
}

/* The folder of a path; false, and errno, if its name is longer than the system takes. */
static bool folder_of(const char *path, char folder[PATH_MAX])
{
    const char *slash = strrchr(path, '/');
    size_t length = slash ? (size_t)(slash + 1 - path) : 1;
    if (length >= PATH_MAX) {
        errno = ENAMETOOLONG;
        return false;
    }
    memcpy(folder, slash ? path : ".", length);
    folder[length] = '\0';
    return true;
}

bool wfre_sync_folder(const char *path)
{
    char folder[PATH_MAX];
    if (!folder_of(path, folder))
        return false;
    int fd = wfre_open_file(folder, O_RDONLY | O_DIRECTORY, 0);
    if (fd < 0)
        return errno == EACCES;
    bool synced = wfre_sync_file(fd) || errno == EINVAL || errno == ENOTSUP;
    int code = errno;
    close(fd);
    errno = code;
    return synced;
}

/* ---- locking a descriptor ----------------------------------------------------------------- */

typedef enum locking { LOCKED, BUSY, NO_LOCKS } locking;

static locking lock_descriptor(int fd)
{
    int failed;
    do
        failed = flock(fd, LOCK_EX | LOCK_NB);
    while (failed && errno == EINTR);
    return !failed ? LOCKED : errno == EWOULDBLOCK ? BUSY : NO_LOCKS;
}

/* Whether the path still leads to what the descriptor has open: it may have been removed or
 * replaced between opening and locking. */
static bool is_at(int fd, int folder, const char *name)
{
    struct stat mine, there;
    return fstat(fd, &mine) == 0 && fstatat(folder, name, &there, AT_SYMLINK_NOFOLLOW) == 0 &&
           mine.st_dev == there.st_dev && mine.st_ino == there.st_ino;
}

/* ---- temporaries -------------------------------------------------------------------------- */

static const char MARK[] = ".tmp-";
enum { RANDOM_LETTERS = WFRE_TEMPORARY_SUFFIX - (sizeof MARK - 1) };

/* Some letters and digits that no other writer is likely to choose; O_EXCL does the rest. */
static void choose_letters(char *letters, unsigned attempt)
{
    static const char LETTERS[] = "abcdefghijklmnopqrstuvwxyz0123456789";
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    uint64_t seed = wfre_mix64((uint64_t)now.tv_sec * 1000000007u + (uint64_t)now.tv_nsec);
    seed = wfre_mix64(seed ^ ((uint64_t)getpid() << 20) ^ (uint64_t)(uintptr_t)letters ^ attempt);
    for (int i = 0; i < RANDOM_LETTERS; i++, seed /= sizeof LETTERS - 1)
        letters[i] = LETTERS[seed % (sizeof LETTERS - 1)];
    letters[RANDOM_LETTERS] = '\0';
}

int wfre_temporary_create(const char *path, char *name)
{
    enum { ATTEMPTS = 100 };
    size_t length = strlen(path);
    memcpy(name, path, length);
    memcpy(name + length, MARK, sizeof MARK);
    for (unsigned attempt = 0; attempt < ATTEMPTS; attempt++) {
        choose_letters(name + length + sizeof MARK - 1, attempt);
        int fd = wfre_open_file(name, O_RDWR | O_CREAT | O_EXCL, 0666);
        if (fd < 0 && errno == EEXIST)
            continue;
        /* Somebody who cleans may have come between; then it is another file's turn. */
        if (fd < 0 || (lock_descriptor(fd) != BUSY && is_at(fd, AT_FDCWD, name)))
            return fd;
        (void)unlink(name);
        close(fd);
    }
    errno = EEXIST;
    return -1;
}

/* Whether an entry of a folder is a temporary of the file with this name. */
static bool is_temporary_of(const char *entry, const char *name, size_t length)
{
    return strncmp(entry, name, length) == 0 &&
           strncmp(entry + length, MARK, sizeof MARK - 1) == 0 &&
           strlen(entry) == length + WFRE_TEMPORARY_SUFFIX;
}

static void remove_if_left(int folder, const char *name)
{
    int fd = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0)
        return;
    if (lock_descriptor(fd) == LOCKED && is_at(fd, folder, name))
        (void)unlinkat(folder, name, 0);
    close(fd);
}

void wfre_temporary_clean(const char *path)
{
    char folder[PATH_MAX];
    DIR *entries = folder_of(path, folder) ? opendir(folder) : NULL;
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    size_t length = strlen(name);
    for (struct dirent *entry; entries && (entry = readdir(entries));)
        if (is_temporary_of(entry->d_name, name, length))
            remove_if_left(dirfd(entries), entry->d_name);
    if (entries)
        closedir(entries);
}

/* ---- locks -------------------------------------------------------------------------------- */

/* Who holds a lock, as its file says; 0 if it does not (yet). */
static long holder_of(int fd)
{
    char text[32];
    ssize_t got = wfre_read_fully(fd, text, sizeof text - 1);
    text[got > 0 ? got : 0] = '\0';
    return strtol(text, NULL, 10);
}

static wfre_status refuse(int fd, const char *path, const char *what, wfre_error *error)
{
    char who[48] = "another process";
    long holder = holder_of(fd);
    if (holder > 0)
        (void)snprintf(who, sizeof who, "process %ld", holder);
    return wfre_fail(error, WFRE_ERR_IO, WFRE_NO_OFFSET,
                     "%s %s at this moment (%s is locked); wait for it, or name another output",
                     who, what, path);
}

/* Writes into the lock's file who has it. Only a message needs that, so that it may fail. */
static void sign(int fd)
{
    char text[32];
    int length = snprintf(text, sizeof text, "%ld\n", (long)getpid());
    if (ftruncate(fd, 0) == 0)
        (void)wfre_write_fully(fd, text, (size_t)length);
}

/* Opens and locks; leaves the descriptor in *fd, or -1. */
static wfre_status lock_file(const char *path, const char *what, int *fd, wfre_error *error)
{
    enum { ATTEMPTS = 100 };
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
        *fd = wfre_open_file(path, O_RDWR | O_CREAT | O_NOFOLLOW, 0666);
        if (*fd < 0)
            return wfre_fail_errno(error, path, "lock");
        wfre_status status = WFRE_OK;
        if (lock_descriptor(*fd) == BUSY)
            status = refuse(*fd, path, what, error);
        else if (is_at(*fd, AT_FDCWD, path))
            return WFRE_OK;
        close(*fd);
        *fd = -1;
        if (status != WFRE_OK)
            return status;
        /* Else its holder removed it just now: a new one is made. */
    }
    return wfre_fail(error, WFRE_ERR_IO, WFRE_NO_OFFSET,
                     "%s: cannot lock: it is removed again and again", path);
}

wfre_status wfre_lock_take(wfre_lock *lock, const char *path, const char *what, wfre_error *error)
{
    *lock = (wfre_lock){0};
    char *copy = wfre_copy_text(path, strlen(path));
    int fd = -1;
    wfre_status status =
        copy ? lock_file(path, what, &fd, error) : wfre_fail_memory(error, "locking a file");
    if (status != WFRE_OK) {
        wfre_free(copy);
        return status;
    }
    sign(fd);
    *lock = (wfre_lock){fd, copy};
    return WFRE_OK;
}

void wfre_lock_release(wfre_lock *lock)
{
    if (!lock->path)
        return;
    (void)unlink(lock->path);
    close(lock->fd);
    wfre_free(lock->path);
    *lock = (wfre_lock){0};
}
