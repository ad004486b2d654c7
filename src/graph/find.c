/* Finding entities and relations by what people type: names, IRIs, prefixed names, labels. */
#include <string.h>

#include "graph/image.h"
#include "graph/iri.h"

/* What differs between entities and relations. */
typedef struct tables {
    const wfre_graph *graph;
    const wfre_names *names, *labels;
    char kind; /* 'e' or 'r' */
} tables;

static tables entity_tables(const wfre_graph *graph)
{
    return (tables){graph, &graph->names[WFRE_ENTITY_NAMES], &graph->names[WFRE_ENTITY_LABELS],
                    'e'};
}

static tables relation_tables(const wfre_graph *graph)
{
    return (tables){graph, &graph->names[WFRE_RELATION_NAMES], &graph->names[WFRE_RELATION_LABELS],
                    'r'};
}

/* ---- IRIs --------------------------------------------------------------------------------- */

/* By a whole IRI: it is the name, or codes one. */
static uint32_t find_iri(const tables *t, const char *iri, size_t length)
{
    uint32_t id = wfre_names_find(t->names, iri, length);
    wfre_text prefix = {0}, name = {0};
    if (id != WFRE_NONE)
        return id;
    wfre_iri_prefix(&prefix, wfre_graph_base(t->graph), t->kind);
    if (!prefix.failed && length > prefix.length && memcmp(iri, prefix.data, prefix.length) == 0) {
        wfre_iri_decode(&name, iri + prefix.length, length - prefix.length);
        if (!name.failed && !wfre_iri_absolute(name.data, name.length))
            id = wfre_names_find(t->names, name.data, name.length);
    }
    wfre_text_free(&prefix);
    wfre_text_free(&name);
    return id;
}

/* <iri> or prefix:local. */
static uint32_t find_short(const tables *t, const char *text, size_t length)
{
    if (length > 2 && text[0] == '<' && text[length - 1] == '>')
        return find_iri(t, text + 1, length - 2);
    const char *colon = memchr(text, ':', length);
    wfre_text iri = {0};
    uint32_t id = WFRE_NONE;
    if (!colon || !wfre_graph_find_prefix(t->graph, text, (size_t)(colon - text), &iri))
        return WFRE_NONE;
    wfre_text_append(&iri, colon + 1, length - (size_t)(colon - text) - 1);
    if (!iri.failed)
        id = find_iri(t, iri.data, iri.length);
    wfre_text_free(&iri);
    return id;
}

/* ---- folded texts ------------------------------------------------------------------------- */

/* The lower-case form of a character, for the alphabets in which it is a fixed step away. */
static uint32_t fold_point(uint32_t c)
{
    if ((c >= 'A' && c <= 'Z') || (c >= 0xC0 && c <= 0xDE && c != 0xD7) ||
        (c >= 0x391 && c <= 0x3A9) || (c >= 0x410 && c <= 0x42F))
        return c + 0x20;
    if (c >= 0x400 && c <= 0x40F)
        return c + 0x50;
    bool pairs = (c >= 0x100 && c <= 0x137) || (c >= 0x14A && c <= 0x177);
    bool shifted = (c >= 0x139 && c <= 0x148) || (c >= 0x179 && c <= 0x17E);
    if ((pairs && c % 2 == 0) || (shifted && c % 2 == 1))
        return c + 1;
    return c == ' ' || c == '-' ? '_' : c;
}

/* The next character, folded; *at moves behind it. */
static uint32_t next_folded(wfre_name text, size_t *at)
{
    const unsigned char *bytes = (const unsigned char *)text.bytes + *at;
    size_t length = wfre_utf8_sequence(text.bytes + *at, text.length - *at);
    if (length != 2) { /* no case, or none that matters here: byte by byte */
        ++*at;
        return fold_point(bytes[0] < 0x80 ? bytes[0] : bytes[0] | 0x80000000u);
    }
    *at += 2;
    return fold_point((bytes[0] & 0x1Fu) << 6 | (bytes[1] & 0x3Fu));
}

