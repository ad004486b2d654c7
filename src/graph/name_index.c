/* The bytes of an index: a zero, then of each item its label and then, if they differ, its name (of
 * an IRI the local name, decoded) and its labels in all languages, folded, each with a zero behind
 * it. Items are in the order
 * of their ids. A text never has a zero, so that a search goes over all of them at once. */
#include "graph/name_index.h"

#include <string.h>

#include "base/memory.h"
#include "graph/fold.h"
#include "graph/image.h"
#include "graph/iri.h"
#include "graph/labels.h"

struct wfre_name_index {
    const wfre_graph *graph;
    bool of_relations;
    uint32_t items;
    char *bytes;
    size_t length, capacity;
    size_t *begin;    /* [items + 1], where the texts of an item start */
    uint32_t *counts; /* [items] */
};

/* ---- making ------------------------------------------------------------------------------- */

static wfre_name name_of(const wfre_name_index *x, uint32_t item)
{
    return x->of_relations ? wfre_graph_relation_name(x->graph, 2 * item)
                           : wfre_graph_entity_name(x->graph, item);
}

static wfre_name label_of(const wfre_name_index *x, uint32_t item)
{
    return x->of_relations ? wfre_graph_relation_label(x->graph, 2 * item)
                           : wfre_graph_entity_label(x->graph, item);
}

/* A text without zeros, which nobody types. */
static bool add_text(wfre_name_index *x, wfre_name text)
{
    if (text.length == 0 || memchr(text.bytes, '\0', text.length))
        return true;
    if (!WFRE_RESERVE(&x->bytes, &x->capacity, x->length + text.length + 1))
        return false;
    wfre_fold_into(x->bytes + x->length, text);
    x->length += text.length;
    x->bytes[x->length++] = '\0';
    return true;
}

/* Labels in all languages, while the items are gone through. */
typedef struct other_labels {
    wfre_labels labels;
    wfre_packed_cursor cursors[WFRE_LABEL_PROPERTIES]; /* of entities, whose terms ascend */
    wfre_text text;
} other_labels;

static void open_labels(other_labels *o, const wfre_name_index *x)
{
    const wfre_packed *packed = &x->graph->attributes[WFRE_RDF_PSO];
    if (!wfre_labels_open(&o->labels, x->graph, x->of_relations))
        return;
    for (size_t i = 0; i < o->labels.count; i++)
        o->cursors[i] = wfre_packed_find(packed, &(wfre_triple){{o->labels.properties[i], 0, 0}});
}

static bool add_labels(wfre_name_index *x, uint32_t item, other_labels *o)
{
    uint32_t term = o->labels.count > 0 ? wfre_labels_term(&o->labels, item) : WFRE_NONE;
    wfre_name shown = label_of(x, item);
    for (size_t i = 0; term != WFRE_NONE && i < o->labels.count; i++) {
        wfre_triple least = {{o->labels.properties[i], term, 0}};
        wfre_packed_cursor *at = &o->cursors[i];
        if (x->of_relations)
            *at = wfre_packed_find(at->packed, &least);
        else
            wfre_packed_seek(at, &least);
        for (; at->rank < at->packed->rows && at->row.field[0] == least.field[0] &&
               at->row.field[1] == term;
             wfre_packed_next(at)) {
            wfre_text_clear(&o->text);
            if (!wfre_labels_text(&o->labels, at->row.field[2], &o->text))
                continue;
            wfre_name text = {o->text.data, o->text.length};
            bool same = text.length == shown.length &&
                        (text.length == 0 || memcmp(text.bytes, shown.bytes, text.length) == 0);
            if (o->text.failed || (!same && !add_text(x, text)))
                return false;
        }
    }
    return true;
}

static bool add_item(wfre_name_index *x, uint32_t item, wfre_text *local)
{
    wfre_name name = name_of(x, item), label = label_of(x, item);
    if (!add_text(x, label))
        return false;
    if (wfre_iri_absolute(name.bytes, name.length)) {
        wfre_text_clear(local);
        wfre_iri_display(local, name.bytes, name.length);
        name = (wfre_name){local->data, local->length};
    }
    bool same = name.length == label.length &&
                (name.length == 0 || memcmp(name.bytes, label.bytes, name.length) == 0);
    return !local->failed && (same || add_text(x, name));
}

static uint32_t count_of(const wfre_name_index *x, uint32_t item)
{
    uint64_t count = 0;
    if (x->of_relations) {
        count = wfre_graph_relation_triples(x->graph, WFRE_TEST, 2 * item);
    } else {
        const wfre_adjacency *edges = wfre_graph_adjacency(x->graph, WFRE_TEST);
        uint32_t first, end = wfre_entity_edges(edges, item, &first);
        for (uint32_t i = first; i < end; i++)
            count += wfre_group_targets(edges, wfre_entity_edge(edges, i).group).count;
    }
    return count < UINT32_MAX ? (uint32_t)count : UINT32_MAX;
}

