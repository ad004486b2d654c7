/* Triples that a program has in memory, as names. */
#include <string.h>

#include "graph/import.h"

/* Names are text, as in a file. */
static wfre_status check_name(wfre_name name, size_t triple, const char *which, wfre_error *error)
{
    const char *fault = NULL;
    if (!name.bytes || name.length == 0)
        fault = "is empty";
    else if (memchr(name.bytes, '\0', name.length))
        fault = "has a NUL byte; names must be text";
    else if (!wfre_utf8_valid(name.bytes, name.length))
        fault = "is not UTF-8";
    if (!fault)
        return WFRE_OK;
    return wfre_fail(error, WFRE_ERR_FORMAT, triple, "triple %zu: its %s %s", triple, which, fault);
}

static wfre_status add(wfre_import_job *job, const wfre_named_triple *triple, size_t index,
                       wfre_split split, wfre_error *error)
{
    wfre_entity head, tail;
    wfre_relation relation;
    CHECK(wfre_import_tick(job, error));
    CHECK(check_name(triple->head, index, "head", error));
    CHECK(check_name(triple->relation, index, "relation", error));
    CHECK(check_name(triple->tail, index, "tail", error));
    CHECK(wfre_graph_builder_entity(job->builder, triple->head.bytes, triple->head.length, &head,
                                    error));
    CHECK(wfre_graph_builder_relation(job->builder, triple->relation.bytes, triple->relation.length,
                                      &relation, error));
    CHECK(wfre_graph_builder_entity(job->builder, triple->tail.bytes, triple->tail.length, &tail,
                                    error));
    return wfre_graph_builder_triple(job->builder, split, head, relation, tail, error);
}

static wfre_status read(wfre_import_job *job, const wfre_named_triple *triples,
                        const size_t counts[WFRE_SPLITS], wfre_error *error)
{
    size_t index = 0;
    job->report->format = "memory";
    for (int split = 0; split < WFRE_SPLITS; split++)
        for (size_t i = 0; i < counts[split]; i++, index++)
            CHECK(add(job, &triples[index], index, (wfre_split)split, error));
    if (index == 0 && !job->options->allow_empty)
        return wfre_fail(error, WFRE_ERR_ARGUMENT, WFRE_NO_OFFSET,
                         "no triples; `allow-empty` takes that");
    return WFRE_OK;
}

wfre_status wfre_import_triples(const wfre_named_triple *triples, const size_t counts[WFRE_SPLITS],
                                const wfre_import_options *options, const wfre_monitor *monitor,
                                wfre_graph **graph, wfre_import_report *report, wfre_error *error)
{
    GIVEN(counts);
    GIVEN(graph);
    if (counts[0] + counts[1] + counts[2] > 0)
        GIVEN(triples);
    static const wfre_import_options defaults = {0};
    wfre_import_report counted = {0};
    wfre_import_job job = {
        .options = options ? options : &defaults, .monitor = monitor, .report = &counted};
    wfre_status status;
    TRY(wfre_import_begin(&job, error));
    TRY(read(&job, triples, counts, error));
    TRY(wfre_import_end(&job, NULL, graph, error));
    if (report)
        *report = counted;
cleanup:
    wfre_import_job_free(&job);
    return status;
}
