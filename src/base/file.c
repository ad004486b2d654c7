/* Mapping, atomic writing and paths. */
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/disk.h"
#include "base/memory.h"
#include "base/scope.h"

/* ---- mapping ------------------------------------------------------------------------------ */

/* Up to here reading takes 4 ms longer than mapping at most; above, mapping is worth its rule (see
 * wfre_private_files). */
static _Atomic uint64_t private_bytes = (uint64_t)32 << 20;

void wfre_private_files(uint64_t bytes)
{
    atomic_store(&private_bytes, bytes);
}

/* Memory of its own for the file's bytes, filled. */
static wfre_status read_private(int fd, const char *path, size_t length, void **bytes,
                                wfre_error *error)
{
    void *memory = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        return errno == ENOMEM ? wfre_fail_memory(error, "reading a file")
                               : wfre_fail_errno(error, path, "read");
    wfre_status status = WFRE_OK;
    char beyond;
#ifdef MADV_HUGEPAGE
    (void)madvise(memory, length, MADV_HUGEPAGE); /* a third of the time */
#endif
    ssize_t got = wfre_read_fully(fd, memory, length), more = got;
    if (got >= 0 && (size_t)got == length)
        more = wfre_read_fully(fd, &beyond, 1);
    if (more < 0)
        status = wfre_fail_errno(error, path, "read");
    else if ((size_t)got < length || more > 0)
        status = wfre_fail(error, WFRE_ERR_IO, WFRE_NO_OFFSET,
                           "%s: it changed while it was read; try again", path);
    if (status == WFRE_OK) {
        (void)mprotect(memory, length, PROT_READ);
        *bytes = memory;
    } else {
        munmap(memory, length);
    }
    return status;
}

/* The file's pages, each until it is made our own; for that they must be writable, though nobody
 * writes. A system that promises no memory it does not have may refuse; then they are only read. */
static void *map_pages(int fd, size_t length)
{
    void *bytes = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE, fd, 0);
    return bytes != MAP_FAILED ? bytes : mmap(NULL, length, PROT_READ, MAP_SHARED, fd, 0);
}

void wfre_own_pages(const void *bytes, size_t length)
{
#ifdef MADV_POPULATE_WRITE
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), begin = (uintptr_t)bytes & ~(page - 1);
    if (length > 0)
        (void)madvise((void *)begin, (uintptr_t)bytes + length - begin, MADV_POPULATE_WRITE);
#else
    (void)bytes;
    (void)length;
#endif
}

wfre_status wfre_map_file(const char *path, wfre_mapping *mapping, wfre_error *error)
{
    int fd = wfre_open_file(path, O_RDONLY | O_NONBLOCK, 0); /* a pipe is not waited for */
    if (fd < 0)
        return wfre_fail_errno(error, path, "open");
    wfre_status status = WFRE_OK;
    struct stat info;
    if (fstat(fd, &info) != 0) {
        status = wfre_fail_errno(error, path, "inspect");
        goto cleanup;
    }
    if (!S_ISREG(info.st_mode)) {
        status = wfre_fail(error, WFRE_ERR_IO, WFRE_NO_OFFSET, "%s: not a regular file", path);
        goto cleanup;
    }
    wfre_mapping result = {NULL, (size_t)info.st_size};
    void *bytes = NULL;
    if (result.length > 0 && result.length <= atomic_load(&private_bytes))
        TRY(read_private(fd, path, result.length, &bytes, error));
    else if (result.length > 0) {
        bytes = map_pages(fd, result.length);
        if (bytes == MAP_FAILED) {
            status = wfre_fail_errno(error, path, "map");
            goto cleanup;
        }
    }
    result.bytes = bytes;
    *mapping = result;
cleanup:
    close(fd);
    return status;
}

void wfre_unmap(wfre_mapping *mapping)
{
    if (mapping->bytes)
        munmap((void *)(uintptr_t)mapping->bytes, mapping->length);
    *mapping = (wfre_mapping){0};
}

/* ---- atomic replacement ------------------------------------------------------------------- */

enum {
    WRITE_BEHIND = 1 << 16, /* bytes that are gathered before they are written */
    WRITE_AT_ONCE = 1 << 20
};

