/* The small functions of the public interface. */
#include <string.h>

#include "base/memory.h"
#include "sparql/exec.h"
#include "sparql/lexer.h"

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

uint64_t wfre_rdf_view_triples(const wfre_rdf_view *view)
{
    return wfre_rdf_triples(view);
}

bool wfre_rdf_view_named_graph(const wfre_rdf_view *view, size_t index, wfre_name *iri,
                               uint64_t *triples)
{
    const wfre_rdf *graph = NULL;
    if (index >= wfre_rdf_named_count(view) ||
        wfre_rdf_named_view(view, index, &graph, NULL) != WFRE_OK)
        return false;
    *iri = wfre_rdf_named_iri(view, index);
    *triples = wfre_rdf_triples(graph);
    return true;
}

static wfre_status write_iri(const wfre_rdf_view *view, wfre_rdf_id id, char **iri,
                             wfre_error *error)
{
    wfre_text scratch = {0}, text = {0};
    wfre_rdf_value value;
    wfre_status status = wfre_rdf_get(view, id, &scratch, &value, error);
    if (status == WFRE_OK) {
        wfre_text_append(&text, value.text.bytes, value.text.length);
        status = wfre_sq_take_text(&text, iri, error);
    }
    wfre_text_free(&scratch);
    return status;
}

wfre_status wfre_rdf_view_entity_iri(const wfre_rdf_view *view, wfre_entity entity, char **iri,
                                     wfre_error *error)
{
    if (entity >= wfre_graph_entities(wfre_rdf_graph(view)))
        return wfre_fail(error, WFRE_ERR_ARGUMENT, WFRE_NO_OFFSET, "there is no entity %u", entity);
    return write_iri(view, entity, iri, error);
}

wfre_status wfre_rdf_view_relation_iri(const wfre_rdf_view *view, wfre_relation relation,
                                       char **iri, wfre_error *error)
{
    if (relation >= wfre_graph_relations(wfre_rdf_graph(view)))
        return wfre_fail(error, WFRE_ERR_ARGUMENT, WFRE_NO_OFFSET, "there is no relation %u",
                         relation);
    return write_iri(view, wfre_rdf_relation_term(view, relation & ~1u), iri, error);
}

size_t wfre_sparql_sources(const wfre_sparql *query)
{
    return query->source_count;
}

wfre_name wfre_sparql_source(const wfre_sparql *query, size_t index, bool *named)
{
    *named = query->sources[index].named;
    return query->sources[index].name.text;
}

wfre_status wfre_sq_take_text(wfre_text *made, char **text, wfre_error *error)
{
    wfre_status status = wfre_text_status(made, "writing SPARQL", error);
    if (status == WFRE_OK) {
        *text = made->data;
        *made = (wfre_text){0};
    }
    wfre_text_free(made);
    return status;
}
