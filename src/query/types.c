/* The BetaE types by name, and lists of types with all their normal forms. */
#include "query/types.h"

#include <stdio.h>
#include <string.h>

#include "query/normal.h"
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

/* ---- the public list ---------------------------------------------------------------------- */

typedef struct listed_type {
    const char *name;
    const char *forms[WFRE_FORMS];
} listed_type;

struct wfre_types {
    wfre_arena arena; /* holds all the rest */
    listed_type *items;
    size_t count;
};

static wfre_status print_forms(wfre_types *types, const wfre_node *tree, listed_type *item,
                               wfre_error *error)
{
    wfre_text text = {0};
    wfre_arena scratch = {0};
    wfre_status status = WFRE_OK;
    for (int form = 0; form < WFRE_FORMS; form++) {
        const wfre_node *normal;
        TRY(wfre_tree_normal(&scratch, tree, (wfre_form)form, &normal, error));
        normal = wfre_tree_sort(&scratch, normal);
        wfre_text_clear(&text);
        bool multi = form == WFRE_FORM_DEMORGAN_MULTI || form == WFRE_FORM_DNF_MULTI;
        if (normal && multi)
            wfre_tree_print_multi(&text, NULL, normal);
        else if (normal)
            wfre_tree_print(&text, NULL, normal);
        item->forms[form] =
            normal && !text.failed ? wfre_arena_text(&types->arena, text.data, text.length) : NULL;
        if (!item->forms[form]) {
            status = wfre_fail_memory(error, "listing query types");
            goto cleanup;
        }
    }
cleanup:
    wfre_text_free(&text);
    wfre_arena_free(&scratch);
    return status;
}

static wfre_status add_type(wfre_types *types, const char *name, const wfre_node *tree,
                            wfre_error *error)
{
    listed_type *item = &types->items[types->count];
    item->name = wfre_arena_text(&types->arena, name, strlen(name));
    if (!item->name)
        return wfre_fail_memory(error, "listing query types");
    types->count++;
    return print_forms(types, tree, item, error);
}

static wfre_status make_room(wfre_types *types, size_t count, wfre_error *error)
{
    types->items = wfre_arena_alloc(&types->arena, count, sizeof *types->items);
    return types->items ? WFRE_OK : wfre_fail_memory(error, "listing query types");
}

static wfre_status list_betae(wfre_types *types, wfre_error *error)
{
    CHECK(make_room(types, WFRE_BETAE_TYPES, error));
    for (size_t i = 0; i < WFRE_BETAE_TYPES; i++) {
        const wfre_named_type *known = &wfre_betae_types[i];
        const wfre_node *tree;
        CHECK(wfre_tree_parse(&types->arena, NULL, known->tree, strlen(known->tree), &tree, error));
        CHECK(add_type(types, known->name, tree, error));
    }
    return WFRE_OK;
}

static wfre_status list_efo1(wfre_types *types, wfre_error *error)
{
    const wfre_efo1_type *found;
    size_t count;
    CHECK(wfre_efo1_types(&types->arena, &found, &count, error));
    CHECK(make_room(types, count, error));
    for (size_t i = 0; i < count; i++) {
        char name[16];
        (void)snprintf(name, sizeof name, "type%04u", found[i].number);
        CHECK(add_type(types, name, found[i].tree, error));
    }
    return WFRE_OK;
}

wfre_status wfre_types_create(wfre_type_set set, wfre_types **types, wfre_error *error)
{
    wfre_types *made = wfre_alloc_zero(1, sizeof *made);
    if (!made)
        return wfre_fail_memory(error, "listing query types");
    wfre_status status = set == WFRE_TYPES_BETAE ? list_betae(made, error) : list_efo1(made, error);
    if (status == WFRE_OK)
        *types = made;
    else
        wfre_types_free(made);
    return status;
}

void wfre_types_free(wfre_types *types)
{
    if (!types)
        return;
    wfre_arena_free(&types->arena);
    wfre_free(types);
}

size_t wfre_types_count(const wfre_types *types)
{
    return types->count;
}

const char *wfre_types_name(const wfre_types *types, size_t index)
{
    return types->items[index].name;
}

const char *wfre_types_tree(const wfre_types *types, size_t index, wfre_form form)
{
    return types->items[index].forms[form];
}
