/* Percent-coding, forms, media types. */
#include "form.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "wfre.h"

/* ---- percent-coding and forms ------------------------------------------------------------- */

static int hex(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c = (char)(c | 0x20);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

size_t serve_decode(char *text, size_t length, bool plus)
{
    size_t to = 0;
    for (size_t i = 0; i < length; i++) {
        char c = text[i];
        if (c == '%') {
            int high = i + 2 < length ? hex(text[i + 1]) : -1;
            int low = i + 2 < length ? hex(text[i + 2]) : -1;
            if (high < 0 || low < 0)
                return SIZE_MAX;
            c = (char)(high * 16 + low);
            i += 2;
        } else if (c == '+' && plus) {
            c = ' ';
        }
        if (c == '\0')
            return SIZE_MAX;
        text[to++] = c;
    }
    return to;
}

static bool is_utf8(const char *text, size_t length)
{
    for (size_t i = 0; i < length;) {
        size_t size = (unsigned char)text[i] < 0x80 ? 1 : wfre_utf8_sequence(text + i, length - i);
        if (size == 0)
            return false;
        i += size;
    }
    return true;
}

/* Decodes text[0 .. length) in place, and puts the NUL. */
static const char *decode_part(char *text, size_t length)
{
    size_t decoded = serve_decode(text, length, true);
    if (decoded == SIZE_MAX)
        return "a percent sign is not followed by two hexadecimal digits other than 00";
    if (!is_utf8(text, decoded))
        return "the text of a parameter is not UTF-8";
    text[decoded] = '\0';
    return NULL;
}

const char *serve_form_read(const char *bytes, size_t length, serve_form *form)
{
    *form = (serve_form){0};
    size_t most = 1;
    for (size_t i = 0; i < length; i++)
        most += bytes[i] == '&';
    if (most > SERVE_MOST_PAIRS)
        return "there are too many parameters";
    form->text = malloc(length + 1);
    form->pairs = malloc(most * sizeof *form->pairs);
    const char *wrong = form->text && form->pairs ? NULL : "there is not enough memory";
    if (!wrong && length > 0)
        memcpy(form->text, bytes, length);
    for (size_t at = 0; !wrong && at < length;) {
        char *begin = form->text + at, *stop = memchr(begin, '&', length - at);
        size_t size = stop ? (size_t)(stop - begin) : length - at;
        at += size + 1;
        if (size == 0)
            continue;
        char *equal = memchr(begin, '=', size);
        size_t name = equal ? (size_t)(equal - begin) : size;
        static const char NOTHING[] = "";
        form->pairs[form->count++] = (serve_pair){begin, equal ? equal + 1 : NOTHING};
        if (equal)
            wrong = decode_part(equal + 1, size - name - 1);
        if (!wrong)
            wrong = decode_part(begin, name);
    }
    if (wrong)
        serve_form_free(form);
    return wrong;
}

void serve_form_free(serve_form *form)
{
    free(form->text);
    free(form->pairs);
    *form = (serve_form){0};
}

const char *serve_form_get(const serve_form *form, const char *name)
{
    for (size_t i = 0; i < form->count; i++)
        if (strcmp(form->pairs[i].name, name) == 0)
            return form->pairs[i].value;
    return NULL;
}

size_t serve_form_times(const serve_form *form, const char *name)
{
    size_t times = 0;
    for (size_t i = 0; i < form->count; i++)
        times += strcmp(form->pairs[i].name, name) == 0;
    return times;
}

/* ---- lists in headers --------------------------------------------------------------------- */

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

typedef struct item {
    const char *text;
    size_t length;
    double quality;
} item;

/* The next item of a list with qualities, such as "text/html;level=1;q=0.5, *"; false at the end.
 */
static bool next_item(const char **list, item *found)
{
    const char *at = *list;
    while (is_blank(*at) || *at == ',')
        at++;
    if (!*at)
        return false;
    size_t length = strcspn(at, ",");
    const char *end = at + length, *stop = memchr(at, ';', length);
    *found = (item){at, stop ? (size_t)(stop - at) : length, 1};
    while (found->length > 0 && is_blank(at[found->length - 1]))
        found->length--;
    while (stop) {
        stop++;
        while (stop < end && is_blank(*stop))
            stop++;
        if (end - stop > 2 && (stop[0] | 0x20) == 'q' && stop[1] == '=')
            found->quality = wfre_parse_real(stop + 2, NULL);
        stop = memchr(stop, ';', (size_t)(end - stop));
    }
    if (!(found->quality >= 0 && found->quality <= 1))
        found->quality = 0;
    *list = end;
    return true;
}

static bool same(const item *is, const char *text)
{
    return is->length == strlen(text) && strncasecmp(is->text, text, is->length) == 0;
}

/* How exactly an item of Accept means the media type: 3 itself, 2 "text/...", 1 all, 0 not. */
static int precision(const item *is, const char *type)
{
    size_t slash = strcspn(type, "/");
    if (same(is, type))
        return 3;
    if (is->length == slash + 2 && strncasecmp(is->text, type, slash + 1) == 0 &&
        is->text[slash + 1] == '*')
        return 2;
    return same(is, "*/*") || same(is, "*") ? 1 : 0;
}

int serve_negotiate(const char *accept, const char *const *offered, size_t count)
{
    if (!accept || !accept[strspn(accept, " \t,")])
        return count > 0 ? 0 : -1;
    int best = -1;
    double best_quality = 0;
    for (size_t i = 0; i < count; i++) {
        const char *list = accept;
        item is;
        int exact = 0;
        double quality = 0;
        while (next_item(&list, &is)) {
            int now = precision(&is, offered[i]);
            if (now > exact) {
                exact = now;
                quality = is.quality;
            }
        }
        if (quality > best_quality) {
            best_quality = quality;
            best = (int)i;
        }
    }
    return best;
}

bool serve_takes_gzip(const char *accept)
{
    item is;
    double named = -1, any = -1;
    while (accept && next_item(&accept, &is)) {
        if (same(&is, "gzip") || same(&is, "x-gzip"))
            named = is.quality;
        else if (same(&is, "*"))
            any = is.quality;
    }
    return named >= 0 ? named > 0 : any > 0;
}

bool serve_is_type(const char *content_type, const char *media_type)
{
    const char *list = content_type;
    item is;
    return content_type && next_item(&list, &is) && same(&is, media_type);
}

bool serve_has_tag(const char *list, const char *tag)
{
    size_t length = strlen(tag);
    for (const char *at = list; at && *at;) {
        at += strspn(at, " \t,");
        if (*at == '*')
            return true;
        if (strncmp(at, "W/", 2) == 0)
            at += 2;
        if (strncmp(at, tag, length) == 0 && (!at[length] || strchr(" \t,", at[length])))
            return true;
        at += strcspn(at, ",");
    }
    return false;
}

/* ---- secrets ------------------------------------------------------------------------------ */

bool serve_same_secret(const char *given, size_t given_length, const char *secret,
                       size_t secret_length)
{
    volatile unsigned differ = given_length != secret_length || secret_length == 0;
    for (size_t i = 0; i < given_length && secret_length > 0; i++)
        differ =
            differ | (unsigned)((unsigned char)given[i] ^ (unsigned char)secret[i % secret_length]);
    return differ == 0;
}

static int digit64(char c)
{
    if (c >= 'A' && c <= 'Z')
        return c - 'A';
    if (c >= 'a' && c <= 'z')
        return c - 'a' + 26;
    if (c >= '0' && c <= '9')
        return c - '0' + 52;
    return c == '+' || c == '-' ? 62 : c == '/' || c == '_' ? 63 : -1;
}

size_t serve_base64(const char *text, size_t length, char *out)
{
    size_t to = 0;
    unsigned bits = 0, held = 0;
    while (length > 0 && text[length - 1] == '=')
        length--;
    for (size_t i = 0; i < length; i++) {
        int digit = digit64(text[i]);
        if (digit < 0)
            return SIZE_MAX;
        bits = (bits << 6 | (unsigned)digit) & 0xFFFFFF;
        held += 6;
        if (held >= 8) {
            held -= 8;
            out[to++] = (char)(bits >> held & 0xFF);
        }
    }
    return to;
}
