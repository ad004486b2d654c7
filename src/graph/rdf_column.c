/* Columns: the different terms at one place of the triples that match a pattern. Counts, too.
 *
 * Most are a list of the learnable graph beside a stretch of packed attributes. The few that no
 * index gives in order (objects of a subject, subjects of an object, all objects) are collected and
 * sorted when the column is opened. */
#include <stdlib.h>
#include <string.h>

#include "base/gallop.h"
#include "base/memory.h"
#include "graph/image.h"
#include "graph/rdf.h"

/* ---- edges -------------------------------------------------------------------------------- */

static wfre_list targets_of(const wfre_rdf *rdf, uint32_t pair, int backward, wfre_rdf_id near)
{
    if (pair == WFRE_NONE || near >= rdf->with_edges)
        return (wfre_list){NULL, 0};
    return wfre_graph_targets(rdf->graph, rdf->split, 2 * pair + (uint32_t)backward, near);
}

/* Whether an entity has an edge going out (0) or coming in (1). */
static bool has_edge(const wfre_rdf *rdf, wfre_entity entity, int backward)
{
    const wfre_adjacency *edges = rdf->edges;
    uint32_t i, end = wfre_entity_edges(edges, entity, &i);
    for (; i < end; i++)
        if ((wfre_edge_relation(edges, i) & 1) == (uint32_t)backward)
            return true;
    return false;
}

static uint64_t count_edges(const wfre_rdf *rdf, wfre_rdf_id near, int backward)
{
    const wfre_adjacency *edges = rdf->edges;
    uint64_t sum = 0;
    if (near >= rdf->with_edges)
        return 0;
    uint32_t i, end = wfre_entity_edges(edges, near, &i);
    for (; i < end; i++)
        if ((wfre_edge_relation(edges, i) & 1) == (uint32_t)backward)
            sum += wfre_group_targets(edges, edges->edge_groups[i]).count;
    return sum;
}

/* ---- counts ------------------------------------------------------------------------------- */

static uint64_t count_rows(const wfre_rdf *rdf, wfre_rdf_order order, uint32_t a, uint32_t b,
                           uint32_t c, int columns)
{
    wfre_triple row = {{a, b, c}};
    return wfre_packed_count(&rdf->packed[order], &row, columns);
}

bool wfre_rdf_has(const wfre_rdf *rdf, const wfre_rdf_triple *triple)
{
    wfre_rdf_id s = triple->at[WFRE_RDF_S], p = triple->at[WFRE_RDF_P], o = triple->at[WFRE_RDF_O];
    const wfre_rdf_predicate *predicate = wfre_rdf_find_predicate(rdf, p);
    if (!predicate)
        return false;
    if (s < rdf->with_edges && o < rdf->with_edges)
        return wfre_list_has(targets_of(rdf, predicate->pair, 0, s), o);
    return predicate->attribute != WFRE_NONE && count_rows(rdf, WFRE_RDF_SPO, s, p, o, 3) > 0;
}

/* With subject and object given: by the subject's predicates. */
static uint64_t count_between(const wfre_rdf *rdf, wfre_rdf_id s, wfre_rdf_id o)
{
    uint64_t sum = 0;
    if (s < rdf->with_edges && o < rdf->with_edges) {
        const wfre_adjacency *edges = rdf->edges;
        uint32_t i, end = wfre_entity_edges(edges, s, &i);
        for (; i < end; i++)
            if (wfre_edge_relation(edges, i) % 2 == 0)
                sum += wfre_list_has(wfre_group_targets(edges, edges->edge_groups[i]), o);
        return sum;
    }
    wfre_triple least = {{s, 0, 0}};
    wfre_packed_cursor cursor = wfre_packed_find(&rdf->packed[WFRE_RDF_SPO], &least);
    for (; cursor.rank < cursor.packed->rows && cursor.row.field[0] == s; wfre_packed_next(&cursor))
        sum += cursor.row.field[2] == o;
    return sum;
}

static uint64_t count_of_predicate(const wfre_rdf *rdf, wfre_rdf_id s, wfre_rdf_id p, wfre_rdf_id o)
{
    const wfre_rdf_predicate *predicate = wfre_rdf_find_predicate(rdf, p);
    if (!predicate)
        return 0;
    bool attributes = predicate->attribute != WFRE_NONE;
    if (s != WFRE_NONE)
        return targets_of(rdf, predicate->pair, 0, s).count +
               (attributes ? count_rows(rdf, WFRE_RDF_PSO, p, s, 0, 2) : 0);
    if (o != WFRE_NONE)
        return targets_of(rdf, predicate->pair, 1, o).count +
               (attributes ? count_rows(rdf, WFRE_RDF_POS, p, o, 0, 2) : 0);
    uint64_t sum = attributes ? rdf->attributes[predicate->attribute].triples : 0;
    if (predicate->pair != WFRE_NONE)
        sum += wfre_graph_relation_triples(rdf->graph, rdf->split, 2 * predicate->pair);
    return sum;
}

