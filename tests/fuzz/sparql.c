/* SPARQL: whatever is read without an error is run on a small graph, within limits, and its results
 * are written in every format that fits. */
#include "wfre/sparql.h"
#include "small_graph.h"
#include "sparql_graph.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

static wfre_status drop(void *context, const char *bytes, size_t length, wfre_error *error)
{
    (void)error;
    must(wfre_utf8_sequence(bytes, length) > 0 || length == 0);
    *(size_t *)context += length;
    return WFRE_OK;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    static wfre_graph *graph;
    static wfre_rdf_view *view;
    if (!graph) {
        graph = sparql_graph();
        must(graph != NULL);
        must(wfre_rdf_view_open(graph, WFRE_TEST, &view, NULL) == WFRE_OK);
    }
    const wfre_sparql_options options = {.base = "http://x/", .graph = graph};
    const wfre_sparql_run_options limits = {
        .limits = {.timeout = 0.5, .memory = 1 << 24, .rows = 1000}, .seed = 1};
    wfre_error error;
    wfre_sparql *query = NULL;
    (void)wfre_sparql_recognises((const char *)bytes, length);
    if (wfre_sparql_parse((const char *)bytes, length, &options, &query, &error) != WFRE_OK) {
        must(error.offset <= length);
        return 0;
    }
    for (int format = WFRE_SPARQL_TABLE; format <= WFRE_SPARQL_TTL; format++) {
        size_t wrote = 0;
        const wfre_sparql_output output = {.write = drop, .context = &wrote};
        if (wfre_sparql_format_fits((wfre_sparql_format)format, wfre_sparql_get_form(query)) &&
            wfre_sparql_write(query, view, &limits, (wfre_sparql_format)format, &output, NULL,
                              &error) != WFRE_OK)
            must(error.code != WFRE_ERR_FORMAT);
    }
    wfre_sparql_free(query);
    return 0;
}
