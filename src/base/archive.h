/* Zip archives whose members are stored as they are, read in place: what PyTorch writes. */
#ifndef WFRE_SRC_BASE_ARCHIVE_H
#define WFRE_SRC_BASE_ARCHIVE_H

#include "base/file.h"

typedef struct wfre_archive wfre_archive;

typedef struct wfre_archive_member {
    const char *name; /* not NUL-terminated */
    size_t name_length;
    const unsigned char *bytes; /* live as long as the archive */
    size_t length;
    uint32_t checksum;
} wfre_archive_member;

/* Whether a file that begins with these bytes may be one. */
bool wfre_archive_recognises(const void *head, size_t length);

/* Maps the file; takes memory for the names and places of its members alone. */
WFRE_NODISCARD wfre_status wfre_archive_open(const char *path, wfre_archive **archive,
                                             wfre_error *error);
void wfre_archive_close(wfre_archive *archive);
size_t wfre_archive_count(const wfre_archive *archive);
const wfre_archive_member *wfre_archive_member_at(const wfre_archive *archive, size_t index);
/* Whether the bytes are those of which the directory has the checksum; reads all of them. */
bool wfre_archive_is_whole(const wfre_archive_member *member);

#endif
