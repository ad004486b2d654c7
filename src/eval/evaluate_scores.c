/* Evaluation of scores that another system wrote to a file.
 *
 * The file may be far larger than memory: only the lines of one query are held at a time. Scores
 * are compared as the double precision numbers they are written as, and then replaced by their
 * levels 1, 2, ... from the lowest up; level 0 are the entities that are not listed. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/file.h"
#include "eval/evaluation.h"

typedef struct entry {
    wfre_entity entity;
    double score;
} entry;

typedef struct scores_file {
    const wfre_graph *graph;
    const wfre_queryset *set;
    wfre_reader *reader;
    wfre_evaluation *evaluation;
    uint32_t query;    /* whose lines are being read; WFRE_NONE before the first */
    uint32_t finished; /* queries */
    int columns;       /* of every line: 2 or 3; 0 before the first */
    bool *seen;        /* by query */
    entry *entries;    /* of the query */
    size_t count, capacity;
    float *levels; /* by entity; all 0 between queries */
    wfre_standings_scratch scratch;
} scores_file;

static wfre_status fail_line(const scores_file *f, wfre_error *error, const char *what)
{
    return wfre_fail(error, WFRE_ERR_FORMAT, WFRE_NO_OFFSET, "%s:%llu: %s",
                     wfre_reader_name(f->reader),
                     (unsigned long long)wfre_reader_line_number(f->reader), what);
}

/* ---- one query ---------------------------------------------------------------------------- */

static int compare_entries(const void *left, const void *right)
{
    const entry *a = left, *b = right;
    return (a->score > b->score) - (a->score < b->score);
}

/* Sets the levels of the listed entities; false if one is listed twice. */
static bool set_levels(scores_file *f)
{
    qsort(f->entries, f->count, sizeof *f->entries, compare_entries);
    float level = 0;
    for (size_t i = 0; i < f->count; i++) {
        if (i == 0 || f->entries[i].score > f->entries[i - 1].score)
            level++;
        if (f->levels[f->entries[i].entity] > 0)
            return false;
        f->levels[f->entries[i].entity] = level;
    }
    return true;
}

static wfre_status finish_query(scores_file *f, const wfre_monitor *monitor, wfre_error *error)
{
    wfre_status status = WFRE_OK;
    if (f->query == WFRE_NONE)
        return WFRE_OK;
    wfre_list hard = wfre_queryset_hard(f->set, f->query);
    if (!set_levels(f)) {
        TRY(wfre_fail(error, WFRE_ERR_FORMAT, WFRE_NO_OFFSET, "%s: query %u lists an entity twice",
                      wfre_reader_name(f->reader), f->query));
    }
    TRY(wfre_standings_count(&f->scratch, f->levels, wfre_graph_entities(f->graph),
                             wfre_queryset_easy(f->set, f->query), hard,
                             wfre_evaluation_standings(f->evaluation, f->query), error));
    f->evaluation->queries[f->query].ranked = hard.count > 0;
    if (f->finished++ % 64 == 0) {
        wfre_report(monitor, "evaluating", f->finished, f->set->count, NULL);
        TRY(wfre_check_interrupt(monitor, error));
    }
cleanup:
    for (size_t i = 0; i < f->count; i++)
        f->levels[f->entries[i].entity] = 0;
    f->count = 0;
    return status;
}

/* ---- lines -------------------------------------------------------------------------------- */

/* Reads digits up to a tab or the end of the line; false if it is no number below `limit`. */
static bool read_id(const char **text, uint32_t limit, uint32_t *id)
{
    const char *c = *text;
    uint64_t value = 0;
    while (*c >= '0' && *c <= '9' && value < limit)
        value = value * 10 + (uint64_t)(*c++ - '0');
    bool whole = c > *text && (*c == '\t' || *c == '\0') && value < limit;
    *id = (uint32_t)value;
    *text = c;
    return whole;
}

static wfre_status read_line(scores_file *f, const char *line, uint32_t *query, entry *new_entry,
                             wfre_error *error)
{
    const char *at = line;
    if (!read_id(&at, f->set->count, query))
        return fail_line(f, error,
                         "it must start with the number of a query of the query set, "
                         "counted from 0, and a tab");
    if (*at++ != '\t' || !read_id(&at, wfre_graph_entities(f->graph), &new_entry->entity))
        return fail_line(f, error, "the second column must be the id of an entity of the graph");
    int columns = *at == '\0' ? 2 : 3;
    if (f->columns && f->columns != columns)
        return fail_line(f, error, "some lines have a score and some do not");
    f->columns = columns;
    if (columns == 2) {
        new_entry->score = *query == f->query ? -(double)f->count : 0;
        return WFRE_OK;
    }
    char *end;
    new_entry->score = wfre_parse_real(++at, &end);
    if (end == at || *end != '\0' || isnan(new_entry->score))
        return fail_line(f, error, "the third column must be a number, the score");
    return WFRE_OK;
}

