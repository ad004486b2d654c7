/* The public handle: one question, however it was written. */
#include <string.h>

#include "base/clock.h"
#include "base/scope.h"
#include "query/normal.h"
#include "query/notation.h"
#include "query/scan.h"
#include "query/types.h"

/* The first characters tell the notations apart. A formula that begins with brackets is told by
 * what stands in them: neither the letter of an operator by itself, nor a number or a quoted
 * letter. */
static wfre_notation detect(const char *text, size_t length)
{
    wfre_cursor cursor = {.text = text, .length = length};
    if (wfre_scan_peek(&cursor) == '{')
        return WFRE_NOTATION_DRAWING;
    if (!wfre_scan_accept(&cursor, '('))
        return WFRE_NOTATION_LOGIC;
    char c = wfre_scan_peek(&cursor);
    if (c && strchr("epiunIU", c)) {
        cursor.at++;
        c = wfre_scan_peek(&cursor);
        return c == '\0' || c == ',' || c == ')' ? WFRE_NOTATION_TREE : WFRE_NOTATION_LOGIC;
    }
    while (wfre_scan_accept(&cursor, '('))
        ;
    c = wfre_scan_peek(&cursor);
    bool tuple = c == '\0' || strchr("0123456789-',)", c);
    return tuple ? WFRE_NOTATION_BETAE : WFRE_NOTATION_LOGIC;
}

uint32_t wfre_query_width(const wfre_query *query)
{
    return query->asked;
}

const char *wfre_query_column_name(const wfre_query *query, uint32_t column)
{
    return query->formula ? query->variable_names[column] : "x";
}

uint32_t wfre_query_counted(const wfre_query *query)
{
    return query->counted;
}

bool wfre_query_column_is_relation(const wfre_query *query, uint32_t column)
{
    return query->of_relations && query->of_relations[column];
}

/* The highest ids named, each WFRE_NONE if there is none. */
typedef struct highest {
    uint32_t entity, relation;
} highest;

static wfre_status check_ids(highest ids, const wfre_graph *graph, wfre_status code,
                             wfre_error *error)
{
    if (ids.entity != WFRE_NONE && ids.entity >= wfre_graph_entities(graph))
        return wfre_fail(error, code, WFRE_NO_OFFSET,
                         "entity #%u is not in the graph, which has %u", ids.entity,
                         wfre_graph_entities(graph));
    if (ids.relation != WFRE_NONE && ids.relation >= wfre_graph_relations(graph))
        return wfre_fail(error, code, WFRE_NO_OFFSET,
                         "relation #%u is not in the graph, which has %u with inverses",
                         ids.relation, wfre_graph_relations(graph));
    return WFRE_OK;
}

static highest highest_of_tree(const wfre_node *tree)
{
    return (highest){wfre_tree_highest_id(tree, WFRE_OP_ENTITY),
                     wfre_tree_highest_id(tree, WFRE_OP_PROJECT)};
}

static void raise_to(uint32_t *highest_id, uint32_t id)
{
    if (*highest_id == WFRE_NONE || id > *highest_id)
        *highest_id = id;
}

static void find_highest(const wfre_formula *formula, highest *ids)
{
    if (formula->kind == WFRE_ATOM)
        raise_to(&ids->relation, formula->relation);
    if (formula->child_count == 0 && !formula->left.is_variable)
        raise_to(&ids->entity, formula->left.id);
    if (formula->child_count == 0 && !formula->right.is_variable)
        raise_to(&ids->entity, formula->right.id);
    for (uint32_t i = 0; i < formula->child_count; i++)
        find_highest(formula->children[i], ids);
}

wfre_status wfre_tree_fits(const wfre_node *tree, const wfre_graph *graph, wfre_error *error)
{
    return check_ids(highest_of_tree(tree), graph, WFRE_ERR_MISMATCH, error);
}

wfre_status wfre_query_fits(const wfre_query *query, const wfre_graph *graph, wfre_error *error)
{
    highest ids = {WFRE_NONE, WFRE_NONE};
    if (query->tree)
        ids = highest_of_tree(query->tree);
    else
        find_highest(query->formula, &ids);
    return check_ids(ids, graph, WFRE_ERR_ARGUMENT, error);
}

static wfre_status parse(wfre_query *query, const wfre_graph *graph, wfre_notation notation,
                         const char *text, size_t length, wfre_error *error)
{
    switch (notation) {
    case WFRE_NOTATION_LOGIC:
        CHECK(wfre_logic_parse(query, graph, text, length, error));
        return wfre_query_find_tree(query, error);
    case WFRE_NOTATION_BETAE:
        CHECK(wfre_betae_parse(&query->arena, text, length, &query->tree, error));
        if (graph && !wfre_tree_is_type(query->tree))
            CHECK(wfre_tree_fits(query->tree, graph, error));
        return wfre_query_find_formula(query, error);
    default:
        CHECK(wfre_tree_parse(&query->arena, graph, text, length, &query->tree, error));
        return wfre_query_find_formula(query, error);
    }
    return WFRE_OK;
}

