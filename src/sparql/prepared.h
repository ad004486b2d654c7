/* What an expression keeps from one evaluation to the next. */
#ifndef WFRE_SRC_SPARQL_PREPARED_H
#define WFRE_SRC_SPARQL_PREPARED_H

#include "base/text.h"
#include "sparql/regex.h"

typedef struct wfre_sq_prepared {
    wfre_sq_regex *regex; /* of REGEX and REPLACE: compiled from this pattern and these flags */
    wfre_text pattern, flags;
} wfre_sq_prepared;

#endif
