/* Missing triples as lines of text. */
#include <math.h>

#include "answer/json.h"
#include "graph/rdf_write.h"
#include "wfre/everyday.h"

const char *wfre_triples_format_name(wfre_triples_format format)
{
    static const char *const NAMES[] = {"tsv", "nt", "jsonl"};
    return NAMES[format];
}

/* ---- TSV ---------------------------------------------------------------------------------- */

static void add_field(wfre_text *text, wfre_name name)
{
    for (size_t i = 0; i < name.length; i++) {
        char c = name.bytes[i];
        if (c == '\t' || c == '\n' || c == '\r' || c == '\\')
            wfre_text_format(text, "\\%c",
                             c == '\t'   ? 't'
                             : c == '\n' ? 'n'
                             : c == '\r' ? 'r'
                                         : '\\');
        else
            wfre_text_char(text, c);
    }
    wfre_text_char(text, '\t');
}

static void add_tsv(wfre_text *text, const wfre_graph *graph, const wfre_missing_triple *t)
{
    add_field(text, wfre_graph_entity_name(graph, t->head));
    add_field(text, wfre_graph_relation_name(graph, t->relation));
    add_field(text, wfre_graph_entity_name(graph, t->tail));
    if (isfinite(t->probability))
        wfre_text_format(text, "%.4g", t->probability);
    wfre_text_char(text, '\n');
}

/* ---- JSON --------------------------------------------------------------------------------- */

static void add_json(wfre_text *text, const wfre_graph *graph, const wfre_missing_triple *t)
{
    wfre_name head = wfre_graph_entity_name(graph, t->head);
    wfre_text_add(text, "{\"head\":");
    wfre_text_json(text, head.bytes, head.length);
    wfre_json_name(text, "relation", wfre_graph_relation_name(graph, t->relation));
    wfre_json_name(text, "tail", wfre_graph_entity_name(graph, t->tail));
    wfre_json_number(text, "probability", t->probability);
    wfre_json_number(text, "score", t->score);
    wfre_text_add(text, "}\n");
}

/* ---- N-Triples ---------------------------------------------------------------------------- */

typedef struct writer {
    const wfre_rdf *rdf;
    wfre_text scratch;
} writer;

static wfre_status add_term(writer *w, wfre_text *text, wfre_rdf_id id, wfre_error *error)
{
    wfre_rdf_value value;
    CHECK(wfre_rdf_get(w->rdf, id, &w->scratch, &value, error));
    wfre_rdf_append(text, &value);
    wfre_text_char(text, ' ');
    return WFRE_OK;
}

static wfre_status add_nt(writer *w, wfre_text *text, const wfre_missing_triple *t,
                          wfre_error *error)
{
    CHECK(add_term(w, text, t->head, error));
    CHECK(add_term(w, text, wfre_rdf_relation_term(w->rdf, t->relation), error));
    CHECK(add_term(w, text, t->tail, error));
    wfre_text_char(text, '.');
    if (isfinite(t->probability))
        wfre_text_format(text, " # %.4g", t->probability);
    wfre_text_char(text, '\n');
    return WFRE_OK;
}

wfre_status wfre_missing_triples_print(const wfre_graph *graph, const wfre_missing_triple *triples,
                                       size_t count, wfre_triples_format format, char **result,
                                       size_t *length, wfre_error *error)
{
    GIVEN(graph);
    GIVEN(result);
    GIVEN(length);
    wfre_status status = WFRE_OK;
    wfre_rdf *rdf = NULL;
    writer w = {0};
    wfre_text text = {0};
    if (format == WFRE_TRIPLES_NT)
        TRY(wfre_rdf_open(graph, WFRE_TEST, &rdf, error));
    w.rdf = rdf;
    wfre_text_add(&text, "");
    for (size_t i = 0; i < count; i++)
        if (format == WFRE_TRIPLES_NT)
            TRY(add_nt(&w, &text, &triples[i], error));
        else
            (format == WFRE_TRIPLES_TSV ? add_tsv : add_json)(&text, graph, &triples[i]);
    TRY(wfre_text_status(&text, "writing triples", error));
    TRY(wfre_graph_sound(graph, error));
    *result = text.data;
    *length = text.length;
    text.data = NULL;
cleanup:
    wfre_rdf_close(rdf);
    wfre_text_free(&w.scratch);
    wfre_text_free(&text);
    return status;
}
