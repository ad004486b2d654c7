/* `wfre serve`: HTTP for a graph and a model. The whole interface towards the command.
 *
 *   serve.h     options and the call that runs it
 *   server.c    start, swap, stop        http.c     libmicrohttpd and nobody else knows it
 *   listen.c    addresses                peers.c    connections, and who is too slow
 *   request.c   one request              output.c   its answer: blocks, gzip, back-pressure
 *   queue.c     what waits               worker.c   who works
 *   world.c     graph and model          routes.c   the table of addresses
 *   api_*.c     the JSON API             sparql.c   the SPARQL protocol
 *   form.c, buffer.c                     text in and out
 *
 * Only the public headers of the library are used. */
#ifndef WFRE_SERVE_H
#define WFRE_SERVE_H

#include "wfre.h"

typedef enum serve_log_format { SERVE_LOG_TEXT, SERVE_LOG_JSON, SERVE_LOG_NONE } serve_log_format;

typedef struct serve_options {
    const char *graph;
    const char *model;       /* or NULL */
    const char *listen;      /* "127.0.0.1:7800"; port 0 takes a free one */
    const char *token;       /* a file with the token that requests must show; NULL: none */
    bool everyone;           /* listen beyond this machine without a token */
    const char *cert, *key;  /* PEM files for TLS; or NULL */
    const char *web;         /* a folder to serve the page from instead of what is built in */
    const char *const *cors; /* origins whose pages may read answers; "*" for all */
    size_t cors_count;
    const char *const *hosts; /* names that this server has besides those of the machine */
    size_t host_count;
    unsigned workers; /* 0: one for each CPU */
    size_t queue;     /* requests that may wait */
    size_t batch;     /* questions that are answered together */
    size_t connections;
    size_t connections_each; /* of one address; 0: any number for this machine, else 128 */
    size_t header, body;     /* bytes */
    double timeout;          /* seconds a request */
    size_t memory;           /* bytes a session, and a SPARQL query besides */
    uint64_t rows;           /* of a result */
    double receive;          /* seconds to send a request in */
    serve_log_format log;
    bool log_questions;
    bool watch; /* load files anew when they change */
} serve_options;

void serve_options_default(serve_options *options);

/* Serves until SIGTERM or SIGINT, which this thread must have blocked, as well as SIGHUP. Calls
 * `ready` with the address once requests are answered. */
wfre_status serve_run(const serve_options *options,
                      void (*ready)(void *context, const char *address, const serve_options *how),
                      void *context, wfre_error *error);

#endif
