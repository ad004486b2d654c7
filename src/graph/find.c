/* Finding entities and relations by what people type: names, IRIs, prefixed names, labels. */
#include <string.h>

#include "base/scope.h"
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

/* The IRI that <iri> or prefix:local stands for, which lies in the text or in `room`; else nothing.
 */
static wfre_name expand(const wfre_graph *graph, wfre_name text, char room[LONGEST])
{
    if (text.length > 2 && text.bytes[0] == '<' && text.bytes[text.length - 1] == '>')
        return (wfre_name){text.bytes + 1, text.length - 2};
    const char *colon = text.length > 0 ? memchr(text.bytes, ':', text.length) : NULL;
    size_t before = colon ? (size_t)(colon - text.bytes) : 0, local = text.length - before - 1;
    wfre_name prefix, start;
    for (size_t i = 0; colon && wfre_graph_prefix(graph, i, &prefix, &start); i++) {
        if (prefix.length != before ||
            (before > 0 && memcmp(prefix.bytes, text.bytes, before) != 0))
            continue;
        if (start.length + local > LONGEST)
            break;
        memcpy(room, start.bytes, start.length);
        memcpy(room + start.length, colon + 1, local);
        return (wfre_name){room, start.length + local};
    }
    return (wfre_name){NULL, 0};
}

/* <iri> or prefix:local; e: and r: are prefixes of names that are no IRIs, unless declared. */
static uint32_t find_short(const tables *t, const char *text, size_t length)
{
    char room[LONGEST];
    wfre_name iri = expand(t->graph, (wfre_name){text, length}, room);
    if (iri.bytes)
        return find_iri(t, iri.bytes, iri.length);
    bool coded = length > 2 && text[0] == t->kind && text[1] == ':';
    return coded ? find_coded(t, text + 2, length - 2) : WFRE_NONE;
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

/* ---- attributes --------------------------------------------------------------------------- */

bool wfre_graph_find_attribute(const wfre_graph *graph, wfre_name text, wfre_text *iri)
{
    char room[LONGEST];
    if (graph->predicate_count == 0 || !wfre_guard_attributes(graph->guard))
        return false;
    wfre_name whole = expand(graph, text, room);
    for (uint32_t i = 0; i < graph->predicate_count && !wfre_stopped(); i++) {
        uint32_t term = graph->predicates[i].term, entities = graph->header->entities;
        wfre_text_clear(iri);
        if (term >= entities && term - entities < graph->dictionary.count)
            wfre_dictionary_get(&graph->dictionary, term - entities, iri);
        else if (term < entities) {
            wfre_name name = wfre_names_get(&graph->names[WFRE_ENTITY_NAMES], term);
            wfre_text_append(iri, name.bytes, name.length);
        }
        wfre_name own = {iri->data, iri->length};
        if (!iri->failed &&
            (same_text(own, whole.bytes ? whole : text) || has_local(own, text, same_folded)))
            return true;
    }
    return false;
}
