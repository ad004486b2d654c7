/* Reading RDF text byte by byte: input with places for messages, and the tokens that N-Triples,
 * N-Quads, Turtle and TriG share.
 *
 * The text is checked to be UTF-8 as it is read, so that the scanners need not. Each
 * appends what it reads to a text of the caller and stops at the first byte that is not its own. */
#ifndef WFRE_SRC_GRAPH_RDF_LEXER_H
#define WFRE_SRC_GRAPH_RDF_LEXER_H

#include "base/file.h"
#include "base/text.h"

typedef struct wfre_rdf_lexer {
    wfre_reader *reader;
    char *buffer;
    size_t at, end, capacity; /* end: what is read and checked */
    size_t held;              /* what is read; an unfinished character may follow `end` */
    bool ended;               /* there is no more to read */
    uint64_t offset;          /* of buffer[0] in the file */
    uint64_t line;            /* from 1 */
    uint64_t line_start;      /* offset of its first byte */
    uint64_t inner;           /* bytes within characters of this line, of those no longer held */
    uint64_t mark;            /* offset of the token at hand */
    wfre_status status;       /* the first failure of reading */
    wfre_error *error;
} wfre_rdf_lexer;

enum { WFRE_RDF_END = -1 };

WFRE_NODISCARD wfre_status wfre_rdf_lexer_open(wfre_rdf_lexer *lexer, wfre_reader *reader,
                                               wfre_error *error);
void wfre_rdf_lexer_close(wfre_rdf_lexer *lexer);

/* Reads on; the next byte or WFRE_RDF_END, also after a failure. */
int wfre_rdf_refill(wfre_rdf_lexer *lexer);

static inline int wfre_rdf_peek(wfre_rdf_lexer *lexer)
{
    return lexer->at < lexer->end ? (unsigned char)lexer->buffer[lexer->at]
                                  : wfre_rdf_refill(lexer);
}

/* The byte after the next one. */
int wfre_rdf_peek_second(wfre_rdf_lexer *lexer);

static inline void wfre_rdf_skip(wfre_rdf_lexer *lexer)
{
    lexer->at++;
}

/* The next token starts here: messages name this place. */
static inline void wfre_rdf_mark(wfre_rdf_lexer *lexer)
{
    lexer->mark = lexer->offset + lexer->at;
}

/* Fails with FILE:LINE:COLUMN of the byte at hand, or with `at_mark` of the token. If reading
 * failed, that failure stays. */
WFRE_PRINTF(3, 4)
wfre_status wfre_rdf_fail(wfre_rdf_lexer *lexer, bool at_mark, const char *format, ...);
/* "'x' where WANTED should be", or the same about the end of the file. */
wfre_status wfre_rdf_unexpected(wfre_rdf_lexer *lexer, const char *wanted);

/* Skips blanks, line ends and comments. */
void wfre_rdf_space(wfre_rdf_lexer *lexer);
/* Skips blanks and tabs. */
void wfre_rdf_blanks(wfre_rdf_lexer *lexer);
/* Skips the byte if it is `byte`; fails otherwise. */
WFRE_NODISCARD wfre_status wfre_rdf_expect(wfre_rdf_lexer *lexer, char byte, const char *wanted);

/* <...>, without the brackets, escapes replaced. */
WFRE_NODISCARD wfre_status wfre_rdf_scan_iri(wfre_rdf_lexer *lexer, wfre_text *iri);
/* A string with its quotes; only "..." if `plain`. */
WFRE_NODISCARD wfre_status wfre_rdf_scan_string(wfre_rdf_lexer *lexer, bool plain, wfre_text *text);
/* @tag without the @. */
WFRE_NODISCARD wfre_status wfre_rdf_scan_language(wfre_rdf_lexer *lexer, wfre_text *tag);
/* The label behind "_:". */
WFRE_NODISCARD wfre_status wfre_rdf_scan_label(wfre_rdf_lexer *lexer, wfre_text *label);
/* A word: the prefix of a name, or a keyword; perhaps nothing. */
WFRE_NODISCARD wfre_status wfre_rdf_scan_word(wfre_rdf_lexer *lexer, wfre_text *word);
/* The local part of a prefixed name; perhaps nothing. */
WFRE_NODISCARD wfre_status wfre_rdf_scan_local(wfre_rdf_lexer *lexer, wfre_text *local);
/* A number, and which of integer, decimal and double it is. */
WFRE_NODISCARD wfre_status wfre_rdf_scan_number(wfre_rdf_lexer *lexer, wfre_text *digits,
                                                const char **type);

#endif
