/* One request, from its first byte to its last answer byte, and what it is written into.
 *
 *   I/O thread                     worker
 *   reads, checks, queues    ──>   works; serve_write ... serve_end
 *   suspended                      resumed by the first 64 KB, or by the end
 *   sends              <──         goes on writing; waits if the reader is far behind
 *
 * A request has two owners: the connection, and the worker from the queue on. Its lock guards what
 * both touch: the output, `suspended` and `gone`. */
#ifndef WFRE_SERVE_REQUEST_H
#define WFRE_SERVE_REQUEST_H

#include <microhttpd.h>
#include <pthread.h>

#include "buffer.h"
#include "form.h"
#include "world.h"

typedef struct serve_server serve_server;
typedef struct serve_request serve_request;
typedef struct serve_worker serve_worker;
typedef struct serve_peer serve_peer;

enum { SERVE_GET = 1, SERVE_POST = 2, SERVE_OPTIONS = 4 };

/* A row of the table in routes.c. */
typedef struct serve_route {
    const char *path;  /* "/api/entity/" with `rest`: what follows is the handler's */
    const char *label; /* in metrics and the log */
    unsigned methods;
    bool rest;
    bool open;  /* needs no token */
    bool quick; /* answered by the I/O thread; the handler then has no worker */
    bool batch; /* asks a question: those that wait together are answered together */
    void (*handle)(serve_request *request, serve_worker *worker);
} serve_route;

typedef struct serve_block serve_block;

struct serve_request {
    serve_server *server;
    struct MHD_Connection *connection;
    serve_peer *peer;
    const serve_route *route;
    unsigned method;
    bool head; /* a GET without the body of its answer */
    char *uri; /* as it came */
    char *path;
    serve_form query;
    serve_buffer body;
    bool body_too_large;
    bool form_body; /* the body is a form, already read into `form` */
    serve_form form;
    double received; /* when all of it was there, and then: when a worker began, when it ended */
    double begun, done;
    double deadline;
    bool admitted, dispatched, queued;
    bool refused;     /* answered before all of it was there */
    bool alone;       /* it was too slow for a batch */
    const char *note; /* for the log: why it ended so */

    /* The answer; headers are fixed when the output starts. */
    unsigned status;
    const char *type; /* of the content; a constant */
    char tag[80];     /* entity tag, or empty */
    bool vary_accept;
    bool page; /* an asset of the page, with its security headers */
    bool precompressed;
    const char *fixed; /* a constant answer instead of the output */
    size_t fixed_length;

    pthread_mutex_t lock;
    pthread_cond_t taken;
    int owners;
    bool suspended, gone, started, ended, broken;
    bool compress;
    void *deflate;
    serve_block *first, *last;
    size_t held;   /* bytes in the blocks */
    size_t offset; /* of the first block, sent already */
    uint64_t wrote, sent;
    uint64_t rows;
};

/* NULL without memory. */
serve_request *serve_request_create(serve_server *server, struct MHD_Connection *connection,
                                    const char *uri);
void serve_request_release(serve_request *request);

/* A header of the request, or NULL. */
const char *serve_header(const serve_request *request, const char *name);
/* A parameter of the query string, else of a form in the body. */
const char *serve_parameter(const serve_request *request, const char *name);
/* Whole numbers within bounds; false, having answered 400, if it is there and is none. */
bool serve_parameter_number(serve_request *request, const char *name, uint64_t fallback,
                            uint64_t most, uint64_t *number);
bool serve_parameter_real(serve_request *request, const char *name, double fallback, double most,
                          double *number);

/* ---- answering ---------------------------------------------------------------------------- */

/* Begins the answer, before the first byte of it; to be followed by writes and serve_end. */
void serve_begin(serve_request *request, unsigned status, const char *type);
/* False once nobody reads any more, or the reader is too slow: the work may stop. */
bool serve_write(serve_request *request, const char *bytes, size_t length);
void serve_end(serve_request *request);
/* The output is not whole: an error if nothing was sent yet, else a connection that breaks off. */
void serve_end_broken(serve_request *request, const wfre_error *error);

/* All at once. The buffer is emptied. */
void serve_answer(serve_request *request, unsigned status, const char *type, serve_buffer *buffer);
/* {"error":{"code","message"}} */
WFRE_PRINTF(4, 5)
void serve_refuse(serve_request *request, unsigned status, const char *code, const char *format,
                  ...);
/* The same by a failure of the library, with its offset and the nearest names. */
void serve_fail(serve_request *request, const wfre_error *error);
/* The entity tag of an answer that depends on the world, the address and `variant`. True, having
 * answered 304, if the client has it already. */
bool serve_tag(serve_request *request, serve_world *world, const char *variant);

/* Whether the client closed its connection. */
bool serve_is_gone(serve_request *request);

extern const char SERVE_JSON[], SERVE_TEXT[];

#endif
