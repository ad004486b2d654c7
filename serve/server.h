/* The server: what all parts of it share. */
#ifndef WFRE_SERVE_SERVER_H
#define WFRE_SERVE_SERVER_H

#include "request.h"
#include "serve.h"

/* ---- the queue (queue.c) ------------------------------------------------------------------ */

/* Requests that wait for a worker, first come first served. */
typedef struct serve_queue {
    pthread_mutex_t lock;
    pthread_cond_t more;
    serve_request **ring;
    size_t capacity, first, count, questions; /* questions: those of them that can be batched */
    unsigned workers;
    bool closed;
} serve_queue;

bool serve_queue_create(serve_queue *queue, size_t capacity, unsigned workers);
void serve_queue_free(serve_queue *queue);
/* False if it is full or closed. */
bool serve_queue_push(serve_queue *queue, serve_request *request);
/* Waits for work: one request, or several questions that are answered together, at most `most`
 * and no more than this worker's share of those that wait. 0 once the queue is closed and empty. */
size_t serve_queue_take(serve_queue *queue, serve_request **batch, size_t most);
/* What waits is still handed out. */
void serve_queue_close(serve_queue *queue);
size_t serve_queue_length(serve_queue *queue);

/* ---- workers (worker.c) ------------------------------------------------------------------- */

enum { SERVE_BATCH = 64 };

struct serve_worker {
    serve_server *server;
    pthread_t thread;
    bool running;
    serve_world *world;
    wfre_session *session;
    wfre_cancel *cancel;
    serve_request *batch[SERVE_BATCH]; /* what it works on */
    size_t batch_count;
    double budget;       /* of serve_worker_clock: what several questions may take together */
    double usual;        /* of the same: what a question takes lately; 0: not known yet */
    atomic_size_t bytes; /* of the session */
    atomic_bool busy;
};

bool serve_workers_start(serve_server *server, wfre_error *error);
/* The queue must be closed. */
void serve_workers_join(serve_server *server);
/* Prepares the worker for requests: a session on what is served now, and the time limit of the
 * first. What waited too long is answered (`ended`). False, having answered all, if it cannot. */
bool serve_worker_enter(serve_worker *worker, serve_request **batch, size_t count);
/* Seconds of CPU that this thread has used. */
double serve_worker_clock(void);
/* Answers questions together (api_ask.c); and how many of them it should be given. */
void serve_ask_batch(serve_worker *worker, serve_request **batch, size_t count);
size_t serve_batch_size(const serve_worker *worker);
/* Seconds that the request has left, at least a little. */
double serve_left(const serve_request *request);

/* ---- connections (peers.c) ---------------------------------------------------------------- */

typedef enum serve_phase {
    SERVE_IDLE,      /* between requests */
    SERVE_RECEIVING, /* of a request's first byte, to its last */
    SERVE_WORKING,
    SERVE_SENDING
} serve_phase;

struct serve_peer {
    serve_peer *next, *previous;
    int socket;
    serve_phase phase;
    double since;    /* the phase began */
    double allowed;  /* seconds for it; 0: any number */
    unsigned excess; /* the status for what comes over it, if there are too many connections */
    bool loopback;
    char address[64];
};

typedef struct serve_peers {
    pthread_mutex_t lock;
    serve_peer *first;
    size_t count;
} serve_peers;

serve_peer *serve_peer_add(serve_server *server, struct MHD_Connection *connection);
void serve_peer_remove(serve_server *server, serve_peer *peer);
void serve_peer_phase(serve_server *server, serve_peer *peer, serve_phase phase, double allowed);
/* Cuts off those who take too long to send or to read. */
void serve_peers_sweep(serve_server *server);

/* ---- log and metrics ---------------------------------------------------------------------- */

typedef struct serve_log serve_log;
serve_log *serve_log_create(const serve_options *options);
void serve_log_free(serve_log *log);
void serve_log_request(serve_log *log, const serve_request *request);
WFRE_PRINTF(2, 3) void serve_log_event(serve_log *log, const char *format, ...);

typedef struct serve_metrics serve_metrics;
serve_metrics *serve_metrics_create(void);
void serve_metrics_free(serve_metrics *metrics);
void serve_metrics_request(serve_metrics *metrics, const serve_request *request);
void serve_metrics_batch(serve_metrics *metrics, size_t questions);
void serve_metrics_add(serve_metrics *metrics, const char *name, uint64_t more);
void serve_metrics_write(serve_server *server, serve_buffer *buffer);

/* ---- the server --------------------------------------------------------------------------- */

struct serve_server {
    const serve_options *options;
    struct MHD_Daemon *daemon;
    int listener;
    char address[300]; /* "http://127.0.0.1:7800" */
    bool guard_host;   /* only names of this machine are taken for Host */
    char *token, *cert, *key;
    size_t token_length;
    serve_queue queue;
    serve_worker *workers;
    unsigned worker_count;
    serve_peers peers;
    serve_log *log;
    serve_metrics *metrics;
    pthread_mutex_t world_lock;
    serve_world *world;
    atomic_size_t held;     /* bytes of answers that wait to be sent */
    atomic_size_t requests; /* under way */
    atomic_bool stopping;
    pthread_t watcher;
    bool watching;
    wfre_cancel *cancel; /* of loading */
};

/* The current one, for one more owner. */
serve_world *serve_current(serve_server *server);
double serve_clock(void);

/* http.c */
bool serve_http_start(serve_server *server, wfre_error *error);
void serve_http_quiesce(serve_server *server);
void serve_http_stop(serve_server *server);
/* listen.c: the listening socket; fills in listener, address and guard_host. */
bool serve_listen(serve_server *server, wfre_error *error);
/* routes.c */
const serve_route *serve_route_of(const char *path);

#endif
