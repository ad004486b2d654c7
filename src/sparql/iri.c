/* IRIs: making relative ones absolute (RFC 3986, section 5.2). */
#include "sparql/iri.h"

#include <string.h>

/* The five parts of an IRI; absent ones have bytes == NULL, empty ones do not. */
typedef struct parts {
    wfre_name scheme, authority, path, query, fragment;
} parts;

static size_t scheme_length(wfre_name iri)
{
    for (size_t i = 0; i < iri.length; i++) {
        char c = iri.bytes[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        if (c == ':')
            return i;
        if (!letter && (i == 0 || !((c >= '0' && c <= '9') || c == '+' || c == '-' || c == '.')))
            return 0;
    }
    return 0;
}

bool wfre_sq_iri_absolute(wfre_name iri)
{
    return scheme_length(iri) > 0;
}

/* Cuts off what stands in front of the first of the characters. */
static wfre_name take(wfre_name *rest, const char *stops)
{
    size_t i = 0;
    while (i < rest->length && !strchr(stops, rest->bytes[i]))
        i++;
    wfre_name part = {rest->bytes, i};
    rest->bytes += i;
    rest->length -= i;
    return part;
}

static void drop(wfre_name *rest, size_t count)
{
    rest->bytes += count;
    rest->length -= count;
}

static parts split(wfre_name iri)
{
    parts p = {0};
    size_t scheme = scheme_length(iri);
    if (iri.length == 0)
        iri.bytes = "";
    if (scheme) {
        p.scheme = (wfre_name){iri.bytes, scheme};
        drop(&iri, scheme + 1);
    }
    if (iri.length >= 2 && memcmp(iri.bytes, "//", 2) == 0) {
        drop(&iri, 2);
        p.authority = take(&iri, "/?#");
    }
    p.path = take(&iri, "?#");
    if (iri.length && iri.bytes[0] == '?') {
        drop(&iri, 1);
        p.query = take(&iri, "#");
    }
    if (iri.length && iri.bytes[0] == '#') {
        drop(&iri, 1);
        p.fragment = iri;
    }
    return p;
}

/* Removes the segments . and .. from path[0 .. length), in place; the new length. */
static size_t remove_dots(char *path, size_t length)
{
    size_t in = 0, out = 0;
    while (in < length) {
        size_t end = in + 1; /* a segment is its slash and what follows */
        while (end < length && path[end] != '/')
            end++;
        size_t size = end - in;
        bool slash = path[in] == '/';
        const char *name = path + in + (slash ? 1 : 0);
        size_t name_size = size - (slash ? 1 : 0);
        bool one = name_size == 1 && name[0] == '.';
        bool two = name_size == 2 && name[0] == '.' && name[1] == '.';
        if (two)
            while (out > 0 && path[--out] != '/') {
            }
        if ((one || two) && slash && end == length)
            path[out++] = '/';
        if (!one && !two) {
            memmove(path + out, path + in, size);
            out += size;
        }
        in = end;
    }
    return out;
}

static char *put(char *at, const char *before, wfre_name part)
{
    if (!part.bytes)
        return at;
    size_t length = strlen(before);
    memcpy(at, before, length);
    if (part.length)
        memcpy(at + length, part.bytes, part.length);
    return at + length + part.length;
}

/* The base's path up to its last slash, then the reference's. */
static char *merge(char *at, const parts *base, wfre_name path)
{
    size_t keep = base->path.length;
    while (keep > 0 && base->path.bytes[keep - 1] != '/')
        keep--;
    if (base->authority.bytes && base->path.length == 0)
        *at++ = '/';
    at = put(at, "", (wfre_name){base->path.bytes, keep});
    return put(at, "", path);
}

bool wfre_sq_iri_resolve(wfre_arena *arena, wfre_name base, wfre_name reference, wfre_name *iri)
{
    if (wfre_sq_iri_absolute(reference)) { /* as it is: its dots are part of the name */
        *iri = reference;
        return true;
    }
    parts b = split(base), r = split(reference), t = r;
    char *bytes = wfre_arena_alloc(arena, base.length + reference.length + 16, 1);
    if (!bytes)
        return false;
    bool own_path = r.authority.bytes != NULL;
    t.scheme = b.scheme;
    if (!own_path)
        t.authority = b.authority;
    char *at = bytes;
    at = put(at, "", t.scheme);
    if (t.scheme.bytes)
        *at++ = ':';
    at = put(at, "//", t.authority);
    char *path = at;
    if (!own_path && r.path.length == 0) {
        at = put(at, "", b.path);
        if (!r.query.bytes)
            t.query = b.query;
    } else {
        if (own_path || (r.path.length && r.path.bytes[0] == '/'))
            at = put(at, "", r.path);
        else
            at = merge(at, &b, r.path);
        at = path + remove_dots(path, (size_t)(at - path));
    }
    at = put(at, "?", t.query);
    at = put(at, "#", t.fragment);
    *iri = (wfre_name){bytes, (size_t)(at - bytes)};
    return true;
}
