/* Mapping, atomic writing and plain/gzip reading. zlib's gzread passes plain files through. */
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "base/disk.h"
#include "base/memory.h"

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

wfre_status wfre_map_file(const char *path, wfre_mapping *mapping, wfre_error *error)
{
    int fd = wfre_open_file(path, O_RDONLY, 0);
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
        bytes = mmap(NULL, result.length, PROT_READ, MAP_SHARED, fd, 0);
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

enum { WRITE_BEHIND = 1 << 16 }; /* bytes that are gathered before they are written */

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

/* Where a link leads, so that the file there is replaced and not the link; as new memory of libc,
 * NULL if the path is no link or leads nowhere. */
static char *follow_link(const char *path)
{
    struct stat info;
    return lstat(path, &info) == 0 && S_ISLNK(info.st_mode) ? realpath(path, NULL) : NULL;
}

wfre_status wfre_writer_open(wfre_writer *writer, const char *path, wfre_error *error)
{
    *writer = (wfre_writer){0};
    wfre_status status = WFRE_OK;
    char *target = follow_link(path);
    bool standard = target ? is_output(target) /* such as /dev/stdout */ : is_standard(path);
    bool direct = standard || is_device(path);
    path = standard ? "standard output" : target ? target : path;
    size_t length = strlen(path);
    writer->path = wfre_copy_text(path, length);
    writer->temporary = wfre_alloc(length + WFRE_TEMPORARY_SUFFIX + 1, 1);
    writer->buffer = wfre_alloc(WRITE_BEHIND, 1);
    if (!writer->path || !writer->temporary || !writer->buffer) {
        status = wfre_fail_memory(error, "opening a file to write");
        goto cleanup;
    }
    writer->temporary[0] = '\0';
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
    free(target);
    if (status != WFRE_OK)
        wfre_writer_discard(writer);
    return status;
}

/* Writes what is in the buffer. */
static wfre_status flush(wfre_writer *writer, wfre_error *error)
{
    size_t length = writer->used;
    writer->used = 0;
    if (!wfre_write_fully(writer->fd, writer->buffer, length))
        return wfre_fail_errno(error, writer->path, "write");
    return WFRE_OK;
}

wfre_status wfre_writer_put(wfre_writer *writer, const void *bytes, size_t length,
                            wfre_error *error)
{
    if (length > WRITE_BEHIND - writer->used)
        CHECK(flush(writer, error));
    if (length >= WRITE_BEHIND) {
        if (!wfre_write_fully(writer->fd, bytes, length))
            return wfre_fail_errno(error, writer->path, "write");
        return WFRE_OK;
    }
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
    writer->temporary[0] = '\0';
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
    if (status == WFRE_OK && is_device(path))
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

/* ---- byte and line input ------------------------------------------------------------------ */

enum { READ_AHEAD = 1 << 16 };

struct wfre_reader {
    gzFile file;
    char *name;
    char *buffer; /* the unread bytes are buffer[start .. end) */
    size_t capacity;
    size_t start;
    size_t end;
    bool at_end;
    uint64_t line;
};

const char *wfre_input_name(const char *path)
{
    return is_standard(path) ? "standard input" : path;
}

wfre_status wfre_reader_open(const char *path, wfre_reader **result, wfre_error *error)
{
    bool standard = is_standard(path);
    const char *name = wfre_input_name(path);
    if (!standard && wfre_is_folder(path))
        return wfre_fail(error, WFRE_ERR_IO, WFRE_NO_OFFSET, "%s: is a folder, not a file", path);
    wfre_reader *reader = wfre_alloc_zero(1, sizeof *reader);
    if (!reader || !(reader->name = wfre_copy_text(name, strlen(name)))) {
        wfre_reader_close(reader);
        return wfre_fail_memory(error, "opening a file");
    }
    int fd = standard ? dup(STDIN_FILENO) : open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        wfre_status status = wfre_fail_errno(error, name, "open");
        wfre_reader_close(reader);
        return status;
    }
    reader->file = gzdopen(fd, "rb");
    if (!reader->file) {
        close(fd);
        wfre_reader_close(reader);
        return wfre_fail_memory(error, "opening a file");
    }
    (void)gzbuffer(reader->file, READ_AHEAD);
    *result = reader;
    return WFRE_OK;
}

void wfre_reader_close(wfre_reader *reader)
{
    if (!reader)
        return;
    if (reader->file)
        (void)gzclose_r(reader->file);
    wfre_free(reader->buffer);
    wfre_free(reader->name);
    wfre_free(reader);
}

const char *wfre_reader_name(const wfre_reader *reader)
{
    return reader->name;
}

uint64_t wfre_reader_line_number(const wfre_reader *reader)
{
    return reader->line;
}

wfre_status wfre_reader_read(wfre_reader *reader, void *bytes, size_t capacity, size_t *length,
                             wfre_error *error)
{
    unsigned ask = capacity > (1u << 30) ? (1u << 30) : (unsigned)capacity;
    errno = 0;
    int got = gzread(reader->file, bytes, ask);
    int code = Z_OK;
    const char *why = gzerror(reader->file, &code);
    if (got < 0 || (code != Z_OK && code != Z_STREAM_END)) {
        if (code == Z_ERRNO && errno == EINTR)
            return wfre_fail(error, WFRE_ERR_INTERRUPTED, WFRE_NO_OFFSET,
                             "interrupted while reading %s", reader->name);
        if (code == Z_ERRNO)
            return wfre_fail_errno(error, reader->name, "read");
        return wfre_fail(error, WFRE_ERR_FORMAT, WFRE_NO_OFFSET,
                         "%s: damaged gzip data (%s); fetch the file again", reader->name,
                         code == Z_BUF_ERROR ? "it ends too early" : why);
    }
    *length = (size_t)got;
    return WFRE_OK;
}

/* Reads more after the unread bytes, moving them to the front first. */
static wfre_status refill(wfre_reader *reader, wfre_error *error)
{
    if (reader->start > 0) {
        memmove(reader->buffer, reader->buffer + reader->start, reader->end - reader->start);
        reader->end -= reader->start;
        reader->start = 0;
    }
    if (!wfre_reserve(&reader->buffer, &reader->capacity, reader->end + READ_AHEAD, 1))
        return wfre_fail_memory(error, "reading lines");
    size_t got = 0;
    wfre_status status = wfre_reader_read(reader, reader->buffer + reader->end,
                                          reader->capacity - reader->end, &got, error);
    reader->end += got;
    reader->at_end = got == 0;
    return status;
}

size_t wfre_byte_order_mark(const char *bytes, size_t length)
{
    static const char MARK[] = {'\xEF', '\xBB', '\xBF'};
    return length >= sizeof MARK && memcmp(bytes, MARK, sizeof MARK) == 0 ? sizeof MARK : 0;
}

wfre_status wfre_reader_line(wfre_reader *reader, const char **line, size_t *length,
                             wfre_error *error)
{
    size_t searched = 0;
    for (;;) {
        size_t unread = reader->end - reader->start;
        const char *begin = reader->buffer ? reader->buffer + reader->start : NULL;
        const char *newline =
            unread > searched ? memchr(begin + searched, '\n', unread - searched) : NULL;
        size_t size = newline ? (size_t)(newline - begin) : unread;
        if (size > WFRE_LINE_LIMIT)
            return wfre_fail(error, WFRE_ERR_FORMAT, WFRE_NO_OFFSET,
                             "%s:%llu: line longer than %d bytes; is this a text file?",
                             reader->name, (unsigned long long)reader->line + 1, WFRE_LINE_LIMIT);
        if (newline || (reader->at_end && unread > 0)) {
            size_t mark = reader->line == 0 ? wfre_byte_order_mark(begin, size) : 0;
            reader->start += size + (newline ? 1 : 0);
            reader->line++;
            *line = begin + mark;
            *length = size - mark - (size > mark && begin[size - 1] == '\r');
            return WFRE_OK;
        }
        if (reader->at_end) {
            *line = NULL;
            *length = 0;
            return WFRE_OK;
        }
        searched = unread;
        wfre_status status = refill(reader, error);
        if (status != WFRE_OK)
            return status;
    }
}

wfre_status wfre_read_all(const char *path, size_t limit, char **bytes, size_t *length,
                          wfre_error *error)
{
    wfre_reader *reader = NULL;
    char *data = NULL;
    size_t used = 0, capacity = 0, got = 0;
    wfre_status status;
    TRY(wfre_reader_open(path, &reader, error));
    do {
        if (!wfre_reserve(&data, &capacity, used + READ_AHEAD + 1, 1)) {
            status = wfre_fail_memory(error, "reading a file");
            goto cleanup;
        }
        TRY(wfre_reader_read(reader, data + used, capacity - used - 1, &got, error));
        used += got;
        if (used > limit) {
            status = wfre_fail(error, WFRE_ERR_FORMAT, WFRE_NO_OFFSET,
                               "%s: larger than the %zu bytes allowed here",
                               wfre_reader_name(reader), limit);
            goto cleanup;
        }
    } while (got > 0);
    data[used] = '\0';
    *bytes = data;
    *length = used;
    data = NULL;
cleanup:
    wfre_free(data);
    wfre_reader_close(reader);
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
