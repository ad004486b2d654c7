/* Input and tokens of RDF text. */
#include "graph/rdf_lexer.h"

#include <stdarg.h>
#include <string.h>

#include "base/memory.h"

/* Bytes behind the one at hand stay, so that the dots after a name can be given back. */
enum { PAGE = 1 << 18, KEPT = 256 };

/* ---- input -------------------------------------------------------------------------------- */

wfre_status wfre_rdf_lexer_open(wfre_rdf_lexer *lexer, wfre_reader *reader, wfre_error *error)
{
    *lexer = (wfre_rdf_lexer){.reader = reader, .capacity = PAGE, .line = 1, .error = error};
    lexer->buffer = wfre_alloc(PAGE, 1);
    if (!lexer->buffer)
        return wfre_fail_memory(error, "reading RDF");
    if (wfre_rdf_peek(lexer) != WFRE_RDF_END)
        lexer->at = wfre_byte_order_mark(lexer->buffer, lexer->end);
    lexer->line_start = lexer->at;
    return lexer->status;
}

void wfre_rdf_lexer_close(wfre_rdf_lexer *lexer)
{
    wfre_free(lexer->buffer);
    lexer->buffer = NULL;
}

/* The byte at hand ends a line. */
static void count_line(wfre_rdf_lexer *lexer)
{
    lexer->line++;
    lexer->line_start = lexer->offset + lexer->at + 1;
    lexer->inner = 0;
}

static uint64_t count_inner(const char *bytes, size_t length)
{
    uint64_t count = 0;
    for (size_t i = 0; i < length; i++)
        count += ((unsigned char)bytes[i] & 0xC0) == 0x80;
    return count;
}

/* Drops what is behind, keeping count of characters in the line at hand. */
static void drop(wfre_rdf_lexer *lexer)
{
    size_t begin =
        lexer->line_start > lexer->offset ? (size_t)(lexer->line_start - lexer->offset) : 0;
    size_t gone = lexer->at > KEPT ? lexer->at - KEPT : 0;
    if (begin < gone)
        lexer->inner += count_inner(lexer->buffer + begin, gone - begin);
    memmove(lexer->buffer, lexer->buffer + gone, lexer->held - gone);
    lexer->offset += gone;
    lexer->held -= gone;
    lexer->end -= gone;
    lexer->at -= gone;
}

/* Moves `end` over whole characters of what was read; fails at a byte that is not UTF-8. */
static void check_text(wfre_rdf_lexer *lexer)
{
    size_t at = lexer->end;
    while (at < lexer->held) {
        uint64_t eight = 0;
        if (lexer->held - at >= 8)
            memcpy(&eight, lexer->buffer + at, 8);
        if (lexer->held - at >= 8 && (eight & 0x8080808080808080u) == 0) {
            at += 8;
            continue;
        }
        size_t length = wfre_utf8_sequence(lexer->buffer + at, lexer->held - at);
        if (length == 0 && !lexer->ended && lexer->held - at < 4)
            break; /* perhaps the rest of it comes */
        if (length == 0) {
            for (; lexer->at < at; lexer->at++)
                if (lexer->buffer[lexer->at] == '\n')
                    count_line(lexer);
            lexer->status =
                wfre_rdf_fail(lexer, false, "not UTF-8; convert the file, e.g. with iconv");
            at = lexer->held = lexer->at;
        } else {
            at += length;
        }
    }
    lexer->end = at;
}

/* The byte `ahead` places behind the one at hand, reading on if it is not held. */
static int read_on(wfre_rdf_lexer *lexer, size_t ahead)
{
    while (lexer->at + ahead >= lexer->end && !lexer->ended && lexer->status == WFRE_OK) {
        size_t got = 0;
        drop(lexer);
        lexer->status = wfre_reader_read(lexer->reader, lexer->buffer + lexer->held,
                                         lexer->capacity - lexer->held, &got, lexer->error);
        if (lexer->status != WFRE_OK)
            break;
        lexer->held += got;
        lexer->ended = got == 0;
        check_text(lexer);
    }
    return lexer->status == WFRE_OK && lexer->at + ahead < lexer->end
               ? (unsigned char)lexer->buffer[lexer->at + ahead]
               : WFRE_RDF_END;
}

