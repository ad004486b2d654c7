/* TSV and CSV: head, relation and tail, one triple a line; a file, or a folder with train, valid
 * and test files.
 *
 * TSV separates them by tabs and takes names as they are. CSV separates them by commas (or by
 * semicolons, if the first line has no comma outside of quotes); a name in double quotes may have
 * these, and "" for a quote. A first line that names the columns is left out: it may name them in
 * any order, and others beside them. */
#include <string.h>

#include "base/text.h"
#include "graph/import.h"

enum { COLUMNS = 3, MOST_COLUMNS = 64 };

/* One file being read. */
typedef struct table {
    wfre_import_job *job;
    wfre_reader *reader;
    char separator;
    bool quotes;
    size_t at[COLUMNS]; /* which columns head, relation and tail are */
    size_t width;       /* how many there are; 0 before the first line */
    wfre_text cells;    /* the texts of a line in quotes */
} table;

static bool recognises_tsv(const char *path)
{
    if (!wfre_is_folder(path))
        return true;
    char train[WFRE_PATH_SIZE];
    return wfre_import_find_split(path, WFRE_TRAIN, train);
}

static bool recognises_csv(const char *path)
{
    static const char *const endings[] = {".csv", NULL};
    return wfre_import_ends_in(path, endings) && !wfre_is_folder(path);
}

/* RDF given by mistake deserves a better message than a count of columns. */
static wfre_status hint_at_rdf(wfre_status status, wfre_name column, wfre_error *error)
{
    bool iri =
        column.length > 1 && column.bytes[0] == '<' &&
        (memchr(column.bytes, '>', column.length) || memchr(column.bytes, ':', column.length));
    bool directive = column.length > 1 && column.bytes[0] == '@';
    if (error && status == WFRE_ERR_FORMAT && (iri || directive))
        strncat(error->message, "; if this is RDF, set `format` to nt or ttl",
                sizeof error->message - strlen(error->message) - 1);
    return status;
}

/* ---- lines -------------------------------------------------------------------------------- */

/* The text in quotes at line[*at], without them; *at moves behind its last quote. */
static wfre_status read_quoted(table *t, const char *line, size_t length, size_t *at, size_t *begin,
                               wfre_error *error)
{
    *begin = t->cells.length;
    for (size_t i = *at + 1; i < length; i++) {
        if (line[i] == '"' && (i + 1 == length || line[i + 1] != '"')) {
            *at = i + 1;
            return wfre_text_status(&t->cells, "reading a table", error);
        }
        wfre_text_char(&t->cells, line[i]);
        i += line[i] == '"'; /* the second of two */
    }
    return wfre_import_fail_line(error, t->reader, "a quote that this line does not close");
}

/* Cuts a line into cells; *count may be more than there is room for. */
static wfre_status cut_line(table *t, const char *line, size_t length,
                            wfre_name cells[MOST_COLUMNS], size_t *count, wfre_error *error)
{
    size_t begins[MOST_COLUMNS], at = 0;
    bool quoted[MOST_COLUMNS] = {false};
    wfre_text_clear(&t->cells);
    *count = 0;
    for (bool more = true; more; ++*count) {
        size_t cell = *count < MOST_COLUMNS ? *count : MOST_COLUMNS - 1;
        if (t->quotes && at < length && line[at] == '"') {
            CHECK(read_quoted(t, line, length, &at, &begins[cell], error));
            quoted[cell] = true;
            cells[cell].length = t->cells.length - begins[cell];
            if (at < length && line[at] != t->separator)
                return wfre_import_fail_line(error, t->reader,
                                             "something between a closing quote and the next '%c'",
                                             t->separator);
        } else {
            const char *end = memchr(line + at, t->separator, length - at);
            size_t stop = end ? (size_t)(end - line) : length;
            quoted[cell] = false;
            cells[cell] = (wfre_name){line + at, stop - at};
            at = stop;
        }
        more = at++ < length;
    }
    for (size_t i = 0; i < *count && i < MOST_COLUMNS; i++)
        if (quoted[i])
            cells[i].bytes = t->cells.data ? t->cells.data + begins[i] : "";
    return WFRE_OK;
}

/* ---- the header --------------------------------------------------------------------------- */

static bool is_one_of(wfre_name cell, const char *const *names)
{
    for (; *names; names++) {
        size_t i = 0, length = strlen(*names);
        while (i < length && i < cell.length) {
            char c = cell.bytes[i];
            if ((c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c) != (*names)[i])
                break;
            i++;
        }
        if (i == length && i == cell.length)
            return true;
    }
    return false;
}

/* Finds head, relation and tail among the names of the first line. */
static bool read_header(table *t, const wfre_name *cells, size_t count)
{
    static const char *const known[COLUMNS][7] = {
        {"head", "subject", "subj", "source", "from", "start", NULL},
        {"relation", "predicate", "property", "edge", "label", "type", NULL},
        {"tail", "object", "obj", "target", "to", "end", NULL},
    };
    size_t at[COLUMNS];
    for (int column = 0; column < COLUMNS; column++) {
        size_t found = 0;
        while (found < count && !is_one_of(cells[found], known[column]))
            found++;
        if (found == count)
            return false;
        at[column] = found;
    }
    memcpy(t->at, at, sizeof at);
    return true;
}

