/* The evaluator of SPARQL: the bytes choose among the rules of a grammar, so that nearly every
 * input is a query. It is run on a small graph with a model, plainly and with predictions behind
 * its rows, and made a formula and SPARQL again. */
#include "base/text.h"
#include "small_graph.h"
#include "sparql_graph.h"
#include "wfre/sparql.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

typedef struct maker {
    const uint8_t *bytes;
    size_t length, at;
    unsigned depth;
    wfre_text text;
} maker;

static unsigned choose(maker *m, unsigned count)
{
    return m->at < m->length ? m->bytes[m->at++] % count : 0;
}

static void add(maker *m, const char *text)
{
    wfre_text_add(&m->text, text);
    wfre_text_char(&m->text, ' ');
}

static void variable(maker *m)
{
    static const char *const NAMES[] = {"?a", "?b", "?c", "?d"};
    add(m, NAMES[choose(m, 4)]);
}

static void term(maker *m)
{
    static const char *const TERMS[] = {":a",  ":b",  ":c",      ":d",         "30",
                                        "2.5", "1e2", "\"Bob\"", "\"Bob\"@en", "true"};
    if (choose(m, 3))
        variable(m);
    else
        add(m, TERMS[choose(m, 10)]);
}

static void path(maker *m)
{
    static const char *const LINKS[] = {":p", ":q", ":r", ":name", ":age", "!:p", "!(:p|^:q)"};
    static const char *const ENDS[] = {"", "*", "+", "?"};
    unsigned kind = m->depth < 4 ? choose(m, 5) : 0;
    m->depth++;
    if (kind < 2) {
        add(m, LINKS[choose(m, 7)]);
    } else if (kind < 4) {
        add(m, kind == 2 ? "(" : "^(");
        path(m);
        add(m, choose(m, 2) ? "/" : "|");
        path(m);
        add(m, ")");
    } else {
        add(m, "(");
        path(m);
        wfre_text_char(&m->text, ')');
        add(m, ENDS[choose(m, 4)]);
    }
    m->depth--;
}

static void value(maker *m)
{
    static const char *const CALLS[] = {"STR(",  "ABS(",   "LANG(",   "DATATYPE(", "UCASE(",
                                        "YEAR(", "ROUND(", "STRLEN(", "MD5(",      "isBlank("};
    static const char *const SIGNS[] = {"+", "-", "*", "/", "=", "!=", "<", ">=", "&&", "||"};
    unsigned kind = m->depth < 6 ? choose(m, 4) : 0;
    m->depth++;
    if (kind < 2) {
        term(m);
    } else if (kind == 2) {
        add(m, CALLS[choose(m, 10)]);
        value(m);
        add(m, ")");
    } else {
        add(m, "(");
        value(m);
        add(m, SIGNS[choose(m, 10)]);
        value(m);
        add(m, ")");
    }
    m->depth--;
}

static void group(maker *m);

static void choose_select(maker *m)
{
    static const char *const AGGREGATES[] = {
        "COUNT(*)", "COUNT(DISTINCT ?a)", "SUM(?b)",         "MIN(?a)", "MAX(?b)",
        "AVG(?c)",  "SAMPLE(?a)",         "GROUP_CONCAT(?b)"};
    unsigned kind = choose(m, 4);
    if (kind == 0) {
        add(m, "SELECT ?a (");
        add(m, AGGREGATES[choose(m, 8)]);
        add(m, "AS ?n)");
        group(m);
        add(m, "GROUP BY ?a");
    } else {
        add(m, kind == 1 ? "SELECT *" : kind == 2 ? "SELECT DISTINCT ?a ?b" : "SELECT ?a");
        group(m);
    }
    if (choose(m, 3) == 2)
        add(m, "ORDER BY DESC(?a)");
    if (choose(m, 4) == 3)
        add(m, "LIMIT 3 OFFSET 1");
}

