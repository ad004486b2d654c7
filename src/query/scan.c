/* Cursor, names and ids, for all notations. */
#include "query/scan.h"

#include <string.h>

/* ---- characters -------------------------------------------------------------------------------
 */

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

char wfre_scan_peek(wfre_cursor *cursor)
{
    while (cursor->at < cursor->length && is_blank(cursor->text[cursor->at]))
        cursor->at++;
    return cursor->at < cursor->length ? cursor->text[cursor->at] : '\0';
}

bool wfre_scan_accept(wfre_cursor *cursor, char c)
{
    if (wfre_scan_peek(cursor) != c || cursor->at == cursor->length)
        return false;
    cursor->at++;
    return true;
}

wfre_status wfre_scan_expected(wfre_cursor *cursor, const char *what)
{
    (void)wfre_scan_peek(cursor);
    const char *end = cursor->at == cursor->length ? ", but the query ends here" : "";
    return wfre_fail(cursor->error, WFRE_ERR_FORMAT, cursor->at, "expected %s%s", what, end);
}

size_t wfre_scan_logic_symbol(const char *text, size_t length, char *ascii)
{
    static const struct {
        const char *bytes;
        char ascii;
    } SYMBOLS[] = {
        {"\xE2\x88\xA7", '&'}, /* logical and */
        {"\xE2\x88\xA8", '|'}, /* logical or */
        {"\xC2\xAC", '!'},     /* not sign */
        {"\xE2\x88\x83", 'E'}, /* there exists */
        {"\xE2\x88\x80", 'A'}, /* for all */
    };
    for (size_t i = 0; i < sizeof SYMBOLS / sizeof SYMBOLS[0]; i++) {
        size_t size = strlen(SYMBOLS[i].bytes);
        if (size <= length && memcmp(text, SYMBOLS[i].bytes, size) == 0) {
            *ascii = SYMBOLS[i].ascii;
            return size;
        }
    }
    return 0;
}

/* ---- reading names ----------------------------------------------------------------------------
 */

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* The byte that the escape at text[at] (behind the backslash) means; -1 if it is none. */
static int unescape(const wfre_cursor *cursor, size_t at, size_t *size)
{
    static const char LETTERS[] = "\\\"'ntr", VALUES[] = "\\\"'\n\t\r";
    *size = 1;
    char c = cursor->text[at];
    const char *letter = c ? strchr(LETTERS, c) : NULL;
    if (letter)
        return VALUES[letter - LETTERS];
    if (c != 'x' || cursor->length - at < 3)
        return -1;
    int high = hex_digit(cursor->text[at + 1]), low = hex_digit(cursor->text[at + 2]);
    *size = 3;
    return high < 0 || low < 0 ? -1 : high * 16 + low;
}

static wfre_status scan_quoted(wfre_cursor *cursor, wfre_symbol *symbol)
{
    char quote = cursor->text[cursor->at++];
    size_t end = cursor->at;
    while (end < cursor->length && cursor->text[end] != quote)
        end += cursor->text[end] == '\\' && end + 1 < cursor->length ? 2 : 1;
    if (end >= cursor->length)
        return wfre_fail(cursor->error, WFRE_ERR_FORMAT, symbol->offset,
                         "this quote is never closed");
    char *bytes = wfre_arena_alloc(cursor->arena, end - cursor->at + 1, 1);
    if (!bytes)
        return wfre_fail_memory(cursor->error, "reading a name");
    size_t length = 0;
    while (cursor->at < end) {
        char c = cursor->text[cursor->at++];
        if (c == '\\') {
            size_t size;
            int value = unescape(cursor, cursor->at, &size);
            if (value < 0 || cursor->at + size > end)
                return wfre_fail(cursor->error, WFRE_ERR_FORMAT, cursor->at - 1,
                                 "unknown escape; use \\\\ \\\" \\n \\t \\r or \\xHH");
            c = (char)value;
            cursor->at += size;
        }
        bytes[length++] = c;
    }
    cursor->at = end + 1;
    symbol->bytes = bytes;
    symbol->length = length;
    symbol->quoted = true;
    return WFRE_OK;
}

