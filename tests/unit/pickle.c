/* src/base/pickle: what Python writes is read; what would run code or burst the reader is not. */
#include "check.h"

#include <sys/resource.h>
#include <unistd.h>
#include <zlib.h>

#include "base/file.h"
#include "base/pickle.h"
#include "base/text.h"

/* Writes a value as Python would print it, sets in file order. */
static void print_value(wfre_text *text, wfre_pickle_value value)
{
    static const char *const brackets[] = {[WFRE_PICKLE_TUPLE] = "()",
                                           [WFRE_PICKLE_LIST] = "[]",
                                           [WFRE_PICKLE_SET] = "<>",
                                           [WFRE_PICKLE_DICT] = "{}"};
    if (value.kind == WFRE_PICKLE_INT) {
        wfre_text_format(text, "%lld", (long long)value.number);
    } else if (value.kind == WFRE_PICKLE_STR) {
        wfre_text_json(text, value.body->text, value.body->count);
    } else {
        wfre_text_char(text, brackets[value.kind][0]);
        for (size_t i = 0; i < value.body->count; i++) {
            if (i > 0)
                wfre_text_char(text, value.kind == WFRE_PICKLE_DICT && i % 2 ? ':' : ',');
            print_value(text, value.body->items[i]);
        }
        wfre_text_char(text, brackets[value.kind][1]);
    }
}

static void expect(const char *bytes, size_t length, const char *printed)
{
    wfre_pickle pickle;
    wfre_text text = {0};
    assert_ok(wfre_pickle_parse(&pickle, bytes, length, error));
    print_value(&text, pickle.root);
    assert_string_equal(text.data, printed);
    wfre_text_free(&text);
    wfre_pickle_free(&pickle);
    wfre_pickle_free(&pickle);
}

#define EXPECT(bytes, printed) expect(bytes, sizeof bytes - 1, printed)

static void refuse(const char *bytes, size_t length, size_t offset, const char *words)
{
    wfre_pickle pickle;
    wfre_error error;
    assert_int_equal(wfre_pickle_parse(&pickle, bytes, length, &error), WFRE_ERR_FORMAT);
    assert_int_equal(error.offset, offset);
    if (!strstr(error.message, words))
        fail_msg("'%s' does not say '%s'", error.message, words);
}

#define REFUSE(bytes, offset, words) refuse(bytes, sizeof bytes - 1, offset, words)

/* pickle.dumps of one value in protocols 2, 3 and 4:
 * d = defaultdict(set, {(1, (2, -2)): {70000}, ('e', ('r',)): set()})
 * [d, {'a': 300, 'ä': -1}, (), (1, 2, 3, 4), [7], 2**40] */
#define PROTOCOL_2                                                                                 \
    "\x80\x02]q\x00(ccollections\ndefaultdict\nq\x01"                                              \
    "c__builtin__\nset\nq\x02\x85q\x03Rq\x04("                                                     \
    "K\x01K\x02J\xfe\xff\xff\xff\x86q\x05\x86q\x06h\x02]q\x07J\x70\x11\x01\x00"                    \
    "a\x85q\x08Rq\tX\x01\x00\x00\x00"                                                              \
    "eq\nX\x01\x00\x00\x00rq\x0b\x85q\x0c\x86q\rh\x02]q\x0e\x85q\x0fRq\x10u}q\x11("                \
    "X\x01\x00\x00\x00"                                                                            \
    "aq\x12M,\x01X\x02\x00\x00\x00\xc3\xa4q\x13J\xff\xff\xff\xffu)(K\x01K\x02K\x03K\x04tq\x14]"    \
    "q\x15K\x07"                                                                                   \
    "a\x8a\x06\x00\x00\x00\x00\x00\x01"                                                            \
    "e."
#define PROTOCOL_4                                                                                 \
    "\x80\x04\x95\xab\x00\x00\x00\x00\x00\x00\x00]\x94(\x8c\x0b"                                   \
    "collections\x94\x8c\x0b"                                                                      \
    "defaultdict\x94\x93\x94\x8c\x08"                                                              \
    "builtins\x94\x8c\x03set\x94\x93\x94\x85\x94R\x94("                                            \
    "K\x01K\x02J\xfe\xff\xff\xff\x86\x94\x86\x94\x8f\x94(J\x70\x11\x01\x00\x90\x8c\x01"            \
    "e\x94\x8c\x01r\x94\x85\x94\x86\x94\x8f\x94u}\x94(\x8c\x01"                                    \
    "a\x94M,\x01\x8c\x02\xc3\xa4\x94J\xff\xff\xff\xffu)(K\x01K\x02K\x03K\x04t\x94]\x94K\x07"       \
    "a\x8a\x06\x00\x00\x00\x00\x00\x01"                                                            \
    "e."
