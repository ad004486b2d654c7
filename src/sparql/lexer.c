/* The tokens of a SPARQL query (section 19.8 of the recommendation).
 *
 * Escapes of the form \uXXXX may stand anywhere, so they are resolved before anything else. All
 * offsets that leave this file are those of the text as the user wrote it. */
#include "sparql/lexer.h"

#include <string.h>
#include <strings.h>

#include "base/scope.h"

/* From this offset of the resolved text on, the user's text is `shift` bytes ahead. */
typedef struct wfre_sq_jump {
    size_t at, shift;
} wfre_sq_jump;

static wfre_status out_of_memory(const wfre_sq_lexer *lexer)
{
    return wfre_fail_memory(lexer->error, "reading a SPARQL query");
}

static size_t place(const wfre_sq_lexer *lexer, size_t at)
{
    size_t first = 0, end = lexer->jump_count; /* the jumps up to `first` are not behind `at` */
    while (first < end) {
        size_t middle = first + (end - first) / 2;
        if (lexer->jumps[middle].at <= at)
            first = middle + 1;
        else
            end = middle;
    }
    return at + (first > 0 ? lexer->jumps[first - 1].shift : 0);
}

/* ---- characters --------------------------------------------------------------------------- */

uint32_t wfre_sq_decode(const char *bytes, size_t length, size_t *size)
{
    const unsigned char *s = (const unsigned char *)bytes;
    *size = wfre_utf8_sequence(bytes, length);
    switch (*size) {
    case 2:
        return (uint32_t)(s[0] & 0x1F) << 6 | (s[1] & 0x3F);
    case 3:
        return (uint32_t)(s[0] & 0x0F) << 12 | (uint32_t)(s[1] & 0x3F) << 6 | (s[2] & 0x3F);
    case 4:
        return (uint32_t)(s[0] & 0x07) << 18 | (uint32_t)(s[1] & 0x3F) << 12 |
               (uint32_t)(s[2] & 0x3F) << 6 | (s[3] & 0x3F);
    default:
        *size = 1;
        return s[0];
    }
}

size_t wfre_sq_encode(uint32_t c, char *bytes)
{
    if (c < 0x80) {
        bytes[0] = (char)c;
        return 1;
    }
    size_t size = c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    for (size_t i = size; i-- > 1; c >>= 6)
        bytes[i] = (char)(0x80 | (c & 0x3F));
    static const unsigned char LEAD[] = {0, 0, 0xC0, 0xE0, 0xF0};
    bytes[0] = (char)(LEAD[size] | c);
    return size;
}

static bool is_digit(uint32_t c)
{
    return c >= '0' && c <= '9';
}

