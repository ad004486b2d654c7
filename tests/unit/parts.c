/* wfre_parts: an output written part by part, that goes on where it was left. */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/memory.h"
#include "check.h"

static const uint32_t KEYS[] = {4, 7, 2};
static const char *const TEXTS[] = {"four\n", "", "two\nand a half\n"};
enum { COUNT = 3 };

static char folder[32];
static char *output, *part, *progress, *lock;

static int make_folder(void **state)
{
    (void)state;
    strcpy(folder, "/tmp/wfre-parts-XXXXXX");
    if (!mkdtemp(folder))
        return -1;
    output = wfre_path_join(folder, "out");
    part = wfre_path_join(folder, "out.part");
    progress = wfre_path_join(folder, "out.progress");
    lock = wfre_path_join(folder, "out.lock");
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    char *const paths[] = {output, part, progress, lock};
    for (int i = 0; i < 4; i++) {
        (void)unlink(paths[i]);
        wfre_free(paths[i]);
    }
    return rmdir(folder);
}

static wfre_parts *open_parts(size_t expected)
{
    wfre_parts *parts;
    assert_ok(wfre_parts_open(output, "work", KEYS, COUNT, &parts, error));
    assert_int_equal(wfre_parts_done(parts), expected);
    return parts;
}

/* Adds the parts that are left, up to `end`. */
static void add_up_to(wfre_parts *parts, size_t end)
{
    for (size_t i = wfre_parts_done(parts); i < end; i++)
        assert_ok(wfre_parts_add(parts, TEXTS[i], strlen(TEXTS[i]), 10 + i, error));
}

static void begin(size_t count)
{
    wfre_parts *parts = open_parts(0);
    add_up_to(parts, count);
    wfre_parts_close(parts);
}

/* Does what is left, and looks whether the file is as it should be, alone. */
static void go_on(size_t expected)
{
    char *bytes;
    size_t length;
    wfre_parts *parts = open_parts(expected);
    add_up_to(parts, COUNT - 1);
    if (wfre_parts_done(parts) < COUNT)
        assert_int_equal(wfre_parts_finish(parts, NULL), WFRE_ERR_ARGUMENT);
    add_up_to(parts, COUNT);
    assert_int_equal(wfre_parts_items(parts), 10 + 11 + 12);
    assert_int_equal(wfre_parts_add(parts, "", 0, 0, NULL), WFRE_ERR_ARGUMENT);
    assert_ok(wfre_parts_finish(parts, error));
    wfre_parts_close(parts);
    assert_ok(wfre_read_all(output, 100, &bytes, &length, error));
    assert_string_equal(bytes, "four\ntwo\nand a half\n");
    wfre_free(bytes);
    assert_false(wfre_file_exists(part) || wfre_file_exists(progress) || wfre_file_exists(lock));
}

static void test_goes_on(void **state)
{
    (void)state;
    for (size_t done = 0; done <= COUNT; done++) {
        begin(done);
        assert_int_equal(wfre_file_exists(part), done > 0);
        go_on(done);
        assert_int_equal(unlink(output), 0);
    }
}

/* A journal cut anywhere, and parts cut or changed anywhere, cost what they were cut off from, and
 * never give another file. */
static void test_damage(void **state)
{
    (void)state;
    struct stat info;
    const char *const damaged[] = {progress, part};
    for (int file = 0; file < 2; file++)
        for (off_t length = 0;; length++) {
            begin(COUNT);
            assert_int_equal(stat(damaged[file], &info), 0);
            if (length > info.st_size) {
                go_on(COUNT);
                break;
            }
            assert_int_equal(truncate(damaged[file], length), 0);
            wfre_parts *parts;
            assert_ok(wfre_parts_open(output, "work", KEYS, COUNT, &parts, error));
            size_t done = wfre_parts_done(parts);
            assert_true(length < info.st_size ? done < COUNT : done == COUNT);
            wfre_parts_close(parts);
            go_on(done);
        }
    begin(COUNT);
    int fd = open(part, O_WRONLY);
    assert_int_equal(pwrite(fd, "T", 1, 5), 1); /* "Two" where "two" was */
    close(fd);
    go_on(2);
}

