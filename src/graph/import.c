/* The way from sources to a snapshot: choose the importer, read, label, hold out, write. */
#include "graph/import.h"

#include <stdarg.h>
#include <string.h>

#include "base/text.h"
#include "graph/iri.h"

/* The first that recognises a source reads it; TSV takes every file. */
static const wfre_importer *const IMPORTERS[] = {
    &wfre_importer_wordnet,    &wfre_importer_betae, &wfre_importer_nt,
    &wfre_importer_ttl,        &wfre_importer_nq,    &wfre_importer_trig,
    &wfre_importer_rdf_folder, &wfre_importer_csv,   &wfre_importer_tsv,
};
enum { IMPORTER_COUNT = sizeof IMPORTERS / sizeof IMPORTERS[0] };

const char *wfre_import_format(size_t index, const char **about)
{
    if (index >= IMPORTER_COUNT)
        return NULL;
    *about = IMPORTERS[index]->about;
    return IMPORTERS[index]->name;
}

/* ---- files -------------------------------------------------------------------------------- */

/* The length of a path without a trailing ".gz". */
static size_t plain_length(const char *path)
{
    size_t length = strlen(path);
    return length > 3 && strcmp(path + length - 3, ".gz") == 0 ? length - 3 : length;
}

bool wfre_import_ends_in(const char *path, const char *const *endings)
{
    size_t length = plain_length(path);
    for (; *endings; endings++) {
        size_t ending = strlen(*endings);
        if (length > ending && memcmp(path + length - ending, *endings, ending) == 0)
            return true;
    }
    return false;
}

bool wfre_import_find(const char *folder, const char *name, char path[WFRE_PATH_SIZE])
{
    int length = snprintf(path, WFRE_PATH_SIZE, "%s/%s", folder, name);
    return length > 0 && length < WFRE_PATH_SIZE && wfre_file_exists(path);
}

static const char *const SPLIT_NAMES[WFRE_SPLITS][2] = {
    {"train", NULL}, {"valid", "dev"}, {"test", NULL}};
static const char *const SPLIT_ENDINGS[] = {".txt", ".tsv", "", ".txt.gz", ".tsv.gz", ".gz"};
enum { ENDING_COUNT = sizeof SPLIT_ENDINGS / sizeof SPLIT_ENDINGS[0] };

bool wfre_import_find_split(const char *folder, wfre_split split, char path[WFRE_PATH_SIZE])
{
    for (int name = 0; name < 2 && SPLIT_NAMES[split][name]; name++)
        for (int ending = 0; ending < ENDING_COUNT; ending++) {
            char file[32];
            (void)snprintf(file, sizeof file, "%s%s", SPLIT_NAMES[split][name],
                           SPLIT_ENDINGS[ending]);
            if (wfre_import_find(folder, file, path))
                return true;
        }
    return false;
}

wfre_split wfre_import_split_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *base = slash ? slash + 1 : path;
    size_t length = strcspn(base, ".");
    for (int split = 0; split < WFRE_SPLITS; split++)
        for (int name = 0; name < 2 && SPLIT_NAMES[split][name]; name++)
            if (strlen(SPLIT_NAMES[split][name]) == length &&
                memcmp(base, SPLIT_NAMES[split][name], length) == 0)
                return (wfre_split)split;
    return WFRE_TRAIN;
}

/* ---- lines -------------------------------------------------------------------------------- */

wfre_status wfre_import_tick(wfre_import_job *job, wfre_error *error)
{
    if (++job->lines % 65536 != 0)
        return WFRE_OK;
    wfre_report(job->monitor, "importing", job->lines, 0, NULL);
    return wfre_check_interrupt(job->monitor, error);
}

wfre_status wfre_import_fail_line(wfre_error *error, const wfre_reader *reader, const char *format,
                                  ...)
{
    char message[512];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(message, sizeof message, format, args);
    va_end(args);
    return wfre_fail(error, WFRE_ERR_FORMAT, WFRE_NO_OFFSET, "%s:%llu: %s",
                     wfre_reader_name(reader), (unsigned long long)wfre_reader_line_number(reader),
                     message);
}

wfre_status wfre_import_line(wfre_import_job *job, wfre_reader *reader, const char **line,
                             size_t *length, wfre_error *error)
{
    do {
        CHECK(wfre_import_tick(job, error));
        CHECK(wfre_reader_line(reader, line, length, error));
    } while (*line && *length == 0);
    if (!*line)
        return WFRE_OK;
    if (memchr(*line, '\0', *length))
        return wfre_import_fail_line(error, reader, "a NUL byte; names must be text");
    if (!wfre_utf8_valid(*line, *length))
        return wfre_import_fail_line(error, reader, "not UTF-8; convert the file, e.g. with iconv");
    return WFRE_OK;
}

