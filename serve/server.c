/* Start, swap and stop. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "server.h"

void serve_options_default(serve_options *options)
{
    *options = (serve_options){.listen = "127.0.0.1:7800",
                               .queue = 1024,
                               .batch = 32,
                               .connections = 2048,
                               .header = 32 << 10,
                               .body = 1 << 20,
                               .timeout = 10,
                               .memory = (size_t)1 << 30,
                               .rows = 1000000,
                               .receive = 30,
                               .watch = true};
}

double serve_clock(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

serve_world *serve_current(serve_server *server)
{
    pthread_mutex_lock(&server->world_lock);
    serve_world *world = serve_world_ref(server->world);
    pthread_mutex_unlock(&server->world_lock);
    return world;
}

/* ---- files -------------------------------------------------------------------------------- */

/* A small text file, without the blanks at its end. */
static bool read_small(const char *path, char **text, size_t *length, wfre_error *error)
{
    enum { MOST = 1 << 16 };
    char *bytes = malloc(MOST + 1);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t size = bytes && file >= 0 ? read(file, bytes, MOST) : -1;
    int failure = errno;
    if (file >= 0)
        close(file);
    if (size <= 0) {
        free(bytes);
        *error = (wfre_error){.code = WFRE_ERR_IO, .offset = WFRE_NO_OFFSET};
        (void)snprintf(error->message, sizeof error->message, "%.400s: %s", path,
                       size == 0 ? "it is empty" : strerror(failure));
        return false;
    }
    while (size > 0 && strchr(" \t\r\n", bytes[size - 1]))
        size--;
    bytes[size] = '\0';
    *text = bytes;
    *length = (size_t)size;
    return true;
}

static bool read_secrets(serve_server *server, wfre_error *error)
{
    enum { SHORTEST_TOKEN = 8 };
    const serve_options *options = server->options;
    size_t length;
    if (options->token && !read_small(options->token, &server->token, &server->token_length, error))
        return false;
    if (options->token && server->token_length < SHORTEST_TOKEN) {
        *error = (wfre_error){.code = WFRE_ERR_ARGUMENT, .offset = WFRE_NO_OFFSET};
        (void)snprintf(error->message, sizeof error->message,
                       "%.400s: a token has at least %d characters", options->token,
                       SHORTEST_TOKEN);
        return false;
    }
    return !options->cert || (read_small(options->cert, &server->cert, &length, error) &&
                              read_small(options->key, &server->key, &length, error));
}

/* As many files as the system lets us have: a connection is one. */
static void raise_file_limit(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        (void)setrlimit(RLIMIT_NOFILE, &limit);
    }
}

/* ---- swapping ----------------------------------------------------------------------------- */

/* Opens the files anew, beside what is served, and puts the new in its place. */
static void swap(serve_server *server, serve_world *failed)
{
    const serve_options *options = server->options;
    serve_world *next = NULL;
    wfre_error error;
    double start = serve_clock();
    if (serve_world_open(options->graph, options->model, server->world->generation + 1,
                         server->cancel, &next, &error) != WFRE_OK) {
        serve_log_event(server->log, "the new files cannot be served, the old ones still are: %s",
                        error.message);
        serve_metrics_add(server->metrics, "wfre_swap_failures_total", 1);
        /* Not tried again until they change once more. */
        (void)stat(options->graph, &failed->graph_file);
        if (options->model)
            (void)stat(options->model, &failed->model_file);
        return;
    }
    serve_world_prepare(next);
    pthread_mutex_lock(&server->world_lock);
    serve_world *old = server->world;
    server->world = next;
    pthread_mutex_unlock(&server->world_lock);
    serve_world_unref(old);
    serve_metrics_add(server->metrics, "wfre_swaps_total", 1);
    serve_log_event(server->log, "serving generation %llu, %s, loaded in %.3f s",
                    (unsigned long long)next->generation, next->tag, serve_clock() - start);
}

