/* A zip file is read from its end: the end record says where the directory is, the directory where
 * each member is. Archives over 4 GiB have a second end record and longer numbers in extra fields.
 * Every number is checked against the length of the file before it is followed. */
#include "base/archive.h"

#include <string.h>
#include <zlib.h>

#include "base/memory.h"

enum {
    LOCAL_SIZE = 30,
    ENTRY_SIZE = 46,
    END_SIZE = 22,
    END64_SIZE = 56,
    LOCATOR_SIZE = 20,
    LONGEST_COMMENT = 65535,
};

static const uint32_t LOCAL_MARK = 0x04034b50, ENTRY_MARK = 0x02014b50, END_MARK = 0x06054b50,
                      END64_MARK = 0x06064b50, LOCATOR_MARK = 0x07064b50;

struct wfre_archive {
    wfre_mapping file;
    wfre_archive_member *members;
    size_t count;
};

/* A little-endian number of `width` bytes at a place that is known to be in the file. */
static uint64_t number(const wfre_mapping *file, size_t at, unsigned width)
{
    uint64_t value = 0;
    for (unsigned i = 0; i < width; i++)
        value |= (uint64_t)file->bytes[at + i] << 8 * i;
    return value;
}

static bool inside(const wfre_mapping *file, uint64_t at, uint64_t length)
{
    return at <= file->length && length <= file->length - at;
}

bool wfre_archive_recognises(const void *head, size_t length)
{
    return length >= 4 && memcmp(head, "PK\x03\x04", 4) == 0;
}

static wfre_status damaged(const char *path, const char *what, size_t at, wfre_error *error)
{
    return wfre_fail(error, WFRE_ERR_FORMAT, at, "%s: damaged zip archive: %s at byte %zu", path,
                     what, at);
}

typedef struct directory {
    uint64_t at, length, count;
} directory;

/* From the end record, or from the second one where the first has no room for the numbers. */
static bool find_directory(const wfre_mapping *file, directory *found)
{
    for (size_t back = END_SIZE; back <= file->length && back <= END_SIZE + LONGEST_COMMENT;
         back++) {
        size_t at = file->length - back;
        if (number(file, at, 4) != END_MARK)
            continue;
        *found = (directory){number(file, at + 16, 4), number(file, at + 12, 4),
                             number(file, at + 10, 2)};
        if (at >= LOCATOR_SIZE && number(file, at - LOCATOR_SIZE, 4) == LOCATOR_MARK) {
            uint64_t end = number(file, at - LOCATOR_SIZE + 8, 8);
            if (!inside(file, end, END64_SIZE) || number(file, (size_t)end, 4) != END64_MARK)
                return false;
            *found =
                (directory){number(file, (size_t)end + 48, 8), number(file, (size_t)end + 40, 8),
                            number(file, (size_t)end + 32, 8)};
        }
        return inside(file, found->at, found->length) && found->count <= found->length / ENTRY_SIZE;
    }
    return false;
}

/* The numbers of an entry that do not fit into it stand in its extra field 1, in this order. */
static void read_long_numbers(const wfre_mapping *file, size_t at, size_t end, uint64_t *length,
                              uint64_t *stored, uint64_t *place)
{
    while (at + 4 <= end) {
        size_t size = (size_t)number(file, at + 2, 2), next = at + 4 + size;
        if (next > end)
            return;
        if (number(file, at, 2) == 1) {
            uint64_t *const wanted[] = {length, stored, place};
            size_t from = at + 4;
            for (int i = 0; i < 3; i++)
                if (*wanted[i] == UINT32_MAX && from + 8 <= next) {
                    *wanted[i] = number(file, from, 8);
                    from += 8;
                }
            return;
        }
        at = next;
    }
}

/* Reads the entry at *at and moves on. */
static wfre_status read_entry(const wfre_archive *archive, const char *path, size_t *at, size_t end,
                              wfre_archive_member *member, wfre_error *error)
{
    const wfre_mapping *file = &archive->file;
    size_t from = *at;
    if (end - from < ENTRY_SIZE || number(file, from, 4) != ENTRY_MARK)
        return damaged(path, "no entry of the directory", from, error);
    size_t name = (size_t)number(file, from + 28, 2), extra = (size_t)number(file, from + 30, 2);
    size_t size = ENTRY_SIZE + name + extra + (size_t)number(file, from + 32, 2);
    if (end - from < size)
        return damaged(path, "an entry that is cut off", from, error);
    uint64_t stored = number(file, from + 20, 4), length = number(file, from + 24, 4);
    uint64_t place = number(file, from + 42, 4);
    read_long_numbers(file, from + ENTRY_SIZE + name, from + ENTRY_SIZE + name + extra, &length,
                      &stored, &place);
    if (number(file, from + 10, 2) != 0 || stored != length)
        return damaged(path, "a member that is compressed or encrypted", from, error);
    if (!inside(file, place, LOCAL_SIZE) || number(file, (size_t)place, 4) != LOCAL_MARK)
        return damaged(path, "an entry without its member", from, error);
    uint64_t begin = place + LOCAL_SIZE + number(file, (size_t)place + 26, 2) +
                     number(file, (size_t)place + 28, 2);
    if (!inside(file, begin, length))
        return damaged(path, "a member that is cut off", from, error);
    *member = (wfre_archive_member){(const char *)file->bytes + from + ENTRY_SIZE, name,
                                    file->bytes + begin, (size_t)length,
                                    (uint32_t)number(file, from + 16, 4)};
    *at = from + size;
    return WFRE_OK;
}

wfre_status wfre_archive_open(const char *path, wfre_archive **result, wfre_error *error)
{
    wfre_status status = WFRE_OK;
    directory found;
    wfre_archive *archive = wfre_alloc_zero(1, sizeof *archive);
    if (!archive)
        return wfre_fail_memory(error, "opening an archive");
    TRY(wfre_map_file(path, &archive->file, error));
    if (!find_directory(&archive->file, &found)) {
        status = wfre_fail(error, WFRE_ERR_FORMAT, WFRE_NO_OFFSET,
                           "%s: not a whole zip archive; copy it again", path);
        goto cleanup;
    }
    archive->members = wfre_alloc_zero((size_t)found.count + 1, sizeof *archive->members);
    if (!archive->members) {
        status = wfre_fail_memory(error, "opening an archive");
        goto cleanup;
    }
    size_t at = (size_t)found.at, end = at + (size_t)found.length;
    for (; archive->count < found.count; archive->count++)
        TRY(read_entry(archive, path, &at, end, &archive->members[archive->count], error));
    *result = archive;
    archive = NULL;
cleanup:
    wfre_archive_close(archive);
    return status;
}

void wfre_archive_close(wfre_archive *archive)
{
    if (!archive)
        return;
    wfre_unmap(&archive->file);
    wfre_free(archive->members);
    wfre_free(archive);
}

size_t wfre_archive_count(const wfre_archive *archive)
{
    return archive->count;
}

const wfre_archive_member *wfre_archive_member_at(const wfre_archive *archive, size_t index)
{
    return &archive->members[index];
}

bool wfre_archive_is_whole(const wfre_archive_member *member)
{
    return crc32_z(crc32_z(0, NULL, 0), member->bytes, member->length) == member->checksum;
}