wfre_status wfre_import_columns(wfre_import_job *job, wfre_reader *reader, size_t least,
                                size_t most, wfre_name *columns, size_t *found, wfre_error *error)
{
    const char *line;
    size_t length, count = 0;
    wfre_status status = wfre_import_line(job, reader, &line, &length, error);
    if (status != WFRE_OK)
        return status;
    *found = 0;
    if (!line)
        return WFRE_OK;
    for (size_t begin = 0; begin <= length;) {
        const char *tab = memchr(line + begin, '\t', length - begin);
        size_t end = tab ? (size_t)(tab - line) : length;
        if (count < most)
            columns[count] = (wfre_name){line + begin, end - begin};
        count++;
        begin = end + 1;
    }
    if (count < least || count > most) {
        char wanted[48] = "";
        if (least < most)
            (void)snprintf(wanted, sizeof wanted, "%zu to ", least);
        return wfre_import_fail_line(error, reader, "%zu column%s; %s%zu separated by tabs needed",
                                     count, count == 1 ? "" : "s", wanted, most);
    }
    for (size_t i = 0; i < count; i++)
        if (columns[i].length == 0)
            return wfre_import_fail_line(error, reader, "column %zu is empty", i + 1);
    *found = count;
    return WFRE_OK;
}

/* ---- the import --------------------------------------------------------------------------- */

static wfre_status choose(const char *source, const char *format, const wfre_importer **importer,
                          wfre_error *error)
{
    bool automatic = !format || strcmp(format, "auto") == 0;
    bool standard = strcmp(source, "-") == 0;
    if (automatic && !standard && !wfre_is_folder(source) && !wfre_file_exists(source))
        return wfre_fail(error, WFRE_ERR_NOT_FOUND, WFRE_NO_OFFSET, "%s: no such file or folder",
                         source);
    if (automatic) {
        wfre_status status = wfre_import_refuse_foreign(source, error);
        if (status != WFRE_OK)
            return status;
    }
    for (int i = 0; i < IMPORTER_COUNT; i++)
        if (automatic ? IMPORTERS[i]->recognises(source)
                      : strcmp(IMPORTERS[i]->name, format) == 0) {
            *importer = IMPORTERS[i];
            return WFRE_OK;
        }
    if (automatic)
        return wfre_fail(error, WFRE_ERR_FORMAT, WFRE_NO_OFFSET,
                         "%s: no train.txt, RDF file, data.noun or id2ent.pkl in this folder; name "
                         "the files to import",
                         source);
    return wfre_fail(error, WFRE_ERR_ARGUMENT, WFRE_NO_OFFSET,
                     "unknown format '%s'; use auto, tsv, csv, nt, ttl, nq, trig, rdf, wordnet or "
                     "betae",
                     format);
}

static wfre_status check_base(const char *base, wfre_error *error)
{
    if (!base || wfre_iri_absolute(base, strlen(base)))
        return WFRE_OK;
    return wfre_fail(error, WFRE_ERR_ARGUMENT, WFRE_NO_OFFSET,
                     "the base '%.200s' is no absolute IRI; one is urn:example: or "
                     "https://example.org/",
                     base);
}

/* Whether a source can be a named graph, if it is to be one. */
static wfre_status check_graph(const wfre_import_job *job, const wfre_importer *importer,
                               const char *source, wfre_error *error)
{
    if (!job->options->graphs)
        return WFRE_OK;
    GIVEN(job->options->graphs[job->source]);
    CHECK(check_base(job->options->graphs[job->source], error));
    if (importer == &wfre_importer_nt || importer == &wfre_importer_ttl)
        return WFRE_OK;
    return wfre_fail(error, WFRE_ERR_UNSUPPORTED, WFRE_NO_OFFSET,
                     "%s: only a file of N-Triples (.nt) or Turtle (.ttl) can be a named graph",
                     source);
}

