/* The logic notation: what parses prints as text that parses to the same formula, and what is a
 * tree is one again when read back. */
#include "query/notation.h"
#include "small_graph.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    const wfre_graph *graph = small_graph();
    wfre_error error;
    wfre_query query = {0}, again = {0};
    wfre_text text = {0};
    if (wfre_logic_parse(&query, graph, (const char *)bytes, length, &error) != WFRE_OK) {
        must(error.offset <= length);
        goto cleanup;
    }
    wfre_logic_print(&text, graph, &query);
    must(wfre_logic_parse(&again, graph, text.data, text.length, &error) == WFRE_OK);
    bool same = false;
    must(wfre_query_same_formula(&query, &again, &same, &error) == WFRE_OK && same);
    must(wfre_query_find_tree(&query, &error) == WFRE_OK);
    must(wfre_query_find_tree(&again, &error) == WFRE_OK);
    must(!query.tree == !again.tree);
    must(!query.tree || wfre_node_equal(query.tree, again.tree));
    must(!query.tree == !!query.not_a_tree);
cleanup:
    wfre_text_free(&text);
    wfre_arena_free(&query.arena);
    wfre_arena_free(&again.arena);
    return 0;
}
