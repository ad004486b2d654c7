/* One line a request on standard error, as text or JSON, written by a thread of its own: a terminal
 * that is stopped, or a full pipe, holds nobody up. Lines that find no room are counted. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "server.h"

enum { ROOM = 1 << 20 };

struct serve_log {
    serve_log_format format;
    bool questions;
    pthread_mutex_t lock;
    pthread_cond_t more;
    pthread_t thread;
    bool running, closed;
    uint64_t lost;
    serve_buffer lines;
};

static void write_all(const char *bytes, size_t length)
{
    while (length > 0) {
        ssize_t wrote = write(STDERR_FILENO, bytes, length);
        if (wrote <= 0)
            return;
        bytes += wrote;
        length -= (size_t)wrote;
    }
}

static void *run(void *context)
{
    serve_log *log = context;
    pthread_mutex_lock(&log->lock);
    while (!log->closed || log->lines.length > 0) {
        if (log->lines.length == 0) {
            pthread_cond_wait(&log->more, &log->lock);
            continue;
        }
        serve_buffer lines = log->lines;
        log->lines = (serve_buffer){0};
        pthread_mutex_unlock(&log->lock);
        write_all(lines.bytes, lines.length);
        serve_buffer_free(&lines);
        pthread_mutex_lock(&log->lock);
    }
    pthread_mutex_unlock(&log->lock);
    return NULL;
}

serve_log *serve_log_create(const serve_options *options)
{
    serve_log *log = calloc(1, sizeof *log);
    if (!log)
        return NULL;
    log->format = options->log;
    log->questions = options->log_questions;
    pthread_mutex_init(&log->lock, NULL);
    pthread_cond_init(&log->more, NULL);
    log->running = pthread_create(&log->thread, NULL, run, log) == 0;
    return log;
}

void serve_log_free(serve_log *log)
{
    if (!log)
        return;
    pthread_mutex_lock(&log->lock);
    log->closed = true;
    pthread_cond_signal(&log->more);
    pthread_mutex_unlock(&log->lock);
    if (log->running)
        pthread_join(log->thread, NULL);
    serve_buffer_free(&log->lines);
    pthread_cond_destroy(&log->more);
    pthread_mutex_destroy(&log->lock);
    free(log);
}

static void add(serve_log *log, serve_buffer *line)
{
    serve_put(line, "\n");
    pthread_mutex_lock(&log->lock);
    if (line->failed || log->lines.length + line->length > ROOM) {
        log->lost++;
    } else {
        if (log->lost > 0)
            serve_put_format(&log->lines, "%" PRIu64 " lines were lost\n", log->lost);
        log->lost = 0;
        serve_put_bytes(&log->lines, line->bytes, line->length);
        pthread_cond_signal(&log->more);
    }
    pthread_mutex_unlock(&log->lock);
    serve_buffer_free(line);
}

static void put_time(serve_buffer *line)
{
    struct timespec now;
    struct tm utc;
    char text[40];
    clock_gettime(CLOCK_REALTIME, &now);
    gmtime_r(&now.tv_sec, &utc);
    (void)strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &utc);
    serve_put_format(line, "%s.%03ldZ", text, now.tv_nsec / 1000000);
}

static const char *method_name(const serve_request *request)
{
    return request->head                      ? "HEAD"
           : request->method == SERVE_GET     ? "GET"
           : request->method == SERVE_POST    ? "POST"
           : request->method == SERVE_OPTIONS ? "OPTIONS"
                                              : "?";
}

/* The question itself, if that is wanted: the query string, and the body. */
static void put_question(serve_buffer *line, const serve_request *request)
{
    enum { MOST = 4096 };
    const char *query = strchr(request->uri, '?');
    size_t length = request->body.length < MOST ? request->body.length : MOST;
    serve_put(line, ",\"query\":");
    serve_put_text(line, query ? query + 1 : NULL);
    serve_put(line, ",\"body\":");
    serve_put_string(line, request->body.bytes, length);
}

void serve_log_request(serve_log *log, const serve_request *request)
{
    serve_buffer line = {0};
    double now = serve_clock(), all = now - request->received;
    double waited = request->begun > 0 ? request->begun - request->received : 0;
    const char *label = request->route ? request->route->label : "none";
    const char *address = request->peer ? request->peer->address : "";
    if (log->format == SERVE_LOG_NONE)
        return;
    if (log->format == SERVE_LOG_JSON) {
        serve_put(&line, "{\"time\":\"");
        put_time(&line);
        serve_put_format(&line,
                         "\",\"address\":\"%s\",\"method\":\"%s\",\"route\":\"%s\",\"status\":%u,"
                         "\"bytes\":%" PRIu64 ",\"seconds\":%.6f,\"waited\":%.6f,\"note\":",
                         address, method_name(request), label, request->status, request->sent, all,
                         waited);
        serve_put_text(&line, request->note);
        if (log->questions)
            put_question(&line, request);
        serve_put(&line, "}");
    } else {
        put_time(&line);
        serve_put_format(&line, " %s %s %s %u %" PRIu64 " B %.1f ms (waited %.1f)%s%s", address,
                         method_name(request), label, request->status, request->sent, 1e3 * all,
                         1e3 * waited, request->note ? " " : "",
                         request->note ? request->note : "");
        if (log->questions)
            put_question(&line, request);
    }
    add(log, &line);
}

void serve_log_event(serve_log *log, const char *format, ...)
{
    serve_buffer line = {0};
    char text[1200];
    va_list args;
    va_start(args, format);
    (void)wfre_format_list(text, sizeof text, format, args);
    va_end(args);
    if (log->format == SERVE_LOG_JSON) {
        serve_put(&line, "{\"time\":\"");
        put_time(&line);
        serve_put(&line, "\",\"event\":");
        serve_put_text(&line, text);
        serve_put(&line, "}");
    } else {
        put_time(&line);
        serve_put_format(&line, " %s", text);
    }
    add(log, &line);
}