static wfre_status read_sources(wfre_import_job *job, const char *const *sources, size_t count,
                                wfre_error *error)
{
    if (!sources || count == 0)
        return wfre_fail(error, WFRE_ERR_ARGUMENT, WFRE_NO_OFFSET, "no source to import");
    for (size_t i = 0; i < count; i++)
        GIVEN(sources[i]);
    job->sources = (uint32_t)count;
    for (size_t i = 0; i < count; i++) {
        const wfre_importer *importer = NULL;
        CHECK(choose(sources[i], job->options->format, &importer, error));
        if (i == 0)
            job->report->format = importer->name;
        job->source = (uint32_t)i;
        CHECK(check_graph(job, importer, sources[i], error));
        job->split = count > 1 ? wfre_import_split_of(sources[i]) : WFRE_TRAIN;
        CHECK(importer->read(job, sources[i], error));
    }
    CHECK(wfre_import_rdf_labels(job, error));
    job->report->attributes = job->builder->attributes.count;
    if (job->builder->count > 0 || job->builder->attributes.count > 0 || job->options->allow_empty)
        return WFRE_OK;
    uint64_t left_out = job->report->literals + job->report->blanks;
    return wfre_fail(error, WFRE_ERR_FORMAT, WFRE_NO_OFFSET, "%s: no triples%s%s",
                     wfre_input_name(sources[0]), count > 1 ? " in any of the sources" : " in it",
                     left_out ? " but those with literals or blank nodes, which were to be dropped"
                              : "; `allow-empty` takes it");
}

static wfre_status count_graph(const char *path, wfre_import_report *report, wfre_error *error)
{
    wfre_graph *graph;
    wfre_status status = wfre_graph_open(path, &graph, error);
    if (status != WFRE_OK)
        return status;
    report->entities = wfre_graph_entities(graph);
    report->relations = wfre_graph_relations(graph) / 2;
    uint64_t before = 0;
    for (int split = 0; split < WFRE_SPLITS; split++) {
        uint64_t now = wfre_graph_triples(graph, (wfre_split)split);
        report->triples[split] = now - before;
        before = now;
    }
    wfre_graph_close(graph);
    return WFRE_OK;
}

wfre_status wfre_import_begin(wfre_import_job *job, wfre_error *error)
{
    CHECK(check_base(job->options->base, error));
    CHECK(wfre_graph_builder_create(&job->builder, error));
    if (job->options->base)
        wfre_text_add(&job->builder->base, job->options->base);
    return wfre_text_status(&job->builder->base, "importing", error);
}

wfre_status wfre_import_end(wfre_import_job *job, const char *output, wfre_graph **graph,
                            wfre_error *error)
{
    if (job->options->labels)
        CHECK(wfre_import_labels(job, error));
    if (job->options->holdout != 0) /* which also refuses what is no share */
        CHECK(wfre_graph_builder_holdout(job->builder, job->options->holdout, job->options->seed,
                                         error));
    if (output)
        CHECK(wfre_graph_builder_write(job->builder, output, job->monitor, error));
    else
        CHECK(wfre_graph_builder_finish(job->builder, graph, error));
    job->report->duplicates = job->builder->duplicates;
    return WFRE_OK;
}

/* Into a file if `output` is given, else into memory. */
static wfre_status import(const char *const *sources, size_t source_count,
                          const wfre_import_options *options, const char *output,
                          wfre_graph **graph, wfre_import_report *report,
                          const wfre_monitor *monitor, wfre_error *error)
{
    static const wfre_import_options defaults = {0};
    wfre_import_job job = {
        .options = options ? options : &defaults, .monitor = monitor, .report = report};
    wfre_status status;
    TRY(wfre_import_begin(&job, error));
    TRY(read_sources(&job, sources, source_count, error));
    TRY(wfre_import_end(&job, output, graph, error));
cleanup:
    wfre_import_job_free(&job);
    return status;
}

void wfre_import_job_free(wfre_import_job *job)
{
    wfre_graph_builder_free(job->builder);
}

wfre_status wfre_import(const char *const *sources, size_t source_count,
                        const wfre_import_options *options, const char *output,
                        const wfre_monitor *monitor, wfre_import_report *report, wfre_error *error)
{
    GIVEN(output);
    wfre_import_report counted = {0};
    CHECK(wfre_probe_regular(output, error)); /* a snapshot is mapped, and its header comes last */
    CHECK(import(sources, source_count, options, output, NULL, &counted, monitor, error));
    CHECK(count_graph(output, &counted, error));
    if (report)
        *report = counted;
    return WFRE_OK;
}

wfre_status wfre_import_graph(const char *const *sources, size_t source_count,
                              const wfre_import_options *options, const wfre_monitor *monitor,
                              wfre_graph **graph, wfre_import_report *report, wfre_error *error)
{
    GIVEN(graph);
    wfre_import_report counted = {0};
    wfre_status status =
        import(sources, source_count, options, NULL, graph, &counted, monitor, error);
    if (status == WFRE_OK && report)
        *report = counted;
    return status;
}
