/* Query sets, line by line, with a graph and without one. What is taken has answers within the
 * graph, ascending, none of them both easy and hard. */
#include "sample/queryset.h"
#include "small_graph.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

static void check_list(wfre_list list, const wfre_graph *graph)
{
    for (size_t i = 0; i < list.count; i++) {
        must(i == 0 || list.ids[i - 1] < list.ids[i]);
        must(!graph || list.ids[i] < wfre_graph_entities(graph));
    }
}

static void check(const char *text, size_t length, const wfre_graph *graph)
{
    wfre_queryset set = {0};
    for (size_t at = 0; at < length;) {
        const char *end = memchr(text + at, '\n', length - at);
        size_t size = end ? (size_t)(end - (text + at)) : length - at;
        if (wfre_queryset_add_line(&set, graph, text + at, size, NULL) != WFRE_OK)
            break;
        at += size + 1;
    }
    for (uint32_t i = 0; i < set.count; i++) {
        must(set.rows[i].type < set.types.count && set.rows[i].tree != NULL);
        check_list(wfre_queryset_easy(&set, i), graph);
        check_list(wfre_queryset_hard(&set, i), graph);
    }
    wfre_queryset_clear(&set);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    check((const char *)bytes, length, NULL);
    check((const char *)bytes, length, small_graph());
    return 0;
}
