/* What a request's text says: percent-coding, forms, lists of media types. All of it is bytes from
 * strangers; tests/fuzz/request.c feeds it. */
#ifndef WFRE_SERVE_FORM_H
#define WFRE_SERVE_FORM_H

#include <stdbool.h>
#include <stddef.h>

/* Names with values, decoded, in the order in which they came. */
typedef struct serve_pair {
    const char *name, *value; /* NUL-terminated, and without a NUL inside */
} serve_pair;

typedef struct serve_form {
    char *text;
    serve_pair *pairs;
    size_t count;
} serve_form;

enum { SERVE_MOST_PAIRS = 256 };

/* Reads a query string or a body of application/x-www-form-urlencoded. NULL if all is well, else
 * what is wrong, as a sentence without its end: percent-coding that is none, a NUL, text that is
 * not UTF-8, too many pairs, no memory. */
const char *serve_form_read(const char *bytes, size_t length, serve_form *form);
void serve_form_free(serve_form *form);
/* The first value of that name, or NULL. */
const char *serve_form_get(const serve_form *form, const char *name);
size_t serve_form_times(const serve_form *form, const char *name);

/* Decodes in place; `plus` makes blanks of plus signs. The length, or SIZE_MAX if it is not
 * percent-coding or holds a NUL. */
size_t serve_decode(char *text, size_t length, bool plus);

/* The index of the offered media type that an Accept header likes best, the first of several;
 * NULL or an empty header takes all. -1 if it takes none. */
int serve_negotiate(const char *accept, const char *const *offered, size_t count);
/* Whether an Accept-Encoding header takes gzip. */
bool serve_takes_gzip(const char *accept);
/* Whether a Content-Type is this media type, whatever its parameters. */
bool serve_is_type(const char *content_type, const char *media_type);
/* Whether a list of entity tags (If-None-Match) has this one. */
bool serve_has_tag(const char *list, const char *tag);

/* Compares in a time that depends on the length of `given` alone. */
bool serve_same_secret(const char *given, size_t given_length, const char *secret,
                       size_t secret_length);
/* Decodes base64; the length, or SIZE_MAX if it is not. `out` has room for 3/4 of `length`. */
size_t serve_base64(const char *text, size_t length, char *out);

#endif
