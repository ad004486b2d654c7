/* The SPARQL 1.1 Protocol: GET and both kinds of POST, the choice of a format, the graphs that a
 * request names, results that stream, and the description of the service. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "question.h"
#include "routes.h"

/* ---- formats ------------------------------------------------------------------------------ */

typedef struct format {
    const char *type; /* an Accept header's */
    wfre_sparql_format format;
} format;

/* In the order of our own liking; several media types may mean one format. */
static const format TABLES[] = {
    {"application/sparql-results+json", WFRE_SPARQL_JSON},
    {"application/json", WFRE_SPARQL_JSON},
    {"application/sparql-results+xml", WFRE_SPARQL_XML},
    {"application/xml", WFRE_SPARQL_XML},
    {"text/xml", WFRE_SPARQL_XML},
    {"text/csv", WFRE_SPARQL_CSV},
    {"text/tab-separated-values", WFRE_SPARQL_TSV},
    {"text/plain", WFRE_SPARQL_TSV},
};
static const format GRAPHS[] = {
    {"text/turtle", WFRE_SPARQL_TTL},
    {"application/n-triples", WFRE_SPARQL_NT},
    {"application/x-turtle", WFRE_SPARQL_TTL},
    {"text/plain", WFRE_SPARQL_NT},
    {"text/n3", WFRE_SPARQL_TTL},
};
enum {
    TABLE_COUNT = sizeof TABLES / sizeof TABLES[0],
    GRAPH_COUNT = sizeof GRAPHS / sizeof GRAPHS[0]
};

/* What `format`, `output` or `results` ask for; they are words or media types. */
static const char *wanted_format(const serve_request *request)
{
    static const char *const NAMES[] = {"format", "output", "results", "outputFormat"};
    for (size_t i = 0; i < sizeof NAMES / sizeof NAMES[0]; i++) {
        const char *value = serve_parameter(request, NAMES[i]);
        if (value && *value)
            return value;
    }
    return NULL;
}

static bool format_of_word(const char *word, bool graph, wfre_sparql_format *chosen)
{
    static const struct {
        const char *word;
        wfre_sparql_format format;
    } WORDS[] = {{"json", WFRE_SPARQL_JSON},    {"xml", WFRE_SPARQL_XML},
                 {"csv", WFRE_SPARQL_CSV},      {"tsv", WFRE_SPARQL_TSV},
                 {"turtle", WFRE_SPARQL_TTL},   {"ttl", WFRE_SPARQL_TTL},
                 {"n3", WFRE_SPARQL_TTL},       {"nt", WFRE_SPARQL_NT},
                 {"n-triples", WFRE_SPARQL_NT}, {"ntriples", WFRE_SPARQL_NT}};
    const format *list = graph ? GRAPHS : TABLES;
    for (size_t i = 0; i < (graph ? GRAPH_COUNT : TABLE_COUNT); i++)
        if (strcmp(list[i].type, word) == 0) {
            *chosen = list[i].format;
            return true;
        }
    for (size_t i = 0; i < sizeof WORDS / sizeof WORDS[0]; i++)
        if (strcmp(WORDS[i].word, word) == 0 && (WORDS[i].format >= WFRE_SPARQL_NT) == graph) {
            *chosen = WORDS[i].format;
            return true;
        }
    return false;
}

/* The format, and the media type to answer with. False, having answered 406, if there is none. */
static bool choose(serve_request *request, bool graph, wfre_sparql_format *chosen,
                   const char **type)
{
    const char *offered[TABLE_COUNT > GRAPH_COUNT ? TABLE_COUNT : GRAPH_COUNT];
    const format *list = graph ? GRAPHS : TABLES;
    size_t count = graph ? GRAPH_COUNT : TABLE_COUNT;
    const char *word = wanted_format(request);
    request->vary_accept = true;
    if (word && format_of_word(word, graph, chosen)) {
        *type = wfre_sparql_format_media_type(*chosen);
        return true;
    }
    for (size_t i = 0; i < count; i++)
        offered[i] = list[i].type;
    int best = serve_negotiate(serve_header(request, "Accept"), offered, count);
    if (best >= 0) {
        *chosen = list[best].format;
        *type = list[best].type;
        return true;
    }
    serve_refuse(request, MHD_HTTP_NOT_ACCEPTABLE, "format",
                 graph ? "a graph is written as text/turtle or application/n-triples"
                       : "results are written as application/sparql-results+json, "
                         "application/sparql-results+xml, text/csv or text/tab-separated-values");
    return false;
}

