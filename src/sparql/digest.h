/* MD5 and the SHA family, for the functions of the same names. Not for anything secret. */
#ifndef WFRE_SRC_SPARQL_DIGEST_H
#define WFRE_SRC_SPARQL_DIGEST_H

#include <stddef.h>

typedef enum wfre_sq_digest {
    WFRE_SQ_DIGEST_MD5,
    WFRE_SQ_DIGEST_SHA1,
    WFRE_SQ_DIGEST_SHA256,
    WFRE_SQ_DIGEST_SHA384,
    WFRE_SQ_DIGEST_SHA512
} wfre_sq_digest;

enum { WFRE_SQ_DIGEST_TEXT = 129 };

/* Writes the digest of bytes[0 .. length) as lower-case hexadecimal text; its length. */
size_t wfre_sq_digest_text(wfre_sq_digest kind, const void *bytes, size_t length,
                           char text[WFRE_SQ_DIGEST_TEXT]);

#endif
