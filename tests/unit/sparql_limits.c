/* SPARQL that is long rather than deep: texts, lists and templates of one row see that it is time
 * to stop, while they are read and while they are run, and count as memory. */
#include "check.h"

#include "base/text.h"
#include "sparql_view.h"
#include "wfre/sparql.h"

/* A query with one piece many times. */
typedef struct long_query {
    const char *before, *piece;
    int count;
    const char *behind;
} long_query;

static wfre_text written(const long_query *q)
{
    wfre_text text = {0};
    wfre_text_add(&text, "PREFIX : <http://x/> ");
    wfre_text_add(&text, q->before);
    for (int i = 0; i < q->count; i++)
        wfre_text_add(&text, q->piece);
    wfre_text_add(&text, q->behind);
    assert_false(text.failed);
    return text;
}

static wfre_status read_query(const long_query *q, const wfre_sparql_options *options)
{
    wfre_text text = written(q);
    wfre_sparql *query = NULL;
    wfre_status status = wfre_sparql_parse(text.data, text.length, options, &query, NULL);
    wfre_sparql_free(query);
    wfre_text_free(&text);
    return status;
}

static wfre_status run_query(const long_query *q, const wfre_sparql_run_options *options)
{
    wfre_text text = written(q);
    wfre_sparql *query = NULL;
    assert_ok(wfre_sparql_parse(text.data, text.length, NULL, &query, error));
    wfre_status status = wfre_sparql_run(query, view, options, NULL, NULL, NULL);
    wfre_sparql_free(query);
    wfre_text_free(&text);
    return status;
}

/* None of them has more than a handful of rows. */
static void test_stopping(void **state)
{
    (void)state;
    static const long_query CASES[] = {
        {"SELECT * { BIND(REGEX('", "a", 2000, "', '^(a?){300}a{300}$') AS ?x) }"},
        {"SELECT * { BIND(REPLACE('", "ab", 50000, "', 'b', 'cc') AS ?x) }"},
        {"SELECT * { BIND(CONTAINS('", "a", 4000, "', 'aaaaaaaaaaaaaaaaaaaaaaaaab') AS ?x) }"},
        {"SELECT * { BIND(MD5('", "a", 100000, "') AS ?x) }"},
        {"SELECT * { BIND(UCASE('", "a", 100000, "') AS ?x) }"},
        {"SELECT * { BIND(CONCAT('", "a", 100000, "', 'b') AS ?x) }"},
        {"CONSTRUCT {", ":a :p ?b . ", 5000, "} { :b :p ?b }"},
        {"SELECT * { :b :p ?b FILTER(?b IN (1", ", 1", 5000, ")) }"},
    };
    wfre_cancel *cancel = NULL;
    assert_ok(wfre_cancel_create(&cancel, error));
    wfre_cancel_now(cancel);
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        const wfre_sparql_run_options stopped = {.cancel = cancel};
        assert_ok(run_query(&CASES[i], NULL));
        if (run_query(&CASES[i], &stopped) != WFRE_ERR_INTERRUPTED)
            fail_msg("%s does not see that it is to stop", CASES[i].before);
    }
    const wfre_sparql_options stopped = {.cancel = cancel}, late = {.timeout = 1e-9};
    const long_query patterns = {"SELECT * {", "?a ?b ?c . ", 1000, "}"};
    assert_ok(read_query(&patterns, NULL));
    assert_int_equal(read_query(&patterns, &stopped), WFRE_ERR_INTERRUPTED);
    assert_int_equal(read_query(&patterns, &late), WFRE_ERR_TIMEOUT);
    wfre_cancel_free(cancel);
}

/* Places are found among the characters that were written as \uXXXX. */
static void test_written_characters(void **state)
{
    (void)state;
    const long_query plain = {"SELECT * { ?a :p '", "\\u0061", 3, "' ?b }"};
    wfre_text text = written(&plain);
    wfre_sparql *query = NULL;
    wfre_error problem;
    assert_int_equal(wfre_sparql_parse(text.data, text.length, NULL, &query, &problem),
                     WFRE_ERR_FORMAT);
    assert_int_equal(problem.offset, strstr(text.data, "?b") - text.data);
    wfre_text_free(&text);
}

/* Texts count as memory, those within an expression until it has its value. */
static void test_memory(void **state)
{
    (void)state;
    static const long_query LONG[] = {
        {"SELECT * { FILTER(STRLEN(REPLACE('", "aaaaaaaa", 100, "', 'a', '$0$0$0$0$0$0')) > 1) }"},
        {"SELECT * { FILTER(STRLEN(CONCAT(?a, ?a, ?a, ?a)) > 1) { BIND('", "aaaaaaaa", 100,
         "' AS ?a) } }"},
        {"SELECT * { FILTER(STRLEN(ENCODE_FOR_URI(UCASE('", "        ", 100, "'))) > 1) }"},
    };
    for (size_t i = 0; i < sizeof LONG / sizeof *LONG; i++) {
        long_query longer = LONG[i];
        const wfre_sparql_run_options options = {.limits = {.memory = 1 << 17}};
        longer.count *= 100;
        assert_ok(run_query(&LONG[i], &options));
        assert_int_equal(run_query(&longer, &options), WFRE_ERR_MEMORY);
    }
    /* 3,000 rows within one expression make 3 MB in all, but 1 KB at a time */
    const long_query within = {"ASK { FILTER NOT EXISTS { VALUES ?i {", " 1 2 3", 1000,
                               "} FILTER(STRLEN(REPLACE(REPLACE(REPLACE(STR(?i), '.', '$0$0$0$0$0"
                               "$0$0$0$0$0'), '.', '$0$0$0$0$0$0$0$0$0$0'), '.', '$0$0$0$0$0$0$0$0"
                               "$0$0')) = 1) } }"};
    const wfre_sparql_run_options options = {.limits = {.memory = 1 << 20}};
    assert_ok(run_query(&within, &options));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_stopping),
        cmocka_unit_test(test_written_characters),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, set_up_view, tear_down_view);
}