/* ---- the query ---------------------------------------------------------------------------- */

typedef struct asked {
    const char *text;
    size_t length;
    bool predicted;
    const char **graphs; /* default graphs, then named ones */
    size_t defaults, named;
} asked;

/* Finds the text of the query. False, having answered, if there is not exactly one; `*none` if it
 * is a GET without any, which asks for the description. */
static bool find_text(serve_request *request, asked *a, bool *none)
{
    const char *type = serve_header(request, "Content-Type");
    bool post = request->method == SERVE_POST;
    bool body = post && serve_is_type(type, "application/sparql-query");
    size_t times = serve_form_times(&request->query, "query") +
                   serve_form_times(&request->form, "query") + body;
    *none = false;
    if (post && !body && !request->form_body) {
        serve_refuse(request, MHD_HTTP_UNSUPPORTED_MEDIA_TYPE, "type",
                     "POST takes application/sparql-query or application/x-www-form-urlencoded");
    } else if (serve_parameter(request, "update") ||
               (post && serve_is_type(type, "application/sparql-update"))) {
        serve_refuse(request, MHD_HTTP_BAD_REQUEST, "unsupported", "nothing here can be updated");
    } else if (times > 1) {
        serve_refuse(request, MHD_HTTP_BAD_REQUEST, "argument", "there is more than one query");
    } else if (times == 0 && !post) {
        *none = true;
        return true;
    } else if (times == 0) {
        serve_refuse(request, MHD_HTTP_BAD_REQUEST, "argument", "there is no query");
    } else {
        a->text = body ? request->body.bytes : serve_parameter(request, "query");
        a->length = body ? request->body.length : strlen(a->text);
        if (!a->text)
            a->text = "";
        return true;
    }
    return false;
}

/* Lists the values of one parameter. */
static size_t collect(const serve_request *request, const char *name, const char **values)
{
    size_t count = 0;
    const serve_form *const forms[] = {&request->query, &request->form};
    for (size_t f = 0; f < 2; f++)
        for (size_t i = 0; i < forms[f]->count; i++)
            if (strcmp(forms[f]->pairs[i].name, name) == 0)
                values[count++] = forms[f]->pairs[i].value;
    return count;
}

/* The graphs that the protocol names; urn:wfre:predicted is a wish, not a graph. */
static bool find_graphs(serve_request *request, asked *a)
{
    a->graphs = calloc(request->query.count + request->form.count + 1, sizeof *a->graphs);
    if (!a->graphs) {
        serve_refuse(request, MHD_HTTP_SERVICE_UNAVAILABLE, "memory", "out of memory");
        return false;
    }
    size_t all = collect(request, "default-graph-uri", a->graphs);
    for (size_t i = 0; i < all; i++)
        if (strcmp(a->graphs[i], WFRE_SPARQL_PREDICTED) == 0)
            a->predicted = true;
        else
            a->graphs[a->defaults++] = a->graphs[i];
    a->named = collect(request, "named-graph-uri", a->graphs + a->defaults);
    return true;
}

/* ---- running ------------------------------------------------------------------------------ */

static wfre_status send_rows(void *context, const char *bytes, size_t length, wfre_error *error)
{
    serve_request *request = context;
    if (serve_write(request, bytes, length))
        return WFRE_OK;
    *error = (wfre_error){.code = WFRE_ERR_INTERRUPTED, .offset = WFRE_NO_OFFSET};
    (void)snprintf(error->message, sizeof error->message, "nobody reads the results any more");
    return error->code;
}

/* Whether the same query may have other results the next time. */
static bool is_fickle(const char *text)
{
    static const char *const WORDS[] = {"now", "rand", "uuid", "bnode"};
    for (const char *at = text; *at; at++)
        for (size_t i = 0; i < sizeof WORDS / sizeof WORDS[0]; i++)
            if (strncasecmp(at, WORDS[i], strlen(WORDS[i])) == 0)
                return true;
    return false;
}

