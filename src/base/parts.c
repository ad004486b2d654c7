/* Outputs written part by part: PATH.part is what is done, PATH.progress its journal.
 *
 * The journal's first line says what work it is of. Each other line is of a part: its key, how many
 * items there are up to its end, where in PATH.part it ends, and a hash of all bytes up to there. A
 * part counts only if its line is whole and its hash fits: nothing is flushed to the disk, so that
 * after a loss of power either file may have any part of what was written to it. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/disk.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/memory.h"

enum { LINE = 96, NOT_OPEN = -1 };

struct wfre_parts {
    char *path, *part, *progress, *work; /* `work` with the end of its line */
    wfre_lock lock;
    int bytes, journal; /* descriptors of PATH.part and PATH.progress */
    uint32_t *keys;
    size_t count, done;
    uint64_t items, length, hash; /* of the parts that are done */
    bool taken_up;                /* the files are of this work, and lead to where it stopped */
};

static char *joined(const char *text, const char *ending)
{
    size_t size = strlen(text) + strlen(ending) + 1;
    char *whole = wfre_alloc(size, 1);
    if (whole)
        (void)snprintf(whole, size, "%s%s", text, ending);
    return whole;
}

/* Opens a file beside the output, which is nothing but a file of ours: nobody waits for a pipe, and
 * no link leads elsewhere. */
static wfre_status open_beside(const char *path, int *fd, wfre_error *error)
{
    struct stat info;
    *fd = wfre_open_file(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK, 0666);
    if (*fd >= 0 && (fstat(*fd, &info) != 0 || !S_ISREG(info.st_mode))) {
        close(*fd);
        *fd = NOT_OPEN;
        errno = EEXIST;
    }
    return *fd >= 0 ? WFRE_OK : wfre_fail_errno(error, path, "open");
}

/* Cuts a file to `length` bytes, and goes on writing there. */
static wfre_status cut(int fd, uint64_t length, const char *path, wfre_error *error)
{
    int failed;
    do
        failed = ftruncate(fd, (off_t)length);
    while (failed && errno == EINTR);
    if (failed || lseek(fd, (off_t)length, SEEK_SET) != (off_t)length)
        return wfre_fail_errno(error, path, "write");
    return WFRE_OK;
}

/* ---- where it was left -------------------------------------------------------------------- */

/* Takes the lines of the journal from `line` on for what an earlier run did, up to the first that
 * is not whole or does not fit. Returns that one. */
static const char *read_lines(wfre_parts *parts, const char *line, const wfre_mapping *bytes)
{
    for (char *at; parts->done < parts->count && strchr(line, '\n'); line = at + 1) {
        uint64_t key = strtoull(line, &at, 10), items = strtoull(at, &at, 10);
        uint64_t end = strtoull(at, &at, 10), hash = strtoull(at, &at, 16);
        if (*at != '\n' || key != parts->keys[parts->done] || end < parts->length ||
            end > bytes->length)
            break;
        size_t length = (size_t)(end - parts->length);
        if (wfre_hash(length > 0 ? bytes->bytes + parts->length : NULL, length, parts->hash) !=
            hash)
            break;
        parts->done++;
        parts->items = items;
        parts->length = end;
        parts->hash = hash;
    }
    return line;
}

static wfre_status take_up(wfre_parts *parts, const char *text, wfre_error *error)
{
    size_t first = strlen(parts->work);
    wfre_mapping bytes = {0};
    /* A line that was not finished is of a run that had done nothing. */
    if (strncmp(text, parts->work, strcspn(text, "\n") + 1) != 0 &&
        strncmp(text, parts->work, strlen(text)) != 0)
        return wfre_fail(
            error, WFRE_ERR_MISMATCH, WFRE_NO_OFFSET,
            "%s: it is of another run, with other inputs or settings; remove it, or take "
            "another output",
            parts->progress);
    CHECK(open_beside(parts->part, &parts->bytes, error));
    if (strlen(text) < first) {
        CHECK(cut(parts->journal, 0, parts->progress, error));
        if (!wfre_write_fully(parts->journal, parts->work, first))
            return wfre_fail_errno(error, parts->progress, "write");
        return cut(parts->bytes, 0, parts->part, error);
    }
    CHECK(wfre_map_file(parts->part, &bytes, error));
    const char *end = read_lines(parts, text + first, &bytes);
    wfre_unmap(&bytes);
    CHECK(cut(parts->journal, (uint64_t)(end - text), parts->progress, error));
    return cut(parts->bytes, parts->length, parts->part, error);
}

static wfre_status read_journal(wfre_parts *parts, wfre_error *error)
{
    /* Whatever the length of the file, no more of it is ours. */
    size_t room = strlen(parts->work) + parts->count * LINE;
    char *text = wfre_alloc(room + 1, 1);
    if (!text)
        return wfre_fail_memory(error, "reading what was done");
    ssize_t length = wfre_read_fully(parts->journal, text, room);
    text[length > 0 ? length : 0] = '\0';
    wfre_status status =
        length < 0 ? wfre_fail_errno(error, parts->progress, "read") : take_up(parts, text, error);
    wfre_free(text);
    return status;
}

