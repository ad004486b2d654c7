/* Scans: the triples that match a pattern, in order. Edges and attributes are two streams, each in
 * that order, and merged; the few orders that no index has are collected and sorted. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "graph/image.h"
#include "graph/rdf.h"

/* The places by which an order sorts. */
static const wfre_rdf_place PLACES[WFRE_RDF_ORDERS][WFRE_RDF_PLACES] = {
    [WFRE_RDF_SPO] = {WFRE_RDF_S, WFRE_RDF_P, WFRE_RDF_O},
    [WFRE_RDF_PSO] = {WFRE_RDF_P, WFRE_RDF_S, WFRE_RDF_O},
    [WFRE_RDF_POS] = {WFRE_RDF_P, WFRE_RDF_O, WFRE_RDF_S},
    [WFRE_RDF_OPS] = {WFRE_RDF_O, WFRE_RDF_P, WFRE_RDF_S},
};

static int compare(wfre_rdf_order order, const wfre_rdf_triple *a, const wfre_rdf_triple *b)
{
    for (int i = 0; i < WFRE_RDF_PLACES; i++) {
        wfre_rdf_id left = a->at[PLACES[order][i]], right = b->at[PLACES[order][i]];
        if (left != right)
            return left < right ? -1 : 1;
    }
    return 0;
}

/* ---- edges -------------------------------------------------------------------------------- */

/* Takes up the targets of a group, or the one target asked for. */
static void load_group(wfre_rdf_edges *e, wfre_list targets)
{
    e->target = 0;
    e->targets = targets;
    if (e->far == WFRE_NONE)
        return;
    if (wfre_list_has(targets, e->far))
        e->targets = (wfre_list){&e->far, 1};
    else
        e->targets.count = 0;
}

/* Takes up the predicate at hand. */
static void load_predicate(const wfre_rdf *rdf, wfre_rdf_edges *e)
{
    uint32_t pair = e->predicates[e->predicate].pair;
    e->group = e->group_end = 0;
    e->targets = (wfre_list){NULL, 0};
    e->target = 0;
    if (pair == WFRE_NONE)
        return;
    wfre_relation relation = 2 * pair + (uint32_t)e->backward;
    if (e->near != WFRE_NONE) {
        load_group(e, wfre_graph_targets(rdf->graph, rdf->split, relation, e->near));
        return;
    }
    e->group_end = wfre_relation_groups(rdf->edges, relation, &e->group);
    if (e->group < e->group_end)
        load_group(e, wfre_group_targets(rdf->edges, e->group));
}

static int compare_predicates(const void *a, const void *b)
{
    wfre_rdf_id left = ((const wfre_rdf_predicate *)a)->term;
    wfre_rdf_id right = ((const wfre_rdf_predicate *)b)->term;
    return (left > right) - (left < right);
}

/* The predicates of the edges at an entity, by term; `owned` has room for all predicates. */
static void list_predicates(wfre_rdf_scan *scan, wfre_entity near)
{
    const wfre_rdf *rdf = scan->rdf;
    const wfre_adjacency *edges = rdf->edges;
    wfre_rdf_edges *e = &scan->edges;
    size_t count = 0;
    bool sorted = true;
    e->targets = (wfre_list){NULL, 0};
    e->target = 0;
    uint32_t at, end = wfre_entity_edges(edges, near, &at);
    for (; at < end; at++) {
        wfre_relation relation = wfre_edge_relation(edges, at);
        if ((relation & 1) != (uint32_t)e->backward)
            continue;
        wfre_rdf_id term = rdf->relation_terms[relation / 2];
        sorted &= count == 0 || scan->owned[count - 1].term < term;
        scan->owned[count++] = (wfre_rdf_predicate){term, relation / 2, WFRE_NONE};
    }
    if (!sorted)
        qsort(scan->owned, count, sizeof *scan->owned, compare_predicates);
    e->predicates = scan->owned;
    e->predicate_count = count;
    e->predicate = 0;
    e->near = near;
    if (count > 0)
        load_predicate(rdf, e);
}

/* On to the next predicate, or to the next subject that has one; false at the end. */
static bool next_predicate(wfre_rdf_scan *scan)
{
    wfre_rdf_edges *e = &scan->edges;
    if (++e->predicate < e->predicate_count) {
        load_predicate(scan->rdf, e);
        return true;
    }
    while (e->by_subject && e->subject + 1 < scan->rdf->with_edges) {
        list_predicates(scan, ++e->subject);
        if (e->predicate_count > 0)
            return true;
    }
    e->predicate = e->predicate_count;
    return false;
}