static void run(serve_request *request, serve_worker *worker, const wfre_sparql *query, asked *a)
{
    const serve_options *options = request->server->options;
    const serve_world *world = worker->world;
    wfre_sparql_form form = wfre_sparql_get_form(query);
    wfre_sparql_format chosen;
    const char *type;
    uint64_t top;
    double threshold;
    wfre_error error;
    if (!choose(request, form == WFRE_SPARQL_CONSTRUCT || form == WFRE_SPARQL_DESCRIBE, &chosen,
                &type) ||
        !serve_parameter_number(request, "top", 0, 100000, &top) ||
        !serve_parameter_real(request, "threshold", 0, 1, &threshold) ||
        (!is_fickle(a->text) && serve_tag(request, worker->world, type)))
        return;
    const wfre_sparql_output output = {.write = send_rows, .context = request};
    const wfre_sparql_run_options how = {.limits = {.timeout = serve_left(request),
                                                    .memory = options->memory,
                                                    .rows = options->rows},
                                         .session = world->model ? worker->session : NULL,
                                         .cancel = worker->cancel,
                                         .predicted = a->predicted,
                                         .top = top,
                                         .threshold = threshold,
                                         .default_graphs = a->graphs,
                                         .default_graph_count = a->defaults,
                                         .named_graphs = a->graphs + a->defaults,
                                         .named_graph_count = a->named};
    serve_begin(request, MHD_HTTP_OK, type);
    if (wfre_sparql_write(query, world->view, &how, chosen, &output, &request->rows, &error) ==
        WFRE_OK)
        serve_end(request);
    else
        serve_end_broken(request, &error);
}

/* ---- the description ---------------------------------------------------------------------- */

/* Whether it can stand in an IRI: letters, digits, and what an address or a port has. */
static bool is_host(const char *host)
{
    for (; *host; host++)
        if (!((*host | 32) >= 'a' && (*host | 32) <= 'z') && !strchr("0123456789.-_:[]", *host))
            return false;
    return true;
}

static void describe(serve_request *request, serve_worker *worker)
{
    serve_buffer buffer = {0};
    wfre_sparql_format chosen;
    const char *type, *host = serve_header(request, "Host");
    const char *word = serve_header(request, "Accept");
    char endpoint[400];
    char *text = NULL;
    wfre_error error;
    static const char *const PAGE[] = {"text/turtle", "application/n-triples", "text/html"};
    request->vary_accept = true;
    if (serve_negotiate(word, PAGE, 3) == 2 && !wanted_format(request)) {
        chosen = WFRE_SPARQL_TTL; /* a browser: as text */
        type = SERVE_TEXT;
    } else if (!choose(request, true, &chosen, &type)) {
        return;
    }
    const char *scheme = request->server->cert ? "https" : "http";
    if (host && strlen(host) < 255 && is_host(host))
        (void)snprintf(endpoint, sizeof endpoint, "%s://%s%s", scheme, host, request->path);
    else
        (void)snprintf(endpoint, sizeof endpoint, "%s%s", request->server->address, request->path);
    if (wfre_sparql_service(worker->world->view, endpoint, worker->world->model != NULL, chosen,
                            &text, &error) != WFRE_OK) {
        serve_fail(request, &error);
        return;
    }
    serve_put(&buffer, text);
    wfre_string_free(text);
    serve_answer(request, MHD_HTTP_OK, type, &buffer);
}

static void answer(serve_request *request, serve_worker *worker, bool predicted)
{
    asked a = {.predicted = predicted};
    wfre_sparql *query = NULL;
    wfre_error error;
    bool none;
    double timeout;
    if (!find_text(request, &a, &none))
        return;
    if (none) {
        describe(request, worker);
        return;
    }
    if (!find_graphs(request, &a) || !serve_parameter_real(request, "timeout", 0, 1e9, &timeout)) {
        free(a.graphs);
        return;
    }
    if (timeout > 0 && request->received + timeout < request->deadline)
        request->deadline = request->received + timeout;
    wfre_cancel_after(worker->cancel, serve_left(request));
    const wfre_sparql_options options = {
        .graph = worker->world->graph, .timeout = serve_left(request), .cancel = worker->cancel};
    if (wfre_sparql_parse(a.text, a.length, &options, &query, &error) == WFRE_OK)
        run(request, worker, query, &a);
    else
        serve_fail(request, &error);
    wfre_sparql_free(query);
    free(a.graphs);
}

void serve_sparql(serve_request *request, serve_worker *worker)
{
    answer(request, worker, false);
}

void serve_sparql_predicted(serve_request *request, serve_worker *worker)
{
    answer(request, worker, true);
}