static bool same_folded(wfre_name a, wfre_name b)
{
    size_t i = 0, j = 0;
    while (i < a.length && j < b.length)
        if (next_folded(a, &i) != next_folded(b, &j))
            return false;
    return i == a.length && j == b.length;
}

static bool same_text(wfre_name a, wfre_name b)
{
    return a.length == b.length && (a.length == 0 || memcmp(a.bytes, b.bytes, a.length) == 0);
}

/* ---- walks -------------------------------------------------------------------------------- */

/* Whether the local name of an IRI is the text; a coded one is decoded into `scratch`. */
static bool has_local(wfre_name name, wfre_name text, bool (*same)(wfre_name, wfre_name),
                      wfre_text *scratch)
{
    const char *colon = name.length ? memchr(name.bytes, ':', name.length) : NULL;
    if (!colon)
        return false;
    wfre_name local = wfre_iri_local(name.bytes, name.length);
    if (local.length == name.length || local.length < text.length)
        return false;
    if (!memchr(local.bytes, '%', local.length))
        return same(local, text);
    wfre_text_clear(scratch);
    wfre_iri_display(scratch, name.bytes, name.length);
    return !scratch->failed && same((wfre_name){scratch->data, scratch->length}, text);
}

/* The only id whose local name, or with `fold` whose name, label or local name, is the text. */
static uint32_t walk(const tables *t, wfre_name text, bool fold)
{
    uint32_t found = WFRE_NONE;
    wfre_text scratch = {0};
    for (uint32_t id = 0; id < t->names->count; id++) {
        wfre_name name = wfre_names_get(t->names, id);
        bool same = has_local(name, text, fold ? same_folded : same_text, &scratch);
        if (!same && fold)
            same = same_folded(name, text) || same_folded(wfre_names_get(t->labels, id), text);
        if (!same)
            continue;
        if (found != WFRE_NONE) {
            found = WFRE_NONE;
            break;
        }
        found = id;
    }
    wfre_text_free(&scratch);
    return found;
}

static uint32_t find_named(const tables *t, const char *text, size_t length)
{
    uint32_t id = wfre_names_find(t->names, text, length);
    return id != WFRE_NONE ? id : wfre_names_find(t->labels, text, length);
}

static uint32_t find(const tables *t, const char *text, size_t length)
{
    uint32_t id = wfre_names_find(t->names, text, length);
    wfre_name wanted = {text, length};
    if (id == WFRE_NONE && length > 0)
        id = find_short(t, text, length);
    if (id == WFRE_NONE)
        id = wfre_names_find(t->labels, text, length);
    if (id != WFRE_NONE || length == 0 || wfre_names_ambiguous(t->labels, text, length))
        return id;
    id = walk(t, wanted, false);
    return id != WFRE_NONE ? id : walk(t, wanted, true);
}

/* ---- entities and relations --------------------------------------------------------------- */

wfre_entity wfre_graph_named_entity(const wfre_graph *graph, const char *text, size_t length)
{
    tables t = entity_tables(graph);
    return find_named(&t, text, length);
}

wfre_relation wfre_graph_named_relation(const wfre_graph *graph, const char *text, size_t length)
{
    tables t = relation_tables(graph);
    uint32_t pair = find_named(&t, text, length);
    return pair == WFRE_NONE ? WFRE_NONE : 2 * pair;
}

wfre_entity wfre_graph_find_entity(const wfre_graph *graph, const char *text, size_t length)
{
    tables t = entity_tables(graph);
    return find(&t, text, length);
}

wfre_relation wfre_graph_find_relation(const wfre_graph *graph, const char *text, size_t length)
{
    tables t = relation_tables(graph);
    uint32_t pair = find(&t, text, length);
    return pair == WFRE_NONE ? WFRE_NONE : 2 * pair;
}
