/* What the files of base/file.h stand on: system calls made whole, temporaries that tell whether
 * their writer lives, and locks.
 *
 * A temporary is locked (flock) for as long as its writer has it open. The kernel drops the lock
 * with the process, however that ends, so that one without a lock was left behind and may go. */
#ifndef WFRE_SRC_BASE_DISK_H
#define WFRE_SRC_BASE_DISK_H

#include <sys/types.h>

#include "base/error.h"

/* ---- calls that may do a part, or be interrupted by a signal ------------------------------ */

/* open, close-on-exec. -1 and errno on failure. */
int wfre_open_file(const char *path, int flags, mode_t mode);
/* False, and errno, unless all bytes were written. */
bool wfre_write_fully(int fd, const void *bytes, size_t length);
/* Up to `length` bytes, fewer only at the end of the file; -1 and errno on failure. */
ssize_t wfre_read_fully(int fd, void *bytes, size_t length);
bool wfre_sync_file(int fd);
/* Makes what was created, renamed or removed beside `path` durable. True also on file systems that
 * know no such thing, and in folders that may not be opened. */
bool wfre_sync_folder(const char *path);

/* ---- temporaries -------------------------------------------------------------------------- */

/* PATH.tmp-XXXXXX, the X being random letters and digits. */
enum { WFRE_TEMPORARY_SUFFIX = sizeof ".tmp-XXXXXX" - 1 };

/* Creates a temporary beside `path` and writes its name to `name`, which has room for
 * WFRE_TEMPORARY_SUFFIX more bytes than the path. Returns its locked descriptor, or -1 and errno.
 * The mode is what the process's umask leaves of rw-rw-rw-. */
int wfre_temporary_create(const char *path, char *name);

/* Removes the temporaries of `path` whose writers are gone. */
void wfre_temporary_clean(const char *path);

/* ---- locks -------------------------------------------------------------------------------- */

/* A file that one process or thread at a time can hold; it says by whom it is held. On a file
 * system without locks everybody can. */
typedef struct wfre_lock {
    int fd;
    char *path; /* NULL if it is not held */
} wfre_lock;

/* Fails with WFRE_ERR_IO, naming the process that has it, if another has the lock. `what` says what
 * the lock is for, such as "trains m.safetensors". */
WFRE_NODISCARD wfre_status wfre_lock_take(wfre_lock *lock, const char *path, const char *what,
                                          wfre_error *error);
/* Removes the file and lets go. Does nothing on a zeroed lock. */
void wfre_lock_release(wfre_lock *lock);

#endif
