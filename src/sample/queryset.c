/* Reading and writing query sets. Answers of all rows share one array: a set of 100,000 queries is
 * a handful of allocations. */
#include "sample/queryset.h"

#include <stdlib.h>
#include <string.h>

#include "query/notation.h"
#include "query/types.h"

enum { COLUMNS = 4 };

typedef struct column {
    const char *bytes;
    size_t length;
} column;

/* ---- reading ------------------------------------------------------------------------------ */

static wfre_status split(const char *line, size_t length, column *columns, wfre_error *error)
{
    size_t count = 0, begin = 0;
    for (size_t i = 0; i <= length; i++) {
        if (i < length && line[i] != '\t')
            continue;
        if (count < COLUMNS)
            columns[count] = (column){line + begin, i - begin};
        count++;
        begin = i + 1;
    }
    if (count != COLUMNS)
        return wfre_fail(error, WFRE_ERR_FORMAT, WFRE_NO_OFFSET,
                         "%zu columns, but a query has 4, separated by tabs: type, operator tree, "
                         "easy answers, hard answers",
                         count);
    if (columns[0].length == 0)
        return wfre_fail(error, WFRE_ERR_FORMAT, WFRE_NO_OFFSET, "the type is empty");
    return WFRE_OK;
}

static int compare_entities(const void *a, const void *b)
{
    const wfre_entity *left = a, *right = b;
    return (*left > *right) - (*left < *right);
}

/* Brings ids[begin ..) into order, each once. */
static void sort_ids(wfre_queryset *set, size_t begin)
{
    if (set->id_count == begin) /* there may be no array yet */
        return;
    qsort(set->ids + begin, set->id_count - begin, sizeof *set->ids, compare_entities);
    size_t kept = begin;
    for (size_t i = begin; i < set->id_count; i++)
        if (i == begin || set->ids[i] != set->ids[kept - 1])
            set->ids[kept++] = set->ids[i];
    set->id_count = kept;
}

/* Appends the ids of a column, ascending and without repetitions. */
static wfre_status read_ids(wfre_queryset *set, const column *text, uint32_t limit,
                            wfre_error *error)
{
    size_t begin = set->id_count;
    bool ascending = true;
    for (size_t i = 0; i < text->length;) {
        if (text->bytes[i] == ' ') {
            i++;
            continue;
        }
        uint64_t id = 0;
        size_t digits = 0;
        for (; i < text->length && text->bytes[i] >= '0' && text->bytes[i] <= '9'; i++, digits++)
            id = id < limit ? id * 10 + (uint64_t)(text->bytes[i] - '0') : limit;
        if (digits == 0)
            return wfre_fail(error, WFRE_ERR_FORMAT, WFRE_NO_OFFSET,
                             "answers must be entity ids separated by blanks");
        if (id >= limit)
            return wfre_fail(
                error, WFRE_ERR_MISMATCH, WFRE_NO_OFFSET,
                "an answer is beyond the last entity, %u; was the set made for another "
                "graph?",
                limit - 1);
        if (!WFRE_RESERVE(&set->ids, &set->id_capacity, set->id_count + 1))
            return wfre_fail_memory(error, "reading a query set");
        ascending = ascending && (set->id_count == begin || set->ids[set->id_count - 1] < id);
        set->ids[set->id_count++] = (wfre_entity)id;
    }
    if (!ascending)
        sort_ids(set, begin);
    return WFRE_OK;
}

/* Both lists ascend. */
static wfre_status check_disjoint(const wfre_queryset *set, const wfre_queryset_row *row,
                                  wfre_error *error)
{
    for (size_t e = row->easy, h = row->hard; e < row->hard && h < row->end;) {
        if (set->ids[e] == set->ids[h])
            return wfre_fail(error, WFRE_ERR_FORMAT, WFRE_NO_OFFSET,
                             "entity %u is both an easy and a hard answer", set->ids[e]);
        if (set->ids[e] < set->ids[h])
            e++;
        else
            h++;
    }
    return WFRE_OK;
}

