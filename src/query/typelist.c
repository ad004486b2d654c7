/* Splitting a list of types, whose trees have commas of their own. */
#include "query/typelist.h"

#include <stdio.h>
#include <string.h>

#include "query/notation.h"
#include "query/types.h"
#include "wfre/query.h"

/* The list being read, and the built-in types, made when they are first asked for. */
typedef struct reading {
    wfre_type_list *list;
    wfre_types *built_in[2]; /* by wfre_type_set */
    wfre_error *error;
} reading;

static bool separates(char c)
{
    return c == ',' || c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* The end of the type that starts at `at`: a blank or a comma outside brackets. */
static size_t type_end(const char *text, size_t at)
{
    int depth = 0;
    for (; text[at]; at++) {
        if (separates(text[at]) && depth <= 0)
            break;
        depth += (text[at] == '(') - (text[at] == ')');
    }
    return at;
}

/* Adds a type unless it is there already, under whatever name; `name` NULL names it by its tree. */
static wfre_status add_type(wfre_type_list *list, const char *name, const char *text, size_t length,
                            wfre_error *error)
{
    wfre_status status = WFRE_OK;
    wfre_text named = {0};
    const wfre_node *tree = NULL;
    status = wfre_tree_parse(&list->arena, NULL, text, length, &tree, error);
    if (status != WFRE_OK && status != WFRE_ERR_MEMORY) {
        char place[160];
        (void)snprintf(place, sizeof place, "query type %.*s", (int)(length < 100 ? length : 100),
                       text);
        status = wfre_fail_within(error, status, place);
    }
    TRY(status);
    if (!wfre_tree_is_type(tree)) {
        status = wfre_fail(error, WFRE_ERR_FORMAT, WFRE_NO_OFFSET,
                           "%.*s is a query, not a query type; leave out its ids and names",
                           (int)(length < 100 ? length : 100), text);
        goto cleanup;
    }
    tree = wfre_tree_type(&list->arena, tree);
    for (uint32_t i = 0; tree && i < list->count; i++)
        if (wfre_node_equal(list->trees[i], tree))
            goto cleanup;
    if (name)
        wfre_text_add(&named, name);
    else if (tree)
        TRY(wfre_type_name(tree, &named, error));
    TRY(wfre_text_status(&named, "reading query types", error));
    const char *kept = wfre_arena_text(&list->arena, named.data, named.length);
    if (!tree || !kept ||
        !WFRE_RESERVE(&list->trees, &list->tree_capacity, (size_t)list->count + 1) ||
        !WFRE_RESERVE(&list->names, &list->name_capacity, (size_t)list->count + 1)) {
        status = wfre_fail_memory(error, "reading query types");
        goto cleanup;
    }
    list->trees[list->count] = tree;
    list->names[list->count++] = kept;
cleanup:
    wfre_text_free(&named);
    return status;
}

static bool is(const char *name, const char *text, size_t length)
{
    return strlen(name) == length && memcmp(name, text, length) == 0;
}

/* Adds the types of a built-in set whose name is text, or all if text is the name of the set;
 * *found tells whether there are any. */
static wfre_status add_built_in(reading *r, wfre_type_set set, const char *text, size_t length,
                                bool *found)
{
    static const char *const NAMES[] = {[WFRE_TYPES_BETAE] = "betae", [WFRE_TYPES_EFO1] = "efo1"};
    if (!r->built_in[set])
        CHECK(wfre_types_create(set, &r->built_in[set], r->error));
    const wfre_types *types = r->built_in[set];
    for (size_t i = 0; i < wfre_types_count(types); i++) {
        const char *name = wfre_types_name(types, i);
        const char *tree = wfre_types_tree(types, i, WFRE_FORM_ORIGINAL);
        if (!is(NAMES[set], text, length) && !is(name, text, length))
            continue;
        *found = true;
        CHECK(add_type(r->list, name, tree, strlen(tree), r->error));
    }
    return WFRE_OK;
}

static wfre_status parse_type(reading *r, const char *text, size_t length)
{
    bool found = false;
    if (text[0] == '(')
        return add_type(r->list, NULL, text, length, r->error);
    CHECK(add_built_in(r, WFRE_TYPES_BETAE, text, length, &found));
    if (!found)
        CHECK(add_built_in(r, WFRE_TYPES_EFO1, text, length, &found));
    if (!found)
        return wfre_fail(r->error, WFRE_ERR_NOT_FOUND, WFRE_NO_OFFSET,
                         "unknown query type %.*s; give a name such as 2p or a tree such as "
                         "(i,(p,(e)),(p,(e))), see 'wfre types'",
                         (int)(length < 100 ? length : 100), text);
    return WFRE_OK;
}

wfre_status wfre_type_list_parse(wfre_type_list *list, const char *text, wfre_error *error)
{
    wfre_status status = WFRE_OK;
    reading r = {.list = list, .error = error};
    for (size_t at = 0; text[at];) {
        size_t end = type_end(text, at);
        if (end > at)
            TRY(parse_type(&r, text + at, end - at));
        at = text[end] ? end + 1 : end;
    }
    if (list->count == 0)
        status = wfre_fail(error, WFRE_ERR_ARGUMENT, WFRE_NO_OFFSET, "no query type was given");
cleanup:
    wfre_types_free(r.built_in[WFRE_TYPES_BETAE]);
    wfre_types_free(r.built_in[WFRE_TYPES_EFO1]);
    return status;
}

void wfre_type_list_free(wfre_type_list *list)
{
    wfre_free(list->trees);
    wfre_free(list->names);
    wfre_arena_free(&list->arena);
    *list = (wfre_type_list){0};
}
