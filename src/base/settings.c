/* Parsing and printing of settings by table. */
#include "base/settings.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const wfre_setting *wfre_setting_find(const wfre_setting *table, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(table[i].name, name) == 0)
            return &table[i];
    return NULL;
}

static wfre_status parse_name(const wfre_setting *setting, const char *const *names,
                              const char *text, uint32_t *value, wfre_error *error)
{
    char list[256] = "";
    size_t used = 0;
    for (uint32_t i = 0; names[i]; i++) {
        if (strcmp(names[i], text) == 0) {
            *value = i;
            return WFRE_OK;
        }
        int length = snprintf(list + used, sizeof list - used, "%s%s", i ? ", " : "", names[i]);
        used += length > 0 && used + (size_t)length < sizeof list ? (size_t)length : 0;
    }
    return wfre_fail(error, WFRE_ERR_ARGUMENT, WFRE_NO_OFFSET, "%s '%s': use one of %s",
                     setting->name, text, list);
}

static wfre_status out_of_range(const wfre_setting *setting, const char *text, wfre_error *error)
{
    return wfre_fail(error, WFRE_ERR_ARGUMENT, WFRE_NO_OFFSET,
                     "%s '%s': expected a %s between %g and %g", setting->name, text,
                     setting->kind == WFRE_SETTING_REAL ? "number" : "whole number",
                     setting->minimum, setting->maximum);
}

static wfre_status parse_whole(const wfre_setting *setting, const char *text, uint64_t *value,
                               wfre_error *error)
{
    char *end;
    errno = 0;
    unsigned long long parsed = strtoull(text, &end, 10);
    if (end == text || *end || errno || text[0] == '-' || (double)parsed < setting->minimum ||
        (double)parsed > setting->maximum)
        return out_of_range(setting, text, error);
    *value = parsed;
    return WFRE_OK;
}

wfre_status wfre_setting_parse(const wfre_setting *setting, void *structure, const char *text,
                               wfre_error *error)
{
    static const char *const truth[] = {"no", "yes", NULL};
    unsigned char *field = (unsigned char *)structure + setting->offset;
    uint32_t index = 0;
    uint64_t whole = 0;
    switch (setting->kind) {
    case WFRE_SETTING_NAME:
        CHECK(parse_name(setting, setting->names, text, &index, error));
        memcpy(field, &index, sizeof index);
        break;
    case WFRE_SETTING_BOOL:
        CHECK(parse_name(setting, truth, text, &index, error));
        *(bool *)(void *)field = index == 1;
        break;
    case WFRE_SETTING_U32:
        CHECK(parse_whole(setting, text, &whole, error));
        index = (uint32_t)whole;
        memcpy(field, &index, sizeof index);
        break;
    case WFRE_SETTING_U64:
        CHECK(parse_whole(setting, text, &whole, error));
        memcpy(field, &whole, sizeof whole);
        break;
    case WFRE_SETTING_REAL: {
        char *end;
        double value = wfre_parse_real(text, &end);
        if (end == text || *end || !isfinite(value) || value < setting->minimum ||
            value > setting->maximum)
            return out_of_range(setting, text, error);
        memcpy(field, &value, sizeof value);
        break;
    }
    }
    return WFRE_OK;
}

void wfre_setting_print(const wfre_setting *setting, const void *structure, char *text, size_t size)
{
    const unsigned char *field = (const unsigned char *)structure + setting->offset;
    uint32_t small;
    uint64_t whole;
    double real;
    switch (setting->kind) {
    case WFRE_SETTING_NAME:
        memcpy(&small, field, sizeof small);
        (void)snprintf(text, size, "%s", setting->names[small]);
        break;
    case WFRE_SETTING_BOOL:
        (void)snprintf(text, size, "%s", *(const bool *)(const void *)field ? "yes" : "no");
        break;
    case WFRE_SETTING_U32:
        memcpy(&small, field, sizeof small);
        (void)snprintf(text, size, "%" PRIu32, small);
        break;
    case WFRE_SETTING_U64:
        memcpy(&whole, field, sizeof whole);
        (void)snprintf(text, size, "%" PRIu64, whole);
        break;
    case WFRE_SETTING_REAL:
        memcpy(&real, field, sizeof real);
        (void)wfre_format(text, size, "%.17g", real);
        for (int digits = 6; digits < 17; digits++) { /* the shortest that reads back the same */
            char brief[64];
            (void)wfre_format(brief, sizeof brief, "%.*g", digits, real);
            if (wfre_parse_real(brief, NULL) == real) {
                (void)snprintf(text, size, "%s", brief);
                break;
            }
        }
        break;
    }
}

static size_t size_of(const wfre_setting *setting)
{
    switch (setting->kind) {
    case WFRE_SETTING_BOOL:
        return sizeof(bool);
    case WFRE_SETTING_U64:
        return sizeof(uint64_t);
    case WFRE_SETTING_REAL:
        return sizeof(double);
    case WFRE_SETTING_U32:
    case WFRE_SETTING_NAME:
        break;
    }
    return sizeof(uint32_t);
}

bool wfre_setting_same(const wfre_setting *setting, const void *a, const void *b)
{
    return memcmp((const unsigned char *)a + setting->offset,
                  (const unsigned char *)b + setting->offset, size_of(setting)) == 0;
}

void wfre_setting_copy(const wfre_setting *setting, void *to, const void *from)
{
    memcpy((unsigned char *)to + setting->offset, (const unsigned char *)from + setting->offset,
           size_of(setting));
}
