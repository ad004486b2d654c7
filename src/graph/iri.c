/* IRIs as text. */
#include "graph/iri.h"

#include <string.h>

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* The length of a scheme with its colon; 0 if there is none. */
static size_t scheme_length(const char *iri, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        if (iri[i] == ':')
            return i > 0 ? i + 1 : 0;
        bool later = is_digit(iri[i]) || iri[i] == '+' || iri[i] == '-' || iri[i] == '.';
        if (!is_letter(iri[i]) && (i == 0 || !later))
            return 0;
    }
    return 0;
}

bool wfre_iri_absolute(const char *name, size_t length)
{
    if (scheme_length(name, length) == 0)
        return false;
    for (size_t i = 0; i < length; i++)
        if ((unsigned char)name[i] <= ' ' || strchr("<>\"{}|^`\\", name[i]))
            return false;
    return true;
}

void wfre_iri_prefix(wfre_text *text, wfre_name base, char kind)
{
    char last = base.length > 0 ? base.bytes[base.length - 1] : '\0';
    wfre_text_append(text, base.bytes, base.length);
    if (last != ':' && last != '/' && last != '#')
        wfre_text_char(text, '/');
    wfre_text_char(text, kind);
    wfre_text_char(text, last == ':' ? ':' : '/');
}

void wfre_iri_encode(wfre_text *text, const char *name, size_t length)
{
    for (size_t i = 0; i < length;) {
        char c = name[i];
        size_t sequence = wfre_utf8_sequence(name + i, length - i);
        /* U+0080 to U+009F are controls: C2 80 to C2 9F */
        bool beyond =
            sequence > 1 && !((unsigned char)c == 0xC2 && (unsigned char)name[i + 1] < 0xA0);
        if (beyond) {
            wfre_text_append(text, name + i, sequence);
            i += sequence;
            continue;
        }
        if (is_letter(c) || is_digit(c) || (c != '\0' && strchr("-._~:", c)))
            wfre_text_char(text, c);
        else
            wfre_text_format(text, "%%%02X", (unsigned)(unsigned char)c);
        i++;
    }
}