wfre_status wfre_name_index_create(const wfre_graph *graph, bool of_relations,
                                   wfre_name_index **index, wfre_error *error)
{
    wfre_status status = WFRE_OK;
    wfre_text local = {0};
    other_labels others = {0};
    wfre_name_index *x = wfre_alloc_zero(1, sizeof *x);
    if (!x)
        return wfre_fail_memory(error, "indexing names");
    x->graph = graph;
    x->of_relations = of_relations;
    x->items = of_relations ? wfre_graph_relations(graph) / 2 : wfre_graph_entities(graph);
    x->begin = wfre_alloc((size_t)x->items + 1, sizeof *x->begin);
    x->counts = wfre_alloc(x->items, sizeof *x->counts);
    if (!x->begin || !x->counts || !WFRE_RESERVE(&x->bytes, &x->capacity, 1))
        TRY(wfre_fail_memory(error, "indexing names"));
    x->bytes[x->length++] = '\0';
    open_labels(&others, x);
    for (uint32_t item = 0; item < x->items; item++) {
        x->begin[item] = x->length;
        x->counts[item] = count_of(x, item);
        if (!add_item(x, item, &local) || !add_labels(x, item, &others))
            TRY(wfre_fail_memory(error, "indexing names"));
    }
    x->begin[x->items] = x->length;
    TRY(wfre_graph_sound(graph, error));
    *index = x;
    x = NULL;
cleanup:
    wfre_text_free(&local);
    wfre_text_free(&others.text);
    wfre_name_index_free(x);
    return status;
}

void wfre_name_index_free(wfre_name_index *index)
{
    if (!index)
        return;
    wfre_free(index->bytes);
    wfre_free(index->begin);
    wfre_free(index->counts);
    wfre_free(index);
}

uint32_t wfre_name_index_items(const wfre_name_index *index)
{
    return index->items;
}

uint64_t wfre_name_index_count(const wfre_name_index *index, uint32_t item)
{
    return index->counts[item];
}

/* ---- searching ---------------------------------------------------------------------------- */

/* The first place from `at` on where the text stands; NULL if there is none. */
static const char *find_next(const char *at, const char *end, wfre_name text)
{
    while ((size_t)(end - at) >= text.length) {
        const char *first = memchr(at, text.bytes[0], (size_t)(end - at) - text.length + 1);
        if (!first || memcmp(first, text.bytes, text.length) == 0)
            return first;
        at = first + 1;
    }
    return NULL;
}

/* Whether a byte is part of a word: what is not ASCII is. */
static bool in_word(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (unsigned char)c >= 0x80;
}

static wfre_name_match match_at(const char *hit, size_t length)
{
    if (hit[-1] == '\0')
        return hit[length] == '\0' ? WFRE_NAME_EXACT : WFRE_NAME_PREFIX;
    return in_word(hit[-1]) ? WFRE_NAME_PART : WFRE_NAME_WORD;
}

/* The item whose texts are at this place; `low` is one at or before it. */
static uint32_t item_at(const wfre_name_index *x, uint32_t low, size_t place)
{
    uint32_t step = 1, high = low + 1;
    while (high < x->items && x->begin[high] <= place) { /* mostly it is near */
        low = high;
        step *= 2;
        high = x->items - low > step ? low + step : x->items;
    }
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (x->begin[middle] <= place)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* Whole IRIs, as they are. */
static void search_iris(const wfre_name_index *x, wfre_name text, wfre_name_found *found,
                        void *context)
{
    for (uint32_t item = 0; item < x->items; item++) {
        wfre_name name = name_of(x, item);
        if (name.length >= text.length && memcmp(name.bytes, text.bytes, text.length) == 0)
            found(context, item, name.length == text.length ? WFRE_NAME_EXACT : WFRE_NAME_PREFIX,
                  name.length);
    }
}

static void search_folded(const wfre_name_index *x, wfre_name text, wfre_name_found *found,
                          void *context)
{
    const char *at = x->bytes, *end = x->bytes + x->length, *hit;
    uint32_t item = 0;
    while (x->items > 0 && (hit = find_next(at, end, text))) {
        item = item_at(x, item, (size_t)(hit - x->bytes));
        const char *last = x->bytes + x->begin[item + 1];
        wfre_name_match best = match_at(hit, text.length);
        const char *best_hit = hit;
        while (best > WFRE_NAME_EXACT && (hit = find_next(hit + 1, last, text))) {
            wfre_name_match match = match_at(hit, text.length);
            if (match < best) {
                best = match;
                best_hit = hit;
            }
        }
        const char *begin = best_hit;
        while (begin[-1] != '\0')
            begin--;
        found(context, item, best, strlen(begin));
        at = last;
        if (++item == x->items)
            return;
    }
}

wfre_status wfre_name_index_search(const wfre_name_index *index, const char *text, size_t length,
                                   wfre_name_found *found, void *context, wfre_error *error)
{
    wfre_name plain = {text, length};
    if (length > 0 && memchr(text, '\0', length))
        return WFRE_OK; /* no name has it */
    if (length == 0) {
        for (uint32_t item = 0; item < index->items; item++)
            found(context, item, WFRE_NAME_PREFIX, 0);
        return WFRE_OK;
    }
    for (size_t i = 0; i + 3 <= length; i++)
        if (memcmp(text + i, "://", 3) == 0) {
            search_iris(index, plain, found, context);
            return WFRE_OK;
        }
    char *folded = wfre_alloc(length, 1);
    if (!folded)
        return wfre_fail_memory(error, "searching names");
    wfre_fold_into(folded, plain);
    search_folded(index, (wfre_name){folded, length}, found, context);
    wfre_free(folded);
    return WFRE_OK;
}
