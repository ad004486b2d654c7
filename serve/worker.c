/* Workers: each has a session, and takes from the queue what waits. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "server.h"

static const double SHORTEST = 1e-3; /* seconds: 0 would be no limit */

double serve_left(const serve_request *request)
{
    return fmax(request->deadline - serve_clock(), SHORTEST);
}

double serve_worker_clock(void)
{
    struct timespec used;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    return (double)used.tv_sec + 1e-9 * (double)used.tv_nsec;
}

/* Asked by whatever runs, every few milliseconds: whether it is in vain, all its clients having
 * left. Several questions also end when they have had their time together. */
static bool is_in_vain(void *context)
{
    serve_worker *worker = context;
    if (worker->batch_count > 1 && serve_worker_clock() > worker->budget)
        return true;
    for (size_t i = 0; i < worker->batch_count; i++)
        if (!serve_is_gone(worker->batch[i]))
            return false;
    return worker->batch_count > 0;
}

/* A session on what is served now. */
static wfre_status enter_world(serve_worker *worker, wfre_error *error)
{
    serve_world *now = serve_current(worker->server);
    if (now == worker->world && worker->session) {
        serve_world_unref(now);
        return WFRE_OK;
    }
    wfre_session_free(worker->session);
    serve_world_unref(worker->world);
    worker->session = NULL;
    worker->world = now;
    const wfre_session_options options = {.bytes = worker->server->options->memory};
    return wfre_session_create(now->engine, &options, &worker->session, error);
}

bool serve_worker_enter(serve_worker *worker, serve_request **batch, size_t count)
{
    wfre_error error;
    double now = serve_clock();
    wfre_status status = enter_world(worker, &error);
    for (size_t i = 0; i < count; i++) {
        batch[i]->begun = now;
        if (status != WFRE_OK)
            serve_fail(batch[i], &error);
        else if (now > batch[i]->deadline)
            serve_refuse(batch[i], MHD_HTTP_SERVICE_UNAVAILABLE, "busy",
                         "the request waited for a worker as long as it may take");
    }
    wfre_cancel_reset(worker->cancel);
    wfre_cancel_after(worker->cancel, serve_left(batch[0]));
    return status == WFRE_OK;
}

/* Ends a request whose client is not there any more. */
static bool is_left(serve_request *request)
{
    if (!serve_is_gone(request))
        return false;
    request->note = "client left";
    request->status = MHD_HTTP_SERVICE_UNAVAILABLE;
    request->fixed = "";
    serve_end(request);
    return true;
}

static void work(serve_worker *worker, serve_request **batch, size_t count)
{
    if (batch[0]->route->batch) {
        serve_ask_batch(worker, batch, count);
        return;
    }
    worker->batch[0] = batch[0];
    worker->batch_count = 1;
    if (serve_worker_enter(worker, batch, 1) && !batch[0]->ended)
        batch[0]->route->handle(batch[0], worker);
    worker->batch_count = 0;
}

static void *run(void *context)
{
    serve_worker *worker = context;
    serve_request *batch[SERVE_BATCH];
    size_t count;
    while ((count = serve_queue_take(&worker->server->queue, batch, serve_batch_size(worker))) >
           0) {
        size_t here = 0;
        for (size_t i = 0; i < count; i++)
            if (is_left(batch[i]))
                serve_request_release(batch[i]);
            else
                batch[here++] = batch[i];
        atomic_store(&worker->busy, true);
        if (here > 0)
            work(worker, batch, here);
        atomic_store(&worker->busy, false);
        if (worker->session)
            atomic_store(&worker->bytes, wfre_session_bytes(worker->session));
        for (size_t i = 0; i < here; i++)
            if (batch[i]) {
                batch[i]->done = serve_clock();
                serve_request_release(batch[i]);
            }
    }
    return NULL;
}

bool serve_workers_start(serve_server *server, wfre_error *error)
{
    server->workers = calloc(server->worker_count, sizeof *server->workers);
    for (unsigned i = 0; server->workers && i < server->worker_count; i++) {
        serve_worker *worker = &server->workers[i];
        worker->server = server;
        if (wfre_cancel_create(&worker->cancel, error) != WFRE_OK)
            return false;
        wfre_cancel_watch(worker->cancel, is_in_vain, worker);
        worker->running = pthread_create(&worker->thread, NULL, run, worker) == 0;
        if (!worker->running)
            break;
    }
    if (server->workers && server->workers[server->worker_count - 1].running)
        return true;
    *error = (wfre_error){.code = WFRE_ERR_MEMORY, .offset = WFRE_NO_OFFSET};
    (void)snprintf(error->message, sizeof error->message, "the workers cannot be started");
    return false;
}

void serve_workers_join(serve_server *server)
{
    for (unsigned i = 0; server->workers && i < server->worker_count; i++) {
        serve_worker *worker = &server->workers[i];
        if (worker->running)
            pthread_join(worker->thread, NULL);
        wfre_session_free(worker->session);
        serve_world_unref(worker->world);
        wfre_cancel_free(worker->cancel);
    }
    free(server->workers);
    server->workers = NULL;
}
