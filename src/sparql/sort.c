/* ORDER BY: rows with their keys in memory, sorted when all have come. With a LIMIT only as many
 * are kept as can still come out. */
#include <string.h>

#include "base/memory.h"
#include "sparql/selection.h"

/* What a row is sorted by: enough of a value to compare most without reading it again. */
typedef struct sort_key {
    wfre_rdf_id term;
    wfre_sq_value *value; /* NULL: unbound */
} sort_key;

typedef struct sort_row {
    uint64_t number; /* rows that are equal stay in the order in which they came */
    sort_key *keys;
    wfre_rdf_id *terms;
} sort_row;

struct wfre_sq_sorter {
    const wfre_sq_selection *selection;
    wfre_arena arena, spare; /* rows; the spare one is for those that are kept when some go */
    sort_row *rows;
    size_t count, capacity;
    uint64_t added;
    uint64_t keep; /* at most so many can come out */
    size_t charged;
};

wfre_sq_flow wfre_sq_sorter_create(wfre_sq_exec *x, const wfre_sq_selection *selection,
                                   wfre_sq_sorter **sorter)
{
    const wfre_sq_select *select = selection->select;
    wfre_sq_sorter *s = wfre_alloc_zero(1, sizeof *s);
    if (!s)
        return wfre_sq_no_memory(x);
    s->selection = selection;
    s->keep = UINT64_MAX;
    if (select->duplicates != WFRE_SQ_DISTINCT && select->limit < UINT64_MAX - select->offset)
        s->keep = select->limit + select->offset;
    *sorter = s;
    return WFRE_SQ_GO;
}

void wfre_sq_sorter_free(wfre_sq_exec *x, wfre_sq_sorter *sorter)
{
    if (!sorter)
        return;
    wfre_sq_release(x, sorter->charged);
    wfre_arena_free(&sorter->arena);
    wfre_arena_free(&sorter->spare);
    wfre_free(sorter->rows);
    wfre_free(sorter);
}

/* ---- comparing ---------------------------------------------------------------------------- */

/* *bytes counts the texts that were compared. */
static int compare_rows(const wfre_sq_sorter *s, const sort_row *a, const sort_row *b,
                        size_t *bytes)
{
    const wfre_sq_select *select = s->selection->select;
    for (uint32_t i = 0; i < select->order_count; i++) {
        if (a->keys[i].term == b->keys[i].term)
            continue;
        *bytes += a->keys[i].value ? a->keys[i].value->text.length : 0;
        int order = wfre_sq_value_order(a->keys[i].value, b->keys[i].value);
        if (order)
            return select->orders[i].descending ? -order : order;
    }
    return (a->number > b->number) - (a->number < b->number);
}

/* Merge sort: its comparison may have a context, and it stops when the time is up. */
static wfre_sq_flow merge_sort(wfre_sq_exec *x, const wfre_sq_sorter *s, sort_row *rows,
                               size_t count, sort_row *spare)
{
    if (count < 2)
        return wfre_sq_tick(x);
    size_t half = count / 2;
    if (merge_sort(x, s, rows, half, spare) != WFRE_SQ_GO ||
        merge_sort(x, s, rows + half, count - half, spare) != WFRE_SQ_GO)
        return WFRE_SQ_FAIL;
    memcpy(spare, rows, half * sizeof *rows);
    size_t left = 0, right = half, out = 0;
    wfre_sq_flow flow = WFRE_SQ_GO;
    while (left < half && right < count && flow == WFRE_SQ_GO) {
        size_t bytes = 0;
        bool first = compare_rows(s, &spare[left], &rows[right], &bytes) <= 0;
        rows[out++] = first ? spare[left++] : rows[right++];
        flow = wfre_sq_tick_text(x, 16 + bytes);
    }
    while (left < half)
        rows[out++] = spare[left++];
    return flow;
}

static wfre_sq_flow sort(wfre_sq_exec *x, wfre_sq_sorter *s)
{
    sort_row *spare = wfre_alloc(s->count / 2 + 1, sizeof *spare);
    if (!spare)
        return wfre_sq_no_memory(x);
    wfre_sq_flow flow = merge_sort(x, s, s->rows, s->count, spare);
    wfre_free(spare);
    return flow;
}

/* ---- adding ------------------------------------------------------------------------------- */

static bool keep_text(wfre_sq_sorter *s, wfre_name *name)
{
    if (!name->bytes)
        return true;
    const char *copy = wfre_arena_text(&s->arena, name->bytes, name->length);
    name->bytes = copy;
    return copy != NULL;
}

/* A value of its own. Those that are compared by number need no texts. */
static bool copy_value(wfre_sq_sorter *s, const wfre_sq_value *from, sort_key *key, size_t *bytes)
{
    wfre_sq_value *v = wfre_arena_alloc(&s->arena, 1, sizeof *v);
    if (!v)
        return false;
    *v = *from;
    *bytes += sizeof *v;
    key->value = v;
    if (wfre_sq_is_numeric(v) || v->type == WFRE_SQ_T_MOMENT || v->type == WFRE_SQ_T_BOOLEAN) {
        v->text = v->datatype = v->language = wfre_sq_name(NULL, 0);
        return true;
    }
    *bytes += v->text.length + v->datatype.length + v->language.length + 48;
    return keep_text(s, &v->text) && keep_text(s, &v->datatype) && keep_text(s, &v->language);
}