uint64_t wfre_rdf_count(const wfre_rdf *rdf, const wfre_rdf_triple *pattern)
{
    wfre_rdf_id s = pattern->at[WFRE_RDF_S], p = pattern->at[WFRE_RDF_P];
    wfre_rdf_id o = pattern->at[WFRE_RDF_O];
    if (s != WFRE_NONE && p != WFRE_NONE && o != WFRE_NONE)
        return wfre_rdf_has(rdf, pattern);
    if (p != WFRE_NONE)
        return count_of_predicate(rdf, s, p, o);
    if (s != WFRE_NONE && o != WFRE_NONE)
        return count_between(rdf, s, o);
    if (s != WFRE_NONE)
        return count_edges(rdf, s, 0) + count_rows(rdf, WFRE_RDF_SPO, s, 0, 0, 1);
    if (o == WFRE_NONE)
        return wfre_rdf_triples(rdf);
    uint64_t sum = count_edges(rdf, o, 1);
    for (uint32_t i = 0; i < rdf->attribute_count; i++)
        sum += count_rows(rdf, WFRE_RDF_POS, rdf->attributes[i].term, o, 0, 2);
    return sum;
}

uint64_t wfre_rdf_distinct(const wfre_rdf *rdf, wfre_rdf_id id, wfre_rdf_place place)
{
    const wfre_rdf_predicate *predicate = wfre_rdf_find_predicate(rdf, id);
    uint64_t sum = 0;
    if (!predicate)
        return 0;
    if (predicate->pair != WFRE_NONE)
        sum +=
            wfre_graph_sources(rdf->graph, rdf->split, 2 * predicate->pair + (place == WFRE_RDF_O))
                .count;
    if (predicate->attribute != WFRE_NONE) {
        const wfre_attribute_predicate *row = &rdf->attributes[predicate->attribute];
        sum += place == WFRE_RDF_O ? row->objects : row->subjects;
    }
    return sum;
}

/* ---- columns that have to be collected ---------------------------------------------------- */

static wfre_status collect(wfre_rdf_column *column, wfre_rdf_id id, wfre_error *error)
{
    if (!WFRE_RESERVE(&column->owned, &column->capacity, column->count + 1))
        return wfre_fail_memory(error, "collecting terms");
    column->owned[column->count++] = id;
    return WFRE_OK;
}

static int compare_ids(const void *a, const void *b)
{
    wfre_rdf_id left = *(const wfre_rdf_id *)a, right = *(const wfre_rdf_id *)b;
    return (left > right) - (left < right);
}

/* Sorts what was collected and keeps each once. */
static void settle(wfre_rdf_column *column)
{
    size_t kept = 0;
    if (column->count > 0)
        qsort(column->owned, column->count, sizeof *column->owned, compare_ids);
    for (size_t i = 0; i < column->count; i++)
        if (kept == 0 || column->owned[kept - 1] != column->owned[i])
            column->owned[kept++] = column->owned[i];
    column->count = kept;
    column->ids = column->owned;
    column->most = kept;
}

/* The predicates, or else the far ends, of the triples at `near`; `far` may be given. */
static wfre_status collect_edges(wfre_rdf_column *column, const wfre_rdf *rdf, wfre_rdf_id near,
                                 int backward, wfre_rdf_id far, bool predicates, wfre_error *error)
{
    const wfre_adjacency *edges = rdf->edges;
    if (near >= rdf->with_edges)
        return WFRE_OK;
    uint32_t at, end = wfre_entity_edges(edges, near, &at);
    for (; at < end; at++) {
        wfre_edge_group edge = wfre_entity_edge(edges, at);
        if ((edge.relation & 1) != (uint32_t)backward)
            continue;
        wfre_list targets = wfre_group_targets(edges, edge.group);
        if (far != WFRE_NONE && !wfre_list_has(targets, far))
            continue;
        if (predicates)
            CHECK(collect(column, rdf->relation_terms[edge.relation / 2], error));
        for (size_t t = 0; t < targets.count && !predicates; t++)
            CHECK(collect(column, targets.ids[t], error));
    }
    return WFRE_OK;
}

/* The rows of an order that begin with `depth` columns of `prefix`: column `take`, if column 2 is
 * `last` or that is WFRE_NONE. */