/* What somebody else wrote between is not taken for the output. */
static void test_meddling(void **state)
{
    (void)state;
    wfre_parts *parts = open_parts(0);
    add_up_to(parts, COUNT);
    int fd = open(part, O_WRONLY | O_APPEND);
    assert_int_equal(write(fd, "more", 4), 4);
    close(fd);
    assert_int_equal(wfre_parts_finish(parts, NULL), WFRE_ERR_MISMATCH);
    assert_false(wfre_file_exists(output));
    wfre_parts_close(parts);
    go_on(COUNT);
}

/* What others left is refused, and stays. */
static void test_others(void **state)
{
    (void)state;
    wfre_parts *parts;
    wfre_error why;
    begin(2);
    assert_int_equal(wfre_parts_open(output, "other work", KEYS, COUNT, &parts, &why),
                     WFRE_ERR_MISMATCH);
    assert_non_null(strstr(why.message, "another run"));
    assert_int_equal(wfre_parts_open(output, "wor", KEYS, COUNT, &parts, &why), WFRE_ERR_MISMATCH);
    wfre_parts *first = open_parts(2);
    assert_int_equal(wfre_parts_open(output, "work", KEYS, COUNT, &parts, &why), WFRE_ERR_IO);
    assert_non_null(strstr(why.message, "at this moment"));
    wfre_parts_close(first);
    const uint32_t others[] = {4, 8, 2}; /* the second part is of something else now */
    assert_ok(wfre_parts_open(output, "work", others, COUNT, &parts, error));
    assert_int_equal(wfre_parts_done(parts), 1);
    wfre_parts_close(parts);
    go_on(1);
}

/* Neither a pipe nor a link in the place of a file beside the output. */
static void test_no_files_of_ours(void **state)
{
    (void)state;
    wfre_parts *parts;
    assert_int_equal(mkfifo(progress, 0600), 0);
    assert_int_equal(wfre_parts_open(output, "work", KEYS, COUNT, &parts, NULL), WFRE_ERR_IO);
    assert_int_equal(unlink(progress), 0);
    assert_int_equal(symlink("elsewhere", part), 0);
    assert_int_equal(wfre_parts_open(output, "work", KEYS, COUNT, &parts, NULL), WFRE_ERR_IO);
    assert_int_equal(unlink(part), 0);
    go_on(0);
}

static void test_misuse(void **state)
{
    (void)state;
    wfre_parts *parts;
    assert_int_equal(wfre_parts_open(NULL, "w", KEYS, 1, &parts, NULL), WFRE_ERR_ARGUMENT);
    assert_int_equal(wfre_parts_open(output, NULL, KEYS, 1, &parts, NULL), WFRE_ERR_ARGUMENT);
    assert_int_equal(wfre_parts_open(output, "w", NULL, 1, &parts, NULL), WFRE_ERR_ARGUMENT);
    assert_int_equal(wfre_parts_open(output, "w", KEYS, 1, NULL, NULL), WFRE_ERR_ARGUMENT);
    assert_int_equal(wfre_parts_add(NULL, "", 0, 0, NULL), WFRE_ERR_ARGUMENT);
    assert_int_equal(wfre_parts_finish(NULL, NULL), WFRE_ERR_ARGUMENT);
    wfre_parts_close(NULL);
}

static void test_memory(void **state)
{
    (void)state;
    wfre_parts *parts;
    wfre_status status = WFRE_ERR_MEMORY;
    begin(2);
    for (uint64_t k = 1; status != WFRE_OK; k++) {
        wfre_alloc_fail_at(k);
        status = wfre_parts_open(output, "work", KEYS, COUNT, &parts, NULL);
        wfre_alloc_fail_at(0);
        assert_true(status == WFRE_OK || status == WFRE_ERR_MEMORY);
    }
    wfre_parts_close(parts);
    go_on(2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_goes_on, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_damage, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_meddling, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_others, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_no_files_of_ours, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_misuse, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_memory, make_folder, remove_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