/* A device or pipe, such as /dev/null: written to as it is, for renaming would replace it. */
static bool is_device(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode);
}

/* What "-" stands for, in the place of a path. */
static bool is_standard(const char *path)
{
    return strcmp(path, "-") == 0;
}

/* Whether standard output goes to this file. */
static bool is_output(const char *path)
{
    struct stat there, output;
    return stat(path, &there) == 0 && fstat(STDOUT_FILENO, &output) == 0 &&
           there.st_dev == output.st_dev && there.st_ino == output.st_ino;
}

/* Where a link leads, so that the file there is replaced and not the link, whether there is one or
 * is yet to be made; as new memory (wfre_free). *target is NULL if the path is no link. */
static wfre_status follow_link(const char *path, char **target, wfre_error *error)
{
    enum { MOST_LINKS = 40 };
    wfre_status status = WFRE_OK;
    char *at = NULL;
    *target = NULL;
    for (int links = 0;; links++) {
        struct stat info;
        char to[4096];
        const char *from = at ? at : path;
        if (lstat(from, &info) != 0 || !S_ISLNK(info.st_mode)) {
            *target = at;
            return WFRE_OK;
        }
        ssize_t length = readlink(from, to, sizeof to);
        if (length < 0 || (size_t)length == sizeof to || links == MOST_LINKS) {
            errno = length < 0 ? errno : ELOOP;
            status = wfre_fail_errno(error, path, "follow");
            break;
        }
        const char *slash = to[0] == '/' ? NULL : strrchr(from, '/');
        size_t folder = slash ? (size_t)(slash + 1 - from) : 0;
        char *next = wfre_alloc(folder + (size_t)length + 1, 1);
        if (!next) {
            status = wfre_fail_memory(error, "following a link");
            break;
        }
        memcpy(next, from, folder);
        memcpy(next + folder, to, (size_t)length);
        next[folder + (size_t)length] = '\0';
        wfre_free(at);
        at = next;
    }
    wfre_free(at);
    return status;
}

wfre_status wfre_writer_open(wfre_writer *writer, const char *path, wfre_error *error)
{
    *writer = (wfre_writer){0};
    char *target = NULL;
    wfre_status status;
    TRY(follow_link(path, &target, error));
    bool standard = target ? is_output(path) /* such as /dev/stdout */ : is_standard(path);
    bool direct = standard || is_device(path);
    path = standard ? "standard output" : target && !direct ? target : path;
    size_t length = strlen(path);
    writer->path = wfre_copy_text(path, length);
    writer->temporary = wfre_alloc_zero(length + WFRE_TEMPORARY_SUFFIX + 1, 1);
    writer->buffer = wfre_alloc(WRITE_BEHIND, 1);
    if (!writer->path || !writer->temporary || !writer->buffer) {
        status = wfre_fail_memory(error, "opening a file to write");
        goto cleanup;
    }
    if (!standard && wfre_is_folder(path)) {
        status = wfre_fail(error, WFRE_ERR_IO, WFRE_NO_OFFSET,
                           "%s: cannot write: it is a folder; name a file", path);
        goto cleanup;
    }
    if (!direct)
        wfre_temporary_clean(path);
    writer->fd = standard ? dup(STDOUT_FILENO)
                 : direct ? wfre_open_file(path, O_WRONLY, 0)
                          : wfre_temporary_create(path, writer->temporary);
    if (writer->fd < 0) {
        status = wfre_fail_errno(error, path, "write");
        writer->temporary[0] = '\0';
        goto cleanup;
    }
    writer->opened = true;
cleanup:
    wfre_free(target);
    if (status != WFRE_OK)
        wfre_writer_discard(writer);
    return status;
}

/* In pieces, between which it may be left: then there is no file. */
static wfre_status write_all(wfre_writer *writer, const char *bytes, size_t length,
                             wfre_error *error)
{
    for (size_t piece; length > 0; bytes += piece, length -= piece) {
        piece = length < WRITE_AT_ONCE ? length : WRITE_AT_ONCE;
        if (wfre_may_leave())
            return wfre_check_stop(error);
        if (!wfre_write_fully(writer->fd, bytes, piece))
            return wfre_fail_errno(error, writer->path, "write");
    }
    return WFRE_OK;
}

