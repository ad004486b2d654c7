/* src/query: normal forms and lists of types. */
#include "check.h"

#include "query/clause.h"
#include "query/typelist.h"
#include "wfre/query.h"

static wfre_query *parse(const char *text)
{
    wfre_query *query = NULL;
    assert_ok(wfre_query_parse(NULL, WFRE_NOTATION_AUTO, text, strlen(text), &query, error));
    return query;
}

static void test_forms(void **state)
{
    (void)state;
    static const char *const EXPECTED[WFRE_FORMS] = {
        "(p,#0,(i,(u,(p,#1,(e,#1)),(p,#2,(e,#2))),(i,(p,#3,(e,#3)),(n,(n,(p,#4,(e,#4)))))))",
        "(p,#0,(i,(n,(i,(n,(p,#1,(e,#1))),(n,(p,#2,(e,#2))))),"
        "(i,(p,#3,(e,#3)),(n,(n,(p,#4,(e,#4)))))))",
        "(p,#0,(i,(n,(i,(n,(p,#1,(e,#1))),(n,(p,#2,(e,#2))))),"
        "(p,#3,(e,#3)),(n,(n,(p,#4,(e,#4))))))",
        "(u,(p,#0,(i,(p,#1,(e,#1)),(i,(p,#3,(e,#3)),(p,#4,(e,#4))))),"
        "(p,#0,(i,(p,#2,(e,#2)),(i,(p,#3,(e,#3)),(p,#4,(e,#4))))))",
        "(u,(p,#0,(i,(p,#1,(e,#1)),(p,#3,(e,#3)),(p,#4,(e,#4)))),"
        "(p,#0,(i,(p,#2,(e,#2)),(p,#3,(e,#3)),(p,#4,(e,#4)))))",
    };
    wfre_query *query = parse(EXPECTED[WFRE_FORM_ORIGINAL]);
    for (int form = 0; form < WFRE_FORMS; form++) {
        wfre_query *normal;
        char *text;
        wfre_form same;
        assert_ok(wfre_query_normalise(query, (wfre_form)form, &normal, error));
        assert_ok(wfre_query_print(normal, NULL, WFRE_NOTATION_TREE, &text, error));
        assert_string_equal(text, EXPECTED[form]);
        assert_true(wfre_form_from_name(wfre_form_name((wfre_form)form), &same));
        assert_int_equal(same, form);
        wfre_string_free(text);
        wfre_query_free(normal);
    }
    wfre_form none;
    assert_false(wfre_form_from_name("CNF", &none));
    wfre_query_free(query);
}

static void expect_unsupported(const char *text, const char *message)
{
    wfre_query *query = parse(text), *normal;
    wfre_error error;
    assert_int_equal(wfre_query_normalise(query, WFRE_FORM_DNF, &normal, &error),
                     WFRE_ERR_UNSUPPORTED);
    assert_non_null(strstr(error.message, message));
    wfre_query_free(query);
}

static void test_refusals(void **state)
{
    (void)state;
    expect_unsupported("?x : #0(?x, ?x)", "joins ?x with itself");
    /* 2^32 clauses. */
    char text[2048] = "(i";
    for (int i = 0; i < 32; i++)
        strcat(text, ",(u,(p,#0,(e,#1)),(p,#2,(e,#3)))");
    expect_unsupported(strcat(text, ")"), WFRE_CLAUSES_TOO_LARGE);
    /* Few nodes, but each level holds the one below twice. */
    text[0] = '\0';
    for (int i = 0; i < 30; i++)
        strcat(text, "(n,(p,#0,(i,(u,(p,#1,(e,#1)),(p,#2,(e,#2))),");
    strcat(text, "(p,#0,(e,#0))");
    for (int i = 0; i < 30; i++)
        strcat(text, ")))");
    expect_unsupported(text, WFRE_CLAUSES_TOO_LARGE);
}

static void test_lists(void **state)
{
    (void)state;
    wfre_types *types;
    assert_ok(wfre_types_create(WFRE_TYPES_BETAE, &types, error));
    assert_int_equal(wfre_types_count(types), 14);
    for (size_t i = 0; i < 14; i++) {
        wfre_query *query = parse(wfre_types_tree(types, i, WFRE_FORM_ORIGINAL));
        char *name;
        assert_ok(wfre_query_type(query, &name, error));
        assert_string_equal(name, wfre_types_name(types, i));
        wfre_string_free(name);
        wfre_query_free(query);
    }
    assert_string_equal(wfre_types_tree(types, 4, WFRE_FORM_DNF_MULTI),
                        "(I,(p,(e)),(p,(e)),(p,(e)))");
    wfre_types_free(types);
    wfre_types_free(NULL);
    assert_ok(wfre_types_create(WFRE_TYPES_EFO1, &types, error));
    assert_int_equal(wfre_types_count(types), 301);
    assert_string_equal(wfre_types_name(types, 300), "type0530");
    wfre_types_free(types);
}

static void test_written_lists(void **state)
{
    (void)state;
    wfre_type_list list = {0};
    assert_ok(
        wfre_type_list_parse(&list, "\t1p,2in\n(i,(p,(e)),(n,(p,(e))))\r\n (p, (e)) up", error));
    assert_int_equal(list.count, 3); /* trees of types that were named before are no new ones */
    assert_string_equal(list.names[1], "2in");
    assert_string_equal(list.names[2], "up");
    wfre_type_list_free(&list);
    /* 1p, 2p and others are EFO-1-QA types, too; the first name stays. */
    assert_ok(wfre_type_list_parse(&list, "betae efo1", error));
    assert_true(list.count > 301 && list.count < 315);
    assert_string_equal(list.names[0], "1p");
    for (uint32_t a = 0; a < list.count; a++)
        for (uint32_t b = 0; b < a; b++)
            assert_false(wfre_node_equal(list.trees[a], list.trees[b]));
    wfre_type_list_free(&list);
}

static wfre_status list_types(void *context)
{
    wfre_types *types = NULL;
    wfre_status status = wfre_types_create(*(wfre_type_set *)context, &types, NULL);
    wfre_types_free(types);
    return status;
}

static wfre_status normalise(void *context)
{
    wfre_query *normal = NULL;
    wfre_status status = wfre_query_normalise(context, WFRE_FORM_DNF_MULTI, &normal, NULL);
    wfre_query_free(normal);
    return status;
}

static void test_allocations(void **state)
{
    (void)state;
    wfre_type_set set = WFRE_TYPES_BETAE;
    sweep_allocations(list_types, &set);
    wfre_query *query = parse("(n,(i,(u,(p,#1,(e,#1)),(p,#2,(e,#2))),(u,(p,#3,(e,#3)),(e,#4))))");
    sweep_allocations(normalise, query);
    wfre_query_free(query);
    /* The long list makes thousands; every 97th is enough. */
    set = WFRE_TYPES_EFO1;
    for (uint64_t k = 1;; k += 97) {
        wfre_alloc_fail_at(k);
        wfre_status status = list_types(&set);
        uint64_t made = wfre_alloc_count();
        wfre_alloc_fail_at(0);
        assert_int_equal(status, made < k ? WFRE_OK : WFRE_ERR_MEMORY);
        if (made < k)
            break;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_forms),       cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_lists),       cmocka_unit_test(test_written_lists),
        cmocka_unit_test(test_allocations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
