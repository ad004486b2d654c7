/* Reading plain and gzip data, by bytes and by lines.
 *
 * gzip data is one member after another. zlib's own file functions stop in silence at a member that
 * does not begin as one, so this file does the framing itself: what follows a member is another, or
 * zeros up to the end (as tapes leave them), or the file is damaged. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "base/clock.h"
#include "base/disk.h"
#include "base/file.h"
#include "base/memory.h"

/* PIPE_SECONDS is how long a named pipe may stay without a writer. */
enum { READ_AHEAD = 1 << 16, PIPE_SECONDS = 2 };

typedef enum framing {
    UNDECIDED, /* nothing was read yet */
    PLAIN,
    MEMBER,  /* within a member of gzip data */
    BETWEEN, /* behind one */
    PADDING  /* zeros behind the last one */
} framing;

struct wfre_reader {
    int file; /* -1 if it is not open */
    bool regular;
    char *name;
    framing framing;
    unsigned char *raw; /* as the file has them; raw_start .. raw_end are unread */
    size_t raw_start;
    size_t raw_end;
    bool raw_ended;
    uint64_t raw_before; /* bytes of the file before raw[0] */
    z_stream inflater;
    bool inflating; /* the inflater is to be ended */
    char *buffer;   /* the unread bytes are buffer[start .. end) */
    size_t capacity;
    size_t start;
    size_t end;
    bool at_end;
    uint64_t line;
};

/* ---- opening ------------------------------------------------------------------------------ */

static bool is_standard(const char *path)
{
    return strcmp(path, "-") == 0;
}

const char *wfre_input_name(const char *path)
{
    return is_standard(path) ? "standard input" : path;
}

/* Waits for a named pipe's writer, but not for ever. The pipe was opened without blocking; reading
 * it then tells a pipe without a writer (0 bytes) from one whose writer is slow (EAGAIN). */
static wfre_status await_writer(wfre_reader *reader, wfre_error *error)
{
    double until = wfre_clock() + PIPE_SECONDS;
    for (;;) {
        ssize_t got = read(reader->file, reader->raw, READ_AHEAD);
        if (got > 0)
            reader->raw_end = (size_t)got;
        if (got > 0 || (got < 0 && errno == EAGAIN))
            return WFRE_OK;
        if (got < 0)
            return wfre_fail_errno(error, reader->name, "read");
        struct pollfd look = {.fd = reader->file, .events = POLLIN};
        if (poll(&look, 1, 0) > 0 && look.revents & POLLHUP) {
            reader->raw_ended = true; /* a writer came, wrote nothing and went */
            return WFRE_OK;
        }
        if (wfre_clock() > until)
            return wfre_fail(error, WFRE_ERR_IO, WFRE_NO_OFFSET,
                             "%s: a named pipe that nobody writes to; start its writer first",
                             reader->name);
        (void)poll(NULL, 0, 10);
    }
}

static wfre_status open_file(wfre_reader *reader, const char *path, wfre_error *error)
{
    struct stat info;
    if (is_standard(path)) {
        reader->file = dup(STDIN_FILENO);
        return reader->file < 0 ? wfre_fail_errno(error, reader->name, "open") : WFRE_OK;
    }
    reader->file = wfre_open_file(path, O_RDONLY | O_NONBLOCK, 0);
    if (reader->file < 0)
        return wfre_fail_errno(error, reader->name, "open");
    if (fstat(reader->file, &info) != 0)
        return wfre_fail_errno(error, reader->name, "inspect");
    reader->regular = S_ISREG(info.st_mode);
    wfre_status status = S_ISFIFO(info.st_mode) ? await_writer(reader, error) : WFRE_OK;
    (void)fcntl(reader->file, F_SETFL, 0); /* from here on reading waits */
    return status;
}

