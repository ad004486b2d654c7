/* Requests: their parameters, and answers that are one short text. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "output.h"
#include "server.h"

const char SERVE_JSON[] = "application/json", SERVE_TEXT[] = "text/plain; charset=utf-8";

serve_request *serve_request_create(serve_server *server, struct MHD_Connection *connection,
                                    const char *uri)
{
    serve_request *request = calloc(1, sizeof *request);
    if (!request || !(request->uri = strdup(uri))) {
        free(request);
        return NULL;
    }
    pthread_condattr_t clock;
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_cond_init(&request->taken, &clock);
    pthread_condattr_destroy(&clock);
    pthread_mutex_init(&request->lock, NULL);
    request->server = server;
    request->connection = connection;
    request->owners = 1;
    request->received = serve_clock();
    atomic_fetch_add(&server->requests, 1);
    return request;
}

void serve_request_release(serve_request *request)
{
    pthread_mutex_lock(&request->lock);
    bool last = --request->owners == 0;
    pthread_mutex_unlock(&request->lock);
    if (!last)
        return;
    serve_output_free(request);
    serve_form_free(&request->query);
    serve_form_free(&request->form);
    serve_buffer_free(&request->body);
    pthread_cond_destroy(&request->taken);
    pthread_mutex_destroy(&request->lock);
    atomic_fetch_sub(&request->server->requests, 1);
    free(request->path);
    free(request->uri);
    free(request);
}

/* ---- what it says ------------------------------------------------------------------------- */

const char *serve_header(const serve_request *request, const char *name)
{
    return MHD_lookup_connection_value(request->connection, MHD_HEADER_KIND, name);
}

const char *serve_parameter(const serve_request *request, const char *name)
{
    const char *value = serve_form_get(&request->query, name);
    return value ? value : serve_form_get(&request->form, name);
}

bool serve_parameter_number(serve_request *request, const char *name, uint64_t fallback,
                            uint64_t most, uint64_t *number)
{
    const char *text = serve_parameter(request, name);
    *number = fallback;
    if (!text)
        return true;
    uint64_t value = 0;
    size_t digits = strspn(text, "0123456789");
    for (size_t i = 0; i < digits && digits <= 18; i++)
        value = value * 10 + (uint64_t)(text[i] - '0');
    if (digits == 0 || digits > 18 || text[digits] || value > most) {
        serve_refuse(request, MHD_HTTP_BAD_REQUEST, "argument",
                     "`%s` is a whole number from 0 to %" PRIu64, name, most);
        return false;
    }
    *number = value;
    return true;
}

bool serve_parameter_real(serve_request *request, const char *name, double fallback, double most,
                          double *number)
{
    const char *text = serve_parameter(request, name);
    *number = fallback;
    if (!text)
        return true;
    char *end;
    double value = wfre_parse_real(text, &end);
    if (end == text || *end || !(value >= 0 && value <= most)) {
        serve_refuse(request, MHD_HTTP_BAD_REQUEST, "argument", "`%s` is a number from 0 to %g",
                     name, most);
        return false;
    }
    *number = value;
    return true;
}

/* ---- errors ------------------------------------------------------------------------------- */

static void put_error(serve_buffer *buffer, const char *code, const char *message)
{
    serve_put(buffer, "{\"error\":{\"code\":");
    serve_put_text(buffer, code);
    serve_put(buffer, ",\"message\":");
    serve_put_text(buffer, message);
}

void serve_refuse(serve_request *request, unsigned status, const char *code, const char *format,
                  ...)
{
    char message[512];
    serve_buffer buffer = {0};
    va_list args;
    va_start(args, format);
    (void)wfre_format_list(message, sizeof message, format, args);
    va_end(args);
    put_error(&buffer, code, message);
    serve_put(&buffer, "}}\n");
    request->tag[0] = '\0';
    request->note = code;
    if (buffer.failed) { /* a constant needs no memory */
        static const char NONE[] =
            "{\"error\":{\"code\":\"memory\",\"message\":\"out of memory\"}}";
        serve_buffer_free(&buffer);
        request->fixed = NONE;
        request->fixed_length = sizeof NONE - 1;
        request->status = MHD_HTTP_SERVICE_UNAVAILABLE;
        request->type = SERVE_JSON;
        serve_end(request);
        return;
    }
    serve_answer(request, status, SERVE_JSON, &buffer);
}

