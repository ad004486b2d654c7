/* src/base: errors, memory, text, hashing, random numbers, the pool, files. */
#include "check.h"

#include <assert.h>
#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "base/bf16.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/pool.h"
#include "base/rng.h"
#include "base/text.h"
#include "report/curve.h"

static void test_errors(void **state)
{
    (void)state;
    wfre_error error;
    assert_int_equal(wfre_fail(&error, WFRE_ERR_FORMAT, 7, "bad %s", "thing"), WFRE_ERR_FORMAT);
    assert_int_equal(error.code, WFRE_ERR_FORMAT);
    assert_int_equal(error.offset, 7);
    assert_string_equal(error.message, "bad thing");
    assert_int_equal(wfre_fail_within(&error, error.code, "a.tsv"), WFRE_ERR_FORMAT);
    assert_string_equal(error.message, "a.tsv: bad thing");
    assert_int_equal(wfre_fail(NULL, WFRE_ERR_IO, 0, "ignored"), WFRE_ERR_IO);
}

static void test_memory(void **state)
{
    (void)state;
    assert_null(wfre_alloc(SIZE_MAX / 2, 4));
    float *tensor = wfre_alloc_tensor(3, sizeof *tensor);
    assert_non_null(tensor);
    assert_int_equal((uintptr_t)tensor % 64, 0);
    assert_true(tensor[0] == 0.0f);
    wfre_free(tensor);

    wfre_alloc_fail_at(2);
    void *first = wfre_alloc(1, 1);
    assert_non_null(first);
    assert_null(wfre_alloc(1, 1));
    wfre_alloc_fail_at(0);
    wfre_free(first);

    wfre_arena arena = {0};
    for (int round = 0; round < 2; round++) {
        char *small = wfre_arena_text(&arena, "abc", 3);
        char *large = wfre_arena_alloc(&arena, 100000, 1);
        assert_string_equal(small, "abc");
        memset(large, 1, 100000);
        assert_int_equal((uintptr_t)large % 16, 0);
        wfre_arena_reset(&arena);
    }
    wfre_arena_free(&arena);
    wfre_arena_free(&arena);
}

static void test_text(void **state)
{
    (void)state;
    wfre_text text = {0};
    wfre_text_format(&text, "%d-%s", 42, "x");
    wfre_text_json(&text, "a\"\n\xC3\xA4\xFF", 6);
    assert_string_equal(text.data, "42-x\"a\\\"\\n\xC3\xA4\xEF\xBF\xBD\"");
    wfre_text_clear(&text);
    wfre_text_markup(&text, "<a&b>", 5);
    assert_string_equal(text.data, "&lt;a&amp;b&gt;");
    wfre_text_free(&text);
    assert_true(wfre_utf8_valid("\xF0\x9F\x98\x80", 4));
    assert_false(wfre_utf8_valid("\xED\xA0\x80", 3)); /* a surrogate */
    assert_false(wfre_utf8_valid("\xC0\x80", 2));     /* overlong */
}

static void test_strings(void **state)
{
    (void)state;
    wfre_strings strings = {0};
    char name[32];
    for (int round = 0; round < 2; round++)
        for (uint32_t i = 0; i < 5000; i++) {
            int length = snprintf(name, sizeof name, "name %u", i);
            uint32_t index;
            assert_ok(wfre_strings_intern(&strings, name, (size_t)length, &index, error));
            assert_int_equal(index, i);
        }
    assert_int_equal(wfre_strings_find(&strings, "name 17", 7), 17);
    assert_int_equal(wfre_strings_find(&strings, "name", 4), WFRE_NONE);
    size_t length;
    assert_memory_equal(wfre_strings_get(&strings, 4999, &length), "name 4999", 9);
    assert_int_equal(length, 9);
    wfre_strings_free(&strings);
}

/* Four pieces at once have the hashes that each has alone. */
static void test_four_hashes(void **state)
{
    (void)state;
    unsigned char bytes[4][100];
    uint64_t four[4];
    const void *const pieces[4] = {bytes[2], bytes[0], bytes[3], bytes[1]};
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i / 100][i % 100] = (unsigned char)wfre_mix64(i);
    for (size_t length = 0; length <= 100; length++) {
        wfre_hash_four(pieces, length, four);
        for (int k = 0; k < 4; k++)
            assert_true(four[k] == wfre_hash(pieces[k], length, 0));
    }
}

