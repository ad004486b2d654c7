/* Published queries from pickled values: what is refused, and behaviour without memory. That whole
 * folders are reproduced is tests/golden/published.c and tests/cli/queries.sh. */
#include "sample/convert.h"
#include "check.h"

#include <unistd.h>

#include "query/notation.h"
#include "wfre/query.h"

/* ---- values, built by hand ---------------------------------------------------------------- */

static wfre_arena arena;

static wfre_pickle_value number(int64_t n)
{
    return (wfre_pickle_value){.kind = WFRE_PICKLE_INT, .number = n};
}

static wfre_pickle_value body_of(wfre_pickle_kind kind, size_t count,
                                 const wfre_pickle_value *items)
{
    wfre_pickle_body *body = wfre_arena_alloc(&arena, 1, sizeof *body);
    wfre_pickle_value *copy = wfre_arena_alloc(&arena, count, sizeof *copy);
    assert_true(body && copy);
    for (size_t i = 0; i < count; i++)
        copy[i] = items[i];
    *body = (wfre_pickle_body){.count = count, .items = copy};
    return (wfre_pickle_value){.kind = kind, .depth = 1, .body = body};
}

static wfre_pickle_value letter(const char *text)
{
    wfre_pickle_body *body = wfre_arena_alloc(&arena, 1, sizeof *body);
    assert_non_null(body);
    *body = (wfre_pickle_body){.count = strlen(text), .text = text};
    return (wfre_pickle_value){.kind = WFRE_PICKLE_STR, .body = body};
}

#define ITEMS(...)                                                                                 \
    sizeof((wfre_pickle_value[]){__VA_ARGS__}) / sizeof(wfre_pickle_value), (wfre_pickle_value[])  \
    {                                                                                              \
        __VA_ARGS__                                                                                \
    }
#define TUPLE(...) body_of(WFRE_PICKLE_TUPLE, ITEMS(__VA_ARGS__))
#define SET(...) body_of(WFRE_PICKLE_SET, ITEMS(__VA_ARGS__))
#define DICT(...) body_of(WFRE_PICKLE_DICT, ITEMS(__VA_ARGS__))

static wfre_pickle_value empty(wfre_pickle_kind kind)
{
    return body_of(kind, 0, NULL);
}

/* (entity, (relation,)) */
static wfre_pickle_value hop(int64_t entity, int64_t relation)
{
    return TUPLE(number(entity), TUPLE(number(relation)));
}

static wfre_pickle_value hop_type(void)
{
    return TUPLE(letter("e"), TUPLE(letter("r")));
}

/* ---- cases -------------------------------------------------------------------------------- */

static void queries_come_by_type_with_sorted_answers(void **state)
{
    (void)state;
    wfre_pickle_value both = TUPLE(hop(5, 12), hop(9, 3));
    wfre_pickle_value queries =
        DICT(TUPLE(hop_type(), hop_type()), SET(both), hop_type(), SET(hop(1, 2)));
    wfre_pickle_value easy =
        DICT(both, SET(number(3), number(1)), hop(1, 2), empty(WFRE_PICKLE_SET));
    wfre_pickle_value hard = DICT(both, SET(number(2)), hop(1, 2), SET(number(9), number(4)));
    wfre_queryset set = {0};
    wfre_text text = {0};
    assert_ok(wfre_convert_pickles(&queries, &easy, &hard, &set, error));
    assert_int_equal(set.count, 2);
    wfre_tree_print(&text, NULL, set.rows[0].tree);
    wfre_text_char(&text, ' ');
    wfre_tree_print(&text, NULL, set.rows[1].tree);
    assert_string_equal(text.data, "(p,#2,(e,#1)) (i,(p,#12,(e,#5)),(p,#3,(e,#9)))");
    wfre_list ids = wfre_queryset_easy(&set, 1);
    assert_int_equal(ids.count, 2);
    assert_memory_equal(ids.ids, ((wfre_entity[]){1, 3}), 8);
    ids = wfre_queryset_hard(&set, 0);
    assert_memory_equal(ids.ids, ((wfre_entity[]){4, 9}), 8);
    wfre_text_free(&text);
    wfre_queryset_clear(&set);
}

static void refuse(wfre_pickle_value queries, wfre_pickle_value easy, wfre_pickle_value hard,
                   const char *message)
{
    wfre_queryset set = {0};
    wfre_error why;
    assert_int_equal(wfre_convert_pickles(&queries, &easy, &hard, &set, &why), WFRE_ERR_FORMAT);
    if (!strstr(why.message, message))
        fail_msg("expected '%s' in '%s'", message, why.message);
    wfre_queryset_clear(&set);
}

static void what_does_not_fit_is_refused(void **state)
{
    (void)state;
    wfre_pickle_value nothing = empty(WFRE_PICKLE_DICT);
    wfre_pickle_value some = DICT(hop(1, 2), SET(number(4)));
    wfre_pickle_value none = DICT(hop(1, 2), empty(WFRE_PICKLE_SET));
    wfre_pickle_value good = DICT(hop_type(), SET(hop(1, 2)));
    refuse(number(3), nothing, nothing, "queries: found an int");
    refuse(nothing, nothing, nothing, "there are none");
    refuse(good, SET(number(1)), some, "easy: found a set");
    refuse(good, none, nothing, "hard answers: none for query (1,(2,))");
    refuse(good, some, some, "both an easy and a hard answer");
    refuse(good, none, DICT(hop(1, 2), number(3)), "found an int, expected a set");
    refuse(good, none, DICT(hop(1, 2), SET(number(-3))), "not an entity id");
    refuse(good, none, DICT(number(1), SET(number(3))), "not a tuple of ids");
    refuse(DICT(hop_type(), number(1)), none, some, "queries of a type: found an int");
    refuse(DICT(hop(1, 2), SET(hop(1, 2))), none, some, "has ids");
    refuse(DICT(hop_type(), SET(hop_type())), none, some, "not of the type 1p");
    refuse(DICT(TUPLE(hop_type(), hop_type()), SET(hop(1, 2))), none, some, "not of the type 2i");
    refuse(DICT(hop_type(), SET(TUPLE(number(1), letter("long")))), none, some,
           "not a tuple of ids");
    refuse(DICT(TUPLE(letter("e")), SET(hop(1, 2))), none, some, "query ('e',)");
}

/* ---- memory ------------------------------------------------------------------------------- */

static char output[] = "/tmp/wfre-convert-XXXXXX";

static wfre_status convert(void *context)
{
    wfre_convert_options options = {.split = WFRE_VALID, .verify = true};
    wfre_conversion report;
    return wfre_queries_convert(context, &options, output, NULL, NULL, &report, NULL);
}

static void conversion_survives_failed_allocations(void **state)
{
    (void)state;
    char folder[4096];
    const char *source = getenv("WFRE_SOURCE");
    assert_non_null(source);
    (void)snprintf(folder, sizeof folder, "%s/tests/data/family-betae", source);
    int descriptor = mkstemp(output);
    assert_true(descriptor >= 0);
    close(descriptor);
    sweep_allocations(convert, folder);
    unlink(output);
}

static int release(void **state)
{
    (void)state;
    wfre_arena_free(&arena);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(queries_come_by_type_with_sorted_answers),
        cmocka_unit_test(what_does_not_fit_is_refused),
        cmocka_unit_test(conversion_survives_failed_allocations),
    };
    return cmocka_run_group_tests(tests, NULL, release);
}