int wfre_rdf_refill(wfre_rdf_lexer *lexer)
{
    return read_on(lexer, 0);
}

int wfre_rdf_peek_second(wfre_rdf_lexer *lexer)
{
    return read_on(lexer, 1);
}

/* ---- messages ----------------------------------------------------------------------------- */

wfre_status wfre_rdf_fail(wfre_rdf_lexer *lexer, bool at_mark, const char *format, ...)
{
    char message[600];
    va_list args;
    if (lexer->status != WFRE_OK)
        return lexer->status;
    va_start(args, format);
    (void)vsnprintf(message, sizeof message, format, args);
    va_end(args);
    uint64_t place = lexer->offset + lexer->at;
    if (at_mark && lexer->mark >= lexer->line_start && lexer->mark >= lexer->offset)
        place = lexer->mark;
    size_t begin =
        lexer->line_start > lexer->offset ? (size_t)(lexer->line_start - lexer->offset) : 0;
    uint64_t inner =
        lexer->inner + count_inner(lexer->buffer + begin, (size_t)(place - lexer->offset) - begin);
    return wfre_fail(lexer->error, WFRE_ERR_FORMAT, (size_t)place, "%s:%llu:%llu: %s",
                     wfre_reader_name(lexer->reader), (unsigned long long)lexer->line,
                     (unsigned long long)(place - lexer->line_start - inner + 1), message);
}

wfre_status wfre_rdf_unexpected(wfre_rdf_lexer *lexer, const char *wanted)
{
    int c = wfre_rdf_peek(lexer);
    if (c == WFRE_RDF_END)
        return wfre_rdf_fail(lexer, false, "the file ends where %s should be", wanted);
    size_t length = wfre_utf8_sequence(lexer->buffer + lexer->at, lexer->end - lexer->at);
    if (c == '\n' || c == '\r')
        return wfre_rdf_fail(lexer, false, "the line ends where %s should be", wanted);
    if (c < ' ' || c == 0x7F)
        return wfre_rdf_fail(lexer, false, "byte %02X where %s should be", (unsigned)c, wanted);
    return wfre_rdf_fail(lexer, false, "'%.*s' where %s should be", (int)length,
                         lexer->buffer + lexer->at, wanted);
}

/* ---- space -------------------------------------------------------------------------------- */

void wfre_rdf_space(wfre_rdf_lexer *lexer)
{
    for (;;) {
        int c = wfre_rdf_peek(lexer);
        if (c == '#') {
            while (c != '\n' && c != '\r' && c != WFRE_RDF_END) {
                wfre_rdf_skip(lexer);
                c = wfre_rdf_peek(lexer);
            }
        } else if (c == '\n') {
            count_line(lexer);
            wfre_rdf_skip(lexer);
        } else if (c == ' ' || c == '\t' || c == '\r') {
            wfre_rdf_skip(lexer);
        } else {
            return;
        }
    }
}

void wfre_rdf_blanks(wfre_rdf_lexer *lexer)
{
    for (int c = wfre_rdf_peek(lexer); c == ' ' || c == '\t'; c = wfre_rdf_peek(lexer))
        wfre_rdf_skip(lexer);
}

wfre_status wfre_rdf_expect(wfre_rdf_lexer *lexer, char byte, const char *wanted)
{
    if (wfre_rdf_peek(lexer) != (unsigned char)byte)
        return wfre_rdf_unexpected(lexer, wanted);
    wfre_rdf_skip(lexer);
    return WFRE_OK;
}

/* ---- characters --------------------------------------------------------------------------- */

