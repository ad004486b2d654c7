/* The table of addresses, for what counts by it; and the handlers that stand in it. */
#ifndef WFRE_SERVE_ROUTES_H
#define WFRE_SERVE_ROUTES_H

#include "request.h"

enum { SERVE_MOST_ROUTES = 24 };

/* Below SERVE_MOST_ROUTES; that for no route at all. */
size_t serve_route_index(const serve_route *route);
const char *serve_route_label(size_t index);

/* Quick ones: no worker. */
void serve_health(serve_request *request, serve_worker *worker);
void serve_show_metrics(serve_request *request, serve_worker *worker);
void serve_openapi(serve_request *request, serve_worker *worker);
void serve_page(serve_request *request, serve_worker *worker);

void serve_ask(serve_request *request, serve_worker *worker);
void serve_explain(serve_request *request, serve_worker *worker);
void serve_convert(serve_request *request, serve_worker *worker);
void serve_complete(serve_request *request, serve_worker *worker);
void serve_entity(serve_request *request, serve_worker *worker);
void serve_around(serve_request *request, serve_worker *worker);
void serve_score(serve_request *request, serve_worker *worker);
void serve_info(serve_request *request, serve_worker *worker);
void serve_sparql(serve_request *request, serve_worker *worker);
void serve_sparql_predicted(serve_request *request, serve_worker *worker);

#endif
