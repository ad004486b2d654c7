/* src/query: operator trees, their notation, BetaE tuples and type names. */
#include "check.h"

#include "query/notation.h"
#include "query/types.h"

/* Parses, prints and compares; `expected` NULL means: the same text. */
static void round_trip(const char *text, const char *expected)
{
    wfre_arena arena = {0};
    const wfre_node *tree, *again;
    assert_ok(wfre_tree_parse(&arena, NULL, text, strlen(text), &tree, error));
    wfre_text printed = {0};
    wfre_tree_print(&printed, NULL, tree);
    assert_string_equal(printed.data, expected ? expected : text);
    assert_ok(wfre_tree_parse(&arena, NULL, printed.data, printed.length, &again, error));
    assert_true(wfre_node_equal(tree, again));
    assert_true(wfre_node_hash(tree) == wfre_node_hash(again));
    wfre_text_free(&printed);
    wfre_arena_free(&arena);
}

static void test_tree_notation(void **state)
{
    (void)state;
    round_trip("(e,#5)", NULL);
    round_trip("(i,(p,#12,(e,#5)),(n,(p,#3,(e,#7))))", NULL);
    round_trip("(u,(p,#1,(e,#0)),(p,#0,(e,#1)),(p,#2,(e,#2)))", NULL);
    round_trip("(i,(n,(p,(e))),(p,(e)))", NULL);
    round_trip(" ( I , ( p, #12^-1 , (e,\n#5 ) ),(n, (p,#3,(e,#7))), (e,#9))",
               "(i,(p,#13,(e,#5)),(n,(p,#3,(e,#7))),(e,#9))");
}

typedef struct bad {
    const char *text;
    size_t offset;
    const char *message; /* a part of it */
} bad;

typedef wfre_status (*parse_function)(wfre_arena *arena, const wfre_graph *graph, const char *text,
                                      size_t length, const wfre_node **tree, wfre_error *error);

static wfre_status parse_betae(wfre_arena *arena, const wfre_graph *graph, const char *text,
                               size_t length, const wfre_node **tree, wfre_error *error)
{
    (void)graph;
    return wfre_betae_parse(arena, text, length, tree, error);
}

static void expect_errors(parse_function parse, const bad *cases, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        wfre_arena arena = {0};
        const wfre_node *tree;
        wfre_error error;
        wfre_status status =
            parse(&arena, NULL, cases[i].text, strlen(cases[i].text), &tree, &error);
        if (status == WFRE_OK || error.offset != cases[i].offset ||
            !strstr(error.message, cases[i].message))
            fail_msg("%s: status %d, offset %zu, %s", cases[i].text, status, error.offset,
                     error.message);
        wfre_arena_free(&arena);
    }
}

static void test_tree_errors(void **state)
{
    (void)state;
    static const bad CASES[] = {
        {"", 0, "ends here"},
        {"(x,(e))", 1, "operators"},
        {"(p,#1,(e,#2)", 12, "closing"},
        {"(p,#1,(e,#2)))", 13, "the end"},
        {"(i,(e,#1))", 9, "second argument"},
        {"(n,(e,#1),(e,#2))", 9, "closing"},
        {"(p,#1,(e))", 6, "every e and p"},
        {"(p,(e,#1))", 0, "every e and p"},
        {"(e,#4294967295)", 3, "#12"},
        {"(e,#)", 3, "#12"},
        {"(e,#1x)", 3, "#12"},
        {"(e,\"Rome)", 3, "never closed"},
        {"(e,\"Ro\\qme\")", 6, "escape"},
        {"(e,Rome)", 3, "need a graph"},
        {"(e,)", 3, "an entity"},
    };
    expect_errors(wfre_tree_parse, CASES, sizeof CASES / sizeof CASES[0]);
}

static void test_depth(void **state)
{
    (void)state;
    wfre_text text = {0};
    for (int i = 0; i < 100000; i++)
        wfre_text_add(&text, "(n,");
    wfre_arena arena = {0};
    const wfre_node *tree;
    wfre_error error;
    assert_int_equal(wfre_tree_parse(&arena, NULL, text.data, text.length, &tree, &error),
                     WFRE_ERR_FORMAT);
    assert_non_null(strstr(error.message, "deep"));
    wfre_text_clear(&text);
    wfre_text_add(&text, "(7,(");
    for (int i = 0; i < 100000; i++)
        wfre_text_add(&text, "1,");
    wfre_text_add(&text, "))");
    assert_int_equal(wfre_betae_parse(&arena, text.data, text.length, &tree, &error),
                     WFRE_ERR_FORMAT);
    assert_non_null(strstr(error.message, "deep"));
    wfre_text_clear(&text);
    for (int i = 0; i < 100000; i++)
        wfre_text_add(&text, "(");
    assert_int_equal(wfre_betae_parse(&arena, text.data, text.length, &tree, &error),
                     WFRE_ERR_FORMAT);
    wfre_text_free(&text);
    wfre_arena_free(&arena);
}

