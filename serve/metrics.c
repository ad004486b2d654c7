/* Counters, and their page in Prometheus' text format. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "routes.h"
#include "server.h"

enum { BOUNDS = 12, CODES = 600, COUNTERS = 8 };
static const double BOUND[BOUNDS] = {0.001, 0.0025, 0.005, 0.01, 0.025, 0.05,
                                     0.1,   0.25,   0.5,   1,    2.5,   10};

typedef struct histogram {
    uint64_t count[BOUNDS + 1];
    double sum;
} histogram;

struct serve_metrics {
    pthread_mutex_t lock;
    uint64_t requests[SERVE_MOST_ROUTES + 1][CODES];
    histogram latency[SERVE_MOST_ROUTES + 1];
    histogram waited;
    uint64_t sent, questions, batches;
    struct {
        const char *name;
        uint64_t value;
    } counters[COUNTERS];
};

serve_metrics *serve_metrics_create(void)
{
    serve_metrics *metrics = calloc(1, sizeof *metrics);
    if (metrics)
        pthread_mutex_init(&metrics->lock, NULL);
    return metrics;
}

void serve_metrics_free(serve_metrics *metrics)
{
    if (metrics)
        pthread_mutex_destroy(&metrics->lock);
    free(metrics);
}

static void observe(histogram *into, double seconds)
{
    size_t bin = 0;
    while (bin < BOUNDS && seconds > BOUND[bin])
        bin++;
    into->count[bin]++;
    into->sum += seconds;
}

void serve_metrics_request(serve_metrics *metrics, const serve_request *request)
{
    size_t route = serve_route_index(request->route);
    pthread_mutex_lock(&metrics->lock);
    metrics->requests[route][request->status % CODES]++;
    observe(&metrics->latency[route], serve_clock() - request->received);
    if (request->begun > 0)
        observe(&metrics->waited, request->begun - request->received);
    metrics->sent += request->fixed ? request->fixed_length : request->sent;
    pthread_mutex_unlock(&metrics->lock);
}

void serve_metrics_batch(serve_metrics *metrics, size_t questions)
{
    pthread_mutex_lock(&metrics->lock);
    metrics->questions += questions;
    metrics->batches++;
    pthread_mutex_unlock(&metrics->lock);
}

void serve_metrics_add(serve_metrics *metrics, const char *name, uint64_t more)
{
    pthread_mutex_lock(&metrics->lock);
    for (size_t i = 0; i < COUNTERS; i++) {
        if (!metrics->counters[i].name)
            metrics->counters[i].name = name;
        if (strcmp(metrics->counters[i].name, name) == 0) {
            metrics->counters[i].value += more;
            break;
        }
    }
    pthread_mutex_unlock(&metrics->lock);
}

static void put_gauge(serve_buffer *buffer, const char *name, const char *help, double value)
{
    serve_put_format(buffer, "# HELP %s %s\n# TYPE %s gauge\n%s %.9g\n", name, help, name, name,
                     value);
}

static void put_counter(serve_buffer *buffer, const char *name, uint64_t value)
{
    serve_put_format(buffer, "# TYPE %s counter\n%s %" PRIu64 "\n", name, name, value);
}

static void put_histogram(serve_buffer *buffer, const char *name, const char *labels,
                          const histogram *from)
{
    uint64_t count = 0;
    const char *comma = labels[0] ? "," : "";
    for (size_t i = 0; i < BOUNDS; i++) {
        count += from->count[i];
        serve_put_format(buffer, "%s_bucket{%s%sle=\"%g\"} %" PRIu64 "\n", name, labels, comma,
                         BOUND[i], count);
    }
    count += from->count[BOUNDS];
    serve_put_format(buffer,
                     "%s_bucket{%s%sle=\"+Inf\"} %" PRIu64
                     "\n%s_sum{%s} %.9g\n%s_count{%s} %" PRIu64 "\n",
                     name, labels, comma, count, name, labels, from->sum, name, labels, count);
}

static void put_requests(serve_buffer *buffer, const serve_metrics *metrics)
{
    serve_put(buffer, "# HELP wfre_requests_total Requests by address and status.\n"
                      "# TYPE wfre_requests_total counter\n");
    for (size_t r = 0; r <= SERVE_MOST_ROUTES; r++)
        for (size_t code = 0; code < CODES; code++)
            if (metrics->requests[r][code] > 0)
                serve_put_format(buffer,
                                 "wfre_requests_total{route=\"%s\",status=\"%zu\"} %" PRIu64 "\n",
                                 serve_route_label(r), code, metrics->requests[r][code]);
    serve_put(buffer, "# HELP wfre_request_seconds From the last byte of a request to the last of "
                      "its answer.\n# TYPE wfre_request_seconds histogram\n");
    for (size_t r = 0; r <= SERVE_MOST_ROUTES; r++) {
        char label[64];
        uint64_t any = 0;
        for (size_t i = 0; i <= BOUNDS; i++)
            any += metrics->latency[r].count[i];
        (void)snprintf(label, sizeof label, "route=\"%s\"", serve_route_label(r));
        if (any > 0)
            put_histogram(buffer, "wfre_request_seconds", label, &metrics->latency[r]);
    }
    serve_put(buffer, "# HELP wfre_wait_seconds How long requests waited for a worker.\n"
                      "# TYPE wfre_wait_seconds histogram\n");
    put_histogram(buffer, "wfre_wait_seconds", "", &metrics->waited);
}

static double resident(void)
{
    long pages = 0, all;
    FILE *file = fopen("/proc/self/statm", "r");
    char line[128];
    if (file && fgets(line, sizeof line, file)) {
        char *end;
        all = strtol(line, &end, 10);
        (void)all;
        pages = strtol(end, NULL, 10);
    }
    if (file)
        fclose(file);
    return (double)pages * (double)sysconf(_SC_PAGESIZE);
}

void serve_metrics_write(serve_server *server, serve_buffer *buffer)
{
    serve_metrics *metrics = server->metrics;
    double sessions = 0, busy = 0;
    for (unsigned i = 0; i < server->worker_count; i++) {
        sessions += (double)atomic_load(&server->workers[i].bytes);
        busy += atomic_load(&server->workers[i].busy);
    }
    pthread_mutex_lock(&server->peers.lock);
    size_t connections = server->peers.count;
    pthread_mutex_unlock(&server->peers.lock);
    serve_world *world = serve_current(server);
    pthread_mutex_lock(&metrics->lock);
    put_requests(buffer, metrics);
    put_counter(buffer, "wfre_sent_bytes_total", metrics->sent);
    put_counter(buffer, "wfre_questions_total", metrics->questions);
    put_counter(buffer, "wfre_batches_total", metrics->batches);
    for (size_t i = 0; i < COUNTERS && metrics->counters[i].name; i++)
        put_counter(buffer, metrics->counters[i].name, metrics->counters[i].value);
    pthread_mutex_unlock(&metrics->lock);
    put_gauge(buffer, "wfre_queue_length", "Requests that wait.",
              (double)serve_queue_length(&server->queue));
    put_gauge(buffer, "wfre_queue_capacity", "Requests that may wait.",
              (double)server->options->queue);
    put_gauge(buffer, "wfre_workers", "Workers, each with a session.", server->worker_count);
    put_gauge(buffer, "wfre_workers_busy", "Workers that work.", busy);
    put_gauge(buffer, "wfre_session_bytes", "Memory of all sessions.", sessions);
    put_gauge(buffer, "wfre_cache_bytes", "What is derived from graph and model.",
              (double)wfre_engine_bytes(world->engine));
    put_gauge(buffer, "wfre_pending_bytes", "Answers that wait to be sent.",
              (double)atomic_load(&server->held));
    put_gauge(buffer, "wfre_connections", "Open connections.", (double)connections);
    put_gauge(buffer, "wfre_generation", "How many graphs and models were loaded.",
              (double)world->generation);
    put_gauge(buffer, "process_resident_memory_bytes", "Memory of the process.", resident());
    serve_world_unref(world);
}
