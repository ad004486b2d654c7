/* All addresses, one row each. */
#include "routes.h"

#include <string.h>

#include "server.h"

enum { GET = SERVE_GET, POST = SERVE_POST, BOTH = SERVE_GET | SERVE_POST };

static const serve_route ROUTES[] = {
    {"/healthz", "healthz", GET, .open = true, .quick = true, .handle = serve_health},
    {"/metrics", "metrics", GET, .quick = true, .handle = serve_show_metrics},
    {"/api/openapi.json", "openapi", GET, .open = true, .quick = true, .handle = serve_openapi},
    {"/api/ask", "ask", POST, .batch = true, .handle = serve_ask},
    {"/api/explain", "explain", POST, .handle = serve_explain},
    {"/api/convert", "convert", POST, .handle = serve_convert},
    {"/api/complete", "complete", GET, .handle = serve_complete},
    {"/api/entity/", "entity", GET, .rest = true, .handle = serve_entity},
    {"/api/around", "around", GET, .handle = serve_around},
    {"/api/score", "score", POST, .handle = serve_score},
    {"/api/info", "info", GET, .handle = serve_info},
    {"/sparql", "sparql", BOTH, .handle = serve_sparql},
    {"/sparql/predicted", "sparql_predicted", BOTH, .handle = serve_sparql_predicted},
    {"/", "page", GET, .open = true, .quick = true, .handle = serve_page},
    {"/assets/", "assets", GET, .rest = true, .open = true, .quick = true, .handle = serve_page},
};
enum { COUNT = sizeof ROUTES / sizeof ROUTES[0] };
_Static_assert((int)COUNT <= (int)SERVE_MOST_ROUTES, "the metrics have too few rows");

const serve_route *serve_route_of(const char *path)
{
    for (size_t i = 0; i < COUNT; i++) {
        size_t length = strlen(ROUTES[i].path);
        if (ROUTES[i].rest ? strncmp(path, ROUTES[i].path, length) == 0
                           : strcmp(path, ROUTES[i].path) == 0)
            return &ROUTES[i];
    }
    return NULL;
}

size_t serve_route_index(const serve_route *route)
{
    return route ? (size_t)(route - ROUTES) : SERVE_MOST_ROUTES;
}

const char *serve_route_label(size_t index)
{
    return index < COUNT ? ROUTES[index].label : "none";
}
