/* libmicrohttpd: one I/O thread with epoll, connections suspended while a worker works.
 *
 * Each request comes here several times: with its headers, with pieces of its body, when all of it
 * is there, and when it was resumed. Addresses are decoded by form.c, not by the library. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "output.h"
#include "server.h"

/* ---- who may ask -------------------------------------------------------------------------- */

static bool is_same_host(const char *host, size_t length, const char *name)
{
    return length == strlen(name) && strncasecmp(host, name, length) == 0;
}

/* Whether a Host header names this machine: else a page of somewhere else, under a name that leads
 * here, could read everything. */
static bool is_our_host(const serve_server *server, const char *host)
{
    size_t length = host[0] == '[' ? strcspn(host, "]") + 1 : strcspn(host, ":");
    if (is_same_host(host, length, "localhost") || is_same_host(host, length, "[::1]") ||
        (strncmp(host, "127.", 4) == 0 && strspn(host, "0123456789.") == length))
        return true;
    const char *own = strstr(server->address, "://") + 3;
    if (is_same_host(host, length, "") ||
        (strncasecmp(host, own, length) == 0 && own[length] == ':'))
        return true;
    for (size_t i = 0; i < server->options->host_count; i++)
        if (is_same_host(host, length, server->options->hosts[i]))
            return true;
    return false;
}

/* Whether the request shows the token: as Bearer, or as the password of Basic. */
static bool has_token(const serve_request *request)
{
    const serve_server *server = request->server;
    const char *shown = serve_header(request, "Authorization");
    char decoded[1024];
    if (!server->token)
        return true;
    if (!shown)
        return false;
    if (strncasecmp(shown, "Bearer ", 7) == 0)
        return serve_same_secret(shown + 7, strlen(shown + 7), server->token, server->token_length);
    if (strncasecmp(shown, "Basic ", 6) != 0 || strlen(shown + 6) > sizeof decoded)
        return false;
    size_t length = serve_base64(shown + 6, strlen(shown + 6), decoded);
    const char *colon = length == SIZE_MAX ? NULL : memchr(decoded, ':', length);
    return colon && serve_same_secret(colon + 1, (size_t)(decoded + length - colon - 1),
                                      server->token, server->token_length);
}

static void read_method(serve_request *request, const char *method)
{
    request->head = strcmp(method, "HEAD") == 0;
    request->method = request->head || strcmp(method, "GET") == 0 ? SERVE_GET
                      : strcmp(method, "POST") == 0               ? SERVE_POST
                      : strcmp(method, "OPTIONS") == 0            ? SERVE_OPTIONS
                                                                  : 0;
}

/* The decoded path, and the query string; NULL if all is well. */
static const char *read_address(serve_request *request)
{
    size_t length = strcspn(request->uri, "?");
    const char *query = request->uri[length] ? request->uri + length + 1 : "";
    request->path = malloc(length + 1);
    if (!request->path)
        return "there is not enough memory";
    memcpy(request->path, request->uri, length);
    size_t decoded = serve_decode(request->path, length, false);
    if (decoded == SIZE_MAX) {
        request->path[0] = '\0';
        return "the path is not percent-coded as it should be";
    }
    request->path[decoded] = '\0';
    return serve_form_read(query, strlen(query), &request->query);
}

/* Whether a request may go on, by its headers alone. False, having answered, if not. */
static bool admit(serve_request *request, const char *method)
{
    serve_server *server = request->server;
    const char *host = serve_header(request, "Host"), *wrong = read_address(request);
    read_method(request, method);
    request->route = serve_route_of(request->path ? request->path : "");
    if (request->peer && request->peer->excess)
        serve_refuse(request, request->peer->excess, "connections",
                     "there are too many connections");
    else if (server->guard_host && host && !is_our_host(server, host))
        serve_refuse(request, MHD_HTTP_MISDIRECTED_REQUEST, "host",
                     "this server is for its own machine, and Host does not name it");
    else if (wrong)
        serve_refuse(request, MHD_HTTP_BAD_REQUEST, "syntax", "%s", wrong);
    else if (!request->route)
        serve_refuse(request, MHD_HTTP_NOT_FOUND, "not_found", "there is nothing at this address");
    else if (request->method != SERVE_OPTIONS && !request->route->open && !has_token(request))
        serve_refuse(request, MHD_HTTP_UNAUTHORIZED, "token",
                     "this server wants a token: Authorization: Bearer TOKEN");
    else if (!(request->method & (request->route->methods | SERVE_OPTIONS)))
        serve_refuse(request, MHD_HTTP_METHOD_NOT_ALLOWED, "method",
                     "this address does not take %.20s", method);
    else
        return true;
    return false;
}

