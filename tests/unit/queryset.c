/* src/sample/queryset: the query-set file, read and written. */
#include "check.h"

#include <unistd.h>

#include "graph/graph.h"
#include "query/notation.h"
#include "sample/queryset.h"

static char folder[] = "/tmp/wfre-queryset-XXXXXX";
static char path[64];

static int set_up(void **state)
{
    (void)state;
    if (!mkdtemp(folder))
        return 1;
    (void)snprintf(path, sizeof path, "%s/q.tsv", folder);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    unlink(path);
    return rmdir(folder);
}

static void write_text(const char *text)
{
    assert_ok(wfre_write_file(path, text, strlen(text), error));
}

/* Four entities, one relation. */
static wfre_graph *small_graph(void)
{
    wfre_graph_builder *builder;
    wfre_graph *graph;
    wfre_entity ids[4];
    wfre_relation relation;
    assert_ok(wfre_graph_builder_create(&builder, error));
    for (int i = 0; i < 4; i++)
        assert_ok(wfre_graph_builder_entity(builder, &"abcd"[i], 1, &ids[i], error));
    assert_ok(wfre_graph_builder_relation(builder, "r", 1, &relation, error));
    assert_ok(wfre_graph_builder_triple(builder, WFRE_TRAIN, ids[0], relation, ids[1], error));
    assert_ok(wfre_graph_builder_finish(builder, &graph, error));
    wfre_graph_builder_free(builder);
    return graph;
}

static void test_read(void **state)
{
    (void)state;
    write_text("# a comment\n"
               "1p\t(p,#0,(e,#3))\t2 0 2\t1\r\n"
               "\n"
               "mine\t(n,(p,#1,(e,#0)))\t\t\n"
               "1p\t(p,#1,(e,#3))\t\t 3  1 ");
    wfre_graph *graph = small_graph();
    wfre_queryset set;
    assert_ok(wfre_queryset_read(path, graph, &set, error));
    assert_int_equal(set.count, 3);
    assert_int_equal(set.types.count, 2);
    assert_int_equal(set.rows[0].type, 0);
    assert_int_equal(set.rows[1].type, 1);
    assert_int_equal(set.rows[2].type, 0);
    wfre_list easy = wfre_queryset_easy(&set, 0), hard = wfre_queryset_hard(&set, 2);
    assert_int_equal(easy.count, 2);
    assert_memory_equal(easy.ids, ((wfre_entity[]){0, 2}), 8);
    assert_int_equal(hard.count, 2);
    assert_memory_equal(hard.ids, ((wfre_entity[]){1, 3}), 8);
    assert_int_equal(wfre_queryset_hard(&set, 1).count, 0);
    wfre_queryset_clear(&set);
    wfre_queryset_clear(&set);
    wfre_graph_close(graph);
}

static void test_errors(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        const char *message; /* behind the path */
    } CASES[] = {
        {"", ": holds no query"},
        {"# only a comment\n", ": holds no query"},
        {"1p\t(p,#0,(e,#3))\t2\n", ":1: 3 columns"},
        {"1p\t(p,#0,(e,#3))\t2\t3\t4\n", ":1: 5 columns"},
        {"\t(p,#0,(e,#3))\t2\t3\n", ":1: the type is empty"},
        {"# x\n1p\t(p,#0,(x,#3))\t2\t3\n", ":2:11: expected one of the operators"},
        {"1p\t(p,(e))\t2\t3\n", ":1: the operator tree is a query type"},
        {"1p\t(p,#0,(e,#3))\tx\t3\n", ":1: answers must be"},
        {"1p\t(p,#0,(e,#3))\t4\t3\n", ":1: an answer is beyond the last entity, 3"},
        {"1p\t(p,#0,(e,#3))\t1 2\t0 2\n", ":1: entity 2 is both"},
        {"1p\t(p,#2,(e,#3))\t\t\n", ":1: relation #2 is not in the graph"},
        {"1p\t(p,#1,(e,#4))\t\t\n", ":1: entity #4 is not in the graph"},
        {"1p\t(p,#1,(e,Rome))\t\t\n", ":1:13: names need a graph"},
    };
    wfre_graph *graph = small_graph();
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        write_text(CASES[i].text);
        wfre_queryset set;
        wfre_error error;
        assert_int_not_equal(wfre_queryset_read(path, graph, &set, &error), WFRE_OK);
        assert_memory_equal(error.message, path, strlen(path));
        if (!strstr(error.message + strlen(path), CASES[i].message))
            fail_msg("%s: %s", CASES[i].text, error.message);
        wfre_queryset_clear(&set);
    }
    wfre_graph_close(graph);
}

