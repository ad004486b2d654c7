/* The tables and grammars behind types.h. */
#include "query/types.h"

#include <string.h>

#include "query/notation.h"

const wfre_named_type wfre_betae_types[WFRE_BETAE_TYPES] = {
    {"1p", "(p,(e))"},
    {"2p", "(p,(p,(e)))"},
    {"3p", "(p,(p,(p,(e))))"},
    {"2i", "(i,(p,(e)),(p,(e)))"},
    {"3i", "(i,(p,(e)),(p,(e)),(p,(e)))"},
    {"ip", "(p,(i,(p,(e)),(p,(e))))"},
    {"pi", "(i,(p,(e)),(p,(p,(e))))"},
    {"2in", "(i,(n,(p,(e))),(p,(e)))"},
    {"3in", "(i,(n,(p,(e))),(p,(e)),(p,(e)))"},
    {"inp", "(p,(i,(n,(p,(e))),(p,(e))))"},
    {"pin", "(i,(n,(p,(e))),(p,(p,(e))))"},
    {"pni", "(i,(n,(p,(p,(e)))),(p,(e)))"},
    {"2u", "(u,(p,(e)),(p,(e)))"},
    {"up", "(p,(u,(p,(e)),(p,(e))))"},
};

int wfre_betae_type_index(const char *name, size_t length)
{
    for (int i = 0; i < WFRE_BETAE_TYPES; i++)
        if (strlen(wfre_betae_types[i].name) == length &&
            memcmp(wfre_betae_types[i].name, name, length) == 0)
            return i;
    return -1;
}

wfre_status wfre_type_name(const wfre_node *tree, wfre_text *name, wfre_error *error)
{
    wfre_arena arena = {0};
    wfre_text printed = {0};
    wfre_status status;
    const wfre_node *type = wfre_tree_type(&arena, tree);
    if (!type) {
        status = wfre_fail_memory(error, "naming a query type");
        goto cleanup;
    }
    wfre_tree_print(&printed, NULL, type);
    TRY(wfre_text_status(&printed, "naming a query type", error));
    const char *known = printed.data;
    for (int i = 0; i < WFRE_BETAE_TYPES; i++)
        if (strcmp(wfre_betae_types[i].tree, printed.data) == 0)
            known = wfre_betae_types[i].name;
    wfre_text_add(name, known);
    TRY(wfre_text_status(name, "naming a query type", error));
cleanup:
    wfre_text_free(&printed);
    wfre_arena_free(&arena);
    return status;
}