wfre_status wfre_reader_open(const char *path, wfre_reader **result, wfre_error *error)
{
    wfre_status status = WFRE_OK;
    const char *name = wfre_input_name(path);
    if (!is_standard(path) && wfre_is_folder(path))
        return wfre_fail(error, WFRE_ERR_IO, WFRE_NO_OFFSET, "%s: is a folder, not a file", path);
    wfre_reader *reader = wfre_alloc_zero(1, sizeof *reader);
    if (!reader)
        return wfre_fail_memory(error, "opening a file");
    reader->file = -1;
    reader->name = wfre_copy_text(name, strlen(name));
    reader->raw = wfre_alloc(READ_AHEAD, 1);
    if (!reader->name || !reader->raw) {
        status = wfre_fail_memory(error, "opening a file");
        goto cleanup;
    }
    TRY(open_file(reader, path, error));
    *result = reader;
    reader = NULL;
cleanup:
    wfre_reader_close(reader);
    return status;
}

void wfre_reader_close(wfre_reader *reader)
{
    if (!reader)
        return;
    if (reader->inflating)
        (void)inflateEnd(&reader->inflater);
    if (reader->file >= 0)
        close(reader->file);
    wfre_free(reader->raw);
    wfre_free(reader->buffer);
    wfre_free(reader->name);
    wfre_free(reader);
}

const char *wfre_reader_name(const wfre_reader *reader)
{
    return reader->name;
}

uint64_t wfre_reader_raw_bytes(const wfre_reader *reader)
{
    return reader->raw_before + reader->raw_start;
}

uint64_t wfre_reader_line_number(const wfre_reader *reader)
{
    return reader->line;
}

/* ---- the file's own bytes ----------------------------------------------------------------- */

/* A signal that comes while a person or another program is waited for means to stop; a file on a
 * disk has its bytes soon enough. */
static wfre_status read_raw(wfre_reader *reader, void *bytes, size_t capacity, size_t *got,
                            wfre_error *error)
{
    ssize_t count;
    do
        count = read(reader->file, bytes, capacity);
    while (count < 0 && errno == EINTR && reader->regular);
    *got = 0;
    if (count < 0 && errno == EINTR)
        return wfre_fail(error, WFRE_ERR_INTERRUPTED, WFRE_NO_OFFSET,
                         "interrupted while reading %s", reader->name);
    if (count < 0)
        return wfre_fail_errno(error, reader->name, "read");
    *got = (size_t)count;
    return WFRE_OK;
}

/* Makes at least `need` unread raw bytes, or all that are left. */
static wfre_status need_raw(wfre_reader *reader, size_t need, wfre_error *error)
{
    while (reader->raw_end - reader->raw_start < need && !reader->raw_ended) {
        size_t unread = reader->raw_end - reader->raw_start, got;
        memmove(reader->raw, reader->raw + reader->raw_start, unread);
        reader->raw_before += reader->raw_start;
        reader->raw_start = 0;
        reader->raw_end = unread;
        wfre_status status =
            read_raw(reader, reader->raw + unread, READ_AHEAD - unread, &got, error);
        if (status != WFRE_OK)
            return status;
        reader->raw_end += got;
        reader->raw_ended = got == 0;
    }
    return WFRE_OK;
}

/* ---- gzip --------------------------------------------------------------------------------- */

static void *zlib_alloc(void *context, unsigned count, unsigned size)
{
    (void)context;
    return wfre_alloc_zero(count, size);
}

static void zlib_free(void *context, void *block)
{
    (void)context;
    wfre_free(block);
}

static wfre_status damaged(const wfre_reader *reader, const char *why, wfre_error *error)
{
    return wfre_fail(error, WFRE_ERR_FORMAT, WFRE_NO_OFFSET,
                     "%s: damaged gzip data (%s, at byte %llu); fetch the file again", reader->name,
                     why, (unsigned long long)(reader->raw_before + reader->raw_start));
}

static bool begins_member(const wfre_reader *reader)
{
    const unsigned char *at = reader->raw + reader->raw_start;
    return reader->raw_end - reader->raw_start >= 2 && at[0] == 0x1F && at[1] == 0x8B;
}