static const char PRINTED[] =
    "[{(1,(2,-2)):<70000>,(\"e\",(\"r\")):<>},{\"a\":300,\"\xc3\xa4\":-1},"
    "(),(1,2,3,4),[7],1099511627776]";

static void test_values(void **state)
{
    (void)state;
    EXPECT(PROTOCOL_2, PRINTED);
    EXPECT(PROTOCOL_4, PRINTED);
    EXPECT("\x80\x02K\x05.", "5");
    EXPECT("\x80\x02\x8a\x00.", "0");
    EXPECT("\x80\x02\x8a\x08\xff\xff\xff\xff\xff\xff\xff\xff.", "-1");
    EXPECT("\x80\x02U\x02hi.", "\"hi\"");
    EXPECT("\x80\x02}K\x01K\x02s.", "{1:2}");
}

/* A shared value counts as one object but may be used again and again. */
static void test_shared(void **state)
{
    (void)state;
    EXPECT("\x80\x04](K\x01K\x02\x86\x94h\x00h\x00"
           "e.",
           "[(1,2),(1,2),(1,2)]");
}

static void test_forbidden(void **state)
{
    (void)state;
    REFUSE("\x80\x04\x8c\x02os\x8c\x06system\x93\x8c\x02ls\x85R.", 14, "os.system at byte 14");
    REFUSE("\x80\x02"
           "cos\nsystem\n(U\x02lstR.",
           2, "os.system at byte 2");
    REFUSE("\x80\x02"
           "N.",
           2, "opcode NONE at byte 2");
    REFUSE("\x80\x02"
           "K\x01G@\x09!\xfbTD-\x18\x86.",
           4, "opcode BINFLOAT at byte 4");
    REFUSE("\x80\x02"
           "cbuiltins\nset\n)\x81.",
           17, "opcode NEWOBJ");
    REFUSE("\x80\x02\xff.", 2, "no opcode 0xff");
    REFUSE("(lp0\n.", 0, "not a pickle of protocol 2");
    REFUSE("\x80\x09K\x01.", 0, "unknown protocol");
    REFUSE("\x80\x02"
           "cbuiltins\nset\n.",
           16, "a class used as a value");
    REFUSE("\x80\x02"
           "cbuiltins\nset\n\x85.",
           17, "a class used as a value");
    REFUSE("\x80\x02"
           "cbuiltins\nset\n\x85\x85.",
           17, "a class used as a value");
    REFUSE("\x80\x02"
           "cbuiltins\nint\nK\x01\x85R.",
           19, "a call that data does not need");
}

static void test_malformed(void **state)
{
    (void)state;
    REFUSE("", 0, "not a pickle");
    REFUSE("\x80\x02.", 2, "no single value");
    REFUSE("\x80\x02K\x01K\x02.", 6, "no single value");
    REFUSE("\x80\x02(K\x01.", 5, "no single value");
    REFUSE("\x80\x02K\x01.K", 4, "more bytes behind the end");
    REFUSE("\x80\x02h\x00.", 2, "never set");
    REFUSE("\x80\x02q\x00.", 2, "nothing to remember");
    REFUSE("\x80\x02K\x01r\xff\xff\xff\xff.", 4, "memo index out of range");
    REFUSE("\x80\x02}(K\x01u.", 6, "a key without a value");
    REFUSE("\x80\x02](K\x01u.", 6, "not there");
    REFUSE("\x80\x02]K\x01\x90.", 5, "no mark");
    REFUSE("\x80\x02\x85.", 2, "without its items");
    REFUSE("\x80\x02(\x85.", 3, "without its items");
    REFUSE("\x80\x02X\xff\xff\xff\xffhi.", 2, "more than 1 MiB");
    REFUSE("\x80\x02X\xff\x00\x00\x00hi.", 2, "cut off");
    REFUSE("\x80\x02U\x01\xff.", 2, "not UTF-8");
    REFUSE("\x80\x02\x8a\x09"
           "123456789.",
           2, "more than 64 bits");
    /* a list that holds itself, directly and through another */
    REFUSE("\x80\x02]q\x00h\x00"
           "a.",
           7, "holds itself");
    REFUSE("\x80\x04]\x94h\x00\x85h\x00h\x00"
           "a.",
           11, "holds itself");
}