/* Writes what is in the buffer. */
static wfre_status flush(wfre_writer *writer, wfre_error *error)
{
    size_t length = writer->used;
    writer->used = 0;
    return write_all(writer, writer->buffer, length, error);
}

wfre_status wfre_writer_put(wfre_writer *writer, const void *bytes, size_t length,
                            wfre_error *error)
{
    if (length > WRITE_BEHIND - writer->used)
        CHECK(flush(writer, error));
    if (length >= WRITE_BEHIND)
        return write_all(writer, bytes, length, error);
    if (length)
        memcpy(writer->buffer + writer->used, bytes, length);
    writer->used += length;
    return WFRE_OK;
}

wfre_status wfre_writer_rewind(wfre_writer *writer, wfre_error *error)
{
    CHECK(flush(writer, error));
    if (lseek(writer->fd, 0, SEEK_SET) != 0)
        return wfre_fail_errno(error, writer->path, "write");
    return WFRE_OK;
}

/* Gives the temporary, written and safe on its disk, the name of the file. */
static wfre_status replace(wfre_writer *writer, wfre_error *error)
{
    if (rename(writer->temporary, writer->path) != 0)
        return wfre_fail_errno(error, writer->path, "replace");
    if (!wfre_sync_folder(writer->path))
        return wfre_fail_errno(error, writer->path, "make sure that a power cut would not undo it");
    return WFRE_OK;
}

wfre_status wfre_writer_commit(wfre_writer *writer, wfre_error *error)
{
    wfre_status status = WFRE_OK;
    bool renames = writer->temporary[0];
    TRY(flush(writer, error));
    if (renames && !wfre_sync_file(writer->fd)) {
        status = wfre_fail_errno(error, writer->path, "write");
        goto cleanup;
    }
    /* The lock goes with the descriptor: it is closed after the temporary has its name. What
     * closing may tell of a device or pipe, writing has told. */
    if (renames)
        TRY(replace(writer, error));
cleanup:
    wfre_writer_discard(writer);
    return status;
}

void wfre_writer_discard(wfre_writer *writer)
{
    if (writer->temporary && writer->temporary[0])
        (void)unlink(writer->temporary);
    if (writer->opened)
        close(writer->fd);
    wfre_free(writer->buffer);
    wfre_free(writer->temporary);
    wfre_free(writer->path);
    *writer = (wfre_writer){0};
}

wfre_status wfre_probe_output(const char *path, wfre_error *error)
{
    wfre_writer writer = {0};
    wfre_status status = wfre_writer_open(&writer, path, error);
    wfre_writer_discard(&writer);
    return status;
}

wfre_status wfre_probe_regular(const char *path, wfre_error *error)
{
    wfre_status status = wfre_probe_output(path, error);
    if (status == WFRE_OK && (is_device(path) || is_standard(path) || is_output(path)))
        status = wfre_fail(error, WFRE_ERR_IO, WFRE_NO_OFFSET,
                           "%s: not a regular file, which this output must be", path);
    return status;
}

wfre_status wfre_write_file(const char *path, const void *bytes, size_t length, wfre_error *error)
{
    wfre_writer writer = {0};
    wfre_status status;
    TRY(wfre_writer_open(&writer, path, error));
    TRY(wfre_writer_put(&writer, bytes, length, error));
    TRY(wfre_writer_commit(&writer, error));
cleanup:
    wfre_writer_discard(&writer);
    return status;
}

/* ---- paths -------------------------------------------------------------------------------- */

bool wfre_is_folder(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

bool wfre_file_exists(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && !S_ISDIR(info.st_mode);
}

char *wfre_path_join(const char *folder, const char *name)
{
    size_t a = strlen(folder), b = strlen(name);
    bool slash = a > 0 && folder[a - 1] != '/';
    char *path = wfre_alloc(a + b + 2, 1);
    if (path) {
        memcpy(path, folder, a);
        if (slash)
            path[a++] = '/';
        memcpy(path + a, name, b + 1);
    }
    return path;
}
