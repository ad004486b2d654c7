/* Measurements, their text in a model's file, and their JSON. */
#include "model/measured.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { VERSION = 1, MOST_TYPES = 4096, LONGEST_NAME = 4096 };

/* The means by their names in the file and in JSON. */
static const struct {
    const char *name;
    size_t offset;
} MEANS[] = {
    {"without_not", offsetof(wfre_measured, without_not)},
    {"with_not", offsetof(wfre_measured, with_not)},
    {"all", offsetof(wfre_measured, all)},
    {"links", offsetof(wfre_measured, links)},
};
enum { MEAN_COUNT = sizeof MEANS / sizeof MEANS[0] };

static const wfre_measured_row *mean_at(const wfre_measured *m, size_t index)
{
    return (const wfre_measured_row *)((const char *)m + MEANS[index].offset);
}

/* ---- as a value --------------------------------------------------------------------------- */

wfre_status wfre_measurement_create(wfre_measurement **measurement, wfre_error *error)
{
    *measurement = wfre_alloc_zero(1, sizeof **measurement);
    if (!*measurement)
        return wfre_fail_memory(error, "measuring a model");
    (*measurement)->shown.commit = "";
    return WFRE_OK;
}

void wfre_measurement_free(wfre_measurement *measurement)
{
    if (!measurement)
        return;
    wfre_free(measurement->types);
    wfre_arena_free(&measurement->arena);
    wfre_free(measurement);
}

/* Whether a line of the file can end with it. */
static bool is_name(const char *name, size_t length)
{
    return length > 0 && length <= LONGEST_NAME && !memchr(name, '\n', length) &&
           !memchr(name, '\0', length) && wfre_utf8_valid(name, length);
}

wfre_status wfre_measurement_add(wfre_measurement *m, const wfre_measured_row *row, size_t length,
                                 wfre_error *error)
{
    static const char UNNAMED[] = "?";
    bool named = is_name(row->name, length);
    if (m->shown.type_count >= MOST_TYPES)
        return WFRE_OK;
    char *name = wfre_arena_text(&m->arena, named ? row->name : UNNAMED,
                                 named ? length : sizeof UNNAMED - 1);
    if (!name || !WFRE_RESERVE(&m->types, &m->capacity, m->shown.type_count + 1))
        return wfre_fail_memory(error, "measuring a model");
    m->types[m->shown.type_count] = *row;
    m->types[m->shown.type_count++].name = name;
    m->shown.types = m->types;
    return WFRE_OK;
}

