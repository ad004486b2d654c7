/* The 301 types of EFO-1-QA and their normal forms, against the published list. */
#include "check.h"

#include "base/file.h"
#include "wfre/query.h"

static char *path;

/* The next field of a line of CSV: bare, or in quotes (the list has none within). */
static char *next_field(char **line)
{
    char *field = *line, *end;
    if (*field == '"') {
        field++;
        end = strchr(field, '"');
        assert_non_null(end);
        *end++ = '\0';
    } else {
        end = field + strcspn(field, ",\r");
    }
    *line = *end ? end + 1 : end;
    *end = '\0';
    return field;
}

/* The forms in the order of the columns; columns that we do not make are NULL. */
static const char *const COLUMNS[] = {
    NULL,          "original", "DeMorgan", "DeMorgan+MultiI", "DNF", NULL, NULL,
    "DNF+MultiIU", NULL,       NULL,       "formula_id",      NULL,
};
enum { COLUMN_COUNT = sizeof COLUMNS / sizeof COLUMNS[0], ID_COLUMN = 10 };

static void check_header(char *line)
{
    for (size_t i = 0; i < COLUMN_COUNT; i++) {
        char *name = next_field(&line);
        if (COLUMNS[i])
            assert_string_equal(name, COLUMNS[i]);
    }
}

static void check_row(const wfre_types *types, size_t row, char *line)
{
    for (size_t i = 0; i < COLUMN_COUNT; i++) {
        char *field = next_field(&line);
        wfre_form form;
        if (i == ID_COLUMN)
            assert_string_equal(wfre_types_name(types, row), field);
        else if (COLUMNS[i] && wfre_form_from_name(COLUMNS[i], &form))
            assert_string_equal(wfre_types_tree(types, row, form), field);
    }
}

static void test_published_list(void **state)
{
    (void)state;
    wfre_types *types;
    assert_ok(wfre_types_create(WFRE_TYPES_EFO1, &types, error));
    wfre_reader *reader;
    const char *line;
    size_t length, rows = 0;
    assert_ok(wfre_reader_open(path, &reader, error));
    assert_ok(wfre_reader_line(reader, &line, &length, error));
    char *copy = wfre_copy_text(line, length);
    check_header(copy);
    wfre_free(copy);
    for (;; rows++) {
        assert_ok(wfre_reader_line(reader, &line, &length, error));
        if (!line)
            break;
        assert_true(rows < wfre_types_count(types));
        copy = wfre_copy_text(line, length);
        check_row(types, rows, copy);
        wfre_free(copy);
    }
    print_message("%zu types agree in id and all forms\n", rows);
    assert_int_equal(rows, wfre_types_count(types));
    assert_int_equal(rows, 301);
    wfre_reader_close(reader);
    wfre_types_free(types);
}

int main(void)
{
    const char *shared = getenv("WFRE_SHARED");
    path = shared ? wfre_path_join(shared, "data/efo1/formulas_301.csv") : NULL;
    if (!path || !wfre_file_exists(path)) {
        printf("skipped: the published list of EFO-1-QA types is not here\n");
        wfre_free(path);
        return 77;
    }
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_published_list)};
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    wfre_free(path);
    return failed;
}