typedef struct failure {
    wfre_status status;
    unsigned http;
    const char *code;
} failure;

static const failure FAILURES[] = {
    {WFRE_ERR_ARGUMENT, MHD_HTTP_BAD_REQUEST, "argument"},
    {WFRE_ERR_MEMORY, MHD_HTTP_SERVICE_UNAVAILABLE, "memory"},
    {WFRE_ERR_IO, MHD_HTTP_INTERNAL_SERVER_ERROR, "io"},
    {WFRE_ERR_FORMAT, MHD_HTTP_BAD_REQUEST, "syntax"},
    {WFRE_ERR_NOT_FOUND, MHD_HTTP_BAD_REQUEST, "not_found"},
    {WFRE_ERR_MISMATCH, MHD_HTTP_INTERNAL_SERVER_ERROR, "mismatch"},
    {WFRE_ERR_UNSUPPORTED, MHD_HTTP_BAD_REQUEST, "unsupported"},
    {WFRE_ERR_TIMEOUT, MHD_HTTP_GATEWAY_TIMEOUT, "timeout"},
    {WFRE_ERR_INTERRUPTED, MHD_HTTP_SERVICE_UNAVAILABLE, "stopped"},
    {WFRE_ERR_NUMERIC, MHD_HTTP_INTERNAL_SERVER_ERROR, "numeric"},
};

static void put_suggestions(serve_buffer *buffer, const char *names)
{
    for (const char *at = names; *at;) {
        size_t length = strcspn(at, "\n");
        serve_put(buffer, at == names ? ",\"suggestions\":[" : ",");
        serve_put_string(buffer, at, length);
        at += length + (at[length] == '\n');
    }
    if (*names)
        serve_put(buffer, "]");
}

void serve_fail(serve_request *request, const wfre_error *error)
{
    serve_buffer buffer = {0};
    const failure *found = &FAILURES[2];
    for (size_t i = 0; i < sizeof FAILURES / sizeof FAILURES[0]; i++)
        if (FAILURES[i].status == error->code)
            found = &FAILURES[i];
    put_error(&buffer, found->code, error->message);
    if (error->offset != WFRE_NO_OFFSET)
        serve_put_format(&buffer, ",\"offset\":%zu", error->offset);
    if (error->code == WFRE_ERR_NOT_FOUND)
        put_suggestions(&buffer, error->nearest);
    serve_put(&buffer, "}}\n");
    request->tag[0] = '\0';
    request->note = found->code;
    serve_answer(request, found->http, SERVE_JSON, &buffer);
}

/* ---- entity tags -------------------------------------------------------------------------- */

static uint64_t hash(uint64_t value, const char *text)
{
    for (; *text; text++)
        value = (value ^ (unsigned char)*text) * 0x100000001B3u;
    return value * 0x9E3779B97F4A7C15u;
}

bool serve_tag(serve_request *request, serve_world *world, const char *variant)
{
    if (request->method != SERVE_GET || !atomic_load(&world->tagged))
        return false;
    bool gzip = serve_takes_gzip(serve_header(request, "Accept-Encoding"));
    uint64_t address = hash(hash(0xCBF29CE484222325u, request->uri), variant);
    (void)snprintf(request->tag, sizeof request->tag, "\"%s-%016" PRIx64 "%s\"", world->tag,
                   address, gzip ? "-gz" : "");
    if (!serve_has_tag(serve_header(request, "If-None-Match"), request->tag))
        return false;
    request->status = MHD_HTTP_NOT_MODIFIED;
    request->fixed = "";
    serve_end(request);
    return true;
}
