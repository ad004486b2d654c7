/* Mapping, atomic writing and paths. */
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"

/* ---- mapping ------------------------------------------------------------------------------ */

wfre_status wfre_map_file(const char *path, wfre_mapping *mapping, wfre_error *error)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a pipe is not waited for */
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
    if (result.length > 0) {
        void *bytes = mmap(NULL, result.length, PROT_READ, MAP_SHARED, fd, 0);
        if (bytes == MAP_FAILED) {
            status = wfre_fail_errno(error, path, "map");
            goto cleanup;
        }
        result.bytes = bytes;
    }
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
    static const char suffix[] = ".tmp-XXXXXX";
    writer->path = wfre_copy_text(path, length);
    writer->temporary = wfre_alloc(length + sizeof suffix, 1);
    if (!writer->path || !writer->temporary) {
        status = wfre_fail_memory(error, "opening a file to write");
        goto cleanup;
    }
    if (!standard && wfre_is_folder(path)) {
        status = wfre_fail(error, WFRE_ERR_IO, WFRE_NO_OFFSET,
                           "%s: cannot write: it is a folder; name a file", path);
        goto cleanup;
    }
    memcpy(writer->temporary, path, length);
    memcpy(writer->temporary + length, suffix, sizeof suffix);
    if (direct)
        writer->temporary[0] = '\0';
    int fd = standard ? dup(STDOUT_FILENO)
             : direct ? open(path, O_WRONLY | O_CLOEXEC)
                      : mkstemp(writer->temporary);
    if (fd < 0) {
        status = wfre_fail_errno(error, path, "write");
        goto cleanup;
    }
    if (!direct) {
        mode_t mask = umask(0);
        umask(mask);
        (void)fchmod(fd, 0666 & ~mask);
    }
    writer->stream = fdopen(fd, "wb");
    if (!writer->stream) {
        status = wfre_fail_errno(error, path, "write");
        close(fd);
        if (!direct)
            unlink(writer->temporary);
        goto cleanup;
    }
cleanup:
    wfre_free(target);
    if (status == WFRE_OK)
        return status;
    wfre_free(writer->path);
    wfre_free(writer->temporary);
    *writer = (wfre_writer){0};
    return status;
}

wfre_status wfre_writer_put(wfre_writer *writer, const void *bytes, size_t length,
                            wfre_error *error)
{
    if (length && fwrite(bytes, 1, length, writer->stream) != length)
        return wfre_fail_errno(error, writer->path, "write");
    return WFRE_OK;
}

/* Makes a rename in the file's folder durable; a file system that cannot is not an error. Cuts the
 * path down to its folder. */
static void sync_folder(char *path)
{
    char *slash = strrchr(path, '/');
    if (slash)
        slash[1] = '\0';
    int fd = open(slash ? path : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0) {
        (void)fsync(fd);
        close(fd);
    }
}

wfre_status wfre_writer_commit(wfre_writer *writer, wfre_error *error)
{
    wfre_status status = WFRE_OK;
    bool renames = writer->temporary[0];
    if (fflush(writer->stream) != 0 || (renames && fsync(fileno(writer->stream)) != 0))
        status = wfre_fail_errno(error, writer->path, "write");
    if (fclose(writer->stream) != 0 && status == WFRE_OK)
        status = wfre_fail_errno(error, writer->path, "write");
    writer->stream = NULL;
    if (status == WFRE_OK && renames && rename(writer->temporary, writer->path) != 0)
        status = wfre_fail_errno(error, writer->path, "replace");
    if (status == WFRE_OK && renames) {
        writer->temporary[0] = '\0';
        sync_folder(writer->path);
    }
    wfre_writer_discard(writer);
    return status;
}

void wfre_writer_discard(wfre_writer *writer)
{
    if (writer->stream)
        fclose(writer->stream);
    if (writer->temporary && writer->temporary[0])
        unlink(writer->temporary);
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
