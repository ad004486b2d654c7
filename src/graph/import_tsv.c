/* TSV: head, relation and tail separated by tabs, one triple a line; a file, or a folder with
 * train, valid and test files. */
#include <string.h>

#include "graph/import.h"

static bool recognises(const char *path)
{
    if (!wfre_is_folder(path))
        return true;
    char train[WFRE_PATH_SIZE];
    return wfre_import_find_split(path, WFRE_TRAIN, train);
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

static wfre_status read_file(wfre_import_job *job, const char *path, wfre_split split,
                             wfre_error *error)
{
    wfre_reader *reader = NULL;
    wfre_status status;
    TRY(wfre_reader_open(path, &reader, error));
    for (;;) {
        wfre_name column[3] = {{NULL, 0}};
        wfre_entity head, tail;
        wfre_relation relation;
        size_t found;
        TRY(hint_at_rdf(wfre_import_columns(job, reader, 3, 3, column, &found, error), column[0],
                        error));
        if (found == 0)
            break;
        TRY(wfre_graph_builder_entity(job->builder, column[0].bytes, column[0].length, &head,
                                      error));
        TRY(wfre_graph_builder_relation(job->builder, column[1].bytes, column[1].length, &relation,
                                        error));
        TRY(wfre_graph_builder_entity(job->builder, column[2].bytes, column[2].length, &tail,
                                      error));
        TRY(wfre_graph_builder_triple(job->builder, split, head, relation, tail, error));
    }
cleanup:
    wfre_reader_close(reader);
    return status;
}

static wfre_status read_tsv(wfre_import_job *job, const char *path, wfre_error *error)
{
    if (!wfre_is_folder(path))
        return read_file(job, path, job->split, error);
    for (int split = 0; split < WFRE_SPLITS; split++) {
        char file[WFRE_PATH_SIZE];
        if (wfre_import_find_split(path, (wfre_split)split, file))
            CHECK(read_file(job, file, (wfre_split)split, error));
        else if (split == WFRE_TRAIN)
            return wfre_fail(error, WFRE_ERR_NOT_FOUND, WFRE_NO_OFFSET,
                             "%s: no train.txt or train.tsv in this folder", path);
    }
    return WFRE_OK;
}

const wfre_importer wfre_importer_tsv = {
    .name = "tsv",
    .about = "head, relation, tail separated by tabs; a file, or a folder with train, valid, test",
    .recognises = recognises,
    .read = read_tsv,
};