/* Looks at the first line: how wide the table is, and whether the line is left out. */
static wfre_status start_table(table *t, const wfre_name *cells, size_t count, bool *skip,
                               wfre_error *error)
{
    *skip = count >= COLUMNS && read_header(t, cells, count);
    if (!*skip && t->job->options->header && count > COLUMNS)
        return wfre_import_fail_line(error, t->reader,
                                     "%zu columns, and the first line does not say which are "
                                     "head, relation and tail",
                                     count);
    *skip |= t->job->options->header;
    t->width = *skip ? count : COLUMNS;
    return WFRE_OK;
}

/* ---- triples ------------------------------------------------------------------------------ */

/* The next line that holds a triple; *found is false at the end. */
static wfre_status next_row(table *t, wfre_name row[COLUMNS], bool *found, wfre_error *error)
{
    wfre_name cells[MOST_COLUMNS] = {{NULL, 0}};
    const char *line, *kind = t->separator == '\t'  ? "tabs"
                              : t->separator == ',' ? "commas"
                                                    : "semicolons";
    size_t length, count;
    bool skip = false;
    *found = false;
    do {
        CHECK(wfre_import_line(t->job, t->reader, &line, &length, error));
        if (!line)
            return WFRE_OK;
        if (t->width == 0 && t->quotes && !memchr(line, ',', length) && memchr(line, ';', length))
            t->separator = ';';
        CHECK(cut_line(t, line, length, cells, &count, error));
        skip = false;
        if (count > MOST_COLUMNS)
            return wfre_import_fail_line(error, t->reader, "%zu columns; %d are the most", count,
                                         MOST_COLUMNS);
        if (t->width == 0)
            CHECK(start_table(t, cells, count, &skip, error));
        if (count != t->width)
            return hint_at_rdf(wfre_import_fail_line(error, t->reader,
                                                     "%zu column%s; %zu separated by %s needed",
                                                     count, count == 1 ? "" : "s", t->width, kind),
                               cells[0], error);
    } while (skip);
    for (int i = 0; i < COLUMNS; i++) {
        row[i] = cells[t->at[i]];
        if (row[i].length == 0)
            return wfre_import_fail_line(error, t->reader, "column %zu is empty", t->at[i] + 1);
    }
    *found = true;
    return WFRE_OK;
}

static wfre_status read_file(wfre_import_job *job, const char *path, wfre_split split, bool commas,
                             wfre_error *error)
{
    table t = {.job = job, .separator = commas ? ',' : '\t', .quotes = commas, .at = {0, 1, 2}};
    wfre_status status;
    TRY(wfre_reader_open(path, &t.reader, error));
    for (;;) {
        wfre_name row[COLUMNS];
        wfre_entity head, tail;
        wfre_relation relation;
        bool found;
        TRY(next_row(&t, row, &found, error));
        if (!found)
            break;
        TRY(wfre_graph_builder_entity(job->builder, row[0].bytes, row[0].length, &head, error));
        TRY(wfre_graph_builder_relation(job->builder, row[1].bytes, row[1].length, &relation,
                                        error));
        TRY(wfre_graph_builder_entity(job->builder, row[2].bytes, row[2].length, &tail, error));
        TRY(wfre_graph_builder_triple(job->builder, split, head, relation, tail, error));
    }
cleanup:
    wfre_text_free(&t.cells);
    wfre_reader_close(t.reader);
    return status;
}

static wfre_status read_csv(wfre_import_job *job, const char *path, wfre_error *error)
{
    return read_file(job, path, job->split, true, error);
}

static wfre_status read_tsv(wfre_import_job *job, const char *path, wfre_error *error)
{
    if (!wfre_is_folder(path))
        return read_file(job, path, job->split, false, error);
    for (int split = 0; split < WFRE_SPLITS; split++) {
        char file[WFRE_PATH_SIZE];
        if (wfre_import_find_split(path, (wfre_split)split, file))
            CHECK(read_file(job, file, (wfre_split)split, false, error));
        else if (split == WFRE_TRAIN)
            return wfre_fail(error, WFRE_ERR_NOT_FOUND, WFRE_NO_OFFSET,
                             "%s: no train.txt or train.tsv in this folder", path);
    }
    return WFRE_OK;
}

const wfre_importer wfre_importer_csv = {
    .name = "csv",
    .about = "the same separated by commas; names in quotes",
    .recognises = recognises_csv,
    .read = read_csv,
};

const wfre_importer wfre_importer_tsv = {
    .name = "tsv",
    .about = "head, relation, tail separated by tabs; a file, or a folder with train, valid, test",
    .recognises = recognises_tsv,
    .read = read_tsv,
};
