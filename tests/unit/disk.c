/* src/base/disk.c and the writer on top of it: whole writes, temporaries, locks, private memory. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/disk.h"
#include "base/file.h"
#include "check.h"

/* ---- a folder for each test --------------------------------------------------------------- */

static char folder[32];

static char *inside(const char *name)
{
    char *path = wfre_path_join(folder, name);
    assert_non_null(path);
    return path;
}

static int make_folder(void **state)
{
    (void)state;
    strcpy(folder, "/tmp/wfre-disk-XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

/* How many files there are; removes them if asked to. */
static int count_files(bool clean)
{
    int count = 0;
    DIR *entries = opendir(folder);
    for (struct dirent *entry; (entry = readdir(entries));)
        if (entry->d_name[0] != '.') {
            char *path = inside(entry->d_name);
            count++;
            if (clean)
                unlink(path);
            wfre_free(path);
        }
    closedir(entries);
    return count;
}

static int remove_folder(void **state)
{
    (void)state;
    (void)count_files(true);
    return rmdir(folder);
}

/* ---- writing ------------------------------------------------------------------------------ */

/* A device without room, and a file size limit, are failures with a message, not deaths. */
static void test_full(void **state)
{
    (void)state;
    wfre_error error = {0};
    static char bytes[1 << 17];
    assert_int_equal(wfre_write_file("/dev/full", "whole", 5, &error), WFRE_ERR_IO);
    assert_string_equal(error.message, "/dev/full: cannot write: No space left on device");
    assert_int_equal(wfre_write_file("/dev/full", bytes, sizeof bytes, &error), WFRE_ERR_IO);
}

/* A pipe takes a part at a time, and signals interrupt: everything arrives all the same. */
static void ignore(int number)
{
    (void)number;
}

static void *drain(void *context)
{
    int fd = *(int *)context;
    size_t total = 0;
    unsigned char bytes[4096];
    for (ssize_t got; (got = read(fd, bytes, sizeof bytes)) > 0; total += (size_t)got)
        for (ssize_t i = 0; i < got; i++)
            if (bytes[i] != (unsigned char)((total + (size_t)i) * 7))
                return NULL;
    return (void *)(uintptr_t)total;
}

static void *disturb(void *context)
{
    pthread_t *target = context;
    for (int i = 0; i < 50; i++) {
        pthread_kill(*target, SIGUSR1);
        usleep(1000);
    }
    return NULL;
}

static void test_interrupted_writes(void **state)
{
    (void)state;
    enum { LENGTH = 1 << 20 };
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    unsigned char *bytes = malloc(LENGTH);
    for (size_t i = 0; i < LENGTH; i++)
        bytes[i] = (unsigned char)(i * 7);
    struct sigaction action = {.sa_handler = ignore}; /* without SA_RESTART */
    sigaction(SIGUSR1, &action, NULL);
    pthread_t self = pthread_self(), disturber, drainer;
    pthread_create(&disturber, NULL, disturb, &self);
    usleep(5000);
    pthread_create(&drainer, NULL, drain, &ends[0]);
    assert_true(wfre_write_fully(ends[1], bytes, LENGTH));
    close(ends[1]);
    void *total;
    pthread_join(drainer, &total);
    pthread_join(disturber, NULL);
    assert_int_equal((uintptr_t)total, LENGTH);
    close(ends[0]);
    free(bytes);
}

/* The process's umask decides, and is never touched: another thread would create files with it. */
static atomic_bool writing;

static void *create_files(void *context)
{
    char *path = inside("beside");
    size_t *open_to_all = context;
    while (atomic_load(&writing)) {
        struct stat info;
        int fd = open(path, O_CREAT | O_EXCL | O_WRONLY, 0666);
        if (fd >= 0 && fstat(fd, &info) == 0)
            *open_to_all += (info.st_mode & 0777) != 0640;
        close(fd);
        unlink(path);
    }
    wfre_free(path);
    return NULL;
}

static void test_umask(void **state)
{
    (void)state;
    mode_t before = umask(0027);
    size_t open_to_all = 0;
    pthread_t thread;
    char *path = inside("text");
    struct stat info;
    atomic_store(&writing, true);
    pthread_create(&thread, NULL, create_files, &open_to_all);
    for (int i = 0; i < 2000; i++) {
        wfre_writer writer;
        assert_ok(wfre_writer_open(&writer, path, error));
        wfre_writer_discard(&writer);
    }
    assert_ok(wfre_write_file(path, "whole", 5, error));
    atomic_store(&writing, false);
    pthread_join(thread, NULL);
    assert_int_equal(open_to_all, 0);
    assert_int_equal(stat(path, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0640);
    umask(before);
    wfre_free(path);
}

/* ---- temporaries -------------------------------------------------------------------------- */

/* Runs in a child that ends as if it were killed. */
static void leave_temporary(const char *path)
{
    pid_t child = fork();
    if (child == 0) {
        wfre_writer writer;
        if (wfre_writer_open(&writer, path, NULL) != WFRE_OK)
            _exit(1);
        kill(getpid(), SIGKILL);
    }
    assert_true(child > 0);
    assert_int_equal(waitpid(child, NULL, 0), child);
}

static void test_temporaries(void **state)
{
    (void)state;
    char *path = inside("text"), *other = inside("text.tmp-abcdefg"), *name = inside("textual");
    wfre_writer first, second;
    for (int i = 0; i < 3; i++)
        leave_temporary(path);
    leave_temporary(name);
    assert_int_equal(count_files(false), 2); /* each removes what the one before left */
    assert_ok(wfre_write_file(other, "", 0, error));
    /* What a living writer has is not touched, nor what only looks like a temporary. */
    assert_ok(wfre_writer_open(&first, path, error));
    assert_ok(wfre_writer_open(&second, path, error));
    assert_int_equal(count_files(false), 4);
    assert_ok(wfre_writer_put(&first, "1", 1, error));
    assert_ok(wfre_writer_put(&second, "2", 1, error));
    assert_ok(wfre_writer_commit(&first, error));
    assert_ok(wfre_writer_commit(&second, error));
    wfre_temporary_clean(name);
    assert_int_equal(count_files(false), 2); /* text, text.tmp-abcdefg */
    char *bytes;
    size_t length;
    assert_ok(wfre_read_all(path, 10, &bytes, &length, error));
    assert_string_equal(bytes, "2");
    wfre_free(bytes);
    wfre_free(path);
    wfre_free(other);
    wfre_free(name);
}

/* ---- locks -------------------------------------------------------------------------------- */

static void test_locks(void **state)
{
    (void)state;
    char *path = inside("m.lock");
    char expected[256];
    wfre_lock lock = {0}, again = {0};
    wfre_error error;
    wfre_lock_release(&lock);
    assert_int_equal(wfre_lock_take(&lock, path, "trains m", &error), WFRE_OK);
    assert_int_equal(wfre_lock_take(&again, path, "trains m", &error), WFRE_ERR_IO);
    (void)snprintf(expected, sizeof expected,
                   "process %ld trains m at this moment (%s is locked); wait for it, or name "
                   "another output",
                   (long)getpid(), path);
    assert_string_equal(error.message, expected);
    wfre_lock_release(&again);
    assert_int_equal(count_files(false), 1);
    wfre_lock_release(&lock);
    assert_int_equal(count_files(false), 0);
    /* A lock whose holder was killed is free. */
    pid_t child = fork();
    if (child == 0) {
        if (wfre_lock_take(&lock, path, "trains m", NULL) == WFRE_OK)
            kill(getpid(), SIGKILL);
        _exit(1);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(count_files(false), 1);
    assert_int_equal(wfre_lock_take(&lock, path, "trains m", &error), WFRE_OK);
    wfre_lock_release(&lock);
    wfre_free(path);
}

/* One of many threads at a time has it, though the file comes and goes. */
static atomic_int holders, most, taken;

static void *contend(void *context)
{
    for (int i = 0; i < 300; i++) {
        wfre_lock lock;
        if (wfre_lock_take(&lock, context, "works", NULL) != WFRE_OK)
            continue;
        int now = atomic_fetch_add(&holders, 1) + 1;
        if (now > atomic_load(&most))
            atomic_store(&most, now);
        atomic_fetch_add(&taken, 1);
        atomic_fetch_sub(&holders, 1);
        wfre_lock_release(&lock);
    }
    return NULL;
}

static void test_contended_lock(void **state)
{
    (void)state;
    char *path = inside("m.lock");
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, contend, path);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(atomic_load(&most), 1);
    assert_true(atomic_load(&taken) > 0);
    assert_int_equal(count_files(false), 0);
    wfre_free(path);
}

/* ---- reading ------------------------------------------------------------------------------ */

/* A small file is read: cut short while it is open, it stays what it was. */
static void test_private(void **state)
{
    (void)state;
    enum { LENGTH = 100000 };
    char *path = inside("bytes"), *bytes = malloc(LENGTH);
    memset(bytes, 'x', LENGTH);
    assert_ok(wfre_write_file(path, bytes, LENGTH, error));
    wfre_mapping read_once, mapped;
    assert_ok(wfre_map_file(path, &read_once, error));
    wfre_private_files(LENGTH - 1);
    assert_ok(wfre_map_file(path, &mapped, error));
    wfre_private_files((uint64_t)32 << 20);
    int fd = open(path, O_WRONLY);
    assert_int_equal(pwrite(fd, "y", 1, 5), 1);
    assert_int_equal(mapped.bytes[5], 'y');
    assert_int_equal(ftruncate(fd, 10), 0);
    close(fd);
    assert_int_equal(read_once.length, LENGTH);
    assert_memory_equal(read_once.bytes, bytes, LENGTH);
    wfre_unmap(&read_once);
    wfre_unmap(&mapped);
    free(bytes);
    wfre_free(path);
}

/* A file that cannot be opened for want of memory removes nothing, whatever freed memory holds:
 * here the name of another file, wherever an allocation may find it. */
static void test_no_memory(void **state)
{
    (void)state;
    char *victim = inside("victim"), *path = inside("out");
    assert_ok(wfre_write_file(victim, "kept", 4, error));
    for (uint64_t k = 1; k < 12; k++) {
        char *blocks[64];
        for (size_t i = 0; i < 64; i++) {
            blocks[i] = malloc(8 * (i + 1) + 32);
            assert_non_null(blocks[i]);
            strcpy(blocks[i], victim);
        }
        for (size_t i = 0; i < 64; i++)
            free(blocks[i]);
        wfre_alloc_fail_at(k);
        wfre_status status = wfre_write_file(path, "new", 3, NULL);
        wfre_alloc_fail_at(0);
        assert_true(status == WFRE_OK || status == WFRE_ERR_MEMORY);
        assert_true(wfre_file_exists(victim));
    }
    wfre_free(victim);
    wfre_free(path);
}

int main(void)
{
#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, make_folder, remove_folder)
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_full), cmocka_unit_test(test_interrupted_writes),
        IN_FOLDER(test_umask),       IN_FOLDER(test_temporaries),
        IN_FOLDER(test_locks),       IN_FOLDER(test_contended_lock),
        IN_FOLDER(test_private),     IN_FOLDER(test_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