static void append_point(wfre_text *text, uint32_t point)
{
    if (point < 0x80) {
        wfre_text_char(text, (char)point);
    } else if (point < 0x800) {
        wfre_text_char(text, (char)(unsigned char)(0xC0 | point >> 6));
        wfre_text_char(text, (char)(unsigned char)(0x80 | (point & 0x3F)));
    } else if (point < 0x10000) {
        wfre_text_char(text, (char)(unsigned char)(0xE0 | point >> 12));
        wfre_text_char(text, (char)(unsigned char)(0x80 | (point >> 6 & 0x3F)));
        wfre_text_char(text, (char)(unsigned char)(0x80 | (point & 0x3F)));
    } else {
        wfre_text_char(text, (char)(unsigned char)(0xF0 | point >> 18));
        wfre_text_char(text, (char)(unsigned char)(0x80 | (point >> 12 & 0x3F)));
        wfre_text_char(text, (char)(unsigned char)(0x80 | (point >> 6 & 0x3F)));
        wfre_text_char(text, (char)(unsigned char)(0x80 | (point & 0x3F)));
    }
}

static int hex_value(int c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* The digits behind \u or \U. */
static wfre_status scan_point(wfre_rdf_lexer *lexer, int digits, uint32_t *point)
{
    *point = 0;
    for (int i = 0; i < digits; i++) {
        int value = hex_value(wfre_rdf_peek(lexer));
        if (value < 0)
            return wfre_rdf_unexpected(lexer, digits == 4 ? "one of the 4 hexadecimal digits of \\u"
                                                          : "one of the 8 hexadecimal digits of "
                                                            "\\U");
        *point = *point << 4 | (uint32_t)value;
        wfre_rdf_skip(lexer);
    }
    if (*point > 0x10FFFF || (*point >= 0xD800 && *point <= 0xDFFF))
        return wfre_rdf_fail(lexer, false, "the escape before this is no character: U+%04X",
                             *point);
    return WFRE_OK;
}

/* The character at hand and its length in bytes; 0 at the end. */
static uint32_t peek_point(wfre_rdf_lexer *lexer, size_t *length)
{
    int c = wfre_rdf_peek(lexer);
    *length = c == WFRE_RDF_END ? 0 : 1;
    if (c < 0x80)
        return c == WFRE_RDF_END ? 0 : (uint32_t)c;
    const unsigned char *bytes = (const unsigned char *)lexer->buffer + lexer->at;
    *length = c < 0xE0 ? 2 : c < 0xF0 ? 3 : 4; /* whole, as the input is checked */
    uint32_t point = (uint32_t)c & (0x7Fu >> *length);
    for (size_t i = 1; i < *length; i++)
        point = point << 6 | (bytes[i] & 0x3Fu);
    return point;
}

static bool is_letter(int c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_digit(int c)
{
    return c >= '0' && c <= '9';
}

/* PN_CHARS_BASE of the grammars. */
static bool is_base(uint32_t c)
{
    static const uint32_t ranges[][2] = {
        {0xC0, 0xD6},     {0xD8, 0xF6},     {0xF8, 0x2FF},    {0x370, 0x37D},
        {0x37F, 0x1FFF},  {0x200C, 0x200D}, {0x2070, 0x218F}, {0x2C00, 0x2FEF},
        {0x3001, 0xD7FF}, {0xF900, 0xFDCF}, {0xFDF0, 0xFFFD}, {0x10000, 0xEFFFF},
    };
    if (c < 0x80)
        return is_letter((int)c);
    for (size_t i = 0; i < sizeof ranges / sizeof ranges[0]; i++)
        if (c >= ranges[i][0] && c <= ranges[i][1])
            return true;
    return false;
}

/* PN_CHARS: what a name goes on with. */
static bool is_name(uint32_t c)
{
    if (c < 0x80)
        return is_letter((int)c) || is_digit((int)c) || c == '_' || c == '-';
    return is_base(c) || c == 0xB7 || (c >= 0x300 && c <= 0x36F) || c == 0x203F || c == 0x2040;
}

static wfre_status text_status(wfre_rdf_lexer *lexer, const wfre_text *text)
{
    return lexer->status != WFRE_OK ? lexer->status
                                    : wfre_text_status(text, "reading RDF", lexer->error);
}

/* ---- IRIs and strings --------------------------------------------------------------------- */

static bool may_be_in_iri(uint32_t c)
{
    return c > ' ' && !(c < 0x80 && strchr("<>\"{}|^`\\", (int)c));
}

/* Bytes that end a run of ordinary ones: bit 1 in IRIs, bit 2 in strings. */
static const unsigned char SPECIAL[256] = {
    /* up to the blank */
    1,          1,         1,          1,         1,         1,         1,         1,
    1,          1,         3,          1,         1,         3,         1,         1,
    1,          1,         1,          1,         1,         1,         1,         1,
    1,          1,         1,          1,         1,         1,         1,         1,
    1,          ['<'] = 1, ['>'] = 1,  ['{'] = 1, ['}'] = 1, ['|'] = 1, ['^'] = 1, ['`'] = 1,
    ['\\'] = 3, ['"'] = 3, ['\''] = 2,
};

/* Appends ordinary bytes up to one with a bit of `kind` or the end of what is held. */
static void take_run(wfre_rdf_lexer *lexer, unsigned char kind, wfre_text *text)
{
    size_t begin = lexer->at;
    while (lexer->at < lexer->end && !(SPECIAL[(unsigned char)lexer->buffer[lexer->at]] & kind))
        lexer->at++;
    wfre_text_append(text, lexer->buffer + begin, lexer->at - begin);
}

wfre_status wfre_rdf_scan_iri(wfre_rdf_lexer *lexer, wfre_text *iri)
{
    wfre_rdf_mark(lexer);
    CHECK(wfre_rdf_expect(lexer, '<', "an IRI"));
    for (;;) {
        take_run(lexer, 1, iri);
        int c = wfre_rdf_peek(lexer);
        if (c == '>')
            break;
        if (c == WFRE_RDF_END)
            return wfre_rdf_fail(lexer, true, "the '>' of this IRI is missing");
        if (c != '\\') {
            if (SPECIAL[c] & 1)
                return wfre_rdf_unexpected(lexer, "a character of an IRI or its '>'");
            continue; /* read on after a refill */
        }
        uint32_t point;
        wfre_rdf_skip(lexer);
        c = wfre_rdf_peek(lexer);
        if (c != 'u' && c != 'U')
            return wfre_rdf_unexpected(lexer, "the u or U of an escape in an IRI");
        wfre_rdf_skip(lexer);
        CHECK(scan_point(lexer, c == 'u' ? 4 : 8, &point));
        if (!may_be_in_iri(point))
            return wfre_rdf_fail(lexer, true, "an IRI with U+%04X in it, written as an escape",
                                 point);
        append_point(iri, point);
    }
    wfre_rdf_skip(lexer);
    return text_status(lexer, iri);
}

/* Behind a backslash in a string. */
static wfre_status scan_escape(wfre_rdf_lexer *lexer, wfre_text *text)
{
    static const char letters[] = "tbnrf\"'\\", meant[] = "\t\b\n\r\f\"'\\";
    int c = wfre_rdf_peek(lexer);
    const char *found = c > 0 ? strchr(letters, c) : NULL;
    if (found) {
        wfre_text_char(text, meant[found - letters]);
        wfre_rdf_skip(lexer);
        return WFRE_OK;
    }
    if (c != 'u' && c != 'U')
        return wfre_rdf_unexpected(lexer, "an escape such as \\n or \\u0041");
    uint32_t point;
    wfre_rdf_skip(lexer);
    wfre_status status = scan_point(lexer, c == 'u' ? 4 : 8, &point);
    if (status == WFRE_OK)
        append_point(text, point);
    return status;
}

/* Counts up to three quotes at hand; those of the end of a long string are skipped, others are
 * part of it. */
static bool scan_quotes(wfre_rdf_lexer *lexer, int quote, wfre_text *text)
{
    int count = 0;
    while (count < 3 && wfre_rdf_peek(lexer) == quote) {
        wfre_rdf_skip(lexer);
        count++;
    }
    for (int i = 0; i < count && count < 3; i++)
        wfre_text_char(text, (char)quote);
    return count == 3;
}

/* The rest of a string whose first quotes are read. */
static wfre_status scan_body(wfre_rdf_lexer *lexer, int quote, bool is_long, wfre_text *text)
{
    for (;;) {
        take_run(lexer, 2, text);
        int c = wfre_rdf_peek(lexer);
        if (c == WFRE_RDF_END)
            return wfre_rdf_fail(lexer, false, "the file ends within a string");
        if (c == quote) {
            if (is_long ? scan_quotes(lexer, quote, text) : (wfre_rdf_skip(lexer), true))
                break;
        } else if (c == '\\') {
            wfre_rdf_skip(lexer);
            CHECK(scan_escape(lexer, text));
        } else if ((c == '\n' || c == '\r') && !is_long) {
            return wfre_rdf_fail(lexer, false, "the line ends within a string");
        } else if (SPECIAL[c] & 2) {
            if (c == '\n')
                count_line(lexer);
            wfre_text_char(text, (char)c);
            wfre_rdf_skip(lexer);
        }
    }
    return text_status(lexer, text);
}

wfre_status wfre_rdf_scan_string(wfre_rdf_lexer *lexer, bool plain, wfre_text *text)
{
    int quote = wfre_rdf_peek(lexer);
    wfre_rdf_mark(lexer);
    if (quote != '"' && (plain || quote != '\''))
        return wfre_rdf_unexpected(lexer, "a string");
    wfre_rdf_skip(lexer);
    if (plain || wfre_rdf_peek(lexer) != quote)
        return scan_body(lexer, quote, false, text);
    wfre_rdf_skip(lexer); /* the empty string, or a long one */
    if (wfre_rdf_peek(lexer) != quote)
        return text_status(lexer, text);
    wfre_rdf_skip(lexer);
    return scan_body(lexer, quote, true, text);
}

wfre_status wfre_rdf_scan_language(wfre_rdf_lexer *lexer, wfre_text *tag)
{
    wfre_rdf_mark(lexer);
    wfre_rdf_skip(lexer); /* the @ */
    for (bool first = true;; first = false) {
        int c = wfre_rdf_peek(lexer);
        if (!is_letter(c) && (first || !is_digit(c)))
            return wfre_rdf_unexpected(lexer, "a letter of the language tag");
        for (; is_letter(c) || (!first && is_digit(c)); c = wfre_rdf_peek(lexer)) {
            wfre_text_char(tag, (char)c);
            wfre_rdf_skip(lexer);
        }
        if (c != '-')
            return text_status(lexer, tag);
        wfre_text_char(tag, '-');
        wfre_rdf_skip(lexer);
    }
}

/* ---- names -------------------------------------------------------------------------------- */

static void take_point(wfre_rdf_lexer *lexer, size_t length, wfre_text *text)
{
    wfre_text_append(text, lexer->buffer + lexer->at, length);
    lexer->at += length;
}

/* What a local name may have besides: %XX as it is, and characters behind a backslash. */
static wfre_status scan_special(wfre_rdf_lexer *lexer, wfre_text *text)
{
    bool coded = wfre_rdf_peek(lexer) == '%';
    wfre_rdf_skip(lexer);
    if (coded)
        wfre_text_char(text, '%');
    for (int i = 0; i < 1 + coded; i++) {
        int c = wfre_rdf_peek(lexer);
        if (coded && hex_value(c) < 0)
            return wfre_rdf_unexpected(lexer, "a hexadecimal digit of %XX");
        if (!coded && (c <= 0 || !strchr("_~.-!$&'()*+,;=/?#@%", c)))
            return wfre_rdf_unexpected(lexer, "a character that names may have behind '\\'");
        wfre_text_char(text, (char)c);
        wfre_rdf_skip(lexer);
    }
    return WFRE_OK;
}

/* Goes on with a name: characters of names and dots, which are not its own at its end; in a local
 * name also colons, %XX and escapes. */
static wfre_status scan_name(wfre_rdf_lexer *lexer, bool local, wfre_text *text)
{
    size_t dots = 0; /* at the end so far */
    for (;;) {
        size_t length;
        uint32_t point = peek_point(lexer, &length);
        if (point == '.') {
            if (++dots > KEPT)
                return wfre_rdf_fail(lexer, false, "more than %d dots in a row", KEPT);
            take_point(lexer, 1, text);
            continue;
        }
        if (local && (point == '%' || point == '\\')) {
            CHECK(scan_special(lexer, text));
        } else if (length > 0 && (is_name(point) || (local && point == ':'))) {
            take_point(lexer, length, text);
        } else {
            break;
        }
        dots = 0;
    }
    if (!text->failed)
        text->length -= dots;
    lexer->at -= dots;
    return text_status(lexer, text);
}

wfre_status wfre_rdf_scan_label(wfre_rdf_lexer *lexer, wfre_text *label)
{
    size_t length;
    uint32_t point = peek_point(lexer, &length);
    if (length == 0 || !(is_base(point) || point == '_' || is_digit((int)point)))
        return wfre_rdf_unexpected(lexer, "the label of a blank node");
    return scan_name(lexer, false, label);
}

wfre_status wfre_rdf_scan_word(wfre_rdf_lexer *lexer, wfre_text *word)
{
    size_t length;
    uint32_t point = peek_point(lexer, &length);
    wfre_rdf_mark(lexer);
    if (length == 0 || !is_base(point))
        return lexer->status;
    return scan_name(lexer, false, word);
}

wfre_status wfre_rdf_scan_local(wfre_rdf_lexer *lexer, wfre_text *local)
{
    size_t length;
    uint32_t point = peek_point(lexer, &length);
    bool begins = length > 0 && (is_base(point) || point == '_' || point == ':' || point == '%' ||
                                 point == '\\' || is_digit((int)point));
    return begins ? scan_name(lexer, true, local) : lexer->status;
}

/* ---- numbers ------------------------------------------------------------------------------ */

static size_t take_digits(wfre_rdf_lexer *lexer, wfre_text *digits)
{
    size_t count = 0;
    for (int c = wfre_rdf_peek(lexer); is_digit(c); c = wfre_rdf_peek(lexer), count++)
        take_point(lexer, 1, digits);
    return count;
}

wfre_status wfre_rdf_scan_number(wfre_rdf_lexer *lexer, wfre_text *digits, const char **type)
{
    int c = wfre_rdf_peek(lexer);
    wfre_rdf_mark(lexer);
    *type = "http://www.w3.org/2001/XMLSchema#integer";
    if (c == '+' || c == '-')
        take_point(lexer, 1, digits);
    size_t whole = take_digits(lexer, digits), part = 0;
    if (wfre_rdf_peek(lexer) == '.') {
        /* 1. is a number and the end of a statement, but 1.e5 is a number */
        int next = wfre_rdf_peek_second(lexer);
        if (is_digit(next) || (whole > 0 && (next == 'e' || next == 'E'))) {
            take_point(lexer, 1, digits);
            part = take_digits(lexer, digits);
            *type = "http://www.w3.org/2001/XMLSchema#decimal";
        }
    }
    if (whole + part == 0)
        return wfre_rdf_unexpected(lexer, "a digit");
    c = wfre_rdf_peek(lexer);
    if (c == 'e' || c == 'E') {
        take_point(lexer, 1, digits);
        c = wfre_rdf_peek(lexer);
        if (c == '+' || c == '-')
            take_point(lexer, 1, digits);
        if (take_digits(lexer, digits) == 0)
            return wfre_rdf_unexpected(lexer, "a digit of the exponent");
        *type = "http://www.w3.org/2001/XMLSchema#double";
    }
    return text_status(lexer, digits);
}