/* The published structures of the 14 types, and instances as Python prints them. */
static const struct {
    const char *name;
    const char *structure;
    const char *instance;
    const char *tree;
} PUBLISHED[] = {
    {"1p", "('e',('r',))", "(17442, (3,))", "(p,#3,(e,#17442))"},
    {"2p", "('e',('r','r'))", "(16169, (1, 2))", "(p,#2,(p,#1,(e,#16169)))"},
    {"3p", "('e',('r','r','r'))", "(239, (3, 1, 2))", "(p,#2,(p,#1,(p,#3,(e,#239))))"},
    {"2i", "(('e',('r',)),('e',('r',)))", "((563, (1,)), (27184, (3,)))",
     "(i,(p,#1,(e,#563)),(p,#3,(e,#27184)))"},
    {"3i", "(('e',('r',)),('e',('r',)),('e',('r',)))", "((1, (1,)), (2, (2,)), (3, (3,)))",
     "(i,(p,#1,(e,#1)),(p,#2,(e,#2)),(p,#3,(e,#3)))"},
    {"ip", "((('e',('r',)),('e',('r',))),('r',))", "(((1, (1,)), (2, (2,))), (3,))",
     "(p,#3,(i,(p,#1,(e,#1)),(p,#2,(e,#2))))"},
    {"pi", "(('e',('r','r')),('e',('r',)))", "((1, (1, 4)), (2, (2,)))",
     "(i,(p,#4,(p,#1,(e,#1))),(p,#2,(e,#2)))"},
    {"2in", "(('e',('r',)),('e',('r','n')))", "((5, (12,)), (9, (3, -2)))",
     "(i,(p,#12,(e,#5)),(n,(p,#3,(e,#9))))"},
    {"3in", "(('e',('r',)),('e',('r',)),('e',('r','n')))", "((1, (1,)), (2, (2,)), (3, (3, -2)))",
     "(i,(p,#1,(e,#1)),(p,#2,(e,#2)),(n,(p,#3,(e,#3))))"},
    {"inp", "((('e',('r',)),('e',('r','n'))),('r',))", "(((1, (1,)), (2, (2, -2))), (3,))",
     "(p,#3,(i,(p,#1,(e,#1)),(n,(p,#2,(e,#2)))))"},
    {"pin", "(('e',('r','r')),('e',('r','n')))", "((1, (1, 4)), (2, (2, -2)))",
     "(i,(p,#4,(p,#1,(e,#1))),(n,(p,#2,(e,#2))))"},
    {"pni", "(('e',('r','r','n')),('e',('r',)))", "((1, (1, 4, -2)), (2, (2,)))",
     "(i,(n,(p,#4,(p,#1,(e,#1)))),(p,#2,(e,#2)))"},
    {"2u", "(('e',('r',)),('e',('r',)),('u',))", "((1, (1,)), (2, (2,)), (-1,))",
     "(u,(p,#1,(e,#1)),(p,#2,(e,#2)))"},
    {"up", "((('e',('r',)),('e',('r',)),('u',)),('r',))", "(((1, (1,)), (2, (2,)), (-1,)), (3,))",
     "(p,#3,(u,(p,#1,(e,#1)),(p,#2,(e,#2))))"},
};

static void test_betae_notation(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof PUBLISHED / sizeof PUBLISHED[0]; i++) {
        wfre_arena arena = {0};
        const wfre_node *tree, *type, *again;
        wfre_text text = {0};
        assert_ok(wfre_betae_parse(&arena, PUBLISHED[i].instance, strlen(PUBLISHED[i].instance),
                                   &tree, error));
        wfre_tree_print(&text, NULL, tree);
        assert_string_equal(text.data, PUBLISHED[i].tree);

        wfre_text_clear(&text);
        wfre_betae_print(&text, tree);
        assert_ok(wfre_betae_parse(&arena, text.data, text.length, &again, error));
        assert_true(wfre_node_equal(tree, again));

        assert_ok(wfre_betae_parse(&arena, PUBLISHED[i].structure, strlen(PUBLISHED[i].structure),
                                   &type, error));
        wfre_text_clear(&text);
        wfre_betae_print(&text, type);
        assert_string_equal(text.data, PUBLISHED[i].structure);
        assert_true(wfre_node_equal(wfre_tree_type(&arena, tree), wfre_tree_type(&arena, type)));

        wfre_text_clear(&text);
        assert_ok(wfre_type_name(tree, &text, error));
        assert_string_equal(text.data, PUBLISHED[i].name);
        assert_int_equal(wfre_betae_type_index(text.data, text.length), i);
        wfre_text_free(&text);
        wfre_arena_free(&arena);
    }
}