/* Adds a row whose answers are in place, the last of them at the end of all ids. */
static wfre_status add_row(wfre_queryset *set, wfre_queryset_row *row, const char *type,
                           size_t length, wfre_error *error)
{
    row->end = set->id_count;
    CHECK(check_disjoint(set, row, error));
    CHECK(wfre_strings_intern(&set->types, type, length, &row->type, error));
    if (set->count == WFRE_NONE ||
        !WFRE_RESERVE(&set->rows, &set->row_capacity, (size_t)set->count + 1))
        return wfre_fail_memory(error, "collecting queries");
    set->rows[set->count++] = *row;
    return WFRE_OK;
}

static wfre_status check_tree(const wfre_node *tree, const wfre_graph *graph, wfre_error *error)
{
    if (wfre_tree_is_type(tree))
        return wfre_fail(error, WFRE_ERR_FORMAT, WFRE_NO_OFFSET,
                         "the operator tree is a query type; a query has ids, such as "
                         "(p,#12,(e,#5))");
    return graph ? wfre_tree_fits(tree, graph, error) : WFRE_OK;
}

static wfre_status read_row(wfre_queryset *set, const wfre_graph *graph, const char *line,
                            size_t length, wfre_error *error)
{
    column columns[COLUMNS];
    wfre_queryset_row row;
    uint32_t limit = graph ? wfre_graph_entities(graph) : WFRE_NONE;
    CHECK(split(line, length, columns, error));
    wfre_status status =
        wfre_tree_parse(&set->arena, NULL, columns[1].bytes, columns[1].length, &row.tree, error);
    if (status != WFRE_OK) {
        if (error && error->offset != WFRE_NO_OFFSET)
            error->offset += (size_t)(columns[1].bytes - line);
        return status;
    }
    CHECK(check_tree(row.tree, graph, error));
    row.easy = set->id_count;
    CHECK(read_ids(set, &columns[2], limit, error));
    row.hard = set->id_count;
    CHECK(read_ids(set, &columns[3], limit, error));
    return add_row(set, &row, columns[0].bytes, columns[0].length, error);
}

wfre_status wfre_queryset_add(wfre_queryset *set, const char *type, const wfre_node *tree,
                              wfre_list easy, wfre_list hard, wfre_error *error)
{
    wfre_queryset_row row = {.tree = tree, .easy = set->id_count};
    size_t need = set->id_count + easy.count + hard.count;
    if (!WFRE_RESERVE(&set->ids, &set->id_capacity, need))
        return wfre_fail_memory(error, "collecting queries");
    for (size_t i = 0; i < easy.count; i++)
        set->ids[set->id_count++] = easy.ids[i];
    sort_ids(set, row.easy);
    row.hard = set->id_count;
    for (size_t i = 0; i < hard.count; i++)
        set->ids[set->id_count++] = hard.ids[i];
    sort_ids(set, row.hard);
    return add_row(set, &row, type, strlen(type), error);
}

static bool is_comment(const char *line, size_t length)
{
    return length == 0 || (line[0] == '#' && (length == 1 || line[1] == ' '));
}

/* Whether a line holds a text. */
static bool says(const char *line, size_t length, const char *text)
{
    size_t wanted = strlen(text);
    for (size_t i = 0; i + wanted <= length; i++)
        if (memcmp(line + i, text, wanted) == 0)
            return true;
    return false;
}

wfre_status wfre_queryset_add_line(wfre_queryset *set, const wfre_graph *graph, const char *line,
                                   size_t length, wfre_error *error)
{
    if (!is_comment(line, length))
        return read_row(set, graph, line, length, error);
    /* As sample_set.c writes it. */
    if (set->count == 0 && says(line, length, "# sampled queries of split "))
        set->unusual = !says(line, length, "protocol betae") ||
                       says(line, length, "1p over facts") || says(line, length, "1p over answers");
    return WFRE_OK;
}