static wfre_status collect_rows(wfre_rdf_column *column, const wfre_rdf *rdf, wfre_rdf_order order,
                                const wfre_triple *prefix, int depth, int take, wfre_rdf_id last,
                                wfre_error *error)
{
    wfre_packed_cursor cursor = wfre_packed_find(&rdf->packed[order], prefix);
    for (; cursor.rank < cursor.packed->rows &&
           memcmp(cursor.row.field, prefix->field, (size_t)depth * sizeof(uint32_t)) == 0;
         wfre_packed_next(&cursor))
        if (last == WFRE_NONE || cursor.row.field[2] == last)
            CHECK(collect(column, cursor.row.field[take], error));
    return WFRE_OK;
}

/* Everything at an object: the predicates or the subjects. */
static wfre_status collect_at_object(wfre_rdf_column *column, const wfre_rdf *rdf, wfre_rdf_id o,
                                     bool predicates, wfre_error *error)
{
    CHECK(collect_edges(column, rdf, o, 1, WFRE_NONE, predicates, error));
    for (uint32_t i = 0; i < rdf->attribute_count; i++) {
        wfre_triple prefix = {{rdf->attributes[i].term, o, 0}};
        if (predicates && wfre_packed_count(&rdf->packed[WFRE_RDF_POS], &prefix, 2) > 0)
            CHECK(collect(column, prefix.field[0], error));
        if (!predicates)
            CHECK(collect_rows(column, rdf, WFRE_RDF_POS, &prefix, 2, 2, WFRE_NONE, error));
    }
    return WFRE_OK;
}

/* All objects there are, by a bit for each term. */
static wfre_status collect_objects(wfre_rdf_column *column, const wfre_rdf *rdf, wfre_error *error)
{
    const wfre_triple none = {{0}};
    uint64_t *bits = wfre_alloc_zero((size_t)rdf->terms / 64 + 1, sizeof *bits);
    wfre_status status = WFRE_OK;
    if (!bits)
        return wfre_fail_memory(error, "collecting terms");
    wfre_packed_cursor cursor = wfre_packed_find(&rdf->packed[WFRE_RDF_POS], &none);
    for (; cursor.rank < cursor.packed->rows; wfre_packed_next(&cursor))
        if (cursor.row.field[1] < rdf->terms)
            bits[cursor.row.field[1] / 64] |= (uint64_t)1 << cursor.row.field[1] % 64;
    for (wfre_rdf_id id = 0; id < rdf->terms; id++)
        if (bits[id / 64] >> id % 64 & 1 || (id < rdf->with_edges && has_edge(rdf, id, 1)))
            TRY(collect(column, id, error));
cleanup:
    wfre_free(bits);
    return status;
}

/* ---- opening ------------------------------------------------------------------------------ */

static void set_list(wfre_rdf_column *column, wfre_list list)
{
    column->ids = list.ids;
    column->count = list.count;
    column->most += list.count;
}

/* Walks on the column behind the prefix. */
static void set_rows(wfre_rdf_column *column, const wfre_rdf *rdf, wfre_rdf_order order,
                     wfre_triple prefix, int depth, uint64_t most)
{
    column->cursor = wfre_packed_find(&rdf->packed[order], &prefix);
    column->prefix = prefix;
    column->depth = depth;
    column->has_attributes = true;
    column->most += most;
}

/* The subjects (place S) or objects of a predicate, perhaps with the other end given. */
static void open_ends(wfre_rdf_column *column, const wfre_rdf *rdf, wfre_rdf_id p,
                      wfre_rdf_place place, wfre_rdf_id other)
{
    const wfre_rdf_predicate *predicate = wfre_rdf_find_predicate(rdf, p);
    int subjects = place == WFRE_RDF_S;
    wfre_rdf_order by_other = subjects ? WFRE_RDF_POS : WFRE_RDF_PSO;
    if (!predicate)
        return;
    bool attributes = predicate->attribute != WFRE_NONE;
    if (other != WFRE_NONE) {
        wfre_triple prefix = {{p, other, 0}};
        set_list(column, targets_of(rdf, predicate->pair, subjects, other));
        if (attributes)
            set_rows(column, rdf, by_other, prefix, 2,
                     wfre_packed_count(&rdf->packed[by_other], &prefix, 2));
        return;
    }
    if (predicate->pair != WFRE_NONE)
        set_list(column, wfre_graph_sources(rdf->graph, rdf->split,
                                            2 * predicate->pair + (uint32_t)!subjects));
    if (attributes) {
        const wfre_attribute_predicate *row = &rdf->attributes[predicate->attribute];
        set_rows(column, rdf, subjects ? WFRE_RDF_PSO : WFRE_RDF_POS, (wfre_triple){{p, 0, 0}}, 1,
                 subjects ? row->subjects : row->objects);
    }
}