wfre_status wfre_query_parse(const wfre_graph *graph, wfre_notation notation, const char *text,
                             size_t length, wfre_query **query, wfre_error *error)
{
    GIVEN(text);
    GIVEN(query);
    if (notation == WFRE_NOTATION_AUTO)
        notation = detect(text, length);
    if (notation == WFRE_NOTATION_DRAWING)
        return wfre_drawing_parse(graph, text, length, query, error);
    wfre_query *made = wfre_alloc_zero(1, sizeof *made);
    if (!made)
        return wfre_fail_memory(error, "reading a query");
    wfre_status status = parse(made, graph, notation, text, length, error);
    if (graph && wfre_graph_sound(graph, NULL) != WFRE_OK) /* a name may be unknown for that */
        status = wfre_graph_sound(graph, error);
    if (status == WFRE_OK)
        *query = made;
    else
        wfre_query_free(made);
    return status;
}

wfre_status wfre_query_parse_within(const wfre_graph *graph, wfre_notation notation,
                                    const char *text, size_t length, double timeout,
                                    wfre_cancel *cancel, wfre_query **query, wfre_error *error)
{
    wfre_scope scope = wfre_scope_current();
    scope.cancel = cancel;
    scope.deadline = timeout > 0 ? wfre_clock() + timeout : 0;
    wfre_scope before = wfre_scope_enter(scope);
    wfre_status status = wfre_query_parse(graph, notation, text, length, query, error);
    (void)wfre_scope_enter(before);
    return status;
}

void wfre_query_free(wfre_query *query)
{
    if (!query)
        return;
    wfre_arena_free(&query->arena);
    wfre_free(query);
}

const char *wfre_query_not_a_tree(const wfre_query *query)
{
    return query->not_a_tree;
}

/* Hands the text over to the caller. */
static wfre_status take(wfre_text *text, char **string, wfre_error *error)
{
    wfre_status status = wfre_text_status(text, "printing a query", error);
    if (status == WFRE_OK)
        *string = text->data;
    else
        wfre_text_free(text);
    return status;
}

static wfre_status fail_not_a_tree(const wfre_query *query, wfre_error *error)
{
    return wfre_fail(error, WFRE_ERR_UNSUPPORTED, WFRE_NO_OFFSET,
                     "the query is not an operator tree: %s", query->not_a_tree);
}

wfre_status wfre_query_print(const wfre_query *query, const wfre_graph *graph,
                             wfre_notation notation, char **text, wfre_error *error)
{
    GIVEN(query);
    wfre_text printed = {0};
    bool of_formula = notation == WFRE_NOTATION_LOGIC || notation == WFRE_NOTATION_DRAWING;
    if (!of_formula && !query->tree)
        return fail_not_a_tree(query, error);
    if (of_formula && !query->formula)
        return wfre_fail(error, WFRE_ERR_UNSUPPORTED, WFRE_NO_OFFSET, "%s", query->no_formula);
    if (notation == WFRE_NOTATION_DRAWING && query->counted > 0)
        return wfre_fail(error, WFRE_ERR_UNSUPPORTED, WFRE_NO_OFFSET,
                         "the question counts, which cannot be drawn");
    wfre_status status = WFRE_OK;
    if (notation == WFRE_NOTATION_LOGIC)
        wfre_logic_print(&printed, graph, query);
    else if (notation == WFRE_NOTATION_DRAWING)
        status = wfre_drawing_print(&printed, graph, query, error);
    else if (notation == WFRE_NOTATION_BETAE)
        wfre_betae_print(&printed, query->tree);
    else
        wfre_tree_print(&printed, graph, query->tree);
    if (status == WFRE_OK)
        return take(&printed, text, error);
    wfre_text_free(&printed);
    return status;
}

wfre_status wfre_query_normalise(const wfre_query *query, wfre_form form, wfre_query **normal,
                                 wfre_error *error)
{
    GIVEN(query);
    if (!query->tree)
        return fail_not_a_tree(query, error);
    wfre_query *made = wfre_alloc_zero(1, sizeof *made);
    const wfre_node *tree;
    wfre_status status;
    if (!made)
        return wfre_fail_memory(error, "bringing a query to normal form");
    TRY(wfre_tree_normal(&made->arena, query->tree, form, &tree, error));
    /* Normal forms share nodes with the query, which may be freed before them. */
    made->tree = wfre_tree_copy(&made->arena, tree);
    if (!made->tree) {
        status = wfre_fail_memory(error, "bringing a query to normal form");
        goto cleanup;
    }
    TRY(wfre_query_find_formula(made, error));
    *normal = made;
    made = NULL;
cleanup:
    wfre_query_free(made);
    return status;
}

wfre_status wfre_query_type(const wfre_query *query, char **type, wfre_error *error)
{
    GIVEN(query);
    wfre_text name = {0};
    if (!query->tree)
        return fail_not_a_tree(query, error);
    wfre_status status = wfre_type_name(query->tree, &name, error);
    if (status == WFRE_OK)
        return take(&name, type, error);
    wfre_text_free(&name);
    return status;
}

void wfre_string_free(char *text)
{
    wfre_free(text);
}
