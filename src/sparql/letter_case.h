/* Upper and lower case as UCASE and LCASE have it: XPath asks for Unicode's full mapping. */
#ifndef WFRE_SRC_SPARQL_LETTER_CASE_H
#define WFRE_SRC_SPARQL_LETTER_CASE_H

#include <locale.h>
#include <stddef.h>
#include <stdint.h>

#include "wfre/graph.h"

enum { WFRE_CASE_MOST = 3 }; /* characters that one becomes; three times its bytes at most */

/* The upper case of a character: how many there are. */
size_t wfre_sq_upper(uint32_t c, locale_t locale, uint32_t to[WFRE_CASE_MOST]);
/* The lower case of the character at a place of a text, which takes `size` bytes. */
size_t wfre_sq_lower(wfre_name text, size_t at, uint32_t c, size_t size, locale_t locale,
                     uint32_t to[WFRE_CASE_MOST]);

#endif
