/* Bytes that grow, and JSON written into them.
 *
 * A buffer that ran out of memory stays empty and says so (`failed`): whoever writes looks once, at
 * the end. Numbers are written with a decimal point in every locale. */
#ifndef WFRE_SERVE_BUFFER_H
#define WFRE_SERVE_BUFFER_H

#include "wfre.h"

typedef struct serve_buffer {
    char *bytes; /* with a NUL behind the last; NULL while nothing was written */
    size_t length, capacity;
    bool failed;
} serve_buffer;

void serve_buffer_free(serve_buffer *buffer);
/* Keeps the memory. */
void serve_buffer_clear(serve_buffer *buffer);
void serve_put_bytes(serve_buffer *buffer, const char *bytes, size_t length);
void serve_put(serve_buffer *buffer, const char *text);
WFRE_PRINTF(2, 3) void serve_put_format(serve_buffer *buffer, const char *format, ...);

/* A JSON string, quotes included; what is not UTF-8 becomes U+FFFD. Also < > & are escaped, so that
 * no answer is ever a script, whatever page it gets into. */
void serve_put_string(serve_buffer *buffer, const char *bytes, size_t length);
void serve_put_text(serve_buffer *buffer, const char *text); /* NULL: null */
void serve_put_name(serve_buffer *buffer, wfre_name name);   /* absent: null */
/* null if it is not finite. */
void serve_put_number(serve_buffer *buffer, double number);

#endif