static wfre_status open_predicates(wfre_rdf_column *column, const wfre_rdf *rdf, wfre_rdf_id s,
                                   wfre_rdf_id o, wfre_error *error)
{
    if (s == WFRE_NONE && o == WFRE_NONE) {
        set_list(column, (wfre_list){rdf->predicate_terms, rdf->live_count});
        return WFRE_OK;
    }
    if (s == WFRE_NONE) {
        CHECK(collect_at_object(column, rdf, o, true, error));
    } else {
        CHECK(collect_edges(column, rdf, s, 0, o, true, error));
        CHECK(collect_rows(column, rdf, WFRE_RDF_SPO, &(wfre_triple){{s, 0, 0}}, 1, 1, o, error));
    }
    settle(column);
    return WFRE_OK;
}

static wfre_status open_without_predicate(wfre_rdf_column *column, const wfre_rdf *rdf,
                                          wfre_rdf_place place, wfre_rdf_id other,
                                          wfre_error *error)
{
    if (place == WFRE_RDF_S && other == WFRE_NONE) {
        column->subjects = rdf;
        set_rows(column, rdf, WFRE_RDF_SPO, (wfre_triple){{0}}, 0, rdf->terms);
        return WFRE_OK;
    }
    if (place == WFRE_RDF_S) {
        CHECK(collect_at_object(column, rdf, other, false, error));
    } else if (other != WFRE_NONE) {
        CHECK(collect_edges(column, rdf, other, 0, WFRE_NONE, false, error));
        CHECK(collect_rows(column, rdf, WFRE_RDF_SPO, &(wfre_triple){{other, 0, 0}}, 1, 2,
                           WFRE_NONE, error));
    } else {
        CHECK(collect_objects(column, rdf, error));
    }
    settle(column);
    return WFRE_OK;
}

wfre_status wfre_rdf_column_open(wfre_rdf_column *column, const wfre_rdf *rdf,
                                 const wfre_rdf_triple *pattern, wfre_rdf_place place,
                                 wfre_error *error)
{
    wfre_rdf_id p = pattern->at[WFRE_RDF_P];
    wfre_rdf_id other = pattern->at[place == WFRE_RDF_S ? WFRE_RDF_O : WFRE_RDF_S];
    *column = (wfre_rdf_column){.owned = column->owned, .capacity = column->capacity};
    if (place == WFRE_RDF_P)
        return open_predicates(column, rdf, pattern->at[WFRE_RDF_S], pattern->at[WFRE_RDF_O],
                               error);
    if (p == WFRE_NONE)
        return open_without_predicate(column, rdf, place, other, error);
    open_ends(column, rdf, p, place, other);
    return WFRE_OK;
}

/* ---- walking ------------------------------------------------------------------------------ */

static bool seek_list(wfre_rdf_column *column, wfre_rdf_id least, wfre_rdf_id *member)
{
    if (column->subjects) {
        wfre_entity entity = least;
        while (entity < column->subjects->with_edges && !has_edge(column->subjects, entity, 0))
            entity++;
        *member = entity;
        return entity < column->subjects->with_edges;
    }
    column->at = wfre_gallop(column->ids, column->at, column->count, least);
    if (column->at >= column->count)
        return false;
    *member = column->ids[column->at];
    return true;
}

static bool seek_rows(wfre_rdf_column *column, wfre_rdf_id least, wfre_rdf_id *member)
{
    wfre_packed_cursor *cursor = &column->cursor;
    int depth = column->depth;
    if (!column->has_attributes)
        return false;
    if (cursor->rank < cursor->packed->rows && cursor->row.field[depth] < least) {
        wfre_triple target = column->prefix;
        target.field[depth] = least;
        wfre_packed_seek(cursor, &target);
    }
    if (cursor->rank >= cursor->packed->rows ||
        memcmp(cursor->row.field, column->prefix.field, (size_t)depth * sizeof(uint32_t)) != 0)
        return column->has_attributes = false;
    *member = cursor->row.field[depth];
    return true;
}

bool wfre_rdf_column_seek(wfre_rdf_column *column, wfre_rdf_id least, wfre_rdf_id *member)
{
    wfre_rdf_id edge = WFRE_NONE, row = WFRE_NONE;
    bool has_edges = seek_list(column, least, &edge), has_rows = seek_rows(column, least, &row);
    if (!has_edges && !has_rows)
        return false;
    *member = !has_rows || (has_edges && edge < row) ? edge : row;
    return true;
}

uint64_t wfre_rdf_column_most(const wfre_rdf_column *column)
{
    return column->most;
}

void wfre_rdf_column_free(wfre_rdf_column *column)
{
    wfre_free(column->owned);
    *column = (wfre_rdf_column){0};
}
