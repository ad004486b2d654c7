/* BetaE tuples: what parses prints as text that parses to the same tree. */
#include "query/notation.h"
#include "small_graph.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    wfre_error error;
    wfre_arena arena = {0};
    wfre_text text = {0};
    const wfre_node *tree, *again;
    if (wfre_betae_parse(&arena, (const char *)bytes, length, &tree, &error) != WFRE_OK) {
        must(error.offset <= length);
        goto cleanup;
    }
    wfre_betae_print(&text, tree);
    must(wfre_betae_parse(&arena, text.data, text.length, &again, &error) == WFRE_OK);
    must(wfre_node_equal(tree, again));
cleanup:
    wfre_text_free(&text);
    wfre_arena_free(&arena);
    return 0;
}
