/* Finding entities and relations by what people type: names, IRIs, prefixed names, labels. */
#include <string.h>

#include "graph/fold.h"
#include "graph/image.h"
#include "graph/iri.h"
#include "graph/labels.h"

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

enum { LONGEST = 2048 }; /* of IRIs that are put together here: finding does not allocate */

/* By a name that an IRI codes. */
static uint32_t find_coded(const tables *t, const char *coded, size_t length)
{
    char name[LONGEST];
    size_t decoded = length <= LONGEST ? wfre_iri_decode_into(name, coded, length) : 0;
    if (decoded == 0 || wfre_iri_absolute(name, decoded))
        return WFRE_NONE;
    return wfre_names_find(t->names, name, decoded);
}

/* By a whole IRI: it is the name, or codes one. */
static uint32_t find_iri(const tables *t, const char *iri, size_t length)
{
    uint32_t id = wfre_names_find(t->names, iri, length);
    wfre_name base = wfre_graph_base(t->graph);
    if (id != WFRE_NONE || base.length == 0 || length <= base.length ||
        memcmp(iri, base.bytes, base.length) != 0)
        return id;
    char last = base.bytes[base.length - 1];
    const char *at = iri + base.length, *end = iri + length;
    if (last != ':' && last != '/' && last != '#' && *at++ != '/')
        return WFRE_NONE;
    if (end - at < 3 || at[0] != t->kind || at[1] != (last == ':' ? ':' : '/'))
        return WFRE_NONE;
    return find_coded(t, at + 2, (size_t)(end - at) - 2);
}

/* <iri> or prefix:local. */
static uint32_t find_short(const tables *t, const char *text, size_t length)
{
    if (length > 2 && text[0] == '<' && text[length - 1] == '>')
        return find_iri(t, text + 1, length - 2);
    const char *colon = memchr(text, ':', length);
    wfre_name prefix, start;
    char iri[LONGEST];
    if (!colon)
        return WFRE_NONE;
    size_t before = (size_t)(colon - text), local = length - before - 1;
    for (size_t i = 0; wfre_graph_prefix(t->graph, i, &prefix, &start); i++) {
        if (prefix.length != before || (before > 0 && memcmp(prefix.bytes, text, before) != 0))
            continue;
        if (start.length + local > LONGEST)
            return WFRE_NONE;
        memcpy(iri, start.bytes, start.length);
        memcpy(iri + start.length, colon + 1, local);
        return find_iri(t, iri, start.length + local);
    }
    return before == 1 && text[0] == t->kind ? find_coded(t, colon + 1, local) : WFRE_NONE;
}

/* ---- folded texts ------------------------------------------------------------------------- */

static bool same_folded(wfre_name a, wfre_name b)
{
    size_t i = 0, j = 0;
    while (i < a.length && j < b.length)
        if (wfre_fold_next(a, &i) != wfre_fold_next(b, &j))
            return false;
    return i == a.length && j == b.length;
}

static bool same_text(wfre_name a, wfre_name b)
{
    return a.length == b.length && (a.length == 0 || memcmp(a.bytes, b.bytes, a.length) == 0);
}

/* ---- walks -------------------------------------------------------------------------------- */

/* Whether the local name of an IRI is the text, as it is or decoded. */
static bool has_local(wfre_name name, wfre_name text, bool (*same)(wfre_name, wfre_name))
{
    char decoded[LONGEST];
    const char *colon = name.length ? memchr(name.bytes, ':', name.length) : NULL;
    if (!colon)
        return false;
    wfre_name local = wfre_iri_local(name.bytes, name.length);
    if (local.length == name.length || local.length < text.length)
        return false;
    if (same(local, text))
        return true;
    if (local.length > LONGEST || !memchr(local.bytes, '%', local.length))
        return false;
    size_t length = wfre_iri_decode_into(decoded, local.bytes, local.length);
    return same((wfre_name){decoded, length}, text);
}

/* What a search for the only id came to. */
typedef struct only {
    uint32_t id; /* WFRE_NONE: none, or several */
    bool several;
} only;

/* The only id whose local name, or with `fold` whose name, label or local name, is the text. */
static only walk(const tables *t, wfre_name text, bool fold)
{
    uint32_t found = WFRE_NONE;
    for (uint32_t id = 0; id < t->names->count; id++) {
        wfre_name name = wfre_names_get(t->names, id);
        bool same = has_local(name, text, fold ? same_folded : same_text);
        if (!same && fold)
            same = same_folded(name, text) || same_folded(wfre_names_get(t->labels, id), text);
        if (!same)
            continue;
        if (found != WFRE_NONE)
            return (only){WFRE_NONE, true};
        found = id;
    }
    return (only){found, false};
}

/* The only id that has a label, in any language or in one. */
static only find_label(const tables *t, wfre_name text, wfre_name language, bool fold)
{
    wfre_labels labels;
    uint32_t items[2];
    wfre_labelled found = {items, 0, 2};
    if (wfre_labels_open(&labels, t->graph, t->kind == 'r'))
        wfre_labels_find(&labels, text, language, fold, &found);
    return (only){found.count == 1 ? items[0] : WFRE_NONE, found.count > 1};
}

static uint32_t find_named(const tables *t, const char *text, size_t length)
{
    uint32_t id = wfre_names_find(t->names, text, length);
    return id != WFRE_NONE ? id : wfre_names_find(t->labels, text, length);
}

/* By what takes a walk or a search: the local name, labels in all languages, any in other case. */
static uint32_t find_otherwise(const tables *t, wfre_name text)
{
    wfre_name label = text, language = {NULL, 0};
    bool tagged = wfre_label_parts(text, &label, &language);
    only found = tagged ? (only){WFRE_NONE, false} : walk(t, text, false);
    if (found.id != WFRE_NONE)
        return found.id;
    found = find_label(t, label, language, false);
    if (found.id == WFRE_NONE && !found.several && !tagged)
        found = walk(t, text, true);
    if (found.id == WFRE_NONE && !found.several)
        found = find_label(t, label, language, true);
    return found.id;
}

static uint32_t find(const tables *t, const char *text, size_t length)
{
    uint32_t id = wfre_names_find(t->names, text, length);
    if (id == WFRE_NONE && length > 0)
        id = find_short(t, text, length);
    if (id == WFRE_NONE)
        id = wfre_names_find(t->labels, text, length);
    if (id != WFRE_NONE || length == 0 || wfre_names_ambiguous(t->labels, text, length))
        return id;
    return find_otherwise(t, (wfre_name){text, length});
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

size_t wfre_graph_labelled(const wfre_graph *graph, bool relations, wfre_name text, uint32_t *ids,
                           size_t capacity)
{
    wfre_labels labels;
    wfre_labelled found = {ids, 0, capacity};
    wfre_name label = text, language = {NULL, 0};
    (void)wfre_label_parts(text, &label, &language);
    if (wfre_labels_open(&labels, graph, relations))
        wfre_labels_find(&labels, label, language, false, &found);
    for (size_t i = 0; relations && i < found.count; i++)
        ids[i] *= 2;
    return found.count;
}