static void test_handle(void **state)
{
    (void)state;
    write_text("# x\n1p\t(p,#0,(e,#3))\t2 0\t1\nmine\t(e,#0)\t\t\n1p\t(p,#1,(e,#3))\t\t3 1\n");
    wfre_queryset *set;
    assert_ok(wfre_queryset_open(path, NULL, &set, error));
    assert_int_equal(wfre_queryset_queries(set), 3);
    assert_int_equal(wfre_queryset_type_count(set), 2);
    wfre_queryset_type type = wfre_queryset_get_type(set, 0);
    assert_int_equal(type.name.length, 2);
    assert_memory_equal(type.name.bytes, "1p", 2);
    assert_int_equal(type.queries, 2);
    assert_int_equal(type.easy, 2);
    assert_int_equal(type.hard, 3);
    assert_int_equal(wfre_queryset_get_type(set, 1).hard, 0);
    wfre_queryset_close(set);
    wfre_queryset_close(NULL);
    assert_int_equal(wfre_queryset_open("/nonexistent/q.tsv", NULL, &set, NULL),
                     WFRE_ERR_NOT_FOUND);

    assert_true(wfre_queryset_recognises("# made by", 9));
    assert_true(wfre_queryset_recognises("1p\t(p,#0", 8));
    assert_true(wfre_queryset_recognises("(p,(p,(e", 8));
    assert_false(wfre_queryset_recognises("Ang Lee\tdirected", 16));
    assert_false(wfre_queryset_recognises("\t(", 2));
    assert_false(wfre_queryset_recognises("", 0));
}

static void put(wfre_queryset_writer *writer, const char *type, const char *text, wfre_list easy,
                wfre_list hard)
{
    wfre_arena arena = {0};
    const wfre_node *tree;
    assert_ok(wfre_tree_parse(&arena, NULL, text, strlen(text), &tree, error));
    assert_ok(wfre_queryset_writer_put(writer, type, tree, easy, hard, error));
    wfre_arena_free(&arena);
}

static void test_write(void **state)
{
    (void)state;
    static const wfre_entity IDS[] = {1, 5, 4000000000};
    wfre_queryset_writer writer = {0};
    assert_ok(wfre_queryset_writer_open(&writer, path, "made by\na test", error));
    put(&writer, NULL, "(i,(p,#12,(e,#5)),(n,(p,#3,(e,#7))))", (wfre_list){IDS, 3},
        (wfre_list){NULL, 0});
    put(&writer, "other", "(n,(p,#3,(e,#7)))", (wfre_list){NULL, 0}, (wfre_list){IDS, 2});
    assert_ok(wfre_queryset_writer_commit(&writer, error));
    wfre_queryset_writer_discard(&writer);
    char *bytes;
    size_t length;
    assert_ok(wfre_read_all(path, 1000, &bytes, &length, error));
    assert_string_equal(bytes, "# made by\n# a test\n"
                               "2in\t(i,(p,#12,(e,#5)),(n,(p,#3,(e,#7))))\t1 5 4000000000\t\n"
                               "other\t(n,(p,#3,(e,#7)))\t\t1 5\n");
    wfre_free(bytes);
}

static wfre_status read_and_write(void *context)
{
    (void)context;
    wfre_queryset set;
    wfre_queryset_writer writer = {0};
    wfre_status status = wfre_queryset_read(path, NULL, &set, NULL);
    if (status != WFRE_OK)
        goto cleanup;
    TRY(wfre_queryset_writer_open(&writer, path, "again", NULL));
    for (uint32_t i = 0; i < set.count; i++)
        TRY(wfre_queryset_writer_put(&writer, NULL, set.rows[i].tree, wfre_queryset_easy(&set, i),
                                     wfre_queryset_hard(&set, i), NULL));
    TRY(wfre_queryset_writer_commit(&writer, NULL));
cleanup:
    wfre_queryset_writer_discard(&writer);
    wfre_queryset_clear(&set);
    return status;
}

static void test_allocations(void **state)
{
    (void)state;
    write_text("1p\t(p,#0,(e,#3))\t2 0 2\t1\n2in\t(i,(p,#1,(e,#2)),(n,(p,#3,(e,#4))))\t\t1\n");
    sweep_allocations(read_and_write, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_read),        cmocka_unit_test(test_errors),
        cmocka_unit_test(test_handle),      cmocka_unit_test(test_write),
        cmocka_unit_test(test_allocations),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