/* Puts "file:line: " before the message, or "file:line:byte: " if the byte is known. */
static wfre_status fail_at_line(const wfre_reader *reader, wfre_status status, wfre_error *error)
{
    char place[512];
    int length = snprintf(place, sizeof place, "%.400s:%llu", wfre_reader_name(reader),
                          (unsigned long long)wfre_reader_line_number(reader));
    if (error && error->offset != WFRE_NO_OFFSET && length > 0) {
        (void)snprintf(place + length, sizeof place - (size_t)length, ":%zu", error->offset + 1);
        error->offset = WFRE_NO_OFFSET;
    }
    return status == WFRE_ERR_MEMORY ? status : wfre_fail_within(error, status, place);
}

wfre_status wfre_queryset_read(const char *path, const wfre_graph *graph, wfre_queryset *set,
                               wfre_error *error)
{
    wfre_reader *reader = NULL;
    const char *line;
    size_t length;
    wfre_status status;
    *set = (wfre_queryset){0};
    TRY(wfre_reader_open(path, &reader, error));
    set->name =
        wfre_arena_text(&set->arena, wfre_reader_name(reader), strlen(wfre_reader_name(reader)));
    if (!set->name)
        TRY(wfre_fail_memory(error, "reading a query set"));
    set->entities = graph ? wfre_graph_entities(graph) : 0;
    set->relations = graph ? wfre_graph_relations(graph) : 0;
    for (;;) {
        TRY(wfre_reader_line(reader, &line, &length, error));
        if (!line)
            break;
        status = wfre_queryset_add_line(set, graph, line, length, error);
        if (status != WFRE_OK) {
            status = fail_at_line(reader, status, error);
            goto cleanup;
        }
    }
    if (set->count == 0)
        status = wfre_fail(error, WFRE_ERR_FORMAT, WFRE_NO_OFFSET, "%s: holds no query",
                           wfre_reader_name(reader));
cleanup:
    wfre_reader_close(reader);
    return status;
}

wfre_status wfre_queryset_check_graph(const wfre_queryset *set, const wfre_graph *graph,
                                      wfre_error *error)
{
    if (set->entities == wfre_graph_entities(graph) &&
        set->relations == wfre_graph_relations(graph))
        return WFRE_OK;
    return wfre_fail(error, WFRE_ERR_MISMATCH, WFRE_NO_OFFSET,
                     "%s: the query set was opened with another graph, or without one",
                     set->name ? set->name : "queries");
}

void wfre_queryset_clear(wfre_queryset *set)
{
    wfre_arena_free(&set->arena);
    wfre_strings_free(&set->types);
    wfre_free(set->rows);
    wfre_free(set->ids);
    *set = (wfre_queryset){0};
}

/* ---- the public handle -------------------------------------------------------------------- */

bool wfre_queryset_recognises(const void *head, size_t length)
{
    size_t mark = wfre_byte_order_mark(head, length);
    const char *text = (const char *)head + mark;
    length -= mark;
    if (length >= 2 && memcmp(text, "# ", 2) == 0)
        return true;
    const char *tab = length ? memchr(text, '\t', length) : NULL;
    if (!tab) /* a type written as a tree can be long */
        return length >= 2 && text[0] == '(' && strchr("piun", text[1]) != NULL;
    return tab > text && tab + 1 < text + length && tab[1] == '(';
}

wfre_status wfre_queryset_open(const char *path, const wfre_graph *graph, wfre_queryset **set,
                               wfre_error *error)
{
    GIVEN(path);
    GIVEN(set);
    wfre_queryset *made = wfre_alloc_zero(1, sizeof *made);
    if (!made)
        return wfre_fail_memory(error, "reading a query set");
    wfre_status status = wfre_queryset_read(path, graph, made, error);
    if (status == WFRE_OK)
        *set = made;
    else
        wfre_queryset_close(made);
    return status;
}

void wfre_queryset_close(wfre_queryset *set)
{
    if (!set)
        return;
    wfre_queryset_clear(set);
    wfre_free(set);
}

uint32_t wfre_queryset_queries(const wfre_queryset *set)
{
    return set->count;
}

uint32_t wfre_queryset_type_count(const wfre_queryset *set)
{
    return set->types.count;
}