/* ---- the answer --------------------------------------------------------------------------- */

static bool is_in(const char *const *list, size_t count, const char *text)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(list[i], "*") == 0 || strcmp(list[i], text) == 0)
            return true;
    return false;
}

static void add(struct MHD_Response *response, const char *name, const char *value)
{
    (void)MHD_add_response_header(response, name, value);
}

static void add_cors(const serve_request *request, struct MHD_Response *response)
{
    const serve_options *options = request->server->options;
    const char *origin = serve_header(request, "Origin");
    if (options->cors_count > 0)
        add(response, "Vary", "Origin");
    if (!origin || !is_in(options->cors, options->cors_count, origin))
        return;
    add(response, "Access-Control-Allow-Origin", origin);
    add(response, "Access-Control-Expose-Headers", "ETag, Retry-After");
    if (request->method != SERVE_OPTIONS)
        return;
    add(response, "Access-Control-Allow-Methods", "GET, HEAD, POST, OPTIONS");
    add(response, "Access-Control-Allow-Headers",
        "Accept, Authorization, Content-Type, If-None-Match");
    add(response, "Access-Control-Max-Age", "600");
}

static void add_headers(serve_request *request, struct MHD_Response *response)
{
    if (request->type)
        add(response, "Content-Type", request->type);
    if (request->compress || request->precompressed)
        add(response, "Content-Encoding", "gzip");
    add(response, "Vary", request->vary_accept ? "Accept, Accept-Encoding" : "Accept-Encoding");
    if (request->tag[0])
        add(response, "ETag", request->tag);
    bool forever = request->page && request->tag[0] && strcmp(request->path, "/") != 0;
    add(response, "Cache-Control",
        forever           ? "public, max-age=31536000, immutable" /* its name changes with it */
        : request->tag[0] ? "no-cache"
                          : "no-store");
    add(response, "X-Content-Type-Options", "nosniff");
    add(response, "Referrer-Policy", "no-referrer");
    add(response, "Content-Security-Policy",
        request->page ? "default-src 'self'; img-src 'self' data: blob:; object-src 'none'; "
                        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
                      : "default-src 'none'; frame-ancestors 'none'");
    add_cors(request, response);
    if (request->status == MHD_HTTP_UNAUTHORIZED)
        add(response, "WWW-Authenticate", "Bearer realm=\"wfre\", Basic realm=\"wfre\"");
    if (request->status == MHD_HTTP_SERVICE_UNAVAILABLE ||
        request->status == MHD_HTTP_TOO_MANY_REQUESTS)
        add(response, "Retry-After", "1");
    if (request->peer && request->peer->excess)
        add(response, "Connection", "close");
    if ((request->status == MHD_HTTP_METHOD_NOT_ALLOWED || request->method == SERVE_OPTIONS) &&
        request->route)
        add(response, "Allow",
            !(request->route->methods & SERVE_POST)  ? "GET, HEAD, OPTIONS"
            : !(request->route->methods & SERVE_GET) ? "POST, OPTIONS"
                                                     : "GET, HEAD, POST, OPTIONS");
}

/* Sends what there is; the rest follows if it is not all. */
static enum MHD_Result send_answer(serve_request *request)
{
    enum { PIECE = 32 << 10 };
    static const double LEAST_RATE = 10000, GRACE = 60; /* bytes a second, seconds */
    struct MHD_Response *response;
    pthread_mutex_lock(&request->lock);
    bool whole = request->ended, broken = request->broken;
    uint64_t length = request->fixed ? request->fixed_length : request->held;
    bool started = request->started;
    request->started = true; /* a later failure has to break off */
    pthread_mutex_unlock(&request->lock);
    if (broken && !started)
        return MHD_NO;
    if (request->fixed)
        response = MHD_create_response_from_buffer(
            request->fixed_length, (void *)(uintptr_t)request->fixed, MHD_RESPMEM_PERSISTENT);
    else
        response = MHD_create_response_from_callback(whole && !broken ? length : MHD_SIZE_UNKNOWN,
                                                     PIECE, serve_output_read, request, NULL);
    if (!response)
        return MHD_NO;
    add_headers(request, response);
    serve_peer_phase(request->server, request->peer, SERVE_SENDING,
                     GRACE + (whole ? (double)length / LEAST_RATE
                                    : request->server->options->timeout + 10 * GRACE));
    enum MHD_Result result = MHD_queue_response(request->connection, request->status, response);
    MHD_destroy_response(response);
    return result;
}