static void test_betae_errors(void **state)
{
    (void)state;
    static const bad CASES[] = {
        {"", 0, "ends here"},
        {"5", 0, "opening"},
        {"(5)", 2, "path"},
        {"(5,(12,)", 8, "closing"},
        {"(5,(12,)))", 9, "the end"},
        {"(-2,(12,))", 3, "negative"},
        {"(5,(-3,))", 6, "range"},
        {"(5,(-1,))", 8, "two or more"},
        {"((5,(1,)),(6,(2,)),(3,))", 23, "one query and a path"},
        {"((5,(1,)),(-1,))", 15, "two or more"},
        {"((5,(1,)),(6,(2,)),(-1,7))", 25, "alone"},
        {"('e',(12,))", 0, "mixed"},
        {"('x',('r',))", 1, "expected one of"},
        {"(5,(1 2))", 6, "comma"},
    };
    expect_errors(parse_betae, CASES, sizeof CASES / sizeof CASES[0]);
}

static void test_order(void **state)
{
    (void)state;
    wfre_arena arena = {0};
    const wfre_node *tree, *other;
    const char *text = "(u,(p,#5,(e,#1)),(i,(p,#1,(e,#2)),(n,(p,#3,(e,#3)))),(p,#4,(e,#9)),(e,#0))";
    assert_ok(wfre_tree_parse(&arena, NULL, text, strlen(text), &tree, error));
    wfre_text printed = {0};
    wfre_tree_print_multi(&printed, NULL, wfre_tree_sort(&arena, tree));
    assert_string_equal(printed.data, "(U,(e,#0),(i,(n,(p,#3,(e,#3))),(p,#1,(e,#2))),"
                                      "(p,#4,(e,#9)),(p,#5,(e,#1)))");
    wfre_text_clear(&printed);
    wfre_tree_print(&printed, NULL, wfre_tree_type(&arena, tree));
    assert_string_equal(printed.data, "(u,(e),(i,(n,(p,(e))),(p,(e))),(p,(e)),(p,(e)))");
    wfre_text_clear(&printed);
    assert_ok(wfre_type_name(tree, &printed, error));
    assert_string_equal(printed.data, "(u,(e),(i,(n,(p,(e))),(p,(e))),(p,(e)),(p,(e)))");

    assert_int_equal(wfre_tree_count(tree, WFRE_OP_ENTITY), 5);
    assert_int_equal(wfre_tree_depth(tree), 5);
    assert_int_equal(wfre_tree_highest_id(tree, WFRE_OP_ENTITY), 9);
    assert_int_equal(wfre_tree_highest_id(tree, WFRE_OP_PROJECT), 5);
    assert_int_equal(wfre_tree_highest_id(tree, WFRE_OP_NEGATE), WFRE_NONE);
    assert_false(wfre_tree_is_type(tree));
    other = wfre_tree_copy(&arena, tree);
    assert_int_equal(wfre_node_compare(tree, other), 0);
    assert_true(wfre_node_compare(tree, wfre_tree_sort(&arena, tree)) != 0);
    wfre_text_free(&printed);
    wfre_arena_free(&arena);
}

static wfre_status parse_and_name(void *context)
{
    const char *text = context;
    wfre_arena arena = {0};
    wfre_text name = {0};
    const wfre_node *tree;
    wfre_status status;
    if (text[1] == '(')
        TRY(wfre_betae_parse(&arena, text, strlen(text), &tree, NULL));
    else
        TRY(wfre_tree_parse(&arena, NULL, text, strlen(text), &tree, NULL));
    TRY(wfre_type_name(tree, &name, NULL));
cleanup:
    wfre_text_free(&name);
    wfre_arena_free(&arena);
    return status;
}

static void test_allocations(void **state)
{
    (void)state;
    sweep_allocations(parse_and_name, "(i,(p,#12,(e,#5)),(n,(p,#3,(e,#7))),(p,#1,(e,#1)))");
    sweep_allocations(parse_and_name, "(((5,(12,)),(9,(3,-2)),(-1,)),(7,))");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tree_notation), cmocka_unit_test(test_tree_errors),
        cmocka_unit_test(test_depth),         cmocka_unit_test(test_betae_notation),
        cmocka_unit_test(test_betae_errors),  cmocka_unit_test(test_order),
        cmocka_unit_test(test_allocations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
