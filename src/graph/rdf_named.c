/* Named graphs: views of the same terms that have some of the triples.
 *
 * The snapshot has a line for each among its prefixes: "@graph", the name (none: what stood in the
 * default graph beside them), the edges and the attributes, with tabs between them. Triples are
 * sorted and written as differences: that of the first number and, if it is 0, that of the second
 * and, if it is 0, too, that of the third; what follows a difference is written as it is. Numbers
 * have five bits a character, low ones first; another follows if the character's sixth bit is set.
 * The second number of an edge is a relation without its direction; all others are terms
 * (graph/rdf.h). */
#include "graph/rdf_named.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/scope.h"
#include "graph/image.h"
#include "graph/triples.h"

static const char DIGITS[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-_";
enum { BITS = 5, MORE = 1 << BITS };
enum { LOOK = 1 << 14 }; /* rows between two looks at the clock */

typedef struct named_graph {
    wfre_name iri, edges, attributes;
    wfre_rdf *view; /* made when it is first asked for */
} named_graph;

struct wfre_rdf_named {
    pthread_mutex_t lock;
    named_graph *graphs;
    size_t count, capacity;
    named_graph own; /* what stood in the default graph beside named ones; its IRI is empty */
    bool has_own;
};

/* ---- writing ------------------------------------------------------------------------------ */

static void put_number(wfre_text *text, uint32_t number)
{
    for (; number >= MORE; number >>= BITS)
        wfre_text_char(text, DIGITS[MORE + number % MORE]);
    wfre_text_char(text, DIGITS[number]);
}

static int compare_rows(const void *a, const void *b)
{
    return wfre_packed_compare(a, b);
}

void wfre_named_put(wfre_text *text, wfre_triple *rows, size_t count)
{
    wfre_triple before = {{0, 0, 0}};
    if (count > 0)
        qsort(rows, count, sizeof *rows, compare_rows);
    for (size_t i = 0; i < count; i++) {
        if (i > 0 && wfre_packed_compare(&rows[i], &before) == 0)
            continue;
        bool changed = false;
        for (int k = 0; k < WFRE_TRIPLE_FIELDS; k++) {
            put_number(text, rows[i].field[k] - (changed ? 0 : before.field[k]));
            changed |= rows[i].field[k] != before.field[k];
        }
        before = rows[i];
    }
}

/* ---- reading ------------------------------------------------------------------------------ */

static wfre_status damaged(wfre_error *error)
{
    return wfre_fail(error, WFRE_ERR_FORMAT, WFRE_NO_OFFSET,
                     "damaged graph snapshot: a named graph; import the graph again");
}

static bool get_number(wfre_name *text, uint32_t *number)
{
    uint64_t value = 0;
    for (int shift = 0; shift < 35 && text->length > 0; shift += BITS) {
        const char *digit = memchr(DIGITS, *text->bytes, sizeof DIGITS - 1);
        if (!digit)
            return false;
        uint64_t bits = (uint64_t)(digit - DIGITS);
        text->bytes++;
        text->length--;
        value |= bits % MORE << shift;
        if (bits < MORE) {
            *number = (uint32_t)value;
            return value <= UINT32_MAX;
        }
    }
    return false;
}

/* The next row after `row`; false if there is none, or it is none. */
static bool get_row(wfre_name *text, wfre_triple *row)
{
    bool changed = false;
    for (int k = 0; k < WFRE_TRIPLE_FIELDS; k++) {
        uint32_t number, before = changed ? 0 : row->field[k];
        if (!get_number(text, &number) || number > UINT32_MAX - before)
            return false;
        changed |= number > 0 && !changed;
        row->field[k] = before + number;
    }
    return true;
}

typedef struct rows {
    wfre_triple *rows;
    size_t count, capacity;
} rows;

static wfre_status add_row(rows *to, const wfre_triple *row, wfre_error *error)
{
    if (to->count % LOOK == LOOK - 1)
        CHECK(wfre_check_stop(error));
    if (!WFRE_RESERVE(&to->rows, &to->capacity, to->count + 1))
        return wfre_fail_memory(error, "opening a named graph");
    to->rows[to->count++] = *row;
    return WFRE_OK;
}

static wfre_status read_edges(const wfre_rdf *rdf, wfre_name text, rows *to, wfre_error *error)
{
    wfre_triple row = {{0, 0, 0}};
    while (text.length > 0) {
        if (!get_row(&text, &row) || row.field[0] >= rdf->entities ||
            row.field[1] >= rdf->graph->header->relations / 2 || row.field[2] >= rdf->entities)
            return damaged(error);
        if (rdf->split != WFRE_TEST &&
            !wfre_graph_has(rdf->graph, rdf->split, row.field[0], 2 * row.field[1], row.field[2]))
            continue;
        const wfre_triple triple = {
            {row.field[0], rdf->relation_terms[row.field[1]], row.field[2]}};
        CHECK(add_row(to, &triple, error));
    }
    return WFRE_OK;
}

static wfre_status read_attributes(const wfre_rdf *rdf, wfre_name text, rows *to, wfre_error *error)
{
    wfre_triple row = {{0, 0, 0}};
    uint32_t terms = rdf->entities + rdf->dictionary + rdf->blanks;
    while (text.length > 0) {
        if (!get_row(&text, &row) || row.field[0] >= terms || row.field[1] >= terms ||
            row.field[2] >= terms)
            return damaged(error);
        CHECK(add_row(to, &row, error));
    }
    return WFRE_OK;
}

/* ---- views -------------------------------------------------------------------------------- */

static int compare_pso(const void *a, const void *b)
{
    const wfre_triple *x = a, *y = b;
    const wfre_triple left = {{x->field[1], x->field[0], x->field[2]}};
    const wfre_triple right = {{y->field[1], y->field[0], y->field[2]}};
    return wfre_packed_compare(&left, &right);
}

static int compare_pos(const void *a, const void *b)
{
    const wfre_triple *x = a, *y = b;
    const wfre_triple left = {{x->field[1], x->field[2], x->field[0]}};
    const wfre_triple right = {{y->field[1], y->field[2], y->field[0]}};
    return wfre_packed_compare(&left, &right);
}

static const int COLUMNS[3][WFRE_TRIPLE_FIELDS] = {{0, 1, 2}, {1, 0, 2}, {1, 2, 0}};

/* Sorts rows of terms: many by digits, column by column, with a look at the clock in between. */
static wfre_status sort_rows(wfre_rdf *view, wfre_triple **all, size_t count, wfre_rdf_order order,
                             wfre_error *error)
{
    static int (*const compare[3])(const void *, const void *) = {compare_rows, compare_pso,
                                                                  compare_pos};
    if (count < LOOK) {
        if (count > 0)
            qsort(*all, count, sizeof **all, compare[order]);
        return WFRE_OK;
    }
    wfre_triple *scratch = count < UINT32_MAX ? wfre_alloc(count, sizeof *scratch) : NULL;
    if (!scratch)
        return wfre_fail_memory(error, "opening a named graph");
    wfre_status status = WFRE_OK;
    for (int k = WFRE_TRIPLE_FIELDS - 1; k >= 0 && status == WFRE_OK; k--) {
        wfre_triples_sort_field(all, &scratch, (uint32_t)count, COLUMNS[order][k], 0, view->terms);
        status = wfre_check_stop(error);
    }
    wfre_free(scratch);
    return status;
}

static wfre_status pack(wfre_rdf *view, wfre_triple *all, size_t count, wfre_rdf_order order,
                        wfre_error *error)
{
    wfre_packed *packed = &view->owned_packed[order];
    packed->rows = count;
    view->owned_heads[order] =
        wfre_alloc_zero((size_t)wfre_packed_blocks(packed) + 1, sizeof *view->owned_heads[order]);
    if (!view->owned_heads[order])
        return wfre_fail_memory(error, "opening a named graph");
    wfre_packed_write(all, count, COLUMNS[order], view->owned_heads[order],
                      &view->owned_bytes[order]);
    packed->heads = view->owned_heads[order];
    packed->bytes = (const unsigned char *)view->owned_bytes[order].data;
    packed->length = view->owned_bytes[order].length;
    return wfre_text_status(&view->owned_bytes[order], "opening a named graph", error);
}

/* The predicates of rows sorted by predicate and then by `place`: how many triples, and different
 * terms there. */
static void count_predicates(wfre_rdf *view, const wfre_triple *all, size_t count, int place)
{
    uint32_t k = 0;
    for (size_t i = 0, end; i < count; i = end, k++) {
        uint32_t different = 0;
        for (end = i; end < count && all[end].field[1] == all[i].field[1]; end++)
            different += end == i || all[end].field[place] != all[end - 1].field[place];
        wfre_attribute_predicate *row = &view->owned_attributes[k];
        row->term = all[i].field[1];
        row->triples = (uint32_t)(end - i);
        *(place == WFRE_RDF_S ? &row->subjects : &row->objects) = different;
    }
    view->attribute_count = k;
}

static wfre_status list_predicates(wfre_rdf *view, wfre_error *error)
{
    size_t count = view->attribute_count;
    view->predicates = wfre_alloc(count + 1, sizeof *view->predicates);
    view->predicate_terms = wfre_alloc(count + 1, sizeof *view->predicate_terms);
    if (!view->predicates || !view->predicate_terms)
        return wfre_fail_memory(error, "opening a named graph");
    for (uint32_t i = 0; i < count; i++) {
        view->predicates[i] = (wfre_rdf_predicate){view->owned_attributes[i].term, WFRE_NONE, i};
        view->predicate_terms[i] = view->owned_attributes[i].term;
    }
    view->predicate_count = view->live_count = (uint32_t)count;
    return WFRE_OK;
}

static wfre_status make_view(const wfre_rdf *base, rows *from, wfre_rdf **result, wfre_error *error)
{
    wfre_rdf *view = wfre_alloc_zero(1, sizeof *view);
    size_t kept = 0;
    wfre_status status = WFRE_OK;
    if (!view)
        return wfre_fail_memory(error, "opening a named graph");
    *view = (wfre_rdf){.graph = base->graph,
                       .split = base->split,
                       .edges = base->edges,
                       .packed = view->owned_packed,
                       .entities = base->entities,
                       .dictionary = base->dictionary,
                       .blanks = base->blanks,
                       .terms = base->terms,
                       .relation_terms = base->relation_terms,
                       .own = base->own,
                       .entity_prefix = base->entity_prefix,
                       .relation_prefix = base->relation_prefix,
                       .shares = true};
    TRY(sort_rows(view, &from->rows, from->count, WFRE_RDF_SPO, error));
    for (size_t i = 0; i < from->count; i++)
        if (kept == 0 || wfre_packed_compare(&from->rows[kept - 1], &from->rows[i]) != 0)
            from->rows[kept++] = from->rows[i];
    view->triples = kept;
    view->owned_attributes = wfre_alloc_zero(kept + 1, sizeof *view->owned_attributes);
    view->attributes = view->owned_attributes;
    if (!view->owned_attributes) {
        status = wfre_fail_memory(error, "opening a named graph");
        goto cleanup;
    }
    TRY(pack(view, from->rows, kept, WFRE_RDF_SPO, error));
    TRY(sort_rows(view, &from->rows, kept, WFRE_RDF_PSO, error));
    TRY(pack(view, from->rows, kept, WFRE_RDF_PSO, error));
    count_predicates(view, from->rows, kept, WFRE_RDF_S);
    TRY(sort_rows(view, &from->rows, kept, WFRE_RDF_POS, error));
    TRY(pack(view, from->rows, kept, WFRE_RDF_POS, error));
    count_predicates(view, from->rows, kept, WFRE_RDF_O);
    TRY(list_predicates(view, error));
    *result = view;
    view = NULL;
cleanup:
    wfre_rdf_close(view);
    return status;
}

void wfre_rdf_owned_free(wfre_rdf *rdf)
{
    for (int i = 0; i < 3; i++) {
        wfre_free(rdf->owned_heads[i]);
        wfre_text_free(&rdf->owned_bytes[i]);
    }
    wfre_free(rdf->owned_attributes);
    if (rdf->named) {
        for (size_t i = 0; i < rdf->named->count; i++)
            wfre_rdf_close(rdf->named->graphs[i].view);
        (void)pthread_mutex_destroy(&rdf->named->lock);
        wfre_free(rdf->named->graphs);
        wfre_free(rdf->named);
    }
}

static wfre_status read_graph(const wfre_rdf *rdf, const named_graph *graph, rows *to,
                              wfre_error *error)
{
    CHECK(read_edges(rdf, graph->edges, to, error));
    return read_attributes(rdf, graph->attributes, to, error);
}

wfre_status wfre_rdf_merge(const wfre_rdf *rdf, const size_t *graphs, size_t count, wfre_rdf **view,
                           wfre_error *error)
{
    rows all = {0};
    wfre_status status = WFRE_OK;
    for (size_t i = 0; i < count; i++)
        TRY(read_graph(rdf, &rdf->named->graphs[graphs[i]], &all, error));
    TRY(make_view(rdf, &all, view, error));
cleanup:
    wfre_free(all.rows);
    return status;
}

wfre_status wfre_rdf_own_default(const wfre_rdf *rdf, wfre_rdf **view, wfre_error *error)
{
    rows all = {0};
    wfre_status status = WFRE_OK;
    *view = NULL;
    if (!rdf->named || !rdf->named->has_own)
        return WFRE_OK;
    TRY(read_graph(rdf, &rdf->named->own, &all, error));
    TRY(make_view(rdf, &all, view, error));
cleanup:
    wfre_free(all.rows);
    return status;
}

/* ---- the list ----------------------------------------------------------------------------- */

/* The part up to the next tab, which is passed. */
static wfre_name cut(wfre_name *line)
{
    const char *tab = line->length ? memchr(line->bytes, '\t', line->length) : NULL;
    wfre_name part = {line->bytes, tab ? (size_t)(tab - line->bytes) : line->length};
    size_t passed = part.length + (tab != NULL);
    *line = (wfre_name){line->bytes + passed, line->length - passed};
    return part;
}

wfre_status wfre_rdf_list_named(wfre_rdf *rdf, wfre_error *error)
{
    wfre_name left = rdf->graph->prefixes;
    rdf->named = wfre_alloc_zero(1, sizeof *rdf->named);
    if (!rdf->named || pthread_mutex_init(&rdf->named->lock, NULL) != 0) {
        wfre_free(rdf->named);
        rdf->named = NULL;
        return wfre_fail_memory(error, "opening a graph as RDF");
    }
    while (left.length > 0) {
        const char *end = memchr(left.bytes, '\n', left.length);
        if (!end)
            break;
        wfre_name line = {left.bytes, (size_t)(end - left.bytes)};
        left = (wfre_name){end + 1, left.length - line.length - 1};
        wfre_name name = cut(&line);
        if (name.length != 6 || memcmp(name.bytes, "@graph", 6) != 0)
            continue;
        named_graph graph = {.iri = cut(&line)};
        graph.edges = cut(&line);
        graph.attributes = cut(&line);
        if (graph.iri.length == 0) {
            rdf->named->own = graph;
            rdf->named->has_own = true;
            continue;
        }
        if (!WFRE_RESERVE(&rdf->named->graphs, &rdf->named->capacity, rdf->named->count + 1))
            return wfre_fail_memory(error, "opening a graph as RDF");
        rdf->named->graphs[rdf->named->count++] = graph;
    }
    return WFRE_OK;
}

size_t wfre_rdf_named_count(const wfre_rdf *rdf)
{
    return rdf->named ? rdf->named->count : 0;
}

wfre_name wfre_rdf_named_iri(const wfre_rdf *rdf, size_t index)
{
    return rdf->named->graphs[index].iri;
}

wfre_status wfre_rdf_named_view(const wfre_rdf *rdf, size_t index, const wfre_rdf **view,
                                wfre_error *error)
{
    named_graph *graph = &rdf->named->graphs[index];
    wfre_status status = WFRE_OK;
    (void)pthread_mutex_lock(&rdf->named->lock);
    if (!graph->view)
        status = wfre_rdf_merge(rdf, &index, 1, &graph->view, error);
    *view = graph->view;
    (void)pthread_mutex_unlock(&rdf->named->lock);
    return status;
}