wfre_queryset_type wfre_queryset_get_type(const wfre_queryset *set, uint32_t index)
{
    wfre_queryset_type type = {0};
    type.name.bytes = wfre_strings_get(&set->types, index, &type.name.length);
    for (uint32_t i = 0; i < set->count; i++) {
        if (set->rows[i].type != index)
            continue;
        type.queries++;
        type.easy += wfre_queryset_easy(set, i).count;
        type.hard += wfre_queryset_hard(set, i).count;
    }
    return type;
}

wfre_queryset_query wfre_queryset_get_query(const wfre_queryset *set, uint32_t index)
{
    if (index >= set->count)
        return (wfre_queryset_query){.type = WFRE_NONE};
    return (wfre_queryset_query){set->rows[index].type, wfre_queryset_easy(set, index),
                                 wfre_queryset_hard(set, index)};
}

wfre_status wfre_queryset_print(const wfre_queryset *set, uint32_t index, const wfre_graph *graph,
                                char **text, wfre_error *error)
{
    GIVEN(set);
    GIVEN(text);
    if (index >= set->count)
        return wfre_fail(error, WFRE_ERR_NOT_FOUND, WFRE_NO_OFFSET, "query %u of %u", index,
                         set->count);
    if (graph)
        CHECK(wfre_queryset_check_graph(set, graph, error));
    wfre_text printed = {0};
    wfre_tree_print(&printed, graph, set->rows[index].tree);
    wfre_status status = wfre_text_status(&printed, "printing a query", error);
    if (status == WFRE_OK)
        *text = printed.data;
    else
        wfre_text_free(&printed);
    return status;
}

/* ---- writing ------------------------------------------------------------------------------ */

wfre_status wfre_queryset_writer_open(wfre_queryset_writer *writer, const char *path,
                                      const char *comment, wfre_error *error)
{
    wfre_status status = wfre_writer_open(&writer->out, path, error);
    if (status != WFRE_OK || !comment)
        return status;
    wfre_text_clear(&writer->line);
    wfre_text_add(&writer->line, "# ");
    for (; *comment; comment++) {
        wfre_text_char(&writer->line, *comment);
        if (*comment == '\n')
            wfre_text_add(&writer->line, "# ");
    }
    wfre_text_char(&writer->line, '\n');
    CHECK(wfre_text_status(&writer->line, "writing a query set", error));
    return wfre_writer_put(&writer->out, writer->line.data, writer->line.length, error);
}

static void add_ids(wfre_text *line, wfre_list ids)
{
    wfre_text_char(line, '\t');
    for (size_t i = 0; i < ids.count; i++)
        wfre_text_format(line, i ? " %u" : "%u", ids.ids[i]);
}

wfre_status wfre_queryset_writer_put(wfre_queryset_writer *writer, const char *type,
                                     const wfre_node *tree, wfre_list easy, wfre_list hard,
                                     wfre_error *error)
{
    wfre_text *line = &writer->line;
    wfre_text_clear(line);
    if (type)
        wfre_text_add(line, type);
    else
        CHECK(wfre_type_name(tree, line, error));
    wfre_text_char(line, '\t');
    wfre_tree_print(line, NULL, tree);
    add_ids(line, easy);
    add_ids(line, hard);
    wfre_text_char(line, '\n');
    CHECK(wfre_text_status(line, "writing a query set", error));
    if (line->length > WFRE_LINE_LIMIT)
        return wfre_fail(error, WFRE_ERR_ARGUMENT, WFRE_NO_OFFSET,
                         "a query with %zu answers does not fit in a line of %d bytes; cap the "
                         "number of answers",
                         easy.count + hard.count, WFRE_LINE_LIMIT);
    return wfre_writer_put(&writer->out, line->data, line->length, error);
}

wfre_status wfre_queryset_writer_commit(wfre_queryset_writer *writer, wfre_error *error)
{
    return wfre_writer_commit(&writer->out, error);
}

void wfre_queryset_writer_discard(wfre_queryset_writer *writer)
{
    wfre_writer_discard(&writer->out);
    wfre_text_free(&writer->line);
}
