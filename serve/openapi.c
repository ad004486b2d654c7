/* GET /api/openapi.json: the API described for machines, made of the table below. */
#include <string.h>

#include "routes.h"
#include "server.h"

typedef struct operation {
    const char *path, *method, *summary;
    const char *parameters; /* "name type what it is" each, separated by '|'; '!' if it must be */
    const char *body;       /* JSON schema of a JSON body */
    const char *answer;     /* JSON schema, or "text" */
} operation;

#define REF(name) "{\"$ref\":\"#/components/schemas/" name "\"}"
#define LIST(of) "{\"type\":\"array\",\"items\":" of "}"
#define OBJECT(fields) "{\"type\":\"object\",\"properties\":{" fields "}}"
#define TEXT "{\"type\":\"string\"}"
#define MAYBE "{\"type\":[\"string\",\"null\"]}"
#define WHOLE "{\"type\":\"integer\"}"
#define REAL "{\"type\":[\"number\",\"null\"]}"
#define YES "{\"type\":\"boolean\"}"

#define SPARQL_PARAMETERS                                                                          \
    "query string the query; without it the service is described|default-graph-uri string a "      \
    "default graph, or urn:wfre:predicted|named-graph-uri string a named graph|format string "     \
    "json, xml, csv, tsv, turtle or nt, instead of Accept|timeout number seconds it may take"

static const operation OPERATIONS[] = {
    {"/api/info", "get",
     "What is served: graph, model and how good it is, limits, example questions.", "", NULL,
     OBJECT("\"version\":" TEXT ",\"graph\":{\"type\":\"object\"},\"model\":{\"type\":[\"object\","
            "\"null\"]},\"prefixes\":{\"type\":\"object\"},\"examples\":{\"type\":\"array\"},"
            "\"limits\":{\"type\":\"object\"}")},
    {"/api/ask", "post", "Answers a question: what the graph proves, and what the model predicts.",
     "", REF("Question"), REF("Answers")},
    {"/api/explain", "post", "Says why an entity is an answer.", "", REF("Question"),
     REF("Explanation")},
    {"/api/convert", "post", "A question as logic, operator tree, SPARQL, drawing and sentence.",
     "", REF("Question"), REF("Forms")},
    {"/api/complete", "get", "Names that go on with a text.",
     "text string what is typed|kind string entity, relation or any|after string a question: only "
     "relations that its answers have|limit integer at most so many",
     NULL, OBJECT("\"items\":" LIST(REF("Entity")))},
    {"/api/entity/{id}", "get", "All that is known of an entity.",
     "!id integer its number|limit integer examples for each relation", NULL,
     OBJECT("\"id\":" WHOLE ",\"name\":" TEXT ",\"label\":" TEXT ",\"iri\":" MAYBE
            ",\"attributes\":{\"type\":\"array\"},\"relations\":{\"type\":\"array\"}")},
    {"/api/entity/{id}/edges", "get", "Its edges by one relation, page by page.",
     "!id integer its number|relation integer the relation; odd: the inverse of the one before|"
     "offset integer how many to leave out|limit integer at most so many",
     NULL, OBJECT("\"total\":" WHOLE ",\"items\":" LIST(REF("Entity")))},
    {"/api/entity/{id}/missing", "get", "The likeliest edges that it lacks.",
     "!id integer its number|limit integer at most so many|min_probability number leave out less "
     "likely ones",
     NULL, OBJECT("\"items\":" LIST(REF("Triple")))},
    {"/api/around", "get", "The neighbourhood of an entity.",
     "!id integer its number|depth integer steps, up to 3|limit integer nodes, up to 500", NULL,
     OBJECT("\"nodes\":" LIST(REF("Entity")) ",\"edges\":{\"type\":\"array\"},\"cut\":" YES)},
    {"/api/score", "post", "How likely given triples are.", "",
     OBJECT("\"triples\":" LIST("{\"type\":\"array\",\"minItems\":3,\"maxItems\":3}")),
     OBJECT("\"items\":" LIST(
         OBJECT("\"status\":" TEXT ",\"probability\":" REAL ",\"score\":" REAL)))},
    {"/sparql", "get", "A SPARQL 1.1 query, by GET.", SPARQL_PARAMETERS, NULL, "text"},
    {"/sparql", "post", "A SPARQL 1.1 query, as a form or as application/sparql-query.",
     SPARQL_PARAMETERS, NULL, "text"},
    {"/sparql/predicted", "get", "The same, with predictions behind proven rows.",
     SPARQL_PARAMETERS "|top integer at most so many|threshold number none less likely", NULL,
     "text"},
    {"/healthz", "get", "Whether the server is there.", "", NULL, "text"},
    {"/metrics", "get", "Counters in Prometheus' text format.", "", NULL, "text"},
};