static int hex_value(char c)
{
    if (is_digit(c))
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

size_t wfre_iri_decode_into(char *to, const char *coded, size_t length)
{
    size_t used = 0;
    for (size_t i = 0; i < length; i++) {
        int high = coded[i] == '%' && length - i > 2 ? hex_value(coded[i + 1]) : -1;
        int low = high >= 0 ? hex_value(coded[i + 2]) : -1;
        to[used++] = low < 0 ? coded[i] : (char)(unsigned char)(high * 16 + low);
        i += low < 0 ? 0 : 2;
    }
    return used;
}

void wfre_iri_decode(wfre_text *text, const char *coded, size_t length)
{
    size_t begin = text->length;
    wfre_text_append(text, coded, length);
    if (text->failed)
        return;
    text->length = begin + wfre_iri_decode_into(text->data + begin, coded, length);
    text->data[text->length] = '\0';
}

/* The place behind the last of these characters before `end`; 0 if there is none. */
static size_t behind_last(const char *iri, size_t end, const char *characters)
{
    for (size_t i = end; i-- > 0;)
        if (iri[i] != '\0' && strchr(characters, iri[i]))
            return i + 1;
    return 0;
}

wfre_name wfre_iri_local(const char *iri, size_t length)
{
    size_t end = length;
    if (end > 0 && (iri[end - 1] == '/' || iri[end - 1] == '#'))
        end--;
    size_t begin = behind_last(iri, end, "#/");
    if (begin == 0)
        begin = behind_last(iri, end, ":");
    return begin < end ? (wfre_name){iri + begin, end - begin} : (wfre_name){iri, length};
}

void wfre_iri_display(wfre_text *text, const char *iri, size_t length)
{
    wfre_name local = wfre_iri_local(iri, length);
    size_t begin = text->length;
    wfre_iri_decode(text, local.bytes, local.length);
    if (text->failed)
        return;
    bool readable = wfre_utf8_valid(text->data + begin, text->length - begin);
    for (size_t i = begin; i < text->length; i++)
        readable &= (unsigned char)text->data[i] >= ' ' && text->data[i] != '\x7F';
    if (readable)
        return;
    text->length = begin;
    wfre_text_append(text, local.bytes, local.length);
}

/* ---- references --------------------------------------------------------------------------- */

/* The five parts of RFC 3986; those that are absent have no bytes. */
typedef struct parts {
    wfre_name scheme;    /* with ':' */
    wfre_name authority; /* with "//" */
    wfre_name path;
    wfre_name query;    /* with '?' */
    wfre_name fragment; /* with '#' */
} parts;

static wfre_name take(const char **at, const char *end, const char *stops)
{
    const char *begin = *at;
    while (*at < end && !(**at != '\0' && strchr(stops, **at)))
        ++*at;
    return (wfre_name){begin, (size_t)(*at - begin)};
}

static parts take_apart(wfre_name iri)
{
    const char *at = iri.bytes, *end = iri.bytes + iri.length;
    parts p = {.scheme = {at, scheme_length(iri.bytes, iri.length)}};
    at += p.scheme.length;
    if (end - at >= 2 && at[0] == '/' && at[1] == '/') {
        at += 2;
        p.authority = take(&at, end, "/?#");
        p.authority.bytes -= 2;
        p.authority.length += 2;
    }
    p.path = take(&at, end, "?#");
    if (at < end && *at == '?')
        p.query = take(&at, end, "#");
    p.fragment = (wfre_name){at, (size_t)(end - at)};
    return p;
}

static void append(wfre_text *text, wfre_name name)
{
    wfre_text_append(text, name.bytes, name.length);
}

/* Removes the segments "." and ".." from the path that the text has from `begin` on. */
static void remove_dots(wfre_text *text, size_t begin)
{
    if (text->failed)
        return;
    char *path = text->data + begin;
    size_t length = text->length - begin, out = 0, at = 0;
    if (length == 0 || path[0] != '/')
        return; /* only of a base without a hierarchy, such as urn:x */
    while (at < length) {
        const char *slash = memchr(path + at + 1, '/', length - at - 1);
        size_t end = slash ? (size_t)(slash - path) : length, segment = end - at - 1;
        bool one = segment == 1 && path[at + 1] == '.';
        bool two = segment == 2 && path[at + 1] == '.' && path[at + 2] == '.';
        if (two)
            while (out > 0 && path[--out] != '/') {
            }
        if (!one && !two) {
            memmove(path + out, path + at, end - at);
            out += end - at;
        } else if (end == length) {
            path[out++] = '/';
        }
        at = end;
    }
    text->length = begin + out;
    path[out] = '\0';
}

/* The base's path up to its last slash, then the reference's. */
static void merge_paths(wfre_text *text, const parts *base, wfre_name path)
{
    size_t kept = behind_last(base->path.bytes, base->path.length, "/");
    if (base->authority.length > 0 && base->path.length == 0)
        wfre_text_char(text, '/');
    wfre_text_append(text, base->path.bytes, kept);
    append(text, path);
}

void wfre_iri_resolve(wfre_text *text, wfre_name base_iri, wfre_name reference)
{
    parts r = take_apart(reference), base = take_apart(base_iri);
    bool absolute = r.scheme.length > 0, whole = absolute || r.authority.length > 0;
    append(text, absolute ? r.scheme : base.scheme);
    append(text, whole ? r.authority : base.authority);
    size_t begin = text->length;
    if (whole || (r.path.length > 0 && r.path.bytes[0] == '/')) {
        append(text, r.path);
        remove_dots(text, begin);
    } else if (r.path.length == 0) {
        append(text, base.path);
    } else {
        merge_paths(text, &base, r.path);
        remove_dots(text, begin);
    }
    append(text, whole || r.path.length > 0 || r.query.bytes ? r.query : base.query);
    append(text, r.fragment);
}
