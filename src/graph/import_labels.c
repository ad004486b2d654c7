/* Label files: name <TAB> label [<TAB> description], for entities or relations.
 *
 * Some files, WordNet's among them, write "label, description" in one column. They are told by
 * their labels: if nearly all have a comma, the text behind the first one is the description. */
#include <string.h>

#include "base/memory.h"
#include "graph/builder.h"
#include "graph/import.h"

static const char *find_comma(const char *text, size_t length)
{
    for (const char *at = text, *end = text + length; end - at >= 2; at++) {
        at = memchr(at, ',', (size_t)(end - at) - 1);
        if (!at || at[1] == ' ')
            return at;
    }
    return NULL;
}

/* One row; whether it names something here. */
static wfre_status apply_row(wfre_import_job *job, const wfre_name *column, size_t found,
                             bool *known, wfre_error *error)
{
    wfre_graph_builder *builder = job->builder;
    uint32_t entity = wfre_strings_find(&builder->entities, column[0].bytes, column[0].length);
    uint32_t pair = wfre_strings_find(&builder->relations, column[0].bytes, column[0].length);
    *known = entity != WFRE_NONE || pair != WFRE_NONE;
    if (entity != WFRE_NONE) {
        CHECK(wfre_graph_builder_label(builder, entity, column[1].bytes, column[1].length, error));
        if (found > 2)
            CHECK(wfre_graph_builder_describe(builder, entity, column[2].bytes, column[2].length,
                                              error));
    }
    if (pair != WFRE_NONE)
        CHECK(wfre_graph_builder_relation_label(builder, 2 * pair, column[1].bytes,
                                                column[1].length, error));
    return WFRE_OK;
}

/* Cuts "label, description" in two, of the labels stored behind the first `before` bytes; a
 * relation keeps its label alone. */
static wfre_status cut_labels(wfre_graph_builder *builder, wfre_notes *labels, size_t before,
                              wfre_error *error)
{
    for (size_t id = 0; id < labels->count; id++) {
        struct wfre_note *label = &labels->spans[id];
        const char *text = labels->bytes.data + label->offset;
        const char *comma = label->length ? find_comma(text, (size_t)label->length) : NULL;
        if (!comma || comma == text || label->offset < before)
            continue;
        size_t kept = (size_t)(comma - text);
        if (labels == &builder->labels)
            CHECK(wfre_graph_builder_describe(builder, (wfre_entity)id, comma + 2,
                                              (size_t)label->length - kept - 2, error));
        label->length = kept;
    }
    return WFRE_OK;
}

wfre_status wfre_import_labels(wfre_import_job *job, wfre_error *error)
{
    wfre_reader *reader = NULL;
    uint64_t with_comma = 0, with_description = 0;
    wfre_notes *entities = &job->builder->labels, *relations = &job->builder->relation_labels;
    size_t before[2] = {entities->bytes.length,
                        relations->bytes.length}; /* labels of the sources */
    wfre_status status;
    TRY(wfre_reader_open(job->options->labels, &reader, error));
    for (;;) {
        wfre_name column[3];
        size_t found;
        bool known;
        TRY(wfre_import_columns(job, reader, 2, 3, column, &found, error));
        if (found == 0)
            break;
        TRY(apply_row(job, column, found, &known, error));
        *(known ? &job->report->labels : &job->report->labels_unknown) += 1;
        with_comma += find_comma(column[1].bytes, column[1].length) != NULL;
        with_description += found > 2;
    }
    uint64_t rows = job->report->labels + job->report->labels_unknown;
    if (with_description == 0 && rows > 0 && with_comma >= rows - rows / 10) {
        TRY(cut_labels(job->builder, entities, before[0], error));
        TRY(cut_labels(job->builder, relations, before[1], error));
    }
cleanup:
    wfre_reader_close(reader);
    return status;
}
