/* Operator trees: printing and parsing agree, tuples and formulas lead back to the same tree, and
 * the normal forms are what they should be or are refused. */
#include "query/normal.h"
#include "query/notation.h"
#include "small_graph.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

/* The tree as a formula, that as text, and back; a tree may say more than a formula can. */
static void check_formula(wfre_query *query)
{
    const wfre_node *tree = query->tree;
    must(wfre_query_find_formula(query, NULL) == WFRE_OK);
    if (!query->formula)
        return;
    must(wfre_query_find_tree(query, NULL) == WFRE_OK);
    must(query->tree && wfre_node_equal(query->tree, tree));
    wfre_query again = {0};
    wfre_text text = {0};
    bool same = false;
    wfre_logic_print(&text, NULL, query);
    must(wfre_logic_parse(&again, NULL, text.data, text.length, NULL) == WFRE_OK);
    must(wfre_query_same_formula(query, &again, &same, NULL) == WFRE_OK && same);
    wfre_text_free(&text);
    wfre_arena_free(&again.arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    const wfre_graph *graph = small_graph();
    wfre_error error;
    wfre_query query = {0};
    wfre_text text = {0};
    const wfre_node *tree, *again;
    if (wfre_tree_parse(&query.arena, graph, (const char *)bytes, length, &tree, &error) !=
        WFRE_OK) {
        must(error.offset <= length);
        goto cleanup;
    }
    wfre_tree_print(&text, graph, tree);
    must(wfre_tree_parse(&query.arena, graph, text.data, text.length, &again, &error) == WFRE_OK);
    must(wfre_node_equal(tree, again));
    wfre_text_clear(&text);
    wfre_betae_print(&text, tree);
    must(wfre_betae_parse(&query.arena, text.data, text.length, &again, &error) == WFRE_OK);
    must(wfre_node_equal(tree, again));
    for (int form = 0; form < WFRE_FORMS; form++) {
        wfre_status status = wfre_tree_normal(&query.arena, tree, (wfre_form)form, &again, &error);
        must(status == WFRE_OK || status == WFRE_ERR_UNSUPPORTED);
    }
    query.tree = tree;
    check_formula(&query);
cleanup:
    wfre_text_free(&text);
    wfre_arena_free(&query.arena);
    return 0;
}