/* Each a field of components.schemas. */
static const char *const SCHEMAS[] = {
    "\"Error\":" OBJECT("\"error\":" OBJECT("\"code\":" TEXT ",\"message\":" TEXT
                                            ",\"offset\":" WHOLE ",\"suggestions\":" LIST(TEXT))),
    "\"Entity\":" OBJECT("\"id\":" WHOLE ",\"name\":" TEXT ",\"label\":" TEXT ",\"iri\":" MAYBE
                         ",\"description\":" TEXT),
    "\"Relation\":" OBJECT("\"id\":" WHOLE ",\"name\":" TEXT ",\"label\":" TEXT ",\"iri\":" MAYBE
                           ",\"inverse\":" YES),
    "\"Triple\":" OBJECT("\"head\":" REF("Entity") ",\"relation\":" REF(
        "Relation") ",\"tail\":" REF("Entity") ",\"probability\":" REAL
                                               ",\"missing_probability\":" REAL ",\"score\":" REAL),
    "\"Question\":" OBJECT(
        "\"question\":" TEXT ",\"drawing\":{\"type\":\"object\"},\"notation\":" TEXT
        ",\"top\":" WHOLE ",\"known\":" WHOLE ",\"known_offset\":" WHOLE
        ",\"min_probability\":{\"type\":\"number\"},\"missing_rate\":{\"type\":\"number\"},"
        "\"only\":{\"enum\":[\"both\",\"known\",\"predicted\"]},\"split\":{\"enum\":[\"train\","
        "\"valid\",\"test\"]},\"way\":{\"enum\":[\"model\",\"embedding\",\"edges\"]},"
        "\"timeout\":{\"type\":\"number\"},\"forms\":" YES ",\"entity\":" WHOLE),
    "\"Forms\":" OBJECT("\"logic\":" MAYBE ",\"tree\":" MAYBE ",\"sparql\":" MAYBE
                        ",\"drawing\":{\"type\":[\"object\",\"null\"]},\"sentence\":" MAYBE
                        ",\"not_a_tree\":" MAYBE),
    "\"Answers\":" OBJECT("\"kind\":{\"enum\":[\"answers\",\"table\"]},\"question\":" REF("Forms") ",\"variables\":" LIST(TEXT) ",\"known\":" OBJECT(
        "\"count\":" WHOLE ",\"complete\":" YES ",\"rows\":" LIST(LIST(REF(
            "Entity")))) ",\"predicted\":" LIST(OBJECT("\"row\":" LIST(REF("Entity")) ",\"probabili"
                                                                                      "ty\":" REAL
                                                                                      ",\"missing_"
                                                                                      "probability"
                                                                                      "\":" REAL
                                                                                      ",\"score\""
                                                                                      ":" REAL)) ","
                                                                                                 "\"unpredicted\":" MAYBE
                                                                                                 ","
                                                                                                 "\"holds\":" MAYBE
                                                                                                 ","
                                                                                                 "\"probability\":" REAL
                                                                                                 ","
                                                                                                 "\"seconds\":{\"type\":\"number\"}"),
    "\"Explanation\":" OBJECT("\"known\":" YES ",\"probability\":" REAL
                              ",\"variables\":{\"type\":\"array\"},\"edges\":" LIST(
                                  REF("Triple")) ",\"rule\":" MAYBE ",\"text\":" MAYBE),
};

