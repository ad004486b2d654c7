/* Splitting a list of types, whose trees have commas of their own. */
#include "query/typelist.h"

#include <string.h>

#include "query/notation.h"
#include "query/types.h"

/* The end of the type that starts at `at`: a blank, or a comma outside brackets. */
static size_t type_end(const char *text, size_t at)
{
    int depth = 0;
    for (; text[at] && text[at] != ' '; at++) {
        if (text[at] == ',' && depth <= 0)
            break;
        depth += (text[at] == '(') - (text[at] == ')');
    }
    return at;
}

static wfre_status parse_type(wfre_type_list *list, const char *text, size_t length,
                              wfre_text *name, wfre_error *error)
{
    wfre_status status = WFRE_OK;
    const wfre_node *tree = NULL;
    int known = wfre_betae_type_index(text, length);
    if (known < 0 && text[0] != '(')
        return wfre_fail(error, WFRE_ERR_NOT_FOUND, WFRE_NO_OFFSET,
                         "unknown query type %.*s; give a name such as 2p or a tree such as "
                         "(i,(p,(e)),(p,(e))), see 'wfre types'",
                         (int)(length < 100 ? length : 100), text);
    const char *written = known >= 0 ? wfre_betae_types[known].tree : text;
    TRY(wfre_tree_parse(&list->arena, NULL, written, known >= 0 ? strlen(written) : length, &tree,
                        error));
    if (!wfre_tree_is_type(tree))
        return wfre_fail(error, WFRE_ERR_FORMAT, WFRE_NO_OFFSET,
                         "%.*s is a query, not a query type; leave out its ids and names",
                         (int)(length < 100 ? length : 100), text);
    wfre_text_clear(name);
    TRY(wfre_type_name(tree, name, error));
    tree = wfre_tree_type(&list->arena, tree);
    const char *kept = wfre_arena_text(&list->arena, name->data, name->length);
    if (!tree || !kept)
        return wfre_fail_memory(error, "reading query types");
    list->trees[list->count] = tree;
    list->names[list->count++] = kept;
cleanup:
    return status;
}

wfre_status wfre_type_list_parse(wfre_type_list *list, const char *text, wfre_error *error)
{
    wfre_status status = WFRE_OK;
    wfre_text name = {0};
    size_t most = strlen(text) / 2 + 1; /* each has a separator behind it, but for the last */
    list->trees = wfre_arena_alloc(&list->arena, most, sizeof *list->trees);
    list->names = wfre_arena_alloc(&list->arena, most, sizeof *list->names);
    if (!list->trees || !list->names)
        return wfre_fail_memory(error, "reading query types");
    for (size_t at = 0; text[at];) {
        size_t end = type_end(text, at);
        if (end > at)
            TRY(parse_type(list, text + at, end - at, &name, error));
        at = text[end] ? end + 1 : end;
    }
    if (list->count == 0)
        status = wfre_fail(error, WFRE_ERR_ARGUMENT, WFRE_NO_OFFSET, "no query type was given");
cleanup:
    wfre_text_free(&name);
    return status;
}

void wfre_type_list_free(wfre_type_list *list)
{
    wfre_arena_free(&list->arena);
    *list = (wfre_type_list){0};
}
