/* What the notations share: a cursor over the text, names and ids in it, and how names are written.
 *
 * A name is quoted ("New York", with \" \\ \n \t \r and \xHH inside; single quotes do as well), an
 * id (#12), or bare: everything up to a blank or one of the notation's stop characters. */
#ifndef WFRE_SRC_QUERY_SCAN_H
#define WFRE_SRC_QUERY_SCAN_H

#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"
#include "wfre/graph.h"

typedef struct wfre_cursor {
    const char *text;
    size_t length;
    size_t at;               /* bytes read so far */
    const char *stops;       /* characters that end a bare name */
    const wfre_graph *graph; /* resolves names; NULL: only ids are understood */
    wfre_arena *arena;
    wfre_error *error;
} wfre_cursor;

/* Passes over blanks; the next byte, or '\0' at the end. */
char wfre_scan_peek(wfre_cursor *cursor);
/* Passes over blanks and this character, if it comes next. */
bool wfre_scan_accept(wfre_cursor *cursor, char c);
/* Fails at the cursor with "expected WHAT". */
wfre_status wfre_scan_expected(wfre_cursor *cursor, const char *what);
/* Passes over blanks and this character, or fails so. */
WFRE_NODISCARD wfre_status wfre_scan_expect(wfre_cursor *cursor, char c, const char *what);

/* A name or id of the text, not looked up yet. */
typedef struct wfre_symbol {
    size_t offset; /* in the text */
    const char *bytes;
    size_t length;
    uint32_t id;  /* WFRE_NONE if it is a name */
    bool inverse; /* ^-1 stood behind it */
} wfre_symbol;

/* Reads the symbol at the cursor. ^-1 is looked for only if `relation` is true. */
WFRE_NODISCARD wfre_status wfre_scan_symbol(wfre_cursor *cursor, bool relation,
                                            wfre_symbol *symbol);
/* The entity or the directed relation it stands for. */
WFRE_NODISCARD wfre_status wfre_resolve_entity(wfre_cursor *cursor, const wfre_symbol *symbol,
                                               wfre_entity *entity);
WFRE_NODISCARD wfre_status wfre_resolve_relation(wfre_cursor *cursor, const wfre_symbol *symbol,
                                                 wfre_relation *relation);

/* The operators of the logic notation that are not one ASCII character: Unicode symbols, which also
 * end a bare name, and keywords, which must be quoted to be a name. The length in bytes of the one
 * that text begins with, 0 if there is none; *ascii is & | ! E (exists) or A (forall). */
size_t wfre_scan_logic_symbol(const char *text, size_t length, char *ascii);
size_t wfre_scan_keyword(const char *text, size_t length, char *ascii);

/* Whether the text, which is not empty, begins with a byte that the name of a variable can have. */
bool wfre_scan_is_name_byte(const char *text, size_t length);

/* Writes names so that every notation reads them back; with graph == NULL, and for ids that the
 * graph does not have, writes #ids. */
void wfre_print_entity(wfre_text *text, const wfre_graph *graph, wfre_entity entity);
void wfre_print_relation(wfre_text *text, const wfre_graph *graph, wfre_relation relation);

#endif
