/* Files: map one for reading, replace one atomically, read lines of plain or gzip text.
 *
 * A half-written file is never taken for a whole one: a writer works on a temporary beside its
 * target, and only wfre_writer_commit (flush, fsync, rename, fsync of the folder) makes it visible.
 */
#ifndef WFRE_SRC_BASE_FILE_H
#define WFRE_SRC_BASE_FILE_H

#include <stdio.h>

#include "base/error.h"

/* ---- mapping ------------------------------------------------------------------------------ */

typedef struct wfre_mapping {
    const unsigned char *bytes; /* NULL for an empty file */
    size_t length;
} wfre_mapping;

/* The bytes of a whole regular file, read-only. A file of up to wfre_private_files bytes is read
 * into private memory, where nothing can change it; a larger one is mapped, and no page of it is
 * read before it is touched. */
WFRE_NODISCARD wfre_status wfre_map_file(const char *path, wfre_mapping *mapping,
                                         wfre_error *error);
/* Makes the pages with these bytes of a mapping our own: whoever writes into the file later does
 * not change them. What is checked once stays true then. The file being cut short takes them away
 * all the same, and where the kernel (Linux before 5.14) cannot do it nothing happens. Harmless on
 * any other memory. */
void wfre_own_pages(const void *bytes, size_t length);
void wfre_unmap(wfre_mapping *mapping);

/* ---- atomic replacement ------------------------------------------------------------------- */

typedef struct wfre_writer {
    int fd;
    bool opened;
    char *path;
    char *temporary; /* empty if the path is written to directly */
    char *buffer;    /* what is not written yet */
    size_t used;
} wfre_writer;

/* Zero-initialise, open, write, then commit or discard. A device or pipe in the place of a file,
 * and standard output, which the path "-" is, are written to directly. wfre_writer_discard after a
 * commit, or on a zeroed writer, does nothing, so `cleanup:` may always call it. Temporaries that
 * killed processes left of this path are removed when it is opened again. */
WFRE_NODISCARD wfre_status wfre_writer_open(wfre_writer *writer, const char *path,
                                            wfre_error *error);
WFRE_NODISCARD wfre_status wfre_writer_put(wfre_writer *writer, const void *bytes, size_t length,
                                           wfre_error *error);
/* What is put next goes over the beginning of the file, which must not be a pipe. */
WFRE_NODISCARD wfre_status wfre_writer_rewind(wfre_writer *writer, wfre_error *error);
WFRE_NODISCARD wfre_status wfre_writer_commit(wfre_writer *writer, wfre_error *error);
void wfre_writer_discard(wfre_writer *writer);

/* Fails now, not after long work, if the path cannot be written to. Leaves what is there alone. */
WFRE_NODISCARD wfre_status wfre_probe_output(const char *path, wfre_error *error);

/* The same for a path that is to be read again: what is there must be a regular file. */
WFRE_NODISCARD wfre_status wfre_probe_regular(const char *path, wfre_error *error);

/* wfre_write_file, in wfre/base.h, does all of it for bytes in memory. */

/* ---- byte and line input ------------------------------------------------------------------ */

/* Reads plain or gzip data (told apart by its first bytes); the path "-" is standard input. A pipe
 * is read once it has a writer; one that nobody writes to is refused after two seconds. Of gzip
 * data every member is read, and anything else behind them is an error. */
typedef struct wfre_reader wfre_reader;

/* What messages call a path: "standard input" for "-". */
const char *wfre_input_name(const char *path);

WFRE_NODISCARD wfre_status wfre_reader_open(const char *path, wfre_reader **reader,
                                            wfre_error *error);
void wfre_reader_close(wfre_reader *reader);
/* The wfre_input_name of its path. */
const char *wfre_reader_name(const wfre_reader *reader);

/* Up to `capacity` bytes; *length 0 means the end. */
WFRE_NODISCARD wfre_status wfre_reader_read(wfre_reader *reader, void *bytes, size_t capacity,
                                            size_t *length, wfre_error *error);

/* The length of the UTF-8 byte order mark that the text begins with; 0 if it has none. */
size_t wfre_byte_order_mark(const char *bytes, size_t length);

/* The next line without its end (LF or CRLF), valid until the next call; *line is NULL at the end.
 * A byte order mark in front of a line, where some editors put one and where files were joined, is
 * left out. Lines count from 1. A line over WFRE_LINE_LIMIT bytes is an error. Do not mix with
 * _read. */
enum { WFRE_LINE_LIMIT = 1 << 20 };
WFRE_NODISCARD wfre_status wfre_reader_line(wfre_reader *reader, const char **line, size_t *length,
                                            wfre_error *error);
/* How many bytes of the file were taken: of gzip data less than were returned. */
uint64_t wfre_reader_raw_bytes(const wfre_reader *reader);
/* The number of the line last returned. */
uint64_t wfre_reader_line_number(const wfre_reader *reader);

/* The whole contents, NUL-terminated; release with wfre_free. Fails beyond `limit` bytes. */
WFRE_NODISCARD wfre_status wfre_read_all(const char *path, size_t limit, char **bytes,
                                         size_t *length, wfre_error *error);

/* ---- paths -------------------------------------------------------------------------------- */

bool wfre_is_folder(const char *path);
bool wfre_file_exists(const char *path);
/* "folder/name" as new memory (wfre_free), NULL when out of memory. */
char *wfre_path_join(const char *folder, const char *name);

#endif
