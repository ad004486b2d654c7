/* Drawings of questions: what is read is drawn again, and from the second time on (which puts what
 * stands in no box first) the drawing is read as itself. */
#include "query/notation.h"
#include "small_graph.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    const wfre_graph *graph = small_graph();
    wfre_error error;
    wfre_query *query = NULL, *again = NULL, *third = NULL;
    char *drawing = NULL, *twice = NULL, *thrice = NULL, *sentence = NULL;
    if (wfre_query_parse(graph, WFRE_NOTATION_DRAWING, (const char *)bytes, length, &query,
                         &error) != WFRE_OK) {
        must(error.offset == WFRE_NO_OFFSET || error.offset <= length);
        return 0;
    }
    must(wfre_query_sentence(query, graph, &sentence, &error) == WFRE_OK);
    must(wfre_query_print(query, graph, WFRE_NOTATION_DRAWING, &drawing, &error) == WFRE_OK);
    must(wfre_query_parse(graph, WFRE_NOTATION_AUTO, drawing, strlen(drawing), &again, &error) ==
         WFRE_OK);
    must(wfre_query_print(again, graph, WFRE_NOTATION_DRAWING, &twice, &error) == WFRE_OK);
    must(wfre_query_parse(graph, WFRE_NOTATION_AUTO, twice, strlen(twice), &third, &error) ==
         WFRE_OK);
    must(wfre_query_print(third, graph, WFRE_NOTATION_DRAWING, &thrice, &error) == WFRE_OK);
    must(strcmp(twice, thrice) == 0);
    wfre_string_free(sentence);
    wfre_string_free(drawing);
    wfre_string_free(twice);
    wfre_string_free(thrice);
    wfre_query_free(query);
    wfre_query_free(again);
    wfre_query_free(third);
    return 0;
}