/* What the bytes that come next are: at the start of the file, or behind a member. */
static wfre_status decide(wfre_reader *reader, wfre_error *error)
{
    bool first = reader->framing == UNDECIDED;
    wfre_status status = need_raw(reader, 2, error);
    if (status != WFRE_OK)
        return status;
    if (!begins_member(reader)) {
        reader->framing = first ? PLAIN : PADDING;
        return WFRE_OK;
    }
    if (first) {
        reader->inflater.zalloc = zlib_alloc;
        reader->inflater.zfree = zlib_free;
    }
    enum { GZIP_WINDOW = 15 + 16 };
    if ((first ? inflateInit2(&reader->inflater, GZIP_WINDOW) : inflateReset(&reader->inflater)) !=
        Z_OK)
        return wfre_fail_memory(error, "opening a file");
    reader->inflating = true;
    reader->framing = MEMBER;
    return WFRE_OK;
}

/* Some bytes of the member; none once it has ended. */
static wfre_status inflate_some(wfre_reader *reader, void *bytes, size_t capacity, size_t *length,
                                wfre_error *error)
{
    z_stream *z = &reader->inflater;
    *length = 0;
    while (*length == 0 && reader->framing == MEMBER) {
        wfre_status status = need_raw(reader, 1, error);
        if (status != WFRE_OK)
            return status;
        size_t unread = reader->raw_end - reader->raw_start;
        if (unread == 0)
            return damaged(reader, "it ends too early", error);
        z->next_in = reader->raw + reader->raw_start;
        z->avail_in = (unsigned)unread;
        z->next_out = bytes;
        z->avail_out = (unsigned)capacity;
        int code = inflate(z, Z_NO_FLUSH);
        reader->raw_start = reader->raw_end - z->avail_in;
        *length = capacity - z->avail_out;
        if (code == Z_MEM_ERROR)
            return wfre_fail_memory(error, "unpacking gzip data");
        if (code == Z_STREAM_END)
            reader->framing = BETWEEN;
        else if (code != Z_OK && code != Z_BUF_ERROR)
            return damaged(reader, z->msg ? z->msg : "no gzip data", error);
    }
    return WFRE_OK;
}

/* Skips the zeros behind the last member; anything else there would go missing in silence. */
static wfre_status skip_padding(wfre_reader *reader, wfre_error *error)
{
    for (;;) {
        wfre_status status = need_raw(reader, 1, error);
        if (status != WFRE_OK || reader->raw_start == reader->raw_end)
            return status;
        if (reader->raw[reader->raw_start] != 0)
            return damaged(reader, "something else follows it", error);
        reader->raw_start++;
    }
}

/* Past the buffer, straight to where it is wanted. */
static wfre_status read_more(wfre_reader *reader, void *bytes, size_t capacity, size_t *length,
                             wfre_error *error)
{
    wfre_status status = read_raw(reader, bytes, capacity, length, error);
    reader->raw_before += *length;
    return status;
}

static wfre_status read_plain(wfre_reader *reader, void *bytes, size_t capacity, size_t *length,
                              wfre_error *error)
{
    size_t unread = reader->raw_end - reader->raw_start;
    if (unread == 0)
        return reader->raw_ended ? WFRE_OK : read_more(reader, bytes, capacity, length, error);
    *length = unread < capacity ? unread : capacity;
    memcpy(bytes, reader->raw + reader->raw_start, *length);
    reader->raw_start += *length;
    return WFRE_OK;
}

wfre_status wfre_reader_read(wfre_reader *reader, void *bytes, size_t capacity, size_t *length,
                             wfre_error *error)
{
    capacity = capacity > (1u << 30) ? (1u << 30) : capacity;
    *length = 0;
    while (*length == 0 && capacity > 0) {
        if (reader->framing == UNDECIDED || reader->framing == BETWEEN)
            CHECK(decide(reader, error));
        if (reader->framing == PLAIN)
            return read_plain(reader, bytes, capacity, length, error);
        if (reader->framing == PADDING)
            return skip_padding(reader, error);
        CHECK(inflate_some(reader, bytes, capacity, length, error));
    }
    return WFRE_OK;
}

/* ---- lines -------------------------------------------------------------------------------- */

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
            size_t mark = wfre_byte_order_mark(begin, size);
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