static void test_truncated(void **state)
{
    (void)state;
    static const char whole[] = PROTOCOL_4;
    for (size_t length = 0; length + 1 < sizeof whole - 1; length++) {
        char *part = wfre_copy_text(whole, length);
        wfre_pickle pickle;
        assert_int_equal(wfre_pickle_parse(&pickle, part, length, NULL), WFRE_ERR_FORMAT);
        wfre_free(part);
    }
}

/* Nesting without end, and a tuple of two of a tuple of two ...: refused before they hurt. */
static void test_bombs(void **state)
{
    (void)state;
    enum { LEVELS = 100000 };
    char *bytes = wfre_alloc(8 * LEVELS, 1);
    assert_non_null(bytes);
    memcpy(bytes, "\x80\x04K\x01", 4);
    memset(bytes + 4, '\x85', LEVELS);
    wfre_pickle pickle;
    wfre_error error;
    assert_int_equal(wfre_pickle_parse(&pickle, bytes, LEVELS, &error), WFRE_ERR_FORMAT);
    assert_non_null(strstr(error.message, "nested too deeply"));

    size_t length = 4;
    for (int level = 0; level < 40; level++) {
        char step[] = {'\x94', 'h', (char)level, '\x86'};
        memcpy(bytes + length, step, sizeof step);
        length += sizeof step;
    }
    bytes[length++] = '.';
    assert_int_equal(wfre_pickle_parse(&pickle, bytes, length, &error), WFRE_ERR_FORMAT);
    assert_non_null(strstr(error.message, "too often"));
    wfre_free(bytes);
}

static wfre_status attempt_parse(void *context)
{
    (void)context;
    wfre_pickle pickle;
    wfre_status status = wfre_pickle_parse(&pickle, PROTOCOL_4, sizeof PROTOCOL_4 - 1, NULL);
    wfre_pickle_free(&pickle);
    return status;
}

static void test_memory(void **state)
{
    (void)state;
    sweep_allocations(attempt_parse, NULL);
}

/* gzip data that unpack to a thousand times as much are refused at the first wrong byte, and what
 * is built of right ones stays within a multiple of the file. */
static void test_packed_bombs(void **state)
{
    (void)state;
    char path[] = "/tmp/wfre-pickle-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    static const char fills[] = {'\0', ')', '(', ']'};
    enum { MEGABYTES = 256 };
    char *block = wfre_alloc(1 << 20, 1);
    assert_non_null(block);
    for (size_t i = 0; i < sizeof fills; i++) {
        gzFile file = gzopen(path, "wb1");
        assert_non_null(file);
        if (fills[i])
            assert_int_equal(gzwrite(file, "\x80\x02", 2), 2);
        memset(block, fills[i], 1 << 20);
        for (int k = 0; k < MEGABYTES; k++)
            assert_int_equal(gzwrite(file, block, 1 << 20), 1 << 20);
        assert_int_equal(gzclose(file), Z_OK);
        wfre_pickle pickle;
        wfre_error why = {0};
        struct rusage before, after;
        assert_int_equal(getrusage(RUSAGE_SELF, &before), 0);
        assert_int_equal(wfre_pickle_load(&pickle, path, &why), WFRE_ERR_FORMAT);
        assert_int_equal(getrusage(RUSAGE_SELF, &after), 0);
        assert_non_null(strstr(why.message, fills[i] ? "more values" : "not a pickle"));
        assert_true(after.ru_maxrss - before.ru_maxrss < (fills[i] ? 1200 << 10 : 8 << 10));
    }
    wfre_free(block);
    unlink(path);
}

static void test_file(void **state)
{
    (void)state;
    char path[] = "/tmp/wfre-pickle-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    assert_ok(wfre_write_file(path, PROTOCOL_2, sizeof PROTOCOL_2 - 1, error));
    wfre_pickle pickle;
    assert_ok(wfre_pickle_load(&pickle, path, error));
    assert_int_equal(pickle.root.kind, WFRE_PICKLE_LIST);
    assert_string_equal(wfre_pickle_kind_name(pickle.root.kind), "a list");
    wfre_pickle_free(&pickle);
    assert_ok(wfre_write_file(path, "\x80\x02N.", 4, error));
    wfre_error error;
    assert_int_equal(wfre_pickle_load(&pickle, path, &error), WFRE_ERR_FORMAT);
    assert_memory_equal(error.message, path, strlen(path));
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values),       cmocka_unit_test(test_shared),
        cmocka_unit_test(test_forbidden),    cmocka_unit_test(test_malformed),
        cmocka_unit_test(test_truncated),    cmocka_unit_test(test_bombs),
        cmocka_unit_test(test_memory),       cmocka_unit_test(test_file),
        cmocka_unit_test(test_packed_bombs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