static bool is_letter(uint32_t c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static int hex_value(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* PN_CHARS_BASE */
static bool is_base(uint32_t c)
{
    static const uint32_t RANGES[][2] = {{0xC0, 0xD6},     {0xD8, 0xF6},     {0xF8, 0x2FF},
                                         {0x370, 0x37D},   {0x37F, 0x1FFF},  {0x200C, 0x200D},
                                         {0x2070, 0x218F}, {0x2C00, 0x2FEF}, {0x3001, 0xD7FF},
                                         {0xF900, 0xFDCF}, {0xFDF0, 0xFFFD}, {0x10000, 0xEFFFF}};
    if (c < 0x80)
        return is_letter(c);
    for (size_t i = 0; i < sizeof RANGES / sizeof *RANGES; i++)
        if (c >= RANGES[i][0] && c <= RANGES[i][1])
            return true;
    return false;
}

/* What a variable's name consists of: VARNAME. */
static bool is_name(uint32_t c)
{
    return is_base(c) || c == '_' || is_digit(c) || c == 0xB7 || (c >= 0x300 && c <= 0x36F) ||
           c == 0x203F || c == 0x2040;
}

/* PN_CHARS */
static bool is_inner(uint32_t c)
{
    return is_name(c) || c == '-';
}

static uint32_t peek(const wfre_sq_lexer *lexer, size_t at, size_t *size)
{
    if (at >= lexer->length) {
        *size = 0;
        return 0;
    }
    return wfre_sq_decode(lexer->text + at, lexer->length - at, size);
}

static char byte(const wfre_sq_lexer *lexer, size_t at)
{
    return at < lexer->length ? lexer->text[at] : '\0';
}

/* ---- opening ------------------------------------------------------------------------------ */

/* The character of a \uXXXX or \UXXXXXXXX at `s`; its length in bytes, 0 if it is none. */
static size_t read_escape(const char *s, size_t length, uint32_t *character)
{
    size_t digits = length < 2 || s[0] != '\\' ? 0 : s[1] == 'u' ? 4 : s[1] == 'U' ? 8 : 0;
    if (digits == 0 || length < 2 + digits)
        return 0;
    uint32_t c = 0;
    for (size_t i = 0; i < digits; i++) {
        int value = hex_value(s[2 + i]);
        if (value < 0 || c > 0x10FFFF)
            return 0;
        c = c << 4 | (uint32_t)value;
    }
    if (c == 0 || c > 0x10FFFF || (c >= 0xD800 && c <= 0xDFFF))
        return 0;
    *character = c;
    return 2 + digits;
}

static wfre_status resolve_escapes(wfre_sq_lexer *lexer, const char *text, size_t length,
                                   size_t count)
{
    char *out = wfre_arena_alloc(lexer->arena, length + 1, 1);
    lexer->jumps = wfre_arena_alloc(lexer->arena, count, sizeof *lexer->jumps);
    if (!out || !lexer->jumps)
        return out_of_memory(lexer);
    size_t used = 0;
    for (size_t i = 0; i < length;) {
        uint32_t c = 0;
        size_t escape = read_escape(text + i, length - i, &c);
        if (escape) {
            used += wfre_sq_encode(c, out + used);
            i += escape;
            lexer->jumps[lexer->jump_count++] = (wfre_sq_jump){used, i - used};
            continue;
        }
        if (text[i] == '\\' && i + 1 < length)
            out[used++] = text[i++];
        out[used++] = text[i++];
    }
    lexer->text = out;
    lexer->length = used;
    return WFRE_OK;
}

wfre_status wfre_sq_lexer_open(wfre_sq_lexer *lexer, wfre_arena *arena, const char *text,
                               size_t length, wfre_error *error)
{
    *lexer = (wfre_sq_lexer){.text = text, .length = length, .arena = arena, .error = error};
    size_t escapes = 0;
    for (size_t i = 0; i < length;) {
        size_t step = wfre_utf8_sequence(text + i, length - i);
        if (step == 0 || text[i] == '\0')
            return wfre_fail(error, WFRE_ERR_FORMAT, i, "the query is not UTF-8 text");
        escapes += text[i] == '\\' && i + 1 < length && (text[i + 1] | 0x20) == 'u';
        i += step;
    }
    return escapes ? resolve_escapes(lexer, text, length, escapes) : WFRE_OK;
}

/* ---- tokens ------------------------------------------------------------------------------- */

static wfre_status fail_at(const wfre_sq_lexer *lexer, size_t at, const char *what)
{
    return wfre_fail(lexer->error, WFRE_ERR_FORMAT, place(lexer, at), "%s", what);
}

static wfre_name piece(const wfre_sq_lexer *lexer, size_t begin, size_t end)
{
    return (wfre_name){lexer->text + begin, end - begin};
}

static void skip_blanks(wfre_sq_lexer *lexer)
{
    while (lexer->at < lexer->length) {
        char c = lexer->text[lexer->at];
        if (c == '#')
            while (byte(lexer, lexer->at) != '\0' && byte(lexer, lexer->at) != '\n' &&
                   byte(lexer, lexer->at) != '\r')
                lexer->at++;
        else if (c == ' ' || c == '\t' || c == '\n' || c == '\r')
            lexer->at++;
        else
            return;
    }
}

/* The end of the IRI that begins at `at`, 0 if there is none: then < is an operator. */
static size_t iri_end(const wfre_sq_lexer *lexer, size_t at)
{
    for (at++; at < lexer->length; at++) {
        unsigned char c = (unsigned char)lexer->text[at];
        if (c == '>')
            return at + 1;
        if (c <= 0x20 || strchr("<\"{}|^`\\", c))
            return 0;
    }
    return 0;
}

/* Characters, with dots inside but not at the end; the end. */
static size_t name_end(const wfre_sq_lexer *lexer, size_t at)
{
    size_t end = at, size = 0;
    for (uint32_t c = peek(lexer, at, &size); size && (is_inner(c) || c == '.');
         c = peek(lexer, at, &size)) {
        at += size;
        if (c != '.')
            end = at;
    }
    return end;
}

/* The length of a % or \ escape in a local name, 0 if there is none. */
static size_t local_escape(const wfre_sq_lexer *lexer, size_t at)
{
    if (byte(lexer, at) == '%' && hex_value(byte(lexer, at + 1)) >= 0 &&
        hex_value(byte(lexer, at + 2)) >= 0)
        return 3;
    char next = byte(lexer, at + 1);
    return byte(lexer, at) == '\\' && next != '\0' && strchr("_~.-!$&'()*+,;=/?#@%", next) ? 2 : 0;
}

/* The part of a prefixed name behind its colon. */
static wfre_status read_local(wfre_sq_lexer *lexer, wfre_sq_token *token)
{
    size_t begin = lexer->at, at = begin, end = begin, size = 0;
    bool escaped = false;
    while (true) {
        size_t escape = local_escape(lexer, at);
        uint32_t c = peek(lexer, at, &size);
        if (escape) {
            escaped |= lexer->text[at] == '\\';
            at += escape;
            end = at;
        } else if (size && (c == ':' || (at == begin ? is_name(c) && c != 0xB7 : is_inner(c)))) {
            at += size;
            end = at;
        } else if (c == '.' && size && at > begin) {
            at++;
        } else {
            break;
        }
    }
    lexer->at = end;
    token->text = piece(lexer, begin, end);
    if (!escaped)
        return WFRE_OK;
    char *plain = wfre_arena_alloc(lexer->arena, end - begin + 1, 1);
    if (!plain)
        return out_of_memory(lexer);
    size_t used = 0;
    for (size_t i = begin; i < end; i++) {
        i += lexer->text[i] == '\\';
        plain[used++] = lexer->text[i];
    }
    token->text = (wfre_name){plain, used};
    return WFRE_OK;
}

/* A word or a prefixed name. */
static wfre_status read_word(wfre_sq_lexer *lexer, wfre_sq_token *token)
{
    size_t begin = lexer->at, end = name_end(lexer, begin);
    if (byte(lexer, end) == ':') {
        token->kind = WFRE_SQ_PNAME;
        token->prefix = piece(lexer, begin, end);
        lexer->at = end + 1;
        return read_local(lexer, token);
    }
    for (end = begin; is_letter((unsigned char)byte(lexer, end)) ||
                      is_digit((unsigned char)byte(lexer, end)) || byte(lexer, end) == '_';)
        end++;
    if (end == begin)
        return fail_at(lexer, begin, "a character that no query has here");
    token->kind = WFRE_SQ_WORD;
    token->text = piece(lexer, begin, end);
    lexer->at = end;
    return WFRE_OK;
}

static wfre_status read_number(wfre_sq_lexer *lexer, wfre_sq_token *token)
{
    size_t begin = lexer->at, at = begin;
    token->kind = WFRE_SQ_INTEGER;
    while (is_digit((unsigned char)byte(lexer, at)))
        at++;
    bool whole = at > begin;
    if (byte(lexer, at) == '.') {
        size_t behind = at + 1;
        while (is_digit((unsigned char)byte(lexer, behind)))
            behind++;
        bool exponent = (byte(lexer, behind) | 0x20) == 'e' && (whole || behind > at + 1);
        if (behind > at + 1 || exponent) {
            at = behind;
            token->kind = WFRE_SQ_DECIMAL;
        }
    }
    if ((byte(lexer, at) | 0x20) == 'e') {
        size_t behind = at + 1;
        behind += byte(lexer, behind) == '+' || byte(lexer, behind) == '-';
        if (!is_digit((unsigned char)byte(lexer, behind)))
            return fail_at(lexer, at, "a number whose exponent has no digits");
        while (is_digit((unsigned char)byte(lexer, behind)))
            behind++;
        at = behind;
        token->kind = WFRE_SQ_DOUBLE;
    }
    lexer->at = at;
    token->text = piece(lexer, begin, at);
    return WFRE_OK;
}

/* Resolves the \n, \" ... of a string. */
static wfre_status unescape(wfre_sq_lexer *lexer, size_t begin, size_t end, wfre_sq_token *token)
{
    static const char FROM[] = "tbnrf\\\"'", TO[] = "\t\b\n\r\f\\\"'";
    char *plain = wfre_arena_alloc(lexer->arena, end - begin + 1, 1);
    if (!plain)
        return out_of_memory(lexer);
    size_t used = 0;
    for (size_t i = begin; i < end; i++) {
        char c = lexer->text[i];
        if (c == '\\') {
            const char *found = i + 1 < end ? strchr(FROM, lexer->text[i + 1]) : NULL;
            if (!found || *found == '\0')
                return fail_at(lexer, i,
                               "a backslash in a string stands in front of t b n r f \\ "
                               "\" ' or of uXXXX only");
            c = TO[found - FROM];
            i++;
        }
        plain[used++] = c;
    }
    token->text = (wfre_name){plain, used};
    return WFRE_OK;
}

static wfre_status read_string(wfre_sq_lexer *lexer, wfre_sq_token *token)
{
    size_t begin = lexer->at;
    char quote = lexer->text[begin];
    bool lengthy = byte(lexer, begin + 1) == quote && byte(lexer, begin + 2) == quote;
    size_t at = begin + (lengthy ? 3 : 1), first = at;
    bool escaped = false;
    for (;; at++) {
        if (at >= lexer->length || (!lengthy && strchr("\n\r", lexer->text[at])))
            return fail_at(lexer, begin, "a string without its closing quote");
        if (lexer->text[at] == '\\') {
            escaped = true;
            at++;
        } else if (lexer->text[at] == quote &&
                   (!lengthy || (byte(lexer, at + 1) == quote && byte(lexer, at + 2) == quote))) {
            break;
        }
    }
    token->kind = WFRE_SQ_STRING;
    lexer->at = at + (lengthy ? 3 : 1);
    if (escaped)
        return unescape(lexer, first, at, token);
    token->text = piece(lexer, first, at);
    return WFRE_OK;
}

/* A variable; a question mark that begins none is an operator of paths. */
static bool read_variable(wfre_sq_lexer *lexer, wfre_sq_token *token)
{
    size_t begin = lexer->at + 1, at = begin, size = 0;
    for (uint32_t c = peek(lexer, at, &size);
         size && (at == begin ? is_base(c) || c == '_' || is_digit(c) : is_name(c));
         c = peek(lexer, at, &size))
        at += size;
    if (at == begin)
        return false;
    token->kind = WFRE_SQ_VAR;
    token->text = piece(lexer, begin, at);
    lexer->at = at;
    return true;
}

static bool read_language(wfre_sq_lexer *lexer, wfre_sq_token *token)
{
    size_t begin = lexer->at + 1, at = begin;
    while (is_letter((unsigned char)byte(lexer, at)))
        at++;
    if (at == begin)
        return false;
    while (byte(lexer, at) == '-' && (is_letter((unsigned char)byte(lexer, at + 1)) ||
                                      is_digit((unsigned char)byte(lexer, at + 1)))) {
        at++;
        while (is_letter((unsigned char)byte(lexer, at)) ||
               is_digit((unsigned char)byte(lexer, at)))
            at++;
    }
    token->kind = WFRE_SQ_LANGTAG;
    token->text = piece(lexer, begin, at);
    lexer->at = at;
    return true;
}

static bool read_blank(wfre_sq_lexer *lexer, wfre_sq_token *token)
{
    size_t begin = lexer->at + 2, size = 0;
    uint32_t c = peek(lexer, begin, &size);
    if (!size || !(is_base(c) || c == '_' || is_digit(c)))
        return false;
    size_t end = name_end(lexer, begin);
    token->kind = WFRE_SQ_BLANK;
    token->text = piece(lexer, begin, end);
    lexer->at = end;
    return true;
}

static wfre_status read_sign(wfre_sq_lexer *lexer, wfre_sq_token *token)
{
    static const char *const PAIRS[] = {"^^", "&&", "||", "!=", "<=", ">="};
    size_t begin = lexer->at, size = 1;
    for (size_t i = 0; i < sizeof PAIRS / sizeof *PAIRS; i++)
        if (byte(lexer, begin) == PAIRS[i][0] && byte(lexer, begin + 1) == PAIRS[i][1])
            size = 2;
    if (size == 1 && !strchr("{}()[],;.=<>+-*/!|^?", lexer->text[begin]))
        return fail_at(lexer, begin, "a character that no query has here");
    token->kind = WFRE_SQ_SIGN;
    token->text = piece(lexer, begin, begin + size);
    lexer->at = begin + size;
    return WFRE_OK;
}

static wfre_status read_token(wfre_sq_lexer *lexer, wfre_sq_token *token)
{
    char c = lexer->text[lexer->at], next = byte(lexer, lexer->at + 1);
    size_t size = 0, end = 0;
    uint32_t character = peek(lexer, lexer->at, &size);
    if (c == '<' && (end = iri_end(lexer, lexer->at)) > 0) {
        token->kind = WFRE_SQ_IRIREF;
        token->text = piece(lexer, lexer->at + 1, end - 1);
        lexer->at = end;
        return WFRE_OK;
    }
    if (((c == '?' || c == '$') && read_variable(lexer, token)) ||
        (c == '@' && read_language(lexer, token)) ||
        (c == '_' && next == ':' && read_blank(lexer, token)))
        return WFRE_OK;
    if (c == '"' || c == '\'')
        return read_string(lexer, token);
    if (is_digit((unsigned char)c) || (c == '.' && is_digit((unsigned char)next)))
        return read_number(lexer, token);
    if (c == ':' || is_base(character))
        return read_word(lexer, token);
    return read_sign(lexer, token);
}

wfre_status wfre_sq_lexer_next(wfre_sq_lexer *lexer, wfre_sq_token *token)
{
    size_t before = lexer->at;
    if ((++lexer->tokens & 1023) == 0)
        CHECK(wfre_check_stop(lexer->error));
    skip_blanks(lexer);
    size_t begin = lexer->at;
    *token = (wfre_sq_token){
        .kind = WFRE_SQ_END, .offset = place(lexer, begin), .separate = begin > before};
    wfre_status status = begin < lexer->length ? read_token(lexer, token) : WFRE_OK;
    token->end = place(lexer, lexer->at);
    return status;
}

bool wfre_sq_is_word(const wfre_sq_token *token, const char *word)
{
    return token->kind == WFRE_SQ_WORD && token->text.length == strlen(word) &&
           strncasecmp(token->text.bytes, word, token->text.length) == 0;
}

bool wfre_sq_is_sign(const wfre_sq_token *token, const char *sign)
{
    return token->kind == WFRE_SQ_SIGN && token->text.length == strlen(sign) &&
           memcmp(token->text.bytes, sign, token->text.length) == 0;
}