static wfre_status take_line(scores_file *f, const char *line, size_t length,
                             const wfre_monitor *monitor, wfre_error *error)
{
    uint32_t query;
    entry new_entry;
    char text[256]; /* with a NUL at its end, for wfre_parse_real */
    if (length >= sizeof text)
        CHECK(fail_line(f, error, "too long; it has a query, an entity and a score"));
    if (memchr(line, '\0', length))
        CHECK(fail_line(f, error, "it has a zero byte; scores are plain text"));
    memcpy(text, line, length);
    text[length] = '\0';
    CHECK(read_line(f, text, &query, &new_entry, error));
    if (query != f->query) {
        if (f->seen[query])
            CHECK(fail_line(f, error,
                            "the lines of a query must stand together; sort the file by "
                            "its first column"));
        CHECK(finish_query(f, monitor, error));
        f->query = query;
        f->seen[query] = true;
    }
    if (!WFRE_RESERVE(&f->entries, &f->capacity, f->count + 1))
        return wfre_fail_memory(error, "evaluating scores");
    f->entries[f->count++] = new_entry;
    return WFRE_OK;
}

static wfre_status check_complete(const scores_file *f, wfre_error *error)
{
    uint32_t missing = 0, first = 0;
    for (uint32_t q = f->set->count; q-- > 0;)
        if (!f->seen[q] && wfre_queryset_hard(f->set, q).count) {
            missing++;
            first = q;
        }
    if (!missing)
        return WFRE_OK;
    return wfre_fail(error, WFRE_ERR_FORMAT, WFRE_NO_OFFSET,
                     "%s: no scores for query %u%s; all queries of the set must be answered",
                     wfre_reader_name(f->reader), first, missing > 1 ? " and others" : "");
}

static wfre_status read_scores(scores_file *f, const wfre_monitor *monitor, wfre_error *error)
{
    f->seen = wfre_alloc_zero((size_t)f->set->count + 1, sizeof *f->seen);
    f->levels = wfre_alloc_zero((size_t)wfre_graph_entities(f->graph) + 1, sizeof *f->levels);
    if (!f->seen || !f->levels)
        return wfre_fail_memory(error, "evaluating scores");
    for (;;) {
        const char *line;
        size_t length;
        CHECK(wfre_reader_line(f->reader, &line, &length, error));
        if (!line)
            break;
        if (length && line[0] != '#')
            CHECK(take_line(f, line, length, monitor, error));
    }
    CHECK(finish_query(f, monitor, error));
    return check_complete(f, error);
}

/* The part of a path after its last slash. */
static const char *file_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

wfre_status wfre_evaluate_scores_with(const wfre_graph *graph, const wfre_queryset *set,
                                      const char *scores, const wfre_eval_options *options,
                                      wfre_pool *pool, const wfre_monitor *monitor,
                                      wfre_evaluation **evaluation, wfre_error *error)
{
    GIVEN(graph);
    GIVEN(set);
    GIVEN(scores);
    wfre_status status = WFRE_OK;
    double start = wfre_clock();
    scores_file f = {.graph = graph, .set = set, .query = WFRE_NONE};
    TRY(wfre_evaluation_create(set, graph, options->label ? options->label : file_name(scores),
                               &f.evaluation, error));
    TRY(wfre_reader_open(scores, &f.reader, error));
    TRY(read_scores(&f, monitor, error));
    f.evaluation->info.method = "given scores";
    TRY(wfre_evaluation_finish(f.evaluation, options->bootstrap, options->seed, pool, error));
    if (options->strata)
        TRY(wfre_evaluation_stratify(f.evaluation, graph, set, options, monitor, error));
    f.evaluation->info.seconds = wfre_clock() - start;
    *evaluation = f.evaluation;
    f.evaluation = NULL;
cleanup:
    wfre_evaluation_free(f.evaluation);
    wfre_reader_close(f.reader);
    wfre_free(f.seen);
    wfre_free(f.entries);
    wfre_free(f.levels);
    wfre_standings_free(&f.scratch);
    return status;
}

wfre_status wfre_evaluate_scores(const wfre_graph *graph, const char *queries, const char *scores,
                                 const wfre_eval_options *options, wfre_pool *pool,
                                 const wfre_monitor *monitor, wfre_evaluation **evaluation,
                                 wfre_error *error)
{
    GIVEN(graph);
    GIVEN(queries);
    wfre_queryset set = {0};
    wfre_status status = wfre_queryset_read(queries, graph, &set, error);
    if (status == WFRE_OK)
        status = wfre_evaluate_scores_with(graph, &set, scores, options, pool, monitor, evaluation,
                                           error);
    wfre_queryset_clear(&set);
    return status;
}
