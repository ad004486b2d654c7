/* Text building. A failed allocation is remembered instead of reported at every call. */
#include "base/text.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"

static bool make_room(wfre_text *text, size_t extra)
{
    if (text->failed || extra > SIZE_MAX / 4 ||
        !wfre_reserve(&text->data, &text->capacity, text->length + extra + 1, 1))
        text->failed = true;
    return !text->failed;
}

void wfre_text_append(wfre_text *text, const char *bytes, size_t length)
{
    if (!make_room(text, length))
        return;
    if (length)
        memcpy(text->data + text->length, bytes, length);
    text->length += length;
    text->data[text->length] = '\0';
}

void wfre_text_add(wfre_text *text, const char *string)
{
    wfre_text_append(text, string, strlen(string));
}

void wfre_text_char(wfre_text *text, char c)
{
    wfre_text_append(text, &c, 1);
}

void wfre_text_format(wfre_text *text, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int length = wfre_format_list(NULL, 0, format, args);
    va_end(args);
    if (length < 0 || !make_room(text, (size_t)length)) {
        text->failed = true;
        return;
    }
    va_start(args, format);
    (void)wfre_format_list(text->data + text->length, (size_t)length + 1, format, args);
    va_end(args);
    text->length += (size_t)length;
}

size_t wfre_utf8_sequence(const char *bytes, size_t length)
{
    const unsigned char *s = (const unsigned char *)bytes;
    if (length == 0)
        return 0;
    if (s[0] < 0x80)
        return 1;
    size_t need = s[0] >= 0xF0 ? 4 : s[0] >= 0xE0 ? 3 : 2;
    if (s[0] < 0xC2 || s[0] > 0xF4 || length < need)
        return 0;
    for (size_t i = 1; i < need; i++)
        if ((s[i] & 0xC0) != 0x80)
            return 0;
    bool overlong = (s[0] == 0xE0 && s[1] < 0xA0) || (s[0] == 0xF0 && s[1] < 0x90);
    bool surrogate = s[0] == 0xED && s[1] >= 0xA0;
    bool beyond = s[0] == 0xF4 && s[1] >= 0x90;
    return overlong || surrogate || beyond ? 0 : need;
}

bool wfre_utf8_valid(const char *bytes, size_t length)
{
    for (size_t i = 0; i < length;) {
        size_t step = wfre_utf8_sequence(bytes + i, length - i);
        if (step == 0)
            return false;
        i += step;
    }
    return true;
}

void wfre_text_whole(wfre_text *text, uint64_t value)
{
    char digits[32];
    int length = snprintf(digits, sizeof digits, "%" PRIu64, value);
    for (int i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0)
            wfre_text_char(text, ',');
        wfre_text_char(text, digits[i]);
    }
}

/* What neither shows nor belongs to a script: the marks and controls that turn the direction of
 * writing, the separators of lines and paragraphs, and the byte order mark. */
static bool is_steering(uint32_t character)
{
    return character == 0x61C || character == 0x200E || character == 0x200F ||
           (character >= 0x2028 && character <= 0x202E) ||
           (character >= 0x2066 && character <= 0x2069) || character == 0xFEFF;
}

/* The character of a valid sequence of up to three bytes; of longer ones something large. */
static uint32_t character_of(const char *bytes, size_t length)
{
    const unsigned char *s = (const unsigned char *)bytes;
    return length == 1   ? s[0]
           : length == 2 ? (s[0] & 0x1Fu) << 6 | (s[1] & 0x3Fu)
           : length == 3 ? (s[0] & 0xFu) << 12 | (s[1] & 0x3Fu) << 6 | (s[2] & 0x3Fu)
                         : 0x10000;
}

/* Whether a person must not get a valid sequence as it is. */
static bool hides(const char *bytes, size_t length)
{
    uint32_t character = character_of(bytes, length);
    return character < 0x20 || (character >= 0x7F && character < 0xA0) || is_steering(character);
}

void wfre_text_json(wfre_text *text, const char *bytes, size_t length)
{
    wfre_text_char(text, '"');
    for (size_t i = 0; i < length;) {
        unsigned char c = (unsigned char)bytes[i];
        size_t step = wfre_utf8_sequence(bytes + i, length - i);
        if (step == 0)
            wfre_text_add(text, "\xEF\xBF\xBD");
        else if (c == '"' || c == '\\')
            wfre_text_format(text, "\\%c", c);
        else if (c == '\n')
            wfre_text_add(text, "\\n");
        else if (c == '\t')
            wfre_text_add(text, "\\t");
        else if (hides(bytes + i, step))
            wfre_text_format(text, "\\u%04x", (unsigned)character_of(bytes + i, step));
        else
            wfre_text_append(text, bytes + i, step);
        i += step ? step : 1;
    }
    wfre_text_char(text, '"');
}

size_t wfre_visible(const char *bytes, size_t length, char piece[WFRE_PIECE])
{
    size_t step = wfre_utf8_sequence(bytes, length);
    uint32_t character = character_of(bytes, step);
    if (step == 0) {
        (void)snprintf(piece, WFRE_PIECE, "\\x%02x", (unsigned char)bytes[0]);
        return 1;
    }
    if (hides(bytes, step)) {
        (void)snprintf(piece, WFRE_PIECE, character < 0x100 ? "\\x%02x" : "\\u%04x",
                       (unsigned)character & 0xFFFF);
    } else {
        memcpy(piece, bytes, step);
        piece[step] = '\0';
    }
    return step;
}

void wfre_text_visible(wfre_text *text, const char *bytes, size_t length)
{
    char piece[WFRE_PIECE];
    for (size_t i = 0; i < length;) {
        i += wfre_visible(bytes + i, length - i, piece);
        wfre_text_add(text, piece);
    }
}

void wfre_text_markup(wfre_text *text, const char *bytes, size_t length)
{
    for (size_t i = 0, step; i < length; i += step) {
        unsigned char c = (unsigned char)bytes[i];
        bool blank = c == '\t' || c == '\n' || c == '\r';
        size_t valid = wfre_utf8_sequence(bytes + i, length - i);
        step = valid ? valid : 1;
        /* XML lacks most control characters, even escaped */
        if (!valid || (!blank && hides(bytes + i, valid))) {
            wfre_text_add(text, "\xEF\xBF\xBD");
            continue;
        }
        switch (bytes[i]) {
        case '&':
            wfre_text_add(text, "&amp;");
            break;
        case '<':
            wfre_text_add(text, "&lt;");
            break;
        case '>':
            wfre_text_add(text, "&gt;");
            break;
        case '"':
            wfre_text_add(text, "&quot;");
            break;
        default:
            wfre_text_append(text, bytes + i, step);
        }
    }
}

void wfre_text_clear(wfre_text *text)
{
    text->length = 0;
    if (text->data)
        text->data[0] = '\0';
}

void wfre_text_free(wfre_text *text)
{
    wfre_free(text->data);
    *text = (wfre_text){0};
}

wfre_status wfre_text_status(const wfre_text *text, const char *what, wfre_error *error)
{
    return text->failed ? wfre_fail_memory(error, what) : WFRE_OK;
}