static void test_random(void **state)
{
    (void)state;
    wfre_rng a = wfre_rng_keyed(1, 2, 3), b = wfre_rng_keyed(1, 2, 3), c = wfre_rng_keyed(1, 2, 4);
    assert_true(wfre_rng_next(&a) == wfre_rng_next(&b));
    assert_true(wfre_rng_next(&a) != wfre_rng_next(&c));
    uint32_t seen[7] = {0};
    double sum = 0, squares = 0;
    for (int i = 0; i < 70000; i++) {
        seen[wfre_rng_below(&a, 7)]++;
        double normal = wfre_rng_normal(&a);
        sum += normal;
        squares += normal * normal;
        float uniform = wfre_rng_float(&a);
        assert_true(uniform >= 0 && uniform < 1);
    }
    for (int i = 0; i < 7; i++)
        assert_in_range(seen[i], 9500, 10500);
    assert_true(sum / 70000 > -0.02 && sum / 70000 < 0.02);
    assert_true(squares / 70000 > 0.97 && squares / 70000 < 1.03);
}

typedef struct tally {
    _Atomic uint32_t hits[1000];
    unsigned threads;
} tally;

static void count_chunk(void *context, size_t chunk, unsigned worker)
{
    tally *t = context;
    assert(worker < t->threads);
    atomic_fetch_add(&t->hits[chunk], 1);
}

static void test_bf16(void **state)
{
    (void)state;
    static const float values[] = {0, -0.0f, 1, 1.00390625f, 1.01171875f, 3.4e38f, INFINITY, -2.5f};
    static const float rounded[] = {0, -0.0f, 1, 1, 1.015625f, INFINITY, INFINITY, -2.5f};
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        float again = wfre_float_from_bf16(wfre_bf16_from_float(values[i]));
        assert_memory_equal(&again, &rounded[i], sizeof again);
    }
    const uint32_t low_payload = 0x7F800001; /* a NaN whose upper half alone is infinity */
    float nan;
    memcpy(&nan, &low_payload, sizeof nan);
    assert_true(isnan(wfre_float_from_bf16(wfre_bf16_from_float(nan))));
}

static void test_pool(void **state)
{
    (void)state;
    for (unsigned threads = 1; threads <= 7; threads += 3) {
        wfre_pool *pool;
        assert_ok(wfre_pool_create(threads, &pool, error));
        assert_int_equal(wfre_pool_threads(pool), threads);
        static tally t;
        memset(&t, 0, sizeof t);
        t.threads = threads;
        for (int round = 0; round < 50; round++)
            wfre_pool_run(pool, 1000, count_chunk, &t);
        for (int i = 0; i < 1000; i++)
            assert_int_equal(t.hits[i], 50);
        wfre_pool_free(pool);
    }
    wfre_pool_free(NULL);
}

static void *use_pool(void *context)
{
    wfre_pool *pool = context;
    tally *own = calloc(1, sizeof *own);
    bool right = own != NULL;
    for (int round = 0; own && round < 200; round++) {
        own->threads = 4;
        wfre_pool_run(pool, 1000, count_chunk, own);
        for (uint32_t i = 0; i < 1000; i++)
            right = right && own->hits[i] == (uint32_t)round + 1;
    }
    free(own);
    return right ? pool : NULL;
}

/* Two callers take turns. */
static void test_shared_pool(void **state)
{
    (void)state;
    wfre_pool *pool;
    pthread_t other;
    void *result;
    assert_ok(wfre_pool_create(4, &pool, error));
    assert_int_equal(pthread_create(&other, NULL, use_pool, pool), 0);
    assert_non_null(use_pool(pool));
    assert_int_equal(pthread_join(other, &result), 0);
    assert_non_null(result);
    wfre_pool_free(pool);
}

static void note_mask(void *context, size_t chunk, unsigned index)
{
    (void)chunk;
    sigset_t mask;
    pthread_sigmask(SIG_SETMASK, NULL, &mask);
    ((int *)context)[index] = sigismember(&mask, SIGINT);
}

/* Ctrl-C is for the thread that called, whatever the workers are doing. */
static void test_signals(void **state)
{
    (void)state;
    wfre_pool *pool;
    int masked[4] = {0, 1, 1, 1}; /* of those that took no chunk, too */
    assert_ok(wfre_pool_create(4, &pool, error));
    wfre_pool_run(pool, 10000, note_mask, masked);
    assert_int_equal(masked[0], 0);
    for (int i = 1; i < 4; i++)
        assert_int_equal(masked[i], 1);
    wfre_pool_free(pool);
}