/* ---- the request -------------------------------------------------------------------------- */

static void take_body(serve_request *request, const char *bytes, size_t length)
{
    if (request->refused || request->body_too_large)
        return;
    if (request->body.length + length > request->server->options->body) {
        request->body_too_large = true;
        serve_buffer_free(&request->body);
        return;
    }
    serve_put_bytes(&request->body, bytes, length);
}

/* Reads a form in the body; NULL if all is well. */
static const char *read_form(serve_request *request)
{
    if (request->method != SERVE_POST ||
        !serve_is_type(serve_header(request, "Content-Type"), "application/x-www-form-urlencoded"))
        return NULL;
    request->form_body = true;
    return serve_form_read(request->body.bytes ? request->body.bytes : "", request->body.length,
                           &request->form);
}

/* Hands a request that is all there to whom it may concern. */
static void dispatch(serve_request *request)
{
    serve_server *server = request->server;
    const char *wrong = NULL;
    request->received = serve_clock();
    request->deadline = request->received + server->options->timeout;
    serve_peer_phase(server, request->peer, SERVE_WORKING, 0);
    if (request->body_too_large) {
        serve_refuse(request, MHD_HTTP_CONTENT_TOO_LARGE, "body",
                     "the body has more than %zu bytes", server->options->body);
    } else if (request->body.failed) {
        serve_refuse(request, MHD_HTTP_SERVICE_UNAVAILABLE, "memory", "out of memory");
    } else if (request->method == SERVE_OPTIONS) {
        request->status = MHD_HTTP_NO_CONTENT;
        request->fixed = "";
        serve_end(request);
    } else if ((wrong = read_form(request)) != NULL) {
        serve_refuse(request, MHD_HTTP_BAD_REQUEST, "syntax", "%s", wrong);
    } else if (request->route->quick) {
        request->route->handle(request, NULL);
    } else {
        /* The lock keeps the worker from resuming what is not suspended yet. */
        pthread_mutex_lock(&request->lock);
        request->owners++;
        request->queued = serve_queue_push(&server->queue, request);
        request->suspended = request->queued;
        if (request->queued)
            MHD_suspend_connection(request->connection);
        else
            request->owners--;
        bool stopping = atomic_load(&server->stopping);
        pthread_mutex_unlock(&request->lock);
        if (!request->queued)
            serve_refuse(request, MHD_HTTP_SERVICE_UNAVAILABLE, stopping ? "stopping" : "busy",
                         stopping ? "the server is stopping" : "too many requests are waiting");
    }
}

/* Whether a refused request's body is not worth waiting for. */
static bool is_body_long(const serve_request *request)
{
    const char *length = serve_header(request, "Content-Length");
    return length && strtoull(length, NULL, 10) > 4 * request->server->options->body;
}

static enum MHD_Result handle(void *context, struct MHD_Connection *connection, const char *url,
                              const char *method, const char *version, const char *upload,
                              size_t *upload_size, void **request_context)
{
    serve_request *request = *request_context;
    (void)context;
    (void)connection;
    (void)url;
    (void)version;
    if (!request)
        return MHD_NO;
    if (!request->admitted) {
        request->admitted = true;
        request->refused = !admit(request, method);
        if (!request->refused && is_body_long(request)) {
            request->refused = true;
            serve_refuse(request, MHD_HTTP_CONTENT_TOO_LARGE, "body",
                         "the body has more than %zu bytes", request->server->options->body);
        }
        return request->refused && is_body_long(request) ? send_answer(request) : MHD_YES;
    }
    if (*upload_size > 0) {
        take_body(request, upload, *upload_size);
        *upload_size = 0;
        return MHD_YES;
    }
    if (!request->dispatched && !request->refused) {
        request->dispatched = true;
        dispatch(request);
    }
    pthread_mutex_lock(&request->lock);
    bool waits = request->suspended;
    pthread_mutex_unlock(&request->lock);
    return waits ? MHD_YES : send_answer(request);
}

