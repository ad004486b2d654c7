/* Regular expressions as REGEX and REPLACE understand them (XPath, section 5.6.1), over characters
 * of UTF-8 text, in time proportional to the text and to the pattern. They stop when the thread's
 * scope says so (base/scope.h). */
#ifndef WFRE_SRC_SPARQL_REGEX_H
#define WFRE_SRC_SPARQL_REGEX_H

#include <locale.h>

#include "base/error.h"
#include "base/text.h"
#include "wfre/graph.h"

typedef struct wfre_sq_regex wfre_sq_regex;

/* `locale` knows the classes and cases of characters. Fails with WFRE_ERR_FORMAT if pattern or
 * flags are wrong, with WFRE_ERR_UNSUPPORTED for back-references. */
WFRE_NODISCARD wfre_status wfre_sq_regex_compile(wfre_name pattern, wfre_name flags,
                                                 locale_t locale, wfre_sq_regex **regex,
                                                 wfre_error *error);
void wfre_sq_regex_free(wfre_sq_regex *regex);
/* Whether it matches anywhere in the text; *stopped if that was not found out. */
bool wfre_sq_regex_search(wfre_sq_regex *regex, wfre_name text, bool *stopped);

typedef enum wfre_sq_regex_end {
    WFRE_SQ_REGEX_DONE,
    WFRE_SQ_REGEX_WRONG, /* the replacement is malformed, or the pattern matches "" */
    WFRE_SQ_REGEX_STOPPED,
    WFRE_SQ_REGEX_LARGE /* more than `most` bytes */
} wfre_sq_regex_end;

/* Appends the text with all matches replaced; $1 ... $9 and $0 in the replacement are what a group
 * and the whole match found. */
wfre_sq_regex_end wfre_sq_regex_replace(wfre_sq_regex *regex, wfre_name text, wfre_name replacement,
                                        size_t most, wfre_text *out);

#endif