/* What is not a regular file is written to, not replaced. */
static void test_pipes(void **state)
{
    (void)state;
    char folder[] = "/tmp/wfre-base-XXXXXX";
    assert_non_null(mkdtemp(folder));
    char *path = wfre_path_join(folder, "pipe");
    assert_int_equal(mkfifo(path, 0600), 0);
    int fd = open(path, O_RDWR | O_NONBLOCK);
    assert_true(fd >= 0);
    assert_ok(wfre_write_file(path, "whole", 5, error));
    char bytes[8];
    assert_int_equal(read(fd, bytes, sizeof bytes), 5);
    assert_memory_equal(bytes, "whole", 5);
    struct stat info;
    assert_int_equal(stat(path, &info), 0);
    assert_true(S_ISFIFO(info.st_mode));
    close(fd);
    unlink(path);
    rmdir(folder);
    wfre_free(path);
}

static void test_files(void **state)
{
    (void)state;
    char folder[] = "/tmp/wfre-base-XXXXXX";
    assert_non_null(mkdtemp(folder));
    char *path = wfre_path_join(folder, "text.gz");
    gzFile gz = gzopen(path, "wb");
    gzputs(gz, "\xEF\xBB\xBFone\r\n\ntwo");
    gzclose(gz);

    wfre_reader *reader;
    const char *line;
    size_t length;
    assert_ok(wfre_reader_open(path, &reader, error));
    const char *expected[] = {"one", "", "two"};
    for (int i = 0; i < 3; i++) {
        assert_ok(wfre_reader_line(reader, &line, &length, error));
        assert_int_equal(length, strlen(expected[i]));
        assert_memory_equal(line, expected[i], length);
        assert_int_equal(wfre_reader_line_number(reader), i + 1);
    }
    assert_ok(wfre_reader_line(reader, &line, &length, error));
    assert_null(line);
    wfre_reader_close(reader);

    /* A discarded writer leaves the old file and no temporary. */
    assert_ok(wfre_write_file(path, "whole", 5, error));
    wfre_writer writer;
    assert_ok(wfre_writer_open(&writer, path, error));
    assert_ok(wfre_writer_put(&writer, "half", 4, error));
    wfre_writer_discard(&writer);
    char *bytes;
    assert_ok(wfre_read_all(path, 100, &bytes, &length, error));
    assert_string_equal(bytes, "whole");
    wfre_free(bytes);
    assert_int_equal(wfre_read_all(path, 4, &bytes, &length, NULL), WFRE_ERR_FORMAT);

    wfre_mapping mapping;
    assert_ok(wfre_map_file(path, &mapping, error));
    assert_int_equal(mapping.length, 5);
    wfre_unmap(&mapping);
    wfre_unmap(&mapping);
    assert_int_equal(wfre_map_file(folder, &mapping, NULL), WFRE_ERR_IO);

    unlink(path);
    assert_int_equal(wfre_map_file(path, &mapping, NULL), WFRE_ERR_NOT_FOUND);
    assert_int_equal(rmdir(folder), 0);
    wfre_free(path);
}

