/* Reading cases for scores:
 *
 *     [{"left": [..], "right": [..], "block": 5, "radius": 3, "epsilon": 0.1, ...}, ...]
 *
 * Whether the settings make sense is for wfre_score_create to say. */
#include "wfr/cases.h"

#include <jansson.h>
#include <math.h>

#include "base/error.h"
#include "base/file.h"
#include "base/memory.h"

enum { FILE_LIMIT = 1 << 30 };

struct wfre_score_cases {
    wfre_arena arena; /* of the rows and of `all` */
    wfre_score_case *all;
    size_t count;
};

/* ---- one case ----------------------------------------------------------------------------- */

/* Copies an array of numbers; false if it is something else. */
static bool read_row(const json_t *array, double *row)
{
    for (size_t i = 0; i < json_array_size(array); i++) {
        const json_t *item = json_array_get(array, i);
        if (!json_is_number(item))
            return false;
        row[i] = json_number_value(item);
    }
    return json_is_array(array);
}

/* Replaces a setting by the case's own, if it has one;
 * false if that is not a number or negative. */
static bool read_number(const json_t *object, const char *key, double *value)
{
    const json_t *item = json_object_get(object, key);
    if (!item)
        return true;
    *value = json_number_value(item);
    return json_is_number(item) && *value >= 0;
}

static bool read_whole(const json_t *object, const char *key, uint32_t *value)
{
    double number = *value;
    bool good =
        read_number(object, key, &number) && number <= UINT32_MAX && number == floor(number);
    *value = good ? (uint32_t)number : *value;
    return good;
}

/* The key of the first setting that is not as it should be; NULL if all are. */
static const char *read_settings(const json_t *object, wfre_score_settings *settings)
{
    const struct {
        const char *key;
        double *value;
    } numbers[] = {{"radius", &settings->radius},
                   {"epsilon", &settings->epsilon},
                   {"power", &settings->power},
                   {"floor", &settings->floor}};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        if (!read_number(object, numbers[i].key, numbers[i].value))
            return numbers[i].key;
    if (!read_whole(object, "block", &settings->block))
        return "block";
    return read_whole(object, "iterations", &settings->iterations) ? NULL : "iterations";
}

static wfre_status read_case(const json_t *object, wfre_arena *arena, wfre_score_case *result,
                             wfre_error *error)
{
    const json_t *left = json_object_get(object, "left"), *right = json_object_get(object, "right");
    size_t count = json_array_size(left);
    double *rows = wfre_arena_alloc(arena, count + json_array_size(right), sizeof *rows);
    if (!rows)
        return wfre_fail_memory(error, "reading a case");
    result->left = rows;
    result->right = rows + count;
    result->settings.dimension = count;
    if (!read_row(left, rows) || !read_row(right, rows + count))
        return wfre_fail(error, WFRE_ERR_FORMAT, WFRE_NO_OFFSET,
                         "\"left\" and \"right\" must be arrays of numbers");
    if (json_array_size(right) != count)
        return wfre_fail(error, WFRE_ERR_FORMAT, WFRE_NO_OFFSET,
                         "\"left\" and \"right\" differ in length");
    const char *wrong = read_settings(object, &result->settings);
    if (wrong)
        return wfre_fail(error, WFRE_ERR_FORMAT, WFRE_NO_OFFSET,
                         "\"%s\" must be a number, 0 or more (block and iterations: whole)", wrong);
    return WFRE_OK;
}

/* ---- all of them -------------------------------------------------------------------------- */

static wfre_status read_cases(const char *name, const json_t *array,
                              const wfre_score_settings *defaults, wfre_score_cases *cases,
                              wfre_error *error)
{
    char place[300];
    if (!json_is_array(array))
        return wfre_fail(error, WFRE_ERR_FORMAT, WFRE_NO_OFFSET,
                         "%.200s: expected an array of cases, [{\"left\": [], \"right\": []}]",
                         name);
    cases->all = wfre_arena_alloc(&cases->arena, json_array_size(array), sizeof *cases->all);
    if (!cases->all)
        return wfre_fail_memory(error, "reading cases");
    for (size_t i = 0; i < json_array_size(array); i++) {
        wfre_score_case *one = &cases->all[cases->count++];
        *one = (wfre_score_case){.settings = *defaults};
        wfre_status status = read_case(json_array_get(array, i), &cases->arena, one, error);
        if (status == WFRE_OK)
            continue;
        (void)snprintf(place, sizeof place, "%.200s: case %zu", name, i);
        return wfre_fail_within(error, status, place);
    }
    return WFRE_OK;
}

wfre_status wfre_score_cases_parse(const char *name, const char *text, size_t length,
                                   const wfre_score_settings *defaults, wfre_score_cases **result,
                                   wfre_error *error)
{
    wfre_status status = WFRE_OK;
    json_error_t reason;
    json_t *array = NULL;
    wfre_score_cases *cases = wfre_alloc_zero(1, sizeof *cases);
    if (!cases)
        TRY(wfre_fail_memory(error, "reading cases"));
    array = json_loadb(text, length, 0, &reason);
    if (!array)
        TRY(wfre_fail(error, WFRE_ERR_FORMAT, WFRE_NO_OFFSET, "%.200s:%d: %s", name, reason.line,
                      reason.text));
    TRY(read_cases(name, array, defaults, cases, error));
    *result = cases;
    cases = NULL;
cleanup:
    json_decref(array);
    wfre_score_cases_free(cases);
    return status;
}

wfre_status wfre_score_cases_open(const char *path, const wfre_score_settings *defaults,
                                  wfre_score_cases **cases, wfre_error *error)
{
    char *text;
    size_t length;
    wfre_status status = wfre_read_all(path, FILE_LIMIT, &text, &length, error);
    if (status != WFRE_OK)
        return status;
    status = wfre_score_cases_parse(wfre_input_name(path), text, length, defaults, cases, error);
    wfre_free(text);
    return status;
}

void wfre_score_cases_free(wfre_score_cases *cases)
{
    if (!cases)
        return;
    wfre_arena_free(&cases->arena);
    wfre_free(cases);
}

size_t wfre_score_cases_count(const wfre_score_cases *cases)
{
    return cases->count;
}

const wfre_score_case *wfre_score_cases_get(const wfre_score_cases *cases, size_t index)
{
    return &cases->all[index];
}
