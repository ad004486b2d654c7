/* Growing bytes and JSON. */
#include "buffer.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void serve_buffer_free(serve_buffer *buffer)
{
    free(buffer->bytes);
    *buffer = (serve_buffer){0};
}

void serve_buffer_clear(serve_buffer *buffer)
{
    buffer->length = 0;
    buffer->failed = false;
}

static bool has_room(serve_buffer *buffer, size_t more)
{
    if (buffer->failed)
        return false;
    if (more < buffer->capacity - buffer->length)
        return true;
    size_t capacity = buffer->capacity ? buffer->capacity : 256;
    while (capacity - buffer->length <= more && capacity < SIZE_MAX / 4)
        capacity *= 2;
    char *grown = capacity - buffer->length > more ? realloc(buffer->bytes, capacity) : NULL;
    if (!grown) {
        serve_buffer_free(buffer);
        buffer->failed = true;
        return false;
    }
    buffer->bytes = grown;
    buffer->capacity = capacity;
    return true;
}

void serve_put_bytes(serve_buffer *buffer, const char *bytes, size_t length)
{
    if (!has_room(buffer, length))
        return;
    if (length > 0)
        memcpy(buffer->bytes + buffer->length, bytes, length);
    buffer->length += length;
    buffer->bytes[buffer->length] = '\0';
}

void serve_put(serve_buffer *buffer, const char *text)
{
    serve_put_bytes(buffer, text, strlen(text));
}

void serve_put_format(serve_buffer *buffer, const char *format, ...)
{
    char text[512];
    va_list args;
    va_start(args, format);
    int length = wfre_format_list(text, sizeof text, format, args);
    va_end(args);
    if (length >= 0 && (size_t)length < sizeof text) {
        serve_put_bytes(buffer, text, (size_t)length);
        return;
    }
    char *longer = length < 0 ? NULL : malloc((size_t)length + 1);
    if (!longer) {
        serve_buffer_free(buffer);
        buffer->failed = true;
        return;
    }
    va_start(args, format);
    (void)wfre_format_list(longer, (size_t)length + 1, format, args);
    va_end(args);
    serve_put_bytes(buffer, longer, (size_t)length);
    free(longer);
}

/* How a byte is written if not as it is; NULL if it is. */
static const char *escaped(unsigned char c, char text[8])
{
    switch (c) {
    case '"':
        return "\\\"";
    case '\\':
        return "\\\\";
    case '\n':
        return "\\n";
    case '\t':
        return "\\t";
    case '\r':
        return "\\r";
    default:
        if (c >= 0x20 && c != '<' && c != '>' && c != '&' && c != 0x7F)
            return NULL;
        (void)snprintf(text, 8, "\\u%04x", c);
        return text;
    }
}

void serve_put_string(serve_buffer *buffer, const char *bytes, size_t length)
{
    char code[8];
    size_t plain = 0, i = 0; /* bytes[plain .. i) are as they are */
    serve_put_bytes(buffer, "\"", 1);
    while (i < length) {
        unsigned char c = (unsigned char)bytes[i];
        size_t size = c < 0x80 ? 1 : wfre_utf8_sequence(bytes + i, length - i);
        const char *other = c < 0x80 ? escaped(c, code) : size == 0 ? "\\ufffd" : NULL;
        /* U+2028 and U+2029 end lines in scripts. */
        if (size == 3 && memcmp(bytes + i, "\xE2\x80", 2) == 0 &&
            ((unsigned char)bytes[i + 2] | 1) == 0xA9)
            other = (unsigned char)bytes[i + 2] == 0xA8 ? "\\u2028" : "\\u2029";
        if (other) {
            serve_put_bytes(buffer, bytes + plain, i - plain);
            serve_put(buffer, other);
        }
        i += size ? size : 1;
        if (other)
            plain = i;
    }
    serve_put_bytes(buffer, bytes + plain, length - plain);
    serve_put_bytes(buffer, "\"", 1);
}

void serve_put_text(serve_buffer *buffer, const char *text)
{
    if (text)
        serve_put_string(buffer, text, strlen(text));
    else
        serve_put(buffer, "null");
}

void serve_put_name(serve_buffer *buffer, wfre_name name)
{
    if (name.bytes)
        serve_put_string(buffer, name.bytes, name.length);
    else
        serve_put(buffer, "null");
}

void serve_put_number(serve_buffer *buffer, double number)
{
    if (isfinite(number))
        serve_put_format(buffer, "%.9g", number);
    else
        serve_put(buffer, "null");
}