static wfre_status open_files(wfre_parts *parts, wfre_error *error)
{
    char *path = joined(parts->path, ".lock"), *what = joined("writes ", parts->path);
    wfre_status status = path && what ? wfre_lock_take(&parts->lock, path, what, error)
                                      : wfre_fail_memory(error, "opening an output");
    wfre_free(path);
    wfre_free(what);
    CHECK(status);
    CHECK(open_beside(parts->progress, &parts->journal, error));
    CHECK(read_journal(parts, error));
    parts->taken_up = true;
    return WFRE_OK;
}

/* ---- what there is to call ---------------------------------------------------------------- */

wfre_status wfre_parts_open(const char *path, const char *work, const uint32_t *keys, size_t count,
                            wfre_parts **opened, wfre_error *error)
{
    GIVEN(path);
    GIVEN(work);
    if (count > 0)
        GIVEN(keys);
    GIVEN(opened);
    *opened = NULL;
    wfre_parts *parts = wfre_alloc_zero(1, sizeof *parts);
    if (!parts)
        return wfre_fail_memory(error, "opening an output");
    *parts = (wfre_parts){.path = joined(path, ""),
                          .part = joined(path, ".part"),
                          .progress = joined(path, ".progress"),
                          .work = joined(work, "\n"),
                          .keys = wfre_alloc(count + 1, sizeof *keys),
                          .count = count,
                          .bytes = NOT_OPEN,
                          .journal = NOT_OPEN};
    wfre_status status = wfre_fail_memory(error, "opening an output");
    if (parts->path && parts->part && parts->progress && parts->work && parts->keys) {
        if (count > 0)
            memcpy(parts->keys, keys, count * sizeof *keys);
        status = open_files(parts, error);
    }
    if (status == WFRE_OK)
        *opened = parts;
    else
        wfre_parts_close(parts);
    return status;
}

size_t wfre_parts_done(const wfre_parts *parts)
{
    return parts->done;
}

uint64_t wfre_parts_items(const wfre_parts *parts)
{
    return parts->items;
}

wfre_status wfre_parts_add(wfre_parts *parts, const void *bytes, size_t length, uint64_t items,
                           wfre_error *error)
{
    char line[LINE];
    GIVEN(parts);
    if (length > 0)
        GIVEN(bytes);
    if (parts->done >= parts->count)
        return wfre_fail(error, WFRE_ERR_ARGUMENT, WFRE_NO_OFFSET,
                         "%s: it has all of its %zu parts", parts->path, parts->count);
    if (!wfre_write_fully(parts->bytes, bytes, length))
        return wfre_fail_errno(error, parts->part, "write");
    uint64_t hash = wfre_hash(bytes, length, parts->hash);
    int used =
        snprintf(line, sizeof line, "%" PRIu32 " %" PRIu64 " %" PRIu64 " %016" PRIx64 "\n",
                 parts->keys[parts->done], parts->items + items, parts->length + length, hash);
    if (!wfre_write_fully(parts->journal, line, (size_t)used))
        return wfre_fail_errno(error, parts->progress, "write");
    parts->done++;
    parts->items += items;
    parts->length += length;
    parts->hash = hash;
    return WFRE_OK;
}

wfre_status wfre_parts_finish(wfre_parts *parts, wfre_error *error)
{
    wfre_mapping bytes = {0};
    GIVEN(parts);
    if (parts->done < parts->count)
        return wfre_fail(error, WFRE_ERR_ARGUMENT, WFRE_NO_OFFSET, "%s: %zu of %zu parts are done",
                         parts->path, parts->done, parts->count);
    CHECK(wfre_map_file(parts->part, &bytes, error));
    if (bytes.length !=
        parts->length) { /* somebody else wrote, or a part that failed was repeated */
        wfre_unmap(&bytes);
        return wfre_fail(error, WFRE_ERR_MISMATCH, WFRE_NO_OFFSET,
                         "%s: it is not as long as what was written to it", parts->part);
    }
    wfre_status status = wfre_write_file(parts->path, bytes.bytes ? (const void *)bytes.bytes : "",
                                         bytes.length, error);
    wfre_unmap(&bytes);
    if (status != WFRE_OK)
        return status;
    (void)unlink(parts->part);
    (void)unlink(parts->progress);
    parts->taken_up = false;
    return WFRE_OK;
}

void wfre_parts_close(wfre_parts *parts)
{
    if (!parts)
        return;
    if (parts->taken_up && parts->done == 0) { /* nothing to go on from */
        (void)unlink(parts->part);
        (void)unlink(parts->progress);
    }
    if (parts->bytes != NOT_OPEN)
        close(parts->bytes);
    if (parts->journal != NOT_OPEN)
        close(parts->journal);
    wfre_lock_release(&parts->lock);
    wfre_free(parts->path);
    wfre_free(parts->part);
    wfre_free(parts->progress);
    wfre_free(parts->work);
    wfre_free(parts->keys);
    wfre_free(parts);
}