static void put_parameter(serve_buffer *buffer, const char *text, size_t length)
{
    bool must = *text == '!';
    const char *name = text + must, *type = strchr(name, ' ') + 1;
    const char *about = strchr(type, ' ') + 1;
    serve_put(buffer, "{\"name\":");
    serve_put_string(buffer, name, (size_t)(type - name - 1));
    serve_put_format(buffer, ",\"in\":\"%s\",\"required\":%s,\"schema\":{\"type\":",
                     must && name[0] == 'i' && name[1] == 'd' ? "path" : "query",
                     must ? "true" : "false");
    serve_put_string(buffer, type, (size_t)(about - type - 1));
    serve_put(buffer, "},\"description\":");
    serve_put_string(buffer, about, length - (size_t)(about - text));
    serve_put(buffer, "}");
}

static void put_operation(serve_buffer *buffer, const operation *is)
{
    serve_put_format(buffer, "\"%s\":{\"summary\":", is->method);
    serve_put_text(buffer, is->summary);
    serve_put(buffer, ",\"parameters\":[");
    bool inside = strstr(is->path, "{id}") != NULL;
    for (const char *at = is->parameters; *at;) {
        size_t length = strcspn(at, "|");
        serve_put(buffer, at == is->parameters ? "" : ",");
        if (!inside && *at == '!') /* an id in the query */
            put_parameter(buffer, at + 1, length - 1);
        else
            put_parameter(buffer, at, length);
        at += length + (at[length] == '|');
    }
    serve_put(buffer, "]");
    if (is->body)
        serve_put_format(buffer,
                         ",\"requestBody\":{\"required\":true,\"content\":{\"application/"
                         "json\":{\"schema\":%s}}}",
                         is->body);
    bool text = strcmp(is->answer, "text") == 0;
    serve_put_format(buffer,
                     ",\"responses\":{\"200\":{\"description\":\"the answer\",\"content\":{"
                     "\"%s\":{\"schema\":%s}}},\"default\":{\"description\":\"an error\","
                     "\"content\":{\"application/json\":{\"schema\":" REF("Error") "}}}}}",
                     text ? "*/*" : "application/json", text ? TEXT : is->answer);
}

void serve_openapi(serve_request *request, serve_worker *worker)
{
    enum { COUNT = sizeof OPERATIONS / sizeof OPERATIONS[0] };
    serve_buffer buffer = {0};
    (void)worker;
    serve_put(&buffer, "{\"openapi\":\"3.1.0\",\"info\":{\"title\":\"wfre\",\"version\":");
    serve_put_text(&buffer, wfre_version());
    serve_put(&buffer, ",\"description\":\"Questions over a knowledge graph: what it proves, and "
                       "what a model predicts.\"},\"paths\":{");
    for (size_t i = 0; i < COUNT; i++) {
        bool same = i > 0 && strcmp(OPERATIONS[i].path, OPERATIONS[i - 1].path) == 0;
        if (!same)
            serve_put_format(&buffer, "%s\"%s\":{", i ? "}," : "", OPERATIONS[i].path);
        else
            serve_put(&buffer, ",");
        put_operation(&buffer, &OPERATIONS[i]);
    }
    serve_put(&buffer, "}},\"components\":{\"securitySchemes\":{\"token\":{\"type\":\"http\","
                       "\"scheme\":\"bearer\"}},\"schemas\":{");
    for (size_t i = 0; i < sizeof SCHEMAS / sizeof SCHEMAS[0]; i++) {
        serve_put(&buffer, i ? "," : "");
        serve_put(&buffer, SCHEMAS[i]);
    }
    serve_put(&buffer, "}},\"security\":[{},{\"token\":[]}]}\n");
    serve_answer(request, MHD_HTTP_OK, SERVE_JSON, &buffer);
}