static wfre_sq_flow make_row(wfre_sq_exec *x, wfre_sq_sorter *s, sort_row *row, size_t *bytes)
{
    const wfre_sq_select *select = s->selection->select;
    row->number = s->added++;
    row->keys = wfre_arena_alloc(&s->arena, select->order_count, sizeof *row->keys);
    row->terms =
        wfre_arena_alloc(&s->arena, (size_t)s->selection->output_count + 1, sizeof *row->terms);
    if (!row->keys || !row->terms)
        return wfre_sq_no_memory(x);
    *bytes = sizeof *row + select->order_count * sizeof *row->keys + 16 +
             s->selection->output_count * sizeof *row->terms;
    for (uint32_t i = 0; i < s->selection->output_count; i++)
        row->terms[i] = x->row[s->selection->outputs[i]];
    for (uint32_t i = 0; i < select->order_count; i++) {
        wfre_sq_value value;
        row->keys[i] = (sort_key){WFRE_NONE, NULL};
        if (wfre_sq_compute(x, select->orders[i].expression, &row->keys[i].term) != WFRE_SQ_GO)
            return WFRE_SQ_FAIL;
        if (row->keys[i].term == WFRE_NONE)
            continue;
        wfre_sq_mark mark = wfre_sq_scratch_begin(x);
        wfre_sq_flow flow = wfre_sq_value_of(x, row->keys[i].term, &value);
        if (flow == WFRE_SQ_GO && !copy_value(s, &value, &row->keys[i], bytes))
            flow = wfre_sq_no_memory(x);
        wfre_sq_scratch_end(x, mark);
        if (flow != WFRE_SQ_GO)
            return flow;
    }
    return WFRE_SQ_GO;
}

/* Sorts, and forgets the rows that cannot come out any more. Their memory is used again when most
 * of it is theirs: the rows that stay are made anew. */
static wfre_sq_flow thin_out(wfre_sq_exec *x, wfre_sq_sorter *s)
{
    wfre_sq_flow flow = sort(x, s);
    if (flow != WFRE_SQ_GO)
        return flow;
    const wfre_sq_select *select = s->selection->select;
    s->count = s->count < s->keep ? s->count : (size_t)s->keep;
    wfre_arena old = s->arena;
    s->arena = s->spare;
    s->spare = old;
    wfre_arena_reset(&s->arena);
    for (size_t i = 0; i < s->count; i++) {
        sort_row *row = &s->rows[i], fresh = *row;
        size_t bytes = 0;
        if (wfre_sq_tick(x) != WFRE_SQ_GO)
            return WFRE_SQ_FAIL;
        fresh.keys = wfre_arena_alloc(&s->arena, select->order_count, sizeof *fresh.keys);
        fresh.terms = wfre_arena_alloc(&s->arena, (size_t)s->selection->output_count + 1,
                                       sizeof *fresh.terms);
        if (!fresh.keys || !fresh.terms)
            return wfre_sq_no_memory(x);
        memcpy(fresh.terms, row->terms, s->selection->output_count * sizeof *fresh.terms);
        for (uint32_t k = 0; k < select->order_count; k++) {
            fresh.keys[k] = row->keys[k];
            if (row->keys[k].value && !copy_value(s, row->keys[k].value, &fresh.keys[k], &bytes))
                return wfre_sq_no_memory(x);
        }
        *row = fresh;
    }
    return WFRE_SQ_GO;
}

wfre_sq_flow wfre_sq_sorter_add(wfre_sq_exec *x, wfre_sq_sorter *s)
{
    size_t bytes = 0;
    if (!wfre_reserve(&s->rows, &s->capacity, s->count + 1, sizeof *s->rows))
        return wfre_sq_no_memory(x);
    if (make_row(x, s, &s->rows[s->count], &bytes) != WFRE_SQ_GO)
        return WFRE_SQ_FAIL;
    s->count++;
    if (s->keep == UINT64_MAX || s->count <= 2 * s->keep + 1024) {
        s->charged += bytes;
        return wfre_sq_charge(x, bytes, "ORDER BY");
    }
    return thin_out(x, s);
}

wfre_sq_flow wfre_sq_sorter_emit(wfre_sq_exec *x, wfre_sq_sorter *s, wfre_sq_sink *sink)
{
    wfre_sq_flow flow = sort(x, s);
    const wfre_sq_selection *selection = s->selection;
    uint32_t count = selection->output_count;
    wfre_rdf_id *before = wfre_alloc((size_t)count + 1, sizeof *before);
    if (!before)
        return wfre_sq_no_memory(x);
    for (uint32_t i = 0; i < count; i++)
        before[i] = x->row[selection->outputs[i]];
    for (size_t r = 0; r < s->count && flow == WFRE_SQ_GO; r++) {
        x->solution++;
        for (uint32_t i = 0; i < count; i++)
            x->row[selection->outputs[i]] = s->rows[r].terms[i];
        flow = wfre_sq_tick(x);
        if (flow == WFRE_SQ_GO)
            flow = sink->emit(sink, x);
    }
    for (uint32_t i = 0; i < count; i++)
        x->row[selection->outputs[i]] = before[i];
    wfre_free(before);
    return flow;
}
