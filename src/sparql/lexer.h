/* The tokens of a SPARQL query, one at a time. */
#ifndef WFRE_SRC_SPARQL_LEXER_H
#define WFRE_SRC_SPARQL_LEXER_H

#include "base/memory.h"
#include "base/text.h"
#include "wfre/graph.h"

typedef enum wfre_sq_token_kind {
    WFRE_SQ_END,
    WFRE_SQ_IRIREF,  /* text: what stands between < and > */
    WFRE_SQ_PNAME,   /* prefix and text, escapes resolved */
    WFRE_SQ_BLANK,   /* text: the label behind _: */
    WFRE_SQ_VAR,     /* text: the name */
    WFRE_SQ_LANGTAG, /* text: without @ */
    WFRE_SQ_INTEGER, /* unsigned numbers; text as written */
    WFRE_SQ_DECIMAL,
    WFRE_SQ_DOUBLE,
    WFRE_SQ_STRING, /* text: escapes resolved */
    WFRE_SQ_WORD,   /* a keyword, the name of a function, `a` */
    WFRE_SQ_SIGN    /* operators and brackets; text: one or two characters */
} wfre_sq_token_kind;

typedef struct wfre_sq_token {
    wfre_sq_token_kind kind;
    size_t offset; /* in the text that the user wrote */
    size_t end;
    bool separate;    /* blanks stand in front of it */
    wfre_name prefix; /* of a prefixed name */
    wfre_name text;
} wfre_sq_token;

/* `text` is the query with \uXXXX resolved; `jumps` leads from its offsets to the user's. */
typedef struct wfre_sq_lexer {
    const char *text;
    size_t length;
    size_t at;
    struct wfre_sq_jump *jumps;
    size_t jump_count;
    wfre_arena *arena;
    uint32_t tokens; /* so far; now and then one looks at the clock */
    wfre_error *error;
} wfre_sq_lexer;

/* The text must live as long as the arena. Fails if it is not UTF-8. */
WFRE_NODISCARD wfre_status wfre_sq_lexer_open(wfre_sq_lexer *lexer, wfre_arena *arena,
                                              const char *text, size_t length, wfre_error *error);
/* Fails also when it is time to stop. */
WFRE_NODISCARD wfre_status wfre_sq_lexer_next(wfre_sq_lexer *lexer, wfre_sq_token *token);

/* Whether a token is this word, in any case; or this sign. */
bool wfre_sq_is_word(const wfre_sq_token *token, const char *word);
bool wfre_sq_is_sign(const wfre_sq_token *token, const char *sign);

/* The character at bytes[0 .. length), which is valid UTF-8 and not empty, and its size. */
uint32_t wfre_sq_decode(const char *bytes, size_t length, size_t *size);
/* Writes a character as UTF-8; returns how many bytes (at most 4). */
size_t wfre_sq_encode(uint32_t character, char *bytes);

#endif