/* Looks whether files were replaced, and takes them when they have stayed so for a moment. */
static void look_for_changes(serve_server *server, serve_world *seen, bool *changed)
{
    const serve_options *options = server->options;
    serve_world *world = seen->generation ? seen : server->world;
    if (!serve_world_changed(world, options->graph, options->model)) {
        *changed = false;
        return;
    }
    if (*changed) {
        *changed = false;
        uint64_t before = server->world->generation;
        swap(server, seen);
        seen->generation = server->world->generation == before ? before : 0;
    } else {
        *changed = true;
    }
}

/* ---- running ------------------------------------------------------------------------------ */

static void *watch_connections(void *context)
{
    serve_server *server = context;
    while (!atomic_load(&server->stopping)) {
        serve_peers_sweep(server);
        nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
    }
    return NULL;
}

/* Until a signal says stop. */
static void control(serve_server *server)
{
    sigset_t signals;
    serve_world seen = {0}; /* the files that could not be loaded, if its generation is not 0 */
    bool changed = false;
    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGHUP);
    for (;;) {
        int number = sigtimedwait(&signals, NULL, &(struct timespec){.tv_nsec = 500000000});
        if (number == SIGTERM || number == SIGINT)
            return;
        if (number == SIGHUP) {
            swap(server, &seen);
            seen.generation = 0;
        } else if (server->options->watch) {
            look_for_changes(server, &seen, &changed);
        }
    }
}

/* Finishes what is under way; after some grace what runs is cut short. */
static void stop(serve_server *server)
{
    double until = serve_clock() + server->options->timeout + 1;
    serve_log_event(server->log, "stopping: %zu requests under way",
                    atomic_load(&server->requests));
    atomic_store(&server->stopping, true);
    serve_http_quiesce(server);
    while (atomic_load(&server->requests) > 0 && serve_clock() < until)
        nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
    serve_queue_close(&server->queue);
    for (unsigned i = 0; i < server->worker_count; i++)
        wfre_cancel_now(server->workers[i].cancel);
}

static bool start(serve_server *server, wfre_error *error)
{
    const serve_options *options = server->options;
    long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    server->worker_count = options->workers ? options->workers : (unsigned)(cpus > 0 ? cpus : 1);
    raise_file_limit();
    if (!read_secrets(server, error) || !serve_listen(server, error) ||
        wfre_cancel_create(&server->cancel, error) != WFRE_OK ||
        serve_world_open(options->graph, options->model, 1, server->cancel, &server->world,
                         error) != WFRE_OK)
        return false;
    server->log = serve_log_create(options);
    server->metrics = serve_metrics_create();
    if (!server->log || !server->metrics ||
        !serve_queue_create(&server->queue, options->queue, server->worker_count)) {
        *error = (wfre_error){.code = WFRE_ERR_MEMORY, .offset = WFRE_NO_OFFSET};
        (void)snprintf(error->message, sizeof error->message, "out of memory");
        return false;
    }
    if (!serve_workers_start(server, error) || !serve_http_start(server, error))
        return false;
    server->watching = pthread_create(&server->watcher, NULL, watch_connections, server) == 0;
    return true;
}

static void clean_up(serve_server *server)
{
    atomic_store(&server->stopping, true);
    if (server->queue.ring)
        serve_queue_close(&server->queue);
    serve_workers_join(server);
    serve_http_stop(server);
    if (server->watching)
        pthread_join(server->watcher, NULL);
    if (server->listener >= 0)
        close(server->listener);
    serve_queue_free(&server->queue);
    serve_world_unref(server->world);
    serve_log_free(server->log);
    serve_metrics_free(server->metrics);
    wfre_cancel_free(server->cancel);
    pthread_mutex_destroy(&server->peers.lock);
    pthread_mutex_destroy(&server->world_lock);
    free(server->token);
    free(server->cert);
    free(server->key);
}

wfre_status serve_run(const serve_options *options,
                      void (*ready)(void *context, const char *address, const serve_options *how),
                      void *context, wfre_error *error)
{
    serve_server server = {.options = options, .listener = -1};
    pthread_mutex_init(&server.peers.lock, NULL);
    pthread_mutex_init(&server.world_lock, NULL);
    wfre_status status = WFRE_OK;
    if (start(&server, error)) {
        ready(context, server.address, options);
        serve_world_prepare(server.world);
        control(&server);
        stop(&server);
    } else {
        status = error->code;
    }
    clean_up(&server);
    return status;
}
