/* A growing byte buffer with printf, for everything that writes text, and UTF-8 checks. */
#ifndef WFRE_SRC_BASE_TEXT_H
#define WFRE_SRC_BASE_TEXT_H

#include "base/error.h"

/* Zero-initialise to create. `data` is NUL-terminated once anything was appended. After a failed
 * append `failed` stays set, so that a writer may check once at its end (wfre_text_status). */
typedef struct wfre_text {
    char *data;
    size_t length;
    size_t capacity;
    bool failed;
} wfre_text;

void wfre_text_append(wfre_text *text, const char *bytes, size_t length);
void wfre_text_add(wfre_text *text, const char *string);
void wfre_text_char(wfre_text *text, char c);
WFRE_PRINTF(2, 3) void wfre_text_format(wfre_text *text, const char *format, ...);
/* Appends "1,234,567". */
void wfre_text_whole(wfre_text *text, uint64_t value);
/* Appends a JSON string literal, quotes included; invalid UTF-8 becomes U+FFFD. */
void wfre_text_json(wfre_text *text, const char *bytes, size_t length);
/* Appends text from a file for a person, on one line; see wfre_visible. */
void wfre_text_visible(wfre_text *text, const char *bytes, size_t length);
/* Appends with & < > " escaped, for HTML and SVG; U+FFFD for what XML does not have
 * or what would turn the direction of writing. */
void wfre_text_markup(wfre_text *text, const char *bytes, size_t length);
void wfre_text_clear(wfre_text *text);
void wfre_text_free(wfre_text *text);
/* WFRE_ERR_MEMORY if any append failed. */
wfre_status wfre_text_status(const wfre_text *text, const char *what, wfre_error *error);

bool wfre_utf8_valid(const char *bytes, size_t length);

#endif
