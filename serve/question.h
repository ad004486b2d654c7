/* The question of a request: its JSON, and the query that it means. */
#ifndef WFRE_SERVE_QUESTION_H
#define WFRE_SERVE_QUESTION_H

#include <jansson.h>

#include "server.h"

typedef struct serve_question {
    json_t *body;
    const char *text; /* as asked; a drawing as JSON */
    size_t length;
    char *drawing;
    wfre_notation notation;
    wfre_sparql *sparql; /* if it is SPARQL */
    wfre_query *query;   /* NULL if it is SPARQL that is not a question */
    wfre_way way;
    wfre_ask_options options; /* its way points to the one above */
    size_t known, known_offset;
} serve_question;

/* Reads a body that is a JSON object. NULL, having answered, if it is none. */
json_t *serve_json_body(serve_request *request);
/* Fields of an object; false, having answered 400, if it is there and is something else. */
bool serve_json_number(serve_request *request, const json_t *object, const char *name,
                       double fallback, double most, double *number);
/* One of the words, NULL at their end; its index. */
bool serve_json_word(serve_request *request, const json_t *object, const char *name,
                     const char *const *words, size_t fallback, size_t *index);

/* Reads body and options: what can be wrong with them is answered (false). */
bool serve_question_read(serve_request *request, serve_worker *worker, serve_question *question);
/* Makes the query of the text. A SPARQL query that no formula can say has none, and `error` then
 * says why. */
wfre_status serve_question_parse(serve_question *question, serve_request *request,
                                 serve_worker *worker, wfre_error *error);
void serve_question_free(serve_question *question);

/* {"logic":...,"tree":...,"sparql":...,"drawing":...,"sentence":...,"not_a_tree":...} */
void serve_put_forms(serve_buffer *buffer, const serve_world *world,
                     const serve_question *question);
/* ["x","y"] */
void serve_put_variables(serve_buffer *buffer, const wfre_query *query);
/* {"id":5,"name":"...","label":"...","iri":"...","description":"..."}; the description only of what
 * has one. */
void serve_put_entity(serve_buffer *buffer, const serve_world *world, wfre_entity entity);
/* {"id":4,"name":"...","label":"...","iri":"...","inverse":false} */
void serve_put_relation(serve_buffer *buffer, const serve_world *world, wfre_relation relation);
/* The fields of a triple's objects: "head":{},"relation":{},"tail":{}; of the forward relation. */
void serve_put_triple(serve_buffer *buffer, const serve_world *world, wfre_entity head,
                      wfre_relation relation, wfre_entity tail);
/* The status of one question as an error. */
wfre_error serve_answers_error(const wfre_answers *answers);

#endif