/* Brings the edge at the place where the stream stands into `triple`, moving on if there is none
 * at just this place. */
static void settle_edge(wfre_rdf_scan *scan)
{
    wfre_rdf_edges *e = &scan->edges;
    e->found = false;
    if (e->predicate >= e->predicate_count && !e->by_subject)
        return;
    while (e->target >= e->targets.count) {
        if (e->near == WFRE_NONE && e->group + 1 < e->group_end)
            load_group(e, wfre_group_targets(scan->rdf->edges, ++e->group));
        else if (!next_predicate(scan))
            return;
    }
    wfre_rdf_id near = e->near != WFRE_NONE ? e->near : scan->rdf->edges->group_entity[e->group];
    e->triple.at[WFRE_RDF_P] = e->predicates[e->predicate].term;
    e->triple.at[e->backward ? WFRE_RDF_O : WFRE_RDF_S] = near;
    e->triple.at[e->backward ? WFRE_RDF_S : WFRE_RDF_O] = e->targets.ids[e->target];
    e->found = true;
}

static void next_edge(wfre_rdf_scan *scan)
{
    scan->edges.target++;
    settle_edge(scan);
}

/* The first place of ids[low .. high) that is not below `least`. */
static size_t lower_bound(const wfre_entity *ids, size_t low, size_t high, wfre_rdf_id least)
{
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (ids[middle] < least)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Skips predicates, then groups, then targets that are before `least`. */
static void seek_edge(wfre_rdf_scan *scan, const wfre_rdf_triple *least)
{
    wfre_rdf_edges *e = &scan->edges;
    wfre_rdf_place near = e->backward ? WFRE_RDF_O : WFRE_RDF_S;
    wfre_rdf_place far = e->backward ? WFRE_RDF_S : WFRE_RDF_O;
    if (e->found && e->by_subject && least->at[WFRE_RDF_S] >= scan->rdf->with_edges)
        e->found = false;
    if (e->found && e->by_subject && least->at[WFRE_RDF_S] > e->subject) {
        e->subject = least->at[WFRE_RDF_S];
        list_predicates(scan, e->subject);
        settle_edge(scan);
    }
    while (e->found && compare(scan->order, &e->triple, least) < 0) {
        if (e->triple.at[WFRE_RDF_P] < least->at[WFRE_RDF_P] &&
            (!e->by_subject || e->triple.at[WFRE_RDF_S] == least->at[WFRE_RDF_S]) &&
            (PLACES[scan->order][0] == WFRE_RDF_P || e->near != WFRE_NONE)) {
            e->targets.count = 0; /* nothing more of this predicate */
            e->group = e->group_end;
            e->target = 0;
        } else if (e->near == WFRE_NONE && e->triple.at[WFRE_RDF_P] == least->at[WFRE_RDF_P] &&
                   e->triple.at[near] < least->at[near]) {
            e->group = (uint32_t)lower_bound(scan->rdf->edges->group_entity, e->group, e->group_end,
                                             least->at[near]);
            e->targets = (wfre_list){NULL, 0};
            e->target = 0;
            if (e->group < e->group_end)
                load_group(e, wfre_group_targets(scan->rdf->edges, e->group));
        } else if (e->triple.at[WFRE_RDF_P] == least->at[WFRE_RDF_P] &&
                   e->triple.at[near] == least->at[near]) {
            e->target = lower_bound(e->targets.ids, e->target, e->targets.count, least->at[far]);
        } else {
            e->target++;
        }
        settle_edge(scan);
    }
}

/* ---- attributes --------------------------------------------------------------------------- */

static void settle_row(wfre_rdf_scan *scan)
{
    wfre_rdf_rows *r = &scan->rows;
    const wfre_rdf *rdf = scan->rdf;
    for (;;) {
        const wfre_packed_cursor *cursor = &r->cursor;
        bool inside =
            cursor->packed && cursor->rank < cursor->packed->rows &&
            memcmp(cursor->row.field, r->prefix.field, (size_t)r->depth * sizeof(uint32_t)) == 0;
        if (inside && (r->object == WFRE_NONE || cursor->row.field[2] == r->object)) {
            for (int i = 0; i < WFRE_RDF_PLACES; i++)
                r->triple.at[PLACES[r->order][i]] = cursor->row.field[i];
            r->found = true;
            return;
        }
        if (inside) {
            wfre_packed_next(&r->cursor);
        } else if (r->by_predicate && r->predicate + 1 < rdf->attribute_count) {
            r->prefix.field[0] = rdf->attributes[++r->predicate].term;
            r->cursor = wfre_packed_find(&scan->rdf->packed[r->order], &r->prefix);
        } else {
            r->found = false;
            return;
        }
    }
}

static void next_row(wfre_rdf_scan *scan)
{
    wfre_packed_next(&scan->rows.cursor);
    settle_row(scan);
}

static void seek_row(wfre_rdf_scan *scan, const wfre_rdf_triple *least)
{
    wfre_rdf_rows *r = &scan->rows;
    if (r->found && !r->by_predicate && r->order == scan->order && r->object == WFRE_NONE) {
        wfre_triple row;
        for (int i = 0; i < WFRE_RDF_PLACES; i++)
            row.field[i] = least->at[PLACES[r->order][i]];
        wfre_packed_seek(&r->cursor, &row);
        settle_row(scan);
    }
    while (r->found && compare(scan->order, &r->triple, least) < 0)
        next_row(scan);
}

static void start_rows(wfre_rdf_scan *scan, wfre_rdf_order order, wfre_triple prefix, int depth,
                       wfre_rdf_id object)
{
    scan->rows = (wfre_rdf_rows){
        .cursor = wfre_packed_find(&scan->rdf->packed[order], &prefix),
        .order = order,
        .prefix = prefix,
        .depth = depth,
        .object = object,
    };
    settle_row(scan);
}

/* ---- opening ------------------------------------------------------------------------------ */

/* With the subject given: its predicates, or the one given. */
static void open_at_subject(wfre_rdf_scan *scan, const wfre_rdf_predicate *predicate,
                            const wfre_rdf_triple *pattern)
{
    wfre_rdf_id s = pattern->at[WFRE_RDF_S], p = pattern->at[WFRE_RDF_P];
    wfre_rdf_edges *e = &scan->edges;
    e->far = pattern->at[WFRE_RDF_O];
    if (s < scan->rdf->with_edges && p == WFRE_NONE) {
        list_predicates(scan, s);
    } else if (s < scan->rdf->with_edges) {
        e->near = s;
        e->predicates = predicate;
        e->predicate_count = 1;
        load_predicate(scan->rdf, e);
    }
    if (p == WFRE_NONE)
        start_rows(scan, WFRE_RDF_SPO, (wfre_triple){{s, 0, 0}}, 1, pattern->at[WFRE_RDF_O]);
    else
        start_rows(scan, WFRE_RDF_PSO, (wfre_triple){{p, s, 0}}, 2, pattern->at[WFRE_RDF_O]);
}

/* With the object given, and not the subject. */
static void open_at_object(wfre_rdf_scan *scan, const wfre_rdf_predicate *predicate,
                           const wfre_rdf_triple *pattern)
{
    wfre_rdf_id o = pattern->at[WFRE_RDF_O], p = pattern->at[WFRE_RDF_P];
    wfre_rdf_edges *e = &scan->edges;
    e->backward = 1;
    if (o < scan->rdf->with_edges && p == WFRE_NONE) {
        list_predicates(scan, o);
    } else if (o < scan->rdf->with_edges) {
        e->near = o;
        e->predicates = predicate;
        e->predicate_count = 1;
        load_predicate(scan->rdf, e);
    }
    if (p != WFRE_NONE) {
        start_rows(scan, WFRE_RDF_POS, (wfre_triple){{p, o, 0}}, 2, WFRE_NONE);
    } else if (scan->rdf->attribute_count > 0) {
        wfre_triple prefix = {{scan->rdf->attributes[0].term, o, 0}};
        scan->rows = (wfre_rdf_rows){
            .cursor = wfre_packed_find(&scan->rdf->packed[WFRE_RDF_POS], &prefix),
            .order = WFRE_RDF_POS,
            .prefix = prefix,
            .depth = 2,
            .object = WFRE_NONE,
            .by_predicate = true,
        };
        settle_row(scan);
    }
}

/* With neither given: by predicate, or by subject. */
static void open_wide(wfre_rdf_scan *scan, const wfre_rdf_predicate *predicate)
{
    const wfre_rdf *rdf = scan->rdf;
    wfre_rdf_edges *e = &scan->edges;
    bool by_object = scan->order == WFRE_RDF_POS || scan->order == WFRE_RDF_OPS;
    if (!predicate && scan->order == WFRE_RDF_SPO) {
        e->by_subject = rdf->with_edges > 0;
        if (e->by_subject)
            list_predicates(scan, 0);
        start_rows(scan, WFRE_RDF_SPO, (wfre_triple){{0}}, 0, WFRE_NONE);
        return;
    }
    e->backward = by_object;
    e->predicates = predicate ? predicate : rdf->predicates;
    e->predicate_count = predicate ? 1 : rdf->predicate_count;
    if (e->predicate_count > 0)
        load_predicate(rdf, e);
    start_rows(scan, by_object ? WFRE_RDF_POS : WFRE_RDF_PSO,
               (wfre_triple){{predicate ? predicate->term : 0, 0, 0}}, predicate != NULL,
               WFRE_NONE);
}

static int compare_ops(const void *a, const void *b)
{
    return compare(WFRE_RDF_OPS, a, b);
}

static int compare_spo(const void *a, const void *b)
{
    return compare(WFRE_RDF_SPO, a, b);
}

/* Reads the scan to its end and sorts what it gave. */
static wfre_status sort_all(wfre_rdf_scan *scan, wfre_rdf_order order, wfre_error *error)
{
    wfre_rdf_triple triple;
    while (wfre_rdf_scan_next(scan, &triple)) {
        if (!WFRE_RESERVE(&scan->sorted, &scan->sorted_capacity, scan->sorted_count + 1))
            return wfre_fail_memory(error, "sorting triples");
        scan->sorted[scan->sorted_count++] = triple;
    }
    if (scan->sorted_count > 0)
        qsort(scan->sorted, scan->sorted_count, sizeof *scan->sorted,
              order == WFRE_RDF_OPS ? compare_ops : compare_spo);
    scan->order = order;
    scan->is_sorted = true;
    return WFRE_OK;
}

wfre_status wfre_rdf_scan_open(wfre_rdf_scan *scan, const wfre_rdf *rdf,
                               const wfre_rdf_triple *pattern, wfre_rdf_order order,
                               wfre_error *error)
{
    bool s = pattern->at[WFRE_RDF_S] != WFRE_NONE, o = pattern->at[WFRE_RDF_O] != WFRE_NONE;
    bool p = pattern->at[WFRE_RDF_P] != WFRE_NONE;
    const wfre_rdf_predicate *predicate =
        p ? wfre_rdf_find_predicate(rdf, pattern->at[WFRE_RDF_P]) : NULL;
    /* The orders that no index has; PSO is as good a start as any. */
    bool sort = !p && ((order == WFRE_RDF_OPS && !o) || (order == WFRE_RDF_SPO && o && !s));
    *scan = (wfre_rdf_scan){
        .rdf = rdf,
        .order = sort ? WFRE_RDF_PSO : order,
        .edges = {.near = WFRE_NONE, .far = WFRE_NONE},
        .owned = scan->owned,
        .owned_capacity = scan->owned_capacity,
        .sorted = scan->sorted,
        .sorted_capacity = scan->sorted_capacity,
    };
    if (p && !predicate)
        return WFRE_OK;
    if (!WFRE_RESERVE(&scan->owned, &scan->owned_capacity, (size_t)rdf->predicate_count + 1))
        return wfre_fail_memory(error, "reading triples");
    if (s)
        open_at_subject(scan, predicate, pattern);
    else if (o)
        open_at_object(scan, predicate, pattern);
    else
        open_wide(scan, predicate);
    settle_edge(scan);
    return sort ? sort_all(scan, order, error) : WFRE_OK;
}

/* ---- walking ------------------------------------------------------------------------------ */

bool wfre_rdf_scan_next(wfre_rdf_scan *scan, wfre_rdf_triple *triple)
{
    if (scan->is_sorted) {
        if (scan->sorted_at >= scan->sorted_count)
            return false;
        *triple = scan->sorted[scan->sorted_at++];
        return true;
    }
    if (!scan->edges.found && !scan->rows.found)
        return false;
    if (!scan->rows.found ||
        (scan->edges.found && compare(scan->order, &scan->edges.triple, &scan->rows.triple) < 0)) {
        *triple = scan->edges.triple;
        next_edge(scan);
    } else {
        *triple = scan->rows.triple;
        next_row(scan);
    }
    return true;
}

void wfre_rdf_scan_seek(wfre_rdf_scan *scan, const wfre_rdf_triple *least)
{
    if (!scan->is_sorted) {
        seek_edge(scan, least);
        seek_row(scan, least);
        return;
    }
    size_t low = scan->sorted_at, high = scan->sorted_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (compare(scan->order, &scan->sorted[middle], least) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    scan->sorted_at = low;
}

void wfre_rdf_scan_free(wfre_rdf_scan *scan)
{
    wfre_free(scan->owned);
    wfre_free(scan->sorted);
    *scan = (wfre_rdf_scan){0};
}