/* ---- the library's other calls ------------------------------------------------------------ */

static void *on_address(void *context, const char *uri, struct MHD_Connection *connection)
{
    serve_server *server = context;
    serve_request *request = serve_request_create(server, connection, uri);
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    if (request && info)
        request->peer = info->socket_context;
    if (request)
        serve_peer_phase(server, request->peer, SERVE_RECEIVING, server->options->receive);
    return request;
}

static void on_completed(void *context, struct MHD_Connection *connection, void **request_context,
                         enum MHD_RequestTerminationCode code)
{
    serve_server *server = context;
    serve_request *request = *request_context;
    (void)connection;
    if (!request)
        return;
    *request_context = NULL;
    pthread_mutex_lock(&request->lock);
    request->gone = true;
    pthread_cond_signal(&request->taken);
    pthread_mutex_unlock(&request->lock);
    if (code != MHD_REQUEST_TERMINATED_COMPLETED_OK && !request->note)
        request->note = "client left";
    serve_peer_phase(server, request->peer, SERVE_IDLE, 2 * server->options->receive);
    if (request->admitted) {
        serve_metrics_request(server->metrics, request);
        serve_log_request(server->log, request);
    }
    serve_request_release(request);
}

static void on_connection(void *context, struct MHD_Connection *connection, void **socket_context,
                          enum MHD_ConnectionNotificationCode code)
{
    serve_server *server = context;
    if (code == MHD_CONNECTION_NOTIFY_STARTED) {
        *socket_context = serve_peer_add(server, connection);
    } else {
        serve_peer_remove(server, *socket_context);
        *socket_context = NULL;
    }
}

/* Leaves the text as it is: form.c decodes it. */
static size_t keep(void *context, struct MHD_Connection *connection, char *text)
{
    (void)context;
    (void)connection;
    return strlen(text);
}

static void silent(void *context, const char *format, va_list args)
{
    (void)context;
    (void)format;
    (void)args;
}

/* ---- start and stop ----------------------------------------------------------------------- */

bool serve_http_start(serve_server *server, wfre_error *error)
{
    enum { SPARE = 64 }; /* connections that are told that there are too many */
    const serve_options *options = server->options;
    struct MHD_OptionItem tls[] = {{MHD_OPTION_HTTPS_MEM_KEY, 0, server->key},
                                   {MHD_OPTION_HTTPS_MEM_CERT, 0, server->cert},
                                   {MHD_OPTION_END, 0, NULL}};
    unsigned flags = MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ERROR_LOG |
                     MHD_USE_ITC | (server->cert ? MHD_USE_TLS : 0);
    server->daemon = MHD_start_daemon(
        flags, 0, NULL, NULL, handle, server, MHD_OPTION_EXTERNAL_LOGGER, silent, NULL,
        MHD_OPTION_LISTEN_SOCKET, server->listener, MHD_OPTION_CONNECTION_LIMIT,
        (unsigned)(options->connections + SPARE), MHD_OPTION_CONNECTION_TIMEOUT,
        (unsigned)(options->receive < 1 ? 1 : options->receive), MHD_OPTION_CONNECTION_MEMORY_LIMIT,
        options->header, MHD_OPTION_URI_LOG_CALLBACK, on_address, server,
        MHD_OPTION_NOTIFY_COMPLETED, on_completed, server, MHD_OPTION_NOTIFY_CONNECTION,
        on_connection, server, MHD_OPTION_UNESCAPE_CALLBACK, keep, NULL, MHD_OPTION_ARRAY,
        server->cert ? tls : tls + 2, MHD_OPTION_END);
    if (server->daemon)
        return true;
    *error = (wfre_error){.code = WFRE_ERR_IO, .offset = WFRE_NO_OFFSET};
    (void)snprintf(error->message, sizeof error->message, "the HTTP server cannot start%s",
                   server->cert ? ": check the certificate and the key" : "");
    return false;
}

void serve_http_quiesce(serve_server *server)
{
    server->listener = MHD_quiesce_daemon(server->daemon);
}

void serve_http_stop(serve_server *server)
{
    if (server->daemon)
        MHD_stop_daemon(server->daemon);
    server->daemon = NULL;
}