/* Everything that a person reads: one line, nothing that rules a terminal or turns the writing. */
static void test_visible(void **state)
{
    (void)state;
    static const struct {
        const char *raw, *shown, *json, *markup;
    } cases[] = {
        {"d\xC3\xB6g \xF0\x9F\x90\x95", "d\xC3\xB6g \xF0\x9F\x90\x95",
         "\"d\xC3\xB6g \xF0\x9F\x90\x95\"", "d\xC3\xB6g \xF0\x9F\x90\x95"},
        {"\x1B[31m\n", "\\x1b[31m\\x0a", "\"\\u001b[31m\\n\"", "\xEF\xBF\xBD[31m\n"},
        {"\xC2\x9B", "\\x9b", "\"\\u009b\"", "\xEF\xBF\xBD"},
        {"\x7F\xFF", "\\x7f\\xff", "\"\\u007f\xEF\xBF\xBD\"", "\xEF\xBF\xBD\xEF\xBF\xBD"},
        {"\xE2\x80\xAE\xE2\x81\xA6", "\\u202e\\u2066", "\"\\u202e\\u2066\"",
         "\xEF\xBF\xBD\xEF\xBF\xBD"},
        {"\xE2\x80\x8F\xD8\x9C\xEF\xBB\xBF", "\\u200f\\u061c\\ufeff", "\"\\u200f\\u061c\\ufeff\"",
         "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD"},
        {"\xE2\x80\xA8", "\\u2028", "\"\\u2028\"", "\xEF\xBF\xBD"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        wfre_text shown = {0}, json = {0}, markup = {0};
        wfre_text_visible(&shown, cases[i].raw, strlen(cases[i].raw));
        wfre_text_json(&json, cases[i].raw, strlen(cases[i].raw));
        wfre_text_markup(&markup, cases[i].raw, strlen(cases[i].raw));
        assert_string_equal(shown.data, cases[i].shown);
        assert_string_equal(json.data, cases[i].json);
        assert_string_equal(markup.data, cases[i].markup);
        wfre_error error;
        (void)wfre_fail(&error, WFRE_ERR_FORMAT, 0, "%s", cases[i].raw);
        assert_string_equal(error.message, cases[i].shown);
        (void)wfre_fail_within(&error, WFRE_ERR_FORMAT, cases[i].raw);
        assert_null(strpbrk(error.message, "\x1B\n"));
        wfre_text_free(&shown);
        wfre_text_free(&json);
        wfre_text_free(&markup);
    }
    /* A message that is cut ends at a whole character. */
    wfre_error error;
    char long_text[2001];
    for (size_t shift = 0; shift < 4; shift++) {
        for (size_t i = 0; i + 1 < sizeof long_text; i++)
            long_text[i] = "\xF0\x9F\x90\x95"[(i + shift) % 4];
        long_text[sizeof long_text - 1] = '\0';
        (void)wfre_fail(&error, WFRE_ERR_FORMAT, 0, "%s", long_text + (4 - shift) % 4);
        assert_true(strlen(error.message) > 1000);
        assert_true(wfre_utf8_valid(error.message, strlen(error.message)));
        assert_null(strchr(error.message, '\\'));
    }
}

/* A run that went back to a checkpoint did the steps after it again. */
static void test_curve(void **state)
{
    (void)state;
    static const char log[] =
        "{\"step\": 1, \"loss\": 9}\n{\"step\": 2, \"loss\": 8}\n"
        "{\"step\": 2, \"mrr\": 0.1}\n{\"step\": 3, \"loss\": 7}\n"
        "{\"step\": 2, \"loss\": 6}\n{\"step\": 4, \"loss\": 5}\n{\"step\": 4";
    static const double steps[] = {1, 2, 4}, losses[] = {9, 6, 5};
    char folder[] = "/tmp/wfre-base-XXXXXX";
    assert_non_null(mkdtemp(folder));
    char *path = wfre_path_join(folder, "log.jsonl");
    wfre_curve curve = {0};
    assert_ok(wfre_write_file(path, log, sizeof log - 1, error));
    assert_ok(wfre_curve_read(&curve, path, error));
    assert_int_equal(curve.loss.count, 3);
    assert_memory_equal(curve.loss.step, steps, sizeof steps);
    assert_memory_equal(curve.loss.value, losses, sizeof losses);
    assert_int_equal(curve.mrr.count, 1);
    wfre_curve_free(&curve);
    unlink(path);
    assert_int_equal(rmdir(folder), 0);
    wfre_free(path);
}

/* No two purposes draw the same numbers, for small seeds and steps. */
static void test_purposes(void **state)
{
    (void)state;
    enum { PURPOSES = WFRE_FOR_HIERARCHY + 1, SEEDS = 3, STEPS = 8 };
    uint64_t seen[PURPOSES * SEEDS * STEPS + PURPOSES];
    size_t count = 0;
    for (int p = 0; p < PURPOSES; p++) {
        wfre_rng fixed = wfre_rng_fixed((wfre_draw)(p + STEPS), 0);
        seen[count++] = wfre_rng_next(&fixed);
        for (uint64_t seed = 0; seed < SEEDS; seed++)
            for (uint64_t step = 0; step < STEPS; step++) {
                wfre_rng rng = wfre_rng_for(seed, (wfre_draw)p, step, 0);
                seen[count++] = wfre_rng_next(&rng);
            }
    }
    for (size_t i = 0; i < count; i++)
        for (size_t k = i + 1; k < count; k++)
            assert_true(seen[i] != seen[k]);
    assert_true(wfre_seed_for(1, WFRE_FOR_VALIDATION) != wfre_seed_for(1, WFRE_FOR_FITTING));
    assert_true(wfre_seed_for(1, WFRE_FOR_VALIDATION) >> 53 == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_errors),      cmocka_unit_test(test_memory),
        cmocka_unit_test(test_text),        cmocka_unit_test(test_strings),
        cmocka_unit_test(test_four_hashes), cmocka_unit_test(test_random),
        cmocka_unit_test(test_pool),        cmocka_unit_test(test_files),
        cmocka_unit_test(test_pipes),       cmocka_unit_test(test_bf16),
        cmocka_unit_test(test_visible),     cmocka_unit_test(test_curve),
        cmocka_unit_test(test_shared_pool), cmocka_unit_test(test_signals),
        cmocka_unit_test(test_purposes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
