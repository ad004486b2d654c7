/* The small functions of the public interface. */
#include <string.h>

#include "base/memory.h"
#include "graph/rdf.h"
#include "sparql/lexer.h"
#include "sparql/syntax.h"
#include "wfre/sparql.h"

bool wfre_sparql_recognises(const char *text, size_t length)
{
    static const char *const WORDS[] = {"SELECT", "ASK",    "CONSTRUCT", "DESCRIBE", "PREFIX",
                                        "BASE",   "INSERT", "DELETE",    "LOAD",     "CLEAR"};
    wfre_arena arena = {0};
    wfre_sq_lexer lexer;
    wfre_sq_token token, next;
    bool is = false;
    if (wfre_sq_lexer_open(&lexer, &arena, text, length, NULL) == WFRE_OK &&
        wfre_sq_lexer_next(&lexer, &token) == WFRE_OK &&
        wfre_sq_lexer_next(&lexer, &next) == WFRE_OK)
        for (size_t i = 0; i < sizeof WORDS / sizeof *WORDS; i++)
            is |= wfre_sq_is_word(&token, WORDS[i]);
    wfre_arena_free(&arena);
    return is;
}

wfre_sparql_form wfre_sparql_get_form(const wfre_sparql *query)
{
    return (wfre_sparql_form)query->form;
}

size_t wfre_sparql_columns(const wfre_sparql *query)
{
    return query->form == WFRE_SQ_SELECT ? query->select.column_count : 0;
}

wfre_name wfre_sparql_column(const wfre_sparql *query, size_t index)
{
    return query->slot_names[query->select.columns[index].slot];
}

wfre_status wfre_rdf_view_open(const wfre_graph *graph, wfre_split split, wfre_rdf_view **view,
                               wfre_error *error)
{
    return wfre_rdf_open(graph, split, view, error);
}

void wfre_rdf_view_close(wfre_rdf_view *view)
{
    wfre_rdf_close(view);
}