static void scan_bare(wfre_cursor *cursor, wfre_symbol *symbol)
{
    bool logic = strchr(cursor->stops, '&') != NULL;
    char ascii;
    while (cursor->at < cursor->length) {
        const char *next = cursor->text + cursor->at;
        if (is_blank(*next) || *next == '\0' || strchr(cursor->stops, *next) ||
            (logic && wfre_scan_logic_symbol(next, cursor->length - cursor->at, &ascii)))
            break;
        cursor->at++;
    }
    symbol->bytes = cursor->text + symbol->offset;
    symbol->length = cursor->at - symbol->offset;
}

/* Turns #12 into its number. */
static wfre_status read_id(wfre_cursor *cursor, wfre_symbol *symbol)
{
    uint64_t id = 0;
    for (size_t i = 1; i < symbol->length && id < WFRE_NONE; i++) {
        char c = symbol->bytes[i];
        id = c >= '0' && c <= '9' ? id * 10 + (uint64_t)(c - '0') : WFRE_NONE;
    }
    if (symbol->length < 2 || id >= WFRE_NONE)
        return wfre_fail(cursor->error, WFRE_ERR_FORMAT, symbol->offset,
                         "# must be followed by an id, such as #12; quote a name that starts so");
    symbol->id = (uint32_t)id;
    return WFRE_OK;
}

wfre_status wfre_scan_symbol(wfre_cursor *cursor, bool relation, wfre_symbol *symbol)
{
    static const char INVERSE[] = "^-1";
    enum { INVERSE_LENGTH = sizeof INVERSE - 1 };
    char first = wfre_scan_peek(cursor);
    *symbol = (wfre_symbol){.offset = cursor->at, .id = WFRE_NONE};
    if (first == '"' || first == '\'') {
        wfre_status status = scan_quoted(cursor, symbol);
        if (status != WFRE_OK)
            return status;
        const char *rest = cursor->text + cursor->at;
        if (relation && cursor->length - cursor->at >= INVERSE_LENGTH &&
            memcmp(rest, INVERSE, INVERSE_LENGTH) == 0) {
            symbol->inverse = true;
            cursor->at += INVERSE_LENGTH;
        }
        return WFRE_OK;
    }
    scan_bare(cursor, symbol);
    if (symbol->length == 0)
        return wfre_scan_expected(cursor, relation ? "a relation" : "an entity");
    if (relation && symbol->length > INVERSE_LENGTH &&
        memcmp(symbol->bytes + symbol->length - INVERSE_LENGTH, INVERSE, INVERSE_LENGTH) == 0) {
        symbol->inverse = true;
        symbol->length -= INVERSE_LENGTH;
    }
    return first == '#' ? read_id(cursor, symbol) : WFRE_OK;
}

/* ---- looking them up --------------------------------------------------------------------------
 */

static wfre_status resolve(wfre_cursor *cursor, const wfre_symbol *symbol, const char *kind,
                           uint32_t *id)
{
    if (symbol->id == WFRE_NONE)
        return wfre_fail(cursor->error, WFRE_ERR_NOT_FOUND, symbol->offset,
                         "names need a graph; without one give the %s as an id, such as #12", kind);
    *id = symbol->id;
    return WFRE_OK;
}

wfre_status wfre_resolve_entity(wfre_cursor *cursor, const wfre_symbol *symbol, wfre_entity *entity)
{
    return resolve(cursor, symbol, "entity", entity);
}

wfre_status wfre_resolve_relation(wfre_cursor *cursor, const wfre_symbol *symbol,
                                  wfre_relation *relation)
{
    wfre_status status = resolve(cursor, symbol, "relation", relation);
    if (status == WFRE_OK && symbol->inverse)
        *relation ^= 1;
    return status;
}

/* ---- writing names ----------------------------------------------------------------------------
 */

void wfre_print_entity(wfre_text *text, const wfre_graph *graph, wfre_entity entity)
{
    (void)graph;
    wfre_text_format(text, "#%u", entity);
}

void wfre_print_relation(wfre_text *text, const wfre_graph *graph, wfre_relation relation)
{
    (void)graph;
    wfre_text_format(text, "#%u", relation);
}