wfre_status wfre_measurement_commit(wfre_measurement *m, const char *name, size_t length,
                                    wfre_error *error)
{
    static const char ALLOWED[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                  ".-_+/";
    size_t kept = strspn(name, ALLOWED);
    char *copy = wfre_arena_text(&m->arena, name, kept < length ? kept : length);
    if (!copy)
        return wfre_fail_memory(error, "measuring a model");
    m->shown.commit = copy;
    return WFRE_OK;
}

const wfre_measured *wfre_model_measured(const wfre_model *model)
{
    return model && model->measurement ? &model->measurement->shown : NULL;
}

/* ---- writing ------------------------------------------------------------------------------ */

static void print_row(wfre_text *text, const wfre_measured_row *row)
{
    wfre_text_format(text, " %" PRIu64 " %.6f %.6f %.6f %.6f %.6f %.6f", row->questions,
                     row->mean.mrr, row->mrr_low, row->mrr_high, row->mean.hits1, row->mean.hits3,
                     row->mean.hits10);
}

void wfre_measurement_print(const wfre_measurement *measurement, wfre_text *text)
{
    const wfre_measured *m = &measurement->shown;
    wfre_text_format(text, "version %d\nway %s\nquestions %s\n", VERSION,
                     m->by == WFRE_BY_EDGES ? "edges" : "embedding",
                     m->sampled ? "sampled" : "given");
    wfre_text_format(text, "commit %s\ntriples %" PRIu64 "\n", m->commit, m->triples);
    for (size_t i = 0; i < MEAN_COUNT; i++) {
        const wfre_measured_row *row = mean_at(m, i);
        if (row->questions == 0)
            continue;
        wfre_text_format(text, "mean %s %" PRIu32, MEANS[i].name, row->types);
        print_row(text, row);
        wfre_text_char(text, '\n');
    }
    for (size_t i = 0; i < m->type_count; i++) {
        wfre_text_add(text, "type");
        print_row(text, &m->types[i]);
        wfre_text_format(text, " %s\n", m->types[i].name);
    }
}

static void json_row(wfre_text *text, const wfre_measured_row *row)
{
    if (row->questions == 0) {
        wfre_text_add(text, "null");
        return;
    }
    wfre_text_char(text, '{');
    if (row->name) {
        wfre_text_add(text, "\"name\":");
        wfre_text_json(text, row->name, strlen(row->name));
        wfre_text_char(text, ',');
    } else {
        wfre_text_format(text, "\"types\":%" PRIu32 ",", row->types);
    }
    wfre_text_format(text,
                     "\"questions\":%" PRIu64 ",\"mrr\":%.6f,\"mrr_low\":%.6f,\"mrr_high\":%.6f,"
                     "\"hits1\":%.6f,\"hits3\":%.6f,\"hits10\":%.6f}",
                     row->questions, row->mean.mrr, row->mrr_low, row->mrr_high, row->mean.hits1,
                     row->mean.hits3, row->mean.hits10);
}

static void json_measured(wfre_text *text, const wfre_measured *m)
{
    wfre_text_format(text, "{\"by\":\"%s\",\"split\":\"valid\",\"questions\":\"%s\",\"commit\":",
                     m->by == WFRE_BY_EDGES ? "edges" : "embedding",
                     m->sampled ? "sampled" : "given");
    wfre_text_json(text, m->commit, strlen(m->commit));
    wfre_text_format(text, ",\"triples\":%" PRIu64, m->triples);
    for (size_t i = 0; i < MEAN_COUNT; i++) {
        wfre_text_format(text, ",\"%s\":", MEANS[i].name);
        json_row(text, mean_at(m, i));
    }
    wfre_text_add(text, ",\"types\":[");
    for (size_t i = 0; i < m->type_count; i++) {
        wfre_text_add(text, i ? "," : "");
        json_row(text, &m->types[i]);
    }
    wfre_text_add(text, "]}");
}

wfre_status wfre_model_measured_json(const wfre_model *model, char **json, wfre_error *error)
{
    GIVEN(model);
    GIVEN(json);
    wfre_text text = {0};
    const wfre_measured *m = wfre_model_measured(model);
    if (m)
        json_measured(&text, m);
    else
        wfre_text_add(&text, "null");
    wfre_status status = wfre_text_status(&text, "printing a measurement", error);
    if (status == WFRE_OK)
        *json = text.data;
    else
        wfre_text_free(&text);
    return status;
}

/* ---- reading ------------------------------------------------------------------------------ */

static wfre_status damaged(wfre_error *error)
{
    return wfre_fail(error, WFRE_ERR_FORMAT, WFRE_NO_OFFSET,
                     "what the file says of the model's measurement is damaged");
}

/* If the text goes on with this, goes behind it. */
static bool skip(const char **text, const char *word)
{
    size_t length = strlen(word);
    bool found = strncmp(*text, word, length) == 0;
    *text += found ? length : 0;
    return found;
}

/* A blank and a number from 0 to `most`. */
static bool read_number(const char **text, double most, double *number)
{
    char *end;
    if (**text != ' ')
        return false;
    *number = wfre_parse_real(*text + 1, &end);
    bool good = end > *text + 1 && *number >= 0 && *number <= most;
    *text = end;
    return good;
}

static bool read_whole(const char **text, double most, uint64_t *whole)
{
    double number = 0;
    bool good = read_number(text, most, &number) && number == floor(number);
    *whole = good ? (uint64_t)number : 0;
    return good;
}

static bool read_row(const char **text, wfre_measured_row *row)
{
    return read_whole(text, 0x1p53, &row->questions) && row->questions > 0 &&
           read_number(text, 1, &row->mean.mrr) && read_number(text, 1, &row->mrr_low) &&
           read_number(text, 1, &row->mrr_high) && read_number(text, 1, &row->mean.hits1) &&
           read_number(text, 1, &row->mean.hits3) && read_number(text, 1, &row->mean.hits10) &&
           row->mrr_low <= row->mean.mrr && row->mean.mrr <= row->mrr_high &&
           row->mean.hits1 <= row->mean.hits3 && row->mean.hits3 <= row->mean.hits10;
}

static bool read_mean(const char **text, wfre_measured *m)
{
    for (size_t i = 0; i < MEAN_COUNT; i++) {
        size_t length = strlen(MEANS[i].name);
        if (strncmp(*text, MEANS[i].name, length) != 0 || (*text)[length] != ' ')
            continue;
        wfre_measured_row row = {0}, *place = (wfre_measured_row *)((char *)m + MEANS[i].offset);
        uint64_t types;
        *text += length;
        if (place->questions > 0 || !read_whole(text, UINT32_MAX, &types) || types == 0 ||
            !read_row(text, &row) || !skip(text, "\n"))
            return false;
        *place = row;
        place->types = (uint32_t)types;
        return true;
    }
    return false;
}

static wfre_status read_type(const char **text, wfre_measurement *m, wfre_error *error)
{
    wfre_measured_row row = {.types = 1};
    if (!read_row(text, &row) || !skip(text, " "))
        return damaged(error);
    size_t length = strcspn(*text, "\n");
    if ((*text)[length] != '\n' || !is_name(*text, length))
        return damaged(error);
    row.name = *text;
    *text += length + 1;
    return wfre_measurement_add(m, &row, length, error);
}

/* The lines that every measurement begins with. */
static wfre_status read_head(const char **text, wfre_measurement *m, wfre_error *error)
{
    bool edges = skip(text, "way edges\n");
    bool sampled;
    if (!edges && !skip(text, "way embedding\n"))
        return damaged(error);
    sampled = skip(text, "questions sampled\n");
    if ((!sampled && !skip(text, "questions given\n")) || !skip(text, "commit "))
        return damaged(error);
    m->shown.by = edges ? WFRE_BY_EDGES : WFRE_BY_EMBEDDING;
    m->shown.sampled = sampled;
    size_t length = strcspn(*text, "\n");
    CHECK(wfre_measurement_commit(m, *text, length, error));
    if (strlen(m->shown.commit) != length)
        return damaged(error);
    *text += length;
    if (!skip(text, "\ntriples") || !read_whole(text, 0x1p53, &m->shown.triples) ||
        !skip(text, "\n"))
        return damaged(error);
    return WFRE_OK;
}

wfre_status wfre_measurement_parse(const char *text, wfre_measurement **result, wfre_error *error)
{
    wfre_status status;
    wfre_measurement *m = NULL;
    TRY(wfre_measurement_create(&m, error));
    if (!skip(&text, "version 1\n"))
        TRY(wfre_fail(error, WFRE_ERR_FORMAT, WFRE_NO_OFFSET,
                      "what the file says of the model's measurement has another version than %d",
                      VERSION));
    TRY(read_head(&text, m, error));
    while (skip(&text, "mean "))
        if (!read_mean(&text, &m->shown))
            TRY(damaged(error));
    while (skip(&text, "type"))
        TRY(read_type(&text, m, error));
    if (*text || (m->shown.type_count == 0 && m->shown.links.questions == 0))
        TRY(damaged(error));
    *result = m;
    m = NULL;
cleanup:
    wfre_measurement_free(m);
    return status;
}