static void part(maker *m)
{
    static const char *const WORDS[] = {
        "OPTIONAL",          "MINUS", "FILTER NOT EXISTS", "FILTER EXISTS", "GRAPH ?g",
        "GRAPH <http://x/>", ""};
    switch (m->depth < 5 ? choose(m, 8) : 0) {
    case 1:
        add(m, WORDS[choose(m, 7)]);
        group(m);
        break;
    case 2:
        group(m);
        add(m, "UNION");
        group(m);
        break;
    case 3:
        add(m, "FILTER(");
        value(m);
        add(m, ")");
        break;
    case 4:
        add(m, "VALUES (?a ?c) { (:a UNDEF) (:b 30) }");
        break;
    case 5:
        add(m, "{");
        choose_select(m);
        add(m, "}");
        break;
    case 6:
        add(m, "SERVICE wfre:predict { [] wfre:answer ?a ; wfre:probability ?p ; wfre:top 2 .");
        group(m);
        add(m, "}");
        break;
    default:
        term(m);
        path(m);
        term(m);
        add(m, ".");
    }
}

static void group(maker *m)
{
    m->depth++;
    add(m, "{");
    for (unsigned i = choose(m, 4) + 1; i > 0; i--)
        part(m);
    add(m, "}");
    m->depth--;
}

static wfre_status drop(void *context, const char *bytes, size_t length, wfre_error *error)
{
    (void)context, (void)bytes, (void)length, (void)error;
    return WFRE_OK;
}

static void convert(const wfre_sparql *query, const wfre_rdf_view *view)
{
    wfre_query *formula = NULL;
    char *text = NULL;
    if (wfre_sparql_to_query(query, view, &formula, NULL) == WFRE_OK)
        (void)!wfre_sparql_from_query(formula, view, NULL, &text, NULL);
    wfre_string_free(text);
    wfre_query_free(formula);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    static wfre_graph *graph;
    static wfre_rdf_view *view;
    static wfre_session *session;
    if (!graph) {
        wfre_model_settings settings;
        wfre_model *model;
        wfre_engine *engine;
        wfre_model_settings_default(&settings);
        settings.dim = 20;
        graph = sparql_graph();
        must(graph != NULL);
        must(wfre_rdf_view_open(graph, WFRE_TEST, &view, NULL) == WFRE_OK);
        must(wfre_model_create(graph, &settings, 1, &model, NULL) == WFRE_OK);
        must(wfre_engine_open(graph, model, NULL, NULL, NULL, &engine, NULL) == WFRE_OK);
        must(wfre_session_create(engine, NULL, &session, NULL) == WFRE_OK);
    }
    maker m = {.bytes = bytes, .length = length};
    add(&m, "PREFIX wfre: <urn:wfre:ns#> PREFIX : <http://x/>");
    unsigned form = choose(&m, 6);
    add(&m, form == 1 ? "ASK" : form == 2 ? "CONSTRUCT { ?a :made ?b }" : "");
    if (form == 1 || form == 2) {
        add(&m, form == 1 ? "" : "WHERE");
        group(&m);
    } else {
        choose_select(&m);
    }
    wfre_sparql *query = NULL;
    if (!m.text.failed &&
        wfre_sparql_parse(m.text.data, m.text.length, NULL, &query, NULL) == WFRE_OK) {
        const wfre_sparql_output output = {.write = drop};
        wfre_sparql_run_options options = {
            .limits = {.timeout = 0.5, .memory = 1 << 24, .rows = 1000},
            .session = session,
            .seed = 1};
        wfre_sparql_format format = form == 2 ? WFRE_SPARQL_NT : WFRE_SPARQL_JSON;
        (void)!wfre_sparql_write(query, view, &options, format, &output, NULL, NULL);
        options.predicted = true;
        (void)!wfre_sparql_write(query, view, &options, format, &output, NULL, NULL);
        convert(query, view);
    }
    wfre_sparql_free(query);
    wfre_text_free(&m.text);
    return 0;
}
